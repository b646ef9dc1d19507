"""OPT (Zhang et al. 2022): GPT-2 with ReLU, and positions that begin with number 2."""

from uat_jax.networks.families.description import FEATURES, TIED, Family, Size

ROLES = ("query", "key", "value", "output", "hidden", "project")

OPT = Family(
    "opt",
    {"OPTModel": FEATURES, "OPTForCausalLM": TIED},
    prefix="model.",
    layer="decoder.layers.{}.",
    block={
        "norm_1": "self_attn_layer_norm",
        "query": "self_attn.q_proj",
        "key": "self_attn.k_proj",
        "value": "self_attn.v_proj",
        "output": "self_attn.out_proj",
        "norm_2": "final_layer_norm",
        "hidden": "fc1",
        "project": "fc2",
    },
    whole={
        "embedding": "decoder.embed_tokens",
        "positions": "decoder.embed_positions",
        "final_norm": "decoder.final_layer_norm",
    },
    sizes={
        "V": Size("vocab_size"),
        "M": Size("hidden_size"),
        "L": Size("num_hidden_layers"),
        "h": Size("num_attention_heads"),
        "F": Size("ffn_dim"),
        "P": Size("max_position_embeddings"),
        "e": Size("word_embed_proj_dim", lambda of: of["M"]),
    },
    norm="layer",
    activation=("activation_function", "relu"),
    epsilon=1e-5,
    biases={role: ("enable_bias", True) for role in ROLES},
    offset=2,
    only={"do_layer_norm_before": True, "_remove_final_layer_norm": False, "layer_norm_elementwise_affine": True},
)
