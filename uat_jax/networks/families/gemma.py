"""Gemma (2024): Llama with a scaled embedding, 1 + w in its norms, GELU, and the embedding as unembedding."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, LABELS, TIED, WIDE_SIZES, Size
from uat_jax.networks.families.llama import LLAMA

GEMMA = replace(
    LLAMA,
    model_type="gemma",
    architectures={"GemmaModel": FEATURES, "GemmaForCausalLM": TIED, "GemmaForSequenceClassification": LABELS},
    sizes={**WIDE_SIZES, "g": Size("num_key_value_heads", 16), "d": Size("head_dim", 256)},
    norm="rms+1",
    activation=("hidden_act", "gelu_pytorch_tanh"),
    multipliers=lambda config, sizes: {"embedding": sizes["M"] ** 0.5},
    only={"hidden_activation": "gelu_pytorch_tanh", "use_bidirectional_attention": False},
)
