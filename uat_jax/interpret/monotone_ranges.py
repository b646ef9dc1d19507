"""The values of increasing functions between two bounds, rounded outwards.

    low ≤ x ≤ high   →   f(low) ≤ f(x) ≤ f(high)

Each end is enclosed by a ball and then moved to the next float outwards.  Where a function is undefined nothing is said
of it, so a bound below the numbers at which it is defined gives the limit there.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction
from typing import NamedTuple

from flint import arb, fmpq


class Increasing(NamedTuple):
    """An increasing function: on balls, from where it is defined, and its limits there and at ∞."""

    of: Callable[[arb], arb]
    start: float = -math.inf
    lowest: float = -math.inf
    highest: float = math.inf


HALF_TURN = math.nextafter(math.pi / 2, math.inf)

INCREASING = {
    "asinh": Increasing(arb.asinh),
    "atan": Increasing(arb.atan, lowest=-HALF_TURN, highest=HALF_TURN),
    "erf": Increasing(arb.erf, lowest=-1.0, highest=1.0),
    "exp": Increasing(arb.exp, lowest=0.0),
    "expm1": Increasing(arb.expm1, lowest=-1.0),
    "log": Increasing(arb.log, start=0.0),
    "log1p": Increasing(arb.log1p, start=-1.0),
    "logistic": Increasing(lambda x: 1 / (1 + (-x).exp()), lowest=0.0, highest=1.0),
    "sinh": Increasing(arb.sinh),
    "sqrt": Increasing(arb.sqrt, start=0.0, lowest=0.0),
    "tanh": Increasing(arb.tanh, lowest=-1.0, highest=1.0),
}
"""By the names of their primitives."""


def between(name: str, low: float, high: float) -> tuple[float, float]:
    """Bounds of f(x) for low ≤ x ≤ high, the ends being whole numbers, fractions, floats or infinities."""
    return _end(INCREASING[name], low, -1), _end(INCREASING[name], high, 1)


def _end(function: Increasing, bound: float, way: int) -> float:
    """A float not above f(bound) (way -1), or not below it (way 1)."""
    if bound <= function.start:
        return function.lowest
    if bound == math.inf:
        return function.highest
    value = function.of(_ball(bound))
    outermost = function.lowest if way < 0 else function.highest
    if not value.is_finite():
        return outermost
    if value.is_exact() and arb(float(value)) == value:
        return float(value)
    found = math.nextafter(float(value.lower() if way < 0 else value.upper()), way * math.inf)
    return min(max(found, function.lowest), function.highest)


def _ball(bound: float) -> arb:
    if isinstance(bound, Fraction):
        return arb(fmpq(bound.numerator, bound.denominator))
    return arb(bound)
