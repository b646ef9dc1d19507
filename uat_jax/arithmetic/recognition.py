"""Float constants that stand for a fraction or a root: 0.33333334 for 1/3, 2.828427 for √8."""

from __future__ import annotations

from fractions import Fraction
from math import isqrt

import jax.numpy as jnp
import numpy as np

DENOMINATOR = 64
"""Fractions k/d and roots (k/d)√f are looked for up to this d."""

LARGEST = 4096
"""And up to this k, and this numerator and denominator under the root."""


def recognised(value: float, dtype: np.dtype) -> tuple[Fraction, int] | None:
    """(q, f) if `value` is the number of `dtype` next to q·√f, with small q ≠ dyadic or squarefree f > 1; else None.

    Constants must be correctly rounded; float64 roots may be off by one unit in the last place, because 1/√8 is rounded
    twice.  Numbers of 16 bits are never roots: almost every one of them is near some root.
    """
    if not np.isfinite(value) or value == 0 or (abs(value) * 1024) % 1 == 0:
        return None
    unit = float(jnp.finfo(dtype).eps) * 2.0 ** np.floor(np.log2(abs(value)))
    fraction = Fraction(abs(value)).limit_denominator(DENOMINATOR)
    if 0 < fraction.numerator <= LARGEST and abs(float(fraction) - abs(value)) <= unit / 2:
        return (fraction if value > 0 else -fraction), 1
    if unit > 2.0**-20 * abs(value):
        return None
    square = Fraction(value * value).limit_denominator(DENOMINATOR)
    if not 0 < square.numerator <= LARGEST:
        return None
    outer, radicand = _squarefree(square)
    root = Fraction(outer, square.denominator)
    if abs(float(root) * radicand**0.5 - abs(value)) > (unit if unit < 2.0**-50 * abs(value) else unit / 2):
        return None
    return (root if value > 0 else -root), radicand


def _squarefree(square: Fraction) -> tuple[int, int]:
    """(k, f) with numerator·denominator = k²f and f squarefree."""
    whole, outer = square.numerator * square.denominator, 1
    for d in range(2, isqrt(whole) + 1):
        while whole % (d * d) == 0:
            whole, outer = whole // (d * d), outer * d
    return outer, whole
