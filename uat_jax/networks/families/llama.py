"""Llama (Touvron et al. 2023): RMSNorm, RoPE, grouped queries, gated feed-forward."""

from uat_jax.networks.families.description import FEATURES, LABELS, LANGUAGE, WIDE_SIZES, Family
from uat_jax.networks.families.rotary import rope

BLOCK = {
    "norm_1": "input_layernorm",
    "query": "self_attn.q_proj",
    "key": "self_attn.k_proj",
    "value": "self_attn.v_proj",
    "output": "self_attn.o_proj",
    "norm_2": "post_attention_layernorm",
    "gate": "mlp.gate_proj",
    "up": "mlp.up_proj",
    "down": "mlp.down_proj",
}
WHOLE = {"embedding": "embed_tokens", "final_norm": "norm"}
ALL_BIASES = {role: ("attention_bias", False) for role in ("query", "key", "value", "output")}
BUFFERS = r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq"

LLAMA = Family(
    "llama",
    {"LlamaModel": FEATURES, "LlamaForCausalLM": LANGUAGE, "LlamaForSequenceClassification": LABELS},
    prefix="model.",
    layer="layers.{}.",
    block=BLOCK,
    whole=WHOLE,
    sizes=WIDE_SIZES,
    biases=ALL_BIASES,
    options=lambda config, sizes: {"rope": rope(config, sizes["d"])},
    only={"mlp_bias": False},
    buffers=BUFFERS,
)
