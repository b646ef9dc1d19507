"""Long formulas broken into lines, in LaTeX."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate
from math import inf

WIDTH = 62
"""Signs that a line of an A4 page holds, about."""

PROSE = 0.68
"""How wide a sign of text is, beside a sign of a formula; an index is as small."""

EARLY = 0.25
"""A line is filled up to at least this part."""

_COMMAND = re.compile(r"\\text\{[^{}]*\}|\\[A-Za-z]+|\\.|.", re.S)
_WORD = re.compile(r"\S*\s*")
_GAP = re.compile(r"^(?:\\ |\\quad|\s)+")
_SILENT = {
    r"\mathbf", r"\boldsymbol", r"\hat", r"\tilde", r"\bar", r"\mathring", r"\left", r"\right", r"\text", r"\mathrm",
    r"\operatorname", r"\dot", r"\frac", r"\tfrac", r"\sqrt", "{", "}", " ", "^", "_", r"\bigl", r"\bigr",
    r"\Bigl", r"\Bigr", r"\,",
}  # fmt: skip
"""What takes no room of its own."""
_RELATIONS = (
    "=",
    r"\leftarrow",
    r"\leq",
    r"\geq",
    r"\neq",
    r"\mapsto",
    r"\to",
    "<",
    r"\Rightarrow",
    r"\Longleftrightarrow",
)
_OPERATORS = ("+", "-", r"\otimes", r"\odot", r"\diamond", r"\cdot")
_BEFORE = {**dict.fromkeys(_RELATIONS, 2), **dict.fromkeys(_OPERATORS, 1), r"\quad": 5}
"""A line may end before these, where no group is open; the larger the number, the better."""
_BEHIND_A_WORD, _BEHIND_A_COMMA = 3, 4
"""So good are the other places at which a line may end."""
_FACTORS = (r"\mathbf", r"\operatorname", r"\hat", r"\boldsymbol")
_BEFORE_A_FACTOR = -100
"""Between two factors a line ends only where there is no other place, in brackets or out of them."""
_OPENING, _CLOSING = ("(", "[", r"\{", r"\Bigl"), (")", "]", r"\}", r"\Bigr")


def loosened(latex: str) -> str:
    r"""The formula with brackets of fixed size, and spaces: a line cannot end between \left and \right."""
    latex = re.sub(r"(?<=[})])\\(mathbf|hat|sigma)\b", r" \\\1", latex)
    latex = latex.replace(r"\left|", r"\Bigl|").replace(r"\right|", r"\Bigr|")
    return latex.replace(r"\left(", "(").replace(r"\right)", ")").replace(r"\left[", "[").replace(r"\right]", "]")


def broken(latex: str, width: int = WIDTH) -> list[str]:
    """The lines of a formula, each at most about ``width`` signs wide where it can be broken.

    A line ends at the best place of its later part: before a gap, else behind a comma, else behind a word, else before
    a relation, else before a sign, and outside of brackets if it can be; of several such at the last.  Where there is
    none of these it ends between two factors.
    """
    rest, lines = _pieces(loosened(latex)), list[str]()
    while rest:
        end = _end(rest, width - 4 * bool(lines))
        lines.append(_together(rest[:end]))
        rest = rest[end:]
    return lines or [""]


def equations(latex: str, width: int = WIDTH) -> list[str]:
    """The equations of a list that is too long for one line, each for itself; any other formula as it is."""
    pieces, found = _pieces(loosened(latex)), list[list[_Piece]]()
    for before, piece in zip([None, *pieces], pieces, strict=False):
        if before is None or before.quality == (0, _BEHIND_A_COMMA):
            found.append([])
        found[-1].append(piece)
    fits = sum(piece.size for piece in pieces) <= width
    listed = all(any(piece.begins in _RELATIONS for piece in group) for group in found)
    return [latex] if fits or not listed else [_GAP.sub("", _together(group)) for group in found]


@dataclass
class _Piece:
    """What stands between two places where a line may end.

    Attributes:
        size: how wide it is.
        quality: how good the place behind it is.
        begins: the relation or the sign that it begins with.
        joins: whether it goes on with the text of the piece before.
    """

    latex: str = ""
    size: float = 0.0
    quality: tuple[float, int] = (-inf, 0)
    begins: str = ""
    joins: bool = False


def _together(pieces: Sequence[_Piece]) -> str:
    """The pieces of a line; words of one text stand in one group."""
    line = ""
    for piece in pieces:
        goes_on = piece.joins and line
        line = line[:-1] + piece.latex.removeprefix(r"\text{") if goes_on else line + piece.latex
    return line.strip()


def _end(pieces: list[_Piece], room: float) -> int:
    """How many of the pieces make a line."""
    filled = list(accumulate(piece.size for piece in pieces))
    if filled[-1] <= room:
        return len(pieces)
    fits = max(1, sum(size <= room for size in filled))
    late = [n for n in range(1, fits + 1) if filled[n - 1] > room * EARLY] or [fits]
    return max(late, key=lambda n: (pieces[n - 1].quality, n))


def _pieces(latex: str) -> list[_Piece]:
    """The formula cut where a line may end, with the width of each piece; indices are two thirds as wide."""
    found, depth, brackets, small = [_Piece()], 0, 0, list[bool]()
    for token in _COMMAND.findall(latex):
        if depth == 0 and token.startswith(r"\text{"):
            _add_text(found, token[len(r"\text{") : -1], -brackets)
            continue
        if depth == 0 and token in _BEFORE and found[-1].latex.strip():
            found[-1].quality = max(found[-1].quality, (-brackets, _BEFORE[token]))
            found.append(_Piece(begins=token))
        if depth == 0 and token in _FACTORS and found[-1].latex.endswith(("} ", ")", ") ")):
            found[-1].quality = max(found[-1].quality, (_BEFORE_A_FACTOR - brackets, 0))
            found.append(_Piece())
        if token in ("{", r"\left"):
            depth += 1
            small.append(found[-1].latex.rstrip().endswith(("_", "^")))
        if token in ("}", r"\right"):
            depth -= 1
            small = small[:-1]
        brackets += (depth == 0) * ((token in _OPENING) - (token in _CLOSING))
        found[-1].latex += token
        found[-1].size += 0.0 if token in _SILENT else PROSE if any(small) else 1.0 + (token in _BEFORE)
        if depth == 0 and token in (",", ";"):
            found[-1].quality = (-brackets, _BEHIND_A_COMMA)
            found.append(_Piece())
    return [piece for piece in found if piece.latex.strip()]


def _add_text(found: list[_Piece], text: str, quality: int) -> None:
    """A text at the end of the formula so far: a line may end behind each of its words."""
    for n, word in enumerate(_WORD.findall(text)[:-1]):
        if n:
            found.append(_Piece(joins=True))
        found[-1].latex += rf"\text{{{word}}}"
        found[-1].size += PROSE * len(word)
        if word[-1].isspace():
            found[-1].quality = (quality, _BEHIND_A_WORD)


def aligned(latex: str, width: int = WIDTH) -> str:
    """The formula as the rows of an alignment: equations of a list below each other, continued lines moved in."""
    rows = []
    for equation in equations(latex, width):
        first, *more = broken(equation, width)
        rows += [f"&{first}", *(rf"&\qquad {{}}{line}" for line in more)]
    return " \\\\\n".join(rows)
