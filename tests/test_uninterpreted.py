"""Primitives without a rule: equal operands and parameters give equal results, and nothing else is known of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj

V = jax.ShapeDtypeStruct((4,), jnp.float32)
A = jax.ShapeDtypeStruct((3, 3), jnp.float32)
cholesky, qr, svd = jnp.linalg.cholesky, jnp.linalg.qr, jnp.linalg.svd
solve = jax.lax.linalg.triangular_solve
binary, unary = jax.lax.igamma_grad_a, lambda x: jax.lax.igamma_grad_a(x, x)

# name: (left, right, a wrong twin, inputs)
PAIRS = {
    "operands": (
        lambda a, b: jnp.tanh(cholesky(a + b)),
        lambda a, b: jnp.tanh(cholesky(b + a)),
        lambda a, b: jnp.tanh(cholesky(b - a)),
        (A, A),
    ),
    "sums": (
        lambda a, b: 2 * cholesky(a @ b),
        lambda a, b: cholesky((b.T @ a.T).T) + cholesky(a @ b),
        lambda a, b: cholesky(a @ b) + cholesky(b @ a),
        (A, A),
    ),
    "two results": (
        lambda a, b: qr(a + b)[1] * qr(a + b)[0],
        lambda a, b: qr(b + a)[0] * qr(a + b)[1],
        lambda a, b: qr(b + a)[0] * qr(a + b)[0],
        (A, A),
    ),
    "singular values": (
        lambda a, b: svd(a - b)[1] ** 2,
        lambda a, b: svd(-(b - a))[1] * svd(a - b)[1],
        lambda a, b: svd(a - b)[1],
        (A, A),
    ),
    "parameters": (
        lambda a, b: solve(a, a + b, lower=True),
        lambda a, b: solve(a, b + a, lower=True),
        lambda a, b: solve(a, b + a, lower=False),
        (A, A),
    ),
    "order of operands": (
        lambda x: binary(x + 1, 2 * x),
        lambda x: binary(1 + x, x + x),
        lambda x: binary(x + x, 1 + x),
        (V,),
    ),
    "place": (
        lambda x: unary(x + x)[::-1],
        lambda x: unary(2 * x)[::-1],
        lambda x: unary(2 * x),
        (V,),
    ),
    "concrete operands": (
        lambda x: binary(x + 1, np.float32(2)),
        lambda x: binary(1 + x, np.float32(2)),
        lambda x: binary(1 + x, np.float32(3)),
        (jax.ShapeDtypeStruct((), jnp.float32),),
    ),
    "quotients": (
        lambda a, b: (a[0] * svd(a + b)[1]) / svd(b + a)[1],
        lambda a, b: a[0] + 0 * svd(a + b)[1],
        lambda a, b: a[0] / svd(b + a)[1],
        (A, A),
    ),
}


@pytest.mark.parametrize("name", PAIRS)
def test_equal_operands_give_equal_results(name):
    left, right, wrong, specs = PAIRS[name]
    certificate = uj.certify(left, right, *specs)
    assert certificate.verdict is uj.Verdict.CERTIFIED, certificate.evidence[0].finding
    assert not uj.certify(left, wrong, *specs).passes


matrix = lambda of: lambda a, b: of(binary(a, b))
zero = lambda a, b: 0 * (a + b)
one = lambda a, b: zero(a, b) + 1

# Where the unknown function is NaN, all these are defined, and not what they are elsewhere.
CAUGHT = {
    "isnan": (lambda c: jnp.where(jnp.isnan(c), 1.0, 0.0), zero),
    "isfinite": (lambda c: jnp.where(jnp.isfinite(c), 1.0, 0.0), one),
    "nan_to_num": (lambda c: jnp.nan_to_num(c) - c, zero),
    "equal to itself": (lambda c: (c == c).astype(jnp.float32), one),
    "sign or not": (lambda c: ((c > 0) | (c <= 0)).astype(jnp.float32), one),
    "cast": (lambda c: (c - c).astype(jnp.int32).astype(jnp.float32), zero),
    "sorted": (lambda c: jnp.sort(c - c, axis=0), zero),
    "place of the largest": (lambda c: jnp.argmax(c - c, axis=0, keepdims=True).astype(jnp.float32) * c, zero),
    "largest first": (lambda c: jax.lax.top_k(c - c, 3)[0], zero),
    "sign squared": (lambda c: jnp.sign(c) ** 2, one),
    "an unknown function of it": (lambda c: unary(c / c) - unary(c / c + 1 - 1), zero),
}


@pytest.mark.parametrize("name", CAUGHT)
def test_nothing_is_decided_by_what_may_be_undefined(name):
    catch, claimed = CAUGHT[name]
    certificate = uj.certify(matrix(catch), claimed, A, A)
    assert certificate.verdict is uj.Verdict.UNKNOWN
    assert "which has no rule and may be NaN" in certificate.evidence[0].finding


@pytest.mark.parametrize("threshold", [0.0, 1.0])
def test_a_tie_is_not_left_out_where_nobody_can_look_for_it(threshold):
    """min(x, c) > c never holds, and min(x, c) >= c often does."""
    threshold = np.float32(threshold)
    beside = lambda decide: lambda x: unary(x) + decide(jnp.minimum(x, threshold), threshold).astype(jnp.float32)
    assert not uj.certify(beside(jnp.greater), beside(jnp.greater_equal), V).passes
    assert uj.certify(beside(jnp.greater), lambda x: beside(jnp.greater)(1 * x), V).passes


NO_FUNCTIONS = {
    "bits": (lambda x: jax.lax.bitcast_convert_type(x, jnp.int32).astype(jnp.float32), "is not followed"),
    "next float": (lambda x: jax.lax.nextafter(x, 2 * x), "looks at bits or makes random"),
    "generator": (lambda x: jax.lax.rng_uniform(x[0], 1 + x[0], (4,)), "from a state that is no operand"),
    "infinity": (lambda x: unary(jnp.where(np.arange(4) < 2, -jnp.inf, x)), "takes an infinity or NaN"),
}


@pytest.mark.parametrize("name", NO_FUNCTIONS)
def test_what_is_no_function_of_real_numbers_is_unknown_with_the_reason(name):
    function, reason = NO_FUNCTIONS[name]
    certificate = uj.certify(lambda x: function(x * 2), lambda x: function(x + x), V)
    assert certificate.verdict is uj.Verdict.UNKNOWN
    assert reason in certificate.evidence[0].finding


def test_fourier_transforms_are_linear_and_no_unknown_functions():
    certificate = uj.certify(lambda x: jnp.fft.fft(x * 2).real, lambda x: 2 * jnp.fft.fft(x).real, V)
    assert certificate.verdict is uj.Verdict.CERTIFIED


def test_a_seed_gives_the_same_certificate_in_any_order():
    """The names of unknown functions do not depend on what was compared before."""
    left, right, _, specs = PAIRS["two results"]
    first = uj.certify(left, right, *specs).to_json()
    uj.certify(*PAIRS["parameters"][:2], *specs)
    assert uj.certify(left, right, *specs).to_json() == first
