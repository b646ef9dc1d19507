"""Will a size fit into memory?  Predicted from smaller ones before it is built.

The longest axis of the size is climbed by doubling, from where it is short. What the programs need is a polynomial of
degree two at most in each axis of a network (weights in its width, attention in its length); the one through the last
three sizes predicts the others, and the climb stops as soon as the size asked for is predicted not to fit.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from fractions import Fraction

import jax

from uat_jax.bench.case import Case, Size
from uat_jax.certify.memory import check_bytes, free_bytes, needed_bytes
from uat_jax.devices import default_device

START = 8
"""The climb begins between this and twice this."""
SMALL = 4 * START
"""An axis this short is built without asking."""


def check_memory(case: Case, size: Size) -> None:
    """Raise `MemoryLimitError` if a size is predicted not to fit on JAX's default device.

    The error names the length of the longest axis that would fit.
    """
    axes = [axis for axis in case.axes if size[axis] > SMALL]
    if not axes:
        return
    axis, device = max(axes, key=lambda axis: size[axis]), default_device()
    needed = lambda n: _needed(case, {**size, axis: n})
    longest, predicted = climb(needed, size[axis], free_bytes(device))
    if longest < size[axis]:
        check_bytes(predicted, device, f"{case.name} at {axis} {size[axis]}", f"{axis} {longest} would fit")


def climb(needed: Callable[[int], float], n: int, free: float) -> tuple[int, float]:
    """The largest of n, n/2, n/4 … that is predicted to fit, and what n is predicted to need."""
    rungs = [n >> k for k in range((n // START).bit_length() - 1, -1, -1)]
    points = {rung: needed(rung) for rung in rungs[:3]}
    for higher in rungs[3:]:
        predicted = {rung: _extrapolated(points, rung) for rung in rungs}
        if predicted[n] > free:
            return max((rung for rung in rungs if predicted[rung] <= free), default=rungs[0]), predicted[n]
        if higher < n:
            points[higher] = needed(higher)
    return n, _extrapolated(points, n)


def _extrapolated(points: Mapping[int, float], n: int) -> float:
    """At n, the polynomial of degree two through the last three points (Lagrange, in fractions)."""
    last = dict(list(points.items())[-3:])
    weight = lambda x: math.prod(Fraction(n - other, x - other) for other in last if other != x)
    return float(sum(weight(x) * Fraction(y) for x, y in last.items()))


def _needed(case: Case, size: Size) -> float:
    """Bytes of the program that needs most, and of the arguments of the others."""
    with jax.enable_x64(size.get("dtype") == "float64"):
        programs = [program for program in case.build(**size).programs.values() if program.compiled]
        compiled = [jax.jit(program.function).lower(*program.arguments).compile() for program in programs]
    return max(map(needed_bytes, compiled), default=0)
