"""Optimisers, metrics, reinforcement learning, signals, samples and images as users write them, in two ways."""

import jax.numpy as jnp
import numpy as np
from jax import lax, nn
from jax.scipy import special, stats

from uat_jax import interval, positive

from ..pair import f32
from ..row import Row, row
from .library import library

optax = library("optax")
distrax = library("distrax")
npd = library("numpyro.distributions")
rlax = library("rlax")

X = f32(4)
Y = f32(4)
P = positive(f32(4))
U = interval(f32(4), 0.125, 0.875)
S = f32()
V = f32(3)
T = np.array([1.0, 0.0, 1.0, 1.0], np.float32)
IMAGE = f32(2, 2, 3)


def pair(name, left, right, specs, mistake, **options) -> Row:
    """A row with one mistake."""
    return row(name, left, right, specs, {"a mistake": mistake}, **options)


def steps(transformation, count):
    """The parameters after some updates with given gradients."""

    def after(p, *gradients):
        state = transformation.init(p)
        for g in gradients[:count]:
            updates, state = transformation.update(g, state, p)
            p = optax.apply_updates(p, updates)
        return p

    return after


def trust_ratio(p, u):
    """LARS: ‖p‖/‖u‖, and 1 where either norm is 0."""
    n, m = jnp.linalg.norm(p), jnp.linalg.norm(u)
    return jnp.where((n == 0) | (m == 0), 1.0, n / jnp.where(m == 0, 1.0, m))


def huber_by_parts(d, delta):
    """½d² inside of δ, δ(|d| − ½δ) outside, by the part of |d| that δ cuts off."""
    q = jnp.minimum(jnp.abs(d), delta)
    return 0.5 * q**2 + delta * (jnp.abs(d) - q)


def saturation(x):
    """Saturation of HSV: (max − min)/max, 0 for black."""
    high, low = x.max(-1), x.min(-1)
    return jnp.where(high > 0, (high - low) / jnp.where(high > 0, high, 1.0), 0.0)


ROWS = (
    pair(
        "adam two steps",
        steps(optax.adam(0.1, b1=0.5, b2=0.75, eps=0.0, eps_root=1e-6), 2),
        lambda p, g, h: (
            p
            - 0.1 * g / jnp.sqrt(g * g + 1e-6)
            - 0.1 * ((0.25 * g + 0.5 * h) / 0.75) / jnp.sqrt((0.1875 * g * g + 0.25 * h * h) / 0.4375 + 1e-6)
        ),
        (V, V, V),
        lambda p, g, h: (
            p
            - 0.1 * g / jnp.sqrt(g * g + 1e-6)
            - 0.1 * ((0.25 * g + 0.5 * h) / 0.75) / jnp.sqrt((0.25 * g * g + 0.25 * h * h) / 0.4375 + 1e-6)
        ),
    ),
    pair(
        "lars trust ratio",
        lambda p, u: optax.scale_by_trust_ratio().update(u, optax.scale_by_trust_ratio().init(p), p)[0],
        lambda p, u: u * trust_ratio(p, u),
        (V, V),
        lambda p, u: u * trust_ratio(u, p),
    ),
    pair(
        "clip every entry, then by norm",
        lambda g: (lambda c: c * jnp.minimum(1.0, 2.0 / (jnp.linalg.norm(c) + 1e-6)))(jnp.clip(g, -1, 1)),
        lambda g: (lambda c: jnp.where(jnp.linalg.norm(c) + 1e-6 > 2, 2 * c / (jnp.linalg.norm(c) + 1e-6), c))(
            jnp.sign(g) * jnp.minimum(jnp.abs(g), 1)
        ),
        (V,),
        lambda g: (lambda c: jnp.where(jnp.linalg.norm(c) > 2, 2 * c / (jnp.linalg.norm(c) + 1e-6), c))(
            jnp.sign(g) * jnp.minimum(jnp.abs(g), 2)
        ),
    ),
    pair(
        "adaptive gradient clipping",
        lambda w, g: g * jnp.minimum(1.0, 0.01 * jnp.maximum(jnp.linalg.norm(w), 1e-3) / jnp.linalg.norm(g)),
        lambda w, g: (lambda top, n: jnp.where(n > top, g * (top / n), g))(
            0.01 * jnp.maximum(jnp.linalg.norm(w), 1e-3), jnp.linalg.norm(g)
        ),
        (V, V),
        lambda w, g: (lambda top, n: jnp.where(n > top, g * (top / n), g))(
            0.01 * jnp.sum(jnp.abs(w)), jnp.linalg.norm(g)
        ),
    ),
    pair(
        "sign of momentum with a dead zone",
        lambda m: jnp.where(jnp.abs(m) > 0.25, jnp.sign(m), 0.0),
        lambda m: (m > 0.25).astype(m.dtype) - (m < -0.25).astype(m.dtype),
        (X,),
        lambda m: (m > 0.25).astype(m.dtype) - (m < 0.25).astype(m.dtype),
    ),
    pair(
        "weight decay on what is large only",
        lambda p, g: p - 0.1 * (g + 0.5 * jnp.where(jnp.abs(p) > 1, p - jnp.sign(p), 0.0)),
        lambda p, g: p - 0.1 * g - 0.05 * (p - jnp.clip(p, -1, 1)),
        (X, Y),
        lambda p, g: p - 0.1 * g - 0.05 * (p - jnp.clip(p, -1, 0)),
    ),
    pair(
        "cosine with restarts",
        lambda t: 0.5 * (1 + jnp.cos(jnp.pi * jnp.mod(t, 10.0) / 10)),
        lambda t: jnp.cos(jnp.pi / 20 * (t - 10 * jnp.floor(t / 10))) ** 2,
        (interval(S, 0.0, 50.0),),
        lambda t: jnp.cos(jnp.pi / 20 * t) ** 2,
    ),
    pair(
        "warmup, hold, decay",
        lambda t: jnp.minimum(jnp.minimum(t / 5, 1.0), jnp.maximum(0.0, (30 - t) / 10)),
        lambda t: jnp.where(t < 5, t / 5, jnp.where(t < 20, 1.0, jnp.where(t < 30, 3 - t / 10, 0.0))),
        (interval(S, 0.0, 100.0),),
        lambda t: jnp.where(t < 5, t / 5, jnp.where(t < 20, 1.0, jnp.where(t < 25, 3 - t / 10, 0.0))),
    ),
    pair(
        "triangular wave",
        lambda t: jnp.abs(jnp.mod(t, 2.0) - 1),
        lambda t: jnp.where(t - 2 * jnp.floor(t / 2) < 1, 1 - (t - 2 * jnp.floor(t / 2)), t - 2 * jnp.floor(t / 2) - 1),
        (S,),
        lambda t: jnp.where(t - 2 * jnp.floor(t / 2) < 1, t - 2 * jnp.floor(t / 2), t - 2 * jnp.floor(t / 2) - 1),
    ),
    pair(
        "huber by parts",
        lambda p, t: optax.huber_loss(p, t, delta=0.5),
        lambda p, t: huber_by_parts(p - t, 0.5),
        (X, Y),
        lambda p, t: huber_by_parts(p - t, 0.25),
        gradient=True,
        almost_everywhere=True,
    ),
    pair(
        "pseudo-Huber",
        lambda d: 4.0 * (jnp.sqrt(1 + (d / 2) ** 2) - 1),
        lambda d: d**2 / (jnp.sqrt(1 + (d / 2) ** 2) + 1),
        (X,),
        lambda d: d**2 / (jnp.sqrt(1 + d**2) + 1),
        gradient=True,
    ),
    pair(
        "smooth L1 by a choice",
        lambda d: jnp.where(jnp.abs(d) < 1, 0.5 * d * d, jnp.abs(d) - 0.5).mean(),
        lambda d: (0.5 * jnp.minimum(jnp.abs(d), 1) ** 2 + nn.relu(jnp.abs(d) - 1)).mean(),
        (X,),
        lambda d: (0.5 * jnp.minimum(jnp.abs(d), 1) ** 2 + nn.relu(d - 1)).mean(),
    ),
    pair(
        "focal loss for both labels",
        lambda z: optax.sigmoid_focal_loss(z, T, gamma=2.0).sum(),
        lambda z: (lambda p: -T * (1 - p) ** 2 * jnp.log(p) - (1 - T) * p**2 * jnp.log(1 - p))(nn.sigmoid(z)).sum(),
        (X,),
        lambda z: (lambda p: -T * (1 - p) ** 2 * jnp.log(p) - (1 - T) * (1 - p) ** 2 * jnp.log(1 - p))(
            nn.sigmoid(z)
        ).sum(),
    ),
    pair(
        "label smoothing",
        lambda z: optax.softmax_cross_entropy(z, optax.smooth_labels(np.eye(4, dtype=np.float32)[1], 0.1)),
        lambda z: special.logsumexp(z) - 0.9 * z[1] - 0.1 * z.mean(),
        (X,),
        lambda z: special.logsumexp(z) - 0.9 * z[1] - 0.1 * z.sum(),
        gradient=True,
        single=True,
    ),
    pair(
        "Jensen-Shannon of two coins",
        lambda p, q: 0.5 * (special.rel_entr(p, (p + q) / 2) + special.rel_entr(1 - p, 1 - (p + q) / 2)),
        lambda p, q: 0.5 * (p * jnp.log(2 * p / (p + q)) + (1 - p) * jnp.log(2 * (1 - p) / (2 - p - q))),
        (U, U),
        lambda p, q: 0.5 * (p * jnp.log(p / (p + q)) + (1 - p) * jnp.log((1 - p) / (2 - p - q))),
    ),
    pair(
        "binary entropy in bits",
        lambda z: nn.sigmoid(z) * nn.softplus(-z) / jnp.log(2.0) + nn.sigmoid(-z) * nn.softplus(z) / jnp.log(2.0),
        lambda z: (nn.softplus(z) - z * nn.sigmoid(z)) * jnp.log2(jnp.e),
        (X,),
        lambda z: (nn.softplus(z) - z * nn.sigmoid(-z)) * jnp.log2(jnp.e),
    ),
    pair(
        "mixture of Laplaces",
        lambda w, x: special.logsumexp(nn.log_softmax(w) + stats.laplace.logpdf(x, jnp.array([0.0, 1.0]), 0.5)),
        lambda w, x: jnp.log(
            nn.sigmoid(w[0] - w[1]) * jnp.exp(-2 * jnp.abs(x)) + nn.sigmoid(w[1] - w[0]) * jnp.exp(-2 * jnp.abs(x - 1))
        ),
        (f32(2), S),
        lambda w, x: jnp.log(
            nn.sigmoid(w[0] - w[1]) * jnp.exp(-2 * jnp.abs(x)) + nn.sigmoid(w[0] - w[1]) * jnp.exp(-2 * jnp.abs(x - 1))
        ),
    ),
    pair(
        "mean over tokens that are not padding",
        lambda x: jnp.sum(x * T) / jnp.maximum(jnp.sum(T), 1.0),
        lambda x: jnp.mean(x, where=T > 0),
        (X,),
        lambda x: jnp.mean(x),
    ),
    pair(
        "F1 by soft counts",
        lambda p: (lambda tp, fp, fn: 2 * tp / (2 * tp + fp + fn))(
            (p * T).sum(), (p * (1 - T)).sum(), ((1 - p) * T).sum()
        ),
        lambda p: (lambda precision, recall: 2 / (1 / precision + 1 / recall))(
            (p * T).sum() / p.sum(), (p * T).sum() / T.sum()
        ),
        (U,),
        lambda p: (lambda precision, recall: (precision + recall) / 2)(
            (p * T).sum() / p.sum(), (p * T).sum() / T.sum()
        ),
    ),
    pair(
        "accuracy of a threshold",
        lambda z: jnp.mean((nn.sigmoid(z) > 0.5) == (T > 0)),
        lambda z: jnp.sum(jnp.where(T > 0, z > 0, z <= 0)) / 4,
        (X,),
        lambda z: jnp.sum(jnp.where(T > 0, z > 0, z < -1)) / 4,
    ),
    pair(
        "top-2 accuracy",
        lambda z: jnp.any(lax.top_k(z, 2)[1] == 2).astype(jnp.float32),
        lambda z: (jnp.sum(z > z[2]) + jnp.sum(z[:2] == z[2]) < 2).astype(jnp.float32),
        (X,),
        lambda z: (jnp.sum(z > z[2]) < 3).astype(jnp.float32),
    ),
    pair(
        "AUC of sorted scores by pairs",
        lambda a, b: jnp.mean((a[:, None] > b[None]) + 0.5 * (a[:, None] == b[None])),
        lambda a, b: 0.5 + 0.5 * jnp.mean(jnp.sign(a[:, None] - b[None])),
        (f32(2), V),
        lambda a, b: jnp.mean(jnp.sign(a[:, None] - b[None])),
    ),
    pair(
        "R²",
        lambda p, t: 1 - jnp.sum((t - p) ** 2) / jnp.sum((t - t.mean()) ** 2),
        lambda p, t: 1 - jnp.mean((t - p) ** 2) / jnp.var(t),
        (X, Y),
        lambda p, t: 1 - jnp.mean((t - p) ** 2) / jnp.var(t, ddof=1),
    ),
    pair(
        "PPO by cases",
        lambda r, a: -jnp.minimum(r * a, jnp.clip(r, 0.8, 1.2) * a),
        lambda r, a: -jnp.where(a > 0, jnp.minimum(r, 1.2), jnp.maximum(r, 0.8)) * a,
        (P, X),
        lambda r, a: -jnp.where(a > 0, jnp.minimum(r, 1.2), jnp.minimum(r, 0.8)) * a,
    ),
    pair(
        "clipped value loss",
        lambda v, o, t: jnp.maximum((v - t) ** 2, (o + jnp.clip(v - o, -0.2, 0.2) - t) ** 2).mean(),
        lambda v, o, t: (jnp.maximum(jnp.abs(v - t), jnp.abs(jnp.clip(v, o - 0.2, o + 0.2) - t)) ** 2).mean(),
        (X, Y, X),
        lambda v, o, t: (jnp.maximum(v - t, jnp.clip(v, o - 0.2, o + 0.2) - t) ** 2).mean(),
    ),
    pair(
        "soft value and its policy",
        lambda q: (lambda v: jnp.exp((q - v) / 0.5))(0.5 * special.logsumexp(q / 0.5)),
        lambda q: nn.softmax(2 * q),
        (X,),
        lambda q: nn.softmax(q / 2),
        gradient=True,
    ),
    pair(
        "expectile",
        lambda d: jnp.where(d > 0, 0.7, 0.3) * d**2,
        lambda d: 0.7 * nn.relu(d) ** 2 + 0.3 * nn.relu(-d) ** 2,
        (X,),
        lambda d: 0.7 * nn.relu(d) ** 2 + 0.3 * d**2,
        gradient=True,
    ),
    pair(
        "epsilon greedy",
        lambda q: distrax.EpsilonGreedy(q, 0.25).probs,
        lambda q: 0.0625 + 0.75 * (q == q.max()) / (q == q.max()).sum(),
        (X,),
        lambda q: 0.25 + 0.75 * (q == q.max()) / (q == q.max()).sum(),
    ),
    pair(
        "n-step return",
        lambda r, v: rlax.n_step_bootstrapped_returns(r, jnp.full(4, 0.9), v, 2),
        lambda r, v: jnp.stack(
            [r[0] + 0.9 * r[1] + 0.81 * v[1], r[1] + 0.9 * r[2] + 0.81 * v[2], r[2] + 0.9 * r[3] + 0.81 * v[3]]
            + [r[3] + 0.9 * v[3]]
        ),
        (X, Y),
        lambda r, v: jnp.stack(
            [r[0] + 0.9 * r[1] + 0.81 * v[1], r[1] + 0.9 * r[2] + 0.81 * v[2], r[2] + 0.9 * r[3] + 0.81 * v[3]]
            + [r[3] + v[3]]
        ),
    ),
    pair(
        "mu-law companding and back",
        lambda x: (lambda y: jnp.sign(y) * (jnp.exp(jnp.abs(y) * jnp.log1p(255.0)) - 1) / 255)(
            jnp.sign(x) * jnp.log1p(255 * jnp.abs(x)) / jnp.log1p(255.0)
        ),
        lambda x: x,
        (X,),
        lambda x: jnp.abs(x),
    ),
    pair(
        "decibels",
        lambda x: 10 * jnp.log10(jnp.maximum(x**2, 1e-10)),
        lambda x: 20 * jnp.log10(jnp.maximum(jnp.abs(x), 1e-5)),
        (X,),
        lambda x: 10 * jnp.log10(jnp.maximum(jnp.abs(x), 1e-5)),
    ),
    pair(
        "Hann window",
        lambda x: x * (0.5 - 0.5 * jnp.cos(2 * jnp.pi * jnp.arange(4) / 4)),
        lambda x: x * jnp.sin(jnp.pi * jnp.arange(4) / 4) ** 2,
        (X,),
        lambda x: x * jnp.sin(jnp.pi * jnp.arange(4) / 3) ** 2,
    ),
    pair(
        "circular convolution by the spectrum",
        lambda x, y: jnp.fft.irfft(jnp.fft.rfft(x) * jnp.fft.rfft(y), 4),
        lambda x, y: jnp.stack([sum(x[j] * y[(i - j) % 4] for j in range(4)) for i in range(4)]),
        (X, Y),
        lambda x, y: jnp.stack([sum(x[j] * y[(i + j) % 4] for j in range(4)) for i in range(4)]),
    ),
    pair(
        "a phase unwrapped by a step",
        lambda a, b: jnp.mod(b - a + jnp.pi, 2 * jnp.pi) - jnp.pi,
        lambda a, b: b - a - 2 * jnp.pi * jnp.floor((b - a) / (2 * jnp.pi) + 0.5),
        (S, S),
        lambda a, b: b - a - 2 * jnp.pi * jnp.floor((b - a) / (2 * jnp.pi)),
    ),
    pair(
        "symmetric int8",
        lambda x: jnp.clip(jnp.round(x * 128), -127, 127).astype(jnp.int8).astype(jnp.float32) / 128,
        lambda x: jnp.clip(jnp.round(x * 128) / 128, -127 / 128, 127 / 128),
        (X,),
        lambda x: jnp.clip(jnp.round(x * 128) / 128, -128 / 128, 127 / 128),
    ),
    pair(
        "affine uint8",
        lambda x: (jnp.clip(jnp.round(x / 0.01) + 128, 0, 255) - 128) * 0.01,
        lambda x: jnp.clip(jnp.round(x / 0.01), -128, 127) * 0.01,
        (X,),
        lambda x: jnp.clip(jnp.round(x / 0.01), -127, 128) * 0.01,
    ),
    pair(
        "straight-through rounding",
        lambda x: x + lax.stop_gradient(jnp.round(x) - x),
        lambda x: jnp.where(jnp.abs(x - jnp.floor(x)) == 0.5, 2 * jnp.round(x / 2), jnp.floor(x + 0.5)),
        (X,),
        lambda x: jnp.floor(x),
    ),
    pair(
        "inverse of a Weibull's distribution",
        lambda u: 2.0 * (-jnp.log1p(-u)) ** (1 / 1.5),
        lambda u: jnp.exp(jnp.log(2.0) + jnp.log(-jnp.log(1 - u)) / 1.5),
        (U,),
        lambda u: jnp.exp(jnp.log(2.0) + jnp.log(-jnp.log(u)) / 1.5),
    ),
    pair(
        "Gumbel by two logarithms",
        lambda u: -jnp.log(-jnp.log(u)),
        lambda u: -special.logit(jnp.exp(-jnp.exp(jnp.log(-jnp.log(u))))) - jnp.log(-jnp.log(u)) + special.logit(u),
        (U,),
        lambda u: -jnp.log(-jnp.log(1 - u)),
    ),
    pair(
        "Box and Muller's radius",
        lambda u, v: (
            (jnp.sqrt(-2 * jnp.log(u)) * jnp.cos(2 * jnp.pi * v)) ** 2
            + (jnp.sqrt(-2 * jnp.log(u)) * jnp.sin(2 * jnp.pi * v)) ** 2
        ),
        lambda u, v: 2 * jnp.log(1 / u),
        (U, U),
        lambda u, v: jnp.log(1 / u),
    ),
    pair(
        "half normal",
        lambda x: npd.HalfNormal(2.0).log_prob(x),
        lambda x: jnp.log(2.0) + stats.norm.logpdf(x, 0.0, 2.0),
        (P,),
        lambda x: stats.norm.logpdf(x, 0.0, 2.0),
    ),
    pair(
        "truncated exponential",
        lambda x: jnp.log(2.0) - 2 * x - jnp.log(-jnp.expm1(-6.0)),
        lambda x: jnp.log(2 * jnp.exp(-2 * x) / (1 - jnp.exp(-6.0))),
        (interval(f32(3), 0.0, 3.0),),
        lambda x: jnp.log(2 * jnp.exp(-2 * x) / (1 + jnp.exp(-6.0))),
    ),
    pair(
        "luminance",
        lambda x: x @ jnp.array([0.299, 0.587, 0.114]),
        lambda x: 0.299 * x[..., 0] + 0.587 * x[..., 1] + 0.114 * x[..., 2],
        (IMAGE,),
        lambda x: 0.299 * x[..., 2] + 0.587 * x[..., 1] + 0.114 * x[..., 0],
    ),
    pair(
        "saturation",
        lambda x: jnp.where(x.max(-1) > 0, 1 - x.min(-1) / jnp.where(x.max(-1) > 0, x.max(-1), 1.0), 0.0),
        saturation,
        (interval(f32(2, 3), 0.0, 1.0),),
        lambda x: jnp.where(x.max(-1) > 0, x.min(-1) / jnp.where(x.max(-1) > 0, x.max(-1), 1.0), 0.0),
    ),
    pair(
        "sRGB to linear",
        lambda x: jnp.where(x <= 0.04045, x / 12.92, ((x + 0.055) / 1.055) ** 2.4),
        lambda x: jnp.where(x > 0.04045, jnp.exp(2.4 * jnp.log((x + 0.055) / 1.055)), x / 12.92),
        (interval(f32(3), 0.0, 1.0),),
        lambda x: jnp.where(x > 0.04045, jnp.exp(2.2 * jnp.log((x + 0.055) / 1.055)), x / 12.92),
    ),
    pair(
        "Sobel's filter by two passes",
        lambda x: lax.conv_general_dilated(
            x, jnp.array([[1.0, 0, -1], [2, 0, -2], [1, 0, -1]])[None, None], (1, 1), "VALID"
        )[0, 0],
        lambda x: (lambda r: r[:-2] + 2 * r[1:-1] + r[2:])(x[0, 0, :, :-2] - x[0, 0, :, 2:]),
        (f32(1, 1, 4, 4),),
        lambda x: (lambda r: r[:-2] + 2 * r[1:-1] + r[2:])(x[0, 0, :, 2:] - x[0, 0, :, :-2]),
    ),
    pair(
        "dilation and erosion",
        lambda x: -lax.reduce_window(-x, -jnp.inf, lax.max, (3,), (1,), "VALID"),
        lambda x: jnp.minimum(jnp.minimum(x[:-2], x[1:-1]), x[2:]),
        (f32(5),),
        lambda x: jnp.minimum(jnp.minimum(x[:-2], x[1:-1]), -x[2:]),
    ),
    pair(
        "box from centre and size, and back",
        lambda b: (lambda lo, hi: jnp.concatenate([(lo + hi) / 2, hi - lo]))(b[:2] - b[2:] / 2, b[:2] + b[2:] / 2),
        lambda b: b,
        (X,),
        lambda b: b / 2,
    ),
    pair(
        "quantile of four numbers",
        lambda x: jnp.quantile(x, 0.25),
        lambda x: 0.25 * jnp.sort(x)[0] + 0.75 * jnp.sort(x)[1],
        (X,),
        lambda x: 0.75 * jnp.sort(x)[0] + 0.25 * jnp.sort(x)[1],
    ),
    pair(
        "log det of a scaled covariance",
        lambda a: jnp.linalg.slogdet(2 * (a @ a.T + jnp.eye(2)))[1],
        lambda a: 2 * jnp.log(2.0) + 2 * jnp.log(jnp.diag(jnp.linalg.cholesky(a @ a.T + jnp.eye(2)))).sum(),
        (f32(2, 2),),
        lambda a: jnp.log(2.0) + 2 * jnp.log(jnp.diag(jnp.linalg.cholesky(a @ a.T + jnp.eye(2)))).sum(),
    ),
)
