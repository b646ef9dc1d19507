"""Programs of integers that a device can run: loops are given up after some rounds, and divisions have a divisor.

XLA ends the process where it computes a quotient by zero while it compiles.  What it makes of one elsewhere is written
out: all bits set, and the dividend for a remainder; the least integer by -1 is itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import programs_within
from uat_jax.interpret.retracing import bound, followed, retraced
from uat_jax.interpret.stored_control import scan_parameters
from uat_jax.interpret.tracing import dtype_of, source_line
from uat_jax.typing import Array

ROUNDS = 100_000
"""So many rounds a loop takes at most."""


def has_while(program: ClosedJaxpr) -> bool:
    """Whether a program has a loop whose length its inputs may decide."""
    return any(e.primitive.name == "while" for p in programs_within(program) for e in p.eqns)


def runnable(program: ClosedJaxpr) -> ClosedJaxpr:
    """A program without calls that also returns whether it ended; if it did not, its other results are any numbers.

    Raises:
        UnsupportedError: the condition of a loop has a loop in it.
    """
    return retraced(program, lambda *inputs: _results(program, inputs, np.asarray(True)))


def _results(program: Any, inputs: Sequence[Any], ended: Any) -> list[Any]:
    """The results of a program and whether it has ended, if what was before it has."""
    state = [ended]

    def applied(equation: JaxprEqn, operands: list[Array]) -> Sequence[Any]:
        rule = RULES.get(equation.primitive.name)
        if rule is None:
            return bound(equation, operands, equation.params)
        *results, state[0] = rule(equation, operands, state[0])
        return results

    results = followed(program, inputs, lambda atom, x: np.asarray(x, dtype_of(atom)), applied)
    return [*results, state[0]]


def _while(equation: JaxprEqn, operands: list[Array], ended: Any) -> Sequence[Any]:
    condition, body = equation.params["cond_jaxpr"], equation.params["body_jaxpr"]
    if has_while(condition):
        raise UnsupportedError(f"'while'{source_line(equation)} has a loop in its condition")
    first, second = equation.params["cond_nconsts"], equation.params["body_nconsts"]
    of_condition, of_body, carry = operands[:first], operands[first : first + second], operands[first + second :]
    goes_on = lambda carry: _results(condition, [*of_condition, *carry], np.asarray(True))[0]

    def step(state: tuple[Any, ...]) -> tuple[Any, ...]:
        *carry, ended, rounds = state
        return (*_results(body, [*of_body, *carry], ended), rounds + 1)

    more = lambda state: state[-2] & (state[-1] < ROUNDS) & goes_on(state[:-2])
    *carry, ended, _ = lax.while_loop(more, step, (*carry, jnp.asarray(ended), jnp.int32(0)))
    return [*carry, ended & ~goes_on(carry)]


def _cond(equation: JaxprEqn, operands: list[Array], ended: Any) -> Sequence[Any]:
    branch = lambda program: lambda *inputs: _results(program, inputs[:-1], inputs[-1])
    return lax.switch(operands[0], list(map(branch, equation.params["branches"])), *operands[1:], jnp.asarray(ended))


def _scan(equation: JaxprEqn, operands: list[Array], ended: Any) -> Sequence[Any]:
    p = scan_parameters(equation)
    consts, rest = operands[: p["num_consts"]], operands[p["num_consts"] :]
    carry, sequences = rest[: p["num_carry"]], rest[p["num_carry"] :]

    def step(state: tuple[Any, ...], entries: Sequence[Any]) -> tuple[Any, Any]:
        *results, ended = _results(p["jaxpr"], [*consts, *state[:-1], *entries], state[-1])
        return (*results[: p["num_carry"]], ended), tuple(results[p["num_carry"] :])

    start = (*carry, jnp.asarray(ended))
    (*carry, ended), made = lax.scan(step, start, tuple(sequences), length=p["length"], reverse=p["reverse"])
    return [*carry, *made, ended]


def _divided(equation: JaxprEqn, operands: list[Array], ended: Any) -> Sequence[Any]:
    a, b = map(jnp.asarray, operands)
    least = jnp.iinfo(a.dtype).min
    zero, beyond = b == 0, (a == least) & (b == -1 if least < 0 else False)
    found = bound(equation, [a, jnp.where(zero | beyond, jnp.ones_like(b), b)], equation.params)[0]
    undivided = a if equation.primitive.name == "rem" else ~jnp.zeros_like(a)
    return [jnp.where(zero, undivided, found), ended]


RULES = {"div": _divided, "rem": _divided, "while": _while, "cond": _cond, "scan": _scan}
"""The primitives that are not run as they are."""
