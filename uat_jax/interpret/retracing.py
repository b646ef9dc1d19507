"""Programs traced again, equation by equation, so that others can be put in the place of some equations."""

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

import jax
from jax.extend import source_info_util
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.typing import Parameters

Value = TypeVar("Value")

LOOPS = {"scan": ("jaxpr",), "while": ("body_jaxpr", "cond_jaxpr")}
"""The parameters of loops that are programs."""


def retraced(program: ClosedJaxpr | Jaxpr, function: Callable[..., Sequence[Any]]) -> ClosedJaxpr:
    """The program of a function of the inputs of another program; the equations keep their 64-bit types."""
    invars = getattr(program, "jaxpr", program).invars
    with jax.enable_x64(True):  # the types are the equations' own
        return jax.make_jaxpr(function)(*(jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in invars))


def followed(
    program: ClosedJaxpr | Jaxpr,
    inputs: Sequence[Value],
    constant: Callable[[Any, Any], Value],
    applied: Callable[[JaxprEqn, list[Value]], Sequence[Value]],
) -> list[Value]:
    """What a program returns, in values of any kind.

    Args:
        program: the equations, followed in their order.
        inputs: a value for each input.
        constant: from a literal or a captured variable and its array to a value.
        applied: from an equation and the values of its operands to those of its results.
    """
    jaxpr, constants = (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())
    values: dict[Var, Value] = dict(zip(jaxpr.invars, inputs, strict=True))
    values |= {v: constant(v, x) for v, x in zip(jaxpr.constvars, constants, strict=True)}
    read = lambda atom: constant(atom, atom.val) if isinstance(atom, Literal) else values[atom]
    for equation in jaxpr.eqns:
        values.update(zip(equation.outvars, applied(equation, list(map(read, equation.invars))), strict=True))
    return list(map(read, jaxpr.outvars))


def with_programs(equation: JaxprEqn, rewritten: Callable[[ClosedJaxpr], ClosedJaxpr]) -> dict[str, Any]:
    """The parameters of an equation, with the programs of a loop and the branches of a conditional rewritten."""
    parameters = dict(equation.params)
    for name in LOOPS.get(equation.primitive.name, ()):
        parameters[name] = rewritten(parameters[name])
    if equation.primitive.name == "cond":
        parameters["branches"] = tuple(map(rewritten, parameters["branches"]))
    return parameters


def bound(equation: JaxprEqn, operands: Sequence[Any], parameters: Parameters) -> list[jax.Array]:
    """The results of an equation's primitive, traced with other parameters; they point at the equation's line."""
    with source_info_util.user_context(equation.source_info.traceback):
        found = equation.primitive.bind(*operands, **equation.primitive.get_bind_params(dict(parameters)))
    return list(found) if equation.primitive.multiple_results else [found]
