"""Logarithms of densities, entropies and divergences as a textbook prints them, for the tables of distributions."""

import jax.numpy as jnp
import numpy as np
from jax.scipy.special import betaln, erf, gammaln

TAU = float(2 * np.pi)
EULER = float(np.euler_gamma)


def normal(x, m, s):
    return -((x - m) ** 2) / (2.0 * s**2) - jnp.log(s) - jnp.log(TAU) / 2.0


def lognormal(x, m, s):
    return normal(jnp.log(x), m, s) - jnp.log(x)


def laplace(x, m, b):
    return -jnp.abs(x - m) / b - jnp.log(2.0 * b)


def logistic(x, m, s):
    z = (x - m) / s
    return -z - jnp.log(s) - 2.0 * jnp.log(1.0 + jnp.exp(-z))


def cauchy(x, m, s):
    return -jnp.log(np.pi * s * (1.0 + ((x - m) / s) ** 2))


def gumbel(x, m, s):
    z = (x - m) / s
    return -z - jnp.exp(-z) - jnp.log(s)


def exponential(x, rate):
    return jnp.log(rate * jnp.exp(-rate * x))


def gamma(x, a, rate):
    return a * jnp.log(rate) - gammaln(a) + (a - 1.0) * jnp.log(x) - rate * x


def inverse_gamma(x, a, b):
    return a * jnp.log(b) - gammaln(a) - (a + 1.0) * jnp.log(x) - b / x


def chi2(x, k):
    return (k / 2.0 - 1.0) * jnp.log(x) - x / 2.0 - k / 2.0 * jnp.log(2.0) - gammaln(k / 2.0)


def beta(x, a, b):
    return (a - 1.0) * jnp.log(x) + (b - 1.0) * jnp.log(1.0 - x) - gammaln(a) - gammaln(b) + gammaln(a + b)


def kumaraswamy(x, a, b):
    return jnp.log(a) + jnp.log(b) + (a - 1.0) * jnp.log(x) + (b - 1.0) * jnp.log(1.0 - x**a)


def student_t(x, n, m, s):
    z = (x - m) / s
    return (
        gammaln((n + 1.0) / 2.0)
        - gammaln(n / 2.0)
        - jnp.log(n * np.pi) / 2.0
        - jnp.log(s)
        - (n + 1.0) / 2.0 * jnp.log(1.0 + z**2 / n)
    )


def half_normal(x, s):
    return jnp.log(2.0) / 2.0 - jnp.log(np.pi) / 2.0 - jnp.log(s) - x**2 / (2.0 * s**2)


def half_cauchy(x, s):
    return jnp.log(2.0 / np.pi) - jnp.log(s) - jnp.log(1.0 + (x / s) ** 2)


def pareto(x, a, m):
    return jnp.log(a) + a * jnp.log(m) - (a + 1.0) * jnp.log(x)


def weibull(x, k, s):
    return jnp.log(k / s) + (k - 1.0) * jnp.log(x / s) - (x / s) ** k


def poisson(k, rate):
    return k * jnp.log(rate) - rate - gammaln(k + 1.0)


def bernoulli(x, p):
    return x * jnp.log(p) + (1.0 - x) * jnp.log(1.0 - p)


def geometric(k, p):
    return k * jnp.log(1.0 - p) + jnp.log(p)


def binomial(k, n, p):
    choose = gammaln(n + 1.0) - gammaln(k + 1.0) - gammaln(n - k + 1.0)
    return choose + k * jnp.log(p) + (n - k) * jnp.log(1.0 - p)


def dirichlet(x, a):
    return ((a - 1.0) * jnp.log(x)).sum(-1) - gammaln(a).sum(-1) + gammaln(a.sum(-1))


def log_softmax(logits):
    return logits - jnp.log(jnp.exp(logits).sum(-1, keepdims=True))


def categorical(k, logits):
    """Of constant classes k."""
    return jnp.take_along_axis(log_softmax(logits), k[..., None], -1)[..., 0]


def diagonal_normal(x, m, s):
    return normal(x, m, s).sum(-1)


def triangular_normal(x, m, scale):
    """With a lower triangular scale L of two rows: z = L⁻¹ (x − m) is written out."""
    a, b, c = scale[0, 0], scale[1, 0], scale[1, 1]
    u = (x[0] - m[0]) / a
    v = (x[1] - m[1] - b * u) / c
    return -(u**2 + v**2) / 2.0 - jnp.log(a) - jnp.log(c) - jnp.log(TAU)


def covariance_normal(x, m, cov):
    """With a covariance of two rows: determinant and inverse are written out."""
    (a, b), (_, d) = cov
    det = a * d - b**2
    (u, v) = x - m
    return -(d * u**2 - 2.0 * b * u * v + a * v**2) / (2.0 * det) - jnp.log(det) / 2.0 - jnp.log(TAU)


def normal_cdf(x, m, s):
    return (1.0 + erf((x - m) / (s * jnp.sqrt(2.0)))) / 2.0


def logistic_cdf(x, m, s):
    return 1.0 / (1.0 + jnp.exp(-(x - m) / s))


def laplace_cdf(x, m, b):
    return jnp.where(x < m, jnp.exp((x - m) / b) / 2.0, 1.0 - jnp.exp(-(x - m) / b) / 2.0)


def gumbel_cdf(x, m, s):
    return jnp.exp(-jnp.exp(-(x - m) / s))


def normal_entropy(s):
    return jnp.log(TAU * np.e * s**2) / 2.0


def normal_kl(m, s, n, t):
    return jnp.log(t / s) + (s**2 + (m - n) ** 2) / (2.0 * t**2) - 0.5


def bernoulli_kl(p, q):
    return p * jnp.log(p / q) + (1.0 - p) * jnp.log((1.0 - p) / (1.0 - q))


def bernoulli_entropy(p):
    return -p * jnp.log(p) - (1.0 - p) * jnp.log(1.0 - p)


def categorical_kl(a, b):
    p = jnp.exp(a) / jnp.exp(a).sum(-1, keepdims=True)
    q = jnp.exp(b) / jnp.exp(b).sum(-1, keepdims=True)
    return (p * jnp.log(p / q)).sum(-1)


def categorical_entropy(logits):
    p = jnp.exp(logits) / jnp.exp(logits).sum(-1, keepdims=True)
    return -(p * jnp.log(p)).sum(-1)


def gamma_kl(a, b, c, d, digamma):
    """Of shapes a, c and rates b, d."""
    return (a - c) * digamma(a) - gammaln(a) + gammaln(c) + c * (jnp.log(b) - jnp.log(d)) + a * (d - b) / b


def beta_kl(a, b, c, d, digamma):
    return betaln(c, d) - betaln(a, b) + (a - c) * digamma(a) + (b - d) * digamma(b) + (c - a + d - b) * digamma(a + b)


def exponential_kl(a, b):
    return jnp.log(a) - jnp.log(b) + b / a - 1.0


def laplace_kl(m, a, n, b):
    return jnp.log(b / a) + jnp.abs(m - n) / b + a / b * jnp.exp(-jnp.abs(m - n) / a) - 1.0
