"""A term, a head or a token ablated or patched: the network run again, the frozen one, and the bound."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator

import uat_jax.decomposition as dc
from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition import interventions
from uat_jax.decomposition.removal import size
from uat_jax.errors import InputError, ShapeError

TOKENS, OTHERS = jnp.array([2, 0]), jnp.array([1, 2])


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


def without_head(model, layer, head):
    """With its W_O zero, which takes its value bias along."""
    block = model.blocks[layer - 1]
    output = block.attention.output.at[head - 1].set(0)
    block = block._replace(attention=block.attention._replace(output=output))
    return dataclasses.replace(model, blocks=(*model.blocks[: layer - 1], block, *model.blocks[layer:]))


@pytest.mark.parametrize("name", one_in(3, ["two groups", "Llama", "GPT-2"]))
def test_an_ablated_head_is_one_without_its_output(random, name):
    model, head = FAMILIES[name].draw(random), FAMILIES[name].heads
    found = lambda m: dc.intervene(m, TOKENS, f"layer 1 head {head}").rerun
    assert verdict(found, lambda m: without_head(m, 1, head).hidden(TOKENS), model) is Verdict.CERTIFIED
    assert verdict(found, lambda m: without_head(m, 2, head).hidden(TOKENS), model) is Verdict.REFUTED


@pytest.mark.parametrize("name", one_in(2, ["BERT", "GPT-2"]))
def test_an_ablated_term_is_the_removed_one(random, name):
    model = FAMILIES[name].draw(random)

    def found(m):
        of = dc.intervene(m, TOKENS, "layer 1")
        return of.before, of.rerun, of.frozen

    def wanted(m):
        of = dc.removal(m, TOKENS, 1)
        return m.hidden(TOKENS), of.rerun, of.frozen

    assert verdict(found, wanted, model) is Verdict.CERTIFIED
    assert verdict(found, lambda m: (wanted(m)[0], *wanted(m)[:0:-1]), model) is Verdict.REFUTED


@pytest.mark.parametrize("name", one_in(2, ["GPT-2", "BERT"]))
def test_a_patched_token_is_that_of_the_other_text(random, name):
    """It is the text with this token replaced; patching what was there already changes nothing."""
    model = FAMILIES[name].draw(random)
    found = lambda m: dc.intervene(m, TOKENS, "token 1", m.embed(OTHERS)[1]).rerun
    assert verdict(found, lambda m: m.hidden(jnp.array([2, 2])), model) is Verdict.CERTIFIED
    assert verdict(found, lambda m: m.hidden(jnp.array([1, 0])), model) is Verdict.REFUTED
    same = lambda m: dc.intervene(
        m, TOKENS, "layer 2 head 1", jnp.asarray(dc.activations(m, TOKENS).layers[1].heads)[0]
    )
    both = lambda m: (same(m).rerun, same(m).frozen)
    assert verdict(both, lambda m: (m.hidden(TOKENS),) * 2, model) is Verdict.CERTIFIED


PLACES = ("layer 1", "layer 2 head 1", "token 0")


@pytest.mark.parametrize("name", one_in(4, ["GPT-2", "two groups", "Llama", "BERT"]))
def test_bounds_hold_for_the_frozen_network(random, name):
    """In float64, by a margin that no rounding of these small networks reaches.

    λ = 0 gives bounds that fail where a head's change meets no norm but the feed-forward network's.
    """

    @jax.jit
    def distances(model):
        of = [dc.intervene(model, TOKENS, place, lipschitz=lipschitz) for place in PLACES for lipschitz in (1.2, 0.0)]
        return [(size(each.before - each.frozen), each.bound) for each in of]

    with jax.enable_x64(True):
        models = [jax.tree.map(np.float64, FAMILIES[name].draw(random, hidden=3)) for _ in range(12)]
        found = jax.device_get([distances(model) for model in models])
    assert all(d <= b * (1 + 1e-12) for each in found for d, b in each[::2])
    assert FAMILIES[name].kind == "post-norm" or any(d > b for each in found for d, b in each[1::2])


def test_what_the_activations_are(random):
    """States, patterns and heads as the model computes them; what a layer adds leads from one state to the next."""
    model = FAMILIES["two groups"].draw(random)
    gpt = FAMILIES["GPT-2"].draw(random)

    def found(m):
        of = dc.activations(m, TOKENS)
        x, (layer, *_) = of.states[0], of.layers
        return of.states, x + jnp.asarray(layer.attention) + layer.term + m.blocks[0].feed_forward.project_bias[None]

    assert verdict(found, lambda m: (m.states(TOKENS), m.states(TOKENS)[1]), gpt) is Verdict.CERTIFIED
    assert verdict(found, lambda m: (m.states(TOKENS), m.states(TOKENS)[2]), gpt) is Verdict.REFUTED
    of = jax.jit(dc.activations)(model, TOKENS)
    assert of.layers[0].patterns.shape == (2, 2, 2) and of.layers[0].heads.shape == (2, 2, 1)
    assert np.allclose(of.layers[1].patterns.sum(-1), 1, rtol=2.0**-20)  # two roundings of a softmax of two


def test_the_lens_ends_at_the_logits(random):
    model = FAMILIES["Llama"].draw(random)
    found = jax.jit(lambda m: dc.logit_lens(m, TOKENS, top=3))(model)
    assert found.words.shape == (3, 2, 3)
    logits = np.asarray(jax.jit(type(model).__call__)(model, TOKENS))
    assert np.array_equal(np.asarray(found.words)[-1, :, 0], logits.argmax(-1))
    first = np.asarray(model.output(model.embed(TOKENS)))
    # the same operations in another program: one rounding of at most 2⁻²³ of the largest for each of 100
    assert np.abs(np.sort(first)[:, ::-1] - np.asarray(found.logits)[0]).max() <= 100 * 2.0**-23 * np.abs(first).max()
    for wrong, message in ((0, "got top = 0, wanted 1 to 3"), (4, "got top = 4")):
        with pytest.raises(InputError, match=message):
            dc.logit_lens(model, TOKENS, top=wrong)
    with pytest.raises(InputError, match="without unembedding"):
        dc.logit_lens(FAMILIES["BERT"].draw(random), TOKENS)


WRONG = {
    "layer 3": "got 'layer 3', wanted layer 1 to 2",
    "layer 0": "got 'layer 0', wanted layer 1 to 2",
    "layer 1 head 3": "got 'layer 1 head 3', wanted head 1 to 2 of layer 1",
    "token 2": "got 'token 2', wanted token 0 to 1",
    "head 1": 'wanted "layer 2", "layer 2 head 3" or "token 4"',
    "layer １": 'wanted "layer 2", "layer 2 head 3" or "token 4"',
    "": 'wanted "layer 2"',
}


@pytest.mark.parametrize("place", WRONG)
def test_places_that_there_are_not(random, place):
    with pytest.raises(InputError, match=WRONG[place]):
        dc.intervene(FAMILIES["two groups"].draw(random), TOKENS, place)


def test_values_of_another_shape(random):
    with pytest.raises(ShapeError, match=r"got a value of shape \(2,\) for 'layer 1', wanted \(2, 2\)"):
        jax.eval_shape(lambda m: dc.intervene(m, TOKENS, "layer 1", jnp.zeros(2)), FAMILIES["two groups"].draw(random))


@pytest.mark.campaign
def test_the_change_of_an_output_is_exact(random, monkeypatch):
    """What the network gives after minus before; a replacement in another layer is told apart."""
    model = FAMILIES["GPT-2"].draw(random)
    output = dc.Logit(-1, 1)
    found = lambda m: dc.intervene(m, TOKENS, "layer 1 head 1").change(m, output)
    wanted = lambda m: without_head(m, 1, 1)(TOKENS)[-1, 1] - m(TOKENS)[-1, 1]
    assert verdict(found, wanted, model) is Verdict.CERTIFIED
    right = interventions._Replacing.attention
    later = lambda self, inner, attention, options, layer: right(self, inner, attention, options, 3 - layer)
    monkeypatch.setattr(interventions._Replacing, "attention", later)
    assert verdict(found, wanted, model) is Verdict.REFUTED
