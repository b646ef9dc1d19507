"""Verdicts, and the evidence they rest on."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from uat_jax.decide.assumption import Assumption
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.figures import Figures
from uat_jax.errors import DisagreementError


class Verdict(StrEnum):
    """What was found out, and what the word is worth."""

    PROVED = "PROVED"
    """Equal for every shape and every σ: both sides have one normal form (or one for every depth, by induction).

    A statement of another kind (a count, a rank, an inequality, a dependence, an existence) is proved by what such a
    statement takes; its certificate says what that was.
    """
    CERTIFIED = "CERTIFIED"
    """Equal at the given shapes except with a stated probability of wrongly saying so."""
    AGREES = "AGREES"
    """Not proved: the float kernels stay within a derived tolerance of the exact value."""
    REFUTED = "REFUTED"
    """A concrete input, confirmed in float64 and in ball arithmetic or by exact numbers, on which the statement fails;
    or shapes that do not fit; or a proof of the opposite."""
    UNKNOWN = "UNKNOWN"
    """Anything else.  Never a success."""


class Method(StrEnum):
    """How something was found out.

    VACUITY: that there is nothing to compare.  BUDGET: that the time was up.  MEMORY: that more memory is needed.
    DISAGREEMENT: that two methods contradict each other, which is a defect of this package.
    """

    IDENTITY = "identity"
    PRIME_FIELDS = "prime fields"
    VACUITY = "vacuity"
    BALLS = "balls"
    COUNTEREXAMPLE = "counterexample"
    SIZES = "sizes"
    BUDGET = "budget"
    MEMORY = "memory"
    DISAGREEMENT = "disagreement"
    FLOATS = "floats"
    NORMAL_FORM = "normal form"
    INDEXED_NORMAL_FORM = "indexed normal form"
    CUT_OFF = "cut-off"
    INDUCTION = "induction"
    DERIVATION = "derivation"
    COUNTING = "counting"
    ARRAYS = "arrays"
    RANK = "rank"
    MINOR_IN_BALLS = "minor in balls"
    SHAPES = "shapes"
    INEQUALITY = "inequality"
    DEPENDENCE = "dependence"
    ENTRY_BY_ENTRY = "entry by entry"
    ENTRIES = "entries"
    ENUMERATION = "enumeration"
    SOLVER = "solver"
    EXACT_NUMBERS = "exact numbers"
    INDEX_NOTATION = "index notation"
    LINEAR_ALGEBRA = "linear algebra"
    EQUATIONS = "equations"
    DIFFERENCES = "differences"
    POWER_SERIES = "power series"
    ADDITION_THEOREMS = "addition theorems"
    PREDICTIONS = "predictions"
    LABELS = "labels"
    NAMES = "names"
    BIBLIOGRAPHY = "bibliography"


@dataclass(frozen=True)
class Evidence:
    """What one method found.

    ``method``: how it was found.  ``finding``: one readable line.  ``verdict``: what this method
    alone says.  ``figures``: numbers and texts, enough to do it again.
    ``assumptions``: what the finding presupposes.  ``subject``: which of several statements of one claim it is about
    (such as the kind of network), empty if there is only one.  ``example``: what shows it, such as two inputs at which
    a parameter differs: of REFUTED evidence a counterexample, of PROVED evidence a witness.
    ``statements``: what is proved as data, as far as `uat_jax.decide.statements` has words for it.
    """

    method: Method
    finding: str
    verdict: Verdict
    figures: Figures = Figures()
    assumptions: tuple[Assumption, ...] = ()
    subject: str = ""
    example: Counterexample | None = None
    statements: tuple[dict[str, Any], ...] = field(default=(), repr=False)

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps."""
        assumptions = [assumption.as_data() for assumption in self.assumptions]
        example = None if self.example is None else self.example.as_data()
        return {**vars(self), "figures": self.figures.as_data(), "assumptions": assumptions, "example": example}


def combine(evidence: Iterable[Evidence]) -> Verdict:
    """The verdict on a claim: the weakest of the verdicts on its statements, and UNKNOWN if any of them is.

    REFUTED needs a counterexample: normal forms that differ without one are UNKNOWN.  Floats alone give AGREES.
    Raises `DisagreementError` if one method proves what another refutes.
    """
    by_subject: dict[str, list[Evidence]] = {}
    for found in evidence:
        by_subject.setdefault(found.subject, []).append(found)
    verdicts = {_combine(found) for found in by_subject.values()}
    order = (Verdict.UNKNOWN, Verdict.REFUTED, Verdict.AGREES, Verdict.CERTIFIED, Verdict.PROVED)
    return next((v for v in order if v in verdicts), Verdict.UNKNOWN)


def _combine(evidence: list[Evidence]) -> Verdict:
    """The verdict of several methods on one statement."""
    found = {e.verdict for e in evidence}
    if Verdict.REFUTED in found and found & {Verdict.PROVED, Verdict.CERTIFIED}:
        sides = "; ".join(f"{e.method}: {e.verdict} ({e.finding})" for e in evidence)
        raise DisagreementError(f"two methods contradict each other, please report this: {sides}")
    order = (Verdict.REFUTED, Verdict.UNKNOWN, Verdict.PROVED, Verdict.CERTIFIED, Verdict.AGREES)
    return next((v for v in order if v in found), Verdict.UNKNOWN)
