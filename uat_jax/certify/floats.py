"""Float evidence: how far two programs for one function stray from its exact value, and how far they may.

Both programs run jitted on every device of a platform, over many trials. The exact value of each trial
comes from ball arithmetic. A tolerance is derived for every entry of every trial (`arithmetic.rounding`);
the two programs agree when both stay within their own.
"""

import contextlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.balls import Balls, enclose
from uat_jax.arithmetic.matmul_precision import DotPrecisions, unit_roundoff
from uat_jax.arithmetic.rounding import standard_deviation, tolerance_factor
from uat_jax.arithmetic.sensitivity import visible_errors
from uat_jax.arithmetic.tracing import single_output
from uat_jax.certify.side_error import SideError, distances, side_error, ulps
from uat_jax.certify.trials import Trials, drawn_trials, given_trials
from uat_jax.errors import FloatRangeError, InputError, ShapeError

DTYPES = ("float16", "bfloat16", "float32", "float64")
PRECISIONS = ("default", "high", "highest")
PRINTED_NUMBERS = 64
NOISE = 2**31 - 1
"""Next to seed and trial, the entropy of the trial's rounding noise."""

DERIVATION = (
    "tolerance = t · σ̂ for each output entry of each trial and side. σ̂ is the root mean square of {samples} "
    "float64 evaluations in which each rounding is an independent error ±(its bound), u = {roundoff:.3g}; "
    "t = {factor:.4g} = √(2 ln(2/p)) (Hoeffding: independent zero-mean bounded errors, first order) times an "
    "upper confidence factor for σ̂ (χ² with {samples} degrees of freedom, Wilson-Hilferty), "
    "p = {failure:.3g} shared by 2 events for each of {statements} entries."
)


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
    samples: int
    failure_probability: float
    derivation: str
    smallest_visible: float | None
    median_visible: float | None
    arguments: dict[str, str]
    worst_input: dict[str, Any] | None


def compare(
    f: Callable,
    g: Callable,
    draw: Callable[[jax.Array], Any],
    *,
    dtype: str,
    trials: int,
    seed: int,
    precision: str = "highest",
    device: str | None = None,
    failure_probability: float = 1e-9,
    samples: int = 64,
    reference: Callable | None = None,
) -> FloatComparison:
    """Compare two programs at random arguments.

    f(arguments) and g(arguments) take one pytree and return one array of one shape and dtype; draw(key)
    makes the pytree of one trial, its floats of `dtype`. `precision` is the matmul precision where a
    program states none, `device` a platform ("cpu", "gpu", "tpu"; JAX's default if None), `reference` the
    function whose exact value is the truth (f if None). The result does not depend on the number of
    devices.

    Raises:
        InputError: an argument out of range, a draw of another dtype, NaN or infinity among the arguments.
        ShapeError: outputs of different shapes.
        FloatRangeError: an output that is not finite.
        UnsupportedError: a primitive without a rule.
    """
    _check(dtype, precision, failure_probability, samples, seed)
    with _numerics(dtype, precision):
        batch = drawn_trials(draw, trials, seed, device)
        return _compare(f, g, reference or f, batch, dtype, precision, seed, failure_probability, samples)


def compare_on(
    f: Callable,
    g: Callable,
    arguments: Any,
    axes: Any = 0,
    *,
    dtype: str,
    seed: int = 0,
    precision: str = "highest",
    device: str | None = None,
    failure_probability: float = 1e-9,
    samples: int = 64,
    reference: Callable | None = None,
) -> FloatComparison:
    """Compare two programs at given arguments, e.g. real weights and inputs.

    `arguments` is the pytree of all trials and `axes` a prefix of it, as in `jax.vmap`: 0 where the leading
    axis counts trials, None where all trials share the array. `seed` only steers the sampling of the
    tolerance. The rest is as in `compare`.
    """
    _check(dtype, precision, failure_probability, samples, seed)
    with _numerics(dtype, precision):
        batch = given_trials(arguments, axes, device)
        return _compare(f, g, reference or f, batch, dtype, precision, seed, failure_probability, samples)


def _check(dtype: str, precision: str, failure_probability: float, samples: int, seed: int) -> None:
    if dtype not in DTYPES:
        raise InputError(f"got dtype {dtype!r}; choose one of {', '.join(DTYPES)}")
    if precision not in PRECISIONS:
        raise InputError(f"got matmul precision {precision!r}; choose one of {', '.join(PRECISIONS)}")
    if not 0 < failure_probability < 1:
        raise InputError(f"got failure probability {failure_probability}; choose one between 0 and 1")
    if samples < 1:
        raise InputError(f"got {samples} samples; ask for at least 1")
    if not 0 <= seed < 2**31:
        raise InputError(f"got seed {seed}; choose one from 0 to 2^31 - 1")


@contextlib.contextmanager
def _numerics(dtype: str, precision: str) -> Iterator[None]:
    with jax.enable_x64(dtype == "float64"), jax.default_matmul_precision(precision):
        yield


def _compare(
    f: Callable,
    g: Callable,
    reference: Callable,
    batch: Trials,
    dtype: str,
    precision: str,
    seed: int,
    failure_probability: float,
    samples: int,
) -> FloatComparison:
    batch.check(dtype)
    jaxpr_f, jaxpr_g, jaxpr_reference = (jax.make_jaxpr(p)(batch.structure()) for p in (f, g, reference))
    output = _common_output(jaxpr_f, jaxpr_g, jaxpr_reference)
    statements = 2 * batch.count * output.size
    factor = tolerance_factor(samples, statements, failure_probability)
    outputs = [_outputs(program, batch) for program in (f, g)]
    truth = _truth(jaxpr_reference, batch)
    ulp = ulps(truth, output.dtype)
    dots = DotPrecisions(batch.devices[0], precision)
    tolerances = [factor * _deviations(jaxpr, batch, dots, seed, samples) for jaxpr in (jaxpr_f, jaxpr_g)]
    sides = [side_error(distances(y, truth), t, ulp) for y, t in zip(outputs, tolerances, strict=True)]
    both, random = tolerances[0][0] + tolerances[1][0], np.random.default_rng([seed, NOISE])
    visible = visible_errors(jaxpr_f, batch.trial_leaves(0), both, random)
    roundoff = unit_roundoff(jnp.dtype(dtype))
    return FloatComparison(
        agrees=not any(side.exceedances for side in sides),
        f=sides[0],
        g=sides[1],
        dtype=dtype,
        unit_roundoff=roundoff,
        matmul_precision=precision,
        effective_precision=dots.met,
        platform=batch.devices[0].platform,
        device=batch.devices[0].device_kind,
        jax_version=jax.__version__,
        seed=seed,
        trials=batch.count,
        samples=samples,
        failure_probability=failure_probability,
        derivation=DERIVATION.format(
            samples=samples,
            roundoff=roundoff,
            factor=factor,
            failure=failure_probability,
            statements=statements,
        ),
        smallest_visible=_finite(np.min(visible)),
        median_visible=_finite(np.median(visible)),
        arguments=_described(batch),
        worst_input=_printed(batch.trial(max(sides, key=lambda side: side.worst_ulp).worst_trial)),
    )


def _common_output(*programs: ClosedJaxpr) -> Any:
    """The abstract output that f, g and the reference share."""
    first, *others = [single_output(program) for program in programs]
    for other in others:
        if other.shape != first.shape:
            raise ShapeError(f"f returns {first.str_short()} and the other side {other.str_short()}; want one shape")
        if other.dtype != first.dtype:
            raise InputError(f"f returns {first.str_short()} and the other side {other.str_short()}; want one dtype")
    return first


def _truth(program: ClosedJaxpr, batch: Trials) -> np.ndarray:
    """The exact output of every trial: balls (trials, entries)."""
    bits = 64 + int(-np.log2(unit_roundoff(program.out_avals[0].dtype)))
    balls = Balls()
    shared = {i: balls.number(x) for i, x in enumerate(batch.leaves) if i not in batch.batched and _is_float(x)}
    rows = []
    for trial in range(batch.count):
        leaves = batch.trial_leaves(trial)
        values = [shared[i] if i in shared else balls.number(x) if _is_float(x) else x for i, x in enumerate(leaves)]
        rows.append(enclose(program, values, bits=bits)[0].ravel())
    return np.stack(rows)


def _is_float(array: Any) -> bool:
    return jnp.issubdtype(array.dtype, jnp.floating)


def _outputs(program: Callable, batch: Trials) -> np.ndarray:
    """The program's outputs on the device: float64 (trials, entries)."""
    raw = batch.run(program).reshape(batch.count, -1)
    outputs = raw.astype(np.float64)
    bad = ~np.isfinite(outputs)
    if bad.any():
        trial = int(bad.any(axis=1).argmax())
        raise FloatRangeError(
            f"trial {trial} gives {outputs[trial][bad[trial]][0]} in {raw.dtype} from finite arguments; "
            "scale the arguments or take a wider dtype"
        )
    return outputs


def _deviations(jaxpr: ClosedJaxpr, batch: Trials, dots: DotPrecisions, seed: int, samples: int) -> np.ndarray:
    """σ̂ of every entry of every trial: float64 (trials, entries)."""

    rows = []
    for trial in range(batch.count):
        random = np.random.default_rng([seed, trial, NOISE])
        found = standard_deviation(jaxpr, batch.trial_leaves(trial), random, samples=samples, dot_precision=dots)
        rows.append(found.ravel())
    deviations = np.stack(rows)
    if not np.isfinite(deviations).all():
        raise FloatRangeError("the rounding noise is not finite: the arguments are too near a singularity; move them")
    return deviations


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _described(batch: Trials) -> dict[str, str]:
    paths = jax.tree_util.tree_leaves_with_path(batch.structure())
    shared = lambda i: "" if i in batch.batched else ", shared"
    return {
        jax.tree_util.keystr(path) or "x": f"{leaf.dtype}{list(leaf.shape)}{shared(i)}"
        for i, (path, leaf) in enumerate(paths)
    }


def _printed(arguments: Any) -> dict[str, Any] | None:
    """The arguments as nested lists by path, where they are few."""
    leaves = jax.tree_util.tree_leaves_with_path(arguments)
    if sum(leaf.size for _, leaf in leaves) > PRINTED_NUMBERS:
        return None
    return {jax.tree_util.keystr(path) or "x": np.asarray(leaf, np.float64).tolist() for path, leaf in leaves}
