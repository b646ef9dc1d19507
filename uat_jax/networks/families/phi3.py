"""Phi-3 (Abdin et al. 2024): Mistral with queries, keys and values, and gate and up, in one matrix each."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, LABELS, LANGUAGE
from uat_jax.networks.families.llama import BLOCK, LLAMA
from uat_jax.networks.families.rotary import rope

PHI3 = replace(
    LLAMA,
    model_type="phi3",
    architectures={"Phi3Model": FEATURES, "Phi3ForCausalLM": LANGUAGE, "Phi3ForSequenceClassification": LABELS},
    block={
        "norm_1": BLOCK["norm_1"],
        "qkv": "self_attn.qkv_proj",
        "output": BLOCK["output"],
        "norm_2": BLOCK["norm_2"],
        "gate_up": "mlp.gate_up_proj",
        "down": BLOCK["down"],
    },
    sizes=GROUPED_SIZES,
    fused="thirds",
    epsilon=("rms_norm_eps", 1e-5),
    biases={},
    options=lambda config, sizes: {
        "rope": rope(config, sizes["d"], share=1.0),
        "window": config.integer("sliding_window") if config.given("sliding_window") else None,
    },
    only={"attention_bias": False},
    ignored=frozenset({"original_max_position_embeddings"}),
)
