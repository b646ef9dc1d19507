"""Questions that have to be answered one after the other, and share the chance of error."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from typing import TypeVar

from uat_jax.decide.effort import Effort
from uat_jax.decide.verdict import Evidence, Verdict

Part = TypeVar("Part")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
"""Verdicts that two functions are equal."""


def in_batches(
    parts: Sequence[Part], effort: Effort, each: Callable[[Part, Effort], Evidence], named: str = "batch"
) -> Evidence:
    """What is found of all parts, which share the chance of error: the first not to pass, or the least sure one."""
    share = dataclasses.replace(effort, error=effort.error / len(parts))
    passed = []
    for n, part in enumerate(parts):
        effort.progress(f"comparing {named} {n + 1} of {len(parts)}")
        found = each(part, share)
        if found.verdict not in PASSING:
            return found
        passed.append(found)
    log2 = lambda found: getattr(found.figures, "log2_error", -math.inf)
    worst = max(passed, key=lambda found: (found.verdict is Verdict.CERTIFIED, log2(found)))
    if len(parts) == 1 or worst.verdict is Verdict.PROVED:
        return worst
    figures = dataclasses.replace(worst.figures, log2_error=log2(worst) + math.log2(len(parts)))  # type: ignore[type-var]
    assumptions = tuple(dict.fromkeys(a for found in passed for a in found.assumptions))
    return dataclasses.replace(worst, figures=figures, assumptions=assumptions)
