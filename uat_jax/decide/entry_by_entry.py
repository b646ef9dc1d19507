"""Programs of integers that compute every entry of the entries at the same place: one function of scalars decides them.

x % 8 = x & 7 for arrays x of every shape, since it is so for one integer
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.figures import Enumerated, Figures, SolvedFormulas
from uat_jax.decide.integers import Integers
from uat_jax.decide.lookups.one_integer import ENTRYWISE
from uat_jax.decide.solver import name_of_solver, solved
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decide.whole_programs import WholePair, check_exact, is_whole_program
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.retracing import bound, followed
from uat_jax.interpret.tracing import dtype_of, shape_of
from uat_jax.typing import Array

MOST_INPUTS, SECONDS = 2**16, 20.0
"""So many integers are tried at most; else the solver is asked for so long."""


def of_one_entry(program: ClosedJaxpr) -> ClosedJaxpr | None:
    """The function of scalars that a program applies to the entries at every place; None if it is no such program."""
    program = inlined(program)
    if not is_whole_program(program) or not all(map(is_entrywise, program.eqns)):
        return None
    if any(np.ndim(x) for x in program.consts):
        return None

    def applied(equation: JaxprEqn, operands: list[Array]) -> Sequence[Any]:
        return operands if equation.primitive.name == "broadcast_in_dim" else bound(equation, operands, equation.params)

    scalars = [jax.ShapeDtypeStruct((), dtype_of(v)) for v in program.jaxpr.invars]
    constant = lambda atom, x: np.asarray(x, dtype_of(atom))
    with jax.enable_x64(True):  # the types are the equations' own
        return jax.make_jaxpr(lambda *xs: followed(program, xs, constant, applied))(*scalars)


def is_entrywise(equation: JaxprEqn) -> bool:
    """Whether operands have the shape of the result or none at all, and an entry is computed of those at its place."""
    shape = shape_of(equation.outvars[0])
    if equation.primitive.name == "broadcast_in_dim":
        return shape_of(equation.invars[0]) == ()
    same = all(shape_of(v) in ((), shape) for v in equation.invars)
    return equation.primitive.name in ENTRYWISE and same and len(equation.outvars) == 1


def entry_by_entry(
    programs: Sequence[ClosedJaxpr], ranges: Sequence[Any], deadline: Deadline, subject: str
) -> Evidence | None:
    """The proof that two such programs are equal at all sizes; None if they are not such, or it is not found."""
    if not all(isinstance(of, Integers) for of in ranges):
        return None
    left, right = map(of_one_entry, programs)
    if left is None or right is None:
        return None
    found = same_function(left, right, ranges, deadline)
    if found is None:
        return None
    finding = f"equal at all sizes: both apply one function to the entries at every place, and {found.how}"
    evidence = Evidence(found.method, finding, Verdict.PROVED, found.figures, (Assumption(found.assumption),))
    return dataclasses.replace(evidence, subject=subject)


@dataclasses.dataclass(frozen=True)
class Shown:
    """How two functions of scalars were shown to be equal, and what that presupposes."""

    how: str
    assumption: AssumptionKind
    method: Method
    figures: Figures


def same_function(left: ClosedJaxpr, right: ClosedJaxpr, ranges: Sequence[Any], deadline: Deadline) -> Shown | None:
    """How two functions of scalars are shown to be equal, for integers of some ranges; None if they are not."""
    whole = WholePair(left, right, tuple(ranges), deadline)
    try:
        check_exact(left)
        check_exact(right)
        if whole.count <= MOST_INPUTS:
            if whole.first_of_all() is not None:
                return None
            how = f"evaluated exactly at all of {whole.count} values of an entry"
            return Shown(how, AssumptionKind.EXACT_INTEGERS, Method.ENUMERATION, Enumerated(whole.count))
        found = solved(whole, SECONDS)
    except UnsupportedError:
        return None
    if found.unlike is not None or found.reason:
        return None
    how, figures = (
        f"{name_of_solver()} finds that no entry can differ",
        SolvedFormulas(found.formulas, name_of_solver()),
    )
    return Shown(how, AssumptionKind.SOLVER, Method.SOLVER, figures)
