"""No pair of functions that differ is certified, whatever the attack, and the table of attacks tells the truth."""

from collections.abc import Callable
from typing import Any

import jax
import numpy as np
import pytest
from excerpt import one_in
from pairs.never_certified import DIFFERENT, EQUAL, KINDS
from pairs.never_certified.row import Different

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

ALIKE = 2.0**-14
"""Values closer than this, relative to the larger of 1 and both, may be one value with the rounding of float32."""


# ---------------------------------------------------------------- the table tells the truth


def values(function: Callable, row: Any, inputs: tuple[Any, ...], dtype: Any) -> np.ndarray:
    """What JAX computes, primitive by primitive, of inputs of this dtype: all outputs, and derivatives if compared."""
    with jax.enable_x64(dtype == np.float64), jax.numpy_dtype_promotion("standard"):
        arrays = [jax.numpy.asarray(value, dtype) for value in inputs]
        outputs = function(*arrays)
        if row.wrt == "grad":
            ones = jax.tree.map(jax.numpy.ones_like, outputs)
            outputs = outputs, jax.vjp(function, *arrays)[1](ones)
        return np.concatenate([np.asarray(leaf, np.float64).ravel() for leaf in jax.tree.leaves(outputs)])


def distance(left: np.ndarray, right: np.ndarray) -> float:
    """The largest difference relative to the larger of 1 and both; NaN is NaN, and far from every number."""
    both = np.stack([left, right])
    if (np.isnan(left) != np.isnan(right)).any():
        return np.inf
    both = both[:, ~np.isnan(left) & (left != right)]
    if np.isinf(both).any():
        return np.inf
    return float((np.abs(both[0] - both[1]) / np.maximum(1, np.abs(both).max(axis=0))).max(initial=0))


def apart(row: Different, inputs: tuple[Any, ...], dtype: Any) -> float:
    """How far the two functions are apart at an input."""
    return distance(values(row.left, row, inputs, dtype), values(row.right, row, inputs, dtype))


@pytest.mark.parametrize("name", DIFFERENT)
def test_they_differ_at_the_witness(name):
    """As written and, where the widths of integers play no part, in float64: it is no rounding that tells them apart."""
    row = DIFFERENT[name]
    for dtype in dict.fromkeys([row.dtype, row.dtype if row.widths else np.dtype(np.float64)]):
        sides = [values(f, row, row.witness, dtype) for f in (row.left, row.right)]
        assert row.infinite or all(np.isfinite(side).all() for side in sides), f"not finite in {dtype}: {sides}"
        assert distance(*sides) >= row.gap, f"in {dtype}: {sides}"


@pytest.mark.parametrize("name", [name for name, row in DIFFERENT.items() if not row.identity])
def test_they_differ_on_a_set_of_the_size_that_the_row_says(name):
    """Beside the witness: somewhere, if on a set of positive measure; nowhere, if on a null set."""
    row = DIFFERENT[name]
    beside = [apart(row, inputs, row.dtype) for inputs in row.nearby()]
    if row.null_set:
        assert max(beside) < ALIKE, beside
    else:
        assert max(beside) >= row.gap / 4, beside


# ---------------------------------------------------------------- what the prover says of it


def certified(row: Any, **settings: Any) -> bool:
    """Whether the two functions of a row pass, as a user has them decided who promotes dtypes as JAX does."""
    with jax.numpy_dtype_promotion("standard"):
        return uj.certify(row.left, row.right, *row.specs, wrt=row.wrt, **settings).passes


@pytest.mark.parametrize("name", DIFFERENT)
def test_never_certified(name):
    row = DIFFERENT[name]
    assert not certified(row)


@pytest.mark.parametrize("name", [name for name, row in DIFFERENT.items() if not row.null_set])
def test_never_certified_almost_everywhere(name):
    row = DIFFERENT[name]
    assert not certified(row, almost_everywhere=True)
