"""A model's state as a sum of streams: every frozen attention and norm is applied to all of them at once (L3).

The state is x = Σ_s x_s.  A layer freezes its coefficients at x, sends every stream through the same linear maps, and
what it adds of its own (biases, the term of its activation) goes where a `Sorting` says.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass

import jax
import jax.numpy as jnp

from uat_jax.decomposition.frozen import (
    attention_shift,
    frozen_attention,
    frozen_feed_forward,
    frozen_norm,
    norm_shift,
)
from uat_jax.networks.block import Block, BlockOptions
from uat_jax.networks.decoder import embed
from uat_jax.networks.model import Model
from uat_jax.networks.norms import Norm

Streams = list[jax.Array]
"""Arrays (N, M), or a batch (S, N, M) of such streams, whose sum is the state.

A list and not one array: on a CPU an attention for each stream runs faster than one for all of them, whose values
would have to be transposed, and no stream is copied where another one is added.
"""


class Sorting(ABC):
    """Which stream an addition goes to."""

    @abstractmethod
    def start(self, x: jax.Array) -> Streams:
        """The streams of the embedded tokens, (N, M)."""

    @abstractmethod
    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The streams with a bias, (1, M) or (N, M), added."""

    @abstractmethod
    def join(self, streams: Streams, term: jax.Array, layer: int) -> Streams:
        """The streams with the term, (N, M), of a layer, 1, …, L, added."""

    def state(self, streams: Streams) -> jax.Array:
        """x, at which the coefficients of a layer are frozen: (N, M)."""
        return functools.reduce(jnp.add, streams)


class Separate(Sorting):
    """Input path, bias path, and a stream for each layer."""

    def start(self, x: jax.Array) -> Streams:
        """Input and an empty bias path."""
        return [x, jnp.zeros_like(x)]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """To the second stream."""
        source, biases, *layers = streams
        return [source, biases + bias, *layers]

    def join(self, streams: Streams, term: jax.Array, layer: int) -> Streams:
        """As a new stream, the last one."""
        return [*streams, term]


class InTwo(Sorting):
    """p, the input and all biases, and u, the activations of all layers."""

    def start(self, x: jax.Array) -> Streams:
        """Only p: there is no u before the first layer's activation."""
        return [x]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """To p."""
        p, *u = streams
        return [p + bias, *u]

    def join(self, streams: Streams, term: jax.Array, layer: int) -> Streams:
        """To u."""
        p, *u = streams
        return [p, *(part + term for part in u)] if u else [p, term]


class ByToken(Sorting):
    """One batch (N + 1, N, M): the input path of each token, and last all the rest."""

    def start(self, x: jax.Array) -> Streams:
        """Row n of x alone in stream n, and nothing yet in the rest."""
        N = len(x)
        return [jnp.eye(N + 1, N, dtype=x.dtype)[:, :, None] * x[None]]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """To the rest."""
        rows, rest = streams[0][:-1], streams[0][-1]
        return [jnp.concatenate([rows, (rest + bias)[None]])]

    def join(self, streams: Streams, term: jax.Array, layer: int) -> Streams:
        """To the rest."""
        return self.shift(streams, term)

    def state(self, streams: Streams) -> jax.Array:
        """The sum over the batch."""
        return jnp.sum(streams[0], axis=0)


@dataclass(frozen=True)
class Weighted(Sorting):
    """One stream in which source s at token n counts w_sn times, with coefficients frozen where all w are 1.

    The result is linear in w, so that at w = 1 the derivative by w_sn is the contribution of source s at token n.
    """

    weights: jax.Array
    """w, (L + 2, N): input, biases, layers."""

    def start(self, x: jax.Array) -> Streams:
        """w_0 x."""
        return [self._weighted(0, x)]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """w_1 times the bias more."""
        return [streams[0] + self._weighted(1, bias)]

    def join(self, streams: Streams, term: jax.Array, layer: int) -> Streams:
        """w_{layer + 1} times the term more."""
        return [streams[0] + self._weighted(layer + 1, term)]

    def state(self, streams: Streams) -> jax.Array:
        """x as a constant."""
        return jax.lax.stop_gradient(streams[0])

    def _weighted(self, source: int, x: jax.Array) -> jax.Array:
        return self.weights[source][:, None] * jax.lax.stop_gradient(x)


def pre_norm(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: int) -> Streams:
    """y = x + MHA(norm_1 x), then y + FFN(norm_2 y), stream by stream."""
    inner = normed(block.norm_1, streams, options.epsilon, sorting)
    streams = _attended(block, streams, inner, options, sorting)
    state = sorting.state(streams)
    y = frozen_norm(block.norm_2, state, options.epsilon)(state) + norm_shift(block.norm_2)
    return _activated(block, streams, y, options, sorting, layer)


def post_norm(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: int) -> Streams:
    """y = norm_1(x + MHA(x)), then norm_2(y + FFN(y)), stream by stream; norm_2 meets the layer's own term too."""
    streams = _attended(block, streams, streams, options, sorting)
    streams = normed(block.norm_1, streams, options.epsilon, sorting)
    streams = _activated(block, streams, sorting.state(streams), options, sorting, layer)
    return normed(block.norm_2, streams, options.epsilon, sorting)


KINDS: Mapping[str, Callable[[Block, Streams, BlockOptions, Sorting, int], Streams]] = {
    "pre-norm": pre_norm,
    "post-norm": post_norm,
}
"""The kinds of block, as in `uat_jax.networks.model.BLOCKS`."""


def streams_of(
    model: Model, tokens: jax.Array, sorting: Sorting, *, precision: jax.lax.PrecisionLike = "highest"
) -> Streams:
    """The streams whose sum is `model.hidden(tokens)`, tokens (N,)."""
    options, kind = model.options(tokens.shape[0], precision), KINDS[model.architecture.kind]
    streams = sorting.start(embed(model.embedding, tokens))
    if model.embedding_norm is not None:
        streams = normed(model.embedding_norm, streams, model.epsilon, sorting)
    for layer, block in enumerate(model.blocks, 1):
        streams = kind(block, streams, options, sorting, layer)
    return streams


def normed(norm: Norm | None, streams: Streams, epsilon: float, sorting: Sorting) -> Streams:
    """The norm, its scale that of the state, of every stream; β goes to the biases.

    All streams as one array: XLA recomputes a list's streams, whose sums it fuses, from the first layer on in each.
    """
    scaled = frozen_norm(norm, sorting.state(streams), epsilon)(jnp.stack(streams))
    return sorting.shift([scaled[s] for s in range(len(streams))], norm_shift(norm))


def _attended(block: Block, streams: Streams, inner: Streams, options: BlockOptions, sorting: Sorting) -> Streams:
    """x + MHA(inner), the patterns those of the state of `inner`, stream by stream."""
    mixing = frozen_attention(block.attention, sorting.state(inner), options)
    streams = [x + mixing(z) for x, z in zip(streams, inner, strict=True)]
    return sorting.shift(streams, attention_shift(block.attention, options.precision))


def _activated(
    block: Block, streams: Streams, inner: jax.Array, options: BlockOptions, sorting: Sorting, layer: int
) -> Streams:
    """The feed-forward network of `inner`: its activation joins the streams, its bias goes to the biases."""
    part = frozen_feed_forward(block.feed_forward, inner, options)
    if part.out_shift is not None:
        streams = sorting.shift(streams, part.out_shift)
    return sorting.join(streams, part.term(inner, options), layer)
