"""Integers that networks compute and choose by, sorts of many integers, and functions of entries at all sizes."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax.extend.core import jaxpr_as_fun
from pairs.inner_integers import ENTRIES, NETWORKS, NEVER, PAIRS, SORTS
from pairs.pair import f32

import uat_jax as uj
from uat_jax.decide import whole_inputs
from uat_jax.decide.domain import REALS, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.equivalence import Pair
from uat_jax.decide.inner_integers import inner_integers
from uat_jax.decide.integers import all_of
from uat_jax.decide.ordered_integers import as_real_numbers
from uat_jax.decide.verdict import Verdict
from uat_jax.interpret.inlining import inlined

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
WRONG = [(f"{pair.name}: {name}", pair.left, wrong, pair.specs) for pair in PAIRS for name, wrong in pair.wrong.items()]


@pytest.mark.parametrize("pair", one_in(4, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_are_equal(pair, tmp_path):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=120.0)
    assert found.verdict in PASSING, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is found.verdict


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(5, WRONG))
def test_a_mistake_is_refuted(name, left, right, specs):
    found = uj.certify(left, right, *specs, budget=120.0)
    assert found.verdict is Verdict.REFUTED, found


@pytest.mark.parametrize("name", one_in(4, NEVER))
def test_what_differs_somewhere_is_never_certified(name, monkeypatch):
    monkeypatch.setattr(whole_inputs, "MOST_INPUTS", 0)
    monkeypatch.setattr(whole_inputs, "MOST_CHOICES", 0)
    left, right, *specs = NEVER[name]
    found = uj.certify(left, right, *specs, budget=15.0)
    assert found.verdict not in PASSING, found


def programs_of(left, right, specs):
    """Both programs without calls, and what their inputs range over."""
    plain = [jax.ShapeDtypeStruct(leaf.shape, leaf.dtype) for leaf in specs]
    of = lambda leaf: REALS if jnp.issubdtype(leaf.dtype, jnp.inexact) else all_of(leaf.dtype)
    domains = Domains(tuple(getattr(leaf, "domain", of(leaf)) for leaf in specs))
    return *(inlined(jax.make_jaxpr(side)(*plain)) for side in (left, right)), domains


@pytest.mark.parametrize(
    "pair", [p for p in NETWORKS if p.name != "greedy decoding, three steps"], ids=lambda p: p.name
)
def test_programs_of_integers_in_between_compute_the_same(pair):
    """With the values of the first steps for the letters of the next ones."""
    left, right, domains = programs_of(pair.left, pair.right, pair.specs)
    found = inner_integers(left, right, domains, 0, Effort().deadline)
    assert found is not None
    random = np.random.default_rng(7)
    inputs = [random.normal(size=leaf.shape).astype(np.float32) for leaf in pair.specs]
    for side, program in enumerate((left, right)):
        letters = []
        for (programs, _), rank in zip(found.steps(), [*found.letters, ()], strict=True):
            values = jaxpr_as_fun(programs[side])(*inputs, *letters)
            for letter, x in zip(rank, values, strict=False):
                v: Any = letter.first
                letters.append(np.asarray(x).reshape(v.aval.shape).astype(v.aval.dtype))
                bounds = list(found.steps())[-1][1][len(inputs) + len(letters) - 1]
                assert bounds.low <= np.min(letters[-1]) and np.max(letters[-1]) <= bounds.high
        expected = jaxpr_as_fun(program)(*inputs)
        for a, b in zip(values, expected, strict=True):
            assert np.allclose(a, b, rtol=1e-4, atol=1e-4)  # one program, compiled twice: a few roundings of float32


@pytest.mark.parametrize("pair", SORTS, ids=lambda pair: pair.name)
def test_programs_of_real_numbers_have_the_values_at_integers(pair):
    left, right, domains = programs_of(pair.left, pair.right, pair.specs)
    real = as_real_numbers(Pair({}, left, right, domains))
    assert real is not None
    random = np.random.default_rng(3)
    for given, program in ((left, real.left), (right, real.right)):
        for count in (2, 1000):
            of = lambda leaf, count=count: (
                random.integers(0, min(count, 99), leaf.shape)
                if jnp.issubdtype(leaf.dtype, jnp.integer)
                else random.normal(size=leaf.shape)
            )
            inputs = [np.asarray(of(leaf)) for leaf in pair.specs]
            with jax.enable_x64(True):
                cast = lambda program, inputs=inputs: [
                    np.asarray(x, v.aval.dtype) for x, v in zip(inputs, program.jaxpr.invars, strict=True)
                ]
                values = [np.asarray(x) for x in jaxpr_as_fun(given)(*cast(given))]
                reals = [np.asarray(x) for x in jaxpr_as_fun(program)(*cast(program))]
            for a, b in zip(values, reals, strict=True):
                assert np.array_equal(a, b)


def test_what_is_assumed_is_listed():
    pair = ENTRIES[0]
    found = uj.certify(pair.left, pair.right, *pair.specs)
    assert any("z3" in str(assumption) or "solver" in str(assumption) for assumption in found.assumptions)


def test_a_place_and_its_number_need_not_be_cut_apart():
    """The number at the place of the largest is the largest, and what is chosen by the place is chosen besides."""
    largest = lambda x, t: (jnp.max(x), t[jnp.argmax(x)])
    read = lambda x, t: (x[jnp.argmax(x)], jnp.take(t, jnp.argsort(-x)[0], axis=0))
    assert uj.certify(largest, read, f32(5), f32(5, 2)).verdict in PASSING
