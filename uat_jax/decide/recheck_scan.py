"""Certificates of a scan and a closed form of its carry decided again, from the programs in the file alone."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp

from uat_jax.decide.certificate import Certificate, one_line
from uat_jax.decide.domain import REALS, Domains, domain_of, with_shape
from uat_jax.decide.effort import MEMORY, Effort, deadline
from uat_jax.decide.equivalence import Pair, examined
from uat_jax.decide.figures import FieldsOfLoops
from uat_jax.decide.loops.few_steps import TRIED
from uat_jax.decide.loops.induction import Induction, certificate_of
from uat_jax.decide.loops.scan_programs import STEPS, ScanPrograms, hypotheses, is_free
from uat_jax.decide.loops.strict import defined_somewhere
from uat_jax.decide.loops.walk import Value, Walk
from uat_jax.decide.loops.walk import traced as retraced
from uat_jax.decide.recheck import (
    BUDGET,
    EQUATIONS,
    REPRODUCER,
    check_counterexample,
    check_loops,
    check_nothing_new,
    damaged,
    hostile,
)
from uat_jax.decide.specification import parse, states_variable
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.errors import BudgetError, InputError, MemoryLimitError, MismatchError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.jaxpr_file import decode, digest
from uat_jax.interpret.jaxpr_values import decode_array
from uat_jax.interpret.symbolic_sizes import at_sizes, in_scope, is_symbolic
from uat_jax.typing import PyTree

CLAIM = frozenset("id left right inputs symbols programs".split())
PROGRAMS = frozenset("initial step closed_form step_digest closed_form_digest".split())


def decide_scan_again(
    given: Certificate, *, seed: int | None = None, budget: float | None = None, memory: float | str = MEMORY
) -> Certificate:
    """The certificate of the same claim about a scan, with base and step proved again with fresh random numbers.

    ``seed``, ``budget``, ``memory``: as for `decide_again` of two functions.

    Raises:
        InputError: the file is damaged, or holds no programs.
        MismatchError: its digests or numbers do not fit, or another verdict is found.
        BudgetError: the time or the equations are used up.
        MemoryLimitError: it takes more memory than is allowed.
    """
    with hostile():
        return _decide_again(given, seed, deadline(budget, BUDGET, EQUATIONS, memory))


def _decide_again(given: Certificate, seed: int | None, end: Deadline) -> Certificate:
    said = _only_evidence(given)
    programs = _programs(given.claim)
    few = _StoredSteps(given.claim["programs"], programs)
    if set(given.assumptions) != {*hypotheses(given.claim["inputs"], programs.initial), *said.assumptions}:
        raise MismatchError("the assumptions of the certificate are not those of its claim and its evidence")
    stated = Effort(given.settings["error"], given.settings["seed"], end)
    if said.verdict is Verdict.CERTIFIED:
        if not isinstance(said.figures, FieldsOfLoops):
            raise MismatchError("what the certificate calls CERTIFIED has not the figures of an induction")
        check_loops(said.method, said.figures, math.log2(stated.error), relations=0)
    if said.example is not None:
        steps = said.example.sizes.get(STEPS)
        if steps not in TRIED:
            raise MismatchError(
                f"the counterexample in the certificate is not after {', '.join(map(str, TRIED))} steps"
            )
        check_counterexample(said.example, few.pair(steps), end)
    effort = dataclasses.replace(stated, seed=(stated.seed + 1) % 2**31 if seed is None else seed)
    found = Induction(programs, few).decided(effort)
    for method, error in ((Method.BUDGET, BudgetError), (Method.MEMORY, MemoryLimitError)):
        if found.method is method:
            raise error(f"not decided again: {found.finding}")
    if found.verdict is not said.verdict:
        raise MismatchError(f"the certificate says {said.verdict}; decided again it is {found.verdict}")
    if _pieces(found) != _pieces(said):
        raise MismatchError("the pieces of the proof in the certificate are not those found again")
    if found.verdict in (Verdict.PROVED, Verdict.CERTIFIED):
        check_nothing_new([said], [found])
    return certificate_of(given.claim, programs, found, effort)


def _only_evidence(given: Certificate) -> Evidence:
    """The finding of a certificate whose parts tell the same story.

    Raises:
        InputError: it was written when time or memory were used up.
        MismatchError: verdict, evidence and counterexample do not fit.
    """
    if len(given.evidence) != 1:
        raise MismatchError("the certificate's evidence is not one finding about every number of steps")
    (said,) = given.evidence
    if said.method in (Method.BUDGET, Method.MEMORY):
        raise InputError("the certificate was written for want of time or memory; call prove_scan again")
    passes = said.verdict in (Verdict.PROVED, Verdict.CERTIFIED)
    if (given.verdict, given.passes, given.expected) != (said.verdict, passes, Verdict.CERTIFIED):
        raise MismatchError(
            f"the certificate says {given.verdict}, which is not what its evidence says: {said.verdict}"
        )
    method = Method.COUNTEREXAMPLE if said.verdict is Verdict.REFUTED else Method.INDUCTION
    if said.method is not method or said.subject or said.verdict is Verdict.AGREES:
        raise MismatchError(f"the certificate's evidence is no {method} about every number of steps")
    if (said.example is not None) != (said.verdict is Verdict.REFUTED):
        raise MismatchError("a certificate has a counterexample if it says REFUTED, and only then")
    return said


def _pieces(evidence: Evidence) -> list[str]:
    """What the pieces of a proof are about."""
    return [piece.what for piece in evidence.figures.pieces] if isinstance(evidence.figures, FieldsOfLoops) else []


# The programs


def _programs(claim: Mapping[str, Any]) -> ScanPrograms:
    """The programs in a certificate, checked against digests and stated inputs."""
    data = _stored(claim)
    step = decode(data["step"])
    with in_scope(()):
        closed_form = decode(data["closed_form"])
    for name in ("step", "closed_form"):
        if digest(data[name]) != data[f"{name}_digest"]:
            raise MismatchError(f"the program '{name}' is not the one whose digest stands in the certificate")
    initial = _initial(data["initial"], claim["inputs"])
    specs = parse(*filter(states_variable, claim["inputs"][len(initial) :]))
    rows = [spec for spec in specs if _has_steps(spec)]
    parameters = [spec for spec in specs if not _has_steps(spec)]
    row = [with_shape(spec, tuple(spec.shape[1:])) for spec in rows]
    if not rows or list(specs) != [*rows, *parameters]:
        raise damaged("its rows are not between the initial carry and the parameters")
    if not all(jnp.issubdtype(spec.dtype, jnp.floating) for spec in specs):
        raise damaged("its variables are not floats")
    types = lambda specs: [(tuple(map(str, spec.shape)), spec.dtype) for spec in specs]
    wanted = types(initial)
    taken = [*wanted, *types(row), *types(parameters)], [*wanted, *types(rows), *types(parameters)]
    if (types(step.in_avals), types(closed_form.in_avals)) != taken:
        raise MismatchError("the inputs in the certificate are not those of its programs")
    if not wanted or types(step.out_avals) != wanted or types(closed_form.out_avals) != wanted:
        raise MismatchError("the programs in the certificate do not return the carry")
    return ScanPrograms(step, closed_form, initial, row, parameters)


def _stored(claim: Mapping[str, Any]) -> Mapping[str, Any]:
    """The programs as data."""
    if set(claim) == CLAIM - {"programs"}:
        raise InputError("the certificate is of an older uat_jax, and holds no programs; call prove_scan again")
    if set(claim) != CLAIM or list(claim["symbols"]) != [STEPS]:
        raise damaged(f"its claim has not the fields {', '.join(sorted(CLAIM))}, or another symbol than {STEPS}")
    names = (claim["left"], claim["right"], *claim["inputs"])
    if not all(isinstance(name, str) and name.isprintable() for name in names):
        raise damaged("a name in it is no readable text")
    data = claim["programs"]
    if not isinstance(data, Mapping) or set(data) not in ({"missing"}, PROGRAMS):
        raise damaged(f"its programs have not the fields {', '.join(sorted(PROGRAMS))}")
    if "missing" in data:
        raise InputError(f"the certificate holds no programs ({one_line(data['missing'])}); call prove_scan again")
    return data


def _initial(data: Any, texts: Sequence[str]) -> list[Any]:
    """For each array of the initial carry its values, or the spec that the claim states."""
    if not isinstance(data, list) or len(data) > len(texts):
        raise damaged("its initial carry is no list of arrays")
    specs = parse(*texts[: len(data)]) if data else ()
    found = [spec if item is None else decode_array(item)[0] for item, spec in zip(data, specs, strict=True)]
    for leaf, spec in zip(found, specs, strict=True):
        if any(map(is_symbolic, spec.shape)) or not jnp.issubdtype(spec.dtype, jnp.floating):
            raise damaged("its initial carry has an axis of steps, or is not of floats")
        stated = is_free(leaf) or domain_of(spec) == REALS
        if not stated or (tuple(leaf.shape), leaf.dtype) != (tuple(spec.shape), spec.dtype):
            raise MismatchError("the initial carry in the certificate is not of the types that it states")
    return found


def _has_steps(spec: PyTree) -> bool:
    return bool(spec.shape) and str(spec.shape[0]) == STEPS


@dataclass(frozen=True)
class _StoredSteps:
    """The scan and the closed form of a certificate after a few steps; nothing in them is executed."""

    data: Mapping[str, Any]
    programs: ScanPrograms

    def pair(self, steps: int) -> Pair:
        """Both as programs of the variables, with the arrays of rows in the place of those of one row."""
        of = self.programs
        rows = range(before := sum(map(is_free, of.initial)), before + len(of.row))
        shape = lambda place, of: (steps, *of.shape) if place in rows else of.shape
        types = [jax.ShapeDtypeStruct(shape(place, of), of.dtype) for place, of in enumerate(of.types)]
        with at_sizes({STEPS: steps}):
            closed = decode(self.data["closed_form"])

        def scanned(*arguments: Value) -> list[Value]:
            carry, rows, parameters = of.arguments(arguments)
            for step in range(steps):
                carry = Walk().closed(of.step, [*carry, *(x[step] for x in rows), *parameters])
            return carry

        def formed(*arguments: Value) -> list[Value]:
            carry, rows, parameters = of.arguments(arguments)
            return Walk().closed(closed, [*carry, *rows, *parameters])

        return Pair({STEPS: steps}, retraced(scanned, types), retraced(formed, types), Domains(of.domains))

    def are_defined_somewhere(self, effort: Effort) -> bool:
        """Whether both have finite values at a random input, after each of a few steps."""
        pairs = map(self.pair, TRIED)
        return all(
            defined_somewhere(program, effort.seed, pair.domains, effort.deadline)
            for pair in pairs
            for program in (pair.left, pair.right)
        )

    def compared(self, steps: int, effort: Effort) -> Evidence:
        """What is found of both after so many steps."""
        pair = self.pair(steps)
        return examined(pair, effort, pair.search(effort), lambda example: REPRODUCER)
