"""Programs that decide nothing by floats: what is undefined in them stays so, and can be seen in their outputs."""

from __future__ import annotations

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, jaxpr_as_fun

from uat_jax.arithmetic import stored_control
from uat_jax.arithmetic.deadline import Deadline
from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.exponential_depth import UNDEFINED_STAYS
from uat_jax.arithmetic.interpreter import called, interpret_all, programs_within
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of
from uat_jax.decide.domain import Domains
from uat_jax.decide.loops.walk import LOOPS
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.sampling import together

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
