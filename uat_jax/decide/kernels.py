"""Kernels of Pallas: the program that JAX's own interpreter of kernels runs, one block of the grid after the other.

JAX lowers a `pallas_call` with ``interpret=True`` to loops over the grid, slices and updates.  That program is read as
any other in StableHLO, so nothing of Pallas is written a second time here.  Which results depend on memory that nobody
has written is found in `kernel_memory.py`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.kernel_memory import Doubt, check_body, doubtful, filled, mark_memory, written_at
from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.typing import Array, Function

KERNEL = "pallas_call"
"""The primitive that runs a kernel."""

NAME = "kernel of Pallas"
"""What the function that stands for a kernel is called in a program."""


def is_kernel(equation: JaxprEqn) -> bool:
    """Whether an equation runs a kernel of Pallas."""
    return equation.primitive.name == KERNEL


def kernel(equation: JaxprEqn, operands: Sequence[Array]) -> tuple[ClosedJaxpr, list[Doubt | None]]:
    """The program of a `pallas_call`, and what of each result depends on memory that the kernel has not written.

    Raises:
        UnsupportedError: JAX's interpreter cannot run the kernel, such as one that draws random numbers, or what it
            runs cannot be read.
    """
    from uat_jax.inputs.mlir_parsing import parsed  # most programs have no kernel, and reading takes modules
    from uat_jax.inputs.stablehlo import of_module

    specs = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in equation.invars]
    parameters = {**equation.params, "interpret": True}
    wide = any(dtype_of(atom).itemsize == 8 for atom in (*equation.invars, *equation.outvars))
    interpreted = jax.jit(lambda *operands: equation.primitive.bind(*operands, **parameters), keep_unused=True)
    try:
        with jax.enable_x64(wide):
            exported = jax.export.export(interpreted, platforms=("cpu",))(*specs)
    except Exception as error:  # whatever Pallas raises about a kernel that is made for one kind of device
        what = f"{type(error).__name__}: {str(error).strip().partition(chr(10))[0]}"
        raise UnsupportedError(
            f"JAX cannot interpret the kernel{written_at(equation)} ({what}); compare functions that run with "
            "interpret=True"
        ) from error
    if exported.ordered_effects or exported.unordered_effects:
        raise UnsupportedError(f"the kernel{written_at(equation)} has side effects, which a function has not")
    check_body(equation)
    module = parsed(exported.mlir_module_serialized)
    try:
        mark_memory(module, equation.params["jaxpr"])
        with jax.enable_x64(wide):
            marked = jax.make_jaxpr(lambda *operands: jax.tree.leaves(of_module(module, "it")(*operands)))(*specs)
    except (InputError, UnsupportedError) as error:
        raise UnsupportedError(f"the kernel{written_at(equation)} cannot be followed: {error}") from error
    return filled(marked), list(doubtful(equation, marked, operands))


def named(function: Function) -> Function:
    """A function that a program calls by the name `NAME`, so that it is seen to come of a kernel."""

    def of_kernel(*operands: Array) -> Any:
        return function(*operands)

    of_kernel.__name__ = NAME
    return jax.jit(of_kernel)


def holds_kernel(program: ClosedJaxpr) -> bool:
    """Whether a program that is written out has a kernel in it."""
    return any(equation.params.get("name") == NAME for inner in programs_within(program) for equation in inner.eqns)
