"""Symbolic sizes are also tried beyond the numbers that functions compare them with."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide.thresholds import FARTHEST, thresholds

(N,) = jax.export.symbolic_shape("n")
ROW = jax.ShapeDtypeStruct((N,), np.float32)
places = lambda x: jnp.arange(x.shape[0], dtype=np.int32)
numbers = lambda whole: whole.astype(np.float32)


def window(k, x):
    return jnp.cumprod(jnp.where(places(x) < k, x, np.float32(1)))[-1]


DIFFERENT = {
    "a slice": (lambda x: jnp.sort(x[:37]).sum(), lambda x: jnp.sort(x).sum()),
    "a mask by a comparison": (lambda x: window(50, x), lambda x: jnp.cumprod(x)[-1]),
    "places up to a number, itself included": (
        lambda x: jnp.cumsum(jnp.sin(x * numbers(jnp.minimum(places(x), 40)))),
        lambda x: jnp.cumsum(jnp.sin(x * numbers(places(x)))),
    ),
    "two slices one after the other": (
        lambda x: jnp.sort(x).sum(),
        lambda x: jnp.sort(x).sum() + jnp.sin(x[25:][25:]).sum(),
    ),
    "a float": (lambda x: jnp.sort(jnp.where(numbers(places(x)) < 60.0, x, np.float32(2))), jnp.sort),
}


@pytest.mark.parametrize("name", one_in(2, DIFFERENT))
def test_what_differs_at_large_sizes_only_is_refuted(name):
    found = uj.certify(*DIFFERENT[name], ROW)
    assert found.verdict is uj.Verdict.REFUTED and found.counterexample is not None
    assert found.counterexample.sizes["n"] > 30


def test_what_is_equal_agrees_at_those_sizes_too():
    found = uj.certify(lambda x: window(50, x), lambda x: -window(50, x) + 2 * window(50, x), ROW)
    assert found.passes or found.verdict is uj.Verdict.AGREES
    assert not found.counterexample


def test_numbers_that_are_found():
    body = lambda c, a: (c + jnp.where(a > 123, a, 45.5), None)
    f = lambda x: jax.lax.scan(body, x[:77].sum(), x[2:9])[0] + np.float32(FARTHEST + 1) * x.sum()
    program = jax.make_jaxpr(f)(jax.ShapeDtypeStruct((N + 9,), np.float32))
    assert {123, 77, 9} <= set(thresholds([program])) and max(thresholds([program])) <= FARTHEST
