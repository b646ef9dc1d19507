"""Mixtral (Jiang et al. 2024): Mistral with a mixture of gated experts, of which two count for each token."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, LANGUAGE, WIDE_SIZES, Size
from uat_jax.networks.families.llama import BLOCK
from uat_jax.networks.families.mistral import MISTRAL
from uat_jax.networks.families.rotary import rope

MIXTRAL = replace(
    MISTRAL,
    model_type="mixtral",
    architectures={"MixtralModel": FEATURES, "MixtralForCausalLM": LANGUAGE},
    block={
        **{role: name for role, name in BLOCK.items() if not name.startswith("mlp.")},
        "router": "block_sparse_moe.gate",
        "gate": "block_sparse_moe.experts.{e}.w1",
        "up": "block_sparse_moe.experts.{e}.w3",
        "down": "block_sparse_moe.experts.{e}.w2",
    },
    sizes={**WIDE_SIZES, "g": Size("num_key_value_heads", 8), "E": Size("num_local_experts", 8)},
    epsilon=("rms_norm_eps", 1e-5),
    options=lambda config, sizes: {
        "rope": rope(config, sizes["d"], base=1e6),
        "window": config.integer("sliding_window") if config.given("sliding_window") else None,
        "top": config.integer("num_experts_per_tok", 2, most=sizes["E"]),
    },
)
