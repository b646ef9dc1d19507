"""A loop seen so that its steps fit those of another: some are made alone before or after, several are taken as one."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax import lax

from uat_jax.decide.loops.known_step import Read, Steps
from uat_jax.decide.loops.loop import Loop
from uat_jax.decide.loops.walk import Value


@dataclass(frozen=True, eq=False)
class View:
    """`front` steps alone, then steps of `factor` steps each, then `back` steps alone.

    A step of the view with the number t consists of the steps front + factor·t + j of the loop, 0 ≤ j < factor.
    """

    loop: Loop
    front: int = 0
    back: int = 0
    factor: int = 1

    @property
    def length(self) -> int | None:
        """How many steps of several steps there are; None if floats decide that."""
        if self.loop.length is None:
            return None
        length = self.loop.length - self.front - self.back
        return length if self.factor == 1 else length // self.factor

    def start(self, operands: Sequence[Value]) -> list[Value]:
        """The carry before the first step of the view."""
        return self._alone(operands, self.loop.start(operands), range(self.front))[0]

    def rows(self, operands: Sequence[Value], steps: Steps) -> list[list[Read]]:
        """What is read at the steps of a class, for every step of the loop within them."""
        return [[self._of_steps(read, j) for read in self._rows(operands, steps, j)] for j in range(self.factor)]

    def _rows(self, operands: Sequence[Value], steps: Steps, within: int) -> list[Read]:
        return self.loop.rows(operands, self._steps(steps, within))

    def _of_steps(self, read: Read, within: int) -> Read:
        """What is read, with its place given by the number of the view's step in place of the loop's."""
        a, b = read.index
        return replace(read, index=(a + b * (self.front + within), b * self.factor))

    def step(
        self,
        operands: Sequence[Value],
        steps: Steps,
        time: Value,
        carry: Sequence[Value],
        rows: Sequence[Sequence[Value]],
    ) -> tuple[list[Value], list[Value]]:
        """The carry after a step of the view, and the rows given by all steps within it, one after the other."""
        given: list[Value] = []
        for j in range(self.factor):
            own = time
            if (self.factor, self.front + j) != (1, 0):
                own = lax.add(lax.mul(time, np.float32(self.factor)), np.float32(self.front + j))
            carry, found = self.loop.step(operands, self._steps(steps, j), own, carry, rows[j])
            given += found
        return list(carry), given

    def results(self, operands: Sequence[Value], carry: Sequence[Value], rows: Sequence[Value]) -> list[Value]:
        """The results of the loop, from the carry after the steps of the view and all rows that these give."""
        count = len(self.loop.float_rows)
        if self.loop.length is None or self.front + self.back + self.factor == 1:
            return self.loop.results(carry, rows)
        _, before = self._alone(operands, self.loop.start(operands), range(self.front))
        last = range(self.loop.length - self.back, self.loop.length) if self.back else range(0)
        carry, after = self._alone(operands, carry, last)
        whole = []
        for place in range(count):
            parts = [lax.expand_dims(row[place], (0,)) for row in before]
            parts.append(_interleaved([rows[j * count + place] for j in range(self.factor)]))
            parts += [lax.expand_dims(row[place], (0,)) for row in after]
            whole.append(lax.concatenate(parts, 0) if len(parts) > 1 else parts[0])
        return self.loop.results(carry, whole)

    def _alone(
        self, operands: Sequence[Value], carry: Sequence[Value], steps: range
    ) -> tuple[list[Value], list[list[Value]]]:
        """The carry after some steps made one by one, and the rows that they give."""
        rows = []
        for step in steps:
            carry, given = self.loop.at(operands, step, carry)
            rows.append(given)
        return list(carry), rows

    def _steps(self, steps: Steps, within: int) -> Steps:
        return None if steps is None else self.front + self.factor * steps + within


def _interleaved(rows: Sequence[Value]) -> Value:
    """Rows of the first, the second, … step within each step, in the order of the loop."""
    if len(rows) == 1:
        return rows[0]
    stacked = lax.concatenate([lax.expand_dims(row, (1,)) for row in rows], 1)
    return lax.reshape(stacked, (stacked.shape[0] * len(rows), *stacked.shape[2:]))


def at_least(length: Any, steps: int) -> bool:
    """Whether a length, which may be symbolic, is shown to be so large for all sizes."""
    try:
        return bool(length >= steps)
    except Exception as error:  # JAX raises where it cannot tell, with an error class that it does not export
        if re.search("inconclusive", str(error), re.IGNORECASE):
            return False
        raise


def views(left: Loop, right: Loop) -> list[tuple[View, View]]:
    """The ways in which the steps of two loops may fit, the likeliest first; none if no way is known."""
    if left.length is None or right.length is None:
        return [(View(left), View(right))] if left.length is right.length else []
    if left.length < right.length:
        return [(one, other) for other, one in views(right, left)]
    more = left.length - right.length
    if right.length == 0:
        return []
    found = []
    if more <= MOST_ALONE:
        found = [(View(left, front=more), View(right))]
        if more:
            found.append((View(left, back=more), View(right)))
        if right.length > 1:
            found.append((View(left, front=more + 1), View(right, front=1)))
    factor, rest = divmod(left.length, right.length)
    if 1 < factor <= MOST_TOGETHER and rest <= MOST_ALONE:
        found.append((View(left, back=rest, factor=factor), View(right)))
        if rest:
            found.append((View(left, front=rest, factor=factor), View(right)))
    return found


MOST_ALONE = 2
"""So many steps of one loop may be missing in the other, which then makes them outside."""

MOST_TOGETHER = 8
"""So many steps of one loop may be one step of the other."""
