"""Where a statement is printed."""

from __future__ import annotations

from dataclasses import dataclass

PAPERS = {
    "v1": "Wang & Li, Universal Approximation Theory, first version",
    "v2": "Wang & Li, Universal Approximation Theory, second version",
    "DUAT": "Wang & Li, Dynamic Universal Approximation Theory",
    "abstract": "the abstract page of the DUAT paper",
}
"""The papers (arXiv 2407.00958 and its versions) by the short names the ledger uses."""


@dataclass(frozen=True)
class Source:
    """A place in a paper: ``section`` such as "3.3", "B.2" (an appendix), "Fig. 2"; ``equations`` by their printed numbers."""

    paper: str
    section: str
    equations: tuple[str, ...] = ()

    def __str__(self) -> str:
        first = self.section[:1]
        section = f"§{self.section}" if first.isdigit() else self.section
        if self.section[1:2] in ("", ".") and first in "ABCDE":
            section = f"App. {self.section}"
        numbers = f"Eq. {', '.join(self.equations)}" if self.equations else ""
        return " ".join(filter(None, (self.paper, section, numbers)))


def v1(section: str, *equations: int) -> Source:
    """A place in the first version of the UAT paper."""
    return Source("v1", section, tuple(map(str, equations)))


def v2(section: str, *equations: int) -> Source:
    """A place in the second version of the UAT paper."""
    return Source("v2", section, tuple(map(str, equations)))


def duat(section: str, *equations: int) -> Source:
    """A place in the DUAT paper."""
    return Source("DUAT", section, tuple(map(str, equations)))


def written(sources: tuple[Source, ...], otherwise: tuple[str, ...] = ()) -> str:
    """All places in one line; of the papers that say it in other words or letters, with that remark."""
    remark = lambda source: " (otherwise worded)" if source.paper in otherwise else ""
    return "; ".join(f"{source}{remark(source)}" for source in sources)
