"""One or two pairs for each algebraic law of the nonlinear functions, named after the law they need."""

import math

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .pair import EPS, Pair, einsum, f32, matmul

ORDER = np.array([2, 0, 3, 1], np.int32)
"""A permutation without a fixed point."""

# ---------------------------------------------------------------- exponentials and logarithms


def _shifted_logsumexp(x):
    """max x + log Σ exp(x − max x)."""
    m = jnp.max(x, -1, keepdims=True)
    return m[:, 0] + jnp.log(jnp.sum(jnp.exp(x - m), -1))


EXPONENTIALS = (
    Pair(
        "log-of-exp",
        lambda x, W: jnp.log(jnp.exp(matmul(W, x))),
        lambda x, W: matmul(W, x),
        (f32(3), f32(4, 3)),
        {
            "the square": lambda x, W: jnp.exp(jnp.log(matmul(W, x) ** 2)),
            "sign": lambda x, W: jnp.log(jnp.exp(-matmul(W, x))),
            "one added inside": lambda x, W: jnp.log(1.0 + jnp.exp(matmul(W, x))),
        },
    ),
    Pair(
        "log-of-exp: logarithm of a product",
        lambda x, y: jnp.log(jnp.exp(x) * (1.0 + jnp.exp(y))),
        lambda x, y: x + jnp.log(1.0 + jnp.exp(y)),
        (f32(4), f32(4)),
        {
            "logarithm of a sum": lambda x, y: jnp.log(jnp.exp(x) + (1.0 + jnp.exp(y))),
            "product for sum": lambda x, y: x * jnp.log(1.0 + jnp.exp(y)),
        },
    ),
    Pair(
        "logsumexp-shift",
        _shifted_logsumexp,
        lambda x: jnp.log(jnp.sum(jnp.exp(x), -1)),
        (f32(3, 4),),
        {
            "shift not undone": lambda x: jnp.log(jnp.sum(jnp.exp(x - jnp.max(x, -1, keepdims=True)), -1)),
            "maximum alone": lambda x: jnp.max(x, -1),
            "mean inside": lambda x: jnp.log(jnp.mean(jnp.exp(x), -1)),
        },
    ),
    Pair(
        "logsumexp-shift: translation",
        lambda x, c: jax.nn.logsumexp(x + c),
        lambda x, c: jax.nn.logsumexp(x) + c,
        (f32(5), f32()),
        {
            "shift lost": lambda x, c: jax.nn.logsumexp(x),
            "shift for every term": lambda x, c: jax.nn.logsumexp(x) + 5.0 * c,
        },
    ),
    Pair(
        "exp-sum",
        lambda x: jnp.exp(jnp.sum(x)),
        lambda x: jnp.prod(jnp.exp(x)),
        (f32(4),),
        {
            "sum of exponentials": lambda x: jnp.sum(jnp.exp(x)),
            "one factor lost": lambda x: jnp.prod(jnp.exp(x[:-1])),
        },
    ),
    Pair(
        "exp-sum: powers and quotients",
        lambda x, y: jnp.exp(2.0 * x - y),
        lambda x, y: jnp.exp(x) ** 2 / jnp.exp(y),
        (f32(4), f32(4)),
        {
            "power inside the square": lambda x, y: jnp.exp(x**2) / jnp.exp(y),
            "product": lambda x, y: jnp.exp(x) ** 2 * jnp.exp(y),
        },
    ),
    Pair(
        "sigmoid-by-exp",
        lambda x: jax.nn.sigmoid(x),
        lambda x: 1.0 / (1.0 + jnp.exp(-x)),
        (f32(5),),
        {
            "sign of the exponent": lambda x: 1.0 / (1.0 + jnp.exp(x)),
            "numerator": lambda x: jnp.exp(-x) / (1.0 + jnp.exp(-x)),
            "tanh": jnp.tanh,
        },
    ),
    Pair(
        "sigmoid-by-exp: two-class softmax",
        lambda x, W: jax.nn.softmax(matmul(W, x))[0],
        lambda x, W: jax.nn.sigmoid(matmul(W[0] - W[1], x)),
        (f32(3), f32(2, 3)),
        {
            "other class": lambda x, W: jax.nn.sigmoid(matmul(W[1] - W[0], x)),
            "logit not subtracted": lambda x, W: jax.nn.sigmoid(matmul(W[0], x)),
        },
    ),
    Pair(
        "tanh-by-exp",
        lambda x: jnp.tanh(x),
        lambda x: (jnp.exp(x) - jnp.exp(-x)) / (jnp.exp(x) + jnp.exp(-x)),
        (f32(5),),
        {
            "cotangent": lambda x: (jnp.exp(x) + jnp.exp(-x)) / (jnp.exp(x) - jnp.exp(-x)),
            "hyperbolic sine": lambda x: (jnp.exp(x) - jnp.exp(-x)) / 2.0,
            "argument halved": lambda x: (jnp.exp(x) - 1.0) / (jnp.exp(x) + 1.0),
        },
    ),
    Pair(
        "tanh-by-exp: by sigmoid",
        lambda x: jnp.tanh(x),
        lambda x: 2.0 / (1.0 + jnp.exp(-2.0 * x)) - 1.0,
        (f32(5),),
        {
            "argument not doubled": lambda x: 2.0 / (1.0 + jnp.exp(-x)) - 1.0,
            "not shifted": lambda x: 2.0 / (1.0 + jnp.exp(-2.0 * x)),
        },
    ),
)

# ---------------------------------------------------------------- roots


def _variance_by_moments(x, clip):
    return clip(jnp.mean(x * x, -1) - jnp.mean(x, -1) ** 2)


ROOTS = (
    Pair(
        "root-of-square",
        lambda x: jnp.sqrt(x * x),
        lambda x: jnp.abs(x),
        (f32(5),),
        {
            "sign kept": lambda x: x,
            "fourth power": lambda x: jnp.sqrt(x**4),
            "relu": jax.nn.relu,
        },
    ),
    Pair(
        "root-of-square: known sign",
        lambda x: jnp.sqrt(jnp.exp(x) ** 2),
        lambda x: jnp.exp(x),
        (f32(5),),
        {
            "negative root": lambda x: -jnp.exp(x),
            "not rooted": lambda x: jnp.exp(x) ** 2,
        },
    ),
    Pair(
        "square-of-root",
        lambda x: jnp.sqrt(1.0 + x * x) * jnp.sqrt(1.0 + x * x),
        lambda x: 1.0 + x * x,
        (f32(5),),
        {
            "cubed": lambda x: jnp.sqrt(1.0 + x * x) ** 3,
            "one not rooted": lambda x: 1.0 + jnp.abs(x),
        },
    ),
    Pair(
        "rsqrt-power-of-sqrt",
        lambda x: 1.0 / jnp.sqrt(x * x + EPS) ** 3,
        lambda x: lax.rsqrt(x * x + EPS) / (x * x + EPS),
        (f32(5),),
        {
            "second power": lambda x: 1.0 / (x * x + EPS),
            "epsilon forgotten once": lambda x: lax.rsqrt(x * x + EPS) / (x * x),
            "root for its reciprocal": lambda x: jnp.sqrt(x * x + EPS) / (x * x + EPS),
        },
    ),
    Pair(
        "rsqrt-power-of-sqrt: derivative",
        jax.vmap(jax.grad(lambda x: 1.0 / jnp.sqrt(x * x + 1.0))),
        jax.vmap(jax.grad(lambda x: lax.rsqrt(x * x + 1.0))),
        (f32(5),),
        {
            "halved": jax.vmap(jax.grad(lambda x: 0.5 * lax.rsqrt(x * x + 1.0))),
            "derivative of the root": jax.vmap(jax.grad(lambda x: jnp.sqrt(x * x + 1.0))),
        },
    ),
    Pair(
        "pow-half",
        lambda x: jnp.sqrt(x * x + 1.0),
        lambda x: jnp.power(x * x + 1.0, 0.5),
        (f32(5),),
        {
            "negative exponent": lambda x: jnp.power(x * x + 1.0, -0.5),
            "exponent one": lambda x: x * x + 1.0,
            "fourth root": lambda x: jnp.power(x * x + 1.0, 0.25),
        },
    ),
    Pair(
        "pow-half: reciprocal root",
        lambda x: lax.rsqrt(x * x + 1.0),
        lambda x: (x * x + 1.0) ** -0.5,
        (f32(5),),
        {
            "sign of the exponent": lambda x: (x * x + 1.0) ** 0.5,
            "exponent minus one": lambda x: (x * x + 1.0) ** -1,
        },
    ),
    Pair(
        "sqrt-scale",
        lambda x: x / jnp.sqrt(jnp.sum(x * x) / 5.0),
        lambda x: math.sqrt(5.0) * x / jnp.sqrt(jnp.sum(x * x)),
        (f32(5),),
        {
            "root missing": lambda x: 5.0 * x / jnp.sqrt(jnp.sum(x * x)),
            "scale missing": lambda x: x / jnp.sqrt(jnp.sum(x * x)),
            "n-1 for n": lambda x: 2.0 * x / jnp.sqrt(jnp.sum(x * x)),
        },
        "x is not zero; the constant is read as the root of 5",
    ),
    Pair(
        "sqrt-scale: perfect square",
        lambda x: jnp.sqrt(4.0 * (x * x + 1.0)),
        lambda x: 2.0 * jnp.sqrt(x * x + 1.0),
        (f32(5),),
        {
            "not rooted": lambda x: 4.0 * jnp.sqrt(x * x + 1.0),
            "other root": lambda x: -2.0 * jnp.sqrt(x * x + 1.0),
        },
    ),
    Pair(
        "square-sum-nonnegative",
        lambda x: jnp.maximum(jnp.var(x, -1), 0.0),
        lambda x: jnp.var(x, -1),
        (f32(3, 5),),
        {
            "minimum": lambda x: jnp.minimum(jnp.var(x, -1), 0.0),
            "n-1 for n": lambda x: jnp.maximum(jnp.var(x, -1, ddof=1), 0.0),
            "not centred": lambda x: jnp.mean(x * x, -1),
        },
    ),
    Pair(
        "square-sum-nonnegative: fast variance",
        lambda x: jnp.var(x, -1),
        lambda x: _variance_by_moments(x, jax.nn.relu),
        (f32(3, 5),),
        {
            "clipped at one": lambda x: _variance_by_moments(x, lambda v: jnp.maximum(v, 1.0)),
            "mean not squared": lambda x: jax.nn.relu(jnp.mean(x * x, -1) - jnp.mean(x, -1)),
        },
    ),
)

# ---------------------------------------------------------------- absolute values, maxima and sorting

PIECEWISE = (
    Pair(
        "relu-homogeneity",
        lambda x, W: jax.nn.relu(2.0 * matmul(W, x)),
        lambda x, W: 2.0 * jax.nn.relu(matmul(W, x)),
        (f32(3), f32(4, 3)),
        {
            "negative factor": lambda x, W: -2.0 * jax.nn.relu(-matmul(W, x)),
            "factor squared": lambda x, W: 4.0 * jax.nn.relu(matmul(W, x)),
            "factor lost": lambda x, W: jax.nn.relu(matmul(W, x)),
        },
    ),
    Pair(
        "relu-homogeneity: absolute value",
        lambda x: jnp.abs(-3.0 * x),
        lambda x: 3.0 * jnp.abs(x),
        (f32(5),),
        {
            "sign kept": lambda x: -3.0 * jnp.abs(x),
            "no absolute value": lambda x: 3.0 * x,
        },
    ),
    Pair(
        "relu-homogeneity: positive scale of a unit",
        lambda x, W, V, s: matmul(V, jax.nn.relu(matmul(W, x))),
        lambda x, W, V, s: matmul(V / jnp.exp(s)[None, :], jax.nn.relu(matmul(jnp.exp(s)[:, None] * W, x))),
        (f32(3), f32(4, 3), f32(2, 4), f32(4)),
        {
            "not undone": lambda x, W, V, s: matmul(V, jax.nn.relu(matmul(jnp.exp(s)[:, None] * W, x))),
            "scale of either sign": lambda x, W, V, s: matmul(V / s[None, :], jax.nn.relu(matmul(s[:, None] * W, x))),
            "undone in reverse": lambda x, W, V, s: matmul(
                V / jnp.exp(s[::-1])[None, :], jax.nn.relu(matmul(jnp.exp(s)[:, None] * W, x))
            ),
        },
    ),
    Pair(
        "max-associativity",
        lambda x, y, z: jnp.maximum(jnp.maximum(x, y), z),
        lambda x, y, z: jnp.maximum(x, jnp.maximum(y, z)),
        (f32(4), f32(4), f32(4)),
        {
            "minimum inside": lambda x, y, z: jnp.maximum(x, jnp.minimum(y, z)),
            "one operand lost": lambda x, y, z: jnp.maximum(x, y),
            "sum inside": lambda x, y, z: jnp.maximum(x, y + z),
        },
    ),
    Pair(
        "max-associativity: maximum of maxima",
        lambda x: jnp.max(x, -1),
        lambda x: jnp.maximum(jnp.max(x[:, :2], -1), jnp.max(x[:, 2:], -1)),
        (f32(4, 5),),
        {
            "one part": lambda x: jnp.max(x[:, 2:], -1),
            "mean of the parts": lambda x: (jnp.max(x[:, :2], -1) + jnp.max(x[:, 2:], -1)) / 2.0,
        },
    ),
    Pair(
        "max-associativity: running maximum",
        lambda x: lax.cummax(x),
        lambda x: lax.associative_scan(jnp.maximum, x),
        (f32(5),),
        {
            "minimum": lambda x: lax.cummin(x),
            "from the end": lambda x: lax.cummax(x, reverse=True),
        },
    ),
    Pair(
        "max-idempotence",
        lambda x, y: jnp.maximum(jnp.maximum(x, y), x),
        lambda x, y: jnp.maximum(x, y),
        (f32(4), f32(4)),
        {
            "second lost": lambda x, y: jnp.maximum(x, x),
            "absorbed": lambda x, y: jnp.minimum(jnp.maximum(x, y), x),
        },
    ),
    Pair(
        "max-translation",
        lambda x, c: jnp.max(x + c),
        lambda x, c: jnp.max(x) + c,
        (f32(5), f32()),
        {
            "shift lost": lambda x, c: jnp.max(x),
            "shift negated": lambda x, c: jnp.max(x) - c,
        },
    ),
    Pair(
        "min-by-max",
        lambda x: jnp.min(x, -1),
        lambda x: -jnp.max(-x, -1),
        (f32(3, 4),),
        {
            "sign inside lost": lambda x: -jnp.max(x, -1),
            "wrong axis": lambda x: -jnp.max(-x[:, :3], 0),
        },
    ),
    Pair(
        "permutation-of-max",
        lambda x: jnp.max(x[:, ORDER], -1),
        lambda x: jnp.max(x, -1),
        (f32(3, 4),),
        {
            "an entry lost": lambda x: jnp.max(x[:, :3], -1),
            "minimum": lambda x: jnp.min(x[:, ORDER], -1),
        },
    ),
    Pair(
        "permutation-of-sort",
        lambda x: jnp.sort(x[:, ORDER], -1),
        lambda x: jnp.sort(x, -1),
        (f32(3, 4),),
        {
            "descending": lambda x: jnp.sort(x, -1)[:, ::-1],
            "permuted afterwards": lambda x: jnp.sort(x, -1)[:, ORDER],
            "not sorted": lambda x: x[:, ORDER],
        },
    ),
    Pair(
        "permutation-of-sort: pairwise comparator",
        lambda x, y: jnp.sort(jnp.stack([x, y]), axis=0),
        lambda x, y: jnp.stack([jnp.minimum(x, y), jnp.maximum(y, x)]),
        (f32(4), f32(4)),
        {
            "descending": lambda x, y: jnp.stack([jnp.maximum(x, y), jnp.minimum(x, y)]),
            "not sorted": lambda x, y: jnp.stack([x, y]),
        },
    ),
    Pair(
        "permutation-of-sum",
        lambda x, W: jnp.sum(jnp.tanh(matmul(x[ORDER], W)), 0),
        lambda x, W: jnp.sum(jnp.tanh(matmul(x, W)), 0),
        (f32(4, 3), f32(3, 5)),
        {
            "an entry lost": lambda x, W: jnp.sum(jnp.tanh(matmul(x[:3], W)), 0),
            "features permuted": lambda x, W: jnp.sum(jnp.tanh(matmul(x, W[::-1])), 0),
        },
    ),
)

# ---------------------------------------------------------------- angles


def _rotate(angle, x):
    """The plane rotation by `angle`, of x of shape (2, n)."""
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    return jnp.stack([cos * x[0] - sin * x[1], sin * x[0] + cos * x[1]])


ANGLES = (
    Pair(
        "pythagoras",
        lambda x: jnp.sin(x) ** 2 + jnp.cos(x) ** 2,
        lambda x: jnp.ones_like(x),
        (f32(5),),
        {
            "difference": lambda x: jnp.cos(x) ** 2 - jnp.sin(x) ** 2,
            "not squared": lambda x: jnp.sin(x) + jnp.cos(x),
            "other angle": lambda x: jnp.sin(x) ** 2 + jnp.cos(2.0 * x) ** 2,
        },
    ),
    Pair(
        "pythagoras: a rotation keeps lengths",
        lambda a, x: jnp.sum(_rotate(a, x) ** 2, 0),
        lambda a, x: jnp.sum(x * x, 0),
        (f32(), f32(2, 4)),
        {
            "one component": lambda a, x: _rotate(a, x)[0] ** 2,
            "stretched": lambda a, x: jnp.sum((1.5 * _rotate(a, x)) ** 2, 0),
        },
    ),
    Pair(
        "rotation-composition",
        lambda a, b, x: _rotate(a, _rotate(b, x)),
        lambda a, b, x: _rotate(a + b, x),
        (f32(), f32(), f32(2, 3)),
        {
            "difference of angles": lambda a, b, x: _rotate(a - b, x),
            "one rotation": lambda a, b, x: _rotate(a, x),
            "other direction": lambda a, b, x: _rotate(-a - b, x),
        },
    ),
    Pair(
        "rotation-composition: relative position",
        lambda a, b, x, y: einsum("in,in->n", _rotate(a, x), _rotate(b, y)),
        lambda a, b, x, y: einsum("in,in->n", x, _rotate(b - a, y)),
        (f32(), f32(), f32(2, 3), f32(2, 3)),
        {
            "sum of angles": lambda a, b, x, y: einsum("in,in->n", x, _rotate(a + b, y)),
            "relative to the other": lambda a, b, x, y: einsum("in,in->n", x, _rotate(a - b, y)),
            "not rotated": lambda a, b, x, y: einsum("in,in->n", x, y),
        },
    ),
    Pair(
        "angle-sum",
        lambda x, y: jnp.sin(x + y),
        lambda x, y: jnp.sin(x) * jnp.cos(y) + jnp.cos(x) * jnp.sin(y),
        (f32(4), f32(4)),
        {
            "sign": lambda x, y: jnp.sin(x) * jnp.cos(y) - jnp.cos(x) * jnp.sin(y),
            "sum of sines": lambda x, y: jnp.sin(x) + jnp.sin(y),
        },
    ),
    Pair(
        "angle-sum: double angle",
        lambda x: jnp.cos(2.0 * x),
        lambda x: 1.0 - 2.0 * jnp.sin(x) ** 2,
        (f32(5),),
        {
            "factor missing": lambda x: 1.0 - jnp.sin(x) ** 2,
            "not squared": lambda x: 1.0 - 2.0 * jnp.sin(x),
        },
    ),
)

# ---------------------------------------------------------------- inverse functions

INVERSES = (
    Pair(
        "inverse: tangent of a sum",
        lambda x, y: jnp.tan(jnp.arctan(x) + y),
        lambda x, y: (x * jnp.cos(y) + jnp.sin(y)) / (jnp.cos(y) - x * jnp.sin(y)),
        (f32(4), f32(4)),
        {
            "sign": lambda x, y: (x * jnp.cos(y) + jnp.sin(y)) / (jnp.cos(y) + x * jnp.sin(y)),
            "angle lost": lambda x, y: x + jnp.tan(y),
        },
    ),
    Pair(
        "inverse: Gudermann's function",
        lambda x: jnp.tan(jnp.arctan(jnp.sinh(x))) + jnp.cos(jnp.arctan(jnp.sinh(x))) ** 2,
        lambda x: jnp.sinh(x) + 1.0 / jnp.cosh(x) ** 2,
        (f32(5),),
        {
            "not squared": lambda x: jnp.sinh(x) + 1.0 / jnp.cosh(x),
            "tanh": lambda x: jnp.tanh(x) + 1.0 / jnp.cosh(x) ** 2,
        },
    ),
    Pair(
        "inverse: hyperbolic sum",
        lambda x, y: jnp.sinh(jnp.arcsinh(x) + y),
        lambda x, y: x * jnp.cosh(y) + jnp.sqrt(1.0 + x * x) * jnp.sinh(y),
        (f32(4), f32(4)),
        {
            "root lost": lambda x, y: x * jnp.cosh(y) + (1.0 + x * x) * jnp.sinh(y),
            "sign": lambda x, y: x * jnp.cosh(y) - jnp.sqrt(1.0 + x * x) * jnp.sinh(y),
        },
    ),
    Pair(
        "inverse: derivative of a root of degree 3",
        jax.vmap(jax.grad(lambda x: jnp.cbrt(x * x + 1.0))),
        lambda x: 2.0 * x / (3.0 * jnp.cbrt((x * x + 1.0) ** 2)),
        (f32(5),),
        {
            "exponent": lambda x: 2.0 * x / (3.0 * jnp.cbrt(x * x + 1.0)),
            "halved": lambda x: x / (3.0 * jnp.cbrt((x * x + 1.0) ** 2)),
        },
    ),
    Pair(
        "inverse: length",
        jnp.hypot,
        lambda x, y: jnp.sqrt(x * x + y * y),
        (f32(3), f32(3)),
        {
            "sum": lambda x, y: jnp.abs(x) + jnp.abs(y),
            "largest": lambda x, y: jnp.maximum(jnp.abs(x), jnp.abs(y)),
        },
    ),
    Pair(
        "inverse: a periodic kernel",
        lambda x, y: jnp.exp(-2.0 * jnp.sin(jnp.pi * jnp.abs(x - y) / 3.0) ** 2),
        lambda x, y: jnp.exp(jnp.cos(2.0 * jnp.pi * (x - y) / 3.0) - 1.0),
        (f32(4), f32(4)),
        {
            "period": lambda x, y: jnp.exp(jnp.cos(jnp.pi * (x - y) / 3.0) - 1.0),
            "sine": lambda x, y: jnp.exp(jnp.sin(2.0 * jnp.pi * (x - y) / 3.0) - 1.0),
        },
    ),
    Pair(
        "inverse: erf there and back",
        lambda x: lax.erf(0.5 * lax.erf_inv(lax.erf(2.0 * x))),
        lax.erf,
        (f32(5),),
        {
            "of the double": lambda x: lax.erf(2.0 * x),
            "identity": lambda x: x,
        },
    ),
    Pair(
        "inverse: powers in a row",
        lambda x: jnp.vander(x, 4),
        lambda x: jnp.stack([x**3, x * x, x, jnp.ones_like(x)], 1),
        (f32(3),),
        {
            "reversed": lambda x: jnp.vander(x, 4, increasing=True),
            "one less": lambda x: jnp.stack([x * x, x * x, x, jnp.ones_like(x)], 1),
        },
    ),
)

PAIRS: tuple[Pair, ...] = (*EXPONENTIALS, *ROOTS, *PIECEWISE, *ANGLES, *INVERSES)
