"""A decoder from token numbers to logits: embedding, blocks, final norm, unembedding."""

from collections.abc import Callable
from typing import NamedTuple

import jax
import jax.numpy as jnp
from jax.sharding import AxisType, NamedSharding, PartitionSpec

from uat_jax.errors import ShapeError
from uat_jax.networks.block import Block, BlockOptions, initialise_gpt_block, pre_norm_block
from uat_jax.networks.drawing import checked_dtype, checked_sizes, draw_arrays
from uat_jax.networks.fields import bind_fields
from uat_jax.networks.norms import EPSILON, Norm, initialise_layer_norm, normalise
from uat_jax.networks.shapes import Axes, bind_shape


class Embedding(NamedTuple):
    """A row for each token of the vocabulary and, unless None, one for each position."""

    tokens: jax.Array
    """E, (V, M)."""
    positions: jax.Array | None = None
    """p, (P, M), P being the largest number of tokens."""


class Unembedding(NamedTuple):
    """From the last block to the logits."""

    norm: Norm
    """The final norm, over M features."""
    matrix: jax.Array
    """W_U, (M, V)."""


class Decoder(NamedTuple):
    """The parameters of a decoder."""

    embedding: Embedding
    blocks: tuple[Block, ...]
    unembedding: Unembedding


EMBEDDING_AXES: Axes = {"tokens": ("V", "M"), "positions": ("P", "M")}


def initialise_decoder(
    key: jax.Array,
    *,
    vocabulary: int,
    positions: int,
    features: int,
    blocks: int,
    heads: int,
    hidden: int,
    dtype: jax.typing.DTypeLike = jnp.float32,
) -> Decoder:
    """A random decoder of blocks as `initialise_gpt_block` draws them, with learned positions.

    Embeddings have variance 1, W_U 1/M. Block j is drawn from ``fold_in(key, j)``, j = 1, …, L, the rest
    from ``fold_in(key, 0)``. Raises `InputError` for unusable sizes or dtypes.
    """
    given = [vocabulary, positions, features, blocks]
    V, P, M, L = checked_sizes("vocabulary, positions, features, blocks", given, least=4)
    first = jax.random.fold_in(key, 0)
    table = {"tokens": ((V, M), 1.0), "positions": ((P, M), 1.0), "matrix": ((M, V), 1 / M)}
    drawn = draw_arrays(first, table, checked_dtype(dtype))
    return Decoder(
        Embedding(drawn["tokens"], drawn["positions"]),
        tuple(
            initialise_gpt_block(jax.random.fold_in(key, j), features=M, heads=heads, hidden=hidden, dtype=dtype)
            for j in range(1, L + 1)
        ),
        Unembedding(initialise_layer_norm(jax.random.fold_in(first, 1), M, dtype), drawn["matrix"]),
    )


def embed(embedding: Embedding, tokens: jax.Array) -> jax.Array:
    """x_n = E[t_n] + p[n] for the token numbers t_1, …, t_N in 0, …, V − 1: (N,) → (N, M).

    Of pixels in place of numbers, (N, V), the product with E.

    Raises `ShapeError` if there are more tokens than positions. A number outside the vocabulary gives NaN.
    """
    sizes = bind_fields(embedding, EMBEDDING_AXES)
    bind_shape("tokens", tuple(tokens.shape), ("N", "V")[: tokens.ndim], sizes)
    if tokens.ndim == 2:
        x = jnp.matmul(tokens, embedding.tokens, precision="highest")
    else:
        x = rows(embedding.tokens, tokens)
    if embedding.positions is None:
        return x
    if sizes["N"] > sizes["P"]:
        raise ShapeError(f"got {sizes['N']} tokens, wanted at most {sizes['P']}, the number of positions; cut them")
    return x + embedding.positions[: sizes["N"]]


def rows(matrix: jax.Array, numbers: jax.Array) -> jax.Array:
    """The rows of a matrix, (V, M) and (N,) → (N, M), sharded like their numbers.

    Where a mesh has explicit axes, JAX wants to be told how an array that is looked up is sharded.
    """
    of = jax.typeof(numbers).sharding
    explicit = AxisType.Explicit in of.mesh.axis_types
    sharding = NamedSharding(of.mesh, PartitionSpec(*of.spec, None)) if explicit else None
    return matrix.at[numbers].get(mode="fill", fill_value=jnp.nan, out_sharding=sharding)


def unembed(
    unembedding: Unembedding,
    x: jax.Array,
    *,
    epsilon: float = EPSILON,
    precision: jax.lax.PrecisionLike = "highest",
) -> jax.Array:
    """norm(x) W_U, the logits of each token: (N, M) → (N, V). Raises `ShapeError` if the arrays do not fit."""
    sizes = bind_fields(unembedding, {"matrix": ("M", "V")})
    bind_shape("x", tuple(x.shape), ("N", "M"), sizes)
    return jnp.matmul(normalise(unembedding.norm, x, epsilon=epsilon), unembedding.matrix, precision=precision)


def decoder(
    parameters: Decoder,
    tokens: jax.Array,
    options: BlockOptions,
    *,
    block: Callable[[Block, jax.Array, BlockOptions], jax.Array] = pre_norm_block,
) -> jax.Array:
    """The logits of N token numbers, (N,) → (N, V); `block` is one of the kinds in block.py.

    `options.scoring` holds the mask: without one every token sees the whole text. `jax.vmap` takes a batch.
    """
    x = embed(parameters.embedding, tokens)
    for layer in parameters.blocks:
        x = block(layer, x, options)
    return unembed(parameters.unembedding, x, epsilon=options.epsilon, precision=options.precision)
