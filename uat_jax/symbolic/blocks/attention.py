"""Multi-head attention as real Transformers have it: heads of full width, groups, biases, any scores, a context."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS, column_for_each_token, for_each_token, nothing, total

HEADS, WIDTH, VALUE_WIDTH = map(m.dimension, ("h", "d", "e"))
CONTEXT_TOKENS, CONTEXT_FEATURES = m.dimension("K"), m.dimension("Z")

Head = tuple[m.ScalarLike, ...]
"""The number of a head; or that of its group, and its own in the group."""
Scoring = Callable[["MultiHead", Head, m.Expression], m.Expression]
"""(attention, head, X) → the scores of the head, N × (tokens of the context)."""


def any_scores(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    """S_i(X), an opaque function: q kᵀ/√d as well as masks, positions, caps, norms of queries and keys."""
    return m.Dependent(m.Letter("S", TOKENS, of.context(X).shape[0], head, of.layer), X)


def plain_scores(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    """q kᵀ/√d."""
    return scaled(of.queries(head, X) @ of.keys(head, X).T)


def scaled(products: m.Expression) -> m.Expression:
    """The products of queries and keys over √d."""
    return m.Scaled(1 / sympy.sqrt(WIDTH), products)


@dataclass(frozen=True)
class MultiHead:
    """Σ_i H_i(X) (Z W_{V,g} + 1 b_{V,g}ᵀ) W_{O,i} + 1 b_Oᵀ with H_i(X) = softmax(S_i(X)), Z = X or a context.

    ``groups`` of keys and values with ``per_group`` heads each, numbers or symbols (one head each: plain multi-head
    attention); ``layer``: the superscript of its letters; ``memory``: the context of cross-attention, K × Z.
    """

    layer: tuple[m.ScalarLike, ...] = ()
    groups: m.Scalar | int = HEADS
    per_group: m.Scalar | int = 1
    biases: bool = True
    scoring: Scoring = any_scores
    memory: m.Letter | None = None

    def context(self, X: m.Expression) -> m.Expression:
        """X itself, or the memory."""
        return X if self.memory is None else self.memory

    def weight(self, name: str, head: Head) -> m.Letter:
        """W_Q (M × d) and W_O (e × M) of a head, W_K (· × d) and W_V (· × e) of its group."""
        source = FEATURES if self.memory is None else CONTEXT_FEATURES
        rows = {"Q": FEATURES, "K": source, "V": source, "O": VALUE_WIDTH}[name]
        columns = {"Q": WIDTH, "K": WIDTH, "V": VALUE_WIDTH, "O": FEATURES}[name]
        return m.Letter("W", rows, columns, (sympy.Symbol(name), *_owner(name, head)), self.layer)

    def bias(self, name: str, head: Head = ()) -> m.Letter:
        """b_Q of a head, b_K and b_V of its group, b_O."""
        length = {"Q": WIDTH, "K": WIDTH, "V": VALUE_WIDTH, "O": FEATURES}[name]
        return m.Letter("b", length, 1, (sympy.Symbol(name), *_owner(name, head)), self.layer)

    def queries(self, head: Head, X: m.Expression) -> m.Expression:
        """X W_Q + 1 b_Qᵀ."""
        return self._projected("Q", head, X)

    def keys(self, head: Head, X: m.Expression) -> m.Expression:
        """Z W_K + 1 b_Kᵀ."""
        return self._projected("K", head, self.context(X))

    def values(self, head: Head, X: m.Expression) -> m.Expression:
        """Z W_V + 1 b_Vᵀ."""
        return self._projected("V", head, self.context(X))

    def _projected(self, name: str, head: Head, Z: m.Expression) -> m.Expression:
        product = Z @ self.weight(name, head)
        return product + m.Ones(Z.shape[0], 1) @ self.bias(name, head).T if self.biases else product

    def pattern(self, head: Head, X: m.Expression) -> m.Expression:
        """H_i(X) = softmax(S_i(X))."""
        return m.RowSoftmax(self.scoring(self, head, X))

    def value_output(self, head: Head) -> m.Expression:
        """W_{V,g} W_{O,i}, · × M."""
        return self.weight("V", head) @ self.weight("O", head)

    def apply(self, X: m.Expression) -> m.Expression:
        """MHA(X), N × M."""
        heads = self.over_heads(lambda i: m.Product(self.pattern(i, X), self.values(i, X), self.weight("O", i)))
        return heads + for_each_token(self.bias("O")) if self.biases else heads

    def matrix(self, X: m.Expression) -> m.Expression:
        """M(X) = Σ_i H_i(X) ⊗ (W_{V,g} W_{O,i})ᵀ: vec(MHA(X)) = M(X) vec(Z) + a."""
        return self.over_heads(lambda i: m.Kronecker(self.pattern(i, X), self.value_output(i).T))

    @property
    def shift(self) -> m.Expression:
        """a = 1_N ⊗ (Σ_i W_{O,i}ᵀ b_{V,g} + b_O): the rows of H_i(X) sum to 1."""
        if not self.biases:
            return nothing(TOKENS * FEATURES)
        values = self.over_heads(lambda i: self.weight("O", i).T @ self.bias("V", i))
        return column_for_each_token(values + self.bias("O"))

    def over_heads(self, term: Callable[[Head], m.Expression]) -> m.Expression:
        """Σ over the groups, and in each over its heads."""
        if self.per_group == 1:
            return total(lambda g: term((g,)), self.groups, "i")
        return total(lambda g: total(lambda k: term((g, k)), self.per_group, "k"), self.groups, "i")


def _owner(name: str, head: Head) -> Head:
    """Keys and values belong to the group."""
    return head[:1] if name in "KV" else head
