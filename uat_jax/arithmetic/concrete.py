"""Concrete arrays: the integers, booleans and random keys of a jaxpr, which are the same in every number system."""

from collections.abc import Sequence
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.tracing import is_number, shape_of


def bind(equation: JaxprEqn, operands: Sequence[Any]) -> list[Any]:
    """JAX's own results of an equation on concrete operands, also inside a trace."""
    with jax.ensure_compile_time_eval():
        outputs = equation.primitive.bind(*operands, **equation.params)
    return list(outputs) if equation.primitive.multiple_results else [outputs]


def is_keys(array: Any) -> bool:
    """Whether an array holds `jax.random` keys, which NumPy cannot."""
    return jnp.issubdtype(array.dtype, jax.dtypes.extended)


def on_host(array: Any) -> Any:
    """The array in NumPy; random keys stay with JAX."""
    return array if is_keys(array) else np.asarray(array)


def is_array(value: Any) -> bool:
    """Whether a value is an array of NumPy or JAX, and not one of Python objects."""
    return isinstance(value, np.ndarray | np.generic | jax.Array) and value.dtype != object


def is_plain(value: Any, atom: Any) -> bool:
    """Whether the value of a variable that is not floating-point is a concrete array of the variable's shape."""
    return not is_number(atom) and is_array(value) and value.shape == shape_of(atom)


def stack(arrays: Sequence[Any]) -> Any:
    """Concrete arrays of one shape along a new leading axis."""
    return jnp.stack(arrays) if is_keys(arrays[0]) else np.stack(arrays)


def is_wide(array: np.ndarray) -> bool:
    """Whether an array holds integers that float64 may round."""
    return array.dtype in (np.int64, np.uint64) and bool(
        np.any(array.astype(np.float64).astype(object) != array.astype(object))
    )
