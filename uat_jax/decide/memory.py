"""Memory predicted before it is used: what a compiled program needs, what a device has, and the size that would fit."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax

from uat_jax.byte_sizes import size_text
from uat_jax.errors import MemoryLimitError

STEPS = 6
"""Compilations spent on a size that would fit: it is found within 1/64 of the one that does not."""


CONTROL_GROUPS = (
    (Path("/sys/fs/cgroup"), "memory.max", "memory.current", "inactive_file"),
    (Path("/sys/fs/cgroup/memory"), "memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
)
"""Where Linux tells of a container: the folder, the files of its limit and its use, the line of copies of files."""


def needed_bytes(compiled: jax.stages.Compiled, *, arguments: bool = True) -> int:
    """Bytes that one call takes on each of its devices: arguments + outputs − those that share buffers + temporaries.

    Without ``arguments`` where they lie on the device already.  0 on a backend that does not say.
    """
    stats = compiled.memory_analysis()
    if stats is None:
        return 0
    made = stats.output_size_in_bytes - stats.alias_size_in_bytes + stats.temp_size_in_bytes
    return made + (stats.argument_size_in_bytes if arguments else 0) + stats.generated_code_size_in_bytes


def free_bytes(device: Any) -> int:
    """Bytes that can still be taken on a device: of an accelerator by its own count, of a CPU this host's free memory.

    The forced CPU devices of one host share its memory, and each has its share.
    """
    stats = device.memory_stats() or {}
    if "bytes_limit" in stats:
        return stats["bytes_limit"] - stats.get("bytes_in_use", 0)
    return _host_bytes() // len(jax.local_devices(backend=device.platform))


def check_bytes(needed: float, device: Any, what: str, advice: str = "take less") -> None:
    """Raise `MemoryLimitError` if ``what`` needs more bytes than are free, ``advice`` saying what would fit."""
    free = free_bytes(device)
    if needed > free:
        raise MemoryLimitError(
            f"{what} needs {size_text(needed)} of memory, and {device.device_kind} has {size_text(free)} free; {advice}"
        )


def check_fits(
    compile_at: Callable[[int], jax.stages.Compiled],
    size: int,
    device: Any,
    what: str,
    *,
    arguments: bool = True,
) -> jax.stages.Compiled:
    """The program compiled at a size, if it will fit.

    ``compile_at(size)`` compiles from shapes (`jax.ShapeDtypeStruct`), so that nothing is allocated; ``what`` names
    what the size counts, such as "width".  Raises `MemoryLimitError` with the largest size that was found to fit.
    """
    compiled = compile_at(size)
    needed, free = needed_bytes(compiled, arguments=arguments), free_bytes(device)
    if needed > free:
        fits = largest_that_fits(lambda n: needed_bytes(compile_at(n), arguments=arguments), size, free)
        check_bytes(needed, device, f"{what} {size}", f"{what} {fits} would fit" if fits else "none would fit")
    return compiled


def largest_that_fits(needed: Callable[[int], float], size: int, free: float) -> int:
    """A size below ``size`` at which ``needed(size)`` ≤ ``free``, nearly the largest; 0 if none was found.

    By bisection: ``needed`` grows with the size.
    """
    low, high = 0, size
    for _ in range(STEPS):
        middle = (low + high) // 2
        if middle == low:
            break
        low, high = (middle, high) if needed(middle) <= free else (low, middle)
    return low


def _host_bytes() -> int:
    """Free memory of this host, or of the container that this process is in if that is less."""
    free = [_available(), *(limit - used for limit, used in _container() if limit)]
    return max(0, min(free))


def _available() -> int:
    """MemAvailable of Linux, elsewhere all of the memory."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith("MemAvailable"))
    except (OSError, StopIteration):
        return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES")


def _container() -> list[tuple[int, int]]:
    """(limit, used) of the control group, of version 2 and of version 1, where there is one.

    Copies of files that have not been read lately are no use of memory: they make room for whatever asks for it.
    """
    found = []
    for folder, limit, used, copies in CONTROL_GROUPS:
        try:
            figures = dict(line.split() for line in (folder / "memory.stat").read_text().splitlines())
            most, now = (int((folder / file).read_text()) for file in (limit, used))
            found.append((most, now - int(figures[copies])))
        except (OSError, ValueError, KeyError):  # no such group, or "max"
            continue
    return found
