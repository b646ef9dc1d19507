# pyright: reportArgumentType=false, reportOperatorIssue=false
# What is wrong on purpose has no right type, and c * X of a matrix X is a scalar in the types of SymPy.
"""Structurally non-zero entries counted with symbols agree with arrays, and wrong counts never come out proved."""

from fractions import Fraction

import jax
import numpy as np
import pytest
import sympy

from uat_jax.decide.counts import counted
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.errors import DisagreementError, InputError, UnsupportedError
from uat_jax.lowering import Lowered
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import Heads
from uat_jax.symbolic.program import Program, letters_of
from uat_jax.symbolic.support import Support, density, lower_triangular, nonzeros, shift

N, M, d, r = map(m.dimension, "NMdr")
k = sympy.Symbol("k", integer=True, positive=True)
TWO = Heads(2)
A, B = m.Letter("A", N, M), m.Letter("B", M, d)
W, T = m.Letter("W", N, N), m.Letter("T", N, N)
S = lambda k: m.Letter("S", N, N, (k,))
PATTERNS = {"T": lower_triangular, "S": shift}
SIZES = {N: 3, M: 4, d: 2}

EXPRESSIONS = {
    "letter": A,
    "transpose": m.Kronecker(A, T).T,
    "product without zeros": A @ B,
    "identity factor": m.Kronecker(W, m.Identity(M)) @ m.Kronecker(W, m.Identity(M)),
    "mixed product": m.Kronecker(A, W) @ m.Kronecker(B, W),
    "scaled": m.Scaled(3, T),
    "vec": m.Vectorised(T),
    "zero and full": m.Zero(N, N) + W,
    "ones": m.Kronecker(m.Ones(N, 1), T),
    "shifts": S(-1) + S(0) + S(1),
    "shifts, transposed": S(2).T + S(1),
    "selection": TWO.select(1) @ B.T,
    "selected columns": m.Letter("C", N, TWO.features) @ TWO.select(2),
    "values of two heads": TWO.values_matrix(),
    "all of two heads": TWO.matrix(),
    "two heads, causal": TWO.total(lambda i: m.Kronecker(T, TWO.placed_value(i).T)),
    "blocks": m.Addition(*(TWO.select(i) @ m.Letter("V", d, N, (i,)) for i in (1, 2))),
}


def _array(letter: m.Letter) -> np.ndarray:
    """Positive numbers where the letter may be non-zero, so that nothing cancels."""
    rows, columns = (int(size.xreplace(SIZES)) for size in letter.shape)
    full = np.ones((rows, columns))
    match letter.name:
        case "T":
            return np.tril(full)
        case "S":
            return np.eye(rows, k=int(letter.subscripts[0]))
    return full


@pytest.mark.parametrize("name", EXPRESSIONS)
def test_count_is_that_of_positive_arrays(name):
    expression = EXPRESSIONS[name]
    letters = dict.fromkeys(letters_of(expression))
    result = m.Letter("result", *expression.shape)
    argument = next(iter(letters), m.Letter("unused", 1, 1))
    lowered = Lowered(Program({result: expression}, result), argument, jax.nn.relu, dimensions=SIZES)
    arrays = {str(letter): _array(letter) for letter in letters}
    with jax.enable_x64(True):
        x = arrays.pop(str(argument), np.ones((1, 1)))
        value = np.asarray(lowered._evaluate(lowered._merge(arrays), jax.numpy.asarray(x)))
    assert nonzeros(expression, PATTERNS, [N >= 2]).xreplace(SIZES) == np.count_nonzero(value)


def test_symbolic_counts():
    of = Heads()
    assert nonzeros(m.Kronecker(W, m.Identity(M))) == N**2 * M
    assert density(of.values_matrix()) == 1 / of.heads
    assert density(of.matrix()) == 1
    causal = density(of.matrix(), {"H": lower_triangular})
    assert sympy.expand(causal - (N + 1) / (2 * N)) == 0
    band = m.Addition(S(0), m.RangeSum(S(k), k, 1, r), m.RangeSum(S(-k), k, 1, r))
    assert sympy.expand(nonzeros(band, PATTERNS, [r <= N]) - ((2 * r + 1) * N - r * (r + 1))) == 0


OVERLAPPING = {
    "the same slice twice": m.Addition(*(TWO.select(1) @ m.Letter("V", d, N, (i,)) for i in (1, 2))),
    "a sum whose terms do not move": m.RangeSum(m.Kronecker(S(1), m.Letter("K", M, M, (k,))), k, 1, r),
    "a shift that comes back": m.RangeSum(S(k), k, 1, r) + S(1),
    "opposite sides of one sum": m.RangeSum(S(k) + S(1 - k), k, 1, r),
    "two selections": TWO.select(1).T @ TWO.select(2),
    "an unknown product": S(1) @ W,
    "what cancels": m.Kronecker(W, A) - m.Kronecker(W, A),
    "an activation": m.Activation(A),
    "an index from 0": m.RangeSum(S(k), k, 0, r) + S(0),
    "a coefficient that may be zero": m.RangeSum(m.Scaled(k, S(k)), k, 0, r),
    "a sum that may be empty": m.RangeSum(m.Letter("W", N, N, (k,)), k, 2, r),
    "an empty sum": m.RangeSum(m.Letter("W", N, N, (k,)), k, 2, 1),
    "blocks of two sizes, by rows": m.Kronecker(m.Selection(1, M, d), m.Letter("Y", N, r))
    + m.Kronecker(m.Selection(2, N, d), m.Letter("Z", M, r)),
    "blocks of two sizes, by diagonals": m.Kronecker(m.Identity(N), m.Letter("Y", M, M))
    + m.Kronecker(m.Letter("S", M, M, (1,)), m.Letter("Z", N, N)),
    "slices of different widths": m.RangeSum(
        m.Selection(k, M, m.indexed_dimension("w", k)) @ m.Letter("V", m.indexed_dimension("w", k), N, (k,)), k, 1, r
    ),
    "a triangle that is not square": m.Letter("T", N, M),
    "a diagonal that is not square": m.Letter("S", N, M, (1,)),
    "a diagonal without its number": m.Letter("S", N, N),
}


@pytest.mark.parametrize("name", OVERLAPPING)
def test_what_may_overlap_is_not_counted(name):
    with pytest.raises(UnsupportedError, match="cannot be counted"):
        nonzeros(OVERLAPPING[name], PATTERNS)


def test_a_dynamic_parameter_has_the_zeros_of_its_letter():
    assert nonzeros(m.Dependent(T, A), PATTERNS) == nonzeros(T, PATTERNS)
    assert nonzeros(m.Dependent(W, A), PATTERNS) == N**2


def test_a_diagonal_outside_has_no_entries():
    assert [nonzeros(m.Letter("S", 3, 3, (j,)), PATTERNS) for j in (0, -2, 3, 5)] == [3, 1, 0, 0]


def test_blocks_of_one_size_are_told_apart():
    block = lambda i: m.Kronecker(m.Selection(i, M, d), m.Letter("Y", N, r, (i,)))
    both = block(1) + block(2)
    assert sympy.expand(nonzeros(both, given=[2 * d <= M]) - 2 * d * N * r) == 0
    assert sympy.expand(nonzeros(both.T, given=[2 * d <= M]) - 2 * d * N * r) == 0


def test_disjoint_is_never_assumed():
    left = Support(1, {("rows", d): sympy.Integer(1)})
    assert not left.disjoint(left)
    assert not left.disjoint(Support(1, {("columns", d): sympy.Integer(2)}))
    assert not left.disjoint(Support(1, {("rows", M): sympy.Integer(2)}))
    assert left.disjoint(Support(1, {("rows", d): sympy.Integer(2)}))
    assert not left.disjoint(Support(1, {("rows", d): k})), "k may be 1"


# --- counted -------------------------------------------------------------------------------------------------------

SHAPES = [{N: n, M: features} for n in (3, 1) for features in (2, 1)]


def _counted(claimed, found, measured=lambda shape: Fraction(1, shape[M])):
    return tuple(counted(claimed, found, what="density", measured=measured, shapes=SHAPES))


def test_the_right_count_is_proved():
    assert combine(_counted(1 / M, N / (N * M))) == Verdict.PROVED


@pytest.mark.parametrize("claimed", [1 - 1 / M, 1 / N, 1 / (M + 1), -1 / M, 2 / M, M, 1, 0])
def test_a_wrong_count_is_refuted_at_its_smallest_shape(claimed):
    found = _counted(sympy.sympify(claimed), 1 / M)
    assert combine(found) == Verdict.REFUTED
    example = found[-1].example
    wrong = [s for s in SHAPES if sympy.sympify(claimed).xreplace(s) != sympy.Rational(1, s[M])]
    assert example is not None
    assert sum(example.sizes.values()) == min(sum(s.values()) for s in wrong)
    assert example.left != example.right


def test_a_wrong_count_that_no_shape_shows_is_unknown():
    claimed = 1 / M + (M - 1) * (M - 2)
    assert combine(_counted(claimed, 1 / M)) == Verdict.UNKNOWN


def test_a_formula_that_is_not_defined_is_not_proved():
    claimed = (N**2 - 1) / (N - 1)  # N + 1, but not at N = 1
    found = _counted(claimed, N + 1, measured=lambda shape: shape[N] + 1)
    assert combine(found) == Verdict.REFUTED and "printed not defined" in found[-1].finding


def test_numbers_are_compared_exactly():
    assert combine(_counted(1 / M + sympy.Rational(1, 10**40), 1 / M)) == Verdict.REFUTED


@pytest.mark.parametrize(
    ("claimed", "message"),
    [
        (sympy.Symbol("M"), "wanted the same symbols"),  # another M
        (M * d, "no size for"),
        (sympy.Float(1) / 3, "exact finite one"),
    ],
)
def test_claims_that_cannot_be_counted(claimed, message):
    with pytest.raises(InputError, match=message):
        _counted(claimed, 1 / M)


@pytest.mark.parametrize("measured", [lambda shape: 1 / shape[M], lambda shape: float("nan")])
def test_counts_are_no_floats(measured):
    with pytest.raises(InputError, match="got the float"):
        _counted(1 / M, 1 / M, measured=measured)


def test_a_count_needs_a_shape():
    with pytest.raises(InputError, match="got no shapes"):
        tuple(counted(M, M, what="M", measured=lambda shape: 1, shapes=[]))


def test_a_derivation_that_arrays_contradict_stops_the_run():
    with pytest.raises(DisagreementError, match="arrays have 1/2"):
        _counted(1 / N, 1 / N, measured=lambda shape: Fraction(1, 2))
