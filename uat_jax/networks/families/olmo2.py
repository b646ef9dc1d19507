"""OLMo 2 (2024): Llama with norms behind attention and feed-forward, and one over all queries and one over all keys."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, LANGUAGE
from uat_jax.networks.families.llama import BLOCK, LLAMA

OLMO2 = replace(
    LLAMA,
    model_type="olmo2",
    architectures={"Olmo2Model": FEATURES, "Olmo2ForCausalLM": LANGUAGE},
    block={
        **{role: name for role, name in BLOCK.items() if role not in ("norm_1", "norm_2")},
        "query_norm": "self_attn.q_norm",
        "key_norm": "self_attn.k_norm",
        "after_1": "post_attention_layernorm",
        "after_2": "post_feedforward_layernorm",
    },
    sizes=GROUPED_SIZES,
    epsilon=("rms_norm_eps", 1e-5),
    together=True,
    only={},
)
