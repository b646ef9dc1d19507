"""Kernels of Pallas: the program that JAX's own interpreter of kernels runs, one block of the grid after the other.

JAX lowers a `pallas_call` with ``interpret=True`` to loops over the grid, slices and updates.  That program is read as
any other in StableHLO, so nothing of Pallas is written a second time here.  What no block writes is NaN in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.interpreter import programs_within
from uat_jax.arithmetic.tracing import dtype_of, shape_of, source_line
from uat_jax.errors import InputError, UnsupportedError

KERNEL = "pallas_call"
"""The primitive that runs a kernel."""

NAME = "kernel of Pallas"
"""What the function that stands for a kernel is called in a program."""


def is_kernel(equation: JaxprEqn) -> bool:
    """Whether an equation runs a kernel of Pallas."""
    return equation.primitive.name == KERNEL


def kernel(equation: JaxprEqn) -> ClosedJaxpr:
    """The program of a `pallas_call`.

    Raises:
        UnsupportedError: JAX's interpreter cannot run the kernel, such as one that copies between memories, or what it
            runs cannot be read.
    """
    from uat_jax.inputs.stablehlo import read_stablehlo  # most programs have no kernel, and reading takes modules

    specs = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in equation.invars]
    parameters = {**equation.params, "interpret": True}
    wide = any(dtype_of(atom).itemsize == 8 for atom in (*equation.invars, *equation.outvars))
    interpreted = lambda *operands: equation.primitive.bind(*operands, **parameters)
    try:
        with jax.enable_x64(wide):
            read = read_stablehlo(jax.export.export(jax.jit(interpreted), platforms=("cpu",))(*specs))
    except (InputError, UnsupportedError) as error:
        raise UnsupportedError(f"the kernel{source_line(equation)} cannot be followed: {error}") from error
    except Exception as error:  # whatever Pallas raises about a kernel that is made for one kind of device
        what = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        raise UnsupportedError(
            f"JAX cannot interpret the kernel{source_line(equation)} ({what}); compare functions that run with "
            "interpret=True"
        ) from error

    with jax.enable_x64(wide):
        return jax.make_jaxpr(lambda *operands: list(read(*operands)))(*specs)


def named(function: Callable[..., Any]) -> Callable[..., Any]:
    """A function that a program calls by the name `NAME`, so that it is seen to come of a kernel."""

    def of_kernel(*operands: Any) -> Any:
        return function(*operands)

    of_kernel.__name__ = NAME
    return jax.jit(of_kernel)


def holds_kernel(program: ClosedJaxpr) -> bool:
    """Whether a program that is written out has a kernel in it."""
    return any(equation.params.get("name") == NAME for inner in programs_within(program) for equation in inner.eqns)
