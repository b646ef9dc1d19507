"""Scatters with concrete indices: where each update lands, and what becomes of the entries hit."""

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, jaxpr_as_fun
from jax.lax import GatherDimensionNumbers, GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.structure import gather
from uat_jax.typing import Parameters


def landings(parameters: Parameters, shape: Sequence[int], indices: np.ndarray, updates: Sequence[int]) -> np.ndarray:
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


def total(x: jax.Array, axis: int | Sequence[int]) -> jax.Array:
    """The sum over axes, in the dtype of x."""
    return jnp.sum(x, axis=axis, dtype=x.dtype)


_REDUCTIONS: dict[str, tuple[Callable[..., jax.Array] | None, Callable[..., jax.Array], float]] = {
    "scatter": (None, lambda old, new: new, 0),
    "scatter-add": (total, lax.add, 0),
    "scatter-sub": (total, lax.sub, 0),
    "scatter-mul": (jnp.prod, lax.mul, 1),
    "scatter-max": (jnp.max, lax.max, -np.inf),
    "scatter-min": (jnp.min, lax.min, np.inf),
}
"""How updates that land on one entry are reduced, how the result meets the old entry, and the neutral update."""


def replaces(equation: JaxprEqn) -> bool:
    """Whether a plain scatter writes its updates over the old entries, and does not compute with these."""
    update = equation.params["update_jaxpr"]
    return update is None or not update.eqns and update.outvars[0] is update.invars[1]


def combines(equation: JaxprEqn) -> bool:
    """Whether a scatter that is named after an operation applies this operation to the old entry and the update."""
    update, name = equation.params["update_jaxpr"], equation.primitive.name.removeprefix("scatter-")
    if update is None:
        return True
    if len(update.eqns) != 1 or equation.params["update_consts"]:
        return False
    (operation,) = update.eqns
    given = [*operation.invars, *operation.outvars] == [*update.invars, *update.outvars]
    return given and operation.primitive.name == name and operation.params in ({}, {"out_dtype": None})


def landed(
    x: jax.Array, places: np.ndarray, updates: jax.Array, name: str, update: Callable[..., jax.Array] | None = None
) -> jax.Array:
    """x with each update combined, as the primitive `name` does, into the entry of x (flattened) where it lands.

    update: what a plain scatter makes of an old entry and an update, entrywise; by default the update.

    Raises:
        UnsupportedError: several updates of a plain scatter land on one entry, in no defined order.
    """
    reduce, combine, neutral = _REDUCTIONS[name]
    combine = update or combine
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


def combination(equation: JaxprEqn) -> Callable[[jax.Array, jax.Array], jax.Array]:
    """What a scatter makes of old entries and updates of the same shape."""
    update = _update(equation.params) if equation.primitive.name == "scatter" else None
    if update is None:
        return _REDUCTIONS[equation.primitive.name][1]
    return lambda old, new: update(old.reshape(-1), new.reshape(-1)).reshape(old.shape)


def _update(parameters: Parameters) -> Callable[..., jax.Array] | None:
    """What a plain scatter computes from an old entry and its update: `x.at[i].apply(f)` writes f(x[i])."""
    program = parameters["update_jaxpr"]
    return None if program is None else jax.vmap(_function(program, parameters["update_consts"]))


def _function(program: Jaxpr, constants: Sequence[Any]) -> Callable[..., jax.Array]:
    """A jaxpr of one result as a function of its inputs."""
    function = jaxpr_as_fun(ClosedJaxpr(program, constants))
    return lambda *operands: function(*operands)[0]


def _scatter(name: str) -> Callable[..., jax.Array]:
    def scatter(parameters: Parameters, x: jax.Array, indices: np.ndarray, updates: jax.Array) -> jax.Array:
        places = landings(parameters, x.shape, np.asarray(indices), updates.shape)
        return landed(x, places, updates, name, _update(parameters) if name == "scatter" else None)

    return scatter


SCATTERS = {name: _scatter(name) for name in _REDUCTIONS}
"""The definition of every scatter: a function of the parameters, the operand, the concrete indices and the updates."""
