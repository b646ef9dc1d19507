"""A program lowered to JAX computes what the program says.

Every tolerance is derived: the reference is computed in NumPy in float64, and `random_expressions.Arithmetic` bounds
the error of any evaluation of the same formula in arithmetic of the unit roundoff of the dtype.  A lowered value may
differ from the reference by the bound of the formula it evaluates plus the bound of the reference.
"""

import zlib
from collections.abc import Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from excerpt import one_in
from jax.extend import core
from random_expressions import Arithmetic, Bounded, Evaluator, exact
from scipy import special

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.lowering import TABLE, Lowered
from uat_jax.networks import ACTIVATIONS
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import Derivation, derive
from uat_jax.symbolic.program import Program

SIGMAS = {
    "tanh": np.tanh,
    "relu": lambda x: np.maximum(x, 0),
    "gelu": lambda x: x / 2 * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "logistic": lambda x: 1 / (1 + np.exp(-x)),
    "gelu-erf": lambda x: x / 2 * (1 + special.erf(x / np.sqrt(2))),
    "quick-gelu": lambda x: x / (1 + np.exp(-1.702 * x)),
    "gelu-digits": lambda x: x / 2 * (1 + np.tanh(0.79788456 * (x + 0.044715 * x**3))),
}
DTYPES = ("float64", "float32", "bfloat16", "float16")


@pytest.fixture(autouse=True)
def strict():
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"):
        yield


def test_every_activation_has_a_reference():
    assert SIGMAS.keys() == ACTIVATIONS.keys()


def roundoff(dtype) -> Arithmetic:
    return Arithmetic(float(jnp.finfo(dtype).eps) / 2)


def drawn(letters, numbers: Mapping[Any, int], dtype, name: str) -> dict[m.Letter, jax.Array]:
    """Arrays for letters: the absolute values in a row sum to 1, so that products do not grow; columns are biases."""
    seed = zlib.crc32(name.encode())
    print(f"seed {seed}")
    rng, found = np.random.default_rng(seed), {}
    for letter in letters:
        rows, columns = (int(Evaluator(numbers).scalar(size)) for size in letter.shape)
        array = rng.normal(size=(rows, columns))
        array = array / np.abs(array).sum(axis=1, keepdims=True) if columns > 1 else array / 2
        found[letter] = jax.device_put(np.asarray(array, dtype))  # jnp.asarray compiles a copy of every shape
    return found


def doubles(arrays: Mapping[m.Letter, jax.Array]) -> dict[m.Letter, Bounded]:
    return {letter: exact(np.asarray(array).astype(np.float64)) for letter, array in arrays.items()}


def within(found, reference: Bounded, formula: Bounded) -> bool:
    """Whether a lowered value is as near to the reference as the formula's own bound and the reference's allow."""
    value = np.asarray(found).astype(np.float64).reshape(reference.value.shape)
    return bool(np.all(np.abs(value - reference.value) <= formula.error + reference.error))


def named(arrays: Mapping[m.Letter, jax.Array]) -> dict[str, jax.Array]:
    return {str(letter): array for letter, array in arrays.items()}


# --- every row of the table ------------------------------------------------------------------------------

n, p, q = (m.dimension(s) for s in "npq")
k = sympy.Symbol("k", integer=True, positive=True)
X, Y, Z, x = m.Letter("X", n, p), m.Letter("Y", p, q), m.Letter("Z", n, p), m.Letter("x", n * p, 1)
F = m.Letter("f", p, n)
SIZES = ({n: 1, p: 1, q: 1}, {n: 2, p: 3, q: 4}, {n: 5, p: 2, q: 1})

ROWS = {
    "Identity": m.Identity(n) @ X,
    "Zero": m.Zero(n, p) @ Y + X @ Y,
    "Ones": m.Ones(q, n) @ X,
    "Selection 1": X.T @ m.Selection(1, n, 1) + m.Ones(p, 1),
    "Selection last": X.T @ m.Selection(n, n, 1),
    "Selection of two": (m.Kronecker(X, m.Ones(1, 2)) @ m.Selection(p, 2 * p, 2)),
    "Addition": m.Addition(X, Z, Z),
    "Scaled": m.Scaled(sympy.Rational(-3, 7), X),
    "Scaled by a root": m.Scaled(1 / sympy.sqrt(p), X) + m.Scaled(sympy.sqrt(n) / 3, Z),
    "Scaled by dimensions": m.Scaled(n * p + 2 - q**2, X) + m.Scaled(1 / p**2 + n / q, Z),
    "Product": X @ Y @ Y.T,
    "Transposed": X.T @ Z,
    "Kronecker": m.Kronecker(X, Y),
    "Vectorised": m.Vectorised(X),
    "Matricised": m.Matricised(x, n, p) + X,
    "Matricised, transposed": m.Matricised(x, p, n).T + X,
    "Hadamard": m.Hadamard(X, Z) @ Y,
    "Diagonal": m.Diagonal(m.Vectorised(Z)) @ x + m.Vectorised(X),
    "Dependent": m.Dependent(F, X) @ X,
    "Activation": m.Activation(X @ Y),
    "RowSoftmax": m.RowSoftmax(X @ Y),
    "RangeSum": m.RangeSum(X @ m.Selection(k, p, 1) @ m.Selection(k, p, 1).T, k, 1, p),
    "RangeSum, empty": m.RangeSum(X, k, 1, 0) + X,
    "RangeSum of constants in front": m.RangeSum(Y.T @ m.Selection(k, p, 1) @ m.Selection(k, p, 1).T @ X.T, k, 1, p),
}


def _function(sizes):
    """What the evaluator takes for the dynamic parameter F(x), in JAX."""
    at = Evaluator(sizes)
    shape = int(at.scalar(p)), int(at.scalar(n))

    def function(x):
        R, r = (jnp.asarray(a, x.dtype) for a in at.function(F, x.shape, shape))
        return jnp.tanh(jnp.matmul(R, x.reshape(-1, 1), precision="highest") + r).reshape(shape)

    return function


def test_every_row_of_the_table_is_tested():
    heads = {type(part) for e in ROWS.values() for part in sympy.preorder_traversal(e)}
    assert set(TABLE) <= heads


def _lowered_row(expression, sizes, dtype):
    letters = [letter for letter in (X, Y, Z, x) if expression.has(letter)]
    result = m.Letter("r", *expression.shape)
    arrays = drawn(letters, sizes, dtype, str(expression))
    program = Program({result: expression}, result)
    lowered = Lowered(program, X, jnp.tanh, dimensions=sizes, functions={"f": _function(sizes)})
    found = lowered({s: a for s, a in named(arrays).items() if s != "X"}, arrays.get(X, jnp.ones((1, 1), dtype)))
    at = lambda by: Evaluator(sizes, doubles(arrays), by, np.tanh)(expression)
    return found, at(Arithmetic()), at(roundoff(dtype))


@pytest.mark.parametrize("dtype", one_in(3, DTYPES[:2]))
@pytest.mark.parametrize("sizes", SIZES, ids=["1", "2×3×4", "5×2×1"])
@pytest.mark.parametrize("expression", ROWS.values(), ids=ROWS)
def test_row(expression, sizes, dtype):
    with jax.enable_x64(dtype == "float64"), jax.disable_jit():
        found, reference, formula = _lowered_row(expression, sizes, dtype)
        assert found.dtype == dtype
        assert found.shape == (
            reference.value.shape
            if reference.value.shape[1] > 1 or expression.shape[1] != 1
            else reference.value.shape[:1]
        )
    assert within(found, reference, formula)
    wrong = np.asarray(found).astype(np.float64) + 4 * np.max(formula.error + reference.error) + 1e-6
    assert not within(wrong, reference, formula)


# --- networks as plain loops -----------------------------------------------------------------------------


def plain_loops(d: Derivation, w: Mapping[m.Letter, Bounded], x: Bounded, sigma, by: Arithmetic) -> Bounded:
    """Eq. 20 and Eq. 30, layer by layer."""
    for j in range(1, d.depth + 1):
        A, B, C, b, c = (w[letter] for letter in d.layers.parameters(j))
        y = by.multiply(A, x)
        inner = x if d.kind == "residual" else y
        x = by.add(y, c, by.multiply(C, by.elementwise(sigma, by.add(by.multiply(B, inner), b))))
    return x


def attention_loops(d: Derivation, w: Mapping[m.Letter, Bounded], x: Bounded, sigma, by: Arithmetic) -> Bounded:
    """Eq. 7 and 30 token matrix by token matrix, head by head."""
    assert d.attention is not None
    of, columns = d.attention, (2, -1)
    X = x.moved(lambda a: a.reshape(columns))
    for j in range(1, d.depth + 1):
        M, slices = X.value.shape[1], []
        root = np.full((1, 1), 1 / np.sqrt(M))
        for i in range(1, of.heads + 1):  # type: ignore[arg-type]
            WQ, WK, WV, WO = (w[of.weight(name, j, i)] for name in "QKVO")
            d_j = M // of.heads
            x_i = X.moved(lambda a, i=i, d_j=d_j: a[:, (i - 1) * d_j : i * d_j])
            scores = by.multiply(by.multiply(x_i, WQ), by.multiply(x_i, WK).moved(np.transpose))
            scaled = by.multiply(Bounded(root, 4 * by.u * root), scores, product=np.multiply)
            slices.append(by.multiply(by.softmax(scaled), x_i, WV, WO))
        Y, (V1, v1, V2, v2) = by.add(*slices), (w[letter] for letter in of.feed_forward(j))
        row = lambda v: v.moved(lambda a: np.repeat(a.T, 2, axis=0))
        hidden = by.elementwise(sigma, by.add(by.multiply(Y, V1), row(v1)))
        X = by.add(Y, by.multiply(hidden, V2), row(v2))
    return X.moved(lambda a: a.reshape(-1, 1))


def sizes_of(d: Derivation) -> dict[Any, int]:
    """Widths and hidden widths that all differ; 2 tokens."""
    step = lambda j: 2 + 5 * j % (d.depth + 1)
    if d.attention is None:
        widths, hidden = d.layers.widths, d.layers.hidden_widths
        known = {widths(j): step(j) for j in range(d.depth + 1)}
        return known | {hidden(j): 3 + 2 * d.depth - j for j in range(1, d.depth + 1)}
    of = d.attention
    known = {of.features(j): of.heads * step(j) for j in range(d.depth + 1)}
    return known | {of.hidden_features(j): 3 + 2 * d.depth - j for j in range(1, d.depth + 1)} | {of.tokens: 2}


class Both:
    """A derivation lowered, and its network as loops, for one drawing of weights and input."""

    def __init__(self, kind, depth, heads=None, sigma="tanh", dtype="float64"):
        self.derivation, self.sigma, self.dtype = derive(kind, depth=depth, heads=heads), sigma, dtype
        self.sizes, self.x_0 = sizes_of(self.derivation), self.derivation.layers.x(0)
        self.program: Program = self.derivation.parameters
        name = f"{kind} {depth} {heads} {sigma}"
        self.arrays = drawn(self.program.inputs, self.sizes, dtype, name)
        self.x = self.arrays.pop(self.x_0)  # type: ignore[arg-type]
        tokens = {m.dimension("N"): 2} if heads else {}
        self.lowered = Lowered(self.program, self.x_0, ACTIVATIONS[sigma], dimensions=tokens)  # type: ignore[arg-type]

    def loops(self, x) -> Bounded:
        loops = attention_loops if self.derivation.attention else plain_loops
        return loops(self.derivation, doubles(self.arrays), self.exact(x), SIGMAS[self.sigma], Arithmetic())

    def formula(self, x) -> Bounded:
        values = doubles(self.arrays) | {self.x_0: self.exact(x)}
        at = Evaluator(self.sizes, values, roundoff(self.dtype), SIGMAS[self.sigma])  # type: ignore[arg-type]
        return at.program(self.program)

    def bias(self, j: int) -> m.Letter:
        """b_{j,3} of layer j."""
        attention = self.derivation.attention
        return self.derivation.layers.c(j) if attention is None else attention.feed_forward(j)[3]

    def exact(self, x) -> Bounded:
        return exact(np.asarray(x).astype(np.float64).reshape(-1, 1))


ALL_DEPTHS = list(zip((1, 2, 3, 7, 13, 5, 2, 1), SIGMAS, strict=True))
CASES = [
    *[(kind, depth, None, sigma) for kind in ("residual", "transformer") for depth, sigma in ALL_DEPTHS],
    *[("residual", 3, None, sigma) for sigma in SIGMAS if sigma != "gelu"],
    *[("transformer", depth, 2, sigma) for depth, sigma in ALL_DEPTHS],
    *[("transformer", depth, heads, "gelu") for depth in (1, 2, 3) for heads in (1, 3)],
]
DEEP = [(kind, depth, heads, sigma) for kind, depth, heads, sigma in CASES if depth == 13]
"""They are compiled for ten seconds and more: a campaign."""


@pytest.mark.parametrize(
    ("kind", "depth", "heads", "sigma"),
    one_in(3, [case for case in CASES if case not in DEEP])
    + [pytest.param(*c, marks=pytest.mark.campaign) for c in DEEP],
)
def test_the_closed_form_is_the_network(kind, depth, heads, sigma):
    with jax.enable_x64(True):
        both = Both(kind, depth, heads, sigma)
        found = both.lowered(named(both.arrays), both.x.reshape(-1))
        early = both.bias(max(1, depth - 5))
        moved = both.arrays | {early: both.arrays[early] * (1 + 2.0**-8)}
        other = both.lowered(named(moved), both.x.reshape(-1))
    reference, formula = both.loops(both.x), both.formula(both.x)
    assert found.shape == reference.value.shape[:1]
    assert within(found, reference, formula)
    assert not within(other, reference, formula), "a bias off by 1/256 six layers before the end must be seen"


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("kind", "heads"), one_in(3, [("transformer", 2), ("residual", None), ("transformer", None)]))
def test_every_dtype(kind, heads, dtype):
    with jax.enable_x64(dtype == "float64"):
        both = Both(kind, 1 if heads else 2, heads, "gelu", dtype)
        found = both.lowered(named(both.arrays), both.x.reshape(-1))
        assert found.dtype == dtype
        assert all(array.dtype == dtype for array in both.lowered.merge(named(both.arrays)).values())
    assert within(found, both.loops(both.x), both.formula(both.x))
    assert not within(-found, both.loops(both.x), both.formula(both.x))


# --- merging ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["residual", "transformer"])
def test_merging_carries_out_real_products(kind):
    """Ŵ_{j,1} = A_j ⋯ A_1 and so on, from NumPy; each merged array stands under the name of its letter."""
    depth = 4
    with jax.enable_x64(True):
        both = Both(kind, depth)
        merged = jax.tree.map(np.asarray, both.lowered.merge(named(both.arrays)))
    by, w, of, closed = Arithmetic(), doubles(both.arrays), both.derivation.layers, both.derivation.closed
    A = lambda j, k: [w[of.A(a)] for a in range(j, k, -1)]
    wanted = {closed.W1(depth): by.multiply(*A(depth, 0))}
    wanted |= {closed.W3(k, depth): by.multiply(*A(depth, k), w[of.C(k)]) for k in range(1, depth + 1)}
    wanted[closed.b3(depth)] = by.add(*(by.multiply(*A(depth, k), w[of.c(k)]) for k in range(1, depth + 1)))
    for j in range(1, depth + 1):
        inner = A(j - 1, 0) if kind == "residual" else A(j, 0)
        wanted[closed.W2(j)] = by.multiply(w[of.B(j)], *inner)
    for letter, product in wanted.items():
        assert within(merged[str(letter)], product, product), letter
        assert not within(merged[str(letter)] * (1 + 1e-12), product, product), letter


def test_merging_leaves_nothing_for_later_and_takes_nothing_too_early():
    """What depends on x_0 is not merged: with attention written out that is every Ŵ."""
    static, with_attention = Both("residual", 3, dtype="float32"), Both("transformer", 2, 2, dtype="float32")
    names = set(shapes_of_merged(static))
    assert {"Ŵ_{3,1}", "b̂_{3,3}", "Ŵ_{1,2}", "Ŵ_{2,2}", "Ŵ_{3,2}", "Ŵ_{1,3}^(3)", "Ŵ_{2,3}^(3)", "Ŵ_{3,3}^(3)"} <= names
    assert not {name for name in names if name.startswith(("s_", "x_", "b̂_{2,2}", "b̂_{3,2}"))}
    merged = shapes_of_merged(with_attention)
    assert not {
        name for name in merged if name.startswith(("Ŵ_{1,1}", "Ŵ_{2,1}", "Ŵ_{1,2}", "Ŵ_{2,2}", "A_", "H", "X_"))
    }
    assert "Ŵ_{2,3}^(2)" in merged, "the last W_{L,3} does not depend on the input"


@pytest.mark.parametrize(("kind", "heads"), [("residual", None), ("transformer", 2)])
def test_what_is_merged_serves_every_input(kind, heads):
    with jax.enable_x64(True):
        both = Both(kind, 3, heads)
        merged = both.lowered.merge(named(both.arrays))
        for scale in (0.0, 1.0, -2.0):
            x = both.x.reshape(-1) * scale
            assert within(both.lowered.evaluate(merged, x), both.loops(x), both.formula(x))
        there, here = both.x.reshape(-1) * 2, both.x.reshape(-1)
        assert not within(both.lowered.evaluate(merged, there), both.loops(here), both.formula(here))


def test_unequal_parts_with_the_same_text_are_kept_apart():
    """unvec prints no shape: vec(unvec(w)ᵀ) may be two different columns."""
    w, x, r = m.Letter("w", 6, 1), m.Letter("x", 6, 1), m.Letter("r", 6, 1)
    turned = [m.Vectorised(m.Matricised(w, rows, 6 // rows).T) for rows in (2, 3)]
    assert str(turned[0]) == str(turned[1])
    program = Program({r: m.Activation(x + turned[0]) + 2 * m.Activation(x + turned[1])}, r)
    with jax.enable_x64(True):
        wv, xv = np.arange(6.0), np.arange(6.0) / 8
        found = np.asarray(Lowered(program, x, jnp.asarray)({"w": wv}, jnp.asarray(xv)))
    two, three = np.arange(6.0).reshape(2, 3).T.ravel(), np.arange(6.0).reshape(3, 2).T.ravel()
    assert np.array_equal(found, (xv + two) + 2 * (xv + three))
    assert not np.array_equal(two, three)


def test_a_part_below_a_sum_sign_is_not_merged_without_its_index():
    W, x, r = m.Letter("W", 2, 4), m.Letter("x", 2, 1), m.Letter("r", 2, 1)
    E = m.Selection(k, 4, 2)
    with jax.enable_x64(True):
        Wv, xv = np.arange(8.0).reshape(2, 4), np.asarray([1.0, 2.0])
        program = Program({r: m.RangeSum(W @ E @ x, k, 1, 2)}, r)
        found = np.asarray(Lowered(program, x, jnp.tanh)({"W": Wv}, jnp.asarray(xv)))
    assert np.array_equal(found, Wv[:, :2] @ xv + Wv[:, 2:] @ xv)  # whole numbers: exact


def test_a_result_that_does_not_depend_on_the_argument():
    W, w, r = m.Letter("W", 2, 2), m.Letter("w", 2, 1), m.Letter("r", 2, 1)
    found = Lowered(Program({r: W @ w}, r), m.Letter("x", 2, 1), jnp.tanh)(
        {"W": jnp.eye(2), "w": jnp.ones(2)}, jnp.zeros(2)
    )
    assert np.array_equal(found, np.ones(2))


# --- sharing ---------------------------------------------------------------------------------------------


def shapes_of_merged(both: Both):
    """What is merged, not computed."""
    return jax.eval_shape(both.lowered.merge, named(both.arrays))


def _count(jaxpr: core.Jaxpr, primitive: str) -> int:
    inner = [v for e in jaxpr.eqns for v in e.params.values() if isinstance(v, core.ClosedJaxpr)]
    return sum(e.primitive.name == primitive for e in jaxpr.eqns) + sum(_count(j.jaxpr, primitive) for j in inner)


@pytest.mark.parametrize("kind", ["residual", "transformer"])
@pytest.mark.parametrize("depth", range(1, 7))
def test_each_product_is_computed_once(kind, depth):
    """L for Ŵ_{j,2} x_0, j for b̂_{j,2} with j ≥ 3 (its sum, and the factor in front), 1 for b̂_{2,2} (one merged
    factor), and L + 1 for x_L: L(L+5)/2 in all, less 1 from L = 2 on.  Without sharing s_k they would double per layer.
    """
    both = Both(kind, depth, dtype="float32")
    merged = shapes_of_merged(both)
    traced = jax.make_jaxpr(lambda w, x: both.lowered.evaluate(w, x))(merged, both.x.reshape(-1))
    assert _count(traced.jaxpr, "dot_general") == depth * (depth + 5) // 2 - (depth >= 2)
    assert _count(traced.jaxpr, "tanh") == depth


# --- bad input -------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def small():
    return Both("residual", 2, dtype="float32")


def test_an_unknown_head_is_refused():
    W, r, x = m.Letter("W", n, n), m.Letter("r", n, 1), m.Letter("x", n, 1)
    lowered = Lowered(Program({r: Unknown(W) @ x}, r), x, jnp.tanh)
    with pytest.raises(UnsupportedError, match=r"no row for the head Unknown in unknown\(W\)"):
        lowered({"W": jnp.ones((2, 2))}, jnp.ones(2))


class Unknown(m.Expression):
    def __new__(cls, arg):
        return sympy.Basic.__new__(cls, arg)

    shape = property(lambda self: self.args[0].shape)

    def __str__(self):
        return f"unknown({self.args[0]})"


def test_a_dynamic_parameter_needs_a_function_of_its_shape():
    W, r, x = m.Letter("W", n, n), m.Letter("r", n, 1), m.Letter("x", n, 1)
    program = Program({r: m.Dependent(W, x) @ x}, r)
    lowered = lambda **functions: Lowered(program, x, jnp.tanh, functions=functions)({}, jnp.array([1.0, 2.0]))
    with pytest.raises(InputError, match=r"no function for W in W\(x\); give it in `functions`"):
        lowered()
    with pytest.raises(ShapeError, match=r"the function W returned the shape \(2, 1\); wanted \(2, 2\)"):
        lowered(W=lambda x: x)
    assert np.array_equal(lowered(W=lambda x: x @ x.T), [5.0, 10.0])


def test_an_unknown_scalar_is_refused():
    r, x = m.Letter("r", n, 1), m.Letter("x", n, 1)
    lowered = Lowered(Program({r: m.Scaled(sympy.cbrt(2), x)}, r), x, jnp.tanh)
    with pytest.raises(UnsupportedError, match=r"no row for the scalar 2\*\*\(1/3\)"):
        lowered({}, jnp.ones(2))


BAD_ARRAYS = {
    "too wide": ("A_2", lambda a: jnp.concatenate([a, a], axis=1), ShapeError, r"the array A_2 has shape \("),
    "transposed": ("B_1", lambda a: a.T, ShapeError, r"the array .* has shape \(.*\); wanted \(.*\) = \("),
    "a matrix as a vector": ("A_1", lambda a: a.reshape(-1), ShapeError, r"the array A_1 has shape \(.*,\); wanted"),
    "three axes": ("C_1", lambda a: a[None], ShapeError, r"the array C_1 has shape \(1, "),
    "a long bias": ("b_1", lambda a: jnp.concatenate([a, a]), ShapeError, r"the array .* has shape .*; wanted"),
    "another dtype": ("b_1", lambda a: a.astype(jnp.bfloat16), InputError, "different dtypes: bfloat16, float32"),
}


@pytest.mark.parametrize(("name", "spoil", "error", "said"), BAD_ARRAYS.values(), ids=BAD_ARRAYS)
def test_an_array_that_does_not_fit_is_named(small, name, spoil, error, said):
    arrays = named(small.arrays)
    with pytest.raises(error, match=said):
        small.lowered(arrays | {name: spoil(arrays[name])}, small.x.reshape(-1))


def test_an_input_that_does_not_fit_is_named(small):
    arrays = named(small.arrays)
    with pytest.raises(ShapeError, match="the array .* has shape"):
        small.lowered(arrays, jnp.ones(1 + small.x.size))
    with pytest.raises(InputError, match="different dtypes: bfloat16, float32"):
        small.lowered(arrays, small.x.reshape(-1).astype(jnp.bfloat16))


def test_a_missing_array_is_named(small):
    arrays = named(small.arrays)
    with pytest.raises(InputError, match="no array for B_2; wanted one for each of .*A_1"):
        small.lowered.merge({name: array for name, array in arrays.items() if name != "B_2"})
    merged = small.lowered.merge(arrays)
    with pytest.raises(InputError, match=r"no array for Ŵ_\{2,1\}; wanted"):
        small.lowered.evaluate({name: a for name, a in merged.items() if name != "Ŵ_{2,1}"}, small.x.reshape(-1))


def test_an_unknown_dimension_is_named():
    r, x = m.Letter("r", 2, 1), m.Letter("x", 2, 1)
    program = Program({r: m.Ones(2, n) @ m.Ones(n, 1) + x}, r)
    with pytest.raises(InputError, match="the dimension n is not known; give it in `dimensions`"):
        Lowered(program, x, jnp.tanh)({}, jnp.zeros(2))
    assert np.array_equal(Lowered(program, x, jnp.tanh, dimensions={n: 3})({}, jnp.zeros(2)), [3.0, 3.0])


def test_a_dimension_that_contradicts_the_arrays_is_refused():
    both = Both("transformer", 1, 2, dtype="float32")
    lowered = Lowered(both.program, both.x_0, jnp.tanh, dimensions={m.dimension("N"): 3})  # type: ignore[arg-type]
    with pytest.raises(ShapeError, match="the array .*x_0 has shape"):
        lowered(named(both.arrays), both.x.reshape(-1))


@pytest.mark.parametrize(
    ("size", "known", "rows", "fits"),
    [(n * k, {n: 2}, 6, True), (n * k, {n: 2}, 7, False), (n * k, {n: 0}, 7, False), (k**2, {}, 9, True)],
    ids=["3", "3½", "none", "3 or -3"],
)
def test_dimensions_are_whole_numbers(size, known, rows, fits):
    """The k of an array with n k, or k², rows."""
    W, x, r = m.Letter("W", size, 2), m.Letter("x", 2, 1), m.Letter("r", size, 1)
    program = Program({r: W @ x + m.Scaled(k, m.Ones(size, 1))}, r)
    result = lambda: Lowered(program, x, jnp.tanh, dimensions=known)({"W": jnp.zeros((rows, 2))}, jnp.zeros(2))
    if fits:
        assert np.array_equal(result(), np.full(rows, 3.0))
    else:
        with pytest.raises(ShapeError, match=r"the array W has shape \(7, 2\); wanted"):
            result()


# --- JAX -------------------------------------------------------------------------------------------------


def test_vmap_over_inputs_is_a_loop():
    with jax.enable_x64(True):
        both = Both("transformer", 2, 2)
        merged, xs = both.lowered.merge(named(both.arrays)), jnp.stack([both.x.reshape(-1) * s for s in (1, -1, 3)])
        batch = jax.vmap(both.lowered.evaluate, (None, 0))(merged, xs)
        for x, found in zip(xs, batch, strict=True):
            assert within(found, both.loops(x), both.formula(x))
        assert not within(batch[0], both.loops(xs[1]), both.formula(xs[1]))


def test_columns_may_be_given_as_vectors_or_as_matrices(small):
    arrays = named(small.arrays)
    vectors = {name: a.reshape(-1) if a.shape[1] == 1 else a for name, a in arrays.items()}
    assert np.array_equal(small.lowered(vectors, small.x.reshape(-1)), small.lowered(arrays, small.x))


@pytest.mark.parametrize("precision", ["highest", "default"])
def test_the_precision_of_every_product_is_stated(precision):
    both = Both("residual", 2, dtype="float32")
    lowered = Lowered(both.program, both.x_0, jnp.tanh, precision)  # type: ignore[arg-type]
    traced = str(jax.make_jaxpr(lambda w, x: lowered(w, x))(named(both.arrays), both.x.reshape(-1)))
    assert traced.count("dot_general") > 6
    assert (traced.count("HIGHEST") > 0) == (precision == "highest")


def test_sympy_cannot_do_this_itself():
    """Why there is a table of our own: lambdify has no printer for the language's heads."""
    W, x = m.Letter("W", n, n), m.Letter("x", n, 1)
    with pytest.raises(NotImplementedError, match="Activation"):
        sympy.lambdify((W, x), m.Activation(W @ x), "jax")


def test_two_letters_of_one_name_are_refused():
    n = m.dimension("n")
    one, other, y = m.Letter("W_1", n, n), m.Letter("W", n, n, (1,)), m.Letter("y", n, 1)
    x = m.Letter("x", n, 1)
    lowered = Lowered(Program({y: one @ other @ x}, y), x, jnp.tanh)
    with pytest.raises(InputError, match="both written W_1"):
        lowered({"W_1": jnp.ones((2, 2))}, jnp.ones(2))
