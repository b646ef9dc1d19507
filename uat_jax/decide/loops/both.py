"""Two programs side by side, with letters for the results of the loops that they have passed."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import jax
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.domain import Domains
from uat_jax.decide.loops.loop import Loop
from uat_jax.decide.loops.passed import Passed
from uat_jax.decide.loops.pieces import PieceError
from uat_jax.decide.loops.relation import World
from uat_jax.decide.loops.side import Cut, ReachedError, Side
from uat_jax.decide.loops.view import View
from uat_jax.decide.loops.walk import Value, is_concrete, traced
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of

Type = jax.ShapeDtypeStruct

SCALARS = 8
"""So many scalars that both loops know may be factors in a relation."""


@dataclass(frozen=True)
class Front:
    """Both programs in front of a pair of loops."""

    sides: tuple[ReachedError, ReachedError]

    def starts(self, pair: tuple[View, View]) -> list[Value]:
        """Both carries before the first step."""
        return [x for view, at in zip(pair, self.sides, strict=True) for x in view.start(at.operands)]

    def world(self, pair: tuple[View, View], time: Value) -> World:
        """What both loops know: scalars, and arrays of the shapes of carries; constants are coefficients already."""
        shapes = {shape_of(view.loop.body.jaxpr.outvars[i]) for view in pair for i in view.loop.floats}
        known: list[Value] = []
        for view, at in zip(pair, self.sides, strict=True):
            variables = view.loop.body.jaxpr.invars[: view.loop.constants]
            known += [o for v, o in zip(variables, at.operands, strict=False) if is_number(v)]
            known += view.loop.start(at.operands)
        staged = [x for x in known if not is_concrete(x)]
        return World(time, [x for x in staged if not x.shape][:SCALARS], [x for x in staged if x.shape in shapes])


@dataclass
class Both:
    """Both programs, what their inputs range over, and the pairs of loops that were passed."""

    left: ClosedJaxpr
    right: ClosedJaxpr
    domains: Domains
    passed: list[Passed] = field(default_factory=list)
    sides: tuple[Side, Side] = field(init=False)

    def __post_init__(self) -> None:
        self.sides = (Side(self.left), Side(self.right))

    @property
    def types(self) -> list[Type]:
        """The inputs, and the letters of all loops that were passed."""
        inputs = [Type(shape_of(v), dtype_of(v)) for v in self.left.jaxpr.invars]
        return [*inputs, *(letter for passed in self.passed for letter in passed.letters)]

    def front(self, arguments: Sequence[Value]) -> Front:
        """Both programs in front of the next pair of loops.

        Raises:
            PieceError: only one of them has another loop, or none has.
        """
        left, right = self._run(arguments)
        if isinstance(left, ReachedError) and isinstance(right, ReachedError):
            return Front((left, right))
        side = "left" if isinstance(left, ReachedError) else "right"
        raise PieceError(f"only the {side} function has a long loop left to compare")

    def at_loops(self) -> bool:
        """Whether both programs stand in front of a loop; False if both are done.  Raises what `front` raises."""
        done: list[bool] = []

        def run(*arguments: Value) -> list[Value]:
            reached = [isinstance(found, ReachedError) for found in self._run(arguments)]
            done.append(not any(reached))
            if any(reached):
                self.front(arguments)
            return []

        traced(run, self.types)
        return not done[-1]

    def outputs(self, side: int) -> Callable[..., list[Value]]:
        """One program behind all loops, as a function of the inputs and letters."""

        def run(*arguments: Value) -> list[Value]:
            found = self._run(arguments)[side]
            assert not isinstance(found, ReachedError)
            return found

        return run

    def loops(self) -> tuple[Loop, Loop]:
        """The next pair of loops, which were reached."""
        left, right = (side.long(len(self.passed)) for side in self.sides)
        return left, right

    def _run(self, arguments: Sequence[Value]) -> list[list[Value] | ReachedError]:
        """The outputs of both programs, or where they stand after what was passed."""
        rest = list(arguments[len(self.left.jaxpr.invars) :])
        cuts: tuple[list[Cut], list[Cut]] = ([], [])
        for passed in self.passed:
            letters, rest = rest[: len(passed.letters)], rest[len(passed.letters) :]
            left, right = (side.run(arguments, cut) for side, cut in zip(self.sides, cuts, strict=True))
            assert isinstance(left, ReachedError) and isinstance(right, ReachedError)
            world = Front((left, right)).world(passed.views, passed.time(letters))
            carries, rows = passed.carries(letters, world), passed.given(letters)
            first = len(passed.views[0].loop.floats)
            given = len(passed.views[0].loop.float_rows) * passed.views[0].factor
            cuts[0].append(Cut(passed.views[0], carries[:first], rows[:given]))
            cuts[1].append(Cut(passed.views[1], carries[first:], rows[given:]))
        return [side.run(arguments, cut) for side, cut in zip(self.sides, cuts, strict=True)]
