"""GPT-NeoX (Black et al. 2022) and Pythia: attention and feed-forward side by side, each with a norm of its own."""

from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, End, Family, Sizes
from uat_jax.networks.families.rotary import rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """The kind of block, and RoPE of a part of each head, which older configs say in other words."""
    share, base = config.number("rotary_pct", 0.25), config.number("rotary_emb_base", 10000.0)
    kind = "parallel" if config.flag("use_parallel_residual", True) else "pre-norm"
    return {"kind": kind, "rope": rope(config, sizes["d"], base=base, share=share)}


GPT_NEOX = Family(
    "gpt_neox",
    {"GPTNeoXModel": FEATURES, "GPTNeoXForCausalLM": End("embed_out", tied=False)},
    prefix="gpt_neox.",
    layer="layers.{}.",
    block={
        "norm_1": "input_layernorm",
        "qkv": "attention.query_key_value",
        "output": "attention.dense",
        "norm_2": "post_attention_layernorm",
        "hidden": "mlp.dense_h_to_4h",
        "project": "mlp.dense_4h_to_h",
    },
    whole={"embedding": "embed_in", "final_norm": "final_layer_norm"},
    norm="layer",
    activation=("hidden_act", "gelu"),
    epsilon=("layer_norm_eps", 1e-5),
    biases={
        "qkv": ("attention_bias", True),
        "output": ("attention_bias", True),
        "hidden": True,
        "project": True,
    },
    options=options,
    ignored=frozenset({"is_decoder"}),
    buffers=r"layers\.\d+\.attention\.(bias|masked_bias|rotary_emb\.inv_freq)",
)
