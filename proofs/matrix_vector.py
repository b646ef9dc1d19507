# %% [markdown]
# # The matrix–vector method: linear layers and the feed-forward part
#
# The papers turn data into columns, x′ = T_D(x), and parameters into matrices, W′ = T_P(W), so that every operation
# y = T(x|W) of a network becomes (Eq. 3)
#
#     y′ = W′ x′.
#
# For a linear T there is exactly one such W′.  For any other T there is one at every x, too, but it depends on x
# and there are many, so that *which* W′ is the content.  Then a Linear layer (Eq. 5, 15) and the feed-forward part
# (Eq. 6) are written that way.  x has N tokens as rows and M features as columns; x′ is x row by row.

# %%
from itertools import permutations, product

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from argument import Argument, run

from uat_jax.ledger.matrix_vector.feed_forward import feed_forward
from uat_jax.ledger.matrix_vector.linear_layer import entry_of_15, identity_entry, only_multiples
from uat_jax.ledger.matrix_vector.method import attention_matrix, column_major
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

N, M, K, L, D, E = map(m.dimension, "NMKLDE")
X = m.Letter("x", N, M, (1,))
vec, eye = m.Vectorised, m.Identity

# %% [markdown]
# ## Which W′ there are
#
# A linear map of matrices is T(x) = Σ_r A_r x B_r (at worst with matrices of a single 1).  Then W′ = Σ_r A_r ⊗ B_rᵀ,
# and its columns are what T makes of the unit columns, so there is no other.
#
# For any T, linear or not, put n = x′ᵀx′ > 0 and let Z be any matrix of the right shape:
#
#     W′ = y′x′ᵀ/n + Z (I − x′x′ᵀ/n),      W′x′ = y′ + Z x′ − Z x′ = y′.


# %%
def which(a: Argument) -> None:
    """One W′ for a linear T; a family of them at each x for any T."""
    a.section("Which W′ there are")
    r = sympy.Symbol("r", integer=True, positive=True)
    A, B = m.Letter("A", K, N, (r,)), m.Letter("B", M, L, (r,))
    total = lambda term: m.RangeSum(term, r, 1, m.dimension("R"))
    linear = Step("T linear", vec(total(m.Product(A, X, B))), total(m.Kronecker(A, B.T)) @ vec(X))
    a.prove(linear)
    x, y, Z, n = m.Letter("x'", D, 1), m.Letter("y'", E, 1), m.Letter("Z", E, D), m.Letter("n", 1, 1)
    where = {n: x.T @ x}
    a.say("For any T, times n; a number times a column is written as the column times a 1 × 1 matrix:")
    a.prove(Step("y′x′ᵀ takes x′ to n y′", m.Product(y, x.T, x), y @ n, where))
    a.prove(Step("Z x′x′ᵀ takes x′ to n Z x′", m.Product(Z, x, x.T, x), m.Product(Z, x, n), where))
    a.refute(Step("Z makes no difference to W′", m.Product(Z, x, x.T), m.Kronecker(Z, n), where))
    _family(a)


def _family(a: Argument) -> None:
    x, y, n = sympy.Matrix([2, -1]), sympy.Matrix([2, 0]), 5  # y′ = relu(x′), n = x′ᵀx′
    for Z in (sympy.zeros(2, 2), sympy.Matrix([[0, 5], [0, 0]])):
        matrix = y * x.T / n + Z * (sympy.eye(2) - x * x.T / n)
        a.show(f"x′ = (2, -1), y′ = relu(x′) = (2, 0), Z = {Z.tolist()}:  W′ = {matrix.tolist()}")
        a.check("W′x′ = y′", matrix * x == y)


# %% [markdown]
# ## One reshape for all the data
#
# Row-major, W x is W ⊗ I_M and x V is I_N ⊗ Vᵀ; column-major they are I_M ⊗ W and Vᵀ ⊗ I_N.  Layers compose if they
# share one reshape, as DUAT says.  v1 and v2 ask this of "identical operations" only: if a map of the tokens is
# written row-major and the next, of the features, column-major, the composition is wrong.  Any other reshape P will
# do, and W′ becomes P W′ P⁻¹.


# %%
def one_reshape(a: Argument) -> None:
    """Row-major, column-major, mixed, and permuted at will."""
    a.section("One reshape for all the data")
    W, V = m.Letter("W", K, N, (1,)), m.Letter("V", M, L, (1,))
    Y = m.Product(W, X, V)
    left, right = m.Kronecker(W, eye(M)), m.Kronecker(eye(K), V.T)
    a.prove(Step("row-major", vec(Y), m.Product(right, left, vec(X))))
    columns = m.Product(m.Kronecker(V.T, eye(K)), m.Kronecker(eye(M), W), column_major(X))
    a.prove(Step("column-major", column_major(Y), columns))
    a.refute(Step("mixed", column_major(Y), m.Product(m.Kronecker(V.T, eye(K)), left, vec(X))))
    weights = np.array([[1, 2], [3, 4]])
    matrix, orders = np.kron(weights, np.eye(2, dtype=int)), list(permutations(range(4)))
    same = all(_conjugated(weights, matrix, np.eye(4, dtype=int)[list(order)]) for order in orders)
    a.check(f"W = {weights.tolist()}, N = M = 2: P W′ P⁻¹ for all {len(orders)} orders of the four entries", same)


def _conjugated(weights: np.ndarray, matrix: np.ndarray, P: np.ndarray) -> bool:
    images = [P @ (weights @ unit.reshape(2, 2)).reshape(-1) for unit in P]  # row k of P is column k of P⁻¹
    return np.array_equal(np.stack(images, axis=1), P @ matrix @ P.T)


# %% [markdown]
# ## What W′ is made of
#
# "W′ is derived from W" (§2 of v1 and v2, DUAT §2.1) is true of Linear layers: W ⊗ I_M and I_N ⊗ Vᵀ do not contain
# x.  Of attention it is false: its matrix W_HVO(x) contains softmax(x W_Q (x W_K)ᵀ/√M) (attention_is_a_matrix.py).


# %%
def made_of(a: Argument) -> None:
    """The matrix of attention at two inputs: two tokens of one feature, one head, all weights 1."""
    a.section("What W′ is made of")
    with jax.enable_x64(True):
        first, second = (np.asarray(attention_matrix(jnp.asarray(x))) for x in ([0.0, 0.0], [1.0, 0.0]))
    a.show(f"W_HVO at x = (0, 0): {first.tolist()}\nW_HVO at x = (1, 0): {second.round(6).tolist()}")
    apart = abs(first - second).max()
    a.check("they differ by far more than rounding (below 2^-40)", bool(apart > 2**-10))


# %% [markdown]
# ## Eq. 5 and 15
#
# v1 and v2 print W′ ⋄ x′ = (W′)ᵀx′, so their W′ is (W ⊗ I_M)ᵀ, and v1 displays its first columns (Eq. 15).  Then they
# rename (W′)ᵀ to W′.  DUAT prints W′x′ in Eq. 5 already and still has the sentence: done again, it is wrong.


# %%
def linear_layer(a: Argument) -> None:
    """W x as a matrix; the displayed columns; the renaming, once and twice."""
    a.section("Eq. 5 and 15")
    W = m.Letter("W", N, N, (1,))
    printed, renamed, again = (m.Letter(name, N * M, N * M) for name in ("W'", "V'", "U'"))
    where = {printed: m.Kronecker(W, eye(M)).T, renamed: printed.T, again: renamed.T}
    a.prove(Step("Eq. 5 with W′ = (W ⊗ I_M)ᵀ", vec(W @ X), printed.T @ vec(X), where))
    a.prove(Step("renamed, V′ = (W′)ᵀ", vec(W @ X), renamed @ vec(X), where))
    a.refute(Step("renamed once more, U′ = (V′)ᵀ", vec(W @ X), again @ vec(X), where))
    weights = sympy.Matrix(2, 2, lambda i, j: sympy.Symbol(f"w_{i + 1}{j + 1}"))
    places = list(product(range(2), range(2)))  # (token, place) of a row, (row, shift) of a column
    shown = sympy.Matrix([[entry_of_15(weights, *of_row, *of_column) for of_column in places] for of_row in places])
    a.say("Eq. 15 for n = m = 2:")
    a.show("\n".join("[" + "".join(f"{entry!s:>6}" for entry in shown.row(i)) + " ]" for i in range(4)))
    a.check("it is (W ⊗ I_2)ᵀ in every entry", shown.T == sympy.kronecker_product(weights, sympy.eye(2)))


# %% [markdown]
# ## Which axis
#
# The papers write W x for Linear layers and x W for attention, on the same x.  A Transformer's Linear layers are x V:
# they treat every token alone.  The matrix is then I_N ⊗ Vᵀ, of density 1/N, for V of any shape, and the layer
# commutes with every exchange P of the tokens.  W x does not.
#
# Could one be the other in disguise?  Entry ((n,m),(k,l)) of W ⊗ I_M − I_N ⊗ Vᵀ is w_{n,k} δ_{m,l} − δ_{n,k} v_{l,m}.
# If all are zero, l = m gives W = v_{m,m} I, and k = n gives V = w_{n,n} I: both are the same multiple of the identity.


# %%
def which_axis(a: Argument) -> None:
    """x V as a matrix; its symmetry; W x = x V for multiples of the identity only."""
    a.section("Which axis")
    W, V, P = m.Letter("W", N, N, (1,)), m.Letter("V", M, K, (1,)), m.Letter("P", N, N)
    a.prove(Step("x V", vec(X @ V), m.Kronecker(eye(N), V.T) @ vec(X)))
    a.prove(Step("x V after and before an exchange of tokens", m.Product(P, X, V), (P @ X) @ V))
    a.refute(Step("W x after and before an exchange of tokens", m.Product(P, W, X), m.Product(W, P, X)))
    for found in only_multiples(identity_entry, identity_entry):
        a.check(f"{found.method}: {found.finding}", found.verdict == "PROVED")


# %% [markdown]
# ## Eq. 6, the feed-forward part
#
# σ acts on every element, so it commutes with any reshape: W_i′ = W_i ⊗ I_M and b_i′ = vec(b_i), or I_N ⊗ W_iᵀ and
# 1_N ⊗ b_i in a Transformer.  The feed-forward part is not linear (v1 §3.5: "comprised of linear operations"), nor
# linear up to a bias: the second difference f(x + e) − 2 f(x) + f(x − e) of such a map is zero, and that of relu at
# x = 0, e = 1 is 1.


# %%
def eq_6(a: Argument) -> None:
    """The feed-forward part on both axes; it is not affine."""
    a.section("Eq. 6, the feed-forward part")
    G = m.dimension("G")
    W1, W2, b1, b2 = (
        m.Letter(name, rows, columns, (n,))
        for name, rows, columns, n in (("W", G, N, 1), ("W", N, G, 2), ("b", G, M, 1), ("b", N, M, 2))
    )
    hidden = m.Activation(m.Kronecker(W1, eye(M)) @ vec(X) + vec(b1))
    a.prove(Step("on tokens, as printed", vec(feed_forward(X)), m.Kronecker(W2, eye(M)) @ hidden + vec(b2)))
    V1, V2, ones = m.Letter("V", M, G, (1,)), m.Letter("V", G, M, (2,)), m.Ones(N, 1)
    v1, v2 = m.Letter("v", G, 1, (1,)), m.Letter("v", M, 1, (2,))
    plain = m.Activation(X @ V1 + ones @ v1.T) @ V2 + ones @ v2.T
    hidden = m.Activation(m.Kronecker(eye(N), V1.T) @ vec(X) + m.Kronecker(ones, v1))
    column = m.Kronecker(eye(N), V2.T) @ hidden + m.Kronecker(ones, v2)
    a.prove(Step("on features, as in a Transformer", vec(plain), column))
    e = m.Letter("e", N, M)
    sums, twice = feed_forward(X + e) + feed_forward(X - e), m.Scaled(2, feed_forward(X))
    a.refute(Step("f(x + e) + f(x − e) = 2 f(x)", sums, twice))
    relu = lambda z: max(z, 0)
    difference = relu(0 + 1) - 2 * relu(0) + relu(0 - 1)
    a.show(f"one token, one feature, W_1 = W_2 = 1, b_1 = b_2 = 0, x = 0, e = 1: second difference {difference}")
    a.check("refuted — the smallest example", difference != 0)


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("The matrix–vector method: linear layers and the feed-forward part")
    which(a)
    one_reshape(a)
    made_of(a)
    linear_layer(a)
    which_axis(a)
    eq_6(a)
    a.section("Verdict")
    a.say(
        "PROVED for all shapes: a linear map has one W′, any map has many at each x ≠ 0 of two elements or more; W x "
        "is W ⊗ I_M, x V is I_N ⊗ Vᵀ, the two agree for multiples of the identity only, and Eq. 6 holds on either "
        "axis for every elementwise σ.  REFUTED: a reshape for each kind of operation, a W′ of attention made of W "
        "alone, the renaming of DUAT's Eq. 5, W x as a Transformer's Linear layer, and the feed-forward part as a "
        "linear map.  ∎"
    )


if __name__ == "__main__":
    run(main)
