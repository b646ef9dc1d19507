"""Programs of integers of many values, decided by the solver z3 over bit vectors."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.typing import DTypeLike

from uat_jax.decide.integers import Integers, all_of, held
from uat_jax.decide.whole_programs import Input, WholePair
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.interpreter import programs_within
from uat_jax.numbers.integers.bit_vectors import Divisions, bits, interpreted, letters, signed, solver

UNKNOWN_SECONDS = 3.0
"""So long quotients and remainders by constants are tried as unknowns, of which a few facts are known."""


@dataclass(frozen=True)
class Solved:
    """What the solver found.

    formulas: the entries of the outputs that it compared.  unlike: an input at which it says that they differ.  reason:
    why it cannot tell, "" if it can.
    """

    formulas: int
    unlike: Input | None = None
    reason: str = ""


def name_of_solver() -> str:
    """The solver and its version."""
    return f"z3 {solver().get_version_string()}"


def solved(pair: WholePair, seconds: float) -> Solved:
    """Whether two programs of integers are equal at all inputs, found in about so many seconds.

    Raises:
        UnsupportedError: the solver is not installed, or a primitive has no rule.
        BudgetError: the time is up.
    """
    avals = pair.left.in_avals
    inputs = [letters(f"x{i}", aval.shape, aval.dtype) for i, aval in enumerate(avals)]
    ranges = [c for x, aval, of in zip(inputs, avals, pair.ranges, strict=True) for c in _within(x, aval.dtype, of)]
    made = {e.primitive.name for p in (pair.left, pair.right) for q in programs_within(p) for e in q.eqns}
    if made & {"div", "rem"}:
        divisions = Divisions()
        found = _found(pair, inputs, ranges, min(seconds, UNKNOWN_SECONDS), divisions)
        if not found.reason and found.unlike is None:
            return found
    return _found(pair, inputs, ranges, seconds, None)


def _found(
    pair: WholePair, inputs: Sequence[np.ndarray], ranges: Sequence[Any], seconds: float, divisions: Divisions | None
) -> Solved:
    """What the solver says of programs at some inputs.

    Where quotients are unknowns, it may say of equal programs that they differ.
    """
    z3, avals = solver(), pair.left.in_avals
    left, right = (interpreted(program, inputs, pair.deadline, divisions) for program in (pair.left, pair.right))
    facts = divisions.facts if divisions is not None else []
    entries = [(a, b) for x, y in zip(left, right, strict=True) for a, b in zip(x.ravel(), y.ravel(), strict=True)]
    different = [unlike for a, b in entries if (unlike := _unlike(a, b)) is not None]
    end = Deadline(min(pair.deadline.moment, time.monotonic() + seconds))
    for unlike in different:
        found = z3.SolverFor("QF_BV")
        found.set("timeout", max(1, int(1000 * min(seconds, end.remaining))))
        found.add(unlike, *ranges, *facts)
        answer = found.check()
        if answer == z3.sat:
            return Solved(len(entries), _point(found.model(), inputs, avals))
        if answer != z3.unsat:
            return Solved(len(entries), reason=f"{name_of_solver()} does not decide it in {seconds:.0f} s")
        pair.deadline.check()
    return Solved(len(entries))


def _unlike(a: Any, b: Any) -> Any:
    """The formula that two entries differ; None if they are the same polynomial."""
    z3 = solver()
    if a.eq(b):
        return None
    if not z3.is_bv(a):
        return a != b
    apart = z3.simplify(a - b, som=True)
    return None if z3.is_bv_value(apart) and apart.as_long() == 0 else a != b


def _within(x: np.ndarray, dtype: DTypeLike, of: Integers) -> list[Any]:
    """The formulas that the entries of an input lie in its range."""
    if (of.low, of.high) == (all_of(dtype).low, all_of(dtype).high):
        return []
    z3 = solver()
    if not bits(dtype):
        return [entry == bool(of.low) for entry in x.ravel()]
    least, most = (lambda a, b: a >= b, lambda a, b: a <= b) if signed(dtype) else (z3.UGE, z3.ULE)
    return [c for entry in x.ravel() for c in (least(entry, of.low), most(entry, of.high))]


def _point(model: Any, inputs: Sequence[np.ndarray], avals: Sequence[Any]) -> Input:
    """The input that a model says; what it leaves open is 0."""
    z3 = solver()

    def number(entry: Any, dtype: DTypeLike) -> int:
        value = model.eval(entry, model_completion=True)
        if not bits(dtype):
            return int(z3.is_true(value))
        return value.as_signed_long() if signed(dtype) else value.as_long()

    entries = lambda x, aval: np.asarray([number(e, aval.dtype) for e in x.ravel()], object).reshape(aval.shape)
    return tuple(held(entries(x, aval), aval.dtype) for x, aval in zip(inputs, avals, strict=True))
