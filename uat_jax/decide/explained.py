"""Whether the rounding of constants explains that two programs differ at an input.

Enclosures of all readings of the constants (`Reading.ROUNDED`) answer that for small programs; through many layers they
grow beyond all use.  There the question is answered to first order: the outputs differ by the vector d, and a relative
change δ of one constant of one side moves that side by J δ, with J from central differences in float64.  If constants
explained the difference, d would be a combination of the columns J, but for terms of second order, which are 2⁻²⁴ times
as large for float32.  It is not if every combination with |δ| up to the rounding leaves more than `UNEXPLAINED` of d.
That follows from one vector y: by the Cauchy-Schwarz inequality

    |d + Σ J_c δ_c| |y| ≥ y·d - Σ |y·J_c| max |δ_c|,

and what least squares leave is a good y.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.deadline import Deadline
from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import Value, interpret
from uat_jax.arithmetic.recognition import Reading, balls
from uat_jax.errors import UatJaxError

UNEXPLAINED = 1 / 16
"""So much of the difference that is left over is more than terms of second order, and more than float64 adds."""

VISIBLE = 1e-11
"""Of the largest output: a smaller difference is lost among the roundings of float64."""

STEP = 2.0**-14
"""The relative change of a constant in the central differences: their error is about 2⁻²⁸."""

MOST_CONSTANTS = 32
"""Of more inexact constants nothing is said."""

SWEEPS = 100
"""So often each constant in turn is given its best change."""

Constant = tuple[str, float]
"""The dtype and the value of a float in a program."""


class Moved(Doubles):
    """Float64, with one constant multiplied by a factor.

    met: the constants that are rounded numbers, each with the largest relative change that rounding can make.
    """

    def __init__(self, constant: Constant | None = None, factor: float = 1.0, deadline: Deadline | None = None):
        super().__init__()
        self.moved, self.factor, self.deadline = constant, factor, deadline
        self.met: dict[Constant, float] = {}

    def constant(self, array: Any, dtype: np.dtype) -> Value:
        """A literal or captured array."""
        values = np.asarray(array).astype(np.float64)
        distinct = np.unique(values)[: MOST_CONSTANTS + 1]
        for value, ball in zip(distinct.tolist(), balls(distinct, dtype, Reading.ROUNDED), strict=True):
            if value and ball.rad() > 0:
                self.met[str(dtype), value] = float(ball.rad()) / abs(value)
        if self.moved is not None and self.moved[0] == str(dtype):
            values = np.where(values == self.moved[1], values * self.factor, values)
        return super().constant(values, np.dtype(np.float64))


def explained(
    left: ClosedJaxpr, right: ClosedJaxpr, points: Sequence[np.ndarray], deadline: Deadline | None = None
) -> bool:
    """Whether changes of constants within their rounding may make two programs equal at a point, as far as is known.

    `points`: the inputs, float64.  False is said only if the difference is visible in float64 and is no combination of
    what constants do.
    """
    outputs = lambda side, *moved: np.concatenate(
        [np.asarray(x)[0].ravel() for x in interpret(side, Moved(*moved, deadline=deadline), [p[None] for p in points])]
    )
    try:
        constants = [(side, *c) for side in (left, right) for c in _rounded(side, points, deadline).items()]
        if len(constants) > MOST_CONSTANTS:
            return True
        values = [outputs(side) for side in (left, right)]
        slopes = [outputs(side, c, 1 + STEP) - outputs(side, c, 1 - STEP) for side, c, _ in constants]
    except UatJaxError:
        return True
    difference, scale = values[0] - values[1], max(np.abs(v).max() for v in values)
    columns = np.array([s / (2 * STEP) * change for s, (_, _, change) in zip(slopes, constants, strict=True)])
    if not (np.isfinite(difference).all() and np.isfinite(columns).all()):
        return True
    if np.abs(difference).max() <= VISIBLE * scale:
        return True
    return _least(difference, columns.reshape(-1, len(difference))) <= UNEXPLAINED * float(np.linalg.norm(difference))


def _least(difference: np.ndarray, columns: np.ndarray) -> float:
    """A lower bound of |d + Σ δ_c J_c| for |δ_c| ≤ 1: y·d - Σ |y·J_c| for the unit vector y of what is left of d."""
    rest, changes = difference.copy(), np.zeros(len(columns))
    for _ in range(SWEEPS):
        for c, column in enumerate(columns):
            size = column @ column
            best = np.clip(changes[c] - (column @ rest) / size, -1, 1) if size else 0.0
            rest += (best - changes[c]) * column
            changes[c] = best
    length = float(np.linalg.norm(rest))
    if not length:
        return 0.0
    return float(rest @ difference - np.abs(columns @ rest).sum()) / length


def _rounded(side: ClosedJaxpr, points: Sequence[np.ndarray], deadline: Deadline | None) -> dict[Constant, float]:
    """The constants of a program that are rounded numbers, and how far relative to them."""
    looking = Moved(deadline=deadline)
    interpret(side, looking, [p[None] for p in points])
    return looking.met
