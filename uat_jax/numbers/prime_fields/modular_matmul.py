"""Products of stacks of matrices modulo a prime, exactly, in one kernel for every kind of device.

    c_ij = Σ_k a_ik b_kj  mod p,        residues in int64, 0 … p - 1, p < 2⁶²

The factors are cut into limbs (`limbs`), whose products a device's own matrix units compute without
rounding: operands and sums are whole numbers that the stated dtypes hold, and the highest precision is asked for, so
that neither TF32 nor bfloat16 passes take part.  No matrices of 64-bit integers are multiplied.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InexactLimbsError
from uat_jax.numbers.prime_fields.limbs import WIDEST, Limbs, check_length, limbs_of
from uat_jax.typing import Array

PROBE = (1 << WIDEST) - 57
"""The prime of the self-check, the largest of all."""


def modular_matmul(a: jax.Array, b: jax.Array, prime: Any, limbs: Limbs) -> jax.Array:
    """Σ_k a[…, i, k] b[…, k, j] mod p in int64, for stacks of matrices whose batch shapes broadcast.

    To be traced with 64-bit types enabled.  `limbs` are those of the device (`limbs_on`), for primes at least as wide
    as this one; they are static, the prime is not, so that primes of a class share a compiled kernel.

    Raises:
        InexactLimbsError: sums of so many terms are not exact in these limbs.
    """
    check_length(limbs, a.shape[-1])
    prime = jnp.asarray(prime, np.int64)
    products = _products(centred(a, prime), centred(b, prime), limbs)
    return joined(limbs.digits(products), limbs.bits, prime, 1 / prime.astype(limbs.quotient))


def _products(a: jax.Array, b: jax.Array, limbs: Limbs) -> tuple[jax.Array, ...]:
    """x y for every pair of factors, in int64: the sum over pieces of the inner dimension that are exact."""
    terms = a.shape[-1]
    pieces = -(-terms // limbs.terms)
    length = -(-terms // max(1, pieces))
    a, b = _padded(a, -1, pieces * length), _padded(b, -2, pieces * length)

    def of_piece(number: Any) -> tuple[jax.Array, ...]:
        piece = functools.partial(jax.lax.dynamic_slice_in_dim, start_index=number * length, slice_size=length)
        factors = limbs.factors(piece(a, axis=a.ndim - 1), piece(b, axis=b.ndim - 2))
        multiply = functools.partial(jnp.matmul, precision="highest", preferred_element_type=limbs.total)
        return tuple(multiply(x, y).astype(np.int64) for x, y in factors)

    add = lambda number, totals: jax.tree.map(jnp.add, totals, of_piece(number))
    zeros = jax.tree.map(lambda x: jnp.zeros(x.shape, x.dtype), jax.eval_shape(of_piece, 0))
    return jax.lax.fori_loop(0, pieces, add, zeros)


def _padded(a: jax.Array, axis: int, length: int) -> jax.Array:
    """Zeros behind, up to the length."""
    widths = [(0, 0)] * a.ndim
    widths[axis] = (0, length - a.shape[axis])
    return jnp.pad(a, widths)


def centred(a: Array, prime: Any) -> Any:
    """The residues of magnitude at most p/2."""
    return a - (((prime >> 1) - a >> 63) & prime)


def joined(digits: Sequence[Array], bits: int, prime: Any, inverse: Any) -> Any:
    """Σ_s c_s x^s mod p, x = 2^bits, by Horner's rule; `inverse` is 1/p in the dtype of the quotients.

    Each step takes v = rx + c_s to r' = v - qp, with q the whole number nearest to an estimate of v/p.  Both v and qp
    may leave 64 bits: their difference is right modulo 2⁶⁴, and fits.  With an error of ε relative to |r|x + |c_s| in
    the estimate of v, |r'| ≤ p/2 + ε(|r|x + |c_s|).  In float64, ε < 2⁻⁵⁰, |c_s| < 2⁶² and x ≤ 2²⁵; in float32,
    ε < 2⁻²¹, |c_s| < 2⁴⁰ and x = 2⁸.  So |r'| < p/2 + 2⁻¹²p + 2²⁰ in every step; one more, of r' itself, leaves
    less than p/2 + 2⁻²⁰p + ½, which is less than p.
    """
    estimated = lambda number: number.astype(inverse.dtype)
    reduced = lambda number, estimate: number - (estimate * inverse).round().astype(np.int64) * prime
    *rest, last = digits
    remainder = reduced(last, estimated(last))
    for digit in reversed(rest):
        estimate = estimated(remainder) * 2.0**bits + estimated(digit)
        remainder = reduced((remainder << bits) + digit, estimate)
    remainder = reduced(remainder, estimated(remainder))
    return remainder + (remainder >> 63 & prime)


def limbs_on(device: Any, prime: int, terms: int) -> Limbs:
    """The limbs for a device, which has been seen to multiply exactly with limbs of that kind.

    Raises:
        InexactLimbsError: none are known for its platform, the prime is too large, the inner dimension too long, or
            the device gave a wrong product.
    """
    limbs = limbs_of(device.platform, prime, terms)
    check_device(device)
    return limbs


@functools.cache
def check_device(device: Any) -> None:
    """Compare products of extreme residues, two full pieces long, with Python's integers; once in a process.

    The first two rows hold the residues of the largest digits of either sign: sums are as long as any, and odd.

    Raises:
        InexactLimbsError: they differ.
    """
    limbs = limbs_of(device.platform, PROBE, 1)
    extreme = np.array([*_extreme(limbs), PROBE // 2, PROBE // 2 + 1, PROBE - 1, 1])
    row, column = np.indices((len(extreme), 2 * limbs.terms))
    a = extreme[(row + row // 2 * column) % len(extreme)]
    with jax.enable_x64(True), jax.default_device(device):
        found = np.asarray(jax.jit(modular_matmul, static_argnums=3)(a, a.T, PROBE, limbs))
    if (found != a.astype(object) @ a.T.astype(object) % PROBE).any():
        where = f"{device.device_kind} ({device.platform})"
        raise InexactLimbsError(f"{where} multiplies {limbs} wrongly; wanted exact sums: choose another device")


def _extreme(limbs: Limbs) -> tuple[int, int]:
    """The residues modulo the `PROBE` whose digits are the largest, x/2 - 1, and the least, -x/2, as far as they go."""
    lower = range(-(-limbs.width // limbs.bits) - 1)
    ones, last = sum(1 << limbs.bits * i for i in lower), 1 << limbs.bits * len(lower)
    half = 1 << (limbs.bits - 1)
    most, least = (half - 1) * ones, half * ones
    return most + (PROBE // 2 - most) // last * last, PROBE - least - (PROBE // 2 - least) // last * last
