"""What an equation does to its operands, whatever they are: a key that is equal where the same thing is computed."""

from __future__ import annotations

import functools
from typing import Any

from jax.extend.core import JaxprEqn


@functools.lru_cache(maxsize=1 << 14)
def operation_of(equation: JaxprEqn) -> Any:
    """The primitive and its parameters, equal for equal ones; None where they cannot be compared."""
    key = (equation.primitive, tuple(sorted(equation.params.items(), key=lambda item: item[0])))
    try:
        hash(key)
    except TypeError:
        return None
    return key
