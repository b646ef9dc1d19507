"""Linear algebra of matrices of two and three rows, written out, for the tables of solvers."""

import jax.numpy as jnp

from ..pair import matmul


def det2(A):
    return A[0, 0] * A[1, 1] - A[0, 1] * A[1, 0]


def inv2(A):
    return jnp.stack([jnp.stack([A[1, 1], -A[0, 1]]), jnp.stack([-A[1, 0], A[0, 0]])]) / det2(A)


def cross(a, b):
    return jnp.stack([a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]])


def det3(A):
    return A[0] @ cross(A[1], A[2])


def inv3(A):
    """The transposed matrix of cofactors over the determinant."""
    return jnp.stack([cross(A[1], A[2]), cross(A[2], A[0]), cross(A[0], A[1])], 1) / det3(A)


def cramer2(A, b):
    return jnp.stack([b[0] * A[1, 1] - b[1] * A[0, 1], A[0, 0] * b[1] - A[1, 0] * b[0]]) / det2(A)


def gram(A):
    """A symmetric, positive definite matrix."""
    return matmul(A.T, A) + jnp.eye(A.shape[1])


def cholesky2(P):
    a = jnp.sqrt(P[0, 0])
    b = P[1, 0] / a
    zero = jnp.zeros_like(a)
    return jnp.stack([jnp.stack([a, zero]), jnp.stack([b, jnp.sqrt(P[1, 1] - b * b)])])


def forward2(L, b):
    """Forward substitution."""
    x = b[0] / L[0, 0]
    return jnp.stack([x, (b[1] - L[1, 0] * x) / L[1, 1]])


def backward2(U, b):
    """Back substitution."""
    y = b[1] / U[1, 1]
    return jnp.stack([(b[0] - U[0, 1] * y) / U[0, 0], y])


def eigenvalues2(P):
    """Of a symmetric matrix, ascending."""
    mean, half = (P[0, 0] + P[1, 1]) / 2.0, (P[0, 0] - P[1, 1]) / 2.0
    root = jnp.sqrt(half**2 + P[0, 1] ** 2)
    return jnp.stack([mean - root, mean + root])


def symmetric(A):
    return (A + A.T) / 2.0


def thomas(lower, diagonal, upper, b):
    """A tridiagonal system by elimination; `lower` and `upper` have one entry less."""
    n = len(b)
    d, r = [diagonal[0]], [b[0]]
    for i in range(1, n):
        w = lower[i - 1] / d[i - 1]
        d.append(diagonal[i] - w * upper[i - 1])
        r.append(b[i] - w * r[i - 1])
    x = [r[-1] / d[-1]]
    for i in reversed(range(n - 1)):
        x.append((r[i] - upper[i] * x[-1]) / d[i])
    return jnp.stack(x[::-1])
