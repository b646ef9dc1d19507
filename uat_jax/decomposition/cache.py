"""Every intermediate value of a forward pass by name: states, attention patterns, heads, neurons."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import jax

from uat_jax.decomposition.frozen import frozen_attention, frozen_feed_forward, with_value_bias
from uat_jax.decomposition.streams import Sorting, Streams, states_of
from uat_jax.networks.adapted import sum_of_products
from uat_jax.networks.block import BlockOptions
from uat_jax.networks.feed_forward_part import AnyFeedForward
from uat_jax.networks.model import Model
from uat_jax.networks.multihead import MultiHead
from uat_jax.typing import PyTree


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class LayerActivations:
    """What one layer computes at N tokens."""

    patterns: jax.Array | None
    """H_i, the softmax of each head, (h, N, N); None, as the two that follow, without attention."""
    heads: jax.Array | None
    """H_i (z W_V + b_V), what each head passes to its W_O, (h, N, e)."""
    attention: jax.Array | None
    """What the attention adds, b_O included, before a norm behind it, (N, M)."""
    neurons: jax.Array
    """s ⊙ d, what each neuron passes to W_2: σ(x W_1 + b_1), of a gated part times x U, (N, F)."""
    term: jax.Array
    """C s, what the neurons add to the stream, without b_2, before a norm behind it, (N, M)."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Activations:
    """What a model computes at N tokens."""

    states: tuple[jax.Array, ...]
    """x_0, x_1, …, x_L, (N, M) each."""
    layers: tuple[LayerActivations, ...]
    """Those of layer 1, …, L."""


class Whole(Sorting):
    """One stream that is the state itself, nothing frozen: the forward pass, its parts one by one."""

    def start(self, x: jax.Array) -> Streams:
        """The embedded tokens."""
        return [x]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The state with the bias added."""
        return [streams[0] + bias]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The state with the term added."""
        return [streams[0] + term]


class _Recording(Whole):
    """The forward pass, which writes down what each layer computes."""

    def __init__(self) -> None:
        self.attentions: list[tuple[jax.Array, jax.Array, jax.Array]] = []
        self.feed_forwards: list[tuple[jax.Array, jax.Array]] = []

    def attention(
        self, inner: Streams, attention: MultiHead, options: BlockOptions, layer: PyTree
    ) -> tuple[Streams, jax.Array | None]:
        """What all heads add, without b_O; and b_O."""
        mixing = frozen_attention(attention, inner[0], options)
        heads = with_value_bias(mixing.heads(inner[0]), attention)
        added = sum_of_products(heads, attention.output, precision=options.precision)
        shift = None if attention.output_bias is None else attention.output_bias[None]
        self.attentions.append((mixing.patterns, heads, added if shift is None else added + shift))
        return [added], shift

    def activation(
        self, inner: Callable[[], Streams], part: AnyFeedForward, x: jax.Array, options: BlockOptions, layer: PyTree
    ) -> tuple[jax.Array, jax.Array | None]:
        """What the activation adds; and the bias."""
        frozen = frozen_feed_forward(part, x, options)
        term, shift = frozen.term(x, options), frozen.out_shift
        self.feed_forwards.append((frozen.scaled(x, options), term))
        return term, shift


def activations(model: Model, tokens: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> Activations:
    """All of them at N token numbers; a pure function, for `jax.jit`.

    Example:
        >>> of = activations(model, tokens)
        >>> of.layers[4].patterns[2]  # of layer 5 head 3

    Raises what `Model.check_tokens` raises.
    """
    recording = _Recording()
    states = states_of(model, model.check_tokens(tokens), recording, precision=precision)
    attentions = recording.attentions or [(None, None, None)] * len(model.blocks)
    pairs = zip(attentions, recording.feed_forwards, strict=True)
    layers = tuple(LayerActivations(*attention, *feed_forward) for attention, feed_forward in pairs)
    return Activations(tuple(x for (x,) in states), layers)
