"""Long formulas broken into lines, in LaTeX."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import accumulate

WIDTH = 62
"""Signs that a line of an A4 page holds, about."""

_COMMAND = re.compile(r"\\[A-Za-z]+|\\.|.", re.S)
_SILENT = {
    r"\mathbf", r"\boldsymbol", r"\hat", r"\tilde", r"\bar", r"\mathring", r"\left", r"\right", r"\text", r"\mathrm",
    r"\operatorname", r"\dot", r"\frac", r"\tfrac", r"\sqrt", "{", "}", " ", "^", "_", r"\bigl", r"\bigr", r"\,",
}  # fmt: skip
"""What takes no room of its own."""
_RELATIONS = ("=", r"\leftarrow", r"\leq", r"\geq", r"\neq", r"\mapsto", r"\to", "<", r"\Longleftrightarrow")
_OPERATORS = ("+", "-", r"\otimes", r"\odot", r"\diamond", r"\cdot")
_BEFORE = {**dict.fromkeys(_RELATIONS, 2), **dict.fromkeys(_OPERATORS, 1), r"\quad": 3}
"""A line may end before these, where no group is open; the larger the number, the better."""
_OPENING, _CLOSING = ("(", "[", r"\{"), (")", "]", r"\}")


def loosened(latex: str) -> str:
    r"""The formula with brackets of fixed size, and spaces: a line cannot end between \left and \right."""
    latex = re.sub(r"(?<=[})])\\(mathbf|hat|sigma)\b", r" \\\1", latex)
    return latex.replace(r"\left(", "(").replace(r"\right)", ")").replace(r"\left[", "[").replace(r"\right]", "]")


def broken(latex: str, width: int = WIDTH) -> list[str]:
    """The lines of a formula, each at most about ``width`` signs wide where it can be broken.

    A line ends at the best place of its later part: behind a comma, else before a relation, else before a sign, and
    outside of brackets if it can be; of several such at the last.
    """
    rest, lines = _pieces(loosened(latex)), list[str]()
    while rest:
        end = _end(rest, width - 4 * bool(lines))
        lines.append("".join(piece.latex for piece in rest[:end]).strip())
        rest = rest[end:]
    return lines or [""]


@dataclass
class _Piece:
    """What stands between two places where a line may end; ``quality`` of the place behind it."""

    latex: str = ""
    size: float = 0.0
    quality: tuple[int, int] = (0, 0)


def _end(pieces: list[_Piece], room: float) -> int:
    """How many of the pieces make a line."""
    filled = list(accumulate(piece.size for piece in pieces))
    if filled[-1] <= room:
        return len(pieces)
    fits = max(1, sum(size <= room for size in filled))
    late = [n for n in range(1, fits + 1) if filled[n - 1] > room * 0.4] or [fits]
    return max(late, key=lambda n: (pieces[n - 1].quality, n))


def _pieces(latex: str) -> list[_Piece]:
    """The formula cut where a line may end, with the width of each piece; indices are two thirds as wide."""
    found, depth, brackets, small = [_Piece()], 0, 0, list[bool]()
    for token in _COMMAND.findall(latex):
        if depth == 0 and token in _BEFORE and found[-1].latex.strip():
            found[-1].quality = max(found[-1].quality, (-brackets, _BEFORE[token]))
            found.append(_Piece())
        if token in ("{", r"\left"):
            depth += 1
            small.append(found[-1].latex.rstrip().endswith(("_", "^")))
        if token in ("}", r"\right"):
            depth -= 1
            small = small[:-1]
        brackets += (depth == 0) * ((token in _OPENING) - (token in _CLOSING))
        found[-1].latex += token
        found[-1].size += 0.0 if token in _SILENT else 0.65 if any(small) else 1.0 + (token in _BEFORE)
        if depth == 0 and token in (",", ";"):
            found[-1].quality = (-brackets, 3)
            found.append(_Piece())
    return [piece for piece in found if piece.latex.strip()]


def aligned(latex: str, width: int = WIDTH) -> str:
    """The formula as the rows of an alignment: continued lines are moved in."""
    first, *more = broken(latex, width)
    return " \\\\\n".join([f"&{first}", *(rf"&\qquad {{}}{line}" for line in more)])
