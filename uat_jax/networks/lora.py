"""Low-rank adapters on the papers' layers: h = W_0 x + ΔW x (DUAT Eq. 17) with ΔW = left · right (Hu et al. 2021).

The adapters of a layer are a mapping from names of its arrays to `Adapter`; arrays without one are as before.  They are
applied beside the frozen weights (`lora_residual_network`, `lora_transformer`) or merged into them (`merge`).
"""

from collections.abc import Mapping, Sequence
from typing import NamedTuple, TypeVar

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError, ShapeError
from uat_jax.networks.activations import Activation
from uat_jax.networks.residual import ResidualLayer
from uat_jax.networks.transformer import TransformerLayer, feature_slices


class Adapter(NamedTuple):
    """ΔW = left · right, of the shape of the array it belongs to; for stacked heads, one for each head."""

    left: jax.Array
    """(…, rows, r)."""
    right: jax.Array
    """(…, r, columns)."""


Adapters = Mapping[str, Adapter]
Layer = TypeVar("Layer", ResidualLayer, TransformerLayer)


def merge(layer: Layer, adapters: Adapters, *, precision: jax.lax.PrecisionLike = "highest") -> Layer:
    """The layer with W_0 + ΔW in place of W_0 for every adapter.

    Raises `InputError` for an adapter of what is no matrix of the layer, `ShapeError` for one that does not fit.
    """
    _check(layer, adapters)
    merged = {
        name: getattr(layer, name) + jnp.matmul(left, right, precision=precision)
        for name, (left, right) in adapters.items()
    }
    return layer._replace(**merged)


def lora_residual_layer(
    layer: ResidualLayer,
    adapters: Adapters,
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """A x + c + C σ(B x + b), every product W x being W_0 x + left (right x): (D_{j-1},) → (D_j,)."""
    _check(layer, adapters)

    def times(name: str, x: jax.Array) -> jax.Array:
        y = jnp.matmul(getattr(layer, name), x, precision=precision)
        if name not in adapters:
            return y
        left, right = adapters[name]
        return y + jnp.matmul(left, jnp.matmul(right, x, precision=precision), precision=precision)

    return (times("A", x) + layer.c) + times("C", activation(times("B", x) + layer.b))


def lora_transformer_layer(
    layer: TransformerLayer,
    adapters: Adapters,
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """One block (DUAT Eq. 30), every product x W being x W_0 + (x left) right: (N, M_{j-1}) → (N, M_j)."""
    _check(layer, adapters)

    def times(x: jax.Array, name: str) -> jax.Array:
        y = jnp.matmul(x, getattr(layer, name), precision=precision)
        if name not in adapters:
            return y
        left, right = adapters[name]
        return y + jnp.matmul(jnp.matmul(x, left, precision=precision), right, precision=precision)

    slices = feature_slices(layer, x)
    scores = jnp.einsum("hnd,hmd->hnm", times(slices, "query"), times(slices, "key"), precision=precision)
    weights = jax.nn.softmax(scores / jnp.sqrt(jnp.asarray(x.shape[1], x.dtype)), axis=-1)
    heads = jnp.matmul(weights, times(slices, "value"), precision=precision)
    y = jnp.sum(times(heads, "output"), axis=0)
    s = activation(times(y, "hidden") + layer.hidden_bias[None, :])
    return y + (times(s, "project") + layer.project_bias[None, :])


def lora_residual_network(
    layers: Sequence[ResidualLayer],
    adapters: Sequence[Adapters],
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """x_L of the residual network with the adapters of each layer beside it: (D_0,) → (D_L,)."""
    for layer, own in zip(layers, adapters, strict=True):
        x = lora_residual_layer(layer, own, x, activation, precision=precision)
    return x


def lora_transformer(
    layers: Sequence[TransformerLayer],
    adapters: Sequence[Adapters],
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """x_L of the Transformer with the adapters of each layer beside it: (N, M_0) → (N, M_L)."""
    for layer, own in zip(layers, adapters, strict=True):
        x = lora_transformer_layer(layer, own, x, activation, precision=precision)
    return x


def _check(layer: ResidualLayer | TransformerLayer, adapters: Adapters) -> None:
    matrices = {name: tuple(array.shape) for name, array in layer._asdict().items() if array.ndim > 1}
    for name, (left, right) in adapters.items():
        if name not in matrices:
            raise InputError(f"got an adapter of {name!r}, wanted one of {', '.join(matrices)}")
        *batch, rows, columns = matrices[name]
        rank = left.shape[-1] if left.ndim else 0
        if tuple(left.shape) != (*batch, rows, rank) or tuple(right.shape) != (*batch, rank, columns):
            raise ShapeError(
                f"got an adapter of {name} of shapes {tuple(left.shape)} and {tuple(right.shape)}, wanted "
                f"{(*batch, rows, 'r')} and {(*batch, 'r', columns)}"
            )
