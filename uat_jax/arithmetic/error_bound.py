"""The chance that a draw takes two different functions for equal: Theorem E of docs/soundness.md, evaluated.

At level k, an element of degree d that is not zero vanishes in one copy with probability at most

    ε_k = d (1/p_k + 2⁻⁵²) + 2 w d / p_{k+1},

the second term only where exponentials are taken; w is the largest Σ_j |n_j| of an argument of exp written in a basis
of them.  Two different arguments of an unknown function are taken for one with probability ε_k^{copies}.  The
exponents are independent if the copies of their level outnumber their rank r by s, except with probability
C(copies, s)·ε_{k+1}^s.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import nmod_mat

from uat_jax.arithmetic.residues import Draw

SPARE = 3
"""Copies beyond the rank that are needed before the exponents count as independent."""

HEIGHT = 1 << 20
"""Coordinates of exponents are rational numbers with numerator and denominator up to this."""

MANY = 1200
"""More exponents than this are not examined: their rank is taken for unknown."""


@dataclass(frozen=True)
class Exponents:
    """The different arguments of exp at one level: their number, rank, and width w (None if not examined)."""

    count: int
    rank: int | None = None
    width: int | None = None


@dataclass(frozen=True)
class ErrorBound:
    """log₂ of the chance of a wrong `equal`, the degree it rests on, and why it is conditional ('' for a theorem)."""

    log2: float
    degree: int
    condition: str
    exponents: tuple[Exponents, ...]


def error_bound(draw: Draw) -> ErrorBound:
    """The bound for a draw in which two programs agreed."""
    exponents = tuple(_examined(draw, k) for k in range(1, len(draw.levels)))
    degree = draw.largest_degree
    logs = list(_terms(draw, degree, exponents))
    # Draws at which a divisor vanished are repeated: conditioning on the others costs a factor 2.
    total = 1 + _log2_sum(logs)
    return ErrorBound(min(0.0, total), degree, _condition(draw, exponents), exponents)


def vanishing(draw: Draw, degree: int, k: int, width: int = 1) -> float:
    """log₂ ε_k."""
    chance = degree * (1 / draw.levels[k].field.prime + 2.0**-52)
    if k + 1 < len(draw.levels):
        chance += 2 * width * degree / draw.levels[k + 1].field.prime
    return min(0.0, math.log2(chance))


def _terms(draw: Draw, degree: int, exponents: tuple[Exponents, ...]) -> Iterator[float]:
    """log₂ of every term of the bound."""
    width = lambda k: (exponents[k].width or 1) if k < len(exponents) else 1
    epsilon = [vanishing(draw, degree, k, width(k)) for k in range(len(draw.levels))]
    yield draw.levels[0].copies * epsilon[0]
    for k, applied in enumerate(draw.applications):
        pairs = math.log2(max(1, applied * (applied - 1) / 2))
        yield pairs + draw.levels[k].copies * epsilon[k]
        yield pairs - 120  # two states of 128 bits, with a margin
    for k, found in enumerate(exponents, 1):
        if found.rank is not None:
            copies = draw.levels[k].copies
            spare = copies - found.rank
            if spare > 0:
                yield log2_choose(copies, spare) + spare * epsilon[k]


def log2_choose(n: int, k: int) -> float:
    """log₂ of a binomial coefficient."""
    return math.log2(math.comb(n, k))


def _log2_sum(logs: list[float]) -> float:
    top = max(logs)
    return top + math.log2(sum(2.0 ** (x - top) for x in logs))


def _condition(draw: Draw, exponents: tuple[Exponents, ...]) -> str:
    for k, found in enumerate(exponents, 1):
        copies = draw.levels[k].copies
        if found.count and (found.rank is None or copies - found.rank < SPARE):
            return f"{found.count} exponents at level {k} in {copies} copies"
        if found.count and found.width is None:
            return f"exponents at level {k} that are no small combinations of each other"
    return ""


def _examined(draw: Draw, k: int) -> Exponents:
    """Rank and width of the exponents of a level, modulo its prime."""
    columns = draw.exponents[k]
    if columns is None:
        return Exponents(0, 0, 1)
    copies, count = columns.shape
    if count > MANY or copies <= SPARE:
        return Exponents(count)
    prime = draw.levels[k].field.prime
    echelon, rank = nmod_mat(copies, count, columns.ravel().tolist(), prime).rref()
    if copies - rank < SPARE:
        return Exponents(count, rank)
    if rank == count:
        return Exponents(count, rank, 1)
    coordinates = np.array([int(x) for x in echelon.entries()], np.int64).reshape(copies, count)
    return Exponents(count, rank, _width(coordinates[:rank], prime))


def _width(coordinates: np.ndarray, prime: int) -> int | None:
    """The largest Σ |n_j| over the columns, after multiplying by a common denominator; None if one is not small."""
    signed = np.where(coordinates > prime // 2, coordinates - prime, coordinates)
    fractions = {int(v): _rational(int(v), prime) for v in np.unique(signed)}
    if any(f is None for f in fractions.values()):
        return None
    common = math.lcm(*(f.denominator for f in fractions.values() if f is not None))
    if common > HEIGHT:
        return None
    magnitudes = {v: abs(f.numerator) * (common // f.denominator) for v, f in fractions.items() if f is not None}
    sizes = np.vectorize(magnitudes.__getitem__, otypes=[object])(signed)
    return max(1, int(sizes.sum(axis=0).max()))


def _rational(value: int, prime: int) -> Fraction | None:
    """The fraction of small height that is `value` modulo the prime (Wang's algorithm), if there is one."""
    if abs(value) <= HEIGHT:
        return Fraction(value)
    bound = min(HEIGHT, math.isqrt(prime // 2))
    (r0, t0), (r1, t1) = (prime, 0), (value % prime, 1)
    while r1 > bound:
        quotient = r0 // r1
        (r0, t0), (r1, t1) = (r1, t1), (r0 - quotient * r1, t0 - quotient * t1)
    if t1 == 0 or abs(t1) > bound or math.gcd(r1, t1) != 1:
        return None
    return Fraction(r1, t1)
