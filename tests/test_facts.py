"""Facts of arrays: what implies what, so that what was proved with fewer facts may be used where more is known."""

from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest

from uat_jax.arithmetic.facts import Defined, Facts, Nature, of_inputs

SOME = np.array([True, False])

LESS = Facts(
    Nature.PIECEWISE, Defined.PARTLY, True, SOME & False, SOME & False, SOME & False, guarded=True, letters_only=False
)
"""Nothing is known of two entries."""

MORE = {
    "nature": Nature.QUOTIENT,
    "defined": Defined.ALMOST,
    "hollow": False,
    "positive": SOME,
    "negative": SOME,
    "thin": SOME,
    "guarded": False,
    "letters_only": True,
}
"""Of each field, what says more than `LESS` says."""


def test_the_table_has_every_field():
    assert {f.name for f in fields(Facts)} == set(MORE)


@pytest.mark.parametrize("name", MORE)
def test_facts_that_say_more_imply_those_that_say_less_and_are_not_implied_by_them(name):
    more = replace(LESS, **{name: MORE[name]})
    assert LESS.implies(LESS) and more.implies(more)
    assert more.implies(LESS)
    assert not LESS.implies(more)
    assert more.key != LESS.key and more.key == replace(LESS, **{name: MORE[name]}).key


def test_where_a_number_is_defined_almost_everywhere_nothing_need_be_known_of_its_letters():
    """Letters matter only to what is undefined for inputs of positive measure."""
    letters = replace(LESS, letters_only=True)
    assert replace(LESS, defined=Defined.ALMOST).implies(letters)
    assert not LESS.implies(letters)


def test_facts_of_arrays_of_other_shapes_are_other_facts():
    assert of_inputs((2, 1)).key != of_inputs((1, 2)).key
