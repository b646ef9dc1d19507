"""Random layers: sizes and dtype checked, one draw per layer."""

import math
from collections.abc import Mapping, Sequence
from numbers import Integral

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import InputError

DTYPES = ("float64", "float32", "bfloat16", "float16")
"""The dtypes a network may have."""

BIAS_VARIANCE = 0.25
"""Biases are normal · 0.5: at zero, the identity element of addition, a lost bias would go unseen."""


def checked_sizes(name: str, sizes: Sequence[int], least: int = 1) -> tuple[int, ...]:
    """`sizes` as a tuple of at least `least` positive integers, or `InputError`."""
    good = len(sizes) >= least and all(isinstance(size, Integral) and size >= 1 for size in sizes)
    if not good:
        raise InputError(f"got {name} = {list(sizes)}, wanted at least {least} integers, each 1 or more")
    return tuple(int(size) for size in sizes)


def checked_dtype(dtype: jax.typing.DTypeLike) -> np.dtype:
    """`dtype` as a NumPy dtype that JAX computes in as it stands now, or `InputError`.

    float64 is refused while x64 is off, because JAX would then compute in float32 without a word.
    """
    try:
        checked = jnp.dtype(dtype)
    except TypeError:
        checked = None
    if checked is None or checked.name not in DTYPES:
        raise InputError(f"got dtype {checked or dtype}, wanted one of {', '.join(DTYPES)}")
    if checked.name == "float64" != jnp.result_type(float).name:
        raise InputError("got dtype float64 while x64 is off; wrap the call in `with jax.enable_x64(True):`")
    return checked


Table = Mapping[str, tuple[tuple[int, ...], float]]
"""Field → (shape, variance)."""


def draw_arrays(key: jax.Array, table: Table, dtype: np.dtype) -> dict[str, jax.Array]:
    """Independent normal arrays of mean 0.

    All are cut from one vector drawn from `key`, field after field; in bfloat16 and float16 it is drawn in float32
    and rounded.
    """
    return _cut(jax.random.normal(key, (_entries(table),), _wide(dtype)), table, dtype)


def draw_layers(key: jax.Array, tables: Sequence[Table], dtype: np.dtype) -> list[dict[str, jax.Array]]:
    """The arrays of each of several layers: layer j = 1, 2, … as `draw_arrays` draws it from fold_in(key, j).

    The vectors of all layers are drawn at once, each as long as the longest: one program is compiled and not one for
    each layer, and a vector begins with the same numbers however long it is (`jax_threefry_partitionable`).
    """
    longest = max(map(_entries, tables))
    vector = lambda j: jax.random.normal(jax.random.fold_in(key, j), (longest,), _wide(dtype))
    vectors = jax.vmap(vector)(jnp.arange(1, len(tables) + 1))
    return [_cut(numbers, table, dtype) for numbers, table in zip(vectors, tables, strict=True)]


def _entries(table: Table) -> int:
    return sum(math.prod(shape) for shape, _ in table.values())


def _wide(dtype: np.dtype) -> np.dtype:
    """The dtype that normal numbers are drawn in."""
    return dtype if dtype.itemsize >= 4 else np.dtype(np.float32)


def _cut(numbers: jax.Array, table: Table, dtype: np.dtype) -> dict[str, jax.Array]:
    """Arrays of a table from the first of these normal numbers, each times its standard deviation."""
    shapes, variances = zip(*table.values(), strict=True)
    sizes = list(map(math.prod, shapes))
    scaled = numbers[: sum(sizes)] * np.repeat(np.sqrt(np.array(variances, numbers.dtype)), sizes)
    pieces = jnp.split(scaled.astype(dtype), np.cumsum(sizes)[:-1].tolist())
    return {field: piece.reshape(shape) for field, piece, shape in zip(table, pieces, shapes, strict=True)}
