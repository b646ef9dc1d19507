"""Theorems 1 and 2 for every depth: the inductions hold, and with a wrong rule the right step fails."""

from dataclasses import fields, replace
from itertools import permutations

import pytest
import sympy

from uat_jax.decide.programs import difference
from uat_jax.errors import InputError, ShapeError
from uat_jax.ledger.layers import update_lists as lists
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import (
    INDEX,
    closed_form_induction,
    dynamic_parameters,
    dynamic_steps,
    step_definitions,
)
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.recurrence import ClosedForm, Recurrence, recurrence
from uat_jax.symbolic.step import Step

KINDS = ("residual", "transformer")
i = INDEX


def failing(steps) -> list[str]:
    return [step.name for step in steps if not step.holds()]


# --- Theorem 1 -------------------------------------------------------------------------------------------

BASE, AFFINE, ARGUMENT, LEMMA, STEP = (
    "base case: one layer",
    "Eq. 26: the affine part",
    "Eq. 27: the argument of σ",
    "Lemma 1: a matrix passes into the sum",
    "step: from i to i+1 layers",
)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_theorem_1_holds_for_every_depth(kind, dynamic):
    steps = closed_form_induction(Layers(kind, dynamic=dynamic))
    assert [step.name for step in steps] == [BASE, AFFINE, ARGUMENT, LEMMA, STEP]
    assert failing(steps) == []


@pytest.mark.parametrize("kind", KINDS)
def test_the_input_of_a_layer_has_the_shape_of_what_is_put_in(kind):
    of = closed_form_induction(Layers(kind))[-1].induction
    assert of is not None
    x = of.input
    for rows, columns in ((x.shape[0], 2), (x.shape[0] + 1, 1)):
        wide = m.Letter(x.name, rows, columns, x.subscripts)
        with pytest.raises(ShapeError, match="the input of a layer"):
            replace(of, input=wide).sides(1)
        with pytest.raises(ShapeError, match="the input of a layer"):
            replace(of, input=wide).sides(INDEX + 1)


@pytest.mark.parametrize("kind", ["residual", "transformer"])
def test_the_dynamic_steps_hold_for_the_values_at_x_i_and_for_no_others(kind):
    """Told with x_i as a letter; with a parameter taken at another input, or x_i another column, the step fails."""
    base, step = dynamic_steps(kind)
    assert base.holds() and step.holds()
    layers, values = Layers(kind), dynamic_parameters(kind)
    assert list(values) == list(layers.parameters(INDEX + 1))
    others = {letter: m.Dependent(letter, 2 * layers.x(INDEX)) for letter in values}
    for letter, value in {**others, layers.x(INDEX): 2 * ClosedForm(layers).x(INDEX)}.items():
        where = {letter: value}
        wrong = lambda l, ranges, where=where: where.get(l) or step.where(l, ranges)  # type: ignore[operator]
        assert not replace(step, where=wrong).holds(), letter
    assert not replace(base, right=2 * base.right).holds()


@pytest.mark.parametrize("kind", KINDS)
def test_the_collected_rules_are_those_of_theorem_1(kind):
    """P_{i+1} = A P_i, q_{i+1} = A q_i + c, Ŵ_{i+1,2} = B̄ P_i, b̂_{i+1,2} = B̄ q_i + b + B̄ u_i; u_i is carried by A."""
    closed = ClosedForm(Layers(kind))
    A, B, C, b, c = closed.layers.parameters(i + 1)
    inner = B if kind == "residual" else B @ A
    stated = Recurrence(
        W1=A @ closed.W1(i),
        b3=A @ closed.b3(i) + c,
        W2=inner @ closed.W1(i),
        b2_constant=inner @ closed.b3(i) + b,
        b2_u=inner,
        carry=A,
        W3=C,
    )
    collected = recurrence(closed, i + 1)
    for field in fields(Recurrence):
        assert Step(field.name, getattr(collected, field.name), getattr(stated, field.name)).holds(), field.name


class Halved(Layers):
    """Layers whose linear part is taken half: A_j x / 2 + c_j + C_j σ(B_j x + b_j)."""

    def apply(self, j, x):
        A, B, C, b, c = self.parameters(j)
        return m.Addition(m.Scaled(sympy.Rational(1, 2), A @ x), c, C @ m.Activation(B @ x + b))


def test_coefficients_are_collected():
    halved, plain = (recurrence(ClosedForm(of("residual")), i + 1) for of in (Halved, Layers))
    half = lambda e: m.Scaled(sympy.Rational(1, 2), e)
    assert halved.carry is not None and plain.carry is not None
    assert Step("W1", halved.W1, half(plain.W1)).holds()
    assert Step("carry", halved.carry, half(plain.carry)).holds()
    assert Step("b3", halved.b3, half(plain.b3) + half(ClosedForm(Layers("residual")).layers.c(i + 1))).holds()
    assert not Step("W1", halved.W1, plain.W1).holds()


WHERE_IT_SHOWS = {
    "W1": [AFFINE, STEP],
    "b3": [AFFINE, STEP],
    "W2": [ARGUMENT, STEP],
    "b2_constant": [ARGUMENT, STEP],
    "b2_u": [ARGUMENT, STEP],
    "carry": [AFFINE, STEP],
    "W3": [STEP],
}
MUTATIONS = {
    "sign": lambda e: -e,
    "doubled": lambda e: e + e,
    "dropped": lambda e: m.Zero(*e.shape),
    "lost last term": lambda e: m.Addition(*e.operands[:-1]) if isinstance(e, m.Addition) else -e,
}


def test_every_field_is_mutated():
    assert set(WHERE_IT_SHOWS) == {field.name for field in fields(Recurrence)}


@pytest.mark.parametrize("mutation", MUTATIONS)
@pytest.mark.parametrize("field", WHERE_IT_SHOWS)
@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_a_wrong_rule_is_refuted_by_the_step_it_enters(kind, dynamic, field, mutation):
    layers = Layers(kind, dynamic=dynamic)
    rule = recurrence(ClosedForm(Layers(kind)), i + 1)
    wrong = replace(rule, **{field: MUTATIONS[mutation](getattr(rule, field))})
    assert failing(closed_form_induction(layers, wrong)) == WHERE_IT_SHOWS[field]


@pytest.mark.parametrize("kind", KINDS)
def test_rules_of_the_other_kind_are_refuted(kind):
    (other,) = set(KINDS) - {kind}
    same = lambda j: u.D
    layers, others = (Layers(name, same, same) for name in (kind, other))
    rules = recurrence(ClosedForm(others), i + 1)
    assert failing(closed_form_induction(layers, rules)) == [ARGUMENT, STEP]


@pytest.mark.parametrize("kind", KINDS)
def test_the_step_needs_what_multiplies_u(kind):
    """With Ŵ_{k,3}^{(i+1)} left undefined for k ≤ i the step must not go through."""
    layers, closed = Layers(kind), ClosedForm(Layers(kind))
    rule = recurrence(closed, i + 1)
    step = lambda rule: Step(
        STEP, layers.apply(i + 1, closed.x(i)), closed.x(i + 1), step_definitions(closed, layers, rule)
    )
    assert step(rule).holds()
    assert not step(replace(rule, carry=None)).holds()


@pytest.mark.parametrize("kind", KINDS)
def test_the_thirds_unfold_only_where_k_runs_up_to_i(kind):
    layers, closed = Layers(kind), ClosedForm(Layers(kind))
    k = sympy.Symbol("k", integer=True, positive=True)
    rule = recurrence(closed, i + 1)
    define = step_definitions(closed, layers, rule)
    letter = closed.W3(k, i + 1)
    assert rule.carry is not None
    assert define(letter, {k: i}) == rule.carry @ closed.W3(k, i)
    assert [define(letter, ranges) for ranges in ({}, {k: i + 1}, {k: i - 1})] == [None] * 3  # type: ignore[arg-type]
    assert define(closed.W3(i + 1, i + 1), {}) == rule.W3


# --- Theorem 2 -------------------------------------------------------------------------------------------

EVERY_W3 = "W_{k,3} is Ŵ_{k,3}^(i+1) for every k ≤ i"
BIAS, INNER, THIRDS, CONSTANT, OUTER = range(5)
"""The five assignments in the order of Theorem 2."""
MUST_PRECEDE = [(BIAS, INNER), (BIAS, THIRDS), (THIRDS, OUTER), (CONSTANT, OUTER)]
"""An assignment that reads a variable of its own layer, or W_{k,3}, comes before the one that overwrites it."""


@pytest.mark.parametrize("kind", KINDS)
def test_theorem_2_holds_for_every_depth(kind):
    steps = u.update_induction(kind, u.in_place_rules(i), in_place=True)
    assert len(steps) == 12
    assert failing(steps) == []


def _exact_when_executed(kind, order) -> bool:
    rules = lambda n: u.for_every_k([u.in_place_rules(n)[a] for a in order], n)
    blocks = lambda depth: [u.sequential(rules(n)) for n in range(1, depth)]
    network = lambda depth: plain_network(u.square_layers(kind), depth)
    return all(difference(network(d), u.execute(kind, d, blocks(d))) is None for d in (2, 3, 4))


@pytest.mark.parametrize("kind", KINDS)
def test_the_induction_accepts_exactly_the_orders_that_are_right_when_executed(kind):
    """11 of the 120 orders; L = 2, 3, 4 show every wrong one."""
    executed, induced = set(), set()
    for order in permutations(range(5)):
        if _exact_when_executed(kind, order):
            executed.add(order)
        rules = tuple(u.in_place_rules(i)[a] for a in order)
        if not failing(u.update_induction(kind, rules, in_place=True)):
            induced.add(order)
    right = {o for o in permutations(range(5)) if all(o.index(a) < o.index(b) for a, b in MUST_PRECEDE)}
    assert executed == induced == right
    assert len(right) == 11


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(
    ("late", "early", "blamed"),
    [
        (BIAS, INNER, "b_{i+1,2} is b̂_{i+1,2}"),
        (BIAS, THIRDS, "b_{i+1,2} is b̂_{i+1,2}"),
        (THIRDS, OUTER, EVERY_W3),
        (CONSTANT, OUTER, "b_{i+1,3} is b̂_{i+1,3}"),
    ],
)
def test_a_wrong_order_is_refuted_at_the_variable_it_spoils(kind, late, early, blamed):
    order = [a for a in range(5) if a != late]
    order.insert(order.index(early) + 1, late)
    rules = tuple(u.in_place_rules(i)[a] for a in order)
    assert blamed in failing(u.update_induction(kind, rules, in_place=True))


def _at_i(rules):
    return tuple(rule.at(lists.j, i) for rule in rules) + (lists.BIAS.at(lists.j, i + 1),)


@pytest.mark.parametrize("kind", KINDS)
def test_the_printed_list_is_refuted_at_every_W3_and_the_corrected_one_accepted(kind):
    printed, corrected = _at_i(lists.PRINTED), _at_i(lists.CORRECTED)
    assert failing(u.update_induction(kind, printed, in_place=False)) == [EVERY_W3, "nothing else is assigned: W_{i,3}"]
    assert failing(u.update_induction(kind, corrected, in_place=False)) == []
    assert failing(u.update_induction(kind, corrected, in_place=True)) != []


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dropped", range(5))
def test_no_assignment_can_be_left_out(kind, dropped):
    rules = tuple(rule for n, rule in enumerate(u.in_place_rules(i)) if n != dropped)
    assert failing(u.update_induction(kind, rules, in_place=True))


EXTRA = {
    "W_{k,2} doubled": u.Assignment(u.W2(u.k), m.Scaled(2, u.W2(u.k))),
    "b_{k,2} lost": u.Assignment(u.b2(u.k), m.Zero(u.F, 1)),
    "W_{i,3} lost": u.Assignment(u.W3(i), m.Zero(u.D, u.F)),
    "W_{i,2} lost": u.Assignment(u.W2(i), m.Zero(u.F, u.D)),
    "b_{i,2} lost": u.Assignment(u.b2(i), m.Zero(u.F, 1)),
    "the layer after next": u.Assignment(u.W1(i + 2), m.Zero(u.D, u.D)),
    "its bias": u.Assignment(u.b3(i + 2), m.Zero(u.D, 1)),
}


@pytest.mark.parametrize("in_place", [True, False])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("extra", EXTRA)
def test_an_added_assignment_is_refuted(extra, kind, in_place):
    """The invariant covers what the five assignments do not touch."""
    rules = (*u.in_place_rules(i), EXTRA[extra])
    assert not all(step.holds() for step in u.update_induction(kind, rules, in_place=in_place))


def test_an_assignment_for_every_k_may_not_read_the_family_it_writes():
    rule = u.Assignment(u.W3(u.k), u.W3(u.k) + m.RangeSum(u.W3(u.k), u.k, 1, i))
    with pytest.raises(InputError, match="may not contain a sum"):
        u.update_induction("residual", (*u.in_place_rules(i), rule), in_place=True)


def test_parameters_may_not_contain_the_input():
    """b̂_3 = (…) x_0 + … would make any function a "UAT sum"."""
    layers = Layers("residual")
    rule = recurrence(ClosedForm(layers), i + 1)
    x = layers.x(0)
    hidden = replace(rule, W1=m.Zero(*rule.W1.shape), b3=rule.W1 @ x + rule.b3)
    with pytest.raises(InputError, match="contains x_0"):
        closed_form_induction(layers, hidden)
