"""What a function computes, kept as data: an upgrade that changes it fails with an input."""

import jax
import jax.numpy as jnp


def forward(p, x):
    h = jax.nn.gelu(x @ p["up"])
    return jax.nn.standardize(x + h @ p["down"])


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def test_forward_is_what_it_was(unchanged):
    unchanged(forward, {"up": spec(4, 8), "down": spec(8, 4)}, spec(3, 4))
