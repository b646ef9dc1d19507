"""Ranks: the bounds are bounds, and neither too small nor too large a claim is proved."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from uat_jax.decide import ranks
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.errors import InputError, ShapeError
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

SIZES = {m.dimension(name): size for name, size in {"N": 3, "M": 5, "r": 2, "q": 1}.items()}
N, M, r, q = SIZES
X, Y = m.Letter("X", N, r), m.Letter("Y", r, M)
U, V = m.Letter("U", N, q), m.Letter("V", q, M)
W = m.Letter("W", N, M)
i = sympy.Symbol("i", integer=True, positive=True)

EXPRESSIONS = {
    "product": X @ Y,
    "sum": X @ Y + U @ V,
    "sum of a thin and a full one": W + U @ V,
    "scaled": m.Scaled(sympy.Rational(3), U @ V),
    "transposed": (X @ Y).T,
    "Kronecker": m.Kronecker(X @ Y, U @ V),
    "Kronecker of sums": m.Kronecker(X @ Y + U @ V, (U @ V).T),
    "range": m.RangeSum(m.Letter("a", N, q, (i,)) @ V, i, 1, 2),
    "nested": m.Kronecker(m.Identity(N), (X @ Y).T) @ m.Kronecker(U, W),
}


def _array(expression, seed):
    """The expression's value on whole numbers, at `SIZES`."""
    expression = m.replace_letters(expression, lambda letter, _: None)  # writes the sums out
    program = Program({m.Letter("value", *expression.shape): expression}, m.Letter("value", *expression.shape))
    random = np.random.default_rng(seed)
    shape = lambda letter: tuple(int(size.xreplace(SIZES)) for size in letter.shape)
    arrays = {str(l): random.integers(-3, 4, shape(l)).astype(np.float64) for l in program.inputs}
    with jax.enable_x64(True):
        value = Lowered(program, m.Letter("none", 1, 1), jax.nn.relu, dimensions=SIZES)(arrays, jnp.zeros((1, 1)))
    return np.asarray(value).reshape(shape(program.result)).astype(int)


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_no_matrix_has_a_rank_above_a_bound(name):
    bounds = [int(bound.xreplace(SIZES)) for bound in ranks.bounds(EXPRESSIONS[name])]
    found = [ranks.rank(_array(EXPRESSIONS[name], seed)) for seed in range(3)]
    assert max(found) <= min(bounds), f"seeds 0…2: ranks {found}, bounds {bounds}"


def test_a_bound_that_depends_on_the_index_is_summed():
    width = m.indexed_dimension("ρ", i)
    thin = m.Letter("a", N, width, (i,)) @ m.Letter("b", width, M, (i,))
    assert sympy.Sum(width, (i, 1, q)) in ranks.bounds(m.RangeSum(thin, i, 1, q))


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [(r + q, Verdict.PROVED)] + [(wrong, Verdict.UNKNOWN) for wrong in (r + q - 1, r + q + 1, r, r * q, 2 * r, q)],
)
def test_only_the_bound_that_shows_is_proved(claimed, verdict):
    step = Step("sum", X @ Y + U @ V, X @ Y + U @ V)
    assert combine(ranks.bounded(step, claimed=claimed, what="X Y + U V")) == verdict


@pytest.mark.parametrize("wrong", [X @ Y - U @ V, X @ Y, (X @ Y + U @ V) + U @ V])
def test_a_wrong_factorisation_proves_nothing(wrong):
    step = Step("sum", X @ Y + U @ V, wrong)
    assert combine(ranks.bounded(step, claimed=r + q, what="X Y + U V")) == Verdict.UNKNOWN


def test_a_definition_of_another_shape_proves_nothing():
    """W = X I with "X = W", X declared with one column: every matrix would have the rank 1."""
    thin, wide = m.Letter("X", N, 1), m.Letter("Y", 1, M)
    step = Step("hidden", W, thin @ wide, {thin: W, wide: m.Identity(M)})
    with pytest.raises(ShapeError, match="X and its definition W have the shapes N × 1 and N × M"):
        list(ranks.bounded(step, claimed=1, what="W"))
    with pytest.raises(InputError, match="contains that letter again"):
        list(ranks.bounded(Step("circle", thin, thin, {thin: thin + thin}), claimed=1, what="X"))


@pytest.mark.parametrize(
    "matrix", [[[1, 1.5], [2, 3]], [[1.2, 1], [1.9, 1]], [[1, np.nan]], [[np.inf]], [1, 2], np.zeros((0, 3), int)]
)
def test_nothing_is_rounded_to_whole_numbers(matrix):
    for claimed in (0, 1, 2):
        with pytest.raises(InputError, match="wanted a matrix of whole numbers"):
            ranks.attained(claimed, lambda random: np.asarray(matrix), what="not whole")
        with pytest.raises(InputError, match="wanted a matrix of whole numbers"):
            ranks.refuted(claimed, np.asarray(matrix), what="not whole")


@pytest.mark.parametrize("prime", [2, 7, 2**31 - 1, 2**61 - 1, 2**64 - 59, 2**127 - 1])
def test_the_rank_is_that_over_the_rationals(prime):
    """Modulo the prime this matrix has rank 1."""
    matrix = np.array([[prime, 0], [0, 1]], dtype=object)
    assert ranks.rank(matrix) == 2
    assert ranks.attained(1, lambda random: matrix, what="a multiple of a prime").verdict == Verdict.REFUTED
    assert ranks.attained(2, lambda random: matrix, what="a multiple of a prime").verdict == Verdict.PROVED
    assert ranks.rank(np.array([[1, 2], [2, 4]])) == 1


@pytest.mark.parametrize(
    ("claimed", "verdict"),
    [(1, Verdict.REFUTED), (2, Verdict.PROVED), (3, Verdict.UNKNOWN), (4, Verdict.UNKNOWN)],
)
def test_attained(claimed, verdict):
    draw = lambda random: random.integers(-3, 4, (4, 2)) @ random.integers(-3, 4, (2, 5))
    found = ranks.attained(claimed, draw, what="rank 2")
    assert found.verdict == verdict
    if verdict is Verdict.REFUTED:
        assert found.example is not None
        assert (found.example.left, found.example.right) == (2, 1)


P, Q = m.Letter("P", 3, 2), m.Letter("Q", 2, 3)
SWAP = m.Selection(2, 6, 3) @ m.Selection(1, 6, 3).T
OF_LETTERS = {
    "a product": (P @ Q, lambda u, v: u @ v, P @ Q.T.T + P @ Q),
    "a transpose": ((P @ Q).T, lambda u, v: v.T @ u.T, P @ Q),
    "a Kronecker product": (m.Kronecker(P, Q), np.kron, m.Kronecker(Q, P)),
    "blocks": (m.Kronecker(m.Identity(2), P @ Q), lambda u, v: np.kron(np.eye(2, dtype=int), u @ v), SWAP),
    "a slice": (m.Selection(2, 6, 2) @ Q, lambda u, v: np.vstack([0 * v, v, 0 * v]), m.Selection(3, 6, 2) @ Q),
    "columns": (
        m.Vectorised(P) @ m.Vectorised(Q.T).T, lambda u, v: np.outer(u, v.T), m.Vectorised(P) @ m.Vectorised(Q).T,
    ),
    "a multiple": (3 * P - Q.T, lambda u, v: 3 * u - v.T, 3 * P + Q.T),
}  # fmt: skip
"""An expression, the same matrix in NumPy, and an expression of another matrix."""


@pytest.mark.parametrize("name", OF_LETTERS)
def test_the_matrix_that_is_drawn_is_the_one_that_is_written(name):
    expression, build, other = OF_LETTERS[name]
    letters = {P: np.array([[1, 2], [3, 5], [-1, 4]]), Q: np.array([[1, 0, 2], [4, -3, 7]])}
    matrix = build(*letters.values())
    drawn = lambda random: (matrix, expression, letters)
    found = ranks.attained(ranks.rank(matrix), drawn, what=name)
    assert found.verdict is Verdict.PROVED and found.statements
    with pytest.raises(InputError, match="an expression of another one"):
        ranks.attained(ranks.rank(matrix), lambda random: (matrix, other, letters), what=name)


@pytest.mark.parametrize("written", [m.Activation(P), m.RowSoftmax(P), sympy.Rational(1, 2) * P, sympy.sqrt(2) * P])
def test_a_matrix_of_reals_is_not_taken_for_one_of_whole_numbers(written):
    letters = {P: np.eye(3, 2, dtype=int)}
    with pytest.raises(InputError, match=f"got {type(written).__name__}"):
        ranks.attained(2, lambda random: (letters[P], written, letters), what="of reals")


def test_refuted_only_above_the_claim():
    matrix = np.array([[1, 0], [0, 1], [1, 1]])
    assert [ranks.refuted(claimed, matrix, what="").verdict for claimed in (1, 2, 3)] == [
        Verdict.REFUTED,
        Verdict.UNKNOWN,
        Verdict.UNKNOWN,
    ]


def _softmax(scores):
    return jax.nn.softmax(scores, axis=-1)


FULL = {"scores": np.array([[0, 1, 4], [2, 0, 1], [1, 3, 0]])}
EQUAL_ROWS = {"scores": np.array([[0, 1, 4], [0, 1, 4], [1, 3, 0]])}


@pytest.mark.parametrize(
    ("inputs", "claimed", "verdict"),
    [
        (FULL, 3, Verdict.PROVED),
        (FULL, 1, Verdict.PROVED),
        (FULL, 4, Verdict.UNKNOWN),
        (EQUAL_ROWS, 2, Verdict.PROVED),
        (EQUAL_ROWS, 3, Verdict.UNKNOWN),
    ],
)
def test_minors_in_balls(inputs, claimed, verdict):
    assert ranks.enclosed(claimed, _softmax, inputs, what="softmax").verdict == verdict


@pytest.mark.parametrize(
    ("function", "inputs", "claimed", "message"),
    [
        (_softmax, FULL, 0, "wanted at least 1"),
        (_softmax, FULL, -1, "wanted at least 1"),
        (_softmax, {"scores": [[2**60, 2**60 + 1]]}, 1, "float64 does not hold exactly"),
        (lambda scores: scores[0], FULL, 1, "wanted one matrix"),
        (lambda scores: scores[None], FULL, 1, "wanted one matrix"),
    ],
)
def test_minors_want_a_matrix_of_exact_numbers(function, inputs, claimed, message):
    with pytest.raises(InputError, match=message):
        ranks.enclosed(claimed, function, inputs, what="matrix")


@pytest.mark.parametrize(("inputs", "claimed"), [(FULL, 3), (EQUAL_ROWS, 2)])
def test_only_a_larger_rank_exceeds(inputs, claimed):
    assert ranks.exceeded(claimed, _softmax, inputs, what="softmax").verdict == Verdict.UNKNOWN
    found = ranks.exceeded(claimed - 1, _softmax, inputs, what="softmax")
    assert found.example is not None
    assert found.verdict == Verdict.REFUTED and found.example.left == claimed


def test_the_determinant_is_the_determinant():
    matrix = np.array([[2.0, 1.0, 0.0], [1.0, 3.0, 1.0], [0.0, 1.0, 4.0]], np.float32)
    assert float(ranks.determinant(jnp.asarray(matrix))) == pytest.approx(18.0, abs=2**-15)  # 18 has 8 ulps in that


def test_pivots_stop_where_the_rank_does():
    random = np.random.default_rng(7)  # a product of whole numbers has the rank of its factors unless they degenerate
    matrix = (random.integers(1, 5, (6, 3)) @ random.integers(1, 5, (3, 6))).astype(float)
    rows, columns = ranks.pivots(matrix)
    assert len(rows) == len(columns) == ranks.rank(matrix.astype(int))
    assert len(set(rows)) == len(rows) and len(set(columns)) == len(columns)
