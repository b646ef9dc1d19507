"""GPT-2, BERT and Llama of any size, as shapes without a number in them or with random ones."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks import activation
from uat_jax.networks.block import Block, initialise_gpt_block, initialise_llama_block
from uat_jax.networks.decoder import Embedding
from uat_jax.networks.model import Architecture, Model
from uat_jax.networks.norms import initialise_layer_norm, initialise_rms_norm


def model(family: str, **size: Any) -> Model:
    """What `draw` makes, its arrays `jax.ShapeDtypeStruct`."""
    return jax.eval_shape(lambda key: draw(key, family, **size), jax.random.key(0))


def draw(
    key: jax.Array,
    family: str,
    *,
    depth: int,
    tokens: int,
    features: int,
    heads: int,
    hidden: int,
    vocabulary: int,
    dtype: jax.typing.DTypeLike = jnp.float32,
) -> Model:
    """A random model of one of the `FAMILIES`; layer j is drawn from ``fold_in(key, j)``, the rest from 0.

    GPT-2: pre-norm, learned positions, logits. BERT: post-norm, norm of the embedding, features. Llama: pre-norm with
    RMSNorm, RoPE, half as many groups as heads, gated feed-forward, logits.
    """
    architecture, sizes = FAMILIES[family](tokens), {"features": features, "heads": heads, "hidden": hidden}
    pre_norm, llama = architecture.kind == "pre-norm", architecture.rope is not None
    keys = jax.random.split(jax.random.fold_in(key, 0), 4)
    norm = (initialise_rms_norm if llama else initialise_layer_norm)(keys[0], features, dtype)
    table = lambda key, rows: jax.random.normal(key, (rows, features), dtype)
    return Model(
        Embedding(table(keys[1], vocabulary), None if llama else table(keys[2], tokens)),
        tuple(_block(jax.random.fold_in(key, j), llama, dtype, **sizes) for j in range(1, depth + 1)),
        None if pre_norm else norm,
        norm if pre_norm else None,
        table(keys[3], vocabulary).T if pre_norm else None,
        architecture,
    )


def _block(key: jax.Array, llama: bool, dtype: jax.typing.DTypeLike, *, heads: int, **sizes: int) -> Block:
    if llama:
        return initialise_llama_block(key, heads=heads, groups=heads // 2, dtype=dtype, **sizes)
    return initialise_gpt_block(key, heads=heads, dtype=dtype, **sizes)


def check_heads(features: int, heads: int) -> None:
    """Raise `InputError` if the heads cannot share the features evenly."""
    if features % heads:
        raise InputError(
            f"got features {features} with {heads} heads, wanted a multiple of {heads}: "
            f"choose features {-(-features // heads) * heads}"
        )


FAMILIES: Mapping[str, Callable[[int], Architecture]] = {
    "gpt2": lambda N: Architecture("gpt2", "pre-norm", activation("gelu"), 1e-5, True, N),
    "bert": lambda N: Architecture("bert", "post-norm", activation("gelu-erf"), 1e-12, False, N),
    "llama": lambda N: Architecture("llama", "pre-norm", activation("silu"), 1e-6, True, N, rope=10000.0),
}
"""Name → architecture with N positions."""
