"""jax.numpy.linalg and jax.scipy.linalg once more: larger determinants, factors, pseudo-inverses and gradients."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl

from uat_jax import interval

from ..pair import f32, matmul
from ..row import row
from . import small_matrices as small

A2, A3, A4 = f32(2, 2), f32(3, 3), f32(4, 4)
NEAR = interval(f32(3, 3), -0.25, 0.25)
E2, E3 = jnp.eye(2), jnp.eye(3)
WIDE = 2.0 * jnp.eye(2, 3)


def laplace4(A):
    """The determinant of four rows along the first."""
    rest = lambda j: jnp.delete(A[1:], j, axis=1)
    return sum((-1.0) ** j * A[0, j] * small.det3(rest(j)) for j in range(4))


def log_det3(A):
    d = small.det3(A)
    return jnp.sign(d), jnp.log(jnp.abs(d))


def schur(A):
    """The determinant of four rows by blocks of two."""
    a, b, c, d = A[:2, :2], A[:2, 2:], A[2:, :2], A[2:, 2:]
    return small.det2(a) * small.det2(d - matmul(matmul(c, small.inv2(a)), b))


def turned(t):
    """The matrix of which the exponential is a rotation by the angle t."""
    return jnp.array([[0.0, -1.0], [1.0, 0.0]]) * t


def left_inverse(A):
    return matmul(small.inv2(matmul(A.T, A)), A.T)


def right_inverse(A):
    return matmul(A.T, small.inv2(matmul(A, A.T)))


ROWS = (
    row(
        "det of four rows along a row",
        jnp.linalg.det,
        laplace4,
        (A4,),
        {"permanent": lambda A: laplace4(jnp.abs(A)), "sign": lambda A: -laplace4(A)},
    ),
    row(
        "det of four rows by blocks",
        jnp.linalg.det,
        schur,
        (A4,),
        {"blocks alone": lambda A: small.det2(A[:2, :2]) * small.det2(A[2:, 2:])},
    ),
    row(
        "slogdet of three rows",
        lambda A: tuple(jnp.linalg.slogdet(A)),
        log_det3,
        (A3,),
        {"sign lost": lambda A: (0 * A[0, 0] + 1.0, log_det3(A)[1]), "of 2A": lambda A: log_det3(2 * A)},
    ),
    row(
        "the gradient of the log-determinant",
        lambda A: jax.grad(lambda A: jnp.linalg.slogdet(A)[1])(A + E3),
        lambda A: small.inv3(A + E3).T,
        (NEAR,),
        {"not transposed": lambda A: small.inv3(A + E3), "halved": lambda A: small.inv3(A + E3).T / 2},
    ),
    row(
        "pinv of a wide matrix",
        lambda A: jnp.linalg.pinv(A + WIDE),
        lambda A: right_inverse(A + WIDE),
        (interval(f32(2, 3), -0.25, 0.25),),
        {"transposed": lambda A: (A + WIDE).T, "of A": right_inverse},
    ),
    row(
        "lstsq is the normal equations",
        lambda A, b: jnp.linalg.lstsq(A + WIDE.T, b)[0],
        lambda A, b: matmul(left_inverse(A + WIDE.T), b),
        (interval(f32(3, 2), -0.25, 0.25), f32(3)),
        {
            "transposed": lambda A, b: matmul((A + WIDE.T).T, b),
            "half": lambda A, b: matmul(left_inverse(A + WIDE.T), b) / 2,
        },
    ),
    row(
        "the gradient of log det by Cholesky",
        lambda A: jax.grad(lambda A: 2.0 * jnp.log(jnp.diag(jnp.linalg.cholesky(small.gram(A)))).sum())(A),
        lambda A: 2.0 * matmul(A, small.inv2(small.gram(A))),
        (A2,),
        {
            "once": lambda A: matmul(A, small.inv2(small.gram(A))),
            "other side": lambda A: 2.0 * matmul(small.inv2(small.gram(A)), A),
        },
    ),
    row(
        "Woodbury",
        lambda A, u: jnp.linalg.inv(E3 + matmul(u, u.T)),
        lambda A, u: E3 - matmul(matmul(u, jnp.linalg.inv(E2 + matmul(u.T, u))), u.T),
        (A3, f32(3, 2)),
        {"sign": lambda A, u: E3 + matmul(matmul(u, jnp.linalg.inv(E2 + matmul(u.T, u))), u.T)},
    ),
    row(
        "a block inverse",
        lambda A: jnp.linalg.inv(A)[0, 0],
        lambda A: (A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1]) / small.det3(A),
        (A3,),
        {"minor": lambda A: A[1, 1] * A[2, 2] - A[1, 2] * A[2, 1], "reciprocal": lambda A: 1 / A[0, 0]},
        gradient=True,
    ),
    row(
        "solve with many right-hand sides",
        jnp.linalg.solve,
        lambda A, B: jnp.stack([jnp.linalg.solve(A, B[:, i]) for i in range(2)], 1),
        (A3, f32(3, 2)),
        {"rolled": lambda A, B: jnp.linalg.solve(A, B[:, ::-1]), "product": lambda A, B: matmul(A, B)},
    ),
    row(
        "vmap of solve",
        jnp.linalg.solve,
        lambda A, b: jax.vmap(small.cramer2)(A, b[..., 0])[..., None],
        (f32(3, 2, 2), f32(3, 2, 1)),
        {"of the first": lambda A, b: jax.vmap(small.cramer2, (None, 0))(A[0], b[..., 0])[..., None]},
    ),
    row(
        "cho_factor and a quadratic form",
        lambda A, b: b @ jsl.cho_solve(jsl.cho_factor(small.gram(A), lower=True), b),
        lambda A, b: b @ small.cramer2(small.gram(A), b),
        (A2, f32(2)),
        {
            "square": lambda A, b: b @ matmul(small.gram(A), b),
            "half": lambda A, b: b @ small.cramer2(small.gram(A), b) / 2,
        },
        gradient=True,
    ),
    row(
        "expm of a rotation, the inverse of the opposite one's",
        lambda t: jsl.expm(turned(t)),  # a quotient of polynomials: not cos and sin, but near them
        lambda t: jnp.linalg.inv(jsl.expm(turned(-t))),
        (f32(),),
        {"the opposite one": lambda t: jsl.expm(turned(-t))},
    ),
    row(
        "the nuclear norm of a positive definite matrix",
        lambda A: jnp.linalg.norm(small.gram(A), "nuc"),
        lambda A: jnp.trace(small.gram(A)),
        (A2,),
        {"Frobenius": lambda A: jnp.linalg.norm(small.gram(A))},
    ),
    row(
        "eigvalsh: the determinant",
        lambda A: jnp.prod(jnp.linalg.eigvalsh(small.symmetric(A))),
        lambda A: small.det3(small.symmetric(A)),
        (A3,),
        {"trace": lambda A: jnp.trace(A), "absolute": lambda A: jnp.abs(small.det3(small.symmetric(A)))},
    ),
    row(
        "trace of a product is cyclic",
        lambda A, B: jnp.trace(matmul(A, B)),
        lambda A, B: jnp.einsum("ij,ji->", B, A, precision="highest"),
        (f32(2, 3), f32(3, 2)),
        {"transposed": lambda A, B: jnp.einsum("ij,ij->", B.T[::-1], A)},
        gradient=True,
    ),
)
