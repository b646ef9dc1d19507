"""Layers of one shape kept as one: a network of any depth is then one loop, compiled once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Generic, TypeVar, overload

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InputError, ShapeError
from uat_jax.typing import PyTree

Layer = TypeVar("Layer")
State = TypeVar("State")


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Stack(Generic[Layer]):
    """L layers, read like a tuple of them."""

    layers: Layer
    """One layer whose arrays all have the axis L in front."""

    def __len__(self) -> int:
        return len(jax.tree.leaves(self.layers)[0])

    @property
    def shapes(self) -> Layer:
        """What every layer looks like: one with shapes in place of its arrays."""
        return jax.tree.map(lambda array: jax.ShapeDtypeStruct(array.shape[1:], array.dtype), self.layers)

    def __iter__(self) -> Iterator[Layer]:
        return (self[index] for index in range(len(self)))

    @overload
    def __getitem__(self, index: int) -> Layer: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[Layer, ...]: ...
    def __getitem__(self, index: int | slice) -> Layer | tuple[Layer, ...]:
        if isinstance(index, slice):
            return tuple(self[number] for number in range(len(self))[index])
        if not -len(self) <= index < len(self):
            raise IndexError(f"got index {index}, wanted one of a stack of {len(self)} layers")
        return jax.tree.map(lambda array: array[index], self.layers)


Layers = Sequence[Layer] | Stack[Layer]
"""One after the other, or one above the other."""


def stack(layers: Sequence[Layer]) -> Stack[Layer]:
    """The layers one above the other.

    Raises:
        InputError: no layer, or layers made of different parts.
        ShapeError: layers whose arrays have different shapes or dtypes.
    """
    if not layers:
        raise InputError("got no layers, wanted at least one to stack")
    first, *others = layers
    for number, other in enumerate(others, 2):
        if jax.tree.structure(other) != jax.tree.structure(first):
            raise InputError(f"got a layer {number} of other parts than layer 1, wanted equal ones; leave them apart")
        if _types(other) != _types(first):
            raise ShapeError(f"got a layer {number} of other shapes than layer 1, wanted equal ones; leave them apart")
    above = lambda *arrays: (np if isinstance(arrays[0], np.ndarray) else jnp).stack(arrays)
    return Stack(jax.tree.map(above, *layers))


def are_alike(layers: Sequence[Layer]) -> bool:
    """Whether the layers can be stacked: there are some, all made of the same parts of the same shapes and dtypes."""
    kinds = [(jax.tree.structure(layer), _types(layer)) for layer in layers]
    return bool(kinds) and all(kind == kinds[0] for kind in kinds)


def _types(layer: PyTree) -> list[Any]:
    return [(array.shape, array.dtype) for array in jax.tree.leaves(layer)]


def carry(step: Callable[[State, Layer, PyTree], State], state: State, layers: Layers[Layer]) -> State:
    """step(…step(step(state, layer_1, 1), layer_2, 2)…, layer_L, L): written out, or one `jax.lax.scan` of a stack.

    In a scan the number of the layer is a traced one, and the state keeps its shapes.
    """
    if not isinstance(layers, Stack):
        for number, layer in enumerate(layers, 1):
            state = step(state, layer, number)
        return state
    numbers = jnp.arange(1, len(layers) + 1)
    return jax.lax.scan(lambda state, each: (step(state, *each), None), state, (layers.layers, numbers))[0]
