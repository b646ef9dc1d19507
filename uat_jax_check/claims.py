"""Decides the certificate of a claim of the papers: every statement of its proof, and says what was decided."""

from collections.abc import Callable, Mapping
from typing import Any

from uat_jax_check import counts, equations, exhibits, orders, quotients, ranks, shapes
from uat_jax_check.document import NotDecided, Refused, usable
from uat_jax_check.terms import Symbols

EQUATION = {"left", "right", "definitions", "left_definitions", "right_definitions"}
STATEMENTS: dict[str, tuple[Callable[[Mapping[str, Any], Symbols], list[str]], set[str]]] = {
    "equation": (equations.equation, EQUATION),
    "no identity": (equations.no_identity, EQUATION),
    "static": (equations.static, {"parameter", "inputs", "definitions"}),
    "induction": (
        equations.induction,
        {"index", "layer_index", "input", "start", "layer", "closed", "first", "next"},
    ),
    "inequality": (orders.inequality, {"claim", "hypotheses", "hold_at", "cases"}),
    "count": (counts.count, {"count", "is"}),
    "other count": (counts.other_count, {"count", "is", "at"}),
    "recurrence": (counts.recurrence, {"index", "before", "first", "value", "next", "closed"}),
    "cost": (
        counts.cost,
        {"counted", "index", "depth", "first", "next", "output", "shared", "partial", "closed"},
    ),
    "numbers": (quotients.numbers, {"left", "right"}),
    "no consequence": (orders.no_consequence, {"claim", "hypotheses", "at"}),
    "unequal": (exhibits.unequal, {"left", "right", "inputs", "entry"}),
    "rank bound": (ranks.rank_bound, {"matrix", "written", "definitions", "bound"}),
    "rank reached": (ranks.rank_reached, {"matrix", "at", "letters", "rank"}),
    "minor": (ranks.minor, {"program", "inputs", "rows", "columns"}),
    "greater": (exhibits.greater, {"left", "right", "inputs", "entry"}),
    "misfit": (shapes.misfit, {"formula", "at"}),
    "dynamic": (exhibits.dynamic, {"program", "inputs", "entry"}),
}
"""For each kind of statement what decides it, and its fields."""

MATRICES = {"equation", "static", "induction"}
FOR_ALL = "for all real matrices of the shapes given, all sizes ≥ 1, every σ on entries, every softmax of rows:"


def statement(data: Any) -> list[str]:
    """Decide one statement; what was decided, in mathematics, line by line."""
    usable(isinstance(data, dict) and data.get("kind") in STATEMENTS, "a statement has no kind that this checker knows")
    decide, fields = STATEMENTS[data["kind"]]
    usable(data.keys() == fields | {"kind", "symbols"}, f"a statement of the kind {data['kind']} has other fields")
    symbols = Symbols(data["symbols"])
    lines = decide(data, symbols)
    return [*lines, *(f"  assumed: {divisor}" for divisor in sorted(symbols.divisors))]


def check(certificate: Mapping[str, Any]) -> list[str]:
    """Decide every statement of the evidence that proves a claim, or refutes it.

    Raises:
        NotDecided: another verdict, evidence without a statement, or an induction that is not among the statements.
        Refused: a statement is not so.
    """
    evidence: Any = certificate.get("evidence")
    usable(isinstance(evidence, list) and all(isinstance(e, dict) for e in evidence), "it has no list of evidence")
    verdict: Any = certificate.get("verdict")
    if verdict not in ("PROVED", "REFUTED"):
        raise NotDecided(f"a claim of the papers that is {str(verdict)[:20]}")
    found = [e for e in evidence if e.get("verdict") == verdict]
    usable(found and all(isinstance(e.get("statements"), list) for e in found), "its evidence has no statements")
    if verdict == "PROVED" and any(e.get("verdict") not in ("PROVED", "CERTIFIED", "AGREES") for e in evidence):
        raise Refused("evidence of another verdict stands beside what is PROVED")
    if verdict == "PROVED" and {str(e.get("subject", "")) for e in evidence} - {
        str(e.get("subject", "")) for e in found
    }:
        raise Refused("there is a subject of which nothing is proved")
    decided: dict[str, list[str]] = {}
    for data in (s for e in found for s in e["statements"]):
        lines = statement(data)
        decided["\n".join(lines)] = lines
    bare = next((e for e in found if not e["statements"]), None)
    if bare is not None:
        raise NotDecided(f"evidence by {str(bare.get('method'))[:40]} without a statement")
    for e in found:
        if e.get("method") == "induction" and all(s["kind"] != "induction" for s in e["statements"]):
            raise NotDecided("an induction of which single equations are in the file")
    lines = [line for one in decided.values() for line in one]
    matrices = any(s["kind"] in MATRICES for e in found for s in e["statements"])
    return [*([FOR_ALL] if matrices else []), *lines, *beside(certificate["claim"])]


BESIDE = "not checked: whether the lines above are what the claim says is for a reader to see; the file calls it"


def beside(claim: Mapping[str, Any]) -> list[str]:
    """What the file says the claim is, for a reader to compare: nothing was decided of it."""
    said = (str(claim.get(field) or "")[:500] for field in ("id", "printed", "reading"))
    shown = ["".join(c if c.isprintable() else "?" for c in text) for text in said]
    return [BESIDE, *(f"  | {text}" for text in shown if text)]
