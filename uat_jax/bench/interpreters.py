"""Fresh Python interpreters, with kernels of their own: what a user waits for who types a command.

They run on the CPU, so that no accelerator's start is measured, and none is asked for by two at once.  They keep the
byte code of modules, as an installed package has it: to compile all modules anew takes a second.
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
from typing import NamedTuple

from uat_jax.compilation_cache import environment

OFF = "off"
"""No folder of kernels."""


class Ended(NamedTuple):
    """An interpreter that has ended."""

    code: int
    """0 if all went well."""
    printed: str
    """On its standard output."""
    complaint: str
    """On its standard error."""

    @property
    def last_words(self) -> str:
        """The end of what it complained of, or else printed, in one line."""
        return (self.complaint or self.printed).rpartition("\n")[2][-300:]


def run(*words: str, kernels: str = OFF) -> Ended:
    """`python words…`; its compiled kernels lie in a folder, or are not kept."""
    (ended,) = run_together([words], kernels=kernels)
    return ended


def run_together(commands: Sequence[Sequence[str]], *, kernels: str = OFF) -> list[Ended]:
    """`python words…` for several lists of words at once, in their order."""
    variables, pipe = {**environment(kernels), "JAX_PLATFORMS": "cpu"}, subprocess.PIPE
    variables.pop("PYTHONDONTWRITEBYTECODE", None)
    start = lambda words: subprocess.Popen([sys.executable, *words], stdout=pipe, stderr=pipe, text=True, env=variables)
    with contextlib.ExitStack() as running:
        processes = [running.enter_context(start(words)) for words in commands]
        texts = [process.communicate() for process in processes]
    return [Ended(process.returncode, *map(str.strip, both)) for process, both in zip(processes, texts, strict=True)]


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
