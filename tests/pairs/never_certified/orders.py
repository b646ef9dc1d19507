"""Whole numbers next to a number, sorted rows, and entries at places that depend on the inputs."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, ind, real

M = f32(3, 3)
FOUR = f32(4)
ONE, TWO, ZERO = np.float32(1), np.float32(2), np.float32(0)


def tie(name, left, right, specs, witness):
    """A row that differs on a null set only."""
    return Different(name, left, right, specs, witness, null_set=True)


def integer(x, dtype=jnp.int32):
    """A cast to an integer dtype and back."""
    return x.astype(dtype).astype(x.dtype)


def reduced(combine, start):
    """`lax.reduce` by a program of two numbers."""
    return lambda x: lax.reduce(x, np.asarray(start, x.dtype), combine, (0,))


def windows(combine, start, size=2):
    """`lax.reduce_window` by a program of two numbers."""
    return lambda x: lax.reduce_window(x, np.asarray(start, x.dtype), combine, (size,), (1,), "VALID")


def at(x, index):
    """One entry, by a dynamic slice that a bad index is clamped for."""
    return lax.dynamic_slice(x, (index,), (1,))[0]


TABLE = np.array([2, 5, 0], np.float32)


def cut(x):
    """A number as 0, 1 or 2."""
    return jnp.clip(x, 0, 2).astype(jnp.int32)


def branches(index, x):
    """One of three functions of x."""
    return lax.switch(index, [lambda x: x, lambda x: 2 * x, lambda x: x + 1], x)


def nothing(x, index):
    """The sum of no entries, from a place that depends on the input."""
    return lax.dynamic_slice(x, (index,), (0,)).sum()


DIFFERENT = (
    tie("floor and the ceiling less one", jnp.floor, lambda x: jnp.ceil(x) - 1, (S,), (1,)),
    tie("floor of a negation", lambda x: jnp.floor(-x), lambda x: -jnp.floor(x) - 1, (S,), (2,)),
    tie("rounding and an odd shift", lambda x: jnp.round(x + 1), lambda x: jnp.round(x) + 1, (S,), (0.5,)),
    tie("rounding and floor of a half more", jnp.round, lambda x: jnp.floor(x + 0.5), (S,), (0.5,)),
    tie("two ways to round a half", jnp.round, lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO), (S,), (2.5,)),
    tie("halves away from zero do not shift", lambda x: lax.round(x + 2, lax.RoundingMethod.AWAY_FROM_ZERO), lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO) + 2, (S,), (-0.5,)),
    tie("a fraction that is never zero", lambda x: ind(x - jnp.floor(x) > 0), lambda x: 1 + 0 * x, (S,), (3,)),
    tie("a remainder of a multiple", lambda x: jnp.mod(-x, 3.0), lambda x: 3 - jnp.mod(x, 3.0), (S,), (3,)),
    Different("floor and truncation", jnp.floor, jnp.trunc, (S,), (-0.5,)),
    Different("floor of a half more", lambda x: jnp.floor(x + 0.5), lambda x: jnp.floor(x) + 0.5, (S,), (0.25,)),
    Different("floor of a double", lambda x: jnp.floor(2 * x), lambda x: 2 * jnp.floor(x), (S,), (0.75,)),
    Different("floor of a sum", lambda x, y: jnp.floor(x + y), lambda x, y: jnp.floor(x) + jnp.floor(y), (S, S), (0.75, 0.5)),
    Different("floor of half a floor", lambda x: jnp.floor(jnp.floor(x) / 2), lambda x: jnp.floor(x) / 2, (S,), (1.5,)),
    Different("rounding of half a floor", lambda x: jnp.round(jnp.floor(x) / 2 + 1), lambda x: jnp.round(jnp.floor(x) / 2) + 1, (S,), (1.5,)),
    Different("a floor above 2, and what it is of", lambda x: ind(jnp.floor(x) > 2), lambda x: ind(x > 2), (S,), (2.5,)),
    Different("a floor from a half on", lambda x: jnp.floor(jnp.maximum(x, 3.5)), lambda x: jnp.maximum(jnp.floor(x), 3.5), (S,), (0,)),
    Different("a floor and a number above a half", lambda x, y: ind(jnp.floor(x) + y > 0.5), lambda x, y: ind(jnp.floor(x) + y >= 1), (S, S), (0, 0.75)),
    Different("twice a floor is 4", lambda x: ind(2 * jnp.floor(x) == 4), lambda x: 0 * x, (S,), (2.5,)),
    Different("twice and three times a floor", lambda x, y: ind(2 * jnp.floor(x) - 3 * jnp.floor(y) == 1), lambda x, y: 0 * x, (S, S), (2, 1)),
    Different("one over a floor above a quarter", lambda x: ind(1 / (1 + jnp.floor(x) ** 2) > 0.25), lambda x: ind(1 / (1 + jnp.floor(x) ** 2) >= 1), (S,), (1,)),
    Different("rounded and clipped at a half", lambda x: jnp.round(jnp.clip(x, -6.5, 6.5)), lambda x: jnp.clip(jnp.round(x), -7, 7), (S,), (8,)),
    Different("quantised to other ends", lambda x: jnp.round(jnp.clip(2 * x, -8, 7)), lambda x: jnp.clip(jnp.round(2 * x), -8, 6), (S,), (9,)),
    Different("floor of a product with a floor", lambda x, y: jnp.floor(jnp.floor(x) * y), lambda x, y: jnp.floor(x) * jnp.floor(y), (S, S), (2.5, 0.5)),
    Different("a fraction below a half", lambda x: jnp.minimum(x - jnp.floor(x), 0.5), lambda x: x - jnp.floor(x), (S,), (0.75,)),
    Different("a distance to the nearest below a quarter", lambda x: jnp.minimum(jnp.abs(x - jnp.round(x)), 0.25), lambda x: jnp.abs(x - jnp.round(x)), (S,), (0.375,)),
    Different("rem and mod", lambda x: lax.rem(x, np.asarray(3, x.dtype)), lambda x: jnp.mod(x, 3.0), (S,), (-1,)),
    Different("mod of another sum", lambda x: jnp.mod(x + 5, 3.0), lambda x: jnp.mod(x, 3.0), (S,), (0.5,)),
    Different("mod by a negative number", lambda x: jnp.mod(x, -3.0), lambda x: jnp.mod(x, 3.0), (S,), (1,)),
    # 1/x² is infinite at 0, and x/x is NaN there: as integers both are numbers again
    tie("a cast of what is infinite", lambda x: real(cut(1 / (x * x))), lambda x: real(cut(x / x / (x * x))), (S,), (0,)),
    tie("an entry where an index is infinite", lambda x: jnp.asarray(TABLE)[cut(1 / (x * x))], lambda x: jnp.asarray(TABLE)[cut(x / x / (x * x))], (S,), (0,)),
    tie("a branch where an index is infinite", lambda x: branches(cut(1 / (x * x)), x), lambda x: branches(cut(x / x / (x * x)), x), (S,), (0,)),
    tie("a slice where an index is infinite", lambda x: at(TABLE + x[0], cut(1 / (x[0] * x[0]))), lambda x: at(TABLE + x[0], cut(x[0] / x[0] / (x[0] * x[0]))), (V,), ([0, 1, 1],)),
    tie("a cast of a maximum less its bound", lambda x: real(cut(jnp.maximum(1 / (x * x), 1) - 1)), lambda x: real(cut(jnp.maximum(x / x / (x * x), 1) - 1)), (S,), (0,)),
    Different("an integer that saturates", integer, jnp.trunc, (S,), (3e9,)),
    Different("an integer that saturates, inside a maximum", lambda x: integer(jnp.maximum(x, 0)), lambda x: jnp.floor(jnp.maximum(x, 0)), (S,), (3e9,)),
    Different("a clip that is too wide to cast", lambda x: integer(jnp.clip(x, -3e9, 3e9)), lambda x: jnp.trunc(jnp.clip(x, -3e9, 3e9)), (S,), (3e9,)),
    Different("a cast to booleans", lambda x: real(x.astype(bool)), lambda x: ind(jnp.trunc(x) != 0), (S,), (0.5,)),
    Different("the floor of a positive number", lambda x: ind(jnp.floor(jnp.exp(x)) > 0), lambda x: 1 + 0 * x, (S,), (-1,)),
    Different("a floor of what may be NaN", lambda x: ind(jnp.floor(jnp.log(x)) <= jnp.log(x)), lambda x: 1 + 0 * x, (S,), (-1,)),
    Different("largest and smallest by place", lambda x: x[jnp.argmax(x)], lambda x: x[jnp.argmin(x)], (V,), ((1, 2, 3),)),
    Different("the entry where another row is largest", lambda x, y: x[jnp.argmax(y)], lambda x, y: jnp.max(x) + 0 * y[0], (V, V), ((1, 2, 3), (3, 2, 1))),
    Different("the place in a part of the row", lambda x: x[jnp.argmax(x[:2])], jnp.max, (V,), ((1, 2, 3),)),
    Different("the place in the other part of the row", lambda x: x[jnp.argmax(x[1:])], jnp.max, (V,), ((1, 2, 3),)),
    Different("the place in the row turned round", lambda x: x[jnp.argmax(x[::-1])], jnp.max, (V,), ((1, 2, 3),)),
    Different("where the square is largest", lambda x: x[jnp.argmax(x * x)], lambda x: jnp.max(jnp.abs(x)), (V,), ((1, 2, -3),)),
    Different("the place along another axis", lambda a: jnp.take_along_axis(a, jnp.argmax(a, 0)[:, None], 1)[:, 0], lambda a: a.max(1), (M,), (((0, 5, 1), (7, 2, 3), (4, 9, 8)),)),
    Different("the place of another row", lambda a: a[0][jnp.argmax(a[1])], lambda a: a[0].max() + 0 * a[1, 0], (M,), (((0, 5, 1), (7, 2, 3), (4, 9, 8)),)),
    Different("the next place", lambda x: x[jnp.argmax(x) - 1], jnp.max, (V,), ((1, 2, 3),)),
    Different("twice the place, clamped", lambda x: at(x, 2 * jnp.argmax(x)), lambda x: x[2] + 0 * x[0], (V,), ((3, 2, 1),)),
    Different("a place that is filled", lambda x: x.at[jnp.argmax(x) + 1].get(mode="fill", fill_value=0), lambda x: at(x, jnp.argmax(x) + 1), (V,), ((1, 2, 3),)),
    Different("the order of another row", lambda x, y: x[jnp.argsort(y)], lambda x, y: jnp.sort(x) + 0 * y, (V, V), ((1, 2, 3), (3, 2, 1))),
    Different("ranks instead of places", lambda x: x[jnp.argsort(jnp.argsort(x))], jnp.sort, (V,), ((2, 3, 1),)),
    Different("descending order", lambda x: x[jnp.argsort(-x)], jnp.sort, (V,), ((2, 3, 1),)),
    Different("the second of the largest", lambda x: x[lax.top_k(x, 2)[1][1]], jnp.max, (V,), ((2, 3, 1),)),
    Different("entries of other rows", lambda a, b: a[np.arange(3), jnp.argmax(b, 1)], lambda a, b: a[np.arange(3)[::-1], jnp.argmax(b, 1)], (M, M), (((0, 5, 1), (7, 2, 3), (4, 9, 8)), ((0, 5, 1), (7, 2, 3), (4, 9, 8)))),
    Different("a part at another place", lambda x, v: lax.dynamic_slice(v, (jnp.argmax(x[:2]),), (2,)), lambda x, v: jnp.where(x[1] > x[0], v[:2], v[1:]), (V, V), ((1, 2, 3), (1, 2, 4))),
    Different("the gradient of another entry", jax.grad(lambda x: x[jnp.argmax(x)]), lambda x: jax.nn.one_hot(jnp.argmin(x), 3), (V,), ((1, 2, 3),)),
    Different("places of NaN", lambda x: x[jnp.argmax(jnp.log(x))], jnp.max, (V,), ((1, -2, 3),)),
    tie("the first of equals and the last", lambda x: real(jnp.argmax(x)), lambda x: 2 - real(jnp.argmax(x[::-1])), (V,), ((1, 1, 0),)),
    tie("an entry at the first of equals and at the last", lambda p, q: p[jnp.argmax(q)], lambda p, q: p[::-1][jnp.argmax(q[::-1])], (V, V), ((1, 2, 3), (1, 1, 0))),
    tie("of two the second if it is not smaller", lambda p, q: p[:2][jnp.argmax(q[:2])], lambda p, q: jnp.where(q[1] >= q[0], p[1], p[0]), (V, V), ((1, 2, 3), (1, 1, 0))),
    tie("a place by equality with the largest", lambda x: real(jnp.argmax(x) == 1), lambda x: ind(x[1] == jnp.max(x)), (V,), ((1, 1, 0),)),
    Different("sorting of magnitudes", lambda x: jnp.sort(jnp.abs(x)), lambda x: jnp.abs(jnp.sort(x)), (V,), ((-3, 1, 2),)),
    Different("sorting of a sum", lambda x, y: jnp.sort(x + y), lambda x, y: jnp.sort(x) + jnp.sort(y), (V, V), ((1, 2, 3), (3, 2, 1))),
    Different("the middle and the mean", lambda x: jnp.sort(x)[1], jnp.mean, (V,), ((0, 0.5, 4),)),
    Different("two of four in the middle", lambda x: jnp.sort(x)[1] + jnp.sort(x)[2], lambda x: 2 * jnp.sort(x)[1], (FOUR,), ((1, 2, 3, 4),)),
    Different("three of five in the middle", lambda x: jnp.sort(x)[1] + jnp.sort(x)[3], lambda x: 2 * jnp.sort(x)[2], (f32(5),), ((1, 2, 3, 5, 9),)),
    Different("sorting along two axes in another order", lambda a: jnp.sort(jnp.sort(a, 0), 1), lambda a: jnp.sort(jnp.sort(a, 1), 1), (M,), (((9, 1, 2), (3, 8, 4), (5, 6, 7)),)),
    Different("sums across what is sorted", lambda a: jnp.sort(a, 0).sum(1), lambda a: a.sum(1), (M,), (((9, 1, 2), (3, 8, 4), (5, 6, 7)),)),
    Different("maxima across what is sorted", lambda a: jnp.sort(a, 0).max(1), lambda a: a.max(1), (M,), (((9, 1, 2), (3, 8, 4), (5, 6, 7)),)),
    Different("a half of what is sorted", lambda x: jnp.sort(x)[:2].max(), jnp.max, (V,), ((1, 2, 3),)),
    Different("sorted and scaled", lambda x: jnp.sort(jnp.sort(x) * np.float32(-1)), jnp.sort, (V,), ((1, 2, 3),)),
    Different("what is sorted along with it", lambda x, y: lax.sort((x, y), num_keys=1)[1], lambda x, y: jnp.sort(y) + 0 * x, (V, V), ((1, 2, 3), (3, 2, 1))),
    Different("a second key", lambda x, y: lax.sort((x, y), num_keys=2)[1], lambda x, y: jnp.sort(y) + 0 * x, (V, V), ((1, 2, 3), (3, 2, 1))),
    Different("cumulative maxima backwards", lambda x: lax.cummax(lax.cummax(x)), lambda x: lax.cummax(lax.cummax(x), reverse=True), (V,), ((1, 2, 3),)),
    Different("windows of windows, too wide", lambda x: windows(lax.max, -jnp.inf)(windows(lax.max, -jnp.inf)(x)), lambda x: windows(lax.max, -jnp.inf, 4)(x)[0] * jnp.ones(2, x.dtype), (FOUR,), ((1, 2, 3, 4),)),
    Different("a sum that starts at one", reduced(lambda a, b: a + b, 1), jnp.sum, (V,), ((1, 2, 3),)),
    Different("a sum that counts twice", reduced(lambda a, b: a + 2 * b, 0), jnp.sum, (V,), ((1, 2, 3),)),
    Different("a sum of a double", reduced(lambda a, b: a + a, 1), lambda x: 1 + jnp.sum(x), (V,), ((1, 2, 3),)),
    Different("a maximum that starts at two", reduced(lambda a, b: jnp.maximum(a, b), 2), jnp.max, (V,), ((-1, 0, 1),)),
    Different("products of windows and sums", windows(lambda a, b: a * b, 1), windows(lambda a, b: a + b, 0), (V,), ((1, 2, 3),)),
    Different("nothing taken from where the largest is", lambda x: nothing(x, jnp.argmax(x)) + x[0], lambda x: nothing(x, jnp.argmax(x)) + jnp.max(x), (V,), ((1, 2, 3),)),
    Different("nothing taken from any place", lambda x: nothing(x, x[0].astype(jnp.uint32)) + x[0], lambda x: x[1] + 0 * x[0], (V,), ((1, 2, 3),)),
    Different("the largest along no columns", lambda a: jnp.max(a[:, :0], 0).sum() + a.sum(), jnp.max, (M,), (((0, 5, 1), (7, 2, 3), (4, 9, 8)),)),
    Different("sorted columns that are none", lambda a: jnp.sort(a[:, :0], 0).sum() + a[0, 0], lambda a: jnp.sort(a, 0)[0, 0], (M,), (((9, 5, 1), (7, 2, 3), (4, 9, 8)),)),
    Different("a maximum that starts at two, along no columns", lambda a: reduced(lax.max, 2)(a[:, :0]).sum() + a[0, 0], lambda a: 2 + a[0, 0], (M,), (((9, 5, 1), (7, 2, 3), (4, 9, 8)),)),
)  # fmt: skip

EQUAL = (
    Equal("nothing taken from where the largest is", lambda x: nothing(x, jnp.argmax(x)) + jnp.max(x), jnp.max, (V,)),
    Equal("nothing taken from any place", lambda x: nothing(x, x[0].astype(jnp.uint32)) + x[0], lambda x: x[0] + 0 * x[1], (V,)),
    Equal("the largest along no columns", lambda a: jnp.max(a[:, :0], 0).sum() + a.max(), jnp.max, (M,)),
    Equal("sorted columns that are none", lambda a: jnp.sort(a[:, :0], 0).sum() + a[0, 0], lambda a: a[0, 0] + 0 * a[1, 1], (M,)),
    Equal("a maximum that starts at two, along no columns", lambda a: reduced(lax.max, 2)(a[:, :0]).sum() + a.max(), jnp.max, (M,)),
    Equal("a floor above 2", lambda x: ind(jnp.floor(x) > 2), lambda x: ind(x >= 3), (V,)),
    Equal("twice a floor above 5", lambda x: ind(2 * jnp.floor(x) > 5), lambda x: ind(jnp.floor(x) >= 3), (V,)),
    Equal("twice a floor is not 5", lambda x: ind(2 * jnp.floor(x) == 5), lambda x: 0 * x, (V,)),
    Equal("a product of floors above a half", lambda x, y: ind(jnp.floor(x) * jnp.floor(y) > 0.5), lambda x, y: ind(jnp.floor(x) * jnp.floor(y) >= 1), (V, V)),
    Equal("floor of a maximum of two", lambda x, y: jnp.floor(jnp.maximum(x, y)), lambda x, y: jnp.maximum(jnp.floor(x), jnp.floor(y)), (V, V)),
    Equal("quantised and clipped, clipped and quantised", lambda x: jnp.round(jnp.clip(x / 0.5, -8, 7)) * 0.5, lambda x: jnp.clip(jnp.round(2 * x), -8, 7) / 2, (V,)),
    Equal("quantised to int8", lambda x: jnp.clip(jnp.round(x), -128, 127).astype(jnp.int8).astype(jnp.float32), lambda x: jnp.round(jnp.clip(x, -128, 127)), (V,)),
    Equal("floor of a whole number more", lambda x: jnp.floor(x + 2), lambda x: jnp.floor(x) + 2, (V,)),
    Equal("floor of a floor more", lambda x, y: jnp.floor(x + jnp.floor(y)), lambda x, y: jnp.floor(x) + jnp.floor(y), (V, V)),
    Equal("floor of a product of floors", lambda x, y: jnp.floor(jnp.floor(x) * jnp.ceil(y)), lambda x, y: jnp.floor(x) * jnp.ceil(y), (S, S)),
    Equal("rounding and an even shift", lambda x: jnp.round(x + 2), lambda x: jnp.round(x) + 2, (V,)),
    Equal("rounding is odd", lambda x: jnp.round(3 - x), lambda x: 4 - jnp.round(x + 1), (V,)),
    Equal("a fraction below one", lambda x: jnp.clip(x - jnp.floor(x), 0, 1), lambda x: x - jnp.floor(x), (V,)),
    Equal("a distance to the nearest of at most a half", lambda x: jnp.minimum(jnp.abs(x - jnp.round(x)), 0.5), lambda x: jnp.abs(x - jnp.round(x)), (V,)),
    Equal("truncation is odd", lambda x: jnp.trunc(-x), lambda x: -jnp.trunc(x), (V,)),
    Equal("ceiling by floor", lambda x: jnp.ceil(x - 1), lambda x: -jnp.floor(-x) - 1, (V,)),
    Equal("a ceiling is a floor or one more", jnp.ceil, lambda x: jnp.where(jnp.floor(x) == x, x, jnp.floor(x) + 1), (V,)),
    Equal("mod of a multiple more", lambda x: jnp.mod(x + 6, 3.0), lambda x: jnp.mod(x, 3.0), (V,)),
    Equal("mod by floor", lambda x: jnp.mod(x, 3.0), lambda x: x - 3 * jnp.floor(x / 3), (V,)),
    Equal("an integer of a clip", lambda x: integer(jnp.clip(x, -100, 100)), lambda x: jnp.trunc(jnp.clip(x, -100, 100)), (V,)),
    Equal("the largest by its place", lambda x: x[jnp.argmax(x)], jnp.max, (V,)),
    Equal("the smallest by its place", lambda x: x[jnp.argmax(-x)], jnp.min, (V,)),
    Equal("the largest of rows by place", lambda a: jnp.take_along_axis(a, jnp.argmax(a, 1)[:, None], 1)[:, 0], lambda a: a.max(1), (M,)),
    Equal("sorted by place", lambda x: x[jnp.argsort(x)], jnp.sort, (V,)),
    Equal("the second of the largest by its place", lambda x: x[lax.top_k(x, 2)[1][1]], lambda x: jnp.sort(x)[1], (V,)),
    Equal("the entry where another row is largest", lambda p, q: p[jnp.argmax(q)], lambda p, q: (p * jax.nn.one_hot(jnp.argmax(q), 3)).sum(), (V, V)),
    Equal("of two the first unless it is smaller", lambda p, q: p[:2][jnp.argmax(q[:2])], lambda p, q: jnp.where(q[1] > q[0], p[1], p[0]), (V, V)),
    Equal("entries of rows", lambda a, b: a[np.arange(3), jnp.argmax(b, 1)], lambda a, b: (a * jax.nn.one_hot(jnp.argmax(b, 1), 3)).sum(1), (M, M)),
    Equal("a truth value as a place", lambda x, v: v[(x > 0).astype(int)], lambda x, v: jnp.where(x > 0, v[1], v[0]), (S, V)),
    Equal("a part at a place", lambda x, v: lax.dynamic_slice(v, (jnp.argmax(x[:2]),), (2,)), lambda x, v: jnp.where(x[1] > x[0], v[1:], v[:2]), (V, V)),
    Equal("the gradient of an entry", jax.grad(lambda x: x[jnp.argmax(x)] ** 2), lambda x: 2 * jnp.max(x) * jax.nn.one_hot(jnp.argmax(x), 3), (V,)),
    Equal("a place that is clamped", lambda x: at(x, 2 + jnp.argmax(x[:2])), lambda x: x[2], (V,)),
    Equal("sorted twice", lambda x: jnp.sort(jnp.sort(x)), jnp.sort, (FOUR,)),
    Equal("the sum of what is sorted", lambda x: jnp.sort(x)[::-1].sum(), jnp.sum, (FOUR,)),
    Equal("sorted the other way round", lambda x: -jnp.sort(-x)[::-1], jnp.sort, (FOUR,)),
    Equal("the middle of three", jnp.median, lambda x: x.sum() - x.max() - x.min(), (V,)),
    Equal("the middle of four", jnp.median, lambda x: (x.sum() - x.max() - x.min()) / 2, (FOUR,)),
    Equal("the largest of what is sorted", lambda a: jnp.sort(a, 0).max(), lambda a: a.max(1).max(), (M,)),
    Equal("two keys", lambda x, y: lax.sort((x, y), num_keys=2)[0], lambda x, y: jnp.sort(x) + 0 * y, (V, V)),
    Equal("cumulative maxima twice", lambda x: lax.cummax(lax.cummax(x)), lax.cummax, (FOUR,)),
    Equal("a sum by a program", reduced(lambda a, b: jnp.add(b, a), 0), jnp.sum, (V,)),
    Equal("a maximum by a program that starts at two", reduced(lambda a, b: jnp.maximum(a, b), 2), lambda x: jnp.maximum(jnp.max(x), 2), (V,)),
    Equal("products of windows", windows(lambda a, b: a * b, 1), lambda x: x[1:] * x[:-1], (V,)),
)  # fmt: skip
