"""The layers of the papers as symbolic expressions, and the letters they are written with.

    A_j = W_{j,1} (D_j × D_{j-1})   C_j = W_{j,3} (D_j × F_j)   c_j = b_{j,3} (D_j)
    B_j = W_{j,2}                   b_j = b_{j,2} (F_j)

B_j acts on the layer's input in a residual network (F_j × D_{j-1}) and on the output of attention in a
Transformer (F_j × D_j).  Every width may differ from layer to layer.  These letters are the layer's own
parameters and are never overwritten; what is derived from them wears a hat.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import sympy

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m

KINDS = ("residual", "transformer")


def width(j: m.ScalarLike) -> sympy.Indexed:
    """D_j, the length of x_j."""
    return m.indexed_dimension("D", j)


def hidden_width(j: m.ScalarLike) -> sympy.Indexed:
    """F_j, the number of activations of layer j."""
    return m.indexed_dimension("F", j)


@dataclass(frozen=True)
class Layers:
    """The layers of one kind of network.

    ``kind`` is "residual" (Eq. 20) or "transformer" (Eq. 30); ``widths`` gives D_j and ``hidden_widths`` F_j;
    with ``dynamic`` the matrices A_j, B_j, C_j and the biases are opaque functions of the layer's input instead
    of constants: Theorem 1 then covers attention, norms and gates alike.
    """

    kind: str
    widths: Callable[[m.ScalarLike], m.Scalar] = width
    hidden_widths: Callable[[m.ScalarLike], m.Scalar] = hidden_width
    dynamic: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise InputError(f"unknown kind of network {self.kind!r}; wanted one of {', '.join(KINDS)}")

    def A(self, j: m.ScalarLike) -> m.Letter:
        """W_{j,1}, D_j × D_{j-1}."""
        return m.Letter("A", self.widths(j), self.widths(j - 1), (j,))

    def B(self, j: m.ScalarLike) -> m.Letter:
        """W_{j,2}, F_j × D_{j-1} (residual) or F_j × D_j (Transformer)."""
        columns = self.widths(j - 1) if self.kind == "residual" else self.widths(j)
        return m.Letter("B", self.hidden_widths(j), columns, (j,))

    def C(self, j: m.ScalarLike) -> m.Letter:
        """W_{j,3}, D_j × F_j."""
        return m.Letter("C", self.widths(j), self.hidden_widths(j), (j,))

    def b(self, j: m.ScalarLike) -> m.Letter:
        """b_{j,2}, a column of length F_j."""
        return m.Letter("b", self.hidden_widths(j), 1, (j,))

    def c(self, j: m.ScalarLike) -> m.Letter:
        """b_{j,3}, a column of length D_j."""
        return m.Letter("c", self.widths(j), 1, (j,))

    def x(self, j: m.ScalarLike) -> m.Letter:
        """x_j, a column of length D_j."""
        return m.Letter("x", self.widths(j), 1, (j,))

    def parameters(self, j: m.ScalarLike) -> tuple[m.Letter, ...]:
        """A_j, B_j, C_j, b_j, c_j."""
        return self.A(j), self.B(j), self.C(j), self.b(j), self.c(j)

    def apply(self, j: m.ScalarLike, x: m.Expression) -> m.Expression:
        """One layer applied to the column x.

        residual (Eq. 20):     A_j x + c_j + C_j σ(B_j x + b_j)
        Transformer (Eq. 30):  y + c_j + C_j σ(B_j y + b_j)  with  y = A_j x
        """
        A, B, C, b, c = (m.Dependent(p, x) if self.dynamic else p for p in self.parameters(j))
        y = A @ x
        inner = x if self.kind == "residual" else y
        return m.Addition(y, c, C @ m.Activation(B @ inner + b))


@dataclass(frozen=True)
class Attention:
    """The papers' Transformer block on token matrices: tokens N, features M_j, heads h, hidden features G_j.

    X (N × M_{j-1}) is cut into h slices of d_j = M_{j-1}/h features.  With the layer written on vec(X),
    D_j = N·M_j and F_j = N·G_j (`layers`), Theorem 3 gives A_j and the feed-forward part B_j, C_j, b_j, c_j.
    """

    heads: m.Scalar | int

    @property
    def tokens(self) -> m.Scalar:
        """N."""
        return m.dimension("N")

    def features(self, j: m.ScalarLike) -> m.Scalar:
        """M_j."""
        return m.indexed_dimension("M", j)

    def hidden_features(self, j: m.ScalarLike) -> m.Scalar:
        """G_j."""
        return m.indexed_dimension("G", j)

    def slice_width(self, j: m.ScalarLike) -> m.Scalar:
        """d_j = M_{j-1} / h."""
        return self.features(j - 1) / self.heads

    @property
    def layers(self) -> Layers:
        """This network written as a matrix–vector Transformer with D_j = N·M_j, F_j = N·G_j."""
        size = lambda features: lambda j: self.tokens * features(j)
        return Layers("transformer", size(self.features), size(self.hidden_features))

    def weight(self, name: str, j: m.ScalarLike, i: m.ScalarLike) -> m.Letter:
        """W_{Q,i}, W_{K,i}, W_{V,i} (d × d) or W_{O,i} (d × M_j) of layer j and head i."""
        d = self.slice_width(j)
        return m.Letter("W", d, self.features(j) if name == "O" else d, (sympy.Symbol(name), i), (j,))

    def feed_forward(self, j: m.ScalarLike) -> tuple[m.Letter, m.Letter, m.Letter, m.Letter]:
        """V_{j,1} (M_j × G_j), v_{j,1} (G_j × 1), V_{j,2} (G_j × M_j), v_{j,2} (M_j × 1)."""
        M, G = self.features(j), self.hidden_features(j)
        return (
            m.Letter("V", M, G, (j, 1)),
            m.Letter("v", G, 1, (j, 1)),
            m.Letter("V", G, M, (j, 2)),
            m.Letter("v", M, 1, (j, 2)),
        )

    def pattern(self, j: m.ScalarLike, i: m.ScalarLike, X: m.Expression) -> m.Expression:
        """H_i(X) = softmax(x_i W_Qi (x_i W_Ki)ᵀ / √M) with x_i = X E_i (Eq. 8)."""
        x = X @ self.select(j, i)
        scores = (x @ self.weight("Q", j, i)) @ (x @ self.weight("K", j, i)).T
        return m.RowSoftmax(m.Scaled(1 / sympy.sqrt(self.features(j - 1)), scores))

    def select(self, j: m.ScalarLike, i: m.ScalarLike) -> m.Selection:
        """E_i, M_{j-1} × d_j."""
        return m.Selection(i, self.features(j - 1), self.slice_width(j))

    def value_output(self, j: m.ScalarLike, i: m.ScalarLike) -> m.Expression:
        """E_i W_Vi W_Oi, M_{j-1} × M_j."""
        return m.Product(self.select(j, i), self.weight("V", j, i), self.weight("O", j, i))

    def _over_heads(self, term: Callable[[m.ScalarLike], m.Expression]) -> m.Expression:
        if isinstance(self.heads, int):
            return m.Addition(*(term(i) for i in range(1, self.heads + 1)))
        i = sympy.Symbol("i", integer=True, nonnegative=True)  # not the positive i that may count layers
        return m.RangeSum(term(i), i, 1, self.heads)

    def attend(self, j: m.ScalarLike, X: m.Expression) -> m.Expression:
        """MHA(X) = Σ_i H_i(X) X E_i W_Vi W_Oi, N × M_j (Eq. 7; Concat(…)·W_O is that sum)."""
        return self._over_heads(lambda i: self.pattern(j, i, X) @ X @ self.value_output(j, i))

    def matrix(self, j: m.ScalarLike, X: m.Expression) -> m.Expression:
        """W_HVO(X) = Σ_i H_i(X) ⊗ (E_i W_Vi W_Oi)ᵀ, NM_j × NM_{j-1} (Theorem 3)."""
        return self._over_heads(lambda i: m.Kronecker(self.pattern(j, i, X), self.value_output(j, i).T))

    def apply(self, j: m.ScalarLike, X: m.Expression) -> m.Expression:
        """One block on token matrices: Y = MHA(X), Y + σ(Y V_1 + 1 v_1ᵀ) V_2 + 1 v_2ᵀ (Eq. 30 with Eq. 6)."""
        V1, v1, V2, v2 = self.feed_forward(j)
        Y, one = self.attend(j, X), m.Ones(self.tokens, 1)
        return m.Addition(Y, m.Activation(Y @ V1 + one @ v1.T) @ V2, one @ v2.T)

    def matrix_vector_parameters(self, j: m.ScalarLike, X: m.Expression) -> dict[m.Letter, m.Expression]:
        """A_j, B_j, C_j, b_j, c_j of the matrix–vector form of the block at X.

        A_j = W_HVO(X),  B_j = I_N ⊗ V_1ᵀ,  C_j = I_N ⊗ V_2ᵀ,  b_j = 1_N ⊗ v_1,  c_j = 1_N ⊗ v_2.
        """
        V1, v1, V2, v2 = self.feed_forward(j)
        eye, one, of = m.Identity(self.tokens), m.Ones(self.tokens, 1), self.layers
        return {
            of.A(j): self.matrix(j, X),
            of.B(j): m.Kronecker(eye, V1.T),
            of.C(j): m.Kronecker(eye, V2.T),
            of.b(j): m.Kronecker(one, v1),
            of.c(j): m.Kronecker(one, v2),
        }
