"""Expressions as text for the terminal and as LaTeX that looks like the papers.

One table per notation: head → how it is written.  A factor is bracketed when it binds less tightly than a product.
"""

from __future__ import annotations

import functools
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass

import sympy
from sympy.printing.str import StrPrinter

from uat_jax.symbolic import language as m

_ACCENTS = {"\u0302": r"\hat", "\u0303": r"\tilde", "\u0304": r"\bar"}
_LOOSE = (m.Addition, m.RangeSum, m.Kronecker, m.Hadamard)


@dataclass(frozen=True)
class _Notation:
    scalar: Callable[[sympy.Basic], str]
    letter: Callable[[m.Letter], str]
    space: str
    brackets: str  # a format of one argument
    transpose: str
    identity: str
    ones: str
    zero: str
    selection: str
    sigma: str
    softmax: str
    vec: str
    unvec: str
    kronecker: str
    hadamard: str
    diagonal: str
    dependent: str
    sum: str


class _PlainScalars(StrPrinter):
    printmethod = "_plain_text"  # or SymPy would ask the Indexed itself, which answers D[j]

    def _print_Indexed(self, expr: sympy.Indexed) -> str:
        return str(expr.base) + _script("_", expr.indices)

    def _print_Dummy(self, expr: sympy.Dummy) -> str:
        return expr.name


@functools.lru_cache(4096)  # arrays are found by what is written
def _text_letter(letter: m.Letter) -> str:
    return (
        letter.name
        + _script("_", letter.subscripts)
        + (f"^({','.join(str(v).replace(' ', '') for v in letter.superscripts)})" if letter.superscripts else "")
    )


def _script(mark: str, indices: tuple) -> str:
    inside = ",".join(_PlainScalars().doprint(i).replace(" ", "") for i in indices)
    return "" if not indices else mark + (inside if len(inside) == 1 else f"{{{inside}}}")


def _latex_character(character: str) -> str:
    """Greek letters and ℓ by their names, with a space behind; everything else as it is."""
    match unicodedata.name(character, "").split():
        case ["SCRIPT", "SMALL", "L"]:
            return r"\ell "
        case ["GREEK", size, "LETTER", name]:
            name = name.replace("LAMDA", "LAMBDA")
            return f"\\{name.lower() if size == 'SMALL' else name.capitalize()} "
    return character


@functools.lru_cache(4096)
def _latex_letter(letter: m.Letter) -> str:
    decomposed = unicodedata.normalize("NFD", letter.name)
    accents = [_ACCENTS[mark] for mark in decomposed if mark in _ACCENTS]
    base = "".join(c for c in decomposed if c not in _ACCENTS)
    base, primes = base.rstrip("'′"), sum(map(base.count, "'′"))
    written = "".join(map(_latex_character, base))
    symbol = rf"\boldsymbol{{{written.strip()}}}" if len(base) == 1 and written != base else rf"\mathbf{{{written}}}"
    for accent in accents:
        symbol = rf"{accent}{{{symbol}}}"
    symbol += "'" * primes
    subscripts = ",".join(sympy.latex(i) for i in letter.subscripts)
    version = ",".join(sympy.latex(i) for i in letter.superscripts)
    return symbol + (f"_{{{subscripts}}}" if subscripts else "") + (f"^{{({version})}}" if version else "")


_TEXT = _Notation(
    scalar=_PlainScalars().doprint,
    letter=_text_letter,
    space=" ",
    brackets="({})",
    transpose="{}ᵀ",
    identity="I_{{{}}}",
    ones="1_{{{},{}}}",
    zero="0_{{{},{}}}",
    selection="E_{}",
    sigma="σ({})",
    softmax="softmax({})",
    vec="vec({})",
    unvec="unvec({})",
    kronecker="{} ⊗ {}",
    hadamard="{} ⊙ {}",
    diagonal="diag({})",
    dependent="{}({})",
    sum="Σ_{{{}={}}}^{{{}}} {}",
)
_LATEX = _Notation(
    scalar=sympy.latex,
    letter=_latex_letter,
    space="",
    brackets=r"\left({}\right)",
    transpose="{}^{{T}}",
    identity=r"\mathbf{{I}}_{{{}}}",
    ones=r"\mathbf{{1}}_{{{},{}}}",
    zero=r"\mathbf{{0}}_{{{},{}}}",
    selection=r"\mathbf{{E}}_{{{}}}",
    sigma=r"\sigma\left({}\right)",
    softmax=r"\operatorname{{softmax}}\left({}\right)",
    vec=r"\operatorname{{vec}}\left({}\right)",
    unvec=r"\operatorname{{unvec}}\left({}\right)",
    kronecker=r"{} \otimes {}",
    hadamard=r"{} \odot {}",
    diagonal=r"\operatorname{{diag}}\left({}\right)",
    dependent=r"{}\left({}\right)",
    sum=r"\sum_{{{}={}}}^{{{}}} {}",
)


def scalar_text(scalar: sympy.Basic) -> str:
    """A dimension or coefficient as plain text, D_j rather than D[j]."""
    return _PlainScalars().doprint(scalar)


def text_of(expression: m.Expression) -> str:
    """The expression as one line of Unicode."""
    return _write(expression, _TEXT)


def latex_of(expression: m.Expression) -> str:
    """The expression as LaTeX without delimiters."""
    return _write(expression, _LATEX)


def _write(e: m.Expression, n: _Notation) -> str:
    inner = lambda x: _write(x, n)
    tight = lambda x, loose=_LOOSE: n.brackets.format(inner(x)) if isinstance(x, loose) else inner(x)
    match e:
        case m.Letter():
            return n.letter(e)
        case m.Identity():
            return n.identity.format(n.scalar(e.shape[0]))
        case m.Ones():
            return n.ones.format(*map(n.scalar, e.shape))
        case m.Zero():
            return n.zero.format(*map(n.scalar, e.shape))
        case m.Selection():
            return n.selection.format(n.scalar(e.args[0]))
        case m.Addition():
            return _signed([_write(term, n) for term in e.operands])
        case m.Product():
            return n.space.join(tight(f, (*_LOOSE, m.Scaled)) for f in e.operands)
        case m.Scaled():
            factor = n.brackets.format(n.scalar(c)) if (c := e.coefficient).is_Add else n.scalar(c)
            return f"-{tight(e.arg)}" if factor == "-1" else f"{factor} {tight(e.arg)}"
        case m.Transposed():
            raised = isinstance(e.arg, m.Letter) and e.arg.superscripts  # LaTeX allows no second superscript
            loose = m.Letter if raised else (*_LOOSE, m.Product, m.Scaled, m.Transposed)
            return n.transpose.format(tight(e.arg, loose))
        case m.Activation():
            return n.sigma.format(inner(e.arg))
        case m.RowSoftmax():
            return n.softmax.format(inner(e.arg))
        case m.Vectorised():
            return n.vec.format(inner(e.arg))
        case m.Matricised():
            return n.unvec.format(inner(e.arg))
        case m.Kronecker():
            return n.kronecker.format(*(tight(f) for f in e.operands))
        case m.Hadamard():
            return n.hadamard.format(*(tight(f) for f in e.operands))
        case m.Diagonal():
            return n.diagonal.format(inner(e.arg))
        case m.Dependent():
            return n.dependent.format(n.letter(e.letter), inner(e.arg))
        case m.RangeSum():
            body = tight(e.body, (m.Addition,))
            return n.sum.format(n.scalar(e.index), *map(n.scalar, e.bounds), body)
    raise TypeError(f"no notation for {type(e).__name__}")


def _signed(terms: list[str]) -> str:
    return terms[0] + "".join(f" - {t[1:]}" if t.startswith("-") else f" + {t}" for t in terms[1:])
