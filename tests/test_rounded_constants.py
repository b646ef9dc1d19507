"""A constant of a denial stands for every number that is rounded to it in its own dtype."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb

from uat_jax.interpret.recognition import Reading
from uat_jax.numbers.balls.balls import enclose, enclose_readings, enclosure, exact_balls, reads_one_way

ZERO = {
    "decimals": lambda x: 0.1 * x + 0.2 * x - 0.3 * x,
    "π": lambda x: jnp.sin(np.pi * x),
    "a captured array": lambda x: x * jnp.sum(jnp.asarray(np.full(3, 1 / 3))) - x,
    "a float32 constant": lambda x: (np.float32(0.1) * x.astype(jnp.float32)).astype(x.dtype) - 0.1 * x,
    "inside a definition": lambda x: jnp.log2(x + x) - 1,
}


@pytest.mark.parametrize("function", ZERO.values(), ids=ZERO)
def test_what_rounded_constants_explain_is_not_told_from_zero(function):
    assert enclosure(function, np.float64(1)).item().contains(0)
    assert not enclosure(lambda x: function(x) + 2.0**-12 * x, np.float64(1)).item().contains(0)


@pytest.mark.parametrize("constant", [0.5, 3.0, 10.125, -(2.0**70)])
def test_short_numbers_are_meant_as_they_are_written(constant):
    assert enclosure(lambda x: constant * x, np.float64(1)).item() == arb(constant)


ONE_WAY = {
    "no constant": lambda x: x @ x,
    "short constants": lambda x: jnp.maximum(0.5 * x - 3, 0) + 10.125,
    "a captured array": lambda x: x * np.array([1, -0.25, 2], np.float32),
    "infinities": lambda x: jnp.max(jnp.where(x > 0, x, -jnp.inf)),
    "a branch": lambda x: jax.lax.cond(x[0] > 2, lambda x: 2 * x, lambda x: x, x),
}
SEVERAL_WAYS = {
    "a decimal": lambda x: 0.1 * x,
    "a captured array": lambda x: x * np.array([1, 1 / 3, 2], np.float32),
    "in a function": lambda x: jax.jit(lambda x: x + 0.7)(x),
    "in a branch": lambda x: jax.lax.cond(x[0] > 2, lambda x: 0.3 * x, lambda x: x, x),
    "in a loop": lambda x: jax.lax.fori_loop(0, 3, lambda i, x: 0.3 * x, x),
    "as a result": lambda x: (x, jnp.float32(0.1))[1] + 0 * x,
    "a mask": lambda x: jnp.max(jnp.where(x > 0, x, -1e30)),
    "NaN": lambda x: jnp.where(x > 0, x, jnp.nan),
    "perhaps in a definition": lambda x: jnp.cumsum(x),
    "the float next to a short one": lambda x: np.nextafter(np.float32(1), np.float32(2)) * x,
}
POINT = np.array([1.5, -2.0, 0.75], np.float32)


@pytest.mark.parametrize("function", ONE_WAY.values(), ids=ONE_WAY)
@pytest.mark.parametrize("reading", [Reading.ROUNDED, Reading.MEANT, Reading.WRITTEN])
def test_what_reads_one_way_is_the_same_in_each_reading(function, reading):
    program = jax.make_jaxpr(function)(POINT)
    assert reads_one_way(program)
    (written,), (other,) = (
        enclose(program, [exact_balls(POINT)]),
        enclose_readings(program, [exact_balls(POINT)], reading=reading),
    )
    assert all(a.is_exact() and a == b for a, b in zip(written.ravel(), other.ravel(), strict=True))


@pytest.mark.parametrize("function", SEVERAL_WAYS.values(), ids=SEVERAL_WAYS)
def test_what_may_be_read_in_several_ways_does_not_read_one_way(function):
    assert not reads_one_way(jax.make_jaxpr(function)(POINT))
