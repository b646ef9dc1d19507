"""Sorted rows, places of maxima, and entries at places that are computed: by their laws, and beside them."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from .row import Row, row

LEAST = np.float32(-np.inf)


def greatest(x):
    """The place of the greatest along the last axis, as a float."""
    return jnp.argmax(x, -1).astype(x.dtype)


def least(x):
    return jnp.argmin(x, -1).astype(x.dtype)


def at_greatest(x):
    return x[jnp.argmax(x)]


def ordered(x, y):
    """The second row in the order of the first."""
    return y[jnp.argsort(x)]


def whole(i):
    return i.astype(jnp.int32)


def taken(e, i, **mode):
    """Rows of a table at places that are computed."""
    return jnp.take(e, whole(i), axis=0, **mode)


def clipped(e, i):
    return taken(e, i, mode="clip")


def filled(e, i):
    return taken(e, i, fill_value=0)


def one_hot(place, x):
    return nn.one_hot(place, x.shape[0], dtype=x.dtype)


def below(x):
    return jnp.where(jnp.tri(x.shape[0]) > 0, x, LEAST)


def distances(x, c):
    return jnp.sum((x - jnp.broadcast_to(c, x.shape)) ** 2, -1)


def attention(q, k, v):
    return nn.softmax(q @ k.T, -1) @ v


def permuted(function: Callable) -> Callable:
    """A function of a sequence in the order of another row."""
    return lambda x, y: function(x[jnp.argsort(y)])


def of_first(function: Callable) -> Callable:
    return lambda x, y: function(x)


def middle(x):
    return jnp.sum(jnp.sort(x)[1:-1])


def sums(x):
    return jnp.sum(x)


TRUE: tuple[Row, ...] = (
    row("order: entry at the greatest", at_greatest, jnp.max, "n"),
    row("order: entry at the least", lambda x: x[jnp.argmin(x)], jnp.min, "n"),
    row("order: place from the end", lambda x: x[jnp.argmax(x) - x.shape[0]], jnp.max, "n"),
    row("order: place of softmax", lambda x: greatest(nn.softmax(x, -1)), greatest, "n,d"),
    row("order: place of log softmax", lambda x: greatest(nn.log_softmax(x, -1)), lambda x: greatest(3 * x - 1), "n,d"),
    row("order: place of sigmoid", lambda x: greatest(nn.sigmoid(x)), greatest, "n"),
    row("order: place of the opposite", lambda x: least(-x), greatest, "n"),
    row("order: place of the inverse", lambda x: greatest(1 / jnp.exp(x)), least, "n"),
    row("order: place below a mask", lambda x: greatest(below(2 * x + 1)), lambda x: greatest(below(x)), "n,n"),
    row(
        "order: nearest centre",
        lambda x, c: least(distances(x, c)),
        lambda x, c: greatest(2 * x @ c - jnp.sum(x * x, -1)),
        "n,d",
        "d",
    ),
    row(
        "order: entries along an axis",
        lambda x: jnp.take_along_axis(x, jnp.argmax(x, 1, keepdims=True), 1)[:, 0],
        lambda x: jnp.max(x, 1),
        "n,d",
    ),
    row(
        "order: one hot of the greatest",
        lambda x, e: one_hot(jnp.argmax(x), x) @ e,
        lambda x, e: e[jnp.argmax(x)],
        "n",
        "n,d",
    ),
    row(
        "order: quantized",
        lambda x, e: e[jnp.argmax(x @ e.T, -1)],
        lambda x, e: nn.one_hot(jnp.argmax(x @ e.T, -1), e.shape[0]) @ e,
        "n,d",
        "k,d",
    ),
    row(
        "order: greatest logit",
        lambda x, w, b: at_greatest(x @ w + b),
        lambda x, w, b: jnp.max(x @ w + b),
        "n,d",
        "d",
        "n",
    ),
    row(
        "order: likelihood of the greatest",
        lambda x: jnp.take_along_axis(nn.log_softmax(x, -1), jnp.argmax(x, -1, keepdims=True), -1)[:, 0],
        lambda x: jnp.max(x, -1) - nn.logsumexp(x, -1),
        "n,d",
    ),
    row(
        "order: hard attention",
        lambda q, k, v: v[jnp.argmax(nn.softmax(q @ k.T / 2, -1), -1)],
        lambda q, k, v: v[jnp.argmax(q @ k.T, -1)],
        "n,d",
        "m,d",
        "m,e",
    ),
    row(
        "order: two rows at one place",
        lambda x, y: x[jnp.argmax(y)] + y[jnp.argmax(y)],
        lambda x, y: (x + y)[jnp.argmax(y)],
        "n",
        "n",
    ),
    row(
        "order: replaced at the greatest",
        lambda x, v: x.at[jnp.argmax(x)].set(v),
        lambda x, v: jnp.where(jnp.arange(x.shape[0]) == jnp.argmax(x), v, x),
        "n",
        "",
    ),
    row("order: gradient of the greatest", jax.grad(at_greatest), lambda x: one_hot(jnp.argmax(x), x), "n"),
    row("order: greatest of exp", lambda x: jnp.max(jnp.exp(x)), lambda x: jnp.exp(jnp.max(x)), "n"),
    row("order: sort as a permutation", lambda x: ordered(x, x), jnp.sort, "n"),
    row("order: sort of exp", lambda x: jnp.sort(jnp.exp(x)), lambda x: jnp.exp(jnp.sort(x)), "n"),
    row("order: sort of tanh", lambda x: jnp.sort(jnp.tanh(x)), lambda x: jnp.tanh(jnp.sort(x)), "n"),
    row("order: sort of softmax", lambda x: jnp.sort(nn.softmax(x)), lambda x: nn.softmax(jnp.sort(x)), "n"),
    row("order: sort of the opposite", lambda x: jnp.sort(-x), lambda x: -jnp.sort(x)[::-1], "n"),
    row("order: sort of a multiple", lambda x: jnp.sort(2 * x + 3), lambda x: 2 * jnp.sort(x) + 3, "n"),
    row("order: sort of the reversed", lambda x: jnp.sort(x[::-1]), jnp.sort, "n"),
    row("order: sort of the rolled", lambda x: jnp.sort(jnp.roll(x, 1)), jnp.sort, "n"),
    row(
        "order: sort of the exchanged",
        lambda x, y: jnp.sort(jnp.concatenate([x, y])),
        lambda x, y: jnp.sort(jnp.concatenate([y, x])),
        "n",
        "m",
    ),
    row("order: sort of the transposed", lambda x: jnp.sort(x.T.reshape(-1)), lambda x: jnp.sort(x.reshape(-1)), "n,d"),
    row("order: sort of the sorted", lambda x: jnp.sort(jnp.sort(x)), jnp.sort, "n"),
    row("order: sort of the permuted", permuted(jnp.sort), of_first(jnp.sort), "n", "n"),
    row("order: last of the sorted", lambda x: jnp.sort(x)[-1], jnp.max, "n"),
    row("order: first of the sorted", lambda x: jnp.sort(x)[0], jnp.min, "n"),
    row("order: greatest of the sorted", lambda x: jnp.max(jnp.sort(x)), jnp.max, "n"),
    row("order: variance of the sorted", lambda x: jnp.var(jnp.sort(x)), jnp.var, "n"),
    row("order: product of the sorted", lambda x: jnp.prod(jnp.sort(x)), jnp.prod, "n"),
    row("order: both rows permuted", lambda x, y: jnp.sort(x) @ ordered(x, y), lambda x, y: x @ y, "n", "n"),
    row(
        "order: keys and values permuted",
        lambda q, k, v, y: attention(q, k[jnp.argsort(y)], v[jnp.argsort(y)]),
        lambda q, k, v, y: attention(q, k, v),
        "n,d",
        "m,d",
        "m,e",
        "m",
    ),
    row(
        "order: added at permuted places",
        lambda x, y: sums(jnp.zeros_like(x).at[jnp.argsort(y)].add(x)),
        of_first(sums),
        "n",
        "n",
    ),
    row("order: gradient of a sum of the sorted", jax.grad(lambda x: sums(jnp.sort(x) ** 2)), lambda x: 2 * x, "n"),
    row("order: median", lambda x: jnp.median(2 * x[::-1] + 1), lambda x: 2 * jnp.median(x) + 1, "n"),
    row("order: two greatest", lambda x: lax.top_k(x, 2)[0], lambda x: jnp.sort(x)[::-1][:2], "n+1"),
    row(
        "order: places of the two greatest",
        lambda x: lax.top_k(x, 2)[1].astype(x.dtype),
        lambda x: jnp.argsort(-x)[:2].astype(x.dtype),
        "n+1",
    ),
    row(
        "order: entries at fixed places",
        lambda e: jnp.sum(e[jnp.array([3, 1, 1])], 0),
        lambda e: e[3] + 2 * e[1],
        "v+3,d",
    ),
    row(
        "order: clipped rows of a product",
        lambda e, i, w: clipped(e, i) @ w,
        lambda e, i, w: clipped(e @ w, i),
        "v,d",
        "n",
        "d,k",
    ),
    row("order: filled rows", lambda e, i: jnp.sum(filled(e, i), 1), lambda e, i: filled(jnp.sum(e, 1), i), "v,d", "n"),
    row(
        "order: filled rows as one hot",
        lambda e, i: nn.one_hot(whole(i), e.shape[0]) @ e,
        lambda e, i: e.at[whole(i)].get(mode="fill", fill_value=0, wrap_negative_indices=False),
        "v,d",
        "n",
    ),
    row("order: clipped places", clipped, lambda e, i: e[jnp.clip(whole(i), 0, e.shape[0] - 1)], "v,d", "n"),
    row(
        "order: a place that is moved into bounds",
        lambda x, i: x[whole(i)],
        lambda x, i: x.at[whole(i)].get(mode="clip"),
        "n",
        "",
    ),
    row(
        "order: a place below 0",
        lambda x, i: x[whole(i)],
        lambda x, i: jnp.take(x, jnp.where(whole(i) < 0, whole(i) + x.shape[0], whole(i)), mode="clip"),
        "n",
        "",
    ),
    row(
        "order: whole part of a half",
        lambda x: x * jnp.floor(jnp.asarray(x.shape[0]).astype(x.dtype) / 2),
        lambda x: x * (x.shape[0] // 2),
        "n",
    ),
)

FALSE: tuple[Row, ...] = (
    row("order: place from the other end", lambda x: greatest(x[::-1]), lambda x: x.shape[0] - 1 - greatest(x), "n"),
    row("order: last of the sorted places", lambda x: greatest(x), lambda x: jnp.argsort(x)[-1].astype(x.dtype), "n"),
    row("order: places of descending order", lambda x, y: ordered(-x, y), lambda x, y: ordered(x, y)[::-1], "n", "n"),
    row("order: place of magnitudes", lambda x: greatest(jnp.abs(x)), greatest, "n"),
    row("order: place of squares", lambda x: greatest(x * x), greatest, "n"),
    row("order: place of positive parts", lambda x: greatest(nn.relu(x)), greatest, "n"),
    row("order: place of cosines", lambda x: greatest(jnp.cos(x)), greatest, "n"),
    row("order: place of a multiple", lambda x, s: greatest(x * s), of_first(greatest), "n", ""),
    row(
        "order: place of a multiple that is not negative",
        lambda x, s: greatest(x * jnp.abs(s)),
        of_first(greatest),
        "n",
        "",
    ),
    row("order: place of a sum", lambda x, y: greatest(x + y), of_first(greatest), "n", "n"),
    row("order: place of softmax along the other axis", lambda x: greatest(nn.softmax(x, 0)), greatest, "n,d"),
    row("order: place among the masked", lambda x: greatest(jnp.where(x > 0, x, LEAST)), greatest, "n"),
    row("order: entry at a masked place", lambda x: x[jnp.argmax(jnp.where(x < 2, x, LEAST))], jnp.max, "n"),
    row(
        "order: place among others",
        lambda x, y: greatest(jnp.concatenate([x, y])),
        lambda x, y: greatest(jnp.concatenate([y, x])),
        "n",
        "m",
    ),
    row("order: places along two axes", lambda x: sums(greatest(x)), lambda x: sums(greatest(x.T)), "n,n"),
    row(
        "order: a share with another part in it",
        lambda x, y: greatest(jnp.exp(x) / (jnp.exp(x) + jnp.exp(y))),
        of_first(greatest),
        "n",
        "n",
    ),
    row(
        "order: equal to the greatest",
        lambda x: jnp.where(x == jnp.max(x), 1.0, 0.0),
        lambda x: one_hot(jnp.argmax(x), x),
        "n",
    ),
    row("order: entry at the wrong place", at_greatest, lambda x: x[jnp.argmin(x)], "n"),
    row("order: entry at half of the place", lambda x: x[jnp.argmax(x) // 2], at_greatest, "n"),
    row("order: entry behind the greatest", lambda x: x[jnp.minimum(jnp.argmax(x) + 1, x.shape[0] - 1)], jnp.max, "n"),
    row(
        "order: all of the greatest replaced",
        lambda x, v: x.at[jnp.argmax(x)].set(v),
        lambda x, v: jnp.where(x == jnp.max(x), v, x),
        "n",
        "",
    ),
    row("order: sort and its opposite", lambda x: jnp.sort(-x), lambda x: -jnp.sort(x), "n"),
    row("order: sort of magnitudes", lambda x: jnp.sort(jnp.abs(x)), lambda x: jnp.abs(jnp.sort(x)), "n"),
    row("order: sort of sums", lambda x, y: jnp.sort(x + y), lambda x, y: jnp.sort(x) + jnp.sort(y), "n", "n"),
    row("order: sort of a multiple of any sign", lambda x, s: jnp.sort(s * x), lambda x, s: s * jnp.sort(x), "n", ""),
    row("order: sort of repeated rows", lambda x: jnp.sort(jnp.concatenate([x, x]))[: x.shape[0]], jnp.sort, "n"),
    row("order: sorted along the other axis", lambda x: jnp.sum(jnp.sort(x, 0), 1), lambda x: jnp.sum(x, 1), "n,d"),
    row("order: one row sorted", lambda x, y: jnp.sort(x) @ y, lambda x, y: x @ y, "n", "n"),
    row("order: both rows sorted", lambda x, y: jnp.sort(x) @ jnp.sort(y), lambda x, y: x @ y, "n", "n"),
    row(
        "order: in the order of the other",
        lambda x, y: jnp.sort(x) @ ordered(y, y),
        lambda x, y: ordered(y, x) @ jnp.sort(y),
        "n",
        "n",
    ),
    row("order: part of the sorted", middle, lambda x: sums(x) - 2 * jnp.max(x), "n+2"),
    row("order: least without sorting", lambda x: jnp.sort(x)[0], lambda x: x[0], "n"),
    row("order: median and mean", jnp.median, jnp.mean, "n"),
    row("order: two greatest in ascending order", lambda x: lax.top_k(x, 2)[0], lambda x: jnp.sort(x)[-2:], "n+1"),
    row(
        "order: keys alone permuted",
        lambda q, k, v, y: attention(q, k[jnp.argsort(y)], v),
        lambda q, k, v, y: attention(q, k, v),
        "n,d",
        "m,d",
        "m,e",
        "m",
    ),
    row(
        "order: another fixed place", lambda e: jnp.sum(e[jnp.array([3, 1, 1])], 0), lambda e: e[3] + 2 * e[2], "v+3,d"
    ),
    row(
        "order: a fixed place that is out of bounds at first",
        lambda e: jnp.take(e, jnp.array([0, 2]), axis=0, mode="clip"),
        lambda e: jnp.take(e, jnp.array([0, 2]), axis=0, fill_value=0),
        "n,d",
    ),
    row("order: clipped and filled", clipped, filled, "v,d", "n"),
    row("order: clipped and from the end", clipped, lambda e, i: e.at[whole(i)].get(mode="clip"), "v,d", "n"),
    row("order: one place less", clipped, lambda e, i: e[jnp.clip(whole(i), 0, e.shape[0] - 2)], "v+1,d", "n"),
    row("order: filled and 1 more", lambda e, i: filled(e + 1, i), lambda e, i: filled(e, i) + 1, "v,d", "n"),
    row("order: rounded to 0 and down", lambda x, i: x[whole(i)], lambda x, i: x[whole(jnp.floor(i))], "n", ""),
    row("order: whole numbers that wrap", lambda x: (whole(x) + 1 > whole(x)).astype(x.dtype), jnp.ones_like, "n"),
    row(
        "order: twice a whole number",
        lambda x: (2 * whole(x)).astype(x.dtype),
        lambda x: 2 * whole(x).astype(x.dtype),
        "n",
    ),
    row(
        "order: the magnitude of a whole number", lambda x: jnp.where(jnp.abs(whole(x)) >= 0, x, 0.0), lambda x: x, "n"
    ),
    row("order: a cast of a sum", lambda x: whole(x + 1).astype(x.dtype), lambda x: whole(x).astype(x.dtype) + 1, "n"),
)
