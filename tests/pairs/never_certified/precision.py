"""Values rounded on purpose: `reduce_precision` is a step function, and not a cast between float types."""

import jax
import jax.numpy as jnp
from jax import lax

from .row import Different, Equal, S, V, f64, ind


def reduced(x, bits=3, exponent=8):
    """x with so many bits after the first."""
    return lax.reduce_precision(x, exponent, bits)


DIFFERENT = (
    Different("three bits and all", reduced, lambda x: x, (S,), (1.03125,)),
    Different("three bits and four", reduced, lambda x: reduced(x, 4), (S,), (1.0625,)),
    Different("three bits of a sum", lambda x, y: reduced(x + y), lambda x, y: reduced(x) + reduced(y), (S, S), (1.046875, 1.09375)),
    Different("three bits in a difference", lambda x: reduced(x) - x, lambda x: 0 * x, (S,), (1.03125,)),
    Different("three bits decided", lambda x: ind(reduced(x) > 9), lambda x: ind(reduced(x) >= 9), (S,), (9.0625,)),
    Different("three bits against a step", lambda x: ind(reduced(x) > 9), lambda x: ind(x > 9), (S,), (9.25,)),
    Different("three bits of a product", lambda x: reduced(3 * x), lambda x: 3 * reduced(x), (S,), (1.1875,)),
    Different("three bits under vmap", jax.vmap(reduced), lambda x: x, (V,), ((1.03125, 2, 3),)),
    Different("three bits under jit", jax.jit(reduced), lambda x: x, (S,), (1.03125,)),
    Different("three bits in float64", reduced, lambda x: x, (f64(),), (1.03125,)),
    Different("a small exponent", lambda x: jnp.minimum(reduced(x, 10, 4), 999), lambda x: jnp.minimum(x, 999), (S,), (400,)),
)  # fmt: skip

EQUAL = (
    Equal("three bits, twice written", reduced, jax.jit(reduced), (S,)),
    Equal("three bits of a sum", lambda x, y: reduced(x + y), lambda x, y: reduced(y + x), (S, S)),
    Equal("three bits added", lambda x: reduced(x) + reduced(x), lambda x: 2 * reduced(x), (S,)),
)  # fmt: skip
