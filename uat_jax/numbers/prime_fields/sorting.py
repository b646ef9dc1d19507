"""Sorts in prime fields: the first key as order statistics, what is sorted along with it at the places of its entries.

The place from which the i-th entry comes is an unknown function of the rows of all keys, because the sort is stable.
Of one key it is that of the i-th largest entry of the negative row, which argmax and top_k give as well.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.tracing import source_line
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.places import at_places, standing
from uat_jax.numbers.prime_fields.residues import Residues, same

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields


def sort(fields: Fields, equation: JaxprEqn, *operands: Any) -> list[Any]:
    """The sorted first key, and every other operand at the places from which its entries come.

    Of rows that are too long an operand is an unknown function of itself and the keys.
    """
    numbers = [fields.lift(operand) for operand in operands]
    axis, count = equation.params["dimension"], equation.params["num_keys"]
    refuse_special(equation, *numbers)
    if not fields.certain(*numbers[:count]):
        return [fields.unknown(f"{i}", equation, number.shape) for i, number in enumerate(numbers)]
    results: list[Any] = [fields.functions.order_statistics(numbers[0], axis)]
    if len(numbers) == 1:
        return results
    fields.draw.compared(count * math.prod(numbers[0].shape))
    keys = _deciding(operands[:count], numbers[:count], axis)
    if len(keys) == 1:
        places = descending_places(fields, fields.functions.negate(keys[0]), axis)
    else:
        places = of_row(fields, "sorted places", axis, *(from_first(fields, key, axis) for key in keys))
    ranks = np.arange(places.shape[axis])
    for i, number in enumerate(numbers[1:], start=1):
        if counts(operands[i], axis):
            results.append(standing(places, keys[0], axis, ranks) if len(keys) == 1 else places)
        elif counts(operands[i], axis, back=True):
            behind = _from_behind(fields, places, axis)
            results.append(standing(behind, _turned(keys[0], axis), axis, ranks) if len(keys) == 1 else behind)
        elif places.shape[axis] * math.prod(places.shape) <= LARGE:
            results.append(at_places(fields, places, number, axis))
        else:
            results.append(of_row(fields, "sorted payload", axis, *keys, number))
    return results


def _deciding(operands: Sequence[Any], keys: Sequence[Number], axis: int) -> list[Number]:
    """The keys without those that decide nothing: what was a key before, and what follows on 0, 1, 2, …

    A sort leaves entries with equal keys in their order, as does 0, 1, 2, … for a last key, in which no two are equal.
    """
    kept: list[Number] = []
    for place, (operand, key) in enumerate(zip(operands, keys, strict=True)):
        if place and counts(operand, axis):
            break
        if not any(same(key.residues, other.residues) for other in kept):
            kept.append(key)
    return kept


def refuse_special(equation: JaxprEqn, *numbers: Number) -> None:
    """Return if no entry is infinite or NaN.  Raises `UnsupportedError`."""
    if any(n.special is not None for n in numbers):
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} compares an infinity or NaN; mask by position instead"
        )


def counts(operand: Any, axis: int, *, back: bool = False) -> bool:
    """Whether an operand is 0, 1, 2, … along an axis, or …, 2, 1, 0."""
    if isinstance(operand, Number) or not np.issubdtype(operand.dtype, np.integer):
        return False
    wanted = np.arange(operand.shape[axis])[:: -1 if back else 1]
    return bool(np.all(np.moveaxis(np.asarray(operand), axis, -1) == wanted))


def _turned(x: Number, axis: int) -> Number:
    """The rows along an axis from their end to their beginning."""
    return x.moved(lambda a: np.flip(a, axis + 1))


def _from_behind(fields: Fields, places: Number, axis: int) -> Number:
    """Places counted from the end of a row."""
    return fields.functions.subtract(fields.functions.constant(places.shape[axis] - 1, places.shape), places)


def descending_places(fields: Fields, x: Number, axis: int) -> Number:
    """The places of the entries of each row in descending order, the first of equal ones first.

    P_k(x) = (h_k(x) + n - 1 - h_(n-1-k)(-x turned round)) / 2 for an unknown function h of the row, as P itself is.
    Of two entries they are [x[1] > x[0]] and 1 less that.
    """
    f, size = fields.functions, x.shape[axis]
    if size == 2:
        entry = lambda k: x.moved(lambda a: np.take(a, [k, k], axis + 1))
        second = f.step(f.subtract(entry(1), entry(0)))
        is_first = np.indices(x.shape)[axis] == 0
        return Number(fields.draw.where(is_first, second.residues, f.subtract(f.constant(1, x.shape), second).residues))
    there = of_row(fields, "places", axis, from_first(fields, x, axis))
    back = of_row(fields, "places", axis, from_first(fields, f.negate(_turned(x, axis)), axis))
    both = f.add(there, _from_behind(fields, _turned(back, axis), axis))
    return f.multiply(f.constant(Fraction(1, 2), both.shape), both)


def from_first(fields: Fields, x: Number, axis: int) -> Number:
    """The rows less their first entry, which are in the same order: that is the same for x and for x + c."""
    return fields.functions.subtract(x, x.moved(lambda a: np.broadcast_to(np.take(a, [0], axis + 1), a.shape)))


def of_row(fields: Fields, name: str, axis: int, *numbers: Number) -> Number:
    """An unknown function of a whole row of every number at each of its places."""
    draw, shape = fields.draw, numbers[0].shape
    size = shape[axis]
    places = draw.floats(np.arange(size, dtype=float)).reshaped((size, *(1,) * (len(shape) - 1)))
    arguments = [number.residues.moved(lambda a: np.moveaxis(a, axis + 1, 1)) for number in numbers]
    total = draw.sum(draw.opaque(f"{name} entry", *arguments, places), (0,))
    spread = Residues(
        tuple(np.broadcast_to(a[:, None], (len(a), size, *a.shape[1:])) for a in total.levels), total.degree
    )
    return Number(draw.opaque(name, spread, places)).moved(lambda a: np.moveaxis(a, 1, axis + 1))
