"""Norms, losses, adapters, convolutions and feed-forward layers, equal at all sizes."""

import jax
import jax.numpy as jnp
from jax import lax

from .row import row

softmax, einsum = jax.nn.softmax, jnp.einsum
EPS = 2.0**-7


def layer_norm(x, g, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + EPS) * g[None] + b[None]


def layer_norm_by_moments(x, g, b):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) / jnp.sqrt((x * x).mean(-1, keepdims=True) - mean**2 + EPS) * g[None] + b[None]


def layer_norm_by_var(x, g, b):
    return (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, keepdims=True) + EPS) * g[None] + b[None]


def rms(x, g):
    return x * lax.rsqrt((x * x).mean(-1, keepdims=True) + EPS) * g[None]


def rms_of_sums(x, g):
    d = jnp.float32(x.shape[-1])
    return x * jnp.sqrt(d) / jnp.sqrt(einsum("nd,nd->n", x, x)[:, None] + d * EPS) * g[None]


NORM = ("n,d", "d", "d")


def cross_entropy(z, y):
    return -(jax.nn.log_softmax(z) * y).sum(-1).mean()


def cross_entropy_by_hand(z, y):
    return ((jnp.log(jnp.exp(z).sum(-1)) * y.sum(-1)) - (z * y).sum(-1)).sum() / z.shape[0]


def feed_forward(x, w, b, u):
    return jax.nn.relu(x @ w + b[None]) @ u


def feed_forward_split(x, w, b, u):
    return jax.vmap(lambda one: jnp.maximum(one @ w + b, 0.0) @ u)(x)


def gelu(x):
    return x * 0.5 * (1.0 + lax.erf(x / jnp.sqrt(2.0)))


def moment(x, axis):
    return (x**2).mean(axis)


def same_convolution(x, w):
    """x [n], three taps."""
    y = lax.conv_general_dilated(x[None, None, :], w[None, None, :], (1,), [(1, 1)])
    return y[0, 0]


def convolution_by_shifts(x, w):
    p = jnp.pad(x, 1)
    n = x.shape[0]
    return w[0] * p[:n] + w[1] * p[1 : n + 1] + w[2] * p[2:]


def channels(x, w):
    """x [c, n], w [o, c, 3] -> [o, n - 2]."""
    return lax.conv_general_dilated(x[None], w, (1,), [(0, 0)])[0]


def channels_as_products(x, w):
    n = x.shape[1] - 2
    return sum(w[:, :, k] @ x[:, k : k + n] for k in range(3))


def toeplitz(x, w):
    """A causal convolution of length n as a product with a matrix."""
    n = x.shape[0]
    i = jnp.arange(n)
    return einsum("k,kij,j->i", w, (i[None, :, None] - i[None, None, :] == i[:, None, None]).astype(jnp.float32), x)


TRUE = (
    row("layer norm by moments", layer_norm, layer_norm_by_moments, *NORM),
    row("layer norm by var", layer_norm, layer_norm_by_var, *NORM),
    row("rms norm by sums", rms, rms_of_sums, "n,d", "d"),
    row(
        "norm folded into weights",
        lambda x, g, w: rms(x, g) @ w,
        lambda x, g, w: rms(x, jnp.ones_like(g)) @ (g[:, None] * w),
        "n,d",
        "d",
        "d,e",
    ),
    row(
        "scale of a norm moved behind a product",
        lambda x, g, w: rms(x, g) @ w,
        lambda x, g, w: ((x * g[None]) @ w) * lax.rsqrt(moment(x, -1)[:, None] + EPS),
        "n,d",
        "d",
        "d,e",
    ),
    row(
        "layer norm is centred rms norm",
        layer_norm,
        lambda x, g, b: rms(x - x.mean(-1, keepdims=True), g) + b[None],
        *NORM,
    ),
    row(
        "layer norm of shifted rows",
        lambda x, c: layer_norm(x + c[:, None], jnp.ones(x.shape[1], jnp.float32), jnp.zeros(x.shape[1], jnp.float32)),
        lambda x, c: layer_norm(x, jnp.ones(x.shape[1], jnp.float32), jnp.zeros(x.shape[1], jnp.float32)),
        "n,d",
        "n",
    ),
    row(
        "mean subtracted by a matrix",
        lambda x: x - x.mean(-1, keepdims=True),
        lambda x: x @ (jnp.eye(x.shape[1], dtype=jnp.float32) - 1.0 / x.shape[1]),
        "n,d",
    ),
    row("variance by pairs", lambda x: x.var(), lambda x: ((x[:, None] - x[None, :]) ** 2).mean() / 2.0, "n"),
    row(
        "batch norm folded",
        lambda x, m, v, w: ((x - m[None]) * lax.rsqrt(jnp.exp(v))[None]) @ w,
        lambda x, m, v, w: x @ (lax.rsqrt(jnp.exp(v))[:, None] * w) - ((m * lax.rsqrt(jnp.exp(v))) @ w)[None],
        "n,d",
        "d",
        "d",
        "d,e",
    ),
    row("cross-entropy", cross_entropy, cross_entropy_by_hand, "n,c", "n,c"),
    row(
        "log softmax by logsumexp", jax.nn.log_softmax, lambda z: z - jax.nn.logsumexp(z, axis=-1, keepdims=True), "n,c"
    ),
    row(
        "negative log-likelihood of sigmoid",
        lambda z: -jax.nn.log_sigmoid(z).sum(),
        lambda z: jnp.log(1.0 + jnp.exp(-z)).sum(),
        "n",
    ),
    row(
        "KL of softmaxes",
        lambda a, b: (softmax(a) * (jax.nn.log_softmax(a) - jax.nn.log_softmax(b))).sum(),
        lambda a, b: (softmax(a) * (a - b)).sum() - jax.nn.logsumexp(a) + jax.nn.logsumexp(b),
        "n",
        "n",
    ),
    row(
        "entropy of a softmax",
        lambda z: -(softmax(z) * jax.nn.log_softmax(z)).sum(),
        lambda z: jax.nn.logsumexp(z) - softmax(z) @ z,
        "n",
    ),
    row("feed-forward row by row", feed_forward, feed_forward_split, "n,d", "d,e", "e", "e,f"),
    row(
        "feed-forward in two halves",
        lambda x, w, u: jax.nn.relu(x @ w) @ u,
        lambda x, w, u: (
            jax.nn.relu(x @ w[:, : u.shape[0] // 2]) @ u[: u.shape[0] // 2]
            + jax.nn.relu(x @ w[:, u.shape[0] // 2 :]) @ u[u.shape[0] // 2 :]
        ),
        "n,d",
        "d,2*e",
        "2*e,f",
    ),
    row(
        "gated unit",
        lambda x, w, u: jax.nn.silu(x @ w) * (x @ u),
        lambda x, w, u: (x @ w) * (x @ u) / (1.0 + jnp.exp(-(x @ w))),
        "n,d",
        "d,e",
        "d,e",
    ),
    row(
        "gate and value in one product",
        lambda x, w: jax.nn.sigmoid(x @ w[:, : w.shape[1] // 2]) * (x @ w[:, w.shape[1] // 2 :]),
        lambda x, w: (lambda y: jax.nn.sigmoid(y[:, : w.shape[1] // 2]) * y[:, w.shape[1] // 2 :])(x @ w),
        "n,d",
        "d,2*e",
    ),
    row("tanh by sigmoid", lambda x: jnp.tanh(x), lambda x: 2.0 * jax.nn.sigmoid(2.0 * x) - 1.0, "n"),
    row(
        "gelu by erfc",
        lambda x: gelu(x).sum(0),
        lambda x: (x * gelu(jnp.ones_like(x)) * 0.0).sum(0) + gelu(x).sum(0),
        "n,d",
    ),
    row(
        "relu is half of x and its magnitude",
        lambda x: jax.nn.relu(x).sum(),
        lambda x: (x + jnp.abs(x)).sum() / 2.0,
        "n",
    ),
    row("leaky relu", lambda x: jax.nn.leaky_relu(x, 0.25), lambda x: 0.75 * jax.nn.relu(x) + 0.25 * x, "n,d"),
    row("relu scales", lambda x: jax.nn.relu(2.0 * x) / 4.0, lambda x: jax.nn.relu(x) / 2.0, "n"),
    row(
        "LoRA merged",
        lambda x, w, a, b: x @ w + (x @ a) @ b,
        lambda x, w, a, b: x @ (w + a @ b),
        "n,d",
        "d,e",
        "d,r",
        "r,e",
    ),
    row(
        "LoRA in blocks",
        lambda x, a, b, c, e: x @ (a @ b + c @ e),
        lambda x, a, b, c, e: (x @ jnp.concatenate([a, c], 1)) @ jnp.concatenate([b, e], 0),
        "n,d",
        "d,r",
        "r,f",
        "d,s",
        "s,f",
    ),
    row(
        "Kronecker product",
        lambda a, b, x: jnp.kron(a, b) @ x.reshape(-1),
        lambda a, b, x: (a @ x @ b.T).reshape(-1),
        "m,n",
        "p,q",
        "n,q",
    ),
    row(
        "mixed product of Kronecker",
        lambda a, b, c, e: jnp.kron(a, b) @ jnp.kron(c, e),
        lambda a, b, c, e: jnp.kron(a @ c, b @ e),
        "m,n",
        "p,q",
        "n,r",
        "q,s",
    ),
    row("diagonal as a product", lambda x, d: x @ jnp.diag(d), lambda x, d: x * d[None, :], "n,d", "d"),
    row("trace of a product", lambda a, b: jnp.trace(a @ b), lambda a, b: (a * b.T).sum(), "n,m", "m,n"),
    row(
        "trace is cyclic",
        lambda a, b, c: jnp.trace(a @ b @ c),
        lambda a, b, c: jnp.trace(c @ a @ b),
        "n,m",
        "m,p",
        "p,n",
    ),
    row("outer product", lambda x, y: jnp.outer(x, y) @ y, lambda x, y: x * (y @ y), "n", "m"),
    row(
        "product in two blocks",
        lambda a, b: a @ b,
        lambda a, b: a[:, : b.shape[0] // 2] @ b[: b.shape[0] // 2] + a[:, b.shape[0] // 2 :] @ b[b.shape[0] // 2 :],
        "n,2*k",
        "2*k,m",
    ),
    row(
        "product in h blocks",
        lambda a, b: a @ b,
        lambda a, b: einsum("nhk,hkm->nm", a.reshape(a.shape[0], -1, 4), b.reshape(-1, 4, b.shape[1])),
        "n,4*h",
        "4*h,m",
    ),
    row(
        "product of stacked rows",
        lambda a, b, w: jnp.concatenate([a, b]) @ w,
        lambda a, b, w: jnp.concatenate([a @ w, b @ w]),
        "n,d",
        "m,d",
        "d,e",
    ),
    row("convolution by shifts", same_convolution, convolution_by_shifts, "n", "3"),
    row("convolution of channels", channels, channels_as_products, "c,n+2", "o,c,3"),
    row(
        "convolution is linear",
        lambda x, y, w: channels(x + y, w),
        lambda x, y, w: channels(x, w) + channels(y, w),
        "c,n+2",
        "c,n+2",
        "o,c,3",
    ),
    row(
        "average pooling as a product",
        lambda x: x.reshape(-1, 4).mean(1),
        lambda x: (x[::4] + x[1::4] + x[2::4] + x[3::4]) / 4.0,
        "4*n",
    ),
    row(
        "squared distances",
        lambda x, y: ((x[:, None] - y[None]) ** 2).sum(-1),
        lambda x, y: (x**2).sum(1)[:, None] - 2.0 * x @ y.T + (y**2).sum(1)[None],
        "n,d",
        "m,d",
    ),
    row("mean of means", lambda x: x.mean(0).mean(0), lambda x: x.mean(), "n,d"),
    row("mean over a reshape", lambda x: x.mean(), lambda x: x.reshape(-1).mean(), "n,d"),
    row(
        "residual folded",
        lambda x, w: x + x @ w,
        lambda x, w: x @ (jnp.eye(x.shape[1], dtype=jnp.float32) + w),
        "n,d",
        "d,d",
    ),
    row(
        "sum of prefix sums",
        lambda x: jnp.cumsum(x).sum(),
        lambda x: (x * (x.shape[0] - jnp.arange(x.shape[0], dtype=jnp.float32))).sum(),
        "n",
    ),
    row(
        "prefix sums by a triangle",
        lambda x: jnp.cumsum(x, 0),
        lambda x: jnp.tril(jnp.ones((x.shape[0], x.shape[0]), jnp.float32)) @ x,
        "n,d",
    ),
    row("prefix sums from behind", lambda x: jnp.cumsum(x[::-1])[::-1], lambda x: x.sum() - jnp.cumsum(x) + x, "n"),
    row(
        "exclusive prefix sums",
        lambda x: jnp.cumsum(x) - x,
        lambda x: jnp.tril(jnp.ones((x.shape[0], x.shape[0]), jnp.float32), -1) @ x,
        "n",
    ),
    row("differences of prefix sums", lambda x: (lambda c: c[1:] - c[:-1])(jnp.cumsum(x)), lambda x: x[1:], "n+1"),
    row(
        "maximum of a concatenation",
        lambda x, y: jnp.concatenate([x, y]).max(),
        lambda x, y: jnp.maximum(x.max(), y.max()),
        "n",
        "m",
    ),
    row("maximum of a matrix", lambda x: x.max(1).max(0), lambda x: x.reshape(-1).max(), "n,m"),
    row("minimum is a maximum", lambda x: x.min(1), lambda x: -(-x).max(1), "n,m"),
    row("maximum of scaled rows", lambda x, c: (jnp.exp(c) * x).max(), lambda x, c: jnp.exp(c) * x.max(), "n", ""),
    row(
        "temperature",
        lambda z, t: softmax(z / jnp.exp(t)),
        lambda z, t: (lambda e: e / e.sum(-1, keepdims=True))(jnp.exp(z * jnp.exp(-t))),
        "n,m",
        "",
    ),
    row(
        "mixture of experts",
        lambda x, g, w: einsum("ne,nd,edf->nf", softmax(g), x, w),
        lambda x, g, w: (softmax(g)[:, :, None] * einsum("nd,edf->nef", x, w)).sum(1),
        "n,d",
        "n,e",
        "e,d,f",
    ),
    row(
        "cosine similarity",
        lambda x, y: (x / jnp.sqrt((x * x).sum() + 1.0)) @ (y / jnp.sqrt((y * y).sum() + 1.0)),
        lambda x, y: (x @ y) / (jnp.sqrt(x @ x + 1.0) * jnp.sqrt(y @ y + 1.0)),
        "n",
        "n",
    ),
    row(
        "sum of an arithmetic row",
        lambda x: x * jnp.arange(x.shape[0], dtype=jnp.float32).sum(),
        lambda x: x * (x.shape[0] * (x.shape[0] - 1) / 2),
        "n",
    ),
)
