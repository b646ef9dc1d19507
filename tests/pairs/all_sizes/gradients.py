"""Gradients by hand and by JAX, equal at all sizes."""

import jax
import jax.numpy as jnp

from . import attention, layers
from .row import row

softmax, einsum = jax.nn.softmax, jnp.einsum


def softmax_gradient(z, c):
    p = softmax(z)
    return p * (c - (p * c).sum(-1, keepdims=True))


def attention_gradient_of_values(q, k, v, c):
    return softmax(q @ k.T).T @ c


def attention_gradient_of_scores(q, k, v, c):
    p = softmax(q @ k.T)
    d = c @ v.T
    return (p * (d - (p * d).sum(1, keepdims=True))) @ k


ATTENTION = ("n,d", "m,d", "m,e", "n,e")


def simple(q, k, v):
    return softmax(q @ k.T) @ v


def pulled(function, argument):
    """Cotangent of an argument, of the cotangent c of the output, which is the last argument."""
    return lambda *arguments: jax.vjp(function, *arguments[:-1])[1](arguments[-1])[argument]


TRUE = (
    row(
        "gradient of a product",
        jax.grad(lambda w, x, c: ((x @ w) * c).sum()),
        lambda w, x, c: x.T @ c,
        "d,e",
        "n,d",
        "n,e",
    ),
    row(
        "gradient of least squares",
        jax.grad(lambda w, x, y: ((x @ w - y) ** 2).mean()),
        lambda w, x, y: 2.0 * x.T @ (x @ w - y) / (x.shape[0] * w.shape[1]),
        "d,e",
        "n,d",
        "n,e",
    ),
    row("gradient of a quadratic form", jax.grad(lambda x, a: x @ a @ x), lambda x, a: (a + a.T) @ x, "n", "n,n"),
    row("gradient of logsumexp", jax.grad(jax.nn.logsumexp), softmax, "n"),
    row("gradient of softmax", pulled(softmax, 0), softmax_gradient, "n,m", "n,m"),
    row(
        "gradient of log softmax",
        pulled(jax.nn.log_softmax, 0),
        lambda z, c: c - softmax(z) * c.sum(-1, keepdims=True),
        "n,m",
        "n,m",
    ),
    row(
        "gradient of cross-entropy",
        jax.grad(layers.cross_entropy),
        lambda z, y: (softmax(z) * y.sum(-1, keepdims=True) - y) / z.shape[0],
        "n,c",
        "n,c",
    ),
    row("gradient of values", pulled(simple, 2), attention_gradient_of_values, *ATTENTION),
    row("gradient of queries", pulled(simple, 0), attention_gradient_of_scores, *ATTENTION),
    row(
        "gradient of keys of two writings",
        pulled(simple, 1),
        pulled(lambda q, k, v: (lambda e: (e @ v) / e.sum(1)[:, None])(jnp.exp(q @ k.T)), 1),
        *ATTENTION,
    ),
    row(
        "gradients of two writings of causal attention",
        pulled(attention.masked, 0),
        pulled(attention.masked_afterwards, 0),
        "n,d",
        "n,d",
        "n,e",
        "n,e",
    ),
    row(
        "gradient of rms norm in two writings", pulled(layers.rms, 0), pulled(layers.rms_of_sums, 0), "n,d", "d", "n,d"
    ),
    row(
        "gradient of the scale of layer norm",
        pulled(layers.layer_norm, 1),
        pulled(layers.layer_norm_by_moments, 1),
        "n,d",
        "d",
        "d",
        "n,d",
    ),
    row(
        "gradient of layer norm in two writings",
        pulled(layers.layer_norm, 0),
        pulled(layers.layer_norm_by_var, 0),
        "n,d",
        "d",
        "d",
        "n,d",
    ),
    row(
        "gradient of relu",
        jax.grad(lambda x, c: (jax.nn.relu(x) * c).sum()),
        lambda x, c: jnp.where(x > 0, c, 0.0),
        "n",
        "n",
    ),
    row("gradient of a slice", jax.grad(lambda x, c: (x[1:] * c).sum()), lambda x, c: jnp.pad(c, (1, 0)), "n+1", "n"),
    row(
        "gradient of a concatenation",
        pulled(lambda x, y: jnp.concatenate([x, y]), 1),
        lambda x, y, c: c[x.shape[0] :],
        "n",
        "m",
        "n+m",
    ),
    row("gradient of prefix sums", pulled(jnp.cumsum, 0), lambda x, c: jnp.cumsum(c[::-1])[::-1], "n", "n"),
    row("gradient of a reshape", pulled(lambda x: x.reshape(-1), 0), lambda x, c: c.reshape(x.shape), "n,d", "n*d"),
    row(
        "gradient of a mean",
        pulled(lambda x: x.mean(0), 0),
        lambda x, c: jnp.broadcast_to(c[None] / x.shape[0], x.shape),
        "n,d",
        "d",
    ),
    row(
        "gradient of LoRA merged",
        pulled(lambda x, w, a, b: x @ (w + a @ b), 2),
        lambda x, w, a, b, c: x.T @ (c @ b.T),
        "n,d",
        "d,e",
        "d,r",
        "r,e",
        "n,e",
    ),
    row(
        "gradient of sigmoid",
        pulled(jax.nn.sigmoid, 0),
        lambda x, c: c * jax.nn.sigmoid(x) * (1.0 - jax.nn.sigmoid(x)),
        "n",
        "n",
    ),
    row("gradient of tanh", pulled(jnp.tanh, 0), lambda x, c: c * (1.0 - jnp.tanh(x) ** 2), "n", "n"),
    row(
        "gradient of a convolution",
        pulled(layers.channels, 1),
        lambda x, w, c: jnp.stack([c @ x[:, k : k + c.shape[1]].T for k in range(3)], -1),
        "c,n+2",
        "o,c,3",
        "o,n",
    ),
    row(
        "gradient of feed-forward",
        pulled(layers.feed_forward, 1),
        lambda x, w, b, u, c: x.T @ ((c @ u.T) * (x @ w + b[None] > 0).astype(jnp.float32)),
        "n,d",
        "d,e",
        "e",
        "e,f",
        "n,f",
    ),
    row(
        "gradient of the magnitude as JAX defines it",
        jax.grad(lambda x: jnp.abs(x).sum()),
        lambda x: jnp.where(x >= 0, 1.0, -1.0),
        "n",
    ),
)
