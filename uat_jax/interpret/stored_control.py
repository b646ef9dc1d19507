"""Calls and scans of stored programs: primitives of this package, because JAX's own differ from version to version.

They have rules of shapes and dtypes and nothing else: the interpreter knows them by name, and nothing executes them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, JaxprEqn, Primitive

from uat_jax.interpret.interpreter import scan_counts

CALL, SCAN, SIZE = "closed_call", "scan", "dim_as_value"

SCAN_PARAMETERS = frozenset(["jaxpr", "length", "reverse", "num_consts", "num_carry"])


def _called(*operands: Any, call_jaxpr: ClosedJaxpr) -> list[ShapedArray]:
    """The results of a call: those of the program called."""
    _agree("a call", operands, call_jaxpr.in_avals)
    return call_jaxpr.out_avals


def _scanned(
    *operands: Any, jaxpr: ClosedJaxpr, length: int, reverse: bool, num_consts: int, num_carry: int
) -> list[ShapedArray]:
    """The results of a scan: the carry, and every other result of the body along a new leading axis."""
    first = num_consts + num_carry
    if not (0 <= num_consts and 0 <= num_carry <= len(jaxpr.out_avals) and first <= len(operands)):
        raise TypeError(f"a scan of {num_consts} constants and {num_carry} carried values")
    along = lambda aval: ShapedArray((length, *aval.shape), aval.dtype)
    _agree("a scan", operands, [*jaxpr.in_avals[:first], *map(along, jaxpr.in_avals[first:])])
    _agree("a carry", jaxpr.out_avals[:num_carry], jaxpr.in_avals[num_consts:first])
    return [*jaxpr.out_avals[:num_carry], *map(along, jaxpr.out_avals[num_carry:])]


def _sized(*, dim: Any, dtype: Any) -> list[Any]:
    """A symbolic dimension as an integer."""
    return [ShapedArray((), dtype)]


def _agree(what: str, given: Sequence[Any], wanted: Sequence[ShapedArray]) -> None:
    types = lambda avals: [(tuple(aval.shape), aval.dtype) for aval in avals]
    if types(given) != types(wanted):
        raise TypeError(f"{what} of {types(given)} where {types(wanted)} are wanted")


def _primitive(name: str, rule: Any) -> Primitive:
    primitive = Primitive(name)
    primitive.multiple_results = True
    primitive.def_abstract_eval(rule)
    return primitive


CALLED, SCANNED, SIZED = _primitive(CALL, _called), _primitive(SCAN, _scanned), _primitive(SIZE, _sized)
PRIMITIVES = {CALL: CALLED, SCAN: SCANNED, SIZE: SIZED}


def scan_parameters(equation: JaxprEqn) -> dict[str, Any]:
    """A scan of JAX's as parameters of the stored one."""
    body = equation.params["jaxpr"]
    constants, carries = scan_counts(equation)
    return {
        "jaxpr": body if isinstance(body, ClosedJaxpr) else ClosedJaxpr(body, ()),
        "length": equation.params["length"],
        "reverse": bool(equation.params["reverse"]),
        "num_consts": constants,
        "num_carry": carries,
    }
