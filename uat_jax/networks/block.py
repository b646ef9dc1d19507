"""The blocks of real Transformers: how norms, attention, feed-forward and residual connections are put together."""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks.activations import Activation
from uat_jax.networks.feed_forward_part import (
    AnyFeedForward,
    FeedForward,
    GatedFeedForward,
    MixtureOfGated,
    gated_feed_forward,
    initialise_feed_forward,
    initialise_gated,
    mixture_of_experts,
    mixture_of_gated,
    plain_feed_forward,
)
from uat_jax.networks.multihead import PLAIN, MultiHead, Scoring, initialise_multihead, multihead
from uat_jax.networks.norms import EPSILON, Norm, initialise_layer_norm, initialise_rms_norm, normalise
from uat_jax.networks.state_space import StateSpace, state_space


class Block(NamedTuple):
    """The parameters of one block. A norm may be None where the kind of block has no use for it.

    In pre-norm blocks a norm may stand behind attention or feed-forward, within the residual connection (OLMo 2), or on
    either side (Gemma 2).  A block that is one part alone has no attention (Mamba).
    """

    attention: MultiHead | None
    feed_forward: AnyFeedForward
    norm_1: Norm | None = None
    """The norm of the attention."""
    norm_2: Norm | None = None
    """The norm of the feed-forward."""
    after_1: Norm | None = None
    """The norm of what the attention adds."""
    after_2: Norm | None = None
    """The norm of what the feed-forward adds."""

    @property
    def heads(self) -> int:
        """How many heads the attention has; 0 without one."""
        return 0 if self.attention is None else self.attention.output.shape[0]


class BlockOptions(NamedTuple):
    """What a block does with its parameters."""

    activation: Activation
    """σ of the feed-forward."""
    scoring: Scoring = PLAIN
    """Mask, biases, positions and scale of the attention."""
    top: int | None = None
    """How many experts of a mixture count; None is all."""
    whole: bool = True
    """Whether the gates of those that count add up to 1."""
    epsilon: float = EPSILON
    """ε of the norms."""
    precision: jax.lax.PrecisionLike = "highest"
    """That of every matrix product."""


def initialise_gpt_block(
    key: jax.Array, *, features: int, heads: int, hidden: int, dtype: jax.typing.DTypeLike = jnp.float32
) -> Block:
    """LayerNorm, attention with all biases, plain feed-forward; each part is drawn from its own key."""
    keys = [jax.random.fold_in(key, part) for part in range(4)]
    return Block(
        initialise_multihead(keys[0], features=features, heads=heads, dtype=dtype),
        initialise_feed_forward(keys[1], features, hidden, dtype),
        initialise_layer_norm(keys[2], features, dtype),
        initialise_layer_norm(keys[3], features, dtype),
    )


def initialise_llama_block(
    key: jax.Array, *, features: int, heads: int, groups: int, hidden: int, dtype: jax.typing.DTypeLike = jnp.float32
) -> Block:
    """RMSNorm, grouped-query attention without biases, gated feed-forward; each part is drawn from its own key."""
    keys = [jax.random.fold_in(key, part) for part in range(4)]
    return Block(
        initialise_multihead(keys[0], features=features, heads=heads, groups=groups, biases=False, dtype=dtype),
        initialise_gated(keys[1], features, hidden, dtype),
        initialise_rms_norm(keys[2], features, dtype),
        initialise_rms_norm(keys[3], features, dtype),
    )


def residual_block(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    """y = x + MHA(x), then y + FFN(y), no norm: (N, M) → (N, M)."""
    y = x + _attend(block, x, options)
    return y + _feed(block, y, options)


def pre_norm_block(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    """y = x + MHA(norm_1(x)), then y + FFN(norm_2(y)) (GPT-2, Llama): (N, M) → (N, M).

    With norms behind attention and feed-forward y = x + after_1(MHA(norm_1(x))), then y + after_2(FFN(norm_2(y))), and
    norm_1 and norm_2 may be missing.
    """
    z = x if block.norm_1 is None and block.after_1 is not None else _norm_1(block, x, options)
    y = x + _normed(block.after_1, _attend(block, z, options), options)
    z = y if block.norm_2 is None and block.after_2 is not None else _norm_2(block, y, options)
    return y + _normed(block.after_2, _feed(block, z, options), options)


def post_norm_block(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    """y = norm_1(x + MHA(x)), then norm_2(y + FFN(y)) (Vaswani et al.): (N, M) → (N, M)."""
    y = _norm_1(block, x + _attend(block, x, options), options)
    return _norm_2(block, y + _feed(block, y, options), options)


def parallel_block(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    """x + MHA(n) + FFN(n) with n = norm_1(x) (GPT-J, PaLM): (N, M) → (N, M).

    With a norm of its own the feed-forward sees norm_2(x) (GPT-NeoX).
    """
    normed = _norm_1(block, x, options)
    other = normed if block.norm_2 is None else _norm_2(block, x, options)
    return x + _attend(block, normed, options) + _feed(block, other, options)


def lone_block(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    """x + FFN(norm_2(x)), no attention; the part is mostly a state space (Mamba): (N, M) → (N, M)."""
    return x + _feed(block, _norm_2(block, x, options), options)


def attention_of(block: Block) -> MultiHead:
    """The attention of a block that has one.  Raises `InputError` for one that has none."""
    if block.attention is None:
        raise InputError("got a block without attention, wanted one with heads; see the kind of its architecture")
    return block.attention


def _attend(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    return multihead(attention_of(block), x, scoring=options.scoring, precision=options.precision)


def _feed(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    layer, activation, precision = block.feed_forward, options.activation, options.precision
    if isinstance(layer, FeedForward):
        return plain_feed_forward(layer, x, activation, precision=precision)
    if isinstance(layer, GatedFeedForward):
        return gated_feed_forward(layer, x, activation, precision=precision)
    if isinstance(layer, MixtureOfGated):
        return mixture_of_gated(layer, x, activation, top=options.top, whole=options.whole, precision=precision)
    if isinstance(layer, StateSpace):
        return state_space(layer, x, activation, precision=precision)
    return mixture_of_experts(layer, x, activation, top=options.top, precision=precision)


def _normed(norm: Norm | None, x: jax.Array, options: BlockOptions) -> jax.Array:
    return x if norm is None else normalise(norm, x, epsilon=options.epsilon)


def _norm_1(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    return normalise(_present(block.norm_1, "norm_1"), x, epsilon=options.epsilon)


def _norm_2(block: Block, x: jax.Array, options: BlockOptions) -> jax.Array:
    return normalise(_present(block.norm_2, "norm_2"), x, epsilon=options.epsilon)


def _present(norm: Norm | None, name: str) -> Norm:
    if norm is None:
        raise InputError(f"got a block without {name}, wanted a LayerNorm or RMSNorm there; give one")
    return norm
