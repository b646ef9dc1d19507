"""Slices, flips, rolls, paddings, differences, cumulative sums and triangles at symbolic sizes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.all_sizes import symbolic_programs
from uat_jax.decide.specification import Specification
from uat_jax.numbers.indexed import Open, Proof, proved

N, M = jax.export.symbolic_shape("n, m")
ZERO = np.float32(0)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


VECTOR, SQUARE, MATRIX = (f32(N),), (f32(N, N),), (f32(N, M),)


def padded(x, before, after):
    return jnp.pad(x, (before, after))


def places(x):
    return jnp.arange(x.shape[0])


def joined(*parts):
    return jnp.concatenate(parts)


def count(x):
    return jnp.asarray(x.shape[0]).astype(jnp.float32)


def same(x):
    return x


def where_place(place):
    return lambda x: jnp.where(places(x) == place(x), x, ZERO).sum()


# name: (left, right, inputs)
EQUAL = {
    "turned twice": (lambda x: x[::-1][::-1], same, VECTOR),
    "turned twice by flip": (lambda x: jnp.flip(jnp.flip(x)), same, MATRIX),
    "first and rest": (lambda x: joined(x[:1], x[1:]), same, VECTOR),
    "all and last": (lambda x: joined(x[:-1], x[-1:]), same, VECTOR),
    "rolled there and back": (lambda x: jnp.roll(jnp.roll(x, 1), -1), same, VECTOR),
    "rolled twice": (lambda x: jnp.roll(jnp.roll(x, 1), 1), lambda x: jnp.roll(x, 2), VECTOR),
    "rolled": (lambda x: jnp.roll(x, 1), lambda x: joined(x[-1:], x[:-1]), VECTOR),
    "rolled around": (lambda x: jnp.roll(x, x.shape[0]), same, VECTOR),
    "sum of a roll": (lambda x: jnp.roll(x, 1).sum(), jnp.sum, VECTOR),
    "product of rolls": (lambda x: (jnp.roll(x, 1) * jnp.roll(x * x, 1)).sum(), lambda x: (x**3).sum(), VECTOR),
    "sum from the end": (lambda x: x[::-1].sum(), jnp.sum, VECTOR),
    "sums from the end": (
        lambda x: jnp.cumsum(x[::-1])[::-1],
        lambda x: x.sum() - jnp.cumsum(x) + x,
        VECTOR,
    ),
    "differences of sums": (lambda x: jnp.diff(jnp.cumsum(x)), lambda x: x[1:], VECTOR),
    "sums of differences": (lambda x: jnp.cumsum(jnp.diff(x)), lambda x: x[1:] - x[0], VECTOR),
    "a telescope": (lambda x: jnp.diff(x).sum(), lambda x: x[-1] - x[0], VECTOR),
    "padded and cut": (lambda x: padded(x, 1, 2)[1:-2], same, VECTOR),
    "sum of what is padded": (lambda x: padded(x, 3, 1).sum(), jnp.sum, VECTOR),
    "differences of what is padded": (
        lambda x: jnp.diff(padded(x, 1, 0)),
        lambda x: joined(x[:1], jnp.diff(x)),
        VECTOR,
    ),
    "padded, differences, sums": (lambda x: jnp.cumsum(jnp.diff(padded(x, 1, 0))), same, VECTOR),
    "places from the end": (
        lambda x: places(x).astype(jnp.float32)[::-1] + x,
        lambda x: count(x) - 1 - places(x).astype(jnp.float32) + x,
        VECTOR,
    ),
    "lower triangle": (
        jnp.tril,
        lambda x: jnp.where(places(x)[:, None] >= places(x)[None], x, ZERO),
        SQUARE,
    ),
    "two triangles": (lambda x: jnp.tril(x) + jnp.triu(x, 1), same, SQUARE),
    "two other triangles": (lambda x: jnp.tril(x, -1) + jnp.triu(x), same, SQUARE),
    "a triangle transposed": (lambda x: jnp.tril(x).T, lambda x: jnp.triu(x.T), SQUARE),
    "a triangle turned": (lambda x: jnp.flip(jnp.tril(x)), lambda x: jnp.triu(jnp.flip(x)), SQUARE),
    "sums by a triangle": (
        jnp.cumsum,
        lambda x: (jnp.tril(jnp.ones((x.shape[0], x.shape[0]), jnp.float32)) * x[None]).sum(1),
        VECTOR,
    ),
    "half a turn": (lambda x: jnp.rot90(jnp.rot90(x)), lambda x: x[::-1, ::-1], SQUARE),
    "a whole turn": (lambda x: jnp.rot90(jnp.rot90(jnp.rot90(jnp.rot90(x)))), same, MATRIX),
    "the second half": (lambda x: joined(x, x)[x.shape[0] :], same, VECTOR),
    "joined and turned": (lambda x: joined(x, x * x)[::-1], lambda x: joined((x * x)[::-1], x[::-1]), VECTOR),
    "maximum from the end": (lambda x: x[::-1].max(), jnp.max, VECTOR),
    "softmax from the end": (lambda x: jax.nn.softmax(x[::-1])[::-1], jax.nn.softmax, VECTOR),
    "other diagonal": (lambda x: jnp.trace(x[::-1]), lambda x: jnp.trace(x[:, ::-1]), SQUARE),
    "by itself from the end": (lambda x: (x * (x**2)[::-1]).sum(), lambda x: (x[::-1] * x**2).sum(), VECTOR),
    "neighbours": (lambda x: (padded(x, 1, 0)[:-1] * x).sum(), lambda x: (x[:-1] * x[1:]).sum(), VECTOR),
    "last of the sums": (lambda x: jnp.cumsum(x)[-1], jnp.sum, VECTOR),
    "the last one by its place": (where_place(lambda x: x.shape[0] - 1), lambda x: x[-1], VECTOR),
    "every second of each twice": (lambda x: jnp.repeat(x, 2)[::2], same, VECTOR),
    "every second of a stack": (lambda x: jnp.stack([x, x * x], 1).ravel()[::2], same, VECTOR),
    "set to what it is": (lambda x: x.at[0].set(x[0]), same, VECTOR),
}

# name: (left, right, inputs): at some size they differ
DIFFERENT = {
    "turned": (lambda x: x[::-1], same, VECTOR),
    "rest and first": (lambda x: joined(x[1:], x[:1]), same, VECTOR),
    "rolled": (lambda x: jnp.roll(x, 1), same, VECTOR),
    "rolled back": (lambda x: jnp.roll(jnp.roll(x, 1), -2), same, VECTOR),
    "rolled twice": (lambda x: jnp.roll(jnp.roll(x, 1), 1), lambda x: jnp.roll(x, 3), VECTOR),
    "product of two rolls": (lambda x: (jnp.roll(x, 1) * x).sum(), lambda x: (x * x).sum(), VECTOR),
    "a neighbour around the corner": (lambda x: (jnp.roll(x, 1) * x).sum(), lambda x: (x[:-1] * x[1:]).sum(), VECTOR),
    "neighbours but one": (lambda x: (padded(x, 2, 0)[:-2] * x).sum(), lambda x: (x[:-1] * x[1:]).sum(), VECTOR),
    "sums from the end, one less": (
        lambda x: jnp.cumsum(x[::-1])[::-1],
        lambda x: x.sum() - jnp.cumsum(x),
        VECTOR,
    ),
    "differences of sums": (lambda x: jnp.diff(jnp.cumsum(x)), lambda x: x[:-1], VECTOR),
    "sums of differences": (lambda x: jnp.cumsum(jnp.diff(x)), lambda x: x[1:], VECTOR),
    "a telescope": (lambda x: jnp.diff(x).sum(), lambda x: x[-1] + x[0], VECTOR),
    "padded and cut elsewhere": (lambda x: padded(x, 2, 1)[1:-2], same, VECTOR),
    "differences of what is padded": (lambda x: jnp.cumsum(jnp.diff(padded(x, 0, 1))), same, VECTOR),
    "places": (
        lambda x: places(x).astype(jnp.float32)[::-1] + x,
        lambda x: count(x) - places(x).astype(jnp.float32) + x,
        VECTOR,
    ),
    "without the diagonal": (
        jnp.tril,
        lambda x: jnp.where(places(x)[:, None] > places(x)[None], x, ZERO),
        SQUARE,
    ),
    "the diagonal twice": (lambda x: jnp.tril(x) + jnp.triu(x), same, SQUARE),
    "no diagonal": (lambda x: jnp.tril(x, -1) + jnp.triu(x, 1), same, SQUARE),
    "two diagonals": (jnp.trace, lambda x: jnp.trace(x[::-1]), SQUARE),
    "other axis": (lambda x: jnp.flip(x, 0), lambda x: jnp.flip(x, 1), SQUARE),
    "joined and turned": (lambda x: joined(x, x * x)[::-1], lambda x: joined(x[::-1], (x * x)[::-1]), VECTOR),
    "by itself from the end": (lambda x: (x * (x**2)[::-1]).sum(), lambda x: (x * x**2).sum(), VECTOR),
    "last but one": (where_place(lambda x: x.shape[0] - 2), lambda x: x[-1], VECTOR),
    "every second from the second": (lambda x: jnp.stack([x, x * x], 1).ravel()[1::2], same, VECTOR),
    "a few at the end": (lambda x: x[:-2].sum(), lambda x: x[:-1].sum(), VECTOR),
}


def _proof(left, right, specs) -> Proof:
    return proved(*symbolic_programs(left, right, Specification(specs)))


@pytest.mark.parametrize("name", EQUAL)
def test_places_that_are_the_same(name):
    assert isinstance(_proof(*EQUAL[name]), Proof)


@pytest.mark.parametrize("name", DIFFERENT)
def test_places_that_differ(name):
    with pytest.raises(Open):
        _proof(*DIFFERENT[name])


@pytest.mark.campaign
def test_no_wrong_twin_passes():
    passing = [name for name, (left, right, specs) in DIFFERENT.items() if uj.certify(left, right, *specs).passes]
    missed = [name for name, (left, right, specs) in EQUAL.items() if not uj.certify(left, right, *specs).passes]
    assert not passing and not missed


def test_a_range_that_may_be_empty():
    """n − 1 entries: what is said of place n − 1 is said of none."""
    outside = lambda x: jnp.where(places(x)[:-1] == x.shape[0] - 1, x[1:], x[:-1])
    inside = lambda x: jnp.where(places(x)[:-1] == x.shape[0] - 2, x[1:], x[:-1])
    assert _proof(outside, lambda x: x[:-1], VECTOR)
    with pytest.raises(Open):
        _proof(inside, lambda x: x[:-1], VECTOR)
