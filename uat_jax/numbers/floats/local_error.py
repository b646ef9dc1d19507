"""The error one floating-point operation may add to its result.

Each rounding primitive has a row: the amplitude of its error as a function of the exact result (and
operands). u is the unit roundoff of the dtype the equation writes. The table of primitives says which others are
exact: max, min, neg, comparisons, data movement; casts are where their dtype is wider. The rest is refused.
"""

import functools
import math
from collections.abc import Callable, Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.primitives import TABLE
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.floats.doubles import product
from uat_jax.numbers.floats.matmul_precision import MatmulPrecision, accumulation_variance, unit_roundoff

DotPrecision = Callable[[JaxprEqn], MatmulPrecision]
"""The effective precision of a dot_general equation on the device in question."""

ROUNDOFFS = {
    "acos": 8.0,
    "acosh": 8.0,
    "add": 1.0,
    "add_any": 1.0,
    "asin": 4.0,
    "asinh": 8.0,
    "atan": 4.0,
    "atan2": 4.0,
    "atanh": 8.0,
    "cbrt": 8.0,
    "cos": 2.0,
    "cosh": 48.0,
    "div": 2.5,
    "erf": 8.0,
    "erf_inv": 4.0,
    "erfc": 16.0,
    "exp": 3.0,
    "exp2": 4.0,
    "expm1": 6.0,
    "lgamma": 64.0,
    "log": 4.0,
    "log1p": 5.0,
    "logistic": 4.0,
    "mul": 1.0,
    "pow": 4.0,
    "reduce_precision": 1.0,
    "rsqrt": 4.0,
    "sin": 2.0,
    "sinh": 48.0,
    "sqrt": 1.0,
    "square": 1.0,
    "sub": 1.0,
    "tan": 4.0,
    "tanh": 10.0,
}
"""k: the primitive's error is at most k u |result|.

Addition, product and square root round correctly. A quotient may be a rounded reciprocal times the
numerator (2u + u²). The others are round numbers above what XLA's CPU backend was measured to do in
float16, bfloat16, float32 and float64 (the tests measure them again); other backends have other function
libraries. Where k is not one number, `_growth` says what is added to it.
"""


BOUNDED = frozenset(["acos", "asin", "cos", "sin"])
"""Functions of results of order 1 whose error is at most k u, however small the result."""


def amplitude(
    equation: JaxprEqn, operands: Sequence[Any], result: np.ndarray, dot_precision: DotPrecision
) -> np.ndarray | None:
    """Bound on the error of one equation, of the result's shape and in float64; None for an exact one.

    `operands` and `result` are the float64 values of many runs of the program, (runs, *shape); an operand that is
    alike in all of them may have one run. An infinite result has no error.
    """
    if not rounds(equation):
        return None
    with np.errstate(all="ignore"):  # infinities are dealt with at the end
        return _amplitude(equation, operands, result, dot_precision)


def _amplitude(
    equation: JaxprEqn, operands: Sequence[Any], result: np.ndarray, dot_precision: DotPrecision
) -> np.ndarray:
    name, dtype = equation.primitive.name, dtype_of(equation.outvars[0])
    if name == "dot_general":
        error = _dot_general(equation, operands, result, dot_precision(equation))
    elif name == "reduce_sum":
        error = _reduce_sum(equation, operands[0], result)
    elif name in BOUNDED:
        error = np.full_like(result, ROUNDOFFS[name] * unit_roundoff(dtype))
    else:
        factor = ROUNDOFFS.get(name, 0.0) + _growth(equation, operands[0])
        size = np.abs(result) + (1.0 if name == "lgamma" else 0.0)  # its terms cancel near its zeros
        relative = np.where(size == 0, 0.0, factor * _unit(equation) * size)
        error = relative + _range(equation, result)
    small = 0.0 if _from_integers(equation) else underflow(dtype)
    return np.where(np.isfinite(result), error + small, 0.0)


def _from_integers(equation: JaxprEqn) -> bool:
    """Whether an equation casts integers, of which the smallest but 0 is 1."""
    return equation.primitive.name == "convert_element_type" and not is_number(equation.invars[0])


def _growth(equation: JaxprEqn, x: np.ndarray) -> float | int | np.ndarray:
    """What is added to k.

    An integer power is |y| products. 2^x is exp(x log 2) with log 2 and the product rounded:
    exp(1.5 u|x|) - 1. erfc(x) is exp(-x²) times a rational function: 2x². float64's log1p loses digits near
    -0.41, and with it atanh and erf⁻¹: measured above 200 u. erf⁻¹(x) is about √w,
    w = -log(1 - x²), and an error of u in x² moves w by u/(1 - x²).
    """
    wide = dtype_of(equation.outvars[0]) == np.float64
    match equation.primitive.name:
        case "integer_pow":
            return abs(equation.params["y"])
        case "convert_element_type":
            return 1.0
        case "exp2":
            roundoff = unit_roundoff(dtype_of(equation.outvars[0]))
            return np.expm1(1.5 * roundoff * np.abs(x)) / roundoff
        case "erfc":
            return 2 * x**2
        case "erf_inv":
            return 1 / ((1 - x**2) * (1 - np.log1p(-(x**2)))) + (1000.0 if wide else 0.0)
        case "atanh" | "log1p" if wide:
            return 1000.0
    return 0.0


def _range(equation: JaxprEqn, result: np.ndarray) -> Any:
    """The error made where an intermediate value leaves the range of the dtype.

    1/(1 + exp(-x)) and 1/x^n are 0 where the denominator overflows, an error of at most 1/(largest float).
    The denominator x^n may underflow by an absolute error a, which moves the quotient r by r² a.
    """
    dtype = dtype_of(equation.outvars[0])
    if equation.primitive.name == "logistic":
        return 1 / float(jnp.finfo(dtype).max)
    if equation.primitive.name == "integer_pow" and equation.params["y"] < 0:
        return 1 / float(jnp.finfo(dtype).max) + np.abs(result) * (np.abs(result) * underflow(dtype))
    return 0.0


@functools.lru_cache(maxsize=1 << 14)
def rounds(equation: JaxprEqn) -> bool:
    """Whether the primitive may round: by the table of primitives, and a cast only to a narrower dtype.

    Raises:
        UnsupportedError: the table of primitives does not say.
    """
    if not is_number(equation.outvars[0]):
        return False
    rounding = TABLE[equation.primitive.name].rounding if equation.primitive.name in TABLE else "none"
    if rounding not in ("exact", "rounds"):
        name = f"'{equation.primitive.name}'{source_line(equation)}"
        raise UnsupportedError(f"the rounding of {name} is not known; use primitives whose error is stated")
    if equation.primitive.name == "convert_element_type":
        return unit_roundoff(dtype_of(equation.outvars[0])) > _cast_from(equation)
    return rounding == "rounds"


def _cast_from(equation: JaxprEqn) -> float:
    """Unit roundoff of the dtype that is cast; integers are taken to be as fine as their bits."""
    dtype = dtype_of(equation.invars[0])
    if is_number(equation.invars[0]):
        return unit_roundoff(dtype)
    return 1.0 if dtype == np.bool_ else 2.0 ** -jnp.iinfo(dtype).bits  # 0 and 1 are exact everywhere


def _unit(equation: JaxprEqn) -> float:
    if equation.primitive.name == "reduce_precision":
        return 2.0 ** -(equation.params["mantissa_bits"] + 1)
    return unit_roundoff(dtype_of(equation.outvars[0]))


@functools.cache
def underflow(dtype: np.dtype) -> float:
    """The absolute error of a result near zero.

    Float16 keeps its subnormals: half the smallest one. In the other dtypes devices may flush them to zero:
    the smallest normal number.
    """
    limits = jnp.finfo(dtype)
    return float(limits.smallest_subnormal) / 2 if dtype == np.float16 else float(limits.smallest_normal)


def largest(
    equation: JaxprEqn, operands: Sequence[Any], result: np.ndarray, dot_precision: DotPrecision
) -> np.ndarray | None:
    """A bound of the error of a sum of n terms t_i in any order: (n - 1) u Σ|t_i|, to first order in u.

    The terms of a dot product are rounded as well, n u_acc Σ|t_i|; its operands enter with an error of u_op each, and
    the total is cast (Higham, "Accuracy and Stability of Numerical Algorithms", 2002, §3.1 and §4.2).
    """
    name, dtype = equation.primitive.name, dtype_of(equation.outvars[0])
    if name not in ("dot_general", "reduce_sum"):
        return amplitude(equation, operands, result, dot_precision)
    with np.errstate(all="ignore"):
        if name == "reduce_sum":
            terms = operands[0].size // max(1, result.size)
            error = (terms - 1) * unit_roundoff(dtype) * np.sum(np.abs(operands[0]), _behind_runs(equation))
        else:
            precision, terms = dot_precision(equation), _contracted(equation)
            sizes = product(equation, np.abs(operands[0]), np.abs(operands[1]))
            written = unit_roundoff(dtype)
            error = (terms * min(precision.accumulate, written) + 2 * precision.operand) * sizes
            error = error + written * np.abs(result) * (written > precision.accumulate)
        return np.where(np.isfinite(result), error + (terms + 1) * underflow(dtype), 0.0)


def _reduce_sum(equation: JaxprEqn, x: np.ndarray, total: np.ndarray) -> np.ndarray:
    """u √((n + 1)(2 s² + Q)/6) for n terms with sum s and sum of squares Q (`accumulation_variance`)."""
    axes = _behind_runs(equation)
    terms = math.prod(x.shape[axis] for axis in axes)
    variance = accumulation_variance(terms, total, np.sum(x**2, axes))
    return unit_roundoff(dtype_of(equation.outvars[0])) * np.sqrt(variance)


def _behind_runs(equation: JaxprEqn) -> tuple[int, ...]:
    """The axes that a reduction sums over, the axis of runs counted."""
    return tuple(axis + 1 for axis in equation.params["axes"])


def _contracted(equation: JaxprEqn) -> int:
    """How many terms each entry of a dot product is the sum of."""
    (contracted, _), _ = equation.params["dimension_numbers"]
    return math.prod(shape_of(equation.invars[0])[axis] for axis in contracted)


def _dot_general(
    equation: JaxprEqn, operands: Sequence[np.ndarray], total: np.ndarray, precision: MatmulPrecision
) -> np.ndarray:
    """Amplitude of a dot product's error, the root of the sum of three variances.

    With n terms t_i = a_i b_i, s = Σ t_i and Q = Σ t_i²:

    - accumulation: u_acc² ((n + 1)(2 s² + Q)/6 + Q), the last Q for rounding each product;
    - operands: u_op² (Q + s²): independent errors of the terms give Q, truncation towards zero, which is the
      same for all, gives s²;
    - the cast of the total to the dtype written: u² s², where that is coarser than the accumulator.
    """
    terms, squares = _contracted(equation), product(equation, operands[0] ** 2, operands[1] ** 2)
    written = unit_roundoff(dtype_of(equation.outvars[0]))
    accumulate = min(precision.accumulate, written)
    accumulated = accumulate**2 * (accumulation_variance(terms, total, squares) + squares)
    truncated = precision.operand**2 * (squares + total**2)
    cast = (written * total) ** 2 if written > accumulate else 0.0
    return np.sqrt(accumulated + truncated + cast)
