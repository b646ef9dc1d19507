"""Plain JAX functions: two of them compared in prime fields, or one evaluated in float64 without compiling it.

What a proof or a count says of a formula is confirmed here on the network itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decide.effort import Effort
from uat_jax.decide.fields_evidence import field_evidence
from uat_jax.decide.sampling import sample
from uat_jax.decide.verdict import Evidence
from uat_jax.errors import ShapeError
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.floats.doubles import Doubles


def confirm_functions(
    left: Callable[..., jax.Array],
    right: Callable[..., jax.Array],
    shapes: Sequence[Any],
    *,
    what: str,
    subject: str = "",
) -> Evidence:
    """CERTIFIED if both functions of float32 arrays are equal at these shapes, else UNKNOWN.

    ``shapes``: one pytree of shapes (tuples of sizes) per argument.
    Raises `ShapeError` if the results differ in shape.
    """
    is_shape = lambda s: type(s) is tuple and all(isinstance(size, int) for size in s)
    specs = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s, jnp.float32), tuple(shapes), is_leaf=is_shape)
    traces = [jax.make_jaxpr(f)(*specs) for f in (left, right)]
    results = [[tuple(result.shape) for result in traced.out_avals] for traced in traces]
    if results[0] != results[1]:
        raise ShapeError(f"the results of {what} have the shapes {results[0]} and {results[1]}; wanted the same")
    found = field_evidence(traces[0], traces[1], sample(traces[0], traces[1], seed=0).seen, Effort())
    return replace(found, finding=f"{what}: {found.finding}", subject=subject)


def evaluated(function: Callable[[Any], jax.Array], x: np.ndarray) -> np.ndarray:
    """function(x) in float64, operation by operation."""
    point = np.asarray(x, np.float64)
    with jax.enable_x64(True):
        traced = trace(function, point)
    return np.asarray(interpret(traced, Doubles(), [point[None]])[0])[0]
