"""Residues modulo a prime cut into limbs, so that a device multiplies matrices of them without any rounding.

A residue is first centred, |a| ≤ p/2, and then written with the digits a = Σ_i a_i x^i, x = 2^bits, -x/2 ≤ a_i < x/2
but for the last.  The product of two matrices is Σ_s c_s x^s with the digits

    c_s = Σ_{i+j=s} a_i b_j                (matrix products),

which are found from products of matrices of small whole numbers.  Every number that occurs in such a product, whatever
the order of summation, is a whole number whose magnitude is at most the sum of the magnitudes of the terms; where that
is at most what the device's arithmetic represents, the product is exact.

- **float64** (IEEE: 53 bits): the method of Toom (1963) and Cook (1966).  c(t) = a(t) b(t) at as many points t as c has
  coefficients, which then follow by interpolation: one product for p < 2²², two for p < 2³¹ (the left factor stays
  whole), three for p < 2⁴⁰ (Karatsuba), five for p < 2⁶².  Sums are at most 2⁵³.
- **int8 → int32**: one product per digit, whose inner dimension holds all pairs i + j = s one after the other.  Limbs
  have 8 bits with sign; terms are at most 2¹⁴ and sums below 2³¹.

Two products are the fewest for 31 bits, whatever the method: one of them tells at most 53 of the 60 bits of a term.

Which of them a device gets is the table `LIMBS`: float64 is emulated on TPU, with fewer than 53 bits, and there are no
integer products of 64 bits.
"""

from __future__ import annotations

import functools
import itertools
import operator
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import jax.numpy as jnp
import numpy as np
from flint import fmpq_mat

from uat_jax.errors import InexactLimbsError
from uat_jax.typing import Array

WIDEST = 62
"""Primes lie below 2^WIDEST: twice a residue, centred, fits into 64 bits with its sign."""

EXACT_FLOATS = 1 << 53
"""Whole numbers up to this magnitude are float64 numbers."""


INFINITY = None
POINTS = (0, INFINITY, 1, -1, 2)
"""Where the polynomials are evaluated: at infinity they have the value of the last coefficient."""

SPLITS = ((1, 1), (1, 2), (2, 2), (3, 3))
"""Limbs of the left and the right factor, by the number of products that they ask for."""

WIDTHS = (22, 31, 40, 50, 61, WIDEST)
"""Primes of a tower differ in width by a bit or two; those of one class share their compiled kernels."""

SHORTEST = 256
"""An inner dimension that is worth a product of its own: adding it to the others costs a third of it."""


@dataclass(frozen=True)
class FloatLimbs:
    """Limbs in float64, by Toom and Cook's method.

    left, right: the number of limbs of either factor.
    """

    width: int
    left: int
    right: int
    bits: int

    number = total = quotient = np.float64

    def factors(self, a: Array, b: Array) -> Sequence[tuple[Any, Any]]:
        """a(t) and b(t) at every point t, of matrices of centred residues.

        Raises:
            InexactLimbsError: the inner dimension is longer than `terms`.
        """
        _check_sum(self, a.shape[-1])
        cut = lambda residues, count: [x.astype(np.float64) for x in digits(residues, count, self.bits)]
        left, right = cut(a, self.left), cut(b, self.right)
        return [(_value(left, t), _value(right, t)) for t in self.points]

    def digits(self, products: Sequence[Array]) -> Sequence[Any]:
        """Interpolation c_s = (1/D) Σ_t M_st c(t), in whole numbers modulo 2⁶⁴, where D = 2^e·odd has an inverse."""
        matrix, denominator = _interpolation(self.left + self.right - 1)
        return [_divided(_combined(row, products), d) for row, d in zip(matrix, denominator, strict=True)]

    @property
    def points(self) -> Sequence[int | None]:
        """Where the two polynomials are evaluated: at as many points as their product has digits."""
        return POINTS[: self.left + self.right - 1]

    @property
    def _magnitudes(self) -> tuple[list[int], list[int]]:
        """The largest magnitudes of the limbs of both factors."""
        return _magnitudes(self.width, self.left, self.bits), _magnitudes(self.width, self.right, self.bits)

    @functools.cached_property
    def terms(self) -> int:
        """Sums of so many terms |a(t) b(t)| are at most 2⁵³ at every point."""
        left, right = self._magnitudes
        return EXACT_FLOATS // max(_largest_value(left, t) * _largest_value(right, t) for t in self.points)

    @functools.cached_property
    def longest(self) -> int:
        """The numerators D c_s are below 2⁶²; whatever leads to them may be taken modulo 2⁶⁴."""
        _, denominators = _interpolation(self.left + self.right - 1)
        left, right = self._magnitudes
        largest = [0] * len(denominators)
        for (i, x), (j, y) in itertools.product(enumerate(left), enumerate(right)):
            largest[i + j] += denominators[i + j] * x * y
        return ((1 << 62) - 1) // max(largest)


@dataclass(frozen=True)
class ByteLimbs:
    """Limbs in int8, added in int32, digit by digit."""

    width: int

    bits = 8
    number, total, quotient = np.int8, np.int32, np.float32

    @property
    def count(self) -> int:
        """Digits from -128 to 127 reach 2^(8·count - 2), and centred residues 2^(width - 1)."""
        return -(-(self.width + 1) // 8)

    def factors(self, a: Array, b: Array) -> Sequence[tuple[Any, Any]]:
        """[a_i … a_j] and [b_j; …; b_i] for every digit c_{i+j}, their product, of matrices of centred residues.

        Raises:
            InexactLimbsError: the inner dimension is longer than `terms`.
        """
        _check_sum(self, a.shape[-1])
        n, terms = self.count, a.shape[-1]
        left = jnp.concatenate([x.astype(np.int8) for x in digits(a, n, 8)], axis=-1)
        right = jnp.concatenate([x.astype(np.int8) for x in reversed(digits(b, n, 8))], axis=-2)
        pairs = []
        for s in range(2 * n - 1):
            first, last = max(0, s - n + 1), min(s, n - 1)
            start = n - 1 - s + first  # where b_{s - first} lies in the reversed order
            rows = slice(start * terms, (start + last - first + 1) * terms)
            pairs.append((left[..., first * terms : (last + 1) * terms], right[..., rows, :]))
        return pairs

    def digits(self, products: Sequence[Array]) -> Sequence[Any]:
        """The products themselves."""
        return products

    @property
    def terms(self) -> int:
        """Sums of count·terms products of magnitude up to 2¹⁴ are below 2³¹."""
        return ((1 << 17) - 1) // self.count

    @property
    def longest(self) -> int:
        """Digits below 2⁴⁰, whose quotients by a prime the 24 bits of float32 determine in two steps."""
        return (1 << 26) // self.count


def digits(a: Array, count: int, bits: int) -> list[Any]:
    """a_0 … a_{count-1} of centred residues: the last takes what is left over."""
    half = 1 << (bits - 1)
    a = a + sum(half << (bits * i) for i in range(count - 1))  # so that no digit is negative
    lower = [((a >> (bits * i)) & (2 * half - 1)) - half for i in range(count - 1)]
    return [*lower, a >> (bits * (count - 1))]


def _magnitudes(width: int, count: int, bits: int) -> list[int]:
    """The largest magnitudes of the digits of centred residues, |a| < 2^(width-1).

    The last is the whole number nearest to |a|/x^(count-1), up to ½(1 + 1/x + …) < 1, so not above that of 2^(width-1).
    """
    if count == 1:
        return [1 << (width - 1)]
    return [1 << (bits - 1)] * (count - 1) + [1 << max(0, width - 1 - bits * (count - 1))]


def _largest_value(magnitudes: Sequence[int], point: int | None) -> int:
    return magnitudes[-1] if point is None else sum(m * abs(point) ** i for i, m in enumerate(magnitudes))


def _value(coefficients: Sequence[Array], point: int | None) -> Array:
    """Σ_i a_i t^i, by Horner's rule."""
    first, *_, last = (*coefficients, coefficients[-1])
    if point in (0, INFINITY):
        return first if point == 0 else last
    step = {1: operator.add, -1: operator.sub}.get(point, lambda low, high: low + high * point)
    return functools.reduce(lambda value, coefficient: step(coefficient, value), reversed(coefficients))


def _combined(factors: Sequence[int], arrays: Sequence[Array]) -> Array:
    """Σ_i f_i a_i of int64 arrays, for small whole numbers that are not all 0."""
    terms = (a if f == 1 else a * f for f, a in zip(factors, arrays, strict=True) if f)
    return functools.reduce(lambda total, term: total + term, terms)


def _divided(multiple: Array, divisor: int) -> Array:
    """multiple/divisor without remainder: shifted, and multiplied by the inverse of the odd part modulo 2⁶⁴."""
    twos = (divisor & -divisor).bit_length() - 1
    odd = divisor >> twos
    shifted = multiple >> twos if twos else multiple
    return shifted if odd == 1 else shifted * int(np.uint64(pow(odd, -1, 1 << 64)).astype(np.int64))


@functools.cache
def _interpolation(count: int) -> tuple[tuple[tuple[int, ...], ...], tuple[int, ...]]:
    """Whole numbers M and D with c_s = Σ_t M_st c(t) / D_s: the inverse of the matrix of powers of the points."""
    last = [0] * (count - 1) + [1]
    powers = [last if t is None else [t**s for s in range(count)] for t in POINTS[:count]]
    inverse = fmpq_mat(count, count, list(itertools.chain(*powers))).inv()
    rows = [[Fraction(int(q.p), int(q.q)) for q in row] for row in inverse.tolist()]
    denominators = tuple(int(np.lcm.reduce([q.denominator for q in row])) for row in rows)
    return tuple(tuple(int(q * d) for q in row) for row, d in zip(rows, denominators, strict=True)), denominators


@functools.cache
def float_limbs(width: int, terms: int, shortest: int = SHORTEST) -> FloatLimbs:
    """The fewest products whose exact sums are long enough, with the digits that make those sums longest.

    Sums of so many terms may be made of pieces, but for the last not below `shortest`, and of one term at least.
    """
    width, piece = min(w for w in WIDTHS if w >= width), max(1, min(terms, shortest))
    best = (
        max((FloatLimbs(width, m, n, bits) for bits in range(1, width)), key=lambda limbs: limbs.terms)
        for m, n in SPLITS
    )
    *_, last = every = tuple(best)
    return next((limbs for limbs in every if limbs.terms >= piece and limbs.longest >= terms), last)


def byte_limbs(width: int, terms: int) -> ByteLimbs:
    """The fewest bytes; whatever the number of terms."""
    return ByteLimbs(width)


Limbs = FloatLimbs | ByteLimbs
"""One way of cutting residues modulo primes below 2^width, and what follows from it: the `bits` of a digit; the longest
sums that are exact, of `terms` products at once and of `longest` in pieces added in int64; the dtypes of factors
(`number`), of a device's sums (`total`), and of estimates of quotients by the prime (`quotient`)."""

LIMBS: Mapping[str, Callable[[int, int], Limbs]] = {"cpu": float_limbs, "gpu": float_limbs, "tpu": byte_limbs}
"""How residues are cut on each platform, by JAX's name of it, for primes below 2^width and so many terms."""


def limbs_of(platform: str, prime: int, terms: int) -> Limbs:
    """The limbs of a platform for products modulo a prime with an inner dimension of so many terms.

    Raises:
        InexactLimbsError: the platform is not in the table, the prime too large or the inner dimension too long.
    """
    if platform not in LIMBS:
        known = ", ".join(LIMBS)
        raise InexactLimbsError(
            f"no limbs are known to be exact on {platform!r}; wanted one of {known}: choose another"
        )
    if not 2 < prime < 1 << WIDEST:
        raise InexactLimbsError(f"got the prime {prime}; wanted an odd one below 2^{WIDEST}: choose a smaller one")
    limbs = LIMBS[platform](prime.bit_length(), terms)
    check_length(limbs, terms)
    return limbs


def number_on(platform: str) -> str:
    """The dtype of the limbs of a platform; "none" if none are known to be exact."""
    return np.dtype(LIMBS[platform](3, 1).number).name if platform in LIMBS else "none"


def check_length(limbs: Limbs, terms: int) -> None:
    """Raise `InexactLimbsError` if sums of so many terms, in pieces, cannot be exact."""
    _check(limbs, terms, limbs.longest if limbs.terms else 0)


def _check_sum(limbs: Limbs, terms: int) -> None:
    _check(limbs, terms, limbs.terms)


def _check(limbs: Limbs, terms: int, most: int) -> None:
    if terms > most:
        raise InexactLimbsError(
            f"sums of {terms} terms are not exact in {limbs}; wanted at most {most}: take others, or add parts"
        )
