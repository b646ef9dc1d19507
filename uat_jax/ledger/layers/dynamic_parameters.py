"""What the papers say about dynamic parameters: their lists of them, and what makes them dynamic (G18, G7, G21, F2, F3)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide import dependence
from uat_jax.decide.confirmation import proved
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, one_word
from uat_jax.ledger.layers.dependence import (
    DEPTH,
    DYNAMIC,
    GENERIC,
    IN_DUAT,
    IN_V2,
    STATIC,
    Decide,
    at_every_depth,
    cell,
    hatted,
    one_token,
    parameters,
    said,
    tokens,
)
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import Source, duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, LAYER, by_layers, inductive
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Induction, Step

# --- norms -----------------------------------------------------------------------------------------------------------


def _layer_norm(x: jax.Array) -> jax.Array:
    """N(x) v for v = (1, 0) in every token: v − mean(v), over the standard deviation of the token (ε = 1)."""
    return jnp.asarray([[0.5, -0.5]], x.dtype) / jnp.sqrt(jnp.var(x, axis=1, keepdims=True) + 1)


def _rms_norm(x: jax.Array) -> jax.Array:
    """N(x) v for v = (1, 0) in every token: v over the root mean square of the token (ε = 1)."""
    return jnp.asarray([[1, 0]], x.dtype) / jnp.sqrt(jnp.mean(x * x, axis=1, keepdims=True) + 1)


NORMS = {"LayerNorm": _layer_norm, "RMSNorm": _rms_norm}
NORM_INPUTS = (((0, 1), (0, 1)), ((0, 2), (0, 2)))
"""Two tokens that are equal, so that attention is the mean over them whatever its weights are."""


def _with_norm(settings: Settings) -> Iterator[Evidence]:
    """A_2 (1 ⊗ v), v = (1, 0), which is b̂_{2,3} without c_2, with A_2 = I + (H(x_1) ⊗ I) N(x_1): a pre-norm block.

    Layer 1 adds its bias 1 ⊗ v and nothing else, x_1 = x_0 + 1 ⊗ v.
    """
    for name, normed in NORMS.items():
        what = f"A_2 (1 ⊗ (1, 0)) with {name} before attention"
        yield dependence.dynamic(lambda x, of=normed: _passed_on(of, x), NORM_INPUTS, what=what, subject=name)


def _passed_on(normed: Callable[[jax.Array], jax.Array], x: jax.Array) -> jax.Array:
    v = jnp.asarray([[1, 0]], x.dtype)
    return v + jnp.mean(normed(x + v), axis=0, keepdims=True)


def _one_token() -> Iterator[Evidence]:
    """W_HVO of a single token takes one value."""
    X = tokens(2).renamed({m.dimension("N"): sympy.Integer(1)})
    yield from dependence.static(one_token(2), X, what="W_HVO of one token is the same at any two inputs")


PRINTED = (
    r"\text{all }\mathbf{W}'_{j,1}\text{ and }\mathbf{W}'_{j,2}\text{ for }i+1\geqslant j\geqslant 1,"
    r"\text{ and }\mathbf{W}'_{j,3}\text{ for }i+1>j>1\text{ in layer i, are dynamically adjusted}"
)
PRINTED_V2 = (
    r"\text{all }\mathbf{W}'_{j,1},\mathbf{W}'_{j,2},\mathbf{W}'_{j,3},\ j=1,\ldots,i\text{, are dynamically adjusted}"
)


def _claim(
    name: str,
    title: str,
    ledger: str,
    printed: str,
    sources: tuple[Source, ...],
    read: str,
    decide: Decide,
    correction: str = "",
    kind: Kind = Kind.DEPENDENCE,
    ours: bool = False,
) -> Claim:
    return Claim(
        id=name,
        title=title,
        ledger=ledger,
        kind=kind,
        sources=sources,
        printed=printed,
        reading=read,
        expects=Verdict.REFUTED if correction else Verdict.PROVED,
        correction=correction,
        decide=decide,
        ours=ours,
    )


def _printed(
    name: str,
    title: str,
    printed: str,
    sources: tuple[Source, ...],
    read: str,
    decide: Decide,
    correction: str = "",
    ours: bool = False,
) -> Claim:
    return _claim(f"dependence.{name}", title, "G18", printed, sources, read, decide, correction, ours=ours)


def _first_coefficient() -> Iterator[Evidence]:
    """Ŵ_{1,3} = A_2 C_1 of two layers, the smallest network with a W_{j,3} that is dynamic and not listed."""
    of = parameters("transformer")
    letter = of.closed.W3(1, 2)
    assert isinstance(letter, m.Letter)
    yield of.moves(letter, subject="L = 2, j = 1")


def _not_static(*place: Any) -> OneEdit:
    """A parameter that is said to be static and is not."""
    return OneEdit(STATIC, DYNAMIC, lambda word, settings: said(word, place)(settings))


def _rule(parameter: str) -> str:
    """What the rule from i to i + 1 layers gives: all Ŵ_{k,3}, k ≤ i + 1, and one of each other parameter."""
    return hatted(parameter, "k" if parameter == "W3" else "i+1")


def _list(word: str, *ranges: tuple[str, range]) -> Decide:
    return said(word, *(("transformer", parameter, j) for parameter, numbers in ranges for j in numbers))


def _fixed_weights(settings: Settings) -> Iterator[Evidence]:
    """Static in three layers; and from i to i+1 layers, so at every depth."""
    yield from said(STATIC, *(("residual", parameter, 1) for parameter in _PRODUCTS))(settings)
    for parameter in _PRODUCTS:
        yield from (replace(found, subject=_rule(parameter)) for found in at_every_depth(parameter))


def _weights_differ(settings: Settings) -> Iterator[Evidence]:
    """Static in the one network, dynamic in the other."""
    for network, word in (("residual", STATIC), ("transformer", DYNAMIC)):
        yield from said(word, *((network, *place) for place in _WEIGHTS))(settings)


# --- networks without a skip, and the bias as a sum ----------------------------------------------------------------


def _perceptron() -> Iterator[Evidence]:
    """x_j = c_j + C_j σ(B_j x_{j−1} + b_j) is 0 x_0 + c_j + C_j s_j, s_{j} = σ(0 x_0 + B_j (c_{j−1} + C_{j−1} s_{j−1}) + b_j)."""
    of = Layers("residual")
    i, j = INDEX, INDEX + 1
    closed, x = ClosedForm(of), of.x(0)
    y = m.Letter("y", of.widths(LAYER - 1), 1)
    _, B, C, b, c = of.parameters(LAYER)
    layer = c + C @ m.Activation(B @ y + b)
    sum_form = m.Zero(of.widths(i), of.widths(0)) @ x + of.c(i) + of.C(i) @ closed.s(i)
    _, B, _, b, _ = of.parameters(j)
    argument = m.Zero(of.hidden_widths(j), of.widths(0)) @ x + m.Addition(B @ of.c(i), b, B @ of.C(i) @ closed.s(i))
    first = {closed.s(1): m.Activation(of.B(1) @ x + of.b(1))}
    later = by_layers({closed.s(j): m.Activation(argument)})
    steps = inductive(Induction(i, LAYER, y, x, layer, sum_form, first, later))
    yield from proved(steps, method=Method.INDUCTION, what="A_j = 0: the form of Eq. 11/33, for every L and every σ")


def _is_duat() -> Iterator[Evidence]:
    """The perceptron has the form, and b̂_{2,2} takes two values."""
    yield from _perceptron()
    yield from cell("perceptron", "b2", 2)


def _bias_is_a_sum(settings: Settings) -> Iterator[Evidence]:
    """b̂_{i+1,2} = constant + Σ_k (B_{i+1} Ŵ_{k,3}) s_k, whose constant and matrices are static."""
    of = Layers("residual")
    closed, k = ClosedForm(of), sympy.Symbol("k", integer=True, positive=True)
    rule, moving = recurrence(closed, INDEX + 1), (of.x(0), closed.s(k), closed.u(INDEX))
    assert rule.b2_u is not None
    collected = rule.b2_constant + rule.b2_u @ closed.sum(INDEX)
    factor = rule.b2_u @ closed.W3(k, INDEX)
    summed = rule.b2_constant + m.RangeSum(factor @ closed.s(k), k, 1, INDEX)
    yield from proved(
        [Step("Lemma 1", collected, summed)], method=Method.NORMAL_FORM, what="b̂_{i+1,2} is a constant + Σ α_k s_k"
    )
    for name, part in (("constant", rule.b2_constant), ("matrix", factor)):
        what = f"{part} is the same at any two inputs if the parameters of i layers are"
        yield from dependence.static(part, moving, what=what, subject=name)
    for parameter in ("W2", "W3", "b3"):
        yield from (replace(found, subject=_rule(parameter)) for found in at_every_depth(parameter))


# --- the rows --------------------------------------------------------------------------------------------------------

_ALL, _INNER = range(1, DEPTH + 1), range(1, DEPTH)
_PRODUCTS = ("W1", "W2", "W3", "b3")
_WEIGHTS = (*((parameter, j) for parameter in ("W1", "W2") for j in _ALL), *(("W3", j) for j in _INNER))
CLAIMS = (
    _printed(
        "printed.listed", "the parameters that DUAT lists as dynamic are so", PRINTED, IN_DUAT,
        f"each parameter of the list; i + 1 = L = {DEPTH}", _list(DYNAMIC, ("W1", _ALL), ("W2", _ALL), ("W3", range(2, DEPTH))),
    ),
    _printed(
        "printed.complete", "no W_{j,3} but those with 1 < j < i+1 is dynamic", PRINTED, IN_DUAT,
        "the list is complete: W_{1,3} is static, here of two layers (i = 1)",
        one_word(_first_coefficient, STATIC, DYNAMIC), "dependence.transformer.w3",
    ),
    _printed(
        "printed.no-b3", "no b_{j,3} is dynamic", PRINTED, IN_DUAT,
        "the list is complete: no b_{j,3} is on it; biases of shape (N, M) as in Eq. 6",
        _not_static("transformer", "b3-by-position", 2), "dependence.transformer.b3-by-position",
    ),
    _printed(
        "printed.no-b3-shared", "no b_{j,3} is dynamic if biases are token-shared", PRINTED, IN_DUAT,
        "the list is complete: no b_{j,3} is on it; b_{j,3} = 1 ⊗ v, no norms",
        _list(STATIC, ("b3", _ALL)),
    ),
    _printed(
        "b3-with-norms", "with a norm before attention b_{2,3} is dynamic",
        r"\mathbf{b}'_{2,3}\text{ is dynamic if a norm precedes attention}", IN_DUAT,
        "LayerNorm and RMSNorm; token-shared biases, which without norms are static", _with_norm,
    ),
    _printed(
        "v2.whole-network", "the parameters that v2 lists as dynamic are so, in i+1 layers", PRINTED_V2, IN_V2,
        f"the network of Eq. 11, of i + 1 = L = {DEPTH} layers",
        _list(DYNAMIC, ("W1", _INNER), ("W2", _INNER), ("W3", _INNER)),
    ),
    _printed(
        "v2.complete", "v2's list of dynamic parameters is complete", PRINTED_V2, IN_V2,
        "the network of Eq. 11, of i + 1 layers: W_{i+1,1} is not on the list, so it is static",
        _not_static("transformer", "W1", DEPTH), "dependence.transformer.w1",
    ),
    _printed(
        "v2.first-layers", "the parameters that v2 lists as dynamic are so, in i layers", PRINTED_V2, IN_V2,
        "“for the i-th layer”: a network of i layers, whose W_{i,3} would be dynamic",
        OneEdit(DYNAMIC, STATIC, lambda word, settings: said(word, ("transformer", "W3", DEPTH))(settings)),
        "dependence.transformer.w3",
    ),
    _printed(
        "one-token", "in any Transformer W_{1,1} is dynamic", PRINTED, IN_DUAT,
        "also for N = 1, where every H_i is the number 1",
        one_word(_one_token, DYNAMIC, STATIC),
        "dependence.transformer.w1", ours=True,
    ),
    _claim(
        "known-after-training.residual", "the combined weights of a residual network are fixed", "G7",
        r"\mathbf{W}'_{2,1}\ldots\text{once the network training is complete, they are essentially fixed}",
        (duat("B.2"),), "Ŵ_{j,1}, Ŵ_{j,2}, Ŵ_{j,3}, b̂_{j,3} of a residual network with fixed weights, at every depth",
        _fixed_weights,
    ),
    _claim(
        "known-after-training.transformer", "the combined weights of a Transformer are known after training", "G7",
        r"\text{Once the network training is complete, we know these parameters}",
        (v2("C.1"), v2("C.2")), "the same step in a Transformer, whose terms v2 combines in the same way",
        _not_static("transformer", "W1", 2), "known-after-training.residual",
    ),
    _claim(
        "vit-vs-cnn", "a Transformer's weights are dynamic, a residual network's are not", "G21",
        r"\text{the most notable difference \ldots\ is the dynamic input-dependent nature of the parameters}",
        (duat("B.3"),), f"the matrices W_{{j,1}}, W_{{j,2}} and W_{{j,3}}, j < L; {GENERIC}",
        _weights_differ,
    ),
    _claim(
        "perceptron.closed-form", "a perceptron without any skip is a sum with nested biases", "F2",
        r"\mathbf{x}_j=\mathbf{c}_j+\mathbf{C}_j\sigma(\mathbf{B}_j\mathbf{x}_{j-1}+\mathbf{b}_j)",
        (duat("4.1"), duat("B.2")), "Eq. 20 with W_{j,1} = 0, so that Ŵ_{j,2} = 0 for j ≥ 2: x_0 acts through the bias alone",
        lambda settings: _perceptron(), kind=Kind.ALL_DEPTHS,
    ),
    _claim(
        "residual-makes-biases-dynamic", "without the residual mechanism the biases are static", "F2",
        r"\text{the residual mechanism supports the dynamic approximation of bias terms}",
        (duat("4.1"), v2("4.1")), "and nothing else does: with A_j = 0 all b_{j,2} are static",
        _not_static("perceptron", "b2", 2), "dependence.perceptron.b2", ours=True,
    ),
    _claim(
        "perceptron.not-duat", "a network without any skip is no DUAT", "F2",
        r"\text{Currently, DUAT primarily is implemented by residual structure}", (duat("B.2"),),
        "and by nothing else: without a skip there is no sum with input-dependent biases",
        one_word(_is_duat, "no DUAT", "DUAT"), "perceptron.closed-form", kind=Kind.EXISTENCE, ours=True,
    ),
    _claim(
        "attention-makes-weights-dynamic", "attention makes the weights dynamic", "F2",
        r"\text{MHA allows for the dynamic adjustment of the weight parameters in UAT in response to the input}",
        (duat("4.1"), v2("4.1")), f"W_{{1,1}} and W_{{1,2}}; {GENERIC}",
        said(DYNAMIC, ("transformer", "W1", 1), ("transformer", "W2", 1)),
    ),
    _claim(
        "nested-bias.is-duat", "the dynamic biases of a residual network are such sums themselves", "F3",
        r"\text{in general, these complex functions are also DUAT}",
        (duat("B.2"),), "b_{j,2} of a network with fixed weights: a constant and a sum of j − 1 terms",
        _bias_is_a_sum,
    ),
)  # fmt: skip

RECORDS = (
    Record(
        "dynamic-weights.are-duat", "F3", Status.NO_CONTENT, (duat("B.2"),),
        "The dynamic parameters of attention are DUAT functions as well.",
        "Not shown: a softmax is a quotient of exponentials, which is no sum α σ(W x + b) with an elementwise σ.  If any "
        "dependence on the input is allowed, every function is such a sum and nothing is said (F1).",
    ),
)  # fmt: skip
