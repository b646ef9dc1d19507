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
from uat_jax.networks.adapted import times
from uat_jax.networks.block import Block, BlockOptions, attention_of
from uat_jax.networks.decoder import embed
from uat_jax.networks.feed_forward_part import AnyFeedForward
from uat_jax.networks.model import Model
from uat_jax.networks.multihead import MultiHead
from uat_jax.networks.norms import Norm
from uat_jax.networks.stack import Stack, carry
from uat_jax.typing import PyTree

Streams = list[jax.Array]
"""Arrays (N, M), or a batch (S, N, M) of such streams, whose sum is the state.

A list and not one array: on a CPU an attention for each stream runs faster than one for all of them, whose values
would have to be transposed, and no stream is copied where another one is added.
"""

Kind = Callable[[Block, Streams, BlockOptions, "Sorting", Any], Streams]
"""A kind of block in streams: (block, streams, options, sorting, number of the layer) → streams."""


class Sorting(ABC):
    """Which stream an addition goes to."""

    @abstractmethod
    def start(self, x: jax.Array) -> Streams:
        """The streams of the embedded tokens, (N, M)."""

    @abstractmethod
    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The streams with a bias, (1, M) or (N, M), added."""

    @abstractmethod
    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The streams with the term, (N, M), of a layer, 1, …, L, added; in a loop the number is a traced one."""

    def state(self, streams: Streams) -> jax.Array:
        """x, at which the coefficients of a layer are frozen: (N, M)."""
        return functools.reduce(jnp.add, streams)

    def mixed(self, mixing: Mixing, streams: Streams, layer: PyTree) -> Streams:
        """What the frozen attention of a layer makes of every stream."""
        return [mixing(z) for z in streams]

    def attention(
        self, inner: Streams, attention: MultiHead, options: BlockOptions, layer: PyTree
    ) -> tuple[Streams, jax.Array | None]:
        """MHA(inner) without biases, stream by stream, the patterns frozen at the state of `inner`; and the biases."""
        mixing = frozen_attention(attention, self.state(inner), options)
        return self.mixed(mixing, inner, layer), attention_shift(attention, options.precision)

    def activation(
        self, inner: Callable[[], Streams], part: AnyFeedForward, x: jax.Array, options: BlockOptions, layer: PyTree
    ) -> tuple[jax.Array, jax.Array | None]:
        """What the feed-forward network adds at x, the sum of the streams `inner`: its term, (N, M), and its bias."""
        frozen = frozen_feed_forward(part, x, options)
        return frozen.term(x, options), frozen.out_shift

    def step(self, kind: Kind, block: Block, streams: Streams, options: BlockOptions, layer: PyTree) -> Streams:
        """The streams behind a layer."""
        return kind(block, streams, options, self, layer)


class Separate(Sorting):
    """Input path, bias path, and a stream for each layer; not for a loop, in which streams keep their number."""

    def start(self, x: jax.Array) -> Streams:
        """The input path x, and the bias path, still zero: x − x is mapped and sharded like x."""
        return [x, x - x]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The streams with the bias added to the second one, the bias path."""
        source, biases, *layers = streams
        return [source, biases + bias, *layers]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The streams with the term as one more stream at the end."""
        return [*streams, term]


@dataclass(frozen=True)
class InPlaces(Sorting):
    """Streams as one batch (L + 2, N, M): input path, bias path, and a place for each layer."""

    layers: int
    """L."""

    def start(self, x: jax.Array) -> Streams:
        """One batch: the input x in place 0, and zeros in the L + 1 places of the bias path and the layers."""
        empty = jnp.broadcast_to((x - x)[None], (self.layers + 1, *x.shape))
        return [jnp.concatenate([x[None], empty])]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The batch with the bias added to place 1, the bias path."""
        return self._add(streams, bias, 1)

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The batch with the term added to place layer + 1, that of the layer."""
        return self._add(streams, term, layer + 1)

    def _add(self, streams: Streams, part: jax.Array, place: Any) -> Streams:
        here = jnp.arange(self.layers + 2) == place
        return [jnp.where(here[:, None, None], streams[0] + part[None], streams[0])]

    def state(self, streams: Streams) -> jax.Array:
        """The state x: the sum over the places of the batch, (N, M)."""
        return _total(streams[0])

    def mixed(self, mixing: Mixing, streams: Streams, layer: PyTree) -> Streams:
        """The frozen attention applied to one place after the other; places of later layers are zero and stay so."""
        one = lambda each: _unless_empty(each[0] > layer, mixing, each[1])
        return [jax.lax.map(one, (jnp.arange(self.layers + 2), streams[0]))]


class InTwo(Sorting):
    """p, the input and all biases, and u, the activations of all layers."""

    def start(self, x: jax.Array) -> Streams:
        """p = x and u = 0."""
        return [x, x - x]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The two streams with the bias added to p."""
        p, u = streams
        return [p + bias, u]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The two streams with the activation's term added to u."""
        p, u = streams
        return [p, u + term]

    def mixed(self, mixing: Mixing, streams: Streams, layer: PyTree) -> Streams:
        """The frozen attention applied to p and to u; in layer 1, where u is still zero, to p alone."""
        p, u = streams
        return [mixing(p), _unless_empty(layer == 1, mixing, u)]


class ByToken(Sorting):
    """One batch (N + 1, N, M): the input path of each token, and as the last stream all biases and activations."""

    def start(self, x: jax.Array) -> Streams:
        """The batch in which stream n holds row n of x and zeros elsewhere, and the last stream is zero."""
        N = len(x)
        return [jnp.eye(N + 1, N, dtype=x.dtype)[:, :, None] * x[None]]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The batch with the bias added to the last stream."""
        rows, rest = streams[0][:-1], streams[0][-1]
        return [jnp.concatenate([rows, (rest + bias)[None]])]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The batch with the term added to the last stream, to which biases go too."""
        return self.shift(streams, term)

    def state(self, streams: Streams) -> jax.Array:
        """The state x: the sum over the streams of the batch, (N, M)."""
        return _total(streams[0])


@dataclass(frozen=True)
class Weighted(Sorting):
    """One stream in which source s at token n counts w_sn times, with coefficients frozen where all w are 1.

    The result is linear in w, so that at w = 1 the derivative by w_sn is the contribution of source s at token n.
    """

    weights: jax.Array
    """w, (L + 2, N): input, biases, layers."""

    def start(self, x: jax.Array) -> Streams:
        """One stream, the input times its weights: w_0 x."""
        return [self._weighted(0, x)]

    def shift(self, streams: Streams, bias: jax.Array) -> Streams:
        """The stream with the bias added, times its weights w_1."""
        return [streams[0] + self._weighted(1, bias)]

    def join(self, streams: Streams, term: jax.Array, layer: PyTree) -> Streams:
        """The stream with the term of a layer added, times the layer's weights w_{layer + 1}."""
        return [streams[0] + self._weighted(layer + 1, term)]

    def state(self, streams: Streams) -> jax.Array:
        """The stream as a constant, so that coefficients frozen at it have no derivative by w."""
        return jax.lax.stop_gradient(streams[0])

    def _weighted(self, source: int, x: jax.Array) -> jax.Array:
        return self.weights[source][:, None] * jax.lax.stop_gradient(x)


def _total(batch: jax.Array) -> jax.Array:
    """Σ_s x_s, (S, N, M) → (N, M), as a product with ones: XLA's CPU backend sums a first axis fifty times slower."""
    return jnp.einsum("s,snm->nm", jnp.ones_like(batch, shape=len(batch)), batch, precision="highest")


def _unless_empty(empty: bool, mixing: Mixing, z: jax.Array) -> jax.Array:
    """mixing(z), which is linear; where `empty` says that z is zero, z itself, so that nothing is computed."""
    if isinstance(empty, bool):
        return z if empty else mixing(z)
    return jax.lax.cond(empty, lambda z: z, lambda z: mixing(z), z)


def pre_norm(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: PyTree) -> Streams:
    """y = x + MHA(norm_1 x), then y + FFN(norm_2 y), stream by stream; with norms behind either, these too."""
    bare = block.norm_1 is None and block.after_1 is not None
    inner = streams if bare else normed(block.norm_1, streams, options.epsilon, sorting)
    y = _attended(block, streams, inner, options, sorting, layer)
    if block.norm_2 is None and block.after_2 is not None:
        return _activated(block, y, lambda: y, sorting.state(y), options, sorting, layer)
    again = lambda: normed(block.norm_2, y, options.epsilon, sorting)
    return _activated(block, y, again, _norm_of_state(block.norm_2, y, options, sorting), options, sorting, layer)


def post_norm(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: PyTree) -> Streams:
    """y = norm_1(x + MHA(x)), then norm_2(y + FFN(y)), stream by stream; norm_2 meets the layer's own term too."""
    streams = _attended(block, streams, streams, options, sorting, layer)
    y = normed(block.norm_1, streams, options.epsilon, sorting)
    streams = _activated(block, y, lambda: y, sorting.state(y), options, sorting, layer)
    return normed(block.norm_2, streams, options.epsilon, sorting)


def parallel(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: PyTree) -> Streams:
    """x + MHA(norm_1 x) + FFN(norm_2 x), stream by stream; without norm_2 the feed-forward sees norm_1 x too."""
    inner = normed(block.norm_1, streams, options.epsilon, sorting)
    again = lambda: inner if block.norm_2 is None else normed(block.norm_2, streams, options.epsilon, sorting)
    alone = block.norm_2 is None
    seen = sorting.state(inner) if alone else _norm_of_state(block.norm_2, streams, options, sorting)
    y = _attended(block, streams, inner, options, sorting, layer)
    return _activated(block, y, again, seen, options, sorting, layer)


def lone(block: Block, streams: Streams, options: BlockOptions, sorting: Sorting, layer: PyTree) -> Streams:
    """x + FFN(norm_2 x), stream by stream."""
    again = lambda: normed(block.norm_2, streams, options.epsilon, sorting)
    seen = _norm_of_state(block.norm_2, streams, options, sorting)
    return _activated(block, streams, again, seen, options, sorting, layer)


def _norm_of_state(norm: Norm | None, streams: Streams, options: BlockOptions, sorting: Sorting) -> jax.Array:
    """The norm of the state, whose streams need not be known one by one."""
    state = sorting.state(streams)
    return frozen_norm(norm, state, options.epsilon)(state) + norm_shift(norm)


KINDS: Mapping[str, Kind] = {
    "pre-norm": pre_norm,
    "post-norm": post_norm,
    "parallel": parallel,
    "lone": lone,
}
"""The kinds of block, as in `uat_jax.networks.model.BLOCKS`."""


def states_of(
    model: Model,
    tokens: jax.Array,
    sorting: Sorting,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> tuple[Streams, ...]:
    """The streams whose sums are `model.states(tokens, length)`, tokens (N,): those of x_0, x_1, …, x_L."""
    step, states = _step(model, tokens, sorting, precision, length), [_embedded(model, tokens, sorting)]
    for layer, block in enumerate(model.blocks, 1):
        states.append(step(states[-1], block, layer))
    return tuple(states)


def streams_of(
    model: Model,
    tokens: jax.Array,
    sorting: Sorting,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> Streams:
    """The streams whose sum is `model.hidden(tokens, length)`, tokens (N,)."""
    return carry(_step(model, tokens, sorting, precision, length), _embedded(model, tokens, sorting), model.blocks)


def separate(model: Model) -> Sorting:
    """Input path, bias path and a stream for each layer."""
    return InPlaces(len(model.blocks)) if isinstance(model.blocks, Stack) else Separate()


def as_array(streams: Streams) -> jax.Array:
    """All streams, batched or not, as one array (S, N, M)."""
    return jnp.reshape(jnp.stack(streams), (-1, *streams[0].shape[-2:]))


def _embedded(model: Model, tokens: jax.Array, sorting: Sorting) -> Streams:
    """The streams of x_0."""
    streams = sorting.start(embed(model.embedding, tokens))
    if model.embedding_norm is not None:
        streams = normed(model.embedding_norm, streams, model.epsilon, sorting)
    if model.affine is None:
        return streams
    streams = [times(x, model.affine.matrix) for x in streams]
    return sorting.shift(streams, model.affine.bias[None])


def _step(
    model: Model, tokens: jax.Array, sorting: Sorting, precision: jax.lax.PrecisionLike, length: jax.Array | None
) -> Callable[[Streams, Block, PyTree], Streams]:
    """The function (streams, block, layer number) ↦ streams that applies one layer of the model."""
    options, kind = model.schedule(tokens.shape[0], precision, length), KINDS[model.architecture.kind]
    return lambda streams, block, layer: sorting.step(kind, block, streams, options(layer), layer)


def normed(norm: Norm | None, streams: Streams, epsilon: float, sorting: Sorting) -> Streams:
    """Every stream under the norm with its scale frozen at the state; β goes to the biases.

    The streams are normed as one array: XLA fuses the sums of a list, and computes each stream from the first layer on
    again for every stream.
    """
    scaled = frozen_norm(norm, sorting.state(streams), epsilon)(jnp.stack(streams))
    return sorting.shift([scaled[s] for s in range(len(streams))], norm_shift(norm))


def _attended(
    block: Block, streams: Streams, inner: Streams, options: BlockOptions, sorting: Sorting, layer: PyTree
) -> Streams:
    """x + MHA(inner), stream by stream, with the norm behind the attention if there is one."""
    added, shift = sorting.attention(inner, attention_of(block), options, layer)
    shifted = lambda streams: streams if shift is None else sorting.shift(streams, shift)
    if block.after_1 is not None:
        added = normed(block.after_1, shifted(added), options.epsilon, sorting)
        return [x + z for x, z in zip(streams, added, strict=True)]
    return shifted([x + z for x, z in zip(streams, added, strict=True)])


def _activated(
    block: Block,
    streams: Streams,
    inner: Callable[[], Streams],
    x: jax.Array,
    options: BlockOptions,
    sorting: Sorting,
    layer: PyTree,
) -> Streams:
    """The feed-forward network at x, the sum of `inner`: its activation joins the streams, its bias is a shift."""
    term, shift = sorting.activation(inner, block.feed_forward, x, options, layer)
    if block.after_2 is not None:
        state = jax.lax.stop_gradient(term if shift is None else term + shift)
        scaled, own = frozen_norm(block.after_2, state, options.epsilon), norm_shift(block.after_2)
        shift = own if shift is None else scaled(jnp.broadcast_to(shift, term.shape)) + own
        term = scaled(term)
    if shift is not None:
        streams = sorting.shift(streams, shift)
    return sorting.join(streams, term, layer)
