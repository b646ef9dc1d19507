"""n·Σ_i u_i² − (Σ_i u_i)² ≥ 0, the inequality of Cauchy and Schwarz, of which a variance is an instance."""

from __future__ import annotations

from fractions import Fraction

from uat_jax.numbers.indexed.division import factored
from uat_jax.numbers.indexed.polynomial import ZERO, Kind, Letter, Polynomial, alone, fresh, of, replaced
from uat_jax.numbers.indexed.products import reduced
from uat_jax.numbers.indexed.sums import total


def without_variance(value: Polynomial) -> tuple[Polynomial, Polynomial] | None:
    """(c, r) with c ≥ 0 and value = c·(n·Σ_i u_i² − (Σ_i u_i)² + r); None if no such difference is found."""
    number, common, rest = factored(value, only_positive=True)
    if any(letter.kind is Kind.IMAGINARY for letter in rest.within):
        return None
    squares = {m[0][0]: number for m, number in rest.terms.items() if _is_square_of_sum(m) and number < 0}
    if not squares:
        return None
    first = min(squares, key=lambda letter: letter.key)
    length, scale = first.bound[0].length, -squares[first]
    index = fresh(length)
    sums, summand = ZERO, ZERO
    for letter in squares:
        if letter.bound[0].length != length:
            return None
        weight = _weight(rest, first, letter, scale)
        sums = sums + of(letter) * weight
        summand = summand + replaced(alone(letter.arguments[1]), {letter.bound[0]: of(index)}) * weight
    remaining = rest - (length * total(summand * summand, (index,)) - sums * sums) * scale
    return reduced(common) * number, remaining


def _is_square_of_sum(monomial: tuple) -> bool:
    if len(monomial) != 1:
        return False
    ((letter, exponent),) = monomial
    return letter.kind is Kind.SUM and len(letter.bound) == 1 and exponent == 2


def _weight(value: Polynomial, first: Letter, letter: Letter, scale: Fraction) -> Fraction:
    """w, if −scale·(first + w·letter + …)² stands in a value, by its mixed term."""
    if letter is first:
        return Fraction(1)
    ((mixed, _),) = (of(first) * of(letter)).terms.items()
    return value.terms.get(mixed, Fraction(0)) / (-2 * scale)
