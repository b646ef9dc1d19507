"""Which numbers are defined for all inputs, and what is known of their signs, beside an infinity that is followed."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.decide.masks.truths import Truth
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of

if TYPE_CHECKING:
    from uat_jax.decide.masks.values import Value

ANY, NOT_NEGATIVE, POSITIVE = 0, 1, 2
"""What is known of the sign of a number."""

ALWAYS_DEFINED = frozenset(
    "abs add add_any asinh atan bessel_i0e bessel_i1e broadcast_in_dim cbrt ceil concatenate convert_element_type copy "
    "cos cosh dot_general erf erfc exp exp2 expand_dims expm1 floor logistic max min mul neg reduce_max reduce_min "
    "reduce_sum reshape rev round select_n sign sin sinh slice square squeeze stop_gradient sub tanh transpose".split()
)
"""Functions that are real numbers for all real operands."""


def is_finite(equation: JaxprEqn, operands: Sequence[Value]) -> bool:
    """Whether the results are real numbers for all inputs."""
    name = equation.primitive.name
    numbers = [x for x, v in zip(operands, equation.invars, strict=True) if is_number(v)]
    if not all(x.finite for x in numbers):
        return False
    if name == "reduce_max" or name == "reduce_min":
        return not _is_empty(equation)
    if name in ALWAYS_DEFINED or name == "integer_pow" and equation.params["y"] >= 0:
        return True
    if name == "div":
        number = Truth(operands[1].array).constant
        return operands[1].sign == POSITIVE or number is not None and bool(np.all(number != 0))
    if name in ("log", "rsqrt"):
        return operands[0].sign == POSITIVE
    return name in ("sqrt", "log1p") and operands[0].sign >= NOT_NEGATIVE


def _is_empty(equation: JaxprEqn) -> bool:
    """Whether what is reduced along axes has no entries there."""
    return not all(shape_of(equation.invars[0])[axis] for axis in equation.params["axes"])


def sign_of(equation: JaxprEqn, operands: Sequence[Value]) -> int:
    """What is known of the sign of a result."""
    name, signs = equation.primitive.name, [x.sign for x in operands]
    if name in ("exp", "exp2", "logistic", "erfc"):
        return POSITIVE
    if name in ("abs", "square") or name == "integer_pow" and equation.params["y"] % 2 == 0:
        return max(signs[0], NOT_NEGATIVE) if name != "integer_pow" or equation.params["y"] > 0 else ANY
    if name == "mul" and operands[0].array is operands[1].array:
        return max(signs[0], NOT_NEGATIVE)
    if name in ("add", "add_any"):
        return max(signs) if min(signs) >= NOT_NEGATIVE else ANY
    if name in ("mul", "div"):
        return min(signs)
    if name == "max":
        return max(signs)
    if name == "reduce_sum":
        return min(signs[0], NOT_NEGATIVE) if _is_empty(equation) else signs[0]
    if name == "reduce_max" or name == "reduce_min":  # of nothing it is an infinity
        return ANY if _is_empty(equation) else signs[0]
    if name == "select_n":
        return min(signs[1:])
    if name in ("rsqrt", "sign", "sqrt", "copy", "stop_gradient") or name in STRUCTURAL - {
        "gather",
        "pad",
    }:
        return min(signs)
    if name == "convert_element_type":
        of_truths = dtype_of(equation.invars[0]) == np.bool_
        return NOT_NEGATIVE if of_truths else signs[0] if is_number(equation.invars[0]) else ANY
    return ANY
