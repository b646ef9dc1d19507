"""Facts of arrays: what implies what, so that what was proved with fewer facts may be used where more is known."""

from __future__ import annotations

from dataclasses import fields, replace

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax.numbers.prime_fields import fact_rules
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature, of_inputs

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


@pytest.mark.parametrize("which", ["positive", "thin"])
def test_a_term_says_nothing_of_a_sum_under_a_condition(which):
    """The other term may be the condition itself, or minus this one: 1 + 1[x > 0] is known where x > 0 only."""
    equation = jax.make_jaxpr(jnp.add)(np.float32(0), np.float32(0)).eqns[0]
    term = replace(of_inputs((), positive=True), guarded=False)
    numbers = [np.float32(1), np.float32(2)]  # not negative
    known = getattr(fact_rules, which.upper())["add"]
    assert known(equation, numbers, [term, term])
    assert not np.any(known(equation, numbers, [term, replace(term, guarded=True)]))
