"""A program with every function that it calls written out, so that JAX can batch and run it."""

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.interpreter import called, programs_within
from uat_jax.interpret.retracing import bound, followed, retraced, with_programs
from uat_jax.interpret.stored_control import PRIMITIVES, SCAN
from uat_jax.interpret.tracing import dtype_of
from uat_jax.typing import Array


def inlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program without calls that returns what the given one returns; its conditionals and loops hold such programs.

    Example:
        >>> import jax
        >>> program = jax.make_jaxpr(lambda x: jax.jit(lambda x: x + 1)(x))(1)
        >>> [e.primitive.name for e in inlined(program).eqns]
        ['add']
    """
    equations = (e for p in programs_within(program) for e in p.eqns)
    if not any(called(e) is not None or e.primitive is PRIMITIVES[SCAN] for e in equations):
        return program
    return retraced(program, lambda *inputs: _results(program, inputs))


def _results(program: ClosedJaxpr | Jaxpr, inputs: Sequence[Array]) -> list[Any]:
    held = lambda atom, x: x if is_keys(x) else np.asarray(x, dtype_of(atom))
    return followed(program, inputs, held, _applied)


def _applied(equation: JaxprEqn, operands: list[Any]) -> Sequence[jax.Array]:
    function = called(equation)
    if function is not None:
        return _results(function, operands)
    if equation.primitive is PRIMITIVES[SCAN]:
        return _scanned(equation, operands)
    return bound(equation, operands, with_programs(equation, inlined))


def _scanned(equation: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
    """A stored scan as one of JAX's."""
    p = equation.params
    first, last = p["num_consts"], p["num_consts"] + p["num_carry"]

    def step(carry: Sequence[Array], entries: Sequence[Any]) -> tuple[Any, Any]:
        results = _results(p["jaxpr"], [*operands[:first], *carry, *entries])
        return tuple(results[: last - first]), tuple(results[last - first :])

    given = tuple(operands[first:last]), tuple(operands[last:])
    carry, made = lax.scan(step, *given, length=p["length"], reverse=p["reverse"])
    return [*carry, *made]
