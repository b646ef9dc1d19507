"""Fresh Python interpreters, with kernels of their own: what a user waits for who types a command.

They run on the CPU, so that no accelerator's start is measured, and none is asked for by two at once.
"""

from __future__ import annotations

import atexit
import contextlib
import functools
import shutil
import socket
import subprocess
import sys
import tempfile
from collections.abc import Sequence

from uat_jax.compilation_cache import environment

OFF = "off"
"""No folder of kernels."""


def printed(*words: str, kernels: str = OFF) -> tuple[int, str]:
    """Exit code and all that `python words…` prints; its compiled kernels lie in a folder, or are not kept."""
    (found,) = printed_together([words], kernels=kernels)
    return found


def printed_together(commands: Sequence[Sequence[str]], *, kernels: str = OFF) -> list[tuple[int, str]]:
    """The same of several that run at once."""
    variables = {**environment(kernels), "JAX_PLATFORMS": "cpu"}
    start = lambda words: subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, env=variables
    )
    with contextlib.ExitStack() as running:
        processes = [running.enter_context(start(words)) for words in commands]
        texts = [process.communicate()[0] for process in processes]
    return [(process.returncode, text.strip()) for process, text in zip(processes, texts, strict=True)]


@functools.cache
def folder_of_kernels() -> str:
    """One folder, empty at first, that is removed when this process ends."""
    folder = tempfile.mkdtemp(prefix="uat_jax_bench_")
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder


def free_address() -> str:
    """HOST:PORT of this machine at which nobody listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{free.getsockname()[1]}"
