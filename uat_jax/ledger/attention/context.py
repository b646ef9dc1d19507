"""What an output of attention depends on, with and without a causal mask, and what its pattern is not: E11, E14."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from fractions import Fraction
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide import dependence
from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import Shape, as_counted, counted
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.functions import confirm_functions, evaluated
from uat_jax.decide.settings import Settings
from uat_jax.decide.shapes import refute_shape
from uat_jax.decide.statements import density_of
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.attention.slices import attention_shapes
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, one_case
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import Source, duat, v1, v2
from uat_jax.networks import TransformerLayer
from uat_jax.networks.heads import masked_attention
from uat_jax.networks.masks import causal_mask
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import COUNT, HEAD, TOKENS, WIDTH, Heads, scaled_softmax
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.support import density, lower_triangular

N, d, h, i = TOKENS, WIDTH, COUNT, HEAD

# --- plain networks ------------------------------------------------------------------------------------------------


def _layer(shape: Shape) -> TransformerLayer:
    """Attention of random weights, the feed-forward part left at its smallest."""
    random, count, width = np.random.default_rng(0), shape[h], shape[d]
    draw = lambda *sizes: random.uniform(0.5, 1.5, sizes)
    blocks, features = [draw(count, width, width) for _ in range(3)], count * width
    rest = draw(features, 1), draw(1), draw(1, features), draw(features)
    return TransformerLayer(*blocks, draw(count, width, features), *rest)  # type: ignore[arg-type]


@cache
def _share_of_derivatives(sizes: tuple[tuple[Any, int], ...], causal: bool) -> Fraction:
    """The share of the entries of the Jacobian of attention that are not zero, H_i(x) differentiated as well."""
    shape = dict(sizes)
    tokens, layer = shape[N], _layer(shape)

    def attend(x: jax.Array) -> jax.Array:
        return masked_attention(jax.tree.map(jnp.asarray, layer), x, causal_mask(tokens) if causal else None)

    x = np.random.default_rng(1).normal(size=(tokens, shape[h] * shape[d]))
    jacobian = evaluated(jax.jacfwd(attend), x)
    return Fraction(int(np.count_nonzero(jacobian)), jacobian.size)


def frozen(pattern: m.Expression) -> m.Expression:
    """Σ_i H ⊗ (E_i W_Vi E_iᵀ W_O)ᵀ with one pattern H for all heads."""
    of = Heads()
    return of.total(lambda i: m.Kronecker(pattern, (of.placed_value(i) @ of.output).T))


UNIFORM = m.RowSoftmax(m.Zero(N, N))
"""softmax(0), every entry 1/N."""


def without_queries(pattern: m.Expression = UNIFORM) -> Iterator[Evidence]:
    """With W_Qi = 0 attention is the linear map `frozen`(softmax(0)), which is then its derivative, at every x.

    A derivative is an analytic function of weights and inputs; not zero there, it is zero almost nowhere.
    """
    of = Heads()
    scores = lambda i: scaled_softmax(m.Zero(N, d), of.slice(i) @ of.weight("K", i), of.features)
    output = of.total(lambda i: scores(i) @ of.slice(i) @ of.weight("V", i) @ of.select(i).T @ of.output)
    step = Step("W_Qi = 0", m.Vectorised(output), frozen(pattern) @ m.Vectorised(of.x))
    yield from proved([step], method=Method.NORMAL_FORM, what="with W_Qi = 0 attention is linear, for every N, d and h")


def causal_without_queries(visible: Callable[[jax.Array], jax.Array] = jnp.tril) -> Evidence:
    """With a causal mask and W_Qi = 0 row n of every pattern is 1/n, n times, then zeros: N = 3, d = 2, h = 2."""

    def network(layer: TransformerLayer, x: jax.Array) -> jax.Array:
        return masked_attention(layer._replace(query=0 * layer.query), x, causal_mask(3))

    def linear(layer: TransformerLayer, x: jax.Array) -> jax.Array:
        seen = visible(jnp.ones((3, 3), x.dtype))
        means = jnp.matmul(seen, x, precision="highest") / jnp.sum(seen, axis=1, keepdims=True)
        return jnp.einsum("niv,ivw,iwm->nm", means.reshape(3, 2, 2), layer.value, layer.output, precision="highest")

    what = "with W_Qi = 0 causal attention is linear, its patterns lower triangular"
    return confirm_functions(network, linear, (attention_shapes(2, 2), (3, 4)), what=what)


def _decoder_witness() -> Iterator[Evidence]:
    """Not zero up to the token itself, zero behind it."""
    yield causal_without_queries()
    yield from hidden_tokens()


def _jacobian(causal: bool) -> Callable[[Any, Settings], Iterator[Evidence]]:
    """The derivatives that are not zero: those of the linear map at W_Qi = 0, and in a decoder no others."""
    pattern = m.Letter("L", N, N) if causal else UNIFORM
    shapes = [{N: 2, d: 1, h: 1}, {N: 3, d: 1, h: 2}]

    def decide(claimed: Any, settings: Settings) -> Iterator[Evidence]:
        found = density(frozen(pattern), {"L": lower_triangular})
        measured = lambda shape: _share_of_derivatives(tuple(shape.items()), causal)
        said = as_counted(density_of(frozen(pattern), {"L": "triangular"} if causal else None))
        what = "derivatives that are not zero"
        count = list(counted(claimed, found, what=what, measured=measured, shapes=shapes, said=said))
        yield from count
        if any(evidence.verdict is Verdict.PROVED for evidence in count):
            yield from _decoder_witness() if causal else without_queries()

    return decide


def _one_head(x: jax.Array) -> jax.Array:
    """softmax(x xᵀ) x without a mask, one feature."""
    return jnp.matmul(jax.nn.softmax(jnp.matmul(x, x.T, precision="highest"), axis=-1), x, precision="highest")


def _both_ways(settings: Settings) -> Iterator[Evidence]:
    """The first output changes with the second token, and the second with the first: two tokens, all weights 1."""
    here, there = [[1.0], [0.0]], [[0.0], [1.0]]
    for subject, token, other in (("subsequent", 0, there), ("preceding", 1, here)):
        output = lambda x, token=token: _one_head(x)[token]
        pair = np.zeros((2, 1)), np.array(other)
        yield dependence.dynamic(output, pair, what=f"output {token + 1}", subject=subject)


def hidden_tokens(later: Callable[[Any, Any], m.Expression] = m.Zero) -> Iterator[Evidence]:
    """Ĥ_i at token n is a quotient of two sums over all tokens, and neither contains the later tokens R.

    exp(q_n kᵀ) is multiplied by the mask, 1 for the first n tokens P and ``later`` = 0 for the k tokens R after them; σ
    stands for exp of the scores over √M.  The letters are slice i of the tokens; output n is Σ_i Ĥ_i W_Oi.
    """
    seen, hidden = m.dimension("n"), m.dimension("k")
    token, P, R = (m.Letter(name, rows, d, (i,)) for name, rows in (("x", 1), ("P", seen), ("R", hidden)))
    project = lambda x, name: x @ Heads().weight(name, i)
    exponential = lambda x: m.Activation(project(token, "Q") @ project(x, "K").T)
    unseen = m.Hadamard(exponential(R), later(1, hidden))
    sums = {
        "numerator": exponential(P) @ project(P, "V") + unseen @ project(R, "V"),
        "denominator": exponential(P) @ m.Ones(seen, 1) + unseen @ m.Ones(hidden, 1),
    }
    for subject, total in sums.items():
        yield from dependence.static(total, R, what=f"{subject} of head i, any two continuations", subject=subject)


def _not_later(settings: Settings) -> Iterator[Evidence]:
    """The later tokens, hidden by zeros of the mask; that −∞ before softmax does the same is certified on the network."""
    yield from hidden_tokens()
    whole = lambda layer, x: masked_attention(layer, x, causal_mask(3))[:2]
    prefix = lambda layer, x: masked_attention(layer, x[:2], causal_mask(2))
    what = "two of three tokens, with the third and without"
    found = confirm_functions(whole, prefix, (attention_shapes(2, 2), (3, 4)), what=what)
    yield from (replace(found, subject=subject) for subject in ("numerator", "denominator"))


# --- what the pattern is not ---------------------------------------------------------------------------------------


def _covariance(settings: Settings) -> Iterator[Evidence]:
    """Scores x W_QK xᵀ against what every covariance matrix of the features is."""

    def scores(x: jax.Array, W: jax.Array) -> jax.Array:
        return jnp.matmul(jnp.matmul(x, W, precision="highest"), x.T, precision="highest")

    names = ("x W_QK xᵀ", "its transpose")
    turned = lambda x, W: scores(x, W).T
    shear = {"x": [[1, 0], [0, 1]], "W": [[0, 1], [0, 0]]}
    yield replace(exhibit(scores, turned, shear, what="symmetric", names=names), subject="symmetric")
    absolute = lambda x, W: jnp.abs(scores(x, W))
    names, negative = ("its 1 × 1 score", "its absolute value"), {"x": [[1]], "W": [[-1]]}
    yield replace(exhibit(scores, absolute, negative, what="no negative variance", names=names), subject="semidefinite")
    moved = lambda x, W: scores(x + 1, W)
    names, zero = ("x W_QK xᵀ", "the same for x + 1"), {"x": [[0]], "W": [[1]]}
    yield replace(exhibit(scores, moved, zero, what="without the mean", names=names), subject="centred")
    yield replace(refute_shape(_shape_of_covariance, ("N", "M"), what="x W_QK xᵀ = xᵀ C x"), subject="shape")


def _scores(settings: Settings) -> Iterator[Evidence]:
    """What stands in the softmax is x W_QK xᵀ, one number for each pair of tokens."""
    x, Q, K = m.Letter("x", N, d, (i,)), Heads().weight("Q", i), Heads().weight("K", i)
    step = Step("the scores", (x @ Q) @ (x @ K).T, m.Product(x, Q @ K.T, x.T))
    yield from proved([step], method=Method.NORMAL_FORM, what="N × N, for all shapes")


def _shape_of_covariance(N: int, M: int) -> m.Expression:
    x, W, C = m.Letter("x", N, M), m.Letter("W", M, M), m.Letter("C", N, N)
    return x @ W @ x.T - x.T @ C @ x


CONTEXT: tuple[Source, ...] = (v1("4.2"), v2("4.2"), duat("4.2"))
ENTIRE: tuple[Source, ...] = (v2("D"), duat("C"))
BOTH = r"\text{each element in }\mathring{\mathbf{H}}\text{ encapsulates}\dots\text{both preceding and subsequent contexts}"
DECODER = ("a causal mask, as in GPT, Llama and PaLM",)
GENERIC = "for almost all weights and inputs"

CLAIMS = (
    Claim(
        id="context.encoder",
        otherwise=("DUAT",),
        title="an output of attention depends on earlier and on later tokens",
        ledger="E11",
        kind=Kind.DEPENDENCE,
        sources=CONTEXT,
        printed=BOTH,
        reading="without a mask, as in encoders",
        hypotheses=("no mask",),
        expects=Verdict.PROVED,
        decide=_both_ways,
    ),
    Claim(
        id="context.encoder.derivatives",
        title="every output of attention depends on every input",
        ledger="E11",
        kind=Kind.COUNT,
        sources=ENTIRE,
        printed=r"\text{each element of }\mathbf{H}'\text{ contains information from the entire input}",
        reading="without a mask: no derivative is zero",
        hypotheses=("no mask", GENERIC),
        expects=Verdict.PROVED,
        decide=lambda settings: _jacobian(False)(1, settings),
    ),
    Claim(
        id="context.decoder-subsequent",
        otherwise=("DUAT",),
        title="in a decoder every output depends on every input",
        ledger="E11",
        kind=Kind.COUNT,
        sources=CONTEXT,
        printed=BOTH,
        reading="with a causal mask, H_i(x) differentiated as well",
        hypotheses=(*DECODER, GENERIC),
        expects=Verdict.REFUTED,
        correction="context.decoder.derivatives",
        decide=OneEdit(sympy.Integer(1), (N + 1) / (2 * N), _jacobian(True)),
    ),
    Claim(
        id="context.decoder.derivatives",
        title="in a decoder an output depends on its own and the preceding tokens",
        ledger="E11",
        kind=Kind.COUNT,
        sources=CONTEXT,
        printed=r"\frac{\partial\mathring{\mathbf{H}}_n}{\partial\mathbf{x}_{n'}}\ne 0\iff n'\le n",
        reading="not printed: the Jacobian is block lower triangular, (N + 1)/(2N) of its entries are not zero",
        hypotheses=(*DECODER, GENERIC),
        expects=Verdict.PROVED,
        decide=lambda settings: _jacobian(True)((N + 1) / (2 * N), settings),
    ),
    Claim(
        id="context.decoder",
        title="in a decoder no output depends on a later token",
        ledger="E11",
        kind=Kind.DEPENDENCE,
        sources=CONTEXT,
        printed=r"\mathring{\mathbf{H}}_n(\mathbf{x}_1,\dots,\mathbf{x}_N)=\mathring{\mathbf{H}}_n(\mathbf{x}_1,\dots,\mathbf{x}_n)",
        reading="not printed: not through the values, and not through H_i either",
        hypotheses=DECODER,
        expects=Verdict.PROVED,
        decide=_not_later,
    ),
    Claim(
        id="context.covariance",
        title="the H_i are elements of the covariance matrix of the input",
        ledger="E14",
        kind=Kind.IDENTITY,
        sources=(duat("C", 35),),
        printed=r"\text{these parameters are learned elements of the covariance matrix of the input}",
        reading="the scores x W_QK xᵀ inside H_i are symmetric, semidefinite, centred and M × M, as a covariance is",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.eq-35",
        decide=one_case({"the covariance of the features": _covariance, "the scores of tokens": _scores}),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="context.in-context-learning",
        ledger="E11",
        status=Status.NO_CONTENT,
        sources=(v2("D"), duat("C")),
        says="that each element contains information from the entire input is why in-context learning exists",
        note="its premise is context.encoder and context.decoder-subsequent; the reason it gives cannot be checked",
    ),
    Record(
        id="context.parameters",
        ledger="E14",
        status=Status.NO_CONTENT,
        sources=(duat("C"),),
        says="H_i disrupts the form of the UAT, so it can be regarded as parameters",
        note="what can be checked of it is attention.linear.frozen and attention.linear.map",
    ),
)
