"""A page as a LaTeX document that compiles as it is, with what comes with every TeX: amsmath, no fonts of its own."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from itertools import pairwise

from uat_jax.ledger.page import Cell, Display, Formula, Page, Paragraph, Part, Section, Table, Tree, together
from uat_jax.report.breaking import aligned, loosened
from uat_jax.report.inline import latex_of_prose

PREAMBLE = r"""\documentclass[a4paper,10pt]{article}
\usepackage[a4paper,margin=22mm]{geometry}
\usepackage{amsmath,amssymb}
\usepackage{longtable,array}
\newcolumntype{P}[1]{>{\raggedright\arraybackslash}p{#1\linewidth}}
\allowdisplaybreaks
\setlength{\parindent}{0pt}
\setlength{\parskip}{4pt plus 1pt}
\emergencystretch=3em
\tolerance=2000
\relpenalty=100
\binoppenalty=200
\newcommand{\treebar}{\makebox[1.6em][l]{\hspace{.5em}\rule[-1.3ex]{.4pt}{4.4ex}}}
\newcommand{\treetee}{\makebox[1.6em][l]{\hspace{.5em}\rule[-1.3ex]{.4pt}{4.4ex}\rule[.6ex]{.9em}{.4pt}}}
\newcommand{\treeend}{\makebox[1.6em][l]{\hspace{.5em}\rule[.6ex]{.4pt}{2.5ex}\rule[.6ex]{.9em}{.4pt}}}
\newcommand{\treegap}{\makebox[1.6em][l]{}}
"""
"""The branches of a tree are rules, so that no package for pictures is needed."""

KEPT_WITH_TABLE = r"\par\ifdim\dimexpr\pagegoal-\pagetotal<10\baselineskip\newpage\fi"
"""Words and the table behind them begin a page where few lines of this one are left."""


def document(page: Page) -> str:
    """The whole document, in ASCII, lines folded at 120 signs."""
    body = [rf"\section*{{{latex_of_prose(page.title)}}}", latex_of_prose(page.abstract), ""]
    body += [line for section in page.sections for line in section_lines(section)]
    return wrapped(PREAMBLE, "\n".join(body))


def wrapped(preamble: str, body: str) -> str:
    """A document from its preamble and its body; long lines are folded at spaces, which is where TeX does not mind."""
    fold = lambda line: textwrap.wrap(line, 118, break_long_words=False, break_on_hyphens=False) or [""]
    folded = "\n".join(part for line in body.splitlines() for part in ([line] if line.startswith("%") else fold(line)))
    return f"{preamble}\\begin{{document}}\n{folded}\n\\end{{document}}\n"


def section_lines(section: Section) -> Iterator[str]:
    """A section: its title and its parts."""
    command = "subsection" if section.level == 1 else "subsubsection"
    parts = [*together(section.parts)]
    kept = [isinstance(part, Paragraph) and isinstance(after, Table) for part, after in pairwise([*parts, None])]
    if kept[:1] == [True]:  # and the title with both
        yield KEPT_WITH_TABLE
    yield rf"\{command}*{{{latex_of_prose(section.title)}}}"
    for n, (part, after) in enumerate(pairwise([*parts, None])):
        assert part is not None
        if n and kept[n]:
            yield KEPT_WITH_TABLE
        yield from part_lines(part)
        if not (isinstance(part, Paragraph) and isinstance(after, tuple)):  # a formula belongs to the words before it
            yield ""


def part_lines(part: Part | tuple[Display, ...]) -> Iterator[str]:
    """A part of a section."""
    match part:
        case Paragraph(text, label, links):
            front = rf"\textbf{{{latex_of_prose(label)}}} " if label else ""
            yield front + latex_of_prose(text) + ", ".join(f" {typed(name)}" for name, _ in links)
        case Display():
            yield from _display(part)
        case tuple():
            yield r"\begin{align*}"
            yield " \\\\\n".join(aligned(display.formula.latex) for display in part)
            yield r"\end{align*}"
        case Table():
            yield from _table(part)
        case Tree():
            yield r"\begin{flushleft}\setlength{\baselineskip}{4ex}"
            yield from _tree(part, "", "")
            yield r"\end{flushleft}"


def typed(name: str) -> str:
    """A name as it is typed; a line may end behind its dots and hyphens."""
    name = latex_of_prose(name).replace(".", r".\allowbreak{}").replace("-", r"-\allowbreak{}")
    return rf"\texttt{{{name}}}"


_MARKS = {True: r"$\checkmark$ ", False: r"$\times$ ", None: ""}


def _display(part: Display) -> Iterator[str]:
    if part.name:
        yield rf"{_MARKS[part.holds]}\emph{{{latex_of_prose(part.name)}}}"
    yield r"\begin{align*}"
    yield aligned(part.formula.latex)
    yield r"\end{align*}"


SEVERAL_LINES = 90
"""A table with longer cells has more room between its rows, so that one sees where a row ends."""


def _table(part: Table) -> Iterator[str]:
    shares = _shares(part)
    columns = "".join(f"P{{{share:.3f}}}" for share in shares)
    yield rf"\begin{{longtable}}{{@{{}}{columns}@{{}}}}"
    yield (
        " & ".join(rf"\textbf{{{latex_of_prose(name)}}}" for name in part.head)
        + r" \\ \hline\noalign{\vskip 2pt}\endhead"
    )
    apart = "4pt" if any(len(str(content)) > SEVERAL_LINES for row in part.rows for content in row) else "1pt"
    for row in part.rows:
        yield " & ".join(map(cell, row)) + rf" \\ \noalign{{\vskip {apart}}}"
    yield r"\end{longtable}"


def _shares(part: Table) -> list[float]:
    """What share of the line each column gets: more for longer cells, 3 % of it left between columns."""
    longest = [max(min(len(str(cell)), 60) for cell in column) for column in zip(part.head, *part.rows, strict=True)]
    room = 0.998 - 0.03 * (len(longest) - 1)  # shares are rounded
    return [room * (size + 6) / sum(size + 6 for size in longest) for size in longest]


def cell(content: Cell) -> str:
    """A formula of a table breaks at its signs, as a formula in prose does."""
    if isinstance(content, Formula):
        return f"${loosened(content.latex)}$" if content.latex else ""
    return latex_of_prose(content)


def _tree(part: Tree, before: str, last: str) -> Iterator[str]:
    yield rf"{before}{last}${loosened(part.formula.latex)}$\\"
    before += {"": "", r"\treetee ": r"\treebar ", r"\treeend ": r"\treegap "}[last]
    for branch in part.branches:
        yield from _tree(branch, before, r"\treeend " if branch is part.branches[-1] else r"\treetee ")
