"""TensorFlow Probability on JAX: log-densities, entropies, divergences, bijectors, kernels and special functions."""

import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import digamma, erf, gammaln

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain
from . import known
from . import small_matrices as small
from .known import CLASSES, COUNTS, ONES, PROBABILITY, SHAPE, S, X, by_jacobian, log_prob
from .library import library

tfp = library("tensorflow_probability.substrates.jax")
tfd, tfb, kernels = tfp.distributions, tfp.bijectors, tfp.math.psd_kernels

MODERATE = interval(f32(4), -3.0, 3.0)


def categorical(logits):
    return tfd.Categorical(logits=logits)


def divergence(make):
    """The function of the parameters of two distributions of one kind that is their Kullback-Leibler divergence."""
    return known.halves(tfd.kl_divergence, make)


def pushed(bijector):
    """The value and the logarithm of the Jacobian's determinant, entry by entry."""
    return lambda x: (bijector.forward(x), bijector.forward_log_det_jacobian(x, 0))


DENSITIES = (
    known.NORMAL.row("Normal", log_prob(tfd.Normal), "variance for scale", "sign", gradient=True),
    known.LOGNORMAL.row("LogNormal", log_prob(tfd.LogNormal), "no Jacobian", "sign of the Jacobian"),
    known.LAPLACE.row("Laplace", log_prob(tfd.Laplace)),
    known.LOGISTIC.row("Logistic", log_prob(tfd.Logistic), "scale lost", "laplace"),
    known.CAUCHY.row("Cauchy", log_prob(tfd.Cauchy), "pi subtracted", "sign"),
    known.GUMBEL.row("Gumbel", log_prob(tfd.Gumbel), gradient=True),
    known.EXPONENTIAL.row("Exponential", log_prob(tfd.Exponential)),
    known.GAMMA.row("Gamma", log_prob(tfd.Gamma)),
    known.INVERSE_GAMMA.row("InverseGamma", log_prob(tfd.InverseGamma)),
    known.BETA.row("Beta", log_prob(tfd.Beta), "shapes exchanged", "a + 1 for a"),
    known.KUMARASWAMY.row("Kumaraswamy", log_prob(tfd.Kumaraswamy)),
    # Where z > 2896, its log(1 + z²) is 2 log z in float32, another function of real numbers: REFUTED there.
    known.STUDENT_T.row(
        "StudentT", log_prob(tfd.StudentT), "scale lost", "normal", specs=(MODERATE, SHAPE, MODERATE, SHAPE)
    ),
    known.HALF_NORMAL.row("HalfNormal", log_prob(tfd.HalfNormal)),
    known.WEIBULL.row("Weibull", log_prob(tfd.Weibull)),
    known.POISSON.row("Poisson", lambda r: tfd.Poisson(r).log_prob(COUNTS)),
    known.BERNOULLI_LOGITS.row(
        "Bernoulli of logits", lambda x: tfd.Bernoulli(logits=x).log_prob(ONES), "sign", "ones alone", gradient=True
    ),
    known.BERNOULLI_PROBABILITIES.row("Bernoulli of probabilities", lambda p: tfd.Bernoulli(probs=p).log_prob(ONES)),
    known.CATEGORICAL_LOGITS.row(
        "Categorical", lambda x: categorical(x).log_prob(CLASSES), "not normalised", "other classes", gradient=True
    ),
    known.BINOMIAL_LOGITS.row("Binomial", lambda x: tfd.Binomial(6.0, logits=x).log_prob(COUNTS)),
    known.DIRICHLET.row(
        "Dirichlet", lambda z, a: tfd.Dirichlet(a).log_prob(nn.softmax(z)), specs=(f32(3), interval(f32(3), 0.25, 3.5))
    ),
    known.DIAGONAL_NORMAL.row("MultivariateNormalDiag", log_prob(tfd.MultivariateNormalDiag), "mean", "variance"),
    row(
        "MultivariateNormalTriL",
        lambda x, m, A: tfd.MultivariateNormalTriL(m, jnp.linalg.cholesky(small.gram(A))).log_prob(x),
        lambda x, m, A: plain.covariance_normal(x, m, small.gram(A)),
        (f32(2), f32(2), f32(2, 2)),
        {
            "precision": lambda x, m, A: plain.covariance_normal(x, m, small.inv2(small.gram(A))),
            "reversed": lambda x, m, A: plain.covariance_normal(x[::-1], m[::-1], small.gram(A)),
        },
    ),
    row(
        "MixtureSameFamily",
        lambda x, w, m, s: tfd.MixtureSameFamily(tfd.Categorical(logits=w), tfd.Normal(m, s)).log_prob(x),
        lambda x, w, m, s: jnp.log((nn.softmax(w) * jnp.exp(plain.normal(x[:, None], m[None], s[None]))).sum(-1)),
        (X, f32(2), f32(2), positive(f32(2))),
        {
            "equal weights": lambda x, w, m, s: (
                jnp.log(jnp.exp(plain.normal(x[:, None], m[None], s[None])).mean(-1)) + 0 * w[0]
            ),
            "exchanged": lambda x, w, m, s: jnp.log(
                (nn.softmax(w[::-1]) * jnp.exp(plain.normal(x[:, None], m[None], s[None]))).sum(-1)
            ),
        },
    ),
    known.LOGNORMAL.row(
        "TransformedDistribution is LogNormal",
        lambda x, m, s: tfd.TransformedDistribution(tfd.Normal(m, s), tfb.Exp()).log_prob(x),
        "no Jacobian",
        "normal",
    ),
    row(
        "Triangular, in its left half",
        lambda u: tfd.Triangular(0.0, 2.0, 1.0).log_prob(u),
        jnp.log,
        (PROBABILITY,),
        {"right half": lambda u: jnp.log(2 - u), "twice": lambda u: jnp.log(2 * u)},
    ),
)

MEASURES = (
    known.ENTROPY_OF_NORMAL.row("entropy of Normal", lambda s: tfd.Normal(0.0, s).entropy()),
    row(
        "entropy of Gamma",
        lambda a, b: tfd.Gamma(a, b).entropy(),
        lambda a, b: a - jnp.log(b) + gammaln(a) + (1.0 - a) * digamma(a),
        (S, S),
        {
            "sign": lambda a, b: a + jnp.log(b) + gammaln(a) + (1 - a) * digamma(a),
            "logarithm": lambda a, b: a - jnp.log(b) + gammaln(a) + (1 - a) * jnp.log(a),
        },
    ),
    known.ENTROPY_OF_CATEGORICAL.row("entropy of Categorical", lambda x: categorical(x).entropy()),
    known.ENTROPY_OF_BERNOULLI.row("entropy of Bernoulli", lambda x: tfd.Bernoulli(logits=x).entropy()),
    known.KL_OF_NORMALS.row("KL of normals", divergence(tfd.Normal), gradient=True),
    row(
        "KL of exponentials",
        lambda a, b: tfd.kl_divergence(tfd.Exponential(a), tfd.Exponential(b)),
        plain.exponential_kl,
        (S, S),
        {"reversed": lambda a, b: plain.exponential_kl(b, a), "one lost": lambda a, b: plain.exponential_kl(a, b) + 1},
        gradient=True,
    ),
    known.KL_OF_LAPLACES.row("KL of Laplaces", divergence(tfd.Laplace)),
    known.KL_OF_CATEGORICALS.row("KL of categoricals", divergence(categorical)),
    known.KL_OF_GAMMAS.row("KL of gammas", divergence(tfd.Gamma)),
    known.NORMAL_CDF.row("Normal.cdf", lambda x, m, s: tfd.Normal(m, s).cdf(x)),
    known.LOGISTIC_CDF.row("Logistic.cdf", lambda x, m, s: tfd.Logistic(m, s).cdf(x)),
    known.GUMBEL_MEAN.row("Gumbel.mean", lambda m, s: tfd.Gumbel(m, s).mean()),
    row(
        "Exponential.quantile",
        lambda p, r: tfd.Exponential(r).quantile(p),
        lambda p, r: -jnp.log(1.0 - p) / r,
        (PROBABILITY, S),
        {"of the survival": lambda p, r: -jnp.log(p) / r, "product": lambda p, r: -jnp.log(1 - p) * r},
    ),
    row(
        "Weibull.mean",
        lambda k, s: tfd.Weibull(k, s).mean(),
        lambda k, s: s * jnp.exp(gammaln(1.0 + 1.0 / k)),
        (SHAPE, S),
        {"k": lambda k, s: s * jnp.exp(gammaln(1 + k)), "scale": lambda k, s: jnp.exp(gammaln(1 + 1 / k)) + 0 * s},
    ),
)

BIJECTORS = (
    row(
        "Exp",
        pushed(tfb.Exp()),
        lambda x: (jnp.exp(x), x),
        (X,),
        {"sign": lambda x: (jnp.exp(x), -x), "value": lambda x: (jnp.exp(x), jnp.exp(x))},
    ),
    known.SIGMOID.row("Sigmoid", pushed(tfb.Sigmoid())),
    known.TANH.row("Tanh", pushed(tfb.Tanh())),
    row(
        "Softplus",
        pushed(tfb.Softplus()),
        by_jacobian(lambda x: jnp.log(1.0 + jnp.exp(x))),
        (X,),
        {"sign": lambda x: (nn.softplus(x), nn.softplus(-x)), "exp": lambda x: (nn.softplus(x), x)},
    ),
    row(
        "Scale and Shift",
        pushed(tfb.Chain([tfb.Shift(1.0), tfb.Scale(4.0)])),
        lambda x: (4.0 * x + 1.0, jnp.log(4.0) + 0.0 * x.sum()),
        (X,),
        {
            "order": lambda x: (4 * (x + 1), jnp.log(4.0) + 0 * x.sum()),
            "sign": lambda x: (4 * x + 1, -jnp.log(4.0) + 0 * x.sum()),
        },
        single=True,
    ),
    row(
        "Power",
        pushed(tfb.Power(3.0)),
        lambda x: (x**3, jnp.log(3.0) + 2.0 * jnp.log(x)),
        (S,),
        {
            "square": lambda x: (x**2, jnp.log(3.0) + 2 * jnp.log(x)),
            "one logarithm": lambda x: (x**3, jnp.log(3.0) + jnp.log(x)),
        },
    ),
    row(
        "Softsign",
        pushed(tfb.Softsign()),
        lambda x: (x / (1.0 + jnp.abs(x)), -2.0 * jnp.log(1.0 + jnp.abs(x))),
        (X,),
        {
            "one factor": lambda x: (x / (1 + jnp.abs(x)), -jnp.log1p(jnp.abs(x))),
            "square": lambda x: (x / (1 + x * x), -2 * jnp.log1p(jnp.abs(x))),
        },
    ),
    row(
        "Sinh",
        pushed(tfb.Sinh()),
        lambda x: ((jnp.exp(x) - jnp.exp(-x)) / 2.0, jnp.log((jnp.exp(x) + jnp.exp(-x)) / 2.0)),
        (X,),
        {
            "not halved": lambda x: (jnp.exp(x) - jnp.exp(-x), jnp.log(jnp.cosh(x))),
            "sinh twice": lambda x: (jnp.sinh(x), jnp.sinh(x)),
        },
    ),
    row(
        "Gumbel distribution function",
        lambda x: tfb.GumbelCDF().forward(x),
        lambda x: jnp.exp(-jnp.exp(-x)),
        (X,),
        {"sign": lambda x: jnp.exp(-jnp.exp(x)), "logistic": nn.sigmoid},
    ),
    row(
        "SoftmaxCentered of two numbers",
        lambda x: tfb.SoftmaxCentered().forward(x),
        lambda x: jnp.concatenate([jnp.exp(x), jnp.ones(1)]) / (1.0 + jnp.exp(x).sum()),
        (f32(2),),
        {
            "not centred": lambda x: jnp.concatenate([jnp.exp(x), jnp.zeros(1)]) / jnp.exp(x).sum(),
            "first": lambda x: jnp.concatenate([jnp.ones(1), jnp.exp(x)]) / (1 + jnp.exp(x).sum()),
        },
    ),
    known.ORDERED.row("Ordered", lambda x: tfb.Ascending().forward(x)),
    row(
        "Cumsum",
        lambda x: tfb.Cumsum().forward(x),
        lambda x: matmul(np.tri(4, dtype=np.float32), x),
        (X,),
        {"strict": lambda x: jnp.cumsum(x) - x, "reversed": lambda x: jnp.cumsum(x[::-1])},
    ),
    row(
        "FillTriangular and its inverse",
        lambda x: tfb.FillTriangular().inverse(tfb.FillTriangular().forward(x)),
        lambda x: x + 0.0,
        (f32(3),),
        {"sign": lambda x: -x, "reversed": lambda x: x[::-1]},
    ),
    row(
        "Tanh, there and back",
        lambda x: tfb.Tanh().inverse(jnp.tanh(x)),
        lambda x: x + 0.0,
        (MODERATE,),
        {"sign": lambda x: -x, "half": lambda x: x / 2},
    ),
    row(
        "Softplus, there and back",
        lambda x: tfb.Softplus().inverse(nn.softplus(x)),
        lambda x: x + 0.0,
        (MODERATE,),
        {"sign": lambda x: -x, "softplus": nn.softplus},
    ),
)

KERNELS = (
    row(
        "ExponentiatedQuadratic",
        lambda x, y, s: kernels.ExponentiatedQuadratic(2.0, s).apply(x, y),
        lambda x, y, s: 4.0 * jnp.exp(-((x - y) ** 2).sum() / (2.0 * s**2)),
        (f32(3), f32(3), positive(f32())),
        {
            "amplitude": lambda x, y, s: 2 * jnp.exp(-((x - y) ** 2).sum() / (2 * s**2)),
            "not halved": lambda x, y, s: 4 * jnp.exp(-((x - y) ** 2).sum() / s**2),
        },
    ),
    row(
        "RationalQuadratic",
        lambda x, y, s: kernels.RationalQuadratic(length_scale=s, scale_mixture_rate=1.0).apply(x, y),
        lambda x, y, s: 1.0 / (1.0 + ((x - y) ** 2).sum() / (2.0 * s**2)),
        (f32(3), f32(3), positive(f32())),
        {
            "not halved": lambda x, y, s: 1 / (1 + ((x - y) ** 2).sum() / s**2),
            "squared": lambda x, y, s: 1 / (1 + ((x - y) ** 2).sum() / (2 * s**2)) ** 2,
        },
    ),
    row(
        "Linear",
        lambda x, y: kernels.Linear(1.0, 2.0, 0.5).apply(x, y),
        lambda x, y: 1.0 + 4.0 * ((x - 0.5) * (y - 0.5)).sum(),
        (f32(3), f32(3)),
        {"no shift": lambda x, y: 1 + 4 * (x * y).sum(), "slope": lambda x, y: 1 + 2 * ((x - 0.5) * (y - 0.5)).sum()},
    ),
)

FUNCTIONS = (
    row(
        "log1mexp",
        tfp.math.log1mexp,
        lambda x: jnp.log(1.0 - jnp.exp(-x)),
        (interval(f32(4), 0.125, 4.0),),
        {"sign": lambda x: jnp.log(1 + jnp.exp(-x)), "log": jnp.log},
    ),
    row(
        "log_add_exp",
        tfp.math.log_add_exp,
        lambda x, y: jnp.log(jnp.exp(x) + jnp.exp(y)),
        (X, X),
        {"maximum": jnp.maximum, "sum": lambda x, y: x + y},
    ),
    row("log_cosh", tfp.math.log_cosh, lambda x: jnp.log(jnp.cosh(x)), (X,), {"cosh": jnp.cosh, "abs": jnp.abs}),
    row(
        "softplus_inverse",
        tfp.math.softplus_inverse,
        lambda x: jnp.log(jnp.exp(x) - 1.0),
        (interval(f32(4), 0.125, 4.0),),
        {"log": jnp.log, "softplus": nn.softplus},
    ),
    row(
        "smootherstep",
        tfp.math.smootherstep,
        lambda x: jnp.where(x <= 0, 0.0, jnp.where(x >= 1, 1.0, x**3 * (6.0 * x**2 - 15.0 * x + 10.0))),
        (X,),
        {
            "smoothstep": lambda x: jnp.clip(x, 0, 1) ** 2 * (3 - 2 * jnp.clip(x, 0, 1)),
            "not clipped": lambda x: x**3 * (6.0 * x**2 - 15.0 * x + 10.0),
        },
    ),
)

FURTHER = (
    row(
        "HalfCauchy",
        lambda y, m, s: tfd.HalfCauchy(m, s).log_prob(m + y),
        lambda y, m, s: plain.half_cauchy(y, s),
        (S, X, S),
        {"cauchy": lambda y, m, s: plain.cauchy(y, 0.0, s), "scale lost": lambda y, m, s: plain.half_cauchy(y, 1.0)},
    ),
    row(
        "Chi2",
        log_prob(tfd.Chi2),
        plain.chi2,
        (S, S),
        {"gamma": lambda x, k: plain.gamma(x, k, 0.5), "k for k/2": lambda x, k: plain.chi2(x, 2 * k)},
    ),
    row(
        "Pareto inside",
        lambda y, a, m: tfd.Pareto(a, m).log_prob(m + y),
        lambda y, a, m: plain.pareto(m + y, a, m),
        (S, S, S),
        {
            "power": lambda y, a, m: plain.pareto(m + y, a + 1, m),
            "scale lost": lambda y, a, m: plain.pareto(m + y, a, 1.0),
        },
    ),
    row(
        "Uniform everywhere",
        lambda x: tfd.Uniform(-1.0, 3.0).log_prob(x),
        lambda x: jnp.where((x >= -1.0) & (x <= 3.0), -jnp.log(4.0), -jnp.inf),
        (X,),
        {
            "no support": lambda x: -jnp.log(4.0) + 0 * x,
            "one side": lambda x: jnp.where(x <= 3, -jnp.log(4.0), -jnp.inf),
        },
    ),
    row(
        "Uniform.cdf",
        lambda x: tfd.Uniform(-1.0, 3.0).cdf(x),
        lambda x: jnp.clip((x + 1.0) / 4.0, 0.0, 1.0),
        (X,),
        {"not clipped": lambda x: (x + 1) / 4, "sigmoid": lambda x: nn.sigmoid(x - 1)},
    ),
    row(
        "Geometric",
        lambda p: tfd.Geometric(probs=p).log_prob(COUNTS),
        lambda p: plain.geometric(COUNTS, p),
        (PROBABILITY,),
        {"shifted": lambda p: plain.geometric(COUNTS - 1, p), "exchanged": lambda p: plain.geometric(COUNTS, 1 - p)},
    ),
    row(
        "NegativeBinomial of logits",
        lambda r, a: tfd.NegativeBinomial(r, logits=a).log_prob(COUNTS),
        lambda r, a: (
            gammaln(COUNTS + r)
            - gammaln(COUNTS + 1.0)
            - gammaln(r)
            + COUNTS * jnp.log(nn.sigmoid(a))
            + r * jnp.log(1.0 - nn.sigmoid(a))
        ),
        (SHAPE, X),
        {
            "no coefficient": lambda r, a: COUNTS * jnp.log(nn.sigmoid(a)) + r * jnp.log(1 - nn.sigmoid(a)),
        },
    ),
    row(
        "Multinomial",
        lambda a: tfd.Multinomial(8.0, logits=a).log_prob(COUNTS),
        lambda a: gammaln(9.0) - gammaln(COUNTS + 1.0).sum() + (COUNTS * plain.log_softmax(a)).sum(-1),
        (f32(3, 4),),
        {
            "no coefficient": lambda a: (COUNTS * plain.log_softmax(a)).sum(-1),
            "not normalised": lambda a: gammaln(9.0) - gammaln(COUNTS + 1.0).sum() + (COUNTS * a).sum(-1),
        },
    ),
    row(
        "OneHotCategorical",
        lambda a: tfd.OneHotCategorical(logits=a).log_prob(np.eye(4, dtype=np.float32)[CLASSES]),
        lambda a: jnp.take_along_axis(plain.log_softmax(a), CLASSES[:, None], 1)[:, 0],
        (f32(3, 4),),
        {"sign": lambda a: -jnp.take_along_axis(plain.log_softmax(a), CLASSES[:, None], 1)[:, 0]},
    ),
    row(
        "Logistic.survival_function",
        lambda x, m, s: tfd.Logistic(m, s).survival_function(x),
        lambda x, m, s: 1.0 / (1.0 + jnp.exp((x - m) / s)),
        (X, X, S),
        {"cdf": plain.logistic_cdf, "no scale": lambda x, m, s: 1 / (1 + jnp.exp(x - m))},
    ),
    row(
        "Laplace.cdf",
        lambda x, m, b: tfd.Laplace(m, b).cdf(x),
        plain.laplace_cdf,
        (X, X, S),
        {
            "survival": lambda x, m, b: 1 - plain.laplace_cdf(x, m, b),
            "logistic": plain.logistic_cdf,
        },
    ),
    row(
        "Normal.log_survival_function",
        lambda x: tfd.Normal(0.0, 2.0).log_survival_function(x),
        lambda x: jnp.log((1.0 - erf(x / jnp.sqrt(8.0))) / 2.0),
        (interval(f32(4), -3.0, 3.0),),
        {"cdf": lambda x: jnp.log((1 + erf(x / jnp.sqrt(8.0))) / 2)},
    ),
    row(
        "KL of Bernoullis of logits",
        lambda a, b: tfd.kl_divergence(tfd.Bernoulli(logits=a), tfd.Bernoulli(logits=b)),
        lambda a, b: plain.bernoulli_kl(nn.sigmoid(a), nn.sigmoid(b)),
        (X, X),
        {"exchanged": lambda a, b: plain.bernoulli_kl(nn.sigmoid(b), nn.sigmoid(a))},
    ),
    row(
        "KL of exponentials, as a quotient",
        divergence(tfd.Exponential),
        lambda a, b: jnp.log(a / b) + b / a - 1.0,
        (S, S),
        {"sign": lambda a, b: jnp.log(b / a) + b / a - 1},
    ),
    row(
        "entropy of Beta",
        lambda a, b: tfd.Beta(a, b).entropy(),
        lambda a, b: (
            gammaln(a)
            + gammaln(b)
            - gammaln(a + b)
            - (a - 1.0) * digamma(a)
            - (b - 1.0) * digamma(b)
            + (a + b - 2.0) * digamma(a + b)
        ),
        (SHAPE, SHAPE),
        {
            "normaliser": lambda a, b: gammaln(a) + gammaln(b) - gammaln(a + b),
        },
    ),
    row(
        "Weibull of shape 1 at its scale",
        lambda s: tfd.Weibull(1.0, s).log_prob(s),
        lambda s: -jnp.log(s) - 1.0,
        (S,),
        {"sign": lambda s: jnp.log(s) - 1},
    ),
    row(
        "Expm1",
        pushed(tfb.Expm1()),
        by_jacobian(lambda x: jnp.exp(x) - 1.0),
        (X,),
        {"exp": by_jacobian(jnp.exp), "sign": lambda x: (jnp.expm1(x), -x)},
    ),
    row(
        "NormalCDF",
        pushed(tfb.NormalCDF()),
        by_jacobian(lambda x: (1.0 + erf(x / jnp.sqrt(2.0))) / 2.0),
        (X,),
        {"sigmoid": by_jacobian(nn.sigmoid)},
    ),
    row(
        "Reciprocal",
        pushed(tfb.Reciprocal()),
        lambda x: (1.0 / x, -2.0 * jnp.log(x)),
        (S,),
        {"sign": lambda x: (1 / x, 2 * jnp.log(x))},
    ),
    row(
        "SinhArcsinh that changes nothing",
        lambda x: tfb.SinhArcsinh(jnp.zeros_like(x), jnp.ones_like(x)).forward(x),
        lambda x: x + 0.0,
        (X,),
        {"sinh": jnp.sinh, "sign": lambda x: -x},
    ),
    row(
        "WeibullCDF",
        lambda x: tfb.WeibullCDF(jnp.full_like(x, 2.0), jnp.full_like(x, 1.5)).forward(x),
        lambda x: 1.0 - jnp.exp(-((x / 2.0) ** 1.5)),
        (S,),
        {"survival": lambda x: jnp.exp(-((x / 2.0) ** 1.5))},
    ),
    row(
        "KumaraswamyCDF",
        lambda x: tfb.KumaraswamyCDF(2.0, 3.0).forward(x),
        lambda x: 1.0 - (1.0 - x**2) ** 3,
        (interval(f32(4), 0.125, 0.875),),
        {"exchanged": lambda x: 1 - (1 - x**3) ** 2},
    ),
    row(
        "SoftClip from 0 on is softplus",
        lambda x: tfb.SoftClip(low=jnp.zeros_like(x)).forward(x),
        nn.softplus,
        (X,),
        {"relu": nn.relu},
    ),
)

ROWS = (*DENSITIES, *MEASURES, *BIJECTORS, *KERNELS, *FUNCTIONS, *FURTHER)
