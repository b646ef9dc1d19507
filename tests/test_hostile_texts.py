"""Functions of token ids that differ at a text are not certified; the text is run on the device."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from pairs.hostile_texts import ATTACKS

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)


@pytest.fixture(autouse=True)
def _promotion():
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):
        yield


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
def test_the_sides_of_an_attack_differ_at_its_text(attack):
    left, right = (np.asarray(f(*attack.inputs()), np.float64) for f in (attack.left, attack.right))
    assert left.shape == right.shape
    assert not np.allclose(left, right, rtol=1e-4, atol=1e-6, equal_nan=True)


@pytest.mark.parametrize("attack", one_in(5, ATTACKS), ids=lambda attack: attack.name)
def test_an_attack_is_not_certified(attack):
    found = uj.certify(attack.left, attack.right, *attack.specs, budget=20.0)
    assert found.verdict not in PASSING, found
