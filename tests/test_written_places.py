"""Integers that say where and how far, by the truth values of k <= i; sorts and counts of words: pairs, mistakes, attacks."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.extend.core import jaxpr_as_fun
from pairs.written_places import NEVER, PAIRS

import uat_jax as uj
from uat_jax.arithmetic.inlining import inlined
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.integers import Integers, all_of
from uat_jax.decide.unary import unary_pairs
from uat_jax.decide.verdict import Verdict

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
WRONG = [(f"{pair.name}: {name}", pair.left, wrong, pair.specs) for pair in PAIRS for name, wrong in pair.wrong.items()]


@pytest.mark.parametrize("pair", one_in(5, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_are_equal_for_all_integers(pair, tmp_path):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict in PASSING, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is found.verdict


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(9, WRONG))
def test_a_mistake_is_refuted(name, left, right, specs):
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict is Verdict.REFUTED, found


@pytest.mark.parametrize("name", one_in(6, NEVER))
def test_what_differs_at_some_integers_is_never_certified(name):
    left, right, *specs = NEVER[name]
    found = uj.certify(left, right, *specs, budget=60.0)
    assert found.verdict not in PASSING, found


def programs_of(left, right, specs):
    """Both programs, and what their inputs range over."""
    leaves, tree = jax.tree.flatten(specs)
    plain = jax.tree.unflatten(tree, [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in leaves])
    domains = Domains(
        tuple(
            getattr(leaf, "domain", REALS if jnp.issubdtype(leaf.dtype, jnp.inexact) else all_of(leaf.dtype))
            for leaf in leaves
        )
    )
    return *(inlined(jax.make_jaxpr(side)(*plain)) for side in (left, right)), domains


def at(domain, leaf, random, end):
    """Values of an input: integers next to an end of their range, or any."""
    if not isinstance(domain, Integers):
        return random.normal(size=leaf.shape).astype(leaf.dtype)
    low, high = domain.low, domain.high
    near = (low, high, random.integers(low, high, endpoint=True))[end]
    entries = np.clip(near + random.integers(-1, 2, size=leaf.shape), low, high)
    return np.asarray(entries).astype(leaf.dtype)


ANY = {
    **{f"pair {pair.name}": (pair.left, pair.right, *pair.specs) for pair in PAIRS if pair.name != "twelve heads and a length"},
    **NEVER,
}


@pytest.mark.parametrize("name", one_in(4, ANY))
def test_truth_values_of_an_integer_give_what_the_integer_gives(name):
    left, right, *specs = ANY[name]
    *programs, domains = programs_of(left, right, specs)
    random = np.random.default_rng(0)
    for pair in unary_pairs(*programs, domains):
        *others, _, thresholds = pair.programs()
        for end in (0, 1, 2, 2):
            point = [at(of, leaf, random, end) for of, leaf in zip(domains.of, programs[0].in_avals, strict=True)]
            letters = [int(x) for i in pair.letters for x in point[i].ravel()]
            rest = [x for i, x in enumerate(point) if i not in pair.letters]
            for program, other in zip((pair.left, pair.right), others, strict=True):
                wanted = jaxpr_as_fun(program)(*point)
                for x, y in zip(wanted, jaxpr_as_fun(other)(*rest, *thresholds.at(letters)), strict=True):
                    np.testing.assert_allclose(np.asarray(y, float), np.asarray(x, float), rtol=1e-5, atol=1e-5, err_msg=f"{point}")
