"""Conditionals that the input decides are compared as selections, with the branch that is not taken left out."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax
from jax.extend.core import jaxpr_as_fun

import uat_jax as uj
from uat_jax.decide.conditionals import without_conditionals

S, V = jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.float32)


def cond(predicate: Any, then: Callable, otherwise: Callable, x: Any) -> Any:
    return lax.cond(predicate, then, otherwise, x)


@dataclass(frozen=True)
class Row:
    """left is right, and not twin."""

    name: str
    left: Callable
    right: Callable
    twin: Callable
    spec: Any = S


ROWS = (
    Row(
        "magnitude",
        lambda x: cond(x > 0, lambda x: x, lambda x: -x, x),
        jnp.abs,
        lambda x: cond(x > 0, lambda x: -x, lambda x: x, x),
    ),
    Row(
        "a tie",
        lambda x: cond(x > 0, lambda x: 1 + x, lambda x: x, x),
        lambda x: jnp.where(x > 0, 1 + x, x),
        lambda x: jnp.where(x >= 0, 1 + x, x),
    ),
    Row(
        "a switch of two branches",
        lambda x: lax.switch((x > 0).astype(int), [lambda x: 0 * x, lambda x: x], x),
        jax.nn.relu,
        lambda x: lax.switch((x > 0).astype(int), [lambda x: 0 * x, lambda x: 2 * x], x),
    ),
    Row(
        "a branch that is undefined elsewhere",
        lambda x: cond(x > 0, jnp.log, lambda x: 0 * x, x),
        lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1.0)), 0.0),
        lambda x: cond(x > 0, lambda x: 2 * jnp.log(x), lambda x: 0 * x, x),
    ),
    Row(
        "one in another",
        lambda x: cond(
            x > 0, lambda x: cond(x > 1, lambda x: jnp.ones_like(x), lambda x: x, x), lambda x: jnp.zeros_like(x), x
        ),
        lambda x: jnp.clip(x, 0, 1),
        lambda x: jnp.clip(x, 0, 2),
    ),
    Row(
        "a derivative",
        jax.grad(lambda x: cond(x > 0, lambda x: x * x, lambda x: -x * x, x)),
        lambda x: 2 * jnp.abs(x),
        lambda x: 2 * x,
    ),
    Row(
        "of arrays, in a jitted function",
        jax.jit(lambda x: cond(x.sum() > 0, lambda x: x, lambda x: -x, x)),
        lambda x: jnp.where(x.sum() > 0, x, -x),
        lambda x: jnp.where(x[0] > 0, x, -x),
        V,
    ),
    Row(
        "a counter, which stays as it is",
        lambda x: lax.fori_loop(0, 3, lambda i, c: cond(i == 1, lambda c: c * 2, lambda c: c + 1, c), x),
        lambda x: (x + 1) * 2 + 1,
        lambda x: (x + 1) * 2 + 2,
    ),
)

every_row = pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)


@every_row
def test_a_conditional_is_certified_against_what_it_is(row):
    found = uj.certify(row.left, row.right, row.spec)
    assert found.passes, found.evidence[-1]


@every_row
def test_its_twin_is_refuted(row):
    assert uj.certify(row.left, row.twin, row.spec).verdict is uj.Verdict.REFUTED


@every_row
def test_the_rewritten_program_computes_the_same_numbers(row):
    program = jax.make_jaxpr(row.left)(np.zeros(row.spec.shape, np.float32))
    rewritten = without_conditionals(program)
    assert ("cond[" in str(rewritten)) == ("stays as it is" in row.name)
    for x in np.random.default_rng(0).standard_normal((8, *row.spec.shape)).astype(np.float32):
        sides = [jaxpr_as_fun(p)(x)[0] for p in (program, rewritten)]
        np.testing.assert_array_equal(*sides)  # the same operations: no rounding apart


def test_what_nan_decides_is_not_certified():
    one = lambda x: cond(jnp.log(x) > 0, lambda x: 1 + x, lambda x: x, x)
    other = lambda x: cond(jnp.log(x) <= 0, lambda x: x, lambda x: 1 + x, x)
    assert not uj.certify(one, other, S).passes  # at -1, one gives -1 and the other gives 0
    assert uj.certify(one, other, uj.positive(S)).passes


def test_a_program_without_conditionals_is_itself():
    program = jax.make_jaxpr(jnp.sin)(np.float32(1))
    assert without_conditionals(program) is program
