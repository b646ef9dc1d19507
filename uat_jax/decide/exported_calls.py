"""Calls of programs that were exported before: what they compute is read from their StableHLO."""

from __future__ import annotations

import dataclasses

import jax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.inputs.stablehlo import read_stablehlo
from uat_jax.interpret.tracing import dtype_of, shape_of, source_line

EXPORTED = "call_exported"
"""The primitive that calls an exported program."""


def is_exported(equation: JaxprEqn) -> bool:
    """Whether an equation calls an exported program."""
    return equation.primitive.name == EXPORTED


def exported(equation: JaxprEqn) -> ClosedJaxpr | None:
    """The program that an equation calls, if it calls an exported one.

    Raises:
        UnsupportedError: it has effects, or cannot be read.
    """
    if not is_exported(equation):
        return None
    program, where = equation.params["exported"], source_line(equation)
    if equation.effects:
        raise UnsupportedError(f"the exported program called{where} has effects; use pure functions of arrays")
    specs = [jax.ShapeDtypeStruct(shape_of(atom), dtype_of(atom)) for atom in equation.invars]
    flat = jax.tree.structure(((*specs,), {}))
    results = jax.tree.structure([0] * len(equation.outvars))
    wide = any(dtype_of(atom).itemsize == 8 for atom in (*equation.invars, *equation.outvars))
    try:
        with jax.enable_x64(wide):
            read = read_stablehlo(dataclasses.replace(program, in_tree=flat, out_tree=results))
            found = jax.make_jaxpr(lambda *operands: list(read(*operands)))(*specs)
    except (InputError, UnsupportedError) as error:
        raise UnsupportedError(f"the exported program called{where} cannot be followed: {error}") from error
    if read.readings:  # which a certificate of the exported program itself lists
        raise UnsupportedError(
            f"the exported program called{where} holds {', '.join(read.readings)}; compare the exported program itself"
        )
    return found
