"""Decisions that are between different numbers for almost all inputs, shown by one input at which they are.

x > 0 and x ≥ 0 are the same function almost everywhere if x, an analytic function of the inputs, is not zero as a
function.  That prime fields see no zero is not enough: they do not know that lgamma(y + 1) - lgamma(y) - log(y) is 0.
One input at which ball arithmetic encloses x away from 0 is a proof (docs/soundness.md §10).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import jax
import numpy as np
from flint import arb
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.errors import BudgetError, UatJaxError
from uat_jax.interpret.closed_form import precision
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.recognition import Reading
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.balls.balls import Balls

POINTS, PRECISION = 4, 256
"""Random inputs that are tried, and the bits they are evaluated with."""


class Watching(Balls):
    """Balls that note which of some equations had operands that are all different, entry by entry, when evaluated."""

    def __init__(self, equations: Iterable[JaxprEqn], deadline: Deadline | None):
        super().__init__(Reading.ROUNDED, deadline)
        self.equations = frozenset(equations)
        self.strict: set[JaxprEqn] = set()
        self.doubtful: set[JaxprEqn] = set()

    def evaluate(self, equation: JaxprEqn, operands: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The results; a watched equation is looked at on the way."""
        if equation in self.equations:
            difference = operands[0] if len(operands) == 1 else operands[0] - operands[1]
            apart = all(arb(x).is_finite() and not arb(x).contains(0) for x in np.asarray(difference, object).ravel())
            (self.strict if apart else self.doubtful).add(equation)
        return super().evaluate(equation, operands)


def undecided(
    programs: Sequence[ClosedJaxpr],
    equations: Iterable[JaxprEqn],
    seed: int,
    deadline: Deadline | None,
    domains: Domains = EVERYWHERE,
) -> set[JaxprEqn]:
    """The equations that may decide between equal numbers: no random input shows that they never do.

    Args:
        programs: the two programs.
        equations: comparisons and selections that stand in the programs.
        seed: of the random inputs.
        deadline: when to stop; None for never.
        domains: where the inputs are drawn.

    Returns:
        `equations` without those whose operands are all different, entry by entry, at one of `POINTS` random inputs.
        An equation that is evaluated several times, in several calls of one function, must have different operands
        every time.
    """
    remaining = set(equations)
    for number in range(POINTS):
        if not remaining:
            break
        random = np.random.default_rng((seed, 91, number))
        normal = [random.standard_normal((1, *shape_of(v))) for v in programs[0].jaxpr.invars]
        point = domains.folded(normal, [dtype_of(v) for v in programs[0].jaxpr.invars])
        remaining -= _strict_at(programs, remaining, [x[0] for x in point], deadline)
    return remaining


def _strict_at(
    programs: Sequence[ClosedJaxpr], equations: set[JaxprEqn], point: list[np.ndarray], deadline: Deadline | None
) -> set[JaxprEqn]:
    balls = Watching(equations, deadline)
    complete = True
    for program in programs:
        try:
            with precision(PRECISION), jax.enable_x64(True):
                interpret(program, balls, [balls.number(x) for x in point])
        except BudgetError:
            raise
        except UatJaxError:
            complete = False
    return balls.strict - balls.doubtful if complete else set()
