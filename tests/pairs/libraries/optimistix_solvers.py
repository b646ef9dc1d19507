"""optimistix: one step of a solver where one step is enough, and compositions."""

import jax.numpy as jnp

from ..pair import f32, matmul
from ..row import row
from . import small_matrices as small
from .library import library

optx = library("optimistix")

A2, B2 = f32(2, 2), f32(2)


def newton(A, b):
    """A linear system: Newton's method is there after one step."""
    solver = optx.Newton(rtol=1e-6, atol=1e-6)
    return optx.root_find(lambda x, _: matmul(A, x) - b, solver, jnp.zeros(2), max_steps=1, throw=False).value


def fixed_point(A, b, steps=2):
    solver = optx.FixedPointIteration(rtol=0.0, atol=0.0)
    return optx.fixed_point(
        lambda x, _: matmul(A, x) + b,
        solver,
        jnp.zeros(2),
        max_steps=steps,
        throw=False,
        adjoint=optx.RecursiveCheckpointAdjoint(),
    ).value


ROWS = (
    row(
        "Newton on a linear system",
        newton,
        small.cramer2,
        (A2, B2),
        {"transposed": lambda A, b: small.cramer2(A.T, b), "sign": lambda A, b: -small.cramer2(A, b)},
    ),
    row(
        "two fixed-point steps",
        fixed_point,
        lambda A, b: matmul(A, b) + b,
        (A2, B2),
        {"one": lambda A, b: b + 0 * matmul(A, b), "transposed": lambda A, b: matmul(A.T, b) + b},
    ),
    row(
        "rms_norm",
        lambda x: optx.rms_norm(x),
        lambda x: jnp.sqrt((x * x).mean()),
        (f32(4),),
        {"two_norm": lambda x: jnp.sqrt((x * x).sum()), "squared": lambda x: (x * x).mean()},
        gradient=True,
    ),
    row(
        "max_norm",
        lambda x: optx.max_norm(x),
        lambda x: jnp.maximum(x.max(), -x.min()),
        (f32(4),),
        {"max": jnp.max, "sum": lambda x: jnp.abs(x).sum()},
    ),
)
