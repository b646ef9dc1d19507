"""RoBERTa (Liu et al. 2019), XLM-R and CamemBERT: BERT whose positions begin behind the padding token."""

from dataclasses import replace

from uat_jax.networks.families.bert import BERT
from uat_jax.networks.families.description import FEATURES, End, Head

MASKED = End(
    head=Head("lm_head.dense", "lm_head.decoder", "lm_head.layer_norm", activation="gelu-erf", out_bias="lm_head.bias")
)
LABELS = End(head=Head("classifier.dense", "classifier.out_proj", activation="tanh"), reads="first")

ROBERTA = replace(
    BERT,
    model_type="roberta",
    architectures={
        "RobertaModel": FEATURES,
        "RobertaForMaskedLM": MASKED,
        "RobertaForSequenceClassification": LABELS,
    },
    prefix="roberta.",
    behind_padding=True,
    head_buffers=r"lm_head\.decoder\.bias",
)
XLM_ROBERTA = replace(
    ROBERTA,
    model_type="xlm-roberta",
    architectures={
        "XLMRobertaModel": FEATURES,
        "XLMRobertaForMaskedLM": MASKED,
        "XLMRobertaForSequenceClassification": LABELS,
    },
)
CAMEMBERT = replace(
    ROBERTA,
    model_type="camembert",
    architectures={
        "CamembertModel": FEATURES,
        "CamembertForMaskedLM": MASKED,
        "CamembertForSequenceClassification": LABELS,
    },
)
