"""Elimination of columns of zeros: a device divides by no pivot that is 0, and exchanges nothing."""

import jax.numpy as jnp
from jax import lax
from jax.scipy import linalg

from .row import Different, Equal, S, f32

FAR = 30


def matrix(*rows):
    """A matrix of the entries of its rows."""
    return jnp.stack([jnp.stack([jnp.asarray(entry, jnp.float32) for entry in row]) for row in rows])


def zeros_then(x):
    """[[0, 1], [x, 2]]: for x = 0 its own factor U, else the rows are exchanged."""
    return matrix((0, 1), (x, 2))


def ramp(x):
    """0 up to -30, and positive above."""
    return jnp.maximum(x + FAR, 0)


def three(x):
    """Three rows, of which the second column is 0 below its first entry unless x is above -30."""
    return matrix((1, 2, 3), (0, 0, 1), (0, ramp(x), 2))


def last_pivot(r):
    """Of [[r, 1], [2r, 3]], by the order of rows: 3 where r = 0, else 1."""
    factors, _, order = lax.linalg.lu(matrix((r, 1), (2 * r, 3)))
    return jnp.where(order[0] == 0, factors[1, 1], -2 * factors[1, 1])


upper, lower = (lambda a: linalg.lu(a)[2]), (lambda a: linalg.lu(a)[1])

DIFFERENT = (
    Different("the first row of U of a column of zeros", lambda x: upper(zeros_then(x))[0], lambda x: jnp.stack([x, 2 + 0 * x]), (S,), (0,), null_set=True),
    Different("the first row of U, on a half-line", lambda x: upper(zeros_then(ramp(x)))[0], lambda x: jnp.stack([ramp(x), 2 + 0 * x]), (S,), (-32,)),
    Different("the last pivot of a column of zeros", lambda x: upper(zeros_then(x))[1, 1], lambda x: 1 + 0 * x, (S,), (0,), null_set=True),
    Different("the last pivot, on a half-line", lambda x: upper(zeros_then(ramp(x)))[1, 1], lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("the last pivot of a step", lambda x: upper(zeros_then(jnp.where(x > -FAR, 1.0, 0.0)))[1, 1], lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("L U as the exchanged rows, on a half-line", lambda x: lower(zeros_then(ramp(x))) @ upper(zeros_then(ramp(x))), lambda x: zeros_then(ramp(x))[::-1], (S,), (-32,)),
    Different("the second pivot of three", lambda x: upper(three(x))[2, 2], lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("the second row of U of three", lambda x: upper(three(x))[1], lambda x: three(x)[2], (S,), (-32,)),
    Different("pivots of the other of two matrices", lambda x: lax.linalg.lu(jnp.stack([jnp.eye(2), zeros_then(ramp(x))]))[0][1, 0, 1], lambda x: 2 + 0 * x, (S,), (-32,)),
    Different("the last pivot by the order, on a half-line", lambda x: last_pivot(ramp(x)), lambda x: 1 + 0 * x, (S,), (-32,)),
    Different("the order of a part of the order", lambda a, b: b[lax.linalg.lu(a)[2]][jnp.argsort(lax.linalg.lu(a)[2][:2])], lambda a, b: b[:2], (f32(3, 3), f32(3)), (((0, 0, 1), (1, 0, 0), (0, 1, 0)), (1, 2, 3))),
)  # fmt: skip

EQUAL = (
    Equal("the last pivot below a number that is never 0", lambda x: upper(matrix((0, 1), (jnp.exp(x), 2)))[1, 1], lambda x: 1 + 0 * x, (S,)),
    Equal("U of a column with a number that is never 0", lambda x: upper(matrix((0, 1), (1, x)))[0], lambda x: jnp.stack([1 + 0 * x, x]), (S,)),
    Equal("L U, exchanged, of a column with a number that is never 0", lambda x: lower(matrix((0, 1), (-jnp.exp(x), 2))) @ upper(matrix((0, 1), (-jnp.exp(x), 2))), lambda x: matrix((-jnp.exp(x), 2), (0, 1)), (S,)),
    Equal("a solution below a zero", lambda x, b: jnp.linalg.solve(matrix((0, 1), (jnp.exp(x), 2)), b), lambda x, b: jnp.stack([(b[1] - 2 * b[0]) / jnp.exp(x), b[0]]), (S, f32(2))),
    Equal("the last pivot by the order, of numbers that are never 0", lambda x: last_pivot(jnp.exp(x)), lambda x: 1 + 0 * x, (S,)),
    Equal("the pivots of a triangle of exponentials", lambda x: upper(matrix((jnp.exp(x), 2), (0, 3)))[1, 1], lambda x: 3 + 0 * x, (S,)),
)  # fmt: skip
