"""One row of the ledger."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.source import Source, written

ELEMENTWISE = "σ is applied to every element"
SQUARE = (ELEMENTWISE, "all D_j are equal and all F_j are equal, as in the papers")
"""The hypotheses of statements that overwrite variables: a variable has one shape."""

DEPTHS = range(1, 6)
"""The depths at which the ledger says which readings are exact."""


class Kind(StrEnum):
    """What sort of statement a claim makes, and so what deciding it takes."""

    IDENTITY = "identity"
    """Two expressions are equal for all shapes."""
    ALL_DEPTHS = "all depths"
    """Two expressions are equal for all shapes and for every number of layers."""
    COUNT = "count"
    """A density, or a number of entries, parameters, evaluations or products."""
    CRITERION = "criterion"
    """Something holds if and only if a condition does."""
    RANK = "rank"
    """The rank of a matrix, or a bound on it."""
    DEPENDENCE = "dependence"
    """What depends on the input, and what does not."""
    INEQUALITY = "inequality"
    """A bound."""
    EXISTENCE = "existence"
    """Something exists, or cannot exist."""
    SHAPE = "shape"
    """A formula whose shapes must fit."""
    BOOKKEEPING = "bookkeeping"
    """Numbers of equations, figures and sections, and references to them."""


Decide = Callable[[Settings], Iterable[Evidence]]
"""What decides a claim."""


@dataclass(frozen=True)
class Claim:
    """A statement of the papers under one reading, and how it is decided.

    ``id`` names it; ``title`` says in plain words what is claimed; ``ledger`` is its row of the ledger of claims;
    ``kind`` is what sort of statement it is; ``sources`` are the places where it is printed; ``printed`` the statement
    as printed, in LaTeX; ``reading`` how it is read where it can be read in several ways; ``hypotheses`` what it
    presupposes; ``expects`` the verdict the ledger expects; ``exact_to`` the largest L ≤ 5 at which a refuted statement
    is still exact; ``correction`` the id of the claim that proves the corrected statement (for a correction that no
    paper prints, ``printed`` is the corrected statement and ``sources`` are the places it corrects); ``otherwise`` the
    papers among the sources that say it in other words or letters than ``printed``; ``decide`` yields the evidence.
    """

    id: str
    title: str
    ledger: str
    kind: Kind
    sources: tuple[Source, ...]
    printed: str
    expects: Verdict
    decide: Decide
    reading: str = ""
    hypotheses: tuple[str, ...] = (ELEMENTWISE,)
    exact_to: int | None = None
    ours: bool = False
    correction: str = ""
    otherwise: tuple[str, ...] = ()

    def describe(self) -> dict[str, Any]:
        """The statement as data, for the certificate."""
        names = ("id", "title", "ledger", "kind", "printed", "reading", "hypotheses", "exact_to", "ours", "correction")
        return {"source": written(self.sources, self.otherwise), **{name: getattr(self, name) for name in names}}
