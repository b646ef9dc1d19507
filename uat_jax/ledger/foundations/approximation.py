"""The theorem the papers start from: what it says, whom they cite for it, and what they take from it (A1–A11)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import sympy
from sympy import Rational

from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.foundations import expressive_power, transformer_density, uat_sums, vector_output
from uat_jax.ledger.foundations.elementary import Promise, equations, least_error, near_both, near_two, resting_on
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2

error = sympy.Symbol("e", real=True)

# --- A2: the quantifier of Eq. 2, and the year of the citation -------------------------------------------------------


def pointwise_term() -> Evidence:
    """One term meets Eq. 2 at any one x with error 0: α = f(x)/σ(b), W = 0."""
    f, s = sympy.symbols("f s", real=True, nonzero=True)
    return equations({"α σ(b) = f(x) with α = f(x)/σ(b)": (f / s * s, f)}, what="one term, chosen for one x")


def monotone_term(claimed: sympy.Expr) -> Iterator[Evidence]:
    """A monotone G misses f(x) = 4x(1−x), which is 0, 1, 0 at 0, 1/2, 1, by at least 1/2."""
    values = sympy.symbols("G0 G1 G2", real=True)
    near = [abs(value - target) <= error for value, target in zip(values, (0, 1, 0), strict=True)]
    for way, order in (("increasing", (0, 1, 2)), ("decreasing", (2, 1, 0))):
        a, b, c = (values[i] for i in order)
        what = f"every {way} G misses 4x(1−x) by at least {claimed}"
        yield proved_inequality(error >= claimed, [*near, a <= b, b <= c], what=what, subject=way)


def _for_all_x(claimed: sympy.Expr) -> Callable[[Settings], Iterator[Evidence]]:
    return lambda settings: monotone_term(claimed)


EACH, ALL = "for each x some G", "some G for all x"
"""Two orders of the quantifiers of Eq. 2."""


def _quantified(order: str, settings: Settings) -> Iterator[Evidence]:
    """With the one order one term will do, at each x by a G of its own; with the other no term does."""
    least, proof = least_error(monotone_term)
    if order == ALL:
        yield from proof
        return
    names = ("least error of one term at all x", "of a G of its own at each x")
    example = exhibit_numbers(least, 0, at={"f": "4x(1−x)"}, what="one term, σ monotone", names=names)
    yield resting_on([pointwise_term(), *proof], example)


FIRST_VOLUME = 1988
"""Mathematics of Control, Signals, and Systems began in 1988, with one volume a year."""
VOLUME = 2
"""The volume of pages 303–314, as DUAT's bibliography has it."""


def year_of_the_theorem(printed: int) -> Iterator[Evidence]:
    """The year of the volume in which it was published, against the printed one."""
    year, what = FIRST_VOLUME + VOLUME - 1, "the year of the theorem"
    if year == printed:
        yield Evidence(Method.BIBLIOGRAPHY, f"{what}: volume {VOLUME} is of {year}", Verdict.PROVED)
    else:
        yield exhibit_numbers(year, printed, at={"volume": VOLUME}, what=what)


# --- A4: Borel functions, uniformly ---------------------------------------------------------------------------------


def step_bound(claimed: Any) -> Evidence:
    """sup |G − 1_{x>1/2}| ≥ 1/2 for every continuous G: G(1/2) is within the error of both one-sided limits, 0 and 1."""
    return near_two(0, 1, claimed, what=f"a continuous G misses the step by at least {claimed}")


def step_in_measure(end: Any) -> Iterator[Evidence]:
    """With u = (x − 1/2)/δ the ramp is 0 for u ≤ 0, that is x ≤ 1/2, and 1 for u ≥ ``end``, that is x ≥ 1/2 + end·δ."""
    u, x, half = sympy.Symbol("u", real=True), sympy.Symbol("x", real=True), Rational(1, 2)
    delta, ramp = sympy.Symbol("δ", positive=True), sympy.Min(sympy.Max(u, 0), 1)
    scaled = sympy.Symbol("uδ", real=True)
    for place, to in ((half, 0), (half + delta, end)):
        given = [sympy.Eq(scaled, x - half), sympy.Eq(x, place)]
        what = f"u = {to} at x = {place}"
        yield proved_inequality(sympy.Eq(scaled, to * delta), given, what=what, subject=f"x = {place}")
    for value, where in ((0, u <= 0), (1, u >= end)):
        yield proved_inequality(sympy.Eq(ramp, value), [where], what=f"the ramp is {value}", subject=f"{value}")


def constant_half(error: sympy.Expr) -> Evidence:
    """G = 1/2 is within 1/2 of both values of the step, and so within any larger error."""
    return near_both(Rational(1, 2), 0, 1, error)


STEP = Promise(
    lambda error: [step_bound(error)], constant_half, "the step, continuous G", {"f": "1 for x > 1/2, else 0"}
)
"""Some continuous G is within ε of the step."""


# --- the rows -------------------------------------------------------------------------------------------------------

_SECTION_2 = (v1("2", 1, 2), v2("2", 1, 2), duat("2.1", 1, 2))
_BOREL = (v1("2"), v2("2"), duat("2.1"))

_CLAIMS = (
    Claim(
        id="uat.density.no-quantifier",
        title="Eq. 2 without “for all x” says that the sums are dense",
        ledger="A2",
        kind=Kind.CRITERION,
        sources=(duat("2.1", 2),),
        printed=r"|G(\mathbf{x})-f(\mathbf{x})|<\varepsilon",
        reading="for each x some G: DUAT prints no quantifier. One term does that, with error 0, and is not dense",
        hypotheses=("σ is monotone and σ(b) ≠ 0 for some b, as for the logistic function",),
        expects=Verdict.REFUTED,
        correction="uat.density.for-all",
        decide=OneEdit(EACH, ALL, _quantified),
    ),
    Claim(
        id="uat.density.for-all",
        title="Eq. 2 for all x is more than one term of a monotone σ can do",
        ledger="A2",
        kind=Kind.INEQUALITY,
        sources=(v1("2", 2), v2("2", 2)),
        printed=r"|G(\mathbf{x})-f(\mathbf{x})|<\varepsilon\quad\text{for all}\quad\mathbf{x}\in\mathbf{I}_n",
        reading="one G for all x: with N = 1, σ monotone and f(x) = 4x(1−x) it fails for every ε ≤ 1/2, so that the "
        "quantifier is what makes Eq. 2 a statement about N",
        hypotheses=("σ is monotone",),
        expects=Verdict.PROVED,
        decide=_for_all_x(Rational(1, 2)),
    ),
    Claim(
        id="uat.citation-year",
        title="the theorem is of 2007",
        ledger="A2",
        kind=Kind.BOOKKEEPING,
        sources=(v1("2"), v2("2")),
        printed=r"\text{Cybenko (2007)}",
        hypotheses=("the journal began in 1988 and printed one volume a year; pages 303–314 are in volume 2",),
        expects=Verdict.REFUTED,
        correction="uat.citation-year.corrected",
        decide=OneEdit(2007, 1989, lambda year, settings: year_of_the_theorem(year)),
    ),
    Claim(
        id="uat.citation-year.corrected",
        title="the theorem is of 1989",
        ledger="A2",
        kind=Kind.BOOKKEEPING,
        sources=(duat("2.1"),),
        printed=r"\text{Cybenko (1989)}",
        hypotheses=("the journal began in 1988 and printed one volume a year; pages 303–314 are in volume 2",),
        expects=Verdict.PROVED,
        decide=lambda settings: year_of_the_theorem(1989),
    ),
    Claim(
        id="uat.borel-uniform",
        title="networks approximate every Borel function uniformly",
        ledger="A4",
        kind=Kind.EXISTENCE,
        sources=_BOREL,
        printed=r"\text{capable of approximating arbitrary Borel measurable functions}",
        reading="in the sup norm of Eq. 2; f is the step 1 for x > 1/2, else 0",
        hypotheses=("G is continuous, as every network with continuous σ is",),
        expects=Verdict.REFUTED,
        correction="uat.borel-uniform.in-measure",
        decide=OneEdit(Rational(1, 4), Rational(1, 2), STEP),
    ),
    Claim(
        id="uat.borel-uniform.in-measure",
        title="one term is the step but for an interval as short as one likes",
        ledger="A4",
        kind=Kind.EXISTENCE,
        sources=_BOREL,
        printed=r"\sigma\left(\tfrac{1}{\delta}(x-\tfrac12)\right)=\mathbf{1}_{x>1/2}\quad"
        r"\text{for }x\le\tfrac12\text{ and for }x\ge\tfrac12+\delta",
        reading="in measure, which is the sense of the theorem of Hornik et al. (uat.borel-in-measure); for every δ > 0",
        hypotheses=("σ is the ramp min(max(u, 0), 1), continuous and sigmoidal",),
        expects=Verdict.PROVED,
        decide=lambda settings: step_in_measure(1),
    ),
    Claim(
        id="uat.borel-uniform.corrected",
        title="every continuous G misses the step by at least 1/2",
        ledger="A4",
        kind=Kind.INEQUALITY,
        sources=_BOREL,
        printed=r"\sup_{x}|G(x)-\mathbf{1}_{x>1/2}|\ge\tfrac12",
        reading="not printed: G(1/2) is within the sup error of both one-sided limits of the step, 0 and 1; G = 1/2 "
        "attains 1/2",
        hypotheses=("G is continuous",),
        expects=Verdict.PROVED,
        decide=lambda settings: iter([step_bound(Rational(1, 2))]),
    ),
)  # fmt: skip

_RECORDS = (
    Record(
        id="uat.sum",
        ledger="A1",
        status=Status.DEFINITION,
        sources=_SECTION_2,
        says="G(x) = Σ_{j=1}^N α_j σ(W_jᵀ x + θ_j) with x in the unit cube I_n, W_j ∈ R^n, α_j, θ_j ∈ R and σ continuous "
        "and sigmoidal: σ → 1 at +∞ and σ → 0 at −∞.",
        note="The index of θ is missing in “α_j, θ ∈ R are fixed”, and they are not fixed but chosen for a given f and ε. "
        "N is also the number of tokens. DUAT writes b_j in Eq. 1, 13, 14 and θ_j in Eq. 15 for the same bias.",
    ),
    Record(
        id="uat.density",
        ledger="A2",
        status=Status.CITED,
        sources=_SECTION_2,
        says="Such sums are dense in C(I_n).",
        note="Cybenko 1989, Theorem 2: σ continuous and sigmoidal, the sup norm, the closed cube; N depends on f and ε.",
    ),
    Record(
        id="uat.borel-in-measure",
        ledger="A4",
        status=Status.CITED,
        sources=_BOREL,
        says="Multilayer feedforward networks approximate arbitrary Borel measurable functions.",
        note="Hornik, Stinchcombe and White 1989: in measure, that is in the metric ρ_μ of any probability μ on R^n; "
        "uniformly only for continuous functions on compact sets (see uat.borel-uniform).",
    ),
    Record(
        id="uat.programme",
        ledger="A11",
        status=Status.NO_CONTENT,
        sources=_BOREL,
        says="The theorem does not straightforwardly apply to Transformers; once Linear and MHA are written W'x', the "
        "connection is easy.",
        note="A programme. What it leads to is decided in the chapters on attention, residual networks and Transformers.",
    ),
)  # fmt: skip

_PARTS = (uat_sums, vector_output, expressive_power, transformer_density)


def _number(row: Claim | Record) -> int:
    return int(row.ledger.removeprefix("A"))


CLAIMS = tuple(sorted((*_CLAIMS, *(row for part in _PARTS for row in part.CLAIMS)), key=_number))
"""The whole chapter, A2 to A10, from this file and from those on the sums, their outputs and what networks can do."""

RECORDS = tuple(
    sorted((*_RECORDS, *uat_sums.RECORDS, *expressive_power.RECORDS, *transformer_density.RECORDS), key=_number)
)
"""What of the chapter is only listed."""
