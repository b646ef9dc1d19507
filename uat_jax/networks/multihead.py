"""Multi-head attention as real Transformers have it (Vaswani et al. 2017): every head sees all features.

With g < h groups of keys and values it is grouped-query attention (Ainslie et al. 2023), with g = 1
multi-query attention (Shazeer 2019); with a context it is cross-attention.
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks.adapted import Matrix, sum_of_products, times
from uat_jax.networks.drawing import BIAS_VARIANCE, checked_dtype, checked_sizes, draw_arrays
from uat_jax.networks.fields import bind_fields, check_divides
from uat_jax.networks.norms import EPSILON
from uat_jax.networks.positions import rope
from uat_jax.networks.shapes import Axes, bind_shape


class MultiHead(NamedTuple):
    """h heads of width d over M features, g groups of keys and values over C features; head i uses group ⌊i g/h⌋.

    C = M but for cross-attention, M' = M wherever a residual goes around. A bias may be None.
    """

    query: Matrix
    """W_{Qi} for each head, (h, M, d)."""
    key: Matrix
    """W_K for each group, (g, C, d)."""
    value: Matrix
    """W_V for each group, (g, C, e)."""
    output: Matrix
    """The row blocks W_{Oi} of W_O, (h, e, M')."""
    query_bias: jax.Array | None = None
    """b_{Qi}, (h, d)."""
    key_bias: jax.Array | None = None
    """b_K, (g, d)."""
    value_bias: jax.Array | None = None
    """b_V, (g, e)."""
    output_bias: jax.Array | None = None
    """b_O, (M',)."""
    query_norm: jax.Array | None = None
    """γ of an RMSNorm of the queries, (h, d)."""
    key_norm: jax.Array | None = None
    """γ of an RMSNorm of the keys, (g, d)."""


MULTIHEAD_AXES: Axes = {
    "query": ("h", "M", "d"),
    "key": ("g", "C", "d"),
    "value": ("g", "C", "e"),
    "output": ("h", "e", "M'"),
    "query_bias": ("h", "d"),
    "key_bias": ("g", "d"),
    "value_bias": ("g", "e"),
    "output_bias": ("M'",),
    "query_norm": ("h", "d"),
    "key_norm": ("g", "d"),
}


class Scoring(NamedTuple):
    """How queries and keys become scores; the default is softmax(q kᵀ / √d) over all keys.

    Per head: (rope(q) rope(k)ᵀ) · scale + bias, and −∞ where the mask is False; queries and keys are normed first where
    the attention has norms for them, and a cap c makes c tanh(s / c) of the scaled product s.
    """

    mask: jax.Array | None = None
    """Which keys a query sees, boolean (N, K); every row must see some key."""
    bias: jax.Array | None = None
    """What is added to the scores, (h, N, K): ALiBi or any relative bias."""
    angles: jax.Array | None = None
    """The angles of RoPE, (N, d/2), for queries and keys alike."""
    scale: float | None = None
    """What the scores are multiplied by; None is 1/√d."""
    amplitude: float = 1.0
    """What RoPE multiplies the features by that it turns (YaRN)."""
    cap: float | None = None
    """c of the soft cap; None is no cap."""
    epsilon: float = EPSILON
    """ε of the norms of queries and keys."""
    together: bool = False
    """Whether a norm of queries or keys is one over all heads, and not one for each head."""


PLAIN = Scoring()
"""softmax(q kᵀ / √d) over all keys."""


def initialise_multihead(
    key: jax.Array,
    *,
    features: int,
    heads: int,
    width: int | None = None,
    groups: int | None = None,
    context: int | None = None,
    biases: bool = True,
    dtype: jax.typing.DTypeLike = jnp.float32,
) -> MultiHead:
    """Random parameters: M = M' = `features`, h = `heads`, d = e = `width`, g = `groups`, C = `context`.

    By default d = M/h, g = h and C = M. Every entry is an independent normal variable of mean 0: matrices
    have variance 1 / (number of terms in the sum they take part in), biases 1/4. Raises `InputError` for
    unusable sizes or dtypes, or if h does not divide M where d is left out, or g does not divide h.
    """
    dtype = checked_dtype(dtype)
    M, h = checked_sizes("features, heads", [features, heads], least=2)
    if width is None and M % h:
        raise InputError(f"got features = {M} and heads = {h}, wanted heads to divide features; or give width")
    given = (M // h if width is None else width, h if groups is None else groups, M if context is None else context)
    d, g, C = checked_sizes("width, groups, context", given, least=3)
    if h % g:
        raise InputError(f"got groups = {g} and heads = {h}, wanted groups to divide heads; change one")
    table = {
        "query": ((h, M, d), 1 / M),
        "key": ((g, C, d), 1 / C),
        "value": ((g, C, d), 1 / C),
        "output": ((h, d, M), 1 / (h * d)),
        "query_bias": ((h, d), BIAS_VARIANCE),
        "key_bias": ((g, d), BIAS_VARIANCE),
        "value_bias": ((g, d), BIAS_VARIANCE),
        "output_bias": ((M,), BIAS_VARIANCE),
    }
    kept = {field: row for field, row in table.items() if biases or not field.endswith("bias")}
    return MultiHead(**draw_arrays(key, kept, dtype))


def multihead_weights(
    layer: MultiHead,
    x: jax.Array,
    *,
    context: jax.Array | None = None,
    scoring: Scoring = PLAIN,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """H_i, the softmax of the scores of head i, row by row: (N, M) and context (K, C) → (h, N, K).

    The context is x itself if left out. Raises `ShapeError` if the arrays do not fit.
    """
    heads = _bind(layer, x, context, scoring)
    queries = _normed(_project(x, layer.query, layer.query_bias, precision), layer.query_norm, scoring)
    z = x if context is None else context
    keys = _normed(_project(z, layer.key, layer.key_bias, precision), layer.key_norm, scoring)
    if scoring.angles is not None:
        queries, keys = (rope(each, scoring.angles, amplitude=scoring.amplitude) for each in (queries, keys))
    return _softmax(jnp.einsum("hnd,hkd->hnk", queries, _for_heads(keys, heads), precision=precision), layer, scoring)


def multihead(
    layer: MultiHead,
    x: jax.Array,
    *,
    context: jax.Array | None = None,
    scoring: Scoring = PLAIN,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """Σ_i H_i (z W_V + b_V) W_Oi + b_O, (N, M) → (N, M'); z is x itself, or the context (K, C).

    The dtype is that of x. Raises `ShapeError` if the arrays do not fit.
    """
    weights = multihead_weights(layer, x, context=context, scoring=scoring, precision=precision)
    values = _project(x if context is None else context, layer.value, layer.value_bias, precision)
    heads = jnp.einsum("hnk,hke->hne", weights, _for_heads(values, len(weights)), precision=precision)
    y = sum_of_products(heads, layer.output, precision=precision)
    return y if layer.output_bias is None else y + layer.output_bias[None, :]


def _bind(layer: MultiHead, x: jax.Array, context: jax.Array | None, scoring: Scoring) -> int:
    """Check every shape; the number of heads."""
    sizes = bind_fields(layer, MULTIHEAD_AXES)
    check_divides(sizes["g"], sizes["h"], "groups and heads")
    bind_shape("x", tuple(x.shape), ("N", "M"), sizes)
    z, name = (x, "x as its own context") if context is None else (context, "context")
    bind_shape(name, tuple(z.shape), ("K", "C"), sizes)
    bind_fields(scoring, {"mask": ("N", "K"), "bias": ("h", "N", "K")}, sizes)
    return sizes["h"]


def _project(x: jax.Array, matrix: Matrix, bias: jax.Array | None, precision) -> jax.Array:
    """x W + b for each W of `matrix`, (N, M) and (h, M, d) → (h, N, d)."""
    y = times(x, matrix, precision=precision)
    return y if bias is None else y + bias[:, None, :]


def _normed(x: jax.Array, gamma: jax.Array | None, scoring: Scoring) -> jax.Array:
    """γ x / √(mean of the squares + ε), (h, N, d) and (h, d) → (h, N, d); the mean is over one head, or over all."""
    if gamma is None:
        return x
    square = jnp.mean(x * x, axis=(0, -1) if scoring.together else -1, keepdims=True)
    return gamma[:, None, :] * (x * jax.lax.rsqrt(square + jnp.asarray(scoring.epsilon, x.dtype)))


def _for_heads(groups: jax.Array, heads: int) -> jax.Array:
    """The array of the group of each head, (g, K, d) → (h, K, d): group 0 for the first h/g heads, and so on."""
    return jnp.repeat(groups, heads // len(groups), axis=0)


def _softmax(products: jax.Array, layer: MultiHead, scoring: Scoring) -> jax.Array:
    """softmax(products · scale + bias) over the keys that the mask leaves, (h, N, K) → (h, N, K)."""
    if scoring.scale is None:
        # √d is an operation of the trace, so that an exact arithmetic sees a root and not a rounded decimal.
        scores = products / jnp.sqrt(jnp.asarray(layer.query.shape[-1], products.dtype))
    else:
        scores = products * jnp.asarray(scoring.scale, products.dtype)
    if scoring.cap is not None:
        cap = jnp.asarray(scoring.cap, scores.dtype)
        scores = cap * jnp.tanh(scores / cap)
    if scoring.bias is not None:
        scores = scores + scoring.bias
    if scoring.mask is not None:
        scores = jnp.where(scoring.mask[None], scores, -jnp.inf)
    return jax.nn.softmax(scores, axis=-1)
