"""Constant factors and summands of numbers, which logarithms and exponentials take out.

log(c·y) = log c + log y  for c > 0          exp(y + q·log k) = k^q·exp(y)
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction
from typing import TYPE_CHECKING

from uat_jax.interpret.closed_form import ClosedForm, LogSum, added, multiplied, negated, power, rational
from uat_jax.numbers.prime_fields.number import Number

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.field_functions import FieldFunctions


def with_parts(functions: FieldFunctions, name: str, operands: Sequence[Number], result: Number) -> Number:
    """The result of the primitive `name`, with what is known about its constant factor or summand."""
    result = _with_factor(name, operands, result)
    if name == "neg":
        return _negated(functions, operands[0], result)
    if name not in ("add", "sub", "mul", "div"):
        return result
    x, y = operands
    if name in ("add", "sub"):
        return _summed(functions, name, x, y, result)
    constant = _uniform(y)
    if constant is not None and name == "div":
        constant = power(constant, Fraction(-1))
    if constant is not None:
        return _multiplied(functions, x, constant, result)
    constant = _uniform(x)
    return result if constant is None or name == "div" else _multiplied(functions, y, constant, result)


def _with_factor(name: str, operands: Sequence[Number], result: Number) -> Number:
    """The result with the irrational factor c of c·y that its operands give it: those of a sum have one in common."""
    known = [x.factor for x in operands]
    if all(c is None for c in known) or result.factor is not None:
        return result
    one = rational(1)
    found = None
    if name in ("add", "add_any", "sub") and known[0] == known[1] or name in ("neg", "reduce_sum"):
        found = known[0]
    elif name == "mul":
        found = multiplied(known[0] or one, known[1] or one)
    elif name == "div":
        below = power(known[1] or one, Fraction(-1))
        found = None if below is None else multiplied(known[0] or one, below)
    irrational = found is not None and found.rational is None and found.positive
    return result.but(factor=found) if irrational else result


def _uniform(x: Number) -> ClosedForm | None:
    """The closed form of all entries of a constant, or None."""
    return x.closed.uniform if x.closed is not None and x.special is None else None


def _multiplied(functions: FieldFunctions, y: Number, constant: ClosedForm, result: Number) -> Number:
    """constant·y: a positive irrational factor, and the constant times the summand of y if that is a logarithm."""
    if constant.rational is None and constant.positive:
        factor = constant if y.factor is None else multiplied(y.factor, constant)
        result = result.but(factor=factor)
    if y.summand is None:
        return result
    summand = multiplied(y.summand[1], constant)
    if not isinstance(summand, LogSum):
        return result
    rest = functions.multiply(y.summand[0], functions.spread(functions.closed(constant), y.summand[0].shape))
    return result.but(summand=(rest, summand))


def _summed(functions: FieldFunctions, name: str, x: Number, y: Number, result: Number) -> Number:
    """The result of x ± y, with the sum of both operands' constants kept apart where there is one."""
    parts = [_rest_and_summand(z) for z in (x, y)]
    (rest_x, c), (rest_y, d) = parts
    if c is None and d is None:
        return result
    zero = rational(0)
    other = negated(d or zero) if name == "sub" else d or zero
    summand = None if other is None else added(c or zero, other)
    if summand is None or summand == zero:
        return result
    if rest_x is not None and rest_y is not None:
        if not isinstance(summand, LogSum):  # nothing takes it out
            return result
        rest = functions.subtract(rest_x, rest_y) if name == "sub" else functions.add(rest_x, rest_y)
    elif rest_y is not None:
        rest = functions.negate(rest_y) if name == "sub" else rest_y
    elif rest_x is not None:
        rest = rest_x
    else:
        return result
    return result.but(summand=(functions.spread(rest, result.shape), summand))


def _rest_and_summand(x: Number) -> tuple[Number | None, ClosedForm | None]:
    """(y, c) with x = y + c; y is None for a constant, c where none is known."""
    constant = _uniform(x)
    if constant is not None:
        return None, constant
    return x.summand if x.summand is not None else (x, None)


def _negated(functions: FieldFunctions, x: Number, result: Number) -> Number:
    if x.summand is None or not isinstance(x.summand[1], LogSum):
        return result
    summand = negated(x.summand[1])
    return result if summand is None else result.but(summand=(functions.negate(x.summand[0]), summand))
