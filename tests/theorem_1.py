"""The terms of a model by Theorem 1, with every operator written out as a matrix: a reference for tests."""

from collections.abc import Callable
from functools import partial

import jax.numpy as jnp

import uat_jax.decomposition as dc
from uat_jax.decomposition import frozen

TOKENS = jnp.array([2, 0])
PRODUCT = partial(jnp.matmul, precision="highest")


def by_theorem_1(model, order: Callable = lambda layers: layers):
    """Input P_L x_0, bias q_L and A_L ⋯ A_{k+1} C_k s_k, with every operator written out as a matrix."""
    layers, source, bias = dc.operators(model, TOKENS), *embedded(model)
    parts, x = [source, bias], source + bias
    for layer, carrying in zip(layers, order(layers), strict=True):
        s = layer.activation(PRODUCT(layer.B.materialise(), x) + flat(layer.b))
        added = PRODUCT(layer.C.materialise(), s)
        parts = [PRODUCT(carrying.A.materialise(), part) for part in parts]
        parts[1] = parts[1] + flat(layer.c)
        parts, x = [*parts, added], PRODUCT(layer.A.materialise(), x) + flat(layer.c) + added
    return jnp.stack(parts).reshape(len(parts), len(TOKENS), -1)


def flat(rows):
    """vec_r of an array (N, F) or of one row for all tokens."""
    return jnp.broadcast_to(rows, (len(TOKENS), rows.shape[1])).reshape(-1)


def embedded(model):
    """The paths of input and biases before the first layer, as vectors."""
    x = model.embedding.tokens[TOKENS]
    x = x if model.embedding.positions is None else x + model.embedding.positions[: len(TOKENS)]
    if model.embedding_norm is None:
        return flat(x), jnp.zeros(x.size, x.dtype)
    norm = model.embedding_norm
    bias = norm.beta[None] if hasattr(norm, "beta") else jnp.zeros_like(norm.gamma)[None]
    return PRODUCT(frozen.frozen_norm(norm, x, model.epsilon).materialise(), flat(x)), flat(bias)
