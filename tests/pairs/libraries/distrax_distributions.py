"""distrax: log-densities, entropies, divergences and bijectors with their log-det-Jacobians."""

import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import gammaln

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain
from . import known
from .known import BITS, CLASSES, COUNTS, LOGITS, ONES, PROBABILITY, S, X, log_prob
from .library import library

distrax = library("distrax")

MODERATE = interval(f32(4), -8.0, 8.0)
"""Beyond −9 distrax's sigmoid is the exponential function."""


def categorical(logits):
    return distrax.Categorical(logits=logits)


def divergence(make):
    """The function of the parameters of two distributions of one kind that is their Kullback-Leibler divergence."""
    return known.halves(lambda p, q: p.kl_divergence(q), make)


def log_det(bijector):
    """The function of x that returns the value of a bijector and the logarithm of its Jacobian's determinant."""
    return lambda x: bijector.forward_and_log_det(x)


def lower(x):
    return jnp.stack([jnp.stack([jnp.exp(x[0]), 0.0 * x[0]]), jnp.stack([x[1], jnp.exp(x[2])])])


DENSITIES = (
    known.NORMAL.row("Normal", log_prob(distrax.Normal), "variance for scale", "sign", gradient=True),
    row(
        "LogStddevNormal",
        lambda x, m, r: distrax.LogStddevNormal(m, r).log_prob(x),
        lambda x, m, r: -((x - m) ** 2) * jnp.exp(-2.0 * r) / 2.0 - r - jnp.log(plain.TAU) / 2.0,
        (X, X, X),
        {
            "log-variance": lambda x, m, r: plain.normal(x, m, jnp.exp(r / 2)),
            "no logarithm": lambda x, m, r: plain.normal(x, m, jnp.exp(r)) + r,
        },
        gradient=True,
    ),
    known.LAPLACE.row("Laplace", log_prob(distrax.Laplace)),
    known.LOGISTIC.row("Logistic", log_prob(distrax.Logistic), "one softplus", "scale lost"),
    known.GUMBEL.row("Gumbel", log_prob(distrax.Gumbel), gradient=True),
    known.GAMMA.row("Gamma", log_prob(distrax.Gamma)),
    known.BETA.row("Beta", log_prob(distrax.Beta), "shapes exchanged", "normaliser lost"),
    known.UNIFORM_INSIDE.row(
        "Uniform inside", lambda u, a, w: distrax.Uniform(a, a + w).log_prob(a + u * w), "sign", "density"
    ),
    row(
        "Uniform everywhere",
        lambda x, a, w: distrax.Uniform(a, a + w).log_prob(x),
        lambda x, a, w: jnp.where((x < a) | (x > a + w), -jnp.inf, -jnp.log(w)),
        (X, X, S),
        {
            "no support": lambda x, a, w: -jnp.log(w) + 0 * (x + a),
            "one end": lambda x, a, w: jnp.where(x < a, -jnp.inf, -jnp.log(w)),
        },
    ),
    known.BERNOULLI_PROBABILITIES.row(
        "Bernoulli of probabilities", lambda p: distrax.Bernoulli(probs=p).log_prob(BITS)
    ),
    row(
        "Bernoulli of logits",
        lambda x: distrax.Bernoulli(logits=x).log_prob(BITS),
        lambda x: ONES * jnp.log(nn.sigmoid(x)) + (1.0 - ONES) * jnp.log(1.0 - nn.sigmoid(x)),
        (X,),
        {
            "exchanged": lambda x: ONES * nn.log_sigmoid(-x) + (1 - ONES) * nn.log_sigmoid(x),
            "ones alone": lambda x: ONES * nn.log_sigmoid(x),
        },
        gradient=True,
    ),
    known.CATEGORICAL_LOGITS.row(
        "Categorical of logits",
        lambda x: categorical(x).log_prob(CLASSES),
        "not normalised",
        "other classes",
        gradient=True,
    ),
    row(
        "Softmax with a temperature",
        lambda x: distrax.Softmax(x, 2.0).log_prob(CLASSES),
        lambda x: plain.categorical(CLASSES, x / 2.0),
        (LOGITS,),
        {"inverse": lambda x: plain.categorical(CLASSES, x * 2.0), "none": lambda x: plain.categorical(CLASSES, x)},
    ),
    row(
        "EpsilonGreedy away from the maximum",
        lambda x: distrax.EpsilonGreedy(jnp.cumsum(jnp.exp(x)), 0.25).probs,
        lambda x: jnp.array([0.0625, 0.0625, 0.0625, 0.8125]) + 0.0 * x,
        (X,),
        {
            "epsilon": lambda x: jnp.array([0.125, 0.125, 0.125, 0.625]) + 0 * x,
            "the first": lambda x: jnp.array([0.8125, 0.0625, 0.0625, 0.0625]) + 0 * x,
        },
    ),
    row(
        "Multinomial",
        lambda x: distrax.Multinomial(8, logits=x).log_prob(COUNTS),
        lambda x: plain.gammaln(9.0) - plain.gammaln(COUNTS + 1.0).sum() + (COUNTS * plain.log_softmax(x)).sum(),
        (X,),
        {
            "choices lost": lambda x: (COUNTS * plain.log_softmax(x)).sum(),
            "not normalised": lambda x: plain.gammaln(9.0) - plain.gammaln(COUNTS + 1).sum() + (COUNTS * x).sum(),
        },
    ),
    known.DIRICHLET.row("Dirichlet", lambda z, a: distrax.Dirichlet(a).log_prob(nn.softmax(z))),
    known.DIAGONAL_NORMAL.row("MultivariateNormalDiag", log_prob(distrax.MultivariateNormalDiag), "mean", "variance"),
    row(
        "MultivariateNormalTri",
        lambda x, m, t: distrax.MultivariateNormalTri(m, lower(t)).log_prob(x),
        lambda x, m, t: plain.triangular_normal(x, m, lower(t)),
        (f32(2), f32(2), f32(3)),
        {
            "determinant lost": lambda x, m, t: plain.triangular_normal(x, m, lower(t)) + t[0] + t[2],
            "reversed": lambda x, m, t: plain.triangular_normal(x[::-1], m[::-1], lower(t)),
        },
    ),
    row(
        "MultivariateNormalFullCovariance",
        lambda x, m, t: distrax.MultivariateNormalFullCovariance(m, matmul(lower(t), lower(t).T)).log_prob(x),
        lambda x, m, t: plain.covariance_normal(x, m, matmul(lower(t), lower(t).T)),
        (f32(2), f32(2), f32(3)),
        {
            "precision": lambda x, m, t: plain.covariance_normal(x, m, matmul(lower(-t), lower(-t).T)),
            "other triangle": lambda x, m, t: plain.covariance_normal(x, m, matmul(lower(t).T, lower(t))),
        },
    ),
    row(
        "MixtureSameFamily",
        lambda x, w, m, s: distrax.MixtureSameFamily(distrax.Categorical(logits=w), distrax.Normal(m, s)).log_prob(x),
        lambda x, w, m, s: nn.logsumexp(plain.log_softmax(w) + plain.normal(x[:, None], m[None], s[None]), -1),
        (X, f32(2), f32(2), positive(f32(2))),
        {
            "weights not normalised": lambda x, w, m, s: nn.logsumexp(
                w + plain.normal(x[:, None], m[None], s[None]), -1
            ),
            "mean of logarithms": lambda x, w, m, s: (nn.softmax(w) * plain.normal(x[:, None], m[None], s[None])).sum(
                -1
            ),
        },
    ),
    row(
        "Transformed by tanh",
        lambda x: distrax.Transformed(distrax.Normal(0.0, 1.0), distrax.Tanh()).log_prob(jnp.tanh(x)),
        lambda x: plain.normal(x, 0.0, 1.0) - jnp.log(1.0 - jnp.tanh(x) ** 2),
        (X,),
        {
            "no Jacobian": lambda x: plain.normal(x, 0.0, 1.0),
            "sign": lambda x: plain.normal(x, 0.0, 1.0) + jnp.log(1 - jnp.tanh(x) ** 2),
        },
    ),
    row(
        "Quantized away from the ends",
        lambda m, s: jnp.exp(distrax.Quantized(distrax.Logistic(m, s)).log_prob(1.0)),
        lambda m, s: plain.logistic_cdf(1.0, m, s) - plain.logistic_cdf(0.0, m, s),
        (X, S),
        {
            "density": lambda m, s: jnp.exp(plain.logistic(1.0, m, s)),
            "the next": lambda m, s: plain.logistic_cdf(2.0, m, s) - plain.logistic_cdf(1.0, m, s),
        },
    ),
)

MEASURES = (
    known.ENTROPY_OF_NORMAL.row("entropy of Normal", lambda s: distrax.Normal(0.0, s).entropy()),
    known.ENTROPY_OF_CATEGORICAL.row("entropy of Categorical", lambda x: categorical(x).entropy(), gradient=True),
    known.ENTROPY_OF_BERNOULLI.row("entropy of Bernoulli", lambda x: distrax.Bernoulli(logits=x).entropy()),
    row(
        "entropy of Laplace",
        lambda s: distrax.Laplace(0.0, s).entropy(),
        lambda s: 1.0 + jnp.log(2.0 * s),
        (S,),
        {"one lost": lambda s: jnp.log(2 * s), "2 lost": lambda s: 1 + jnp.log(s)},
    ),
    row(
        "entropy of Gumbel",
        lambda s: distrax.Gumbel(0.0, s).entropy(),
        lambda s: jnp.log(s) + plain.EULER + 1.0,
        (S,),
        {"Euler lost": lambda s: jnp.log(s) + 1, "sign": lambda s: jnp.log(s) - plain.EULER + 1},
    ),
    known.KL_OF_NORMALS.row("KL of normals", divergence(distrax.Normal), gradient=True),
    known.KL_OF_CATEGORICALS.row("KL of categoricals", divergence(categorical), gradient=True),
    row(
        "KL of Bernoullis",
        lambda x, y: distrax.Bernoulli(logits=x).kl_divergence(distrax.Bernoulli(logits=y)),
        lambda x, y: plain.bernoulli_kl(nn.sigmoid(x), nn.sigmoid(y)),
        (X, X),
        {
            "reversed": lambda x, y: plain.bernoulli_kl(nn.sigmoid(y), nn.sigmoid(x)),
            "one half": lambda x, y: nn.sigmoid(x) * jnp.log(nn.sigmoid(x) / nn.sigmoid(y)),
        },
    ),
    known.KL_OF_LAPLACES.row("KL of Laplaces", divergence(distrax.Laplace)),
    known.KL_OF_GAMMAS.row("KL of gammas", divergence(distrax.Gamma)),
    known.KL_OF_BETAS.row("KL of betas", divergence(distrax.Beta), single=True),
    row(
        "KL of diagonal normals",
        lambda m, s, n, t: distrax.MultivariateNormalDiag(m, s).kl_divergence(distrax.MultivariateNormalDiag(n, t)),
        lambda m, s, n, t: plain.normal_kl(m, s, n, t).sum(),
        (X, S, X, S),
        {
            "mean": lambda m, s, n, t: plain.normal_kl(m, s, n, t).mean(),
            "reversed": lambda m, s, n, t: plain.normal_kl(n, t, m, s).sum(),
        },
    ),
    known.NORMAL_CDF.row("Normal.cdf", lambda x, m, s: distrax.Normal(m, s).cdf(x)),
    known.LAPLACE_CDF.row("Laplace.cdf", lambda x, m, b: distrax.Laplace(m, b).cdf(x)),
    row(
        "Gumbel.log_cdf",
        lambda x, m, s: distrax.Gumbel(m, s).log_cdf(x),
        lambda x, m, s: jnp.log(plain.gumbel_cdf(x, m, s)),
        (X, X, S),
        {"cdf": plain.gumbel_cdf, "of the minimum": lambda x, m, s: -jnp.exp((x - m) / s)},
    ),
    known.GUMBEL_MEAN.row("Gumbel.mean", lambda m, s: distrax.Gumbel(m, s).mean()),
    row(
        "Logistic.variance",
        lambda s: distrax.Logistic(0.0, s).variance(),
        lambda s: (np.pi * s) ** 2 / 3.0,
        (S,),
        {"sixth": lambda s: (np.pi * s) ** 2 / 6, "not squared": lambda s: np.pi * s / 3},
    ),
)

BIJECTORS = (
    row(
        "ScalarAffine",
        log_det(distrax.ScalarAffine(0.5, 4.0)),
        lambda x: (0.5 + 4.0 * x, jnp.log(4.0) + 0.0 * x),
        (X,),
        {
            "inverse": lambda x: (0.5 + 4.0 * x, -jnp.log(4.0) + 0 * x),
            "unscaled": lambda x: (0.5 + x, jnp.log(4.0) + 0 * x),
        },
    ),
    known.SIGMOID.row("Sigmoid", log_det(distrax.Sigmoid()), specs=(MODERATE,), gradient=True),
    known.TANH.row("Tanh", log_det(distrax.Tanh()), gradient=True),
    row(
        "Tanh: 2 (log 2 − x − softplus(−2x))",
        lambda x: distrax.Tanh().forward_log_det_jacobian(x),
        lambda x: jnp.log(1.0 - jnp.tanh(x) ** 2),
        (X,),
        {"not squared": lambda x: jnp.log(1.0 - jnp.tanh(x)), "plus": lambda x: jnp.log(1.0 + jnp.tanh(x) ** 2)},
    ),
    row(
        "Inverse of Sigmoid",
        lambda p: distrax.Inverse(distrax.Sigmoid()).forward_and_log_det(p),
        lambda p: (jnp.log(p / (1.0 - p)), -jnp.log(p * (1.0 - p))),
        (PROBABILITY,),
        {
            "sign": lambda p: (jnp.log(p / (1 - p)), jnp.log(p * (1 - p))),
            "odds": lambda p: (p / (1 - p), -jnp.log(p * (1 - p))),
        },
    ),
    row(
        "Sigmoid, there and back",
        lambda x: distrax.Sigmoid().inverse(distrax.Sigmoid().forward(x)),
        lambda x: x + 0.0,
        (MODERATE,),
        {"sign": lambda x: -x, "tanh": jnp.tanh},
    ),
    row(
        "Tanh, there and back",
        lambda x: distrax.Tanh().inverse(distrax.Tanh().forward(x)),
        lambda x: x + 0.0,
        (X,),
        {"sign": lambda x: -x, "half": lambda x: x / 2},
    ),
    row(
        "Chain of two",
        lambda x: distrax.Chain([distrax.Sigmoid(), distrax.ScalarAffine(0.0, 2.0)]).forward_and_log_det(x),
        lambda x: (nn.sigmoid(2.0 * x), jnp.log(2.0) + jnp.log(nn.sigmoid(2.0 * x)) + jnp.log(nn.sigmoid(-2.0 * x))),
        (interval(f32(4), -4.0, 4.0),),
        {
            "other order": lambda x: (2 * nn.sigmoid(x), jnp.log(2.0) + nn.log_sigmoid(x) + nn.log_sigmoid(-x)),
            "log 2 lost": lambda x: (nn.sigmoid(2 * x), nn.log_sigmoid(2 * x) + nn.log_sigmoid(-2 * x)),
        },
    ),
    row(
        "LowerUpperTriangularAffine",
        lambda x, A, b: distrax.LowerUpperTriangularAffine(A, b).forward_and_log_det(x),
        lambda x, A, b: (
            matmul(matmul(jnp.tril(A, -1) + jnp.eye(2), jnp.triu(A)), x) + b,
            jnp.log(jnp.abs(A[0, 0] * A[1, 1])),
        ),
        (f32(2), f32(2, 2), f32(2)),
        {
            "other order": lambda x, A, b: (
                matmul(matmul(jnp.triu(A), jnp.tril(A, -1) + jnp.eye(2)), x) + b,
                jnp.log(jnp.abs(A[0, 0] * A[1, 1])),
            ),
            "diagonal kept": lambda x, A, b: (
                matmul(matmul(jnp.tril(A), jnp.triu(A)), x) + b,
                jnp.log(jnp.abs(A[0, 0] * A[1, 1])),
            ),
        },
    ),
    row(
        "DiagLinear",
        lambda x, d: distrax.DiagLinear(d).forward_and_log_det(x),
        lambda x, d: (d * x, jnp.log(d).sum()),
        (X, S),
        {"mean": lambda x, d: (d * x, jnp.log(d).mean()), "sign": lambda x, d: (d * x, -jnp.log(d).sum())},
    ),
    row(
        "MaskedCoupling",
        lambda x: distrax.MaskedCoupling(
            np.array([True, False, True, False]), lambda z: z * 2.0, lambda p: distrax.ScalarAffine(p)
        ).forward(x),
        lambda x: x + jnp.array([0.0, 0.0, 0.0, 0.0]),
        (X,),
        {"doubled": lambda x: 2 * x, "sign": lambda x: -x},
    ),
)

FURTHER = (
    row(
        "MultivariateNormalDiag.entropy",
        lambda s: distrax.MultivariateNormalDiag(jnp.zeros(4), s).entropy(),
        lambda s: (jnp.log(plain.TAU * np.e) / 2.0 + jnp.log(s)).sum(),
        (S,),
        {"mean": lambda s: (jnp.log(plain.TAU * np.e) / 2 + jnp.log(s)).mean(), "variance": lambda s: jnp.log(s).sum()},
    ),
    row(
        "OneHotCategorical",
        lambda a: distrax.OneHotCategorical(logits=a).log_prob(np.eye(4, dtype=np.float32)[CLASSES]),
        lambda a: plain.categorical(CLASSES, a),
        (LOGITS,),
        {"sign": lambda a: -plain.categorical(CLASSES, a)},
    ),
    row(
        "MixtureOfTwo",
        lambda x: distrax.MixtureOfTwo(0.25, distrax.Normal(0.0, 1.0), distrax.Normal(1.0, 2.0)).log_prob(x),
        lambda x: jnp.log(0.25 * jnp.exp(plain.normal(x, 0.0, 1.0)) + 0.75 * jnp.exp(plain.normal(x, 1.0, 2.0))),
        (MODERATE,),
        {
            "weights exchanged": lambda x: jnp.log(
                0.75 * jnp.exp(plain.normal(x, 0.0, 1.0)) + 0.25 * jnp.exp(plain.normal(x, 1.0, 2.0))
            )
        },
    ),
    row(
        "Gumbel.cdf",
        lambda x, m, s: distrax.Gumbel(m, s).cdf(x),
        plain.gumbel_cdf,
        (X, X, S),
        {"log": lambda x, m, s: jnp.log(plain.gumbel_cdf(x, m, s)), "sign": lambda x, m, s: plain.gumbel_cdf(-x, m, s)},
    ),
    row(
        "Logistic.survival_function",
        lambda x, m, s: distrax.Logistic(m, s).log_survival_function(x),
        lambda x, m, s: -jnp.log(1.0 + jnp.exp((x - m) / s)),
        (X, X, S),
        {"cdf": lambda x, m, s: -jnp.log(1 + jnp.exp((m - x) / s))},
    ),
    row(
        "Uniform.cdf",
        lambda x: distrax.Uniform(-1.0, 3.0).cdf(x),
        lambda x: jnp.minimum(jnp.maximum((x + 1.0) / 4.0, 0.0), 1.0),
        (X,),
        {"not clipped": lambda x: (x + 1) / 4},
    ),
    row(
        "KL of Gumbels",
        lambda m, s, n, t: distrax.Gumbel(m, s).kl_divergence(distrax.Gumbel(n, t)),
        lambda m, s, n, t: (
            jnp.log(t / s)
            + plain.EULER * (s / t - 1.0)
            + jnp.exp((n - m) / t + gammaln(s / t + 1.0))
            - 1.0
            + (m - n) / t
        ),
        (X, S, X, S),
        {"scale": lambda m, s, n, t: jnp.log(t / s) + (m - n) / t},
    ),
    row(
        "ClippedNormal inside",
        lambda x, m: distrax.ClippedNormal(m, 1.0, -4.0, 4.0).log_prob(x),
        lambda x, m: plain.normal(x, m, 1.0),
        (interval(f32(4), -3.0, 3.0), X),
        {"variance": lambda x, m: plain.normal(x, m, 2.0)},
    ),
    row(
        "GumbelCDF",
        lambda x: distrax.GumbelCDF().forward_and_log_det(x),
        lambda x: (jnp.exp(-jnp.exp(-x)), -x - jnp.exp(-x)),
        (X,),
        {"sign": lambda x: (jnp.exp(-jnp.exp(x)), x - jnp.exp(x))},
    ),
    row(
        "TriangularLinear",
        lambda x, a: distrax.TriangularLinear(
            jnp.array([[1.0, 0.0], [0.0, 0.0]]) * jnp.exp(a[0])
            + jnp.array([[0.0, 0.0], [1.0, 0.0]]) * a[1]
            + jnp.array([[0.0, 0.0], [0.0, 1.0]]) * jnp.exp(a[2])
        ).forward_and_log_det(x),
        lambda x, a: (jnp.stack([jnp.exp(a[0]) * x[0], a[1] * x[0] + jnp.exp(a[2]) * x[1]]), a[0] + a[2]),
        (f32(2), f32(3)),
        {"sign": lambda x, a: (jnp.stack([jnp.exp(a[0]) * x[0], a[1] * x[0] + jnp.exp(a[2]) * x[1]]), -a[0] - a[2])},
    ),
    row(
        "Inverse of Tanh",
        lambda y: distrax.Inverse(distrax.Tanh()).forward(y),
        lambda y: 0.5 * jnp.log((1.0 + y) / (1.0 - y)),
        (interval(f32(4), -0.75, 0.75),),
        {"tanh": jnp.tanh, "not halved": lambda y: jnp.log((1 + y) / (1 - y))},
    ),
)

ROWS = (*DENSITIES, *MEASURES, *BIJECTORS, *FURTHER)
