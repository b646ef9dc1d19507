"""The elementwise functions σ that stand inside the networks, by name."""

from collections.abc import Callable
from difflib import get_close_matches

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError

Activation = Callable[[jax.Array], jax.Array]


def gelu_erf(x: jax.Array) -> jax.Array:
    """x/2 · (1 + erf(x/√2)); √2 is an operation of the trace, so that an exact arithmetic sees a root."""
    root = jnp.sqrt(jnp.asarray(2, x.dtype))
    return x / 2 * (1 + jax.lax.erf(x / root))


def gelu_digits(x: jax.Array) -> jax.Array:
    """The tanh approximation of GELU with √(2/π) written in eight digits, BLOOM's."""
    inside = jnp.asarray(0.79788456, x.dtype) * x * (1 + jnp.asarray(0.044715, x.dtype) * x * x)
    return x / 2 * (1 + jnp.tanh(inside))


def quick_gelu(x: jax.Array) -> jax.Array:
    """x / (1 + exp(−1.702 x)), CLIP's."""
    return x * jax.nn.sigmoid(jnp.asarray(1.702, x.dtype) * x)


ACTIVATIONS: dict[str, Activation] = {
    "tanh": jnp.tanh,
    "relu": jax.nn.relu,
    "gelu": jax.nn.gelu,
    "silu": jax.nn.silu,
    "logistic": jax.nn.sigmoid,
    "gelu-erf": gelu_erf,
    "quick-gelu": quick_gelu,
    "gelu-digits": gelu_digits,
}
"""Name → σ, each elementwise and of its argument's dtype.

- ``tanh``      tanh(x)
- ``relu``      max(x, 0)
- ``gelu``      x/2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), the tanh approximation that JAX takes by default
- ``silu``      x / (1 + exp(−x))
- ``logistic``  1 / (1 + exp(−x))
- ``gelu-erf``  x/2 · (1 + erf(x/√2)), the GELU that is not an approximation
- ``quick-gelu``  x / (1 + exp(−1.702 x))
- ``gelu-digits``  ``gelu`` with 0.79788456 in place of √(2/π)
"""


def activation(name: str) -> Activation:
    """The function σ called `name`, one of `ACTIVATIONS`.

    Raises `InputError` for any other name; the message lists the names and the nearest one.
    """
    if isinstance(name, str) and name in ACTIVATIONS:
        return ACTIVATIONS[name]
    nearest = get_close_matches(str(name), ACTIVATIONS, n=1, cutoff=0.0)[0]
    raise InputError(f"got activation {name!r}, wanted one of {', '.join(ACTIVATIONS)}; nearest: {nearest!r}")
