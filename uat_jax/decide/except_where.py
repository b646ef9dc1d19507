"""Two functions that are equal almost everywhere, and not everywhere: where they differ, in one sentence.

The input that refutes them lies where compared numbers are equal.  Which of its entries that takes is found by moving
them: an entry that may be moved without the difference going away has nothing to do with it.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.domain import Domains
from uat_jax.decide.hazards import number, shown
from uat_jax.decide.tie_points import Differences
from uat_jax.decide.witness import BITS, separations
from uat_jax.errors import BudgetError, UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret
from uat_jax.numbers.balls.balls import Balls

STEP = 0.125
"""How far entries are moved: exact in every dtype beside a small number."""

MOST_ENTRIES = 32
"""Longer inputs are not moved entry by entry."""

LINE = np.array([0.0, 1.0, -1.0, 3.0, -3.0, 10.0, -10.0, 1000.0, -1000.0])
AFFINE = 1e-9
"""Along a line, what is compared is affine if it is so at these places, up to rounding."""

ACCEPT = "pass almost_everywhere=True to accept that"


def except_where(
    programs: tuple[ClosedJaxpr, ClosedJaxpr],
    found: Counterexample,
    domains: Domains,
    names: Sequence[str],
    deadline: Deadline | None,
) -> str:
    """Such as "equal except where x = 0 (left 0, right 1); pass almost_everywhere=True to accept that".

    `names` are those of the inputs.  Where no such equation is found, or there are several, the sentence gives the
    input.  Of inputs with several entries an equation is only an example, for other numbers may be equal where none of
    its entries is looked at.  Whether the functions are equal almost everywhere is not looked at here.
    """
    neighbours = _Neighbours(programs, found, domains, deadline)
    where = neighbours.equation(_entry_names(found, names))
    if where is not None and len(neighbours.point) > 1:
        where = f"compared numbers are equal, such as where {where}"
    elif where is None:
        arrays = zip(names, found.arrays, strict=True)
        at = ", ".join(f"{name} = {shown(array)}" for name, array in arrays)
        where = f"compared numbers are equal, such as at {at}"
    left, right = (number(np.float64(value)) for value in (found.left, found.right))
    return f"equal except where {where} (left {left}, right {right}{_place(found)}); {ACCEPT}"


def _place(found: Counterexample) -> str:
    """Which entry differs, unless there is only one."""
    entry = f" in entry {list(found.entry)}" if found.entry else ""
    return f"{entry} of output {found.output}" if found.output else entry


def _entry_names(found: Counterexample, names: Sequence[str]) -> list[str]:
    """The names of all entries of the inputs, end to end: x, or x[0], x[1] …"""
    return [
        f"{name}{list(index) if index else ''}"
        for name, array in zip(names, found.arrays, strict=True)
        for index in np.ndindex(array.shape)
    ]


class _Neighbours:
    """The inputs around a counterexample.  A point is a float64 vector: the entries of all inputs, end to end."""

    def __init__(
        self,
        programs: tuple[ClosedJaxpr, ClosedJaxpr],
        found: Counterexample,
        domains: Domains,
        deadline: Deadline | None,
    ):
        self.programs, self.found, self.domains, self.deadline = programs, found, domains, deadline
        self.arrays = found.arrays
        self.point = np.concatenate([array.astype(np.float64).ravel() for array in self.arrays])

    def cut(self, points: np.ndarray) -> list[np.ndarray]:
        """(copies, entries) → one array of shape (copies, *shape) per input."""
        ends = list(accumulate(array.size for array in self.arrays))[:-1]
        pieces = zip(np.split(points, ends, axis=1), self.arrays, strict=True)
        return [piece.reshape(len(points), *array.shape) for piece, array in pieces]

    def differ(self, point: np.ndarray) -> bool | None:
        """Whether the entry that differs does so at another point; None outside the domains."""
        pieces = self.cut(point[None])
        if not self.domains.contain(pieces).all():
            return None
        values = [Balls().number(piece[0]) for piece in pieces]
        found = separations(*self.programs, values, bits=BITS, deadline=self.deadline)
        return (self.found.output, self.found.entry) in {(s.output, s.entry) for s in found}

    def moved(self, entries: Sequence[int]) -> bool:
        """Whether the difference stays if these entries are moved together, up and down, where the domains allow it."""
        seen = []
        for step in (STEP, -STEP):
            point = self.point.copy()
            point[list(entries)] += step
            seen.append(self.differ(point))
        return True in seen and False not in seen

    def equation(self, names: Sequence[str]) -> str | None:
        """One equation between entries, or between one and its value, that says where this difference is."""
        if len(self.point) > MOST_ENTRIES:
            return None
        involved = [entry for entry in range(len(self.point)) if not self.moved([entry])]
        equal = len({self.point[entry] for entry in involved}) == 1
        if len(involved) == 1 and not self.elsewhere(involved[0]):
            return f"{names[involved[0]]} = {number(self.point[involved[0]])}"
        if len(involved) > 1 and equal and self.moved(involved):
            return " = ".join(names[entry] for entry in involved)
        return None

    def elsewhere(self, entry: int) -> bool:
        """Whether the difference may be at other values of one entry too; it may if what is compared is not affine."""
        differences = Differences(self.programs)
        differences.deadline = self.deadline
        line = np.repeat(self.point[None], len(LINE), axis=0)
        line[:, entry] += LINE
        try:
            for program in self.programs:
                interpret(program, differences, self.cut(line))
        except BudgetError:
            raise
        except UatJaxError:
            return True
        along = [d for d in differences.found if len(d) == len(LINE)]
        if not along:  # it is decided by what is not compared, such as whether a number is finite
            return True
        compared = np.concatenate(along, axis=1)
        slope = compared[1] - compared[0]
        affine = np.abs(compared - compared[0] - LINE[:, None] * slope) <= AFFINE * np.abs(compared).max(axis=0)
        if differences.jumps or not affine.all():
            return True
        with np.errstate(all="ignore"):
            zeros = -compared[0] / slope
        others = [self.point + zero * np.eye(len(self.point))[entry] for zero in zeros[np.isfinite(zeros)] if zero]
        return any(self.differ(other) is not False for other in others)
