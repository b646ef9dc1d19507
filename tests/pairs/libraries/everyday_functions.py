"""Robust losses, metrics, returns, filters and geometry as users write them, in two ways."""

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
fnn = library("flax.linen")

X = f32(4)
Y = f32(4)
P = positive(f32(4))
U = interval(f32(4), 0.125, 0.875)
S = f32()
V = f32(3)
PAD = np.array([1, 1, 1, 0], np.float32)


def pair(name, left, right, specs, mistake, **options) -> Row:
    """A row with one mistake."""
    return row(name, left, right, specs, {"a mistake": mistake}, **options)


def rotation(t):
    """A turn by an angle."""
    return jnp.array([[jnp.cos(t), -jnp.sin(t)], [jnp.sin(t), jnp.cos(t)]])


def median_filter(x):
    """The median of each three neighbours."""
    return jnp.stack([jnp.median(x[i : i + 3]) for i in range(3)])


ROWS = (
    pair(
        "Tukey's biweight",
        lambda r: jnp.where(jnp.abs(r) <= 2, (1 - (1 - (r / 2) ** 2) ** 3) * 4 / 6, 4 / 6),
        lambda r: 2 / 3 * (1 - jnp.maximum(1 - (r / 2) ** 2, 0) ** 3),
        (X,),
        lambda r: 2 / 3 * (1 - (1 - (r / 2) ** 2) ** 3),
        gradient=True,
        almost_everywhere=True,
    ),
    pair(
        "Cauchy's loss",
        lambda r: 2 * jnp.log1p((r / 2) ** 2),
        lambda r: 2 * (jnp.log(4 + r * r) - jnp.log(4.0)),
        (X,),
        lambda r: 2 * jnp.log(4 + r * r),
        gradient=True,
    ),
    pair(
        "elastic net",
        lambda w: 0.3 * jnp.sum(jnp.abs(w)) + 0.35 * jnp.sum(w**2),
        lambda w: jnp.sum(jnp.where(w >= 0, 1.0, -1.0) * 0.3 * w + 0.35 * w * w),
        (X,),
        lambda w: jnp.sum(0.3 * w + 0.35 * w * w),
    ),
    pair(
        "hinge, zero or one",
        lambda z: optax.hinge_loss(z, jnp.array([1.0, -1.0, 1.0, -1.0])).mean(),
        lambda z: (nn.relu(1 - z[0]) + nn.relu(1 + z[1]) + nn.relu(1 - z[2]) + nn.relu(1 + z[3])) / 4,
        (X,),
        lambda z: (nn.relu(1 - z[0]) + nn.relu(1 + z[1]) + nn.relu(1 - z[2]) + nn.relu(1 - z[3])) / 4,
    ),
    pair(
        "triplet margin",
        lambda a, p, n: nn.relu(((a - p) ** 2).sum() - ((a - n) ** 2).sum() + 1),
        lambda a, p, n: jnp.maximum(0, p @ p - n @ n - 2 * a @ (p - n) + 1),
        (V, V, V),
        lambda a, p, n: jnp.maximum(0, p @ p - n @ n + 2 * a @ (p - n) + 1),
    ),
    pair(
        "perplexity",
        lambda z: jnp.exp(-(nn.log_softmax(z)[1] + nn.log_softmax(z)[2]) / 2),
        lambda z: 1 / jnp.sqrt(nn.softmax(z)[1] * nn.softmax(z)[2]),
        (X,),
        lambda z: 1 / (nn.softmax(z)[1] * nn.softmax(z)[2]),
    ),
    pair(
        "z-loss",
        lambda z: 0.5 * special.logsumexp(z) ** 2,
        lambda z: 0.5 * (z[0] - nn.log_softmax(z)[0]) ** 2,
        (X,),
        lambda z: 0.5 * (z[0] - nn.log_softmax(z)[1]) ** 2,
        gradient=True,
    ),
    pair(
        "balanced accuracy of two",
        lambda z: (jnp.mean(z[:2] > 0) + jnp.mean(z[2:] <= 0)) / 2,
        lambda z: 0.25 * jnp.sum(jnp.concatenate([(z[:2] > 0), ~(z[2:] > 0)])),
        (X,),
        lambda z: 0.25 * jnp.sum(jnp.concatenate([(z[:2] > 0), (z[2:] > 0)])),
    ),
    pair(
        "mean reciprocal rank",
        lambda z: 1 / (1 + jnp.sum(z[1:] > z[0])),
        lambda z: 1.0 / (1 + jnp.argmax(jnp.argsort(-z) == 0)),
        (V,),
        lambda z: 1.0 / (1 + jnp.argmax(jnp.argsort(z) == 0)),
    ),
    pair(
        "mean absolute percentage error",
        lambda p, t: 100 * jnp.mean(jnp.abs((t - p) / t)),
        lambda p, t: 25 * jnp.sum(jnp.abs(p / t - 1)),
        (X, P),
        lambda p, t: 25 * jnp.sum(jnp.abs(t / p - 1)),
    ),
    pair(
        "cumulative maximum drawdown",
        lambda x: jnp.max(lax.cummax(x) - x),
        lambda x: jnp.maximum(0, jnp.max(jnp.stack([x[0] - x[1], x[0] - x[2], x[1] - x[2]]))),
        (V,),
        lambda x: jnp.max(jnp.stack([x[0] - x[1], x[0] - x[2], x[1] - x[2]])),
    ),
    pair(
        "discounted return",
        lambda r: jnp.sum(r * 0.5 ** jnp.arange(4)),
        lambda r: lax.fori_loop(0, 4, lambda i, g: r[3 - i] + 0.5 * g, jnp.zeros((), r.dtype)),
        (X,),
        lambda r: lax.fori_loop(0, 4, lambda i, g: r[i] + 0.5 * g, jnp.zeros((), r.dtype)),
    ),
    pair(
        "advantage, normalised",
        lambda a: (a - a.mean()) / (a.std() + 1e-8),
        lambda a: (a - a.mean()) / (jnp.sqrt(jnp.mean(a * a) - a.mean() ** 2) + 1e-8),
        (X,),
        lambda a: (a - a.mean()) / (jnp.sqrt(jnp.mean(a * a)) + 1e-8),
    ),
    pair(
        "entropy of a policy",
        lambda z: distrax.Categorical(logits=z).entropy(),
        lambda z: special.logsumexp(z) - (nn.softmax(z) * z).sum(),
        (X,),
        lambda z: special.logsumexp(z) + (nn.softmax(z) * z).sum(),
        gradient=True,
    ),
    pair(
        "squashed normal's log-density",
        lambda u: stats.norm.logpdf(u) - jnp.log(1 - jnp.tanh(u) ** 2),
        lambda u: stats.norm.logpdf(u) - 2 * (jnp.log(2.0) - u - nn.softplus(-2 * u)),
        (X,),
        lambda u: stats.norm.logpdf(u) - 2 * (jnp.log(2.0) - u - nn.softplus(2 * u)),
    ),
    pair(
        "rectified policy gradient",
        lambda p, a: -jnp.where(a > 0, jnp.log(p) * a, 0.0).sum(),
        lambda p, a: -(jnp.log(p) * nn.relu(a)).sum(),
        (P, X),
        lambda p, a: -(jnp.log(p) * nn.relu(-a)).sum(),
    ),
    pair(
        "double DQN target",
        lambda q, t: t[jnp.argmax(q)],
        lambda q, t: jnp.where(q[0] >= q[1], t[0], t[1]),
        (f32(2), f32(2)),
        lambda q, t: jnp.where(q[0] < q[1], t[0], t[1]),
    ),
    pair(
        "Polyak averages",
        lambda a, b: optax.incremental_update(b, optax.incremental_update(a, b, 0.25), 0.5),
        lambda a, b: 0.5 * b + 0.5 * (0.25 * a + 0.75 * b),
        (X, Y),
        lambda a, b: 0.5 * b + 0.5 * (0.75 * a + 0.25 * b),
    ),
    pair(
        "median filter",
        median_filter,
        lambda x: jnp.stack(
            [
                jnp.maximum(jnp.minimum(jnp.maximum(x[i], x[i + 1]), x[i + 2]), jnp.minimum(x[i], x[i + 1]))
                for i in range(3)
            ]
        ),
        (f32(5),),
        lambda x: jnp.stack(
            [
                jnp.maximum(jnp.minimum(jnp.maximum(x[i], x[i + 1]), x[i + 2]), jnp.maximum(x[i], x[i + 1]))
                for i in range(3)
            ]
        ),
    ),
    pair(
        "exponential moving average",
        lambda x: lax.scan(lambda c, v: (0.5 * c + 0.5 * v,) * 2, jnp.zeros((), x.dtype), x)[1],
        lambda x: jnp.tril(0.5 ** (jnp.arange(4)[:, None] - jnp.arange(4) + 1)) @ x,
        (X,),
        lambda x: jnp.tril(0.5 ** (jnp.arange(4)[:, None] - jnp.arange(4))) @ x,
    ),
    pair(
        "pre-emphasis and back",
        lambda x: (lambda y: jnp.stack([y[0], y[1] + 0.5 * y[0], y[2] + 0.5 * y[1] + 0.25 * y[0]]))(
            jnp.concatenate([x[:1], x[1:] - 0.5 * x[:-1]])
        ),
        lambda x: x,
        (V,),
        lambda x: 2 * x,
    ),
    pair(
        "energy of the spectrum",
        lambda x: jnp.sum(jnp.abs(jnp.fft.fft(x)) ** 2) / 4,
        lambda x: x @ x,
        (X,),
        lambda x: 4 * x @ x,
    ),
    pair(
        "soft clipping",
        lambda x: jnp.where(jnp.abs(x) < 1, 1.5 * x - 0.5 * x**3, jnp.sign(x)),
        lambda x: (lambda c: 1.5 * c - 0.5 * c**3)(jnp.clip(x, -1, 1)),
        (X,),
        lambda x: 1.5 * x - 0.5 * jnp.clip(x, -1, 1) ** 3,
    ),
    pair(
        "stochastic depth's scale",
        lambda x: jnp.where(PAD > 0, x / 0.75, 0.0),
        lambda x: x * PAD * 4 / 3,
        (X,),
        lambda x: x * PAD * 3 / 4,
    ),
    pair(
        "turns put together",
        lambda a, b: rotation(a) @ rotation(b),
        lambda a, b: rotation(a + b),
        (S, S),
        lambda a, b: rotation(a - b),
    ),
    pair(
        "distance of a point from a segment",
        lambda p: jnp.sqrt(((p - jnp.clip(p[0], 0, 1) * jnp.array([1.0, 0.0])) ** 2).sum()),
        lambda p: jnp.where(
            p[0] < 0, jnp.hypot(p[0], p[1]), jnp.where(p[0] > 1, jnp.sqrt((p[0] - 1) ** 2 + p[1] ** 2), jnp.abs(p[1]))
        ),
        (f32(2),),
        lambda p: jnp.where(
            p[0] < 0, jnp.hypot(p[0], p[1]), jnp.where(p[0] > 1, jnp.sqrt((p[0] + 1) ** 2 + p[1] ** 2), jnp.abs(p[1]))
        ),
    ),
    pair(
        "barycentric coordinates add up",
        lambda a, b, c: (lambda n: n @ n)(jnp.cross(b - a, c - a)),
        lambda a, b, c: ((b - a) @ (b - a)) * ((c - a) @ (c - a)) - ((b - a) @ (c - a)) ** 2,
        (V, V, V),
        lambda a, b, c: ((b - a) @ (b - a)) * ((c - a) @ (c - a)) + ((b - a) @ (c - a)) ** 2,
    ),
    pair(
        "unit vectors with a guard",
        lambda x: jnp.where(x @ x > 0, x / jnp.sqrt(jnp.where(x @ x > 0, x @ x, 1.0)), 0.0),
        lambda x: x / jnp.where(x @ x == 0, 1.0, jnp.linalg.norm(x)),
        (V,),
        lambda x: x / jnp.where(x @ x == 0, 1.0, x @ x),
    ),
    pair(
        "alpha blending",
        lambda a, b: (a[3] * a[:3] + b[3] * b[:3] * (1 - a[3])) / (a[3] + b[3] * (1 - a[3])),
        lambda a, b: b[:3] + (a[:3] - b[:3]) * a[3] / (1 - (1 - a[3]) * (1 - b[3])),
        (U, U),
        lambda a, b: b[:3] + (a[:3] - b[:3]) * a[3],
    ),
    pair(
        "gamma correction there and back",
        lambda x: (x**2.2) ** (1 / 2.2),
        lambda x: x,
        (P,),
        lambda x: x**2.2,
    ),
    pair(
        "bilinear sample",
        lambda x, u: (1 - u) * ((1 - u) * x[0, 0] + u * x[0, 1]) + u * ((1 - u) * x[1, 0] + u * x[1, 1]),
        lambda x, u: jnp.stack([1 - u, u]) @ x @ jnp.stack([1 - u, u]),
        (f32(2, 2), interval(S, 0.0, 1.0)),
        lambda x, u: jnp.stack([u, 1 - u]) @ x @ jnp.stack([1 - u, u]),
    ),
    pair(
        "thresholding at the mean",
        lambda x: (x > x.mean()).astype(x.dtype),
        lambda x: jnp.heaviside(x - x.sum() / 4, 0.0),
        (X,),
        lambda x: jnp.heaviside(x.sum() / 4 - x, 0.0),
    ),
    pair(
        "int4 with a scale of its own",
        lambda x: jnp.clip(jnp.round(x / (jnp.max(jnp.abs(x)) / 7)), -8, 7),
        lambda x: jnp.round(7 * x / jnp.abs(x).max()),
        (V,),
        lambda x: jnp.round(8 * x / jnp.abs(x).max()),
    ),
    pair(
        "exponential samples",
        lambda u: -jnp.log1p(-u) / 2,
        lambda u: (
            distrax.Transformed(distrax.Uniform(), distrax.Lambda(lambda v: v)).distribution.low - 0.5 * jnp.log(1 - u)
        ),
        (U,),
        lambda u: -0.5 * jnp.log(u),
    ),
    pair(
        "Kumaraswamy's distribution there and back",
        lambda u: 1 - (1 - ((1 - (1 - u) ** 0.5) ** 0.5) ** 2) ** 2,
        lambda u: u,
        (U,),
        lambda u: 1 - u,
    ),
    pair(
        "group standard deviation",
        lambda x: fnn.GroupNorm(num_groups=1, use_bias=False, use_scale=False, epsilon=1e-5).apply({}, x[None])[0],
        lambda x: (x - x.mean()) * lax.rsqrt(((x - x.mean()) ** 2).mean() + 1e-5),
        (X,),
        lambda x: (x - x.mean()) * lax.rsqrt((x**2).mean() + 1e-5),
    ),
)
