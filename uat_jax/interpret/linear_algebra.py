"""Matrix factorisations in terms of +, ·, / and √, where formulas exist: definitions for every number system.

Matrices are the last two axes; axes before them count independent matrices.  Every formula is written out entry by
entry, so that a number system sees each pivot, root and divisor alone.
"""

from collections.abc import Sequence

import jax
import jax.numpy as jnp
from jax import lax
from jax.extend.core import JaxprEqn

from uat_jax.interpret.tracing import shape_of
from uat_jax.typing import Parameters

LARGEST = 8
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
    op(A)ᵀ Xᵀ = Bᵀ.  Of L Lᵀ = A the columns of L, and the rows of Lᵀ, have one root each, which a quotient by the
    diagonal takes away: xᵢ = (bᵢ - Σ (aᵢⱼ/aⱼⱼ) aⱼⱼxⱼ)/aᵢᵢ for a lower triangle, and bᵢ/aᵢᵢ - Σ (aᵢⱼ/aᵢᵢ) xⱼ for an
    upper one.
    """
    from_left = parameters["left_side"]
    transposed = parameters["transpose_a"] is from_left
    a, b = _transposed(a) if transposed else a, b if from_left else _transposed(b)
    lower, n = parameters["lower"] is not transposed, a.shape[-1]
    ones = parameters["unit_diagonal"]
    entry = lambda i, j: a[..., i, j, None]
    over = lambda x, i: x if ones else x / entry(i, i)
    known: dict[int, jax.Array] = {}
    for i in range(n) if lower else reversed(range(n)):
        rest = b[..., i, :] if lower else over(b[..., i, :], i)
        for j, x in known.items():
            rest = rest - over(entry(i, j), j if lower else i) * x
        known[i] = rest
    rows = [over(known[i], i) if lower else known[i] for i in range(n)]
    solution = jnp.stack(rows, axis=-2) if n else b
    return solution if from_left else _transposed(solution)


def tridiagonal_solve(
    parameters: Parameters, lower: jax.Array, diagonal: jax.Array, upper: jax.Array, b: jax.Array
) -> jax.Array:
    """X with lᵢ xᵢ₋₁ + dᵢ xᵢ + uᵢ xᵢ₊₁ = bᵢ, by elimination without exchanges; l₀ and the last u are not read."""
    n = diagonal.shape[-1]
    if not n:
        return b
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


def eliminated(a: jax.Array, steps: int | None = None) -> jax.Array:
    """L below the diagonal, and U, of A = L U with ones on the diagonal of L, by elimination without exchanges.

    steps: after so many columns it ends; None: after all.
    """
    m, n = a.shape[-2:]
    rest = {(i, j): a[..., i, j] for i in range(m) for j in range(n)}
    for k in range(min(m, n) if steps is None else steps):
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


def geqrf(parameters: Parameters, a: jax.Array) -> list[jax.Array]:
    """R above, and below the diagonal v of the reflections I - τ (1, v)(1, v)ᵀ that make it; and τ.

    The signs are LAPACK's.  Step k reflects the rest of column k, (α, x), to (β, 0) with β = -‖(α, x)‖, or +‖(α, x)‖
    where α < 0.  Where x is 0, as in the last row, nothing is reflected, and the diagonal of R keeps the sign of α.
    Where columns depend on each other Q has many values, so 0·Σ 1/β is added, which is undefined then.
    """
    m, n = a.shape[-2:]
    if not min(m, n):
        return [a, jnp.zeros((*a.shape[:-2], 0), a.dtype)]
    taus, undefined = [], jnp.zeros(a.shape[:-2], a.dtype)
    for k in range(min(m, n)):
        alpha, x = a[..., k, k], a[..., k + 1 :, k]
        below = (x * x).sum(-1)
        norm, still = jnp.sqrt(alpha * alpha + below), below == 0
        beta = jnp.where(still, alpha, jnp.where(alpha >= 0, -norm, norm))
        undefined = undefined + 0 / beta
        taus.append(jnp.where(still, 0, (beta - alpha) / jnp.where(still, 1, beta)))
        v = x / jnp.where(still, 1, alpha - beta)[..., None]
        right = _reflected(v, taus[-1], a[..., k:, k + 1 :])
        left = jnp.concatenate([beta[..., None], v], axis=-1)[..., None]
        a = jnp.concatenate([a[..., :k], _under(a[..., :k, k:], jnp.concatenate([left, right], axis=-1))], axis=-1)
    return [a + undefined[..., None, None], jnp.stack(taus, axis=-1) + undefined[..., None]]


def _under(above: jax.Array, below: jax.Array) -> jax.Array:
    return jnp.concatenate([above, below], axis=-2)


def _reflected(v: jax.Array, tau: jax.Array, rows: jax.Array) -> jax.Array:
    """(I - τ w wᵀ) C for w = (1, v)."""
    w = jnp.concatenate([jnp.ones_like(tau)[..., None], v], axis=-1)[..., None]
    return rows - tau[..., None, None] * w * (w * rows).sum(-2, keepdims=True)


def ormqr(parameters: Parameters, a: jax.Array, taus: jax.Array, c: jax.Array) -> jax.Array:
    """Q C, Qᵀ C, C Q or C Qᵀ for the product Q = H₁ H₂ … of the reflections that `geqrf` returns."""
    if not parameters["left"]:
        flipped = {"left": True, "transpose": not parameters["transpose"]}
        return _transposed(ormqr(flipped, a, taus, _transposed(c)))
    steps = range(taus.shape[-1])
    for k in steps if parameters["transpose"] else reversed(steps):
        c = _under(c[..., :k, :], _reflected(a[..., k + 1 :, k], taus[..., k], c[..., k:, :]))
    return c


def householder_product(parameters: Parameters, a: jax.Array, taus: jax.Array) -> jax.Array:
    """The first columns of Q = H₁ H₂ …, as many as A has."""
    eye = jnp.broadcast_to(jnp.eye(*a.shape[-2:], dtype=a.dtype), a.shape)
    return ormqr({"left": True, "transpose": False}, a, taus, eye)


def qr(parameters: Parameters, a: jax.Array) -> list[jax.Array]:
    """Q and R with Q R = A, by reflections."""
    m, n = a.shape[-2:]
    reflections, taus = geqrf({}, a)
    size = m if parameters["full_matrices"] else min(m, n)
    eye = jnp.broadcast_to(jnp.eye(m, size, dtype=a.dtype), (*a.shape[:-2], m, size))
    q = ormqr({"left": True, "transpose": False}, reflections, taus, eye)
    return [q, jnp.triu(reflections)[..., :size, :]]


def orthogonalised(a: jax.Array) -> list[jax.Array]:
    """V/d, VᵀA/d and d: orthogonal columns V that span the first ones of A, as many as it has rows, with d = ‖v‖²."""
    columns, squares = [], []
    for k in range(min(a.shape[-2:])):
        column = v = a[..., k]
        for u, d in zip(columns, squares, strict=True):
            v = v - ((u * column).sum(-1) / d)[..., None] * u
        columns.append(v)
        squares.append((v * v).sum(-1))
    rows = [(v[..., None] * a).sum(-2) / d[..., None] for v, d in zip(columns, squares, strict=True)]
    quotients = [v / d[..., None] for v, d in zip(columns, squares, strict=True)]
    return [jnp.stack(quotients, axis=-1), jnp.stack(rows, axis=-2), jnp.stack(squares, axis=-1)]


def one_triangle(lower: bool, a: jax.Array) -> jax.Array:
    """The symmetric matrix that one triangle of A makes."""
    kept = jnp.tril(a) if lower else jnp.triu(a)
    other = jnp.tril(a, -1) if lower else jnp.triu(a, 1)
    return kept + _transposed(other)


def smaller_gram(a: jax.Array) -> jax.Array:
    """AᵀA, or AAᵀ where A has fewer rows than columns."""
    a = a if a.shape[-2] >= a.shape[-1] else _transposed(a)
    return (a[..., :, :, None] * a[..., :, None, :]).sum(-3)


def mean_and_rest(a: jax.Array) -> list[jax.Array]:
    """The mean m of the diagonal, n times in a row, and A less m on its diagonal."""
    n = a.shape[-1]
    mean = jnp.trace(a, axis1=-2, axis2=-1)[..., None] / n
    return [jnp.broadcast_to(mean, a.shape[:-1]), a - mean[..., None] * jnp.eye(n, dtype=a.dtype)]


def two_eigenvalues(a: jax.Array) -> jax.Array:
    """Of symmetric matrices of at most two rows: (a + d)/2 ∓ √(((a - d)/2)² + b²)."""
    if a.shape[-1] < 2:
        return a.sum(-1)
    mean, half = (a[..., 0, 0] + a[..., 1, 1]) / 2, (a[..., 0, 0] - a[..., 1, 1]) / 2
    root = jnp.sqrt(half * half + a[..., 1, 0] * a[..., 1, 0])
    return jnp.stack([mean - root, mean + root], axis=-1)


LINEAR_ALGEBRA = {
    "cholesky": cholesky,
    "geqrf": geqrf,
    "householder_product": householder_product,
    "ormqr": ormqr,
    "qr": qr,
    "triangular_solve": triangular_solve,
    "tridiagonal_solve": tridiagonal_solve,
}
"""From a primitive's name to its definition."""
