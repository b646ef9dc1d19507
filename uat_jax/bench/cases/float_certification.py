"""Float certification: both programs over a block of trials, and the whole comparison with the exact value.

A comparison runs the network and its closed form over blocks of trials that share the weights, so that every
matrix–vector product of one trial becomes a product of matrices. The kernels of a block are the two rows whose share
of the machine's own rate is aimed at. What else a comparison does is done by the host for one trial after the other:
the exact value in ball arithmetic, and for each program 64 evaluations in float64 with rounding noise. The third row is
the whole of it for a few trials, compilation included; it has no aim, since none of it is a kernel's time.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from uat_jax.bench import residual
from uat_jax.bench.blocks import draw, operations
from uat_jax.bench.case import Case, Experiment, Program, Size, WrongAnswerError
from uat_jax.decide.float_comparison import FloatComparison
from uat_jax.decide.floats import compare_on
from uat_jax.decide.trial_figures import TwoPrograms
from uat_jax.devices import default_device
from uat_jax.typing import PyTree

LEAST_SHARE = {"cpu": 0.6, "gpu": 0.5}
"""The least share of the device's own rate of matrix products, by platform."""
SAMPLES = 64


def build(depth: int, width: int, hidden: int, compared: int, dtype: str) -> Experiment:
    """The kernels of one block of trials (the network is the baseline); the comparison of the first few, if any."""
    of = draw(depth, width, hidden, 1, dtype, samples=SAMPLES)
    two, (layers, inputs), size = of.two, of.arguments, of.two.block
    programs = {
        f"network, {size} trials": _program(two, two.f),
        f"closed form, {size} trials": _program(two, two.g),
    }
    least = LEAST_SHARE.get(default_device().platform)
    least_shares = dict.fromkeys(programs, least) if width >= LARGE and least else {}
    whole = f"comparison, {compared} trials"
    call = lambda: _compare(two, (layers, inputs[:compared]), dtype)
    if compared:
        programs[whole] = Program(call, (), compiled=False, trials=compared)
    allowed = residual.tolerance(hidden, dtype)

    def check(name: str, answer: PyTree) -> None:
        if name == whole:
            return _check_comparison(answer, compared)
        residual.compare(name, answer, of.exact, allowed)

    def wrong(answer: PyTree) -> PyTree:
        if isinstance(answer, FloatComparison):
            return replace(answer, agrees=False)
        return np.asarray(answer, np.float64) - of.last_bias

    return Experiment(programs, check, wrong, least_shares=least_shares)


LARGE = 512
"""The width from which on a share of the machine's rate is aimed at."""


def _program(two: TwoPrograms, program: PyTree) -> Program:
    rows, shared = two.trials.rows(np.arange(two.block)), two.trials.shared
    count = operations(two, program)
    return Program(two.trials.on_devices(program), (rows, shared), operations=count, trials=two.block)


def _compare(two: TwoPrograms, arguments: PyTree, dtype: str) -> FloatComparison:
    return compare_on(two.f, two.g, arguments, (None, 0), dtype=dtype, samples=SAMPLES)


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
