"""Compiled kernels kept on disk between runs.

They lie in ``$UAT_JAX_CACHE``, else in ``uat_jax`` below the user's cache folder (``$XDG_CACHE_HOME`` or ``~/.cache``);
``UAT_JAX_CACHE=off`` keeps none.  Whoever sets JAX's own ``JAX_COMPILATION_CACHE_DIR`` is left alone.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

SETTINGS: dict[str, object] = {
    "jax_persistent_cache_min_compile_time_secs": 0.0,
    "jax_persistent_cache_min_entry_size_bytes": -1,
}
"""The kernels are many and small: all are kept."""

FOLDER = "jax_compilation_cache_dir"


def folder() -> Path | None:
    """Where compiled kernels are kept; None if they are not, or if JAX was told where."""
    given = os.environ.get("UAT_JAX_CACHE", "")
    if given == "off" or os.environ.get("JAX_COMPILATION_CACHE_DIR"):
        return None
    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    return Path(given) if given else Path(base) / "uat_jax"


def enable() -> None:
    """Keep the kernels that this process and those it starts compile.

    JAX looks these variables up when it is imported, and is told where it has been already.
    For the command line only: a program that imports the package decides for itself.
    """
    where = folder()
    if where is None:
        return
    jax = sys.modules.get("jax")
    for name, value in {**SETTINGS, FOLDER: str(where)}.items():
        os.environ[name.upper()] = str(value)
        if jax is not None:
            jax.config.update(name, value)


def environment(where: str) -> dict[str, str]:
    """The variables of a fresh process that keeps its kernels in a folder ("off": nowhere), whatever this one does."""
    own = {name.upper() for name in (*SETTINGS, FOLDER)}
    return {**{name: value for name, value in os.environ.items() if name not in own}, "UAT_JAX_CACHE": where}
