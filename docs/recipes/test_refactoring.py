"""A block of a Transformer before and after a refactoring: one product for queries, keys and values, einsum, rsqrt."""

import jax
import jax.numpy as jnp
import pytest

import uat_jax as uj

HEADS, WIDTH = 2, 8


def before(p, x):
    """As it was written first."""
    mean = x.mean(-1, keepdims=True)
    h = (x - mean) / jnp.sqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5) * p["gain"]
    q, k, v = (jnp.stack(jnp.split(h @ p[name], HEADS, -1)) for name in ("q", "k", "v"))
    scores = q @ k.swapaxes(-1, -2) / jnp.sqrt(WIDTH / HEADS)
    mixed = jax.nn.softmax(scores) @ v
    return x + jnp.concatenate(list(mixed), -1) @ p["out"]


def after(p, x, scale=(WIDTH / HEADS) ** -0.5):
    """As it is now."""
    variance = jnp.square(x).mean(-1, keepdims=True) - jnp.square(x.mean(-1, keepdims=True))
    h = (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(variance + 1e-5) * p["gain"]
    fused = h @ jnp.concatenate([p["q"] * scale, p["k"], p["v"]], -1)
    q, k, v = fused.reshape(len(x), 3, HEADS, -1).transpose(1, 2, 0, 3)
    weights = jax.nn.softmax(jnp.einsum("hid,hjd->hij", q, k))
    return x + jnp.einsum("hij,hjd->ihd", weights, v).reshape(x.shape) @ p["out"]


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


SPECS = {"gain": spec(WIDTH)} | {name: spec(WIDTH, WIDTH) for name in ("q", "k", "v", "out")}, spec(5, WIDTH)


def test_the_refactored_block_is_the_old_one(equivalent):
    # The moments overflow at inputs of 1e30, which `certify` reports as a hazard; that is accepted here.
    equivalent(before, after, *SPECS, hazards="ignore")


def test_a_forgotten_scale_is_found():
    """What the failure of such a test says: an input, and the lines at which both part."""
    with pytest.raises(AssertionError, match="REFUTED") as failure:
        uj.assert_equivalent(before, lambda p, x: after(p, x, scale=1.0), *SPECS)
    assert "they part: left" in str(failure.value)
