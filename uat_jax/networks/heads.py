"""The papers' slice heads among heads that see all features, so that masks and full width apply to them too."""

import math

import jax
import jax.numpy as jnp

from uat_jax.networks.multihead import MultiHead, Scoring, multihead
from uat_jax.networks.transformer import TransformerLayer


def full_width(layer: TransformerLayer) -> MultiHead:
    """Heads on all M features that compute what the slice heads do: E_i W_Qi, E_i W_Ki, E_i W_Vi (M × d) and W_Oi.

    E_i (M × d) selects slice i, so that x (E_i W) = x_i W. The scores still want the papers' scale 1/√M.
    """
    query, key, value = map(_on_all_features, (layer.query, layer.key, layer.value))
    return MultiHead(query, key, value, layer.output)


def _on_all_features(blocks: jax.Array) -> jax.Array:
    """Rows i d … (i+1) d of head i hold its block, (h, d, d) → (h, h d, d)."""
    heads, d, _ = blocks.shape
    place = jnp.eye(heads, dtype=blocks.dtype)[:, :, None, None] * blocks[:, None]
    return jnp.reshape(place, (heads, heads * d, d))


def masked_attention(
    layer: TransformerLayer,
    x: jax.Array,
    mask: jax.Array | None = None,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """Σ_i softmax(x_i W_Qi (x_i W_Ki)ᵀ / √M) x_i W_Vi W_Oi over the keys that the mask leaves, (N, M) → (N, M').

    ``mask`` is boolean (N, N); every row must see some key. Raises `ShapeError` if the arrays do not fit.
    """
    scoring = Scoring(mask=mask, scale=1 / math.sqrt(x.shape[-1]))
    return multihead(full_width(layer), x, scoring=scoring, precision=precision)
