"""The symbols of Theorem 1, each with the papers' symbol for it, its shape and its meaning."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from difflib import get_close_matches

import sympy

from uat_jax.errors import InputError
from uat_jax.ledger.page import Formula, Table, formula
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Attention, Layers
from uat_jax.symbolic.recurrence import ClosedForm

_positive = lambda name: sympy.Symbol(name, integer=True, positive=True)
J, K, L = map(_positive, "jkL")
"""What counts layers and terms, and how many there are."""
HEADS, HEAD = _positive("h"), sympy.Symbol("a", integer=True, nonnegative=True)
"""The number of heads, and the index of one."""


@dataclass(frozen=True)
class Symbol:
    """``ours`` is how it is written here, ``papers`` how in the papers; ``shape`` is empty for what has none."""

    ours: Formula
    papers: str
    shape: str
    meaning: str


def _letter(letter: m.Expression, papers: str, meaning: str) -> Symbol:
    return Symbol(formula(letter), papers, m.shape_text(letter), meaning)


def _plain(ours: str, latex: str, papers: str, meaning: str) -> Symbol:
    return Symbol(Formula(ours, latex), papers, "", meaning)


def of_the_closed_form(kind: str) -> tuple[Symbol, ...]:
    """The symbols of the closed form of a kind of network, with the shapes that they have there."""
    layers = Layers(kind)
    closed = ClosedForm(layers)
    attention = "attention as a matrix" if kind == "transformer" else "the matrix on the skip path"
    return (
        _plain("j, k, i, L", "j,k,i,L", "j, k, i, i+1", "numbers of layers, counted from 1; L is how many there are"),
        _plain("D_j, F_j", "D_{j},F_{j}", "N·M", "the length of x_j, and how many σ layer j applies"),
        _plain("σ", r"\sigma", "σ", "the activation, any function of one number, applied to every entry"),
        _letter(layers.x(J), "x'_j", "the output of layer j, written as a column; x_0 is the input"),
        _letter(layers.A(J), "W'_{j,1}", f"layer j's own weights: {attention}"),
        _letter(layers.B(J), "W'_{j,2}", "layer j's own weights in front of σ"),
        _letter(layers.C(J), "W'_{j,3}", "layer j's own weights behind σ"),
        _letter(layers.b(J), "b'_{j,2}", "layer j's own bias inside σ"),
        _letter(layers.c(J), "b'_{j,3}", "layer j's own bias outside σ"),
        _letter(closed.W1(J), "W'_{j,1}, updated", "what multiplies x_0 after j layers"),
        _letter(closed.W2(J), "W'_{j,2}, updated", "what multiplies x_0 inside the σ of term j"),
        _letter(closed.W3(K, J), "W'_{k,3}, updated", "what multiplies term k after j layers: it changes with every layer"),
        _letter(closed.b2(J), "b'_{j,2}, updated", "the nested bias: all that is added to Ŵ_{j,2} x_0 inside the σ of term j"),
        _letter(closed.b3(J), "b'_{j,3}, updated", "the constant after j layers"),
        _letter(closed.s(J), "σ(W'_{j,2} x'_0 + b'_{j,2})", "term j, the activations of layer j"),
        _letter(closed.u(J), "UAT_j^R", "the sum after j layers, Σ_{k=1}^{j} Ŵ_{k,3}^(j) s_k"),
    )  # fmt: skip


def of_attention() -> tuple[Symbol, ...]:
    """The symbols of a Transformer's block on token matrices."""
    of = Attention(HEADS)
    V1, v1, V2, v2 = of.feed_forward(J)
    X = m.Letter("X", of.tokens, of.features(J), (J,))
    weight = lambda name: of.weight(name, J, HEAD)
    return (
        _plain("N, h, a", "N,h,a", "N, h, i", "how many tokens and heads there are; a = 1 … h counts heads"),
        _plain("M_j, G_j", "M_{j},G_{j}", "M", "features of a token after layer j, and hidden features: D_j = N M_j, F_j = N G_j"),
        _letter(X, "x_j", "the tokens after layer j, one per row: x_j = vec(X_j), row after row"),
        _letter(of.select(J, HEAD), "x_i = X E_i", "picks the features of head a, d = M_{j-1}/h of them"),
        _letter(weight("Q"), "W_{Qi}", "queries of head a in layer j; W_{K,a}^(j) keys, W_{V,a}^(j) values"),
        _letter(weight("O"), "W_O, its rows of head i", "the output of head a"),
        _letter(V1, "W_1 of the FFN", "first matrix of the feed-forward part; v_{j,1} is its bias"),
        _letter(V2, "W_2 of the FFN", "second matrix; v_{j,2} is its bias"),
        _plain("⊗", r"\otimes", "⊗", "Kronecker product: block (r, s) of X ⊗ Y is X_{rs} Y"),
        _plain("I_N, 1_N", r"\mathbf{I}_{N},\mathbf{1}_{N}", "I", "the identity, and a column of ones"),
    )  # fmt: skip


def legend(kind: str) -> tuple[Symbol, ...]:
    """All symbols of a kind's page."""
    return (*of_the_closed_form(kind), *of_attention())


def table(symbols: Iterable[Symbol]) -> Table:
    """The symbols as rows."""
    rows = tuple((s.ours, s.papers, s.shape, s.meaning) for s in symbols)
    return Table(("here", "in the papers", "shape", "meaning"), rows)


def chosen(kind: str, names: Sequence[str]) -> tuple[Symbol, ...]:
    """The symbols with these names, ours or the papers', for any layer: "A_2", "W'_{j,3}", "Ŵ_{1,3}^(2)".

    Raises `InputError` for a name that no symbol has, with the nearest that one has.
    """
    symbols = legend(kind)
    known: dict[str, list[Symbol]] = {}
    for symbol in symbols:
        for name in _names(symbol):
            known.setdefault(_pattern(name), []).append(symbol)
    found: list[Symbol] = []
    for name in names:
        if _pattern(name) not in known:
            spelled = {_pattern(n): n for symbol in symbols for n in _names(symbol)}
            nearest = [spelled[p] for p in get_close_matches(_pattern(name), spelled, n=1, cutoff=0.3)]
            hint = f"did you mean {nearest[0]!r}? " if nearest else ""
            raise InputError(f"unknown symbol {name!r} in --legend; {hint}--legend without a symbol lists all")
        found += [symbol for symbol in known[_pattern(name)] if symbol not in found]
    return tuple(found)


def _names(symbol: Symbol) -> list[str]:
    """The names a symbol is known by; "j, k, i, L" are four."""
    papers = symbol.papers.removesuffix(", updated")
    split = lambda text: re.split(r",\s+", text)
    return [name for name in (*split(symbol.ours.text), *split(papers)) if name]


def _pattern(name: str) -> str:
    """The name with every layer's number or index as j, without braces, spaces and version."""
    name = re.sub(r"\^\(.*\)", "", name.replace("′", "'").replace("{", "").replace("}", "").replace(" ", ""))
    return re.sub(r"_([0-9ijkL]|[ijk][+-]1)(?=,|$)", "_j", name)


def in_the_papers_symbols(name: m.Letter, line: m.Expression, kind: str) -> Formula:
    """The line "name = line" with the papers' symbols, which write over a parameter where we make a new letter."""
    turned = lambda e: m.replace_letters(e, lambda letter, _: _papers_letter(letter, kind))
    if name.name == "s":
        return formula(turned(line))
    return formula(turned(name), turned(line), relation="←")


_PAPERS = {"A": ("W'", 1), "B": ("W'", 2), "C": ("W'", 3), "b": ("b'", 2), "c": ("b'", 3)}
"""Our letter of a layer's own parameter → the papers' letter and its second index."""


def _papers_letter(letter: m.Letter, kind: str) -> m.Expression | None:
    renamed = lambda name, subscripts: m.Letter(name, *letter.shape, subscripts)
    match letter.name:
        case "A" | "B" | "C" | "b" | "c":
            name, second = _PAPERS[letter.name]
            return renamed(name, (*letter.subscripts, second))
        case "Ŵ":
            return renamed("W'", letter.subscripts)
        case "b̂":
            return renamed("b'", letter.subscripts)
        case "x":
            return renamed("x'", letter.subscripts)
        case "s":
            closed = ClosedForm(Layers(kind))
            activation = closed.activation(letter.subscripts[0])
            return m.replace_letters(activation, lambda inner, _: _papers_letter(inner, kind))
    return None
