"""The encoder of T5 (Raffel et al. 2020): RMSNorm, scores of distances, no scale of the scores, no biases."""

from collections.abc import Mapping

from uat_jax.errors import UnsupportedError
from uat_jax.networks.activations import ACTIVATIONS
from uat_jax.networks.families.config import ACTIVATION_NAMES, Config
from uat_jax.networks.families.description import FEATURES, Family, Size, Sizes
from uat_jax.typing import JsonObject

PROJECTIONS = {"relu": "relu", "gated-gelu": "gelu_new", "gated-relu": "relu", "gated-silu": "silu"}
"""What ``feed_forward_proj`` may be → the name of σ."""


def options(config: Config, sizes: Sizes) -> JsonObject:
    """σ, the scale 1, and the distance from which on all are one."""
    return {
        "activation": ACTIVATIONS[ACTIVATION_NAMES[PROJECTIONS[_projection(config)]]],
        "scale": 1.0,
        "farthest": config.integer("relative_attention_max_distance", 128),
    }


def names(config: Config, sizes: Sizes) -> Mapping[str, str]:
    """A plain feed-forward part or a gated one."""
    part = "layer.1.DenseReluDense."
    if _projection(config).startswith("gated-"):
        return {"gate": f"{part}wi_0", "up": f"{part}wi_1", "down": f"{part}wo"}
    return {"hidden": f"{part}wi", "project": f"{part}wo"}


def _projection(config: Config) -> str:
    said = config.look("feed_forward_proj") or "relu"
    if said not in PROJECTIONS:
        raise UnsupportedError(f"got feed_forward_proj = {said!r:.60}, supported are {', '.join(PROJECTIONS)}")
    return said


T5 = Family(
    "t5",
    {"T5EncoderModel": FEATURES},
    prefix="",
    layer="encoder.block.{}.",
    block={
        "norm_1": "layer.0.layer_norm",
        "query": "layer.0.SelfAttention.q",
        "key": "layer.0.SelfAttention.k",
        "value": "layer.0.SelfAttention.v",
        "output": "layer.0.SelfAttention.o",
        "norm_2": "layer.1.layer_norm",
    },
    whole={
        "embedding": "shared",
        "final_norm": "encoder.final_layer_norm",
        "distances": "encoder.block.0.layer.0.SelfAttention.relative_attention_bias",
    },
    sizes={
        "V": Size("vocab_size"),
        "M": Size("d_model"),
        "L": Size("num_layers"),
        "h": Size("num_heads"),
        "d": Size("d_kv"),
        "F": Size("d_ff"),
        "B": Size("relative_attention_num_buckets", 32),
    },
    causal=False,
    epsilon=("layer_norm_epsilon", 1e-6),
    options=options,
    names=names,
    ignored=frozenset(
        {"num_decoder_layers", "is_decoder", "dense_act_fn", "is_gated_act", "scale_decoder_outputs", "n_positions"}
        | {"tie_word_embeddings"}
    ),
    buffers=r"encoder\.embed_tokens\.weight",
)
