"""A program with every function that it calls written out, so that JAX can batch and run it."""

from collections.abc import Sequence
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.arithmetic.interpreter import called, programs_within
from uat_jax.arithmetic.retracing import bound, followed, retraced, with_programs
from uat_jax.arithmetic.tracing import dtype_of


def inlined(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program without calls that returns what the given one returns; its conditionals and loops hold such programs.

    Example:
        >>> import jax
        >>> program = jax.make_jaxpr(lambda x: jax.jit(lambda x: x + 1)(x))(1)
        >>> [e.primitive.name for e in inlined(program).eqns]
        ['add']
    """
    if not any(called(e) is not None for p in programs_within(program) for e in p.eqns):
        return program
    return retraced(program, lambda *inputs: _results(program, inputs))


def _results(program: ClosedJaxpr | Jaxpr, inputs: Sequence[Any]) -> list[Any]:
    return followed(program, inputs, lambda atom, x: np.asarray(x, dtype_of(atom)), _applied)


def _applied(equation: JaxprEqn, operands: list[Any]) -> Sequence[Any]:
    function = called(equation)
    if function is not None:
        return _results(function, operands)
    return bound(equation, operands, with_programs(equation, inlined))
