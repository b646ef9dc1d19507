"""Attention as checkpoints store it, all heads side by side in one matrix, as heads of their own."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.adapted import on_columns, on_rows
from uat_jax.networks.multihead import MultiHead


def check_heads(heads: int, whole: int, what: str) -> None:
    """Raise `InputError` unless `heads` divides `whole`; `what` names the two."""
    if whole % heads:
        raise InputError(f"got {what} = {heads} and {whole}, wanted the first to divide the second; see config.json")


def multi_head(
    matrices: Sequence[jax.Array], biases: Sequence[Any], output: jax.Array, output_bias: jax.Array, *counts: int
) -> MultiHead:
    """W_Q (M, h d), W_K and W_V (M, g d), which act as x W, with their biases or None; W_O (h d, M) and b_O or None.

    `counts` are the numbers of heads of the three: h, g, g.
    """
    query, key, value = (_split(matrix, count) for matrix, count in zip(matrices, counts, strict=True))
    query_bias, key_bias, value_bias = (_split(bias, count) for bias, count in zip(biases, counts, strict=True))
    rows = on_rows(lambda rows: rows.reshape(counts[0], -1, rows.shape[-1]), output)
    return MultiHead(query, key, value, rows, query_bias, key_bias, value_bias, output_bias)


def turning_pairs(matrix: jax.Array, heads: int, turned: int | None = None) -> jax.Array:
    """Put features that RoPE turns together side by side: 0, r/2, 1, r/2 + 1, … within each head, along the last axis.

    The checkpoints turn the features k and k + r/2 of the first r = `turned` (all) by the angle ϑ_k,
    `networks.positions.rope` 2k and 2k + 1. Queries and keys permuted alike have the same products.
    """
    return on_columns(lambda array: _turned(array, heads, turned), matrix)


def _turned(array: Any, heads: int, turned: int | None) -> Any:
    blocks = array.reshape(*array.shape[:-1], heads, -1)
    first, rest = blocks[..., :turned], blocks[..., blocks.shape[-1] if turned is None else turned :]
    pairs = first.reshape(*first.shape[:-1], 2, -1).swapaxes(-1, -2).reshape(first.shape)
    return np.concatenate([pairs, rest], axis=-1).reshape(array.shape)


def split_qkv(fused: jax.Array, layout: str, h: int, g: int) -> list[jax.Array]:
    """W_Q, W_K and W_V, or their biases, of columns that hold all three: (…, (h + 2g) d)."""
    return [on_columns(lambda array, part=part: _qkv(array, layout, h, g)[part], fused) for part in range(3)]


def _qkv(array: jax.Array, layout: str, h: int, g: int) -> list[Any]:
    front = array.shape[:-1]
    if layout == "thirds":
        d = array.shape[-1] // (h + 2 * g)
        return np.split(array, [h * d, (h + g) * d], axis=-1)
    groups = array.reshape(*front, g, h // g + 2, -1)
    return [part.reshape(*front, -1) for part in (groups[..., :-2, :], groups[..., -2, :], groups[..., -1, :])]


def _split(columns: jax.Array, heads: int) -> jax.Array:
    """The column blocks of a matrix or a vector, (M, h d) → (h, M, d) and (h d,) → (h, d)."""
    if columns is None:
        return None
    blocks = lambda array: array.reshape(*array.shape[:-1], heads, -1).swapaxes(0, -2)
    return on_columns(blocks, columns)
