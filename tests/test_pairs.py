"""The table of pairs is what it says: left and right agree as floats, and every wrong variant parts from left."""

import jax
import numpy as np
import pytest
from excerpt import one_in
from pairs import PAIRS, modules
from pairs.agreement import agree_as_floats
from pairs.pair import Pair


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


def test_modules_are_compared_where_they_are_installed():
    assert bool(modules.PAIRS) == modules.AVAILABLE


def test_a_right_that_is_wrong_is_noticed():
    first = PAIRS[0]
    mistaken, *_ = first.wrong.values()
    with pytest.raises(AssertionError, match="seeds 0 to 7"):
        agree_as_floats(Pair(first.name, first.left, mistaken, first.specs, first.wrong))
    with pytest.raises(AssertionError, match="not told apart from left"):
        agree_as_floats(Pair(first.name, first.left, first.right, first.specs, {"none": first.right}))
