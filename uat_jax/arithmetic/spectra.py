"""Eigenvalues and singular values in prime fields: a formula for two of them, and of more their sum.

Vectors are unknown functions of the matrix, with the signs that the device gives them.  Of them it is known that they
are orthonormal, and that A = V Λ Vᵀ or A = U S Vᵀ: products of just these matrices are replaced where they are taken.
"""

from __future__ import annotations

import functools
from typing import TYPE_CHECKING

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.canonical_form import parameters_digest
from uat_jax.arithmetic.facts import Facts, Nature
from uat_jax.arithmetic.gathering import gathered
from uat_jax.arithmetic.linear_algebra import one_triangle, smaller_gram, two_eigenvalues
from uat_jax.arithmetic.number import Number
from uat_jax.arithmetic.residues import Residues, same
from uat_jax.arithmetic.tracing import dtype_of, shape_of
from uat_jax.arithmetic.uninterpreted import of_matrix, refuse_infinite

if TYPE_CHECKING:
    from uat_jax.arithmetic.fields import Fields


def eigh(fields: Fields, equation: JaxprEqn, x: Number) -> list[Number]:
    """The rule of `eigh`: eigenvectors and ascending eigenvalues of the symmetric matrix that one triangle makes."""
    refuse_infinite(equation, x)
    lower, dtype = equation.params["lower"], dtype_of(equation.invars[0])
    (symmetric,) = fields.inner(_program(functools.partial(one_triangle, lower), x.shape, dtype), [x])
    vectors = of_matrix(fields, _named(equation, "eigenvectors"), symmetric, x.shape)
    values = _eigenvalues(fields, symmetric, dtype)
    if len(x.shape) == 2 and x.shape[1] > 0:
        v, a = vectors.residues, symmetric.residues
        scaled = _columns_times(fields, v, values)
        _keep_orthogonal(fields, _transposed(v))
        _keep_orthogonal(fields, v)
        _keep(fields, scaled, _transposed(v), a)
        _keep(fields, v, _transposed(scaled), a)
        _keep(fields, a, v, scaled)
    return [vectors, values]


def svd(fields: Fields, equation: JaxprEqn, x: Number) -> list[Number]:
    """The rule of `svd`: the descending singular values are the roots of the eigenvalues of AᵀA, or of AAᵀ."""
    refuse_infinite(equation, x)
    dtype = dtype_of(equation.invars[0])
    (gram,) = fields.inner(_program(smaller_gram, x.shape, dtype), [x])
    squares = _eigenvalues(fields, gram, dtype).moved(lambda a: a[..., ::-1]).but(nonnegative=True)
    values = fields.functions.root(squares)
    names = ("left singular vectors", "right singular vectors")
    vectors = [
        of_matrix(fields, _named(equation, name), x, shape_of(v))
        for name, v in zip(names, equation.outvars[1:], strict=False)
    ]
    if vectors and len(x.shape) == 2 and x.shape[0] >= x.shape[1] == vectors[0].shape[1] > 0:
        u, v, a = (number.residues for number in (*vectors, x))
        rows = _transposed(_columns_times(fields, _transposed(v), values))
        _keep_orthogonal(fields, _transposed(u))
        _keep_orthogonal(fields, v)
        _keep_orthogonal(fields, _transposed(v))
        _keep(fields, _columns_times(fields, u, values), v, a)
        _keep(fields, u, rows, a)
        _keep(fields, a, _transposed(v), _columns_times(fields, u, values))
        _keep(fields, _transposed(u), a, rows)
    return [values.but(facts=_always(x, values.shape)), *vectors]


def _eigenvalues(fields: Fields, x: Number, dtype: np.dtype) -> Number:
    """Ascending eigenvalues: unknown functions, the last of which is the trace less the others."""
    n = x.shape[-1]
    if n <= 2:
        (values,) = fields.inner(_program(two_eigenvalues, x.shape, dtype), [x])
        return values
    f = fields.functions
    others = of_matrix(fields, "eigenvalues", x, (*x.shape[:-2], n - 1))
    trace = f.sum(x.moved(lambda a: np.diagonal(a, axis1=-2, axis2=-1)), (len(x.shape) - 2,))
    last = f.subtract(trace, f.sum(others, (len(x.shape) - 2,)))
    count = int(np.prod(others.shape))
    places = np.concatenate(
        [np.arange(count).reshape(others.shape), count + np.arange(count // (n - 1)).reshape(*last.shape, 1)], axis=-1
    )
    return gathered(f, [others, last], places).but(facts=_always(x, (*x.shape[:-2], n)))


def product_of(fields: Fields, left: Residues, right: Residues) -> Residues | None:
    """The product of two matrices, if it is known from a decomposition."""
    for a, b, product in fields.functions.factors_of_matrices:
        if a.shape == left.shape and b.shape == right.shape:
            fields.draw.compared(2 * int(np.prod(a.shape) + np.prod(b.shape)))
            if same(a, left) and same(b, right):
                return product
    return None


def _keep(fields: Fields, left: Residues, right: Residues, product: Residues) -> None:
    """Keep the product of two matrices, and that of their transposes."""
    flipped = _transposed(right), _transposed(left), _transposed(product)
    fields.functions.factors_of_matrices += [(left, right, product), flipped]


def _keep_orthogonal(fields: Fields, rows: Residues) -> None:
    """Keep that the rows of a matrix are orthonormal."""
    _keep(fields, rows, _transposed(rows), fields.draw.floats(np.eye(rows.shape[0])))


def _columns_times(fields: Fields, a: Residues, values: Number) -> Residues:
    """A matrix whose columns are multiplied by numbers."""
    spread = values.residues.moved(lambda level: np.broadcast_to(level[:, None, :], (len(level), *a.shape)))
    return fields.draw.multiply(a, spread)


def _transposed(a: Residues) -> Residues:
    return a.moved(lambda level: level.swapaxes(-1, -2))


def _named(equation: JaxprEqn, vectors: str) -> str:
    """A name for vectors whose signs depend on how a device computes them."""
    return f"{vectors} of {dtype_of(equation.invars[0])} by {parameters_digest(equation)}"


def _always(x: Number, shape: tuple[int, ...]) -> Facts:
    """Of a function that is defined wherever a matrix is."""
    assert x.facts is not None
    nothing = np.zeros(shape, bool)
    return Facts(Nature.PIECEWISE, x.facts.defined, False, nothing, nothing, nothing, x.facts.guarded)


@functools.lru_cache(maxsize=256)
def _program(function: functools.partial, shape: tuple[int, ...], dtype: np.dtype) -> ClosedJaxpr:
    with jax.enable_x64(True):
        return jax.make_jaxpr(function)(jax.ShapeDtypeStruct(shape, dtype))
