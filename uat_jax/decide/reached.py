"""What of a program its inputs reach: branches that no input of the domain takes, and what no output needs, are left out.

    where((x == 0) | (x == 1), f(x), g(x))   →   g(x)          for 1/8 ≤ x ≤ 7/8

A comparison is decided by the ranges of what it compares, where that is a real number for all inputs: a comparison with
NaN is false.  docs/soundness.md §10.8 proves that the program is the same function.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn
from jax.interpreters import partial_eval

from uat_jax.arithmetic.fact_rules import TOTAL
from uat_jax.arithmetic.formula import DECIDED, REARRANGING
from uat_jax.arithmetic.integer_ranges import Range, limits, of_array, ranges, signs_between
from uat_jax.arithmetic.interpreter import called
from uat_jax.arithmetic.retracing import bound, followed, retraced
from uat_jax.arithmetic.structure import STRUCTURAL
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of
from uat_jax.decide.domain import REALS, Domains
from uat_jax.errors import UnsupportedError

KEEPING = REARRANGING | {"not", "reduce_and", "reduce_or"}
"""Of a boolean that is the same at all places these make one as well."""

DEFINED_ABOVE = {"log": 0.0, "log1p": -1.0, "rsqrt": 0.0}
"""Functions that are defined for all numbers above one."""


def without_unreached(program: ClosedJaxpr, domains: Domains) -> ClosedJaxpr:
    """The program without the branches that no input of the domains takes, and without what no output needs.

    Example:
        >>> import jax
        >>> from uat_jax.decide.domain import Interval
        >>> program = jax.make_jaxpr(lambda x: jax.lax.select(x > 0, x, jax.lax.sin(x)))(1.0)
        >>> [e.primitive.name for e in without_unreached(program, Domains((Interval(1.0, 2.0),))).jaxpr.eqns]
        []
    """
    decisions = _Decisions(program, domains)
    if any(domain != REALS for domain in domains.of):
        reached = retraced(program, decisions.results)
        program = reached if decisions.made else program
    needed, used = partial_eval.dce_jaxpr(program.jaxpr, [True] * len(program.jaxpr.outvars), instantiate=True)
    return program if len(needed.eqns) == len(program.jaxpr.eqns) else ClosedJaxpr(needed, program.consts)


@dataclass(frozen=True)
class _Value:
    """A traced value, or a concrete boolean that was decided; where it is defined it lies in a range.

    defined: whether it is a real number for all inputs.
    """

    array: Any
    range: Range
    defined: bool

    @property
    def truth(self) -> bool | None:
        """The boolean that all its entries are for all inputs, if they were decided."""
        array = self.array
        if not isinstance(array, np.ndarray) or array.dtype != np.bool_ or not array.size:
            return None
        return bool(array.flat[0]) if np.all(array == array.flat[0]) else None


class _Decisions:
    """One walk over a program; made: how many comparisons were decided in it."""

    def __init__(self, program: ClosedJaxpr, domains: Domains):
        self.program, self.domains = program, domains
        self.made = 0

    def results(self, *arguments: Any) -> list[Any]:
        """What the program returns, comparisons being decided where the domains say how."""
        variables = self.program.jaxpr.invars
        known = [self.domains[i].range if is_number(v) else limits(dtype_of(v)) for i, v in enumerate(variables)]
        inputs = [_Value(x, r, True) for x, r in zip(arguments, known, strict=True)]
        return [value.array for value in followed(self.program, inputs, _constant, self._applied)]

    def _applied(self, equation: JaxprEqn, operands: list[_Value]) -> list[_Value]:
        function, name = called(equation), equation.primitive.name
        if function is not None:
            return followed(function, operands, _constant, self._applied)
        if (outcome := _outcome(equation, operands)) is not None:
            self.made += 1
            return [_truth(equation, outcome)]
        if name == "select_n" and operands[0].truth is not None and len(operands) == 3:
            return [operands[1 + operands[0].truth]]
        if (same := _unchanged(name, operands)) is not None:
            return [same]
        arrays = bound(equation, [o.array for o in operands], equation.params)
        found = _ranges(equation, [o.range for o in operands])
        defined = _is_defined(equation, operands)
        return [_Value(x, r, defined) for x, r in zip(arrays, found, strict=True)]


def _constant(atom: Any, array: Any) -> _Value:
    if not is_number(atom):
        return _Value(array, limits(dtype_of(atom)), False)
    values = np.asarray(array, dtype_of(atom))
    return _Value(array if np.ndim(array) else values, of_array(values), bool(np.all(np.isfinite(values))))


def _outcome(equation: JaxprEqn, operands: Sequence[_Value]) -> bool | None:
    """What a comparison, or what is made of decided booleans alone, is for all inputs."""
    name, known = equation.primitive.name, [o.truth for o in operands]
    if name in KEEPING and known[0] is not None:
        return known[0] if name != "not" else not known[0]
    if name in ("and", "or") and (name == "or") in known:
        return name == "or"
    if name not in DECIDED or name == "sign" or not all(map(is_number, equation.invars)):
        return None
    if not all(o.defined for o in operands):
        return None
    outcomes = {DECIDED[name](sign) for sign in signs_between(*(o.range for o in operands))}
    return outcomes.pop() if len(outcomes) == 1 else None


def _truth(equation: JaxprEqn, outcome: bool) -> _Value:
    array = np.full(shape_of(equation.outvars[0]), outcome)
    return _Value(array, Range(int(outcome), int(outcome)), True)


def _unchanged(name: str, operands: Sequence[_Value]) -> _Value | None:
    """The other operand of a connective, where one leaves it as it is."""
    known = [o.truth for o in operands]
    if name not in ("and", "or") or (name == "and") not in known:
        return None
    return operands[1 - known.index(name == "and")]


def _ranges(equation: JaxprEqn, operands: Sequence[Range]) -> list[Range]:
    try:
        return ranges(equation, operands)
    except UnsupportedError:
        return [limits(dtype_of(v)) for v in equation.outvars]


def _is_defined(equation: JaxprEqn, operands: Sequence[_Value]) -> bool:
    """Whether a result is a real number for all inputs, as far as ranges show it."""
    name = equation.primitive.name
    given = slice(1, None) if name == "select_n" else slice(None)
    if not all(o.defined for o in operands[given]):
        return False
    if not all(map(is_number, (*equation.invars[given], *equation.outvars))):
        return False
    last = operands[-1].range
    match name:
        case "div":
            return last.low > 0 or last.high < 0
        case "integer_pow":
            return equation.params["y"] >= 0 or last.low > 0 or last.high < 0
        case "sqrt":
            return last.low >= 0
        case "pow":
            return operands[0].range.low > 0
    return name in TOTAL or name in STRUCTURAL or name in DEFINED_ABOVE and last.low > DEFINED_ABOVE[name]
