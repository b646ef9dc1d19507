"""The feed-forward networks of real Transformers, token by token.

Plain (Vaswani et al. 2017), gated (Shazeer 2020), mixture of experts (Shazeer et al. 2017).
"""

from typing import NamedTuple

import jax
import jax.numpy as jnp

from uat_jax.errors import InputError
from uat_jax.networks.activations import Activation
from uat_jax.networks.adapted import Matrix, times
from uat_jax.networks.drawing import BIAS_VARIANCE, checked_dtype, checked_sizes, draw_arrays
from uat_jax.networks.fields import bind_fields
from uat_jax.networks.shapes import Axes, bind_shape
from uat_jax.networks.state_space import StateSpace


class FeedForward(NamedTuple):
    """σ(x W_1 + b_1) W_2 + b_2 over M features with F hidden ones."""

    hidden: Matrix
    """W_1, (M, F)."""
    hidden_bias: jax.Array | None
    """b_1, (F,), or None."""
    project: Matrix
    """W_2, (F, M)."""
    project_bias: jax.Array | None
    """b_2, (M,), or None."""


class GatedFeedForward(NamedTuple):
    """(σ(x G) ⊙ (x U)) W_D over M features with F hidden ones; with σ = SiLU it is SwiGLU."""

    gate: Matrix
    """G, (M, F)."""
    up: Matrix
    """U, (M, F)."""
    down: Matrix
    """W_D, (F, M)."""


class MixtureOfExperts(NamedTuple):
    """E plain feed-forward networks and the router that weighs them, token by token."""

    router: jax.Array
    """R, (M, E)."""
    hidden: jax.Array
    """W_1 of each expert, (E, M, F)."""
    hidden_bias: jax.Array
    """b_1 of each expert, (E, F)."""
    project: jax.Array
    """W_2 of each expert, (E, F, M)."""
    project_bias: jax.Array
    """b_2 of each expert, (E, M)."""


class MixtureOfGated(NamedTuple):
    """E gated feed-forward networks and the router that weighs them, token by token (Mixtral)."""

    router: jax.Array
    """R, (M, E)."""
    gate: jax.Array
    """G of each expert, (E, M, F)."""
    up: jax.Array
    """U of each expert, (E, M, F)."""
    down: jax.Array
    """W_D of each expert, (E, F, M)."""


AnyFeedForward = FeedForward | GatedFeedForward | MixtureOfExperts | MixtureOfGated | StateSpace
"""What can stand behind the second norm of a block; a `StateSpace` leads from token to token."""

FEED_FORWARD_AXES: Axes = {
    "hidden": ("M", "F"),
    "hidden_bias": ("F",),
    "project": ("F", "M"),
    "project_bias": ("M",),
}
GATED_AXES: Axes = {"gate": ("M", "F"), "up": ("M", "F"), "down": ("F", "M")}
MIXTURE_AXES: Axes = {"router": ("M", "E")} | {field: ("E", *axes) for field, axes in FEED_FORWARD_AXES.items()}


MIXTURE_OF_GATED_AXES: Axes = {"router": ("M", "E")} | {field: ("E", *axes) for field, axes in GATED_AXES.items()}


def initialise_feed_forward(
    key: jax.Array, features: int, hidden: int, dtype: jax.typing.DTypeLike = jnp.float32
) -> FeedForward:
    """Independent normal entries: matrices of variance 1 / (number of rows), biases of variance 1/4."""
    M, F = checked_sizes("features, hidden", [features, hidden], least=2)
    return FeedForward(**draw_arrays(key, _plain_table(M, F), checked_dtype(dtype)))


def initialise_gated(
    key: jax.Array, features: int, hidden: int, dtype: jax.typing.DTypeLike = jnp.float32
) -> GatedFeedForward:
    """Independent normal entries of variance 1 / (number of rows)."""
    M, F = checked_sizes("features, hidden", [features, hidden], least=2)
    table = {"gate": ((M, F), 1 / M), "up": ((M, F), 1 / M), "down": ((F, M), 1 / F)}
    return GatedFeedForward(**draw_arrays(key, table, checked_dtype(dtype)))


def initialise_mixture(
    key: jax.Array, features: int, hidden: int, experts: int, dtype: jax.typing.DTypeLike = jnp.float32
) -> MixtureOfExperts:
    """A router of variance 1/M, and `experts` feed-forward networks as `initialise_feed_forward` draws them."""
    M, F, E = checked_sizes("features, hidden, experts", [features, hidden, experts], least=3)
    plain = {field: ((E, *shape), variance) for field, (shape, variance) in _plain_table(M, F).items()}
    return MixtureOfExperts(**draw_arrays(key, {"router": ((M, E), 1 / M)} | plain, checked_dtype(dtype)))


def _plain_table(M: int, F: int) -> dict[str, tuple[tuple[int, ...], float]]:
    return {
        "hidden": ((M, F), 1 / M),
        "hidden_bias": ((F,), BIAS_VARIANCE),
        "project": ((F, M), 1 / F),
        "project_bias": ((M,), BIAS_VARIANCE),
    }


def plain_feed_forward(
    layer: FeedForward, x: jax.Array, activation: Activation, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """σ(x W_1 + b_1) W_2 + b_2, (N, M) → (N, M); `ShapeError` if the arrays do not fit."""
    bind_shape("x", tuple(x.shape), ("N", "M"), bind_fields(layer, FEED_FORWARD_AXES))
    s = activation(_plus(times(x, layer.hidden, precision=precision), layer.hidden_bias))
    return _plus(times(s, layer.project, precision=precision), layer.project_bias)


def _plus(x: jax.Array, bias: jax.Array | None) -> jax.Array:
    return x if bias is None else x + bias[None, :]


def gated_feed_forward(
    layer: GatedFeedForward, x: jax.Array, activation: Activation, *, precision: jax.lax.PrecisionLike = "highest"
) -> jax.Array:
    """(σ(x G) ⊙ (x U)) W_D, (N, M) → (N, M); `ShapeError` if the arrays do not fit."""
    bind_shape("x", tuple(x.shape), ("N", "M"), bind_fields(layer, GATED_AXES))
    s = activation(times(x, layer.gate, precision=precision))
    return times(s * times(x, layer.up, precision=precision), layer.down, precision=precision)


def expert_gates(
    layer: MixtureOfExperts | MixtureOfGated,
    x: jax.Array,
    *,
    top: int | None = None,
    whole: bool = True,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """g_ne, how much expert e counts for token n; each row sums to 1: (N, M) → (N, E).

    The softmax of x R over all experts, or over the `top` largest entries of the row, the others being 0; unless
    `whole`, over all experts, and then those that are not among the largest set to 0.
    Raises `ShapeError` if the arrays do not fit and `InputError` if `top` is not one of 1, …, E.
    """
    sizes = bind_fields(layer, MIXTURE_AXES if isinstance(layer, MixtureOfExperts) else MIXTURE_OF_GATED_AXES)
    bind_shape("x", tuple(x.shape), ("N", "M"), sizes)
    logits = jnp.matmul(x, layer.router, precision=precision)
    if top is None:
        return jax.nn.softmax(logits, axis=-1)
    if not 1 <= top <= sizes["E"]:
        raise InputError(f"got top = {top}, wanted one of 1, …, {sizes['E']}, the number of experts")
    largest, chosen = jax.lax.top_k(logits, top)
    places = jax.nn.one_hot(chosen, sizes["E"], dtype=x.dtype)
    if not whole:
        return jax.nn.softmax(logits, axis=-1) * jnp.sum(places, axis=1)
    return jnp.einsum("nt,nte->ne", jax.nn.softmax(largest, axis=-1), places, precision=precision)


def mixture_of_experts(
    layer: MixtureOfExperts,
    x: jax.Array,
    activation: Activation,
    *,
    top: int | None = None,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """Σ_e g_ne (σ(x_n W_1e + b_1e) W_2e + b_2e) for each token n, (N, M) → (N, M).

    Every expert is evaluated, also where its gate is 0. Raises what `expert_gates` raises.
    """
    gates = expert_gates(layer, x, top=top, precision=precision)
    inside = jnp.einsum("nm,emf->enf", x, layer.hidden, precision=precision) + layer.hidden_bias[:, None, :]
    experts = jnp.einsum("enf,efm->enm", activation(inside), layer.project, precision=precision)
    return jnp.einsum("ne,enm->nm", gates, experts + layer.project_bias[:, None, :], precision=precision)


def mixture_of_gated(
    layer: MixtureOfGated,
    x: jax.Array,
    activation: Activation,
    *,
    top: int | None = None,
    whole: bool = True,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """Σ_e g_ne (σ(x_n G_e) ⊙ (x_n U_e)) W_De for each token n, (N, M) → (N, M).

    Every expert is evaluated, also where its gate is 0. Raises what `expert_gates` raises.
    """
    gates = expert_gates(layer, x, top=top, whole=whole, precision=precision)
    inside, up = (jnp.einsum("nm,emf->enf", x, W, precision=precision) for W in (layer.gate, layer.up))
    experts = jnp.einsum("enf,efm->enm", activation(inside) * up, layer.down, precision=precision)
    return jnp.einsum("ne,enm->nm", gates, experts, precision=precision)
