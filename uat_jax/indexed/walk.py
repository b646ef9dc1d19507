"""A jaxpr with symbolic dimensions, evaluated in arrays that are functions of their indices."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.arithmetic.interpreter import called
from uat_jax.arithmetic.primitives import TABLE, check
from uat_jax.arithmetic.tracing import dtype_of, source_line
from uat_jax.errors import UnsupportedError
from uat_jax.indexed.array import Array, kind_of, literal
from uat_jax.indexed.dimension import dimension
from uat_jax.indexed.elementwise import ELEMENTWISE
from uat_jax.indexed.placement import PLACEMENT
from uat_jax.indexed.polynomial import Polynomial
from uat_jax.indexed.predicates import SizeCase
from uat_jax.indexed.reduction import REDUCTION
from uat_jax.indexed.workspace import workspace

RULES: Mapping[str, Any] = {**ELEMENTWISE, **PLACEMENT, **REDUCTION}
"""Primitive → rule(parameters, lengths, kind of the result, *operands)."""

OF_SIZES = {
    "dim_as_value": frozenset(["dim"]),
    "iota": frozenset("dtype shape dimension sharding".split()),
}
"""Primitives without float operands, which other number systems leave to JAX, and their parameters."""


def walked(program: ClosedJaxpr, arguments: Sequence[Array]) -> list[Array]:
    """The outputs of a program.

    What has no normal form is an array without entries, whose error is raised when they are asked for.
    """
    return _walked(program.jaxpr, [_constant(value) for value in program.consts], arguments)


def _walked(program: Jaxpr, constants: Sequence[Array], arguments: Sequence[Array]) -> list[Array]:
    known: dict[Any, Array] = dict(zip((*program.constvars, *program.invars), (*constants, *arguments), strict=True))

    def read(atom: Any) -> Array:
        return _constant(np.asarray(atom.val, dtype_of(atom))) if isinstance(atom, Literal) else known[atom]

    for equation in program.eqns:
        workspace().check_deadline()
        outputs = evaluated(equation, [read(atom) for atom in equation.invars])
        known.update(zip(equation.outvars, outputs, strict=True))
    return [read(atom) for atom in program.outvars]


def _constant(value: Any) -> Array:
    values = np.asarray(value)
    try:
        return literal(values)
    except UnsupportedError as error:
        return _without_entries(tuple(map(dimension, values.shape)), "f", error)


def _without_entries(lengths: tuple[Polynomial, ...], kind: str, error: UnsupportedError | SizeCase) -> Array:
    return Array(lengths, kind, (), error, 0, False)


def evaluated(equation: JaxprEqn, operands: Sequence[Array]) -> list[Array]:
    """The results of one equation."""
    inner = called(equation)
    if inner is not None:
        check(equation)
        constants = [_constant(value) for value in getattr(inner, "consts", ())]
        return _walked(getattr(inner, "jaxpr", inner), constants, operands)
    shapes = [tuple(map(dimension, getattr(v.aval, "shape", ()))) for v in equation.outvars]
    try:
        results = _by_rule(equation, shapes[0] if shapes else (), operands)
    except (UnsupportedError, SizeCase) as error:
        if isinstance(error, UnsupportedError) and " at " not in str(error):
            error = UnsupportedError(f"{error} ('{equation.primitive.name}'{source_line(equation)})")
        return [_without_entries(shape, "f", error) for shape in shapes]
    return results


def _by_rule(equation: JaxprEqn, lengths: tuple[Polynomial, ...], operands: Sequence[Array]) -> list[Array]:
    name = equation.primitive.name
    if name not in RULES or name not in TABLE and not OF_SIZES.get(name, frozenset()) >= equation.params.keys():
        raise UnsupportedError(f"'{name}'{source_line(equation)} is not followed at all sizes")
    if name in TABLE:
        check(equation)
    kind = kind_of(np.dtype(dtype_of(equation.outvars[0])))
    result = RULES[name](equation.params, lengths, kind, *operands)
    return result if isinstance(result, list) else [result]
