"""Falcon (Almazrouei et al. 2023): attention and feed-forward side by side, one group of keys and values or few."""

from collections.abc import Mapping

from uat_jax.errors import UnsupportedError
from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, End, Family, Size, Sizes
from uat_jax.networks.families.rotary import rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """The kind of block and RoPE."""
    kind = "parallel" if config.flag("parallel_attn", True) or _is_new(config) else "pre-norm"
    return {"kind": kind, "rope": rope(config, sizes["d"])}


def names(config: Config, sizes: Sizes) -> Mapping[str, str]:
    """One norm or two, under other names in newer models."""
    count = config.look("num_ln_in_parallel_attn")
    if not config.flag("parallel_attn", True):
        if _is_new(config):
            raise UnsupportedError("got new_decoder_architecture without parallel_attn, supported is only with it")
        return {"norm_1": "input_layernorm", "norm_2": "post_attention_layernorm"}
    if _is_new(config) and count in (None, 2):
        return {"norm_1": "ln_attn", "norm_2": "ln_mlp"}
    return {"norm_1": "input_layernorm"}


def _is_new(config: Config) -> bool:
    return config.flag("new_decoder_architecture", False)


FALCON = Family(
    "falcon",
    {"FalconModel": FEATURES, "FalconForCausalLM": End("lm_head", tied=True)},
    prefix="transformer.",
    layer="h.{}.",
    block={
        "qkv": "self_attention.query_key_value",
        "output": "self_attention.dense",
        "hidden": "mlp.dense_h_to_4h",
        "project": "mlp.dense_4h_to_h",
    },
    whole={"embedding": "word_embeddings", "final_norm": "ln_f"},
    sizes={
        "V": Size("vocab_size"),
        "M": Size("hidden_size"),
        "L": Size("num_hidden_layers"),
        "h": Size("num_attention_heads"),
        "F": Size("ffn_hidden_size", lambda of: 4 * of["M"]),
        "P": Size("max_position_embeddings", 2048),
    },
    norm="layer",
    activation=("activation", "gelu"),
    epsilon=("layer_norm_epsilon", 1e-5),
    biases={role: ("bias", False) for role in ("qkv", "output", "hidden", "project")},
    groups=lambda config, sizes: (
        config.integer("num_kv_heads", sizes["h"]) if _is_new(config) or not config.flag("multi_query", True) else 1
    ),
    options=options,
    names=names,
    only={"alibi": False, "apply_residual_connection_post_layernorm": False},
    ignored=frozenset({"multi_query", "num_kv_heads", "num_ln_in_parallel_attn", "n_head_kv"}),
)
"""Its ALiBi is rounded to bfloat16 and added before the scores are scaled, which no other model does: it is refused."""
