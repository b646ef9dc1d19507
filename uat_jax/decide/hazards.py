"""Hazards: inputs at which one of two equal functions fails in floats, and the other does not.

    extremes of the dtype, ties, offsets, zeros of divisors
      →  both programs in NumPy, rounded to their dtypes: is one not finite, are they far apart?
      →  both programs on the device: are they still?
      →  exact values in ball arithmetic: which side is wrong, and was it undefined or only rounded?

A search: what it finds is shown by an input, and what it does not find may still be there.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax.numpy as jnp
import numpy as np
from flint import arb

from uat_jax.decide.extremes import extremes, zeros
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.witness import largest_array
from uat_jax.errors import BudgetError, UatJaxError
from uat_jax.numbers.balls.balls import Balls, enclose
from uat_jax.numbers.floats.emulated import Emulated, arguments, followed
from uat_jax.numbers.floats.matmul_precision import unit_roundoff
from uat_jax.numbers.floats.sensitivity import conditioning

SECONDS = 3.0
"""The search ends after so long, with what it has found."""

CONFIRMATIONS = 3
"""So many inputs of each kind are run on the device before the kind is given up."""

MEMORY = 2**21
"""The most entries of one intermediate array, all inputs together."""

FEW_EQUATIONS = 64
"""Longer programs are run jitted only: every operation that is run alone is compiled alone."""

LARGE = 5_000
"""Programs that compute more entries than this are not evaluated in balls."""

SIDES = ("left", "right")

KINDS: Mapping[str, str] = {
    "undefined": "it divides by zero, or takes a root or logarithm out of range",
    "underflow": "a number too small for the dtype became 0, which is then divided by or taken the logarithm of",
    "overflow": "a number is too large for the dtype",
    "NaN": "an operation without a value, such as ∞ - ∞",
    "clamped": "an index lies beside its array, and the device moves it inside",
    "drift": "rounding destroys more than half of the digits that the rounded inputs leave",
}
"""What a hazard can be, and what it means for the side that has it."""


@dataclass(frozen=True, eq=False)
class Hazard:
    """An input at which one side fails in floats and the other does not.

    kind: one of `KINDS`.  side: "left" or "right", the one that fails.  inputs: the arrays, in the order of
    `jax.tree.leaves` of the arguments (those without values).  left, right: both values of one entry of the output, as
    the device computes them.  exact: its exact value as text, or None where it is not known.  sizes: of the symbolic
    dimensions.  jitted: whether it shows under `jax.jit`; if not, XLA rewrites the program, and it shows when the
    operations are run one by one.  text: all this in one line.
    """

    kind: str
    side: str
    inputs: tuple[np.ndarray, ...]
    left: float
    right: float
    exact: str | None
    sizes: Mapping[str, int]
    jitted: bool
    text: str


@dataclass(frozen=True)
class HazardSearch:
    """What the search found: hazards, the number of inputs tried, and why it ended early, or ''."""

    found: tuple[Hazard, ...] = ()
    tried: int = 0
    reason: str = ""


def search_hazards(device: OnDevice, names: Sequence[str], sizes: Mapping[str, int], seed: int = 0) -> HazardSearch:
    """The first hazard of each kind and side that is found; `names` are those of the inputs, for the texts."""
    if device.too_large:
        return HazardSearch(reason=device.too_large)
    search = _Search(device, names, sizes, seed)
    reason = ""
    try:
        for points in search.candidates():
            search.look(points)
    except BudgetError:
        reason = f"the time was up after {search.tried} inputs"
    except (UatJaxError, MemoryError) as error:
        reason = str(error).partition(";")[0] or type(error).__name__
    return HazardSearch(tuple(search.found.values()), search.tried, reason)


@dataclass(frozen=True)
class _Place:
    """One entry of the outputs, counted end to end: the side that fails there, or None where they drift apart."""

    entry: int
    side: int | None


class _Search:
    """The search for one pair of programs."""

    def __init__(self, device: OnDevice, names: Sequence[str], sizes: Mapping[str, int], seed: int):
        self.device, self.names, self.sizes, self.seed = device, names, sizes, seed
        self.deadline = device.allowance.deadline(SECONDS)
        self.found: dict[tuple[str, int], Hazard] = {}
        self.attempts: dict[Hashable, int] = {}
        self.tried = 0
        entries = [max(1, sum(x.size for x in device.inputs)), *map(largest_array, device.programs)]
        self.copies = max(1, MEMORY // max(entries))
        self.short = sum(len(p.jaxpr.eqns) for p in device.programs) <= FEW_EQUATIONS
        self.small = sum(v.aval.size for p in device.programs for e in p.jaxpr.eqns for v in e.outvars) <= LARGE
        ends = np.cumsum([0, *(y.size for y in device.outputs)])
        self.slices = [slice(int(a), int(b)) for a, b in zip(ends, ends[1:], strict=False)]

    def candidates(self) -> Iterator[np.ndarray]:
        """Points in blocks that fit into memory."""
        for points in extremes(self.device.inputs, self.copies, self.seed):
            yield self.inside(points)
        yield self.inside(self.zeros())

    def inside(self, points: np.ndarray) -> np.ndarray:
        """The points of the inputs' domains next to the given ones."""
        if not len(points):
            return points
        pieces = arguments(points, self.device.inputs)
        clipped = self.device.domains.clipped(pieces, [x.dtype for x in self.device.inputs])
        return np.concatenate([x.reshape(len(points), -1) for x in clipped], axis=1)

    def zeros(self) -> np.ndarray:
        """Zeros of the divisors of both programs; none where NumPy cannot follow them."""
        try:
            return zeros(self.device.inputs, self.edges, self.copies, self.seed)
        except BudgetError:
            raise
        except UatJaxError:
            return np.zeros((0, 0))

    def emulated(self, side: int, points: np.ndarray, rounded: bool = True) -> tuple[Emulated, np.ndarray]:
        """One program in NumPy: the arithmetic with what it noted, and all outputs end to end (copies, entries)."""
        arithmetic = Emulated(len(points), rounded=rounded, deadline=self.deadline)
        outputs = followed(self.device.programs[side], arithmetic, arguments(points, self.device.inputs))
        flat = [np.broadcast_to(y, (len(points), *y.shape[1:])).reshape(len(points), -1) for y in outputs]
        return arithmetic, np.concatenate(flat, axis=1)

    def edges(self, points: np.ndarray) -> list[np.ndarray]:
        """The functions of both programs whose zeros bound their domains, those that depend on the inputs."""
        doubled = np.concatenate([points, points[-1:]])  # two at least: what is the same for all is left out
        return [x[:-1] for side in (0, 1) for x in self.emulated(side, doubled, rounded=False)[0].edges]

    def look(self, points: np.ndarray) -> None:
        """Every point at which the two programs part in NumPy is tried on the device."""
        if not len(points):
            return
        values = self.values(points)
        self.tried += len(points)
        for row, point in enumerate(points):
            place = self.parted(*(side[row] for side in values))
            if place is None:
                continue
            key = self.signature(place, values, row)
            if self.attempts.get(key, 0) < CONFIRMATIONS:
                self.attempts[key] = self.attempts.get(key, 0) + 1
                if self.confirmed(point):
                    self.attempts[key] = CONFIRMATIONS

    def values(self, points: np.ndarray) -> list[np.ndarray]:
        """Both programs at the points: in NumPy, or on the device where NumPy cannot follow."""
        try:
            return [self.emulated(side, points)[1] for side in (0, 1)]
        except BudgetError:
            raise
        except UatJaxError:
            rows = []
        for point in points:
            if self.deadline.late:
                raise BudgetError("the seconds of the search are over")
            rows.append(self.device.run(self.leaves(point)))
        return [np.stack(column) for column in zip(*rows, strict=True)]

    def leaves(self, point: np.ndarray) -> list[np.ndarray]:
        """A point as the programs' inputs, in their dtypes."""
        pieces = zip(arguments(point[None], self.device.inputs), self.device.inputs, strict=True)
        return [piece[0].astype(x.dtype) for piece, x in pieces]

    def parted(self, left: np.ndarray, right: np.ndarray) -> _Place | None:
        """The first entry that is finite on one side only, or else where finite values are far apart."""
        finite = np.isfinite(left), np.isfinite(right)
        odd = np.flatnonzero(finite[0] != finite[1])
        if odd.size:
            return _Place(int(odd[0]), 0 if finite[1][odd[0]] else 1)
        if not finite[0].all():
            return None
        for array, y in zip(self.slices, self.device.outputs, strict=True):
            gaps = np.abs(left[array] - right[array])
            scale = max(np.abs(left[array]).max(), np.abs(right[array]).max())
            if gaps.max() > scale * _half(y.dtype) + _smallest(y.dtype):
                return _Place(array.start + int(gaps.argmax()), None)
        return None

    def signature(self, place: _Place, values: Sequence[np.ndarray], row: int) -> Any:
        """What tells kinds of candidates apart before they are run."""
        if place.side is None:
            larger = int(abs(values[1][row, place.entry]) > abs(values[0][row, place.entry]))
            return "drift", larger
        return place.side, str(values[place.side][row, place.entry])

    def confirmed(self, point: np.ndarray) -> bool:
        """Whether the device shows a hazard at a point, jitted or else one by one; a new kind of hazard is kept."""
        return self.shows(point, jitted=True) or (self.short and self.shows(point, jitted=False))

    def shows(self, point: np.ndarray, *, jitted: bool) -> bool:
        """Whether the device shows a hazard at a point in this way."""
        leaves = self.leaves(point)
        sides = self.device.run(leaves, jitted=jitted)
        place = self.parted(*sides)
        if place is None:
            return False
        found = self.drift(leaves, sides) if place.side is None else self.failure(point, leaves, place, sides)
        if found is None:
            return False
        kind, side, entry, exact = found
        if (kind, side) not in self.found:
            left, right = (float(y[entry]) for y in sides)
            text = self.text(side, entry, leaves, (left, right), exact if kind == "drift" else None, jitted)
            hazard = Hazard(kind, SIDES[side], tuple(leaves), left, right, exact, dict(self.sizes), jitted, text)
            self.found[kind, side] = hazard
        return True

    def failure(
        self, point: np.ndarray, leaves: Sequence[np.ndarray], place: _Place, sides: Sequence[np.ndarray]
    ) -> tuple[str, int, int, str | None]:
        """Kind, side, entry and exact value of a value that is not finite.

        Undefined is what has no exact value and leaves a domain in float64 as well; where only the rounded program
        divides by zero, a number has underflown.
        """
        assert place.side is not None
        exact = self.exact(place.side, leaves)
        defined = exact is not None and exact[place.entry].is_finite() or self.in_float64(place, point)
        exact = exact or self.exact(1 - place.side, leaves)
        text = None if exact is None or not exact[place.entry].is_finite() else exact[place.entry].str(15, radius=False)
        value = sides[place.side][place.entry]
        if not defined and self.left_domain(place.side, point, rounded=False):
            kind = "undefined"
        elif self.left_domain(place.side, point, rounded=True):
            kind = "underflow"
        else:
            kind = "NaN" if np.isnan(value) else "overflow"
        return kind, place.side, place.entry, text

    def in_float64(self, place: _Place, point: np.ndarray) -> bool:
        """Whether the failing entry is finite in float64."""
        assert place.side is not None
        try:
            return bool(np.isfinite(self.emulated(place.side, point[None], rounded=False)[1][0, place.entry]))
        except UatJaxError:
            return False

    def left_domain(self, side: int, point: np.ndarray, *, rounded: bool) -> bool:
        """Whether a program divides by zero, or takes a root or logarithm out of range, on its way."""
        try:
            return bool(self.emulated(side, point[None], rounded)[0].left_domain.any())
        except UatJaxError:
            return False

    def drift(
        self, leaves: Sequence[np.ndarray], sides: Sequence[np.ndarray]
    ) -> tuple[str, int, int, str | None] | None:
        """Kind, side, entry and exact value where one side is off by far more than the other, and than the inputs'
        rounding explains: 1/√u times u (√(Σ_j (∂y/∂w_j w_j)²) + max|y|) plus the other side's error."""
        exact = self.exact(0, leaves) or self.exact(1, leaves)
        if exact is None or not all(y.is_finite() for y in exact):
            return None
        errors = [np.array([float(abs(arb(v) - y).upper()) for v, y in zip(s, exact, strict=True)]) for s in sides]
        for array, output in zip(self.slices, self.device.outputs, strict=True):
            off = [error[array].max() for error in errors]
            side = int(off[1] > off[0])
            entry = array.start + int(errors[side][array].argmax())
            scale = max(abs(float(y.mid())) for y in exact[array])
            roundoff, half = unit_roundoff(output.dtype), _half(output.dtype)
            allowed = (off[1 - side] + roundoff * (self.sensitivity(1 - side, leaves, entry) + scale)) / half
            if off[side] > allowed + _smallest(output.dtype):
                return "drift", side, entry, exact[entry].str(15, radius=False)
        return None

    def sensitivity(self, side: int, leaves: Sequence[np.ndarray], entry: int) -> float:
        """How far the inputs' rounding moves an entry of the output, in units of the roundoff."""
        try:
            return float(conditioning(self.device.programs[side], leaves, np.random.default_rng(self.seed))[entry])
        except UatJaxError:
            return float("inf")

    def exact(self, side: int, leaves: Sequence[np.ndarray]) -> list[arb] | None:
        """The exact outputs of one program end to end, or None where balls do not give them."""
        if not self.small:
            return None
        try:
            outputs = enclose(self.device.programs[side], [Balls().number(x) for x in leaves], bits=60)
        except (UatJaxError, TypeError):  # the latter of complex numbers, which balls do not follow
            return None
        return [y for output in outputs for y in output.ravel()]

    def text(
        self,
        side: int,
        entry: int,
        leaves: Sequence[np.ndarray],
        values: tuple[float, float],
        exact: str | None,
        jitted: bool,
    ) -> str:
        """The hazard in one line."""
        at = ", ".join(f"{name} = {shown(leaf)}" for name, leaf in zip(self.names, leaves, strict=True))
        where = "" if len(self.slices) == 1 and self.device.outputs[0].size == 1 else f" in {self.place(entry)}"
        tail = ("" if exact is None else f"; exactly {exact}") + ("" if jitted else " (one by one, not under jit)")
        dtype = self.device.outputs[self.output_of(entry)].dtype
        failing, other = (number(np.asarray(values[i], dtype)) for i in (side, 1 - side))
        return f"{SIDES[side]} is {failing}{where} at {at}; {SIDES[1 - side]} is {other}{tail}"

    def output_of(self, entry: int) -> int:
        """The output array that an entry belongs to."""
        return next(i for i, array in enumerate(self.slices) if entry < array.stop)

    def place(self, entry: int) -> str:
        """Such as "entry [0, 1]" or "entry [2] of output 1"."""
        output = self.output_of(entry)
        index = np.unravel_index(entry - self.slices[output].start, self.device.outputs[output].shape)
        which = f" of output {output}" if len(self.slices) > 1 else ""
        return f"entry [{', '.join(map(str, index))}]{which}"


def _half(dtype: np.dtype) -> float:
    """√u: half of the digits of a dtype."""
    return unit_roundoff(dtype) ** 0.5


def _smallest(dtype: np.dtype) -> float:
    """A difference that flushing numbers to zero explains, with a margin for a few steps."""
    return 64 * float(jnp.finfo(dtype).smallest_normal)


def shown(array: np.ndarray) -> str:
    """An array in a few words: all of up to six entries, or what they have in common."""
    flat = array.ravel()
    if flat.size <= 6:
        return _listed(array)
    odd = np.flatnonzero(flat != flat[-1])
    if not odd.size:
        return f"{number(flat[0])} in all {flat.size} entries"
    if odd.size <= 2:
        parts = ", ".join(f"{number(flat[i])} at {list(map(int, np.unravel_index(i, array.shape)))}" for i in odd)
        return f"{number(flat[-1])} but {parts}"
    return f"{flat.size} numbers from {number(flat.min())} to {number(flat.max())}"


def _listed(array: np.ndarray) -> str:
    return number(array) if array.ndim == 0 else f"[{', '.join(map(_listed, array))}]"


def number(x: Any) -> str:
    """A float of any dtype in the fewest digits that tell it from its neighbours; NaN in capitals."""
    return "NaN" if np.isnan(np.asarray(x, np.float64)) else str(np.asarray(x)).removesuffix(".0")
