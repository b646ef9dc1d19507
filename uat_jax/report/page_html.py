"""A page as one HTML file that needs nothing else: MathJax is inside, and asks no network for anything."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from html import escape
from importlib.resources import files

from uat_jax.ledger.page import Cell, Display, Formula, Page, Paragraph, Part, Section, Table, Tree
from uat_jax.report.breaking import broken, loosened
from uat_jax.report.inline import pieces

STYLE = """
body { font: 16px/1.5 Georgia, "DejaVu Serif", serif; color: #1a1a1a; background: #fff; margin: 0 auto; max-width: 56rem;
  padding: 1rem; overflow-wrap: break-word; }
h1 { font-size: 1.6rem; line-height: 1.25; } h2 { font-size: 1.3rem; margin-top: 2.2rem; border-bottom: 1px solid #bbb; }
h3 { font-size: 1.05rem; margin: 1.6rem 0 .3rem; } p { margin: .35rem 0; }
.math { overflow-x: auto; overflow-y: hidden; margin: .3rem 0; } .name { font-style: italic; } .holds { color: #17692f; }
.wide { overflow-x: auto; } table { border-collapse: collapse; margin: .5rem 0; font-size: .95em; }
th, td { text-align: left; vertical-align: top; padding: .2rem .8rem .2rem 0; } th { border-bottom: 1px solid #888; }
ul.tree, ul.tree ul { list-style: none; margin: 0; padding-left: 1.1rem; }
ul.tree { overflow-x: auto; padding-left: 0; } ul.tree ul { border-left: 1px solid #888; } ul.tree li { white-space: nowrap; }
a { color: #0b4f8a; } code { font-size: .9em; }
@media (max-width: 480px) { body { font-size: 15px; padding: .7rem; } h1 { font-size: 1.3rem; }
  th, td { padding-right: .5rem; } }
@media print { body { max-width: none; } h3 { break-after: avoid; } }
"""

SETTINGS = r"""
window.MathJax = {tex: {inlineMath: [["\\(", "\\)"]], displayMath: [["\\[", "\\]"]]},
  svg: {fontCache: "global", displayAlign: "left", displayIndent: "1em"}, options: {enableMenu: false}};
"""


@cache
def mathjax() -> str:
    """MathJax 3 (Apache-2.0) as one script with its fonts."""
    return (files("uat_jax.report") / "mathjax" / "tex-svg.js").read_text(encoding="utf-8")


def document(page: Page) -> str:
    """The whole file."""
    body = "\n".join(line for section in page.sections for line in _section(section))
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{escape(page.title)}</title>\n<style>{STYLE}</style>\n<script>{SETTINGS}</script>\n"
        f"<script>{mathjax()}</script>\n</head>\n<body>\n<h1>{prose(page.title)}</h1>\n<p>{prose(page.abstract)}</p>\n"
        f"{body}\n</body>\n</html>\n"
    )


def prose(text: str) -> str:
    """Prose with its formulas between \\( and \\)."""
    return "".join(rf"\({escape(piece)}\)" if formula else escape(piece) for formula, piece in pieces(text))


def _section(section: Section) -> Iterator[str]:
    yield f"<h{section.level + 1}>{prose(section.title)}</h{section.level + 1}>"
    for part in section.parts:
        yield from _part(part)


def _part(part: Part) -> Iterator[str]:
    match part:
        case Paragraph(text, label, link):
            front = f"<b>{prose(label)}</b> " if label else ""
            yield (
                f'<p>{front}<a href="{escape(link)}">{prose(text)}</a></p>' if link else f"<p>{front}{prose(text)}</p>"
            )
        case Display():
            mark = {True: '<span class="holds">✓</span> ', False: "✗ ", None: ""}[part.holds]
            name = f'<p class="name">{mark}{prose(part.name)}</p>' if part.name else ""
            yield f'{name}<div class="math">{_displayed(part.formula.latex)}</div>'
        case Table():
            yield '<div class="wide"><table>'
            yield f"<tr>{''.join(f'<th>{prose(name)}</th>' for name in part.head)}</tr>"
            yield from (f"<tr>{''.join(f'<td>{_cell(cell)}</td>' for cell in row)}</tr>" for row in part.rows)
            yield "</table></div>"
        case Tree():
            yield f'<ul class="tree">{_tree(part)}</ul>'


def _displayed(latex: str) -> str:
    first, *more = broken(latex, 72)
    rows = r" \\ ".join([f"&{first}", *(rf"&\qquad {line}" for line in more)])
    return escape(rf"\[\begin{{aligned}}{rows}\end{{aligned}}\]")


def _cell(cell: Cell) -> str:
    if isinstance(cell, Formula):
        return rf"\({escape(loosened(cell.latex))}\)" if cell.latex else ""
    return prose(cell)


def _tree(part: Tree) -> str:
    inner = "".join(map(_tree, part.branches))
    return f"<li>{_cell(part.formula)}{f'<ul>{inner}</ul>' if inner else ''}</li>"
