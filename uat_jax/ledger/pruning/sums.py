"""Pruning a one-layer sum: DUAT Eq. 13–16, v1 Eq. 9–12, v2 Eq. 12–15 (I1–I5); `layer_removal` has the layers (I6)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import sympy
from sympy import Abs, Eq

from uat_jax.decide.confirmation import proved
from uat_jax.decide.figures import Deduced
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.pruning import layer_removal
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

S_1, S_2, f = sympy.symbols("S_1 S_2 f", real=True)
"""Σ over Λ_1, Σ over Λ_2 and f, all at one x."""
epsilon, delta = sympy.Symbol("ε", positive=True), sympy.Symbol("δ", nonnegative=True)
CLOSE = Abs(S_1 + S_2 - f) < epsilon
"""The hypothesis (DUAT Eq. 13, 14): all terms together are within ε of f."""

Relation = Any


def follows(claimed: Relation, *hypotheses: Relation, what: str) -> Decide:
    """Decide an inequality between real numbers that depend on x only through their values."""
    return lambda settings: iter([proved_inequality(claimed, hypotheses, what=what)])


def follows_not(printed: tuple[Relation, ...], corrected: tuple[Relation, ...], *, what: str) -> OneEdit:
    """An inequality that does not follow, and one that does: each what is claimed, and then what it is claimed from."""
    return OneEdit(printed, corrected, lambda of, settings: [proved_inequality(of[0], of[1:], what=what)])


# --- two sums --------------------------------------------------------------------------------------------------------


def _two_sums(settings: Settings) -> Iterator[Evidence]:
    """Σ_j t_j = Σ_j t_j χ_j + Σ_j t_j (1 − χ_j), t_j = α_j σ(W_jᵀ x + θ_j), with χ_j = 1 on Λ_1 and 0 on Λ_2."""
    n, N = m.dimension("n"), m.dimension("N")
    j = sympy.Symbol("j", integer=True, positive=True)
    x, W = m.Letter("x", n, 1), m.Letter("W", n, 1, (j,))
    alpha, theta, chi = (m.Letter(name, 1, 1, (j,)) for name in "αθχ")
    term = alpha @ m.Activation(W.T @ x + theta)
    parts = term, term @ chi, term @ (m.Identity(1) - chi)
    summed = [m.RangeSum(part, j, 1, N) for part in parts]
    three = [m.Addition(*(part.renamed({j: sympy.Integer(k)}) for k in (1, 2, 3))) for part in parts]
    steps = [
        Step("Σ = Σ over Λ_1 + Σ over Λ_2", summed[0], summed[1] + summed[2]),
        Step("three terms", three[0], three[1] + three[2]),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="equal for every N, every Λ_1 and every n")


# --- the printed sums up to N_1 and N_2 ------------------------------------------------------------------------------


T_1, T_2 = sympy.symbols("t_1 t_2", real=True)


def _prefix_sums(dropped_term: Any, settings: Settings) -> Iterator[Evidence]:
    """v1 Eq. 12: with two terms, one in each index set, N_1 = N_2 = 1 and both sums are the first term.

    With one term the printed sums are those over Λ_1 and Λ_2, so that two terms are the smallest counterexample.
    t_j stands for α_j σ(W_jᵀ x + θ_j), which takes every value: W_j = 0 and α_j = t_j / σ(θ_j).
    """
    found = proved_inequality(
        Abs(T_1 - f) < epsilon + Abs(dropped_term),
        [Abs(T_1 + T_2 - f) < epsilon],
        what="two terms, one in Λ_1 and one in Λ_2, so N_1 = N_2 = 1",
    )
    kept, dropped = Abs(T_1 - f) < epsilon, Abs(f) < epsilon + Abs(T_1)
    one = tuple(str(proved_inequality(c, [kept], what="one term").verdict) for c in (kept, dropped))
    assert isinstance(found.figures, Deduced)
    yield replace(found, figures=replace(found.figures, with_one_term=one))


# --- rows ------------------------------------------------------------------------------------------------------------

_TERM = r"\alpha_j\sigma(\mathbf{W}_j^{\mathrm{T}}\mathbf{x}+\theta_j)"
_FIRST = rf"\sum_{{j\in\Lambda_1}}{_TERM}"
_SECOND = rf"\sum_{{j\in\Lambda_2}}{_TERM}"
_F = r"f(\mathbf{x})"
_tends = lambda total: rf"\left|{total}\right|\to 0"
_small = lambda total: rf"{_tends(total)}\ \Rightarrow\ "
EQ_14 = rf"\left|{_FIRST}+{_SECOND}-{_F}\right|<\varepsilon"
EQ_15 = rf"\left|\left|{_FIRST}-{_F}\right|-\left|{_SECOND}\right|\right|<\varepsilon"
EQ_16 = rf"\left|{_FIRST}-{_F}\right|<\varepsilon+\left|{_SECOND}\right|"
REMOVED = r"\text{we can directly remove those layers since their impact on the final result is minimal}"

_POINTWISE = (
    ELEMENTWISE,
    "at one x of I_n; for all x of I_n if the hypotheses hold at all of them",
    "Λ_1 and Λ_2 are disjoint and together {1, …, N}",
    "|Σ_{j≤N} α_j σ(W_jᵀ x + θ_j) − f(x)| < ε, ε > 0",
)
_SMALLNESS = "→ 0 names no variable that tends to anything; it is read as: is at most δ"
_MINIMAL = "minimal means that the sum over Λ_1 alone is within ε + δ of f"
_BIAS = "θ_j and DUAT's b_j are one symbol"
_SOURCES_15 = (v1("4.3", 11), v2("4.3", 14), duat("4.3", 15))
_SOURCES_16 = (duat("4.3", 16),)


def _row(
    name: str,
    title: str,
    ledger: str,
    sources: tuple,
    printed: str,
    reading: str,
    decide: Decide,
    **more: Any,
) -> Claim:
    fields = {
        "kind": Kind.INEQUALITY,
        "hypotheses": _POINTWISE,
        "expects": Verdict.PROVED,
        "otherwise": ("DUAT",),  # its letters are others: b_j, and in Eq. 14 "W j^T"
        **more,
    }
    return Claim(
        id=f"pruning.{name}", title=title, ledger=ledger, sources=sources, printed=printed, reading=reading, decide=decide,
        **fields,
    )  # fmt: skip


SUMS = (
    _row(
        "two-sums", "the sum over Λ is the sum over Λ_1 plus the sum over Λ_2", "I1",
        (v1("4.3", 10), v2("4.3", 13), duat("4.3", 14)), EQ_14,
        "the left side of Eq. 13 is rewritten: Σ_{j≤N} = Σ over Λ_1 + Σ over Λ_2, for every Λ_1",
        _two_sums, kind=Kind.IDENTITY, hypotheses=(ELEMENTWISE, _POINTWISE[2]),
    ),
    _row(
        "premise.v1", "a small Λ_1-sum makes the Λ_1-sum alone a good approximation", "I2",
        (v1("4.3", 9, 10, 12),), rf"{_tends(_FIRST)},\ {REMOVED}",
        f"the premise as printed, about the terms that are kept; {_MINIMAL}; {_SMALLNESS}",
        follows_not(
            (Abs(S_1 - f) < epsilon + delta, CLOSE, Abs(S_1) <= delta),
            (Abs(S_1 - f) < epsilon + delta, CLOSE, Abs(S_2) <= delta),
            what="|S_1| ≤ δ, S_1 kept",
        ),
        expects=Verdict.REFUTED, correction="pruning.premise.duat",
    ),
    _row(
        "premise.duat", "a small Λ_2-sum makes the Λ_1-sum alone a good approximation", "I2, I4",
        (duat("4.3", 13, 16),), rf"{_tends(_SECOND)},\ {REMOVED}",
        f"the premise about the terms that are dropped; {_MINIMAL}; {_SMALLNESS}",
        follows(Abs(S_1 - f) < epsilon + delta, CLOSE, Abs(S_2) <= delta, what="|S_2| ≤ δ, S_1 kept"),
        otherwise=(),
    ),
    _row(
        "eq-15", "error and dropped sum differ by less than ε", "I3",
        _SOURCES_15, f"{_small(_SECOND)}{EQ_15}", f"with DUAT's premise; {_SMALLNESS}; {_BIAS}",
        follows(Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon, CLOSE, Abs(S_2) <= delta, what="with |S_2| ≤ δ"),
    ),
    _row(
        "eq-15.unconditional", "Eq. 15 without the premise that the dropped sum is small", "I3",
        _SOURCES_15, EQ_15, 'the reverse triangle inequality alone; “since … → 0” is not needed',
        follows(Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon, CLOSE, what="no premise on S_2"),
    ),
    _row(
        "eq-15.since", "only where the dropped sum is small does Eq. 15 hold", "I3",
        _SOURCES_15, rf"\text{{Since }}{_small(_SECOND)}{EQ_15}",
        f"“since” as a reason that is needed: Eq. 15 holds only where its premise does; {_SMALLNESS}",
        follows_not(
            (Abs(S_2) <= delta, CLOSE, Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon),
            (Abs(S_2) <= Abs(S_1 - f) + epsilon, CLOSE, Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon),
            what="|S_2| ≤ δ wherever Eq. 15 holds",
        ),
        ours=True,
        expects=Verdict.REFUTED, correction="pruning.eq-15.unconditional",
    ),
    _row(
        "eq-16", "the error of the kept sum is below ε plus the dropped sum", "I4",
        _SOURCES_16, f"{_small(_SECOND)}{EQ_16}", f"with DUAT's premise; {_SMALLNESS}; {_BIAS}",
        follows(Abs(S_1 - f) < epsilon + Abs(S_2), CLOSE, Abs(S_2) <= delta, what="with |S_2| ≤ δ"),
    ),
    _row(
        "eq-16.unconditional", "Eq. 16 without the premise that the dropped sum is small", "I4",
        _SOURCES_16, EQ_16, "the triangle inequality alone; smallness only makes the bound useful",
        follows(Abs(S_1 - f) < epsilon + Abs(S_2), CLOSE, what="no premise on S_2"),
    ),
    _row(
        "eq-16.uniform", "Eq. 16 for the largest errors on the cube, still strictly", "I4",
        _SOURCES_16, rf"\max_{{\mathbf{{x}}\in\mathbf{{I}}_n}}\left|{_FIRST}-{_F}\right|<\varepsilon+\max_{{\mathbf{{x}}\in\mathbf{{I}}_n}}\left|{_SECOND}\right|",
        "at a point x* where the left maximum is attained, with M_2 the maximum on the right",
        follows(
            sympy.Symbol("M_1", real=True) < epsilon + sympy.Symbol("M_2", real=True),
            Eq(sympy.Symbol("M_1", real=True), Abs(S_1 - f)), CLOSE, Abs(S_2) <= sympy.Symbol("M_2", real=True),
            what="at the point where |S_1 − f| is largest",
        ),
        hypotheses=(*_POINTWISE, "σ and f are continuous, so that both maxima over the compact I_n are attained"),
    ),
    _row(
        "prefix-sums", "the error of the first N_1 terms is below ε plus the first N_2 terms", "I5",
        (v1("4.3", 12), v2("4.3", 15)),
        rf"\left|\sum_{{j=1}}^{{N_1}}{_TERM}-{_F}\right|<\varepsilon+\left|\sum_{{j=1}}^{{N_2}}{_TERM}\right|",
        "N_1 and N_2 are the numbers of elements of Λ_1 and Λ_2; both sums start at j = 1 and overlap",
        OneEdit(T_1, T_2, _prefix_sums), expects=Verdict.REFUTED, correction="pruning.eq-16.unconditional",
    ),
)  # fmt: skip

CLAIMS = (*SUMS, *layer_removal.CLAIMS)
RECORDS = (
    Record(
        "pruning.hypothesis", "I1", Status.DEFINITION, (v1("4.3", 9), v2("4.3", 12), duat("4.3", 13)),
        "the sum is within ε of f on I_n; Λ = {1, …, N} is cut into two disjoint sets Λ_1 and Λ_2",
        "An assumption and a notation. DUAT writes b_j in Eq. 13, 14, 16 and θ_j in Eq. 15 and in both premises: one symbol.",
    ),
    Record(
        "pruning.tends-to-zero", "I1", Status.NO_CONTENT, (v1("4.3"), v2("4.3"), duat("4.3")),
        "|Σ over an index set| → 0",
        "No variable tends to anything: N, the index sets and x are fixed. Every row reads it as: is at most δ.",
    ),
    Record(
        "pruning.premise.v2", "I2", Status.NO_CONTENT, (v2("4.3", 12, 13),),
        "|Σ α_j σ(W_jᵀ x + θ_j)| → 0",
        "The index set is not legible in the text at hand; the rows have v1's Λ_1 and DUAT's Λ_2.",
    ),
)  # fmt: skip
