"""Arrays whose rows are made one by one: row t of tanh(x @ W) is tanh(x[t] @ W).

A loop that reads such an array reads, in truth, rows of its inputs.  So two loops of which one multiplies by W before
and the other one within its steps are compared with the row x[t] for a letter.  `RowWise` follows a program and notes
for every array, where that is so, how any of its rows is computed; that is exact and has no chance of error.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.loops.walk import OnLoop, Value, Walk, is_concrete, staged
from uat_jax.interpret.tracing import is_number, shape_of
from uat_jax.numbers.prime_fields.formula import ENTRYWISE

REDUCTIONS = frozenset("reduce_sum reduce_max reduce_min reduce_prod".split())

Index = tuple[Any, int]
"""(a, b): the row a + b·t of the step t; a may be symbolic."""

Letter = tuple[int, int, Index]
"""The row at an index, along an axis, of the input of a number."""

Read = Callable[[Letter], Value]
"""Gives the row that a letter stands for."""


@dataclass(frozen=True, eq=False)
class Rows:
    """How the rows of an array along an axis are computed, from rows of inputs."""

    axis: int
    at: Callable[[Index, Read], Value]


class RowWise(Walk):
    """A walk that knows the rows of what it computes: `rows` of a value, None where they are not made one by one."""

    def __init__(self, on_loop: OnLoop | None = None):
        super().__init__(on_loop)
        self._known: dict[int, tuple[Value, list[Rows]]] = {}

    def know(self, value: Value, rows: Rows) -> None:
        """Notes the rows of a value."""
        self._known.setdefault(id(value), (value, []))[1].append(rows)

    def rows(self, value: Value, axis: int = 0) -> Rows | None:
        """The rows of a value along an axis."""
        known = self._known.get(id(value), (value, []))[1]
        return next((rows for rows in known if rows.axis == axis), None)

    def know_inputs(self, inputs: Sequence[Value], least: int) -> None:
        """Notes that inputs have rows along every axis of at least so many entries."""
        for number, value in enumerate(inputs):
            for axis, size in enumerate(value.shape):
                if jax.export.is_symbolic_dim(size) or size >= least:
                    self.know(value, of_input(number, axis))

    def primitive(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of a primitive, and what is known of their rows."""
        results = super().primitive(equation, operands)
        if len(results) == 1 and all(map(is_number, equation.outvars)):
            if equation.primitive.name == "broadcast_in_dim":
                for found in _repeated(equation, operands[0]):
                    self.know(results[0], found)
            axes = {rows.axis for o in operands for rows in self._known.get(id(o), (o, []))[1]}
            for axis in axes:
                known = [self.rows(o, axis) for o in operands]
                found = _rule(equation, operands, known, axis)
                if found is None and len(known) == 2 and None not in known:  # the rows of one operand alone
                    one, other = known
                    found = _rule(equation, operands, [one, None], axis) or _rule(
                        equation, operands, [None, other], axis
                    )
                if found is not None:
                    self.know(results[0], found)
        return results


def _rule(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    """The rows of a result, from those of the operands along an axis; None if there is no rule."""
    name = equation.primitive.name
    if name in ENTRYWISE and not name.startswith("select"):
        return _entrywise(equation, operands, rows, axis)
    rule = RULES.get(name) or (rows_of_reduction if name in REDUCTIONS else None)
    return None if rule is None else rule(equation, operands, rows, axis)


def _entrywise(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    shapes, whole = [shape_of(atom) for atom in equation.invars], shape_of(equation.outvars[0])
    # An array of one row beside others of many stands for many equal ones.
    rows = [of if shape and shape[axis] == whole[axis] else None for of, shape in zip(rows, shapes, strict=True)]
    if not any(rows) or any(of is None and shape and shape[axis] != 1 for of, shape in zip(rows, shapes, strict=True)):
        return None

    def at(index: Index, read: Read) -> Value:
        same = lambda o: lax.squeeze(o, (axis,)) if np.ndim(o) else o
        given = [same(o) if of is None else of.at(index, read) for o, of in zip(operands, rows, strict=True)]
        return staged(equation, given)[0]

    return Rows(axis, at)


def _one(rows: Sequence[Rows | None]) -> Rows:
    """The rows of the only operand that has some."""
    (found,) = [of for of in rows if of is not None]
    return found


def _broadcast(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    places, shape = equation.params["broadcast_dimensions"], equation.params["shape"]
    target = places[axis]
    if shape[target] != shape_of(equation.invars[0])[axis]:
        return None
    inner = tuple(size for place, size in enumerate(shape) if place != target)
    moved = tuple(p - (p > target) for place, p in enumerate(places) if place != axis)
    return Rows(target, lambda index, read: lax.broadcast_in_dim(_one(rows).at(index, read), inner, moved))


def _repeated(equation: JaxprEqn, operand: Value) -> list[Rows]:
    """The rows along axes on which an array is repeated: all the same."""
    places, shape = equation.params["broadcast_dimensions"], equation.params["shape"]
    before = shape_of(equation.invars[0])
    found = []
    for target, size in enumerate(shape):
        if target in places and before[places.index(target)] == size:
            continue
        kept = [(p, n) for p, n in zip(places, before, strict=True) if p != target]
        inner = tuple(n for place, n in enumerate(shape) if place != target)
        moved = tuple(p - (p > target) for p, _ in kept)

        def at(index: Index, read: Read, kept: Any = kept, inner: Any = inner, moved: Any = moved) -> Value:
            return lax.broadcast_in_dim(lax.reshape(operand, tuple(n for _, n in kept)), inner, moved)

        found.append(Rows(target, at))
    return found


def _reshaped(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    before, after = shape_of(equation.invars[0]), shape_of(equation.outvars[0])
    lead = math.prod(before[:axis])
    fits = (p for p, size in enumerate(after) if math.prod(after[:p]) == lead and size == before[axis])
    target = next(fits, None)
    if target is None:
        return None
    inner = (*after[:target], *after[target + 1 :])
    return Rows(target, lambda index, read: lax.reshape(_one(rows).at(index, read), inner))


def _transposed(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    order = equation.params["permutation"]
    inner = tuple(p - (p > axis) for p in order if p != axis)
    return Rows(order.index(axis), lambda index, read: lax.transpose(_one(rows).at(index, read), inner))


def _squeezed(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    gone = equation.params["dimensions"]
    if axis in gone:
        return None
    inner = tuple(d - (d > axis) for d in gone)
    target = axis - sum(d < axis for d in gone)
    return Rows(target, lambda index, read: lax.squeeze(_one(rows).at(index, read), inner))


def rows_of_reduction(
    equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int
) -> Rows | None:
    """The rows of a reduction over other axes."""
    axes = equation.params["axes"]
    if axis in axes:
        return None
    inner = tuple(d - (d > axis) for d in axes)
    target = axis - sum(d < axis for d in axes)

    def at(index: Index, read: Read) -> Value:
        row = _one(rows).at(index, read)
        return equation.primitive.bind(row, **{**equation.params, "axes": inner})

    return Rows(target, at)


def _sliced(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows:
    start, limit = equation.params["start_indices"], equation.params["limit_indices"]
    strides = equation.params["strides"] or (1,) * len(start)
    rest = lambda whole: tuple(x for place, x in enumerate(whole) if place != axis)

    def at(index: Index, read: Read) -> Value:
        a, b = index
        row = _one(rows).at((start[axis] + strides[axis] * a, strides[axis] * b), read)
        return lax.slice(row, rest(start), rest(limit), rest(strides))

    return Rows(axis, at)


def _gathered(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    """A slice from a known place to the end, which JAX writes so where the size is symbolic."""
    parameters, (array, start) = equation.params, equation.invars
    numbers, rank = parameters["dimension_numbers"], len(shape_of(array))
    whole = not numbers.collapsed_slice_dims and not numbers.operand_batching_dims
    one = is_concrete(operands[1]) and shape_of(start) == (len(numbers.start_index_map),)
    if not whole or not one or numbers.offset_dims != tuple(range(rank)):
        return None
    if parameters["mode"] != lax.GatherScatterMode.PROMISE_IN_BOUNDS:
        return None
    first = dict(zip(numbers.start_index_map, operands[1].tolist(), strict=True))
    others = [(d, size) for d, size in enumerate(parameters["slice_sizes"]) if d != axis]
    if any(first.get(d, 0) or size != shape_of(array)[d] for d, size in others):
        return None
    return Rows(axis, lambda index, read: _one(rows).at((first.get(axis, 0) + index[0], index[1]), read))


def _reversed(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows:
    turned, last = equation.params["dimensions"], shape_of(equation.invars[0])[axis] - 1
    inner = tuple(d - (d > axis) for d in turned if d != axis)

    def at(index: Index, read: Read) -> Value:
        a, b = index
        row = _one(rows).at((last - a, -b) if axis in turned else index, read)
        return lax.rev(row, inner) if inner else row

    return Rows(axis, at)


def _joined(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    along = equation.params["dimension"]
    if along == axis or any(of is None for of in rows):
        return None
    inner = along - (along > axis)
    parts = [of for of in rows if of is not None]
    return Rows(axis, lambda index, read: lax.concatenate([of.at(index, read) for of in parts], inner))


def _product(equation: JaxprEqn, operands: Sequence[Value], rows: Sequence[Rows | None], axis: int) -> Rows | None:
    """A product of matrices; the rows of one operand go on as an axis of the result, or of both as a batch."""
    (contracted, batched) = equation.params["dimension_numbers"]
    sides = [i for i, of in enumerate(rows) if of is not None]
    if any(axis in contracted[i] for i in sides):
        return None
    counts = [len(shape_of(v)) - len(contracted[i]) - len(batched[i]) for i, v in enumerate(equation.invars)]
    if len(sides) == 2:
        if axis not in batched[0] or batched[1][tuple(batched[0]).index(axis)] != axis:
            return None
        target = tuple(batched[0]).index(axis)
    else:
        (side,) = sides
        if axis in batched[side]:
            return None
        free = [d for d in range(len(shape_of(equation.invars[side]))) if d not in (*contracted[side], *batched[side])]
        target = len(batched[0]) + (counts[0] if side else 0) + free.index(axis)
    less = lambda i, dims: tuple(d - (i in sides and d > axis) for d in dims if not (i in sides and d == axis))
    numbers = tuple(tuple(less(i, dims) for i, dims in enumerate(pair)) for pair in (contracted, batched))

    def at(index: Index, read: Read) -> Value:
        given = [o if of is None else of.at(index, read) for o, of in zip(operands, rows, strict=True)]
        return equation.primitive.bind(*given, **{**equation.params, "dimension_numbers": numbers})

    return Rows(target, at)


RULES: dict[str, Any] = {
    "broadcast_in_dim": _broadcast,
    "reshape": _reshaped,
    "transpose": _transposed,
    "squeeze": _squeezed,
    "slice": _sliced,
    "gather": _gathered,
    "rev": _reversed,
    "concatenate": _joined,
    "dot_general": _product,
}
"""What becomes of rows, by primitive."""


def of_input(number: int, axis: int) -> Rows:
    """The rows of an input along an axis."""
    return Rows(axis, lambda index, read: read((number, axis, index)))


def row_of(rows: Rows, index: Index, letters: dict[Letter, Value]) -> Value:
    """A row, from the letters that stand for rows of inputs."""
    return rows.at(index, lambda letter: letters[letter])
