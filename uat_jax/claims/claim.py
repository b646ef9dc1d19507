"""One row of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from uat_jax.certify.settings import Settings
from uat_jax.certify.verdict import Evidence, Verdict

ELEMENTWISE = "σ is applied to every element"
SQUARE = (ELEMENTWISE, "all D_j are equal and all F_j are equal, as in the papers")
"""The hypotheses of statements that overwrite variables: a variable has one shape."""

DEPTHS = range(1, 6)
"""The depths at which the ledger says which readings are exact."""


@dataclass(frozen=True)
class Claim:
    """A statement of the papers under one reading, and how it is decided.

    ``id`` names it; ``title`` says in plain words what is claimed; ``ledger`` is its row of the ledger of claims;
    ``source`` is paper, section and equation; ``printed`` the statement as printed, in LaTeX; ``reading`` how it is
    read where it can be read in several ways; ``hypotheses`` what it presupposes; ``expects`` the verdict the ledger
    expects; ``exact_to`` the largest L ≤ 5 at which a refuted statement is still exact; ``correction`` the id of the
    claim that proves the corrected statement; ``decide`` yields the evidence.
    """

    id: str
    title: str
    ledger: str
    source: str
    printed: str
    expects: Verdict
    decide: Callable[[Settings], Iterable[Evidence]]
    reading: str = ""
    hypotheses: tuple[str, ...] = (ELEMENTWISE,)
    exact_to: int | None = None
    correction: str = ""

    def describe(self) -> dict[str, Any]:
        """The statement as data, for the certificate."""
        names = (
            "id",
            "title",
            "ledger",
            "source",
            "printed",
            "reading",
            "hypotheses",
            "exact_to",
            "correction",
        )
        return {name: getattr(self, name) for name in names}
