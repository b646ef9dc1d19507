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
    a = attended_by_weights(*(heads(x @ p[n]) for n in "qkv"), keep(t))
    return standard_by_sums(x + a, p["g"], p["b"])


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


LLAMA = {"e": f32(V, D), "g": f32(D), "q": f32(D, D), "k": f32(D, D // H), "v": f32(D, D // H), "u": f32(D, D), "w": f32(D, D)}

MODELS = [
    rows("GPT-2", gpt2, gpt2_other, (GPT2, TEXT), position=lambda p, t: gpt2_other(p, t, 1),
         mask=lambda p, t: gpt2_other(p, t, 0, jnp.tril(jnp.ones((T, T), bool), 1)), last_word=lambda p, t: gpt2_other(p, t, words=V - 1)),
    rows("BERT", bert, bert_other, (BERT, TEXT, uj.integers(of("int32", T), 0, 1)), two_paddings=lambda p, t, kind: bert_other(p, t, kind, lambda t: (t > 1).at[0].set(True)),
         nothing_padded=lambda p, t, kind: bert_other(p, t, kind, lambda t: jnp.ones(T))),
    rows("Llama", llama, llama_other, (LLAMA, TEXT, N), position=lambda p, t, n: llama_other(p, t, n, 1),
         one_long=lambda p, t, n: llama_other(p, t, n, length=lambda n: n + 1)),
]  # fmt: skip

PAIRS = MODELS
"""All of them."""
