"""Run one case at one size: check every answer, then time all programs in turn.

A compiled program is traced, lowered and compiled once, apart from the clock, and the executable itself is called: it
cannot be traced again. A round runs every program once, so that a slow spell of the machine meets them all, in an order
of its own, so that none always finds the caches as the same neighbour leaves them; ratios and shares are taken within a
round. Programs that take less than a hundredth of a second are repeated within it.
"""

from __future__ import annotations

import contextlib
import gc
import math
import os
import random
import statistics
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax

from uat_jax.bench.case import Case, Experiment, Program, Size, WrongAnswerError
from uat_jax.bench.compiling import compiling
from uat_jax.bench.rates import COPIES, PRODUCTS, yardsticks
from uat_jax.bench.resident import resident_peak
from uat_jax.decide.memory import check_bytes, needed_bytes
from uat_jax.devices import default_device
from uat_jax.typing import JsonObject

LEAST_SECONDS = 1e-2
"""A program is repeated within a round until about so much time has passed: the first call finds the caches cold."""


@dataclass(frozen=True)
class Row:
    """One program at one size; plain numbers and strings after `dataclasses.asdict`.

    Attributes:
        case, size, program: what was run; `baseline` is the program that ratios refer to.
        rounds, repeats: how often, and how often within a round.
        seconds, low, high: of one call: median and quartiles.
        ratio, ratio_low, ratio_high: to the baseline of the same round: median and quartiles.
        processor, processor_ratio: seconds of the processor that one call of a program of the host takes, here and in
            the processes it starts, and how often the baseline's: other work on the machine does not count; medians.
        trace, compile: seconds of tracing and lowering, and of compiling; of a program of the host those of its first
            call, None where it compiles nothing.
        compile_ratio: `compile` over the baseline's.
        operations, bytes: of one call, the former as counted, the latter those of arguments and output, which are read
            or written once at least; their rates are these over `seconds`.
        trials: that one call does; None where it is not about trials.
        share_of_products, share_of_copies: those rates over the device's own, measured in the same rounds.
        memory: bytes of arguments, output and temporaries; of a program of the host, of the growth of the process.
        limit, compile_limit, least_share: what is aimed at; `met` says whether it was.
    """

    case: str
    size: JsonObject
    program: str
    baseline: str
    rounds: int
    repeats: int
    seconds: float
    low: float
    high: float
    ratio: float
    ratio_low: float
    ratio_high: float
    trace: float | None
    compile: float | None
    compile_ratio: float | None
    operations: float | None
    bytes: float | None
    trials: int | None
    share_of_products: float | None
    share_of_copies: float | None
    memory: float | None
    limit: float | None
    compile_limit: float | None
    least_share: float | None
    processor: float | None = None
    processor_ratio: float | None = None

    @property
    def met(self) -> bool | None:
        """Whether all that is aimed at was reached; None where nothing is."""
        reached = [
            found <= aim
            for found, aim in ((self.ratio, self.limit), (self.compile_ratio, self.compile_limit))
            if aim is not None and found is not None
        ]
        if self.least_share is not None and self.share_of_products is not None:
            reached.append(self.share_of_products >= self.least_share)
        return all(reached) if reached else None


@dataclass
class _Ready:
    """A program that can be called: `call()` returns when its answer is there."""

    program: Program
    call: Callable[[], Any]
    trace: float | None = None
    compile: float | None = None
    bytes: float | None = None
    memory: float | None = None
    checked: float = 0.0
    """Seconds of the call whose answer was checked."""
    repeats: int = 1
    processor: list[float] = field(default_factory=list)
    """Of every call of a program of the host that was timed."""


def measure(case: Case, size: Size, *, rounds: int, quick: bool = False) -> list[Row]:
    """The rows of one size.

    Raises:
        WrongAnswerError: a program's answer is wrong, or the check accepts a wrong one.
        UnavailableError: the case cannot run here.
        MemoryLimitError: a program needs more memory than is free.
    """
    dtype = str(size.get("dtype", "float32"))
    with jax.enable_x64(dtype == "float64"):
        experiment = case.build(**size)
        ready = {name: _made_ready(program) for name, program in experiment.programs.items()}
        _check(case, size, experiment, ready)
        if any(program.compiled for program in experiment.programs.values()):
            platform = default_device().platform
            ready |= {name: _made_ready(p) for name, p in yardsticks(platform, dtype, quick).items()}
        taken = _rounds(ready, rounds)
    return [_row(case, size, experiment, name, ready, taken) for name in experiment.programs]


def _made_ready(program: Program) -> _Ready:
    """Trace, lower and compile, or take a function of the host as it is."""
    if not program.compiled:
        return _Ready(program, lambda: program.function(*program.arguments))
    arguments = jax.block_until_ready(jax.device_put(program.arguments))
    start = time.perf_counter()
    fresh = lambda *values: program.function(*values)  # a function of its own: nothing is found in a cache
    lowered = jax.jit(fresh).lower(*arguments)
    middle = time.perf_counter()
    compiled = lowered.compile()
    end = time.perf_counter()
    call = lambda: jax.block_until_ready(compiled(*arguments))
    check_bytes(needed_bytes(compiled, arguments=False), default_device(), "one call of the program")
    stats = compiled.memory_analysis()
    moved = None if stats is None else stats.argument_size_in_bytes + stats.output_size_in_bytes
    return _Ready(program, call, middle - start, end - middle, moved, needed_bytes(compiled) or None)


def _check(case: Case, size: Size, experiment: Experiment, ready: Mapping[str, _Ready]) -> None:
    """Every answer is right, and a wrong one of each program is refused."""
    for name, program in ready.items():
        answer = _first_answer(program)
        experiment.check(name, answer)
        try:
            experiment.check(name, experiment.wrong(answer))
        except WrongAnswerError:
            continue
        raise WrongAnswerError(f"{case.name}, {dict(size)}: the check of {name!r} accepts a wrong answer")


def _first_answer(program: _Ready) -> jax.Array:
    """How long it takes is kept and, of a program of the host, by how much the memory grows."""
    watched = contextlib.nullcontext(None) if program.program.compiled else resident_peak()
    with watched as peak, compiling() as stages:
        start, before = time.perf_counter(), _processor_seconds()
        answer = program.call()
        program.checked = time.perf_counter() - start
        program.processor = [_processor_seconds() - before]
        program.memory = peak() if peak else program.memory
        if program.program.compiles:
            program.trace, program.compile = stages()
    return answer


def _rounds(ready: Mapping[str, _Ready], rounds: int) -> dict[str, list[float]]:
    """The seconds of one call, for every program and round.

    Where there is one round and all programs run on the host, they are the seconds that the check before has taken.
    """
    if rounds == 1 and not any(program.program.compiled for program in ready.values()):
        return {name: [program.checked] for name, program in ready.items()}
    taken: dict[str, list[float]] = {name: [] for name in ready}
    for program in ready.values():
        if program.program.compiled:  # those of the host take longer than that
            program.repeats = max(1, math.ceil(LEAST_SECONDS / max(min(_timed(program) for _ in range(3)), 1e-7)))
    with _no_collection():
        for program in ready.values():
            program.processor = []  # what was timed before found the caches cold
        for number in range(rounds):
            for name in random.Random(number).sample(list(ready), len(ready)):
                taken[name].append(_timed(ready[name]) / ready[name].repeats)
    return taken


def _timed(program: _Ready) -> float:
    start, before = time.perf_counter(), _processor_seconds()
    for _ in range(program.repeats):
        program.call()
    program.processor.append((_processor_seconds() - before) / program.repeats)
    return time.perf_counter() - start


def _processor_seconds() -> float:
    """What this process and those of its children that have ended have taken so far."""
    times = os.times()  # in hundredths, which is little of what a process takes
    return time.process_time() + times.children_user + times.children_system


@contextlib.contextmanager
def _no_collection() -> Iterator[None]:
    """Python's garbage collector waits: it would meet some programs and not others."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def _row(
    case: Case,
    size: Size,
    experiment: Experiment,
    name: str,
    ready: Mapping[str, _Ready],
    taken: Mapping[str, Sequence[float]],
) -> Row:
    baseline, own = next(iter(experiment.programs)), ready[name]
    median, low, high = _quartiles(taken[name])
    ratio, ratio_low, ratio_high = _quartiles([t / b for t, b in zip(taken[name], taken[baseline], strict=True)])
    program = own.program
    processor = None if program.compiled else statistics.median(own.processor)
    compared = processor is not None and not ready[baseline].program.compiled
    return Row(
        case=case.name,
        size=dict(size),
        program=name,
        baseline=baseline,
        rounds=len(taken[name]),
        repeats=own.repeats,
        seconds=median,
        low=low,
        high=high,
        ratio=ratio,
        ratio_low=ratio_low,
        ratio_high=ratio_high,
        trace=own.trace,
        compile=own.compile,
        compile_ratio=_quotient(own.compile, ready[baseline].compile),
        operations=program.operations,
        bytes=own.bytes,
        trials=program.trials,
        share_of_products=_share(lambda ready: ready.program.operations, PRODUCTS, name, ready, taken),
        share_of_copies=_share(lambda ready: ready.bytes, COPIES, name, ready, taken),
        memory=own.memory,
        limit=experiment.limits.get(name),
        compile_limit=experiment.compile_limits.get(name),
        least_share=experiment.least_shares.get(name),
        processor=processor,
        processor_ratio=_quotient(processor, statistics.median(ready[baseline].processor)) if compared else None,
    )


def _share(
    amount: Callable[[_Ready], float | None],
    yardstick: str,
    name: str,
    ready: Mapping[str, _Ready],
    taken: Mapping[str, Sequence[float]],
) -> float | None:
    """The program's rate over the yardstick's, median over the rounds."""
    own, limit = amount(ready[name]), amount(ready[yardstick]) if yardstick in ready else None
    if own is None or limit is None:
        return None
    pairs = zip(taken[name], taken[yardstick], strict=True)
    return statistics.median(own / seconds / (limit / other) for seconds, other in pairs)


def _quotient(a: float | None, b: float | None) -> float | None:
    return a / b if a is not None and b else None


def _quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Median, lower and upper quartile."""
    if len(values) < 2:
        return values[0], values[0], values[0]
    low, median, high = statistics.quantiles(values, n=4, method="inclusive")
    return median, low, high
