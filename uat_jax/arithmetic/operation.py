"""What an equation does to its operands, whatever they are: a key that is equal where the same thing is computed."""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
from jax.extend.core import JaxprEqn


@functools.lru_cache(maxsize=1 << 14)
def operation_of(equation: JaxprEqn) -> Any:
    """The primitive and its parameters, equal for equal ones; None where they cannot be compared."""
    parameters = sorted(equation.params.items(), key=lambda item: item[0])
    key = (equation.primitive, tuple((name, comparable(value)) for name, value in parameters))
    try:
        hash(key)
    except TypeError:
        return None
    return key


def comparable(value: Any) -> Any:
    """A parameter as what is equal for equal ones only: Python takes 1, 1.0 and True for equal, and 0.0 and -0.0."""
    if isinstance(value, tuple):
        return type(value), tuple(map(comparable, value))
    return (type(value), repr(value)) if isinstance(value, int | float | complex | np.generic) else value
