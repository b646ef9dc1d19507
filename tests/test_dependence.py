"""What depends on the input: the tools tell both ways apart, and every cell of the table fails with the other word."""

import jax.numpy as jnp
import pytest
from excerpt import one_in

from uat_jax.decide import dependence
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.decision import decide
from uat_jax.decide.opposite import opposite
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import InputError, ShapeError
from uat_jax.ledger.layers import dynamic_parameters
from uat_jax.ledger.layers.dependence import (
    CLAIMS,
    DEPTH,
    DYNAMIC,
    STATIC,
    TABLE,
    cell,
    moves,
    one_token,
    parameters,
    said,
    shared_bias,
    stays,
    tokens,
)
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Attention

SYMBOLIC = Settings(dtypes=())
T, F, UNKNOWN = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN

# Typed in from the ledger of claims (G18, G7, G21, F2, F3), independently of the package.
LEDGER = {
    **{f"dependence.{network}.{parameter}": T
       for network in ("transformer", "residual-attention")
       for parameter in ("w1", "w2", "w3", "b3", "b3-by-position", "b2")},
    **{f"dependence.residual.{parameter}": T for parameter in ("w1", "w2", "w3", "b3", "b2")},
    "dependence.perceptron.b2": T,
    "dependence.printed.listed": T, "dependence.printed.complete": F, "dependence.printed.no-b3": F,
    "dependence.printed.no-b3-shared": T, "dependence.b3-with-norms": T,
    "dependence.v2.whole-network": T, "dependence.v2.complete": F, "dependence.v2.first-layers": F,
    "dependence.one-token": F,
    "known-after-training.residual": T, "known-after-training.transformer": F, "vit-vs-cnn": T,
    "perceptron.closed-form": T, "residual-makes-biases-dynamic": F, "perceptron.not-duat": F,
    "attention-makes-weights-dynamic": T, "nested-bias.is-duat": T,
}  # fmt: skip
ROWS = {claim.id: claim for claim in (*CLAIMS, *dynamic_parameters.CLAIMS)}

# The table of G18 once more, by letters for j = 1, 2, 3: s static, d dynamic.
EXPECTED = {
    "transformer": {"W1": "ddd", "W2": "ddd", "W3": "dds", "b3": "sss", "b3-by-position": "sdd", "b2": "sdd"},
    "residual-attention": {"W1": "ddd", "W2": "ddd", "W3": "dds", "b3": "sss", "b3-by-position": "sdd", "b2": "sdd"},
    "residual": {"W1": "sss", "W2": "sss", "W3": "sss", "b3": "sss", "b2": "sdd"},
    "perceptron": {"b2": "sdd"},
}
CELLS = [
    (n, p, j)
    for n, row in EXPECTED.items()
    for p, word in row.items()
    for j in (1, 2, DEPTH)
    if word[j - 1] == "s" or j < DEPTH
]
"""Those that move at j = 3 are left out: three attentions inside each other take seconds to compare."""


def test_the_rows_are_these():
    assert list(ROWS) == list(LEDGER)
    assert {
        n: {p: "".join(word[0] for word in cells) for p, cells in row.items()} for n, row in TABLE.items()
    } == EXPECTED


@pytest.mark.parametrize("name", one_in(2, LEDGER))
def test_verdict(name):
    certificate = decide(ROWS[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name] == ROWS[name].expects
    assert certificate.passes


@pytest.mark.parametrize("name", [name for name, claim in ROWS.items() if claim.correction])
def test_corrections_are_proved(name):
    assert decide(ROWS[ROWS[name].correction], SYMBOLIC).verdict == T


@pytest.mark.parametrize("network, parameter, j", one_in(4, CELLS))
def test_no_cell_holds_with_the_other_word(network, parameter, j):
    """A dynamic parameter is not found static, a static one not dynamic."""
    assert combine(cell(network, parameter, j)) == T
    if TABLE[network][parameter][j - 1] == DYNAMIC:
        assert combine(stays(network, parameter, j)) == UNKNOWN
    else:
        assert moves(network, parameter, j).verdict == UNKNOWN


@pytest.mark.parametrize("network, parameter, j", CELLS)
def test_what_is_said_is_decided_either_way(network, parameter, j):
    """One word is proved, the other refuted: a list with a wrong word in it cannot be proved."""
    right = TABLE[network][parameter][j - 1]
    wrong = STATIC if right == DYNAMIC else DYNAMIC
    place = network, parameter, j
    assert combine(said(right, place)(SYMBOLIC)) == T
    assert combine(said(wrong, place)(SYMBOLIC)) == F


def test_one_wrong_word_among_right_ones_is_not_proved():
    places = [("transformer", "W3", 1), ("transformer", "W3", 2)]
    assert combine(said(DYNAMIC, *places)(SYMBOLIC)) == T
    assert combine(said(DYNAMIC, *places, ("transformer", "W3", DEPTH))(SYMBOLIC)) == F
    assert combine(said(STATIC, *places)(SYMBOLIC)) == F


# --- the tools -------------------------------------------------------------------------------------------------------

D, E = m.dimension("D"), m.dimension("E")
A, B, x, h = m.Letter("A", D, D), m.Letter("B", D, D), m.Letter("x", D, 1), m.Letter("h", D, 1)

STANDING = {
    "a letter": (A, {}),
    "x - x": (A @ (x - x) + h, {}),
    "behind a definition": (A @ h, {h: B @ x - B @ x}),
    "a product with 0": (m.Zero(D, D) @ x, {}),
}
MOVING = {
    "x": (x, {}),
    "inside an activation": (m.Activation(A @ x), {}),
    "as a dynamic parameter": (m.Dependent(A, x), {}),
    "behind a definition": (A @ h, {h: m.Activation(x)}),
    "behind two definitions": (B @ h, {h: A @ m.Letter("g", D, 1), m.Letter("g", D, 1): x}),
    "in one term of two": (A @ h + B @ x, {}),
    "in a softmax": (m.RowSoftmax(x @ x.T), {}),
}


@pytest.mark.parametrize("name", STANDING)
def test_static_is_proved(name):
    parameter, where = STANDING[name]
    if name == "a product with 0":
        parameter = parameter + h
    assert combine(dependence.static(parameter, x, what=name, where=where)) == T


@pytest.mark.parametrize("name", MOVING)
def test_what_moves_is_not_found_static(name):
    parameter, where = MOVING[name]
    assert combine(dependence.static(parameter, x, what=name, where=where)) == UNKNOWN


def test_an_input_cannot_hide_behind_the_index_of_a_sum():
    """Σ_k x_k contains x_1; Σ_{k=1}^{2} is written out, and a letter of another family is none."""
    k, n = m.dimension("k"), m.dimension("n")
    of = lambda name, *subscripts: m.Letter(name, D, 1, subscripts)
    with pytest.raises(InputError, match="may be the input x_1"):
        list(dependence.static(m.RangeSum(of("x", k), k, 1, n), of("x", 1), what="hidden"))
    assert combine(dependence.static(m.RangeSum(of("x", k), k, 1, 2), of("x", 1), what="written out")) == UNKNOWN
    assert combine(dependence.static(m.RangeSum(of("x", k), k, 1, n), of("x", k), what="named")) == UNKNOWN
    assert combine(dependence.static(m.RangeSum(of("y", k), k, 1, n), of("x", 1), what="another")) == T
    assert combine(dependence.static(m.RangeSum(of("x", k, 2), k, 1, n), of("x", 1, 1), what="another place")) == T


def test_an_input_cannot_hide_behind_a_definition_or_a_symbol():
    k, n = m.dimension("k"), m.dimension("n")
    of = lambda name, *subscripts: m.Letter(name, D, 1, subscripts)
    hidden = m.RangeSum(of("a", k), k, 1, n)
    for where in ({of("a", 1): x}, {of("a", n): x}):
        with pytest.raises(InputError, match="may be the defined letter"):
            list(dependence.static(hidden, x, what="a_1 = x", where=where))
    with pytest.raises(InputError, match="may be the input x_1"):
        list(dependence.static(of("x", n), of("x", 1), what="n may be 1"))
    assert combine(dependence.static(of("x", n - 1), of("x", n), what="never the same")) == T


def test_definitions_have_the_shape_of_their_letter_and_end():
    a, b = m.Letter("a", D, 1), m.Letter("b", D, 1)
    with pytest.raises(ShapeError, match="a and its definition"):
        list(dependence.static(a, x, what="shape", where={a: m.Letter("W", D, D)}))
    with pytest.raises(InputError, match="contains that letter again"):
        list(dependence.static(a, x, what="circle", where={a: b, b: a}))


@pytest.mark.parametrize("argument", [(), m.Identity(2), (m.Identity(2),)])
def test_the_input_is_a_letter(argument):
    with pytest.raises(InputError, match="wanted a letter"):
        list(dependence.static(x, argument, what="no input"))


@pytest.mark.parametrize(
    "inputs", [([1.0], [1.0, 2.0]), ([1.0], [float("nan")]), ([1], [10**400]), ([1], [2], [3]), (["a"], [1])]
)
def test_dynamic_wants_two_inputs_of_one_shape(inputs):
    with pytest.raises(InputError):
        dependence.dynamic(lambda v: v.sum(), inputs, what="sum")


def test_what_is_not_finite_separates_nothing():
    assert dependence.dynamic(jnp.log, ([0], [1]), what="log").verdict == UNKNOWN


@pytest.mark.parametrize("residual", [False, True])
def test_a_shared_bias_is_static_and_one_by_position_is_not(residual):
    """H_i 1 = 1 is needed: with another column in the place of 1 the bias moves."""
    parameter, X = shared_bias(2, residual=residual), tokens(2)
    assert combine(dependence.static(parameter, X, what="shared")) == T
    N, column = m.dimension("N"), m.Letter("p", m.dimension("N"), 1)
    one = {m.Ones(N, 1): column}
    assert combine(dependence.static(parameter.renamed(one), X, what="by position")) == UNKNOWN


def test_one_token_is_static_and_two_are_not():
    of, N = Attention(2), m.dimension("N")
    assert combine(dependence.static(one_token(2), tokens(2).renamed({N: 1}), what="N = 1")) == T
    assert combine(dependence.static(of.matrix(1, tokens(2)), tokens(2), what="any N")) == UNKNOWN


def test_dynamic_needs_two_inputs_that_separate():
    square = lambda v: v * v
    assert dependence.dynamic(square, ([1.0], [2.0]), what="x²").verdict == T
    assert dependence.dynamic(square, ([1.0], [1.0]), what="one input").verdict == UNKNOWN
    assert dependence.dynamic(square, ([1.0], [-1.0]), what="the same value").verdict == UNKNOWN
    assert dependence.dynamic(jnp.ones_like, ([1.0], [2.0]), what="a constant").verdict == UNKNOWN


def test_dynamic_sees_what_float64_does_not():
    """(x + 2^60) − 2^60 is x; in float64 it is 0 for both inputs."""
    lost = lambda v: (v + 2.0**60) - 2.0**60
    found = dependence.dynamic(lost, ([1.0], [2.0]), what="absorbed")
    assert found.verdict == T
    assert found.example is not None
    assert found.example.exact[0].startswith("1.0")


def test_the_witness_names_both_inputs_and_the_largest_difference():
    found = dependence.dynamic(lambda v: jnp.stack([v[0], 3 * v[0]]), ([1.0], [2.0]), what="p", at={"σ": "relu"})
    witness = found.example
    assert witness is not None
    assert (witness.values["x"], witness.values["x̃"], witness.values["σ"]) == ([1.0], [2.0], "relu")
    assert (witness.left, witness.right) == ("3", "6")
    assert "entry (2)" in found.finding


EXAMPLE = Counterexample((), 0, 1, ("0", "1"))


def test_the_opposite_turns_a_proof_round_and_nothing_else():
    given = [Evidence(Method.DEPENDENCE, "f", verdict, example=EXAMPLE) for verdict in (T, Verdict.CERTIFIED)]
    assert [e.verdict for e in opposite(given)] == [F, Verdict.AGREES]  # what repeats the proof is beside it
    assert all(e.example == EXAMPLE for e in opposite(given))
    for verdict in (UNKNOWN, Verdict.AGREES):
        assert [e.verdict for e in opposite([Evidence(Method.DEPENDENCE, "f", verdict)])] == [UNKNOWN]


def test_a_parameter_can_be_a_function_of_another_letter():
    of = parameters("residual")
    later, s = of.letter("b2", 3), of.closed.s(1)
    assert dependence.dynamic(of.function(later, s), ([[0.0]], [[1.0]]), what="b_32 of s_1").verdict == T
    first = of.letter("b2", 1)
    assert dependence.dynamic(of.function(first, s), ([[0.0]], [[1.0]]), what="b_12 of s_1").verdict == UNKNOWN
