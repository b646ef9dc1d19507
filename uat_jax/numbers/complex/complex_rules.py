"""What each primitive of complex operands or results does to their parts.

A rule takes the equation and its operands, of which the complex ones are `Complex`, and returns a value or a list.
What stands in no table, or is refused by a rule, is a function of the parts of which nothing is known; a rule that
refuses raises `UnsupportedError` with the name of that function.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret import complex_numbers as c
from uat_jax.interpret.complex_numbers import LARGEST_POWER, Complex
from uat_jax.interpret.fourier import transformed
from uat_jax.interpret.interpreter import STRUCTURAL
from uat_jax.interpret.outside_function import NAME, in_parts
from uat_jax.interpret.tracing import dtype_of, is_complex, is_floating, shape_of
from uat_jax.typing import Array

Rule = Callable[..., Any]

PART_BY_PART = frozenset("cumsum reduce_precision reduce_sum reduce_window_sum".split()) | STRUCTURAL
"""Primitives that do to each part what they do to an array of real numbers."""


def real_dtype(dtype: Any) -> np.dtype:
    """The dtype of both parts: float32 of complex64, float64 of complex128."""
    return np.dtype(np.float32 if dtype == np.complex64 else np.float64)


def part_by_part(equation: JaxprEqn, bind: Callable[[Sequence[Any]], Any], operands: Sequence[Any]) -> list[Complex]:
    """The results of an operation on the real parts, and on the imaginary ones; zeros where these all are."""
    numbers = [o for o in operands if isinstance(o, Complex)]

    def parts(which: str) -> list[Any]:
        if all(getattr(z, which) is None for z in numbers):
            return [None] * len(equation.outvars)
        found = bind([o.filled(getattr(o, which)) if isinstance(o, Complex) else o for o in operands])
        return list(found) if equation.primitive.multiple_results else [found]

    rows = zip(equation.outvars, parts("real"), parts("imag"), strict=True)
    return [Complex(a, b, shape_of(v), real_dtype(dtype_of(v))) for v, a, b in rows]


def _same(equation: JaxprEqn, *operands: Any) -> list[Complex]:
    """The primitive itself, part by part."""
    parameters = _of_parts(equation)
    return part_by_part(equation, lambda values: equation.primitive.bind(*values, **parameters), operands)


def _of_parts(equation: JaxprEqn) -> dict[str, Any]:
    """The parameters of an equation with the dtype of the parts for that of the numbers."""
    changed = dict(equation.params)
    for name in ("preferred_element_type", "out_dtype"):
        if changed.get(name) is not None:
            changed[name] = real_dtype(changed[name])
    return changed


def _entrywise(function: Callable[..., Complex]) -> Rule:
    """A function of complex numbers; operands that are no arrays are spread."""
    return lambda equation, *operands: function(*(_spread(equation, z) for z in operands))


def _spread(equation: JaxprEqn, z: Complex) -> Complex:
    """A single number in the shape of the result."""
    shape = shape_of(equation.outvars[0])
    return z if z.shape == shape else Complex(z.real, z.imag, shape, z.dtype)


def _bilinear(equation: JaxprEqn, z: Complex, w: Complex) -> Complex:
    """A product of arrays, such as of matrices."""
    parameters = _of_parts(equation)
    product = lambda a, b: equation.primitive.bind(a, b, **parameters)
    whole = lambda x: c.of_parts((None if p is None else x.filled(p) for p in (x.real, x.imag)), x.shape, x.dtype)
    (result,) = equation.outvars
    return c.of_parts(c.bilinear(product, whole(z), whole(w)), shape_of(result), real_dtype(dtype_of(result)))


def _cast(equation: JaxprEqn, x: Any) -> Any:
    """To complex numbers, between their dtypes, or to real ones, which keep the real part."""
    new, (result,) = equation.params["new_dtype"], equation.outvars
    if not isinstance(x, Complex):
        return Complex(lax.convert_element_type(x, real_dtype(new)), None, shape_of(result), real_dtype(new))
    if is_complex(new):
        cast = lambda part: None if part is None else lax.convert_element_type(part, real_dtype(new))
        return Complex(cast(x.real), cast(x.imag), x.shape, real_dtype(new))
    if is_floating(new):
        return lax.convert_element_type(x.parts[0], new)
    if new == np.bool_:
        return lax.bitwise_not(c.is_zero(x))
    raise UnsupportedError(f"convert_element_type of complex numbers to {np.dtype(new)}")


def _made(equation: JaxprEqn, real: Any, imag: Any) -> Complex:
    """The number of two parts, of which one that is the constant 0 is left out."""
    (result,) = equation.outvars
    left_out = lambda part: isinstance(part, np.ndarray | np.generic | float) and not np.any(part)
    parts = (None if left_out(part) else part for part in (real, imag))
    return c.of_parts(parts, shape_of(result), real_dtype(dtype_of(result)))


def _conjugate(equation: JaxprEqn, x: Array) -> Complex:
    """The conjugate, also of real numbers as complex ones."""
    return c.conjugate(x) if isinstance(x, Complex) else _made(equation, x, None)


def _equal(equation: JaxprEqn, z: Complex, w: Complex) -> Any:
    """Where both parts are equal."""
    z, w = _spread(equation, z), _spread(equation, w)
    if z.imag is None and w.imag is None:
        return lax.eq(z.parts[0], w.parts[0])
    return lax.bitwise_and(*(lax.eq(a, b) for a, b in zip(z.parts, w.parts, strict=True)))


def _broadcast(equation: JaxprEqn, z: Complex) -> list[Complex]:
    """The entries of both parts in a larger shape; a single constant stays one."""
    if any(part is not None and not isinstance(part, np.ndarray | np.generic) or z.shape for part in (z.real, z.imag)):
        return _same(equation, z)
    return [_spread(equation, z)]


def _whole_power(equation: JaxprEqn, z: Complex) -> Complex:
    n = equation.params["y"]
    if abs(n) > LARGEST_POWER:
        raise UnsupportedError(f"integer_pow of complex numbers with an exponent above {LARGEST_POWER}")
    return c.power(z, n)


def _pow(equation: JaxprEqn, z: Complex, w: Any) -> Complex:
    """z^p for an exponent p that is one real number."""
    if isinstance(w, Complex) and w.real is None and w.imag is None:
        return c.one(_spread(equation, z))
    if not isinstance(w, Complex):
        w = Complex(w, None, np.shape(w), z.dtype)
    if w.constant is None:
        raise UnsupportedError("pow of complex numbers with an exponent that is no real constant")
    if abs(w.constant) > LARGEST_POWER:
        raise UnsupportedError(f"pow of complex numbers with an exponent above {LARGEST_POWER}")
    return c.powered(_spread(equation, z), w.constant)


def _polynomial(equation: JaxprEqn, z: Complex, *coefficients: Complex) -> Complex:
    """c₀ + z(c₁ + z(c₂ + …)), a primitive of JAX 0.12."""
    z, *rest, result = (_spread(equation, w) for w in (z, *coefficients))
    for coefficient in reversed(rest):
        result = c.added(coefficient, c.multiplied(z, result))
    return result


def _product(equation: JaxprEqn, z: Complex) -> Complex:
    """The product over some axes, half by half, a missing factor being 1."""
    axes = equation.params["axes"]
    kept = [axis for axis in range(len(z.shape)) if axis not in axes]
    shape = [z.shape[axis] for axis in kept]
    row = (*shape, math.prod(z.shape[axis] for axis in axes))
    flat = [lax.reshape(lax.transpose(part, (*kept, *axes)), row) for part in z.parts]
    while (n := np.shape(flat[0])[-1]) > 1:
        grown = [(0, 0, 0)] * len(shape) + [(0, n % 2, 0)]
        flat = [lax.pad(part, z.number(fill), grown) for part, fill in zip(flat, (1, 0), strict=True)]
        halves = [lax.split(part, [(n + n % 2) // 2] * 2, axis=len(shape)) for part in flat]
        first, second = (c.of_parts(parts, np.shape(parts[0]), z.dtype) for parts in zip(*halves, strict=True))
        flat = list(c.multiplied(first, second).parts)
    if not row[-1]:
        return Complex(lax.full(shape, 1, z.dtype), None, tuple(shape), z.dtype)
    return c.of_parts((lax.reshape(part, shape) for part in flat), shape, z.dtype)


def _products(equation: JaxprEqn, z: Complex) -> Complex:
    """All prefixes of a product."""

    def combine(x: Sequence[Any], y: Sequence[Any]) -> tuple[Any, Any]:
        left, right = (c.of_parts(parts, np.shape(parts[0]), z.dtype) for parts in (x, y))
        return c.multiplied(left, right).parts

    axis, reverse = equation.params["axis"], equation.params["reverse"]
    return c.of_parts(lax.associative_scan(combine, z.parts, reverse=reverse, axis=axis), z.shape, z.dtype)


def _gather(equation: JaxprEqn, z: Complex, indices: Array) -> list[Complex]:
    """Entries of both parts; a place outside is NaN in the real part and 0 in the imaginary one, or what is given."""
    fill = equation.params["fill_value"]
    fills = {"real": fill, "imag": 0} if fill is None else {"real": np.real(fill), "imag": np.imag(fill)}
    of = lambda part, value: equation.primitive.bind(part, indices, **{**equation.params, "fill_value": value})
    parts = [of(part, fills[which]) for which, part in zip(("real", "imag"), z.parts, strict=True)]
    return [c.of_parts(parts, shape_of(equation.outvars[0]), z.dtype)]


def _scattered(function: Callable[..., Any]) -> Rule:
    """A scatter of both parts."""

    def rule(equation: JaxprEqn, *operands: Any) -> list[Complex]:
        names = ("dimension_numbers", "indices_are_sorted", "unique_indices", "mode")
        given = {name: equation.params[name] for name in names}
        return part_by_part(equation, lambda values: function(*values, **given), operands)

    return rule


def _transformed(equation: JaxprEqn, x: Complex | jax.Array) -> Complex | jax.Array:
    """A Fourier transform; of real numbers, or with real results, for some kinds."""
    kind = lax.FftType(equation.params["fft_type"]).name
    z = x if isinstance(x, Complex) else Complex(x, None, shape_of(equation.invars[0]), dtype_of(equation.invars[0]))
    found = transformed(z, kind, equation.params["fft_lengths"])
    return found if is_complex(dtype_of(equation.outvars[0])) else found.parts[0]


RULES: Mapping[str, Rule] = {
    **dict.fromkeys(PART_BY_PART, _same),
    "abs": lambda equation, z: c.modulus(z),
    NAME: in_parts,
    "add": _entrywise(c.added),
    "add_any": _entrywise(c.added),
    "broadcast_in_dim": _broadcast,
    "complex": _made,
    "conj": _conjugate,
    "conv_general_dilated": _bilinear,
    "convert_element_type": _cast,
    "cos": _entrywise(c.cosine),
    "cosh": _entrywise(c.hyperbolic_cosine),
    "cumprod": _products,
    "div": _entrywise(c.divided),
    "dot_general": _bilinear,
    "eq": _equal,
    "exp": _entrywise(c.exponential),
    "exp2": _entrywise(c.power_of_two),
    "expm1": _entrywise(lambda z: c.subtracted(c.exponential(z), c.one(z))),
    "fft": _transformed,
    "gather": _gather,
    "imag": lambda equation, z: z.parts[1],
    "integer_pow": _whole_power,
    "log": _entrywise(c.logarithm),
    "log1p": _entrywise(lambda z: c.logarithm(c.added(c.one(z), z))),
    "logistic": _entrywise(c.logistic),
    "mul": _entrywise(c.multiplied),
    "ne": lambda equation, z, w: lax.bitwise_not(_equal(equation, z, w)),
    "neg": _entrywise(c.negated),
    "polynomial": _polynomial,
    "pow": _pow,
    "real": lambda equation, z: z.parts[0],
    "reduce_prod": _product,
    "rsqrt": _entrywise(lambda z: c.divided(c.one(z), c.root(z))),
    "scatter": _scattered(lax.scatter),
    "scatter-add": _scattered(lax.scatter_add),
    "scatter-sub": _scattered(lax.scatter_sub),
    "sign": _entrywise(c.sign),
    "sin": _entrywise(c.sine),
    "sinh": _entrywise(c.hyperbolic_sine),
    "sqrt": _entrywise(c.root),
    "square": _entrywise(lambda z: c.multiplied(z, z)),
    "sub": _entrywise(c.subtracted),
    "tan": _entrywise(c.tangent),
    "tanh": _entrywise(c.hyperbolic_tangent),
}
"""From a primitive's name to its rule."""
