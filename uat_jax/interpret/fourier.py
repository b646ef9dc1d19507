"""The discrete Fourier transforms as linear maps of the parts: exact numbers cos(2πr/n), and no floats that round them.

X_k = Σ_j x_j e^(-2πijk/n)        x_j = (1/n) Σ_k X_k e^(2πijk/n)
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax import lax

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.complex_numbers import Complex, bilinear, multiplied, of_parts, opposite

LONGEST = 4096
"""Transforms of longer rows are refused."""

SHORT = 64
"""Transforms up to this length are one product with a matrix; longer ones are made of shorter ones."""

AT_ONCE = 256
"""So many cosines are taken at once: an array of more different constants is not followed in closed form."""


def transformed(z: Complex, kind: str, lengths: Sequence[int]) -> Complex:
    """The transform of a kind along the last axes, which have these lengths where nothing is left out.

    RFFT gives the first n//2 + 1 entries of the last axis, which determine the others where x is real; IRFFT takes
    them, and of the first one, and for even n of the last one, the real part alone.

    Raises:
        UnsupportedError: an axis that is too long.
    """
    if max(lengths) > LONGEST:
        raise UnsupportedError(f"fft of more than {LONGEST} entries")
    sign = 1 if kind in ("IFFT", "IRFFT") else -1
    last = len(z.shape) - 1
    for axis in range(len(z.shape) - len(lengths), last):
        z = _along(z, axis, sign)
    if kind == "IRFFT":
        z = _completed(z, lengths[-1])
    z = _along(z, last, sign)
    if kind == "RFFT":
        z = _part(z, last, 0, lengths[-1] // 2 + 1)
    return z if sign < 0 else _each(z, lambda part: lax.div(part, z.number(math.prod(lengths))), z.shape)


def _along(z: Complex, axis: int, sign: int) -> Complex:
    """Σ_j z_j e^(± 2πijk/n) along one axis."""
    last = len(z.shape) - 1
    found = _along_last(_moved(z, axis, last), sign)
    return _moved(found, last, axis)


def _along_last(z: Complex, sign: int) -> Complex:
    """The sums along the last axis, by a matrix, or for n = ab by sums of length a and then of length b.

    With j = b·s + t and k = u + a·v the angle jk/n is su/a + tu/n + tv/b, up to whole turns.
    """
    *shape, n = z.shape
    a = next((a for a in range(math.isqrt(n), 1, -1) if n % a == 0), 1)
    if n <= SHORT or a == 1:
        return _product(z, _roots(n, np.outer(np.arange(n), np.arange(n)), sign, z.dtype))
    b, rank = n // a, len(shape)
    rows = _along_last(_moved(_reshaped(z, (*shape, a, b)), rank, rank + 1), sign)  # t, u
    turns = _roots(n, np.outer(np.arange(b), np.arange(a)), sign, z.dtype)
    turns = _each(turns, lambda part: lax.broadcast_in_dim(part, rows.shape, (rank, rank + 1)), rows.shape)
    columns = _along_last(_moved(multiplied(rows, turns), rank, rank + 1), sign)
    return _reshaped(_moved(columns, rank, rank + 1), (*shape, n))  # v, u


def _completed(z: Complex, n: int) -> Complex:
    """The spectrum of a real row of length n from its first n//2 + 1 entries: X_{n-k} is the conjugate of X_k."""
    last = len(z.shape) - 1
    ends = (0, n // 2) if n % 2 == 0 else (0,)
    real_there = np.isin(np.arange(n // 2 + 1), ends)
    imag = lax.select_n(np.broadcast_to(real_there, z.shape), z.parts[1], lax.full(z.shape, 0, z.dtype))
    z = z.of(z.parts[0], imag)
    others = _part(z, last, 1, (n + 1) // 2)
    others = _each(others, lambda part: lax.rev(part, (last,)), others.shape)
    halves = zip(z.parts, (others.filled(others.real), opposite(others.filled(others.imag))), strict=True)
    return of_parts((lax.concatenate(pair, last) for pair in halves), (*z.shape[:last], n), z.dtype)


def _roots(n: int, turns: np.ndarray, sign: int, dtype: Any) -> Complex:
    """The matrix e^(± 2πit/n) of whole numbers t; π is arccos(-1), the number itself."""
    rows = []
    for first in range(0, n, AT_ONCE):
        numbers = np.asarray(2 * np.arange(first, min(n, first + AT_ONCE)), dtype)
        angles = lax.mul(lax.div(numbers, np.asarray(n, dtype)), lax.acos(np.asarray(-1, dtype)))
        rows.append((lax.cos(angles), lax.sin(angles)))
    cosines, sines = (row[0] if len(row) == 1 else lax.concatenate(row, 0) for row in zip(*rows, strict=True))
    places = (sign * turns % n)[..., None].astype(np.int32)
    numbers = lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
    take = lambda row: lax.gather(row, places, numbers, (1,), mode="promise_in_bounds")
    return Complex(take(cosines), take(sines), turns.shape, dtype)


def _product(z: Complex, matrix: Complex) -> Complex:
    """Σ_j z_j m_jk along the last axis."""
    contracted = (((len(z.shape) - 1,), (0,)), ((), ()))
    product = lambda a, b: lax.dot_general(z.filled(a), b, contracted, precision=lax.Precision.HIGHEST)
    return of_parts(bilinear(product, z, matrix), (*z.shape[:-1], matrix.shape[1]), z.dtype)


def _each(z: Complex, function: Callable[[Any], Any], shape: Sequence[int]) -> Complex:
    """A function of both parts that keeps zeros; `shape` is that of its results."""
    return of_parts((None if p is None else function(z.filled(p)) for p in (z.real, z.imag)), shape, z.dtype)


def _moved(z: Complex, axis: int, to: int) -> Complex:
    """With one axis in another place."""
    order = [a for a in range(len(z.shape)) if a != axis]
    order.insert(to, axis)
    if axis == to:
        return z
    return _each(z, lambda part: lax.transpose(part, order), tuple(z.shape[a] for a in order))


def _reshaped(z: Complex, shape: tuple[int, ...]) -> Complex:
    return _each(z, lambda part: lax.reshape(part, shape), shape)


def _part(z: Complex, axis: int, first: int, end: int) -> Complex:
    """The entries of an axis from the first one up to the end."""
    shape = (*z.shape[:axis], end - first, *z.shape[axis + 1 :])
    return _each(z, lambda part: lax.slice_in_dim(part, first, end, axis=axis), shape)
