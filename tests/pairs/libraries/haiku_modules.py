"""dm-haiku: modules with parameters given as arguments, against plain formulas."""

import jax.numpy as jnp
import numpy as np
from jax import nn

from ..pair import EPS, einsum, f32, matmul
from ..row import row
from .library import library

hk = library("haiku")


def applied(make, parameters, *inputs):
    """make(), a module or a function of modules, with parameters by their names."""
    return hk.without_apply_rng(hk.transform(lambda *inputs: make()(*inputs))).apply(parameters, *inputs)


def layer_norm(g, b, x):
    return applied(lambda: hk.LayerNorm(-1, True, True, eps=EPS), {"layer_norm": {"scale": g, "offset": b}}, x)


def plain_norm(g, b, x, axis=-1, ddof=0):
    d = x - x.mean(axis, keepdims=True)
    return d / jnp.sqrt((d**2).sum(axis, keepdims=True) / (x.shape[axis] - ddof) + EPS) * g + b


def vanilla(wi, bi, wh, bh, x, h):
    p = {"vanilla_rnn/linear": {"w": wi, "b": bi}, "vanilla_rnn/linear_1": {"w": wh, "b": bh}}
    return applied(lambda: hk.VanillaRNN(2, double_bias=True), p, x, h)[0]


def lstm(w, b, x, h, c):
    state = hk.LSTMState(h, c)
    y, new = applied(lambda: hk.LSTM(2), {"lstm/linear": {"w": w, "b": b}}, x, state)
    return y, new.cell


def lstm_plain(w, b, x, h, c, forget=1.0):
    """haiku adds 1 to the forget gate; the order is i g f o."""
    i, g, f, o = jnp.split(matmul(jnp.concatenate([x, h]), w) + b, 4)
    c = nn.sigmoid(f + forget) * c + nn.sigmoid(i) * jnp.tanh(g)
    return nn.sigmoid(o) * jnp.tanh(c), c


def gru(wi, wh, b, x, h):
    return applied(lambda: hk.GRU(2), {"gru": {"w_i": wi, "w_h": wh, "b": b}}, x, h)[0]


def gru_plain(wi, wh, b, x, h, after=False):
    """The reset gate before the matrix of the candidate."""
    zi, ri, ai = jnp.split(matmul(x, wi) + b, 3)
    zh, rh, ah = jnp.split(matmul(h, wh), 3)
    z, r = nn.sigmoid(zi + zh), nn.sigmoid(ri + rh)
    inner = r * ah if after else matmul(r * h, wh[:, 4:])
    return (1.0 - z) * h + z * jnp.tanh(ai + inner)


def attention(q, k, v, o, x):
    p = {
        f"multi_head_attention/{n}": {"w": w}
        for n, w in zip(("query", "key", "value", "linear"), (q, k, v, o), strict=True)
    }
    make = lambda: hk.MultiHeadAttention(2, 2, w_init=hk.initializers.Constant(0.0), with_bias=False, model_size=4)
    return applied(make, p, x, x, x)


def attention_plain(q, k, v, o, x, scale=2**-0.5, heads=2):
    n = len(x)
    split = lambda w: matmul(x, w).reshape(n, heads, -1)
    scores = einsum("thd,shd->hts", split(q), split(k)) * scale
    weights = jnp.exp(scores) / jnp.exp(scores).sum(-1, keepdims=True)
    return matmul(einsum("hts,shd->thd", weights, split(v)).reshape(n, -1), o)


def conv1d(w, x, **options):
    return applied(lambda: hk.Conv1D(w.shape[-1], w.shape[0], with_bias=False, **options), {"conv1_d": {"w": w}}, x)


def taps(w, x, before, after):
    padded = jnp.pad(x, ((before, after), (0, 0)))
    n = len(x) + before + after - len(w) + 1
    return sum(matmul(padded[k : k + n], w[k]) for k in range(len(w)))


def batch_norm(g, b, x):
    f = hk.without_apply_rng(hk.transform_with_state(lambda x: hk.BatchNorm(True, True, 0.9, EPS)(x, is_training=True)))
    zeros = jnp.zeros((1, 3))
    average = {"counter": np.zeros((), np.int32), "hidden": zeros, "average": zeros}
    state = {"batch_norm/~/mean_ema": average, "batch_norm/~/var_ema": average}
    return f.apply({"batch_norm": {"scale": g[None], "offset": b[None]}}, state, x)[0]


def ema(x, y):
    f = hk.without_apply_rng(hk.transform_with_state(lambda x: hk.ExponentialMovingAverage(0.75)(x)))
    state = {"exponential_moving_average": {"counter": np.zeros((), np.int32), "hidden": 0 * x, "average": 0 * x}}
    _, state = f.apply({}, state, x)
    return f.apply({}, state, y)[0]


MATRICES = (f32(4, 4), f32(4, 4), f32(4, 4), f32(4, 4), f32(3, 4))

ROWS = (
    row(
        "Linear",
        lambda w, b, x: applied(lambda: hk.Linear(2), {"linear": {"w": w, "b": b}}, x),
        lambda w, b, x: einsum("ti,io->to", x, w) + b,
        (f32(3, 2), f32(2), f32(4, 3)),
        {"no bias": lambda w, b, x: matmul(x, w) + 0 * b, "minus": lambda w, b, x: matmul(x, w) - b},
        gradient=True,
    ),
    row(
        "Bias",
        lambda b, x: applied(lambda: hk.Bias(), {"bias": {"b": b}}, x),
        lambda b, x: x + b,
        (f32(3), f32(4, 3)),
        {"minus": lambda b, x: x - b, "product": lambda b, x: x * b},
    ),
    row(
        "MLP",
        lambda w, b, v, c, x: applied(
            lambda: hk.nets.MLP([4, 2], activation=jnp.tanh),
            {"mlp/~/linear_0": {"w": w, "b": b}, "mlp/~/linear_1": {"w": v, "b": c}},
            x,
        ),
        lambda w, b, v, c, x: matmul(jnp.tanh(matmul(x, w) + b), v) + c,
        (f32(3, 4), f32(4), f32(4, 2), f32(2), f32(3)),
        {
            "relu": lambda w, b, v, c, x: matmul(nn.relu(matmul(x, w) + b), v) + c,
            "activated output": lambda w, b, v, c, x: jnp.tanh(matmul(jnp.tanh(matmul(x, w) + b), v) + c),
        },
        gradient=True,
    ),
    row(
        "LayerNorm",
        layer_norm,
        plain_norm,
        (f32(4), f32(4), f32(3, 4)),
        {"n − 1": lambda g, b, x: plain_norm(g, b, x, ddof=1), "exchanged": lambda g, b, x: plain_norm(b, g, x)},
        gradient=True,
    ),
    row(
        "RMSNorm",
        lambda g, x: applied(lambda: hk.RMSNorm(-1, EPS), {"rms_norm": {"scale": g}}, x),
        lambda g, x: x * g / jnp.sqrt((x**2).mean(-1, keepdims=True) + EPS),
        (f32(4), f32(3, 4)),
        {
            "sum": lambda g, x: x * g / jnp.sqrt((x**2).sum(-1, keepdims=True) + EPS),
            "1 + scale": lambda g, x: x * (1 + g) / jnp.sqrt((x**2).mean(-1, keepdims=True) + EPS),
        },
    ),
    row(
        "InstanceNorm",
        lambda g, b, x: applied(
            lambda: hk.InstanceNorm(True, True, EPS), {"instance_norm": {"scale": g, "offset": b}}, x[None]
        )[0],
        lambda g, b, x: plain_norm(g, b, x, 0),
        (f32(2), f32(2), f32(4, 2)),
        {"over features": lambda g, b, x: plain_norm(g, b, x), "n − 1": lambda g, b, x: plain_norm(g, b, x, 0, 1)},
    ),
    row(
        "BatchNorm, training",
        batch_norm,
        lambda g, b, x: (x - x.mean(0)) / jnp.sqrt((x**2).mean(0) - x.mean(0) ** 2 + EPS) * g + b,
        (f32(3), f32(3), f32(5, 3)),
        {
            "n − 1": lambda g, b, x: (x - x.mean(0)) / jnp.sqrt(x.var(0, ddof=1) + EPS) * g + b,
            "no epsilon": lambda g, b, x: (x - x.mean(0)) / jnp.sqrt(x.var(0)) * g + b,
        },
    ),
    row(
        "VanillaRNN",
        vanilla,
        lambda wi, bi, wh, bh, x, h: nn.relu(matmul(x, wi) + bi + matmul(h, wh) + bh),
        (f32(3, 2), f32(2), f32(2, 2), f32(2), f32(3), f32(2)),
        {
            "tanh": lambda wi, bi, wh, bh, x, h: jnp.tanh(matmul(x, wi) + bi + matmul(h, wh) + bh),
            "one bias": lambda wi, bi, wh, bh, x, h: nn.relu(matmul(x, wi) + bi + matmul(h, wh)) + 0 * bh,
        },
    ),
    row(
        "LSTM",
        lstm,
        lstm_plain,
        (f32(5, 8), f32(8), f32(3), f32(2), f32(2)),
        {
            "forget bias": lambda *a: lstm_plain(*a, forget=0.0),
            "no cell": lambda w, b, x, h, c: lstm_plain(w, b, x, h, 0 * c),
        },
        gradient=True,
    ),
    row(
        "GRU",
        gru,
        gru_plain,
        (f32(3, 6), f32(2, 6), f32(6), f32(3), f32(2)),
        {
            "reset after the matrix": lambda *a: gru_plain(*a, after=True),
            "no state": lambda wi, wh, b, x, h: gru_plain(wi, wh, b, x, 0 * h),
        },
        gradient=True,
    ),
    row(
        "MultiHeadAttention",
        attention,
        attention_plain,
        MATRICES,
        {
            "no scale": lambda *a: attention_plain(*a, scale=1.0),
            "one head": lambda *a: attention_plain(*a, heads=1),
            "query and key": lambda q, k, v, o, x: attention_plain(k, q, v, o, x),
        },
        gradient=True,
    ),
    row(
        "Conv1D, SAME",
        conv1d,
        lambda w, x: taps(w, x, 1, 1),
        (f32(3, 2, 3), f32(5, 2)),
        {"causal": lambda w, x: taps(w, x, 2, 0), "mirrored": lambda w, x: taps(w[::-1], x, 1, 1)},
        gradient=True,
    ),
    row(
        "Conv1D, causal",
        lambda w, x: conv1d(w, x, padding=hk.pad.causal),
        lambda w, x: taps(w, x, 2, 0),
        (f32(3, 2, 3), f32(5, 2)),
        {"SAME": lambda w, x: taps(w, x, 1, 1), "the future": lambda w, x: taps(w, x, 0, 2)},
    ),
    row(
        "Conv1D, VALID",
        lambda w, x: conv1d(w, x, padding="VALID"),
        lambda w, x: taps(w, x, 0, 0),
        (f32(3, 2, 3), f32(5, 2)),
        {"mirrored": lambda w, x: taps(w[::-1], x, 0, 0), "shifted": lambda w, x: jnp.roll(taps(w, x, 0, 0), 1, 0)},
    ),
    row(
        "Embed",
        lambda w: applied(lambda: hk.Embed(4, 3), {"embed": {"embeddings": w}}, np.array([3, 0, 2], np.int32)),
        lambda w: jnp.stack([w[3], w[0], w[2]]),
        (f32(4, 3),),
        {"order": lambda w: jnp.stack([w[0], w[2], w[3]]), "doubled": lambda w: 2 * jnp.stack([w[3], w[0], w[2]])},
    ),
    row(
        "avg_pool, VALID",
        lambda x: hk.avg_pool(x, (2, 1), (2, 1), "VALID"),
        lambda x: (x[::2] + x[1::2]) / 2.0,
        (f32(4, 2),),
        {"sum": lambda x: x[::2] + x[1::2], "first": lambda x: x[::2]},
    ),
    row(
        "max_pool, SAME",
        lambda x: hk.max_pool(x, (3, 1), (1, 1), "SAME"),
        lambda x: jnp.stack([x[:2].max(0), x[:3].max(0), x[1:4].max(0), x[2:].max(0)]),
        (f32(4, 2),),
        {
            "zeros": lambda x: jnp.maximum(hk.max_pool(x, (3, 1), (1, 1), "SAME"), 0.0),
            "of two": lambda x: hk.max_pool(x, (2, 1), (1, 1), "SAME"),
        },
    ),
    row(
        "ExponentialMovingAverage, two steps, debiased",
        ema,
        lambda x, y: (0.75 * x + y) / 1.75,
        (f32(3), f32(3)),
        {"not debiased": lambda x, y: 0.1875 * x + 0.25 * y, "exchanged": lambda x, y: (x + 0.75 * y) / 1.75},
    ),
    row(
        "one_hot",
        lambda w: matmul(hk.one_hot(np.array([1, 0]), 3), w),
        lambda w: jnp.stack([w[1], w[0]]),
        (f32(3, 2),),
        {"exchanged": lambda w: jnp.stack([w[0], w[1]]), "doubled": lambda w: 2 * jnp.stack([w[1], w[0]])},
    ),
    row(
        "Flatten and Reshape",
        lambda x: applied(lambda: hk.Sequential([hk.Flatten(1), hk.Reshape((3, 2))]), {}, x),
        lambda x: x.reshape(2, 3, 2),
        (f32(2, 2, 3),),
        {"transposed": lambda x: x.transpose(0, 2, 1), "reversed": lambda x: x.reshape(2, 3, 2)[::-1]},
    ),
    row(
        "dropout of rate 0",
        lambda x: x * hk.dropout(None, 0.0, jnp.ones_like(x)),
        lambda x: x + 0.0,
        (f32(4),),
        {"sign": lambda x: -x, "doubled": lambda x: 2 * x},
    ),
)
