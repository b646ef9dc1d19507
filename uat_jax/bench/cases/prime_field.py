"""One network in two writings at a random point of prime fields, against their float32 forward passes.

A residual network is written as a loop over its layers and, layer by layer, with its products as sums; the weights are
inputs.  A *draw* evaluates both in four copies of a prime field and compares every output; *certify* is as many draws
and copies as a chance of error of 2⁻¹²⁸ asks for.
"""

from __future__ import annotations

from collections.abc import Mapping

import jax
import jax.numpy as jnp

from uat_jax.bench import two_writings
from uat_jax.bench.case import Case, Experiment
from uat_jax.bench.residual import SIGMA, draw, network, tolerance
from uat_jax.typing import JsonObject


def build(depth: int, width: int, hidden: int, batch: int, dtype: str) -> Experiment:
    """Both writings in floats (the baseline), one draw, and a certificate."""
    of = draw(depth, width, hidden, batch, dtype)
    return two_writings.experiment(
        _loop,
        _layer_by_layer,
        (of.weights, of.inputs),
        name=dtype,
        exact=of.exact,
        allowed=tolerance(max(width, hidden), of.inputs.dtype),
        bias=of.last_bias,
    )


def _loop(weights: Mapping[str, jax.Array], inputs: jax.Array) -> jax.Array:
    return jax.vmap(network, in_axes=(None, 1), out_axes=1)(weights, inputs)


def _layer_by_layer(weights: Mapping[str, jax.Array], inputs: jax.Array) -> jax.Array:
    x = inputs
    for j in range(len(weights["A_j"])):
        A, B, C, b, c = (weights[f"{name}_j"][j] for name in "ABCbc")
        hidden = SIGMA(b[:, None] + _product(B, x))
        x = _product(jnp.concatenate([C, A], axis=1), jnp.concatenate([hidden, x])) + c[:, None]
    return x


def _product(a: jax.Array, b: jax.Array) -> jax.Array:
    return jnp.einsum("ik,kn->in", a, b, precision="highest")


def _size(depth: int, width: int, batch: int = 8, dtype: str = "float32") -> JsonObject:
    return {"depth": depth, "width": width, "hidden": 4 * width, "batch": batch, "dtype": dtype}


CASES = (
    Case(
        name="prime-field",
        question="What does evaluating a network in prime fields cost over its float forward pass?",
        build=build,
        quick=(_size(2, 4, 2),),
        standard=(_size(6, 64), _size(6, 256)),
        full=(*(_size(depth, 64) for depth in (1, 3, 6, 12, 24)), *(_size(6, width) for width in (16, 128, 256, 512))),
        axes=("depth", "width"),
        rounds=5,
    ),
)
