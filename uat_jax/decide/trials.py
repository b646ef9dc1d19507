"""Trials: the arguments of many runs of a program, and how to run them on every device of a platform.

Trials are run in blocks: block k holds the trials k·n … (k+1)·n − 1, n fixed by the shapes alone. Each device takes
one block at a time, always by the same compiled kernel, so that every bit of a trial's result is the same for one
device and for many, for one process and for several, and for 100 trials and for the first 100 of 300.
"""

import hashlib
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun
from jax.sharding import AbstractMesh, AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

from uat_jax.decide.memory import check_fits
from uat_jax.devices import local_devices
from uat_jax.errors import InputError, ShapeError
from uat_jax.typing import PyTree

BLOCK_BYTES = 2**20
"""Bytes of the arguments and outputs of a block: enough rows for large matrix products, little to pad in vain."""
LARGEST_BLOCK = 256

Program = Callable[[Any], jax.Array]


@dataclass(frozen=True)
class Trials:
    """Arguments of `count` trials: leaves of a pytree, those in `batched` with a leading axis of trials.

    Attributes:
        structure: shapes and dtypes of one trial's arguments.
        batched: indices of the leaves that differ from trial to trial.
        shared: the other leaves.
        rows: trial numbers (n,) → the batched leaves of those trials, (n, …); n is a multiple of `len(devices)`.
        count: number of trials.
        devices: the devices of this process that the programs run on.
    """

    structure: Any
    batched: frozenset[int]
    shared: list[np.ndarray]
    rows: Callable[[np.ndarray], list[np.ndarray]]
    count: int
    devices: list[Any]

    def check(self, dtype: str) -> None:
        """Raise InputError for arguments of another float dtype, and for NaN or infinity among the shared ones."""
        for leaf in jax.tree.leaves(self.structure):
            if jnp.issubdtype(leaf.dtype, jnp.floating) and leaf.dtype != jnp.dtype(dtype):
                raise InputError(f"got an argument of dtype {leaf.dtype}, wanted {dtype}; cast it before")
        _check_finite(self.shared)

    def leaves(self, batched: Sequence[Any], shared: Sequence[Any]) -> list[Any]:
        """Both kinds of leaves in the order of the pytree."""
        own, common = iter(batched), iter(shared)
        count = len(batched) + len(shared)
        return [next(own if i in self.batched else common) for i in range(count)]

    def arguments(self, leaves: Sequence[PyTree]) -> Any:
        """The leaves of one trial as the pytree that a program takes."""
        return jax.tree.unflatten(jax.tree.structure(self.structure), leaves)

    def trial_leaves(self, trial: int, size: int) -> list[np.ndarray]:
        """The leaves of one trial, taken from its block."""
        (rows,) = self.blocks(size, [trial // size])
        return self.leaves([leaf[trial % size] for leaf in self.rows(rows)], self.shared)

    def blocks(self, size: int, chosen: Sequence[int]) -> Iterator[np.ndarray]:
        """The trial numbers of as many of the chosen blocks as there are devices, then of the next.

        Places that are left over repeat the last block, and the last trial.
        """
        for start in range(0, len(chosen), len(self.devices)):
            some = list(chosen[start : start + len(self.devices)])
            some += some[-1:] * (len(self.devices) - len(some))
            yield np.minimum(np.concatenate([np.arange(k * size, (k + 1) * size) for k in some]), self.count - 1)

    def on_devices(self, program: Program | ClosedJaxpr) -> Any:
        """The jitted function (batched leaves, shared leaves) → program(arguments) of every row, on all devices."""
        # JAX remembers what it has traced: `vmap` would trace again.
        traced = program if isinstance(program, ClosedJaxpr) else jax.make_jaxpr(program)(self.structure)
        one = lambda row, shared: jaxpr_as_fun(traced)(*self.leaves(row, shared))[0]
        return sharded(one, _mesh(self.devices))

    def kernel(self, program: Program | ClosedJaxpr, block: int) -> Callable[[list[np.ndarray]], np.ndarray]:
        """Batched leaves of one block per device → program(arguments) of every row.

        Raises `MemoryLimitError` if a block will not fit on a device, before it is tried.
        """
        run = self.on_devices(program)
        leaves = jax.tree.leaves(self.structure)
        shared_specs = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in self.shared]

        def compile_at(rows: int) -> jax.stages.Compiled:
            shape = lambda leaf: jax.ShapeDtypeStruct((rows * len(self.devices), *leaf.shape), leaf.dtype)
            return run.lower([shape(leaves[i]) for i in sorted(self.batched)], shared_specs).compile()

        compiled = check_fits(compile_at, block, self.devices[0], "a block of trials of size")
        shared = jax.device_put(self.shared, NamedSharding(_mesh(self.devices), P()))
        return lambda batched: np.asarray(compiled(batched, shared))

    def digest(self, batched: Sequence[np.ndarray], place: int) -> str:
        """SHA-256 of the arguments of one row."""
        leaves = self.leaves([leaf[place] for leaf in batched], self._shared_digests)
        return hashlib.sha256(b"".join(map(_content, leaves))).hexdigest()

    @cached_property
    def _shared_digests(self) -> list[bytes]:
        return [hashlib.sha256(_content(leaf)).digest() for leaf in self.shared]


def block_size(structure: Any, batched: frozenset[int], output: Any) -> int:
    """Trials in a block: the largest power of two, at most 256, whose batched arguments and outputs take ≤ 1 MiB."""
    leaves = [leaf for i, leaf in enumerate(jax.tree.leaves(structure)) if i in batched]
    bytes_each = sum(leaf.size * leaf.dtype.itemsize for leaf in (*leaves, output))
    return 1 << min(LARGEST_BLOCK, max(1, BLOCK_BYTES // bytes_each)).bit_length() - 1


def check_rows(batched: Sequence[np.ndarray]) -> None:
    """Raise InputError for NaN or infinity among the arguments of some trials."""
    _check_finite(batched)


def trial_key(seed: int, index: jax.Array) -> jax.Array:
    """The random key of one trial: fold_in(key(seed), index)."""
    return jax.random.fold_in(jax.random.key(seed, impl="threefry2x32"), index)


def drawn_trials(draw: Callable[[jax.Array], Any], count: int, seed: int, device: str | None) -> Trials:
    """Trials whose arguments are draw(fold_in(key(seed), i)), i < count."""
    if count < 1:
        raise InputError(f"got {count} trials; ask for at least 1")
    devices = local_devices(device)
    structure = jax.eval_shape(draw, jax.random.key(seed))
    leaves = jax.tree.leaves(structure)
    _check_sizes(leaves)
    run = sharded(lambda index, _: jax.tree.leaves(draw(trial_key(seed, index))), _mesh(devices))
    rows = lambda trials: [np.asarray(leaf) for leaf in run(trials.astype(np.int32), [])]
    return Trials(structure, frozenset(range(len(leaves))), [], rows, count, devices)


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
    one = [jax.ShapeDtypeStruct(x.shape[1:] if i in batched else x.shape, x.dtype) for i, x in enumerate(leaves)]
    moving = [leaves[i] for i in sorted(batched)]
    shared = [leaf for i, leaf in enumerate(leaves) if i not in batched]
    rows = lambda trials: [leaf[trials] for leaf in moving]
    return Trials(jax.tree.unflatten(tree, one), batched, shared, rows, count, local_devices(device))


_SHARED = "shared"


def sharded(function: Callable[[Any, Any], Any], mesh: Mesh | AbstractMesh) -> Any:
    """(rows, shared) → function(row, shared) of every row, the rows shared out evenly along the axis ``trials``."""
    every_row = lambda rows, shared: jax.vmap(function, (0, None))(rows, shared)
    rows, whole = P("trials"), P()
    share = jax.shard_map(every_row, mesh=mesh, in_specs=(rows, whole), out_specs=rows, check_vma=False)
    return jax.jit(share, in_shardings=(NamedSharding(mesh, rows), NamedSharding(mesh, whole)))


def _mesh(devices: Sequence[Any]) -> Mesh:
    return jax.make_mesh((len(devices),), ("trials",), (AxisType.Auto,), devices=devices)


def _check_sizes(leaves: Sequence[PyTree]) -> None:
    if not leaves:
        raise InputError("the arguments hold no array; pass a pytree with at least one")
    for leaf in leaves:
        if leaf.size == 0:
            raise InputError(f"got an empty argument of shape {leaf.shape}; pass non-empty arrays")


def _check_finite(leaves: Sequence[np.ndarray]) -> None:
    for leaf in leaves:
        if jnp.issubdtype(leaf.dtype, jnp.floating) and not np.isfinite(leaf.astype(np.float64)).all():
            raise InputError("got NaN or infinity among the arguments; pass finite numbers")


def _content(array: np.ndarray | bytes) -> bytes:
    """What an array's digest is of: dtype, shape and entries; a digest stands for itself."""
    if isinstance(array, bytes):
        return array
    return f"{array.dtype}{array.shape}".encode() + np.ascontiguousarray(array).tobytes()
