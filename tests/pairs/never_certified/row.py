"""One row of the table of attacks: a pair of functions that differ, or its twin, a pair that is equal."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

SIZES = {"n": 5, "m": 4}
"""The sizes at which equal functions of symbolic dimensions are compared."""
NEARBY = 8
"""So many inputs close to a witness are looked at, to tell a null set from one of positive measure."""


def f32(*shape: Any) -> jax.ShapeDtypeStruct:
    """The spec of a float32 array."""
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def f64(*shape: int) -> jax.ShapeDtypeStruct:
    """The spec of a float64 array."""
    return jax.ShapeDtypeStruct(shape, jnp.float64)


S, V, W = f32(), f32(3), f32(8)


def ind(condition: jax.Array) -> jax.Array:
    """1 where a condition holds, 0 elsewhere."""
    return jnp.where(condition, 1.0, 0.0)


def real(x: jax.Array) -> jax.Array:
    """Booleans and integers as floats."""
    return x.astype(jnp.float32)


def widest(specs: tuple[Any, ...]) -> np.dtype:
    """The widest dtype among some inputs."""
    return np.result_type(*(spec.dtype for spec in specs))


@dataclass(frozen=True)
class Different:
    """Two functions with different values at one input at least, so that no verdict may say that they are equal.

    Attributes:
        name: the attack in a few words, unique in its kind.
        left: the one function.
        right: the other.
        specs: the inputs, as `uat_jax.certify` takes them.
        witness: one array (or number, or nested list) per input, at which the values differ.
        null_set: whether they differ on a set of measure zero only, such as a tie; `almost_everywhere=True` may then
            certify them. Otherwise they differ near the witness too, on a set of positive measure.
        wrt: "grad" if the derivatives are compared as well.
        identity: whether the two differ because something is 0 by an identity, which floats obey at the witness only.
        infinite: whether NaN or ∞ are values that the functions return on purpose.
        gap: by how much the values differ at the witness, relative to the larger of 1 and both.
        widths: whether float64 must not be tried, because the functions depend on the width of a dtype.
    """

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    specs: tuple[Any, ...]
    witness: tuple[Any, ...]
    null_set: bool = False
    wrt: str | None = None
    identity: bool = False
    infinite: bool = False
    gap: float = 2.0**-10
    widths: bool = False

    @property
    def dtype(self) -> np.dtype:
        """The widest dtype among the inputs."""
        return widest(self.specs)

    def nearby(self) -> list[tuple[np.ndarray, ...]]:
        """Inputs at odd multiples of 1/1024 around the witness: on no tie, and exact in every dtype."""
        random = np.random.default_rng(0)
        at = [np.asarray(value, np.float64) for value in self.witness]
        step = lambda value: (2 * random.integers(-24, 24, value.shape) + 1) / 1024
        return [tuple(value + step(value) for value in at) for _ in range(NEARBY)]


@dataclass(frozen=True)
class Equal:
    """Two functions that are equal: the twin of an attack, which must not be lost when the attack is stopped.

    Attributes:
        name: the pair in a few words, unique in its kind.
        left: the one function.
        right: the other.
        specs: the inputs.
        almost_everywhere: whether they differ on a set of measure zero, so that they need the switch.
        wrt: "grad" if the derivatives are compared as well.
    """

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    specs: tuple[Any, ...]
    almost_everywhere: bool = False
    wrt: str | None = None

    @property
    def dtype(self) -> np.dtype:
        """The widest dtype among the inputs."""
        return widest(self.specs)

    def inputs(self) -> list[tuple[np.ndarray, ...]]:
        """Inputs on no tie, and, if the two are equal there as well, whole and half numbers with many ties."""
        random = np.random.default_rng(0)
        shape = lambda spec: tuple(size if isinstance(size, int) else SIZES[str(size)] for size in spec.shape)
        free = lambda spec: (2 * random.integers(-4096, 4096, shape(spec)) + 1) / 1024
        tied = lambda spec: random.integers(-4, 5, shape(spec)) / 2
        equal = lambda spec: np.full(shape(spec), 1.0)
        zero = lambda spec: np.zeros(shape(spec))
        draws = (free, free, free) if self.almost_everywhere else (free, free, tied, tied, tied, equal, zero)
        return [tuple(draw(spec) for spec in self.specs) for draw in draws]
