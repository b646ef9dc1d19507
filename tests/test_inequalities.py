"""Inequalities: true ones are proved with multipliers that multiply out, wrong ones are not, and points are real."""

import itertools
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import sympy
from flint import arb
from sympy import Abs, Eq, Max, Min

from uat_jax.decide.inequalities import enclosed, measured, proved_inequality
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError, UnsupportedError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.inequality import deduce
from uat_jax.symbolic.linear_alternative import alternative
from uat_jax.symbolic.norms import lipschitz, norm, same_norm, submultiplicative, triangle
from uat_jax.symbolic.step import Step

x, y, z = sympy.symbols("x y z", real=True)
a, b, c = sympy.symbols("a b c", nonnegative=True)
p = sympy.Symbol("p", positive=True)
n, k = sympy.symbols("n k", integer=True, positive=True)
T, F, U = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN

# claim, hypotheses, verdict; every true line is followed by wrong ones.
TABLE = [
    (Abs(x + y) <= Abs(x) + Abs(y), [], T),
    (Abs(x + y) < Abs(x) + Abs(y), [], F),
    (Abs(x + y) <= Abs(x) - Abs(y), [], F),
    (Abs(Abs(x) - Abs(y)) <= Abs(x + y), [], T),
    (Abs(Abs(x) - Abs(y)) < Abs(x + y), [], F),
    (Abs(Abs(x) + Abs(y)) <= Abs(x + y), [], F),
    (Abs(x - y) < p, [Abs(x - z) < p / 2, Abs(z - y) <= p / 2], T),
    (Abs(x - y) < p, [Abs(x - z) <= p / 2, Abs(z - y) <= p / 2], F),
    (Abs(x - y) <= p, [Abs(x - z) <= p / 2, Abs(z - y) <= p / 2], T),
    (Max(x, y) <= Abs(x) + Abs(y), [], T),
    (Max(x, y) <= Abs(x), [], F),
    (Max(x, y) + Min(x, y) <= x + y, [], T),
    (Max(x, y) + Min(x, y) < x + y, [], F),
    (Eq(Max(x, -x), Abs(x)), [], T),
    (Eq(Max(x, y), Abs(x)), [], F),
    (Eq(2 * Max(x, y), x + y + Abs(x - y)), [], T),
    (Eq(2 * Min(x, y), x + y + Abs(x - y)), [], F),
    (Abs(Max(x, 0) - Max(y, 0)) <= Abs(x - y), [], T),  # relu has the Lipschitz constant 1
    (Abs(Max(x, 0) - Max(y, 0)) <= Abs(x - y) / 2, [], F),
    (p > 0, [], T),
    (x > 0, [], F),
    (a >= 0, [], T),
    (a > 0, [], F),
    (n >= k + 1, [n > k], U),  # true, but only for whole numbers: no point may be shown
    (x <= a * b, [x <= y, y <= a * c, c <= b], T),
    (x <= a * b, [x <= y, y <= a * c, b <= c], U),
    (x * a <= b, [x <= y, y * a <= b], T),
    (a * b * c >= 0, [], T),
    (a * b <= c * b, [a <= c], T),
    (x * b <= y * b, [x <= y], T),
    (x * z <= y * z, [x <= y], U),
    (sympy.true, [], T),
    (sympy.false, [], F),
]  # fmt: skip


@pytest.mark.parametrize(("claim", "hypotheses", "verdict"), TABLE, ids=str)
def test_table(claim, hypotheses, verdict):
    found = proved_inequality(claim, hypotheses, what="row")
    assert found.verdict == verdict, found.finding
    if verdict == T:
        assert found.figures["cases"] and all(case["terms"] for case in found.figures["cases"])
    if verdict == F:
        point = deduce(claim, hypotheses).point
        assert point is not None
        assert all(sympy.sympify(h).subs(point) == sympy.true for h in hypotheses)
        assert sympy.sympify(claim).subs(point) == sympy.false
        assert all(value.is_rational for value in point.values())


PROVED = [row[:2] for row in TABLE if row[2] == T]


@pytest.mark.parametrize(("claim", "hypotheses"), PROVED, ids=str)
def test_multipliers_multiply_out(claim, hypotheses):
    """Independently of the package's own check: the weighted sum of what is ≥ 0 or > 0 expands to 0."""
    for case in deduce(claim, hypotheses).cases:
        total = sum(sympy.QQ.to_sympy(factor) * fact.value.as_expr() for factor, fact in case.terms)
        assert sympy.expand(total) == 0
        assert all(factor > 0 for factor, _ in case.terms)
        assert any(fact.strict for _, fact in case.terms)


@pytest.mark.parametrize(("claim", "hypotheses"), PROVED, ids=str)
def test_wrong_multipliers_are_noticed(claim, hypotheses):
    case = deduce(claim, hypotheses).cases[0]
    assert case.contradicts()
    (factor, fact), *rest = case.terms
    assert not replace(case, terms=((-factor, fact), *rest)).contradicts()
    assert not replace(case, terms=((2 * factor, fact), *rest)).contradicts() or not rest
    tame = tuple((l, replace(f, strict=False)) for l, f in case.terms)
    assert not replace(case, terms=tame).contradicts()


def test_random_claims_agree_with_a_grid():
    """Random |u| + |v| + … < |w| + constant under a random hypothesis: no grid point may contradict a proof."""
    random, counts = np.random.default_rng(7), {T: 0, F: 0}
    grid = [
        dict(zip((x, y), point, strict=True)) for point in itertools.product(map(sympy.Integer, range(-2, 3)), repeat=2)
    ]
    for number in range(30):
        u, v, w, h = (
            sum(int(k) * s for k, s in zip(random.integers(-2, 3, 3), (x, y, 1), strict=True)) for _ in range(4)
        )
        left, right = Abs(u) + int(random.integers(-1, 2)) * Abs(v), Abs(w) + int(random.integers(0, 6))
        claim, hypotheses = left <= right, [Abs(h) <= 1]
        found = proved_inequality(claim, hypotheses, what=f"claim {number}, seed 7")
        if found.verdict == U:  # the hypothesis cannot hold
            assert "contradict" in found.finding
            continue
        counts[found.verdict] += 1
        fails = [p for p in grid if all(h.subs(p) for h in hypotheses) and not sympy.sympify(claim).subs(p)]
        assert found.verdict == F or not fails, (claim, hypotheses, fails)
    assert min(counts.values()) >= 5, counts


def test_nothing_follows_from_a_contradiction():
    found = proved_inequality(x > 5, [x > 1, x < 0], what="vacuous")
    assert found.verdict == U and "contradict each other" in found.finding


@pytest.mark.parametrize(
    ("claim", "hypotheses"),
    [
        (x > 0, [x > 1, z > 1, x * z < 1]),  # not linear
        (n >= 0, [Eq(4 * n, 2 * k + 1)]),  # only for fractions
        (sympy.true, [x > 1, z > 1, x * z < 1]),
    ],
)
def test_nothing_follows_from_what_holds_nowhere(claim, hypotheses):
    assert proved_inequality(claim, hypotheses, what="vacuous").verdict == U


def test_the_point_where_the_hypotheses_hold_is_shown():
    found = proved_inequality(x < 3, [x < 2, x > 1], what="row")
    assert 1 < Fraction(found.figures["hypotheses_hold_at"]["x"]) < 2


@pytest.mark.parametrize(
    ("claim", "error", "message"),
    [
        (x + 1, InputError, "got x \\+ 1; wanted an inequality"),
        (sympy.Ne(x, 1), InputError, "wanted an inequality"),
        (x < 0.5, InputError, "got a float in x < 0.5"),
        (x < sympy.oo * y, InputError, "got an infinity"),
        (sympy.Symbol("e", extended_real=True) < x, InputError, "infinite"),
        (Eq(sympy.Symbol("w"), 1), InputError, "may be complex"),
        (sympy.exp(x) > 0.0 * x + y, UnsupportedError, "cannot decide"),
        (1 / x > y, UnsupportedError, "wanted polynomials"),
        (sympy.sqrt(2) * x < y, UnsupportedError, "rational coefficients"),
    ],
)
def test_bad_claims(claim, error, message):
    with pytest.raises(error, match=message) as caught:
        proved_inequality(claim, [], what="row")
    assert "\n" not in str(caught.value)


# --- the linear alternative ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("seed", range(40))
def test_alternative_gives_one_of_the_two(seed):
    """p_0 = 1 > 0 and random p_i: multipliers whose sum vanishes, or values with all p_i as they should be."""
    random = np.random.default_rng(seed)
    columns, unknowns = int(random.integers(2, 8)), int(random.integers(1, 4))
    matrix = random.integers(-2, 3, (unknowns + 1, columns))
    matrix[:, 0] = [1, *[0] * unknowns]
    strict = [True, *(bool(s) for s in random.integers(0, 2, columns - 1))]
    rows = [[Fraction(int(v)) for v in row] for row in matrix]
    multipliers, values = alternative(rows, strict)
    if multipliers is not None:
        assert min(multipliers) >= 0
        assert all(sum(l * v for l, v in zip(multipliers, row, strict=True)) == 0 for row in rows)
        assert sum(l for l, s in zip(multipliers, strict, strict=True) if s) == 1
    else:
        for i, needed in enumerate(strict):
            value = sum(v * row[i] for v, row in zip(values, rows, strict=True))
            assert value > 0 if needed else value >= 0


# --- norms ---------------------------------------------------------------------------------------------------------


def test_laws_of_norms():
    D, E = map(m.dimension, "DE")
    A, B, v, w = m.Letter("A", D, E), m.Letter("B", D, D), m.Letter("v", E, 1), m.Letter("w", E, 1)
    assert norm(A @ v).name == "‖A v‖" and norm(A).is_nonnegative
    assert triangle(A @ v + A @ w) == (norm(A @ v + A @ w) <= norm(A @ v) + norm(A @ w))
    assert submultiplicative(B @ A, v) == (norm(B @ A @ v) <= norm(B @ A) * norm(v))
    assert lipschitz(p, v, w) == (norm(m.Activation(v) - m.Activation(w)) <= p * norm(v - w))
    assert same_norm(Step("", v + w, w + v)) == Eq(norm(v + w), norm(w + v))
    with pytest.raises(InputError, match="about a sum"):
        triangle(A @ v)


# --- balls ---------------------------------------------------------------------------------------------------------

_SQUARE = lambda t: t * t - t + arb(1) / 2  # at least 1/4, at t = 1/2
_LOGISTIC_SLOPE = lambda t: t.exp() / (1 + t.exp()) ** 2  # at most 1/4, at t = 0


@pytest.mark.parametrize(
    ("function", "box", "bounds", "verdict"),
    [
        (_SQUARE, [(0, 1)], {"above": "1/5"}, T),
        (_SQUARE, [(0, 1)], {"above": "1/4"}, F),
        (_SQUARE, [(0, 1)], {"above": "1/3"}, F),
        (_SQUARE, [(0, 1)], {"above": "1/5", "below": 1}, T),
        (_SQUARE, [(0, 1)], {"above": "1/5", "below": "2/5"}, F),
        (_SQUARE, [("2/3", 1)], {"above": "1/4"}, T),
        (_SQUARE, [(1, 1)], {"below": 1}, T),
        (_LOGISTIC_SLOPE, [(-3, 4)], {"below": "251/1000", "above": 0}, T),
        (_LOGISTIC_SLOPE, [(-3, 4)], {"below": "249/1000"}, F),
        (_LOGISTIC_SLOPE, [(-1, "3/2")], {"below": "1/4"}, U),  # attained at 0, which no midpoint is here
        (lambda s, t: s * t, [(0, 1), (0, 1)], {"below": "101/100"}, T),
        (lambda s, t: s * t, [(0, 1), (0, 1)], {"below": "1/2"}, F),
    ],
)  # fmt: skip
def test_enclosed(function, box, bounds, verdict):
    found = enclosed(function, box, **bounds, what="f", boxes=300)
    assert found.verdict == verdict, found.finding
    assert 1 <= found.figures["boxes"] <= 300
    if verdict == F:
        assert found.example is not None
        point = [Fraction(value) for value in found.example.values.values()]
        assert all(Fraction(low) <= v <= Fraction(high) for v, (low, high) in zip(point, box, strict=True))


@pytest.mark.parametrize(
    "function",
    [
        lambda t: arb.pos_inf(),
        lambda t: arb.nan(),
        lambda t: 1 / (t - arb(1) / 3),  # a pole inside
        lambda t: (t - 2).sqrt(),  # not defined
    ],
)
def test_what_is_not_finite_is_not_enclosed(function):
    for bound in (-(10**9), 0, 10**9):
        assert enclosed(function, [(0, 1)], above=bound, what="f", boxes=9).verdict in (U, F)
        assert enclosed(function, [(0, 1)], below=bound, what="f", boxes=9).verdict in (U, F)
    assert enclosed(function, [(0, 1)], above=-(10**9), below=10**9, what="f", boxes=40).verdict == U


@pytest.mark.parametrize("value", [0.5, 1, sympy.Rational(1, 2), None])
def test_only_balls_enclose(value):
    with pytest.raises(InputError, match="wanted a ball"):
        enclosed(lambda t: value, [(0, 1)], above=0, what="f")


def test_the_last_box_counts():
    found = enclosed(_SQUARE, [("2/3", 1)], above=-1, what="f", boxes=1)
    assert (found.verdict, found.figures["boxes"]) == (T, 1)
    assert enclosed(_SQUARE, [("2/3", 1)], above=-1, what="f", boxes=0).verdict == U


@pytest.mark.parametrize(
    ("box", "bounds"),
    [
        ([(1, 0)], {"below": 1}),
        ([(0, 1)], {}),
        ([], {"below": 1}),
        ([(0, float("inf"))], {"below": 1}),
        ([(0, float("nan"))], {"below": 1}),
        ([(0, sympy.sqrt(2))], {"below": 1}),
        ([(0, 1)], {"below": sympy.pi}),
        ([0, 1], {"below": 1}),
    ],
)
def test_enclosed_wants_a_box_and_a_bound(box, bounds):
    with pytest.raises(InputError, match="least ≤ greatest, and a bound"):
        enclosed(_SQUARE, box, **bounds, what="f")


def test_measured():
    inputs = {"v": np.array([1.0, 2.0])}
    one, two = (lambda v: v[0] * 1.0), (lambda v: v[1] * 1.0)
    assert measured(one, two, inputs, what="1 ≤ 2").verdict == Verdict.AGREES
    wrong = measured(two, one, inputs, what="2 ≤ 1")
    assert wrong.example is not None
    assert wrong.verdict == F and wrong.example.values == {"v": [1.0, 2.0]}
    with pytest.raises(InputError, match="float64 does not hold exactly"):
        measured(one, two, {"v": [Fraction(1, 3), 1]}, what="a third")
    root = lambda v: (v[1] / 3.0) ** 0.5 * (v[1] / 3.0) ** 0.5
    unknown = measured(lambda v: v[1] / 3.0, root, inputs, what="2/3 ≤ (√(2/3))²", subject="root")
    assert (unknown.verdict, unknown.subject) == (U, "root")
