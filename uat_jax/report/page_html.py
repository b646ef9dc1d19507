"""A page as one HTML file that needs nothing else: MathJax is inside, and asks no network for anything."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from functools import cache
from html import escape
from importlib.resources import files
from itertools import groupby

from uat_jax.ledger.page import Cell, Display, Formula, Page, Paragraph, Part, Section, Table, Tree, together
from uat_jax.report.breaking import WIDTH, aligned, broken
from uat_jax.report.html_file import html_file
from uat_jax.report.inline import pieces

STYLE = """
body { font: 16px/1.5 Georgia, "DejaVu Serif", serif; color: #1a1a1a; background: #fff;
  margin: 0 auto; max-width: 60rem; padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; }
h2 { font-size: 1.3rem; margin-top: 2.2rem; border-bottom: 1px solid #bbb; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; }
p { margin: .35rem 0; }
.math { overflow-x: auto; overflow-y: hidden; margin: .3rem 0; }
.math mjx-container { margin: .3rem 0 !important; }
.narrow { display: none; }
.name { font-style: italic; }
.kept { white-space: nowrap; }
.holds { color: #17692f; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; font-size: .95em; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; min-width: 5.5em; }
th { border-bottom: 1px solid #888; }
table.numbers th, table.numbers td { min-width: 0; }
ul.tree, ul.tree ul { list-style: none; margin: 0; padding-left: 1.1rem; }
ul.tree { overflow-x: auto; padding-left: 0; }
ul.tree ul { border-left: 1px solid #888; }
ul.tree li { white-space: nowrap; }
a { color: #0b4f8a; }
@media (max-width: 480px) {
  body { font-size: 15px; padding: .7rem; }
  h1 { font-size: 1.3rem; }
  .math { font-size: .85em; }
  .broad { display: none; }
  .narrow { display: block; }
  table.numbers { font-size: .88em; }
  table.numbers th, table.numbers td { padding-right: .25rem; }
  table:not(.numbers) tr { display: block; border-top: 1px solid #ddd; padding: .2rem 0; }
  table:not(.numbers) td { display: block; padding: 0; overflow-x: auto; overflow-y: hidden; }
  table:not(.numbers) tr:first-child { display: none; }
  table:not(.numbers) td[data-head]::before { content: attr(data-head) ": "; color: #666; font-size: .85em; }
  table:not(.numbers) td:empty { display: none; }
}
@media print { body { max-width: none; } h2, h3 { break-after: avoid; } }
"""

SETTINGS = r"""
window.MathJax = {
  tex: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]]},
  svg: {fontCache: "global", scale: 0.95, displayAlign: "left", displayIndent: "1em"},
  options: {enableMenu: false}
};
"""


@cache
def mathjax() -> str:
    """MathJax 3 (Apache-2.0) as one script with its fonts."""
    return (files("uat_jax.report") / "mathjax" / "tex-svg-full.js").read_text(encoding="utf-8")


def document(page: Page) -> str:
    """The whole file."""
    body = "\n".join(line for section in page.sections for line in _section(section))
    head = f"<style>{STYLE}</style>\n<script>{SETTINGS}</script>\n<script>{mathjax()}</script>\n"
    return html_file(page.title, head, f"<h1>{prose(page.title)}</h1>\n<p>{prose(page.abstract)}</p>\n{body}")


INLINE = 26
"""Signs of a formula that a line of prose on a narrow screen holds, about."""
NARROW = 32
"""Signs that a line of a displayed formula holds on a narrow screen, about."""


def prose(text: str) -> str:
    r"""Prose with its formulas between \( and \); a long one may end a line at its signs, as words do.

    A formula stays on one line with the brackets, points and letters that touch it.
    """
    parts = [part for formula, piece in pieces(text) for part in (_lines(piece) if formula else _words(piece))]
    html = list[str]()
    for blank, touching in groupby(parts, key=str.isspace):
        word = [*touching]
        kept = not blank and len(word) > 1 and any(part.startswith(r"\(") for part in word)
        html.append(f'<span class="kept">{"".join(word)}</span>' if kept else "".join(word))
    return "".join(html)


def _words(text: str) -> list[str]:
    """Words and the blanks between them."""
    return [escape(part) for part in re.split(r"(\s+)", text) if part]


def _lines(latex: str) -> list[str]:
    """The lines of a formula and the blanks between them; a sign that begins a later one has room around it."""
    first, *more = broken(latex, INLINE)
    later = [part for line in more for part in (" ", rf"\({escape(f'{{}}{line}')}\)")]
    return [rf"\({escape(first)}\)", *later]


def _section(section: Section) -> Iterator[str]:
    yield f"<h{section.level + 1}>{prose(section.title)}</h{section.level + 1}>"
    for part in together(section.parts):
        yield from _part(part)


def _part(part: Part | tuple[Display, ...]) -> Iterator[str]:
    match part:
        case Paragraph(text, label, links):
            front = f"<b>{prose(label)}</b> " if label else ""
            behind = ", ".join(f' <a href="{escape(file)}">{escape(name)}</a>' for name, file in links)
            yield f"<p>{front}{prose(text)}{behind}</p>"
        case Display():
            mark = {True: '<span class="holds">✓</span> ', False: "✗ ", None: ""}[part.holds]
            yield f'<p class="name">{mark}{prose(part.name)}</p>'
            yield from _displayed([part])
        case tuple():
            yield from _displayed(part)
        case Table():
            yield f'<div class="wide"><table{_kind(part)}>'
            yield f"<tr>{''.join(f'<th>{prose(name)}</th>' for name in part.head)}</tr>"
            yield from (f"<tr>{''.join(map(_data, part.head, row))}</tr>" for row in part.rows)
            yield "</table></div>"
        case Tree():
            yield f'<ul class="tree">{_tree(part)}</ul>'


def _kind(part: Table) -> str:
    """Columns of numbers may be as narrow as they are."""
    return ' class="numbers"' if len(part.head) > 4 else ""


def _data(head: str, content: Cell) -> str:
    """A cell, which a narrow screen shows below the one before it, behind the head of its column."""
    named = f' data-head="{escape(head)}"' if head else ""
    return f"<td{named}>{_cell(content)}</td>"


def _displayed(displays: Sequence[Display]) -> Iterator[str]:
    """Formulas below each other, and once more with shorter lines where a narrow screen cannot hold theirs."""
    broad, narrow = (_rows(displays, width) for width in (WIDTH, NARROW))
    if broad == narrow:
        yield f'<div class="math">{broad}</div>'
    else:
        yield f'<div class="math broad">{broad}</div>'
        yield f'<div class="math narrow">{narrow}</div>'


def _rows(displays: Sequence[Display], width: int) -> str:
    rows = r" \\ ".join(aligned(display.formula.latex, width) for display in displays)
    rows = rows.replace(r"\ldots\ ", "… ")  # MathJax has no \ldots within \text
    return escape(rf"\[\begin{{aligned}}{rows}\end{{aligned}}\]")


def _cell(cell: Cell) -> str:
    if isinstance(cell, Formula):
        return "".join(_lines(cell.latex)) if cell.latex else ""
    return prose(cell)


def _tree(part: Tree) -> str:
    inner = "".join(map(_tree, part.branches))
    return f"<li>{_cell(part.formula)}{f'<ul>{inner}</ul>' if inner else ''}</li>"
