"""Polynomials divided by polynomials: exact quotients, common factors, and cancelled denominators."""

from __future__ import annotations

import math
from fractions import Fraction

from uat_jax.numbers.indexed.bounds import sign_of_letter
from uat_jax.numbers.indexed.polynomial import (
    PREDICATES,
    ZERO,
    Kind,
    Letter,
    Monomial,
    Polynomial,
    in_order,
    of,
)

MOST_STEPS = 60
"""A division that takes more steps is given up."""


def quotient(dividend: Polynomial, divisor: Polynomial) -> Polynomial | None:
    """q with q·divisor = dividend, or None if none is found."""
    if not divisor:
        return None
    letters = sorted(dividend.letters | divisor.letters, key=lambda letter: letter.key)

    def rank(monomial: Monomial) -> list[Fraction]:
        exponents = dict(monomial)
        return [exponents.get(letter, Fraction(0)) for letter in letters]

    leading = max(divisor.terms, key=rank)
    found, rest = ZERO, dividend
    for _ in range(MOST_STEPS):
        if not rest:
            return found
        largest = max(rest.terms, key=rank)
        exponents = dict(largest)
        if any(exponents.get(letter, 0) < exponent for letter, exponent in leading):
            return None
        for letter, exponent in leading:
            exponents[letter] -= exponent
        factor = Polynomial({in_order(exponents): rest.terms[largest] / divisor.terms[leading]})
        found, rest = found + factor, rest - factor * divisor
        if largest in rest.terms:
            return None
    return None


def cancelled(value: Polynomial) -> Polynomial:
    """A polynomial in which P^(−e)·(… a multiple of P …) is divided out, for the denominators that may cancel."""
    denominators = {a for m in value.terms for a, e in m if a.kind is Kind.POWER and e < 0 and e.denominator == 1}
    for letter in sorted(denominators, key=lambda letter: letter.key):
        value = _without_denominator(value, letter)
    return value


def _without_denominator(value: Polynomial, letter: Letter) -> Polynomial:
    """P^(−e)·N = P^(1−e)·(N / P), as long as P divides the terms with the lowest power of P."""
    while True:
        lowest = min((dict(monomial).get(letter, Fraction(0)) for monomial in value.terms), default=Fraction(0))
        if lowest >= 0 or lowest.denominator > 1:
            return value
        with_it = {m: number for m, number in value.terms.items() if dict(m).get(letter) == lowest}
        numerator = Polynomial({tuple(f for f in m if f[0] is not letter): number for m, number in with_it.items()})
        divided = quotient(numerator, letter.arguments[0])
        if divided is None:
            return value
        others = Polynomial({m: number for m, number in value.terms.items() if m not in with_it})
        value = others + (divided if lowest == -1 else divided * of(letter, lowest + 1))


def factored(value: Polynomial, only_positive: bool) -> tuple[Fraction, dict[Letter, Fraction], Polynomial]:
    """(c, exponents, rest) with value = c·∏ letter^exponent·rest.

    c is the positive content, and the letters are those that all terms have in common; with `only_positive`, those
    that are proved to be positive alone.
    """
    common: dict[Letter, Fraction] = {}
    for letter in sorted(value.letters, key=lambda letter: letter.key):
        if letter.kind in PREDICATES or letter.kind in (Kind.IMAGINARY, Kind.MASK):
            continue
        if only_positive and not sign_of_letter(letter):
            continue
        least = min(dict(monomial).get(letter, Fraction(0)) for monomial in value.terms)
        if least:
            common[letter] = least
    number = content(value)
    if common or number != 1:
        inverse = in_order({letter: -exponent for letter, exponent in common.items()})
        value = value * Polynomial({inverse: 1 / number})
    return number, common, value


def content(value: Polynomial) -> Fraction:
    """The greatest positive rational number by which the coefficients can be divided and stay whole."""
    numbers = value.terms.values()
    return Fraction(math.gcd(*(x.numerator for x in numbers)), math.lcm(*(x.denominator for x in numbers)))
