"""Programs of several devices are compared as programs of one."""

import os
import subprocess
import sys
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import P, lax
from pairs.pair import f32
from pairs.sharded import SHARDED, chain, mesh, on, ring

import uat_jax as uj

MISTAKES = [(pair, name) for pair in SHARDED for name in pair.wrong]
FAST = [pair for pair in SHARDED if "ring" not in pair.name]


def decided(pairs):
    return pytest.mark.parametrize("pair", pairs, ids=lambda pair: pair.name)


def is_equal(pair):
    return uj.certify(pair.left, pair.right, *pair.specs).passes


def is_refuted(function, pair):
    return uj.certify(function, pair.right, *pair.specs).verdict is uj.Verdict.REFUTED


@decided(FAST[::2])
def test_a_program_of_several_devices_is_the_same_function(pair):
    assert is_equal(pair)


@decided(FAST[1::2])
def test_a_mistake_in_what_devices_exchange_is_refuted(pair):
    assert is_refuted(list(pair.wrong.values())[-1], pair)


@pytest.mark.campaign
@decided(SHARDED)
def test_every_way_of_sharing_out_is_equal_and_every_mistake_refuted(pair):
    assert is_equal(pair)
    assert all(is_refuted(function, pair) for function in pair.wrong.values())


@pytest.mark.campaign
def test_one_device_computes_what_eight_devices_of_jax_compute():
    script = Path(__file__).with_name("sharded_programs.py")
    paths = os.pathsep.join([str(script.parents[1]), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "JAX_PLATFORMS": "cpu", "PYTHONPATH": paths}
    found = subprocess.run([sys.executable, script], env=environment, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr[-2000:]
    assert "a gradient of a scan" in found.stdout.splitlines()


# --- what must not pass: the function on several devices, and what it is on some of them, or seems to be --------------

V, TWO, FOUR, ALL = f32(8), mesh(i=2), mesh(i=4), P()
EXPLICIT = jax.sharding.AbstractMesh((2,), ("i",), axis_types=(jax.sharding.AxisType.Explicit,))


def number(axis: str | tuple[str, ...] = "i"):
    return lax.axis_index(axis).astype(jnp.float32)


def kept(function, devices=TWO, cut=ALL, joined=ALL):
    """A function on all devices, of which JAX does not look whether they return the same."""
    return on(devices, (cut,), joined, unchecked=True)(function)


ATTACKS = {
    "wrong on the second device": (kept(lambda x: x + number()), lambda x: x),
    "wrong on the last of four": (kept(lambda x: jnp.where(number() == 3, -x, x), FOUR), lambda x: x),
    "different on both, then on one": (lambda x: kept(lambda y: y)(kept(lambda y: y + number())(x)), lambda x: x),
    "different on both, then added": (lambda x: jnp.sin(kept(lambda y: y * number())(x)) + x, lambda x: x),
    "wrong on one, then summed": (
        lambda x: kept(lambda y: lax.psum(y, "i"))(kept(lambda y: y + number())(x)),
        lambda x: 2 * x,
    ),
    "zeros where nothing is sent": (
        kept(lambda x: lax.ppermute(x, "i", chain(4, 1)), FOUR, P("i"), P("i")),
        lambda x: jnp.roll(x, 2),
    ),
    "the order of two axes": (
        on(mesh(a=2, b=4), (P(("a", "b")),), P(("b", "a")))(lambda x: x),
        lambda x: x,
    ),
    "groups exchanged": (
        kept(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]]), FOUR, P("i"), P("i")),
        lambda x: x + x.reshape(2, 2, 2)[:, ::-1].ravel(),
    ),
    "the number along two axes": (
        on(mesh(a=2, b=4), (P(("a", "b")),), P(("a", "b")))(lambda x: x * number(("a", "b"))),
        lambda x: x * np.arange(8, dtype=np.float32).reshape(2, 4).T.ravel(),
    ),
    "a carry that differs from the second round on": (
        kept(lambda x: lax.fori_loop(0, 2, lambda t, c: (c[1], number() * c[1]), (x, x))[0]),
        lambda x: 0 * x,
    ),
}


@pytest.mark.parametrize("name", ATTACKS)
def test_what_is_wrong_on_one_device_is_not_certified(name):
    left, right = ATTACKS[name]
    assert uj.certify(left, right, V).verdict is uj.Verdict.REFUTED


TWINS = {
    "the same on both, although not looked at": (kept(lambda x: x + 0 * number()), lambda x: x),
    "summed with what differs": (
        lambda x: kept(lambda y: lax.psum(y, "i"))(kept(lambda y: y + number())(x)),
        lambda x: 2 * x + 1,
    ),
    "one device's number": (
        kept(lambda x: lax.psum(jnp.where(number() == 1, x, 0), "i"), joined=P()),
        lambda x: x,
    ),
    "sent around": (
        kept(lambda x: lax.ppermute(x, "i", ring(4)), FOUR, P("i"), P("i")),
        lambda x: jnp.roll(x, 2),
    ),
    "each group alone": (
        kept(lambda x: lax.psum(x, "i", axis_index_groups=[[0, 3], [1, 2]]), FOUR, P("i"), P("i")),
        lambda x: x + x.reshape(4, 2)[::-1].ravel(),
    ),
    "a branch of every device": (
        kept(lambda x: lax.cond(number() > 0, lambda x: -x, lambda x: x, x), TWO, P("i"), P("i")),
        lambda x: x * np.repeat(np.array([1, -1], np.float32), 4),
    ),
}


@pytest.mark.parametrize("name", TWINS)
def test_what_is_right_on_all_devices_passes(name):
    left, right = TWINS[name]
    assert uj.certify(left, right, V).passes


# --- what is refused --------------------------------------------------------------------------------------------------


def of_key(impl):
    key = jax.random.key(0, impl=impl)
    return kept(lambda x: x + jax.random.normal(jax.random.fold_in(key, lax.axis_index("i")), x.shape), joined=P("i"))


def generated(shape):
    """Numbers of a generator of which every device has another state."""
    state = np.arange(4, dtype=np.uint32) + lax.axis_index("i").astype(jnp.uint32)
    return lax.rng_bit_generator(state, shape, jnp.uint32)[1].astype(jnp.float32)


def unevenly(x):
    """Every device sends one number to each of the two."""
    place, one = jnp.arange(2, dtype=np.int32), jnp.ones(2, np.int32)
    return lax.ragged_all_to_all(x, jnp.zeros_like(x), place, one, place, one, axis_name="i")


sometimes = lambda x: lax.cond(number() > 0, lambda x: lax.psum(x, "i"), lambda x: x, x)
differently = lambda x: lax.while_loop(lambda c: c[0] < number(), lambda c: (c[0] + 1, c[1]), (np.float32(0), x))[1]
REFUSED = {
    "a branch communicates": (kept(sometimes, joined=P("i")), "communicates, but not all devices take it"),
    "rounds differ": (kept(differently, joined=P("i")), "ends at different rounds"),
    "another mesh": (
        lambda x: kept(lambda y: y, FOUR)(kept(lambda y: y + number())(x)),
        "4 devices along 'i', and 2 devices came with different arrays for one",
    ),
    "cut what differs": (
        lambda x: kept(lambda y: y, TWO, P("i"), P("i"))(kept(lambda y: y + number())(x)),
        "cuts an array along 'i'",
    ),
    "keys of another kind": (of_key("rbg"), "use threefry keys"),
    "a generator's own state": (kept(lambda x: x + generated(x.shape), joined=P("i")), "use threefry keys"),
    "an operation without a definition": (
        kept(unevenly, joined=P("i")),
        "'ragged_all_to_all'.* not followed; write it",
    ),
    "terms of a sum come out": (
        kept(lambda x: x, EXPLICIT, joined=P(unreduced=frozenset(["i"]))),
        "unreduced along 'i', which is not followed",
    ),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_followed_is_refused_in_one_line(name):
    function, message = REFUSED[name]
    with pytest.raises(uj.UatJaxError, match=message) as caught:
        uj.certify(function, lambda x: jnp.resize(x, jax.eval_shape(function, V).shape), V)
    assert "\n" not in str(caught.value)
