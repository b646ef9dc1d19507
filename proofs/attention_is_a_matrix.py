# %% [markdown]
# # Attention is a matrix that depends on its input
#
# Multi-head attention is printed as (DUAT §3.2, Eq. 7, 8)
#
#     Concat(Ĥ_1, …, Ĥ_h) W_O,   Ĥ_i = H_i [x_i W_Vi],   H_i = softmax(x_i W_Qi (x_i W_Ki)ᵀ / √M),
#
# x_i being the i-th of h equal slices of the features of x (N tokens × M features), and is claimed to
# be a matrix acting on the column x' = vec(x) (Eq. 9, 10).  The papers call the matrix "too complex"
# and do not write it down. It is (Theorem 3), row-major vec and E_i the matrix that selects slice i,
#
#     W_HVO(x) = Σ_i H_i(x) ⊗ (E_i W_Vi W_Oi)ᵀ,   vec(MHA(x)) = W_HVO(x) vec(x).

# %%
import math

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from argument import Argument, difference, run

from uat_jax.errors import ShapeError
from uat_jax.lowering import Lowered
from uat_jax.networks import TransformerLayer, attention, attention_weights
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import Heads, scaled_softmax
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

OF = Attention(m.dimension("h"))
X = m.Letter("X", OF.tokens, OF.features(0))
i = sympy.Symbol("i", integer=True, positive=True)

# %% [markdown]
# ## The identity everything rests on
#
# Row-major vec puts X_{n,m} at place (n−1)M + m.  Then
#
#     (A X B)_{n,m} = Σ_{k,l} A_{n,k} X_{k,l} B_{l,m} = Σ_{(k,l)} (A ⊗ Bᵀ)_{(n,m),(k,l)} vec(X)_{(k,l)}.
#
# The normal form uses this identity as one of its rules, so asking the normal form for it would prove
# nothing.  It is multiplied out entry by entry instead, with SymPy's own matrices of free symbols, for
# shapes that all differ.

# %%
SHAPES = ((1, 2, 3, 4), (2, 3, 1, 2), (3, 2, 2, 3))


def vec_identity(a: Argument) -> None:
    """vec(A X B) = (A ⊗ Bᵀ) vec(X), and not with B instead of Bᵀ."""
    a.section("vec(A X B) = (A ⊗ Bᵀ) vec(X)")
    vec = lambda matrix: sympy.Matrix(matrix.rows * matrix.cols, 1, list(matrix))
    for p, q, r, s in SHAPES:
        A, Z, B = (
            sympy.Matrix(*shape, _symbols(name)) for name, shape in (("a", (p, q)), ("z", (q, r)), ("b", (r, s)))
        )
        same = vec(A * Z * B) - sympy.kronecker_product(A, B.T) * vec(Z)
        a.check(f"entry by entry for A {p} × {q}, X {q} × {r}, B {r} × {s}", same.expand().is_zero_matrix is True)
    A, B = (m.Letter(name, m.dimension(p), m.dimension(q)) for name, p, q in (("A", "p", "N"), ("B", "M", "q")))
    Z = m.Letter("X", m.dimension("N"), m.dimension("M"))
    a.prove(
        Step(
            "the rule, for every shape",
            m.Vectorised(m.Product(A, Z, B)),
            m.Kronecker(A, B.T) @ m.Vectorised(Z),
        )
    )


def _symbols(name: str):
    return lambda row, column: sympy.Symbol(f"{name}_{row}_{column}")


# %% [markdown]
# ## One head
#
# H_i X E_i W_Vi W_Oi has the form A X B with A = H_i(X) and B = E_i W_Vi W_Oi.  That A depends on X
# does not matter: for the X at hand it is a matrix.  What the papers do in Fig. 1.d, before W_O, is the
# same with B = W_Vi.


# %%
def one_head(a: Argument) -> None:
    """Head i as a matrix, for a symbolic i."""
    a.section("One head")
    H, V = OF.pattern(1, i, X), OF.value_output(1, i)
    slice_, value = X @ OF.select(1, i), OF.weight("V", 1, i)
    a.say("H_i(X), the attention pattern of head i, with x_i = X E_i:")
    a.show(f"H_i(X) = {H}")
    fig_1d = Step(
        "before W_O (Fig. 1.d)",
        m.Vectorised(H @ slice_ @ value),
        m.Kronecker(H, value.T) @ m.Vectorised(slice_),
    )
    a.prove(fig_1d)
    a.prove(Step("with W_O", m.Vectorised(H @ X @ V), m.Kronecker(H, V.T) @ m.Vectorised(X)))


# %% [markdown]
# ## All heads
#
# Concat(Ĥ_1, …, Ĥ_h) W_O is Σ_i Ĥ_i W_Oi with W_Oi the i-th block of rows of W_O, so the matrices add
# up.  The number of heads, of tokens and of features are symbols here: the equation is one for all of
# them.


# %%
def all_heads(a: Argument) -> None:
    """Theorem 3, for every h, N and M."""
    a.section("Theorem 3: h heads, N tokens, M features, all symbolic")
    matrix = OF.matrix(1, X)
    a.prove(Step("vec(MHA(X)) = W_HVO(X) vec(X)", m.Vectorised(OF.attend(1, X)), matrix @ m.Vectorised(X)))
    a.show(f"W_HVO(X) is {m.shape_text(matrix)}")


# %% [markdown]
# ## The matrices of the figures
#
# The papers go another way: Concat(Ĥ_1, …, Ĥ_h) = Σ_i Ĥ_i E_iᵀ first (Fig. 1.e, 4, 5), then W_O (Fig. 6).
# Their primed matrices are transposes of what acts on the column: (W'_HV)ᵀ x' = Ĥ', (W'_O)ᵀ Ĥ' = H̊'.  With
# these, W'_HVO = W'_HV W'_O.  v1 and v2 print W'_HVᵀ ⋄ W'_O, which is that, A ⋄ B being AᵀB.  DUAT prints
# W'_O W'_HV, which would be right for the matrices themselves: the transposes were left where they were.


# %%
def figures(a: Argument) -> None:
    """W_HV, and the order of W_HV and W_O."""
    a.section("The matrices of the figures")
    of, vec = Heads(), m.Vectorised
    HV, O = of.values_matrix().T, of.output_matrix().T
    a.prove(Step("vec(Concat(Ĥ_1, …, Ĥ_h)) = (W'_HV)ᵀ x'", vec(of.concatenated()), HV.T @ vec(of.x)))
    result = vec(of.attended())
    a.prove(Step("W'_HVO = W'_HV W'_O", result, (HV @ O).T @ vec(of.x)))
    a.prove(Step("W_HVO = W_O W_HV, untransposed", result, O.T @ HV.T @ vec(of.x)))
    a.refute(Step("W'_HVO = W'_O W'_HV, transposed", result, (O @ HV).T @ vec(of.x)))
    V, W_O = sympy.Matrix([[1, 1], [0, 1]]), sympy.Matrix([[1, 0], [1, 1]])
    row = sympy.Matrix([[1, 0]])
    true, printed = row * V * W_O, row * W_O * V
    a.show(
        f"N = 1, x = (1, 0), W_V = {V.tolist()}, W_O = {W_O.tolist()}:  MHA(x) = {list(true)}, printed {list(printed)}"
    )
    a.check("refuted — a small example", true != printed)


# %% [markdown]
# ## √M and √d
#
# The papers divide the scores by √M, Vaswani et al. by √d, M = hd.  With √h W_Q in place of W_Q one is the
# other; with the same weights they differ as soon as h > 1.


# %%
def scales(a: Argument) -> None:
    """One class of functions, two functions."""
    a.section("√M and √d")
    h, of, z = m.dimension("h"), Heads(), m.Letter("x", m.dimension("N"), m.dimension("d"), (i,))
    Q, K, U = of.weight("Q", i), of.weight("K", i), m.Letter("U", *of.weight("Q", i).shape)
    over_d = scaled_softmax(z @ Q, z @ K, m.dimension("d"))
    scaled = scaled_softmax(z @ U, z @ K, of.features)
    a.prove(Step("with U = √h W_Q", scaled, over_d, {U: m.Scaled(sympy.sqrt(h), Q)}))
    a.refute(Step("with the same weights", scaled_softmax(z @ Q, z @ K, of.features), over_d))


# %% [markdown]
# ## The matrix depends on x
#
# "Regarded as parameters", H_i is held fixed and attention is linear.  As a function of x it is not:
# doubling x changes the scores, and with them H_i.  Two tokens, one feature, one head and all weights 1
# show it: with x = (1, 0),
#
#     MHA(x)_1 = e / (e + 1),   MHA(2x)_1 = 2 e⁴ / (e⁴ + 1).


# %%
def depends_on_input(a: Argument) -> None:
    """Linear for a frozen H_i; MHA(2x) ≠ 2 MHA(x)."""
    a.section("The matrix depends on x")
    Z, H, B = (
        m.Letter(name, *shape)
        for name, shape in (("Z", X.shape), ("H", (OF.tokens, OF.tokens)), ("B", m.turned(X.shape)))
    )
    a.prove(Step("with H held fixed, linear", H @ (X + 2 * Z) @ B, H @ X @ B + 2 * (H @ Z @ B)))
    one, W = Attention(1), m.Scaled(2, X)
    a.refute(Step("MHA(2X) = 2 MHA(X)", one.attend(1, W), m.Scaled(2, one.attend(1, X))))
    ones = TransformerLayer(*(np.ones((1, 1, 1)),) * 4, *(np.zeros((1,) * n) for n in (2, 1, 2, 1)))  # type: ignore[arg-type]
    x = np.array([[1.0], [0.0]])
    with jax.enable_x64(True):
        once, twice = (float(attention(jax.tree.map(jnp.asarray, ones), jnp.asarray(z))[0, 0]) for z in (x, 2 * x))
    e = math.e
    a.show(f"2 MHA(x)_1 = {2 * once:.6f},  by hand 2 e / (e + 1)   = {2 * e / (e + 1):.6f}")
    a.show(f"MHA(2x)_1  = {twice:.6f},  by hand 2 e⁴ / (e⁴ + 1) = {2 * e**4 / (e**4 + 1):.6f}")
    a.check("MHA(2x) ≠ 2 MHA(x), by far more than rounding (below 2^-40)", abs(twice - 2 * once) > 2**-10)


# %% [markdown]
# ## The transposed factor
#
# The second factor must be transposed.  With a different number of features after attention the
# untransposed one does not even have the right shape; where the shapes agree, the smallest example
# refutes it: one token, so that H = 1 exactly, two features, and W_V W_O the matrix with a single 1 in
# its upper right corner.


# %%
def transposed_factor(a: Argument) -> None:
    """H_i ⊗ (E_i W_Vi W_Oi) is wrong."""
    a.section("The factor without its transpose")
    one = Attention(1)
    wrong = m.Kronecker(one.pattern(1, 1, X), one.value_output(1, 1))
    a.check("refuted — shapes: H ⊗ (W_V W_O) does not fit unless M_1 = M_0", _misfits(wrong, m.Vectorised(X), one))
    square = lambda e: e.xreplace({one.features(1): one.features(0)})
    left, right = square(m.Vectorised(one.attend(1, X))), square(wrong) @ m.Vectorised(X)
    a.refute(Step("vec(MHA(X)) = (H(X) ⊗ (W_V W_O)) vec(X), M_1 = M_0", left, right))
    x, y = one.layers.x(0), square(one.layers.x(1))
    sides = [Program({X: m.Matricised(x, *X.shape), y: side}, y) for side in (left, right)]
    assert difference(*sides) is not None
    weights = {"W_{Q,1}^(1)": np.zeros((2, 2)), "W_{K,1}^(1)": np.zeros((2, 2)), "W_{V,1}^(1)": np.eye(2)}
    weights["W_{O,1}^(1)"] = np.array([[0.0, 1.0], [0.0, 0.0]])
    with jax.enable_x64(True):
        true, printed = (
            np.asarray(Lowered(side, x, jax.nn.relu, dimensions={one.tokens: 1})(weights, jnp.array([1.0, 0.0])))
            for side in sides
        )
    a.show(f"x = (1, 0), W_V W_O = [[0, 1], [0, 0]]:  MHA(x) = {_row(true)},  untransposed {_row(printed)}")
    a.check("refuted — the smallest example", not np.array_equal(true, printed))


def _misfits(matrix: m.Expression, column: m.Expression, of: Attention) -> bool:
    try:
        product = matrix @ column
    except ShapeError:
        return True
    return not m.same_dimension(product.shape[0], of.layers.x(1).shape[0])


# %% [markdown]
# ## The matrix, built
#
# Theorem 3's right-hand side is lowered to JAX and really builds the NM × NM matrix.  Scores that lie
# thousands apart make each row of softmax exactly one 1 and zeros, so that for whole-number weights the
# matrix is one of whole numbers, float64 does not round, and attention and matrix must agree in every
# bit.

# %%
TOKENS, FEATURES, AFTER, HEADS, SHARPNESS, SEED = 3, 4, 6, 2, 8192, 35


def whole_number_layer() -> tuple[TransformerLayer, np.ndarray]:
    """Weights and tokens of entries −2 … 2; queries times ``SHARPNESS``."""
    random, d = np.random.default_rng(SEED), FEATURES // HEADS
    draw = lambda *shape: random.integers(-2, 3, shape).astype(np.float64)
    heads = SHARPNESS * draw(HEADS, d, d), draw(HEADS, d, d), draw(HEADS, d, d), draw(HEADS, d, AFTER)
    no_feed_forward = (np.zeros((AFTER, 1)), np.zeros(1), np.zeros((1, AFTER)), np.zeros(AFTER))
    return TransformerLayer(*heads, *no_feed_forward), draw(TOKENS, FEATURES)  # type: ignore[arg-type]


def matrix_of(layer: TransformerLayer, x: np.ndarray) -> np.ndarray:
    """W_HVO(x), lowered from the right-hand side of Theorem 3; NM_1 × NM_0."""
    of = Attention(HEADS)
    X_0, W = m.Letter("X", *X.shape), m.Letter("W", of.layers.widths(1), of.layers.widths(0))
    column = of.layers.x(0)
    program = Program({X_0: m.Matricised(column, *X.shape), W: of.matrix(1, X_0)}, W)
    stacks = zip("QKVO", layer[:4], strict=True)
    weights = {f"W_{{{name},{n}}}^(1)": w for name, stack in stacks for n, w in enumerate(stack, 1)}
    with jax.enable_x64(True):
        built = Lowered(program, column, jax.nn.relu, dimensions={of.tokens: TOKENS})
        return np.asarray(built(weights, jnp.asarray(x.reshape(-1))))


def attend(layer: TransformerLayer, x: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The patterns H_i(x), and vec(MHA(x)), by the plain network."""
    with jax.enable_x64(True):
        layer, tokens = jax.tree.map(jnp.asarray, (layer, x))
        return np.asarray(attention_weights(layer, tokens)), np.asarray(attention(layer, tokens)).reshape(-1)


def built_matrix(a: Argument) -> None:
    """W_HVO(x) as an array, against attention."""
    layer, x = whole_number_layer()
    a.section("The matrix, built")
    a.say(
        f"N = {TOKENS}, M_0 = {FEATURES}, M_1 = {AFTER}, h = {HEADS}; entries −2 … 2 drawn with seed {SEED}, "
        f"queries times {SHARPNESS}:"
    )
    (patterns, direct), matrix = attend(layer, x), matrix_of(layer, x)
    applied = matrix @ x.reshape(-1)
    a.check("every row of every H_i is one 1 and zeros", set(np.unique(patterns)) == {0.0, 1.0})
    a.show("\n".join("[" + "".join(f"{int(entry):4d}" for entry in row) + " ]" for row in matrix))
    a.show(f"vec(MHA(x))     = {_row(direct)}")
    a.show(f"W_HVO(x) vec(x) = {_row(applied)}")
    a.check(
        f"equal in every bit; the matrix is {matrix.shape[0]} × {matrix.shape[1]}",
        np.array_equal(direct, applied),
    )
    other = x[::-1]  # the same tokens in another order
    a.check("the tokens in reverse order have another matrix", not np.array_equal(matrix, matrix_of(layer, other)))
    same = np.array_equal(attend(layer, other)[1], matrix_of(layer, other) @ other.reshape(-1))
    a.check("which is theirs", same)


def _row(values: np.ndarray) -> str:
    return "(" + ", ".join(str(int(value)) for value in values) + ")"


# %%
def main() -> None:
    """Print the argument; raise at the first step that does not hold."""
    a = Argument("Attention is a matrix that depends on its input")
    vec_identity(a)
    one_head(a)
    all_heads(a)
    figures(a)
    scales(a)
    depends_on_input(a)
    transposed_factor(a)
    built_matrix(a)
    a.section("Verdict")
    a.say(
        "PROVED for every number of heads, tokens and features: vec(MHA(x)) = W_HVO(x) vec(x) with "
        "W_HVO(x) = Σ_i H_i(x) ⊗ (E_i W_Vi W_Oi)ᵀ.  It is a matrix for each x, and not a linear map of x. ∎"
    )


if __name__ == "__main__":
    run(main)
