"""Pairs of many kinds, and for each a near miss: another side, another edge, another place of one factor."""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Row, row

LEAST = np.float32(-np.inf)
ZERO = np.float32(0)
softmax = jax.nn.softmax


def rms(x):
    return x / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + np.float32(1e-6))


def places(x):
    return jnp.arange(x.shape[0])


def attention(mask: Callable) -> Callable:
    return lambda q, k, v: softmax(jnp.where(mask(q), q @ k.T, LEAST)) @ v


def window(q):
    ahead = places(q)[:, None] - places(q)[None]
    return (ahead < 4) & (ahead >= 0)


def band(width: int) -> Callable:
    return lambda q: jnp.triu(jnp.tri(q.shape[0]), -width) > 0


def at_place(x):
    return places(x).astype(x.dtype)


def averaged(step: Callable) -> Callable:
    return lambda x: lax.scan(lambda c, t: (step(c, t), None), ZERO, x)[0]


def total(x):
    return jnp.cumsum(x[::-1])[::-1]


def pairs_added(x):
    return lax.reduce_window(x, ZERO, lax.add, (2,), (2,), "VALID")


def moments(x):
    return jnp.mean(x * x) - jnp.mean(x) ** 2


def centred(repeated: Callable) -> Callable:
    return lambda x: x - repeated(x.reshape(-1, 4).mean(1), 4)


PAIRS = (
    (
        "scale folded",
        lambda x, g, w: (rms(x) * g[None]) @ w,
        lambda x, g, w: rms(x) @ (g[:, None] * w),
        lambda x, g, w: rms(x) @ (w * g[None]),
        ("n,d", "d", "d,d"),
    ),
    ("window of 4", attention(window), attention(band(3)), attention(band(4)), ("n,d", "n,d", "n,d")),
    (
        "bias by distance",
        lambda s: softmax(s + at_place(s)[None]),
        lambda s: softmax(s + at_place(s)[None] - at_place(s)[:, None]),
        lambda s: softmax(s + at_place(s)[:, None]),
        ("n,n",),
    ),
    (
        "strided convolution",
        lambda x, w: lax.conv_general_dilated(x[None, None], w[None, None], (2,), "VALID")[0, 0],
        lambda x, w: w[0] * x[:-1:2] + w[1] * x[1::2],
        lambda x, w: w[1] * x[:-1:2] + w[0] * x[1::2],
        ("2*n", "2"),
    ),
    (
        "rows of pairs",
        lambda x: x.reshape(-1, 2, x.shape[1]).transpose(1, 0, 2)[0],
        lambda x: x[::2],
        lambda x: x[1::2],
        ("2*n,d",),
    ),
    ("pairs added", lambda x: pairs_added(x).sum(), jnp.sum, lambda x: x[1:].sum(), ("2*n",)),
    (
        "moving average",
        averaged(lambda c, t: 0.5 * c + 0.5 * t),
        averaged(lambda c, t: (c + t) / 2),
        lambda x: averaged(lambda c, t: (c + t) / 2)(x[::-1]),
        ("n",),
    ),
    ("variance by moments", jnp.var, moments, lambda x: moments(x) * x.shape[0] / (x.shape[0] + 1), ("n",)),
    (
        "trace of a product as a sum",
        lambda a, b: jnp.trace(a @ b.T),
        lambda a, b: (a * b).sum(),
        lambda a, b: (a * b)[:-1].sum(),
        ("n,m", "n,m"),
    ),
    (
        "likelihood",
        lambda p, y: jnp.log(jnp.prod(jnp.exp(p * y))),
        lambda p, y: p @ y,
        lambda p, y: p.sum() * y.sum(),
        ("n", "n"),
    ),
    ("sums to the end", total, lambda x: x.sum() - jnp.cumsum(x) + x, lambda x: x.sum() - jnp.cumsum(x), ("n",)),
    (
        "quotients of a running product",
        lambda x: jnp.cumprod(jnp.exp(x))[1:] / jnp.cumprod(jnp.exp(x))[:-1],
        lambda x: jnp.exp(x[1:]),
        lambda x: jnp.exp(x[:-1]),
        ("n",),
    ),
    (
        "running maximum holds its place",
        lambda x: jnp.maximum(lax.cummax(x), x),
        lax.cummax,
        lambda x: jnp.minimum(lax.cummax(x), x),
        ("n",),
    ),
    (
        "rolled twice",
        lambda x: jnp.roll(jnp.roll(x, 1), 1),
        lambda x: jnp.roll(x, 2),
        lambda x: jnp.roll(x, -2),
        ("n",),
    ),
    (
        "squared distances of two sets",
        lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1),
        lambda x, y: (x * x).sum(-1)[:, None] - 2 * x @ y.T + (y * y).sum(-1)[None],
        lambda x, y: (x * x).sum(-1)[:, None] - x @ y.T + (y * y).sum(-1)[None],
        ("n,d", "m,d"),
    ),
    (
        "permutation matrix",
        lambda x: jnp.eye(x.shape[0])[::-1] @ x,
        lambda x: x[::-1],
        lambda x: x[:, ::-1],
        ("n,n",),
    ),
    (
        "range",
        lambda x: x.max() - x.min(),
        lambda x: (-x).max() - (-x).min(),
        lambda x: x.max() + x.min(),
        ("n",),
    ),
    (
        "sum of outer products",
        lambda a, b: jnp.einsum("bi,bj->bij", a, b).sum(0),
        lambda a, b: a.T @ b,
        lambda a, b: b.T @ a,
        ("b,d", "b,d"),
    ),
    (
        "groups of 4",
        lambda x: (x.reshape(-1, 4) - x.reshape(-1, 4).mean(1, keepdims=True)).reshape(-1),
        centred(jnp.repeat),
        centred(jnp.tile),
        ("4*n",),
    ),
    (
        "a place added behind",
        lambda x: jnp.pad(x, (0, 1))[::2].sum(),
        lambda x: x[::2].sum(),
        lambda x: jnp.pad(x, (1, 0))[::2].sum(),
        ("n",),
    ),
    (
        "trace of a Kronecker product",
        lambda a, b: jnp.trace(jnp.kron(a, b)),
        lambda a, b: jnp.trace(a) * jnp.trace(b),
        lambda a, b: jnp.trace(a) + jnp.trace(b),
        ("n,n", "m,m"),
    ),
    (
        "masked last place",
        lambda x: jnp.where(places(x) < x.shape[0] - 1, x, 0).sum(),
        lambda x: x[:-1].sum(),
        lambda x: x[1:].sum(),
        ("n",),
    ),
    (
        "gradient of sums",
        jax.grad(lambda x: (jnp.cumsum(x) ** 2).sum()),
        lambda x: 2 * total(jnp.cumsum(x)),
        lambda x: 2 * jnp.cumsum(jnp.cumsum(x)),
        ("n",),
    ),
    (
        "gradient of a stride",
        jax.grad(lambda x: (x[::2] ** 2).sum()),
        lambda x: jnp.where(places(x) % 2 == 0, 2 * x, 0),
        lambda x: jnp.where(places(x) % 2 == 1, 2 * x, 0),
        ("n",),
    ),
    (
        "gradient of a trace",
        jax.grad(jnp.trace),
        lambda a: jnp.eye(a.shape[0]),
        lambda a: jnp.tri(a.shape[0]),
        ("n,n",),
    ),
    (
        "gradient through a diagonal matrix",
        jax.grad(lambda v: (jnp.diag(v) ** 2).sum()),
        lambda v: 2 * v,
        lambda v: 4 * v,
        ("n",),
    ),
    ("gradient of sums in windows", jax.grad(lambda x: pairs_added(x).sum()), jnp.ones_like, jnp.zeros_like, ("2*n",)),
    (
        "lower triangle of ones",
        lambda x: jnp.tri(x.shape[0]) @ x,
        jnp.cumsum,
        total,
        ("n",),
    ),
    (
        "interleaved and taken apart",
        lambda x, y: jnp.stack([x, y], -1).reshape(x.shape[0], -1)[:, ::2],
        lambda x, y: x,
        lambda x, y: y,
        ("n,d", "n,d"),
    ),
    (
        "strides of 4",
        lambda x: x[::4].sum() + x[2::4].sum(),
        lambda x: x[::2].sum(),
        lambda x: x[1::2].sum(),
        ("n",),
        ("n >= 4",),
    ),
    (
        "halves",
        lambda x: x[: x.shape[0] // 2].sum() + x[x.shape[0] // 2 :].sum(),
        jnp.sum,
        lambda x: 2 * x[: x.shape[0] // 2].sum(),
        ("n",),
    ),
)
"""(name, a function, an equal one, one that differs, shapes, constraints)."""

TRUE: tuple[Row, ...] = tuple(
    row(name, left, equal, *shapes, given=next(iter(given), ())) for name, left, equal, _, shapes, *given in PAIRS
)
FALSE: tuple[Row, ...] = tuple(
    row(f"{name}, nearly", left, other, *shapes, given=next(iter(given), ()))
    for name, left, _, other, shapes, *given in PAIRS
)
