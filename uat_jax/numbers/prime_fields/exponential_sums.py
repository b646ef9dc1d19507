"""Numbers as sums of exponentials over products of positive ones: Σ c·e^t / ∏ u^n.

1 - tanh²x is not seen to be positive in its factors.  As a sum it is 4e^(-2x)/(1 + e^(-2x))², of which every term is
positive.  docs/soundness.md §8.3 has the proofs.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Iterable, Sequence
from fractions import Fraction

from uat_jax.interpret.closed_form import TALLEST_BITS
from uat_jax.numbers.prime_fields.number import Exponentials, Number
from uat_jax.numbers.prime_fields.residues import Draw, Residues

MOST_TERMS = 8
"""A sum of more terms is not kept."""

MOST_DIVISORS = 3
"""Nor is a quotient by a product of more different sums."""

Term = tuple[Fraction, Residues]
"""(c, t) of c·e^t."""


def rational_sum(draw: Draw, value: Fraction, shape: tuple[int, ...]) -> Exponentials:
    """A rational number: c·e⁰, or no term."""
    return Exponentials(((value, draw.fraction(0, shape)),) if value else ())


def negated(x: Exponentials) -> Exponentials:
    """-x."""
    return Exponentials(tuple((-c, t) for c, t in x.terms), x.below)


def added(draw: Draw, x: Exponentials, y: Exponentials) -> Exponentials | None:
    """x + y over a common denominator, equal terms together; None if it is too long."""
    below = _joined(draw, x.below, y.below, max)
    parts = [_over(draw, z, below) for z in (x, y)]
    if parts[0] is None or parts[1] is None:
        return None
    return _lowest(draw, _together(draw, (*parts[0], *parts[1])), below)


def multiplied(draw: Draw, x: Exponentials, y: Exponentials) -> Exponentials | None:
    """x·y."""
    terms = _product(draw, x.terms, y.terms)
    return None if terms is None else _lowest(draw, terms, _joined(draw, x.below, y.below, int.__add__))


def power(draw: Draw, x: Exponentials, exponent: int, shape: tuple[int, ...]) -> Exponentials | None:
    """x^n for n ≥ 0."""
    found: Exponentials | None = rational_sum(draw, Fraction(1), shape)
    if exponent > 2 * MOST_TERMS:
        return None
    for _ in range(exponent):
        found = None if found is None else multiplied(draw, found, x)
    return found


def is_positive_sum(x: Exponentials) -> bool:
    """Whether all terms are positive, and there is one."""
    return bool(x.terms) and all(c > 0 for c, _ in x.terms)


def sign(x: Exponentials) -> int:
    """1 if all terms are positive, -1 if all are negative, 0 if there are both or none."""
    return 1 if is_positive_sum(x) else -1 if is_positive_sum(negated(x)) else 0


def content(terms: Sequence[Term]) -> Fraction:
    """The positive c for which the coefficients over c are whole numbers without a common divisor."""
    coefficients = [c for c, _ in terms]
    divisor = math.gcd(*(c.numerator for c in coefficients))
    return Fraction(divisor, math.lcm(*(c.denominator for c in coefficients)))


def mean(draw: Draw, terms: Sequence[Term]) -> Residues:
    """The mean of the exponents."""
    return draw.scale(functools.reduce(draw.add, (t for _, t in terms)), Fraction(1, len(terms)))


def _joined(
    draw: Draw, x: Sequence[tuple[Number, int]], y: Sequence[tuple[Number, int]], join: Callable[[int, int], int]
) -> tuple[tuple[Number, int], ...]:
    """Two products of powers, with the exponents of what both have joined."""
    found = list(x)
    for u, n in y:
        place = draw.found(u.residues, [v.residues for v, _ in found])
        if place is None:
            found.append((u, n))
        else:
            found[place] = (found[place][0], join(found[place][1], n))
    return tuple(found)


def _over(draw: Draw, x: Exponentials, below: Sequence[tuple[Number, int]]) -> tuple[Term, ...] | None:
    """The terms of x over a multiple of its denominator."""
    terms: tuple[Term, ...] | None = x.terms
    for u, n in below:
        place = draw.found(u.residues, [v.residues for v, _ in x.below])
        for _ in range(n if place is None else n - x.below[place][1]):
            if terms is None or u.exponentials is None:
                return None
            terms = _product(draw, terms, u.exponentials.terms)
    return terms


def _product(draw: Draw, x: Sequence[Term], y: Sequence[Term]) -> tuple[Term, ...] | None:
    """The terms of a product of sums."""
    if len(x) * len(y) > MOST_TERMS:
        return None
    return _together(draw, ((c * d, draw.add(s, t)) for c, s in x for d, t in y))


def _together(draw: Draw, terms: Iterable[Term]) -> tuple[Term, ...]:
    """One term for all of one exponent; those that cancel are left out."""
    found: list[Term] = []
    for c, t in terms:
        place = draw.found(t, [s for _, s in found])
        if place is None:
            found.append((c, t))
        else:
            found[place] = (found[place][0] + c, found[place][1])
    return tuple((c, t) for c, t in found if c)


def _lowest(draw: Draw, terms: tuple[Term, ...], below: Sequence[tuple[Number, int]]) -> Exponentials | None:
    """A quotient, in which what is a multiple of a divisor is divided by it; None if it is too long."""
    left: list[tuple[Number, int]] = []
    for u, n in below:
        while n and (multiple := _multiple_of(draw, terms, u)) is not None:
            terms, n = (multiple,), n - 1
        left += [(u, n)] if n and terms else []
    if len(terms) > MOST_TERMS or len(left) > MOST_DIVISORS or any(_is_tall(c) for c, _ in terms):
        return None
    return Exponentials(terms, tuple(left))


def _is_tall(c: Fraction) -> bool:
    """Whether a coefficient is too long to be kept: every squaring doubles its length."""
    return max(c.numerator.bit_length(), c.denominator.bit_length()) > TALLEST_BITS


def _multiple_of(draw: Draw, terms: Sequence[Term], u: Number) -> Term | None:
    """(c, t) if a sum is c·e^t·u, for u of mean exponent 0."""
    if u.exponentials is None or len(terms) != len(u.exponentials.terms) or len(terms) < 2:
        return None
    ratio = content(terms) / content(u.exponentials.terms) * (1 if terms[0][0] > 0 else -1)
    exponent = mean(draw, terms)
    wanted = [(ratio * c, draw.add(exponent, t)) for c, t in u.exponentials.terms]
    found = all(draw.found(s, [t for d, t in wanted if c == d]) is not None for c, s in terms)
    return (ratio, exponent) if found else None
