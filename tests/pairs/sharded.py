"""Programs of several devices beside the same functions on one: each with the mistakes that people make.

The meshes are abstract: no device is there.
"""

import functools
from collections.abc import Callable, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import P, lax, nn

from .pair import EPS, Pair, f32, matmul

AUTO = jax.sharding.AxisType.Auto


def mesh(**sizes: int) -> jax.sharding.AbstractMesh:
    """A mesh of so many devices along each axis."""
    return jax.sharding.AbstractMesh(tuple(sizes.values()), tuple(sizes), axis_types=(AUTO,) * len(sizes))


def on(devices: Any, cut: Sequence[Any], joined: Any, *, unchecked: bool = False) -> Callable[[Callable], Callable]:
    """A decorator: the function runs on every device of a mesh, on the parts of its arguments.

    unchecked: JAX does not look whether an output is the same on all devices, as it is asked not to by many.
    """
    return functools.partial(
        jax.shard_map, mesh=devices, in_specs=tuple(cut), out_specs=joined, check_vma=not unchecked
    )


def ring(count: int, step: int = 1) -> list[tuple[int, int]]:
    """Every device sends to the next."""
    return [(i, (i + step) % count) for i in range(count)]


# --- a network of two layers ------------------------------------------------------------------------------------------

ROWS, FEATURES, HIDDEN = 8, 4, 16
MLP = f32(ROWS, FEATURES), f32(FEATURES, HIDDEN), f32(HIDDEN, FEATURES)


def mlp(x, W, U):
    return matmul(nn.relu(matmul(x, W)), U)


def loss(x, W, U):
    return jnp.sum(mlp(x, W, U) ** 2) / ROWS


def tensor_parallel(finish: Callable[[Any], Any], count: int) -> Callable:
    """Every device has some hidden features."""
    run = lambda x, W, U: finish(mlp(x, W, U))
    return on(mesh(i=count), (P(), P(None, "i"), P("i")), P(), unchecked=True)(run)


def total(x):
    return lax.psum(x, "i")


def data_parallel_gradient(combine: Callable[[Any], Any], count: int) -> Callable:
    """The gradient of the loss by the weights, from every device's own rows."""

    def gradient(x, W, U):
        own = lambda W, U: jnp.sum(mlp(x, W, U) ** 2) / x.shape[0]
        return jax.tree.map(combine, jax.grad(own, argnums=(0, 1))(W, U))

    return on(mesh(i=count), (P("i"), P(), P()), P(), unchecked=True)(gradient)


def fully_sharded(gather: Callable[[Any], Any], count: int) -> Callable:
    """Weights are gathered where they are needed."""
    run = lambda x, W, U: mlp(x, gather(W), gather(U))
    return on(mesh(i=count), (P("i"), P("i"), P("i")), P("i"), unchecked=True)(run)


def sequence_parallel(scatter: Callable[[Any], Any], count: int) -> Callable:
    """Rows are gathered before the layers, and scattered behind: Megatron's way."""
    run = lambda x, W, U: scatter(mlp(lax.all_gather(x, "i", tiled=True), W, U))
    return on(mesh(i=count), (P("i"), P(None, "i"), P("i")), P("i"), unchecked=True)(run)


def two_axes(axis: str) -> Callable:
    """Rows along one axis of the mesh, hidden features along the other."""
    run = lambda x, W, U: lax.psum(mlp(x, W, U), axis)
    return on(mesh(data=2, model=4), (P("data"), P(None, "model"), P("model")), P("data"), unchecked=True)(run)


STAGES = 4
PIPELINE = f32(3, 2, FEATURES), f32(STAGES, FEATURES, FEATURES)
"""Three batches of two rows; a matrix for every stage."""


def stages(x, W):
    for i in range(STAGES):
        x = nn.relu(matmul(x, W[i]))
    return x


def pipeline(pairs: Sequence[tuple[int, int]], rounds: int = 3 + STAGES - 1) -> Callable:
    """Every device has one stage; batches enter at the first and leave at the last, one in each round."""

    def run(x, W):
        place = lax.axis_index("i")

        def step(carry, t):
            entering = lax.dynamic_index_in_dim(x, jnp.minimum(t, 2), keepdims=False)
            y = nn.relu(matmul(jnp.where(place == 0, entering, carry), W[0]))
            return lax.ppermute(y, "i", pairs), y

        _, found = lax.scan(step, jnp.zeros_like(x[0]), jnp.arange(rounds))
        last = jnp.where(place == STAGES - 1, found[rounds - 3 :], np.float32(0))
        return lax.psum(last, "i")

    return on(mesh(i=STAGES), (P(), P("i")), P(), unchecked=True)(run)


# --- attention --------------------------------------------------------------------------------------------------------

TOKENS, HEADS, WIDTH = 8, 4, 2
ATTENTION = (f32(TOKENS, HEADS, WIDTH),) * 3


def attention(q, k, v):
    scores = jnp.einsum("ihd,jhd->hij", q, k, precision="highest")
    return jnp.einsum("hij,jhd->ihd", nn.softmax(scores, axis=-1), v, precision="highest")


def heads_apart(count: int) -> Callable:
    cut = P(None, "i")
    return on(mesh(i=count), (cut, cut, cut), cut, unchecked=True)(attention)


def gathered_keys(gather: Callable[[Any], Any], count: int) -> Callable:
    """Every device has some tokens, and gathers all keys and values."""
    run = lambda q, k, v: attention(q, gather(k), gather(v))
    return on(mesh(i=count), (P("i"),) * 3, P("i"), unchecked=True)(run)


def ring_attention(pairs: Sequence[tuple[int, int]], count: int, rescaled: bool = True) -> Callable:
    """Keys and values travel around the ring of devices; maxima and sums are carried along."""

    def run(q, k, v):
        def look(carry, _):
            o, l, m, k, v = carry
            scores = jnp.einsum("ihd,jhd->hij", q, k, precision="highest")
            new = jnp.maximum(m, scores.max(-1))
            w, old = jnp.exp(scores - new[..., None]), jnp.exp(m - new) if rescaled else jnp.ones_like(m)
            o = o * old[..., None] + jnp.einsum("hij,jhd->hid", w, v, precision="highest")
            sent = (lax.ppermute(y, "i", pairs) for y in (k, v))
            return (o, l * old + w.sum(-1), new, *sent), None

        first = jnp.einsum("ihd,jhd->hij", q, k, precision="highest")[..., 0]
        start = jnp.zeros((HEADS, len(q), WIDTH)), jnp.zeros((HEADS, len(q))), first, k, v
        (o, l, *_), _ = lax.scan(look, start, None, length=count)
        return jnp.moveaxis(o / l[..., None], 0, 1)

    return on(mesh(i=count), (P("i"),) * 3, P("i"), unchecked=True)(run)


def heads_for_tokens(count: int) -> Callable:
    """Tokens are exchanged for heads before attention, and back behind it: Ulysses' way."""
    exchange = lambda x, split, joined: lax.all_to_all(x, "i", split, joined, tiled=True)
    run = lambda q, k, v: exchange(attention(*(exchange(x, 1, 0) for x in (q, k, v))), 0, 1)
    return on(mesh(i=count), (P("i"),) * 3, P("i"), unchecked=True)(run)


# --- parts of models --------------------------------------------------------------------------------------------------

VECTORS = f32(3, 8)


def over_features(function: Callable, count: int) -> Callable:
    """Every device has some features of every row."""
    return on(mesh(i=count), (P(None, "i"),), P(None, "i"), unchecked=True)(function)


def mean_of_features(x):
    return jnp.mean(x, -1, keepdims=True)


def mean_of_all(x):
    return lax.pmean(mean_of_features(x), "i")


def layer_norm(x, mean=mean_of_features):
    centred = x - mean(x)
    return centred / jnp.sqrt(mean(centred**2) + np.float32(EPS))


def softmax(x, combine: Callable[[Any], Any] = total, largest: Callable[[Any], Any] = lambda x: lax.pmax(x, "i")):
    e = jnp.exp(x - largest(jnp.max(x, -1, keepdims=True)))
    return e / combine(jnp.sum(e, -1, keepdims=True))


def neighbours(left: Sequence[tuple[int, int]], right: Sequence[tuple[int, int]], count: int) -> Callable:
    """x_(i−1) − 2 x_i + x_(i+1) with zeros beyond both ends; every device gets the entries next to its own."""

    def run(x):
        before, after = lax.ppermute(x[-1:], "i", left), lax.ppermute(x[:1], "i", right)
        wide = jnp.concatenate([before, x, after])
        return wide[:-2] - 2 * wide[1:-1] + wide[2:]

    return on(mesh(i=count), (P("i"),), P("i"))(run)


def second_difference(x):
    wide = jnp.pad(x, 1)
    return wide[:-2] - 2 * wide[1:-1] + wide[2:]


def chain(count: int, step: int) -> list[tuple[int, int]]:
    """Every device sends to the one so many places further, if there is one."""
    return [(i, i + step) for i in range(count) if 0 <= i + step < count]


EXPERTS = 4
MIXTURE = f32(EXPERTS, EXPERTS, 2, FEATURES), f32(EXPERTS, FEATURES, FEATURES)
"""On every device two rows for every expert; a matrix for every expert."""


def experts(x, W):
    return nn.relu(jnp.einsum("dern,enm->derm", x, W, precision="highest"))


def experts_apart(back: bool) -> Callable:
    """Rows travel to the device of their expert and back."""

    def run(x, W):
        given = lax.all_to_all(x, "i", 1, 0, tiled=True)  # (devices, 1, 2, FEATURES)
        made = nn.relu(jnp.einsum("dern,enm->derm", given, W, precision="highest"))
        return lax.all_to_all(made, "i", 0, 1, tiled=True) if back else jnp.moveaxis(made, 0, 1)

    return on(mesh(i=EXPERTS), (P("i"), P("i")), P("i"), unchecked=True)(run)


SHARDED: tuple[Pair, ...] = (
    *(
        Pair(
            f"hidden features on {count} devices",
            tensor_parallel(total, count),
            mlp,
            MLP,
            {
                "no sum": tensor_parallel(lambda x: x, count),
                "summed twice": tensor_parallel(lambda x: total(total(x)), count),
                "mean": tensor_parallel(lambda x: lax.pmean(x, "i"), count),
            },
        )
        for count in (2, 4, 8)
    ),
    Pair(
        "the gradient from rows on 4 devices",
        data_parallel_gradient(lambda g: lax.pmean(g, "i"), 4),
        jax.grad(loss, argnums=(1, 2)),
        MLP,
        {"sum": data_parallel_gradient(total, 4), "no mean": data_parallel_gradient(lambda g: g, 4)},
    ),
    Pair(
        "the gradient of a function on 4 devices",
        lambda x, W, U: jax.grad(lambda W: jnp.sum(tensor_parallel(total, 4)(x, W, U) ** 2))(W),
        lambda x, W, U: jax.grad(lambda W: jnp.sum(mlp(x, W, U) ** 2))(W),
        MLP,
        {"of another": lambda x, W, U: jax.grad(lambda W: jnp.sum(tensor_parallel(total, 4)(x, W, U)))(W)},
    ),
    Pair(
        "weights gathered on 4 devices",
        fully_sharded(lambda W: lax.all_gather(W, "i", tiled=True), 4),
        mlp,
        MLP,
        {"in another order": fully_sharded(lambda W: lax.all_gather(W, "i", tiled=True)[::-1], 4)},
    ),
    Pair(
        "rows gathered and scattered on 2 devices",
        sequence_parallel(lambda x: lax.psum_scatter(x, "i", tiled=True), 2),
        mlp,
        MLP,
        {"not summed": sequence_parallel(lambda x: x[: ROWS // 2], 2)},
    ),
    Pair("rows and hidden features on 8 devices", two_axes("model"), mlp, MLP, {"along rows": two_axes("data")}),
    Pair(
        "a pipeline of 4 devices",
        pipeline(chain(STAGES, 1)),
        stages,
        PIPELINE,
        {"a round less": pipeline(chain(STAGES, 1), STAGES + 1), "backwards": pipeline(chain(STAGES, -1))},
    ),
    *(
        Pair(
            f"heads on {count} devices",
            heads_apart(count),
            attention,
            ATTENTION,
            {"the other end": lambda q, k, v, count=count: heads_apart(count)(q, k, v[:, ::-1])},
        )
        for count in (2, 4)
    ),
    Pair(
        "keys gathered on 4 devices",
        gathered_keys(lambda x: lax.all_gather(x, "i", tiled=True), 4),
        attention,
        ATTENTION,
        {"not gathered": gathered_keys(lambda x: x, 4)},
    ),
    *(
        Pair(
            f"keys around a ring of {count} devices",
            ring_attention(ring(count), count),
            attention,
            ATTENTION,
            {
                "one stays": ring_attention(chain(count, 1), count),
                "not rescaled": ring_attention(ring(count), count, rescaled=False),
            },
        )
        for count in (2, 4)
    ),
    Pair(
        "the other way around a ring",
        ring_attention(ring(4, -1), 4),
        ring_attention(ring(4), 4),
        ATTENTION,
        {"every second": ring_attention(ring(4, 2), 4)},
    ),
    Pair(
        "tokens exchanged for heads on 4 devices",
        heads_for_tokens(4),
        attention,
        ATTENTION,
        {"of the values before": lambda q, k, v: heads_for_tokens(4)(q, k, jnp.roll(v, 1, 0))},
    ),
    Pair(
        "layer norm of features on 4 devices",
        over_features(lambda x: layer_norm(x, mean_of_all), 4),
        layer_norm,
        (VECTORS,),
        {"of each part": over_features(layer_norm, 4)},
    ),
    Pair(
        "softmax of features on 4 devices",
        over_features(softmax, 4),
        nn.softmax,
        (VECTORS,),
        {
            "no sum": over_features(lambda x: softmax(x, lambda s: s), 4),
            "a maximum of each": over_features(lambda x: softmax(x, largest=lambda m: m), 4),
        },
    ),
    Pair(
        "neighbours on 4 devices",
        neighbours(chain(4, 1), chain(4, -1), 4),
        second_difference,
        (f32(8),),
        {"around": neighbours(ring(4), ring(4, -1), 4), "exchanged": neighbours(chain(4, -1), chain(4, 1), 4)},
    ),
    Pair("experts on 4 devices", experts_apart(True), experts, MIXTURE, {"not sent back": experts_apart(False)}),
)
"""Every way of sharing a network out among devices that is in wide use."""
