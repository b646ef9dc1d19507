"""Whole numbers of a closed form that are made of t and of the numbers of the steps, exactly: a·i + b + c·t."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.decide.loops.along import Along, Factor, Moving, Number, number_of, without
from uat_jax.decide.loops.walk import Value
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line

if TYPE_CHECKING:
    from uat_jax.decide.loops.prefix import Prefix

LARGEST_SIZE = 2**18
"""Up to so many steps, coefficients up to `LARGEST` make no number that 32 bits do not hold."""

LARGEST = 2**11

HELD = (np.dtype(np.int32), np.dtype(np.int64))
"""Types of whole numbers that are followed; those of fewer bits, and those without sign, wrap too soon."""


def noted(walk: Prefix, equation: JaxprEqn, number: Number) -> Number:
    """The number, if the type of the result holds it for every t up to `LARGEST_SIZE`."""
    size = abs(number.a) + abs(number.b) + abs(number.c)
    if not is_number(equation.outvars[0]):
        if dtype_of(equation.outvars[0]) not in HELD or size > LARGEST:
            raise walk.refused(equation, "makes whole numbers that may wrap around")
        walk.bounded |= size > 1
    return number


def of_dimension(walk: Prefix, equation: JaxprEqn) -> Number:
    """A dimension such as t, 2*t or t - 1, read off its text."""
    text = str(equation.params["dim"]).replace(" ", "")
    coefficient, _, constant = text.partition("t")
    coefficient = coefficient.removesuffix("*")
    try:
        c = {"": 1, "-": -1}[coefficient] if coefficient in ("", "-") else int(coefficient)
        number = Number(0, int(constant or 0), c)
    except ValueError:
        raise UnsupportedError(
            f"the closed form{source_line(equation)} needs the number {text} for t steps; use t alone"
        ) from None
    return noted(walk, equation, number)


def scalar(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Value:
    """An operation on b + c·t, which may give a float."""
    name, result = equation.primitive.name, equation.outvars[0]
    if name == "convert_element_type" and is_number(result):
        return Moving(as_float(walk, operands[0], dtype_of(result)))
    if name == "pow" and not isinstance(operands[0], Number | Moving):
        return Moving(walk.powered(operands[0], as_float(walk, operands[1], dtype_of(result))))
    return _combined(walk, equation, operands)


def of_steps(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Along:
    """An operation on the whole numbers of the steps that gives whole numbers."""
    axis = next(o.axis for o in operands if isinstance(o, Along))
    return Along(axis, (), _combined(walk, equation, operands))


def _combined(walk: Prefix, equation: JaxprEqn, operands: list[Value]) -> Number:
    """Sums, differences, opposites, multiples and casts of whole numbers."""
    name, parts = equation.primitive.name, [n for n in map(number_of, operands) if n is not None]
    found = None
    if name == "convert_element_type":
        (found,) = parts
    elif name == "neg":
        found = parts[0].times(-1)
    elif len(parts) == len(operands) == 2:
        x, y = parts
        if name in ("add", "sub"):
            found = x + (y if name == "add" else y.times(-1))
        elif name == "mul" and (x.is_constant or y.is_constant):
            found = y.times(x.b) if x.is_constant else x.times(y.b)
    if found is None:
        raise walk.refused(equation, "computes with whole numbers of the steps in an unknown way")
    return noted(walk, equation, found)


def written(walk: Prefix, equation: JaxprEqn, number: Number, axis: int) -> Along:
    """Whole numbers of the steps, as floats if the result is one: the step that is made now comes after t others."""
    result = equation.outvars[0]
    if not is_number(result):
        return Along(axis, (), noted(walk, equation, number))
    dtype, shape = dtype_of(result), without(shape_of(result), axis)
    now = as_float(walk, Number(0, number.b, number.a), dtype)
    terms: list[tuple[Factor, Factor]] = [(None, lax.broadcast(now, shape))]
    if number.c:
        terms.append((lax.broadcast(as_float(walk, Number(0, 0, number.c), dtype), shape), None))
    return Along(axis, tuple(terms), number)


def turned(walk: Prefix, equation: JaxprEqn, operand: Along) -> Along:
    """The numbers of the steps from the last to the first: i becomes t - 1 - i."""
    number = operand.number
    if number is None or len(equation.params["dimensions"]) > 1:
        raise walk.refused(equation, "reverses the steps")
    return written(walk, equation, Number(-number.a, number.b - number.a, number.c + number.a), operand.axis)


def as_float(walk: Prefix, number: Number, dtype: np.dtype) -> Value:
    """b + c·t as a float."""
    time = lax.convert_element_type(walk.count, dtype)
    most = time if number.c == 1 else lax.mul(np.array(number.c, dtype), time)
    return lax.add(most, np.array(number.b, dtype)) if number.b else most
