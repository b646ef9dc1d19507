"""The names of functions outside of JAX: equal names only for functions that do the same.

A host function is known by what it is made of: its code, its globals, its defaults and what it captures.  What cannot
be looked into, such as an object, is known by being the same one.  A foreign function is known by its target and its
attributes.
"""

from __future__ import annotations

import dis
import functools
import inspect
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from types import FunctionType, MethodType
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import Tracer
from jax.extend import source_info_util
from jax.extend.core import JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import value_digest
from uat_jax.interpret.operation import comparable
from uat_jax.interpret.outside_function import call
from uat_jax.interpret.tracing import source_line
from uat_jax.typing import Array

CALLS = frozenset(["ffi_call", "pure_callback"])
"""Primitives of JAX that call functions outside of it."""

ATOMS = frozenset([bool, int, str, bytes, type(None)])
"""Types of values that are told apart by their texts; an object of a class derived from one can hold more."""

DEEPEST = 8
"""Functions that capture functions are looked into so many times; what lies deeper is known by being the same one."""

LARGEST = 1 << 20
"""A captured array of more entries is known by being the same one."""

LONGEST = 120
"""Letters of a name."""

_MET: Counter[str] = Counter()


def is_call(equation: JaxprEqn) -> bool:
    """Whether an equation calls a function outside of JAX that returns; one that never does is an error."""
    name = equation.primitive.name
    return name in CALLS and not (name == "pure_callback" and never_returns(equation.params["callback"]))


def call_outside(equation: JaxprEqn, operands: Sequence[Array]) -> list[Any]:
    """The results of such a call, as those of an equation that names the function.  Raises as `name_of_function`."""
    with source_info_util.user_context(equation.source_info.traceback):
        return call(name_of_function(equation), operands, [v.aval for v in equation.outvars])


def never_returns(callback: Any) -> bool:
    """Whether a host function has no instruction that returns, so that it can only raise an error, or never end.

    Example:
        >>> def stop(x):
        ...     raise ValueError(x)
        >>> never_returns(stop), never_returns(lambda x: x)
        (True, False)
    """
    function = getattr(callback, "callback_func", callback)
    if not inspect.isfunction(function) or inspect.isgeneratorfunction(function):
        return False
    if inspect.iscoroutinefunction(function) or inspect.isasyncgenfunction(function):
        return False
    return not any("RETURN" in instruction.opname for instruction in dis.get_instructions(function))


def name_of_function(equation: JaxprEqn) -> str:
    """The name of the function that a `pure_callback` or an `ffi_call` calls.

    Raises:
        UnsupportedError: the call has a side effect, so that the function is more than one of its operands; or an
            attribute is of a kind that cannot be compared.
    """
    if equation.effects:
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} has a side effect, which is not compared; remove it"
        )
    if equation.primitive.name == "ffi_call":
        ignored = ("has_side_effect", "result_avals", "vmap_method")
        attributes = {name: value for name, value in equation.params.items() if name not in ignored}
        return f"{_printable(equation.params['target_name'])}#{value_digest(attributes, equation)[:32]}"
    callback = equation.params["callback"]
    function, tree = getattr(callback, "callback_func", callback), getattr(callback, "in_tree", None)
    label = f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', type(function).__name__)}"
    return _numbered(_printable(label), (made_of(function), comparable(tree)))


def _printable(label: str) -> str:
    """A label without what stands between a label and what is said beside it, so that no label looks like a name."""
    return "".join("?" if c in " ()#" or not c.isprintable() else c for c in label)[:LONGEST]


@functools.lru_cache(maxsize=1 << 10)
def _numbered(label: str, function: Hashable) -> str:
    """A name for a function that has none: its label, with a number if another one is called so."""
    _MET[label] += 1
    return label if _MET[label] == 1 else f"{label} ({_MET[label]})"


@dataclass(frozen=True, eq=False)
class Same:
    """An object that is equal to itself only, kept so that no other one takes its place in memory."""

    value: Any

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)


def made_of(value: Any, depth: int = 0) -> Hashable:
    """A host function, or what it captures, as what is equal only for those that do the same.

    Example:
        >>> def times(n):
        ...     return lambda x: n * x
        >>> made_of(times(2)) == made_of(times(2)), made_of(times(2)) == made_of(times(3))
        (True, False)
    """
    inner = lambda part: made_of(part, depth + 1)
    if type(value) in ATOMS:
        return type(value), repr(value)
    if type(value) in (float, complex):
        return type(value), np.asarray(value).tobytes()
    if isinstance(value, np.dtype):
        return (type(value), str(value)) if _is_plain(value) else Same(value)
    if depth > DEEPEST:
        return Same(value)
    if type(value) is tuple:
        return tuple(map(inner, value))
    if isinstance(value, np.generic | np.ndarray | jax.Array) and not isinstance(value, Tracer):
        return _array(value)
    if type(value) is functools.partial:
        return "partial", inner(value.func), inner(value.args), inner(tuple(value.keywords.items()))
    if isinstance(value, MethodType):
        return "method", inner(value.__func__), Same(value.__self__)
    return _function(value, inner) if isinstance(value, FunctionType) else Same(value)


def _array(value: Any) -> Hashable:
    """A captured array, or a number of NumPy, by its bits and by what else a function sees of it.

    An array of a derived class, as one with a mask or a matrix, is known by being the same one.
    """
    if jnp.issubdtype(value.dtype, jax.dtypes.extended) or not _is_plain(value.dtype) or value.size > LARGEST:
        return Same(value)
    if type(value) is not np.ndarray and not isinstance(value, jax.Array) and type(value) is not value.dtype.type:
        return Same(value)
    layout = value.strides if isinstance(value, np.ndarray) else getattr(value, "weak_type", None)
    return type(value), str(value.dtype), value.shape, layout, np.asarray(value).tobytes()


def _is_plain(dtype: np.dtype) -> bool:
    """Whether a dtype is one of numbers or texts, without parts, Python objects and metadata."""
    return dtype.metadata is None and dtype.fields is None and dtype.subdtype is None and not dtype.hasobject


def _function(value: FunctionType, inner: Any) -> Hashable:
    """A function of Python by its code, globals, defaults, captured values and attributes."""
    try:
        captured = tuple(cell.cell_contents for cell in value.__closure__ or ())
    except ValueError:  # a captured name that has no value yet
        return Same(value)
    defaults = (value.__defaults__ or (), tuple(sorted((value.__kwdefaults__ or {}).items())))
    attributes = tuple(value.__dict__.items())
    return "function", value.__code__, Same(value.__globals__), inner(defaults), inner(captured), inner(attributes)
