"""One stream in which every source has a weight at every token: at weights of 1 the derivatives are contributions.

The stream is right, and linear in the weights, near 1: coefficients are frozen at it as at a constant.  One pass
forward and one back give the contributions of all sources at all tokens.  They differ in what carries a source on:

`Weighted` (streams.py)   a layer's activation, by the frozen attentions and norms of later layers (Theorem 1)
`WeightedHeads`           every head is a source: from there only residual connections and frozen norms lead on
`WeightedNeurons`         so do they here; the activation of a layer is the sum of its neurons
`WeightedTokens`          input and biases are the only sources: activations are linear maps, their slopes frozen
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import jax

from uat_jax.decomposition.frozen import frozen_attention, frozen_feed_forward, frozen_slopes, neurons, with_value_bias
from uat_jax.decomposition.streams import Kind, Sorting, Streams
from uat_jax.networks.adapted import sum_of_products, times
from uat_jax.networks.block import Block, BlockOptions
from uat_jax.networks.feed_forward_part import AnyFeedForward
from uat_jax.networks.multihead import MultiHead
from uat_jax.typing import PyTree

fixed = jax.lax.stop_gradient
"""An array as a constant, which has no derivative."""


@dataclass(frozen=True)
class WeightedDirectly(Sorting):
    """The sources of each layer are weighted where they join the stream, and no attention carries them on."""

    ends: jax.Array
    """The weights of input and biases, (2, N)."""
    layers: Sequence[jax.Array] | jax.Array
    """Those of the R sources of each layer, L arrays (R, N) or one (L, R, N)."""

    def start(self, x: jax.Array) -> Streams:
        """One stream, the input times its weights."""
        return [self.ends[0][:, None] * fixed(x)]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The stream with the bias added, times its weights."""
        return [streams[0] + self.ends[1][:, None] * fixed(bias)]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The stream with what is weighted already."""
        return [streams[0] + term]

    def state(self, streams: Streams) -> jax.Array:
        """The stream as a constant."""
        return fixed(streams[0])

    def of_layer(self, layer: PyTree) -> jax.Array:
        """The weights of a layer, (R, N)."""
        return self.layers[layer - 1]

    def heads(self, inner: Streams, attention: MultiHead, options: BlockOptions) -> jax.Array:
        """H_i (z W_V + b_V) at the state z of `inner`, what each head passes to its W_O: (h, N, e), a constant."""
        z = self.state(inner)
        return fixed(with_value_bias(frozen_attention(attention, z, options).heads(z), attention))


class WeightedHeads(WeightedDirectly):
    """R = h + 1 sources in each layer: its heads, each with its own b_V, and its feed-forward network without b_2."""

    def attention(
        self, inner: Streams, attention: MultiHead, options: BlockOptions, layer: PyTree
    ) -> tuple[Streams, jax.Array | None]:
        """Each head times its weights; b_O is the bias."""
        weights = self.of_layer(layer)[:-1, :, None]
        heads = weights * self.heads(inner, attention, options)
        return [sum_of_products(heads, attention.output, precision=options.precision)], _row(attention.output_bias)

    def activation(
        self, inner: Callable[[], Streams], part: AnyFeedForward, x: jax.Array, options: BlockOptions, layer: PyTree
    ) -> tuple[jax.Array, jax.Array | None]:
        """What the activation adds, times its weights; and the bias."""
        term, shift = super().activation(inner, part, x, options, layer)
        return self.of_layer(layer)[-1][:, None] * fixed(term), shift


class WeightedNeurons(WeightedDirectly):
    """R = 1 + F sources in each layer: its attention without b_O and its neurons; F without an attention."""

    def attention(
        self, inner: Streams, attention: MultiHead, options: BlockOptions, layer: PyTree
    ) -> tuple[Streams, jax.Array | None]:
        """What all heads add, times its weights; b_O is the bias."""
        heads = self.heads(inner, attention, options)
        added = fixed(sum_of_products(heads, attention.output, precision=options.precision))
        return [self.of_layer(layer)[0][:, None] * added], _row(attention.output_bias)

    def activation(
        self, inner: Callable[[], Streams], part: AnyFeedForward, x: jax.Array, options: BlockOptions, layer: PyTree
    ) -> tuple[jax.Array, jax.Array | None]:
        """Each neuron times its weights, times its row of W_2; and the bias."""
        frozen = frozen_feed_forward(part, x, options)
        s = self.of_layer(layer)[-neurons(part) :].T * fixed(frozen.scaled(x, options))
        return times(s, frozen.out, precision=options.precision), frozen.out_shift


def _row(bias: jax.Array | None) -> jax.Array | None:
    """A bias, (M,), as one row for all tokens."""
    return None if bias is None else bias[None]


@dataclass(frozen=True)
class WeightedTokens(Sorting):
    """The state of every layer is weighted, and the biases of every layer, so that each depth can be the input.

    Attention patterns, scales of norms and slopes of activations are frozen: what leads from the state of a layer to
    the output is linear, but for the biases of the layers behind it.
    """

    states: jax.Array
    """The weights of the embedded tokens and of x_1, …, x_L, (L + 1, N)."""
    biases: jax.Array
    """Those of the biases of the embedding, of each layer, and of the final norm, (L + 2, N)."""
    place: Any = 0
    """Which row of biases is meant now."""

    def start(self, x: jax.Array) -> Streams:
        """One stream, the input times its weights."""
        return [self.states[0][:, None] * fixed(x)]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The stream with the bias added, times its weights."""
        return [streams[0] + self.biases[self.place][:, None] * fixed(bias)]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The stream with an image of itself added."""
        return [streams[0] + term]

    def state(self, streams: Streams) -> jax.Array:
        """The stream as a constant."""
        return fixed(streams[0])

    def activation(
        self, inner: Callable[[], Streams], part: AnyFeedForward, x: jax.Array, options: BlockOptions, layer: PyTree
    ) -> tuple[jax.Array, jax.Array | None]:
        """The image of the stream under the linear map that its slopes make of the feed-forward network; and a bias."""
        line, (z,) = frozen_slopes(part, x, options), inner()
        return line(z, options), None if line.shift is None else fixed(line.shift)

    def at(self, place: Any) -> WeightedTokens:
        """These tokens, with biases counted to a row: 0 is the embedding, then the layers, L + 1 the final norm."""
        return dataclasses.replace(self, place=place)

    def step(self, kind: Kind, block: Block, streams: Streams, options: BlockOptions, layer: PyTree) -> Streams:
        """The stream behind a layer, times the weights of its state."""
        (x,) = kind(block, streams, options, self.at(layer), layer)
        return [self.states[layer][:, None] * x]
