"""Concrete arrays: the integers, booleans and random keys of a jaxpr, which are the same in every number system."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeGuard

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.typing import Array, Atom, Parameters


def _iota(parameters: Parameters) -> np.ndarray:
    """0, 1, 2, … along one axis."""
    shape, axis = parameters["shape"], parameters["dimension"]
    dtype = np.int32 if shape[axis] < 1 << 31 else np.int64
    along = np.arange(shape[axis], dtype=dtype).reshape([-1 if i == axis else 1 for i in range(len(shape))])
    return np.broadcast_to(along, shape)


def _broadcast(parameters: Parameters, array: np.ndarray) -> np.ndarray:
    """`lax.broadcast_in_dim` of a NumPy array: its axes at `broadcast_dimensions`, repeated along the others."""
    shape, places = parameters["shape"], parameters["broadcast_dimensions"]
    sizes = dict(zip(places, np.shape(array), strict=True))
    return np.broadcast_to(np.reshape(array, [sizes.get(i, 1) for i in range(len(shape))]), shape)


_plain = lambda function: lambda parameters, *operands: function(*operands)

ON_HOST: Mapping[str, Callable[..., np.ndarray | None]] = {
    "iota": _iota,
    "broadcast_in_dim": _broadcast,
    "convert_element_type": _plain(np.asarray),
    "select_n": lambda parameters, which, *cases: np.where(which, *cases[::-1]) if which.dtype == bool else None,
    "add": _plain(np.add),
    "sub": _plain(np.subtract),
    "mul": _plain(np.multiply),
    "lt": _plain(np.less),
    "le": _plain(np.less_equal),
    "gt": _plain(np.greater),
    "ge": _plain(np.greater_equal),
    "eq": _plain(np.equal),
    "ne": _plain(np.not_equal),
    "and": _plain(np.bitwise_and),
    "or": _plain(np.bitwise_or),
    "xor": _plain(np.bitwise_xor),
    "not": _plain(np.invert),
}
"""What masks and places are made with, for which NumPy and XLA compute the same whole numbers, modulo 2ⁿ.

Compiling such a primitive takes longer than comparing two small programs.
"""


def made_on_host(equation: JaxprEqn, operands: Sequence[object]) -> list[np.ndarray] | None:
    """NumPy's result of an equation on whole numbers and booleans, None if it has no rule here."""
    rule, (result, *others) = ON_HOST.get(equation.primitive.name), equation.outvars
    whole = all(isinstance(x, np.ndarray | np.generic) and x.dtype.kind in "iub" for x in operands)
    if rule is None or others or not whole or is_number(result) or dtype_of(result).kind not in "iub":
        return None
    with np.errstate(over="ignore"):  # of single numbers NumPy would warn
        found = rule(equation.params, *operands)
    return None if found is None else [np.asarray(found).astype(dtype_of(result), copy=False)]


def bind(equation: JaxprEqn, operands: Sequence[object]) -> Sequence[Array]:
    """JAX's own results of an equation on concrete operands, also inside a trace."""
    found = made_on_host(equation, operands)
    if found is not None:
        return found
    with jax.ensure_compile_time_eval():
        outputs = equation.primitive.bind(*operands, **equation.params)
    return list(outputs) if equation.primitive.multiple_results else [outputs]


def is_keys(array: object) -> bool:
    """Whether an array holds `jax.random` keys, which NumPy cannot."""
    dtype = getattr(array, "dtype", None)
    return dtype is not None and jnp.issubdtype(dtype, jax.dtypes.extended)


def on_host(array: Array) -> Any:  # Any: a value of every arithmetic
    """The array in NumPy; random keys stay with JAX."""
    return array if is_keys(array) else np.asarray(array)


def is_array(value: object) -> TypeGuard[Array]:
    """Whether a value is an array of NumPy or JAX, and not one of Python objects."""
    return isinstance(value, np.ndarray | np.generic | jax.Array) and value.dtype != object


def is_plain(value: object, atom: Atom) -> TypeGuard[Array]:
    """Whether the value of a variable that is not floating-point is a concrete array of the variable's shape."""
    return not is_number(atom) and is_array(value) and value.shape == shape_of(atom)


def stack(arrays: Sequence[Array]) -> Any:  # Any: a value of every arithmetic
    """Concrete arrays of one shape along a new leading axis."""
    return jnp.stack(arrays) if is_keys(arrays[0]) else np.stack(arrays)


def is_wide(array: np.ndarray) -> bool:
    """Whether an array holds integers that float64 may round."""
    return array.dtype in (np.int64, np.uint64) and bool(
        np.any(array.astype(np.float64).astype(object) != array.astype(object))
    )
