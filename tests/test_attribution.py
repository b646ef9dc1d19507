"""Contributions add up to the output and are those of the terms."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator

import uat_jax.decomposition as dc
from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError
from uat_jax.networks.norms import normalise

TOKENS, OTHERS = jnp.array([2, 0]), jnp.array([1, 1, 0])


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


# --- one output ---------------------------------------------------------------------------------------------

OUTPUTS = {
    "GPT-2": (dc.Logit(-1, 1), lambda y: y[-1, 1]),
    "Llama": (dc.Logit(0, 2), lambda y: y[0, 2]),
    "BERT": (dc.Coordinate(1, 0), lambda y: y[1, 0]),
    "experts": (dc.Coordinate(-1, -1), lambda y: y[-1, -1]),
}


@pytest.mark.parametrize("name", one_in(4, OUTPUTS))
def test_contributions_add_up_to_the_output(random, name):
    output, plain = OUTPUTS[name]
    left = lambda m: dc.contributions(m, TOKENS, output).sum()
    assert verdict(left, lambda m: plain(m(TOKENS)), FAMILIES[name].draw(random)) is Verdict.CERTIFIED


@pytest.mark.parametrize("name", ["BERT"])
def test_contributions_are_entries_of_the_terms(random, name):
    """Those of a source, over all its tokens, and those of the input, token by token."""
    output = dc.Coordinate(1, 0)

    def wanted(model):
        return dc.terms(model, TOKENS)[:, 1, 0], dc.features_by_token(model, TOKENS)[:-1, 1, 0]

    def found(model):
        contributions = dc.contributions(model, TOKENS, output)
        return contributions.sum(1), contributions[0]

    model = FAMILIES[name].draw(random, depth=1)
    assert verdict(found, wanted, model) is Verdict.CERTIFIED
    assert verdict(found, lambda m: (wanted(m)[0][::-1], wanted(m)[1]), model) is Verdict.REFUTED


def test_no_contribution_comes_from_later_tokens(random):
    """In a causal model, to the first token; without the mask there is one."""
    model = FAMILIES["GPT-2"].draw(random)
    of = jax.jit(lambda m: dc.contributions(m, TOKENS, dc.Logit(0, 1)))
    assert (of(model)[:, 1] == 0).all() and (of(model)[:, 0] != 0).any()
    seen = dataclasses.replace(model, architecture=dataclasses.replace(model.architecture, causal=False))
    assert (of(seen)[:, 1] != 0).any()


def test_an_attribution_knows_its_output(random):
    model = FAMILIES["GPT-2"].draw(random)
    found = jax.eval_shape(lambda m: dc.attribute(m, TOKENS, dc.Logit(1, 2)), model)
    assert found.names == ("input", "bias", "layer 1", "layer 2") and found.contributions.shape == (4, 2)
    both = lambda m: (dc.attribute(m, TOKENS, dc.Logit(1, 2)).output, dc.attribute(m, TOKENS, dc.Logit(1, 2)).total)
    assert verdict(both, lambda m: (m(TOKENS)[1, 2],) * 2, model) is Verdict.CERTIFIED


BAD_OUTPUTS = {
    "got word 3, wanted": ("GPT-2", dc.Logit(0, 3)),
    "got token 2, wanted": ("GPT-2", dc.Logit(2, 0)),
    "got feature -3, wanted": ("BERT", dc.Coordinate(0, -3)),
    "without unembedding": ("BERT", dc.Logit(0, 0)),
}


@pytest.mark.parametrize("message", BAD_OUTPUTS)
def test_outputs_that_there_are_not_are_refused(random, message):
    name, output = BAD_OUTPUTS[message]
    with pytest.raises(InputError, match=message):
        jax.eval_shape(lambda m: dc.attribute(m, TOKENS, output), FAMILIES[name].draw(random))


# --- similarity ---------------------------------------------------------------------------------------------


def cosine(model):
    """Of the mean features, as anyone would write it."""
    first, second = (jnp.mean(_features(model, tokens), axis=0) for tokens in (TOKENS, OTHERS))
    return jnp.sum(first * second) / jnp.sqrt(jnp.sum(first**2) * jnp.sum(second**2))


def _features(model, tokens):
    x = model.hidden(tokens)
    return x if model.final_norm is None else normalise(model.final_norm, x, epsilon=model.epsilon)


@pytest.mark.campaign
@pytest.mark.parametrize(("name", "by_token"), [("BERT", False), ("BERT", True), ("Llama", False)])
def test_pairs_of_parts_add_up_to_the_similarity(random, name, by_token):
    model, shape = FAMILIES[name].draw(random), (3, 4) if by_token else (4, 4)
    found = lambda m: dc.similarity(m, TOKENS, OTHERS, by_token=by_token)
    assert jax.eval_shape(found, model).contributions.shape == shape
    assert verdict(lambda m: (found(m).total, found(m).output), lambda m: (cosine(m),) * 2, model) is Verdict.CERTIFIED


def test_a_direction_is_half_of_a_similarity(random):
    """With the mean of the other text as direction, contributions add up to the product of both means."""
    model = FAMILIES["BERT"].draw(random)

    def left(m):
        return dc.contributions(m, TOKENS, dc.Direction(jnp.mean(m.hidden(OTHERS), axis=0))).sum()

    def right(m):
        return jnp.sum(jnp.mean(m.hidden(TOKENS), axis=0) * jnp.mean(m.hidden(OTHERS), axis=0))

    assert verdict(left, right, model) is Verdict.CERTIFIED
