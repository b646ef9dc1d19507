"""A proof about loops that are not unrolled as evidence."""

from __future__ import annotations

import dataclasses
import math

from jax.extend.core import ClosedJaxpr, Jaxpr

from uat_jax.decide.assumption import Assumption, AssumptionKind, of_constants
from uat_jax.decide.domain import Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import FieldsOfLoops
from uat_jax.decide.loops.bisimulation import loops_compared
from uat_jax.decide.loops.pieces import PieceError, Pieces
from uat_jax.decide.loops.side import LEAST
from uat_jax.decide.pieces_evidence import DERIVATION
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import depending
from uat_jax.interpret.interpreter import called, inner_programs
from uat_jax.numbers.prime_fields.prime_field import limbs_in_use
from uat_jax.numbers.prime_fields.residues import ZeroDivisorError

LONG = 16
"""Loops of at least so many steps are first compared without being unrolled."""

Programs = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both programs."""

UNROLLED = 400_000
"""Programs that take more equations than this when their loops are unrolled are not."""


@dataclasses.dataclass(frozen=True)
class Loops:
    """What was found out about the loops of two programs.

    evidence: that the programs are equal, or None.  reason: why that is not shown, '' where there are no long loops.
    """

    evidence: Evidence | None = None
    reason: str = ""


def of_loops(left: ClosedJaxpr, right: ClosedJaxpr, effort: Effort, domains: Domains) -> Loops:
    """PROVED or CERTIFIED for two programs whose long loops keep their carries related.

    Raises:
        BudgetError: the time is up.
    """
    if not (_longest(left) >= LONG and _longest(right) >= LONG):
        return Loops()
    effort.progress("comparing the loops step by step")
    try:
        everything = range(len(left.jaxpr.invars))
        if not all(any(depending(program, everything)) for program in (left, right)):
            return Loops(reason="a function does not depend on its inputs")
        return Loops(evidence_of(loops_compared(left, right, effort, domains).pieces, effort))
    except (PieceError, UnsupportedError, ZeroDivisorError) as error:
        return Loops(reason=str(error))


def for_all_sizes(at: Programs, symbolic: Programs, effort: Effort, domains: Domains) -> Evidence | None:
    """PROVED or CERTIFIED for loops of symbolic length, or None.

    ``at``: both programs at sizes at which the loops are long; their relations are proved again with ``symbolic`` ones.

    Raises:
        BudgetError: the time is up.
    """
    if not all(_longest(program) >= LEAST for program in at):
        return None
    try:
        plan = loops_compared(*at, effort, domains)
        return evidence_of(loops_compared(*symbolic, effort, domains, plan).pieces, effort)
    except (PieceError, UnsupportedError, ZeroDivisorError):
        return None


def evidence_of(pieces: Pieces, effort: Effort) -> Evidence:
    """PROVED, or CERTIFIED with the chance of error.

    Raises:
        PieceError: that chance is larger than allowed.
    """
    if pieces.log2_error > math.log2(effort.error):
        raise PieceError(f"the chance of error of all pieces is 2^{pieces.log2_error:.0f}")
    compared = [piece for piece in pieces.found if piece.rounds]
    figures = FieldsOfLoops(
        pieces.log2_error,
        not pieces.condition,
        limbs_in_use(),
        derivation=DERIVATION,
        condition=pieces.condition,
        constants=tuple(sorted(pieces.constants)),
        pieces=tuple(pieces.found),
        relations=pieces.attempts,
        tests=pieces.tested,
    )
    steps = f"equal by induction over the steps of their loops, in {len(pieces.found)} pieces"
    if not compared:
        return Evidence(Method.INDUCTION, f"{steps} that are the same programs", Verdict.PROVED, figures)
    kind = f"conditional: {figures.condition}" if figures.condition else "a theorem"
    finding = f"{steps}, except with probability 2^{pieces.log2_error:.0f} ({kind})"
    return Evidence(Method.INDUCTION, finding, Verdict.CERTIFIED, figures, _assumptions(pieces))


def _assumptions(pieces: Pieces) -> tuple[Assumption, ...]:
    kind = AssumptionKind
    made = [
        *of_constants(sorted(pieces.constants)),
        *pieces.assumptions,
        Assumption(kind.WHERE_DEFINED),
        Assumption(kind.REAL_NUMBERS),
        Assumption(kind.RANDOM_PRIMES),
    ]
    if pieces.condition:
        made.append(Assumption(kind.RANDOM_EXPONENTS, {"condition": pieces.condition}))
    if pieces.undefined:
        made.append(Assumption(kind.UNDEFINED_ENTRIES, {"count": pieces.undefined}))
    return tuple(made)


def has_loop(program: ClosedJaxpr) -> bool:
    """Whether there is a loop outside of others."""
    return _longest(program) > 0


def _longest(program: ClosedJaxpr | Jaxpr) -> float:
    """The steps of the longest loop outside of others; a `while` may be of any length."""
    found = 0.0
    for equation in program.eqns:
        function = called(equation)
        if function is not None:
            found = max(found, _longest(function))
        elif equation.primitive.name in ("scan", "while"):
            found = max(found, equation.params.get("length", math.inf))
    return found


def unrolled(program: ClosedJaxpr | Jaxpr) -> int:
    """How many equations are evaluated if loops of known length are unrolled; of others one round."""
    count = 0
    for equation in program.eqns:
        rounds = equation.params["length"] if equation.primitive.name == "scan" else 1
        count += 1 + rounds * sum(map(unrolled, inner_programs(equation)))
    return count


def too_long(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    """Whether two programs are too long to be compared with their loops unrolled."""
    return max(map(unrolled, (left, right))) > UNROLLED
