"""Cumulative sums written out, each sum of its own terms: of exponentials a logarithm then has a form of its own."""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from typing import Any

import jax
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.interpret.tracing import dtype_of, shape_of

LONGEST = 32
"""Longer rows have the definition of `definitions`, in fewer rounds."""

OF_SUMS: Mapping[str, Callable[[Any, int], Any]] = {
    "cumlogsumexp": lambda x, axis: lax.log(lax.reduce_sum(lax.exp(x), (axis,))),
    "cumsum": lambda x, axis: lax.reduce_sum(x, (axis,)),
}
"""What each entry is of all entries up to it, or from it on."""


def written_out(equation: JaxprEqn) -> ClosedJaxpr | None:
    """The result of a cumulative sum, each of its entries a sum of its own; None of other primitives and long rows."""
    name = equation.primitive.name
    if name not in OF_SUMS:
        return None
    shape, axis, reverse = shape_of(equation.invars[0]), equation.params["axis"], equation.params["reverse"]
    written = 0 < shape[axis] <= LONGEST
    return _program(name, shape, dtype_of(equation.invars[0]), axis, reverse) if written else None


@functools.lru_cache(maxsize=256)
def _program(name: str, shape: tuple[int, ...], dtype: Any, axis: int, reverse: bool) -> ClosedJaxpr:
    parts = [(k, shape[axis]) if reverse else (0, k + 1) for k in range(shape[axis])]
    single = (*shape[:axis], 1, *shape[axis + 1 :])

    def program(x: jax.Array) -> jax.Array:
        sums = (OF_SUMS[name](lax.slice_in_dim(x, *part, axis=axis), axis) for part in parts)
        return lax.concatenate([lax.reshape(each, single) for each in sums], axis)

    return jax.make_jaxpr(program)(jax.ShapeDtypeStruct(shape, dtype))
