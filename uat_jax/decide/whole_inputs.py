"""Functions of integers and booleans: decided by evaluating all of them, by a solver, or as real functions of the rest.

    nothing but integers, few inputs      both programs are run at all of them
    nothing but integers, many inputs     the solver z3 over bit vectors; witnesses are run
    real numbers too, few integers        all integers side by side (`side_by_side.py`)
    integers that only choose and are compared    as letters (`lookups`), rows that they choose as inputs
    real numbers too, many integers       some integers side by side: a witness, or AGREES

docs/soundness.md says what each proves.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

from uat_jax.decide.as_reals import AsReals
from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.batches import PASSING, in_batches
from uat_jax.decide.counterexample import Counterexample, Input
from uat_jax.decide.effort import Effort
from uat_jax.decide.figures import Enumerated, SolvedFormulas
from uat_jax.decide.functions_of_entries import functions_of_entries
from uat_jax.decide.inner_integers import makes_integers
from uat_jax.decide.integers import Integers, held, numbers
from uat_jax.decide.lookups.real_pair import RealPair, at_points
from uat_jax.decide.lookups.texts import Case, Texts, ways
from uat_jax.decide.ordered_integers import as_real_numbers, orders_few
from uat_jax.decide.sampling import sample
from uat_jax.decide.side_by_side import SideBySide, is_mapped
from uat_jax.decide.solver import name_of_solver, solved
from uat_jax.decide.unary import unary_pairs
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decide.whole_programs import WholePair, check_exact, first_difference, is_whole_program
from uat_jax.errors import DisagreementError, UnsupportedError
from uat_jax.interpret.inlining import inlined
from uat_jax.numbers.prime_fields.footprint import entries_computed

if TYPE_CHECKING:
    from uat_jax.decide.equivalence import Pair
    from uat_jax.decide.refutation import Writer

MOST_INPUTS = 2**16
"""Programs of integers are run at all inputs if these are not more."""

SECONDS, LONGER = 2.0, 60.0
"""So long the solver tries first, and so long once no input was found at which the programs differ."""

MOST_CHOICES, MOST_ENTRIES, MOST_STACKED = 4096, 400_000, 64
"""So many choices of the integers are looked at side by side, if all entries they compute are not more; and so many
where conditionals or loops are written out for each."""

MOST_BATCHES = 32
"""Where they compute more entries than that, they are looked at in so many batches at most."""

MOST_CASES = 1024
"""So many outcomes of the comparisons of letters are looked at."""

WAYS = 7
"""Functions of entries, order, letters, unary, signs, letters again and batches share the chance of error."""

TRIED = 16
"""So many choices of the integers are tried where there are too many to look at."""

FEW = 4
"""So many of them are tried first."""


class Decide(Protocol):
    """How a pair of programs of real numbers is decided; `proof_alone` if no counterexample is asked for."""

    def __call__(self, pair: Pair, effort: Effort, write: Writer, *, proof_alone: bool = False) -> Evidence:
        """What is found."""
        ...


def of_integers(pair: Pair, effort: Effort, write: Writer, decide: Decide) -> Evidence:
    """What can be said of two programs of which an input is one of integers or booleans.

    Raises:
        BudgetError, MemoryLimitError: the time is up, or it takes too much memory.
        DisagreementError: the device does not confirm what the solver found.
    """
    pair = dataclasses.replace(pair, left=inlined(pair.left), right=inlined(pair.right))
    whole = is_whole_program(pair.left) and is_whole_program(pair.right)
    found = _of_whole_programs(pair, effort, write, decide) if whole else _of_both(pair, effort, write, decide)
    return dataclasses.replace(found, finding=found.finding + _read_off(pair))


def _read_off(pair: Pair) -> str:
    """Which ranges no user gave."""
    texts = [
        of.written(name)
        for name, of in zip(pair.input_names, pair.domains.of, strict=False)
        if isinstance(of, Integers) and of.read_off
    ]
    return f"; read off the arrays that are chosen from: {' and '.join(texts)}" if texts else ""


# Nothing but integers


def _of_whole_programs(pair: Pair, effort: Effort, write: Writer, decide: Decide) -> Evidence:
    """Both programs compute with integers alone."""
    whole = WholePair(pair.left, pair.right, tuple(pair.domains.of), effort.deadline)
    try:
        check_exact(pair.left)
        check_exact(pair.right)
    except UnsupportedError as error:
        return Evidence(Method.ENUMERATION, str(error), Verdict.UNKNOWN)
    if whole.count <= MOST_INPUTS:
        effort.progress(f"evaluating both functions at all of {whole.count} inputs")
        try:
            point = whole.first_of_all()
        except UnsupportedError as error:
            return Evidence(Method.ENUMERATION, str(error), Verdict.UNKNOWN)
        return _same_everywhere(whole.count) if point is None else _refuted(pair, whole, point, write)
    effort = dataclasses.replace(effort, error=effort.error / 2)  # order and letters share it; solvers do not err
    if (sorted_ := _as_real_numbers(pair, effort, decide)) is not None:
        return sorted_
    found = _solved(pair, whole, effort, write)
    said = _by_letters(pair, effort, decide) if found.verdict is Verdict.UNKNOWN else None
    return found if said is None else said


def _by_letters(pair: Pair, effort: Effort, decide: Decide) -> Evidence | None:
    """That the programs are equal whatever rows their integers choose; None if it is not shown."""
    tried = list(ways(pair.left, pair.right, pair.domains, effort.deadline))
    share = dataclasses.replace(effort, error=effort.error / max(1, len(tried)))
    found = (_with_letters(pair, texts, share, decide)[0] for texts in tried)
    return next((said for said in found if said.verdict in PASSING), None)


def _same_everywhere(count: int) -> Evidence:
    finding = f"equal at all of {count} inputs, at each of which both were evaluated exactly"
    exact = (Assumption(AssumptionKind.EXACT_INTEGERS),)
    return Evidence(Method.ENUMERATION, finding, Verdict.PROVED, Enumerated(count), exact)


def _solved(pair: Pair, whole: WholePair, effort: Effort, write: Writer) -> Evidence:
    """What the solver says, or an input that was drawn."""
    found = None
    for seconds in (SECONDS, LONGER):
        effort.progress(f"asking the solver for at most {seconds:.0f} s")
        try:
            found, reason = solved(whole, seconds), ""
            reason = found.reason
        except UnsupportedError as error:
            reason = str(error)
        if found is not None and not found.reason:
            break
        if seconds == SECONDS:
            effort.progress("evaluating both functions at random inputs")
            point = whole.drawn(effort.seed)
            if point is not None:
                return _refuted(pair, whole, point, write)
            if found is None:
                break
    if found is None or found.reason:
        return Evidence(Method.SOLVER, f"{reason}; equal at all inputs that were drawn", Verdict.UNKNOWN)
    if found.unlike is not None:
        if first_difference(whole, found.unlike) is None:
            raise DisagreementError(
                f"{name_of_solver()} says that the functions differ at {[*map(numbers, found.unlike)]}, where their "
                "values are equal; please report this"
            )
        return _refuted(pair, whole, whole.simplified(found.unlike), write)
    by = name_of_solver()
    finding = f"equal at all inputs: {by} finds that none of {found.formulas} entries can differ"
    return Evidence(
        Method.SOLVER,
        finding,
        Verdict.PROVED,
        SolvedFormulas(found.formulas, by),
        (Assumption(AssumptionKind.SOLVER),),
    )


def _refuted(pair: Pair, whole: WholePair, point: tuple[np.ndarray, ...], write: Writer) -> Evidence:
    """REFUTED by an input; two evaluations have to agree on it."""
    where = first_difference(whole, point)
    if where is None:
        raise DisagreementError("a compiled program of integers and the same one run step by step differ; report this")
    output, entry, left, right = where
    given = zip(pair.input_names, point, pair.left.in_avals, strict=True)
    inputs = tuple(Input(name, numbers(array), str(aval.dtype)) for name, array, aval in given)
    found = Counterexample(
        inputs, left, right, (str(left), str(right)), sizes=dict(pair.sizes), output=output, entry=entry, minimal=True
    )
    finding = f"{left} against {right} at output {output}{list(entry)}"
    example = dataclasses.replace(found, program=write(found))
    return Evidence(Method.COUNTEREXAMPLE, finding, Verdict.REFUTED, example=example)


# Real numbers too


def _of_both(pair: Pair, effort: Effort, write: Writer, decide: Decide) -> Evidence:
    """A program computes with real numbers as well."""
    domains = [pair.domains[i] for i in range(len(pair.left.in_avals))]
    integers = [(of, a) for of, a in zip(domains, pair.left.in_avals, strict=True) if isinstance(of, Integers)]
    avals = tuple(aval for _, aval in integers)
    empty = _Empty(avals)
    whole = WholePair(empty, empty, tuple(of for of, _ in integers), effort.deadline)  # type: ignore[arg-type]
    entries = entries_computed(pair.left.jaxpr) + entries_computed(pair.right.jaxpr)
    together = max(1, MOST_ENTRIES // max(1, entries))
    if not (is_mapped(pair.left) and is_mapped(pair.right)):
        together = min(together, MOST_STACKED)
    if whole.count <= min(MOST_CHOICES, together):
        (chosen,) = list(whole.all_inputs())
        return _beside(pair, chosen, effort, write, decide, f"at each of {whole.count} choices of the integers: ")
    effort = dataclasses.replace(effort, error=effort.error / WAYS)
    if (functions := _functions_of_entries(pair, effort, decide)) is not None:
        return functions
    between = all(makes_integers(program, of_numbers=True) for program in (pair.left, pair.right))
    if (between or orders_few(pair)) and (said := _by_letters(pair, effort, decide)) is not None:
        return said
    if (sorted_ := _as_real_numbers(pair, effort, decide)) is not None:
        return sorted_
    if (unary := _unary(pair, effort, decide)) is not None:
        return unary
    truths, said = AsReals(pair.domains, tuple(aval.dtype for aval in pair.left.in_avals)), ""
    if truths.places:
        found = _by_signs(pair, truths, effort, write, decide)
        if found.verdict in (*PASSING, Verdict.REFUTED):
            return found
        said = found.finding
    sampled = _sampled(pair, integers, whole.count, effort, write, decide, said)
    if sampled.verdict is not Verdict.AGREES or whole.count > min(MOST_CHOICES, together * MOST_BATCHES):
        return sampled
    (chosen,) = list(whole.all_inputs())
    parts = _batches(whole.count, together)
    each = lambda part, share: _beside(pair, tuple(x[part] for x in chosen), share, write, decide, "")
    found = in_batches(parts, effort, each)
    text = f"at each of {whole.count} choices of the integers, in {len(parts)} batches: {found.finding}"
    return dataclasses.replace(found, finding=text) if found.verdict in (*PASSING, Verdict.REFUTED) else sampled


def _functions_of_entries(pair: Pair, effort: Effort, decide: Decide) -> Evidence | None:
    """That the programs are equal with functions of entries of integers as inputs; None if it is not shown."""
    replaced = functions_of_entries(pair.left, pair.right, pair.domains, effort.deadline)
    if replaced is None:
        return None
    effort.progress("comparing functions of entries as inputs")
    left, right, domains = replaced.left, replaced.right, replaced.domains
    further = dataclasses.replace(pair, left=left, right=right, domains=domains, names=())
    everywhere = dataclasses.replace(effort, almost_everywhere=False)
    found = decide(further, everywhere, lambda found: "", proof_alone=True)
    if found.verdict not in PASSING:
        return None
    finding = f"integers that are functions of entries are inputs: {found.finding}"
    assumptions = tuple(dict.fromkeys((*found.assumptions, *replaced.assumptions)))
    return dataclasses.replace(found, finding=finding, assumptions=assumptions)


def _as_real_numbers(pair: Pair, effort: Effort, decide: Decide) -> Evidence | None:
    """That they are equal for all real numbers in the place of integers that are sorted; None if it is not shown."""
    everywhere = dataclasses.replace(effort, almost_everywhere=False)
    try:
        real = as_real_numbers(pair)
        if real is None:
            return None
        effort.progress("comparing integers as real numbers")
        found = decide(real, everywhere, lambda found: "", proof_alone=True)
    except UnsupportedError:
        return None
    if found.verdict not in PASSING:
        return None
    return dataclasses.replace(found, finding=f"for all real numbers in the place of the integers: {found.finding}")


def _unary(pair: Pair, effort: Effort, decide: Decide) -> Evidence | None:
    """That the programs are equal for all truth values k <= i in the place of integers i; None if it is not shown."""
    tried = list(unary_pairs(pair.left, pair.right, pair.domains))
    share = dataclasses.replace(effort, error=effort.error / max(1, len(tried)))
    for unary in tried:
        effort.progress("comparing integers as truth values")
        try:
            left, right, domains, _ = unary.programs
        except UnsupportedError:
            continue
        real = dataclasses.replace(pair, left=left, right=right, domains=domains, names=())
        found = _shown(real, share, decide)
        if found is not None and found.verdict in PASSING:
            names = ", ".join(pair.input_names[i] for i in unary.letters)
            finding = f"{names} by the truth values of k <= {names}, whatever these are: {found.finding}"
            return dataclasses.replace(found, finding=finding)
    return None


def _shown(pair: Pair, effort: Effort, decide: Decide) -> Evidence | None:
    """What is shown of programs in which integers are truth values, of which nobody asks where they differ."""
    if pair.domains.whole:
        return _by_letters(pair, effort, decide)
    return decide(pair, effort, lambda found: "", proof_alone=True)


def _batches(count: int, together: int) -> list[slice]:
    """Numbers up to a count, so many together at most."""
    return [slice(start, min(start + together, count)) for start in range(0, count, together)]


def _by_signs(pair: Pair, truths: AsReals, effort: Effort, write: Writer, decide: Decide) -> Evidence:
    """What can be said of the programs with u > 0 for a real number u in the place of every truth value."""
    left, right = truths.program(pair.left), truths.program(pair.right)
    real = dataclasses.replace(pair, left=left, right=right, domains=truths.real_domains)
    with_example = lambda found: write(truths.located(found))
    if real.domains.whole:
        found = _of_both(real, effort, with_example, decide)
    else:
        found = decide(real, effort, with_example)
    example = None if found.example is None else truths.located(found.example)
    finding = f"truth values as signs of real numbers: {found.finding}"
    return dataclasses.replace(found, finding=finding, example=example)


@dataclasses.dataclass(frozen=True)
class _Empty:
    """What stands for a program whose inputs alone are asked for."""

    in_avals: tuple[Any, ...]
    eqns: tuple[Any, ...] = ()


def _beside(
    pair: Pair, chosen: tuple[np.ndarray, ...], effort: Effort, write: Writer, decide: Decide, said: str
) -> Evidence:
    """What can be said of the programs at some choices of the integers."""
    beside = SideBySide(pair.left, pair.right, pair.domains, chosen)
    left, right = beside.programs()
    real = dataclasses.replace(pair, left=left, right=right, domains=beside.real_domains(), names=())
    located = lambda found: beside.located(found, pair.input_names)
    found = decide(real, effort, lambda found: write(located(found)))
    example = None if found.example is None else located(found.example)
    where = "" if example is None else f" of the functions with {len(chosen[0])} choices of the integers side by side"
    return dataclasses.replace(found, finding=f"{said}{found.finding}{where}", example=example)


def _sampled(
    pair: Pair, integers: Sequence[Any], count: int, effort: Effort, write: Writer, decide: Decide, shown: str = ""
) -> Evidence:
    """What letters for the integers show; or a witness at some choices of them, or that the functions agree there."""
    random = np.random.default_rng(effort.seed)
    drawn = tuple(of.draw(random, TRIED, aval.shape, aval.dtype) for of, aval in integers)
    points, found = [tuple(x[k] for x in drawn) for k in range(TRIED)], None
    for end in ("low", "high"):
        points.append(tuple(held(np.full(a.shape, getattr(of, end), object), a.dtype) for of, a in integers))
    points.append(tuple(held(_one_high(a.shape, of), a.dtype) for of, a in integers))
    points += [tuple(held(_small(k, a.shape, of, random), a.dtype) for of, a in integers) for k in range(FEW)]
    points = _distinct(points)
    tried = list(ways(pair.left, pair.right, pair.domains, effort.deadline))
    share = dataclasses.replace(effort, error=effort.error / max(1, len(tried)))
    for texts in tried:
        said, cases = _with_letters(pair, texts, share, decide)
        if said.verdict in PASSING:
            return said
        shown = said.finding or shown
        if cases and found is None:
            points = _distinct([*texts.points(cases, TRIED, random), *points])
            found = _at_some(pair, points, effort, write, decide)
            if found.verdict is Verdict.REFUTED:
                return found
        if said.method is Method.FLOATS:  # they differ in float64, and no input was found at which they do
            said, _ = _with_letters(pair, texts, share, decide, proof_alone=False)
            if said.verdict in PASSING:
                return said
    found = found or _at_some(pair, points, effort, write, decide)
    if found.verdict is Verdict.REFUTED:
        return found
    passes = found.verdict in PASSING
    reason = f"equal at {len(points)} of {count} choices of the integers" if passes else found.finding
    wanted = "give the integers a smaller range with uj.integers(spec, low, high)"
    return Evidence(
        Method.ENUMERATION,
        f"{reason}; nothing is shown of the others: {shown}; {wanted}",
        Verdict.AGREES if passes else Verdict.UNKNOWN,
        assumptions=found.assumptions if passes else (),
    )


def _one_high(shape: tuple[int, ...], of: Integers) -> np.ndarray:
    """The last entry is the largest integer, and all others are the least one."""
    found = np.full(shape, of.low, object)
    found[(-1,) * len(shape)] = of.high
    return found


def _distinct(points: Sequence[tuple[np.ndarray, ...]]) -> list[tuple[np.ndarray, ...]]:
    """Each choice of the integers once."""
    return list({str([numbers(x) for x in point]): point for point in points}.values())


def _small(number: int, shape: tuple[int, ...], of: Integers, random: np.random.Generator) -> np.ndarray:
    """Integers near 0, as most places of arrays are: all alike, then one after the other, then with repetitions."""
    count = math.prod(shape)
    flat = {0: np.zeros(count, int), 1: np.arange(count)}.get(number, random.integers(-2, max(3, count), count))
    return np.clip(flat.astype(object), of.low, of.high).reshape(shape)


def _with_letters(
    pair: Pair, texts: Texts, effort: Effort, decide: Decide, *, proof_alone: bool = True
) -> tuple[Evidence, list[Case]]:
    """What can be said of the programs with any rows in the place of those that integers choose, and their cases.

    There are no cases if the programs do something else with their integers than choose and compare.
    """
    nothing = lambda finding: Evidence(Method.ENUMERATION, finding, Verdict.UNKNOWN)
    try:
        effort.progress("following what the integers choose")
        cases = texts.cases(MOST_CASES)
        one = RealPair(texts, cases[:1]).programs()
        entries = sum(entries_computed(program.jaxpr) for program in one)
        parts = _batches(len(cases), max(1, MOST_ENTRIES // max(1, entries)))
        if len(parts) > MOST_BATCHES:
            return nothing(f"{len(cases)} cases of comparisons are too many for programs of this size"), cases
        RealPair(texts, cases[parts[0]]).programs()
    except UnsupportedError as error:
        return nothing(str(error)), []
    with_letters = []

    def each(part: slice, share: Effort) -> Evidence:
        real = RealPair(texts, cases[part])
        left, right = real.programs()
        with_letters.append(real.letters)
        if effort.almost_everywhere and (real.letters or real.with_number):
            raise UnsupportedError(
                "what holds for almost all rows may not hold for those of a text with a repeated token"
            )
        letters = dataclasses.replace(pair, left=left, right=right, domains=real.domains(), names=())
        return decide(letters, share, lambda found: "", proof_alone=proof_alone)

    try:
        found = in_batches(parts, effort, each)
    except UnsupportedError as error:
        return nothing(str(error)), cases
    if found.verdict in PASSING and any(with_letters) and _undefined_where_alike(pair, texts, cases, effort):
        return nothing("one of the functions is undefined at equal integers, whatever the real inputs are"), cases
    of = f"in all of {len(cases)} cases of their comparisons" if len(cases) > 1 else "whatever they are"
    finding = f"the integers are letters, and the rows that they choose are any rows; {of}: {found.finding}"
    return dataclasses.replace(found, finding=finding, example=None), cases


def _undefined_where_alike(pair: Pair, texts: Texts, cases: Sequence[Case], effort: Effort) -> bool:
    """Whether entries of one program alone are undefined in float64 once integers are equal, and else are not."""
    some = cases[:FEW]
    seen = []
    for points in (texts.alike(some), texts.points(some, len(some), np.random.default_rng(effort.seed))[: len(some)]):
        found = at_points(pair.left, pair.right, pair.domains, points, effort.deadline) if points else None
        if found is None:
            return False
        real, (left, right) = found
        seen.append(sample(left, right, effort.seed, effort.deadline, real.domains()).seen)
    return seen[0].mismatched > 0 == seen[1].mismatched


def _at_some(
    pair: Pair, points: Sequence[tuple[np.ndarray, ...]], effort: Effort, write: Writer, decide: Decide
) -> Evidence:
    """What can be said of the programs at some choices of the integers, simple ones first."""
    points = sorted(points, key=_simplicity)
    entries = entries_computed(pair.left.jaxpr) + entries_computed(pair.right.jaxpr)
    found = _at(pair, points[: 1 if entries > MOST_ENTRIES // FEW else FEW], effort, write, decide)
    if found.verdict is not Verdict.REFUTED:
        found = _at(pair, points, effort, write, decide)
    apart = [point for point in points if all(len(np.unique(x)) == np.size(x) for x in map(numbers, point))]
    if found.verdict is not Verdict.UNKNOWN or not 0 < len(apart) < len(points):
        return found
    said = _at(pair, apart, effort, write, decide)  # what several updates leave at one place is refused
    return said if said.verdict is Verdict.REFUTED else found


def _simplicity(point: Sequence[np.ndarray]) -> int:
    """Simple integers have a smaller one."""
    return sum(abs(x) for array in point for x in np.ravel(np.asarray(numbers(array), object)).tolist())


def _at(
    pair: Pair, points: Sequence[tuple[np.ndarray, ...]], effort: Effort, write: Writer, decide: Decide
) -> Evidence:
    """What can be said of the programs at some choices of the integers, if it can be of tables only the rows chosen."""
    found = at_points(pair.left, pair.right, pair.domains, points, effort.deadline)
    if found is not None:
        real, (left, right) = found
        there = dataclasses.replace(pair, left=left, right=right, domains=real.domains(), names=())
        said = decide(there, effort, lambda example: "")
        if said.example is None:
            return said
        example = real.located(said.example, pair.input_names, points)
        if example is not None:
            example = dataclasses.replace(example, program=write(example))
            finding = f"{said.finding} of the functions with {len(points)} choices of the integers side by side"
            return dataclasses.replace(said, finding=finding, example=example)
    chosen = tuple(np.stack(arrays) for arrays in zip(*points, strict=True))
    return _beside(pair, chosen, effort, write, decide, "")
