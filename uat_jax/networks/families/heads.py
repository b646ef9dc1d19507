"""Attention as checkpoints store it, all heads side by side in one matrix, as heads of their own."""

from collections.abc import Sequence
from typing import Any

from uat_jax.errors import InputError
from uat_jax.networks.adapted import on_columns, on_rows
from uat_jax.networks.multihead import MultiHead


def check_heads(heads: int, whole: int, what: str) -> None:
    """Raise `InputError` unless `heads` divides `whole`; `what` names the two."""
    if whole % heads:
        raise InputError(f"got {what} = {heads} and {whole}, wanted the first to divide the second; see config.json")


def multi_head(
    matrices: Sequence[Any], biases: Sequence[Any], output: Any, output_bias: Any, *counts: int
) -> MultiHead:
    """W_Q (M, h d), W_K and W_V (M, g d), which act as x W, with their biases or None; W_O (h d, M) and b_O or None.

    `counts` are the numbers of heads of the three: h, g, g.
    """
    query, key, value = (_split(matrix, count) for matrix, count in zip(matrices, counts, strict=True))
    query_bias, key_bias, value_bias = (_split(bias, count) for bias, count in zip(biases, counts, strict=True))
    rows = on_rows(lambda rows: rows.reshape(counts[0], -1, rows.shape[-1]), output)
    return MultiHead(query, key, value, rows, query_bias, key_bias, value_bias, output_bias)


def _split(columns: Any, heads: int) -> Any:
    """The column blocks of a matrix or a vector, (M, h d) → (h, M, d) and (h d,) → (h, d)."""
    if columns is None:
        return None
    blocks = lambda array: array.reshape(*array.shape[:-1], heads, -1).swapaxes(0, -2)
    return on_columns(blocks, columns)
