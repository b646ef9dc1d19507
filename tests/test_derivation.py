"""The derived closed form is Theorem 1, layer by layer, and a mutant of any of its parameters is found and named."""

from dataclasses import replace

import numpy as np
import pytest
import sympy
from random_expressions import Evaluator, agree

from uat_jax.decide.programs import difference
from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form, derive, plain_network
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.normal_form import Normaliser
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm

KINDS = ("residual", "transformer")
DEPTHS = range(1, 8)


# --- the derivation holds --------------------------------------------------------------------------------


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_closed_form_holds(kind, depth):
    found = derive(kind, depth=depth)
    assert found.holds()
    assert found.holds(dynamic=True)


@pytest.mark.parametrize("heads", [1, 2, 3])
@pytest.mark.parametrize("depth", [1, 2, 3, 7])
def test_the_closed_form_holds_with_attention_written_out(heads, depth):
    assert derive("transformer", depth=depth, heads=heads).holds()


@pytest.mark.parametrize(("kind", "heads"), [("residual", None), ("transformer", None), ("transformer", 2)])
@pytest.mark.parametrize("depth", DEPTHS)
def test_every_step_holds_and_is_no_mere_repetition(kind, heads, depth):
    steps = derive(kind, depth=depth, heads=heads).steps
    assert len(steps) == depth * (3 if heads else 2)
    for step in steps:
        assert step.holds(), step.name
        assert step.left != step.right, step.name


def test_a_step_with_a_wrong_side_does_not_hold():
    for step in derive("transformer", depth=3).steps:
        assert not replace(step, right=-step.right).holds(), step.name


# --- Theorem 1, typed in from its statement --------------------------------------------------------------


def theorem_1(layers: Layers, depth: int) -> dict[m.Letter, m.Expression]:
    """P_j = A_j ⋯ A_1,  q_j = Σ_i A_j ⋯ A_{i+1} c_i,  W̃_k^{(j)} = A_j ⋯ A_{k+1} C_k, and what is made of them."""
    closed, x_0 = ClosedForm(layers), layers.x(0)
    inner = lambda j: layers.B(j) if layers.kind == "residual" else layers.B(j) @ layers.A(j)
    down = lambda j, i: [layers.A(a) for a in range(j, i, -1)]  # A_j ⋯ A_{i+1}
    P = lambda j: m.Product(m.Identity(layers.widths(j)), *down(j, 0))
    q = lambda j: m.Addition(
        m.Zero(layers.widths(j), 1), *(m.Product(*down(j, i), layers.c(i)) for i in range(1, j + 1))
    )
    W = lambda k, j: m.Product(*down(j, k), layers.C(k))
    found: dict[m.Letter, m.Expression] = {}
    for j in range(1, depth + 1):
        sigmas = [W(k, j - 1) @ found[closed.s(k)] for k in range(1, j)]
        before = m.Addition(q(j - 1), *sigmas)
        found |= {closed.W1(j): P(j), closed.b3(j): q(j)}  # type: ignore[dict-item]
        found |= {closed.W2(j): inner(j) @ P(j - 1), closed.b2(j): inner(j) @ before + layers.b(j)}
        found[closed.s(j)] = m.Activation(inner(j) @ P(j - 1) @ x_0 + inner(j) @ before + layers.b(j))
        found |= {closed.W3(k, j): W(k, j) for k in range(1, j + 1)}
    total = [W(k, depth) @ found[closed.s(k)] for k in range(1, depth + 1)]
    return found | {layers.x(depth): m.Addition(P(depth) @ x_0, q(depth), *total)}


@pytest.mark.parametrize("depth", DEPTHS)
@pytest.mark.parametrize("kind", KINDS)
def test_the_derived_parameters_are_those_of_theorem_1(kind, depth):
    program = derive(kind, depth=depth).parameters
    stated = theorem_1(Layers(kind), depth)
    assert set(program) == set(stated)
    unfold = Normaliser(program.lines)
    for letter, value in stated.items():
        assert unfold.equal(letter, value), letter
        assert not unfold.equal(letter, m.Addition(value, value)), letter


def test_the_two_kinds_of_network_are_not_the_same():
    residual, transformer = (theorem_1(u.square_layers(kind), 2)[u.square_layers(kind).x(2)] for kind in KINDS)
    assert not Normaliser().equal(residual, transformer)


# --- programs --------------------------------------------------------------------------------------------

x0, x1, x2 = (Layers("residual").x(j) for j in range(3))


def test_a_program_refuses_lines_that_use_later_letters():
    D1, D2 = x1.shape[0], x2.shape[0]
    M = m.Letter("M", D1, D2)
    with pytest.raises(InputError, match="the line of x_1 uses x_2, which is defined later or by itself"):
        Program({x1: M @ x2, x2: M.T @ x1}, x2)
    with pytest.raises(InputError, match="the line of x_1 uses x_1"):
        Program({x1: x1 + M @ x2}, x1)
    in_function = m.Dependent(M, x1) @ x2
    with pytest.raises(InputError, match="the line of x_1 uses x_1"):
        Program({x1: in_function}, x1)
    assert Program({x1: M @ x2}, x1).inputs == (M, x2)


BAD_INPUT = [
    ({"depth": 0}, "depth 0 is not possible"),
    ({"depth": -1}, "depth -1 is not possible"),
    ({"depth": True}, "depth True is not possible"),
    ({"depth": 2.5}, "depth 2.5 is not possible"),
    ({"depth": "2"}, "depth '2' is not possible"),
    ({"kind": "recurrent"}, "unknown kind of network 'recurrent'; wanted one of residual, transformer"),
    ({"heads": 2}, "heads=2 does not fit; wanted a positive number and kind 'transformer'"),
    ({"kind": "transformer", "heads": 0}, "heads=0 does not fit"),
    ({"kind": "transformer", "heads": -1}, "heads=-1 does not fit"),
    ({"kind": "transformer", "heads": True}, "heads=True does not fit"),
    ({"kind": "transformer", "heads": 1.5}, "heads=1.5 does not fit"),
]


@pytest.mark.parametrize(("wrong", "said"), BAD_INPUT, ids=[said for _, said in BAD_INPUT])
def test_bad_input_is_refused(wrong, said):
    with pytest.raises(InputError, match=said):
        derive(**({"kind": "residual", "depth": 2} | wrong))


# --- mutants ---------------------------------------------------------------------------------------------

L = 3


def _letters(kind):
    return u.square_layers(kind), ClosedForm(u.square_layers(kind))


def _without(letter):
    """The mutation that puts zero for a letter."""
    return lambda e: m.replace_letters(e, lambda l, _: m.Zero(*l.shape) if l == letter else None)


def _instead(old, new):
    return lambda e: m.replace_letters(e, lambda l, _: new if l == old else None)


def mutants(kind):
    """name → (the line it changes, how, the word that must be blamed)."""
    layers, closed = _letters(kind)
    A, B, C, b, c = layers.parameters(3)
    W1, W2, b2, b3, W3 = closed.W1, closed.W2, closed.b2, closed.b3, closed.W3
    P, before = "A_2 A_1", "A_2 c_1"
    inner = "B_3" if kind == "residual" else "B_3 A_3"
    return {
        "sign of Ŵ_{3,1}": (W1(3), lambda e: -e, f"-A_3 {P} x_0 instead of A_3 {P} x_0"),
        "index of Ŵ_{3,1}": (W1(3), _instead(W1(2), W1(1)), f"A_3 A_1 x_0 instead of A_3 {P} x_0"),
        "transpose in Ŵ_{3,1}": (W1(3), _instead(A, A.T), f"A_3ᵀ {P} x_0 instead of A_3 {P} x_0"),
        "sign of c in b̂_{3,3}": (b3(3), _instead(c, -c), "-c_3 instead of c_3"),
        "term of b̂_{3,3}": (b3(3), _without(b3(2)), f"nothing instead of A_3 {before}"),
        "index of c in b̂_{3,3}": (b3(3), _instead(c, layers.c(2)), "c_2 instead of nothing"),
        "sign of Ŵ_{3,2}": (W2(3), lambda e: -e, f"-{inner} {P} x_0 instead of {inner} {P} x_0"),
        "index of Ŵ_{3,2}": (W2(3), _instead(W1(2), W1(1)), f"{inner} A_1 x_0 instead of {inner} {P} x_0"),
        "transpose in Ŵ_{3,2}": (
            W2(3),
            _instead(W1(2), W1(2).T),
            f"{inner} A_1ᵀ A_2ᵀ x_0 instead of {inner} {P} x_0",
        ),
        "term of b̂_{3,2}": (b2(3), _without(b), "nothing instead of b_3"),
        "sign in b̂_{3,2}": (b2(3), _instead(b, -b), "-b_3 instead of b_3"),
        "bias of b̂_{3,2}": (b2(3), _instead(b3(2), layers.c(2)), f"nothing instead of {inner} {before}"),
        "version in b̂_{3,2}": (b2(3), _instead(W3(1, 2), W3(1, 3)), f"{inner} A_3 A_2 C_1 σ("),
        "dropped σ in b̂_{3,2}": (b2(3), _without(closed.s(1)), f"nothing instead of {inner} A_2 C_1 σ("),
        "version of Ŵ_{1,3}": (W3(1, 3), lambda e: W3(1, 2), "A_2 C_1 σ("),
        "transpose in Ŵ_{1,3}": (W3(1, 3), _instead(A, A.T), "A_3ᵀ A_2 C_1 σ("),
        "sign of Ŵ_{2,3}": (W3(2, 3), lambda e: -e, "-A_3 C_2 σ("),
        "index of Ŵ_{3,3}": (W3(3, 3), _instead(C, layers.C(2)), "C_2 σ("),
    }


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", mutants("residual"))
def test_a_mutant_is_found_and_its_word_is_named(kind, name):
    layers, closed = _letters(kind)
    letter, change, blamed = mutants(kind)[name]
    right = closed_form(layers, L)
    wrong = _changed(right, letter, change)
    found = difference(plain_network(layers, L), wrong)
    assert difference(plain_network(layers, L), right) is None
    assert found is not None
    assert str(found).startswith(blamed), found
    in_sigma = letter in (closed.W2(3), closed.b2(3))
    assert found.where.startswith("the argument of C_3 σ(") if in_sigma else found.where == "", found


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", mutants("residual"))
def test_a_mutant_has_other_values(kind, name):
    """Every mutant is a different function: none is found by mistake."""
    layers, _ = _letters(kind)
    letter, change, _ = mutants(kind)[name]
    right = closed_form(layers, L)
    at = lambda program: Evaluator({u.D: 3, u.F: 2}).program(program)
    assert agree(at(plain_network(layers, L)), at(right))
    assert not agree(at(plain_network(layers, L)), at(_changed(right, letter, change)))


def _changed(program: Program, letter, change) -> Program:
    """The program with one line changed; lines that depend on no σ come first, so that any version can be used."""
    lines = {**program.lines, letter: change(program.lines[letter])}
    late = [l for l in lines if l.name in ("s", "x") or l.name == "b̂" and l.subscripts[1] == 2]
    return Program({l: lines[l] for l in (*(l for l in lines if l not in late), *late)}, program.result)


@pytest.mark.parametrize(("kind", "heads"), [("residual", None), ("transformer", None), ("transformer", 1)])
def test_the_program_has_the_value_of_the_network(kind, heads):
    """In numbers, the widths being 1, 2, 3, 1."""
    found = derive(kind, depth=3, heads=heads)
    plain, closed = (Evaluator({m.dimension("N"): 2}).program(p) for p in (found.network, found.parameters))
    assert np.any(plain.value)
    assert agree(plain, closed)
    (b3,) = (letter for letter in found.parameters if letter == found.closed.b3(3))
    tiny = m.Scaled(sympy.Rational(1, 10**9), found.parameters[b3])
    moved = Program({**found.parameters.lines, b3: found.parameters[b3] + tiny}, found.parameters.result)
    assert not agree(plain, Evaluator({m.dimension("N"): 2}).program(moved))
