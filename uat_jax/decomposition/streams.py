"""A model's state as a sum of streams: every frozen attention and norm is applied to all of them at once (L3).

The state is x = Σ_s x_s.  A layer freezes its coefficients at x, sends every stream through the same linear maps, and
what it adds of its own (biases, the term of its activation) goes where a `Sorting` says.
"""

from __future__ import annotations

import functools
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.decomposition.frozen import (
    attention_shift,
    frozen_attention,
    frozen_feed_forward,
    frozen_norm,
    norm_shift,
)
from uat_jax.decomposition.operators import Mixing
from uat_jax.networks.block import Block, BlockOptions
from uat_jax.networks.decoder import embed
from uat_jax.networks.model import Model
from uat_jax.networks.norms import Norm
from uat_jax.networks.stack import Stack, carry

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
    def join(self, streams: Streams, term: jax.Array, layer: Any) -> Streams:
        """The streams with the term, (N, M), of a layer, 1, …, L, added; in a loop the number is a traced one."""

    def state(self, streams: Streams) -> jax.Array:
        """x, at which the coefficients of a layer are frozen: (N, M)."""
        return functools.reduce(jnp.add, streams)

    def mixed(self, mixing: Mixing, streams: Streams, layer: Any) -> Streams:
        """What the frozen attention of a layer makes of every stream."""
        return [mixing(z) for z in streams]


class Separate(Sorting):
    """Input path, bias path, and a stream for each layer; not for a loop, in which streams keep their number."""

    def start(self, x: jax.Array) -> Streams:
        """Input and an empty bias path: x − x is zero, and mapped and sharded like x."""
        return [x, x - x]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """To the second stream."""
        source, biases, *layers = streams
        return [source, biases + bias, *layers]

    def join(self, streams: Streams, term: jax.Array, layer: Any) -> Streams:
        """As a new stream, the last one."""
        return [*streams, term]


@dataclass(frozen=True)
class InPlaces(Sorting):
    """Streams as one batch (L + 2, N, M): input path, bias path, and a place for each layer."""

    layers: int
    """L."""

    def start(self, x: jax.Array) -> Streams:
        """The input, and empty places."""
        empty = jnp.broadcast_to((x - x)[None], (self.layers + 1, *x.shape))
        return [jnp.concatenate([x[None], empty])]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """To the second place."""
        return self._add(streams, bias, 1)

    def join(self, streams: Streams, term: jax.Array, layer: Any) -> Streams:
        """To the place of the layer."""
        return self._add(streams, term, layer + 1)

    def _add(self, streams: Streams, part: jax.Array, place: Any) -> Streams:
        here = jnp.arange(self.layers + 2) == place
        return [jnp.where(here[:, None, None], streams[0] + part[None], streams[0])]

    def state(self, streams: Streams) -> jax.Array:
        """The sum over the batch."""
        return _total(streams[0])

    def mixed(self, mixing: Mixing, streams: Streams, layer: Any) -> Streams:
        """One place after the other, those of later layers left empty."""
        one = lambda each: _unless_empty(each[0] > layer, mixing, each[1])
        return [jax.lax.map(one, (jnp.arange(self.layers + 2), streams[0]))]


class InTwo(Sorting):
    """p, the input and all biases, and u, the activations of all layers."""

    def start(self, x: jax.Array) -> Streams:
        """All of x, and an empty u."""
        return [x, x - x]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """To p."""
        p, u = streams
        return [p + bias, u]

    def join(self, streams: Streams, term: jax.Array, layer: Any) -> Streams:
        """To u."""
        p, u = streams
        return [p, u + term]

    def mixed(self, mixing: Mixing, streams: Streams, layer: Any) -> Streams:
        """There is no u before the first layer's activation."""
        p, u = streams
        return [mixing(p), _unless_empty(layer == 1, mixing, u)]


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

    def join(self, streams: Streams, term: jax.Array, layer: Any) -> Streams:
        """To the rest."""
        return self.shift(streams, term)

    def state(self, streams: Streams) -> jax.Array:
        """The sum over the batch."""
        return _total(streams[0])


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

    def join(self, streams: Streams, term: jax.Array, layer: Any) -> Streams:
        """w_{layer + 1} times the term more."""
        return [streams[0] + self._weighted(layer + 1, term)]

    def state(self, streams: Streams) -> jax.Array:
        """x as a constant."""
        return jax.lax.stop_gradient(streams[0])

    def _weighted(self, source: int, x: jax.Array) -> jax.Array:
        return self.weights[source][:, None] * jax.lax.stop_gradient(x)


def _total(batch: jax.Array) -> jax.Array:
    """Σ_s x_s, (S, N, M) → (N, M), as a product with ones: XLA's CPU backend sums a first axis fifty times slower."""
    return jnp.einsum("s,snm->nm", jnp.ones_like(batch, shape=len(batch)), batch, precision="highest")


def _unless_empty(empty: Any, mixing: Mixing, z: jax.Array) -> jax.Array:
    """mixing(z); an empty z, of zeros, is what would come of it."""
    if isinstance(empty, bool):
        return z if empty else mixing(z)
    return jax.lax.cond(empty, lambda z: z, lambda z: mixing(z), z)


def pre_norm(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: Any) -> Streams:
    """y = x + MHA(norm_1 x), then y + FFN(norm_2 y), stream by stream."""
    inner = normed(block.norm_1, streams, options.epsilon, sorting)
    streams = _attended(block, streams, inner, options, sorting, layer)
    state = sorting.state(streams)
    y = frozen_norm(block.norm_2, state, options.epsilon)(state) + norm_shift(block.norm_2)
    return _activated(block, streams, y, options, sorting, layer)


def post_norm(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: Any) -> Streams:
    """y = norm_1(x + MHA(x)), then norm_2(y + FFN(y)), stream by stream; norm_2 meets the layer's own term too."""
    streams = _attended(block, streams, streams, options, sorting, layer)
    streams = normed(block.norm_1, streams, options.epsilon, sorting)
    streams = _activated(block, streams, sorting.state(streams), options, sorting, layer)
    return normed(block.norm_2, streams, options.epsilon, sorting)


KINDS: Mapping[str, Callable[[Block, Streams, BlockOptions, Sorting, Any], Streams]] = {
    "pre-norm": pre_norm,
    "post-norm": post_norm,
}
"""The kinds of block, as in `uat_jax.networks.model.BLOCKS`."""


def states_of(
    model: Model, tokens: jax.Array, sorting: Sorting, *, precision: jax.lax.PrecisionLike = "highest"
) -> tuple[Streams, ...]:
    """The streams whose sums are `model.states(tokens)`, tokens (N,): those of x_0, x_1, …, x_L."""
    step, states = _step(model, tokens, sorting, precision), [_embedded(model, tokens, sorting)]
    for layer, block in enumerate(model.blocks, 1):
        states.append(step(states[-1], block, layer))
    return tuple(states)


def streams_of(
    model: Model, tokens: jax.Array, sorting: Sorting, *, precision: jax.lax.PrecisionLike = "highest"
) -> Streams:
    """The streams whose sum is `model.hidden(tokens)`, tokens (N,)."""
    return carry(_step(model, tokens, sorting, precision), _embedded(model, tokens, sorting), model.blocks)


def separate(model: Model) -> Sorting:
    """Input path, bias path and a stream for each layer."""
    return InPlaces(len(model.blocks)) if isinstance(model.blocks, Stack) else Separate()


def as_array(streams: Streams) -> jax.Array:
    """All streams, batched or not, as one array (S, N, M)."""
    return jnp.reshape(jnp.stack(streams), (-1, *streams[0].shape[-2:]))


def _embedded(model: Model, tokens: jax.Array, sorting: Sorting) -> Streams:
    """The streams of x_0."""
    streams = sorting.start(embed(model.embedding, tokens))
    if model.embedding_norm is None:
        return streams
    return normed(model.embedding_norm, streams, model.epsilon, sorting)


def _step(
    model: Model, tokens: jax.Array, sorting: Sorting, precision: jax.lax.PrecisionLike
) -> Callable[[Streams, Block, Any], Streams]:
    """One layer."""
    options, kind = model.options(tokens.shape[0], precision), KINDS[model.architecture.kind]
    return lambda streams, block, layer: kind(block, streams, options, sorting, layer)


def normed(norm: Norm | None, streams: Streams, epsilon: float, sorting: Sorting) -> Streams:
    """The norm, its scale that of the state, of every stream; β goes to the biases.

    All streams as one array: XLA recomputes a list's streams, whose sums it fuses, from the first layer on in each.
    """
    scaled = frozen_norm(norm, sorting.state(streams), epsilon)(jnp.stack(streams))
    return sorting.shift([scaled[s] for s in range(len(streams))], norm_shift(norm))


def _attended(
    block: Block, streams: Streams, inner: Streams, options: BlockOptions, sorting: Sorting, layer: Any
) -> Streams:
    """x + MHA(inner), the patterns those of the state of `inner`, stream by stream."""
    mixing = frozen_attention(block.attention, sorting.state(inner), options)
    streams = [x + z for x, z in zip(streams, sorting.mixed(mixing, inner, layer), strict=True)]
    return sorting.shift(streams, attention_shift(block.attention, options.precision))


def _activated(
    block: Block, streams: Streams, inner: jax.Array, options: BlockOptions, sorting: Sorting, layer: Any
) -> Streams:
    """The feed-forward network of `inner`: its activation joins the streams, its bias goes to the biases."""
    part = frozen_feed_forward(block.feed_forward, inner, options)
    if part.out_shift is not None:
        streams = sorting.shift(streams, part.out_shift)
    return sorting.join(streams, part.term(inner, options), layer)
