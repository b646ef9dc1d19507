"""The float error of one program, in ULP of the output's scale and beside its tolerance.

An entry's own ULP shrinks to nothing where the function crosses zero, although nothing is wrong there; the
ULP used is the spacing of floats at the largest |entry| of the trial's exact output.
"""

from dataclasses import dataclass

import jax.numpy as jnp
import numpy as np
from flint import arb


@dataclass(frozen=True)
class SideError:
    """The float error of one program against the exact value.

    Attributes:
        worst_ulp, median_ulp: over the trials, of a trial's largest error, in ULP of the output's scale.
        worst_trial: index of the trial with the largest error. tolerance_ulp: median over all entries of
        the tolerance, in the same ULP. exceedances: entries whose error exceeds their tolerance. tightest,
        median, loosest: over the trials, of tolerance / error at the trial's most critical entry (below 1
            is an exceedance); None where no trial errs at all.
    """

    worst_ulp: float
    median_ulp: float
    worst_trial: int
    tolerance_ulp: float
    exceedances: int
    tightest: float | None
    median: float | None
    loosest: float | None


def distances(outputs: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """|output - exact|, rounded up: float64 (trials, entries)."""
    distance = np.frompyfunc(lambda y, exact: float(abs(arb(y) - exact).upper()), 2, 1)
    return np.asarray(distance(outputs, truth), np.float64)


def ulps(truth: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The spacing of floats of `dtype` at the largest |entry| of each trial's exact output: (trials, 1)."""
    limits = jnp.finfo(dtype)
    scales = np.array([max(abs(float(x.mid())) for x in row) for row in truth])
    exponents = np.frexp(np.maximum(scales, float(limits.smallest_normal)))[1] - 1
    return np.ldexp(float(limits.eps), exponents)[:, None]


def side_error(errors: np.ndarray, tolerances: np.ndarray, ulp: np.ndarray) -> SideError:
    """Summary of one side's errors and tolerances, both (trials, entries)."""
    worst = (errors / ulp).max(axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        ratios = np.where(errors > 0, errors / tolerances, 0.0).max(axis=1)
    used = ratios[ratios > 0]
    return SideError(
        worst_ulp=float(worst.max()),
        median_ulp=float(np.median(worst)),
        worst_trial=int(worst.argmax()),
        tolerance_ulp=float(np.median(tolerances / ulp)),
        exceedances=int((errors > tolerances).sum()),
        tightest=float(1 / used.max()) if used.size else None,
        median=float(1 / np.median(used)) if used.size else None,
        loosest=float(1 / used.min()) if used.size else None,
    )
