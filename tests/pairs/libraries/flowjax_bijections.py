"""flowjax: bijections with parameters given as arguments, and their log-det-Jacobians."""

import jax
import jax.numpy as jnp
from jax import nn

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import densities as plain
from .library import library

bij, dist = library("flowjax.bijections"), library("flowjax.distributions")

X, S = f32(3), positive(f32(3))


def both(make):
    return lambda x, *parameters: make(*parameters).transform_and_log_det(x)


def by_jacobian(f):
    """The value and the logarithm of the determinant of an entry-by-entry map."""
    return lambda x, *p: (f(x, *p), jnp.log(jnp.abs(jnp.diag(jax.jacfwd(lambda x: f(x, *p))(x)))).sum())


def householder(x, v):
    return x - 2.0 * v * (v @ x) / (v @ v)


def made(bijection):
    """A bijection that is built with its parameters; flowjax wraps some, which are unwrapped."""
    return library("paramax").unwrap(bijection)


FUNCTIONS = (
    row(
        "Exp",
        both(lambda: bij.Exp((3,))),
        lambda x: (jnp.exp(x), x.sum()),
        (X,),
        {"sign": lambda x: (jnp.exp(x), -x.sum()), "mean": lambda x: (jnp.exp(x), x.mean())},
        gradient=True,
    ),
    row(
        "SoftPlus",
        both(lambda: bij.SoftPlus((3,))),
        by_jacobian(lambda x: jnp.log(1.0 + jnp.exp(x))),
        (X,),
        {
            "Exp": lambda x: (jnp.log1p(jnp.exp(x)), x.sum()),
            "sign": lambda x: (jnp.log1p(jnp.exp(x)), nn.softplus(-x).sum()),
        },
    ),
    row(
        "Sigmoid",
        both(lambda: bij.Sigmoid((3,))),
        by_jacobian(lambda x: 1.0 / (1.0 + jnp.exp(-x))),
        (X,),
        {"one factor": lambda x: (nn.sigmoid(x), nn.log_sigmoid(x).sum()), "tanh": by_jacobian(jnp.tanh)},
    ),
    row(
        "Tanh",
        both(lambda: bij.Tanh((3,))),
        by_jacobian(jnp.tanh),
        (X,),
        {"sigmoid": by_jacobian(nn.sigmoid), "half": lambda x: (jnp.tanh(x), jnp.log(1 - jnp.tanh(x)).sum())},
    ),
    row(
        "Affine",
        lambda x, m, s: made(bij.Affine(m, s)).transform_and_log_det(x),
        lambda x, m, s: (m + s * x, jnp.log(s).sum()),
        (X, X, S),
        {
            "sign": lambda x, m, s: (m + s * x, -jnp.log(s).sum()),
            "order": lambda x, m, s: (s * (x + m), jnp.log(s).sum()),
        },
        gradient=True,
    ),
    row(
        "Affine, inverse",
        lambda y, m, s: made(bij.Affine(m, s)).inverse_and_log_det(y),
        lambda y, m, s: ((y - m) / s, -jnp.log(s).sum()),
        (X, X, S),
        {
            "sign": lambda y, m, s: ((y - m) / s, jnp.log(s).sum()),
            "forwards": lambda y, m, s: (m + s * y, -jnp.log(s).sum()),
        },
    ),
    row(
        "Loc and Scale in a Chain",
        lambda x, m, s: made(bij.Chain([bij.Scale(s), bij.Loc(m)])).transform_and_log_det(x),
        lambda x, m, s: (m + s * x, jnp.log(s).sum()),
        (X, X, S),
        {
            "other order": lambda x, m, s: (s * (x + m), jnp.log(s).sum()),
            "no determinant": lambda x, m, s: (m + s * x, 0 * s.sum()),
        },
    ),
    row(
        "Flip and Permute",
        lambda x: bij.Chain([bij.Flip((3,)), bij.Permute(jnp.array([2, 0, 1]))]).transform(x),
        lambda x: jnp.stack([x[0], x[2], x[1]]),
        (X,),
        {"not": lambda x: x + 0, "reversed": lambda x: x[::-1]},
    ),
    row(
        "Householder",
        lambda x, v: bij.Householder(v).transform(x),
        householder,
        (X, X),
        {"projection": lambda x, v: x - v * (v @ x) / (v @ v), "not normalised": lambda x, v: x - 2 * v * (v @ x)},
    ),
    row(
        "a reflection twice",
        lambda x, v: bij.Householder(v).transform(bij.Householder(v).transform(x)),
        lambda x, v: x + 0.0 * v,
        (X, X),
        {"once": householder, "sign": lambda x, v: -x},
    ),
    row(
        "Power",
        lambda x: bij.Power(2.0).transform_and_log_det(x),
        lambda x: (x * x, jnp.log(2.0 * x)),
        (positive(f32()),),
        {"3": lambda x: (x**3, jnp.log(2 * x)), "no factor": lambda x: (x * x, jnp.log(x))},
    ),
    row(
        "TriangularAffine",
        lambda x, m, A: made(
            bij.TriangularAffine(m, jnp.tril(A, -1) + jnp.diag(jnp.exp(jnp.diag(A))))
        ).transform_and_log_det(x),
        lambda x, m, A: (m + matmul(jnp.tril(A, -1), x) + jnp.exp(jnp.diag(A)) * x, jnp.trace(A)),
        (X, X, f32(3, 3)),
        {
            "upper": lambda x, m, A: (m + matmul(jnp.triu(A, 1), x) + jnp.exp(jnp.diag(A)) * x, jnp.trace(A)),
            "sign": lambda x, m, A: (m + matmul(jnp.tril(A, -1), x) + jnp.exp(jnp.diag(A)) * x, -jnp.trace(A)),
        },
    ),
    row(
        "Invert of Exp",
        lambda y: bij.Invert(bij.Exp((3,))).transform_and_log_det(y),
        lambda y: (jnp.log(y), -jnp.log(y).sum()),
        (S,),
        {"sign": lambda y: (jnp.log(y), jnp.log(y).sum()), "exp": lambda y: (jnp.exp(y), -jnp.log(y).sum())},
    ),
    row(
        "Exp and its inverse",
        lambda x: bij.Exp((3,)).inverse(bij.Exp((3,)).transform(x)),
        lambda x: x + 0.0,
        (X,),
        {"sign": lambda x: -x, "exp": jnp.exp},
    ),
    row(
        "Concatenate",
        lambda x: bij.Concatenate([bij.Exp((1,)), bij.Identity((2,))]).transform_and_log_det(x),
        lambda x: (jnp.stack([jnp.exp(x[0]), x[1], x[2]]), x[0]),
        (X,),
        {"all": lambda x: (jnp.exp(x), x.sum()), "sign": lambda x: (jnp.stack([jnp.exp(x[0]), x[1], x[2]]), -x[0])},
    ),
    row(
        "Normal.log_prob",
        lambda x, m, s: made(dist.Normal(m, s)).log_prob(x),
        plain.diagonal_normal,
        (X, X, S),
        {
            "variance": lambda x, m, v: plain.diagonal_normal(x, m, jnp.sqrt(v)),
            "mean": lambda x, m, s: plain.normal(x, m, s).mean(),
        },
        gradient=True,
    ),
    row(
        "LogNormal.log_prob",
        lambda x, m, s: made(dist.LogNormal(m, s)).log_prob(x),
        lambda x, m, s: plain.lognormal(x, m, s).sum(),
        (S, X, S),
        {
            "no Jacobian": lambda x, m, s: plain.normal(jnp.log(x), m, s).sum(),
            "mean": lambda x, m, s: plain.lognormal(x, m, s).mean(),
        },
    ),
    row(
        "Transformed Normal by tanh",
        lambda x: dist.Transformed(dist.Normal(jnp.zeros(3)), bij.Tanh((3,))).log_prob(jnp.tanh(x)),
        lambda x: (plain.normal(x, 0.0, 1.0) - jnp.log(1.0 - jnp.tanh(x) ** 2)).sum(),
        (X,),
        {
            "no Jacobian": lambda x: plain.normal(x, 0.0, 1.0).sum(),
            "sign": lambda x: (plain.normal(x, 0.0, 1.0) + jnp.log(1 - jnp.tanh(x) ** 2)).sum(),
        },
    ),
    row(
        "Laplace and Logistic",
        lambda x, m, s: made(dist.Logistic(m, s)).log_prob(x),
        lambda x, m, s: plain.logistic(x, m, s).sum(),
        (X, X, S),
        {
            "scale lost": lambda x, m, s: (plain.logistic(x, m, s) + jnp.log(s)).sum(),
            "laplace": lambda x, m, s: plain.laplace(x, m, s).sum(),
        },
    ),
)

FURTHER = (
    row(
        "Scale, inverse",
        lambda x, s: made(bij.Scale(s)).inverse_and_log_det(x),
        lambda x, s: (x / s, -jnp.log(s).sum()),
        (X, S),
        {"forwards": lambda x, s: (x * s, jnp.log(s).sum())},
    ),
    row(
        "Invert of Affine",
        lambda y, m, s: made(bij.Invert(bij.Affine(m, s))).transform(y),
        lambda y, m, s: (y - m) / s,
        (X, X, S),
        {"forwards": lambda y, m, s: m + s * y},
    ),
    row(
        "Exponential.log_prob",
        lambda x, r: made(dist.Exponential(r)).log_prob(x),
        lambda x, r: (jnp.log(r) - r * x).sum(),
        (S, S),
        {"mean": lambda x, r: (-jnp.log(r) - x / r).sum()},
    ),
    row(
        "Uniform.log_prob inside",
        lambda x: made(dist.Uniform(jnp.full(3, -1.0), jnp.full(3, 3.0))).log_prob(x),
        lambda x: -3.0 * jnp.log(4.0) + 0.0 * x.sum(),
        (interval(f32(3), -0.5, 2.5),),
        {"not summed": lambda x: -jnp.log(4.0) + 0 * x.sum()},
    ),
    row(
        "Gumbel.log_prob",
        lambda x, m, s: made(dist.Gumbel(m, s)).log_prob(x),
        lambda x, m, s: plain.gumbel(x, m, s).sum(),
        (X, X, S),
        {"mean": lambda x, m, s: plain.gumbel(x, m, s).mean()},
    ),
    row(
        "Cauchy.log_prob",
        lambda x, m, s: made(dist.Cauchy(m, s)).log_prob(x),
        lambda x, m, s: plain.cauchy(x, m, s).sum(),
        (X, X, S),
        {"normal": lambda x, m, s: plain.normal(x, m, s).sum()},
    ),
    row(
        "Laplace.log_prob",
        lambda x, m, s: made(dist.Laplace(m, s)).log_prob(x),
        lambda x, m, s: plain.laplace(x, m, s).sum(),
        (X, X, S),
        {"normal": lambda x, m, s: plain.normal(x, m, s).sum()},
    ),
    row(
        "Stack",
        lambda x: bij.Stack([bij.Exp(), bij.SoftPlus(), bij.Identity()]).transform_and_log_det(x),
        lambda x: (
            jnp.stack([jnp.exp(x[0]), jnp.log(1.0 + jnp.exp(x[1])), x[2]]),
            x[0] - jnp.log(1.0 + jnp.exp(-x[1])),
        ),
        (X,),
        {"sign": lambda x: (jnp.stack([jnp.exp(x[0]), nn.softplus(x[1]), x[2]]), x[0] + nn.softplus(-x[1]))},
    ),
)

ROWS = (*FUNCTIONS, *FURTHER)
