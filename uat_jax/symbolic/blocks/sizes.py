"""The sizes of real Transformers, and what acts on the features or on the tokens alone."""

from __future__ import annotations

from collections.abc import Callable

import sympy

from uat_jax.symbolic import language as m

TOKENS, FEATURES, HIDDEN = map(m.dimension, ("N", "M", "F"))
"""N tokens of M features; F activations for each token."""


def on_features(W: m.Expression) -> m.Expression:
    """T(W) = I_N ⊗ Wᵀ: vec(X W) = T(W) vec(X)."""
    return m.Kronecker(m.Identity(TOKENS), W.T)


def for_each_token(v: m.Expression) -> m.Expression:
    """1_N vᵀ, the row vᵀ for each token."""
    return m.Ones(TOKENS, 1) @ v.T


def column_for_each_token(v: m.Expression) -> m.Expression:
    """1_N ⊗ v = vec(1_N vᵀ)."""
    return m.Kronecker(m.Ones(TOKENS, 1), v)


def nothing(rows: m.ScalarLike) -> m.Expression:
    """The zero column."""
    return m.Zero(rows, 1)


def plus(*terms: m.Expression) -> m.Expression:
    """The sum without its zeros."""
    kept = [term for term in terms if not isinstance(term, m.Zero)]
    return m.Addition(*kept) if kept else terms[0]


def times(*factors: m.Expression) -> m.Expression:
    """The product without its identities; zero if a factor is."""
    if any(isinstance(factor, m.Zero) for factor in factors):
        return m.Zero(factors[0].shape[0], factors[-1].shape[1])
    kept = [factor for factor in factors if not isinstance(factor, m.Identity)]
    return m.Product(*kept) if kept else factors[0]


def total(term: Callable[[m.ScalarLike], m.Expression], upper: m.ScalarLike, name: str) -> m.Expression:
    """Σ_{name=1}^{upper} term, written out if the number of terms is known."""
    if isinstance(upper, int):
        return m.Addition(*(term(i) for i in range(1, upper + 1)))
    index = sympy.Symbol(name, integer=True, nonnegative=True)  # not the positive i that may count layers
    return m.RangeSum(term(index), index, 1, upper)
