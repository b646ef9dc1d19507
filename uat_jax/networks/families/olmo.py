"""OLMo (Groeneveld et al. 2024): Llama with LayerNorms that have no parameters."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, LANGUAGE
from uat_jax.networks.families.llama import LLAMA

OLMO = replace(
    LLAMA,
    model_type="olmo",
    architectures={"OlmoModel": FEATURES, "OlmoForCausalLM": LANGUAGE},
    sizes=GROUPED_SIZES,
    norm="fixed",
    epsilon=1e-5,
    only={"clip_qkv": None},
)
