"""Granite (2024): Llama with multipliers of the embedding, the residual parts, the scores and the logits."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, LANGUAGE
from uat_jax.networks.families.llama import LLAMA
from uat_jax.networks.families.rotary import rope

GRANITE = replace(
    LLAMA,
    model_type="granite",
    architectures={"GraniteModel": FEATURES, "GraniteForCausalLM": LANGUAGE},
    options=lambda config, sizes: {
        "rope": rope(config, sizes["d"]),
        "scale": config.number("attention_multiplier", 1.0),
    },
    multipliers=lambda config, sizes: {
        "embedding": config.number("embedding_multiplier", 1.0),
        "residual": config.number("residual_multiplier", 1.0),
        "logits": 1 / config.number("logits_scaling", 1.0),
    },
)
