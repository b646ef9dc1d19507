"""Are two JAX functions the same function?  Certified, refuted by an input, or unknown with the reason."""

from __future__ import annotations

import dataclasses
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.field_functions import LAWS
from uat_jax.arithmetic.jaxpr_file import digest, encode
from uat_jax.certify.agreement import agreement
from uat_jax.certify.certificate import Certificate, environment
from uat_jax.certify.derivative import pulled_back
from uat_jax.certify.prime_fields import FieldComparison, PrimeFields
from uat_jax.certify.reproducer import reproducer
from uat_jax.certify.sampling import Sample, sample
from uat_jax.certify.specification import (
    Sizes,
    Specification,
    common_sizes,
    name_of,
    same_outputs,
    sizes_text,
    traced,
)
from uat_jax.certify.verdict import Evidence, Verdict, combine
from uat_jax.certify.witness import Witness, find, smallest
from uat_jax.errors import BudgetError, InputError, NotEquivalentError, UatJaxError, UnsupportedError

KIND = "equivalence"
ERROR = 2.0**-128
POINTS, DIGITS = 4, 30
LARGE = 20_000
"""Programs with larger intermediate arrays are not compared in balls."""


@dataclass(frozen=True)
class Question:
    """Two functions and the inputs on which they are compared.

    error: the largest chance of a wrong CERTIFIED.  deadline: of `time.monotonic`, or None.  wrt: None for the
    functions, "grad" for their derivatives.  progress: told what is being done.
    """

    left: Callable
    right: Callable
    specification: Specification
    error: float = ERROR
    seed: int = 0
    deadline: float | None = None
    wrt: str | None = None
    laws: frozenset[str] = LAWS
    progress: Callable[[str], None] = lambda message: None


def certify(
    left: Callable,
    right: Callable,
    *specs: Any,
    error: float = ERROR,
    seed: int = 0,
    budget: float | None = None,
    wrt: str | None = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Decide whether two JAX functions are equal, over the real numbers, for all values of their inputs.

    Args:
        left, right: functions of as many arguments as there are specs, returning pytrees of floating-point arrays.
        specs: pytrees of `jax.ShapeDtypeStruct` or arrays.  Of float arrays only shape and dtype count; integer arrays
            are fixed values.  Dimensions may be symbolic (`jax.export.symbolic_shape`): see `Specification`.
        error: CERTIFIED only if the chance of a wrong answer is at most this.
        seed: of all random numbers.
        budget: seconds, after which the answer is UNKNOWN with what had been reached.
        wrt: "grad" compares the derivatives as well: the cotangents of all inputs for arbitrary ones of the outputs.
        progress: called with a line of text before each stage.

    Returns:
        A certificate: CERTIFIED with the chance of error, REFUTED with an input, AGREES with a number of digits, or
        UNKNOWN with the reason.

    Raises:
        InputError, UnsupportedError: the functions or specs cannot be used; the message says what to do.
    """
    _check(error, seed, budget, wrt)
    deadline = None if budget is None else time.monotonic() + budget
    question = Question(
        left, right, Specification(specs), error, seed, deadline, wrt, progress=progress or (lambda message: None)
    )
    return decide(question)


def assert_equivalent(left: Callable, right: Callable, *specs: Any, **settings: Any) -> None:
    """Pass if two functions are PROVED or CERTIFIED equal; arguments as for `certify`.

    Raises:
        NotEquivalentError: an AssertionError whose text is the verdict, the reason, the input and a reproducer.
    """
    __tracebackhide__ = True
    certificate = certify(left, right, *specs, **settings)
    if not certificate.passes:
        raise NotEquivalentError(describe(certificate))


def describe(certificate: Certificate) -> str:
    """The verdict on a question in a few lines: reason, counterexample, reproducer, assumptions."""
    claim, found = certificate.claim, certificate.counterexample
    lines = [f"{certificate.verdict}: {claim['left']} and {claim['right']}"]
    lines += [f"  {e.method}{' at ' + e.subject if e.subject else ''}: {e.finding}" for e in certificate.evidence]
    if found:
        lines += [f"  exactly: {found['exact'][0]}", f"  against: {found['exact'][1]}", "", found["reproducer"]]
    else:
        lines += [f"  assuming: {assumption}" for assumption in certificate.assumptions]
    return "\n".join(lines)


def _check(error: Any, seed: Any, budget: Any, wrt: Any) -> None:
    if not isinstance(error, float) or not 0 < error < 1:
        raise InputError(f"got error={error!r}; wanted a probability between 0 and 1, such as 2.0**-128")
    if type(seed) is not int or not 0 <= seed < 2**31:
        raise InputError(f"got seed={seed!r}; wanted a whole number from 0 to 2^31 - 1")
    if budget is not None and (not isinstance(budget, int | float) or not budget > 0):
        raise InputError(f"got budget={budget!r}; wanted seconds, more than 0")
    if wrt not in (None, "grad"):
        raise InputError(f'got wrt={wrt!r}; wanted None or "grad"')


def decide(question: Question) -> Certificate:
    """The certificate of a question."""
    left, right, specification = _differentiated(question)
    sizes, skipped = common_sizes(left, right, specification)
    pairs = {sizes_text(s): _Pair(s, *_traced(left, right, specification, s)) for s in sizes}
    evidence = []
    for name, pair in pairs.items():
        found = _examined(question, pair, len(pairs), left, right, specification)
        evidence.append(dataclasses.replace(found, subject=name))
        if found.verdict is Verdict.REFUTED:
            break
    if len(evidence) == len(pairs) or evidence[-1].verdict is Verdict.REFUTED:
        evidence = _one_refutation_suffices(evidence)
    return _certificate(question, specification, pairs, evidence, skipped)


@dataclass(frozen=True)
class _Pair:
    """Both functions at one assignment of sizes."""

    sizes: Sizes
    left: ClosedJaxpr
    right: ClosedJaxpr


def _differentiated(question: Question) -> tuple[Callable, Callable, Specification]:
    if question.wrt is None:
        return question.left, question.right, question.specification
    return pulled_back(question.left, question.right, question.specification)


def _traced(left: Callable, right: Callable, specification: Specification, sizes: Sizes) -> tuple:
    (a, a_outputs), (b, b_outputs) = (traced(f, specification.at(sizes)) for f in (left, right))
    same_outputs(a_outputs, b_outputs)
    return a, b


def _one_refutation_suffices(evidence: list[Evidence]) -> list[Evidence]:
    """Functions that differ at some sizes are different, whatever holds at others."""
    refuted = [e for e in evidence if e.verdict is Verdict.REFUTED]
    return refuted[:1] or evidence


def _examined(question: Question, pair: _Pair, share: int, left: Callable, right: Callable, specification) -> Evidence:
    """What can be said at one assignment of sizes."""
    try:
        question.progress(f"evaluating both functions in float64{_at(pair.sizes)}")
        seen = sample(pair.left, pair.right, question.seed)
        found = _in_fields(question, pair, seen, share)
        if isinstance(found, Evidence) and found.verdict is Verdict.CERTIFIED and not seen.apart:
            return found
        reason = found.finding
        question.progress(f"searching an input on which they differ{_at(pair.sizes)}")
        refuted = _refuted(question, pair, left, right, specification, reason)
        if refuted is not None:
            combine([refuted, found])  # a contradiction between two methods stops everything
            return refuted
        if found.verdict is Verdict.CERTIFIED or "vacuous" in found.figures:
            return found
        question.progress(f"comparing exact values{_at(pair.sizes)}")
        return _agreeing(question, pair, reason)
    except BudgetError as error:
        return Evidence("budget", str(error), Verdict.UNKNOWN)


def _at(sizes: Sizes) -> str:
    return f" at {sizes_text(sizes)}" if sizes else ""


def _in_fields(question: Question, pair: _Pair, seen: Sample, share: int) -> Evidence:
    """CERTIFIED, or UNKNOWN with the reason."""
    laws = question.laws - {"almost everywhere"} if seen.ties else question.laws
    question.progress(f"comparing at random points of prime fields{_at(pair.sizes)}")
    try:
        fields = PrimeFields(pair.left, pair.right, question.seed, laws, question.deadline)
        if not fields.varies:
            return _vacuous("neither function depends on its inputs")
        if seen.nowhere_defined:
            return _vacuous(f"both functions are NaN or infinite at all of {seen.points} random inputs")
        log2_error = math.log2(question.error / share)
        found = fields.compare(log2_error, thoroughly=not seen.apart)
    except UnsupportedError as error:
        return Evidence("prime fields", str(error), Verdict.UNKNOWN)
    return _field_evidence(found, seen, log2_error)


def _vacuous(reason: str) -> Evidence:
    finding = f"vacuous: {reason}, so that being equal says nothing"
    return Evidence("prime fields", finding, Verdict.UNKNOWN, {"vacuous": reason})


def _field_evidence(found: FieldComparison, seen: Sample, log2_error: float) -> Evidence:
    figures = {
        "log2_error": found.log2_error,
        "theorem": not found.condition,
        "condition": found.condition,
        "laws": list(found.laws),
        "rounds": [dataclasses.asdict(r) for r in found.rounds],
        "sample": dataclasses.asdict(seen),
    }
    unknown = lambda text: Evidence("prime fields", text, Verdict.UNKNOWN, figures, found.assumptions)
    if not found.equal:
        output, entry = found.where or (0, ())
        parting = f"; they part at {found.parting}" if found.parting else ""
        return unknown(f"different as formal expressions, at output {output}{list(entry)}{parting}")
    if found.log2_error > log2_error:
        return unknown(
            f"equal at random points, but the degree is too large: the error bound is 2^{found.log2_error:.0f}"
        )
    if seen.mismatched:
        return unknown("equal where both are defined, but at some random inputs only one of them is finite")
    kind = f"conditional: {found.condition}" if found.condition else "a theorem"
    finding = f"equal except with probability 2^{found.log2_error:.0f} ({kind}), in {len(found.rounds)} rounds"
    return Evidence("prime fields", finding, Verdict.CERTIFIED, figures, _assumptions(found, seen))


def _assumptions(found: FieldComparison, seen: Sample) -> tuple[str, ...]:
    notes = [*found.assumptions, "denominators are not zero, and arguments lie where the functions are defined"]
    notes.append("sums, products and casts are those of real numbers")
    if found.condition:
        notes.append(f"exponents behave like independent random numbers ({found.condition})")
    if found.constant:
        notes.append("both functions are constant: nothing about the inputs was compared")
    if found.undefined:
        notes.append(f"{found.undefined} output entries that are NaN or infinite on both sides are left out")
    if seen.reason:
        notes.append(f"no look at float64 values: {seen.reason}")
    return tuple(notes)


def _refuted(question: Question, pair: _Pair, left, right, specification, reason: str) -> Evidence | None:
    """A confirmed and shrunk witness as evidence."""
    try:
        if specification.symbols:
            found = smallest(left, right, specification, pair.sizes, seed=question.seed, deadline=question.deadline)
        else:
            witness = find(pair.left, pair.right, seed=question.seed, deadline=question.deadline)
            found = None if witness is None else (pair.sizes, witness)
    except UatJaxError:
        return None
    if found is None:
        return None
    sizes, witness = found
    finding = f"{witness.left!r} against {witness.right!r} at output {witness.output}{list(witness.entry)}{_at(sizes)}"
    figures = {"counterexample": _counterexample(question, specification, sizes, witness), "fields": reason}
    return Evidence("counterexample", finding, Verdict.REFUTED, figures)


def _counterexample(question: Question, specification: Specification, sizes: Sizes, witness: Witness) -> dict[str, Any]:
    """The witness as JSON."""
    return {
        "sizes": dict(sizes),
        "inputs": [{"dtype": str(x.dtype), "shape": list(x.shape), "values": _floats(x)} for x in witness.inputs],
        "output": witness.output,
        "entry": list(witness.entry),
        "left": witness.left,
        "right": witness.right,
        "exact": list(witness.exact),
        "minimal": witness.minimal,
        "reproducer": _reproducer(question, specification, sizes, witness),
    }


def _floats(array: np.ndarray) -> Any:
    return np.asarray(array, np.float64).tolist()


def _reproducer(question: Question, specification: Specification, sizes: Sizes, witness: Witness) -> str:
    if question.wrt is not None:
        return "# compare jax.vjp of both functions at these inputs; the last inputs are the cotangents\n"
    return reproducer(question.left, question.right, Specification(specification.at(sizes)), witness)


def _agreeing(question: Question, pair: _Pair, reason: str) -> Evidence:
    """AGREES to so many digits, or UNKNOWN."""
    if question.deadline is not None and time.monotonic() > question.deadline:
        raise BudgetError(f"the time is up; by then: {reason}")
    if sum(int(np.prod(v.aval.shape)) for p in (pair.left, pair.right) for e in p.eqns for v in e.outvars) > LARGE:
        return Evidence("prime fields", f"{reason}; too large to compare exact values", Verdict.UNKNOWN)
    found = agreement(pair.left, pair.right, points=POINTS, digits=DIGITS, seed=question.seed)
    if not found.agrees:
        return Evidence("balls", f"{reason}; exact values: {found.reason}", Verdict.UNKNOWN)
    finding = f"equal to {found.digits} digits at {found.points} random inputs; prime fields: {reason}"
    return Evidence("balls", finding, Verdict.AGREES, {"points": found.points, "digits": found.digits})


def _certificate(question: Question, specification, pairs: Mapping[str, _Pair], evidence, skipped) -> Certificate:
    verdict = combine(evidence)
    assumptions = [*specification.assumptions, *(a for e in evidence for a in e.assumptions)]
    if specification.symbols and verdict is Verdict.CERTIFIED:
        names, tried = ", ".join(specification.symbols), "; ".join(pairs)
        assumptions.append(f"shown at these sizes of the symbolic dimensions {names}, and at no others: {tried}")
    assumptions += [f"sizes that do not fit were skipped: {text}" for text in skipped]
    counterexamples = (e.figures.get("counterexample") for e in evidence)
    return Certificate(
        claim=_claim(question, specification, pairs),
        expected=Verdict.CERTIFIED,
        verdict=verdict,
        passes=verdict in (Verdict.PROVED, Verdict.CERTIFIED),
        evidence=tuple(evidence),
        counterexample=next((c for c in counterexamples if c), None),
        assumptions=tuple(dict.fromkeys(assumptions)),
        settings={"error": question.error, "seed": question.seed, "wrt": question.wrt or ""},
        environment=environment(),
    )


def _claim(question: Question, specification: Specification, pairs: Mapping[str, _Pair]) -> dict[str, Any]:
    """What was asked, with both programs as data."""
    leaves = jax.tree.leaves(specification.arguments)
    return {
        "id": KIND,
        "left": _full_name(question.left),
        "right": _full_name(question.right),
        "inputs": [f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]" for leaf in leaves],
        "symbols": list(specification.symbols),
        "programs": [_programs(pair) for pair in pairs.values()],
    }


def _programs(pair: _Pair) -> dict[str, Any]:
    try:
        programs = {"left": encode(pair.left), "right": encode(pair.right)}
        digests = {"left_digest": digest(pair.left), "right_digest": digest(pair.right)}
    except UnsupportedError as error:
        return {"sizes": dict(pair.sizes), "missing": str(error)}
    return {"sizes": dict(pair.sizes), **programs, **digests}


def _full_name(function: Callable) -> str:
    return f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', name_of(function))}"
