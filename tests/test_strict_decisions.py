"""Decisions are shown to be between different numbers by an input at which they are, and by nothing less."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.scipy.special import gammaln

from uat_jax.decide.specification import programs_within
from uat_jax.decide.strict_decisions import undecided

X = jax.ShapeDtypeStruct((), jnp.float32)
DECISIONS = frozenset("eq ge gt le lt ne sign".split())

positive = jax.jit(lambda x: jnp.where(x > 0, x, -x))


def zero(x):
    """0 by an identity of log Γ, which ball arithmetic encloses and nothing knows."""
    y = jnp.exp(x)
    return gammaln(y + 1) - gammaln(y) - x


def larger(x):
    """Whether a number is larger than itself, both written in another way."""
    y = jnp.exp(x)
    return jnp.where(gammaln(y + 1) > gammaln(y) + x, x, -x)


def left_over(function):
    """How many decisions of a function no input shows to be between different numbers."""
    program = jax.make_jaxpr(function)(X)
    equations = {e for p in programs_within(program) for e in p.eqns if e.primitive.name in DECISIONS}
    assert equations
    return len(undecided([program], equations, 0, None))


@pytest.mark.parametrize(
    "function",
    [
        jnp.sign,
        positive,
        lambda x: jnp.sign(jnp.stack([x, x + 1])).sum(),
        lambda x: positive(x) + positive(x * x + 1),
        lambda x: jnp.where(jnp.exp(x) > x, x, -x),
        lambda x: jnp.where(0 * x + np.float32(0.1) * 3 > 1, x, -x),
    ],
    ids=["sign", "comparison", "two entries", "two calls", "two numbers", "constants"],
)
def test_one_input_shows_what_is_different(function):
    assert left_over(function) == 0


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.sign(zero(x)),
        lambda x: jnp.sign(x - x),
        larger,
        lambda x: jnp.where(x + 1 > 1 + x, x, -x),
        lambda x: jnp.sign(jnp.stack([x, x - x])).sum(),
        lambda x: positive(x) + positive(x - x),
        lambda x: jnp.sign(jnp.log(x - x)),
        lambda x: jnp.sign((x - x + np.float32(0.1)) * 3 - np.float32(0.3)),
        lambda x: jnp.sign(x) + jax.lax.igamma_grad_a(x, x),
    ],
    ids=[
        "zero",
        "plain zero",
        "equal numbers",
        "plain equal numbers",
        "one of two entries",
        "one of two calls",
        "infinity",
        "rounding",
        "unknown beyond",
    ],
)
def test_nothing_shows_what_may_be_equal(function):
    assert left_over(function) == 1
