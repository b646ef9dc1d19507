"""The printed lists of updates, executed: at which depths each reading is exact, and why it fails where it fails."""

from itertools import product

import pytest
from random_expressions import Bounded, Evaluator, agree

from uat_jax.decide.programs import difference
from uat_jax.errors import ShapeError
from uat_jax.ledger.layers import nested_bias
from uat_jax.ledger.layers import update_lists as lists
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.program import Program

KINDS = ("residual", "transformer")
ALL = [1, 2, 3, 4, 5]


def network(kind, depth) -> Program:
    return plain_network(u.square_layers(kind), depth)


def identity_skip(kind, depth):
    layers = u.square_layers(kind)
    return {layers.A(j): m.Identity(u.D) for j in range(1, depth + 1)}


def exact_depths(kind, program, also=lambda kind, depth: {}) -> list[int]:
    return [d for d in ALL if difference(network(kind, d), program(kind, d), also(kind, d)) is None]


# --- G15: the list after Eq. 11 and Eq. 33 ---------------------------------------------------------------


def _executed(order):
    return lambda kind, depth: u.execute(kind, depth, order(depth))


READINGS = {
    "(a) one shot": (_executed(lists.one_shot), [1, 2], [1, 2]),
    "(b) one sweep": (_executed(lists.one_sweep), [1], ALL),
    "(c) boxes": (_executed(lists.boxes), [1, 2], ALL),
    "(c′) boxes with the new W_{k,3}": (_executed(lists.boxes_with_new_W3), [1], ALL),
    "(d) redone": (_executed(lists.redone), [1, 2], [1, 2]),
    "(e) final values": (lambda kind, depth: lists._final(kind)(depth)[1], [1], ALL),
    "(f) corrected boxes": (_executed(lists.corrected_boxes), ALL, ALL),
    "Theorem 2": (_executed(lists.in_place), ALL, ALL),
}
"""Reading → its program, the depths at which it is exact, and those when all A_j = I."""


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("program", "exact", "exact_with_skip"), READINGS.values(), ids=READINGS)
def test_where_a_reading_is_exact(kind, program, exact, exact_with_skip):
    assert exact_depths(kind, program) == exact
    assert exact_depths(kind, program, identity_skip) == exact_with_skip


FIRST_WRONG_WORD = {
    # reading, depth: the printed word and the right one, in a residual network
    ("(a) one shot", 3): "A_3 A_2 x_0 instead of A_3 A_2 A_1 x_0",
    ("(b) one sweep", 2): "A_2 A_1 c_1 instead of A_2 c_1",
    ("(c) boxes", 3): "A_2 C_1 σ(B_1 x_0 + b_1) instead of A_3 A_2 C_1 σ(B_1 x_0 + b_1)",
    ("(c′) boxes with the new W_{k,3}", 2): "B_2 A_2 C_1 σ(B_1 x_0 + b_1) instead of B_2 C_1 σ(B_1 x_0 + b_1) in",
    ("(d) redone", 3): "B_2 A_1 A_1 x_0 instead of B_2 A_1 x_0 in the argument of A_3 C_2 σ(",
    ("(e) final values", 2): "A_2 A_1 c_1 instead of A_2 c_1",
}


@pytest.mark.parametrize(("reading", "depth"), FIRST_WRONG_WORD)
def test_the_first_wrong_word(reading, depth):
    found = difference(network("residual", depth), READINGS[reading][0]("residual", depth))
    assert str(found).startswith(FIRST_WRONG_WORD[reading, depth])


def test_the_first_wrong_words_of_one_shot_are_those_of_the_ledger():
    """P_3 → A_3A_2, b_{3,3} → A_3c_2 + c_3 and W_{1,3} → A_2C_1, seen in the lines themselves."""
    program, layers = u.execute("residual", 3, lists.one_shot(3)), u.square_layers("residual")
    A, C, c = layers.A, layers.C, layers.c
    held = lambda letter: program[m.Letter(letter.name, *letter.shape, subscripts=letter.subscripts, superscripts=(1,))]
    assert held(u.W1(3)) == A(3) @ A(2)
    assert held(u.b3(3)) == A(3) @ c(2) + c(3)
    assert held(u.W3(1)) == A(2) @ C(1)


@pytest.mark.parametrize("kind", KINDS)
def test_raw_weights_fail_at_two_layers_and_the_first_factor_is_for_transformers(kind):
    """Without Eq. 30's W_{k,2} ← W_{k,2}W_{k,1} the rule for W_{j+1,2} misses A_2; the rule for i = 0 puts in A_1."""
    first = u.simultaneous([u.Assignment(u.W2(1), u.W2(1) @ u.W1(1))])
    layers = u.square_layers(kind)
    raw = lambda _, depth: u.run(
        u.originals(kind, depth, raw=True),
        [first, *lists.corrected_boxes(depth)],
        layers.x(depth),
        u.closed_form_33(depth),
    )
    assert exact_depths(kind, raw) == ([1] if kind == "transformer" else [])
    if kind == "transformer":
        found = difference(network(kind, 2), raw(kind, 2))
        assert str(found).startswith("B_2 A_1 x_0 instead of B_2 A_2 A_1 x_0")


# --- G16: the bias of Eq. 12/34 --------------------------------------------------------------------------

TWELVE = {
    # W_{j,2}, b_{j-1,3}: depths with W_{k,3} own, of the first j−1 layers, of the whole network
    ("original", "original"): ([1, 2], [1, 2], [1]),
    ("original", "updated"): ([1, 2], ALL, [1]),
    ("updated", "original"): ([1], [1], [1]),
    ("updated", "updated"): ([1], [1], [1]),
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("reading", list(product(nested_bias.MATRIX, nested_bias.BIAS, nested_bias.VERSION)))
def test_where_a_reading_of_the_nested_bias_is_exact(kind, reading):
    *row, version = reading
    wanted = TWELVE[tuple(row)][("own", "previous", "final").index(version)]  # type: ignore[index]
    pair = nested_bias.pair_of(kind, reading)
    assert exact_depths(kind, lambda _, depth: pair(depth)[1]) == wanted


# --- execution -------------------------------------------------------------------------------------------

ORDERS = {
    "one_shot": lists.one_shot,
    "one_sweep": lists.one_sweep,
    "boxes": lists.boxes,
    "boxes_with_new_W3": lists.boxes_with_new_W3,
    "redone": lists.redone,
    "corrected_boxes": lists.corrected_boxes,
    "in_place": lists.in_place,
}
SIZES = {u.D: 3, u.F: 2}


def overwritten_in_numpy(kind, depth, blocks) -> Bounded:
    """The list carried out on arrays that are really overwritten."""
    store = {variable: Evaluator(SIZES)(value) for variable, value in u.originals(kind, depth).items()}
    for block in blocks:
        entering = dict(store)
        for assignment in block.assignments:
            seen = {v: store[v] if block.fresh(v) else entering[v] for v in store}
            store[assignment.target] = Evaluator(SIZES, seen)(_explicit(assignment.value))
    return Evaluator(SIZES, store)(u.closed_form_33(depth))


def _explicit(value: m.Expression) -> m.Expression:
    """Sums between integers written out, so that each term's letters can be looked up."""
    return m.replace_letters(value, lambda letter, _: None)


@pytest.mark.parametrize("depth", [1, 2, 3, 4])
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_executing_a_list_is_overwriting_arrays(order, kind, depth):
    overwritten = overwritten_in_numpy(kind, depth, order(depth))
    assert agree(Evaluator(SIZES).program(u.execute(kind, depth, order(depth))), overwritten)
    other = lists.one_sweep if order is lists.boxes else lists.boxes
    if depth > 2:
        assert not agree(Evaluator(SIZES).program(u.execute(kind, depth, other(depth))), overwritten)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("order", ORDERS.values(), ids=ORDERS)
def test_no_version_is_ever_overwritten(order, kind):
    """Each assignment makes one line, versions of a variable count up from 1, and a line never changes later."""
    depth = 4
    blocks = order(depth)
    program = u.execute(kind, depth, blocks)
    made = [letter for letter in program if letter != program.result]
    assert len(made) == sum(len(block.assignments) for block in blocks)
    for variable in {(l.name, l.subscripts) for l in made}:
        versions = [int(l.superscripts[0]) for l in made if (l.name, l.subscripts) == variable]
        assert versions == list(range(1, len(versions) + 1)), variable
    shorter = u.execute(kind, depth, blocks[:-1])
    assert all(program[letter] == shorter[letter] for letter in shorter if letter != program.result)


def test_a_version_can_be_read_after_a_newer_one_was_made():
    """A simultaneous block swaps two variables; a sequential one cannot."""
    a, b = u.W1(1), u.W1(2)
    swap = (u.Assignment(a, b), u.Assignment(b, a))
    store = {a: m.Letter("a", u.D, u.D), b: m.Letter("b", u.D, u.D)}
    result = m.Letter("r", u.D, u.D)
    swapped, copied = (u.run(store, [block(swap)], result, a @ b) for block in (u.simultaneous, u.sequential))
    product_of = lambda program: difference(Program({result: store[b] @ store[a]}, result), program)
    assert product_of(swapped) is None
    assert str(product_of(copied)) == "b b instead of b a"


def test_a_rule_that_does_not_fit_is_refused():
    wrong = u.Assignment(u.W3(1), u.W2(1) @ u.W1(1))  # v2's Eq. (6)
    with pytest.raises(ShapeError, match=r"cannot assign B_1 A_1 \(F × D\) to W_\{1,3\} \(D × F\)"):
        u.execute("residual", 1, [u.simultaneous([wrong])])
    box_2_as_extracted = u.Assignment(u.W3(1), u.W1(2) @ u.b3(1) + u.b3(2))
    with pytest.raises(ShapeError, match="cannot assign"):
        u.execute("residual", 2, [u.simultaneous([box_2_as_extracted])])
