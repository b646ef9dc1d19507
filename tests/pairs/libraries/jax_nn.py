"""jax.nn: activations, normalisations, attention and their formulas."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn

from uat_jax import interval, positive

from ..pair import einsum, f32, matmul
from ..row import row

X = (f32(5),)
LOGITS = (f32(3, 4),)
QKV = (f32(4, 2, 3), f32(4, 2, 3), f32(4, 2, 3))
"""Tokens, heads, features."""
SELU_ALPHA, SELU_SCALE = 1.6732632423543772848170429916717, 1.0507009873554804934193349852946


def softmax(x):
    return jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True)


def attention(q, k, v, scale=3**-0.5, keep=None):
    scores = einsum("thd,shd->hts", q, k) * scale
    weights = jnp.exp(scores) if keep is None else jnp.exp(scores) * keep[None]
    return einsum("hts,shd->thd", weights / weights.sum(-1, keepdims=True), v)


LOWER = np.tril(np.ones((4, 4), np.float32))
CLASSES = np.array([2, 0, 3], np.int32)

ACTIVATIONS = (
    row(
        "relu",
        nn.relu,
        lambda x: jnp.maximum(x, 0.0),
        X,
        {"the other half": lambda x: jnp.minimum(x, 0.0), "absolute value": jnp.abs},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "relu as half of x + |x|",
        nn.relu,
        lambda x: (x + jnp.abs(x)) / 2.0,
        X,
        {"not halved": lambda x: x + jnp.abs(x), "minus": lambda x: (x - jnp.abs(x)) / 2.0},
    ),
    row(
        "relu6",
        nn.relu6,
        lambda x: jnp.clip(x, 0.0, 6.0),
        X,
        {"no lower end": lambda x: jnp.minimum(x, 6.0), "one": lambda x: jnp.clip(x, 0.0, 1.0)},
    ),
    row(
        "relu6 as a difference of two relus",
        nn.relu6,
        lambda x: nn.relu(x) - nn.relu(x - 6.0),
        X,
        {"two": lambda x: nn.relu(x) - nn.relu(x - 2.0), "mirrored": lambda x: nn.relu(x) - nn.relu(6.0 - x)},
    ),
    row(
        "leaky_relu",
        nn.leaky_relu,
        lambda x: jnp.maximum(x, 0.01 * x),
        X,
        {"minimum": lambda x: jnp.minimum(x, 0.01 * x), "a tenth": lambda x: jnp.maximum(x, 0.1 * x)},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "elu",
        nn.elu,
        lambda x: jnp.where(x > 0, x, jnp.exp(x) - 1.0),
        X,
        {
            "not shifted": lambda x: jnp.where(x > 0, x, jnp.exp(x)),
            "twice": lambda x: jnp.where(x > 0, x, 2 * jnp.expm1(x)),
        },
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "elu by relus",
        nn.elu,
        lambda x: nn.relu(x) + jnp.expm1(jnp.minimum(x, 0.0)),
        X,
        {
            "no minimum": lambda x: nn.relu(x) + jnp.expm1(x),
            "sign": lambda x: nn.relu(x) - jnp.expm1(jnp.minimum(x, 0.0)),
        },
    ),
    row(
        "celu",
        lambda x: nn.celu(x, 2.0),
        lambda x: jnp.maximum(x, 0.0) + jnp.minimum(0.0, 2.0 * (jnp.exp(x / 2.0) - 1.0)),
        X,
        {
            "elu with the same alpha": lambda x: nn.elu(x, 2.0),
            "argument not scaled": lambda x: jnp.maximum(x, 0.0) + jnp.minimum(0.0, 2.0 * jnp.expm1(x)),
        },
    ),
    row(
        "selu",
        nn.selu,
        lambda x: SELU_SCALE * jnp.where(x > 0, x, SELU_ALPHA * (jnp.exp(x) - 1.0)),
        X,
        {
            "no scale": lambda x: jnp.where(x > 0, x, SELU_ALPHA * jnp.expm1(x)),
            "no alpha": lambda x: SELU_SCALE * jnp.where(x > 0, x, jnp.expm1(x)),
        },
    ),
    row(
        "softplus",
        nn.softplus,
        lambda x: jnp.log(1.0 + jnp.exp(x)),
        X,
        {"sign": lambda x: jnp.log(1.0 + jnp.exp(-x)), "two": lambda x: jnp.log(2.0 + jnp.exp(x))},
        gradient=True,
    ),
    row(
        "softplus, stable",
        nn.softplus,
        lambda x: jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-jnp.abs(x))),
        X,
        {
            "no absolute value": lambda x: jnp.maximum(x, 0.0) + jnp.log1p(jnp.exp(-x)),
            "x for its positive part": lambda x: x + jnp.log1p(jnp.exp(-jnp.abs(x))),
        },
    ),
    row(
        "sparse_plus",
        nn.sparse_plus,
        lambda x: jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 4.0)),
        X,
        {"halved": lambda x: jnp.where(x <= -1.0, 0.0, jnp.where(x >= 1.0, x, (x + 1.0) ** 2 / 2.0)), "relu": nn.relu},
    ),
    row(
        "sparse_sigmoid",
        nn.sparse_sigmoid,
        lambda x: jnp.clip((x + 1.0) / 2.0, 0.0, 1.0),
        X,
        {"not shifted": lambda x: jnp.clip(x / 2.0, 0.0, 1.0), "hard_sigmoid": nn.hard_sigmoid},
    ),
    row(
        "soft_sign",
        nn.soft_sign,
        lambda x: jnp.where(x >= 0, x / (1.0 + x), x / (1.0 - x)),
        X,
        {"no absolute value": lambda x: x / (1.0 + x * x), "tanh": jnp.tanh},
    ),
    row(
        "sigmoid",
        nn.sigmoid,
        lambda x: jnp.exp(x) / (1.0 + jnp.exp(x)),
        X,
        {"the other class": lambda x: 1.0 / (1.0 + jnp.exp(x)), "tanh": lambda x: (1.0 + jnp.tanh(x)) / 2.0},
        gradient=True,
    ),
    row(
        "log_sigmoid",
        nn.log_sigmoid,
        lambda x: -jnp.log(1.0 + jnp.exp(-x)),
        X,
        {"sign": lambda x: -jnp.log(1.0 + jnp.exp(x)), "softplus": nn.softplus},
        gradient=True,
    ),
    row(
        "log_sigmoid of the sigmoid",
        nn.log_sigmoid,
        lambda x: jnp.log(nn.sigmoid(x)),
        X,
        {"of tanh": lambda x: jnp.log(nn.sigmoid(2 * x)), "one minus": lambda x: jnp.log(1.0 - nn.sigmoid(x))},
    ),
    row(
        "silu",
        nn.silu,
        lambda x: x / (1.0 + jnp.exp(-x)),
        X,
        {"sign": lambda x: x / (1.0 + jnp.exp(x)), "gelu": nn.gelu},
        gradient=True,
    ),
    row(
        "mish",
        nn.mish,
        lambda x: x * jnp.tanh(jnp.log(1.0 + jnp.exp(x))),
        X,
        {"sigmoid for tanh": lambda x: x * nn.sigmoid(jnp.log1p(jnp.exp(x))), "softplus": nn.softplus},
    ),
    row(
        "mish without a logarithm",
        nn.mish,
        lambda x: x * ((1.0 + jnp.exp(x)) ** 2 - 1.0) / ((1.0 + jnp.exp(x)) ** 2 + 1.0),
        X,
        {"not squared": lambda x: x * jnp.exp(x) / (2.0 + jnp.exp(x)), "silu": nn.silu},
    ),
    row(
        "gelu, tanh",
        nn.gelu,
        lambda x: 0.5 * x * (1.0 + jnp.tanh(float(np.sqrt(2.0 / np.pi)) * (x + 0.044715 * x**3))),
        X,
        {
            "exact": lambda x: nn.gelu(x, approximate=False),
            "the cube's factor": lambda x: 0.5 * x * (1.0 + jnp.tanh(0.79788456 * (x + 0.0044715 * x**3))),
        },
        gradient=True,
    ),
    row(
        "gelu, exact",
        lambda x: nn.gelu(x, approximate=False),
        lambda x: 0.5 * x * (1.0 + jax.scipy.special.erf(x / jnp.sqrt(2.0))),
        X,
        {
            "no root": lambda x: 0.5 * x * (1.0 + jax.scipy.special.erf(x / 2.0)),
            "sigmoid": lambda x: x * nn.sigmoid(1.702 * x),
        },
    ),
    row(
        "gelu, exact, by the normal distribution",
        lambda x: nn.gelu(x, approximate=False),
        lambda x: x * jax.scipy.stats.norm.cdf(x),
        X,
        {
            "of 2x": lambda x: x * jax.scipy.stats.norm.cdf(2.0 * x),
            "survival": lambda x: x * jax.scipy.stats.norm.cdf(-x),
        },
    ),
    row(
        "hard_sigmoid",
        nn.hard_sigmoid,
        lambda x: jnp.clip(x / 6.0 + 0.5, 0.0, 1.0),
        X,
        {
            "keras' slope": lambda x: jnp.clip(0.2 * x + 0.5, 0.0, 1.0),
            "not shifted": lambda x: jnp.clip(x / 6.0, 0.0, 1.0),
        },
    ),
    row(
        "hard_silu",
        nn.hard_silu,
        lambda x: x * jnp.minimum(jnp.maximum(x + 3.0, 0.0), 6.0) / 6.0,
        X,
        {"not divided": lambda x: x * jnp.clip(x + 3.0, 0.0, 6.0), "hard_sigmoid": nn.hard_sigmoid},
    ),
    row(
        "hard_tanh",
        nn.hard_tanh,
        lambda x: jnp.clip(x, -1.0, 1.0),
        X,
        {"one side": lambda x: jnp.minimum(x, 1.0), "two": lambda x: jnp.clip(x, -2.0, 2.0)},
    ),
    row(
        "hard_tanh as a difference of two relus",
        nn.hard_tanh,
        lambda x: nn.relu(x + 1.0) - nn.relu(x - 1.0) - 1.0,
        X,
        {
            "not lowered": lambda x: nn.relu(x + 1.0) - nn.relu(x - 1.0),
            "sum": lambda x: nn.relu(x + 1.0) + nn.relu(x - 1.0) - 1.0,
        },
    ),
    row(
        "squareplus",
        nn.squareplus,
        lambda x: (x + jnp.sqrt(x**2 + 4.0)) / 2.0,
        X,
        {"b of 1": lambda x: (x + jnp.sqrt(x**2 + 1.0)) / 2.0, "not halved": lambda x: x + jnp.sqrt(x**2 + 4.0)},
        gradient=True,
    ),
    row(
        "squareplus times its mirror image is 1",
        lambda x: nn.squareplus(x) * nn.squareplus(-x),
        lambda x: jnp.ones_like(x),
        X,
        {"two": lambda x: 2.0 * jnp.ones_like(x), "sum": lambda x: nn.squareplus(x) + nn.squareplus(-x)},
    ),
    row(
        "glu",
        nn.glu,
        lambda x: x[:, :2] * (1.0 / (1.0 + jnp.exp(-x[:, 2:]))),
        LOGITS,
        {"halves exchanged": lambda x: x[:, 2:] * nn.sigmoid(x[:, :2]), "silu": lambda x: x[:, :2] * nn.silu(x[:, 2:])},
        gradient=True,
    ),
    row(
        "log1mexp",
        nn.log1mexp,
        lambda x: jnp.log(1.0 - jnp.exp(-x)),
        (interval(f32(5), 0.125, 4.0),),
        {"sign of the exponential": lambda x: jnp.log(1.0 + jnp.exp(-x)), "sign": lambda x: -jnp.log1p(-jnp.exp(-x))},
    ),
    row(
        "identity",
        nn.identity,
        lambda x: nn.relu(x) - nn.relu(-x),
        X,
        {"sum": lambda x: nn.relu(x) + nn.relu(-x), "relu": nn.relu},
    ),
)

NORMALISATIONS = (
    row(
        "softmax",
        nn.softmax,
        softmax,
        LOGITS,
        {"over the other axis": lambda x: softmax(x.T).T, "not normalised": jnp.exp},
        gradient=True,
    ),
    row(
        "log_softmax",
        nn.log_softmax,
        lambda x: x - jnp.log(jnp.exp(x).sum(-1, keepdims=True)),
        LOGITS,
        {"mean for sum": lambda x: x - jnp.log(jnp.exp(x).mean(-1, keepdims=True)), "softmax": softmax},
        gradient=True,
    ),
    row(
        "log_softmax of the softmax",
        nn.log_softmax,
        lambda x: jnp.log(softmax(x)),
        LOGITS,
        {"of exp": jnp.copy, "transposed": lambda x: jnp.log(softmax(x.T).T)},
    ),
    row(
        "softmax by log-sum-exp",
        nn.softmax,
        lambda x: jnp.exp(x - nn.logsumexp(x, -1, keepdims=True)),
        LOGITS,
        {
            "over all": lambda x: jnp.exp(x - nn.logsumexp(x)),
            "over the other axis": lambda x: jnp.exp(x - nn.logsumexp(x, 0, keepdims=True)),
        },
    ),
    row(
        "softmax with a mask",
        lambda x: nn.softmax(x, where=np.tri(3, 4, 1) > 0, axis=-1),
        lambda x: (
            jnp.exp(x)
            * np.tri(3, 4, 1, dtype=np.float32)
            / (jnp.exp(x) * np.tri(3, 4, 1, dtype=np.float32)).sum(-1, keepdims=True)
        ),
        LOGITS,
        {"mask off by one": lambda x: nn.softmax(x, where=np.tri(3, 4) > 0, axis=-1), "no mask": nn.softmax},
    ),
    row(
        "logsumexp",
        lambda x: nn.logsumexp(x, -1),
        lambda x: jnp.log(jnp.exp(x).sum(-1)),
        LOGITS,
        {"mean": lambda x: jnp.log(jnp.exp(x).mean(-1)), "maximum": lambda x: x.max(-1)},
        gradient=True,
    ),
    row(
        "logsumexp with weights",
        lambda x, b: nn.logsumexp(x, -1, b=b),
        lambda x, b: jnp.log((b * jnp.exp(x)).sum(-1)),
        (f32(3, 4), interval(f32(3, 4), 0.125, 4.0)),
        {
            "weights outside": lambda x, b: jnp.log((b + jnp.exp(x)).sum(-1)),
            "no weights": lambda x, b: nn.logsumexp(x, -1),
        },
    ),
    row(
        "logmeanexp",
        lambda x: nn.logmeanexp(x, -1),
        lambda x: jnp.log(jnp.mean(jnp.exp(x), -1)),
        LOGITS,
        {"sum": lambda x: nn.logsumexp(x, -1), "mean of x": lambda x: x.mean(-1)},
    ),
    row(
        "standardize",
        lambda x: nn.standardize(x, epsilon=2.0**-7),
        lambda x: (
            (x - x.mean(-1, keepdims=True))
            / jnp.sqrt(((x - x.mean(-1, keepdims=True)) ** 2).mean(-1, keepdims=True) + 2.0**-7)
        ),
        LOGITS,
        {
            "no epsilon": lambda x: (x - x.mean(-1, keepdims=True)) / x.std(-1, keepdims=True),
            "n − 1": lambda x: (x - x.mean(-1, keepdims=True)) / jnp.sqrt(x.var(-1, ddof=1, keepdims=True) + 2.0**-7),
        },
        gradient=True,
    ),
    row(
        "one_hot of constants picks a row",
        lambda W: matmul(nn.one_hot(CLASSES, 4, dtype=W.dtype), W),
        lambda W: W[CLASSES],
        (f32(4, 5),),
        {"rows moved": lambda W: W[np.roll(CLASSES, 1)], "rows sorted": lambda W: W[np.sort(CLASSES)]},
    ),
)

ATTENTION = (
    row(
        "dot_product_attention",
        nn.dot_product_attention,
        attention,
        QKV,
        {
            "no scale": lambda q, k, v: attention(q, k, v, 1.0),
            "keys and queries exchanged": lambda q, k, v: attention(k, q, v),
        },
        gradient=True,
    ),
    row(
        "dot_product_attention, causal",
        lambda q, k, v: nn.dot_product_attention(q, k, v, is_causal=True),
        lambda q, k, v: attention(q, k, v, keep=LOWER),
        QKV,
        {"the future": lambda q, k, v: attention(q, k, v, keep=LOWER.T), "no mask": attention},
    ),
    row(
        "dot_product_attention with a bias and a scale",
        lambda q, k, v, b: nn.dot_product_attention(q, k, v, bias=b, scale=0.25),
        lambda q, k, v, b: einsum("hts,shd->thd", softmax(einsum("thd,shd->hts", q, k) * 0.25 + b), v),
        (*QKV, f32(2, 4, 4)),
        {
            "the bias scaled as well": lambda q, k, v, b: einsum(
                "hts,shd->thd", softmax((einsum("thd,shd->hts", q, k) + b) * 0.25), v
            ),
            "no bias": lambda q, k, v, b: attention(q, k, v, 0.25),
        },
    ),
    row(
        "dot_product_attention, grouped queries",
        nn.dot_product_attention,
        lambda q, k, v: attention(q, jnp.repeat(k, 2, 1), jnp.repeat(v, 2, 1)),
        (f32(4, 4, 3), f32(4, 2, 3), f32(4, 2, 3)),
        {
            "tiled heads": lambda q, k, v: attention(q, jnp.tile(k, (1, 2, 1)), jnp.tile(v, (1, 2, 1))),
            "first head": lambda q, k, v: attention(q, jnp.repeat(k[:, :1], 4, 1), jnp.repeat(v, 2, 1)),
        },
    ),
    row(
        "dot_product_attention, a window",
        lambda q, k, v: nn.dot_product_attention(q, k, v, local_window_size=1),
        lambda q, k, v: attention(q, k, v, keep=np.triu(np.tri(4, 4, 1, np.float32), -1)),
        QKV,
        {
            "causal": lambda q, k, v: attention(q, k, v, keep=np.triu(LOWER, -1)),
            "a wider one": lambda q, k, v: attention(q, k, v, keep=np.triu(np.tri(4, 4, 2, np.float32), -2)),
        },
    ),
)

FURTHER = (
    row(
        "celu by a minimum",
        lambda x: nn.celu(x, 2.0),
        lambda x: jnp.maximum(x, 0.0) + jnp.minimum(0.0, 2.0 * (jnp.exp(x / 2.0) - 1.0)),
        X,
        {"elu": lambda x: nn.elu(x, 2.0)},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "silu by tanh",
        nn.silu,
        lambda x: x * (1.0 + jnp.tanh(x / 2.0)) / 2.0,
        X,
        {"not halved": lambda x: x * (1 + jnp.tanh(x)) / 2},
        gradient=True,
    ),
    row(
        "hard_tanh as nested choices",
        nn.hard_tanh,
        lambda x: jnp.where(x < -1.0, -1.0, jnp.where(x < 1.0, x, 1.0)),
        X,
        {"tanh": jnp.tanh},
    ),
    row(
        "relu6 as nested choices",
        nn.relu6,
        lambda x: jnp.where(x <= 0.0, 0.0, jnp.where(x >= 6.0, 6.0, x)),
        X,
        {"one side": lambda x: jnp.minimum(x, 6.0)},
    ),
    row(
        "sparse_plus, its gradient",
        jax.vmap(jax.grad(nn.sparse_plus)),
        nn.sparse_sigmoid,
        X,
        {"sigmoid": nn.sigmoid},
    ),
    row(
        "logsumexp of a shift",
        lambda x, c: nn.logsumexp(x + c, axis=-1),
        lambda x, c: jnp.log(jnp.exp(x).sum(-1)) + c,
        (f32(3, 4), f32()),
        {"not shifted": lambda x, c: jnp.log(jnp.exp(x).sum(-1)) - c},
    ),
    row(
        "softmax of two rows with a temperature",
        lambda x, t: nn.softmax(x / t, axis=-1),
        lambda x, t: jnp.exp(x / t - nn.logsumexp(x / t, axis=-1, keepdims=True)),
        (f32(3, 4), positive(f32())),
        {"no temperature": lambda x, t: nn.softmax(x, axis=-1)},
        gradient=True,
    ),
)

ROWS = (*ACTIVATIONS, *NORMALISATIONS, *ATTENTION, *FURTHER)
