"""Attention in several writings, equal at all sizes."""

import jax
import jax.numpy as jnp

from .row import row

softmax, einsum = jax.nn.softmax, jnp.einsum
QKV = ("n,d", "m,d", "m,e")
SELF = ("n,d", "n,d", "n,d")


def scale(q):
    return jnp.sqrt(jnp.float32(q.shape[-1]))


def plain(q, k, v):
    return softmax(q @ k.T / scale(q)) @ v


def by_einsum(q, k, v):
    return einsum("ij,je->ie", softmax(einsum("id,jd->ij", q, k) / scale(q)), v)


def unnormalised(q, k, v):
    e = jnp.exp(q @ k.T / scale(q))
    return (e @ v) / e.sum(1, keepdims=True)


def stable(q, k, v):
    s = q @ k.T / scale(q)
    e = jnp.exp(s - s.max(1, keepdims=True))
    return (e / e.sum(1, keepdims=True)) @ v


def scaled_queries(q, k, v):
    return softmax((q / scale(q)) @ k.T) @ v


def scaled_keys(q, k, v):
    return softmax(q @ (k * scale(q) ** -1).T) @ v


def row_by_row(q, k, v):
    return jax.vmap(lambda one: softmax(k @ one / scale(q)) @ v)(q)


def transposed(q, k, v):
    return (v.T @ softmax(k @ q.T / scale(q), axis=0)).T


def through_log(q, k, v):
    s = q @ k.T / scale(q)
    return jnp.exp(s - jax.nn.logsumexp(s, axis=1, keepdims=True)) @ v


def padded_with_ones(q, k, v):
    """Numerator and denominator in one product."""
    e = jnp.exp(q @ k.T / scale(q))
    both = e @ jnp.concatenate([v, jnp.ones((v.shape[0], 1), jnp.float32)], 1)
    return both[:, :-1] / both[:, -1:]


WRITINGS = (
    by_einsum,
    unnormalised,
    stable,
    scaled_queries,
    scaled_keys,
    row_by_row,
    transposed,
    through_log,
    padded_with_ones,
)


def causal(n):
    i = jnp.arange(n)
    return i[:, None] >= i[None, :]


def masked(q, k, v):
    s = jnp.where(causal(q.shape[0]), q @ k.T, -jnp.inf)
    return softmax(s) @ v


def masked_afterwards(q, k, v):
    e = jnp.where(causal(q.shape[0]), jnp.exp(q @ k.T), 0.0)
    return (e @ v) / e.sum(1)[:, None]


def masked_by_product(q, k, v):
    e = causal(q.shape[0]).astype(jnp.float32) * jnp.exp(q @ k.T)
    return (e / e.sum(1, keepdims=True)) @ v


def masked_by_tril(q, k, v):
    e = jnp.tril(jnp.exp(q @ k.T))
    return (e @ v) / e.sum(1, keepdims=True)


def masked_through_log(q, k, v):
    s = jnp.where(causal(q.shape[0]), q @ k.T, -jnp.inf)
    return jnp.exp(s - jax.nn.logsumexp(s, axis=1, keepdims=True)) @ v


def masked_from_the_other_side(q, k, v):
    i = jnp.arange(q.shape[0])
    s = jnp.where(i[None, :] > i[:, None], -jnp.inf, q @ k.T)
    return softmax(s) @ v


MASKED = (masked_afterwards, masked_by_product, masked_by_tril, masked_through_log, masked_from_the_other_side)


def window(n, width):
    i = jnp.arange(n)
    gap = i[:, None] - i[None, :]
    return (gap >= 0) & (gap < width)


def windowed(q, k, v):
    return softmax(jnp.where(window(q.shape[0], 5), q @ k.T, -jnp.inf)) @ v


def windowed_afterwards(q, k, v):
    e = jnp.exp(q @ k.T) * window(q.shape[0], 5).astype(jnp.float32)
    return (e @ v) / e.sum(1, keepdims=True)


def heads(q, k, v):
    """[n, h, d] per head."""
    s = einsum("nhd,mhd->hnm", q, k)
    return einsum("hnm,mhd->nhd", softmax(s), v)


def heads_by_vmap(q, k, v):
    return jax.vmap(lambda a, b, c: softmax(a @ b.T) @ c, in_axes=1, out_axes=1)(q, k, v)


def grouped(q, k, v):
    """Queries of r heads share keys and values: keys repeated."""
    n, g, r, d = q.shape
    k, v = (jnp.broadcast_to(x[:, :, None], (x.shape[0], g, r, d)) for x in (k, v))
    s = einsum("ngrd,mgrd->grnm", q, k)
    return einsum("grnm,mgrd->ngrd", softmax(s), v)


def grouped_by_einsum(q, k, v):
    return einsum("grnm,mgd->ngrd", softmax(einsum("ngrd,mgd->grnm", q, k)), v)


def projected_heads(x, wq, wk, wv, wo):
    """Weights [D, h, d]."""
    q, k, v = (einsum("nD,Dhd->nhd", x, w) for w in (wq, wk, wv))
    a = softmax(einsum("nhd,mhd->hnm", q, k))
    return einsum("nhd,hdD->nD", einsum("hnm,mhd->nhd", a, v), wo)


def projected_sum_of_heads(x, wq, wk, wv, wo):
    """Σ over heads, with values and output folded into one matrix."""
    a = softmax(einsum("nD,Dhd,Ehd,mE->hnm", x, wq, wk, x))
    return einsum("hnm,mE,Ehd,hdD->nD", a, x, wv, wo)


def flat_heads(x, wq, wk, wv, wo):
    """Weights flattened to [D, h·d] and activations reshaped."""
    D, h, d = wq.shape
    q, k, v = ((x @ w.reshape(D, h * d)).reshape(x.shape[0], h, d) for w in (wq, wk, wv))
    a = softmax(einsum("nhd,mhd->hnm", q, k))
    y = einsum("hnm,mhd->nhd", a, v).reshape(x.shape[0], h * d)
    return y @ wo.reshape(h * d, D)


PROJECTED = ("n,D", "D,h,d", "D,h,d", "D,h,d", "h,d,D")


def cached(q, k, v, k_new, v_new):
    """A key and a value appended to a cache."""
    k = jnp.concatenate([k, k_new[None]])
    v = jnp.concatenate([v, v_new[None]])
    return softmax(k @ q) @ v


def cached_apart(q, k, v, k_new, v_new):
    e, new = jnp.exp(k @ q), jnp.exp(k_new @ q)
    return (e @ v + new * v_new) / (e.sum() + new)


def cached_updated(q, k, v, k_new, v_new):
    k = jnp.pad(k, ((0, 1), (0, 0))).at[-1].set(k_new)
    v = jnp.pad(v, ((0, 1), (0, 0))).at[-1].set(v_new)
    return softmax(k @ q) @ v


CACHE = ("d", "n,d", "n,e", "d", "e")


def two_blocks(q, k, v, k2, v2):
    """Keys in two blocks, each with its own maximum, as flash attention does."""
    s, s2 = q @ k.T, q @ k2.T
    m, m2 = s.max(1), s2.max(1)
    top = jnp.maximum(m, m2)
    e, e2 = jnp.exp(s - m[:, None]), jnp.exp(s2 - m2[:, None])
    a, a2 = jnp.exp(m - top)[:, None], jnp.exp(m2 - top)[:, None]
    return (a * (e @ v) + a2 * (e2 @ v2)) / (a * e.sum(1, keepdims=True) + a2 * e2.sum(1, keepdims=True))


def one_block(q, k, v, k2, v2):
    return softmax(q @ jnp.concatenate([k, k2]).T) @ jnp.concatenate([v, v2])


def bidirectional(q, k, v, b):
    return softmax(q @ k.T + b) @ v


def biased_product(q, k, v, b):
    e = jnp.exp(q @ k.T) * jnp.exp(b)
    return e @ v / e.sum(1)[:, None]


def alibi(q, k, v, slope):
    i = jnp.arange(q.shape[0], dtype=jnp.float32)
    return softmax(jnp.where(causal(q.shape[0]), q @ k.T - slope * (i[:, None] - i[None, :]), -jnp.inf)) @ v


def alibi_of_keys(q, k, v, slope):
    """What a row has in common cancels."""
    i = jnp.arange(q.shape[0], dtype=jnp.float32)
    e = jnp.where(causal(q.shape[0]), jnp.exp(q @ k.T + slope * i[None, :]), 0.0)
    return (e @ v) / e.sum(1)[:, None]


def linear_attention(q, k, v):
    return (q @ k.T) @ v


def linear_attention_regrouped(q, k, v):
    return q @ (k.T @ v)


def causal_linear(q, k, v):
    return jnp.tril(q @ k.T) @ v


def causal_linear_cumulative(q, k, v):
    states = jnp.cumsum(k[:, :, None] * v[:, None, :], 0)
    return einsum("nd,nde->ne", q, states)


def normalised_linear(q, k, v):
    p, r = jnp.exp(q), jnp.exp(k)
    return (p @ (r.T @ v)) / (p @ r.sum(0))[:, None]


def normalised_linear_weights(q, k, v):
    w = jnp.exp(q) @ jnp.exp(k).T
    return (w / w.sum(1, keepdims=True)) @ v


def rotated(x, theta):
    """Rotary positions: pairs in two halves."""
    a, b = x[:, : x.shape[1] // 2], x[:, x.shape[1] // 2 :]
    angle = jnp.arange(x.shape[0], dtype=jnp.float32)[:, None] * theta[None]
    return jnp.concatenate([a * jnp.cos(angle) - b * jnp.sin(angle), a * jnp.sin(angle) + b * jnp.cos(angle)], -1)


def rotary_scores(q, k, theta):
    return rotated(q, theta) @ rotated(k, theta).T


def relative_scores(q, k, theta):
    d = theta.shape[0]
    a, b, c, e = q[:, :d], q[:, d:], k[:, :d], k[:, d:]
    i = jnp.arange(q.shape[0], dtype=jnp.float32)
    angle = (i[:, None] - i[None, :])[:, :, None] * theta[None, None]
    same, cross = a[:, None] * c[None] + b[:, None] * e[None], a[:, None] * e[None] - b[:, None] * c[None]
    return (same * jnp.cos(angle) + cross * jnp.sin(angle)).sum(-1)


TRUE = (
    *(row(f"attention: {f.__name__}", plain, f, *QKV) for f in WRITINGS),
    row("attention: stable and by rows", stable, row_by_row, *QKV),
    row("attention: transposed and ones appended", transposed, padded_with_ones, *QKV),
    *(row(f"causal attention: {f.__name__}", masked, f, *SELF) for f in MASKED),
    row("causal attention: tril and log", masked_by_tril, masked_through_log, *SELF),
    row("attention in a window", windowed, windowed_afterwards, *SELF),
    row("heads by vmap", heads, heads_by_vmap, "n,h,d", "m,h,d", "m,h,d"),
    row("grouped heads", grouped, grouped_by_einsum, "n,g,r,d", "m,g,d", "m,g,d"),
    row("heads as a sum", projected_heads, projected_sum_of_heads, *PROJECTED),
    row("heads flattened", projected_heads, flat_heads, *PROJECTED),
    row("key-value cache appended", cached, cached_apart, *CACHE),
    row("key-value cache updated", cached, cached_updated, *CACHE),
    row("flash attention in two blocks", one_block, two_blocks, "n,d", "m,d", "m,e", "p,d", "p,e"),
    row("bias as a factor", bidirectional, biased_product, "n,d", "m,d", "m,e", "n,m"),
    row("alibi of keys alone", alibi, alibi_of_keys, "n,d", "n,d", "n,e", ""),
    row("linear attention regrouped", linear_attention, linear_attention_regrouped, *QKV),
    row("causal linear attention by prefix sums", causal_linear, causal_linear_cumulative, "n,d", "n,d", "n,e"),
    row("normalised linear attention", normalised_linear, normalised_linear_weights, *QKV),
    row("rotary scores depend on i - j", rotary_scores, relative_scores, "n,2*d", "n,2*d", "d"),
    row("softmax of shifted rows", lambda x, c: softmax(x + c[:, None]), lambda x, c: softmax(x), "n,m", "n"),
    row(
        "softmax rows add up to 1",
        lambda x, v: (softmax(x) @ jnp.ones((x.shape[1], 1), jnp.float32)) * v,
        lambda x, v: v,
        "n,m",
        "n,1",
    ),
    row("permuted keys", lambda q, k, v: plain(q, k[::-1], v[::-1]), plain, *QKV),
    row(
        "last query against all keys",
        lambda q, k, v: masked(q, k, v)[-1],
        lambda q, k, v: softmax(k @ q[-1]) @ v,
        *SELF,
    ),
    row("first query sees itself", lambda q, k, v: masked(q, k, v)[0], lambda q, k, v: v[0], *SELF),
)
