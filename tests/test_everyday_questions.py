"""What people ask of two functions in public trackers, and inputs and constants as everyday code has them.

Each row has a twin that is wrong, and refuted.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flax import linen as nn
from flax import nnx

import uat_jax as uj

pytestmark = pytest.mark.usefixtures("standard_promotion")

F = np.float32


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


IDS = jax.ShapeDtypeStruct((3,), jnp.int32)
CUMULATED = np.array([1, 1 / 2, 1 / 3], F)
EXPORTED = jax.export.export(jax.jit(lambda x, y: x - y))(f32(3), f32(3))
LINEAR = nnx.Linear(3, 2, rngs=nnx.Rngs(0))
NORM = nnx.BatchNorm(3, use_running_average=True, rngs=nnx.Rngs(0))
KERNEL, BIAS = (jnp.asarray(leaf) for leaf in (nnx.state(LINEAR)["kernel"][...], nnx.state(LINEAR)["bias"][...]))


def linen(x, kernel=KERNEL):
    return nn.Dense(2).apply({"params": {"kernel": kernel, "bias": BIAS}}, x)


def normed(m, x, epsilon=1e-5):
    """What a batch norm with running averages is."""
    return (x - m.mean[...]) / jnp.sqrt(m.var[...] + F(epsilon)) * m.scale[...] + m.bias[...]


def torch_attention(q, k, v, scale=2.0):
    """As PyTorch has it: the batch first, heads beside each other."""
    return jax.nn.softmax(q @ jnp.swapaxes(k, -1, -2) / F(scale), -1) @ v


def welford(x, ddof=0):
    """Mean and sum of squares in one pass, as kernels are written."""

    def step(carry, x):
        count, mean, squares = carry
        count = count + 1
        new = mean + (x - mean) / count
        return (count, new, squares + (x - mean) * (x - new)), None

    (count, _, squares), _ = jax.lax.scan(step, (F(0), F(0), F(0)), x)
    return squares / (count - ddof)


TRACKERS = {
    "is it rounding or a bug: a sum in another order": (
        lambda x: jnp.sum(x),
        lambda x: x.reshape(2, 4).sum(0).sum(),
        lambda x: x.reshape(2, 4).sum(0)[:3].sum(),
        (f32(8),),
    ),
    "is it rounding or a bug: jit and vmap": (
        jax.vmap(lambda x: jnp.dot(x, x), in_axes=1),
        jax.jit(lambda x: jnp.einsum("ij,ij->j", x, x)),
        lambda x: jnp.einsum("ij,ik->j", x, x),
        (f32(3, 2),),
    ),
    "a port from PyTorch": (
        lambda q, k, v: jax.nn.dot_product_attention(q[:, :, None], k[:, :, None], v[:, :, None])[:, :, 0],
        torch_attention,
        lambda q, k, v: torch_attention(q, k, v, scale=4.0),
        (f32(2, 3, 4),) * 3,
    ),
    "Linen against NNX": (linen, LINEAR, lambda x: linen(x, 2 * KERNEL), (f32(2, 3),)),
    "arguments of an exported function exchanged": (
        EXPORTED.call,
        lambda x, y: -(y - x),
        lambda x, y: EXPORTED.call(y, x),
        (f32(3), f32(3)),
    ),
    "a default that an upgrade changed": (
        lambda x: jax.nn.gelu(x, approximate=True),
        lambda x: 0.5 * x * (1 + jnp.tanh(np.sqrt(2 / np.pi).astype(F) * (x + F(0.044715) * x**3))),
        lambda x: jax.nn.gelu(x, approximate=False),
        (f32(3),),
    ),
    "a kernel beyond allclose": (
        lambda x: jnp.var(x),
        welford,
        lambda x: welford(x, ddof=1),
        (f32(4),),
    ),
}
"""What people ask → the functions, the wrong one, and the inputs."""

CONSTANTS = {
    "a logarithm on the host": (
        lambda x: x + jnp.log(2.0),
        lambda x: x + float(np.log(2)),
        lambda x: x + F(0.7),
        (f32(3),),
    ),
    "an array of reciprocals": (
        lambda x: jnp.cumsum(x) * CUMULATED,
        lambda x: jnp.cumsum(x) / np.arange(1, 4, dtype=F),
        lambda x: jnp.cumsum(x) / np.arange(2, 5, dtype=F),
        (f32(3),),
    ),
    "a matrix of thirds": (lambda x: x @ (jnp.eye(3) / 3), lambda x: x / 3, lambda x: x * F(0.34), (f32(2, 3),)),
    "0.999 and 0.001": (
        lambda x, y: F(0.999) * x + F(0.001) * y,
        lambda x, y: x + (1 - 0.999) * (y - x),
        lambda x, y: F(0.999) * x + F(0.002) * y,
        (f32(3), f32(3)),
    ),
    "√(2/π)": (
        lambda x: x * jnp.sqrt(2 / jnp.pi),
        lambda x: x * float(np.sqrt(2 / np.pi)),
        lambda x: x * F(0.8),
        (f32(3),),
    ),
    "a quotient times its divisor": (lambda a, b: a / b * b - a, lambda a, b: 0 * a, lambda a, b: a, (f32(3), f32(3))),
}
"""Constants that are rounded in different ways, and an identity of value 0."""

INPUTS = {
    "token ids of a range": (
        lambda table, i: table[i],
        lambda table, i: jax.nn.one_hot(i, 5) @ table,
        lambda table, i: jnp.flip(table, 0)[i],
        (f32(5, 2), uj.integers(IDS, 0, 4)),
    ),
    "token ids of a plain spec": (
        lambda table, i: table[i],
        lambda table, i: jax.nn.one_hot(i, 5) @ table,
        lambda table, i: jnp.flip(table, 0)[i],
        (f32(5, 2), IDS),
    ),
    "a Python number": (lambda x, s: x * s, lambda x, s: x + x, lambda x, s: x * s * s, (f32(3), 2.0)),
    "a text": (
        lambda x, mode: {"twice": x + x, "not": x}[mode],
        lambda x, mode: 2 * x,
        lambda x, mode: x * x,
        (f32(3), "twice"),
    ),
    "an integer result": (
        lambda x: (x > 0).astype(jnp.int32),
        lambda x: jnp.where(x <= 0, 0, 1).astype(jnp.int32),
        lambda x: (x >= 0).astype(jnp.int32),
        (f32(3),),
    ),
    "a truth value as result": (lambda x: x > 0, lambda x: ~(x <= 0), lambda x: x >= 0, (f32(3),)),
    "a norm of flax as an input": (
        lambda m, x: m(x),
        normed,
        lambda m, x: normed(m, x, epsilon=1e-3),
        (NORM, f32(2, 3)),
    ),
}
"""Inputs and results of everyday code; modules of equinox and others are in test_kinds_of_functions.py."""

TABLE = {**TRACKERS, **CONSTANTS, **INPUTS}


@pytest.mark.parametrize("name", TABLE)
def test_the_question_is_answered(name):
    left, right, _, specs = TABLE[name]
    assert uj.certify(left, right, *specs).passes


@pytest.mark.parametrize("name", TABLE)
def test_its_twin_is_refuted(name):
    left, _, wrong, specs = TABLE[name]
    assert uj.certify(left, wrong, *specs).verdict is uj.Verdict.REFUTED


def test_a_dropout_module_is_named_with_what_to_do():
    with pytest.raises(uj.InputError, match="certify functions of the module") as failure:
        uj.certify(nnx.Dropout(0.5, rngs=nnx.Rngs(0)), lambda x: x, f32(2, 3))
    assert "\n" not in str(failure.value)


def test_results_of_two_dtypes_are_named_with_what_to_do():
    with pytest.raises(uj.OutputsError, match="return the same shape and dtype from both"):
        uj.certify(lambda x: x, lambda x: x.astype(jnp.bfloat16), f32(3))


def test_the_program_for_a_tiny_difference_shows_it():
    """In float32 it would be lost, or be another one."""
    certificate = uj.certify(lambda x: x, lambda x: x + 1e-9, f32())
    assert certificate.counterexample is not None
    assert float(certificate.counterexample.right - certificate.counterexample.left) == pytest.approx(1e-9, rel=1e-6)


def test_a_loop_that_may_not_end_keeps_the_budget():
    def halved(x):
        return jax.lax.while_loop(lambda c: c != 0, lambda c: c * F(0.5) + F(1), x)

    assert not uj.certify(halved, lambda x: halved(x) + x, f32(), budget=2).passes
