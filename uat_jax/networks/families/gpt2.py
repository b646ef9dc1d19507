"""GPT-2 (Radford et al. 2019): pre-norm blocks, learned positions, GELU by tanh, the embedding as unembedding."""

from uat_jax.networks.families.description import FEATURES, LABELS, TIED, Family, Size

GPT_SIZES = {
    "V": Size("vocab_size"),
    "M": Size("n_embd"),
    "L": Size("n_layer"),
    "h": Size("n_head"),
    "P": Size("n_positions"),
    "F": Size("n_inner", lambda of: 4 * of["M"]),
}
GPT2 = Family(
    "gpt2",
    {"GPT2Model": FEATURES, "GPT2LMHeadModel": TIED, "GPT2ForSequenceClassification": LABELS},
    prefix="transformer.",
    layer="h.{}.",
    block={
        "norm_1": "ln_1",
        "qkv": "attn.c_attn",
        "output": "attn.c_proj",
        "norm_2": "ln_2",
        "hidden": "mlp.c_fc",
        "project": "mlp.c_proj",
    },
    whole={"embedding": "wte", "positions": "wpe", "final_norm": "ln_f"},
    sizes=GPT_SIZES,
    norm="layer",
    activation=("activation_function", "gelu_new"),
    epsilon=("layer_norm_epsilon", 1e-5),
    biases={"qkv": True, "output": True, "hidden": True, "project": True},
    conv1d=True,
    fused="thirds",
    only={"scale_attn_weights": True, "scale_attn_by_inverse_layer_idx": False, "add_cross_attention": False},
    buffers=r"h\.\d+\.attn\.(bias|masked_bias)",
)
