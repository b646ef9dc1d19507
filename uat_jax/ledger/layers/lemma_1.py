"""Lemma 1 with the coefficients of v1, which are diagonal, and for functions into the numbers (G1).

    β Σ_j α_j σ(W_jᵀ x + b_j) = Σ_j (β α_j) σ(W_jᵀ x + b_j)

β α_j is not diagonal (lemma-1.diagonal).  Row by row, though, the left side is a sum of m N terms
with diagonal coefficients.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.foundations.elementary import equations
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

j, k = (sympy.Symbol(name, integer=True, positive=True) for name in "jk")
N, ROWS, n = m.dimension("N"), m.dimension("m"), m.dimension("n")


def row_by_row() -> Step:
    """Row i of the left side: Σ_k β_{ik} Σ_j α_{jk} σ(z_{jk}) = Σ_k Σ_j (β_{ik} α_{jk}) σ(z_{jk}), z_{jk} = w_{jk} x + b_{jk}.

    Term (j, k) of the right side has the same argument z_{jk} in every row i and the coefficient β_{ik} α_{jk} there:
    a diagonal matrix with those entries, and W, b with all columns and entries equal.
    """
    number = lambda name, *subscripts: m.Letter(name, 1, 1, subscripts)
    i = sympy.Symbol("i", integer=True, positive=True)
    w, x = m.Letter("w", 1, n, (j, k)), m.Letter("x", n, 1)
    sigma = m.Activation(w @ x + number("b", j, k))
    beta, alpha = number("β", i, k), number("α", j, k)
    left = m.RangeSum(beta @ m.RangeSum(alpha @ sigma, j, 1, N), k, 1, ROWS)
    right = m.RangeSum(m.RangeSum((beta @ alpha) @ sigma, j, 1, N), k, 1, ROWS)
    return Step("row i", left, right)


def _more_terms(settings: Settings) -> Iterator[Evidence]:
    """Row i of β Σ_j α_j σ(…), for all m, n and N."""
    yield from proved(
        [row_by_row()], method=Method.NORMAL_FORM, what="m N terms with diagonal coefficients, for all shapes"
    )


def scalar_case() -> Step:
    """Eq. 19 with m = 1: α_j ∈ R^{1×r}, β a number."""
    r = m.dimension("r")
    beta, alpha = m.Letter("β", 1, 1), m.Letter("α", 1, r, (j,))
    W, b, x = m.Letter("W", n, r, (j,)), m.Letter("b", r, 1, (j,)), m.Letter("x", n, 1)
    sigma = m.Activation(W.T @ x + b)
    return Step("Eq. 19, m = 1", beta @ m.RangeSum(alpha @ sigma, j, 1, N), m.RangeSum((beta @ alpha) @ sigma, j, 1, N))


def _scalar(settings: Settings) -> Iterator[Evidence]:
    """The case f(x) ∈ R."""
    yield from proved([scalar_case()], method=Method.NORMAL_FORM, what="for all shapes and every N")


def entry_beside(value: sympy.Expr, settings: Settings) -> Iterator[Evidence]:
    """Whether entry (1, 2) of β α is that number for α = diag(a_1, a_2), m = 2."""
    a = sympy.symbols("a_1 a_2")
    b = sympy.Matrix(2, 2, sympy.symbols("β_11 β_12 β_21 β_22"))
    found = (b * sympy.diag(*a))[0, 1]
    if sympy.expand(found - value) == 0:
        yield equations({"(β α)_12": (found, value)}, what="α = diag(a_1, a_2)")
        return
    ones = dict.fromkeys(found.free_symbols, 1)
    at = {str(symbol): 1 for symbol in sorted(ones, key=str)}
    yield exhibit_numbers(
        found.xreplace(ones), value, at=at, what="entry (1, 2) of β α, α diagonal", names=("β α", "diagonal")
    )


CLAIMS = (
    Claim(
        id="lemma-1.diagonal",
        title="Lemma 1 with the diagonal coefficients of v1",
        ledger="G1",
        kind=Kind.IDENTITY,
        sources=(v1("2"), v2("C.1", 3)),
        printed=r"\alpha_j\text{ diagonal }\Rightarrow\ \beta\alpha_j\text{ diagonal}",
        reading="not printed: Lemma 1 said of v1's diagonal α_j, which β α_j would have to be again; m = 2",
        ours=True,
        expects=Verdict.REFUTED,
        correction="lemma-1.diagonal-more-terms",
        decide=OneEdit(sympy.Integer(0), sympy.Symbol("β_12") * sympy.Symbol("a_2"), entry_beside),
    ),
    Claim(
        id="lemma-1.scalar",
        title="the case f(x) ∈ R of Lemma 1",
        ledger="G1",
        kind=Kind.IDENTITY,
        sources=(duat("B.1", 19), v2("C.1")),
        printed=r"\text{the case where }f(\mathbf{x})\in\mathbb{R}\text{ can be inferred from }f(\mathbf{x})\in\mathbb{R}^m",
        reading="m = 1",
        expects=Verdict.PROVED,
        decide=_scalar,
    ),
    Claim(
        id="lemma-1.diagonal-more-terms",
        title="Lemma 1 with diagonal α_j and m N terms",
        ledger="G1",
        kind=Kind.IDENTITY,
        sources=(v1("2"), v2("C.1", 3)),
        printed=r"\Big(\beta\sum_{j=1}^N\alpha_j\sigma(\mathbf{z}_j)\Big)_i=\sum_{k=1}^m\sum_{j=1}^N(\beta_{ik}\alpha_{jk})\sigma(z_{jk})",
        reading="α_j is diagonal with entries α_{jk}, z_j = W_jᵀ x + b_j; the form is kept with m N terms for N",
        expects=Verdict.PROVED,
        decide=_more_terms,
    ),
)  # fmt: skip
