"""What is left without one layer: its term subtracted, its activation gone, or the whole layer gone; and a bound.

Subtracting the term of layer k leaves all later layers as they were.  Running without its activation changes what they
compute.  Between the two stands the network with everything but σ frozen (`operators`): its layers have fixed
parameters, so that the bound of removed layers (I6) holds for it.  With ‖X‖ the largest Euclidean norm of a token's
features, a_j ≥ ‖A_j‖, r_j = a_j + λ c_j b_j with c_j ≥ ‖C_j‖, b_j ≥ ‖B̄_j‖ and λ a Lipschitz constant of σ,

    ‖x_L − x̃_L‖ ≤ r_L ⋯ r_{k+1} ‖C_k s_k‖,   ‖(x_L − term_k) − x̃_L‖ ≤ (r_L ⋯ r_{k+1} − a_L ⋯ a_{k+1}) ‖C_k s_k‖:

d_j = A_j d_{j−1} + C_j Δσ_j for the difference d_j = x_j − x̃_j, while the term follows A_j alone.  For the network
itself, whose attention and norms change with their input, no bound of this form holds (pruning.remove-layer).
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Mapping, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.decomposition.operators import (
    Addition,
    Composition,
    Convolving,
    Diagonal,
    Identity,
    Mixing,
    OnFeatures,
    Operator,
    Recurring,
    Scaling,
)
from uat_jax.decomposition.parameters import Layer, operators
from uat_jax.errors import InputError
from uat_jax.networks.adapted import dense
from uat_jax.networks.feed_forward_part import FeedForward, GatedFeedForward, MixtureOfExperts, MixtureOfGated
from uat_jax.networks.model import Model
from uat_jax.networks.state_space import StateSpace

OUT: Mapping[type, str] = {
    FeedForward: "project",
    MixtureOfExperts: "project",
    GatedFeedForward: "down",
    MixtureOfGated: "down",
    StateSpace: "out",
}
"""What the last matrix of a feed-forward part is called."""


def without_layer(model: Model, layer: int) -> Model:
    """The model without layer 1, …, or L: its input goes to the next one.  Raises `InputError` for another number."""
    _checked(model, layer)
    left = [number for number in range(1, len(model.blocks) + 1) if number != layer]
    blocks = tuple(model.blocks[number - 1] for number in left)
    return dataclasses.replace(model, blocks=blocks, architecture=model.architecture.only(left))


def without_activation(model: Model, layer: int) -> Model:
    """The model with the activation of a layer not added; its biases, attention and norms stay."""
    kept = _checked(model, layer)
    block = model.blocks[kept]
    part, out = block.feed_forward, OUT[type(block.feed_forward)]
    silent = part._replace(**{out: jax.tree.map(jnp.zeros_like, getattr(part, out))})
    blocks = (*model.blocks[:kept], block._replace(feed_forward=silent), *model.blocks[kept + 1 :])
    return dataclasses.replace(model, blocks=blocks)


class Removal(NamedTuple):
    """The features x_L without the activation of layer k, in three ways, (N, M) each."""

    subtracted: jax.Array
    """x_L − term_k."""
    frozen: jax.Array
    """What the network with everything but σ frozen gives without it."""
    rerun: jax.Array
    """What the network itself gives without it."""


def removal(model: Model, tokens: jax.Array, layer: int, *, precision: jax.lax.PrecisionLike = "highest") -> Removal:
    """The activation of layer 1, …, or L removed.  Raises `InputError` if there is no such layer."""
    of = _frozen(model, tokens, layer, precision)
    term = functools.reduce(lambda t, later: later.A(t), of.later, of.added)
    frozen = states(of.later, of.x - of.added)[-1]
    rerun = without_activation(model, layer).hidden(tokens, precision=precision)
    return Removal(states(of.later, of.x)[-1] - term, frozen, rerun)


class Bounds(NamedTuple):
    """What the formulas above say of one layer: numbers."""

    change: jax.Array
    """At least ‖x_L − frozen‖."""
    difference: jax.Array
    """At least ‖subtracted − frozen‖."""


def removal_bounds(
    model: Model, tokens: jax.Array, layer: int, *, lipschitz: float, precision: jax.lax.PrecisionLike = "highest"
) -> Bounds:
    """The two bounds for a layer; `lipschitz` is λ of σ: 1 for tanh and relu, 1.13 for GELU, 1.1 for SiLU.

    Computed in floating point, not rounded outwards.  They grow with every layer and are loose in deep models.
    Raises `InputError` if there is no such layer.
    """
    of = _frozen(model, tokens, layer, precision)
    alone = [bound(later.A) for later in of.later]
    both = [a + lipschitz * bound(later.C) * bound(later.B) for a, later in zip(alone, of.later, strict=True)]
    one = jnp.ones((), of.added.dtype)
    growth, carried = (functools.reduce(jnp.multiply, norms, one) for norms in (both, alone))
    return Bounds(growth * size(of.added), (growth - carried) * size(of.added))


class _Frozen(NamedTuple):
    """Layer k in the frozen network."""

    added: jax.Array
    """C_k s_k."""
    x: jax.Array
    """x_k."""
    later: tuple[Layer, ...]
    """The layers k + 1, …, L."""


def _frozen(model: Model, tokens: jax.Array, layer: int, precision: jax.lax.PrecisionLike) -> _Frozen:
    kept, tokens = _checked(model, layer), model.check_tokens(tokens)
    layers = operators(model, tokens, precision=precision)
    before, x = states(layers[: kept + 1], model.embed(tokens))[-2:]
    return _Frozen(layers[kept].C(layers[kept].hidden(before)), x, layers[kept + 1 :])


def states(layers: Sequence[Layer], x: jax.Array) -> list[jax.Array]:
    """x and what each layer makes of the one before."""
    found = [x]
    for layer in layers:
        found.append(layer(found[-1]))
    return found


def size(x: jax.Array) -> jax.Array:
    """‖X‖ = max_n ‖x_n‖_2, (N, M) → a number."""
    return jnp.max(jnp.sqrt(jnp.sum(x * x, axis=-1)))


def bound(operator: Operator) -> jax.Array:
    """At least max ‖F(X)‖ over ‖X‖ ≤ 1, from the factors alone.

    ‖H ⊗ Vᵀ‖ ≤ ‖H‖_∞ ‖V‖_2 with ‖H‖_∞ = 1 for a softmax; products multiply, sums add.  A convolution and a recurrence
    are y_n = Σ_k w_nk ⊙ x_k with numbers w_nk for each feature: ‖y_n‖ ≤ Σ_k max_f |w_nkf|, and, no entry of x being
    larger than 1, ‖y_n‖ ≤ ‖Σ_k |w_nk|‖.
    """
    spectral = lambda W: jnp.linalg.svd(W, compute_uv=False)[..., 0]
    match operator:
        case Composition(factors):
            return functools.reduce(jnp.multiply, map(bound, factors))
        case Addition(summands):
            return functools.reduce(jnp.add, map(bound, summands))
        case Identity(like):
            return jnp.ones((), like.dtype)
        case Mixing():
            return _bound_of_mixing(operator)
        case Scaling(scale, gamma):
            return jnp.max(scale) * jnp.max(jnp.abs(gamma))
        case OnFeatures(matrix):
            return spectral(dense(matrix))
        case Diagonal(entries):
            return jnp.max(jnp.abs(entries))
        case Convolving(kernel):
            return jnp.sum(jnp.max(jnp.abs(kernel), axis=-1))
        case Recurring(decays, writes, reads, skip):
            largest = Recurring(decays, jnp.abs(writes), jnp.abs(reads), jnp.abs(skip))
            return jnp.max(jnp.sqrt(jnp.sum(largest(jnp.ones_like(decays[..., 0])) ** 2, axis=-1)))
    raise InputError(f"got a {type(operator).__name__}, wanted an operator of this package; bound it by hand")


def _bound_of_mixing(mixing: Mixing) -> jax.Array:
    """Σ_i ‖H_i‖_∞ ‖W_{V,g(i)} W_{Oi}‖_2."""
    value, output = dense(mixing.value), dense(mixing.output)
    values = jnp.repeat(value, len(output) // len(value), axis=0)
    products = jnp.matmul(values, output, precision="highest")
    rows = jnp.max(jnp.sum(jnp.abs(mixing.patterns), axis=-1), axis=-1)
    return jnp.sum(rows * jnp.linalg.svd(products, compute_uv=False)[:, 0])


def _checked(model: Model, layer: int) -> int:
    """The index of layer 1, …, L."""
    if not 1 <= layer <= len(model.blocks):
        raise InputError(f"got layer {layer}, wanted 1 to {len(model.blocks)}, the layers of the model")
    return layer - 1
