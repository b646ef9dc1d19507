"""MPNet (Song et al. 2020): RoBERTa without types of tokens, and with scores of distances."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, TRANSFORMER_SIZES, Size
from uat_jax.networks.families.roberta import LABELS, MASKED, ROBERTA

MPNET = replace(
    ROBERTA,
    model_type="mpnet",
    architectures={
        "MPNetModel": FEATURES,
        "MPNetForMaskedLM": MASKED,
        "MPNetForSequenceClassification": LABELS,
    },
    prefix="mpnet.",
    block={
        "query": "attention.attn.q",
        "key": "attention.attn.k",
        "value": "attention.attn.v",
        "output": "attention.attn.o",
        "norm_1": "attention.LayerNorm",
        "hidden": "intermediate.dense",
        "project": "output.dense",
        "norm_2": "output.LayerNorm",
    },
    whole={
        "embedding": "embeddings.word_embeddings",
        "positions": "embeddings.position_embeddings",
        "embedding_norm": "embeddings.LayerNorm",
        "distances": "encoder.relative_attention_bias",
    },
    sizes={**TRANSFORMER_SIZES, "B": Size("relative_attention_num_buckets", 32)},
    only={},
)
