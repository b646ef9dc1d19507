"""A derivative written by hand against the one that JAX derives."""

import jax
import jax.numpy as jnp

import uat_jax as uj

SPEC = jax.ShapeDtypeStruct((4,), jnp.float32)


def plain(x):
    return jnp.log(1 + jnp.exp(x)).sum()


@jax.custom_vjp
def stable(x):
    return jax.nn.softplus(x).sum()


stable.defvjp(lambda x: (stable(x), x), lambda x, cotangent: (cotangent * jax.nn.sigmoid(x),))


@jax.custom_vjp
def mistaken(x):
    return jax.nn.softplus(x).sum()


mistaken.defvjp(lambda x: (mistaken(x), x), lambda x, cotangent: (cotangent * jax.nn.sigmoid(-x),))


def test_values_and_derivatives():
    # The plain one overflows at 100, which is why the other was written: a hazard, and no other function.
    uj.assert_equivalent(stable, plain, SPEC, wrt="grad", hazards="ignore")


def test_a_wrong_sign_in_the_backward_pass():
    assert uj.certify(mistaken, plain, SPEC).passes  # the values are right
    assert uj.certify(mistaken, plain, SPEC, wrt="grad").verdict is uj.Verdict.REFUTED
