"""The rows on lemmas, recursions, ranges and fixed sums: their verdicts, and wrong twins of what decides them."""

import random
from fractions import Fraction

import jax
import jax.numpy as jnp
import pytest
import sympy

from uat_jax.decide.decision import decide
from uat_jax.decide.normal_forms import decide as decide_step
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.errors import InputError
from uat_jax.ledger.layers import (
    figure_2,
    fixed_sums,
    induction_steps,
    lemma_1,
    nested_bias,
    remainder,
    serial,
    two_layers,
)
from uat_jax.ledger.ledger import find
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

SYMBOLIC = Settings(dtypes=())
T, F, C = Verdict.PROVED, Verdict.REFUTED, Verdict.CERTIFIED

# Typed in from the ledger of claims (G1–G3, G6, G9–G13, G16, G17, G19, G20), independently of the package.
LEDGER = {
    "lemma-1.diagonal": F, "lemma-1.scalar": T, "lemma-1.diagonal-more-terms": T,
    "lemma-2.some-fixed-sum.square": F, "lemma-2.some-fixed-sum.relu": F, "lemma-2.some-fixed-sum.relu-one-input": T,
    "eq-20-21": T, "b22.constant-and-sum": T, "b22.sum-alone": F, "b22.constant-as-term": T,
    "remainder.definition": F, "remainder.original": T, "remainder.overwritten": F, "remainder.v2": F,
    "remainder.v2-assigned": T,
    "eq-28-29.printed": F, "eq-28-29.corrected": T, "eq-31.matches-eq-20": T, "eq-32.printed": F,
    "nested-bias.from-two": T, "nested-bias.from-one": F, "nested-bias.from-one-zero": T,
    "nested-bias.j-terms": F, "nested-bias.fewer-terms": T, "nested-bias.equality": T,
    "fig-2.box-1": T, "fig-2.box-2.misprint": F, "fig-2.box-2": T, "fig-2.row-3": T,
    "serial.needs-w21": F, "serial.affine-maps": T, "serial.scan": C, "serial.sigma-chain": T,
    "serial.attention-waits": T,
}  # fmt: skip
MODULES = (lemma_1, fixed_sums, two_layers, remainder, induction_steps, nested_bias, figure_2, serial)
ROWS = {claim.id: claim for module in MODULES for claim in module.CLAIMS}


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    certificate = decide(ROWS[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name] == ROWS[name].expects
    assert certificate.passes


@pytest.mark.parametrize("name", [name for name in LEDGER if ROWS[name].correction])
def test_corrections_are_proved(name):
    correction = ROWS[name].correction
    try:
        claim = find(correction)
    except InputError:  # not registered in the ledger
        claim = ROWS[correction]
    assert claim.expects == T


# --- fixed sums ------------------------------------------------------------------------------------------------------


def test_third_differences_of_squares_vanish_and_second_do_not():
    square, _ = fixed_sums.sum_terms(2)
    assert [fixed_sums.difference_of(square, order) == 0 for order in range(5)] == [False, False, False, True, True]


def test_the_network_of_squares_has_degree_four():
    """Exactly: (x + x²) + (x + x²)² has a fourth difference 24 and a third 24 x + 48, which is 48 at x = 0."""
    x = sympy.Symbol("x")
    network = lambda t: (t + t**2) + (t + t**2) ** 2
    assert [fixed_sums.difference(network, order) for order in (3, 4, 5)] == [48, 24, 0]
    assert fixed_sums.power_network(2) == sympy.expand(network(x))


@pytest.mark.parametrize("law", fixed_sums.LAWS)
def test_laws_of_relu(law):
    assert fixed_sums.law_of_relu(law, fixed_sums.LAWS[law]).verdict is T


@pytest.mark.parametrize(
    "false",
    [
        lambda t: (fixed_sums.relu(t) + fixed_sums.relu(-t), t),
        lambda t: (fixed_sums.relu(t), t),
        lambda t: (fixed_sums.relu(-2 * t), -2 * fixed_sums.relu(t)),
        lambda t: (fixed_sums.relu(t) - fixed_sums.relu(-t), t + 1),
    ],
)
def test_false_laws_of_relu(false):
    assert fixed_sums.law_of_relu("false", false).verdict is not T


def test_the_network_is_the_maximum_and_homogeneous():
    for x, y in ((3, 1), (1, 3), (-1, -2), (-2, 5), (0, 0)):
        value = lambda s, x=x, y=y: int(fixed_sums.maximum_network(*map(jnp.float32, (s * x, s * y))))
        assert value(1) == max(0, x, y)
        assert value(3) == 3 * value(1)


SEED = 7


def _random_network(draw: random.Random):
    """Two relu layers of width one with whole numbers, and where the argument of a relu is zero."""
    a1, c1, C1, b1, a2, c2, C2, b2 = (Fraction(draw.randint(-3, 3)) for _ in range(8))
    B1, B2 = (Fraction(draw.choice((-2, -1, 1, 2))) for _ in range(2))
    relu = lambda t: max(t, Fraction(0))
    first = lambda x: a1 * x + c1 + C1 * relu(B1 * x + b1)
    network = lambda x: a2 * first(x) + c2 + C2 * relu(B2 * first(x) + b2)
    breaks = {-b1 / B1}
    for slope, start in ((a1, c1), (a1 + C1 * B1, c1 + C1 * b1)):
        if B2 * slope:
            breaks.add(-(B2 * start + b2) / (B2 * slope))
    return network, sorted(breaks)


def test_every_relu_network_of_one_input_is_its_sum():
    draw = random.Random(SEED)
    for _ in range(200):
        network, breaks = _random_network(draw)
        found = fixed_sums.fixed_relu_sum(network, [breaks[0] - 1, *breaks, breaks[-1] + 1])
        points = [*breaks, *(Fraction(draw.randint(-50, 50), draw.randint(1, 7)) for _ in range(10))]
        assert all(found(x) == network(x) for x in points), (SEED, breaks)


def test_a_sum_that_lacks_a_break_is_wrong():
    found = fixed_sums.fixed_relu_sum(fixed_sums.hat, [t for t in fixed_sums.HAT_POINTS if t])
    assert any(found(x) != fixed_sums.hat(x) for x in (*fixed_sums.HAT_POINTS, Fraction(1, 4)))


def test_wrong_slopes_are_refuted():
    """Twins of the telescoping sum: twice the sum, with the wrong sign, with a jump too many, of another piece."""
    more, first, induction = fixed_sums.slopes()
    twins = [
        Step("twice", more.left, more.right + more.right),
        Step("sign", first.left, m.Scaled(-1, first.right)),
        Step("one more", induction.left, induction.right + induction.right, induction.where),
        Step("another piece", induction.left, first.right, induction.where),
    ]
    assert all(decide_step(step) is None for step in (more, first, induction))
    assert all(decide_step(step) is not None for step in twins)


# --- serial ----------------------------------------------------------------------------------------------------------


def _with(monkeypatch, function):
    monkeypatch.setattr(serial, "one_by_one", function)
    return combine(serial._scan(SYMBOLIC))


def test_wrong_scans_are_not_certified(monkeypatch):
    """Products in the other order, a bias forgotten, a bias not multiplied."""

    def reversed_order(A, c):
        right = serial_product(A, c, lambda matrix, P: P @ matrix, lambda matrix, q, bias: matrix @ q + bias)
        return right

    def no_bias(A, c):
        return serial_product(A, c, lambda matrix, P: matrix @ P, lambda matrix, q, bias: matrix @ q)

    def bias_not_multiplied(A, c):
        return serial_product(A, c, lambda matrix, P: matrix @ P, lambda matrix, q, bias: q + bias)

    def right(A, c):
        return serial_product(A, c, lambda matrix, P: matrix @ P, lambda matrix, q, bias: matrix @ q + bias)

    assert _with(monkeypatch, right) == C
    assert [_with(monkeypatch, f) for f in (reversed_order, no_bias, bias_not_multiplied)] == [Verdict.UNKNOWN] * 3


def serial_product(A, c, product, bias_of):
    """P_j and q_j one by one, with the given rules."""
    P, q = [A[0]], [c[0]]
    with jax.default_matmul_precision("highest"):
        for matrix, bias in zip(A[1:], c[1:], strict=True):
            P.append(product(matrix, P[-1]))
            q.append(bias_of(matrix, q[-1], bias))
    return jnp.concatenate([jnp.stack(P), jnp.stack(q)[:, :, None]], axis=2)


@pytest.mark.parametrize("depth", range(1, 6))
def test_the_derived_bias_has_one_term_fewer_than_layers(depth):
    assert nested_bias.terms(depth) == depth - 1


def test_wrong_numbers_of_terms_are_not_proved():
    j = nested_bias.LAYER
    for claimed in (j, j - 2, j + 1, sympy.Integer(1)):
        assert combine(nested_bias._number(claimed, SYMBOLIC)) == F


def test_the_first_bias_needs_a_zero():
    """Eq. 34 at j = 1 is right for b_{0,3} = 0 only."""
    columns = [nested_bias.FIRST, nested_bias.FIRST - m.Zero(nested_bias.FIRST.shape[0], 1)]
    assert all(decide_step(nested_bias.first_bias(column)) is not None for column in columns)
    assert decide_step(nested_bias.first_bias(nested_bias.FIRST - nested_bias.FIRST)) is None


def test_only_the_original_factor_is_right():
    for kind in ("residual", "transformer"):
        verdicts = [decide_step(remainder.recursion(kind, factor)) is None
                    for factor in (remainder.original, remainder.overwritten, remainder.absent)]  # fmt: skip
        assert verdicts == [True, False, False]


def test_the_number_of_terms_is_derived():
    assert sympy.simplify(nested_bias.derived_terms() - (nested_bias.LAYER - 1)) == 0
    assert [nested_bias.terms(j) for j in range(1, 6)] == [0, 1, 2, 3, 4]
