"""How attention learns where a token stands: RoPE (Su et al. 2021), ALiBi (Press et al. 2022), T5's distances."""

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.drawing import checked_dtype, checked_sizes
from uat_jax.networks.fields import check_divides
from uat_jax.networks.shapes import bind_shape


def rope_angles(
    tokens: int, width: int, *, base: float = 10000.0, first: int = 0, dtype: jax.typing.DTypeLike = jnp.float32
) -> jax.Array:
    """n · base^(−2k/d) for the positions n = first, …, first + N − 1 and k = 0, …, d/2 − 1: (N, d/2).

    `tokens` is N, `width` is d, the features of one head. Raises `InputError` if d is odd.
    """
    tokens, width = checked_sizes("tokens, width", [tokens, width], least=2)
    if width % 2:
        raise InputError(f"got width = {width}, wanted an even one: RoPE turns pairs of features")
    frequencies = base ** (-np.arange(0, width, 2) / width)
    return jnp.asarray(np.outer(np.arange(first, first + tokens), frequencies), checked_dtype(dtype))


def rope(x: jax.Array, angles: jax.Array, *, amplitude: float = 1.0) -> jax.Array:
    """Turn the features (2k, 2k+1) of token n by the angle ϑ_nk: (h, N, d) and (N, d/2) → (h, N, d).

    (u, v) becomes a (u cos ϑ − v sin ϑ, u sin ϑ + v cos ϑ), a being the `amplitude`. Raises `ShapeError` if x and the
    angles do not fit.
    """
    heads, tokens, width = x.shape
    check_divides(2, width, "2 (features that turn together) and the width of a head")
    bind_shape("angles", tuple(angles.shape), ("N", "d/2"), {"N": tokens, "d/2": width // 2})
    pairs = jnp.reshape(x, (heads, tokens, width // 2, 2))
    u, v = pairs[..., 0], pairs[..., 1]
    cos, sin = jnp.cos(angles)[None], jnp.sin(angles)[None]
    if amplitude != 1.0:
        cos, sin = cos * jnp.asarray(amplitude, x.dtype), sin * jnp.asarray(amplitude, x.dtype)
    return jnp.reshape(jnp.stack([u * cos - v * sin, u * sin + v * cos], axis=-1), x.shape)


def alibi_slopes(heads: int, dtype: jax.typing.DTypeLike = jnp.float32) -> jax.Array:
    """2^(−8i/h) for the heads i = 1, …, h: (h,).

    Where h is no power of 2, the slopes of the largest power of 2 below it, then every second one of twice that power.
    """
    (heads,) = checked_sizes("heads", [heads])
    power = 2 ** (heads.bit_length() - 1)
    slopes = 2.0 ** (-8 * np.arange(1, power + 1) / power)
    between = 2.0 ** (-4 * np.arange(1, 2 * power + 1, 2) / power)
    return jnp.asarray(np.concatenate([slopes, between[: heads - power]]), checked_dtype(dtype))


def alibi(slopes: jax.Array, tokens: int) -> jax.Array:
    """−slope_i |n − m|, what ALiBi adds to the score of query n and key m in head i: (h,) → (h, N, N)."""
    bind_shape("slopes", tuple(slopes.shape), ("h",), {})
    positions = np.arange(tokens)
    distances = jnp.asarray(np.abs(positions[:, None] - positions[None, :]), slopes.dtype)
    return -slopes[:, None, None] * distances[None]


def distance_buckets(tokens: int, buckets: int, farthest: int) -> np.ndarray:
    """The bucket of the distance m − n for query n and key m (Raffel et al. 2020, both directions): (N, N).

    The first half of the buckets is for keys up to the query, the second for those behind it; in each half the first
    half is for one distance each, the rest for distances up to `farthest`, whose logarithms have equal steps.
    """
    positions, half = np.arange(tokens), buckets // 2
    offsets = positions[None, :] - positions[:, None]
    distances, each = np.abs(offsets), half // 2
    ratios = np.log(np.maximum(distances, each) / each) / np.log(farthest / each)
    far = np.minimum(each + (ratios * (half - each)).astype(np.int64), half - 1)
    return np.where(offsets > 0, half, 0) + np.where(distances < each, distances, far)
