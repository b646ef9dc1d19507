"""Long formulas broken into lines, in LaTeX."""

from __future__ import annotations

import re

WIDTH = 62
"""Signs that a line of an A4 page holds, about."""

_COMMAND = re.compile(r"\\[A-Za-z]+|\\.|.", re.S)
_SILENT = {
    r"\mathbf", r"\boldsymbol", r"\hat", r"\tilde", r"\bar", r"\mathring", r"\left", r"\right", r"\text", r"\mathrm",
    r"\operatorname", r"\dot", r"\frac", r"\tfrac", r"\sqrt", "{", "}", " ", "^", "_", r"\bigl", r"\bigr", r"\,",
}  # fmt: skip
"""What takes no room of its own."""
_BEFORE = {
    "+", "-", "=", r"\leftarrow", r"\otimes", r"\odot", r"\diamond", r"\leq", r"\mapsto", r"\to", r"\quad", "<",
    r"\neq", r"\geq", r"\Longleftrightarrow", r"\Rightarrow",
}  # fmt: skip
"""A line may end before these, where no group is open."""


def loosened(latex: str) -> str:
    r"""The formula with brackets of fixed size: a line cannot end between \left and \right."""
    return latex.replace(r"\left(", "(").replace(r"\right)", ")").replace(r"\left[", "[").replace(r"\right]", "]")


def broken(latex: str, width: int = WIDTH) -> list[str]:
    """The lines of a formula, each at most about ``width`` signs wide where it can be broken."""
    lines, line, room = [], "", 0.0
    for piece, size in _pieces(loosened(latex)):
        if line.strip() and room + size > width:
            lines.append(line.strip())
            line, room = "", 4.0
        line, room = line + piece, room + size
    return [*lines, line.strip()]


def _pieces(latex: str) -> list[tuple[str, float]]:
    """The formula cut where a line may end, with the width of each piece; indices are two thirds as wide."""
    found, piece, size, depth, small = [], "", 0.0, 0, []
    for token in _tokens(latex):
        if depth == 0 and token in _BEFORE and piece.strip():
            found.append((piece, size))
            piece, size = "", 0.0
        if token in ("{", r"\left"):
            depth += 1
            small.append(piece.rstrip().endswith(("_", "^")))
        if token in ("}", r"\right"):
            depth -= 1
            small = small[:-1]
        piece += token
        size += 0.0 if token in _SILENT else 0.65 if any(small) else 1.0 + (token in _BEFORE)
        if depth == 0 and token in (",", ";"):
            found.append((piece, size))
            piece, size = "", 0.0
    return [*found, (piece, size)]


def _tokens(latex: str) -> list[str]:
    return _COMMAND.findall(latex)


def aligned(latex: str, width: int = WIDTH) -> str:
    """The formula as the rows of an alignment: continued lines are moved in."""
    first, *more = broken(latex, width)
    return " \\\\\n".join([f"&{first}", *(rf"&\qquad {line}" for line in more)])
