"""Lemma 1, Lemma 2, one layer and the two-layer network: Eq. 19–25 (G1, G2, G3, G4, G5, G6)."""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from uat_jax.decide.confirmation import confirm_steps, proved
from uat_jax.decide.programs import settle
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import ShapeError
from uat_jax.ledger.claim import ELEMENTWISE, SQUARE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, equation
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.updates import W1, W2, W3, Assignment, b2, b3, simultaneous

# --- Lemma 1 -------------------------------------------------------------------------------------------------------


def _lemma_1(settings: Settings) -> Iterator[Evidence]:
    """β Σ_j α_j σ(W_jᵀ x + b_j) = Σ_j (β α_j) σ(W_jᵀ x + b_j) with β ∈ R^{p×q}, α_j ∈ R^{q×r}, W_j ∈ R^{n×r}."""
    p, q, r, n, N = map(m.dimension, "pqrnN")
    j = sympy.Symbol("j", integer=True, positive=True)
    beta, x = m.Letter("β", p, q), m.Letter("x", n, 1)
    alpha, W, b = m.Letter("α", q, r, (j,)), m.Letter("W", n, r, (j,)), m.Letter("b", r, 1, (j,))
    sigma = m.Activation(W.T @ x + b)
    left, right = beta @ m.RangeSum(alpha @ sigma, j, 1, N), m.RangeSum((beta @ alpha) @ sigma, j, 1, N)
    yield from proved(
        [Step("Eq. 19", left, right, {})], method=Method.NORMAL_FORM, what="equal for all shapes and every N"
    )
    summed = lambda term: m.Addition(*(term.xreplace({j: n}) for n in (1, 2, 3)))
    written = Step("Eq. 19", beta @ summed(alpha @ sigma), summed((beta @ alpha) @ sigma), {})
    confirmed = confirm_steps([written], what="N = 3")
    assert confirmed is not None  # three terms can be written out and lowered
    yield confirmed


# --- Lemma 2 -------------------------------------------------------------------------------------------------------


def _fixed_bias() -> OneEdit:
    """A fixed bias would make the argument of the second σ affine in x_0: every second difference would be zero.

    The counterexample's two numbers are second differences: of that argument, and of B_2 A_1 x_0 + β.
    """
    layers = u.square_layers("residual")
    x, e, result = layers.x(0), m.Letter("e", u.D, 1), m.Letter("d", u.F, 1)
    argument = layers.B(2) @ layers.apply(1, x) + layers.b(2)
    written = lambda bias: (layers.B(2) @ layers.A(1)) @ x + bias

    def difference(f: m.Expression) -> Program:
        at = lambda point: m.replace_letters(f, lambda letter, _: point if letter == x else None)
        return Program({result: m.Addition(at(x + e), m.Scaled(-2, f), at(x - e))}, result)

    def decide(inside: m.Expression, settings: Settings) -> Iterator[Evidence]:
        what = "second difference in x_0: that of B_2 A_1 x_0 + β against that of the argument of the second σ"
        yield from settle(difference(argument), difference(inside), what=what)

    return OneEdit(written(m.Letter("β", u.F, 1)), written(_bias_in(layers)), decide)


def _dynamic_bias(settings: Settings) -> Iterator[Evidence]:
    steps = closed_form_induction(Layers("residual"))
    yield from proved(steps, method=Method.INDUCTION, what="DUAT form with input-dependent b̂_{j,2}, for every L")


# --- Eq. 20 and 21 -------------------------------------------------------------------------------------------------


def _one_layer(settings: Settings) -> Iterator[Evidence]:
    """Eq. 20 for x_{i+1}, which is Lemma 2's general term, and for x_1, which is Eq. 21."""
    of, steps = Layers("residual"), []
    for name, j in (("Eq. 20, i → i + 1", INDEX + 1), ("Eq. 21", 1)):
        (A, B, C, b, c), x = of.parameters(j), of.x(j - 1)
        steps.append(Step(name, of.x(j), (A @ x + c) + C @ m.Activation(B @ x + b), {of.x(j): of.apply(j, x)}))
    yield from proved(steps, method=Method.NORMAL_FORM, what="affine part and one σ-term, for all shapes")


# --- Eq. 22 and 23 -------------------------------------------------------------------------------------------------


def _equation_22(settings: Settings) -> Iterator[Evidence]:
    """Every line of Eq. 22 equals x_2."""
    of = Layers("residual")
    A1, B1, C1, b1, c1 = of.parameters(1)
    A2, B2, C2, b2_, c2 = of.parameters(2)
    x, sigma = of.x(0), m.Activation
    s1 = sigma(B1 @ x + b1)
    x1 = (A1 @ x + c1) + C1 @ s1
    lines = [
        A2 @ of.x(1) + C2 @ sigma(B2 @ of.x(1) + b2_) + c2,
        (A2 @ of.x(1) + c2) + C2 @ sigma(B2 @ of.x(1) + b2_),
        (A2 @ x1 + c2) + C2 @ sigma(B2 @ x1 + b2_),
        (A2 @ (A1 @ x + c1) + c2 + A2 @ C1 @ s1) + C2 @ sigma(B2 @ (A1 @ x + c1) + b2_ + B2 @ C1 @ s1),
        (A2 @ A1 @ x + A2 @ c1 + c2 + A2 @ C1 @ s1) + C2 @ sigma(B2 @ A1 @ x + (B2 @ c1 + b2_) + B2 @ C1 @ s1),
    ]
    network = of.apply(2, of.apply(1, x))
    steps = [Step(f"line {n}", line, network, {of.x(1): x1}) for n, line in enumerate(lines, 1)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="all five lines equal x_2, for all shapes")


_LETS = (
    Assignment(W1(2), W1(2) @ W1(1)),
    Assignment(b3(2), W1(2) @ b3(1) + b3(2)),
    Assignment(W3(1), W1(2) @ W3(1)),
    Assignment(W2(2), W2(2) @ W1(1)),
    Assignment(b2(2), (W2(2) @ b3(1) + b2(2)) + W2(2) @ W3(1) @ m.Activation(W2(1) @ u.X0 + b2(1))),
)
_LETS_LATEX = (
    r"\mathbf{W}'_{2,1}=\mathbf{W}'_{2,1}\mathbf{W}'_{1,1},\ \mathbf{b}'_{2,1}=\mathbf{W}'_{2,1}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,3},\ "
    r"\mathbf{W}'_{1,3}=\mathbf{W}'_{2,1}\mathbf{W}'_{1,3},\ \mathbf{W}'_{2,2}=\mathbf{W}'_{2,2}\mathbf{W}'_{1,1},\ "
    r"\mathbf{b}'_{2,2}=(\mathbf{W}'_{2,2}\mathbf{b}'_{1,3}+\mathbf{b}'_{2,2})"
    r"+\mathbf{W}'_{2,2}\mathbf{W}'_{1,3}\sigma(\mathbf{W}'_{1,2}\mathbf{x}'_0+\mathbf{b}'_{1,2})"
)


def _equation_23(order: str, settings: Settings) -> Iterator[Evidence]:
    pair = plain_network(u.square_layers("residual"), 2), u.execute("residual", 2, [u.ORDERS[order](_LETS)])
    yield from settle(*pair, what="Eq. 23 with its assignments")


def _named(lets: tuple[Assignment, ...], settings: Settings) -> Iterator[Evidence]:
    """v2 (6) assigns W_{2,2}W_{1,1} to W_{2,3}: the shapes clash, and where F = D the value is wrong."""
    try:
        u.run(
            u.originals("residual", 2),
            [simultaneous(lets)],
            u.square_layers("residual").x(2),
            u.closed_form_33(2),
        )
    except ShapeError as error:
        yield Evidence(Method.SHAPES, f"not defined unless F = D: {error}", Verdict.UNKNOWN)
    square = Layers("residual", widths=lambda j: u.D, hidden_widths=lambda j: u.D)
    names = {u.F: u.D}
    at = lambda e: e.xreplace(names)
    store = {at(v): at(value) for v, value in u.originals("residual", 2).items()}
    program = u.run(
        store,
        [simultaneous([Assignment(at(a.target), at(a.value)) for a in lets])],
        square.x(2),
        at(u.closed_form_33(2)),
    )
    yield from settle(plain_network(square, 2), program, what="with F = D")


def _v2_lets(target) -> tuple[Assignment, ...]:
    """The assignments with W_{2,2}W_{1,1} given to ``target(2)``."""
    return (*_LETS[:3], Assignment(target(2), W2(2) @ W1(1)), _LETS[4])


# --- b_{2,2} -------------------------------------------------------------------------------------------------------


def nested_bias() -> m.Expression:
    """b̂_{2,2} = (B_2 c_1 + b_2) + B_2 C_1 σ(B_1 x_0 + b_1)."""
    return _bias_in(Layers("residual"))


def _bias_in(of: Layers) -> m.Expression:
    _, B1, C1, b1, c1 = of.parameters(1)
    _, B2, _, b2_, _ = of.parameters(2)
    return (B2 @ c1 + b2_) + B2 @ C1 @ m.Activation(B1 @ of.x(0) + b1)


def _constant_and_sum(settings: Settings) -> Iterator[Evidence]:
    """The evidence that what stands inside the second σ is B_2 A_1 x_0, a constant and one σ-term."""
    of = Layers("residual")
    A1, B2, b2_ = of.A(1), of.B(2), of.b(2)
    argument = B2 @ of.apply(1, of.x(0)) + b2_
    step = Step("b_{2,2}", argument, (B2 @ A1) @ of.x(0) + nested_bias())
    yield from proved([step], method=Method.NORMAL_FORM, what="a constant and a UAT sum of one term")


def _sum_alone() -> OneEdit:
    """b̂_{2,2} against its σ-term."""
    of = Layers("residual")
    _, B1, C1, b1, _ = of.parameters(1)
    term = of.B(2) @ C1 @ m.Activation(B1 @ of.x(0) + b1)
    step = Step("b_{2,2}", nested_bias(), term)
    return equation(step, m.Addition(of.B(2) @ of.c(1), of.b(2), term), what="b_{2,2} against its σ-term")


def _constant_as_term(settings: Settings) -> Iterator[Evidence]:
    """A constant column k is κ σ(0 x_0 + t) with κ = k/σ(t): one more term, if σ(t) ≠ 0 for some t."""
    of = Layers("residual")
    _, B1, C1, b1, c1 = of.parameters(1)
    t, factor = m.Letter("t", 1, 1), m.Letter("κ", of.hidden_widths(2), 1)
    constant = factor @ m.Activation(m.Zero(1, of.widths(0)) @ of.x(0) + t)
    sum_ = constant + (of.B(2) @ C1) @ m.Activation(B1 @ of.x(0) + b1)
    where = {of.b(2): factor @ m.Activation(t) - of.B(2) @ c1}
    yield from proved(
        [Step("κ σ(t) = B_2 c_1 + b_2", nested_bias(), sum_, where)], method=Method.NORMAL_FORM, what="two terms"
    )


CLAIMS = (
    Claim(
        id="lemma-1",
        title="a matrix times a UAT sum is a UAT sum",
        ledger="G1",
        kind=Kind.IDENTITY,
        sources=(duat("B.1", 19), v2("C.1", 3)),
        printed=r"G(\mathbf{x})=\beta\sum_{j=1}^{N}\alpha_j\sigma(\mathbf{W}_j^{\mathrm{T}}\mathbf{x}+\mathbf{b}_j)"
        r"=\sum_{j=1}^{N}\beta\alpha_j\sigma(\mathbf{W}_j^{\mathrm{T}}\mathbf{x}+\mathbf{b}_j)",
        reading="α_j are matrices (v2, DUAT §2.1), as they must be for βα_j to be one of them",
        expects=Verdict.PROVED,
        decide=_lemma_1,
    ),
    Claim(
        id="lemma-2.fixed-bias",
        title="the σ-terms of a multi-layer network have fixed biases",
        ledger="G2",
        kind=Kind.EXISTENCE,
        sources=(v2("C.1"), duat("B.2")),
        printed=r"\text{The multi-layer network of this form still corresponds to the mathematical form of UAT}",
        otherwise=("DUAT",),
        reading="UAT: the network's own σ-terms, written on x_0, have parameters that do not depend on the input, so that "
        "the argument of the second σ is w x_0 + β (whether some other fixed sum equals the network depends on σ)",
        expects=Verdict.REFUTED,
        correction="lemma-2.dynamic-bias",
        decide=_fixed_bias(),
    ),
    Claim(
        id="lemma-2.dynamic-bias",
        title="a multi-layer network is a UAT sum with input-dependent biases",
        ledger="G2",
        kind=Kind.ALL_DEPTHS,
        sources=(duat("B.2"),),
        printed=r"\text{A multi-layer network structured in this way aligns with the mathematical form of DUAT}",
        reading="DUAT: b_{j,2} may depend on the input, by its own UAT sum",
        expects=Verdict.PROVED,
        decide=_dynamic_bias,
    ),
    Claim(
        id="eq-20-21",
        title="the general term of a residual network, and one layer",
        ledger="G3",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 20, 21), v2("C.1", 4)),
        printed=r"\mathbf{x}'_1=(\mathbf{W}'_{1,1}\mathbf{x}'_0+\mathbf{b}'_{1,3})+\mathbf{W}'_{1,3}\sigma(\mathbf{W}'_{1,2}\mathbf{x}'_0+\mathbf{b}'_{1,2})",
        reading="Lemma 2 has x_{i+1} for x_i and i = 0, 1, … for i = 1, 2, …: the same",
        expects=Verdict.PROVED,
        decide=_one_layer,
    ),
    Claim(
        id="b22.constant-and-sum",
        title="b_{2,2} is a constant and a UAT sum",
        ledger="G6",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 24, 25),),
        printed=r"\text{except for the initial term, }\mathbf{b}'_{2,2}\text{ also follows the same mathematical form as UAT}",
        expects=Verdict.PROVED,
        decide=_constant_and_sum,
    ),
    Claim(
        id="b22.sum-alone",
        title="b_{2,2} is the UAT sum of the first layer, without a constant",
        ledger="G6",
        kind=Kind.IDENTITY,
        sources=(v2("C.1", 6),),
        printed=r"\mathbf{b}'_{2,2}\text{ clearly has the same mathematical form as UAT}",
        reading="its own σ-term is all of it",
        expects=Verdict.REFUTED,
        correction="b22.constant-and-sum",
        decide=_sum_alone(),
    ),
    Claim(
        id="b22.constant-as-term",
        title="b_{2,2} is a UAT sum of two terms, one of them constant",
        ledger="G6",
        kind=Kind.IDENTITY,
        sources=(v2("C.1", 6),),
        printed=r"\mathbf{b}'_{2,2}\text{ clearly has the same mathematical form as UAT}",
        reading="the constant is a term κ σ(0 x_0 + t) with κ = (B_2 c_1 + b_2)/σ(t)",
        hypotheses=(ELEMENTWISE, "σ(t) ≠ 0 for some t"),
        expects=Verdict.PROVED,
        decide=_constant_as_term,
    ),
    Claim(
        id="eq-22",
        title="the two-layer network written out, line by line",
        ledger="G4",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 21, 22), v2("C.1", 4, 5)),
        printed=r"\mathbf{x}'_2=\mathbf{W}'_{2,1}\mathbf{x}'_1+\mathbf{W}'_{2,3}\sigma(\mathbf{W}'_{2,2}\mathbf{x}'_1+\mathbf{b}'_{2,2})+\mathbf{b}'_{2,3}=\cdots",
        expects=Verdict.PROVED,
        decide=_equation_22,
    ),
    Claim(
        id="eq-23.simultaneous",
        title="Eq. 23 with its five assignments made at once",
        ledger="G5",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 23, 25),),
        printed=_LETS_LATEX,
        reading="every right-hand side is the original value; b_{2,1} is a slip for b_{2,3}",
        hypotheses=SQUARE,
        expects=Verdict.PROVED,
        decide=lambda settings: _equation_23("at once", settings),
    ),
    Claim(
        id="eq-23.sequential",
        title="Eq. 23 with its five assignments made one after the other",
        ledger="G5",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 23, 25),),
        printed=_LETS_LATEX,
        reading="each assignment overwrites; b_{2,1} is a slip for b_{2,3}",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="eq-23.simultaneous",
        decide=OneEdit("one after the other", "at once", _equation_23),
    ),
    Claim(
        id="eq-23.v2-index",
        title="v2's W_{2,3} = W_{2,2}W_{1,1} in Eq. 23",
        ledger="G5",
        kind=Kind.IDENTITY,
        sources=(v2("C.1", 6),),
        printed=r"\mathbf{W}'_{2,3}=\mathbf{W}'_{2,2}\mathbf{W}'_{1,1}",
        reading="every right-hand side is the original value",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="eq-23.simultaneous",
        decide=OneEdit(_v2_lets(u.W3), _v2_lets(u.W2), _named),
    ),
)  # fmt: skip
