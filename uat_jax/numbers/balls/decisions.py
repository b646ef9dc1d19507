"""Decisions on balls: comparisons, orders and integers that are certain, or an UndecidedError."""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from flint import arb, ctx
from jax.extend.core import JaxprEqn

from uat_jax.errors import UatJaxError

DIGITS = 15
"""Of a number that is told to a reader."""


class UndecidedError(UatJaxError):
    """A comparison, or a value, that balls of the given precision do not settle."""


def _undecided(question: str) -> UndecidedError:
    return UndecidedError(f"{question} is not decided at {ctx.prec} bits")


def short(x: arb) -> str:
    """A ball in so many digits as a reader needs."""
    return x.str(DIGITS)


def compared(compare: Callable[[arb, arb], bool], opposite: Callable[[arb, arb], bool], symbol: str) -> Callable:
    """The rule of a comparison: an array of booleans.  A ball equals itself, and NaN nothing."""

    def decide(x: arb, y: arb) -> bool:
        if is_undefined(x) or is_undefined(y):
            return symbol == "!="
        if x is y and x.is_finite():
            return symbol in ("==", ">=", "<=")
        if compare(x, y):
            return True
        if opposite(x, y):
            return False
        raise _undecided(f"{short(x)} {symbol} {short(y)}")

    ufunc = np.frompyfunc(decide, 2, 1)
    return lambda balls, equation, x, y: np.asarray(ufunc(x, y), dtype=bool)


def is_undefined(x: arb) -> bool:
    """Whether x is NaN for certain, as -inf + inf is; a ball that may be anything is not exact."""
    return x.is_nan() and x.is_exact()


def sign(x: arb) -> arb:
    """-1, 0 or 1."""
    if x > 0 or x < 0 or x.is_zero():
        return x.sgn()
    raise _undecided(f"the sign of {short(x)}")


def _whole(x: arb, function: Callable[[arb], arb]) -> arb:
    """function(x), an integer; infinities stay."""
    if x.is_exact() and not x.is_finite():
        return x
    result = function(x)
    if not result.is_exact():
        raise _undecided(f"the integer next to {short(x)}")
    return result


def floor(x: arb) -> arb:
    """The largest integer ≤ x."""
    return _whole(x, arb.floor)


def ceil(x: arb) -> arb:
    """The smallest integer ≥ x."""
    return _whole(x, arb.ceil)


def truncated(x: arb) -> arb:
    """x without its fraction, as a cast to an integer leaves it."""
    return x if x.is_zero() else sign(x) * floor(abs(x))


def away_from_zero(x: arb) -> arb:
    """The nearest integer, halves away from zero."""
    return x if x.is_zero() else sign(x) * floor(abs(x) + 0.5)


def to_even(x: arb) -> arb:
    """The nearest integer, halves to the even one: where x + 1/2 is an odd integer, one less."""
    nearest = floor(x + 0.5)
    tie = x.is_exact() and x.is_finite() and nearest == x + 0.5
    return 2 * floor(nearest / 2) if tie else nearest


def is_finite(x: arb) -> bool:
    """Whether x is a real number; infinities and NaN are exact."""
    if x.is_finite() or x.is_exact():
        return bool(x.is_finite())
    raise _undecided(f"whether {short(x)} is finite")


def order(x: Any, y: Any) -> int:
    """-1, 0 or 1 as x is less than, equal to or greater than y; a ball is equal to itself."""
    if x is y or x == y:
        return 0
    if x < y:
        return -1
    if x > y:
        return 1
    raise _undecided(f"the order of {short(x)} and {short(y)}")


def larger(x: arb, y: arb) -> arb:
    """The maximum: where it is decided which number that is, that very ball, so that it is known to be equal to it."""
    return x if x is y or x >= y else y if y >= x else x.max(y)


def smaller(x: arb, y: arb) -> arb:
    """The minimum, likewise."""
    return x if x is y or x <= y else y if y <= x else x.min(y)


def sort(balls: Any, equation: JaxprEqn, *operands: np.ndarray) -> list[np.ndarray]:
    """Every operand in the order of the first `num_keys` of them along the dimension; stable."""
    axis, count = equation.params["dimension"], equation.params["num_keys"]
    rows = [np.moveaxis(x, axis, -1) for x in operands]
    places = np.empty(rows[0].shape, dtype=int)
    for index in np.ndindex(places.shape[:-1]):
        places[index] = sorted_places([row[index] for row in rows[:count]])
    return [np.moveaxis(np.take_along_axis(row, places, -1), -1, axis) for row in rows]


def sorted_places(keys: Sequence[np.ndarray]) -> list[int]:
    """The places of lexicographically ordered keys, first key first."""

    def compare(i: int, j: int) -> int:
        return next(filter(None, (order(key[i], key[j]) for key in keys)), 0)

    return sorted(range(len(keys[0])), key=functools.cmp_to_key(compare))


def argmax(balls: Any, equation: JaxprEqn, x: np.ndarray) -> np.ndarray:
    """The place of the first largest entry along the axis."""
    (axis,) = equation.params["axes"]
    rows = np.moveaxis(x, axis, -1)
    places = np.empty(rows.shape[:-1], dtype=equation.params["index_dtype"])
    for index in np.ndindex(places.shape):
        places[index] = first_largest(rows[index])
    return places


def first_largest(row: Any) -> int:
    """The place of the first largest entry."""
    best = 0
    for place in range(1, len(row)):
        if order(row[place], row[best]) > 0:
            best = place
    return best
