"""One of two programs, walked from one long loop to the next; what stands for the results of a loop is a cut."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.loops.loop import Loop, loop_of
from uat_jax.decide.loops.rows import RowWise
from uat_jax.decide.loops.view import View
from uat_jax.decide.loops.walk import Value, Walk

LEAST = 8
"""Loops of fewer steps are left in their pieces, where they are unrolled."""


class ReachedError(Exception):
    """Raised to stop a walk in front of a loop, with the walk and the values that it has reached.

    Attributes:
        walk: the walk, which knows the rows of values.
        whole: the operands of the loop's equation.
        operands: the operands of the loop's body.
    """

    def __init__(self, walk: RowWise, loop: Loop, operands: list[Value]):
        super().__init__()
        self.walk, self.whole, self.operands = walk, operands, loop.operands(operands)


@dataclass(frozen=True)
class Cut:
    """What stands for the results of a loop: its carry at the end, and the rows it gives."""

    view: View
    carry: Sequence[Value]
    rows: Sequence[Value]


@dataclass
class Side:
    """One program, and those of its loops that have been reached: None stands for a loop that is short."""

    program: ClosedJaxpr
    loops: list[Loop | None] = field(default_factory=list)

    def run(self, arguments: Sequence[Value], cuts: Sequence[Cut]) -> list[Value] | ReachedError:
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
                raise ReachedError(walk, loop, operands)
            return cut.view.results(loop.operands(operands), cut.carry, cut.rows)

        walk = RowWise(on_loop)
        walk.know_inputs(arguments, LEAST)
        try:
            return walk.closed(self.program, arguments[: len(self.program.jaxpr.invars)])
        except ReachedError as reached:
            return reached

    def long(self, number: int) -> Loop:
        """The long loop of a number; it has been reached."""
        return [loop for loop in self.loops if loop is not None][number]


def _long(equation: JaxprEqn, operands: Sequence[Value]) -> Loop | None:
    """The loop of an equation, or None if it is short enough to be unrolled in its piece."""
    short = lambda length: isinstance(length, int) and length < LEAST
    if equation.primitive.name == "scan" and short(equation.params["length"]):
        return None
    loop = loop_of(equation, operands)
    return None if short(loop.length) else loop
