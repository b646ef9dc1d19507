"""Float evidence: how far two programs for one function stray from its exact value, and how far they may.

Both programs run jitted on every device of a platform, over many trials. The exact value of each trial
comes from ball arithmetic. A tolerance is derived for every entry of every trial (`arithmetic.rounding`);
the two programs agree when both stay within their own.
"""

import contextlib
import hashlib
import os
from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.certificate import environment
from uat_jax.decide.float_comparison import FloatComparison
from uat_jax.decide.hosts import check_alike, process_count, process_index, shared
from uat_jax.decide.kept_trials import KeptTrials, from_line
from uat_jax.decide.side_error import side_error
from uat_jax.decide.trial_figures import NOISE, TwoPrograms
from uat_jax.decide.trials import Trials, drawn_trials, given_trials
from uat_jax.errors import InputError
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.numbers.floats.matmul_precision import unit_roundoff
from uat_jax.numbers.floats.rounding import tolerance_factor
from uat_jax.numbers.floats.sensitivity import visible_errors

DTYPES = ("float16", "bfloat16", "float32", "float64")
PRECISIONS = ("default", "high", "highest")
PRINTED_NUMBERS = 64
SIDES = ("f", "g", "reference")
DEVICE_COUNT = "xla_force_host_platform_device_count"
"""The flag of XLA that no number depends on."""

DERIVATION = (
    "tolerance = t · σ̂ for each output entry of each trial and side. σ̂ is the root mean square of {samples} "
    "float64 evaluations in which each rounding is an independent error ±(its bound), u = {roundoff:.3g}; "
    "t = {factor:.4g} = √(2 ln(2/p)) (Hoeffding: independent zero-mean bounded errors, first order) times an "
    "upper confidence factor for σ̂ (χ² with {samples} degrees of freedom, Wilson-Hilferty), "
    "p = {failure:.3g} shared by 2 events for each of {statements} entries."
)


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
    keep: str | os.PathLike[str] | None = None,
) -> FloatComparison:
    """Compare two programs at random arguments.

    f(arguments) and g(arguments) take one pytree and return one array of one shape and dtype; draw(key)
    makes the pytree of one trial, its floats of `dtype`. `precision` is the matmul precision where a
    program states none, `device` a platform ("cpu", "gpu", "tpu"; JAX's default if None), `reference` the
    function whose exact value is the truth (f if None). Finished trials are kept in the folder `keep`, and taken
    from there (`certify.kept_trials`). The result depends neither on the number of devices nor on that of processes:
    in a program of several (`jax.distributed`) all of them call this alike, and share the trials.

    Raises:
        InputError: an argument out of range, a draw of another dtype, NaN or infinity among the arguments.
        ShapeError: outputs of different shapes.
        FloatRangeError: an output that is not finite.
        MemoryLimitError: a block of trials that will not fit on the device.
        HostsError: processes that do not call this alike, or one that was lost.
        UnsupportedError: a primitive without a rule.
    """
    _check(dtype, precision, failure_probability, samples, seed)
    with _numerics(dtype, precision):
        batch = drawn_trials(draw, trials, seed, device)
        programs = TwoPrograms(f, g, reference or f, batch, precision, seed, samples)
        return _compare(programs, dtype, failure_probability, keep)


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
    keep: str | os.PathLike[str] | None = None,
) -> FloatComparison:
    """Compare two programs at given arguments, e.g. real weights and inputs.

    `arguments` is the pytree of all trials and `axes` a prefix of it, as in `jax.vmap`: 0 where the leading
    axis counts trials, None where all trials share the array. `seed` only steers the sampling of the
    tolerance. The rest is as in `compare`.
    """
    _check(dtype, precision, failure_probability, samples, seed)
    with _numerics(dtype, precision):
        batch = given_trials(arguments, axes, device)
        programs = TwoPrograms(f, g, reference or f, batch, precision, seed, samples)
        return _compare(programs, dtype, failure_probability, keep)


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
    programs: TwoPrograms, dtype: str, failure_probability: float, keep: str | os.PathLike[str] | None
) -> FloatComparison:
    batch, samples = programs.trials, programs.samples
    batch.check(dtype)
    statements = 2 * batch.count * programs.output.size
    factor = tolerance_factor(samples, statements, failure_probability)
    errors, deviations, ulp = _figures(programs, keep)
    tolerances = factor * deviations
    sides = [side_error(*side, ulp) for side in zip(errors, tolerances, strict=True)]
    both, random = tolerances[0][0] + tolerances[1][0], np.random.default_rng([programs.seed, NOISE])
    visible = visible_errors(programs.jaxprs[0], programs.first, both, random)
    worst = max(sides, key=lambda side: side.worst_ulp).worst_trial
    roundoff = unit_roundoff(jnp.dtype(dtype))
    return FloatComparison(
        agrees=not any(side.exceedances for side in sides),
        f=sides[0],
        g=sides[1],
        dtype=dtype,
        unit_roundoff=roundoff,
        matmul_precision=programs.precision,
        effective_precision=programs.precisions,
        platform=batch.devices[0].platform,
        device=batch.devices[0].device_kind,
        jax_version=jax.__version__,
        seed=programs.seed,
        trials=batch.count,
        block=programs.block,
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
        worst_input=_printed(batch, worst, programs.block),
    )


def _figures(programs: TwoPrograms, keep: str | os.PathLike[str] | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Of all trials, each process having done its share: errors and σ̂ (2, trials, entries), ULPs (trials, 1)."""
    count, process, processes = programs.trials.count, process_index(), process_count()
    stated = _stated(programs) if keep is not None or processes > 1 else {}
    check_alike({**stated, "trials": count})

    def work() -> str:
        kept = KeptTrials(keep, stated, process)
        programs.measure(kept, process, processes)
        return "".join(figures.to_line(trial, "") for trial, figures in kept.figures.items())

    lines = "".join(shared(work)).splitlines(keepends=True)
    found = {trial: figures for trial, _, figures in filter(None, map(from_line, lines))}
    every = [found[trial] for trial in range(count)]
    errors, deviations = (np.stack(x, axis=1) for x in zip(*((t.errors, t.deviations) for t in every), strict=True))
    return errors, deviations, np.array([[t.ulp] for t in every])


def _stated(programs: TwoPrograms) -> dict[str, Any]:
    """Everything that the figures of a trial depend on, but for the trial's own number and arguments."""
    device = programs.trials.devices[0]
    return {
        **{side: _program(programs, side, p) for side, p in zip(SIDES, programs.jaxprs, strict=True)},
        **{"arguments": _described(programs.trials), "block": programs.block},
        **{"seed": programs.seed, "samples": programs.samples, "matmul_precision": programs.precision},
        **{"platform": device.platform, "device": device.device_kind, "versions": environment()},
        "XLA_FLAGS": sorted(flag for flag in os.environ.get("XLA_FLAGS", "").split() if DEVICE_COUNT not in flag),
    }


def _program(programs: TwoPrograms, side: str, jaxpr: ClosedJaxpr) -> str:
    """SHA-256 of a program as data, and of what XLA is given, which tells barriers and the accuracy asked for too."""
    text = jax.jit(getattr(programs, side)).lower(programs.trials.structure).as_text()
    return hashlib.sha256((digest(encode(jaxpr)) + text).encode()).hexdigest()


def _finite(value: Any) -> float | None:
    return float(value) if np.isfinite(value) else None


def _described(batch: Trials) -> dict[str, str]:
    paths = jax.tree_util.tree_leaves_with_path(batch.structure)
    shared = lambda i: "" if i in batch.batched else ", shared"
    return {
        jax.tree_util.keystr(path) or "x": f"{leaf.dtype}{list(leaf.shape)}{shared(i)}"
        for i, (path, leaf) in enumerate(paths)
    }


def _printed(batch: Trials, trial: int, block: int) -> dict[str, Any] | None:
    """The arguments of a trial as nested lists by path, where they are few."""
    if sum(leaf.size for leaf in jax.tree.leaves(batch.structure)) > PRINTED_NUMBERS:
        return None
    leaves = jax.tree_util.tree_leaves_with_path(batch.arguments(batch.trial_leaves(trial, block)))
    return {jax.tree_util.keystr(path) or "x": np.asarray(leaf, np.float64).tolist() for path, leaf in leaves}
