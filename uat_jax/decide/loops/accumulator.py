"""What rows accumulate: arrays that every row changes, such as a sum, a maximum, or the carry of a scan over rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.loops.along import Along, Factor, Moving, Number, plain, product, shaped, total, without
from uat_jax.decide.loops.products import parted
from uat_jax.decide.loops.walk import Value, Walk
from uat_jax.interpret.interpreter import scan_counts
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of

if TYPE_CHECKING:
    from uat_jax.decide.loops.prefix import Prefix

JOINED: Mapping[str, Callable[[Value, Value], Value]] = {
    "reduce_sum": lax.add,
    "reduce_max": lax.max,
    "reduce_min": lax.min,
    "reduce_prod": lax.mul,
}
"""What one more row does to an accumulator, by the reduction that makes it."""


@dataclass(frozen=True)
class Accumulator:
    """Arrays that every row changes: what they are after the first row, and after one more.

    reduces: whether it is one array, a sum, product, maximum or minimum of rows.
    """

    types: list[jax.ShapeDtypeStruct]
    first: list[Value]
    after: list[Value]
    reduces: bool


def reduced(walk: Prefix, equation: JaxprEqn, operand: Along) -> Moving:
    """A reduction over the steps, and over other axes after it."""
    name, axes = equation.primitive.name, equation.params["axes"]
    if not is_number(equation.outvars[0]):
        raise walk.refused(equation, "accumulates whole numbers; convert them to floats first")
    inner = tuple(d - (d > operand.axis) for d in axes if d != operand.axis)
    value = _sum_of_all(walk, equation, operand) if name == "reduce_sum" else _extreme(walk, equation, operand)
    if inner:
        value = equation.primitive.bind(value, **{**equation.params, "axes": inner})
    return Moving(value)


def _sum_of_all(walk: Prefix, equation: JaxprEqn, operand: Along) -> Value:
    """Σ_k f_k·Σ_i r_k[i]."""
    parts = [product(f, _sum_of_rows(walk, r)) for f, r in operand.terms]
    shape = without(shape_of(equation.invars[0]), operand.axis)
    return shaped(total(parts), jax.ShapeDtypeStruct(shape, dtype_of(equation.outvars[0])))


def _sum_of_rows(walk: Prefix, row: Factor) -> Value:
    """Σ_i row_i; of ones it is t."""
    return walk.count if row is None else _of_rows(walk, "reduce_sum", row)


def _extreme(walk: Prefix, equation: JaxprEqn, operand: Along) -> Value:
    """max_i (f + r_i) = f + max_i r_i; other reductions are of rows alone."""
    name, row = equation.primitive.name, operand.pure()
    if row is not None:
        return _of_rows(walk, name, row)
    if name not in ("reduce_max", "reduce_min"):
        raise walk.refused(equation, "multiplies rows with what depends on all steps")
    fixed, row = parted(walk, equation, operand)
    found = [x for x in (fixed, None if row is None else _of_rows(walk, name, row)) if x is not None]
    return total(found)


def _of_rows(walk: Prefix, name: str, row: Value) -> Value:
    """The accumulator of a reduction of rows."""
    key = (name, walk.identity(row))
    if key not in walk.met:
        (letter,) = walk.letters([jax.ShapeDtypeStruct(row.shape, row.dtype)])
        _note(walk, [letter], [row], [JOINED[name](letter, row)], reduces=True)
        walk.met[key] = [letter, row]
    return walk.met[key][0]


def _note(walk: Prefix, letters: Sequence[Value], first: list[Value], after: list[Value], *, reduces: bool) -> None:
    types = [jax.ShapeDtypeStruct(x.shape, x.dtype) for x in letters]
    walk.accumulators.append(Accumulator(types, first, after, reduces))


def contracted(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Moving:
    """A product of matrices that adds over the steps."""
    dimensions = equation.params["dimension_numbers"]
    over, x, y = dimensions[0], *operands
    aligned = all(isinstance(o, Along) and o.axis in over[i] for i, o in enumerate(operands))
    if not aligned or tuple(over[0]).index(x.axis) != tuple(over[1]).index(y.axis):
        raise walk.refused(equation, "contracts the steps with another axis")
    if not is_number(equation.outvars[0]):
        raise walk.refused(equation, "accumulates whole numbers; convert them to floats first")
    less = lambda side, dims: tuple(d - (d > side.axis) for d in dims if d != side.axis)
    numbers = tuple(tuple(less(o, dims) for o, dims in zip(operands, pair, strict=True)) for pair in dimensions)
    if any(f is not None for o in operands for f, _ in o.terms) and numbers[0][0]:
        raise walk.refused(equation, "contracts another axis of what depends on all steps")
    own: Any = {**equation.params, "dimension_numbers": numbers}
    ones = lambda o: next(lax.full(v.shape, 1, v.dtype) for pair in o.terms for v in pair if v is not None)
    one, other = ones(x), ones(y)
    multiply = lambda a, b: equation.primitive.bind(one if a is None else a, other if b is None else b, **own)
    parts = []
    for f, r in x.terms:
        for g, s in y.terms:
            part = _of_rows(walk, "reduce_sum", multiply(r, s))
            parts.append(part if f is None and g is None else lax.mul(multiply(f, g), part))
    return Moving(total(parts))


def scanned(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
    """A scan over the rows: its carry is an accumulator; the rows that it gives are not followed."""
    constants, carries = scan_counts(equation)
    first = constants + carries
    if equation.params["reverse"]:
        raise walk.refused(equation, "visits the steps in reverse")
    if any(isinstance(o, Moving | Along | Number) for o in operands[:first]):
        raise walk.refused(equation, "starts from, or uses, what depends on all steps")
    if not all(map(is_number, equation.invars[constants:first])):
        raise walk.refused(equation, "carries whole numbers")
    rows = [
        operand.pure() if isinstance(operand, Along) and operand.axis == 0 else None for operand in operands[first:]
    ]
    if any(row is None for row in rows):
        raise walk.refused(equation, "visits more than single steps")
    run = lambda carry: Walk().closed(equation.params["jaxpr"], [*operands[:constants], *carry, *rows])[:carries]
    start = [plain(o) for o in operands[constants:first]]
    types = [jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in equation.invars[constants:first]]
    letters = walk.letters(types)
    _note(walk, letters, run(start), run(letters), reduces=False)
    return [*map(Moving, letters), *(GIVEN for _ in equation.outvars[carries:])]


GIVEN = object()
"""Rows that a scan gives."""
