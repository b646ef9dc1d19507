"""Programs that decide nothing by floats: in them, what is undefined stays undefined up to the output."""

from __future__ import annotations

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn

from uat_jax.arithmetic.exponential_depth import UNDEFINED_STAYS
from uat_jax.arithmetic.interpreter import called
from uat_jax.arithmetic.tracing import is_number
from uat_jax.decide.specification import programs_within
from uat_jax.loops.walk import LOOPS

DECIDING = frozenset("abs clamp cond cummax cummin max min pow reduce_max reduce_min select_n top_k".split())
"""Primitives of floats that may leave an operand out, or choose by one."""


def all_strict(program: ClosedJaxpr | Jaxpr) -> bool:
    """Whether every operation on floats, in all calls and loops, has an undefined result where an operand is undefined.

    A selection by an integer is none: it leaves an operand out.
    """
    return all(_is_strict(equation) for inner in programs_within(program) for equation in inner.eqns)


def _is_strict(equation: JaxprEqn) -> bool:
    """Whether the results of an equation are undefined where an operand is."""
    name = equation.primitive.name
    floats = any(map(is_number, equation.invars))
    if called(equation) is not None or name in LOOPS or not floats:
        return name != "select_n" or not any(map(is_number, equation.outvars))
    if name == "integer_pow" and equation.params["y"] == 0:
        return False
    return name in UNDEFINED_STAYS and name not in DECIDING and all(map(is_number, equation.outvars))
