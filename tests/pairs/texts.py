"""Blocks of language models as functions of texts, in two writings, each with mistakes: GPT-2, BERT, Llama; losses."""

import jax
import jax.numpy as jnp
from jax import lax

import uat_jax as uj

from .integers import of, rows
from .pair import f32

V, T, D, H = 50257, 4, 4, 2
"""The words of GPT-2's vocabulary, and small other sizes."""

TEXT = uj.integers(of("int32", T), 0, V - 1)
"""Token ids."""

N = uj.integers(of("int32"), 1, T)
"""The length of a text that is padded."""


def standard(x, g, b):
    """A LayerNorm by means."""
    m = jnp.mean(x, -1, keepdims=True)
    return g * (x - m) / jnp.sqrt(jnp.mean((x - m) ** 2, -1, keepdims=True) + 1e-5) + b


def standard_by_sums(x, g, b):
    """A LayerNorm by sums."""
    y = x - jnp.sum(x, -1, keepdims=True) / x.shape[-1]
    return y * lax.rsqrt(jnp.sum(y * y, -1, keepdims=True) / x.shape[-1] + 1e-5) * g + b


def heads(x):
    """(T, D) as (H, T, D / H)."""
    return x.reshape(x.shape[0], H, -1).transpose(1, 0, 2)


def attended(q, k, v, keep):
    """Softmax attention with a mask of truths."""
    s = jnp.where(keep, q @ k.swapaxes(-1, -2) / jnp.sqrt(2.0), -jnp.inf)
    return (jax.nn.softmax(s, axis=-1) @ v).transpose(1, 0, 2).reshape(T, D)


def attended_by_weights(q, k, v, keep):
    """The same by weights that are multiplied with the mask."""
    w = jnp.exp(jnp.einsum("htd,hsd->hts", q, k) / jnp.sqrt(2.0)) * keep
    return jnp.einsum("hts,hsd->thd", w / jnp.sum(w, -1, keepdims=True), v).reshape(T, D)


CAUSAL = jnp.tril(jnp.ones((T, T), bool))


def gpt2(p, t):
    """A block of GPT-2 as its authors write it: tokens and positions, one product for q, k and v."""
    x = p["e"][t] + p["p"][:T]
    q, k, v = map(heads, jnp.split(standard(x, p["g"], p["b"]) @ p["qkv"], 3, axis=-1))
    return x + attended(q, k, v, CAUSAL) @ p["o"]


def gpt2_other(p, t, first=0, keep=CAUSAL, words=V):
    """The block by one-hot rows, three products and a mask that multiplies."""
    places = first + jnp.arange(T)
    x = jax.nn.one_hot(jnp.minimum(t, words - 1), V) @ p["e"] + jnp.take(p["p"], places, axis=0)
    y = standard_by_sums(x, p["g"], p["b"])
    q, k, v = (heads(y @ p["qkv"][:, i * D : (i + 1) * D]) for i in range(3))
    return x + attended_by_weights(q, k, v, keep) @ p["o"]


GPT2 = {"e": f32(V, D), "p": f32(T + 2, D), "g": f32(D), "b": f32(D), "qkv": f32(D, 3 * D), "o": f32(D, D)}


def bert(p, t, kind):
    """A block of BERT: padding is the token 0, which nobody attends to; the first token is always there."""
    x = standard(p["e"][t] + p["p"] + p["s"][kind], p["g"], p["b"])
    keep = (t != 0).at[0].set(True)
    y = x + attended(heads(x @ p["q"]), heads(x @ p["k"]), heads(x @ p["v"]), keep[None, None, :])
    return standard(y, p["g"], p["b"])


def bert_other(p, t, kind, keep=lambda t: jnp.concatenate([jnp.array([1.0]), (t[1:] > 0).astype(jnp.float32)])):
    """The block with kinds by rows with a single 1, and weights in place of a mask."""
    kinds = jax.nn.one_hot(kind, 2) @ p["s"]
    x = standard_by_sums(jnp.take(p["e"], t, axis=0, mode="clip") + kinds + p["p"], p["g"], p["b"])
    q, k, v = (heads(x @ p[n]) for n in "qkv")
    return standard_by_sums(x + attended_by_weights(q, k, v, keep(t)), p["g"], p["b"])


BERT = {"e": f32(V, D), "p": f32(T, D), "s": f32(2, D), "g": f32(D), "b": f32(D), **{n: f32(D, D) for n in "qkv"}}


def turned(x, places):
    """Rotary positions, by halves."""
    a = places[:, None].astype(jnp.float32) * jnp.array([1.0, 0.01])[: x.shape[-1] // 2]
    u, w = jnp.split(x, 2, axis=-1)
    return jnp.concatenate([u * jnp.cos(a) - w * jnp.sin(a), w * jnp.cos(a) + u * jnp.sin(a)], -1)


def llama(p, t, n):
    """A block of Llama on a text of n tokens, padded behind: RMSNorm, rotary positions, one key for two queries."""
    x = p["e"][t]
    y = x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + 1e-5) * p["g"]
    q, k, v = heads(y @ p["q"]), y @ p["k"], y @ p["v"]
    places = jnp.arange(T)
    keep = CAUSAL & (places < n)
    s = jnp.where(keep, turned(q, places) @ turned(k, places).T, -jnp.inf)
    a = (jax.nn.softmax(s, -1) @ v).transpose(1, 0, 2).reshape(T, D)
    z = x + a
    return (z + jax.nn.silu(z @ p["u"]) * (z @ p["w"])) * (places < n)[:, None]


def llama_other(p, t, n, first=0, length=lambda n: n):
    """The same with repeated keys, weights that are multiplied, and positions that start elsewhere."""
    x = jax.vmap(lambda i: lax.dynamic_index_in_dim(p["e"], i, keepdims=False))(t)
    y = p["g"] * x * lax.rsqrt(jnp.sum(x**2, -1, keepdims=True) / D + 1e-5)
    places = jnp.arange(T) + first
    there = jnp.arange(T) < length(n)
    q = turned(heads(y @ p["q"]), jnp.arange(T) + 3)
    k, v = (jnp.broadcast_to(y @ p[m], (H, T, D // H)) for m in "kv")
    w = jnp.exp(jnp.einsum("htd,hsd->hts", q, turned(k, places + 3))) * CAUSAL * there
    z = x + jnp.einsum("hts,hsd->thd", w / jnp.sum(w, -1, keepdims=True), v).reshape(T, D)
    return jnp.where(there[:, None], z + (z @ p["u"]) * jax.nn.sigmoid(z @ p["u"]) * (z @ p["w"]), 0)


LLAMA = {
    "e": f32(V, D),
    "g": f32(D),
    "q": f32(D, D),
    "k": f32(D, D // H),
    "v": f32(D, D // H),
    "u": f32(D, D),
    "w": f32(D, D),
}


def recurrent(p, t):
    """A recurrent network that reads one word after the other."""
    return lax.scan(lambda h, i: (jnp.tanh(p["e"][i] + h @ p["q"]), h), p["g"], t)


def recurrent_other(p, t, words=lambda t: t, first=lambda g: g):
    """The same without a loop, by rows with a single 1."""
    h, seen, x = first(p["g"]), [], jax.nn.one_hot(words(t), V) @ p["e"]
    for k in range(T):
        seen.append(h)
        h = jnp.tanh(h @ p["q"] + x[k])
    return h, jnp.stack(seen)


MODELS = [
    rows("GPT-2", gpt2, gpt2_other, (GPT2, TEXT), position=lambda p, t: gpt2_other(p, t, 1),
         mask=lambda p, t: gpt2_other(p, t, 0, jnp.tril(jnp.ones((T, T), bool), 1)), last_word=lambda p, t: gpt2_other(p, t, words=V - 1)),
    rows("BERT", bert, bert_other, (BERT, TEXT, uj.integers(of("int32", T), 0, 1)), two_paddings=lambda p, t, kind: bert_other(p, t, kind, lambda t: (t > 1).at[0].set(True)),
         nothing_padded=lambda p, t, kind: bert_other(p, t, kind, lambda t: jnp.ones(T))),
    rows("Llama", llama, llama_other, (LLAMA, TEXT, N), position=lambda p, t, n: llama_other(p, t, n, 1),
         one_long=lambda p, t, n: llama_other(p, t, n, length=lambda n: n + 1)),
    rows("recurrent network", recurrent, recurrent_other, ({n: BERT[n] for n in "egq"}, TEXT), turned=lambda p, t: recurrent_other(p, t, lambda t: t[::-1]),
         zero=lambda p, t: recurrent_other(p, t, first=jnp.zeros_like)),
]  # fmt: skip

WORDS = f32(V, 2)
ROWS = uj.integers(of("int32", 3), 0, V - 1)
ANY = uj.integers(of("int32", 3), -(10**6), 10**6)
WORD = uj.integers(of("int32"), 0, V - 1)
X = f32(3, 2)


def hot(i, count=V):
    """Rows with a single 1."""
    return jax.nn.one_hot(i, count)


def by_where(t, i):
    """Rows of a table as sums over all of them."""
    return jnp.sum(jnp.where((i[:, None] == jnp.arange(V))[..., None], t, 0), axis=1)


def each(t, i):
    """Rows of a table, one slice after the other."""
    return jnp.concatenate([lax.dynamic_slice(t, (i[k], 0), (1, 2)) for k in range(3)])


EMBEDDINGS = [
    rows("rows by a product", lambda t, i: t[i], lambda t, i: hot(i) @ t, (WORDS, ROWS), short=lambda t, i: hot(i, V - 1) @ t[:-1],
         next=lambda t, i: hot(i + 1) @ t, turned=lambda t, i: (hot(i) @ t)[::-1]),
    rows("rows by a sum", lambda t, i: jnp.take(t, i, axis=0), by_where, (WORDS, ROWS), first=lambda t, i: by_where(t, i * 0)),
    rows("rows by slices", lambda t, i: t[i], each, (WORDS, ROWS), last=lambda t, i: each(t, jnp.minimum(i, V - 2))),
    rows("rows by columns of the transpose", lambda t, i: t[i], lambda t, i: t.T[:, i].T, (WORDS, ROWS), turned=lambda t, i: t.T[::-1, i].T),
    rows("rows by maps", lambda t, i: t[i], lambda t, i: lax.map(lambda k: t[k], i), (WORDS, uj.integers(of("int32", 2), 0, 60)),
         w=lambda t, i: lax.map(lambda k: t[0], i)),
    rows("moved into the table", lambda t, i: jnp.take(t, i, axis=0, mode="clip"), lambda t, i: t[jnp.clip(i, 0, V - 1)], (WORDS, ANY),
         wrapped=lambda t, i: t[i], at_zero=lambda t, i: t[jnp.where((i < 0) | (i >= V), 0, i)]),
    rows("filled beside", lambda t, i: t.at[i].get(mode="fill", fill_value=0), lambda t, i: jnp.where(((i >= -V) & (i < V))[:, None], jnp.take(t, jnp.where(i < 0, i + V, i), axis=0, mode="clip"), 0),
         (WORDS, ANY), moved=lambda t, i: jnp.take(t, i, axis=0, mode="clip")),
    rows("filled with zeros as a product", lambda t, i: hot(i) @ t, lambda t, i: jnp.where(((i >= 0) & (i < V))[:, None], jnp.take(t, i, axis=0, mode="clip"), 0),
         (WORDS, ANY), wraps=lambda t, i: t.at[i].get(mode="fill", fill_value=0)),
    rows("counted from the end", lambda t, i: t[-1 - i], lambda t, i: t[V - 1 - i], (WORDS, ROWS), w=lambda t, i: t[V - 2 - i]),
    rows("scaled before or after", lambda t, i: (3 * t)[i], lambda t, i: 3 * t[i], (WORDS, ROWS), w=lambda t, i: 2 * t[i]),
    rows("a function before or after", lambda t, i: jnp.tanh(t)[i], lambda t, i: jnp.tanh(hot(i) @ t), (WORDS, ROWS), w=lambda t, i: hot(i) @ t),
    rows("a function of all rows by a product", lambda t, i: hot(i) @ jnp.exp(t), lambda t, i: jnp.exp(t[i]), (WORDS, ROWS), w=lambda t, i: jnp.exp(t)[i + 1]),
    rows("a product before or after", lambda t, w, i: (t @ w)[i], lambda t, w, i: t[i] @ w, (WORDS, f32(2, 3), ROWS), w=lambda t, w, i: t[i] @ w[:, ::-1]),
    rows("normalised before or after", lambda t, i: (t / jnp.sqrt(jnp.sum(t * t, -1, keepdims=True) + 1))[i],
         lambda t, i: t[i] * lax.rsqrt(1 + jnp.sum(t[i] ** 2, -1, keepdims=True)), (WORDS, ROWS), w=lambda t, i: t[i] / (1 + jnp.sum(t[i] ** 2, -1, keepdims=True))),
    rows("two tables beside each other", lambda t, u, i: jnp.concatenate([t, u], 1)[i], lambda t, u, i: jnp.concatenate([t[i], hot(i) @ u], 1), (WORDS, WORDS, ROWS),
         swapped=lambda t, u, i: jnp.concatenate([u[i], t[i]], 1)),
    rows("a sum of two tables", lambda t, u, i: (t + u)[i], lambda t, u, i: t[i] + u[i], (WORDS, WORDS, ROWS), same=lambda t, u, i: t[i] + t[i]),
    rows("a bag of words", lambda t, i: t[i].sum(0), lambda t, i: hot(i).sum(0) @ t, (WORDS, ROWS), mean=lambda t, i: t[i].mean(0), two=lambda t, i: t[i[:2]].sum(0)),
    rows("words one later", lambda t, i: t[jnp.concatenate([jnp.zeros(1, jnp.int32), i[:-1]])], lambda t, i: jnp.concatenate([t[:1], t[i[:-1]]]), (WORDS, ROWS),
         rolled=lambda t, i: t[jnp.roll(i, 1)]),
    rows("pairs of words", lambda t, i: t[i[:-1]] * t[i[1:]], lambda t, i: jnp.prod(jnp.stack([t[i][:-1], t[i][1:]]), 0), (WORDS, ROWS), w=lambda t, i: t[i[:-1]] ** 2),
    rows("a batch of texts", lambda t, i: t[i], lambda t, i: jax.vmap(lambda row: hot(row) @ t)(i), (WORDS, uj.integers(of("int32", 2, 2), 0, V - 1)),
         w=lambda t, i: t[i.T]),
    rows("scores against all words", lambda t, i: t[i] @ t.T, lambda t, i: (t @ t[i].T).T, (f32(300, 2), uj.integers(of("int32", 3), 0, 299)),
         one=lambda t, i: t[i[:1] + i * 0] @ t.T),
    rows("an unknown word", lambda t, i: jnp.where((i == 5)[:, None], 0, t[i]), lambda t, i: t[i] * (i != 5)[:, None], (WORDS, ROWS), six=lambda t, i: t[i] * (i != 6)[:, None],
         kept=lambda t, i: t[i]),
    rows("unknown words by a row", lambda t, i: t[jnp.where(i > 30000, 1, i)], lambda t, i: jnp.where((i > 30000)[:, None], t[1], t[i]), (WORDS, ROWS),
         at=lambda t, i: t[jnp.where(i >= 30000, 1, i)]),
    rows("repeated words", lambda t, i: t[i[0]] * (i[0] == i[1]), lambda t, i: t[i[1]] * (i[1] == i[0]), (WORDS, ROWS), always=lambda t, i: t[i[0]],
         never=lambda t, i: t[i[0]] * 0),
    rows("places as numbers", lambda t, i: i.astype(jnp.float32) * t[0, 0], lambda t, i: jnp.arange(V, dtype=jnp.float32)[i] * t[0, 0], (WORDS, ROWS),
         from_one=lambda t, i: (i + 1) * t[0, 0]),
    rows("a slice of two rows", lambda t, i: lax.dynamic_slice(t, (i, 0), (2, 2))[1], lambda t, i: t[jnp.minimum(i + 1, V - 1)], (WORDS, WORD), w=lambda t, i: t[jnp.minimum(i, V - 2)]),
    rows("an entry of a row", lambda x, i: jnp.take_along_axis(x, i[:, None], axis=1)[:, 0], lambda x, i: jnp.sum(x * hot(i, 99), axis=1), (f32(3, 99), uj.integers(of("int32", 3), 0, 98)),
         w=lambda x, i: jnp.sum(x * hot(i[::-1], 99), axis=1), shared=lambda x, i: x[0][i]),
    rows("an entry by two places", lambda x, i: x[jnp.arange(3), i], lambda x, i: jnp.take_along_axis(x, i[:, None], axis=1)[:, 0], (f32(3, 99), uj.integers(of("int32", 3), 0, 98)),
         diagonal=lambda x, i: x[jnp.arange(3), jnp.arange(3) + i * 0]),
]  # fmt: skip

C, LABELS = 24, uj.integers(of("int32", 3), 0, 23)
"""A few classes, whose exponentials are all letters."""


def loss(z, y):
    """The cross entropy of labels."""
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(z), y[:, None], axis=1))


def loss_by_sums(z, y):
    """The cross entropy by rows with a single 1."""
    return jnp.mean(jax.nn.logsumexp(z, axis=-1) - jnp.sum(z * hot(y, C), -1))


def squares(t, i):
    """The gradient of a sum of squares of rows."""
    return jax.grad(lambda t: (t[i] ** 2).sum())(t)


SUMS = [
    rows("segment sums of many", lambda x, s: jax.ops.segment_sum(x, s, V), lambda x, s: hot(s).T @ x, (X, ROWS), turned=lambda x, s: hot(s).T @ x[::-1],
         last=lambda x, s: jax.ops.segment_sum(x, jnp.minimum(s, V - 2), V)),
    rows("counts of words", lambda x, s: jax.ops.segment_sum(jnp.ones(3), s, V) * x[0, 0], lambda x, s: jnp.zeros(V).at[s].add(x[0, 0]), (X, ROWS), w=lambda x, s: hot(s[:2]).sum(0) * x[0, 0]),
    rows("dropped beside", lambda x, s: jax.ops.segment_sum(x, s, 999), lambda x, s: jnp.zeros((999, 2)).at[s].add(x, mode="drop"), (X, uj.integers(of("int32", 3), 0, 2000)),
         moved=lambda x, s: jnp.zeros((999, 2)).at[s].add(x, mode="clip")),
    rows("gradient of rows", squares, lambda t, i: hot(i).T @ (2 * t[i]), (WORDS, ROWS), half=lambda t, i: hot(i).T @ t[i]),
    rows("a step along a gradient", lambda t, i: t - 0.125 * squares(t, i), lambda t, i: t.at[i].add(-0.25 * t[i]), (f32(99, 2), uj.integers(of("int32", 3), 0, 98)),
         repeated=lambda t, i: t.at[i].multiply(0.75), up=lambda t, i: t.at[i].add(0.25 * t[i])),
    rows("gradient of scores", lambda t, w, i: jax.grad(lambda t: ((t[i] @ w) ** 2).sum())(t), lambda t, w, i: jax.ops.segment_sum(2 * (t[i] @ w) @ w.T, i, V), (WORDS, f32(2, 2), ROWS),
         w=lambda t, w, i: jax.ops.segment_sum(2 * (t[i] @ w) @ w, i, V)),
    rows("gradient by the other product", lambda t, i: jax.grad(lambda t: jnp.sin(hot(i) @ t).sum())(t), lambda t, i: jax.ops.segment_sum(jnp.cos(t[i]), i, V), (WORDS, ROWS),
         w=lambda t, i: jax.ops.segment_sum(jnp.cos(t[i[::-1]]), i, V)),
    rows("gradient of a cross entropy", lambda h, w, y: jax.grad(lambda h: loss(h @ w, y))(h), lambda h, w, y: (jax.nn.softmax(h @ w) - hot(y, C)) @ w.T / 3, (X, f32(2, C), LABELS),
         sum=lambda h, w, y: (jax.nn.softmax(h @ w) - hot(y, C)) @ w.T, rolled=lambda h, w, y: (jax.nn.softmax(h @ w) - hot(jnp.roll(y, 1), C)) @ w.T / 3),
    rows("cross entropy of labels", loss, loss_by_sums, (f32(3, C), LABELS), rolled=lambda z, y: loss_by_sums(z, jnp.roll(y, 1)), next=lambda z, y: loss_by_sums(z, jnp.minimum(y + 1, C - 1))),
    rows("log probability of a word", lambda h, w, y: jax.nn.log_softmax(h @ w)[jnp.arange(3), y], lambda h, w, y: jnp.sum(h * w[:, y].T, -1) - jax.nn.logsumexp(h @ w, axis=-1), (X, f32(2, C), LABELS),
         w=lambda h, w, y: jnp.sum(h[::-1] * w[:, y].T, -1) - jax.nn.logsumexp(h @ w, axis=-1)),
    rows("labels that are left out", lambda x, y: jnp.sum(jnp.where(y < 0, 0, jnp.take_along_axis(x, jnp.maximum(y, 0)[:, None], axis=1)[:, 0])),
         lambda x, y: jnp.sum(x * hot(y, 99)), (f32(3, 99), uj.integers(of("int32", 3), -100, 98)),
         last=lambda x, y: jnp.sum(x * hot(jnp.where(y < 0, 98, y), 99)), wrapped=lambda x, y: jnp.sum(jnp.take_along_axis(x, y[:, None], axis=1, mode="clip"))),
]  # fmt: skip

N8, SEGMENTS = uj.integers(of("int32"), 0, 8), uj.integers(of("int32", 4), 0, 1000)
PLACES = uj.integers(of("int32", 3), 0, 2**20)


def of_lengths(x, n):
    """A mean of the first n entries, at least one."""
    keep = jnp.arange(8) < n
    return jnp.sum(jnp.where(keep, x, 0)) / jnp.maximum(n, 1)


def within(x, s):
    """Attention of each place to its segment."""
    return jax.nn.softmax(jnp.where(s[:, None] == s[None, :], x, -jnp.inf), -1)


def within_by_weights(x, s, keep=lambda s: (s[:, None] - s[None, :]) == 0):
    """The same by weights."""
    w = jnp.exp(x) * keep(s)
    return w / jnp.sum(w, -1, keepdims=True)


MASKS = [
    rows("mean of a length", of_lengths, lambda x, n: (x * (jnp.arange(8) < n)).sum() / jnp.where(n == 0, 1, n), (f32(8), N8), one_long=lambda x, n: (x * (jnp.arange(8) <= n)).sum() / jnp.maximum(n, 1),
         two=lambda x, n: (x * (jnp.arange(8) < n)).sum() / jnp.maximum(n, 2)),
    rows("lengths of a batch", lambda x, n: jnp.where(jnp.arange(4) < n[:, None], x, 0), lambda x, n: x * (jnp.arange(1, 5) <= n[:, None]), (f32(2, 4), uj.integers(of("int32", 2), 0, 10**6)),
         one_long=lambda x, n: x * (jnp.arange(4) <= n[:, None]), swapped=lambda x, n: x * (jnp.arange(4) < n[::-1, None])),
    rows("attention of segments", within, within_by_weights, (f32(4, 4), SEGMENTS), before=lambda x, s: within_by_weights(x, s, lambda s: s[:, None] <= s[None, :]),
         whole=lambda x, s: within_by_weights(x, s, lambda s: jnp.ones((4, 4)))),
    rows("causal attention of segments", lambda x, s: jnp.where((s[:, None] == s) & jnp.tril(jnp.ones((4, 4), bool)), x, 0), lambda x, s: jnp.tril(x) * (s[:, None] == s), (f32(4, 4), SEGMENTS),
         strict=lambda x, s: jnp.tril(x, -1) * (s[:, None] == s)),
    rows("segments that are sorted", lambda x, s: jnp.where(s[:, None] >= s, x, 0), lambda x, s: x * ~(s[:, None] < s), (f32(3, 3), PLACES), strict=lambda x, s: x * (s[:, None] > s)),
    rows("offset of a window", lambda x, o: jnp.where((jnp.arange(4)[:, None] + o) >= jnp.arange(4), x, 0), lambda x, o: x * (jnp.arange(4) - jnp.arange(4)[:, None] <= o), (f32(4, 4), uj.integers(of("int32"), -(2**20), 2**20)),
         strict=lambda x, o: x * (jnp.arange(4) - jnp.arange(4)[:, None] < o)),
    rows("window of places", lambda x, p: jnp.where((p[:, None] - p >= 0) & (p[:, None] - p < 2), x, 0), lambda x, p: x * ((p[:, None] == p) | (p[:, None] == p + 1)), (f32(3, 3), PLACES),
         wide=lambda x, p: x * ((p[:, None] == p) | (p[:, None] == p + 1) | (p[:, None] == p + 2))),
    rows("padding of words", lambda t, i: jnp.where((i == 0)[:, None], 0, t[i]).sum(0) / jnp.maximum((i != 0).sum(), 1),
         lambda t, i: (i > 0).astype(jnp.float32) @ t[i] / jnp.maximum(3 - (i == 0).sum(), 1), (WORDS, ROWS), counted=lambda t, i: (i > 0).astype(jnp.float32) @ t[i] / 3,
         zero=lambda t, i: t[i].sum(0) / jnp.maximum((i != 0).sum(), 1)),
    rows("places behind padding", lambda t, p, i: t[i] + p[jnp.cumsum(i != 0)], lambda t, p, i: hot(i) @ t + p[3 - jnp.cumsum((i != 0)[::-1])[::-1] - (i == 0).sum() + (i != 0)], (WORDS, f32(4, 2), ROWS),
         arange=lambda t, p, i: t[i] + p[jnp.arange(1, 4)]),
    rows("the end of a text", lambda x, i: x * jnp.cumprod(i != 2), lambda x, i: x * (jnp.cumsum(i == 2) == 0), (f32(3), ROWS), behind=lambda x, i: x * ((jnp.cumsum(i == 2) - (i == 2)) == 0)),
    rows("a key of a word", lambda x, i: x * (i[0] == 7) * (i[0] == 7), lambda x, i: x * (i[0] == 7), (f32(), ROWS), two=lambda x, i: x * (i[0] == 7) * (i[0] == 8)),
    rows("chosen by order", lambda x, i: jnp.where(i[0] < i[1], x[0], x[1]), lambda x, i: x[(i[0] >= i[1]).astype(jnp.int32)], (f32(2), ROWS), tie=lambda x, i: x[(i[0] > i[1]).astype(jnp.int32)]),
]  # fmt: skip

PAIRS = [*MODELS, *EMBEDDINGS, *SUMS, *MASKS]
"""All of them."""

TABLE = WORDS


def text(count, low=0, high=V - 1, dtype="int32"):
    """So many token ids of a range."""
    return uj.integers(of(dtype, count), low, high)


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
    "zeros in the first case alone": (
        lambda t, i: jnp.sum(jnp.where((i[0] == jnp.arange(V))[:, None], t, jnp.broadcast_to(i[1] != i[2], (V, 2)).astype(jnp.float32)), 0),
        lambda t, i: t[i[0]], TABLE, text(3)),
    "places along another axis in some cases": (
        lambda t, i: jnp.sum(jnp.where(i[0] == jnp.where(i[1] == i[2], jnp.arange(60)[:, None], jnp.arange(60)), t, 0), 0),
        lambda t, i: t[i[0]], f32(60, 60), text(3, 0, 59)),
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
"""Functions that differ for some text."""

ALMOST = {
    "equal rows": (lambda t, i: same(t[i]), lambda t, i: same(t[i]) * 0, TABLE, text(2)),
    "a word as a number": (
        lambda t, i: jnp.where((i.astype(jnp.float32) == 77)[:, None], 0, t[0]), lambda t, i: jnp.stack([t[0]] * 3), TABLE, text(3)),
}  # fmt: skip
"""Functions that are equal for almost all rows and words that are real numbers."""
