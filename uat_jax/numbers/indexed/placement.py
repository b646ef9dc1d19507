"""Primitives that put entries in other places: an entry of the result is one of an operand, at other indices."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, Indices, array
from uat_jax.numbers.indexed.bounds import nonnegative
from uat_jax.numbers.indexed.dimension import dimension
from uat_jax.numbers.indexed.division import quotient
from uat_jax.numbers.indexed.functions import whole_part
from uat_jax.numbers.indexed.polynomial import ONE, ZERO, Polynomial, constant
from uat_jax.numbers.indexed.predicates import equal_to_zero
from uat_jax.numbers.indexed.sums import in_range
from uat_jax.numbers.indexed.whole_numbers import WIDEST
from uat_jax.typing import Parameters

Lengths = tuple[Polynomial, ...]


def moved(x: Array, lengths: Lengths, place: Callable[[Indices], Sequence[Polynomial]]) -> Array:
    """The array with the entry x[place(indices)] at indices."""
    return array(lengths, x.kind, lambda indices: x.at(place(indices)), x.sign, x.defined)


def broadcast_in_dim(parameters: Parameters, lengths: Lengths, kind: str, x: Array, *sizes: Array) -> Array:
    """The array repeated along new axes and axes of one entry."""
    axes = parameters["broadcast_dimensions"]
    place = lambda indices: [ZERO if n == ONE else indices[axis] for n, axis in zip(x.lengths, axes, strict=True)]
    return moved(x, lengths, place)


def transpose(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The array with its axes in another order."""
    order = parameters["permutation"]
    return moved(x, lengths, lambda indices: [indices[order.index(axis)] for axis in range(len(order))])


def squeeze(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The array without some axes of one entry."""
    gone = {axis % len(x.lengths) for axis in parameters["dimensions"]}

    def place(indices: Indices) -> list[Polynomial]:
        kept = iter(indices)
        return [ZERO if axis in gone else next(kept) for axis in range(len(x.lengths))]

    return moved(x, lengths, place)


def expand_dims(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The array with new axes of one entry."""
    new = parameters["dimensions"]
    return moved(x, lengths, lambda indices: [i for axis, i in enumerate(indices) if axis not in new])


def reverse(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The array read backwards along some axes."""
    axes = parameters["dimensions"]
    return moved(
        x,
        lengths,
        lambda ix: [n - 1 - i if a in axes else i for a, (i, n) in enumerate(zip(ix, x.lengths, strict=True))],
    )


def slice_(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """x[start + i·stride]."""
    starts = [dimension(start) for start in parameters["start_indices"]]
    strides = [dimension(stride) for stride in parameters["strides"] or [1] * len(starts)]
    return moved(x, lengths, lambda ix: [i * by + at for i, by, at in zip(ix, strides, starts, strict=True)])


def split(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> list[Array]:
    """The parts of an array, one behind the other along an axis."""
    axis, start, parts = parameters["axis"], ZERO, []
    for size in parameters["sizes"]:
        length, at = dimension(size), start
        part = (*x.lengths[:axis], length, *x.lengths[axis + 1 :])
        parts.append(moved(x, part, lambda ix, at=at: [i + at if a == axis else i for a, i in enumerate(ix)]))
        start = start + length
    return parts


def tile(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The array repeated: x[i mod n]."""
    place = lambda ix: [i - whole_part(i, n) * n for i, n in zip(ix, x.lengths, strict=True)]
    return moved(x, lengths, place)


def iota(parameters: Parameters, lengths: Lengths, kind: str, *sizes: Array) -> Array:
    """The index along one axis."""
    axis = parameters["dimension"]
    if kind in ("i", "u") and (lengths[axis].number() or 0) > WIDEST:
        raise UnsupportedError("the places of an axis that is too long for 32 bits are not followed")
    return array(lengths, kind, lambda indices: indices[axis], 1)


def dim_as_value(parameters: Parameters, lengths: Lengths, kind: str) -> Array:
    """A size as an integer."""
    return array(lengths, kind, lambda indices: dimension(parameters["dim"]))


# Reshape


def reshape(parameters: Parameters, lengths: Lengths, kind: str, x: Array, *sizes: Array) -> Array:
    """Indices of groups of axes with equal products, from one division into axes to the other."""
    if parameters.get("dimensions") is not None:
        raise UnsupportedError("a reshape that also transposes is not followed")
    groups = _groups(x.lengths, lengths)

    def place(indices: Indices) -> list[Polynomial]:
        found: list[Polynomial] = []
        for old, new in groups:
            flat = ZERO
            for axis in new:
                flat = flat * lengths[axis] + indices[axis]
            found += _unflattened(flat, [x.lengths[axis] for axis in old])
        return found

    return moved(x, lengths, place)


def _unflattened(flat: Polynomial, lengths: Sequence[Polynomial]) -> list[Polynomial]:
    """The indices along axes of these lengths, of the entry with a number in row-major order."""
    if not lengths:
        return []
    found: list[Polynomial] = []
    for length in reversed(lengths[1:]):
        above = whole_part(flat, length)
        found.append(flat - above * length)
        flat = above
    return [flat, *reversed(found)]


def _groups(old: Lengths, new: Lengths) -> list[tuple[list[int], list[int]]]:
    """Axes of the old and of the new shape with the same number of entries, as few at a time as can be told."""
    groups: list[tuple[list[int], list[int]]] = []
    olds, news, before, after = [], [], ONE, ONE
    i = o = 0
    while i < len(old) or o < len(new):
        more_old = i < len(old) and (o == len(new) or not olds or before != after and _divides(before, after))
        if more_old:
            olds.append(i)
            before, i = before * old[i], i + 1
        else:
            news.append(o)
            after, o = after * new[o], o + 1
        if before == after and (olds and news or before == ONE):
            groups.append((olds, news))
            olds, news, before, after = [], [], ONE, ONE
    if olds or news:
        raise UnsupportedError("a reshape whose axes cannot be matched is not followed")
    return groups


def _divides(small: Polynomial, large: Polynomial) -> bool:
    """Whether one number of entries is a multiple of another."""
    return quotient(large, small) is not None


# Several operands


def concatenate(parameters: Parameters, lengths: Lengths, kind: str, *parts: Array) -> Array:
    """Σ over the parts of [the index is in the part]·(its entry)."""
    axis = parameters["dimension"]

    def entry(indices: Indices) -> Polynomial:
        start, total = ZERO, ZERO
        for part in parts:
            place = list(indices)
            place[axis] = indices[axis] - start if part.lengths[axis] != ONE else ZERO
            here = in_range(indices[axis] - start, part.lengths[axis])
            total = total + here * part.at(place)
            start = start + part.lengths[axis]
        return total

    return array(lengths, kind, entry, min(p.sign for p in parts), all(p.defined for p in parts))


def stack(parameters: Parameters, lengths: Lengths, kind: str, *parts: Array) -> Array:
    """Arrays of one shape along a new axis."""
    axis = parameters["axis"]

    def entry(indices: Indices) -> Polynomial:
        total = ZERO
        for number, part in enumerate(parts):
            total = total + equal_to_zero(indices[axis] - number) * part.at((*indices[:axis], *indices[axis + 1 :]))
        return total

    return array(lengths, kind, entry, min(p.sign for p in parts), all(p.defined for p in parts))


def unstack(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> list[Array]:
    """The arrays along an axis of few entries."""
    axis = parameters["axis"]
    count = x.lengths[axis].number()
    if count is None:
        raise UnsupportedError("'unstack' along a symbolic axis is not followed")
    at = lambda number: lambda ix: (*ix[:axis], constant(number), *ix[axis:])
    return [moved(x, lengths, at(number)) for number in range(int(count))]


def pad(parameters: Parameters, lengths: Lengths, kind: str, x: Array, filling: Array) -> Array:
    """x in the middle; negative padding cuts off, interior padding pulls entries apart."""
    sides = [(dimension(low), dimension(inside) + 1) for low, _, inside in parameters["padding_config"]]

    def entry(indices: Indices) -> Polynomial:
        here, place = ONE, []
        for index, (low, step), length in zip(indices, sides, x.lengths, strict=True):
            at = index - low
            if step == ONE:
                here = here * in_range(at, length)
            else:
                before = ZERO if nonnegative(-low) else low  # so many rounds more, so that ⌊·⌋ is of a number ≥ 0
                number = whole_part(at + before * step, step) - before
                here = here * equal_to_zero(at - number * step) * in_range(number, length)
                at = number
            place.append(at)
        return here * x.at(place) + (ONE - here) * filling.at(())

    return array(lengths, kind, entry, min(x.sign, filling.sign), x.defined and filling.defined)


def copied(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The operand as it is."""
    return x


PLACEMENT: Mapping[str, Callable] = {
    "broadcast_in_dim": broadcast_in_dim,
    "concatenate": concatenate,
    "copy": copied,
    "copy_p": copied,
    "dim_as_value": dim_as_value,
    "expand_dims": expand_dims,
    "iota": iota,
    "name": copied,
    "optimization_barrier": copied,
    "pad": pad,
    "reduce_precision": copied,
    "reshape": reshape,
    "rev": reverse,
    "slice": slice_,
    "split": split,
    "squeeze": squeeze,
    "stack": stack,
    "stop_gradient": copied,
    "tile": tile,
    "transpose": transpose,
    "unstack": unstack,
}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""
