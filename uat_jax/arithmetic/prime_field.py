"""Arithmetic modulo a prime below 2⁵⁰, entry by entry on int64 arrays and exactly in matrix products.

A product of two residues does not fit into 64 bits, but its quotient by p does: q = ⌊ab/p⌋ is found in float64 up to
an error of one, because ab/p < 2⁵⁰ and float64 has 53 bits, and ab - qp is then right modulo 2⁶⁴ and small. A matrix
product is made of float64 products of limbs, each small enough that every sum is a whole number below 2⁵³.

Large arrays are computed in blocks that stay in the processor's cache, by NumPy: to compile costs more than it saves.
Products of large matrices are the exception: their limbs are multiplied by jitted JAX, one stack of matrices at a
time, so that the number of copies asks for no new compilation.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

BITS = 50
"""Primes lie below 2^BITS: the largest for which a float64 quotient is off by one at most."""

BLOCK = 1 << 14
"""Entries that are computed at once: a few arrays of so many 64-bit numbers fit into the cache."""

LARGE = 1 << 18
"""Matrix products of at least so many terms, in one matrix, are handed to JAX."""


class PrimeField:
    """The field of residues modulo a prime p < 2⁵⁰; an element is an int64 array with entries 0 … p - 1.

    Arrays broadcast as NumPy's do and have at least one axis.
    """

    def __init__(self, prime: int):
        if not 2 < prime < 1 << BITS:
            raise ValueError(f"the prime {prime} is out of range; wanted an odd prime below 2^{BITS}")
        self.prime = prime
        self.inverse_float = 1.0 / prime
        self._tables: dict[int, np.ndarray] = {}

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
        if a.size <= BLOCK and b.size <= BLOCK:
            return self._multiply(a, b)
        with np.nditer(
            [a, b, None],
            ["external_loop", "buffered", "zerosize_ok"],
            [["readonly"], ["readonly"], ["writeonly", "allocate"]],
            [np.int64] * 3,
            order="C",
            buffersize=BLOCK,
        ) as blocks:
            for x, y, product in blocks:
                product[...] = self._multiply(x, y)
            return blocks.operands[2]

    def _multiply(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Ab mod p: |ab/p - q| ≤ 1 + 3·2⁻⁵³·2⁵⁰, so that ab - qp lies in [-p, 2p)."""
        quotient = a.astype(np.float64) * b.astype(np.float64)
        quotient *= self.inverse_float
        remainder = a * b
        remainder -= quotient.astype(np.int64) * self.prime
        return self._corrected(remainder)

    def _corrected(self, a: np.ndarray) -> np.ndarray:
        """A mod p for -p ≤ a < 2p, in place."""
        a += (a >> 63) & self.prime
        a -= self.prime
        a += (a >> 63) & self.prime
        return a

    def reduce(self, a: np.ndarray) -> np.ndarray:
        """The residues of int64 numbers of magnitude below 2⁶².

        The float64 quotient is off by 2¹⁰ at most, so a second step finishes.
        """
        for _ in range(2):
            a = a - (a.astype(np.float64) * self.inverse_float).astype(np.int64) * self.prime
        return self._corrected(a)

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
        """base^0 … base^255, kept for the next time."""
        table = self._tables.get(base, np.ones(1, np.int64))
        while len(table) < 256:
            factor = np.array([pow(base, len(table), self.prime)])
            table = np.concatenate([table, self.multiply(table, factor)])
        self._tables[base] = table
        return table

    def sum(self, a: np.ndarray, axes: tuple[int, ...]) -> np.ndarray:
        """The sum over axes of at most 2¹² entries in all, or of more by halves of 2⁵⁰ = 2²⁵·2²⁵."""
        count = int(np.prod([a.shape[axis] for axis in axes]))
        if count <= 1 << 12:
            return self.reduce(a.sum(axis=axes))
        high, low = self.reduce((a >> 25).sum(axis=axes)), self.reduce((a & ((1 << 25) - 1)).sum(axis=axes))
        return self.add(self.multiply(high, np.array([1 << 25]).reshape((1,) * high.ndim) % self.prime), low)

    def matmul(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """Σ_k a[…, i, k] b[…, k, j] for stacks of matrices whose batch shapes broadcast."""
        limbs, bits = self.limbs(a.shape[-1])
        if a.shape[-2] * b.shape[-2] * b.shape[-1] < LARGE:
            return self._joined(_digits(a, b, limbs, bits, np.matmul), bits)
        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
        result = np.empty((*batch, a.shape[-2], b.shape[-1]), np.int64)
        for copy in np.ndindex(batch[:1]):
            with jax.enable_x64(True):
                digits = map(np.asarray, _digits_on_device(a[copy], b[copy], limbs, bits))
            result[copy] = self._joined(list(digits), bits)
        return result

    def _joined(self, digits: Sequence[np.ndarray], bits: int) -> np.ndarray:
        """Σ_s 2^{bits·s} digit_s, by Horner's rule."""
        *rest, result = map(self.reduce, digits)
        shift = np.full((1,) * result.ndim, (1 << bits) % self.prime, np.int64)
        for digit in reversed(rest):
            result = self.add(self.multiply(result, shift), digit)
        return result

    def limbs(self, terms: int) -> tuple[int, int]:
        """(n, bits): cut into n limbs of so many bits, n sums of products of two limbs stay below 2⁵³.

        So does one sum of products of two sums of two limbs.

        Raises:
            ValueError: there are too many terms for any number of limbs.
        """
        width = self.prime.bit_length()
        for n in range(1, width + 1):
            bits = -(-width // n)
            if terms * (max(n, 4) if n > 1 else 1) << (2 * bits) <= 1 << 53:
                return n, bits
        raise ValueError(f"a sum of {terms} products is too long; wanted fewer than 2^45 terms")

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


def _digits(a: Any, b: Any, limbs: int, bits: int, matmul: Callable) -> list[Any]:
    """Σ_{i+j=s} a_i b_j for every s, with a_i b_j + a_j b_i = (a_i + a_j)(b_i + b_j) - a_i b_i - a_j b_j (Karatsuba).

    Every product and every sum is a whole number below 2⁵³, so float64 is exact.
    """
    cut = lambda x: [((x >> (bits * i)) & ((1 << bits) - 1)).astype(np.float64) for i in range(limbs)]
    left, right = cut(a), cut(b)
    squares = [matmul(x, y) for x, y in zip(left, right, strict=True)]
    digits: list[Any] = [squares[s // 2] if s % 2 == 0 else 0 for s in range(2 * limbs - 1)]
    for i, j in itertools.combinations(range(limbs), 2):
        crossed = matmul(left[i] + left[j], right[i] + right[j]) - squares[i] - squares[j]
        digits[i + j] = digits[i + j] + crossed
    return [digit.astype(np.int64) for digit in digits]


@functools.partial(jax.jit, static_argnums=(2, 3))
def _digits_on_device(a: Any, b: Any, limbs: int, bits: int) -> list[Any]:
    return _digits(a, b, limbs, bits, functools.partial(jnp.matmul, precision="highest"))
