"""Outputs in R^m: v1's diagonal α_j and the matrices of the later versions (A5)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Statements, of_steps
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.foundations.elementary import equations
from uat_jax.ledger.foundations.uat_sums import DENSE
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

k, l = sympy.symbols("k l", integer=True, positive=True)


width = sympy.Symbol("m", integer=True, positive=True)
a, s = (sympy.IndexedBase(name, real=True) for name in "as")


def entry(summand: Any) -> sympy.Expr:
    """Entry k of a product α s: Σ_{l=1}^m α_kl s_l for 1 ≤ k ≤ m, with SymPy summing over Kronecker's delta."""
    total = sympy.Sum(summand, (l, 1, width)).doit()
    return total.args[0].expr if isinstance(total, sympy.Piecewise) else total  # type: ignore[union-attr]


def diagonal_entry(column: Any) -> Evidence:
    """(diag(a) s)_k = a_k s_k; ``column`` is the index of a and s."""
    total = entry(sympy.KroneckerDelta(k, l) * a[l] * s[l])  # type: ignore[index]
    found = equations({"(diag(a) s)_k = a_k s_k": (total, a[column] * s[column])}, what="for every m")  # type: ignore[index]
    letters = (m.Letter(name, width, 1) for name in "as")
    return replace(found, statements=_entry_by_entry(*letters) if found.verdict is Verdict.PROVED else ())


def _entry_by_entry(a: m.Letter, s: m.Letter) -> Statements:
    """diag(a) s = a ⊙ s, of which entry k is a_k s_k."""
    return of_steps([Step("entries", m.Diagonal(a) @ s, m.Hadamard(a, s))])


def _diagonal(settings: Settings) -> Iterator[Evidence]:
    """With α_j = diag(a_j) entry k is a scalar sum: Σ_j a_jk σ((W_j)_{·k}ᵀ x + θ_jk)."""
    yield diagonal_entry(k)
    yield confirm_functions(_with_diagonals, _scalar_sums, _shapes((3,)), what="n = 2, m = 3, N = 2")


def matrix_entry(row: Any, column: Any) -> Evidence:
    """(α s)_k = Σ_c (diag(α e_c) (s_c 1))_k, one diagonal term for each column c of α: its entry (row, column)."""
    c = sympy.Symbol("c", integer=True, positive=True)
    total = sympy.Sum(a[k, c] * s[c], (c, 1, width))  # type: ignore[index]
    diagonal = entry(sympy.KroneckerDelta(k, l) * a[row(l, c), column(l, c)] * s[c])  # type: ignore[index]
    equation = (total, sympy.Sum(diagonal, (c, 1, width)))
    return equations({"(α s)_k = Σ_c (diag(α e_c) (s_c 1))_k": equation}, what="for every m")


def _matrix(settings: Settings) -> Iterator[Evidence]:
    """With matrices α_j entry k is a scalar sum of mN terms, which are shared between the entries."""
    yield matrix_entry(lambda l, c: l, lambda l, c: c)
    yield confirm_functions(_with_matrices, _longer_diagonal_sum, _shapes((3, 3)), what="n = 2, m = 3, N = 2")


def _shapes(alpha: tuple[int, ...]) -> tuple[tuple[int, ...], ...]:
    """α, W, θ, x for two terms, n = 2 and m = 3."""
    return (2, *alpha), (2, 2, 3), (2, 3), (2,)


def _activations(weights: jax.Array, theta: jax.Array, x: jax.Array) -> jax.Array:
    """σ(W_jᵀ x + θ_j), one row for each j."""
    return jax.nn.sigmoid(jnp.einsum("jnm,n->jm", weights, x, precision="highest") + theta)


def _with_diagonals(a: jax.Array, weights: jax.Array, theta: jax.Array, x: jax.Array) -> jax.Array:
    """Σ_j diag(a_j) σ(W_jᵀ x + θ_j)."""
    matrices = a[:, :, None] * jnp.eye(3, dtype=a.dtype)[None]
    return jnp.einsum("jkm,jm->k", matrices, _activations(weights, theta, x), precision="highest")


def _scalar_sums(a: jax.Array, weights: jax.Array, theta: jax.Array, x: jax.Array) -> jax.Array:
    """Entry k: Σ_j a_jk σ((W_j)_{·k}ᵀ x + θ_jk), each by itself."""
    term = lambda j, k: a[j, k] * jax.nn.sigmoid(jnp.dot(weights[j, :, k], x, precision="highest") + theta[j, k])
    return jnp.stack([term(0, k) + term(1, k) for k in range(3)])


def _with_matrices(alpha: jax.Array, weights: jax.Array, theta: jax.Array, x: jax.Array) -> jax.Array:
    """Σ_j α_j σ(W_jᵀ x + θ_j)."""
    return jnp.einsum("jkm,jm->k", alpha, _activations(weights, theta, x), precision="highest")


def _longer_diagonal_sum(alpha: jax.Array, weights: jax.Array, theta: jax.Array, x: jax.Array) -> jax.Array:
    """Σ_j α_j σ(W_jᵀ x + θ_j) with mN diagonal coefficients: term (j, l) has diag(α_j e_l), all columns (W_j)_{·l}, all biases θ_jl."""
    terms = [(i, c) for i in range(2) for c in range(3)]
    a = jnp.stack([alpha[i, :, c] for i, c in terms])
    wide = jnp.stack([jnp.stack([weights[i, :, c]] * 3, axis=1) for i, c in terms])
    return _with_diagonals(a, wide, jnp.stack([jnp.stack([theta[i, c]] * 3) for i, c in terms]), x)


_EXTENDED = (
    r"\text{the transformation matrix }\mathbf{W}_j\text{ is revised to the space }\mathbb{R}^{n\times m},\ "
    r"\text{the bias term }\theta_j\text{ is recast as a vector in }\mathbb{R}^m,\ \text{and }\alpha_j"
)

CLAIMS = (
    Claim(
        id="uat.vector-output.diagonal",
        title="with diagonal α_j each output is a scalar sum of its own",
        ledger="A5",
        kind=Kind.IDENTITY,
        sources=(v1("2"),),
        printed=_EXTENDED + r"\text{ is reshaped into a diagonal vector}",
        reading="α_j = diag(a_j): G_k = Σ_j a_jk σ((W_j)_{·k}ᵀ x + θ_jk), so that G is dense in C(I_n, R^m) as each G_k is "
        "in C(I_n); shorter sums are filled up with a_jk = 0",
        hypotheses=(DENSE, ELEMENTWISE),
        expects=Verdict.PROVED,
        decide=_diagonal,
    ),
    Claim(
        id="uat.vector-output.matrix",
        otherwise=("DUAT",),
        title="a sum of N terms with matrices α_j is one of mN terms with diagonal ones",
        ledger="A5",
        kind=Kind.IDENTITY,
        sources=(v2("2"), duat("2.1")),
        printed=_EXTENDED + r"\text{ is reshaped into a matrix}",
        reading="diagonal matrices are matrices, so that these sums are dense as well; and term (j, l) with diag(α_j e_l) "
        "gives them back, so that both versions have the same functions and differ in the number of terms (see "
        "lemma-1.diagonal-more-terms)",
        hypotheses=(DENSE, ELEMENTWISE),
        expects=Verdict.PROVED,
        decide=_matrix,
    ),
)  # fmt: skip
