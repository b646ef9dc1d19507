"""Two functions compared at random points to many digits, where no method decides whether they are equal."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.balls import Balls, UndecidedError, enclose
from uat_jax.arithmetic.deadline import Deadline
from uat_jax.arithmetic.tracing import dtype_of, shape_of
from uat_jax.decide.witness import texts_apart
from uat_jax.errors import InputError, UnsupportedError


@dataclass(frozen=True)
class Agreement:
    """What the comparison found.

    At each of ``points`` random normal inputs every entry of both outputs is the same to ``digits`` decimal digits of
    the largest entry of its array (of the largest number on the way, where the array is zero); or ``reason`` says why
    that was not shown, and both numbers are 0.
    """

    points: int
    digits: int
    reason: str = ""

    @property
    def agrees(self) -> bool:
        """Whether all points agreed."""
        return not self.reason


def agreement(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    *,
    points: int = 8,
    digits: int = 30,
    seed: int = 0,
    deadline: Deadline | None = None,
) -> Agreement:
    """Whether two jaxprs of the same inputs and outputs agree at random points.

    Enclosures of radius r ≤ 2^-bits · scale that overlap give |left − right| ≤ 2 · (2r) ≤ 2^(2 − bits) · scale, which
    is at most 10^-digits of the scale for bits = ⌈digits · log₂ 10⌉ + 2.

    Raises:
        InputError: ``points`` or ``digits`` below 1.
        BudgetError: the deadline is over.
    """
    if points < 1 or digits < 1:
        raise InputError(f"got points={points} and digits={digits}; both must be at least 1")
    drawn = [_point(np.random.default_rng((seed, index)), left) for index in range(points)]
    found = agreement_at(left, right, drawn, digits=digits, deadline=deadline)
    return found if found.agrees else Agreement(0, 0, f"{found.reason} of seed {seed}")


def agreement_at(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    points: Sequence[Sequence[np.ndarray]],
    *,
    digits: int,
    deadline: Deadline | None = None,
) -> Agreement:
    """The same at given points, each a list of the inputs."""
    bits = math.ceil(digits * math.log2(10)) + 2
    for index, inputs in enumerate(points):
        reason = _difference(left, right, inputs, bits, deadline)
        if reason:
            return Agreement(0, 0, f"{reason} at random point {index}")
    return Agreement(len(points), digits)


def _difference(
    left: ClosedJaxpr, right: ClosedJaxpr, inputs: Sequence[np.ndarray], bits: int, deadline: Deadline | None
) -> str:
    """Why the two sides are not seen to agree at one point, or ''."""
    balls = Balls()
    arguments = [balls.number(x) for x in inputs]
    try:
        sides = [enclose(side, arguments, bits=bits, deadline=deadline) for side in (left, right)]
    except (UndecidedError, UnsupportedError, InputError) as error:
        return str(error)
    for output, (a, b) in enumerate(zip(*sides, strict=True)):
        for entry, x, y in zip(np.ndindex(a.shape), a.ravel(), b.ravel(), strict=True):
            if not x.overlaps(y):
                return f"output {output}{list(entry)} is {' and '.join(texts_apart(x, y))}"
    return ""


def _point(random: np.random.Generator, program: ClosedJaxpr) -> list[np.ndarray]:
    return [_normal(random, variable) for variable in program.jaxpr.invars]


def _normal(random: np.random.Generator, variable) -> np.ndarray:
    """Standard normal numbers, rounded to the variable's dtype."""
    return random.standard_normal(shape_of(variable)).astype(dtype_of(variable))
