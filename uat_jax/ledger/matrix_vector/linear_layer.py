"""The Linear layer, Eq. 5 and 15: as a matrix, renamed, and on which axis it acts (D1, D2, D4)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from itertools import product
from typing import Any

import jax
import numpy as np
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import as_counted, counted, share_of
from uat_jax.decide.exhibits import exhibit, exhibit_numbers
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import density_of
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, equation, one_case
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.support import density

N, M, K = map(m.dimension, "NMK")
"""N tokens, M features; K rows after W x, or features after x V."""
SMALL = tuple(product((1, 2, 3), repeat=2))
"""The shapes at which matrices are compared entry by entry."""

# --- D1: W x ---------------------------------------------------------------------------------------------------------

W, X = m.Letter("W", K, N, (1,)), m.Letter("x", N, M, (1,))
PRINTED = m.Letter("W'", N * M, K * M, (1,))
"""W′ of the diamond convention, W′ ⋄ x′ = (W′)ᵀx′."""
TRANSPOSED: dict[m.Letter, m.Expression] = {PRINTED: m.Kronecker(W, m.Identity(M)).T}


SQUARE = m.Letter("W", N, N, (1,))
"""W as the papers have it."""


def _left(settings: Settings) -> Iterator[Evidence]:
    """vec(W x) = W′ ⋄ vec(x) = (W′)ᵀ vec(x) with W′ = (W ⊗ I_M)ᵀ."""
    square = m.Kronecker(SQUARE, m.Identity(M)).T
    steps = [
        Step("W′ ⋄ x′", m.Vectorised(SQUARE @ X), square.T @ m.Vectorised(X)),
        Step("W not square", m.Vectorised(W @ X), PRINTED.T @ m.Vectorised(X), TRANSPOSED),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for W with any number of rows, for all shapes")


def _left_duat(settings: Settings) -> Iterator[Evidence]:
    """vec(W x) = (W ⊗ I_M) vec(x)."""
    matrix = lambda W: m.Kronecker(W, m.Identity(M)) @ m.Vectorised(X)
    steps = [Step(name, m.Vectorised(one @ X), matrix(one)) for name, one in (("W′x′", SQUARE), ("W not square", W))]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for W with any number of rows, for all shapes")


Entry = Callable[[Any, Any, Any, Any, Any], Any]
"""(w, token, place, row, shift) → the entry of a matrix at row token·m + place and column row·m + shift."""


def entry_of_15(w: Any, token: Any, place: Any, row: Any, shift: Any) -> sympy.Expr:
    """Eq. 15: column ``shift`` of the m columns of a row of W has that row's entries, one in every m places from shift on."""
    return w[row, token] * identity_entry(place, shift)


def displayed(entry: Entry) -> Evidence:
    """Whether the matrix with these entries is (W ⊗ I_m)ᵀ, for every n and m.

    Entry ((row, shift), (token, place)) of W ⊗ I_m is w_{row,token} δ_{shift,place}.
    """
    w: Any = sympy.IndexedBase("w")
    token, place, row, shift = sympy.symbols("token place row shift", integer=True, positive=True)
    same = entry(w, token, place, row, shift) == w[row, token] * identity_entry(place, shift)
    finding = "entry (token, place), (row, shift) of Eq. 15 is that of (W ⊗ I_m)ᵀ, for every n and m"
    return Evidence(Method.INDEX_NOTATION, finding, Verdict.PROVED if same else Verdict.UNKNOWN)


def _displayed(settings: Settings) -> Iterator[Evidence]:
    yield displayed(entry_of_15)
    yield from _left(settings)


# --- D2: the renaming ------------------------------------------------------------------------------------------------


def _renamed(settings: Settings) -> Iterator[Evidence]:
    """With V′ = (W′)ᵀ as the new W′: vec(W x) = V′ vec(x)."""
    new, same = m.Letter("V'", K * M, N * M, (1,)), m.Letter("V'", N * M, N * M, (1,))
    steps = [
        Step("renamed", m.Vectorised(W @ X), new @ m.Vectorised(X), {**TRANSPOSED, new: PRINTED.T}),
        Step("W square", m.Vectorised(SQUARE @ X), same @ m.Vectorised(X), {same: m.Kronecker(SQUARE, m.Identity(M))}),
    ]
    yield from proved(
        steps, method=Method.NORMAL_FORM, what="x′_{i+1} is the renamed matrix times x′_i, for all shapes"
    )


def _renamed_again() -> OneEdit:
    """DUAT's Eq. 5 has W′ = W ⊗ I_M already: transposed once more it is (W ⊗ I_M)ᵀ."""
    matrix, x = m.Kronecker(SQUARE, m.Identity(M)), m.Vectorised(X)
    step = Step("renamed again", m.Vectorised(SQUARE @ X), matrix.T @ x)
    return equation(step, matrix @ x, what="(W ⊗ I_M)ᵀ for W ⊗ I_M")


# --- D4: which axis --------------------------------------------------------------------------------------------------


def _axis(settings: Settings) -> Iterator[Evidence]:
    """No W x is x V, even for one token; and W x does not commute with an exchange of the tokens, as x V does."""
    yield replace(_one_token(), subject="value")
    yield replace(_two_tokens(), subject="exchange of tokens")


def _one_token() -> Evidence:
    """x = (1, 0) and V with a 1 in its upper right corner: x V = (0, 1), and W x = (w, 0) for every number w."""
    x, V, w = sympy.Matrix([[1, 0]]), sympy.Matrix([[0, 1], [0, 0]]), sympy.Symbol("w")
    right: Any = x * V
    left: Any = w * x
    at, names = {"x": x.tolist(), "V": V.tolist(), "W x": left.tolist()}, ("x V", "W x")
    return exhibit_numbers(right[0, 1], left[0, 1], at=at, what="second feature of x V and of W x", names=names)


def _two_tokens() -> Evidence:
    """The matrix that exchanges two tokens, before and after W."""
    return exhibit(
        lambda P, W, x: _times(P, _times(W, x)),
        lambda P, W, x: _times(W, _times(P, x)),
        {"P": [[0, 1], [1, 0]], "W": [[1, 0], [0, 0]], "x": [[1], [0]]},
        what="two tokens exchanged after and before W x",
        names=("P (W x)", "W (P x)"),
    )


def _times(left: Any, right: Any) -> Any:
    return jax.numpy.matmul(left, right, precision="highest")


def _right(settings: Settings) -> Iterator[Evidence]:
    """vec(x V) = (I_N ⊗ Vᵀ) vec(x), and P (x V) = (P x) V for every P, a permutation of the tokens included."""
    V, P = m.Letter("V", M, K, (1,)), m.Letter("P", N, N, (1,))
    steps = [
        Step("x V", m.Vectorised(X @ V), m.Kronecker(m.Identity(N), V.T) @ m.Vectorised(X)),
        Step("tokens exchanged", m.Product(P, X, V), (P @ X) @ V),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for V with any number of columns, for all shapes")


def right_density(claimed: Any) -> Iterator[Evidence]:
    """The share of entries of I_N ⊗ Vᵀ that are not structurally zero, counted for V of ones as well."""
    matrix = m.Kronecker(m.Identity(N), m.Letter("V", M, M).T)
    ones = lambda tokens, features: np.kron(np.eye(tokens, dtype=int), np.ones((features, features), int))
    yield from counted(
        claimed,
        density(matrix),
        what=f"density of {matrix}",
        measured=lambda shape: share_of(matrix, ones(shape[N], shape[M]), shape),
        shapes=[{N: tokens, M: features} for tokens, features in SMALL],
        said=as_counted(density_of(matrix)),
    )


Family = Callable[[Any, Any], Any]
"""The entry (a, b) of a matrix, by index notation."""


def identity_entry(a: Any, b: Any) -> sympy.Expr:
    """δ_{a,b}."""
    return sympy.KroneckerDelta(a, b)


def only_multiples(W_is: Family, V_is: Family) -> Iterator[Evidence]:
    """Whether W ⊗ I_M = I_N ⊗ Vᵀ holds for W = c W_is, V = c V_is and for nothing else.

    Entry ((n,m),(k,l)) of the difference is e = w_{n,k} δ_{m,l} − δ_{n,k} v_{l,m}.  If all e are 0, then those with
    l = m say W = v_{m,m} I for every m, and those with k = n say V = w_{n,n} I for every n: so v_{m,m} = w_{n,n} = c.
    """
    n, k, l, m_, c = sympy.symbols("n k l m c", integer=True, positive=True)
    w: Any = sympy.IndexedBase("w")
    v: Any = sympy.IndexedBase("v")
    entry = lambda W, V: W(n, k) * identity_entry(m_, l) - identity_entry(n, k) * V(l, m_)
    e = entry(lambda a, b: w[a, b], lambda a, b: v[a, b])
    facts = {
        "l = m gives w_{n,k} = v_{m,m} δ_{n,k}": e.subs(l, m_) - (w[n, k] - v[m_, m_] * identity_entry(n, k)),
        "k = n gives v_{l,m} = w_{n,n} δ_{l,m}": e.subs(k, n) - (w[n, n] * identity_entry(m_, l) - v[l, m_]),
        "so W = c I": W_is(n, k) - identity_entry(n, k),
        "so V = c I": V_is(l, m_) - identity_entry(l, m_),
        "and then every e is 0": entry(lambda a, b: c * W_is(a, b), lambda a, b: c * V_is(a, b)),
    }
    wrong = [fact for fact, remainder in facts.items() if sympy.expand(remainder) != 0]
    verdict = Verdict.UNKNOWN if wrong else Verdict.PROVED
    yield Evidence(Method.INDEX_NOTATION, f"not so: {wrong[0]}" if wrong else "; ".join(facts), verdict)
    yield _solutions(W_is, V_is)


def _solutions(W_is: Family, V_is: Family) -> Evidence:
    """The linear equations W ⊗ I_M = I_N ⊗ Vᵀ solved at small shapes: one solution up to a factor, the claimed one."""
    for tokens, features in SMALL:
        claimed = sympy.Matrix(
            [W_is(a, b) for a, b in product(range(tokens), repeat=2)]
            + [V_is(a, b) for a, b in product(range(features), repeat=2)]
        )
        if _equations(tokens, features).nullspace() != [claimed]:
            return Evidence(Method.LINEAR_ALGEBRA, f"other solutions at N = {tokens}, M = {features}", Verdict.UNKNOWN)
    return Evidence(Method.LINEAR_ALGEBRA, f"no other solution at all {len(SMALL)} shapes N, M ≤ 3", Verdict.PROVED)


def _equations(tokens: int, features: int) -> sympy.Matrix:
    """The coefficients of the entries of W and V, row by row, in W ⊗ I_M − I_N ⊗ Vᵀ = 0."""
    w = [sympy.Symbol(f"w_{i}") for i in range(tokens**2)]
    v = [sympy.Symbol(f"v_{i}") for i in range(features**2)]
    left: Any = sympy.kronecker_product(sympy.Matrix(tokens, tokens, w), sympy.eye(features))
    right: Any = sympy.kronecker_product(sympy.eye(tokens), sympy.Matrix(features, features, v).T)
    return sympy.linear_eq_to_matrix(list(left - right), [*w, *v])[0]


_WITH_DIAMOND = (v1("3.3", 5), v2("3.3", 5))
_EQUATION_5 = (*_WITH_DIAMOND, duat("3.1", 5))
_EQUATION_6 = (duat("3.1", 6), v2("3.3", 6))
_PRINTED_5 = r"\mathbf{x}_{i+1}=\mathbf{W}_i\mathbf{x}_i\mapsto\mathbf{x}'_{i+1}=\mathbf{W}'_i\diamond\mathbf{x}'_i=(\mathbf{W}'_i)^T\mathbf{x}'_i"
_PRINTED_5_DUAT = r"\mathbf{x}_{i+1}=\mathbf{W}_i\mathbf{x}_i\mapsto\mathbf{x}'_{i+1}=\mathbf{W}'_i\mathbf{x}'_i"
_PRINTED_15 = (
    r"\begin{pmatrix}w_{1,1}&0&\cdots\\0&w_{1,1}&\cdots\\\vdots&\vdots&\cdots\\0&0&\cdots\\"
    r"w_{1,2}&0&\cdots\\0&w_{1,2}&\cdots\\\vdots&\vdots&\cdots\\0&0&\cdots\\\vdots&\vdots&\cdots\\"
    r"w_{1,n}&0&\cdots\\0&w_{1,n}&\cdots\\\vdots&\vdots&\cdots\\0&0&\cdots\end{pmatrix}\diamond\mathbf{x}'=\mathbf{y}'"
)
_ROW_MAJOR = "x′ is x row by row (row-major)"

_RENAMED = (
    r"\text{For convenience, we use }\mathbf{W}'_i\text{ to represent }(\mathbf{W}'_i)^T"
    r"\text{. Therefore, }\mathbf{x}'_{i+1}=\mathbf{W}'_i\mathbf{x}'_i"
)

CLAIMS = (
    Claim(
        id="linear.left",
        title="W x is a matrix acting on x′",
        ledger="D1",
        kind=Kind.IDENTITY,
        sources=_WITH_DIAMOND,
        printed=_PRINTED_5,
        reading="W′ = (W ⊗ I_M)ᵀ, W′ ⋄ x′ = (W′)ᵀx′; W need not be square",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.PROVED,
        decide=_left,
    ),
    Claim(
        id="linear.left.duat",
        title="W x is a matrix acting on x′, as DUAT prints it",
        ledger="D1",
        kind=Kind.IDENTITY,
        sources=(duat("3.1", 5),),
        printed=_PRINTED_5_DUAT,
        reading="W′ = W ⊗ I_M, without transpose; W need not be square",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.PROVED,
        decide=_left_duat,
    ),
    Claim(
        id="linear.eq-15",
        title="the matrix displayed in Eq. 15",
        ledger="D1",
        kind=Kind.IDENTITY,
        sources=(v1("B.1", 15),),
        printed=_PRINTED_15,
        reading="further columns go on in the same way: each of the m columns of a row of W one place lower",
        hypotheses=(_ROW_MAJOR, "x has n rows and m columns"),
        expects=Verdict.PROVED,
        decide=_displayed,
    ),
    Claim(
        id="linear.renamed",
        title="W′ may stand for the transposed W′",
        ledger="D2",
        kind=Kind.IDENTITY,
        sources=(v2("3.3"), duat("3.1")),
        printed=_RENAMED,
        reading="a renaming: from here on W′ is W ⊗ I_M",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.PROVED,
        decide=_renamed,
    ),
    Claim(
        id="linear.renamed-again",
        title="W′ may stand for the transposed W′ of DUAT's Eq. 5",
        ledger="D2",
        kind=Kind.IDENTITY,
        sources=(duat("3.1", 5),),
        printed=_RENAMED,
        reading="applied to DUAT's Eq. 5, which already prints W′x′: the sentence is left over from v2",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.REFUTED,
        correction="linear.renamed",
        decide=_renamed_again(),
    ),
    Claim(
        id="linear.axis",
        title="W x describes the Linear layers of a Transformer",
        ledger="D4",
        kind=Kind.EXISTENCE,
        sources=(*_EQUATION_5, *_EQUATION_6),
        printed=r"\mathbf{x}_{i+1}=\mathbf{W}_i\mathbf{x}_i,\ \mathbf{W}_i\in\mathbb{R}^{(N,N)},\ \mathbf{x}_i\in\mathbb{R}^{(N,M)}",
        reading="a Linear layer of a Transformer is x V, for every token alone; for each V there would be a W",
        hypotheses=("x has N tokens as rows and M features as columns, as in the papers' attention",),
        expects=Verdict.REFUTED,
        correction="linear.right",
        decide=one_case({"W x": _axis, "x V": _right}),
    ),
    Claim(
        id="linear.right",
        title="x V is a matrix acting on x′, and commutes with every exchange of tokens",
        ledger="D4",
        kind=Kind.IDENTITY,
        sources=_EQUATION_5,
        printed=r"\mathbf{x}_{i+1}=\mathbf{x}_i\mathbf{V}_i\mapsto\mathbf{x}'_{i+1}=(I_N\otimes\mathbf{V}_i^T)\mathbf{x}'_i",
        reading="what a Transformer has; V need not be square: a hidden expansion is possible, and N is not fixed",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.PROVED,
        decide=_right,
    ),
    Claim(
        id="linear.right-density",
        title="the matrix of x V has density 1/N",
        ledger="D4",
        kind=Kind.COUNT,
        sources=(v1("B.1"),),
        printed=r"\frac{1}{N}",
        reading="not printed: the share of entries that are not zero; v1 prints 1/M, which is that of W x",
        hypotheses=("V has no zero entry",),
        expects=Verdict.PROVED,
        decide=lambda settings: right_density(1 / N),
    ),
    Claim(
        id="linear.both-axes",
        title="W x and x V are the same map only for multiples of the identity",
        ledger="D4",
        kind=Kind.CRITERION,
        sources=_EQUATION_5,
        printed=r"W\otimes I_M=I_N\otimes V^T\iff W=cI_N\text{ and }V=cI_M\text{ for some }c",
        reading="not printed; both directions: so the printed form W x is not another way of writing x V",
        hypotheses=(_ROW_MAJOR,),
        expects=Verdict.PROVED,
        decide=lambda settings: only_multiples(identity_entry, identity_entry),
    ),
)  # fmt: skip
