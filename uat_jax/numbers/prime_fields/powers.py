"""Positive numbers as products of powers, and what such products are worth in prime fields.

x = e^t·∏ uᵢ^qᵢ        x^q = e^(qt)·∏ uᵢ^(q·qᵢ)

Every uᵢ is a number that is not negative, and every qᵢ rational.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from uat_jax.interpret import closed_form
from uat_jax.interpret.closed_form import ClosedForm
from uat_jax.interpret.closed_form import rational as rational_form
from uat_jax.numbers.prime_fields import exponential_sums
from uat_jax.numbers.prime_fields.exponential_sums import content, is_positive_sum, mean
from uat_jax.numbers.prime_fields.number import (
    Exponentials,
    Letter,
    Number,
    Powers,
    Quadratic,
    Terms,
    from_quadratic,
    rational,
)
from uat_jax.numbers.prime_fields.residues import Residues, vanishes

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.field_functions import FieldFunctions

MOST_FACTORS = 8
"""A product of more factors is one factor."""

DEEPEST_ROOT = 64
"""Roots of higher degrees are not made of others."""

NOTHING = Powers(None, ())
"""The product of no factors, which is 1."""


def factors_of(functions: FieldFunctions, x: Number) -> Powers | None:
    """A number as a product of powers of numbers that are not negative; None where its sign is not known."""
    if x.product is not None:
        return x.product
    if x.closed is not None and x.closed.uniform is not None:
        return None if constant_form(x) is None else one_factor(x)
    if x.exponentials is not None and (is_positive_sum(x.exponentials) or is_positive(x)) and x.facts is not None:
        return None if x.facts.guarded else _of_sum(functions, x, x.exponentials)
    unknown = x.facts is None or x.facts.guarded or not x.nonnegative
    return None if unknown or vanishes(x.residues).any() else _of_terms(functions, x)


def _of_terms(functions: FieldFunctions, x: Number) -> Powers:
    """A sum of exponentials of mean exponent t is e^t times the rest."""
    if x.terms is None:
        return one_factor(x)
    draw = functions.draw
    mean = draw.scale(x.terms.exponents, Fraction(1, x.terms.count))
    rest = draw.multiply(x.residues, draw.exponential(draw.negate(mean)))
    terms = Terms(draw.fraction(0, x.shape), x.terms.count)
    powers = one_factor(Number(rest, nonnegative=True, scale=x.scale, facts=x.facts, terms=terms)).powers
    return Powers(Number(mean), () if x.terms.count == 1 and _is_one(functions, rest) else powers)


def _of_sum(functions: FieldFunctions, x: Number, sum_of: Exponentials) -> Powers:
    """A positive sum of mean exponent t is c·e^t times the rest, c being what its coefficients share."""
    below = Powers(None, tuple((u, Fraction(-n)) for u, n in sum_of.below))
    exponent, c = mean(functions.draw, sum_of.terms), content(sum_of.terms)
    factors = () if c == 1 else one_factor(functions.spread(functions.closed(rational_form(c)), x.shape)).powers
    if len(sum_of.terms) > 1:
        factors += ((normalised(functions, x, sum_of), Fraction(1)),)
    found = times(functions, Powers(Number(exponent), factors), below)
    return one_factor(x) if found is None else found


def normalised(functions: FieldFunctions, x: Number, sum_of: Exponentials) -> Number:
    """The sum above the line, over what its coefficients share, with exponents of the mean 0."""
    draw, exponent, c = functions.draw, mean(functions.draw, sum_of.terms), content(sum_of.terms)
    rest = draw.multiply(x.residues, draw.exponential(draw.negate(exponent)))
    for u, n in sum_of.below:
        rest = draw.multiply(rest, draw.power(u.residues, n))
    assert x.facts is not None
    return Number(
        draw.scale(rest, 1 / c),
        nonnegative=True,
        facts=x.facts.positive_too(),
        terms=Terms(draw.fraction(0, x.shape), len(sum_of.terms)),
        exponentials=Exponentials(tuple((a / c, draw.subtract(t, exponent)) for a, t in sum_of.terms)),
    )


def exponentials_of(functions: FieldFunctions, x: Number) -> Exponentials | None:
    """A number as a sum of exponentials over others, if it is known as one."""
    if x.exponentials is not None:
        return x.exponentials
    value = rational(functions.draw, x)
    if value is not None:
        return exponential_sums.rational_sum(functions.draw, value, x.shape)
    if x.product is not None:
        return _of_powers(functions, x.product, x.shape)
    if x.terms is None or x.terms.count > 1:
        return None
    known = factors_of(functions, x)
    return None if known is None or known.powers else _of_powers(functions, known, x.shape)


def _of_powers(functions: FieldFunctions, powers: Powers, shape: tuple[int, ...]) -> Exponentials | None:
    """A product of whole powers of positive sums as a sum over others."""
    draw = functions.draw
    exponent = draw.fraction(0, shape) if powers.exponent is None else powers.exponent.residues
    found, below = Exponentials(((Fraction(1), exponent),)), []
    for u, q in powers.powers:
        form = constant_form(u)
        constant = None if form is None else closed_form.power(form, q)
        value = None if constant is None else constant.rational
        if value is not None:
            part = exponential_sums.rational_sum(draw, value, shape)
        elif q.denominator > 1 or not is_positive(u):
            return None
        elif q < 0:
            below.append((u, int(-q)))
            continue
        else:
            part = None if u.exponentials is None else exponential_sums.power(draw, u.exponentials, int(q), shape)
        product = None if part is None else exponential_sums.multiplied(draw, found, part)
        if product is None:
            return None
        found = product
    return Exponentials(found.terms, tuple(below)) if len(below) <= exponential_sums.MOST_DIVISORS else None


def _is_one(functions: FieldFunctions, residues: Residues) -> bool:
    """Whether every entry is 1."""
    return bool(vanishes(functions.draw.subtract(residues, functions.draw.fraction(1, residues.shape))).all())


def one_factor(x: Number) -> Powers:
    """A number as its only factor, which may stand below a line: no quotient is kept as a sum of exponentials there."""
    bare = x.but(product=None, logarithms=None, factors=None, sum_of_squares=None, largest_of=None, almost=None)
    if x.exponentials is not None and x.exponentials.below:
        bare = bare.but(exponentials=None)
    return Powers(None, ((bare, Fraction(1)),))


def times(functions: FieldFunctions, x: Powers, y: Powers) -> Powers | None:
    """The product; None if it has too many factors."""
    exponent = x.exponent if y.exponent is None else y.exponent
    if x.exponent is not None and y.exponent is not None:
        exponent = functions.add(x.exponent, y.exponent)
    factors = list(x.powers)
    for u, q in y.powers:
        place = functions.draw.found(u.residues, [v.residues for v, _ in factors])
        if place is None:
            factors.append((u, q))
        else:
            factors[place] = (factors[place][0], factors[place][1] + q)
    kept = tuple((u, q) for u, q in factors if q)
    return Powers(exponent, kept) if len(kept) <= MOST_FACTORS else None


def product_of(functions: FieldFunctions, parts: Sequence[Powers]) -> Powers | None:
    """The product of some; None if it has too many factors."""
    found: Powers | None = NOTHING
    for part in parts:
        found = None if found is None else times(functions, found, part)
    return found


def raised(functions: FieldFunctions, x: Powers, q: Fraction) -> Powers:
    """x^q."""
    if q == 1:
        return x
    if q == 0:
        return NOTHING
    exponent = None if x.exponent is None else scaled(functions, x.exponent, q)
    return Powers(exponent, tuple((u, p * q) for u, p in x.powers))


def scaled(functions: FieldFunctions, x: Number, q: Fraction) -> Number:
    """A rational multiple."""
    return functions.multiply(x, functions.constant(q, x.shape))


def value_of(functions: FieldFunctions, powers: Powers, shape: tuple[int, ...]) -> Number:
    """The number that a product of powers is: whole powers times one letter, the product of those of all roots."""
    number = functions.constant(1, shape)
    roots, factor = [], rational_form(1)
    for u, q in powers.powers:
        form = constant_form(u)
        constant = None if form is None else closed_form.power(form, q)
        if constant is not None:
            factor = closed_form.multiplied(factor, constant) or factor
            number = functions.multiply(number, functions.spread(functions.closed(constant), shape))
            continue
        whole = math.floor(q)
        if whole:
            number = functions.multiply(number, functions.power(u, whole))
        if q != whole:
            roots.append(_root_power(functions, u, q - whole))
    if roots:
        number = functions.multiply(number, _together(functions, roots))
    if powers.exponent is not None:
        number = functions.multiply(number, functions.exponential(powers.exponent))
    irrational = factor if factor.rational is None and factor.positive else None
    return number.but(product=powers, nonnegative=True, factor=irrational)


def _root_power(functions: FieldFunctions, u: Number, q: Fraction) -> Number:
    """u^q for 0 < q < 1, by the root of the degree that q has for a denominator."""
    if q.denominator > DEEPEST_ROOT:
        exponent = functions.draw.fraction(q, u.shape)
        return Number(functions.draw.opaque("power", u.residues, exponent), nonnegative=True)
    return functions.power(_root(functions, u, q.denominator), q.numerator)


def _root(functions: FieldFunctions, u: Number, degree: int) -> Number:
    """The root of a degree: a square root of others, or a letter of its own."""
    if degree == 1:
        return u
    if degree % 2 == 0:
        return functions.root(_root(functions, u, degree // 2))
    return Number(functions.draw.opaque(f"root of degree {degree}", u.residues), nonnegative=True)


def _together(functions: FieldFunctions, roots: Sequence[Number]) -> Number:
    """The product of roots; those that are multiples of letters ℓ, ℓ′ … make one letter ℓℓ′… whose square is known."""
    product, found = functions.constant(1, roots[0].shape), None
    for x in roots:
        if x.quadratic is None or x.quadratic.constant is not None or x.quadratic.letter.square is None:
            product = functions.multiply(product, x)
        else:
            found = x.quadratic if found is None else _both(functions, found, x.quadratic)
    if found is None:
        return product
    letters = from_quadratic(functions.draw, None, found.coefficient, found.letter)
    return functions.multiply(product, letters.but(nonnegative=True))


def _both(functions: FieldFunctions, x: Quadratic, y: Quadratic) -> Quadratic:
    """bℓ·cℓ′ = bc·(ℓℓ′), the square of ℓℓ′ being that of ℓ times that of ℓ′."""
    multiply, one, other = functions.draw.multiply, x.letter, y.letter
    assert one.square is not None
    assert other.square is not None
    value, inverse = multiply(one.value, other.value), multiply(one.inverse, other.inverse)
    letter = Letter(value, inverse, multiply(one.square, other.square), one.nonnegative and other.nonnegative)
    return Quadratic(None, multiply(x.coefficient, y.coefficient), letter)


def is_fractional(powers: Powers) -> bool:
    """Whether there is a root among the factors."""
    return any(q.denominator != 1 for _, q in powers.powers)


def is_positive(x: Number) -> bool:
    """Whether a number is above 0 for all inputs, and not under a condition only."""
    return x.facts is not None and bool(x.facts.positive.all()) and not x.facts.guarded


def all_positive(powers: Powers) -> bool:
    """Whether all factors are above 0 for all inputs; those of constants are."""
    return all(is_positive(u) or constant_form(u) is not None for u, _ in powers.powers)


def constant_form(x: Number) -> ClosedForm | None:
    """The closed form of all entries of a positive constant, or None."""
    form = None if x.closed is None else x.closed.uniform
    return form if form is not None and form.positive else None


def as_logarithm(functions: FieldFunctions, x: Number) -> Powers:
    """The product whose logarithm x is: e^x, or what is kept of it; of y + log k it is k·e^y."""
    if x.logarithms is not None:
        return x.logarithms
    constant = x.closed.uniform if x.closed is not None else None
    rest, form = (None, constant) if constant is not None or x.summand is None else x.summand
    power = closed_form.exponential(form) if isinstance(form, closed_form.LogSum) else None
    factor = None if power is None else functions.spread(functions.closed(power), x.shape)
    if factor is None or factor.closed is None:
        return Powers(_bare(x), ())
    return Powers(None if rest is None else _bare(rest), one_factor(factor).powers)


def _bare(x: Number) -> Number:
    return x.but(product=None, square_of=None, factors=None, almost=None)
