"""Gemma 2 (2024): norms on both sides of attention and feed-forward, soft caps, a window in every other layer."""

from dataclasses import replace

from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, LABELS, TIED, WIDE_SIZES, Size, Sizes
from uat_jax.networks.families.gemma import GEMMA
from uat_jax.networks.families.llama import BLOCK
from uat_jax.networks.families.rotary import alike, kinds_of_layers, rope
from uat_jax.typing import JsonObject

SANDWICH = {
    **BLOCK,
    "after_1": "post_attention_layernorm",
    "norm_2": "pre_feedforward_layernorm",
    "after_2": "post_feedforward_layernorm",
}


def options(config: Config, sizes: Sizes) -> JsonObject:
    """RoPE, windows, the scale of the scores and both caps."""
    L, width = sizes["L"], config.integer("sliding_window", 4096)
    kinds = kinds_of_layers(config, L, ["full_attention" if j % 2 else "sliding_attention" for j in range(L)])
    return {
        "rope": rope(config, sizes["d"]),
        "window": alike([width if kind == "sliding_attention" else None for kind in kinds]),
        "scale": config.number("query_pre_attn_scalar", 256.0) ** -0.5,
        "cap": cap(config, "attn_logit_softcapping", 50.0),
        "logit_cap": cap(config, "final_logit_softcapping", 30.0),
    }


def cap(config: Config, name: str, default: float | None) -> float | None:
    """A soft cap; a config that says null has none, one that says nothing the family's."""
    if config.given(name):
        return config.number(name)
    return None if name in config.entries else default


GEMMA2 = replace(
    GEMMA,
    model_type="gemma2",
    architectures={"Gemma2Model": FEATURES, "Gemma2ForCausalLM": TIED, "Gemma2ForSequenceClassification": LABELS},
    block=SANDWICH,
    sizes={**WIDE_SIZES, "g": Size("num_key_value_heads", 4), "d": Size("head_dim", 256)},
    activation=("hidden_activation", "gelu_pytorch_tanh"),
    options=options,
    only={"use_bidirectional_attention": False},
    ignored=frozenset({"hidden_act"}),
)
