"""The matrix–vector method, Linear layer and feed-forward part: their verdicts, and nothing wrong is proved."""

from itertools import permutations, product

import jax
import numpy as np
import pytest
import sympy

from uat_jax.decide import dependence
from uat_jax.decide.decision import decide
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.ledger.matrix_vector import feed_forward, linear_layer
from uat_jax.ledger.matrix_vector import method as matrix_vector
from uat_jax.ledger.matrix_vector.linear_layer import identity_entry
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from the ledger of claims (sections B and D), independently of the package.
LEDGER = {
    "matrix-vector.linear": ("B1", T), "matrix-vector.nonlinear": ("B1", T),
    "matrix-vector.nonlinear-not-unique": ("B1", T),
    "matrix-vector.one-reshape": ("B2", T), "matrix-vector.reshape-per-operation": ("B2", F),
    "matrix-vector.parameters-alone.linear": ("B3", T), "matrix-vector.parameters-alone.attention": ("B3", F),
    "matrix-vector.any-reshape": ("B4", T),
    "linear.left": ("D1", T), "linear.left.duat": ("D1", T), "linear.eq-15": ("D1", T),
    "linear.renamed": ("D2", T), "linear.renamed-again": ("D2", F),
    "linear.axis": ("D4", F), "linear.right": ("D4", T), "linear.right-density": ("D4", T),
    "linear.both-axes": ("D4", T),
    "feed-forward.left": ("D5", T), "feed-forward.matrix": ("D5, B1", T), "feed-forward.not-elementwise": ("D5", F),
    "feed-forward.linear": ("D6", F),
}  # fmt: skip
CLAIMS = {claim.id: claim for chapter in (matrix_vector, linear_layer, feed_forward) for claim in chapter.CLAIMS}
CORRECTED_ELSEWHERE = {"attention.matrix"}


def test_the_chapters_have_exactly_these_rows():
    assert list(CLAIMS) == list(LEDGER)


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    claim, (ledger, verdict) = CLAIMS[name], LEDGER[name]
    certificate = decide(claim, SYMBOLIC)
    assert certificate.verdict == verdict and certificate.passes
    assert claim.ledger == ledger
    assert claim.printed.count("{") == claim.printed.count("}")
    assert len(claim.title) < 80


@pytest.mark.parametrize("name", [name for name, (_, verdict) in LEDGER.items() if verdict == F])
def test_corrections_are_proved(name):
    correction = CLAIMS[name].correction
    assert correction in CORRECTED_ELSEWHERE or LEDGER[correction][1] == T


# --- wrong variants must not be proved -------------------------------------------------------------------------------

N, M, K = map(m.dimension, "NMK")
SQUARE, X = m.Letter("W", N, N, (1,)), m.Letter("x", N, M, (1,))
V = m.Letter("V", M, M, (1,))
VEC = m.Vectorised(X)
EYE_M, EYE_N = m.Identity(M), m.Identity(N)

WRONG = {
    "W x, transposed": Step("", m.Vectorised(SQUARE @ X), m.Kronecker(SQUARE.T, EYE_M) @ VEC),
    "W x, factors exchanged": Step("", m.Vectorised(SQUARE @ X), m.Kronecker(EYE_M, SQUARE) @ VEC),
    "W x, column-major column": Step(
        "", m.Vectorised(SQUARE @ X), m.Kronecker(SQUARE, EYE_M) @ matrix_vector.column_major(X)
    ),
    "x V, not transposed": Step("", m.Vectorised(X @ V), m.Kronecker(EYE_N, V) @ VEC),
    "x V, factors exchanged": Step("", m.Vectorised(X @ V), m.Kronecker(V.T, EYE_N) @ VEC),
    "renamed, not transposed": Step(
        "",
        m.Vectorised(SQUARE @ X),
        linear_layer.PRINTED.renamed({K: N}) @ VEC,
        {linear_layer.PRINTED.renamed({K: N}): m.Kronecker(SQUARE, EYE_M).T},
    ),
    "one matrix for both maps": Step("", m.Vectorised(SQUARE @ X @ V), m.Kronecker(SQUARE, V) @ VEC),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_matrices_are_not_proved(name):
    assert not WRONG[name].holds()


DELTA = linear_layer.identity_entry


@pytest.mark.parametrize(
    "entry",
    [
        lambda w, token, place, row, shift: w[token, row] * DELTA(place, shift),
        lambda w, token, place, row, shift: w[place, shift] * DELTA(row, token),
        lambda w, token, place, row, shift: -w[row, token] * DELTA(place, shift),
        lambda w, token, place, row, shift: w[row, token] * DELTA(place, shift + 1),
    ],
)
def test_wrong_displays_are_not_proved(entry):
    assert linear_layer.displayed(entry).verdict == Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("W_is", "V_is"),
    [
        (identity_entry, lambda a, b: -identity_entry(a, b)),
        (identity_entry, lambda a, b: 0),
        (lambda a, b: 1, lambda a, b: 1),
        (lambda a, b: (a + 1) * identity_entry(a, b), identity_entry),
        (identity_entry, lambda a, b: 2 * identity_entry(a, b)),
        (lambda a, b: 0, lambda a, b: 0),
    ],
)
def test_wrong_criteria_are_not_proved(W_is, V_is):
    assert all(found.verdict != T for found in linear_layer.only_multiples(W_is, V_is))


@pytest.mark.parametrize("claimed", [1 / M, 1 / N**2, 1 - 1 / N, 1 / (N * M)])
def test_wrong_densities_are_refuted(claimed):
    assert combine(linear_layer.right_density(claimed)) == F


@pytest.mark.parametrize(
    "parameter", [X @ V, m.Kronecker(SQUARE, m.Activation(X)), m.Kronecker(SQUARE, EYE_M) @ VEC, X.T @ X]
)
def test_what_contains_x_is_not_proved_static(parameter):
    assert combine(dependence.static(parameter, X, what="wrong")) != T


@pytest.mark.parametrize("inputs", [([0, 0], [0, 0]), ([1, 1], [0, 0]), ([2], [1])])
def test_attention_matrices_that_are_equal_are_not_told_apart(inputs):
    """Equal tokens have H = 1/N, and one token has H = 1, so these inputs show nothing."""
    assert dependence.dynamic(matrix_vector.attention_matrix, inputs, what="W_HVO").verdict == Verdict.UNKNOWN


def test_uniqueness_is_not_denied_for_columns_of_one_element():
    """For one element n Z = Z x′x′ᵀ holds, and nothing is a witness."""
    x, Z, z, n = (m.Letter(name, 1, 1) for name in ("x", "Z", "z", "n"))
    step = Step("one element", m.Product(Z, z, n), m.Product(Z, x, x.T, z), {n: x.T @ x})
    assert combine(settle_equation(step)) != F


# --- the same statements on arrays of whole numbers, without the package's algebra -----------------------------------


@pytest.mark.parametrize("shape", list(product((1, 2, 3), repeat=2)))
def test_any_permutation_of_the_column_conjugates_the_matrix(shape):
    """The images of the unit columns, reshaped by a permutation P, are the columns of P W′ Pᵀ."""
    random, (tokens, features) = _seeded(10 * shape[0] + shape[1]), shape
    W, size = random.integers(-9, 10, (tokens, tokens)), tokens * features
    matrix = np.kron(W, np.eye(features, dtype=int))
    for order in list(permutations(range(size)))[:24]:
        P = np.eye(size, dtype=int)[list(order)]
        units = (column.reshape(shape) for column in P)  # row k of P is column k of P⁻¹ = Pᵀ
        images = [P @ (W @ unit).reshape(-1) for unit in units]
        assert np.array_equal(np.stack(images, axis=1), P @ matrix @ P.T)


def _seeded(seed: int) -> np.random.Generator:
    print("seed", seed)
    return np.random.default_rng(seed)


def test_every_matrix_of_the_nonlinear_family_does_it():
    """W′x′ = y′ in rational numbers for relu and random Z; two Z give two matrices."""
    random = _seeded(7)
    x = sympy.Matrix(random.integers(-5, 6, 4).tolist())
    y = x.applyfunc(lambda entry: max(entry, 0))
    n, built = (x.T * x)[0], []
    for _ in range(3):
        Z = sympy.Matrix(4, 4, random.integers(-5, 6, 16).tolist())
        built.append(y * x.T / n + Z * (sympy.eye(4) - x * x.T / n))
        assert built[-1] * x == y
    assert built[0] != built[1] != built[2]


def test_the_feed_forward_matrices_on_arrays():
    """Eq. 6 with relu and whole numbers, acting on tokens, in every bit."""
    random = _seeded(11)
    draw = lambda *shape: random.integers(-4, 5, shape)
    W1, b1, W2, b2, x = draw(5, 3), draw(5, 2), draw(3, 5), draw(3, 2), draw(3, 2)
    relu, eye = lambda z: np.maximum(z, 0), np.eye(2, dtype=int)
    plain = (W2 @ relu(W1 @ x + b1) + b2).reshape(-1)
    column = np.kron(W2, eye) @ relu(np.kron(W1, eye) @ x.reshape(-1) + b1.reshape(-1)) + b2.reshape(-1)
    assert np.array_equal(plain, column)
    assert not np.array_equal(plain, np.kron(W2, eye) @ relu(np.kron(W1, eye) @ x.reshape(-1)) + b2.reshape(-1))


def test_a_token_matrix_of_two_tokens_is_theorem_3s():
    with jax.enable_x64(True):
        found = np.asarray(matrix_vector.attention_matrix(jax.numpy.asarray([0.0, 1.0])))
    e = np.e
    # one exponential and one division: a few units of the last place of a number below 1
    np.testing.assert_allclose(found, [[0.5, 0.5], [1 / (1 + e), e / (1 + e)]], rtol=0, atol=2**-50)
