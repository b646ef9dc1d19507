"""A row of the ledger with nothing to decide: it is listed, so that nothing is missing in silence."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from uat_jax.ledger.source import Source


class Status(StrEnum):
    """Why there is nothing to decide."""

    DEFINITION = "definition"
    """It introduces a notion."""
    CITED = "cited theorem"
    """A theorem of other authors; its hypotheses are stated, its proof is theirs."""
    NO_CONTENT = "no checkable content"
    """It says nothing that could be false."""


@dataclass(frozen=True)
class Record:
    """``ledger``: the row it stands for; ``says``: what is printed, in plain words; ``note``: what is known of it."""

    id: str
    ledger: str
    status: Status
    sources: tuple[Source, ...]
    says: str
    note: str
