"""From any input one coordinate is moved to where a decision is between equal numbers, or a number is at a jump."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax.decide.tie_points import tie_points

BASE = np.array([0.25, 1.75])


def found(function):
    """The points that are found from `BASE`."""
    program = jax.make_jaxpr(function)(jax.ShapeDtypeStruct((2,), jnp.float64))
    return tie_points([program], lambda points: [points], BASE, np.random.default_rng(0), None).tolist()


@pytest.mark.parametrize(
    "function, tie",
    [
        (lambda x: jnp.sign(x[0] - 3), [3, 1.75]),
        (lambda x: jnp.where(x[0] > 3, x[0], x[1]), [3, 1.75]),
        (lambda x: jnp.where(x[0] <= 2 * x[1], x[0], x[1]), [3.5, 1.75]),
        (lambda x: jnp.where(x[0] <= 2 * x[1], x[0], x[1]), [0.25, 0.125]),
        (lambda x: jnp.where(x[0] == x[1], x[0], x[1]), [0.25, 0.25]),
        (lambda x: jnp.floor(4 * x[1]), [0.25, 1.75]),
        (lambda x: jnp.floor(x[1] + 0.125), [0.25, 1.875]),
        (lambda x: jnp.ceil(x[1] + 0.125), [0.25, 1.875]),
        (lambda x: jnp.round(x[0]), [0.5, 1.75]),
        (lambda x: x[0].astype(jnp.int32).astype(jnp.float64) * x[1], [0, 1.75]),
        (lambda x: jnp.isnan(x[1] / (x[0] - 3)), [3, 1.75]),
        (lambda x: jnp.isfinite(x[1] % (x[0] - 2 * x[1])), [0.25, 0.125]),
    ],
)
def test_a_tie_is_found(function, tie):
    with jax.enable_x64(True):
        assert tie in found(function)


@pytest.mark.parametrize(
    "function", [jnp.sum, lambda x: jnp.where(x[0] > x[0] + 1, x[0], x[1]), lambda x: x[1] / (x[0] - 3)]
)
def test_where_nothing_is_decided_no_point_is_found(function):
    with jax.enable_x64(True):
        assert found(function) == []
