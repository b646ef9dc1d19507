"""Scans of any length: carries that are sums, and carries that are not."""

import jax.numpy as jnp
from jax import lax, nn

from .row import Row, row

F = jnp.float32


def linear(q, k, v):

    def step(s, r):
        a, b, c = r
        s = s + jnp.outer(b, c)
        return (s, a @ s)

    return lax.scan(step, jnp.zeros((q.shape[1], v.shape[1]), F), (q, k, v))[1]


def normalised(q, k, v):

    def step(c, r):
        s, z = c
        a, b, w = (jnp.exp(r[0]), jnp.exp(r[1]), r[2])
        s = s + jnp.outer(b, w)
        z = z + b
        return ((s, z), a @ s / (a @ z))

    return lax.scan(step, (jnp.zeros((q.shape[1], v.shape[1]), F), jnp.zeros(q.shape[1], F)), (q, k, v))[1]


TRUE: tuple[Row, ...] = (
    row("linear attention by a scan", linear, lambda q, k, v: jnp.tril(q @ k.T) @ v, "n,d", "n,d", "n,e"),
    row(
        "normalised linear attention by a scan",
        normalised,
        lambda q, k, v: (lambda w: w @ v / w.sum(1, keepdims=True))(jnp.tril(jnp.exp(q) @ jnp.exp(k).T)),
        "n,d",
        "n,d",
        "n,e",
    ),
    row(
        "sum by a scan",
        lambda x: lax.scan(lambda c, r: (c + r, None), jnp.zeros(x.shape[1], F), x)[0],
        lambda x: x.sum(0),
        "n,d",
    ),
    row(
        "prefix sums from behind by a scan",
        lambda x: lax.scan(lambda c, r: (c + r, c + r), jnp.float32(0), x, reverse=True)[1],
        lambda x: jnp.cumsum(x[::-1])[::-1],
        "n",
    ),
    row(
        "exclusive prefix sums by a scan",
        lambda x: lax.scan(lambda c, r: (c + r, c), jnp.float32(0), x)[1],
        lambda x: jnp.cumsum(x) - x,
        "n",
    ),
    row(
        "sums of sums by a scan",
        lambda x: lax.scan(lambda c, r: ((c[0] + r, c[1] + c[0]), c[1]), (jnp.float32(0), jnp.float32(0)), x)[1],
        lambda x: (lambda y: jnp.cumsum(y) - y)(jnp.cumsum(x) - x),
        "n",
    ),
    row(
        "a map over rows",
        lambda x, w: lax.map(lambda r: nn.softmax(r @ w), x),
        lambda x, w: nn.softmax(x @ w),
        "n,d",
        "d,e",
    ),
    row(
        "attention mapped over queries",
        lambda q, k, v: lax.map(lambda r: nn.softmax(k @ r) @ v, q),
        lambda q, k, v: nn.softmax(q @ k.T) @ v,
        "n,d",
        "m,d",
        "m,e",
    ),
    row(
        "a product by blocks in a scan",
        lambda x, y: lax.scan(
            lambda c, r: (c + r[0] @ r[1], None),
            jnp.zeros((x.shape[0], y.shape[1]), F),
            (x.reshape(x.shape[0], -1, 4).transpose(1, 0, 2), y.reshape(-1, 4, y.shape[1])),
        )[0],
        lambda x, y: x @ y,
        "n,4*d",
        "4*d,m",
    ),
    row(
        "a scan from a start",
        lambda x, c: lax.scan(lambda c, r: (c + r * r, c * r), c, x)[1],
        lambda x, c: (c + jnp.cumsum(x * x) - x * x) * x,
        "n",
        "",
    ),
)
FALSE: tuple[Row, ...] = (
    row(
        "scan: inclusive for exclusive",
        lambda x: lax.scan(lambda c, r: (c + r, c), jnp.float32(0), x)[1],
        lambda x: jnp.cumsum(x),
        "n",
    ),
    row(
        "scan: another start",
        lambda x: lax.scan(lambda c, r: (c + r, c + r), jnp.float32(1), x)[1],
        lambda x: jnp.cumsum(x),
        "n",
    ),
    row(
        "scan: the other direction",
        lambda x: lax.scan(lambda c, r: (c + r, c + r), jnp.float32(0), x, reverse=True)[1],
        lambda x: jnp.cumsum(x),
        "n",
    ),
    row(
        "scan: a reverse scan that reverses nothing",
        lambda x: lax.scan(lambda c, r: (c + r, r), jnp.float32(0), x, reverse=True)[1],
        lambda x: x[::-1],
        "n",
    ),
    row(
        "scan: a carry that decays",
        lambda x: lax.scan(lambda c, r: (0.5 * c + r, c + r), jnp.float32(0), x)[1],
        lambda x: jnp.cumsum(x),
        "n",
    ),
    row(
        "scan: a carry that is reset",
        lambda x: lax.scan(lambda c, r: (r, c + r), jnp.float32(0), x)[1],
        lambda x: jnp.cumsum(x),
        "n",
    ),
    row(
        "scan: a carry times itself",
        lambda x: lax.scan(lambda c, r: (c + r * c, c + r), jnp.float32(0), x)[1],
        lambda x: jnp.cumsum(x),
        "n",
    ),
    row(
        "scan: crossed carries",
        lambda x: lax.scan(lambda c, r: ((c[1] + r, c[0] + r), c[0]), (jnp.float32(0), jnp.float32(1)), x)[1],
        lambda x: jnp.cumsum(x) - x,
        "n",
    ),
    row(
        "scan: without the last step",
        lambda x: lax.scan(lambda c, r: (c + r, None), jnp.float32(0), x[:-1])[0],
        lambda x: x.sum(),
        "n+1",
    ),
    row(
        "scan: linear attention without itself", linear, lambda q, k, v: jnp.tril(q @ k.T, -1) @ v, "n,d", "n,d", "n,e"
    ),
    row(
        "scan: the last carry without the last step",
        lambda x: lax.scan(lambda c, r: (c + r, c), jnp.float32(0), x)[0],
        lambda x: x.sum() - x[-1],
        "n",
    ),
)
