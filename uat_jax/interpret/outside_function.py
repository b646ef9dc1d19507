"""Functions outside of JAX, of which nothing is known: host functions (`jax.pure_callback`) and foreign ones (FFI).

Every call is an equation of one primitive, which holds the name of the function and the types of its results.  Equal
names mean one function, so equal operands give equal results; nothing else is assumed, and nothing is ever called.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Primitive
from jax.interpreters import batching

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.complex_numbers import Complex
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.tracing import dtype_of, is_complex, shape_of, source_line

NAME = "outside_function"
"""Of the primitive."""

OUTSIDE = Primitive(NAME)
OUTSIDE.multiple_results = True


def call(function: str, operands: Sequence[Any], results: Sequence[Any]) -> list[Any]:
    """The results of the function of this name; `results` have the shapes and dtypes."""
    shapes, dtypes = tuple(tuple(r.shape) for r in results), tuple(np.dtype(r.dtype) for r in results)
    return OUTSIDE.bind(*operands, function=function, shapes=shapes, dtypes=dtypes)


def outside_functions(program: ClosedJaxpr | Jaxpr) -> list[str]:
    """The names of the functions outside of JAX that a program calls, in the order of their first calls."""
    calls = (e for inner in programs_within(program) for e in inner.eqns if e.primitive is OUTSIDE)
    return list(dict.fromkeys(e.params["function"] for e in calls))


def named(equation: JaxprEqn) -> str:
    """What an error says of an equation: its primitive, or the function that it calls, and its line."""
    name = equation.params["function"] if equation.primitive is OUTSIDE else equation.primitive.name
    return f"'{name}'{source_line(equation)}"


def in_parts(equation: JaxprEqn, *operands: Any) -> list[Any]:
    """A call with complex operands or results as one of their parts: another function, whose name says so."""
    of = "".join("c" if isinstance(o, Complex) else "r" for o in operands)
    parts = [part for o in operands for part in (o.parts if isinstance(o, Complex) else (o,))]
    real = lambda v: np.dtype(np.float32 if dtype_of(v) == np.complex64 else np.float64)
    twice = lambda v: [ShapedArray(shape_of(v), real(v))] * 2 if is_complex(dtype_of(v)) else [v.aval]
    found = iter(call(f"{equation.params['function']} of {of}", parts, [t for v in equation.outvars for t in twice(v)]))
    return [
        Complex(next(found), next(found), shape_of(v), real(v)) if is_complex(dtype_of(v)) else next(found)
        for v in equation.outvars
    ]


@OUTSIDE.def_abstract_eval
def _types(*operands: Any, function: str, shapes: Any, dtypes: Any) -> list[ShapedArray]:
    if not isinstance(function, str) or len(shapes) != len(dtypes):
        raise TypeError("an outside function has a name, and a dtype for every shape")
    return [ShapedArray(tuple(shape), dtype) for shape, dtype in zip(shapes, dtypes, strict=True)]


@OUTSIDE.def_impl
def _called(*operands: Any, function: str, **types: Any) -> Any:
    raise UnsupportedError(
        f"the function {function} is outside of JAX and is not called; nothing is known of its values"
    )


def _each(operands: Sequence[Any], axes: Sequence[Any], **parameters: Any) -> tuple[list[Any], list[int]]:
    """The function of every entry along the mapped axes, called once for each."""
    mapped = [isinstance(axis, int) for axis in axes]
    count = next(o.shape[a] for o, a, along in zip(operands, axes, mapped, strict=True) if along)
    pick = lambda o, a, along, i: lax.index_in_dim(o, i, a, keepdims=False) if along else o
    entry = lambda i: [pick(*row, i) for row in zip(operands, axes, mapped, strict=True)]
    rows = [OUTSIDE.bind(*entry(i), **parameters) for i in range(count)]
    return [jnp.stack(column) for column in zip(*rows, strict=True)], [0] * len(rows[0])


batching.primitive_batchers[OUTSIDE] = _each
