"""Scatters with concrete indices: where each update lands, and what becomes of the entries hit."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.lax import GatherDimensionNumbers, GatherScatterMode

from uat_jax.arithmetic.structure import gather
from uat_jax.errors import UnsupportedError


def landings(
    parameters: Mapping[str, Any], shape: Sequence[int], indices: np.ndarray, updates: Sequence[int]
) -> np.ndarray:
    """The entry of the operand (of this shape, flattened) on which each entry of the updates lands.

    The result has the shape of the updates, given as `updates`; -1 is an update that is dropped, because its window
    does not fit inside the operand. A scatter writes where the gather with the same numbers reads.
    """
    numbers = parameters["dimension_numbers"]
    windows = iter(updates[axis] for axis in numbers.update_window_dims)
    single = (*numbers.inserted_window_dims, *numbers.operand_batching_dims)
    clip = parameters["mode"] == GatherScatterMode.CLIP
    mode = GatherScatterMode.CLIP if clip else GatherScatterMode.FILL_OR_DROP
    reading = {
        "dimension_numbers": GatherDimensionNumbers(
            offset_dims=numbers.update_window_dims,
            collapsed_slice_dims=numbers.inserted_window_dims,
            start_index_map=numbers.scatter_dims_to_operand_dims,
            operand_batching_dims=numbers.operand_batching_dims,
            start_indices_batching_dims=numbers.scatter_indices_batching_dims,
        ),
        "slice_sizes": [1 if axis in single else next(windows) for axis in range(len(shape))],
        "mode": mode,
    }
    return gather(reading, np.arange(np.prod(shape, dtype=int)).reshape(shape), indices)


def grouped(places: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The entries on which updates land, and for each of them a column of updates.

    `places[k]` is where update k lands, -1 nowhere. With t entries touched, by at most m updates each, the results
    have the shapes (t,) and (m, t); the number of updates stands where a column is shorter than m.
    """
    order = np.argsort(places, kind="stable")
    hits = order[places[order] >= 0]
    touched, starts, counts = np.unique(places[hits], return_index=True, return_counts=True)
    table = np.full((counts.max(initial=0), len(touched)), len(places))
    table[np.arange(len(hits)) - np.repeat(starts, counts), np.repeat(np.arange(len(touched)), counts)] = hits
    return touched, table


_REDUCTIONS: dict[str, tuple[Callable[..., jax.Array] | None, Callable[..., jax.Array], float]] = {
    "scatter": (None, lambda old, new: new, 0),
    "scatter-add": (jnp.sum, lax.add, 0),
    "scatter-sub": (jnp.sum, lax.sub, 0),
    "scatter-mul": (jnp.prod, lax.mul, 1),
    "scatter-max": (jnp.max, lax.max, -np.inf),
    "scatter-min": (jnp.min, lax.min, np.inf),
}
"""How updates that land on one entry are reduced, how the result meets the old entry, and the neutral update."""


def landed(x: jax.Array, places: np.ndarray, updates: jax.Array, name: str) -> jax.Array:
    """x with each update combined, as the primitive `name` does, into the entry of x (flattened) where it lands.

    Raises:
        UnsupportedError: several updates of a plain scatter land on one entry, in no defined order.
    """
    reduce, combine, neutral = _REDUCTIONS[name]
    touched, table = grouped(places.ravel())
    if reduce is None and len(table) > 1:
        raise UnsupportedError("several updates land on one entry; make the indices unique")
    if not touched.size:
        return x
    padded = jnp.concatenate([updates.reshape(-1), jnp.full(1, neutral, updates.dtype)])
    columns = jnp.take(padded, table, axis=0, mode="clip")
    new = combine(jnp.take(x.reshape(-1), touched, mode="clip"), reduce(columns, axis=0) if reduce else columns[0])
    source = np.arange(x.size)
    source[touched] = x.size + np.arange(touched.size)
    return jnp.take(jnp.concatenate([x.reshape(-1), new]), source, mode="clip").reshape(x.shape)


def _scatter(name: str) -> Callable[..., jax.Array]:
    def scatter(parameters: Mapping[str, Any], x: jax.Array, indices: Any, updates: jax.Array) -> jax.Array:
        return landed(x, landings(parameters, x.shape, np.asarray(indices), updates.shape), updates, name)

    return scatter


SCATTERS = {name: _scatter(name) for name in _REDUCTIONS}
"""The definition of every scatter: a function of the parameters, the operand, the concrete indices and the updates."""
