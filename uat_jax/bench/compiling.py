"""For how long this process traces and compiles while something runs, as JAX itself tells."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from typing import NamedTuple

import jax


class Compiling(NamedTuple):
    """Seconds of each stage; a program traced within another counts in both."""

    trace: float
    compile: float


_STAGES: dict[str, str] = {
    "/jax/core/compile/jaxpr_trace_duration": "trace",
    "/jax/core/compile/jaxpr_to_mlir_module_duration": "trace",
    "/jax/core/compile/backend_compile_duration": "compile",
}
_taken: dict[str, float] = {"trace": 0.0, "compile": 0.0}


def _keep(event: str, duration_secs: float, **_: str | int) -> None:
    if event in _STAGES:
        _taken[_STAGES[event]] += duration_secs


jax.monitoring.register_event_duration_secs_listener(_keep)


@contextlib.contextmanager
def compiling() -> Iterator[Callable[[], Compiling]]:
    """Within, and behind: what is yielded tells what tracing and compiling has taken since."""
    before = dict(_taken)
    yield lambda: Compiling(*(_taken[stage] - before[stage] for stage in ("trace", "compile")))
