"""Certificates about two functions decided again, from the file alone: the programs in it are data, never code."""

from __future__ import annotations

import contextlib
import dataclasses
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import pairwise
from typing import Any

import jax.numpy as jnp
import numpy as np
from flint import arb, fmpz
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.all_sizes import ALL_SIZES
from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.certificate import Certificate, one_line
from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.domain import REALS, domain_of
from uat_jax.decide.effort import MEMORY, Effort, deadline
from uat_jax.decide.equivalence import (
    Pair,
    certificate_of,
    examined,
    not_for_all_sizes,
    of_outside_functions,
    of_sizes,
)
from uat_jax.decide.expansion import raising
from uat_jax.decide.figures import (
    ARRAY_BY_ARRAY,
    FieldsOfFunctions,
    FieldsOfLoops,
    FieldsOfPieces,
    PieceFigures,
    PieceOfLoops,
    RefutedAtTies,
)
from uat_jax.decide.in_floats import in_floats
from uat_jax.decide.integers import WHOLE, Integers
from uat_jax.decide.lookups.real_pair import at_points
from uat_jax.decide.loops.pieces import MOST_TESTED
from uat_jax.decide.pieces import MOST_TESTS, log2_of_all
from uat_jax.decide.prime_fields import MOST_READINGS, Round
from uat_jax.decide.recheck_sizes import by_induction_again, proved_again, shown_by_few_again
from uat_jax.decide.side_by_side import SideBySide
from uat_jax.decide.specification import Sizes, Specification, hypothesis, parse, sizes_text, states_variable
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.decide.whole_programs import WholePair, first_difference, is_whole_program
from uat_jax.decide.witness import BITS, apart, separations
from uat_jax.errors import BudgetError, InputError, MemoryLimitError, MismatchError, UatJaxError, UnsupportedError
from uat_jax.interpret.canonical_form import depending
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.jaxpr_file import decode, digest
from uat_jax.numbers.balls.balls import Balls, UndecidedError, enclose
from uat_jax.numbers.prime_fields.error_bound import ATTEMPTS, log2_tests

BUDGET, EQUATIONS = 600.0, 10_000_000
"""The seconds a recheck may take where nothing else is said, and the equations it may evaluate: a short file can hold
loops that take hours."""

REPRODUCER = "# both programs stand in the certificate\n"
HOW_READ = (
    AssumptionKind.READ_AS,
    AssumptionKind.COMPLEX_NUMBERS,
    AssumptionKind.FAMILY,
    AssumptionKind.KERNELS,
    AssumptionKind.NO_ERROR,
    AssumptionKind.OUTSIDE_FUNCTION,
    AssumptionKind.STATIC_INPUT,
)
"""What is said of the programs, and not of the evidence."""

Again = Callable[[Certificate, Sequence[Pair], Specification, Effort], Evidence]

ALL_SIZES_AGAIN: Mapping[Method, Again] = {
    **dict.fromkeys((Method.INDEXED_NORMAL_FORM, Method.SOLVER, Method.ENUMERATION), proved_again),
    Method.INDUCTION: by_induction_again,
}
"""How a finding about all sizes, which stands alone, is found again."""

CLAIM = frozenset("id left right derivatives almost_everywhere inputs symbols sizes_listed programs".split())
PROGRAMS = frozenset("sizes left right left_digest right_digest".split())


def rechecked(certificate: Certificate) -> str:
    """What a recheck of two functions, or of a scan and its closed form, affirms, and what the file cannot show."""
    derivatives = certificate.claim.get("derivatives")
    what = "that they are values and derivatives" if derivatives else "that they are the functions"
    return f"rechecked were the programs in it, not {what} of that name"


def decide_again(
    given: Certificate, *, seed: int | None = None, budget: float | None = None, memory: float | str = MEMORY
) -> Certificate:
    """The certificate of the same question with fresh random numbers (``seed``; one more than before if None).

    ``budget``: seconds; ten minutes if None.  Whatever the time, no more than `EQUATIONS` equations are evaluated.
    ``memory``: as for `certify`.

    Raises:
        InputError: the file is damaged, or holds no programs.
        MismatchError: its digests or numbers do not fit, or another verdict is found.
        BudgetError: the time or the equations are used up.
        MemoryLimitError: it takes more memory than is allowed.
    """
    with hostile():
        return _decide_again(given, seed, deadline(budget, BUDGET, EQUATIONS, memory))


def _decide_again(given: Certificate, seed: int | None, end: Deadline) -> Certificate:
    if any(e.method is Method.BUDGET for e in given.evidence):
        raise InputError("the certificate was written when the time was up; certify both functions again")
    if any(e.method is Method.MEMORY for e in given.evidence):
        raise InputError("the certificate was written for want of memory; certify both functions again")
    _check_claim(given.claim)
    everywhere = {"almost_everywhere": given.claim["almost_everywhere"]}
    stated = Effort(given.settings["error"], given.settings["seed"], end, **everywhere)
    effort = dataclasses.replace(stated, seed=(stated.seed + 1) % 2**31 if seed is None else seed)
    complex_numbers = any(a.kind is AssumptionKind.COMPLEX_NUMBERS for a in given.assumptions)
    inputs = stated_inputs(given.claim)
    pairs = [_pair(data, given.claim, inputs, complex_numbers) for data in given.claim["programs"]]
    general = _about_all_sizes(given)
    if general is None:
        _check_subjects(given, [sizes_text(pair.sizes) for pair in pairs])
    _check_verdict(given)
    _check_raising(given, pairs)
    _check_outside_functions(given, pairs)
    if general is not None:
        _check_numbers(given, pairs, math.log2(stated.error / len(pairs)), end)
        evidence = [general(given, pairs, inputs, effort)]
        return _same_verdict(given, evidence, pairs, effort)
    by_few = given.evidence[-1].method is Method.CUT_OFF
    share = dataclasses.replace(effort, error=effort.error / len(pairs) / (2 if by_few else 1))
    _check_numbers(given, pairs, math.log2(stated.error / len(pairs)), end)
    evidence = [examined(pair, share, pair.search(share), lambda found: REPRODUCER) for pair in pairs]
    if any(e.method is Method.BUDGET for e in evidence):
        raise BudgetError(f"not decided again: {next(e.finding for e in evidence if e.method is Method.BUDGET)}")
    if any(e.method is Method.MEMORY for e in evidence):
        raise MemoryLimitError(f"not decided again: {next(e.finding for e in evidence if e.method is Method.MEMORY)}")
    if by_few:
        evidence.append(shown_by_few_again(given, pairs, evidence, inputs, share))
    else:
        evidence += not_for_all_sizes(given.claim["symbols"], given.claim["sizes_listed"], pairs, evidence, ())
    return _same_verdict(given, evidence, pairs, effort)


def _about_all_sizes(given: Certificate) -> Again | None:
    """How the only finding is found again, if it is about all sizes."""
    if [e.subject for e in given.evidence] != [ALL_SIZES]:
        return None
    if not given.claim["symbols"] or given.claim["sizes_listed"]:
        raise MismatchError("the certificate is about all sizes, and says that sizes are listed or that there are none")
    return ALL_SIZES_AGAIN.get(given.evidence[0].method)


def _same_verdict(given: Certificate, evidence: list[Evidence], pairs: Sequence[Pair], effort: Effort) -> Certificate:
    """The certificate of what is found again, which is what was said and assumes nothing new."""
    assumptions = [*_of_inputs(given), *of_sizes(given.claim, combine(evidence), evidence)]
    found = certificate_of(given.claim, combine(evidence), evidence, assumptions, effort, in_floats(pairs))
    if found.verdict is not given.verdict:
        raise MismatchError(f"the certificate says {given.verdict}; decided again it is {found.verdict}")
    if found.passes:
        check_nothing_new(given.evidence, evidence)
    _check_ties(given.evidence, evidence)
    return found


@contextlib.contextmanager
def hostile() -> Iterator[None]:
    """Whatever a program of a file makes JAX raise inside is the error of a damaged file."""
    try:
        yield
    except UatJaxError:
        raise
    except Exception as error:
        raise damaged(f"{type(error).__name__}: {one_line(error)}") from error


def damaged(what: str) -> InputError:
    """The error of a file that `uat_jax` did not write so."""
    return InputError(f"the certificate is damaged: {what}; take the file as uat_jax wrote it")


# What is asked


def _check_claim(claim: Mapping[str, Any]) -> None:
    """Names that can be shown to a person, and a list of programs."""
    if set(claim) == CLAIM - {"almost_everywhere", "sizes_listed"}:
        raise InputError(
            "the certificate is of an older uat_jax, which did not say whether almost everywhere was meant; "
            "certify both functions again"
        )
    flags = ("derivatives", "almost_everywhere", "sizes_listed")
    if set(claim) - {"all_sizes"} != CLAIM or not all(type(claim[flag]) is bool for flag in flags):
        raise damaged(f"its claim has not the fields {', '.join(sorted(CLAIM))}")
    lists = (claim["inputs"], claim["symbols"], claim["programs"])
    if not all(isinstance(x, list | tuple) for x in lists) or not claim["programs"]:
        raise damaged("its inputs, symbols and programs are not lists, or it compares no programs")
    names = (claim["left"], claim["right"], *claim["inputs"], *claim["symbols"])
    if not all(isinstance(name, str) and name.isprintable() for name in names):
        raise damaged("a name in it is no readable text")
    sizes = [data["sizes"] for data in claim["programs"]]
    if any(a == b for i, a in enumerate(sizes) for b in sizes[:i]):
        raise damaged("it compares programs of the same sizes twice")


def _pair(data: Mapping[str, Any], claim: Mapping[str, Any], inputs: Specification, complex_numbers: bool) -> Pair:
    if "missing" in data:
        raise InputError(
            f"the certificate holds no programs ({one_line(data['missing'])}); certify both functions again"
        )
    if set(data) != PROGRAMS:
        raise damaged(f"a pair of programs has not the fields {', '.join(sorted(PROGRAMS))}")
    sizes = data["sizes"]
    if sorted(sizes) != sorted(claim["symbols"]) or not all(type(n) is int and n > 0 for n in sizes.values()):
        raise damaged("its sizes are not whole numbers, one for each symbolic dimension")
    left, right = decode(data["left"]), decode(data["right"])
    for side in ("left", "right"):
        if digest(data[side]) != data[f"{side}_digest"]:
            raise MismatchError(f"the {side} program is not the one whose digest stands in the certificate")
    _check_types(left, right, claim, inputs, sizes)
    return Pair(dict(sizes), left, right, inputs.domains, complex_numbers=complex_numbers)


def _check_types(
    left: ClosedJaxpr, right: ClosedJaxpr, claim: Mapping[str, Any], inputs: Specification, sizes: Sizes
) -> None:
    """Both programs take the stated inputs, and return floating-point arrays of the same shapes."""
    if (left.in_avals, left.out_avals) != (right.in_avals, right.out_avals):
        raise damaged("its programs have different inputs or outputs")
    whole = WHOLE if inputs.whole else frozenset()
    known = lambda dtype: jnp.issubdtype(dtype, jnp.floating) or str(dtype) in whole
    outputs = [known(aval.dtype) and 0 not in aval.shape for aval in left.out_avals]
    if not outputs or not all(outputs):
        raise damaged(f"its programs do not return {'arrays of numbers' if whole else 'floating-point arrays'}")
    _check_inputs(left, claim, inputs, sizes)
    if claim["derivatives"] and not all(map(_may_be_derivative, (left, right))):
        raise MismatchError("the programs in the certificate cannot be values and derivatives, as it says they are")


def _may_be_derivative(program: ClosedJaxpr) -> bool:
    """Whether a program takes (x, c) to (y, d), c of the types of y and d of those of x, and y does not depend on c.

    That is the form of values and cotangents.  Whether d is the derivative cannot be read from it: a function may
    come with a derivative of its own.
    """
    taken, given = ([(aval.shape, aval.dtype) for aval in avals] for avals in (program.in_avals, program.out_avals))
    for count in range(1, len(taken)):
        values = len(taken) - count
        if taken[values:] == given[:count] and taken[:values] == given[count:]:
            return not any(depending(program, range(values, len(taken)))[:count])
    return False


def _check_inputs(program: ClosedJaxpr, claim: Mapping[str, Any], inputs: Specification, sizes: Sizes) -> None:
    """The stated inputs, with the symbolic dimensions evaluated, are those of the program."""
    if sorted(claim["symbols"]) != list(inputs.symbols):
        raise MismatchError("the symbolic dimensions in the certificate are not those of its inputs")
    wanted = [(leaf.shape, leaf.dtype) for leaf in inputs.at(sizes)]
    if wanted != [(aval.shape, aval.dtype) for aval in program.in_avals]:
        raise MismatchError("the inputs in the certificate are not those of its programs")


def stated_inputs(claim: Mapping[str, Any]) -> Specification:
    """The variables that the claim states, with their domains."""
    return Specification(parse(*filter(states_variable, claim["inputs"])))


# What is said


def _check_subjects(given: Certificate, subjects: list[str]) -> None:
    """There is evidence for each pair of programs, and what it does not show is said where sizes are not listed."""
    alone = [e for e in given.evidence if e.subject != ALL_SIZES]
    if [e.subject for e in alone] != subjects:
        raise MismatchError("the certificate's evidence is not about its programs")
    open_question = bool(given.claim["symbols"]) and not given.claim["sizes_listed"]
    passes = combine(alone) in (Verdict.PROVED, Verdict.CERTIFIED)
    others = [e for e in given.evidence if e.subject == ALL_SIZES]
    known = [(Method.SIZES, Verdict.AGREES), (Method.CUT_OFF, Verdict.CERTIFIED)]
    last = [e.subject for e in given.evidence] == [*subjects, *(ALL_SIZES for _ in others)]
    stated = last and all((e.method, e.verdict) in known for e in others)
    if not stated or len(others) != (open_question and passes):
        raise MismatchError("the certificate does not state the sizes at which its programs were compared")


def _check_verdict(given: Certificate) -> None:
    """Verdict, evidence, counterexample and assumptions tell the same story."""
    found = combine(given.evidence)
    passes = found in (Verdict.PROVED, Verdict.CERTIFIED)
    if (given.verdict, given.passes, given.expected) != (found, passes, Verdict.CERTIFIED):
        raise MismatchError(f"the certificate says {given.verdict}, which is not what its evidence says: {found}")
    if any(e.example is not None for e in given.evidence) != (found is Verdict.REFUTED):
        raise MismatchError("a certificate has a counterexample if it says REFUTED, and only then")
    wanted = {*_of_inputs(given), *of_sizes(given.claim, found, given.evidence)}
    for assumption in wanted - set(given.assumptions):
        raise MismatchError(f"the certificate does not state an assumption of its evidence: {one_line(assumption)}")
    for assumption in set(given.assumptions) - wanted:
        raise MismatchError(f"the certificate states what its evidence does not assume: {one_line(assumption)}")


def _of_inputs(given: Certificate) -> list[Assumption]:
    """What is about the question and not its answer: fixed integers, domains of others, how programs were made.

    That the parameters of a program stand for an array of a set, or that a program stands for another one, cannot be
    seen in the file: the stored programs are what is decided again.
    """
    fixed = [a for a in given.assumptions if a.kind is AssumptionKind.FIXED_INPUT]
    integers = [i for i, text in enumerate(given.claim["inputs"]) if not states_variable(text)]
    if [a.about["position"] for a in fixed] != integers:
        raise MismatchError("the certificate does not say of each of its integer inputs that it is fixed")
    domains = [a for a in given.assumptions if a.kind in (AssumptionKind.DOMAIN, AssumptionKind.INTEGERS)]
    stated = [(i, parse(text)[0]) for i, text in enumerate(given.claim["inputs"]) if states_variable(text)]
    wanted = [(i, domain_of(leaf)) for i, leaf in stated if domain_of(leaf) != REALS]
    said = [hypothesis(i, "", domain) for i, domain in wanted]
    if [_with(a, {"name": "", **({"read_off": False} if "read_off" in a.about else {})}) for a in domains] != said:
        raise MismatchError("the domains that the certificate assumes are not those of its inputs")
    return fixed + domains + [a for a in given.assumptions if a.kind in HOW_READ]


def _with(assumption: Assumption, fields: Mapping[str, Any]) -> Assumption:
    """An assumption with some other fields."""
    return dataclasses.replace(assumption, about={**assumption.about, **fields})


def _check_raising(given: Certificate, pairs: Sequence[Pair]) -> None:
    """A side is said to raise errors exactly if its program does; the lines are not known of a program from a file."""
    stated = {a.about["side"] for a in given.assumptions if a.kind is AssumptionKind.NO_ERROR}
    found = {side for pair in pairs for side in ("left", "right") if any(raising(getattr(pair, side)))}
    if stated != found:
        raise MismatchError("the certificate does not say which of its programs raise an error for some inputs")


def _check_outside_functions(given: Certificate, pairs: Sequence[Pair]) -> None:
    """It is said of every function outside of JAX that a program calls that it is one, and of no other."""
    stated = {a for a in given.assumptions if a.kind is AssumptionKind.OUTSIDE_FUNCTION}
    if stated != set(of_outside_functions(pairs)):
        raise MismatchError("the certificate does not say which functions outside of JAX its programs call")


def check_nothing_new(given: Sequence[Evidence], found: Sequence[Evidence]) -> None:
    """What is assumed now is what was assumed before, but for the condition of the bound, which the draw decides.

    Why float64 could not look may name a line, which programs from a file do not know.
    """
    for old, new in zip(given, found, strict=True):
        may_differ = {AssumptionKind.RANDOM_EXPONENTS}
        may_differ |= {a.kind for a in old.assumptions if a.kind is AssumptionKind.NO_SAMPLE}
        for assumption in set(new.assumptions) - set(old.assumptions):
            if assumption.kind not in may_differ:
                raise MismatchError(f"decided again it assumes what the certificate does not: {one_line(assumption)}")


def _check_ties(given: Sequence[Evidence], found: Sequence[Evidence]) -> None:
    """What is said to be equal almost everywhere, beside a counterexample at a tie, is found to be so again."""
    said, again = (any(isinstance(e.figures, RefutedAtTies) for e in evidence) for evidence in (given, found))
    if said and not again:
        raise MismatchError("the certificate says equal almost everywhere, which is not found again")


def _check_numbers(given: Certificate, pairs: list[Pair], log2_error: float, end: Deadline) -> None:
    """The stated chance of error is that of the rounds, and small enough; the counterexample is one."""
    for evidence in given.evidence:
        if evidence.verdict is Verdict.CERTIFIED and (evidence.method, evidence.subject) != (Method.CUT_OFF, ALL_SIZES):
            _check_rounds(evidence, log2_error, given.claim["almost_everywhere"])
    if given.counterexample is not None:
        check_counterexample(given.counterexample, pairs[0], end)


def _check_rounds(evidence: Evidence, log2_error: float, almost_everywhere: bool) -> None:
    """The stated chance of error is that of the rounds of a comparison, and small enough."""
    figures = evidence.figures
    if isinstance(figures, FieldsOfLoops):
        return check_loops(evidence.method, figures, log2_error)
    if isinstance(figures, FieldsOfPieces):
        return _check_pieces(evidence.method, figures, log2_error)
    if not isinstance(figures, FieldsOfFunctions):
        raise MismatchError("what the certificate calls CERTIFIED has not the figures of a comparison in prime fields")
    if figures.almost_everywhere and not almost_everywhere:
        raise MismatchError("the certificate claims equality everywhere, and its evidence is about almost everywhere")
    if not 1 <= figures.readings <= MOST_READINGS:
        raise damaged(f"{figures.readings} readings")
    total = sum(r.bound.log2 for r in figures.rounds) + math.log2(2 * figures.readings)
    if (
        evidence.method is not Method.PRIME_FIELDS
        or not _at_least(figures.log2_error, total)
        or figures.log2_error > log2_error
    ):
        raise MismatchError(
            "the chance of error in the certificate is not that of its rounds, or not as small as asked"
        )
    conditions = [r.bound.condition for r in figures.rounds if r.bound.condition]
    if (figures.condition, figures.theorem) != ((conditions or [""])[0], not conditions):
        raise MismatchError("the condition of the chance of error in the certificate is not that of its rounds")
    for r in figures.rounds:
        _check_round(r)


def _at_least(stated: float, of_rounds: float) -> bool:
    """Whether log₂ of a stated chance of error is no less than that of its rounds.

    It may be more: the chance that two numbers of which a law asks whether they are equal are so by chance is added.
    """
    return stated >= of_rounds - 1e-6


def check_loops(method: Method, figures: FieldsOfLoops, log2_error: float, relations: int = 1) -> None:
    """The stated chance of error is that of the comparisons in a proof by induction, and small enough.

    relations: the least number of relations that were tried.
    """
    compared = [piece for piece in figures.pieces if piece.rounds]
    if not compared or not len(compared) <= figures.tests <= MOST_TESTED or figures.relations < relations:
        raise damaged(f"{figures.tests} tests of {len(compared)} pieces, {figures.relations} relations")
    if method is not Method.INDUCTION:
        raise MismatchError("the certificate does not call a proof about loops an induction")
    _check_errors(figures, compared, log2_error)


def _check_pieces(method: Method, figures: FieldsOfPieces, log2_error: float) -> None:
    """The stated chance of error is that of the tests of pieces, and small enough."""
    if not 1 <= len(figures.pieces) <= figures.tests <= MOST_TESTS:
        raise damaged(f"{figures.tests} tests of {len(figures.pieces)} pieces")
    if any(piece.count < 1 for piece in figures.pieces):
        raise damaged("a piece that occurs nowhere")
    if figures.way not in (None, ARRAY_BY_ARRAY):
        raise damaged(f"'{figures.way}' for a way to compare pieces")
    if method is not Method.PRIME_FIELDS:
        raise MismatchError("the certificate does not call a comparison in pieces one in prime fields")
    _check_errors(figures, figures.pieces, log2_error)


def _check_errors(
    figures: FieldsOfPieces | FieldsOfLoops, pieces: Sequence[PieceFigures | PieceOfLoops], log2_error: float
) -> None:
    """The chance of error of every piece is that of its rounds, and that of all is Theorem P's."""
    for piece in pieces:
        if not 1 <= piece.readings <= MOST_READINGS:
            raise damaged(f"{piece.readings} readings of a piece")
        stated = sum(r.bound.log2 for r in piece.rounds) + math.log2(2 * piece.readings)
        if not _at_least(piece.log2_error, stated):
            raise MismatchError("the chance of error of a piece in the certificate is not that of its rounds")
        for r in piece.rounds:
            _check_round(r)
    total = log2_of_all(figures.tests, max(piece.log2_error for piece in pieces))
    if not math.isclose(total, figures.log2_error, abs_tol=1e-6) or figures.log2_error > log2_error:
        raise MismatchError(
            "the chance of error in the certificate is not that of its pieces, or not as small as asked"
        )
    conditions = [r.bound.condition for piece in pieces for r in piece.rounds if r.bound.condition]
    if (figures.condition, figures.theorem) != ((conditions or [""])[0], not conditions):
        raise MismatchError("the condition of the chance of error in the certificate is not that of its pieces")


def _check_round(r: Round) -> None:
    counts = [*r.primes, *r.copies, *r.applications, r.bound.degree]
    whole = all(0 <= n < 2**62 for n in counts)
    if not whole or not 1 <= len(r.primes) == len(r.copies) == len(r.applications):
        raise damaged("primes, copies, applications and degrees are not whole numbers, one for each level")
    tower = all(p > q and (p - 1) % q == 0 for p, q in pairwise(r.primes))
    if not tower or not all(fmpz(p).is_prime() for p in r.primes):
        raise MismatchError(f"the numbers {list(r.primes[:3])} in the certificate are no tower of primes")
    if not r.bound.log2 >= _best(r.primes[0], r.copies[0], r.applications, r.bound.degree):
        raise MismatchError("the chance of error in the certificate is less than its primes and copies allow")


def _best(prime: int, copies: int, applications: Sequence[int], degree: int) -> float:
    """log₂ of the least chance of error that a round of such numbers can have: two terms of Theorem E."""
    outputs = copies * min(0.0, math.log2(max(degree, 1) * (1 / prime + 2.0**-52)))
    return math.log2(ATTEMPTS) + max(outputs, *(log2_tests(applied) - 120 for applied in applications))


def check_counterexample(found: Counterexample, pair: Pair, end: Deadline) -> None:
    """Ball arithmetic separates both programs at the stated input, and finds the stated values."""
    if pair.domains.whole:
        return _check_integers(found, pair, end)
    arrays = [np.asarray(x.values, np.float64) for x in found.inputs]
    if len(arrays) == len(pair.left.in_avals) and not pair.domains.contain([x[None] for x in arrays]).all():
        raise MismatchError("the counterexample in the certificate is outside the domain of its inputs")
    wanted = [(aval.shape, str(aval.dtype)) for aval in pair.left.in_avals]
    stated = [(array.shape, x.dtype) for array, x in zip(arrays, found.inputs, strict=True)]
    if stated != wanted or found.sizes != pair.sizes:
        raise MismatchError("the counterexample in the certificate does not fit its programs")
    if not all(_representable(x, aval.dtype) for x, aval in zip(arrays, pair.left.in_avals, strict=True)):
        raise MismatchError("the counterexample in the certificate is not made of finite numbers of its dtypes")
    values = [Balls().number(x) for x in arrays]
    there = [
        separation
        for separation in separations(pair.left, pair.right, values, bits=BITS, deadline=end)
        if (separation.output, separation.entry) == (found.output, found.entry)
    ]
    if not there:
        raise MismatchError(_why_not_apart(found, pair, values, end))
    texts = [arb(text) for text in found.exact]
    if _alike(*texts) or not all(map(_alike, texts, (there[0].left, there[0].right))):
        raise MismatchError("the values at the counterexample are not those in the certificate")


def _check_integers(found: Counterexample, pair: Pair, end: Deadline) -> None:
    """Both programs have the stated values at the stated input, of which some entries are integers."""
    pair = dataclasses.replace(pair, left=inlined(pair.left), right=inlined(pair.right))
    avals = pair.left.in_avals
    if [(np.shape(x.values), x.dtype) for x in found.inputs] != [(aval.shape, str(aval.dtype)) for aval in avals]:
        raise MismatchError("the counterexample in the certificate does not fit its programs")
    ranges = [pair.domains[i] for i in range(len(avals))]
    within = lambda x, of: bool(of.contains(np.asarray(x.values, object if isinstance(of, Integers) else float)[None]))
    if not all(map(within, found.inputs, ranges)):
        raise MismatchError("the counterexample in the certificate is outside the domain of its inputs")
    if is_whole_program(pair.left) and is_whole_program(pair.right):
        whole = WholePair(pair.left, pair.right, tuple(ranges), end)
        output, entry, left, right = first_difference(whole, found.arrays) or (None, (), 0, 0)
        if (output, entry, (str(left), str(right))) != (found.output, tuple(found.entry), tuple(found.exact)):
            raise MismatchError("the values at the counterexample are not those in the certificate")
        return
    integers = [x for x, of in zip(found.inputs, ranges, strict=True) if isinstance(of, Integers)]
    rows = at_points(pair.left, pair.right, pair.domains, [tuple(x.array for x in integers)], end)
    if rows is not None and not rows[0].rows_elsewhere:
        there, (left, right) = rows[0].placed(found), rows[1]
        real = dataclasses.replace(pair, left=left, right=right, domains=rows[0].domains())
        return check_counterexample(there, real, end)
    reals = [x for x, of in zip(found.inputs, ranges, strict=True) if not isinstance(of, Integers)]
    beside = SideBySide(pair.left, pair.right, pair.domains, tuple(x.array[None] for x in integers))
    left, right = beside.programs()
    alone = (Input("", 0.0, "float32"),) if beside.alone else ()
    there = dataclasses.replace(found, inputs=(*reals, *alone), entry=(0, *found.entry))
    real = dataclasses.replace(pair, left=left, right=right, domains=beside.real_domains())
    check_counterexample(there, real, end)


def _why_not_apart(found: Counterexample, pair: Pair, values: Sequence[np.ndarray], end: Deadline) -> str:
    """Why ball arithmetic does not separate both programs at the stated input."""
    try:
        a, b = (enclose(p, values, deadline=end)[found.output][found.entry] for p in (pair.left, pair.right))
    except (UndecidedError, UnsupportedError) as error:
        return f"no exact values at the counterexample in the certificate: {one_line(error)}"
    if not apart(a, b):
        return "at the counterexample in the certificate both programs have the same value"
    return "rounding of constants explains the difference at the counterexample in the certificate"


def _alike(one: arb, other: arb) -> bool:
    """Whether two balls can be the same value; NaN is NaN."""
    return one.is_nan() == other.is_nan() and (one.is_nan() or one.overlaps(other))


def _representable(array: np.ndarray, dtype: np.dtype) -> bool:
    """Whether all entries are finite numbers of a dtype."""
    with np.errstate(over="ignore", invalid="ignore"):
        return bool(np.isfinite(array).all() and (array.astype(dtype).astype(np.float64) == array).all())
