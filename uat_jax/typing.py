"""Names of types that JAX, NumPy and files have no name for."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

import jax
import numpy as np
from jax.extend.core import Literal, Var

Array: TypeAlias = jax.Array | np.ndarray
"""An array on the host or on a device."""

Atom: TypeAlias = Var | Literal
"""An operand of an equation of a jaxpr."""

PyTree: TypeAlias = Any  # Any: whatever a user registered with JAX, which has no type for it either
"""A tree of arrays, of their abstract values, or of specifications of inputs."""

Function: TypeAlias = Callable[..., PyTree]
"""A function of trees of arrays."""

Parameters: TypeAlias = Mapping[str, Any]  # Any: each primitive has parameters of its own types
"""The parameters of an equation of a jaxpr, by name."""

JsonObject: TypeAlias = dict[str, Any]  # Any: what a file holds is known when it was checked
"""An object of JSON."""
