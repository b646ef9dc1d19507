"""The two properties of the diamond product and their derivations, Eq. 13 and 14 of v1, Eq. 1 and 2 of v2 (C7–C10).

A chain such as W_2ᵀ ⋄ W_1 ⋄ x is printed without brackets.  Its association is data here: every printed chain has one
row for each of the two, and the lines that have brackets have one row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from uat_jax.decide.confirmation import proved
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.shapes import refute_shape
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
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


def _matrix(name: str, rows: Any, columns: Any, index: int) -> m.Letter:
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

Builder = Callable[[Operands, Association], m.Expression]


@dataclass(frozen=True)
class Line:
    """One printed line of a derivation: in LaTeX, and as an expression under an association."""

    latex: str
    build: Builder


@dataclass(frozen=True)
class Property:
    """A property of ⋄, its derivation, and the shapes for which it is defined.

    ``start`` is its left-hand side; ``bracketed`` are the lines that have at most one ⋄ outside brackets, so that they
    do not depend on the association; ``deleted`` is v1's line that v2 has not got; ``last`` is the right-hand side.
    """

    number: int
    start: Line
    bracketed: tuple[Line, ...]
    deleted: Line
    last: Line
    shapes: Operands
    v1: Source
    v2: Source


def _W(index: int, transposed: bool = False) -> str:
    return rf"\mathbf{{W}}_{index}" + ("^T" if transposed else "")


_X = r"\mathbf{x}"
_D = r"\diamond"

PROPERTY_1 = Property(
    number=1,
    start=Line(rf"{_W(1)}{_D}[{_X}{_D}{_W(2)}]", lambda o, _: diamond(o.W1, diamond(o.W2, o.x))),
    bracketed=(
        Line(rf"{_W(1)}{_D}[{_W(2, True)}{_X}]", lambda o, _: diamond(o.W1, o.W2.T @ o.x)),
        Line(rf"{_W(1, True)}[{_W(2, True)}{_X}]", lambda o, _: o.W1.T @ (o.W2.T @ o.x)),
        Line(rf"{_W(1, True)}{_W(2, True)}{_X}", lambda o, _: (o.W1.T @ o.W2.T) @ o.x),
        Line(rf"({_W(1, True)}{_W(2, True)})^T{_D}{_X}", lambda o, _: diamond((o.W1.T @ o.W2.T).T, o.x)),
        Line(rf"({_W(2)}{_W(1)}){_D}{_X}", lambda o, _: diamond(o.W2 @ o.W1, o.x)),
    ),
    deleted=Line(rf"{_W(2)}{_D}{_W(1)}{_D}{_X}", lambda o, a: chain(a, o.W2, o.W1, o.x)),
    last=Line(rf"{_W(2, True)}{_D}{_W(1)}{_D}{_X}", lambda o, a: chain(a, o.W2.T, o.W1, o.x)),
    shapes=RECTANGULAR_1,
    v1=v1("A", 13),
    v2=v2("A", 1),
)

PROPERTY_2 = Property(
    number=2,
    start=Line(rf"[{_W(1)}{_D}{_X}]{_D}{_W(2)}", lambda o, _: diamond(o.W2, diamond(o.W1, o.x))),
    bracketed=(
        Line(rf"[{_W(1, True)}{_X}]{_D}{_W(2)}", lambda o, _: diamond(o.W2, o.W1.T @ o.x)),
        Line(rf"{_W(2, True)}[{_W(1, True)}{_X}]", lambda o, _: o.W2.T @ (o.W1.T @ o.x)),
        Line(rf"[{_W(2, True)}{_W(1, True)}]^T{_D}{_X}", lambda o, _: diamond((o.W2.T @ o.W1.T).T, o.x)),
        Line(rf"[{_W(1)}{_W(2)}]{_D}{_X}", lambda o, _: diamond(o.W1 @ o.W2, o.x)),
    ),
    deleted=Line(rf"{_W(1)}{_D}{_W(2)}{_D}{_X}", lambda o, a: chain(a, o.W1, o.W2, o.x)),
    last=Line(rf"{_W(1, True)}{_D}{_W(2)}{_D}{_X}", lambda o, a: chain(a, o.W1.T, o.W2, o.x)),
    shapes=RECTANGULAR_2,
    v1=v1("A", 14),
    v2=v2("A", 2),
)


def _bracketed(of: Property) -> Callable[[Settings], Iterator[Evidence]]:
    """Every bracketed line equals the first one, for all shapes."""
    start = of.start.build(of.shapes, Association.LEFT)
    lines = (line.build(of.shapes, Association.LEFT) for line in of.bracketed)
    steps = [Step(f"line {n}", start, line) for n, line in enumerate(lines, 2)]
    return lambda settings: proved(steps, method=Method.NORMAL_FORM, what="all these lines are equal, for all shapes")


def _line(
    of: Property, line: Line, association: Association, operands: Operands
) -> Callable[[Settings], Iterator[Evidence]]:
    """One line against the first one, under an association."""
    start, printed = of.start.build(operands, association), line.build(operands, association)
    step = Step(line.latex, start, printed)
    return lambda settings: settle_equation(step, what=f"read from the {association}")


# --- W_12 ------------------------------------------------------------------------------------------------------------


def _without_x(settings: Settings) -> Iterator[Evidence]:
    """W_1 ⋄ [x ⋄ W_2] = W_12 with W_12 = W_1ᵀW_2ᵀ: a column and a matrix, two values where both are numbers."""

    def printed(size: Any) -> m.Expression:
        return _start(size) - _W12(size)

    yield refute_shape(printed, ("n",), what="W_1 ⋄ [x ⋄ W_2] = W_12, a column and a matrix")
    step = Step("n = 1", _start(1), _W12(1))
    yield from settle_equation(step, what="n = 1, where both are numbers", subject="n = 1")


def _start(size: Any) -> m.Expression:
    return PROPERTY_1.start.build(_of_size(size), Association.LEFT)


def _W12(size: Any) -> m.Expression:
    return _of_size(size).W1.T @ _of_size(size).W2.T


def _of_size(size: Any) -> Operands:
    return Operands(_matrix("W", size, size, 1), _matrix("W", size, size, 2), _matrix("x", size, 1, 0))


def _with_x(settings: Settings) -> Iterator[Evidence]:
    """W_1 ⋄ [x ⋄ W_2] = (W_2ᵀ ⋄ W_1) ⋄ x = W_12 x with W_12 = W_1ᵀW_2ᵀ."""
    o = PROPERTY_1.shapes
    W12 = _matrix("W", o.W1.shape[1], o.W2.shape[0], 12)
    start, where = PROPERTY_1.start.build(o, Association.LEFT), {W12: o.W1.T @ o.W2.T}
    steps = [
        Step("W_12 x", start, W12 @ o.x, where),
        Step("the chain", W12 @ o.x, PROPERTY_1.last.build(o, Association.LEFT), where),
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
        decide=_line(of, of.last, association, of.shapes if left else SQUARE),
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
        decide=_line(of, of.deleted, association, SQUARE),
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
        decide=_without_x,
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
