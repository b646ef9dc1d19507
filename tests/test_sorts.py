"""Sorts by several keys, and what is sorted along with them."""

import jax
import jax.numpy as jnp
import pytest
from jax import lax

import uat_jax as uj
from uat_jax import Verdict

X = jax.ShapeDtypeStruct((6,), jnp.float32)
A = jax.ShapeDtypeStruct((3, 2), jnp.float32)
EQUAL = (Verdict.PROVED, Verdict.CERTIFIED)
ONE = jnp.arange(3)

first, second = lambda x: x[:3], lambda x: x[3:]
whole = lambda x: jnp.clip(x, 0, 1).astype(jnp.int32)


def along(*operands, keys=1, result=-1, **options):
    """One result of a sort."""
    return lax.sort(operands, num_keys=keys, **options)[result]


SAME = {
    "the first of two keys": (lambda x: along(first(x), second(x), keys=2, result=0), lambda x: jnp.sort(first(x))),
    "the second of two keys": (
        lambda x: along(first(x), second(x), keys=2),
        lambda x: second(x)[jnp.lexsort((second(x), first(x)))],
    ),
    "what is no key": (lambda x: along(first(x), second(x)), lambda x: second(x)[jnp.argsort(first(x))]),
    "beside two keys": (
        lambda x: along(first(x), second(x), first(x) * second(x), keys=2),
        lambda x: (first(x) * second(x))[jnp.lexsort((second(x), first(x)))],
    ),
    "a function of what is sorted": (
        lambda x: along(first(x), 2 * second(x)) / 2,
        lambda x: along(first(x), second(x)),
    ),
    "the key itself": (lambda x: along(first(x), first(x)), lambda x: jnp.sort(first(x))),
    "a key twice": (lambda x: along(first(x), first(x), second(x), keys=2), lambda x: along(first(x), second(x))),
    "a place for a key": (lambda x: along(first(x), ONE, second(x), keys=2), lambda x: along(first(x), second(x))),
    "unstable, by place": (
        lambda x: along(first(x), ONE, keys=2, is_stable=False).astype(jnp.float32),
        lambda x: jnp.argsort(first(x)).astype(jnp.float32),
    ),
    "keys that are whole": (
        lambda x: along(whole(first(x)), second(x)),
        lambda x: second(x)[jnp.argsort(whole(first(x)))],
    ),
    "columns": (lambda x: along(x, 1 - x, dimension=0), lambda x: jnp.take_along_axis(1 - x, jnp.argsort(x, 0), 0)),
    "a permutation": (
        lambda x: jax.random.permutation(jax.random.key(whole(x)[0]), first(x)),
        lambda x: first(x)[jax.random.permutation(jax.random.key(whole(x)[0]), 3)],
    ),
}


@pytest.mark.parametrize("name", SAME)
def test_what_is_sorted_comes_from_the_places_of_the_keys(name):
    found = uj.certify(*SAME[name], A if name == "columns" else X)
    assert found.verdict in EQUAL, found.evidence


DIFFERENT = {
    "keys exchanged": (
        lambda x: along(first(x), second(x), keys=2),
        lambda x: second(x)[jnp.lexsort((first(x), second(x)))],
    ),
    "descending": (lambda x: along(-first(x), second(x)), lambda x: along(first(x), second(x))),
    "sorted on its own": (lambda x: along(first(x), second(x)), lambda x: jnp.sort(second(x))),
    "left alone": (lambda x: along(first(x), second(x)), second),
    "along another axis": (lambda x: along(x, x * x, dimension=0), lambda x: along(x, x * x, dimension=1)),
    # Five attacks on ties, which a second key or stability decides.
    "a tie, by the second key": (lambda x: along(first(x), second(x), keys=2), lambda x: along(first(x), second(x))),
    "a tie, from the end": (lambda x: along(first(x), second(x)), lambda x: along(first(x)[::-1], second(x)[::-1])),
    "all tie": (lambda x: along(0 * first(x), second(x)), lambda x: along(0 * first(x), second(x), keys=2)),
    "a tie of whole numbers": (
        lambda x: along(whole(first(x)), second(x)),
        lambda x: along(first(x), second(x)),
    ),
    "places from the end": (
        lambda x: along(first(x), -ONE, second(x), keys=2),
        lambda x: along(first(x), second(x)),
    ),
}


@pytest.mark.parametrize("name", DIFFERENT)
def test_another_order_is_refuted(name):
    specs = A if "axis" in name else X
    assert uj.certify(*DIFFERENT[name], specs).verdict is Verdict.REFUTED


def test_a_key_that_may_be_nan_sorts_nothing():
    """x/x is NaN at 0, where it is the last; 1 keeps its place."""
    ones = lambda x: first(x) / first(x)
    assert uj.certify(lambda x: along(ones(x), second(x)), second, X, budget=2).verdict not in EQUAL
