"""A formula in LaTeX as plain text, for the terminal: ``\\mathbf{W}'_{j,3}\\sigma(\\mathbf{x})`` becomes W'_{j,3} σ(x).

Letters, indices, powers and brackets stay in their order, and nothing but fonts and the size of brackets is left out.
A formula with a command that stands in no table is returned as it is: better LaTeX than something else.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass

from uat_jax.report.inline import ACCENTS, SIGNS

_TOKEN = re.compile(r"\\[A-Za-z]+|\\.|.", re.DOTALL)

_ACCENTS = {command.removeprefix("\\"): mark for mark, command in ACCENTS.items()} | {"overline": "\u0305"}
_FONTS = frozenset("boldsymbol mathbb mathbf mathrm operatorname text".split())
_SIZES = frozenset("Big Bigl Bigr big bigl bigr left right textstyle".split())
_FRACTIONS = frozenset("frac tfrac".split())
_NAMES = frozenset("arg exp log max min sin sup tanh".split())
_LETTERS = {
    name: unicodedata.lookup(f"GREEK {size} LETTER {'LAMDA' if name.lower() == 'lambda' else name.upper()}")
    for name in "alpha beta gamma delta theta lambda pi rho sigma tau Delta Lambda Pi Sigma".split()
    for size in ["CAPITAL" if name[0].isupper() else "SMALL"]
} | {"varepsilon": "ε", "ell": "ℓ", "infty": "∞"}
_PREFIXES = {"Delta": "Δ", "partial": "∂"}
"""Signs that belong to the letter behind them."""
_SPACED = {command.removeprefix("\\"): sign for sign, command in SIGNS.items() if sign in "≤≥≠⋄⊗⊙→←↦·×∈⇒∘≈"} | {
    "le": "≤", "ge": "≥", "geqslant": "≥", "ne": "≠", "iff": "⟺", "subseteq": "⊆",
}  # fmt: skip
"""Signs with room on both sides."""
_PLAIN = {
    "cdots": "⋯", "ldots": "…", "dots": "…", "vdots": "⋮", "|": "‖", "{": "{", "}": "}", "lceil": "⌈", "rceil": "⌉",
}  # fmt: skip
_SUMS = {"sum": "Σ", "prod": "Π"}
_DOTS = "⋯…"
_ROOM = {"quad": "   ", " ": " ", ",": " "}
_POWERS = {"T": "ᵀ", "2": "²", "'T": "'ᵀ"}
_BOUNDS = {short: f"^{power}" for power, short in _POWERS.items()}
"""An upper bound is no transpose and no square."""
_OF_TEXT = {"ldots": "…", " ": " "}
_ONE_FACTOR = re.compile(r"√?[^\W\d_]['ᵀ²\u0302]*(_\{[^{}]*\}|_\w)?|[0-9]+")
"""What needs no brackets above or below a stroke."""


class _UnknownError(Exception):
    """A command that stands in no table."""


@dataclass(frozen=True)
class _Part:
    """A piece of text; ``sign``: it has room on both sides where it stands between operands.

    word: a letter, a number or a name.  closed: no letter behind it belongs to it, such as an index or a bold letter.
    script: an index, a power or a prime of what is before it.  over: a sum, a product or another operator that takes
    all that follows.  fraction: it has brackets where a factor follows.
    """

    text: str
    word: bool = False
    closed: bool = False
    sign: bool = False
    script: bool = False
    over: bool = False
    fraction: bool = False


def formula_text(latex: str) -> str:
    """The formula as plain text; LaTeX where it cannot be written so."""
    if "\\begin" in latex:
        return _matrix(latex)
    try:
        tokens = iter(_TOKEN.findall(latex))
        return re.sub(" {4,}", "   ", _joined(list(_parts(tokens)))).strip()
    except (_UnknownError, StopIteration, RuntimeError):
        return latex


def _matrix(latex: str) -> str:
    """A formula with one matrix, its rows separated by semicolons."""
    found = re.fullmatch(r"(.*)\\begin\{pmatrix\}(.*)\\end\{pmatrix\}(.*)", latex, re.DOTALL)
    if found is None or "\\begin" in found[1] + found[2] + found[3]:
        return latex
    rows = [", ".join(map(formula_text, row.split("&"))) for row in found[2].split("\\\\")]
    behind = formula_text(f"x{found[3]}").removeprefix("x")
    return f"{formula_text(found[1])}({'; '.join(rows)}){behind}"


def _parts(tokens: Iterator[str], end: str = "") -> Iterator[_Part]:
    """The pieces up to a token that ends them."""
    for token in tokens:
        if token == end:
            return
        yield _part(token, tokens)
    if end:
        raise _UnknownError(end)


def _part(token: str, tokens: Iterator[str]) -> _Part:
    name = token[1:] if token.startswith("\\") and len(token) > 1 else ""
    match token:
        case "{":
            return _Part(_joined(list(_parts(tokens, "}"))), word=True, closed=True)
        case "_" | "^":
            return _Part(_script(token, _argument(tokens, tight=True)), word=True, closed=True, script=True)
        case "'":
            return _Part("'", word=True, closed=True, script=True)
        case "=" | "+" | "<" | ">":
            return _Part(token, sign=True)
        case "-":
            return _Part("−", sign=True)
        case " ":
            return _Part("")
        case "&":
            raise _UnknownError(token)
    if not name:
        return _Part(token, word=token.isalnum())
    if name == "text":
        return _Part(_raw(tokens))
    if name == "mathbb":
        return _Part(unicodedata.lookup(f"DOUBLE-STRUCK CAPITAL {_argument(tokens)}"), word=True, closed=True)
    if name in _FONTS:
        return _Part(_argument(tokens), word=True, closed=True)
    if name in _ACCENTS:
        marked = "".join(c + _ACCENTS[name] if c.isalnum() else c for c in _argument(tokens))
        return _Part(unicodedata.normalize("NFC", marked), word=True, closed=True)
    if name in _FRACTIONS:
        above, below = (_bracketed(_argument(tokens)) for _ in range(2))
        return _Part(f"{above}/{below}", word=True, closed=True, fraction=True)
    if name == "sqrt":
        return _Part(f"√{_bracketed(_argument(tokens))}", word=True, closed=True)
    if name in _SIZES:
        return _Part("")
    if name in _PREFIXES:
        return _Part(_PREFIXES[name], word=True)
    if name in _LETTERS:
        return _Part(_LETTERS[name], word=True, closed=True)
    if name in _NAMES:
        return _Part(name, word=True, closed=True, over=True)
    if name in _SPACED:
        return _Part(_SPACED[name], sign=True)
    if name in _SUMS:
        return _Part(_SUMS[name], word=True, closed=True, over=True)
    if name == "prime":
        return _Part("'", word=True, closed=True, script=True)
    if name in _PLAIN:
        return _Part(_PLAIN[name])
    if name in _ROOM:
        return _Part(_ROOM[name])
    raise _UnknownError(token)


def _argument(tokens: Iterator[str], *, tight: bool = False) -> str:
    """What a command or a script is given: one token, or a group."""
    token = next(tokens)
    while token == " ":
        token = next(tokens)
    return _joined(list(_parts(tokens, "}")), tight=tight) if token == "{" else _part(token, tokens).text


def _raw(tokens: Iterator[str]) -> str:
    """The text of a group, blanks included."""
    if next(tokens) != "{":
        raise _UnknownError("text")
    text = ""
    for token in tokens:
        if token == "}":
            return text
        if token == "$":
            token = _joined(list(_parts(tokens, "$")))
        if token.startswith("\\"):
            token = _OF_TEXT.get(token[1:], "\\")
        if token in "{\\":
            raise _UnknownError(token)
        text += token
    raise _UnknownError("text")


def _script(mark: str, inside: str) -> str:
    if mark == "^" and inside in _POWERS:
        return _POWERS[inside]
    return f"{mark}{inside}" if len(inside) == 1 or re.fullmatch(r"\(\w+\)", inside) else f"{mark}{{{inside}}}"


def _bracketed(text: str) -> str:
    return text if _ONE_FACTOR.fullmatch(text) else f"({text})"


def _joined(parts: list[_Part], *, tight: bool = False) -> str:
    """The pieces one after the other, with room around signs, and between factors that would be read as one word.

    tight: without any room, as in an index.
    """
    parts = [part for part in parts if part.text]
    if tight:
        return "".join(part.text for part in parts)
    text, over = "", False
    for n, part in enumerate(parts):
        before, behind = (parts[n - 1] if n else _Part(""), parts[n + 1] if n + 1 < len(parts) else _Part(""))
        written = f"({part.text})" if part.fraction and _continues(behind) else part.text
        if over and part.script:
            written = _BOUNDS.get(part.text, part.text)
        if part.sign:
            unary = part.text in "+−" and not (before.word or before.text in _CLOSING)
            text = text + written if unary else f"{text.rstrip(' ')} {written} "
        else:
            text = text.rstrip(" ") + written if written in ",;" else text + " " * _apart(before, part, over) + written
        over = part.over or over and part.script
    return text


_CLOSING = (")", "]", "}", "|", "‖", "⌉", *_DOTS)


def _continues(behind: _Part) -> bool:
    """Whether a piece is one more factor, so that a fraction in front of it needs brackets."""
    return behind.word and not behind.script or behind.text in ("(", "[")


def _apart(before: _Part, part: _Part, over: bool) -> bool:
    """Whether there is a blank between two pieces, of which none is a sign."""
    if not before.text or before.sign or part.script or before.text.endswith(" ") or part.text.startswith(" "):
        return False
    if before.text in (",", ";") or part.text in _DOTS:
        return before.text not in ("(", "[")
    if before.text in _DOTS:
        return part.word or part.text[0].isalnum() or part.text in ("(", "[")
    if over:  # a sum, or its bounds
        return before.script or part.word
    if before.text in _PREFIXES.values() or not part.word:
        return False
    if before.text in (")", "]"):
        return True
    return before.word and (before.closed or part.closed and not before.text.isdigit())
