"""Large programs in pieces: both are cut where their values agree, and what lies between two cuts is compared alone.

A piece is an ordinary pair of programs, whose inputs are the letters of the cuts that it begins at and the inputs of
the programs.  Theorem P of docs/soundness.md: if all pieces are equal for all values of their inputs, so are the
programs.  Where to cut is guessed from `Fingerprints`, on which nothing rests: pieces that are not equal are put
together with what comes next.
"""

from __future__ import annotations

import dataclasses
import functools
import itertools
import math
import time
from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var

from uat_jax.decide.cut import START, Arrays, Cut, matched
from uat_jax.decide.domain import EVERYWHERE, REALS, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.fingerprints import NOTHING, Fingerprints, Replaced, is_sure
from uat_jax.decide.instance import Instance
from uat_jax.decide.layout import Layout, Seat, layout_of
from uat_jax.decide.prime_fields import (
    BY_CASES,
    DECIDING,
    LOGARITHMS,
    MEETING_ERROR,
    FieldComparison,
    PrimeFields,
    added,
)
from uat_jax.decide.wide import WideProof, wide_proof, width_of
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.canonical_form import CanonicalForms
from uat_jax.interpret.flat_program import FlatProgram, Flattening, flattened, program_of, variables
from uat_jax.interpret.recognition import ConstantReading, meanings
from uat_jax.interpret.rows import by_rows
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.prime_fields.exponential_depth import ALWAYS, WRITTEN, Depth, Profile
from uat_jax.numbers.prime_fields.fields import equal
from uat_jax.numbers.prime_fields.power_rules import POWERS, in_force
from uat_jax.numbers.prime_fields.residues import ZeroDivisorError

FEWEST = 12
"""A piece has at least so many equations on both sides, if it is not the last one."""

MOST_LIVE = 4
"""Programs are cut where no more arrays than these are needed later."""

MOST_TESTS = 1024
"""So many pairs are compared at most."""

Programs = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both sides."""

PATIENCE = 150
"""So many more equations are looked at for some that do not wait for an exponential."""

EXPONENTIALS = ALWAYS | WRITTEN
"""Primitives that are written with exponentials."""

MOST_GIVEN_UP = 3
"""So many cuts are given up, behind which nothing was equal, before the programs are said to part."""

MOST_NESTED = 6
"""Behind a cut, exponentials are followed that are nested so deeply; if nothing agrees then, the programs part."""


@dataclass(frozen=True)
class Piece:
    """A pair of programs that are equal.

    found: what prime fields said.  lines: the source lines of both sides, from and to.  equations: how many both have.
    reads: whether a constant in it stands for another number than is written.  count: how often the pair occurs.
    """

    programs: Programs
    found: FieldComparison
    lines: tuple[str, str]
    equations: tuple[int, int]
    seconds: float
    reads: bool
    count: int = 1


@dataclass(frozen=True)
class WidePiece:
    """Two parts of programs, too wide to be evaluated, that have one normal form.

    `lines`, `equations` and `count` are explained at `Piece`.
    """

    programs: Programs
    proof: WideProof
    lines: tuple[str, str]
    equations: tuple[int, int]
    count: int = 1


@dataclass(frozen=True)
class Compared:
    """What comparing in pieces came to.

    found: all different pieces, by the forms of both sides and the domains.  tests: how many pairs were compared, equal
    or not.  questions: how many small programs were compared for what is known of letters.
    readings: constants that stand for other numbers than are written; constants: those that were read as what
    they stand for.  parting: '' if the programs are equal, else where they seem to part.
    by_arrays: whether the pieces lie between single arrays of both, and not one behind the other.
    """

    found: Mapping[Any, Piece | WidePiece]
    tests: int
    questions: int
    readings: tuple[ConstantReading, ...]
    constants: tuple[ConstantReading, ...]
    forms: CanonicalForms
    parting: str = ""
    by_arrays: bool = False

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All different ones that were compared in prime fields."""
        return tuple(p for p in self.found.values() if isinstance(p, Piece))

    @property
    def wide(self) -> tuple[WidePiece, ...]:
        """All different ones that have one normal form."""
        return tuple(p for p in self.found.values() if isinstance(p, WidePiece))

    @property
    def equal(self) -> bool:
        """Whether the programs are equal."""
        return not self.parting

    @property
    def log2_error(self) -> float:
        """log₂ of the chance that one of the tests, or of the questions, was wrong (docs/soundness.md §15)."""
        tests = log2_of_all(self.tests, max((p.found.log2_error for p in self.pieces), default=-math.inf))
        return added(tests, MEETING_ERROR, self.questions)

    @property
    def condition(self) -> str:
        """Why that is conditional, '' if it is a theorem."""
        return next((p.found.condition for p in self.pieces if p.found.condition), "")


def log2_of_all(tests: int, largest: float) -> float:
    """log₂ of the chance that one of so many tests was wrong, each of which had at most this one."""
    return 3 + math.log2(max(1, tests)) + largest


Candidate = tuple[int, tuple[Var, ...]]
"""A place behind which a program can be cut, and the arrays that are needed later."""


@dataclass
class Side:
    """One of the programs, and how far it was followed.

    candidates: (place behind which it can be cut, the arrays that are needed later).  begin: where the present piece
    begins.  next: the equation that is looked at next.  seen: where fingerprints were met, with those of every array.
    needed: for the beginning of a piece and arrays that are needed later, which of them become letters, or None if one
    of the others may not be computed anew.
    """

    program: FlatProgram
    candidates: list[Candidate]
    begin: int = 0
    next: int = 0
    live: dict[int, tuple[Var, ...]] = field(init=False)
    seen: dict[bytes, tuple[int, Mapping[Var, np.ndarray]]] = field(default_factory=dict)
    ahead: Iterator[Candidate] = iter(())
    passed: list[Candidate] = field(default_factory=list)
    needed: dict[tuple[int, tuple[Var, ...]], tuple[Var, ...] | None] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.live = dict(self.candidates)

    @property
    def end(self) -> int:
        """The place behind the last equation."""
        return len(self.program.equations)

    def restart(self) -> None:
        """Begin another piece."""
        self.next, self.seen, self.passed = self.begin, {}, []
        self.ahead = (c for c in self.candidates if c[0] >= self.begin + FEWEST)

    def back_to(self, place: int) -> None:
        """Look at this equation next."""
        first = max(place + 1, self.begin + FEWEST)
        self.next = place
        self.passed = [candidate for candidate in self.passed if candidate[0] < first]
        self.ahead = (c for c in self.candidates if c[0] >= first)

    def window(self) -> range:
        """The equations up to the next place where the program can be cut."""
        candidate = next(self.ahead, (self.end, ()))
        first, self.next = self.next, candidate[0]
        if candidate[1]:
            self.passed.append(candidate)
        return range(first, self.next)

    def reached(
        self, keys: Callable[[Sequence[Var]], Mapping[Var, np.ndarray]]
    ) -> Iterator[tuple[int, Mapping[Var, np.ndarray]]]:
        """The places that were passed, with the fingerprints of what is needed later, as far as it was computed."""
        waiting, self.passed = self.passed, []
        for place, live in waiting:
            question = self.begin, live
            if question not in self.needed:
                needed = self.independent(live)
                self.needed[question] = None if self._forgets(needed, live) else needed
            needed = self.needed[question]
            if needed is None:
                continue
            found = keys(needed)
            if len(found) == len(needed):
                yield place, found
            else:
                self.passed.append((place, live))

    def independent(self, live: tuple[Var, ...]) -> tuple[Var, ...]:
        """The arrays of `live` from which all others are computed: only these become letters at a cut.

        A mean is left out beside the array it is the mean of: as a letter it would be free to differ from it.
        An array that takes an exponential to compute from the others is kept as well.
        """
        kept = list(live)
        for v in sorted(live, key=self.program.producer.__getitem__, reverse=True):
            others = [other for other in kept if other is not v]
            if others and self.program.computed_from(others, v, self.begin, EXPONENTIALS):
                kept = others
        return tuple(kept)

    def _forgets(self, kept: Sequence[Var], live: Sequence[Var]) -> bool:
        """Whether an array that is computed anew behind a cut was needed for one that becomes a letter.

        As exp(a - largest) is, of scores a that are needed again: the letter would be free to differ from exp of them.
        """
        dropped = {self.program.producer[v] for v in live if v not in kept}
        return bool(dropped) and not dropped.isdisjoint(self.program.cone(kept, self.program.free, min(dropped)))


def compared(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    effort: Effort,
    *,
    meant: bool | None = None,
    domains: Domains = EVERYWHERE,
    thoroughly: bool = True,
    sure: bool = False,
) -> Compared:
    """Whether two programs are equal in pieces.

    meant: whether constants are what they stand for; None tries both, and first as they are written, unless constants
    that stand for other numbers occur on one side only.  thoroughly: whether values are looked at under further laws,
    of powers and of cases, where nothing is found without them; these take longer.  sure: whether all outputs must be
    seen to be numbers for all inputs as well.

    Raises:
        UnsupportedError: they cannot be cut, or a piece cannot be followed.
    """
    return Sweep(left, right, effort, meant, domains, thoroughly=thoroughly, sure=sure).compared()


@dataclass(frozen=True)
class Reached:
    """A cut up to which both programs are equal: what is known of its arrays, its places, and what was proved last.

    keys: of the pieces between the cut before and this one.
    """

    cut: Cut = START
    known: Replaced = NOTHING
    places: tuple[int, int] = (0, 0)
    keys: tuple[Any, ...] = ()


@dataclass(frozen=True)
class Step:
    """From one cut to the next, by others at exponentials: what was proved, to be recognized where it occurs again."""

    here: Reached
    between: tuple[Cut, ...]
    after: Reached


class Sweep:
    """Both programs from their inputs to their outputs, one piece after the other."""

    def __init__(
        self,
        left: ClosedJaxpr,
        right: ClosedJaxpr,
        effort: Effort,
        meant: bool | None,
        domains: Domains,
        *,
        thoroughly: bool = True,
        sure: bool = False,
    ):
        self.effort, self.sure, self.itself = effort, sure, left is right
        programs, origins = by_rows((flattened(left, effort.deadline), flattened(right, effort.deadline)))
        self.domains = Domains(tuple(domains[i] for i in origins))
        self.programs = programs
        self.sides = tuple(Side(p, [] if self.itself else list(_candidates(p))) for p in programs)
        profiles = (profile_of(programs[0]), profile_of(programs[1]))
        written = [profile.primitives & WRITTEN for profile in profiles]
        self._exponential_form = written[0] != written[1]
        self._read = functools.partial(
            PrimeFields, left, right, effort.seed, effort.laws, effort.deadline, domains=self.domains, profiles=profiles
        )
        self.known: dict[Hashable, Piece | WidePiece] = {}
        self.tests = self.regions = 0
        self.forms = CanonicalForms()
        here, there = (profile.readings for profile in profiles)
        both_ways = [True, False] if here != there else [False, True]
        readings = both_ways if meant is None and here | there else [bool(meant)]
        laws = list(_further_laws(profiles, effort.laws))
        self.ways = list(itertools.product(laws if thoroughly else laws[:1], readings))

    def compared(self) -> Compared:
        """The result under the first laws, and the first reading of constants, that find equality.

        If none do, it is what was found by those that lead farthest: the programs part there, not before.
        """
        failures: list[tuple[int, Compared | UnsupportedError]] = []
        for laws, meant in self.ways:
            try:
                found = self._begun(laws, meant)._followed()
            except UnsupportedError as error:
                found = error
            if isinstance(found, Compared) and found.equal:
                return found
            failures.append((self.farthest, found))
        _, failure = max(reversed(failures), key=lambda of: of[0])
        if isinstance(failure, UnsupportedError):
            raise failure
        return failure

    def _begun(self, more: frozenset[str], meant: bool) -> Sweep:
        """From the inputs on; what was proved before remains so, if no constant in it is read."""
        self.meant = meant
        self.fields = self._read(meant=meant)
        self.laws = self.fields.laws_of_fingerprints(more, exponential_form=self._exponential_form)
        self.known = {key: p for key, p in self.known.items() if isinstance(p, WidePiece) or not p.reads}
        self.steps: list[Step] = []
        self.reached = [Reached()]
        self.given_up: set[tuple[int, int]] = set()
        self.failures: list[str | UnsupportedError] = []
        self.farthest = 0
        self.keys: list[Any] = []
        return self

    def _followed(self) -> Compared:
        """Go on from the last cut until both programs end, or part for good."""
        while True:
            here = self.reached[-1]
            for side, place in zip(self.sides, here.places, strict=True):
                side.begin = place
            further = self._repeated(here) or self._next_or_why_not(here)
            if isinstance(further, Reached):
                self.reached.append(further)
                continue
            if further == "":
                return self._done(further)
            self.failures.append(further)
            self.farthest = max(self.farthest, sum(here.places))
            if not self._cut_given_up():
                return self._done(self.failures[0])

    def _next_or_why_not(self, here: Reached) -> Reached | str | UnsupportedError:
        """The next cut, '' at the end, or why it is not reached."""
        try:
            return self._proved_next(here)
        except ZeroDivisorError as error:  # at a random point that only guesses where to cut
            return UnsupportedError(str(error))
        except UnsupportedError as error:
            return error

    def _cut_given_up(self) -> bool:
        """Go on from the cut before the last one, and past that; False if that was done often enough, or there is none.

        Letters forget how the arrays that they stand for are related, which may be needed behind the cut.
        """
        if len(self.reached) == 1 or len(self.failures) > MOST_GIVEN_UP:
            return False
        self.given_up.add(self.reached.pop().places)
        return True

    def _proved_next(self, here: Reached) -> Reached | str:
        """The next cut up to which both programs are equal, where they part, or '' if they are equal to the end."""
        seed = ("pieces", self.effort.seed, self.regions)
        self.regions += 1
        self.keys = []
        found = Fingerprints(self.programs, self.fields, self.laws, seed, here.cut, here.known)
        cut = self._region(found)
        if not isinstance(cut, Cut):
            return cut
        after = Reached(cut, found.known(cut), (self.sides[0].begin, self.sides[1].begin), tuple(self.keys))
        self.steps.append(Step(here, tuple(found.cuts[1:]), after))
        return after

    def _repeated(self, here: Reached) -> Reached | None:
        """The next cut, if what leads to it is an instance of what was proved before."""
        return next(filter(None, (self._again(step, here) for step in reversed(self.steps))), None)

    def _again(self, step: Step, here: Reached) -> Reached | None:
        """Where the same step leads from another cut."""
        first, last = step.here, step.after
        if not here.cut.like(first.cut):
            return None
        instance = Instance(self.programs, self.domains)
        shifts = [now - then for now, then in zip(here.places, first.places, strict=True)]
        arrays: list[dict[Var, np.ndarray]] = []
        for s, program in enumerate(self.programs):
            known = zip(first.known[s].values(), here.known[s].values(), strict=True)
            letters = instance.letters(s, list(first.cut.sides[s]), list(here.cut.sides[s]))
            if not letters or not all(b.implies(a) for a, b in known):
                return None
            found = {}
            for target in (*step.between, last.cut):
                found = _shifted(program, target.sides[s], shifts[s], instance.substituted[s])
                there = len(found) == len(target.sides[s])
                if not there or not all(instance.covers(s, a, b) for a, b in zip(target.sides[s], found, strict=True)):
                    return None
            if not self._is_candidate(s, last.places[s] + shifts[s], found):
                return None
            arrays.append(found)
        known = [dict(zip(arrays[s], last.known[s].values(), strict=True)) for s in range(2)]
        places = last.places[0] + shifts[0], last.places[1] + shifts[1]
        if places in self.given_up:
            return None
        return Reached(Cut(last.cut.letters, (arrays[0], arrays[1])), (known[0], known[1]), places, last.keys)

    def _is_candidate(self, s: int, place: int, arrays: Mapping[Var, np.ndarray]) -> bool:
        """Whether what is needed behind this place is computed of these arrays."""
        side = self.sides[s]
        return set(side.independent(side.live.get(place, ()))) == set(arrays)

    def _done(self, parting: str | UnsupportedError) -> Compared:
        if isinstance(parting, UnsupportedError):
            raise parting
        readings = tuple(sorted(self.fields.constants))
        keys = itertools.chain(self.keys, *(reached.keys for reached in self.reached))
        found = {key: dataclasses.replace(self.known[key], count=count) for key, count in Counter(keys).items()}
        questions = self.fields.tests if BY_CASES & self.laws else 0
        if questions and not any(isinstance(piece, Piece) for piece in found.values()):
            parting = parting or "no piece was tested, and what is known of letters was decided by cases"
        return Compared(found, self.tests, questions, readings, readings if self.meant else (), self.forms, parting)

    def _region(self, found: Fingerprints) -> Cut | str:
        """The next cut up to which both programs are equal, where they part, or '' if they are equal to the end."""
        for side in self.sides:
            side.restart()
        while True:
            for s, side in enumerate(self.sides):
                self._advance(found, s, side)
            cut = self._cut(found)
            if cut is not None:
                return cut
            if all(side.next == side.end for side in self.sides) and not any(found.waiting):
                return self._outputs(found)
            if all(side.next == side.end or found.waiting[s] for s, side in enumerate(self.sides)):
                if not self._nested(found):
                    return self._parting(found)

    def _nested(self, found: Fingerprints) -> bool:
        """Whether exponentials that wait can be taken: behind a cut at their arguments, or as they are."""
        if len(found.cuts) > MOST_NESTED:
            return False
        again = found.cut_at_exponentials()
        if again is None:
            return found.permit()
        for side, place in zip(self.sides, again, strict=True):
            if place is not None:
                side.back_to(place)
        return True

    @staticmethod
    def _advance(found: Fingerprints, s: int, side: Side) -> None:
        """Follow one program to the next place where it can be cut, or as far as nothing waits for an exponential."""
        last = side.next
        while side.next < side.end and side.next - last < PATIENCE:
            if found.advance(s, side.window()):
                last = side.next
            if not found.waiting[s]:
                return

    def _cut(self, found: Fingerprints) -> Cut | None:
        """A cut at places that were reached, up to which both programs are equal; both go on from there."""
        for s, side in enumerate(self.sides):
            for place, keys in side.reached(functools.partial(found.keys, s)):
                digest = np.unique(np.concatenate([k.ravel() for k in keys.values()])).tobytes()
                side.seen.setdefault(digest, (place, keys))  # the first: equal parts are cut at the same place
                there = [other.seen.get(digest) for other in self.sides]
                if there[0] is None or there[1] is None:
                    continue
                places = there[0][0], there[1][0]
                cut = matched(there[0][1], there[1][1])
                if places not in self.given_up and found.certain(places) and self._equal(found, cut):
                    self.sides[0].begin, self.sides[1].begin = places
                    return cut
        return None

    def _outputs(self, found: Fingerprints) -> str:
        """'' if the outputs are equal, else where the programs part."""
        outputs = [p.outputs for p in self.programs]
        with jax.enable_x64(True):
            values = [[found.arithmetic.lift(found._read(s, v)[1]) for v in outputs[s]] for s in range(2)]
        if not all(equal(x, y).all() for x, y in zip(*values, strict=True)):
            return self._parting(found)
        if not found.certain([side.end for side in self.sides]):
            raise UnsupportedError("something is decided by what may be undefined, and no cut can be made before that")
        if self.sure and not all(is_sure(found._read(s, v)[1]) for s in range(2) for v in outputs[s]):
            raise UnsupportedError("an output may be undefined")
        return "" if self._equal(found, None) else self._parting(found)

    def _parting(self, found: Fingerprints) -> str:
        """Where the programs part, behind how many pieces that are equal."""
        where = found.parting()
        return f"behind {self._count} equal pieces the functions seem to part{f', at {where}' if where else ''}"

    def _equal(self, found: Fingerprints, end: Cut | None) -> bool:
        """Whether both programs are equal from one cut to another, through the cuts at exponentials between them."""
        cuts: list[Cut | None] = [*found.cuts, end]
        for i in range(1, len(cuts)):
            if not self._proved(found.cuts[:i], cuts[i]):
                if len(found.cuts) == 1:
                    return False
                return self._proved(found.cuts[:1], end)
        return True

    def _proved(self, known: Sequence[Cut], target: Cut | None) -> bool:
        """Whether the arrays of a cut, or the outputs, are equal as functions of the letters of others."""
        if self.itself:
            return True
        pair = PieceOfBoth(self.programs, known, target, self.domains)
        left, right = map(self.forms.outputs, pair.programs)
        if left == right:
            return True
        key = left, right, pair.domains  # what is equal for positive inputs need not be so for others
        if key not in self.known:
            found = self._tested(pair)
            if found is None:
                return False
            self.known[key] = found
            self.effort.progress(f"{self._count + 1} pieces are equal; the last: {pair.lines[0]}")
        self.keys.append(key)
        return True

    @property
    def _count(self) -> int:
        """How many pieces are equal."""
        return len(self.keys) + sum(len(reached.keys) for reached in self.reached)

    def _tested(self, pair: PieceOfBoth) -> Piece | WidePiece | None:
        """A pair that is equal for all inputs, by one normal form or as prime fields find, or None."""
        start = time.monotonic()
        self.tests += 1
        if self.tests > MOST_TESTS:
            raise UnsupportedError(f"more than {MOST_TESTS} pieces were tried")
        effort, error = self.effort, self.effort.error / (16 * MOST_TESTS)
        seed = (effort.seed + 1) * 2**32 + self.tests  # random numbers of its own for every test
        fields = PrimeFields(*pair.programs, seed, effort.laws, effort.deadline, meant=self.meant, domains=pair.domains)
        reads = bool(fields.constants)  # which are read in one way in all pieces
        wide = None if reads else self._wide(pair)
        if wide is not None:
            return WidePiece(pair.programs, wide, pair.lines, pair.sizes)
        try:
            found = fields.compare(math.log2(error))
        except UnsupportedError:
            return None
        if not found.equal or found.almost or not found.within(error):
            return None
        return Piece(pair.programs, found, pair.lines, pair.sizes, time.monotonic() - start, reads)

    def _wide(self, pair: PieceOfBoth) -> WideProof | None:
        """The normal form of a pair that is too wide to be evaluated."""
        width = width_of(pair.programs, self.effort)
        arrays = None if width is None else pair.in_arrays()
        return None if arrays is None else wide_proof(arrays[:2], width, self.effort, arrays[2], whole=False)


def profile_of(program: FlatProgram) -> Profile:
    """What prime fields need to know of a program that is not followed as a whole."""
    arrays = [(np.asarray(a), dtype_of(v)) for v, a in program.constants.items() if is_number(v)]
    literals = {
        (str(dtype_of(atom)), np.asarray(atom.val).tobytes()): (np.asarray(atom.val), dtype_of(atom))
        for equation in program.equations
        for atom in equation.invars
        if isinstance(atom, Literal) and is_number(atom)
    }
    found = [meanings(array, dtype) for array, dtype in (*arrays, *literals.values())]
    readings = frozenset().union(*(m.readings for m in found if m is not None))
    primitives = frozenset(e.primitive.name for e in program.equations)
    return Profile(Depth(), primitives, varies=True, readings=readings, selects=True, taken=())


def _further_laws(profiles: Sequence[Profile], laws: frozenset[str]) -> Iterator[frozenset[str]]:
    """The laws that values are looked at under besides those that always are: none, then what may help."""
    primitives = profiles[0].primitives | profiles[1].primitives
    found: frozenset[str] = frozenset()
    yield found
    if primitives & LOGARITHMS and in_force(laws):
        found |= POWERS
        yield found
    if primitives & DECIDING:
        yield found | BY_CASES


def _shifted(program: FlatProgram, arrays: Arrays, shift: int, substituted: Mapping[Var, Var]) -> dict[Var, np.ndarray]:
    """The arrays that stand so much further on, or that are put for letters, up to the first that is not there."""
    found: dict[Var, np.ndarray] = {}
    for v, places in arrays.items():
        place = program.producer.get(v)
        if v in substituted:
            found[substituted[v]] = places
        elif place is None or not 0 <= place + shift < len(program.equations):
            break
        else:
            outvars = program.equations[place + shift].outvars
            index = program.equations[place].outvars.index(v)
            if index >= len(outvars):
                break
            found[outvars[index]] = places
    return found


class PieceOfBoth:
    """Both programs between cuts, as programs of the letters and of inputs."""

    def __init__(
        self, programs: tuple[FlatProgram, FlatProgram], known: Sequence[Cut], target: Cut | None, domains: Domains
    ):
        arrays = [_together(known, side) for side in range(2)]
        outputs = [list(p.outputs) if target is None else list(target.sides[i]) for i, p in enumerate(programs)]
        cones = [p.cone(variables(o), a) for p, o, a in zip(programs, outputs, arrays, strict=True)]
        used = [_used(p, c, o) for p, c, o in zip(programs, cones, outputs, strict=True)]
        inputs = [
            i
            for i in range(len(programs[0].inputs))
            if any(p.inputs[i] in u for p, u in zip(programs, used, strict=True))
        ]
        letters = sum(cut.letters for cut in known)
        left, right = (
            _assembled(
                p,
                c,
                {v: a for v, a in arrays[i].items() if v in used[i]},
                letters,
                inputs,
                outputs[i],
                None if target is None else target.compared[i],
            )
            for i, (p, c) in enumerate(zip(programs, cones, strict=True))
        )
        self.programs = (left, right)
        self.flat, self.known, self.target, self.cones, self.inputs = programs, known, target, cones, inputs
        self.of_inputs = Domains(tuple(domains[i] for i in inputs))
        self.domains = Domains((REALS, *(domains[i] for i in inputs)))
        self.sizes = (len(cones[0]), len(cones[1]))
        left, right = (_lines([p.equations[i] for i in c]) for p, c in zip(programs, cones, strict=True))
        self.lines = left, right

    def in_arrays(self) -> tuple[ClosedJaxpr, ClosedJaxpr, Domains] | None:
        """Both programs with arrays of letters for inputs, and the arrays of the target for outputs.

        None if a cut has no `Layout`.
        """
        layouts = [layout_of(cut) for cut in self.known]
        known = [layout for layout in layouts if layout is not None]
        target = None if self.target is None else layout_of(self.target)
        if len(known) < len(layouts) or (target is None) != (self.target is None):
            return None
        letters = [[Var(ShapedArray(shape, np.dtype(np.float32))) for shape in layout.shapes] for layout in known]
        laid_out = list(zip(letters, known, strict=True))
        left, right = (
            _of_arrays(p, cone, laid_out, side, [p.inputs[i] for i in self.inputs], target)
            for side, (p, cone) in enumerate(zip(self.flat, self.cones, strict=True))
        )
        return left, right, Domains((*(REALS,) * sum(map(len, letters)), *self.of_inputs.of))


def _lines(equations: Sequence[JaxprEqn]) -> str:
    lines = list(dict.fromkeys(filter(None, map(source_line, equations))))
    return "" if not lines else lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"


def _together(cuts: Sequence[Cut], side: int) -> Arrays:
    """The arrays of one side in all cuts; the letters of each cut are numbered on from the cut before."""
    found: dict[Var, np.ndarray] = {}
    before = 0
    for cut in cuts:
        found |= {v: places + before for v, places in cut.sides[side].items()}
        before += cut.letters
    return found


def _used(program: FlatProgram, cone: Sequence[int], outputs: Sequence[Any]) -> set[Var]:
    return {v for place in cone for v in variables(program.equations[place].invars)} | set(variables(outputs))


def _of_arrays(
    program: FlatProgram,
    cone: Sequence[int],
    known: Sequence[tuple[Sequence[Var], Layout]],
    side: int,
    given: Sequence[Var],
    target: Layout | None,
) -> ClosedJaxpr:
    """The equations of a cone between arrays of letters.

    Of a target every array of either side is an output, the other side being put in the same place.
    """
    flat = Flattening()
    values: dict[Var, Any] = dict(zip(given, given, strict=True))

    def placed(seat: Seat, letters: Any, v: Var) -> Any:
        of = jax.ShapeDtypeStruct(shape_of(letters), dtype_of(letters))
        return flat.inlined(jax.make_jaxpr(lambda a: seat.of(a, v))(of), [letters])[0]

    with jax.enable_x64(True):
        for letters, layout in known:
            values |= {v: placed(seat, letters[seat.block], v) for v, seat in layout.seats[side].items()}
        read = _evaluated(flat, program, cone, values)
        if target is None:
            results = [read(a) for a in program.outputs]
        else:
            blocks = [_block(flat, target, side, number, read) for number in range(len(target.shapes))]
            own = {v: read(v) for v in target.seats[side]}
            results = [
                own[v] if s == side else placed(seat, blocks[seat.block], v)
                for s in range(2)
                for v, seat in target.seats[s].items()
            ]
    return program_of(flat.constants, [*(v for letters, _ in known for v in letters), *given], results, flat.equations)


def _block(flat: Flattening, target: Layout, side: int, number: int, read: Callable[[Any], Any]) -> Any:
    """An array of letters of a target, from the array of a side that is the whole of it."""
    shape = target.shapes[number]
    whole = (
        (v, seat)
        for v, seat in target.seats[side].items()
        if seat.block == number and math.prod(shape_of(v)) == math.prod(shape)
    )
    v, seat = next(whole)
    back = lambda a: a.reshape(shape) if seat.axes is None else jnp.transpose(a, np.argsort(seat.axes).tolist())
    of = jax.ShapeDtypeStruct(shape_of(v), dtype_of(v))
    return flat.inlined(jax.make_jaxpr(back)(of), [read(v)])[0]


def _evaluated(
    flat: Flattening, program: FlatProgram, cone: Sequence[int], values: dict[Var, Any]
) -> Callable[[Any], Any]:
    """Append the equations of a cone; returns what stands for an atom behind them."""
    read = lambda atom: atom if isinstance(atom, Literal) else values[atom] if atom in values else constant(atom)

    def constant(v: Var) -> Var:
        values[v] = flat.constant(v, program.constants[v])
        return values[v]

    for place in cone:
        equation = program.equations[place]
        results = flat.appended(equation, [read(a) for a in equation.invars])
        values.update(zip(equation.outvars, results, strict=True))
    return read


def _assembled(
    program: FlatProgram,
    cone: Sequence[int],
    arrays: Arrays,
    letters: int,
    inputs: Sequence[int],
    outputs: Sequence[Any],
    orders: Sequence[np.ndarray] | None,
) -> ClosedJaxpr:
    """The equations of a cone, behind those that make arrays of letters, and before those that compare entries."""
    flat = Flattening()
    vector = Var(ShapedArray((letters,), np.dtype(np.float32)))
    given = [program.inputs[i] for i in inputs]
    values: dict[Var, Any] = dict(zip(given, given, strict=True))
    with jax.enable_x64(True):
        for v, places in arrays.items():
            values[v] = _of_vector(flat, vector, places, dtype_of(v))
        read = _evaluated(flat, program, cone, values)
        results = [read(a) for a in outputs]
        if orders is not None:
            shapes = [jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in outputs]
            results = flat.inlined(jax.make_jaxpr(lambda *arrays: _entries(arrays, orders))(*shapes), results)
    return program_of(flat.constants, [vector, *given], results, flat.equations)


def _of_vector(flat: Flattening, vector: Var, places: np.ndarray, dtype: np.dtype) -> Any:
    """The array of these letters: a part of the vector in another shape, or entries taken one by one."""
    first, size = int(places.flat[0]), places.size
    if np.array_equal(places.ravel(), np.arange(first, first + size)):
        made, bounds = _part(size, places.shape, str(dtype)), [(first,), (first + size,)]
        cut, *rest = made.jaxpr.eqns
        cut = cut.replace(params=cut.params | {"start_indices": bounds[0], "limit_indices": bounds[1]})
        jaxpr = made.jaxpr.replace(eqns=[cut, *rest])
        return flat.inlined(jaxpr, [vector])[0]
    entries = jax.make_jaxpr(lambda a: _taken(a, places.ravel()).reshape(places.shape).astype(dtype))
    return flat.inlined(entries(jax.ShapeDtypeStruct(shape_of(vector), np.float32)), [vector])[0]


@functools.lru_cache(maxsize=1024)
def _part(size: int, shape: tuple[int, ...], dtype: str) -> ClosedJaxpr:
    """The first entries of a vector, in a shape; the equation that takes them stands first."""
    vector = jax.ShapeDtypeStruct((size + 1,), np.float32)
    return jax.make_jaxpr(lambda a: jax.lax.slice(a, (0,), (size,)).reshape(shape).astype(dtype))(vector)


SINGLE = jax.lax.GatherDimensionNumbers(offset_dims=(), collapsed_slice_dims=(0,), start_index_map=(0,))
"""Entries of a vector."""


def _taken(vector: jax.Array, places: np.ndarray) -> jax.Array:
    return jax.lax.gather(vector, places.astype(np.int32)[:, None], SINGLE, (1,), mode="promise_in_bounds")


def _entries(arrays: Sequence[jax.Array], orders: Sequence[np.ndarray]) -> list[jax.Array]:
    """The entries of all arrays end to end, in each of these orders."""
    vector = jnp.concatenate([a.ravel().astype(np.float32) for a in arrays])
    same = lambda order: np.array_equal(order, np.arange(len(vector)))
    return [vector if same(order) else _taken(vector, order) for order in orders]


def _candidates(program: FlatProgram) -> Iterator[tuple[int, tuple[Var, ...]]]:
    """The places behind which few arrays are needed later, and these; what is an input in another form is none."""
    for place, live in program.live_behind():
        if len(live) <= MOST_LIVE and all(map(is_number, live)) and place < len(program.equations):
            yield place, live
