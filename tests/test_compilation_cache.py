"""Compiled kernels are kept by the command line, where it is documented, and never by an import."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from uat_jax.compilation_cache import folder


@pytest.mark.parametrize(
    ("environment", "where"),
    [
        ({"UAT_JAX_CACHE": "/kernels"}, Path("/kernels")),
        ({"UAT_JAX_CACHE": "off"}, None),
        ({"XDG_CACHE_HOME": "/cache"}, Path("/cache/uat_jax")),
        ({"XDG_CACHE_HOME": "/cache", "JAX_COMPILATION_CACHE_DIR": "/own"}, None),
        ({}, Path.home() / ".cache" / "uat_jax"),
    ],
)
def test_where_kernels_are_kept(environment, where, monkeypatch):
    for name in ("UAT_JAX_CACHE", "XDG_CACHE_HOME", "JAX_COMPILATION_CACHE_DIR"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert folder() == where


PROGRAMS = {
    "the command line": ("from uat_jax.compilation_cache import enable; enable()", True),
    "an import": ("import uat_jax", False),
}


@pytest.mark.parametrize(("program", "kept"), PROGRAMS.values(), ids=PROGRAMS)
def test_who_keeps_kernels(program, kept, tmp_path):
    work = f"{program}; import jax; print(jax.jit(lambda x: x + 1.0)(2.0))"
    environment = {**os.environ, "UAT_JAX_CACHE": str(tmp_path / "kernels")}
    environment.pop("JAX_COMPILATION_CACHE_DIR", None)
    done = subprocess.run([sys.executable, "-c", work], capture_output=True, text=True, env=environment, check=True)
    assert done.stdout.strip() == "3.0"
    assert bool(list(tmp_path.rglob("*"))) == kept
