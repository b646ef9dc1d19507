"""tinygp: covariance functions and the log-likelihood of a small Gaussian process."""

import jax.numpy as jnp
import numpy as np

from uat_jax import positive

from ..pair import f32
from ..row import row
from . import densities as plain
from .library import library

kernels, tinygp = library("tinygp.kernels"), library("tinygp")

X, S = (f32(), f32(), positive(f32())), positive(f32())
POINTS = np.array([0.0, 1.0], np.float32)


def of(make):
    """(x, y, scale) ↦ the covariance of the values at x and at y."""
    return lambda x, y, s: make(s).evaluate(x, y)


def matern32(x, y, s):
    r = jnp.abs(x - y) / s
    return (1.0 + jnp.sqrt(3.0) * r) * jnp.exp(-jnp.sqrt(3.0) * r)


def matern52(x, y, s):
    r = jnp.abs(x - y) / s
    return (1.0 + jnp.sqrt(5.0) * r + 5.0 * r**2 / 3.0) * jnp.exp(-jnp.sqrt(5.0) * r)


def likelihood(y, s):
    """Two points at distance 1, unit noise."""
    rho = jnp.exp(-1.0 / (2.0 * s**2))
    cov = jnp.stack([jnp.stack([2.0 + 0.0 * s, rho]), jnp.stack([rho, 2.0 + 0.0 * s])])
    return plain.covariance_normal(y, jnp.zeros(2), cov)


ROWS = (
    row(
        "ExpSquared",
        of(kernels.ExpSquared),
        lambda x, y, s: jnp.exp(-((x - y) ** 2) / (2.0 * s**2)),
        X,
        {
            "not halved": lambda x, y, s: jnp.exp(-((x - y) ** 2) / s**2),
            "scale not squared": lambda x, y, s: jnp.exp(-((x - y) ** 2) / (2 * s)),
        },
        gradient=True,
    ),
    row(
        "Exp",
        of(kernels.Exp),
        lambda x, y, s: jnp.exp(-jnp.abs(x - y) / s),
        X,
        {
            "squared": lambda x, y, s: jnp.exp(-((x - y) ** 2) / s),
            "product": lambda x, y, s: jnp.exp(-jnp.abs(x - y) * s),
        },
    ),
    row(
        "Matern32",
        of(kernels.Matern32),
        matern32,
        X,
        {
            "Matern52": matern52,
            "no root": lambda x, y, s: (1 + 3 * jnp.abs(x - y) / s) * jnp.exp(-3 * jnp.abs(x - y) / s),
        },
    ),
    row(
        "Matern52",
        of(kernels.Matern52),
        matern52,
        X,
        {"Matern32": matern32, "no square": lambda x, y, s: matern52(x, y, s) - jnp.exp(-jnp.abs(x - y) / s)},
    ),
    row(
        "Cosine",
        of(kernels.Cosine),
        lambda x, y, s: jnp.cos(2.0 * np.pi * (x - y) / s),
        X,
        {"sine": lambda x, y, s: jnp.sin(2 * np.pi * (x - y) / s), "no 2π": lambda x, y, s: jnp.cos((x - y) / s)},
    ),
    row(
        "ExpSineSquared",
        lambda x, y, s: kernels.ExpSineSquared(s, gamma=0.5).evaluate(x, y),
        lambda x, y, s: jnp.exp(-(1.0 - jnp.cos(2.0 * np.pi * (x - y) / s)) / 4.0),
        X,
        {
            "not halved": lambda x, y, s: jnp.exp(-(1 - jnp.cos(2 * np.pi * (x - y) / s)) / 2),
            "cosine": lambda x, y, s: jnp.exp(-(1 + jnp.cos(2 * np.pi * (x - y) / s)) / 4),
        },
    ),
    row(
        "RationalQuadratic",
        lambda x, y, s: kernels.RationalQuadratic(s, alpha=2.0).evaluate(x, y),
        lambda x, y, s: 1.0 / (1.0 + (x - y) ** 2 / (4.0 * s**2)) ** 2,
        X,
        {
            "first power": lambda x, y, s: 1 / (1 + (x - y) ** 2 / (4 * s**2)),
            "alpha": lambda x, y, s: 1 / (1 + (x - y) ** 2 / (2 * s**2)) ** 2,
        },
    ),
    row(
        "DotProduct and Polynomial",
        lambda x, y: kernels.Polynomial(order=2, sigma=1.0).evaluate(x[None], y[None]),
        lambda x, y: (x * y + 1.0) ** 2,
        (f32(), f32()),
        {"first order": lambda x, y: x * y + 1, "no constant": lambda x, y: (x * y) ** 2},
    ),
    row(
        "a sum and a product of kernels",
        lambda x, y, s: (kernels.Exp(s) * kernels.Constant(2.0) + kernels.Constant(0.5)).evaluate(x, y),
        lambda x, y, s: 2.0 * jnp.exp(-jnp.abs(x - y) / s) + 0.5,
        X,
        {
            "inside": lambda x, y, s: 2 * (jnp.exp(-jnp.abs(x - y) / s) + 0.5),
            "no constant": lambda x, y, s: 2 * jnp.exp(-jnp.abs(x - y) / s),
        },
    ),
    row(
        "a matrix of covariances",
        lambda s: kernels.ExpSquared(s)(POINTS, POINTS),
        lambda s: jnp.exp(-((POINTS[:, None] - POINTS[None]) ** 2) / (2.0 * s**2)),
        (S,),
        {
            "not halved": lambda s: jnp.exp(-((POINTS[:, None] - POINTS[None]) ** 2) / s**2),
            "absolute": lambda s: jnp.exp(-jnp.abs(POINTS[:, None] - POINTS[None]) / s),
        },
    ),
    row(
        "log-likelihood of two points",
        lambda y, s: tinygp.GaussianProcess(kernels.ExpSquared(s), POINTS, diag=1.0).log_probability(y),
        likelihood,
        (f32(2), S),
        {"no noise": lambda y, s: likelihood(y, s) + 0.5 * y @ y, "scale": lambda y, s: likelihood(y, 2 * s)},
    ),
)
