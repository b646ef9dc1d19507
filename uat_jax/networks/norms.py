"""LayerNorm (Ba et al. 2016) and RMSNorm (Zhang & Sennrich 2019), token by token."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.networks.drawing import BIAS_VARIANCE, checked_dtype, checked_sizes, draw_arrays
from uat_jax.networks.fields import bind_fields
from uat_jax.networks.shapes import Axes, bind_shape

EPSILON = 1e-5
"""ε, what is added to the variance or the mean square."""


class LayerNorm(NamedTuple):
    """The parameters of a LayerNorm over M features."""

    gamma: jax.Array
    """γ, (M,)."""
    beta: jax.Array
    """β, (M,)."""


class RMSNorm(NamedTuple):
    """The parameters of an RMSNorm over M features."""

    gamma: jax.Array
    """γ, (M,)."""


Norm = LayerNorm | RMSNorm

LAYER_NORM_AXES: Axes = {"gamma": ("M",), "beta": ("M",)}
RMS_NORM_AXES: Axes = {"gamma": ("M",)}


def initialise_layer_norm(key: jax.Array, features: int, dtype: jax.typing.DTypeLike = jnp.float32) -> LayerNorm:
    """Independent normal γ (variance 1) and β (variance 1/4): at 1 and 0 a lost γ or β would go unseen."""
    (features,) = checked_sizes("features", [features])
    table = {"gamma": ((features,), 1.0), "beta": ((features,), BIAS_VARIANCE)}
    return LayerNorm(**draw_arrays(key, table, checked_dtype(dtype)))


def initialise_rms_norm(key: jax.Array, features: int, dtype: jax.typing.DTypeLike = jnp.float32) -> RMSNorm:
    """Independent normal γ of variance 1."""
    (features,) = checked_sizes("features", [features])
    return RMSNorm(**draw_arrays(key, {"gamma": ((features,), 1.0)}, checked_dtype(dtype)))


def layer_norm(norm: LayerNorm, x: jax.Array, *, epsilon: float = EPSILON) -> jax.Array:
    """γ (x_n − mean x_n) / √(var x_n + ε) + β for each token n: (N, M) → (N, M), in the dtype of x.

    var is the mean of the squares of x_n − mean x_n. Raises `ShapeError` if γ, β and x do not fit.
    """
    bind_shape("x", tuple(x.shape), ("N", "M"), bind_fields(norm, LAYER_NORM_AXES))
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    return norm.gamma[None, :] * (centred * _inverse_root_mean_square(centred, epsilon)) + norm.beta[None, :]


def rms_norm(norm: RMSNorm, x: jax.Array, *, epsilon: float = EPSILON) -> jax.Array:
    """γ x_n / √(mean of the squares of x_n + ε) for each token n: (N, M) → (N, M), in the dtype of x.

    Raises `ShapeError` if γ and x do not fit.
    """
    bind_shape("x", tuple(x.shape), ("N", "M"), bind_fields(norm, RMS_NORM_AXES))
    return norm.gamma[None, :] * (x * _inverse_root_mean_square(x, epsilon))


def _inverse_root_mean_square(x: jax.Array, epsilon: float) -> jax.Array:
    """1 / √(mean of the squares of x_n + ε), (N, M) → (N, 1)."""
    return jax.lax.rsqrt(jnp.mean(x * x, axis=-1, keepdims=True) + jnp.asarray(epsilon, x.dtype))


def normalise(norm: Norm, x: jax.Array, *, epsilon: float = EPSILON) -> jax.Array:
    """The norm whose parameters are given: `layer_norm` or `rms_norm`."""
    if isinstance(norm, LayerNorm):
        return layer_norm(norm, x, epsilon=epsilon)
    return rms_norm(norm, x, epsilon=epsilon)
