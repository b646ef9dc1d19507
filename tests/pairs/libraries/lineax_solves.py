"""lineax: linear operators and solves, against elimination written out."""

import jax
import jax.numpy as jnp

from uat_jax import interval, positive

from ..pair import f32, matmul
from ..row import row
from . import small_matrices as small
from .library import library

lx = library("lineax")

A2, A3, B2, B3 = f32(2, 2), f32(3, 3), f32(2), f32(3)


def solved(operator, b, solver):
    return lx.linear_solve(operator, b, solver, throw=False).value


def matrix(A, *tags):
    return lx.MatrixLinearOperator(A, frozenset(tags))


ROWS = (
    row(
        "LU",
        lambda A, b: solved(matrix(A), b, lx.LU()),
        small.cramer2,
        (A2, B2),
        {"transposed": lambda A, b: small.cramer2(A.T, b), "sign": lambda A, b: -small.cramer2(A, b)},
        gradient=True,
    ),
    row(
        "LU of three rows",
        lambda A, b: solved(matrix(A), b, lx.LU()),
        lambda A, b: matmul(small.inv3(A), b),
        (A3, B3),
        {"transposed": lambda A, b: matmul(small.inv3(A).T, b), "product": matmul},
    ),
    row(
        "AutoLinearSolver, well posed",
        lambda A, b: solved(matrix(A), b, lx.AutoLinearSolver(True)),
        jnp.linalg.solve,
        (A2, B2),
        {"transposed": lambda A, b: jnp.linalg.solve(A.T, b), "product": matmul},
    ),
    row(
        "AutoLinearSolver of a diagonal",
        lambda d, b: solved(lx.DiagonalLinearOperator(d), b, lx.AutoLinearSolver(True)),
        lambda d, b: b / d,
        (positive(B3), B3),
        {"product": lambda d, b: b * d, "rolled": lambda d, b: b / jnp.roll(d, 1)},
        gradient=True,
    ),
    row(
        "Diagonal",
        lambda d, b: solved(lx.DiagonalLinearOperator(d), b, lx.Diagonal(well_posed=True)),
        lambda d, b: b / d,
        (positive(B3), B3),
        {"product": lambda d, b: b * d, "inverse": lambda d, b: d / (b * b + 1)},
    ),
    row(
        "Cholesky",
        lambda A, b: solved(matrix(small.gram(A), lx.positive_semidefinite_tag), b, lx.Cholesky()),
        lambda A, b: small.cramer2(small.gram(A), b),
        (A2, B2),
        {
            "of A": lambda A, b: small.cramer2(A, b),
            "one half": lambda A, b: small.forward2(small.cholesky2(small.gram(A)), b),
        },
        gradient=True,
    ),
    row(
        "QR of a square matrix",
        lambda A, b: solved(matrix(A), b, lx.QR()),
        small.cramer2,
        (A2, B2),
        {"transposed": lambda A, b: small.cramer2(A.T, b), "sign": lambda A, b: -small.cramer2(A, b)},
    ),
    row(
        "QR, least squares",
        lambda A, b: solved(matrix(A), b, lx.QR()),
        lambda A, b: small.cramer2(matmul(A.T, A), matmul(A.T, b)),
        (f32(3, 2), B3),
        {
            "the first rows": lambda A, b: small.cramer2(A[:2], b[:2]),
            "ridge": lambda A, b: small.cramer2(small.gram(A), matmul(A.T, b)),
        },
    ),
    row(
        "SVD",
        lambda A, b: solved(matrix(A + 4.0 * jnp.eye(2)), b, lx.SVD()),
        lambda A, b: small.cramer2(A + 4.0 * jnp.eye(2), b),
        (interval(A2, -1.0, 1.0), B2),
        {
            "transposed": lambda A, b: small.cramer2(A.T + 4.0 * jnp.eye(2), b),
            "sign": lambda A, b: -small.cramer2(A + 4.0 * jnp.eye(2), b),
        },
    ),
    row(
        "Triangular, lower",
        lambda A, b: solved(matrix(jnp.tril(A), lx.lower_triangular_tag), b, lx.Triangular()),
        small.forward2,
        (A2, B2),
        {"upper": small.backward2, "diagonal": lambda A, b: b / jnp.diag(A)},
        gradient=True,
    ),
    row(
        "Triangular, upper",
        lambda A, b: solved(matrix(jnp.triu(A), lx.upper_triangular_tag), b, lx.Triangular()),
        small.backward2,
        (A2, B2),
        {"lower": small.forward2, "diagonal": lambda A, b: b / jnp.diag(A)},
    ),
    row(
        "Tridiagonal",
        lambda d, l, u, b: solved(lx.TridiagonalLinearOperator(d + 4.0, l, u), b, lx.Tridiagonal()),
        lambda d, l, u, b: small.thomas(l, d + 4.0, u, b),
        (positive(B3), B2, B2, B3),
        {
            "diagonals exchanged": lambda d, l, u, b: small.thomas(u, d + 4.0, l, b),
            "no coupling": lambda d, l, u, b: b / (d + 4.0),
        },
    ),
    row(
        "CG in two steps",
        lambda A, b: matmul(
            small.gram(A), solved(matrix(small.gram(A), lx.positive_semidefinite_tag), b, lx.Cholesky())
        ),
        lambda A, b: b + 0.0,
        (A2, B2),
        {"twice": lambda A, b: 2 * b, "exchanged": lambda A, b: b[::-1]},
    ),
    row(
        "Normal with Cholesky",
        lambda A, b: solved(matrix(A), b, lx.Normal(lx.Cholesky())),
        lambda A, b: small.cramer2(matmul(A.T, A), matmul(A.T, b)),
        (f32(3, 2), B3),
        {
            "ridge": lambda A, b: small.cramer2(small.gram(A), matmul(A.T, b)),
            "not transposed": lambda A, b: small.cramer2(matmul(A.T, A), b[:2]),
        },
    ),
    row(
        "MatrixLinearOperator.mv",
        lambda A, b: matrix(A).mv(b),
        lambda A, b: (A * b[None]).sum(1),
        (f32(3, 2), B2),
        {"absolute": lambda A, b: (jnp.abs(A) * b[None]).sum(1), "doubled": lambda A, b: 2 * (A * b[None]).sum(1)},
    ),
    row(
        "TridiagonalLinearOperator as a matrix",
        lambda d, l, u: lx.TridiagonalLinearOperator(d, l, u).as_matrix(),
        lambda d, l, u: jnp.diag(d) + jnp.diag(l, -1) + jnp.diag(u, 1),
        (B3, B2, B2),
        {
            "exchanged": lambda d, l, u: jnp.diag(d) + jnp.diag(l, 1) + jnp.diag(u, -1),
            "diagonal": lambda d, l, u: jnp.diag(d),
        },
    ),
    row(
        "a composition and a sum of operators",
        lambda A, B, b: (matrix(A) @ matrix(B) + 2.0 * matrix(A)).mv(b),
        lambda A, B, b: matmul(matmul(A, B) + 2.0 * A, b),
        (A3, A3, B3),
        {
            "order": lambda A, B, b: matmul(matmul(B, A) + 2.0 * A, b),
            "not doubled": lambda A, B, b: matmul(matmul(A, B) + A, b),
        },
    ),
    row(
        "JacobianLinearOperator",
        lambda x, v: lx.JacobianLinearOperator(lambda y, _: jnp.tanh(y) * y[0], x).mv(v),
        lambda x, v: jax.jvp(lambda y: jnp.tanh(y) * y[0], (x,), (v,))[1],
        (B3, B3),
        {
            "transposed": lambda x, v: jax.vjp(lambda y: jnp.tanh(y) * y[0], x)[1](v)[0],
            "no product rule": lambda x, v: (1 - jnp.tanh(x) ** 2) * v * x[0],
        },
    ),
    row(
        "transpose of an operator",
        lambda A, b: matrix(A).T.mv(b),
        lambda A, b: matmul(b, A),
        (A3, B3),
        {"not transposed": matmul, "sign": lambda A, b: -matmul(b, A)},
    ),
    row(
        "linearise and materialise",
        lambda x, v: lx.materialise(lx.JacobianLinearOperator(lambda y, _: y**2, x)).mv(v),
        lambda x, v: 2.0 * x * v,
        (B3, B3),
        {"not doubled": lambda x, v: x * v, "square": lambda x, v: 2 * x * x * v},
    ),
    row(
        "ridge regression",
        lambda A, b: solved(matrix(small.gram(A), lx.positive_semidefinite_tag), matmul(A.T, b), lx.Cholesky()),
        lambda A, b: matmul(small.inv2(small.gram(A)), matmul(A.T, b)),
        (f32(3, 2), B3),
        {
            "no ridge": lambda A, b: small.cramer2(matmul(A.T, A), matmul(A.T, b)),
            "stronger": lambda A, b: small.cramer2(small.gram(A) + jnp.eye(2), matmul(A.T, b)),
        },
    ),
)
