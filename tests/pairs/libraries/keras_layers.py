"""keras and equinox: layers whose weights are arguments, pooling, normalisation, recurrent cells and attention."""

import os

os.environ.setdefault("KERAS_BACKEND", "jax")

import jax
import jax.numpy as jnp
from jax import nn

from uat_jax import positive

from ..pair import EPS, f32, matmul
from ..row import row
from .library import library

keras, eqx = library("keras"), library("equinox")


def with_weights(make, shape):
    """The function of the weights and an input that a layer computes."""

    def apply(x, *weights):
        layer = make()
        layer.build((None, *shape))
        outputs, _ = layer.stateless_call(list(weights), [v.value for v in layer.non_trainable_variables], x)
        return outputs

    return apply


def plain_gru(x, W, U, b, after=True, swapped=False):
    h = jnp.zeros((x.shape[0], 2))
    for t in range(x.shape[1]):
        (z, r, n) = jnp.split(matmul(x[:, t], W) + b[0], 3, -1)
        (uz, ur, un) = jnp.split(matmul(h, U) + b[1], 3, -1)
        z, r = nn.sigmoid(z + uz), nn.sigmoid(r + ur)
        n = jnp.tanh(n + r * un)
        h = (1 - z) * h + z * n if swapped else z * h + (1 - z) * n
    return h


def depthwise(x, K):
    return with_weights(lambda: keras.layers.DepthwiseConv1D(2, use_bias=False), (4, 2))(x, K)


def plain_depthwise(x, K):
    return x[:, :-1] * K[0, :, 0] + x[:, 1:] * K[1, :, 0]


def plain_group_norm(x, g, b, groups=2):
    y = x.reshape(2, 3, groups, -1)
    d = y - y.mean((1, 3), keepdims=True)
    return g * (d / jnp.sqrt((d * d).mean((1, 3), keepdims=True) + 1e-3)).reshape(x.shape) + b


def eqx_spectral(W, x):
    linear = eqx.nn.Linear(3, 2, use_bias=False, key=jax.random.key(0))
    return eqx.tree_at(lambda l: l.weight, linear, W)(x)


def eqx_batch(g, b, x):
    """Batch normalisation over a batch of three, training."""
    norm, state = eqx.nn.make_with_state(eqx.nn.BatchNorm)(4, "batch", eps=EPS, mode="batch")
    norm = eqx.tree_at(lambda n: (n.weight, n.bias), norm, (g, b))
    return jax.vmap(norm, axis_name="batch", in_axes=(0, None), out_axes=(0, None))(x, state)[0]


def plain_batch(g, b, x, ddof=0):
    d = x - x.mean(0)
    return g * d / jnp.sqrt((d * d).sum(0) / (3 - ddof) + EPS) + b


ROWS = (
    row(
        "GRU over two steps",
        with_weights(lambda: keras.layers.GRU(2), (2, 3)),
        plain_gru,
        (f32(1, 2, 3), f32(3, 6), f32(2, 6), f32(2, 6)),
        {"z and 1 − z exchanged": lambda *a: plain_gru(*a, swapped=True)},
        single=True,
    ),
    row(
        "DepthwiseConv1D",
        depthwise,
        plain_depthwise,
        (f32(1, 4, 2), f32(2, 2, 1)),
        {"flipped": lambda x, K: plain_depthwise(x, K[::-1])},
        gradient=True,
        single=True,
    ),
    row(
        "GroupNormalization",
        with_weights(lambda: keras.layers.GroupNormalization(2), (3, 4)),
        plain_group_norm,
        (f32(2, 3, 4), f32(4), f32(4)),
        {"one group": lambda *a: plain_group_norm(*a, groups=1)},
    ),
    row(
        "EinsumDense",
        with_weights(lambda: keras.layers.EinsumDense("abc,cd->abd", (None, 2), bias_axes="d"), (2, 3)),
        lambda x, W, b: matmul(x, W) + b,
        (f32(2, 2, 3), f32(3, 2), f32(2)),
        {"no bias": lambda x, W, b: matmul(x, W) + 0 * b},
        gradient=True,
    ),
    row(
        "MaxPooling1D and UpSampling1D",
        lambda x: keras.layers.UpSampling1D(2)(keras.layers.MaxPooling1D(2)(x)),
        lambda x: jnp.repeat((x[:, ::2] + x[:, 1::2] + jnp.abs(x[:, ::2] - x[:, 1::2])) / 2.0, 2, 1),
        (f32(1, 4, 2),),
        {"mean": lambda x: jnp.repeat((x[:, ::2] + x[:, 1::2]) / 2.0, 2, 1)},
    ),
    row(
        "PReLU and LeakyReLU",
        lambda x: keras.layers.LeakyReLU(negative_slope=0.25)(x),
        lambda x: 0.625 * x + 0.375 * jnp.abs(x),
        (f32(2, 3),),
        {"slope 1/2": lambda x: 0.75 * x + 0.25 * jnp.abs(x), "relu": nn.relu},
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "an equinox BatchNorm, training",
        eqx_batch,
        plain_batch,
        (f32(4), f32(4), f32(3, 4)),
        {"unbiased": lambda *a: plain_batch(*a, ddof=1)},
    ),
    row(
        "binary accuracy by thresholds",
        lambda y: keras.ops.mean(keras.metrics.binary_accuracy(jnp.float32([[1, 0, 1]]), y)),
        lambda y: (
            (
                jnp.where(y[0, 0] > 0.5, 1.0, 0.0)
                + jnp.where(y[0, 1] > 0.5, 0.0, 1.0)
                + jnp.where(y[0, 2] > 0.5, 1.0, 0.0)
            )
            / 3.0
        ),
        (f32(1, 3),),
        {"the first two": lambda y: (jnp.where(y[0, 0] > 0.5, 1.0, 0.0) + jnp.where(y[0, 1] > 0.5, 0.0, 1.0)) / 2.0},
    ),
    row(
        "relu6 and hard_silu",
        lambda x: keras.ops.hard_silu(x),
        lambda x: x * keras.ops.relu6(x + 3.0) / 6.0,
        (f32(4),),
        {"silu": nn.silu, "relu": nn.relu},
    ),
    row(
        "the root of a positive definite form",
        lambda x, s: keras.ops.sqrt(keras.ops.sum(x * x / s)),
        lambda x, s: jnp.linalg.norm(x / jnp.sqrt(s)),
        (f32(3), positive(f32(3))),
        {"sum of roots": lambda x, s: (jnp.abs(x) / jnp.sqrt(s)).sum()},
    ),
)
