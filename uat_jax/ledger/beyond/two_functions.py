"""One sum between two functions: what the right half of DUAT's Fig. 2 compares, as statements (A7).

Data of two kinds have densities p(x) and q(x) and values a(x) and b(x).  One function g is fitted to both, whatever family
it is taken from: fixed sums, dynamic ones, anything.

    squared error    ∫ p (g − a)² + q (g − b)²       the nearest g to the weighted mean (p a + q b) / (p + q)
    absolute error   ∫ p |g − a| + q |g − b|         a where p > q, b where q > p: the majority

What tells the kinds apart is an input t on which parameters may depend.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import sympy
from sympy import Eq, Rational

from uat_jax.decide.confirmation import proved
from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.foundations.elementary import equations
from uat_jax.ledger.source import duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

p, q = sympy.symbols("p q", positive=True)
a, b, g = sympy.symbols("a b g", real=True)

# --- squared errors -----------------------------------------------------------------------------------------------------


def mean(p: Any, q: Any, a: Any, b: Any) -> sympy.Expr:
    """(p a + q b) / (p + q)."""
    return (p * a + q * b) / (p + q)


def squared(p: Any, q: Any, a: Any, b: Any, g: Any) -> sympy.Expr:
    """p (g − a)² + q (g − b)²."""
    return p * (g - a) ** 2 + q * (g - b) ** 2


def completed_square(weight: sympy.Expr = p + q) -> Evidence:
    """The error is ``weight`` = p + q times (g − mean)², and a rest without g."""
    rest = p * q / (p + q) * (a - b) ** 2
    claimed = weight * (g - mean(p, q, a, b)) ** 2 + rest
    pairs = {"p (g − a)² + q (g − b)² = (p + q)(g − mean)² + p q (a − b)² / (p + q)": (squared(p, q, a, b, g), claimed)}
    return equations(pairs, what="at every x")


def one_function_more() -> Evidence:
    """A third function c of density r: the mean of the first two, with density p + q, and c have the mean of all three."""
    r, c = sympy.Symbol("r", positive=True), sympy.Symbol("c", real=True)
    three = (p * a + q * b + r * c) / (p + q + r)
    together = sympy.Mul(p + q, mean(p, q, a, b), evaluate=False)
    two = sympy.Mul(sympy.Add(together, r * c, evaluate=False), 1 / (p + q + r), evaluate=False)
    pairs = {"the mean of three is a mean of two": (two, three)}
    return equations(pairs, what="any number of functions, one after another")


def _squared(settings: Settings) -> Iterator[Evidence]:
    yield completed_square()
    yield one_function_more()


DENSITIES = Rational(3, 4), Rational(1, 4)
"""The dense kind and the other; it has the values 1, the other 0."""


def _densest(value: sympy.Expr, settings: Settings) -> Iterator[Evidence]:
    """At one x: whether the least squared error is at ``value``, as it is at 3/4; the dense kind has the value 1."""
    dense, sparse = DENSITIES
    best = mean(dense, sparse, 1, 0)
    if value == best:
        yield completed_square()
        return
    errors = [squared(dense, sparse, 1, 0, g) for g in (best, value)]
    assert errors[0] < errors[1]
    at = {"p": "3/4", "q": "1/4", "a": 1, "b": 0, "least error": str(errors[0]), "error there": str(errors[1])}
    yield exhibit_numbers(
        best, value, at=at, what="the value of least squared error", names=("least squares", "the densest")
    )


# --- absolute errors ----------------------------------------------------------------------------------------------------


u, v, w = sympy.symbols("|g−a| |g−b| |a−b|", nonnegative=True)
LEAD = sympy.Symbol("l", nonnegative=True)
"""p = q + l."""


def triangle() -> Evidence:
    """|a − b| ≤ |g − a| + |g − b|."""
    return proved_inequality(abs(a - b) <= abs(g - a) + abs(g - b), [], what="the triangle inequality")


def majority() -> Iterator[Evidence]:
    """p |g − a| + q |g − b| is least at a if p ≥ q, where it is q |a − b|, and there alone if p > q."""
    error = lambda lead: (q + lead) * u + q * v
    more = sympy.Symbol("l", positive=True)
    yield proved_inequality(q * w <= error(LEAD), [w <= u + v], what="where p ≥ q: the error at a is least")
    yield proved_inequality(q * w < error(more), [w <= u + v, u > 0], what="where p > q: any other g is worse")


def _absolute(settings: Settings) -> Iterator[Evidence]:
    yield triangle()
    yield from majority()


# --- dynamic sums -------------------------------------------------------------------------------------------------------


def one_value() -> Evidence:
    """Every value g has an absolute error of at least q |a − b|, q being the smaller density."""
    claim = (q + LEAD) * u + q * v >= q * w
    return proved_inequality(claim, [w <= u + v], what="absolute error at least q |a − b|")


def _same_input(settings: Settings) -> Iterator[Evidence]:
    yield completed_square()
    square, weight, rest, error = sympy.symbols("(g−mean)² p+q p·q·(a−b)²/(p+q) error", nonnegative=True)
    yield proved_inequality(error >= rest, [Eq(error, weight * square + rest)], what="squared error at least the rest")
    yield triangle()
    yield one_value()


def dynamic_sum() -> list[Step]:
    """G(x, t) = Σ_j (α_j + t (β_j − α_j)) σ(w_j x + θ_j) is Σ_j α_j σ(…) at t = 0 and Σ_j β_j σ(…) at t = 1."""
    n, N = m.dimension("n"), m.dimension("N")
    j = sympy.Symbol("j", integer=True, positive=True)
    x, w, theta = m.Letter("x", n, 1), m.Letter("w", 1, n, (j,)), m.Letter("θ", 1, 1, (j,))
    alpha, beta, t = m.Letter("α", 1, 1, (j,)), m.Letter("β", 1, 1, (j,)), m.Letter("t", 1, 1)
    total = lambda coefficient: m.RangeSum(coefficient @ m.Activation(w @ x + theta), j, 1, N)
    both = total(alpha + t @ (beta - alpha))
    return [
        Step("t = 0: the first function", both, total(alpha), {t: m.Zero(1, 1)}),
        Step("t = 1: the second function", both, total(beta), {t: m.Identity(1)}),
    ]


def _dynamic(settings: Settings) -> Iterator[Evidence]:
    yield from proved(dynamic_sum(), method=Method.NORMAL_FORM, what="for every N, n and σ")


# --- rows ---------------------------------------------------------------------------------------------------------------

_SOURCES = (duat("2.3"), duat("Fig. 2"))
_QUOTE = r"\text{often results in fitting only the densest regions of the data distribution}"
_DATA = "data of two kinds, of densities p(x), q(x) > 0 and values a(x), b(x)"


def _densest_row() -> Claim:
    return Claim(
        id="figure-2.densest", title="one sum fitted to two functions fits that of the densest data", ledger="A7",
        kind=Kind.EXISTENCE, sources=_SOURCES, printed=_QUOTE,
        reading=f"by least squares, which the paper does not say; {_DATA}, and a family that has every value at x", hypotheses=(_DATA,),
        expects=Verdict.REFUTED, ours=True, correction="figure-2.squared-error",
        decide=OneEdit(sympy.Integer(1), mean(*DENSITIES, 1, 0), _densest),
    )  # fmt: skip


CLAIMS = (
    _densest_row(),
    row(
        "figure-2.squared-error", "5", "least squares fits the density-weighted mean of two functions",
        r"p(g-a)^2+q(g-b)^2=(p+q)\Bigl(g-\frac{pa+qb}{p+q}\Bigr)^2+\frac{pq}{p+q}(a-b)^2", _squared, kind=Kind.IDENTITY,
        sources=_SOURCES, hypotheses=(_DATA,),
        reading="at every x, so for integrals too: in every family the g of least error is the one nearest to the mean, with "
        "the weight p + q; three and more functions likewise",
    ),
    row(
        "figure-2.absolute-error", "5", "the least absolute error is at the function of the denser data",
        r"p(x)>q(x)\ \Rightarrow\ \arg\min_{g}\,p|g-a|+q|g-b|=a", _absolute, kind=Kind.INEQUALITY, sources=_SOURCES,
        hypotheses=(_DATA,), reading="at every x: the majority there, which may be a at one x and b at another",
    ),
    row(
        "figure-2.same-input", "5", "no function fits two values at one input, dynamic parameters or not",
        r"p(g-a)^2+q(g-b)^2\ge\frac{pq}{p+q}(a-b)^2,\quad p|g-a|+q|g-b|\ge\min(p,q)\,|a-b|", _same_input,
        kind=Kind.INEQUALITY, sources=_SOURCES, hypotheses=(_DATA,),
        reading="g = G(x) for any function G of x, also a dynamic sum: at one x it has one value",
    ),
    row(
        "figure-2.dynamic", "5", "a dynamic sum fits both if an input tells them apart",
        r"G(x,t)=\sum_{j}\bigl(\alpha_j+t(\beta_j-\alpha_j)\bigr)\sigma(w_jx+\theta_j):\quad G(x,0)=a(x),\ G(x,1)=b(x)",
        _dynamic, kind=Kind.IDENTITY, sources=_SOURCES,
        hypotheses=("σ is applied to every element", "a and b are sums Σ_j α_j σ(w_j x + θ_j) and Σ_j β_j σ(w_j x + θ_j)"),
        reading="t is the kind of the data, an input; a fixed sum of x and t can do it too (uat.one-function.selected)",
    ),
)  # fmt: skip
