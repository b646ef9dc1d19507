"""The dynamic parameters of each layer as linear operators: x_j = A_j x_{j−1} + c_j + C_j σ(B̄_j x_{j−1} + b_j).

Chapter K's forms with every coefficient evaluated at the actual input, kept in factors.  At the input itself the
equation is what the layer computes; at another input it is a layer with its attention, norms and gates frozen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.decomposition.frozen import (
    FrozenFeedForward,
    attention_shift,
    frozen_attention,
    frozen_feed_forward,
    frozen_norm,
    norm_shift,
)
from uat_jax.decomposition.operators import Diagonal, Identity, OnFeatures, Operator
from uat_jax.networks.activations import Activation
from uat_jax.networks.block import Block, BlockOptions, attention_of
from uat_jax.networks.model import Model
from uat_jax.networks.norms import Norm


class Within(NamedTuple):
    """How changes inside of a layer reach x_j, everything but σ frozen.

    A change d of what the attention adds becomes out(y) + C Δσ(inner(y)) with y = through(d), and a change t of what
    the activation adds becomes joined(t).
    """

    through: Operator
    """I, or the norm behind the attention."""
    out: Operator
    """I, or the norm behind the whole layer."""
    inner: Operator | None
    """To σ's argument, (N, M) → (N, F); None where the feed-forward network does not see the attention."""
    joined: Operator
    """I, or the norms behind the feed-forward network."""


@jax.tree_util.register_dataclass
@dataclass(frozen=True)
class Layer:
    """One layer of Theorem 1."""

    A: Operator
    """(N, M) → (N, M)."""
    B: Operator
    """B̄, (N, M) → (N, F)."""
    C: Operator
    """(N, F) → (N, M)."""
    b: jax.Array
    """(N, F)."""
    c: jax.Array
    """(N, M)."""
    within: Within
    activation: Activation = field(metadata={"static": True})

    def hidden(self, x: jax.Array) -> jax.Array:
        """s = σ(B̄ x + b), (N, M) → (N, F)."""
        return self.activation(self.B(x) + self.b)

    def __call__(self, x: jax.Array) -> jax.Array:
        """A x + c + C s, (N, M) → (N, M)."""
        return self.A(x) + self.c + self.C(self.hidden(x))


def operators(
    model: Model,
    tokens: jax.Array,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> tuple[Layer, ...]:
    """The layers 1, …, L at N token numbers, each frozen at its own input x_{j−1}.  Raises what `terms` raises."""
    options, freeze = model.schedule(tokens.shape[0], precision, length), KINDS[model.architecture.kind]
    x, layers = model.embed(tokens), []
    for number, block in enumerate(model.blocks, 1):
        layers.append(freeze(block, x, options(number)))
        x = layers[-1](x)
    return tuple(layers)


def pre_norm(block: Block, x: jax.Array, options: BlockOptions) -> Layer:
    """A = I + M N_1, a = M(1 ⊗ β_1) + a_MHA, W = T_1 N_2, seen from y = A x + a (K5, K11).

    A norm behind the attention stands in front of M and a, one behind the feed-forward in front of C and c.
    """
    norm_1, shift_1 = _norm(block.norm_1, x, options, needed=block.after_1 is None)
    attend, a, through = _attention(block, x, norm_1, shift_1, options)
    A = Identity(x) + attend
    y = A(x) + a
    norm_2, shift_2 = _norm(block.norm_2, y, options, needed=block.after_2 is None)
    z = norm_2(y) + shift_2
    part = frozen_feed_forward(block.feed_forward, z, options)
    into, C = _feed_forward(part, len(x), options)
    c, after = _or_zero(part.out_shift, x), Identity(x)
    b = into(norm_2(a) + shift_2) + _or_zero(part.into_shift, x)
    if block.after_2 is not None:
        after, shift = _norm(block.after_2, part.term(z, options) + c, options)
        C, c = after @ C, after(jnp.broadcast_to(c, x.shape)) + shift
    within = Within(through, Identity(x), into @ norm_2, after)
    return Layer(A, into @ norm_2 @ A, C, b, a + c, within, options.activation)


def _attention(
    block: Block, x: jax.Array, norm: Operator, shift: jax.Array, options: BlockOptions
) -> tuple[Operator, jax.Array, Operator]:
    """M N_1 and a, with the norm behind the attention in front of both if there is one; and that norm, or I."""
    mixing = frozen_attention(attention_of(block), norm(x) + shift, options)
    attend, a = mixing @ norm, mixing(shift) + attention_shift(attention_of(block), options.precision)
    if block.after_1 is None:
        return attend, a, Identity(x)
    after, own = _norm(block.after_1, attend(x) + a, options)
    return after @ attend, after(a) + own, after


def parallel(block: Block, x: jax.Array, options: BlockOptions) -> Layer:
    """A = I + M N_1, a = M(1 ⊗ β_1) + a_MHA, W = T_1 N_2 seen from x itself; N_2 = N_1 where there is but one norm."""
    norm_1, shift_1 = _norm(block.norm_1, x, options)
    norm_2, shift_2 = _norm(block.norm_2 or block.norm_1, x, options)
    attend, a, through = _attention(block, x, norm_1, shift_1, options)
    part = frozen_feed_forward(block.feed_forward, norm_2(x) + shift_2, options)
    into, C = _feed_forward(part, len(x), options)
    b = into(shift_2) + _or_zero(part.into_shift, x)
    c, within = a + _or_zero(part.out_shift, x), Within(through, Identity(x), None, Identity(x))
    return Layer(Identity(x) + attend, into @ norm_2, C, b, c, within, options.activation)


def lone(block: Block, x: jax.Array, options: BlockOptions) -> Layer:
    """A = I: σ sees B̄ N_2 x, and there is no attention whose changes could reach x_j."""
    norm, shift = _norm(block.norm_2, x, options)
    part = frozen_feed_forward(block.feed_forward, norm(x) + shift, options)
    into, C = _feed_forward(part, len(x), options)
    b, c = into(shift) + _or_zero(part.into_shift, x), _rows(_or_zero(part.out_shift, x), x)
    within = Within(Identity(x), Identity(x), None, Identity(x))
    return Layer(Identity(x), into @ norm, C, b, c, within, options.activation)


def post_norm(block: Block, x: jax.Array, options: BlockOptions) -> Layer:
    """A_y = N_1 (I + M), then N_2 in front of everything: A = N_2 A_y, C = N_2 T_2 (K6)."""
    attend = Identity(x) + frozen_attention(attention_of(block), x, options)
    shift = _rows(attention_shift(attention_of(block), options.precision), x)
    norm_1 = frozen_norm(block.norm_1, attend(x) + shift, options.epsilon)
    to_y, a = norm_1 @ attend, norm_1(shift) + norm_shift(block.norm_1)
    y = to_y(x) + a
    part = frozen_feed_forward(block.feed_forward, y, options)
    into, out = _feed_forward(part, len(x), options)
    b, c = into(a) + _or_zero(part.into_shift, x), a + _or_zero(part.out_shift, x)
    r = to_y(x) + c + part.term(y, options)
    norm_2 = frozen_norm(block.norm_2, r, options.epsilon)
    c, within = norm_2(c) + norm_shift(block.norm_2), Within(norm_1, norm_2, into, norm_2)
    return Layer(norm_2 @ to_y, into @ to_y, norm_2 @ out, b, c, within, options.activation)


KINDS: dict[str, Callable[[Block, jax.Array, BlockOptions], Layer]] = {
    "pre-norm": pre_norm,
    "post-norm": post_norm,
    "parallel": parallel,
    "lone": lone,
}
"""The kinds of block, as in `uat_jax.networks.model.BLOCKS`."""


def _norm(norm: Norm | None, x: jax.Array, options: BlockOptions, *, needed: bool = True) -> tuple[Operator, jax.Array]:
    """The norm frozen at x, and its shift for all tokens; where none is `needed`, I and 0 for None."""
    if norm is None and not needed:
        return Identity(x), jnp.zeros_like(x)
    return frozen_norm(norm, x, options.epsilon), _rows(norm_shift(norm), x)


def _feed_forward(part: FrozenFeedForward, tokens: int, options: BlockOptions) -> tuple[Operator, Operator]:
    """K T(W) and T(W') diag(d) R, where K and R, of a state space, lead from token to token."""
    into, out = (OnFeatures(W, tokens, options.precision) for W in (part.into, part.out))
    out = out if part.factor is None else out @ Diagonal(part.factor)
    return into if part.before is None else part.before @ into, out if part.behind is None else out @ part.behind


def _rows(row: jax.Array, like: jax.Array) -> jax.Array:
    """1 ⊗ v for a row v."""
    return jnp.broadcast_to(row, (len(like), row.shape[1]))


def _or_zero(shift: jax.Array | None, like: jax.Array) -> jax.Array:
    return jnp.zeros((1, 1), like.dtype) if shift is None else shift
