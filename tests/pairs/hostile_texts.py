"""Pairs of functions of token ids that differ at some text, each with such a text, and true ones next to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

import uat_jax as uj

from .integers import of
from .pair import f32

V = 300
"""Words; three of them are more texts than are looked at one by one."""

TABLE = f32(V, 2)
PLACES = jnp.arange(V)
INFINITE = np.where(np.arange(V) == 77, np.inf, np.arange(V)).astype(np.float32)
NARROW = jnp.broadcast_to(jnp.arange(64), (64, 64))


def text(count: int | None = 3, low=0, high=V - 1, dtype="int32"):
    """So many token ids of a range; one is a scalar if the count is None."""
    return uj.integers(of(dtype, *([] if count is None else [count])), low, high)


@dataclass(frozen=True)
class Attack:
    """Two functions that differ at the integers `at`, and at real inputs that are drawn unless `reals` has them."""

    name: str
    left: Callable[..., Any]
    right: Callable[..., Any]
    specs: tuple[Any, ...]
    at: tuple[Any, ...]
    reals: Any = None

    def inputs(self) -> list[Any]:
        """Real inputs and the integers, in the order of the specs."""
        random, at = np.random.default_rng(0), iter(self.at)
        given = None if self.reals is None else iter(self.reals)

        def one(spec):
            shape, dtype = jnp.shape(np.empty(spec.shape)), np.dtype(spec.dtype)
            if not jnp.issubdtype(dtype, jnp.floating):
                return jax.device_put(np.asarray(next(at), dtype).reshape(shape))
            real = random.normal(size=shape) if given is None else next(given)
            return jax.device_put(np.asarray(real, dtype).reshape(shape))

        return [one(spec) for spec in self.specs]


def hot(i, count=V, dtype=jnp.float32):
    """Rows with a single 1."""
    return (i[..., None] == jnp.arange(count)).astype(dtype)


def summed(x, i, count=V):
    """x added up at the places i."""
    return jax.ops.segment_sum(x, i, count)


def attack(name, left, right, *specs, at, reals=None):
    """A row of the table; one array of integers is given without a tuple."""
    return Attack(name, left, right, specs, at if isinstance(at, tuple) else (at,), reals)


X2, X3 = f32(2), f32(3)
EQUAL = [5, 5, 5]
ONE = [0.6, 0.6, 0.6]

SUMS = [
    attack("a sum that is rounded towards 0", lambda x, i: summed(x, i).astype(jnp.int32).astype(jnp.float32),
           lambda x, i: summed(x.astype(jnp.int32).astype(jnp.float32), i), X3, text(), at=EQUAL, reals=[ONE]),
    attack("a sum as an integer", lambda x, i: summed(x, i).astype(jnp.int32), lambda x, i: summed(x.astype(jnp.int32).astype(jnp.float32), i).astype(jnp.int32),
           X3, text(), at=EQUAL, reals=[ONE]),
    attack("a sum as a truth", lambda x, i: summed(x, i).astype(bool), lambda x, i: summed(x * x, i).astype(bool),
           X3, text(), at=[5, 5, 6], reals=[[1, -1, 2]]),
    attack("counts in a byte", lambda i: (hot(i, dtype=jnp.uint8) * jnp.uint8(200)).sum(0, dtype=jnp.uint8).astype(jnp.float32),
           lambda i: (hot(i) * 200).sum(0), text(), at=EQUAL),
    attack("counts halved", lambda i: lax.div(hot(i, dtype=jnp.int32).sum(0), jnp.int32(2)).astype(jnp.float32), lambda i: jnp.zeros(V), text(), at=EQUAL),
    attack("counts in a product of bytes", lambda x, i: lax.dot_general(
               (hot(i, dtype=jnp.int8) * jnp.int8(100)).sum(0, dtype=jnp.int8)[None], jnp.ones((1, 2), jnp.int8), (((0,), (0,)), ((), ())),
               preferred_element_type=jnp.float32) * x,
           lambda x, i: (hot(i) * 100).sum(0)[:, None] * x, X2, text(), at=EQUAL),
    attack("counts as truths", lambda i: hot(i).sum(0).astype(bool).astype(jnp.float32), lambda i: hot(i).sum(0), text(), at=EQUAL),
    attack("squares of sums", lambda x, i: summed(x, i) ** 2, lambda x, i: summed(x**2, i), X3, text(), at=EQUAL),
    attack("products of sums", lambda x, i: summed(x, i) * summed(x, i), lambda x, i: summed(x * x, i), X3, text(), at=EQUAL),
    attack("absolute sums", lambda x, i: jnp.abs(summed(x, i)), lambda x, i: summed(jnp.abs(x), i), X3, text(), at=EQUAL, reals=[[1, -1, 1]]),
    attack("the largest of sums", lambda x, i: summed(x, i).max(), lambda x, i: jnp.maximum(x.max(), 0), X3, text(), at=EQUAL, reals=[ONE]),
    attack("the square of a sum", lambda x, i: (summed(x, i) * summed(x, i)).sum(), lambda x, i: (x * x).sum(), X3, text(), at=EQUAL, reals=[ONE]),
    attack("sums read at their places", lambda x, i: summed(x, i)[i], lambda x, i: x, X3, text(), at=EQUAL, reals=[ONE]),
    attack("a sum along the other places", lambda x, i: summed(x, i) @ jnp.arange(V, dtype=jnp.float32),
           lambda x, i: x @ (i + (i == 7)).astype(jnp.float32), X3, text(), at=[7, 8, 9]),
    attack("the mean of what is equal", lambda x, i: (summed(x, i) / jnp.maximum(summed(x * 0 + 1, i), 1))[i], lambda x, i: x, X3, text(), at=EQUAL),
    attack("set, not added", lambda x, i: jnp.zeros(V).at[i].set(x), lambda x, i: jnp.zeros(V).at[i].add(x), X3, text(), at=EQUAL),
    attack("multiplied, not added", lambda x, i: jnp.ones(V).at[i].multiply(x), lambda x, i: jnp.ones(V).at[i].add(x - 1), X3, text(), at=EQUAL),
    attack("the largest, not the sum", lambda x, i: jnp.zeros(V).at[i].max(x), lambda x, i: jnp.zeros(V).at[i].add(jnp.maximum(x, 0)),
           X3, text(), at=EQUAL, reals=[ONE]),
    attack("clipped beside in the other axis", lambda x, i: jnp.zeros((V, 2)).at[i, 7].add(x, mode="clip"),
           lambda x, i: jnp.zeros((V, 2)).at[i, 0].add(0 * x), X3, text(), at=[1, 2, 3]),
    attack("promised to be different, and set or added", lambda x, i: jnp.zeros(V).at[i].set(x, unique_indices=True),
           lambda x, i: jnp.zeros(V).at[i].add(x, unique_indices=True), X3, text(), at=EQUAL),
    attack("clipped and dropped", lambda x, i: jnp.zeros(V).at[i].add(x, mode="clip"), lambda x, i: jnp.zeros(V).at[i].add(x, mode="drop"),
           X3, text(high=V), at=[V, 1, 2]),
    attack("sums without the last", lambda x, i: summed(x, i), lambda x, i: summed(x, jnp.minimum(i, V - 2)), X3, text(), at=[V - 1, 0, 0]),
    attack("sums of fewer places", lambda x, i: jnp.concatenate([summed(x, i, V - 1), jnp.zeros(1)]), lambda x, i: summed(x, i), X3, text(), at=[V - 1, 0, 0]),
    attack("a mean over segments without empty ones", lambda x, i: summed(x, i).mean(), lambda x, i: x.mean(), X3, text(), at=[0, 1, 2]),
    attack("a gradient of a squared sum", lambda t, i: jax.grad(lambda t: (t[i].sum(0) ** 2).sum())(t), lambda t, i: jax.grad(lambda t: (t[i] ** 2).sum())(t),
           TABLE, text(), at=[0, 1, 2]),
    attack("a gradient of one word", lambda t, i: jax.grad(lambda t: t[i[0]].sum() + t[i[1]].sum())(t),
           lambda t, i: jax.grad(lambda t: jnp.where(i[0] == i[1], 1.0, 1.0) * t[i[0]].sum() + jnp.where(i[0] == i[1], 0.0, 1.0) * t[i[1]].sum())(t),
           TABLE, text(), at=EQUAL),
]  # fmt: skip

INFINITIES = [
    attack("an infinity in a constant", lambda x, i: x * jnp.isfinite(jnp.asarray(INFINITE)[i]), lambda x, i: x * jnp.ones(3), f32(), text(), at=[77, 1, 2]),
    attack("an infinity less itself", lambda x, i: x + jnp.asarray(INFINITE)[i] - jnp.asarray(INFINITE)[i], lambda x, i: x * jnp.ones(3), f32(), text(), at=[77, 1, 2]),
    attack("an infinity by a single 1", lambda x, i: x + hot(i) @ jnp.asarray(INFINITE), lambda x, i: x + jnp.asarray(INFINITE)[i], f32(), text(), at=[1, 2, 3]),
    attack("0 times a mask", lambda t, i: hot(i) @ jnp.where(t[:, 0] > 0, t[:, 1], -jnp.inf), lambda t, i: jnp.where(t[:, 0] > 0, t[:, 1], -jnp.inf)[i],
           TABLE, text(), at=[1, 2, 3]),
    attack("0 times a mask, entry by entry", lambda t, i: (hot(i) * jnp.where(t[:, 0] > 0, t[:, 1], -jnp.inf)).sum(-1),
           lambda t, i: jnp.where(t[:, 0] > 0, t[:, 1], -jnp.inf)[i], TABLE, text(), at=[1, 2, 3]),
    attack("0 times a mask of places", lambda t, i: hot(i) @ jnp.where(jnp.arange(V, dtype=jnp.float32) > 5, -jnp.inf, t[:, 1]),
           lambda t, i: jnp.where(jnp.arange(V, dtype=jnp.float32) > 5, -jnp.inf, t[:, 1])[i], TABLE, text(5, high=5), at=[1, 2, 3, 4, 5]),
    attack("0 times infinity", lambda x, i: summed(x, i) * jnp.inf, lambda x, i: summed(x * jnp.inf, i), X3, text(), at=[1, 2, 3]),
    attack("0 times infinity by a single 1", lambda x, i: (hot(i) * jnp.inf).sum(1) * x, lambda x, i: jnp.full(3, jnp.inf) * x, X3, text(), at=[1, 2, 3]),
    attack("0 times infinity as a truth", lambda x, i: (hot(i) * jnp.inf).astype(bool).astype(jnp.float32).sum(1) * x, lambda x, i: x, X3, text(), at=[1, 2, 3]),
    attack("0 times log 0", lambda t, i: hot(i) @ jnp.where(t[:, 0] > 0, t[:, 1], jnp.log(jnp.float32(0))),
           lambda t, i: jnp.where(t[i, 0] > 0, t[i, 1], jnp.log(jnp.float32(0))), TABLE, text(), at=[1, 2, 3]),
    attack("sums times 1 / 0", lambda x, i: summed(x, i) * (1 / jnp.zeros(())), lambda x, i: summed(x * (1 / jnp.zeros(())), i), X3, text(), at=[1, 2, 3]),
    attack("a masked loss", lambda t, i: -(hot(i) * jnp.where(t[:, 0] > 0, jax.nn.log_softmax(t[:, 1]), -jnp.inf)).sum(-1),
           lambda t, i: -jnp.where(t[:, 0] > 0, jax.nn.log_softmax(t[:, 1]), -jnp.inf)[i], TABLE, text(), at=[1, 2, 3]),
    attack("filled with NaN", lambda t, i: jnp.isnan(jnp.take(t, i, axis=0)).astype(jnp.float32), lambda t, i: 0 * t[:3], TABLE, text(high=V), at=[V, 1, 2]),
    attack("filled with NaN, times 0", lambda t, i: jnp.where(jnp.isnan(jnp.take(t, i, axis=0) * 0), 1.0, 0.0), lambda t, i: 0 * t[:3], TABLE, text(high=V), at=[V, 1, 2]),
    attack("filled with infinity", lambda t, i: jnp.exp(-t.at[i].get(mode="fill", fill_value=jnp.inf) ** 2), lambda t, i: jnp.exp(-jnp.take(t, i, axis=0, mode="clip") ** 2),
           TABLE, text(high=V), at=[V, 1, 2]),
]  # fmt: skip

CASES = [
    attack("places along the other axis in a case", lambda t, i: ((jnp.where(i[0] < 5, NARROW.T, NARROW) == i[1]) * t).sum(0),
           lambda t, i: ((NARROW.T == i[1]) * t).sum(0), f32(64, 64), text(3, high=63), at=[9, 3, 0]),
    attack("places along the other axis but in a case", lambda t, i: ((jnp.where(i[0] >= 5, NARROW.T, NARROW) == i[1]) * t).sum(0),
           lambda t, i: ((NARROW.T == i[1]) * t).sum(0), f32(64, 64), text(3, high=63), at=[1, 3, 0]),
    attack("places along the other axis for a truth", lambda t, b, i: ((jnp.where(b, NARROW.T, NARROW) == i[1]) * t).sum(0),
           lambda t, b, i: ((NARROW.T == i[1]) * t).sum(0), f32(64, 64), of(bool), text(3, high=63), at=(False, [9, 3, 0])),
    attack("zeros in the first case", lambda t, i: jnp.where(PLACES == i[0], t[:, 0], (i[1:2] <= 5).astype(jnp.float32)).sum(),
           lambda t, i: t[i[0], 0], TABLE, text(), at=[1, 2, 3]),
    attack("zeros in the second case", lambda t, i: jnp.where(PLACES == i[0], t[:, 0], (i[1:2] > 5).astype(jnp.float32)).sum(),
           lambda t, i: t[i[0], 0], TABLE, text(), at=[1, 12, 3]),
    attack("a table of the case", lambda t, i: jnp.where(i[0] < 5, PLACES, PLACES[::-1]).astype(jnp.float32)[i[1]] * t[0],
           lambda t, i: PLACES.astype(jnp.float32)[i[1]] * t[0], TABLE, text(), at=[9, 2, 3]),
    attack("one place of many", lambda t, i: t[i + (i == 123)], lambda t, i: t[i], TABLE, text(high=V - 2), at=[123, 0, 0]),
    attack("one word is silent", lambda t, i: jnp.where((i == 123)[:, None], 0, t[i]), lambda t, i: t[i], TABLE, text(), at=[123, 0, 0]),
    attack("a word is the next one", lambda t, i: t[i[0]] * (i[1] != i[0] + 1), lambda t, i: t[i[0]], TABLE, text(), at=[4, 5, 0]),
    attack("a distance of 100", lambda t, i: t[i[0]] * (i[1] - i[0] != 100), lambda t, i: t[i[0]], TABLE, text(), at=[4, 104, 0]),
    attack("the sum of ends", lambda t, i: t[i[0]] * jnp.where(i[0] >= V - 1, 0.0, 1.0), lambda t, i: t[i[0]], TABLE, text(), at=[V - 1, 0, 0]),
    attack("three are equal", lambda t, i: t[i[0]] * ~((i[0] == i[1]) & (i[1] == i[2])), lambda t, i: t[i[0]], TABLE, text(), at=EQUAL),
    attack("three of two", lambda t, i: t[i[0]] * ((i[0] == i[1]) | (i[1] == i[2]) | (i[0] == i[2])) * (i[0] == i[1]), lambda t, i: t[i[0]] * (i[1] == i[0]) * (i[0] == i[2]),
           f32(2, 2), text(13, high=1), at=[0, 0] + [1] * 11),
    attack("words in order", lambda t, i: jnp.where((i[0] < i[1]) & (i[1] < i[2]), t[i[0]], 0), lambda t, i: jnp.where(i[0] < i[2], t[i[0]], 0), TABLE, text(), at=[1, 9, 5]),
    attack("the median", lambda t, i: t[jnp.maximum(jnp.minimum(i[0], i[1]), i[2])], lambda t, i: t[jnp.sort(i)[1]], TABLE, text(), at=[1, 2, 9]),
    attack("a mask one longer", lambda x, n, i: x * (jnp.arange(3) < n), lambda x, n, i: x * (jnp.arange(3) <= n), X3, text(None, 0, 2), text(), at=(1, [0, 0, 0])),
    attack("segments that touch", lambda x, i: x @ (i[:, None] == i[None, :]), lambda x, i: x, X3, text(), at=EQUAL),
    attack("segments in order", lambda x, i: x @ (i[:, None] <= i[None, :]), lambda x, i: x @ (PLACES[:3, None] <= PLACES[None, :3]), X3, text(), at=[3, 2, 1]),
]  # fmt: skip

PLACING = [
    attack("equal rows", lambda t, i: jnp.all(t[i[0]] == t[i[1]]) * 1.0, lambda t, i: 0 * t[0, 0], TABLE, text(), at=EQUAL),
    attack("the sign of a difference", lambda t, i: jnp.sign(t[i[0]] - t[i[1]]) ** 2, lambda t, i: 1 + 0 * t[0], TABLE, text(), at=EQUAL),
    attack("a row is one of all", lambda t, i: jnp.any(t == t[i[0]], axis=0) * 1.0, lambda t, i: 0 * t[0], TABLE, text(), at=EQUAL),
    attack("the nearest row", lambda t, i: (jnp.abs(t - t[i[0]]).min(0) == 0) * 1.0, lambda t, i: 0 * t[0], TABLE, text(), at=EQUAL),
    attack("above the largest", lambda t, i: (t.max(0) >= t[i]) * 1.0, lambda t, i: (t.max(0) > t[i]) * 1.0, TABLE, text(), at=[0, 1, 2],
           reals=[np.eye(V, 2)]),
    attack("a table and its transpose", lambda t, i: t[i, 0], lambda t, i: t[0, i], f32(V, V), text(), at=[1, 2, 3]),
    attack("a tied table the wrong way", lambda t, i: t[i] @ t, lambda t, i: t[:, i].T @ t, f32(V, V), text(), at=[1, 2, 3]),
    attack("the next row", lambda t, i: t[i + 1], lambda t, i: t[i], TABLE, text(high=V - 2), at=[1, 2, 3]),
    attack("the next row beyond the end", lambda t, i: jnp.take(t, i + 1, axis=0, mode="clip"), lambda t, i: t[(i + 1) * (i < V - 1)], TABLE, text(), at=[V - 1, 0, 0]),
    attack("from the end", lambda t, i: t[V - 1 - i], lambda t, i: t[::-1][i] + (i == 200)[:, None], TABLE, text(), at=[200, 0, 0]),
    attack("from behind", lambda t, i: t[i], lambda t, i: hot(i) @ t, TABLE, text(low=-5), at=[-1, 0, 0]),
    attack("clipped from behind", lambda t, i: t[i], lambda t, i: jnp.take(t, i, axis=0, mode="clip"), TABLE, text(low=-5), at=[-1, 0, 0]),
    attack("a slice that is moved back", lambda t, i: lax.dynamic_slice(t, (i[0], 0), (2, 2))[1], lambda t, i: jnp.take(t, i[0] + 1, axis=0, mode="clip") + (i[0] == V - 1), TABLE, text(), at=[V - 1, 0, 0]),
    attack("a slice's first row", lambda t, i: lax.dynamic_slice(t, (i[0], 0), (2, 2))[0], lambda t, i: t[i[0]], TABLE, text(), at=[V - 1, 0, 0]),
    attack("a byte", lambda t, i: t[i.astype(jnp.uint8).astype(jnp.int32)], lambda t, i: t[i], TABLE, text(), at=[299, 0, 0]),
    attack("a byte that wraps", lambda t, i: t[(i + jnp.uint8(200)).astype(jnp.int32)], lambda t, i: t[i.astype(jnp.int32) + 200], f32(456, 2), text(4, high=255, dtype="uint8"), at=[100, 0, 0, 0]),
    attack("a difference without sign", lambda t, i: jnp.where(i[0] - i[1] > 0, t[0], t[1]), lambda t, i: jnp.where(i[0] > i[1], t[0], t[1]), TABLE, text(dtype="uint32"), at=[1, 2, 0]),
    attack("the smallest number's sign", lambda t, i: jnp.where(-i <= 0, t[0, 0], t[1, 0]), lambda t, i: jnp.where(i >= 0, t[0, 0], t[1, 0]), TABLE, of("int32", 3), at=[-(2**31), 0, 0]),
    attack("the absolute smallest number", lambda t, i: jnp.where(jnp.maximum(i, -i) >= 0, t[0, 0], t[1, 0]), lambda t, i: t[0, 0] + 0 * i, TABLE, of("int32", 3), at=[-(2**31), 0, 0]),
    attack("one more wraps", lambda t, i: jnp.where(i + 1 > i, t[0, 0], t[1, 0]), lambda t, i: t[0, 0] + 0 * i, TABLE, of("int32", 3), at=[2**31 - 1, 0, 0]),
    attack("four bits", lambda t, i: i.astype(jnp.int4).astype(jnp.float32) * t[0, 0], lambda t, i: jnp.clip(i, -8, 7) * t[0, 0], TABLE, text(), at=[20, 0, 0]),
    attack("a number as a row", lambda t, i: i.astype(jnp.float32) * t[0, 0], lambda t, i: jnp.minimum(i, V - 2).astype(jnp.float32) * t[0, 0], TABLE, text(), at=[V - 1, 0, 0]),
    attack("a number's low end", lambda t, i: jnp.where(i.astype(jnp.float32) <= 0, 0, t[0, 0]), lambda t, i: t[0, 0] + 0 * i, TABLE, text(), at=[0, 0, 0]),
    attack("a number's high end", lambda t, i: jnp.where(i.astype(jnp.float32) >= V - 1, 0, t[0, 0]), lambda t, i: t[0, 0] + 0 * i, TABLE, text(), at=[V - 1, 0, 0]),
    attack("an integer below a float", lambda x, i: x * (i < 12.5), lambda x, i: x * (i < 12), f32(), text(), at=[12, 0, 0]),
    attack("a constant's last row", lambda x, i: x * jnp.asarray(np.arange(V, dtype=np.float32) ** 2)[i], lambda x, i: x * jnp.asarray(np.minimum(np.arange(V), V - 2).astype(np.float32) ** 2)[i],
           f32(), text(), at=[V - 1, 0, 0]),
    attack("a changed row", lambda t, i: t.at[7].set(0)[i], lambda t, i: t[i], TABLE, text(), at=[7, 0, 0]),
    attack("a masked row", lambda t, i: jnp.where(jnp.arange(V)[:, None] == 7, 0, t)[i], lambda t, i: t[i], TABLE, text(), at=[7, 0, 0]),
    attack("one class less", lambda t, i: hot(i, V - 1) @ t[:-1], lambda t, i: t[i], TABLE, text(), at=[V - 1, 0, 0]),
    attack("one class more", lambda t, i: jax.nn.one_hot(i, V + 1) @ jnp.concatenate([t, t[:1]]), lambda t, i: t[i * (i < V - 1)], TABLE, text(), at=[V - 1, 0, 0]),
    attack("a softmax over fewer words", lambda t, i: jax.nn.softmax(t[:, 0])[i], lambda t, i: jnp.exp(t[i, 0]) / jnp.exp(t[:-1, 0]).sum(), TABLE, text(), at=[1, 2, 3]),
    attack("a loss of the next word", lambda t, i: jax.nn.log_softmax(t[i[:-1]] @ t.T)[jnp.arange(2), i[1:]], lambda t, i: jax.nn.log_softmax(t[i[:-1]] @ t.T)[jnp.arange(2), i[:-1]], TABLE, text(), at=[1, 2, 3]),
    attack("two tables", lambda t, u, i: t[i] + u[i], lambda t, u, i: t[i] + t[i], TABLE, TABLE, text(), at=[1, 2, 3]),
    attack("two texts", lambda t, i, j: t[i] * t[j], lambda t, i, j: t[i] * t[i], TABLE, text(2), text(2), at=([1, 2], [3, 4])),
    attack("the order of equal rows", lambda t, i: jnp.argmax(t[i][:, 0]).astype(jnp.float32), lambda t, i: 2.0 - jnp.argmax(t[i][::-1, 0]), TABLE, text(), at=EQUAL),
    attack("ranks of equal rows", lambda t, i: (t[i, 0][:, None] > t[i, 0]).sum(1) * 1.0, lambda t, i: jnp.argsort(jnp.argsort(t[i, 0])) * 1.0, TABLE, text(), at=EQUAL),
    attack("two words", lambda t, i: t[i[0]] * t[1 - i[0]], lambda t, i: t[0] * t[0], f32(2, 2), text(13, high=1), at=[0] * 13),
    attack("the only word", lambda t, i: summed(t[i[0], 0] * jnp.ones(2), i[1:3] * 0, 1) * t[0, :1], lambda t, i: summed(t[i[0], 0] * jnp.ones(2), i[1:3] * 0, 1) * t[0, 1:], f32(1, 2), text(), at=[0, 0, 0]),
]  # fmt: skip

ATTACKS = [*SUMS, *INFINITIES, *CASES, *PLACING]
"""Pairs that must never pass."""


def attended(t, i):
    """Rows of a text, and of the words before each: a mask of −∞ in a softmax."""
    s = jnp.where(jnp.tril(jnp.ones((3, 3), bool)), t[i] @ t[i].T, -jnp.inf)
    return jax.nn.softmax(s, axis=-1) @ t[i]


def picked(scores, i):
    """The log of the probability of each word i."""
    return jnp.take_along_axis(jax.nn.log_softmax(scores), i[:, None], axis=1)[:, 0]


TRUE = {
    "one row twice": (lambda t, i: t[i[0]] + t[i[0]], lambda t, i: 2 * t[i[0]], TABLE, text()),
    "equal words, one row": (lambda t, i: jnp.where(i[0] == i[1], t[i[0]], 0), lambda t, i: jnp.where(i[0] == i[1], t[i[1]], 0), TABLE, text()),
    "the next word's row": (lambda t, i: jnp.where(i[1] == i[0] + 1, t[i[1]], 0), lambda t, i: jnp.where(i[0] == i[1] - 1, t[i[0] + 1 - (i[0] == V - 1)], 0), TABLE, text()),
    "clipped within the range": (lambda t, i: t[jnp.clip(i, 0, V - 1)], lambda t, i: t[i], TABLE, text()),
    "filled within the range": (lambda t, i: jnp.take(t, i, axis=0), lambda t, i: t[i], TABLE, text()),
    "from behind": (lambda t, i: t[i], lambda t, i: t[jnp.where(i < 0, i + V, i)], TABLE, text(low=-V)),
    "a single 1": (lambda t, i: hot(i) @ t, lambda t, i: t[i], TABLE, text()),
    "a single 1 beside the table": (lambda t, i: hot(i) @ t, lambda t, i: jnp.where((i < V)[:, None], jnp.take(t, i, axis=0, mode="clip"), 0), TABLE, text(high=V + 3)),
    "a single 1 in a selection": (lambda t, i: jnp.where((i[:, None] == PLACES)[..., None], t, 0).sum(1), lambda t, i: t[i], TABLE, text()),
    "a mask that is selected": (lambda t, i: jnp.where(i[:, None] == PLACES, jnp.where(t[:, 0] > 0, t[:, 1], -jnp.inf), 0).sum(1),
                                lambda t, i: jnp.where(t[i, 0] > 0, t[i, 1], -jnp.inf), TABLE, text()),
    "a loss behind a mask": (lambda t, i: (hot(i, 40) * jax.nn.log_softmax(attended(t, i) @ t.T)).sum(-1), lambda t, i: picked(attended(t, i) @ t.T, i), f32(40, 2), text(high=39)),
    "sums at places": (lambda x, i: hot(i).T @ x, lambda x, i: summed(x, i), X3, text()),
    "a multiple of a sum": (lambda x, i: 3 * summed(x, i), lambda x, i: summed(3 * x, i), X3, text()),
    "the whole of a sum": (lambda x, i: summed(x, i).sum(), lambda x, i: x.sum(), X3, text()),
    "a sum by a table": (lambda t, x, i: summed(x, i) @ t, lambda t, x, i: x @ t[i], TABLE, X3, text()),
    "clipped sums": (lambda x, i: jnp.zeros((V, 2)).at[i, 1].add(x, mode="clip"), lambda x, i: jnp.zeros((V, 2)).at[i, 1].add(x), X3, text()),
    "a gradient of rows": (lambda t, i: jax.grad(lambda t: (t[i] ** 2).sum())(t), lambda t, i: jax.grad(lambda t: ((hot(i) @ t) ** 2).sum())(t), TABLE, text()),
    "a tied table": (lambda t, i: t[i] @ t.T, lambda t, i: jnp.einsum("td,vd->tv", hot(i, 40) @ t, t), f32(40, 2), text(high=39)),
    "a wider integer": (lambda t, i: t[i.astype(jnp.int32)], lambda t, i: t[i.astype(jnp.int32) + 200 - 200], f32(256, 2), text(4, high=255, dtype="uint8")),
    "segments": (lambda x, i: x @ (i[:, None] == i[None, :]), lambda x, i: x @ jnp.where(i[:, None] > i[None, :], 0.0, jnp.where(i[:, None] < i[None, :], 0.0, 1.0)), X3, text()),
    "ends of a number": (lambda x, i: x * (i >= 0), lambda x, i: x * (i <= V - 1), f32(), text()),
    "two words": (lambda t, i: t[i[0]] * (i[1] == 0), lambda t, i: t[i[0]] * (1 - i[1]), f32(2, 2), text(13, high=1)),
}  # fmt: skip
"""Pairs that are equal for every text, next to attacks."""
