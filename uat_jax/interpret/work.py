"""How much work an evaluation of a program is, predicted before anything is computed."""

from __future__ import annotations

import functools
import math

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.interpret.interpreter import inner_programs
from uat_jax.interpret.tracing import shape_of


def equations(jaxpr: Jaxpr) -> int:
    """How many equations are evaluated: those of a loop's body count as often as the loop goes round."""
    count = 0
    for equation in jaxpr.eqns:
        inner = (p.jaxpr if isinstance(p, ClosedJaxpr) else p for p in inner_programs(equation))
        count += max(1, equation.params.get("length", 1) * sum(map(equations, inner)))
    return count


def largest_array(jaxpr: Jaxpr) -> int:
    """The most entries that an input or a result of an equation has, loops' bodies included."""
    sizes = [math.prod(shape_of(v)) for v in jaxpr.invars]
    for equation in jaxpr.eqns:
        sizes += [math.prod(shape_of(v)) for v in equation.outvars]
        sizes += [largest_array(p.jaxpr if isinstance(p, ClosedJaxpr) else p) for p in inner_programs(equation)]
    return max(sizes, default=0)


def multiplications(program: ClosedJaxpr | Jaxpr) -> int:
    """Σ over equations of the entries of the results, times the entries that each of them is a sum of products of.

    A loop that may end early counts for one round.
    """
    return _of_jaxpr(program.jaxpr if isinstance(program, ClosedJaxpr) else program)


@functools.lru_cache(maxsize=256)
def _of_jaxpr(jaxpr: Jaxpr) -> int:
    return sum(map(_of_equation, jaxpr.eqns))


def _of_equation(equation: JaxprEqn) -> int:
    inner = sum(map(multiplications, inner_programs(equation)))
    rounds = equation.params["length"] if equation.primitive.name == "scan" else 1
    return rounds * inner + _summed(equation) * sum(math.prod(shape_of(v)) for v in equation.outvars)


def _summed(equation: JaxprEqn) -> int:
    """How many products make one entry of the result."""
    if equation.primitive.name == "dot_general":
        (axes, _), _ = equation.params["dimension_numbers"]
        return math.prod(shape_of(equation.invars[0])[axis] for axis in axes)
    if equation.primitive.name == "conv_general_dilated":
        kernel = shape_of(equation.invars[1])
        return math.prod(kernel) // kernel[equation.params["dimension_numbers"].rhs_spec[0]]
    return 1
