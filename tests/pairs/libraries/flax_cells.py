"""flax: cells of recurrent networks, weights that are normalised, attention, and running statistics."""

import jax.numpy as jnp
from jax import nn

from uat_jax import positive

from ..pair import EPS, f32, matmul
from ..row import row
from .flax_nnx import applied
from .library import library

linen, nnx = library("flax.linen"), library("flax.nnx")

GATES = "ifgo"


def lstm(W, U, b, c, h, x):
    kernels = {f"i{k}": {"kernel": W[j]} for j, k in enumerate(GATES)}
    kernels |= {f"h{k}": {"kernel": U[j], "bias": b[j]} for j, k in enumerate(GATES)}
    (c, h), _ = linen.LSTMCell(2).apply({"params": kernels}, (c, h), x)
    return c, h


def plain_lstm(W, U, b, c, h, x, forget=0.0):
    i, f, g, o = (matmul(x, W[j]) + matmul(h, U[j]) + b[j] for j in range(4))
    c = nn.sigmoid(f + forget) * c + nn.sigmoid(i) * jnp.tanh(g)
    return c, nn.sigmoid(o) * jnp.tanh(c)


LSTM = (f32(4, 3, 2), f32(4, 2, 2), f32(4, 2), f32(2), f32(2), f32(3))


def gru(W, U, b, d, h, x):
    names = {"ir": 0, "iz": 1, "in": 2}
    params = {k: {"kernel": W[j], "bias": b[j]} for k, j in names.items()}
    params |= {k.replace("i", "h", 1): {"kernel": U[j]} for k, j in names.items()}
    params["hn"]["bias"] = d
    return linen.GRUCell(2).apply({"params": params}, h, x)[0]


def plain_gru(W, U, b, d, h, x, swapped=False):
    r, z = (nn.sigmoid(matmul(x, W[j]) + matmul(h, U[j]) + b[j]) for j in (0, 1))
    n = jnp.tanh(matmul(x, W[2]) + b[2] + r * (matmul(h, U[2]) + d))
    return z * n + (1.0 - z) * h if swapped else n + z * (h - n)


GRU = (f32(3, 3, 2), f32(3, 2, 2), f32(3, 2), f32(2), f32(2), f32(3))


def nnx_gru(W, U, b, h, x):
    make = lambda rngs: nnx.GRUCell(3, 2, rngs=rngs)
    parameters = {"dense_i.kernel": W, "dense_i.bias": b, "dense_h.kernel": U}
    return applied(make, parameters, h, x)[0]


def plain_nnx_gru(W, U, b, h, x, swapped=False):
    i, u = jnp.split(matmul(x, W) + b, 3), jnp.split(matmul(h, U), 3)
    r, z = nn.sigmoid(i[0] + u[0]), nn.sigmoid(i[1] + u[1])
    n = jnp.tanh(i[2] + r * u[2])
    return z * n + (1.0 - z) * h if swapped else (1.0 - z) * n + z * h


def group_norm(g, b, x):
    return linen.GroupNorm(2, epsilon=EPS, use_fast_variance=False).apply({"params": {"scale": g, "bias": b}}, x)


def plain_groups(g, b, x, groups=2):
    y = x.reshape(3, groups, -1)
    d = y - y.mean(-1, keepdims=True)
    y = d / jnp.sqrt((d * d).mean(-1, keepdims=True) + EPS)
    return g * y.reshape(x.shape) + b


def weight_norm(W, b, s, x):
    class Normalised(linen.Module):
        @linen.compact
        def __call__(self, x):
            return linen.WeightNorm(linen.Dense(2), name="n")(x)

    variables = {"params": {"Dense_0": {"kernel": W, "bias": b}, "n": {"Dense_0/kernel/scale": s}}}
    return Normalised().apply(variables, x)


def plain_weight_norm(W, b, s, x):
    return matmul(x, s * W / jnp.sqrt((W * W).sum(0) + 1e-12)) + b


def attention(Wq, Wk, Wv, Wo, x):
    params = {
        "query": {"kernel": Wq},
        "key": {"kernel": Wk},
        "value": {"kernel": Wv},
        "out": {"kernel": Wo},
    }
    module = linen.MultiHeadDotProductAttention(2, qkv_features=4, use_bias=False, deterministic=True)
    return module.apply({"params": params}, x)


def plain_attention(Wq, Wk, Wv, Wo, x, scale=2.0**-0.5):
    out = 0.0
    for h in range(2):
        q, k, v = (matmul(x, W[:, h]) for W in (Wq, Wk, Wv))
        e = jnp.exp(scale * matmul(q, k.T))
        out = out + matmul(matmul(e / e.sum(-1, keepdims=True), v), Wo[h])
    return out


HEADS = (*(f32(4, 2, 2),) * 3, f32(2, 2, 4), f32(3, 4))


def spectral(x):
    """Gated linear unit of a normalised array, as nnx modules do it."""
    return linen.glu(x / jnp.linalg.norm(x, axis=-1, keepdims=True))


def plain_spectral(x):
    n = jnp.sqrt((x * x).sum(-1, keepdims=True))
    a, b = x[..., :2] / n, x[..., 2:] / n
    return a / (1.0 + jnp.exp(-b))


def nnx_batch_norm(g, b, mean, var, x):
    make = lambda rngs: nnx.BatchNorm(4, use_running_average=True, epsilon=EPS, rngs=rngs)
    graph, state = nnx.split(nnx.eval_shape(lambda: make(nnx.Rngs(0))))
    values = {"scale": g, "bias": b, "mean": mean, "var": var}
    flat = {path: v.replace(values[".".join(map(str, path))]) for path, v in nnx.to_flat_state(state)}
    return nnx.merge(graph, nnx.from_flat_state(flat))(x)


ROWS = (
    row(
        "LSTMCell",
        lstm,
        plain_lstm,
        LSTM,
        {
            "forget bias 1": lambda *a: plain_lstm(*a, forget=1.0),
            "gates exchanged": lambda W, *a: plain_lstm(W[::-1], *a),
        },
        gradient=True,
    ),
    row(
        "GRUCell",
        gru,
        plain_gru,
        GRU,
        {
            "z and 1 − z exchanged": lambda *a: plain_gru(*a, swapped=True),
            "h forgotten": lambda W, U, b, d, h, x: plain_gru(W, U, b, d, 0 * h, x),
        },
        gradient=True,
    ),
    row(
        "nnx.GRUCell",
        nnx_gru,
        plain_nnx_gru,
        (f32(3, 6), f32(2, 6), f32(6), f32(2), f32(3)),
        {"z and 1 − z exchanged": lambda *a: plain_nnx_gru(*a, swapped=True)},
    ),
    row(
        "GroupNorm of two groups",
        group_norm,
        plain_groups,
        (f32(4), f32(4), f32(3, 4)),
        {"one group": lambda *a: plain_groups(*a, groups=1), "four groups": lambda *a: plain_groups(*a, groups=4)},
        gradient=True,
    ),
    row(
        "WeightNorm of a Dense",
        weight_norm,
        plain_weight_norm,
        (f32(3, 2), f32(2), f32(2), f32(3)),
        {"rows": lambda W, b, s, x: matmul(x, W * s / jnp.sqrt((W * W).sum())) + b},
    ),
    row(
        "MultiHeadDotProductAttention",
        attention,
        plain_attention,
        HEADS,
        {
            "scale 1/2": lambda *a: plain_attention(*a, scale=0.5),
            "values are keys": lambda q, k, v, o, x: plain_attention(q, k, k, o, x),
        },
        gradient=True,
    ),
    row(
        "glu of a normalised array",
        spectral,
        plain_spectral,
        (f32(2, 4),),
        {"halves exchanged": lambda x: plain_spectral(jnp.roll(x, 2, -1)), "not normalised": linen.glu},
        gradient=True,
    ),
    row(
        "nnx.BatchNorm at inference",
        nnx_batch_norm,
        lambda g, b, m, v, x: x * (g / jnp.sqrt(v + EPS)) + (b - m * g / jnp.sqrt(v + EPS)),
        (f32(4), f32(4), f32(4), positive(f32(4)), f32(3, 4)),
        {"no mean": lambda g, b, m, v, x: x * g / jnp.sqrt(v + EPS) + b},
        gradient=True,
    ),
    row(
        "silu, gelu and their forms",
        lambda x: (linen.silu(x), linen.gelu(x, approximate=True)),
        lambda x: (
            x * (1.0 + jnp.tanh(x / 2.0)) / 2.0,
            x * nn.sigmoid(2.0 * jnp.sqrt(2.0 / jnp.pi) * (x + 0.044715 * x**3)),
        ),
        (f32(4),),
        {"sigmoid of 1.702x": lambda x: (nn.silu(x), x * nn.sigmoid(1.702 * x))},
        gradient=True,
    ),
)
