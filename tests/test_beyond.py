"""Beyond the papers: every row gets its verdict, its wrong twin does not, and bounds are never exceeded."""

import re
from dataclasses import replace
from fractions import Fraction
from itertools import pairwise
from unittest import mock

import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from excerpt import one_in
from sympy import Rational

import uat_jax as uj
from uat_jax.decide.decision import decide
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict, combine
from uat_jax.errors import UnsupportedError
from uat_jax.ledger.beyond import (
    changes,
    constants,
    jacobian,
    parallel_blocks,
    rank_collapse,
    recurrent,
    separation,
    two_functions,
    uniqueness,
    wrong_readings,
)
from uat_jax.ledger.beyond.carried_sum import carried_sum
from uat_jax.ledger.beyond.chapters import CHAPTERS
from uat_jax.ledger.beyond.row import steps
from uat_jax.ledger.layers import nested_bias, update_lists
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.differential import differential
from uat_jax.symbolic.layers import KINDS
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED
HALF, THIRD = Rational(1, 2), Rational(1, 3)

LEDGER = {
    "figure-2.densest": F, "figure-2.squared-error": T, "figure-2.absolute-error": T, "figure-2.same-input": T,
    "figure-2.dynamic": T,
    "separation.pieces": T, "separation.breaks": T, "separation.fixed-sum": T, "separation.reached": T,
    "separation.dynamic": T,
    "wrong-readings.updates": T, "wrong-readings.nested-bias": T,
    "uniqueness.coefficients": T, "uniqueness.gauge": T, "uniqueness.one-activation": T,
    "jacobian.product": T, "jacobian.paths": T,
    "recurrent.elman": T, "recurrent.gru": T, "recurrent.linear-attention": T, "recurrent.state-space": T,
    "changes.bound": T, "changes.lora": T, "changes.removal": T, "changes.activations": T, "changes.softmax": T,
    "changes.attention": T,
    "rank-collapse.contraction": T, "rank-collapse.products": T, "rank-collapse.softmax": T, "rank-collapse.depth": T,
    "parallel.difference": T, "parallel.bound": T,
}  # fmt: skip
BY_ID = {claim.id: claim for chapter in CHAPTERS for claim in chapter.claims}


def test_the_chapters_have_exactly_these_rows():
    assert {name: claim.expects for name, claim in BY_ID.items()} == LEDGER


@pytest.mark.parametrize("name", one_in(2, LEDGER))
def test_verdict(name):
    certificate = decide(BY_ID[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name] and certificate.passes


@pytest.mark.parametrize("name", LEDGER)
def test_rows_say_what_they_presuppose_and_how_they_are_read(name):
    claim = BY_ID[name]
    assert claim.hypotheses and claim.reading and claim.sources
    assert claim.ours


# --- twins -----------------------------------------------------------------------------------------------------------

_TENT = lambda **changed: tuple({"A": 2, "C": -4, "b": -HALF, **changed}.values())


def _networks(name, network):
    """What is found of a reading of the list with another network."""
    return wrong_readings.fails(name, replace(wrong_readings.READINGS[name], network=network), "residual")


def _right_bias(network):
    pair = nested_bias.pair_of("residual", ("original", "updated", "previous"))
    return [wrong_readings.apart(pair, network, 3, what="the right reading")]


def _right_list():
    reading = wrong_readings.Reading(
        update_lists.corrected_boxes, 3, wrong_readings.Network(A=(1, 1, 0), C=(1,), b=(1,))
    )
    return wrong_readings.fails("corrected", reading, "residual")


def _with_another(closed, decide_row, table, name):
    """What is found of a scan with another closed form."""
    step, _, inputs = table[name]
    with mock.patch.dict(table, {name: (step, closed, inputs)}):
        return [decide_row(name)]


def _scanned(name, closed):
    return _with_another(closed, recurrent.scanned, recurrent.SCANS, name)


def _for_every_length(name, closed):
    return _with_another(closed, recurrent.for_every_length, recurrent.FOR_EVERY_LENGTH, name)


def _off_by_one(found):
    """A closed form that has one more than it should."""
    return lambda *arguments: found(*arguments) + 1


def _gates_exchanged(x, inputs, W, U, b, Z, R):
    return recurrent.closed_gru(x, inputs, W, U, b, R, Z)


def _reversed_values():
    return lambda S, rows: S + jnp.matmul(rows[0][::-1].T, rows[1], precision="highest")


def _changed(module, row, change):
    """What a row finds when each inequality that it wants proved is changed first."""
    prove = lambda claim, *known, **named: proved_inequality(change(claim), *known, **named)
    with mock.patch.object(module, "proved_inequality", prove):
        found = row()
        return [found] if isinstance(found, Evidence) else list(found)


def _halved(module, row):
    """The same with half of the greater side."""
    return _changed(module, row, lambda claim: claim.lts <= claim.gts / 2)


def _at_another_point(size):
    """The least absolute error with the error of another point: p or (p + q)/2 in front of |a − b|."""
    return _changed(
        two_functions, two_functions.majority, lambda claim: claim.lts.subs(two_functions.q, size) <= claim.gts
    )


TWINS = {
    "separation: C = −3": lambda: separation.next_pieces(_TENT(C=-3)),
    "separation: b = 0": lambda: separation.next_pieces(_TENT(b=0)),
    "separation: A = 1": lambda: separation.next_pieces(_TENT(A=1)),
    "separation: bends by h": lambda: separation.bends(-1),
    "separation: straight within h": lambda: separation.straight_term(HALF),
    "separation: whole numbers 3/4 apart": lambda: [separation.far_apart(Rational(3, 4))],
    "separation: terms relu(y − k)": lambda: separation.hinges(1),
    "separation: 2^L breaks": lambda: separation.count(2**separation.L),
    "separation: L breaks": lambda: separation.count(separation.L),
    "readings: the right list": _right_list,
    "readings: the right bias": lambda: _right_bias(wrong_readings.nested_network(("original", "updated", "own"))),
    "readings: a network that shows nothing": lambda: _networks("updates.boxes", wrong_readings.Network(A=(1, 1, 1))),
    "readings: rules of the first layer": lambda: [wrong_readings.left_alone(lambda j: wrong_readings.rules(j - 1))],
    "uniqueness: a step twice as long": lambda: uniqueness.one_difference_more(2),
    "uniqueness: bumps twice as wide": lambda: uniqueness.separated(2),
    "uniqueness: relu(x) − relu(−x) = 2 x": lambda: uniqueness.one_activation(2),
    "jacobian: that of another network": lambda: [
        jacobian.confirmed("transformer", jacobian.product_of_factors("residual"))
    ],
    "jacobian: 3^L paths": lambda: jacobian.count(3**jacobian.L),
    "recurrent: gates exchanged": lambda: _scanned("gru", _gates_exchanged),
    "recurrent: one more": lambda: _scanned("elman", _off_by_one(recurrent.closed_elman)),
    "recurrent: mamba with one more": lambda: _scanned("mamba", _off_by_one(recurrent.closed_mamba)),
    "recurrent: values in another order": lambda: _for_every_length("linear attention", _reversed_values()),
    "recurrent: S4 with one more": lambda: _for_every_length("state space", _off_by_one(recurrent.decaying_sum)),
    "changes: the other sign of δ": lambda: [changes.reached(-1)],
    "constants: tanh 3/4": lambda: constants.smooth("tanh", Rational(3, 4)),
    "constants: logistic 1/5": lambda: constants.smooth("logistic", Rational(1, 5)),
    "constants: relu 1/2": lambda: [constants.relu(HALF)],
    "constants: T ≤ δ/3": lambda: constants.positive_part(THIRD),
    "constants: ℓ = ‖V‖ (1 + s ω R²)": lambda: [constants.total_constant(1)],
    "merging: |d| with the other sign": lambda: _changed(
        rank_collapse, rank_collapse.parts, lambda claim: claim.replace(sympy.Abs, lambda d: -abs(d))
    ),
    "merging: half of P w": lambda: _halved(rank_collapse, rank_collapse.between),
    "merging: half of τ osc": lambda: _halved(rank_collapse, rank_collapse.apart),
    "merging: τ(H G) ≤ τ(H) τ(G) / 2": lambda: _halved(rank_collapse, rank_collapse.product),
    "merging: the whole 1-norm": lambda: rank_collapse.smallest_entries(1),
    "merging: features count half": lambda: _halved(rank_collapse, rank_collapse.mixed),
    "parallel: reached at A ≥ −1": lambda: [parallel_blocks.attained(-1)],
    "two functions: weight p": lambda: [two_functions.completed_square(two_functions.p)],
    "two functions: 2 |a − b|": lambda: _halved(two_functions, two_functions.triangle),
    "two functions: the minority": lambda: _at_another_point(two_functions.q + two_functions.LEAD),
    "two functions: the middle": lambda: _at_another_point(two_functions.q + two_functions.LEAD / 2),
    "two functions: error 2 q |a − b|": lambda: _halved(two_functions, two_functions.one_value),
}


@pytest.mark.parametrize("twin", TWINS)
def test_a_wrong_twin_is_not_proved(twin):
    found = list(steps(TWINS[twin]()))
    assert found and combine(found) not in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.AGREES), [
        e.finding for e in found
    ]


def _stretched(step: Step, factor: int) -> Step:
    return replace(step, right=m.Scaled(factor, step.right))


EQUATIONS = {
    "carried sum": carried_sum(1, "ℓ", "δ"),
    "parallel": parallel_blocks.exact_difference(),
    "parallel, A = I": parallel_blocks.without_attention(),
    "jacobian": jacobian.one_layer("transformer"),
    "GRU": recurrent.gru().equation("GRU"),
    "linear attention": recurrent.linear_attention().equation("linear attention"),
    "a score": constants.score_difference()[0][0],
    "nested letters": uniqueness.nested_letters(),
    "shifted": rank_collapse.shifted(),
}


@pytest.mark.parametrize("name", EQUATIONS)
def test_an_equation_holds_and_twice_its_right_side_does_not(name):
    assert EQUATIONS[name].holds()
    assert not _stretched(EQUATIONS[name], 2).holds()


def _wrong_layer(which: str, value: m.Expression) -> Step:
    gru = recurrent.gru()
    return replace(gru, layer={**gru.layer, which: value}).equation("GRU")


@pytest.mark.parametrize("which", ["A", "B", "C"])
def test_gru_needs_each_of_its_gates(which):
    plain = {"A": m.Identity(recurrent.D), "B": m.Letter("W", recurrent.D, recurrent.D), "C": m.Identity(recurrent.D)}
    assert not _wrong_layer(which, plain[which]).holds()


@pytest.mark.parametrize("laws", range(len(changes.adapted_layer("residual")[2])))
def test_every_law_of_the_bound_is_needed(laws):
    _, claimed, given = changes.adapted_layer("residual")
    fewer = given[:laws] + given[laws + 1 :]
    assert proved_inequality(claimed, given, what="all").verdict is T
    assert proved_inequality(claimed, fewer, what="one less").verdict is not T


# --- what the statements are about -----------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", [1, 2, 5])
def test_the_tent_network_has_that_many_pieces_in_plain_fractions(depth):
    """Slopes ±2^L in turn, from its values on the grid of pieces; the layer is written out once more."""
    tent = lambda x: min(2 * x, 2 - 2 * x)
    values = [Fraction(n, 2**depth) for n in range(2**depth + 1)]
    own = values
    for _ in range(depth):
        values = [tent(x) for x in values]
        own = [separation.layer(x, lambda number: max(number, 0), (2, -4, Fraction(-1, 2))) for x in own]
    assert values == own
    slopes = [(after - before) * 2**depth for before, after in pairwise(values)]
    assert slopes == [2**depth, -(2**depth)] * 2 ** (depth - 1)


@pytest.mark.parametrize("depth", [1, 3])
def test_so_many_hinges_are_that_network(depth):
    y = lambda x: 2**depth * x
    for n in range(8 * 2**depth + 1):
        x = Fraction(n, 8 * 2**depth)
        hinged = y(x) + sum((-1) ** k * 2 * max(y(x) - k, 0) for k in range(1, 2**depth))
        value = x
        for _ in range(depth):
            value = min(2 * value, 2 - 2 * value)
        assert hinged == value


def test_every_wrong_reading_of_the_ledger_is_shown_to_fail():
    lists = ("updates.", "nested-bias.")
    refuted = {c.id: c.exact_to for c in uj.claims() if c.exact_to is not None and c.id.startswith(lists)}
    names = {f"nested-bias.{'-'.join(reading)}": exact for reading, exact in wrong_readings.WRONG.items()}
    several = {name for name in names if name not in {claim.id for claim in uj.claims()}}
    assert len(several) == 5  # readings with two or three mistakes at once, which are no rows
    first = lambda reading: reading.first - 1 - (reading.at_first is not None)
    names |= {name: first(reading) for name, reading in wrong_readings.READINGS.items()}
    assert {n: exact for n, exact in names.items() if n not in several} | {"updates.raw-weights": 1} == refuted


def test_every_reading_fails_from_its_first_depth_on():
    """What the two rows find of each reading begins at the depth behind the last at which it is exact."""
    said = [e.finding for name in ("updates", "nested-bias") for e in BY_ID[f"wrong-readings.{name}"].decide(SYMBOLIC)]
    exact = {
        c.id: c.exact_to for c in uj.claims() if c.exact_to is not None and c.id.startswith(("updates.", "nested-"))
    }
    for name, last in exact.items():
        depths = [re.search(r" at L = (\d)", text) for text in said if text.startswith(f"{name}, ")]
        found = {int(depth.group(1)) for depth in depths if depth}
        assert min(found) == last + 1, (name, found)
    assert len(wrong_readings.nothing_arises()) == 4


def test_numbers_are_those_of_the_programs():
    """x_2 = A_2 x_1 + C_2 σ(B_2 x_1 + b_2) with small numbers; what has no number is refused."""
    network = wrong_readings.Network(A=(1, 2), B=(0, 1), C=(1, 1), b=(1, 0))
    layers = u.square_layers("residual")
    program, _ = wrong_readings.READINGS["updates.boxes"].pair("residual")(2)
    assert wrong_readings.value(program, network) == 3
    x = layers.x(0)
    with pytest.raises(UnsupportedError, match="no number for"):
        wrong_readings.value(Program({layers.x(1): m.RowSoftmax(x)}, layers.x(1)), network)


DIFFERENTIALS = {
    "a product": lambda x, A: A @ x,
    "a sum and its transpose": lambda x, A: (x + x).T,
    "twice": lambda x, A: m.Scaled(2, x),
    "a constant": lambda x, A: m.Identity(3),
}


@pytest.mark.parametrize("name", DIFFERENTIALS)
def test_differentials_of_linear_expressions_are_the_expressions_of_dx(name):
    x, dx, A = m.Letter("x", 3, 1), m.Letter("dx", 3, 1), m.Letter("A", 3, 3)
    expression = DIFFERENTIALS[name]
    wanted = m.Zero(3, 3) if name == "a constant" else expression(dx, A)
    assert Step(name, differential(expression(x, A), {x: dx}), wanted).holds()


def test_what_has_no_differential_is_refused():
    x = m.Letter("x", 3, 3)
    for expression in (m.RowSoftmax(x), m.Activation(x)):
        with pytest.raises(UnsupportedError, match="no rule for the differential"):
            differential(expression, {x: x})


# --- bounds are never exceeded ---------------------------------------------------------------------------------------

MEASURED = {
    **{name: lambda seed, name=name: changes.measured_change(name, seed) for name in changes.CHANGES},
    "attention": constants.measured_attention,
    "merging": rank_collapse.measured_network,
}


@pytest.mark.parametrize(("name", "seed"), one_in(10, [(name, seed) for seed in range(100, 120) for name in MEASURED]))
def test_no_bound_is_exceeded(name, seed):
    found: Evidence = MEASURED[name](seed)
    assert found.verdict is Verdict.AGREES, found.finding


def test_a_bound_that_is_too_small_is_noticed(monkeypatch):
    """Half of δ_k and a ninth of ℓ: the same network exceeds it."""
    change = changes.CHANGES["removal"]
    monkeypatch.setitem(changes.CHANGES, "removal", lambda **given: (change(**given)[0], change(**given)[1] / 9))
    assert changes.measured_change("removal").verdict is Verdict.REFUTED


def test_the_weighted_mean_is_the_least_of_a_grid():
    p, q, a, b = Fraction(3, 4), Fraction(1, 4), Fraction(1), Fraction(-1)
    grid = [Fraction(n, 8) for n in range(-8, 9)]
    assert min(grid, key=lambda g: two_functions.squared(p, q, a, b, g)) == two_functions.mean(p, q, a, b) == HALF
    assert min(grid, key=lambda g: p * abs(g - a) + q * abs(g - b)) == a


@pytest.mark.parametrize("kind", KINDS)
def test_layers_that_do_nothing_do_nothing(kind):
    assert wrong_readings.same_output(kind).holds()
    assert not replace(wrong_readings.same_output(kind), where={}).holds()


def test_dobrushin_by_hand():
    H = np.array([[0.5, 0.5, 0], [0.25, 0.25, 0.5], [0, 0.5, 0.5]])
    assert float(rank_collapse.dobrushin(jnp.asarray(H, jnp.float32))) == 0.5
    assert sympy.simplify(separation.number_of_breaks().subs(separation.L, 3)) == 7
