"""How large an error in one coefficient must be before it shows."""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import interpret


def visible_errors(program: ClosedJaxpr, leaves: Sequence[np.ndarray], tolerance: np.ndarray) -> np.ndarray:
    """The relative error ε of each coefficient w at which |∂y_i/∂w · w| ε exceeds tolerance_i for some i.

    `leaves` are the program's inputs, `tolerance` a vector of one number per output entry. The result is a
    float64 vector over the entries of all floating leaves: min_i tolerance_i / |∂y_i/∂w · w|, inf where w
    has no effect. First order, evaluated in float64.
    """
    floats = [i for i, leaf in enumerate(leaves) if jnp.issubdtype(leaf.dtype, jnp.floating)]

    def output(coefficients: list[jax.Array]) -> jax.Array:
        values = dict(zip(floats, coefficients, strict=True))
        return interpret(program, Doubles(), [values.get(i, x) for i, x in enumerate(leaves)])[0].ravel()

    @jax.jit
    def largest(coefficients: list[jax.Array], weights: jax.Array) -> list[jax.Array]:
        _, pull = jax.vjp(output, coefficients)

        def row(best, cotangent):
            effects = [jnp.abs(d * w) for d, w in zip(pull(cotangent)[0], coefficients, strict=True)]
            return [jnp.maximum(b, e) for b, e in zip(best, effects, strict=True)], None

        return jax.lax.scan(row, [jnp.zeros_like(w) for w in coefficients], jnp.diag(weights))[0]

    with jax.enable_x64(True), jax.default_device(jax.devices("cpu")[0]):
        coefficients = [jnp.asarray(leaves[i].astype(np.float64)) for i in floats]
        weights = jnp.asarray(1 / np.maximum(tolerance, np.finfo(np.float64).tiny))
        effects = np.concatenate([np.asarray(e).ravel() for e in largest(coefficients, weights)])
    with np.errstate(divide="ignore"):
        return 1 / effects
