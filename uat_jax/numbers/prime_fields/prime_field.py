"""Arithmetic modulo a prime below 2⁵⁰, entry by entry on int64 arrays and exactly in matrix products.

A product of two residues does not fit into 64 bits, but the whole number q nearest to its quotient by p does: it is
found in float64 up to an error of 3/8, because ab/p < 2⁵⁰ and float64 has 53 bits, and ab - qp is then right modulo
2⁶⁴, and smaller than p. A matrix product is made of such products if it is small, else of products of limbs
(`uat_jax.numbers.prime_fields.limbs`), small enough that every sum is exact.

Large arrays are computed in blocks that stay in the processor's cache, by NumPy: to compile costs more than it saves.
Products of large matrices are the exception: they are made by jitted JAX on its default device, one stack of matrices
at a time, so that the number of copies asks for no new compilation.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable

import jax
import numpy as np

from uat_jax.devices import default_device
from uat_jax.numbers.prime_fields.limbs import float_limbs, number_on
from uat_jax.numbers.prime_fields.modular_matmul import centred, joined, limbs_on, modular_matmul

BITS = 50
"""Primes lie below 2^BITS: the largest for which a float64 quotient is off by less than 1/2."""

BLOCK = 1 << 14
"""Entries that are computed at once: a few arrays of so many 64-bit numbers fit into the cache."""

SMALL = 1 << 13
"""Matrix products of at most so many terms are made of products of residues: fewer passes than limbs take."""

FEW = 16
"""So many inverses take no longer one by one than as products and half as many."""

LARGE = 1 << 21
"""Matrix products of at least so many terms, in one matrix, are handed to JAX: it takes a third less, and a third of a
second to compile a kernel for each shape."""


PIECE, PIECE_ELSEWHERE = 1 << 19, 1 << 25
"""Matrices of more entries, their product included, are multiplied in pieces on CPUs, and on other devices: so the
passes that limbs take need little memory, and on a CPU find most of it in its cache."""


class PrimeField:
    """The field of residues modulo a prime p < 2⁵⁰; an element is an int64 array with entries 0 … p - 1.

    Arrays broadcast as NumPy's do and have at least one axis.
    """

    def __init__(self, prime: int):
        if not 2 < prime < 1 << BITS:
            raise ValueError(f"the prime {prime} is out of range; wanted an odd prime below 2^{BITS}")
        self.prime = prime
        self.inverse_float = np.float64(1.0 / prime)
        self._tables: dict[int, np.ndarray] = {}

    def add(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A + b."""
        total = a + b
        return _least(total, total - self.prime)

    def subtract(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """A - b."""
        return self._lifted(a - b)

    def negate(self, a: np.ndarray) -> np.ndarray:
        """-a."""
        return self._lifted(-a)

    def _lifted(self, a: np.ndarray) -> np.ndarray:
        """A mod p for -p < a < p, in place."""
        return _least(a, a + self.prime)

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
        """Ab mod p: |ab/p - q| ≤ 1/2 + 3·2⁻⁵³·2⁵⁰ < 1 for the whole number q nearest to an estimate of ab/p."""
        quotient = a.astype(np.float64) * b.astype(np.float64)
        quotient *= self.inverse_float
        remainder = a * b
        remainder -= np.rint(quotient, out=quotient).astype(np.int64) * self.prime
        return self._lifted(remainder)

    def reduce(self, a: np.ndarray) -> np.ndarray:
        """The residues of int64 numbers of magnitude below 2⁶².

        The first estimate of a/p is off by 2¹¹/p at most, and the second by less than 2⁻⁴⁰, so that |a| < p is left.
        """
        for _ in range(2):
            a = a - np.rint(a.astype(np.float64) * self.inverse_float).astype(np.int64) * self.prime
        return self._lifted(a)

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
        """1/a for entries that are not 0, with three products per entry: few inverses serve whole trees of products.

        Raises:
            ZeroDivisionError: an entry is 0.
        """
        flat = a.reshape(-1)
        if not flat.all():
            raise ZeroDivisionError("an entry is 0")
        return self._inverses(flat).reshape(a.shape)

    def _inverses(self, a: np.ndarray) -> np.ndarray:
        """1/aᵢ = (1/aᵢaⱼ)·aⱼ for pairs (i, j), down to a few, one by one."""
        if len(a) <= FEW:
            return np.array([pow(x, -1, self.prime) for x in a.tolist()], np.int64)
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

    def matmul(self, a: np.ndarray, b: np.ndarray, check: Callable[[], None] = lambda: None) -> np.ndarray:
        """Σ_k a[…, i, k] b[…, k, j] for stacks of matrices whose batch shapes broadcast.

        ``check`` is called before each piece of a large product, and may raise.
        """
        if a.size * b.shape[-1] <= SMALL and b.size * a.shape[-2] <= SMALL:
            return self.sum(self.multiply(a[..., :, :, None], b[..., None, :, :]), (-2,))
        if a.size <= BLOCK and b.size <= BLOCK:
            return self._matmul_on_host(a, b)
        large = a.shape[-2] * b.shape[-2] * b.shape[-1] >= LARGE
        matmul = self._matmul_on_device if large else self._matmul_on_host

        def checked(a: np.ndarray, b: np.ndarray) -> np.ndarray:
            check()
            return matmul(a, b)

        batch = np.broadcast_shapes(a.shape[:-2], b.shape[:-2])
        a, b = (np.broadcast_to(x, (*batch, *x.shape[-2:])) for x in (a, b))
        result = np.empty((*batch, a.shape[-2], b.shape[-1]), np.int64)
        for copy in np.ndindex(batch[:1]):
            result[copy] = self._in_pieces(checked, a[copy], b[copy])
        return result

    def _in_pieces(self, matmul: Callable[..., np.ndarray], a: np.ndarray, b: np.ndarray) -> np.ndarray:
        """matmul(a, b), the longest axis cut into pieces until the factors and their product are small.

        Residues of sums are unique, so that the result is the same however it is cut.
        """
        sizes = {"batch": a.shape[0] if a.ndim > 2 else 1, "i": a.shape[-2], "k": a.shape[-1], "j": b.shape[-1]}
        entries = a.size + b.size + math.prod(a.shape[:-1]) * sizes["j"]
        if entries <= PIECE:
            return matmul(a, b)
        count = -(-entries // (PIECE if default_device().platform == "cpu" else PIECE_ELSEWHERE))
        axis = max(sizes, key=sizes.__getitem__)
        if count == 1 or sizes[axis] == 1:
            return matmul(a, b)
        bounds = np.linspace(0, sizes[axis], _parts(sizes[axis], count) + 1).astype(int)
        parts = [slice(*pair) for pair in itertools.pairwise(bounds)]
        if axis == "batch":
            return np.concatenate([self._in_pieces(matmul, a[part], b[part]) for part in parts])
        if axis == "i":
            return np.concatenate([self._in_pieces(matmul, a[..., part, :], b) for part in parts], axis=-2)
        if axis == "j":
            return np.concatenate([self._in_pieces(matmul, a, b[..., part]) for part in parts], axis=-1)
        products = (self._in_pieces(matmul, a[..., part], b[..., part, :]) for part in parts)
        return functools.reduce(self.add, products)

    def _matmul_on_host(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        terms = a.shape[-1]
        limbs = float_limbs(self.prime.bit_length(), terms, shortest=terms)
        if terms > limbs.terms:
            return self._matmul_on_device(a, b)
        pairs = limbs.factors(centred(a, self.prime), centred(b, self.prime))
        digits = limbs.digits([np.matmul(x, y).astype(np.int64) for x, y in pairs])
        return joined(digits, limbs.bits, self.prime, self.inverse_float)

    def _matmul_on_device(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        limbs = limbs_on(default_device(), self.prime, a.shape[-1])
        with jax.enable_x64(True):
            return np.asarray(_compiled(a, b, self.prime, limbs))

    def fraction(self, numerator: int, denominator: int) -> int:
        """numerator/denominator.

        Raises:
            ZeroDivisionError: p divides the denominator.
        """
        if denominator % self.prime == 0:
            raise ZeroDivisionError("the prime divides a denominator")
        return numerator % self.prime * pow(denominator, -1, self.prime) % self.prime

    def floats(self, array: np.ndarray) -> np.ndarray:
        """The residues of finite float64 numbers m·2^e, exactly."""
        mantissa, exponent = np.frexp(array)
        whole = np.ldexp(mantissa, 53).astype(np.int64)
        powers, places = np.unique(exponent, return_inverse=True)
        table = np.array([pow(2, int(e) - 53, self.prime) for e in powers], np.int64)
        return self.multiply(self.reduce(whole), table[places].reshape(array.shape))


def _least(a: np.ndarray, b: np.ndarray) -> np.ndarray:
    """The lesser of int64 numbers read without sign, in place of the first: where only one is negative, the other."""
    unsigned = a.view(np.uint64)
    np.minimum(unsigned, b.view(np.uint64), out=unsigned)
    return a


def _parts(size: int, least: int) -> int:
    """So many parts or up to twice as many, of equal sizes if that can be: every size asks for a compilation."""
    counts = range(min(least, size), min(2 * least, size) + 1)
    return next((count for count in counts if size % count == 0), counts[0])


_compiled = jax.jit(modular_matmul, static_argnums=3)


def limbs_in_use() -> dict[str, str]:
    """In what matrix products are computed: small ones by NumPy on the host, large ones on the platform of JAX."""
    platform = default_device().platform
    return {"host": "float64", platform: number_on(platform)}
