"""Contributions by head, neuron and token: those written out by hand, equal to hooks of a reference, adding up.

Equalities are decided by `certify`, over the real numbers with no tolerance; what is compared with the reference
library, whose numbers are float64, has its tolerance derived beside it.
"""

import functools
from pathlib import Path

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
from uat_jax.decomposition import attribution, frozen, weighted
from uat_jax.errors import InputError
from uat_jax.networks.feed_forward_part import FeedForward, GatedFeedForward, expert_gates
from uat_jax.networks.multihead import multihead_weights
from uat_jax.networks.norms import LayerNorm, normalise

TOKENS = jnp.array([2, 0])
FIXTURES = Path(__file__).parent / "model_fixtures"
dot = functools.partial(jnp.matmul, precision="highest")
einsum = functools.partial(jnp.einsum, precision="highest")


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


def output_of(name):
    return dc.Logit(-1, 1) if FAMILIES[name].ends else dc.Coordinate(-1, 0)


# --- the same written out by hand -----------------------------------------------------------------------------------


def norm_at(norm, x, epsilon):
    """t ↦ γ s(x) (t − mean t), or without the mean."""
    centred = lambda t: t - jnp.mean(t, axis=-1, keepdims=True) if isinstance(norm, LayerNorm) else t
    scale = 1 / jnp.sqrt(jnp.mean(centred(x) ** 2, axis=-1, keepdims=True) + jnp.float32(epsilon))
    return lambda t: norm.gamma[None] * (centred(t) * scale)


def shift(norm):
    return norm.beta if isinstance(norm, LayerNorm) else jnp.zeros_like(norm.gamma)


def heads_at(layer, x, options):
    """What each head writes, with its value bias: a list of (N, M)."""
    patterns, written = multihead_weights(layer, x, scoring=options.scoring), []
    for i, pattern in enumerate(patterns):
        group = i * len(layer.value) // len(patterns)
        values = dot(x, layer.value[group])
        if layer.value_bias is not None:
            values = values + layer.value_bias[group][None]
        written.append(dot(dot(pattern, values), layer.output[i]))
    return written


def neurons_at(layer, x, options):
    """What each neuron writes, a list of (N, M), and the bias behind them."""
    if isinstance(layer, GatedFeedForward):
        s = options.activation(dot(x, layer.gate)) * dot(x, layer.up)
        return outer(s, layer.down), jnp.zeros_like(x)
    if isinstance(layer, FeedForward):
        s = options.activation(dot(x, layer.hidden) + layer.hidden_bias[None])
        return outer(s, layer.project), jnp.zeros_like(x) + layer.project_bias[None]
    gates, written = expert_gates(layer, x, top=options.top), []
    for e in range(len(layer.hidden)):
        s = options.activation(dot(x, layer.hidden[e]) + layer.hidden_bias[e][None])
        written += outer(s * gates[:, e, None], layer.project[e])
    return written, dot(gates, layer.project_bias)


def outer(s, matrix):
    return [s[:, f, None] * row[None] for f, row in enumerate(matrix)]


def direct_parts(model, *, by):
    """What every source adds to the features behind the final norm, on the residual connections alone: (S, N, M)."""
    options, epsilon, kind = model.options(len(TOKENS)), model.epsilon, model.architecture.kind
    parts = [model.embedding.tokens[TOKENS], jnp.zeros((len(TOKENS), model.embedding.tokens.shape[1]))]
    if model.embedding.positions is not None:
        parts[0] = parts[0] + model.embedding.positions[: len(TOKENS)]

    def through(norm, parts):
        images = [norm_at(norm, sum(parts), epsilon)(part) for part in parts]
        images[1] = images[1] + shift(norm)[None]
        return images

    if model.embedding_norm is not None:
        parts = through(model.embedding_norm, parts)
    for block in model.blocks:
        x = sum(parts)
        inner = normalise(block.norm_1, x, epsilon=epsilon) if kind == "pre-norm" else x
        heads = heads_at(block.attention, inner, options)
        parts += heads if by == "head" else [sum(heads)]
        if block.attention.output_bias is not None:
            parts[1] = parts[1] + block.attention.output_bias[None]
        if kind == "post-norm":
            parts = through(block.norm_1, parts)
        y = sum(parts)
        inner = normalise(block.norm_2, y, epsilon=epsilon) if kind == "pre-norm" else y
        written, bias = neurons_at(block.feed_forward, inner, options)
        parts += written if by == "neuron" else [sum(written)]
        parts[1] = parts[1] + bias
        if kind == "post-norm":
            parts = through(block.norm_2, parts)
    return jnp.stack(parts if model.final_norm is None else through(model.final_norm, parts))


def by_hand(model, output, by):
    return jnp.stack([output(model, part) for part in direct_parts(model, by=by)])


DIRECT = [
    (by, name)
    for name in ("two groups", "GPT-2", "Llama", "experts", "gated post-norm", "Qwen2", "BERT")
    for by in ("head", "neuron")
]


@pytest.mark.parametrize(("by", "name"), one_in(5, DIRECT))
def test_direct_contributions_are_those_written_out(random, by, name):
    """Those of every source, at the token of the output alone; they add up to the output."""
    output = output_of(name)

    def found(model):
        parts = dc.contributions(model, TOKENS, output, by=by)
        return parts.sum(1), parts[:, -1], parts.sum()

    def wanted(model):
        parts = by_hand(model, output, by)
        return parts, parts, output(model, attribution._features(model, model.hidden(TOKENS)))

    model = FAMILIES[name].draw(random, hidden=2)
    assert verdict(found, wanted, model) is Verdict.CERTIFIED


def slopes_at(layer, x, options):
    """t ↦ the feed-forward network as a linear map, σ(u) = (σ(u) / u) u at the input."""
    if isinstance(layer, GatedFeedForward):
        gate = options.activation(dot(x, layer.gate))
        return lambda t: dot(gate * dot(t, layer.up), layer.down)
    if isinstance(layer, FeedForward):
        u = dot(x, layer.hidden) + layer.hidden_bias[None]
        slope = options.activation(u) / u
        return lambda t: dot(slope * dot(t, layer.hidden), layer.project)
    gates = expert_gates(layer, x, top=options.top)

    def mixed(t):
        images = []
        for e in range(len(layer.hidden)):
            u = dot(x, layer.hidden[e]) + layer.hidden_bias[e][None]
            slope = options.activation(u) / u
            images.append(gates[:, e, None] * dot(slope * dot(t, layer.hidden[e]), layer.project[e]))
        return sum(images)

    return mixed


def attention_at(layer, x, options):
    """t ↦ Σ_i H_i(x) t W_V W_O."""
    patterns = multihead_weights(layer, x, scoring=options.scoring)
    values = jnp.repeat(layer.value, len(patterns) // len(layer.value), axis=0)
    return lambda t: einsum("hnk,km,hme,hef->nf", patterns, t, values, layer.output)


def token_images(model, depth):
    """What each row of x_depth becomes behind the final norm, everything else frozen: a list of (N, M)."""
    options, epsilon, states = model.options(len(TOKENS)), model.epsilon, model.states(TOKENS)
    x = states[depth]
    if depth == 0 and model.embedding_norm is not None:
        x = model.embedding.tokens[TOKENS] + model.embedding.positions[: len(TOKENS)]
    images = [jnp.zeros_like(x).at[n].set(x[n]) for n in range(len(TOKENS))]
    if depth == 0 and model.embedding_norm is not None:
        images = list(map(norm_at(model.embedding_norm, x, epsilon), images))
    for block, x in zip(model.blocks[depth:], states[depth:-1], strict=True):
        layer = layer_at(model.architecture.kind, block, x, options)
        images = list(map(layer, images))
    return images if model.final_norm is None else list(map(norm_at(model.final_norm, states[-1], epsilon), images))


def layer_at(kind, block, x, options):
    epsilon = options.epsilon
    if kind == "pre-norm":
        n_1 = norm_at(block.norm_1, x, epsilon)
        inner = normalise(block.norm_1, x, epsilon=epsilon)
        attend = attention_at(block.attention, inner, options)
        y = x + sum(heads_at(block.attention, inner, options)) + output_bias(block)
        n_2 = norm_at(block.norm_2, y, epsilon)
        feed = slopes_at(block.feed_forward, normalise(block.norm_2, y, epsilon=epsilon), options)

        def layer(t):
            t = t + attend(n_1(t))
            return t + feed(n_2(t))

        return layer
    attend = attention_at(block.attention, x, options)
    y = x + sum(heads_at(block.attention, x, options)) + output_bias(block)
    n_1, z = norm_at(block.norm_1, y, epsilon), normalise(block.norm_1, y, epsilon=epsilon)
    written, bias = neurons_at(block.feed_forward, z, options)
    feed, n_2 = slopes_at(block.feed_forward, z, options), norm_at(block.norm_2, z + sum(written) + bias, epsilon)

    def layer(t):
        t = n_1(t + attend(t))
        return n_2(t + feed(t))

    return layer


def output_bias(block):
    return 0 if block.attention.output_bias is None else block.attention.output_bias[None]


@pytest.mark.parametrize("name", one_in(4, ["GPT-2", "Llama", "BERT", "experts", "gated post-norm", "two groups"]))
def test_contributions_of_tokens_are_those_of_the_frozen_linear_path(random, name):
    """At every depth, of every token, which with the biases add up to the output."""
    output = output_of(name)

    def found(model):
        parts = dc.contributions_by_depth(model, TOKENS, output)
        return parts[:, 0], parts.sum((1, 2)), dc.contributions(model, TOKENS, output, by="token").sum()

    def wanted(model):
        rows = [[output(model, image) for image in token_images(model, j)] for j in range(len(model.blocks) + 1)]
        plain = output(model, attribution._features(model, model.hidden(TOKENS)))
        return jnp.array(rows), jnp.stack([plain] * len(rows)), plain

    assert verdict(found, wanted, FAMILIES[name].draw(random)) is Verdict.CERTIFIED
