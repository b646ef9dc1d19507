"""The Vision Transformer (Dosovitskiy et al. 2021): pre-norm blocks over patches of an image; all see each other."""

from uat_jax.networks.families.bert import BIASES
from uat_jax.networks.families.description import FEATURES, End, Family, Size
from uat_jax.networks.patches import Image

QKV = ("query", "key", "value")

VIT = Family(
    "vit",
    {"ViTModel": FEATURES, "ViTForImageClassification": End("classifier", bias=True, reads="first")},
    prefix="vit.",
    layer="encoder.layer.{}.",
    block={
        "norm_1": "layernorm_before",
        "query": "attention.attention.query",
        "key": "attention.attention.key",
        "value": "attention.attention.value",
        "output": "attention.output.dense",
        "norm_2": "layernorm_after",
        "hidden": "intermediate.dense",
        "project": "output.dense",
    },
    whole={
        "patches": "embeddings.patch_embeddings.projection",
        "start": "embeddings.cls_token",
        "places": "embeddings.position_embeddings",
        "final_norm": "layernorm",
    },
    sizes={
        "M": Size("hidden_size"),
        "L": Size("num_hidden_layers"),
        "h": Size("num_attention_heads"),
        "F": Size("intermediate_size"),
        "c": Size("num_channels", 3),
        "H": Size("image_size", 224),
        "p": Size("patch_size", 16),
        "P": Size("", lambda of: 1 + (of["H"] // of["p"]) ** 2),
    },
    norm="layer",
    causal=False,
    activation=("hidden_act", "gelu"),
    epsilon=("layer_norm_eps", 1e-12),
    biases={**BIASES, **{role: ("qkv_bias", True) for role in QKV}},
    options=lambda config, sizes: {"image": Image(sizes["c"], sizes["H"], sizes["p"])},
    ignored=frozenset({"encoder_stride", "pooler_act", "pooler_output_size"}),
    buffers=r"pooler\.dense\.(weight|bias)|embeddings\.mask_token",
)
