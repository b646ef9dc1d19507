"""BERT (Devlin et al. 2019) and the sentence encoders of its form: post-norm blocks, every token sees every token."""

import jax

from uat_jax.networks.block import Block
from uat_jax.networks.checkpoint import Checkpoint
from uat_jax.networks.decoder import Embedding
from uat_jax.networks.families.adapter import Adapter, adapted
from uat_jax.networks.families.config import Config
from uat_jax.networks.families.heads import check_heads, multi_head
from uat_jax.networks.families.tensors import (
    Tensors,
    numbered,
    prefix_of,
    prefixed,
    select,
    under,
)
from uat_jax.networks.feed_forward_part import FeedForward
from uat_jax.networks.model import Architecture, Model
from uat_jax.networks.norms import LayerNorm
from uat_jax.networks.shapes import Axes

AXES: Axes = {
    "embeddings.word_embeddings.weight": ("V", "M"),
    "embeddings.position_embeddings.weight": ("P", "M"),
    "embeddings.token_type_embeddings.weight": ("T", "M"),
    "embeddings.LayerNorm.weight": ("M",),
    "embeddings.LayerNorm.bias": ("M",),
}
BLOCK_AXES: Axes = {
    "attention.self.query.weight": ("M", "M"),
    "attention.self.query.bias": ("M",),
    "attention.self.key.weight": ("M", "M"),
    "attention.self.key.bias": ("M",),
    "attention.self.value.weight": ("M", "M"),
    "attention.self.value.bias": ("M",),
    "attention.output.dense.weight": ("M", "M"),
    "attention.output.dense.bias": ("M",),
    "attention.output.LayerNorm.weight": ("M",),
    "attention.output.LayerNorm.bias": ("M",),
    "intermediate.dense.weight": ("F", "M"),
    "intermediate.dense.bias": ("F",),
    "output.dense.weight": ("M", "F"),
    "output.dense.bias": ("M",),
    "output.LayerNorm.weight": ("M",),
    "output.LayerNorm.bias": ("M",),
}
PARTS = ("query", "key", "value")
PREFIX = "bert."
BUFFERS = r"(bert\.)?(embeddings\.(position_ids|token_type_ids)|pooler\.dense\.(weight|bias))"
"""The pooler comes after the features of the tokens, which are what this model gives."""


def bert(
    checkpoint: Checkpoint, *, head: bool, dtype: jax.typing.DTypeLike | None, adapter: Adapter | None = None
) -> Model:
    """The encoder of a BERT checkpoint; it has no `head`.

    All tokens are of type 0, whose embedding is added to every position. Raises what `select`, `adapted` and `Config`
    raise, and `UnsupportedError` for relative positions, decoders and cross-attention.
    """
    config = Config(checkpoint.config)
    config.only("position_embedding_type", "absolute")
    config.only("is_decoder", False)
    config.only("add_cross_attention", False)
    M, h = config.integer("hidden_size"), config.integer("num_attention_heads")
    check_heads(h, M, "num_attention_heads and hidden_size")
    L = config.integer("num_hidden_layers", most=len(checkpoint.tensors))
    sizes = {"V": config.integer("vocab_size"), "P": config.integer("max_position_embeddings"), "M": M}
    sizes |= {"F": config.integer("intermediate_size"), "T": config.integer("type_vocab_size", 2)}
    prefix = prefix_of(checkpoint, PREFIX)
    axes = prefixed({**AXES, **numbered(BLOCK_AXES, "encoder.layer.{}.", L)}, prefix)
    tensors = under(select(checkpoint, axes, sizes, ignored=BUFFERS, dtype=dtype), prefix)
    tensors = adapted(tensors, adapter, prefix=PREFIX, ignored=BUFFERS)
    embeddings = under(tensors, "embeddings.")
    type_0 = embeddings["token_type_embeddings.weight"][:1]
    return Model(
        Embedding(embeddings["word_embeddings.weight"], embeddings["position_embeddings.weight"] + type_0),
        tuple(_block(under(tensors, f"encoder.layer.{j}."), h) for j in range(L)),
        _norm(under(embeddings, "LayerNorm.")),
        None,
        None,
        Architecture(
            family="bert",
            kind="post-norm",
            activation=config.activation("hidden_act", "gelu"),
            epsilon=config.number("layer_norm_eps", 1e-12),
            causal=False,
            positions=sizes["P"],
            padding=config.padding(),
        ),
    )


def _block(tensors: Tensors, heads: int) -> Block:
    """The weights of ``Linear`` stand transposed: they act as x Wᵀ."""
    attention, output = under(tensors, "attention.self."), under(tensors, "attention.output.dense.")
    matrices, biases = zip(*((attention[f"{part}.weight"].T, attention[f"{part}.bias"]) for part in PARTS), strict=True)
    return Block(
        multi_head(matrices, biases, output["weight"].T, output["bias"], heads, heads, heads),
        FeedForward(
            tensors["intermediate.dense.weight"].T,
            tensors["intermediate.dense.bias"],
            tensors["output.dense.weight"].T,
            tensors["output.dense.bias"],
        ),
        _norm(under(tensors, "attention.output.LayerNorm.")),
        _norm(under(tensors, "output.LayerNorm.")),
    )


def _norm(tensors: Tensors) -> LayerNorm:
    return LayerNorm(tensors["weight"], tensors["bias"])
