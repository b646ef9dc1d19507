"""numpyro: log-densities, entropies, divergences and transforms."""

import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import erf, gammaln, i0, i0e

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain
from . import known
from .known import BITS, CLASSES, COUNTS, PROBABILITY, SHAPE, S, X, log_prob
from .library import library

dist = library("numpyro.distributions")
transforms = library("numpyro.distributions.transforms")

MODERATE = interval(f32(4), -4.0, 4.0)


def divergence(make):
    """The function of the parameters of two distributions of one kind that is their Kullback-Leibler divergence."""
    return known.halves(dist.kl_divergence, make)


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
    known.NORMAL.row(
        "Normal.log_prob", log_prob(dist.Normal), "variance for scale", "no normaliser", "2s for 2s²", gradient=True
    ),
    known.LOGNORMAL.row(
        "LogNormal.log_prob", log_prob(dist.LogNormal), "no Jacobian", "sign of the Jacobian", gradient=True
    ),
    known.LAPLACE.row("Laplace.log_prob", log_prob(dist.Laplace)),
    known.LOGISTIC.row("Logistic.log_prob", log_prob(dist.Logistic), "one softplus", "scale lost"),
    known.CAUCHY.row("Cauchy.log_prob", log_prob(dist.Cauchy), "pi lost", "scale outside", gradient=True),
    known.GUMBEL.row("Gumbel.log_prob", log_prob(dist.Gumbel)),
    known.EXPONENTIAL.row("Exponential.log_prob", log_prob(dist.Exponential), gradient=True),
    known.GAMMA.row("Gamma.log_prob", log_prob(dist.Gamma)),
    known.INVERSE_GAMMA.row("InverseGamma.log_prob", log_prob(dist.InverseGamma)),
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
    known.BETA.row("Beta.log_prob", log_prob(dist.Beta), "shapes exchanged", "sign of the normaliser"),
    known.KUMARASWAMY.row("Kumaraswamy.log_prob", log_prob(dist.Kumaraswamy)),
    known.STUDENT_T.row("StudentT.log_prob", log_prob(dist.StudentT), "n for n + 1", "scale lost"),
    known.HALF_NORMAL.row("HalfNormal.log_prob", log_prob(dist.HalfNormal)),
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
    known.WEIBULL.row("Weibull.log_prob", log_prob(lambda k, s: dist.Weibull(s, k))),
    known.UNIFORM_INSIDE.row(
        "Uniform.log_prob inside", lambda u, a, w: dist.Uniform(a, a + w).log_prob(a + u * w), "sign", "end for width"
    ),
    known.POISSON.row("Poisson.log_prob", lambda r: dist.Poisson(r).log_prob(COUNTS)),
    known.BERNOULLI_PROBABILITIES.row("BernoulliProbs.log_prob", lambda p: dist.BernoulliProbs(p).log_prob(BITS)),
    known.BERNOULLI_LOGITS.row(
        "BernoulliLogits.log_prob",
        lambda x: dist.BernoulliLogits(x).log_prob(BITS),
        "sign",
        "exchanged",
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
    known.BINOMIAL_LOGITS.row(
        "BinomialLogits.log_prob", lambda x: dist.BinomialLogits(x, 6).log_prob(np.int32(COUNTS))
    ),
    known.CATEGORICAL_LOGITS.row(
        "CategoricalLogits.log_prob",
        lambda x: dist.CategoricalLogits(x).log_prob(CLASSES),
        "not normalised",
        "other classes",
        gradient=True,
    ),
    known.CATEGORICAL_LOGITS.row(
        "CategoricalProbs.log_prob of a softmax",
        lambda x: dist.CategoricalProbs(nn.softmax(x)).log_prob(CLASSES),
        "of the square",
        "other classes",
    ),
    known.DIRICHLET.row("Dirichlet.log_prob", lambda z, a: dist.Dirichlet(a).log_prob(nn.softmax(z))),
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
    known.DIAGONAL_NORMAL.row(
        "Independent Normal.log_prob", lambda x, m, s: dist.Normal(m, s).to_event(1).log_prob(x), "mean", "one entry"
    ),
    known.LOGNORMAL.row(
        "TransformedDistribution is LogNormal",
        lambda x, m, s: dist.TransformedDistribution(dist.Normal(m, s), transforms.ExpTransform()).log_prob(x),
        "no Jacobian",
        "normal",
    ),
)

MEASURES = (
    known.ENTROPY_OF_NORMAL.row("Normal.entropy", lambda s: dist.Normal(0.0, s).entropy()),
    known.KL_OF_NORMALS.row("kl_divergence of normals", divergence(dist.Normal), gradient=True),
    known.KL_OF_GAMMAS.row("kl_divergence of gammas", divergence(dist.Gamma)),
    known.KL_OF_BETAS.row("kl_divergence of betas", divergence(dist.Beta)),
    known.NORMAL_CDF.row("Normal.cdf", lambda x, m, s: dist.Normal(m, s).cdf(x)),
    known.LOGISTIC_CDF.row("Logistic.cdf", lambda x, m, s: dist.Logistic(m, s).cdf(x)),
    known.LAPLACE_CDF.row("Laplace.cdf", lambda x, m, b: dist.Laplace(m, b).cdf(x)),
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
    known.ORDERED.row("OrderedTransform", lambda x: transforms.OrderedTransform()(x), gradient=True),
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

FURTHER = (
    row(
        "AsymmetricLaplace.log_prob",
        lambda x, m, s, k: dist.AsymmetricLaplace(m, s, k).log_prob(x),
        lambda x, m, s, k: -jnp.where(x >= m, k, 1.0 / k) * jnp.abs(x - m) / s - jnp.log(s) - jnp.log(k + 1.0 / k),
        (X, X, S, S),
        {
            "sides exchanged": lambda x, m, s, k: (
                -jnp.where(x < m, k, 1.0 / k) * jnp.abs(x - m) / s - jnp.log(s) - jnp.log(k + 1.0 / k)
            ),
            "symmetric": lambda x, m, s, k: plain.laplace(x, m, s),
        },
    ),
    row(
        "SoftLaplace.log_prob",
        log_prob(dist.SoftLaplace),
        lambda x, m, s: jnp.log(2.0 / np.pi) - jnp.log(s) - jnp.log(jnp.exp((x - m) / s) + jnp.exp(-(x - m) / s)),
        (X, X, S),
        {
            "laplace": plain.laplace,
            "pi lost": lambda x, m, s: jnp.log(2.0) - jnp.log(s) - jnp.log(2 * jnp.cosh((x - m) / s)),
        },
    ),
    row(
        "LogUniform.log_prob inside",
        lambda u: dist.LogUniform(0.5, 8.0).log_prob(u),
        lambda u: -jnp.log(u) - jnp.log(jnp.log(16.0)),
        (interval(f32(4), 1.0, 4.0),),
        {"uniform": lambda u: -jnp.log(7.5) + 0 * u, "sign": lambda u: jnp.log(u) - jnp.log(jnp.log(16.0))},
    ),
    row(
        "Levy.log_prob",
        lambda y, m, c: dist.Levy(m, c).log_prob(m + y),
        lambda y, m, c: jnp.log(jnp.sqrt(c / plain.TAU) * jnp.exp(-c / (2.0 * y)) / y**1.5),
        (S, X, S),
        {
            "power": lambda y, m, c: jnp.log(jnp.sqrt(c / plain.TAU) * jnp.exp(-c / (2 * y)) / y),
            "2 lost": lambda y, m, c: jnp.log(jnp.sqrt(c / plain.TAU) * jnp.exp(-c / y) / y**1.5),
        },
    ),
    row(
        "Gompertz.log_prob",
        log_prob(dist.Gompertz),
        lambda x, a, b: jnp.log(a * b) + b * x + a - a * jnp.exp(b * x),
        (S, S, S),
        {
            "constant lost": lambda x, a, b: jnp.log(a * b) + b * x - a * jnp.exp(b * x),
            "rates exchanged": lambda x, a, b: jnp.log(a * b) + a * x + b - b * jnp.exp(a * x),
        },
    ),
    row(
        "NegativeBinomialProbs.log_prob",
        lambda r, p: dist.NegativeBinomialProbs(r, p).log_prob(COUNTS),
        lambda r, p: (
            gammaln(COUNTS + r) - gammaln(COUNTS + 1.0) - gammaln(r) + COUNTS * jnp.log(p) + r * jnp.log(1.0 - p)
        ),
        (SHAPE, PROBABILITY),
        {
            "p for 1 - p": lambda r, p: (
                gammaln(COUNTS + r) - gammaln(COUNTS + 1) - gammaln(r) + COUNTS * jnp.log(1 - p) + r * jnp.log(p)
            ),
            "no coefficient": lambda r, p: COUNTS * jnp.log(p) + r * jnp.log(1 - p),
        },
    ),
    row(
        "GammaPoisson.log_prob",
        lambda a, b: dist.GammaPoisson(a, b).log_prob(COUNTS),
        lambda a, b: (
            gammaln(COUNTS + a)
            - gammaln(COUNTS + 1.0)
            - gammaln(a)
            + a * jnp.log(b / (b + 1.0))
            - COUNTS * jnp.log(b + 1.0)
        ),
        (SHAPE, S),
        {
            "rate": lambda a, b: (
                gammaln(COUNTS + a) - gammaln(COUNTS + 1) - gammaln(a) + a * jnp.log(b) - COUNTS * jnp.log(b + 1)
            )
        },
    ),
    row(
        "ZeroInflatedPoisson.log_prob",
        lambda g, r: dist.ZeroInflatedPoisson(g, r).log_prob(COUNTS),
        lambda g, r: jnp.where(
            COUNTS == 0.0,
            jnp.log(g + (1.0 - g) * jnp.exp(-r)),
            jnp.log(1.0 - g) + plain.poisson(COUNTS, r),
        ),
        (PROBABILITY, S),
        {
            "no inflation": lambda g, r: plain.poisson(COUNTS, r) + 0 * g,
            "gate exchanged": lambda g, r: jnp.where(
                COUNTS == 0, jnp.log(1 - g + g * jnp.exp(-r)), jnp.log(g) + plain.poisson(COUNTS, r)
            ),
        },
    ),
    row(
        "TruncatedNormal.log_prob inside",
        lambda y, m, s: dist.TruncatedNormal(m, s, low=0.0).log_prob(y),
        lambda y, m, s: plain.normal(y, m, s) - jnp.log((1.0 + erf(m / s / jnp.sqrt(2.0))) / 2.0),
        (S, interval(f32(4), -2.0, 2.0), interval(f32(4), 0.5, 3.0)),
        {
            "not normalised": plain.normal,
            "other tail": lambda y, m, s: plain.normal(y, m, s) - jnp.log((1 - erf(m / s / jnp.sqrt(2.0))) / 2),
        },
    ),
    row(
        "VonMises.log_prob",
        log_prob(dist.VonMises),
        lambda x, m, k: k * jnp.cos(x - m) - jnp.log(plain.TAU * i0(k)),
        (interval(f32(4), -3.0, 3.0), X, S),
        {
            "sine": lambda x, m, k: k * jnp.sin(x - m) - jnp.log(plain.TAU * i0(k)),
            "scaled Bessel function": lambda x, m, k: k * jnp.cos(x - m) - jnp.log(plain.TAU * i0e(k)),
        },
    ),
    row(
        "Uniform.cdf",
        lambda x: dist.Uniform(-1.0, 3.0).cdf(x),
        lambda x: jnp.where(x < -1.0, 0.0, jnp.where(x > 3.0, 1.0, (x + 1.0) / 4.0)),
        (X,),
        {
            "not clipped": lambda x: (x + 1) / 4,
            "shifted": lambda x: jnp.clip(x / 4, 0, 1),
        },
    ),
    row(
        "HalfNormal.log_prob by the normal one",
        lambda x, s: dist.HalfNormal(s).log_prob(x),
        lambda x, s: jnp.log(2.0 * jnp.exp(plain.normal(x, 0.0, s))),
        (S, S),
        {"half": lambda x, s: plain.normal(x, 0.0, s), "twice": lambda x, s: 2 * plain.normal(x, 0.0, s)},
    ),
    row(
        "RelaxedBernoulliLogits.log_prob",
        lambda x, a: dist.RelaxedBernoulliLogits(jnp.float32(0.5), a).log_prob(nn.sigmoid(x)),
        lambda x, a: (
            jnp.log(0.5)
            + a
            - 1.5 * (jnp.log(nn.sigmoid(x)) + jnp.log(1.0 - nn.sigmoid(x)))
            - 0.5 * x
            + 0.5 * (jnp.log(nn.sigmoid(x)) + jnp.log(1.0 - nn.sigmoid(x)))
            - 2.0 * jnp.log(1.0 + jnp.exp(a - 0.5 * x))
        ),
        (X, X),
        {"no Jacobian": lambda x, a: jnp.log(0.5) + a - 0.5 * x - 2 * jnp.log(1 + jnp.exp(a - 0.5 * x))},
    ),
    row(
        "Exponential.entropy",
        lambda r: dist.Exponential(r).entropy(),
        lambda r: 1.0 - jnp.log(r),
        (S,),
        {"sign": lambda r: 1 + jnp.log(r), "1 lost": lambda r: -jnp.log(r)},
    ),
    row(
        "Weibull.cdf",
        lambda x, s, k: dist.Weibull(s, k).cdf(x),
        lambda x, s, k: 1.0 - jnp.exp(-((x / s) ** k)),
        (S, S, S),
        {"survival": lambda x, s, k: jnp.exp(-((x / s) ** k)), "inverse": lambda x, s, k: 1 - jnp.exp(-((s / x) ** k))},
    ),
    row(
        "Pareto.cdf",
        lambda y, a, m: dist.Pareto(m, a).cdf(m + y),
        lambda y, a, m: 1.0 - (m / (m + y)) ** a,
        (S, S, S),
        {"survival": lambda y, a, m: (m / (m + y)) ** a, "no power": lambda y, a, m: 1 - m / (m + y)},
    ),
    row(
        "Kumaraswamy.mean of shape 1 is that of Beta",
        lambda b: dist.Kumaraswamy(jnp.ones(4), b).mean,
        lambda b: 1.0 / (1.0 + b),
        (SHAPE,),
        {"other": lambda b: b / (1 + b), "half": lambda b: 0.5 + 0 * b},
    ),
    row(
        "Logistic.icdf",
        lambda q, m, s: dist.Logistic(m, s).icdf(q),
        lambda q, m, s: m + s * jnp.log(q / (1.0 - q)),
        (PROBABILITY, X, S),
        {"sign": lambda q, m, s: m - s * jnp.log(q / (1 - q)), "no scale": lambda q, m, s: m + jnp.log(q / (1 - q))},
    ),
    row(
        "SoftplusTransform.log_abs_det_jacobian",
        lambda x: transforms.SoftplusTransform().log_abs_det_jacobian(x, transforms.SoftplusTransform()(x)),
        lambda x: jnp.log(nn.sigmoid(x)),
        (X,),
        {"sign": lambda x: jnp.log(nn.sigmoid(-x)), "softplus": lambda x: jnp.log(nn.softplus(x))},
    ),
    row(
        "PowerTransform, there and back",
        lambda x: transforms.PowerTransform(3.0)._inverse(transforms.PowerTransform(3.0)(x)),
        lambda x: x + 0.0,
        (S,),
        {"sign": lambda x: -x, "cube": lambda x: x**3},
    ),
    row(
        "SigmoidTransform, there and back",
        lambda x: transforms.SigmoidTransform()._inverse(transforms.SigmoidTransform()(x)),
        lambda x: x + 0.0,
        (MODERATE,),
        {"once": nn.sigmoid, "sign": lambda x: -x},
    ),
)

ROWS = (*DENSITIES, *MEASURES, *TRANSFORMS, *FURTHER)
