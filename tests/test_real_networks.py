"""The parts of real Transformers are the functions that exact references and flax say they are.

Equality with a reference has no tolerance (see exact_references.py); the layers of flax are compared as functions, by
`certify`.
"""

from functools import partial

import exact_references as exactly
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_parameters import drawn, generator, normal

from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.networks.feed_forward_part import (
    expert_gates,
    gated_feed_forward,
    initialise_feed_forward,
    initialise_gated,
    initialise_mixture,
    mixture_of_experts,
    plain_feed_forward,
)
from uat_jax.networks.norms import LayerNorm, RMSNorm, initialise_layer_norm, initialise_rms_norm, layer_norm, rms_norm


@pytest.fixture
def random(request):
    return generator(request.node.name)


def lost(parameters, name):
    """The parameters with one array at zero."""
    return parameters._replace(**{name: jnp.zeros_like(getattr(parameters, name))})


# --- norms -----------------------------------------------------------------------------------------------

NORMS = {"layer norm": (initialise_layer_norm, layer_norm), "RMS norm": (initialise_rms_norm, rms_norm)}


@pytest.mark.parametrize(("tokens", "features"), [(3, 5), (1, 2), (2, 1)])
@pytest.mark.parametrize("name", NORMS)
def test_norms(random, name, tokens, features):
    initialise, network = NORMS[name]
    assert exactly.equal(network, exactly.norm, drawn(random, initialise, features), normal(random, tokens, features))


def unbiased_layer_norm(p, x):
    """With M − 1 instead of M in the variance."""
    centred = x - jnp.mean(x, axis=-1, keepdims=True)
    variance = jnp.sum(centred * centred, axis=-1, keepdims=True) / (x.shape[1] - 1)
    return p.gamma[None] * centred / jnp.sqrt(variance + 1e-5) + p.beta[None]


WRONG_LAYER_NORMS = {
    "no beta": lambda p, x: layer_norm(lost(p, "beta"), x),
    "no gamma": lambda p, x: layer_norm(p._replace(gamma=jnp.ones_like(p.gamma)), x),
    "another epsilon": partial(layer_norm, epsilon=1e-6),
    "not centred": lambda p, x: rms_norm(RMSNorm(p.gamma), x) + p.beta[None],
    "unbiased variance": unbiased_layer_norm,
    "over the tokens": lambda p, x: layer_norm(p, x.T).T,
}
WRONG_RMS_NORMS = {
    "no gamma": lambda p, x: rms_norm(RMSNorm(jnp.ones_like(p.gamma)), x),
    "centred": lambda p, x: layer_norm(LayerNorm(p.gamma, jnp.zeros_like(p.gamma)), x),
    "no epsilon": partial(rms_norm, epsilon=0.0),
    "over the tokens": lambda p, x: rms_norm(p, x.T).T,
}


@pytest.mark.parametrize("wrong", WRONG_LAYER_NORMS)
def test_wrong_layer_norms_differ(random, wrong):
    arguments = drawn(random, initialise_layer_norm, 4), normal(random, 4, 4)
    assert not exactly.equal(WRONG_LAYER_NORMS[wrong], exactly.norm, *arguments)


@pytest.mark.parametrize("wrong", WRONG_RMS_NORMS)
def test_wrong_rms_norms_differ(random, wrong):
    arguments = drawn(random, initialise_rms_norm, 4), normal(random, 4, 4)
    assert not exactly.equal(WRONG_RMS_NORMS[wrong], exactly.norm, *arguments)


# --- feed-forward ----------------------------------------------------------------------------------------

plain = partial(plain_feed_forward, activation=jnp.tanh)
gated = partial(gated_feed_forward, activation=jax.nn.silu)
experts = partial(mixture_of_experts, activation=jnp.tanh)
FEED_FORWARDS = {
    "plain": ((initialise_feed_forward, 3, 5), plain, {}),
    "gated": ((initialise_gated, 3, 5), gated, {}),
    "all experts": ((initialise_mixture, 3, 2, 4), experts, {}),
    "best expert": ((initialise_mixture, 3, 2, 4), experts, {"top": 1}),
    "two experts": ((initialise_mixture, 3, 2, 4), experts, {"top": 2}),
}


@pytest.mark.parametrize("tokens", [1, 3])
@pytest.mark.parametrize("name", FEED_FORWARDS)
def test_feed_forward(random, name, tokens):
    sizes, network, options = FEED_FORWARDS[name]
    run, reference = partial(network, **options), partial(exactly.feed_forward, **options)
    assert exactly.equal(run, reference, drawn(random, *sizes), normal(random, tokens, 3))


WRONG_FEED_FORWARDS = {
    "no hidden bias": ("plain", lambda p, x: plain(lost(p, "hidden_bias"), x)),
    "no project bias": ("plain", lambda p, x: plain(lost(p, "project_bias"), x)),
    "another activation": ("plain", lambda p, x: plain_feed_forward(p, x, jax.nn.silu)),
    "gate and up exchanged": ("gated", lambda p, x: gated(p._replace(gate=p.up, up=p.gate), x)),
    "not gated": ("gated", lambda p, x: jax.nn.silu(x @ p.gate) @ p.down),
    "gated twice": ("gated", lambda p, x: (jax.nn.silu(x @ p.gate) * jax.nn.silu(x @ p.up)) @ p.down),
    "all instead of two": ("two experts", experts),
    "one instead of two": ("two experts", partial(experts, top=1)),
    "two instead of all": ("all experts", partial(experts, top=2)),
    "gates of all, two kept": ("two experts", lambda p, x: _two_of_all_gates(p, x)),
    "even gates": ("all experts", lambda p, x: experts(lost(p, "router"), x)),
    "router in reverse": ("all experts", lambda p, x: experts(p._replace(router=p.router[:, ::-1]), x)),
    "no bias of the experts": ("best expert", lambda p, x: experts(lost(p, "project_bias"), x, top=1)),
}


def _two_of_all_gates(p, x):
    """The softmax over all experts, cut to the best two, whose gates then do not sum to 1."""
    gates = jnp.where(expert_gates(p, x, top=2) > 0, expert_gates(p, x), 0)
    inside = jnp.einsum("nm,emf->enf", x, p.hidden) + p.hidden_bias[:, None]
    outputs = jnp.einsum("enf,efm->enm", jnp.tanh(inside), p.project) + p.project_bias[:, None]
    return jnp.einsum("ne,enm->nm", gates, outputs)


@pytest.mark.parametrize("wrong", WRONG_FEED_FORWARDS)
def test_wrong_feed_forward_differs(random, wrong):
    name, network = WRONG_FEED_FORWARDS[wrong]
    sizes, _, options = FEED_FORWARDS[name]
    assert not exactly.equal(
        network, partial(exactly.feed_forward, **options), drawn(random, *sizes), normal(random, 3, 3)
    )


@pytest.mark.parametrize("top", [1, 2, 4])
def test_gates_of_the_others_are_zero(random, top):
    gates = np.asarray(expert_gates(drawn(random, initialise_mixture, 3, 2, 4), normal(random, 5, 3), top=top))
    assert ((gates > 0).sum(axis=1) == top).all()


# --- flax ---


def flax_norm(make):
    def network(p, x):
        parameters = {"scale": p.gamma} | ({"bias": p.beta} if isinstance(p, LayerNorm) else {})
        module = make(epsilon=1e-5, use_fast_variance=False)
        return module.apply({"params": parameters}, x)

    return network


@pytest.mark.parametrize("name", NORMS)
def test_flax_has_the_same_norms(random, name):
    linen = pytest.importorskip("flax.linen", reason="flax is a test extra")
    initialise, network = NORMS[name]
    make = linen.LayerNorm if name == "layer norm" else linen.RMSNorm
    specs = (drawn(random, initialise, 4), normal(random, 2, 4))
    assert certify(network, flax_norm(make), *specs).verdict is Verdict.CERTIFIED
    no_epsilon = partial(network, epsilon=0.0)
    assert certify(no_epsilon, flax_norm(make), *specs).verdict is Verdict.REFUTED
