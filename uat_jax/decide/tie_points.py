"""Inputs at which a program decides between equal numbers, rounds a number that lies at a jump, or catches 0/0.

    d(x + t e_j) = d(x) + t (d(x + e_j) − d(x))  for a difference d of degree one in x_j, which is 0 at one t

Two functions can be equal at all other inputs: sign(x) and where(x ≥ 0, 1, −1) are.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret, programs_within
from uat_jax.interpret.tracing import is_number
from uat_jax.numbers.floats.doubles import Doubles

COMPARISONS = frozenset("eq ge gt le lt ne sign".split())

ROUNDING = frozenset("ceil floor round".split())

DIVIDING = frozenset(["div", "rem"])
"""Primitives that make NaN of 0 and 0, which a program may catch."""

COORDINATES, MOST = 8, 64
"""From each input so many coordinates are moved to a tie, and so many inputs are given back."""


class Differences(Doubles):
    """Doubles that collect what each decision compares: arrays of shape (copies, entries) that are 0 at its ties.

    jumps: whether numbers are rounded on the way, of whose ties only those next to the first copy are collected.
    caught: whether one of the programs looks for NaN, so that it decides where a divisor is 0 as well.
    """

    def __init__(self, programs: Sequence[ClosedJaxpr]) -> None:
        self.found: list[np.ndarray] = []
        self.jumps = False
        self.caught = any(map(_looks_for_nan, programs))

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results; the operands of decisions are kept."""
        of_floats = bool(equation.invars) and is_number(equation.invars[0])
        if of_floats and equation.primitive.name in COMPARISONS:
            with np.errstate(all="ignore"):
                self._keep(operands[0] if len(operands) == 1 else np.subtract(*_aligned(operands)))
        if of_floats and _rounds(equation):
            self._keep_jumps(operands[0])
        if of_floats and self.caught and equation.primitive.name in DIVIDING:
            self._keep(operands[1])
        return super().evaluate(equation, operands)

    def _keep(self, difference: np.ndarray) -> None:
        if len(difference) > 1:
            self.found.append(difference.reshape(len(difference), -1))

    def _keep_jumps(self, x: np.ndarray) -> None:
        """Whole and half numbers next to the first copy's."""
        self.jumps = True
        with np.errstate(all="ignore"):
            self._keep(x - np.round(x[:1]))
            self._keep(x - (np.floor(x[:1]) + 0.5))


def _looks_for_nan(program: ClosedJaxpr) -> bool:
    """Whether a program asks whether a number is finite, or is another one than itself."""
    return any(
        e.primitive.name == "is_finite" or e.primitive.name in ("eq", "ne") and e.invars[0] is e.invars[1]
        for inner in programs_within(program)
        for e in inner.eqns
    )


def _rounds(equation: JaxprEqn) -> bool:
    """Whether an equation makes whole numbers of floats."""
    name = equation.primitive.name
    return name in ROUNDING or name == "convert_element_type" and not is_number(equation.outvars[0])


def _aligned(operands: Sequence[np.ndarray]) -> list[np.ndarray]:
    rank = max(np.ndim(x) for x in operands)
    return [x.reshape(len(x), *(1,) * (rank - x.ndim), *x.shape[1:]) for x in operands]


def tie_points(
    programs: Sequence[ClosedJaxpr],
    cut: Callable[[np.ndarray], list[np.ndarray]],
    base: np.ndarray,
    random: np.random.Generator,
    deadline: Deadline | None,
) -> np.ndarray:
    """Inputs that differ from `base` in one coordinate, at which a decision of a program is between equal numbers.

    Args:
        programs: jaxprs of the same inputs.
        cut: turns points of shape (copies, entries) into one array per input.
        base: float64 of shape (entries,).
        random: chooses coordinates, and points where there are many.
        deadline: how long this may go on, or None.

    Returns:
        Points of shape (count, entries), `count` being at most `MOST`, and 0 where nothing is decided.
    """
    coordinates = random.permutation(len(base))[:COORDINATES]
    moved = np.repeat(base[None], 1 + len(coordinates), axis=0)
    moved[1 + np.arange(len(coordinates)), coordinates] += 1
    arithmetic = Differences(programs)
    arithmetic.deadline = deadline
    for program in programs:
        interpret(program, arithmetic, cut(moved))
    differences = [d for d in arithmetic.found if len(d) == len(moved)]
    with np.errstate(all="ignore"):
        zeros = [(j, base[j] - d[0] / (d[k + 1] - d[0])) for d in differences for k, j in enumerate(coordinates)]
    candidates = sorted({(int(j), float(value)) for j, row in zeros for value in row if np.isfinite(value)})
    chosen = random.permutation(len(candidates))[:MOST]
    points = np.repeat(base[None], len(chosen), axis=0)
    for point, index in zip(points, chosen, strict=True):
        coordinate, value = candidates[index]
        point[coordinate] = value
    return points
