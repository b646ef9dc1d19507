"""Networks whose output is computed in parts that add up to it: how the parts are checked.

The reference is another way to the same parts, in float64. Rounding errors are, to first order, proportional to the
unit roundoff and to what is rounded: a part may be as far off as the plain forward pass, times the size of all parts
over that of the output. `SPREAD` covers that one draw of rounding errors may be larger than another.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax.typing import DTypeLike

from uat_jax.bench.case import Experiment, Program, WrongAnswerError
from uat_jax.typing import PyTree

Split = Callable[[Any, jax.Array], jax.Array]
"""(weights, one input) → parts (S, N, M)."""

SPREAD = 4


class Way(NamedTuple):
    """One way to compute parts."""

    split: Split
    weights: PyTree
    operations: float | None = None
    limit: float | None = None


class Network(NamedTuple):
    """A network, inputs, and what its output is."""

    weights: PyTree
    inputs: jax.Array
    """A batch, (B, …)."""
    plain: Split
    """The forward pass, one part."""
    reference: Split
    """Parts by a way that has nothing in common with those that are timed."""
    last_bias: jax.Array
    """What the last layer adds to every token, (M,)."""
    bias_part: int
    """The part of the reference that it belongs to."""


def split_experiment(of: Network, ways: Mapping[str, Way]) -> Experiment:
    """The ways, each for the whole batch, checked part by part; one that gives a single part, by the sum."""
    exact = _run(of.reference, _cast(of.weights, jnp.float64), of.inputs)
    tolerance = SPREAD * _excess(exact) * _rounding(of, exact)
    bias = np.asarray(of.last_bias, np.float64)

    def check(name: str, answer: jax.Array) -> None:
        found = np.asarray(answer, np.float64)
        wanted = exact if found.shape[1] > 1 else exact.sum(axis=1, keepdims=True)
        off = max(_largest(found - wanted), _largest((found - wanted).sum(axis=1)))
        if not off <= tolerance:
            raise WrongAnswerError(f"{name}: the parts are {off:.3g} off, where rounding explains {tolerance:.3g}")

    def without_bias(answer: jax.Array) -> np.ndarray:
        found = np.array(answer, np.float64)
        found[:, of.bias_part if found.shape[1] > 1 else 0] -= bias
        return found

    programs = {
        name: Program(jax.vmap(way.split, in_axes=(None, 0)), (way.weights, of.inputs), operations=way.operations)
        for name, way in ways.items()
    }
    limits = {name: way.limit for name, way in ways.items() if way.limit is not None}
    return Experiment(programs, check, wrong=without_bias, limits=limits)


def _run(split: Split, weights: PyTree, inputs: jax.Array) -> np.ndarray:
    """The parts of every input, (B, S, N, M), in the dtype of the weights; not compiled as a whole: it may be deep."""
    dtype = jax.tree.leaves(weights)[0].dtype
    with jax.enable_x64(dtype == np.float64):
        weights, x = jax.tree.map(jnp.asarray, (weights, _cast(inputs, dtype)))
        return np.asarray(jax.vmap(split, in_axes=(None, 0))(weights, x), np.float64)


def _cast(arrays: PyTree, dtype: DTypeLike) -> jax.Array:
    """Floating-point arrays in another dtype, as NumPy arrays."""
    floating = lambda a: jnp.issubdtype(a.dtype, jnp.floating)
    return jax.tree.map(lambda a: np.asarray(a).astype(dtype) if floating(a) else np.asarray(a), arrays)


def _rounding(of: Network, exact: np.ndarray) -> float:
    """The largest error of the plain forward pass; that of float64 from float32 and the ratio of their roundoffs."""
    dtype = jax.tree.leaves(of.weights)[0].dtype
    measured = np.dtype(np.float32) if dtype == np.float64 else dtype
    found = _run(of.plain, _cast(of.weights, measured), of.inputs)
    ratio = float(jnp.finfo(dtype).eps) / float(jnp.finfo(measured).eps)
    return ratio * _largest(found.sum(axis=1) - exact.sum(axis=1))


def _excess(parts: np.ndarray) -> float:
    """The sizes of all parts over that of their sum, at least 1."""
    return sum(_largest(parts[:, s]) for s in range(parts.shape[1])) / _largest(parts.sum(axis=1))


def _largest(x: np.ndarray) -> float:
    return float(np.max(np.abs(x)))
