"""Losses and densities as users write them, against another honest writing, each with a plausible mistake."""

import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy import special, stats

from uat_jax import interval, positive

from ..pair import f32
from ..row import Row, row
from .library import library

optax = library("optax")
distrax = library("distrax")
npd = library("numpyro.distributions")

X = f32(4)
Y = f32(4)
M = f32(3, 4)
P = positive(f32(4))
U = interval(f32(4), 0.125, 0.875)
S = f32()
C = np.array([2, 0, 3], np.int32)
OH = np.eye(4, dtype=np.float32)[np.array([2, 0, 3])]


def pair(name, left, right, specs, mistake, **options) -> Row:
    """A row with one mistake."""
    return row(name, left, right, specs, {"a mistake": mistake}, **options)


ROWS = (
    pair(
        "optax.softmax_cross_entropy_with_integer_labels where",
        lambda z: optax.softmax_cross_entropy_with_integer_labels(
            z, C, where=np.array([[1, 1, 1, 1], [1, 1, 0, 1], [1, 1, 1, 1]], bool)
        ).mean(),
        lambda z: jnp.stack(
            [
                special.logsumexp(z[0]) - z[0, 2],
                special.logsumexp(z[1][jnp.array([0, 1, 3])]) - z[1, 0],
                special.logsumexp(z[2]) - z[2, 3],
            ]
        ).mean(),
        (M,),
        lambda z: jnp.stack(
            [special.logsumexp(z[0]) - z[0, 2], special.logsumexp(z[1]) - z[1, 0], special.logsumexp(z[2]) - z[2, 3]]
        ).mean(),
        gradient=True,
    ),
    pair(
        "dice loss",
        lambda z, t: 1 - 2 * (nn.sigmoid(z) * t).sum() / (nn.sigmoid(z).sum() + t.sum()),
        lambda z, t: (
            ((nn.sigmoid(z) * (1 - t)).sum() + ((1 - nn.sigmoid(z)) * t).sum()) / (nn.sigmoid(z).sum() + t.sum())
        ),
        (X, U),
        lambda z, t: (
            ((nn.sigmoid(z) * (1 - t)).sum() + ((1 - nn.sigmoid(z)) * (1 - t)).sum()) / (nn.sigmoid(z).sum() + t.sum())
        ),
        gradient=True,
    ),
    pair(
        "InfoNCE",
        lambda a, b: -jnp.diag(nn.log_softmax(a @ b.T / 0.07, axis=1)).mean(),
        lambda a, b: jnp.mean(
            special.logsumexp((a[:, None] * b[None]).sum(-1) / 0.07, axis=1) - (a * b).sum(-1) / 0.07
        ),
        (f32(3, 2), f32(3, 2)),
        lambda a, b: jnp.mean(
            special.logsumexp((a[:, None] * b[None]).sum(-1) / 0.07, axis=0) - (a * b).sum(-1) / 0.07
        ),
    ),
    pair(
        "clip contrastive both ways",
        lambda a, b: (
            optax.softmax_cross_entropy_with_integer_labels(a @ b.T, jnp.arange(3)).mean() / 2
            + optax.softmax_cross_entropy_with_integer_labels(b @ a.T, jnp.arange(3)).mean() / 2
        ),
        lambda a, b: -(jnp.trace(nn.log_softmax(a @ b.T, 0)) + jnp.trace(nn.log_softmax(a @ b.T, 1))) / 6,
        (f32(3, 2), f32(3, 2)),
        lambda a, b: -(jnp.trace(nn.log_softmax(a @ b.T, 0)) + jnp.trace(nn.log_softmax(a @ b.T, 0))) / 6,
    ),
    pair(
        "quantile loss",
        lambda p, t: jnp.maximum(0.3 * (t - p), -0.7 * (t - p)).mean(),
        lambda p, t: ((0.3 - (t < p)) * (t - p)).mean(),
        (X, Y),
        lambda p, t: ((0.7 - (t < p)) * (t - p)).mean(),
    ),
    pair(
        "hinge squared multiclass",
        lambda z: jnp.maximum(0, 1 + z - z[np.arange(3), C][:, None]).at[np.arange(3), C].set(0.0).sum(-1),
        lambda z: (nn.relu(1 + z - (z * OH).sum(-1, keepdims=True)) * (1 - OH)).sum(-1),
        (M,),
        lambda z: (nn.relu(1 + z - (z * OH).sum(-1, keepdims=True))).sum(-1),
    ),
    pair(
        "cosine embedding",
        lambda a, b: optax.cosine_similarity(a, b, epsilon=0.0),
        lambda a, b: jnp.dot(a / jnp.linalg.norm(a), b / jnp.linalg.norm(b)),
        (X, Y),
        lambda a, b: jnp.dot(a / jnp.linalg.norm(a), b) / jnp.linalg.norm(b) ** 2,
    ),
    pair(
        "Student t negative log",
        lambda x, m, s: -stats.t.logpdf(x, 4.0, m, s).sum(),
        lambda x, m, s: (
            2.5 * jnp.log1p(((x - m) / s) ** 2 / 4)
            + jnp.log(s)
            + special.gammaln(2.0)
            - special.gammaln(2.5)
            + 0.5 * jnp.log(4 * jnp.pi)
        ).sum(),
        (X, Y, P),
        lambda x, m, s: (
            2.0 * jnp.log1p(((x - m) / s) ** 2 / 4)
            + jnp.log(s)
            + special.gammaln(2.0)
            - special.gammaln(2.5)
            + 0.5 * jnp.log(4 * jnp.pi)
        ).sum(),
        gradient=True,
    ),
    pair(
        "log cosh",
        optax.losses.log_cosh,
        lambda p, t: jnp.log(jnp.cosh(p - t)),
        (X, Y),
        lambda p, t: jnp.log(jnp.cosh(p - t)) - jnp.log(2.0),
        gradient=True,
    ),
    pair(
        "charbonnier",
        lambda p, t: jnp.sqrt((p - t) ** 2 + 1e-6).mean(),
        lambda p, t: jnp.hypot(p - t, 1e-3).mean(),
        (X, Y),
        lambda p, t: jnp.hypot(p - t, 1e-2).mean(),
        gradient=True,
    ),
    pair(
        "tversky index",
        lambda p, t: (p * t).sum() / ((p * t).sum() + 0.3 * (p * (1 - t)).sum() + 0.7 * ((1 - p) * t).sum()),
        lambda p, t: (p * t).sum() / (0.3 * p.sum() + 0.7 * t.sum()),
        (U, U),
        lambda p, t: (p * t).sum() / (0.7 * p.sum() + 0.3 * t.sum()),
    ),
    pair(
        "multivariate normal 2",
        lambda x, L: npd.MultivariateNormal(
            jnp.zeros(2), scale_tril=jnp.array([[1.0, 0], [0, 1]]) * jnp.exp(L)[:, None]
        ).log_prob(x),
        lambda x, L: (stats.norm.logpdf(x, 0, jnp.exp(L))).sum(),
        (f32(2), f32(2)),
        lambda x, L: (stats.norm.logpdf(x, 0, jnp.exp(2 * L))).sum(),
        gradient=True,
    ),
    pair(
        "multivariate normal by covariance",
        lambda x, a: stats.multivariate_normal.logpdf(x, jnp.zeros(2), jnp.eye(2) + jnp.outer(a, a)),
        lambda x, a: -0.5 * (x @ x - (a @ x) ** 2 / (1 + a @ a)) - 0.5 * jnp.log(1 + a @ a) - jnp.log(2 * jnp.pi),
        (f32(2), f32(2)),
        lambda x, a: -0.5 * (x @ x - (a @ x) ** 2 / (1 + a @ a)) + 0.5 * jnp.log(1 + a @ a) - jnp.log(2 * jnp.pi),
        gradient=True,
    ),
    pair(
        "laplace cdf",
        lambda x: stats.laplace.cdf(x),
        lambda x: 0.5 + 0.5 * jnp.sign(x) * (1 - jnp.exp(-jnp.abs(x))),
        (X,),
        lambda x: 0.5 + 0.5 * jnp.sign(x) * (1 - jnp.exp(-x)),
    ),
    pair(
        "kl gamma",
        lambda a, b: distrax.Gamma(a, b).kl_divergence(distrax.Gamma(2.0, 3.0)),
        lambda a, b: (
            (a - 2) * special.digamma(a) - special.gammaln(a) + 2 * (jnp.log(b) - jnp.log(3.0)) + a * (3 - b) / b
        ),
        (P, P),
        lambda a, b: (a - 2) * special.digamma(a) - special.gammaln(a) + 2 * (jnp.log(b) - jnp.log(3.0)) + a * (3 - b),
    ),
    pair(
        "kl normals",
        lambda m, s: distrax.Normal(m, s).kl_divergence(distrax.Normal(0.0, 1.0)),
        lambda m, s: (m**2 + s**2 - 1) / 2 - jnp.log(s),
        (X, P),
        lambda m, s: (m**2 + s**2 - 1) / 2 + jnp.log(s),
        gradient=True,
    ),
    pair(
        "mixture of two normals",
        lambda w, x: npd.MixtureSameFamily(npd.Categorical(logits=w), npd.Normal(jnp.array([0.0, 2.0]), 1.0)).log_prob(
            x
        ),
        lambda w, x: special.logsumexp(nn.log_softmax(w) + stats.norm.logpdf(x, jnp.array([0.0, 2.0]), 1.0)),
        (f32(2), S),
        lambda w, x: special.logsumexp(w + stats.norm.logpdf(x, jnp.array([0.0, 2.0]), 1.0)),
        gradient=True,
    ),
    pair(
        "logistic mixture cdf bins",
        lambda m, s, x: nn.sigmoid((x + 0.5 - m) / s) - nn.sigmoid((x - 0.5 - m) / s),
        lambda m, s, x: jnp.sinh(0.5 / s) / (jnp.cosh((x - m) / s) + jnp.cosh(0.5 / s)),
        (X, P, Y),
        lambda m, s, x: jnp.sinh(1 / s) / (jnp.cosh((x - m) / s) + jnp.cosh(0.5 / s)),
    ),
    pair(
        "truncated normal",
        lambda x: npd.TruncatedNormal(0.0, 1.0, low=0.0, high=2.0).log_prob(x),
        lambda x: stats.norm.logpdf(x) - jnp.log(stats.norm.cdf(2.0) - stats.norm.cdf(0.0)),
        (interval(f32(3), 0.25, 1.75),),
        lambda x: stats.norm.logpdf(x) - jnp.log(stats.norm.cdf(2.0)),
    ),
    pair(
        "dirichlet-multinomial",
        lambda a: npd.DirichletMultinomial(a, total_count=5).log_prob(jnp.array([1.0, 3.0, 1.0])),
        lambda a: (
            jnp.log(20.0)
            + special.gammaln(a.sum())
            - special.gammaln(a.sum() + 5)
            + jnp.log(a[0])
            + jnp.log(a[1])
            + jnp.log(a[1] + 1)
            + jnp.log(a[1] + 2)
            + jnp.log(a[2])
        ),
        (positive(f32(3)),),
        lambda a: (
            jnp.log(20.0)
            + special.gammaln(a.sum())
            - special.gammaln(a.sum() + 4)
            + jnp.log(a[0])
            + jnp.log(a[1])
            + jnp.log(a[1] + 1)
            + jnp.log(a[1] + 2)
            + jnp.log(a[2])
        ),
    ),
    pair(
        "von mises mod 2π",
        lambda x, m, k: npd.VonMises(m, k).log_prob(x) - npd.VonMises(m, k).log_prob(m),
        lambda x, m, k: k * (jnp.cos(x - m) - 1),
        (S, S, positive(f32())),
        lambda x, m, k: k * (jnp.cos(x + m) - 1),
    ),
    pair(
        "gumbel",
        lambda x, m, s: distrax.Gumbel(m, s).log_prob(x),
        lambda x, m, s: -((x - m) / s + jnp.exp(-(x - m) / s)) - jnp.log(s),
        (X, Y, P),
        lambda x, m, s: -((x - m) / s + jnp.exp((x - m) / s)) - jnp.log(s),
        gradient=True,
    ),
    pair(
        "poisson gamma",
        lambda r_, p: stats.nbinom.logpmf(jnp.array([0.0, 1.0, 2.0, 4.0]), r_, p),
        lambda r_, p: (
            special.gammaln(jnp.array([0.0, 1.0, 2.0, 4.0]) + r_)
            - special.gammaln(r_)
            - jnp.log(jnp.array([1.0, 1.0, 2.0, 24.0]))
            + r_ * jnp.log(p)
            + jnp.array([0.0, 1.0, 2.0, 4.0]) * jnp.log1p(-p)
        ),
        (P, U),
        lambda r_, p: (
            special.gammaln(jnp.array([0.0, 1.0, 2.0, 4.0]) + r_)
            - special.gammaln(r_)
            - jnp.log(jnp.array([1.0, 1.0, 2.0, 24.0]))
            + r_ * jnp.log1p(-p)
            + jnp.array([0.0, 1.0, 2.0, 4.0]) * jnp.log(p)
        ),
    ),
)
