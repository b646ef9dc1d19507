"""What people write around a model, with integers and truth values as variables: equal, refuted, never certified."""

import jax
import pytest
from excerpt import one_in
from pairs.glue import ALL_SIZES, NEVER, PAIRS

import uat_jax as uj
from uat_jax.decide.verdict import Verdict

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)


def mistakes(pairs):
    """Every pair with each of its mistakes."""
    return [(f"{p.name}: {name}", p.left, wrong, p.specs) for p in pairs for name, wrong in p.wrong.items()]


@pytest.mark.parametrize("pair", one_in(8, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_are_equal(pair, tmp_path):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict in PASSING, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is found.verdict


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(12, mistakes([*PAIRS[8:], *ALL_SIZES])))
def test_a_mistake_is_refuted(name, left, right, specs, tmp_path):
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict is Verdict.REFUTED, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is Verdict.REFUTED


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "left", "right", "specs"), mistakes(PAIRS[:8]))
def test_a_mistake_in_a_loss_is_refuted(name, left, right, specs):
    assert uj.certify(left, right, *specs, budget=300.0).verdict is Verdict.REFUTED


@pytest.mark.parametrize("pair", one_in(3, ALL_SIZES), ids=lambda pair: pair.name)
def test_two_writings_are_equal_at_all_sizes(pair, tmp_path):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict is Verdict.PROVED and "all sizes" in found.evidence[0].finding, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is Verdict.PROVED


@pytest.mark.parametrize("name", one_in(8, NEVER))
def test_what_differs_is_never_certified(name):
    left, right, *specs = NEVER[name]
    found = uj.certify(left, right, *specs, budget=60.0)
    assert found.verdict not in PASSING, found


def test_a_range_that_is_not_given_is_not_read_off_an_axis_of_any_length():
    found = uj.certify(
        *EMBEDDED, jax.ShapeDtypeStruct(jax.export.symbolic_shape("v, 2"), "float32"), WORDS, budget=60.0
    )
    assert found.verdict not in PASSING, found


EMBEDDED = (lambda e, i: e[i], lambda e, i: e[jax.numpy.minimum(i, 5)])
WORDS = jax.ShapeDtypeStruct((3,), "int32")
