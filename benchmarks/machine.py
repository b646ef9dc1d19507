"""What the figures of a benchmark were measured on."""

import os
import platform
from importlib.metadata import version


def machine() -> dict[str, str]:
    """Architecture, cores, and the versions of what does the work."""
    versions = {name: version(name) for name in ("uat_jax", "sympy", "jax", "numpy")}
    return {
        "machine": platform.machine(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        **versions,
    }
