"""Loops over texts step by step, so that the integers of each step are letters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal

from uat_jax.decide.integers import WHOLE
from uat_jax.interpret.retracing import bound, followed, retraced
from uat_jax.interpret.stored_control import scan_parameters
from uat_jax.interpret.tracing import dtype_of
from uat_jax.typing import Array

LONGEST = 64
"""Longer loops stay as they are."""


def step_by_step(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program without calls in which no short scan takes integers that are not carried."""
    if not any(map(_takes_integers, program.eqns)):
        return program
    return retraced(program, lambda *inputs: _results(program, inputs))


def _takes_integers(equation: JaxprEqn) -> bool:
    if equation.primitive.name != "scan":
        return False
    p = scan_parameters(equation)
    carried = range(p["num_consts"], p["num_consts"] + p["num_carry"])
    taken = [v for k, v in enumerate(equation.invars) if k not in carried and not isinstance(v, Literal)]
    return p["length"] <= LONGEST and any(str(dtype_of(v)) in WHOLE for v in taken)


def _results(program: ClosedJaxpr, inputs: Sequence[Any]) -> list[Any]:
    return followed(program, inputs, lambda atom, x: np.asarray(x, dtype_of(atom)), _applied)


def _applied(equation: JaxprEqn, operands: list[Array]) -> Sequence[Any]:
    if not _takes_integers(equation):
        return bound(equation, operands, equation.params)
    p = scan_parameters(equation)
    first, last = p["num_consts"], p["num_consts"] + p["num_carry"]
    carry, made = operands[first:last], []
    for k in range(p["length"]):
        place = p["length"] - 1 - k if p["reverse"] else k
        results = _results(p["jaxpr"], [*operands[:first], *carry, *(x[place] for x in operands[last:])])
        carry = results[: last - first]
        made.append(results[last - first :])
    stacked = [jnp.stack(entries) for entries in zip(*(made[::-1] if p["reverse"] else made), strict=True)]
    return [*carry, *stacked]
