"""From a JAX function to its jaxpr, and from an equation back to the line it was written on."""

import functools
from collections.abc import Callable
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jax.typing import DTypeLike

from uat_jax.errors import InputError
from uat_jax.typing import Atom, PyTree

OWN = ("arithmetic", "decide", "inputs")
"""Our packages whose equations stand for those of a user."""

LIBRARIES = (str(Path(jax.__file__ or "").parent), *(str(Path(__file__).parents[1] / of) for of in OWN))
"""Where JAX's own code lies, and ours that makes equations for what is written elsewhere."""


def trace(function: Callable, *arguments: PyTree) -> ClosedJaxpr:
    """The jaxpr of function(*arguments), traced with 64-bit types exactly when an argument is float64."""
    wide = any(np.dtype(leaf.dtype) == np.float64 for leaf in jax.tree.leaves(arguments))
    with jax.enable_x64(wide):
        return jax.make_jaxpr(function)(*arguments)


def single_output(closed_jaxpr: ClosedJaxpr) -> ShapedArray:
    """The abstract value of a jaxpr's only output.

    Raises:
        InputError: it has several outputs, or one that is empty or not floating-point.
    """
    if len(closed_jaxpr.out_avals) != 1:
        raise InputError(f"the function returns {len(closed_jaxpr.out_avals)} arrays; return one array")
    (output,) = closed_jaxpr.out_avals
    if not jnp.issubdtype(output.dtype, jnp.floating) or 0 in output.shape:
        raise InputError(f"the function returns {output.str_short()}; return one non-empty floating-point array")
    return output


def dtype_of(atom: Atom) -> np.dtype:
    """The dtype of a variable or literal of a jaxpr."""
    return atom.aval.dtype  # type: ignore[attr-defined]


def shape_of(atom: Atom) -> tuple[int, ...]:
    """The shape of a variable or literal of a jaxpr."""
    return atom.aval.shape  # type: ignore[attr-defined]


def is_number(atom: Atom) -> bool:
    """Whether a variable or literal of a jaxpr is floating-point, so that its value is a number."""
    return is_floating(dtype_of(atom))


@functools.cache
def is_floating(dtype: DTypeLike | None) -> bool:
    """Whether a dtype is floating-point; None, of what has no dtype, is not."""
    return dtype is not None and jnp.issubdtype(dtype, jnp.floating)


@functools.cache
def is_complex(dtype: DTypeLike | None) -> bool:
    """Whether a dtype is one of complex numbers; None, of what has no dtype, is not."""
    return dtype is not None and jnp.issubdtype(dtype, jnp.complexfloating)


@functools.lru_cache(maxsize=1 << 13)
def source_line(equation: JaxprEqn) -> str:
    """' at file:line' of the user's code that made the equation, or '' where JAX does not tell."""
    traceback = getattr(equation.source_info, "traceback", None)
    for frame in getattr(traceback, "frames", ()):
        if not frame.file_name.startswith(LIBRARIES):
            return f" at {Path(frame.file_name).name}:{frame.line_num}"
    return ""
