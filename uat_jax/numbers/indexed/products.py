"""Products and powers.

    [p]² = [p]     i² = −1     P^(e+1) = P·P^e     (uv)^e = u^e·v^e     (u^e)^f = u^(ef)     [i = j]·u(i) = [i = j]·u(j)

An exponent is below 0 for letters only that may vanish on a set of measure zero at most; 1/u of another u is a letter
V(u) of its own, which never cancels against u.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.bounds import (
    may_vanish_only_thinly,
    nonnegative,
    sign,
    sign_of_letter,
    unit_indices,
    without_mask,
)
from uat_jax.numbers.indexed.colours import orientation
from uat_jax.numbers.indexed.division import cancelled, factored
from uat_jax.numbers.indexed.polynomial import (
    ONE,
    PREDICATES,
    REBUILD,
    REDUCE,
    ZERO,
    Kind,
    Letter,
    Polynomial,
    Replacement,
    constant,
    in_order,
    made,
    of,
    rebuilt,
    replaced,
    summed,
    without,
)
from uat_jax.numbers.indexed.workspace import workspace

MOST_TRIED = 5000
"""Primes up to this are divided out of numbers whose roots are taken."""


def reduced(exponents: dict[Letter, Fraction]) -> Polynomial:
    """The product of letters by the laws of predicates, of i, of roots of primes and of powers of polynomials."""
    number, kept, whole = Fraction(1), {}, ONE
    for letter, exponent in exponents.items():
        if letter.kind in PREDICATES:
            exponent = Fraction(1)
        elif letter.kind is Kind.IMAGINARY:
            exponent %= 4
            if exponent >= 2:
                number, exponent = -number, exponent - 2
        elif letter.kind is Kind.PRIME:
            number, exponent = number * Fraction(letter.arguments[0]) ** math.floor(exponent), exponent % 1
        elif letter.kind is Kind.PRODUCT and _is_sign(letter.arguments[1]):
            exponent %= 2
        elif letter.kind is Kind.POWER and (exponent >= 1 or exponent < 0 and len(letter.arguments[0].terms) == 1):
            whole, exponent = whole * raised(letter.arguments[0], math.floor(exponent)), exponent % 1
        if exponent:
            kept[letter] = exponent
    if _contradictory(kept):
        return ZERO
    equality = _substitutable(kept)
    product = Polynomial({in_order(kept): number}) if equality is None else _at_equality(kept, *equality) * number
    return product if whole is ONE else whole * product


def _is_sign(value: Polynomial) -> bool:
    """Whether a number is 1 or −1, by what predicates say."""
    return all(letter.kind in PREDICATES for letter in value.letters) and value * value == ONE


def _contradictory(kept: dict[Letter, Fraction]) -> bool:
    """Whether two comparisons exclude each other; of two of which one implies the other, one is dropped."""
    comparisons = [letter for letter in kept if letter.kind in (Kind.AT_LEAST, Kind.POSITIVE)]
    for left in comparisons:
        for right in comparisons:
            if left is right or left.kind is not right.kind or left not in kept or right not in kept:
                continue
            if _implies(left, right):
                del kept[right]
            elif _exclude(left, right):
                return True
    return False


def _implies(left: Letter, right: Letter) -> bool:
    """Whether u ≥ 0 implies v ≥ 0, or u > 0 implies v > 0: v − u ≥ 0."""
    gap = right.arguments[0] - left.arguments[0]
    return nonnegative(gap) if left.kind is Kind.AT_LEAST else sign(gap) > 0


def _exclude(left: Letter, right: Letter) -> bool:
    """Whether u ≥ 0 and v ≥ 0, or u > 0 and v > 0, are never both true: −u − v ≥ 1, or −u − v ≥ 0."""
    gap = -left.arguments[0] - right.arguments[0]
    return nonnegative(gap - 1) if left.kind is Kind.AT_LEAST else sign(gap) > 0


def _substitutable(kept: dict[Letter, Fraction]) -> tuple[Letter, Letter, Polynomial] | None:
    """(predicate, index, value): an [e = 0] that gives an index a value, which stands elsewhere in the product."""
    for letter in kept:
        if letter.kind is Kind.EQUAL:
            variables = unit_indices(letter.arguments[0])
            for variable in sorted(variables, key=lambda v: (not v.name.startswith("o"), v.name), reverse=True)[:1]:
                if any(variable in other.free for other in kept if other is not letter):
                    slope = variables[variable]
                    return letter, variable, (of(variable) * slope - letter.arguments[0]) * slope
    return None


def _at_equality(kept: dict[Letter, Fraction], equality: Letter, variable: Letter, value: Polynomial) -> Polynomial:
    """[v = e]·u(v) = [v = e]·u(e)."""
    product = of(equality)
    for letter, exponent in kept.items():
        if letter is not equality:
            here = variable in letter.free
            product = product * (rebuilt(letter, exponent, {variable: value}) if here else of(letter, exponent))
    return product


REDUCE.append(reduced)


# Functions of what a predicate chooses


def split_at(value: Polynomial) -> Letter | None:
    """A predicate in its terms, always the same one; None if there is none."""
    return min((a for a in value.letters if a.kind in PREDICATES), key=lambda letter: letter.key, default=None)


def assigned(value: Polynomial, predicate: Letter, holds: bool) -> Polynomial:
    """A polynomial with a predicate replaced by 1 or 0."""
    total: dict = {}
    for monomial, number in value.terms.items():
        if predicate in dict(monomial):
            if not holds:
                continue
            monomial = tuple(factor for factor in monomial if factor[0] is not predicate)
        total[monomial] = total.get(monomial, 0) + number
    return Polynomial({monomial: number for monomial, number in total.items() if number})


Rule = Callable[..., Polynomial]


def case_by_case(function: Rule) -> Rule:
    """f(p·a + (1 − p)·b) = p·f(a) + (1 − p)·f(b) for a predicate p, whatever f is.

    Cases that no index allows, such as i = j and i < j, are left out.
    """

    def of_cases(value: Polynomial, *more: object, case: Polynomial = ONE) -> Polynomial:
        predicate = split_at(value)
        if predicate is None:
            return function(value, *more)
        total = ZERO
        for letter, holds in ((of(predicate), True), (ONE - of(predicate), False)):
            possible = case * letter
            if possible:
                total = total + letter * of_cases(assigned(value, predicate, holds), *more, case=possible)
        return total

    return of_cases


# Powers


def raised(base: Polynomial, exponent: Fraction | int) -> Polynomial:
    """base^exponent for a rational exponent."""
    exponent = Fraction(exponent)
    if exponent == 0:
        return ONE
    if exponent.denominator == 1 and exponent > 0:
        product = base
        for _ in range(int(exponent) - 1):
            product = product * base
        return product
    if not without_mask(base):
        raise UnsupportedError("a power of a masked number (-inf) has no normal form for all sizes")
    return _raised(cancelled(base), exponent)


@case_by_case
def _raised(base: Polynomial, exponent: Fraction) -> Polynomial:
    if not base:
        if exponent > 0:
            return ZERO
        raise UnsupportedError("a divisor is 0 at some index")
    whole = exponent.denominator == 1
    content, common, rest = factored(base, only_positive=not whole)
    result = _number_raised(content, exponent)
    for letter, power in common.items():
        result = result * _letter_raised(letter, power * exponent)
    if rest == ONE:
        return result
    if whole and orientation(rest) < 0:
        rest, result = -rest, result * (-1 if exponent.numerator % 2 else 1)
        if rest == ONE:
            return result
    magnitude = _root_of_square(rest, exponent)
    return result * (magnitude if magnitude is not None else _power_of_sum(rest, exponent))


def _root_of_square(rest: Polynomial, exponent: Fraction) -> Polynomial | None:
    """√(u²) = |u| for a monomial u; None for another radicand."""
    if exponent.denominator != 2 or len(rest.terms) != 1:
        return None
    ((monomial, number),) = rest.terms.items()
    if number != 1 or not all(e.denominator == 1 and e % 2 == 0 and e > 0 for _, e in monomial):
        return None
    from uat_jax.numbers.indexed.functions import magnitude

    half = Polynomial({tuple((letter, e / 2) for letter, e in monomial): Fraction(1)})
    return raised(magnitude(half), exponent * 2)


def _letter_raised(letter: Letter, exponent: Fraction) -> Polynomial:
    """A power of a letter, whose exponent is negative only if the letter may do that."""
    if letter.kind is Kind.POWER and exponent < 0:
        return _power_of_sum(letter.arguments[0], exponent)
    if letter.kind is Kind.INVERSE and exponent < 0:
        return raised(letter.arguments[0], -exponent)
    if exponent > 0 or letter.kind is Kind.EXP or _divisible(of(letter)):
        return reduced({letter: exponent})
    return of(made(Kind.INVERSE, of(letter)), -exponent)


def _power_of_sum(base: Polynomial, exponent: Fraction) -> Polynomial:
    if exponent > 0 or _divisible(base):
        return reduced({made(Kind.POWER, base): exponent}) if len(base.terms) > 1 else _single(base, exponent)
    return of(made(Kind.INVERSE, base), -exponent)


def _single(base: Polynomial, exponent: Fraction) -> Polynomial:
    """A power of a monomial of letters, of which some are not proved to be positive: a power of one polynomial."""
    ((monomial, number),) = base.terms.items()
    if number == 1 and len(monomial) == 1 and (exponent.denominator == 1 or sign_of_letter(monomial[0][0]) == 2):
        return _letter_raised(monomial[0][0], monomial[0][1] * exponent)
    return reduced({made(Kind.POWER, base): exponent})


def _divisible(base: Polynomial) -> bool:
    """Whether a number may cancel as a divisor; one that may vanish is written down."""
    if sign(base) == 2 or sign(-base) == 2:
        return True
    if not may_vanish_only_thinly(base):
        return False
    workspace().divisors[base.key] = base
    return True


def _number_raised(number: Fraction, exponent: Fraction) -> Polynomial:
    if exponent.denominator == 1:
        return constant(number ** int(exponent))
    exponents: dict[Letter, Fraction] = {}
    for base, direction in ((number.numerator, 1), (number.denominator, -1)):
        for prime, power in prime_factors(base).items():
            letter = made(Kind.PRIME, prime)
            exponents[letter] = exponents.get(letter, Fraction(0)) + direction * power * exponent
    return reduced(exponents)


def prime_factors(number: int) -> dict[int, int]:
    """Factor → exponent; what is left when small primes are divided out counts as one factor."""
    factors: dict[int, int] = {}
    candidate = 2
    while number > 1 and candidate < MOST_TRIED:
        while number % candidate == 0:
            factors[candidate] = factors.get(candidate, 0) + 1
            number //= candidate
        candidate += 1
    if number > 1:
        factors[number] = factors.get(number, 0) + 1
    return factors


def with_letter(value: Polynomial, letter: Letter, new: Polynomial) -> Polynomial:
    """A polynomial with another one in the place of a letter, where its exponent is not negative."""
    return summed(
        Polynomial({without(monomial, letter): number}) * raised(new, exponent)
        if (exponent := dict(monomial).get(letter, Fraction(0))) > 0
        else Polynomial({monomial: number})
        for monomial, number in value.terms.items()
    )


# Made again with other indices


def _power_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return raised(replaced(letter.arguments[0], by), exponent)


def _inverse_rebuilt(letter: Letter, exponent: Fraction, by: Replacement) -> Polynomial:
    return raised(raised(replaced(letter.arguments[0], by), -1), exponent)


REBUILD[Kind.POWER] = _power_rebuilt
REBUILD[Kind.INVERSE] = _inverse_rebuilt
REBUILD[Kind.INDEX] = lambda letter, exponent, by: raised(by[letter], exponent)
