"""Two programs with long loops, without unrolling them: the loops keep their carries in a relation.

The programs run side by side from loop to loop.  At each pair of loops a relation between both carries is guessed from
values at random points; then it is proved that it holds before the first step, that a step from any related carries
leads to related carries and gives related rows, and that so does the test of a loop that ends by floats.  What the
loops give are fresh letters for the rest.  Every proof is an ordinary comparison of two small programs
(docs/soundness.md §17).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.residues import ZeroDivisorError
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of
from uat_jax.decide.domain import REALS, Domains, Interval
from uat_jax.decide.effort import Effort
from uat_jax.errors import UnsupportedError
from uat_jax.loops.fingerprints import Samples, floats, guesses, residues, sizes
from uat_jax.loops.loop import Loop, SplitError, Steps, alone, loop_of
from uat_jax.loops.pieces import PieceError, Pieces
from uat_jax.loops.relation import ByArrays, Relation, World
from uat_jax.loops.rows import Letter, RowWise
from uat_jax.loops.strict import all_strict
from uat_jax.loops.view import View, views
from uat_jax.loops.walk import Value, Walk, is_concrete, traced

LEAST = 8
"""Loops of fewer steps are left in their pieces, where they are unrolled."""

STEPS = 4
"""So many steps of both loops are looked at to guess a relation."""

MOST_CLASSES = 32
"""Into so many classes the steps of a loop may be split by what they decide by their counter."""

MOST_ATTEMPTS = 12
"""So many relations are tried for a pair of loops."""

SCALARS = 8
"""So many scalars that both loops know may be factors in a relation."""

Type = jax.ShapeDtypeStruct


class _ReachedError(Exception):
    """A walk that stands in front of a loop."""

    def __init__(self, walk: RowWise, loop: Loop, operands: list[Value]):
        super().__init__()
        self.walk, self.whole, self.operands = walk, operands, loop.operands(operands)


@dataclass
class Side:
    """One program, and its loops as far as they are known."""

    program: ClosedJaxpr
    loops: list[Loop | None] = field(default_factory=list)

    def run(self, arguments: Sequence[Value], cuts: Sequence[Cut]) -> list[Value] | _ReachedError:
        """The outputs, or where it stands in front of the first loop without a cut.

        The arguments are the inputs, followed by all letters.
        """
        count = iter(range(1 << 30))
        remaining = iter(cuts)

        def on_loop(equation: JaxprEqn, operands: list[Value]) -> list[Value]:
            number = next(count)
            if number == len(self.loops):
                self.loops.append(_long(equation, operands))
            loop = self.loops[number]
            if loop is None:
                return Walk().equation(equation, operands)
            cut = next(remaining, None)
            if cut is None:
                raise _ReachedError(walk, loop, operands)
            return cut.view.results(loop.operands(operands), cut.carry, cut.rows)

        walk = RowWise(on_loop)
        walk.know_inputs(arguments, LEAST)
        try:
            return walk.closed(self.program, arguments[: len(self.program.jaxpr.invars)])
        except _ReachedError as reached:
            return reached

    def long(self, number: int) -> Loop | None:
        """The long loop of a number, if it has been reached."""
        found = [loop for loop in self.loops if loop is not None]
        return found[number] if number < len(found) else None


def _long(equation: JaxprEqn, operands: Sequence[Value]) -> Loop | None:
    """The loop of an equation, or None if it is short enough to be unrolled in its piece."""
    short = lambda length: isinstance(length, int) and length < LEAST
    if equation.primitive.name == "scan" and short(equation.params["length"]):
        return None
    loop = loop_of(equation, operands)
    return None if short(loop.length) else loop


@dataclass(frozen=True)
class Cut:
    """What stands for the results of a loop: its carry at the end, and the rows it gives."""

    view: View
    carry: Sequence[Value]
    rows: Sequence[Value]


@dataclass(frozen=True)
class Passed:
    """A pair of loops whose carries and rows are related."""

    views: tuple[View, View]
    carry: Relation
    rows: Relation

    @property
    def letters_of_a_step(self) -> list[Type]:
        """The letters of the carry, and of the rows that one step gives."""
        return [*self.carry.letter_types, *self.rows.letter_types]

    def weaker(self, output: int | None) -> Passed | None:
        """Without the array that was found not to be related: it is a letter of its own; None if there is none."""
        if output is None or not isinstance(self.carry, ByArrays) or not isinstance(self.rows, ByArrays):
            return None
        count = len(self.carry.bound)
        if output < count:
            return replace(self, carry=self.carry.without(self.carry.bound[output]))
        if output < count + len(self.rows.bound):
            return replace(self, rows=self.rows.without(self.rows.bound[output - count]))
        return None

    @property
    def letters(self) -> list[Type]:
        """The letters that stand for what both give."""
        along = [Type((self.length, *t.shape), t.dtype) for t in self.rows.letter_types]
        return [*self.carry.letter_types, *along]

    def given(self, letters: Sequence[Value]) -> list[Value]:
        """All rows that both give, from their letters."""
        if letters:
            return list(jax.vmap(lambda *each: self.rows.spread(each, NOWHERE))(*letters))
        alone = self.rows.spread((), NOWHERE) if self.rows.types else []
        return [lax.broadcast(row, (self.length,)) for row in alone]

    @property
    def length(self) -> Any:
        """How many steps they have; 0 where floats decide it, and there are no rows."""
        return 0 if self.views[0].length is None else self.views[0].length


@dataclass(frozen=True)
class Derived:
    """Rows that are made of rows of inputs and letters: which of them, and their types."""

    letters: tuple[Letter, ...]
    letter_types: tuple[Type, ...]

    def made(
        self, pair: tuple[View, View], steps: Steps, front: Sequence[_ReachedError], given: Sequence[Value]
    ) -> list[Value]:
        """All rows, in a trace in which both programs stand in front of their loops."""
        values = dict(zip(self.letters, given, strict=True))
        return _made(pair, steps, front, lambda letter: values[letter])


def _made(
    pair: tuple[View, View], steps: Steps, front: Sequence[_ReachedError], read: Callable[[Letter], Value]
) -> list[Any]:
    """All rows that are read in a class of steps, from rows of inputs; None for what is not made of them."""
    found: list[Any] = []
    for view, at in zip(pair, front, strict=True):
        for row in (row for group in view.rows(at.operands, steps) for row in group):
            rows = None if row.source is None else at.walk.rows(row.source)
            a, b = row.index
            step = alone(steps)
            index = (a, b) if step is None else (a + b * step, 0)
            made = None if rows is None else rows.at(index, read)
            found.append(lax.expand_dims(made, (0,)) if row.wrapped and made is not None else made)
    return found


@dataclass(frozen=True)
class Front:
    """Both programs in front of a pair of loops: the operands of both."""

    operands: tuple[list[Value], list[Value]]

    def world(self, pair: tuple[View, View], time: Value) -> World:
        """What both loops know."""
        scalars, arrays = [], []
        for view, operands in zip(pair, self.operands, strict=True):
            for place, operand in enumerate(operands[: view.loop.constants]):
                if is_number(view.loop.body.jaxpr.invars[place]):
                    (arrays if np.ndim(operand) else scalars).append(operand)
            start = view.loop.start(operands)
            arrays += start
            scalars += [x for x in start if not np.ndim(x)]
        staged = lambda values: [x for x in values if not is_concrete(x)]  # a constant is a coefficient already
        return World(time, staged(scalars)[:SCALARS], staged(arrays))


class Bisimulation:
    """The proof about two programs; `plan`: relations that held at some sizes, for loops of symbolic length."""

    def __init__(
        self,
        left: ClosedJaxpr,
        right: ClosedJaxpr,
        domains: Domains,
        pieces: Pieces,
        plan: Sequence[Passed] | None = None,
    ):
        self.plan = plan
        self.sides = (Side(left), Side(right))
        self.pieces = pieces
        self.inputs = [Type(shape_of(v), dtype_of(v)) for v in left.jaxpr.invars]
        self.domains = domains
        self.passed: list[Passed] = []
        self.where, self.failures = "", list[str]()
        self.defined = True

    @property
    def types(self) -> list[Type]:
        """The inputs, and the letters of all loops that were passed."""
        return [*self.inputs, *(letter for passed in self.passed for letter in passed.letters)]

    def prove(self) -> None:
        """Nothing, if both programs are the same function.

        Raises:
            PieceError: that is not shown; says why.
            UnsupportedError: a program that cannot be followed.
        """
        while self._at_loops():
            self._pass_loops()
        if not self.passed:
            raise PieceError("there is no long loop")
        try:
            self.pieces.equal("after the loops", [self._outputs(0), self._outputs(1)], self.types, self.domains)
        except PieceError as error:
            raise PieceError("; ".join([*self.failures[:1], str(error)])) from error
        if not self.defined and not all(all_strict(side.program) for side in self.sides):
            raise PieceError(
                "what the loops carry may be undefined for some inputs, and a decision could hide that; divide by "
                "what is known to be positive"
            )

    # Where the programs stand

    def _front(self, arguments: Sequence[Value]) -> list[Any]:
        """Where both programs stand after what was passed; or their outputs."""
        rest = list(arguments[len(self.inputs) :])
        cuts: list[list[Cut]] = [[], []]
        for passed in self.passed:
            own, rest = rest[: len(passed.letters)], rest[len(passed.letters) :]
            reached = [side.run(arguments, cut) for side, cut in zip(self.sides, cuts, strict=True)]
            front = Front(tuple(r.operands for r in reached))
            count = len(passed.carry.letter_types)
            world = front.world(passed.views, _float(passed.length))
            carries = passed.carry.spread(own[:count], world)
            rows = passed.given(own[count:])
            first = len(passed.views[0].loop.floats)
            given = len(passed.views[0].loop.float_rows) * passed.views[0].factor
            cuts[0].append(Cut(passed.views[0], carries[:first], rows[:given]))
            cuts[1].append(Cut(passed.views[1], carries[first:], rows[given:]))
        return [side.run(arguments, cut) for side, cut in zip(self.sides, cuts, strict=True)]

    def _at_loops(self) -> bool:
        """Whether both programs stand in front of a loop; False if both are done."""
        standing: list[bool] = []

        def run(*arguments: Value) -> list[Value]:
            reached = self._front(arguments)
            standing[:] = [isinstance(r, _ReachedError) for r in reached]
            return []

        traced(run, self.types)
        if standing[0] is not standing[1]:
            raise PieceError(f"only the {'left' if standing[0] else 'right'} function has a long loop left to compare")
        return standing[0]

    def _outputs(self, side: int) -> Callable[..., list[Value]]:
        return lambda *arguments: self._front(arguments)[side]

    # One pair of loops

    def _pass_loops(self) -> None:
        """Finds and proves a relation for the next pair of loops; one without any equation is the last resort."""
        loops = self._next_loops()
        self.where = f"the loops{loops[0].line} and{loops[1].line}"
        resort: tuple[Passed, Pieces, bool] | None = None
        for pair in self._views(loops):
            found = self._related(pair)
            if found is not None and (resort is None or found[0].carry.bound):
                resort = found
            if found is not None and found[0].carry.bound:
                break
        if resort is None:
            lengths = " and ".join(str(loop.length) for loop in loops)
            unfit = f"{self.where} have {lengths} steps, which do not fit"
            raise PieceError(self.failures[0] if self.failures else unfit)
        passed, self.pieces, self.defined = resort
        if passed.carry.types and not passed.carry.bound:
            self.failures.append(f"{self.where}: no relation is found between {self._carried(passed)}")
        self.passed.append(passed)

    def _carried(self, passed: Passed) -> str:
        """Which carries both loops have."""
        first = len(passed.views[0].loop.floats)
        text = lambda types: ", ".join(f"{i} ({t.dtype}{list(t.shape)})" for i, t in enumerate(types)) or "none"
        left, right = text(passed.carry.types[:first]), text(passed.carry.types[first:])
        return f"carry {left} of the left one and {right} of the right one"

    def _next_loops(self) -> tuple[Loop, Loop]:
        left, right = (side.long(len(self.passed)) for side in self.sides)
        assert left is not None and right is not None
        return left, right

    def _related(self, pair: tuple[View, View]) -> tuple[Passed, Pieces, bool] | None:
        """A relation that is proved, with the pieces of its proof, and whether all values are defined; or None."""
        try:
            attempts = self._attempts(pair) if self.plan is None else self._planned(pair)
        except (UnsupportedError, ZeroDivisorError) as error:
            self.failures.append(str(error))
            return None
        before = self.pieces, self.defined
        for _ in range(MOST_ATTEMPTS):
            if not attempts:
                break
            passed, rows, classes = attempts.pop(0)
            before[0].attempts += 1
            trial = self.pieces = before[0].branch()
            try:
                self._prove_relation(passed, rows, classes)
                return passed, trial, self.defined
            except PieceError as error:
                self.failures.append(str(error))
                weaker = passed.weaker(error.output)
                if weaker is not None:
                    attempts.append((weaker, rows, classes))
                    attempts.sort(key=lambda attempt: sizes(attempt[0].letters_of_a_step))
            finally:
                before[0].tested, before[0].readable = trial.tested, trial.readable
                self.pieces, self.defined = before
        return None

    def _views(self, loops: tuple[Loop, Loop]) -> list[tuple[View, View]]:
        """The ways in which the steps of both loops may fit: the one that is planned, if there is a plan."""
        if self.plan is None:
            return views(*loops)
        fronts = [(view.front, view.back, view.factor) for view in self.plan[len(self.passed)].views]
        pair = tuple(View(loop, *front) for loop, front in zip(loops, fronts, strict=True))
        simple = all(view.factor == 1 and not view.back for view in pair)
        return [pair] if simple and pair[0].length == pair[1].length else []

    def _planned(self, pair: tuple[View, View]) -> list[Any]:
        """The relation that held at some sizes."""
        planned = self.plan[len(self.passed)]
        types = self._types(pair)
        if types != (list(planned.carry.types), list(planned.rows.types)):
            raise UnsupportedError(f"{self.where} carry or give arrays of a symbolic size")
        (steps,) = self._classes(pair, types[0])
        made = self._derived(pair, steps)
        return [(replace(planned, views=pair), [made or self._rows_read(pair, steps)[0]], [steps])]

    def _attempts(self, pair: tuple[View, View]) -> list[Any]:
        """Guesses: relations of carries and rows given, and of rows read for every class of steps."""
        carry_types, row_types = self._types(pair)
        classes = self._classes(pair, carry_types)
        first = len(pair[0].loop.floats)
        count = len(pair[0].loop.float_rows) * pair[0].factor
        read = [self._derived(pair, steps) or self._rows_read(pair, steps)[0] for steps in classes]
        tried: list[tuple[Relation, Relation]] = []
        for samples, given in self._samples(pair, carry_types):
            rows = guesses(given, row_types, count)[0] if row_types else NOTHING
            for relation in guesses(samples, carry_types, first):
                if (relation, rows) not in tried:
                    tried.append((relation, rows))
        found = [(Passed(pair, relation, rows), read, classes) for relation, rows in tried]
        return sorted(found, key=lambda attempt: sizes(attempt[0].letters_of_a_step))

    def _types(self, pair: tuple[View, View]) -> tuple[list[Type], list[Type]]:
        """The types of both carries together, and of all rows that a step gives."""
        carries, rows = [], []
        for view in pair:
            loop = view.loop
            outs = loop.body.jaxpr.outvars
            kind = lambda v: Type(shape_of(v), dtype_of(v))
            carries += [kind(outs[i]) for i in loop.floats]
            rows += [kind(outs[loop.carries + i]) for i in loop.float_rows] * view.factor
        return carries, rows

    def _classes(self, pair: tuple[View, View], carry_types: Sequence[Type]) -> list[Steps]:
        """The steps in classes at all of which both loops decide alike by their counters."""
        length = pair[0].length
        waiting: list[Any] = [np.arange(length) if isinstance(length, int) else None]
        done: list[Any] = []
        while waiting:
            steps = waiting.pop()
            try:
                traced(
                    lambda *a, steps=steps: self._step(pair, steps, a, carry_types)[0],
                    self._step_types(pair, steps, carry_types),
                )
                done.append(steps)
            except SplitError as split:
                whole = split.values.reshape(len(steps), -1)
                _, which = np.unique(whole, axis=0, return_inverse=True)
                parts = [steps[which.ravel() == part] for part in range(which.max() + 1)]
                if len(parts) + len(waiting) + len(done) > MOST_CLASSES:
                    raise UnsupportedError(
                        f"{split.where} decides by the counter in more than {MOST_CLASSES} ways"
                    ) from None
                waiting += parts
        return done

    def _row_types(self, pair: tuple[View, View], steps: Steps) -> list[list[list[Type]]]:
        """The types of the rows that are read: of each view, of each step of the loop within its step."""
        found: list[list[list[Type]]] = []

        def run(*arguments: Value) -> list[Value]:
            front = self._front(arguments)
            found[:] = [
                [[Type(x.array.shape[1:], x.array.dtype) for x in rows] for rows in view.rows(at.operands, steps)]
                for view, at in zip(pair, front, strict=True)
            ]
            return []

        traced(run, self.types)
        return found

    def _step_types(self, pair: tuple[View, View], steps: Steps, carry_types: Sequence[Type]) -> list[Type]:
        """Inputs and letters so far, the time, all carries, all rows."""
        rows = [t for of in self._row_types(pair, steps) for group in of for t in group]
        return [*self.types, Type((), np.float32), *carry_types, *rows]

    def _step(
        self, pair: tuple[View, View], steps: Steps, arguments: Sequence[Value], carry_types: Sequence[Type]
    ) -> tuple[list[Value], list[Value], list[Value], Front]:
        """All carries and all rows given after a step of both loops, their tests, and what is in front of them.

        The arguments are those of `_step_types`.
        """
        known = len(self.types)
        time, rest = arguments[known], list(arguments[known + 1 :])
        carries, rows = rest[: len(carry_types)], iter(rest[len(carry_types) :])
        time = time if alone(steps) is None else np.float32(alone(steps))
        front = self._front(arguments[:known])
        after, given, tests = [], [], []
        for view, at, of in zip(pair, front, self._row_types(pair, steps), strict=True):
            own, carries = carries[: len(view.loop.floats)], carries[len(view.loop.floats) :]
            read = [[next(rows) for _ in group] for group in of]
            if view.loop.length is None:
                tests.append(view.loop.goes_on(at.whole, own))
            now, found = view.step(at.operands, steps, time, own, read)
            after += now
            given += found
        return after, given, tests, Front(tuple(at.operands for at in front))

    # Samples

    def _samples(self, pair: tuple[View, View], carry_types: Sequence[Type]) -> list[tuple[Samples, Samples]]:
        """What both loops carry before the first steps and after each of them, and the rows that they give.

        Raises:
            UnsupportedError: a value is infinite, or cannot be computed.
        """
        length = pair[0].length
        count = STEPS if length is None else min(STEPS, length)
        sizes_known: list[int] = []

        def run(*arguments: Value) -> list[Value]:
            front = Front(tuple(at.operands for at in self._front(arguments)))
            world = front.world(pair, np.float32(0))
            carries = [x for view, at in zip(pair, front.operands, strict=True) for x in view.start(at)]
            states, given = [carries], []
            for step in range(count):
                carries, rows = self._known_step(pair, front, step, states[-1])
                states.append(carries)
                given.append(rows)
            sizes_known[:] = [len(world.scalars), len(world.arrays)]
            flat = [x for state in states for x in state] + [x for rows in given for x in rows]
            return [*world.scalars, *world.arrays, *flat]

        program, chance = traced(run, self.types), (self.pieces.effort.seed ^ GUESSING, self.pieces.effort.deadline)
        both = [residues(program, *chance, self.domains), (0, floats(program, *chance, self.domains))]
        return [_split(prime, found, count, len(carry_types), sizes_known) for prime, found in both]

    def _known_step(
        self, pair: tuple[View, View], front: Front, step: int, carries: list[Value]
    ) -> tuple[list[Value], list[Value]]:
        """Both loops after a step that is known."""
        after, given = [], []
        steps = np.array([step])
        for view, operands in zip(pair, front.operands, strict=True):
            own, carries = carries[: len(view.loop.floats)], carries[len(view.loop.floats) :]
            rows = [
                [lax.index_in_dim(x.array, 0, keepdims=False) for x in group] for group in view.rows(operands, steps)
            ]
            now, found = view.step(operands, steps, np.float32(step), own, rows)
            after += now
            given += found
        return after, given

    def _rows_read(self, pair: tuple[View, View], steps: Steps) -> list[Relation]:
        """Guesses of how the rows that both loops read are related in a class of steps."""
        types = [t for of in self._row_types(pair, steps) for group in of for t in group]
        if not types:
            return [NOTHING]
        if steps is None:
            raise UnsupportedError("the loops read what is not made of single rows of the inputs")
        some = np.unique(np.concatenate([steps[:2], steps[-2:]]))
        program = traced(lambda *a: self._rows(pair, some, a), self.types)
        prime, found = residues(program, self.pieces.effort.seed ^ GUESSING, self.pieces.effort.deadline, self.domains)
        states = [[x[:, i] for x in found] for i in range(len(some))]
        first = sum(map(len, self._row_types(pair, steps)[0]))
        return guesses(_pooled(prime, states, (), ()), types, first)

    def _rows(self, pair: tuple[View, View], steps: Steps, arguments: Sequence[Value]) -> list[Value]:
        """All rows that both loops read at the steps of a class."""
        front = self._front(arguments)
        reads = lambda view, at: (x for group in view.rows(at.operands, steps) for x in group)
        return [x.array for view, at in zip(pair, front, strict=True) for x in reads(view, at)]

    def _derived(self, pair: tuple[View, View], steps: Steps) -> Derived | None:
        """How the rows that are read in a class of steps are made of rows of inputs and letters, if all of them are."""
        letters: dict[Letter, None] = {}
        known: list[bool] = []

        def run(*arguments: Value) -> list[Value]:
            found = _made(pair, steps, self._front(arguments), lambda letter: self._blank(letter, letters))
            known[:] = [row is not None for row in found]
            return []

        traced(run, self.types)
        return Derived(tuple(letters), tuple(map(self._type_of, letters))) if all(known) else None

    def _blank(self, letter: Letter, letters: dict[Letter, None]) -> Value:
        letters[letter] = None
        of = self._type_of(letter)
        return lax.full(of.shape, 0, of.dtype)

    def _type_of(self, letter: Letter) -> Type:
        number, axis, _ = letter
        whole = self.types[number]
        return Type((*whole.shape[:axis], *whole.shape[axis + 1 :]), whole.dtype)

    # Proofs

    def _prove_relation(self, passed: Passed, read: Sequence[Relation | Derived], classes: Sequence[Steps]) -> None:
        pair, relation = passed.views, passed.carry

        def start(*arguments: Value) -> tuple[list[Value], World]:
            front = Front(tuple(at.operands for at in self._front(arguments)))
            carries = [x for view, at in zip(pair, front.operands, strict=True) for x in view.start(at)]
            return carries, front.world(pair, np.float32(0))

        def started(*arguments: Value) -> list[Value]:
            carries, world = start(*arguments)
            predicted = relation.spread(relation.chosen(carries), world)
            return [predicted[i] for i in relation.bound]

        self._equal(
            f"{self.where}, before the first step",
            lambda *a: [start(*a)[0][i] for i in relation.bound],
            started,
            self.types,
            self.domains,
            self._names(passed),
        )
        self._whether_defined(lambda *a: start(*a)[0], self.types, self.domains)
        for rows, steps in zip(read, classes, strict=True):
            self._prove_rows(passed, rows, steps)
            self._prove_step(passed, rows, steps)

    def _prove_rows(self, passed: Passed, rows: Relation | Derived, steps: Steps) -> None:
        """The rows that are read in a class of steps are related; of those made of rows of inputs nothing is said."""
        if isinstance(rows, Derived) or not rows.types:
            return
        pair = passed.views
        along = lambda *arrays: rows.spread(rows.chosen(arrays), NOWHERE)

        def predicted(*arguments: Value) -> list[Value]:
            found = jax.vmap(along)(*self._rows(pair, steps, arguments))
            return [found[i] for i in rows.bound]

        def actual(*arguments: Value) -> list[Value]:
            found = self._rows(pair, steps, arguments)
            return [found[i] for i in rows.bound]

        self._equal(f"{self.where}, the rows they read", actual, predicted, self.types, self.domains)
        self._whether_defined(lambda *a: self._rows(pair, steps, a), self.types, self.domains)

    def _prove_step(self, passed: Passed, rows: Relation | Derived, steps: Steps) -> None:
        """A step from related carries and rows leads to related carries and rows."""
        pair, relation, given = passed.views, passed.carry, passed.rows
        known, letters = len(self.types), relation.letter_types
        types = [*self.types, Type((), np.float32), *letters, *rows.letter_types]

        def step(arguments: Sequence[Value]) -> tuple[list[Value], list[Value], list[Value], World]:
            time = arguments[known]
            time = time if alone(steps) is None else np.float32(alone(steps))
            own = arguments[known + 1 : known + 1 + len(letters)]
            front = Front(tuple(at.operands for at in self._front(arguments[:known])))
            carries = relation.spread(own, front.world(pair, time))
            given_rows = arguments[known + 1 + len(letters) :]
            if isinstance(rows, Derived):
                read = rows.made(pair, steps, self._front(arguments[:known]), given_rows)
            else:
                read = rows.spread(given_rows, NOWHERE)
            after, found, tests, _ = self._step(
                pair, steps, [*arguments[:known], time, *carries, *read], relation.types
            )
            return after, found, tests, front.world(pair, lax.add(time, np.float32(1)))

        def actual(*arguments: Value) -> list[Value]:
            after, found, tests, _ = step(arguments)
            return [*(after[i] for i in relation.bound), *(found[i] for i in given.bound), *tests[:1]]

        def predicted(*arguments: Value) -> list[Value]:
            after, found, tests, world = step(arguments)
            carries = relation.spread(relation.chosen(after), world)
            rows = given.spread(given.chosen(found), NOWHERE)
            return [*(carries[i] for i in relation.bound), *(rows[i] for i in given.bound), *tests[1:]]

        time = Interval(0.0) if steps is None else REALS
        if steps is not None and len(steps) > 1:
            time = Interval(float(steps.min()), float(steps.max()))
        of_rows = [self.domains[letter[0]] for letter in rows.letters] if isinstance(rows, Derived) else []
        domains = Domains((*(self.domains[i] for i in range(known)), time, *(REALS for _ in letters), *of_rows))
        self._equal(f"{self.where}, a step", actual, predicted, types, domains, self._names(passed))

        def everything(*arguments: Value) -> list[Value]:
            after, found, _, _ = step(arguments)
            return [*after, *found]

        self._whether_defined(everything, types, domains)

    def _equal(
        self,
        what: str,
        left: Callable[..., list[Value]],
        right: Callable[..., list[Value]],
        types: Sequence[Type],
        domains: Domains,
        names: Sequence[str] = (),
    ) -> None:
        try:
            self.pieces.equal(what, [left, right], types, domains)
        except PieceError as error:
            if error.output is None or error.output >= len(names):
                raise
            raise PieceError(f"{what}: {names[error.output]}", error.output) from None

    def _names(self, passed: Passed) -> list[str]:
        """What is said of each array of the relation, and of the rows given, if it does not hold."""
        first = len(passed.views[0].loop.floats)
        side = lambda i: f"carry {i if i < first else i - first} of the {'left' if i < first else 'right'} one"
        letters = passed.carry.letters if hasattr(passed.carry, "terms") else ()
        against = ", ".join(side(i) for i in letters) if letters and len(letters) <= 3 else "the other carries"
        carries = [f"{side(i)} is not related to {against}" for i in passed.carry.bound]
        return [*carries, *("the rows that they give are not related" for _ in passed.rows.bound)]

    def _whether_defined(
        self, function: Callable[..., Sequence[Value]], types: Sequence[Type], domains: Domains
    ) -> None:
        """Notes if a value that is cut may be undefined for some inputs."""
        if self.defined:
            self.defined = self.pieces.total(function, types, domains)


def _float(length: Any) -> Value:
    """A length, which may be symbolic, as a float."""
    return np.float32(length) if isinstance(length, int) else jnp.asarray(length, np.float32)


GUESSING = 0x2B992DDF
"""What tells the random numbers of guesses from those of proofs."""

NOWHERE = World(np.float32(0), (), ())
"""What rows know: nothing."""


NOTHING = ByArrays((), (), {})
"""The relation of no arrays."""


def _split(
    prime: int, found: Sequence[np.ndarray], count: int, carries: int, known: Sequence[int]
) -> tuple[Samples, Samples]:
    """Known scalars, known arrays, carries before and after each of some steps, and the rows given by each."""
    scalars, arrays, rest = found[: known[0]], found[known[0] : sum(known)], found[sum(known) :]
    states = [rest[i * carries : (i + 1) * carries] for i in range(count + 1)]
    rest = rest[(count + 1) * carries :]
    each = len(rest) // max(count, 1)
    rows = [rest[i * each : (i + 1) * each] for i in range(count)]
    return _pooled(prime, states, scalars, arrays), _pooled(prime, rows, (), ())


def _pooled(
    prime: int, states: Sequence[Sequence[np.ndarray]], scalars: Sequence[np.ndarray], arrays: Sequence[np.ndarray]
) -> Samples:
    """The samples of all steps together."""
    count = len(states)
    if not count:
        return Samples(prime, (), np.zeros(0, np.int64), (), ())
    pooled = tuple(np.concatenate(column) for column in zip(*states, strict=True))
    points = len(states[0][0]) if states[0] else 0
    again = lambda x: np.concatenate([x] * count)
    time = np.repeat(np.arange(count), points)
    return Samples(prime, pooled, time, tuple(map(again, scalars)), tuple(map(again, arrays)))


def loops_compared(
    left: ClosedJaxpr, right: ClosedJaxpr, effort: Effort, domains: Domains, plan: Sequence[Passed] | None = None
) -> Bisimulation:
    """The proof that two programs with long loops are the same function; `plan` as for `Bisimulation`.

    Raises:
        PieceError, UnsupportedError: there is no such proof; says why.
    """
    exact = Effort(effort.error, effort.seed, effort.deadline, effort.laws)
    written = Bisimulation(left, right, domains, Pieces(exact), plan)
    try:
        written.prove()
        return written
    except (PieceError, UnsupportedError):
        if not written.pieces.readable:
            raise
    meant = Bisimulation(left, right, domains, Pieces(exact, meant=True), plan)
    meant.prove()
    return meant
