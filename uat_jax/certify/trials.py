"""Trials: the arguments of many runs of a program, and how to run them on every device of a platform.

Each device takes its share of the trials in chunks of a fixed size, so that the compiled kernel, and with
it every bit of every result, is the same for one device and for many.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.sharding import Mesh
from jax.sharding import PartitionSpec as P

from uat_jax.errors import InputError, ShapeError

CHUNK = 8
"""Trials that one device runs at a time."""


@dataclass(frozen=True)
class Trials:
    """Arguments of `count` trials: NumPy leaves of a pytree, some of them with a leading axis of trials.

    Attributes:
        leaves: the arrays; leaf i has a leading axis of `count` if i is in `batched`.
        batched: indices of those leaves.
        tree: the pytree's structure.
        count: number of trials.
        devices: the devices the programs run on.
    """

    leaves: list[np.ndarray]
    batched: frozenset[int]
    tree: Any
    count: int
    devices: list[Any]

    def trial_leaves(self, trial: int) -> list[np.ndarray]:
        """The leaves of one trial."""
        return [leaf[trial] if i in self.batched else leaf for i, leaf in enumerate(self.leaves)]

    def trial(self, trial: int) -> Any:
        """The arguments of one trial."""
        return jax.tree.unflatten(self.tree, self.trial_leaves(trial))

    def structure(self) -> Any:
        """The shapes and dtypes of one trial's arguments."""
        return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), self.trial(0))

    def check(self, dtype: str) -> None:
        """Raise InputError for arguments of another float dtype, and for NaN or infinity."""
        for leaf in self.leaves:
            if not jnp.issubdtype(leaf.dtype, jnp.floating):
                continue
            if leaf.dtype != jnp.dtype(dtype):
                raise InputError(f"got an argument of dtype {leaf.dtype}, wanted {dtype}; cast it before")
            if not np.isfinite(leaf.astype(np.float64)).all():
                raise InputError("got NaN or infinity among the arguments; pass finite numbers")

    def run(self, program: Callable[[Any], jax.Array]) -> np.ndarray:
        """program(arguments) of every trial, on the devices: (count, *output)."""
        moving = [leaf for i, leaf in enumerate(self.leaves) if i in self.batched]
        fixed = [leaf for i, leaf in enumerate(self.leaves) if i not in self.batched]

        def one(trial: list[jax.Array], shared: list[jax.Array]) -> jax.Array:
            own, common = iter(trial), iter(shared)
            leaves = [next(own if i in self.batched else common) for i in range(len(self.leaves))]
            return program(jax.tree.unflatten(self.tree, leaves))

        return _map_sharded(one, moving, fixed, self.count, self.devices, CHUNK)


def _map_sharded(function: Callable, moving: Any, fixed: Any, count: int, devices: Sequence[Any], chunk: int) -> Any:
    """function(moving[i], fixed) for every i < count, `chunk` of them at a time on each device.

    The leading axis is padded with copies of the last entry to a multiple of chunk × devices, at least twice it.
    """
    mesh = Mesh(np.array(devices), ("trials",))
    rounds = max(2, -(-count // (chunk * len(devices))))  # a loop of one round would be compiled as another kernel
    padded = rounds * chunk * len(devices)
    rows = np.minimum(np.arange(padded), count - 1)

    def share(moving: Any, fixed: Any) -> jax.Array:
        return jax.lax.map(lambda entry: function(entry, fixed), moving, batch_size=chunk if chunk > 1 else None)

    sharded = jax.shard_map(share, mesh=mesh, in_specs=(P("trials"), P()), out_specs=P("trials"), check_vma=False)
    outputs = jax.jit(sharded)(jax.tree.map(lambda leaf: leaf[rows], moving), fixed)
    return jax.tree.map(lambda leaf: np.asarray(leaf)[:count], outputs)


def _check_sizes(leaves: Sequence[Any]) -> None:
    if not leaves:
        raise InputError("the arguments hold no array; pass a pytree with at least one")
    for leaf in leaves:
        if leaf.size == 0:
            raise InputError(f"got an empty argument of shape {leaf.shape}; pass non-empty arrays")


def trial_key(seed: int, index: jax.Array) -> jax.Array:
    """The random key of one trial: fold_in(key(seed), index)."""
    return jax.random.fold_in(jax.random.key(seed, impl="threefry2x32"), index)


def drawn_trials(draw: Callable[[jax.Array], Any], count: int, seed: int, device: str | None) -> Trials:
    """Trials whose arguments are draw(fold_in(key(seed), i)), i < count."""
    if count < 1:
        raise InputError(f"got {count} trials; ask for at least 1")
    devices = _devices(device)
    _check_sizes(jax.tree.leaves(jax.eval_shape(draw, jax.random.key(seed))))
    drawn = _map_sharded(
        lambda index, _: draw(trial_key(seed, index)),
        np.arange(count, dtype=np.int32),
        [],
        count,
        devices,
        CHUNK,
    )
    leaves, tree = jax.tree.flatten(drawn)
    return Trials(leaves, frozenset(range(len(leaves))), tree, count, devices)


def given_trials(arguments: Any, axes: Any, device: str | None) -> Trials:
    """Trials at given arguments; `axes` is 0 for one entry per trial and None for shared."""
    leaves, tree = jax.tree.flatten(arguments)
    leaves = [np.asarray(leaf) for leaf in leaves]
    _check_sizes(leaves)
    # A None among the axes is a shared array, one among the arguments is no array at all.
    marked = jax.tree.map(lambda axis: _SHARED if axis is None else axis, axes, is_leaf=lambda axis: axis is None)
    flat = jax.tree.leaves(jax.tree.broadcast(marked, arguments))
    if any(axis not in (0, _SHARED) for axis in flat):
        raise InputError(f"got axes {axes}; use 0 for an axis of trials and None for a shared array")
    batched = frozenset(i for i, axis in enumerate(flat) if axis == 0)
    counts = {leaves[i].shape[:1] for i in batched}
    if len(counts) != 1 or counts == {()}:
        raise ShapeError(f"got leading axes {sorted(counts)}; every argument with axis 0 needs one entry per trial")
    ((count,),) = counts
    if count < 1:
        raise InputError("got 0 trials; pass at least 1")
    return Trials(leaves, batched, tree, count, _devices(device))


_SHARED = "shared"


def _devices(platform: str | None) -> list[Any]:
    try:
        return jax.devices(platform)
    except RuntimeError as error:
        raise InputError(f"got device {platform!r}, which JAX does not find here; choose another") from error
