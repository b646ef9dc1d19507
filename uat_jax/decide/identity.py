"""The test of identity: whether two programs are the same function, for claims and for functions alike."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping

from jax.extend.core import ClosedJaxpr

from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import Fields
from uat_jax.decide.prime_fields import FieldComparison, PrimeFields
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.numbers.prime_fields.prime_field import limbs_in_use

USUAL = Effort()
"""What is tried where nothing else is said."""


def identity(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    effort: Effort = USUAL,
    *,
    thoroughly: bool = True,
    vacuous: bool = True,
    domains: Domains = EVERYWHERE,
) -> FieldComparison:
    """What prime fields say of two programs of the same inputs, in their domains, at the error that the effort allows.

    Of functions that do not depend on their inputs only that is said, unless ``vacuous`` has them compared as well.
    ``thoroughly`` as for `PrimeFields.compare`.

    Raises:
        UnsupportedError: a primitive that prime fields cannot express, or a divisor that is always zero.
    """
    fields = PrimeFields(left, right, effort.seed, effort.laws, effort.deadline, domains=domains)
    if not (fields.varies or vacuous):
        return FieldComparison(equal=False, laws=(), varies=False)
    found = fields.compare(math.log2(effort.error), thoroughly=thoroughly, almost_everywhere=effort.almost_everywhere)
    return dataclasses.replace(found, varies=fields.varies)


def fields_of(found: FieldComparison) -> tuple[float, bool, Mapping[str, str]]:
    """The chance of error, whether it is by a theorem, and in what limbs it was computed."""
    return found.log2_error, not found.condition, limbs_in_use()


def identical(
    left: ClosedJaxpr, right: ClosedJaxpr, effort: Effort = USUAL, *, what: str, thoroughly: bool = False
) -> Evidence:
    """CERTIFIED if prime fields find both programs equal, else UNKNOWN."""
    found = identity(left, right, effort, thoroughly=thoroughly)
    figures = Fields(*fields_of(found))
    if not found.within(effort.error):
        return Evidence(Method.PRIME_FIELDS, f"{what}: different", Verdict.UNKNOWN, figures, found.assumptions)
    finding = f"{what}: equal, except with probability 2^{found.log2_error:.0f}"
    return Evidence(Method.PRIME_FIELDS, finding, Verdict.CERTIFIED, figures, found.assumptions)
