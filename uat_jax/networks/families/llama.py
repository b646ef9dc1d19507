"""Llama (Touvron et al. 2023) and its kin: RMSNorm, RoPE, grouped queries, gated feed-forward.

Mistral adds a sliding window, Qwen2 biases of queries, keys and values and a window that its config switches on.
"""

from collections.abc import Mapping
from typing import Any

import jax

from uat_jax.errors import InputError, UnsupportedError
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
from uat_jax.networks.feed_forward_part import GatedFeedForward
from uat_jax.networks.model import Architecture, Model
from uat_jax.networks.norms import RMSNorm
from uat_jax.networks.shapes import Axes

AXES: Axes = {"embed_tokens.weight": ("V", "M"), "norm.weight": ("M",)}
BLOCK_AXES: Axes = {
    "input_layernorm.weight": ("M",),
    "self_attn.q_proj.weight": ("h d", "M"),
    "self_attn.k_proj.weight": ("g d", "M"),
    "self_attn.v_proj.weight": ("g d", "M"),
    "self_attn.o_proj.weight": ("M", "h d"),
    "post_attention_layernorm.weight": ("M",),
    "mlp.gate_proj.weight": ("F", "M"),
    "mlp.up_proj.weight": ("F", "M"),
    "mlp.down_proj.weight": ("M", "F"),
}
QKV_BIAS_AXES: Axes = {
    "self_attn.q_proj.bias": ("h d",),
    "self_attn.k_proj.bias": ("g d",),
    "self_attn.v_proj.bias": ("g d",),
}
OUTPUT_BIAS_AXES: Axes = {"self_attn.o_proj.bias": ("M",)}
PREFIX = "model."
BUFFERS = r"(model\.)?(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq"


def llama(
    checkpoint: Checkpoint, *, head: bool, dtype: jax.typing.DTypeLike | None, adapter: Adapter | None = None
) -> Model:
    """The model of a Llama, Mistral or Qwen2 checkpoint, with unembedding if `head`.

    Raises what `select`, `adapted` and `Config` raise, and `UnsupportedError` for scaled RoPE, for biases of the
    feed-forward and for a sliding window in some layers only.
    """
    config, family = Config(checkpoint.config), checkpoint.config["model_type"]
    config.only("mlp_bias", False)
    M, h = config.integer("hidden_size"), config.integer("num_attention_heads")
    g = config.integer("num_key_value_heads", 8 if family == "mistral" else h)
    check_heads(g, h, "num_key_value_heads and num_attention_heads")
    d = _head_width(config, M, h)
    L = config.integer("num_hidden_layers", most=len(checkpoint.tensors))
    sizes = {"V": config.integer("vocab_size"), "M": M, "F": config.integer("intermediate_size")}
    sizes |= {"h d": h * d, "g d": g * d}
    tied = config.flag("tie_word_embeddings", False)
    prefix = prefix_of(checkpoint, PREFIX)
    axes = prefixed({**AXES, **numbered(_block_axes(config, family), "layers.{}.", L)}, prefix)
    axes |= {HEAD: ("V", "M")} if head and (not tied or HEAD in checkpoint.tensors) else {}
    named = select(checkpoint, axes, sizes, ignored=BUFFERS, dtype=dtype)
    tensors = adapted(under(named, prefix), adapter, prefix=PREFIX, ignored=BUFFERS)
    return Model(
        Embedding(tensors["embed_tokens.weight"]),
        tuple(_block(under(tensors, f"layers.{j}."), h, g) for j in range(L)),
        None,
        RMSNorm(tensors["norm.weight"]),
        unembedding(named, prefix + "embed_tokens.weight", tied=tied) if head else None,
        Architecture(
            family=family,
            kind="pre-norm",
            activation=config.activation("hidden_act", "silu"),
            epsilon=config.number("rms_norm_eps", 1e-6),
            causal=True,
            positions=config.integer("max_position_embeddings"),
            window=_window(config, family, L),
            rope=_rope_base(config),
            padding=config.padding(),
        ),
    )


def turning_pairs(matrix: Any, heads: int) -> Any:
    """Put features that RoPE turns together side by side: 0, d/2, 1, d/2 + 1, … within each head, along the last axis.

    The checkpoints turn the features k and k + d/2 by the angle ϑ_k, `networks.positions.rope` 2k and 2k + 1. Queries
    and keys permuted alike have the same products.
    """
    turned = lambda array: array.reshape(*array.shape[:-1], heads, 2, -1).swapaxes(-1, -2).reshape(array.shape)
    return on_columns(turned, matrix)


def _block(tensors: Tensors, heads: int, groups: int) -> Block:
    """The weights of ``Linear`` stand transposed: they act as x Wᵀ."""
    attention, counts = under(tensors, "self_attn."), (heads, groups, groups)
    query, key, value = (attention[f"{part}_proj.weight"].T for part in "qkv")
    query_bias, key_bias, value_bias = (attention.get(f"{part}_proj.bias") for part in "qkv")
    matrices = turning_pairs(query, heads), turning_pairs(key, groups), value
    if query_bias is not None:
        query_bias, key_bias = turning_pairs(query_bias, heads), turning_pairs(key_bias, groups)
    biases, output = (query_bias, key_bias, value_bias), attention["o_proj.weight"].T
    return Block(
        multi_head(matrices, biases, output, attention.get("o_proj.bias"), *counts),
        GatedFeedForward(*(tensors[f"mlp.{part}_proj.weight"].T for part in ("gate", "up", "down"))),
        RMSNorm(tensors["input_layernorm.weight"]),
        RMSNorm(tensors["post_attention_layernorm.weight"]),
    )


def _block_axes(config: Config, family: str) -> Axes:
    if family == "qwen2":
        return {**BLOCK_AXES, **QKV_BIAS_AXES}
    if family == "llama" and config.flag("attention_bias", False):
        return {**BLOCK_AXES, **QKV_BIAS_AXES, **OUTPUT_BIAS_AXES}
    return BLOCK_AXES


def _head_width(config: Config, features: int, heads: int) -> int:
    """d, which is M/h unless given; RoPE wants it even."""
    if not config.given("head_dim"):
        check_heads(heads, features, "num_attention_heads and hidden_size")
    width = config.integer("head_dim", max(features // heads, 1))
    if width % 2:
        raise InputError(f"got heads of width {width}, wanted an even one: RoPE turns pairs of features")
    return width


def _rope_base(config: Config) -> float:
    """The base of RoPE's angles, which newer configs keep in ``rope_parameters``; no angles but the plain ones."""
    config.only("partial_rotary_factor", 1.0)
    for name in ("rope_scaling", "rope_parameters"):
        _check_plain(name, config.entries.get(name))
    parameters = config.entries.get("rope_parameters") or {}
    return Config({**config.entries, **parameters}).number("rope_theta", 10000.0)


def _check_plain(name: str, rope: Any) -> None:
    if rope is None:
        return
    if not isinstance(rope, Mapping):
        raise InputError(f"got {name} = {rope!r:.60}, wanted an object or null; see config.json")
    kind = rope.get("rope_type", rope.get("type", "default"))
    if kind != "default" or not rope.keys() <= {"rope_type", "type", "rope_theta"}:
        raise UnsupportedError(f"got {name} of type {kind!r:.60} with {', '.join(rope)[:60]}, supported is none")


def _window(config: Config, family: str, layers: int) -> int | None:
    """How many tokens a token sees, which must be so in every layer; None is all."""
    if family == "mistral":
        return _mistral_window(config)
    if family != "qwen2" or not config.flag("use_sliding_window", False):
        return None
    first = config.entries.get("max_window_layers", 28)
    kinds = config.entries.get("layer_types") or [_kind(j, first) for j in range(layers)]
    if kinds == ["full_attention"] * layers:
        return None
    if kinds != ["sliding_attention"] * layers:
        raise UnsupportedError("got a sliding window in some layers only, supported is one in all layers or in none")
    return config.integer("sliding_window", 4096)


def _mistral_window(config: Config) -> int | None:
    """A config that says null has no window; one that says nothing has the family's."""
    said_none = "sliding_window" in config.entries and not config.given("sliding_window")
    return None if said_none else config.integer("sliding_window", 4096)


def _kind(layer: int, first: Any) -> str:
    if type(first) is not int:
        raise InputError(f"got max_window_layers = {first!r:.60}, wanted a whole number; see config.json")
    return "sliding_attention" if layer >= first else "full_attention"
