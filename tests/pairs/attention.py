"""Attention of every kind, each written in two ways.

Axes in einsum letters: t, s tokens (queries, keys), h heads, g groups, r queries per group, d, e head features,
m model features, c latent features, f frequencies.
Head features are mostly 4, so that √d is a number of every arithmetic.
"""

import math
from functools import partial

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .mistakes import dropped, nudged, returns_zero, rolled, scaled, swapped, transposed, with_argument
from .pair import Pair

matmul = partial(jnp.matmul, precision="highest")
einsum = partial(jnp.einsum, precision="highest")


def arrays(*shapes: tuple[int, ...]) -> tuple[jax.ShapeDtypeStruct, ...]:
    """One float32 array per shape."""
    return tuple(jax.ShapeDtypeStruct(shape, jnp.float32) for shape in shapes)


# The plain forms, on which the others lean.


def logits(q, k):
    """q kᵀ / √d for q (t, d), k (s, d)."""
    return matmul(q, k.T) / math.sqrt(q.shape[-1])


def attention(q, k, v):
    """softmax(q kᵀ / √d) v for q (t, d), k (s, d), v (s, e)."""
    return matmul(jax.nn.softmax(logits(q, k), axis=-1), v)


def masked_attention(q, k, v, seen):
    """softmax over the keys with seen[t, s] true; the others have logit −∞."""
    return matmul(jax.nn.softmax(jnp.where(seen, logits(q, k), -jnp.inf), axis=-1), v)


def lower(t, offset=0):
    """seen[i, j] = j ≤ i + offset."""
    return np.tril(np.ones((t, t), bool), offset)


def causal_attention(q, k, v, *, offset=0):
    """Every token sees itself and what stands before it."""
    return masked_attention(q, k, v, lower(len(q), offset))


def heads_attention(q, k, v):
    """attention head by head for q (t, h, d), k (s, h, d), v (s, h, e)."""
    return jnp.stack([attention(q[:, h], k[:, h], v[:, h]) for h in range(q.shape[1])], axis=1)


def by_einsum(q, k, v):
    """The same with the heads as an axis of two contractions."""
    a = jax.nn.softmax(einsum("thd,shd->hts", q, k) / math.sqrt(q.shape[-1]), axis=-1)
    return einsum("hts,she->the", a, v)


# Attention as a matrix: vec(A X Wv) = (A ⊗ Wvᵀ) vec X, row-major.


def projected(x, wq, wk, wv):
    """softmax(x Wq (x Wk)ᵀ / √d) x Wv for x (t, m)."""
    return attention(matmul(x, wq), matmul(x, wk), matmul(x, wv))


def kronecker(x, wq, wk, wv, *, of=lambda a, w: jnp.kron(a, w.T), order="C"):
    a = jax.nn.softmax(logits(matmul(x, wq), matmul(x, wk)), axis=-1)
    flat = matmul(of(a, wv), x.ravel(order=order))
    return flat.reshape(x.shape, order=order)


def bilinear(x, wq, wk, wv, *, scale=0.5):
    """softmax(x (Wq Wkᵀ) xᵀ / √d) (x Wv), the two projections met as one matrix, d = 4."""
    a = jax.nn.softmax(einsum("tm,mn,sn->ts", x, matmul(wq, wk.T), x) * scale, axis=-1)
    return matmul(a, matmul(x, wv))


def mixed_before_value(x, wq, wk, wv, *, axis=-1):
    """(A x) Wv for A (x Wv)."""
    a = jax.nn.softmax(logits(matmul(x, wq), matmul(x, wk)), axis=axis)
    return matmul(matmul(a, x), wv)


def scale_in_query(x, wq, wk, wv, *, power=0.5):
    """The factor 1/√d folded into Wq."""
    wq = wq / wq.shape[-1] ** power
    return matmul(jax.nn.softmax(matmul(matmul(x, wq), matmul(x, wk).T), axis=-1), matmul(x, wv))


def value_and_output(x, wq, wk, wv, wo):
    return matmul(projected(x, wq, wk, wv), wo)


def value_output_folded(x, wq, wk, wv, wo):
    """Wv Wo as one matrix."""
    return projected(x, wq, wk, matmul(wv, wo))


# Biases.


def biased(x, wq, wk, wv, bq, bk, bv):
    q, k, v = (matmul(x, w) + b[None] for w, b in ((wq, bq), (wk, bk), (wv, bv)))
    return attention(q, k, v)


def biases_moved(x, wq, wk, wv, bq, bk, bv):
    """bk adds one number to a whole row of logits and drops out; bv passes through, as rows of A sum to one."""
    del bk
    return attention(matmul(x, wq) + bq[None], matmul(x, wk), matmul(x, wv)) + bv[None]


# Heads.


def fused_heads(x, wqkv, bqkv, wo, *, order=(0, 1, 2), heads_last=False):
    """Wqkv (m, 3·h·d), two heads, heads by reshape and transpose; order says which third is q, k, v."""
    thirds = jnp.split(matmul(x, wqkv) + bqkv[None], 3, axis=-1)
    shape = (len(x), -1, 2) if heads_last else (len(x), 2, -1)
    axes = (2, 0, 1) if heads_last else (1, 0, 2)
    q, k, v = (thirds[i].reshape(shape).transpose(axes) for i in order)
    a = jax.nn.softmax(matmul(q, k.transpose(0, 2, 1)) / math.sqrt(q.shape[-1]), axis=-1)
    return matmul(matmul(a, v).transpose(1, 0, 2).reshape(len(x), -1), wo)


def head_by_head(x, wqkv, bqkv, wo):
    """Each head with its own columns, and the output projection as a sum over heads: Σ_h head_h Wo_h."""
    width = len(wo)
    d = width // 2

    def head(h):
        columns = [slice(third * width + h * d, third * width + (h + 1) * d) for third in range(3)]
        q, k, v = (matmul(x, wqkv[:, c]) + bqkv[None, c] for c in columns)
        return matmul(attention(q, k, v), wo[h * d : (h + 1) * d])

    return head(0) + head(1)


def multihead(x, wq, wk, wv, wo):
    """Weights (m, h, d) and (h, d, m)."""
    q, k, v = (einsum("tm,mhd->thd", x, w) for w in (wq, wk, wv))
    return einsum("the,hem->tm", by_einsum(q, k, v), wo)


def multihead_by_reshape(x, wq, wk, wv, wo):
    """The same weights as matrices (m, h·d), the heads cut out of the projected features."""
    _, h, _ = wq.shape
    flat = lambda w: matmul(x, w.reshape(len(w), -1)).reshape(len(x), h, -1)
    return matmul(heads_attention(flat(wq), flat(wk), flat(wv)).reshape(len(x), -1), wo.reshape(-1, wo.shape[-1]))


def null_head_added(x, wq, wk, wv, wo):
    """One head more, whose values are zero."""
    pad = lambda w, axis: jnp.concatenate([w, jnp.zeros_like(lax.slice_in_dim(w, 0, 1, axis=axis))], axis=axis)
    return multihead(x, pad(wq, 1), pad(wk, 1), pad(wv, 1), jnp.concatenate([wo, wo[:1]], axis=0))


def heads_by_vmap(q, k, v, *, axis=1):
    return jax.vmap(attention, in_axes=1, out_axes=axis)(q, k, v)


# Shared keys and values.


def repeated_groups(q, k, v, *, spread=lambda x, n: jnp.repeat(x, n, axis=1)):
    """Grouped-query attention: q (t, g·r, d), k, v (s, g, ·), every key head repeated r times."""
    n = q.shape[1] // k.shape[1]
    return by_einsum(q, spread(k, n), spread(v, n))


def grouped(q, k, v):
    t, heads, d = q.shape
    q = q.reshape(t, k.shape[1], -1, d)
    a = jax.nn.softmax(einsum("tgrd,sgd->grts", q, k) / math.sqrt(d), axis=-1)
    return einsum("grts,sge->tgre", a, v).reshape(t, heads, -1)


def one_key_head(q, k, v):
    """Multi-query attention: k (s, d), v (s, e) for all heads of q (t, h, d)."""
    a = jax.nn.softmax(einsum("thd,sd->hts", q, k) / math.sqrt(q.shape[-1]), axis=-1)
    return einsum("hts,se->the", a, v)


def heads_as_queries(q, k, v, *, order="C", scale=1.0):
    """The heads are only more queries: (t·h, d) rows against the one key head."""
    t, h, d = q.shape
    rows = q.reshape(t * h, d) if order == "C" else q.transpose(1, 0, 2).reshape(t * h, d)
    return attention(rows * scale, k, v).reshape(t, h, -1)


# Softmax by blocks.


def online(q, k, v, *, rescale_sum=True, rescale_mean=True, blocks=3):
    """Flash attention: lax.scan over blocks of 2 keys with running maximum m, sum l and weighted values o."""

    def step(carry, block):
        m, l, o = carry
        keys, values = block
        s = logits(q, keys)
        top = jnp.maximum(m, s.max(axis=-1, keepdims=True))
        p, old = jnp.exp(s - top), jnp.exp(m - top)
        l = (l * old if rescale_sum else l) + p.sum(axis=-1, keepdims=True)
        o = (o * old if rescale_mean else o) + matmul(p, values)
        return (top, l, o), None

    zero = jnp.zeros((len(q), 1), q.dtype)
    start = (zero - jnp.inf, zero, jnp.zeros((len(q), v.shape[-1]), v.dtype))
    cut = lambda x: x.reshape(-1, 2, x.shape[-1])[:blocks]
    (_, l, o), _ = lax.scan(step, start, (cut(k), cut(v)))
    return o / l


def blockwise(q, k, v, *, last=True):
    """Σ_blocks exp(s) v over Σ_blocks exp(s), without any maximum."""
    numerator, denominator = 0.0, 0.0
    for start in range(0, len(k), 2):
        p = jnp.exp(logits(q, k[start : start + 2]))
        numerator = numerator + matmul(p, v[start : start + 2])
        if last or start + 2 < len(k):
            denominator = denominator + p.sum(axis=-1, keepdims=True)
    return numerator / denominator


def merged_halves(q, k, v, *, of_maximum=jnp.exp, of_sum=lambda l: l):
    """Two parts of the keys apart, each with its maximum m, sum l and values o, merged with weights eᵐ (split-k)."""
    half = len(k) // 2
    numerator, denominator = 0.0, 0.0
    parts = [_partial(q, k[:half], v[:half]), _partial(q, k[half:], v[half:])]
    top = jnp.maximum(parts[0][0], parts[1][0])
    for m, l, o in parts:
        weight = of_maximum(m - top)
        numerator, denominator = numerator + weight * o, denominator + weight * of_sum(l)
    return numerator / denominator


def _partial(q, k, v):
    """The maximum m of the logits, l = Σ exp(s − m) and o = Σ exp(s − m) v."""
    s = logits(q, k)
    m = s.max(axis=-1, keepdims=True)
    p = jnp.exp(s - m)
    return m, p.sum(axis=-1, keepdims=True), matmul(p, v)


def queries_mapped(q, k, v, *, axis=0):
    """One query at a time, by lax.map."""

    def one(query):
        a = jax.nn.softmax(matmul(k, query) / math.sqrt(len(query)), axis=0)
        return matmul(a, v)

    return jnp.roll(lax.map(one, q), 0 if axis == 0 else 1, axis=0)


def unshifted(q, k, v, *, floor=0.0):
    """exp(s) / Σ exp(s)."""
    p = jnp.exp(logits(q, k))
    return matmul(p / (p.sum(axis=-1, keepdims=True) + floor), v)


def shifted_by(q, k, v, c, *, axis=1):
    """softmax does not see a number added to a whole row of logits: c (t,) per query."""
    return matmul(jax.nn.softmax(logits(q, k) + jnp.expand_dims(c, axis), axis=-1), v)


def keys_reordered(q, k, v, *, of_values=(3, 0, 5, 1, 4, 2)):
    """Attention does not see the order of (key, value) pairs."""
    order = np.array([3, 0, 5, 1, 4, 2])
    return attention(q, k[order], v[np.array(of_values)])


def padded_keys(q, k, v, *, offset=0):
    """Two keys of padding, masked."""
    pad = lambda x: jnp.concatenate([x, x[:2]], axis=0)
    seen = np.broadcast_to(np.arange(len(k) + 2) < len(k) + offset, (len(q), len(k) + 2))
    return masked_attention(q, pad(k), pad(v), seen)


def tempered(q, k, v, tau):
    """softmax(q kᵀ / (τ √d)) v with a temperature τ ()."""
    return matmul(jax.nn.softmax(logits(q, k) / tau, axis=-1), v)


def temperature_in_query(q, k, v, tau, *, power=1):
    return attention(q / tau**power, k, v)


def capped(q, k, v, cap):
    """softmax(cap·tanh(q kᵀ / (√d·cap))) v."""
    return matmul(jax.nn.softmax(cap * jnp.tanh(logits(q, k) / cap), axis=-1), v)


def capped_in_query(q, k, v, cap, *, outer=True):
    """The cap folded into the query, with tanh(−z) = −tanh z."""
    s = -jnp.tanh(logits(q / -cap, k))
    return matmul(jax.nn.softmax(s * cap if outer else s, axis=-1), v)


def with_sink(q, k, v, sink):
    """A learned logit () that takes weight and gives no value."""
    column = jnp.broadcast_to(sink, (len(q), 1))
    a = jax.nn.softmax(jnp.concatenate([logits(q, k), column], axis=-1), axis=-1)
    return matmul(a[:, :-1], v)


def sink_in_denominator(q, k, v, sink, *, of=jnp.exp):
    p = jnp.exp(logits(q, k))
    return matmul(p, v) / (p.sum(axis=-1, keepdims=True) + of(sink))


# jax.nn.dot_product_attention: (t, h, d) or (batch, t, h, d).

library = jax.nn.dot_product_attention


def library_causal(q, k, v):
    return library(q, k, v, is_causal=True)


def heads_causal(q, k, v, *, offset=0):
    return jnp.stack([causal_attention(q[:, h], k[:, h], v[:, h], offset=offset) for h in range(q.shape[1])], axis=1)


def library_biased(q, k, v, bias):
    return library(q, k, v, bias=bias[None])


def heads_biased(q, k, v, bias):
    """softmax(q kᵀ / √d + bias) v for bias (h, t, s)."""
    rows = lambda h: matmul(jax.nn.softmax(logits(q[:, h], k[:, h]) + bias[h], axis=-1), v[:, h])
    return jnp.stack([rows(h) for h in range(q.shape[1])], axis=1)


def library_window(q, k, v):
    return library(q, k, v, local_window_size=(2, 0))


def heads_window(q, k, v, *, width=3):
    return jnp.stack([truncated_window(q[:, h], k[:, h], v[:, h], width=width) for h in range(q.shape[1])], axis=1)


# Masks.


def truncated(q, k, v, *, extra=0):
    """Row i attends to the first i + 1 keys: they alone are there."""
    rows = [attention(q[i : i + 1], k[: i + 1 + extra], v[: i + 1 + extra]) for i in range(len(q))]
    return jnp.concatenate(rows, axis=0)


def mask_added(q, k, v, *, offset=0):
    """−∞ added to the logits of the future."""
    bias = np.where(lower(len(q), offset), 0.0, -np.inf)
    return matmul(jax.nn.softmax(logits(q, k) + jnp.asarray(bias, q.dtype), axis=-1), v)


def mask_by_smallest_float(q, k, v, *, offset=0):
    """The least finite float in the place of −∞."""
    s = jnp.where(lower(len(q), offset), logits(q, k), jnp.finfo(q.dtype).min)
    return matmul(jax.nn.softmax(s, axis=-1), v)


def mask_multiplied(q, k, v, *, renormalise=True):
    """The exponentials times zero or one, normalised after."""
    p = jnp.exp(logits(q, k))
    kept = p * jnp.asarray(lower(len(q)), p.dtype)
    return matmul(kept / (kept if renormalise else p).sum(axis=-1, keepdims=True), v)


def windowed(q, k, v, *, width=3):
    """Token i sees tokens i − width < j ≤ i."""
    return masked_attention(q, k, v, lower(len(q)) & ~lower(len(q), -width))


def truncated_window(q, k, v, *, width=3):
    rows = []
    for i in range(len(q)):
        near = slice(max(0, i - width + 1), i + 1)
        rows.append(attention(q[i : i + 1], k[near], v[near]))
    return jnp.concatenate(rows, axis=0)


def packed_documents(q, k, v, *, cut=2):
    """Two documents of 2 and 3 tokens in one row: the mask is block diagonal."""
    document = np.arange(len(q)) >= cut
    return masked_attention(q, k, v, document[:, None] == document[None, :])


def separate_documents(q, k, v):
    first, second = slice(0, 2), slice(2, None)
    return jnp.concatenate([attention(q[s], k[s], v[s]) for s in (first, second)], axis=0)


def prefix_masked(q, k, v, *, prefix=3):
    """The first tokens see each other both ways, the rest is causal."""
    return masked_attention(q, k, v, lower(len(q)) | (np.arange(len(q)) < prefix)[None, :])


def prefix_split(q, k, v):
    prefix = attention(q[:3], k[:3], v[:3])
    rest = [attention(q[i : i + 1], k[: i + 1], v[: i + 1]) for i in range(3, len(q))]
    return jnp.concatenate([prefix, *rest], axis=0)


# Decoding with a cache.


def causal_projected(x, wq, wk, wv):
    return causal_attention(matmul(x, wq), matmul(x, wk), matmul(x, wv))


def decoded(x, wq, wk, wv, *, seen_after=1, writes=(True, True)):
    """Token by token: the key and value of each are written into a cache of fixed size, the unwritten rest masked."""
    length = len(x)
    keys = jnp.zeros((length, wk.shape[-1]), x.dtype)
    values = jnp.zeros((length, wv.shape[-1]), x.dtype)
    rows = []
    for t in range(length):
        token = x[t : t + 1]
        if writes[0] or t != 1:
            keys = lax.dynamic_update_slice(keys, matmul(token, wk), (t, 0))
        if writes[1] or t != 1:
            values = lax.dynamic_update_slice(values, matmul(token, wv), (t, 0))
        seen = (np.arange(length) < t + seen_after)[None]
        rows.append(masked_attention(matmul(token, wq), keys, values, seen))
    return jnp.concatenate(rows, axis=0)


def prefilled(x, wq, wk, wv, *, position=4):
    """Four tokens at once, then the fifth against the concatenated cache."""
    k, v = matmul(x[:4], wk), matmul(x[:4], wv)
    start = causal_attention(matmul(x[:4], wq), k, v)
    k, v = (jnp.concatenate([cache, matmul(x[4:], w)], axis=0) for cache, w in ((k, wk), (v, wv)))
    return jnp.concatenate([start, attention(matmul(x[position : position + 1], wq), k, v)], axis=0)


# Rotary positions: the angle of token t and frequency f is t·θ_f, θ (f,) an input.


def turn(a, b, angle):
    """(a, b) rotated by the angle."""
    c, s = jnp.cos(angle), jnp.sin(angle)
    return a * c - b * s, b * c + a * s


def angles(t, theta, *, first=0):
    return jnp.arange(first, first + t).astype(theta.dtype)[:, None] * theta[None]


def rotate_halves(x, theta, *, sign=1.0, first=0):
    """Features f and f + d/2 make a pair (GPT-NeoX); x (t, d)."""
    half = x.shape[-1] // 2
    return jnp.concatenate(turn(x[:, :half], x[:, half:], sign * angles(len(x), theta, first=first)), axis=-1)


def rotate_interleaved(x, theta, *, sign=1.0):
    """Features 2f and 2f + 1 make a pair (RoFormer, equation 34); x (t, d)."""
    pairs = turn(x[:, 0::2], x[:, 1::2], sign * angles(len(x), theta))
    return jnp.stack(pairs, axis=-1).reshape(x.shape)


def rope_interleaved(x, wq, wk, wv, theta):
    q, k = rotate_interleaved(matmul(x, wq), theta), rotate_interleaved(matmul(x, wk), theta)
    return causal_attention(q, k, matmul(x, wv))


def rope_halves(x, wq, wk, wv, theta, *, order=(0, 2, 1, 3), of_keys=(0, 2, 1, 3), sign=1.0):
    """The columns of Wq and Wk permuted, so that pairs stand half a head apart."""
    q = rotate_halves(matmul(x, wq[:, np.array(order)]), theta)
    k = rotate_halves(matmul(x, wk[:, np.array(of_keys)]), theta, sign=sign)
    return causal_attention(q, k, matmul(x, wv))


def rotate_by_matrices(x, theta, *, sign=1.0):
    """R_t x_t with R_t = I cos + J sin block by block, J = [[0, −1], [1, 0]]."""
    d = x.shape[-1]
    identity, quarter = np.eye(d), np.kron(np.eye(d // 2), [[0.0, -sign], [sign, 0.0]])
    angle = jnp.repeat(angles(len(x), theta), 2, axis=-1)
    constant = lambda matrix: jnp.asarray(matrix, x.dtype)[None]
    r = constant(identity) * jnp.cos(angle)[:, :, None] + constant(quarter) * jnp.sin(angle)[:, :, None]
    return einsum("tij,tj->ti", r, x)


def rotated_scores(q, k, theta, *, first=0):
    """(R_i q_i)·(R_j k_j)."""
    return matmul(rotate_halves(q, theta, first=first), rotate_halves(k, theta).T)


def relative_scores(q, k, theta, *, sign=1.0):
    """q_i·R_{j−i} k_j: with a = q k + q' k' and b = q' k − q k' over the pairs, a cos + b sin of (j − i)θ."""
    half = q.shape[-1] // 2
    (q1, q2), (k1, k2) = ((x[:, :half], x[:, half:]) for x in (q, k))
    gap = (np.arange(len(k))[None, :] - np.arange(len(q))[:, None]).astype(np.float32)
    angle = jnp.asarray(gap, q.dtype)[:, :, None] * theta[None, None]
    outer = partial(einsum, "tf,sf->tsf")
    even, odd = outer(q1, k1) + outer(q2, k2), outer(q2, k1) - outer(q1, k2)
    return (even * jnp.cos(angle) + sign * odd * jnp.sin(angle)).sum(axis=-1)


# Other position encodings.

SLOPES = np.array([0.5, 0.25])


def alibi(q, k, v, *, bias=lambda i, j: j - i, slopes=SLOPES, offset=0):
    """Press et al. 2022: slope_h·bias(i, j) on the logits of head h, causal; q, k, v (t, h, ·)."""
    t = len(q)
    i, j = np.arange(t)[:, None], np.arange(t)[None, :]
    slope = np.asarray(slopes)[:, None, None] * bias(i, j)
    s = einsum("thd,shd->hts", q, k) / math.sqrt(q.shape[-1]) + jnp.asarray(slope, q.dtype)
    a = jax.nn.softmax(jnp.where(lower(t, offset)[None], s, -jnp.inf), axis=-1)
    return einsum("hts,she->the", a, v)


def alibi_as_feature(q, k, v):
    """The bias slope·j as one more feature of the key, met by √d in the query: the rest of it is constant in a row."""
    t, _, d = q.shape
    heads = []
    for h, slope in enumerate(SLOPES):
        column = jnp.asarray(slope * np.arange(t), k.dtype)[:, None]
        query = jnp.concatenate([q[:, h], jnp.full((t, 1), math.sqrt(d), q.dtype)], axis=-1)
        s = matmul(query, jnp.concatenate([k[:, h], column], axis=-1).T) / math.sqrt(d)
        heads.append(matmul(jax.nn.softmax(jnp.where(lower(t), s, -jnp.inf), axis=-1), v[:, h]))
    return jnp.stack(heads, axis=1)


def relative_by_gather(q, k, v, table):
    """Shaw et al. 2018: logits q_i·(k_j + r_{j−i}); the table (2t − 1, d) is read at j − i + t − 1."""
    t = len(q)
    index = np.arange(t)[None, :] - np.arange(t)[:, None] + t - 1
    s = matmul(q, k.T) + einsum("td,tsd->ts", q, table[index])
    return matmul(jax.nn.softmax(s / math.sqrt(q.shape[-1]), axis=-1), v)


def relative_by_skew(q, k, v, table, *, start=-1):
    """The same bias from q rᵀ (t, 2t − 1), read with rows one shorter: entry (i, j) stands at i(2t−2) + j + t − 1."""
    t = len(q)
    flat = matmul(q, table.T).ravel()
    first = t + start
    skewed = flat[first : first + t * (2 * t - 2)] if start < 0 else flat[-t * (2 * t - 2) :]
    s = matmul(q, k.T) + skewed.reshape(t, 2 * t - 2)[:, :t]
    return matmul(jax.nn.softmax(s / math.sqrt(q.shape[-1]), axis=-1), v)


# Low rank.


def latent(x, wq, down, up_k, up_v, wo):
    """DeepSeek-V2 §2.1: keys and values from a latent x D (t, c); Wq, Uk, Uv (·, h, d), Wo (h, d, m)."""
    c = matmul(x, down)
    q = einsum("tm,mhd->thd", x, wq)
    k, v = (einsum("tc,chd->thd", c, up) for up in (up_k, up_v))
    return einsum("the,hem->tm", by_einsum(q, k, v), wo)


def latent_absorbed(x, wq, down, up_k, up_v, wo, *, width=4):
    """Uk absorbed into the query, Uv into the output: the latent itself is the one key and value of all heads."""
    c = matmul(x, down)
    q = einsum("tm,mhd,chd->thc", x, wq, up_k)
    a = jax.nn.softmax(einsum("thc,sc->hts", q, c) / math.sqrt(width), axis=-1)
    return einsum("hts,sc,hcm->tm", a, c, einsum("chd,hdm->hcm", up_v, wo))


def lora(x, wq, wk, wv, down_q, up_q, down_v, up_v, *, alpha=0.5):
    """Hu et al. 2022: x W + α (x D) U beside the frozen Wq and Wv."""
    low_rank = lambda down, up: alpha * matmul(matmul(x, down), up)
    return attention(matmul(x, wq) + low_rank(down_q, up_q), matmul(x, wk), matmul(x, wv) + low_rank(down_v, up_v))


def lora_merged(x, wq, wk, wv, down_q, up_q, down_v, up_v):
    return projected(x, wq + 0.5 * matmul(down_q, up_q), wk, wv + 0.5 * matmul(down_v, up_v))


def cross(x, y, wq, wkv):
    """Queries from x (t, m), keys and values from y (s, n) by one matrix (n, 4 + e)."""
    kv = matmul(y, wkv)
    return attention(matmul(x, wq), kv[:, :4], kv[:, 4:])


def cross_folded(x, y, wq, wkv, *, first=4):
    """softmax(x (Wq Wkᵀ) yᵀ / √d) y Wv, right to left."""
    wk, wv = wkv[:, :4], wkv[:, -wkv.shape[1] + first :]
    a = jax.nn.softmax(einsum("tm,md,nd,sn->ts", x, wq, wk, y) / 2, axis=-1)
    return matmul(matmul(a, y), wv)


# Linear attention: φ = elu + 1 (Katharopoulos et al. 2020).


def phi(x):
    return jax.nn.elu(x) + 1


def linear_by_matrix(q, k, v):
    """(φ(q) φ(k)ᵀ) v with rows normalised."""
    a = matmul(phi(q), phi(k).T)
    return matmul(a / a.sum(axis=-1, keepdims=True), v)


def linear_by_state(q, k, v, *, normal=lambda fk: fk.sum(axis=0)):
    """φ(q) (φ(k)ᵀ v) / φ(q)·Σ φ(k)."""
    fq, fk = phi(q), phi(k)
    return matmul(fq, matmul(fk.T, v)) / matmul(fq, normal(fk))[:, None]


def linear_masked(q, k, v, *, offset=0):
    a = jnp.where(lower(len(q), offset), matmul(phi(q), phi(k).T), 0.0)
    return matmul(a, v) / a.sum(axis=-1, keepdims=True)


def linear_by_cumsum(q, k, v, *, reverse=False):
    """Running sums of φ(k) ⊗ v and of φ(k)."""
    fq, fk = phi(q), phi(k)
    states = lax.cumsum(einsum("td,te->tde", fk, v), axis=0)
    return einsum("td,tde->te", fq, states) / einsum("td,td->t", fq, lax.cumsum(fk, axis=0, reverse=reverse))[:, None]


def fast_weights(q, k, v, *, late=False):
    """The same as a recurrence: a fast-weight matrix and its normaliser, written then read."""

    def step(state, token):
        fq, fk, value = token
        memory = state[0] + fk[:, None] * value[None, :], state[1] + fk
        read = state if late else memory
        return memory, matmul(fq, read[0]) / (matmul(fq, read[1]) + (1.0 if late else 0.0))

    start = jnp.zeros((q.shape[-1], v.shape[-1]), q.dtype), jnp.zeros(q.shape[-1], q.dtype)
    return lax.scan(step, start, (phi(q), phi(k), v))[1]


def retention_parallel(q, k, v, *, decay=0.5):
    """RetNet (Sun et al. 2023), equation 5: (q kᵀ ∘ D) v, D_ij = decay^{i−j} for j ≤ i."""
    t = len(q)
    gap = np.arange(t)[:, None] - np.arange(t)[None, :]
    weights = np.where(gap >= 0, decay ** np.maximum(gap, 0), 0.0)
    return matmul(matmul(q, k.T) * jnp.asarray(weights, q.dtype), v)


def retention_recurrent(q, k, v, *, decay=0.5, decay_new=1.0):
    """RetNet, equation 6: S ← decay·S + kᵀ v, read by q."""

    def step(state, token):
        query, key, value = token
        state = decay * state + decay_new * key[:, None] * value[None, :]
        return state, matmul(query, state)

    return lax.scan(step, jnp.zeros((q.shape[-1], v.shape[-1]), q.dtype), (q, k, v))[1]


QKV = arrays((5, 4), (6, 4), (6, 3))
SELF = arrays((5, 4), (5, 4), (5, 3))
HEADS = arrays((5, 2, 4), (6, 2, 4), (6, 2, 3))
SELF_HEADS = arrays((5, 2, 4), (5, 2, 4), (5, 2, 4))
PROJECTED = arrays((5, 3), (3, 4), (3, 4), (3, 3))
MULTIHEAD = arrays((5, 6), (6, 2, 4), (6, 2, 4), (6, 2, 3), (2, 3, 6))
ROPE = arrays((5, 3), (3, 4), (3, 4), (3, 6), (2,))
FINITE_MASK = "the least finite float is read as −∞"


PAIRS: tuple[Pair, ...] = (
    Pair(
        "attention: its Kronecker matrix",
        projected,
        kronecker,
        PROJECTED,
        {
            "attention matrix transposed": partial(kronecker, of=lambda a, w: jnp.kron(a.T, w.T)),
            "Wv transposed": partial(kronecker, of=jnp.kron),
            "factors exchanged": partial(kronecker, of=lambda a, w: jnp.kron(w.T, a)),
            "column-major vec": partial(kronecker, order="F"),
        },
    ),
    Pair(
        "attention: Wq Wkᵀ as one bilinear form",
        projected,
        bilinear,
        PROJECTED,
        {
            "scale missing": partial(bilinear, scale=1.0),
            "divided by d": partial(bilinear, scale=0.25),
            "query and key exchanged": swapped(projected, 1, 2),
        },
    ),
    Pair(
        "attention: mixed before the value projection",
        projected,
        mixed_before_value,
        PROJECTED,
        {
            "softmax over the queries": partial(mixed_before_value, axis=0),
            "Wv transposed": transposed(mixed_before_value, 3),
            "2⁻²⁰ on one entry of Wv": nudged(mixed_before_value, 3),
        },
    ),
    Pair(
        "attention: scale folded into Wq",
        projected,
        scale_in_query,
        PROJECTED,
        {
            "scale missing": partial(scale_in_query, power=0.0),
            "scale squared": partial(scale_in_query, power=1.0),
            "2⁻²⁰ on one entry of Wq": nudged(scale_in_query, 1),
        },
    ),
    Pair(
        "attention: Wv Wo as one matrix",
        value_and_output,
        value_output_folded,
        arrays((5, 3), (3, 4), (3, 4), (3, 3), (3, 3)),
        {
            "Wo Wv for Wv Wo": swapped(value_output_folded, 3, 4),
            "Wo transposed": transposed(value_output_folded, 4),
            "Wo forgotten": lambda x, wq, wk, wv, wo: projected(x, wq, wk, wv),
        },
    ),
    Pair(
        "attention: key bias drops out, value bias passes through",
        biased,
        biases_moved,
        arrays((5, 3), (3, 4), (3, 4), (3, 6), (4,), (4,), (6,)),
        {
            "query bias dropped": dropped(biases_moved, 4),
            "value bias dropped": dropped(biases_moved, 6),
            "value bias once per key": scaled(biases_moved, 5.0, 6),
            "query bias on the key": swapped(biases_moved, 4, 5),
        },
    ),
    Pair(
        "multi-head: fused QKV against head by head",
        fused_heads,
        head_by_head,
        arrays((5, 6), (6, 24), (24,), (8, 6)),
        {
            "query and key exchanged": partial(fused_heads, order=(1, 0, 2)),
            "key and value exchanged": partial(fused_heads, order=(0, 2, 1)),
            "heads as the fast axis": partial(fused_heads, heads_last=True),
            "bias dropped": dropped(head_by_head, 2),
        },
    ),
    Pair(
        "multi-head: einsum against reshape",
        multihead,
        multihead_by_reshape,
        MULTIHEAD,
        {
            "heads of the output exchanged": rolled(multihead_by_reshape, 0, 4),
            "heads of the key exchanged": rolled(multihead_by_reshape, 1, 2),
            "2⁻²⁰ on one entry of Wo": nudged(multihead_by_reshape, 4),
        },
    ),
    Pair(
        "multi-head: a head without values added",
        multihead,
        null_head_added,
        MULTIHEAD,
        {
            "heads of the value exchanged": rolled(null_head_added, 1, 3),
            "a head repeated": lambda x, wq, wk, wv, wo: multihead(x, wq, wk, wv, wo + wo),
            "last head without values": with_argument(
                multihead, lambda w: w * jnp.asarray([1.0, 0.0], w.dtype)[None, :, None], 3
            ),
        },
    ),
    Pair(
        "multi-head: vmap over heads",
        by_einsum,
        heads_by_vmap,
        HEADS,
        {
            "heads of the value exchanged": rolled(heads_by_vmap, 1, 2),
            "scale missing": scaled(heads_by_vmap, 2.0, 0),
            "a returned zero": returns_zero(heads_by_vmap),
        },
    ),
    Pair(
        "grouped queries: repeated keys against grouped einsum",
        repeated_groups,
        grouped,
        arrays((5, 6, 4), (7, 2, 4), (7, 2, 3)),
        {
            "keys tiled for repeated": partial(repeated_groups, spread=lambda x, n: jnp.tile(x, (1, n, 1))),
            "wrong group of values": rolled(grouped, 1, 2),
            "query of the next head": rolled(grouped, 1, 0),
        },
    ),
    Pair(
        "multi-query: one key head against heads as queries",
        one_key_head,
        heads_as_queries,
        arrays((5, 3, 4), (6, 4), (6, 2)),
        {
            "heads and tokens mixed": partial(heads_as_queries, order="F"),
            "scale missing": partial(heads_as_queries, scale=2.0),
            "2⁻²⁰ on one key": nudged(heads_as_queries, 1),
        },
    ),
    Pair(
        "softmax: online by scan with a running maximum",
        attention,
        online,
        QKV,
        {
            "sum not rescaled": partial(online, rescale_sum=False),
            "values not rescaled": partial(online, rescale_mean=False),
            "nothing rescaled": partial(online, rescale_sum=False, rescale_mean=False),
            "last block forgotten": partial(online, blocks=2),
        },
    ),
    Pair(
        "softmax: by blocks without a maximum",
        attention,
        blockwise,
        QKV,
        {
            "denominator without its last block": partial(blockwise, last=False),
            "values of the next key": rolled(blockwise, 0, 2),
            "2⁻²⁰ on one value": nudged(blockwise, 2),
        },
    ),
    Pair(
        "softmax: two halves merged by their maxima and sums",
        attention,
        merged_halves,
        QKV,
        {
            "maxima forgotten": partial(merged_halves, of_maximum=jnp.ones_like),
            "sums forgotten": partial(merged_halves, of_sum=jnp.ones_like),
            "weight e⁻ᵐ": partial(merged_halves, of_maximum=lambda m: jnp.exp(-m)),
            "halves of the keys exchanged": with_argument(merged_halves, lambda k: jnp.roll(k, 3, axis=0), 1),
        },
    ),
    Pair(
        "attention: one query at a time",
        attention,
        queries_mapped,
        QKV,
        {
            "rows moved by one": partial(queries_mapped, axis=1),
            "query scaled": scaled(queries_mapped, 0.5, 0),
            "2⁻²⁰ on one query": nudged(queries_mapped, 0),
        },
    ),
    Pair(
        "softmax: without its maximum",
        attention,
        unshifted,
        QKV,
        {
            "1e-6 in the denominator": partial(unshifted, floor=1e-6),
            "one in the denominator": partial(unshifted, floor=1.0),
            "softmax over the queries": lambda q, k, v: matmul(jax.nn.softmax(logits(q, k), axis=0), v),
        },
    ),
    Pair(
        "softmax: a number added to every row",
        lambda q, k, v, c: attention(q, k, v),
        shifted_by,
        arrays((5, 4), (5, 4), (5, 3), (5,)),
        {
            "the number added to every column": partial(shifted_by, axis=0),
            "rows multiplied": lambda q, k, v, c: matmul(jax.nn.softmax(logits(q, k) * c[:, None], axis=-1), v),
            "added after softmax": lambda q, k, v, c: matmul(jax.nn.softmax(logits(q, k), axis=-1) + c[:, None], v),
        },
    ),
    Pair(
        "attention: keys and values in another order",
        attention,
        keys_reordered,
        QKV,
        {
            "only the keys reordered": partial(keys_reordered, of_values=(0, 1, 2, 3, 4, 5)),
            "two values exchanged": partial(keys_reordered, of_values=(0, 3, 5, 1, 4, 2)),
            "values in the inverse order": partial(keys_reordered, of_values=(1, 3, 5, 0, 4, 2)),
        },
    ),
    Pair(
        "attention: padding masked",
        attention,
        padded_keys,
        QKV,
        {
            "one key of padding seen": partial(padded_keys, offset=1),
            "last key masked": partial(padded_keys, offset=-1),
            "all padding seen": partial(padded_keys, offset=2),
        },
    ),
    Pair(
        "attention: temperature folded into the query",
        tempered,
        temperature_in_query,
        arrays((5, 4), (6, 4), (6, 3), ()),
        {
            "multiplied for divided": partial(temperature_in_query, power=-1),
            "temperature forgotten": partial(temperature_in_query, power=0),
            "temperature squared": partial(temperature_in_query, power=2),
        },
        "the temperature is not zero",
    ),
    Pair(
        "attention: soft cap folded into the query",
        capped,
        capped_in_query,
        arrays((5, 4), (6, 4), (6, 3), ()),
        {
            "outer factor forgotten": partial(capped_in_query, outer=False),
            "no cap": lambda q, k, v, cap: attention(q, k, v),
            "sign of the query": scaled(capped_in_query, -1.0, 0),
        },
        "the cap is not zero",
    ),
    Pair(
        "attention: sink logit against a term of the denominator",
        with_sink,
        sink_in_denominator,
        arrays((5, 4), (6, 4), (6, 3), ()),
        {
            "sink without its exponential": partial(sink_in_denominator, of=jnp.square),
            "one for exp(sink)": partial(sink_in_denominator, of=jnp.ones_like),
            "sink forgotten": lambda q, k, v, sink: attention(q, k, v),
        },
    ),
    Pair(
        "jax.nn.dot_product_attention: by hand",
        library,
        by_einsum,
        arrays((5, 2, 4), (6, 2, 4), (6, 2, 4)),
        {
            "scale missing": scaled(by_einsum, 2.0, 0),
            "heads of the key exchanged": rolled(by_einsum, 1, 1),
            "softmax over the heads": lambda q, k, v: einsum(
                "hts,she->the", jax.nn.softmax(einsum("thd,shd->hts", q, k) / 2, axis=0), v
            ),
        },
        single=True,
    ),
    Pair(
        "jax.nn.dot_product_attention: causal",
        library_causal,
        heads_causal,
        SELF_HEADS,
        {
            "mask off by one": partial(heads_causal, offset=1),
            "no mask": heads_attention,
            "values of the next token": rolled(heads_causal, 0, 2),
        },
        single=True,
    ),
    Pair(
        "jax.nn.dot_product_attention: with a bias",
        library_biased,
        heads_biased,
        arrays((5, 2, 4), (6, 2, 4), (6, 2, 4), (2, 5, 6)),
        {
            "bias dropped": dropped(heads_biased, 3),
            "bias scaled like the logits": scaled(heads_biased, 0.5, 3),
            "bias of the other head": rolled(heads_biased, 0, 3),
        },
        single=True,
    ),
    Pair(
        "jax.nn.dot_product_attention: grouped queries",
        library,
        grouped,
        arrays((5, 6, 4), (7, 2, 4), (7, 2, 4)),
        {
            "keys tiled for repeated": partial(repeated_groups, spread=lambda x, n: jnp.tile(x, (1, n, 1))),
            "wrong group of keys": rolled(grouped, 1, 1),
            "scale squared": scaled(grouped, 0.5, 0),
        },
        single=True,
    ),
    Pair(
        "jax.nn.dot_product_attention: sliding window",
        library_window,
        heads_window,
        SELF_HEADS,
        {
            "window one too wide": partial(heads_window, width=4),
            "window one too narrow": partial(heads_window, width=2),
            "no window": heads_causal,
        },
        FINITE_MASK,
        single=True,
    ),
    Pair(
        "causal mask: −∞ against truncation",
        causal_attention,
        truncated,
        SELF,
        {
            "one token of the future": partial(truncated, extra=1),
            "no mask": attention,
            "mask transposed": lambda q, k, v: masked_attention(q, k, v, lower(5).T),
        },
    ),
    Pair(
        "causal mask: −∞ chosen against −∞ added",
        causal_attention,
        mask_added,
        SELF,
        {
            "mask off by one": partial(mask_added, offset=1),
            "one added for −∞": lambda q, k, v: matmul(
                jax.nn.softmax(logits(q, k) - jnp.asarray(~lower(5), q.dtype), axis=-1), v
            ),
            "zero for −∞": lambda q, k, v: matmul(jax.nn.softmax(jnp.where(lower(5), logits(q, k), 0.0), axis=-1), v),
        },
    ),
    Pair(
        "causal mask: −∞ against the least float",
        causal_attention,
        mask_by_smallest_float,
        SELF,
        {
            "mask off by one": partial(mask_by_smallest_float, offset=1),
            "the least positive float": lambda q, k, v: matmul(
                jax.nn.softmax(jnp.where(lower(5), logits(q, k), jnp.finfo(q.dtype).tiny), axis=-1), v
            ),
            "2⁻²⁰ on one value": nudged(mask_by_smallest_float, 2),
        },
        FINITE_MASK,
    ),
    Pair(
        "causal mask: −∞ against a product with zero",
        causal_attention,
        mask_multiplied,
        SELF,
        {
            "not normalised again": partial(mask_multiplied, renormalise=False),
            "mask off by one": partial(causal_attention, offset=1),
            "rows of zeros": returns_zero(mask_multiplied),
        },
    ),
    Pair(
        "sliding window: mask against truncation",
        windowed,
        truncated_window,
        SELF,
        {
            "window one too wide": partial(truncated_window, width=4),
            "window one too narrow": partial(truncated_window, width=2),
            "whole past": causal_attention,
        },
    ),
    Pair(
        "packed documents: block mask against separate calls",
        packed_documents,
        separate_documents,
        SELF,
        {
            "boundary off by one": partial(packed_documents, cut=3),
            "boundary one too early": partial(packed_documents, cut=1),
            "documents see each other": attention,
        },
    ),
    Pair(
        "prefix language model: mask against two parts",
        prefix_masked,
        prefix_split,
        SELF,
        {
            "prefix one too short": partial(prefix_masked, prefix=2),
            "prefix one too long": partial(prefix_masked, prefix=4),
            "causal throughout": causal_attention,
        },
    ),
    Pair(
        "decoding: token by token with a cache",
        causal_projected,
        decoded,
        PROJECTED,
        {
            "empty cache entry seen": partial(decoded, seen_after=2),
            "a key never written": partial(decoded, writes=(False, True)),
            "a value never written": partial(decoded, writes=(True, False)),
            "query and key exchanged": swapped(decoded, 1, 2),
        },
    ),
    Pair(
        "decoding: prefill, then one token",
        causal_projected,
        prefilled,
        PROJECTED,
        {
            "query of the token before": partial(prefilled, position=3),
            "cache moved by one": rolled(prefilled, 0, 0),
            "2⁻²⁰ on one entry of Wk": nudged(prefilled, 2),
        },
    ),
    Pair(
        "rotary: interleaved against half-split with permuted weights",
        rope_interleaved,
        rope_halves,
        ROPE,
        {
            "weights not permuted": partial(rope_halves, order=(0, 1, 2, 3), of_keys=(0, 1, 2, 3)),
            "keys permuted otherwise": partial(rope_halves, of_keys=(2, 0, 1, 3)),
            "keys turned backwards": partial(rope_halves, sign=-1.0),
            "frequencies exchanged": rolled(rope_halves, 0, 4),
        },
    ),
    Pair(
        "rotary: pairs against rotation matrices",
        rotate_interleaved,
        rotate_by_matrices,
        arrays((5, 6), (3,)),
        {
            "turned backwards": partial(rotate_by_matrices, sign=-1.0),
            "half-split pairs": rotate_halves,
            "frequency of the next pair": rolled(rotate_by_matrices, 0, 1),
        },
    ),
    Pair(
        "rotary: scores see only the distance",
        rotated_scores,
        relative_scores,
        arrays((4, 6), (5, 6), (3,)),
        {
            "distance with the other sign": partial(relative_scores, sign=-1.0),
            "positions of the queries off by one": partial(rotated_scores, first=1),
            "not turned": lambda q, k, theta: matmul(q, k.T),
        },
        "sine and cosine of a sum",
    ),
    Pair(
        "ALiBi: distance against key position",
        alibi,
        partial(alibi, bias=lambda i, j: j + 0 * i),
        SELF_HEADS,
        {
            "sign of the bias": partial(alibi, bias=lambda i, j: i - j),
            "slopes exchanged": partial(alibi, slopes=SLOPES[::-1]),
            "query position": partial(alibi, bias=lambda i, j: i + 0 * j),
            "mask off by one": partial(alibi, offset=1),
        },
    ),
    Pair(
        "ALiBi: bias against one more key feature",
        alibi,
        alibi_as_feature,
        SELF_HEADS,
        {
            "slopes halved": partial(alibi, slopes=SLOPES / 2),
            "heads of the query exchanged": rolled(alibi_as_feature, 1, 0),
            "2⁻²⁰ on one key": nudged(alibi_as_feature, 1),
        },
    ),
    Pair(
        "relative positions: gather against skew",
        relative_by_gather,
        relative_by_skew,
        arrays((5, 4), (5, 4), (5, 3), (9, 4)),
        {
            "skew off by one": partial(relative_by_skew, start=-2),
            "skew without its offset": partial(relative_by_skew, start=-5),
            "table reversed": with_argument(relative_by_skew, lambda r: r[::-1], 3),
            "table dropped": dropped(relative_by_skew, 3),
        },
    ),
    Pair(
        "latent attention: up-projections absorbed",
        latent,
        latent_absorbed,
        arrays((6, 5), (5, 2, 4), (5, 3), (3, 2, 4), (3, 2, 4), (2, 4, 5)),
        {
            "scaled by the latent width": partial(latent_absorbed, width=3),
            "heads of the key exchanged": rolled(latent_absorbed, 1, 3),
            "up-projections exchanged": swapped(latent_absorbed, 3, 4),
        },
    ),
    Pair(
        "LoRA: merged into query and value",
        lora,
        lora_merged,
        arrays((5, 6), (6, 4), (6, 4), (6, 4), (6, 2), (2, 4), (6, 2), (2, 4)),
        {
            "α forgotten": partial(lora, alpha=1.0),
            "deltas exchanged": swapped(swapped(lora_merged, 4, 6), 5, 7),
            "delta of the value dropped": dropped(lora_merged, 7),
        },
    ),
    Pair(
        "cross attention: projections folded",
        cross,
        cross_folded,
        arrays((5, 3), (6, 7), (3, 4), (7, 8)),
        {
            "keys for values": lambda x, y, wq, wkv: cross_folded(x, y, wq, jnp.roll(wkv, 4, axis=-1)),
            "key and query tokens mixed": rolled(cross_folded, 0, 0),
            "scale squared": scaled(cross_folded, 0.5, 2),
        },
    ),
    Pair(
        "linear attention: matrix against state",
        linear_by_matrix,
        linear_by_state,
        QKV,
        {
            "normalised by the mean key": partial(linear_by_state, normal=lambda fk: fk.mean(axis=0)),
            "normalised by the last key": partial(linear_by_state, normal=lambda fk: fk[-1]),
            "softmax for φ": attention,
        },
        "φ(q)·Σφ(k) is not zero",
    ),
    Pair(
        "linear attention: mask against cumsum",
        linear_masked,
        linear_by_cumsum,
        SELF,
        {
            "mask off by one": partial(linear_masked, offset=1),
            "normaliser summed from the end": partial(linear_by_cumsum, reverse=True),
            "no mask": linear_by_state,
        },
        "φ(q)·Σφ(k) is not zero",
    ),
    Pair(
        "linear attention: mask against fast weights",
        linear_masked,
        fast_weights,
        SELF,
        {
            "read before written": partial(fast_weights, late=True),
            "values of the next token": rolled(fast_weights, 0, 2),
            "2⁻²⁰ on one value": nudged(fast_weights, 2),
        },
        "φ(q)·Σφ(k) is not zero",
    ),
    Pair(
        "retention: parallel against recurrent",
        retention_parallel,
        retention_recurrent,
        SELF,
        {
            "decay squared": partial(retention_recurrent, decay=0.25),
            "decay on the new token too": partial(retention_recurrent, decay_new=0.5),
            "no decay": partial(retention_parallel, decay=1.0),
        },
    ),
)
