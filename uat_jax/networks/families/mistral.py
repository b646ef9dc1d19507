"""Mistral (Jiang et al. 2023): Llama with a sliding window."""

from dataclasses import replace

from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, LABELS, LANGUAGE, WIDE_SIZES, Size, Sizes
from uat_jax.networks.families.llama import LLAMA
from uat_jax.networks.families.rotary import rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """A config that says null has no window; one that says nothing has the family's."""
    said_none = "sliding_window" in config.entries and not config.given("sliding_window")
    window = None if said_none else config.integer("sliding_window", 4096)
    return {"rope": rope(config, sizes["d"]), "window": window}


MISTRAL = replace(
    LLAMA,
    model_type="mistral",
    architectures={
        "MistralModel": FEATURES,
        "MistralForCausalLM": LANGUAGE,
        "MistralForSequenceClassification": LABELS,
    },
    sizes={**WIDE_SIZES, "g": Size("num_key_value_heads", 8)},
    biases={},
    options=options,
)
