"""Programs that decide nothing by floats: what is undefined in them stays so, and can be seen in their outputs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, jaxpr_as_fun

from uat_jax.decide.domain import Domains
from uat_jax.decide.loops.walk import LOOPS
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.sampling import together
from uat_jax.interpret import stored_control
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import called, interpret_all, programs_within, scan_counts
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.exponential_depth import UNDEFINED_STAYS
from uat_jax.numbers.prime_fields.fact_rules import catches_infinities

DECIDING = frozenset("abs clamp cond cummax cummin max min pow reduce_max reduce_min select_n top_k".split())
"""Primitives of floats that may leave an operand out, or choose by one."""


def all_strict(program: ClosedJaxpr | Jaxpr) -> bool:
    """Whether every operation on floats, in all calls and loops, has an undefined result where an operand is undefined.

    A selection by an integer is none: it leaves an operand out.  Nor is tanh(1/u) if u is no constant: where u is 0, it
    is 1 or -1.
    """
    strict = all(_is_strict(equation) for inner in programs_within(program) for equation in inner.eqns)
    return strict and not _followed(program, [_INPUT] * len(_jaxpr(program).invars))[1]


def _is_strict(equation: JaxprEqn) -> bool:
    """Whether the results of an equation are undefined where an operand is."""
    name = equation.primitive.name
    floats = any(map(is_number, equation.invars))
    if called(equation) is not None or name in LOOPS or not floats:
        return name != "select_n" or not any(map(is_number, equation.outvars))
    if name == "integer_pow" and equation.params["y"] == 0:
        return False
    return name in UNDEFINED_STAYS and name not in DECIDING and all(map(is_number, equation.outvars))


_FIXED, _INPUT, _OPEN = range(3)
"""A number that is computed of constants alone, one that depends on inputs, and one that may be infinite."""


def _jaxpr(program: ClosedJaxpr | Jaxpr) -> Jaxpr:
    return program.jaxpr if isinstance(program, ClosedJaxpr) else program


def _followed(program: ClosedJaxpr | Jaxpr, given: Sequence[int]) -> tuple[list[int], bool]:
    """What the outputs of a program are, and whether a number is made of an infinity in it."""
    jaxpr = _jaxpr(program)
    values: dict[Any, int] = dict(zip(jaxpr.invars, given, strict=True))
    read = lambda atom: _FIXED if isinstance(atom, Literal) else values.get(atom, _FIXED)
    caught = False
    for equation in jaxpr.eqns:
        results, catches = _results(equation, list(map(read, equation.invars)))
        values.update(zip(equation.outvars, results, strict=True))
        caught = caught or catches
    return list(map(read, jaxpr.outvars)), caught


def _results(equation: JaxprEqn, operands: list[int]) -> tuple[list[int], bool]:
    """What the results of an equation are, and whether it makes a number of an infinity."""
    name, inner = equation.primitive.name, called(equation)
    if inner is not None:
        return _followed(inner, operands)
    if name in LOOPS:
        return _of_loop(equation, operands)
    catches = catches_infinities(equation, [x == _OPEN for x in operands])
    divisor = {"div": operands[-1:], "rsqrt": operands}.get(name, [])
    if name == "integer_pow" and equation.params["y"] < 0:
        divisor = operands
    result = _OPEN if any(divisor) else max(operands, default=_FIXED)
    return [result] * len(equation.outvars), catches


def _of_loop(equation: JaxprEqn, operands: list[int]) -> tuple[list[int], bool]:
    """What is known of the results of a loop, and whether it hides what is undefined, as `_results` says it.

    A carry may be what it becomes in any step, so steps are followed until nothing more becomes open.
    """
    if equation.primitive.name == "while":
        tests, constants = equation.params["cond_nconsts"], equation.params["body_nconsts"]
        body, carries = equation.params["body_jaxpr"], len(equation.outvars)
    else:
        tests, (constants, carries), body = 0, scan_counts(equation), equation.params["jaxpr"]
    fixed, carry = operands[tests : tests + constants], operands[tests + constants :][:carries]
    rows = operands[tests + constants + carries :]
    while True:
        results, caught = _followed(body, [*fixed, *carry, *rows])
        after = list(map(max, carry, results[:carries]))
        if after == carry:
            return [*carry, *results[carries:]], caught
        carry = after


STORED = frozenset(stored_control.PRIMITIVES.values())
"""Loops and calls of programs from a file."""

TRIED = 4
"""Random inputs at which a program is run."""


def defined_somewhere(program: ClosedJaxpr, seed: int, domains: Domains, deadline: Deadline | None = None) -> bool:
    """Whether the device gives finite outputs at a random input: a program that divides by zero for all has none.

    A program with a loop that waits for a float to change is not run, because it may never end.  One from a file is
    evaluated in float64 instead: nothing executes its loops and calls.
    """
    if not OnDevice(program, program).ends:
        return False
    random, inputs = np.random.default_rng((seed, 79)), program.jaxpr.invars
    normal = [random.standard_normal((TRIED, *shape_of(v))) for v in inputs]
    points = domains.folded(normal, [dtype_of(v) for v in inputs])
    if any(e.primitive in STORED for inner in programs_within(program) for e in inner.eqns):
        doubles = Doubles()
        doubles.deadline = deadline
        (outputs,) = interpret_all([program], doubles, points)
        return bool(np.isfinite(together(outputs, TRIED)).all(axis=1).any())
    with jax.enable_x64(True):
        run = jax.jit(jaxpr_as_fun(program))
        given = ([np.asarray(x[i], dtype_of(v)) for x, v in zip(points, inputs, strict=True)] for i in range(TRIED))
        return any(all(np.isfinite(output).all() for output in run(*point)) for point in given)
