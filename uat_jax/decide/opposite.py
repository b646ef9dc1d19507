"""Statements that deny another one: "⋄ is not associative", "the matrix is not unique", "W_{1,3} is not static".

A counterexample to a statement proves that it does not hold, and a proof of it refutes that it does not.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from uat_jax.decide.verdict import Evidence, Verdict, combine

_OPPOSITE = {Verdict.PROVED: Verdict.REFUTED, Verdict.REFUTED: Verdict.PROVED}


def opposite(evidence: Iterable[Evidence]) -> Iterator[Evidence]:
    """Evidence on one statement as evidence on its denial: what decided it, with the other verdict.

    UNKNOWN stays UNKNOWN, and what is only certified or agrees becomes UNKNOWN; what certifies beside a proof agrees.
    An example that refutes the statement proves its denial, and one that proves the statement refutes its denial.
    """
    evidence = tuple(evidence)
    verdict = combine(evidence)
    for found in evidence:
        if verdict not in _OPPOSITE:
            yield replace(found, verdict=Verdict.UNKNOWN)
        elif found.verdict is verdict:
            yield replace(found, verdict=_OPPOSITE[verdict])
        elif found.verdict is Verdict.CERTIFIED and verdict is Verdict.PROVED:
            yield replace(found, verdict=Verdict.AGREES)
