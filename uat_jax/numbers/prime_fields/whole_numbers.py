"""What floor, ceil, round and casts to integers make of a polynomial in atoms, in one way for all ways of writing it.

An atom ⌊p⌋ is a whole number f of which is known that f ≤ p < f + 1, an atom of rounding one with |p - f| ≤ 1/2.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jax import lax

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.integer_ranges import limits
from uat_jax.numbers.prime_fields.inequalities import Inequality, Monomial, Polynomial

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.atoms import Atoms

ROUNDING = frozenset("ceil floor rem round".split())
"""Primitives that make whole numbers, or remainders, of real numbers."""

MOST_SMALL = 256
"""Integers up to this are followed where a cell decides them: even floats of 16 bits hold them."""


def _truncated_quotient(x: int, y: int) -> int:
    """x/y without its fraction."""
    if not y:
        raise UnsupportedError("a quotient of an integer by 0")
    return int(Fraction(x, y))


OF_INTEGERS: Mapping[str, Callable[..., int]] = {
    "abs": lambda x: abs(x),
    "add": lambda x, y: x + y,
    "clamp": lambda low, x, high: min(max(x, low), high),
    "div": _truncated_quotient,
    "max": lambda x, y: max(x, y),
    "min": lambda x, y: min(x, y),
    "mul": lambda x, y: x * y,
    "neg": lambda x: -x,
    "rem": lambda x, y: x - y * _truncated_quotient(x, y),
    "sign": lambda x: (x > 0) - (x < 0),
    "sub": lambda x, y: x - y,
}
"""What primitives make of integers, as long as these are small; other primitives are refused."""


def small(value: int, dtype: Any) -> int:
    """An integer that its dtype holds, and every float as well.  Raises `UnsupportedError` if it is large."""
    bounds = limits(np.dtype(dtype))
    if not max(bounds.low, -MOST_SMALL) <= value <= min(bounds.high, MOST_SMALL):
        raise UnsupportedError("an integer that is large, or wraps")
    return value


Asked = Callable[[Polynomial], bool]
"""What holds for a polynomial in all of a cell; raises where it holds in a part only."""

ONE = Polynomial.constant(1)


def floor(p: Polynomial, atoms: Atoms, is_zero: Asked) -> Polynomial:
    """⌊p⌋ = w + ⌊p - w⌋ for whole w; of a polynomial that begins with a minus -⌈-p⌉, which asks whether -p is whole."""
    whole, rest = _parted(p, atoms, 1)
    if rest.value is not None:  # from 0 to 1
        return whole
    if _begins_with_minus(rest, atoms):
        below = floor(-rest, atoms, is_zero)
        return whole - below if is_zero(-rest - below) else whole - below - ONE
    found = atoms.of_function("floor", "floor", [rest])
    return whole + _stated(found, [Inequality(rest - found, False), Inequality(found + ONE - rest, True)], atoms)


def ceil(p: Polynomial, atoms: Atoms, is_zero: Asked) -> Polynomial:
    """⌈p⌉ = -⌊-p⌋."""
    return -floor(-p, atoms, is_zero)


def truncated(p: Polynomial, atoms: Atoms, is_zero: Asked, is_nonnegative: Asked) -> Polynomial:
    """p without its fraction: ⌊p⌋ for p ≥ 0 and ⌈p⌉ for p ≤ 0."""
    return (floor if is_nonnegative(p) else ceil)(p, atoms, is_zero)


def rounded(p: Polynomial, atoms: Atoms, method: lax.RoundingMethod) -> Polynomial:
    """The nearest whole number, an odd function.

    Halves go away from 0, or to the even one: then 2w more than p has 2w more than p as the nearest one, for whole w.
    """
    even = method == lax.RoundingMethod.TO_NEAREST_EVEN
    if _is_whole(p, atoms):
        return p
    whole, rest = _parted(p, atoms, 2) if even else (Polynomial.constant(0), p)
    if _begins_with_minus(rest, atoms):
        return whole - rounded(-rest, atoms, method)
    found = atoms.of_function("round", f"round {method}", [rest])
    half = Polynomial.constant(Fraction(1, 2))
    near = [Inequality(half + found - rest, False), Inequality(half - found + rest, False)]
    return whole + _stated(found, near, atoms)


def tightened(inequality: Inequality, atoms: Atoms) -> Inequality:
    """What an inequality says of a sum of whole numbers, by the least number that it can have: 2f > 5 says f ≥ 3."""
    p = inequality.polynomial
    steps = [c for m, c in p.terms.items() if m]
    if not steps or not all(_of_whole_atoms(m, atoms) for m in p.terms):
        return inequality
    step = Fraction(math.gcd(*(c.numerator for c in steps)), math.lcm(*(c.denominator for c in steps)))
    least = -p.terms.get((), Fraction(0)) / step
    least = math.floor(least) + 1 if inequality.strict else math.ceil(least)
    sums = Polynomial({m: c / step for m, c in p.terms.items() if m})
    return Inequality(sums - Polynomial.constant(least), False)


def _stated(whole: Polynomial, known: list[Inequality], atoms: Atoms) -> Polynomial:
    """An atom that is a whole number, of which some inequalities are known for all inputs."""
    ((monomial, _),) = whole.terms.items()
    if monomial[0][0] not in atoms.whole:
        atoms.whole.add(monomial[0][0])
        atoms.known.extend(known)
    return whole


def _is_whole(p: Polynomial, atoms: Atoms) -> bool:
    """Whether a polynomial is a whole number wherever its atoms are numbers."""
    return all(c.denominator == 1 and _of_whole_atoms(m, atoms) for m, c in p.terms.items())


def _of_whole_atoms(monomial: Monomial, atoms: Atoms) -> bool:
    return all(atom in atoms.whole and exponent > 0 for atom, exponent in monomial)


def _parted(p: Polynomial, atoms: Atoms, unit: int) -> tuple[Polynomial, Polynomial]:
    """(w, p - w) with the multiple w of a whole unit that leaves coefficients of whole monomials from 0 to the unit."""
    parts = {m: unit * math.floor(c / unit) for m, c in p.terms.items() if _of_whole_atoms(m, atoms)}
    whole = Polynomial({m: Fraction(c) for m, c in parts.items() if c})
    return whole, p - whole


def _begins_with_minus(p: Polynomial, atoms: Atoms) -> bool:
    """Whether the first coefficient of a monomial that may not be whole is negative: of p and -p, that of one is."""
    first = min((m for m in p.terms if not _of_whole_atoms(m, atoms)), default=None)
    return first is not None and p.terms[first] < 0
