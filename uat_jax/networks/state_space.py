"""Selective state spaces (Gu & Dao 2023): a recurrence over tokens, channel by channel, that its own input steers.

With s = σ(conv(x W) + b), Δ = softplus(s R_Δ W_Δ + b_Δ), B = s R_B and C = s R_C, a channel f with decays A_f has

    h_n = exp(Δ_nf A_f) ⊙ h_{n−1} + Δ_nf s_nf B_n,    y_nf = ⟨C_n, h_n⟩ + D_f s_nf,

h_n being S numbers for each channel, 0 before the first token.  The whole gives (y ⊙ SiLU(x Z)) W_out.
"""

from __future__ import annotations

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.networks.activations import Activation
from uat_jax.networks.adapted import Matrix, times
from uat_jax.networks.fields import bind_fields
from uat_jax.networks.shapes import Axes, bind_shape


class StateSpace(NamedTuple):
    """F channels with S states each over M features; a convolution of K tokens stands in front of σ."""

    into: Matrix
    """W, (M, F)."""
    gate: Matrix
    """Z, (M, F)."""
    kernel: jax.Array
    """What the token K − 1 − k places before counts, (K, F): the last row is that of the token itself."""
    kernel_bias: jax.Array
    """b, (F,)."""
    step_in: Matrix
    """R_Δ, (F, R)."""
    write: Matrix
    """R_B, (F, S)."""
    read: Matrix
    """R_C, (F, S)."""
    step: Matrix
    """W_Δ, (R, F)."""
    step_bias: jax.Array
    """b_Δ, (F,)."""
    decay: jax.Array
    """A, (F, S), negative."""
    skip: jax.Array
    """D, (F,)."""
    out: Matrix
    """W_out, (F, M)."""


STATE_SPACE_AXES: Axes = {
    "into": ("M", "F"),
    "gate": ("M", "F"),
    "kernel": ("K", "F"),
    "kernel_bias": ("F",),
    "step_in": ("F", "R"),
    "write": ("F", "S"),
    "read": ("F", "S"),
    "step": ("R", "F"),
    "step_bias": ("F",),
    "decay": ("F", "S"),
    "skip": ("F",),
    "out": ("F", "M"),
}


class Selection(NamedTuple):
    """The coefficients of the recurrence at one input."""

    decays: jax.Array
    """exp(Δ_nf A_f), (N, F, S)."""
    writes: jax.Array
    """Δ_nf B_n, (N, F, S)."""
    reads: jax.Array
    """C_n, (N, S)."""


def convolved(kernel: jax.Array, x: jax.Array) -> jax.Array:
    """Σ_k kernel_k ⊙ x_{n−K+1+k} for each token n, nothing before the first: (…, N, F) → (…, N, F)."""
    K, N = len(kernel), x.shape[-2]
    padded = jnp.concatenate([jnp.zeros((*x.shape[:-2], K - 1, x.shape[-1]), x.dtype), x], axis=-2)
    lead = tuple(range(x.ndim - 1))
    return sum((jnp.expand_dims(kernel[k], lead) * padded[..., k : k + N, :] for k in range(K)), jnp.zeros_like(x))


def selected(layer: StateSpace, s: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> Selection:
    """What s, (N, F), makes of the recurrence."""
    inside = times(times(s, layer.step_in, precision=precision), layer.step, precision=precision)
    step = jax.nn.softplus(inside + layer.step_bias[None])[:, :, None]
    write, read = (times(s, matrix, precision=precision) for matrix in (layer.write, layer.read))
    return Selection(jnp.exp(step * layer.decay[None]), step * write[:, None, :], read)


def recurred(of: Selection, skip: jax.Array, s: jax.Array) -> jax.Array:
    """y, linear in s where the coefficients are given: (N, F) → (N, F)."""

    def token(h: jax.Array, at: tuple[Selection, jax.Array]) -> tuple[jax.Array, jax.Array]:
        here, row = at
        h = here.decays * h + here.writes * row[:, None]
        return h, jnp.sum(h * here.reads[None, :], axis=-1)

    _, y = jax.lax.scan(token, jnp.zeros_like(of.decays[0]), (of, s))
    return y + skip[None] * s


def state_space(
    layer: StateSpace, x: jax.Array, activation: Activation, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """(y ⊙ SiLU(x Z)) W_out, (N, M) → (N, M); `ShapeError` if the arrays do not fit."""
    bind_shape("x", tuple(x.shape), ("N", "M"), bind_fields(layer, STATE_SPACE_AXES))
    s = activation(convolved(layer.kernel, times(x, layer.into, precision=precision)) + layer.kernel_bias[None])
    y = recurred(selected(layer, s, precision=precision), layer.skip, s)
    gate = jax.nn.silu(times(x, layer.gate, precision=precision))
    return times(y * gate, layer.out, precision=precision)
