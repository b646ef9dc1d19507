"""Primitives that move entries and compute none, in NumPy: there is nothing to compile for a few integers."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jax.extend.core import JaxprEqn


def _broadcast_in_dim(parameters: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    shape = np.ones(len(parameters["shape"]), int)
    shape[list(parameters["broadcast_dimensions"])] = x.shape
    return np.broadcast_to(x.reshape(shape), parameters["shape"])


def _slice(parameters: Mapping[str, Any], x: np.ndarray) -> np.ndarray:
    starts, limits = parameters["start_indices"], parameters["limit_indices"]
    strides = parameters["strides"] or (1,) * x.ndim
    return x[tuple(slice(*bounds) for bounds in zip(starts, limits, strides, strict=True))]


def _split(parameters: Mapping[str, Any], x: np.ndarray) -> list[np.ndarray]:
    return np.split(x, np.cumsum(parameters["sizes"])[:-1], parameters["axis"])


def _select(parameters: Mapping[str, Any], which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    return np.choose(np.broadcast_to(which, cases[0].shape).astype(int), cases)


_TABLE: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "concatenate": lambda parameters, *xs: np.concatenate(xs, parameters["dimension"]),
    "reshape": lambda parameters, x: x.reshape(parameters["new_sizes"]),
    "rev": lambda parameters, x: np.flip(x, parameters["dimensions"]),
    "select_n": _select,
    "slice": _slice,
    "split": _split,
    "squeeze": lambda parameters, x: np.squeeze(x, parameters["dimensions"]),
    "stack": lambda parameters, *xs: np.stack(xs, parameters["axis"]),
    "transpose": lambda parameters, x: x.transpose(parameters["permutation"]),
    "unstack": lambda parameters, x: list(np.moveaxis(x, parameters["axis"], 0)),
}


def moved(equation: JaxprEqn, operands: Sequence[Any]) -> list[np.ndarray] | None:
    """The results of a structural equation on integer arrays, or None where this table has no row for it."""
    name, parameters = equation.primitive.name, equation.params
    if name not in _TABLE or parameters.get("dimensions") is not None and name == "reshape":
        return None
    results = _TABLE[name](parameters, *map(np.asarray, operands))
    return list(results) if equation.primitive.multiple_results else [results]
