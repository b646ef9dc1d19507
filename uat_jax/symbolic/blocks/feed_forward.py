"""The feed-forward parts of real Transformers: vec(FFN(X)) = outer(X) σ(inner vec(X) + inner_bias) + outer_bias(X)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.sizes import (
    FEATURES,
    HIDDEN,
    TOKENS,
    column_for_each_token,
    for_each_token,
    nothing,
    on_features,
)

EXPERTS = m.dimension("E")


@dataclass(frozen=True)
class FeedForward:
    """σ(X W_1 + 1 b_1ᵀ) W_2 + 1 b_2ᵀ; ``layer`` is the superscript of its letters."""

    layer: tuple[m.ScalarLike, ...] = ()

    hidden: ClassVar[m.Scalar] = HIDDEN
    """Activations for each token."""

    @property
    def weights(self) -> tuple[m.Letter, m.Letter]:
        """W_1 (M × F) and W_2 (F × M)."""
        F = self.hidden
        return m.Letter("W", FEATURES, F, (1,), self.layer), m.Letter("W", F, FEATURES, (2,), self.layer)

    @property
    def biases(self) -> tuple[m.Letter, m.Letter]:
        """b_1 (F × 1) and b_2 (M × 1)."""
        return m.Letter("b", self.hidden, 1, (1,), self.layer), m.Letter("b", FEATURES, 1, (2,), self.layer)

    def apply(self, X: m.Expression) -> m.Expression:
        """σ(X W_1 + 1 b_1ᵀ) W_2 + 1 b_2ᵀ, N × M."""
        return self.activations(X) @ self.weights[1] + for_each_token(self.biases[1])

    def activations(self, X: m.Expression) -> m.Expression:
        """σ(X W_1 + 1 b_1ᵀ), N × F."""
        return m.Activation(X @ self.weights[0] + for_each_token(self.biases[0]))

    @property
    def inner(self) -> m.Expression:
        """T(W_1)."""
        return on_features(self.weights[0])

    @property
    def inner_bias(self) -> m.Expression:
        """1 ⊗ b_1."""
        return column_for_each_token(self.biases[0])

    def outer(self, X: m.Expression) -> m.Expression:
        """T(W_2), whatever X."""
        return on_features(self.weights[1])

    def outer_bias(self, X: m.Expression) -> m.Expression:
        """1 ⊗ b_2, whatever X."""
        return column_for_each_token(self.biases[1])


@dataclass(frozen=True)
class Gated(FeedForward):
    """((X U) ⊙ σ(X G)) W_D, without biases; with σ = SiLU it is SwiGLU."""

    @property
    def letters(self) -> tuple[m.Letter, m.Letter, m.Letter]:
        """U (M × F), G (M × F) and W_D (F × M)."""
        return (
            m.Letter("U", FEATURES, HIDDEN, (), self.layer),
            m.Letter("G", FEATURES, HIDDEN, (), self.layer),
            m.Letter("D", HIDDEN, FEATURES, (), self.layer),
        )

    def apply(self, X: m.Expression) -> m.Expression:
        """((X U) ⊙ σ(X G)) W_D, N × M."""
        U, G, D = self.letters
        return m.Hadamard(X @ U, m.Activation(X @ G)) @ D

    @property
    def inner(self) -> m.Expression:
        """T(G)."""
        return on_features(self.letters[1])

    @property
    def inner_bias(self) -> m.Expression:
        """0."""
        return nothing(TOKENS * HIDDEN)

    def outer(self, X: m.Expression) -> m.Expression:
        """T(W_D) diag(T(U) vec(X))."""
        U, _, D = self.letters
        return on_features(D) @ m.Diagonal(on_features(U) @ m.Vectorised(X))

    def outer_bias(self, X: m.Expression) -> m.Expression:
        """0."""
        return nothing(TOKENS * FEATURES)


@dataclass(frozen=True)
class Mixture(FeedForward):
    """Σ_e diag(g_e(X)) (σ(X W_{1e} + 1 b_{1e}ᵀ) W_{2e} + 1 b_{2e}ᵀ) for E experts, gates g(X) = f(X R) (N × E).

    With W_1 = [W_{11} … W_{1E}] (M × EF), W_2 the W_{2e} below each other (EF × M) and β the rows b_{2e}ᵀ (E × M) it is
    ((g (I_E ⊗ 1_Fᵀ)) ⊙ σ(X W_1 + 1 b_1ᵀ)) W_2 + g β: gated, each gate repeated for its expert's activations.
    The function f is opaque: a softmax, one over the largest entries (the other gates are 0), anything.
    """

    hidden: ClassVar[m.Scalar] = EXPERTS * HIDDEN

    @property
    def router(self) -> m.Letter:
        """R, M × E."""
        return m.Letter("R", FEATURES, EXPERTS, (), self.layer)

    @property
    def expert_biases(self) -> m.Letter:
        """β, E × M: row e is b_{2e}ᵀ."""
        return m.Letter("β", EXPERTS, FEATURES, (), self.layer)

    def gates(self, X: m.Expression) -> m.Expression:
        """g(X) = f(X R), N × E."""
        return m.Dependent(m.Letter("f", TOKENS, EXPERTS), X @ self.router)

    def repeated_gates(self, X: m.Expression) -> m.Expression:
        """g(X) (I_E ⊗ 1_Fᵀ), N × EF."""
        return self.gates(X) @ m.Kronecker(m.Identity(EXPERTS), m.Ones(1, HIDDEN))

    def apply(self, X: m.Expression) -> m.Expression:
        """((g (I_E ⊗ 1_Fᵀ)) ⊙ σ(X W_1 + 1 b_1ᵀ)) W_2 + g β, N × M."""
        mixed = m.Hadamard(self.repeated_gates(X), self.activations(X))
        return mixed @ self.weights[1] + self.gates(X) @ self.expert_biases

    def outer(self, X: m.Expression) -> m.Expression:
        """T(W_2) diag(vec(g (I_E ⊗ 1_Fᵀ)))."""
        return on_features(self.weights[1]) @ m.Diagonal(m.Vectorised(self.repeated_gates(X)))

    def outer_bias(self, X: m.Expression) -> m.Expression:
        """(g(X) ⊗ I_M) vec(β)."""
        return m.Kronecker(self.gates(X), m.Identity(FEATURES)) @ m.Vectorised(self.expert_biases)


@dataclass(frozen=True)
class MixtureOfGated(Mixture):
    """Σ_e diag(g_e(X)) ((X U_e) ⊙ σ(X G_e)) D_e for E gated experts, gates g(X) = f(X R) (N × E), no biases.

    With U = [U_1 … U_E] and G = [G_1 … G_E] (M × EF) and the D_e below each other (EF × M) it is
    ((g (I_E ⊗ 1_Fᵀ)) ⊙ (X U) ⊙ σ(X G)) D.
    """

    @property
    def letters(self) -> tuple[m.Letter, m.Letter, m.Letter]:
        """U (M × EF), G (M × EF) and D (EF × M)."""
        F = self.hidden
        return (
            m.Letter("U", FEATURES, F, (), self.layer),
            m.Letter("G", FEATURES, F, (), self.layer),
            m.Letter("D", F, FEATURES, (), self.layer),
        )

    def factor(self, X: m.Expression) -> m.Expression:
        """(g (I_E ⊗ 1_Fᵀ)) ⊙ (X U), N × EF."""
        return m.Hadamard(self.repeated_gates(X), X @ self.letters[0])

    def apply(self, X: m.Expression) -> m.Expression:
        """((g (I_E ⊗ 1_Fᵀ)) ⊙ (X U) ⊙ σ(X G)) D, N × M."""
        return m.Hadamard(self.factor(X), m.Activation(X @ self.letters[1])) @ self.letters[2]

    @property
    def inner(self) -> m.Expression:
        """T(G)."""
        return on_features(self.letters[1])

    @property
    def inner_bias(self) -> m.Expression:
        """0."""
        return nothing(TOKENS * self.hidden)

    def outer(self, X: m.Expression) -> m.Expression:
        """T(D) diag(vec((g (I_E ⊗ 1_Fᵀ)) ⊙ (X U)))."""
        return on_features(self.letters[2]) @ m.Diagonal(m.Vectorised(self.factor(X)))

    def outer_bias(self, X: m.Expression) -> m.Expression:
        """0."""
        return nothing(TOKENS * FEATURES)


@dataclass(frozen=True)
class StateSpace(FeedForward):
    """(g(X Z) ⊙ Y) D with vec(Y) = S(X) σ(K vec(X W) + 1 ⊗ b): a selective state space, without biases behind σ.

    K leads from token to token in front of σ, a convolution.  S(X) is the recurrence behind σ, linear once what steers
    it is given, and that is opaque, as is the gate g.  Y is known by vec(Y) alone, so that the whole is written with
    vec(Y D) = T(D) vec(Y) and vec(G ⊙ Y) = diag(vec(G)) vec(Y).
    """

    @property
    def letters(self) -> tuple[m.Letter, m.Letter, m.Letter]:
        """W (M × F), Z (M × F) and D (F × M)."""
        return (
            m.Letter("W", FEATURES, HIDDEN, (1,), self.layer),
            m.Letter("Z", FEATURES, HIDDEN, (), self.layer),
            m.Letter("D", HIDDEN, FEATURES, (), self.layer),
        )

    @property
    def convolution(self) -> m.Letter:
        """K, NF × NF."""
        return m.Letter("K", TOKENS * HIDDEN, TOKENS * HIDDEN, (), self.layer)

    def recurrence(self, X: m.Expression) -> m.Expression:
        """S(X), NF × NF."""
        return m.Dependent(m.Letter("S", TOKENS * HIDDEN, TOKENS * HIDDEN), X)

    def gate(self, X: m.Expression) -> m.Expression:
        """g(X Z), N × F."""
        return m.Dependent(m.Letter("g", TOKENS, HIDDEN), X @ self.letters[1])

    def activations(self, X: m.Expression) -> m.Expression:
        """σ(K vec(X W) + 1 ⊗ b), NF × 1."""
        return m.Activation(self.convolution @ m.Vectorised(X @ self.letters[0]) + self.inner_bias)

    def apply(self, X: m.Expression) -> m.Expression:
        """T(D) diag(vec(g(X Z))) S(X) σ(K vec(X W) + 1 ⊗ b), as N × M."""
        return m.Matricised(self.outer(X) @ self.activations(X), TOKENS, FEATURES)

    @property
    def inner(self) -> m.Expression:
        """K T(W)."""
        return self.convolution @ on_features(self.letters[0])

    def outer(self, X: m.Expression) -> m.Expression:
        """T(D) diag(vec(g(X Z))) S(X)."""
        return on_features(self.letters[2]) @ m.Diagonal(m.Vectorised(self.gate(X))) @ self.recurrence(X)

    def outer_bias(self, X: m.Expression) -> m.Expression:
        """0."""
        return nothing(TOKENS * FEATURES)
