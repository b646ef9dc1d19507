"""Matrix products of any shape, as JAX's dot_general means them, for arrays that are not JAX's."""

import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Axes = Sequence[int]


def as_matrices(x: np.ndarray, batch: Axes, rows: Axes, columns: Axes) -> np.ndarray:
    """x as a stack of matrices: (product of batch axes, product of row axes, product of column axes)."""
    sizes = [math.prod(x.shape[axis] for axis in axes) for axes in (batch, rows, columns)]
    return x.transpose(*batch, *rows, *columns).reshape(sizes)


def operands_as_matrices(x: np.ndarray, y: np.ndarray, dimension_numbers: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both operands of result[b, i, j] = Σ_k x[b, i, k] y[b, k, j]: (batch, i, k) and (batch, k, j)."""
    (contract_x, contract_y), (batch_x, batch_y) = dimension_numbers
    free_x = [axis for axis in range(x.ndim) if axis not in (*contract_x, *batch_x)]
    free_y = [axis for axis in range(y.ndim) if axis not in (*contract_y, *batch_y)]
    return as_matrices(x, batch_x, free_x, contract_x), as_matrices(y, batch_y, contract_y, free_y)


AT_ONCE = 1 << 30
"""So many multiplications are made at once, in about a second."""


def dot_general(
    x: np.ndarray,
    y: np.ndarray,
    dimension_numbers: Any,
    shape: Sequence[int],
    check: Callable[[], None] = lambda: None,
) -> np.ndarray:
    """The product in NumPy, of the given shape; ``check`` is called before each part of a large one, and may raise."""
    left, right = operands_as_matrices(x, y, dimension_numbers)
    batch, rows, columns = len(left), left.shape[1], right.shape[2]
    if left.size * columns <= AT_ONCE:
        return np.matmul(left, right).reshape(shape)
    result = np.empty((batch, rows, columns), np.result_type(left, right))
    step = max(1, AT_ONCE // max(1, left.shape[2] * columns))
    for b, first in itertools.product(range(batch), range(0, rows, step)):
        check()
        np.matmul(left[b, first : first + step], right[b], out=result[b, first : first + step])
    return result.reshape(shape)
