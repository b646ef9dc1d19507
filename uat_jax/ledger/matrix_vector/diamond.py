"""The diamond product A ⋄ B = AᵀB of the UAT papers: Eq. 4, and which laws the product obeys (C1–C6)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from enum import StrEnum
from functools import reduce
from itertools import product
from typing import Any

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.opposite import opposite
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally, of_count
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, apply, equation, letter, one_word, shape
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

# --- the product -----------------------------------------------------------------------------------------------------


class Association(StrEnum):
    """How a chain without brackets is read."""

    LEFT = "left"
    """A ⋄ B ⋄ C = (A ⋄ B) ⋄ C."""
    RIGHT = "right"
    """A ⋄ B ⋄ C = A ⋄ (B ⋄ C)."""


def diamond(left: m.Expression, right: m.Expression) -> m.Expression:
    """A ⋄ B = AᵀB: A has m rows and n columns, B has m rows; for a column B = x that is Eq. 4."""
    return left.T @ right


def chain(association: Association, *operands: m.Expression) -> m.Expression:
    """A ⋄ B ⋄ … ⋄ Z, read from the left or from the right."""
    if association is Association.LEFT:
        return reduce(diamond, operands)
    return reduce(lambda right, left: diamond(left, right), reversed(operands))


_DIMENSIONS = ("m", "n")


def _letters(rows: sympy.Expr | int, columns: sympy.Expr | int) -> tuple[m.Letter, m.Letter]:
    """W of m × n and x of m × 1."""
    return m.Letter("W", rows, columns, (1,)), m.Letter("x", rows, 1, (0,))


# --- Eq. 4 -----------------------------------------------------------------------------------------------------------


def _first_row() -> OneEdit:
    """w_{1,1}x_1 + w_{2,1}x_2 + w_{3,1}x_3 against w_{1,1}x_1 + w_{3,1}x_2 + w_{3,1}x_3, the printed row for m = 3."""
    w = [m.Letter("w", 1, 1, (k, 1)) for k in (1, 2, 3)]
    x = [m.Letter("x", 1, 1, (k,)) for k in (1, 2, 3)]
    row = lambda *entries: m.Addition(*(w[k - 1] @ x[n] for n, k in enumerate(entries)))
    true = row(1, 2, 3)
    return equation(Step("first row of Eq. 4", true, row(1, 3, 3)), true, what="m = 3, the first row")


def entry_by_entry(value: Callable[[Any, Any], Any]) -> Evidence:
    """Whether ``value(W, x)`` is what Eq. 4 says in words, for W of free symbols: element i is column i of W with x."""
    sizes = range(1, 4)
    for rows, columns in product(sizes, sizes):
        W: Any = sympy.Matrix(rows, columns, lambda k, i: sympy.Symbol(f"w_{k}_{i}"))
        x: Any = sympy.Matrix(rows, 1, lambda k, _: sympy.Symbol(f"x_{k}"))
        words = sympy.Matrix([sum(W[k, i] * x[k] for k in range(rows)) for i in range(columns)])
        if value(W, x).expand() != words:
            return Evidence(Method.ENTRY_BY_ENTRY, f"other entries for m = {rows}, n = {columns}", Verdict.UNKNOWN)
    finding = f"every entry is that of Eq. 4, for free symbols at all {len(sizes) ** 2} shapes m, n ≤ {sizes[-1]}"
    return Evidence(Method.ENTRY_BY_ENTRY, finding, Verdict.AGREES)


def _transpose(settings: Settings) -> Iterator[Evidence]:
    """Element i of Wᵀx is column i of W with x, for every i, m and n; and entry by entry for small shapes."""
    W, x = _letters(*map(m.dimension, _DIMENSIONS))
    e = m.Selection(sympy.Symbol("i", integer=True, positive=True), W.shape[1], 1)
    step = Step("element i", e.T @ diamond(W, x), (W @ e).T @ x)
    yield from proved(
        [step], method=Method.NORMAL_FORM, what="element i of Wᵀx is column i of W with x, for all shapes"
    )
    yield entry_by_entry(lambda W, x: W.T * x)


_M, _N = map(m.dimension, _DIMENSIONS)
_W, _x = letter("W", _M, _N), letter("x", _M, 1)
_Wx, _xW = apply("product", apply("transpose", _W), _x), apply("product", apply("transpose", _x), _W)


def _result_shape() -> OneEdit:
    """y ∈ R^{(m,1)} in y = W ⋄ x."""
    formula = lambda rows: apply("difference", letter("y", rows, 1), _Wx)
    return shape((formula(_M), formula(_N)), _DIMENSIONS, what="y = W ⋄ x with y of m × 1")


def shaped(claimed: tuple[str, str]) -> Evidence:
    """Whether W ⋄ x has the claimed shape, such as ("n", "1"), for all m and n."""
    W, x = _letters(*map(m.dimension, _DIMENSIONS))
    found = diamond(W, x)
    wanted = tuple(m.dimension(size) if size.isalpha() else sympy.Integer(size) for size in claimed)
    fits = all(m.same_dimension(*pair) for pair in zip(found.shape, wanted, strict=True))
    finding = f"W ⋄ x has shape {m.shape_text(found)} for all m and n"
    said = [of_count(size, Tally(axis, found)) for axis, size in zip(("rows", "columns"), wanted, strict=True)]
    statements = sum(said, ()) if fits else ()
    return Evidence(Method.SHAPES, finding, Verdict.PROVED if fits else Verdict.UNKNOWN, statements=statements)


# --- which laws hold -------------------------------------------------------------------------------------------------


def same_elements(term: Callable[[Any, Any, Any, Any], Any]) -> Evidence:
    """Whether Σ_k term(w, x, k, i) is element i of Eq. 4, Σ_k w_{k,i} x_k, for every m, n and i."""
    w: Any = sympy.IndexedBase("w")
    x: Any = sympy.IndexedBase("x")
    k, i, rows = sympy.symbols("k i m", integer=True, positive=True)
    printed, defined = term(w, x, k, i), w[k, i] * x[k]
    same = sympy.Sum(printed, (k, 1, rows)) == sympy.Sum(defined, (k, 1, rows))
    finding = f"element i is {printed} summed over k = 1 … m, for every m, n and i"
    return Evidence(Method.INDEX_NOTATION, finding, Verdict.PROVED if same else Verdict.UNKNOWN)


def _commutes_in_shape() -> OneEdit:
    """W ⋄ x = x ⋄ W with x ⋄ W = xᵀW: a column equated with a row."""
    formulas = (apply("difference", _Wx, right) for right in (_xW, apply("transpose", _xW)))
    return shape(formulas, _DIMENSIONS, what="W ⋄ x = x ⋄ W, both AᵀB")


def _commutes_transposed(settings: Settings) -> Iterator[Evidence]:
    """x ⋄ W = (W ⋄ x)ᵀ."""
    W, x = _letters(*map(m.dimension, _DIMENSIONS))
    yield from settle_equation(Step("x ⋄ W", diamond(x, W), diamond(W, x).T), what="x ⋄ W = (W ⋄ x)ᵀ, for all shapes")


def _not_associative(settings: Settings) -> Iterator[Evidence]:
    """(A ⋄ B) ⋄ C = BᵀAC and A ⋄ (B ⋄ C) = AᵀBᵀC, applied to a column."""
    n = m.dimension("n")
    operands, x = [m.Letter(name, n, n) for name in "ABC"], m.Letter("x", n, 1)
    left, right = (chain(association, *operands) @ x for association in Association)
    step = Step("associativity", left, right)
    yield from opposite(settle_equation(step, what="(A ⋄ B) ⋄ C = A ⋄ (B ⋄ C)"))


def _bilinear() -> Iterator[Evidence]:
    """W ⋄ (x + y) = W ⋄ x + W ⋄ y, (W + V) ⋄ x = W ⋄ x + V ⋄ x, (cW) ⋄ x = W ⋄ (cx) = c (W ⋄ x) for every c."""
    W, x = _letters(*map(m.dimension, _DIMENSIONS))
    V, y = m.Letter("V", *W.shape, (1,)), m.Letter("y", *x.shape, (0,))
    c: Any = sympy.Symbol("c", real=True)
    steps = [
        Step("distributive on the right", diamond(W, x + y), diamond(W, x) + diamond(W, y)),
        Step("distributive on the left", diamond(W + V, x), diamond(W, x) + diamond(V, x)),
        Step("a factor on the left", diamond(c * W, x), c * diamond(W, x)),
        Step("a factor on the right", diamond(W, c * x), c * diamond(W, x)),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="⋄ is linear in both operands, for all shapes")


# --- the rows ---------------------------------------------------------------------------------------------------------

EXTENDED = "⋄ of two matrices: A ⋄ B = AᵀB, which is Eq. 4 for every column of B"
_SIZES = "W has m rows and n columns, x has m elements"
_NEITHER = r"\text{does not possess the properties of associativity and distributivity}"
_ROW = "w_{1,1} x_1 + w_{2,1} x_2 + … + w_{m,1} x_m"

CLAIMS = (
    Claim(
        id="diamond.first-row",
        title="the first row of W ⋄ x as v1 prints it",
        ledger="C1",
        kind=Kind.IDENTITY,
        sources=(v1("3.2", 4),),
        printed=r"w_{1}x_1+w_{31}*x_2+\cdots w_{m,1}x_m",
        reading="w_1 is w_{1,1} and w_31 is w_{3,1}",
        hypotheses=("m ≥ 3, so that there is a w_{3,1}",),
        expects=Verdict.REFUTED,
        correction="diamond.transpose",
        decide=_first_row(),
    ),
    Claim(
        id="diamond.transpose",
        title="W ⋄ x is Wᵀx",
        ledger="C1, C3",
        kind=Kind.IDENTITY,
        sources=(v1("3.2", 4), v2("3.2", 4)),
        printed=r"\mathbf{W}\diamond\mathbf{x}=\mathbf{W}^T\mathbf{x}",
        reading=f"element i of W ⋄ x is column i of W with x, so that the first row of Eq. 4 is {_ROW}",
        hypotheses=(_SIZES,),
        expects=Verdict.PROVED,
        decide=_transpose,
    ),
    Claim(
        id="diamond.result-shape",
        title="W ⋄ x has as many elements as x",
        ledger="C2",
        kind=Kind.SHAPE,
        sources=(v1("3.2"), v2("3.2")),
        printed=r"\mathbf{y}=\mathbf{W}\diamond\mathbf{x},\ \mathbf{y}\in\mathbb{R}^{(m,1)}",
        hypotheses=(_SIZES,),
        expects=Verdict.REFUTED,
        correction="diamond.result-shape.corrected",
        decide=_result_shape(),
    ),
    Claim(
        id="diamond.result-shape.corrected",
        title="W ⋄ x has as many elements as W has columns",
        ledger="C2",
        kind=Kind.SHAPE,
        sources=(v1("3.2"), v2("3.2")),
        printed=r"\mathbf{y}=\mathbf{W}\diamond\mathbf{x},\ \mathbf{y}\in\mathbb{R}^{(n,1)}",
        hypotheses=(_SIZES,),
        expects=Verdict.PROVED,
        decide=lambda settings: iter((shaped(("n", "1")),)),
    ),
    Claim(
        id="diamond.commutes.definition",
        title="x ⋄ W is W ⋄ x: the same sums",
        ledger="C4",
        kind=Kind.IDENTITY,
        sources=(v1("3.2"), v2("3.2")),
        printed=r"\mathbf{W}\diamond\mathbf{x}=\mathbf{x}\diamond\mathbf{W}",
        reading="x ⋄ W is defined by the same computation: element i is the sum of x_k w_{k,i}",
        hypotheses=(_SIZES,),
        expects=Verdict.PROVED,
        decide=lambda settings: iter((same_elements(lambda w, x, k, i: x[k] * w[k, i]),)),
    ),
    Claim(
        id="diamond.commutes.matrices",
        title="x ⋄ W is W ⋄ x: both as products of matrices",
        ledger="C4",
        kind=Kind.SHAPE,
        sources=(v1("3.2"), v2("3.2")),
        printed=r"\mathbf{W}\diamond\mathbf{x}=\mathbf{x}\diamond\mathbf{W}",
        reading="A ⋄ B = AᵀB for all matrices, so that x ⋄ W = xᵀW is a row",
        hypotheses=(EXTENDED,),
        expects=Verdict.REFUTED,
        correction="diamond.commutes.transposed",
        decide=_commutes_in_shape(),
    ),
    Claim(
        id="diamond.commutes.transposed",
        title="x ⋄ W is the transpose of W ⋄ x",
        ledger="C4",
        kind=Kind.IDENTITY,
        sources=(v1("3.2"), v2("3.2")),
        printed=r"\mathbf{x}\diamond\mathbf{W}=(\mathbf{W}\diamond\mathbf{x})^T",
        reading="A ⋄ B = AᵀB for all matrices",
        hypotheses=(EXTENDED,),
        expects=Verdict.PROVED,
        decide=_commutes_transposed,
    ),
    Claim(
        id="diamond.not-associative",
        title="⋄ is not associative",
        ledger="C5",
        kind=Kind.EXISTENCE,
        sources=(v1("3.2"),),
        printed=_NEITHER,
        reading="(A ⋄ B) ⋄ C ≠ A ⋄ (B ⋄ C) for some A, B and C; so a chain without brackets has no meaning until its "
        "association is said",
        hypotheses=(EXTENDED,),
        expects=Verdict.PROVED,
        decide=_not_associative,
    ),
    Claim(
        id="diamond.not-distributive",
        title="⋄ is not distributive",
        ledger="C6",
        kind=Kind.EXISTENCE,
        sources=(v1("3.2"),),
        printed=_NEITHER,
        reading="W ⋄ (x + y) ≠ W ⋄ x + W ⋄ y for some W, x and y, or the same for a sum on the left; v2 deleted the "
        "sentence",
        hypotheses=(EXTENDED,),
        expects=Verdict.REFUTED,
        correction="diamond.bilinear",
        decide=one_word(_bilinear, "not distributive", "distributive"),
    ),
    Claim(
        id="diamond.bilinear",
        title="⋄ is linear in both operands",
        ledger="C6",
        kind=Kind.IDENTITY,
        sources=(v1("3.2"),),
        printed=r"\mathbf{W}\diamond(\mathbf{x}+\mathbf{y})=\mathbf{W}\diamond\mathbf{x}+\mathbf{W}\diamond\mathbf{y},\ "
        r"(\mathbf{W}+\mathbf{V})\diamond\mathbf{x}=\mathbf{W}\diamond\mathbf{x}+\mathbf{V}\diamond\mathbf{x}",
        hypotheses=(EXTENDED,),
        expects=Verdict.PROVED,
        decide=lambda settings: _bilinear(),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="diamond.definition",
        ledger="C1",
        status=Status.DEFINITION,
        sources=(v1("3.2", 4), v2("3.2", 4)),
        says="W ⋄ x has as element i the sum of column i of W times x, for W of m rows and n columns",
        note="v1 misprints the first row (diamond.first-row); DUAT has no diamond product",
    ),
)
