"""A jitted function and what it is called with: shapes, dtypes, and how they lie on several devices."""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import jax
from jax.sharding import AbstractMesh, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from uat_jax.bench.case import Size
from uat_jax.typing import Function, PyTree


class Call(NamedTuple):
    """A function and what it is called with."""

    function: Function
    arguments: tuple[PyTree, ...]
    """Pytrees of `jax.ShapeDtypeStruct`."""
    partitions: tuple[P, ...] = ()
    """How each argument is spread over the mesh; empty: every device has all of it."""

    def placed(self, mesh: Mesh | AbstractMesh) -> tuple[Any, ...]:
        """The arguments, spread over a mesh."""
        partitions = self.partitions or (P(),) * len(self.arguments)
        return tuple(
            jax.tree.map(functools.partial(_at, NamedSharding(mesh, partition)), argument)
            for argument, partition in zip(self.arguments, partitions, strict=True)
        )


def _at(sharding: NamedSharding, leaf: PyTree) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(leaf.shape, leaf.dtype, sharding=sharding)


class Sizes(NamedTuple):
    """Two sizes of one kernel."""

    small: Size
    """To run in a test."""
    large: Size
    """Worth an accelerator."""


@dataclass(frozen=True)
class Kernel:
    """A jitted function of the package.

    Attributes:
        name: what `uat-jax bench --aot` is asked for.
        module: where the function is written.
        build: makes the call of one size, called with the size's entries by name, and with `mesh` if `sharded`.
        sizes: which it is lowered and compiled for.
        sharded: it runs on all devices of a mesh, and on one otherwise.
        wide: it computes in 64 bits.
    """

    name: str
    module: str
    build: Callable[..., Call]
    sizes: Sizes
    sharded: bool = False
    wide: bool = False

    def call(self, size: Size, mesh: Mesh | AbstractMesh) -> Call:
        """The call of one size, on a mesh with one axis."""
        with jax.enable_x64(self.wide):
            return self.build(**size, **({"mesh": mesh} if self.sharded else {}))
