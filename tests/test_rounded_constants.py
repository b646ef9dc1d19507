"""A constant stands for every number that is rounded to it, whichever float type it was rounded to."""

from fractions import Fraction

import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from flint import arb

from uat_jax.arithmetic.rounded_constants import enclosure, half_unit

TYPES = {"bfloat16": ml_dtypes.bfloat16, "float16": np.float16, "float32": np.float32, "float64": np.float64}


@pytest.mark.parametrize("dtype", TYPES.values(), ids=TYPES)
def test_half_a_unit_covers_the_rounding(dtype):
    random = np.random.default_rng(0)
    for _ in range(500):
        meant = Fraction(int(random.integers(1, 10**6)), int(10 ** random.integers(3, 9)))
        held = float(np.asarray(float(meant)).astype(dtype))
        assert abs(Fraction(held) - meant) <= half_unit(held) + abs(meant) / 2**53  # rounded to float64 on the way


@pytest.mark.parametrize(("value", "radius"), [(0.1, 2.0**-57), (float(np.float32(0.1)), 2.0**-28), (5e-324, 2.0**-8)])
def test_half_a_unit_is_that_of_the_narrowest_type(value, radius):
    assert half_unit(value) <= radius
    assert half_unit(value) >= Fraction(radius) or value < 1e-300


ZERO = {
    "decimals": lambda x: 0.1 * x + 0.2 * x - 0.3 * x,
    "π": lambda x: jnp.sin(np.pi * x),
    "a captured array": lambda x: x * jnp.sum(jnp.asarray(np.full(3, 1 / 3))) - x,
    "rounded to float32 before": lambda x: float(np.float32(0.1)) * x - 0.1 * x,
    "inside a definition": lambda x: jnp.log2(x + x) - 1,
}


@pytest.mark.parametrize("function", ZERO.values(), ids=ZERO)
def test_what_rounded_constants_explain_is_not_told_from_zero(function):
    assert enclosure(function, np.float64(1)).item().contains(0)
    assert not enclosure(lambda x: function(x) + 2.0**-12 * x, np.float64(1)).item().contains(0)


@pytest.mark.parametrize("constant", [0.5, 3.0, 10.125, -(2.0**70)])
def test_short_numbers_are_meant_as_they_are_written(constant):
    assert enclosure(lambda x: constant * x, np.float64(1)).item() == arb(constant)
