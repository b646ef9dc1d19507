"""Integers that choose rows of tables and are compared, as letters: models of texts, attacks on what is concluded."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from pairs.texts import ALMOST, NEVER, PAIRS

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
WRONG = [(f"{pair.name}: {name}", pair.left, wrong, pair.specs) for pair in PAIRS for name, wrong in pair.wrong.items()]


@pytest.mark.parametrize("pair", one_in(9, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_of_a_model_are_equal_for_every_text(pair):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict in PASSING, found


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(36, WRONG))
def test_a_mistake_is_refuted_by_a_text(name, left, right, specs, tmp_path):
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict is Verdict.REFUTED, found
    example = found.counterexample
    assert example is not None
    arrays = jax.tree.unflatten(jax.tree.structure(specs), list(map(jnp.asarray, example.arrays)))
    sides = [jax.tree.leaves(f(*arrays)) for f in (left, right)]
    place = example.output, tuple(example.entry)
    assert not np.allclose(sides[0][place[0]][place[1]], sides[1][place[0]][place[1]], rtol=1e-5, atol=0)
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is Verdict.REFUTED


@pytest.mark.parametrize("name", one_in(6, NEVER))
def test_what_differs_for_some_text_is_never_certified(name):
    left, right, *specs = NEVER[name]
    found = uj.certify(left, right, *specs, budget=60.0)
    assert found.verdict not in PASSING, found


@pytest.mark.parametrize("name", ALMOST)
def test_what_holds_for_almost_all_rows_is_not_taken_to_hold_for_equal_ones(name):
    left, right, *specs = ALMOST[name]
    assert uj.certify(left, right, *specs, budget=60.0, almost_everywhere=True).verdict not in PASSING
