"""flax.linen: layers with parameters given as arguments, and its functions."""

from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax, nn

from ..modules import linen
from ..pair import EPS, einsum, f32, matmul
from ..row import row
from .library import library

flax = library("flax.linen")

IMAGE = f32(6, 6, 2)
IDS = np.array([3, 0, 2, 2], np.int32)


def dense(x, kernel, bias):
    return linen(lambda nn: nn.Dense(kernel.shape[-1]), {"kernel": kernel, "bias": bias}, x)


def dense_general(x, kernel):
    return linen(lambda nn: nn.DenseGeneral(kernel.shape[2:], axis=(-2, -1), use_bias=False), {"kernel": kernel}, x)


def bilinear_einsum(x, kernel):
    return linen(lambda nn: nn.Einsum(kernel.shape, "...a,abc->...bc", use_bias=False), {"kernel": kernel}, x)


def conv(x, kernel, **options):
    return linen(
        lambda nn: nn.Conv(kernel.shape[-1], kernel.shape[:-2], use_bias=False, **options), {"kernel": kernel}, x
    )


def conv_transpose(x, kernel, **options):
    return linen(
        lambda nn: nn.ConvTranspose(kernel.shape[-1], kernel.shape[:-2], use_bias=False, **options),
        {"kernel": kernel},
        x,
    )


def windows(x, kernel, stride=1, dilation=1):
    """Σ over the taps of a 2-d kernel, VALID: products of slices."""
    kh, kw = kernel.shape[:2]
    rows = (x.shape[0] - (kh - 1) * dilation - 1) // stride + 1
    columns = (x.shape[1] - (kw - 1) * dilation - 1) // stride + 1
    total = 0.0
    for i in range(kh):
        for j in range(kw):
            a, b = i * dilation, j * dilation
            patch = x[a : a + stride * (rows - 1) + 1 : stride, b : b + stride * (columns - 1) + 1 : stride]
            total = total + einsum("hwc,cm->hwm", patch, kernel[i, j])
    return total


def depthwise(x, kernel):
    """One channel with one filter: kernel (k, k, 1, c)."""
    full = jnp.einsum("ijc,cd->ijcd", kernel[:, :, 0], jnp.eye(kernel.shape[-1]), precision="highest")
    return windows(x, full)


def spread(x, kernel):
    """1-d transposed convolution of stride 2, VALID: each input row adds its copy of the kernel."""
    out: list[Any] = [0.0 for _ in range(2 * (len(x) - 1) + len(kernel))]
    for t in range(len(x)):
        for k in range(len(kernel)):
            out[2 * t + k] = out[2 * t + k] + matmul(x[t], kernel[k])
    return jnp.stack(out)


def pooled(x, reduce):
    """Non-overlapping windows of 2 by 2."""
    h, w, c = x.shape
    return reduce(x.reshape(h // 2, 2, w // 2, 2, c), axis=(1, 3))


def batch_norm(x, scale, bias, mean, var):
    make = lambda nn: nn.BatchNorm(use_running_average=True, epsilon=EPS)
    module = make(flax)
    return module.apply({"params": {"scale": scale, "bias": bias}, "batch_stats": {"mean": mean, "var": var}}, x)


def batch_norm_training(x, scale, bias):
    zero, one = jnp.zeros_like(bias), jnp.ones_like(bias)
    variables = {"params": {"scale": scale, "bias": bias}, "batch_stats": {"mean": zero, "var": one}}
    module = flax.BatchNorm(use_running_average=False, momentum=0.9, epsilon=EPS, force_float32_reductions=False)
    y, state = module.apply(variables, x, mutable=["batch_stats"])
    return y, state["batch_stats"]["mean"], state["batch_stats"]["var"]


def plain_training(x, scale, bias, momentum=0.9, ddof=0):
    mean, var = x.mean(0), x.var(0, ddof=ddof)
    y = (x - mean) / jnp.sqrt(x.var(0) + EPS) * scale + bias
    return y, (1.0 - momentum) * mean, momentum + (1.0 - momentum) * var


def instance_norm(x, scale, bias):
    make = lambda nn: nn.InstanceNorm(epsilon=EPS, use_fast_variance=False, force_float32_reductions=False)
    return linen(make, {"scale": scale, "bias": bias}, x[None])[0]


def prelu(x, a):
    return linen(lambda nn: nn.PReLU(), {"negative_slope": a}, x)


def simple_cell(p, h, x):
    return linen(lambda nn: nn.SimpleCell(h.shape[-1]), p, h, x)[0]


def rnn(p, xs):
    """The states of a simple cell along a sequence."""
    return linen(lambda nn: nn.RNN(nn.SimpleCell(3)), {"cell": p}, xs)


def simple_plain(p, h, x, squash=jnp.tanh):
    return squash(matmul(x, p["i"]["kernel"]) + p["i"]["bias"] + matmul(h, p["h"]["kernel"]))


def rnn_plain(p, xs, start=0.0):
    h, states = start + jnp.zeros(3), []
    for x in xs:
        h = simple_plain(p, h, x)
        states.append(h)
    return jnp.stack(states)


def mgu(p, h, x):
    return linen(lambda nn: nn.MGUCell(h.shape[-1]), p, h, x)[0]


def mgu_plain(p, h, x, exchanged=False):
    f = nn.sigmoid(matmul(x, p["if"]["kernel"]) + p["if"]["bias"] + matmul(h, p["hf"]["kernel"]))
    n = jnp.tanh(matmul(x, p["in"]["kernel"]) + p["in"]["bias"] + f * (matmul(h, p["hn"]["kernel"]) + p["hn"]["bias"]))
    return f * n + (1.0 - f) * h if exchanged else (1.0 - f) * n + f * h


def attention_weights(q, k, scale=None):
    scores = einsum("thd,shd->hts", q, k) * (q.shape[-1] ** -0.5 if scale is None else scale)
    return jnp.exp(scores) / jnp.exp(scores).sum(-1, keepdims=True)


CELL = {"i": {"kernel": f32(2, 3), "bias": f32(3)}, "h": {"kernel": f32(3, 3)}}
MGU = {
    "if": {"kernel": f32(2, 3), "bias": f32(3)},
    "in": {"kernel": f32(2, 3), "bias": f32(3)},
    "hf": {"kernel": f32(3, 3)},
    "hn": {"kernel": f32(3, 3), "bias": f32(3)},
}
QK = (f32(4, 2, 3), f32(4, 2, 3))

ROWS = (
    row(
        "Dense",
        dense,
        lambda x, W, b: einsum("ti,io->to", x, W) + b,
        (f32(3, 4), f32(4, 2), f32(2)),
        {"no bias": lambda x, W, b: matmul(x, W) + 0 * b, "bias doubled": lambda x, W, b: matmul(x, W) + 2 * b},
        gradient=True,
    ),
    row(
        "DenseGeneral over two axes",
        dense_general,
        lambda x, W: matmul(x.reshape(3, 4), W.reshape(4, 6)).reshape(3, 2, 3),
        (f32(3, 2, 2), f32(2, 2, 2, 3)),
        {
            "axes exchanged": lambda x, W: matmul(x.transpose(0, 2, 1).reshape(3, 4), W.reshape(4, 6)).reshape(3, 2, 3),
            "output exchanged": lambda x, W: matmul(x.reshape(3, 4), W.transpose(0, 1, 3, 2).reshape(4, 6)).reshape(
                3, 2, 3
            ),
        },
    ),
    row(
        "Einsum",
        bilinear_einsum,
        lambda x, W: jnp.stack([matmul(x, W[:, :, i]) for i in range(2)], -1),
        (f32(3, 4), f32(4, 3, 2)),
        {
            "exchanged": lambda x, W: jnp.stack([matmul(x, W[:, :, i]) for i in (1, 0)], -1),
            "doubled": lambda x, W: 2 * einsum("ta,abc->tbc", x, W),
        },
    ),
    row(
        "Embed",
        lambda W: linen(lambda nn: nn.Embed(4, 3), {"embedding": W}, IDS),
        lambda W: matmul(np.eye(4, dtype=np.float32)[IDS], W),
        (f32(4, 3),),
        {"other rows": lambda W: W[np.sort(IDS)], "scaled": lambda W: W[IDS] * 3**0.5},
        gradient=True,
    ),
    row(
        "Conv, VALID",
        lambda x, W: conv(x, W, padding="VALID"),
        windows,
        (IMAGE, f32(3, 3, 2, 2)),
        {
            "convolution for correlation": lambda x, W: windows(x, W[::-1, ::-1]),
            "transposed": lambda x, W: windows(x, W.transpose(1, 0, 2, 3)),
        },
        gradient=True,
    ),
    row(
        "Conv, SAME",
        lambda x, W: conv(x, W),
        lambda x, W: windows(jnp.pad(x, ((1, 1), (1, 1), (0, 0))), W),
        (IMAGE, f32(3, 3, 2, 2)),
        {
            "edges repeated": lambda x, W: windows(jnp.pad(x, ((1, 1), (1, 1), (0, 0)), mode="edge"), W),
            "to one side": lambda x, W: windows(jnp.pad(x, ((2, 0), (2, 0), (0, 0))), W),
        },
    ),
    row(
        "Conv, strides",
        lambda x, W: conv(x, W, strides=2, padding="VALID"),
        lambda x, W: windows(x, W, 2),
        (IMAGE, f32(2, 2, 2, 2)),
        {
            "the other phase": lambda x, W: windows(jnp.roll(x, 1, 0), W, 2),
            "kernel reversed": lambda x, W: windows(x, W[::-1], 2),
        },
    ),
    row(
        "Conv, dilated",
        lambda x, W: conv(x, W, kernel_dilation=2, padding="VALID"),
        lambda x, W: windows(x, W, dilation=2),
        (IMAGE, f32(3, 3, 2, 2)),
        {
            "not dilated": lambda x, W: windows(x[1:5, 1:5], W),
            "kernel reversed": lambda x, W: windows(x, W[:, ::-1], dilation=2),
        },
    ),
    row(
        "Conv, depthwise",
        lambda x, W: conv(x, W, feature_group_count=2, padding="VALID"),
        depthwise,
        (IMAGE, f32(3, 3, 1, 2)),
        {
            "channels exchanged": lambda x, W: depthwise(x, W[..., ::-1]),
            "sum of channels": lambda x, W: windows(x, jnp.repeat(W, 2, 2)),
        },
    ),
    row(
        "Conv, circular",
        lambda x, W: conv(x, W, padding="CIRCULAR"),
        lambda x, W: windows(jnp.pad(x, ((1, 1), (1, 1), (0, 0)), mode="wrap"), W),
        (f32(4, 4, 2), f32(3, 3, 2, 2)),
        {
            "zeros": lambda x, W: conv(x, W),
            "reflected": lambda x, W: windows(jnp.pad(x, ((1, 1), (1, 1), (0, 0)), mode="reflect"), W),
        },
    ),
    row(
        "Conv, causal",
        lambda x, W: conv(x, W, padding="CAUSAL"),
        lambda x, W: sum(matmul(jnp.pad(x, ((2, 0), (0, 0)))[k : k + 5], W[k]) for k in range(3)),
        (f32(5, 2), f32(3, 2, 3)),
        {
            "the future": lambda x, W: sum(matmul(jnp.pad(x, ((0, 2), (0, 0)))[k : k + 5], W[k]) for k in range(3)),
            "reversed": lambda x, W: conv(x, W[::-1], padding="CAUSAL"),
        },
    ),
    row(
        "ConvTranspose",
        lambda x, W: conv_transpose(x, W, strides=(2,), padding="VALID"),
        lambda x, W: spread(x, W[::-1]),
        (f32(3, 2), f32(3, 2, 2)),
        {"not mirrored": spread, "shifted": lambda x, W: jnp.roll(spread(x, W[::-1]), 1, 0)},
    ),
    row(
        "avg_pool",
        lambda x: flax.avg_pool(x, (2, 2), (2, 2)),
        lambda x: pooled(x, jnp.mean),
        (IMAGE,),
        {"sum": lambda x: pooled(x, jnp.sum), "corner": lambda x: x[::2, ::2]},
        gradient=True,
    ),
    row(
        "avg_pool, SAME, counting what is inside",
        lambda x: flax.avg_pool(x, (3,), (1,), "SAME", False),
        lambda x: (
            (jnp.pad(x, ((1, 1), (0, 0)))[2:] + x + jnp.pad(x, ((1, 1), (0, 0)))[:-2])
            / jnp.array([2.0, 3.0, 3.0, 3.0, 2.0])[:, None]
        ),
        (f32(5, 2),),
        {
            "counting zeros": lambda x: flax.avg_pool(x, (3,), (1,), "SAME", True),
            "sum": lambda x: jnp.pad(x, ((1, 1), (0, 0)))[2:] + x + jnp.pad(x, ((1, 1), (0, 0)))[:-2],
        },
    ),
    row(
        "max_pool",
        lambda x: flax.max_pool(x, (2, 2), (2, 2)),
        lambda x: jnp.maximum(jnp.maximum(x[::2, ::2], x[::2, 1::2]), jnp.maximum(x[1::2, ::2], x[1::2, 1::2])),
        (IMAGE,),
        {
            "minimum": lambda x: pooled(x, jnp.min),
            "three of four": lambda x: jnp.maximum(jnp.maximum(x[::2, ::2], x[::2, 1::2]), x[1::2, ::2]),
        },
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "min_pool",
        lambda x: flax.pooling.min_pool(x, (2, 2), (2, 2)),
        lambda x: -flax.max_pool(-x, (2, 2), (2, 2)),
        (IMAGE,),
        {"maximum": lambda x: pooled(x, jnp.max), "sign": lambda x: flax.max_pool(-x, (2, 2), (2, 2))},
    ),
    row(
        "BatchNorm, inference",
        lambda x, g, b, m, r: batch_norm(x, g, b, m, r * r),
        lambda x, g, b, m, r: x * (g / jnp.sqrt(r * r + EPS)) + (b - m * g / jnp.sqrt(r * r + EPS)),
        (f32(3, 4), f32(4), f32(4), f32(4), f32(4)),
        {
            "no epsilon": lambda x, g, b, m, r: (x - m) / (jnp.abs(r) + EPS) * g + b,
            "mean not scaled": lambda x, g, b, m, r: x * (g / jnp.sqrt(r * r + EPS)) + (b - m),
        },
        gradient=True,
    ),
    row(
        "BatchNorm, training, with the running statistics",
        batch_norm_training,
        plain_training,
        (f32(5, 3), f32(3), f32(3)),
        {
            "torch's running variance": lambda x, g, b: plain_training(x, g, b, ddof=1),
            "momentum exchanged": lambda x, g, b: plain_training(x, g, b, 0.1),
        },
    ),
    row(
        "InstanceNorm",
        instance_norm,
        lambda x, g, b: (x - x.mean((0, 1))) / jnp.sqrt(((x - x.mean((0, 1))) ** 2).mean((0, 1)) + EPS) * g + b,
        (f32(3, 3, 2), f32(2), f32(2)),
        {
            "LayerNorm": lambda x, g, b: (x - x.mean()) / jnp.sqrt(x.var() + EPS) * g + b,
            "n − 1": lambda x, g, b: (x - x.mean((0, 1))) / jnp.sqrt(x.var((0, 1), ddof=1) + EPS) * g + b,
        },
    ),
    row(
        "PReLU",
        prelu,
        lambda x, a: jnp.where(x >= 0, x, a * x),
        (f32(5), f32()),
        {"maximum": lambda x, a: jnp.maximum(x, a * x), "other side": lambda x, a: jnp.where(x < 0, x, a * x)},
    ),
    row(
        "SimpleCell",
        simple_cell,
        simple_plain,
        (CELL, f32(3), f32(2)),
        {
            "sigmoid": lambda p, h, x: simple_plain(p, h, x, nn.sigmoid),
            "no state": lambda p, h, x: simple_plain(p, 0 * h, x),
        },
        gradient=True,
    ),
    row(
        "RNN of a SimpleCell",
        rnn,
        rnn_plain,
        (CELL, f32(4, 2)),
        {"starts at 1": lambda p, xs: rnn_plain(p, xs, 1.0), "reversed": lambda p, xs: rnn_plain(p, xs[::-1])[::-1]},
        single=True,
    ),
    row(
        "MGUCell",
        mgu,
        mgu_plain,
        (MGU, f32(3), f32(2)),
        {
            "gate exchanged": lambda p, h, x: mgu_plain(p, h, x, True),
            "no state": lambda p, h, x: mgu_plain(p, 0 * h, x),
        },
        gradient=True,
    ),
    row(
        "dot_product_attention_weights",
        flax.dot_product_attention_weights,
        attention_weights,
        QK,
        {"no scale": lambda q, k: attention_weights(q, k, 1.0), "exchanged": lambda q, k: attention_weights(k, q)},
    ),
    row(
        "make_causal_mask in attention",
        lambda q, k: flax.dot_product_attention_weights(q[None], k[None], mask=flax.make_causal_mask(np.ones((1, 4))))[
            0
        ].sum(-2),
        lambda q, k: (lambda e: (e / e.sum(-1, keepdims=True)).sum(-2))(
            jnp.exp(einsum("thd,shd->hts", q, k) / jnp.sqrt(3.0)) * np.tri(4, dtype=np.float32)
        ),
        QK,
        {
            "the future": lambda q, k: (lambda e: (e / e.sum(-1, keepdims=True)).sum(-2))(
                jnp.exp(einsum("thd,shd->hts", q, k) / jnp.sqrt(3.0)) * np.tri(4, dtype=np.float32).T
            ),
            "no mask": lambda q, k: attention_weights(q, k).sum(-2),
        },
    ),
    row(
        "a dense layer over time as a scan",
        lambda W, xs: lax.scan(lambda h, x: (jnp.tanh(matmul(W, h) + x), h), jnp.zeros(3), xs)[0],
        lambda W, xs: jnp.tanh(matmul(W, jnp.tanh(matmul(W, jnp.tanh(xs[0])) + xs[1])) + xs[2]),
        (f32(3, 3), f32(3, 3)),
        {
            "order": lambda W, xs: jnp.tanh(matmul(W, jnp.tanh(matmul(W, jnp.tanh(xs[2])) + xs[1])) + xs[0]),
            "transposed": lambda W, xs: jnp.tanh(matmul(W.T, jnp.tanh(matmul(W.T, jnp.tanh(xs[0])) + xs[1])) + xs[2]),
        },
    ),
)
