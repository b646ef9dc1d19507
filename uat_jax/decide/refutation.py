"""Where prime fields do not certify: an input on which two functions differ, or agreement to many digits."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.agreement import agreement, agreement_at
from uat_jax.decide.effort import Effort
from uat_jax.decide.sampling import Sample
from uat_jax.decide.specification import Sizes
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.decide.witness import Witness
from uat_jax.errors import UatJaxError

POINTS, DIGITS = 4, 30
LARGE = 20_000
"""Programs that compute more entries than this are not compared in balls."""

ROUNDING = 2.0**-18
"""Differences below this part of the value can come from float32 constants that stand for fractions or roots."""

Search = Callable[[float], tuple[Sizes, Witness] | None]
"""Looks for a witness with a relative difference above so much; gives the sizes at which it was found as well."""


def refutation(search: Search, fields: Evidence, reproduce: Callable[[Sizes, Witness], str]) -> Evidence | None:
    """REFUTED with a confirmed and simplified input, or None.

    `fields`: what prime fields said.  Where they read a rounded constant as a fraction or root, a difference as small
    as that rounding refutes nothing, and none does if they certify: then differences can cancel to it.
    """
    rounded = any(a.startswith("the constant ") for a in fields.assumptions)
    if rounded and fields.verdict is Verdict.CERTIFIED:
        return None
    try:
        found = search(ROUNDING if rounded else 0.0)
    except UatJaxError:
        return None
    if found is None:
        return None
    sizes, witness = found
    # Where float64 sees no difference, only the exact values show it.
    values = witness.exact if witness.left == witness.right else (repr(witness.left), repr(witness.right))
    finding = f"{' against '.join(values)} at output {witness.output}{list(witness.entry)}"
    counterexample = {**_as_json(witness), "sizes": dict(sizes), "reproducer": reproduce(sizes, witness)}
    return Evidence(
        "counterexample", finding, Verdict.REFUTED, {"counterexample": counterexample, "fields": fields.finding}
    )


def _as_json(witness: Witness) -> Mapping[str, Any]:
    values = lambda x: np.asarray(x, np.float64).tolist()
    return {
        "inputs": [{"dtype": str(x.dtype), "shape": list(x.shape), "values": values(x)} for x in witness.inputs],
        "output": witness.output,
        "entry": list(witness.entry),
        "left": witness.left,
        "right": witness.right,
        "exact": list(witness.exact),
        "minimal": witness.minimal,
    }


def doubted(left: ClosedJaxpr, right: ClosedJaxpr, fields: Evidence, seen: Sample, effort: Effort) -> Evidence:
    """What prime fields certified although float64 values are apart: it stands if exact values there are not.

    Float64 alone may be to blame, as in 1 + erf(-9) or exp(1000).  Five digits are what rounded constants leave.
    """
    found = agreement_at(left, right, seen.suspects, digits=5, deadline=effort.deadline)
    if found.agrees:
        return fields
    reason = f"{fields.finding}; but float64 values differ at random inputs, and so may exact ones: {found.reason}"
    return Evidence("floats", f"prime fields: {reason}", Verdict.UNKNOWN)


def agreeing(left: ClosedJaxpr, right: ClosedJaxpr, fields: Evidence, effort: Effort) -> Evidence:
    """AGREES to so many digits, or what prime fields said and why nothing more is known.

    Raises:
        BudgetError: the time is up.
    """
    reason = fields.finding
    effort.deadline.check()
    if sum(int(np.prod(v.aval.shape)) for p in (left, right) for e in p.eqns for v in e.outvars) > LARGE:
        return Evidence(fields.method, f"{reason}; too large to compare exact values", Verdict.UNKNOWN)
    found = agreement(left, right, points=POINTS, digits=DIGITS, seed=effort.seed, deadline=effort.deadline)
    if not found.agrees:
        return Evidence("balls", f"{reason}; exact values: {found.reason}", Verdict.UNKNOWN)
    finding = f"equal to {found.digits} digits at {found.points} random inputs; prime fields: {reason}"
    return Evidence("balls", finding, Verdict.AGREES, {"points": found.points, "digits": found.digits})
