"""jax.scipy: special functions, statistics and the little of signal processing that is ordinary."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import nn
from jax.scipy import special, stats

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain

X, S = f32(4), positive(f32(4))
PROBABILITY = interval(f32(4), 0.125, 0.875)
SMALL = interval(f32(4), -0.75, 0.75)
SHAPE = interval(f32(4), 0.25, 3.5)
"""Where JAX's betaln takes no asymptotic series."""
COUNTS = np.array([0.0, 1.0, 2.0, 5.0], np.float32)

SPECIAL = (
    row(
        "logit of expit",
        lambda x: special.logit(special.expit(x)),
        lambda x: x + 0.0,
        (X,),
        {"sign": lambda x: -x, "tanh": jnp.tanh},
    ),
    row(
        "logit",
        special.logit,
        lambda p: jnp.log(p) - jnp.log(1.0 - p),
        (PROBABILITY,),
        {"sign": lambda p: jnp.log(1 - p) - jnp.log(p), "odds": lambda p: p / (1 - p)},
        gradient=True,
    ),
    row(
        "expit",
        special.expit,
        lambda x: (1.0 + jnp.tanh(x / 2.0)) / 2.0,
        (X,),
        {"argument": lambda x: (1 + jnp.tanh(x)) / 2, "sign": lambda x: (1 - jnp.tanh(x / 2)) / 2},
    ),
    row(
        "xlogy",
        special.xlogy,
        lambda x, y: x * jnp.log(y),
        (X, S),
        {"exchanged": lambda x, y: y * jnp.log(jnp.abs(x) + 1), "log1p": lambda x, y: x * jnp.log1p(y)},
    ),
    row(
        "xlogy from 0 on",
        special.xlogy,
        lambda x, y: jnp.where(x == 0, 0.0, x * jnp.log(jnp.where(x == 0, 1.0, y))),
        (X, S),
        {
            "log1p": lambda x, y: jnp.where(x == 0, 0.0, x * jnp.log1p(y)),
            "absolute": lambda x, y: jnp.abs(x) * jnp.log(y),
        },
    ),
    row(
        "xlog1py",
        special.xlog1py,
        lambda x, y: x * jnp.log(1.0 + y),
        (X, S),
        {"log": lambda x, y: x * jnp.log(y), "sum": lambda x, y: x + jnp.log1p(y)},
        gradient=True,
    ),
    row(
        "entr",
        special.entr,
        lambda x: -x * jnp.log(x),
        (S,),
        {"sign": lambda x: x * jnp.log(x), "log1p": lambda x: -x * jnp.log1p(x)},
        gradient=True,
    ),
    row(
        "rel_entr",
        special.rel_entr,
        lambda x, y: x * (jnp.log(x) - jnp.log(y)),
        (S, S),
        {"exchanged": lambda x, y: y * jnp.log(y / x), "kl_div": lambda x, y: x * jnp.log(x / y) - x + y},
        gradient=True,
    ),
    row(
        "kl_div",
        special.kl_div,
        lambda x, y: x * jnp.log(x / y) - x + y,
        (S, S),
        {"rel_entr": lambda x, y: x * jnp.log(x / y), "sign": lambda x, y: x * jnp.log(x / y) + x - y},
    ),
    row(
        "logsumexp of two",
        lambda x, y: special.logsumexp(jnp.stack([x, y]), axis=0),
        jnp.logaddexp,
        (X, X),
        {"maximum": jnp.maximum, "sum": lambda x, y: x + y},
    ),
    row(
        "logsumexp and softplus",
        lambda x, y: special.logsumexp(jnp.stack([x, y]), axis=0),
        lambda x, y: x + nn.softplus(y - x),
        (X, X),
        {"sign": lambda x, y: x + nn.softplus(x - y), "y": lambda x, y: y + nn.softplus(y - x)},
    ),
    row(
        "log_softmax",
        special.log_softmax,
        lambda x: x - jnp.log(jnp.exp(x).sum()),
        (X,),
        {"mean": lambda x: x - jnp.log(jnp.exp(x).mean()), "softmax": nn.softmax},
    ),
    row(
        "ndtr",
        special.ndtr,
        lambda x: special.erfc(-x / jnp.sqrt(2.0)) / 2.0,
        (X,),
        {"sign": lambda x: special.erfc(x / jnp.sqrt(2.0)) / 2, "no root": lambda x: special.erfc(-x / 2.0) / 2},
    ),
    row(
        "erf and erfc",
        lambda x: special.erf(x) + special.erfc(x),
        lambda x: 1.0 + 0.0 * x,
        (X,),
        {"difference": lambda x: special.erf(x) - special.erfc(x), "0": lambda x: 0 * x},
    ),
    row(
        "erf is odd",
        lambda x: special.erf(-x),
        lambda x: -special.erf(x),
        (X,),
        {"even": special.erf, "erfc": special.erfc},
    ),
    row(
        "erf of erf_inv",
        lambda x: special.erf(special.erfinv(x)),
        lambda x: x + 0.0,
        (SMALL,),
        {"sign": lambda x: -x, "half": lambda x: x / 2},
    ),
    row(
        "gamma's recurrence",
        lambda x: special.gammaln(x + 1.0),
        lambda x: special.gammaln(x) + jnp.log(x),
        (S,),
        {"no logarithm": lambda x: special.gammaln(x) + x, "sign": lambda x: special.gammaln(x) - jnp.log(x)},
        gradient=True,
    ),
    row(
        "gamma function",
        special.gamma,
        lambda x: jnp.exp(special.gammaln(x)),
        (S,),
        {"of x + 1": lambda x: jnp.exp(special.gammaln(x + 1)), "logarithm": special.gammaln},
    ),
    row(
        "digamma's recurrence",
        lambda x: special.digamma(x + 1.0),
        lambda x: special.digamma(x) + 1.0 / x,
        (S,),
        {"sign": lambda x: special.digamma(x) - 1 / x, "logarithm": lambda x: special.digamma(x) + jnp.log(x)},
    ),
    row(
        "betaln",
        special.betaln,
        lambda a, b: special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b),
        (SHAPE, SHAPE),
        {
            "sign": lambda a, b: special.gammaln(a + b) - special.gammaln(a) - special.gammaln(b),
            "product": lambda a, b: special.gammaln(a) + special.gammaln(b) - special.gammaln(a * b),
        },
    ),
    row(
        "betaln is symmetric",
        special.betaln,
        lambda a, b: special.betaln(b, a),
        (SHAPE, SHAPE),
        {
            "shifted": lambda a, b: special.betaln(b, a + 1),
            "gammaln": lambda a, b: special.gammaln(a) + special.gammaln(b),
        },
    ),
    row(
        "factorial",
        lambda x: jnp.log(special.factorial(x)),
        lambda x: special.gammaln(x + 1.0),
        (S,),
        {"of x": special.gammaln, "of x + 2": lambda x: special.gammaln(x + 2)},
    ),
    row(
        "multigammaln of 2",
        lambda a: special.multigammaln(a + 1.0, 2),
        lambda a: jnp.log(np.pi) / 2.0 + special.gammaln(a + 1.0) + special.gammaln(a + 0.5),
        (S,),
        {
            "pi": lambda a: jnp.log(np.pi) + special.gammaln(a + 1) + special.gammaln(a + 0.5),
            "half": lambda a: jnp.log(np.pi) / 2 + 2 * special.gammaln(a + 1),
        },
    ),
    row(
        "i0e",
        special.i0e,
        lambda x: special.i0(x) * jnp.exp(-jnp.abs(x)),
        (X,),
        {"no absolute": lambda x: special.i0(x) * jnp.exp(-x), "i1": lambda x: special.i1(x) * jnp.exp(-jnp.abs(x))},
    ),
    row(
        "log1p of expm1",
        lambda x: jnp.log1p(jnp.expm1(x)),
        lambda x: x + 0.0,
        (X,),
        {"sign": lambda x: -x, "softplus": nn.softplus},
    ),
    row(
        "a Legendre polynomial",
        lambda x: jnp.polyval(np.array([1.5, 0.0, -0.5], np.float32), x),
        lambda x: (3.0 * x**2 - 1.0) / 2.0,
        (X,),
        {"first": lambda x: x, "not halved": lambda x: 3 * x**2 - 1},
    ),
    row(
        "poch",
        lambda x: special.poch(x, 2.0),
        lambda x: x * (x + 1.0),
        (S,),
        {"falling": lambda x: x * (x - 1), "square": lambda x: x**2},
    ),
)

STATISTICS = (
    row(
        "norm.logpdf",
        stats.norm.logpdf,
        plain.normal,
        (X, X, S),
        {"variance": lambda x, m, v: plain.normal(x, m, jnp.sqrt(v)), "sign": lambda x, m, s: -plain.normal(x, m, s)},
        gradient=True,
    ),
    row(
        "norm.cdf",
        stats.norm.cdf,
        plain.normal_cdf,
        (X, X, S),
        {"survival": lambda x, m, s: 1 - plain.normal_cdf(x, m, s), "logistic": plain.logistic_cdf},
    ),
    row(
        "norm.sf",
        stats.norm.sf,
        lambda x, m, s: 1.0 - plain.normal_cdf(x, m, s),
        (X, X, S),
        {"cdf": plain.normal_cdf, "logistic": lambda x, m, s: 1 - plain.logistic_cdf(x, m, s)},
    ),
    row(
        "norm.pdf",
        stats.norm.pdf,
        lambda x, m, s: jnp.exp(-(((x - m) / s) ** 2) / 2.0) / (s * jnp.sqrt(2.0 * np.pi)),
        (X, X, S),
        {
            "no scale": lambda x, m, s: jnp.exp(-(((x - m) / s) ** 2) / 2) / jnp.sqrt(2 * np.pi),
            "not halved": lambda x, m, s: jnp.exp(-(((x - m) / s) ** 2)) / (s * jnp.sqrt(2 * np.pi)),
        },
        gradient=True,
    ),
    row(
        "laplace.logpdf",
        stats.laplace.logpdf,
        plain.laplace,
        (X, X, S),
        {
            "2 lost": lambda x, m, b: -jnp.abs(x - m) / b - jnp.log(b),
            "squared": lambda x, m, b: -((x - m) ** 2) / b - jnp.log(2 * b),
        },
    ),
    row(
        "laplace.cdf",
        stats.laplace.cdf,
        plain.laplace_cdf,
        (X, X, S),
        {
            "survival": lambda x, m, b: 1 - plain.laplace_cdf(x, m, b),
            "one branch": lambda x, m, b: jnp.exp((x - m) / b) / 2,
        },
    ),
    row(
        "logistic.logpdf",
        stats.logistic.logpdf,
        plain.logistic,
        (X, X, S),
        {
            "scale lost": lambda x, m, s: plain.logistic(x, m, s) + jnp.log(s),
            "one softplus": lambda x, m, s: plain.logistic(x, m, s) + nn.softplus(-(x - m) / s),
        },
        gradient=True,
    ),
    row(
        "logistic.cdf",
        stats.logistic.cdf,
        plain.logistic_cdf,
        (X, X, S),
        {"survival": lambda x, m, s: 1 - plain.logistic_cdf(x, m, s), "tanh": lambda x, m, s: jnp.tanh((x - m) / s)},
    ),
    row(
        "cauchy.logpdf",
        stats.cauchy.logpdf,
        plain.cauchy,
        (X, X, S),
        {
            "pi lost": lambda x, m, s: plain.cauchy(x, m, s) + jnp.log(np.pi),
            "sign": lambda x, m, s: -plain.cauchy(x, m, s),
        },
    ),
    row(
        "cauchy.cdf",
        stats.cauchy.cdf,
        lambda x, m, s: jnp.arctan((x - m) / s) / np.pi + 0.5,
        (X, X, S),
        {
            "no half": lambda x, m, s: jnp.arctan((x - m) / s) / np.pi,
            "tanh": lambda x, m, s: jnp.tanh((x - m) / s) / 2 + 0.5,
        },
    ),
    row(
        "expon.logpdf",
        lambda x, s: stats.expon.logpdf(x, 0.0, s),
        lambda x, s: -x / s - jnp.log(s),
        (S, S),
        {"rate": lambda x, r: jnp.log(r) - r * x, "sign": lambda x, s: x / s - jnp.log(s)},
    ),
    row(
        "expon.logpdf everywhere",
        lambda x, s: stats.expon.logpdf(x, 0.0, s),
        lambda x, s: jnp.where(x < 0, -jnp.inf, -x / s - jnp.log(s)),
        (X, S),
        {"no support": lambda x, s: -x / s - jnp.log(s), "mirrored": lambda x, s: -jnp.abs(x) / s - jnp.log(s)},
    ),
    row(
        "gamma.logpdf",
        lambda x, a, s: stats.gamma.logpdf(x, a, 0.0, s),
        lambda x, a, s: plain.gamma(x, a, 1.0 / s),
        (S, S, S),
        {"rate": plain.gamma, "a for a − 1": lambda x, a, s: plain.gamma(x, a, 1 / s) + jnp.log(x)},
    ),
    row(
        "beta.logpdf",
        stats.beta.logpdf,
        plain.beta,
        (PROBABILITY, SHAPE, SHAPE),
        {
            "exchanged": lambda x, a, b: plain.beta(x, b, a),
            "normaliser": lambda x, a, b: plain.beta(x, a, b) + plain.betaln(a, b),
        },
    ),
    row(
        "t.logpdf",
        lambda x, n, m, s: stats.t.logpdf(x, n, m, s),
        plain.student_t,
        (X, S, X, S),
        {
            "scale lost": lambda x, n, m, s: plain.student_t(x, n, m, s) + jnp.log(s),
            "normal": lambda x, n, m, s: plain.normal(x, m, s),
        },
    ),
    row(
        "chi2.logpdf",
        lambda x, k: stats.chi2.logpdf(x, k),
        plain.chi2,
        (S, S),
        {"k": lambda x, k: plain.chi2(x, 2 * k), "sign": lambda x, k: -plain.chi2(x, k)},
    ),
    row(
        "pareto.logpdf",
        lambda y, a: stats.pareto.logpdf(1.0 + y, a),
        lambda y, a: jnp.log(a) - (a + 1.0) * jnp.log(1.0 + y),
        (S, S),
        {"a": lambda y, a: jnp.log(a) - a * jnp.log(1 + y), "no normaliser": lambda y, a: -(a + 1) * jnp.log(1 + y)},
    ),
    row(
        "uniform.logpdf everywhere",
        lambda x, w: stats.uniform.logpdf(x, 0.0, w),
        lambda x, w: jnp.where((x < 0) | (x > w), -jnp.inf, -jnp.log(w)),
        (X, S),
        {
            "no support": lambda x, w: -jnp.log(w) + 0 * x,
            "one end": lambda x, w: jnp.where(x < 0, -jnp.inf, -jnp.log(w)),
        },
    ),
    row(
        "poisson.logpmf",
        lambda r: stats.poisson.logpmf(COUNTS, r),
        lambda r: plain.poisson(COUNTS, r),
        (S,),
        {"factorial lost": lambda r: COUNTS * jnp.log(r) - r, "rate lost": lambda r: plain.poisson(COUNTS, r) + r},
    ),
    row(
        "bernoulli.logpmf",
        lambda p: stats.bernoulli.logpmf(np.array([0, 1, 1, 0]), p),
        lambda p: plain.bernoulli(np.array([0.0, 1.0, 1.0, 0.0], np.float32), p),
        (PROBABILITY,),
        {
            "exchanged": lambda p: plain.bernoulli(np.array([1.0, 0.0, 0.0, 1.0], np.float32), p),
            "ones alone": lambda p: np.array([0.0, 1.0, 1.0, 0.0], np.float32) * jnp.log(p),
        },
    ),
    row(
        "geom.logpmf",
        lambda p: stats.geom.logpmf(COUNTS + 1, p),
        lambda p: plain.geometric(COUNTS, p),
        (PROBABILITY,),
        {"from 0": lambda p: plain.geometric(COUNTS + 1.0, p), "exchanged": lambda p: plain.geometric(COUNTS, 1 - p)},
    ),
    row(
        "dirichlet.logpdf",
        lambda z, a: stats.dirichlet.logpdf(nn.softmax(z), a),
        lambda z, a: plain.dirichlet(nn.softmax(z), a),
        (f32(3), positive(f32(3))),
        {
            "normaliser lost": lambda z, a: ((a - 1) * nn.log_softmax(z)).sum(),
            "a": lambda z, a: plain.dirichlet(nn.softmax(z), a + 1),
        },
    ),
    row(
        "multivariate_normal.logpdf, diagonal",
        lambda x, m, s: stats.multivariate_normal.logpdf(x, m, jnp.diag(s * s)),
        plain.diagonal_normal,
        (f32(3), f32(3), positive(f32(3))),
        {
            "variance": lambda x, m, v: plain.diagonal_normal(x, m, jnp.sqrt(v)),
            "mean": lambda x, m, s: plain.normal(x, m, s).mean(),
        },
    ),
    row(
        "gumbel_r.logpdf",
        lambda x, m, s: stats.gumbel_r.logpdf(x, m, s),
        plain.gumbel,
        (X, X, S),
        {
            "gumbel_l": lambda x, m, s: plain.gumbel(-x, -m, s),
            "scale lost": lambda x, m, s: plain.gumbel(x, m, s) + jnp.log(s),
        },
    ),
    row(
        "gumbel_l is mirrored",
        lambda x, m, s: stats.gumbel_l.logpdf(x, m, s),
        lambda x, m, s: plain.gumbel(-x, -m, s),
        (X, X, S),
        {"gumbel_r": plain.gumbel, "location": lambda x, m, s: plain.gumbel(-x, m, s)},
    ),
    row(
        "sem",
        stats.sem,
        lambda x: jnp.sqrt(((x - x.mean()) ** 2).sum() / 3.0) / 2.0,
        (X,),
        {"of n": lambda x: x.std() / 2, "not divided": lambda x: x.std(ddof=1)},
        gradient=True,
    ),
    row(
        "truncnorm on a fixed interval, inside",
        lambda x: stats.truncnorm.logpdf(x, -1.0, 1.0),
        lambda x: plain.normal(x, 0.0, 1.0) - jnp.log(special.erf(jnp.sqrt(0.5))),
        (SMALL,),
        {
            "not truncated": lambda x: plain.normal(x, 0.0, 1.0),
            "sign": lambda x: plain.normal(x, 0.0, 1.0) + jnp.log(special.erf(jnp.sqrt(0.5))),
        },
    ),
)

SIGNAL = (
    row(
        "signal.convolve",
        lambda x, k: jax.scipy.signal.convolve(x, k, mode="full", precision="highest"),
        lambda x, k: sum(jnp.pad(x * k[i], (i, 2 - i)) for i in range(3)),
        (f32(5), f32(3)),
        {
            "correlation": lambda x, k: sum(jnp.pad(x * k[2 - i], (i, 2 - i)) for i in range(3)),
            "circular": lambda x, k: jnp.pad(sum(jnp.roll(x * k[i], i) for i in range(3)), (0, 2)),
        },
        gradient=True,
    ),
    row(
        "signal.correlate",
        lambda x, k: jax.scipy.signal.correlate(x, k, mode="valid", precision="highest"),
        lambda x, k: jnp.stack([x[i : i + 3] @ k for i in range(3)]),
        (f32(5), f32(3)),
        {
            "convolution": lambda x, k: jnp.stack([x[i : i + 3] @ k[::-1] for i in range(3)]),
            "shifted": lambda x, k: jnp.stack([x[(i + 1) % 3 : (i + 1) % 3 + 3] @ k for i in range(3)]),
        },
    ),
    row(
        "signal.detrend, constant",
        lambda x: jax.scipy.signal.detrend(x, type="constant"),
        lambda x: x - x.mean(),
        (f32(5),),
        {"median": lambda x: x - x[2], "sum": lambda x: x - x.sum()},
    ),
    row(
        "fft.dct of type 2",
        lambda x: jax.scipy.fft.dct(x),
        lambda x: matmul(2.0 * np.cos(np.pi * np.outer(np.arange(4), 2 * np.arange(4) + 1) / 8.0), x),
        (X,),
        {"not doubled": lambda x: jax.scipy.fft.dct(x) / 2, "reversed": lambda x: jax.scipy.fft.dct(x)[::-1]},
    ),
    row(
        "ndimage.map_coordinates at half places",
        lambda x: jax.scipy.ndimage.map_coordinates(x, [np.array([0.5, 1.5, 2.5], np.float32)], 1),
        lambda x: (x[:-1] + x[1:]) / 2.0,
        (X,),
        {"nearest": lambda x: x[1:], "sum": lambda x: x[:-1] + x[1:]},
    ),
    row(
        "integrate.trapezoid",
        lambda x: jax.scipy.integrate.trapezoid(x, dx=0.5),
        lambda x: 0.5 * (x.sum() - (x[0] + x[-1]) / 2.0),
        (X,),
        {"rectangles": lambda x: 0.5 * x.sum(), "dx": lambda x: x.sum() - (x[0] + x[-1]) / 2},
    ),
    row(
        "interpolate.RegularGridInterpolator on a line",
        lambda x: jax.scipy.interpolate.RegularGridInterpolator((np.array([0.0, 1.0, 2.0, 3.0], np.float32),), x)(
            np.array([[0.25], [2.5]], np.float32)
        ),
        lambda x: jnp.stack([0.75 * x[0] + 0.25 * x[1], (x[2] + x[3]) / 2.0]),
        (X,),
        {
            "exchanged": lambda x: jnp.stack([0.25 * x[0] + 0.75 * x[1], (x[2] + x[3]) / 2.0]),
            "nearest": lambda x: jnp.stack([x[0], x[2]]),
        },
    ),
)

FURTHER = (
    row(
        "log_ndtr",
        special.log_ndtr,
        lambda x: jnp.log((1.0 + special.erf(x / jnp.sqrt(2.0))) / 2.0),
        (interval(f32(4), -4.0, 4.0),),
        {"upper": lambda x: jnp.log((1 - special.erf(x / jnp.sqrt(2.0))) / 2)},
    ),
    row(
        "gammainc and gammaincc",
        lambda a, x: special.gammainc(a, x) + special.gammaincc(a, x),
        lambda a, x: jnp.ones(4) + 0.0 * (a + x),
        (S, S),
        {"0": lambda a, x: 0 * (a + x)},
    ),
    row(
        "betainc of exchanged shapes",
        lambda a, b, x: special.betainc(a, b, x),
        lambda a, b, x: 1.0 - special.betainc(b, a, 1.0 - x),
        (SHAPE, SHAPE, PROBABILITY),
        {"not exchanged": lambda a, b, x: 1 - special.betainc(a, b, 1 - x)},
    ),
    row(
        "beta by gamma",
        special.beta,
        lambda a, b: jnp.exp(special.gammaln(a) + special.gammaln(b) - special.gammaln(a + b)),
        (SHAPE, SHAPE),
        {"sign": lambda a, b: jnp.exp(special.gammaln(a + b) - special.gammaln(a) - special.gammaln(b))},
    ),
    row(
        "boxcox of exponent 2",
        lambda x: special.boxcox(x, 2.0),
        lambda x: (x * x - 1.0) / 2.0,
        (S,),
        {"log": jnp.log, "not halved": lambda x: x * x - 1},
    ),
    row(
        "i0 by its scaled form",
        special.i0,
        lambda x: jnp.exp(jnp.abs(x)) * special.i0e(x),
        (f32(4),),
        {"sign": lambda x: jnp.exp(-jnp.abs(x)) * special.i0e(x)},
    ),
    row(
        "softmax of two is the sigmoid",
        lambda x, y: special.softmax(jnp.stack([x, y]), axis=0)[0],
        lambda x, y: special.expit(x - y),
        (f32(4), f32(4)),
        {"sign": lambda x, y: special.expit(y - x)},
    ),
    row(
        "binom.logpmf",
        lambda p: stats.binom.logpmf(COUNTS, 6.0, p),
        lambda p: plain.binomial(COUNTS, 6.0, p),
        (PROBABILITY,),
        {"exchanged": lambda p: plain.binomial(COUNTS, 6.0, 1 - p)},
    ),
    row(
        "nbinom.logpmf",
        lambda p: stats.nbinom.logpmf(COUNTS, 3.0, p),
        lambda p: (
            special.gammaln(COUNTS + 3.0)
            - special.gammaln(COUNTS + 1.0)
            - special.gammaln(3.0)
            + 3.0 * jnp.log(p)
            + COUNTS * jnp.log(1.0 - p)
        ),
        (PROBABILITY,),
        {"no coefficient": lambda p: 3 * jnp.log(p) + COUNTS * jnp.log(1 - p)},
    ),
    row(
        "laplace.cdf everywhere",
        stats.laplace.cdf,
        lambda x: jnp.where(x < 0.0, 0.5 * jnp.exp(x), 1.0 - 0.5 * jnp.exp(-x)),
        (f32(4),),
        {"one side": lambda x: 0.5 * jnp.exp(x)},
    ),
    row(
        "gumbel_r.cdf",
        stats.gumbel_r.cdf,
        lambda x: jnp.exp(-jnp.exp(-x)),
        (f32(4),),
        {"mirrored": lambda x: 1 - jnp.exp(-jnp.exp(x))},
    ),
    row(
        "pareto.cdf inside",
        lambda y, b: stats.pareto.cdf(1.0 + y, b),
        lambda y, b: 1.0 - (1.0 + y) ** (-b),
        (S, S),
        {"survival": lambda y, b: (1 + y) ** (-b)},
    ),
    row(
        "vonmises.logpdf",
        lambda x, k: stats.vonmises.logpdf(x, k),
        lambda x, k: k * jnp.cos(x) - jnp.log(plain.TAU * special.i0(k)),
        (interval(f32(4), -3.0, 3.0), S),
        {"sine": lambda x, k: k * jnp.sin(x) - jnp.log(plain.TAU * special.i0(k))},
    ),
    row(
        "wrapcauchy.logpdf inside",
        lambda x, c: stats.wrapcauchy.logpdf(x, c),
        lambda x, c: jnp.log((1.0 - c**2) / (plain.TAU * (1.0 + c**2 - 2.0 * c * jnp.cos(x)))),
        (interval(f32(4), 0.25, 6.0), PROBABILITY),
        {"sign": lambda x, c: jnp.log((1 - c**2) / (plain.TAU * (1 + c**2 + 2 * c * jnp.cos(x))))},
    ),
    row(
        "gennorm.logpdf of exponent 1 is Laplace's",
        lambda x: stats.gennorm.logpdf(x, 1.0),
        lambda x: -jnp.abs(x) - jnp.log(2.0),
        (f32(4),),
        {"2 lost": lambda x: -jnp.abs(x)},
    ),
    row(
        "norm.logsf",
        lambda x: stats.norm.logsf(x),
        lambda x: special.log_ndtr(-x),
        (f32(4),),
        {"cdf": special.log_ndtr},
    ),
    row(
        "expon.sf and cdf",
        lambda x: stats.expon.sf(x) + stats.expon.cdf(x),
        lambda x: jnp.ones(4) + 0.0 * x,
        (f32(4),),
        {"0": lambda x: 0 * x},
    ),
    row(
        "beta.logpdf everywhere",
        lambda x: stats.beta.logpdf(x, 2.0, 3.0),
        lambda x: jnp.where((x >= 0.0) & (x <= 1.0), jnp.log(12.0 * x * (1.0 - x) ** 2), -jnp.inf),
        (f32(4),),
        {"exchanged": lambda x: jnp.where((x >= 0) & (x <= 1), jnp.log(12 * x**2 * (1 - x)), -jnp.inf)},
    ),
)

ROWS = (*SPECIAL, *STATISTICS, *SIGNAL, *FURTHER)
