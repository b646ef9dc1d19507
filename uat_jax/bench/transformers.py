"""Random Transformers to be computed in parts, each with its parts by another way: real models and the papers' one."""

from __future__ import annotations

import functools
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.typing import DTypeLike

from uat_jax.bench.models import check_heads, draw
from uat_jax.bench.splits import Network
from uat_jax.decomposition import operators
from uat_jax.errors import InputError
from uat_jax.networks import attention_weights, feed_forward, initialise_transformer, transformer
from uat_jax.networks.block import Block
from uat_jax.networks.feed_forward_part import FeedForward
from uat_jax.networks.model import Model
from uat_jax.networks.norms import LayerNorm
from uat_jax.networks.transformer import TransformerLayer

PAPERS = "papers"
"""The family of the papers' Transformer."""
WITH_BIASES = ("gpt2", "bert")
"""The families of `uat_jax.bench.models.FAMILIES` whose last layer adds a bias."""
SIGMA = jax.nn.gelu
VOCABULARY = 64


class Count(NamedTuple):
    """Floating-point operations of one layer for one text, two for each multiplication and addition."""

    layer: float
    """The forward pass."""
    stream: float
    """One more stream through its frozen attention."""


def network(family: str, *, separate: bool, batch: int, dtype: str, tokens: int, **sizes: int) -> Network:
    """A random network and a batch of inputs; its reference gives p and u, or all the terms if `separate`.

    Raises `InputError` for a family that there is not, or that has no biases, and heads that do not divide features.
    """
    if family not in (*WITH_BIASES, PAPERS):
        raise InputError(f"got the family {family!r}, wanted one of {', '.join((*WITH_BIASES, PAPERS))}")
    check_heads(sizes["features"], sizes["heads"])
    build = _papers if family == PAPERS else functools.partial(_real, family)
    return build(separate, batch, jnp.dtype(dtype), tokens, **sizes)


def count(family: str, *, tokens: int, features: int, heads: int, hidden: int) -> Count:
    """Products only.  A head of a real model sees all features, one of the papers' a slice of them."""
    N, M, F = tokens, features, hidden
    seen = M / heads if family == PAPERS else M
    return Count(2 * N * (3 * M * seen + M * M + 2 * N * M + 2 * M * F), 2 * N * (M * seen + M * M + N * M))


# --- real models ---------------------------------------------------------------------------------------------------


def _real(family: str, separate: bool, batch: int, dtype: DTypeLike, tokens: int, **sizes: int) -> Network:
    drawn = functools.partial(draw, family=family, tokens=tokens, vocabulary=VOCABULARY, dtype=dtype, **sizes)
    model = jax.jit(drawn)(jax.random.key(0))
    inputs = jax.random.randint(jax.random.key(1), (batch, tokens), 0, VOCABULARY, jnp.int32)
    bias = _last_bias(model.blocks[-1], model.architecture.kind)
    reference = terms_by_operators if separate else streams_by_operators
    return Network(model, inputs, lambda model, tokens: model.hidden(tokens)[None], reference, bias, int(separate))


def _last_bias(block: Block, kind: str) -> jax.Array:
    """What the block adds last: β of its norm, or b_2 of its feed-forward network."""
    norm, part = block.norm_2, block.feed_forward
    assert isinstance(norm, LayerNorm) and isinstance(part, FeedForward)  # of the families `WITH_BIASES`
    bias = norm.beta if kind == "post-norm" else part.project_bias
    assert bias is not None
    return bias


def streams_by_operators(model: Model, tokens: jax.Array) -> jax.Array:
    """p_j = A_j p_{j−1} + c_j and u_j = A_j u_{j−1} + C_j s_j, by the operators of each layer."""
    p = model.embed(tokens)
    u = jnp.zeros_like(p)
    for layer in operators(model, tokens):
        p, u = layer.A(p) + layer.c, layer.A(u) + layer.C(layer.hidden(p + u))
    return jnp.stack([p, u])


def terms_by_operators(model: Model, tokens: jax.Array) -> jax.Array:
    """Every term t_j = A_j t_{j−1}; c_j joins the biases, and C_j s_j is a new one."""
    x, norm = model.embed(tokens), model.embedding_norm
    shift = jnp.zeros_like(x) + norm.beta[None] if isinstance(norm, LayerNorm) else jnp.zeros_like(x)
    terms = [x - shift, shift]
    for layer in operators(model, tokens):
        term = layer.C(layer.hidden(functools.reduce(jnp.add, terms)))
        source, biases, *others = map(layer.A, terms)
        terms = [source, biases + layer.c, *others, term]
    return jnp.stack(terms)


# --- the papers' Transformer ---------------------------------------------------------------------------------------

Layers = tuple[TransformerLayer, ...]


def _papers(
    separate: bool, batch: int, dtype: DTypeLike, tokens: int, depth: int, features: int, heads: int, hidden: int
) -> Network:
    widths, inside = [features] * (depth + 1), [hidden] * depth
    layers = initialise_transformer(jax.random.key(0), features=widths, heads=heads, hidden=inside, dtype=dtype)
    layers = tuple(layer._replace(output=layer.output / 2) for layer in layers)  # or states, and errors, double in each
    inputs = jax.random.normal(jax.random.key(1), (batch, tokens, features), dtype)
    reference = terms_by_matrices if separate else streams_by_matrices
    plain = lambda layers, x: transformer(layers, x, SIGMA)[None]
    return Network(layers, inputs, plain, reference, layers[-1].project_bias, int(separate))


def terms_by_matrices(layers: Layers, x: jax.Array) -> jax.Array:
    """Every term by Z ↦ Σ_i H_i Z E_i W_Vi W_Oi, the products E_i W_Vi W_Oi multiplied out (Theorem 3)."""
    terms = [x, jnp.zeros_like(x)]
    for layer in layers:
        state, times = functools.reduce(jnp.add, terms), functools.partial(jnp.matmul, precision="highest")
        patterns = attention_weights(layer, state)
        products = times(layer.value, layer.output).reshape(state.shape[1], -1)
        attend = lambda z, H=patterns, V=products: _over_heads(H, z, V)
        source, biases, *others = map(attend, terms)
        y = attend(state)
        term = feed_forward(layer, y, SIGMA) - layer.project_bias[None]
        terms = [source, biases + layer.project_bias[None], *others, term]
    return jnp.stack(terms)


def streams_by_matrices(layers: Layers, x: jax.Array) -> jax.Array:
    """The first two terms together, and the others."""
    terms = terms_by_matrices(layers, x)
    return jnp.stack([terms[0] + terms[1], jnp.sum(terms[2:], axis=0)])


def _over_heads(patterns: jax.Array, z: jax.Array, products: jax.Array) -> jax.Array:
    """Σ_i H_i z_i V_i, V_i the rows of slice i."""
    h, (N, M) = len(patterns), z.shape
    slices = z.reshape(N, h, M // h)
    return jnp.einsum("hnk,khd,hdm->nm", patterns, slices, products.reshape(h, M // h, -1), precision="highest")
