"""Types and constants of MLIR as those of NumPy and JAX."""

from __future__ import annotations

import re
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.mlir import ir

from uat_jax.errors import UnsupportedError

DTYPES = {
    "i1": "bool",
    "f16": "float16",
    "bf16": "bfloat16",
    "f32": "float32",
    "f64": "float64",
    "complex<f32>": "complex64",
    "complex<f64>": "complex128",
    **{f"{sign}i{bits}": f"{sign.replace('s', '')}int{bits}" for sign in ("", "s", "u") for bits in (8, 16, 32, 64)},
}
"""Element type of MLIR → dtype."""


def dtype_of(kind: ir.Type) -> np.dtype:
    """The dtype of a tensor's elements.

    Raises:
        UnsupportedError: a token, a tuple, or an element type that is none of `DTYPES`.
    """
    if not isinstance(kind, ir.RankedTensorType):
        kept = (
            "tokens order side effects, which a function has not" if "token" in str(kind) else "only tensors are read"
        )
        raise UnsupportedError(f"a value of type {kind}: {kept}")
    name = str(kind.element_type)
    if name not in DTYPES:
        raise UnsupportedError(f"elements of type {name}; known are {', '.join(DTYPES)}")
    return jnp.dtype(DTYPES[name])


def is_static(kind: ir.Type) -> bool:
    """Whether all sizes are numbers."""
    return ir.RankedTensorType(kind).has_static_shape


def shape_of(kind: ir.Type) -> tuple[int, ...]:
    """The sizes of a tensor.

    Raises:
        UnsupportedError: one of them is left open.
    """
    if not is_static(kind):
        raise UnsupportedError(f"a result of type {kind}, whose size the operation does not say")
    return tuple(ir.RankedTensorType(kind).shape)


def spec_of(kind: ir.Type) -> jax.ShapeDtypeStruct:
    """Shape and dtype of a tensor.  Raises what `dtype_of` and `shape_of` raise."""
    return jax.ShapeDtypeStruct(shape_of(kind), dtype_of(kind))


def constant_of(operation: ir.Operation) -> np.ndarray:
    """The array of a `stablehlo.constant`.

    Raises:
        UnsupportedError: its element type, or the way in which it is written.
    """
    spec = spec_of(operation.results[0].type)
    try:
        written = attribute(operation, "value")
        array = _repeated(written, spec.dtype) if written.is_splat else np.array(written)
    except (AttributeError, TypeError, ValueError):  # what the bindings do not give: complex numbers, bfloat16
        array = _spelled(operation, spec.dtype)
    if array.size not in (1, np.prod(spec.shape, dtype=int)) or array.dtype == object:
        raise UnsupportedError(f"a constant written as {str(operation)[:60]}…")
    array = array.astype(spec.dtype, copy=False)
    return np.broadcast_to(array.reshape(() if array.size == 1 else spec.shape), spec.shape)


def _repeated(written: Any, dtype: np.dtype) -> np.ndarray:
    """The one number of which all entries are, however many; whole numbers by their bits."""
    number = written.get_splat_value().value
    if dtype.kind not in "iu":
        return np.array(number, dtype)
    return np.array(number % 2 ** (8 * dtype.itemsize), f"u{dtype.itemsize}").view(dtype)


NUMBER = re.compile(r"0x[0-9A-Fa-f]+|[-+]?[0-9.]+(?:[eE][-+]?[0-9]+)?")


def _spelled(operation: ir.Operation, dtype: np.dtype) -> np.ndarray:
    """A constant read from its text, such as dense<[1.5, 0x7FC0]>, dense<(1.0,2.0)> or dense<"0x803F"> of raw bytes."""
    text = str(operation.get_asm(large_elements_limit=None))
    found = re.search(r"dense<(.*)> : tensor<", text, re.DOTALL)
    if found is None:
        raise UnsupportedError(f"a constant written as {text[:60]}…")
    if found[1].startswith('"0x'):
        return np.frombuffer(bytes.fromhex(found[1][3:-1]), dtype)
    part = np.real(np.zeros(1, dtype)).dtype
    bits = np.dtype(f"u{part.itemsize}")
    read = lambda word: bits.type(int(word, 16)).view(part) if word.startswith("0x") else np.float64(word).astype(part)
    parts = np.array([read(word) for word in NUMBER.findall(found[1])], part)
    return parts.view(dtype) if dtype.kind == "c" else parts


def attribute(operation: ir.Operation, key: str) -> Any:
    """An attribute of an operation, or None if it has none of that name; the bindings do not say which kind it is."""
    return operation.attributes[key] if key in operation.attributes else None


def integers(attribute: Any) -> tuple[int, ...]:
    """An array attribute of whole numbers."""
    return tuple(int(number) for number in attribute)
