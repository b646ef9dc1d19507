"""A page for the terminal."""

from __future__ import annotations

import io
from collections.abc import Iterator

from rich import box
from rich.console import Console, Group, RenderableType
from rich.padding import Padding
from rich.table import Table as Columns
from rich.text import Text
from rich.tree import Tree as Branches

from uat_jax.ledger.page import Display, Page, Paragraph, Part, Section, Table, Tree


def show_page(console: Console, page: Page) -> None:
    """Print the page: every section under its title."""
    console.print(Text(page.title, style="bold"))
    if page.abstract:
        console.print(Text(page.abstract))
    for section in page.sections:
        show_section(console, section)


def show_section(console: Console, section: Section) -> None:
    """Print a section."""
    console.print()
    console.print(Text(section.title, style="bold underline"))
    for part in section.parts:
        console.print(_rendered(part))


def _rendered(part: Part) -> RenderableType:
    match part:
        case Paragraph(text, label):
            return Padding(Text.assemble((f"{label} " if label else "", "bold"), text), (0, 2), expand=False)
        case Display():
            return _display(part)
        case Table():
            return Padding(_columns(part), (0, 2), expand=False)
        case Tree():
            return Padding(_tree(part), (0, 2), expand=False)


def _display(part: Display) -> RenderableType:
    mark = {True: ("✓ ", "green"), False: ("✗ ", "bold red"), None: ("", "")}[part.holds]
    lines = [Text.assemble("  ", mark, (part.name, "italic"))] if part.name else []
    return Group(*lines, Padding(Text(part.formula.text), (0, 0, 0, 6), expand=False))


def _columns(part: Table) -> RenderableType:
    columns = Columns(box=box.SIMPLE_HEAD, pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for name in part.head:
        columns.add_column(name)
    for row in part.rows:
        columns.add_row(*(Text(str(cell)) for cell in row))
    return columns


def _tree(part: Tree) -> Branches:
    branches = Branches(Text(part.formula.text), guide_style="dim")
    for branch in part.branches:
        branches.add(_tree(branch))
    return branches


def lines(page: Page, width: int) -> Iterator[str]:
    """The page as lines of plain text, for a file."""
    console = Console(width=width, color_system=None, file=io.StringIO())
    with console.capture() as captured:
        show_page(console, page)
    yield from (line.rstrip() for line in captured.get().splitlines())
