"""Programs evaluated inside a trace: calls are inlined, integers stay concrete, and loops are handed to whoever asks.

The pieces that are compared are traced anew from these evaluations.  A value is a tracer, or an array of NumPy for an
integer that depends on no input.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.concrete import bind, is_keys, on_host
from uat_jax.interpret.interpreter import called
from uat_jax.interpret.jaxpr_values import COPIES
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.typing import Atom

Value = Any
"""A tracer, or a concrete array."""

MOST_INTEGERS = 1 << 26
"""Arrays of more integers are not computed while a program is traced."""

LOOPS = ("scan", "while")
"""Primitives that repeat a body."""

OnLoop = Callable[[JaxprEqn, list[Value]], list[Value]]
"""What a loop gives, of its equation and its operands."""


def is_concrete(value: Value) -> bool:
    """Whether a value is an array of NumPy, and no tracer."""
    return isinstance(value, np.ndarray | np.generic)


class Walk:
    """One evaluation of programs inside a trace; `on_loop` gives the results of loops, which are staged without it."""

    def __init__(self, on_loop: OnLoop | None = None):
        self.on_loop = on_loop

    def closed(self, program: ClosedJaxpr | Jaxpr, arguments: Sequence[Value]) -> list[Value]:
        """The outputs of a program."""
        jaxpr, constants = (program.jaxpr, program.consts) if isinstance(program, ClosedJaxpr) else (program, ())
        values: dict[Any, Value] = dict(zip(jaxpr.invars, arguments, strict=True))
        for variable, array in zip(jaxpr.constvars, constants, strict=True):
            values[variable] = self.constant(variable, array)

        def read(atom: Atom) -> Value:
            return self.constant(atom, atom.val) if isinstance(atom, Literal) else values[atom]

        for equation in jaxpr.eqns:
            results = self.equation(equation, [read(atom) for atom in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        return [read(atom) for atom in jaxpr.outvars]

    def constant(self, atom: Atom, array: Any) -> Value:
        """A literal or captured array."""
        return array if hasattr(array, "dtype") and is_keys(array) else np.asarray(array, dtype_of(atom))

    def equation(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of one equation."""
        name, function = equation.primitive.name, called(equation)
        if name in COPIES:
            return operands
        if function is not None:
            return self.closed(function, operands)
        if name in LOOPS and self.on_loop is not None:
            return self.on_loop(equation, operands)
        if name == "cond" and is_concrete(operands[0]):
            return self.closed(equation.params["branches"][int(operands[0])], operands[1:])
        return self.primitive(equation, operands)

    def primitive(self, equation: JaxprEqn, operands: list[Value]) -> list[Value]:
        """The results of a primitive: computed where all is concrete, integer and not too large, else staged."""
        whole = all(map(is_concrete, operands)) and not any(map(is_number, (*equation.invars, *equation.outvars)))
        shapes = [shape_of(variable) for variable in equation.outvars]
        symbolic = any(jax.export.is_symbolic_dim(size) for shape in shapes for size in shape)
        if whole and not symbolic and equation.primitive.name != "dim_as_value":
            if max(map(math.prod, shapes), default=0) <= MOST_INTEGERS:
                return [on_host(output) for output in bind(equation, operands)]
        return staged(equation, operands)


def staged(equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
    """The results of an equation of the trace."""
    outputs = equation.primitive.bind(*operands, **equation.params)
    return list(outputs) if equation.primitive.multiple_results else [outputs]


def traced(function: Callable[..., Sequence[Value]], types: Sequence[jax.ShapeDtypeStruct]) -> ClosedJaxpr:
    """The program of a function of arrays; the types are its own.

    Raises:
        UnsupportedError: it depends on the number that a symbolic size is.
    """
    with jax.enable_x64(True):
        try:
            return jax.make_jaxpr(lambda *arguments: list(function(*arguments)))(*types)
        except Exception as error:  # JAX raises where it cannot tell, with an error class that it does not export
            if not re.search("inconclusive", f"{type(error).__name__} {error}", re.IGNORECASE):
                raise
            raise UnsupportedError("a step of a loop depends on which number a symbolic size is") from error


def without_dead(program: ClosedJaxpr) -> ClosedJaxpr:
    """The program without equations and constants that no output depends on."""
    jaxpr = program.jaxpr
    alive = {atom for atom in jaxpr.outvars if not isinstance(atom, Literal)}
    kept = []
    for equation in reversed(jaxpr.eqns):
        if alive.intersection(equation.outvars):
            kept.append(equation)
            alive.update(atom for atom in equation.invars if not isinstance(atom, Literal))
    pairs = [pair for pair in zip(jaxpr.constvars, program.consts, strict=True) if pair[0] in alive]
    return ClosedJaxpr(
        jaxpr.replace(eqns=kept[::-1], constvars=[variable for variable, _ in pairs]), [array for _, array in pairs]
    )


def used(program: ClosedJaxpr) -> list[bool]:
    """Which inputs an equation or output reads."""
    read = {atom for e in program.jaxpr.eqns for atom in e.invars if not isinstance(atom, Literal)}
    read.update(atom for atom in program.jaxpr.outvars if not isinstance(atom, Literal))
    return [variable in read for variable in program.jaxpr.invars]
