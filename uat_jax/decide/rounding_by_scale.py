"""How rounding grows with the inputs: bounds and distances of `rounding_bound.py`, at inputs of several scales."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from uat_jax.byte_sizes import parse_bytes
from uat_jax.decide.allowance import Allowance
from uat_jax.decide.certificate import Certificate
from uat_jax.decide.effort import MEMORY
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.recheck import hostile, stated_inputs
from uat_jax.decide.rounding_bound import WORK, bound, gaps, inside
from uat_jax.decide.witness import largest_array
from uat_jax.errors import UatJaxError
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.jaxpr_file import decode
from uat_jax.interpret.work import multiplications

SCALES = tuple(10.0**k for k in range(-4, 5))
"""The standard deviations of the inputs."""

RUNS, DERIVED = 16, 1
"""At each scale both programs are run at so many inputs, and the bounds are derived at so many of them."""

SECONDS = 8.0
"""For all scales together."""

MOST_WORK = 2**31
"""Programs of more multiplications are not run, nor are loops that may end early: nothing stops a device, and a short
file can hold loops that take hours."""


@dataclass(frozen=True)
class AtScale:
    """What rounding does at inputs of one scale, in units in the last place of the output's largest entry.

    seen: how far both sides were seen apart, of the inputs at which both are finite; None if there are none.
    left, right: how far each may be from the exact value, or None where that is not derived.
    failed: of how many inputs a side, or both, is not finite, by side.
    """

    scale: float
    seen: float | None
    left: float | None
    right: float | None
    failed: tuple[int, int]
    run: int


def rounding_by_scale(certificate: Certificate) -> tuple[AtScale, ...]:
    """Rounding of two equal functions at normal inputs of several scales, run on the device of now.

    Args:
        certificate: of two functions; nothing is found for one that says nothing of rounding.

    Returns:
        What was found at each scale, in order; nothing where the programs cannot be run.

    Example:
        [at.seen for at in rounding_by_scale(uj.certify(f, g, spec))]
    """
    allowance = Allowance(SECONDS)
    try:
        with hostile(), allowance.spent():
            programs = certificate.claim["programs"]
            if certificate.rounding is None or not certificate.rounding.run or "missing" in programs[-1]:
                return ()
            left, right = (inlined(decode(programs[-1][side])) for side in ("left", "right"))
            device = OnDevice(left, right, stated_inputs(certificate.claim).domains, parse_bytes(MEMORY), allowance)
            if device.too_large or _work(device) > MOST_WORK:
                return ()
            return tuple(at for scale in SCALES if (at := _at(device, scale)) is not None)
    except UatJaxError:
        return ()


def _work(device: OnDevice) -> float:
    """How many multiplications one run of both programs takes; infinite where that is not known."""
    parts = (part for program in device.programs for part in programs_within(program))
    early = any(e.primitive.name == "while" for part in parts for e in part.eqns)
    return math.inf if early else sum(map(multiplications, device.programs))


def _at(device: OnDevice, scale: float) -> AtScale | None:
    """What was found at one scale; None if the time is up."""
    size = max(1, *map(largest_array, device.programs), sum(x.size for x in device.inputs))
    count = int(np.clip(min(WORK // size, MOST_WORK // max(1, _work(device))), 1, RUNS))
    random = np.random.default_rng(93)
    normal = [[random.standard_normal((1, *x.shape)) * scale for x in device.inputs] for _ in range(count)]
    points = [inside(device, point) for point in normal]
    if device.allowance.over:
        return None
    sides = [device.run(point) for point in points]
    finite = [[bool(np.isfinite(side).all()) for side in both] for both in sides]
    kept = [point for point, both in zip(points, finite, strict=True) if all(both)]
    failed = sum(not both[0] for both in finite), sum(not both[1] for both in finite)
    seen = [found.ulps for found in gaps(device, kept)]
    bounds = [bound(device, program, kept[:DERIVED])[0] for program in device.programs]
    left, right = (None if b is None or not math.isfinite(b.ulps) else b.ulps for b in bounds)
    return AtScale(scale, max(seen, default=None), left, right, failed, count)
