"""The papers' Transformer as two streams, its attention patterns frozen at the actual input (L3)."""

from __future__ import annotations

import jax
import jax.numpy as jnp

from uat_jax.networks.activations import Activation
from uat_jax.networks.stack import Layers, carry
from uat_jax.networks.transformer import TransformerLayer, activation_term, attention_weights, mix
from uat_jax.typing import PyTree


def transformer_streams(
    layers: Layers[TransformerLayer],
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """p_L, input and biases, and u_L, all activations, of x_L = p_L + u_L: (N, M_0) → (2, N, M_L).

    With H_j the patterns of p_{j−1} + u_{j−1}, and MHA_j linear once they are frozen (Theorem 3),

        p_j = MHA_j p_{j−1} + 1 b_{j,2}ᵀ,    u_j = MHA_j u_{j−1} + σ(y_j W_{j,1} + 1 b_{j,1}ᵀ) W_{j,2},

    where y_j = MHA_j p_{j−1} + MHA_j u_{j−1}.
    """

    def step(streams: tuple[jax.Array, jax.Array], layer: TransformerLayer, _: PyTree) -> tuple[jax.Array, jax.Array]:
        weights = attention_weights(layer, streams[0] + streams[1], precision=precision)
        p, u = (mix(layer, weights, z, precision=precision) for z in streams)
        term = activation_term(layer, p + u, activation, precision=precision)
        return p + layer.project_bias[None, :], u + term

    return jnp.stack(carry(step, (x, x - x), layers))
