"""The chance that a draw takes two different functions for equal: Theorem E of docs/soundness.md, evaluated.

At level k, an element of degree d that is not zero vanishes in one copy with probability at most

    ε_k(d) = d (1/p_k + 2⁻⁵²) + 2 w d / p_{k+1},

the second term only where exponentials are taken; w is the largest Σ_j |n_j| of an argument of exp written in a basis
of them.  With C_k copies and n_k values of unknown functions at level k, r_k the rank of the exponents there,
s = C_k - r_k, and m entries computed at the top, the ways to go wrong are

    outputs       ε_0(d)^{C_0}
    arguments     64 (n_k² + 8m [k = 0]) ε_k(2d)^{C_k}       and  64 (n_k² + …) 2⁻¹²⁰  for the keyed hash
    exponents     C_k binomial(C_k, s) ε_k(d')^s              or, if all of the last level are affine in the atoms,
                  2 · (1 + magnitudes)^{C_K} · p_K^-(C_K - kinds · C_{K-1} + 1)

where d clears the inverses of one entry, 2d those of two, and d' those of all.  The bound is the largest of these,
times their number, times the draws that a round may take.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from flint import fmpz_mat, nmod_mat

from uat_jax.numbers.prime_fields.affine import Constants
from uat_jax.numbers.prime_fields.residues import Draw

SPARE = 3
"""Copies beyond the rank that are needed before the exponents count as independent."""

HEIGHT = 1 << 20
"""Coordinates of exponents are rational numbers with numerator and denominator up to this."""

ATTEMPTS = 6
"""A round is drawn again when a divisor vanishes, so many times in all at most."""

LOOKS = 8
"""Tests for zero or equality that one entry can take part in, when it is computed, besides those of arguments."""

MANY = 1200
"""More exponents than this are not examined: their rank is taken for unknown."""


@dataclass(frozen=True)
class Exponents:
    """The different arguments of exp at one level: their number, rank, and width w (None if not examined).

    affine: whether all are affine functions of the atoms with a known width, so that no rank is needed.
    """

    count: int
    rank: int | None = None
    width: int | None = None
    affine: bool = False


@dataclass(frozen=True)
class ErrorBound:
    """log₂ of the chance of a wrong `equal`, the degree it rests on, and why it is conditional ('' for a theorem).

    A positive logarithm says nothing, and weakens the rounds it is added to.
    """

    log2: float
    degree: int
    condition: str
    exponents: tuple[Exponents, ...]


def error_bound(draw: Draw) -> ErrorBound:
    """The bound for a draw in which two programs agreed: E[1/bound; they agree] ≤ 1 for different programs."""
    exponents = tuple(_examined(draw, k) for k in range(1, len(draw.levels)))
    terms = list(_terms(draw, exponents))
    # Every term is read off the draw itself, so that their largest counts once for each of them, and not their sum.
    # Values of unknown functions that become exponents are uniform up to a factor of 2 in all.
    total = math.log2(ATTEMPTS * len(terms) * (1 + any(found.affine for found in exponents))) + max(terms)
    return ErrorBound(total, draw.largest_degree(), _condition(draw, exponents), exponents)


def vanishing(draw: Draw, degree: int, k: int, width: int = 1) -> float:
    """log₂ ε_k."""
    degree = min(degree, 1 << 100)  # far beyond any bound, and still a float
    chance = degree * (1 / draw.levels[k].field.prime + 2.0**-52)
    if k + 1 < len(draw.levels):
        chance += 2 * width * degree / draw.levels[k + 1].field.prime
    return min(0.0, math.log2(chance))


def _terms(draw: Draw, exponents: tuple[Exponents, ...]) -> Iterator[float]:
    """log₂ of every way to go wrong."""
    together = lambda k: max(1, draw.inversions.cleared(draw.worst(k).mixed()))
    widths = [*(found.width or 1 for found in exponents), 1]
    copies = [level.copies for level in draw.levels]
    epsilon = lambda degree, k: vanishing(draw, degree, k, widths[k])
    yield copies[0] * epsilon(draw.largest_degree(), 0)
    for k, applied in enumerate(draw.applications):
        tests = log2_tests(applied, draw.work[0] if k == 0 else 0)
        yield tests + copies[k] * epsilon(2 * draw.largest_degree(k), k)
        yield tests - 120  # two states of 128 bits, with a margin
    for k, found in enumerate(exponents, 1):
        if found.affine:
            yield log2_mixing(draw, k)
        elif found.count and found.rank is not None and copies[k] > found.rank:
            yield log2_dependent(copies[k], copies[k] - found.rank, epsilon(together(k), k))


def log2_tests(applied: int, work: int = 0) -> float:
    """log₂ of 64 (n² + 8m): pairs of n arguments, tests of m entries, and the sum over where the first one fails."""
    return math.log2(64 * max(1, applied * applied + LOOKS * work))


def log2_dependent(copies: int, spare: int, epsilon: float) -> float:
    """log₂ of the chance that exponents in so many copies have a rank that is too small by any amount."""
    return math.log2(copies) + log2_choose(copies, spare) + spare * epsilon


def log2_mixing(draw: Draw, k: int) -> float:
    """log₂ of the chance that the mixing matrices of all kinds, one below the other, have not the rank of their rows.

    Copies in which the number of an absolute value vanishes are left out.
    """
    copies, prime = draw.levels[k].copies, draw.levels[k].field.prime
    spare = copies - mixed_rows(draw, draw.levels[k - 1].copies)
    left_out = copies * math.log2(1 + draw.magnitudes)
    return 1 + left_out - (spare + 1) * math.log2(prime)


def mixed_rows(draw: Draw, copies: int) -> int:
    """The rows of the mixing matrices of all kinds of exponentials in so many copies."""
    return max(1, len(draw.kinds)) * copies


def log2_choose(n: int, k: int) -> float:
    """log₂ of a binomial coefficient."""
    return math.log2(math.comb(n, k))


def _condition(draw: Draw, exponents: tuple[Exponents, ...]) -> str:
    for k, found in enumerate(exponents, 1):
        copies = draw.levels[k].copies
        if found.affine:
            continue
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
    width = affine_width(draw) if k == len(draw.levels) - 1 else None
    if width is not None and copies >= mixed_rows(draw, draw.levels[k - 1].copies) + SPARE:
        return Exponents(count, None, width, affine=True)
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


def affine_width(draw: Draw) -> int | None:
    """The width w of the arguments of exp at the last level in the atoms, if all are affine in them; else None.

    What an atom is counted in may be chosen: multiples of a uniform residue by a number that is not 0 are uniform.
    """
    if draw.affine is None:
        return None
    found, prime = draw.affine, draw.levels[-1].field.prime
    units = [_modulo(unit, prime) for unit in (found.unit, *(u for u, _ in found.constants.multiples))]
    if any(unit is None for unit in units):
        return None
    width = max(1, found.width + _width_of_constants([u for u in units[1:] if u], found.constants, prime))
    return width if width < prime else None


def _width_of_constants(units: list[int], constants: Constants, prime: int) -> int:
    """Σ n_i |m_i| for constants of the multiples n_i u_i, where u_i = λ m_i modulo the prime for some λ.

    The m_i are the entries of a short vector in the lattice of all (u_1 … u_n)/λ + prime·ℤⁿ.
    """
    if not units:
        return 0
    unit_vectors = ([prime * (i == j) for j in range(len(units))] for i in range(len(units)))
    reduced = fmpz_mat([units, *unit_vectors]).lll().tolist()
    vectors = [[int(m) for m in row] for row in reduced]
    weigh = lambda row: sum(n * abs(m) for (_, n), m in zip(constants.multiples, row, strict=True))
    return min(weigh(row) for row in vectors if any(m % prime for m in row))


def _modulo(unit: Fraction, prime: int) -> int | None:
    """A number modulo a prime, None if it is 0 or ∞ there."""
    if unit.numerator % prime == 0 or unit.denominator % prime == 0:
        return None
    return unit.numerator * pow(unit.denominator, -1, prime) % prime


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
