"""Statements that deny another one: "⋄ is not associative", "the matrix is not unique", "W_{1,3} is not static".

A counterexample to a statement proves that it does not hold, and a proof of it refutes that it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from uat_jax.decide.verdict import WITNESS, Evidence, Verdict, combine

_OPPOSITE = {Verdict.PROVED: Verdict.REFUTED, Verdict.REFUTED: Verdict.PROVED}
_DECIDES = {Verdict.PROVED: {Verdict.PROVED, Verdict.CERTIFIED}, Verdict.REFUTED: {Verdict.REFUTED}}
_OTHER_NAME = {"counterexample": WITNESS, WITNESS: "counterexample"}


def opposite(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Evidence on one statement as evidence on its denial: what decided it, with the other verdict.

    UNKNOWN stays UNKNOWN, and what is only certified or agrees becomes UNKNOWN.  A counterexample to the statement is
    then a witness of its denial, and a witness of the statement a counterexample to its denial.
    """
    evidence = tuple(evidence)
    verdict = combine(evidence)
    for found in evidence:
        if verdict not in _OPPOSITE:
            yield replace(found, verdict=Verdict.UNKNOWN)
        elif found.verdict in _DECIDES[verdict]:
            figures = {_OTHER_NAME.get(key, key): value for key, value in found.figures.items()}
            yield replace(found, verdict=_OPPOSITE[verdict], figures=figures)
