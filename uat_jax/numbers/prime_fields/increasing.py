"""Increasing functions taken out of maxima, sorts, cumulative extremes and the places of extremes.

    max f(x) = f(max x)        sort f(x) = f(sort x)        argmax f(x) = argmax x        f(x)[argmax x] = f(max x)

for f(x) = exp x / c and the like: f is strictly increasing, and one function for all entries of a row along the axis.
So the largest probability of a softmax stands where the largest score stands.  docs/soundness.md §8.6 has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.integer_ranges import limits
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.retracing import bound
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.prime_fields.expressions import Expression
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import same

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Fields, Value

LAW = "increasing functions"

MOST_STEPS = 16
"""Functions of more steps are not taken out as a whole."""

INCREASING = frozenset(
    "asinh atan cbrt erf exp exp2 expm1 log log1p logistic sinh sqrt tanh".split()  # strictly, where they are defined
)
"""Functions of one number that are strictly increasing where they are defined."""

SAME_NUMBER = frozenset("convert_element_type copy stop_gradient".split())
"""Primitives whose result is their operand, if both are floats."""

OF_ROWS: dict[str, Callable[[JaxprEqn], int | None]] = {
    "argmax": lambda e: _only(e.params["axes"]),
    "argmin": lambda e: _only(e.params["axes"]),
    "cummax": lambda e: e.params["axis"],
    "cummin": lambda e: e.params["axis"],
    "reduce_max": lambda e: _only(e.params["axes"]),
    "reduce_min": lambda e: _only(e.params["axes"]),
    "sort": lambda e: e.params["dimension"] if e.params["num_keys"] == 1 else None,
    "top_k": lambda e: e.params.get("axis", len(shape_of(e.invars[0])) - 1),
}
"""From a primitive that only looks at the order of the entries of rows to the axis along which these lie."""

OF_ORDER = OF_ROWS.keys() | {"gather", "dynamic_slice"}
"""These, and those that take an entry at a place, which may be one of known rank."""

REDUCING = frozenset(["reduce_max", "reduce_min"])
"""Those whose results lack the axis."""


def _only(axes: Sequence[int]) -> int | None:
    return axes[0] if len(axes) == 1 else None


@dataclass(frozen=True)
class Step:
    """One increasing function: an equation, the operand that it is a function of, and the other one, if it has one."""

    equation: JaxprEqn
    operand: int
    other: Number | None


def increasing_last(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Value] | None:
    """The results of an equation that looks at the order of the entries of rows, the function applied after it.

    None where the rows are no increasing function of other rows.
    """
    name = equation.primitive.name
    if name == "gather" or name == "dynamic_slice":
        return _entry_of(fields, equation, operands)
    axis = OF_ROWS[name](equation) if name in OF_ROWS and is_number(equation.invars[0]) else None
    x = operands[0] if operands else None
    if axis is None or not isinstance(x, Number) or not _is_plain(fields, x):
        return None
    base, steps = _steps(fields, x, lambda c: _along(c, axis))
    if not steps:
        return None
    if not is_number(equation.outvars[0]):  # places alone
        return _evaluated(fields, equation, base, operands[1:], steps[-1:], [])
    others = [_of_result(s.other, equation, axis) for s in steps if s.other is not None]
    return _evaluated(fields, equation, base, operands[1:], steps, others)


def _entry_of(fields: Fields, equation: JaxprEqn, operands: Sequence[Any]) -> list[Value] | None:
    """An entry of f(x) at the place of a number of known rank in x."""
    x, *indices = operands
    if not isinstance(x, Number) or not _is_plain(fields, x) or len(x.shape) != 1:
        return None
    if not any(isinstance(i, Number) and i.place is not None for i in indices):
        return None
    base, steps = _steps(fields, x, lambda c: _along(c, 0))
    if not steps:
        return None
    shape = shape_of(equation.outvars[0])
    moved = [_spread(fields, s.other, shape) for s in steps if s.other is not None]
    return _evaluated(fields, equation, base, indices, steps, moved)


def _is_plain(fields: Fields, x: Number) -> bool:
    """Whether a number is such a one, small, and no constant."""
    return _is_finite(fields, x) and x.known is None and math.prod(x.shape) < LARGE


def _steps(fields: Fields, x: Number, alike: Callable[[Number], bool]) -> tuple[Number, list[Step]]:
    """The number of which x is an increasing function, and the steps from it to x, the last one first."""
    steps: list[Step] = []
    while x.expression is not None and len(steps) < MOST_STEPS:
        expression = fields.expressions[x.expression]
        found = _step(fields, expression, alike)
        if found is None:
            break
        steps.append(found[1])
        x = found[0]
    return x, steps


def _step(fields: Fields, expression: Expression, alike: Callable[[Number], bool]) -> tuple[Number, Step] | None:
    """The number of which an expression is an increasing function by its last equation."""
    equation, shape = expression.equation, expression.shape
    if equation is None or not all(map(is_number, (*equation.invars, *equation.outvars))):
        return None
    found = [fields.functions.small.get(place) for place in expression.operands]
    values = [value for value in found if value is not None]
    if len(values) < len(found):
        return None
    if _is_increasing(equation):
        (x,) = values
        return (x, Step(equation, 0, None)) if x.shape == shape and _is_plain(fields, x) else None
    for i in RISING.get(equation.primitive.name, ()):
        x, other = values[i], values[1 - i]
        scales = equation.primitive.name in ("mul", "div")
        if x.shape != shape or not _is_plain(fields, x) or not _is_finite(fields, other) or not alike(other):
            continue
        if not scales or other.facts is not None and other.facts.positive.all():
            return x, Step(equation, i, other)
    return None


def _is_increasing(equation: JaxprEqn) -> bool:
    """Whether an equation is a strictly increasing function of one number."""
    name = equation.primitive.name
    odd_power = name == "integer_pow" and equation.params["y"] > 0 and equation.params["y"] % 2 == 1
    return odd_power or name in INCREASING | SAME_NUMBER


RISING = {"add": (0, 1), "add_any": (0, 1), "div": (0,), "mul": (0, 1), "sub": (0,)}
"""The operands of which sums, and products with positive numbers, are increasing functions."""


def _is_finite(fields: Fields, x: Number) -> bool:
    """Whether a number is finite and defined for all inputs, and no decision between equal numbers is open in it."""
    if x.special is not None or x.infinite is not None or x.almost is not None or not fields.certain(x):
        return False
    return x.facts is not None and not x.facts.guarded


def _along(c: Number, axis: int) -> bool:
    """Whether all entries of a row along an axis are one number."""
    if not c.shape:
        return True
    first = c.moved(lambda a: np.broadcast_to(np.take(a, [0], axis + 1), a.shape))
    return same(first.residues, c.residues)


def _of_result(c: Number, equation: JaxprEqn, axis: int) -> Number:
    """A number that is the same along the axis, in the shape of the first result."""
    shape = shape_of(equation.outvars[0])
    if not c.shape:
        return c
    if equation.primitive.name in REDUCING:
        return c.moved(lambda a: np.take(a, 0, axis + 1))
    return c.moved(lambda a: np.broadcast_to(np.take(a, [0], axis + 1), (len(a), *shape)).copy())


def _spread(fields: Fields, c: Number, shape: tuple[int, ...]) -> Number:
    """A number that all entries of an array are, in a shape."""
    return fields.functions.spread(c.moved(lambda a: a.reshape(len(a), -1)[:, 0]), shape)


def _evaluated(
    fields: Fields,
    equation: JaxprEqn,
    base: Number,
    rest: Sequence[Any],
    steps: Sequence[Step],
    others: Sequence[Number],
) -> list[Any] | None:
    """The equation at the base, and the steps applied to its first result if that is one of the numbers."""
    first = steps[-1]
    dtype = dtype_of(first.equation.invars[first.operand])
    specs = [jax.ShapeDtypeStruct(base.shape, dtype)]
    specs += [jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in equation.invars[1:]]
    with_other = [s for s in steps if s.other is not None] if others else []
    specs += [
        jax.ShapeDtypeStruct(c.shape, dtype_of(s.equation.invars[1 - s.operand]))
        for s, c in zip(with_other, others, strict=True)
    ]

    given = list(fields.operand_ranges)[1:] if len(fields.operand_ranges) == len(equation.invars) else []
    ranges = [limits(spec.dtype) for spec in specs]
    ranges[1 : 1 + len(given)] = given

    def function(x: Value, *inputs: Any) -> list[Any]:
        constants = iter(inputs[len(rest) :][::-1])
        value, *more = bound(equation, [x, *inputs[: len(rest)]], equation.params)
        if not is_number(equation.outvars[0]):
            return [value, *more]
        for step in reversed(steps):
            operands = [value] if step.other is None else [value, next(constants)][:: 1 - 2 * step.operand]
            (value,) = bound(step.equation, operands, step.equation.params)
        return [value, *more]

    try:
        with jax.enable_x64(True):  # the types are the equations' own
            program = jax.make_jaxpr(function)(*specs)
        return fields.inner(program, [base, *rest, *others], ranges)
    except UnsupportedError:
        return None
