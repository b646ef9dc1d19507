"""Identical programs are proved equal whatever their primitives; what only looks alike is not."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.experimental import pallas as pl

import uat_jax as uj
from uat_jax.decide.equivalence import SAME
from uat_jax.decide.specification import Specification, traced
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import parameters_digest, same_program

V = jax.ShapeDtypeStruct((4,), jnp.float32)
A = jax.ShapeDtypeStruct((3, 3), jnp.float32)


def kernel(factor):
    def double(x_ref, o_ref):
        o_ref[...] = x_ref[...] * np.float32(factor)

    block = pl.BlockSpec((2,), lambda i: (i,))
    return lambda x: pl.pallas_call(
        double,
        out_shape=jax.ShapeDtypeStruct(x.shape, x.dtype),
        grid=(2,),
        in_specs=[block],
        out_specs=block,
        interpret=True,
    )(x)


def key(seed):
    return lambda x: x * jax.random.normal(jax.random.fold_in(jax.random.key(seed), jnp.argmax(x)), (4,))


def exported(function):
    return jax.export.export(jax.jit(function))(V).call


def sharded(combine):
    mesh = jax.make_mesh((1,), ("i",), axis_types=(jax.sharding.AxisType.Auto,))
    across = jax.sharding.PartitionSpec("i")
    inner = lambda y: y - combine(y, "i")
    return lambda x: jax.shard_map(inner, mesh=mesh, in_specs=across, out_specs=across)(x)


def loop(bound):
    return lambda x: jax.lax.while_loop(lambda c: jnp.sum(c) < np.float32(bound), lambda c: c * c + 1, x)


def added(function):
    return lambda x: x.at[0].apply(function)


# name: (the program, its input, a wrong twin)
PROGRAMS = {
    "fft": (lambda x: jnp.fft.fft(x).real, V, lambda x: jnp.fft.ifft(x).real),
    "fft parameters": (lambda x: jnp.fft.rfft(x, 4).real, V, lambda x: jnp.fft.rfft(x, 5)[:3].real),
    "cholesky": (jnp.linalg.cholesky, A, lambda a: jnp.linalg.cholesky(a, symmetrize_input=False)),
    "eigh": (lambda a: jnp.linalg.eigh(a)[1], A, lambda a: jnp.linalg.eigh(a, UPLO="U", symmetrize_input=False)[1]),
    "svd": (lambda a: jnp.linalg.svd(a)[0], A, lambda a: jnp.linalg.svd(a)[2]),
    "solve": (lambda a: jnp.linalg.solve(a, a[0]), A, lambda a: jnp.linalg.solve(a, a[1])),
    "qr": (lambda a: jnp.linalg.qr(a)[0], A, lambda a: jnp.linalg.qr(a)[1]),
    "pallas": (kernel(2), V, kernel(3)),
    "psum": (
        lambda x: jax.vmap(lambda y: y - jax.lax.psum(y, "i"), axis_name="i")(x),
        V,
        lambda x: jax.vmap(lambda y: y - jax.lax.pmax(y, "i"), axis_name="i")(x),
    ),
    "shard_map": (sharded(jax.lax.psum), V, sharded(lambda y, axis: 2 * jax.lax.pmax(y, axis))),
    "exported": (exported(jnp.sin), V, exported(jnp.cos)),
    "a branch": (
        lambda x: jax.lax.cond(x[0] > 0, jnp.sin, jnp.cos, x),
        V,
        lambda x: jax.lax.cond(x[0] > 0, jnp.cos, jnp.sin, x),
    ),
    "a loop": (loop(3), V, loop(4)),
    "keys of the input": (key(0), V, key(1)),
    "sorted places": (lambda x: x[jnp.argsort(x)], V, lambda x: x[jnp.argsort(-x)]),
    "bits": (
        lambda x: jax.lax.bitcast_convert_type(x, jnp.int32).astype(jnp.float32),
        V,
        lambda x: jax.lax.bitcast_convert_type(x, jnp.uint32).astype(jnp.float32),
    ),
}


def program(function, *specs):
    return traced(function, specs)[0]


@pytest.mark.parametrize("name", one_in(2, PROGRAMS))
def test_a_program_is_itself_and_not_its_twin(name):
    function, spec, wrong = PROGRAMS[name]
    renamed = lambda renamed_input: jax.jit(lambda y: function(y))(renamed_input)
    for other in (function, renamed):
        certificate = uj.certify(function, other, spec)
        assert certificate.verdict is uj.Verdict.PROVED and certificate.passes
        assert [e.finding for e in certificate.evidence] == [SAME]
    assert not same_program(program(function, spec), program(wrong, spec))
    assert not uj.certify(function, wrong, spec).passes


def test_a_proof_is_decided_again_from_the_file(tmp_path):
    path = uj.certify(PROGRAMS["qr"][0], PROGRAMS["qr"][0], A).save(tmp_path / "c.json")
    assert uj.recheck(path).verdict is uj.Verdict.PROVED


def both_orders(x):
    a = jnp.sin(x)
    b = jnp.cos(x)
    return a + b


WEIGHTS = np.array([1, 2, 4, 8], np.float32)

SAME_BUT_FOR_NAMES = {
    "order": (both_orders, lambda x: (lambda b, a: a + b)(jnp.cos(x), jnp.sin(x))),
    "shared": (lambda x: jnp.sin(x) * jnp.sin(x), lambda x: (lambda s: s * s)(jnp.sin(x))),
    "unused": (lambda x: jnp.sin(x), lambda x: (jnp.linalg.qr(jnp.outer(x, x)), jnp.sin(x))[1]),
    "calls": (jax.nn.relu, lambda x: jnp.maximum(x, 0)),
    "rematerialised": (jax.checkpoint(jnp.tanh), jnp.tanh),
    "copied constant": (lambda x: x + WEIGHTS, lambda x: x + WEIGHTS.copy()),
}


@pytest.mark.parametrize("name", SAME_BUT_FOR_NAMES)
def test_names_calls_and_order_do_not_count(name):
    left, right = SAME_BUT_FOR_NAMES[name]
    assert same_program(program(left, V), program(right, V))
    assert not same_program(program(left, V), program(lambda x: right(x) + x, V))


DIFFERENT = {
    "operands": (lambda x: x - x[::-1], lambda x: x[::-1] - x),
    "last bit": (lambda x: x * np.float32(0.1), lambda x: x * np.nextafter(np.float32(0.1), np.float32(1))),
    "sign of zero": (lambda x: x / np.float32(0.0), lambda x: x / np.float32(-0.0)),
    "dtype on the way": (lambda x: x * 2, lambda x: (x.astype(jnp.bfloat16) * 2).astype(jnp.float32)),
    "shape of a constant": (lambda x: x[:1] * np.ones((1,), np.float32), lambda x: x[:1] * np.float32(1)),
    "reverse": (lambda x: jax.lax.cumsum(x), lambda x: jax.lax.cumsum(x, reverse=True)),
    "a function that is a parameter": (added(jnp.sin), added(jnp.cos)),
    "inputs": (lambda x: x[0] * jnp.ones(4), lambda x: x[1] * jnp.ones(4)),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_what_looks_alike_is_another_program(name):
    left, right = DIFFERENT[name]
    assert not same_program(program(left, V), program(right, V))
    assert same_program(program(left, V), program(left, V)) and same_program(program(right, V), program(right, V))


def test_a_function_that_changes_between_two_traces_is_not_itself():
    """Python's own random numbers and counters are looked at once by each trace."""
    calls = []

    def counting(x):
        calls.append(None)
        return x * np.float32(len(calls))

    with pytest.raises(uj.InputError, match="is another program each time it is traced"):
        uj.certify(counting, counting, V)
    random = np.random.default_rng(0)
    noisy = lambda x: x + random.standard_normal(4).astype(np.float32)
    with pytest.raises(uj.InputError, match="is another program each time it is traced"):
        uj.certify(noisy, noisy, V)


def stateful(x):
    return x + jax.lax.rng_uniform(np.float32(0), np.float32(1), (4,))


def test_a_hidden_state_is_no_function():
    assert not same_program(program(stateful, V), program(stateful, V))
    assert not uj.certify(stateful, stateful, V).passes


def test_effects_are_refused():
    trace = jax.make_jaxpr(lambda x: (jax.debug.callback(lambda y: None, x), jnp.sin(x))[1])(V)
    assert not same_program(trace, trace)
    (equation,) = (e for e in trace.eqns if e.effects)
    with pytest.raises(UnsupportedError, match="has an effect"):
        parameters_digest(equation)


def test_identical_programs_of_nothing_are_vacuous():
    ones = lambda x: jnp.ones(3)
    assert uj.certify(ones, ones, V).verdict is uj.Verdict.UNKNOWN


def test_the_digest_of_parameters_knows_the_functions_among_them():
    """Numbers of values depend on what was met before; digests do not."""
    equation = lambda function: Specification((V,)) and program(function, V).eqns[-1]
    reduced = lambda function: lambda x: jax.lax.reduce(x, np.float32(0), function, (0,))
    sums, products = reduced(lambda a, b: a * b + a), reduced(lambda a, b: a + b * a + b)
    digests = [parameters_digest(equation(f)) for f in (sums, products, reduced(lambda a, b: a * b + a))]
    assert digests[0] != digests[1] and digests[0] == digests[2]
