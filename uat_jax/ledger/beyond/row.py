"""A row beyond the papers: its statement is ours, and its source is the place of the papers that it goes on from."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Decide, Kind
from uat_jax.ledger.source import duat

CLOSED_FORM = (duat("3.3", 11, 12), duat("B.3", 33, 34))
"""Where the papers print the closed form and its nested bias."""


def row(name: str, part: str, title: str, statement: str, decide: Decide, **fields: Any) -> Claim:
    """A claim that is expected to be PROVED.

    Args:
        name: the id of the claim, such as "separation.breaks".
        part: the theorem that it belongs to, such as "a" for the separation of depths.
        title: what is claimed, in plain words.
        statement: what is claimed, in LaTeX.
        decide: yields the evidence.
        fields: further fields of `Claim`; ``reading`` and ``hypotheses`` are always given.

    Returns:
        The claim, of the kind "all depths" unless ``fields`` say otherwise.
    """
    common: dict[str, Any] = {"kind": Kind.ALL_DEPTHS, "sources": CLOSED_FORM, "expects": Verdict.PROVED, "ours": True}
    careful = lambda settings: steps(decide(settings))
    named = {"id": name, "ledger": f"Beyond {part}", "title": title, "printed": statement, "decide": careful}
    return Claim(**{**common, **fields, **named})


def steps(argument: Iterable[Evidence]) -> Iterator[Evidence]:
    """The evidence of an argument: a step that fails leaves the claim unproved, and does not refute it.

    A network of numbers beyond a bound does refute the bound, and contradicts its proof.
    """
    for found in argument:
        fails = found.verdict is Verdict.REFUTED and found.method is not Method.BALLS
        yield replace(found, verdict=Verdict.UNKNOWN) if fails else found
