"""What a sum with fixed parameters can do: several functions at once (A7), and telling near inputs apart (A8)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy
from sympy import Rational

from uat_jax.decide.inequalities import enclosed, proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.foundations.elementary import equations
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2

# --- A7: one fixed sum, several functions ----------------------------------------------------------------------------

RAMP = lambda u: sympy.Min(sympy.Max(u, 0), 1)
"""A continuous sigmoidal σ: 0 up to 0, then u, then 1 from 1 on."""
RELU = lambda u: sympy.Max(u, 0)


def two_terms(x: sympy.Symbol, t: int) -> sympy.Expr:
    """G(x, t) = σ(x − t) + σ(t − x), σ the ramp: a fixed sum of two terms on the square."""
    return RAMP(x - t) + RAMP(t - x)


def on_both_sides(first: Callable[[Any], Any], second: Callable[[Any], Any]) -> Iterator[Evidence]:
    """G(x, 0) and G(x, 1) as functions of x on all of [0, 1]."""
    x = sympy.Symbol("x", real=True)
    for t, f in ((0, first), (1, second)):
        what = f"G(x, {t}) = {f(x)} for 0 ≤ x ≤ 1"
        yield proved_inequality(sympy.Eq(two_terms(x, t), f(x)), [x >= 0, x <= 1], what=what, subject=f"t = {t}")


def _one_function(prompts: tuple[int, int], settings: Settings) -> Iterator[Evidence]:
    """Whether the fixed sum is one function of x at these two values of t."""
    x = sympy.Symbol("x", real=True)
    yield from on_both_sides(lambda x: x, lambda x: 1 - x)
    same = sympy.Eq(*(two_terms(x, t) for t in prompts))
    what = f"G(x, {prompts[0]}) = G(x, {prompts[1]}) for 0 ≤ x ≤ 1, G(x, t) = σ(x − t) + σ(t − x), σ the ramp"
    yield proved_inequality(same, [x >= 0, x <= 1], what=what)


def switch(largest: Callable[[Any], Any]) -> Iterator[Evidence]:
    """σ(z − M(1 − t)) is σ(z) for t = 1 and 0 for t = 0, if z ≤ ``largest(M)``, which must be M."""
    z, M, u = sympy.symbols("z M u", real=True)
    for name, sigma in (("ramp", RAMP), ("relu", RELU)):
        for t, state, value in ((0, "off", 0), (1, "on", sigma(z))):
            inside = [z <= largest(M), sympy.Eq(u, z - M * (1 - t))]
            what = f"{name}: a term is {state} for t = {t}"
            yield proved_inequality(sympy.Eq(sigma(u), value), inside, what=what, subject=f"{name}, {state}")


def largest_argument(bound: Callable[[Any, Any], Any]) -> Evidence:
    """w x + θ ≤ ``bound(w, θ)`` = max(w, 0) + θ for 0 ≤ x ≤ 1; summed over the coordinates this is M."""
    x = sympy.Symbol("x", nonnegative=True)
    w, theta = sympy.symbols("w θ", real=True)
    what = "w x + θ ≤ max(w, 0) + θ on the cube"
    return proved_inequality(w * x + theta <= bound(w, theta), [x <= 1], what=what, subject="M")


def _selected(settings: Settings) -> Iterator[Evidence]:
    yield from switch(lambda M: M)
    yield largest_argument(lambda w, theta: RELU(w) + theta)


# --- A8: similar inputs ---------------------------------------------------------------------------------------------


def _logistic(x: Any) -> Any:
    return 1 / (1 + (-x).exp())


NEAR = (Rational(501, 1000), Rational(499, 1000))
"""Two inputs that are 0.002 apart."""


def _similar(distance: Any, settings: Settings) -> Iterator[Evidence]:
    """Whether G(t) = logistic(2000(t − 1/2)) differs by less than that between two near inputs."""
    at = [2000 * (t - Rational(1, 2)) for t in NEAR]
    box = [(value, value) for value in at]
    what = f"G({NEAR[0]}) − G({NEAR[1]}), G(t) = logistic(2000(t − 1/2))"
    yield enclosed(lambda u, v: _logistic(u) - _logistic(v), box, below=distance, what=what)


def steep_term(gap: Any) -> Iterator[Evidence]:
    """G(t) = logistic(4(t − 1/2)/δ) differs by tanh 1 > ``gap`` between 1/2 − δ/2 and 1/2 + δ/2, for every δ > 0."""
    delta, t = sympy.Symbol("δ", positive=True), sympy.Symbol("t", real=True)
    argument = 4 / delta * (t - Rational(1, 2))
    half = Rational(1, 2)
    ends: dict[str, Any] = {
        f"argument {2 * s} at 1/2 {sign} δ/2": (argument.subs(t, half + s * delta / 2), 2 * s)
        for s, sign in ((1, "+"), (-1, "−"))
    }
    sigma = lambda u: 1 / (1 + sympy.exp(-u))
    difference = lambda of, u: of(u) - of(-u)
    ends["logistic(2) − logistic(−2) = tanh 1"] = (difference(sigma, 2), sympy.tanh(1).rewrite(sympy.exp))
    yield equations(ends, what="for every δ > 0", subject="values")
    distance = lambda u: difference(_logistic, u)
    yield enclosed(distance, [(2, 2)], above=gap, what="logistic(2) − logistic(−2)", subject="their distance")


# --- the rows -------------------------------------------------------------------------------------------------------

_SECTION_4_1 = (v1("4.1"), v2("4.1"), duat("4.1"))

CLAIMS = (
    Claim(
        id="uat.one-function",
        otherwise=("v1", "v2"),
        title="a sum with fixed parameters can fit only one function",
        ledger="A7",
        kind=Kind.EXISTENCE,
        sources=(duat("2.3"), *_SECTION_4_1),
        printed=r"\text{it can only fit one function within a closed interval}",
        reading="the function being the dependence on x, while another input t (the prompt) says which is wanted, as in "
        "the papers' example of summarising and translating one text",
        hypotheses=("σ is the ramp min(max(u, 0), 1), continuous and sigmoidal",),
        expects=Verdict.REFUTED,
        correction="uat.one-function.selected",
        decide=OneEdit((0, 1), (0, 0), _one_function),
    ),
    Claim(
        id="uat.one-function.selected",
        title="one fixed sum contains any K sums, and an input selects among them",
        ledger="A7",
        kind=Kind.EXISTENCE,
        sources=(duat("2.3"), *_SECTION_4_1),
        printed=r"G(\mathbf{x},\mathbf{t})=\sum_{k=1}^{K}\sum_{j=1}^{N}\alpha_{kj}\sigma(\mathbf{W}_{kj}^T\mathbf{x}+\theta_{kj}-M(1-t_k)),"
        r"\quad G(\mathbf{x},\mathbf{e}_k)=\sum_{j=1}^{N}\alpha_{kj}\sigma(\mathbf{W}_{kj}^T\mathbf{x}+\theta_{kj})",
        reading="t = e_k leaves the terms of the k-th sum as they are and puts out all others; M is at least every "
        "argument on the cube. With the theorem, one fixed sum is within ε of any K continuous functions",
        hypotheses=("σ is the ramp min(max(u, 0), 1) or relu", "x is in the cube I_n, t one of e_1, …, e_K"),
        expects=Verdict.PROVED,
        decide=_selected,
    ),
    Claim(
        id="uat.similar-inputs",
        otherwise=("v1",),
        title="with fixed parameters nearly identical inputs give similar outputs",
        ledger="A8",
        kind=Kind.EXISTENCE,
        sources=(*_SECTION_4_1, v2("Fig. 6")),
        printed=r"\text{will result in identical or similar outputs}",
        reading="inputs 0.002 apart, outputs less than 1/2 apart, where σ ranges over an interval of length 1: they are 0.76",
        hypotheses=("σ is the logistic function",),
        expects=Verdict.REFUTED,
        correction="uat.similar-inputs.corrected",
        decide=OneEdit(Rational(1, 2), Rational(4, 5), _similar),
    ),
    Claim(
        id="uat.similar-inputs.corrected",
        title="however near two inputs are, one fixed term tells them apart",
        ledger="A8",
        kind=Kind.EXISTENCE,
        sources=(*_SECTION_4_1, v2("Fig. 6")),
        printed=r"G(t)=\sigma\left(\tfrac{4}{\delta}(t-\tfrac12)\right),\quad "
        r"G(\tfrac12+\tfrac{\delta}{2})-G(\tfrac12-\tfrac{\delta}{2})=\tanh 1>\tfrac34",
        reading="for every δ > 0. What remains is continuity: any one network, a Transformer too, gives near outputs for "
        "inputs that are near enough, so that it does not divide the two",
        hypotheses=("σ is the logistic function",),
        expects=Verdict.PROVED,
        decide=lambda settings: steep_term(Rational(3, 4)),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="uat.one-function.whole-input",
        ledger="A7",
        status=Status.NO_CONTENT,
        sources=(duat("2.3"), *_SECTION_4_1),
        says="A network whose parameters are fixed is one function.",
        note="True of its whole input, and just as true of a trained Transformer: it divides nothing.",
    ),
)  # fmt: skip
