"""LayerNorm and RMSNorm as matrices that depend on their input, token by token a number times a fixed matrix."""

from __future__ import annotations

from dataclasses import dataclass

from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS, column_for_each_token, for_each_token, nothing


class NoNorm:
    """The identity."""

    def apply(self, X: m.Expression) -> m.Expression:
        """X."""
        return X

    def matrix(self, X: m.Expression) -> m.Expression:
        """I."""
        return m.Identity(TOKENS * FEATURES)

    @property
    def shift(self) -> m.Expression:
        """0."""
        return nothing(TOKENS * FEATURES)


@dataclass(frozen=True)
class RMSNorm(NoNorm):
    """diag(r(X)) X diag(γ), where r_n(X) = (mean_m X_{nm}² + ε)^{-1/2}; ``place`` tells its γ from those of others."""

    place: tuple[m.ScalarLike, ...] = ()

    def apply(self, X: m.Expression) -> m.Expression:
        """diag(r(X)) X diag(γ)."""
        return m.Product(self.scale(X), X, self.on_features)

    def matrix(self, X: m.Expression) -> m.Expression:
        """N(X) = diag(r(X)) ⊗ diag(γ)."""
        return m.Kronecker(self.scale(X), self.on_features.T)

    def scale(self, X: m.Expression) -> m.Expression:
        """diag(r(X)), N × N."""
        return m.Diagonal(m.Dependent(m.Letter("r", TOKENS, 1), X))

    @property
    def on_features(self) -> m.Expression:
        """diag(γ), M × M."""
        return m.Diagonal(self.gain)

    @property
    def gain(self) -> m.Letter:
        """γ, M × 1."""
        return m.Letter("γ", FEATURES, 1, self.place)


@dataclass(frozen=True)
class LayerNorm(RMSNorm):
    """diag(s(X)) X (I − 11ᵀ/M) diag(γ) + 1 βᵀ, where s_n(X) = (var_m X_{nm} + ε)^{-1/2}."""

    def apply(self, X: m.Expression) -> m.Expression:
        """diag(s(X)) X (I − 11ᵀ/M) diag(γ) + 1 βᵀ."""
        return super().apply(X) + for_each_token(self.bias)

    @property
    def shift(self) -> m.Expression:
        """1_N ⊗ β."""
        return column_for_each_token(self.bias)

    def scale(self, X: m.Expression) -> m.Expression:
        """diag(s(X)), N × N."""
        return m.Diagonal(m.Dependent(m.Letter("s", TOKENS, 1), X))

    @property
    def on_features(self) -> m.Expression:
        """(I − 11ᵀ/M) diag(γ), M × M."""
        return centring() @ m.Diagonal(self.gain)

    @property
    def bias(self) -> m.Letter:
        """β, M × 1."""
        return m.Letter("β", FEATURES, 1, self.place)


def centring() -> m.Expression:
    """I − 11ᵀ/M, M × M: takes the mean of a token's features away."""
    one = m.Ones(FEATURES, 1)
    return m.Identity(FEATURES) - m.Scaled(1 / FEATURES, one @ one.T)
