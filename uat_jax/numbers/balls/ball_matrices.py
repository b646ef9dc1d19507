"""Eigenvalues, singular values and pivoted elimination in balls.

Eigenvalues of symmetric matrices are enclosed by Arb, which proves that they are isolated; two that are equal are not
decided.  A vector is known up to its sign: the sign is that of NumPy's float64 LAPACK, as on most devices.
"""

import functools
import operator
from collections.abc import Callable
from typing import Any

import numpy as np
from flint import acb_mat, arb, ctx
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.tracing import shape_of, source_line
from uat_jax.numbers.balls import decisions
from uat_jax.numbers.balls.decisions import UndecidedError
from uat_jax.numbers.floats import pivoting


def lu(balls: Any, equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """Both factors in one array, the exchanges, and the order of rows."""
    return pivoting.factors(x, lambda column: decisions.first_largest([abs(entry) for entry in column]))


def eigh(balls: Any, equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """The eigenvectors, as columns, and the ascending eigenvalues of symmetric matrices, of which one half is read."""
    lower = equation.params["lower"]
    half = np.tril(np.ones(x.shape[-2:], bool)) if lower else np.triu(np.ones(x.shape[-2:], bool))
    symmetric = np.where(half, x, np.swapaxes(x, -1, -2))
    values, vectors = np.empty(x.shape[:-1], object), np.empty(x.shape, object)
    for index in np.ndindex(x.shape[:-2]):
        values[index], found = _eigen(symmetric[index])
        vectors[index] = _signed(found, np.linalg.eigh(_middle(symmetric[index]))[1])
    return [vectors, values]


def svd(balls: Any, equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """The descending singular values, and U and Vᵀ if they are asked for: √ of the eigenvalues of AᵀA, or of AAᵀ."""
    parameters, shapes = equation.params, list(map(shape_of, equation.outvars))
    *batch, m, n = x.shape
    if parameters["compute_uv"] and parameters["full_matrices"] and m != n:
        raise UnsupportedError(
            f"'svd'{source_line(equation)} completes a basis, which has many ways; use full_matrices=False"
        )
    results = [np.empty(shape, object) for shape in shapes]
    for index in np.ndindex(*batch):
        u, _, v = np.linalg.svd(_middle(x[index]), full_matrices=False)
        values, left, right = _singular(x[index], v.T) if m >= n else _singular(x[index].T, u)
        parts = [values, left, right.T] if m >= n else [values, right, left.T]
        for result, part in zip(results, parts, strict=False):
            result[index] = part
    return results


def _singular(a: np.ndarray, like: np.ndarray) -> list[np.ndarray]:
    """Singular values, U and V of a matrix with at least as many rows as columns; V has the signs of floats."""
    if not a.size:
        return [np.empty(0, object), np.empty((len(a), 0), object), np.empty((0, 0), object)]
    values, vectors = _eigen(a.T @ a)
    values = _array([value.sqrt() for value in values[::-1]])
    vectors = _signed(vectors[:, ::-1], like)
    return [values, (a @ vectors) / values, vectors]


def _eigen(a: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The ascending eigenvalues of a symmetric matrix, and unit eigenvectors as columns.

    Raises:
        UndecidedError: balls of two eigenvalues overlap.
    """
    n = len(a)
    if n < 2:
        return a.reshape(n).copy(), np.full((n, n), arb(1), object)
    try:
        values, right = acb_mat(n, n, a.ravel().tolist()).eig(right=True)
    except ValueError as error:
        raise UndecidedError(f"eigenvalues of a matrix are not isolated at {ctx.prec} bits") from error
    real = _array([value.real for value in values])
    order = decisions.sorted_places([real])
    vectors = _array([entry.real for entry in right.entries()]).reshape(n, n)
    imaginary = _array([entry.imag for entry in right.entries()]).reshape(n, n)
    columns = [_unit(vectors[:, i], imaginary[:, i]) for i in order]
    return real[order], np.stack(columns, axis=1)


def _unit(real: np.ndarray, imaginary: np.ndarray) -> np.ndarray:
    """A real vector of length 1 that is a multiple of a complex one, whose largest entry is divided by first."""
    largest = max(range(len(real)), key=lambda i: float(abs(real[i].mid())) + float(abs(imaginary[i].mid())))
    size = real[largest] * real[largest] + imaginary[largest] * imaginary[largest]
    vector = _array([(x * real[largest] + y * imaginary[largest]) / size for x, y in zip(real, imaginary, strict=True)])
    return vector / functools.reduce(operator.add, (x * x for x in vector)).sqrt()


def _signed(vectors: np.ndarray, like: np.ndarray) -> np.ndarray:
    """Columns, each with the sign that makes its product with a column of floats positive."""
    products = (_middle(vectors) * like).sum(0)
    if np.any(np.abs(products) < 1 / 2):
        raise UndecidedError(f"the signs of vectors are not decided at {ctx.prec} bits")
    return vectors * _array([arb(-1 if product < 0 else 1) for product in products])


def _middle(x: np.ndarray) -> np.ndarray:
    """The midpoints, in float64."""
    return np.vectorize(lambda ball: float(ball.mid()), otypes=[float])(x)


def _array(entries: list[Any]) -> np.ndarray:
    found = np.empty(len(entries), object)
    found[:] = entries
    return found


RULES: dict[str, Callable[..., Any]] = {"eigh": eigh, "lu": lu, "svd": svd}
"""From a primitive's name to its rule."""
