"""Arguments that are no arrays: a flag, a number or a text of Python, an activation function inside a module.

They are fixed to the value that is given, as an integer array is, and both functions get the very same object: a
function of an array and "tanh" is compared as the function of the array that "tanh" makes of it.
"""

from __future__ import annotations

import enum
import functools
from collections.abc import Callable
from typing import Any

import jax
import numpy as np
from jax.tree_util import keystr, tree_flatten_with_path

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.inputs.program import Program
from uat_jax.typing import Array, Function, PyTree

VALUES = (bool, int, float, complex, str, bytes, enum.Enum, np.dtype)
"""The types of fixed arguments, beside whatever can be called."""

LONGEST = 60
"""So many letters of a fixed value are shown."""


def is_static(leaf: PyTree) -> bool:
    """Whether a leaf of some arguments is fixed to its value: no array or spec, but a value of Python or a callable.

    A dataclass that JAX does not know as a tree is neither: it may hold arrays.
    """
    if hasattr(leaf, "shape") and hasattr(leaf, "dtype"):
        return False
    return isinstance(leaf, VALUES) or callable(leaf) and not hasattr(type(leaf), "__dataclass_fields__")


class WithStatic:
    """A function of the arrays among its arguments; the others are fixed.

    Args:
        function: the function of all arguments.
        arguments: pytrees of which some leaves are fixed.
    """

    def __init__(self, function: Function, arguments: tuple[Any, ...]) -> None:
        functools.update_wrapper(self, function)
        self.function = function
        self.leaves, self.tree = jax.tree.flatten(arguments)

    def __call__(self, *arrays: Array) -> Any:
        """The function at some arrays."""
        return self.function(*self.merged(arrays))

    def merged(self, arrays: tuple[Array, ...]) -> tuple[Any, ...]:
        """All arguments, given those of `arrays_of`."""
        given = iter(jax.tree.leaves(arrays))
        return jax.tree.unflatten(self.tree, [leaf if is_static(leaf) else next(given) for leaf in self.leaves])


def arrays_of(arguments: Any) -> Any:
    """The arguments with None, which is no leaf, in the place of those that are fixed."""
    return jax.tree.map(lambda leaf: None if is_static(leaf) else leaf, arguments)


def with_static(
    left: Callable[..., Any], right: Callable[..., Any], arguments: tuple[Any, ...]
) -> tuple[Callable[..., Any], Callable[..., Any], tuple[Any, ...]]:
    """Two functions of the arrays among some arguments, and these arrays; a program that was read has no others."""
    if not any(map(is_static, jax.tree.leaves(arguments))):
        return left, right, arguments
    bound = [f if isinstance(f, Program) else WithStatic(f, arguments) for f in (left, right)]
    return bound[0], bound[1], arrays_of(arguments)


def fixed_values(arguments: tuple[Any, ...]) -> list[Assumption]:
    """What the arguments that are no arrays are fixed to."""
    leaves, _ = tree_flatten_with_path(arguments)
    about = [{"name": keystr(path), "value": shown(leaf)} for path, leaf in leaves if is_static(leaf)]
    return [Assumption(AssumptionKind.STATIC_INPUT, of) for of in about]


def shown(value: Any) -> str:
    """A fixed value in a line: the name of a function, or the start of what Python prints."""
    if callable(value):
        return str(getattr(value, "__name__", type(value).__name__))
    text = "".join(c if c.isprintable() else " " for c in repr(value))
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
