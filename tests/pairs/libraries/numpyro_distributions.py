"""numpyro: log-densities, entropies, divergences and transforms."""

import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import digamma

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain
from .library import library

dist = library("numpyro.distributions")
transforms = library("numpyro.distributions.transforms")

X, S, ONE = f32(4), positive(f32(4)), positive(f32())
PROBABILITY = interval(f32(4), 0.125, 0.875)
SHAPE = interval(f32(4), 0.25, 3.5)
LOGITS = f32(3, 4)
CLASSES = np.array([2, 0, 3], np.int32)
COUNTS = np.array([0.0, 1.0, 2.0, 5.0], np.float32)
BITS = np.array([0, 1, 1, 0], np.int32)


def log_prob(make):
    """(x, parameters …) ↦ the log-density."""
    return lambda x, *parameters: make(*parameters).log_prob(x)


def tril(x):
    """A lower triangular matrix with a positive diagonal from three numbers."""
    return (
        jnp.array([[1.0, 0.0], [0.0, 0.0]]) * jnp.exp(x[0])
        + jnp.array([[0.0, 0.0], [1.0, 0.0]]) * x[1]
        + jnp.array([[0.0, 0.0], [0.0, 1.0]]) * jnp.exp(x[2])
    )


def two_components(x, w, m, s):
    return jnp.log((jnp.exp(plain.log_softmax(w)) * jnp.exp(plain.normal(x[:, None], m[None], s[None]))).sum(-1))


DENSITIES = (
    row(
        "Normal.log_prob",
        log_prob(dist.Normal),
        plain.normal,
        (X, X, S),
        {
            "variance for scale": lambda x, m, v: plain.normal(x, m, jnp.sqrt(v)),
            "no normaliser": lambda x, m, s: -((x - m) ** 2) / (2 * s**2),
            "2s for 2s²": lambda x, m, s: -((x - m) ** 2) / (2 * s) - jnp.log(s) - jnp.log(plain.TAU) / 2,
        },
        gradient=True,
    ),
    row(
        "LogNormal.log_prob",
        log_prob(dist.LogNormal),
        plain.lognormal,
        (S, X, S),
        {
            "no Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s),
            "sign of the Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s) + jnp.log(x),
        },
        gradient=True,
    ),
    row(
        "Laplace.log_prob",
        log_prob(dist.Laplace),
        plain.laplace,
        (X, X, S),
        {
            "squared": lambda x, m, b: -((x - m) ** 2) / b - jnp.log(2 * b),
            "2 lost": lambda x, m, b: -jnp.abs(x - m) / b - jnp.log(b),
        },
    ),
    row(
        "Logistic.log_prob",
        log_prob(dist.Logistic),
        plain.logistic,
        (X, X, S),
        {
            "once the softplus": lambda x, m, s: plain.logistic(x, m, s) + nn.softplus(-(x - m) / s),
            "scale lost": lambda x, m, s: plain.logistic(x, m, s) + jnp.log(s),
        },
    ),
    row(
        "Cauchy.log_prob",
        log_prob(dist.Cauchy),
        plain.cauchy,
        (X, X, S),
        {
            "pi lost": lambda x, m, s: -jnp.log(s * (1.0 + ((x - m) / s) ** 2)),
            "scale outside": lambda x, m, s: -jnp.log(np.pi * (1.0 + ((x - m) / s) ** 2)),
        },
        gradient=True,
    ),
    row(
        "Gumbel.log_prob",
        log_prob(dist.Gumbel),
        plain.gumbel,
        (X, X, S),
        {
            "of the minimum": lambda x, m, s: plain.gumbel(-x, -m, s),
            "scale lost": lambda x, m, s: plain.gumbel(x, m, s) + jnp.log(s),
        },
    ),
    row(
        "Exponential.log_prob",
        log_prob(dist.Exponential),
        plain.exponential,
        (S, S),
        {"scale for rate": lambda x, s: -x / s - jnp.log(s), "normaliser lost": lambda x, r: -r * x},
        gradient=True,
    ),
    row(
        "Gamma.log_prob",
        log_prob(dist.Gamma),
        plain.gamma,
        (S, S, S),
        {
            "scale for rate": lambda x, a, s: plain.gamma(x, a, 1 / s),
            "a for a − 1": lambda x, a, r: plain.gamma(x, a, r) + jnp.log(x),
        },
    ),
    row(
        "InverseGamma.log_prob",
        log_prob(dist.InverseGamma),
        plain.inverse_gamma,
        (S, S, S),
        {"gamma": plain.gamma, "a − 1": lambda x, a, b: plain.inverse_gamma(x, a, b) + 2 * jnp.log(x)},
    ),
    row(
        "Chi2.log_prob",
        log_prob(dist.Chi2),
        plain.chi2,
        (S, S),
        {
            "k for k/2": lambda x, k: plain.chi2(x, 2 * k),
            "power of two lost": lambda x, k: plain.chi2(x, k) + k / 2 * jnp.log(2.0),
        },
    ),
    row(
        "Beta.log_prob",
        log_prob(dist.Beta),
        plain.beta,
        (PROBABILITY, SHAPE, SHAPE),
        {
            "shapes exchanged": lambda x, a, b: plain.beta(x, b, a),
            "sign of the normaliser": lambda x, a, b: plain.beta(x, a, b) + 2 * plain.betaln(a, b),
        },
    ),
    row(
        "Kumaraswamy.log_prob",
        log_prob(dist.Kumaraswamy),
        plain.kumaraswamy,
        (PROBABILITY, SHAPE, SHAPE),
        {"shapes exchanged": lambda x, a, b: plain.kumaraswamy(x, b, a), "beta": plain.beta},
    ),
    row(
        "StudentT.log_prob",
        log_prob(dist.StudentT),
        plain.student_t,
        (X, S, X, S),
        {
            "n for n + 1": lambda x, n, m, s: plain.student_t(x, n, m, s) + jnp.log(1 + ((x - m) / s) ** 2 / n) / 2,
            "scale lost": lambda x, n, m, s: plain.student_t(x, n, m, s) + jnp.log(s),
        },
    ),
    row(
        "HalfNormal.log_prob",
        log_prob(dist.HalfNormal),
        plain.half_normal,
        (S, S),
        {
            "normal": lambda x, s: plain.normal(x, 0.0, s),
            "scale lost": lambda x, s: plain.half_normal(x, s) + jnp.log(s),
        },
    ),
    row(
        "HalfCauchy.log_prob",
        log_prob(dist.HalfCauchy),
        plain.half_cauchy,
        (S, S),
        {
            "cauchy": lambda x, s: plain.cauchy(x, 0.0, s),
            "scale lost": lambda x, s: plain.half_cauchy(x, s) + jnp.log(s),
        },
    ),
    row(
        "Pareto.log_prob",
        lambda y, a, m: dist.Pareto(m, a).log_prob(m + y),
        lambda y, a, m: plain.pareto(m + y, a, m),
        (S, S, S),
        {
            "a for a + 1": lambda y, a, m: plain.pareto(m + y, a, m) + jnp.log(m + y),
            "parameters exchanged": lambda y, a, m: plain.pareto(m + y, m, a),
        },
    ),
    row(
        "Weibull.log_prob",
        lambda x, k, s: dist.Weibull(s, k).log_prob(x),
        plain.weibull,
        (S, S, S),
        {
            "parameters exchanged": lambda x, k, s: plain.weibull(x, s, k),
            "k for k − 1": lambda x, k, s: plain.weibull(x, k, s) + jnp.log(x / s),
        },
    ),
    row(
        "Uniform.log_prob inside",
        lambda u, a, w: dist.Uniform(a, a + w).log_prob(a + u * w),
        lambda u, a, w: -jnp.log(w) + 0.0 * (u + a),
        (PROBABILITY, X, S),
        {
            "sign": lambda u, a, w: jnp.log(w) + 0 * (u + a),
            "end for width": lambda u, a, w: -jnp.log(jnp.abs(a + w)) + 0 * u,
        },
    ),
    row(
        "Poisson.log_prob",
        lambda r: dist.Poisson(r).log_prob(COUNTS),
        lambda r: plain.poisson(COUNTS, r),
        (S,),
        {"factorial lost": lambda r: COUNTS * jnp.log(r) - r, "rate lost": lambda r: plain.poisson(COUNTS, r) + r},
    ),
    row(
        "BernoulliProbs.log_prob",
        lambda p: dist.BernoulliProbs(p).log_prob(BITS),
        lambda p: plain.bernoulli(np.float32(BITS), p),
        (PROBABILITY,),
        {
            "exchanged": lambda p: plain.bernoulli(1 - np.float32(BITS), p),
            "ones alone": lambda p: np.float32(BITS) * jnp.log(p),
        },
    ),
    row(
        "BernoulliLogits.log_prob",
        lambda x: dist.BernoulliLogits(x).log_prob(BITS),
        lambda x: np.float32(BITS) * x - jnp.log(1.0 + jnp.exp(x)),
        (X,),
        {
            "sign": lambda x: -np.float32(BITS) * x - jnp.log(1.0 + jnp.exp(x)),
            "exchanged": lambda x: (1 - np.float32(BITS)) * x - jnp.log(1.0 + jnp.exp(x)),
        },
        gradient=True,
        almost_everywhere=True,
    ),
    row(
        "GeometricProbs.log_prob",
        lambda p: dist.GeometricProbs(p).log_prob(COUNTS),
        lambda p: plain.geometric(COUNTS, p),
        (PROBABILITY,),
        {"from 1": lambda p: plain.geometric(COUNTS - 1.0, p), "exchanged": lambda p: plain.geometric(COUNTS, 1 - p)},
    ),
    row(
        "BinomialProbs.log_prob",
        lambda p: dist.BinomialProbs(p, 6).log_prob(np.int32(COUNTS)),
        lambda p: plain.binomial(COUNTS, 6.0, p),
        (PROBABILITY,),
        {
            "choices lost": lambda p: COUNTS * jnp.log(p) + (6 - COUNTS) * jnp.log(1 - p),
            "of seven": lambda p: plain.binomial(COUNTS, 7.0, p),
        },
    ),
    row(
        "BinomialLogits.log_prob",
        lambda x: dist.BinomialLogits(x, 6).log_prob(np.int32(COUNTS)),
        lambda x: plain.binomial(COUNTS, 6.0, nn.sigmoid(x)),
        (X,),
        {
            "sign": lambda x: plain.binomial(COUNTS, 6.0, nn.sigmoid(-x)),
            "of seven": lambda x: plain.binomial(COUNTS, 7.0, nn.sigmoid(x)),
        },
    ),
    row(
        "CategoricalLogits.log_prob",
        lambda x: dist.CategoricalLogits(x).log_prob(CLASSES),
        lambda x: plain.categorical(CLASSES, x),
        (LOGITS,),
        {
            "not normalised": lambda x: jnp.take_along_axis(x, CLASSES[:, None], -1)[:, 0],
            "other classes": lambda x: plain.categorical(np.roll(CLASSES, 1), x),
        },
        gradient=True,
    ),
    row(
        "CategoricalProbs.log_prob of a softmax",
        lambda x: dist.CategoricalProbs(nn.softmax(x)).log_prob(CLASSES),
        lambda x: plain.categorical(CLASSES, x),
        (LOGITS,),
        {
            "of the square": lambda x: plain.categorical(CLASSES, 2 * x),
            "other classes": lambda x: plain.categorical(np.roll(CLASSES, 1), x),
        },
    ),
    row(
        "Dirichlet.log_prob",
        lambda z, a: dist.Dirichlet(a).log_prob(nn.softmax(z)),
        lambda z, a: plain.dirichlet(nn.softmax(z), a),
        (f32(3), positive(f32(3))),
        {
            "a for a − 1": lambda z, a: plain.dirichlet(nn.softmax(z), a + 1),
            "normaliser lost": lambda z, a: ((a - 1) * nn.log_softmax(z)).sum(),
        },
    ),
    row(
        "MultivariateNormal.log_prob, triangular scale",
        lambda x, m, t: dist.MultivariateNormal(m, scale_tril=tril(t)).log_prob(x),
        lambda x, m, t: plain.triangular_normal(x, m, tril(t)),
        (f32(2), f32(2), f32(3)),
        {
            "transposed": lambda x, m, t: plain.triangular_normal(x[::-1], m[::-1], tril(t)),
            "half the determinant": lambda x, m, t: plain.triangular_normal(x, m, tril(t)) + (t[0] + t[2]) / 2,
        },
    ),
    row(
        "MultivariateNormal.log_prob, covariance",
        lambda x, m, t: dist.MultivariateNormal(m, covariance_matrix=matmul(tril(t), tril(t).T)).log_prob(x),
        lambda x, m, t: plain.covariance_normal(x, m, matmul(tril(t), tril(t).T)),
        (f32(2), f32(2), f32(3)),
        {
            "precision for covariance": lambda x, m, t: plain.covariance_normal(x, m, matmul(tril(-t), tril(-t).T)),
            "determinant not halved": lambda x, m, t: (
                plain.covariance_normal(x, m, matmul(tril(t), tril(t).T)) - t[0] - t[2]
            ),
        },
    ),
    row(
        "MixtureSameFamily.log_prob",
        lambda x, w, m, s: dist.MixtureSameFamily(dist.CategoricalLogits(w), dist.Normal(m, s)).log_prob(x),
        two_components,
        (X, f32(2), f32(2), positive(f32(2))),
        {
            "equal weights": lambda x, w, m, s: two_components(x, 0 * w, m, s),
            "components exchanged": lambda x, w, m, s: two_components(x, w[::-1], m, s),
        },
    ),
    row(
        "Independent Normal.log_prob",
        lambda x, m, s: dist.Normal(m, s).to_event(1).log_prob(x),
        plain.diagonal_normal,
        (X, X, S),
        {"mean": lambda x, m, s: plain.normal(x, m, s).mean(), "one entry": lambda x, m, s: plain.normal(x, m, s)[0]},
    ),
    row(
        "TransformedDistribution is LogNormal",
        lambda x, m, s: dist.TransformedDistribution(dist.Normal(m, s), transforms.ExpTransform()).log_prob(x),
        plain.lognormal,
        (S, X, S),
        {"no Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s), "normal": plain.normal},
    ),
)

MEASURES = (
    row(
        "Normal.entropy",
        lambda s: dist.Normal(0.0, s).entropy(),
        plain.normal_entropy,
        (S,),
        {"e lost": lambda s: jnp.log(plain.TAU * s**2) / 2, "variance": lambda s: jnp.log(plain.TAU * np.e * s) / 2},
    ),
    row(
        "kl_divergence of normals",
        lambda m, s, n, t: dist.kl_divergence(dist.Normal(m, s), dist.Normal(n, t)),
        plain.normal_kl,
        (X, S, X, S),
        {
            "reversed": lambda m, s, n, t: plain.normal_kl(n, t, m, s),
            "half lost": lambda m, s, n, t: plain.normal_kl(m, s, n, t) + 0.5,
        },
        gradient=True,
    ),
    row(
        "kl_divergence of gammas",
        lambda a, b, c, d: dist.kl_divergence(dist.Gamma(a, b), dist.Gamma(c, d)),
        lambda a, b, c, d: plain.gamma_kl(a, b, c, d, digamma),
        (S, S, S, S),
        {
            "reversed": lambda a, b, c, d: plain.gamma_kl(c, d, a, b, digamma),
            "logarithm for digamma": lambda a, b, c, d: plain.gamma_kl(a, b, c, d, jnp.log),
        },
    ),
    row(
        "kl_divergence of betas",
        lambda a, b, c, d: dist.kl_divergence(dist.Beta(a, b), dist.Beta(c, d)),
        lambda a, b, c, d: plain.beta_kl(a, b, c, d, digamma),
        (SHAPE, SHAPE, SHAPE, SHAPE),
        {
            "reversed": lambda a, b, c, d: plain.beta_kl(c, d, a, b, digamma),
            "exchanged": lambda a, b, c, d: plain.beta_kl(a, b, d, c, digamma),
        },
    ),
    row(
        "Normal.cdf",
        lambda x, m, s: dist.Normal(m, s).cdf(x),
        plain.normal_cdf,
        (X, X, S),
        {"survival": lambda x, m, s: 1 - plain.normal_cdf(x, m, s), "logistic": plain.logistic_cdf},
    ),
    row(
        "Logistic.cdf",
        lambda x, m, s: dist.Logistic(m, s).cdf(x),
        plain.logistic_cdf,
        (X, X, S),
        {
            "survival": lambda x, m, s: 1 - plain.logistic_cdf(x, m, s),
            "inverse scale": lambda x, m, s: plain.logistic_cdf(x, m, 1 / s),
        },
    ),
    row(
        "Laplace.cdf",
        lambda x, m, b: dist.Laplace(m, b).cdf(x),
        plain.laplace_cdf,
        (X, X, S),
        {
            "survival": lambda x, m, b: 1 - plain.laplace_cdf(x, m, b),
            "one branch": lambda x, m, b: jnp.exp((x - m) / b) / 2,
        },
    ),
    row(
        "Exponential.cdf and icdf",
        lambda u, r: dist.Exponential(r).cdf(dist.Exponential(r).icdf(u)),
        lambda u, r: u + 0.0 * r,
        (PROBABILITY, S),
        {"twice": lambda u, r: 2 * u + 0 * r, "scaled": lambda u, r: u * r},
    ),
    row(
        "Gumbel.variance",
        lambda s: dist.Gumbel(0.0, s).variance,
        lambda s: np.pi**2 / 6.0 * s**2,
        (S,),
        {"not squared": lambda s: np.pi / 6 * s**2, "of the scale": lambda s: np.pi**2 / 6 * s},
    ),
    row(
        "Beta.variance",
        lambda a, b: dist.Beta(a, b).variance,
        lambda a, b: a * b / ((a + b) ** 2 * (a + b + 1.0)),
        (S, S),
        {"one lost": lambda a, b: a * b / (a + b) ** 3, "mean": lambda a, b: a / (a + b)},
        gradient=True,
    ),
    row(
        "StudentT.variance",
        lambda n, s: dist.StudentT(n, 0.0, s).variance,
        lambda n, s: jnp.where(n > 2.0, s**2 * n / (n - 2.0), jnp.where(n > 1.0, jnp.inf, jnp.nan)),
        (interval(f32(4), 2.5, 9.0), S),
        {"n for n − 2": lambda n, s: s**2 + 0 * n, "not squared": lambda n, s: s * n / (n - 2)},
    ),
)

TRANSFORMS = (
    row(
        "AffineTransform.log_abs_det_jacobian",
        lambda x, m, s: transforms.AffineTransform(m, s).log_abs_det_jacobian(x, m + s * x),
        lambda x, m, s: jnp.log(s) + 0.0 * (x + m),
        (X, X, S),
        {"sign": lambda x, m, s: -jnp.log(s) + 0 * (x + m), "squared": lambda x, m, s: 2 * jnp.log(s) + 0 * (x + m)},
    ),
    row(
        "SigmoidTransform.log_abs_det_jacobian",
        lambda x: transforms.SigmoidTransform().log_abs_det_jacobian(x, nn.sigmoid(x)),
        lambda x: jnp.log(nn.sigmoid(x) * (1.0 - nn.sigmoid(x))),
        (X,),
        {
            "one factor": lambda x: jnp.log(nn.sigmoid(x)),
            "sign": lambda x: -jnp.log(nn.sigmoid(x) * (1 - nn.sigmoid(x))),
        },
    ),
    row(
        "SoftplusTransform, there and back",
        lambda x: transforms.SoftplusTransform()._inverse(transforms.SoftplusTransform()(x)),
        lambda x: x + 0.0,
        (X,),
        {"twice": lambda x: 2 * x, "softplus": nn.softplus},
    ),
    row(
        "StickBreakingTransform of three numbers sums to 1",
        lambda x: transforms.StickBreakingTransform()(x).sum(),
        lambda x: 1.0 + 0.0 * x.sum(),
        (f32(3),),
        {"two": lambda x: 2.0 + 0 * x.sum(), "the last": lambda x: transforms.StickBreakingTransform()(x)[-1]},
    ),
    row(
        "OrderedTransform",
        lambda x: transforms.OrderedTransform()(x),
        lambda x: jnp.stack([x[0], x[0] + jnp.exp(x[1]), x[0] + jnp.exp(x[1]) + jnp.exp(x[2])]),
        (f32(3),),
        {"no exponential": lambda x: jnp.cumsum(x), "all exponentials": lambda x: jnp.cumsum(jnp.exp(x))},
        gradient=True,
    ),
    row(
        "LowerCholeskyTransform",
        lambda x: transforms.LowerCholeskyTransform()(x),
        lambda x: jnp.stack([jnp.stack([jnp.exp(x[1]), 0.0 * x[0]]), jnp.stack([x[0], jnp.exp(x[2])])]),
        (f32(3),),
        {
            "no exponential": lambda x: jnp.stack([jnp.stack([x[1], 0 * x[0]]), jnp.stack([x[0], x[2]])]),
            "transposed": lambda x: transforms.LowerCholeskyTransform()(x).T,
        },
    ),
    row(
        "CorrCholeskyTransform has rows of length 1",
        lambda x: (transforms.CorrCholeskyTransform()(x) ** 2).sum(-1),
        lambda x: jnp.ones(3) + 0.0 * x.sum(),
        (f32(3),),
        {
            "two": lambda x: 2 * jnp.ones(3) + 0 * x.sum(),
            "not squared": lambda x: transforms.CorrCholeskyTransform()(x).sum(-1),
        },
    ),
)

ROWS = (*DENSITIES, *MEASURES, *TRANSFORMS)
