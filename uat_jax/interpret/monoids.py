"""`reduce` and `reduce_window` with a program for what they combine by: a sum, a product, a maximum or the like.

A program that is none of these may depend on the order in which a device combines entries, and is refused.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.interpret.scattering import total
from uat_jax.interpret.tracing import dtype_of
from uat_jax.interpret.windows import pooling
from uat_jax.typing import Parameters


class Monoid(NamedTuple):
    """An associative and commutative operation.

    reduce: what it makes of all entries along axes.  combine: of two arrays.  neutral: what changes nothing.
    idempotent: whether x combined with x is x, so that it does not matter how often a starting value is used.
    """

    reduce: Callable[..., jax.Array]
    combine: Callable[..., jax.Array]
    neutral: float
    idempotent: bool


MONOIDS: Mapping[str, Monoid] = {
    "add": Monoid(total, lax.add, 0, False),
    "and": Monoid(jnp.all, lax.bitwise_and, True, True),
    "max": Monoid(jnp.max, lax.max, -np.inf, True),
    "min": Monoid(jnp.min, lax.min, np.inf, True),
    "mul": Monoid(jnp.prod, lax.mul, 1, False),
    "or": Monoid(jnp.any, lax.bitwise_or, False, True),
}
"""By the primitive that combines two entries."""


def monoid(program: Jaxpr | ClosedJaxpr) -> Monoid | None:
    """What a program of two scalars combines them by, also inside of `jit`; None if that is none of the table."""
    jaxpr = program.jaxpr if isinstance(program, ClosedJaxpr) else program
    if len(jaxpr.eqns) != 1 or len(jaxpr.invars) != 2:
        return None
    (equation,) = jaxpr.eqns
    if {*map(id, equation.invars)} != {*map(id, jaxpr.invars)} or [*equation.outvars] != [*jaxpr.outvars]:
        return None
    name = equation.primitive.name
    return monoid(equation.params["jaxpr"]) if name in ("jit", "pjit") else MONOIDS.get(name)


def is_reduced(equation: JaxprEqn) -> bool:
    """Whether a reduction of one array by a program is one by a monoid that starts with its neutral element.

    XLA may use the starting value more than once, which makes no difference to a maximum.
    """
    found = monoid(equation.params["jaxpr"])
    if found is None or len(equation.invars) != 2 or equation.params.get("consts"):
        return False
    x, start = equation.invars
    if isinstance(found.neutral, bool) != (dtype_of(x) == np.bool_):
        return False
    return found.idempotent or isinstance(start, Literal) and start.val == found.neutral


def reduction(parameters: Parameters, x: jax.Array, start: jax.Array) -> Sequence[jax.Array]:
    """`reduce` along some axes."""
    found, axes = monoid(parameters["jaxpr"]), parameters["dimensions"]
    assert found is not None  # `is_reduced`
    shape = [size for axis, size in enumerate(x.shape) if axis not in axes]
    return [_started(found, found.reduce(x, axis=axes) if x.size else None, start, shape)]


def windows(parameters: Parameters, x: jax.Array, start: jax.Array) -> Sequence[jax.Array]:
    """`reduce_window`: the starting value also stands around x."""
    found = monoid(parameters["jaxpr"])
    assert found is not None  # `is_reduced`
    pooled = pooling(found.reduce, found.neutral)(parameters, x)
    return [_started(found, pooled, start, pooled.shape)]


def _started(found: Monoid, reduced: jax.Array | None, start: jax.Array, shape: Sequence[int]) -> jax.Array:
    """What is reduced, combined with a starting value that may be another than the neutral one."""
    first = jnp.broadcast_to(start, shape)
    if reduced is None:
        return first
    return found.combine(first, reduced) if found.idempotent else reduced
