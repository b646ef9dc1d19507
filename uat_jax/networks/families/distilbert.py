"""DistilBERT (Sanh et al. 2019): BERT with half of its layers and without types of tokens."""

from uat_jax.networks.families.bert import BIASES
from uat_jax.networks.families.description import FEATURES, End, Family, Head, Size

DISTILBERT = Family(
    "distilbert",
    {
        "DistilBertModel": FEATURES,
        "DistilBertForMaskedLM": End(head=Head("vocab_transform", "vocab_projector", "vocab_layer_norm")),
        "DistilBertForSequenceClassification": End(
            head=Head("pre_classifier", "classifier", activation="relu"), reads="first"
        ),
    },
    prefix="distilbert.",
    layer="transformer.layer.{}.",
    block={
        "query": "attention.q_lin",
        "key": "attention.k_lin",
        "value": "attention.v_lin",
        "output": "attention.out_lin",
        "norm_1": "sa_layer_norm",
        "hidden": "ffn.lin1",
        "project": "ffn.lin2",
        "norm_2": "output_layer_norm",
    },
    whole={
        "embedding": "embeddings.word_embeddings",
        "positions": "embeddings.position_embeddings",
        "embedding_norm": "embeddings.LayerNorm",
    },
    sizes={
        "V": Size("vocab_size"),
        "M": Size("dim", 768),
        "L": Size("n_layers", 6),
        "h": Size("n_heads", 12),
        "F": Size("hidden_dim", 3072),
        "P": Size("max_position_embeddings", 512),
    },
    kind="post-norm",
    norm="layer",
    causal=False,
    activation=("activation", "gelu"),
    epsilon=1e-12,
    biases=BIASES,
    ignored=frozenset({"sinusoidal_pos_embds"}),
    buffers=r"embeddings\.position_ids",
)
"""Sinusoidal positions stand in the checkpoint like learned ones."""
