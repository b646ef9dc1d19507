"""Pairs that differ at some size or at some input, however far away it is: none of them may be proved."""

import jax
import jax.numpy as jnp
from jax import lax

from . import attention, layers, rules
from .row import Row, row

softmax, einsum = jax.nn.softmax, jnp.einsum


def count(x):
    return jnp.arange(x.shape[0], dtype=jnp.float32)


def first(k):
    """The first k entries."""
    return lambda x: jnp.where(count(x) < k, x, 0.0).sum()


def total(x):
    return x.sum()


def windowed_sum(k):
    """Each entry plus those up to k − 1 before it."""

    def function(x):
        i = jnp.arange(x.shape[0])
        gap = i[:, None] - i[None, :]
        return jnp.where((gap >= 0) & (gap < k), x[None, :], 0.0).sum(1)

    return function


def windowed_attention(k):
    def function(q, key, v):
        i = jnp.arange(q.shape[0])
        gap = i[:, None] - i[None, :]
        return softmax(jnp.where((gap >= 0) & (gap < k), q @ key.T, -jnp.inf)) @ v

    return function


def capped(k):
    """Positions that stop growing."""
    return lambda x: jnp.minimum(jnp.arange(x.shape[0]), k).astype(jnp.float32) * x


def when_length_is(k):
    return lambda x: x * (0.0 if x.shape[0] == k else 1.0)


def when_length_is_among(*lengths):
    return lambda x: x * (0.0 if x.shape[0] in lengths else 1.0)


def vanishing(k):
    """n(n − 1)…(n − k + 1), which is 0 for the first k sizes, counted from 0."""

    def function(x):
        product = jnp.float32(1)
        for step in range(1, k + 1):
            product = product * (x.shape[0] - step)
        return product * x

    return function


def power_sums(x, most):
    p = softmax(x)
    return [(p**k).sum() for k in range(1, most + 1)]


def elementary_4(x):
    """24·e₄(softmax x) by Newton's identities: 0 for n ≤ 3."""
    q1, q2, q3, q4 = power_sums(x, 4)
    return q1**4 - 6.0 * q1**2 * q2 + 3.0 * q2**2 + 8.0 * q1 * q3 - 6.0 * q4


def elementary_3(x):
    q1, q2, q3 = power_sums(x, 3)
    return q1**3 - 3.0 * q1 * q2 + 2.0 * q3


def elementary_2(x):
    q1, q2 = power_sums(x, 2)
    return q1**2 - q2


def zero(*arguments):
    return jnp.float32(0) * arguments[0].sum()


def determinant_3(m):
    return (
        m[0, 0] * (m[1, 1] * m[2, 2] - m[1, 2] * m[2, 1])
        - m[0, 1] * (m[1, 0] * m[2, 2] - m[1, 2] * m[2, 0])
        + m[0, 2] * (m[1, 0] * m[2, 1] - m[1, 1] * m[2, 0])
    )


def determinant_2(m):
    return m[0, 0] * m[1, 1] - m[0, 1] * m[1, 0]


def identity(x):
    return x


def same(x, y):
    return x


THRESHOLDS = (4, 7, 12, 33, 100, 1000, 4097, 10_000)

SIZES: tuple[Row, ...] = (
    *(row(f"the first {k} entries", first(k), total, "n") for k in THRESHOLDS),
    *(row(f"a window of {k}", windowed_sum(k), jnp.cumsum, "n") for k in THRESHOLDS),
    *(
        row(f"attention in a window of {k}", windowed_attention(k), attention.masked, *attention.SELF)
        for k in (4, 50, 5000)
    ),
    *(row(f"positions up to {k}", capped(k), lambda x: count(x) * x, "n") for k in THRESHOLDS),
    *(row(f"another function at length {k}", when_length_is(k), identity, "n") for k in THRESHOLDS),
    row("another function at two lengths", when_length_is_among(77, 4096), identity, "n"),
    row(
        "another function at a product of lengths",
        lambda x: x * (0.0 if x.shape[0] * x.shape[1] == 600 else 1.0),
        identity,
        "n,d",
    ),
    row(
        "another function where lengths agree",
        lambda x: x * (0.0 if x.shape[0] == x.shape[1] else 1.0),
        identity,
        "n,d",
    ),
    row(
        "another function at lengths with a remainder",
        lambda x: x * (0.0 if x.shape[0] % 97 == 96 else 1.0),
        identity,
        "n",
    ),
    row("another function at a length in a dict", lambda x: x * {513: 0.0}.get(x.shape[0], 1.0), identity, "n"),
    row("another function of a shape", lambda x: x * (0.0 if x.shape == (41, 17) else 1.0), identity, "n,d"),
    *(row(f"a product over sizes up to {k}", vanishing(k), lambda x: x * 0.0, "n") for k in (2, 4, 8)),
    row("remainder of a size", lambda x: x * (x.shape[0] % 5), lambda x: x * x.shape[0], "n"),
    row("whole part of a size", lambda x: x * (x.shape[0] // 100), lambda x: x * 0.0, "n"),
    row("n - 1 for n", lambda x: x.sum() / (x.shape[0] - 1), lambda x: x.mean(), "n"),
    row(
        "n - 1 cancelled",
        lambda x: x * (x.shape[0] - 1) / (x.shape[0] - 1) * (x.shape[0] - 1) / x.shape[0],
        identity,
        "n",
    ),
    row("variance of a sample", lambda x: x.var(ddof=1), lambda x: x.var(), "n+1"),
    row("the last but one", lambda x: x[-1] - x[-2], lambda x: x[0] - x[-1], "n+1"),
    row("the first four of a slice", lambda x: x[:4].sum(), total, "n"),
    row("all but the last hundred", lambda x: x[:-100].sum(), lambda x: x[:-101].sum(), "n+200"),
    row("every second entry", lambda x: x[::2].sum() * 2.0, total, "2*n"),
    row("a stride beyond the end", lambda x: x[::50].sum(), lambda x: x[0], "50*n"),
    row(
        "blocks of 4 and of 2", lambda x: x.reshape(-1, 4).max(1).sum(), lambda x: x.reshape(-1, 2).max(1).sum(), "4*n"
    ),
    row("padding by one less", lambda x: jnp.pad(x, (0, 5))[5:], lambda x: jnp.pad(x[4:], (0, 4)), "n+8"),
    row(
        "a position squared wraps",
        lambda x: (jnp.arange(x.shape[0]) ** 2).astype(jnp.float32) * x,
        lambda x: count(x) ** 2 * x,
        "n",
    ),
    row(
        "a position times a number wraps",
        lambda x: (jnp.arange(x.shape[0]) * 300_000).astype(jnp.float32) * x,
        lambda x: count(x) * 300_000.0 * x,
        "n",
    ),
    row(
        "a sum of positions wraps",
        lambda x: jnp.arange(x.shape[0]).sum().astype(jnp.float32) * x,
        lambda x: count(x).sum() * x,
        "n",
    ),
    row(
        "a narrow position wraps",
        lambda x: jnp.arange(x.shape[0]).astype(jnp.int8).astype(jnp.float32) * x,
        lambda x: count(x) * x,
        "n",
    ),
    row(
        "a position modulo 1000",
        lambda x: (jnp.arange(x.shape[0]) % 1000).astype(jnp.float32) * x,
        lambda x: count(x) * x,
        "n",
    ),
    row("e2 of a softmax", elementary_2, zero, "n"),
    row("e3 of a softmax", elementary_3, zero, "n"),
    row("e4 of a softmax", elementary_4, zero, "n"),
    row("e3 of numbers", lambda x: x.sum() ** 3 - 3.0 * x.sum() * (x**2).sum() + 2.0 * (x**3).sum(), zero, "n"),
    row("a Gram determinant of order 2", lambda x: determinant_2(x.T @ x), zero, "n,2"),
    row("a Gram determinant of order 3", lambda x: determinant_3(x.T @ x), zero, "n,3"),
    row(
        "a variance may be 0",
        lambda x: jnp.sign(jnp.maximum((x * x).mean() - x.mean() ** 2, 0.0)),
        lambda x: jnp.ones_like(x[0]),
        "n",
    ),
    row(
        "a variance with another weight",
        lambda x: jnp.maximum((x * x).mean() - 1.5 * x.mean() ** 2, 0.0),
        lambda x: (x * x).mean() - 1.5 * x.mean() ** 2,
        "n",
    ),
    row(
        "a variance times what may be 0",
        lambda x, y: (jax.nn.relu(y).sum() * ((x * x).mean() - x.mean() ** 2 + 1.0) > 0.0).astype(jnp.float32),
        lambda x, y: jnp.ones_like(x[0]),
        "n",
        "n",
    ),
    row(
        "a variance of unequal lengths",
        lambda x, y: jnp.maximum((x * x).mean() - y.mean() ** 2, 0.0),
        lambda x, y: (x * x).mean() - y.mean() ** 2,
        "n",
        "m",
    ),
    row(
        "a variance without its length",
        lambda x: jnp.maximum((x * x).sum() - x.sum() ** 2, 0.0),
        lambda x: (x * x).sum() - x.sum() ** 2,
        "n",
    ),
    row("Cauchy-Schwarz is no equation", lambda x, y: (x @ y) ** 2, lambda x, y: (x @ x) * (y @ y), "n", "n"),
    row("variance of one entry is 0", lambda x: x.var(), zero, "n"),
    row("one head or more", lambda x: x.sum(1).max(), lambda x: x.max(1).sum(), "n,h"),
    row("softmax of one entry is 1", softmax, jnp.ones_like, "n"),
    row("the first is the last", lambda x: x[0], lambda x: x[-1], "n"),
    row("maximum and sum of one entry", lambda x: x.max(), total, "n"),
    row("n and n squared", lambda x: x * x.shape[0], lambda x: x * x.shape[0] ** 2, "n"),
    row("a triangle without its corner", lambda x: jnp.tril(x).sum(), lambda x: jnp.tril(x, 20).sum(), "n,n"),
    row("a diagonal far away", lambda x: jnp.triu(x, 64).sum(), lambda x: 0.0 * x.sum(), "n,n"),
    row("a filter longer than the input", lambda x: jnp.cumsum(x)[-1] - first(70)(x), lambda x: 0.0 * x.sum(), "n"),
    row("a rolling step", lambda x: jnp.concatenate([x[1:], x[:1]]), identity, "n+1"),
    row("an entry far behind", lambda x: jnp.where(jnp.arange(x.shape[0]) == 999, x + 1.0, x), identity, "n"),
    row(
        "an entry in the middle",
        lambda x: jnp.where(jnp.arange(x.shape[0]) == x.shape[0] // 2, 0.0, x),
        lambda x: x.at[0].set(0.0),
        "n",
    ),
)

WINDOWS: tuple[Row, ...] = (
    row(
        "windows of 2 and of 3",
        lambda x: rules.sums_of_windows(x, 3, 1, "SAME"),
        lambda x: x + jnp.pad(x, (1, 0))[:-1],
        "n",
    ),
    row(
        "windows of maxima with 0 beyond the ends",
        lambda x: rules.maxima_of_windows(x, 3, 1, "SAME"),
        lambda x: jnp.maximum(jnp.maximum(x, jnp.pad(x, (1, 0))[:-1]), jnp.pad(x, (0, 1))[1:]),
        "n",
    ),
    row(
        "windows shifted by one",
        lambda x: rules.sums_of_windows(x, 2, 1, ((1, 0),)),
        lambda x: rules.sums_of_windows(x, 2, 1, ((0, 1),)),
        "n",
    ),
    row("a window as long as 70", lambda x: rules.sums_of_windows(x, 70, 1, ((69, 0),)), jnp.cumsum, "n"),
)


def places(x):
    return jnp.arange(x.shape[0])


FAR: tuple[Row, ...] = (
    row("a remainder of 10000", lambda x: (places(x) % 10_000).astype(jnp.float32) * x, lambda x: count(x) * x, "n"),
    row("a threshold between two places", lambda x: jnp.where(count(x) < 9999.5, x, 0.0), identity, "n"),
    row(
        "a threshold of products of places",
        lambda x: jnp.where(count(x)[:, None] * count(x)[None] < 1e6, x, 0.0),
        identity,
        "n,n",
    ),
    row(
        "positions from 3 on",
        lambda x: jnp.maximum(places(x) - 3, 0).astype(jnp.float32) * x,
        lambda x: (count(x) - 3.0) * x,
        "n",
    ),
    row("rolled by 3 and by 2", lambda x: jnp.roll(x, 3), lambda x: jnp.roll(x, 2), "n+3"),
    row(
        "beyond the end: 0 or the last",
        lambda x: x.at[7].get(mode="fill", fill_value=0.0),
        lambda x: x.at[7].get(mode="clip"),
        "n",
    ),
    row(
        "an index that is moved into bounds",
        lambda x: x[jnp.minimum(places(x) + 1, x.shape[0])],
        lambda x: jnp.concatenate([x[1:], x[:1]]),
        "n",
    ),
    row("a triangle far below", lambda x: jnp.tril(x, -2000), lambda x: x * 0.0, "n,n"),
    row(
        "words of two matrices",
        lambda x, y: jnp.trace(x @ y @ x @ x @ y @ y),
        lambda x, y: jnp.trace(x @ y @ y @ x @ x @ y),
        "n,n",
        "n,n",
    ),
    row(
        "one circle and two",
        lambda x: jnp.einsum("ab,bc,cd,de,ef,fa->", x, x, x, x, x, x),
        lambda x: jnp.einsum("ab,bc,ca,de,ef,fd->", x, x, x, x, x, x),
        "n,n",
    ),
    row(
        "bound twice",
        lambda x: jnp.exp((x * jnp.exp(x.sum(1, keepdims=True))).sum(1)).sum(),
        lambda x: jnp.exp((x * jnp.exp(x.sum(0, keepdims=True))).sum(1)).sum(),
        "n,n",
    ),
    row(
        "maxima of rows and columns",
        lambda x: (x.max(1)[:, None] * x.max(0)[None]).max(),
        lambda x: (x.max(1) * x.max(0)).max(),
        "n,n",
    ),
)

CONSTRAINED: tuple[Row, ...] = (
    row("the first four of at least four", lambda x: x[:4].sum(), total, "n", given=("n >= 4",)),
    row(
        "all but what is added to a size",
        lambda x, y: y[: x.shape[0]].sum(),
        lambda x, y: y.sum(),
        "n",
        "m",
        given=("n <= m",),
    ),
    row(
        "a mean of what may be nothing",
        lambda x, y: y[x.shape[0] :].sum() / (y.shape[0] - x.shape[0]) * (y.shape[0] - x.shape[0]),
        lambda x, y: y[x.shape[0] :].sum() + y[0] * 0.0 + 1.0 * 0.0 * x[0],
        "n",
        "m",
        given=("n <= m",),
    ),
    row(
        "rows for columns of a constrained reshape",
        lambda x, w: x.reshape(w.shape) @ w[0],
        lambda x, w: x.reshape(w.shape[::-1]).T @ w[0],
        "n",
        "h,d",
        given=("h*d == n",),
    ),
    row(
        "places that wrap beyond a whole part",
        lambda x: (
            (lax.div(jnp.arange(x.shape[0]) * 4096, 3 * jnp.ones_like(jnp.arange(x.shape[0]))) * 4096).astype(
                jnp.float32
            )
            * x
        ),
        lambda x: (
            lax.div(jnp.arange(x.shape[0]) * 4096, 3 * jnp.ones_like(jnp.arange(x.shape[0]))).astype(jnp.float32)
            * 4096.0
            * x
        ),
        "n",
    ),
)

EQUAL_AXES: tuple[Row, ...] = (
    row("swapped equal axes", lambda x: x, lambda x: x.T, "n,n"),
    row("product transposed", lambda x, y: x @ y, lambda x, y: y @ x, "n,n", "n,n"),
    row("product with a transpose", lambda x, y: x @ y, lambda x, y: x @ y.T, "n,n", "n,n"),
    row("rows for columns", lambda x: softmax(x, 0), lambda x: softmax(x, 1), "n,n"),
    row(
        "means along the other axis",
        lambda x: x - x.mean(0, keepdims=True),
        lambda x: x - x.mean(1, keepdims=True),
        "n,n",
    ),
    row("reshape for transpose", lambda x: x.reshape(x.shape[1], x.shape[0]), lambda x: x.T, "n,d"),
    row(
        "heads before tokens",
        lambda x: x.reshape(x.shape[1], x.shape[0], x.shape[2]),
        lambda x: x.transpose(1, 0, 2),
        "n,h,d",
    ),
    row(
        "heads interleaved",
        lambda x: x.reshape(x.shape[0], -1),
        lambda x: x.transpose(0, 2, 1).reshape(x.shape[0], -1),
        "n,h,d",
    ),
    row("the other triangle", jnp.tril, jnp.triu, "n,n"),
    row(
        "trace in another order",
        lambda a, b, c: jnp.trace(a @ b @ c),
        lambda a, b, c: jnp.trace(a @ c @ b),
        "n,n",
        "n,n",
        "n,n",
    ),
    row("a bilinear form of a transpose", lambda x, a, y: x @ a @ y, lambda x, a, y: y @ a @ x, "n", "n,n", "n"),
    row("keys for queries", attention.plain, lambda q, k, v: attention.plain(k, q, v), "n,d", "n,d", "n,d"),
    row("Kronecker factors swapped", jnp.kron, lambda a, b: jnp.kron(b, a), "n,n", "n,n"),
    row("concatenation swapped", lambda x, y: jnp.concatenate([x, y]), lambda x, y: jnp.concatenate([y, x]), "n", "n"),
)

MISTAKES: tuple[Row, ...] = (
    row("scale by d, not its root", attention.plain, lambda q, k, v: softmax(q @ k.T / q.shape[1]) @ v, *attention.QKV),
    row(
        "scale of the keys' number",
        attention.plain,
        lambda q, k, v: softmax(q @ k.T / jnp.sqrt(jnp.float32(k.shape[0]))) @ v,
        *attention.QKV,
    ),
    row(
        "softmax over queries",
        attention.plain,
        lambda q, k, v: softmax(q @ k.T / attention.scale(q), axis=0) @ v,
        *attention.QKV,
    ),
    row("mask after softmax", attention.masked, lambda q, k, v: jnp.tril(softmax(q @ k.T)) @ v, *attention.SELF),
    row(
        "mask without itself",
        attention.masked_afterwards,
        lambda q, k, v: (lambda e: (e @ v) / (e.sum(1) + 1.0)[:, None])(jnp.tril(jnp.exp(q @ k.T), -1)),
        *attention.SELF,
    ),
    row("masked scores of 0", attention.masked, lambda q, k, v: softmax(jnp.tril(q @ k.T)) @ v, *attention.SELF),
    row(
        "mask of -1e9 for -inf",
        attention.masked,
        lambda q, k, v: softmax(jnp.where(attention.causal(q.shape[0]), q @ k.T, -1e9)) @ v,
        *attention.SELF,
    ),
    row("window of 5 for 6", attention.windowed, windowed_attention(6), *attention.SELF),
    row("cache without the new value", attention.cached, lambda q, k, v, a, b: softmax(k @ q) @ v, *attention.CACHE),
    row(
        "cache in the other order",
        attention.cached,
        lambda q, k, v, a, b: softmax(jnp.concatenate([a[None], k]) @ q) @ jnp.concatenate([v, b[None]]),
        *attention.CACHE,
    ),
    row(
        "blocks without their maxima",
        attention.one_block,
        lambda q, k, v, k2, v2: (softmax(q @ k.T) @ v + softmax(q @ k2.T) @ v2) / 2.0,
        "n,d",
        "m,d",
        "m,e",
        "p,d",
        "p,e",
    ),
    row(
        "biased in the values",
        attention.bidirectional,
        lambda q, k, v, b: softmax(q @ k.T) @ v + b @ v,
        "n,d",
        "m,d",
        "m,e",
        "n,m",
    ),
    row("linear attention for causal", attention.linear_attention, attention.causal_linear, "n,d", "n,d", "n,e"),
    row(
        "rotation by the sum",
        attention.rotary_scores,
        lambda q, k, t: attention.relative_scores(q, k, -t),
        "n,2*d",
        "n,2*d",
        "d",
    ),
    row(
        "norm without its root",
        layers.rms,
        lambda x, g: x / ((x * x).mean(-1, keepdims=True) + layers.EPS) * g[None],
        "n,d",
        "d",
    ),
    row(
        "norm with another epsilon",
        layers.rms,
        lambda x, g: x * lax.rsqrt((x * x).mean(-1, keepdims=True) + layers.EPS + 2.0**-20) * g[None],
        "n,d",
        "d",
    ),
    row(
        "norm along tokens",
        layers.rms,
        lambda x, g: x * lax.rsqrt((x * x).mean(0, keepdims=True) + layers.EPS) * g[None],
        "n,d",
        "d",
    ),
    row("rms for layer norm", layers.layer_norm, lambda x, g, b: layers.rms(x, g) + b[None], *layers.NORM),
    row("mean of logs", lambda z: jax.nn.logsumexp(z), lambda z: jnp.log(jnp.exp(z).mean()), "n"),
    row(
        "cross-entropy of labels that do not add up to 1",
        layers.cross_entropy,
        lambda z, y: (jax.nn.logsumexp(z, axis=-1) - (z * y).sum(-1)).mean(),
        "n,c",
        "n,c",
    ),
    row(
        "LoRA in the other order",
        lambda x, w, a, b: x @ w + (x @ a) @ b,
        lambda x, w, a, b: x @ (w + (a @ b).T),
        "n,d",
        "d,d",
        "d,r",
        "r,d",
    ),
    row("a nudge", lambda x, w: x @ w, lambda x, w: x @ w + 2.0**-30 * x[:, :1], "n,d", "d,e"),
    row("residual twice", lambda x, w: x + x @ w, lambda x, w: 2.0 * x + x @ w, "n,d", "d,d"),
    row(
        "convolution turned round", layers.same_convolution, lambda x, w: layers.same_convolution(x, w[::-1]), "n", "3"
    ),
    row(
        "convolution shifted",
        layers.same_convolution,
        lambda x, w: (
            jnp.roll(layers.same_convolution(x, w), 1)
            if isinstance(x.shape[0], int)
            else jnp.concatenate([layers.same_convolution(x, w)[-1:], layers.same_convolution(x, w)[:-1]])
        ),
        "n",
        "3",
    ),
    row("maximum of a sum is no sum", lambda x, y: (x + y).max(), lambda x, y: x.max() + y.max(), "n", "n"),
    row("relu of a sum", lambda x: jax.nn.relu(x.sum()), lambda x: jax.nn.relu(x).sum(), "n"),
    row("product of sums", lambda x, y: (x * y).sum(), lambda x, y: x.sum() * y.sum(), "n", "n"),
)

UNDEFINED: tuple[Row, ...] = (
    row(
        "relu over itself",
        lambda x: (
            jnp.where(x > 0, jax.nn.relu(x) / jax.nn.relu(x), 1.0) * 0.0
            + jax.nn.relu(x - 1.0) * jax.nn.relu(x) / jax.nn.relu(x)
        ),
        lambda x: jax.nn.relu(x - 1.0) + jax.nn.relu(-x) * 0.0 + 1e-3,
        "n",
    ),
    row(
        "a quotient that is caught", lambda x: jnp.where(jnp.isnan(x / x), 5.0, x / x), lambda x: jnp.ones_like(x), "n"
    ),
    row("a comparison that catches", lambda x: jnp.where(x / x > 0.5, 5.0, 7.0), lambda x: jnp.full_like(x, 5.0), "n"),
    row(
        "a divisor of 0 on a half-line, caught",
        lambda x: jnp.where(jnp.isfinite(1.0 / jax.nn.relu(x)), 1.0, 0.0),
        jnp.ones_like,
        "n",
    ),
    row("a tie", lambda x: jnp.where(x > 0, 1.0, 0.0), lambda x: jnp.where(x >= 0, 1.0, 0.0), "n"),
    row(
        "a tie of two entries",
        lambda x, y: (x > y).astype(jnp.float32),
        lambda x, y: 1.0 - (y > x).astype(jnp.float32),
        "n",
        "n",
    ),
    row("the sign at 0", jnp.sign, lambda x: jnp.where(x >= 0, 1.0, -1.0), "n"),
    row("gradient of relu at 0", jax.grad(lambda x: jax.nn.relu(x).sum()), lambda x: (x >= 0).astype(jnp.float32), "n"),
    row(
        "gradient of a maximum at a tie",
        jax.grad(lambda x, y: jnp.maximum(x, y).sum()),
        lambda x, y: (x >= y).astype(jnp.float32),
        "n",
        "n",
    ),
    row("root of a square", lambda x: jnp.sqrt(x * x), identity, "n"),
    row(
        "indicator over itself",
        lambda x: jnp.where((x > 0).astype(jnp.float32) / (x > 0).astype(jnp.float32) == 1.0, x, 2.0 * x),
        identity,
        "n",
    ),
    row(
        "a softmax of a row that is masked whole, caught",
        lambda x, m: jnp.nan_to_num(softmax(jnp.where(m > 0, x, -jnp.inf))).sum(-1),
        lambda x, m: jnp.ones(x.shape[0], jnp.float32) + 0.0 * (x + m).sum(-1),
        "n,d",
        "n,d",
    ),
    row(
        "exp of a masked maximum is positive",
        lambda x, m: (jnp.exp(jnp.where(m > 0, x, -jnp.inf).max(-1)) > 0).astype(jnp.float32),
        lambda x, m: jnp.ones(x.shape[0], jnp.float32),
        "n,d",
        "n,d",
    ),
    row("floor of a shift", lambda x: jnp.floor(x + 0.5), lambda x: jnp.floor(x) + 0.5, "n"),
    row("round and floor", lambda x: jnp.round(x), lambda x: jnp.floor(x + 0.5), "n"),
    row("a constant that is rounded", lambda x: x * 0.1 * 10.0, lambda x: x * 1.0009765625, "n"),
)

FALSE: tuple[Row, ...] = (*SIZES, *FAR, *WINDOWS, *CONSTRAINED, *EQUAL_AXES, *MISTAKES, *UNDEFINED)
