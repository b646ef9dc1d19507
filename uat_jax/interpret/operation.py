"""What an equation does to its operands, whatever they are: one object for all equations that do the same."""

from __future__ import annotations

import dataclasses
import functools
import math
import weakref
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from enum import Enum
from typing import Any, TypeVar

import jax
import numpy as np
from jax.core import AbstractValue, ShapedArray
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.interpret.tracing import is_floating

LARGE = 1 << 12
"""An array of at least so many entries is large."""


Type = tuple[tuple[int, ...], Any]
"""A shape and a dtype; of what has none, such as a token, () and None."""


@dataclass(frozen=True, eq=False)
class Operation:
    """A primitive with its parameters, and the types of its operands and results.

    Equations that do the same have the same object, so that what follows from it is looked up once.  If `comparable`
    is False, a parameter cannot be compared, and nothing else is known to do the same.  of_any_type: the primitive and
    its parameters alone.  remembered: what functions of what an equation does have found, by the function.
    """

    name: str
    of_any_type: Hashable
    operands: tuple[Type, ...]
    results: tuple[Type, ...]
    comparable: bool
    remembered: dict[Callable[[JaxprEqn], Any], Any] = field(default_factory=dict)

    @functools.cached_property
    def takes_numbers(self) -> bool:
        """Whether an operand is floating-point."""
        return any(is_floating(dtype) for _, dtype in self.operands)

    @functools.cached_property
    def makes_numbers(self) -> bool:
        """Whether all results are floating-point."""
        return all(is_floating(dtype) for _, dtype in self.results)

    @functools.cached_property
    def of_numbers(self) -> bool:
        """Whether all operands and results are floating-point."""
        return self.makes_numbers and all(is_floating(dtype) for _, dtype in self.operands)

    @functools.cached_property
    def makes_numbers_without_integers(self) -> bool:
        """Whether all results are floating-point, and all operands floating-point or boolean."""
        return self.makes_numbers and all(is_floating(dtype) or dtype == np.bool_ for _, dtype in self.operands)

    @functools.cached_property
    def is_complex(self) -> bool:
        """Whether an operand or a result is complex."""
        return any(getattr(dtype, "kind", "") == "c" for _, dtype in (*self.operands, *self.results))

    @functools.cached_property
    def entries(self) -> int:
        """How many entries the largest result has."""
        return max((math.prod(shape) for shape, _ in self.results), default=0)

    @functools.cached_property
    def bytes(self) -> float:
        """How much memory the largest result takes, with eight bytes for a float."""
        width = lambda dtype: 8 if is_floating(dtype) else getattr(dtype, "itemsize", 8)
        return float(max((width(dtype) * math.prod(shape) for shape, dtype in self.results), default=0))

    @property
    def is_large(self) -> bool:
        """Whether a result has many entries."""
        return self.entries >= LARGE


EQUAL_IF_SAME = (str, bytes, type(None), type, np.dtype, AbstractValue, ClosedJaxpr, Jaxpr)
"""Kinds of parameters that are equal only if they mean the same; of other objects only one and the same is equal."""

WORDS, INTEGERS = frozenset([str, bytes, type(None)]), frozenset([int])
"""Kinds that are compared as they are, and that of whole numbers that are no booleans."""

NUMBERS, OF_NUMBERS = frozenset([bool, int, float]), (int, float, complex, np.generic)
"""Kinds that are told apart by how they are written; those derived from them as well."""

_OPERATIONS: weakref.WeakValueDictionary[Hashable, Operation] = weakref.WeakValueDictionary()


@functools.lru_cache(maxsize=1 << 14)
def operation_of(equation: JaxprEqn) -> Operation:
    """What an equation does; remembered for the equation, so that its parameters are compared once."""
    name, operands, results = equation.primitive.name, _types(equation.invars), _types(equation.outvars)
    parameters = sorted(equation.params.items(), key=lambda item: item[0])
    try:
        applied = equation.primitive, tuple((parameter, comparable(value)) for parameter, value in parameters)
        key = applied, operands, results, _other_types(equation)
        found = _OPERATIONS.get(key)
    except TypeError:
        return Operation(name, object(), operands, results, comparable=False)
    if found is None:
        found = _OPERATIONS[key] = Operation(name, applied, operands, results, comparable=True)
    return found


def _types(atoms: list[Any]) -> tuple[Type, ...]:
    return tuple([(getattr(a.aval, "shape", ()), getattr(a.aval, "dtype", None)) for a in atoms])


def _other_types(equation: JaxprEqn) -> tuple[str, ...]:
    """What is no array, such as a reference, in words: its shape and dtype do not tell where it lies."""
    return tuple([str(a.aval) for a in (*equation.invars, *equation.outvars) if type(a.aval) is not ShapedArray])


Result = TypeVar("Result")


def once_per_operation(function: Callable[[JaxprEqn], Result]) -> Callable[[JaxprEqn], Result]:
    """A function of what an equation does, computed once for all equations that do the same; what it raises is not."""

    @functools.wraps(function)
    def found(equation: JaxprEqn) -> Result:
        remembered = operation_of(equation).remembered
        if function not in remembered:
            remembered[function] = function(equation)
        return remembered[function]

    return found


def comparable(value: Any) -> Any:
    """A parameter as what is equal for equal ones only: Python takes 1, 1.0 and True for equal, and 0.0 and -0.0.

    So it does inside of records and sets.  Of objects that say themselves what they are equal to, only the kinds in
    `EQUAL_IF_SAME` are believed.

    Raises:
        TypeError: it is of a kind that is not known.
    """
    kind = type(value)
    if kind in WORDS or isinstance(value, np.dtype):
        return value
    if kind in NUMBERS:
        return kind, repr(value)
    if kind is tuple and INTEGERS.issuperset(map(type, value)):  # as most are: shapes and axes
        return "integers", value
    if isinstance(value, Enum):
        return kind, value.name
    if isinstance(value, tuple):
        return kind, tuple(map(comparable, value))
    if isinstance(value, frozenset):
        return kind, frozenset(map(comparable, value))
    if isinstance(value, OF_NUMBERS):
        return kind, repr(value)
    if isinstance(value, jax.tree_util.PyTreeDef):
        return kind, value, str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return kind, tuple(comparable(getattr(value, f.name)) for f in dataclasses.fields(value))
    if isinstance(value, EQUAL_IF_SAME) or kind.__eq__ is object.__eq__:
        return value
    raise TypeError(f"a parameter of type {kind.__name__} cannot be compared")
