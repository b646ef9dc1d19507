"""StableLM (2024): Llama with LayerNorm, biases of queries, keys and values, and a quarter of each head turned."""

from dataclasses import replace

from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, LABELS, LANGUAGE, Sizes
from uat_jax.networks.families.llama import LLAMA
from uat_jax.networks.families.rotary import rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """RoPE of a part of each head; ``partial_rotary_factor`` was called ``rope_pct`` before."""
    return {"rope": rope(config, sizes["d"], share=config.number("rope_pct", 0.25))}


STABLELM = replace(
    LLAMA,
    model_type="stablelm",
    architectures={
        "StableLmModel": FEATURES,
        "StableLmForCausalLM": LANGUAGE,
        "StableLmForSequenceClassification": LABELS,
    },
    sizes=GROUPED_SIZES,
    norm="layer",
    epsilon=("layer_norm_eps", 1e-5),
    biases={role: ("use_qkv_bias", False) for role in ("query", "key", "value")},
    options=options,
    only={"qk_layernorm": False, "use_parallel_residual": False},
)
