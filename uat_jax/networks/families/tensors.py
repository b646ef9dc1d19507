"""The tensors of a checkpoint as a family wants them: all there, no other, of the right shapes, in one dtype."""

import re
import warnings
from collections.abc import Iterable, Mapping
from itertools import islice

import jax
import numpy as np

from uat_jax.errors import InputError
from uat_jax.networks.adapted import Array
from uat_jax.networks.checkpoint import Checkpoint
from uat_jax.networks.drawing import checked_dtype
from uat_jax.networks.shapes import Axes, bind_shape
from uat_jax.typing import JsonObject

Tensors = Mapping[str, Array]
"""NumPy arrays by name; a model's arrays are moved to the device all at once, in the end."""

NAMED = 3
"""How many names an error lists."""


def select(
    checkpoint: Checkpoint,
    axes: Axes,
    sizes: Mapping[str, int],
    *,
    ignored: str,
    dtype: jax.typing.DTypeLike | None,
) -> JsonObject:
    """The tensors named in `axes`, in `dtype`, or in their own: the widest there is, bfloat16 counting as float32.

    Names that match the pattern `ignored` belong to buffers, which nothing is computed from. Raises `InputError` for
    tensors missing or superfluous and for numbers that are not finite, `ShapeError` for a shape that is not the
    config's.
    """
    found = checkpoint.tensors
    refuse("no tensor", (name for name in axes if name not in found), "wanted it; download the weights again")
    others = (name for name in sorted(found) if name not in axes and not re.fullmatch(ignored, name))
    refuse("the superfluous tensor", others, "wanted no such name; check the architecture in config.json")
    for name, letters in axes.items():
        bind_shape(name, found[name].shape, letters, dict(sizes))
        if not is_float(found[name].dtype):
            raise InputError(f"got dtype {found[name].dtype} for {name}, wanted floats; convert that tensor")
    own = {found[name].dtype for name in axes}
    target = checked_dtype(_widest(own) if dtype is None else dtype)
    return {name: cast(name, found[name], target) for name in axes}


def under(tensors: Tensors, prefix: str) -> JsonObject:
    """The tensors whose name begins with `prefix`, by the rest of their name."""
    return {name.removeprefix(prefix): array for name, array in tensors.items() if name.startswith(prefix)}


def prefixed(axes: Axes, prefix: str) -> dict[str, tuple[str, ...]]:
    """The axes under longer names, which begin with `prefix`."""
    return {prefix + name: letters for name, letters in axes.items()}


def numbered(axes: Axes, prefix: str, count: int) -> dict[str, tuple[str, ...]]:
    """The axes of `count` layers; the ``{}`` in `prefix` is the number of the layer, from 0."""
    return {name: row for j in range(count) for name, row in prefixed(axes, prefix.format(j)).items()}


def prefix_of(checkpoint: Checkpoint, prefix: str) -> str:
    """`prefix` if any tensor has it: a model with a head puts it before the names of the model without."""
    return prefix if any(name.startswith(prefix) for name in checkpoint.tensors) else ""


def refuse(what: str, names: Iterable[str], advice: str) -> None:
    """Raise `InputError` that lists the first of the names, if there are any."""
    listed = list(islice(names, NAMED + 1))
    if listed:
        more = " and more" if len(listed) > NAMED else ""
        raise InputError(f"got {what} {', '.join(map(repr, listed[:NAMED]))}{more}, {advice}")


def is_float(dtype: np.dtype) -> bool:
    """Whether numbers of this dtype are floats."""
    return dtype.kind == "f" or dtype.name == "bfloat16"


def _widest(dtypes: Iterable[np.dtype]) -> np.dtype:
    names = {dtype.name for dtype in dtypes}
    if "bfloat16" in names:
        warnings.warn(
            "got bfloat16 weights, which are computed with in float32; dtype='bfloat16' keeps them as they are",
            stacklevel=7,  # the caller of load_model
        )
    return np.result_type(*("float32" if name == "bfloat16" else name for name in names))


def cast(name: str, array: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """The array in `dtype`.  Raises `InputError` for a number that is not finite there."""
    with np.errstate(over="ignore"):
        found = array.astype(dtype, copy=False)
    if not np.isfinite(found).all():
        raise InputError(f"got a number in {name} that is not finite in {dtype}, wanted none; take another dtype")
    return found
