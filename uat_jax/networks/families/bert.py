"""BERT (Devlin et al. 2019) and the sentence encoders of its form: post-norm blocks, every token sees every token.

All tokens are of type 0, whose embedding is added to every position.
"""

from collections.abc import Mapping

from uat_jax.networks.families.description import FEATURES, TRANSFORMER_SIZES, End, Family, Head, Size

BLOCK = {
    "query": "attention.self.query",
    "key": "attention.self.key",
    "value": "attention.self.value",
    "output": "attention.output.dense",
    "norm_1": "attention.output.LayerNorm",
    "hidden": "intermediate.dense",
    "project": "output.dense",
    "norm_2": "output.LayerNorm",
}
WHOLE = {
    "embedding": "embeddings.word_embeddings",
    "positions": "embeddings.position_embeddings",
    "types": "embeddings.token_type_embeddings",
    "embedding_norm": "embeddings.LayerNorm",
}
BUFFERS = r"embeddings\.(position_ids|token_type_ids)|pooler\.dense\.(weight|bias)"
"""A pooler comes after the features of the tokens; only the scores of labels are made of it."""
BIASES: Mapping[str, bool] = dict.fromkeys(("query", "key", "value", "output", "hidden", "project"), True)

BERT = Family(
    "bert",
    {
        "BertModel": FEATURES,
        "BertForMaskedLM": End(
            head=Head(
                "cls.predictions.transform.dense",
                "cls.predictions.decoder",
                norm="cls.predictions.transform.LayerNorm",
                out_bias="cls.predictions.bias",
            )
        ),
        "BertForSequenceClassification": End(
            head=Head("pooler.dense", "classifier", activation="tanh", inside=True), reads="first"
        ),
    },
    prefix="bert.",
    layer="encoder.layer.{}.",
    block=BLOCK,
    whole=WHOLE,
    sizes={**TRANSFORMER_SIZES, "T": Size("type_vocab_size", 2)},
    kind="post-norm",
    norm="layer",
    causal=False,
    activation=("hidden_act", "gelu"),
    epsilon=("layer_norm_eps", 1e-12),
    biases=BIASES,
    only={"position_embedding_type": "absolute", "is_decoder": False, "add_cross_attention": False},
    buffers=BUFFERS,
    head_buffers=r"cls\.predictions\.decoder\.bias|cls\.seq_relationship\.(weight|bias)",
)
