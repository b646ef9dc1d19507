"""Contributions by head, neuron and token: those written out by hand, equal to hooks of a reference, adding up.

Equalities are decided by `certify`, over the real numbers with no tolerance; what is compared with the reference
library, whose numbers are float64, has its tolerance derived beside it.
"""

import dataclasses
import functools
from pathlib import Path
from typing import Any

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
from uat_jax.networks.families import load_model
from uat_jax.networks.feed_forward_part import FeedForward, GatedFeedForward, expert_gates
from uat_jax.networks.multihead import multihead_weights
from uat_jax.networks.norms import LayerNorm, normalise

TOKENS = jnp.array([2, 0])
FIXTURES = Path(__file__).parent / "model_fixtures"
dot: Any = functools.partial(jnp.matmul, precision="highest")
einsum: Any = functools.partial(jnp.einsum, precision="highest")


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
        s = options.activation(dot(x, layer.hidden) + row(layer.hidden_bias))
        return outer(s, layer.project), jnp.zeros_like(x) + row(layer.project_bias)
    gates, written = expert_gates(layer, x, top=options.top), []
    for e in range(len(layer.hidden)):
        s = options.activation(dot(x, layer.hidden[e]) + layer.hidden_bias[e][None])
        written += outer(s * gates[:, e, None], layer.project[e])
    return written, dot(gates, layer.project_bias)


def row(bias):
    return 0 if bias is None else bias[None]


def total(parts) -> Any:
    return functools.reduce(jnp.add, parts)


def outer(s, matrix):
    return [s[:, f, None] * row[None] for f, row in enumerate(matrix)]


def direct_parts(model, *, by):
    """What every source adds to the features behind the final norm, on the residual connections alone: (S, N, M)."""
    options, epsilon, kind = model.options(len(TOKENS)), model.epsilon, model.architecture.kind
    parts = [model.embedding.tokens[TOKENS], jnp.zeros((len(TOKENS), model.embedding.tokens.shape[1]))]
    if model.embedding.positions is not None:
        parts[0] = parts[0] + model.embedding.positions[: len(TOKENS)]

    def through(norm, parts):
        images = [norm_at(norm, total(parts), epsilon)(part) for part in parts]
        images[1] = images[1] + shift(norm)[None]
        return images

    if model.embedding_norm is not None:
        parts = through(model.embedding_norm, parts)
    for block in model.blocks:
        x = total(parts)
        inner = normalise(block.norm_1, x, epsilon=epsilon) if kind == "pre-norm" else x
        heads = heads_at(block.attention, inner, options)
        parts += heads if by == "head" else [sum(heads)]
        if block.attention.output_bias is not None:
            parts[1] = parts[1] + block.attention.output_bias[None]
        if kind == "post-norm":
            parts = through(block.norm_1, parts)
        y = total(parts)
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


@pytest.mark.parametrize(("by", "name"), one_in(18, DIRECT))
def test_direct_contributions_are_those_written_out(random, by, name):
    """Those of every source, at the token of the output alone; they add up to the output."""
    output = output_of(name)

    def found(model):
        parts = dc.contributions(model, TOKENS, output, by=by)
        return parts.sum(1), parts[:, -1], parts.sum()

    def wanted(model):
        parts = by_hand(model, output, by)
        return parts, parts, output(model, model.features(model.hidden(TOKENS)))

    model = FAMILIES[name].draw(random, hidden=2)
    assert verdict(found, wanted, model) is Verdict.CERTIFIED


SLOPE = jnp.tanh
"""k of an activation σ(u) = k(u) u, so that nothing is divided by: quotients of every σ are decided on their own."""


def with_slope(model):
    architecture = dataclasses.replace(model.architecture, activation=lambda u: SLOPE(u) * u)
    return dataclasses.replace(model, architecture=architecture)


ODD = {"tanh": jnp.tanh, "relu": jax.nn.relu, "gelu": jax.nn.gelu, "logistic": jax.nn.sigmoid}


@pytest.mark.parametrize("name", one_in(2, ODD))
def test_slopes_give_the_activation(name):
    """k(u) u + σ(0) = σ(u), at 0 too; relu has 1[u > 0].  Half of the slope does not."""
    activation, u = ODD[name], jax.ShapeDtypeStruct((2,), jnp.float32)
    line = lambda u: frozen.slopes(activation, u) * u + activation(jnp.zeros((), u.dtype))
    assert verdict(line, activation, u) is Verdict.CERTIFIED
    half = lambda u: frozen.slopes(activation, u) / 2 * u + activation(jnp.zeros((), u.dtype))
    assert verdict(half, activation, u) is Verdict.REFUTED
    at: Any = np.array([0.0, -0.0, 1.0, -2.0, 1e-40], np.float32)
    assert np.array_equal(frozen.slopes(jax.nn.relu, at), [0, 0, 1, 0, 0])


def slopes_at(layer, x, options):
    """t ↦ the feed-forward network as a linear map, σ(u) = k(u) u at the input."""
    if isinstance(layer, GatedFeedForward):
        gate = options.activation(dot(x, layer.gate))
        return lambda t: dot(gate * dot(t, layer.up), layer.down)
    if isinstance(layer, FeedForward):
        u = dot(x, layer.hidden) + row(layer.hidden_bias)
        slope = SLOPE(u)
        return lambda t: dot(slope * dot(t, layer.hidden), layer.project)
    gates = expert_gates(layer, x, top=options.top)

    def mixed(t):
        images = []
        for e in range(len(layer.hidden)):
            u = dot(x, layer.hidden[e]) + layer.hidden_bias[e][None]
            slope = SLOPE(u)
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


@pytest.mark.parametrize("name", one_in(6, ["GPT-2", "Llama", "BERT", "experts", "gated post-norm", "two groups"]))
def test_contributions_of_tokens_are_those_of_the_frozen_linear_path(random, monkeypatch, name):
    """At every depth, of every token, which with the biases add up to the output."""
    output = output_of(name)
    if FAMILIES[name].feed_forward != "gated":  # there the activation is frozen as a whole
        monkeypatch.setattr(frozen, "slopes", lambda activation, u: SLOPE(u))

    def found(model):
        parts = dc.contributions_by_depth(model, TOKENS, output)
        return parts[:, 0], parts.sum((1, 2)), dc.contributions(model, TOKENS, output, by="token").sum()

    def wanted(model):
        rows = [[output(model, image) for image in token_images(model, j)] for j in range(len(model.blocks) + 1)]
        plain = output(model, model.features(model.hidden(TOKENS)))
        return jnp.array(rows), jnp.stack([plain] * len(rows)), plain

    assert verdict(found, wanted, with_slope(FAMILIES[name].draw(random))) is Verdict.CERTIFIED


# --- wrong ones -----------------------------------------------------------------------------------------------------


def heads_exchanged(patch):
    """Their sum stays what it is."""
    right = attribution.contributions
    wrong = lambda *given, **options: right(*given, **options)[jnp.array([0, 1, 3, 2, 4, 6, 5, 7])]
    patch.setattr(dc, "contributions", wrong)


def heads_without_their_value_bias(patch):
    right = weighted.WeightedDirectly.heads
    lost = lambda self, inner, layer, options: right(self, inner, layer._replace(value_bias=None), options)
    patch.setattr(weighted.WeightedDirectly, "heads", lost)


def head_through_another_output(patch):
    """Through W_O of the other head: a term through the wrong operator."""
    right = weighted.sum_of_products
    patch.setattr(weighted, "sum_of_products", lambda y, W, **options: right(y, W[::-1], **options))


def final_norm_lost(patch):
    patch.setattr(attribution, "_finish", lambda model, streams, sorting: streams)


def norm_of_the_source_alone(patch):
    """Not frozen at the state: derivatives of the norm itself."""
    patch.setattr(weighted.WeightedDirectly, "state", lambda self, streams: streams[0])


def carried_by_attention(patch):
    """What later attentions make of it, counted once more."""
    patch.setattr(weighted, "fixed", lambda x: x)


def next_neuron(patch):
    right = attribution.contributions
    wrong = lambda *given, **options: jnp.roll(right(*given, **options), 1, axis=0)
    patch.setattr(dc, "contributions", wrong)


def feed_forward_bias_in_the_term(patch):
    right = frozen.FrozenFeedForward.term
    wrong = lambda self, x, options: right(self, x, options) + (0 if self.out_shift is None else self.out_shift)
    patch.setattr(frozen.FrozenFeedForward, "term", wrong)


WRONG = {
    heads_exchanged: ("head", "two groups"),
    head_through_another_output: ("head", "two groups"),
    heads_without_their_value_bias: ("head", "GPT-2"),
    final_norm_lost: ("head", "Llama"),
    norm_of_the_source_alone: ("neuron", "Llama"),
    carried_by_attention: ("head", "Llama"),
    next_neuron: ("neuron", "BERT"),
    feed_forward_bias_in_the_term: ("head", "BERT"),
}


@pytest.mark.parametrize("wrong", one_in(4, WRONG), ids=lambda wrong: wrong.__name__)
def test_wrong_direct_contributions_are_refuted(random, monkeypatch, wrong):
    by, name = WRONG[wrong]
    output, model = output_of(name), FAMILIES[name].draw(random)
    wrong(monkeypatch)
    by_kind: Any = by
    found = lambda m: dc.contributions(m, TOKENS, output, by=by_kind).sum(1)
    assert verdict(found, lambda m: by_hand(m, output, by), model) is Verdict.REFUTED


def slope_of_the_derivative(patch):
    """σ'(u) in place of σ(u) / u: a linearisation, which does not add up."""
    patch.setattr(frozen, "slopes", lambda activation, u: jax.vmap(jax.vmap(jax.grad(activation)))(u))


def biases_of_one_layer_too_many(patch):
    right = weighted.WeightedTokens.at
    patch.setattr(weighted.WeightedTokens, "at", lambda self, place: right(self, jnp.maximum(place - 1, 0)))


def slopes_lost(patch):
    right = frozen.FrozenSlopes.__call__
    wrong = lambda self, z, options: right(self._replace(slope=jnp.ones_like(self.slope)), z, options)
    patch.setattr(frozen.FrozenSlopes, "__call__", wrong)


def layer_of_another_depth(patch):
    right = attribution.contributions_by_depth
    patch.setattr(dc, "contributions_by_depth", lambda *given: right(*given)[::-1])


WRONG_LINES = (slope_of_the_derivative, biases_of_one_layer_too_many, slopes_lost, layer_of_another_depth)


@pytest.mark.parametrize("wrong", one_in(4, WRONG_LINES), ids=lambda wrong: wrong.__name__)
def test_wrong_contributions_of_tokens_are_refuted(random, monkeypatch, wrong):
    """By what they add up to, or by those of each token."""
    output, model = dc.Logit(-1, 1), with_slope(FAMILIES["GPT-2"].draw(random))
    monkeypatch.setattr(frozen, "slopes", lambda activation, u: SLOPE(u))
    wrong(monkeypatch)

    def found(model):
        parts = dc.contributions_by_depth(model, TOKENS, output)
        return parts[:, 0], parts.sum((1, 2))

    def wanted(model):
        rows = [[output(model, image) for image in token_images(model, j)] for j in range(len(model.blocks) + 1)]
        return jnp.array(rows), jnp.stack([model(TOKENS)[-1, 1]] * len(rows))

    assert verdict(found, wanted, model) is Verdict.REFUTED


# --- beside hooks in the reference library ----------------------------------------------------------------------------


@pytest.mark.parametrize("family", ["gpt2", "llama"])
def test_heads_are_those_that_hooks_see(family):
    """`make_head_fixtures.py` wrote what hooks in `transformers` saw, in float64.

    A contribution is a sum of products along fewer than 100 operations, each of which may lose 2⁻⁵² of the sum of the
    magnitudes of all parts; heads that are exchanged differ by more.
    """
    pytest.importorskip("safetensors", reason="reading weights needs safetensors (extra [models])")
    wanted = np.load(FIXTURES / "heads.npz")
    with jax.enable_x64(True):
        model = load_model(FIXTURES / family, np.float64)
        attention, L = model.blocks[0].attention, len(model.blocks)
        assert attention is not None
        h = attention.output.shape[0]
        for k, tokens in enumerate(np.load(FIXTURES / family / "expected.npz")["tokens"]):
            word = int(np.argmax(model(tokens)[-1]))
            found = dc.attribute(model, tokens, dc.Logit(-1, word), by="head")
            parts, reference = np.asarray(found.by_source), wanted[family][k]
            heads, others = (a[-L * (h + 1) :].reshape(L, h + 1) for a in (parts, reference))
            tolerance = 100 * 2.0**-52 * np.abs(reference).sum()
            assert np.abs(heads[:, :h] - others[:, :h]).max() <= tolerance < np.abs(heads[:, ::-1] - others).max()
            assert abs(parts[0] - reference[0]) <= tolerance
            rest = parts[1] + heads[:, h].sum() - wanted[f"{family}_bias"][k] - others[:, h].sum()
            assert abs(rest) <= tolerance and abs(float(found.output) - wanted[f"{family}_logit"][k]) <= tolerance
            assert found.names[2] == "layer 1 head 1" and found.names[-1] == f"layer {L} feed-forward"


# --- what it is made of -----------------------------------------------------------------------------------------------


def test_a_difference_is_that_of_two_attributions(random):
    model, one, other = FAMILIES["GPT-2"].draw(random), dc.Logit(-1, 1), dc.Logit(-1, 2)
    found = lambda m: dc.contributions(m, TOKENS, dc.Difference(one, other), by="head")
    both = lambda m: [dc.contributions(m, TOKENS, output, by="head") for output in (one, other)]
    assert verdict(found, lambda m: both(m)[0] - both(m)[1], model) is Verdict.CERTIFIED
    assert verdict(found, lambda m: both(m)[1] - both(m)[0], model) is Verdict.REFUTED


@pytest.mark.parametrize("by", one_in(3, ["head", "neuron", "token"]))
def test_layers_one_above_the_other_have_the_same_contributions(random, monkeypatch, by):
    model = FAMILIES["two groups"].draw(random)
    found = lambda m: dc.contributions(m.stacked(), TOKENS, dc.Coordinate(0, 1), by=by)
    wanted = lambda m: dc.contributions(m, TOKENS, dc.Coordinate(0, 1), by=by)
    if by == "token":
        monkeypatch.setattr(frozen, "slopes", lambda activation, u: SLOPE(u))
        model = with_slope(model)
    assert verdict(found, wanted, model) is Verdict.CERTIFIED


def test_sources_are_asked_for_by_name(random):
    model = FAMILIES["two groups"].draw(random)
    found = dc.attribute(model, TOKENS, dc.Coordinate(0, 1), by="head")
    assert np.array_equal(found["layer 2 head 1"], found.contributions[5])
    assert np.array_equal(found[dc.Source("head", 2, 1)], found.contributions[5])
    assert found.residual_ulp < 100
    for name in ("layer 2 head 3", "layer 3", "head 1", ""):
        with pytest.raises(InputError, match=f"got the source '{name}', wanted one of the 8 from 'input' to"):
            found[name]
    with pytest.raises(InputError, match="got by='heads', wanted one of 'layer', 'head', 'neuron', 'token'"):
        dc.attribute(model, TOKENS, dc.Coordinate(0, 1), by="heads")  # pyright: ignore[reportArgumentType]
