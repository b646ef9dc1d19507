"""Matrix products of any shape, as JAX's dot_general means them, for arrays that are not JAX's."""

from collections.abc import Sequence
from typing import Any

import numpy as np

Axes = Sequence[int]


def as_matrices(x: np.ndarray, batch: Axes, rows: Axes, columns: Axes) -> np.ndarray:
    """x as a stack of matrices: (product of batch axes, product of row axes, product of column axes)."""
    sizes = [int(np.prod([x.shape[axis] for axis in axes])) for axes in (batch, rows, columns)]
    return x.transpose(*batch, *rows, *columns).reshape(sizes)


def operands_as_matrices(x: np.ndarray, y: np.ndarray, dimension_numbers: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both operands of result[b, i, j] = Σ_k x[b, i, k] y[b, k, j]: (batch, i, k) and (batch, k, j)."""
    (contract_x, contract_y), (batch_x, batch_y) = dimension_numbers
    free_x = [axis for axis in range(x.ndim) if axis not in (*contract_x, *batch_x)]
    free_y = [axis for axis in range(y.ndim) if axis not in (*contract_y, *batch_y)]
    return as_matrices(x, batch_x, free_x, contract_x), as_matrices(y, batch_y, contract_y, free_y)


def dot_general(x: np.ndarray, y: np.ndarray, dimension_numbers: Any, shape: Sequence[int]) -> np.ndarray:
    """The product in NumPy, of the given shape."""
    left, right = operands_as_matrices(x, y, dimension_numbers)
    return np.matmul(left, right).reshape(shape)
