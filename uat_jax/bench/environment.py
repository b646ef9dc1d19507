"""What the figures were measured on, and with which settings."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path

import jax

from uat_jax.devices import default_device
from uat_jax.typing import JsonObject

PACKAGES = ("uat_jax", "jax", "jaxlib", "numpy", "sympy", "python-flint")


def environment(effort: str) -> JsonObject:
    """Versions, device, processor, number of devices and cores, commit, day, settings."""
    device = default_device()
    return {
        "effort": effort,
        "platform": device.platform,
        "device": device.device_kind,
        "devices": len(jax.devices(device.platform)),
        "processor": processor(),
        "cores": os.cpu_count(),
        "python": platform.python_version(),
        **{name: version(name) for name in PACKAGES},
        "commit": commit(),
        "date": datetime.now(UTC).date().isoformat(),
        "XLA_FLAGS": os.environ.get("XLA_FLAGS", ""),
    }


def processor() -> str:
    """The model of the processor where the system tells it, its architecture elsewhere."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    models = (line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    return next(models, platform.processor() or platform.machine())


def commit() -> str | None:
    """The commit of the working tree this package lies in, with a + if files have changed; None outside of one."""
    folder = Path(__file__).parents[2]
    if not (folder / ".git").exists():
        return None
    git = lambda *words: subprocess.run(["git", *words], cwd=folder, capture_output=True, text=True, check=True).stdout
    try:
        return git("rev-parse", "--short=12", "HEAD").strip() + ("+" if git("status", "--porcelain").strip() else "")
    except (OSError, subprocess.CalledProcessError):
        return None
