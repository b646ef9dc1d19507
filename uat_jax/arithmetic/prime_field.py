"""Arithmetic modulo a prime below 2⁵⁰, entry by entry on int64 arrays and exactly in matrix products.

A product of two residues does not fit into 64 bits, but its quotient by p does: q = ⌊ab/p⌋ is found in float64 up to
an error of one, because ab/p < 2⁵⁰ and float64 has 53 bits, and ab - qp is then right modulo 2⁶⁴ and small. A matrix
product is made of float64 products of limbs, each small enough that every sum is a whole number below 2⁵³.

Small arrays are computed by NumPy, where nothing has to be compiled; large ones by the same formulas jitted in JAX.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

BITS = 50
"""Primes lie below 2^BITS: the largest for which a float64 quotient is off by one at most."""

LARGE = 1 << 17
"""Arrays of at least so many entries are handed to JAX."""


def _multiply(a: Any, b: Any, p: Any, inverse: Any) -> Any:
    """ab mod p: |ab/p - q| ≤ 1 + 3·2⁻⁵³·2⁵⁰, so that ab - qp lies in [-p, 2p)."""
    quotient = (a.astype(np.float64) * b.astype(np.float64) * inverse).astype(np.int64)
    remainder = a * b - quotient * p
    remainder = remainder + ((remainder >> 63) & p) - p
    return remainder + ((remainder >> 63) & p)


def _reduce(a: Any, p: Any, inverse: Any) -> Any:
    """A mod p for |a| < 2⁶²: the float64 quotient is off by 2¹⁰ at most, so a second step finishes."""
    for _ in range(2):
        a = a - (a.astype(np.float64) * inverse).astype(np.int64) * p
    a = a + ((a >> 63) & p) - p
    return a + ((a >> 63) & p)


@functools.cache
def _jitted(function: Callable, **static: Any) -> Callable:
    return jax.jit(function)


def _on_device(function: Callable, *operands: Any) -> np.ndarray:
    with jax.enable_x64(True):
        return np.asarray(_jitted(function)(*operands))


class PrimeField:
    """The field of residues modulo a prime p < 2⁵⁰; an element is an int64 array with entries 0 … p - 1.

    Arrays broadcast as NumPy's do and have at least one axis.
    """

    def __init__(self, prime: int):
        if not 2 < prime < 1 << BITS:
            raise ValueError(f"the prime {prime} is out of range; wanted an odd prime below 2^{BITS}")
        self.prime = prime
        self.inverse_float = 1.0 / prime

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A + b."""
        total = a + b
        total -= self.prime
        total += (total >> 63) & self.prime
        return total

    def subtract(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A - b."""
        difference = a - b
        difference += (difference >> 63) & self.prime
        return difference

    def negate(self, a: np.ndarray) -> np.ndarray:
        """-a."""
        return np.where(a == 0, a, self.prime - a)

    def multiply(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Ab, entry by entry."""
        if max(a.size, b.size) >= LARGE:
            return _on_device(_multiply, a, b, self.prime, self.inverse_float)
        quotient = a.astype(np.float64) * b.astype(np.float64)
        quotient *= self.inverse_float
        remainder = a * b
        remainder -= quotient.astype(np.int64) * self.prime
        remainder += (remainder >> 63) & self.prime
        remainder -= self.prime
        remainder += (remainder >> 63) & self.prime
        return remainder

    def reduce(self, a: np.ndarray) -> np.ndarray:
        """The residues of int64 numbers of magnitude below 2⁶²."""
        return _reduce(a, self.prime, self.inverse_float)

    def power(self, a: np.ndarray, exponent: int) -> np.ndarray:
        """a^exponent for exponent ≥ 0, by repeated squaring."""
        result = np.ones_like(a)
        while exponent:
            if exponent & 1:
                result = self.multiply(result, a)
            exponent >>= 1
            if exponent:
                a = self.multiply(a, a)
        return result

    def inverse(self, a: np.ndarray) -> np.ndarray:
        """1/a for entries that are not 0, with three products per entry: one inverse serves a whole tree of products.

        Raises:
            ZeroDivisionError: an entry is 0.
        """
        flat = a.reshape(-1)
        if not flat.all():
            raise ZeroDivisionError("an entry is 0")
        return self._inverses(flat).reshape(a.shape)

    def _inverses(self, a: np.ndarray) -> np.ndarray:
        """1/aᵢ = (1/aᵢaⱼ)·aⱼ for pairs (i, j), down to a single inverse."""
        if len(a) == 0:
            return a
        if len(a) == 1:
            return np.array([pow(int(a[0]), -1, self.prime)])
        half = len(a) // 2
        left, right, rest = a[:half], a[half : 2 * half], a[2 * half :]
        inverses = self._inverses(np.concatenate([self.multiply(left, right), rest]))
        pairs = inverses[:half]
        return np.concatenate([self.multiply(pairs, right), self.multiply(pairs, left), inverses[half:]])

    def exponential(self, base: int, exponents: np.ndarray, largest: int) -> np.ndarray:
        """base^e for whole numbers 0 ≤ e < largest, by a table for every 8 bits of e."""
        result = None
        for shift in range(0, (largest - 1).bit_length(), 8):
            table = self._powers(pow(base, 1 << shift, self.prime))
            factor = table[(exponents >> shift) & 255]
            result = factor if result is None else self.multiply(result, factor)
        return np.ones_like(exponents) if result is None else result

    def _powers(self, base: int) -> np.ndarray:
        """base^0 … base^255."""
        table = np.ones(1, np.int64)
        while len(table) < 256:
            factor = np.array([pow(base, len(table), self.prime)])
            table = np.concatenate([table, self.multiply(table, factor)])
        return table

    def sum(self, a: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """The sum over axes of at most 2¹² entries in all, or of more by halves of 2⁵⁰ = 2²⁵·2²⁵."""
        count = int(np.prod([a.shape[axis] for axis in axes]))
        if count <= 1 << 12:
            return self.reduce(a.sum(axis=axes))
        high, low = self.reduce((a >> 25).sum(axis=axes)), self.reduce((a & ((1 << 25) - 1)).sum(axis=axes))
        return self.add(self.multiply(high, np.array([1 << 25]).reshape((1,) * high.ndim) % self.prime), low)

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Σ_k a[…, i, k] b[…, k, j] for stacks of matrices of one batch shape."""
        limbs, bits = self.limbs(a.shape[-1])
        operands = (a, b, self.prime, self.inverse_float, limbs, bits)
        work = a.size * b.shape[-1] * limbs * limbs
        if work >= LARGE * 64:
            with jax.enable_x64(True):
                return np.asarray(_matmul_jitted(*operands))
        return _matmul(*operands, np)

    def limbs(self, terms: int) -> tuple[int, int]:
        """(n, bits): cut into n limbs of so many bits, n sums of products of two limbs stay below 2⁵³."""
        width = self.prime.bit_length()
        for n in range(1, width + 1):
            bits = -(-width // n)
            if terms * n << (2 * bits) <= 1 << 53:
                return n, bits
        raise ValueError(f"a sum of {terms} products is too long; wanted fewer than 2^50 terms")

    def whole(self, numbers: Any) -> np.ndarray:
        """The residues of whole numbers of any size."""
        return np.array([int(n) % self.prime for n in np.ravel(numbers)], np.int64).reshape(np.shape(numbers))

    def fraction(self, numerator: int, denominator: int) -> int:
        """numerator/denominator, for a denominator that p does not divide."""
        return numerator % self.prime * pow(denominator, -1, self.prime) % self.prime

    def floats(self, array: np.ndarray) -> np.ndarray:
        """The residues of finite float64 numbers m·2^e, exactly."""
        mantissa, exponent = np.frexp(array)
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        powers, places = np.unique(exponent, return_inverse=True)
        table = np.array([pow(2, int(e) - 53, self.prime) for e in powers], np.int64)
        return self.multiply(self.reduce(whole), table[places].reshape(array.shape))


def _matmul(a: Any, b: Any, p: Any, inverse: Any, limbs: int, bits: int, xp: Any) -> Any:
    """Σ_s 2^{bits·s} Σ_{i+j=s} a_i b_j: the inner sums are exact in float64, the outer one is taken modulo p."""
    cut = lambda x: [((x >> (bits * i)) & ((1 << bits) - 1)).astype(np.float64) for i in range(limbs)]
    left, right = cut(a), cut(b)
    result = None
    for s in reversed(range(2 * limbs - 1)):
        pairs = [(i, s - i) for i in range(limbs) if 0 <= s - i < limbs]
        exact = sum(xp.matmul(left[i], right[j], **_precision(xp)) for i, j in pairs)
        digit = _reduce(exact.astype(np.int64), p, inverse)
        if result is not None:
            shift = xp.full((1,) * digit.ndim, 1 << bits, np.int64) % p
            digit = digit + _multiply(result, shift, p, inverse)
            digit = digit - p
            digit = digit + ((digit >> 63) & p)
        result = digit
    return result


def _precision(xp: Any) -> dict[str, Any]:
    return {"precision": "highest"} if xp is jnp else {}


@functools.partial(jax.jit, static_argnums=(4, 5))
def _matmul_jitted(a: Any, b: Any, p: Any, inverse: Any, limbs: int, bits: int) -> Any:
    return _matmul(a, b, p, inverse, limbs, bits, jnp)
