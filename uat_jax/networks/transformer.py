"""The Transformer of the papers: attention Eq. 7 and 8, feed-forward Eq. 6, the layer Eq. 30 of DUAT.

It departs from Vaswani et al. in three ways, all kept here: head i sees only slice i of the features, the
scores are divided by √M instead of √d, and no residual goes around the attention.
"""

from collections.abc import Sequence
from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError, ShapeError
from uat_jax.networks.activations import Activation
from uat_jax.networks.drawing import BIAS_VARIANCE, Table, checked_dtype, checked_sizes, draw_layers
from uat_jax.networks.shapes import Axes, bind_layer, bind_shape, check_some_layers
from uat_jax.networks.stack import Layers, Stack, carry
from uat_jax.typing import PyTree


class TransformerLayer(NamedTuple):
    """The parameters of layer j: h heads, M_{j-1} features in, d = M_{j-1}/h per head, M_j features out."""

    query: jax.Array
    """W_{Qi} for each head i, (h, d, d)."""
    key: jax.Array
    """W_{Ki}, (h, d, d)."""
    value: jax.Array
    """W_{Vi}, (h, d, d)."""
    output: jax.Array
    """The row blocks W_{Oi} of W_O, (h, d, M_j)."""
    hidden: jax.Array
    """W_1 of the feed-forward, (M_j, F_j)."""
    hidden_bias: jax.Array
    """b_1, (F_j,)."""
    project: jax.Array
    """W_2, (F_j, M_j)."""
    project_bias: jax.Array
    """b_2, (M_j,)."""


ATTENTION_AXES: Axes = {
    "query": ("h_{j}", "d_{j}", "d_{j}"),
    "key": ("h_{j}", "d_{j}", "d_{j}"),
    "value": ("h_{j}", "d_{j}", "d_{j}"),
    "output": ("h_{j}", "d_{j}", "M_{j}"),
}
FEED_FORWARD_AXES: Axes = {
    "hidden": ("M_{j}", "F_{j}"),
    "hidden_bias": ("F_{j}",),
    "project": ("F_{j}", "M_{j}"),
    "project_bias": ("M_{j}",),
}
TRANSFORMER_AXES: Axes = ATTENTION_AXES | FEED_FORWARD_AXES
"""The shape of each array of layer j; besides, h_j d_j = M_{j-1}."""


def transformer_sizes(layers: Layers[TransformerLayer]) -> dict[str, int]:
    """The sizes M_0, …, M_L and h_j, d_j, F_j by name; `ShapeError` if the arrays do not fit together.

    Of a `Stack`, whose layers have one shape, those of two like the first: M_0 = M_1 = M_2.
    """
    shown = 2 * layers[:1] if isinstance(layers, Stack) else layers
    check_some_layers(shown)
    sizes: dict[str, int] = {}
    for number, layer in enumerate(shown, start=1):
        bind_layer(layer, number, TRANSFORMER_AXES, sizes)
        heads, width, features = sizes[f"h_{number}"], sizes[f"d_{number}"], f"M_{number - 1}"
        if sizes.setdefault(features, heads * width) != heads * width:
            raise ShapeError(
                f"got {heads} heads of width {width} in layers.{number}.query, wanted heads times width = "
                f"{features} = {sizes[features]}; give each head an equal slice of the features"
            )
    return sizes


def initialise_transformer(
    key: jax.Array,
    *,
    features: Sequence[int],
    heads: int,
    hidden: Sequence[int],
    dtype: jax.typing.DTypeLike = jnp.float32,
) -> tuple[TransformerLayer, ...]:
    """L random layers of M_0, …, M_L = `features`, h = `heads` in each, and F_1, …, F_L = `hidden`.

    Every entry is an independent normal variable of mean 0: matrices have variance 1 / (number of terms in
    the sum they take part in), biases 1/4. Layer j is drawn from ``fold_in(key, j)``, j = 1, …, L. Raises
    `InputError` for unusable sizes or dtypes, or if `heads` does not divide one of M_0, …, M_L.
    """
    dtype = checked_dtype(dtype)
    features, hidden = checked_sizes("features", features, least=2), checked_sizes("hidden", hidden)
    (heads,) = checked_sizes("heads", [heads])
    if len(hidden) != len(features) - 1:
        raise InputError(
            f"got {len(features)} features and {len(hidden)} hidden widths, wanted one hidden width per "
            f"layer: give {len(features) - 1}"
        )
    if any(count % heads for count in features):
        raise InputError(f"got features = {list(features)}, wanted multiples of heads = {heads}")
    tables = [_table(*sizes, heads) for sizes in zip(features, features[1:], hidden, strict=False)]
    return tuple(TransformerLayer(**arrays) for arrays in draw_layers(key, tables, dtype))


def _table(features_in: int, features: int, hidden: int, heads: int) -> Table:
    d = features_in // heads
    return {
        "query": ((heads, d, d), 1 / d),
        "key": ((heads, d, d), 1 / d),
        "value": ((heads, d, d), 1 / d),
        "output": ((heads, d, features), 1 / features_in),
        "hidden": ((features, hidden), 1 / features),
        "hidden_bias": ((hidden,), BIAS_VARIANCE),
        "project": ((hidden, features), 1 / hidden),
        "project_bias": ((features,), BIAS_VARIANCE),
    }


def feature_slices(layer: TransformerLayer, x: jax.Array) -> jax.Array:
    """The slices x_i = x[:, i d : (i+1) d] that the heads see, (N, M) → (h, N, d)."""
    heads, d, _ = layer.query.shape
    bind_shape("x", tuple(x.shape), ("N", "M"), {"M": heads * d})
    return jnp.transpose(jnp.reshape(x, (x.shape[0], heads, d)), (1, 0, 2))


def attention_weights(
    layer: TransformerLayer, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """H_i = softmax((x_i W_Qi)(x_i W_Ki)ᵀ / √M) for each head (Eq. 7), row by row: (N, M) → (h, N, N).

    The dtype is that of x. Raises `ShapeError` if x is not (N, M) with M = h d.
    """
    slices = feature_slices(layer, x)
    queries = jnp.matmul(slices, layer.query, precision=precision)
    keys = jnp.matmul(slices, layer.key, precision=precision)
    scores = jnp.einsum("hnd,hmd->hnm", queries, keys, precision=precision)
    # √M is an operation of the trace, so that an exact arithmetic sees a root and not a rounded decimal.
    return jax.nn.softmax(scores / jnp.sqrt(jnp.asarray(x.shape[1], x.dtype)), axis=-1)


def attention(layer: TransformerLayer, x: jax.Array, *, precision: jax.lax.PrecisionLike = "highest") -> jax.Array:
    """MHA(x) = Concat_i(H_i x_i W_Vi) W_O = Σ_i H_i x_i W_Vi W_Oi (Eq. 7, 8): (N, M_{j-1}) → (N, M_j).

    The dtype is that of x. Raises `ShapeError` if x is not (N, M) with M = h d.
    """
    return mix(layer, attention_weights(layer, x, precision=precision), x, precision=precision)


def mix(
    layer: TransformerLayer, weights: jax.Array, z: jax.Array, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """Σ_i H_i z_i W_Vi W_Oi for given H, linear in z: (h, N, N) and (N, M_{j-1}) → (N, M_j)."""
    values = jnp.matmul(feature_slices(layer, z), layer.value, precision=precision)
    heads = jnp.matmul(weights, values, precision=precision)
    return jnp.einsum("hnd,hdm->nm", heads, layer.output, precision=precision)


def feed_forward(
    layer: TransformerLayer,
    y: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """FFN(y) = σ(y W_1 + b_1) W_2 + b_2, token by token (Eq. 6 on features): (N, M_j) → (N, M_j)."""
    return activation_term(layer, y, activation, precision=precision) + layer.project_bias[None, :]


def activation_term(
    layer: TransformerLayer,
    y: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """σ(y W_1 + b_1) W_2, what the activation adds: (N, M_j) → (N, M_j)."""
    s = activation(jnp.matmul(y, layer.hidden, precision=precision) + layer.hidden_bias[None, :])
    return jnp.matmul(s, layer.project, precision=precision)


def transformer(
    layers: Layers[TransformerLayer],
    x: jax.Array,
    activation: Activation,
    *,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """x_L, where x_0 = x, y_j = MHA_j(x_{j-1}) and x_j = y_j + FFN_j(y_j) (DUAT Eq. 30).

    One input x of N tokens, (N, M_0), gives (N, M_L) in the dtype of x; `jax.vmap` takes a batch.
    `activation` is an elementwise function, `precision` that of every matrix product; a `Stack` of layers is one
    loop. Raises `ShapeError` if the layers do not fit together or x is not (N, M_0).
    """
    bind_shape("x", tuple(x.shape), ("N", "M_0"), transformer_sizes(layers))

    def step(x: jax.Array, layer: TransformerLayer, _: PyTree) -> jax.Array:
        y = attention(layer, x, precision=precision)
        return y + feed_forward(layer, y, activation, precision=precision)

    return carry(step, x, layers)
