"""Qwen3 (Yang et al. 2025): Qwen2 with norms of queries and keys in place of biases."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, LABELS, LANGUAGE, WIDE_SIZES, Size
from uat_jax.networks.families.llama import ALL_BIASES, BLOCK
from uat_jax.networks.families.qwen2 import QWEN2

QWEN3 = replace(
    QWEN2,
    model_type="qwen3",
    architectures={"Qwen3Model": FEATURES, "Qwen3ForCausalLM": LANGUAGE, "Qwen3ForSequenceClassification": LABELS},
    block={**BLOCK, "query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"},
    sizes={**WIDE_SIZES, "g": Size("num_key_value_heads", 32), "d": Size("head_dim", 128)},
    biases=ALL_BIASES,
)
