"""The proof that a relation of two loops holds: before the first step, and after a step if it holds before it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import jax
import numpy as np
from jax import lax

from uat_jax.decide.domain import REALS, Domains, Interval
from uat_jax.decide.loops.guess import Attempt, ReadRows
from uat_jax.decide.loops.known_step import Steps
from uat_jax.decide.loops.loop_pair import Derived, LoopPair, Made, time_of
from uat_jax.decide.loops.passed import NOWHERE, Passed
from uat_jax.decide.loops.pieces import PieceError, Pieces
from uat_jax.decide.loops.relation import World
from uat_jax.decide.loops.walk import Value

Type = jax.ShapeDtypeStruct


@dataclass
class RelationProof:
    """The proof of one attempt; `defined` is whether all values that are cut are shown to be defined for all inputs."""

    pair: LoopPair
    passed: Passed
    pieces: Pieces
    defined: bool = True

    def prove(self, attempt: Attempt) -> None:
        """Nothing, if the relation holds.

        Raises:
            PieceError: that is not shown; `output` is the array of the relation that is not related.
        """
        self._base()
        for rows, steps in zip(attempt.read, attempt.classes, strict=True):
            self._rows(rows, steps)
            self._step(rows, steps)

    def _base(self) -> None:
        """Prove that the relation holds between the carries before the first step."""
        relation, both, views = self.passed.carry, self.pair.both, self.pair.views

        def predicted(*arguments: Value) -> list[Value]:
            front = both.front(arguments)
            carries = relation.spread(relation.chosen(front.starts(views)), front.world(views, np.float32(0)))
            return [carries[i] for i in relation.bound]

        starts = lambda *a: both.front(a).starts(views)
        actual = lambda *a: [starts(*a)[i] for i in relation.bound]
        self._equal("before the first step", actual, predicted, both.types, both.domains)
        self._whether_defined(starts, both.types, both.domains)

    def _rows(self, rows: ReadRows, steps: Steps) -> None:
        """Prove that the rows that are read in a class of steps are related.

        Nothing is to be proved of rows that are `Derived`: both loops compute them from the same rows of inputs.
        """
        if isinstance(rows, Derived) or not rows.types:
            return
        pair, relation = self.pair, rows
        along = lambda *arrays: relation.spread(relation.chosen(arrays), NOWHERE)

        def predicted(*arguments: Value) -> list[Value]:
            found = jax.vmap(along)(*pair.rows(steps, arguments))
            return [found[i] for i in relation.bound]

        actual = lambda *a: [pair.rows(steps, a)[i] for i in relation.bound]
        self._equal("the rows they read", actual, predicted, pair.both.types, pair.both.domains, named=False)
        self._whether_defined(lambda *a: pair.rows(steps, a), pair.both.types, pair.both.domains)

    def _step(self, rows: ReadRows, steps: Steps) -> None:
        """A step from related carries and rows leads to related carries and rows."""
        pair, relation, given = self.pair, self.passed.carry, self.passed.rows
        known, letters = len(pair.both.types), relation.letter_types
        types = [*pair.both.types, Type((), np.float32), *letters, *rows.letter_types]

        def stepped(arguments: Sequence[Value]) -> tuple[Made, World]:
            before, time = arguments[:known], time_of(steps, arguments[known])
            own, read = arguments[known + 1 : known + 1 + len(letters)], arguments[known + 1 + len(letters) :]
            front = pair.both.front(before)
            carries = relation.spread(own, front.world(pair.views, time))
            if isinstance(rows, Derived):
                all_rows = pair.made(rows, steps, before, read)
            else:
                all_rows = rows.spread(read, NOWHERE)
            made = pair.step(steps, [*before, time, *carries, *all_rows])
            return made, front.world(pair.views, lax.add(time, np.float32(1)))

        def actual(*arguments: Value) -> list[Value]:
            made, _ = stepped(arguments)
            return [*(made.carries[i] for i in relation.bound), *(made.rows[i] for i in given.bound), *made.tests[:1]]

        def predicted(*arguments: Value) -> list[Value]:
            made, world = stepped(arguments)
            carries = relation.spread(relation.chosen(made.carries), world)
            rows = given.spread(given.chosen(made.rows), NOWHERE)
            return [*(carries[i] for i in relation.bound), *(rows[i] for i in given.bound), *made.tests[1:]]

        def everything(*arguments: Value) -> list[Value]:
            made, _ = stepped(arguments)
            return [*made.carries, *made.rows, *made.tests]

        domains = self._domains(rows, steps)
        self._equal("a step", actual, predicted, types, domains)
        self._whether_defined(everything, types, domains)

    def _domains(self, rows: ReadRows, steps: Steps) -> Domains:
        """What the inputs of a step range over: inputs and letters so far, the time, carries, and rows."""
        domains = self.pair.both.domains
        time = Interval(0.0) if steps is None else REALS
        if steps is not None and len(steps) > 1:
            time = Interval(float(steps.min()), float(steps.max()))
        so_far = (domains[i] for i in range(len(self.pair.both.types)))
        of_rows = [domains[number] for number, _, _ in rows.letters] if isinstance(rows, Derived) else []
        return Domains((*so_far, time, *(REALS for _ in self.passed.carry.letter_types), *of_rows))

    def _equal(
        self,
        what: str,
        left: Callable[..., list[Value]],
        right: Callable[..., list[Value]],
        types: Sequence[Type],
        domains: Domains,
        *,
        named: bool = True,
    ) -> None:
        names, where = self._names() if named else [], f"{self.pair.where}, {what}"
        try:
            self.pieces.equal(where, [left, right], types, domains)
        except PieceError as error:
            if error.output is None or error.output >= len(names):
                raise PieceError(str(error)) from None
            raise PieceError(f"{where}: {names[error.output]}", error.output) from None

    def _names(self) -> list[str]:
        """What is said of each array of the relation, and of the rows given, if it does not hold."""
        first, relation = self.pair.first, self.passed.carry
        side = lambda i: f"carry {i if i < first else i - first} of the {'left' if i < first else 'right'} one"
        letters = relation.letters if hasattr(relation, "without") else ()
        against = ", ".join(map(side, letters)) if 0 < len(letters) <= 3 else "the other carries"
        carries = [f"{side(i)} is not related to {against}" for i in relation.bound]
        return [*carries, *("the rows that they give are not related" for _ in self.passed.rows.bound)]

    def _whether_defined(
        self, function: Callable[..., Sequence[Value]], types: Sequence[Type], domains: Domains
    ) -> None:
        """Notes if a value that is cut may be undefined for some inputs."""
        if self.defined:
            self.defined = self.pieces.total(function, types, domains)
