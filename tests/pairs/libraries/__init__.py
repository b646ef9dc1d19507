"""Functions of installed libraries against the formula of their documentation, one file per library.

The tables were written before the laws that decide them, and apart from them.  A file imports its library; nothing
here imports a file before `rows` asks for it.
"""

import importlib
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

import jax

from ..row import Row
from .library import EXTRA as EXTRA

LIBRARIES = {
    "jax_nn": "jax",
    "jax_numpy": "jax",
    "jax_linalg": "jax",
    "jax_scipy": "jax",
    "jax_arrays": "jax",
    "jax_matrices": "jax",
    "flax_linen": "flax",
    "flax_nnx": "flax",
    "flax_cells": "flax",
    "equinox_nn": "equinox",
    "optax_losses": "optax",
    "optax_updates": "optax",
    "optax_schedules": "optax",
    "haiku_modules": "haiku",
    "distrax_distributions": "distrax",
    "numpyro_distributions": "numpyro",
    "keras_ops": "keras",
    "keras_layers": "keras",
    "rlax_targets": "rlax",
    "lineax_solves": "lineax",
    "chex_helpers": "chex",
    "optimistix_solvers": "optimistix",
    "diffrax_steps": "diffrax",
    "jaxopt_losses": "jaxopt",
    "flowjax_bijections": "flowjax",
    "tfp_substrate": "tensorflow_probability",
    "tinygp_kernels": "tinygp",
    "everyday_losses": "numpyro",
    "everyday_training": "rlax",
    "everyday_arrays": "lineax",
    "everyday_methods": "distrax",
    "everyday_functions": "distrax",
}
"""Table → the library it needs, as it is imported."""


def rows(table: str) -> tuple[Row, ...]:
    """The rows of one table.  Raises `ModuleNotFoundError`, which says what to install, without its library."""
    return importlib.import_module(f".{table}", __name__).ROWS


def missing() -> list[str]:
    """The libraries of the tables that are not installed."""
    return sorted({name for name in LIBRARIES.values() if find_spec(name) is None})


@contextmanager
def as_libraries_are() -> Iterator[None]:
    """Dtypes and ranks may be mixed, and warnings are the libraries' own."""
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield
