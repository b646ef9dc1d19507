"""The discrete Fourier transforms as linear maps of the parts: exact numbers cos(2πr/n), and no floats that round them.

    X_k = Σ_j x_j e^(-2πijk/n)        x_j = (1/n) Σ_k X_k e^(2πijk/n)
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from uat_jax.arithmetic.complex_numbers import Complex, minus, plus
from uat_jax.errors import UnsupportedError

LONGEST = 512
"""Transforms of longer rows are refused: their matrices have too many different numbers."""

KINDS = ("FFT", "IFFT", "RFFT", "IRFFT")
"""The transforms, in the order in which JAX numbers them."""


def transformed(z: Complex, kind: str, lengths: Sequence[int]) -> Complex:
    """The transform of a kind along the last axes, which have these lengths where nothing is left out.

    RFFT gives the first n//2 + 1 entries of the last axis, which determine the others where x is real; IRFFT takes
    them, and of the first one, and for even n of the last one, the real part alone.

    Raises:
        UnsupportedError: an axis that is too long.
    """
    if max(lengths) > LONGEST:
        raise UnsupportedError(f"a Fourier transform of {max(lengths)} entries is not followed; use at most {LONGEST}")
    axes = list(range(len(z.shape) - len(lengths), len(z.shape)))
    *others, last = zip(axes, lengths, strict=True)
    if kind == "RFFT":
        z = _along(z, *last, sign=-1, kept=last[1] // 2 + 1)
    for axis, n in [*others, last] if kind in ("FFT", "IFFT") else others:
        z = _along(z, axis, n, sign=-1 if kind in ("FFT", "RFFT") else 1, kept=n)
    return _real_inverse(z, *last) if kind == "IRFFT" else z


def _along(z: Complex, axis: int, n: int, *, sign: int, kept: int) -> Complex:
    """The first entries of the transform of length n along one axis; divided by n where the sign is positive."""
    cosines, sines = _circle(n, z.dtype)
    turns = np.outer(np.arange(n), np.arange(kept))
    c, s = (_matrix(row, turns % n) for row in (cosines, sines))
    product = _product(z, axis)
    cross = (minus, plus) if sign > 0 else (plus, minus)
    real = cross[0](product(z.real, c), product(z.imag, s))
    imag = cross[1](product(z.imag, c), product(z.real, s))
    shape = (*z.shape[:axis], kept, *z.shape[axis + 1 :])
    found = Complex(real, imag, shape, z.dtype)
    return found if sign < 0 else _scaled(found, n)


def _real_inverse(z: Complex, axis: int, n: int) -> Complex:
    """x_j = (1/n) Σ_k w_k (Re X_k cos(2πjk/n) - Im X_k sin(2πjk/n)), w_k = 1 for k = 0 and k = n/2, and else 2.

    Where w_k = 1 the sine is 0.
    """
    count = n // 2 + 1
    k = np.arange(count)
    weights = np.where((k == 0) | (2 * k == n), 1, 2)
    places = np.outer(k, np.arange(n)) % n
    cosines, sines = _circle(n, z.dtype)
    spread = np.broadcast_to(weights[:, None], places.shape).astype(z.dtype)
    c, s = (lax.mul(_matrix(row, places), spread) for row in (cosines, sines))
    product = _product(z, axis)
    shape = (*z.shape[:axis], n, *z.shape[axis + 1 :])
    return _scaled(Complex(minus(product(z.real, c), product(z.imag, s)), None, shape, z.dtype), n)


def _circle(n: int, dtype: Any) -> tuple[Any, Any]:
    """The rows cos(2πr/n) and sin(2πr/n) for r = 0 … n - 1; π is arccos(-1), the number itself."""
    turns = lax.div(np.asarray(2 * np.arange(n), dtype), np.asarray(n, dtype))
    angles = lax.mul(turns, lax.acos(np.asarray(-1, dtype)))
    return lax.cos(angles), lax.sin(angles)


def _matrix(row: Any, places: np.ndarray) -> Any:
    """The entries of a row at the places of a matrix."""
    numbers = lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
    return lax.gather(row, places[..., None].astype(np.int32), numbers, (1,), mode="promise_in_bounds")


def _product(z: Complex, axis: int) -> Callable[[Any, Any], Any]:
    """The product of an axis of a part with the rows of a matrix; None of None."""

    def product(part: Any, matrix: Any) -> Any:
        if part is None:
            return None
        contracted = (((axis,), (0,)), ((), ()))
        found = lax.dot_general(z.filled(part), matrix, contracted, precision=lax.Precision.HIGHEST)
        order = [*range(axis), len(z.shape) - 1, *range(axis, len(z.shape) - 1)]
        return lax.transpose(found, order)

    return product


def _scaled(z: Complex, n: int) -> Complex:
    """z/n."""
    of = lambda part: None if part is None else lax.div(part, z.number(n))
    return z.of(of(z.real), of(z.imag))
