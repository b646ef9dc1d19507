"""Elimination with partial pivoting, where numbers can be compared: the rule of `lu` in float64 and in balls."""

from collections.abc import Callable
from typing import Any

import numpy as np

Largest = Callable[[np.ndarray], int]
"""The place of the first entry of largest magnitude."""


def factors(matrices: np.ndarray, largest: Largest) -> list[Any]:
    """The factors L and U in one array, the exchanges, and the order of rows they make, of each of several matrices.

    Args:
        matrices: of shape (..., m, n), of floats or balls.
        largest: chooses a pivot among the entries of a column.

    Returns:
        arrays of shapes (..., m, n), (..., min(m, n)) and (..., m): P A = L U, where row i of P A is row order[i] of A.
        A pivot that is 0 divides by 0.
    """
    *batch, m, n = matrices.shape
    lu = matrices.copy()
    exchanges, order = np.empty((*batch, min(m, n)), np.int32), np.empty((*batch, m), np.int32)
    for index in np.ndindex(*batch):
        exchanges[index], order[index] = _eliminated(lu[index], largest)
    return [lu, exchanges, order]


def _eliminated(a: np.ndarray, largest: Largest) -> tuple[list[int], np.ndarray]:
    """Replace a matrix by its factors; which row each step exchanges its own with, and the order that makes."""
    exchanges, order = [], np.arange(len(a))
    for k in range(min(a.shape)):
        chosen = k + largest(a[k:, k])
        exchanges.append(chosen)
        a[[k, chosen]], order[[k, chosen]] = a[[chosen, k]], order[[chosen, k]]
        a[k + 1 :, k] = a[k + 1 :, k] / a[k, k]
        a[k + 1 :, k + 1 :] = a[k + 1 :, k + 1 :] - a[k + 1 :, k, None] * a[k, None, k + 1 :]
    return exchanges, order
