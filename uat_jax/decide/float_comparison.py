"""What floats say of a pair of programs."""

from dataclasses import dataclass
from typing import Any

from uat_jax.decide.side_error import SideError


@dataclass(frozen=True)
class FloatComparison:
    """What the floats say of a pair of programs; plain numbers and strings after `dataclasses.asdict`.

    Attributes:
        agrees: every entry of every trial within the tolerance on both sides.
        f, g: the error of each side.
        dtype, unit_roundoff, matmul_precision: as asked for; u of the dtype.
        effective_precision: measured for each kind of dot product: operand and accumulation roundoff.
        platform, device: "cpu" and the device's kind.
        seed, trials, samples, failure_probability: trial i is drawn from fold_in(key(seed), i).
        block: trials that one call of the compiled kernels runs on a device.
        derivation: the tolerance in words and numbers.
        smallest_visible, median_visible: the relative error of one single coefficient (an entry of a float
            argument, perturbed on one side) that would have exceeded the tolerances of both sides together,
            to first order at trial 0: the most visible coefficient and the median one (of at most 512 drawn at
            random). None if nothing is visible.
        arguments: dtype and shape of every array of one trial, by path; a trailing "shared" where all trials share it.
        worst_input: the arguments of the trial with the largest error, where they are at most 64 numbers.
    """

    agrees: bool
    f: SideError
    g: SideError
    dtype: str
    unit_roundoff: float
    matmul_precision: str
    effective_precision: dict[str, dict[str, float]]
    platform: str
    device: str
    jax_version: str
    seed: int
    trials: int
    block: int
    samples: int
    failure_probability: float
    derivation: str
    smallest_visible: float | None
    median_visible: float | None
    arguments: dict[str, str]
    worst_input: dict[str, Any] | None
