"""Random draws: equal keys and equal shapes give equal bits, and nothing is known of how they are distributed."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax, random

import uat_jax as uj
from uat_jax import Verdict
from uat_jax.decide.description import describe
from uat_jax.errors import InputError
from uat_jax.interpret.integer_ranges import UNBOUNDED, Range, ranges

V = jax.ShapeDtypeStruct((3,), jnp.float32)
KEY = jax.eval_shape(lambda: random.key(0))
KEYS = jax.eval_shape(lambda: random.split(random.key(0), 3))
EQUAL = (Verdict.PROVED, Verdict.CERTIFIED)
TINY = np.finfo(np.float32).tiny

real = lambda x: x.astype(jnp.float32)
of_data = lambda x: random.key(x[0].astype(jnp.int32))
folded = lambda x: random.fold_in(random.key(1), x[0].astype(jnp.int32))
raw = lambda key: random.key_data(key)
uniform = lambda key: random.uniform(key, (3,))
normal = lambda key: random.normal(key, (3,))
mask = lambda key: random.bernoulli(key, 0.5, (3,))

SAME = {
    "dropout": (lambda x, k: jnp.where(mask(k), 2 * x, 0), lambda x, k: x * real(uniform(k) < 0.5) / 0.5),
    "a variational autoencoder": (
        lambda x, k: x + jnp.exp(x / 2) * normal(k),
        lambda x, k: x + jnp.sqrt(jnp.exp(x)) * normal(k),
    ),
    "Gumbel": (
        lambda x, k: jax.nn.one_hot(random.categorical(k, x), 3),
        lambda x, k: jax.nn.one_hot(jnp.argmax(x - jnp.log(-jnp.log(random.uniform(k, (3,), minval=TINY)))), 3),
    ),
    "exponential": (lambda x, k: x * random.exponential(k), lambda x, k: -x * jnp.log1p(-random.uniform(k))),
    "integers": (
        lambda x, k: x * real(random.randint(k, (3,), 0, 10)),
        lambda x, k: real(random.randint(k, (3,), 0, 10)) * x,
    ),
    "gamma": (lambda x, k: x * random.gamma(k, 2.0), lambda x, k: random.gamma(k, 2.0) * x),
    "splits": (lambda x, k: x + normal(random.split(k)[1]), lambda x, k: normal(random.split(k, 2)[-1]) + x),
    "the key of its words": (lambda x, k: x + normal(random.wrap_key_data(raw(k))), lambda x, k: normal(k) + x),
    "words of old keys": (
        lambda x, k: x + normal(random.split(raw(k))[0]),
        lambda x, k: x + normal(random.split(k)[0]),
    ),
    "a key for every row": (
        lambda x, k: x + jax.vmap(random.normal)(random.split(k, 3)),
        lambda x, k: x + jnp.stack([random.normal(one) for one in random.split(k, 3)]),
    ),
    "keys in a scan": (
        lambda x, k: lax.scan(lambda c, one: (c + random.normal(one), None), x, random.split(k, 2))[0],
        lambda x, k: x + random.normal(random.split(k)[0]) + random.normal(random.split(k)[1]),
    ),
    "numbers folded in": (
        lambda x, k: x * normal(random.fold_in(k, 3)),
        lambda x, k: normal(random.fold_in(k, 4 - 1)) * x,
    ),
    "a key of data": (lambda x, k: x * normal(of_data(x)), lambda x, k: normal(of_data(1 * x)) * x),
    "data folded in": (lambda x, k: x * normal(folded(x)), lambda x, k: normal(folded(x + 0)) * x),
    "a key that is chosen": (
        lambda x, k: x * uniform(lax.cond(x[0] > 0, lambda: k, lambda: random.clone(k))),
        lambda x, k: x * uniform(k),
    ),
    "uniform numbers are not negative": (lambda x, k: x + jnp.abs(uniform(k)), lambda x, k: x + uniform(k)),
    "and less than 1": (lambda x, k: x + jnp.minimum(uniform(k), 1), lambda x, k: x + uniform(k)),
    "their logarithm": (lambda x, k: x * jnp.exp(jnp.log(1 + uniform(k))), lambda x, k: x + x * uniform(k)),
    "a fixed key": (
        lambda x, k: x + normal(random.key(7)),
        lambda x, k: normal(random.split(random.key(7))[0]) * 0 + x + normal(random.key(7)),
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_equal_keys_and_shapes_give_equal_draws(name):
    left, right = SAME[name]
    found = uj.certify(left, right, V, KEY)
    assert found.verdict in EQUAL, found.evidence
    assert any("k is any random key" in assumption.text for assumption in found.assumptions)


@pytest.mark.campaign
def test_every_true_pair_is_one_for_jax():
    """What is certified for all keys and numbers holds for one of them, up to float32."""
    for left, right in SAME.values():
        x, key = jnp.asarray(np.random.default_rng(0).normal(size=3), jnp.float32), random.key(5)
        np.testing.assert_allclose(left(x, key), right(x, key), rtol=2e-5, atol=2e-5)


DIFFERENT = {
    "another key": (lambda x, k: x + normal(random.split(k)[0]), lambda x, k: x + normal(random.split(k)[1])),
    "the key itself": (lambda x, k: x + normal(k), lambda x, k: x + normal(random.split(k)[0])),
    "another number folded in": (
        lambda x, k: x + normal(random.fold_in(k, 1)),
        lambda x, k: x + normal(random.fold_in(k, 2)),
    ),
    "another distribution": (lambda x, k: x + normal(k), lambda x, k: x + uniform(k)),
    "a mean of 0": (lambda x, k: x + normal(k), lambda x, k: x),
    "another probability": (
        lambda x, k: jnp.where(mask(k), 2 * x, 0),
        lambda x, k: jnp.where(uniform(k) < 0.25, 2 * x, 0),
    ),
    "one key for all rows": (lambda x, k: x + jax.vmap(random.normal)(random.split(k, 3)), lambda x, k: x + normal(k)),
    "an old key cut in halves": (
        lambda x, k: x + normal(random.split(raw(k))[0]),
        lambda x, k: x + normal(random.split(k)[1]),
    ),
    "other data": (lambda x, k: x * normal(of_data(x)), lambda x, k: x * normal(of_data(x + 1))),
    "in the lower half": (lambda x, k: x + jnp.minimum(uniform(k), 0.5), lambda x, k: x + uniform(k)),
}


@pytest.mark.parametrize("name", one_in(2, DIFFERENT))
def test_other_keys_and_distributions_are_refuted(name):
    assert uj.certify(*DIFFERENT[name], V, KEY).verdict is Verdict.REFUTED


swapped = lambda k: random.wrap_key_data(raw(k)[::-1])

UNKNOWN = {
    # Five ways in which what is not promised could be taken for known.
    "a prefix of more bits": (lambda x, k: x[:2] * random.normal(k, (2,)), lambda x, k: x[:2] * normal(k)[:2]),
    "another shape": (lambda x, k: x * random.uniform(k, (3, 1))[:, 0], lambda x, k: x * uniform(k)),
    "words exchanged": (lambda x, k: x + normal(swapped(swapped(k))), lambda x, k: x + normal(swapped(k))),
    "fewer splits": (lambda x, k: x + normal(random.split(k, 2)[0]), lambda x, k: x + normal(random.split(k, 3)[0])),
    "another width of bits": (
        lambda x, k: x * real(random.bits(k, (3,), "uint8")),
        lambda x, k: x * real(random.bits(k, (3,)) & 255),
    ),
}


@pytest.mark.campaign
@pytest.mark.parametrize("name", UNKNOWN)
def test_what_no_documentation_promises_is_not_certified(name):
    assert uj.certify(*UNKNOWN[name], V, KEY).verdict not in EQUAL


def test_the_words_of_a_key_make_another_key_of_another_generator():
    """The generators "rbg" and "unsafe_rbg" have words of the same length, and split their keys differently."""
    of = lambda x: random.key(x[0].astype(jnp.int32), impl="rbg")
    again = lambda key, impl: random.wrap_key_data(raw(random.split(key)[0]), impl=impl)
    drawn = lambda x, impl: x * normal(random.split(again(of(x), impl))[0])
    split = lambda x: x * normal(random.split(random.split(of(x))[0])[0])
    assert uj.certify(lambda x: drawn(x, "rbg"), split, V).verdict in EQUAL
    assert uj.certify(lambda x: drawn(x, "unsafe_rbg"), split, V).verdict not in EQUAL


def test_other_generators_promise_nothing_of_many_keys():
    """Under `jax.vmap` keys of "rbg" may draw together what none of them draws alone."""
    keys = lambda x: jax.vmap(lambda i: random.key(i, impl="rbg"))(x.astype(jnp.int32))
    each = lambda x: jnp.stack([random.normal(one) for one in keys(x)])
    together = lambda x: jax.vmap(random.normal)(keys(x))
    assert uj.certify(lambda x: x * together(x), lambda x: together(x) * x, V).verdict in EQUAL
    assert uj.certify(lambda x: x * together(x), lambda x: each(x) * x, V).verdict not in EQUAL


def drawn(i, impl, draw=random.uniform):
    """What is drawn with the key of one integer."""
    return draw(random.key(i, impl=impl), (2,))


def drawn_together(i, impl, count, draw=random.uniform):
    """What is drawn for it where draws are made for all integers at once: other generators draw otherwise then."""
    return jax.vmap(lambda j: drawn(j, impl, draw))(jnp.arange(count))[i]


FEW, MANY = (uj.integers(jax.ShapeDtypeStruct((), jnp.int32), 0, high) for high in (3, 99))
BITS = lambda key, shape: random.bits(key, shape).astype(jnp.int32)
TOGETHER = {
    "uniform": (lambda i: drawn(i, "rbg"), lambda i: drawn_together(i, "rbg", 4), (FEW,)),
    "beside a real number": (
        lambda i, x: x[:2] * drawn(i, "rbg"),
        lambda i, x: x[:2] * drawn_together(i, "rbg", 4),
        (FEW, V),
    ),
    "whole numbers": (lambda i: drawn(i, "rbg", BITS), lambda i: drawn_together(i, "rbg", 4, BITS), (FEW,)),
    "many": (lambda i: drawn(i, "rbg", BITS), lambda i: drawn_together(i, "rbg", 100, BITS), (MANY,)),
    "another generator": (lambda i: drawn(i, "unsafe_rbg"), lambda i: drawn_together(i, "unsafe_rbg", 4), (FEW,)),
    "in a long loop": (
        lambda x: lax.fori_loop(0, 20, lambda i, c: jnp.sin(c) + x[:2] * real(drawn(i, "rbg", BITS) > 0), x[:2]),
        lambda x: lax.scan(
            lambda c, b: (jnp.sin(c) + x[:2] * real(b > 0), None),
            x[:2],
            jax.vmap(lambda i: drawn(i, "rbg", BITS))(jnp.arange(20)),
        )[0],
        (V,),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", TOGETHER)
def test_integers_side_by_side_draw_what_each_draws_alone(name):
    left, right, specs = TOGETHER[name]
    assert not uj.certify(left, right, *specs).passes


def test_keys_of_integers_draw_the_same_one_by_one():
    pair = (lambda i: drawn(i, "threefry2x32"), lambda i: drawn_together(i, "threefry2x32", 4))
    assert uj.certify(*pair, FEW).passes
    assert uj.certify(lambda i: 2 * drawn(i, "rbg"), lambda i: drawn(i, "rbg") * 2, FEW).passes


def test_several_keys_are_any_keys():
    two = KEY, KEY
    assert uj.certify(lambda x, k, l: normal(k) * x, lambda x, k, l: x * normal(k), V, *two).verdict in EQUAL
    found = uj.certify(lambda x, k, l: x + normal(k), lambda x, k, l: x + normal(l), V, *two)
    assert found.verdict is Verdict.REFUTED and "wrap_key_data" in describe(found)
    assert uj.certify(
        lambda x, k: x * jax.vmap(random.normal)(k), lambda x, k: jax.vmap(random.normal)(k) * x, V, KEYS
    ).passes


def test_a_concrete_key_is_fixed(tmp_path):
    left, right = lambda x, k: x + normal(k), lambda x, k: normal(k) + x
    found = uj.certify(left, right, V, random.key(3))
    assert found.verdict in EQUAL and any("fixed to the given values" in a.text for a in found.assumptions)
    found = uj.certify(left, lambda x, k: x + normal(random.key(3)), V, random.key(3))
    assert found.verdict in EQUAL
    found = uj.certify(left, lambda x, k: x + normal(random.key(4)), V, random.key(3))
    assert found.verdict is Verdict.REFUTED and "random.wrap_key_data" in describe(found)


def test_a_certificate_about_any_key_is_decided_again(tmp_path):
    path = uj.certify(*SAME["dropout"], V, KEY).save(tmp_path / "certificate.json")
    assert uj.recheck(path).passes


def test_keys_of_other_generators_are_inputs_with_a_value_only():
    rbg = jax.eval_shape(lambda: random.key(0, impl="rbg"))
    with pytest.raises(InputError, match="got an input key<rbg> without a value"):
        uj.certify(lambda x, k: x, lambda x, k: x, V, rbg)
    (left, right), key = SAME["splits"], random.key(0, impl="rbg")
    assert uj.certify(left, right, V, key).passes


def test_bits_of_floats_are_in_their_order():
    """The range of a cast of bits holds the floats of all integers in it, and is unbounded where one is not finite."""
    program = jax.make_jaxpr(lambda x: lax.bitcast_convert_type(x, jnp.float32))(jnp.uint32(0))
    (equation,) = program.eqns
    random_numbers = np.random.default_rng(0)
    for _ in range(50):
        low, high = sorted(int(n) for n in random_numbers.integers(0, 0x7F7FFFFF, 2))
        (found,) = ranges(equation, [Range(low, high)])
        inside = random_numbers.integers(low, high, 20, endpoint=True).astype(np.uint32).view(np.float32)
        assert np.all((found.low <= inside) & (inside <= found.high)) and found.high < np.inf
    for low, high in [(0, 0x7F800000), (0, 0xFFFFFFFF), (0x80000000, 0x80000001)]:
        assert ranges(equation, [Range(low, high)]) == [UNBOUNDED]


def test_a_key_of_the_counter_in_a_long_loop_is_no_crash():
    """Keys that differ from step to step are not followed by induction, and the loops are the same program unrolled."""
    step = lambda x: lambda i, c: jnp.sin(c) + x[:2] * real(drawn(i, "threefry2x32", BITS) > 0)
    looped = lambda x: lax.fori_loop(0, 20, step(x), x[:2])
    assert uj.certify(looped, lambda x: 2 * looped(x) - looped(x), V).verdict is not Verdict.REFUTED
