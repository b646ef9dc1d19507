"""A concrete input on which two programs differ, found in float64, confirmed in ball arithmetic, and made simple.

There is one search, for two functions and for the programs of the ledger alike; they differ in the candidates.

    candidates (small integers, sparse, normal, scaled, uniform, near constants)
    →  |left − right| in float64, many at once
    →  disjoint enclosures of both exact values at one output entry  →  simpler numbers, as long as they differ

Candidates are brought into the domains of the inputs and rounded to their dtypes first: both sides get them exactly.
A value that is not finite confirms nothing, unless the program writes it: an infinity or NaN that is chosen on purpose
is a value.  An input outside its domain confirms nothing either.
"""

import math
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import islice

import jax
import numpy as np
from flint import arb
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.explained import explained
from uat_jax.decide.landmarks import constants, landmarks, near
from uat_jax.decide.pieces_evidence import is_large
from uat_jax.decide.simplification import Trials, simplify_together
from uat_jax.decide.specification import Sizes
from uat_jax.decide.tie_points import tie_points
from uat_jax.errors import BudgetError, InputError, ShapeError, UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import interpret_all, programs_within
from uat_jax.interpret.recognition import Reading
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.numbers.balls.balls import (
    Balls,
    UndecidedError,
    enclose,
    enclose_around,
    enclose_defined,
    enclose_readings,
    enclose_written_nan,
    reads_one_way,
)
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.footprint import of_balls, of_doubles

CONFIRMATIONS = 2
"""So many candidates of each kind, those that differ most, are evaluated in balls."""

CLEAR, VISIBLE = 1e-9, 1e-6
"""A difference is looked at if, in float64, it exceeds 1e-9 of the output array's largest entry (2^23 roundings); at
1e-6 float64 is enough to see whether it stays while numbers are made simpler."""

NAN_GAP = 2 * CLEAR
"""What stands for the difference of a NaN and a number: any real difference is looked at before it."""

BITS, FINE_BITS, FINE_POINTS = 64, 160, 3
"""Radii are 2^-64 of the scale; where float64 sees no difference, 2^-160 at three random normal points."""

TIE_BASES = 4
"""Inputs of small integers from which ties are looked for, besides 0 and 1."""

BESIDE = (-0.25, 0.25)
"""Where only sets of positive measure count, every entry of a tie is moved by this."""

NEIGHBOURHOOD = 80
"""Inputs are taken to 2^-80 of where they are, to see whether a difference is one of positive measure."""

EVALUATIONS, BALL_EVALUATIONS = 400, 200
"""The most evaluations of both sides that simplifying takes, in float64 and (where that sees nothing) in balls."""

SIMPLIFYING = 20.0
"""So many seconds are spent at most on making an input simpler."""

ROUNDS = 10_000
"""An input at which a loop runs for longer is no candidate: it may run for ever."""

MEMORY = 2**22
"""The most entries of one intermediate array, all copies together."""

Drawing = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
"""(random, (copies, entries)) → candidates, one per row; at least two."""


def _small_integers(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Integers −2 … 2; the first row is 0 and the second 1."""
    points = random.integers(-2, 3, shape).astype(np.float64)
    points[0], points[1] = 0, 1
    return points


def _of_one_sign(random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
    """Numbers between 0 and 1, in every other row with a minus: max(x) and max(x, 0) differ where all are negative."""
    return random.random(shape) * np.where(np.arange(shape[0]) % 2, -1.0, 1.0)[:, None]


@dataclass(frozen=True)
class Candidates:
    """The inputs that are tried.

    kinds: how they are drawn, in this order.  count: so many are drawn of each kind.  starts: of those that differ so
    many are simplified, and the simplest result is kept.  only: nothing else is tried, such as ties, and the simplest
    of those that differ are chosen, not those that differ most.
    """

    kinds: Mapping[str, Drawing]
    count: int
    starts: int = 1
    only: bool = False


REAL = Candidates(
    {
        "small integers": _small_integers,
        "sparse": lambda random, shape: random.integers(-2, 3, shape) * (random.random(shape) < 0.2),
        "normal": lambda random, shape: random.standard_normal(shape),
        "scaled": lambda random, shape: random.standard_normal(shape) * 10 ** random.uniform(-2, 2, (shape[0], 1)),
        "uniform": _of_one_sign,
    },
    count=64,
)
"""Real inputs of all kinds."""

WHOLE = Candidates({"whole numbers": lambda random, shape: random.integers(-2, 3, shape)}, 256, starts=8, only=True)
"""Inputs that a person can follow by hand."""


def find(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    *,
    seed: int = 0,
    deadline: Deadline | None = None,
    almost_everywhere: bool = False,
    candidates: Candidates = REAL,
    domains: Domains = EVERYWHERE,
) -> Counterexample | None:
    """A simplified input on which left ≠ right, however their constants are read, or None if none is found.

    At the ``deadline`` the search ends, and simplifying stops.  With ``almost_everywhere`` only differences count that
    all inputs around share.  The input lies in its `domains`.

    Raises:
        ShapeError: the jaxprs have different inputs or outputs.
        UnsupportedError, InputError: ball arithmetic cannot evaluate one of them.
    """
    search = _Search(left, right, seed, deadline, almost_everywhere, candidates, domains)
    return search.witness(search.points())


def smallest(
    programs: Callable[[Sizes], tuple[ClosedJaxpr, ClosedJaxpr]],
    sizes: Sizes,
    smaller: Iterable[Sizes],
    *,
    seed: int = 0,
    deadline: Deadline | None = None,
    almost_everywhere: bool = False,
    domains: Domains = EVERYWHERE,
) -> Counterexample | None:
    """The witness at the first of the ``smaller`` sizes that has one, or else at `sizes`; None if `sizes` has none.

    ``programs`` are both sides at given sizes.  Sizes at which there are none, or ball arithmetic cannot evaluate them,
    are passed over.  After the deadline the witness at `sizes` itself is given, if it was found by then.
    """
    search_at = lambda at: _Search(*programs(at), seed, deadline, almost_everywhere, domains=domains)
    known = search_at(sizes)
    points = known.points()
    if not points:
        return None
    for at in smaller:
        if at == sizes or known.late():
            break
        try:
            search = search_at(at)
            found = search.witness(search.points())
        except UatJaxError:
            continue
        if found is not None:
            return replace(found, sizes=dict(at))
    found = known.witness(points)
    return None if found is None else replace(found, sizes=dict(sizes))


@dataclass(frozen=True)
class _Separation:
    """The output entry at which two enclosures are disjoint and furthest apart, and both balls there."""

    output: int
    entry: tuple[int, ...]
    left: arb
    right: arb


def separations(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    arguments: Sequence[np.ndarray],
    *,
    bits: int,
    deadline: Deadline | None = None,
) -> list[_Separation]:
    """The output entries at which two programs differ, as written and for every reading of their constants.

    None are found where a decision depends on how a constant is read, or is not settled at all, or the time is up.
    """
    sides, one_way = (left, right), reads_one_way(left) and reads_one_way(right)
    try:
        written = [enclose(side, arguments, bits=bits, deadline=deadline, undefined=True) for side in sides]
        found = [s for output, (a, b) in enumerate(zip(*written, strict=True)) for s in _separated(output, a, b)]
        rounded = (
            [enclose_readings(side, arguments, deadline=deadline) for side in sides] if found and not one_way else []
        )
        if not found and any(x.is_nan() for side in written for output in side for x in output.ravel()):
            return _with_nan(sides, arguments, deadline)
    except UndecidedError:
        return _with_nan(sides, arguments, deadline)
    except (BudgetError, InputError):  # such as a NaN that is cast to an integer, for which nothing is promised
        return []
    settled = [s for s in found if one_way or apart(*(side[s.output][s.entry] for side in rounded))]
    found = settled or _as_meant(sides, arguments, found, bits, deadline)
    if all(s.left.is_finite() and s.right.is_finite() for s in found):
        return found
    # The infinity of a logarithm of 0 is no value: there the program is not defined.
    defined = [enclose_defined(side, arguments, deadline=deadline) for side in sides]
    return [s for s in found if apart(*(side[s.output][s.entry] for side in defined))]


def _as_meant(
    sides: Sequence[ClosedJaxpr],
    arguments: Sequence[np.ndarray],
    found: list[_Separation],
    bits: int,
    deadline: Deadline | None,
) -> list[_Separation]:
    """The separations among `found` at which two large programs differ also with constants as they are meant.

    None are returned where the rounding of constants may explain the difference, and of small programs, for which
    enclosures decide it.
    """
    midpoints = [np.vectorize(lambda x: float(x.mid()), otypes=[float])(a) for a in arguments]
    left, right = sides
    if not found or not is_large(left, right) or explained(left, right, midpoints, deadline):
        return []
    try:
        meant = [enclose(side, arguments, bits=bits, reading=Reading.MEANT, deadline=deadline) for side in sides]
    except (UndecidedError, BudgetError):
        return []
    return [s for s in found if apart(*(side[s.output][s.entry] for side in meant))]


def _with_nan(
    sides: Sequence[ClosedJaxpr], arguments: Sequence[np.ndarray], deadline: Deadline | None
) -> list[_Separation]:
    """The output entries at which one program chooses a NaN that is written in it, and the other has a value."""
    try:
        left, right = (enclose_written_nan(side, arguments, deadline=deadline) for side in sides)
    except (UndecidedError, BudgetError):
        return []
    return [
        _Separation(output, entry, x, y)
        for output, (a, b) in enumerate(zip(left, right, strict=True))
        for entry, x, y in zip(np.ndindex(a.shape), a.ravel(), b.ravel(), strict=True)
        if x.is_nan() != y.is_nan()
    ]


def apart(left: arb, right: arb) -> bool:
    """Whether two enclosures are of different values: disjoint, or an infinity and another value."""
    if left.is_finite() and right.is_finite():
        return not left.overlaps(right)
    infinite = [x.is_exact() and not x.is_finite() and not x.is_nan() for x in (left, right)]
    both = all(x.is_finite() or of for x, of in zip((left, right), infinite, strict=True))
    return both and not (all(infinite) and left == right)


class _Search:
    """One pair of jaxprs.  A point is a float64 vector: the entries of all inputs, end to end."""

    def __init__(
        self,
        left: ClosedJaxpr,
        right: ClosedJaxpr,
        seed: int,
        deadline: Deadline | None,
        almost_everywhere: bool,
        candidates: Candidates = REAL,
        domains: Domains = EVERYWHERE,
    ):
        self.sides, self.domains = (left, right), domains
        self.almost_everywhere, self.candidates = almost_everywhere, candidates
        self.seed, self.deadline = seed, deadline
        (self.inputs, self.outputs), other = (
            [[jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in vs] for vs in (p.jaxpr.invars, p.jaxpr.outvars)]
            for p in self.sides
        )
        if [self.inputs, self.outputs] != other:
            raise ShapeError(f"got jaxprs from {self.inputs} to {self.outputs} and from {other[0]} to {other[1]}")
        self.entries = sum(a.size for a in self.inputs)
        self.copies = int(np.clip(MEMORY // max(self.entries, *map(largest_array, self.sides)), 1, 512))
        if deadline is not None:
            deadline.hold(of_doubles(self.sides, self.copies, deadline.memory), "a search in float64")
            deadline.hold(of_balls(self.sides, deadline.memory), "a confirmation in balls")
        self.writes_nan = any(np.isnan(value).any() for side in self.sides for value in constants(side))
        self.bits = BITS
        self.separations: dict[bytes, _Separation | None] = {}

    def late(self) -> bool:
        return self.deadline is not None and self.deadline.late

    def cut(self, points: np.ndarray) -> list[np.ndarray]:
        """(copies, entries) → one float64 array of shape (copies, *shape) per input."""
        pieces = np.split(points, np.cumsum([a.size for a in self.inputs])[:-1], axis=1)
        return [p.reshape(len(points), *a.shape) for p, a in zip(pieces, self.inputs, strict=True)]

    def rounded(self, points: np.ndarray) -> np.ndarray:
        """The points brought into the domains of the inputs, as their dtypes hold them; 0 has no sign."""
        pieces = self.domains.folded(self.cut(points), [a.dtype for a in self.inputs])
        return np.concatenate([p.reshape(len(points), -1) for p in pieces], axis=1)

    def doubles(self, points: np.ndarray) -> list[list[np.ndarray]]:
        """Both sides' outputs in float64, each of shape (copies, entries)."""
        flat = lambda x: np.broadcast_to(x, (len(points), *x.shape[1:])).reshape(len(points), -1)
        with np.errstate(all="ignore"), jax.enable_x64(True):
            arithmetic = Doubles()
            arithmetic.deadline, arithmetic.most_rounds = self.deadline, ROUNDS
            return [list(map(flat, side)) for side in interpret_all(self.sides, arithmetic, self.cut(points))]

    def gaps(self, points: np.ndarray) -> np.ndarray:
        """max |left − right| / scale in float64 for every point, scale being the largest entry of the output array.

        0 where a value is not finite, where float64 arithmetic cannot evaluate the functions, and outside the domains;
        of programs in which a NaN is written, a little more than is looked at where only one side is NaN.
        """
        try:
            sides = self.doubles(points)
        except UatJaxError as error:  # such as a branch that differs from copy to copy
            if len(points) == 1 or self.late() or self._refused_alone(points[0], error):
                return np.zeros(len(points))
            return np.concatenate([self.gaps(row[None]) for row in points])
        with np.errstate(all="ignore"):
            gaps = np.nan_to_num(np.max([_gap(a, b) for a, b in zip(*sides, strict=True)], axis=0))
        if self.writes_nan:
            alone = [(np.isnan(a) != np.isnan(b)).any(axis=1) for a, b in zip(*sides, strict=True)]
            gaps = np.where((gaps == 0) & np.any(alone, axis=0), NAN_GAP, gaps)
        return np.where(self.inside(points), gaps, 0.0)

    def _refused_alone(self, point: np.ndarray, error: UatJaxError) -> bool:
        """Whether one of many points is refused for the same reason as all: then no point gets further alone.

        They came to the place of the refusal together, so that each comes to it.
        """
        try:
            self.doubles(point[None])
        except UatJaxError as alone:
            return (type(alone), str(alone)) == (type(error), str(error))
        return False

    def inside(self, points: np.ndarray) -> np.ndarray:
        """Which points lie in the domains of the inputs."""
        return self.domains.contain(self.cut(points))

    def separation(self, point: np.ndarray) -> _Separation | None:
        """Where ball arithmetic tells the two sides apart at a point of the domains, or None."""
        key = point.tobytes()
        if key not in self.separations:
            self.separations[key] = self._separation(point) if self.inside(point[None]).all() else None
        return self.separations[key]

    def _separation(self, point: np.ndarray) -> _Separation | None:
        arguments = [Balls().number(x[0]) for x in self.cut(point[None])]
        found = list(filter(_visible, separations(*self.sides, arguments, bits=self.bits, deadline=self.deadline)))
        if found and self.almost_everywhere:
            around = self._around(arguments)
            found = [s for s in found if (s.output, s.entry) in around]
        return max(found, key=_distance, default=None)

    def _around(self, arguments: list[np.ndarray]) -> set[tuple[int, tuple[int, ...]]]:
        """The output entries that differ for all inputs in a small neighbourhood of the given ones."""
        thicken = np.frompyfunc(lambda x: arb(x, 2.0**-NEIGHBOURHOOD), 1, 1)
        try:
            around = [np.asarray(thicken(x), object) for x in arguments]
            sides = enclose_around(self.sides, around, deadline=self.deadline)
        except UatJaxError:
            return set()
        pairs = enumerate(zip(*sides, strict=True))
        return {(s.output, s.entry) for output, (a, b) in pairs for s in _separated(output, a, b)}

    def points(self) -> list[np.ndarray]:
        """Inputs to simplify: candidates of the first kind of which any differ, or else another one."""
        count = int(np.clip(self.copies, 2, self.candidates.count))
        kinds = [*self.candidates.kinds.values(), *([self.corners] if self.domains.of else [])]
        for index, draw in enumerate(kinds):
            if self.late():
                return []
            drawn = self.rounded(draw(np.random.default_rng((self.seed, index)), (count, self.entries)))
            found = self.confirmed(drawn)
            if found:
                return found
        return [] if self.candidates.only else self.landmark_points() or self.tie_points() or self.fine_points()

    def landmark_points(self) -> list[np.ndarray]:
        """A point near the constants of the programs at which the sides differ."""
        places = landmarks(self.sides)
        if not len(places):
            return []
        random = np.random.default_rng((self.seed, len(self.candidates.kinds) + 2))
        count = int(np.clip(self.copies, 2, self.candidates.count))
        return self.confirmed(self.rounded(near(places, random, (count, self.entries))))

    def corners(self, random: np.random.Generator, shape: tuple[int, int]) -> np.ndarray:
        """Candidates at the ends of the domains, all but the first two with some of their entries inside."""
        pieces = [self.domains[i].corners(random, (shape[0], a.size), a.dtype) for i, a in enumerate(self.inputs)]
        points, normal = np.concatenate(pieces, axis=1), random.standard_normal(shape)
        points[2:] = np.where(random.random(shape) < 0.5, points, self.rounded(normal))[2:]
        return points

    def tie_points(self) -> list[np.ndarray]:
        """A point at a tie, or almost everywhere beside one, at which the sides differ."""
        beside = BESIDE if self.almost_everywhere else (0.0,)
        random = np.random.default_rng((self.seed, len(self.candidates.kinds) + 1))
        bases = [np.zeros(self.entries), np.ones(self.entries), *_small_integers(random, (TIE_BASES, self.entries))]
        if self.domains.of:
            bases += [*self.corners(random, (TIE_BASES, self.entries))]
        for base in self.rounded(np.array(bases)):
            try:
                ties = tie_points(self.sides, self.cut, base, random, self.deadline)
            except BudgetError:
                raise
            except UatJaxError:
                return []
            points = np.concatenate([ties + step for step in beside])
            inside = points[self.inside(points)]
            found = self.confirmed(self.rounded(inside)) if len(inside) else []
            if found:
                return found
        return []

    def confirmed(self, points: np.ndarray) -> list[np.ndarray]:
        """Points at which float64 sees a difference and balls confirm it, as many as are to be simplified.

        Of several that are simplified the simplest one is kept, and nothing is looked at in balls before that.
        """
        gaps = self.gaps(points)
        if self.candidates.only:
            order = sorted(np.flatnonzero(gaps > CLEAR), key=lambda i: _weight(points[i]))
            return [points[i] for i in order[: self.candidates.starts]]
        order = np.argsort(-gaps, kind="stable")[:CONFIRMATIONS]
        holds = lambda i: gaps[i] > CLEAR and not self.late() and self.separation(points[i]) is not None
        return list(islice((points[i] for i in order if holds(i)), self.candidates.starts))

    def fine_points(self) -> list[np.ndarray]:
        """A random normal point at which only ball arithmetic sees the difference."""
        self.bits = FINE_BITS
        self.separations.clear()
        random = np.random.default_rng((self.seed, len(self.candidates.kinds)))
        for point in self.rounded(random.standard_normal((FINE_POINTS, self.entries))):
            if not self.late() and self.separation(point) is not None:
                return [point]
        return []

    def simplest(self, points: Sequence[np.ndarray]) -> tuple[np.ndarray, bool] | None:
        """The simplest that points are made into at which balls confirm the difference, and whether it is minimal."""
        if self.candidates.only:
            if (self.gaps(np.array(points)) > VISIBLE).all():
                ends = simplify_together(points, self.in_float64(self.too_late(len(points))))
                point, minimal = min(((h[-1], minimal) for h, minimal in ends), key=lambda end: _weight(end[0]))
                if self.separation(point) is not None:
                    return point, minimal
            points = [point for point in points if self.separation(point) is not None]
        return min(self.simplified(points), key=lambda found: _weight(found[0]), default=None)

    def in_float64(self, late: Callable[[], bool]) -> Trials:
        """How points are made simpler as long as float64 sees the difference."""
        return Trials(lambda points: self.gaps(points) > CLEAR, self.copies, EVALUATIONS, late)

    def too_late(self, count: int) -> Callable[[], bool]:
        """Whether no more time is left to make so many points simpler, from now on."""
        end = time.monotonic() + SIMPLIFYING * count
        return lambda: self.late() or time.monotonic() > end

    def simplified(self, points: Sequence[np.ndarray]) -> list[tuple[np.ndarray, bool]]:
        """For each point a simpler one that still separates the sides, and whether it is minimal."""
        separate = lambda points: np.array([self.separation(p) is not None for p in points])
        late = self.too_late(len(points))
        found = [(point, False) for point in points]
        unsettled = dict.fromkeys(range(len(points)))
        visible = [place for place in unsettled if self.gaps(points[place][None])[0] > VISIBLE]
        # Float64 may see a value where there is none, such as 1 / (1 / 0); balls go on from the last that has one.
        for places, trials in (
            (visible, self.in_float64(late)),
            (unsettled, Trials(separate, 1, BALL_EVALUATIONS, late)),
        ):
            starts = {place: found[place][0] for place in places}
            for place, (history, minimal) in zip(starts, simplify_together([*starts.values()], trials), strict=True):
                point = next(p for p in reversed(history) if self.separation(p) is not None)
                settled = point is history[-1]
                found[place] = point, settled and minimal
                if settled:
                    del unsettled[place]
        return found

    def witness(self, points: Sequence[np.ndarray]) -> Counterexample | None:
        """The simplest witness that points can be made into, or None without points that balls confirm."""
        simplest = self.simplest(points) if points else None
        if simplest is None:
            return None
        point, minimal = simplest
        found = self.separation(point)
        assert found is not None
        arrays = zip(self.cut(point[None]), self.inputs, strict=True)
        return Counterexample(
            tuple(Input(f"input {i}", x[0].tolist(), str(a.dtype)) for i, (x, a) in enumerate(arrays)),
            *self.values(point, found),
            exact=texts_apart(found.left, found.right),
            output=found.output,
            entry=found.entry,
            minimal=minimal,
            seed=self.seed,
            differing=self.differing(point),
        )

    def differing(self, point: np.ndarray) -> tuple[int, int] | None:
        """How many entries of all outputs differ in float64, and of how many; None where float64 sees no difference."""
        try:
            sides = self.doubles(point[None])
        except UatJaxError:
            return None
        with np.errstate(all="ignore"):
            scale = lambda a, b: np.maximum(np.abs(a), np.abs(b)).max(initial=0.0)
            apart = [~((np.abs(a - b) <= CLEAR * scale(a, b)) | (a == b)) for a, b in zip(*sides, strict=True)]
        count = sum(int(entries.sum()) for entries in apart)
        return (count, sum(entries.size for entries in apart)) if count else None

    def values(self, point: np.ndarray, found: _Separation) -> tuple[float, float]:
        """Both values of the separated entry in float64; rounded from the balls where float64 cannot evaluate them."""
        try:
            left, right = (side[found.output][0] for side in self.doubles(point[None]))
        except UatJaxError:
            return float(found.left.mid()), float(found.right.mid())
        entry = int(np.ravel_multi_index(found.entry, self.outputs[found.output].shape)) if found.entry else 0
        return float(left[entry]), float(right[entry])


def _weight(point: np.ndarray) -> tuple:
    """How simple a point is, less being simpler: fewer numbers that are not 0, smaller ones, fewer minus signs."""
    return int(np.count_nonzero(point)), float(np.abs(point).sum()), int((point < 0).sum()), tuple(-point)


def _gap(left: np.ndarray, right: np.ndarray) -> np.ndarray:
    """max |left − right| / max(|left|, |right|), maxima along the last axis; NaN where a value is not finite.

    Infinities that both sides share, such as the logarithm of a probability 0, are left out; others are ∞ apart.
    """
    shared = (left == right) & np.isinf(left)
    alone = ((np.isinf(left) | np.isinf(right)) & ~shared & ~np.isnan(left) & ~np.isnan(right)).any(axis=1)
    left, right = (np.where(shared, 0, side) for side in (left, right))
    if alone.any():
        rest = _gap(*(np.where(alone[:, None], 0, side) for side in (left, right)))
        return np.where(alone, np.inf, rest)
    scale = np.maximum(np.abs(left), np.abs(right)).max(axis=1)
    return np.abs(left - right).max(axis=1) / np.maximum(scale, np.finfo(np.float64).tiny)


def _separated(output: int, left: np.ndarray, right: np.ndarray) -> Iterator[_Separation]:
    for entry, a, b in zip(np.ndindex(left.shape), left.ravel(), right.ravel(), strict=True):
        if apart(a, b):
            yield _Separation(output, entry, a, b)


def _visible(found: _Separation) -> bool:
    """Whether float64 holds the larger value: exp(-1e9) and 0 are told apart by no floats."""
    if not (found.left.is_finite() and found.right.is_finite()):
        return True
    return bool(arb.max(abs(found.left), abs(found.right)) >= np.finfo(np.float64).tiny)


def _distance(found: _Separation) -> float:
    """|left − right| relative to the larger; 1 of an infinity and another value."""
    if not (found.left.is_finite() and found.right.is_finite()):
        return 1.0
    return float((abs(found.left - found.right) / arb.max(abs(found.left), abs(found.right))).mid())


def texts_apart(left: arb, right: arb) -> tuple[str, str]:
    """Two disjoint balls with as many digits as it takes to tell them apart, at least 15."""
    digits = next((n for n in (15, 30) if left.str(n) != right.str(n)), 60)
    return left.str(digits), right.str(digits)


def largest_array(program: ClosedJaxpr) -> int:
    """The size of the largest array that an evaluation makes."""
    return max((math.prod(shape_of(v)) for p in programs_within(program) for e in p.eqns for v in e.outvars), default=1)
