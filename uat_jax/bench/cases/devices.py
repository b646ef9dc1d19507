"""The kernel of a comparison over a given number of trials, on one device and on several.

A block of trials goes to each device at a time, so that n devices run the same blocks in an n-th of the steps. Every
number of devices must give the same bits. A CPU is as many devices as ``XLA_FLAGS`` says
(``--xla_force_host_platform_device_count=8``); they share its cores, and show what sharing out costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import numpy as np

from uat_jax.bench import residual
from uat_jax.bench.case import Case, Experiment, Program, Size, WrongAnswerError
from uat_jax.bench.products import products
from uat_jax.certify.trial_figures import TwoPrograms
from uat_jax.certify.trials import Trials, given_trials
from uat_jax.claims.layers.kernels import Kernels
from uat_jax.devices import default_device, local_devices
from uat_jax.networks import ResidualLayer


def build(depth: int, width: int, hidden: int, blocks: int, dtype: str) -> Experiment:
    """The closed form for so many blocks of trials: on one device (the baseline), 2, 4 … and all of this process."""
    devices = local_devices(default_device().platform)
    kernels = Kernels("residual", depth, "relu")
    drawn = residual.draw(depth, width, hidden, 1, dtype)
    layers = [ResidualLayer(*layer) for layer in zip(*drawn.weights.values(), strict=True)]
    block = _two(kernels, layers, np.zeros((1, width), dtype)).block
    of = residual.draw(depth, width, hidden, block * blocks, dtype)
    two = _two(kernels, layers, np.asarray(of.inputs).T)
    on = lambda count: _outputs(replace(two.trials, devices=devices[:count]), two.g, block)
    alone, operations = on(1)(), blocks * _operations(two)
    programs = {
        f"{count} device{'s' if count > 1 else ''}": Program(
            on(count), (), compiled=False, operations=operations, trials=block * blocks
        )
        for count in counts(len(devices))
    }
    allowed = residual.tolerance(hidden, dtype)

    def check(name: str, answer: np.ndarray) -> None:
        residual.compare(name, answer, of.exact.T, allowed)
        if not np.array_equal(answer, alone):
            raise WrongAnswerError(f"{name}: other bits than on one device")

    return Experiment(programs, check, wrong=one_bit_off)


def _two(kernels: Kernels, layers: list[ResidualLayer], inputs: np.ndarray) -> TwoPrograms:
    trials = given_trials((layers, inputs), (None, 0), default_device().platform)
    return TwoPrograms(kernels.plain, kernels.closed, kernels.plain, trials, "highest", 0, samples=1)


def _outputs(trials: Trials, program: Callable[[Any], jax.Array], block: int) -> Callable[[], np.ndarray]:
    """() → the program's output for every trial, in order; compiled here."""
    kernel = trials.kernel(program, block)

    def rows() -> Iterator[np.ndarray]:
        for numbers in trials.blocks(block, range(-(-trials.count // block))):
            yield kernel(trials.rows(numbers))

    return lambda: np.concatenate(list(rows()))[: trials.count]


def _operations(two: TwoPrograms) -> float:
    """Of one block; what is merged is merged for each."""
    trials = replace(two.trials, devices=two.trials.devices[:1])
    rows = trials.rows(np.arange(two.block))
    return float(sum(p.operations for p in products(jax.make_jaxpr(trials.on_devices(two.g))(rows, trials.shared))))


def counts(most: int) -> list[int]:
    """1, 2, 4 … and the number itself."""
    return sorted({1 << k for k in range(most.bit_length())} | {most})


def one_bit_off(answer: np.ndarray) -> np.ndarray:
    """The same but for the last bit of the last number."""
    wrong = answer.copy()
    wrong.flat[-1] = np.nextafter(wrong.flat[-1], wrong.dtype.type(np.inf))
    return wrong


def _size(depth: int, width: int, blocks: int, dtype: str = "float32") -> Size:
    """F = D."""
    return {"depth": depth, "width": width, "hidden": width, "blocks": blocks, "dtype": dtype}


CASES = (
    Case(
        name="devices",
        question="What do several devices gain for the trials of a comparison?",
        build=build,
        quick=(_size(2, 8, 2),),
        standard=(_size(4, 64, 16), _size(4, 512, 16)),
        full=(*(_size(4, width, 16) for width in (64, 256, 512)), _size(4, 512, 32)),
        rounds=5,
        compiled=False,
    ),
)
