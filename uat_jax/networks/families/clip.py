"""The text tower of CLIP (Radford et al. 2021): GPT-2's form, x σ(1.702 x) as its activation, and no logits."""

from uat_jax.networks.families.bert import BIASES
from uat_jax.networks.families.description import FEATURES, Family

CLIP_TEXT = Family(
    "clip_text_model",
    {"CLIPTextModel": FEATURES},
    prefix="text_model.",
    layer="encoder.layers.{}.",
    block={
        "norm_1": "layer_norm1",
        "query": "self_attn.q_proj",
        "key": "self_attn.k_proj",
        "value": "self_attn.v_proj",
        "output": "self_attn.out_proj",
        "norm_2": "layer_norm2",
        "hidden": "mlp.fc1",
        "project": "mlp.fc2",
    },
    whole={
        "embedding": "embeddings.token_embedding",
        "positions": "embeddings.position_embedding",
        "final_norm": "final_layer_norm",
    },
    norm="layer",
    activation=("hidden_act", "quick_gelu"),
    epsilon=("layer_norm_eps", 1e-5),
    biases=BIASES,
    ignored=frozenset({"projection_dim"}),
    buffers=r"embeddings\.position_ids",
)
"""It pools at the end of the text, which comes after the features of the tokens."""
