"""Two functions compared at random points to many digits, where no method decides whether they are equal."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from flint import arb
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.witness import texts_apart
from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.recognition import Reading
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.balls.balls import Balls, UndecidedError, enclose, enclose_readings, reads_one_way
from uat_jax.numbers.prime_fields.footprint import of_balls


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
    reading: Reading = Reading.WRITTEN,
    deadline: Deadline | None = None,
    domains: Domains = EVERYWHERE,
) -> Agreement:
    """Whether two jaxprs of the same inputs and outputs agree at random points, their constants read in one way.

    The points lie in the `domains` of the inputs.

    Enclosures of radius r ≤ 2^-bits · scale that overlap give |left − right| ≤ 2 · (2r) ≤ 2^(2 − bits) · scale, which
    is at most 10^-digits of the scale for bits = ⌈digits · log₂ 10⌉ + 2.

    Raises:
        InputError: ``points`` or ``digits`` below 1.
        BudgetError: the deadline is over.
        MemoryLimitError: it would take more memory than is allowed.
    """
    if points < 1 or digits < 1:
        raise InputError(f"got points={points} and digits={digits}; both must be at least 1")
    found = agreement_at(
        left, right, _points(left, points, seed, domains), digits=digits, reading=reading, deadline=deadline
    )
    return found if found.agrees else Agreement(0, 0, f"seed {seed}, {found.reason}")


def agreement_at(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    points: Sequence[Sequence[np.ndarray]],
    *,
    digits: int,
    reading: Reading = Reading.WRITTEN,
    deadline: Deadline | None = None,
) -> Agreement:
    """Whether two jaxprs agree at given points, each a list of the inputs, their constants read in one way."""
    bits = math.ceil(digits * math.log2(10)) + 2
    for index, inputs in enumerate(points):
        reason = _difference(left, right, inputs, bits, reading, deadline)
        if reason:
            return Agreement(0, 0, f"random point {index}: {reason}")
    return Agreement(len(points), digits)


def rounding_apart(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    *,
    points: int = 4,
    seed: int = 0,
    deadline: Deadline | None = None,
    domains: Domains = EVERYWHERE,
) -> tuple[str, str] | None:
    """Both values at a random point at which the programs as written differ by what rounding of constants explains.

    None if there is no such point among those that are tried, or one where nothing explains the difference.
    """
    found = None
    for inputs in _points(left, points, seed, domains):
        arguments = [Balls().number(x) for x in inputs]
        try:
            written = [enclose(side, arguments, deadline=deadline) for side in (left, right)]
            rounded = [enclose_readings(side, arguments, deadline=deadline) for side in (left, right)]
        except (UndecidedError, UnsupportedError, InputError):
            return None
        if any(not x.overlaps(y) for _, _, x, y in _entries(rounded)):
            return None
        found = next((texts_apart(x, y) for _, _, x, y in _entries(written) if not x.overlaps(y)), found)
    return found


def _difference(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    inputs: Sequence[np.ndarray],
    bits: int,
    reading: Reading,
    deadline: Deadline | None,
) -> str:
    """Why the two sides are not seen to agree at one point, or ''."""
    if deadline is not None:
        deadline.hold(of_balls((left, right), deadline.memory), "a look at exact values")
    arguments = [Balls().number(x) for x in inputs]
    try:
        sides = [enclose(side, arguments, bits=bits, reading=reading, deadline=deadline) for side in (left, right)]
        flips = [_flip(side, arguments, deadline) for side in (left, right)]
    except (UndecidedError, UnsupportedError, InputError) as error:
        return str(error)
    if any(flips):
        return next(filter(None, flips))
    apart = ((output, entry, x, y) for output, entry, x, y in _entries(sides) if not x.overlaps(y))
    return next((f"output {o}{list(entry)} is {' and '.join(texts_apart(x, y))}" for o, entry, x, y in apart), "")


def _flip(program: ClosedJaxpr, arguments: Sequence[np.ndarray], deadline: Deadline | None) -> str:
    """Why a decision depends on how a constant is read, or ''."""
    if reads_one_way(program):
        return ""
    try:
        enclose_readings(program, arguments, deadline=deadline)
    except UndecidedError as error:
        return f"a decision hangs on how a constant is read: {error}"
    return ""


def _entries(sides: Sequence[Sequence[np.ndarray]]) -> Iterator[tuple[int, tuple[int, ...], arb, arb]]:
    """Every output entry: the number of its output, its index, and both balls."""
    for output, (a, b) in enumerate(zip(*sides, strict=True)):
        yield from ((output, *row) for row in zip(np.ndindex(a.shape), a.ravel(), b.ravel(), strict=True))


def _points(program: ClosedJaxpr, points: int, seed: int, domains: Domains) -> list[list[np.ndarray]]:
    """Standard normal numbers brought into their domains, in the dtypes of the inputs."""
    return [_point(np.random.default_rng((seed, index)), program, domains) for index in range(points)]


def _point(random: np.random.Generator, program: ClosedJaxpr, domains: Domains) -> list[np.ndarray]:
    shapes, dtypes = zip(*((shape_of(v), dtype_of(v)) for v in program.jaxpr.invars), strict=True)
    normal = [random.standard_normal((1, *shape)) for shape in shapes]
    return [x[0].astype(dtype) for x, dtype in zip(domains.folded(normal, dtypes), dtypes, strict=True)]
