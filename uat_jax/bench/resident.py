"""Resident memory of this process and those it starts, by looking at it while a program runs."""

from __future__ import annotations

import contextlib
import ctypes
import gc
import os
import threading
from collections.abc import Callable, Iterator
from pathlib import Path

INTERVAL = 0.02
"""Seconds between two looks."""


@contextlib.contextmanager
def resident_peak() -> Iterator[Callable[[], float | None]]:
    """Within: what is yielded tells by how many bytes the memory has grown at most; None where no one tells.

    Memory that is free but kept is given back before, so that what is taken again counts.
    """
    gc.collect()
    _give_back()
    before, most, done = resident(os.getpid()), 0.0, threading.Event()

    def look() -> None:
        nonlocal most
        while not done.wait(INTERVAL):
            most = max(most, resident(os.getpid()))

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    try:
        yield lambda: max(before, most, resident(os.getpid())) - before if before else None
    finally:
        done.set()
        watcher.join()


def _give_back() -> None:
    """Free memory to the system, where the C library can."""
    with contextlib.suppress(AttributeError, OSError, TypeError):  # another C library than GNU's
        ctypes.CDLL(None).malloc_trim(0)


def resident(pid: int) -> float:
    """Resident bytes of a process and those it started; 0 where the system does not tell."""
    try:
        status = Path(f"/proc/{pid}/status").read_text()
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        children = [child for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return 0.0
    own = next((int(line.split()[1]) for line in status.splitlines() if line.startswith("VmRSS")), 0)
    return 1024 * own + sum(resident(int(child)) for child in children)
