"""Two functions compared without the infinities that stand behind masks, as evidence."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.fields_evidence import field_evidence
from uat_jax.decide.masks.programs import WithoutInfinities, without_infinities
from uat_jax.decide.refutation import doubted
from uat_jax.decide.sampling import APART, Seen, sample, together
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import interpret
from uat_jax.numbers.floats.doubles import Doubles

ATTEMPTS = (False, True)
"""Without and with `ignoring` what one function makes of rows that are masked whole, where the other one has NaN."""


def masked_evidence(
    left: ClosedJaxpr, right: ClosedJaxpr, seen: Seen, effort: Effort, domains: Domains = EVERYWHERE
) -> Evidence | None:
    """CERTIFIED with the chance of error, or None: infinities are followed as where they stand.

    seen: both functions in float64.

    Raises:
        BudgetError, MemoryLimitError: the time is up, or it takes too much memory.
    """
    if seen.apart or seen.nowhere_defined or seen.defined_on_one_side:
        return None
    share = dataclasses.replace(effort, error=effort.error / len(ATTEMPTS))
    for ignoring in ATTEMPTS:
        try:
            found = without_infinities(left, right, ignoring=ignoring)
        except UnsupportedError:
            continue
        evidence = None if found is None else _compared(found, share, domains)
        if evidence is not None:
            return evidence
    return None


def _compared(programs: WithoutInfinities, effort: Effort, domains: Domains) -> Evidence | None:
    """What passes of two programs without infinities."""
    sampled = sample(programs.left, programs.right, effort.seed, effort.deadline, domains)
    if sampled.seen.apart:
        return None
    found = field_evidence(programs.left, programs.right, sampled.seen, effort, domains)
    suspects = [point for point in sampled.suspects if _is_suspect(programs, point)]
    if found.verdict is Verdict.CERTIFIED and suspects:
        found = doubted(programs.left, programs.right, found, suspects, effort)
    if found.verdict not in (Verdict.PROVED, Verdict.CERTIFIED):
        return None
    made = [Assumption(AssumptionKind.MASKED_INFINITIES)]
    made += [Assumption(AssumptionKind.INFINITIES_MEET, {"side": side}) for side in programs.undefined_sides]
    if programs.both_sides:
        made.append(Assumption(AssumptionKind.UNDEFINED_ENTRIES, {"count": programs.both_sides}))
    if programs.one_side:
        made.append(Assumption(AssumptionKind.ONE_SIDED_ENTRIES, {"count": programs.one_side}))
    finding = f"{found.finding}; infinities behind masks are compared by where they stand"
    return dataclasses.replace(found, finding=finding, assumptions=(*found.assumptions, *made))


def _is_suspect(programs: WithoutInfinities, point: Sequence[np.ndarray]) -> bool:
    """Whether float64 values are apart at a point, or finite on one side only, where both programs are defined."""
    given = [x[None] for x in point]
    left, right, undefined = (
        together(interpret(p, Doubles(), given), 1) for p in (programs.left, programs.right, programs.undefined)
    )
    counts = undefined == 0
    finite = np.isfinite(left) & np.isfinite(right)
    if (counts & (np.isfinite(left) != np.isfinite(right))).any():
        return True
    gaps = np.abs(np.where(finite & counts, left - right, 0.0))
    return bool(gaps.max(initial=0.0) > APART * max(1.0, np.abs(np.where(finite, left, 0.0)).max(initial=0.0)))
