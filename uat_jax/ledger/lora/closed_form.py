"""LoRA in the feed-forward part, and what becomes of the closed form under it: Eq. 18 (H2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.programs import settle, settle_by_depth
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import DEPTHS, ELEMENTWISE, SQUARE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, apply, letter, shape
from uat_jax.ledger.layers.padding import larger_depths
from uat_jax.ledger.lora.padding import empty_mistaken, empty_tuned
from uat_jax.ledger.lora.tuned import READINGS, TunedLayers, delta, recomputed, square_tuned, tuned_rules
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import INDEX, LAYER, by_layers, closed_form_induction, inductive
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Induction, Step
from uat_jax.typing import PyTree

J = sympy.Symbol("j", integer=True, positive=True)

AFTER, BEFORE = "after all updates", "before all updates"
"""When the deltas are added."""


def exact(kind: str) -> Iterator[Evidence]:
    """With the deltas in the layers' own weights, and every hatted parameter computed from those."""
    layers = TunedLayers(kind)
    steps = closed_form_induction(layers, tuned_rules(ClosedForm(layers)))
    what = f"{kind} network: exact for every L, every shape and every σ"
    yield from (replace(found, subject=kind) for found in proved(steps, method=Method.INDUCTION, what=what))
    yield from _at_depths(kind, lambda depth: recomputed(kind, range(depth), depth))


def _at_depths(kind: str, printed: Callable[[int], Program]) -> Iterator[Evidence]:
    """What is printed for the tuned network, at L = 1…5."""
    pair = lambda depth: (plain_network(square_tuned(kind), depth), printed(depth))
    yield from settle_by_depth(pair, DEPTHS, what=f"{kind} network")


def _reading(name: str, *kinds: str) -> OneEdit:
    """Deltas added to hatted parameters, as one of the readings says, or to the layers' own weights; for every L."""

    def decide(when: str, settings: Settings) -> Iterator[Evidence]:
        for kind in kinds:
            if when == BEFORE:
                yield from exact(kind)
            else:
                yield from _at_depths(kind, lambda depth, kind=kind: READINGS[name].program(kind, depth))
                yield from larger_depths(*empty_tuned(kind, READINGS[name]), layer="A = I, C = ΔC = 0, c = 0")

    return OneEdit(AFTER, BEFORE, decide)


def _delta_index(layer: PyTree, settings: Settings) -> Iterator[Evidence]:
    """The deltas of that layer, j or j + 1, in the own weights of layer j, and every parameter computed anew."""
    shift = int(layer - J)
    for kind in KINDS:
        if not shift:
            yield from exact(kind)
            continue
        yield from _at_depths(kind, lambda depth, kind=kind: recomputed(kind, range(depth), depth, shift))
        yield from larger_depths(*empty_mistaken(kind), layer="A = I, C + ΔC = 0, c = 0")


def _original(settings: Settings) -> Iterator[Evidence]:
    """The deltas go into the layers' own weights, and every hatted parameter is computed from those."""
    for kind in KINDS:
        yield from exact(kind)
    steps = closed_form_induction(Layers("transformer", dynamic=True))
    what = "Transformer with parameters that depend on the input, of which A(x), B + ΔB and C + ΔC are some"
    yield from (replace(e, subject="dynamic") for e in proved(steps, method=Method.INDUCTION, what=what))


def _coefficient(settings: Settings) -> Iterator[Evidence]:
    """A_L…A_{k+1}(C_k + ΔC_k) = A_L…A_{k+1} C_k + A_L…A_{k+1} ΔC_k, from i to i+1 layers."""
    layers, k = Layers("residual"), 1
    closed, C, A = ClosedForm(layers), layers.C(k), layers.A(INDEX + 1)
    before, change = closed.W3(k, INDEX), delta(closed.W3(k, INDEX))
    size = lambda j: (layers.widths(k + j), layers.hidden_widths(k))
    change_of, y = (lambda j: m.Letter("Δ", *size(j), (j,))), m.Letter("y", *size(LAYER - 1))
    weight, own = m.Letter("W", *size(LAYER - 1), (LAYER,)), lambda j: layers.A(k + j)
    products = Induction(
        INDEX,
        LAYER,
        y,
        delta(C),
        own(LAYER) @ (weight + y) - own(LAYER) @ weight,
        change_of(INDEX),
        {change_of(1): own(1) @ delta(C)},
        by_layers({change_of(INDEX + 1): own(INDEX + 1) @ change_of(INDEX)}),
    )
    steps = [
        Step("k layers: the delta is ΔC_k", (C + delta(C)) - C, delta(C)),
        Step("one layer more multiplies it", A @ (before + change) - A @ before, A @ change),
        *inductive(products),
    ]
    yield from proved(steps, method=Method.INDUCTION, what="for every k and L")


def _stray_plus() -> OneEdit:
    """(W'_{j,3} + ΔW_{j+1,3}) + σ((W'_{j,2} + ΔW_{j+1,2}) x_0 + b_{j,2}), and the product that it should be."""
    tuned = lambda name, *sizes: apply("sum", letter(name, *sizes), letter(f"Δ{name}", *sizes))
    inside = apply("product", tuned("W_{j,2}", u.F, u.D), letter("x_0", u.D, 1))
    sigma = apply("σ", apply("sum", inside, letter("b_{j,2}", u.F, 1)))
    formulas = (apply(of, tuned("W_{j,3}", u.D, u.F), sigma) for of in ("sum", "product"))
    return shape(formulas, ("D", "F"), what="(W' + ΔW) + σ(…)")


def _bias_index(bias: m.Expression, settings: Settings) -> Iterator[Evidence]:
    """b_{i+1,1} is the bias of no layer; one layer, everything else right."""
    layers = square_tuned("residual")
    x, wrong = layers.x(1), lambda letter, _: bias if letter == layers.c(1) else None
    value = m.replace_letters(layers.apply(1, layers.x(0)), wrong)
    yield from settle(plain_network(layers, 1), Program({x: value}, x), what="one layer")


# --- the rows --------------------------------------------------------------------------------------------------------

_CLOSED = (duat("4.4", 18), v2("4.4", 17))
_18 = (
    r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})+\sum_{j=1}^{i+1}"
    r"(\mathbf{W}'_{j,3}+\Delta\mathbf{W}_{j+1,3})"
    r"\sigma((\mathbf{W}'_{j,2}+\Delta\mathbf{W}_{j+1,2})\mathbf{x}'_0+\mathbf{b}'_{j,2})"
)
_18_PLUS = _18.replace(r"\sigma", r"+\sigma")
_REPAIRED = "without the stray plus, with Δ of layer j and with b_{i+1,3}"


def _row(name: str, title: str, decide: Any, **others: Any) -> Claim:
    """A row about Eq. 18, refuted unless ``others`` say else."""
    defaults = {
        "ledger": "H2",
        "kind": Kind.ALL_DEPTHS,
        "sources": _CLOSED,
        "otherwise": ("DUAT",),
        "printed": _18,
        "hypotheses": SQUARE,
        "expects": Verdict.REFUTED,
        "correction": "lora.original",
    }
    return Claim(id=f"lora.{name}", title=title, decide=decide, **{**defaults, **others})


CLAIMS = (
    _row(
        "stray-plus",
        "Eq. 18 adds a matrix to a column",
        _stray_plus(),
        kind=Kind.SHAPE,
        sources=(duat("4.4", 18),),
        printed=_18_PLUS,
        otherwise=(),
        reading="with the plus before σ; the second version of the UAT paper has a product there",
        hypotheses=(ELEMENTWISE,),
    ),
    _row(
        "delta-index",
        "the delta of term j is that of layer j+1",
        OneEdit(J + 1, J, _delta_index),
        exact_to=0,
        reading="a product before σ, b_{i+1,3}, and every parameter computed from the tuned weights; there is no layer i+2 "
        "whose deltas the last term could take",
    ),
    _row(
        "bias-index",
        "the bias outside the sum is b_{i+1,1}",
        OneEdit(m.Letter("b", u.D, 1, (1, 1)), square_tuned("residual").c(1), _bias_index),
        kind=Kind.IDENTITY,
        reading="a product before σ and Δ of layer j; no layer has a bias b_{i+1,1}",
    ),
    *(
        _row(
            f"final-values-{kind}",
            f"deltas added to the final parameters of a {title}",
            _reading("final-values", kind),
            exact_to=exact_to,
            reading=f"{_REPAIRED}: ΔW is added to W' as it is after all updates, and b'_{{j,2}} stays as it is",
        )
        for kind, title, exact_to in (("residual", "residual network", 1), ("transformer", "Transformer", 0))
    ),
    _row(
        "transported",
        "deltas that are updated like their weights, with the old biases",
        _reading("transported", *KINDS),
        exact_to=1,
        reading=f"{_REPAIRED}: A_L…A_{{j+1}}ΔW_{{j,3}} and ΔW_{{j,2}}A_j…A_1 are added, and b'_{{j,2}} stays as it is",
    ),
    _row(
        "original",
        "deltas added to the layers' own weights, and every parameter computed anew",
        _original,
        reading=f"{_REPAIRED}: W + ΔW is put in before all updates, so that b'_{{j,2}} is computed from it as well",
        hypotheses=(ELEMENTWISE,),
        expects=Verdict.PROVED,
        correction="",
        printed=r"\hat{W}_{j,2}=(B_j+\Delta B_j)A_jP_{j-1},\ \tilde{W}_j^{(L)}=A_L\cdots A_{j+1}(C_j+\Delta C_j),\ "
        r"\hat{b}_{j,2}=(B_j+\Delta B_j)A_j(q_{j-1}+\textstyle\sum_{k<j}\tilde{W}_k^{(j-1)}s_k)+b_j",
    ),
    _row(
        "coefficient-delta",
        "the delta of the k-th coefficient is A_L…A_{k+1}ΔC_k",
        _coefficient,
        printed=r"\tilde{W}_k^{(L)}\text{ changes by }A_L\cdots A_{k+1}\Delta C_k",
        reading="not printed: what Eq. 18 would have to add to W'_{k,3} in the network of L layers",
        hypotheses=(ELEMENTWISE, "A_j does not change with the deltas: no attention in a later layer"),
        expects=Verdict.PROVED,
        correction="",
    ),
)
