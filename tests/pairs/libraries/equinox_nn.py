"""equinox.nn: layers with their arrays given as arguments, against plain formulas."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn

from ..modules import equinox
from ..pair import EPS, einsum, f32, matmul
from ..row import row
from .library import library

eqx = library("equinox")

IMAGE = f32(2, 5, 5)
IDS = np.array([3, 0, 2, 2], np.int32)


def linear(W, b, x):
    return equinox(lambda nn, key: nn.Linear(3, 2, key=key), W, b)(x)


def conv2d(W, x, **options):
    make = lambda nn, key: nn.Conv2d(
        W.shape[1] * options.get("groups", 1), W.shape[0], W.shape[2], use_bias=False, key=key, **options
    )
    return equinox(make, W)(x)


def correlate(W, x, stride=1):
    """Channels first, VALID."""
    out, _, k, _ = W.shape
    n = (x.shape[1] - k) // stride + 1
    total = jnp.zeros((out, n, n))
    for i in range(k):
        for j in range(k):
            patch = x[:, i : i + stride * (n - 1) + 1 : stride, j : j + stride * (n - 1) + 1 : stride]
            total = total + einsum("oc,chw->ohw", W[:, :, i, j], patch)
    return total


def conv_transpose(W, x):
    return equinox(lambda nn, key: nn.ConvTranspose1d(2, 3, 3, stride=2, use_bias=False, key=key), W)(x)


def spread(W, x):
    """Each column of x adds its copy of the kernel: W (out, in, k)."""
    y = jnp.zeros((3, 2 * (x.shape[1] - 1) + 3))
    for t in range(x.shape[1]):
        for k in range(3):
            y = y + jnp.pad(matmul(W[:, :, 2 - k], x[:, t])[:, None], ((0, 0), (2 * t + k, y.shape[1] - 1 - 2 * t - k)))
    return y


def pool(make, x):
    return make(eqx.nn)(x)


def multihead(q, k, v, o, x, heads=2, scale=None):
    """Without biases, from (n, d) to (n, d)."""
    n, d = x.shape
    split = lambda W: matmul(x, W.T).reshape(n, heads, -1)
    scores = einsum("thd,shd->hts", split(q), split(k)) * ((d // heads) ** -0.5 if scale is None else scale)
    weights = jnp.exp(scores) / jnp.exp(scores).sum(-1, keepdims=True)
    return matmul(einsum("hts,shd->thd", weights, split(v)).reshape(n, -1), o.T)


def rotary(x, pairs=True, base=10000.0, sign=1.0):
    """Position t turns the i-th pair by t·base^(−2i/d)."""
    n, d = x.shape
    angles = np.outer(np.arange(n), base ** (-np.arange(0, d, 2) / d))
    c, s = np.cos(angles), sign * np.sin(angles)
    a, b = (x[:, : d // 2], x[:, d // 2 :]) if pairs else (x[:, ::2], x[:, 1::2])
    turned = a * c - b * s, a * s + b * c
    return jnp.concatenate(turned, 1) if pairs else jnp.stack(turned, -1).reshape(n, d)


def gru(wi, wh, b, bn, h, x, keep=False):
    r, z, n = jnp.split(matmul(wi, x) + b, 3)
    hr, hz, hn = jnp.split(matmul(wh, h), 3)
    r, z = nn.sigmoid(r + hr), nn.sigmoid(z + hz)
    n = jnp.tanh(n + r * (hn + bn))
    return z * n + (1.0 - z) * h if keep else (1.0 - z) * n + z * h


def lstm(wi, wh, b, h, c, x, order="ifgo"):
    gates = dict(zip(order, jnp.split(matmul(wi, x) + matmul(wh, h) + b, 4), strict=True))
    c = nn.sigmoid(gates["f"]) * c + nn.sigmoid(gates["i"]) * jnp.tanh(gates["g"])
    return nn.sigmoid(gates["o"]) * jnp.tanh(c), c


def layer_norm(g, b, x):
    return equinox(lambda nn, key: nn.LayerNorm(4, eps=EPS), g, b)(x)


def plain_norm(g, b, x, ddof=0):
    d = x - x.sum() / x.size
    return d / jnp.sqrt((d * d).sum() / (x.size - ddof) + EPS) * g + b


GRU = (f32(6, 2), f32(6, 2), f32(6), f32(2), f32(2), f32(2))
LSTM = (f32(8, 2), f32(8, 2), f32(8), f32(2), f32(2), f32(2))
MATRICES = (f32(4, 4), f32(4, 4), f32(4, 4), f32(4, 4), f32(3, 4))

ROWS = (
    row(
        "Linear",
        linear,
        lambda W, b, x: (W * x[None]).sum(1) + b,
        (f32(2, 3), f32(2), f32(3)),
        {"no bias": lambda W, b, x: matmul(W, x) + 0 * b, "bias twice": lambda W, b, x: matmul(W, x) + 2 * b},
        gradient=True,
    ),
    row(
        "MLP with tanh",
        lambda W, b, V, c, x: equinox(lambda nn, key: nn.MLP(3, 2, 4, 1, activation=jnp.tanh, key=key), W, b, V, c)(x),
        lambda W, b, V, c, x: matmul(V, jnp.tanh(matmul(W, x) + b)) + c,
        (f32(4, 3), f32(4), f32(2, 4), f32(2), f32(3)),
        {
            "sigmoid": lambda W, b, V, c, x: matmul(V, nn.sigmoid(matmul(W, x) + b)) + c,
            "no hidden bias": lambda W, b, V, c, x: matmul(V, jnp.tanh(matmul(W, x))) + c + 0 * b.sum(),
        },
        gradient=True,
    ),
    row(
        "Conv2d",
        conv2d,
        correlate,
        (f32(3, 2, 3, 3), IMAGE),
        {
            "mirrored": lambda W, x: correlate(W[:, :, ::-1, ::-1], x),
            "transposed": lambda W, x: correlate(W.transpose(0, 1, 3, 2), x),
        },
        gradient=True,
    ),
    row(
        "Conv2d, strides",
        lambda W, x: conv2d(W, x, stride=2),
        lambda W, x: correlate(W, x, 2),
        (f32(3, 2, 3, 3), IMAGE),
        {
            "the other phase": lambda W, x: correlate(W, jnp.roll(x, 1, 1), 2),
            "mirrored": lambda W, x: correlate(W[:, :, ::-1], x, 2),
        },
    ),
    row(
        "Conv2d, padding",
        lambda W, x: conv2d(W, x, padding=1),
        lambda W, x: correlate(W, jnp.pad(x, ((0, 0), (1, 1), (1, 1)))),
        (f32(3, 2, 3, 3), f32(2, 3, 3)),
        {
            "edges": lambda W, x: correlate(W, jnp.pad(x, ((0, 0), (1, 1), (1, 1)), mode="edge")),
            "one side": lambda W, x: correlate(W, jnp.pad(x, ((0, 0), (2, 0), (1, 1)))),
        },
    ),
    row(
        "Conv2d, groups",
        lambda W, x: conv2d(W, x, groups=2),
        lambda W, x: jnp.concatenate([correlate(W[:1], x[:1]), correlate(W[1:], x[1:])]),
        (f32(2, 1, 3, 3), IMAGE),
        {
            "groups exchanged": lambda W, x: jnp.concatenate([correlate(W[:1], x[1:]), correlate(W[1:], x[:1])]),
            "summed": lambda W, x: correlate(jnp.repeat(W, 2, 1), x),
        },
    ),
    row(
        "ConvTranspose1d",
        conv_transpose,
        spread,
        (f32(3, 2, 3), f32(2, 3)),
        {"mirrored": lambda W, x: spread(W[:, :, ::-1], x), "shifted": lambda W, x: jnp.roll(spread(W, x), 1, 1)},
    ),
    row(
        "AvgPool2d",
        lambda x: pool(lambda nn: nn.AvgPool2d(2, 2), x),
        lambda x: (x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2]) / 4.0,
        (f32(2, 4, 4),),
        {
            "sum": lambda x: x[:, ::2, ::2] + x[:, 1::2, ::2] + x[:, ::2, 1::2] + x[:, 1::2, 1::2],
            "corner": lambda x: x[:, ::2, ::2],
        },
    ),
    row(
        "MaxPool1d",
        lambda x: pool(lambda nn: nn.MaxPool1d(3), x),
        lambda x: jnp.maximum(jnp.maximum(x[:, :-2], x[:, 1:-1]), x[:, 2:]),
        (f32(2, 5),),
        {
            "minimum": lambda x: jnp.minimum(jnp.minimum(x[:, :-2], x[:, 1:-1]), x[:, 2:]),
            "of two": lambda x: jnp.maximum(x[:, :-2], x[:, 1:-1]),
        },
    ),
    row(
        "AdaptiveAvgPool1d",
        lambda x: pool(lambda nn: nn.AdaptiveAvgPool1d(2), x),
        lambda x: jnp.stack([x[:, :3].mean(1), x[:, 3:].mean(1)], 1),
        (f32(2, 6),),
        {
            "strided": lambda x: jnp.stack([x[:, ::2].mean(1), x[:, 1::2].mean(1)], 1),
            "exchanged": lambda x: jnp.stack([x[:, 3:].mean(1), x[:, :3].mean(1)], 1),
        },
    ),
    row(
        "LayerNorm",
        layer_norm,
        plain_norm,
        (f32(4), f32(4), f32(4)),
        {
            "n − 1": lambda g, b, x: plain_norm(g, b, x, 1),
            "bias and weight exchanged": lambda g, b, x: plain_norm(b, g, x),
        },
        gradient=True,
    ),
    row(
        "LayerNorm does not see a shift",
        lambda g, b, x: layer_norm(g, b, x + 3.0),
        plain_norm,
        (f32(4), f32(4), f32(4)),
        {"of 2x": lambda g, b, x: plain_norm(g, b, 2 * x), "n − 1": lambda g, b, x: plain_norm(g, b, x, 1)},
    ),
    row(
        "RMSNorm",
        lambda g, x: equinox(lambda nn, key: nn.RMSNorm(4, eps=EPS, use_bias=False), g)(x),
        lambda g, x: g * x / jnp.sqrt(x @ x / 4.0 + EPS),
        (f32(4), f32(4)),
        {"sum": lambda g, x: g * x / jnp.sqrt(x @ x + EPS), "centred": lambda g, x: plain_norm(g, 0 * g, x)},
        gradient=True,
    ),
    row(
        "GroupNorm of one group",
        lambda g, b, x: equinox(lambda nn, key: nn.GroupNorm(1, 4, eps=EPS), g, b)(x),
        plain_norm,
        (f32(4), f32(4), f32(4)),
        {"n − 1": lambda g, b, x: plain_norm(g, b, x, 1), "exchanged": lambda g, b, x: plain_norm(b, g, x)},
    ),
    row(
        "MultiheadAttention",
        lambda q, k, v, o, x: equinox(lambda nn, key: nn.MultiheadAttention(2, 4, key=key), q, k, v, o)(x, x, x),
        multihead,
        MATRICES,
        {
            "no scale": lambda q, k, v, o, x: multihead(q, k, v, o, x, scale=1.0),
            "one head": lambda q, k, v, o, x: multihead(q, k, v, o, x, 1),
            "q and k exchanged": lambda q, k, v, o, x: multihead(k, q, v, o, x),
        },
        gradient=True,
    ),
    row(
        "RotaryPositionalEmbedding",
        lambda x: eqx.nn.RotaryPositionalEmbedding(4)(x),
        rotary,
        (f32(3, 4),),
        {
            "neighbours": lambda x: rotary(x, False),
            "the other way": lambda x: rotary(x, sign=-1.0),
            "base": lambda x: rotary(x, base=100.0),
        },
    ),
    row(
        "rotary scores see relative places",
        lambda q, k: matmul(
            *(lambda r: (r(jnp.stack([q, q, q])), r(jnp.stack([k, k, k])).T))(eqx.nn.RotaryPositionalEmbedding(4))
        )[1, 0],
        lambda q, k: matmul(rotary(jnp.stack([q, q, q])), rotary(jnp.stack([k, k, k])).T)[2, 1],
        (f32(4), f32(4)),
        {
            "the other way": lambda q, k: matmul(rotary(jnp.stack([q, q, q])), rotary(jnp.stack([k, k, k])).T)[1, 2],
            "two places": lambda q, k: matmul(rotary(jnp.stack([q, q, q])), rotary(jnp.stack([k, k, k])).T)[2, 0],
        },
    ),
    row(
        "GRUCell",
        lambda wi, wh, b, bn, h, x: equinox(lambda nn, key: nn.GRUCell(2, 2, key=key), wi, wh, b, bn)(x, h),
        gru,
        GRU,
        {
            "gate exchanged": lambda *a: gru(*a, keep=True),
            "no state": lambda wi, wh, b, bn, h, x: gru(wi, wh, b, bn, 0 * h, x),
        },
        gradient=True,
    ),
    row(
        "LSTMCell",
        lambda wi, wh, b, h, c, x: equinox(lambda nn, key: nn.LSTMCell(2, 2, key=key), wi, wh, b)(x, (h, c)),
        lstm,
        LSTM,
        {
            "another order of gates": lambda *a: lstm(*a, order="figo"),
            "no cell": lambda wi, wh, b, h, c, x: lstm(wi, wh, b, h, 0 * c, x),
        },
        gradient=True,
    ),
    row(
        "Embedding",
        lambda W: jax.vmap(equinox(lambda nn, key: nn.Embedding(4, 3, key=key), W))(IDS),
        lambda W: matmul(np.eye(4, dtype=np.float32)[IDS], W),
        (f32(4, 3),),
        {"other rows": lambda W: W[np.sort(IDS)], "scaled": lambda W: W[IDS] * 3**0.5},
    ),
    row(
        "PReLU",
        lambda a, x: equinox(lambda nn, key: nn.PReLU(), a)(x),
        lambda a, x: jnp.maximum(x, 0.0) + a * jnp.minimum(x, 0.0),
        (f32(), f32(5)),
        {"minus": lambda a, x: jnp.maximum(x, 0.0) - a * jnp.minimum(x, 0.0), "relu": lambda a, x: nn.relu(x) + 0 * a},
    ),
    row(
        "Sequential",
        lambda W, V, x: eqx.nn.Sequential(
            [
                equinox(lambda nn, key: nn.Linear(3, 4, False, key=key), W),
                eqx.nn.Lambda(nn.silu),
                equinox(lambda nn, key: nn.Linear(4, 2, False, key=key), V),
            ]
        )(x),
        lambda W, V, x: (lambda h: matmul(V, h / (1.0 + jnp.exp(-h))))(matmul(W, x)),
        (f32(4, 3), f32(2, 4), f32(3)),
        {
            "relu": lambda W, V, x: matmul(V, nn.relu(matmul(W, x))),
            "no activation": lambda W, V, x: matmul(V, matmul(W, x)),
        },
    ),
    row(
        "Dropout at inference",
        lambda x: eqx.nn.Dropout(0.5, inference=True)(x),
        lambda x: x + 0.0,
        (f32(5),),
        {"scaled": lambda x: 2 * x, "halved": lambda x: x / 2},
    ),
    row(
        "filter_vmap over a sequence",
        lambda W, xs: eqx.filter_vmap(lambda x: equinox(lambda nn, key: nn.Linear(3, 2, False, key=key), W)(x))(xs),
        lambda W, xs: einsum("oi,ti->to", W, xs),
        (f32(2, 3), f32(4, 3)),
        {
            "reversed": lambda W, xs: einsum("oi,ti->to", W, xs[::-1]),
            "exchanged": lambda W, xs: einsum("oi,ti->to", W[::-1], xs),
        },
    ),
)
