"""The feed-forward part, Eq. 6: as matrices on the column x′, and that it is not linear (D5, D6; D5 with B1)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import jax

from uat_jax.decide.confirmation import proved
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, one_case
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.step import Step

N, M, G = map(m.dimension, "NMG")
"""N tokens, M features, G hidden rows."""
X = m.Letter("x", N, M, (1,))
W1, W2 = m.Letter("W", G, N, (1,)), m.Letter("W", N, G, (2,))
b1, b2 = m.Letter("b", G, M, (1,)), m.Letter("b", N, M, (2,))


def feed_forward(x: m.Expression) -> m.Expression:
    """W_2 σ(W_1 x + b_1) + b_2 (Eq. 6), N × M."""
    return W2 @ m.Activation(W1 @ x + b1) + b2


def _feed_forward_left(settings: Settings) -> Iterator[Evidence]:
    """vec(W_2 σ(W_1 x + b_1) + b_2) = W_2′ σ(W_1′ x′ + b_1′) + b_2′ with W_i′ = W_i ⊗ I_M and b_i′ = vec(b_i)."""
    eye, vec = m.Identity(M), m.Vectorised
    hidden = m.Activation(m.Kronecker(W1, eye) @ vec(X) + vec(b1))
    step = Step("Eq. 6", vec(feed_forward(X)), m.Kronecker(W2, eye) @ hidden + vec(b2))
    yield from proved([step], method=Method.NORMAL_FORM, what="for every N, M and hidden width")


def _feed_forward_right(settings: Settings) -> Iterator[Evidence]:
    """vec(σ(Y V_1 + 1 v_1ᵀ) V_2 + 1 v_2ᵀ) = C σ(B vec(Y) + b) + c."""
    of = Attention(m.dimension("h"))
    V1, v1, V2, v2 = of.feed_forward(1)
    Y, one = m.Letter("Y", of.tokens, of.features(1)), m.Ones(of.tokens, 1)
    layers = of.layers
    parameters = of.matrix_vector_parameters(1, m.Letter("X", of.tokens, of.features(0)))
    left = m.Vectorised(m.Activation(Y @ V1 + one @ v1.T) @ V2 + one @ v2.T)
    right = layers.C(1) @ m.Activation(layers.B(1) @ m.Vectorised(Y) + layers.b(1)) + layers.c(1)
    yield from proved(
        [Step("Eq. 6", left, right, parameters)], method=Method.NORMAL_FORM, what="for every N, M and width"
    )


def _not_elementwise(settings: Settings) -> Iterator[Evidence]:
    """vec(softmax(Y)), of the features of each token, against softmax of the column vec(Y): of its rows, or of it all."""
    names = ("vec(softmax(Y))", "softmax(vec(Y))")
    softmax = lambda Y: jax.nn.softmax(Y).reshape(-1)
    of_rows = lambda Y: jax.nn.softmax(Y.reshape(-1, 1)).reshape(-1)
    of_all = lambda Y: jax.nn.softmax(Y.reshape(-1))
    readings = ("of each row of the column", of_rows, [[0, 0]]), ("of the whole column", of_all, [[0], [0]])
    for reading, printed, Y in readings:
        found = exhibit(softmax, printed, {"Y": Y}, what=f"softmax {reading}", names=names)
        yield replace(found, subject=reading)


BETWEEN: dict[str, Callable[[m.Expression], m.Expression]] = {"σ": m.Activation, "nothing": lambda hidden: hidden}
"""What stands between the two linear maps."""


def _linear(between: str, settings: Settings) -> Iterator[Evidence]:
    """f(x + e) + f(x − e) = 2 f(x), as for every linear map, and for every one with a bias."""
    e = m.Letter("e", N, M, (1,))
    f = lambda x: W2 @ BETWEEN[between](W1 @ x + b1) + b2
    step = Step("f(x + e) + f(x − e) = 2 f(x)", m.Vectorised(f(X + e) + f(X - e)), m.Vectorised(m.Scaled(2, f(X))))
    yield from settle_equation(step, what="the feed-forward part has no second difference")


_EQUATION_6 = (duat("3.1", 6), v2("3.3", 6))
_PRINTED_6 = (
    r"\mathbf{W}_2\sigma(\mathbf{W}_1\mathbf{x}+\mathbf{b}_1)+\mathbf{b}_2"
    r"\mapsto\mathbf{W}_2'\sigma(\mathbf{W}_1'\mathbf{x}'+\mathbf{b}_1')+\mathbf{b}_2'"
)
_ROW_MAJOR = "x′ is x row by row (row-major)"

CLAIMS = (
    Claim(
        id="feed-forward.left",
        title="the papers' feed-forward part in matrix–vector form",
        ledger="D5",
        kind=Kind.IDENTITY,
        sources=_EQUATION_6,
        printed=_PRINTED_6,
        reading="as printed, acting on tokens: W′ = W ⊗ I_M, b′ = vec(b)",
        hypotheses=(ELEMENTWISE, _ROW_MAJOR),
        expects=Verdict.PROVED,
        decide=_feed_forward_left,
    ),
    Claim(
        id="feed-forward.matrix",
        title="the feed-forward part in matrix–vector form",
        ledger="D5, B1",
        kind=Kind.IDENTITY,
        sources=_EQUATION_6,
        printed=_PRINTED_6,
        reading="acting on features, as Transformers do: W' = I_N ⊗ Wᵀ, b' = 1_N ⊗ b",
        expects=Verdict.PROVED,
        decide=_feed_forward_right,
    ),
    Claim(
        id="feed-forward.not-elementwise",
        ours=True,
        title="the matrix–vector form for a σ that is not elementwise",
        ledger="D5",
        kind=Kind.IDENTITY,
        sources=_EQUATION_6,
        printed=_PRINTED_6,
        reading="σ = softmax of the features of a token; on the column, of each row or of the whole column",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.REFUTED,
        correction="feed-forward.matrix",
        decide=one_case({"σ = softmax": _not_elementwise, "σ elementwise": _feed_forward_right}),
    ),
    Claim(
        id="feed-forward.linear",
        title="the feed-forward part consists of linear operations",
        ledger="D6",
        kind=Kind.IDENTITY,
        sources=(v1("3.5"),),
        printed=r"\text{FFN is comprised of linear operations}",
        reading="the feed-forward part is a linear map, with or without a bias: its second differences are zero. v1 has no "
        "formula for it, and so none for several layers",
        expects=Verdict.REFUTED,
        correction="feed-forward.left",
        decide=OneEdit("σ", "nothing", _linear),
    ),
)  # fmt: skip
