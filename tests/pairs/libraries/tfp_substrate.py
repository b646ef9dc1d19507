"""TensorFlow Probability on JAX: log-densities, entropies, divergences, bijectors, kernels and special functions."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import digamma, gammaln

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain
from . import small_matrices as small
from .library import library

tfp = library("tensorflow_probability.substrates.jax")
tfd, tfb, kernels = tfp.distributions, tfp.bijectors, tfp.math.psd_kernels

X, S = f32(4), positive(f32(4))
PROBABILITY = interval(f32(4), 0.125, 0.875)
SHAPE = interval(f32(4), 0.25, 3.5)
MODERATE = interval(f32(4), -3.0, 3.0)
LOGITS = f32(3, 4)
CLASSES = np.array([2, 0, 3], np.int32)
COUNTS = np.array([0.0, 1.0, 2.0, 5.0], np.float32)
ONES = np.array([0.0, 1.0, 1.0, 0.0], np.float32)


def log_prob(make):
    return lambda x, *parameters: make(*parameters).log_prob(x)


def pushed(bijector):
    """The value and the logarithm of the Jacobian's determinant, entry by entry."""
    return lambda x: (bijector.forward(x), bijector.forward_log_det_jacobian(x, 0))


def by_jacobian(f):
    return lambda x: (f(x), jnp.log(jnp.abs(jax.vmap(jax.grad(f))(x))))


DENSITIES = (
    row(
        "Normal",
        log_prob(tfd.Normal),
        plain.normal,
        (X, X, S),
        {"variance": lambda x, m, v: plain.normal(x, m, jnp.sqrt(v)), "sign": lambda x, m, s: -plain.normal(x, m, s)},
        gradient=True,
    ),
    row(
        "LogNormal",
        log_prob(tfd.LogNormal),
        plain.lognormal,
        (S, X, S),
        {
            "no Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s),
            "sign": lambda x, m, s: plain.normal(jnp.log(x), m, s) + jnp.log(x),
        },
    ),
    row(
        "Laplace",
        log_prob(tfd.Laplace),
        plain.laplace,
        (X, X, S),
        {
            "2 lost": lambda x, m, b: -jnp.abs(x - m) / b - jnp.log(b),
            "squared": lambda x, m, b: -((x - m) ** 2) / b - jnp.log(2 * b),
        },
    ),
    row(
        "Logistic",
        log_prob(tfd.Logistic),
        plain.logistic,
        (X, X, S),
        {"scale lost": lambda x, m, s: plain.logistic(x, m, s) + jnp.log(s), "laplace": plain.laplace},
    ),
    row(
        "Cauchy",
        log_prob(tfd.Cauchy),
        plain.cauchy,
        (X, X, S),
        {"pi": lambda x, m, s: plain.cauchy(x, m, s) + jnp.log(np.pi), "sign": lambda x, m, s: -plain.cauchy(x, m, s)},
    ),
    row(
        "Gumbel",
        log_prob(tfd.Gumbel),
        plain.gumbel,
        (X, X, S),
        {
            "of the minimum": lambda x, m, s: plain.gumbel(-x, -m, s),
            "scale lost": lambda x, m, s: plain.gumbel(x, m, s) + jnp.log(s),
        },
        gradient=True,
    ),
    row(
        "Exponential",
        log_prob(tfd.Exponential),
        plain.exponential,
        (S, S),
        {"scale": lambda x, s: -x / s - jnp.log(s), "normaliser": lambda x, r: -r * x},
    ),
    row(
        "Gamma",
        log_prob(tfd.Gamma),
        plain.gamma,
        (S, S, S),
        {"scale": lambda x, a, s: plain.gamma(x, a, 1 / s), "a": lambda x, a, r: plain.gamma(x, a, r) + jnp.log(x)},
    ),
    row(
        "InverseGamma",
        log_prob(tfd.InverseGamma),
        plain.inverse_gamma,
        (S, S, S),
        {"gamma": plain.gamma, "a − 1": lambda x, a, b: plain.inverse_gamma(x, a, b) + 2 * jnp.log(x)},
    ),
    row(
        "Beta",
        log_prob(tfd.Beta),
        plain.beta,
        (PROBABILITY, SHAPE, SHAPE),
        {"exchanged": lambda x, a, b: plain.beta(x, b, a), "a": lambda x, a, b: plain.beta(x, a + 1, b)},
    ),
    row(
        "Kumaraswamy",
        log_prob(tfd.Kumaraswamy),
        plain.kumaraswamy,
        (PROBABILITY, SHAPE, SHAPE),
        {"exchanged": lambda x, a, b: plain.kumaraswamy(x, b, a), "beta": plain.beta},
    ),
    row(
        # Where z > 2896, its log(1 + z²) is 2 log z in float32, another function of real numbers: REFUTED there.
        "StudentT",
        log_prob(tfd.StudentT),
        plain.student_t,
        (MODERATE, SHAPE, MODERATE, SHAPE),
        {
            "scale lost": lambda x, n, m, s: plain.student_t(x, n, m, s) + jnp.log(s),
            "normal": lambda x, n, m, s: plain.normal(x, m, s),
        },
    ),
    row(
        "HalfNormal",
        log_prob(tfd.HalfNormal),
        plain.half_normal,
        (S, S),
        {"normal": lambda x, s: plain.normal(x, 0.0, s), "scale": lambda x, s: plain.half_normal(x, s) + jnp.log(s)},
    ),
    row(
        "Weibull",
        lambda x, k, s: tfd.Weibull(k, s).log_prob(x),
        plain.weibull,
        (S, S, S),
        {
            "exchanged": lambda x, k, s: plain.weibull(x, s, k),
            "k": lambda x, k, s: plain.weibull(x, k, s) + jnp.log(x / s),
        },
    ),
    row(
        "Poisson",
        lambda r: tfd.Poisson(r).log_prob(COUNTS),
        lambda r: plain.poisson(COUNTS, r),
        (S,),
        {"factorial": lambda r: COUNTS * jnp.log(r) - r, "rate": lambda r: plain.poisson(COUNTS, r) + r},
    ),
    row(
        "Bernoulli of logits",
        lambda x: tfd.Bernoulli(logits=x).log_prob(ONES),
        lambda x: ONES * x - jnp.log(1.0 + jnp.exp(x)),
        (X,),
        {"sign": lambda x: -ONES * x - jnp.log(1 + jnp.exp(x)), "ones alone": lambda x: ONES * nn.log_sigmoid(x)},
        gradient=True,
    ),
    row(
        "Bernoulli of probabilities",
        lambda p: tfd.Bernoulli(probs=p).log_prob(ONES),
        lambda p: plain.bernoulli(ONES, p),
        (PROBABILITY,),
        {"exchanged": lambda p: plain.bernoulli(1 - ONES, p), "ones alone": lambda p: ONES * jnp.log(p)},
    ),
    row(
        "Categorical",
        lambda x: tfd.Categorical(logits=x).log_prob(CLASSES),
        lambda x: plain.categorical(CLASSES, x),
        (LOGITS,),
        {
            "other classes": lambda x: plain.categorical(np.roll(CLASSES, 1), x),
            "not normalised": lambda x: jnp.take_along_axis(x, CLASSES[:, None], -1)[:, 0],
        },
        gradient=True,
    ),
    row(
        "Binomial",
        lambda x: tfd.Binomial(6.0, logits=x).log_prob(COUNTS),
        lambda x: plain.binomial(COUNTS, 6.0, nn.sigmoid(x)),
        (X,),
        {
            "of seven": lambda x: plain.binomial(COUNTS, 7.0, nn.sigmoid(x)),
            "sign": lambda x: plain.binomial(COUNTS, 6.0, nn.sigmoid(-x)),
        },
    ),
    row(
        "Dirichlet",
        lambda z, a: tfd.Dirichlet(a).log_prob(nn.softmax(z)),
        lambda z, a: plain.dirichlet(nn.softmax(z), a),
        (f32(3), interval(f32(3), 0.25, 3.5)),
        {
            "a": lambda z, a: plain.dirichlet(nn.softmax(z), a + 1),
            "normaliser": lambda z, a: ((a - 1) * nn.log_softmax(z)).sum(),
        },
    ),
    row(
        "MultivariateNormalDiag",
        lambda x, m, s: tfd.MultivariateNormalDiag(m, s).log_prob(x),
        plain.diagonal_normal,
        (X, X, S),
        {
            "mean": lambda x, m, s: plain.normal(x, m, s).mean(),
            "variance": lambda x, m, v: plain.diagonal_normal(x, m, jnp.sqrt(v)),
        },
    ),
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
    row(
        "TransformedDistribution is LogNormal",
        lambda x, m, s: tfd.TransformedDistribution(tfd.Normal(m, s), tfb.Exp()).log_prob(x),
        plain.lognormal,
        (S, X, S),
        {"no Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s), "normal": plain.normal},
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
    row(
        "entropy of Normal",
        lambda s: tfd.Normal(0.0, s).entropy(),
        plain.normal_entropy,
        (S,),
        {"e": lambda s: jnp.log(plain.TAU * s**2) / 2, "variance": lambda s: jnp.log(plain.TAU * np.e * s) / 2},
    ),
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
    row(
        "entropy of Categorical",
        lambda x: tfd.Categorical(logits=x).entropy(),
        plain.categorical_entropy,
        (LOGITS,),
        {"sign": lambda x: -plain.categorical_entropy(x), "of logits": lambda x: -(nn.softmax(x) * x).sum(-1)},
    ),
    row(
        "entropy of Bernoulli",
        lambda x: tfd.Bernoulli(logits=x).entropy(),
        lambda x: plain.bernoulli_entropy(nn.sigmoid(x)),
        (X,),
        {
            "one half": lambda x: -nn.sigmoid(x) * nn.log_sigmoid(x),
            "sign": lambda x: -plain.bernoulli_entropy(nn.sigmoid(x)),
        },
    ),
    row(
        "KL of normals",
        lambda m, s, n, t: tfd.kl_divergence(tfd.Normal(m, s), tfd.Normal(n, t)),
        plain.normal_kl,
        (X, S, X, S),
        {
            "reversed": lambda m, s, n, t: plain.normal_kl(n, t, m, s),
            "half": lambda m, s, n, t: plain.normal_kl(m, s, n, t) + 0.5,
        },
        gradient=True,
    ),
    row(
        "KL of exponentials",
        lambda a, b: tfd.kl_divergence(tfd.Exponential(a), tfd.Exponential(b)),
        plain.exponential_kl,
        (S, S),
        {"reversed": lambda a, b: plain.exponential_kl(b, a), "one lost": lambda a, b: plain.exponential_kl(a, b) + 1},
        gradient=True,
    ),
    row(
        "KL of Laplaces",
        lambda m, a, n, b: tfd.kl_divergence(tfd.Laplace(m, a), tfd.Laplace(n, b)),
        plain.laplace_kl,
        (X, S, X, S),
        {
            "reversed": lambda m, a, n, b: plain.laplace_kl(n, b, m, a),
            "one": lambda m, a, n, b: plain.laplace_kl(m, a, n, b) + 1,
        },
    ),
    row(
        "KL of categoricals",
        lambda x, y: tfd.kl_divergence(tfd.Categorical(logits=x), tfd.Categorical(logits=y)),
        plain.categorical_kl,
        (LOGITS, LOGITS),
        {
            "reversed": lambda x, y: plain.categorical_kl(y, x),
            "cross entropy": lambda x, y: -(nn.softmax(x) * nn.log_softmax(y)).sum(-1),
        },
    ),
    row(
        "KL of gammas",
        lambda a, b, c, d: tfd.kl_divergence(tfd.Gamma(a, b), tfd.Gamma(c, d)),
        lambda a, b, c, d: plain.gamma_kl(a, b, c, d, digamma),
        (S, S, S, S),
        {
            "reversed": lambda a, b, c, d: plain.gamma_kl(c, d, a, b, digamma),
            "logarithm": lambda a, b, c, d: plain.gamma_kl(a, b, c, d, jnp.log),
        },
    ),
    row(
        "Normal.cdf",
        lambda x, m, s: tfd.Normal(m, s).cdf(x),
        plain.normal_cdf,
        (X, X, S),
        {"survival": lambda x, m, s: 1 - plain.normal_cdf(x, m, s), "logistic": plain.logistic_cdf},
    ),
    row(
        "Logistic.cdf",
        lambda x, m, s: tfd.Logistic(m, s).cdf(x),
        plain.logistic_cdf,
        (X, X, S),
        {
            "survival": lambda x, m, s: 1 - plain.logistic_cdf(x, m, s),
            "inverse": lambda x, m, s: plain.logistic_cdf(x, m, 1 / s),
        },
    ),
    row(
        "Gumbel.mean",
        lambda m, s: tfd.Gumbel(m, s).mean(),
        lambda m, s: m + plain.EULER * s,
        (X, S),
        {"location": lambda m, s: m + 0 * s, "sign": lambda m, s: m - plain.EULER * s},
    ),
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
    row(
        "Sigmoid",
        pushed(tfb.Sigmoid()),
        by_jacobian(nn.sigmoid),
        (X,),
        {"tanh": by_jacobian(jnp.tanh), "one factor": lambda x: (nn.sigmoid(x), nn.log_sigmoid(x))},
    ),
    row(
        "Tanh",
        pushed(tfb.Tanh()),
        by_jacobian(jnp.tanh),
        (X,),
        {"sigmoid": by_jacobian(nn.sigmoid), "half": lambda x: (jnp.tanh(x), jnp.log(1 - jnp.tanh(x)))},
    ),
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
    row(
        "Ordered",
        lambda x: tfb.Ascending().forward(x),
        lambda x: jnp.stack([x[0], x[0] + jnp.exp(x[1]), x[0] + jnp.exp(x[1]) + jnp.exp(x[2])]),
        (f32(3),),
        {"no exponential": jnp.cumsum, "all": lambda x: jnp.cumsum(jnp.exp(x))},
    ),
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

ROWS = (*DENSITIES, *MEASURES, *BIJECTORS, *KERNELS, *FUNCTIONS)
