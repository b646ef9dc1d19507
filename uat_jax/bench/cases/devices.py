"""The kernel of a comparison over a given number of trials, on one device and on several.

A block of trials goes to each device at a time, so that n devices run the same blocks in an n-th of the steps. Every
number of devices must give the same bits. A CPU is as many devices as ``XLA_FLAGS`` says
(``--xla_force_host_platform_device_count=8``); they share its cores, and show what sharing out costs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import numpy as np

from uat_jax.bench import residual
from uat_jax.bench.blocks import draw, operations
from uat_jax.bench.case import Case, Experiment, Program, Size, WrongAnswerError
from uat_jax.decide.trial_figures import TwoPrograms
from uat_jax.decide.trials import Trials
from uat_jax.devices import default_device, local_devices


def build(depth: int, width: int, hidden: int, blocks: int, dtype: str) -> Experiment:
    """The closed form for so many blocks of trials: on one device (the baseline), 2, 4 … and all of this process."""
    devices = local_devices(default_device().platform)
    of = draw(depth, width, hidden, blocks, dtype, samples=1)
    two = of.two
    outputs = {count: _outputs(replace(two.trials, devices=devices[:count]), two) for count in counts(len(devices))}
    alone = outputs[1]()
    work = blocks * operations(two, two.g)
    programs = {
        f"{count} device{'s' if count > 1 else ''}": Program(
            call, (), compiled=False, operations=work, trials=two.trials.count
        )
        for count, call in outputs.items()
    }
    allowed = residual.tolerance(hidden, dtype)

    def check(name: str, answer: np.ndarray) -> None:
        residual.compare(name, answer, of.exact, allowed)
        if not np.array_equal(answer, alone):
            raise WrongAnswerError(f"{name}: other bits than on one device")

    return Experiment(programs, check, wrong=one_bit_off)


def _outputs(trials: Trials, two: TwoPrograms) -> Callable[[], np.ndarray]:
    """() → the closed form of every trial, in order; compiled here."""
    kernel = trials.kernel(two.g, two.block)

    def rows() -> Iterator[np.ndarray]:
        for numbers in trials.blocks(two.block, range(-(-trials.count // two.block))):
            yield kernel(trials.rows(numbers))

    return lambda: np.concatenate(list(rows()))[: trials.count]


def counts(most: int) -> list[int]:
    """1, 2, 4 … and the number itself."""
    return sorted({1 << k for k in range(most.bit_length())} | {most})


def one_bit_off(answer: np.ndarray) -> np.ndarray:
    """The answer with the last bit of its last number changed."""
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
