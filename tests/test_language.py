"""The matrix language: shapes are really checked, indices and dimensions can be put in, and it prints as it reads."""

import re

import pytest
import sympy

from uat_jax.errors import InputError, ShapeError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import derive
from uat_jax.symbolic.normal_form import Normaliser

n, p, r, N, D, F = map(m.dimension, ("n", "m", "r", "N", "D", "F"))
i, j, k = (sympy.Symbol(s, integer=True, positive=True) for s in "ijk")


def letter(name, rows, columns, *subscripts):
    return m.Letter(name, rows, columns, subscripts)


W2, V, A, x, y = (
    letter("W", p, n, 2),
    letter("V", p, n),
    letter("A", n, n),
    letter("x", n, 1),
    letter("y", p, 1),
)
T = letter("T", n, p)


# --- shapes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("build", "shape"),
    [
        (lambda: W2 @ A, (p, n)),
        (lambda: W2 @ A @ x, (p, 1)),
        (lambda: W2 + V - 2 * W2, (p, n)),
        (lambda: -W2, (p, n)),
        (lambda: W2.T, (n, p)),
        (lambda: m.Kronecker(W2, T), (p * n, n * p)),
        (lambda: m.Vectorised(W2), (n * p, 1)),
        (lambda: m.Matricised(m.Vectorised(W2), n, p), (n, p)),
        (lambda: m.Activation(W2), (p, n)),
        (lambda: m.RowSoftmax(W2), (p, n)),
        (lambda: m.Dependent(W2, y), (p, n)),
        (lambda: m.Hadamard(W2, T.T), (p, n)),
        (lambda: m.Diagonal(W2 @ x), (p, p)),
        (lambda: m.RangeSum(letter("B", p, n, k), k, 1, j), (p, n)),
        (lambda: m.Selection(1, n, p), (n, p)),
        (lambda: m.Identity(n) @ A, (n, n)),
        # dimensions are compared as polynomials
        (lambda: letter("P", 1, n * p) @ letter("Q", p * n, 1), (1, 1)),
        (lambda: letter("P", 1, n * (p + 1)) + letter("Q", 1, n * p + n), (1, n * p + n)),
    ],
)
def test_what_fits_has_the_shape_of_the_result(build, shape):
    assert all(map(m.same_dimension, build().shape, shape))


DOES_NOT_FIT = {
    "a product": (lambda: W2 @ W2, ["W_2 (m × n)", "multiply"]),
    "a product off by one": (
        lambda: letter("P", n, n + 1) @ letter("Q", n, n),
        ["P (n × n + 1)", "Q (n × n)", "multiply"],
    ),
    "later in a product": (lambda: m.Product(A, A, W2, x), ["A (n × n)", "W_2 (m × n)", "multiply"]),
    "a product with a sum in it": (lambda: (W2 + V) @ y, ["W_2 + V (m × n)", "y (m × 1)", "multiply"]),
    "a sum": (lambda: W2 + A, ["W_2 (m × n)", "A (n × n)", "add"]),
    "a sum with a transpose": (lambda: W2 + W2.T, ["W_2 (m × n)", "W_2ᵀ (n × m)", "add"]),
    "a difference": (lambda: x - y, ["x (n × 1)", "-y (m × 1)", "add"]),
    "the third of a sum": (lambda: m.Addition(W2, V, A), ["W_2 (m × n)", "A (n × n)", "add"]),
    "a product entry by entry": (lambda: m.Hadamard(W2, W2.T), ["W_2 (m × n)", "W_2ᵀ (n × m)", "entry by entry"]),
    "a diagonal of a matrix": (lambda: m.Diagonal(W2), ["W_2 (m × n)", "no column"]),
    "a column of the wrong length": (lambda: m.Matricised(x, n, p), ["x (n × 1)", "n × m"]),
    "a matrix in place of a column": (
        lambda: m.Matricised(letter("P", n * p, 2), n, p),
        ["P (m*n × 2)", "n × m"],
    ),
    "a summand whose shape moves": (
        lambda: m.RangeSum(letter("B", m.indexed_dimension("D", k), n, k), k, 1, j),
        ["B_k (D_k × n)", "depends on k"],
    ),
}


@pytest.mark.parametrize("build, said", DOES_NOT_FIT.values(), ids=DOES_NOT_FIT)
def test_what_does_not_fit_is_named_with_its_shape(build, said):
    with pytest.raises(ShapeError) as raised:
        build()
    for words in said:
        assert words in str(raised.value)


def test_sympy_itself_lets_symbolic_mismatches_through():
    """Why the language checks shapes itself."""
    W = sympy.MatrixSymbol("W", p, n)
    assert sympy.MatMul(W, W).shape == (p, n)  # type: ignore[attr-defined]


def test_a_float_is_no_coefficient():
    with pytest.raises(InputError, match="got 0.5 .* exact"):
        m.Scaled(0.5, x)  # type: ignore[arg-type]


# --- putting in ------------------------------------------------------------------------------------------

B = m.Family("B", lambda *indices: (n, n))


@pytest.mark.parametrize(
    ("expression", "names", "wanted"),
    [
        (B[j] @ B[j + 1], {j: 3}, B[3] @ B[4]),
        (W2 @ x, {n: 5}, letter("W", p, 5, 2) @ letter("x", 5, 1)),
        (m.Activation(B[j]).T, {j: i + 1}, m.Activation(B[i + 1]).T),
        (m.Scaled(1 / sympy.sqrt(p), x), {p: 4}, m.Scaled(sympy.Rational(1, 2), x)),
        (m.Identity(n * p), {p: 2}, m.Identity(2 * n)),
        (m.Letter("W", D, F, (k, 3), (j,)), {j: j - 1}, m.Letter("W", D, F, (k, 3), (j - 1,))),
        (
            letter("P", m.indexed_dimension("D", j), 1, j),
            {j: 2},
            letter("P", m.indexed_dimension("D", sympy.Integer(2)), 1, 2),
        ),
        (m.RangeSum(B[k], k, 1, j), {j: 3}, m.RangeSum(B[k], k, 1, 3)),
        (m.RangeSum(B[k], k, 1, j), {k: 3}, m.RangeSum(B[k], k, 1, j)),
        (B[k] @ m.RangeSum(B[k], k, 1, j), {k: 3}, B[3] @ m.RangeSum(B[k], k, 1, j)),
        (m.RangeSum(B[k], k, 1, k), {k: 3}, m.RangeSum(B[k], k, 1, 3)),
    ],
)
def test_names_are_put_in_for_indices_and_dimensions(expression, names, wanted):
    for put_in in (expression.xreplace(names_as_sympy(names)), expression.subs(names)):
        assert put_in.shape == wanted.shape
        assert Normaliser().equal(put_in, wanted)
        assert put_in.free_symbols == wanted.free_symbols


def names_as_sympy(names):
    return {old: sympy.sympify(new) for old, new in names.items()}


@pytest.mark.parametrize("put_in", [lambda e: e.xreplace({i: k}), lambda e: e.subs(i, k)])
def test_a_sum_captures_no_name_that_is_put_in(put_in):
    """Σ_k B_i B_k at i = k is B_k Σ_l B_l, not Σ_k B_k B_k."""
    found = put_in(m.RangeSum(B[i] @ B[k], k, 1, j))
    assert Normaliser().equal(found, B[k] @ m.RangeSum(B[i], i, 1, j))
    assert not Normaliser().equal(found, m.RangeSum(B[k] @ B[k], k, 1, j))


def test_a_bound_index_is_not_free():
    assert m.RangeSum(B[k] @ B[i], k, 1, j).free_symbols == B[i].free_symbols | {j}


def test_letters_are_the_same_only_if_everything_is():
    alike = [
        m.Letter("W", n, p, (1, 3), (2,)),
        m.Letter("V", n, p, (1, 3), (2,)),
        m.Letter("W", p, n, (1, 3), (2,)),
        m.Letter("W", n, p, (3, 1), (2,)),
        m.Letter("W", n, p, (1, 3), (3,)),
        m.Letter("W", n, p, (1, 3)),
    ]
    assert len(set(alike)) == len(alike)
    assert m.Letter("W", n, p, (1, 3), (2,)) == alike[0]


# --- printing --------------------------------------------------------------------------------------------

hat = m.Letter("Ŵ", D, F, (j, 3), (p,))
s = m.Activation(W2 @ x + y)

PRINTED = [
    (hat, "Ŵ_{j,3}^(m)", r"\hat{\mathbf{W}}_{j,3}^{(m)}"),
    (m.Letter("W̃", D, D, (k + 1,)), "W̃_{k+1}", r"\tilde{\mathbf{W}}_{k + 1}"),
    (m.Letter("b̂", D, 1, (12, 3)), "b̂_{12,3}", r"\hat{\mathbf{b}}_{12,3}"),
    (letter("x", D, 1, 0), "x_0", r"\mathbf{x}_{0}"),
    (W2 @ x + y, "W_2 x + y", r"\mathbf{W}_{2}\mathbf{x} + \mathbf{y}"),
    (W2 @ A @ (x - x), "W_2 A (x - x)", r"\mathbf{W}_{2}\mathbf{A}\left(\mathbf{x} - \mathbf{x}\right)"),
    (
        m.Activation(T @ s),
        "σ(T σ(W_2 x + y))",
        r"\sigma\left(\mathbf{T}\sigma\left(\mathbf{W}_{2}\mathbf{x} + \mathbf{y}\right)\right)",
    ),
    ((W2 @ A).T, "(W_2 A)ᵀ", r"\left(\mathbf{W}_{2}\mathbf{A}\right)^{T}"),
    (W2.T @ y, "W_2ᵀ y", r"\mathbf{W}_{2}^{T}\mathbf{y}"),
    (hat.T, "(Ŵ_{j,3}^(m))ᵀ", r"\left(\hat{\mathbf{W}}_{j,3}^{(m)}\right)^{T}"),
    (m.Transposed(m.Transposed(A)), "(Aᵀ)ᵀ", r"\left(\mathbf{A}^{T}\right)^{T}"),
    (
        m.Kronecker(A + A, W2.T),
        "(A + A) ⊗ W_2ᵀ",
        r"\left(\mathbf{A} + \mathbf{A}\right) \otimes \mathbf{W}_{2}^{T}",
    ),
    (
        m.Kronecker(A, T) @ m.Vectorised(letter("X", n, p)),
        "(A ⊗ T) vec(X)",
        r"\left(\mathbf{A} \otimes \mathbf{T}\right)\operatorname{vec}\left(\mathbf{X}\right)",
    ),
    (m.Scaled(-2, x), "-2 x", r"-2 \mathbf{x}"),
    (x - 2 * x, "x - 2 x", r"\mathbf{x} - 2 \mathbf{x}"),
    (
        m.Scaled(1 / sympy.sqrt(p), A + A),
        "1/sqrt(m) (A + A)",
        r"\frac{1}{\sqrt{m}} \left(\mathbf{A} + \mathbf{A}\right)",
    ),
    (m.Scaled(n + 1, x), "(n + 1) x", r"\left(n + 1\right) \mathbf{x}"),
    ((2 * A) @ x, "(2 A) x", r"\left(2 \mathbf{A}\right)\mathbf{x}"),
    (m.RangeSum(B[k] @ x, k, 1, j), "Σ_{k=1}^{j} B_k x", r"\sum_{k=1}^{j} \mathbf{B}_{k}\mathbf{x}"),
    (
        A @ m.RangeSum(B[k] + A, k, 1, j - 1),
        "A (Σ_{k=1}^{j - 1} (B_k + A))",
        r"\mathbf{A}\left(\sum_{k=1}^{j - 1} \left(\mathbf{B}_{k} + \mathbf{A}\right)\right)",
    ),
    (m.RowSoftmax(A), "softmax(A)", r"\operatorname{softmax}\left(\mathbf{A}\right)"),
    (m.Matricised(y, p, 1), "unvec(y)", r"\operatorname{unvec}\left(\mathbf{y}\right)"),
    (
        m.Hadamard(W2, V + V).T,
        "(W_2 ⊙ (V + V))ᵀ",
        r"\left(\mathbf{W}_{2} \odot \left(\mathbf{V} + \mathbf{V}\right)\right)^{T}",
    ),
    (m.Diagonal(x) @ A, "diag(x) A", r"\operatorname{diag}\left(\mathbf{x}\right)\mathbf{A}"),
    (m.Dependent(B[2], x), "B_2(x)", r"\mathbf{B}_{2}\left(\mathbf{x}\right)"),
    (m.Selection(2, n, p), "E_2", r"\mathbf{E}_{2}"),
    (m.Ones(N, 1) @ y.T, "1_{N,1} yᵀ", r"\mathbf{1}_{N,1}\mathbf{y}^{T}"),
    (m.Letter("σ′", n, 1, (1,)), "σ′_1", r"\boldsymbol{\sigma}'_{1}"),
    (m.Letter("ℓ", n, n), "ℓ", r"\boldsymbol{\ell}"),
    (m.Identity(n) + m.Zero(n, n), "I_{n} + 0_{n,n}", r"\mathbf{I}_{n} + \mathbf{0}_{n,n}"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "text", "tex"), PRINTED, ids=[text for _, text, _ in PRINTED])
def test_printing(expression, text, tex):
    assert str(expression) == text
    assert m.latex(expression) == sympy.latex(expression) == tex


@pytest.mark.parametrize(("kind", "heads"), [("residual", None), ("transformer", None), ("transformer", 2)])
def test_the_latex_of_a_program_is_balanced(kind, heads):
    tex = derive(kind, depth=3, heads=heads).latex()
    assert _balanced(tex)
    assert not _balanced(tex.replace("}", "", 1))
    assert tex.startswith("\\begin{align*}") and tex.endswith("\\end{align*}")
    assert len(re.findall(r"\\left\b", tex)) == len(re.findall(r"\\right\b", tex)) > 0
    assert tex.count("&=") == len(derive(kind, depth=3, heads=heads).parameters)


def _balanced(tex: str) -> bool:
    depth = 0
    for character in tex:
        depth += (character == "{") - (character == "}")
        if depth < 0:
            return False
    return depth == 0
