"""The sum UAT_i^R of the papers' induction: its definition and its recursion, in four readings (G9, G10)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.shapes import settle_shape
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import SQUARE, Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit, apply, equation, letter
from uat_jax.ledger.source import Source, duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step

i, j = INDEX, INDEX + 1

Factor = Callable[[m.Expression, m.Expression], m.Expression]
"""(A_{i+1}, Ŵ_{i,1}) → what stands before UAT_i^R."""


def recursion(kind: str, factor: Factor) -> Step:
    """UAT_{i+1}^R, what layer i+1 adds to the affine part, against factor · UAT_i^R + W_{i+1,3} σ(…)."""
    of = u.square_layers(kind)
    closed, x_0 = ClosedForm(of), of.x(0)
    A, B, C, b, c = of.parameters(j)
    P, q, remainder = closed.W1(i), closed.b3(i), closed.u(i)
    inner = B if kind == "residual" else B @ A
    affine = (A @ P) @ x_0 + (A @ q + c)
    true = of.apply(j, m.Addition(P @ x_0, q, remainder)) - affine
    sigma = m.Activation((inner @ P) @ x_0 + m.Addition(inner @ q, b, inner @ remainder))
    return Step("UAT_{i+1}^R", true, factor(A, P) @ remainder + C @ sigma)


def original(A: m.Expression, P: m.Expression) -> m.Expression:
    """W_{i+1,1} is layer i+1's own A_{i+1}."""
    return A


def overwritten(A: m.Expression, P: m.Expression) -> m.Expression:
    """W_{i+1,1} is A_{i+1} Ŵ_{i,1}, as the sentence before has just set it."""
    return A @ P


def absent(A: m.Expression, P: m.Expression) -> m.Expression:
    """Nothing stands before UAT_i^R."""
    return m.Identity(u.D)


def _decide(kind: str, factor: Factor, correction: Factor | None = None) -> Callable[[Settings], Iterable[Evidence]]:
    step, what = recursion(kind, factor), f"{kind} network, for every i"
    if correction is None:
        return lambda settings: settle_equation(step, what=what)
    return equation(step, recursion(kind, correction).right, what=what)


def _definition(inner: int, settings: Settings) -> Iterator[Evidence]:
    """x_i = (W_{i,1} x_0 + b_{i,3}) + W_{j,n+1} σ(W_{j,n} x_0 + b_{j,n}), n the number inside σ; W_{j,1} is D × D."""
    D, F = map(m.dimension, "DF")
    shapes = {1: (D, D), 2: (F, D), 3: (D, F)}
    matrix = lambda number: letter(f"W_{{j,{number}}}", *shapes[number])
    bias = lambda number: letter(f"b_{{j,{number}}}", shapes[number][0], 1)
    x = letter("x_0", D, 1)
    sigma = apply("σ", apply("sum", apply("product", matrix(inner), x), bias(inner)))
    affine = apply("product", letter("W_{i,1}", D, D), x), letter("b_{i,3}", D, 1)
    formula = apply("sum", *affine, apply("product", matrix(inner + 1), sigma))
    build = lambda *sizes: formula.at(dict(zip((D, F), sizes, strict=True)))
    yield settle_shape(build, ("D", "F"), what="x_i with UAT_i^R as printed")


_RECURSION = r"UAT^R_{i+1}=\mathbf{W}'_{i+1,1}UAT^R_i+\mathbf{W}'_{i+1,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}'_0+\mathbf{b}'_{i+1,2})"
_RECURSION_V2 = r"UAT^R_{i+1}=UAT^R_i+\mathbf{W}'_{i+1,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}_0+\mathbf{b}_{i+1,2})"
_UPDATED = "W_{i+1,2} and b_{i+1,2} are those of Eq. 27"


def _recursion_claim(
    name: str, title: str, printed: str, source: Source, read: str | None, decide: Decide, correction: str = ""
) -> Claim:
    return Claim(
        id=f"remainder.{name}",
        title=title,
        ledger="G10",
        kind=Kind.ALL_DEPTHS,
        sources=(source,),
        printed=printed,
        reading=f"{(read or '').removesuffix('.')}; {_UPDATED}",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED if correction else Verdict.PROVED,
        correction=correction,
        decide=decide,
    )


CLAIMS = (
    Claim(
        id="remainder.definition",
        title="UAT_i^R as a sum of W_{j,2} σ(W_{j,1} x_0 + b_{j,1})",
        ledger="G9",
        kind=Kind.SHAPE,
        sources=(duat("B.2"),),
        printed=r"UAT_i^R=\sum_{j=1}^i\mathbf{W}'_{j,2}\sigma(\mathbf{W}'_{j,1}\mathbf{x}'_0+\mathbf{b}'_{j,1})",
        reading="the indices as printed; App. B.3 has W_{j,3} σ(W_{j,2} x_0 + b_{j,2})",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="residual.closed-form",
        decide=OneEdit(1, 2, _definition),
    ),
    _recursion_claim(
        "original", "UAT_{i+1}^R from UAT_i^R with the layer's own W_{i+1,1}", _RECURSION, duat("B.2", 27),
        original.__doc__, _decide("residual", original),
    ),
    _recursion_claim(
        "overwritten", "UAT_{i+1}^R from UAT_i^R with the product W_{i+1,1}W_{i,1}", _RECURSION, duat("B.2", 27),
        overwritten.__doc__, _decide("residual", overwritten, original), "remainder.original",
    ),
    _recursion_claim(
        "v2", "v2's UAT_{i+1}^R, UAT_i^R as it was defined", _RECURSION_V2, v2("C.2", 11),
        absent.__doc__, _decide("transformer", absent, original), "remainder.v2-assigned",
    ),
    _recursion_claim(
        "v2-assigned", "v2's UAT_{i+1}^R after UAT_i^R = W_{i+1,1} UAT_i^R", _RECURSION_V2, v2("C.2", 11),
        "UAT_i^R has been replaced by W_{i+1,1} UAT_i^R", _decide("transformer", original),
    ),
)  # fmt: skip
