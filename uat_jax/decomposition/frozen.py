"""The parts of a block with their dynamic coefficients frozen at the actual input: patterns, scales, gates."""

from __future__ import annotations

import math
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.decomposition.operators import Convolving, Diagonal, Mixing, Operator, Recurring, Scaling
from uat_jax.errors import InputError
from uat_jax.networks.activations import Activation
from uat_jax.networks.adapted import Matrix, sum_of_products, times
from uat_jax.networks.block import BlockOptions
from uat_jax.networks.feed_forward_part import (
    AnyFeedForward,
    FeedForward,
    GatedFeedForward,
    MixtureOfExperts,
    MixtureOfGated,
    expert_gates,
)
from uat_jax.networks.multihead import MultiHead, multihead_weights
from uat_jax.networks.norms import LayerNorm, Norm
from uat_jax.networks.state_space import StateSpace, selected


def frozen_norm(norm: Norm | None, x: jax.Array, epsilon: float) -> Scaling:
    """The norm without β, its scale that of x: norm(x) = frozen_norm(norm, x)(x) + β.  (N, M).

    Raises `InputError` where a block lacks the norm that its kind needs.
    """
    gamma, centred = _present(norm).gamma, isinstance(norm, LayerNorm)
    deviation = x - jnp.mean(x, axis=-1, keepdims=True) if centred else x
    square = jnp.mean(deviation * deviation, axis=-1)
    return Scaling(jax.lax.rsqrt(square + jnp.asarray(epsilon, x.dtype)), gamma, centred)


def norm_shift(norm: Norm | None) -> jax.Array:
    """1 ⊗ β as one row for all tokens, (1, M); zero for RMSNorm."""
    if isinstance(norm, LayerNorm):
        return norm.beta[None]
    return jnp.zeros_like(_present(norm).gamma)[None]


def _present(norm: Norm | None) -> Norm:
    if norm is None:
        raise InputError("got a block without a norm, wanted a LayerNorm or RMSNorm there; give one")
    return norm


def frozen_attention(layer: MultiHead, x: jax.Array, options: BlockOptions) -> Mixing:
    """Attention without biases, its patterns those of x, (N, M)."""
    patterns = multihead_weights(layer, x, scoring=options.scoring, precision=options.precision)
    return Mixing(patterns, layer.value, layer.output, options.precision)


def attention_shift(layer: MultiHead, precision: jax.lax.PrecisionLike) -> jax.Array:
    """Σ_i b_{V,g(i)} W_{Oi} + b_O as one row, (1, M): the same for every input, because H_i 1 = 1 (K2)."""
    h, _, M = layer.output.shape
    shift = jnp.zeros((1, M), layer.output.dtype) if layer.output_bias is None else layer.output_bias[None]
    if layer.value_bias is None:
        return shift
    values = jnp.repeat(layer.value_bias, h // len(layer.value_bias), axis=0)
    return shift + sum_of_products(values[:, None, :], layer.output, precision=precision)


def with_value_bias(heads: jax.Array, attention: MultiHead) -> jax.Array:
    """H_i z W_V with b_V added, for rows of H_i add up to 1: (h, N, e)."""
    if attention.value_bias is None:
        return heads
    return heads + jnp.repeat(attention.value_bias, len(heads) // len(attention.value_bias), axis=0)[:, None, :]


class FrozenFeedForward(NamedTuple):
    """(R σ(K x W + b) ⊙ d) W' + b': what all feed-forward parts have in common (K8, K13).

    K and R lead from token to token in state spaces; else they are I.
    """

    into: Matrix
    """W, (M, F): W_1, or G, or the W_1 of all experts side by side."""
    into_shift: jax.Array | None
    """b as one row, (1, F)."""
    factor: jax.Array | None
    """d, (N, F), frozen: x U of a gated part, the gates of a mixture; None is 1."""
    out: Matrix
    """W', (F, M): W_2, or W_D, or the W_2 of all experts one below the other."""
    out_shift: jax.Array | None
    """b', (1, M) or, of a mixture, (N, M)."""
    before: Operator | None = None
    """K, the convolution over tokens in front of σ; None is I."""
    behind: Operator | None = None
    """R, the frozen recurrence over tokens behind σ; None is I."""

    def hidden(self, x: jax.Array, options: BlockOptions) -> jax.Array:
        """s = σ(K x W + b), (N, M) → (N, F)."""
        inside = times(x, self.into, precision=options.precision)
        inside = inside if self.before is None else self.before(inside)
        return options.activation(inside if self.into_shift is None else inside + self.into_shift)

    def scaled(self, x: jax.Array, options: BlockOptions) -> jax.Array:
        """R s ⊙ d, (N, M) → (N, F)."""
        s = self.hidden(x, options)
        s = s if self.behind is None else self.behind(s)
        return s if self.factor is None else s * self.factor

    def term(self, x: jax.Array, options: BlockOptions) -> jax.Array:
        """C s = (s ⊙ d) W', what the activation adds: (N, M) → (N, M)."""
        return times(self.scaled(x, options), self.out, precision=options.precision)


def frozen_feed_forward(layer: AnyFeedForward, x: jax.Array, options: BlockOptions) -> FrozenFeedForward:
    """The feed-forward network with what multiplies its activation frozen at x, (N, M)."""
    if isinstance(layer, FeedForward):
        inner, outer = (None if bias is None else bias[None] for bias in (layer.hidden_bias, layer.project_bias))
        return FrozenFeedForward(layer.hidden, inner, None, layer.project, outer)
    if isinstance(layer, GatedFeedForward):
        factor = times(x, layer.up, precision=options.precision)
        return FrozenFeedForward(layer.gate, None, factor, layer.down, None)
    if isinstance(layer, MixtureOfGated):
        return _frozen_mixture_of_gated(layer, x, options)
    if isinstance(layer, StateSpace):
        return _frozen_state_space(layer, x, options)
    return _frozen_mixture(layer, x, options)


def _frozen_state_space(layer: StateSpace, x: jax.Array, options: BlockOptions) -> FrozenFeedForward:
    """What steers the recurrence, Δ, B and C, and the gate SiLU(x Z) are frozen."""
    gate = jax.nn.silu(times(x, layer.gate, precision=options.precision))
    before = Convolving(layer.kernel, len(x))
    part = FrozenFeedForward(layer.into, layer.kernel_bias[None], gate, layer.out, None, before)
    steered = selected(layer, part.hidden(x, options), precision=options.precision)
    return part._replace(behind=Recurring(*steered, layer.skip))


def _frozen_mixture_of_gated(layer: MixtureOfGated, x: jax.Array, options: BlockOptions) -> FrozenFeedForward:
    """The gated experts side by side; d is the gate of each times x U, both frozen, and so is the routing."""
    gates = expert_gates(layer, x, top=options.top, whole=options.whole, precision=options.precision)
    E, M, F = layer.gate.shape
    factor = jnp.repeat(gates, F, axis=1) * times(x, _beside(layer.up), precision=options.precision)
    return FrozenFeedForward(_beside(layer.gate), None, factor, layer.down.reshape(E * F, M), None)


def _beside(W: jax.Array) -> jax.Array:
    """The matrices of all experts side by side, (E, M, F) → (M, E F)."""
    E, M, F = W.shape
    return jnp.transpose(W, (1, 0, 2)).reshape(M, E * F)


def _frozen_mixture(layer: MixtureOfExperts, x: jax.Array, options: BlockOptions) -> FrozenFeedForward:
    gates = expert_gates(layer, x, top=options.top, precision=options.precision)
    E, M, F = layer.hidden.shape
    beside = jnp.transpose(layer.hidden, (1, 0, 2)).reshape(M, E * F)
    shift = jnp.matmul(gates, layer.project_bias, precision=options.precision)
    factor = jnp.repeat(gates, F, axis=1)
    return FrozenFeedForward(beside, layer.hidden_bias.reshape(1, -1), factor, layer.project.reshape(E * F, M), shift)


class FrozenSlopes(NamedTuple):
    """z ↦ R ((K z W) ⊙ k) W' + shift: a feed-forward network, its activation the line that it is at the actual input.

    K and R are I but for state spaces.
    """

    into: Matrix
    """W, (M, F): W_1, or the U of a gated part."""
    slope: jax.Array
    """k, (N, F): the slopes (σ(u) − σ(0)) / u times what multiplies the activation; σ(x G) of a gated part."""
    out: Matrix
    """W', (F, M)."""
    shift: jax.Array | None
    """What does not come from z, (N, M): ((k ⊙ b) + d ⊙ σ(0)) W' + b'."""
    before: Operator | None = None
    """K."""
    behind: Operator | None = None
    """R, the frozen recurrence and gate."""

    def __call__(self, z: jax.Array, options: BlockOptions) -> jax.Array:
        """R ((K z W) ⊙ k) W', (N, M) → (N, M)."""
        inside = times(z, self.into, precision=options.precision)
        s = (inside if self.before is None else self.before(inside)) * self.slope
        return times(s if self.behind is None else self.behind(s), self.out, precision=options.precision)


def frozen_slopes(layer: AnyFeedForward, x: jax.Array, options: BlockOptions) -> FrozenSlopes:
    """The feed-forward network as a linear map and a shift that agree with it at x, (N, M).

    relu(u) = 1[u > 0] u, tanh(u) = (tanh(u) / u) u, GELU(u) = Φ(u) u.  Of a gated part the activation of the gate is
    frozen as a whole and x U goes on.
    """
    if isinstance(layer, GatedFeedForward):
        gate = options.activation(times(x, layer.gate, precision=options.precision))
        return FrozenSlopes(layer.up, gate, layer.down, None)
    if isinstance(layer, MixtureOfGated):
        return _frozen_gates(layer, x, options)
    if isinstance(layer, StateSpace):
        return _frozen_slopes_of_state_space(layer, x, options)
    part = frozen_feed_forward(layer, x, options)
    bias = jnp.zeros((1, 1), x.dtype) if part.into_shift is None else part.into_shift
    inside = times(x, part.into, precision=options.precision) + bias
    origin, factor = options.activation(jnp.zeros((), x.dtype)), 1 if part.factor is None else part.factor
    k = slopes(options.activation, inside) * factor
    shift = times(k * bias + origin * factor, part.out, precision=options.precision)
    return FrozenSlopes(part.into, k, part.out, shift if part.out_shift is None else shift + part.out_shift)


def _frozen_gates(layer: MixtureOfGated, x: jax.Array, options: BlockOptions) -> FrozenSlopes:
    """The x U of all gated experts side by side go on; σ(x G) and the routing are frozen."""
    routing = expert_gates(layer, x, top=options.top, whole=options.whole, precision=options.precision)
    F = layer.gate.shape[2]
    gate = options.activation(times(x, _beside(layer.gate), precision=options.precision))
    return FrozenSlopes(
        _beside(layer.up), jnp.repeat(routing, F, axis=1) * gate, layer.down.reshape(-1, len(x[0])), None
    )


def _frozen_slopes_of_state_space(layer: StateSpace, x: jax.Array, options: BlockOptions) -> FrozenSlopes:
    """x W goes on; the slopes of σ, what steers the recurrence, and the gate are frozen."""
    part = _frozen_state_space(layer, x, options)
    assert part.before is not None and part.behind is not None and part.factor is not None
    bias, behind = layer.kernel_bias[None], Diagonal(part.factor) @ part.behind
    k = slopes(options.activation, part.before(times(x, layer.into, precision=options.precision)) + bias)
    shift = times(behind(k * bias + options.activation(jnp.zeros((), x.dtype))), layer.out, precision=options.precision)
    return FrozenSlopes(layer.into, k, layer.out, shift, part.before, behind)


def slopes(activation: Activation, u: jax.Array) -> jax.Array:
    """(σ(u) − σ(0)) / u, and at u = 0, where any number would do, σ'(0): relu has 1[u > 0], tanh and GELU go on."""
    zero, nothing = jnp.zeros((), u.dtype), jnp.equal(u, 0)  # by the device, which may take tiny numbers for 0
    safe = jnp.where(nothing, jnp.ones((), u.dtype), u)
    return jnp.where(nothing, jax.grad(activation)(zero), (activation(safe) - activation(zero)) / safe)


def neurons(layer: AnyFeedForward) -> int:
    """F, how many hidden features a feed-forward network has; of a mixture those of all its experts."""
    if isinstance(layer, FeedForward):
        return layer.project.shape[0]
    if isinstance(layer, GatedFeedForward):
        return layer.down.shape[0]
    if isinstance(layer, StateSpace):
        return layer.out.shape[0]
    return math.prod((layer.down if isinstance(layer, MixtureOfGated) else layer.project).shape[:2])
