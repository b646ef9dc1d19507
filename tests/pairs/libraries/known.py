"""What several libraries of distributions have: the formula, the inputs and the mistakes of each, written once."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy.special import digamma

from uat_jax import interval, positive

from ..pair import f32
from ..row import Row, row
from . import densities as plain

X, S = f32(4), positive(f32(4))
PROBABILITY = interval(f32(4), 0.125, 0.875)
SHAPE = interval(f32(4), 0.25, 3.5)
LOGITS = f32(3, 4)
CLASSES = np.array([2, 0, 3], np.int32)
COUNTS = np.array([0.0, 1.0, 2.0, 5.0], np.float32)
BITS = np.array([0, 1, 1, 0], np.int32)
ONES = np.float32(BITS)


@dataclass(frozen=True)
class Known:
    """A function that several libraries have under names and with arguments of their own.

    Attributes:
        right: the formula of a textbook.
        specs: the inputs of the formula.
        wrong: name of a mistake -> a function that differs from the formula.
    """

    right: Callable[..., Any]
    specs: tuple[Any, ...]
    wrong: Mapping[str, Callable[..., Any]]

    def row(
        self, name: str, left: Callable[..., Any], *mistakes: str, specs: tuple[Any, ...] = (), **options: bool
    ) -> Row:
        """One library's line: its function against the formula.

        Args:
            name: the name of the line.
            left: the library's function, with the arguments of the formula.
            mistakes: the names of the mistakes that are asked of this library; all of them where none is named.
            specs: inputs in place of the usual ones.
            options: options of `row`.
        """
        wrong = {mistake: self.wrong[mistake] for mistake in mistakes or self.wrong}
        return row(name, left, self.right, specs or self.specs, wrong, **options)


def log_prob(make: Callable[..., Any]) -> Callable[..., Any]:
    """The function of x and the parameters that is the log-density at x of a library's distribution."""
    return lambda x, *parameters: make(*parameters).log_prob(x)


def halves(divergence: Callable[..., Any], make: Callable[..., Any]) -> Callable[..., Any]:
    """The divergence of two distributions as a function of the first one's parameters, then the second one's."""

    def of(*parameters: Any) -> Any:
        half = len(parameters) // 2
        return divergence(make(*parameters[:half]), make(*parameters[half:]))

    return of


def by_jacobian(f: Callable[..., Any]) -> Callable[..., Any]:
    """The function of x that returns f(x) and log |f'(x)|, entry by entry, for a function f of one number."""
    return lambda x: (f(x), jnp.log(jnp.abs(jax.vmap(jax.grad(f))(x))))


NORMAL = Known(
    plain.normal,
    (X, X, S),
    {
        "variance for scale": lambda x, m, v: plain.normal(x, m, jnp.sqrt(v)),
        "sign": lambda x, m, s: -plain.normal(x, m, s),
        "no normaliser": lambda x, m, s: -((x - m) ** 2) / (2 * s**2),
        "2s for 2s²": lambda x, m, s: -((x - m) ** 2) / (2 * s) - jnp.log(s) - jnp.log(plain.TAU) / 2,
    },
)
LOGNORMAL = Known(
    plain.lognormal,
    (S, X, S),
    {
        "no Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s),
        "sign of the Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s) + jnp.log(x),
        "normal": plain.normal,
    },
)
LAPLACE = Known(
    plain.laplace,
    (X, X, S),
    {
        "squared": lambda x, m, b: -((x - m) ** 2) / b - jnp.log(2 * b),
        "2 lost": lambda x, m, b: -jnp.abs(x - m) / b - jnp.log(b),
    },
)
LOGISTIC = Known(
    plain.logistic,
    (X, X, S),
    {
        "one softplus": lambda x, m, s: plain.logistic(x, m, s) + nn.softplus(-(x - m) / s),
        "scale lost": lambda x, m, s: plain.logistic(x, m, s) + jnp.log(s),
        "laplace": plain.laplace,
    },
)
CAUCHY = Known(
    plain.cauchy,
    (X, X, S),
    {
        "pi lost": lambda x, m, s: -jnp.log(s * (1.0 + ((x - m) / s) ** 2)),
        "pi subtracted": lambda x, m, s: plain.cauchy(x, m, s) + jnp.log(np.pi),
        "scale outside": lambda x, m, s: -jnp.log(np.pi * (1.0 + ((x - m) / s) ** 2)),
        "sign": lambda x, m, s: -plain.cauchy(x, m, s),
    },
)
GUMBEL = Known(
    plain.gumbel,
    (X, X, S),
    {
        "of the minimum": lambda x, m, s: plain.gumbel(-x, -m, s),
        "scale lost": lambda x, m, s: plain.gumbel(x, m, s) + jnp.log(s),
    },
)
EXPONENTIAL = Known(
    plain.exponential,
    (S, S),
    {"scale for rate": lambda x, s: -x / s - jnp.log(s), "normaliser lost": lambda x, r: -r * x},
)
GAMMA = Known(
    plain.gamma,
    (S, S, S),
    {
        "scale for rate": lambda x, a, s: plain.gamma(x, a, 1 / s),
        "a for a − 1": lambda x, a, r: plain.gamma(x, a, r) + jnp.log(x),
    },
)
INVERSE_GAMMA = Known(
    plain.inverse_gamma,
    (S, S, S),
    {"gamma": plain.gamma, "a − 1": lambda x, a, b: plain.inverse_gamma(x, a, b) + 2 * jnp.log(x)},
)
BETA = Known(
    plain.beta,
    (PROBABILITY, SHAPE, SHAPE),
    {
        "shapes exchanged": lambda x, a, b: plain.beta(x, b, a),
        "normaliser lost": lambda x, a, b: plain.beta(x, a, b) + plain.betaln(a, b),
        "sign of the normaliser": lambda x, a, b: plain.beta(x, a, b) + 2 * plain.betaln(a, b),
        "a + 1 for a": lambda x, a, b: plain.beta(x, a + 1, b),
    },
)
KUMARASWAMY = Known(
    plain.kumaraswamy,
    (PROBABILITY, SHAPE, SHAPE),
    {"shapes exchanged": lambda x, a, b: plain.kumaraswamy(x, b, a), "beta": plain.beta},
)
STUDENT_T = Known(
    plain.student_t,
    (X, S, X, S),
    {
        "n for n + 1": lambda x, n, m, s: plain.student_t(x, n, m, s) + jnp.log(1 + ((x - m) / s) ** 2 / n) / 2,
        "scale lost": lambda x, n, m, s: plain.student_t(x, n, m, s) + jnp.log(s),
        "normal": lambda x, n, m, s: plain.normal(x, m, s),
    },
)
HALF_NORMAL = Known(
    plain.half_normal,
    (S, S),
    {
        "normal": lambda x, s: plain.normal(x, 0.0, s),
        "scale lost": lambda x, s: plain.half_normal(x, s) + jnp.log(s),
    },
)
WEIBULL = Known(
    plain.weibull,
    (S, S, S),
    {
        "parameters exchanged": lambda x, k, s: plain.weibull(x, s, k),
        "k for k − 1": lambda x, k, s: plain.weibull(x, k, s) + jnp.log(x / s),
    },
)
UNIFORM_INSIDE = Known(
    lambda u, a, w: -jnp.log(w) + 0.0 * (u + a),
    (PROBABILITY, X, S),
    {
        "sign": lambda u, a, w: jnp.log(w) + 0 * (u + a),
        "density": lambda u, a, w: 1 / w + 0 * (u + a),
        "end for width": lambda u, a, w: -jnp.log(jnp.abs(a + w)) + 0 * u,
    },
)
"""The density of the uniform distribution from a to a + w, at the point a + uw."""
POISSON = Known(
    lambda r: plain.poisson(COUNTS, r),
    (S,),
    {"factorial lost": lambda r: COUNTS * jnp.log(r) - r, "rate lost": lambda r: plain.poisson(COUNTS, r) + r},
)
BERNOULLI_PROBABILITIES = Known(
    lambda p: plain.bernoulli(ONES, p),
    (PROBABILITY,),
    {"exchanged": lambda p: plain.bernoulli(1 - ONES, p), "ones alone": lambda p: ONES * jnp.log(p)},
)
BERNOULLI_LOGITS = Known(
    lambda x: ONES * x - jnp.log(1.0 + jnp.exp(x)),
    (X,),
    {
        "sign": lambda x: -ONES * x - jnp.log(1 + jnp.exp(x)),
        "exchanged": lambda x: (1 - ONES) * x - jnp.log(1.0 + jnp.exp(x)),
        "ones alone": lambda x: ONES * nn.log_sigmoid(x),
    },
)
CATEGORICAL_LOGITS = Known(
    lambda x: plain.categorical(CLASSES, x),
    (LOGITS,),
    {
        "not normalised": lambda x: jnp.take_along_axis(x, CLASSES[:, None], -1)[:, 0],
        "other classes": lambda x: plain.categorical(np.roll(CLASSES, 1), x),
        "of the square": lambda x: plain.categorical(CLASSES, 2 * x),
    },
)
BINOMIAL_LOGITS = Known(
    lambda x: plain.binomial(COUNTS, 6.0, nn.sigmoid(x)),
    (X,),
    {
        "sign": lambda x: plain.binomial(COUNTS, 6.0, nn.sigmoid(-x)),
        "of seven": lambda x: plain.binomial(COUNTS, 7.0, nn.sigmoid(x)),
    },
)
DIRICHLET = Known(
    lambda z, a: plain.dirichlet(nn.softmax(z), a),
    (f32(3), positive(f32(3))),
    {
        "a for a − 1": lambda z, a: plain.dirichlet(nn.softmax(z), a + 1),
        "normaliser lost": lambda z, a: ((a - 1) * nn.log_softmax(z)).sum(),
    },
)
DIAGONAL_NORMAL = Known(
    plain.diagonal_normal,
    (X, X, S),
    {
        "mean": lambda x, m, s: plain.normal(x, m, s).mean(),
        "variance": lambda x, m, v: plain.diagonal_normal(x, m, jnp.sqrt(v)),
        "one entry": lambda x, m, s: plain.normal(x, m, s)[0],
    },
)

ENTROPY_OF_NORMAL = Known(
    plain.normal_entropy,
    (S,),
    {"e lost": lambda s: jnp.log(plain.TAU * s**2) / 2, "variance": lambda s: jnp.log(plain.TAU * np.e * s) / 2},
)
ENTROPY_OF_CATEGORICAL = Known(
    plain.categorical_entropy,
    (LOGITS,),
    {"sign": lambda x: -plain.categorical_entropy(x), "of logits": lambda x: -(nn.softmax(x) * x).sum(-1)},
)
ENTROPY_OF_BERNOULLI = Known(
    lambda x: plain.bernoulli_entropy(nn.sigmoid(x)),
    (X,),
    {
        "one half": lambda x: -nn.sigmoid(x) * nn.log_sigmoid(x),
        "sign": lambda x: -plain.bernoulli_entropy(nn.sigmoid(x)),
    },
)
KL_OF_NORMALS = Known(
    plain.normal_kl,
    (X, S, X, S),
    {
        "reversed": lambda m, s, n, t: plain.normal_kl(n, t, m, s),
        "half lost": lambda m, s, n, t: plain.normal_kl(m, s, n, t) + 0.5,
    },
)
KL_OF_CATEGORICALS = Known(
    plain.categorical_kl,
    (LOGITS, LOGITS),
    {
        "reversed": lambda x, y: plain.categorical_kl(y, x),
        "cross entropy": lambda x, y: -(nn.softmax(x) * nn.log_softmax(y)).sum(-1),
    },
)
KL_OF_LAPLACES = Known(
    plain.laplace_kl,
    (X, S, X, S),
    {
        "reversed": lambda m, a, n, b: plain.laplace_kl(n, b, m, a),
        "one lost": lambda m, a, n, b: plain.laplace_kl(m, a, n, b) + 1,
    },
)
KL_OF_GAMMAS = Known(
    lambda a, b, c, d: plain.gamma_kl(a, b, c, d, digamma),
    (S, S, S, S),
    {
        "reversed": lambda a, b, c, d: plain.gamma_kl(c, d, a, b, digamma),
        "logarithm for digamma": lambda a, b, c, d: plain.gamma_kl(a, b, c, d, jnp.log),
    },
)
KL_OF_BETAS = Known(
    lambda a, b, c, d: plain.beta_kl(a, b, c, d, digamma),
    (SHAPE, SHAPE, SHAPE, SHAPE),
    {
        "reversed": lambda a, b, c, d: plain.beta_kl(c, d, a, b, digamma),
        "exchanged": lambda a, b, c, d: plain.beta_kl(a, b, d, c, digamma),
    },
)

NORMAL_CDF = Known(
    plain.normal_cdf,
    (X, X, S),
    {"survival": lambda x, m, s: 1 - plain.normal_cdf(x, m, s), "logistic": plain.logistic_cdf},
)
LOGISTIC_CDF = Known(
    plain.logistic_cdf,
    (X, X, S),
    {
        "survival": lambda x, m, s: 1 - plain.logistic_cdf(x, m, s),
        "inverse scale": lambda x, m, s: plain.logistic_cdf(x, m, 1 / s),
    },
)
LAPLACE_CDF = Known(
    plain.laplace_cdf,
    (X, X, S),
    {
        "survival": lambda x, m, b: 1 - plain.laplace_cdf(x, m, b),
        "one branch": lambda x, m, b: jnp.exp((x - m) / b) / 2,
    },
)
GUMBEL_MEAN = Known(
    lambda m, s: m + plain.EULER * s,
    (X, S),
    {"location": lambda m, s: m + 0 * s, "sign": lambda m, s: m - plain.EULER * s},
)

SIGMOID = Known(
    by_jacobian(nn.sigmoid),
    (X,),
    {"tanh": by_jacobian(jnp.tanh), "no Jacobian": lambda x: (nn.sigmoid(x), nn.log_sigmoid(x))},
)
TANH = Known(
    by_jacobian(jnp.tanh),
    (X,),
    {"sigmoid": by_jacobian(nn.sigmoid), "half": lambda x: (jnp.tanh(x), jnp.log(1 - jnp.tanh(x)))},
)
ORDERED = Known(
    lambda x: jnp.stack([x[0], x[0] + jnp.exp(x[1]), x[0] + jnp.exp(x[1]) + jnp.exp(x[2])]),
    (f32(3),),
    {"no exponential": jnp.cumsum, "all exponentials": lambda x: jnp.cumsum(jnp.exp(x))},
)
