"""The cases of residual networks compute what they say, as often as they say, and refuse wrong answers."""

from functools import cache

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.bench import residual
from uat_jax.bench.case import Experiment, WrongAnswerError
from uat_jax.bench.cases import compile_time, depth_scan, residual_forms
from uat_jax.bench.products import products
from uat_jax.symbolic import language as m

CASES = {case.name: case for module in (residual_forms, compile_time, depth_scan) for case in module.CASES}


@cache
def built(name: str) -> tuple[Experiment, dict]:
    """The experiment of a case's quick size, and every program's answer."""
    experiment = CASES[name].build(**CASES[name].quick[0])
    return experiment, {p: jax.jit(way.function)(*way.arguments) for p, way in experiment.programs.items()}


TWINS = {
    "NaN": lambda answer: jax.tree.map(lambda a: a.at[-1].set(jnp.nan), answer),
    "one input": lambda answer: jax.tree.map(lambda a: a[:, :1], answer),
    "zero": lambda answer: jax.tree.map(jnp.zeros_like, answer),
    "transposed": lambda answer: jax.tree.map(lambda a: a[..., ::-1, :], answer),
}


@pytest.mark.parametrize("name", one_in(2, CASES))
def test_right_answers_are_accepted_and_wrong_ones_refused(name):
    experiment, answers = built(name)
    for program, answer in answers.items():
        experiment.check(program, answer)
        for twin in (experiment.wrong, *TWINS.values()):
            with pytest.raises(WrongAnswerError, match=f"{program}: "):
                experiment.check(program, twin(answer))


@pytest.mark.parametrize("name", CASES)
def test_operations_are_those_of_the_programs(name):
    """All products of the trace."""
    experiment, _ = built(name)
    for program, way in experiment.programs.items():
        found = sum(p.operations for p in products(jax.make_jaxpr(way.function)(*way.arguments)))
        assert way.operations in (found, None), program


def test_the_tree_is_evaluated_as_a_tree():
    """XLA keeps the products of every mention: without arguments of their own it would not."""
    depth, (D, F, n) = 3, (8, 32, 4)
    experiment = residual_forms.build(depth, D, F, n, "float32")
    tree = experiment.programs["tree"]
    own = jax.jit(tree.function).lower(*tree.arguments).compile()
    same = jax.jit(lambda hatted, copies: tree.function(hatted, jnp.stack([copies[0]] * len(copies))))
    shared = same.lower(*tree.arguments).compile()
    assert flops(own) >= (tree.operations or 0) > flops(shared)
    assert len(tree.arguments[1]) == 2**depth


def flops(compiled) -> float:
    return compiled.cost_analysis()["flops"]


def test_the_tree_is_the_closed_form_written_out():
    derivation = uj.derive("residual", depth=3)
    lines, mentions = residual_forms.written_out(derivation.parameters, derivation.layers.x(0))
    nested = lines[lines.result]
    activations = [part for part in _parts(nested) if isinstance(part, m.Activation)]
    assert len(activations) == 2**3 - 1 and len(mentions) == len(set(mentions)) == 2**3


def _parts(e: m.Expression):
    yield e
    for operand in e.operands:
        yield from _parts(operand)


@pytest.mark.parametrize("depth", one_in(3, range(1, 20)))
def test_compositions_of_a_scan_in_rounds(depth):
    calls = []
    add = lambda a, b: calls.append(len(a)) or a + b
    found = jax.lax.associative_scan(add, jnp.ones(depth))
    assert sum(calls) == residual.compositions(depth) and found[-1] == depth


@pytest.mark.parametrize("each", [False, True], ids=["one set", "every input its own"])
def test_the_layers_have_the_norms_that_the_tolerance_rests_on(each):
    of = residual.draw(3, 8, 32, 5, "float32", each=each)
    norms = {"A_j": 1 / 2, "B_j": 1, "C_j": 1 / 4}
    slack = 1e-5  # rounded to float32: 32 terms of 2⁻²⁴ each
    for name, norm in norms.items():
        assert np.all(np.abs(of.weights[name]).sum(axis=-1) <= norm * (1 + slack))
    biases = np.abs(np.concatenate([np.ravel(of.weights[name]) for name in ("b_j", "c_j")]))
    assert np.all((biases >= 1 / 4 - slack) & (biases <= 1 / 2 + slack))
    assert np.all(np.abs(of.inputs) <= 1) and np.all(np.abs(of.exact) <= 5 / 2)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_the_tolerance_tells_a_missing_bias_from_rounding(dtype):
    assert 2 * residual.tolerance(2048, dtype) < 1 / 2
