"""Merged is unmerged: a model that computes x W + s (x L) R is the one with W + s L R, and so are its terms.

The prime fields take every entry of W, L, R and s as a variable: what is CERTIFIED holds for every adapter.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import jaxpr_as_fun
from random_adapters import with_adapters
from random_models import FAMILIES
from random_parameters import generator, normal
from theorem_1 import TOKENS

import uat_jax.decomposition as dc
from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition import frozen, streams
from uat_jax.decomposition.operators import Mixing, OnFeatures
from uat_jax.decomposition.removal import bound
from uat_jax.networks.adapted import Adapted, dense, merged, sum_of_products, times, without_adapter
from uat_jax.networks.feed_forward_part import FeedForward
from uat_jax.networks.model import BLOCKS


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


def adapted_model(random, name, **sizes):
    return with_adapters(random, FAMILIES[name].draw(random, **sizes))


# --- merged = unmerged ----------------------------------------------------------------------------------------------


def test_products_with_a_matrix_are_those_with_its_factors(random):
    """All shapes: one matrix, heads that share L, heads that share R; also moved and transposed."""
    x, heads = normal(random, 2, 3), normal(random, 2, 2, 3)
    one = Adapted(normal(random, 3, 4), normal(random, 3, 1), normal(random, 1, 4), normal(random))
    into = Adapted(normal(random, 2, 3, 4), normal(random, 3, 1), normal(random, 2, 1, 4), normal(random))
    out = Adapted(normal(random, 2, 3, 4), normal(random, 2, 3, 1), normal(random, 1, 4), normal(random))
    assert (one.shape, one.dtype, one.T.shape) == ((3, 4), jnp.float32, (4, 3))

    def products(matrix, one, into, out, x, heads):
        return [
            times(x, matrix(one)),
            times(heads, matrix(one)),
            times(x, matrix(into)),
            sum_of_products(heads, matrix(out)),
            dense(matrix(one.T)) - matrix(one).T if matrix is dense else jnp.zeros((4, 3)),
        ]

    written, factors = functools.partial(products, dense), functools.partial(products, lambda W: W)
    assert verdict(factors, written, one, into, out, x, heads) is Verdict.CERTIFIED


@pytest.mark.parametrize("name", ["GPT-2", pytest.param("BERT", marks=pytest.mark.campaign)])
def test_merged_is_unmerged(random, name):
    both = lambda model: (model(TOKENS), dc.terms(model, TOKENS))
    assert verdict(both, lambda m: both(merged(m)), adapted_model(random, name)) is Verdict.CERTIFIED


def test_layers_one_above_the_other_are_merged_each(random):
    """As many layers as features: the scale of each would fit those of another axis."""
    model = adapted_model(random, "GPT-2", depth=2, hidden=2)
    assert verdict(lambda m: merged(m.stacked()), lambda m: merged(m).stacked(), model) is Verdict.CERTIFIED


def test_every_decomposition_of_merged_is_that_of_unmerged(random):
    """Streams, layers as operators in factors, and the terms read off the program."""

    def everything(model):
        options, block = model.options(len(TOKENS)), BLOCKS[model.architecture.kind]
        network = lambda x: functools.reduce(lambda x, layer: block(layer, x, options), model.blocks, x)
        x_0 = model.embed(TOKENS)
        by_layers = functools.reduce(lambda x, layer: layer(x), dc.operators(model, TOKENS), x_0)
        return dc.two_streams(model, TOKENS), by_layers, dc.decompose_function(network, x_0).terms

    model = adapted_model(random, "Llama", depth=1)
    assert verdict(everything, lambda m: everything(merged(m)), model) is Verdict.CERTIFIED


def test_factors_stay_factors(random):
    """No operation of the unmerged program gives an array of the shape of W."""
    model = adapted_model(random, "GPT-2", depth=1, hidden=5)
    made = lambda of: {v.aval.shape for equation in jax.make_jaxpr(of)(model).eqns for v in equation.outvars}
    tokens, W = jnp.array([2, 0, 1]), model.blocks[0].feed_forward[0].shape
    assert W in made(lambda m: dc.terms(merged(m), tokens)) and W not in made(lambda m: dc.terms(m, tokens))


def test_matrices_of_operators_with_adapters(random):
    into = Adapted(normal(random, 2, 4, 3), normal(random, 4, 1), normal(random, 2, 1, 3), normal(random))
    out = Adapted(normal(random, 4, 3, 4), normal(random, 4, 3, 1), normal(random, 1, 4), normal(random))
    one, batch = into.matrix[0], normal(random, 2, 2, 4)
    single = Adapted(one, into.left, into.right[0], into.scale)
    made = [Mixing(normal(random, 4, 2, 2), into, out), OnFeatures(single, 2)]
    written = lambda made, batch: [
        jnp.matmul(batch.reshape(2, -1), f.materialise().T, precision="highest") for f in made
    ]
    applied = lambda made, batch: [f(batch).reshape(2, -1) for f in made]
    assert verdict(applied, written, made, batch) is Verdict.CERTIFIED


# --- wrong adapters are refuted -------------------------------------------------------------------------------------


def on_updates(change):
    """The model with `change` made to every update."""
    is_adapted = lambda node: isinstance(node, Adapted)
    each = lambda node: change(node) if is_adapted(node) else node
    return lambda model: jax.tree.map(each, model, is_leaf=is_adapted)


def transposed_delta(W):
    """A forgotten fan_in_fan_out: Rᵀ Lᵀ, where the matrix of one head is a square."""
    if W.shape[-1] != W.shape[-2]:
        return W
    swap = lambda factor: jnp.swapaxes(factor, -1, -2)
    return dataclasses.replace(W, left=swap(W.right.reshape(W.right.shape[-2:])), right=swap(W.left))


def in_another_layer(model):
    first, second = model.blocks
    moved = [
        block._replace(feed_forward=_with_updates(block.feed_forward, other.feed_forward))
        for block, other in ((first, second), (second, first))
    ]
    return dataclasses.replace(model, blocks=tuple(moved))


def _with_updates(part, other):
    updated = {
        name: dataclasses.replace(other_W, matrix=W.matrix)
        for (name, W), other_W in zip(part._asdict().items(), other, strict=True)
        if isinstance(W, Adapted)
    }
    return part._replace(**updated)


def of_another_module(model):
    """The factors of queries beside the keys, and the other way round."""

    def swapped(block):
        query, key = block.attention.query, block.attention.key
        of = lambda W, other: dataclasses.replace(W, left=other.left, right=other.right)
        return block._replace(attention=block.attention._replace(query=of(query, key), key=of(key, query)))

    return dataclasses.replace(model, blocks=tuple(map(swapped, model.blocks)))


def of_one_layer_only(model):
    return dataclasses.replace(model, blocks=(model.blocks[0], without_adapter(model.blocks[1])))


WRONG = {
    "scale": on_updates(lambda W: dataclasses.replace(W, scale=W.scale * W.scale)),
    "no scale": on_updates(lambda W: dataclasses.replace(W, scale=jnp.ones_like(W.scale))),
    "transposed": on_updates(lambda W: transposed_delta(W) if len(W.shape) == 2 else W),
    "another layer": in_another_layer,
    "another module": of_another_module,
    "one layer": of_one_layer_only,
    "none": without_adapter,
}


OFTEN = ("scale", "transposed", "another layer", "another module")


@pytest.mark.parametrize("wrong", [w if w in OFTEN else pytest.param(w, marks=pytest.mark.campaign) for w in WRONG])
def test_a_wrong_adapter_is_refuted(random, wrong):
    depth = 2 if "layer" in wrong else 1
    model = adapted_model(random, "GPT-2", depth=depth, hidden=2)
    assert verdict(lambda m: m(TOKENS), lambda m: merged(WRONG[wrong](m))(TOKENS), model) is Verdict.REFUTED


def values_without_adapter(patch):
    right = frozen.frozen_attention
    lost = lambda *given: dataclasses.replace(found := right(*given), value=without_adapter(found.value))
    patch.setattr(streams, "frozen_attention", lost)


def value_biases_without_adapter(patch):
    right = frozen.attention_shift
    patch.setattr(streams, "attention_shift", lambda layer, precision: right(without_adapter(layer), precision))


@pytest.mark.parametrize(
    "wrong", [values_without_adapter, pytest.param(value_biases_without_adapter, marks=pytest.mark.campaign)]
)
def test_terms_that_lose_the_adapter_are_refuted(random, monkeypatch, wrong):
    model = adapted_model(random, "BERT", depth=1)
    right = jax.make_jaxpr(lambda m: dc.terms(m, TOKENS))(model)
    wrong(monkeypatch)
    as_traced = lambda m: jaxpr_as_fun(right)(*jax.tree.leaves(m))[0]
    assert verdict(lambda m: dc.terms(m, TOKENS), as_traced, model) is Verdict.REFUTED


# --- layers that are removed ----------------------------------------------------------------------------------------


def test_a_layer_without_its_activation_has_no_update_either(random):
    model = adapted_model(random, "GPT-2", depth=1)
    feed_forward = dc.without_activation(model, 1).blocks[0].feed_forward
    assert isinstance(feed_forward, FeedForward)
    hidden, project = feed_forward.hidden, feed_forward.project
    assert np.any(dense(hidden)) and not np.any(dense(project))


def test_a_bound_is_that_of_the_merged_matrix(random):
    """float32, fewer than 2⁹ roundings."""
    W = Adapted(normal(random, 4, 3), normal(random, 4, 1), normal(random, 1, 3), normal(random))
    found, wanted = (float(bound(OnFeatures(of, 2))) for of in (W, dense(W)))
    assert abs(found - wanted) <= 2.0**-14 * wanted < abs(wanted - np.linalg.norm(W.matrix, 2))
