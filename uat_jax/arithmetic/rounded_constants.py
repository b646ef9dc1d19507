"""Balls in which every constant of a program may be any number that is rounded to it.

0.1 in a program is the float next to 1/10, and `numpy.pi` the float next to π.  What is said of two values must not
rest on that: here 0.1 is the ball of all numbers whose nearest float it is.  So two values that are apart are apart
whichever of these numbers were meant.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import Any

import jax
import numpy as np
from flint import arb, fmpq
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.balls import Balls
from uat_jax.arithmetic.closed_form import precision
from uat_jax.arithmetic.interpreter import Value, interpret
from uat_jax.arithmetic.tracing import single_output, trace

BITS = 512
"""The precision of the balls; the constants are hardly ever better than 53 bits."""

SHORT = 8
"""Numbers of at most so many significant bits, such as 0.5 and 10.125, are meant as they are written; integers too."""

FORMATS = ((7, -126), (10, -14), (23, -126), (52, -1022))
"""bfloat16, float16, float32, float64: bits behind the leading one, and the exponent of the smallest normal number."""


class RoundedConstants(Balls):
    """`Balls` with the constants of the program as balls; numbers that are put in are exact."""

    name = "ball arithmetic with rounded constants"

    def constant(self, array: Any, dtype: np.dtype) -> np.ndarray:
        """A literal or captured array: each entry with half a unit in its last place."""
        own = np.asarray(array).astype(np.float64)
        balls = [_ball(float(value)) for value in own.ravel()]
        return np.array(balls, dtype=object).reshape(own.shape)


def _ball(value: float) -> arb:
    if not np.isfinite(value) or value.is_integer() or _significant_bits(value) <= SHORT:
        return arb(value)
    half = half_unit(value)
    return arb(value) + arb(0, 1) * arb(fmpq(half.numerator, half.denominator))


def half_unit(value: float) -> Fraction:
    """Half a unit in the last place of a number, in the widest unit of all float types that hold it.

    A number that float16 holds may have been rounded to float16 before it was written in float64.
    """
    exponent = int(np.frexp(value)[1]) - 1
    units = (Fraction(2) ** (max(exponent, least) - bits) for bits, least in FORMATS)
    return next(unit for unit in units if (Fraction(value) / unit).denominator == 1) / 2


def _significant_bits(value: float) -> int:
    return abs(Fraction(value)).numerator.bit_length()


def enclosed(closed_jaxpr: ClosedJaxpr, arguments: Sequence[Value]) -> list[np.ndarray]:
    """Enclosures of a jaxpr's outputs, whichever numbers its constants are the floats of.

    ``arguments`` are values of `Balls`.  Raises `UndecidedError` where a comparison depends on the constants.
    """
    with precision(BITS), jax.enable_x64(True):
        return interpret(closed_jaxpr, RoundedConstants(), arguments)


def enclosure(function: Any, *arguments: Any) -> np.ndarray:
    """The value of function(*arguments) as balls, whichever numbers its constants are the floats of.

    ``arguments`` are pytrees of float64 arrays, taken as they are.  Raises `InputError` if the function does not return
    one floating array, `UndecidedError` where a comparison depends on its constants.
    """
    with jax.enable_x64(True):
        traced = trace(function, *arguments)
    single_output(traced)
    return enclosed(traced, [Balls().number(leaf) for leaf in jax.tree.leaves(arguments)])[0]
