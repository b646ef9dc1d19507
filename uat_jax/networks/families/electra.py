"""ELECTRA (Clark et al. 2020): BERT whose embedding may be narrower than its features."""

from dataclasses import replace

from uat_jax.networks.families.bert import BERT
from uat_jax.networks.families.description import FEATURES, End, Head, Size
from uat_jax.networks.families.roberta import LABELS

ELECTRA = replace(
    BERT,
    model_type="electra",
    architectures={
        "ElectraModel": FEATURES,
        "ElectraForMaskedLM": End(
            head=Head(
                "generator_predictions.dense",
                "generator_lm_head",
                norm="generator_predictions.LayerNorm",
                activation="gelu-erf",
            )
        ),
        "ElectraForSequenceClassification": End(
            head=replace(LABELS.head or Head("", ""), activation="gelu-erf"), reads="first"
        ),
    },
    prefix="electra.",
    sizes={**BERT.sizes, "e": Size("embedding_size", 128)},
    names=lambda config, sizes: {"affine": "embeddings_project"} if sizes["e"] != sizes["M"] else {},
    head_buffers="",
)
