"""Float certification: both programs over a block of trials, and the whole comparison with the exact value.

A comparison runs the network and its closed form over blocks of trials that share the weights, so that every
matrix–vector product of one trial becomes a product of matrices. The kernels of a block are the two rows whose share
of the machine's own rate is aimed at. What else a comparison does is done by the host for one trial after the other:
the exact value in ball arithmetic, and for each program 64 evaluations in float64 with rounding noise. The third row is
the whole of it for a few trials, compilation included; it has no aim, since none of it is a kernel's time.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax
import numpy as np

from uat_jax.bench import residual
from uat_jax.bench.case import Case, Experiment, Program, Size, WrongAnswerError
from uat_jax.bench.products import products
from uat_jax.certify.floats import FloatComparison, compare_on
from uat_jax.certify.trial_figures import TwoPrograms
from uat_jax.certify.trials import given_trials
from uat_jax.claims.layers.kernels import Kernels
from uat_jax.devices import default_device
from uat_jax.networks import ResidualLayer

LEAST_SHARE = {"cpu": 0.6, "gpu": 0.5}
"""Of the device's own rate of matrix products, by platform."""
SAMPLES = 64


def build(depth: int, width: int, hidden: int, compared: int, dtype: str) -> Experiment:
    """The kernels of one block of trials (the network is the baseline); the comparison of the first few, if any."""
    kernels = Kernels("residual", depth, "relu")
    weights = residual.draw(depth, width, hidden, 1, dtype).weights
    layers = [ResidualLayer(*layer) for layer in zip(*weights.values(), strict=True)]
    size = _two(kernels, (layers, np.zeros((1, width), dtype))).block
    of = residual.draw(depth, width, hidden, size, dtype)
    inputs = np.asarray(of.inputs).T
    two = _two(kernels, (layers, inputs))
    rows, shared = two.trials.rows(np.arange(size)), two.trials.shared
    programs = {
        f"network, {size} trials": _program(two, two.f, rows, shared),
        f"closed form, {size} trials": _program(two, two.g, rows, shared),
    }
    least = LEAST_SHARE.get(default_device().platform)
    least_shares = dict.fromkeys(programs, least) if width >= LARGE and least else {}
    whole = f"comparison, {compared} trials"
    call = lambda: _compare(kernels, (layers, inputs[:compared]), dtype)
    if compared:
        programs[whole] = Program(call, (), compiled=False, trials=compared)
    allowed = residual.tolerance(hidden, of.inputs.dtype)

    def check(name: str, answer: Any) -> None:
        if name == whole:
            return _check_comparison(answer, compared)
        residual.compare(name, answer, of.exact.T, allowed)

    def wrong(answer: Any) -> Any:
        if isinstance(answer, FloatComparison):
            return replace(answer, agrees=False)
        return np.asarray(answer, np.float64) - of.last_bias.T

    return Experiment(programs, check, wrong, least_shares=least_shares)


LARGE = 512
"""The width from which on a share of the machine's rate is aimed at."""


def _two(kernels: Kernels, arguments: Any) -> TwoPrograms:
    trials = replace(given_trials(arguments, (None, 0), None), devices=[default_device()])
    return TwoPrograms(kernels.plain, kernels.closed, kernels.plain, trials, "highest", 0, SAMPLES)


def _program(two: TwoPrograms, program: Any, rows: list[np.ndarray], shared: list[np.ndarray]) -> Program:
    function = two.trials.on_devices(program)
    count = sum(product.operations for product in products(jax.make_jaxpr(function)(rows, shared)))
    return Program(function, (rows, shared), operations=count, trials=len(rows[0]))


def _compare(kernels: Kernels, arguments: Any, dtype: str) -> FloatComparison:
    return compare_on(kernels.plain, kernels.closed, arguments, (None, 0), dtype=dtype, samples=SAMPLES)


def _check_comparison(found: FloatComparison, trials: int) -> None:
    if not found.agrees or found.trials != trials or found.g.worst_ulp <= 0:
        raise WrongAnswerError(f"wanted {trials} trials that agree, got {found.trials}; agreed: {found.agrees}")


def _size(depth: int, width: int, compared: int = 0, dtype: str = "float32") -> Size:
    """F = D."""
    return {"depth": depth, "width": width, "hidden": width, "compared": compared, "dtype": dtype}


CASES = (
    Case(
        name="float-certification",
        question="How many trials a second does a float comparison run, and does it keep the machine's own rate?",
        build=build,
        quick=(_size(2, 8, 2),),
        standard=(_size(4, 64, 2), _size(4, 512)),
        full=(
            *(_size(4, width, 1) for width in (64, 128, 256, 512)),
            *(
                _size(4, width, dtype=dtype)
                for width, dtype in ((1024, "float32"), (2048, "float32"), (512, "float64"))
            ),
        ),
        axes=("width",),
        rounds=5,
    ),
)
