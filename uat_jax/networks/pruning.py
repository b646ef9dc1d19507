"""Networks with parts left out: a one-layer sum without some of its terms, a residual network without some layers."""

from collections.abc import Collection, Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError, ShapeError
from uat_jax.networks.activations import Activation
from uat_jax.networks.residual import ResidualLayer, residual_network


class SumTerms(NamedTuple):
    """The N terms α_j σ(W_jᵀ x + θ_j) of a one-layer network on n inputs (DUAT Eq. 1)."""

    weights: jax.Array
    """W_j as rows, (N, n)."""
    biases: jax.Array
    """θ_j, (N,)."""
    factors: jax.Array
    """α_j, (N,)."""


def uat_sum(
    terms: SumTerms, x: jax.Array, activation: Activation, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """Σ_j α_j σ(W_jᵀ x + θ_j) for x of shape (n,): a number in the dtype of x."""
    weights, biases, factors = terms
    return jnp.dot(factors, activation(jnp.matmul(weights, x, precision=precision) + biases), precision=precision)


def kept_terms(terms: SumTerms, kept: Sequence[int]) -> SumTerms:
    """The terms with these numbers, counted from 1 (Λ_1 of DUAT Eq. 14).

    Raises `InputError` for a number that is not there, or is there twice.
    """
    numbers = _checked(kept, len(terms.factors), "term")
    return SumTerms(*(array[jnp.array(numbers, int) - 1] for array in terms))


def without_layers(layers: Sequence[ResidualLayer], removed: Collection[int]) -> tuple[ResidualLayer, ...]:
    """The layers without those of these numbers, counted from 1: x_{k-1} goes into layer k+1.

    Raises `InputError` for a number that is not there, and `ShapeError` for a layer that is as many inputs wide as it
    has no outputs: the next one would not fit.
    """
    for number in _checked(tuple(removed), len(layers), "layer"):
        rows, columns = layers[number - 1].A.shape
        if rows != columns:
            raise ShapeError(
                f"layer {number} turns {columns} numbers into {rows}; wanted as many: it cannot be removed"
            )
    return tuple(layer for number, layer in enumerate(layers, 1) if number not in removed)


def pruned_residual_network(
    layers: Sequence[ResidualLayer],
    removed: Collection[int],
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """x̃_L: the residual network (DUAT Eq. 20) without the layers numbered in ``removed``; x itself if all are.

    Raises as `without_layers` and `residual_network` do.
    """
    left = without_layers(layers, removed)
    return residual_network(left, x, activation, precision=precision) if left else x


def _checked(numbers: Sequence[int], count: int, noun: str) -> tuple[int, ...]:
    good = len(set(numbers)) == len(numbers) and all(1 <= number <= count for number in numbers)
    if not good:
        raise InputError(f"got {noun}s {list(numbers)}; wanted different numbers from 1 to {count}")
    return tuple(numbers)
