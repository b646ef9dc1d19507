"""Equality of two jaxprs at random points of towers of prime fields, with the chance of a wrong answer.

A first draw with few copies says whether the programs agree at all and what there is to count; then the copies are
chosen so that the error bound of `error_bound` reaches what was asked for, and drawn in rounds,
each with primes, points and functions of its own.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import random
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.domain import EVERYWHERE, REALS, Domains, Interval
from uat_jax.decide.effort import ERROR
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import CanonicalForms
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.recognition import ConstantReading
from uat_jax.interpret.tracing import shape_of
from uat_jax.numbers.prime_fields.alike import Alike
from uat_jax.numbers.prime_fields.cases import Cases
from uat_jax.numbers.prime_fields.cell import Range
from uat_jax.numbers.prime_fields.entries import DECIDING as WRITTEN_OUT
from uat_jax.numbers.prime_fields.error_bound import (
    ATTEMPTS,
    SPARE,
    ErrorBound,
    affine_width,
    error_bound,
    log2_dependent,
    log2_tests,
    mixed_rows,
    vanishing,
)
from uat_jax.numbers.prime_fields.exponential_depth import WRITTEN, Depth, Profile, Taken, profile
from uat_jax.numbers.prime_fields.field_functions import LAWS, FieldFunctions
from uat_jax.numbers.prime_fields.fields import BOUNDED, Fields, Step, equal, evaluate
from uat_jax.numbers.prime_fields.footprint import entries_computed, of_arrays, of_residues
from uat_jax.numbers.prime_fields.formula_in_cell import DECIDES
from uat_jax.numbers.prime_fields.meeting import Meeting
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.power_rules import POWERS, in_force
from uat_jax.numbers.prime_fields.prime_field import BITS
from uat_jax.numbers.prime_fields.random_function import key
from uat_jax.numbers.prime_fields.refused import HollowError
from uat_jax.numbers.prime_fields.residues import DeepExponentials, Draw, EntriesLeftOut, Note, ZeroDivisorError
from uat_jax.numbers.prime_fields.tower import DEEPEST, draw_levels, draw_primes

PROBE = 4
"""Copies of every level in the first draw, at least."""

PROBE_SECONDS = 0.05
"""If the copies that make its bound a theorem cost no more than this, the first draw has them, and counts."""

ROUNDS = 2
"""Rounds that the bound is shared out to: more than one, so that no single choice of primes decides."""

MOST_READINGS = 30
"""So many sets of laws and readings of constants are tried at most: of programs with all kinds of primitives."""

MOST_ROUNDS = 6
"""After so many the bound is given as it is."""

ROOTS = frozenset("cholesky eigh geqrf pow qr rsqrt sqrt svd".split())
"""Primitives whose values carry a square that products know of, and sums forget."""

OF_ROOTS = frozenset(["roots in matrices", "root of a square met before", "logarithm of a product met before"])
"""Laws in force in a reading of their own, of programs that take roots, or logarithms beside squares or magnitudes."""

BY_CASES = frozenset(["cases", "cases of entries", "increasing functions", "largest of magnitudes"])
"""Laws in force in readings of their own, of programs that decide by signs."""

AS_LOGARITHMS = frozenset(["acosh", "asinh", "atanh"])
"""Primitives that are logarithms where functions are written with exponentials."""

SQUARES = frozenset(["abs", "integer_pow", "square"])
"""Primitives beside which a logarithm may be one of a square, or half of one."""

LOGARITHMS = frozenset(["log", "log1p", "cumlogsumexp"]) | AS_LOGARITHMS
"""Primitives for which numbers are known as sums of exponentials."""

POWERED = LOGARITHMS | ROOTS | {"digamma", "expm1", "lgamma", "polygamma"}
"""Primitives whose operands are followed as products."""

MEETING_ERROR = -192.0
"""Log2 of the chance that one test of what holds in a case of a decision, or where its cases meet, is wrong."""

OF_TESTS = BY_CASES | {"almost everywhere", "cases that meet"}
"""Laws that tests of small programs do without: they would need tests of their own, whose chances of error add up."""

DECIDING = DECIDES | WRITTEN_OUT
"""Primitives that decide by the sign of a number, choose by such a decision, or make whole numbers."""

_OF_SIGN = (REALS, Interval(0.0), Interval(0.0, open=True))
"""All real numbers; those that are not negative; the positive ones."""

ORDER_BITS = 32
"""All levels of a tower together have roots of unity of an order with so many bits, at most."""

THEOREM_SECONDS = 0.6
"""Copies that make the bound a theorem are drawn if their estimated time stays below this, or below the budget."""

HOPELESS = 1 / 8
"""Where a copy halves the chance of error by less than this much of a bit, the degree is too large for any bound."""

SUPPOSED_WIDTH = 4
"""The width of exponents that is expected as long as it is not known."""

SECONDS_PER_ENTRY, SECONDS_PER_PIVOT = 4e-8, 5e-10
"""What an entry of a copy costs, and an entry in a step of elimination among the exponents: for estimates only."""


@dataclass(frozen=True)
class Round:
    """One draw in which the two programs agreed."""

    primes: tuple[int, ...]
    copies: tuple[int, ...]
    applications: tuple[int, ...]
    bound: ErrorBound


@dataclass(frozen=True)
class FieldComparison:
    """What the prime fields say.

    equal: the programs agreed in every draw.  log2_error: of the chance that they are different all the same.
    condition: why that bound is conditional, '' if it is a theorem.  laws: those in force.  where: (output, entry) at
    which different programs differed.  apart: equations of each that compute what the other one never does.
    constant: all outputs are constant functions.  undefined: how many output entries are not finite on both sides.
    readings: how many sets of laws the chance of error is shared out to.
    almost: the programs agree except where decisions are between equal numbers.  decisions: the equations of those
    decisions, each of which is between numbers that are not the same function.
    constants: those that were read as what they stand for.  varies: whether either program depends on its inputs.
    guarded: whether a case of a selection was something else under its condition.
    """

    equal: bool
    laws: tuple[str, ...]
    rounds: tuple[Round, ...] = ()
    log2_error: float = 0.0
    condition: str = ""
    assumptions: tuple[Assumption, ...] = ()
    where: tuple[int, tuple[int, ...]] | None = None
    apart: tuple[tuple[JaxprEqn, ...], ...] = ()
    constant: bool = False
    undefined: int = 0
    readings: int = 1
    almost: bool = False
    decisions: tuple[JaxprEqn, ...] = ()
    constants: tuple[ConstantReading, ...] = ()
    varies: bool = True
    guarded: bool = False

    def within(self, error: float) -> bool:
        """Whether the programs are equal, with a chance of error of at most so much."""
        return self.equal and self.log2_error <= math.log2(error)


@dataclass
class PrimeFields:
    """The comparison of two jaxprs of the same inputs.

    bits: size of the largest prime.  meant: whether constants are what they stand for (True) or what is written
    (False); None tries both.  domains: what the inputs range over.  profiles: of both, if they are known.  varies:
    whether an output of either depends on an input at all.  constants: those of both that stand for other numbers than
    are written.  selects: whether numbers decide a selection.  taken: the exponentials of both.  order: of the roots of
    unity modulo the primes, as many as the cosines of rational multiples of π ask for.  tests: how often small programs
    were compared, in a case or where cases meet.
    """

    left: ClosedJaxpr
    right: ClosedJaxpr
    seed: int = 0
    laws: frozenset[str] = LAWS
    deadline: Deadline | None = None
    bits: int = BITS
    meant: bool | None = None
    domains: Domains = EVERYWHERE
    profiles: tuple[Profile, Profile] | None = None
    meeting: Meeting = field(init=False)
    depth: Depth = field(init=False)
    primitives: frozenset[str] = field(init=False)
    varies: bool = field(init=False)
    constants: frozenset[ConstantReading] = field(init=False)
    selects: bool = field(init=False)
    taken: tuple[Taken, ...] = field(init=False)
    order: int = field(init=False, default=1)
    tests: int = field(init=False, default=0)

    def __post_init__(self) -> None:
        if self.deadline is not None:
            self.deadline.hold(of_arrays((self.left, self.right)), "a walk over both programs")
        left, right = self.profiles or (profile(side, self.deadline) for side in (self.left, self.right))
        self.depth = left.deepest | right.deepest
        self.primitives = left.primitives | right.primitives
        self.varies = left.varies or right.varies
        self.constants = left.readings | right.readings
        self.selects = left.selects or right.selects
        self.taken = left.taken + right.taken
        self.forms = CanonicalForms()
        self.answers: dict[Hashable, bool] = {}
        self.meeting = Meeting(self._same_scalars)
        self.cases = Cases(self._same_in_case, self.deadline)

    def _same_in_case(self, left: ClosedJaxpr, right: ClosedJaxpr, meant: bool, signs: Sequence[int]) -> bool:
        """Whether two programs of scalars are one function, where some inputs have a sign.

        signs: for every input 1 if it is ≥ 0, 2 if it is > 0, 0 if nothing is known.
        """
        return self._same_scalars(left, right, meant, Domains(tuple(_OF_SIGN[sign] for sign in signs)))

    def _same_scalars(self, left: ClosedJaxpr, right: ClosedJaxpr, meant: bool, domains: Domains = EVERYWHERE) -> bool:
        """Whether two small programs are one function, with a chance of error of at most 2 to the `MEETING_ERROR`.

        So many such questions may be asked that all of their errors together do not show in a certificate.  The answers
        are kept: the entries of an array, and the draws of a comparison, ask the same.
        """
        try:
            programs = tuple(self.forms.outputs(program) for program in (left, right))
            question = programs, tuple(map(str, left.in_avals)), meant, domains
            if question not in self.answers:
                self.answers[question] = self._are_same_scalars(left, right, meant, domains)
        except UnsupportedError:
            return False
        return self.answers[question]

    def _are_same_scalars(self, left: ClosedJaxpr, right: ClosedJaxpr, meant: bool, domains: Domains) -> bool:
        self.tests += 1
        laws = self.laws - OF_TESTS
        fields = PrimeFields(left, right, self.seed, laws, self.deadline, self.bits, meant, domains)
        found = fields.compare(MEETING_ERROR)
        return found.equal and not found.almost and not found.condition and found.log2_error <= MEETING_ERROR

    def compare(
        self, log2_error: float = math.log2(ERROR), *, thoroughly: bool = True, almost_everywhere: bool = False
    ) -> FieldComparison:
        """Different, or equal up to a chance of 2^log2_error.

        With `almost_everywhere` programs that differ only where a decision is between equal numbers are equal too; else
        the comparison of such programs says `almost`, and not `equal`.

        Constants are first the numbers that are written, then those that they stand for.  Laws that can stand in each
        other's way are tried in turn: tanh, logistic, cos and sin as unknown functions and as exponentials, roots with
        and without their squares, logarithms, powers and roots of numbers and of their factors, cases of selections
        with and without their conditions; only the first of these unless `thoroughly`.

        Raises:
            UnsupportedError: a primitive that prime fields cannot express, or a divisor that is always zero.
        """
        readings = self._readings(thoroughly)
        # Every reading can be wrong, with its first draw counted or not.
        share = math.log2(2 * len(readings))
        found: list[FieldComparison] = []
        refused: HollowError | None = None
        for laws in readings:
            if "guards" in self.laws - laws and not any(f.guarded for f in found):
                continue
            try:
                found.append(self._compare(laws, log2_error - share, almost_everywhere))
            except UnsupportedError as error:
                if "guards" in self.laws - laws:
                    continue  # some cases can be followed under their conditions only
                if not isinstance(error, HollowError):
                    raise
                refused = refused or error
                continue  # cases may show what an output is that is refused here
            if found[-1].equal:
                total = added(found[-1].log2_error + share, MEETING_ERROR, self.tests)
                return dataclasses.replace(found[-1], log2_error=total, readings=len(readings))
        if refused is not None:
            raise refused
        almost = next((f for f in found if f.almost), None)
        return almost or found[min(1, len(found) - 1) if self.constants else 0]

    def _readings(self, thoroughly: bool) -> list[frozenset[str]]:
        """The sets of laws, each with constants as written and, if that is another number, as meant."""
        of_functions = self._of_functions() if thoroughly else self._of_functions()[:1]
        return list(dict.fromkeys(reading for laws in of_functions for reading in self._of_constants(laws)))

    def laws_of_fingerprints(self, more: frozenset[str], *, exponential_form: bool) -> frozenset[str]:
        """The laws under which values of both programs are looked at, to see which of them agree.

        more: which of the laws of powers and of cases are among them.
        """
        never = dict.fromkeys((OF_ROOTS | BY_CASES | POWERS | {"guards"}) - more, False)
        kept = {**never, "exponential form": exponential_form, "constants as meant": bool(self.meant)}
        return frozenset(law for law in self.laws if kept.get(law, True))

    def _of_constants(self, laws: frozenset[str]) -> tuple[frozenset[str], ...]:
        written = laws - {"constants as meant"}
        if self.meant is False or not self.constants:
            return (written,)
        return (laws,) if self.meant else (written, laws)

    def _of_functions(self) -> list[frozenset[str]]:
        plain = self.laws - {"exponential form", *BY_CASES, *OF_ROOTS} - POWERS
        readings = [plain]
        if self.primitives & ROOTS:
            readings.append(plain - {"square of a root"})
        if self.primitives & (ROOTS | AS_LOGARITHMS) or self.primitives & SQUARES and self.primitives & LOGARITHMS:
            readings.append(plain | OF_ROOTS & self.laws)
        if self.primitives & (WRITTEN | AS_LOGARITHMS):
            readings += [laws | {"exponential form"} & self.laws for laws in readings]
        if self.primitives & POWERED and in_force(self.laws):
            readings.append(plain | self.laws & (POWERS | {"exponential form"}))
        if self.primitives & DECIDING:
            readings += [laws | BY_CASES & self.laws for laws in readings]
        if "select_n" in self.primitives:
            readings.append(plain - {"guards"})
        return list(dict.fromkeys(readings))

    def _compare(self, laws: frozenset[str], log2_error: float, almost_everywhere: bool) -> FieldComparison:
        depth = self.depth.written if "exponential form" in laws else self.depth.plain
        if any(domain.positive for domain in self.domains.of) and self._with_logarithms(laws):
            depth += 1
        depth = min(DEEPEST, depth)
        probe = self.draw(self._fitting(self._first(depth, "exponential form" in laws), laws), 0, laws)
        where = Drawn.where
        if probe.where() is not None and self._agree_at_ties(probe, laws):
            where = Drawn.where_apart
        elif probe.where() is not None and self._agree_by_cases(probe):
            where = self._where_in_no_case
        elif probe.where() is not None:
            allowed = almost_everywhere and "almost everywhere" in laws
            if allowed and probe.where_almost() is None:
                where = Drawn.where_almost
            elif allowed and self._agree_by_cases(probe, almost=True):
                where = self._where_in_hardly_any_case
            else:
                return self._different(laws, probe, set(probe.notes))
        notes = set(probe.notes)
        rounds = [probe.round()]
        if rounds[0].bound.condition or rounds[0].bound.log2 > log2_error / ROUNDS:
            rounds = []  # too few copies to count
        wanted = (log2_error - sum(r.bound.log2 for r in rounds)) / (ROUNDS - len(rounds))
        fits = lambda copies: self._fitting(copies, laws) == copies
        copies = self._fitting(plan(probe.draw, min(wanted, -1.0) - 4, self._allowed(), fits), laws)
        for number in range(1, MOST_ROUNDS):
            if len(rounds) >= ROUNDS and sum(r.bound.log2 for r in rounds) <= log2_error:
                break
            drawn = self.draw(copies, number, laws)
            notes |= set(drawn.notes)
            if where(drawn) is not None:
                return self._different(laws, drawn, notes)
            rounds.append(drawn.round())
        return FieldComparison(
            True,
            tuple(sorted(laws)),
            tuple(rounds),
            sum(r.bound.log2 for r in rounds),
            next((r.bound.condition for r in rounds if r.bound.condition), ""),
            _assumed(notes),
            constant=probe.constant,
            undefined=probe.undefined,
            almost=where in (Drawn.where_almost, self._where_in_hardly_any_case),
            decisions=probe.decisions if where is Drawn.where_almost else (),
            constants=self._read(laws),
        )

    def _read(self, laws: frozenset[str]) -> tuple[ConstantReading, ...]:
        """The constants that were read as what they stand for."""
        return tuple(sorted(self.constants)) if "constants as meant" in laws else ()

    def _agree_at_ties(self, drawn: Drawn, laws: frozenset[str]) -> bool:
        """Whether both programs are the same where no compared numbers are equal, and where some are."""
        if "cases that meet" not in laws or drawn.where_apart() is not None:
            return False
        if all(x.almost is None for x in (*drawn.left, *drawn.right)):
            return False
        functions, meant = drawn.sides[0].functions, "constants as meant" in laws
        return all(
            x.almost is None
            and y.almost is None
            or x.expression is not None
            and y.expression is not None
            and self.meeting.at_ties(functions.expressions, x.expression, y.expression, meant=meant)
            for x, y in zip(drawn.left, drawn.right, strict=True)
        )

    def _agree_by_cases(self, drawn: Drawn, *, almost: bool = False) -> bool:
        """Whether all outputs of both programs are equal wherever both are defined, some of them by cases.

        almost: whether inputs of measure zero do not count.
        """
        alike, refused = drawn.sides[0].alike, any(side.refused is not None for side in drawn.sides)
        return alike is not None and all(
            (same := equal(x, y)).all()
            or alike.same_where_defined(x, y, same, both=refused or _is_hollow(x) or _is_hollow(y), almost=almost)
            for x, y in zip(drawn.left, drawn.right, strict=True)
        )

    def _where_in_no_case(self, drawn: Drawn) -> tuple[int, tuple[int, ...]] | None:
        """The first entry at which the programs differ, or None if they agree, some outputs by cases."""
        return None if self._agree_by_cases(drawn) else drawn.where()

    def _where_in_hardly_any_case(self, drawn: Drawn) -> tuple[int, tuple[int, ...]] | None:
        """The first entry at which the programs differ on more than a null set, or None if they agree by cases."""
        return None if self._agree_by_cases(drawn, almost=True) else drawn.where()

    def _different(self, laws: frozenset[str], drawn: Drawn, notes: set[Note]) -> FieldComparison:
        for side in drawn.sides:
            if side.refused is not None:
                raise side.refused
        names = tuple(sorted(laws))
        found = FieldComparison(False, names, (), 0.0, "", _assumed(notes), drawn.where(), drawn.apart)
        almost, guarded = drawn.where_almost() is None, any(side.guarded for side in drawn.sides)
        return dataclasses.replace(found, almost=almost, decisions=drawn.decisions, guarded=guarded)

    def _allowed(self) -> float:
        """Seconds that one round with the copies of the theorem may take."""
        if self.deadline is None or not self.deadline.chosen:
            return THEOREM_SECONDS / ROUNDS
        return max(THEOREM_SECONDS, self.deadline.remaining / 2) / ROUNDS

    def _first(self, depth: int, written: bool) -> tuple[int, ...]:
        """Copies of the first draw: as many as there can be exponents, and some to spare, where that costs little."""
        copies = [PROBE]
        for k in range(1, depth + 1):
            below = [t for t in self.taken if (t.of.written if written else t.of.plain) <= depth - k]
            count = sum(t.entries for t in below if written or t.always)
            copies.append(max(PROBE, count + SPARE + 1))
        entries = entries_computed(self.left) + entries_computed(self.right)
        costly = SECONDS_PER_ENTRY * entries * sum(copies) > PROBE_SECONDS
        return (PROBE,) * (depth + 1) if costly else tuple(copies)

    def _fitting(self, copies: tuple[int, ...], laws: frozenset[str]) -> tuple[int, ...]:
        """So many copies, or fewer at each level, two at least, whose draw fits into the memory that is allowed.

        Raises:
            MemoryLimitError: not even two fit.
        """
        if self.deadline is None:
            return copies
        kept, programs = self.selects and "guards" in laws, (self.left, self.right)
        fewer = (tuple(min(c, most) for c in copies) for most in sorted({2, *copies}, reverse=True) if most >= 2)
        for tried in fewer:
            bytes_needed = of_residues(programs, tried, kept=kept, enough=self.deadline.memory)
            if bytes_needed <= self.deadline.memory:
                return tried
        self.deadline.hold(bytes_needed, "a draw in prime fields")
        return copies

    def draw(self, copies: Sequence[int], number: int, laws: frozenset[str]) -> Drawn:
        """Both programs at one random point; a point at which a divisor vanishes is drawn again."""
        for attempt in range(ATTEMPTS):
            seed = (self.seed, number, attempt)
            try:
                return self._draw(copies, seed, laws)
            except ZeroDivisorError:
                continue
        raise UnsupportedError("a divisor vanishes at every random point; prime fields cannot follow this quotient")

    def _draw(self, copies: Sequence[int], seed: Sequence[int], laws: frozenset[str]) -> Drawn:
        functions = self.functions(copies, seed, laws)
        draw = functions.draw
        inputs = [self.input(functions, i, shape) for i, shape in enumerate(map(shape_of, self.left.jaxpr.invars))]
        alike = self.alike(functions) if "cases" in laws else None
        sides = [Fields(functions, self.meeting, self.deadline, selects=self.selects, alike=alike) for _ in range(2)]
        for side in sides:
            side.input_ranges = [domain.range for domain in self.domains.of]
            bounds = (bound for r in side.input_ranges for bound in (r.low, r.high))
            if "bitcast_convert_type" in self.primitives or any(bound and math.isfinite(bound) for bound in bounds):
                side.asks_for_ranges = side.asks_for_ranges | BOUNDED
            side.positive = [x for x in inputs if x.terms is not None][:MOST_KNOWN_AGAIN]
        left, right = (evaluate(p, f, inputs) for p, f in zip((self.left, self.right), sides, strict=True))
        order = math.lcm(4, self.order, *draw.orders)
        if draw.orders and order > self.order and order.bit_length() * len(copies) <= min(self.bits - 16, ORDER_BITS):
            self.order = order
            return self._draw(copies, seed, laws)
        return Drawn(draw, left, right, (sides[0], sides[1]))

    def functions(
        self, copies: Sequence[int], seed: Sequence[int | str], laws: frozenset[str], kind: type[Draw] = Draw
    ) -> FieldFunctions:
        """The functions of numbers at one random point, with so many copies at each level of its tower."""
        primes = primes_of(len(copies) - 1, tuple(seed), self.step(laws), self.bits, self.order)
        levels = draw_levels(primes, copies, np.random.default_rng(key("levels", *seed)[:4].tolist()))
        draw = kind(levels, seed, self.deadline, self.order)
        return FieldFunctions(draw, laws, logarithms=self.takes_logarithms(laws))

    def alike(self, functions: FieldFunctions) -> Alike:
        """What finds numbers of a draw that are one function by cases."""
        inputs = zip(self.domains.of, map(shape_of, self.left.jaxpr.invars), strict=False)
        ranges = {
            functions.expressions.input(i, shape): Range(domain.low, domain.high, domain.open)
            for i, (domain, shape) in enumerate(inputs)
            if domain != REALS
        }
        meant = "constants as meant" in functions.laws
        by_entries = "cases of entries" in functions.laws
        return Alike(functions.expressions, self.cases, ranges, meant=meant, draw=functions.draw, by_entries=by_entries)

    def step(self, laws: frozenset[str]) -> int:
        """What p - 1 must be a multiple of for the primes of a draw: 4 where cos and sin are exponentials of ix."""
        return 4 if "exponential form" in laws and self.primitives & {"cos", "sin", "tan"} else 2

    def takes_logarithms(self, laws: frozenset[str]) -> bool:
        """Whether either program takes a logarithm, or under the law a power that is made with one."""
        return bool(self.primitives & LOGARITHMS) or in_force(laws) and "pow" in self.primitives

    def input(self, functions: FieldFunctions, index: int, shape: tuple[int, ...]) -> Number:
        """An input with what its domain says of it; one that is positive is the exponential of a real number."""
        domain, number = self.domains[index], Number(functions.draw.variable(shape))
        if domain.positive and self._with_logarithms(functions.laws):
            number = functions.exponential(number)
        return number.but(
            nonnegative=domain.nonnegative,
            facts=domain.facts(shape),
            expression=functions.expressions.input(index, shape),
        )

    def _with_logarithms(self, laws: frozenset[str]) -> bool:
        """Whether positive inputs are written as exponentials, which only logarithms need."""
        return "logarithm of a positive input" in laws and self.takes_logarithms(laws)


MOST_APART = 64
"""So many equations of each program are kept that compute what the other one never does."""

MOST_KNOWN_AGAIN = 2
"""So many positive inputs are known again: results are compared with them, entry by entry."""


@functools.lru_cache(maxsize=256)
def primes_of(depth: int, seed: tuple[int, ...], step: int, bits: int, order: int) -> tuple[int, ...]:
    """The tower of primes of a draw: many comparisons ask for the same one."""
    return draw_primes(depth, random.Random(key("primes", *seed).tobytes()), step=step, bits=bits, order=order)


@dataclass
class Drawn:
    """The outputs of both programs at one draw."""

    draw: Draw
    left: list[Number]
    right: list[Number]
    sides: tuple[Fields, Fields]

    def __post_init__(self) -> None:
        outputs = (*self.left, *self.right, *self._almost(self.left), *self._almost(self.right))
        self.draw.tested(*(output.residues for output in outputs))

    def where(self) -> tuple[int, tuple[int, ...]] | None:
        """The first output entry at which the programs differ, or None if they agree for all inputs."""
        return _first_difference(self.left, self.right)

    def where_apart(self) -> tuple[int, tuple[int, ...]] | None:
        """The first output entry at which the programs differ, or None if they agree where no tie is."""
        return _first_difference(self._almost(self.left), self._almost(self.right))

    def where_almost(self) -> tuple[int, tuple[int, ...]] | None:
        """The first output entry at which the programs differ, or None if they agree for almost all inputs."""
        sides = [self._almost(side) for side in (self.left, self.right)]
        unlawful = next((i for i, pair in enumerate(zip(*sides, strict=True)) if not all(x.lawful for x in pair)), None)
        return _first_difference(*sides) if unlawful is None else (unlawful, ())

    @staticmethod
    def _almost(outputs: list[Number]) -> list[Number]:
        return [output.almost or output for output in outputs]

    @property
    def decisions(self) -> tuple[JaxprEqn, ...]:
        """The equations whose operands are not the same function where decisions between them are left out."""
        return tuple(dict.fromkeys(side.stands_for.get(e, e) for side in self.sides for e in side.lawful))

    @property
    def trails(self) -> tuple[list[Step], list[Step]]:
        """What each program computed, in order."""
        return self.sides[0].trail, self.sides[1].trail

    @property
    def apart(self) -> tuple[tuple[JaxprEqn, ...], ...]:
        """Of each program the first equations that compute values which the other one never has.

        Both may compute the same number in two ways: what leads to values that both have is passed over.
        """
        expressions, found = self.sides[0].functions.expressions, []
        for trail, other in zip(self.trails, reversed(self.trails), strict=True):
            there = {step.value for step in other}
            back = expressions.needed(step.place for step in trail if step.value in there)
            alone = [step for step in trail if step.value not in there]
            for_good = [step for step in alone if step.place not in back] or alone
            found.append(tuple(step.equation for step in for_good)[:MOST_APART])
        return tuple(found)

    @property
    def notes(self) -> frozenset[Note]:
        """What was assumed on the way."""
        return frozenset(self.draw.notes)

    @property
    def constant(self) -> bool:
        """Whether every output has the same rational value in every copy, and so at every point."""
        return all(np.all(x.residues.levels[0] == x.residues.levels[0][:1]) for x in self.left)

    @property
    def undefined(self) -> int:
        """Output entries that are not finite."""
        return sum(0 if x.special is None else int((x.special != 0).sum()) for x in self.left)

    def round(self) -> Round:
        """What a certificate keeps of the draw."""
        levels = self.draw.levels
        primes, copies = tuple(level.field.prime for level in levels), tuple(level.copies for level in levels)
        return Round(primes, copies, tuple(self.draw.applications), error_bound(self.draw))


def _assumed(notes: Iterable[Note]) -> tuple[Assumption, ...]:
    """The notes of all draws."""
    deep = sorted(note.levels for note in notes if isinstance(note, DeepExponentials))
    made = [Assumption(AssumptionKind.DEEP_EXPONENTIALS, {"levels": levels}) for levels in deep]
    left_out = any(isinstance(note, EntriesLeftOut) for note in notes)
    return (*([Assumption(AssumptionKind.ENTRIES_LEFT_OUT)] if left_out else []), *made)


def _first_difference(left: list[Number], right: list[Number]) -> tuple[int, tuple[int, ...]] | None:
    for i, (x, y) in enumerate(zip(left, right, strict=True)):
        agree = equal(x, y)
        if not agree.all():
            return i, tuple(int(n) for n in np.argwhere(~agree)[0])
    return None


def _is_hollow(x: Number) -> bool:
    """Whether a number contains a quotient by what may be zero for inputs of positive measure."""
    return x.facts is not None and x.facts.hollow


def added(log2_error: float, log2_each: float, count: int) -> float:
    """Log2 of a chance and of so many others, together."""
    return float(np.logaddexp2(log2_error, log2_each + math.log2(count))) if count else log2_error


def plan(
    probe: Draw, log2_error: float, seconds: float, fits: Callable[[tuple[int, ...]], bool] = lambda copies: True
) -> tuple[int, ...]:
    """Copies per level for which the error of a round stays below 2^log2_error.

    With as many copies as there are exponents, and some to spare, the bound is a theorem; these are taken if the round
    is estimated to fit into `seconds`, and into memory.
    """
    last, width = len(probe.levels) - 1, affine_width(probe)
    degree = [probe.largest_degree(k) for k in range(last + 1)]
    widths = [width if k == last - 1 and width is not None else SUPPOSED_WIDTH for k in range(last + 1)]
    few = [_enough(probe, k, degree[k], log2_error, widths[k]) for k in range(last + 1)]
    many, seconds_of_ranks = [few[0]], 0.0
    for k in range(1, last + 1):
        columns = probe.exponents[k]
        count = 0 if columns is None else columns.shape[1]
        if k == last and width is not None and count:
            many.append(max(few[k], _spare_copies(probe, many[k - 1], log2_error)))
            continue
        many.append(max(few[k], count + _spare(probe, k, degree[k], count, log2_error) if count else 1))
        seconds_of_ranks += SECONDS_PER_PIVOT * count * count * many[k]
    entries = sum(work * copies for work, copies in zip(probe.work, many, strict=True))
    quick = SECONDS_PER_ENTRY * entries + seconds_of_ranks <= seconds
    return tuple(many if quick and fits(tuple(many)) else few)


def _spare_copies(probe: Draw, copies: int, log2_error: float) -> int:
    """Copies of the last level for which mixing matrices of so many copies have full rank for sure."""
    bits, lost = math.log2(probe.levels[-1].field.prime), math.log2(1 + probe.magnitudes)
    rows = mixed_rows(probe, copies)
    needed = rows * lost + 1 - log2_error + 2
    return rows + max(SPARE, math.ceil(needed / (bits - lost)) - 1)


def _enough(probe: Draw, k: int, degree: int, log2_error: float, width: int) -> int:
    """Copies for which ε^copies, times the pairs of arguments that could be confused, is small enough."""
    tests = log2_tests(probe.applications[k], probe.work[0] if k == 0 else 0)
    epsilon = vanishing(probe, 2 * degree, k, width)
    if epsilon > -HOPELESS:
        return 2
    return max(2, math.ceil((tests - log2_error + 2) / -epsilon))


def _spare(probe: Draw, k: int, degree: int, count: int, log2_error: float) -> int:
    """Copies beyond the number of exponents for which C(copies, spare)·ε^spare is small enough."""
    epsilon = vanishing(probe, degree, k, SUPPOSED_WIDTH)
    for spare in range(SPARE, 64):
        if log2_dependent(count + spare, spare, epsilon) <= log2_error - 2:
            return spare
    return 64
