"""Primitives that sort, or tell where a number stands in the order of a row."""

from __future__ import annotations

from collections.abc import Sequence

from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed.array import Array, Indices, array
from uat_jax.numbers.indexed.orders import place, ranked
from uat_jax.numbers.indexed.polynomial import ONE, ZERO, Letter, Polynomial, fresh, of
from uat_jax.numbers.indexed.whole_numbers import WIDEST
from uat_jax.typing import Parameters

Lengths = tuple[Polynomial, ...]


def _row(x: Array, axis: int, indices: Indices) -> tuple[Polynomial, Letter]:
    """The entry at indices, in which another index stands along an axis."""
    variable = fresh(x.lengths[axis])
    at = ZERO if x.lengths[axis] == ONE else of(variable)
    return x.at([at if a == axis else i for a, i in enumerate(indices)]), variable


def _check(x: Array, axis: int) -> None:
    """Numbers can be sorted if none of them is NaN for any input."""
    if x.kind != "f":
        raise UnsupportedError("an order of integers is not followed at all sizes")
    if not x.defined:
        raise UnsupportedError("an order of numbers that may be undefined (a divisor that may be 0) is not followed")
    if (x.lengths[axis].number() or 0) > WIDEST:
        raise UnsupportedError("the places of an axis that is too long for 32 bits are not followed")


def argmax(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The place of the greatest entry along an axis, the first of equals."""
    (axis,) = parameters["axes"]
    _check(x, axis)
    return array(lengths, kind, lambda ix: place(*_row(x, axis, (*ix[:axis], ZERO, *ix[axis:])), ZERO), 1)


def argmin(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> Array:
    """The place of the greatest of −x."""
    return argmax(parameters, lengths, kind, _negative(x))


def _negative(x: Array) -> Array:
    def entry(indices: Indices) -> Polynomial:
        value = x.at(indices)
        if value.masked:
            raise UnsupportedError("an ascending order of masked numbers (-inf) is not followed")
        return -value

    return array(x.lengths, x.kind, entry, 0, x.defined)


def sort(parameters: Parameters, lengths: Lengths, kind: str, keys: Array, *others: Array) -> list[Array]:
    """The first operand from the least entry to the greatest along an axis, and the others in the same order."""
    if parameters["num_keys"] != 1 or others and not parameters["is_stable"]:
        raise UnsupportedError("an order by several rows, or one that is not stable, is not followed at all sizes")
    axis = parameters["dimension"]
    _check(keys, axis)
    negative = _negative(keys)
    last = lengths[axis] - 1
    sorted_keys = array(lengths, "f", lambda ix: _at_rank(keys, axis, ix, last - ix[axis]), keys.sign)
    return [sorted_keys, *(_in_order(x, negative, axis, lengths) for x in others)]


def top_k(parameters: Parameters, lengths: Lengths, kind: str, x: Array) -> list[Array]:
    """The greatest entries along an axis, the greatest first, and their places."""
    if not parameters.get("is_stable", True):
        raise UnsupportedError("an order that is not stable is not followed at all sizes")
    axis = parameters.get("axis", len(lengths) - 1) % len(lengths)
    _check(x, axis)
    values = array(lengths, "f", lambda ix: _at_rank(x, axis, ix, ix[axis]), x.sign)
    return [values, array(lengths, "i", lambda ix: place(*_row(x, axis, ix), ix[axis]), 1)]


def _at_rank(x: Array, axis: int, indices: Indices, rank: Polynomial) -> Polynomial:
    value, variable = _row(x, axis, indices)
    return ranked(value, (variable,), rank)


def _in_order(x: Array, keys: Array, axis: int, lengths: Lengths) -> Array:
    """An array in the descending order of others."""

    def entry(indices: Sequence[Polynomial]) -> Polynomial:
        at = place(*_row(keys, axis, indices), indices[axis])
        return x.at([at if a == axis else i for a, i in enumerate(indices)])

    return array(lengths, x.kind, entry, x.sign, x.defined)


SORTING = {"argmax": argmax, "argmin": argmin, "sort": sort, "top_k": top_k}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""
