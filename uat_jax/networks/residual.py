"""The residual network of the papers: Eq. 20 of DUAT, Lemma 2 of UAT v2."""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks.activations import Activation
from uat_jax.networks.drawing import BIAS_VARIANCE, Table, checked_dtype, checked_sizes, draw_layers
from uat_jax.networks.shapes import Axes, bind_layer, bind_shape, check_some_layers


class ResidualLayer(NamedTuple):
    """The parameters of layer j; D_j is its width, F_j its hidden width, and D_0 the width of the input."""

    A: jax.Array
    """W_{j,1} of the papers, (D_j, D_{j-1}): the linear shortcut."""
    B: jax.Array
    """W_{j,2}, (F_j, D_{j-1}): into σ."""
    C: jax.Array
    """W_{j,3}, (D_j, F_j): out of σ."""
    b: jax.Array
    """b_{j,2}, (F_j,): inside σ."""
    c: jax.Array
    """b_{j,3}, (D_j,): outside σ."""


RESIDUAL_AXES: Axes = {
    "A": ("D_{j}", "D_{i}"),
    "B": ("F_{j}", "D_{i}"),
    "C": ("D_{j}", "F_{j}"),
    "b": ("F_{j}",),
    "c": ("D_{j}",),
}
"""The shape of each array of layer j, i = j − 1."""


def residual_sizes(layers: Sequence[ResidualLayer]) -> dict[str, int]:
    """The sizes D_0, …, D_L and F_1, …, F_L by name; `ShapeError` if the arrays do not fit together."""
    check_some_layers(layers)
    sizes: dict[str, int] = {}
    for number, layer in enumerate(layers, start=1):
        bind_layer(layer, number, RESIDUAL_AXES, sizes)
    return sizes


def initialise_residual(
    key: jax.Array,
    widths: Sequence[int],
    hidden: Sequence[int],
    dtype: jax.typing.DTypeLike = jnp.float32,
) -> tuple[ResidualLayer, ...]:
    """L random layers of widths D_0, …, D_L = `widths` and hidden widths F_1, …, F_L = `hidden`.

    Every entry is an independent normal variable of mean 0: matrices have variance 1 / (length of a row),
    A too (it is nowhere near the identity), biases have variance 1/4. Layer j is drawn from
    ``fold_in(key, j)``, j = 1, …, L. Raises `InputError` for unusable sizes or dtypes.
    """
    dtype = checked_dtype(dtype)
    widths, hidden = checked_sizes("widths", widths, least=2), checked_sizes("hidden", hidden)
    if len(hidden) != len(widths) - 1:
        raise InputError(
            f"got {len(widths)} widths and {len(hidden)} hidden widths, wanted one hidden width per layer: "
            f"give {len(widths) - 1}"
        )
    tables = [_table(*sizes) for sizes in zip(widths, widths[1:], hidden, strict=False)]
    return tuple(ResidualLayer(**arrays) for arrays in draw_layers(key, tables, dtype))


def _table(width_in: int, width: int, hidden: int) -> Table:
    return {
        "A": ((width, width_in), 1 / width_in),
        "B": ((hidden, width_in), 1 / width_in),
        "C": ((width, hidden), 1 / hidden),
        "b": ((hidden,), BIAS_VARIANCE),
        "c": ((width,), BIAS_VARIANCE),
    }


def residual_layer(
    layer: ResidualLayer,
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """(A x + c) + C σ(B x + b), Eq. 20, for x of shape (D_{j-1},); the result is (D_j,), dtype of x."""
    A, B, C, b, c = layer
    s = activation(jnp.matmul(B, x, precision=precision) + b)
    return (jnp.matmul(A, x, precision=precision) + c) + jnp.matmul(C, s, precision=precision)


def residual_network(
    layers: Sequence[ResidualLayer],
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """x_L, where x_0 = x and x_j = (A_j x_{j-1} + c_j) + C_j σ(B_j x_{j-1} + b_j) (DUAT Eq. 20).

    One input x of shape (D_0,) gives (D_L,) in the dtype of x; `jax.vmap` takes a batch. `activation` is an
    elementwise function, `precision` that of every matrix product. Raises `ShapeError` if the layers do not
    fit together or x is no vector of length D_0 (a batch of D_0 inputs would otherwise pass in silence).
    """
    bind_shape("x", tuple(x.shape), ("D_0",), residual_sizes(layers))
    for layer in layers:
        x = residual_layer(layer, x, activation, precision=precision)
    return x
