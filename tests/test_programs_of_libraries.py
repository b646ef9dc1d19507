"""Forms of programs that libraries have: each gets a verdict, and its wrong twin too."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import uat_jax as uj

S, V = jax.ShapeDtypeStruct((), jnp.float32), jax.ShapeDtypeStruct((3,), jnp.float32)


def below_the_diagonal(x):
    """A matrix of which the entries below the diagonal are set by two arrays of places behind an ellipsis."""
    rows, columns = np.tril_indices(2, -1)
    return jnp.zeros((2, 2), x.dtype).at[..., rows, columns].set(x[:1])


FORMS = {
    "a logarithm of a multiple of π": (
        lambda s, x: jnp.log(np.float32(np.pi) * s * (1 + x * x)),
        lambda s, x: jnp.log(np.float32(np.pi) * s) + jnp.log(1 + x * x),
        lambda s, x: jnp.log(np.float32(np.pi) * s) + jnp.log(2 + x * x),
        (uj.positive(S), S),
    ),
    "a branch for each platform": (
        lambda x: lax.platform_dependent(x, cpu=lambda x: 2 * x, default=lambda x: x + x),
        lambda x: 2 * x,
        lambda x: 3 * x,
        (S,),
    ),
    "a mask times numbers": (
        lambda x: lax.dot_general(
            np.array([True, False]), jnp.stack([x, x * x]), (((0,), (0,)), ((), ())), preferred_element_type=np.float32
        ),
        lambda x: x,
        lambda x: x * x,
        (S,),
    ),
    "places behind an ellipsis": (
        below_the_diagonal,
        lambda x: jnp.stack([jnp.zeros(2, x.dtype), jnp.stack([x[0], jnp.zeros((), x.dtype)])]),
        lambda x: jnp.stack([jnp.stack([jnp.zeros((), x.dtype), x[0]]), jnp.zeros(2, x.dtype)]),
        (V,),
    ),
}


@pytest.mark.parametrize("name", FORMS)
def test_a_form_is_certified(name):
    left, right, _, specs = FORMS[name]
    assert uj.certify(left, right, *specs).passes


@pytest.mark.parametrize("name", FORMS)
def test_its_twin_is_refuted(name):
    left, _, twin, specs = FORMS[name]
    assert uj.certify(left, twin, *specs).verdict is uj.Verdict.REFUTED
