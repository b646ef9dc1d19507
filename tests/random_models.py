"""Small random models for tests, of families with every kind of block, norm, feed-forward part and position."""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Literal

import jax
import jax.numpy as jnp
import numpy as np
from random_parameters import drawn, normal

from uat_jax.networks.activations import Activation
from uat_jax.networks.block import Block
from uat_jax.networks.decoder import Embedding
from uat_jax.networks.feed_forward_part import initialise_feed_forward, initialise_gated, initialise_mixture
from uat_jax.networks.model import Architecture, Model
from uat_jax.networks.multihead import initialise_multihead
from uat_jax.networks.norms import initialise_layer_norm, initialise_rms_norm

VOCABULARY = 3
FEED_FORWARDS = {"plain": initialise_feed_forward, "gated": initialise_gated, "mixture": initialise_mixture}
NORMS = {"layer": initialise_layer_norm, "rms": initialise_rms_norm}
QKV = ("query_bias", "key_bias", "value_bias")
BIASES: Mapping[str, tuple[str, ...]] = {"all": (*QKV, "output_bias"), "qkv": QKV, "none": ()}


@dataclass(frozen=True)
class Family:
    """What a family of models has."""

    kind: Literal["pre-norm", "post-norm"]
    feed_forward: str = "plain"
    norm: str = "layer"
    activation: Activation = jax.nn.gelu
    biases: str = "all"
    groups: int | None = None
    rope: float | None = None
    causal: bool = False
    window: int | None = None
    ends: bool = False
    """Final norm and unembedding; without them an embedding norm in post-norm models."""
    features: int = 2
    heads: int = 1

    def draw(self, random: np.random.Generator, *, depth: int = 2, positions: int = 4, hidden: int = 1) -> Model:
        """A model of independent normal entries."""
        M, norm = self.features, lambda: drawn(random, NORMS[self.norm], self.features)
        places = None if self.rope else normal(random, positions, M)
        return Model(
            Embedding(normal(random, VOCABULARY, M), places),
            tuple(self._block(random, hidden) for _ in range(depth)),
            norm() if self.kind == "post-norm" and not self.ends else None,
            norm() if self.ends else None,
            normal(random, M, VOCABULARY) if self.ends else None,
            Architecture("test", self.kind, self.activation, 1e-5, self.causal, positions, self.window, self.rope),
        )

    def _block(self, random: np.random.Generator, hidden: int) -> Block:
        M, experts = self.features, (2,) if self.feed_forward == "mixture" else ()
        attention = drawn(random, initialise_multihead, features=M, heads=self.heads, groups=self.groups)
        absent: dict[str, Any] = {name: None for name in BIASES["all"] if name not in BIASES[self.biases]}
        return Block(
            attention._replace(**absent),
            drawn(random, FEED_FORWARDS[self.feed_forward], M, hidden, *experts),
            drawn(random, NORMS[self.norm], M),
            drawn(random, NORMS[self.norm], M),
        )


_LLAMA = Family(
    "pre-norm", "gated", "rms", jax.nn.silu, "none", 1, rope=1e4, causal=True, ends=True, features=4, heads=2
)
FAMILIES: Mapping[str, Family] = {
    "GPT-2": Family("pre-norm", causal=True, ends=True),
    "BERT": Family("post-norm"),
    "Llama": _LLAMA,
    "Mistral": replace(_LLAMA, window=2),
    "Qwen2": replace(_LLAMA, biases="qkv"),
    "two groups": Family("post-norm", groups=2, heads=2, causal=True, activation=jnp.tanh),
    "gated post-norm": Family("post-norm", "gated", "rms", jax.nn.silu, ends=True),
    "experts": Family("pre-norm", "mixture", activation=jnp.tanh, biases="none"),
}
