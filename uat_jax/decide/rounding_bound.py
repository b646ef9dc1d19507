"""How far rounding may carry each of two equal functions from the exact value, and where they were seen apart."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.witness import largest_array
from uat_jax.errors import BudgetError, UatJaxError
from uat_jax.interpret.deadline import Deadline
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.floats.emulated import followed
from uat_jax.numbers.floats.first_order import rounding_bound, spacing
from uat_jax.numbers.floats.matmul_precision import DotPrecisions

INPUTS, RUNS = 8, 64
"""At so many inputs the bound is derived, and at so many both programs are run."""

PROBABILITY = 1e-9
"""That some bound fails, under its assumption: independent roundings, first order."""

WORK = 2**23
"""Inputs times entries of the largest array: of larger programs fewer inputs are looked at."""

SECONDS = 3.0
"""For each side; then the bound is that of the inputs that were reached, or given up."""

LATE = "the time was up"

PRECISION = "default"
"""Of matrix products for which a program states none: the device's own, measured there."""

LARGEST = 2**19
"""Entries of the largest array of which there is room for a copy for each disturbance."""

SCALES = {"standard normal": lambda x: x, "absolute values of standard normal": np.abs}
"""The inputs, by name; the second where some function is not defined at most of the first."""


@dataclass(frozen=True)
class Deviation:
    """A distance between two outputs, or a bound on one: the largest over all inputs and output arrays.

    ulps: in units in the last place of the array's largest entry.  relative: to that entry.  absolute: as a number.
    """

    ulps: float
    relative: float
    absolute: float


@dataclass(frozen=True, eq=False)
class Rounding:
    """What rounding does to two programs that are equal over the real numbers.

    left, right: how far each side may be from the exact value, or None where that is not derived: a bound to first
    order from the roundings of the program (`first_order`), at the inputs where both sides were seen
    farthest apart.  reason: why it is not derived, or ''.  seen: how far the device's outputs of both sides were apart,
    or None if they were not run.  inputs: those of the program where that was.  scale: the inputs, in words; the bound
    is for `derived` of them, of `run` that were run.  device: its platform and kind.
    """

    left: Deviation | None
    right: Deviation | None
    reason: str
    seen: Deviation | None
    inputs: tuple[np.ndarray, ...]
    scale: str
    derived: int
    run: int
    device: str

    @property
    def text(self) -> str:
        """One line for people."""
        sides = [f"{name} at most {_ulps(x)}" for name, x in (("left", self.left), ("right", self.right)) if x]
        bounds = f"{' and '.join(sides)} from the exact value ({self.scale} inputs)" if sides else ""
        seen = f"seen apart by {_ulps(self.seen)}" if self.seen else ""
        return "; ".join(filter(None, [bounds, self.reason, seen]))


def _ulps(found: Deviation) -> str:
    return f"{found.ulps:.3g} ULP" if found.ulps == 0 or found.ulps >= 0.01 else "0.01 ULP"


def rounding_of(device: OnDevice, seed: int = 0) -> Rounding:
    """The rounding of a pair of programs; what cannot be derived is None with the reason."""
    if device.too_large:
        return Rounding(None, None, f"not derived: {device.too_large}", None, (), "", 0, 0, _name(device))
    size = max(1, *map(largest_array, device.programs), sum(x.size for x in device.inputs))
    runs, derived = (int(np.clip(WORK // (weight * size), 1, count)) for weight, count in ((1, RUNS), (64, INPUTS)))
    try:
        scale, points = _inputs(device, seed, runs)
    except BudgetError:
        return Rounding(None, None, f"not derived: {LATE}", None, (), "", 0, 0, _name(device))
    found = gaps(device, points)
    points = [points[i] for i in sorted(range(len(found)), key=lambda i: -found[i].ulps)] if found else points
    (left, why, some), (right, also, others) = (bound(device, side, points[:derived]) for side in device.programs)
    reason = "; ".join(dict.fromkeys(f"not derived: {r}" for r in (why, also) if r))
    seen, inputs = (_largest(found), tuple(points[0])) if found else (None, ())
    return Rounding(left, right, reason, seen, inputs, scale, min(some, others), len(found), _name(device))


def _name(device: OnDevice) -> str:
    return f"{device.device.platform} {device.device.device_kind}"


def _inputs(device: OnDevice, seed: int, count: int) -> tuple[str, list[list[np.ndarray]]]:
    """The scale and the inputs: those at which float64 values of both programs are finite.

    Numbers outside the domain of an input are mirrored at its ends.

    Raises:
        BudgetError: the deadline is over.
    """
    deadline = device.allowance.deadline(SECONDS)
    best: tuple[str, list[list[np.ndarray]]] = ("", [])
    for scale, change in SCALES.items():
        random = np.random.default_rng((seed, 93))
        normal = [[change(random.standard_normal((1, *x.shape))) for x in device.inputs] for _ in range(count)]
        drawn = [inside(device, point) for point in normal]
        kept = [leaves for leaves in drawn if _finite(device, leaves, deadline)]
        if len(kept) > len(best[1]):
            best = f"mirrored {scale}" if device.domains.of else scale, kept
        if 2 * len(kept) >= count:
            break
    return best


def inside(device: OnDevice, point: Sequence[np.ndarray]) -> list[np.ndarray]:
    """The inputs that are a point brought into their domains."""
    dtypes = [x.dtype for x in device.inputs]
    folded = device.domains.folded(point, dtypes)
    return [x[0].astype(dtype) for x, dtype in zip(folded, dtypes, strict=True)]


def _finite(device: OnDevice, leaves: Sequence[np.ndarray], deadline: Deadline) -> bool:
    arithmetic = Doubles()
    arithmetic.deadline = deadline
    values = [arithmetic.number(x) for x in leaves]
    try:
        return all(np.isfinite(y).all() for p in device.programs for y in followed(p, arithmetic, values))
    except BudgetError:
        raise
    except UatJaxError:  # float64 arithmetic cannot follow; the device may
        return True


def bound(
    device: OnDevice, program: ClosedJaxpr, points: Sequence[Sequence[np.ndarray]]
) -> tuple[Deviation | None, str, int]:
    """The largest bound over the inputs, or None and the reason; and the number of inputs that were reached."""
    if not points:
        return None, "no normal inputs were found at which both functions are defined", 0
    if largest_array(program) > LARGEST:
        return None, f"an array of {largest_array(program)} entries is too large to be disturbed", 0
    deadline = device.allowance.deadline(SECONDS)
    dots = DotPrecisions(device.device, PRECISION)
    found: list[Deviation] = []
    for leaves in points:
        try:
            values, bounds = rounding_bound(
                program, leaves, dot_precision=dots, probability=PROBABILITY / (2 * len(points)), deadline=deadline
            )
        except BudgetError:
            break
        except UatJaxError as error:
            return None, str(error).partition(";")[0], 0
        if not np.isfinite(bounds).all():
            return None, "the bound is not finite: an input is too near a singularity", 0
        found.append(_deviation(bounds, values, device.outputs))
    return (_largest(found), "", len(found)) if found else (None, LATE, 0)


def gaps(device: OnDevice, points: Sequence[list[np.ndarray]]) -> list[Deviation]:
    """How far the device's outputs are apart at the inputs; nothing if it cannot run the programs."""
    found = []
    for leaves in points:
        if device.allowance.over:
            break
        try:
            left, right = device.run(leaves)
        except UatJaxError:
            return []
        with np.errstate(invalid="ignore"):
            distances = np.where((left == right) | np.isnan(left) & np.isnan(right), 0.0, np.abs(left - right))
        found.append(_deviation(np.nan_to_num(distances, nan=np.inf), left, device.outputs))
    return found


def _deviation(distances: np.ndarray, values: np.ndarray, outputs: Sequence[Any]) -> Deviation:
    """The deviation of all outputs end to end, each array measured by its own scale."""
    ends = np.cumsum([y.size for y in outputs])[:-1]
    rows = []
    for distance, value, y in zip(np.split(distances, ends), np.split(values, ends), outputs, strict=True):
        most, scale = float(distance.max()), float(np.max(np.abs(value), where=np.isfinite(value), initial=0.0))
        relative = most / scale if scale else math.inf if most else 0.0
        rows.append(Deviation(most / spacing(scale, y.dtype), relative, most))
    return _largest(rows)


def _largest(found: Sequence[Deviation]) -> Deviation:
    """The largest of each."""
    return Deviation(*(max(getattr(x, name) for x in found) for name in ("ulps", "relative", "absolute")))
