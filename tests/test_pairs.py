"""The table of pairs is what it says: left and right agree as floats, and every wrong variant parts from left."""

from typing import Any

import jax
import numpy as np
import pytest
from excerpt import one_in
from pairs import PAIRS, libraries
from pairs.floats import dtype_of, evaluated
from pairs.pair import Pair

DRAWS = 8
SEPARATION = 1e-7
"""What a wrong variant differs by at least, relative to the largest output: far above every tolerance in float64."""


def inputs(pair: Pair, seed: int) -> Any:
    """Standard normal arguments."""
    random = np.random.default_rng(seed)
    return jax.tree.map(lambda spec: random.standard_normal(spec.shape).astype(dtype_of(pair)), pair.specs)


def flat(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([array.ravel() for array in arrays])


def distances(pair: Pair) -> tuple[float, dict[str, float], float]:
    """(right from left, each wrong variant from left, tolerance): the largest of all draws, relative to max |left|."""
    every, apart = evaluated(pair), np.zeros(1 + len(pair.wrong))
    for seed in range(DRAWS):
        left, *others = map(flat, every(inputs(pair, seed)))
        assert np.isfinite(left).all(), f"{pair.name}: left is not finite at seed {seed}"
        apart = np.maximum(apart, [np.abs(other - left).max() / np.abs(left).max() for other in others])
    return apart[0], dict(zip(pair.wrong, apart[1:], strict=True)), every.tolerance


def agree_as_floats(pair: Pair) -> None:
    """Left and right agree up to rounding, and no wrong variant does."""
    apart, wrong, tolerance = distances(pair)
    assert apart <= tolerance, f"seeds 0 to {DRAWS - 1}"
    alike = {name: distance for name, distance in wrong.items() if not distance > max(SEPARATION, tolerance)}
    assert not alike, f"seeds 0 to {DRAWS - 1}: not told apart from left"


@pytest.mark.parametrize("pair", one_in(24, PAIRS), ids=lambda pair: pair.name)
def test_left_equals_right_and_no_wrong_variant_does(pair):
    """A few: test_certified_pairs.py decides all of them."""
    agree_as_floats(pair)


def test_pairs_are_well_formed():
    """Float32 inputs and at least two mistakes each."""
    for pair in PAIRS:
        assert {leaf.dtype for leaf in jax.tree.leaves(pair.specs)} == {np.dtype(np.float32)}, pair.name
        assert len(pair.wrong) >= 2, pair.name


def test_names_are_unique():
    names = [pair.name for pair in PAIRS]
    assert len(set(names)) == len(names)


def test_the_table_is_as_large_as_promised():
    assert len(PAIRS) >= 60
    assert sum(len(pair.wrong) for pair in PAIRS) >= 120


def test_libraries_are_compared_where_they_are_installed():
    assert bool(libraries.PAIRS) == libraries.AVAILABLE


def test_a_right_that_is_wrong_is_noticed():
    first = PAIRS[0]
    mistaken, *_ = first.wrong.values()
    with pytest.raises(AssertionError, match="seeds 0 to 7"):
        agree_as_floats(Pair(first.name, first.left, mistaken, first.specs, first.wrong))
    with pytest.raises(AssertionError, match="not told apart from left"):
        agree_as_floats(Pair(first.name, first.left, first.right, first.specs, {"none": first.right}))
