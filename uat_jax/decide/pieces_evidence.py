"""A comparison in pieces as evidence."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from dataclasses import replace

from jax.extend.core import ClosedJaxpr

from uat_jax.decide.array_by_array import compared_in_every_way
from uat_jax.decide.assumption import Assumption, AssumptionKind, of_constants
from uat_jax.decide.difference import Part, difference
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import (
    ARRAY_BY_ARRAY,
    FieldsOfPieces,
    Parted,
    PieceFigures,
    PieceInNormalForm,
    PiecesInNormalForm,
)
from uat_jax.decide.missing import advised, missing
from uat_jax.decide.pieces import Compared, Piece, WidePiece, compared
from uat_jax.decide.sampling import Seen, sample
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decide.wide import check_in_time
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import depending
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.interpret.work import equations
from uat_jax.numbers.prime_fields.footprint import entries_computed
from uat_jax.numbers.prime_fields.prime_field import limbs_in_use

MANY_EQUATIONS, MANY_ENTRIES = 300, 1 << 18
"""Programs with more equations, or with more entries computed, are large."""

HUGE = 1 << 18
"""Programs in which more entries are computed are not compared as a whole."""

DERIVATION = (
    "Theorem P of docs/soundness.md: 8 times the number of tests times the largest chance of error of a piece, each of "
    "them by Theorem E"
)


SAME = "both are the same program after renaming, inlining and unrolling, one piece after the other"
"""What is said of programs all pieces of which are identical."""


def is_large(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    """Whether two programs are compared in pieces before they are compared as a whole."""
    jaxprs = (left.jaxpr, right.jaxpr)
    return sum(map(equations, jaxprs)) > MANY_EQUATIONS or sum(map(entries_computed, jaxprs)) > MANY_ENTRIES


def varies(program: ClosedJaxpr) -> bool:
    """Whether a program that is not followed as a whole may depend on its inputs."""
    try:
        return any(depending(program, range(len(program.in_avals))))
    except UnsupportedError:
        return True


def is_huge(left: ClosedJaxpr, right: ClosedJaxpr) -> bool:
    """Whether two programs are compared in pieces only."""
    return entries_computed(left.jaxpr) + entries_computed(right.jaxpr) > HUGE


def pieces_evidence(
    left: ClosedJaxpr, right: ClosedJaxpr, seen: Seen, effort: Effort, domains: Domains = EVERYWHERE
) -> Iterator[Evidence]:
    """PROVED if all pieces are identical, CERTIFIED with the chance of error, or UNKNOWN with the reason.

    That is where the programs part, or why they cannot be cut.  One finding comes after the other, of longer and longer
    comparisons, until one shows equality.
    """
    ways = compared_in_every_way(
        left, right, effort, domains=domains, thoroughly=not seen.apart, arrays_first=is_huge(left, right)
    )
    return (_finding(found, (left, right), seen) for found in ways)


def _finding(found: Compared | UnsupportedError, programs: tuple[ClosedJaxpr, ClosedJaxpr], seen: Seen) -> Evidence:
    if isinstance(found, UnsupportedError):
        return Evidence(Method.PRIME_FIELDS, advised(str(found), programs), Verdict.UNKNOWN)
    if not found.equal:
        lacking = "" if seen.apart else f"; {missing(programs)}"
        return Evidence(Method.PRIME_FIELDS, f"{found.parting}{lacking}", Verdict.UNKNOWN, Parted(found.parting))
    if found.pieces:
        return _certified(found, seen)
    if found.wide:
        return _proved(found)
    return Evidence(Method.IDENTITY, SAME + _compared_so(found), Verdict.PROVED)


def difference_evidence(
    left: ClosedJaxpr, right: ClosedJaxpr, effort: Effort, domains: Domains = EVERYWHERE
) -> Evidence | None:
    """That the part in which two large programs differ is equal, and all else the same; None if that is not shown.

    Raises:
        BudgetError: the deadline is over.
        MemoryLimitError: it takes more memory than is allowed.
    """
    try:
        found = difference(left, right, domains, effort.deadline, lambda part: _is_sure(part, effort))
        if found is None:
            return None
        effort.progress("comparing the part in which both functions differ")
        check_in_time(found.part.programs, effort)
        seen = sample(*found.part.programs, effort.seed, effort.deadline, found.part.domains)
        if seen.suspects or seen.seen.reason or not any(map(varies, found.part.programs)):
            return None
        equal = compared(*found.part.programs, effort, domains=found.part.domains, sure=True)
    except UnsupportedError:
        return None
    if not equal.equal or not equal.found:
        return None
    evidence = _certified(equal, seen.seen) if equal.pieces else _proved(equal)
    same = f"; {found.equations:,} equations beside these are the same on both sides"
    return replace(evidence, finding=evidence.finding + same)


def _is_sure(part: Part, effort: Effort) -> bool:
    """Whether a program, which stands on both sides, is seen to be a number for all inputs."""
    with contextlib.suppress(UnsupportedError):
        return compared(*part.programs, effort, domains=part.domains, thoroughly=False, sure=True).equal
    return False


def _proved(found: Compared) -> Evidence:
    """The proof that two programs are equal, where every piece that is not identical has one normal form."""
    wide = tuple(map(_wide, found.wide))
    finding = f"equal in {sum(p.count for p in wide)} pieces with one normal form each, and others that are identical"
    figures = PiecesInNormalForm(wide, _way(found))
    return Evidence(Method.INDEXED_NORMAL_FORM, finding + _compared_so(found), Verdict.PROVED, figures)


def _way(found: Compared) -> str | None:
    """The name of the way in which programs were compared, if it is not the usual one."""
    return ARRAY_BY_ARRAY if found.by_arrays else None


def _compared_so(found: Compared) -> str:
    """How programs were compared that were not cut into pieces one behind the other, as the end of a finding."""
    way = _way(found)
    return f"; compared {way}" if way else ""


def _certified(found: Compared, seen: Seen) -> Evidence:
    figures = FieldsOfPieces(
        found.log2_error,
        not found.condition,
        limbs_in_use(),
        derivation=DERIVATION,
        condition=found.condition,
        constants=found.constants,
        pieces=tuple(map(_figures, found.pieces)),
        tests=found.tests,
        sample=seen,
        wide=tuple(map(_wide, found.wide)) or None,
        way=_way(found),
    )
    kind = f"conditional: {found.condition}" if found.condition else "a theorem"
    number = sum(piece.count for piece in (*found.pieces, *found.wide))
    finding = (
        f"equal except with probability 2^{found.log2_error:.0f} ({kind}), in {number} pieces, "
        f"{len(found.found)} of them different"
    )
    if found.wide:
        finding += f"; {len(found.wide)} of these are too wide to be evaluated, and have one normal form"
    finding += _compared_so(found)
    return Evidence(Method.PRIME_FIELDS, finding, Verdict.CERTIFIED, figures, _assumptions(found, seen))


def _figures(piece: Piece) -> PieceFigures:
    found = piece.found
    digests = tuple(digest(encode(program)) for program in piece.programs)
    return PieceFigures(
        *piece.lines,
        equations=piece.equations,
        count=piece.count,
        seconds=round(piece.seconds, 3),
        digests=(digests[0], digests[1]),
        log2_error=found.log2_error,
        readings=found.readings,
        laws=found.laws,
        rounds=found.rounds,
    )


def _wide(piece: WidePiece) -> PieceInNormalForm:
    digests = tuple(digest(encode(program)) for program in piece.programs)
    return PieceInNormalForm(
        *piece.lines,
        equations=piece.equations,
        count=piece.count,
        seconds=piece.proof.seconds,
        digests=(digests[0], digests[1]),
        divisors=piece.proof.proof.divisors,
        lengths=piece.proof.lengths,
        reason=piece.proof.reason,
    )


def _assumptions(found: Compared, seen: Seen) -> tuple[Assumption, ...]:
    kind = AssumptionKind
    made = [
        *of_constants(found.constants),
        *dict.fromkeys(a for piece in found.pieces for a in piece.found.assumptions),
        Assumption(kind.WHERE_DEFINED),
        Assumption(kind.REAL_NUMBERS),
        Assumption(kind.RANDOM_PRIMES),
    ]
    if found.condition:
        made.append(Assumption(kind.RANDOM_EXPONENTS, {"condition": found.condition}))
    undefined = sum(piece.count * piece.found.undefined for piece in found.pieces)
    if undefined:
        made.append(Assumption(kind.UNDEFINED_ENTRIES, {"count": undefined}))
    if seen.reason:
        made.append(Assumption(kind.NO_SAMPLE, {"reason": seen.reason}))
    return tuple(made)
