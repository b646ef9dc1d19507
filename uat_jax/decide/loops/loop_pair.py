"""A pair of loops that both programs stand in front of, and one step of both at a symbolic time."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import numpy as np
from jax import lax

from uat_jax.decide.loops.both import Both, Front
from uat_jax.decide.loops.known_step import SplitError, Steps, alone
from uat_jax.decide.loops.rows import Letter
from uat_jax.decide.loops.view import View
from uat_jax.decide.loops.walk import Value, traced
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.tracing import dtype_of, shape_of

Type = jax.ShapeDtypeStruct

MOST_CLASSES = 32
"""Into so many classes the steps of a loop may be split by what they decide by their counter."""


@dataclass(frozen=True)
class Derived:
    """What the rows that loops read are made of, where these are rows of inputs: the letters, and their types."""

    letters: tuple[Letter, ...]
    letter_types: tuple[Type, ...]


@dataclass(frozen=True)
class Made:
    """What a step of both loops makes: all carries, all rows given, and whether loops go on that floats end."""

    carries: list[Value]
    rows: list[Value]
    tests: list[Value]


def time_of(steps: Steps, time: Value) -> Value:
    """The number of a step: a constant where a class has only one."""
    step = alone(steps)
    return time if step is None else np.float32(step)


@dataclass(frozen=True, eq=False)
class LoopPair:
    """Both loops, seen so that their steps fit."""

    both: Both
    views: tuple[View, View]
    _read: dict[Any, list[list[list[Type]]]] = field(default_factory=dict)

    @property
    def where(self) -> str:
        """The lines of both loops, for an error."""
        return f"the loops{self.views[0].loop.line} and{self.views[1].loop.line}"

    @property
    def length(self) -> Any:
        """The number of steps; None if floats decide it."""
        return self.views[0].length

    @property
    def first(self) -> int:
        """How many carries belong to the left loop."""
        return len(self.views[0].loop.floats)

    @property
    def carry_types(self) -> list[Type]:
        """The types of both carries together."""
        outs = lambda view: [view.loop.body.jaxpr.outvars[i] for i in view.loop.floats]
        return [Type(shape_of(v), dtype_of(v)) for view in self.views for v in outs(view)]

    @property
    def given_types(self) -> list[Type]:
        """The types of all rows that a step gives."""
        outs = lambda view: [view.loop.body.jaxpr.outvars[view.loop.carries + i] for i in view.loop.float_rows]
        return [Type(shape_of(v), dtype_of(v)) for view in self.views for v in outs(view) * view.factor]

    def read_types(self, steps: Steps) -> list[list[list[Type]]]:
        """The types of the rows that are read: of each view, of each step of the loop within its step."""
        key = None if steps is None else steps.tobytes()
        if key not in self._read:
            types = lambda rows: [Type(x.array.shape[1:], x.array.dtype) for x in rows]

            def run(*arguments: Value) -> list[Value]:
                sides = zip(self.views, self.both.front(arguments).sides, strict=True)
                self._read[key] = [list(map(types, view.rows(at.operands, steps))) for view, at in sides]
                return []

            traced(run, self.both.types)
        return self._read[key]

    def step_types(self, steps: Steps) -> list[Type]:
        """Inputs and letters so far, the time, all carries, all rows that are read."""
        rows = [t for of in self.read_types(steps) for group in of for t in group]
        return [*self.both.types, Type((), np.float32), *self.carry_types, *rows]

    def step(self, steps: Steps, arguments: Sequence[Value]) -> Made:
        """A step of both loops.  The arguments are those of `step_types`."""
        known = len(self.both.types)
        time, rest = time_of(steps, arguments[known]), list(arguments[known + 1 :])
        carries, rows = rest[: len(self.carry_types)], iter(rest[len(self.carry_types) :])
        front = self.both.front(arguments[:known])
        made = Made([], [], [])
        for view, at, of in zip(self.views, front.sides, self.read_types(steps), strict=True):
            own, carries = carries[: len(view.loop.floats)], carries[len(view.loop.floats) :]
            read = [[next(rows) for _ in group] for group in of]
            if view.loop.length is None:
                made.tests.append(view.loop.goes_on(at.whole, own))
            now, found = view.step(at.operands, steps, time, own, read)
            made.carries.extend(now)
            made.rows.extend(found)
        return made

    def known_step(self, front: Front, step: int, carries: list[Value]) -> Made:
        """Both loops after a step that is known."""
        steps = np.array([step])
        made = Made([], [], [])
        for view, at in zip(self.views, front.sides, strict=True):
            own, carries = carries[: len(view.loop.floats)], carries[len(view.loop.floats) :]
            groups = view.rows(at.operands, steps)
            rows = [[lax.index_in_dim(x.array, 0, keepdims=False) for x in group] for group in groups]
            now, found = view.step(at.operands, steps, np.float32(step), own, rows)
            made.carries.extend(now)
            made.rows.extend(found)
        return made

    def classes(self) -> list[Steps]:
        """The steps in classes at all of which both loops decide alike by their counters."""
        waiting: list[Any] = [np.arange(self.length) if isinstance(self.length, int) else None]
        done: list[Steps] = []
        while waiting:
            steps = waiting.pop()
            try:
                traced(lambda *a, steps=steps: self.step(steps, a).carries, self.step_types(steps))
                done.append(steps)
            except SplitError as split:
                _, which = np.unique(split.values.reshape(len(steps), -1), axis=0, return_inverse=True)
                parts = [steps[which.ravel() == part] for part in range(which.max() + 1)]
                if len(parts) + len(waiting) + len(done) > MOST_CLASSES:
                    raise UnsupportedError(
                        f"{split.where} decides by the counter in more than {MOST_CLASSES} ways"
                    ) from None
                waiting += parts
        return done

    # Rows that are read

    def rows(self, steps: Steps, arguments: Sequence[Value]) -> list[Value]:
        """All rows that both loops read at the steps of a class, along a leading axis."""
        sides = zip(self.views, self.both.front(arguments).sides, strict=True)
        return [x.array for view, at in sides for group in view.rows(at.operands, steps) for x in group]

    def derived(self, steps: Steps) -> Derived | None:
        """The letters of which all rows read in a class of steps are made; None if one of the rows is not made so."""
        letters: dict[Letter, None] = {}
        known: list[bool] = []

        def blank(letter: Letter) -> Value:
            letters[letter] = None
            of = self._type_of(letter)
            return lax.full(of.shape, 0, of.dtype)

        def run(*arguments: Value) -> list[Value]:
            known[:] = [row is not None for row in self._made(steps, arguments, blank)]
            return []

        traced(run, self.both.types)
        return Derived(tuple(letters), tuple(map(self._type_of, letters))) if all(known) else None

    def made(self, derived: Derived, steps: Steps, arguments: Sequence[Value], given: Sequence[Value]) -> list[Value]:
        """All rows that are read, from those of inputs and letters."""
        values = dict(zip(derived.letters, given, strict=True))
        return self._made(steps, arguments, values.__getitem__)

    def _made(
        self, steps: Steps, arguments: Sequence[Value], read: Callable[[Letter], Value]
    ) -> list[jax.Array | None]:
        """The rows that both loops read in a class of steps, made of rows of inputs; None for a row that is not."""
        found: list[Any] = []
        for view, at in zip(self.views, self.both.front(arguments).sides, strict=True):
            for row in (row for group in view.rows(at.operands, steps) for row in group):
                rows = None if row.source is None else at.walk.rows(row.source)
                a, b = row.index
                step = alone(steps)
                made = None if rows is None else rows.at((a, b) if step is None else (a + b * step, 0), read)
                found.append(lax.expand_dims(made, (0,)) if row.wrapped and made is not None else made)
        return found

    def _type_of(self, letter: Letter) -> Type:
        number, axis, _ = letter
        whole = self.both.types[number]
        return Type((*whole.shape[:axis], *whole.shape[axis + 1 :]), whole.dtype)
