"""Random layers: sizes and dtype checked, one draw per layer."""

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


def draw_arrays(
    key: jax.Array, table: Mapping[str, tuple[tuple[int, ...], float]], dtype: np.dtype
) -> dict[str, jax.Array]:
    """Independent normal arrays of mean 0, `table` being field → (shape, variance).

    All are cut from one vector drawn from `key`, field after field; in bfloat16 and float16 it is drawn in float32
    and rounded.
    """
    sizes = [int(np.prod(shape)) for shape, _ in table.values()]
    wide = dtype if dtype.itemsize >= 4 else np.dtype(np.float32)
    pieces = jnp.split(jax.random.normal(key, (sum(sizes),), wide), np.cumsum(sizes)[:-1].tolist())
    return {
        field: (piece.reshape(shape) * jnp.sqrt(jnp.asarray(variance, wide))).astype(dtype)
        for (field, (shape, variance)), piece in zip(table.items(), pieces, strict=True)
    }
