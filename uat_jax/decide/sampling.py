"""Both functions in float64 at random inputs: a look at what prime fields cannot see."""

from __future__ import annotations

import functools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.constant_readings import readings
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.explained import VISIBLE
from uat_jax.errors import BudgetError, MemoryLimitError, UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret_all
from uat_jax.interpret.recognition import Reading, balls
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.footprint import of_doubles

Programs = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both sides of a comparison."""

COPIES = 32
"""So many inputs are tried at most."""

NUMBERS = 1 << 21
"""About so many random numbers are drawn; inputs of more entries in all share them."""

SUSPECTS = 4
"""So many inputs at which float64 sees a difference are looked at again in balls."""

APART = 1e-6
"""Float64 values that differ by more than this of the largest entry are called apart: far beyond rounding."""


@dataclass(frozen=True)
class Seen:
    """What was seen at `points` random normal inputs, brought into their domains.

    undefined: (left, right) numbers of output entries that were not finite.  mismatched: entries finite on one side
    only.  apart: the sides differ by more than rounding, with constants as written and also as what they stand for.
    reason: why float64 could not evaluate them, or ''.
    """

    points: int
    undefined: tuple[int, int]
    entries: int
    mismatched: int
    apart: bool
    reason: str

    @property
    def nowhere_defined(self) -> bool:
        """Whether no entry of either side was ever finite."""
        return self.points > 0 and self.undefined == (self.entries, self.entries)

    @property
    def defined_on_one_side(self) -> bool:
        """Whether no entry of one side was ever finite, and some of the other were."""
        return self.points > 0 and (self.undefined[0] == self.entries) != (self.undefined[1] == self.entries)


@dataclass(frozen=True)
class Sample:
    """What was seen, and inputs at which it was seen.

    suspects: a few of those at which the sides were mismatched or apart.  faint: the one at which they differ most, if
    none is apart and that is more than float64 rounds: constants that were rounded may explain it, or nothing does.
    """

    seen: Seen
    suspects: tuple[tuple[np.ndarray, ...], ...] = ()
    faint: tuple[np.ndarray, ...] | None = None


def sample(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    seed: int,
    deadline: Deadline | None = None,
    domains: Domains = EVERYWHERE,
) -> Sample:
    """The sample of two jaxprs of the same inputs and outputs; `domains` is what their inputs range over.

    Raises:
        BudgetError: the deadline is over.
    """
    size = sum(int(np.prod(shape_of(v))) for v in left.jaxpr.invars)
    copies = int(np.clip(NUMBERS // max(1, size), 1, COPIES))
    try:
        copies = _fitting((left, right), copies, deadline)
    except MemoryLimitError as error:
        return Sample(Seen(0, (0, 0), 0, 0, False, str(error)))
    points = random_inputs(left, copies, np.random.default_rng((seed, 77)), domains)
    try:
        sides = _values((left, right), points, copies, Doubles(), deadline)
        finite = [np.isfinite(side) for side in sides]
        gaps, mismatched = distances(sides, finite), finite[0] != finite[1]
        apart, most = gaps > APART, int(np.argmax(gaps))
        meant = bool(apart.any()) and bool(readings(left, right))
        surely = _apart_as_meant((left, right), points, copies, deadline) if meant else bool(apart.any())
    except BudgetError:
        raise
    except UatJaxError as error:
        return Sample(Seen(0, (0, 0), 0, 0, False, str(error)))
    suspects = np.flatnonzero(apart | mismatched.any(axis=1))[:SUSPECTS]
    seen = Seen(
        points=copies,
        undefined=(int((~finite[0]).sum()), int((~finite[1]).sum())),
        entries=sides[0].size,
        mismatched=int(mismatched.sum()),
        apart=surely,
        reason="",
    )
    faint = tuple(x[most] for x in points) if VISIBLE < gaps[most] <= APART else None
    return Sample(seen, tuple(tuple(x[i] for x in points) for i in suspects), faint)


class _AsMeant(Doubles):
    """Float64 with every constant what it stands for: 1 - 0.999 is 0.001, and not 0.0010000467."""

    def constant(self, array: Any, dtype: np.dtype) -> np.ndarray:
        """The numbers that a literal or captured array stands for, rounded to float64."""
        written, meant = np.asarray(array).astype(np.float64), balls(array, dtype, Reading.MEANT)
        middles = [float(ball.mid()) if ball.is_finite() else math.nan for ball in meant.flat]
        found = np.array(middles).reshape(written.shape)
        return np.where(np.isfinite(found), found, written)[None]


def _values(
    programs: Programs, points: list[np.ndarray], copies: int, arithmetic: Doubles, deadline: Deadline | None
) -> list[np.ndarray]:
    """The outputs of both programs."""
    arithmetic.deadline = deadline
    return [together(outputs, copies) for outputs in interpret_all(programs, arithmetic, points)]


def _apart_as_meant(programs: Programs, points: list[np.ndarray], copies: int, deadline: Deadline | None) -> bool:
    """Whether values differ also when constants are what they stand for, or cannot be had."""
    try:
        sides = _values(programs, points, copies, _AsMeant(), deadline)
    except BudgetError:
        raise
    except UatJaxError:
        return True
    return bool((distances(sides, [np.isfinite(side) for side in sides]) > APART).any())


def random_inputs(program: ClosedJaxpr, copies: int, random: np.random.Generator, domains: Domains) -> list[np.ndarray]:
    """Normal numbers for every input, shape (copies, *shape), brought into its domain.

    Where the inputs have more entries than numbers are drawn, each takes consecutive ones from a place of its own: a
    model of a hundred million weights takes longer to be given random weights than to be evaluated.
    """
    inputs = [(shape_of(v), dtype_of(v)) for v in program.jaxpr.invars]
    largest = max((math.prod(shape) for shape, _ in inputs), default=0)
    if sum(math.prod(shape) for shape, _ in inputs) <= NUMBERS:
        normal = [random.standard_normal((copies, *shape)) for shape, _ in inputs]
        return domains.folded(normal, [dtype for _, dtype in inputs])
    drawn = random.standard_normal(NUMBERS + largest)
    inside = functools.cache(lambda domain, dtype: domain.folded(drawn, dtype))
    windows = [random.integers(NUMBERS) + np.array([0, math.prod(shape)]) for shape, _ in inputs]
    return [
        inside(domains[i], dtype)[slice(*window)].reshape(1, *shape)
        for i, (window, (shape, dtype)) in enumerate(zip(windows, inputs, strict=True))
    ]


def _fitting(programs: Sequence[ClosedJaxpr], copies: int, deadline: Deadline | None) -> int:
    """So many inputs at once, or fewer, that fit into the memory that is allowed.

    Raises:
        MemoryLimitError: not even one fits.
    """
    if deadline is None:
        return copies
    while copies > 1 and of_doubles(programs, copies, deadline.memory) > deadline.memory:
        copies //= 2
    deadline.hold(of_doubles(programs, copies, deadline.memory), "a look at float64 values")
    return copies


def together(outputs: Sequence[np.ndarray], copies: int) -> np.ndarray:
    """All outputs end to end, shape (copies, entries)."""
    arrays = map(np.asarray, outputs)
    return np.concatenate([np.broadcast_to(x, (copies, *x.shape[1:])).reshape(copies, -1) for x in arrays], axis=1)


def distances(sides: list[np.ndarray], finite: list[np.ndarray]) -> np.ndarray:
    """How far the finite values are apart at each point, the largest of them being 1."""
    both = finite[0] & finite[1]
    left, right = (np.where(both, side, 0.0) for side in sides)
    scale = np.maximum(np.abs(left), np.abs(right)).max(axis=1, initial=0.0)
    gaps = np.abs(left - right).max(axis=1, initial=0.0)
    return np.divide(gaps, scale, out=np.zeros_like(gaps), where=scale > 0)
