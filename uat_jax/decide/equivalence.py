"""Are two JAX functions the same function?  Certified, refuted by an input, or unknown with the reason."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import jax
from jax.extend.core import ClosedJaxpr

from uat_jax.arithmetic.jaxpr_file import digest, encode
from uat_jax.decide.certificate import Certificate, environment
from uat_jax.decide.demands import Demands, Tolerance
from uat_jax.decide.derivative import pulled_back
from uat_jax.decide.effort import ERROR, Effort, deadline
from uat_jax.decide.fields_evidence import field_evidence
from uat_jax.decide.in_floats import InFloats, in_floats, input_names
from uat_jax.decide.refutation import Search, agreeing, doubted, refutation
from uat_jax.decide.reproducer import reproducer
from uat_jax.decide.sampling import sample
from uat_jax.decide.specification import (
    Sizes,
    Specification,
    common_sizes,
    name_of,
    same_outputs,
    sizes_text,
    traced,
    traces_symbolically,
)
from uat_jax.decide.verdict import Evidence, Verdict, combine
from uat_jax.decide.witness import Witness, find, smallest
from uat_jax.devices import numerics
from uat_jax.errors import BudgetError, InputError, NotEquivalentError, UnsupportedError

KIND = "equivalence"
"""The id of the claim in a certificate of two functions."""


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
        left: a function of as many arguments as there are specs, returning a pytree of floating-point arrays.
        right: another one with the same arguments and results.
        *specs: pytrees of `jax.ShapeDtypeStruct` or arrays.  Of float arrays only shape and dtype count; integer arrays
            are fixed values.  Dimensions may be symbolic (`jax.export.symbolic_shape`): see `Specification`.
        error: CERTIFIED only if the chance of a wrong answer is at most this.
        seed: of all random numbers.
        budget: seconds, after which the answer is UNKNOWN with what had been reached.
        wrt: "grad" compares values and derivatives: the cotangents of all inputs for any cotangents of the outputs.
        progress: called with a line of text before each stage.

    Returns:
        A certificate: CERTIFIED with the chance of error, REFUTED with an input, AGREES with a number of digits, or
        UNKNOWN with the reason.

    Raises:
        InputError, UnsupportedError: the functions or specs cannot be used; the message says what to do.
    """
    for function in (left, right):
        if not callable(function):
            raise InputError(f"got a {type(function).__name__} for a function; pass two functions, then their inputs")
    effort = Effort(error, seed, deadline(budget), progress=progress or (lambda message: None))
    return decide(Question(left, right, Specification(specs), wrt), effort)


def assert_equivalent(
    left: Callable,
    right: Callable,
    *specs: Any,
    rounding: float | Tolerance | None = None,
    hazards: str = "warn",
    **settings: Any,
) -> None:
    """Pass if two functions are PROVED or CERTIFIED equal, and their floats do what is asked.

    Args:
        left, right, *specs, **settings: as for `certify`.
        rounding: the ULP, or the `Tolerance`, within which the derived bound of each side and the distance seen must
            lie; None asks for nothing.
        hazards: "warn" of each with a `HazardWarning`, "forbid" them, or "ignore" them, which saves their search.

    Raises:
        NotEquivalentError: an AssertionError whose text is the verdict, the reason, the input and a reproducer.
        InputError: a setting that is out of range.
    """
    __tracebackhide__ = True
    demands = Demands(rounding, hazards)
    certificate = certify(left, right, *specs, **settings)
    if not certificate.passes:
        raise NotEquivalentError(describe(certificate))
    demands.check(certificate, _headline(certificate))


def describe(certificate: Certificate) -> str:
    """The verdict on two functions in a few lines: reason, counterexample and reproducer, assumptions."""
    found = certificate.counterexample
    lines = [_headline(certificate)]
    lines += [f"  {e.method}{' at ' + e.subject if e.subject else ''}: {e.finding}" for e in certificate.evidence]
    if found:
        lines += [f"  exactly: {found['exact'][0]}", f"  against: {found['exact'][1]}", "", found["reproducer"]]
    else:
        lines += [f"  assuming: {assumption}" for assumption in certificate.assumptions]
    if certificate.floats:
        lines += [f"  {word}: {line}" for word, line in certificate.floats.lines()]
    return "\n".join(lines)


def _headline(certificate: Certificate) -> str:
    """Verdict and functions."""
    return f"{certificate.verdict}: {certificate.claim['left']} and {certificate.claim['right']}"


@dataclass(frozen=True)
class Question:
    """Two functions and the inputs on which they are compared; wrt: None, or "grad" for their derivatives as well.

    Raises:
        InputError: another `wrt`.
    """

    left: Callable
    right: Callable
    specification: Specification
    wrt: str | None = None

    def __post_init__(self) -> None:
        if self.wrt not in (None, "grad"):
            raise InputError(f'got wrt={self.wrt!r}; wanted None or "grad"')

    def differentiated(self) -> Question:
        """The question about the derivatives, if it is one."""
        if self.wrt is None:
            return self
        return Question(*pulled_back(self.left, self.right, self.specification))

    def at(self, sizes: Sizes) -> Pair:
        """Both programs with the symbolic dimensions evaluated."""
        arguments = self.specification.at(sizes)
        (left, left_outputs), (right, right_outputs) = (traced(f, arguments) for f in (self.left, self.right))
        same_outputs(left_outputs, right_outputs)
        return Pair(sizes, left, right)

    def search(self, pair: Pair, effort: Effort) -> Search:
        """The search for a witness: at the smallest sizes if any are symbolic."""
        if self.specification.symbols:
            of = self.left, self.right, self.specification, pair.sizes
            return lambda apart: smallest(*of, seed=effort.seed, deadline=effort.deadline, apart=apart)
        return pair.search(effort)


@dataclass(frozen=True)
class Pair:
    """Both programs at one assignment of sizes."""

    sizes: Sizes
    left: ClosedJaxpr
    right: ClosedJaxpr

    def search(self, effort: Effort) -> Search:
        """The search for a witness at these sizes."""

        def search(apart: float) -> tuple[Sizes, Witness] | None:
            witness = find(self.left, self.right, seed=effort.seed, deadline=effort.deadline, apart=apart)
            return None if witness is None else (self.sizes, witness)

        return search

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps: both programs and their digests, or why they cannot be kept."""
        try:
            programs = {"left": encode(self.left), "right": encode(self.right)}
        except UnsupportedError as error:
            return {"sizes": dict(self.sizes), "missing": str(error)}
        digests = {f"{side}_digest": digest(program) for side, program in programs.items()}
        return {"sizes": dict(self.sizes), **programs, **digests}


def decide(question: Question, effort: Effort) -> Certificate:
    """The certificate of a question."""
    asked = question.differentiated()
    sizes, skipped = common_sizes(asked.left, asked.right, asked.specification)
    pairs = [asked.at(s) for s in sizes]
    share = dataclasses.replace(effort, error=effort.error / len(pairs))
    evidence: list[Evidence] = []
    for pair in pairs:
        evidence.append(examined(pair, share, asked.search(pair, share), _reproduce(question)))
        if evidence[-1].verdict is Verdict.REFUTED:  # whatever holds at other sizes
            pairs = [asked.at(evidence[-1].figures["counterexample"]["sizes"])]
            evidence = [dataclasses.replace(evidence[-1], subject=sizes_text(pairs[0].sizes))]
            break
    return _certificate(question, asked.specification, pairs, evidence, skipped, effort)


def examined(pair: Pair, effort: Effort, search: Search, reproduce: Callable[[Sizes, Witness], str]) -> Evidence:
    """What can be said at one assignment of sizes."""
    at = f" at {sizes_text(pair.sizes)}" if pair.sizes else ""
    try:
        effort.progress(f"evaluating both functions in float64{at}")
        seen = sample(pair.left, pair.right, effort.seed, effort.deadline)
        effort.progress(f"comparing at random points of prime fields{at}")
        fields = field_evidence(pair.left, pair.right, seen, effort)
        if fields.verdict is Verdict.CERTIFIED and not seen.suspects:
            return dataclasses.replace(fields, subject=sizes_text(pair.sizes))
        effort.progress(f"searching an input on which they differ{at}")
        found = refutation(search, fields, reproduce)
        if found is not None:
            combine([found, fields])  # a contradiction between two methods stops everything
        elif fields.verdict is Verdict.CERTIFIED:
            found = doubted(pair.left, pair.right, fields, seen)
        elif "vacuous" not in fields.figures:
            effort.progress(f"comparing exact values{at}")
            found = agreeing(pair.left, pair.right, fields, effort)
    except BudgetError as error:
        found = Evidence("budget", str(error), Verdict.UNKNOWN)
    return dataclasses.replace(found or fields, subject=sizes_text(pair.sizes))


def _reproduce(question: Question) -> Callable[[Sizes, Witness], str]:
    def reproduce(sizes: Sizes, witness: Witness) -> str:
        if question.wrt is not None:
            return "# compare jax.vjp of both functions at these inputs, of which the last are the cotangents\n"
        specification = Specification(question.specification.at(sizes))
        return reproducer(question.left, question.right, specification, witness)

    return reproduce


def _certificate(
    question: Question,
    specification: Specification,
    pairs: list[Pair],
    evidence: list[Evidence],
    skipped: tuple[str, ...],
    effort: Effort,
) -> Certificate:
    verdict = combine(evidence)
    assumptions = [*specification.assumptions, *_assumed(evidence)]
    if specification.symbols and verdict is Verdict.CERTIFIED:
        names, tried = ", ".join(specification.symbols), "; ".join(sizes_text(pair.sizes) for pair in pairs)
        assumptions.append(f"shown at these sizes of the symbolic dimensions {names}, and at no others: {tried}")
        looks = [f for f in (question.left, question.right) if not traces_symbolically(f, specification)]
        assumptions += [f"{name_of(f)} does not trace with symbolic dimensions: it may look at sizes" for f in looks]
    assumptions += [f"sizes that do not fit were skipped: {text}" for text in skipped]
    names = input_names(question.left, specification)
    return certificate_of(
        _claim(question, specification, pairs), verdict, evidence, assumptions, effort, in_floats(pairs, names)
    )


def _assumed(evidence: list[Evidence]) -> list[str]:
    """What the findings presuppose; with the sizes where only some of them do."""
    every = dict.fromkeys(a for e in evidence for a in e.assumptions)
    where = {a: [e.subject for e in evidence if a in e.assumptions] for a in every}
    return [a if len(where[a]) == len(evidence) else f"{a} (at {'; '.join(where[a])})" for a in every]


def certificate_of(
    claim: Mapping[str, Any],
    verdict: Verdict,
    evidence: list[Evidence],
    assumptions: list[str],
    effort: Effort,
    floats: InFloats,
) -> Certificate:
    """A certificate about two functions, with what floats do to them if they are equal as far as is known."""
    counterexamples = (e.figures.get("counterexample") for e in evidence)
    return Certificate(
        claim=claim,
        expected=Verdict.CERTIFIED,
        verdict=verdict,
        passes=verdict in (Verdict.PROVED, Verdict.CERTIFIED),
        evidence=tuple(evidence),
        counterexample=next((c for c in counterexamples if c), None),
        assumptions=tuple(dict.fromkeys(assumptions)),
        settings={"error": effort.error, "seed": effort.seed},
        environment={**environment(), **numerics()},
        floats=floats if verdict in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.AGREES) else None,
    )


def _claim(question: Question, specification: Specification, pairs: list[Pair]) -> dict[str, Any]:
    """What was asked, with both programs as data."""
    leaves = jax.tree.leaves(specification.arguments)
    return {
        "id": KIND,
        "left": _full_name(question.left),
        "right": _full_name(question.right),
        "derivatives": question.wrt is not None,
        "inputs": [f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]" for leaf in leaves],
        "symbols": list(specification.symbols),
        "programs": [pair.as_data() for pair in pairs],
    }


def _full_name(function: Callable) -> str:
    return f"{getattr(function, '__module__', '?')}:{getattr(function, '__qualname__', name_of(function))}"
