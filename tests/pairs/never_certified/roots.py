"""Roots of squares and of products, factors of matrices and cosines of angles, and what looks like them."""

import jax
import jax.numpy as jnp
from jax import lax

import uat_jax as uj

from .row import Different, Equal, S, V, f32

M = f32(2, 2)
POSITIVE = uj.positive(f32(2))
ROOT = jnp.sqrt


def norm(x):
    """The length of a vector."""
    return ROOT((x * x).sum())


def spread(a):
    """A matrix with positive eigenvalues."""
    return jnp.eye(2) + a @ a.T


def factor(a):
    """L of L Lᵀ = 1 + a aᵀ."""
    return jnp.linalg.cholesky(spread(a))


def by_formula(a):
    """The same by its formula."""
    s = spread(a)
    first = ROOT(s[0, 0])
    return jnp.array([[first, 0], [s[1, 0] / first, ROOT(s[1, 1] - s[1, 0] ** 2 / s[0, 0])]])


def length(a, x):
    """xᵀ (1 + a aᵀ)⁻¹ x by L."""
    return (lax.linalg.triangular_solve(factor(a), x[:, None], left_side=True, lower=True) ** 2).sum()


def apart(a, b):
    """The square of the distance of two unit vectors."""
    return ((a / norm(a) - b / norm(b)) ** 2).sum()


DIFFERENT = (
    Different("a multiple of a square", lambda x: ROOT(4 * x * x), lambda x: 2 * x, (V,), ((-1, 2, 3),)),
    Different("a multiple of the square of a part", lambda x: ROOT(jax.nn.relu(x) ** 2 * 2 / 2), jnp.abs, (V,), ((-1, 2, 3),)),
    Different("a square of what is selected", lambda x: ROOT(jnp.where(x > 0, x, 1) ** 2 * 2 / 2), lambda x: jnp.where(x >= 0, x, 1), (S,), (0,), null_set=True),
    Different("a square of a logarithm", lambda x: jnp.where(x > 0, ROOT(jnp.log(jnp.where(x > 0, x, 1)) ** 2 * 2 / 2), 0), lambda x: jnp.where(x > 0, jnp.log(jnp.where(x > 0, x, 1)), 0), (S,), (0.5,)),
    Different("the inverse of a multiple", lambda x: 1 / ROOT(5 * x * x / 5), lambda x: 1 / x, (S,), (-2,)),
    Different("the other root is left", lambda s: ROOT(s[0]) * ROOT(s[1]) / ROOT(s[0]), lambda s: ROOT(s[0]), (POSITIVE,), ((1, 4),)),
    Different("the square of one of both", lambda s: ROOT(s) * jnp.stack([ROOT(s[1]), ROOT(s[1])]), lambda s: s, (POSITIVE,), ((1, 4),)),
    Different("a root of a sum", lambda s: ROOT(s).sum() * ROOT(s[0]), lambda s: s.sum(), (POSITIVE,), ((1, 4),)),
    Different("scales of entries", lambda s: ROOT(s * jnp.array([1.0, 4.0])), lambda s: ROOT(s) * jnp.array([1.0, 4.0]), (POSITIVE,), ((1, 4),)),
    Different("the transposed factor", lambda a: lax.linalg.triangular_solve(factor(a), jnp.ones((2, 1)), left_side=True, lower=True), lambda a: lax.linalg.triangular_solve(factor(a), jnp.ones((2, 1)), left_side=True, lower=True, transpose_a=True), (M,), (((1, 2), (3, 4)),)),
    Different("a derivative without an entry", jax.grad(lambda a: factor(a).sum()), jax.grad(lambda a: jnp.trace(factor(a))), (M,), (((1, 2), (3, 4)),)),
    Different("a distance of unit vectors, the sign", apart, lambda a, b: 2 + 2 * a @ b / (norm(a) * norm(b)), (V, V), ((1, 2, 3), (3, 1, 1))),
    Different("a distance of unit vectors, half of it", apart, lambda a, b: 1 - a @ b / (norm(a) * norm(b)), (V, V), ((1, 2, 3), (3, 1, 1))),
    Different("a distance of unit vectors, one length twice", apart, lambda a, b: 2 - 2 * a @ b / (a @ a), (V, V), ((1, 2, 3), (3, 1, 1))),
    Different("a distance of unit vectors without what is between", apart, lambda a, b: 2 + 0 * a @ b, (V, V), ((1, 2, 3), (3, 1, 1))),
    Different("a distance of vectors, one of them a unit", lambda a, b: ((a / norm(a) - b) ** 2).sum(), lambda a, b: 2 - 2 * a @ b / norm(a), (V, V), ((1, 2, 3), (3, 1, 1))),
    Different("a square of a sum of roots, the cross term once", lambda s: (ROOT(s[0]) + ROOT(s[1])) ** 2, lambda s: s[0] + s[1] + ROOT(s[0] * s[1]), (POSITIVE,), ((1, 4),)),
    Different("roots of numbers that may be negative", lambda x: (ROOT(x[0]) + ROOT(x[1])) * (ROOT(x[0]) - ROOT(x[1])) + 1 / (x[2] + 4), lambda x: jnp.abs(x[0]) - jnp.abs(x[1]) + 1 / (x[2] + 3), (V,), ((1, 4, 2),)),
    Different("a bound below 1", lambda a, b: jnp.clip(a @ b / (norm(a) * norm(b)), -0.5, 0.5), lambda a, b: a @ b / (norm(a) * norm(b)), (V, V), ((1, 0, 0), (1, 0.25, 0))),
    Different("one length twice", lambda a, b: jnp.clip(a @ b / norm(a) ** 2, -1, 1), lambda a, b: a @ b / norm(a) ** 2, (V, V), ((1, 0, 0), (3, 0, 0))),
    Different("a product without lengths", lambda a, b: jnp.clip(a @ b, -1, 1), lambda a, b: a @ b, (V, V), ((1, 1, 1), (1, 1, 1))),
    Different("another number where it is undefined", lambda a, b: jnp.clip(jnp.where(a[0] > 0, a @ b / (norm(a) * norm(b)), 5), -1, 1), lambda a, b: jnp.where(a[0] > 0, a @ b / (norm(a) * norm(b)), 5), (V, V), ((-1, 1, 1), (1, 1, 1))),
    Different("a vector that vanishes on a half-line", lambda p, b: jnp.clip(jnp.where(p > 0, 1, 100), -1, 1) + 0 * (jax.nn.relu(p) * b) @ b, lambda p, b: jnp.where(p > 0, 1, 100) + 0 * (jax.nn.relu(p) * b) @ b, (S, V), (-1, (1, 1, 1))),
    Different("a number of its own for a vector of zeros", lambda a, b: jnp.clip(jnp.where(norm(a) * norm(b) > 0, a @ b / (norm(a) * norm(b)), 7), -1, 1), lambda a, b: jnp.where(norm(a) * norm(b) > 0, a @ b / (norm(a) * norm(b)), 7), (V, V), ((0, 0, 0), (1, 2, 3)), null_set=True),
    Different("weights beside lengths without them", lambda a, b, w: jnp.clip((a * b * w).sum() / (norm(a) * norm(b)), -1, 1), lambda a, b, w: (a * b * w).sum() / (norm(a) * norm(b)), (V, V, V), ((1, 1, 1), (2, 2, 2), (3, 3, 3))),
    Different("the length of another vector", lambda a, b, c: jnp.clip(a @ b / (norm(a) * norm(c)), -1, 1), lambda a, b, c: a @ b / (norm(a) * norm(c)), (V, V, V), ((1, 2, 3), (1, 2, 3), (0.125, 0.125, 0.125))),
    Different("a difference of squares for a length", lambda a, b: jnp.clip((a[0] * b[0] - a[1] * b[1]) / (ROOT(a[0] ** 2 - a[1] ** 2) * ROOT(b[0] ** 2 - b[1] ** 2)), -1, 1), lambda a, b: (a[0] * b[0] - a[1] * b[1]) / (ROOT(a[0] ** 2 - a[1] ** 2) * ROOT(b[0] ** 2 - b[1] ** 2)), (f32(2), f32(2)), ((3, 1), (3, -2))),
)  # fmt: skip

EQUAL = (
    Equal("a multiple of a square", lambda x: ROOT(0.25 * x * x), lambda x: jnp.abs(x) / 2, (V,)),
    Equal("one step of Adam", lambda g: (0.1 * g / (1 - 0.9)) / (ROOT((1 - 0.999) * g**2 / (1 - 0.999)) + 1e-8), lambda g: g / (jnp.abs(g) + 1e-8), (V,)),
    Equal("a distance of unit vectors", apart, lambda a, b: 2 - 2 * a @ b / (norm(a) * norm(b)), (V, V)),
    Equal("a square of a sum of roots", lambda s: (ROOT(s[0]) + ROOT(s[1])) ** 2, lambda s: s[0] + s[1] + 2 * ROOT(s[0]) * ROOT(s[1]), (POSITIVE,)),
    Equal("a sum and a difference of roots", lambda s: (ROOT(s[0]) + ROOT(s[1])) * (ROOT(s[0]) - ROOT(s[1])), lambda s: s[0] - s[1], (POSITIVE,)),
    Equal("a root is taken away", lambda s: ROOT(s[0]) * ROOT(s[1]) / ROOT(s[0]), lambda s: ROOT(s[1]), (POSITIVE,)),
    Equal("scales of entries", lambda s: ROOT(s * jnp.array([1.0, 4.0])), lambda s: ROOT(s) * jnp.array([1.0, 2.0]), (POSITIVE,)),
    Equal("a derivative of a factor", jax.grad(lambda a: factor(a).sum()), jax.grad(lambda a: by_formula(a).sum()), (M,)),
    Equal("a derivative of a length", jax.grad(length), jax.grad(lambda a, x: x @ jnp.linalg.inv(spread(a)) @ x), (M, f32(2))),
    Equal("a clipped cosine", lambda a, b: jnp.clip(a @ b / (norm(a) * norm(b)), -1, 1), lambda a, b: a @ b / (norm(a) * norm(b)), (V, V)),
    Equal("a clipped cosine of unit vectors", lambda a, b: jnp.clip((a / norm(a)) @ (b / norm(b)), -1, 1), lambda a, b: a @ b / (norm(a) * norm(b)), (V, V)),
)  # fmt: skip
