"""Prose with formulas in it, as LaTeX: "b̂_{j,2} is ≤ λ_k" becomes $\\hat{\\mathbf{b}}_{j,2}$ is $\\leq$ $\\lambda_{k}$.

A formula in prose is a letter with an accent, a prime, an index or a power, as `text_of` writes them; signs and Greek
letters are formulas too.  Everything else is text.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator

ACCENTS = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar", "\u0307": r"\dot", "\u030a": r"\mathring"}

SIGNS = {
    "≤": r"\leq", "≥": r"\geq", "≠": r"\neq", "⋄": r"\diamond", "⊗": r"\otimes", "⊙": r"\odot", "→": r"\to",
    "←": r"\leftarrow", "↦": r"\mapsto", "−": "-", "·": r"\cdot", "×": r"\times", "√": r"\surd", "∈": r"\in",
    "∞": r"\infty", "ℓ": r"\ell", "⌈": r"\lceil", "⌉": r"\rceil", "⌊": r"\lfloor", "⌋": r"\rfloor", "⋯": r"\cdots",
    "⟺": r"\Longleftrightarrow", "⇒": r"\Rightarrow", "∘": r"\circ", "∂": r"\partial", "∏": r"\prod", "∑": r"\sum",
    "≈": r"\approx", "‖": r"\|", "∀": r"\forall", "∃": r"\exists", "⊔": r"\sqcup", "∪": r"\cup", "∩": r"\cap",
    "⊂": r"\subset",
    "ᵀ": "^{T}", "²": "^{2}", "³": "^{3}", "¹": "^{1}", "⁻": "^{-}", "₂": "_{2}", "₁": "_{1}", "₀": "_{0}",
    "′": "'", "″": "''", "✓": r"\checkmark", "½": r"\tfrac12", "∎": r"\square", "<": "<", ">": ">", "|": "|",
}  # fmt: skip
"""Signs that are mathematics."""

TEXT = {
    "–": "--", "—": "---", "“": "``", "”": "''", "‘": "`", "’": "'", "…": r"\ldots{}", "§": r"\S{}", "&": r"\&",
    "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_\allowbreak{}", "{": r"\{", "}": r"\}", "~": r"\textasciitilde{}",
    "\u00a0": "~", "^": r"\textasciicircum{}", "\\": r"\textbackslash{}", "é": r"\'e", "ö": r'\"o', "ü": r'\"u',
    "ä": r'\"a',
}  # fmt: skip
"""Signs of text that LaTeX wants to have written otherwise."""

_INDEX = r"(?:_(?:\{[^{}]*\}|\([^()]*\)|[A-Z]{2,}[a-z]?(?![a-z])|[∞⋆]|[A-Z]?[a-z]?[0-9]*(?<!_)(?![a-z_])))"
_POWER = r"(?:\^(?:\{[^{}]*\}|\([^()]*\)|-?[A-Za-z0-9]+))"
_MARKS = "[" + "".join(ACCENTS) + "]"
_NAMES = "UAT|LN|max|min|score"
"""Names that have an index as letters have."""
_LETTER = rf"(?:{_NAMES}|[A-Za-zℓ\u0370-\u03ff]){_MARKS}?"
FORMULA = re.compile(
    rf"(?:{_LETTER}['′]*{_INDEX}{_POWER}?(?:′|ᵀ|'(?![a-z]))*"  # an index, perhaps a power
    rf"|(?<=[)‖]){_INDEX}"  # an index of a bracket
    rf"|{_LETTER}['′]*{_POWER}"  # a power
    rf"|[0-9]+{_POWER}"
    rf"|[A-Za-z\u0370-\u03ff]{_MARKS}['′ᵀ]*"  # an accent
    rf"|[A-Z](?:[′ᵀ]+|'(?![a-z]))|[a-z]ᵀ"  # a prime, but no apostrophe
    rf"|[\u0391-\u03a9\u03b1-\u03c9]"  # a Greek letter
    rf"|[{re.escape(''.join(SIGNS))}]+"
    rf")"
)
"""A formula in prose, the letters decomposed (NFD)."""


_PRODUCT = re.compile(r"(?<=[\w)])\*(?=[\w(])")
"""The sign between the factors of a product, where a program has written it."""

_JOINING = re.compile(r"[ +=(\[]*")
"""What stands between two formulas that are one."""

_BINARY = tuple(SIGNS[sign] for sign in "⋄⊗⊙−·×∘")
"""Signs between two operands, with room on both sides where an operand is text."""


def pieces(text: str) -> Iterator[tuple[bool, str]]:
    """(whether it is a formula, what is written): a formula as LaTeX, anything else as it stands."""
    done: tuple[bool, str] = False, ""
    for found in _loose_pieces(text):
        (was_formula, before), (is_formula, piece) = done, found
        if is_formula and piece.startswith("{}"):
            before = before.removesuffix(" ")  # the sign has room of its own
        if was_formula and before.endswith("{}"):
            piece = piece.removeprefix(" ")
        if before:
            yield was_formula, before
        done = is_formula, piece
    if done[1]:
        yield done


def _loose_pieces(text: str) -> Iterator[tuple[bool, str]]:
    formula = ""
    for is_formula, piece in _found(_PRODUCT.sub(" ", unicodedata.normalize("NFD", text))):
        if is_formula:
            formula = f"{formula} {piece}".strip()
        elif formula and _JOINING.fullmatch(piece):
            behind_text = formula in _BINARY and piece.startswith(" ")
            formula = f"{'{}' * behind_text}{formula}{piece}"
        else:
            yield from _joined(formula)
            formula = ""
            yield False, unicodedata.normalize("NFC", piece)
    yield from _joined(formula)


def _joined(formula: str) -> Iterator[tuple[bool, str]]:
    """A formula, and what joined nothing to it."""
    kept = formula.rstrip(" +=([")
    if kept:
        in_front_of_text = kept.endswith(_BINARY) and kept.removeprefix("{}") not in _BINARY
        yield True, kept + "{}" * in_front_of_text
    if formula != kept:
        yield False, formula[len(kept) :]


def _found(text: str) -> Iterator[tuple[bool, str]]:
    """The text cut at its formulas, of which none begins within a word."""
    done = at = 0
    while found := FORMULA.search(text, at):
        start = found.start()
        if start > done and _within_a_word(text[start - 1], text[start]):
            at = start + 1
            continue
        if start > done:
            yield False, text[done:start]
        yield True, _formula(found.group())
        done = at = found.end()
    if done < len(text):
        yield False, text[done:]


def _within_a_word(before: str, first: str) -> bool:
    """Whether what begins with that letter goes on with a word, such as "real_transformers"."""
    return first.isalpha() and first.isascii() and (before.isalpha() or before == "_")


def latex_of_prose(text: str) -> str:
    """The prose as LaTeX, in ASCII."""
    return "".join(f"${piece}$" if formula else _escaped(piece) for formula, piece in pieces(text))


_FILE = re.compile(r"([\w./-]*\w_\w[\w./-]*\w)")
"""The name of a file, which has no hyphens but its own."""


def _escaped(text: str) -> str:
    parts = _FILE.split(text)
    return "".join(rf"\texttt{{{_signs(part)}}}" if n % 2 else _signs(part) for n, part in enumerate(parts))


def _signs(text: str) -> str:
    return "".join(c if c.isascii() and c not in TEXT else TEXT.get(c) or _spelled(c) for c in text)


def _spelled(character: str) -> str:
    """A letter without its accent, or the name of a sign nobody has thought of."""
    plain = unicodedata.normalize("NFKD", character).encode("ascii", "ignore").decode()
    return plain or f"[{unicodedata.name(character, 'sign').lower()}]"


_PARTS = re.compile(
    rf"(?P<base>{_NAMES}|[A-Za-z0-9ℓ\u0370-\u03ff]+)?(?P<accent>{_MARKS}?)(?P<primes>['′]*)"
    rf"(?P<index>{_INDEX}?)(?P<power>{_POWER}?)(?P<rest>.*)",
    re.S,
)


def _formula(text: str) -> str:
    """One formula of prose as LaTeX without dollars."""
    if text[0] == "_":
        return f"{{}}_{{{_inside(text)}}}"
    if text[0] in SIGNS and "_" not in text:
        return " ".join(SIGNS[c] for c in text)
    found = _PARTS.fullmatch(text)
    assert found is not None
    matrix = found["base"] == "Π" and not found["index"]  # a product has an index, a permutation none
    symbol = r"\Pi" if matrix else _base(found["base"])
    if found["accent"]:
        symbol = rf"{ACCENTS[found['accent']]}{{{symbol}}}"
    power = _inside(found["power"])
    marks = "".join(SIGNS.get(c, c) for c in found["rest"] if c not in "'′")
    primes = "'" * sum(c in "'′" for c in found["primes"] + found["rest"])
    raised = (r"\prime " * len(primes) if power or marks else "") + power + marks.replace("^{T}", "T")
    index = _inside(found["index"])
    return symbol + (f"_{{{index}}}" if index else "") + (f"^{{{raised}}}" if raised else primes)


def _base(name: str) -> str:
    if len(name) > 1 or name.isdigit():
        return name if name.isdigit() else rf"\mathrm{{{name}}}"
    if name == "ℓ":
        return SIGNS[name]
    if name in ("Σ", "Π"):
        return r"\sum" if name == "Σ" else r"\prod"
    if name.isascii():
        return rf"\mathbf{{{name}}}" if name in "ABCEHIKOPQRSTUVWXYbcqsuvxy" else name
    return _greek(name).strip()


def _inside(script: str) -> str:
    """What stands in an index or a power; "^(j)" keeps its brackets."""
    inner = script[1:]
    bare = inner.startswith("{") or (inner.startswith("(") and script.startswith("_"))
    inner = inner[1:-1] if bare else inner
    return "".join(_sign(c) if c in SIGNS else _greek(c) for c in inner)


def _sign(character: str) -> str:
    """A sign, apart from a letter behind it."""
    command = SIGNS[character]
    return f"{command} " if command[-1].isalpha() else command


def _greek(character: str) -> str:
    match unicodedata.name(character, "").split():
        case ["GREEK", size, "LETTER", name]:
            name = name.replace("LAMDA", "LAMBDA").replace("EPSILON", "VAREPSILON" if size == "SMALL" else "EPSILON")
            return f"\\{name.lower() if size == 'SMALL' else name.capitalize()} "
    return character
