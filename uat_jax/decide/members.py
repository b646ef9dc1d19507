"""Whether a given array lies in one of the sets of `parametrized.py`, and the first place that says it does not.

An array that was computed in its own dtype, by `softmax` or a QR decomposition, lies beside the set by its roundings:
by about k distances of neighbours at 1 where an axis of length k is summed.  `SLACK` times that is let pass; order and
the sign of a number are not rounded.  Nothing is concluded from the array: only its shape and dtype count.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import jax.numpy as jnp
import numpy as np

SLACK = 8
"""Times the rounding of one sum: a sum of quotients, or a product of reflections, rounds a few times."""


def _first(bad: np.ndarray) -> tuple[int, ...] | None:
    """The index of the first true entry; of no axes, it is ()."""
    return tuple(int(i) for i in np.argwhere(bad)[0]) if bad.any() else None


def _at(place: tuple[int, ...]) -> str:
    return f" at {list(place)}" if place else ""


def _off_simplex(array: np.ndarray, rounding: float) -> str:
    entry = _first(~(array >= 0))
    if entry is not None:
        return f"holds {array[entry]:.6g}{_at(entry)}"
    sums = array.sum(-1)
    row = _first(~(abs(sums - 1) <= array.shape[-1] * rounding))
    return "" if row is None else f"sums to {sums[row]:.6g}{_at(row)}"


def _off_symmetric(array: np.ndarray, rounding: float) -> str:
    mirrored = np.swapaxes(array, -1, -2)
    largest = np.abs(array).max(initial=0.0)
    entry = _first(~((array == mirrored) | (abs(array - mirrored) <= array.shape[-1] * rounding * largest)))
    if entry is None:
        return ""
    *batch, i, j = entry
    return f"holds {array[entry]:.6g}{_at(entry)} and {mirrored[entry]:.6g}{_at((*batch, j, i))}"


def _off_sorted(array: np.ndarray, rounding: float) -> str:
    entry = _first(~(array[..., :-1] <= array[..., 1:]))
    if entry is not None:
        after = (*entry[:-1], entry[-1] + 1)
        return f"holds {array[entry]:.6g}{_at(entry)} before {array[after]:.6g}"
    alone = _first(np.isnan(array))
    return "" if alone is None else f"holds nan{_at(alone)}"


def _off_orthogonal(array: np.ndarray, rounding: float) -> str:
    vectors, named = (array, "columns") if array.shape[-2] >= array.shape[-1] else (np.swapaxes(array, -1, -2), "rows")
    products = np.swapaxes(vectors, -1, -2) @ vectors
    entry = _first(~(abs(products - np.eye(products.shape[-1])) <= max(array.shape[-2:]) * rounding))
    if entry is None:
        return ""
    *batch, i, j = entry
    wanted = "1" if i == j else "0"
    return f"has {named} {i} and {j} whose product is {products[entry]:.6g} where {wanted} is wanted{_at(tuple(batch))}"


OFF: Mapping[str, Callable[[np.ndarray, float], str]] = {
    "simplex": _off_simplex,
    "symmetric": _off_symmetric,
    "sorted": _off_sorted,
    "orthogonal": _off_orthogonal,
}
"""From the name of a set to what an array does that is not in it, and '' for one that is."""


def off(array: np.ndarray, family: str, dtype: np.dtype) -> str:
    """What keeps an array of floats out of a set, such as "holds -0.5 at [1]", or ''."""
    with np.errstate(all="ignore"):
        return OFF[family](np.asarray(array, np.float64), SLACK * float(jnp.finfo(dtype).eps))
