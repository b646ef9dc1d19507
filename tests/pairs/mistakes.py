"""Plausible mistakes as operations on a function: one argument changed before it is called, or its result spoiled.

An argument is named by its position, or by its position and keys where it is a dictionary: `dropped(f, 1, "bias")`.
"""

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np


def with_argument(function: Callable, change: Callable, position: int, *keys: str) -> Callable:
    """f(..., change(argument), ...)."""

    def mistaken(*arguments: Any) -> Any:
        changed = _at(arguments[position], change, keys)
        return function(*arguments[:position], changed, *arguments[position + 1 :])

    return mistaken


def _at(tree: Any, change: Callable, keys: tuple[str, ...]) -> Any:
    if not keys:
        return change(tree)
    return {**tree, keys[0]: _at(tree[keys[0]], change, keys[1:])}


def nudged(function: Callable, position: int, *keys: str) -> Callable:
    """f with 2⁻²⁰ added to the first entry of an argument."""
    return with_argument(function, _nudge, position, *keys)


def _nudge(x: jax.Array) -> jax.Array:
    delta = np.zeros(x.shape)
    delta.flat[0] = 2.0**-20
    return x + jnp.asarray(delta, x.dtype)


def dropped(function: Callable, position: int, *keys: str) -> Callable:
    """f with an argument forgotten: zeros in its place."""
    return with_argument(function, jnp.zeros_like, position, *keys)


def scaled(function: Callable, factor: float, position: int, *keys: str) -> Callable:
    """f with an argument multiplied by a factor."""
    return with_argument(function, lambda x: x * factor, position, *keys)


def transposed(function: Callable, position: int, *keys: str) -> Callable:
    """f with a square matrix transposed."""
    return with_argument(function, lambda x: x.T, position, *keys)


def rolled(function: Callable, axis: int, position: int, *keys: str) -> Callable:
    """f with the entries of an argument moved by one along an axis: the wrong head, token or group."""
    return with_argument(function, lambda x: jnp.roll(x, 1, axis), position, *keys)


def swapped(function: Callable, first: int, second: int) -> Callable:
    """f with two arguments of equal shape exchanged."""

    def mistaken(*arguments: Any) -> Any:
        exchanged = list(arguments)
        exchanged[first], exchanged[second] = arguments[second], arguments[first]
        return function(*exchanged)

    return mistaken


def returns_zero(function: Callable) -> Callable:
    """Zeros of the shapes that f returns."""
    return lambda *arguments: jax.tree.map(jnp.zeros_like, function(*arguments))
