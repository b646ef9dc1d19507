"""One pair of functions of arrays with symbolic dimensions."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp


@dataclass(frozen=True)
class Row:
    """Two functions and their inputs.

    shapes: one text per argument, such as "n,d" or "" for a scalar; all float32.  constraints: of the sizes, as
    `jax.export.SymbolicScope` takes them.
    """

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    shapes: tuple[str, ...]
    constraints: tuple[str, ...] = ()

    @property
    def specs(self) -> tuple[jax.ShapeDtypeStruct, ...]:
        """The inputs, in a scope of their own."""
        scope = jax.export.SymbolicScope(self.constraints)
        shapes = [jax.export.symbolic_shape(text, scope=scope) for text in self.shapes]
        return tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes)


def row(name: str, left: Callable, right: Callable, *shapes: str, given: tuple[str, ...] = ()) -> Row:
    """A row whose constraints stand last."""
    return Row(name, left, right, shapes, given)
