"""Entries at places that depend on the inputs: x[i] is the sum of [i = k]·x[k] over all places k that i can be."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.facts import Nature
from uat_jax.arithmetic.field_functions import FieldFunctions
from uat_jax.arithmetic.gathering import gathered
from uat_jax.arithmetic.number import Number, Place
from uat_jax.arithmetic.operation import LARGE
from uat_jax.arithmetic.residues import Residues, same, vanishes
from uat_jax.arithmetic.structure import positions
from uat_jax.arithmetic.tracing import shape_of, source_line
from uat_jax.errors import UnsupportedError

if TYPE_CHECKING:
    from uat_jax.arithmetic.fields import Fields


@dataclass(frozen=True)
class Start:
    """Where slices start along one axis: a number of the shape of the result, a whole number from 0 to `last`."""

    number: Number
    last: int


def taken(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> Number:
    """The result of a `gather` or `dynamic_slice` whose indices depend on the inputs.

    Raises:
        UnsupportedError: an index may lie outside the operand or be undefined, an entry may be infinite, or there are
            too many places.
    """
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    x = fields.lift(operands[0])
    numbers = [operand for operand in operands if isinstance(operand, Number)]
    if any(n.special is not None or n.infinite is not None or n.facts is None or n.facts.hollow for n in numbers):
        raise UnsupportedError(f"{named} takes an index that depends on the input from what may be infinite")
    starts = _starts(fields, equation, operands)
    count, shape = math.prod(start.last + 1 for start in starts), shape_of(equation.outvars[0])
    if count * math.prod(shape) > LARGE:
        raise UnsupportedError(f"{named} takes an index that depends on the input out of {count}, which are too many")
    cases = list(itertools.product(*(range(start.last + 1) for start in starts)))
    supplied = [place == 0 for place in range(len(operands))]
    entries = [
        gathered(fields.functions, [x], source)
        for case in cases
        for source in positions(equation, _concrete(equation, operands, case), supplied)
    ]
    found = _of_rank(fields.functions, starts, entries) if "entry at its place" in fields.functions.laws else None
    return _blended(fields.functions, starts, cases, entries) if found is None else found


def _starts(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Start]:
    """The starts that depend on the inputs."""
    shape, result = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
    if equation.primitive.name == "dynamic_slice":
        given = [(index, axis, place) for place, (axis, index) in enumerate(enumerate(operands[1:]), start=1)]
    else:
        numbers, indices = equation.params["dimension_numbers"], operands[1]
        spread = lambda a: np.expand_dims(a, tuple(axis + 1 for axis in numbers.offset_dims))
        along = lambda k: indices.moved(lambda a: spread(a[..., k]))
        given = [(along(k), axis, 1) for k, axis in enumerate(numbers.start_index_map)]
    sizes = equation.params["slice_sizes"]
    return [
        Start(_inside(fields, equation, index, shape[axis] - sizes[axis], place, result), shape[axis] - sizes[axis])
        for index, axis, place in given
        if isinstance(index, Number)
    ]


def _inside(
    fields: Fields, equation: JaxprEqn, index: Number, last: int, operand: int, shape: tuple[int, ...]
) -> Number:
    """An index in the shape of the result; it is a whole number from 0 to `last` for all inputs.

    Raises:
        UnsupportedError: that is not known.
    """
    named = f"'{equation.primitive.name}'{source_line(equation)}"
    if not fields.certain(index) or index.facts is None or index.facts.nature is not Nature.PIECEWISE:
        raise UnsupportedError(f"{named} takes an index that depends on the input and may be NaN before it is cast")
    known = fields.operand_ranges[operand]
    if not (known.low >= 0 and known.high <= last):
        raise UnsupportedError(
            f"{named} takes an index that depends on the input and lies in {known}, and 0 to {last} is inside; clip it"
        )
    return fields.functions.spread(index, shape)


def _concrete(equation: JaxprEqn, operands: Sequence[Any], case: Sequence[int]) -> list[Any]:
    """The operands with these numbers for the indices that depend on the inputs."""
    if equation.primitive.name == "dynamic_slice":
        values = iter(case)
        return [None, *(next(values) if isinstance(o, Number) else o for o in operands[1:])]
    return [None, np.broadcast_to(np.array(case, np.int64), shape_of(equation.invars[1]))]


def _blended(
    f: FieldFunctions, starts: Sequence[Start], cases: Sequence[tuple[int, ...]], entries: Sequence[Number]
) -> Number:
    """Σ ∏ [iₐ = kₐ]·x[k] over the places k; of two places x[0] + i·(x[1] - x[0])."""
    if len(entries) == 2 and len(starts) == 1:
        index = starts[0].number.but(place=None)
        return f.add(entries[0], f.multiply(index, f.subtract(entries[1], entries[0])))
    chosen = [_choices(f, start) for start in starts]
    total = f.constant(0, entries[0].shape)
    for case, entry in zip(cases, entries, strict=True):
        for choices, k in zip(chosen, case, strict=True):
            entry = f.multiply(choices[k], entry)
        total = f.add(total, entry)
    return total


def _choices(f: FieldFunctions, start: Start) -> list[Number]:
    """[i = k] for each k; 1 and 0 where i is one of them whatever the inputs are."""
    differences = [f.subtract(start.number, f.constant(k, start.number.shape)) for k in range(start.last + 1)]
    equal = [vanishes(d.residues) for d in differences]
    fixed = np.any(equal, axis=0)
    whether = lambda d, e: f.draw.where(fixed, f.draw.floats(e.astype(float)), f.equality(d).residues)
    return [Number(whether(d, e)) if fixed.any() else f.equality(d) for d, e in zip(differences, equal, strict=True)]


def _of_rank(f: FieldFunctions, starts: Sequence[Start], entries: Sequence[Number]) -> Number | None:
    """The numbers of known ranks in their rows, if the index is where they stand; of -x they are those of x, turned."""
    place = starts[0].number.place
    if place is None or len(starts) > 1 or len(entries) != place.rows.shape[0]:
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
