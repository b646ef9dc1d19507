"""Whether the rounding of constants explains that two programs differ at an input.

Enclosures of all readings of the constants (`Reading.ROUNDED`) answer that for small programs; through many layers they
grow beyond all use.  There the question is answered in float64.  The outputs differ by the vector d, and a change of
one constant of one side by its rounding moves that side by J, up or down.  If the programs are linear in these changes,
as smooth ones are but for 2⁻²⁴ of J, and constants explained the difference, d would be a combination of the columns J
with factors between -1 and 1.  It is not if every such combination leaves more than `UNEXPLAINED` of d.  That follows
from one vector y: by the Cauchy-Schwarz inequality

    |d + Σ J_c δ_c| |y| ≥ y·d - Σ |y·J_c|,

and what least squares leave is a good y.  Where changes of all constants at random show that a side is not linear, by
more than `UNEXPLAINED` of d, nothing is said: so it is with |c - 0.1|, and with sin(10⁹ c).

This is no enclosure: a program that is another one for a small part only of the numbers that a constant may stand for
is not seen through, if none of these was looked at.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.errors import UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.recognition import Reading, balls
from uat_jax.numbers.floats.doubles import Doubles

UNEXPLAINED = 1 / 16
"""So much of the difference that is left over is more than float64 adds, and more than what is not linear."""

VISIBLE = 1e-11
"""Of the largest output: a smaller difference is lost among the roundings of float64."""

STEP = 2.0**-30
"""No constant is moved by less than this part of it, since float64 would not show it; what that does is scaled down."""

LOOKS = 8
"""So often all constants of one side are moved at random."""

MOST_CONSTANTS = 32
"""Differences are not explained if more constants than these are inexact."""

SWEEPS = 100
"""So often each constant in turn is given its best change."""

Constant = tuple[str, float]
"""The dtype and the value of a float in a program."""


class Moved(Doubles):
    """Float64, with some constants multiplied by factors.

    met: the constants that are rounded numbers, each with the largest relative change that rounding can make.
    """

    def __init__(self, factors: Mapping[Constant, float], deadline: Deadline | None = None):
        super().__init__()
        self.factors, self.deadline = factors, deadline
        self.met: dict[Constant, float] = {}

    def constant(self, array: Any, dtype: np.dtype) -> np.ndarray:
        """A literal or captured array."""
        values = np.asarray(array).astype(np.float64)
        distinct = np.unique(values)[: MOST_CONSTANTS + 1]
        for value, ball in zip(distinct.tolist(), balls(distinct, dtype, Reading.ROUNDED), strict=True):
            if value and ball.rad() > 0:
                self.met[str(dtype), value] = float(ball.rad()) / abs(value)
        moved = values
        for (kind, value), factor in self.factors.items():
            moved = np.where(values == value, values * factor, moved) if kind == str(dtype) else moved
        return super().constant(moved, np.dtype(np.float64))


def explained(
    left: ClosedJaxpr, right: ClosedJaxpr, points: Sequence[np.ndarray], deadline: Deadline | None = None
) -> bool:
    """Whether changes of constants within their rounding may make two programs equal at a point, as far as is known.

    `points`: the inputs, float64.  False is said only if the difference is visible in float64 and is no combination of
    what constants do.
    """
    try:
        with np.errstate(all="ignore"):
            sides = [_Side(side, points, deadline) for side in (left, right)]
            if sum(len(side.changes) for side in sides) > MOST_CONSTANTS:
                return True
            columns = [column for side in sides for column in side.columns()]
            bent = [rest for side in sides for rest in side.rests()]
            difference = sides[0].values - sides[1].values
    except UatJaxError:
        return True
    scale = max(np.abs(side.values).max() for side in sides)
    if not all(np.isfinite(x).all() for x in (difference, *columns, *bent)):
        return True
    if np.abs(difference).max() <= VISIBLE * scale:
        return True
    norm = lambda x: float(np.linalg.norm(x / scale))
    allowed = UNEXPLAINED * norm(difference)
    if any(norm(rest) > allowed for rest in bent):
        return True
    return _least(difference / scale, np.array(columns).reshape(-1, len(difference)) / scale) <= allowed


class _Side:
    """One program at a point.

    changes: its constants that are rounded numbers, and how far relative to them.  steps: how far they are moved.
    """

    def __init__(self, program: ClosedJaxpr, points: Sequence[np.ndarray], deadline: Deadline | None):
        self.program, self.points, self.deadline = program, [p[None] for p in points], deadline
        looking = Moved({}, deadline)
        self.values = self._outputs(looking)
        self.changes = looking.met
        self.steps = {constant: max(change, STEP) for constant, change in self.changes.items()}

    def columns(self) -> list[np.ndarray]:
        """What moving each constant by its rounding does."""
        return [slope * (self.changes[c] / self.steps[c]) for c, slope in self._slopes.items()]

    def rests(self) -> Iterator[np.ndarray]:
        """What moving all constants at random does more than moving each of them."""
        random = np.random.default_rng(0)
        for _ in range(LOOKS if self.steps else 0):
            parts = dict(zip(self.steps, random.uniform(-1, 1, len(self.steps)).tolist(), strict=True))
            yield self._moved(parts) - sum(parts[c] * slope for c, slope in self._slopes.items())

    @functools.cached_property
    def _slopes(self) -> dict[Constant, np.ndarray]:
        return {c: (self._moved({c: 1}) - self._moved({c: -1})) / 2 for c in self.steps}

    def _moved(self, parts: Mapping[Constant, float]) -> np.ndarray:
        """How far the outputs move if constants do, by these parts of their steps."""
        factors = {c: 1 + part * self.steps[c] for c, part in parts.items()}
        return self._outputs(Moved(factors, self.deadline)) - self.values

    def _outputs(self, arithmetic: Moved) -> np.ndarray:
        return np.concatenate([np.asarray(x)[0].ravel() for x in interpret(self.program, arithmetic, self.points)])


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
