"""What a page to read is made of: sections of prose, formulas, tables and trees, for the terminal, LaTeX and HTML.

Prose is plain text in which formulas stand as they are written on a terminal, such as "Ŵ_{j,1} x_0"; whoever sets it
finds them (`uat_jax.report.inline`).  A displayed formula has both writings.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import groupby

from uat_jax.symbolic import language as m


@dataclass(frozen=True)
class Formula:
    """One formula as a line of Unicode and as LaTeX without delimiters."""

    text: str
    latex: str

    def __str__(self) -> str:
        return self.text


def formula(*sides: m.Expression, relation: str = "=") -> Formula:
    """The sides with a relation between them: ``formula(x, y, z)`` is x = y = z."""
    sign = {"=": "=", "←": r"\leftarrow"}[relation]
    return Formula(f" {relation} ".join(map(str, sides)), f" {sign} ".join(map(m.latex, sides)))


Cell = Formula | str
"""What stands in a table: a formula, or prose."""


@dataclass(frozen=True)
class Paragraph:
    """Prose.  ``label`` stands in front of it in bold, ``links`` behind it: what is written, and the file it leads to."""

    text: str
    label: str = ""
    links: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True)
class Display:
    """A formula on lines of its own.  ``name`` says what it is; ``holds``: whether it was checked, None if it defines."""

    formula: Formula
    name: str = ""
    holds: bool | None = None


@dataclass(frozen=True)
class Table:
    """Rows of formulas and prose below ``head``."""

    head: tuple[str, ...]
    rows: tuple[tuple[Cell, ...], ...]


@dataclass(frozen=True)
class Tree:
    """A picture of what contains what."""

    formula: Formula
    branches: tuple[Tree, ...] = ()


Part = Paragraph | Display | Table | Tree


def together(parts: Sequence[Part]) -> Iterator[Part | tuple[Display, ...]]:
    """The parts, with formulas that have no names and stand below each other as one part."""
    for bare, group in groupby(parts, lambda part: isinstance(part, Display) and not part.name):
        if bare:
            yield tuple(group)  # type: ignore[arg-type]
        else:
            yield from group


@dataclass(frozen=True)
class Section:
    """Parts under a title; ``level`` 1 is a chapter, 2 a section in it."""

    title: str
    parts: tuple[Part, ...]
    level: int = 1


@dataclass(frozen=True)
class Page:
    """Sections under a title; ``abstract`` says in prose what it is."""

    title: str
    abstract: str
    sections: tuple[Section, ...]

    @property
    def holds(self) -> bool:
        """Whether every formula that was checked holds."""
        parts = [part for section in self.sections for part in section.parts]
        return all(part.holds is not False for part in parts if isinstance(part, Display))
