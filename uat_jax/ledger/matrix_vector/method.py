"""The matrix–vector method of Eq. 3: y = T(x|W) becomes y′ = W′x′ (B1–B4).

T_D turns the data into columns, x′ = T_D(x), and T_P the parameters into a matrix, W′ = T_P(W).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide import dependence
from uat_jax.decide.confirmation import proved
from uat_jax.decide.opposite import opposite
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, one_word
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

N, M, K, L, D, E = map(m.dimension, "NMKLDE")
"""N tokens and M features before a linear map, K tokens and L features after it; columns of length D before, E after."""


def column_major(matrix: m.Expression) -> m.Expression:
    """The columns of a matrix below each other: the row-major vec of its transpose."""
    return m.Vectorised(matrix.T)


# --- B1: Eq. 3 -------------------------------------------------------------------------------------------------------


def _linear(settings: Settings) -> Iterator[Evidence]:
    """T(x) = Σ_r A_r x B_r has W′ = Σ_r A_r ⊗ B_rᵀ, and no other matrix: its columns are T at the unit columns."""
    r = sympy.Symbol("r", integer=True, positive=True)
    A, B, X = m.Letter("A", K, N, (r,)), m.Letter("B", M, L, (r,)), m.Letter("x", N, M)
    exists = lambda name, add: Step(
        name,
        m.Vectorised(add(m.Product(A, X, B))),
        add(m.Kronecker(A, B.T)) @ m.Vectorised(X),
    )
    two = lambda term: m.Addition(*(term.renamed({r: sympy.Integer(n)}) for n in (1, 2)))
    W, unit, image = m.Letter("W'", E, D, (1,)), m.Letter("x'", D, D, (0,)), m.Letter("y'", E, D, (0,))
    unique = Step("the images of the unit columns, side by side", image, W, {unit: m.Identity(D), image: W @ unit})
    every = exists("for any number R of terms", lambda term: m.RangeSum(term, r, 1, m.dimension("R")))
    steps = [every, exists("for two terms", two), unique]
    yield from proved(steps, method=Method.NORMAL_FORM, what="one W′ and only one, for all shapes")


def _nonlinear(settings: Settings) -> Iterator[Evidence]:
    """W′ = y′ r x′ᵀ + Z(I − x′ r x′ᵀ) with r = 1/(x′ᵀx′) takes x′ to y′, whatever y′ and Z are.

    W′x′ = y′ + (y′ − Z x′)(r x′ᵀx′ − 1), and r x′ᵀx′ = 1 for x′ ≠ 0.
    """
    x, y, Z, r = _point()
    matrix = m.Product(y, r, x.T) + Z @ (m.Identity(D) - m.Product(x, r, x.T))
    step = Step("W′x′", matrix @ x, y + (y - Z @ x) @ (m.Product(r, x.T, x) - m.Identity(1)))
    yield from proved([step], method=Method.NORMAL_FORM, what="W′x′ = y′ for every Z, for all shapes")


def _not_unique(settings: Settings) -> Iterator[Evidence]:
    """Z and 0 would give the same W′ only if n Z = Z x′x′ᵀ; one row of both is applied to a column z."""
    x, _, _, n = _point()
    Z, z = m.Letter("Z", 1, D), m.Letter("z", D, 1)
    step = Step("the same W′ for Z and for 0", m.Product(Z, z, n), m.Product(Z, x, x.T, z), {n: x.T @ x})
    yield from opposite(settle_equation(step, what="the same W′ for every Z"))


def _point() -> tuple[m.Letter, m.Letter, m.Letter, m.Letter]:
    """x′, y′ = T(x)′, any matrix Z of the shape of W′, and a number: r = 1/(x′ᵀx′), or x′ᵀx′ itself."""
    x, y = m.Letter("x'", D, 1, (0,)), m.Letter("y'", E, 1, (0,))
    return x, y, m.Letter("Z", E, D, (1,)), m.Letter("r", 1, 1)


# --- B2: one reshape for all -----------------------------------------------------------------------------------------


def _two_maps() -> tuple[m.Expression, m.Letter, m.Letter, m.Letter]:
    """W x V: a map of the tokens, W (K × N), and one of the features, V (M × L)."""
    W, V, X = m.Letter("W", K, N, (1,)), m.Letter("V", M, L, (1,)), m.Letter("x", N, M, (0,))
    return m.Product(W, X, V), W, V, X


def _same_reshape(settings: Settings) -> Iterator[Evidence]:
    """Row-major W ⊗ I_M and I_K ⊗ Vᵀ, column-major I_M ⊗ W and Vᵀ ⊗ I_K: each pair composes to W x V."""
    Y, W, V, X = _two_maps()
    row_major = m.Product(m.Kronecker(m.Identity(K), V.T), m.Kronecker(W, m.Identity(M)), m.Vectorised(X))
    columns = m.Product(m.Kronecker(V.T, m.Identity(K)), m.Kronecker(m.Identity(M), W), column_major(X))
    steps = [Step("row-major", m.Vectorised(Y), row_major), Step("column-major", column_major(Y), columns)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="both layers in one reshape, for all shapes")


ROWS, COLUMNS = "row-major", "column-major"
RESHAPES = {ROWS: m.Vectorised, COLUMNS: column_major}


def _reshape_per_operation(reshapes: tuple[str, str], settings: Settings) -> Iterator[Evidence]:
    """The map of the tokens in the one reshape, W ⊗ I or I ⊗ W, then that of the features in the other, for M = N."""
    W, V, X = m.Letter("W", N, N, (1,)), m.Letter("V", N, N, (1,)), m.Letter("x", N, N, (0,))
    first, last = reshapes
    eye = m.Identity(N)
    of_tokens = {ROWS: m.Kronecker(W, eye), COLUMNS: m.Kronecker(eye, W)}[first]
    of_features = {ROWS: m.Kronecker(eye, V.T), COLUMNS: m.Kronecker(V.T, eye)}[last]
    mixed = m.Product(of_features, of_tokens, RESHAPES[first](X))
    step = Step("mixed", RESHAPES[last](m.Product(W, X, V)), mixed)
    yield from settle_equation(step, what="a reshape for each kind of operation")


# --- B3: what W′ is made of ------------------------------------------------------------------------------------------


def _linear_static(settings: Settings) -> Iterator[Evidence]:
    """vec(W x) = (W ⊗ I_M) vec(x) and vec(x V) = (I_N ⊗ Vᵀ) vec(x), and neither matrix contains x."""
    _, W, V, X = _two_maps()
    steps = (
        Step("W x", m.Vectorised(W @ X), m.Kronecker(W, m.Identity(M)) @ m.Vectorised(X)),
        Step("x V", m.Vectorised(X @ V), m.Kronecker(m.Identity(N), V.T) @ m.Vectorised(X)),
    )
    for step in steps:
        for found in proved([step], method=Method.NORMAL_FORM, what="the matrix of the layer"):
            yield replace(found, subject=step.name)
    yield from dependence.static(m.Kronecker(W, m.Identity(M)), X, what="W ⊗ I_M", subject="W x")
    yield from dependence.static(m.Kronecker(m.Identity(N), V.T), X, what="I_N ⊗ Vᵀ", subject="x V")


def attention_matrix(x: jax.Array) -> jax.Array:
    """W_HVO(x) of Theorem 3 for N tokens x of one feature, one head, and all weights 1; N × N."""
    of = Attention(1)
    X = m.Letter("X", of.tokens, of.features(0))
    matrix = of.matrix(1, X)
    result = m.Letter("W_HVO", *matrix.shape)
    lowered = Lowered(Program({result: matrix}, result), X, jax.nn.relu, dimensions={of.tokens: len(x)})
    return lowered({f"W_{{{name},1}}^(1)": jnp.ones((1, 1), x.dtype) for name in "QKVO"}, x[:, None])


def _attention_dynamic() -> Iterator[Evidence]:
    """Two inputs with two matrices."""
    inputs = [0, 0], [1, 0]
    weights = {f"W_{name}": 1 for name in "QKVO"}
    yield dependence.dynamic(attention_matrix, inputs, what="W_HVO", at=weights)


# --- B4: any reshape -------------------------------------------------------------------------------------------------


def _any_reshape(settings: Settings) -> Iterator[Evidence]:
    """With columns P y′ and x′ = Q x″ in place of y′ and x′ the matrix is P W′ Q; for vecs of the transpose, too."""
    W, P, Q = m.Letter("W'", E, D, (1,)), m.Letter("P", E, E, (1,)), m.Letter("Q", D, D, (0,))
    old, new = m.Letter("x'", D, 1, (0,)), m.Letter("x''", D, 1, (0,))
    conjugate = Step("P y′ = (P W′ Q) x″", m.Product(P, W, old), m.Product(P, W, Q, new), {old: Q @ new})
    Y, W, V, X = _two_maps()
    columns = Step("column-major", column_major(Y), m.Kronecker(V.T, W) @ column_major(X))
    yield from proved([conjugate, columns], method=Method.NORMAL_FORM, what="for every bijective T_D and all shapes")


_EQUATION_3 = (v1("3.1", 3), v2("3.1", 3), duat("2.2", 3))
_PRINTED_3 = r"\mathbf{y}=T(\mathbf{x}|\mathbf{W})\mapsto\mathbf{y}'=\mathbf{W}'\mathbf{x}'"
_DERIVED = (v1("2"), v2("2"), duat("2.1"))
_PRINTED_DERIVED = r"\mathbf{W}'\text{ is derived from }\mathbf{W}"
_ROW_MAJOR = "x′ is x row by row (row-major); its length is fixed"

CLAIMS = (
    Claim(
        id="matrix-vector.linear",
        title="a linear map of matrices is one matrix acting on x′, and only one",
        ledger="B1",
        kind=Kind.EXISTENCE,
        sources=_EQUATION_3,
        printed=_PRINTED_3,
        reading="T linear in x, as a Linear layer is; T_P is then determined by T_D",
        hypotheses=(
            _ROW_MAJOR,
            "T(x) = Σ_r A_r x B_r, as every linear map of matrices can be written (with matrices of a single 1)",
        ),
        expects=Verdict.PROVED,
        decide=_linear,
    ),
    Claim(
        id="matrix-vector.nonlinear",
        title="any map of matrices is at each x a matrix acting on x′",
        ledger="B1",
        kind=Kind.EXISTENCE,
        sources=_EQUATION_3,
        printed=_PRINTED_3,
        reading="T any map; W′ = y′x′ᵀ/‖x′‖² + Z(I − x′x′ᵀ/‖x′‖²) depends on x, and Z is arbitrary",
        hypotheses=("x ≠ 0, or T(0) = 0",),
        expects=Verdict.PROVED,
        decide=_nonlinear,
    ),
    Claim(
        id="matrix-vector.nonlinear-not-unique",
        title="that matrix is not unique: the content of the method is which one is given",
        ledger="B1",
        kind=Kind.EXISTENCE,
        sources=_EQUATION_3,
        printed=_PRINTED_3,
        reading="at one x, two different W′ take x′ to the same y′",
        hypotheses=("x has at least two elements",),
        expects=Verdict.PROVED,
        decide=_not_unique,
    ),
    Claim(
        id="matrix-vector.one-reshape",
        otherwise=("v1", "v2"),
        title="layers compose if their inputs and outputs share one reshape",
        ledger="B2",
        kind=Kind.IDENTITY,
        sources=(duat("2.2"), v1("3.1"), v2("3.1")),
        printed=r"\text{the input and output throughout the LLMs network adhere to the same restructuring scheme}",
        reading="DUAT: the data share T_D, so that x'_i = T_D(x_i) for every i (v1, v2: “identical operations” do, if all "
        "of them are meant)",
        hypotheses=("T_D is row-major throughout, or column-major throughout",),
        expects=Verdict.PROVED,
        decide=_same_reshape,
    ),
    Claim(
        id="matrix-vector.reshape-per-operation",
        title="layers compose if each kind of operation has a reshape of its own",
        ledger="B2",
        kind=Kind.IDENTITY,
        sources=(v1("3.1"), v2("3.1")),
        printed=r"\text{identical operations throughout the LLMs network adhere to the same restructuring scheme}",
        reading="only identical operations share T_D: a map of the tokens row-major, the next one, of the features, "
        "column-major",
        hypotheses=("between the layers the column is used as it is, as the papers want", "shown for M = N"),
        expects=Verdict.REFUTED,
        correction="matrix-vector.one-reshape",
        decide=OneEdit((ROWS, COLUMNS), (COLUMNS, COLUMNS), _reshape_per_operation),
    ),
    Claim(
        id="matrix-vector.parameters-alone.linear",
        title="W′ is derived from W: a Linear layer",
        ledger="B3",
        kind=Kind.DEPENDENCE,
        sources=_DERIVED,
        printed=_PRINTED_DERIVED,
        reading="T is a Linear layer, W x or x V: W′ does not depend on x",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.PROVED,
        decide=_linear_static,
    ),
    Claim(
        id="matrix-vector.parameters-alone.attention",
        title="W′ is derived from W: multi-head attention",
        ledger="B3",
        kind=Kind.DEPENDENCE,
        sources=_DERIVED,
        printed=_PRINTED_DERIVED,
        reading="T is multi-head attention and W′ the papers' W_HVO: it would not depend on x (and no other W′ does not, "
        "see attention.linear.map)",
        hypotheses=("N ≥ 2 tokens (one token has H = 1)",),
        expects=Verdict.REFUTED,
        correction="attention.matrix",
        decide=one_word(_attention_dynamic, "static", "dynamic"),
    ),
    Claim(
        id="matrix-vector.any-reshape",
        title="T_D may be any bijective reshape",
        ledger="B4",
        kind=Kind.IDENTITY,
        sources=_EQUATION_3,
        printed=r"T_D\text{ and }T_P\text{ are not fixed}",
        reading="y″ = (P W′ P⁻¹) x″ with P the change of reshape, such as a permutation: W′ changes with it, and so T_P "
        "with T_D",
        hypotheses=("x′ can be had back from x″: x′ = Q x″",),
        expects=Verdict.PROVED,
        decide=_any_reshape,
    ),
)  # fmt: skip
