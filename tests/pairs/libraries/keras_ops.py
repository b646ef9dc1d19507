"""keras with its JAX backend: activations, losses, layers and operations, against plain formulas."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax.numpy as jnp
import numpy as np
from jax import nn

from uat_jax import interval, positive

from ..pair import einsum, f32, matmul
from ..row import row
from .library import library

keras = library("keras")

X, LOGITS = (f32(5),), (f32(3, 4),)
PAIR = (f32(3, 4), f32(3, 4))
INSIDE = (interval(f32(3, 4), 0.125, 0.875), interval(f32(3, 4), 0.125, 0.875))
CLASSES = np.array([2, 0, 3], np.int32)
ONE_HOT = np.eye(4, dtype=np.float32)[CLASSES]


def layer(make, weights, *inputs, **options):
    """A layer called with these weights, and not with its own."""
    made = make(keras.layers)
    made.build(*[x.shape for x in inputs])
    return made.stateless_call(weights, [v.value for v in made.non_trainable_variables], *inputs, **options)[0]


def unit(x):
    """x of length 1; keras divides by 10⁻⁷ at least."""
    return x / jnp.maximum(norm(x), 1e-7)


def norm(x):
    return jnp.sqrt((x * x).sum(-1, keepdims=True))


def lstm(w, u, b, x, units=2, order="ifgo"):
    h = c = jnp.zeros((1, units))
    for t in range(x.shape[1]):
        gates = dict(zip(order, jnp.split(matmul(x[:, t], w) + matmul(h, u) + b, 4, axis=1), strict=True))
        c = nn.sigmoid(gates["f"]) * c + nn.sigmoid(gates["i"]) * jnp.tanh(gates["g"])
        h = nn.sigmoid(gates["o"]) * jnp.tanh(c)
    return h


def simple_rnn(w, u, b, x, squash=jnp.tanh):
    h = jnp.zeros((1, 2))
    for t in range(x.shape[1]):
        h = squash(matmul(x[:, t], w) + matmul(h, u) + b)
    return h


def softmax(x):
    return jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True)


def layer_norm(g, b, x, ddof=0):
    d = x - x.mean(-1, keepdims=True)
    return d / jnp.sqrt((d**2).sum(-1, keepdims=True) / (x.shape[-1] - ddof) + 1e-3) * g + b


def taps(w, x):
    n = x.shape[1] - len(w) + 1
    return sum(matmul(x[:, k : k + n], w[k]) for k in range(len(w)))


ACTIVATIONS = (
    row(
        "softsign",
        keras.activations.softsign,
        lambda x: x / (1.0 + jnp.abs(x)),
        X,
        {"square": lambda x: x / (1 + x * x), "tanh": jnp.tanh},
    ),
    row(
        "hard_sigmoid",
        keras.activations.hard_sigmoid,
        lambda x: jnp.clip(x / 6.0 + 0.5, 0.0, 1.0),
        X,
        {"the old slope": lambda x: jnp.clip(0.2 * x + 0.5, 0.0, 1.0), "sigmoid": nn.sigmoid},
    ),
    row(
        "exponential linear unit",
        lambda x: keras.activations.elu(x, 0.5),
        lambda x: jnp.maximum(x, 0.0) + 0.5 * jnp.minimum(jnp.exp(x) - 1.0, 0.0),
        X,
        {"alpha": lambda x: jnp.maximum(x, 0.0) + jnp.minimum(jnp.exp(x) - 1, 0.0), "celu": lambda x: nn.celu(x, 0.5)},
    ),
    row(
        "tanh_shrink",
        keras.activations.tanh_shrink,
        lambda x: x - (1.0 - jnp.exp(-2.0 * x)) / (1.0 + jnp.exp(-2.0 * x)),
        X,
        {"plus": lambda x: x + jnp.tanh(x), "sign": lambda x: jnp.tanh(x) - x},
        gradient=True,
    ),
    row(
        "soft_shrink",
        keras.activations.soft_shrink,
        lambda x: jnp.sign(x) * jnp.maximum(jnp.abs(x) - 0.5, 0.0),
        X,
        {
            "hard": lambda x: jnp.where(jnp.abs(x) > 0.5, x, 0.0),
            "one": lambda x: jnp.sign(x) * jnp.maximum(jnp.abs(x) - 1, 0.0),
        },
    ),
    row(
        "soft_shrink as a difference of relus",
        keras.activations.soft_shrink,
        lambda x: nn.relu(x - 0.5) - nn.relu(-x - 0.5),
        X,
        {"sum": lambda x: nn.relu(x - 0.5) + nn.relu(-x - 0.5), "not shrunk": lambda x: nn.relu(x) - nn.relu(-x)},
    ),
    row(
        "hard_shrink",
        keras.activations.hard_shrink,
        lambda x: jnp.where(x > 0.5, x, jnp.where(x < -0.5, x, 0.0)),
        X,
        {
            "soft": lambda x: jnp.sign(x) * jnp.maximum(jnp.abs(x) - 0.5, 0.0),
            "one side": lambda x: jnp.where(x > 0.5, x, 0.0),
        },
    ),
    row(
        "squareplus",
        keras.activations.squareplus,
        lambda x: (x + jnp.sqrt(x * x + 4.0)) / 2.0,
        X,
        {"b": lambda x: (x + jnp.sqrt(x * x + 1)) / 2, "minus": lambda x: (x - jnp.sqrt(x * x + 4)) / 2},
        gradient=True,
    ),
    row(
        "sparse_plus",
        keras.activations.sparse_plus,
        lambda x: jnp.clip(x + 1.0, 0.0, 2.0) ** 2 / 4.0 + nn.relu(x - 1.0),
        X,
        {
            "no linear part": lambda x: jnp.clip(x + 1.0, 0.0, 2.0) ** 2 / 4.0,
            "halved": lambda x: jnp.clip(x + 1.0, 0.0, 2.0) ** 2 / 2 + nn.relu(x - 1.0),
        },
    ),
    row(
        "threshold",
        lambda x: keras.activations.threshold(x, 0.5, -1.0),
        lambda x: jnp.where(x <= 0.5, -1.0, x),
        X,
        {"zero": lambda x: jnp.where(x <= 0.5, 0.0, x), "at 1": lambda x: jnp.where(x <= 1, -1.0, x)},
    ),
    row(
        "threshold, the other comparison",
        lambda x: keras.activations.threshold(x, 0.5, -1.0),
        lambda x: jnp.where(x > 0.5, x, -1.0),
        X,
        {"maximum": lambda x: jnp.maximum(x, -1.0), "mirrored": lambda x: jnp.where(x > 0.5, -1.0, x)},
    ),
    row(
        "log_sigmoid",
        keras.activations.log_sigmoid,
        lambda x: x - jnp.log(1.0 + jnp.exp(x)),
        X,
        {"softplus": nn.softplus, "sign": lambda x: x + jnp.log(1 + jnp.exp(x))},
        gradient=True,
    ),
    row(
        "softmax",
        keras.activations.softmax,
        softmax,
        LOGITS,
        {"over the other axis": lambda x: softmax(x.T).T, "not normalised": jnp.exp},
        gradient=True,
    ),
    row(
        "glu",
        keras.activations.glu,
        lambda x: x[:, :2] / (1.0 + jnp.exp(-x[:, 2:])),
        LOGITS,
        {"exchanged": lambda x: x[:, 2:] / (1 + jnp.exp(-x[:, :2])), "no gate": lambda x: x[:, :2] * x[:, 2:]},
    ),
)

LOSSES = (
    row(
        "mean_squared_error",
        keras.losses.mean_squared_error,
        lambda y, x: (x * x - 2.0 * x * y + y * y).sum(-1) / 4.0,
        PAIR,
        {"sum": lambda y, x: ((x - y) ** 2).sum(-1), "halved": lambda y, x: ((x - y) ** 2).mean(-1) / 2},
        gradient=True,
    ),
    row(
        "mean_absolute_error",
        keras.losses.mean_absolute_error,
        lambda y, x: (jnp.maximum(x, y) - jnp.minimum(x, y)).mean(-1),
        PAIR,
        {"squared": lambda y, x: ((x - y) ** 2).mean(-1), "sum": lambda y, x: jnp.abs(x - y).sum(-1)},
    ),
    row(
        "mean_squared_logarithmic_error",
        keras.losses.mean_squared_logarithmic_error,
        lambda y, x: (jnp.log((1.0 + x) / (1.0 + y)) ** 2).mean(-1),
        (interval(f32(3, 4), 0.125, 8.0), interval(f32(3, 4), 0.125, 8.0)),
        {
            "no one": lambda y, x: (jnp.log(x / y) ** 2).mean(-1),
            "absolute": lambda y, x: jnp.abs(jnp.log((1 + x) / (1 + y))).mean(-1),
        },
    ),
    row(
        "mean_absolute_percentage_error",
        keras.losses.mean_absolute_percentage_error,
        lambda y, x: 100.0 * (jnp.abs(y - x) / y).mean(-1),
        (interval(f32(3, 4), 0.125, 8.0), f32(3, 4)),
        {
            "a fraction": lambda y, x: (jnp.abs(y - x) / y).mean(-1),
            "of x": lambda y, x: 100 * (jnp.abs(y - x) / (jnp.abs(x) + 1)).mean(-1),
        },
    ),
    row(
        "log_cosh",
        keras.losses.log_cosh,
        lambda y, x: jnp.log((jnp.exp(x - y) + jnp.exp(y - x)) / 2.0).mean(-1),
        PAIR,
        {
            "not halved": lambda y, x: jnp.log(jnp.exp(x - y) + jnp.exp(y - x)).mean(-1),
            "sum": lambda y, x: jnp.log(jnp.cosh(x - y)).sum(-1),
        },
        gradient=True,
    ),
    row(
        "huber",
        keras.losses.huber,
        lambda y, x: jnp.where(jnp.abs(x - y) <= 1.0, (x - y) ** 2 / 2.0, jnp.abs(x - y) - 0.5).mean(-1),
        PAIR,
        {
            "not lowered": lambda y, x: jnp.where(jnp.abs(x - y) <= 1.0, (x - y) ** 2 / 2.0, jnp.abs(x - y)).mean(-1),
            "square": lambda y, x: ((x - y) ** 2 / 2).mean(-1),
        },
        gradient=True,
    ),
    row(
        "hinge",
        lambda x: keras.losses.hinge(2.0 * ONE_HOT - 1.0, x),
        lambda x: jnp.maximum(1.0 - (2.0 * ONE_HOT - 1.0) * x, 0.0).mean(-1),
        LOGITS,
        {
            "sign": lambda x: jnp.maximum(1.0 + (2.0 * ONE_HOT - 1.0) * x, 0.0).mean(-1),
            "sum": lambda x: jnp.maximum(1.0 - (2.0 * ONE_HOT - 1.0) * x, 0.0).sum(-1),
        },
    ),
    row(
        "categorical_crossentropy of logits",
        lambda x: keras.losses.categorical_crossentropy(ONE_HOT, x, from_logits=True),
        lambda x: jnp.log(jnp.exp(x).sum(-1)) - (x * ONE_HOT).sum(-1),
        LOGITS,
        {
            "sign": lambda x: (x * ONE_HOT).sum(-1) - jnp.log(jnp.exp(x).sum(-1)),
            "another class": lambda x: jnp.log(jnp.exp(x).sum(-1)) - (x * np.roll(ONE_HOT, 1, 1)).sum(-1),
        },
        gradient=True,
    ),
    row(
        "categorical_crossentropy with smoothed labels",
        lambda x: keras.losses.categorical_crossentropy(ONE_HOT, x, from_logits=True, label_smoothing=0.1),
        lambda x: -((0.9 * ONE_HOT + 0.025) * (x - jnp.log(jnp.exp(x).sum(-1, keepdims=True)))).sum(-1),
        LOGITS,
        {
            "not smoothed": lambda x: -(ONE_HOT * nn.log_softmax(x)).sum(-1),
            "a tenth": lambda x: -((0.9 * ONE_HOT + 0.1) * nn.log_softmax(x)).sum(-1),
        },
        single=True,
    ),
    row(
        "sparse_categorical_crossentropy",
        lambda x: keras.losses.sparse_categorical_crossentropy(CLASSES, x, from_logits=True),
        lambda x: -(nn.log_softmax(x) * ONE_HOT).sum(-1),
        LOGITS,
        {
            "sign": lambda x: (nn.log_softmax(x) * ONE_HOT).sum(-1),
            "no logarithm": lambda x: -(nn.softmax(x) * ONE_HOT).sum(-1),
        },
    ),
    row(
        "binary_crossentropy of logits",
        lambda y, x: keras.losses.binary_crossentropy(y, x, from_logits=True),
        lambda y, x: (jnp.log(1.0 + jnp.exp(x)) - x * y).mean(-1),
        PAIR,
        {
            "sum": lambda y, x: (jnp.log(1 + jnp.exp(x)) - x * y).sum(-1),
            "sign": lambda y, x: (jnp.log(1 + jnp.exp(x)) + x * y).mean(-1),
        },
        gradient=True,
    ),
    row(
        "binary_crossentropy of probabilities",
        keras.losses.binary_crossentropy,
        lambda y, p: -(y * jnp.log(p) + (1.0 - y) * jnp.log(1.0 - p)).mean(-1),
        INSIDE,
        {
            "one half": lambda y, p: -(y * jnp.log(p)).mean(-1),
            "exchanged": lambda y, p: -(p * jnp.log(y) + (1 - p) * jnp.log(1 - y)).mean(-1),
        },
    ),
    row(
        "binary_focal_crossentropy",
        lambda y, p: keras.losses.binary_focal_crossentropy(y, p),
        lambda y, p: (
            (1.0 - (y * p + (1.0 - y) * (1.0 - p))) ** 2 * -(y * jnp.log(p) + (1.0 - y) * jnp.log(1.0 - p))
        ).mean(-1),
        INSIDE,
        {
            "no focus": lambda y, p: -(y * jnp.log(p) + (1 - y) * jnp.log(1 - p)).mean(-1),
            "gamma": lambda y, p: (
                (1.0 - (y * p + (1.0 - y) * (1.0 - p))) * -(y * jnp.log(p) + (1.0 - y) * jnp.log(1.0 - p))
            ).mean(-1),
        },
    ),
    row(
        "kl_divergence",
        keras.losses.kl_divergence,
        lambda y, p: (y * (jnp.log(y) - jnp.log(p))).sum(-1),
        INSIDE,
        {"reversed": lambda y, p: (p * jnp.log(p / y)).sum(-1), "mean": lambda y, p: (y * jnp.log(y / p)).mean(-1)},
    ),
    row(
        "poisson",
        lambda y, p: keras.losses.poisson(y, p),
        lambda y, p: (p - y * jnp.log(p + 1e-7)).mean(-1),
        INSIDE,
        {
            "sign": lambda y, p: (p + y * jnp.log(p + 1e-7)).mean(-1),
            "sum": lambda y, p: (p - y * jnp.log(p + 1e-7)).sum(-1),
        },
    ),
    row(
        "cosine_similarity",
        keras.losses.cosine_similarity,
        lambda y, x: -(unit(x) * unit(y)).sum(-1),
        PAIR,
        {"sign": lambda y, x: (x * y / norm(x) / norm(y)).sum(-1), "one norm": lambda y, x: -(x * y / norm(x)).sum(-1)},
    ),
    row(
        "tversky of 1/2 is dice",
        lambda y, p: keras.losses.tversky(y, p, 0.5, 0.5),
        lambda y, p: (
            1.0 - (y * p).sum() / ((y * p).sum() + 0.5 * (p * (1.0 - y)).sum() + 0.5 * ((1.0 - p) * y).sum() + 1e-7)
        ),
        INSIDE,
        {
            "weights": lambda y, p: (
                1.0 - (y * p).sum() / ((y * p).sum() + 0.7 * (p * (1.0 - y)).sum() + 0.3 * ((1.0 - p) * y).sum() + 1e-7)
            ),
            "not subtracted": lambda y, p: (
                (y * p).sum() / ((y * p).sum() + 0.5 * (p * (1.0 - y)).sum() + 0.5 * ((1.0 - p) * y).sum() + 1e-7)
            ),
        },
        single=True,
    ),
)

LAYERS = (
    row(
        "Dense",
        lambda w, b, x: layer(lambda L: L.Dense(2), [w, b], x),
        lambda w, b, x: einsum("ti,io->to", x, w) + b,
        (f32(4, 2), f32(2), f32(3, 4)),
        {"no bias": lambda w, b, x: matmul(x, w) + 0 * b, "bias twice": lambda w, b, x: matmul(x, w) + 2 * b},
        gradient=True,
    ),
    row(
        "LayerNormalization",
        lambda g, b, x: layer(lambda L: L.LayerNormalization(epsilon=1e-3), [g, b], x),
        layer_norm,
        (f32(4), f32(4), f32(3, 4)),
        {"n − 1": lambda g, b, x: layer_norm(g, b, x, 1), "exchanged": lambda g, b, x: layer_norm(b, g, x)},
        gradient=True,
    ),
    row(
        "Conv1D",
        lambda w, x: layer(lambda L: L.Conv1D(3, 3, use_bias=False), [w], x),
        taps,
        (f32(3, 2, 3), f32(1, 5, 2)),
        {"mirrored": lambda w, x: taps(w[::-1], x), "reversed": lambda w, x: taps(w, x[:, ::-1])},
    ),
    row(
        "SimpleRNN",
        lambda w, u, b, x: layer(lambda L: L.SimpleRNN(2), [w, u, b], x),
        simple_rnn,
        (f32(3, 2), f32(2, 2), f32(2), f32(1, 3, 3)),
        {
            "relu": lambda *a: simple_rnn(*a, squash=nn.relu),
            "reversed": lambda w, u, b, x: simple_rnn(w, u, b, x[:, ::-1]),
        },
    ),
    row(
        "LSTM",
        lambda w, u, b, x: layer(lambda L: L.LSTM(2), [w, u, b], x),
        lstm,
        (f32(3, 8), f32(2, 8), f32(8), f32(1, 2, 3)),
        {"order of gates": lambda *a: lstm(*a, order="figo"), "reversed": lambda w, u, b, x: lstm(w, u, b, x[:, ::-1])},
    ),
    row(
        "GlobalAveragePooling1D",
        lambda x: keras.layers.GlobalAveragePooling1D()(x),
        lambda x: x.sum(1) / 4.0,
        (f32(2, 4, 3),),
        {"sum": lambda x: x.sum(1), "first": lambda x: x[:, 0]},
    ),
    row(
        "AveragePooling1D",
        lambda x: keras.layers.AveragePooling1D(2)(x),
        lambda x: (x[:, ::2] + x[:, 1::2]) / 2.0,
        (f32(2, 4, 3),),
        {"sum": lambda x: x[:, ::2] + x[:, 1::2], "first": lambda x: x[:, ::2]},
    ),
    row(
        "UnitNormalization",
        lambda x: keras.layers.UnitNormalization()(x),
        lambda x: x / jnp.sqrt(jnp.maximum((x * x).sum(-1, keepdims=True), 1e-24)),
        LOGITS,
        {
            "squared": lambda x: x / (x * x).sum(-1, keepdims=True),
            "absolute": lambda x: x / jnp.abs(x).sum(-1, keepdims=True),
        },
    ),
    row(
        "Normalization with given statistics",
        lambda x: keras.layers.Normalization(mean=1.0, variance=4.0)(x),
        lambda x: (x - 1.0) / 2.0,
        LOGITS,
        {"variance": lambda x: (x - 1) / 4, "sign": lambda x: (x + 1) / 2},
    ),
    row(
        "Attention",
        lambda q, v: keras.layers.Attention()([q, v]),
        lambda q, v: einsum("bts,bsd->btd", softmax(einsum("btd,bsd->bts", q, v)), v),
        (f32(1, 2, 3), f32(1, 4, 3)),
        {
            "scaled": lambda q, v: einsum("bts,bsd->btd", softmax(einsum("btd,bsd->bts", q, v) / jnp.sqrt(3.0)), v),
            "not normalised": lambda q, v: einsum("bts,bsd->btd", jnp.exp(einsum("btd,bsd->bts", q, v)), v),
        },
        gradient=True,
    ),
)

OPERATIONS = (
    row(
        "logsumexp",
        lambda x: keras.ops.logsumexp(x, -1),
        lambda x: jnp.log(jnp.exp(x).sum(-1)),
        LOGITS,
        {"mean": lambda x: jnp.log(jnp.exp(x).mean(-1)), "maximum": lambda x: x.max(-1)},
    ),
    row(
        "moments",
        lambda x: keras.ops.moments(x, [0]),
        lambda x: (x.sum(0) / 3.0, (x * x).mean(0) - x.mean(0) ** 2),
        LOGITS,
        {"n − 1": lambda x: (x.mean(0), x.var(0, ddof=1)), "not centred": lambda x: (x.mean(0), (x * x).mean(0))},
        gradient=True,
    ),
    row(
        "normalize",
        lambda x: keras.ops.normalize(x, 1),
        lambda x: x / jnp.sqrt(jnp.maximum((x**2).sum(1, keepdims=True), 1e-14)),
        LOGITS,
        {
            "squared": lambda x: x / (x**2).sum(1, keepdims=True),
            "other axis": lambda x: x / jnp.sqrt((x**2).sum(0, keepdims=True)),
        },
    ),
    row(
        "rsqrt",
        lambda x: keras.ops.rsqrt(x),
        lambda x: 1.0 / jnp.sqrt(x),
        (positive(f32(4)),),
        {"root": jnp.sqrt, "reciprocal": lambda x: 1 / x},
    ),
    row(
        "cross of vectors",
        lambda a, b: keras.ops.cross(a, b),
        lambda a, b: jnp.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]),
        (f32(3), f32(3)),
        {"sign": lambda a, b: jnp.cross(b, a), "product": lambda a, b: a * b},
    ),
    row(
        "logaddexp",
        lambda x, y: keras.ops.logaddexp(x, y),
        lambda x, y: jnp.log(jnp.exp(x) + jnp.exp(y)),
        (f32(4), f32(4)),
        {"maximum": jnp.maximum, "sum": lambda x, y: x + y},
        gradient=True,
    ),
)

FURTHER = (
    row(
        "squared_hinge",
        lambda y, x: keras.losses.squared_hinge(jnp.sign(y), x),
        lambda y, x: (jnp.maximum(1.0 - jnp.sign(y) * x, 0.0) ** 2).mean(-1),
        (positive(f32(3, 4)), f32(3, 4)),
        {"hinge": lambda y, x: jnp.maximum(1 - jnp.sign(y) * x, 0).mean(-1)},
    ),
    row(
        "categorical_hinge",
        lambda x: keras.losses.categorical_hinge(ONE_HOT, x),
        lambda x: jnp.maximum(1.0 + ((1.0 - ONE_HOT) * x).max(-1) - (ONE_HOT * x).sum(-1), 0.0),
        LOGITS,
        {"no margin": lambda x: jnp.maximum(((1 - ONE_HOT) * x).max(-1) - (ONE_HOT * x).sum(-1), 0)},
    ),
    row(
        "dice",
        lambda y, x: keras.losses.dice(y, x, axis=-1),
        lambda y, x: 1.0 - 2.0 * (y * x).sum(-1) / (y.sum(-1) + x.sum(-1) + 1e-7),
        INSIDE,
        {"not doubled": lambda y, x: 1 - (y * x).sum(-1) / (y.sum(-1) + x.sum(-1) + 1e-7)},
    ),
    row(
        "RMSNormalization",
        lambda x: x / keras.ops.sqrt(keras.ops.mean(keras.ops.square(x), axis=-1, keepdims=True) + 0.5),
        lambda x: x / jnp.sqrt((x * x).sum(-1, keepdims=True) / 4.0 + 0.5),
        LOGITS,
        {"sum": lambda x: x / jnp.sqrt((x * x).sum(-1, keepdims=True) + 0.5)},
        gradient=True,
    ),
    row(
        "hard_silu",
        keras.ops.hard_silu,
        lambda x: x * jnp.clip(x + 3.0, 0.0, 6.0) / 6.0,
        X,
        {"silu": nn.silu},
    ),
    row(
        "softplus as a sum",
        keras.ops.softplus,
        lambda x: nn.relu(x) + jnp.log(1.0 + jnp.exp(-jnp.abs(x))),
        X,
        {"relu": nn.relu},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "sparse_categorical_crossentropy of probabilities",
        lambda x: keras.losses.sparse_categorical_crossentropy(CLASSES, keras.ops.softmax(x)),
        lambda x: jnp.log(jnp.exp(x).sum(-1)) - jnp.take_along_axis(x, CLASSES[:, None], 1)[:, 0],
        (interval(f32(3, 4), -1.0, 1.0),),
        {"sign": lambda x: jnp.take_along_axis(x, CLASSES[:, None], 1)[:, 0] - jnp.log(jnp.exp(x).sum(-1))},
    ),
)

ROWS = (*ACTIVATIONS, *LOSSES, *LAYERS, *OPERATIONS, *FURTHER)
