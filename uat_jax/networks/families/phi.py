"""Phi-1 and Phi-2 (Gunasekar et al. 2023): attention and feed-forward side by side behind one norm, with biases."""

from uat_jax.networks.families.bert import BIASES
from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, End, Family
from uat_jax.networks.families.rotary import rope

PHI = Family(
    "phi",
    {"PhiModel": FEATURES, "PhiForCausalLM": End("lm_head", bias=True, tied=False)},
    prefix="model.",
    layer="layers.{}.",
    block={
        "norm_1": "input_layernorm",
        "query": "self_attn.q_proj",
        "key": "self_attn.k_proj",
        "value": "self_attn.v_proj",
        "output": "self_attn.dense",
        "hidden": "mlp.fc1",
        "project": "mlp.fc2",
    },
    whole={"embedding": "embed_tokens", "final_norm": "final_layernorm"},
    sizes=GROUPED_SIZES,
    kind="parallel",
    norm="layer",
    activation=("hidden_act", "gelu_new"),
    epsilon=("layer_norm_eps", 1e-5),
    biases=BIASES,
    options=lambda config, sizes: {"rope": rope(config, sizes["d"], share=0.5)},
    only={"qk_layernorm": False},
    buffers=r"(layers\.\d+\.self_attn\.)?rotary_emb\.inv_freq",
)
