"""Of large programs that differ in one part only that part is compared, and only if all else is sure to be defined."""

from __future__ import annotations

import itertools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide.domain import EVERYWHERE
from uat_jax.decide.effort import Effort
from uat_jax.decide.pieces_evidence import difference_evidence

ROW, LAYERS = jax.ShapeDtypeStruct((3,), np.float32), 16
WEIGHTS = [ROW] * LAYERS
TWO = np.float32(2)


def plain(x, w):
    """A layer of a dozen equations that is defined for all inputs, and decides by its input."""
    y = jnp.maximum(x * w, np.float32(0)) + jnp.tanh(x + w)
    return x + jnp.sin(y) / (1 + x * x) + jnp.cos(jnp.tanh(-y * y) * w)


def rewritten(x, w):
    """The same in another order."""
    y = jnp.tanh(w + x) + jnp.maximum(np.float32(0), w * x)
    return jnp.cos(w * jnp.tanh(-(y * y))) + (x + jnp.sin(y) / (x * x + 1))


def wrong(x, w):
    """`rewritten` with a weight that is off by 2^-20."""
    return rewritten(x, w * np.float32(1 + 2.0**-20))


def network(changed, at=7, *, before=lambda x: x, behind=lambda x: x, cut=lambda x: x):
    """Layers, one of which is changed; functions before all of them, behind all of them, and behind the changed one."""

    def apply(weights, x):
        x = before(x)
        for i, w in enumerate(weights):
            x = cut(changed(x, w)) if i == at else plain(x, w)
        return behind(x)

    return apply


def found(left, right):
    programs = [jax.make_jaxpr(f)(WEIGHTS, ROW) for f in (left, right)]
    return difference_evidence(programs[0], programs[1], Effort(), EVERYWHERE)


@pytest.mark.parametrize("at", one_in(2, [7, 0, LAYERS - 1]))
def test_the_part_that_differs_is_compared_alone(at, tmp_path):
    evidence = found(network(plain, at), network(rewritten, at))
    assert evidence is not None and "the same on both sides" in evidence.finding
    certificate = uj.certify(network(plain, at), network(rewritten, at), WEIGHTS, ROW)
    assert certificate.verdict == uj.Verdict.CERTIFIED
    again = uj.recheck(uj.load(certificate.save(tmp_path / "c.json")))
    assert again.verdict == uj.Verdict.CERTIFIED


@pytest.mark.parametrize("at", [7, 0, LAYERS - 1])
def test_a_mistake_in_it_is_seen(at):
    assert found(network(plain, at), network(wrong, at)) is None


@pytest.mark.campaign
@pytest.mark.parametrize("at", [7, 0, LAYERS - 1])
def test_a_mistake_in_it_is_refuted(at):
    certificate = uj.certify(network(plain, at), network(wrong, at), WEIGHTS, ROW)
    assert certificate.verdict == uj.Verdict.REFUTED


def test_another_order_of_weights_or_another_layer_behind_is_seen():
    """What is the same but for an input, a constant or a parameter is not the same."""
    swapped = lambda weights, x: network(rewritten)([*weights[:10], weights[11], weights[10], *weights[12:]], x)
    other = lambda weights, x: network(rewritten, behind=lambda x: x * TWO)(weights, x)
    flipped = lambda axis: network(plain, behind=lambda x: jnp.flip(jnp.outer(x, x), axis).sum(0))
    for right in (swapped, other):
        assert found(network(plain), right) is None
    assert found(flipped(0), flipped(1)) is None


PARTLY = {
    "log": jnp.log,
    "sqrt": jnp.sqrt,
    "a quotient": lambda x: 1 / (x - TWO),
    "a quotient by relu": lambda x: 1 / jnp.maximum(x, np.float32(0)),
    "arcsin": jnp.arcsin,
}
CAUGHT = {
    "isnan": lambda x: jnp.where(jnp.isnan(x), TWO, x),
    "not equal": lambda x: jnp.where(x != x, TWO, x),
    "a comparison": lambda x: jnp.where(x > -9, x, TWO),
}


@pytest.mark.parametrize(("catch", "name"), one_in(4, itertools.product(CAUGHT, PARTLY)))
def test_what_may_be_undefined_is_left_to_the_whole(name, catch):
    """What is undefined on one side alone may be caught behind the part, and what is so before it inside of it."""
    partly, caught = PARTLY[name], CAUGHT[catch]
    inside = [network(lambda x, w, f=f: partly(f(x, w)), behind=caught) for f in (plain, rewritten)]
    early = [network(lambda x, w, f=f: caught(f(x, w)), before=partly) for f in (plain, rewritten)]
    late = [network(f, behind=lambda x: caught(partly(x))) for f in (plain, rewritten)]
    for left, right in (inside, early, late):
        assert found(left, right) is None


def test_defined_on_one_side_alone_and_caught_is_not_equal():
    """x and exp(log x) are equal where both are defined; where the latter is not, it is caught by what both share."""
    left, right = (network(f, behind=CAUGHT["isnan"]) for f in (lambda x, w: x, lambda x, w: jnp.exp(jnp.log(x))))
    assert found(left, right) is None
    assert not uj.certify(left, right, WEIGHTS, ROW, budget=5).passes


def test_a_skip_around_the_part_is_followed():
    """An array from before the part that is needed behind it is the same on both sides, and seen to be."""

    def skipping(changed, factor):
        def apply(weights, x):
            early = None
            for i, w in enumerate(weights):
                early = x if i == 3 else early
                x = changed(x, w) if i == 7 else plain(x, w)
                x = x + factor * early if i == 10 else x
            return x

        return apply

    assert uj.certify(skipping(plain, TWO), skipping(rewritten, TWO), WEIGHTS, ROW).passes
    assert found(skipping(plain, TWO), skipping(rewritten, np.float32(3))) is None


def test_two_parts_that_differ_are_one():
    both = lambda f: lambda weights, x: network(f, 7)(weights[:12], network(f, 3)(weights, x))
    assert uj.certify(both(plain), both(rewritten), WEIGHTS, ROW).passes
    assert found(both(plain), both(wrong)) is None
