"""Factorisations of matrices: true pairs, their wrong twins, pairs just outside, and every definition against JAX."""

import random
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.extend.core import jaxpr_as_fun
from jax.numpy import linalg

import uat_jax as uj
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.specification import Specification, traced
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.linear_algebra import LARGEST
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import exact
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.determinants import determinant
from uat_jax.numbers.prime_fields.logged_products import LoggedProducts
from uat_jax.numbers.prime_fields.residues import Draw
from uat_jax.numbers.prime_fields.tower import draw_levels, draw_primes

scipy, triangular = jax.scipy.linalg, lax.linalg.triangular_solve
f32 = lambda *shape: jax.ShapeDtypeStruct(shape, jnp.float32)
A2, A3, TALL, B2, B3 = f32(2, 2), f32(3, 3), f32(3, 2), f32(2), f32(3)
A4, B4 = f32(4, 4), f32(4)


def matmul(*factors):
    """The product, exactly."""
    return jnp.linalg.multi_dot([*factors], precision="highest")


def gram(a):
    """A positive definite matrix."""
    return matmul(a.T, a) + jnp.eye(a.shape[1], dtype=a.dtype)


def det2(a):
    """ad - bc."""
    return a[0, 0] * a[1, 1] - a[0, 1] * a[1, 0]


def cramer(a, b):
    """The solution of two equations."""
    return jnp.stack([b[0] * a[1, 1] - b[1] * a[0, 1], a[0, 0] * b[1] - a[1, 0] * b[0]]) / det2(a)


def qr(a, mode: Any = "reduced") -> Any:
    """Two arrays; what JAX says it returns is wider."""
    return linalg.qr(a, mode=mode)


def thin_svd(a) -> Any:
    """U, s and Vᵀ, with as many columns and rows as a has singular values."""
    return linalg.svd(a, full_matrices=False)


def lu_solve(a, b):
    """By the factors."""
    return scipy.lu_solve(scipy.lu_factor(a), b)


def by_steps(a, b, *, order: Any = lambda p: p, lower: Any = True, **options):
    """With the factors of `lu`, the rows of b in the order p or what `order` makes of it."""
    factors, _, p = lax.linalg.lu(a)
    half = triangular(factors, b[order(p)][:, None], left_side=True, lower=True, unit_diagonal=lower)
    return triangular(factors, half, left_side=True, **options)[:, 0]


def by_transposed_steps(a, b, *, back: Any = jnp.argsort, between: Any = lambda x: x):
    """The same for Aᵀ; what `between` makes of the solution is put back into the order that `back` makes of p."""
    factors, _, p = lax.linalg.lu(a)
    half = triangular(factors, b[:, None], left_side=True, transpose_a=True)
    x = triangular(factors, half, left_side=True, lower=True, unit_diagonal=True, transpose_a=True)[:, 0]
    return between(x)[back(p)]


def along_a_row(a):
    """The determinant by that of the minors of the first row."""
    n = len(a)
    minor = lambda j: a[1:][:, [k for k in range(n) if k != j]]
    return a[0, 0] if n == 1 else sum((-1) ** j * a[0, j] * along_a_row(minor(j)) for j in range(n))


def without_exchanges(a, b):
    """Two equations, by a first pivot that may be 0."""
    ratio = a[1, 0] / a[0, 0]
    last = (b[1] - ratio * b[0]) / (a[1, 1] - ratio * a[0, 1])
    return jnp.stack([(b[0] - a[0, 1] * last) / a[0, 0], last])


def thomas(d, l, u, b):
    """Three equations, each of three neighbours at most."""
    return lax.linalg.tridiagonal_solve(l, d, u, b[:, None])[:, 0]


def with_positive_diagonal(a):
    """A lower triangle, of which the diagonal is positive."""
    return jnp.tril(a, -1) + jnp.diag(jnp.exp(jnp.diag(a)))


def square_of(l):
    """L Lᵀ."""
    return matmul(l, l.T)


def rebuilt(w, v):
    """V Λ Vᵀ."""
    return matmul(v * w[None], v.T)


def symmetric(a):
    """Of any matrix."""
    return (a + a.T) / 2


def with_diagonals(d, l, u):
    """The matrix; the first of the lower and the last of the upper diagonal lie outside."""
    return jnp.diag(d) + jnp.diag(l[1:], -1) + jnp.diag(u[:-1], 1)


# name: (left, right, a wrong twin, inputs)
PAIRS = {
    "solve": (linalg.solve, cramer, lambda a, b: cramer(a.T, b), (A2, B2)),
    "solve, gradient": (
        jax.grad(lambda a, b: linalg.solve(a, b).sum(), 1),
        lambda a, b: cramer(a.T, jnp.ones_like(b)),
        lambda a, b: cramer(a, jnp.ones_like(b)),
        (A2, B2),
    ),
    "a solution solves": (
        lambda a, b: matmul(a, linalg.solve(a, b)),
        lambda a, b: b,
        lambda a, b: b[::-1],
        (A3, B3),
    ),
    "zeros on the diagonal": (
        lambda a, b: linalg.solve(jnp.diag(a[:1], 1) + jnp.diag(a[1:], -1), b),
        lambda a, b: b[::-1] / a[::-1],
        lambda a, b: b / a,
        (B2, B2),
    ),
    "two at once": (
        jax.vmap(linalg.solve),
        lambda a, b: jnp.stack([cramer(a[0], b[0]), cramer(a[1], b[1])]),
        lambda a, b: jnp.stack([cramer(a[0], b[1]), cramer(a[1], b[0])]),
        (f32(2, 2, 2), f32(2, 2)),
    ),
    "inverse, gradient": (
        jax.grad(lambda a: linalg.inv(a)[0, 0]),
        jax.grad(lambda a: a[1, 1] / det2(a)),
        jax.grad(lambda a: a[0, 0] / det2(a)),
        (A2,),
    ),
    "factors of LU": (
        lambda a: matmul(*scipy.lu(a)),
        lambda a: a,
        lambda a: matmul(*scipy.lu(a)[1:]),
        (A2,),
    ),
    "solve by the factors": (lu_solve, linalg.solve, lambda a, b: lu_solve(a.T, b), (A2, B2)),
    "solve of four rows": (
        linalg.solve,
        lambda a, b: matmul(linalg.inv(a), b),
        lambda a, b: matmul(b, linalg.inv(a)),
        (A4, B4),
    ),
    "steps of a solution": (by_steps, linalg.solve, lambda a, b: by_steps(a.T, b), (A3, B3)),
    "steps of a transposed solution": (
        by_transposed_steps,
        lambda a, b: linalg.solve(a.T, b),
        lambda a, b: linalg.solve(a, b),
        (A3, B3),
    ),
    "factors, and Pᵀ b": (
        lambda a, b: (lambda p, l, u: scipy.solve_triangular(u, scipy.solve_triangular(l, matmul(p.T, b), lower=True)))(
            *scipy.lu(a)
        ),
        linalg.solve,
        lambda a, b: (lambda p, l, u: scipy.solve_triangular(u, scipy.solve_triangular(l, matmul(p, b), lower=True)))(
            *scipy.lu(a)
        ),
        (A3, B3),
    ),
    "four matrices of three rows": (
        lambda a, b: linalg.solve(a, b[..., None])[..., 0],
        lambda a, b: jnp.einsum("nij,nj->ni", linalg.inv(a), b, precision="highest"),
        lambda a, b: jnp.einsum("nji,nj->ni", linalg.inv(a), b, precision="highest"),
        (f32(4, 3, 3), f32(4, 3)),
    ),
    "a zero where elimination begins": (
        lambda x, b: linalg.solve(jnp.array([[0.0, 1.0], [1.0, 0.0]]) + x * jnp.array([[0.0, 0.0], [0.0, 1.0]]), b),
        lambda x, b: jnp.stack([b[1] - x * b[0], b[0]]),
        lambda x, b: jnp.stack([b[1] + x * b[0], b[0]]),
        (f32(), B2),
    ),
    "gradient of a solution of four rows": (
        jax.grad(lambda a, b: linalg.solve(a, b).sum()),
        lambda a, b: -jnp.outer(linalg.solve(a.T, jnp.ones(4)), linalg.solve(a, b)),
        lambda a, b: -jnp.outer(linalg.solve(a, b), linalg.solve(a.T, jnp.ones(4))),
        (A4, B4),
    ),
    "inverse of a Kronecker product": (
        lambda a, b: linalg.inv(jnp.kron(a, b)),
        lambda a, b: jnp.kron(linalg.inv(a), linalg.inv(b)),
        lambda a, b: jnp.kron(linalg.inv(b), linalg.inv(a)),
        (A2, A2),
    ),
    "determinant of four rows": (linalg.det, along_a_row, lambda a: along_a_row(a[jnp.array([1, 0, 2, 3])]), (A4,)),
    "determinant of a sum with one column": (
        lambda u, v: linalg.det(jnp.eye(4) + jnp.outer(u, v)),
        lambda u, v: 1 + jnp.vdot(u, v, precision="highest"),
        lambda u, v: 1 - jnp.vdot(u, v, precision="highest"),
        (B4, B4),
    ),
    "sign and logarithm of a determinant": (
        lambda a: tuple(linalg.slogdet(a)),
        lambda a: (jnp.sign(along_a_row(a)), jnp.log(jnp.abs(along_a_row(a)))),
        lambda a: (-jnp.sign(along_a_row(a)), jnp.log(jnp.abs(along_a_row(a)))),
        (A3,),
    ),
    "gradient of the logarithm of a determinant": (
        jax.grad(lambda a: linalg.slogdet(a)[1]),
        lambda a: linalg.inv(a).T,
        linalg.inv,
        (A3,),
    ),
    "the other triangle is not read": (
        lambda a, b: triangular(a, b, left_side=True, lower=True),
        lambda a, b: triangular(jnp.tril(a), b, left_side=True, lower=True),
        lambda a, b: linalg.solve(a, b),
        (A2, TALL.update(shape=(2, 3))),
    ),
    "from the right, transposed, ones on the diagonal": (
        lambda a, b: triangular(a, b, lower=True, transpose_a=True, unit_diagonal=True),
        lambda a, b: jnp.stack([b[:, 0], b[:, 1] - a[1, 0] * b[:, 0]], 1),
        lambda a, b: jnp.stack([b[:, 0], b[:, 1] - a[0, 1] * b[:, 0]], 1),
        (A2, TALL),
    ),
    "tridiagonal": (
        lambda d, l, u, b: matmul(with_diagonals(d, l, u), thomas(d, l, u, b)),
        lambda d, l, u, b: b,
        lambda d, l, u, b: matmul(with_diagonals(d, l, u), thomas(d, u, l, b)),
        (B3, B3, B3, B3),
    ),
    "Cholesky, multiplied": (
        lambda a: (lambda l: matmul(l, l.T))(linalg.cholesky(gram(a))),
        gram,
        lambda a: (lambda l: matmul(l.T, l))(linalg.cholesky(gram(a))),
        (A2,),
    ),
    "Cholesky, gradient": (
        jax.grad(lambda a: linalg.cholesky(gram(a))[0, 0]),
        jax.grad(lambda a: jnp.sqrt(gram(a)[0, 0])),
        jax.grad(lambda a: jnp.sqrt(gram(a)[1, 1])),
        (A2,),
    ),
    "Cholesky of the lower triangle": (
        lambda a: lax.linalg.cholesky(gram(a) + jnp.triu(a, 1), symmetrize_input=False),
        lambda a: linalg.cholesky(gram(a)),
        lambda a: lax.linalg.cholesky(gram(a) + jnp.tril(a, -1), symmetrize_input=False),
        (A2,),
    ),
    "Cholesky of L Lᵀ": (
        lambda a: linalg.cholesky(square_of(with_positive_diagonal(a))),
        with_positive_diagonal,
        lambda a: with_positive_diagonal(a) + jnp.tril(a, -1),
        (A3,),
    ),
    "Cholesky of L Lᵀ, whose diagonal is an input": (
        lambda d, x: linalg.cholesky(square_of(jnp.diag(d) + jnp.diag(x, -1))),
        lambda d, x: jnp.diag(d) + jnp.diag(x, -1),
        lambda d, x: jnp.diag(d) - jnp.diag(x, -1),
        (uj.positive(B2), f32(1)),
    ),
    "Cholesky of a diagonal": (
        lambda d: linalg.cholesky(jnp.diag(d * d)),
        jnp.diag,
        lambda d: jnp.diag(d[::-1]),
        (uj.positive(B3),),
    ),
    "logarithm of the determinant of L Lᵀ": (
        lambda a: 2 * jnp.log(jnp.diag(linalg.cholesky(square_of(with_positive_diagonal(a))))).sum(),
        lambda a: 2 * jnp.trace(a),
        lambda a: jnp.trace(a),
        (A3,),
    ),
    "Cholesky solves": (
        lambda a, b: scipy.cho_solve((scipy.cholesky(gram(a), lower=True), True), b),
        lambda a, b: cramer(gram(a), b),
        lambda a, b: cramer(a, b),
        (A2, B2),
    ),
    "QR, multiplied": (
        lambda a: matmul(*qr(a)),
        lambda a: a,
        lambda a: matmul(qr(a)[0], qr(a)[1].T),
        (A2,),
    ),
    "columns of Q": (
        lambda a: (lambda q: matmul(q.T, q))(qr(a)[0]),
        lambda a: jnp.eye(2) + 0 * a[:2],
        lambda a: jnp.eye(2) + a[:2],
        (TALL,),
    ),
    "least squares by QR": (
        lambda a, b: triangular(qr(a)[1], matmul(qr(a)[0].T, b)[:, None], left_side=True)[:, 0],
        lambda a, b: cramer(matmul(a.T, a), matmul(a.T, b)),
        lambda a, b: cramer(gram(a), matmul(a.T, b)),
        (TALL, B3),
    ),
    "reflections": (
        lambda a, b: (lambda h, t: lax.linalg.ormqr(h.T, t, b))(*qr(a, mode="raw"))[:2],
        lambda a, b: matmul(qr(a, mode="complete")[0], b)[:2],
        lambda a, b: matmul(qr(a, mode="complete")[0].T, b)[:2],
        (TALL, TALL),
    ),
    "two eigenvalues": (
        lambda a: linalg.eigvalsh(a).prod(),
        lambda a: det2((a + a.T) / 2),
        det2,
        (A2,),
    ),
    "the sum of eigenvalues": (lambda a: linalg.eigvalsh(a).sum(), jnp.trace, lambda a: a.sum(), (A3,)),
    "eigenvectors and eigenvalues, multiplied": (
        lambda a: rebuilt(*linalg.eigh(symmetric(a))),
        symmetric,
        lambda a: rebuilt(linalg.eigvalsh(symmetric(a))[::-1], linalg.eigh(symmetric(a))[1]),
        (A3,),
    ),
    "the product of eigenvalues": (
        lambda a: linalg.eigvalsh(a).prod(),
        lambda a: along_a_row(symmetric(a)),
        along_a_row,
        (A3,),
    ),
    "the sum of squares of eigenvalues": (
        lambda a: (linalg.eigvalsh(a) ** 2).sum(),
        lambda a: (symmetric(a) ** 2).sum(),
        lambda a: (a**2).sum(),
        (A3,),
    ),
    "the sum of inverses of eigenvalues": (
        lambda a: (1 / linalg.eigvalsh(a)).sum(),
        lambda a: jnp.trace(linalg.inv(symmetric(a))),
        lambda a: 1 / jnp.trace(a),
        (A3,),
    ),
    "the sum of logarithms of eigenvalues": (
        lambda a: jnp.log(linalg.eigvalsh(gram(a))).sum(),
        lambda a: linalg.slogdet(gram(a))[1],
        lambda a: linalg.slogdet(gram(a) / 2)[1],
        (A4,),
    ),
    "the product of singular values": (
        lambda a: linalg.svd(a, compute_uv=False).prod(),
        lambda a: jnp.abs(along_a_row(a)),
        along_a_row,
        (A3,),
    ),
    "eigenvalues of a matrix and one more": (
        lambda a: linalg.eigvalsh(symmetric(a) + 2 * jnp.eye(3)),
        lambda a: linalg.eigvalsh(a) + 2,
        lambda a: linalg.eigvalsh(a) + 1,
        (A3,),
    ),
    "eigenvalues of a negative multiple": (
        lambda a: linalg.eigvalsh(-3 * a),
        lambda a: -3 * linalg.eigvalsh(a)[::-1],
        lambda a: -3 * linalg.eigvalsh(a),
        (A3,),
    ),
    "a power of a matrix by its eigenvectors": (
        lambda a: rebuilt(*(lambda w, v: (w**2, v))(*linalg.eigh(symmetric(a)))),
        lambda a: matmul(symmetric(a), symmetric(a)),
        lambda a: matmul(a, a),
        (A3,),
    ),
    "a solution by eigenvectors": (
        lambda a, b: (lambda w, v: matmul(v, matmul(v.T, b) / w))(*linalg.eigh(gram(a))),
        lambda a, b: linalg.solve(gram(a), b),
        lambda a, b: linalg.solve(gram(a.T), b),
        (A3, B3),
    ),
    "singular vectors and values of a wide matrix, multiplied": (
        lambda a: (lambda u, s, v: matmul(u * s, v))(*thin_svd(a)),
        lambda a: a,
        lambda a: (lambda u, s, v: matmul(u * s[::-1], v))(*thin_svd(a)),
        (f32(2, 3),),
    ),
    "eigenvectors are multiplied by eigenvalues": (
        lambda a: (lambda w, v: matmul(symmetric(a), v) - v * w[None])(*linalg.eigh(symmetric(a))),
        lambda a: 0 * a,
        lambda a: (lambda w, v: matmul(symmetric(a), v.T) - v * w[None])(*linalg.eigh(symmetric(a))),
        (A2,),
    ),
    "eigenvectors are orthonormal": (
        lambda a: (lambda w, v: jnp.stack([matmul(v.T, v), matmul(v, v.T)]))(*linalg.eigh(a)),
        lambda a: jnp.stack([jnp.eye(3) + 0 * a, jnp.eye(3) + 0 * a]),
        lambda a: (lambda w, v: jnp.stack([matmul(v, v), matmul(v, v.T)]))(*linalg.eigh(a)),
        (A3,),
    ),
    "singular vectors and values, multiplied": (
        lambda a: (lambda u, s, v: jnp.einsum("ij,j,jk->ik", u, s, v, precision="highest"))(*thin_svd(a)),
        lambda a: a,
        lambda a: (lambda u, s, v: matmul(u, v))(*thin_svd(a)),
        (TALL,),
    ),
    "singular vectors are orthonormal": (
        lambda a: (lambda u, s, v: matmul(u.T, u) + matmul(v, v.T))(*thin_svd(a)),
        lambda a: 2 * jnp.eye(2) + 0 * a[:2],
        lambda a: (lambda u, s, v: matmul(u.T, u) + matmul(v, v))(*thin_svd(a)),
        (TALL,),
    ),
    "one triangle of a symmetric matrix": (
        lambda a: linalg.eigh(a, UPLO="U", symmetrize_input=False)[0],
        lambda a: linalg.eigh(jnp.triu(a) + jnp.triu(a, 1).T)[0],
        lambda a: linalg.eigh(a, symmetrize_input=False)[0],
        (A3,),
    ),
    "squares of singular values": (
        lambda a: linalg.svd(a, compute_uv=False) ** 2,
        lambda a: linalg.eigvalsh(matmul(a.T, a))[::-1],
        lambda a: linalg.eigvalsh(matmul(a.T, a)),
        (f32(4, 3),),
    ),
}


@pytest.mark.parametrize("name", one_in(6, PAIRS))
def test_factorisations_are_followed(name):
    left, right, wrong, specs = PAIRS[name]
    certificate = uj.certify(left, right, *specs)
    assert certificate.passes, [e.finding for e in certificate.evidence]
    assert uj.certify(left, wrong, *specs).verdict is uj.Verdict.REFUTED


def one_step(matvec, b):
    """One step towards the solution, and not the solution."""
    return matvec(b)


NEVER = {
    "columns of U are fewer than its rows": (
        lambda a: (lambda u, s, v: matmul(u, u.T))(*thin_svd(a)),
        lambda a: jnp.eye(3) + 0 * a[:, :1],
        (TALL,),
    ),
    "vectors of one matrix and values of another": (
        lambda a, b: matmul(linalg.eigh(a)[1] * linalg.eigvalsh(b)[None], linalg.eigh(a)[1].T),
        lambda a, b: (a + a.T) / 2,
        (A2, A2),
    ),
    "eigenvectors of a matrix of which one triangle is read": (
        lambda a: rebuilt(*linalg.eigh(a, symmetrize_input=False)),
        lambda a: a,
        (A2,),
    ),
    "Cholesky of L Lᵀ, whose diagonal has both signs": (
        lambda a: linalg.cholesky(square_of(jnp.tril(a))),
        jnp.tril,
        (A2,),
    ),
    "Cholesky of L Lᵀ, whose diagonal is positive for some inputs": (
        lambda a: linalg.cholesky(square_of(jnp.diag(jnp.where(a > 0, a, a - 1)))),
        lambda a: jnp.diag(jnp.where(a > 0, a, a - 1)),
        (B2,),
    ),
    "a matrix that is singular for all inputs": (
        lambda x, b: linalg.solve(x * jnp.ones((2, 2)), b),
        lambda x, b: 1 / x + linalg.solve(x * jnp.ones((2, 2)), b),
        (f32(), B2),
    ),
    "which rows are exchanged": (lambda a: scipy.lu(a)[1][1, 0], lambda a: a[1, 0] / a[0, 0], (A2,)),
    "the order of rows": (
        lambda a: scipy.lu_factor(a)[1].astype(jnp.float32),
        lambda a: 0 * a[0] + jnp.arange(2.0),
        (A2,),
    ),
    "where a solution without exchanges is undefined": (
        lambda a, b: jnp.where(jnp.isnan(linalg.solve(a, b)), 0.0, 1.0),
        lambda a, b: jnp.where(jnp.isnan(without_exchanges(a, b)), 0.0, 1.0),
        (A2, B2),
    ),
    "the sign of a determinant of NaN": (
        lambda x: linalg.slogdet(jnp.diag(jnp.stack([jnp.sqrt(x), jnp.sqrt(x), 1 + 0 * x])))[0],
        jnp.sign,
        (f32(),),
    ),
    "the sign of a determinant of what is undefined at a point": (
        lambda a: linalg.slogdet(linalg.inv(a))[0],
        lambda a: jnp.sign(linalg.det(a)),
        (A3,),
    ),
    "isnan of a sign and of that of a determinant": (
        lambda a: jnp.where(jnp.isnan(linalg.slogdet(a * a / a)[0]), 1.0, 0.0),
        lambda a: jnp.where(jnp.isnan(jnp.sign(determinant(a * a / a))), 1.0, 0.0),
        (A3,),
    ),
    "singular on a half-line": (
        lambda x, b: jnp.where(x > 0, linalg.solve(jnp.maximum(x, 0) * jnp.eye(3), jnp.maximum(x, 0) * b)[0], 0.0),
        lambda x, b: b[0] + 0 * x,
        (f32(), B3),
    ),
    "the sign of a determinant that may be 0": (
        lambda a: linalg.slogdet(a)[0] ** 2,
        lambda a: 1 + 0 * a[0, 0],
        (A3,),
    ),
    "rows in no order": (lambda a, b: by_steps(a, b, order=lambda p: jnp.arange(3)), linalg.solve, (A3, B3)),
    "rows in the inverse order": (lambda a, b: by_steps(a, b, order=jnp.argsort), linalg.solve, (A3, B3)),
    "rows in the opposite order": (lambda a, b: by_steps(a, b, order=lambda p: p[::-1]), linalg.solve, (A3, B3)),
    "a diagonal of L that is not 1": (lambda a, b: by_steps(a, b, lower=False), linalg.solve, (A3, B3)),
    "a diagonal of U that is 1": (lambda a, b: by_steps(a, b, unit_diagonal=True), linalg.solve, (A3, B3)),
    "L instead of U": (lambda a, b: by_steps(a, b, transpose_a=True), linalg.solve, (A3, B3)),
    "a transposed solution that is not put back": (
        lambda a, b: by_transposed_steps(a, b, back=lambda p: jnp.arange(3)),
        lambda a, b: linalg.solve(a.T, b),
        (A3, B3),
    ),
    "a transposed solution that is put back the other way": (
        lambda a, b: by_transposed_steps(a, b, back=lambda p: p),
        lambda a, b: linalg.solve(a.T, b),
        (A3, B3),
    ),
    "a transposed solution that is reversed and put back": (
        lambda a, b: by_transposed_steps(a, b, between=lambda x: x[::-1]),
        lambda a, b: linalg.solve(a.T, b),
        (A3, B3),
    ),
    "the product of the pivots": (
        lambda a: jnp.prod(jnp.diag(lax.linalg.lu(a)[0])),
        linalg.det,
        (A3,),
    ),
    "isnan of a sum of logarithms": (
        lambda a: jnp.where(jnp.isnan(jnp.log(linalg.eigvalsh(a)).sum()), 1.0, 0.0),
        lambda a: jnp.where(jnp.isnan(jnp.log(linalg.det(symmetric(a)))), 1.0, 0.0),
        (A3,),
    ),
    "two negative eigenvalues": (
        lambda x: jnp.where(
            jnp.isnan(jnp.log(linalg.eigvalsh(jnp.diag(jnp.exp(x) * jnp.array([-1.0, -1.0, 1.0])))).sum()), 1.0, 0.0
        ),
        lambda x: 0 * x[0],
        (B3,),
    ),
    "two of three eigenvalues": (
        lambda a: linalg.eigvalsh(a)[:2].prod(),
        lambda a: linalg.det(symmetric(a)),
        (A3,),
    ),
    "magnitudes of eigenvalues": (
        lambda a: jnp.abs(linalg.eigvalsh(a)).prod(),
        lambda a: linalg.det(symmetric(a)),
        (A3,),
    ),
    "eigenvalues of the opposite matrix in its order": (
        lambda a: linalg.eigvalsh(-a),
        lambda a: -linalg.eigvalsh(a),
        (A3,),
    ),
    "eigenvalues of a multiple by an input": (
        lambda a, t: linalg.eigvalsh(t * a),
        lambda a, t: t * linalg.eigvalsh(a),
        (A3, f32()),
    ),
    "another order of eigenvalues": (
        lambda a: rebuilt(*(lambda w, v: (w[::-1] ** 2, v))(*linalg.eigh(symmetric(a)))),
        lambda a: matmul(symmetric(a), symmetric(a)),
        (A3,),
    ),
    "powers with eigenvectors of another matrix": (
        lambda a, b: rebuilt(linalg.eigvalsh(a) ** 2, linalg.eigh(b)[1]),
        lambda a, b: matmul(symmetric(a), symmetric(a)),
        (A3, A3),
    ),
    "columns of V of a wide matrix": (
        lambda a: (lambda u, s, v: matmul(v.T, v))(*thin_svd(a)),
        lambda a: jnp.eye(3) + 0 * a[:1],
        (f32(2, 3),),
    ),
    "inverses of eigenvalues that vanish on a half-line": (
        lambda x: jnp.where(
            x > 0, rebuilt(*(lambda w, v: (1 / w, v))(*linalg.eigh(jnp.eye(3) * jnp.maximum(x, 0)))), 0.0
        ),
        lambda x: jnp.eye(3) / x,
        (f32(),),
    ),
    "a solver that does not solve": (
        lambda a, b: lax.custom_linear_solve(lambda x: matmul(a, x), b, one_step),
        linalg.solve,
        (A2, B2),
    ),
    "where a root of the other pivot is undefined": (
        lambda a: jnp.where(linalg.cholesky(jnp.diag(jnp.stack([1 + a[0] ** 2, a[1]])))[0, 0] > 0, 1.0, 0.0),
        lambda a: 1.0 + 0 * a[0],
        (B2,),
    ),
    "a root that is defined at 0, where Cholesky's is not": (
        lambda x: jnp.where(jnp.isnan(linalg.cholesky(x[:, None] ** 2)), 1.0, 0.0)[0],
        lambda x: 0 * x,
        (f32(1),),
    ),
    "the sign of a column": (lambda a: qr(a)[1][0, 0], lambda a: jnp.sqrt((a[:, 0] ** 2).sum()), (A2,)),
    "the sign of an eigenvector": (lambda a: linalg.eigh(a)[1], lambda a: -linalg.eigh(a)[1], (A2,)),
    "triangles": (lambda a: triangular(a, a), lambda a: triangular(jnp.tril(a), a), (A2,)),
    "a pivot that vanishes on a half-line": (
        lambda x: jnp.where(x > 0, linalg.solve(jnp.maximum(x, 0.0)[None, None], x[None])[0], 0.0),
        lambda x: 1.0 + 0 * x,
        (f32(),),
    ),
    "four rows, another minor": (
        lambda a: jnp.linalg.inv(a)[0, 1] * jnp.linalg.inv(a)[1, 0],
        lambda a: jnp.linalg.inv(a)[0, 0] * jnp.linalg.inv(a)[1, 1],
        (A3,),
    ),
}


@pytest.mark.parametrize("name", one_in(2, NEVER))
def test_pairs_just_outside_are_not_certified(name):
    """By prime fields alone, without counterexamples."""
    left, right, specs = NEVER[name]
    first, second = (traced(function, Specification(specs).at({}))[0] for function in (left, right))
    try:
        assert not PrimeFields(first, second).compare(-64.0).equal
    except uj.UatJaxError as refused:
        assert str(refused)


def test_cholesky_is_undefined_in_every_entry():
    """Of its triangle, as JAX says, where one pivot is not positive."""
    with jax.enable_x64(True):
        program = trace(lambda a: lax.linalg.cholesky(a, symmetrize_input=False), np.eye(2))
    (found,) = interpret(program, Doubles(), [np.stack([np.diag([1.0, -1.0]), np.diag([1.0, 0.0]), np.eye(2)])])
    assert np.isnan(found[:2, *np.tril_indices(2)]).all() and np.array_equal(found[2], np.eye(2))


EMPTY = {
    "inv": linalg.inv,
    "cholesky": linalg.cholesky,
    "qr": lambda a: linalg.qr(a, mode="raw")[0],
    "eigh": lambda a: linalg.eigh(a)[1],
    "svd": lambda a: linalg.svd(a)[1],
    "lu": lambda a: scipy.lu(a)[1],
}


@pytest.mark.parametrize("size", [0, 1])
@pytest.mark.parametrize("name", one_in(3, EMPTY))
def test_matrices_without_rows_and_with_one(name, size):
    left = lambda a: a[1, 1] + EMPTY[name](a[:size, :size]).sum()
    right = lambda a: EMPTY[name]((a * 2 / 2)[:size, :size]).sum() + a[1, 1]
    assert uj.certify(left, right, A2).passes


def test_a_large_matrix_is_an_unknown_function_of_which_nothing_is_decided():
    large = f32(LARGEST + 1, LARGEST + 1)
    root = lambda a: linalg.cholesky(a)[0, 0]
    assert uj.certify(lambda a: root(2 * a), lambda a: root(a + a), large).passes
    assert not uj.certify(lambda a: jnp.where(root(a) > 0, 1.0, 0.0), lambda a: 1.0 + 0 * a[0, 0], large).passes


# --- every definition against JAX -------------------------------------------------------------------------------------

SQUARE, LONG, WIDE, MANY = (
    np.sin(np.arange(1.0, 1 + np.prod(s)) ** 2).reshape(s) for s in [(3, 3), (4, 3), (3, 4), (2, 3, 3)]
)
WAYS = [(a, b, c, d) for a in (False, True) for b in (False, True) for c in (False, True) for d in (False, True)]
DEFINED = {
    **{
        f"triangular_solve {way}": (
            lambda a, b, way=way: triangular(
                a, b, left_side=way[0], lower=way[1], transpose_a=way[2], unit_diagonal=way[3]
            ),
            SQUARE,
            WIDE if way[0] else LONG,
        )
        for way in WAYS
    },
    "solve": (linalg.solve, MANY, MANY),
    "det": (linalg.det, np.cos(np.arange(16.0) ** 2).reshape(4, 4)),
    "slogdet": (linalg.slogdet, MANY),
    "cholesky": (lambda a: linalg.cholesky(a @ a.swapaxes(-1, -2) + np.eye(3)[None]), MANY),
    "qr": (qr, MANY),
    "qr of a long matrix": (lambda a: qr(a, mode="complete"), LONG),
    "qr of a wide matrix": (qr, WIDE),
    "qr of a triangle": (qr, np.triu(SQUARE)),
    "raw qr": (lambda a: qr(a, mode="raw"), LONG),
    "ormqr": (
        lambda a, c: (lambda h, t: lax.linalg.ormqr(h.T, t, c, left=False))(*qr(a, mode="raw")),
        LONG,
        WIDE,
    ),
    "householder_product": (lambda a: lax.linalg.householder_product(a, a[0]), LONG),
    "lu": (scipy.lu, LONG),
    "lu_solve": (lu_solve, SQUARE, SQUARE[0]),
    "eigh": (linalg.eigh, MANY),
    "eigh of one row": (linalg.eigh, SQUARE[:1, :1]),
    "svd": (lambda a: thin_svd(a), LONG),
    "svd of a wide matrix": (lambda a: thin_svd(a), WIDE),
    "pinv": (linalg.pinv, LONG),
    "tridiagonal_solve": (thomas, SQUARE[0] + 3, SQUARE[1], SQUARE[2], SQUARE[0]),
    "gradient of slogdet": (jax.grad(lambda a: linalg.slogdet(a)[1]), SQUARE),
    "gradient of lstsq": (jax.grad(lambda a, b: linalg.lstsq(a, b)[0].sum()), LONG, LONG[:, 0]),
}


@pytest.mark.parametrize("name", one_in(12, DEFINED))
def test_balls_and_float64_compute_what_jax_does(name):
    """To 2⁻³⁰, the condition of these matrices being below 2¹⁰ and each float64 operation right to 2⁻⁵²."""
    function, *arguments = DEFINED[name]
    with jax.enable_x64(True):
        parts = jax.tree.leaves(jax.jit(function)(*arguments))
        program = trace(lambda *x: jnp.concatenate([y.ravel() for y in jax.tree.leaves(function(*x))]), *arguments)
        flat = jaxpr_as_fun(program)
        wanted = np.concatenate([np.ravel(part) for part in parts])
        balls = exact(lambda *x: flat(*x)[0], arguments)
    (floats,) = interpret(program, Doubles(), [np.stack([x, x]) for x in arguments])
    assert np.allclose([float(x.mid()) for x in balls], wanted, rtol=0, atol=2.0**-30)
    assert np.allclose(floats, [wanted, wanted], rtol=0, atol=2.0**-30)


def test_least_squares_of_few_rows_are_compared_without_an_error():
    """A comparison in it counts singular values: a whole number, of which no polynomial with fractions is made."""
    left = lambda a, b: linalg.lstsq(a, b)[0]
    right = lambda a, b: linalg.solve(jnp.matmul(a.T, a, precision="highest"), jnp.matmul(a.T, b, precision="highest"))
    assert not uj.certify(left, right, f32(3, 2), f32(3), budget=20).passes


def test_what_is_looked_up_in_a_table_of_products_is_counted_as_arguments_are():
    """All pairs of what the table holds, and of what is looked up in it, are tests of equality."""
    primes = draw_primes(0, random.Random(7))
    draw = Draw(draw_levels(primes, (4,), np.random.default_rng(7)), (7,))
    products = LoggedProducts(draw)
    y = draw.variable((6,))
    log = draw.opaque("logarithm", y)
    before = draw.applications[0]
    products.logarithm(y, log)
    assert len(products.known) > 6
    assert draw.applications[0] - before >= len(products.known) + 6
