"""Sums of the theorem's form under what the papers do with them: a box for the cube (A3), outputs in R^m (A5), the σ of
Transformers (A6) and an affine term beside the sum (A10)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
import sympy
from sympy import Rational, oo

from uat_jax.decide.confirmation import proved
from uat_jax.decide.equivalence import certify
from uat_jax.decide.exhibits import exhibit, exhibit_numbers
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, one_case
from uat_jax.ledger.foundations.elementary import equations, least_error, resting_on
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

# --- sums of N terms ------------------------------------------------------------------------------------------------

j = sympy.Symbol("j", integer=True, positive=True)
n, N = m.dimension("n"), m.dimension("N")
X = m.Letter("x", n, 1)
W, ALPHA, THETA = m.Letter("W", n, 1, (j,)), m.Letter("α", 1, 1, (j,)), m.Letter("θ", 1, 1, (j,))
ONE = m.Ones(1, 1)

Sum = Callable[[m.Expression], m.Expression]


def uat_term(argument: m.Expression) -> m.Expression:
    """α_j σ(argument + θ_j) for one argument W_jᵀ x."""
    return ALPHA @ m.Activation(argument + THETA)


def for_any_number_of_terms(
    name: str, sides: Callable[[Sum], tuple[m.Expression, m.Expression]], *, what: str
) -> Iterator[Evidence]:
    """Prove an equation between sums Σ_{j=1}^N for every N, and with three terms written out, which are confirmed.

    ``sides(Σ)`` gives both sides, Σ being a function of the summand.
    """
    open_sum = lambda term: m.RangeSum(term, j, 1, N)
    written = lambda term: m.Addition(*(term.xreplace({j: number}) for number in (1, 2, 3)))
    steps = [Step(name, *sides(open_sum)), Step("three terms", *sides(written))]
    yield from proved(steps, method=Method.NORMAL_FORM, what=what)


# --- A3: from the cube to any box -----------------------------------------------------------------------------------


def _box(settings: Settings) -> Iterator[Evidence]:
    """G on the cube at u = E(x − a) is a sum of the same form in x: Wᵀ_j becomes W_jᵀE, θ_j becomes θ_j − W_jᵀE a."""
    E, a = m.Letter("E", n, n), m.Letter("a", n, 1)
    on_the_cube = uat_term(W.T @ E @ (X - a))
    on_the_box = ALPHA @ m.Activation((E.T @ W).T @ X + (THETA - W.T @ E @ a))
    sides = lambda total: (total(on_the_cube), total(on_the_box))
    yield from for_any_number_of_terms("change of variable", sides, what="for every N and n")


# --- A6: activations of Transformers are not sigmoidal ---------------------------------------------------------------

t = sympy.Symbol("t", real=True)
SIGMAS = {
    "relu": sympy.Max(t, 0),
    "gelu": t * sympy.erfc(-t / sympy.sqrt(2)) / 2,
    "silu": t / (1 + sympy.exp(-t)),
}
IN_JAX = {"relu": jax.nn.relu, "gelu": partial(jax.nn.gelu, approximate=False), "silu": jax.nn.silu}


def unbounded(slope: sympy.Expr) -> Iterator[Evidence]:
    """σ(t) ≥ slope · t for t ≥ 0: relu(t) = t; gelu and silu are t times a number from 1/2 to 1."""
    positive, part = sympy.Symbol("t", nonnegative=True), sympy.Symbol("Φ(t)", real=True)
    at_least_half = [part >= Rational(1, 2), part <= 1]
    values = {"relu": (sympy.Max(positive, 0), []), "gelu": (positive * part, at_least_half), "silu": (positive * part, at_least_half)}  # fmt: skip
    for name, (value, known) in values.items():
        yield proved_inequality(value >= slope * positive, known, what=f"{name}(t) ≥ {slope} t for t ≥ 0", subject=name)


SIGMA = sympy.Function("σ")
"""Any of relu, gelu and silu; σ(t) = t + σ(−t)."""


def _sigmoidal(of: Any, settings: Settings) -> Iterator[Evidence]:
    """Whether what is made of σ(t), σ(t − 1), … tends to 1 at +∞: there σ(t − s) is t − s up to σ(s − t), which tends to 0."""
    if of.replace(SIGMA, lambda u: u).expand() == 1:
        yield from differences(of)
    else:
        yield from _not_sigmoidal()


def _not_sigmoidal() -> Iterator[Evidence]:
    """σ(4) ≥ 2, and σ stays above 2 from there on: it cannot tend to 1."""
    for bound in unbounded(Rational(1, 2)):
        sigma, names = IN_JAX[bound.subject], ("σ(4)", "limit of a sigmoidal σ")
        what = f"{bound.subject}, which is at least 2 for every t ≥ 4"
        example = exhibit(lambda t, sigma=sigma: sigma(t), lambda t: 0 * t + 1, {"t": 4}, what=what, names=names)
        yield replace(resting_on([bound], example), subject=bound.subject)


def odd_part(slope: Any = 1) -> Iterator[Evidence]:
    """σ(t) − σ(−t) = t, for t > 0 and so for every t."""
    positive = sympy.Symbol("t", positive=True)
    for name, sigma in SIGMAS.items():
        if name == "relu":
            claim = sympy.Eq(sympy.Max(t, 0) - sympy.Max(-t, 0), slope * t)
            yield proved_inequality(claim, [], what=f"{name}: σ(t) − σ(−t) = t", subject=name)
            continue
        difference = sigma.subs(t, positive) - sigma.subs(t, -positive)
        yield equations({"σ(t) − σ(−t) = t": (difference, slope * positive)}, what=name, subject=name)


RHO = SIGMA(t) - SIGMA(t - 1)
"""ρ(t) = σ(t) − σ(t − 1)."""


def differences(rho: Any = RHO) -> Iterator[Evidence]:
    """ρ(t) = σ(t) − σ(t − 1) tends to 0 at −∞ and to 1 at +∞, where it is 1 + σ(−t) − σ(1 − t)."""
    yield from odd_part()
    positive = sympy.Symbol("t", positive=True)
    by_odd_part = rho.replace(SIGMA, lambda u: u + SIGMA(-u))
    for name, sigma in SIGMAS.items():
        of = lambda e, sigma=sigma: e.replace(SIGMA, lambda u: sigma.subs(t, u))
        far_left = lambda u, sigma=sigma: sympy.limit(sigma.subs(t, -positive), positive, oo)
        limits = {
            "σ → 0 at −∞, and so ρ": (rho.replace(SIGMA, far_left), 0),
            "ρ(t) = 1 + σ(−t) − σ(1 − t) for t > 1": (of(rho - by_odd_part).subs(t, positive + 1), 0),
            "which tends to 1 at +∞": (by_odd_part.replace(SIGMA, far_left).expand(), 1),
        }
        yield equations(limits, what=name, subject=name)


def _differences(settings: Settings) -> Iterator[Evidence]:
    """… and a sum of N terms with ρ is a sum of 2N terms with σ."""
    yield from differences()
    argument = W.T @ X + THETA
    rho = m.Activation(argument) - m.Activation(argument - ONE)
    twice = (ALPHA @ m.Activation(argument), -ALPHA @ m.Activation(W.T @ X + (THETA - ONE)))
    sides = lambda total: (total(ALPHA @ rho), m.Addition(*map(total, twice)))
    yield from for_any_number_of_terms("N terms with ρ are 2N with σ", sides, what="for every N, n and σ")


# --- a perceptron ----------------------------------------------------------------------------------------------------


def _perceptron(settings: Settings) -> Iterator[Evidence]:
    """Entry k of σ(Wᵀx + θ) is one term with α = 1; a number times it is one with any α."""
    width = m.dimension("m")
    weights, theta, e = m.Letter("W", n, width), m.Letter("θ", width, 1), m.Selection(j, width, 1)
    layer, own = m.Activation(weights.T @ X + theta), m.Activation((weights @ e).T @ X + e.T @ theta)
    argument = e.T @ (weights.T @ X + theta)
    steps = [
        Step("the argument of unit k", argument, (weights @ e).T @ X + e.T @ theta),
        Step("a perceptron is Σ_k e_k e_kᵀ σ(…)", layer, m.Identity(width) @ layer),
        Step("one unit", m.Identity(1) @ own, own),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="one term for every unit, for every n and m")


# --- A10: the affine term -------------------------------------------------------------------------------------------


def _affine_density(settings: Settings) -> Iterator[Evidence]:
    """With W = 0 and b = 0 a sum with an affine term is the sum without."""
    affine = m.Zero(1, n) @ X + m.Zero(1, 1)
    sides = lambda total: (affine + total(uat_term(W.T @ X)), total(uat_term(W.T @ X)))
    yield from for_any_number_of_terms("the sums without affine term are among those with", sides, what="for every N")


def _affine_absorbed(settings: Settings) -> Iterator[Evidence]:
    """W x + b = W σ(x) − W σ(−x) + b σ(1) − b σ(−1)."""
    yield from odd_part()
    shapes = tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in ((2, 3), (2,), (3,)))
    product = partial(jnp.matmul, precision="highest")
    affine = lambda weights, b, x: product(weights, x) + b
    for name, sigma in IN_JAX.items():
        odd = lambda z, sigma=sigma: sigma(z) - sigma(-z)
        terms = lambda weights, b, x, odd=odd: product(weights, odd(x)) + b * odd(jnp.ones_like(b))
        yield from (replace(found, subject=name) for found in certify(affine, terms, *shapes).evidence)


def bounded_sum(claimed: Any) -> Evidence:
    """If |G| ≤ S everywhere, then |x − G(x)| ≥ 1 at x = S + 1; S = Σ_j |α_j| sup |σ|."""
    bound, value = sympy.Symbol("S", nonnegative=True), sympy.Symbol("G", real=True)
    what = f"a sum bounded by S misses x by at least {claimed} at x = S + 1"
    return proved_inequality(abs(bound + 1 - value) >= claimed, [abs(value) <= bound], what=what)


def _affine_bounded(settings: Settings) -> Iterator[Evidence]:
    least, proof = least_error(lambda error: [bounded_sum(error)])
    names = ("least |x − G(x)|", "printed")
    example = exhibit_numbers(least, 0, at={"x": "1 + Σ|α_j|", "σ": "logistic"}, what="G(x) = x", names=names)
    yield resting_on(proof, example)


# --- the rows -------------------------------------------------------------------------------------------------------

_SECTION_2 = (v1("2"), v2("2"), duat("2.1"))
DENSE = "the sums are dense in C(I_n) (Cybenko 1989, Theorem 2)"

CLAIMS = (
    Claim(
        id="uat.closed-interval",
        title="what is dense on the cube is dense on any closed box",
        ledger="A3",
        kind=Kind.IDENTITY,
        sources=_SECTION_2,
        printed=r"\text{can approximate any continuous function on a closed interval}",
        reading="a closed interval is a box x = a + D u, u in the cube I_n; with E = D⁻¹ a sum in u = E(x − a) is a sum in x",
        hypotheses=(DENSE, "D is invertible", ELEMENTWISE),
        expects=Verdict.PROVED,
        decide=_box,
    ),
    Claim(
        id="uat.sigmoidal",
        otherwise=("DUAT",),
        title="the theorem's hypothesis holds for relu, gelu and silu",
        ledger="A6",
        kind=Kind.CRITERION,
        sources=(v1("2"), v2("2"), duat("2.1", 1), duat("3.3", 11)),
        printed=r"\sigma\text{ is any continuous sigmoidal function}",
        reading="σ → 1 at +∞, for the σ of the feed-forward parts of Transformers, to which the papers apply the theorem "
        "(gelu with the error function)",
        expects=Verdict.REFUTED,
        correction="uat.sigmoidal.differences",
        decide=OneEdit(SIGMA(t), RHO, _sigmoidal),
    ),
    Claim(
        id="uat.sigmoidal.differences",
        title="relu, gelu and silu have sigmoidal differences σ(t) − σ(t−1)",
        ledger="A6",
        kind=Kind.CRITERION,
        sources=(v1("2"), v2("2"), duat("2.1", 1), duat("3.3", 11)),
        printed=r"\rho(t)=\sigma(t)-\sigma(t-1),\ \rho(-\infty)=0,\ \rho(+\infty)=1,\quad "
        r"\sum_{j=1}^{N}\alpha_j\rho(\mathbf{W}_j^T\mathbf{x}+\theta_j)=\sum_{j=1}^{N}\alpha_j\sigma(\mathbf{W}_j^T\mathbf{x}+\theta_j)"
        r"-\sum_{j=1}^{N}\alpha_j\sigma(\mathbf{W}_j^T\mathbf{x}+\theta_j-1)",
        reading="the theorem holds for ρ, and its sums are sums with σ of twice as many terms: so it holds for these σ too",
        hypotheses=(DENSE, "σ is relu, gelu (with the error function) or silu: all three are continuous", ELEMENTWISE),
        expects=Verdict.PROVED,
        decide=_differences,
    ),
    Claim(
        id="uat.perceptron",
        title="a layer of perceptrons is a UAT sum of one term, with the identity for α",
        ledger="A5",
        kind=Kind.IDENTITY,
        sources=(v2("4.5"), duat("6")),
        printed=r"\text{the perceptron can be seen as a layer of}",
        otherwise=("DUAT",),
        reading="σ(Wᵀx + θ) with σ on every unit; unit k is the sum of one term with column k of W",
        hypotheses=(ELEMENTWISE,),
        expects=Verdict.PROVED,
        decide=_perceptron,
    ),
    Claim(
        id="uat.affine-term.density",
        title="an affine term beside the sum does not lose density",
        ledger="A10",
        kind=Kind.IDENTITY,
        sources=(duat("B.2"),),
        printed=r"\text{a single term does not alter the nature of UAT}",
        reading="the sums W x + b + G(x) contain the sums G (W = 0, b = 0): they are dense where those are",
        hypotheses=(DENSE,),
        expects=Verdict.PROVED,
        decide=_affine_density,
    ),
    Claim(
        id="uat.affine-term.absorbed",
        title="with relu, gelu or silu an affine term is itself a sum of terms",
        ledger="A10",
        kind=Kind.IDENTITY,
        sources=(duat("B.2"),),
        printed=r"\text{a single term does not alter the nature of UAT}",
        reading="W x + b = Wσ(x) − Wσ(−x) + bσ(1) − bσ(−1) for every x, since σ(t) − σ(−t) = t",
        hypotheses=("σ is relu, gelu or silu",),
        expects=Verdict.PROVED,
        decide=_affine_absorbed,
    ),
    Claim(
        id="uat.affine-term.bounded",
        title="with bounded σ an affine term is itself a finite sum of terms",
        ledger="A10",
        kind=Kind.EXISTENCE,
        sources=(duat("B.2"),),
        printed=r"\text{a single term does not alter the nature of UAT}",
        reading="W x + b = G(x) for all x ∈ R^n and some sum G without affine term: G is bounded and W x is not "
        "(on the cube alone it can be so: the ramp min(max(u, 0), 1) is u there)",
        hypotheses=("|σ| ≤ 1, as for the logistic function and tanh", "W ≠ 0"),
        expects=Verdict.REFUTED,
        correction="uat.affine-term.density",
        ours=True,
        decide=one_case({"a bounded σ": _affine_bounded, "relu, gelu or silu": _affine_absorbed}),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="uat.non-polynomial",
        ledger="A6",
        status=Status.CITED,
        sources=_SECTION_2,
        says="The theorem is used for the feed-forward parts of Transformers, whose σ is not sigmoidal.",
        note="Leshno, Lin, Pinkus and Schocken 1993, which no version cites: the sums are dense in C(K) for every compact "
        "K if and only if the continuous σ is no polynomial. For relu, gelu and silu uat.sigmoidal.differences does "
        "without it.",
    ),
)  # fmt: skip
