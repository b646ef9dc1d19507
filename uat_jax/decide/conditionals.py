"""Conditionals that the input decides, written as selections between the results of all branches.

A branch that is not taken may be undefined: what is selected is followed under its condition only (docs/soundness.md
§10.7), as for `jnp.where`.
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.decide.expansion import is_error
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import called, programs_within
from uat_jax.interpret.retracing import bound, followed, retraced, with_programs
from uat_jax.interpret.tracing import dtype_of, is_number, source_line


def without_conditionals(program: ClosedJaxpr, *, errors: bool = False) -> ClosedJaxpr:
    """A program of the same inputs and outputs, in which no conditional is decided by a floating-point number.

    Conditionals that whole numbers decide, such as the counter of a loop, stay as they are.  A branch that raises an
    error is left out, unless `errors` are kept: the results are right wherever the program raises none.

    Example:
        >>> import jax
        >>> program = jax.make_jaxpr(lambda x: jax.lax.cond(x > 0, lambda x: x, lambda x: -x, x))(1.0)
        >>> [e.primitive.name for e in without_conditionals(program).jaxpr.eqns]
        ['gt', 'convert_element_type', 'neg', 'select_n']

    Raises:
        UnsupportedError: a branch has an effect.
    """
    if not _has_conditionals(program):
        return program

    def rewritten(*arguments: Any) -> list[Any]:
        inputs = [_Value(x, is_number(v)) for x, v in zip(arguments, program.jaxpr.invars, strict=True)]
        return [value.array for value in _results(program, inputs, errors)]

    return retraced(program, rewritten)


def _has_conditionals(program: ClosedJaxpr | Jaxpr) -> bool:
    return any(e.primitive.name == "cond" for inner in programs_within(program) for e in inner.eqns)


@dataclass(frozen=True)
class _Value:
    """A traced value; from_floats: whether a floating-point number, a constant too, may decide it.

    truth: if it is the whole number 0 or 1, what it is made of.
    """

    array: Any
    from_floats: bool
    truth: Any = None


def _results(program: ClosedJaxpr | Jaxpr, inputs: Sequence[_Value], errors: bool) -> list[_Value]:
    """What a program returns, with its conditionals rewritten."""
    constant = lambda atom, array: _Value(array, False)
    return followed(program, inputs, constant, lambda equation, operands: _applied(equation, operands, errors))


def _applied(equation: JaxprEqn, operands: list[_Value], errors: bool) -> list[_Value]:
    name, function = equation.primitive.name, called(equation)
    if function is not None:
        return _results(function, operands, errors)
    if name == "cond" and operands[0].from_floats:
        return _selected(equation, operands[0], operands[1:], errors)
    parameters = with_programs(equation, lambda inner: without_conditionals(inner, errors=errors))
    results = bound(equation, [o.array for o in operands], parameters)
    from_floats = any(o.from_floats for o in operands) or any(map(is_number, equation.invars))
    return [_Value(x, from_floats, _truth(equation, operands)) for x in results]


def _truth(equation: JaxprEqn, operands: Sequence[_Value]) -> Any:
    """The boolean of which a whole number is made: a cast, or a clip between 0 and a larger number, keeps it."""
    name = equation.primitive.name
    if name == "convert_element_type" and not is_number(equation.outvars[0]):
        return operands[0].array if dtype_of(equation.invars[0]) == np.bool_ else operands[0].truth
    if name == "clamp":
        low, high = (int(np.asarray(a.val)) if isinstance(a, Literal) else -1 for a in equation.invars[::2])
        return operands[1].truth if low == 0 and high >= 1 else None
    return None


def _selected(equation: JaxprEqn, index: _Value, operands: list[_Value], errors: bool) -> list[_Value]:
    """The results of all branches, and of each the one that the index selects.

    Where the index selects a branch that is left out, the results are those of another one.
    """
    branches = equation.params["branches"]
    if any(branch.effects for branch in branches):
        raise UnsupportedError(f"a branch{source_line(equation)} has an effect; use pure functions of arrays")
    kept = [k for k, branch in enumerate(branches) if errors or not is_error(branch)] or range(len(branches))
    first, *others = ((k, _results(branches[k], operands, errors)) for k in kept)
    chosen = [value.array for value in first[1]]
    for number, results in others:
        taken = _at_least(index, number)
        select = functools.partial(lax.select_n, taken)
        chosen = [select(x, value.array) for x, value in zip(chosen, results, strict=True)]
    return [_Value(x, True) for x in chosen]


def _at_least(index: _Value, number: int) -> Any:
    """Whether the index of a branch, which lies between 0 and the last one, is at least so much."""
    if index.truth is None:
        return lax.ge(index.array, np.asarray(number, dtype_of(index.array)))
    return index.truth if number == 1 else np.bool_(False)
