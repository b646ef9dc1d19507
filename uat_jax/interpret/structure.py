"""Primitives that move entries and compute none, in NumPy: there is nothing to compile for a few integers."""

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from jax.extend.core import JaxprEqn
from jax.lax import GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind
from uat_jax.interpret.operation import once_per_operation, operation_of
from uat_jax.interpret.tracing import shape_of, source_line
from uat_jax.typing import Parameters

STRUCTURAL = frozenset(
    "broadcast_in_dim concatenate dynamic_slice dynamic_update_slice expand_dims gather pad reshape rev "
    "select_n slice split squeeze stack tile transpose unstack".split()
)
"""Primitives that move entries and compute none."""


def _broadcast_in_dim(parameters: Parameters, x: np.ndarray) -> np.ndarray:
    shape = np.ones(len(parameters["shape"]), int)
    shape[list(parameters["broadcast_dimensions"])] = x.shape
    return np.broadcast_to(x.reshape(shape), parameters["shape"])


def _slice(parameters: Parameters, x: np.ndarray) -> np.ndarray:
    return x[_bounds(parameters, x.ndim)]


def _bounds(parameters: Parameters, rank: int) -> tuple[slice, ...]:
    """What a slice takes along each axis."""
    starts, limits = parameters["start_indices"], parameters["limit_indices"]
    strides = parameters["strides"] or (1,) * rank
    return tuple(slice(*bounds) for bounds in zip(starts, limits, strides, strict=True))


def _split(parameters: Parameters, x: np.ndarray) -> list[np.ndarray]:
    return np.split(x, np.cumsum(parameters["sizes"])[:-1], parameters["axis"])


def _select(parameters: Parameters, which: np.ndarray, *cases: np.ndarray) -> np.ndarray:
    return np.choose(np.broadcast_to(which, cases[0].shape).astype(int), cases)


def _starts(starts: Sequence[np.ndarray], shape: Sequence[int], sizes: Sequence[int]) -> list[slice]:
    """The slices of a block of some sizes that begins at some starts, moved so that it lies inside the array."""
    inside = [int(np.clip(start, 0, n - size)) for start, n, size in zip(starts, shape, sizes, strict=True)]
    return [slice(start, start + size) for start, size in zip(inside, sizes, strict=True)]


def _dynamic_slice(parameters: Parameters, x: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    return x[tuple(_starts(starts, x.shape, parameters["slice_sizes"]))]


def _dynamic_update_slice(parameters: Parameters, x: np.ndarray, update: np.ndarray, *starts: np.ndarray) -> np.ndarray:
    result = x.copy()
    result[tuple(_starts(starts, x.shape, update.shape))] = update
    return result


def _pad(parameters: Parameters, x: np.ndarray, value: np.ndarray) -> np.ndarray:
    """Entry i goes to low + i (interior + 1), where that is inside the result; negative padding cuts off."""
    places, sizes = [], []
    for n, (low, high, interior) in zip(x.shape, parameters["padding_config"], strict=True):
        places.append(low + np.arange(n) * (interior + 1))
        sizes.append(low + n + max(n - 1, 0) * interior + high)
    kept = [np.flatnonzero((0 <= place) & (place < size)) for place, size in zip(places, sizes, strict=True)]
    result = np.full(sizes, value)
    result[np.ix_(*(place[keep] for place, keep in zip(places, kept, strict=True)))] = x[np.ix_(*kept)]
    return result


def gather(parameters: Parameters, x: np.ndarray, indices: np.ndarray) -> np.ndarray:
    """XLA's gather; where the mode is to fill, entries that come from outside x are -1, else indices are clamped.

    The result's axis `offset_dims[k]` runs along the k-th axis of x that is neither collapsed nor batched; the
    others run over `indices`, whose last axis holds the start along the axes `start_index_map`.
    """
    numbers, sizes = parameters["dimension_numbers"], parameters["slice_sizes"]
    rank = indices.ndim - 1 + len(numbers.offset_dims)
    windows = [a for a in range(x.ndim) if a not in (*numbers.collapsed_slice_dims, *numbers.operand_batching_dims)]
    inside, places = np.ones(indices.shape[:-1], bool), []
    for axis in range(x.ndim):
        start, last = _gather_start(numbers, axis, indices), x.shape[axis] - sizes[axis]
        inside &= (0 <= start) & (start <= last)
        place = np.expand_dims(np.clip(start, 0, last), tuple(numbers.offset_dims))
        if axis in windows:
            offset = numbers.offset_dims[windows.index(axis)]
            place = place + np.arange(sizes[axis]).reshape([-1 if a == offset else 1 for a in range(rank)])
        places.append(place)
    result = x[tuple(places)]
    if parameters["mode"] != GatherScatterMode.FILL_OR_DROP:
        return result
    return np.where(np.expand_dims(inside, tuple(numbers.offset_dims)), result, -1)


def _gather_start(numbers: Any, axis: int, indices: np.ndarray) -> np.ndarray:
    """Where along an axis of the operand each slice starts, an array over the batch axes of `indices`."""
    shape = indices.shape[:-1]
    if axis in numbers.start_index_map:
        return indices[..., numbers.start_index_map.index(axis)].astype(np.int64)
    if axis in numbers.operand_batching_dims:
        batch = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(axis)]
        return np.broadcast_to(
            np.arange(shape[batch]).reshape([-1 if a == batch else 1 for a in range(len(shape))]), shape
        )
    return np.zeros(shape, np.int64)


_TABLE: dict[str, Callable[..., Any]] = {
    "broadcast_in_dim": _broadcast_in_dim,
    "concatenate": lambda parameters, *xs: np.concatenate(xs, parameters["dimension"]),
    "dynamic_slice": _dynamic_slice,
    "dynamic_update_slice": _dynamic_update_slice,
    "expand_dims": lambda parameters, x: np.expand_dims(x, parameters["dimensions"]),
    "gather": gather,
    "pad": _pad,
    "reshape": lambda parameters, x: x.reshape(parameters["new_sizes"]),
    "rev": lambda parameters, x: np.flip(x, parameters["dimensions"]),
    "select_n": _select,
    "slice": _slice,
    "split": _split,
    "squeeze": lambda parameters, x: np.squeeze(x, parameters["dimensions"]),
    "stack": lambda parameters, *xs: np.stack(xs, parameters["axis"]),
    "tile": lambda parameters, x: np.tile(x, parameters["reps"]),
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


def in_copies(equation: JaxprEqn) -> Callable[[np.ndarray], np.ndarray] | None:
    """The move of a structural equation of one operand for arrays of shape (copies, *shape), without any positions.

    None for equations that have no such move here.  A part of an array is copied, so that the rest can be forgotten.
    """
    name, parameters = equation.primitive.name, equation.params
    result = shape_of(equation.outvars[0])
    if name in ("expand_dims", "squeeze") or name == "reshape" and parameters.get("dimensions") is None:
        return lambda a: a.reshape(len(a), *result)
    if name == "transpose":
        return lambda a: a.transpose(0, *(axis + 1 for axis in parameters["permutation"]))
    if name == "broadcast_in_dim" and len(equation.invars) == 1:
        shape = np.ones(len(result), int)
        shape[list(parameters["broadcast_dimensions"])] = shape_of(equation.invars[0])
        return lambda a: np.broadcast_to(a.reshape(len(a), *shape), (len(a), *result)).copy()
    if name == "slice":
        return lambda a: a[(slice(None), *_bounds(parameters, len(result)))].copy()
    return None


def moves(equation: JaxprEqn) -> tuple[bool, ...]:
    """Which operands supply the entries of a structural equation's results; the others are indices or the mask."""
    name, count = equation.primitive.name, len(equation.invars)
    if name == "select_n":
        return (False, *[True] * (count - 1))
    first = {"dynamic_slice": 1, "dynamic_update_slice": 2, "gather": 1}.get(name, count)
    return tuple(place < first for place in range(count))


def positions(equation: JaxprEqn, operands: Sequence[Any], numbers: Sequence[bool] | None = None) -> list[np.ndarray]:
    """Where each entry of a structural equation's results comes from.

    The equation is applied to the positions of the entries instead of the entries: position k means entry k
    of all number operands, flattened and laid end to end. Every arithmetic whose numbers are not JAX arrays
    can thus share one implementation of the structural primitives.

    `numbers` says which operands are numbers, by default those that `moves` names; the others are concrete arrays.
    An arithmetic that mixes numbers with plain booleans or integers makes numbers of all of them first.

    Raises:
        UnsupportedError: an index lies outside its operand, so that some entry comes from nowhere.
    """
    numbers = moves(equation) if numbers is None else tuple(numbers)
    if all(numbers) and not operation_of(equation).is_large:
        return _own_positions(equation)
    return _positions(equation, operands, numbers)


@once_per_operation
def _own_positions(equation: JaxprEqn) -> list[np.ndarray]:
    """The positions where only numbers are moved: what the equation does decides them."""
    return _positions(equation, [None] * len(equation.invars), (True,) * len(equation.invars))


def _positions(equation: JaxprEqn, operands: Sequence[Any], numbers: Sequence[bool]) -> list[np.ndarray]:
    shapes = [shape_of(atom) for atom in equation.invars]
    sizes = [int(np.prod(shape)) if number else 0 for shape, number in zip(shapes, numbers, strict=True)]
    starts = np.cumsum([0, *sizes])
    stand_ins = [
        np.arange(start, start + size, dtype=np.int32).reshape(shape) if number else operand
        for shape, number, operand, start, size in zip(shapes, numbers, operands, starts[:-1], sizes, strict=True)
    ]
    sources = moved(equation, stand_ins)
    if sources is None:
        sources = [np.asarray(output) for output in bind(equation, stand_ins)]
    if any(source.size and not 0 <= source.min() <= source.max() < starts[-1] for source in sources):
        raise UnsupportedError(
            f"'{equation.primitive.name}' reads outside its operand{source_line(equation)}; keep within"
        )
    return sources
