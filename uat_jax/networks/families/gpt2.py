"""GPT-2 (Radford et al. 2019): pre-norm blocks, learned positions, GELU by tanh, the embedding as unembedding."""

import jax
import numpy as np

from uat_jax.networks.adapted import on_columns
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
from uat_jax.networks.families.unembedding import HEAD, unembedding
from uat_jax.networks.feed_forward_part import FeedForward
from uat_jax.networks.model import Architecture, Model
from uat_jax.networks.norms import LayerNorm
from uat_jax.networks.shapes import Axes

AXES: Axes = {"wte.weight": ("V", "M"), "wpe.weight": ("P", "M"), "ln_f.weight": ("M",), "ln_f.bias": ("M",)}
BLOCK_AXES: Axes = {
    "ln_1.weight": ("M",),
    "ln_1.bias": ("M",),
    "attn.c_attn.weight": ("M", "3M"),
    "attn.c_attn.bias": ("3M",),
    "attn.c_proj.weight": ("M", "M"),
    "attn.c_proj.bias": ("M",),
    "ln_2.weight": ("M",),
    "ln_2.bias": ("M",),
    "mlp.c_fc.weight": ("M", "F"),
    "mlp.c_fc.bias": ("F",),
    "mlp.c_proj.weight": ("F", "M"),
    "mlp.c_proj.bias": ("M",),
}
PREFIX = "transformer."
BUFFERS = r"(transformer\.)?h\.\d+\.attn\.(bias|masked_bias)"


def gpt2(
    checkpoint: Checkpoint, *, head: bool, dtype: jax.typing.DTypeLike | None, adapter: Adapter | None = None
) -> Model:
    """The model of a GPT-2 checkpoint, with unembedding if `head`.

    Raises what `select`, `adapted` and `Config` raise, and `UnsupportedError` for scores that are scaled otherwise than
    by 1/√d and for cross-attention.
    """
    config = Config(checkpoint.config)
    config.only("scale_attn_weights", True)
    config.only("scale_attn_by_inverse_layer_idx", False)
    config.only("add_cross_attention", False)
    M, h = config.integer("n_embd"), config.integer("n_head")
    check_heads(h, M, "n_head and n_embd")
    L = config.integer("n_layer", most=len(checkpoint.tensors))
    sizes = {"V": config.integer("vocab_size"), "P": config.integer("n_positions"), "M": M, "3M": 3 * M}
    sizes["F"] = config.integer("n_inner", 4 * M)
    tied = config.flag("tie_word_embeddings", True)
    prefix = prefix_of(checkpoint, PREFIX)
    axes = prefixed({**AXES, **numbered(BLOCK_AXES, "h.{}.", L)}, prefix)
    own_head = head and (not tied or HEAD in checkpoint.tensors)
    axes |= {HEAD: ("V", "M")} if own_head else {}
    named = select(checkpoint, axes, sizes, ignored=BUFFERS, dtype=dtype)
    tensors = adapted(under(named, prefix), adapter, prefix=PREFIX, ignored=BUFFERS, conv1d=True)
    return Model(
        Embedding(tensors["wte.weight"], tensors["wpe.weight"]),
        tuple(_block(under(tensors, f"h.{j}."), h) for j in range(L)),
        None,
        LayerNorm(tensors["ln_f.weight"], tensors["ln_f.bias"]),
        unembedding(named, prefix + "wte.weight", tied=tied) if head else None,
        Architecture(
            family="gpt2",
            kind="pre-norm",
            activation=config.activation("activation_function", "gelu_new"),
            epsilon=config.number("layer_norm_epsilon", 1e-5),
            causal=True,
            positions=sizes["P"],
            padding=config.padding(),
        ),
    )


def _block(tensors: Tensors, heads: int) -> Block:
    """The weights of ``Conv1D`` stand as they act, x W; queries, keys and values side by side in one matrix."""
    third = lambda part: on_columns(
        lambda all_three: np.split(all_three, 3, axis=1)[part], tensors["attn.c_attn.weight"]
    )
    matrices = [third(part) for part in range(3)]
    biases = np.split(tensors["attn.c_attn.bias"], 3)
    output, output_bias = tensors["attn.c_proj.weight"], tensors["attn.c_proj.bias"]
    return Block(
        multi_head(matrices, biases, output, output_bias, heads, heads, heads),
        FeedForward(
            tensors["mlp.c_fc.weight"],
            tensors["mlp.c_fc.bias"],
            tensors["mlp.c_proj.weight"],
            tensors["mlp.c_proj.bias"],
        ),
        LayerNorm(tensors["ln_1.weight"], tensors["ln_1.bias"]),
        LayerNorm(tensors["ln_2.weight"], tensors["ln_2.bias"]),
    )
