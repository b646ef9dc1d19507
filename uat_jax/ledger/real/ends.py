"""What stands before and after the blocks: embeddings and logits; and what has no place in the form (K14, K15, K18)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.confirmation import agreeing
from uat_jax.decide.figures import Series
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.real import networks as real
from uat_jax.ledger.real.blocks import SOURCES, row
from uat_jax.ledger.record import Record, Status
from uat_jax.networks.decoder import Embedding, Unembedding, embed, unembed
from uat_jax.networks.norms import LayerNorm as LayerNormArrays
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.norms import LayerNorm
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS, on_features
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step

VOCABULARY = m.dimension("V")
CLOSED = ClosedForm(Layers("residual", lambda j: TOKENS * FEATURES))
"""The closed form of any number of blocks."""

# --- before the blocks ---------------------------------------------------------------------------------------------

TEXT, EMBEDDING = m.Letter("t", TOKENS, VOCABULARY), m.Letter("E", VOCABULARY, FEATURES)
POSITIONS = m.Letter("p", TOKENS, FEATURES)


def embedding_steps() -> tuple[Step, ...]:
    """x_0 = T(E) t' + p' for one-hot rows t, put into the closed form of i blocks: the same form in t'."""
    t, p, TE = m.Vectorised(TEXT), m.Vectorised(POSITIONS), on_features(EMBEDDING)
    x_0, i = CLOSED.layers.x(0), INDEX
    put_in = {x_0: m.Vectorised(TEXT @ EMBEDDING + POSITIONS)}
    W1, W2 = CLOSED.W1(i), CLOSED.W2(i)
    return (
        Step("the embedding", put_in[x_0], TE @ t + p),
        Step("x_L", CLOSED.x(i), m.Addition(W1 @ TE @ t, W1 @ p + CLOSED.b3(i), CLOSED.sum(i)), put_in),
        Step("the arguments of σ", W2 @ x_0 + CLOSED.b2(i), W2 @ TE @ t + (W2 @ p + CLOSED.b2(i)), put_in),
    )


def _embedding(settings: Settings) -> Iterator[Evidence]:
    steps = embedding_steps()
    proof = prove(steps, method=Method.NORMAL_FORM, what="for all shapes and every L")
    yield proof
    words, text = 3, jnp.array([2, 0])
    evaluate = real.function_of(steps[0].right, TEXT, {TOKENS: text.size})
    rows = lambda e: jax.nn.one_hot(text, words, dtype=e.tokens.dtype)
    found = real.same(
        lambda e: evaluate({EMBEDDING: e.tokens, POSITIONS: e.positions[: text.size]}, rows(e)),
        lambda e: embed(e, text).reshape(-1),
        (Embedding(jnp.zeros((words, 2)), jnp.zeros((4, 2))),),
        what=f"the words {text} of {words}, against plain JAX",
    )
    yield agreeing(proof, found)


# --- after the blocks ----------------------------------------------------------------------------------------------

LAST, UNEMBEDDING, NORM = m.Letter("X", TOKENS, FEATURES), m.Letter("U", FEATURES, VOCABULARY), LayerNorm()


def logits_steps() -> tuple[Step, ...]:
    """Lemma 1 with a dynamic β: U_f = T(W_U) N_f(x_L) passes into the sum of i blocks."""
    U, shift = on_features(UNEMBEDDING) @ NORM.matrix(LAST), on_features(UNEMBEDDING) @ NORM.shift
    i, k = INDEX, sympy.Symbol("k", integer=True, positive=True)
    moved = m.RangeSum(m.Product(U, CLOSED.W3(k, i), CLOSED.s(k)), k, 1, i)
    inside = m.Addition(U @ CLOSED.W1(i) @ CLOSED.layers.x(0), U @ CLOSED.b3(i) + shift, moved)
    return (
        Step("the logits", m.Vectorised(NORM.apply(LAST) @ UNEMBEDDING), U @ m.Vectorised(LAST) + shift),
        Step("Lemma 1", U @ CLOSED.x(i) + shift, inside),
    )


def _logits(settings: Settings) -> Iterator[Evidence]:
    steps = logits_steps()
    proof = prove(steps, method=Method.NORMAL_FORM, what="for all shapes and every L")
    yield proof
    evaluate = real.function_of(steps[0].right, LAST, {TOKENS: 2, FEATURES: 2})
    found = real.same(
        lambda last, x: evaluate(real.norm_arrays(NORM, last.norm) | {UNEMBEDDING: last.matrix}, x),
        lambda last, x: unembed(last, x).reshape(-1),
        (Unembedding(LayerNormArrays(jnp.zeros(2), jnp.zeros(2)), jnp.zeros((2, 3))), jnp.zeros((2, 2))),
        what="2 tokens, 3 words, against plain JAX",
    )
    yield agreeing(proof, found)


# --- what has no place in the form -----------------------------------------------------------------------------------


def _softmax_output(settings: Settings) -> Iterator[Evidence]:
    """1/(v + u + w), u = e^x, w = e^y: one probability among v + 2 words, two logits varying, the others 0."""
    a, b, v = sympy.symbols("a b", integer=True, nonnegative=True) + (sympy.Symbol("v", integer=True, positive=True),)
    coefficient = (-1) ** (a + b) * sympy.binomial(a + b, a) / v ** (a + b + 1)
    yield no_finite_sum(coefficient, a, b, v, what="a softmax over v + 2 words, v ≥ 1")


def no_finite_sum(coefficient: Any, a: Any, b: Any, v: sympy.Expr, *, what: str) -> Evidence:
    """PROVED: f = 1/(v + e^x + e^y) is no sum of finitely many functions σ_k(p_k x + q_k y) of one variable.

    Where u = e^x and w = e^y are small, f is the absolutely convergent Σ c(a,b) u^a w^b with (v + u + w) Σ c u^a w^b = 1.
    A function of p x + q y does not change in the direction (q, −p), nor a constant in any.  So F differences, the k-th
    by a step t_k ≠ 0 in the direction (q_k, −p_k), make a sum of F of them zero; an affine function is such a sum too.
    They multiply u^a w^b by Π_k (e^{t_k (q_k a − p_k b)} − 1), and a power series that is zero has no coefficients: for
    all a and b, c(a,b) = 0 or some q_k a = p_k b.  But of the F + 1 points (1, 0), …, (1, F) each k rules out at most
    one, and no c is zero.
    """
    at = lambda i, j: coefficient.xreplace({a: i, b: j})
    inner = v * at(a + 1, b + 1) + at(a, b + 1) + at(a + 1, b)
    checks = {
        "v c(0,0) = 1": _is_zero(v * at(0, 0) - 1),
        "v c(a+1,0) + c(a,0) = 0": _is_zero(v * at(a + 1, 0) + at(a, 0)),
        "v c(0,b+1) + c(0,b) = 0": _is_zero(v * at(0, b + 1) + at(0, b)),
        "v c(a+1,b+1) + c(a,b+1) + c(a+1,b) = 0": _is_zero(inner),
        "c(a,b) ≠ 0 for all a, b ≥ 0": coefficient.rewrite(sympy.gamma).is_nonzero is True,
    }
    failed = [name for name, holds in checks.items() if not holds]
    finding = f"{what}: no finite sum" if not failed else f"{what}: not shown that {failed[0]}"
    verdict = Verdict.UNKNOWN if failed else Verdict.PROVED
    return Evidence(Method.POWER_SERIES, finding, verdict, Series(str(coefficient), tuple(checks)))


def _is_zero(expression: Any) -> bool:
    return sympy.simplify(sympy.gammasimp(expression)) == 0


CLAIMS = (
    row(
        "K14",
        "embedding",
        "embeddings and positions compose into the closed form",
        r"\mathbf{x}_0'=T(\mathbf{E})\mathbf{t}'+\mathbf{p}'",
        _embedding,
        hypotheses=("t holds one-hot rows", "p are learned or fixed positions"),
        kind=Kind.ALL_DEPTHS,
    ),
    row(
        "K15",
        "logits",
        "the final norm and the unembedding pass into the sum",
        r"\mathbf{U}_f=T(\mathbf{W}_U)\mathbf{N}_f(\mathbf{x}_L),\ \mathrm{logits}'=\mathbf{U}_f\mathbf{P}_L\mathbf{x}_0'"
        r"+\mathbf{U}_f\mathbf{q}_L+T(\mathbf{W}_U)(\mathbf{1}\otimes\beta_f)"
        r"+\textstyle\sum_k\mathbf{U}_f\tilde{\mathbf{W}}_k\mathbf{s}_k",
        _logits,
        hypotheses=("ε > 0",),
        kind=Kind.ALL_DEPTHS,
    ),
    row(
        "K18",
        "softmax-output",
        "probabilities of three or more words are no affine plus Wσ(·) of finite width",
        r"\operatorname{softmax}(\mathbf{x})\ne\mathbf{A}\mathbf{x}+\mathbf{c}+\mathbf{C}\sigma(\mathbf{B}\mathbf{x}+\mathbf{b})"
        r"\text{ for every elementwise }\sigma",
        _softmax_output,
        kind=Kind.EXISTENCE,
        reading="A, B, C, b, c do not depend on x (with parameters that do, every function has the form: F1), any finite "
        "number of activations, each with a function of its own; for two words σ = logistic would do",
        hypotheses=("at least three words",),
    ),
)

RECORDS = (
    Record(
        id="real.sampling",
        ledger="K18",
        status=Status.NO_CONTENT,
        sources=SOURCES,
        says="argmax, sampling and the autoregressive loop do not have the form",
        note="Sampling is no function of the input: two runs give two outputs. Each step of the loop is the closed form "
        "up to the logits; the loop composes it with the choice of a word, which is no layer.",
    ),
)
