"""The papers' attention with its patterns H_i held fixed: letters for one input, and the matrices they make.

    x_i = x E_i      Ĥ_i = H_i x_i W_Vi      Ĥ = Σ_i Ĥ_i E_iᵀ = Concat(Ĥ_1, …, Ĥ_h)      H̊ = Ĥ W_O

N tokens, h heads of d features each, M = hd features; E_i (M × d) selects slice i.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from uat_jax.symbolic import language as m

TOKENS, WIDTH, COUNT = m.dimension("N"), m.dimension("d"), m.dimension("h")
"""N, d and h."""

HEAD = sympy.Symbol("i", integer=True, positive=True)
"""i, the number of a head, from 1 to h."""


def scaled_softmax(queries: m.Expression, keys: m.Expression, scale: m.ScalarLike) -> m.Expression:
    """softmax(Q Kᵀ / √scale)."""
    return m.RowSoftmax(m.Scaled(1 / sympy.sqrt(scale), queries @ keys.T))


@dataclass(frozen=True)
class Heads:
    """h heads; ``heads`` is a number, or a symbol for all of them."""

    heads: m.Scalar | int = COUNT

    @property
    def features(self) -> m.Scalar:
        """M = hd."""
        return self.heads * WIDTH

    @property
    def x(self) -> m.Letter:
        """x, N × M."""
        return m.Letter("x", TOKENS, self.features)

    def select(self, i: m.ScalarLike) -> m.Expression:
        """E_i, M × d."""
        return m.Selection(i, self.features, WIDTH)

    def slice(self, i: m.ScalarLike) -> m.Expression:
        """x_i = x E_i, N × d."""
        return self.x @ self.select(i)

    def pattern(self, i: m.ScalarLike) -> m.Letter:
        """H_i at the input at hand, N × N."""
        return m.Letter("H", TOKENS, TOKENS, (i,))

    def weight(self, name: str, i: m.ScalarLike) -> m.Letter:
        """W_Qi, W_Ki or W_Vi, d × d."""
        return m.Letter("W", WIDTH, WIDTH, (sympy.Symbol(name), i))

    def wide_weight(self, name: str, i: m.ScalarLike) -> m.Letter:
        """W_Qi, W_Ki or W_Vi of a head that sees all features, M × d."""
        return m.Letter("U", self.features, WIDTH, (sympy.Symbol(name), i))

    @property
    def output(self) -> m.Letter:
        """W_O, M × M."""
        return m.Letter("W_O", self.features, self.features)

    def head(self, i: m.ScalarLike) -> m.Expression:
        """Ĥ_i = H_i x_i W_Vi, N × d."""
        return m.Product(self.pattern(i), self.slice(i), self.weight("V", i))

    def total(self, term: Callable[[m.ScalarLike], m.Expression]) -> m.Expression:
        """Σ_i term(i)."""
        if isinstance(self.heads, int):
            return m.Addition(*(term(i) for i in range(1, self.heads + 1)))
        return m.RangeSum(term(HEAD), HEAD, 1, self.heads)

    def concatenated(self) -> m.Expression:
        """Ĥ = Concat(Ĥ_1, …, Ĥ_h) = Σ_i Ĥ_i E_iᵀ, N × M."""
        return self.total(lambda i: self.head(i) @ self.select(i).T)

    def attended(self) -> m.Expression:
        """H̊ = Ĥ W_O, N × M."""
        return self.total(lambda i: self.head(i) @ self.select(i).T @ self.output)

    def placed_value(self, i: m.ScalarLike) -> m.Expression:
        """E_i W_Vi E_iᵀ, M × M: W_Vi as a diagonal block."""
        return m.Product(self.select(i), self.weight("V", i), self.select(i).T)

    def values_matrix(self) -> m.Expression:
        """W_HV = Σ_i H_i ⊗ (E_i W_Vi E_iᵀ)ᵀ, NM × NM: vec(Ĥ) = W_HV vec(x)."""
        return self.total(lambda i: m.Kronecker(self.pattern(i), self.placed_value(i).T))

    def output_matrix(self) -> m.Expression:
        """I_N ⊗ W_Oᵀ, NM × NM: vec(Ĥ W_O) = (I_N ⊗ W_Oᵀ) vec(Ĥ)."""
        return m.Kronecker(m.Identity(TOKENS), self.output.T)

    def matrix(self) -> m.Expression:
        """W_HVO = Σ_i H_i ⊗ (E_i W_Vi E_iᵀ W_O)ᵀ, NM × NM: vec(H̊) = W_HVO vec(x) (Theorem 3, W_Oi = E_iᵀ W_O)."""
        return self.total(lambda i: m.Kronecker(self.pattern(i), (self.placed_value(i) @ self.output).T))
