"""Every law of the prime fields is needed by something that it makes equal, and makes nothing wrong equal."""

from collections.abc import Callable
from dataclasses import dataclass

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

from uat_jax.decide.domain import EVERYWHERE, Domains, Interval
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.errors import UnsupportedError
from uat_jax.numbers.prime_fields.field_functions import LAWS

X = jax.ShapeDtypeStruct((3, 4), jnp.float32)
PAIRS = np.eye(4, dtype=np.float32) + np.eye(4, k=1, dtype=np.float32)
POSITIVE = Domains((Interval(0, np.inf, open=True),))
WITHIN_A_TURN = Domains((Interval(-3.0, 3.0),))
MASKED = np.where(np.array([[1, 0, 1, 1], [0, 1, 0, 0]]), 0, -np.inf).astype(np.float32)


@dataclass(frozen=True)
class Case:
    """left = right by a law, almost everywhere if it says so; twin looks like right and is another function.

    domains: what the input ranges over.
    """

    law: str
    name: str
    left: Callable
    right: Callable
    twin: Callable
    almost_everywhere: bool = False
    domains: Domains = EVERYWHERE

    def __str__(self) -> str:
        return f"{self.law}: {self.name}"


def moments(x, clip):
    """The variance of each row as the mean of squares minus the square of the mean."""
    return clip(jnp.mean(x * x, -1) - jnp.mean(x, -1) ** 2)


def _twice(x):
    """The logarithm of the softmax, normalised once more: its maximum is taken off numbers with a logarithm."""
    return jax.nn.log_softmax(jax.nn.log_softmax(x))


def _share(x):
    """The softmax, without a maximum."""
    return jnp.exp(x) / jnp.exp(x).sum(-1, keepdims=True)


def _triple_product(a):
    """The determinant of three rows."""
    return (a[0] * jnp.cross(a[1], a[2])).sum()


def _derivative_of_factors(x):
    """The derivative of Σ Lᵢⱼ for L Lᵀ = 1 + x xᵀ of two rows."""
    return jax.grad(lambda y: jnp.linalg.cholesky(jnp.eye(2) + y @ y.T).sum())(x[:2])


def _derivative_by_formula(x):
    """The same by the formula of L."""

    def of_factors(y):
        a = jnp.eye(2) + y @ y.T
        first = jnp.sqrt(a[0, 0])
        return first + a[1, 0] / first + jnp.sqrt(a[1, 1] - a[1, 0] ** 2 / a[0, 0])

    return jax.grad(of_factors)(x[:2])


def _cosines(x):
    """The cosines of the angles between rows."""
    norms = jnp.linalg.norm(x, axis=1)
    return x @ x.T / norms[:, None] / norms[None]


CASES = (
    Case(
        "sums of roots",
        "a distance of unit vectors",
        lambda x: ((x[0] / jnp.linalg.norm(x[0]) - x[1] / jnp.linalg.norm(x[1])) ** 2).sum(),
        lambda x: 2 - 2 * x[0] @ x[1] / (jnp.linalg.norm(x[0]) * jnp.linalg.norm(x[1])),
        lambda x: 2 - x[0] @ x[1] / (jnp.linalg.norm(x[0]) * jnp.linalg.norm(x[1])),
    ),
    Case(
        "increasing functions",
        "the largest probability",
        lambda x: jnp.max(jax.nn.softmax(x), -1),
        lambda x: jnp.exp(jnp.max(x, -1)) / jnp.exp(x).sum(-1),
        lambda x: jnp.exp(jnp.min(x, -1)) / jnp.exp(x).sum(-1),
    ),
    Case(
        "increasing functions",
        "the place of the largest probability",
        lambda x: jnp.argmax(jax.nn.softmax(x), -1).astype(x.dtype),
        lambda x: jnp.argmax(x, -1).astype(x.dtype),
        lambda x: jnp.argmin(x, -1).astype(x.dtype),
    ),
    Case(
        "cosines of angles",
        "clipped",
        lambda x: jnp.clip(_cosines(x), -1, 1),
        _cosines,
        lambda x: jnp.clip(_cosines(x), -0.25, 0.25),
    ),
    Case(
        "entries first",
        "the terms that a mask keeps",
        lambda x: jnp.log(jnp.where(PAIRS > 0, jnp.exp(x[:1]), 0).sum(1)),
        lambda x: jnp.stack([jax.nn.logsumexp(x[0, k : k + 2]) for k in range(4)]),
        lambda x: jnp.stack([jax.nn.logsumexp(x[0, : k + 1]) for k in range(4)]),
    ),
    Case(
        "roots in matrices",
        "derivatives of L",
        _derivative_of_factors,
        _derivative_by_formula,
        lambda x: _derivative_by_formula(x) + x[:2] / 64,
    ),
    Case(
        "roots in matrices",
        "of a matrix with itself",
        lambda x: jnp.diag(jnp.dot(jnp.sqrt(1 + x * x), jnp.sqrt(1 + x * x).T)),
        lambda x: jnp.sum(1 + x * x, -1),
        lambda x: jnp.sum(jnp.sqrt(1 + x * x), -1),
    ),
    Case(
        "logarithm of a product met before",
        "a determinant",
        lambda x: 2 * jnp.log(jnp.sqrt(1 + x[0] ** 2)) + 2 * jnp.log(jnp.sqrt(2 + x[1] ** 2)),
        lambda x: jnp.log(2 + 2 * x[0] ** 2 + x[1] ** 2 + (x[0] * x[1]) ** 2),
        lambda x: jnp.log(3 + 2 * x[0] ** 2 + x[1] ** 2 + (x[0] * x[1]) ** 2),
    ),
    Case(
        "root of a square met before",
        "a square and its multiples",
        lambda x: jnp.sqrt(0.25 * x * x),
        lambda x: jnp.abs(x) / 2,
        lambda x: jnp.abs(x),
    ),
    Case(
        "recurrence of the gamma function",
        "its second derivative",
        lambda x: jax.scipy.special.polygamma(1, x),
        lambda x: jax.scipy.special.polygamma(1, x + 2) + 1 / x**2 + 1 / (x + 1) ** 2,
        lambda x: jax.scipy.special.polygamma(1, x + 2) + 1 / x**2 - 1 / (x + 1) ** 2,
        domains=POSITIVE,
    ),
    Case(
        "angles",
        "of a point of the unit circle",
        lambda x: jnp.cos(jnp.arctan2(jnp.sin(x), jnp.cos(x)) / 1 + 1),
        lambda x: jnp.cos(x + 1),
        lambda x: jnp.cos(x - 1),
    ),
    Case(
        "root of a square met before",
        "a square that is written out",
        lambda x: 1 + jnp.exp(x),
        lambda x: jnp.sqrt(1 + 2 * jnp.exp(x) + jnp.exp(2 * x)),
        lambda x: jnp.sqrt(1 + 3 * jnp.exp(x) + jnp.exp(2 * x)),
    ),
    Case(
        "functions of eigenvalues",
        "a determinant",
        lambda x: jnp.prod(jnp.linalg.eigvalsh(x[:, :3])),
        lambda x: _triple_product((x[:, :3] + x[:, :3].T) / 2),
        lambda x: _triple_product(x[:, :3]),
    ),
    Case(
        "order of rows",
        "a determinant",
        lambda x: jnp.linalg.slogdet(x[:, :3])[1],
        lambda x: jnp.log(jnp.abs(_triple_product(x[:, :3]))),
        lambda x: jnp.log(jnp.abs(_triple_product(x[:, 1:]))),
    ),
    Case(
        "roots in matrices",
        "put together",
        lambda x: jnp.stack([jnp.sqrt(1 + x[0] ** 2), jnp.sqrt(2 + x[1] ** 2)]) ** 2,
        lambda x: jnp.stack([1 + x[0] ** 2, 2 + x[1] ** 2]),
        lambda x: jnp.stack([2 + x[0] ** 2, 1 + x[1] ** 2]),
    ),
    Case(
        "logarithm of exponentials",
        "inverse",
        lambda x: jnp.log(jnp.exp(x)),
        lambda x: x,
        lambda x: jnp.log(1 + jnp.exp(x)),
    ),
    Case(
        "logarithm of exponentials",
        "translation",
        lambda x: jnp.log(jnp.sum(jnp.exp(x + x[0, 0]), -1)),
        lambda x: jnp.log(jnp.sum(jnp.exp(x), -1)) + x[0, 0],
        lambda x: jnp.log(jnp.sum(jnp.exp(x), -1)) + 4 * x[0, 0],
    ),
    Case(
        "logarithm of exponentials",
        "quotient",
        lambda x: jnp.log(jax.nn.softmax(x)),
        lambda x: jax.nn.log_softmax(x),
        lambda x: jax.nn.log_softmax(2 * x),
    ),
    Case(
        "exponential form",
        "tanh",
        jnp.tanh,
        lambda x: 2 / (1 + jnp.exp(-2 * x)) - 1,
        lambda x: 2 / (1 + jnp.exp(-x)) - 1,
    ),
    Case(
        "exponential form",
        "logistic",
        jax.nn.sigmoid,
        lambda x: jnp.exp(x) / (1 + jnp.exp(x)),
        lambda x: jnp.exp(-x) / (1 + jnp.exp(-x)),
    ),
    Case(
        "exponential form",
        "sin and cos",
        lambda x: jnp.sin(2 * x),
        lambda x: 2 * jnp.sin(x) * jnp.cos(x),
        lambda x: jnp.sin(x) * jnp.cos(x),
    ),
    Case(
        "member of an extreme",
        "a maximum",
        lambda x: jnp.where(x == jnp.maximum(x, x[0, 0]), x, 0.0),
        lambda x: jnp.where(x >= x[0, 0], x, 0.0),
        lambda x: jnp.where(x <= x[0, 0], x, 0.0),
    ),
    Case(
        "entries first",
        "the diagonal of a Jacobian",
        lambda x: jnp.log(jnp.diag(jax.jacfwd(jax.nn.sigmoid)(x[0]))),
        lambda x: jnp.log(jax.nn.sigmoid(x[0])) + jnp.log(jax.nn.sigmoid(-x[0])),
        lambda x: jnp.log(jax.nn.sigmoid(x[0])) + jnp.log(jax.nn.sigmoid(x[0])),
    ),
    Case(
        "entries first",
        "counts",
        lambda x: jax.lax.lgamma(x + np.array([[1, 2, 6, 3]], np.float32)),
        lambda x: (
            jax.lax.lgamma(x + np.array([[0, 1, 5, 2]], np.float32)) + jnp.log(x + np.array([[0, 1, 5, 2]], np.float32))
        ),
        lambda x: jax.lax.lgamma(x + np.array([[1, 2, 3, 6]], np.float32)),
        domains=POSITIVE,
    ),
    Case(
        "cases of entries",
        "a one-hot of the place of the largest",
        lambda x: (jax.nn.one_hot(jnp.argmax(x[:, 0]), 3, dtype=x.dtype) * x[:, 0]).sum(),
        lambda x: x[:, 0].max(),
        lambda x: x[:, 0].min(),
    ),
    Case(
        "cases of entries",
        "a sum, term by term",
        lambda x: jnp.mean(jnp.where(x[0] == 0, 0.5, (x[0] > 0).astype(x.dtype))),
        lambda x: 0.5 + 0.5 * jnp.mean(jnp.sign(x[0])),
        lambda x: 0.25 + 0.5 * jnp.mean(jnp.sign(x[0])),
    ),
    Case(
        "cases of entries",
        "one of the two largest",
        lambda x: jnp.any(jax.lax.top_k(x[0], 2)[1] == 2).astype(x.dtype),
        lambda x: (jnp.sum(x[0] > x[0, 2]) + jnp.sum(x[0, :2] == x[0, 2]) < 2).astype(x.dtype),
        lambda x: (jnp.sum(x[0] < x[0, 2]) + jnp.sum(x[0, :2] == x[0, 2]) < 2).astype(x.dtype),
    ),
    Case(
        "root of a square met before",
        "two roots whose squares have a square ratio",
        lambda x: -jnp.sqrt(1 + (2 / x) ** 2),
        lambda x: -jnp.sqrt(4 + x * x) / x,
        lambda x: -jnp.sqrt(4 + x * x) / 2,
        domains=POSITIVE,
    ),
    Case(
        "signs of sums of exponentials",
        "logarithms inside a product of matrices",
        lambda x: jnp.log(jnp.exp(jnp.log(jnp.exp(x[:2]).sum(0)) + x[2]).sum()),
        lambda x: jnp.log(jnp.exp(x[:2]).sum(0) @ jnp.exp(x[2])),
        lambda x: jnp.log(jnp.exp(x[:2]).sum(0) @ jnp.exp(2 * x[2])),
    ),
    Case(
        "inverse functions",
        "of logarithms, entry by entry",
        lambda x: jnp.exp(2 * jnp.max(jnp.stack([jax.nn.log_sigmoid(x[0]), jax.nn.log_sigmoid(-x[0])]) + MASKED, 0)),
        lambda x: jnp.stack([jax.nn.sigmoid(z) ** 2 for z in (x[0, 0], -x[0, 1], x[0, 2], x[0, 3])]),
        lambda x: jnp.stack([jax.nn.sigmoid(z) ** 2 for z in (x[0, 0], x[0, 1], x[0, 2], x[0, 3])]),
    ),
    Case(
        "angles",
        "within a turn around 0",
        lambda x: jnp.arctan2(jnp.sin(x), jnp.cos(x)),
        lambda x: jnp.mod(x + np.float32(np.pi), np.float32(2 * np.pi)) - np.float32(np.pi),
        lambda x: jnp.mod(x, np.float32(2 * np.pi)),
        domains=WITHIN_A_TURN,
    ),
    Case(
        "largest of magnitudes",
        "of a row",
        lambda x: jnp.abs(x).max(1),
        lambda x: jnp.maximum(x.max(1), -x.min(1)),
        lambda x: jnp.maximum(x.max(1), x.min(1)),
    ),
    Case("root of a square", "of anything", lambda x: jnp.sqrt(x * x), jnp.abs, lambda x: x),
    Case(
        "root of a square",
        "of a sign that is known",
        lambda x: jnp.sqrt(jnp.exp(x) ** 2),
        jnp.exp,
        lambda x: -jnp.exp(x),
    ),
    Case(
        "square of a root",
        "product",
        lambda x: jnp.sqrt(1 + x * x) * jnp.sqrt(1 + x * x),
        lambda x: 1 + x * x,
        lambda x: 1 + jnp.abs(x),
    ),
    Case(
        "square of a root",
        "reciprocal",
        lambda x: jax.lax.rsqrt(1 + x * x) ** 2,
        lambda x: 1 / (1 + x * x),
        lambda x: 1 / (1 + jnp.abs(x)),
    ),
    Case(
        "homogeneity",
        "relu",
        lambda x: jax.nn.relu(3 * x),
        lambda x: 3 * jax.nn.relu(x),
        lambda x: -3 * jax.nn.relu(-x),
    ),
    Case(
        "homogeneity",
        "absolute value",
        lambda x: jnp.abs(-0.5 * x),
        lambda x: 0.5 * jnp.abs(x),
        lambda x: -0.5 * jnp.abs(x),
    ),
    Case(
        "homogeneity",
        "root",
        lambda x: jnp.sqrt(3 * (1 + x * x)),
        lambda x: np.float32(3**0.5) * jnp.sqrt(1 + x * x),
        lambda x: 3 * jnp.sqrt(1 + x * x),
    ),
    Case(
        "largest of a set",
        "associativity",
        lambda x: jnp.maximum(jnp.maximum(x[0], x[1]), x[2]),
        lambda x: jnp.maximum(x[0], jnp.maximum(x[1], x[2])),
        lambda x: jnp.maximum(x[0], x[1] + x[2]),
    ),
    Case(
        "largest of a set",
        "maximum of maxima",
        lambda x: jnp.max(x, -1),
        lambda x: jnp.maximum(jnp.max(x[:, :2], -1), jnp.max(x[:, 2:], -1)),
        lambda x: jnp.min(x, -1),
    ),
    Case(
        "squares are nonnegative",
        "fast variance",
        lambda x: moments(x, jax.nn.relu),
        lambda x: jnp.var(x, -1),
        lambda x: moments(x, lambda v: jnp.maximum(v, 1)),
    ),
    Case(
        "constants as meant",
        "fractions",
        lambda x: np.float32(0.1) * x + np.float32(0.2) * x,
        lambda x: np.float32(0.3) * x,
        lambda x: np.float32(0.30001) * x,
    ),
    Case(
        "constants as meant",
        "roots",
        lambda x: np.float32(5**0.5) * (np.float32(5**0.5) * x),
        lambda x: 5 * x,
        lambda x: np.float32(5.0001) * x,
    ),
    Case(
        "cases that meet",
        "a step at 0",
        lambda x: jnp.where(x > 0, x, 0),
        lambda x: jnp.where(x >= 0, x, 0),
        lambda x: jnp.where(x < 0, x, 0),
    ),
    Case(
        "cases",
        "huber",
        lambda x: jnp.where(jnp.abs(x) <= 1, x * x, 2 * jnp.abs(x) - 1),
        lambda x: jnp.minimum(jnp.abs(x), 1) ** 2 + 2 * jnp.maximum(jnp.abs(x) - 1, 0),
        lambda x: jnp.minimum(jnp.abs(x), 1) ** 2 + jnp.maximum(jnp.abs(x) - 1, 0),
    ),
    Case(
        "cases",
        "a clip by sums",
        lambda x: jnp.clip(x, -1, 1),
        lambda x: jnp.maximum(x + 1, 0) - jnp.maximum(x - 1, 0) - 1,
        lambda x: jnp.maximum(x + 1, 0) - jnp.maximum(x - 0.5, 0) - 1,
    ),
    Case(
        "guards",
        "a logarithm, guarded twice",
        lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), 0),
        lambda x: jnp.where(x > 0, jnp.log(x), 0),
        lambda x: jnp.where(x > 0, 2 * jnp.log(x), 0),
    ),
    Case(
        "logarithm of a positive input",
        "product",
        lambda x: jnp.log(x[0] * x[1]),
        lambda x: jnp.log(x[0]) + jnp.log(x[1]),
        lambda x: jnp.log(x[0] + x[1]),
        domains=POSITIVE,
    ),
    Case(
        "logarithm of a positive input",
        "inverse",
        lambda x: jnp.exp((jnp.log(x[0] * x[1]) + jnp.log(x[0] / x[1])) / 2),
        lambda x: x[0],
        lambda x: x[1],
        domains=POSITIVE,
    ),
    Case(
        "powers of a product",
        "two roots",
        lambda x: jnp.sqrt(1 + x[0] ** 2) * jnp.sqrt(2 + x[1] ** 2),
        lambda x: jnp.sqrt((1 + x[0] ** 2) * (2 + x[1] ** 2)),
        lambda x: jnp.sqrt((1 + x[0] ** 2) + (2 + x[1] ** 2)),
    ),
    Case(
        "powers of a product",
        "a third and two thirds",
        lambda x: jnp.exp(x) * (1 + x * x) ** np.float32(1 / 3) * (1 + x * x) ** np.float32(2 / 3),
        lambda x: jnp.exp(x) * (1 + x * x),
        lambda x: jnp.exp(x) * (1 + x * x) ** 2,
    ),
    Case(
        "logarithm of a product",
        "two sums of exponentials",
        lambda x: jnp.log((1 + jnp.exp(x[0])) * (1 + jnp.exp(x[1]))),
        lambda x: jnp.log(1 + jnp.exp(x[0])) + jnp.log(1 + jnp.exp(x[1])),
        lambda x: jnp.log(1 + jnp.exp(x[0] + x[1])),
    ),
    Case(
        "logarithm of a product",
        "a root",
        lambda x: jnp.log(jnp.sqrt(1 + x * x)),
        lambda x: jnp.log(1 + x * x) / 2,
        lambda x: jnp.sqrt(jnp.log(1 + x * x)),
    ),
    Case(
        "exponential of a logarithm",
        "softmax",
        lambda x: jnp.exp(x - jax.nn.logsumexp(x, -1, keepdims=True)),
        jax.nn.softmax,
        lambda x: jnp.exp(x) - jax.nn.logsumexp(x, -1, keepdims=True),
    ),
    Case(
        "exponential of a logarithm",
        "tanh of softplus",
        lambda x: jnp.tanh(jnp.log(1 + jnp.exp(x))),
        lambda x: ((1 + jnp.exp(x)) ** 2 - 1) / ((1 + jnp.exp(x)) ** 2 + 1),
        lambda x: ((1 + jnp.exp(x)) - 1) / ((1 + jnp.exp(x)) + 1),
    ),
    Case(
        "power as an exponential",
        "square",
        lambda x: (x[0] ** x[1]) ** 2,
        lambda x: x[0] ** (2 * x[1]),
        lambda x: x[0] ** (2 + x[1]),
        domains=POSITIVE,
    ),
    Case(
        "softplus of a magnitude",
        "two at a time",
        lambda x: jnp.logaddexp(jnp.logaddexp(x[0], x[1]), x[2]),
        lambda x: jnp.log(jnp.exp(x[0]) + jnp.exp(x[1]) + jnp.exp(x[2])),
        lambda x: jnp.log(jnp.exp(x[0]) + jnp.exp(x[1]) + 2 * jnp.exp(x[2])),
    ),
    Case(
        "signs of sums of exponentials",
        "what sigmoid leaves of 1",
        lambda x: jnp.log(1 - jax.nn.sigmoid(x)),
        lambda x: -jnp.log(1 + jnp.exp(x)),
        lambda x: -jnp.log(1 + jnp.exp(-x)),
    ),
    Case(
        "signs of sums of exponentials",
        "the derivative of tanh",
        lambda x: jnp.log1p(-(jnp.tanh(x) ** 2)),
        lambda x: -2 * jnp.log(jnp.cosh(x)),
        lambda x: -2 * jnp.log(jnp.cosh(2 * x)),
    ),
    Case(
        "signs of sums of exponentials",
        "the inverse of softplus",
        lambda x: jnp.log(jnp.expm1(jnp.log1p(jnp.exp(x)))) + jnp.log(jnp.exp(jnp.logaddexp(x, 0.0)) - 1),
        lambda x: 2 * x,
        lambda x: x,
    ),
    Case(
        "signs of sums of exponentials",
        "an exponent above 0",
        lambda x: jnp.abs(jnp.exp(2 * jnp.exp(x)) - jnp.exp(jnp.exp(x))),
        lambda x: jnp.exp(2 * jnp.exp(x)) - jnp.exp(jnp.exp(x)),
        lambda x: jnp.exp(jnp.exp(x)) - jnp.exp(2 * jnp.exp(x)),
    ),
    Case(
        "signs of sums of exponentials",
        "the inverse of tanh",
        lambda x: jnp.arctanh(jnp.tanh(x) / 2),
        lambda x: (jnp.log(1 + 3 * jnp.exp(2 * x)) - jnp.log(3 + jnp.exp(2 * x))) / 2,
        lambda x: x / 2,
    ),
    Case(
        "signs of sums of exponentials",
        "a root",
        lambda x: jnp.sqrt(1 - jax.nn.sigmoid(x)) * jnp.sqrt(1 + jnp.exp(x)),
        jnp.ones_like,
        lambda x: jnp.exp(-x / 2),
    ),
    Case(
        "exponential of a logarithm",
        "that all numbers of a maximum have in common",
        lambda x: jnp.exp(_twice(x)) * _twice(x),
        lambda x: _share(x) * jnp.log(_share(x)),
        lambda x: _share(x) * x,
    ),
    Case(
        "recurrence of the gamma function",
        "log of the gamma function",
        lambda x: jax.lax.lgamma(x + 2),
        lambda x: jax.lax.lgamma(x) + jnp.log(x * (x + 1)),
        lambda x: jax.lax.lgamma(x) + jnp.log(x * (x + 2)),
        domains=POSITIVE,
    ),
    Case(
        "recurrence of the gamma function",
        "digamma",
        lambda x: jax.lax.digamma(x + 1),
        lambda x: jax.lax.digamma(x) + 1 / x,
        lambda x: jax.lax.digamma(x) - 1 / x,
        domains=POSITIVE,
    ),
    Case(
        "order statistics",
        "the sum of what is sorted",
        lambda x: jnp.sort(x, 1).sum(1),
        lambda x: x.sum(1),
        lambda x: x.max(1),
    ),
    Case(
        "order statistics",
        "sorting twice",
        lambda x: jnp.sort(jnp.sort(x, 1), 1),
        lambda x: jnp.sort(x, 1),
        lambda x: jnp.sort(jnp.sort(x, 0), 1),
    ),
    Case(
        "order statistics",
        "the middle of three",
        lambda x: jnp.median(x, 0),
        lambda x: x.sum(0) - x.max(0) - x.min(0),
        lambda x: x.mean(0),
    ),
    Case(
        "largest of a set",
        "over two axes",
        lambda x: x.max(0).max(0),
        lambda x: x.max(1).max(0),
        lambda x: x.max(1).min(0),
    ),
    Case(
        "entry at its place",
        "of the largest",
        lambda x: jnp.take_along_axis(x, jnp.argmax(x, 1)[:, None], 1),
        lambda x: x.max(1)[:, None],
        lambda x: jnp.take_along_axis(x, jnp.argmax(jnp.abs(x), 1)[:, None], 1),
    ),
    Case(
        "entry at its place",
        "of all in their order",
        lambda x: jnp.take_along_axis(x, jnp.argsort(x, 1), 1),
        lambda x: jnp.sort(x, 1),
        lambda x: jnp.take_along_axis(x, jnp.argsort(-x, 1), 1),
    ),
    Case(
        "cases",
        "floor of a whole number more",
        lambda x: jnp.floor(x + 2),
        lambda x: jnp.floor(x) + 2,
        lambda x: jnp.floor(x + 1.5) + 0.5,
    ),
    Case(
        "cases",
        "remainders of a multiple more",
        lambda x: jnp.mod(x + 6, 3.0),
        lambda x: x - 3 * jnp.floor(x / 3),
        lambda x: jnp.mod(x + 5, 3.0),
    ),
    Case(
        "inverse functions",
        "hyperbolic",
        lambda x: jnp.sinh(jnp.arcsinh(x)),
        lambda x: x,
        lambda x: -x,
    ),
    Case(
        "inverse functions",
        "of a number of unknown sign",
        lambda x: jnp.exp(2 * jnp.log(3 + jnp.sin(x))),
        lambda x: (3 + jnp.sin(x)) ** 2,
        lambda x: 3 + jnp.sin(x) ** 2,
    ),
    Case(
        "angles",
        "of double angles",
        lambda x: jnp.cos(2 * jnp.arctan(x) + x),
        lambda x: ((1 - x * x) * jnp.cos(x) - 2 * x * jnp.sin(x)) / (1 + x * x),
        lambda x: ((1 - x * x) * jnp.cos(x) + 2 * x * jnp.sin(x)) / (1 + x * x),
    ),
    Case(
        "even and odd functions",
        "even",
        lambda x: jnp.cos(jnp.abs(x) * x[0, 0]),
        lambda x: jnp.cos(x * x[0, 0]),
        lambda x: jnp.cos(x) * jnp.cos(x[0, 0]),
    ),
    Case(
        "even and odd functions",
        "squares of odd ones",
        lambda x: jnp.sin(3 * jnp.abs(x)) ** 2,
        lambda x: jnp.sin(3 * x) ** 2,
        lambda x: 3 * jnp.sin(x) ** 2,
    ),
    Case(
        "roots of degree 3",
        "powers",
        lambda x: jnp.cbrt(x) ** 4 + jnp.cbrt(-8 * x**3),
        lambda x: x * jnp.cbrt(x) - 2 * x,
        lambda x: x * jnp.cbrt(x) + 2 * x,
    ),
    Case(
        "signs of multiples",
        "magnitude of a quotient",
        lambda x: jnp.abs(x / (1 + x * x)) * (1 + jnp.exp(x)),
        lambda x: jnp.abs(x * (1 + jnp.exp(x))) / (1 + x * x),
        lambda x: jnp.abs(x) * (1 + jnp.exp(-x)) / (1 + x * x),
    ),
    Case(
        "signs of multiples",
        "there and back",
        lambda x: (lambda y: y / (1 - jnp.abs(y)))(x / (1 + jnp.abs(x))),
        lambda x: x,
        jnp.abs,
    ),
    Case(
        "roots met before",
        "of a multiple",
        lambda x: (1 + x * x) * jnp.sqrt(1 + (x / (1 + x * x)) ** 2),
        lambda x: jnp.sqrt(1 + 3 * x * x + x**4),
        lambda x: jnp.sqrt(1 + 2 * x * x + x**4),
    ),
    Case(
        "almost everywhere",
        "derivative of relu",
        jax.grad(lambda x: jnp.sum(jax.nn.relu(x))),
        lambda x: (1 + jnp.sign(x)) / 2,
        jnp.sign,
        almost_everywhere=True,
    ),
)

BEYOND = {
    "root of a square met before": (lambda x: 1 * x, lambda x: jnp.sqrt((x + 1) ** 2 - 2 * x - 1)),
    "powers of a product": (
        lambda x: jnp.sqrt(x[0] * x[1]) * jnp.sqrt(x[0] / x[1]),
        lambda x: x[0],
    ),
    "logarithm of a product": (
        lambda x: jnp.log(x[0] * x[1]),
        lambda x: jnp.log(x[0]) + jnp.log(x[1]),
    ),
    "exponential of a logarithm": (
        lambda x: jnp.exp((jnp.log(x[0] * x[1]) + jnp.log(x[0] / x[1])) / 2),
        lambda x: x[0],
    ),
    "power as an exponential": (
        lambda x: jnp.maximum(x[0], 0) ** x[1] * jnp.maximum(x[0], 0) ** -x[1],
        lambda x: 1 + 0 * x[0],
    ),
    "softplus of a magnitude": (
        lambda x: jnp.log1p(jnp.exp(-jnp.abs(x))),
        lambda x: jnp.log1p(jnp.exp(-x)),
    ),
    "signs of sums of exponentials": (
        lambda x: jnp.log((1 + x) ** 2 - 1),
        lambda x: jnp.log(x) + jnp.log(2 + x),
    ),
    "recurrence of the gamma function": (
        lambda x: jax.lax.lgamma(x + 2),
        lambda x: jax.lax.lgamma(x + 1) + jnp.log(x + 1),
    ),
}
"""By law: functions that are equal for positive inputs, and would be equal for all if the law had no side condition."""

BESIDE = {
    "increasing functions": (
        lambda x: jnp.argmax(jax.nn.softmax(x[:, :2], 0), 1).astype(x.dtype),
        lambda x: jnp.argmax(x[:, :2], 1).astype(x.dtype),
    ),
    "cosines of angles": (
        lambda x: jnp.maximum(x @ x.T / jnp.linalg.norm(x, axis=1, keepdims=True), -1),
        lambda x: x @ x.T / jnp.linalg.norm(x, axis=1, keepdims=True),
    ),
    "order statistics": (lambda x: jnp.sort(x, 0).sum(1), lambda x: x.sum(1)),
    "entry at its place": (lambda x: x[0, jnp.argmax(x[0, :3])], lambda x: x[0].max()),
    "entries first": (lambda x: jnp.log((PAIRS * jnp.exp(x[:1])).sum(1)), lambda x: x[0]),
    "cases": (lambda x: jnp.round(x + 1), lambda x: jnp.round(x) + 1),
    "inverse functions": (lambda x: jnp.exp(jnp.log(x * x) / 2), lambda x: x),
    "angles": (lambda x: jnp.arctan(jnp.tan(x)), lambda x: x),
    "even and odd functions": (lambda x: jnp.sin(jnp.abs(x)), jnp.sin),
    "roots of degree 3": (lambda x: jnp.sqrt(jnp.cbrt(x) ** 6), lambda x: x),
    "signs of multiples": (lambda x: jnp.abs(x * x[0, 0]), lambda x: jnp.abs(x) * x[0, 0]),
    "cases of entries": (
        lambda x: jnp.argmax(x[:, 0]).astype(x.dtype),
        lambda x: (2 - jnp.argmax(x[::-1, 0])).astype(x.dtype),
    ),
    "roots met before": (lambda x: x * jnp.sqrt(1 + (x[0, 0] / x) ** 2), lambda x: jnp.sqrt(x**2 + x[0, 0] ** 2)),
}
"""Along another axis, of other entries, at ties: equal nowhere, or not everywhere, whatever the signs."""

ALSO = {
    "cases",
    "inverse functions",
    "logarithm of a product met before",
    "root of a square met before",
    "roots met before",
    "signs of multiples",
}
"""Laws that show much of what others do."""

REFUSED_WITHOUT = {"order of rows"}
"""Laws without which the program of a case is refused, and compared with nothing."""

every_case = pytest.mark.parametrize("case", CASES, ids=str)


def equal(
    left: Callable, right: Callable, laws: frozenset[str] = LAWS, *, domains: Domains, almost_everywhere: bool = False
) -> bool:
    one, other = (jax.make_jaxpr(function)(X) for function in (left, right))
    fields = PrimeFields(one, other, laws=laws, domains=domains)
    return fields.compare(almost_everywhere=almost_everywhere).equal


def test_every_law_has_a_case():
    assert {case.law for case in CASES} == LAWS


@every_case
def test_the_law_makes_them_equal(case):
    assert equal(case.left, case.right, domains=case.domains, almost_everywhere=case.almost_everywhere)


@every_case
def test_without_the_law_they_are_called_different(case):
    """Or refused; nor without those that show much of what others do."""
    laws = LAWS - {case.law} - ALSO
    if case.law in REFUSED_WITHOUT:
        with pytest.raises(UnsupportedError):
            equal(case.left, case.right, laws, domains=case.domains)
        return
    assert not equal(case.left, case.right, laws, domains=case.domains, almost_everywhere=case.almost_everywhere)


@pytest.mark.parametrize("case", [case for case in CASES if case.domains != EVERYWHERE], ids=str)
def test_outside_the_domain_they_are_called_different(case):
    for domains in (EVERYWHERE, Domains((Interval(0, np.inf),))):
        assert not equal(case.left, case.right, domains=domains)


@pytest.mark.parametrize("law", sorted(BEYOND))
def test_just_beyond_the_side_condition_they_are_called_different(law):
    """Without the laws that show much of what others do."""
    laws, (left, right) = LAWS - ALSO | {law}, BEYOND[law]
    assert not equal(left, right, laws, domains=EVERYWHERE)
    assert equal(left, right, laws, domains=POSITIVE)


@pytest.mark.parametrize("law", sorted(BESIDE))
def test_beside_the_law_they_are_called_different(law):
    assert not equal(*BESIDE[law], domains=EVERYWHERE)


@pytest.mark.parametrize("case", one_in(2, CASES), ids=str)
def test_no_law_makes_the_twin_equal(case):
    assert not equal(case.left, case.twin, domains=case.domains, almost_everywhere=True)
    assert not equal(case.right, case.twin, domains=case.domains, almost_everywhere=True)


@pytest.mark.parametrize("case", [case for case in CASES if case.almost_everywhere], ids=str)
def test_almost_everywhere_has_to_be_asked_for(case):
    assert not equal(case.left, case.right, domains=case.domains)


@pytest.mark.parametrize("case", [case for case in CASES if case.law not in REFUSED_WITHOUT], ids=str)
def test_a_function_equals_itself_whatever_is_switched_off(case):
    for laws in (LAWS - {case.law}, frozenset()):
        assert equal(case.left, case.left, laws, domains=case.domains)
        assert equal(case.right, case.right, laws, domains=case.domains)


@pytest.mark.parametrize("case", one_in(3, CASES), ids=str)
def test_the_twin_is_another_function_in_floats(case):
    """Above what rounding does: an entry takes fewer than 100 operations, each with a relative error of 2⁻²⁴."""
    normal = np.random.default_rng(0).standard_normal((1, *X.shape))
    x = jnp.asarray(case.domains.folded([normal], [np.dtype(X.dtype)])[0][0], jnp.float32)
    left, right, twin = (np.asarray(jax.jit(function)(x)) for function in (case.left, case.right, case.twin))
    scale = np.abs(left).max()
    assert np.abs(left - right).max() <= 100 * 2.0**-24 * scale
    assert np.abs(left - twin).max() > 100 * 2.0**-24 * scale
