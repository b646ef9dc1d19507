"""What real Transformers have and the papers omit: each block is a layer of Theorem 1 with dynamic parameters (K1–K13).

The papers' layer (Eq. 20, 30) has no norm, no bias in attention, no mask, no gate.  Here every block is written on token
matrices X and shown to be A x + c + C σ(B x + b) on x = vec(X), with A, B, C, b, c that depend on x; the induction for
dynamic parameters then gives the closed form for every depth.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import jax

from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.real import blocks
from uat_jax.ledger.real import networks as real
from uat_jax.ledger.real.blocks import SOFTMAX, Case, row
from uat_jax.networks import block as plain
from uat_jax.networks.feed_forward_part import initialise_gated, initialise_mixture
from uat_jax.networks.multihead import initialise_multihead
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import MultiHead
from uat_jax.symbolic.blocks.block import Parts, parallel_block, post_norm_block, residual_block
from uat_jax.symbolic.blocks.feed_forward import FeedForward, Gated, Mixture
from uat_jax.symbolic.blocks.norms import LayerNorm, RMSNorm

WHOLE = "A, B, C, b, c are W_{i,1}, W_{i,2}, W_{i,3}, b_{i,2}, b_{i,3}; they depend on the input, and nothing else is assumed of how"

# --- parts, symbolic and in JAX ----------------------------------------------------------------------------------------


def _parts(number: int, norm: type[RMSNorm] | None = None, feed_forward: Any = FeedForward, **attention: Any) -> Parts:
    """Block ``number``: all its letters carry that number."""
    norms = {f"norm_{k}": norm((k, number)) for k in (1, 2)} if norm else {}
    return Parts(MultiHead((number,), **attention), feed_forward((number,)), **norms, number=number)


def _with(**kind: Any) -> Any:
    return lambda number, **attention: _parts(number, **kind, **attention)


def _gpt(key: jax.Array) -> plain.Block:
    return plain.initialise_gpt_block(key, features=real.WIDE, heads=1, hidden=1)


def _without_norms(key: jax.Array) -> plain.Block:
    return _gpt(key)._replace(norm_1=None, norm_2=None)


def _gated(key: jax.Array) -> plain.Block:
    return _without_norms(key)._replace(feed_forward=initialise_gated(key, real.WIDE, 1))


def _mixture(key: jax.Array) -> plain.Block:
    return _without_norms(key)._replace(feed_forward=initialise_mixture(key, real.WIDE, 1, 2))


def _grouped(key: jax.Array) -> plain.Block:
    attention = initialise_multihead(key, features=real.WIDE, heads=2, width=real.WIDE, groups=1)
    return _without_norms(key)._replace(attention=attention)


def _llama(key: jax.Array) -> plain.Block:
    block = plain.initialise_llama_block(key, features=real.WIDE, heads=1, groups=1, hidden=1)
    grouped = initialise_multihead(key, features=real.WIDE, heads=2, width=real.WIDE, groups=1, biases=False)
    return block._replace(attention=grouped)


GROUPS: dict[str, Any] = {"groups": m.dimension("g"), "per_group": m.dimension("r")}
TWO_HEADS: dict[str, Any] = {"groups": 1, "per_group": 2}

PRE_NORM = Case(residual_block, _with(norm=LayerNorm), plain.pre_norm_block, _gpt)
POST_NORM = Case(post_norm_block, _with(norm=LayerNorm), plain.post_norm_block, _gpt)
GATED = Case(residual_block, _with(feed_forward=Gated), plain.residual_block, _gated)
MIXTURE = Case(residual_block, _with(feed_forward=Mixture), plain.residual_block, _mixture)
RESIDUAL = Case(residual_block, _with(), plain.residual_block, _without_norms)
MASKED = Case(
    residual_block,
    _with(),
    plain.residual_block,
    _without_norms,
    scores=(blocks.causal, blocks.sliding),
    depth=1,
    tokens=3,
)
GROUPED = Case(residual_block, _with(), plain.residual_block, _grouped, general_heads=GROUPS, network_heads=TWO_HEADS)
PARALLEL = Case(parallel_block, _with(norm=LayerNorm), plain.parallel_block, _gpt)
LLAMA = Case(
    residual_block,
    lambda number, **attention: _parts(number, RMSNorm, Gated, biases=False, **attention),
    plain.pre_norm_block,
    _llama,
    scores=(blocks.causal_rotary,),
    general_heads=GROUPS,
    network_heads=TWO_HEADS,
)


def _row(number: str, name: str, title: str, case: Case, reading: str) -> Claim:
    hypotheses = ELEMENTWISE, SOFTMAX
    about = {"kind": Kind.ALL_DEPTHS, "hypotheses": hypotheses, "reading": f"{reading}; {WHOLE}"}
    return row(number, name, title, case.written(), case.decide, **about)


CLAIMS = (
    _row(
        "K1",
        "residual-attention",
        "a residual connection around attention fits",
        RESIDUAL,
        "Y = X + MHA(X), then Y + FFN(Y), where the papers' Eq. 30 has Y = MHA(X)",
    ),
    _row(
        "K5",
        "pre-norm",
        "the pre-norm block of GPT-2 fits",
        PRE_NORM,
        "Y = X + MHA(LN_1(X)), then Y + FFN(LN_2(Y))",
    ),
    _row(
        "K6",
        "post-norm",
        "the post-norm block of the first Transformer fits",
        POST_NORM,
        "Y = LN_1(X + MHA(X)), then LN_2(Y + FFN(Y)); W_{i,3} is dynamic, that of the last layer too",
    ),
    _row(
        "K7",
        "masks",
        "causal masks and sliding windows fit: they change H_i alone",
        MASKED,
        "H_i(X) = softmax(S_i(X)) with any scores S_i(X), −∞ where a mask hides a token",
    ),
    _row(
        "K7",
        "alibi",
        "ALiBi and padding fit: they change H_i alone",
        replace(MASKED, scores=(blocks.with_alibi, blocks.padding)),
        "H_i(X) = softmax(S_i(X)) with any scores S_i(X), −∞ for the padding",
    ),
    _row(
        "K8",
        "gated",
        "the gated feed-forward part fits, with a dynamic W_{i,3}",
        GATED,
        "((Y U) ⊙ σ(Y G)) W_D for the feed-forward part",
    ),
    _row(
        "K9",
        "rope",
        "rotary positions fit: they change H_i alone",
        Case(residual_block, _with(), plain.residual_block, _without_norms, scores=(blocks.rotary,)),
        "queries and keys are turned by their positions, inside the scores S_i(X)",
    ),
    _row(
        "K10",
        "grouped-queries",
        "grouped and multi-query attention fit",
        GROUPED,
        "g groups of r heads each; the heads of a group share W_K and W_V (g = 1: multi-query)",
    ),
    _row(
        "K11",
        "llama",
        "the whole block of Llama fits, all biases being zero",
        LLAMA,
        "RMSNorm, rotary positions, grouped queries, causal mask and a gated feed-forward part",
    ),
    _row(
        "K12",
        "parallel",
        "the parallel block of GPT-J and PaLM fits, without the factor A in B",
        PARALLEL,
        "X + MHA(Z) + FFN(Z) with Z = LN_1(X)",
    ),
    _row(
        "K13",
        "mixture",
        "a mixture of experts fits, with dynamic W_{i,3} and b_{i,3}",
        MIXTURE,
        "E experts with gates g(Y) (top-k: all but k are 0), their activations beside each other for each token",
    ),
)
