"""The terminal: how wide it is, and what it can show; nothing that is written to it raises an error for a letter."""

from __future__ import annotations

import codecs
import contextlib
import os
import re
import shutil
import sys
import textwrap
import unicodedata
from typing import Any

PLAIN = "uat_jax.plain"
"""The name of the handler of letters that an encoding does not have, for `codecs`."""

OTHERS = ("strict", "surrogateescape", "backslashreplace")
"""What Python does by itself with letters that a stream cannot encode: an error, or \\u03c3."""

NARROWEST, WIDEST = 40, 100
"""Text is wrapped at these columns at least and at most, however wide the terminal is."""

WORDS = {
    "Σ": "Sum", "Π": "Prod", "∞": "inf", "…": "...", "§": "Sec. ", "°": " deg",
    "−": "-", "–": "-", "—": "-", "·": "*", "×": "x", "÷": "/", "⊗": "(x)", "⋄": "<>", "◇": "<>", "√": "sqrt",
    "≤": "<=", "≥": ">=", "≠": "!=", "≈": "~", "→": "->", "←": "<-", "↦": "->", "⇒": "=>", "∈": " in ", "∘": " o ",
    "✓": "ok", "✗": "no", "“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "′": "'", "ᵀ": "^T", "\u0302": "^",
    "─": "-", "━": "-", "│": "|", "┃": "|", "╸": "-", "╺": "-",
}  # fmt: skip
"""Letters as words of ASCII; Greek ones go by their names."""


def _plain(error: UnicodeError) -> tuple[str, int]:
    """In place of letters that cannot be encoded: words for them, and what else is left of them in ASCII."""
    if not isinstance(error, UnicodeEncodeError):
        raise error
    return "".join(map(_word, error.object[error.start : error.end])), error.end


def _word(letter: str) -> str:
    if letter in WORDS:
        return WORDS[letter]
    plain = unicodedata.normalize("NFKD", letter)
    plain = "".join(WORDS.get(part, part) for part in plain).encode("ascii", "ignore").decode()
    if plain:
        return f"^{plain}" if "<super>" in unicodedata.decomposition(letter) else plain
    greek = re.match(r"GREEK (CAPITAL|SMALL) LETTER (?:FINAL )?(\w+)", unicodedata.name(letter, ""))
    return "?" if greek is None else greek[2].capitalize() if greek[1] == "CAPITAL" else greek[2].lower()


codecs.register_error(PLAIN, _plain)


def writes_anything(stream: Any) -> None:
    """Have a text stream write words in place of letters that its encoding has not; other streams are left alone."""
    if hasattr(stream, "reconfigure") and getattr(stream, "errors", "") in OTHERS:
        stream.reconfigure(errors=PLAIN)


def silence(stream: Any) -> None:
    """Have nobody told that a stream cannot be written to: what is left in it goes nowhere."""
    with contextlib.suppress(OSError, ValueError, AttributeError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def columns() -> int:
    """The columns at which text is wrapped."""
    return min(max(shutil.get_terminal_size().columns, NARROWEST), WIDEST)


def wrapped(text: str, width: int, indent: int = 0) -> str:
    """A text in lines of at most so many columns."""
    margin = " " * indent
    return textwrap.fill(text, width, initial_indent=margin, subsequent_indent=margin, break_on_hyphens=False)


def bold(text: str) -> str:
    """A text in bold letters, where a terminal shows them."""
    shows = sys.stdout.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"
    return f"\x1b[1m{text}\x1b[0m" if shows else text
