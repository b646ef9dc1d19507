"""Pairs of derivatives: what JAX differentiates against the rule written by hand.

The gradient of L(f(x)) with respect to everything f takes is compared as a vector-Jacobian product: the
cotangent `g` of the output is an input of the pair.
"""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .pair import EPS, Pair, einsum, f32, matmul, nudged


def _pullback(f):
    """The function (g, *arguments) -> cotangents of all arguments of f."""
    return lambda g, *arguments: jax.vjp(f, *arguments)[1](g)


# ---------------------------------------------------------------- backward passes of layers


def _linear_backward(g, x, W, b):
    """y = x W + b: (g Wᵀ, xᵀ g, Σ g)."""
    return matmul(g, W.T), matmul(x.T, g), jnp.sum(g, 0)


def _tanh_network(x, W, b, V):
    return matmul(V, jnp.tanh(matmul(W, x) + b))


def _tanh_backward(g, x, W, b, V, slope=lambda s: 1.0 - s * s):
    s = jnp.tanh(matmul(W, x) + b)
    inner = matmul(V.T, g) * slope(s)
    return matmul(W.T, inner), jnp.outer(inner, x), inner, jnp.outer(g, s)


def _relu_network(x, W, b, V):
    return matmul(V, jax.nn.relu(matmul(W, x) + b))


def _relu_backward(g, x, W, b, V, passes=lambda h: h > 0):
    h = matmul(W, x) + b
    inner = jnp.where(passes(h), matmul(V.T, g), jnp.zeros_like(h))
    return matmul(W.T, inner), jnp.outer(inner, x), inner, jnp.outer(g, jnp.maximum(h, 0.0))


def _swiglu(x, W, V):
    return jax.nn.silu(matmul(W, x)) * matmul(V, x)


def _swiglu_backward(g, x, W, V, unit=1.0):
    """silu′(a) = σ(a) (1 + a (1 − σ(a)))."""
    a, c = matmul(W, x), matmul(V, x)
    p = jax.nn.sigmoid(a)
    gate, value = g * c * p * (unit + a * (1.0 - p)), g * a * p
    return matmul(W.T, gate) + matmul(V.T, value), jnp.outer(gate, x), jnp.outer(value, x)


def _layer_norm(x, gain, bias):
    centred = x - jnp.mean(x, -1, keepdims=True)
    variance = jnp.mean(centred * centred, -1, keepdims=True)
    return centred / jnp.sqrt(variance + EPS) * gain[None, :] + bias[None, :]


def _layer_norm_backward(g, x, gain, bias, mean_term=1.0, variance_term=1.0):
    """dx = (d − mean d − y mean(d y)) / √(var + ε) with y = x̂ and d = g · gain."""
    deviation = jnp.sqrt(jnp.var(x, -1, keepdims=True) + EPS)
    y = (x - jnp.mean(x, -1, keepdims=True)) / deviation
    d = g * gain[None, :]
    along = jnp.mean(d * y, -1, keepdims=True)
    dx = (d - mean_term * jnp.mean(d, -1, keepdims=True) - variance_term * y * along) / deviation
    return dx, jnp.sum(g * y, 0), jnp.sum(g, 0)


def _rms_norm(x, gain):
    return x * lax.rsqrt(jnp.mean(x * x, -1, keepdims=True) + EPS) * gain[None, :]


def _rms_norm_backward(g, x, gain, n=5):
    """dx = (d − y mean(d y)) r with r = 1/√(mean x² + ε), y = r x, d = g · gain."""
    r = 1.0 / jnp.sqrt(jnp.mean(x * x, -1, keepdims=True) + EPS)
    y, d = r * x, g * gain[None, :]
    return r * (d - y * jnp.sum(d * y, -1, keepdims=True) / n), jnp.sum(g * y, 0)


def _softmax_backward(g, x, centre=1.0):
    """dx = p (g − Σ p g)."""
    p = jnp.exp(x) / jnp.sum(jnp.exp(x), -1, keepdims=True)
    return (p * (g - centre * jnp.sum(p * g, -1, keepdims=True)),)


def _attention(q, k, v):
    return matmul(jax.nn.softmax(matmul(q, k.T) / 2.0, axis=-1), v)


def _attention_backward(g, q, k, v, scale=2.0):
    """dV = Aᵀ g, dS = A (dA − Σ A dA) with dA = g Vᵀ, dQ = dS K / 2, dK = dSᵀ Q / 2."""
    exponentials = jnp.exp(matmul(q, k.T) / 2.0)
    A = exponentials / jnp.sum(exponentials, -1, keepdims=True)
    dA = matmul(g, v.T)
    dS = A * (dA - jnp.sum(A * dA, -1, keepdims=True))
    return matmul(dS, k) / scale, matmul(dS.T, q) / scale, matmul(A.T, g)


def _conv(x, w):
    return lax.conv_general_dilated(x, w, (1,), "VALID", precision="highest")


def _conv_backward(g, x, w, flip=True):
    """dx: full convolution with the flipped kernel; dw: windows of x against g."""
    kernel = jnp.swapaxes(w[:, :, ::-1] if flip else w, 0, 1)
    dx = lax.conv_general_dilated(g, kernel, (1,), [(1, 1)], precision="highest")
    return dx, jnp.stack([einsum("not,nit->oi", g, x[:, :, p : p + 5]) for p in range(2)], -1)


_MLP = (f32(4), f32(3), f32(5, 3), f32(5), f32(4, 5))

LAYERS = (
    Pair(
        "linear-backward",
        _pullback(lambda x, W, b: matmul(x, W) + b[None, :]),
        _linear_backward,
        (f32(3, 5), f32(3, 4), f32(4, 5), f32(5)),
        {
            "bias gradient a mean": lambda g, x, W, b: (*_linear_backward(g, x, W, b)[:2], jnp.mean(g, 0)),
            "weight gradient halved": lambda g, x, W, b: (matmul(g, W.T), matmul(x.T, g) / 2.0, jnp.sum(g, 0)),
            "input gradient zero": lambda g, x, W, b: (jnp.zeros_like(x), *_linear_backward(g, x, W, b)[1:]),
        },
    ),
    Pair(
        "tanh-mlp-backward",
        _pullback(_tanh_network),
        _tanh_backward,
        _MLP,
        {
            "slope not squared": lambda *a: _tanh_backward(*a, slope=lambda s: 1.0 - s),
            "slope missing": lambda *a: _tanh_backward(*a, slope=jnp.ones_like),
            "slope of the sigmoid": lambda *a: _tanh_backward(*a, slope=lambda s: s * (1.0 - s)),
            "a weight nudged": lambda g, x, W, b, V: _tanh_backward(g, x, nudged(W), b, V),
        },
    ),
    Pair(
        "relu-mlp-backward",
        _pullback(_relu_network),
        _relu_backward,
        _MLP,
        {
            "mask missing": lambda *a: _relu_backward(*a, passes=lambda h: h == h),
            "mask of the other side": lambda *a: _relu_backward(*a, passes=lambda h: h < 0),
            "mask at one": lambda *a: _relu_backward(*a, passes=lambda h: h > 1.0),
        },
        "no argument of relu is 0",
    ),
    Pair(
        "swiglu-backward",
        _pullback(_swiglu),
        _swiglu_backward,
        (f32(4), f32(3), f32(4, 3), f32(4, 3)),
        {
            "product rule forgotten": lambda *a: _swiglu_backward(*a, unit=0.0),
            "weights exchanged": lambda g, x, W, V: _swiglu_backward(g, x, V, W),
        },
    ),
    Pair(
        "layer-norm-backward",
        _pullback(_layer_norm),
        _layer_norm_backward,
        (f32(3, 5), f32(3, 5), f32(5), f32(5)),
        {
            "mean held constant": lambda *a: _layer_norm_backward(*a, mean_term=0.0),
            "variance held constant": lambda *a: _layer_norm_backward(*a, variance_term=0.0),
            "factor two": lambda *a: _layer_norm_backward(*a, variance_term=2.0),
            "gain plus one": lambda g, x, gain, bias: _layer_norm_backward(g, x, 1.0 + gain, bias),
        },
    ),
    Pair(
        "rms-norm-backward",
        _pullback(_rms_norm),
        _rms_norm_backward,
        (f32(3, 5), f32(3, 5), f32(5)),
        {
            "sum for mean": lambda *a: _rms_norm_backward(*a, n=1),
            "n-1 for n": lambda *a: _rms_norm_backward(*a, n=4),
            "gain forgotten": lambda g, x, gain: _rms_norm_backward(g, x, jnp.ones_like(gain)),
        },
    ),
    Pair(
        "softmax-backward",
        _pullback(lambda x: jax.nn.softmax(x, axis=-1)),
        _softmax_backward,
        (f32(3, 5), f32(3, 5)),
        {
            "not centred": lambda *a: _softmax_backward(*a, centre=0.0),
            "centred twice": lambda *a: _softmax_backward(*a, centre=2.0),
        },
    ),
    Pair(
        "attention-backward",
        _pullback(_attention),
        _attention_backward,
        (f32(3, 2), f32(3, 4), f32(5, 4), f32(5, 2)),
        {
            "scale missing": lambda *a: _attention_backward(*a, scale=1.0),
            "scale twice": lambda *a: _attention_backward(*a, scale=4.0),
            "values nudged": lambda g, q, k, v: _attention_backward(g, q, k, nudged(v)),
        },
    ),
    Pair(
        "conv1d-backward",
        _pullback(_conv),
        _conv_backward,
        (f32(2, 4, 5), f32(2, 3, 6), f32(4, 3, 2)),
        {
            "kernel not flipped": lambda *a: _conv_backward(*a, flip=False),
            "weight gradient flipped": lambda *a: (_conv_backward(*a)[0], _conv_backward(*a)[1][..., ::-1]),
        },
    ),
    Pair(
        "embedding-backward",
        _pullback(lambda E: E[np.array([2, 0, 2], np.int32)]),
        lambda g, E: (jnp.stack([g[1], jnp.zeros_like(g[0]), g[0] + g[2], jnp.zeros_like(g[0])]),),
        (f32(3, 5), f32(4, 5)),
        {
            "repeated token counted once": lambda g, E: (
                jnp.stack([g[1], jnp.zeros_like(g[0]), g[2], jnp.zeros_like(g[0])]),
            ),
            "a returned zero": lambda g, E: (jnp.zeros_like(E),),
        },
    ),
)

# ---------------------------------------------------------------- losses


def _cross_entropy(logits):
    """Labels 2, 0, 4; the mean over the rows."""
    logs = jax.nn.log_softmax(logits, axis=-1)
    return -jnp.mean(jnp.stack([logs[0, 2], logs[1, 0], logs[2, 4]]))


def _cross_entropy_gradient(logits, labels=(2, 0, 4), rows=3):
    """(p − one-hot) / rows."""
    return (jax.nn.softmax(logits, axis=-1) - jax.nn.one_hot(np.array(labels, np.int32), 5, dtype=logits.dtype)) / rows


def _binary_cross_entropy(x, target):
    """−target log p − (1 − target) log(1 − p), p = σ(x), summed."""
    return jnp.sum(target * jnp.log(1.0 + jnp.exp(-x)) + (1.0 - target) * jnp.log(1.0 + jnp.exp(x)))


def _squared_error(W, x, y):
    return jnp.mean((matmul(x, W) - y) ** 2)


def _squared_error_gradient(W, x, y, factor=2.0):
    return factor * matmul(x.T, matmul(x, W) - y) / y.size


LOSSES = (
    Pair(
        "cross-entropy-gradient",
        jax.grad(_cross_entropy),
        _cross_entropy_gradient,
        (f32(3, 5),),
        {
            "mean forgotten": lambda x: _cross_entropy_gradient(x, rows=1),
            "labels off by one": lambda x: _cross_entropy_gradient(x, labels=(3, 1, 0)),
            "sign": lambda x: -_cross_entropy_gradient(x),
            "labels forgotten": lambda x: jax.nn.softmax(x, axis=-1) / 3.0,
        },
    ),
    Pair(
        "binary-cross-entropy-gradient",
        jax.grad(_binary_cross_entropy),
        lambda x, target: jax.nn.sigmoid(x) - target,
        (f32(5), f32(5)),
        {
            "sign": lambda x, target: target - jax.nn.sigmoid(x),
            "slope counted twice": lambda x, target: (jax.nn.sigmoid(x) - target) * jax.nn.sigmoid(-x),
            "target complemented": lambda x, target: jax.nn.sigmoid(x) - (1.0 - target),
        },
    ),
    Pair(
        "squared-error-gradient",
        jax.grad(_squared_error),
        _squared_error_gradient,
        (f32(4, 2), f32(3, 4), f32(3, 2)),
        {
            "factor two missing": lambda W, x, y: _squared_error_gradient(W, x, y, factor=1.0),
            "sign": lambda W, x, y: _squared_error_gradient(W, x, y, factor=-2.0),
            "mean over the rows alone": lambda W, x, y: _squared_error_gradient(W, x, y, factor=4.0),
        },
    ),
    Pair(
        "logsumexp-gradient-is-softmax",
        jax.grad(jax.nn.logsumexp),
        lambda x: jnp.exp(x) / jnp.sum(jnp.exp(x)),
        (f32(5),),
        {
            "not normalised": jnp.exp,
            "softmax of the negative": lambda x: jax.nn.softmax(-x),
        },
    ),
    Pair(
        "quadratic-form-gradient",
        jax.grad(lambda x, A: einsum("i,ij,j->", x, A, x)),
        lambda x, A: matmul(A + A.T, x),
        (f32(4), f32(4, 4)),
        {
            "as if symmetric": lambda x, A: 2.0 * matmul(A, x),
            "half": lambda x, A: matmul(A, x),
            "difference": lambda x, A: matmul(A - A.T, x),
        },
    ),
)

# ---------------------------------------------------------------- modes, orders and rules of differentiation


def _network(x, W, V):
    return jnp.sum(jnp.tanh(matmul(V, jnp.tanh(matmul(W, x)))))


def _hessian_forward_reverse(x, W, V, t):
    return jax.jvp(jax.grad(lambda y: _network(y, W, V)), (x,), (t,))[1]


def _hessian_reverse_reverse(x, W, V, t):
    return jax.grad(lambda y: jnp.sum(jax.grad(_network)(y, W, V) * t))(x)


def _jacobian_by_hand(x, W, b):
    s = jnp.tanh(matmul(W, x) + b)
    return (1.0 - s * s)[:, None] * W


@jax.custom_vjp
def _tanh_with_rule(x):
    return jnp.tanh(x)


_tanh_with_rule.defvjp(lambda x: (jnp.tanh(x), jnp.tanh(x)), lambda y, g: (g * (1.0 - y * y),))


@jax.custom_vjp
def _tanh_with_wrong_rule(x):
    return jnp.tanh(x)


_tanh_with_wrong_rule.defvjp(lambda x: (jnp.tanh(x), jnp.tanh(x)), lambda y, g: (g * (1.0 - y),))


def _loss(W, x, activation=jnp.tanh):
    for _ in range(2):
        x = activation(matmul(W, x))
    return jnp.sum(x * x)


def _scan_loss(W, x):
    step = jax.checkpoint(lambda h, _: (jnp.tanh(matmul(W, h)), None))
    h = lax.scan(step, x, None, length=2)[0]
    return jnp.sum(h * h)


def _through_time(W, x, slope=1.0):
    """Backpropagation through two steps of h ← tanh(W h), loss |h|²."""
    h1 = jnp.tanh(matmul(W, x))
    h2 = jnp.tanh(matmul(W, h1))
    outer = 2.0 * h2 * (1.0 - h2 * h2)
    inner = matmul(W.T, outer) * (slope - h1 * h1)
    return jnp.outer(outer, h1) + jnp.outer(inner, x)


def _polynomial(x):
    return jnp.sum(x**4 - 3.0 * x**3 + 2.0 * x)


_TWICE = (f32(3), f32(4, 3), f32(2, 4), f32(3))
_SHARED = (f32(3, 3), f32(3))

MODES = (
    Pair(
        "hessian-vector-product-two-modes",
        _hessian_forward_reverse,
        _hessian_reverse_reverse,
        _TWICE,
        {
            "halved": lambda *a: _hessian_reverse_reverse(*a) / 2.0,
            "gradient for curvature": lambda x, W, V, t: jax.grad(_network)(x, W, V) * t,
            "a weight nudged": lambda x, W, V, t: _hessian_reverse_reverse(x, nudged(W), V, t),
        },
    ),
    Pair(
        "jacobian-forward-reverse",
        lambda x, W, b: jax.jacfwd(lambda y: jnp.tanh(matmul(W, y) + b))(x),
        lambda x, W, b: jax.jacrev(lambda y: jnp.tanh(matmul(W, y) + b))(x),
        (f32(3), f32(4, 3), f32(4)),
        {
            "bias dropped": lambda x, W, b: _jacobian_by_hand(x, W, jnp.zeros_like(b)),
            "slope missing": lambda x, W, b: W,
            "outer axes reversed": lambda x, W, b: _jacobian_by_hand(x, W, b)[::-1],
        },
    ),
    Pair(
        "jacobian-by-hand",
        lambda x, W, b: jax.jacfwd(lambda y: jnp.tanh(matmul(W, y) + b))(x),
        _jacobian_by_hand,
        (f32(3), f32(4, 3), f32(4)),
        {
            "bias doubled": lambda x, W, b: _jacobian_by_hand(x, W, 2.0 * b),
            "weight nudged": lambda x, W, b: _jacobian_by_hand(x, nudged(W), b),
        },
    ),
    Pair(
        "jvp-as-composition",
        lambda x, W, V, t: jax.jvp(lambda y: matmul(V, jnp.sin(matmul(W, y))), (x,), (t,)),
        lambda x, W, V, t: (
            matmul(V, jnp.sin(matmul(W, x))),
            matmul(V, jnp.cos(matmul(W, x)) * matmul(W, t)),
        ),
        _TWICE,
        {
            "sign of the cosine": lambda x, W, V, t: (
                matmul(V, jnp.sin(matmul(W, x))),
                -matmul(V, jnp.cos(matmul(W, x)) * matmul(W, t)),
            ),
            "slope at the tangent": lambda x, W, V, t: (
                matmul(V, jnp.sin(matmul(W, x))),
                matmul(V, jnp.cos(matmul(W, t)) * matmul(W, t)),
            ),
        },
    ),
    Pair(
        "jvp-against-vjp",
        lambda x, W, V, t: jax.jvp(lambda y: _network(y, W, V), (x,), (t,))[1],
        lambda x, W, V, t: jnp.sum(jax.grad(_network)(x, W, V) * t),
        _TWICE,
        {
            "tangent reversed": lambda x, W, V, t: jnp.sum(jax.grad(_network)(x, W, V) * t[::-1]),
            "gradient at the tangent": lambda x, W, V, t: jnp.sum(jax.grad(_network)(t, W, V) * t),
        },
    ),
    Pair(
        "second-derivative-of-a-polynomial",
        lambda x: jax.vmap(jax.grad(jax.grad(_polynomial)))(x),
        lambda x: 12.0 * x**2 - 18.0 * x,
        (f32(5),),
        {
            "first derivative": lambda x: 4.0 * x**3 - 9.0 * x**2 + 2.0,
            "third derivative": lambda x: 24.0 * x - 18.0,
            "exponent not lowered": lambda x: 12.0 * x**3 - 18.0 * x,
        },
    ),
    Pair(
        "derivative-of-a-quotient",
        jax.vmap(jax.grad(lambda x: x / (1.0 + x * x))),
        lambda x: (1.0 - x * x) / (1.0 + x * x) ** 2,
        (f32(5),),
        {
            "denominator not squared": lambda x: (1.0 - x * x) / (1.0 + x * x),
            "sign": lambda x: (1.0 + x * x) / (1.0 + x * x) ** 2,
        },
    ),
    Pair(
        "chain-rule-through-exp",
        jax.grad(lambda x, W: jnp.sum(jnp.exp(matmul(W, x)))),
        lambda x, W: matmul(W.T, jnp.exp(matmul(W, x))),
        (f32(3), f32(4, 3)),
        {
            "weight outside": lambda x, W: jnp.sum(W, 0) * jnp.sum(jnp.exp(matmul(W, x))),
            "weight forgotten": lambda x, W: jnp.exp(matmul(W, x))[:3],
        },
    ),
    Pair(
        "custom-vjp-with-the-right-rule",
        jax.grad(_loss),
        jax.grad(lambda W, x: _loss(W, x, _tanh_with_rule)),
        _SHARED,
        {
            "slope not squared": jax.grad(lambda W, x: _loss(W, x, _tanh_with_wrong_rule)),
            "gradient stopped": jax.grad(lambda W, x: _loss(W, x, lambda h: h + lax.stop_gradient(jnp.tanh(h) - h))),
        },
    ),
    Pair(
        "remat-gradient",
        jax.grad(_loss),
        jax.grad(_scan_loss),
        _SHARED,
        {
            "inner slope wrong": lambda W, x: _through_time(W, x, slope=2.0),
            "last step only": jax.grad(
                lambda W, x: jnp.sum(jnp.tanh(matmul(W, lax.stop_gradient(jnp.tanh(matmul(W, x))))) ** 2)
            ),
        },
    ),
    Pair(
        "backpropagation-through-time",
        jax.grad(_loss),
        _through_time,
        _SHARED,
        {
            "inner slope wrong": lambda W, x: _through_time(W, x, slope=2.0),
            "transposed": lambda W, x: _through_time(W, x).T,
            "at the transposed weight": lambda W, x: _through_time(W.T, x),
        },
    ),
)

PAIRS: tuple[Pair, ...] = (*LAYERS, *LOSSES, *MODES)
