"""ALBERT (Lan et al. 2020): BERT with a narrower embedding, and one block for all layers."""

from dataclasses import replace

from uat_jax.networks.families.bert import BERT, WHOLE
from uat_jax.networks.families.description import FEATURES, End, Head, Size

ALBERT = replace(
    BERT,
    model_type="albert",
    architectures={
        "AlbertModel": FEATURES,
        "AlbertForMaskedLM": End(
            head=Head(
                "predictions.dense", "predictions.decoder", norm="predictions.LayerNorm", out_bias="predictions.bias"
            )
        ),
        "AlbertForSequenceClassification": End(
            head=Head("pooler", "classifier", activation="tanh", inside=True), reads="first"
        ),
    },
    prefix="albert.",
    layer="encoder.albert_layer_groups.0.albert_layers.0.",
    block={
        "query": "attention.query",
        "key": "attention.key",
        "value": "attention.value",
        "output": "attention.dense",
        "norm_1": "attention.LayerNorm",
        "hidden": "ffn",
        "project": "ffn_output",
        "norm_2": "full_layer_layer_norm",
    },
    whole={**WHOLE, "affine": "encoder.embedding_hidden_mapping_in"},
    sizes={**BERT.sizes, "e": Size("embedding_size", 128)},
    activation=("hidden_act", "gelu_new"),
    only={"num_hidden_groups": 1, "inner_group_num": 1, "position_embedding_type": "absolute"},
    ignored=frozenset({"down_scale_factor", "gap_size", "net_structure_type", "num_memory_blocks"}),
    buffers=r"embeddings\.(position_ids|token_type_ids)|pooler\.(weight|bias)",
    head_buffers=r"predictions\.decoder\.bias|sop_classifier\.classifier\.(weight|bias)",
)
