"""What attention looks at, and how it scores: cross-attention, and variants that change H_i alone (K16, K17)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.decide.confirmation import agreeing
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Kind
from uat_jax.ledger.real import networks as real
from uat_jax.ledger.real.blocks import SOFTMAX, row
from uat_jax.networks.feed_forward_part import initialise_feed_forward, plain_feed_forward
from uat_jax.networks.masks import causal_mask
from uat_jax.networks.multihead import Scoring, initialise_multihead, multihead
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import (
    CONTEXT_FEATURES,
    CONTEXT_TOKENS,
    Head,
    MultiHead,
    plain_scores,
    scaled,
)
from uat_jax.symbolic.blocks.block import Block, Parts, cross_block, residual_block
from uat_jax.symbolic.blocks.feed_forward import FeedForward
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step
from uat_jax.typing import PyTree

VOCABULARY = m.dimension("V")

# --- cross-attention ---------------------------------------------------------------------------------------------

MEMORY = m.Letter("z", CONTEXT_TOKENS, CONTEXT_FEATURES)


def _cross(**attention: Any) -> Block:
    return cross_block(Parts(MultiHead((1,), memory=MEMORY, **attention), FeedForward((1,))))


def _cross_attention(settings: Settings) -> Iterator[Evidence]:
    """Y = X + MHA(X, z), then Y + FFN(Y): a(x) = M(x, z) z' + a is a dynamic bias; or A = I + E M(x, z) Jᵀ.

    In the second form w stacks x = Eᵀ w, its first NM entries, and others; z' = Jᵀ w.  A w is x + M z' in the first
    NM entries and w in the others.
    """
    steps = [_cross().step("cross-attention"), *_stacked(), *closed_form_induction(Layers("residual", dynamic=True))]
    proof = prove(steps, method=Method.INDUCTION, what="the closed form of L such blocks, for all shapes and every L")
    yield proof
    closed = real.closed_form_of([_cross(groups=1, scoring=plain_scores)], 2)

    def network(layer: PyTree, x: jax.Array, z: jax.Array) -> jax.Array:
        y = x + multihead(layer.attention, x, context=z)
        return y + plain_feed_forward(layer.feed_forward, y, jax.lax.lgamma)

    inputs = _cross_arrays(), jnp.zeros((2, real.WIDE)), jnp.zeros((3, 1))
    found = real.same(lambda w, x, z: closed([w], x, {MEMORY: z}), network, inputs, what="one block, plain JAX")
    yield agreeing(proof, found)


def _cross_arrays() -> Any:
    """The shapes of a block whose memory has one feature."""

    def initialise() -> real.NetworkBlock:
        key = jax.random.key(0)
        attention = initialise_multihead(key, features=real.WIDE, heads=1, context=1)
        return real.NetworkBlock(attention, initialise_feed_forward(key, real.WIDE, 1))

    return jax.eval_shape(initialise)


def _stacked() -> list[Step]:
    long, x_size, z_size = m.dimension("P"), TOKENS * FEATURES, CONTEXT_TOKENS * CONTEXT_FEATURES
    E, J = m.Selection(1, long, x_size), m.Letter("J", long, z_size)
    w, M = m.Letter("w", long, 1), m.Letter("M", x_size, z_size)
    eye = m.Identity(long)
    A, others = eye + m.Product(E, M, J.T), eye - E @ E.T
    return [
        Step("the first NM entries of A w", m.Product(E.T, A, w), E.T @ w + m.Product(M, J.T, w)),
        Step("the others", m.Product(others, A, w), w - m.Product(E, E.T, w)),
    ]


# --- what changes H_i alone ------------------------------------------------------------------------------------------


def _function(name: str, e: m.Expression) -> m.Expression:
    """An opaque function of a matrix, of its shape."""
    return m.Dependent(m.Letter(name, *e.shape), e)


def _normed(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    return scaled(_function("n", of.queries(head, X)) @ _function("n", of.keys(head, X)).T)


def _capped(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    return _function("cap", plain_scores(of, head, X))


def _relative_bias(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    return plain_scores(of, head, X) + m.Letter("P", TOKENS, TOKENS, head)


VARIANTS = {
    "norms of queries and keys": _normed,
    "capped scores": _capped,
    "relative bias of T5": _relative_bias,
}


def _variants(settings: Settings) -> Iterator[Evidence]:
    """The block of K1 with other scores, with low-rank keys and values, and logits by the transposed embedding."""
    block = lambda scoring: residual_block(Parts(MultiHead((1,), scoring=scoring), FeedForward((1,))))
    steps = [block(scoring).step(name) for name, scoring in VARIANTS.items()]
    X, E = m.Letter("X", TOKENS, FEATURES), m.Letter("E", VOCABULARY, FEATURES)
    tied = Step("tied embeddings", m.Vectorised(X @ E.T), m.Kronecker(m.Identity(TOKENS), E) @ m.Vectorised(X))
    yield prove([*steps, _latent(), tied], method=Method.NORMAL_FORM, what="the same layer, for all shapes")


def _latent() -> Step:
    """Latent attention: W_K = W_down U_K and W_V = W_down U_V, one W_down for all heads."""
    of, rank = MultiHead((1,), groups=2, scoring=plain_scores), m.dimension("c")
    down = m.Letter("L", FEATURES, rank)
    names = [(name, (g,)) for name in "KV" for g in (1, 2)]
    low_rank = {of.weight(*n): down @ m.Letter("U", rank, of.weight(*n).shape[1], n[1], (n[0],)) for n in names}
    step = residual_block(Parts(of, FeedForward((1,)))).step("latent attention")
    return Step(step.name, step.left, step.right, low_rank | dict(step.where))  # type: ignore[arg-type]


def _cache(settings: Settings) -> Iterator[Evidence]:
    """The last token's query against the keys and values of all: the last row of causal attention."""
    layer = jax.eval_shape(lambda: initialise_multihead(jax.random.key(0), features=2, heads=1))
    whole = lambda layer, x: multihead(layer, x, scoring=Scoring(mask=causal_mask(3)))[-1:]
    cached = lambda layer, x: multihead(layer, x[-1:], context=x)
    yield real.same(whole, cached, (layer, jnp.zeros((3, 2))), what="the last of three tokens")


CLAIMS = (
    row(
        "K16",
        "cross-attention",
        "cross-attention is a dynamic bias",
        r"\mathbf{a}(\mathbf{x},\mathbf{z})=\textstyle\sum_i\mathbf{H}_i(\mathbf{x},\mathbf{z})"
        r"\otimes(\mathbf{W}_V\mathbf{W}_O)^T\mathbf{z}'+\mathbf{a}",
        _cross_attention,
        hypotheses=(ELEMENTWISE, SOFTMAX, "the memory z does not depend on x"),
        reading="or a block of A, if z is stacked below x",
        kind=Kind.ALL_DEPTHS,
    ),
    row(
        "K17",
        "variants",
        "normed queries, capped scores, T5's bias, latent attention, tied weights fit",
        r"\mathbf{H}_i(\mathbf{x})=\operatorname{softmax}(S_i(\mathbf{x}))\text{ or }\mathbf{W}_V\mathbf{W}_O"
        r"\text{ are parametrised otherwise}",
        _variants,
        reading="dropout is the identity at inference, so that nothing is left to prove",
    ),
    row(
        "K17",
        "cache",
        "a cache of keys and values gives the last row of causal attention",
        r"\mathrm{MHA}(\mathbf{X})_N=\mathrm{MHA}(\mathbf{X}_N;\,\text{keys and values of }\mathbf{X})",
        _cache,
        expects=Verdict.CERTIFIED,
        hypotheses=("three tokens, one head of two features",),
    ),
)
