"""Weights of eight bits: what may be moved past the dequantisation, and what may not."""

import jax
import jax.numpy as jnp

import uat_jax as uj

X = jax.ShapeDtypeStruct((2, 4), jnp.float32)
SCALE = uj.positive(jax.ShapeDtypeStruct((3,), jnp.float32))
CODES = uj.integers(jax.ShapeDtypeStruct((4, 3), jnp.int8), -127, 127)
W = jax.ShapeDtypeStruct((4, 3), jnp.float32)


def dequantise_first(x, codes, scale):
    return x @ (codes.astype(jnp.float32) * scale)


def scale_last(x, codes, scale):
    return (x @ codes.astype(jnp.float32)) * scale


def scale_of_rows(x, codes, scale):
    """The scale of a column is taken for that of another one."""
    return (x @ codes.astype(jnp.float32)) * scale[::-1]


def fake_quantised(w, scale):
    return jnp.clip(jnp.round(w / scale), -127, 127) * scale


def clipped_first(w, scale):
    return jnp.round(jnp.clip(w / scale, -127, 127)) * scale


def truncated(w, scale):
    return jnp.clip(jnp.trunc(w / scale), -127, 127) * scale


def test_the_scale_may_come_behind_the_product():
    uj.assert_equivalent(dequantise_first, scale_last, X, CODES, SCALE)


def test_the_scale_of_another_column():
    assert uj.certify(dequantise_first, scale_of_rows, X, CODES, SCALE).verdict is uj.Verdict.REFUTED


def test_rounding_is_not_truncation():
    assert uj.certify(fake_quantised, truncated, W, SCALE).verdict is uj.Verdict.REFUTED


def test_clipping_before_rounding():
    """Both ends are whole numbers, so the order does not matter."""
    uj.assert_equivalent(fake_quantised, clipped_first, W, SCALE)
