"""A constant of a denial stands for every number that is rounded to it in its own dtype."""

import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb

from uat_jax.arithmetic.balls import enclosure

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
