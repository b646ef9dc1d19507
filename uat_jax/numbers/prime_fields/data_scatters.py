"""Scatters at places that depend on the inputs: at every place the old entry, or what an update makes of it there.

Entry p of x after an update u at place i is where(i = p, f(x[p], u), x[p]).  Several updates are made one after the
other, which is right in any order but for writing.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, reduce
from typing import TYPE_CHECKING, Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import source_info_util
from jax.extend.core import JaxprEqn
from jax.lax import GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.integer_ranges import Range
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.scattering import combination, replaces
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import same, vanishes

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields

UNKNOWN = -1
"""Stands for an index that is not known to be one number for all inputs."""

MODES = (GatherScatterMode.CLIP, GatherScatterMode.FILL_OR_DROP, GatherScatterMode.PROMISE_IN_BOUNDS)
"""What may be done with a window that does not fit."""

Place = tuple[int, ...]


def scattered(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Number:
    """The result of a scatter whose indices depend on the inputs.

    Raises:
        UnsupportedError: an index may be undefined, or is promised to lie in the operand and not known to; several
            updates may be written to one entry; or there are too many places.
    """
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    _, starts, written = map(fields.lift, operands)
    if not fields.certain(starts):
        raise UnsupportedError(f"{named} takes an index that depends on the input and may be NaN before it is cast")
    operand, indices, updates = map(shape_of, equation.invars)
    windows = Windows(equation.params, operand, indices, updates)
    reason = windows.refused(fields.operand_ranges[1])
    known = UNKNOWN if reason else _known(fields, starts, max(windows.shape, default=0))
    if not reason and equation.primitive.name == "scatter" and not windows.apart(known):
        fields.draw.compared(math.prod(written.shape))
        alike = replaces(equation) and windows.alike(written)
        reason = "" if alike else "and may write several updates to one entry; make the indices unique"
    if reason:
        raise UnsupportedError(f"{named} takes an index that depends on the input {reason}")
    combine = combination(equation)
    avals = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in equation.invars]
    with jax.enable_x64(True), source_info_util.user_context(equation.source_info.traceback):
        program = jax.make_jaxpr(lambda *arrays: windows.written(*arrays, known=known, combine=combine))(*avals)
    return fields.lift(fields.inner(program, operands, fields.operand_ranges)[0])


def _known(fields: Fields, indices: Number, size: int) -> np.ndarray:
    """The indices from 0 to `size` that are one number for all inputs, as the random point shows; else `UNKNOWN`."""
    f, found = fields.functions, np.full(indices.shape, UNKNOWN)
    fields.draw.compared(size * found.size)
    for k in range(size):
        found[vanishes(f.subtract(indices, f.constant(k, indices.shape)).residues)] = k
    return found


@dataclass(frozen=True)
class Windows:
    """The windows of a scatter, one for every index vector, in the numbers of `jax.lax.ScatterDimensionNumbers`."""

    parameters: Mapping[str, Any]
    shape: tuple[int, ...]
    indices: tuple[int, ...]
    updates: tuple[int, ...]

    @property
    def numbers(self) -> Any:
        """Which axis is what."""
        return self.parameters["dimension_numbers"]

    @cached_property
    def sizes(self) -> tuple[int, ...]:
        """The size of a window along each axis of the operand."""
        single = (*self.numbers.inserted_window_dims, *self.numbers.operand_batching_dims)
        own = iter(self.updates[axis] for axis in self.numbers.update_window_dims)
        return tuple(1 if axis in single else next(own) for axis in range(len(self.shape)))

    @property
    def places(self) -> Iterator[Place]:
        """Where the index vectors stand."""
        return np.ndindex(self.indices[:-1])

    @cached_property
    def indexed(self) -> list[int]:
        """The axes of the operand along which windows start at an index, or have one for each batch."""
        return [*self.numbers.scatter_dims_to_operand_dims, *self.numbers.operand_batching_dims]

    def last(self, axis: int) -> int:
        """The last start along an axis with which a window fits."""
        return self.shape[axis] - self.sizes[axis]

    def refused(self, known: Range) -> str:
        """Why the scatter is not followed, or ''; `known` is the range of the indices."""
        entries = math.prod(self.indices[:-1]) * math.prod(self.shape) * len(list(self.offsets))
        if entries > 16 * LARGE or max(self.shape, default=0) > LARGE:
            return f"and chooses {entries} times, which is too often"
        if any(self.last(axis) for axis in range(len(self.shape)) if axis not in self.indexed):
            return "and writes a part of an axis that has no index; give it one"
        fits = min((self.last(axis) for axis in self.numbers.scatter_dims_to_operand_dims), default=0)
        if self.parameters["mode"] not in MODES:
            return f"and has the mode {self.parameters['mode']}, which is not followed"
        if self.parameters["mode"] == GatherScatterMode.PROMISE_IN_BOUNDS and known not in Range(0, fits):
            return f'and lies in {known}, where it is promised to lie in {Range(0, fits)}; use mode="drop" or clip it'
        return ""

    @property
    def offsets(self) -> Iterator[Place]:
        """The entries of a window along the indexed axes."""
        return itertools.product(*(range(self.sizes[axis]) for axis in self.indexed))

    def fixed(self, known: Any, place: Place) -> list[int]:
        """Where a window starts along the indexed axes, if that is known."""
        batches = [place[axis] for axis in self.numbers.scatter_indices_batching_dims]
        return [*(int(known[(*place, k)]) for k in range(self.indices[-1])), *batches]

    def apart(self, known: Any) -> bool:
        """Whether no two windows meet, because along some axis both start at known places that far from each other."""
        starts = [self.fixed(known, place) for place in self.places]
        far = lambda a, b, axis: UNKNOWN not in (a, b) and abs(a - b) >= self.sizes[axis]
        return all(
            any(far(a, b, axis) for a, b, axis in zip(one, other, self.indexed, strict=True))
            for one, other in itertools.combinations(starts, 2)
        )

    def alike(self, updates: Number) -> bool:
        """Whether all entries of the updates are one number, so that it does not matter which is written last."""
        return same(updates.residues, updates.residues.moved(_filled))

    def block(self, updates: jax.Array, place: Place, offset: Place) -> jax.Array:
        """The entries of one window at an offset along the indexed axes, with the axes of the operand."""
        batches = iter(place)
        window = self.numbers.update_window_dims
        part = updates[tuple(slice(None) if axis in window else next(batches) for axis in range(updates.ndim))]
        along = dict(zip(self.indexed, offset, strict=True))
        cut = [slice(along[a], along[a] + 1) if a in along else slice(None) for a in range(len(self.shape))]
        return jnp.broadcast_to(part.reshape(self.sizes)[tuple(cut)], self.shape)

    def written(self, *arrays: Any, known: Any, combine: Callable[..., jax.Array]) -> jax.Array:
        """The operand after all updates: `combine` makes a new entry of an old one and an update.

        The arrays are the operand, the indices and the updates.
        """
        x, indices, updates = arrays
        for place, offset in itertools.product(self.places, self.offsets):
            given = [indices[(*place, k)] for k in range(self.indices[-1])]
            starts = [given[k] if s == UNKNOWN else s for k, s in enumerate(self.fixed(known, place))]
            hit = reduce(operator.and_, map(self.hit, self.indexed, starts, offset), jnp.ones(self.shape, bool))
            x = lax.select(hit, combine(x, self.block(updates, place, offset)), x)
        return x

    def hit(self, axis: int, start: Any, offset: int) -> Any:
        """Which entries of the operand are at an offset in a window that starts there along an axis."""
        along = [-1 if a == axis else 1 for a in range(len(self.shape))]
        index = np.broadcast_to(np.arange(self.shape[axis]).reshape(along) - offset, self.shape)
        inside = (index >= 0) & (index <= self.last(axis))
        start = jnp.int64(start)
        if self.parameters["mode"] == GatherScatterMode.CLIP:
            start = jnp.clip(start, 0, self.last(axis))
        return inside & lax.eq(jnp.broadcast_to(start, self.shape), index)


def _filled(a: np.ndarray) -> np.ndarray:
    """An array with its first entry everywhere, in every copy."""
    return np.broadcast_to(a.reshape(len(a), -1)[:, 0].reshape(len(a), *[1] * (a.ndim - 1)), a.shape)
