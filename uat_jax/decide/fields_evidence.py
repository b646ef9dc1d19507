"""A comparison in prime fields as evidence."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.assumption import Assumption, AssumptionKind, of_constants
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import FieldsOfFunctions
from uat_jax.decide.identity import fields_of, identity
from uat_jax.decide.missing import advised, lines_of, missing, parting
from uat_jax.decide.pieces_evidence import is_huge, is_large, pieces_evidence, varies
from uat_jax.decide.prime_fields import FieldComparison
from uat_jax.decide.sampling import Seen
from uat_jax.decide.strict_decisions import undecided
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import MemoryLimitError, UnsupportedError

DERIVATION = (
    "Theorem E of docs/soundness.md: for each round 6 times the number of terms times the largest of them, the terms "
    "being ε_0(d)^C_0, 64(n_k² + 8m)·max(ε_k(2d)^C_k, 2^-120) and C_k·binomial(C_k, s_k)·ε_k(d')^s_k, with "
    "ε_k(d) = d(1/p_k + 2^-52) + 2wd/p_{k+1}; the rounds are multiplied, and by 2 for every reading"
)


CONSTANT = "neither function depends on its inputs"
"""Why equality of two functions may say nothing."""


def field_evidence(
    left: ClosedJaxpr, right: ClosedJaxpr, seen: Seen, effort: Effort, domains: Domains = EVERYWHERE
) -> Evidence:
    """CERTIFIED with the chance of error, or UNKNOWN with the reason; `seen`: both functions in float64."""
    try:
        if seen.nowhere_defined:
            return _vacuous(f"both functions are NaN or infinite at all of {seen.points} random inputs")
        large, huge = is_large(left, right), is_huge(left, right)
        if large and not (varies(left) or varies(right)):
            return _vacuous(CONSTANT)
        ways = pieces_evidence(left, right, seen, effort, domains)
        if large:
            pieces = list(ways)[-1] if huge else next(ways)
            if huge or seen.apart or _shown(pieces):
                return pieces
        try:
            found = identity(left, right, effort, thoroughly=not seen.apart, vacuous=False, domains=domains)
        except (UnsupportedError, MemoryLimitError):  # such as for a divisor that is positive only in pieces
            pieces = next(filter(_shown, ways), None)
            if pieces is not None and (varies(left) or varies(right)):
                return pieces
            raise
        if not found.varies:
            return _vacuous(CONSTANT)
        equal = found.equal and not found.almost
        if large and not equal or equal and (not found.within(effort.error) or found.condition):
            pieces = next(filter(_shown, ways), None)  # of lower degree, and with fewer exponents each
            if pieces is not None:
                return pieces
        decisions = found.decisions if found.almost else ()
        ties = undecided((left, right), decisions, effort.seed, effort.deadline, domains)
    except UnsupportedError as error:
        return Evidence(Method.PRIME_FIELDS, advised(str(error), (left, right)), Verdict.UNKNOWN)
    except MemoryLimitError as error:
        return Evidence(Method.MEMORY, str(error), Verdict.UNKNOWN)
    return _evidence(found, ties, seen, effort.error, (left, right))


def _shown(found: Evidence) -> bool:
    return found.verdict in (Verdict.PROVED, Verdict.CERTIFIED)


def _vacuous(reason: str) -> Evidence:
    return Evidence(Method.VACUITY, f"vacuous: {reason}, so that being equal says nothing", Verdict.UNKNOWN)


def _evidence(
    found: FieldComparison, ties: set[JaxprEqn], seen: Seen, error: float, programs: Sequence[ClosedJaxpr]
) -> Evidence:
    part = "" if found.equal or found.almost else parting(programs, _apart(found, programs))
    figures = FieldsOfFunctions(
        *fields_of(found),
        derivation=DERIVATION,
        condition=found.condition,
        readings=found.readings,
        laws=found.laws,
        constants=found.constants,
        rounds=found.rounds,
        sample=seen,
        almost_everywhere=found.almost,
        parting=part,
    )
    reason = _doubt(found, ties, error, programs, part)
    if reason:
        return Evidence(Method.PRIME_FIELDS, reason, Verdict.UNKNOWN, figures, found.assumptions)
    kind = f"conditional: {found.condition}" if found.condition else "a theorem"
    where = " almost everywhere" if found.almost else ""
    finding = f"equal{where} except with probability 2^{found.log2_error:.0f} ({kind}), in {len(found.rounds)} rounds"
    return Evidence(Method.PRIME_FIELDS, finding, Verdict.CERTIFIED, figures, _assumptions(found, seen))


def _doubt(
    found: FieldComparison, ties: set[JaxprEqn], error: float, programs: Sequence[ClosedJaxpr], part: str
) -> str:
    """Why the functions are not certified, or ''; part: where they part, or ''."""
    if found.almost and ties:
        where = _named(programs, ties)
        return f"equal except where numbers are equal that may be so for inputs of positive measure: {where}"
    if found.almost and not found.equal:
        where = _named(programs, found.decisions)
        return f"equal except where the numbers compared are equal, {where}; pass almost_everywhere=True to accept that"
    if not found.equal:
        output, entry = found.where or (0, ())
        they_part = f"; they part at {part}" if part else ""
        law = missing(programs, found.apart)
        return f"different as formal expressions, at output {output}{list(entry)}{they_part}; {law}"
    if not found.within(error):
        bound = f"2^{found.log2_error:.0f}, wanted 2^{math.log2(error):.0f}"
        return f"equal at random points, but their degree is too large: the chance of error is {bound}"
    return ""


def _apart(found: FieldComparison, programs: Sequence[ClosedJaxpr]) -> Sequence[Sequence[JaxprEqn]]:
    """What each program computes and the other one never does; of one without any, how its result is made.

    All that a program computes may be an earlier value of the other one, as x + b is in (x + b) - b or 2 (x + b).
    """
    if found.where is None:
        return found.apart
    output = found.where[0]
    made = ([e for e in p.jaxpr.eqns if p.jaxpr.outvars[output] in e.outvars] for p in programs)
    return [apart or result for apart, result in zip(found.apart, made, strict=False)]


def _named(programs: Sequence[ClosedJaxpr], decisions: Iterable[JaxprEqn]) -> str:
    """The decisions by name, and their lines or those near them."""
    return ", ".join(sorted(set(map(lines_of(programs).named, decisions))))


def _assumptions(found: FieldComparison, seen: Seen) -> tuple[Assumption, ...]:
    kind = AssumptionKind
    made = [
        *of_constants(found.constants),
        *found.assumptions,
        Assumption(kind.WHERE_DEFINED),
        Assumption(kind.REAL_NUMBERS),
        Assumption(kind.RANDOM_PRIMES),
    ]
    if found.condition:
        made.append(Assumption(kind.RANDOM_EXPONENTS, {"condition": found.condition}))
    if found.constant:
        made.append(Assumption(kind.CONSTANT_FUNCTIONS))
    if found.undefined:
        made.append(Assumption(kind.UNDEFINED_ENTRIES, {"count": found.undefined}))
    if seen.reason:
        made.append(Assumption(kind.NO_SAMPLE, {"reason": seen.reason}))
    return tuple(made)
