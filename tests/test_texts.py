"""Integers that choose rows of tables and are compared, as letters: models of texts, and attacks on what is concluded."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from pairs.integers import of
from pairs.pair import f32
from pairs.texts import PAIRS

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
WRONG = [(f"{pair.name}: {name}", pair.left, wrong, pair.specs) for pair in PAIRS for name, wrong in pair.wrong.items()]
V = 50257
TABLE = f32(V, 2)


def text(count, low=0, high=V - 1, dtype="int32"):
    """So many token ids of a range."""
    return uj.integers(of(dtype, count), low, high)


@pytest.fixture(autouse=True)
def _promotion():
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("pair", one_in(9, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_of_a_model_are_equal_for_every_text(pair):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict in PASSING, found


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(18, WRONG))
def test_a_mistake_is_refuted_by_a_text(name, left, right, specs, tmp_path):
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict is Verdict.REFUTED, found
    example = found.counterexample
    assert example is not None
    arrays = jax.tree.unflatten(jax.tree.structure(specs), list(map(jnp.asarray, example.arrays)))
    sides = [jax.tree.leaves(f(*arrays)) for f in (left, right)]
    place = example.output, tuple(example.entry)
    assert not np.allclose(sides[0][place[0]][place[1]], sides[1][place[0]][place[1]], rtol=1e-5, atol=0)
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is Verdict.REFUTED


def same(rows):
    """1 if two rows are equal."""
    return jnp.all(rows[0] == rows[1]).astype(jnp.float32)


NEVER = {
    "equal rows": (lambda t, i: same(t[i]), lambda t, i: same(t[i]) * 0, TABLE, text(2)),
    "a sum of all rows": (lambda t, i: t.sum(0) - t[i].sum(0), lambda t, i: t[0] * 0, f32(9, 2), text(9, 0, 8)),
    "a divided difference": (
        lambda t, i: (t[i[0]] - t[i[1]]) / (t[i[0]] - t[i[1]]), lambda t, i: t[0] * 0 + 1, TABLE, text(2)),
    "a table and its transpose": (lambda t, i: t[i, 0], lambda t, i: t.T[i, 0], f32(64, 64), text(3, 0, 63)),
    "both axes of a table": (lambda t, i: t[i] @ t[:, 5], lambda t, i: t[i] @ t[5], f32(64, 64), text(3, 0, 63)),
    "a hidden comparison of rows": (
        lambda t, i: jax.ops.segment_sum(jnp.ones(2), i, V)[i], lambda t, i: jnp.ones(2), TABLE, text(2)),
    "the product of two rows with a 1": (
        lambda t, i: jax.nn.one_hot(i[0], V) @ jax.nn.one_hot(i[1], V) * t[0], lambda t, i: t[0] * 0, TABLE, text(2)),
    "a row short": (lambda t, i: jax.nn.one_hot(i, V - 1) @ t[:-1], lambda t, i: t[i], TABLE, text(3)),
    "a place in 50257": (lambda t, i: t[i + (i == 12345)], lambda t, i: t[i], TABLE, text(2, 0, V - 2)),
    "a word in 50257": (lambda t, i: jnp.where((i == 12345)[:, None], 0, t[i]), lambda t, i: t[i], TABLE, text(3)),
    "a word as a number": (
        lambda t, i: jnp.where((i.astype(jnp.float32) == 77)[:, None], 0, t[i]), lambda t, i: t[i], TABLE, text(3)),
    "two words are the same": (lambda t, i: t[i] * (i[0] != i[1]), lambda t, i: t[i], TABLE, text(2)),
    "the clip of a slice": (
        lambda t, i: lax.dynamic_slice(t, (i, 0), (2, 2))[0], lambda t, i: t[i], TABLE, uj.integers(of("int32"), 0, V - 1)),
    "the clip of an index": (lambda t, i: jnp.take(t, i, axis=0, mode="clip"), lambda t, i: t[i], TABLE, text(3, -5, V - 1)),
    "the end from behind": (lambda t, i: t[i], lambda t, i: jax.nn.one_hot(i, V) @ t, TABLE, text(3, -5, V - 1)),
    "filled beside": (lambda t, i: jnp.take(t, i, axis=0), lambda t, i: jnp.take(t, i, axis=0, mode="clip"), TABLE, text(3, 0, V)),
    "filled with zeros": (
        lambda t, i: t.at[i].get(mode="fill", fill_value=0), lambda t, i: jnp.take(t, i, axis=0, mode="clip"), TABLE, text(3, 0, V)),
    "without sign": (
        lambda t, i: jnp.take(t, i - 1, axis=0, mode="clip"), lambda t, i: jnp.take(t, jnp.maximum(i, 1) - 1, axis=0),
        TABLE, text(2, dtype="uint32")),
    "a cast to a byte": (lambda t, i: t[i.astype(jnp.uint8)], lambda t, i: t[i], TABLE, text(3)),
    "a cast to 16 bits": (lambda t, i: t[i.astype(jnp.int16).astype(jnp.int32)], lambda t, i: t[i], TABLE, text(3)),
    "added twice": (
        lambda x, i: jnp.zeros(V).at[i].set(x), lambda x, i: jax.ops.segment_sum(x, i, V), f32(2), text(2)),
    "added at the last place": (
        lambda x, i: jax.ops.segment_sum(x, i, V), lambda x, i: jax.ops.segment_sum(x, jnp.minimum(i, V - 2), V), f32(2), text(2)),
    "added beside": (
        lambda x, i: jnp.zeros(V).at[i].add(x), lambda x, i: jax.ops.segment_sum(x, i, V), f32(2), text(2, -5, V - 1)),
    "a sum that is squared": (
        lambda x, i: jax.ops.segment_sum(x, i, V) ** 2, lambda x, i: jax.ops.segment_sum(x**2, i, V), f32(2), text(2)),
    "a step along the gradient": (
        lambda t, i: t - 0.1 * jax.grad(lambda t: (t[i] ** 2).sum())(t), lambda t, i: t.at[i].multiply(0.8), f32(300, 2), text(2, 0, 299)),
    "a table of the rows read": (lambda t, i: jax.ops.segment_sum(t[i], i, V)[i], lambda t, i: t[i], TABLE, text(2)),
    "the count of a word": (lambda x, i: jax.ops.segment_sum(x * 0 + 1, i, V)[i], lambda x, i: x * 0 + 1, f32(2), text(2)),
    "sorted": (lambda t, i: t[jnp.sort(i)], lambda t, i: t[i], TABLE, text(3)),
    "the larger of two": (lambda t, i: t[jnp.maximum(i[0], i[1])], lambda t, i: t[i[0]], TABLE, text(2)),
    "one bit": (lambda t, i: t[i ^ 1], lambda t, i: t[i], TABLE, text(2, 0, V - 2)),
    "a constant table": (
        lambda t, i: jnp.arange(V, dtype=jnp.float32)[i], lambda t, i: jnp.minimum(jnp.arange(V, dtype=jnp.float32), V - 2)[i],
        TABLE, text(3)),
    "a table with a changed row": (lambda t, i: t.at[7].set(0)[i], lambda t, i: t[i], TABLE, text(3)),
    "a sum that wraps": (lambda t, i: t[jnp.where(i + 1 > i, 0, 1)], lambda t, i: t[i * 0], TABLE, of("int32", 3)),
    "the largest of the rows": (lambda t, i: t[i].max(0), lambda t, i: t[i[0]], TABLE, text(2)),
    "where the largest is": (
        lambda t, i: jnp.argmax(t[i][:, 0]).astype(jnp.float32), lambda t, i: 1.0 - jnp.argmax(t[i][::-1, 0]), TABLE, text(2)),
    "another table": (lambda t, u, i: t[i] + u[i], lambda t, u, i: t[i] + t[i], TABLE, TABLE, text(2)),
    "an integer as a real number": (lambda t, i: jnp.sin(i.astype(jnp.float32)) * t[0, 0], lambda t, i: i * t[0, 0], TABLE, text(2)),
    "equal for three different words": (
        lambda t, i: t[0] * ((i[0] == i[1]) | (i[1] == i[2]) | (i[0] == i[2])), lambda t, i: t[0] * 0, TABLE, text(3)),
    "order of words": (lambda t, i: jnp.where(i[0] < i[1], t[i[0]], t[i[1]]), lambda t, i: t[i[0]], TABLE, text(2)),
    "a mask of distances": (
        lambda t, i: t[0] * (jnp.abs(i[:, None] - i[None, :]) <= 2).sum(), lambda t, i: t[0] * 4, TABLE, text(2)),
}  # fmt: skip


@pytest.mark.parametrize("name", one_in(6, NEVER))
def test_what_differs_for_some_text_is_never_certified(name):
    left, right, *specs = NEVER[name]
    found = uj.certify(left, right, *specs, budget=60.0)
    assert found.verdict not in PASSING, found


ALMOST = {
    "equal rows": (lambda t, i: same(t[i]), lambda t, i: same(t[i]) * 0, TABLE, text(2)),
    "a word as a number": (
        lambda t, i: jnp.where((i.astype(jnp.float32) == 77)[:, None], 0, t[0]), lambda t, i: jnp.stack([t[0]] * 3), TABLE, text(3)),
}  # fmt: skip


@pytest.mark.parametrize("name", ALMOST)
def test_what_holds_for_almost_all_rows_is_not_taken_to_hold_for_equal_ones(name):
    left, right, *specs = ALMOST[name]
    assert uj.certify(left, right, *specs, budget=60.0, almost_everywhere=True).verdict not in PASSING
