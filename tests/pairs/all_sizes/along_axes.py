"""Steps of more than one place, products, running maxima and windows: along an axis of any length.

A pair that differs does so by one place, by a sign, at an edge (sizes 1 and 2, odd sizes), or beyond a threshold.
"""

from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Row, row

LEAST = np.float32(-np.inf)
MOST = np.float32(np.inf)


def identity(x):
    return x


def even_places(x):
    return jnp.arange(x.shape[0]) % 2 == 0


def lower(x):
    return jnp.tri(x.shape[0], dtype=bool)


def windows(combine: Callable, outside: np.float32, size: int, stride: int, padding: str = "VALID") -> Callable:
    return lambda x: lax.reduce_window(x, outside, combine, (size,), (stride,), padding)


def scanned(step: Callable, start: Callable) -> Callable:
    """The last carry of a scan over x."""
    return lambda x: lax.scan(lambda c, t: (step(c, t), None), start(x), x)[0]


def running(step: Callable, start: Callable, before: bool = False) -> Callable:
    """All carries of a scan over x, before or after each step."""
    return lambda x: lax.scan(lambda c, t: (step(c, t), c if before else step(c, t)), start(x), x)[1]


def number(value: float) -> Callable:
    return lambda x: np.float32(value)


def times(c, t):
    return c * t


STRIDES: tuple[Row, ...] = (
    row("even and odd places", lambda x: x[::2].sum() + x[1::2].sum(), jnp.sum, "n"),
    row("a function before a stride", lambda x: jnp.exp(x[::2]), lambda x: jnp.exp(x)[::2], "n"),
    row("strides of strides", lambda x: x[::2][::2], lambda x: x[::4], "n"),
    row("backwards in strides", lambda x: x[::-2], lambda x: x[::-1][::2], "n"),
    row("odd places as a reshape", lambda x: x[1::2], lambda x: x.reshape(-1, 2)[:, 1], "2*n"),
    row("interleaved", lambda x: jnp.stack([x[::2], x[1::2]], 1).reshape(-1), identity, "2*n"),
    row("thirds", lambda x: x[::3].sum() + x[1::3].sum() + x[2::3].sum(), jnp.sum, "n", given=("n >= 2",)),
    row("even places by a mask", lambda x: jnp.where(even_places(x), x, 0).sum(), lambda x: x[::2].sum(), "n"),
    row(
        "alternating signs",
        lambda x: jnp.where(even_places(x), x, -x).sum(),
        lambda x: x[::2].sum() - x[1::2].sum(),
        "n",
    ),
    row(
        "the greatest at even places", lambda x: jnp.where(even_places(x), x, LEAST).max(), lambda x: x[::2].max(), "n"
    ),
    row(
        "the greater of both halves",
        lambda x: jnp.maximum(x[::2].max(), x[1::2].max()),
        jnp.max,
        "n",
        given=("n >= 2",),
    ),
    row("products of both halves", lambda x: x[::2].prod() * x[1::2].prod(), jnp.prod, "n"),
    row("the first of each pair of equals", lambda x: jnp.repeat(x, 2)[::2], identity, "n"),
)

PRODUCTS: tuple[Row, ...] = (
    row("product of exponentials", lambda x: jnp.prod(jnp.exp(x)), lambda x: jnp.exp(x.sum()), "n"),
    row("product of products", lambda x, y: jnp.prod(x * y), lambda x, y: jnp.prod(x) * jnp.prod(y), "n", "n"),
    row("product of quotients", lambda x, y: jnp.prod(x / y), lambda x, y: jnp.prod(x) / jnp.prod(y), "n", "n"),
    row("product of multiples", lambda x: jnp.prod(2 * x), lambda x: 2.0 ** x.shape[0] * jnp.prod(x), "n"),
    row("product backwards", lambda x: jnp.prod(x[::-1]), jnp.prod, "n"),
    row("product of squares", lambda x: jnp.prod(x**2), lambda x: jnp.prod(x) ** 2, "n"),
    row("product of opposites, squared", lambda x: jnp.prod(-x) ** 2, lambda x: jnp.prod(x) ** 2, "n"),
    row("product over both axes", lambda x: jnp.prod(jnp.prod(x, 0)), jnp.prod, "n,m"),
    row("product by columns", lambda x: jnp.prod(x, 0), lambda x: jnp.prod(x.T, 1), "n,m"),
    row("product in blocks", lambda x: jnp.prod(x.reshape(-1, 4).prod(1)), jnp.prod, "4*n"),
    row(
        "product along a concatenation",
        lambda x, y: jnp.prod(jnp.concatenate([x, y])),
        lambda x, y: jnp.prod(x) * jnp.prod(y),
        "n",
        "m",
    ),
    row("product without the first", lambda x: x.at[0].set(1).prod(), lambda x: x[1:].prod(), "n"),
    row(
        "product of probabilities",
        lambda x: jnp.log(jnp.prod(jax.nn.sigmoid(x))),
        lambda x: jax.nn.log_sigmoid(x).sum(),
        "n",
    ),
    row(
        "noisy or",
        lambda x: 1 - jnp.prod(1 - jax.nn.sigmoid(x)),
        lambda x: 1 - jnp.exp(-jnp.sum(jax.nn.softplus(x))),
        "n",
    ),
    row(
        "all by a product",
        lambda x: jnp.prod(jnp.where(x > 0, 1.0, 0.0)),
        lambda x: jnp.all(x > 0).astype(x.dtype),
        "n",
    ),
    row("running product of exponentials", lambda x: jnp.cumprod(jnp.exp(x)), lambda x: jnp.exp(jnp.cumsum(x)), "n"),
    row("running product at its end", lambda x: jnp.cumprod(x)[-1], jnp.prod, "n"),
    row("a step of a running product", lambda x: jnp.cumprod(x)[1:], lambda x: jnp.cumprod(x)[:-1] * x[1:], "n"),
    row("running product by a scan", running(times, number(1)), jnp.cumprod, "n"),
    row(
        "transmittance",
        lambda x: jnp.cumprod(1 - jax.nn.sigmoid(x)),
        lambda x: jnp.exp(-jnp.cumsum(jax.nn.softplus(x))),
        "n",
    ),
    row("product by a scan", scanned(times, number(1)), jnp.prod, "n"),
    row("decay by a scan", scanned(lambda c, t: c * jnp.exp(-t), number(1)), lambda x: jnp.exp(-x.sum()), "n"),
)

MAXIMA: tuple[Row, ...] = (
    row("running maximum at its end", lambda x: lax.cummax(x)[-1], jnp.max, "n"),
    row(
        "running maximum, moved and scaled",
        lambda x, c: lax.cummax(2 * x + c),
        lambda x, c: 2 * lax.cummax(x) + c,
        "n",
        "",
    ),
    row("running minimum", lax.cummin, lambda x: -lax.cummax(-x), "n"),
    row(
        "running maximum from the end", lambda x: lax.cummax(x, reverse=True), lambda x: lax.cummax(x[::-1])[::-1], "n"
    ),
    row("running logsumexp", lax.cumlogsumexp, lambda x: jnp.log(jnp.cumsum(jnp.exp(x))), "n"),
    row(
        "running logsumexp, moved", lambda x, c: lax.cumlogsumexp(x + c), lambda x, c: lax.cumlogsumexp(x) + c, "n", ""
    ),
    row("running logsumexp at its end", lambda x: lax.cumlogsumexp(x)[-1], jax.nn.logsumexp, "n"),
    row("greatest by a scan", scanned(jnp.maximum, number(-np.inf)), jnp.max, "n"),
    row("greatest by a scan from the first", scanned(jnp.maximum, lambda x: x[0]), jnp.max, "n"),
    row("a maximum that holds its first", lambda x: jnp.maximum(x[0], x.max()), jnp.max, "n"),
    row(
        "greatest of rows, masked twice",
        lambda x: jnp.where(lower(x), x, LEAST).max(1),
        lambda x: (x + jnp.where(lower(x), 0.0, LEAST)).max(1),
        "n,n",
    ),
    row(
        "greatest of rows, masked and moved",
        lambda x, c: jnp.where(lower(x), x + c[:, None], LEAST).max(1),
        lambda x, c: jnp.where(lower(x), x, LEAST).max(1) + c,
        "n,n",
        "n",
    ),
    row("pairs: pooling as a reshape", windows(lax.max, LEAST, 2, 2), lambda x: x.reshape(-1, 2).max(1), "2*n"),
    row("pairs: pooling in strides", windows(lax.max, LEAST, 2, 2), lambda x: jnp.maximum(x[::2], x[1::2]), "2*n"),
    row("pairs: least in strides", windows(lax.min, MOST, 2, 2), lambda x: jnp.minimum(x[::2], x[1::2]), "2*n"),
    row(
        "pooling is odd",
        windows(lax.max, LEAST, 3, 1, "SAME"),
        lambda x: -windows(lax.min, MOST, 3, 1, "SAME")(-x),
        "n",
    ),
    row(
        "windows of three",
        windows(lax.max, LEAST, 3, 1),
        lambda x: jnp.maximum(jnp.maximum(x[:-2], x[1:-1]), x[2:]),
        "n",
        given=("n >= 3",),
    ),
)

DIAGONALS: tuple[Row, ...] = (
    row("trace as a sum over the diagonal", jnp.trace, lambda a: jnp.diagonal(a).sum(), "n,n"),
    row("trace by the identity", jnp.trace, lambda a: jnp.sum(a * jnp.eye(a.shape[0])), "n,n"),
    row("diagonal by einsum", lambda a: jnp.einsum("ii->i", a), jnp.diagonal, "n,n"),
    row("trace by einsum", lambda a: jnp.einsum("ii", a), jnp.trace, "n,n"),
    row("diagonal matrix by the identity", jnp.diag, lambda v: jnp.eye(v.shape[0]) * v[None], "n"),
    row("diagonal of a diagonal matrix", lambda v: jnp.diag(jnp.diag(v)), identity, "n"),
    row("diagonal matrix times another", lambda v, x: jnp.diag(v) @ x, lambda v, x: v[:, None] * x, "n", "n,m"),
    row("trace of an outer product", lambda u, v: jnp.trace(jnp.outer(u, v)), jnp.dot, "n", "n"),
)


def spread(low: int) -> Callable:
    """Zeros between the entries, and `low` of them in front, or fewer."""
    return lambda x: lax.pad(x, np.float32(0), ((low, 0, 1),))


def added(places: Callable) -> Callable:
    """Zeros to which the entries are added at places."""
    return lambda x: jnp.zeros_like(x).at[places(jnp.arange(x.shape[0]))].add(x)


def at_twice(behind: int) -> Callable:
    """x at twice a place, or some places behind, if there is one."""

    def function(x):
        place = jnp.arange(x.shape[0])
        return jnp.where((2 * place)[:, None] + behind == place[None], x[None], 0).sum(1)

    return function


PLACES: tuple[Row, ...] = (
    row("spread out", lambda x: spread(1)(x).sum(), jnp.sum, "n"),
    row("spread out and cut", lambda x: spread(-1)(x).sum(), lambda x: x[1:].sum(), "n"),
    row(
        "all added at the first place",
        added(lambda i: 0 * i),
        lambda x: jnp.where(jnp.arange(x.shape[0]) == 0, x.sum(), 0),
        "n",
    ),
    row("each added at its place", added(lambda i: i), identity, "n"),
    row("a scan of no steps", lambda x: scanned(times, number(2))(x[1:]), lambda x: 2 * x[1:].prod(), "n"),
    row("product without the last place", lambda x: x.at[-1].set(1).prod(), lambda x: x[:-1].prod(), "n"),
)

TRUE: tuple[Row, ...] = (*PLACES, *STRIDES, *PRODUCTS, *MAXIMA, *DIAGONALS)

FALSE: tuple[Row, ...] = (
    row("even places are not odd ones", lambda x: x[::2].sum(), lambda x: x[1::2].sum(), "2*n"),
    row("even and odd places but the last", lambda x: x[::2].sum() + x[1::2].sum(), lambda x: x[:-1].sum(), "n"),
    row("two thirds", lambda x: x[::3].sum() + x[1::3].sum(), jnp.sum, "n", given=("n >= 2",)),
    row("even places but the last", lambda x: x[::2].sum(), lambda x: x[:-1:2].sum(), "n", given=("n >= 2",)),
    row("even mask, odd places", lambda x: jnp.where(even_places(x), x, 0).sum(), lambda x: x[1::2].sum(), "n"),
    row("backwards begins at the end", lambda x: x[::-2], lambda x: x[::2][::-1], "n"),
    row("the greatest at even places of all", lambda x: x[::2].max(), jnp.max, "n"),
    row("product without the last", jnp.prod, lambda x: x[:-1].prod(), "n"),
    row("product of opposites is opposite", lambda x: jnp.prod(-x), lambda x: -jnp.prod(x), "n"),
    row("product of opposites", lambda x: jnp.prod(-x), jnp.prod, "n"),
    row("product of doubles is double", lambda x: jnp.prod(2 * x), lambda x: 2 * jnp.prod(x), "n"),
    row("product of zeros where there may be none", lambda x: jnp.prod(0 * x[1:]), lambda x: 0 * x.sum(), "n"),
    row("product of sums of entries", lambda x, y: jnp.prod(x + y), lambda x, y: jnp.prod(x) + jnp.prod(y), "n", "n"),
    row("root of a product of squares", lambda x: jnp.sqrt(jnp.prod(x * x)), jnp.prod, "n"),
    row(
        "arithmetic and geometric mean",
        lambda x: jnp.exp(x).mean(),
        lambda x: jnp.prod(jnp.exp(x)) ** (1 / x.shape[0]),
        "n",
    ),
    row(
        "all but the first by a product",
        lambda x: jnp.prod(jnp.where(x[1:] > 0, 1.0, 0.0)),
        lambda x: jnp.all(x > 0).astype(x.dtype),
        "n",
    ),
    row("product of the first 10", lambda x: jnp.prod(jnp.where(jnp.arange(x.shape[0]) < 10, x, 1.0)), jnp.prod, "n"),
    row("product without place 5", lambda x: jnp.prod(jnp.where(jnp.arange(x.shape[0]) == 5, 1.0, x)), jnp.prod, "n"),
    row("running product from the end", jnp.cumprod, lambda x: lax.cumprod(x, reverse=True), "n"),
    row("running product without its place", running(times, number(1), before=True), jnp.cumprod, "n"),
    row("product by a scan from the first", scanned(times, lambda x: x[0]), jnp.prod, "n"),
    row("product by a scan of squares", scanned(lambda c, t: c * c * t, number(1)), jnp.prod, "n"),
    row("running maximum reversed", lax.cummax, lambda x: lax.cummax(x, reverse=True), "n"),
    row("running maximum of opposites", lambda x: lax.cummax(-x), lambda x: -lax.cummax(x), "n"),
    row("running maximum of multiples", lambda x, c: lax.cummax(c * x), lambda x, c: c * lax.cummax(x), "n", ""),
    row("running maximum above 0", lax.cummax, lambda x: lax.cummax(jnp.maximum(x, 0)), "n"),
    row(
        "running logsumexp and its mean",
        lax.cumlogsumexp,
        lambda x: lax.cumlogsumexp(x) - jnp.log(jnp.float32(x.shape[0])),
        "n",
    ),
    row("greatest by a scan from 0", scanned(jnp.maximum, number(0)), jnp.max, "n"),
    row("greatest by a scan of opposites", scanned(lambda c, t: jnp.maximum(-c, t), lambda x: x[0]), jnp.max, "n"),
    row(
        "a maximum that lacks its first",
        lambda x: jnp.maximum(x[0], x[1:].max()),
        lambda x: x[1:].max(),
        "n",
        given=("n >= 2",),
    ),
    row("windows of two and three", windows(lax.max, LEAST, 3, 1, "SAME"), windows(lax.max, LEAST, 2, 1, "SAME"), "n"),
    row(
        "windows padded with 0",
        windows(lax.max, LEAST, 3, 1, "SAME"),
        lambda x: windows(lax.max, LEAST, 3, 1)(jnp.pad(x, 1)),
        "n",
    ),
    row("spread out, one place later", spread(1), lambda x: lax.pad(x, np.float32(0), ((0, 1, 1),)), "n"),
    row("spread out and not cut", lambda x: spread(-1)(x).sum(), jnp.sum, "n"),
    row("all added at the first place, not their own", added(lambda i: 0 * i), identity, "n"),
    row("twice a place and one behind", at_twice(0), at_twice(1), "n"),
    row("a scan of no steps from 2", lambda x: scanned(times, number(2))(x[1:]), lambda x: x[1:].prod(), "n"),
    row("product without the first, not the last", lambda x: x.at[-1].set(1).prod(), lambda x: x[1:].prod(), "n"),
    row("sign of a product of opposites", lambda x: jnp.prod(-jnp.ones_like(x)) * x[0], lambda x: -x[0], "n"),
    row("product of roots", lambda x: jnp.prod(jnp.sqrt(x * x)), jnp.prod, "n"),
    row(
        "greatest of none",
        lambda x: jnp.exp(jnp.where(x > 1e6, x, LEAST).max()),
        lambda x: jnp.exp(jnp.where(x > 1e6, x, 0).max()),
        "n",
    ),
    row("greatest of two vectors", lambda x, y: jnp.maximum(y[0], x.max()), lambda x, y: x.max(), "n", "n"),
    row("trace without the last", jnp.trace, lambda a: jnp.trace(a[:-1, :-1]), "n,n"),
    row("trace beside the diagonal", jnp.trace, lambda a: jnp.trace(a, offset=1), "n,n"),
    row("diagonal matrix on the other side", lambda v, x: jnp.diag(v) @ x, lambda v, x: x @ jnp.diag(v), "n", "n,n"),
    row("diagonal read upwards", jnp.diagonal, lambda a: jnp.diagonal(a[::-1, ::-1]), "n,n"),
)
