"""Kernels compiled for accelerators that are not there, in a process of their own.

The compilers read environment variables when JAX is imported, write to the terminal, and may take their process with
them: the kernel that was being compiled has then failed, and the others go on in a new process.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from typing import IO, Any

from uat_jax.bench.compiled import AheadOfTime, compile_kernel
from uat_jax.bench.kernel import Kernel
from uat_jax.bench.kernels import chosen
from uat_jax.bench.topologies import topology

LIMIT = 600.0
"""Seconds that the compiler has for one kernel."""

ENVIRONMENT = {
    "JAX_PLATFORMS": "cpu",  # the host; the topology says what is compiled for
    "JAX_ENABLE_COMPILATION_CACHE": "false",  # compiling is timed
    "TPU_SKIP_MDS_QUERY": "1",  # or libtpu asks Google's cloud which machine this is
    "ALLOW_MULTIPLE_LIBTPU_LOAD": "1",  # no TPU is opened, so nobody is in the way
}


def compile_for(
    name: str, names: Sequence[str] = (), *, progress: Callable[[AheadOfTime], Any] = lambda row: None
) -> list[AheadOfTime]:
    """The kernels of these names, or all, compiled for the topology called `name`, one after the other.

    A kernel that cannot be compiled is a row with the reason; `progress` is told every row as it is found.

    Raises:
        InputError: no such topology or kernel.
        UnavailableError: the compiler is not installed, or its version does not fit JAX.
    """
    topology(name).check()
    kernels, found = chosen(names), []
    while len(found) < len(kernels):
        for row in _in_one_process(kernels[len(found) :], name):
            found.append(row)
            progress(row)
    return found


def _in_one_process(kernels: Sequence[Kernel], name: str) -> Iterator[AheadOfTime]:
    """The rows of the first kernels, of all unless the process is lost; then the last row says how."""
    command = [sys.executable, "-m", __name__, name, *(kernel.name for kernel in kernels)]
    environment, pipe = {**os.environ, **ENVIRONMENT}, subprocess.PIPE
    with (
        tempfile.TemporaryFile("w+") as noise,
        subprocess.Popen(command, env=environment, stdout=pipe, stderr=noise, text=True) as process,
    ):
        for kernel in kernels:
            line = _line(process)
            if not line:
                reason = f"the compiler's process ended with {process.wait()}: {_last_words(noise)}"
                yield AheadOfTime(kernel.name, kernel.sizes.large, name, reason=reason)
                return
            yield AheadOfTime(**json.loads(line))


def _line(process: subprocess.Popen) -> str:
    """The next line of a process, which is killed if it takes too long; empty if it has ended."""
    watchdog = threading.Timer(LIMIT, process.kill)
    watchdog.start()
    try:
        return process.stdout.readline() if process.stdout else ""
    finally:
        watchdog.cancel()


def _last_words(noise: IO[str]) -> str:
    noise.seek(0)
    lines = noise.read().split("\n")
    return next((line.strip()[:200] for line in reversed(lines) if line.strip()), "it said nothing")


def main(name: str, *names: str) -> None:
    """Print one line of JSON for each kernel, as soon as it is compiled here."""
    for kernel in chosen(names):
        print(json.dumps(asdict(compile_kernel(kernel, topology(name)))), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
