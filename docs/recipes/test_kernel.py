"""A kernel of Pallas against its reference: the same function, and within how many units in the last place."""

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import pallas as pl

import uat_jax as uj

ROWS, COLUMNS = 4, 8
SPEC = jax.ShapeDtypeStruct((ROWS, COLUMNS), jnp.float32)
ROW = pl.BlockSpec((1, COLUMNS), lambda i: (i, 0))


def reference(x):
    return jax.nn.softmax(x, axis=-1)


def softmax_kernel(x_ref, out_ref):
    weights = jnp.exp(x_ref[...] - x_ref[...].max())
    out_ref[...] = weights / weights.sum()


def careless_kernel(x_ref, out_ref):
    """The same function of real numbers, which overflows."""
    weights = jnp.exp(x_ref[...])
    out_ref[...] = weights / weights.sum()


def of(kernel, rows=ROWS):
    return pl.pallas_call(kernel, out_shape=SPEC, grid=(rows,), in_specs=[ROW], out_specs=ROW)


def test_the_kernel_is_its_reference():
    uj.assert_equivalent(of(softmax_kernel), reference, SPEC, hazards="forbid", rounding=32)


def test_an_overflow_is_a_hazard_and_no_other_function():
    certificate = uj.certify(of(careless_kernel), reference, SPEC)
    assert certificate.passes and {h.kind for h in certificate.hazards} >= {"NaN"}


def test_a_grid_that_is_too_short_is_refused():
    """Its last row is never written: anything may stand there."""
    with pytest.raises(uj.UatJaxError, match="has written nothing in 8 of the 32 entries"):
        uj.certify(of(softmax_kernel, ROWS - 1), reference, SPEC)
