"""Numbers that are f(u) for a strictly increasing function f: they are ordered as u is.

exp(u)     log(u)     u^e  for u ≥ 0 and e > 0     −u^e  for u > 0 and e < 0     u/(u + c)  for u, c > 0     −f(−u)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from fractions import Fraction

from uat_jax.numbers.indexed.bounds import sign
from uat_jax.numbers.indexed.functions import applied, exponential, logarithm
from uat_jax.numbers.indexed.polynomial import Kind, Letter, Monomial, Polynomial, alone, of, summed, without
from uat_jax.numbers.indexed.products import raised

INCREASING = frozenset("asinh atan cbrt erf sinh".split())
"""Functions of one number that are defined everywhere and increase strictly."""

Increasing = Callable[[Polynomial], Polynomial]


def of_increasing(value: Polynomial, over: Sequence[Letter]) -> tuple[Polynomial, Increasing] | None:
    """(u, f) with value = f(u) for a strictly increasing function f that the rules know; None if it is none."""
    if len(value.terms) != 1:
        return None
    ((monomial, number),) = value.terms.items()
    if abs(number) != 1 or any(a.kind is Kind.IMAGINARY for letter, _ in monomial for a in letter.within):
        return None
    if number < 0:  # −f(u) increases with −u
        found = of_increasing(-value, over)
        return None if found is None else (-found[0], lambda u: -found[1](-u))
    if all(letter.kind is Kind.EXP for letter, _ in monomial):
        return summed(letter.arguments[0] * exponent for letter, exponent in monomial), exponential
    return _of_power(*monomial[0]) if len(monomial) == 1 else _of_share(monomial, over)


def _of_share(monomial: Monomial, over: Sequence[Letter]) -> tuple[Polynomial, Increasing] | None:
    """u with u/(u + c), which increases for positive u and c."""
    for letter, exponent in monomial:
        share = alone(without(monomial, letter))
        if letter.kind is Kind.POWER and exponent == -1 and sign(share) == 2:
            rest = letter.arguments[0] - share
            if sign(rest) == 2 and not rest.free & set(over):
                return share, lambda u, rest=rest: u * raised(u + rest, -1)
    return None


def _of_power(letter: Letter, exponent: Fraction) -> tuple[Polynomial, Increasing] | None:
    """u with letter^e = f(u)."""
    if exponent == 1 and letter.kind is Kind.LOG and sign(letter.arguments[0]) == 2:
        return letter.arguments[0], logarithm
    if exponent == 1 and letter.kind is Kind.FUNCTION and letter.name in INCREASING:
        return letter.arguments[1], lambda u: applied(letter.name, u)
    base = letter.arguments[0] if letter.kind is Kind.POWER else of(letter)
    if exponent < 0 and sign(base) == 2:
        return -base, lambda u: raised(-u, exponent)
    if (exponent != 1 or letter.kind is Kind.POWER) and sign(base) and exponent > 0:
        return base, lambda u: raised(u, exponent)
    return None
