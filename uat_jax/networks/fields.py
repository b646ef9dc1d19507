"""One part of a network (a norm, an attention, …) is a `NamedTuple` of arrays: its shapes are checked here."""

from typing import NamedTuple

from uat_jax.errors import ShapeError
from uat_jax.networks.shapes import Axes, bind_shape


def bind_fields(part: NamedTuple, axes: Axes, sizes: dict[str, int] | None = None) -> dict[str, int]:
    """The size of every axis name of `part`, those in `sizes` being known; a field that is None is left out.

    Raises `ShapeError`, naming the field as ``MultiHead.query``, if two fields give one name two sizes.
    """
    sizes = {} if sizes is None else sizes
    for field, names in axes.items():
        array = getattr(part, field)
        if array is not None:
            bind_shape(f"{type(part).__name__}.{field}", tuple(array.shape), names, sizes)
    return sizes


def check_divides(divisor: int, number: int, what: str) -> None:
    """Raise `ShapeError` unless `divisor` divides `number`; `what` names the two."""
    if number % divisor:
        raise ShapeError(f"got {what} = {divisor} and {number}, wanted the first to divide the second; change one")
