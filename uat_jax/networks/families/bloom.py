"""BLOOM (Scao et al. 2022): GPT-2 with a norm behind the embedding, and ALiBi in place of positions."""

from uat_jax.networks.activations import ACTIVATIONS
from uat_jax.networks.families.description import FEATURES, LABELS, TIED, Family, Size

BLOOM = Family(
    "bloom",
    {"BloomModel": FEATURES, "BloomForCausalLM": TIED, "BloomForSequenceClassification": LABELS},
    prefix="transformer.",
    layer="h.{}.",
    block={
        "norm_1": "input_layernorm",
        "qkv": "self_attention.query_key_value",
        "output": "self_attention.dense",
        "norm_2": "post_attention_layernorm",
        "hidden": "mlp.dense_h_to_4h",
        "project": "mlp.dense_4h_to_h",
    },
    whole={
        "embedding": "word_embeddings",
        "embedding_norm": "word_embeddings_layernorm",
        "final_norm": "ln_f",
    },
    sizes={
        "V": Size("vocab_size"),
        "M": Size("hidden_size", also="n_embed"),
        "L": Size("n_layer", also="num_hidden_layers"),
        "h": Size("n_head", also="num_attention_heads"),
        "F": Size("n_inner", lambda of: 4 * of["M"]),
    },
    norm="layer",
    epsilon=("layer_norm_epsilon", 1e-5),
    biases=dict.fromkeys(("qkv", "output", "hidden", "project"), True),
    options=lambda config, sizes: {"alibi": True, "activation": ACTIVATIONS["gelu-digits"]},
    only={"apply_residual_connection_post_layernorm": False},
    ignored=frozenset(
        {
            "seq_length",
            "offset_alibi",
            "unk_token_id",
            "skip_bias_add",
            "skip_bias_add_qkv",
            "masked_softmax_fusion",
            "bias_dropout_fusion",
        }
    ),
)
