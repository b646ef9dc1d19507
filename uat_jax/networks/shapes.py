"""Named axes: every array of a network has a shape written in letters, and a letter has one size."""

from collections.abc import Mapping, Sized

from uat_jax.errors import ShapeError
from uat_jax.typing import PyTree

Axes = Mapping[str, tuple[str, ...]]
"""Field → names of its axes; ``{j}`` is the number of the layer, ``{i}`` that of the one before."""


def bind_shape(name: str, shape: tuple[int, ...], axes: tuple[str, ...], sizes: dict[str, int]) -> None:
    """Match `shape` with the axis names `axes`; a name met for the first time gets its size in `sizes`.

    Raises `ShapeError`, naming both shapes, if the ranks differ, an axis is empty or a name already has
    another size.
    """
    wanted = ", ".join(f"{axis} = {sizes[axis]}" if axis in sizes else axis for axis in axes)
    same_rank = len(shape) == len(axes)
    if not same_rank or any(sizes.setdefault(axis, size) != size for axis, size in zip(axes, shape, strict=True)):
        raise ShapeError(f"got shape {shape} for {name}, wanted ({wanted}); reshape or replace that array")
    if 0 in shape:
        raise ShapeError(f"got shape {shape} for {name}, wanted no empty axis; leave no array without entries")


def bind_layer(layer: PyTree, number: int, axes: Axes, sizes: dict[str, int]) -> None:
    """Match every field of layer `number` with its axes, as `bind_shape` does for one array."""
    for field, names in axes.items():
        array = getattr(layer, field)
        numbered = tuple(name.format(i=number - 1, j=number) for name in names)
        bind_shape(f"layers.{number}.{field}", tuple(array.shape), numbered, sizes)


def check_some_layers(layers: Sized) -> None:
    """Raise `ShapeError` if there is no layer at all."""
    if not layers:
        raise ShapeError("got a network of 0 layers, wanted at least 1; add a layer")
