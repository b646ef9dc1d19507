"""Matrix products of any shape, as JAX's dot_general means them, for arrays that are not JAX's."""

import functools
import itertools
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

Axes = tuple[int, ...]


def operands_as_matrices(x: np.ndarray, y: np.ndarray, dimension_numbers: Any) -> tuple[np.ndarray, np.ndarray]:
    """Both operands of result[b, i, j] = Σ_k x[b, i, k] y[b, k, j]: (batch, i, k) and (batch, k, j)."""
    (contract_x, contract_y), (batch_x, batch_y) = dimension_numbers
    left = _order(x.ndim, tuple(batch_x), tuple(contract_x), contracted_last=True)
    right = _order(y.ndim, tuple(batch_y), tuple(contract_y), contracted_last=False)
    return _as_matrices(x, *left), _as_matrices(y, *right)


@functools.cache
def _order(rank: int, batch: Axes, contracted: Axes, *, contracted_last: bool) -> tuple[Axes, int, int]:
    """The axes in the order (batch, rows, columns), and where the rows and the columns begin."""
    free = tuple(axis for axis in range(rank) if axis not in (*contracted, *batch))
    rows, columns = (free, contracted) if contracted_last else (contracted, free)
    return (*batch, *rows, *columns), len(batch), len(batch) + len(rows)


def _as_matrices(x: np.ndarray, order: Axes, rows: int, columns: int) -> np.ndarray:
    """x as a stack of matrices: (product of batch axes, product of row axes, product of column axes)."""
    x = x.transpose(order)
    sizes = x.shape
    return x.reshape(math.prod(sizes[:rows]), math.prod(sizes[rows:columns]), math.prod(sizes[columns:]))


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
