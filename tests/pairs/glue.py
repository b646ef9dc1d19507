"""Pairs of functions as people write them around a model: losses, masks, positions, buckets, packed bits."""

import functools
import operator

import jax
import jax.numpy as jnp
from jax import lax

import uat_jax as uj

from .integers import of, rows
from .pair import f32

V, T = 50257, 3
"""The words of GPT-2's vocabulary, and the length of a text."""

Z = f32(T, V)
"""Logits."""


def ids(*shape, high=V - 1, low=0, dtype="int32"):
    """Integers of a range."""
    return uj.integers(of(dtype, *shape), low, high)


def nll(z, y):
    """The cross entropy of each label by an entry of the logarithm of softmax."""
    return -jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], axis=1)[:, 0]


def nll_by_sums(z, y):
    """The same by the logarithm of a sum of exponentials."""
    return jax.nn.logsumexp(z, axis=-1) - z[jnp.arange(T), y]


def parts(weights):
    """The two numbers of 4 bits in each byte, side by side."""
    return jnp.stack([weights & 0xF, weights >> 4], -1).reshape(weights.shape[0], -1)


def bit_sum(i, count):
    """The number of set bits among the first so many."""
    return functools.reduce(operator.add, [(i >> k) & 1 for k in range(count)]).astype(jnp.float32)


def attended(q, k, v, mask):
    """Attention with a mask of truth values."""
    return jax.nn.softmax(jnp.where(mask, q @ k.T, -3e38), -1) @ v


def attended_by_weights(q, k, v, mask):
    """The same with a mask that is added."""
    w = jnp.exp(q @ k.T * mask - 3e38 * (1 - mask.astype(jnp.float32)))
    return w @ v / w.sum(-1, keepdims=True)


LOSSES = [
    rows("cross entropy", lambda z, y: nll(z, y).mean(), lambda z, y: nll_by_sums(z, y).sum() / T, (Z, ids(T)), rolled=lambda z, y: nll_by_sums(z, jnp.roll(y, 1)).mean()),
    rows("cross entropy by rows with a single 1", nll, lambda z, y: -(jax.nn.one_hot(y, V) * jax.nn.log_softmax(z)).sum(-1), (Z, ids(T)),
         softmax=lambda z, y: -(jax.nn.one_hot(y, V) * jax.nn.softmax(z)).sum(-1)),
    rows("head", lambda h, w, y: nll(h @ w, y), lambda h, w, y: nll_by_sums(h @ w, y), (f32(T, 4), f32(4, V), ids(T)), turned=lambda h, w, y: nll_by_sums(h[::-1] @ w, y)),
    rows("tied head", lambda e, i, y: nll(e[i] @ e.T, y), lambda e, i, y: nll_by_sums(e[i] @ e.T, y), (f32(V, 4), ids(T), ids(T))),
    rows("softmax of a label", lambda z, y: jax.nn.softmax(z)[jnp.arange(T), y], lambda z, y: jnp.exp(-nll(z, y)), (Z, ids(T)), inverse=lambda z, y: jnp.exp(nll(z, y))),
    rows("logits that are moved", nll, lambda z, y: nll_by_sums(z - z.max(-1, keepdims=True), y), (Z, ids(T)), scaled=lambda z, y: nll_by_sums(z * 2, y)),
    rows("perplexity", lambda z, y: jnp.exp(nll(z, y).mean()), lambda z, y: jnp.prod(jnp.exp(nll_by_sums(z, y))) ** (1 / 3), (Z, ids(T)),
         sum=lambda z, y: jnp.exp(nll_by_sums(z, y).sum())),
]  # fmt: skip

X20, B20 = f32(20), of(bool, 20)
QKV = (f32(4, 3), f32(4, 3), f32(4, 3), of(bool, 4, 4))

MASKS = [
    rows("kept entries", lambda x, m: jnp.where(m, x, 0).sum(), lambda x, m: (x * m).sum(), (f32(64), of(bool, 64)), others=lambda x, m: (x * ~m).sum()),
    rows("attention with a mask", attended, attended_by_weights, QKV, turned=lambda q, k, v, m: attended_by_weights(q, k, v, m.T)),
    rows("chosen by a mask", jnp.where, lambda m, x, y: y + m * (x - y), (B20, X20, X20), swapped=lambda m, x, y: x + m * (y - x)),
    rows("either mask", lambda x, m, k: jnp.where(m | k, x, 0), lambda x, m, k: x * m + x * k - x * (m & k), (X20, B20, B20), twice=lambda x, m, k: x * m + x * k),
    rows("one mask alone", lambda x, m, k: jnp.where(m ^ k, x, 0), lambda x, m, k: x * (m.astype(jnp.float32) - k) ** 2, (X20, B20, B20), sign=lambda x, m, k: x * (m.astype(jnp.float32) - k)),
    rows("places by a mask", lambda x, m: x * jnp.cumsum(m), lambda x, m: x * (jnp.tril(jnp.ones((20, 20))) @ m), (X20, B20), behind=lambda x, m: x * (jnp.triu(jnp.ones((20, 20))) @ m)),
    rows("any of a mask", lambda x, m: jnp.where(m.any(), x, 0), lambda x, m: x * (1 - jnp.prod(1 - m.astype(jnp.float32))), (f32(3), B20), all=lambda x, m: x * m.all()),
    rows("dropout with a mask", lambda x, m: jnp.where(m, x / 0.9, 0), lambda x, m: x * m / 0.9, (f32(8, 16), of(bool, 8, 16)), unscaled=lambda x, m: x * m),
    rows("masked words of a table", lambda e, i, m: jnp.where(m[:, None], e[i], 0).sum(0), lambda e, i, m: m.astype(jnp.float32) @ e[i], (f32(V, 2), ids(20), B20),
         others=lambda e, i, m: (~m).astype(jnp.float32) @ e[i]),
]  # fmt: skip

FUNCTIONS = [
    rows("hashed words", lambda e, i: e[i % 1000], lambda e, i: e[i - 1000 * (i // 1000)], (f32(1000, 2), ids(T)), modulus=lambda e, i: e[i % 999]),
    rows("words in two parts", lambda a, b, i: a[i // 256] + b[i % 256], lambda a, b, i: a[i >> 8] + b[i & 255], (f32(197, 2), f32(256, 2), ids(T)), bits=lambda a, b, i: a[i >> 8] + b[i & 127]),
    rows("beams", lambda x, k: x[k // V], lambda x, k: x[(k - k % V) // V], (f32(4, 2), ids(2, high=4 * V - 1)), word=lambda x, k: x[k % 4]),
    rows("a hash of words", lambda e, i: e[(i * 31 + 7) % 64], lambda e, i: e[(i * 31 + 7) & 63], (f32(64, 2), ids(T)), bits=lambda e, i: e[(i * 31 + 7) & 31]),
    rows("even words", lambda x, i: jnp.where(i % 2 == 0, x[0], x[1]), lambda x, i: x[i & 1], (f32(2), ids(T)), odd=lambda x, i: x[1 - (i & 1)]),
    rows("no odd multiple of 4", lambda x, i: jnp.where((i % 4 == 0) & (i % 2 == 1), x, 0), lambda x, i: x * 0, (f32(3), ids(3)),
         even=lambda x, i: jnp.where((i % 4 == 2) & (i % 2 == 0), x, 0)),
    rows("words between ends", lambda e, i: jnp.where(((i >= 50000) & (i < 50200))[:, None], 0, e[i]), lambda e, i: e[i] * (jnp.clip(i, 50000, 50199) != i)[:, None], (f32(V, 2), ids(T)),
         one_more=lambda e, i: e[i] * (jnp.clip(i, 50000, 50200) != i)[:, None]),
    rows("buckets of distances", lambda b, d: b[jnp.where(d < 16, d, 16 + jnp.minimum((d - 16) // 8, 15))], lambda b, d: b[jnp.minimum(jnp.where(d < 16, d, (d - 16) // 8 + 16), 31)],
         (f32(32), ids(3, high=500)), boundary=lambda b, d: b[jnp.minimum(jnp.where(d <= 16, d, (d - 16) // 8 + 15), 31)]),
    rows("weights of 4 bits", lambda x, w: x @ (parts(w).astype(jnp.float32) - 8).T, lambda x, w: x[:, 0::2] @ ((w & 15).astype(jnp.float32) - 8).T + x[:, 1::2] @ ((w >> 4).astype(jnp.float32) - 8).T,
         (f32(1, 8), of("uint8", 3, 4)), swapped=lambda x, w: x[:, 1::2] @ ((w & 15).astype(jnp.float32) - 8).T + x[:, 0::2] @ ((w >> 4).astype(jnp.float32) - 8).T),
    rows("weights by a code book", lambda c, w: c[parts(w).astype(jnp.int32)], lambda c, w: jnp.stack([c[(w % 16).astype(jnp.int32)], c[(w // 16).astype(jnp.int32)]], -1).reshape(2, 4),
         (f32(16), of("uint8", 2, 2)), swapped=lambda c, w: jnp.stack([c[(w // 16).astype(jnp.int32)], c[(w % 16).astype(jnp.int32)]], -1).reshape(2, 4)),
    rows("ternary weights", lambda x, q: x @ jnp.sign(q).astype(jnp.float32), lambda x, q: x @ ((q > 0).astype(jnp.float32) - (q < 0)), (f32(2, 6), of("int8", 6, 3)),
         zero=lambda x, q: x @ ((q >= 0).astype(jnp.float32) - (q < 0))),
    rows("both parts of a byte", lambda x, w: (w & 15).astype(jnp.float32) * x + 16 * (w >> 4).astype(jnp.float32) * x, lambda x, w: w.astype(jnp.float32) * x, (f32(9), of("uint8", 9)),
         last=lambda x, w: w.astype(jnp.float32) * x + (w == 255)),
    rows("quotient and remainder", lambda x, i: (i // 7 * 7 + i % 7).astype(jnp.float32) * x, lambda x, i: i.astype(jnp.float32) * x, (f32(3), ids(3)), remainder=lambda x, i: (i // 7 * 7 + i % 6).astype(jnp.float32) * x),
    rows("set bits of a word", lambda x, i: lax.population_count(i).astype(jnp.float32) * x, lambda x, i: bit_sum(i, 16) * x, (f32(), ids(high=65535)),
         one_short=lambda x, i: bit_sum(i, 15) * x),
    rows("a sum of bytes", lambda x, i: (i.astype(jnp.uint8) + jnp.uint8(200)).astype(jnp.float32) * x, lambda x, i: ((i + 200) % 256).astype(jnp.float32) * x, (f32(3), ids(3, high=255)),
         unwrapped=lambda x, i: (i + 200).astype(jnp.float32) * x),
]  # fmt: skip

PAIRS = [*LOSSES, *MASKS, *FUNCTIONS]
"""All of them, at given shapes."""

BATCH, LENGTH = jax.export.symbolic_shape("b, t")
E9, TEXT = f32(9, 2), ids(LENGTH, high=8)
SQUARE = f32(LENGTH, LENGTH)


def kept(x, i):
    """The scores of words that are no padding."""
    return jnp.where(i[None] != 0, x, -1e9)


ALL_SIZES = [
    rows("embedding", lambda e, i: e[i], lambda e, i: jax.nn.one_hot(i, 9) @ e, (E9, ids(BATCH, LENGTH, high=8)), turned=lambda e, i: jax.nn.one_hot(i[:, ::-1], 9) @ e),
    rows("embedding by take", lambda e, i: e[i], lambda e, i: jnp.take(e, i, axis=0), (E9, ids(BATCH, LENGTH, high=8)), last=lambda e, i: jnp.take(e, jnp.minimum(i, 7), axis=0)),
    rows("padding", lambda x, i: jnp.where((i == 0)[:, None], 0, x), lambda x, i: x * (i != 0)[:, None], (f32(LENGTH, 2), TEXT), one=lambda x, i: x * (i != 1)[:, None]),
    rows("entries before a length", lambda x, n: jnp.where(jnp.arange(x.shape[0]) < n, x, 0).sum(), lambda x, n: (x * (jnp.arange(x.shape[0]) < n)).sum(), (f32(LENGTH), ids(high=100)),
         one_long=lambda x, n: (x * (jnp.arange(x.shape[0]) <= n)).sum()),
    rows("attention to words", lambda x, i: jax.nn.softmax(kept(x, i), -1), lambda x, i: jnp.exp(kept(x, i)) / jnp.exp(kept(x, i)).sum(-1, keepdims=True), (SQUARE, TEXT),
         turned=lambda x, i: jax.nn.softmax(jnp.where(i[:, None] != 0, x, -1e9), -1)),
    rows("a mask", lambda x, m: jnp.where(m, x, 0).sum(), lambda x, m: (x * m).sum(), (f32(LENGTH), of(bool, LENGTH)), others=lambda x, m: (x * ~m).sum()),
    rows("words and places", lambda e, p, i: e[i] + p[: i.shape[1]], lambda e, p, i: jnp.take(e, i, axis=0, mode="clip") + p[jnp.arange(i.shape[1])], (E9, f32(LENGTH + 3, 2), ids(BATCH, LENGTH, high=8)),
         next=lambda e, p, i: e[i] + p[1 : i.shape[1] + 1]),
    rows("labels", lambda z, y: jnp.take_along_axis(z, y[:, None], 1)[:, 0], lambda z, y: (z * jax.nn.one_hot(y, 9)).sum(1), (f32(LENGTH, 9), TEXT), reversed=lambda z, y: (z * jax.nn.one_hot(8 - y, 9)).sum(1)),
    rows("twice", lambda i: i + i, lambda i: 2 * i, (of("int32", LENGTH),), once=lambda i: i),
    rows("words one later", lambda i: jnp.concatenate([jnp.zeros((1,), jnp.int32), i[:-1]]), lambda i: jnp.where(jnp.arange(i.shape[0]) == 0, 0, jnp.roll(i, 1)), (TEXT,), rolled=lambda i: jnp.roll(i, 1)),
]  # fmt: skip
"""Pairs with symbolic sizes."""

I, U, S8, X, TRUTHS = of("int32", LENGTH), of("uint32", LENGTH), of("int8", LENGTH), f32(LENGTH), of(bool, LENGTH)


def where(p, x):
    """The entries of x at which p is true."""
    return jnp.where(p, x, 0)


NEVER = {
    "one more is larger": (lambda x, i: where(i + 1 > i, x), lambda x, i: x, X, I),
    "half of the double": (lambda i: (2 * i) // 2, lambda i: i, I),
    "equal doubles": (lambda i, j: 2 * i == 2 * j, lambda i, j: i == j, I, I),
    "sign of a difference": (lambda i, j: i - j > 0, lambda i, j: i > j, I, I),
    "difference without sign": (lambda i, j: i - j > 0, lambda i, j: i > j, U, U),
    "magnitude": (lambda x, i: where(jnp.abs(i) >= 0, x), lambda x, i: x, X, I),
    "negative": (lambda x, i: where(-i < 0, x), lambda x, i: where(i > 0, x), X, I),
    "square": (lambda x, i: where(i * i >= 0, x), lambda x, i: x, X, I),
    "sum as a float": (lambda i: (i + 1).astype(jnp.float32), lambda i: i.astype(jnp.float32) + 1, I),
    "product as a float": (lambda i: (3 * i).astype(jnp.float32), lambda i: 3 * i.astype(jnp.float32), I),
    "narrower": (lambda i: i.astype(jnp.int8).astype(jnp.int32), lambda i: i, I),
    "without sign": (lambda i: i.astype(jnp.uint8).astype(jnp.int32), lambda i: i.astype(jnp.int32), S8),
    "a sum that wraps": (lambda i: i.sum().astype(jnp.float32), lambda i: i.astype(jnp.float32).sum(), I),
    "a sum of bytes": (lambda i: jnp.sum(i, dtype=jnp.int8).astype(jnp.int32), lambda i: jnp.sum(i, dtype=jnp.int32), S8),
    "prefixes that wrap": (lambda i: jnp.cumsum(i).astype(jnp.float32), lambda i: jnp.cumsum(i.astype(jnp.float32)), I),
    "beside the table": (lambda e, i: e[i], lambda e, i: jnp.take(e, i, axis=0, mode="clip"), E9, ids(LENGTH, high=8, low=-3)),
    "a word too many": (lambda e, i: e[i], lambda e, i: jax.nn.one_hot(i, 9) @ e, E9, ids(LENGTH, high=9)),
    "a table of any length": (lambda e, i: e[i], lambda e, i: e[jnp.minimum(i, 7)], f32(LENGTH, 2), ids(3, high=8)),
    "a length that is too long": (lambda x, n: where(jnp.arange(x.shape[0]) < n, x), lambda x, n: where(jnp.arange(x.shape[0]) < jnp.minimum(n, 50), x), X, ids(high=100)),
    "a negative length": (lambda x, n: where(jnp.arange(x.shape[0]) < n, x), lambda x, n: where(jnp.arange(x.shape[0]) < jnp.abs(n), x), X, ids(high=10, low=-10)),
    "the end of a range": (lambda i: jnp.minimum(i, 99), lambda i: i, ids(LENGTH, high=100)),
    "any and all": (lambda m: m.any(), lambda m: m.all(), TRUTHS),
    "a count": (lambda x, m: x * m.sum(), lambda x, m: x * jnp.minimum(m.sum(), 7), X, TRUTHS),
    "the last largest": (jnp.argmax, lambda i: i.shape[0] - 1 - jnp.argmax(i[::-1]), I),
    "the largest of opposites": (jnp.max, lambda i: -jnp.min(-i), I),
    "a remainder with sign": (lambda i: i % 4, lambda i: lax.rem(i, jnp.int32(4)), I),
    "a narrow product": (lambda a, b: jnp.dot(a, b).astype(jnp.int32), lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.int32), S8, S8),
    "an order by a difference": (lambda i, j: jnp.where(i < j, i, j), lambda i, j: jnp.where(i - j < 0, i, j), I, I),
    "more than before": (lambda x, i: where(i + x.shape[0] > i, x), lambda x, i: x, X, I),
    "two truth values as a count": (lambda x, m: x * (m[0] + m[1]), lambda x, m: x * (m[0].astype(jnp.float32) + m[1]), X20, B20),
    "no mask is full": (lambda x, m: where(m.all(), x), lambda x, m: x * 0, X20, B20),
    "no mask is empty": (lambda x, m: where(~m.any(), x), lambda x, m: x * 0, X20, B20),
    "seven of a mask": (lambda x, m: where(m.sum() == 7, x), lambda x, m: x * 0, X20, B20),
    "the first and the last": (lambda x, m: x * jnp.argmax(m), lambda x, m: x * (19 - jnp.argmax(m[::-1])), X20, B20),
    "equal counts": (lambda x, m, k: where(m.sum() == k.sum(), x), lambda x, m, k: where((m == k).all(), x), X20, B20, B20),
    "an infinite mask": (lambda x, m: jnp.exp(jnp.where(m, x, -jnp.inf)), lambda x, m: jnp.exp(x), X20, B20),
    "one residue in 1000": (lambda x, i: x * (i % 1000 != 777), lambda x, i: x, f32(3), ids(3)),
    "two remainders": (lambda e, i: e[i % 7] + e[i % 11], lambda e, i: e[i % 7] + e[i % 7], f32(11), ids(T)),
    "one function of two words": (lambda e, i, j: e[i % 7] + e[j % 7], lambda e, i, j: e[i % 7] + e[i % 7], f32(7), ids(), ids()),
    "a remainder as a word": (lambda e, i: e[(i + 1) % V], lambda e, i: e[jnp.minimum(i + 1, V - 1)], f32(V), ids(T)),
    "a sum that is no multiple": (lambda x, w: (w & 15).astype(jnp.float32) * x + 8 * (w >> 4).astype(jnp.float32) * x, lambda x, w: w.astype(jnp.float32) * x, f32(9), of("uint8", 9)),
    "a quotient by itself": (lambda x, i: lax.div(i, i).astype(jnp.float32) * x, lambda x, i: x, f32(3), ids(3, high=200)),
    "toward zero": (lambda x, i: x * (i // 4), lambda x, i: x * lax.div(i, jnp.int32(4)), f32(3), ids(3, high=200, low=-200)),
    "a byte that wraps": (lambda x, i: (i + i).astype(jnp.float32) * x, lambda x, i: 2 * i.astype(jnp.float32) * x, f32(9), of("uint8", 9)),
    "a truth value squared and counted": (lambda x, q: x @ ((q > 3).astype(jnp.float32) + (q > 5)), lambda x, q: x @ (q > 3).astype(jnp.float32), f32(9), of("int8", 9)),
    "a small divisor": (lambda x, i: x * jnp.where(i % 5 == 0, 1, 0), lambda x, i: x * jnp.where(i % 10 == 0, 1, 0), f32(3), ids(3)),
}  # fmt: skip
"""Functions that differ for some integers, sizes and real numbers."""
