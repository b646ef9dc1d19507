"""Where prime fields do not certify: an input on which two functions differ, or agreement to many digits."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.agreement import Agreement, agreement, agreement_at, rounding_apart
from uat_jax.decide.assumption import AssumptionKind, of_constants
from uat_jax.decide.constant_readings import readings, rounded_constants
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import Agreed, FieldsOfFunctions, Parted, Refuted
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import UatJaxError
from uat_jax.interpret.recognition import ConstantReading, Reading

POINTS, DIGITS = 4, 30
LARGE = 20_000
"""Programs that compute more entries than this are not compared in balls."""

Search = Callable[[], Counterexample | None]
"""Looks for an input at which two functions differ."""
Writer = Callable[[Counterexample], str]
"""Writes the program that shows a counterexample."""


def refutation(search: Search, fields: Evidence, write: Writer) -> Evidence | None:
    """REFUTED with a confirmed and simplified input, or None; `fields`: what prime fields said."""
    try:
        found = search()
    except UatJaxError:
        return None
    if found is None:
        return None
    # Where float64 sees no difference, only the exact values show it.
    values = found.exact if found.left == found.right else (repr(found.left), repr(found.right))
    finding = f"{' against '.join(values)} at output {found.output}{list(found.entry)}"
    example = replace(found, program=write(found))
    parting = fields.figures.parting if isinstance(fields.figures, FieldsOfFunctions | Parted) else ""
    figures = Refuted(fields.finding, parting)
    return Evidence(Method.COUNTEREXAMPLE, finding, Verdict.REFUTED, figures, example=example)


def doubted(
    left: ClosedJaxpr, right: ClosedJaxpr, fields: Evidence, suspects: Sequence[Sequence[np.ndarray]], effort: Effort
) -> Evidence:
    """What prime fields certified although float64 values are apart at the suspects: it stands if exact values are not.

    Float64 alone may be to blame, as in 1 + erf(-9) or exp(1000).
    """
    meant = any(a.kind is AssumptionKind.CONSTANT for a in fields.assumptions)
    reading = Reading.MEANT if meant else Reading.WRITTEN
    found = agreement_at(left, right, suspects, digits=DIGITS, reading=reading, deadline=effort.deadline)
    if found.agrees:
        return fields
    reason = f"{fields.finding}; but float64 values differ at random inputs, and so may exact ones: {found.reason}"
    return Evidence(Method.FLOATS, f"prime fields: {reason}", Verdict.UNKNOWN)


def agreeing(
    left: ClosedJaxpr, right: ClosedJaxpr, fields: Evidence, effort: Effort, domains: Domains = EVERYWHERE
) -> Evidence:
    """AGREES to so many digits, or what prime fields said and why nothing more is known.

    Raises:
        BudgetError: the time is up.
    """
    reason = fields.finding
    effort.deadline.check()
    if sum(int(np.prod(v.aval.shape)) for p in (left, right) for e in p.eqns for v in e.outvars) > LARGE:
        return Evidence(fields.method, f"{reason}; too large to compare exact values", Verdict.UNKNOWN)
    constants = readings(left, right)
    for reading in (Reading.WRITTEN, Reading.MEANT) if constants else (Reading.WRITTEN,):
        found = agreement(
            left,
            right,
            points=POINTS,
            digits=DIGITS,
            seed=effort.seed,
            reading=reading,
            deadline=effort.deadline,
            domains=domains,
        )
        if found.agrees:
            return _agrees(found, reason, constants if reading is Reading.MEANT else ())
    return Evidence(
        Method.BALLS,
        f"{reason}; exact values: {found.reason}{_explained(left, right, effort, domains)}",
        Verdict.UNKNOWN,
    )


def _agrees(found: Agreement, reason: str, constants: Sequence[ConstantReading]) -> Evidence:
    finding = f"equal to {found.digits} digits at {found.points} random inputs; prime fields: {reason}"
    figures = Agreed(found.points, found.digits, tuple(constants))
    return Evidence(Method.BALLS, finding, Verdict.AGREES, figures, of_constants(constants))


def _explained(left: ClosedJaxpr, right: ClosedJaxpr, effort: Effort, domains: Domains) -> str:
    """That the programs differ by rounding of constants, with a constant that only one has and both values, or ''."""
    values = rounding_apart(left, right, points=POINTS, seed=effort.seed, deadline=effort.deadline, domains=domains)
    sides = [rounded_constants(side) for side in (left, right)]
    constant = next(iter(sorted(sides[0] ^ sides[1]) or sorted(sides[0] | sides[1])), None)
    if values is None or constant is None:
        return ""
    apart = f"{values[0]} against {values[1]}"
    return f"; the difference, {apart}, is one that rounding of constants explains: {constant.text}"
