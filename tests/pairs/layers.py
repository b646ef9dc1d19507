"""Pairs of network layers: norms and their folding, activations, losses, convolutions, pooling, lookups."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .pair import EPS, Pair, einsum, f32, matmul, nudged

# ---------------------------------------------------------------- linear layers


def _lora_merged(x, W, A, B, scale=2.0):
    """x (W + 2 A B)."""
    return matmul(x, W + scale * matmul(A, B))


def _lora_beside(x, W, A, B):
    """x W + 2 (x A) B."""
    return matmul(x, W) + 2.0 * matmul(matmul(x, A), B)


def _two_linear(x, W, b, V, c):
    """(W x + b) V + c."""
    return matmul(matmul(x, W) + b, V) + c


def _two_linear_merged(x, W, b, V, c):
    """x (W V) + (b V + c)."""
    return matmul(x, matmul(W, V)) + (matmul(b, V) + c)


DROPOUT = np.array([1.0, 0.0, 1.0, 1.0])
"""A drawn dropout mask; kept with probability 3/4."""


def _dropout(x, W, mask=DROPOUT, keep=0.75):
    return matmul(x * jnp.asarray(mask, x.dtype)[None, :] / keep, W)


def _dropout_in_weight(x, W):
    return matmul(x, W * jnp.asarray(DROPOUT, x.dtype)[:, None]) / 0.75


LINEAR = (
    Pair(
        "lora-merge",
        _lora_merged,
        _lora_beside,
        (f32(3, 4), f32(4, 5), f32(4, 2), f32(2, 5)),
        {
            "scale missing": lambda x, W, A, B: _lora_merged(x, W, A, B, scale=1.0),
            "scale on the base": lambda x, W, A, B: 2.0 * matmul(x, W) + matmul(matmul(x, A), B),
            "rank order reversed": lambda x, W, A, B: _lora_merged(x, W, A, B[::-1]),
            "a weight nudged": lambda x, W, A, B: _lora_merged(x, nudged(W), A, B),
        },
    ),
    Pair(
        "two-linear-merge",
        _two_linear,
        _two_linear_merged,
        (f32(3), f32(3, 4), f32(4), f32(4, 5), f32(5)),
        {
            "inner bias not carried": lambda x, W, b, V, c: matmul(x, matmul(W, V)) + c,
            "inner bias scaled": lambda x, W, b, V, c: _two_linear_merged(x, W, 2.0 * b, V, c),
            "a weight nudged": lambda x, W, b, V, c: _two_linear_merged(x, W, b, nudged(V), c),
        },
    ),
    Pair(
        "residual-linear-merge",
        lambda x, W, b: x + (matmul(x, W) + b),
        lambda x, W, b: matmul(x, W + jnp.eye(4, dtype=x.dtype)) + b,
        (f32(4), f32(4, 4), f32(4)),
        {
            "transposed weight": lambda x, W, b: x + (matmul(W, x) + b),
            "skip missing": lambda x, W, b: matmul(x, W) + b,
            "bias doubled": lambda x, W, b: x + (matmul(x, W) + 2.0 * b),
        },
    ),
    Pair(
        "dropout-mask-in-weight",
        _dropout,
        _dropout_in_weight,
        (f32(3, 4), f32(4, 5)),
        {
            "keep rate missing": lambda x, W: _dropout(x, W, keep=1.0),
            "divided by the drop rate": lambda x, W: _dropout(x, W, keep=0.25),
            "complementary mask": lambda x, W: _dropout(x, W, mask=1.0 - DROPOUT),
            "mask reversed": lambda x, W: _dropout(x, W, mask=DROPOUT[::-1]),
        },
    ),
    Pair(
        "embedding-as-one-hot",
        lambda E: E[np.array([2, 0, 5, 2], np.int32)],
        lambda E: matmul(jax.nn.one_hot(np.array([2, 0, 5, 2], np.int32), 6, dtype=E.dtype), E),
        (f32(6, 3),),
        {
            "off by one": lambda E: E[np.array([3, 1, 4, 3], np.int32)],
            "order reversed": lambda E: E[np.array([2, 5, 0, 2], np.int32)],
            "a returned zero": lambda E: jnp.zeros((4, 3), E.dtype),
        },
    ),
    Pair(
        "bias-as-extra-feature",
        lambda x, W, b: matmul(x, W) + b[None, :],
        lambda x, W, b: matmul(jnp.concatenate([x, jnp.ones((3, 1), x.dtype)], 1), jnp.concatenate([W, b[None, :]], 0)),
        (f32(3, 4), f32(4, 5), f32(5)),
        {
            "feature of zeros": lambda x, W, b: matmul(
                jnp.concatenate([x, jnp.zeros((3, 1), x.dtype)], 1), jnp.concatenate([W, b[None, :]], 0)
            ),
            "feature on the wrong side": lambda x, W, b: matmul(
                jnp.concatenate([jnp.ones((3, 1), x.dtype), x], 1), jnp.concatenate([W, b[None, :]], 0)
            ),
            "bias scaled": lambda x, W, b: matmul(x, W) + 1.5 * b[None, :],
        },
    ),
)

# ---------------------------------------------------------------- norms


def _standardise(x, axis: int | tuple[int, ...] = -1, ddof=0):
    """(x − mean x) / √(var x + ε), the variance as the mean of centred squares."""
    variance = jnp.var(x, axis, keepdims=True, ddof=ddof)
    return (x - jnp.mean(x, axis, keepdims=True)) * lax.rsqrt(variance + EPS)


def _layer_norm(x, g, b, axis=-1, ddof=0):
    return _standardise(x, axis, ddof) * g[None, :] + b[None, :]


def _layer_norm_by_moments(x, g, b):
    """The variance as E[x²] − E[x]²."""
    mean = jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(x * x, -1, keepdims=True) - mean * mean
    return g[None, :] * (x - mean) / jnp.sqrt(variance + EPS) + b[None, :]


def _layer_norm_fast_variance(x, g, b, of_mean=lax.square, clip=jnp.maximum):
    """The variance as max(0, E[x²] − E[x]²), as flax writes it."""
    mean = jnp.mean(x, -1, keepdims=True)
    variance = clip(0.0, jnp.mean(lax.square(x), -1, keepdims=True) - of_mean(mean))
    return (x - mean) * (lax.rsqrt(variance + EPS) * g[None, :]) + b[None, :]


def _layer_norm_epsilon_outside(x, g, b):
    deviation = jnp.sqrt(jnp.var(x, -1, keepdims=True)) + EPS
    return g[None, :] * (x - jnp.mean(x, -1, keepdims=True)) / deviation + b[None, :]


def _norm_then_linear(x, g, b, W, c):
    return matmul(_layer_norm(x, g, b), W) + c[None, :]


def _norm_folded_into_linear(x, g, b, W, c):
    """standardise(x) (diag(g) W) + (b W + c)."""
    return matmul(_standardise(x), g[:, None] * W) + (matmul(b, W) + c)[None, :]


def _rms_norm(x, g, eps=EPS):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + eps) * g[None, :]


def _rms_norm_by_division(x, g, n=5, inside=EPS, outside=0.0):
    root = jnp.sqrt(jnp.sum(lax.square(x), -1, keepdims=True) / n + inside) + outside
    return g[None, :] * (x / root)


def _batch_norm(x, W, c, mean, deviation, g, b, eps=EPS):
    """Inference: the running variance is the square of `deviation`."""
    y = matmul(W, x) + c
    return g * (y - mean) / jnp.sqrt(deviation * deviation + eps) + b


def _batch_norm_folded(x, W, c, mean, deviation, g, b):
    scale = g * lax.rsqrt(lax.square(deviation) + EPS)
    return matmul(scale[:, None] * W, x) + (scale * (c - mean) + b)


def _weight_norm(x, V, g, axis=1):
    """Rows of V scaled to length g."""
    norm = jnp.sqrt(jnp.sum(V * V, axis, keepdims=True) + EPS)
    return matmul(g[:, None] * V / norm, x)


def _weight_norm_after(x, V, g):
    return g * matmul(V, x) * lax.rsqrt(jnp.sum(lax.square(V), 1) + EPS)


def _group_norm(x, groups=2):
    """Channels × length, standardised within groups of neighbouring channels."""
    return _standardise(x.reshape(groups, -1)).reshape(x.shape)


def _group_norm_by_slices(x):
    return jnp.concatenate([_standardise(x[:3], (0, 1)), _standardise(x[3:], (0, 1))])


def _group_norm_strided(x):
    return _standardise(x.reshape(3, 2, 5), (0, 2)).reshape(x.shape)


_LAYER_NORM_MISTAKES = {
    "n-1 for n": lambda x, g, b: _layer_norm(x, g, b, ddof=1),
    "epsilon outside the root": _layer_norm_epsilon_outside,
    "wrong axis": lambda x, g, b: _layer_norm(x, g, b, axis=0),
    "bias dropped": lambda x, g, b: _standardise(x) * g[None, :],
    "gain plus one": lambda x, g, b: _layer_norm(x, 1.0 + g, b),
}
_NORM = (f32(3, 5), f32(5), f32(5))

NORMS = (
    Pair("layer-norm-two-variances", _layer_norm, _layer_norm_by_moments, _NORM, _LAYER_NORM_MISTAKES),
    Pair(
        "layer-norm-fast-variance",
        _layer_norm,
        _layer_norm_fast_variance,
        _NORM,
        {
            "mean not squared": lambda x, g, b: _layer_norm_fast_variance(x, g, b, of_mean=jnp.abs),
            "mean square for variance": lambda x, g, b: _layer_norm_fast_variance(x, g, b, of_mean=jnp.zeros_like),
            "clipped from above": lambda x, g, b: _layer_norm_fast_variance(x, g, b, clip=jnp.minimum),
        },
    ),
    Pair(
        "layer-norm-fold",
        _norm_then_linear,
        _norm_folded_into_linear,
        (f32(3, 5), f32(5), f32(5), f32(5, 4), f32(4)),
        {
            "beta not folded": lambda x, g, b, W, c: _norm_folded_into_linear(x, g, jnp.zeros_like(b), W, c),
            "beta folded after the gain": lambda x, g, b, W, c: _norm_folded_into_linear(x, g, g * b, W, c),
            "gain folded twice": lambda x, g, b, W, c: _norm_folded_into_linear(x, g * g, b, W, c),
            "a weight nudged": lambda x, g, b, W, c: _norm_folded_into_linear(x, g, b, nudged(W), c),
        },
    ),
    Pair(
        "layer-norm-centring-as-projection",
        lambda x, W: matmul(x - jnp.mean(x, -1, keepdims=True), W),
        lambda x, W: matmul(x, W - jnp.mean(W, 0, keepdims=True)),
        (f32(3, 5), f32(5, 4)),
        {
            "rows centred": lambda x, W: matmul(x, W - jnp.mean(W, 1, keepdims=True)),
            "sum for mean": lambda x, W: matmul(x, W - jnp.sum(W, 0, keepdims=True)),
            "not centred": lambda x, W: matmul(x, W),
        },
    ),
    Pair(
        "rms-norm-fold",
        lambda x, g, W: matmul(_rms_norm(x, g), W),
        lambda x, g, W: matmul(_rms_norm(x, jnp.ones_like(g)), g[:, None] * W),
        (f32(3, 5), f32(5), f32(5, 4)),
        {
            "gain dropped": lambda x, g, W: matmul(_rms_norm(x, jnp.ones_like(g)), W),
            "gain plus one": lambda x, g, W: matmul(_rms_norm(x, 1.0 + g), W),
            "gain folded in reverse": lambda x, g, W: matmul(_rms_norm(x, g[::-1]), W),
        },
    ),
    Pair(
        "rms-norm-rsqrt-division",
        _rms_norm,
        _rms_norm_by_division,
        (f32(3, 5), f32(5)),
        {
            "sum for mean": lambda x, g: _rms_norm_by_division(x, g, n=1),
            "n-1 for n": lambda x, g: _rms_norm_by_division(x, g, n=4),
            "epsilon outside the root": lambda x, g: _rms_norm_by_division(x, g, inside=0.0, outside=EPS),
            "centred": lambda x, g: _rms_norm(x - jnp.mean(x, -1, keepdims=True), g),
            "epsilon halved": lambda x, g: _rms_norm(x, g, eps=EPS / 2),
        },
    ),
    Pair(
        "batch-norm-fold",
        _batch_norm,
        _batch_norm_folded,
        (f32(3), f32(4, 3), f32(4), f32(4), f32(4), f32(4), f32(4)),
        {
            "mean not subtracted": lambda x, W, c, m, s, g, b: _batch_norm_folded(x, W, c, jnp.zeros_like(m), s, g, b),
            "bias unscaled": lambda x, W, c, m, s, g, b: _batch_norm(x, W, 0.0 * c, m, s, g, b + c),
            "epsilon missing": lambda x, W, c, m, s, g, b: _batch_norm(x, W, c, m, s, g, b, eps=0.0),
            "variance for deviation": lambda x, W, c, m, s, g, b: g * (matmul(W, x) + c - m) / (s * s + EPS) + b,
            "a weight nudged": lambda x, W, c, m, s, g, b: _batch_norm(x, nudged(W), c, m, s, g, b),
        },
    ),
    Pair(
        "weight-norm",
        _weight_norm,
        _weight_norm_after,
        (f32(3), f32(4, 3), f32(4)),
        {
            "norm of the columns": lambda x, V, g: _weight_norm(x, V, g, axis=0),
            "squared norm": lambda x, V, g: g * matmul(V, x) / (jnp.sum(V * V, 1) + EPS),
            "gain dropped": lambda x, V, g: _weight_norm(x, V, jnp.ones_like(g)),
        },
    ),
    Pair(
        "group-norm-by-reshape",
        _group_norm,
        _group_norm_by_slices,
        (f32(6, 5),),
        {
            "three groups": lambda x: _group_norm(x, groups=3),
            "strided groups": _group_norm_strided,
            "instance norm": _standardise,
            "one group": lambda x: _group_norm(x, groups=1),
        },
    ),
)

# ---------------------------------------------------------------- activations


def _swiglu_fused(x, W, V):
    """silu of the first half of x W, times the second half, times V."""
    gate, value = jnp.split(matmul(x, W), 2, axis=-1)
    return matmul(jax.nn.silu(gate) * value, V)


def _swiglu_split(x, W, V):
    gate, value = matmul(x, W[:, :4]), matmul(x, W[:, 4:])
    return matmul(gate * jax.nn.sigmoid(gate) * value, V)


def _swiglu_interleaved(x, W, V):
    h = matmul(x, W)
    return matmul(jax.nn.silu(h[:, ::2]) * h[:, 1::2], V)


ROOT = math.sqrt(2 / math.pi)
"""The factor inside the tanh of gelu."""


def _gelu_tanh(x, cubic=0.044715, power=3, root=ROOT):
    return 0.5 * x * (1.0 + jnp.tanh(root * (x + cubic * x**power)))


def _quadratic_features(x, W, b):
    """(W x + b)² as a quadratic form, a linear form and a constant, row by row."""
    return einsum("i,fi,fj,j->f", x, W, W, x) + 2.0 * b * matmul(W, x) + b * b


ACTIVATIONS = (
    Pair(
        "swiglu-fused-split",
        _swiglu_fused,
        _swiglu_split,
        (f32(3, 5), f32(5, 8), f32(4, 2)),
        {
            "halves swapped": lambda x, W, V: _swiglu_fused(x, jnp.roll(W, 4, 1), V),
            "halves interleaved": _swiglu_interleaved,
            "sigmoid for silu": lambda x, W, V: matmul(jax.nn.sigmoid(matmul(x, W[:, :4])) * matmul(x, W[:, 4:]), V),
            "both gated": lambda x, W, V: matmul(
                jax.nn.silu(matmul(x, W[:, :4])) * jax.nn.silu(matmul(x, W[:, 4:])), V
            ),
        },
    ),
    Pair(
        "glu-by-hand",
        lambda x: jax.nn.glu(x, axis=-1),
        lambda x: x[:, :3] * jax.nn.sigmoid(x[:, 3:]),
        (f32(4, 6),),
        {
            "halves swapped": lambda x: x[:, 3:] * jax.nn.sigmoid(x[:, :3]),
            "tanh for sigmoid": lambda x: x[:, :3] * jnp.tanh(x[:, 3:]),
            "gate twice": lambda x: x[:, :3] * jax.nn.sigmoid(2.0 * x[:, 3:]),
        },
    ),
    Pair(
        "gelu-tanh-by-hand",
        lambda x: jax.nn.gelu(x, approximate=True),
        _gelu_tanh,
        (f32(7),),
        {
            "exact for tanh": lambda x: jax.nn.gelu(x, approximate=False),
            "square for cube": lambda x: _gelu_tanh(x, power=2),
            "digit lost": lambda x: _gelu_tanh(x, cubic=0.04471),
            "root missing": lambda x: _gelu_tanh(x, root=1.0),
        },
    ),
    Pair(
        "gelu-erf-by-hand",
        lambda x: jax.nn.gelu(x, approximate=False),
        lambda x: 0.5 * x * (1.0 + lax.erf(math.sqrt(0.5) * x)),
        (f32(7),),
        {
            "tanh for exact": lambda x: jax.nn.gelu(x, approximate=True),
            "root missing": lambda x: 0.5 * x * (1.0 + lax.erf(x)),
            "half missing": lambda x: x * (1.0 + lax.erf(math.sqrt(0.5) * x)),
        },
    ),
    Pair(
        "gelu-odd-part",
        lambda x: jax.nn.gelu(x) - jax.nn.gelu(-x),
        lambda x: x,
        (f32(7),),
        {
            "sum for difference": lambda x: jax.nn.gelu(x) + jax.nn.gelu(-x),
            "one side dropped": lambda x: jax.nn.gelu(x),
        },
    ),
    Pair(
        "silu-by-sigmoid",
        lambda x, W: matmul(W, jax.nn.silu(x)),
        lambda x, W: matmul(W * jax.nn.sigmoid(x)[None, :], x),
        (f32(5), f32(3, 5)),
        {
            "relu for silu": lambda x, W: matmul(W, jax.nn.relu(x)),
            "gate doubled": lambda x, W: matmul(W, x * jax.nn.sigmoid(2.0 * x)),
            "sigmoid alone": lambda x, W: matmul(W, jax.nn.sigmoid(x)),
        },
    ),
    Pair(
        "sigmoid-complement",
        lambda x: jax.nn.sigmoid(-x),
        lambda x: 1.0 - jax.nn.sigmoid(x),
        (f32(5),),
        {
            "sign lost": jax.nn.sigmoid,
            "odd": lambda x: -jax.nn.sigmoid(x),
            "two for one": lambda x: 2.0 - jax.nn.sigmoid(x),
        },
    ),
    Pair(
        "sigmoid-by-tanh",
        lambda x: jax.nn.sigmoid(2.0 * x),
        lambda x: 0.5 * (1.0 + jnp.tanh(x)),
        (f32(5),),
        {
            "argument not halved": lambda x: 0.5 * (1.0 + jnp.tanh(2.0 * x)),
            "not shifted": lambda x: 0.5 * jnp.tanh(x),
        },
    ),
    Pair(
        "relu-where",
        jax.nn.relu,
        lambda x: jnp.where(x > 0, x, jnp.zeros_like(x)),
        (f32(7),),
        {
            "absolute value": lambda x: jnp.where(x > 0, x, -x),
            "other side": lambda x: jnp.where(x < 0, x, jnp.zeros_like(x)),
            "cut at one": lambda x: jnp.where(x > 1.0, x, jnp.zeros_like(x)),
        },
    ),
    Pair(
        "relu-by-absolute-value",
        lambda x, W: matmul(W, jnp.maximum(x, 0.0)),
        lambda x, W: (matmul(W, x) + matmul(W, jnp.abs(x))) / 2.0,
        (f32(5), f32(3, 5)),
        {
            "half missing": lambda x, W: matmul(W, x + jnp.abs(x)),
            "minimum": lambda x, W: matmul(W, x - jnp.abs(x)) / 2.0,
            "absolute value alone": lambda x, W: matmul(W, jnp.abs(x)),
        },
    ),
    Pair(
        "relu-split",
        lambda x: jax.nn.relu(x) - jax.nn.relu(-x),
        lambda x: x,
        (f32(5),),
        {
            "sum": lambda x: jax.nn.relu(x) + jax.nn.relu(-x),
            "one side": jax.nn.relu,
        },
    ),
    Pair(
        "leaky-relu",
        lambda x: jax.nn.leaky_relu(x, 0.25),
        lambda x: jnp.maximum(x, 0.25 * x),
        (f32(7),),
        {
            "relu": jax.nn.relu,
            "slope halved": lambda x: jnp.maximum(x, 0.125 * x),
            "minimum": lambda x: jnp.minimum(x, 0.25 * x),
        },
    ),
    Pair(
        "leaky-relu-by-two-relus",
        lambda x: jax.nn.leaky_relu(x, 0.25),
        lambda x: jax.nn.relu(x) - 0.25 * jax.nn.relu(-x),
        (f32(7),),
        {
            "sign": lambda x: jax.nn.relu(x) + 0.25 * jax.nn.relu(-x),
            "slope for both sides": lambda x: 0.25 * (jax.nn.relu(x) - jax.nn.relu(-x)),
        },
    ),
    Pair(
        "hard-tanh-by-clip",
        lambda x: jnp.clip(x, -1.0, 1.0),
        lambda x: jnp.minimum(jnp.maximum(x, -1.0), 1.0),
        (f32(7),),
        {
            "one side": lambda x: jnp.maximum(x, -1.0),
            "wider": lambda x: jnp.clip(x, -2.0, 2.0),
            "relu6 fashion": lambda x: jnp.clip(x, 0.0, 1.0),
        },
    ),
    Pair(
        "hard-tanh-by-relu",
        lambda x: jax.nn.relu(x + 1.0) - jax.nn.relu(x - 1.0) - 1.0,
        lambda x: (jnp.abs(x + 1.0) - jnp.abs(x - 1.0)) / 2.0,
        (f32(7),),
        {
            "half missing": lambda x: jnp.abs(x + 1.0) - jnp.abs(x - 1.0),
            "not shifted": lambda x: jax.nn.relu(x + 1.0) - jax.nn.relu(x - 1.0),
            "sum": lambda x: (jnp.abs(x + 1.0) + jnp.abs(x - 1.0)) / 2.0,
        },
    ),
    Pair(
        "softplus-two-ways",
        lambda x: jnp.log(1.0 + jnp.exp(x)),
        lambda x: x + jnp.log(1.0 + jnp.exp(-x)),
        (f32(5),),
        {
            "sign of the exponent": lambda x: x + jnp.log(1.0 + jnp.exp(x)),
            "shift missing": lambda x: jnp.log(1.0 + jnp.exp(-x)),
            "two for one": lambda x: jnp.log(2.0 + jnp.exp(x)),
        },
    ),
    Pair(
        "squared-relu",
        lambda x: jax.nn.relu(x) ** 2,
        lambda x: x * jax.nn.relu(x),
        (f32(7),),
        {
            "square": lambda x: x * x,
            "signed square": lambda x: x * jnp.abs(x),
            "not squared": jax.nn.relu,
        },
    ),
    Pair(
        "quadratic-activation-expanded",
        lambda x, W, b: (matmul(W, x) + b) ** 2,
        _quadratic_features,
        (f32(3), f32(4, 3), f32(4)),
        {
            "factor two missing": lambda x, W, b: _quadratic_features(x, W, b) - b * matmul(W, x),
            "bias not squared": lambda x, W, b: _quadratic_features(x, W, b) + b - b * b,
            "a weight nudged": lambda x, W, b: _quadratic_features(x, nudged(W), b),
        },
    ),
    Pair(
        "cubic-activation-horner",
        lambda x, c: c[0] + c[1] * x + c[2] * x**2 + c[3] * x**3,
        lambda x, c: c[0] + x * (c[1] + x * (c[2] + x * c[3])),
        (f32(5), f32(4)),
        {
            "coefficients reversed": lambda x, c: c[3] + x * (c[2] + x * (c[1] + x * c[0])),
            "last coefficient dropped": lambda x, c: c[0] + x * (c[1] + x * c[2]),
            "square for cube": lambda x, c: c[0] + c[1] * x + c[2] * x**2 + c[3] * x**2,
        },
    ),
    Pair(
        "maxout-nested",
        lambda x, W, b: jnp.max(einsum("kfi,i->kf", W, x) + b, axis=0),
        lambda x, W, b: jnp.maximum(
            matmul(W[0], x) + b[0], jnp.maximum(matmul(W[1], x) + b[1], matmul(W[2], x) + b[2])
        ),
        (f32(4), f32(3, 5, 4), f32(3, 5)),
        {
            "one piece dropped": lambda x, W, b: jnp.maximum(matmul(W[0], x) + b[0], matmul(W[1], x) + b[1]),
            "one bias dropped": lambda x, W, b: jnp.max(einsum("kfi,i->kf", W, x) + b.at[2].set(0.0), axis=0),
            "mean for max": lambda x, W, b: jnp.mean(einsum("kfi,i->kf", W, x) + b, axis=0),
            "min for max": lambda x, W, b: jnp.min(einsum("kfi,i->kf", W, x) + b, axis=0),
        },
    ),
)

# ---------------------------------------------------------------- losses


def _cross_entropy(logits, labels=(2, 0, 4)):
    """mean over rows of −log softmax(logits)[label]."""
    one_hot = jax.nn.one_hot(np.array(labels, np.int32), 5, dtype=logits.dtype)
    return -jnp.mean(jnp.sum(one_hot * jax.nn.log_softmax(logits, axis=-1), -1))


def _cross_entropy_by_lookup(logits):
    chosen = jnp.stack([logits[0, 2], logits[1, 0], logits[2, 4]])
    return jnp.sum(jax.nn.logsumexp(logits, axis=-1) - chosen) / 3.0


def _shifted_logsumexp(x, c):
    return c + jnp.log(jnp.sum(jnp.exp(x - c), -1))


LOSSES = (
    Pair(
        "log-softmax-by-logsumexp",
        lambda x: jax.nn.log_softmax(x, axis=-1),
        lambda x: x - jax.nn.logsumexp(x, axis=-1, keepdims=True),
        (f32(3, 5),),
        {
            "wrong axis": lambda x: jax.nn.log_softmax(x, axis=0),
            "logarithm missing": lambda x: x - jnp.sum(jnp.exp(x), -1, keepdims=True),
            "max for logsumexp": lambda x: x - jnp.max(x, -1, keepdims=True),
        },
    ),
    Pair(
        "log-softmax-as-log-of-softmax",
        lambda x: jax.nn.log_softmax(x, axis=-1),
        lambda x: jnp.log(jax.nn.softmax(x, axis=-1)),
        (f32(3, 5),),
        {
            "temperature": lambda x: jnp.log(jax.nn.softmax(2.0 * x, axis=-1)),
            "wrong axis": lambda x: jnp.log(jax.nn.softmax(x, axis=0)),
            "logarithm missing": lambda x: jax.nn.softmax(x, axis=-1),
        },
    ),
    Pair(
        "softmax-without-shift",
        lambda x: jax.nn.softmax(x, axis=-1),
        lambda x: jnp.exp(x) / jnp.sum(jnp.exp(x), -1, keepdims=True),
        (f32(3, 5),),
        {
            "wrong axis": lambda x: jnp.exp(x) / jnp.sum(jnp.exp(x), 0, keepdims=True),
            "not normalised": jnp.exp,
            "one key left out": lambda x: jnp.exp(x) / jnp.sum(jnp.exp(x[:, :-1]), -1, keepdims=True),
        },
    ),
    Pair(
        "logsumexp-free-shift",
        lambda x, c: jax.nn.logsumexp(x, axis=-1),
        _shifted_logsumexp,
        (f32(5), f32()),
        {
            "shift not undone": lambda x, c: _shifted_logsumexp(x, c) - c,
            "shift undone twice": lambda x, c: _shifted_logsumexp(x, c) + c,
            "maximum": lambda x, c: jnp.max(x),
        },
    ),
    Pair(
        "cross-entropy-two-ways",
        _cross_entropy,
        _cross_entropy_by_lookup,
        (f32(3, 5),),
        {
            "labels off by one": lambda x: _cross_entropy(x, labels=(1, 4, 3)),
            "sum for mean": lambda x: 3.0 * _cross_entropy(x),
            "sign lost": lambda x: -_cross_entropy(x),
            "labels of other rows": lambda x: _cross_entropy(x, labels=(4, 0, 2)),
        },
    ),
    Pair(
        "binary-cross-entropy-by-softmax",
        lambda x: -jax.nn.log_softmax(jnp.stack([x, jnp.zeros_like(x)]), axis=0)[0],
        lambda x: jnp.log(1.0 + jnp.exp(-x)),
        (f32(5),),
        {
            "other class": lambda x: jnp.log(1.0 + jnp.exp(x)),
            "probability for loss": lambda x: 1.0 + jnp.exp(-x),
        },
    ),
)

# ---------------------------------------------------------------- convolutions and pooling


def _conv(x, w, stride=1, padding: str | list[tuple[int, int]] = "VALID", **options):
    """x (batch, channels in, *space), w (channels out, channels in, *space)."""
    rank = x.ndim - 2
    return lax.conv_general_dilated(x, w, (stride,) * rank, padding, precision="highest", **options)


def _conv1d_as_matmul(x, w, stride=1):
    """im2col: rows of windows times the kernel as a matrix."""
    steps = (x.shape[2] - w.shape[2]) // stride + 1
    windows = jnp.stack([x[:, :, stride * t : stride * t + w.shape[2]] for t in range(steps)])
    columns = windows.reshape(steps, x.shape[0], -1)
    return einsum("tnk,ok->not", columns, w.reshape(w.shape[0], -1))


def _conv2d_as_sum(x, w):
    """A matrix product for each position of the kernel."""
    height, width = x.shape[2] - w.shape[2] + 1, x.shape[3] - w.shape[3] + 1
    return sum(
        einsum("nihw,oi->nohw", x[:, :, p : p + height, q : q + width], w[:, :, p, q])
        for p in range(w.shape[2])
        for q in range(w.shape[3])
    )


def _depthwise(x, w):
    return _conv(x, w, feature_group_count=3)


def _depthwise_by_channel(x, w, order=(0, 1, 2)):
    return jnp.concatenate([_conv(x[:, c : c + 1], w[k : k + 1]) for c, k in enumerate(order)], axis=1)


def _transposed_conv(x, w):
    """Stride 2: lhs_dilation puts a zero between neighbours."""
    return _conv(x, w, padding=[(2, 2)], lhs_dilation=(2,))


def _zero_stuffed_conv(x, w, start=0):
    stuffed = jnp.zeros((2, 3, 7), x.dtype).at[:, :, start::2].set(x[:, :, : (8 - start) // 2])
    return _conv(jnp.pad(stuffed, ((0, 0), (0, 0), (2, 2))), w)


def _zero_stuffed_kernel(x, w):
    return _conv(x, jnp.zeros((4, 3, 5), w.dtype).at[:, :, ::2].set(w))


def _average_pool(x):
    return jnp.mean(x.reshape(2, 3, 3, 2), axis=-1)


def _average_pool_as_conv(x, weight=0.5):
    return _conv(x, jnp.full((3, 1, 2), weight, x.dtype), stride=2, feature_group_count=3)


def _max_pool(x):
    return jnp.max(x.reshape(3, 2, 2, 2, 2), axis=(2, 4))


def _max_pool_by_slices(x):
    rows = jnp.maximum(x[:, ::2], x[:, 1::2])
    return jnp.maximum(rows[:, :, ::2], rows[:, :, 1::2])


def _max_pool_window(x):
    return lax.reduce_window(x, -np.inf, lax.max, (1, 2, 2), (1, 2, 2), "VALID")


def _pointwise_merged(x, w, P):
    return _conv(x, einsum("po,oik->pik", P, w))


_MAX_POOL_MISTAKES = {
    "window along one axis": lambda x: jnp.maximum(x[:, ::2], x[:, 1::2])[:, :, ::2],
    "average": lambda x: jnp.mean(x.reshape(3, 2, 2, 2, 2), axis=(2, 4)),
    "neighbouring windows swapped": lambda x: _max_pool(x[:, ::-1]),
}

CONVOLUTIONS = (
    Pair(
        "conv1d-as-matmul",
        _conv,
        _conv1d_as_matmul,
        (f32(2, 3, 7), f32(4, 3, 2)),
        {
            "kernel flipped": lambda x, w: _conv(x, w[:, :, ::-1]),
            "one step late": lambda x, w: _conv(jnp.roll(x, 1, 2), w),
            "channels reversed": lambda x, w: _conv(x, w[:, ::-1]),
            "a weight nudged": lambda x, w: _conv(x, nudged(w)),
        },
    ),
    Pair(
        "strided-conv1d-as-matmul",
        lambda x, w: _conv(x, w, stride=2),
        lambda x, w: _conv1d_as_matmul(x, w, stride=2),
        (f32(2, 3, 8), f32(4, 3, 2)),
        {
            "one step late": lambda x, w: _conv(x, w)[:, :, np.array([1, 3, 5, 5], np.int32)],
            "stride ignored": lambda x, w: _conv(x, w)[:, :, :4],
            "kernel flipped": lambda x, w: _conv(x, w[:, :, ::-1], stride=2),
        },
    ),
    Pair(
        "conv2d-as-sum-of-matmuls",
        _conv,
        _conv2d_as_sum,
        (f32(2, 3, 5, 6), f32(4, 3, 2, 2)),
        {
            "kernel transposed": lambda x, w: _conv2d_as_sum(x, jnp.swapaxes(w, 2, 3)),
            "kernel rotated": lambda x, w: _conv2d_as_sum(x, w[:, :, ::-1, ::-1]),
            "one tap dropped": lambda x, w: _conv2d_as_sum(x, w.at[:, :, 1, 1].set(0.0)),
        },
    ),
    Pair(
        "causal-conv1d-by-padding",
        lambda x, w: _conv(x, w, padding=[(2, 0)]),
        lambda x, w: _conv(jnp.concatenate([jnp.zeros((2, 3, 2), x.dtype), x], 2), w),
        (f32(2, 3, 6), f32(4, 3, 3)),
        {
            "looks ahead": lambda x, w: _conv(x, w, padding=[(1, 1)]),
            "padded behind": lambda x, w: _conv(x, w, padding=[(0, 2)]),
        },
    ),
    Pair(
        "depthwise-conv-by-channel",
        _depthwise,
        _depthwise_by_channel,
        (f32(2, 3, 6), f32(3, 1, 2)),
        {
            "channels permuted": lambda x, w: _depthwise_by_channel(x, w, order=(1, 0, 2)),
            "kernel shared": lambda x, w: _depthwise_by_channel(x, w, order=(0, 0, 0)),
            "kernel flipped": lambda x, w: _depthwise(x, w[:, :, ::-1]),
        },
    ),
    Pair(
        "grouped-conv-by-halves",
        lambda x, w: _conv(x, w, feature_group_count=2),
        lambda x, w: jnp.concatenate([_conv(x[:, :2], w[:3]), _conv(x[:, 2:], w[3:])], 1),
        (f32(2, 4, 5), f32(6, 2, 3)),
        {
            "groups swapped": lambda x, w: jnp.concatenate([_conv(x[:, 2:], w[:3]), _conv(x[:, :2], w[3:])], 1),
            "groups interleaved": lambda x, w: jnp.concatenate([_conv(x[:, ::2], w[:3]), _conv(x[:, 1::2], w[3:])], 1),
        },
    ),
    Pair(
        "transposed-conv-as-zero-stuffed",
        _transposed_conv,
        _zero_stuffed_conv,
        (f32(2, 3, 4), f32(5, 3, 3)),
        {
            "zeros first": lambda x, w: _zero_stuffed_conv(x, w, start=1),
            "kernel flipped": lambda x, w: _zero_stuffed_conv(x, w[:, :, ::-1]),
            "repeated for stuffed": lambda x, w: _conv(jnp.repeat(x, 2, 2)[:, :, :7], w, padding=[(2, 2)]),
        },
    ),
    Pair(
        "dilated-conv-as-zero-stuffed-kernel",
        lambda x, w: _conv(x, w, rhs_dilation=(2,)),
        _zero_stuffed_kernel,
        (f32(2, 3, 7), f32(4, 3, 3)),
        {
            "not dilated": lambda x, w: _conv(x[:, :, :5], w),
            "kernel flipped": lambda x, w: _zero_stuffed_kernel(x, w[:, :, ::-1]),
        },
    ),
    Pair(
        "conv-with-pointwise-merged",
        lambda x, w, P: einsum("po,not->npt", P, _conv(x, w)),
        _pointwise_merged,
        (f32(2, 3, 5), f32(4, 3, 2), f32(6, 4)),
        {
            "mixing reversed": lambda x, w, P: _pointwise_merged(x, w, P[:, ::-1]),
            "a weight nudged": lambda x, w, P: _pointwise_merged(x, w, nudged(P)),
        },
    ),
    Pair(
        "average-pool-as-conv",
        _average_pool,
        _average_pool_as_conv,
        (f32(2, 3, 6),),
        {
            "sum for mean": lambda x: _average_pool_as_conv(x, weight=1.0),
            "one step late": lambda x: _average_pool(jnp.roll(x, 1, 2)),
            "only the first": lambda x: x[:, :, ::2],
        },
    ),
    Pair(
        "global-average-pool-as-matmul",
        lambda x: jnp.mean(x, axis=(2, 3)),
        lambda x: matmul(x.reshape(2, 3, 20), jnp.ones(20, x.dtype)) / 20.0,
        (f32(2, 3, 4, 5),),
        {
            "sum for mean": lambda x: jnp.sum(x, axis=(2, 3)),
            "n-1 for n": lambda x: jnp.sum(x, axis=(2, 3)) / 19.0,
            "one axis": lambda x: jnp.mean(x, axis=2)[:, :, 0],
        },
    ),
    Pair("max-pool-by-slices", _max_pool, _max_pool_by_slices, (f32(3, 4, 4),), _MAX_POOL_MISTAKES),
    Pair("max-pool-by-window", _max_pool, _max_pool_window, (f32(3, 4, 4),), _MAX_POOL_MISTAKES),
)

# ---------------------------------------------------------------- scans, orders and transforms


def _dft4(x):
    """cos and sin parts of the discrete Fourier transform of length 4, whose roots of unity are 1, −i, −1, i."""
    cos = jnp.array([[1, 1, 1, 1], [1, 0, -1, 0], [1, -1, 1, -1], [1, 0, -1, 0]], x.dtype)
    sin = jnp.array([[0, 0, 0, 0], [0, -1, 0, 1], [0, 0, 0, 0], [0, 1, 0, -1]], x.dtype)
    return matmul(cos, x), matmul(sin, x)


def _dft4_butterfly(x):
    even, odd = (x[0] + x[2], x[0] - x[2]), (x[1] + x[3], x[1] - x[3])
    zero = jnp.zeros_like(x[0])
    return (
        jnp.stack([even[0] + odd[0], even[1], even[0] - odd[0], even[1]]),
        jnp.stack([zero, -odd[1], zero, odd[1]]),
    )


def _circular_convolution(x, y):
    return jnp.stack([sum(x[k] * y[(t - k) % 4] for k in range(4)) for t in range(4)])


def _convolution_by_dft(x, y):
    """The inverse transform of the product of the transforms."""
    (a, b), (c, d) = _dft4(x), _dft4(y)
    real, imaginary = a * c - b * d, a * d + b * c
    return (_dft4(real)[0] + _dft4(imaginary)[1]) / 4.0


def _fourier_features(x, W):
    """cos and sin of frequencies W: the angles of the second half are the negatives of the first."""
    angles = matmul(W, x)
    return jnp.cos(jnp.concatenate([angles, -angles])), jnp.sin(jnp.concatenate([angles, -angles]))


def _fourier_features_by_parity(x, W):
    cos, sin = jnp.cos(matmul(W, x)), jnp.sin(matmul(W, x))
    return jnp.concatenate([cos, cos]), jnp.concatenate([sin, -sin])


ORDERS = (
    Pair(
        "cumsum-as-triangular-matmul",
        lambda x: jnp.cumsum(x, axis=0),
        lambda x: matmul(jnp.tril(jnp.ones((5, 5), x.dtype)), x),
        (f32(5, 3),),
        {
            "exclusive": lambda x: jnp.cumsum(x, axis=0) - x,
            "from the end": lambda x: jnp.cumsum(x[::-1], axis=0)[::-1],
            "wrong axis": lambda x: jnp.cumsum(x, axis=1),
        },
    ),
    Pair(
        "cumprod-unrolled",
        lambda x: jnp.cumprod(x),
        lambda x: jnp.stack([x[0], x[0] * x[1], x[0] * x[1] * x[2], (x[0] * x[1]) * (x[2] * x[3])]),
        (f32(4),),
        {
            "exclusive": lambda x: jnp.concatenate([jnp.ones(1, x.dtype), jnp.cumprod(x)[:-1]]),
            "cumsum": lambda x: jnp.cumsum(x),
        },
    ),
    Pair(
        "dft-as-butterfly",
        _dft4,
        _dft4_butterfly,
        (f32(4),),
        {
            "conjugate": lambda x: (_dft4(x)[0], -_dft4(x)[1]),
            "time reversed": lambda x: _dft4(x[::-1]),
            "outputs in bit order": lambda x: (_dft4(x)[0][np.array([0, 2, 1, 3], np.int32)], _dft4(x)[1]),
        },
    ),
    Pair(
        "circular-convolution-by-dft",
        _circular_convolution,
        _convolution_by_dft,
        (f32(4), f32(4)),
        {
            "correlation": lambda x, y: _circular_convolution(x, y[::-1]),
            "scale missing": lambda x, y: 4.0 * _convolution_by_dft(x, y),
            "not circular": lambda x, y: jnp.convolve(x, y, precision="highest")[:4],
        },
    ),
    Pair(
        "fourier-features-by-parity",
        _fourier_features,
        _fourier_features_by_parity,
        (f32(3), f32(4, 3)),
        {
            "sine even": lambda x, W: (_fourier_features(x, W)[0], jnp.abs(_fourier_features(x, W)[1])),
            "cosine odd": lambda x, W: (-_fourier_features(x, W)[0], _fourier_features(x, W)[1]),
            "a weight nudged": lambda x, W: _fourier_features(x, nudged(W)),
        },
    ),
    Pair(
        "top-k-sum-by-sort",
        lambda x: jnp.sum(lax.top_k(x, 2)[0], -1),
        lambda x: jnp.sum(jnp.sort(x, -1)[:, -2:], -1),
        (f32(3, 6),),
        {
            "smallest": lambda x: jnp.sum(jnp.sort(x, -1)[:, :2], -1),
            "three for two": lambda x: jnp.sum(lax.top_k(x, 3)[0], -1),
            "one place off": lambda x: jnp.sum(jnp.sort(x, -1)[:, -3:-1], -1),
        },
    ),
)

PAIRS: tuple[Pair, ...] = (*LINEAR, *NORMS, *ACTIVATIONS, *LOSSES, *CONVOLUTIONS, *ORDERS)
