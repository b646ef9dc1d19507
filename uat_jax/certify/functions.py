"""Plain JAX functions: two of them compared in prime fields, or one evaluated in float64 without compiling it.

What a proof or a count says of a formula is confirmed here on the network itself.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import interpret
from uat_jax.arithmetic.tracing import trace
from uat_jax.certify.confirmation import LOG2_ERROR
from uat_jax.certify.fields_evidence import METHOD
from uat_jax.certify.prime_fields import PrimeFields
from uat_jax.certify.verdict import Evidence, Verdict


def confirm_functions(
    left: Callable[..., jax.Array],
    right: Callable[..., jax.Array],
    shapes: Sequence[Any],
    *,
    what: str,
    subject: str = "",
) -> Evidence:
    """CERTIFIED if both functions of float32 arrays are equal, else UNKNOWN.

    ``shapes``: one pytree of shapes (tuples of sizes) per argument.
    """
    is_shape = lambda s: type(s) is tuple and all(isinstance(size, int) for size in s)
    specs = jax.tree.map(lambda s: jax.ShapeDtypeStruct(s, jnp.float32), tuple(shapes), is_leaf=is_shape)
    traces = [jax.make_jaxpr(f)(*specs) for f in (left, right)]
    found = PrimeFields(traces[0], traces[1]).compare(LOG2_ERROR, thoroughly=False)
    figures = {"log2_error": found.log2_error, "theorem": not found.condition}
    if not found.equal or found.log2_error > LOG2_ERROR:
        return Evidence(METHOD, f"{what}: different", Verdict.UNKNOWN, figures, subject=subject)
    finding = f"{what}: equal, except with probability 2^{found.log2_error:.0f}"
    return Evidence(METHOD, finding, Verdict.CERTIFIED, figures, subject=subject)


def evaluated(function: Callable[[Any], jax.Array], x: np.ndarray) -> np.ndarray:
    """function(x) in float64, operation by operation."""
    point = np.asarray(x, np.float64)
    with jax.enable_x64(True):
        traced = trace(function, point)
    return np.asarray(interpret(traced, Doubles(), [point[None]])[0])[0]
