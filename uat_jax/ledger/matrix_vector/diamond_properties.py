"""The two properties of the diamond product and their derivations, Eq. 13 and 14 of v1, Eq. 1 and 2 of v2 (C7–C10).

A chain such as W_2ᵀ ⋄ W_1 ⋄ x is printed without brackets.  Its association is data here: every printed chain has one
row for each of the two, and the lines that have brackets have one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.shapes import settle_shape
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import Formula, OneEdit, apply, letter
from uat_jax.ledger.matrix_vector.diamond import EXTENDED, Association, chain, diamond
from uat_jax.ledger.source import Source, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step


@dataclass(frozen=True)
class Operands:
    """W_1, W_2 and the column x of one property."""

    W1: m.Letter
    W2: m.Letter
    x: m.Letter


def _matrix(name: str, rows: Any, columns: sympy.Expr | int, index: int) -> m.Letter:
    return m.Letter(name, rows, columns, (index,))


def _shaped(first: str, second: str, column: str) -> Operands:
    """W_1, W_2 and x with dimensions named by one letter each: ``first`` = "qr" makes W_1 a q × r matrix."""
    p, q, r, s = map(m.dimension, first + second)
    return Operands(_matrix("W", p, q, 1), _matrix("W", r, s, 2), _matrix("x", m.dimension(column), 1, 0))


SQUARE = _shaped("nn", "nn", "n")
"""As the papers presuppose."""
RECTANGULAR_1 = _shaped("qr", "pq", "p")
"""All shapes for which W_1 ⋄ [x ⋄ W_2] is defined."""
RECTANGULAR_2 = _shaped("pq", "qr", "p")
"""All shapes for which [W_1 ⋄ x] ⋄ W_2 is defined."""


# --- the two properties and their derivations ------------------------------------------------------------------------

Builder = Callable[[Operands], m.Expression]


@dataclass(frozen=True)
class Line:
    """One printed line of a derivation: in LaTeX, and as an expression."""

    latex: str
    build: Builder


@dataclass(frozen=True)
class ChainLine:
    """A printed line that is a chain of three operands without brackets: in LaTeX, and its operands."""

    latex: str
    operands: Callable[[Operands], tuple[m.Expression, ...]]


Chain = tuple[Association, tuple[m.Expression, ...]]
"""A chain under an association: the statement that a row decides."""


@dataclass(frozen=True)
class Property:
    """A property of ⋄, its derivation, and the shapes for which it is defined.

    ``start`` is its left-hand side; ``bracketed`` are the lines that have at most one ⋄ outside brackets, so that they
    do not depend on the association; ``deleted`` is v1's line that v2 has not got; ``last`` is the right-hand side.
    """

    number: int
    start: Line
    bracketed: tuple[Line, ...]
    deleted: ChainLine
    last: ChainLine
    shapes: Operands
    v1: Source
    v2: Source


def _W(index: int, transposed: bool = False) -> str:
    return rf"\mathbf{{W}}_{index}" + ("^T" if transposed else "")


_X = r"\mathbf{x}"
_D = r"\diamond"

PROPERTY_1 = Property(
    number=1,
    start=Line(rf"{_W(1)}{_D}[{_X}{_D}{_W(2)}]", lambda o: diamond(o.W1, diamond(o.W2, o.x))),
    bracketed=(
        Line(rf"{_W(1)}{_D}[{_W(2, True)}{_X}]", lambda o: diamond(o.W1, o.W2.T @ o.x)),
        Line(rf"{_W(1, True)}[{_W(2, True)}{_X}]", lambda o: o.W1.T @ (o.W2.T @ o.x)),
        Line(rf"{_W(1, True)}{_W(2, True)}{_X}", lambda o: (o.W1.T @ o.W2.T) @ o.x),
        Line(rf"({_W(1, True)}{_W(2, True)})^T{_D}{_X}", lambda o: diamond((o.W1.T @ o.W2.T).T, o.x)),
        Line(rf"({_W(2)}{_W(1)}){_D}{_X}", lambda o: diamond(o.W2 @ o.W1, o.x)),
    ),
    deleted=ChainLine(rf"{_W(2)}{_D}{_W(1)}{_D}{_X}", lambda o: (o.W2, o.W1, o.x)),
    last=ChainLine(rf"{_W(2, True)}{_D}{_W(1)}{_D}{_X}", lambda o: (o.W2.T, o.W1, o.x)),
    shapes=RECTANGULAR_1,
    v1=v1("A", 13),
    v2=v2("A", 1),
)

PROPERTY_2 = Property(
    number=2,
    start=Line(rf"[{_W(1)}{_D}{_X}]{_D}{_W(2)}", lambda o: diamond(o.W2, diamond(o.W1, o.x))),
    bracketed=(
        Line(rf"[{_W(1, True)}{_X}]{_D}{_W(2)}", lambda o: diamond(o.W2, o.W1.T @ o.x)),
        Line(rf"{_W(2, True)}[{_W(1, True)}{_X}]", lambda o: o.W2.T @ (o.W1.T @ o.x)),
        Line(rf"[{_W(2, True)}{_W(1, True)}]^T{_D}{_X}", lambda o: diamond((o.W2.T @ o.W1.T).T, o.x)),
        Line(rf"[{_W(1)}{_W(2)}]{_D}{_X}", lambda o: diamond(o.W1 @ o.W2, o.x)),
    ),
    deleted=ChainLine(rf"{_W(1)}{_D}{_W(2)}{_D}{_X}", lambda o: (o.W1, o.W2, o.x)),
    last=ChainLine(rf"{_W(1, True)}{_D}{_W(2)}{_D}{_X}", lambda o: (o.W1.T, o.W2, o.x)),
    shapes=RECTANGULAR_2,
    v1=v1("A", 14),
    v2=v2("A", 2),
)


def _bracketed(of: Property) -> Callable[[Settings], Iterator[Evidence]]:
    """Every bracketed line equals the first one, for all shapes."""
    start = of.start.build(of.shapes)
    lines = (line.build(of.shapes) for line in of.bracketed)
    steps = [Step(f"line {n}", start, line) for n, line in enumerate(lines, 2)]
    return lambda settings: proved(steps, method=Method.NORMAL_FORM, what="all these lines are equal, for all shapes")


def _chained(of: Property, operands: Operands) -> Callable[[Chain, Settings], Iterator[Evidence]]:
    """A chain under an association against the first line."""

    def decide(of_chain: Chain, settings: Settings) -> Iterator[Evidence]:
        association, factors = of_chain
        step = Step("the chain", of.start.build(operands), chain(association, *factors))
        yield from settle_equation(step, what=f"read from the {association}")

    return decide


def _property(of: Property, association: Association) -> Callable[[Settings], Iterable[Evidence]]:
    """The right-hand side; read from the right it is another value, read from the left it is the first line."""
    if association is Association.LEFT:
        return lambda settings: _chained(of, of.shapes)((association, of.last.operands(of.shapes)), settings)
    factors = of.last.operands(SQUARE)
    return OneEdit((association, factors), (Association.LEFT, factors), _chained(of, SQUARE))


def _deleted(of: Property, association: Association) -> OneEdit:
    """The line that v2 deleted: from the left its first factor lacks a transpose, from the right two have changed places."""
    first, second, x = factors = of.deleted.operands(SQUARE)
    corrected = (first.T, second, x) if association is Association.LEFT else (second, first, x)
    return OneEdit((association, factors), (association, corrected), _chained(of, SQUARE))


# --- W_12 ------------------------------------------------------------------------------------------------------------


def _without_x() -> OneEdit:
    """W_1 ⋄ [x ⋄ W_2] = W_12 with W_12 = W_1ᵀW_2ᵀ: a column and a matrix, two values where both are numbers."""
    n = m.dimension("n")
    first, second, x = letter("W_1", n, n), letter("W_2", n, n), letter("x", n, 1)
    W12 = apply("product", apply("transpose", first), apply("transpose", second))

    def decide(right: Formula, settings: Settings) -> Iterator[Evidence]:
        start = apply("product", apply("transpose", first), apply("product", apply("transpose", second), x))
        build = lambda size: apply("difference", start, right).at({n: size})
        yield settle_shape(build, ("n",), what="W_1 ⋄ [x ⋄ W_2] = W_12, a column and a matrix")
        step = Step("n = 1", start.at({n: 1}), right.at({n: 1}))
        yield from settle_equation(step, what="n = 1, where both are numbers", subject="n = 1")

    return OneEdit(W12, apply("product", W12, x), decide)


def _with_x(settings: Settings) -> Iterator[Evidence]:
    """W_1 ⋄ [x ⋄ W_2] = (W_2ᵀ ⋄ W_1) ⋄ x = W_12 x with W_12 = W_1ᵀW_2ᵀ."""
    o = PROPERTY_1.shapes
    W12 = _matrix("W", o.W1.shape[1], o.W2.shape[0], 12)
    start, where = PROPERTY_1.start.build(o), {W12: o.W1.T @ o.W2.T}
    steps = [
        Step("W_12 x", start, W12 @ o.x, where),
        Step("the chain", W12 @ o.x, chain(Association.LEFT, *PROPERTY_1.last.operands(o)), where),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for all shapes")


# --- the rows --------------------------------------------------------------------------------------------------------

_COMMUTED = "x ⋄ W_2 stands for W_2 ⋄ x"
_SQUARE = "W_1 and W_2 are square, as the papers presuppose"
_READ = {
    Association.LEFT: "read from the left: (A ⋄ B) ⋄ C",
    Association.RIGHT: "read from the right: A ⋄ (B ⋄ C)",
}


def _property_row(of: Property, association: Association) -> Claim:
    """The property itself, which is also the last line of its derivation."""
    left = association is Association.LEFT
    return Claim(
        id=f"diamond.property-{of.number}.{association}",
        title=f"property {of.number} of ⋄, the chain read from the {association}",
        ledger=f"C{6 + of.number}, C9",
        kind=Kind.IDENTITY,
        sources=(v1("3.2"), of.v1, v2("3.2"), of.v2),
        printed=f"{of.start.latex}={of.last.latex}",
        reading=_READ[association] + (", for all shapes that fit (square is not needed)" if left else ""),
        hypotheses=(EXTENDED, _COMMUTED) + (() if left else (_SQUARE,)),
        expects=Verdict.PROVED if left else Verdict.REFUTED,
        correction="" if left else f"diamond.property-{of.number}.left",
        decide=_property(of, association),
    )


def _deleted_row(of: Property, association: Association) -> Claim:
    """The line that only v1 prints."""
    number = len(of.bracketed) + 2
    return Claim(
        id=f"diamond.derivation-{of.number}.line-{number}.{association}",
        title=f"line {number} of v1's derivation of property {of.number}, read from the {association}",
        ledger="C9",
        kind=Kind.IDENTITY,
        sources=(of.v1,),
        printed=f"{of.start.latex}={of.deleted.latex}",
        reading=_READ[association] + "; v2 deleted the line",
        hypotheses=(EXTENDED, _COMMUTED, _SQUARE),
        expects=Verdict.REFUTED,
        correction=f"diamond.property-{of.number}.left",
        decide=_deleted(of, association),
    )


def _bracketed_row(of: Property) -> Claim:
    return Claim(
        id=f"diamond.derivation-{of.number}.bracketed",
        title=f"the bracketed lines of the derivation of property {of.number}",
        ledger="C9",
        kind=Kind.IDENTITY,
        sources=(of.v1, of.v2),
        printed="=".join(line.latex for line in (of.start, *of.bracketed)),
        reading="these lines have brackets, and so only one reading",
        hypotheses=(EXTENDED, _COMMUTED),
        expects=Verdict.PROVED,
        decide=_bracketed(of),
    )


def _derivation_rows(of: Property) -> tuple[Claim, ...]:
    """The property and its derivation, each line under each association."""
    both = tuple(Association)
    properties = tuple(_property_row(of, association) for association in both)
    return *properties, _bracketed_row(of), *(_deleted_row(of, association) for association in both)


CLAIMS = (
    *_derivation_rows(PROPERTY_1),
    *_derivation_rows(PROPERTY_2),
    Claim(
        id="diamond.w12",
        title="property 1 is the matrix W_12",
        ledger="C10",
        kind=Kind.SHAPE,
        sources=(v1("A"),),
        printed=rf"{PROPERTY_1.start.latex}={PROPERTY_1.last.latex}=\mathbf{{W}}_{{12}}",
        reading="W_12 = W_1ᵀW_2ᵀ; the chain read from the left",
        hypotheses=(EXTENDED, _COMMUTED, _SQUARE),
        expects=Verdict.REFUTED,
        correction="diamond.w12.corrected",
        decide=_without_x(),
    ),
    Claim(
        id="diamond.w12.corrected",
        title="property 1 is W_12 applied to x",
        ledger="C9, C10",
        kind=Kind.IDENTITY,
        sources=(v1("A", 13), v2("A", 1)),
        printed=rf"{PROPERTY_1.start.latex}=\mathbf{{W}}_{{12}}{_X}={PROPERTY_1.last.latex}",
        reading="W_12 = W_1ᵀW_2ᵀ; the chain read from the left",
        hypotheses=(EXTENDED, _COMMUTED),
        expects=Verdict.PROVED,
        decide=_with_x,
    ),
)  # fmt: skip
