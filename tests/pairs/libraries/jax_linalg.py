"""jax.numpy.linalg and jax.scipy.linalg on small matrices, against what is written out by hand."""

from typing import Any

import jax
import jax.numpy as jnp
from jax.numpy import linalg

from uat_jax import interval, positive

from ..pair import einsum, f32, matmul
from ..row import row
from . import small_matrices as small

scipy = jax.scipy.linalg

A2, A3, B2, B3 = f32(2, 2), f32(3, 3), f32(2), f32(3)

SMALL, SMALL_NUMBER = interval(f32(2), -1.0, 1.0), interval(f32(), -1.0, 1.0)


def tall(a):
    """Three rows, far from those whose small singular values a pseudo-inverse takes for 0."""
    return jnp.concatenate([jnp.eye(2), a[None]])


def normal_equations(A, b):
    return small.cramer2(matmul(A.T, A), matmul(A.T, b))


def lu(A) -> Any:
    """Permutation, lower and upper factor."""
    return scipy.lu(A)


def lower(A):
    """Lower triangular, with a positive diagonal."""
    return jnp.tril(A, -1) + jnp.diag(jnp.exp(jnp.diag(A)))


SOLVES = (
    row(
        "solve of two rows",
        linalg.solve,
        small.cramer2,
        (A2, B2),
        {"transposed": lambda A, b: small.cramer2(A.T, b), "product": matmul},
        gradient=True,
    ),
    row(
        "solve of three rows",
        linalg.solve,
        lambda A, b: matmul(small.inv3(A), b),
        (A3, B3),
        {
            "transposed": lambda A, b: matmul(small.inv3(A).T, b),
            "inverse of the transpose times −1": lambda A, b: -matmul(small.inv3(A), b),
        },
    ),
    row(
        "a solution solves",
        lambda A, b: matmul(A, linalg.solve(A, b)),
        lambda A, b: b + 0.0,
        (A3, B3),
        {"twice": lambda A, b: 2 * b, "reversed": lambda A, b: b[::-1]},
    ),
    row(
        "solve of a product",
        lambda A, b: linalg.solve(A, matmul(A, b)),
        lambda A, b: b + 0.0,
        (A3, B3),
        {"sign": lambda A, b: -b, "rolled": lambda A, b: jnp.roll(b, 1)},
    ),
    row(
        "solve is inv times",
        linalg.solve,
        lambda A, b: matmul(linalg.inv(A), b),
        (A3, B3),
        {
            "transposed": lambda A, b: matmul(linalg.inv(A).T, b),
            "of the symmetric part": lambda A, b: matmul(linalg.inv(A + A.T), b),
        },
    ),
    row(
        "inv of two rows",
        linalg.inv,
        small.inv2,
        (A2,),
        {"adjugate": lambda A: small.inv2(A) * small.det2(A), "transposed": lambda A: small.inv2(A).T},
        gradient=True,
    ),
    row(
        "inv of three rows",
        linalg.inv,
        small.inv3,
        (A3,),
        {"transposed": lambda A: small.inv3(A).T, "adjugate": lambda A: small.inv3(A) * small.det3(A)},
    ),
    row(
        "inv of a product",
        lambda A, B: linalg.inv(matmul(A, B)),
        lambda A, B: matmul(linalg.inv(B), linalg.inv(A)),
        (A2, A2),
        {"order": lambda A, B: matmul(linalg.inv(A), linalg.inv(B)), "sum": lambda A, B: linalg.inv(A) + linalg.inv(B)},
    ),
    row(
        "Sherman–Morrison",
        lambda A, u, v: linalg.inv(A + jnp.outer(u, v)),
        lambda A, u, v: (lambda R: R - jnp.outer(matmul(R, u), matmul(v, R)) / (1.0 + v @ matmul(R, u)))(small.inv2(A)),
        (A2, B2, B2),
        {
            "sign": lambda A, u, v: (lambda R: R + jnp.outer(matmul(R, u), matmul(v, R)) / (1.0 + v @ matmul(R, u)))(
                small.inv2(A)
            ),
            "sign of the divisor": lambda A, u, v: (
                lambda R: R - jnp.outer(matmul(R, u), matmul(v, R)) / (1.0 - v @ matmul(R, u))
            )(small.inv2(A)),
        },
    ),
    row(
        "det of two rows",
        linalg.det,
        small.det2,
        (A2,),
        {"permanent": lambda A: A[0, 0] * A[1, 1] + A[0, 1] * A[1, 0], "trace": jnp.trace},
        gradient=True,
    ),
    row(
        "det of three rows",
        linalg.det,
        small.det3,
        (A3,),
        {"rows exchanged": lambda A: small.det3(A[::-1]), "product of the diagonal": lambda A: jnp.prod(jnp.diag(A))},
    ),
    row(
        "det of a product",
        lambda A, B: linalg.det(matmul(A, B)),
        lambda A, B: linalg.det(A) * linalg.det(B),
        (A3, A3),
        {"sum": lambda A, B: linalg.det(A) + linalg.det(B), "square": lambda A, B: linalg.det(A) ** 2},
    ),
    row(
        "slogdet",
        lambda A: linalg.slogdet(A)[1],
        lambda A: jnp.log(jnp.abs(small.det2(A))),
        (A2,),
        {"no logarithm": lambda A: jnp.abs(small.det2(A)), "of the Gram matrix": lambda A: jnp.log(small.det2(A) ** 2)},
    ),
    row(
        "slogdet of a positive definite matrix",
        lambda A: linalg.slogdet(small.gram(A))[1],
        lambda A: jnp.log(small.det2(small.gram(A))),
        (A2,),
        {
            "twice": lambda A: 2 * jnp.log(small.det2(small.gram(A))),
            "trace": lambda A: jnp.log(jnp.trace(small.gram(A))),
        },
        gradient=True,
    ),
    row(
        "lstsq of a tall matrix",
        lambda a, b: linalg.lstsq(tall(a), b)[0],
        lambda a, b: normal_equations(tall(a), b),
        (SMALL, B3),
        {
            "no normal equations": lambda a, b: small.cramer2(tall(a)[:2], b[:2]) + 0 * a,
            "transposed": lambda a, b: matmul(tall(a).T, b),
        },
    ),
    row(
        "pinv of a tall matrix",
        lambda a: linalg.pinv(tall(a)),
        lambda a: matmul(small.inv2(matmul(tall(a).T, tall(a))), tall(a).T),
        (SMALL,),
        {
            "transposed": lambda a: tall(a).T,
            "sign": lambda a: -matmul(small.inv2(matmul(tall(a).T, tall(a))), tall(a).T),
        },
    ),
    row(
        "matrix_power",
        lambda A: linalg.matrix_power(A, 5),
        lambda A: matmul(matmul(matmul(A, A), matmul(A, A)), A),
        (A3,),
        {"four": lambda A: linalg.matrix_power(A, 4), "entry by entry": lambda A: A**5},
    ),
    row(
        "multi_dot",
        lambda A, B, b: linalg.multi_dot([A, B, b], precision="highest"),
        lambda A, B, b: matmul(A, matmul(B, b)),
        (A3, A3, B3),
        {"order": lambda A, B, b: matmul(B, matmul(A, b)), "transposed": lambda A, B, b: matmul(A.T, matmul(B, b))},
    ),
)

FACTORS = (
    row(
        "cholesky of two rows",
        lambda A: linalg.cholesky(small.gram(A)),
        lambda A: small.cholesky2(small.gram(A)),
        (A2,),
        {"upper": lambda A: small.cholesky2(small.gram(A)).T, "not rooted": lambda A: jnp.tril(small.gram(A))},
        gradient=True,
    ),
    row(
        "cholesky, multiplied",
        lambda A: (lambda L: matmul(L, L.T))(linalg.cholesky(small.gram(A))),
        small.gram,
        (A3,),
        {
            "the other order": lambda A: (lambda L: matmul(L.T, L))(linalg.cholesky(small.gram(A))),
            "squared": lambda A: matmul(small.gram(A), small.gram(A)),
        },
    ),
    row(
        "cholesky of L Lᵀ",
        lambda A: linalg.cholesky(matmul(lower(A), lower(A).T)),
        lower,
        (A2,),
        {"transposed": lambda A: lower(A).T, "sign": lambda A: -lower(A)},
    ),
    row(
        "log-determinant by cholesky",
        lambda A: 2.0 * jnp.log(jnp.diag(linalg.cholesky(small.gram(A)))).sum(),
        lambda A: jnp.log(small.det2(small.gram(A))),
        (A2,),
        {
            "half": lambda A: jnp.log(small.det2(small.gram(A))) / 2,
            "trace": lambda A: jnp.log(jnp.trace(small.gram(A))),
        },
    ),
    row(
        "cho_solve",
        lambda A, b: scipy.cho_solve((scipy.cholesky(small.gram(A), lower=True), True), b),
        lambda A, b: small.cramer2(small.gram(A), b),
        (A2, B2),
        {
            "one half": lambda A, b: small.forward2(small.cholesky2(small.gram(A)), b),
            "product": lambda A, b: matmul(small.gram(A), b),
        },
    ),
    row(
        "solve_triangular, lower",
        lambda A, b: scipy.solve_triangular(lower(A), b, lower=True),
        lambda A, b: small.forward2(lower(A), b),
        (A2, B2),
        {"transposed": lambda A, b: small.backward2(lower(A).T, b), "no coupling": lambda A, b: b / jnp.diag(lower(A))},
        gradient=True,
    ),
    row(
        "solve_triangular, upper",
        lambda A, b: scipy.solve_triangular(lower(A).T, b),
        lambda A, b: small.backward2(lower(A).T, b),
        (A2, B2),
        {"lower": lambda A, b: small.forward2(lower(A), b), "no coupling": lambda A, b: b / jnp.diag(lower(A))},
    ),
    row(
        "solve_triangular, unit diagonal",
        lambda A, b: scipy.solve_triangular(A, b, lower=True, unit_diagonal=True),
        lambda A, b: jnp.stack([b[0], b[1] - A[1, 0] * b[0]]),
        (A2, B2),
        {
            "diagonal used": lambda A, b: small.forward2(A, b),
            "sign": lambda A, b: jnp.stack([b[0], b[1] + A[1, 0] * b[0]]),
        },
    ),
    row(
        "qr, multiplied",
        lambda A: (lambda q: matmul(q[0], q[1]))(linalg.qr(A)),
        lambda A: A + 0.0,
        (A2,),
        {"transposed": lambda A: A.T, "other order": lambda A: (lambda q: matmul(q[1], q[0]))(linalg.qr(A))},
    ),
    row(
        "qr: R has the Gram matrix",
        lambda A: (lambda R: matmul(R.T, R))(linalg.qr(A)[1]),
        lambda A: matmul(A.T, A),
        (f32(3, 2),),
        {"the other": lambda A: (lambda R: matmul(R, R.T))(linalg.qr(A)[1]), "one more": small.gram},
    ),
    row(
        "lu, multiplied",
        lambda A: (lambda p, L, U: matmul(matmul(p, L), U))(*lu(A)),
        lambda A: A + 0.0,
        (A2,),
        {
            "no permutation": lambda A: (lambda p, L, U: matmul(L, U))(*lu(A)),
            "order": lambda A: (lambda p, L, U: matmul(matmul(p, U), L))(*lu(A)),
        },
    ),
    row(
        "lu_solve",
        lambda A, b: scipy.lu_solve(scipy.lu_factor(A), b),
        small.cramer2,
        (A2, B2),
        {"transposed": lambda A, b: small.cramer2(A.T, b), "sign": lambda A, b: -small.cramer2(A, b)},
    ),
    row(
        "eigvalsh of two rows",
        lambda A: linalg.eigvalsh(small.symmetric(A)),
        lambda A: small.eigenvalues2(small.symmetric(A)),
        (A2,),
        {
            "descending": lambda A: small.eigenvalues2(small.symmetric(A))[::-1],
            "diagonal": lambda A: jnp.sort(jnp.diag(A)),
        },
    ),
    row(
        "eigvalsh: sum and product",
        lambda A: (lambda w: (w.sum(), w.prod()))(linalg.eigvalsh(small.symmetric(A))),
        lambda A: (jnp.trace(A), small.det2(small.symmetric(A))),
        (A2,),
        {
            "of A": lambda A: (jnp.trace(A), small.det2(A)),
            "exchanged": lambda A: (small.det2(small.symmetric(A)), jnp.trace(A)),
        },
    ),
    row(
        "eigh, multiplied",
        lambda A: (lambda w, V: einsum("ij,j,kj->ik", V, w, V))(*linalg.eigh(small.symmetric(A))),
        small.symmetric,
        (A3,),
        {"of A": lambda A: A + 0, "squared": lambda A: matmul(small.symmetric(A), small.symmetric(A))},
    ),
    row(
        "svd: squares of the singular values",
        lambda A: (linalg.svd(A, compute_uv=False) ** 2).sum(),
        lambda A: (A**2).sum(),
        (A3,),
        {"not squared": lambda A: linalg.svd(A, compute_uv=False).sum(), "trace": jnp.trace},
    ),
    row(
        "svd, multiplied",
        lambda A: (lambda u, s, v: einsum("ij,j,jk->ik", u, s, v))(*linalg.svd(A, full_matrices=False)),
        lambda A: A + 0.0,
        (f32(3, 2),),
        {
            "sign": lambda A: -A,
            "v transposed": lambda A: (lambda u, s, v: einsum("ij,j,kj->ik", u, s, v))(
                *linalg.svd(A, full_matrices=False)
            ),
        },
    ),
    row(
        "expm of a nilpotent matrix",
        lambda a: scipy.expm(jnp.array([[0.0, 1.0], [0.0, 0.0]]) * a),
        lambda a: jnp.array([[0.0, 1.0], [0.0, 0.0]]) * a + jnp.eye(2),
        (SMALL_NUMBER,),  # of a large norm expm returns NaN
        {
            "transposed": lambda a: jnp.array([[0.0, 0.0], [1.0, 0.0]]) * a + jnp.eye(2),
            "no identity": lambda a: jnp.array([[0.0, 1.0], [0.0, 0.0]]) * a,
        },
    ),
)

NORMS = (
    row(
        "norm of a vector",
        linalg.norm,
        lambda x: jnp.sqrt((x * x).sum()),
        (B3,),
        {"squared": lambda x: (x * x).sum(), "sum of absolutes": lambda x: jnp.abs(x).sum()},
        gradient=True,
    ),
    row(
        "Frobenius norm",
        linalg.norm,
        lambda A: jnp.sqrt(jnp.trace(matmul(A.T, A))),
        (f32(3, 2),),
        {"squared": lambda A: jnp.trace(matmul(A.T, A)), "largest": lambda A: jnp.abs(A).max()},
        gradient=True,
    ),
    row(
        "norm of order 1",
        lambda A: linalg.norm(A, 1),
        lambda A: jnp.abs(A).sum(0).max(),
        (f32(3, 2),),
        {"of rows": lambda A: jnp.abs(A).sum(1).max(), "all": lambda A: jnp.abs(A).sum()},
    ),
    row(
        "norm of order ∞",
        lambda x: linalg.norm(x, jnp.inf),
        lambda x: jnp.maximum(x.max(), -x.min()),
        (B3,),
        {"maximum": jnp.max, "sum": lambda x: jnp.abs(x).sum()},
    ),
    row(
        "norm of order 3",
        lambda x: linalg.norm(x, 3),
        lambda x: (x**3).sum() ** (1.0 / 3.0),
        (positive(B3),),
        {"2": lambda x: jnp.sqrt((x**2).sum()), "no root": lambda x: (x**3).sum()},
    ),
    row(
        "cond of a diagonal matrix",
        lambda x: linalg.cond(jnp.diag(x), 1),
        lambda x: jnp.max(x) * jnp.max(1.0 / x),
        (positive(B2),),
        {"inverse": lambda x: x.min() / x.max(), "product": lambda x: x[0] * x[1]},
    ),
    row(
        "cross",
        linalg.cross,
        small.cross,
        (B3, B3),
        {"sign": lambda a, b: small.cross(b, a), "product": lambda a, b: a * b},
    ),
    row(
        "outer",
        linalg.outer,
        lambda a, b: a[:, None] * b[None],
        (B3, B2),
        {"doubled": lambda a, b: 2 * a[:, None] * b[None], "sum": lambda a, b: a[:, None] + b[None]},
    ),
    row(
        "trace",
        linalg.trace,
        lambda A: einsum("ii->", A),
        (A3,),
        {"sum": jnp.sum, "the other diagonal": lambda A: jnp.trace(A[::-1])},
    ),
    row(
        "tensordot",
        lambda A, B: linalg.tensordot(A, B, axes=([0, 1], [1, 0]), precision="highest"),
        lambda A, B: jnp.trace(matmul(A, B)),
        (A3, A3),
        {"not transposed": lambda A, B: (A * B).sum(), "sum": lambda A, B: matmul(A, B).sum()},
    ),
    row(
        "vander",
        lambda x: jnp.vander(x, 3),
        lambda x: jnp.stack([x * x, x, jnp.ones_like(x)], 1),
        (B3,),
        {
            "increasing": lambda x: jnp.vander(x, 3, increasing=True),
            "no square": lambda x: jnp.stack([x, x, jnp.ones_like(x)], 1),
        },
    ),
    row(
        "block_diag",
        lambda A, B: scipy.block_diag(A, B),
        lambda A, B: jnp.concatenate(
            [jnp.concatenate([A, jnp.zeros((2, 3))], 1), jnp.concatenate([jnp.zeros((3, 2)), B], 1)]
        ),
        (A2, A3),
        {"transposed": lambda A, B: scipy.block_diag(A.T, B), "doubled": lambda A, B: scipy.block_diag(A, 2 * B)},
    ),
    row(
        "toeplitz",
        lambda x: scipy.toeplitz(x),
        lambda x: jnp.stack([jnp.stack([x[abs(i - j)] for j in range(3)]) for i in range(3)]),
        (B3,),
        {
            "hankel": lambda x: scipy.toeplitz(x)[::-1],
            "circulant": lambda x: jnp.stack([jnp.roll(x, i) for i in range(3)]),
        },
    ),
    row(
        "kron and vec",
        lambda A, X: matmul(jnp.kron(A, jnp.eye(2)), X.ravel()),
        lambda A, X: matmul(A, X).ravel(),
        (A2, A2),
        {"transposed": lambda A, X: matmul(A.T, X).ravel(), "the other factor": lambda A, X: matmul(X, A.T).ravel()},
    ),
    row(
        "cov",
        lambda X: jnp.cov(X),
        lambda X: matmul(X - X.mean(1, keepdims=True), (X - X.mean(1, keepdims=True)).T) / 3.0,
        (f32(2, 4),),
        {"n": lambda X: jnp.cov(X, bias=True), "not centred": lambda X: matmul(X, X.T) / 3},
        gradient=True,
    ),
    row(
        "corrcoef of two",
        lambda X: jnp.corrcoef(X)[0, 1],
        lambda X: (lambda Y: (Y[0] * Y[1]).sum() / jnp.sqrt((Y[0] ** 2).sum() * (Y[1] ** 2).sum()))(
            X - X.mean(1, keepdims=True)
        ),
        (f32(2, 4),),
        {
            "not centred": lambda X: (X[0] * X[1]).sum() / jnp.sqrt((X[0] ** 2).sum() * (X[1] ** 2).sum()),
            "covariance": lambda X: jnp.cov(X)[0, 1],
        },
    ),
)

ROWS = (*SOLVES, *FACTORS, *NORMS)
