"""What is left without a layer, in three ways, and the bounds between them."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator, normal

import uat_jax.decomposition as dc
from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition.operators import Diagonal, Identity, Mixing, OnFeatures, Operator, Scaling
from uat_jax.decomposition.removal import bound, size
from uat_jax.errors import InputError

TOKENS = jnp.array([2, 0])


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


@pytest.mark.parametrize("name", one_in(2, ["Llama", "BERT"]))
def test_subtracting_is_what_it_says(random, name):
    """The term of layer 1 of two goes on through layer 2; behind the last layer nothing is left to be frozen."""

    def found(model):
        first, last = (dc.removal(model, TOKENS, k) for k in (1, 2))
        return first.subtracted, last.subtracted, last.frozen, first.rerun

    def wanted(model):
        x, terms = model.hidden(TOKENS), dc.terms(model, TOKENS)
        return x - terms[2], x - terms[3], x - terms[3], dc.without_activation(model, 1).hidden(TOKENS)

    assert verdict(found, wanted, FAMILIES[name].draw(random)) is Verdict.CERTIFIED


@pytest.mark.campaign
def test_the_frozen_network_is_neither_of_the_other_two(random):
    model, of = FAMILIES["GPT-2"].draw(random), lambda m: dc.removal(m, TOKENS, 1)
    for other in (lambda m: of(m).subtracted, lambda m: of(m).rerun):
        assert verdict(lambda m: of(m).frozen, other, model) is Verdict.REFUTED


def test_a_model_without_a_layer_or_its_activation(random):
    """A block with W_O = b_O = 0 and W_2 = b_2 = 0 is the identity: leaving it out changes nothing."""
    model = FAMILIES["GPT-2"].draw(random)
    block = model.blocks[0]
    zero = lambda part, *fields: part._replace(**{f: jnp.zeros_like(getattr(part, f)) for f in fields})
    attention = zero(block.attention, "output", "output_bias")
    idle = block._replace(attention=attention, feed_forward=zero(block.feed_forward, "project", "project_bias"))
    run = jax.jit(lambda m: m.hidden(TOKENS))
    with_idle = run(dataclasses.replace(model, blocks=(idle, *model.blocks[1:])))
    assert (
        verdict(lambda m: dc.without_layer(m, 1).hidden(TOKENS), lambda m: m.hidden(TOKENS), model) is Verdict.REFUTED
    )
    assert np.array_equal(with_idle, run(dc.without_layer(model, 1)))
    assert len(dc.without_layer(model, 2).blocks) == 1
    silent = jax.jit(lambda m: dc.terms(m, TOKENS))(dc.without_activation(model, 2))
    assert (silent[3] == 0).all() and (silent[2] != 0).any()


def test_layers_that_there_are_not_are_refused(random):
    model = FAMILIES["BERT"].draw(random)
    for asked in (dc.without_layer, dc.without_activation, lambda m, k: dc.removal_bounds(m, TOKENS, k, lipschitz=1)):
        for layer in (0, 3):
            with pytest.raises(InputError, match=f"got layer {layer}, wanted 1 to 2"):
                asked(model, layer)


@pytest.mark.parametrize("name", one_in(3, ["GPT-2", "BERT", "Llama"]))
def test_bounds_of_removal_hold(random, name):
    """In float64, by a margin that no rounding of these small networks reaches; λ = 0 gives bounds that fail."""

    @jax.jit
    def distances_and_bounds(model):
        removed, x = dc.removal(model, TOKENS, 1), model.hidden(TOKENS)
        distances = size(x - removed.frozen), size(removed.subtracted - removed.frozen)
        return distances, *(dc.removal_bounds(model, TOKENS, 1, lipschitz=constant) for constant in (1.2, 0.0))

    with jax.enable_x64(True):
        models = [jax.tree.map(np.float64, FAMILIES[name].draw(random)) for _ in range(16)]
        found = jax.device_get([distances_and_bounds(model) for model in models])
    for distances, bounds, _ in found:
        assert all(d <= b * (1 + 1e-12) for d, b in zip(distances, bounds, strict=True))
    assert any(distances[1] > wrong.difference for distances, _, wrong in found)


def operators_of(random) -> dict[str, Operator]:
    """One of every kind, on arrays (2, 4)."""
    mixing = Mixing(normal(random, 4, 2, 2), normal(random, 2, 4, 3), normal(random, 4, 3, 4))
    scaling = Scaling(jnp.abs(normal(random, 2)), normal(random, 4), True)
    diagonal, wide = Diagonal(normal(random, 2, 4)), OnFeatures(normal(random, 4, 6), 2)
    identity = Identity(jnp.zeros((2, 4), jnp.float32))
    single = {"mixing": mixing, "scaling": scaling, "diagonal": diagonal, "features": wide, "identity": identity}
    return single | {"product": wide @ mixing @ scaling, "sum": identity + mixing}


@pytest.mark.parametrize("name", ["mixing", "scaling", "diagonal", "features", "identity", "product", "sum"])
def test_bounds_of_operators_hold(random, name):
    """‖F(X)‖ ≤ bound · ‖X‖ up to float32's rounding; of one factor, a bound smaller by a third is passed."""
    operator = operators_of(random)[name]
    X = normal(random, 4096, 2, 4)
    X = X / jnp.sqrt(jnp.sum(X * X, axis=-1, keepdims=True))
    most = max(float(size(image)) for image in np.asarray(jax.jit(type(operator).__call__)(operator, X)))
    assert most <= float(bound(operator)) * (1 + 1e-5)
    if name in ("diagonal", "features", "identity"):
        assert most > float(bound(operator)) * 2 / 3
