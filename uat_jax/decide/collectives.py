"""Collective operations of several devices as operations of one array, whose first axis counts the devices.

The n devices that take part hold local arrays x_0, …, x_(n−1) of one shape, stacked as x of shape (n, *local). Every
definition returns what they hold afterwards: an array (n, *new) again, or the one array (*new) that all of them hold.
The formulas are those of the documentation of `jax.lax`; docs/soundness.md §11.4 states them.  Where devices are in
groups (`axis_index_groups`), they hold for each group alone.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import jax.numpy as jnp
import numpy as np
from jax import Array, lax

Parameters = Mapping[str, Any]
Definition = Callable[[Parameters, Array], Array]


class Collective(NamedTuple):
    """How a collective operation is computed.

    axes: the parameter that names the axes of the mesh along which it communicates.  together: whether all devices
    hold the same array afterwards.  definition: the result, from the parameters and the stacked local arrays.
    """

    axes: str
    together: bool
    definition: Definition


def is_partition(groups: Sequence[Sequence[int]], count: int) -> bool:
    """Whether every device from 0 to `count` is in one of the groups, and in no other."""
    return sorted(device for group in groups for device in group) == list(range(count))


def in_groups(collective: Collective, parameters: Parameters, x: Array) -> Array:
    """What all devices hold after the devices of each group have communicated with each other alone."""
    groups, found = parameters["axis_index_groups"], []
    for group in groups:
        held = collective.definition(parameters, x[np.array(group)])
        found += [held] * len(group) if collective.together else list(held)
    order = np.argsort([device for group in groups for device in group])
    return jnp.stack([found[place] for place in order])


def _all_gather(parameters: Parameters, x: Array) -> Array:
    """All local arrays, stacked along a new axis, or joined along the axis that is there."""
    place = parameters["all_gather_dimension"]
    stacked = jnp.moveaxis(x, 0, place)
    return _joined(stacked, place) if parameters["tiled"] else stacked


def _reduce_scatter(parameters: Parameters, x: Array) -> Array:
    """The sum of all local arrays, of which device i keeps part i, or entry i."""
    place = parameters["scatter_dimension"]
    total = lax.reduce_sum(x, (0,))
    return _parts(total, place, len(x)) if parameters["tiled"] else jnp.moveaxis(total, place, 0)


def _all_to_all(parameters: Parameters, x: Array) -> Array:
    """Part j of the array of device i goes to device j, which puts what it gets in the order of i."""
    place = parameters["concat_axis"] + 1
    sent = _parts(x, parameters["split_axis"] + 1, len(x))  # (receiver, sender, *part)
    return _joined(jnp.moveaxis(sent, 1, place), place)


def _ppermute(parameters: Parameters, x: Array) -> Array:
    """Device j holds the array of the device i with (i, j) among the pairs, or zeros if there is none."""
    sender = {receiver: i for i, receiver in parameters["perm"]}
    rows = [x[sender[j]] if j in sender else jnp.zeros_like(x[0]) for j in range(len(x))]
    return jnp.stack(rows)


def _joined(x: Array, axis: int) -> Array:
    """An axis and the next one as one axis."""
    return lax.reshape(x, (*x.shape[:axis], x.shape[axis] * x.shape[axis + 1], *x.shape[axis + 2 :]))


def _parts(x: Array, axis: int, count: int) -> Array:
    """So many equal parts of an array along an axis, along a new first axis."""
    shape = (*x.shape[:axis], count, x.shape[axis] // count, *x.shape[axis + 1 :])
    return jnp.moveaxis(lax.reshape(x, shape), axis, 0)


def _reduced(function: Callable[..., Array]) -> Definition:
    """A reduction over all devices, and over the axes of the local arrays that are named by numbers."""

    def reduce(parameters: Parameters, x: Array) -> Array:
        own = [axis + 1 for axis in parameters["axes"] if not isinstance(axis, str)]
        return function(x, (0, *own))

    return reduce


_SUM = Collective("axes", True, _reduced(lax.reduce_sum))
_GATHER = Collective("axis_name", True, _all_gather)

COLLECTIVES: Mapping[str, Collective] = {
    "all_gather": _GATHER,
    "all_gather_invariant": _GATHER,
    "all_to_all": Collective("axis_name", False, _all_to_all),
    "pbroadcast": Collective("axis_name", True, lambda parameters, x: x[parameters["source"]]),
    "pmax": Collective("axes", True, _reduced(lax.reduce_max)),
    "pmin": Collective("axes", True, _reduced(lax.reduce_min)),
    "ppermute": Collective("axis_name", False, _ppermute),
    "psum": _SUM,
    "psum_invariant": _SUM,
    "reduce_scatter": Collective("axis_name", False, _reduce_scatter),
}
"""From the name of a primitive to how it is computed."""
