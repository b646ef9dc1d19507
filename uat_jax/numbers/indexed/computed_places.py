"""Primitives that read or write entries at places which are computed, be it from the inputs.

    x[e] = Σ_p p·x[e_p]     over the cases p of the predicates in e, in each of which it is one whole expression e_p

In each case the place is proved to be in bounds, or moved to the nearest place where JAX does so, or something else
stands there where JAX fills it in.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from jax.lax import GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, Indices, array
from uat_jax.numbers.indexed.bounds import is_whole, nonnegative
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.functions import mask, maximum, minimum
from uat_jax.numbers.indexed.polynomial import ONE, ZERO, Polynomial, constant, fresh, of, summed
from uat_jax.numbers.indexed.predicates import equal_to_zero, split_by_size
from uat_jax.numbers.indexed.products import assigned, split_at
from uat_jax.numbers.indexed.sums import in_range, total
from uat_jax.numbers.indexed.whole_numbers import check_does_not_wrap
from uat_jax.typing import Parameters

Lengths = tuple[Polynomial, ...]
Places = Sequence[Polynomial]


def within(start: Polynomial, room: Polynomial) -> Polynomial:
    """A start that is proved to be in 0, …, room, so that JAX does not move it."""
    if not is_whole(start):
        raise UnsupportedError("an index that depends on values is not followed at all sizes")
    if not (nonnegative(start) and nonnegative(room - start)):
        split_by_size(room - start)
        raise UnsupportedError(f"whether the index {start} is in bounds is not known at all sizes")
    return start


def _over_cases(values: Places, function: Callable[[Places, Polynomial], Polynomial], case: Polynomial) -> Polynomial:
    """Σ_p p·f(values in the case p, p) over the cases of their predicates that can be."""
    predicate = min(filter(None, map(split_at, values)), key=lambda letter: letter.key, default=None)
    if predicate is None:
        return case * function(values, case)
    cases = ((letter * case, holds) for letter, holds in ((of(predicate), True), (ONE - of(predicate), False)))
    return summed(
        _over_cases([assigned(value, predicate, holds) for value in values], function, possible)
        for possible, holds in cases
        if possible
    )


def _read(
    starts: Places, rooms: Places, read: Callable[[Places], Polynomial], clips: bool, filling: Polynomial | None = None
) -> Polynomial:
    """What is read at starts that lie in 0, …, room.

    Others are moved to the nearest that does, or another number stands there.

    Raises:
        UnsupportedError: a start is no whole number, or may be out of bounds where JAX puts NaN or promises nothing.
    """

    def there(at: Places, case: Polynomial) -> Polynomial:
        if not all(map(is_whole, at)):
            raise UnsupportedError("an index that is no whole number is not followed at all sizes")
        inside = ONE
        for start, room in zip(at, rooms, strict=True):
            inside = inside * in_range(start, room + 1)
        if not case * (ONE - inside):
            return read(at)
        if clips:
            nearest = [_nearest(start, room) for start, room in zip(at, rooms, strict=True)]
            return _over_cases(nearest, lambda moved, _: read(moved), case)
        if filling is None:
            raise UnsupportedError(
                f"whether the index {', '.join(map(str, at))} is in bounds is not known at all sizes"
            )
        return inside * read(at) + (ONE - inside) * filling

    return _over_cases(starts, there, ONE)


def _nearest(start: Polynomial, room: Polynomial) -> Polynomial:
    """The nearest place in 0, …, room."""
    if not nonnegative(room):
        raise UnsupportedError("whether a slice is longer than its axis is not known at all sizes")
    return minimum(maximum(start, ZERO), room)


def dynamic_slice(parameters: Parameters, lengths: Lengths, kind: str, x: Array, *starts: Array) -> Array:
    """x[start + i], where JAX moves a start into bounds."""
    rooms = [n - length for n, length in zip(x.lengths, lengths, strict=True)]

    def entry(indices: Indices) -> Polynomial:
        read = lambda at: x.at([i + s for i, s in zip(indices, at, strict=True)])
        return _read([start.at(()) for start in starts], rooms, read, clips=True)

    return array(lengths, x.kind, entry, x.sign, x.defined and all(start.defined for start in starts))


def dynamic_update_slice(
    parameters: Parameters, lengths: Lengths, kind: str, x: Array, new: Array, *starts: Array
) -> Array:
    """x with a part replaced, whose start JAX moves into bounds."""
    rooms = [n - length for n, length in zip(x.lengths, new.lengths, strict=True)]

    def entry(indices: Indices) -> Polynomial:
        def read(at: Places) -> Polynomial:
            place = [i - s for i, s in zip(indices, at, strict=True)]
            here = ONE
            for index, length in zip(place, new.lengths, strict=True):
                here = here * in_range(index, length)
            inner = [ZERO if n == ONE else i for i, n in zip(place, new.lengths, strict=True)]
            return here * new.at(inner) + (ONE - here) * x.at(indices)

        return _read([start.at(()) for start in starts], rooms, read, clips=True)

    known = x.defined and new.defined and all(start.defined for start in starts)
    return array(lengths, kind, entry, min(x.sign, new.sign), known)


def gather(parameters: Parameters, lengths: Lengths, kind: str, x: Array, starts: Array) -> Array:
    """x[start + offset]."""
    numbers = parameters["dimension_numbers"]
    sizes = [dimension(size) for size in parameters["slice_sizes"]]
    rooms = [x.lengths[axis] - sizes[axis] for axis in numbers.start_index_map]
    columns = [ZERO if starts.lengths[-1] == ONE else constant(column) for column in range(len(rooms))]
    clips, filling = parameters["mode"] == GatherScatterMode.CLIP, _filling(parameters)

    def entry(indices: Indices) -> Polynomial:
        batch = [i for axis, i in enumerate(indices) if axis not in numbers.offset_dims]

        def read(at: Places) -> Polynomial:
            offsets = iter([indices[axis] for axis in numbers.offset_dims])
            begins = dict(zip(numbers.start_index_map, at, strict=True))
            found = []
            for axis in range(len(x.lengths)):
                if axis in numbers.operand_batching_dims:
                    of_starts = numbers.start_indices_batching_dims[numbers.operand_batching_dims.index(axis)]
                    found.append(batch[of_starts])
                    continue
                offset = ZERO if axis in numbers.collapsed_slice_dims else next(offsets)
                found.append(offset + begins.get(axis, ZERO))
            return x.at(found)

        return _read([starts.at((*batch, column)) for column in columns], rooms, read, clips, filling)

    return array(lengths, x.kind, entry, x.sign if filling is None else 0, x.defined and starts.defined)


def _filling(parameters: Parameters) -> Polynomial | None:
    """What stands for entries out of bounds; None if that is NaN, or the mode is another one."""
    value = parameters["fill_value"]
    if parameters["mode"] != GatherScatterMode.FILL_OR_DROP or value is None:
        return None
    if value == -np.inf:
        return mask()
    return constant(int(value)) if np.isfinite(value) and value == int(value) else None


def scatter(parameters: Parameters, lengths: Lengths, kind: str, x: Array, starts: Array, updates: Array) -> Array:
    """x with one slice of updates put at a place in bounds."""
    if parameters["update_jaxpr"] is not None:
        raise UnsupportedError("a scatter that applies a function is not followed at all sizes")
    numbers = parameters["dimension_numbers"]
    if numbers.operand_batching_dims or len(starts.lengths) != 1:
        raise UnsupportedError("a scatter of more than one slice is not followed at all sizes")

    def entry(indices: Indices) -> Polynomial:
        here, new = _slice_at(numbers, x, starts, updates, indices, ())
        return here * new + (ONE - here) * x.at(indices)

    return array(lengths, x.kind, entry, 0, x.defined and updates.defined)


def scatter_add(parameters: Parameters, lengths: Lengths, kind: str, x: Array, starts: Array, updates: Array) -> Array:
    """x with slices of updates added, each at a place in bounds."""
    numbers = parameters["dimension_numbers"]
    if numbers.operand_batching_dims:
        raise UnsupportedError("a scatter along an axis of slices is not followed at all sizes")

    def entry(indices: Indices) -> Polynomial:
        over = [fresh(length) for length in starts.lengths[:-1]]
        here, new = _slice_at(numbers, x, starts, updates, indices, [of(variable) for variable in over])
        found = x.at(indices) + total(here * new, over)
        return found if x.kind == "f" else check_does_not_wrap(found)

    return array(lengths, x.kind, entry, 0, x.defined and updates.defined)


def _slice_at(
    numbers: Any, x: Array, starts: Array, updates: Array, indices: Indices, which: Indices
) -> tuple[Polynomial, Polynomial]:
    """Whether an entry lies in one of the slices, whose start is proved to be in bounds, and the update there."""
    window, batch = iter(numbers.update_window_dims), iter(which)
    here, place = ONE, {}
    for axis in range(len(x.lengths)):
        update_axis = None if axis in numbers.inserted_window_dims else next(window)
        size = ONE if update_axis is None else updates.lengths[update_axis]
        at = indices[axis]
        if axis in numbers.scatter_dims_to_operand_dims:
            column = constant(numbers.scatter_dims_to_operand_dims.index(axis))
            start = starts.at((*which, ZERO if starts.lengths[-1] == ONE else column))
            at = at - within(start, x.lengths[axis] - size)
        here = here * (equal_to_zero(at) if size == ONE else in_range(at, size))
        if update_axis is not None:
            place[update_axis] = ZERO if size == ONE else at
    return here, updates.at([place[a] if a in place else next(batch) for a in range(len(updates.lengths))])


PLACES: Mapping[str, Callable] = {
    "dynamic_slice": dynamic_slice,
    "dynamic_update_slice": dynamic_update_slice,
    "gather": gather,
    "scatter": scatter,
    "scatter-add": scatter_add,
}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""
