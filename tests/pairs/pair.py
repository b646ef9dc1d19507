"""One pair of JAX functions that are the same real function, and the plausible mistakes beside it."""

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

EPS = 2.0**-7
"""The ε of the norms: a binary fraction, so that it is the same number in every dtype."""

matmul = functools.partial(jnp.matmul, precision="highest")
einsum = functools.partial(jnp.einsum, precision="highest")


@dataclass(frozen=True)
class Pair:
    """Two ways of writing one real function, with variants that are not equal to it.

    Attributes:
        name: the identity in a few words, unique in the whole table.
        left: the first way; positional array arguments, result one array or a pytree of arrays.
        right: the second way: equal to `left` at every real input, up to `assumptions`.
        specs: one pytree of `jax.ShapeDtypeStruct` per argument, all float32.
        wrong: name of a mistake -> a function with the signature and output shapes of `left` that differs from it.
        assumptions: where the equality holds only almost everywhere or under a reading; empty when everywhere.
        single: one side computes in float32 whatever its inputs are, or takes no others.
    """

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    specs: tuple[Any, ...]
    wrong: Mapping[str, Callable[..., Any]]
    assumptions: str = ""
    single: bool = False


def f32(*shape: Any) -> jax.ShapeDtypeStruct:
    """The spec of a float32 array."""
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def nudged(W: jax.Array) -> jax.Array:
    """W with 2^-20 added to its first entry: the smallest mistake of the tables."""
    return W.at[(0,) * W.ndim].add(2.0**-20)
