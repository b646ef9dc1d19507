"""Kernels of Pallas against plain functions, and kernels with one mistake."""

import functools

import jax
import jax.numpy as jnp
import pytest
from excerpt import one_in
from jax import lax
from jax.experimental import pallas as pl
from jax.experimental.pallas import tpu as pltpu

import uat_jax as uj
from uat_jax.errors import UnsupportedError

dot = functools.partial(jnp.dot, precision="highest")


def spec(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def rows(size, width):
    """A block of whole rows, the next one in every step."""
    return pl.BlockSpec((size, width), lambda i: (i, 0))


def whole(*shape):
    """The whole array in every step."""
    return pl.BlockSpec(shape, lambda i: (0,) * len(shape))


def blocked_product(x, y, steps=2):
    """A product in blocks, added up along the last axis of the grid, of which it takes so many steps."""

    def kernel(x_ref, y_ref, o_ref):
        step = pl.program_id(2)

        @pl.when(step == 0)
        def _():
            o_ref[...] = jnp.zeros_like(o_ref)

        @pl.when(step < steps)
        def _():
            o_ref[...] += dot(x_ref[...], y_ref[...])

    return pl.pallas_call(
        kernel,
        out_shape=spec(4, 4),
        grid=(2, 2, 2),
        in_specs=[pl.BlockSpec((2, 3), lambda i, j, k: (i, k)), pl.BlockSpec((3, 2), lambda i, j, k: (k, j))],
        out_specs=pl.BlockSpec((2, 2), lambda i, j, k: (i, j)),
    )(x, y)


def flash_attention(q, k, v, rescaled=True):
    """Attention with a running softmax over blocks of keys; without rescaling the sums of earlier blocks are wrong."""

    def kernel(q_ref, k_ref, v_ref, o_ref):
        q = q_ref[...]

        def body(i, carry):
            largest, total, result = carry
            scores = dot(q, k_ref[pl.ds(2 * i, 2), :].T)
            new = jnp.maximum(largest, scores.max(-1))
            old, weights = jnp.exp(largest - new), jnp.exp(scores - new[:, None])
            total = total * (old if rescaled else 1.0) + weights.sum(-1)
            return new, total, result * old[:, None] + dot(weights, v_ref[pl.ds(2 * i, 2), :])

        start = jnp.full(2, -jnp.inf, jnp.float32), jnp.zeros(2, jnp.float32), jnp.zeros((2, 3), jnp.float32)
        _, total, result = lax.fori_loop(0, 3, body, start)
        o_ref[...] = result / total[:, None]

    specs = [rows(2, 3), whole(6, 3), whole(6, 3)]
    return pl.pallas_call(kernel, out_shape=spec(4, 3), grid=(2,), in_specs=specs, out_specs=rows(2, 3))(q, k, v)


def softmax(x, epsilon=0.0):
    """The softmax of every row, a row in every step."""

    def kernel(x_ref, o_ref):
        weights = jnp.exp(x_ref[...] - x_ref[...].max(-1, keepdims=True))
        o_ref[...] = weights / (weights.sum(-1, keepdims=True) + epsilon)

    return pl.pallas_call(kernel, out_shape=spec(4, 5), grid=(4,), in_specs=[rows(1, 5)], out_specs=rows(1, 5))(x)


def moved(x, to=1):
    """x with an entry put in another place, in the memory of x."""

    def kernel(x_ref, o_ref):
        o_ref[0] = x_ref[to]

    return pl.pallas_call(kernel, out_shape=spec(4), input_output_aliases={0: 0})(x)


def kept(x, factor=3.0):
    """Computed through a memory of the kernel's own; the last block is not full."""

    def kernel(x_ref, o_ref, kept_ref):
        kept_ref[...] = x_ref[...] * 2
        o_ref[...] = kept_ref[...] + x_ref[...] * (factor - 2)

    block = pl.BlockSpec((2,), lambda i: (i,))
    memory = [pltpu.VMEM((2,), jnp.float32)]
    call = pl.pallas_call(
        kernel, out_shape=spec(5), grid=(3,), in_specs=[block], out_specs=block, scratch_shapes=memory
    )
    return call(x)


PAIRS = {
    "blocked product": (blocked_product, functools.partial(blocked_product, steps=1), dot, (spec(4, 6), spec(6, 4))),
    "flash attention": (
        flash_attention,
        functools.partial(flash_attention, rescaled=False),
        lambda q, k, v: dot(jax.nn.softmax(dot(q, k.T), -1), v),
        (spec(4, 3), spec(6, 3), spec(6, 3)),
    ),
    "softmax": (softmax, functools.partial(softmax, epsilon=1e-3), jax.nn.softmax, (spec(4, 5),)),
    "batch": (
        jax.vmap(softmax),
        jax.vmap(functools.partial(softmax, epsilon=1e-3)),
        jax.nn.softmax,
        (spec(2, 4, 5),),
    ),
    "same memory": (moved, functools.partial(moved, to=2), lambda x: x.at[0].set(x[1]), (spec(4),)),
    "memory of its own": (kept, functools.partial(kept, factor=2.5), lambda x: 3 * x, (spec(5),)),
}
"""Name → a kernel, the kernel with a mistake, what it should compute, and the inputs."""


@pytest.mark.parametrize("name", one_in(2, PAIRS))
def test_a_kernel_is_its_reference_and_with_a_mistake_it_is_not(name):
    kernel, wrong, reference, specs = PAIRS[name]
    found = uj.certify(kernel, reference, *specs)
    assert found.verdict is uj.Verdict.CERTIFIED, found.evidence[0].finding
    assert any(a.text.startswith("a Pallas kernel computes what JAX's interpreter") for a in found.assumptions)
    assert uj.certify(wrong, reference, *specs).verdict is uj.Verdict.REFUTED


def test_what_no_block_writes_is_not_looked_at():
    """On a device it may be anything."""

    def kernel(x_ref, o_ref):
        o_ref[0] = x_ref[0]

    half = pl.pallas_call(kernel, out_shape=spec(2))
    with pytest.raises(UnsupportedError, match="has written nothing in 1 of the 2 entries of its result"):
        uj.certify(half, lambda x: x, spec(2))
    assert uj.certify(lambda x: half(x)[0], lambda x: 1 * x[0], spec(2)).verdict in (
        uj.Verdict.PROVED,
        uj.Verdict.CERTIFIED,
    )


def test_a_kernel_stays_one_within_loops_and_derivatives():
    twice = lambda x: lax.scan(lambda carry, _: (softmax(carry), None), x, None, length=2)[0]
    plainly = lambda x: jax.nn.softmax(jax.nn.softmax(x))
    along = lambda function: lambda x: jax.jvp(function, (x,), (2 * x,))[1]
    for left, right in ((twice, plainly), (along(softmax), along(jax.nn.softmax))):
        found = uj.certify(left, right, spec(4, 5))
        assert found.verdict is uj.Verdict.CERTIFIED, found.evidence[0].finding
        assert any("Pallas" in a.text for a in found.assumptions)


def test_a_kernel_that_calls_the_host_is_refused_in_one_line():
    def kernel(x_ref, o_ref):
        pl.debug_print("x is {}", x_ref[0])
        o_ref[...] = x_ref[...]

    with pytest.raises(UnsupportedError, match=r"cannot interpret the kernel at test_kernels.py:\d+ "):
        uj.certify(lambda x: pl.pallas_call(kernel, out_shape=spec(4))(x), lambda x: x, spec(4))


def test_certificates_of_kernels_are_rechecked(tmp_path):
    uj.certify(softmax, jax.nn.softmax, spec(4, 5)).save(tmp_path / "softmax.json")
    assert uj.recheck(tmp_path / "softmax.json").verdict is uj.Verdict.CERTIFIED
