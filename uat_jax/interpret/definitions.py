"""Primitives in terms of simpler ones: one definition serves every number system.

A definition is a JAX function of an equation's parameters and operands. Where an arithmetic has no rule for a
primitive, the interpreter traces the definition and walks the jaxpr it gives. Operands that are numbers are traced;
the others (indices) are concrete NumPy arrays, so that a definition may compute with them in NumPy.
"""

import functools
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret import monoids
from uat_jax.interpret.linear_algebra import LINEAR_ALGEBRA, is_written_out
from uat_jax.interpret.scattering import SCATTERS, total
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line
from uat_jax.interpret.windows import convolution, max_pooling_gradient, pooling
from uat_jax.typing import Parameters

Definition = Callable[..., Any]
"""definition(parameters, *operands) -> result, or a list of them if the primitive has several."""

LARGEST_POWER = 1024
"""An integer power beyond ± this is not multiplied out."""


def defined(equation: JaxprEqn, plain: Sequence[Any | None]) -> ClosedJaxpr:
    """The jaxpr of an equation's definition, a function of the operands for which `plain` holds None.

    The others are the concrete arrays in `plain`. Its equations point at the line that `equation` points at.
    """
    return _own_definition(equation) if all(value is None for value in plain) else _trace(equation, plain)


def is_defined(equation: JaxprEqn) -> bool:
    """Whether an equation's primitive has a definition, and its matrices are not too large for it."""
    name = equation.primitive.name
    return name in DEFINITIONS and (name not in LINEAR_ALGEBRA or is_written_out(equation))


@functools.lru_cache(maxsize=4096)
def _own_definition(equation: JaxprEqn) -> ClosedJaxpr:
    """Where no operand is concrete, the equation alone decides the jaxpr, for every walk over it."""
    return _trace(equation, [None] * len(equation.invars))


def _trace(equation: JaxprEqn, plain: Sequence[Any | None]) -> ClosedJaxpr:
    def function(*numbers: jax.Array) -> Any:
        remaining = iter(numbers)
        operands = [next(remaining) if value is None else value for value in plain]
        return DEFINITIONS[equation.primitive.name](equation.params, *operands)

    atoms = [atom for atom, value in zip(equation.invars, plain, strict=True) if value is None]
    avals = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in atoms]
    where = f"'{equation.primitive.name}'{source_line(equation)}"
    try:
        with jax.enable_x64(True), source_info_util.user_context(equation.source_info.traceback):
            return jax.make_jaxpr(function)(*avals)
    except UnsupportedError as error:
        raise UnsupportedError(f"{where}: {error}") from error
    except jax.errors.TracerArrayConversionError as error:
        raise UnsupportedError(f"{where}: an index depends on the input; use a concrete one") from error


# --- elementary functions ---------------------------------------------------------------------------------------------


def _integer_pow(parameters: Parameters, x: jax.Array) -> jax.Array:
    """x^n by squaring: x^(2k) = (x²)^k, x^(2k+1) = x (x²)^k, x^-n = 1/x^n."""
    n = abs(parameters["y"])
    if n > LARGEST_POWER:
        raise UnsupportedError(f"got an integer power of {parameters['y']}; use at most {LARGEST_POWER}")
    result, base = None, x
    while n:
        if n % 2:
            result = base if result is None else result * base
        base, n = base * base, n // 2
    result = lax.full_like(x, 1) if result is None else result
    return 1 / result if parameters["y"] < 0 else result


def _exp2(parameters: Parameters, x: jax.Array) -> jax.Array:
    """2^x = exp(x log 2), log 2 being the number and no float."""
    return jnp.exp(x * jnp.log(lax.full_like(x, 2)))


def _clamp(parameters: Parameters, low: jax.Array, x: jax.Array, high: jax.Array) -> jax.Array:
    """min(max(low, x), high), scalar bounds broadcast."""
    return lax.min(lax.max(jnp.broadcast_to(low, x.shape), x), jnp.broadcast_to(high, x.shape))


def _rem(parameters: Parameters, x: jax.Array, y: jax.Array) -> jax.Array:
    """x - y trunc(x/y), of the sign of x."""
    quotient = x / y
    return x - y * (lax.sign(quotient) * lax.floor(lax.abs(quotient)))


# --- reductions and prefixes ------------------------------------------------------------------------------------------


def _reduce_prod(parameters: Parameters, x: jax.Array) -> jax.Array:
    """The product over some axes, as a tree: the first half times the second, a missing factor being 1."""
    axes = parameters["axes"]
    kept = [axis for axis in range(x.ndim) if axis not in axes]
    shape = [x.shape[axis] for axis in kept]
    x = lax.reshape(lax.transpose(x, (*kept, *axes)), (*shape, math.prod(x.shape[axis] for axis in axes)))
    if not x.shape[-1]:
        return jnp.ones(shape, x.dtype)
    while (n := x.shape[-1]) > 1:
        x = lax.pad(x, jnp.ones((), x.dtype), [*[(0, 0, 0)] * len(shape), (0, n % 2, 0)])
        first, second = jnp.split(x, 2, axis=-1)
        x = first * second
    return lax.squeeze(x, [x.ndim - 1])


def _prefix(combine: Callable[[jax.Array, jax.Array], jax.Array], neutral: float) -> Definition:
    """All prefixes of an associative operation in ⌈log₂ n⌉ rounds (Hillis & Steele, 1986)."""

    def prefixes(parameters: Parameters, x: jax.Array) -> jax.Array:
        axis, reverse, step = parameters["axis"], parameters["reverse"], 1
        while step < x.shape[axis]:
            shift = (-step, step, 0) if reverse else (step, -step, 0)
            configuration = [shift if a == axis else (0, 0, 0) for a in range(x.ndim)]
            x = combine(lax.pad(x, jnp.asarray(neutral, x.dtype), configuration), x)
            step *= 2
        return x

    return prefixes


def _triangle(parameters: Parameters, x: jax.Array) -> jax.Array:
    """result[..., i, j, ...] = x[..., j, ...] where j ≤ i (i ≤ j in reverse) and -∞ elsewhere; i is the given axis."""
    axis, n = parameters["axis"], x.shape[parameters["axis"]]
    shape = (*x.shape[:axis], n, *x.shape[axis:])
    rows = lax.broadcast_in_dim(x, shape, [a for a in range(x.ndim + 1) if a != axis])
    square = np.tri(n, dtype=bool).T if parameters["reverse"] else np.tri(n, dtype=bool)
    mask = np.broadcast_to(square.reshape(n, n, *[1] * (x.ndim - axis - 1)), shape)
    return lax.select(mask, rows, lax.full_like(rows, -np.inf))


def _cummax(parameters: Parameters, x: jax.Array) -> jax.Array:
    """Each prefix's reduce_max: symmetric in its entries, however an arithmetic defines the maximum."""
    return jnp.max(_triangle(parameters, x), axis=parameters["axis"] + 1) if x.size else x


def _cumlogsumexp(parameters: Parameters, x: jax.Array) -> jax.Array:
    return jax.nn.logsumexp(_triangle(parameters, x), axis=parameters["axis"] + 1) if x.size else x


def _top_k(parameters: Parameters, x: jax.Array) -> list[jax.Array]:
    """The first k of a stable sort of -x, and where they come from."""
    axis, k = parameters.get("axis", x.ndim - 1), parameters["k"]
    places = lax.broadcasted_iota(np.int32, x.shape, axis)
    values, indices = lax.sort((-x, places), dimension=axis, is_stable=True, num_keys=1)
    return [-lax.slice_in_dim(values, 0, k, axis=axis), lax.slice_in_dim(indices, 0, k, axis=axis)]


DEFINITIONS: Mapping[str, Definition] = {
    "acosh": lambda parameters, x: jnp.log(x + jnp.sqrt(x - 1) * jnp.sqrt(x + 1)),
    "add_any": lambda parameters, x, y: x + y,
    "argmin": lambda parameters, x: lax.argmax(-x, parameters["axes"][0], parameters["index_dtype"]),
    "asinh": lambda parameters, x: jnp.log(x + jnp.sqrt(x * x + 1)),
    "atanh": lambda parameters, x: (jnp.log(1 + x) - jnp.log(1 - x)) / 2,
    "clamp": _clamp,
    "conv_general_dilated": convolution,
    "cosh": lambda parameters, x: (jnp.exp(x) + jnp.exp(-x)) / 2,
    "cumlogsumexp": _cumlogsumexp,
    "cummax": _cummax,
    "cummin": lambda parameters, x: -lax.cummax(-x, parameters["axis"], parameters["reverse"]),
    "cumprod": _prefix(lax.mul, 1),
    "cumsum": _prefix(lax.add, 0),
    "eq_to": lambda parameters, x, y: (x == y) | (x != x) & (y != y),  # in the total order NaN is equal to itself
    "erfc": lambda parameters, x: 1 - lax.erf(x),
    "exp2": _exp2,
    "expm1": lambda parameters, x: jnp.exp(x) - 1,
    "integer_pow": _integer_pow,
    "le_to": lambda parameters, x, y: x <= y,
    "log1p": lambda parameters, x: jnp.log(1 + x),
    "log2": lambda parameters, x: jnp.log(x) / jnp.log(lax.full_like(x, 2)),
    "logistic": lambda parameters, x: 1 / (1 + jnp.exp(-x)),
    "lt_to": lambda parameters, x, y: x < y,
    "one_minus_square": lambda parameters, x: 1 - x * x,
    "min": lambda parameters, x, y: -lax.max(-x, -y),
    "reduce": monoids.reduction,
    "reduce_min": lambda parameters, x: -jnp.max(-x, axis=parameters["axes"]),
    "reduce_precision": lambda parameters, x: x,
    "reduce_prod": _reduce_prod,
    "reduce_window": monoids.windows,
    "reduce_window_max": pooling(jnp.max, -np.inf),
    "reduce_window_min": pooling(jnp.min, np.inf),
    "reduce_window_sum": pooling(total, 0),
    "rem": _rem,
    "rsqrt": lambda parameters, x: 1 / jnp.sqrt(x),
    "select_and_scatter_add": max_pooling_gradient,
    "sinh": lambda parameters, x: (jnp.exp(x) - jnp.exp(-x)) / 2,
    "square": lambda parameters, x: x * x,
    "tan": lambda parameters, x: jnp.sin(x) / jnp.cos(x),
    "top_k": _top_k,
    **SCATTERS,
    **LINEAR_ALGEBRA,
}
"""From a primitive's name to its definition. No definition leads back to its own primitive."""
