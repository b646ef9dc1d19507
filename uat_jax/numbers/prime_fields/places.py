"""Entries at places that depend on the inputs: x[i] is the sum of [i = k]·x[k] over all places k that i can be.

So is a part of an array that is replaced: it is the sum of [i = k] times the array with the part at k replaced.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn
from jax.lax import GatherScatterMode

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.structure import positions
from uat_jax.interpret.tracing import shape_of, source_line
from uat_jax.numbers.prime_fields.facts import Nature
from uat_jax.numbers.prime_fields.field_functions import FieldFunctions
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.number import Number, Place
from uat_jax.numbers.prime_fields.residues import Residues, same, vanishes

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields


@dataclass(frozen=True)
class Start:
    """Where slices start along one axis: a number of the shape of the result, one of some whole numbers in a row."""

    number: Number
    places: range


def taken(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Number:
    """The result of a `gather`, `dynamic_slice` or `dynamic_update_slice` whose indices depend on the inputs.

    Raises:
        UnsupportedError: an index may lie outside the operand or be undefined, an entry may be infinite, or there are
            too many places.
    """
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    count = 2 if equation.primitive.name == "dynamic_update_slice" else 1
    given = [fields.lift(operand) for operand in operands[:count]]
    numbers = [operand for operand in operands if isinstance(operand, Number)]
    if any(n.special is not None or n.infinite is not None or n.facts is None or n.facts.hollow for n in numbers):
        raise UnsupportedError(f"{named} takes an index that depends on the input from what may be infinite")
    starts = _starts(fields, equation, operands)
    many = math.prod(start.places.stop - start.places.start for start in starts)  # more than `len` can count
    if many * max(1, math.prod(shape_of(equation.outvars[0]))) > LARGE:
        raise UnsupportedError(f"{named} takes an index that depends on the input out of {many}, which are too many")
    cases = list(itertools.product(*(start.places for start in starts)))
    supplied = [place < count for place in range(len(operands))]
    entries = [
        gathered(fields.functions, given, source)
        for case in cases
        for source in positions(equation, _concrete(equation, operands, case), supplied)
    ]
    lawful = "entry at its place" in fields.functions.laws and count == 1
    found = _of_rank(fields.functions, starts, entries) if lawful else None
    return _blended(fields.functions, starts, cases, entries) if found is None else found


def at_places(fields: Fields, places: Number, x: Number, axis: int) -> Number:
    """The entries of the rows of x along an axis that stand at some places in them, one for each entry of `places`."""
    f, start = fields.functions, Start(places, range(x.shape[axis]))
    row = lambda k: x.moved(lambda a: np.broadcast_to(np.take(a, [k], axis + 1), a.shape))
    entries = [row(k) for k in start.places]
    found = _of_rank(f, [start], entries) if "entry at its place" in f.laws else None
    return _blended(f, [start], [(k,) for k in start.places], entries) if found is None else found


def _starts(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Start]:
    """The starts that depend on the inputs."""
    shape, result = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
    if equation.primitive.name == "gather":
        numbers, indices, sizes = equation.params["dimension_numbers"], operands[1], equation.params["slice_sizes"]
        spread = lambda a: np.expand_dims(a, tuple(axis + 1 for axis in numbers.offset_dims))
        along = lambda k: indices.moved(lambda a: spread(a[..., k]))
        given = [(along(k), axis, 1) for k, axis in enumerate(numbers.start_index_map)]
    else:
        sizes = equation.params.get("slice_sizes") or shape_of(equation.invars[1])
        first = len(operands) - len(shape)
        given = [(index, axis, first + axis) for axis, index in enumerate(operands[first:])]
    return [
        _start(fields, equation, index, shape[axis] - sizes[axis], place, result)
        for index, axis, place in given
        if isinstance(index, Number)
    ]


def _start(fields: Fields, equation: JaxprEqn, index: Number, last: int, operand: int, shape: tuple[int, ...]) -> Start:
    """An index in the shape of the result; it is from 0 to `last` for all inputs, or clamped to that.

    Raises:
        UnsupportedError: that is not known.
    """
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    if not fields.certain(index) or index.facts is None or index.facts.nature is not Nature.PIECEWISE:
        raise UnsupportedError(f"{named} takes an index that depends on the input and may be NaN before it is cast")
    known, spread = fields.operand_ranges[operand], fields.functions.spread(index, shape)
    clamps = equation.primitive.name != "gather" or equation.params["mode"] == GatherScatterMode.CLIP
    if clamps or known.low >= 0 and known.high <= last:
        return Start(spread, range(int(known.low), int(known.high) + 1))
    inside = Start(spread, range(last + 1))
    if not np.any(_equal(fields.functions, inside), axis=0).all():
        raise UnsupportedError(
            f"{named} takes an index that depends on the input and lies in {known}, and 0 to {last} is inside; clip it"
        )
    return inside


def _concrete(equation: JaxprEqn, operands: Sequence[Any], case: Sequence[int]) -> list[Any]:
    """The operands with these numbers for the indices that depend on the inputs."""
    if equation.primitive.name != "gather":
        values, first = iter(case), len(operands) - len(shape_of(equation.invars[0]))
        return [*operands[:first], *(next(values) if isinstance(o, Number) else o for o in operands[first:])]
    return [None, np.broadcast_to(np.array(case, np.int64), shape_of(equation.invars[1]))]


def _blended(
    f: FieldFunctions, starts: Sequence[Start], cases: Sequence[tuple[int, ...]], entries: Sequence[Number]
) -> Number:
    """Σ ∏ [iₐ = kₐ]·x[k] over the places k; of two places x[0] + i·(x[1] - x[0])."""
    if len(entries) == 1:
        return entries[0]
    if len(entries) == 2 and len(starts) == 1:
        index = f.subtract(starts[0].number, f.constant(starts[0].places[0], starts[0].number.shape))
        return f.add(entries[0], f.multiply(index, f.subtract(entries[1], entries[0])))
    chosen = [dict(zip(start.places, _choices(f, start), strict=True)) for start in starts]
    total = f.constant(0, entries[0].shape)
    for case, entry in zip(cases, entries, strict=True):
        for choices, k in zip(chosen, case, strict=True):
            entry = f.multiply(choices[k], entry)
        total = f.add(total, entry)
    return total


def _choices(f: FieldFunctions, start: Start) -> list[Number]:
    """[i = k] for each k; 1 and 0 where i is one of them whatever the inputs are."""
    equal = _equal(f, start)
    fixed = np.any(equal, axis=0)
    letters = [f.equality(f.subtract(start.number, f.constant(k, fixed.shape))) for k in start.places]
    whether = lambda here, letter: f.draw.where(fixed, f.draw.floats(here.astype(float)), letter.residues)
    return [Number(whether(h, e)) if fixed.any() else e for h, e in zip(equal, letters, strict=True)]


def _equal(f: FieldFunctions, start: Start) -> list[np.ndarray]:
    """For each place k: where the index is k whatever the inputs are, as the random point shows."""
    difference = lambda k: f.subtract(start.number, f.constant(k, start.number.shape))
    return [vanishes(difference(k).residues) for k in start.places]


def _of_rank(f: FieldFunctions, starts: Sequence[Start], entries: Sequence[Number]) -> Number | None:
    """The numbers of known ranks in their rows, if the index is where they stand; of -x they are those of x, turned."""
    place, places = starts[0].number.place, starts[0].places
    if place is None or len(starts) > 1 or places[0] or len(places) != place.rows.shape[0]:
        return None
    sources = np.arange(len(entries) * math.prod(entries[0].shape)).reshape(len(entries), *entries[0].shape)
    rows = gathered(f, entries, sources)
    for way in (lambda x: x, f.negate):
        if same(way(rows).residues, place.rows):
            return way(of_ranks(f, way(rows), place.ranks))
    return None


def of_ranks(f: FieldFunctions, rows: Number, ranks: np.ndarray) -> Number:
    """Of each row along the leading axis the number of a rank."""
    if np.all(ranks == rows.shape[0] - 1):
        return f.largest(rows, (0,))
    pick = lambda a: np.take_along_axis(a, np.broadcast_to(ranks, (len(a), 1, *ranks.shape)), 1)[:, 0]
    return f.order_statistics(rows, 0).moved(pick)


def standing(found: Number, row: Number, axis: int, ranks: np.ndarray) -> Number:
    """Places along an axis, known as those at which the numbers of some ranks stand in the rows along this axis.

    ranks: from 0 for the smallest, one for each place along the axis.
    """
    size, shape = row.shape[axis], row.shape
    if size * math.prod(shape) > LARGE:
        return found
    spread = lambda a: np.broadcast_to(np.expand_dims(np.moveaxis(a, axis + 1, 1), axis + 2), (len(a), size, *shape))
    rows = Residues(tuple(map(spread, row.residues.levels)), row.residues.degree.mixed())
    along = np.broadcast_to(ranks.reshape([-1 if a == axis else 1 for a in range(len(shape))]), shape)
    return found.but(place=Place(rows, along))
