"""Exponentials, logarithms, maxima of two numbers, and functions of which only their name is known.

exp(a + b) = exp(a)·exp(b)     exp(c·log u) = u^c     log(u·v) = log u + log v  for u > 0
max(a, b) = b + relu(a − b)    relu(−z) = relu(z) − z    relu(c·u·z) = c·u·relu(z)  for c, u > 0    |−z| = |z|
"""

from __future__ import annotations

from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import (
    is_whole,
    nonnegative,
    places,
    sign,
    sign_of_letter,
    split_affine,
    without_mask,
)
from uat_jax.numbers.indexed.colours import orientation
from uat_jax.numbers.indexed.division import cancelled, factored, quotient
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    REBUILD,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    alone,
    constant,
    made,
    of,
    replaced,
)
from uat_jax.numbers.indexed.predicates import at_least_zero, direction_of_computed, is_positive, split_by_size
from uat_jax.numbers.indexed.products import assigned, case_by_case, prime_factors, raised, reduced, split_at
from uat_jax.numbers.indexed.workspace import workspace

ODD = frozenset("asinh atan erf erf_inv sinh tan cbrt asin atanh".split())
"""Functions with f(−z) = −f(z)."""
EVEN = frozenset(["cosh"])
"""Functions with f(−z) = f(z)."""


def mask() -> Polynomial:
    """−∞."""
    return of(made(Kind.MASK))


def exponential(value: Polynomial) -> Polynomial:
    """exp(value)."""
    return _exponential(cancelled(value))


@case_by_case
def _exponential(value: Polynomial) -> Polynomial:
    product = ONE
    for monomial, number in value.terms.items():
        if any(letter.kind is Kind.MASK for letter, _ in monomial):
            others = [sign_of_letter(letter, e) for letter, e in monomial if letter.kind is not Kind.MASK]
            if number > 0 and all(known == 2 for known in others):
                return ZERO
            raise UnsupportedError("exp of a masked number times one that may be negative is not followed")
        product = product * _exponential_of_term(monomial, number)
    return product


def _exponential_of_term(monomial: tuple, number: Fraction) -> Polynomial:
    if len(monomial) == 1 and monomial[0][0].kind is Kind.LOG and monomial[0][1] == 1:
        return raised(monomial[0][0].arguments[0], number)
    return of(made(Kind.EXP, alone(monomial)), number)


def logarithm(value: Polynomial) -> Polynomial:
    """log(value)."""
    if not without_mask(value):
        raise UnsupportedError("log of a masked number (-inf) is not followed")
    return _logarithm(cancelled(value))


@case_by_case
def _logarithm(value: Polynomial) -> Polynomial:
    if not value:
        raise UnsupportedError("log of 0 at some index")
    number, common, rest = factored(value, only_positive=True)
    total = ZERO
    for base, direction in ((number.numerator, 1), (number.denominator, -1)):
        for prime, power in prime_factors(base).items():
            total = total + of(made(Kind.LOG, constant(prime))) * (direction * power)
    for letter, exponent in common.items():
        total = total + _logarithm_of_letter(letter) * exponent
    return total if rest == ONE else total + of(made(Kind.LOG, rest))


def _logarithm_of_letter(letter: Letter) -> Polynomial:
    if letter.kind is Kind.EXP:
        return letter.arguments[0]
    if letter.kind is Kind.POWER:
        return logarithm(letter.arguments[0])
    if letter.kind is Kind.PRIME:
        return of(made(Kind.LOG, constant(letter.arguments[0])))
    return of(made(Kind.LOG, of(letter)))


def applied(name: str, value: Polynomial) -> Polynomial:
    """f(value) for a function f of one number; of most of them only the name is known."""
    if not without_mask(value):
        raise UnsupportedError(f"{name} of a masked number (-inf) is not followed")
    return _applied(cancelled(value), name)


@case_by_case
def _applied(value: Polynomial, name: str) -> Polynomial:
    if name in ("relu", "abs"):
        return _homogeneous(value, name)
    if name in ODD:
        if not value:
            return ZERO
        if orientation(value) < 0:
            return -of(made(Kind.FUNCTION, name, -value))
    if name in EVEN and orientation(value) < 0:
        value = -value
    return of(made(Kind.FUNCTION, name, value))


def _homogeneous(value: Polynomial, name: str) -> Polynomial:
    """relu and magnitude, with positive factors moved out and the sign of the operand chosen."""
    if not value:
        return ZERO
    known, opposite = sign(value), sign(-value)
    if known or opposite:
        return value if known else -value if name == "abs" else ZERO
    if is_whole(value):
        positive_part = _whole_maximum(value, ZERO)
        return positive_part if name == "relu" else positive_part * 2 - value
    number, common, rest = factored(value, only_positive=True)
    if orientation(rest) < 0:
        return _homogeneous(-value, name) + (value if name == "relu" else ZERO)
    scale = reduced(common) * number
    tables = workspace()
    tables.uses_signs = True
    if tables.signed:
        positive_part = is_positive(rest) * rest
        return scale * (positive_part if name == "relu" else positive_part * 2 - rest)
    return scale * of(made(Kind.FUNCTION, name, rest))


def magnitude(value: Polynomial) -> Polynomial:
    """|value|."""
    return applied("abs", value)


def maximum(left: Polynomial, right: Polynomial) -> Polynomial:
    """max(left, right)."""
    if not (without_mask(left) and without_mask(right)):
        return _masked_maximum(left, right, ONE)
    difference = left - right
    if is_whole(difference):
        return _whole_maximum(left, right)
    if _is_within_a_maximum(difference):
        return left
    if _is_within_a_maximum(-difference):
        return right
    return right + applied("relu", difference)


def _whole_maximum(left: Polynomial, right: Polynomial) -> Polynomial:
    """b + [a − b ≥ 0]·(a − b), or with a and b exchanged, whichever has the comparison that is kept."""
    difference = left - right
    if direction_of_computed(difference) < 0:
        return left - at_least_zero(-difference) * difference
    return right + at_least_zero(difference) * difference


def _is_within_a_maximum(difference: Polynomial) -> bool:
    """Whether it is max_i u(i) − u(e) for a place e of the range, which is ≥ 0."""
    for letter in difference.letters:
        if letter.kind is Kind.MAXIMUM and len(letter.bound) == 1:
            ((variable,), body), less = letter.arguments, of(letter) - difference
            if any(replaced(body, {variable: place}) == less for place in places(variable, body)):
                return True
    return False


def _masked_maximum(left: Polynomial, right: Polynomial, case: Polynomial) -> Polynomial:
    """A maximum in each case of the predicates that mask one of the numbers."""
    for one, other in ((left, right), (right, left)):
        if _is_minus_infinity(one):
            return other
    masked = [value for value in (left, right) if not without_mask(value)]
    if not masked:
        return maximum(left, right)
    predicate = split_at(masked[0])
    if predicate is None:
        raise UnsupportedError("a maximum of masked numbers (-inf) is not followed")
    total = ZERO
    for letter, holds in ((of(predicate), True), (ONE - of(predicate), False)):
        if possible := case * letter:
            one, other = (assigned(value, predicate, holds) for value in (left, right))
            total = total + letter * _masked_maximum(one, other, possible)
    return total


def _is_minus_infinity(value: Polynomial) -> bool:
    """Whether it is −∞, times what is proved to be positive, plus numbers that are not +∞."""
    slope, _ = split_affine(value, next(iter(mask().letters)))
    return bool(slope) and sign(slope) == 2


def minimum(left: Polynomial, right: Polynomial) -> Polynomial:
    """min(left, right)."""
    if not (without_mask(left) and without_mask(right)):
        raise UnsupportedError("a minimum of masked numbers (-inf) is not followed")
    return -maximum(-left, -right)


def chosen(condition: Polynomial, first: Polynomial, second: Polynomial) -> Polynomial:
    """The second number where the condition is 1, else the first.

    Where [z > 0] chooses between c·z and 0, that is c·relu(z).
    """
    if first == second:
        return first
    if condition in (ONE, ZERO):
        return second if condition == ONE else first
    if _positive_operand(ONE - condition) is not None:
        condition, first, second = ONE - condition, second, first
    operand = _positive_operand(condition)
    if operand is not None and without_mask(first) and without_mask(second):
        factor = quotient(second - first, operand)
        if factor is not None:
            return first + factor * maximum(operand, ZERO)
    return condition * second + (ONE - condition) * first


def _positive_operand(condition: Polynomial) -> Polynomial | None:
    """z, if the condition is [z > 0]."""
    if len(condition.letters) != 1 or len(condition.terms) != 1:
        return None
    (letter,) = condition.letters
    return letter.arguments[0] if letter.kind is Kind.POSITIVE and condition == of(letter) else None


def whole_number(value: Polynomial, bits: int) -> Polynomial:
    """A real number cast to a whole number of so many bits: a function of which its range is known."""
    if not without_mask(value):
        raise UnsupportedError("a cast of a masked number (-inf) is not followed")
    return _whole_number(cancelled(value), bits)


@case_by_case
def _whole_number(value: Polynomial, bits: int) -> Polynomial:
    if value.number() is not None and (workspace().constants or not is_whole(value)):
        raise UnsupportedError("a cast of a constant that may be read as another number is not followed")
    if is_whole(value) and not any(a.kind is Kind.WHOLE_NUMBER for a in value.letters):
        return value
    return of(made(Kind.WHOLE_NUMBER, "int", bits, value))


def wrapped(value: Polynomial, bits: int) -> Polynomial:
    """A whole number that is computed with so many bits and may be too large for them."""
    return of(made(Kind.WHOLE_NUMBER, WRAPPED, bits, value))


WRAPPED = "wrapped int"
"""The name of a whole number that is a sum computed with some bits, which may be too few for it."""

SHORT = 8
"""Whether a size is larger than a number up to this, by which it divides, is looked at in both cases."""


def whole_part(dividend: Polynomial, divisor: Polynomial) -> Polynomial:
    """⌊dividend / divisor⌋ of index polynomials, the divisor at least 1.

    (a·d + r) div d = a + r div d.  r div d = 0 for 0 ≤ r < d, and [r ≥ 0] − 1 for −d ≤ r < d.
    (c·u + s) div (c·m) = u div m for 0 ≤ s < c.  (u div a) div b = u div (a·b).
    """
    if divisor == ONE:
        return dividend
    multiple, rest = _multiple_of(dividend, divisor)
    if not rest or nonnegative(rest) and nonnegative(divisor - 1 - rest):
        return multiple
    if nonnegative(rest + divisor) and nonnegative(divisor - 1 - rest):
        return multiple + at_least_zero(rest) - 1
    if abs(rest.number() or SHORT + 1) <= SHORT:
        split_by_size(divisor - 1 - rest)
        split_by_size(rest + divisor)
    for monomial, number in rest.terms.items():
        scale = Polynomial({tuple(f for f in monomial if f[0].kind is Kind.SIZE): abs(number)})
        smaller = None if scale == ONE else _whole_quotient(divisor, scale)
        if smaller is None:
            continue
        inside, below = _multiple_of(rest, scale)
        if nonnegative(below) and nonnegative(scale - 1 - below):
            return multiple + whole_part(inside, smaller)
    if len(rest.terms) == 1:
        ((monomial, number),) = rest.terms.items()
        if number == 1 and len(monomial) == 1 and monomial[0][1] == 1 and monomial[0][0].kind is Kind.QUOTIENT:
            inner, by = monomial[0][0].arguments
            return multiple + whole_part(inner, by * divisor)
    if not nonnegative(rest):
        multiple, rest = ZERO, dividend
    if not (nonnegative(rest) and nonnegative(divisor - 1)):
        raise UnsupportedError("a whole quotient of a number that may be negative is not followed")
    return multiple + of(made(Kind.QUOTIENT, rest, divisor))


def _whole_quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    found = quotient(dividend, divisor)
    return found if found is not None and all(x.denominator == 1 for x in found.terms.values()) else None


def _multiple_of(value: Polynomial, divisor: Polynomial) -> tuple[Polynomial, Polynomial]:
    """(q, r) with value = q·divisor + r, term by term.

    If the divisor is a number d, the coefficients of r are from 0 to d − 1.
    """
    multiple, rest = ZERO, ZERO
    of_number = divisor.number()
    for monomial, number in value.terms.items():
        term = Polynomial({monomial: number})
        if of_number is not None:
            multiple, rest = (
                multiple + alone(monomial) * (number // of_number),
                rest + alone(monomial) * (number % of_number),
            )
            continue
        found = _whole_quotient(term, divisor) if len(divisor.terms) == 1 else None
        multiple, rest = (multiple + found, rest) if found is not None else (multiple, rest + term)
    return multiple, rest


# Made again with other indices


def _entry_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    name, lengths, known, indices = letter.arguments
    return raised(of(made(Kind.ENTRY, name, lengths, known, tuple(replaced(i, by) for i in indices))), exponent)


def _function_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    name, *operands = letter.arguments
    new = [replaced(operand, by) for operand in operands]
    value = applied(name, *new) if len(new) == 1 else of(made(Kind.FUNCTION, name, *new))
    return raised(value, exponent)


def _exp_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return exponential(replaced(letter.arguments[0], by) * exponent)


def _log_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return raised(logarithm(replaced(letter.arguments[0], by)), exponent)


def _quotient_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return raised(whole_part(replaced(letter.arguments[0], by), letter.arguments[1]), exponent)


REBUILD[Kind.ENTRY] = _entry_rebuilt
REBUILD[Kind.FUNCTION] = _function_rebuilt
REBUILD[Kind.EXP] = _exp_rebuilt
REBUILD[Kind.LOG] = _log_rebuilt


def _whole_number_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    how, bits, value = letter.arguments
    return raised((wrapped if how == WRAPPED else whole_number)(replaced(value, by), bits), exponent)


REBUILD[Kind.QUOTIENT] = _quotient_rebuilt
REBUILD[Kind.WHOLE_NUMBER] = _whole_number_rebuilt
