"""Integers that say where a cache is written, how long a text is, and in which order rows are: pairs, mistakes, attacks."""

import jax
import jax.numpy as jnp
from jax import lax

import uat_jax as uj

from .integers import of, rows
from .pair import f32

N, D, V = 512, 8, 50257
"""Places of a cache, entries of a row, words."""

CACHE, ROW = f32(N, D), f32(D)
PLACE = uj.integers(of("int32"), 0, N - 1)
LENGTHS = uj.integers(of("int32", 3), 1, N)
PLACES = jnp.arange(N)
ROWS = uj.integers(of("int32", 4), 0, V - 1)
WORDS = f32(V, 2)


def written(c, x, i):
    """A row written into a cache."""
    return lax.dynamic_update_slice(c, x[None], (i, 0))


def selected(c, x, i):
    """The same by a comparison of all places."""
    return jnp.where((PLACES == i)[:, None], x, c)


def step(keys, values, q, k, v, i):
    """A step of a decoder: the new key and value are written, and all up to them are attended to."""
    keys, values = written(keys, k, i), written(values, v, i)
    scores = jnp.where(i >= PLACES, keys @ q / jnp.sqrt(D), -1e30)
    return jax.nn.softmax(scores) @ values


def step_by_weights(keys, values, q, k, v, i, seen=lambda i: i < PLACES):
    """The same by selections and a softmax that is written out."""
    keys, values = selected(keys, k, i), selected(values, v, i)
    scores = jnp.where(seen(i), -1e30, jnp.einsum("nd,d->n", keys, q) / jnp.sqrt(D))
    e = jnp.exp(scores - scores.max())
    return jnp.einsum("n,nd->d", e / e.sum(), values)


STEP = (CACHE, CACHE, ROW, ROW, ROW, PLACE)
WIDE, HEADS, T = 768, 12, 32


def by_heads(x):
    return x.reshape(T, HEADS, -1).transpose(1, 0, 2)


def padded(p, x, n):
    """Attention of 12 heads over a text of n words, which is padded behind."""
    q, k, v = (by_heads(x @ p[name]) for name in "qkv")
    s = jnp.where(jnp.arange(T) < n, q @ k.swapaxes(-1, -2) / 8.0, -1e9)
    return x + (jax.nn.softmax(s, -1) @ v).transpose(1, 0, 2).reshape(T, WIDE) @ p["o"]


def padded_by_sums(p, x, n, more=0):
    """The same with three axes and an additive mask by a selection the other way round."""
    q, k, v = (jnp.einsum("td,dhe->hte", x, p[name].reshape(WIDE, HEADS, -1)) for name in "qkv")
    s = jnp.where(jnp.arange(T)[None, None] >= n + more, -1e9, jnp.einsum("hte,hse->hts", q, k) * 0.125)
    e = jnp.exp(s - s.max(-1, keepdims=True))
    return x + jnp.einsum("hts,hse->the", e / e.sum(-1, keepdims=True), v).reshape(T, WIDE) @ p["o"]


BLOCK = ({name: f32(WIDE, WIDE) for name in "qkvo"}, f32(T, WIDE), uj.integers(of("int32"), 1, T))


def counted(i):
    return jnp.bincount(i, length=V)


def one_hots(i):
    return jax.nn.one_hot(i, V, dtype=jnp.int32).sum(0)


def mean_of(x, n):
    """The means of the first rows of a batch."""
    keep = PLACES < n[:, None]
    return jnp.where(keep, x, 0).sum(1)


PAIRS = [
    rows("a row of a cache", written, selected, (CACHE, ROW, PLACE), next=lambda c, x, i: selected(c, x, i + 1),
         last=lambda c, x, i: selected(c, x, jnp.minimum(i, N - 2)), added=lambda c, x, i: c + jnp.where((PLACES == i)[:, None], x, 0)),
    rows("a row that is set", lambda c, x, i: c.at[i].set(x), selected, (CACHE, ROW, PLACE), column=lambda c, x, i: selected(c, x[::-1], i)),
    rows("a row that is added", lambda c, x, i: c.at[i].add(x), lambda c, x, i: c + jax.nn.one_hot(i, N)[:, None] * x, (CACHE, ROW, PLACE),
         set=lambda c, x, i: c.at[i].set(x)),
    rows("a ring from before its beginning", lambda c, x, i: written(c, x, i % N), lambda c, x, i: written(c, x, lax.rem(i, jnp.int32(N))),  # JAX counts from the end
         (CACHE, ROW, uj.integers(of("int32"), -300, 5000)), turned=lambda c, x, i: written(c, x, jnp.abs(lax.rem(i, jnp.int32(N))))),
    rows("a ring", lambda c, x, i: written(c, x, i % N), lambda c, x, i: selected(c, x, i & (N - 1)), (CACHE, ROW, uj.integers(of("int32"), 0, 5000)),
         next=lambda c, x, i: selected(c, x, (i + 1) % N), moved=lambda c, x, i: written(c, x, i)),
    rows("two rows at once", lambda c, x, i: lax.dynamic_update_slice(c, x, (i, 0)), lambda c, x, i: written(written(c, x[0], i), x[1], i + 1),
         (CACHE, f32(2, D), uj.integers(of("int32"), 0, N - 2)), turned=lambda c, x, i: written(written(c, x[1], i), x[0], i + 1)),
    rows("a row that is read", lambda c, i: lax.dynamic_index_in_dim(c, i, keepdims=False), lambda c, i: jnp.sum(jnp.where((PLACES == i)[:, None], c, 0), 0), (CACHE, PLACE),
         before=lambda c, i: lax.dynamic_index_in_dim(c, jnp.maximum(i - 1, 0), keepdims=False)),
    rows("a step of a decoder", step, step_by_weights, STEP, without_itself=lambda *a: step_by_weights(*a, seen=lambda i: i <= PLACES),
         all=lambda *a: step_by_weights(*a, seen=lambda i: PLACES < 0)),
    rows("twelve heads and a length", padded, padded_by_sums, BLOCK, one_long=lambda p, x, n: padded_by_sums(p, x, n, 1), one_short=lambda p, x, n: padded_by_sums(p, x, n, -1)),
    rows("lengths of a batch", mean_of, lambda x, n: jnp.sum(x * ~(n[:, None] <= PLACES), -1), (f32(3, N), LENGTHS),
         one_long=lambda x, n: jnp.sum(x * (n[:, None] >= PLACES), -1)),
    rows("rows in order", lambda t, i: t[jnp.sort(i)], lambda t, i: t[i[jnp.argsort(i)]], (WORDS, ROWS), as_they_are=lambda t, i: t[i], behind=lambda t, i: t[jnp.sort(i)[::-1]]),
    rows("a sum in order", lambda t, i: t[jnp.sort(i)].sum(0), lambda t, i: t[i].sum(0), (WORDS, ROWS), last=lambda t, i: t[jnp.sort(i)[:-1]].sum(0)),
    rows("the largest word", lambda t, i: t[i.max()], lambda t, i: t[jnp.sort(i)[-1]], (WORDS, ROWS), least=lambda t, i: t[i.min()]),
    rows("where the largest is", lambda t, i: t[i][jnp.argmax(i)], lambda t, i: t[i.max()], (WORDS, ROWS), second=lambda t, i: t[jnp.sort(i)[-2]]),
    rows("counts of words", counted, one_hots, (ROWS,), next=lambda i: one_hots(i + 1), once=lambda i: jnp.minimum(one_hots(i), 1)),
    rows("a table by counts", lambda t, i: counted(i) @ t, lambda t, i: t[i].sum(0), (WORDS, ROWS), once=lambda t, i: t[i[:-1]].sum(0)),
]  # fmt: skip

FEW = uj.integers(of("int32", 3), 0, 9)
SMALL = f32(10, 2)
CUT, SHORT = f32(8, 2), f32(2)
HERE = uj.integers(of("int32"), 0, 7)
AROUND = uj.integers(of("int32"), -20, 20)
K = jnp.arange(8)


def put(c, x, i):
    return lax.dynamic_update_slice(c, x[None], (i, 0))


NEVER = {
    "a ring of another length": (lambda c, x, i: put(c, x, i % 8), lambda c, x, i: put(c, x, i % 7), CUT, SHORT, uj.integers(of("int32"), 0, 5000)),
    "a ring that is turned": (lambda c, x, i: put(c, x, i % 8), lambda c, x, i: put(c, x, jnp.abs(lax.rem(i, jnp.int32(8)))), CUT, SHORT, uj.integers(of("int32"), -3, 5000)),
    "a ring of bytes": (lambda c, x, i: put(c, x, (i + 1) % 8), lambda c, x, i: put(c, x, (i.astype(jnp.uint8) + 1).astype(jnp.int32) % 8 + (i == 300)), CUT, SHORT, uj.integers(of("int32"), 0, 5000)),
    "a ring and its length": (lambda c, x, i: jnp.where((K < i)[:, None], put(c, x, i % 8), 0), lambda c, x, i: jnp.where((K <= i)[:, None], put(c, x, i % 8), 0), CUT, SHORT, uj.integers(of("int32"), 0, 5000)),
    "read where it was not written": (lambda c, x, i: put(c, x, i)[0], lambda c, x, i: c[0], CUT, SHORT, HERE),
    "read beside where it was written": (lambda c, x, i: put(c, x, i)[jnp.minimum(i + 1, 7)], lambda c, x, i: c[jnp.minimum(i + 1, 7)], CUT, SHORT, HERE),
    "written twice": (lambda c, x, i: put(put(c, x, i), 2 * x, 3), lambda c, x, i: put(put(c, 2 * x, 3), x, i), CUT, SHORT, HERE),
    "set and dropped": (put, lambda c, x, i: c.at[i].set(x, mode="drop"), CUT, SHORT, uj.integers(of("int32"), 0, 8)),
    "clipped and dropped": (lambda c, x, i: c.at[i].set(x, mode="clip"), lambda c, x, i: c.at[i].set(x, mode="drop"), CUT, SHORT, uj.integers(of("int32"), 0, 9)),
    "counted from the end or not": (lambda c, x, i: put(c, x, i), lambda c, x, i: put(c, x, jnp.maximum(i, 0)), CUT, SHORT, AROUND),
    "a window at the end": (lambda c, x, i: lax.dynamic_update_slice(c, x, (i, 0)), lambda c, x, i: put(put(c, x[0], i), x[1], i + 1), CUT, f32(2, 2), HERE),
    "a window that is read at the end": (lambda c, i: lax.dynamic_slice(c, (i, 0), (2, 2))[0], lambda c, i: c[i], CUT, HERE),
    "a column in place of a row": (put, lambda c, x, i: c.at[:, 0].set(jnp.where(K == i, x[0], c[:, 0])), CUT, SHORT, HERE),
    "a start that is fixed beside": (lambda c, x, i: lax.dynamic_update_slice(c, x, (i, 1)), lambda c, x, i: lax.dynamic_update_slice(c, x, (i, 0)), f32(8, 3), f32(1, 2), HERE),
    "a start that is too far": (lambda c, x, i: lax.dynamic_update_slice(c, x, (i, 5)), lambda c, x, i: lax.dynamic_update_slice(c, x, (i, 0)), f32(8, 3), f32(1, 2), HERE),
    "length or length less one": (lambda x, n: jnp.where(K < n, x, 0), lambda x, n: jnp.where(K <= n, x, 0), f32(8), uj.integers(of("int32"), 0, 8)),
    "equal at both ends": (lambda x, n: jnp.where(K < n, x, 0), lambda x, n: jnp.where((n == 0) | (n == 8), jnp.where(n == 0, 0, x), jnp.where(K < n - 1, x, 0)), f32(8), uj.integers(of("int32"), 0, 8)),
    "signed and unsigned lengths": (lambda x, n: jnp.where(K - n < 0, x, 0), lambda x, n: jnp.where((K.astype(jnp.uint32) - n.astype(jnp.uint32)) >> 31 == 0, x, 0), f32(8), uj.integers(of("int32"), 0, 8)),
    "a length that wraps": (lambda x, n: x * (n + 100 > 0), lambda x, n: x * (n > -100), f32(), uj.integers(of("int8"), 0, 127)),
    "a difference of bytes that wraps": (lambda x, n: x * (n - 1 < 5), lambda x, n: x * (n < 6), f32(), uj.integers(of("uint8"), 0, 20)),
    "a byte that is turned": (lambda x, n: x * (-n < 0), lambda x, n: x * (n > 0), f32(), of("int8")),
    "a cast that cuts": (lambda x, n: x * (n.astype(jnp.int8) < 100), lambda x, n: x * (n < 100), f32(), uj.integers(of("int32"), 0, 200)),
    "a cast that loses the sign": (lambda x, n: x * (n.astype(jnp.uint8) < 100), lambda x, n: x * (n < 100), f32(), uj.integers(of("int32"), -3, 50)),
    "two lengths": (lambda x, n: jnp.where(K < n[0], x, 0), lambda x, n: jnp.where(K < n[1], x, 0), f32(8), uj.integers(of("int32", 2), 0, 8)),
    "a length as a number": (lambda x, n: x * n.astype(jnp.float32), lambda x, n: x * jnp.sum(jnp.arange(7) < n), f32(), uj.integers(of("int32"), 0, 8)),
    "an empty mean": (lambda x, n: jnp.sum(jnp.where(K < n, x, 0)) / jnp.maximum(n, 1), lambda x, n: jnp.sum(jnp.where(K < n, x, 0)) / jnp.maximum(n, 2), f32(8), uj.integers(of("int32"), 0, 8)),
    "NaN where a mask hides": (lambda x, n: jnp.where(K < n, jnp.sqrt(x), 0), lambda x, n: jnp.where(K <= n, jnp.sqrt(x), 0), f32(8), uj.integers(of("int32"), 0, 7)),
    "a multiple of a place": (lambda x, i: x * (2 * i < 7), lambda x, i: x * (i < 3), f32(), HERE),
    "a square of a place": (lambda x, i: x * (i * i < 8), lambda x, i: x * (i < 2), f32(), HERE),
    "a remainder of a place": (lambda x, i: x[i % 4], lambda x, i: x[i & 7], f32(8), uj.integers(of("int32"), 0, 5000)),
    "a place that is divided": (lambda x, i: x[i // 4], lambda x, i: x[(i + 1) // 4], f32(8), uj.integers(of("int32"), 0, 27)),
    "toward zero": (lambda x, i: x * (lax.div(i, jnp.int32(2)) < 0), lambda x, i: x * (i // 2 < 0), f32(), uj.integers(of("int32"), -5, 5)),
    "a sort of signed bytes": (lambda t, i: t[jnp.sort(i)[0].astype(jnp.uint8)], lambda t, i: t[jnp.sort(i.astype(jnp.uint8))[0]], f32(256), of("int8", 2)),
    "a sort that is not stable to reversal": (lambda t, i: t[jnp.argsort(i)], lambda t, i: t[jnp.argsort(i[::-1])], f32(3, 2), FEW),
    "ties the other way": (lambda t, i: t[jnp.argsort(i)], lambda t, i: t[2 - jnp.argsort(i[::-1])], f32(3, 2), FEW),
    "descending ties": (lambda t, i: t[jnp.argsort(-i)], lambda t, i: t[jnp.argsort(i)[::-1]], f32(3, 2), FEW),
    "the last largest": (lambda t, i: t[jnp.argmax(i)], lambda t, i: t[2 - jnp.argmax(i[::-1])], f32(3, 2), FEW),
    "the last least": (lambda t, i: t[jnp.argmin(i)], lambda t, i: t[jnp.argsort(i, stable=True)[0] * 0 + 2 - jnp.argmin(i[::-1])], f32(3, 2), FEW),
    "the middle of two": (lambda t, i: t[jnp.sort(i)[1]], lambda t, i: t[i[1]], SMALL, FEW),
    "words without repeats": (lambda t, i: t[jnp.sort(i)][0] * (jnp.sort(i)[0] == jnp.sort(i)[1]), lambda t, i: t[0] * 0, SMALL, FEW),
    "a sort by two keys": (lambda t, i, j: t[lax.sort((i, j), num_keys=1)[1]], lambda t, i, j: t[lax.sort((i, j), num_keys=2)[1]], SMALL, FEW, FEW),
    "rows sorted along another axis": (lambda t, i: t[jnp.sort(i, 0)], lambda t, i: t[jnp.sort(i, 1)], SMALL, uj.integers(of("int32", 2, 2), 0, 9)),
    "counts of repeated words": (counted, lambda i: jnp.zeros(V, jnp.int32).at[i].set(1), ROWS),
    "counts that saturate": (lambda i: jnp.zeros(300, jnp.int8).at[i].add(jnp.full(4, 100, jnp.int8)).astype(jnp.float32), lambda i: jnp.zeros(300).at[i].add(jnp.full(4, 100.0)), uj.integers(of("int32", 4), 0, 299)),
    "counts of unsigned bytes": (lambda i: (-jnp.zeros(300, jnp.uint8).at[i].add(jnp.uint8(1))).astype(jnp.float32), lambda i: -jnp.zeros(300).at[i].add(1.0), uj.integers(of("int32", 4), 0, 299)),
    "counts beside the words": (lambda i: jnp.bincount(i, length=300), lambda i: jnp.zeros(300, jnp.int32).at[jnp.minimum(i, 299)].add(1), uj.integers(of("int32", 4), 0, 400)),
    "counts of negative words": (lambda i: jnp.bincount(i, length=300), lambda i: jax.nn.one_hot(i, 300, dtype=jnp.int32).sum(0), uj.integers(of("int32", 4), -5, 299)),
    "whether a count is odd": (lambda i: (jnp.bincount(i, length=300) & 1).astype(jnp.float32), lambda i: jnp.bincount(i, length=300).astype(jnp.float32), uj.integers(of("int32", 4), 0, 299)),
    "a count that is halved": (lambda i: jnp.bincount(i, length=300) // 2, lambda i: jnp.bincount(i[:2], length=300) // 2, uj.integers(of("int32", 4), 0, 299)),
    "whether a word is there": (lambda i: jnp.bincount(i, length=300) > 0, lambda i: jnp.bincount(i[1:], length=300) > 0, uj.integers(of("int32", 4), 0, 299)),
    "beside a table that is promised": (lambda t, i: t[i], lambda t, i: t[jnp.where(i > 9, 0, i)], SMALL, uj.integers(of("int32", 3), 0, 5000)),
    "filled or moved": (lambda t, i: jnp.take(t, i, axis=0), lambda t, i: t[i], SMALL, uj.integers(of("int32", 3), 0, 5000)),
    "a least number divided": (lambda i: lax.div(i, jnp.int32(-1)) < 0, lambda i: i > 0, of("int32")),
    "a remainder of the least number": (lambda i: jnp.abs(i) % 3, lambda i: jnp.abs(i % 3), of("int32")),
    "quotients of unsigned numbers": (lambda i: i // 10, lambda i: ((i.astype(jnp.int32)) // 10).astype(jnp.uint32), of("uint32")),
    "a quotient by a power": (lambda i: i // 10 * 10 + i % 10 - (i % 100) // 100, lambda i: i + i % 10 // 9, of("int32")),
    "a shift by the width": (lambda i: i << 32, lambda i: i * 1, of("uint32")),
    "a remainder with a sign": (lambda i: i - lax.div(i, jnp.int32(7)) * 7, lambda i: i % 7, of("int32")),
}  # fmt: skip
"""Functions that differ at some integers."""
