"""Matrix factorisations in terms of +, ·, / and √, where formulas exist: definitions for every number system.

Matrices are the last two axes; axes before them count independent matrices.  Every formula is written out entry by
entry, so that a number system sees each pivot, root and divisor alone.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.tracing import shape_of

Parameters = Mapping[str, Any]

LARGEST = 16
"""Matrices with more rows or columns than this are not written out."""


def is_written_out(equation: JaxprEqn) -> bool:
    """Whether the matrices of an equation are small enough for its definition."""
    return all(size <= LARGEST for atom in equation.invars for size in shape_of(atom)[-2:])


def _transposed(a: jax.Array) -> jax.Array:
    return jnp.swapaxes(a, -1, -2)


def _matrix(rows: Sequence[Sequence[jax.Array]]) -> jax.Array:
    """The matrix of entries, each of them an array over the independent matrices."""
    return jnp.stack([jnp.stack(row, axis=-1) for row in rows], axis=-2)


def triangular_solve(parameters: Parameters, a: jax.Array, b: jax.Array) -> jax.Array:
    """X with op(A) X = B, or X op(A) = B, by substitution: xᵢ = (bᵢ - Σ aᵢⱼ xⱼ)/aᵢᵢ, the sum over the x known before.

    The other triangle of A is not read, nor is the diagonal where it is said to be of ones.  X op(A) = B is solved as
    op(A)ᵀ Xᵀ = Bᵀ.
    """
    from_left = parameters["left_side"]
    transposed = parameters["transpose_a"] is from_left
    a, b = _transposed(a) if transposed else a, b if from_left else _transposed(b)
    lower, n = parameters["lower"] is not transposed, a.shape[-1]
    rows: dict[int, jax.Array] = {}
    for i in range(n) if lower else reversed(range(n)):
        rest = b[..., i, :]
        for j, x in rows.items():
            rest = rest - a[..., i, j, None] * x
        rows[i] = rest if parameters["unit_diagonal"] else rest / a[..., i, i, None]
    solution = jnp.stack([rows[i] for i in range(n)], axis=-2) if n else b
    return solution if from_left else _transposed(solution)


def tridiagonal_solve(
    parameters: Parameters, lower: jax.Array, diagonal: jax.Array, upper: jax.Array, b: jax.Array
) -> jax.Array:
    """X with lᵢ xᵢ₋₁ + dᵢ xᵢ + uᵢ xᵢ₊₁ = bᵢ, by elimination without exchanges; l₀ and the last u are not read."""
    n = diagonal.shape[-1]
    entry = lambda x, i: x[..., i, None]
    pivots, rest = [entry(diagonal, 0)], [b[..., 0, :]]
    for i in range(1, n):
        factor = entry(lower, i) / pivots[-1]
        pivots.append(entry(diagonal, i) - factor * entry(upper, i - 1))
        rest.append(b[..., i, :] - factor * rest[-1])
    rows = [rest[-1] / pivots[-1]]
    for i in reversed(range(n - 1)):
        rows.append((rest[i] - entry(upper, i) * rows[-1]) / pivots[i])
    return jnp.stack(rows[::-1], axis=-2)


def eliminated(a: jax.Array) -> jax.Array:
    """L below the diagonal, and U, of A = L U with ones on the diagonal of L, by elimination without exchanges."""
    m, n = a.shape[-2:]
    rest = {(i, j): a[..., i, j] for i in range(m) for j in range(n)}
    for k in range(min(m, n)):
        for i in range(k + 1, m):
            rest[i, k] = rest[i, k] / rest[k, k]
            for j in range(k + 1, n):
                rest[i, j] = rest[i, j] - rest[i, k] * rest[k, j]
    return _matrix([[rest[i, j] for j in range(n)] for i in range(m)])


def cholesky(parameters: Parameters, a: jax.Array) -> jax.Array:
    """L with L Lᵀ = A and a positive diagonal; the upper triangle of A is not read.

    The pivots d are rational: A less the outer products of the columns before, each over its pivot.  Lᵢⱼ = sᵢⱼ/√dⱼ.
    Every entry is NaN unless all pivots are positive, so to each 0·Σ 1/√d is added, which is undefined then.
    """
    n = a.shape[-1]
    if not n:
        return a
    rest = {(i, j): a[..., i, j] for i in range(n) for j in range(i + 1)}
    roots = []
    for k in range(n):
        roots.append(lax.rsqrt(rest[k, k]))
        for i in range(k + 1, n):
            for j in range(k + 1, i + 1):
                rest[i, j] = rest[i, j] - rest[i, k] * rest[j, k] / rest[k, k]
    undefined = 0 * sum(roots[1:], roots[0])
    below = lambda i, j: 1 / roots[j] if i == j else rest[i, j] * roots[j]
    return _matrix([[below(i, j) + undefined if j <= i else undefined for j in range(n)] for i in range(n)])


def qr(parameters: Parameters, a: jax.Array) -> list[jax.Array]:
    """Q and R with Q R = A by Householder's reflections, with the signs of LAPACK.

    Step k reflects the rest of column k, (α, v), to (β, 0) with β = -‖(α, v)‖, or +‖(α, v)‖ where α < 0.  Where v is
    0 nothing is reflected, and the diagonal of R keeps the sign of α; so it does in the last row.
    """
    m, n = a.shape[-2:]
    steps, eye = min(m, n), jnp.broadcast_to(jnp.eye(m, dtype=a.dtype), (*a.shape[:-2], m, m))
    r, q = a, eye
    for k in range(min(steps, m - 1)):
        alpha, below = r[..., k, k], (r[..., k + 1 :, k] ** 2).sum(-1)
        norm = jnp.sqrt(alpha**2 + below)
        beta = jnp.where(alpha >= 0, -norm, norm)
        still = below == 0
        head = jnp.where(still, 1, alpha - beta)  # the reflection is I - τ v vᵀ, v = (1, rest/(α - β))
        v = jnp.concatenate([jnp.ones_like(alpha)[..., None], r[..., k + 1 :, k] / head[..., None]], axis=-1)
        tau = jnp.where(still, 0, (beta - alpha) / jnp.where(still, 1, beta))
        w = jnp.concatenate([jnp.zeros((*v.shape[:-1], k), a.dtype), v], axis=-1)
        reflected = lambda x, w=w, tau=tau: (
            x - tau[..., None, None] * w[..., None] * (w[..., None] * x).sum(-2, keepdims=True)
        )
        r, q = reflected(r), reflected(q)
    rows = m if parameters["full_matrices"] else steps
    return [_transposed(q)[..., :rows], jnp.triu(r)[..., :rows, :]]


def householder_product(parameters: Parameters, a: jax.Array, taus: jax.Array) -> jax.Array:
    """The first columns of H₁ H₂ … with H = I - τ v vᵀ, v being a column of A below a 1 on the diagonal."""
    m, n = a.shape[-2:]
    q = jnp.broadcast_to(jnp.eye(m, n, dtype=a.dtype), a.shape)
    for k in reversed(range(taus.shape[-1])):
        head = jnp.zeros((*a.shape[:-2], k), a.dtype)
        v = jnp.concatenate([head, jnp.ones((*a.shape[:-2], 1), a.dtype), a[..., k + 1 :, k]], axis=-1)
        q = q - taus[..., k, None, None] * v[..., None] * (v[..., None] * q).sum(-2, keepdims=True)
    return q


LINEAR_ALGEBRA = {
    "cholesky": cholesky,
    "householder_product": householder_product,
    "qr": qr,
    "triangular_solve": triangular_solve,
    "tridiagonal_solve": tridiagonal_solve,
}
"""From a primitive's name to its definition."""
