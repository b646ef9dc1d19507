"""Theorem 1 at one input: every term through its own merged parameters, composed of the operators of each layer."""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp

from uat_jax.decomposition.frozen import frozen_norm, norm_shift
from uat_jax.decomposition.parameters import operators
from uat_jax.decomposition.streams import Streams
from uat_jax.networks.adapted import times
from uat_jax.networks.decoder import embed
from uat_jax.networks.model import Model


def closed_form(
    model: Model,
    tokens: jax.Array,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """P_L x_0, q_L and W̃_{L,j} s_j for each layer j, which add up to x_L: (N,) → (L + 2, N, M).

    With P_j = A_j ⋯ A_1 and W̃_{j,k} = A_j ⋯ A_{k+1} C_k,

        q_j = A_j q_{j−1} + c_j,    s_j = σ(B̄_j P_{j−1} x_0 + B̄_j q_{j−1} + Σ_{k<j} B̄_j W̃_{j−1,k} s_k + b_j):

    σ's argument is Ŵ_{j,2} x_0 + b̂_{j,2} of the papers, one summand after the other, never x_{j−1}.  A product of
    operators is applied factor by factor, not multiplied out: written out it is an NM × NM matrix.  The terms are those
    of `decomposition.terms`, by O(L²) operators.  Raises what `operators` raises.
    """
    return jnp.stack(closed_forms(model, tokens, length=length, precision=precision)[-1])


def closed_forms(
    model: Model,
    tokens: jax.Array,
    *,
    length: jax.Array | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> tuple[Streams, ...]:
    """The summands of x_0, x_1, …, x_L by their closed forms: j + 2 arrays (N, M) for x_j."""
    forms = [_embedded(model, tokens)]
    for layer in operators(model, tokens, length=length, precision=precision):
        s = layer.activation(functools.reduce(jnp.add, map(layer.B, forms[-1])) + layer.b)
        source, biases, *terms = map(layer.A, forms[-1])
        forms.append([source, biases + layer.c, *terms, layer.C(s)])
    return tuple(forms)


def _embedded(model: Model, tokens: jax.Array) -> Streams:
    """The embedded tokens, their norm frozen, and its shift."""
    x, norm, affine = embed(model.embedding, tokens), model.embedding_norm, model.affine
    shift = jnp.zeros_like(x)
    if norm is not None:
        x, shift = frozen_norm(norm, x, model.epsilon)(x), jnp.broadcast_to(norm_shift(norm), x.shape)
    return [x, shift] if affine is None else [times(x, affine.matrix), times(shift, affine.matrix) + affine.bias[None]]
