"""Are two JAX functions the same function?  Certified, refuted by an input, or unknown with the reason."""

from __future__ import annotations

import dataclasses
import functools
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import jax
from jax.extend.core import ClosedJaxpr

from uat_jax.decide.all_sizes import (
    ALL_SIZES,
    SizedPrograms,
    Symbolic,
    proved_for_all_sizes,
    sized_programs,
    symbolic_programs,
)
from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.certificate import Certificate, environment
from uat_jax.decide.conditionals import without_conditionals
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.cut_off import by_cut_off, enough_sizes
from uat_jax.decide.demands import Demands, Tolerance
from uat_jax.decide.derivative import pulled_back
from uat_jax.decide.description import describe, headline
from uat_jax.decide.domain import EVERYWHERE, Domains, domain_of
from uat_jax.decide.effort import BUDGET, ERROR, MEMORY, Effort, deadline
from uat_jax.decide.except_where import except_where
from uat_jax.decide.expansion import raising
from uat_jax.decide.explained import explained
from uat_jax.decide.fields_evidence import field_evidence
from uat_jax.decide.figures import EqualElsewhere, FieldsOfFunctions, RefutedAtTies, Skipped
from uat_jax.decide.garbage import old_objects_left_alone
from uat_jax.decide.generalization import generalizations
from uat_jax.decide.in_floats import InFloats, in_floats, input_names, numbered
from uat_jax.decide.inner_integers import by_inner_integers, makes_integers
from uat_jax.decide.loops.counted import with_scans
from uat_jax.decide.loops_evidence import Loops, for_all_sizes, has_loop, of_loops, too_long
from uat_jax.decide.masked_evidence import masked_evidence
from uat_jax.decide.masks.programs import has_infinity
from uat_jax.decide.missing import takes_long
from uat_jax.decide.named_function import place_of
from uat_jax.decide.parametrized import OnParameters, located, on_parameters
from uat_jax.decide.pieces_evidence import difference_evidence, is_large
from uat_jax.decide.places_read_off import with_places
from uat_jax.decide.reached import without_unreached
from uat_jax.decide.refutation import Search, Writer, agreeing, doubted, refutation
from uat_jax.decide.reproducer import reproducer
from uat_jax.decide.sampling import Seen, sample
from uat_jax.decide.settings import Hazards
from uat_jax.decide.specification import (
    Sizes,
    Specification,
    name_of,
    sizes_text,
    specified,
)
from uat_jax.decide.static_arguments import WithStatic, fixed_values, with_static
from uat_jax.decide.thresholds import thresholds
from uat_jax.decide.traces import Traces
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.decide.whole_inputs import of_integers
from uat_jax.decide.wide import Width, check_in_time, wide_proof, width_of
from uat_jax.decide.witness import REAL, WHOLE, Candidates, find, smallest
from uat_jax.devices import numerics
from uat_jax.errors import (
    BudgetError,
    DisagreementError,
    InputError,
    MemoryLimitError,
    NotEquivalentError,
    OutputsError,
    UatJaxError,
    UnsupportedError,
)
from uat_jax.inputs.functions import FunctionLike, comparable, readings_of
from uat_jax.interpret.canonical_form import same_program
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.interpret.outside_function import outside_functions
from uat_jax.interpret.work import equations
from uat_jax.numbers.prime_fields.footprint import entries_computed
from uat_jax.typing import PyTree

LARGE = 200_000
"""Where no sizes are listed, those are left out at which more entries than this are computed."""

BEYOND, FEW = 8, 3
"""Sizes are also chosen beyond the numbers of the programs from this one on, so many of the largest."""

MOST_EQUATIONS = 1_000
"""Programs with more of them, when their loops are unrolled, are not looked at beyond the numbers in them."""

KIND = "equivalence"
"""The id of the claim in a certificate of two functions."""


def certify(
    left: FunctionLike,
    right: FunctionLike,
    *specs: PyTree,
    error: float = ERROR,
    seed: int = 0,
    budget: float | None = None,
    wrt: Literal["grad"] | None = None,
    almost_everywhere: bool = False,
    sizes: Sequence[Sizes] | None = None,
    memory: float | str = MEMORY,
    generalize: bool = False,
    weights: Mapping[str, Any] | None = None,
    progress: Callable[[str], None] | None = None,
) -> Certificate:
    """Decide whether two JAX functions are equal, over the real numbers, for all values of their inputs.

    Args:
        left: a function of as many arguments as there are specs, returning a pytree of arrays; or a program that
            stands for one: a `jax.export.Exported`, a `torch.nn.Module`, a `torch.export.ExportedProgram`, or what
            `read_stablehlo` and `read_torch` return.
        right: another one with the same arguments and results.
        *specs: pytrees of `jax.ShapeDtypeStruct` or arrays.  Of float and complex arrays only shape and dtype count;
            integer arrays are fixed values, and a spec of integers or booleans stands for all values of its dtype, or
            for those of `integers(spec, low, high)`.  Dimensions may be symbolic (`jax.export.symbolic_shape`): see
            `Specification`.  Floats are any real numbers, unless a leaf is `positive(spec)`, `nonnegative(spec)` or
            `interval(spec, low, high)`, or an array of a set: `simplex(spec)`, `symmetric(spec)`, `orthogonal(spec)` or
            `sorted(spec)`.  No specs at all ask a program that was read for its own.
        error: CERTIFIED only if the chance of a wrong answer is at most this.
        seed: of all random numbers.
        budget: seconds, after which the answer is UNKNOWN with what had been reached.  Every walk over a program and
            every search asks for it, and what is left of it is for rounding and hazards; tracing a function, and what
            XLA compiles, cannot be interrupted.
        wrt: "grad" compares values and derivatives: the cotangents of all inputs for any cotangents of the outputs.
        almost_everywhere: accept functions that differ on a set of measure zero only, such as at ties.  By default
            they are compared everywhere: two functions that differ at x = 0 alone are REFUTED there.
        sizes: of the symbolic dimensions, such as [{"n": 4, "m": 3}].  Then that list is the claim, and CERTIFIED and
            PROVED mean: at these sizes.  Without it some sizes are tried, and equality there is AGREES at best.
        memory: bytes that may be held, or a text such as "4 GiB"; `math.inf` is no limit.  What an evaluation takes is
            predicted before it is tried, and what would take more is not tried: the answer may be UNKNOWN then.
        generalize: look for a proof for all sizes first, in which axes of the same size are one dimension; if there is
            one, it is the certificate, whatever the sizes of the specs are.
        weights: where each parameter of a PyTorch module is in the first argument, such as
            {"q.weight": "params/q/kernel.T"}: see `Weights`.  The first argument holds the weights then.
        progress: called with a line of text before each stage.

    Returns:
        A certificate: CERTIFIED with the chance of error, REFUTED with an input, AGREES with a number of digits, or
        UNKNOWN with the reason.

    Raises:
        InputError, UnsupportedError: the functions or specs cannot be used; the message says what to do.

    Example:
        >>> spec = jax.ShapeDtypeStruct((3,), jnp.float32)
        >>> uj.certify(jax.nn.softmax, lambda x: jnp.exp(x) / jnp.exp(x).sum(), spec).verdict
        <Verdict.CERTIFIED: 'CERTIFIED'>
    """
    question = _question(*comparable(left, right, specs, weights), sizes, wrt, almost_everywhere)
    told = progress or (lambda message: None)
    end = deadline(budget, memory=memory)
    effort = Effort(error, seed, end, progress=told, almost_everywhere=almost_everywhere)
    return (_generalized(question, effort) if generalize else None) or decide(question, effort)


def assert_equivalent(
    left: FunctionLike,
    right: FunctionLike,
    *specs: PyTree,
    error: float = ERROR,
    seed: int = 0,
    budget: float | None = None,
    wrt: Literal["grad"] | None = None,
    almost_everywhere: bool = False,
    sizes: Sequence[Sizes] | None = None,
    memory: float | str = MEMORY,
    weights: Mapping[str, Any] | None = None,
    rounding: float | Tolerance | None = None,
    hazards: Hazards = "warn",
) -> None:
    """Pass if two functions are PROVED or CERTIFIED equal, and their floats do what is asked.

    Args:
        left, right, *specs, error, seed, budget, wrt, almost_everywhere, sizes, memory, weights: as for `certify`.
        rounding: the ULP, or the `Tolerance`, within which the derived bound of each side and the distance seen must
            lie; None asks for nothing.
        hazards: "warn" of each with a `HazardWarning`, "forbid" them, or "ignore" them, which saves their search.

    The budget is 120 seconds if none is given; `math.inf` is no limit.

    Raises:
        NotEquivalentError: an AssertionError whose text is the verdict, the reason, the input and a reproducer.
        InputError: a setting that is out of range.

    Example:
        >>> uj.assert_equivalent(jax.nn.silu, lambda x: x * jax.nn.sigmoid(x), jax.ShapeDtypeStruct((3,), jnp.float32))
    """
    __tracebackhide__ = True
    try:
        demands = Demands(rounding, hazards)
        question = _question(*comparable(left, right, specs, weights), sizes, wrt, almost_everywhere)
        effort = Effort(error, seed, deadline(budget, BUDGET, memory=memory), almost_everywhere=almost_everywhere)
        certificate = decide(question, effort)
    except UatJaxError as unusable:
        raise unusable.alone() from None  # a failing test shows its line, and not ours or JAX's
    if not certificate.passes:
        raise NotEquivalentError(describe(certificate), certificate)
    demands.check(certificate, headline(certificate))


def _question(
    left: Callable[..., Any],
    right: Callable[..., Any],
    specs: tuple[PyTree, ...],
    sizes: Sequence[Sizes] | None,
    wrt: str | None,
    almost_everywhere: bool,
) -> Question:
    """The question about two functions: arguments that are no arrays are fixed, parameters stand for sets of arrays."""
    first, second, arrays = on_parameters(*with_static(left, right, specs))
    specification = specified(arrays, sizes, almost_everywhere)
    return Question(first, second, specification, wrt, almost_everywhere, tuple(fixed_values(specs)))


@dataclass(frozen=True)
class Question:
    """Two functions and the inputs on which they are compared.

    wrt: None, or "grad" for their derivatives as well.  almost_everywhere: whether a set of inputs of measure zero is
    left out.  fixed: what those arguments are that are no arrays.

    Raises:
        InputError: another `wrt`, or a function that cannot be called.
    """

    left: Callable
    right: Callable
    specification: Specification
    wrt: str | None = None
    almost_everywhere: bool = False
    fixed: tuple[Assumption, ...] = ()

    def __post_init__(self) -> None:
        for function in (self.left, self.right):
            if not callable(function):
                got = type(function).__name__
                raise InputError(f"got a {got} for a function; pass two functions, then their inputs")
        if self.wrt not in (None, "grad"):
            raise InputError(f'got wrt={self.wrt!r}; wanted None or "grad"')
        if self.wrt is not None and isinstance(self.left, OnParameters):
            raise InputError('wrt="grad" needs inputs that can move in all directions; certify jax.grad of both')
        if self.wrt is not None and self.specification.whole:
            raise InputError('wrt="grad" needs real inputs; certify jax.grad of both by the real ones, beside integers')

    def differentiated(self) -> Question:
        """The question about the derivatives, if it is one."""
        if self.wrt is None:
            return self
        functions = pulled_back(self.left, self.right, self.specification)
        return Question(*functions, almost_everywhere=self.almost_everywhere)

    @cached_property
    def traces(self) -> Traces:
        """Both programs at given sizes, each function traced once at each of them."""
        return Traces(self.left, self.right, self.specification)

    def at(self, sizes: Sizes) -> Pair:
        """Both programs with the symbolic dimensions evaluated.  Raises what `Traces` raises."""
        left, right = self.traces(sizes)
        traces = self.traces
        return Pair(sizes, left, right, self.specification.domains, self.names, traces.complex_numbers, traces.kernels)

    def pairs(self) -> tuple[tuple[Pair, ...], tuple[str, ...]]:
        """Both programs at all sizes to try, and the reasons why other sizes were skipped.

        Of listed sizes none is skipped.  Raises what `traced` raises if that is so at all sizes, and what
        `same_outputs` raises at any.
        """
        pairs, skipped = self._traced(self.specification.sizes_to_try())
        constraints = self.specification.constraints
        if not pairs and constraints and all("Unsatisfiable" in reason for reason in skipped):
            raise InputError(f"no sizes fit: the constraints {', '.join(constraints)} contradict each other")
        if not pairs:
            fitting = "write dimensions as they must be, such as 4*k or n+1"
            raise InputError(f"no sizes fit ({'; '.join(skipped)}); {fitting}")
        return tuple(pairs), tuple(skipped)

    def symbolic(self) -> Symbolic:
        """Both programs with symbolic dimensions, traced once.  Raises what `symbolic_programs` raises."""
        if isinstance(self._symbolic, UatJaxError):
            raise self._symbolic
        return self._symbolic

    @cached_property
    def _symbolic(self) -> Symbolic | UatJaxError:
        try:
            return symbolic_programs(self.left, self.right, self.specification)
        except UatJaxError as error:
            return error

    def pairs_beyond(self) -> tuple[Pair, ...]:
        """Both programs at sizes beyond the numbers that they compare sizes with, if these are not listed."""
        if not self.specification.symbols or self.specification.listed is not None:
            return ()
        try:
            left, right, _ = self.symbolic()
        except (InputError, UnsupportedError):
            return ()
        numbers = [n for n in thresholds((left, right)) if n >= BEYOND][:FEW]
        together = [2 * sum(numbers)] if numbers else []  # x[500:][500:] looks further
        tried = self.specification.sizes_to_try()
        return self.further(s for s in self.specification.sizes_beyond([*numbers, *together]) if s not in tried)

    def further(self, sizes: Iterable[Sizes]) -> tuple[Pair, ...]:
        """Both programs at more sizes, those left out that do not fit or at which too much is computed."""
        return tuple(p for p in self._traced(sizes, needed=False)[0] if p.equations <= MOST_EQUATIONS)

    def _traced(self, tried: Iterable[Sizes], *, needed: bool = True) -> tuple[list[Pair], list[str]]:
        """Both programs at sizes, and the reasons why some were skipped; the first must not be, if one is `needed`."""
        pairs: list[Pair] = []
        skipped: list[str] = []
        for sizes in tried:
            try:
                pairs.append(self.at(sizes))
            except OutputsError:
                raise
            except InputError as error:
                if not sizes or self.specification.listed:
                    raise
                skipped.append(f"{sizes_text(sizes)}: {error}")
                continue
            if not self.specification.listed and len(pairs) > needed and pairs[-1].entries > LARGE:
                pairs.pop()
                skipped.append(f"{sizes_text(sizes)}: more than {LARGE} entries are computed; list sizes to allow that")
        return pairs, skipped

    @property
    def names(self) -> tuple[str, ...]:
        """What the variables are called in a text."""
        return tuple(input_names(self.left, self.specification))

    def search(self, pair: Pair, effort: Effort) -> Search:
        """The search for a witness: at the smallest sizes if any are symbolic."""
        if self.specification.symbols:
            return lambda: smallest(
                self.traces,
                pair.sizes,
                self.specification.smaller_sizes(pair.sizes),
                seed=effort.seed,
                deadline=effort.deadline,
                almost_everywhere=effort.almost_everywhere,
                domains=self.specification.domains,
            )
        return pair.search(effort)


@dataclass(frozen=True)
class Pair:
    """Both programs at one assignment of sizes, what their inputs range over, and how these are called in a text.

    complex_numbers: whether the programs are of real and imaginary parts, and not what a device runs.
    kernels: whether parts of them were kernels of Pallas.
    """

    sizes: Sizes
    left: ClosedJaxpr
    right: ClosedJaxpr
    domains: Domains = EVERYWHERE
    names: tuple[str, ...] = ()
    complex_numbers: bool = False
    kernels: bool = False

    @property
    def input_names(self) -> Sequence[str]:
        """The names of the inputs, or their numbers where there are none."""
        return self.names or numbered(len(self.left.in_avals))

    @property
    def entries(self) -> int:
        """How many entries both programs compute."""
        return entries_computed(self.left.jaxpr) + entries_computed(self.right.jaxpr)

    @property
    def equations(self) -> int:
        """How many equations both programs have when their loops are unrolled."""
        return equations(self.left.jaxpr) + equations(self.right.jaxpr)

    def search(self, effort: Effort, candidates: Candidates = REAL) -> Search:
        """The search for a witness at these sizes."""

        def search() -> Counterexample | None:
            witness = find(
                self.left,
                self.right,
                seed=effort.seed,
                deadline=effort.deadline,
                almost_everywhere=effort.almost_everywhere,
                candidates=candidates,
                domains=self.domains,
            )
            return None if witness is None else dataclasses.replace(witness, sizes=dict(self.sizes))

        return search

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps: both programs and their digests, or why they cannot be kept."""
        try:
            programs = {"left": encode(self.left), "right": encode(self.right)}
        except UnsupportedError as error:
            return {"sizes": dict(self.sizes), "missing": str(error)}
        digests = {f"{side}_digest": digest(program) for side, program in programs.items()}
        return {"sizes": dict(self.sizes), **programs, **digests}


@dataclass(frozen=True, eq=False)
class Stored(Mapping[str, Any]):
    """Programs as data, which are written when they are asked for, as when a file is saved."""

    write: Callable[[], Mapping[str, Any]]

    @cached_property
    def _data(self) -> Mapping[str, Any]:
        return self.write()

    def __getitem__(self, name: str) -> Any:
        return self._data[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._data)

    def __len__(self) -> int:
        return len(self._data)

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickled as the data alone: equations of JAX cannot be."""
        return dict, (dict(self),)


class StoredPair(Stored):
    """What a certificate keeps of a pair; its sizes are known at once."""

    def __init__(self, pair: Pair) -> None:
        super().__init__(pair.as_data)
        object.__setattr__(self, "sizes", dict(pair.sizes))

    def __getitem__(self, name: str) -> Any:
        return self.__dict__["sizes"] if name == "sizes" else self._data[name]


@old_objects_left_alone()
def decide(question: Question, effort: Effort) -> Certificate:
    """The certificate of a question."""
    if question.specification.whole and not question.specification.symbols:
        question = dataclasses.replace(question, specification=with_places(question.specification, question.traces({})))
    asked = question.differentiated()
    pairs, skipped = asked.pairs()
    _check_repeated(question, asked, pairs[0].sizes, effort)
    proof = proved_for_all_sizes(asked.symbolic, asked.specification, pairs, effort)
    if not isinstance(proof, str):
        return _certificate(question, asked.specification, pairs, [proof[0]], effort, proof[1])
    pairs += asked.pairs_beyond()
    enough, of_few = enough_sizes(asked.symbolic, asked.specification, effort)
    pairs += asked.further([sizes for sizes in enough if sizes not in [pair.sizes for pair in pairs]])
    share = dataclasses.replace(effort, error=effort.error / len(pairs))
    listed = asked.specification.listed is not None
    evidence, sized = (
        ([], None) if listed or not asked.specification.symbols else _by_induction(asked, pairs[-1], share)
    )
    for pair in () if evidence else pairs:
        evidence.append(examined(pair, share, asked.search(pair, share), _writer(question)))
        if evidence[-1].verdict is Verdict.REFUTED:  # whatever holds at other sizes
            found = _sizes_of(evidence[-1])
            pairs = (pair if found == pair.sizes else asked.at(found),)
            evidence = [dataclasses.replace(evidence[-1], subject=sizes_text(found))]
            break
    if not shown_for_all_sizes(evidence) and (by_few := by_cut_off(enough, evidence)):
        evidence, sized = [*evidence, *by_few], of_few
    if not shown_for_all_sizes(evidence):
        evidence += not_for_all_sizes(asked.specification.symbols, listed, pairs, evidence, skipped, proof)
    return _certificate(question, asked.specification, pairs, evidence, effort, sized)


def _check_repeated(question: Question, asked: Question, sizes: Sizes, effort: Effort) -> None:
    """Trace both functions once more, where there is time.  Raises what `Traces.check_repeated` raises."""
    if not effort.late:
        anew = dataclasses.replace(question).differentiated()
        asked.traces.check_repeated(anew.traces, sizes)


def _generalized(question: Question, effort: Effort) -> Certificate | None:
    """The proof for all sizes, of which those of the question are one choice; None if none is found."""
    if question.specification.symbols or question.specification.whole:
        return None
    for arguments in generalizations(question.specification.arguments):
        general = dataclasses.replace(question, specification=Specification(arguments))
        asked = general.differentiated()
        try:
            pairs, _ = asked.pairs()
        except (InputError, UnsupportedError):  # a function needs a size as it is
            continue
        proof = proved_for_all_sizes(asked.symbolic, asked.specification, pairs, effort)
        if not isinstance(proof, str):
            _check_repeated(general, asked, pairs[0].sizes, effort)
            return _certificate(general, asked.specification, pairs, [proof[0]], effort, proof[1])
    return None


SAME = "both are the same program after renaming and inlining: the same operations in the same places"
"""What is said of identical programs."""


LONG = 9
"""The size of the first symbolic dimension at which relations of carries are looked for."""


def _by_induction(question: Question, largest: Pair, effort: Effort) -> tuple[list[Evidence], SizedPrograms | None]:
    """What induction over the steps of loops says of all sizes, one finding or none, and the programs it is about."""
    if not (has_loop(largest.left) and has_loop(largest.right)):
        return [], None
    try:
        programs = sized_programs(question.symbolic(), question.specification)
        found = by_induction(question.at(long_sizes(question.specification.symbols)), programs, effort)
    except (InputError, UnsupportedError, BudgetError, MemoryLimitError):  # sizes that do not fit, or the time is up
        return [], None
    return ([], None) if found is None else ([found], programs)


def long_sizes(symbols: Sequence[str]) -> Sizes:
    """Sizes at which loops are long enough for relations of their carries to show."""
    return {name: LONG + number for number, name in enumerate(symbols)}


def by_induction(long: Pair, programs: SizedPrograms, effort: Effort) -> Evidence | None:
    """What induction over the steps of loops says of two programs at all sizes, or None.

    ``long``: both at `long_sizes`, where relations of carries are looked for, which are then proved of ``programs``.

    Raises:
        UnsupportedError, BudgetError, MemoryLimitError: a loop cannot be followed, or the time or memory is used up.
    """
    if programs.reals.places:
        return None
    at = with_scans(long.left), with_scans(long.right)
    found = for_all_sizes(at, (programs.left, programs.right), effort, long.domains)
    if found is None:
        return None
    where = f"at all sizes with {', '.join(programs.constraints)}: " if programs.constraints else ""
    assumptions = (*found.assumptions, Assumption(AssumptionKind.SYMBOLIC_SIZES))
    return dataclasses.replace(found, finding=where + found.finding, subject=ALL_SIZES, assumptions=assumptions)


def shown_for_all_sizes(evidence: Sequence[Evidence]) -> bool:
    """Whether a finding about all sizes passes."""
    return any(e.subject == ALL_SIZES and e.verdict in (Verdict.PROVED, Verdict.CERTIFIED) for e in evidence)


def not_for_all_sizes(
    symbols: Sequence[str],
    listed: bool,
    pairs: Sequence[Pair],
    evidence: Sequence[Evidence],
    skipped: Sequence[str],
    reason: str = "",
) -> list[Evidence]:
    """That equality at some sizes is no equality at all of them, where symbolic dimensions have no listed sizes.

    reason: why no proof for all sizes was found.
    """
    if not symbols or listed or combine(evidence) not in (Verdict.PROVED, Verdict.CERTIFIED):
        return []
    tried = "; ".join(sizes_text(pair.sizes) for pair in pairs)
    finding = f"equal at {tried}; not shown for all sizes: pass sizes=[…] to make such a list the claim"
    finding += f"; what a proof lacks: {reason}" if reason else ""
    return [Evidence(Method.SIZES, finding, Verdict.AGREES, Skipped(tuple(skipped)), subject=ALL_SIZES)]


def examined(pair: Pair, effort: Effort, search: Search, write: Writer, *, proof_alone: bool = False) -> Evidence:
    """What can be said at one assignment of sizes.

    proof_alone: whether nobody asks for an input at which the programs differ, or whether they agree.
    """
    at = f" at {sizes_text(pair.sizes)}" if pair.sizes else ""
    reached, loops = "nothing was decided", Loops()
    try:
        large = not pair.domains.whole and is_large(pair.left, pair.right)
        if large and width_of((pair.left, pair.right), effort) is None:  # what is too wide cannot be evaluated
            effort = dataclasses.replace(effort, error=effort.error / 2)  # two attempts share the chance of error
            found = difference_evidence(pair.left, pair.right, effort, pair.domains)
            if found is not None:
                return dataclasses.replace(found, subject=sizes_text(pair.sizes))
        if same_program(pair.left, pair.right):
            return Evidence(Method.IDENTITY, SAME, Verdict.PROVED, subject=sizes_text(pair.sizes))
        if pair.domains.whole:
            return dataclasses.replace(of_integers(pair, effort, write, _decided), subject=sizes_text(pair.sizes))
        if (always := _always_raised(pair, effort)) is not None:
            return always
        left, right = (without_unreached(without_conditionals(p), pair.domains) for p in (pair.left, pair.right))
        pair = dataclasses.replace(pair, left=left, right=right)
        half = dataclasses.replace(effort, error=effort.error / 2)
        loops = of_loops(pair.left, pair.right, half, pair.domains)
        if loops.evidence is not None:
            return dataclasses.replace(loops.evidence, subject=sizes_text(pair.sizes))
        if loops.reason:
            effort, reached = half, loops.reason
        if loops.reason and too_long(pair.left, pair.right):
            finding = f"{loops.reason}; their loops are too long to be unrolled"
            return Evidence(Method.INDUCTION, finding, Verdict.UNKNOWN, subject=sizes_text(pair.sizes))
        programs = pair.left, pair.right
        if (wide := wide_proof(programs, width_of(programs, effort), effort, pair.domains)) is not None:
            return dataclasses.replace(wide.evidence, subject=sizes_text(pair.sizes))
        check_in_time(programs, effort)
        effort.progress(f"evaluating both functions in float64{at}")
        sampled = sample(pair.left, pair.right, effort.seed, effort.deadline, pair.domains)
        seen = sampled.seen
        if large and sampled.faint is not None and not explained(*programs, sampled.faint, effort.deadline):
            seen = dataclasses.replace(seen, apart=True)
        reached = seen.reason or f"float64 values at {seen.points} inputs {'differ' if seen.apart else 'agree'}"
        reached = "; ".join(filter(None, (loops.reason, reached)))
        if proof_alone and seen.apart:
            return Evidence(Method.FLOATS, reached, Verdict.UNKNOWN)
        if not seen.apart and makes_integers(pair.left) and makes_integers(pair.right):
            effort = dataclasses.replace(effort, error=effort.error / 2)  # prime fields have the other half
            found = _at_whole_numbers(pair, effort, write) or _by_inner_integers(pair, effort)
            if found is not None:
                if found.verdict is Verdict.CERTIFIED and sampled.suspects:
                    found = doubted(pair.left, pair.right, found, sampled.suspects, effort)
                return dataclasses.replace(found, subject=sizes_text(pair.sizes))
        effort.progress(f"comparing at random points of prime fields{at}")
        masked = has_infinity(*programs)
        share = dataclasses.replace(effort, error=effort.error / 2) if masked else effort
        at_once = _at_once(programs, seen, share, pair.domains)
        if at_once is None:
            effort.progress(f"searching an input on which they differ{at}")
            found = refutation(search, TOO_LONG, write)
            if found is not None:
                return dataclasses.replace(found, subject=sizes_text(pair.sizes))
        fields = at_once or field_evidence(*programs, seen, share, pair.domains)
        reached = fields.finding
        if fields.method is Method.MEMORY:
            wide = wide_proof(programs, Width(fields.finding, hopeless=True), effort, pair.domains)
            fields = fields if wide is None else wide.evidence
        if fields.verdict is Verdict.PROVED or fields.verdict is Verdict.CERTIFIED and not sampled.suspects:
            return dataclasses.replace(fields, subject=sizes_text(pair.sizes))
        masked = masked and fields.verdict is not Verdict.CERTIFIED
        if proof_alone and fields.verdict is not Verdict.CERTIFIED:
            return (masked_evidence(*programs, seen, share, pair.domains) if masked else None) or fields
        found = None  # what was not found before the prime fields is not looked for again
        if at_once is not None:
            effort.progress(f"searching an input on which they differ{at}")
            found = refutation(search, fields, write)
        if found is None and masked:  # what differs is mostly found faster
            effort.progress(f"comparing infinities by where they stand{at}")
            found = masked_evidence(*programs, seen, share, pair.domains)
            if found is not None:
                return dataclasses.replace(found, subject=sizes_text(pair.sizes))
        if found is not None:
            combine([found, fields])  # sees a contradiction between two methods
            found = _except_where(pair, found, fields, seen, effort)
        elif fields.verdict is Verdict.CERTIFIED:
            found = doubted(pair.left, pair.right, fields, sampled.suspects, effort)
        elif fields.method is not Method.VACUITY:
            effort.progress(f"comparing exact values{at}")
            found = agreeing(pair.left, pair.right, fields, effort, pair.domains)
    except BudgetError as error:
        slow = takes_long((pair.left, pair.right))
        found = Evidence(Method.BUDGET, f"{error}; by then: {reached}; {slow}", Verdict.UNKNOWN)
    except (MemoryLimitError, MemoryError) as error:
        found = Evidence(Method.MEMORY, f"{str(error) or 'memory is full'}; by then: {reached}", Verdict.UNKNOWN)
    except DisagreementError as error:
        if effort.strict:
            raise
        found = Evidence(Method.DISAGREEMENT, str(error), Verdict.UNKNOWN)
    return dataclasses.replace(found or fields, subject=sizes_text(pair.sizes))


def _decided(pair: Pair, effort: Effort, write: Writer, *, proof_alone: bool = False) -> Evidence:
    """What can be said of a pair that a question was brought to."""
    return examined(pair, effort, pair.search(effort), write, proof_alone=proof_alone)


FEW_WHOLE = dataclasses.replace(WHOLE, count=32, starts=1)
"""Small whole numbers, among which many are equal."""


def _at_whole_numbers(pair: Pair, effort: Effort, write: Writer) -> Evidence | None:
    """A witness of small whole numbers, where integers in between that are equal elsewhere may differ at ties."""
    if effort.almost_everywhere:
        return None
    few = pair.search(effort, FEW_WHOLE)
    return refutation(few, TOO_LONG, write)


def _by_inner_integers(pair: Pair, effort: Effort) -> Evidence | None:
    """What integers in between show, in half of the time that is left."""
    now, end = time.monotonic(), effort.deadline.moment
    half = dataclasses.replace(effort.deadline, moment=now + (end - now) / 2)
    try:
        return by_inner_integers(pair, dataclasses.replace(effort, deadline=half), _decided)
    except (BudgetError, MemoryLimitError):
        return None


SOON = 4.0
"""Seconds after which prime fields are left for the search of an input, where float64 values differ."""

TOO_LONG = Evidence(Method.PRIME_FIELDS, "not waited for: float64 values differ", Verdict.UNKNOWN)


def _at_once(
    programs: tuple[ClosedJaxpr, ClosedJaxpr], seen: Seen, effort: Effort, domains: Domains
) -> Evidence | None:
    """What prime fields say; None if float64 values differ and it takes long, as a search is then mostly faster."""
    if not seen.apart:
        return field_evidence(*programs, seen, effort, domains)
    soon = min(effort.deadline.moment, time.monotonic() + SOON)
    try:
        hurried = dataclasses.replace(effort, deadline=dataclasses.replace(effort.deadline, moment=soon))
        return field_evidence(*programs, seen, hurried, domains)
    except BudgetError:
        return None


def _always_raised(pair: Pair, effort: Effort) -> Evidence | None:
    """That there may be nothing to compare: a function raises an error at all inputs that are tried."""
    for side, program in (("left", pair.left), ("right", pair.right)):
        where = next(raising(program), None)
        if where is None:
            continue
        with_errors = without_conditionals(program, errors=True)
        seen = sample(with_errors, with_errors, effort.seed, effort.deadline, pair.domains).seen
        if seen.nowhere_defined:
            finding = f"the {side} function raises an error {where}, or is undefined, at all of {seen.points} inputs"
            return Evidence(
                Method.VACUITY, f"vacuous: {finding}; restrict the inputs to those it takes", Verdict.UNKNOWN
            )
    return None


def _except_where(pair: Pair, found: Evidence, fields: Evidence, seen: Seen, effort: Effort) -> Evidence:
    """A refutation that says where the functions differ, if they are shown to be equal almost everywhere."""
    example, compared = found.example, fields.figures
    at_ties = isinstance(compared, FieldsOfFunctions) and compared.almost_everywhere
    if effort.almost_everywhere or not at_ties or example is None or example.sizes != dict(pair.sizes):
        return found
    accepted = dataclasses.replace(effort, almost_everywhere=True)
    try:
        almost = field_evidence(pair.left, pair.right, seen, accepted, pair.domains)
        if almost.verdict is not Verdict.CERTIFIED or not isinstance(almost.figures, FieldsOfFunctions):
            return found
        sentence = except_where((pair.left, pair.right), example, pair.domains, pair.input_names, effort.deadline)
    except UatJaxError:  # such as that the time is up: the counterexample stands
        return found
    figures = RefutedAtTies(fields.finding, EqualElsewhere(almost.figures.log2_error, almost.figures.theorem))
    return dataclasses.replace(found, finding=sentence, figures=figures)


def _sizes_of(evidence: Evidence) -> Sizes:
    """The sizes at which a counterexample was found."""
    return {} if evidence.example is None else dict(evidence.example.sizes)


def _writer(question: Question) -> Writer:
    def write(found: Counterexample) -> str:
        left, right, traces = question.left, question.right, question.traces
        kinds: Any = {"kernels": traces.kernels, "wide": traces.wide}
        if isinstance(left, OnParameters) and isinstance(right, OnParameters):
            arguments = question.specification.at(found.sizes)
            original = Specification(jax.tree.unflatten(left.tree, left.leaves)).at(found.sizes)
            found = located(found, left, arguments)
            return reproducer(left.function, right.function, original, found, **kinds)
        if question.wrt is not None:
            return "# compare jax.vjp of both functions at these inputs, of which the last are the cotangents\n"
        arguments = question.specification.at(found.sizes)
        return reproducer(left, right, arguments, found, complex_outputs=traces.complex_outputs, **kinds)

    return write


def _certificate(
    question: Question,
    specification: Specification,
    pairs: Sequence[Pair],
    evidence: list[Evidence],
    effort: Effort,
    sized: SizedPrograms | None = None,
) -> Certificate:
    claim, verdict = _claim(question, specification, pairs, sized), combine(evidence)
    names = input_names(question.left, specification)
    of_inputs = [*specification.assumptions, *question.fixed, *specification.hypotheses(names), *_readings(question)]
    of_inputs += [*_in_parts(pairs), *_kernels(pairs), *of_outside_functions(pairs), *_errors(pairs)]
    if isinstance(question.left, OnParameters):
        of_inputs += question.left.hypotheses()
    assumptions = [*of_inputs, *of_sizes(claim, verdict, evidence)]
    floats = in_floats(pairs, names, effort.deadline.memory, effort.deadline.remaining)
    return certificate_of(claim, verdict, evidence, assumptions, effort, floats)


def _readings(question: Question) -> list[Assumption]:
    """What stands in a program that was read for a function of JAX."""
    read = readings_of(question.left, question.right)
    return [Assumption(AssumptionKind.READ_AS, {"written": what, "function": name}) for what, name in read.items()]


def _in_parts(pairs: Sequence[Pair]) -> list[Assumption]:
    """How complex numbers are read, where there are some."""
    return [Assumption(AssumptionKind.COMPLEX_NUMBERS)] if any(pair.complex_numbers for pair in pairs) else []


def _kernels(pairs: Sequence[Pair]) -> list[Assumption]:
    """How kernels of Pallas are read, where there are some."""
    return [Assumption(AssumptionKind.KERNELS)] if any(pair.kernels for pair in pairs) else []


def of_outside_functions(pairs: Sequence[Pair]) -> list[Assumption]:
    """That what the programs call outside of JAX are functions."""
    names = (name for pair in pairs for program in (pair.left, pair.right) for name in outside_functions(program))
    return [Assumption(AssumptionKind.OUTSIDE_FUNCTION, {"function": name}) for name in dict.fromkeys(names)]


def _errors(pairs: Sequence[Pair]) -> Iterator[Assumption]:
    """That a function raises an error for some inputs, at which nothing is compared."""
    for pair in pairs:
        for side, program in (("left", pair.left), ("right", pair.right)):
            for where in raising(program):
                yield Assumption(AssumptionKind.NO_ERROR, {"side": side, "where": where})


def of_sizes(claim: Mapping[str, Any], verdict: Verdict, evidence: Sequence[Evidence]) -> list[Assumption]:
    """What the findings presuppose: at every size if they are about all sizes, else with the sizes they are about."""
    if shown_for_all_sizes(evidence):
        return [a for e in evidence for a in e.assumptions]
    return [*only_at(claim, verdict), *assumed(evidence)]


def only_at(claim: Mapping[str, Any], verdict: Verdict) -> list[Assumption]:
    """That functions of symbolic dimensions are equal at the listed sizes only."""
    if not claim["symbols"] or not claim["sizes_listed"] or verdict not in (Verdict.PROVED, Verdict.CERTIFIED):
        return []
    tried = [sizes_text(data["sizes"]) for data in claim["programs"]]
    return [Assumption(AssumptionKind.ONLY_AT_SIZES, {"symbols": list(claim["symbols"]), "sizes": tried})]


def assumed(evidence: Sequence[Evidence]) -> list[Assumption]:
    """What the findings presuppose; with the sizes where only some of them do."""
    found = [e for e in evidence if e.method is not Method.SIZES]
    every = dict.fromkeys(a for e in found for a in e.assumptions)
    where = {a: tuple(e.subject for e in found if a in e.assumptions) for a in every}
    return [a if len(where[a]) == len(found) else dataclasses.replace(a, at=where[a]) for a in every]


def certificate_of(
    claim: Mapping[str, Any],
    verdict: Verdict,
    evidence: list[Evidence],
    assumptions: list[Assumption],
    effort: Effort,
    floats: InFloats,
) -> Certificate:
    """A certificate about two functions, with what floats do to them if they are equal as far as is known."""
    return Certificate(
        claim=claim,
        expected=Verdict.CERTIFIED,
        verdict=verdict,
        passes=verdict in (Verdict.PROVED, Verdict.CERTIFIED),
        evidence=tuple(evidence),
        assumptions=tuple(dict.fromkeys(assumptions)),
        settings={"error": effort.error, "seed": effort.seed},
        environment={**environment(), **numerics()},
        floats=floats if verdict in (Verdict.PROVED, Verdict.CERTIFIED, Verdict.AGREES) else None,
    )


def _claim(
    question: Question, specification: Specification, pairs: Sequence[Pair], sized: SizedPrograms | None
) -> dict[str, Any]:
    """What was asked, with both programs as data, also with symbolic dimensions where these were compared."""
    leaves = [leaf for _, leaf in specification.inputs]
    return {
        "id": KIND,
        "left": _full_name(question.left),
        "right": _full_name(question.right),
        "derivatives": question.wrt is not None,
        "almost_everywhere": question.almost_everywhere,
        "inputs": [f"{leaf.dtype}[{','.join(map(str, leaf.shape))}]{domain_of(leaf).text}" for leaf in leaves],
        "symbols": list(specification.symbols),
        "sizes_listed": specification.listed is not None,
        "programs": [StoredPair(pair) for pair in pairs],
        **({} if sized is None else {"all_sizes": Stored(sized.as_data)}),
    }


def _full_name(function: Callable) -> str:
    while isinstance(function, OnParameters | WithStatic):
        function = function.function
    if isinstance(function, functools.partial):
        return f"partial of {_full_name(function.func)}"
    module, path = place_of(function)
    return f"{module or '?'}:{path or name_of(function)}"
