"""Large programs in pieces: both are cut where their values agree, and what lies between two cuts is compared alone.

A piece is an ordinary pair of programs, whose inputs are the letters of the cuts that it begins at and the inputs of
the programs.  Theorem P of docs/soundness.md: if all pieces are equal for all values of their inputs, so are the
programs.  Where to cut is guessed from `Fingerprints`, on which nothing rests: pieces that are not equal are put
together with what comes next.
"""

from __future__ import annotations

import dataclasses
import functools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from uat_jax.arithmetic.canonical_form import CanonicalForms
from uat_jax.arithmetic.exponential_depth import WRITTEN, Depth, Profile
from uat_jax.arithmetic.fields import equal
from uat_jax.arithmetic.flat_program import FlatProgram, Flattening, flattened, variables
from uat_jax.arithmetic.recognition import ConstantReading, meanings
from uat_jax.arithmetic.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.decide.cut import START, Arrays, Cut, matched
from uat_jax.decide.domain import EVERYWHERE, REALS, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.fingerprints import NOTHING, Fingerprints, Replaced
from uat_jax.decide.instance import Instance
from uat_jax.decide.prime_fields import FieldComparison, PrimeFields
from uat_jax.errors import UnsupportedError

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
class Compared:
    """What comparing in pieces came to.

    found: all different pieces, by the forms of both sides.  tests: how many pairs were compared, equal or not.
    readings: constants that stand for other numbers than are written; constants: those that were read as what they
    stand for.  parting: '' if the programs are equal, else where they seem to part.
    """

    found: Mapping[Any, Piece]
    tests: int
    readings: tuple[ConstantReading, ...]
    constants: tuple[ConstantReading, ...]
    forms: CanonicalForms
    parting: str = ""

    @property
    def pieces(self) -> tuple[Piece, ...]:
        """All different ones."""
        return tuple(self.found.values())

    @property
    def equal(self) -> bool:
        """Whether the programs are equal."""
        return not self.parting

    @property
    def log2_error(self) -> float:
        """log₂ of the chance that one of the tests was wrong (Theorem P of docs/soundness.md)."""
        return log2_of_all(self.tests, max((p.found.log2_error for p in self.pieces), default=-math.inf))

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
    """

    program: FlatProgram
    candidates: list[Candidate]
    begin: int = 0
    next: int = 0
    live: dict[int, tuple[Var, ...]] = field(init=False)
    seen: dict[bytes, tuple[int, Mapping[Var, np.ndarray]]] = field(default_factory=dict)
    ahead: Iterator[Candidate] = iter(())
    passed: list[Candidate] = field(default_factory=list)

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
            found = keys(live)
            if len(found) == len(live):
                yield place, found
            else:
                self.passed.append((place, live))


def compared(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    effort: Effort,
    *,
    meant: bool,
    domains: Domains = EVERYWHERE,
    before: Compared | None = None,
) -> Compared:
    """Whether two programs are equal in pieces.

    meant: whether constants are what they stand for.  before: what was found with constants as they are written.

    Raises:
        UnsupportedError: they cannot be cut, or a piece cannot be followed.
    """
    return Sweep(left, right, effort, meant, domains, before).compared()


@dataclass(frozen=True)
class Step:
    """From one cut to the next: what was proved, to be recognized where it occurs again.

    begins, ends: the places of both programs.  cuts: the first one, those at exponentials, and the last.  before,
    after: what is known of the arrays of the first and the last.  keys: of the pieces.
    """

    begins: tuple[int, int]
    ends: tuple[int, int]
    cuts: tuple[Cut, ...]
    before: Replaced
    after: Replaced
    keys: tuple[Any, ...]


class Sweep:
    """Both programs from their inputs to their outputs, one piece after the other."""

    def __init__(
        self,
        left: ClosedJaxpr,
        right: ClosedJaxpr,
        effort: Effort,
        meant: bool,
        domains: Domains,
        before: Compared | None,
    ):
        self.effort, self.meant, self.domains = effort, meant, domains
        programs = (flattened(left), flattened(right))
        self.programs = programs
        self.sides = tuple(Side(p, list(_candidates(p))) for p in programs)
        profiles = (profile_of(programs[0]), profile_of(programs[1]))
        self.fields = PrimeFields(
            left, right, effort.seed, effort.laws, effort.deadline, meant=meant, domains=domains, profiles=profiles
        )
        written = [profile.primitives & WRITTEN for profile in profiles]
        self.laws = self.fields.laws_of_fingerprints(exponential_form=written[0] != written[1])
        self.pieces: dict[Any, Piece] = {}
        self.tests = before.tests if before else 0
        self.forms = before.forms if before else CanonicalForms()
        self.known = {key: piece for key, piece in before.found.items() if not piece.reads} if before else {}
        self.steps: list[Step] = []

    def compared(self) -> Compared:
        """The result."""
        cut, known, number = START, NOTHING, 0
        while True:
            repeated = self._repeated(cut, known)
            if repeated is not None:
                cut, known = repeated
                continue
            seed = ("pieces", self.effort.seed, number)
            found = Fingerprints(self.programs, self.fields, self.laws, seed, cut, known)
            number += 1
            begins = self.sides[0].begin, self.sides[1].begin
            self.keys: list[Any] = []
            reached = self._region(found)
            if reached is None:
                return self._done()
            if isinstance(reached, str):
                return dataclasses.replace(self._done(), parting=reached)
            after, ends = found.known(reached), (self.sides[0].begin, self.sides[1].begin)
            self.steps.append(Step(begins, ends, (*found.cuts, reached), known, after, tuple(self.keys)))
            cut, known = reached, after

    def _repeated(self, cut: Cut, known: Replaced) -> tuple[Cut, Replaced] | None:
        """The next cut, and what is known there, if what leads to it is an instance of what was proved before."""
        for step in reversed(self.steps):
            found = self._again(step, cut, known)
            if found is not None:
                for key in step.keys:
                    self.pieces[key] = dataclasses.replace(self.pieces[key], count=self.pieces[key].count + 1)
                return found
        return None

    def _again(self, step: Step, cut: Cut, known: Replaced) -> tuple[Cut, Replaced] | None:
        """The same step from another cut."""
        instance = Instance(self.programs, self.domains)
        if not cut.like(step.cuts[0]):
            return None
        shifts = [side.begin - begin for side, begin in zip(self.sides, step.begins, strict=True)]
        arrays: list[dict[Var, np.ndarray]] = []
        for s, program in enumerate(self.programs):
            old, new = list(step.cuts[0].sides[s]), list(cut.sides[s])
            facts = zip(step.before[s].values(), known[s].values(), strict=True)
            if not instance.letters(s, old, new) or any(b.defined > a.defined for a, b in facts):
                return None
            found = {}
            for target in step.cuts[1:]:
                found = _shifted(program, target.sides[s], shifts[s], instance.substituted[s])
                there = len(found) == len(target.sides[s])
                if not there or not all(instance.covers(s, a, b) for a, b in zip(target.sides[s], found, strict=True)):
                    return None
            if not self._is_candidate(s, step.ends[s] + shifts[s], found):
                return None
            arrays.append(found)
        for s, side in enumerate(self.sides):
            side.begin += step.ends[s] - step.begins[s]
        after = tuple(dict(zip(arrays[s], step.after[s].values(), strict=True)) for s in range(2))
        return Cut(step.cuts[-1].letters, (arrays[0], arrays[1])), (after[0], after[1])

    def _is_candidate(self, s: int, place: int, arrays: Mapping[Var, np.ndarray]) -> bool:
        """Whether behind this place no other arrays are needed."""
        return set(self.sides[s].live.get(place, ())) == set(arrays)

    def _done(self) -> Compared:
        readings = tuple(sorted(self.fields.constants))
        return Compared(self.pieces, self.tests, readings, readings if self.meant else (), self.forms)

    def _region(self, found: Fingerprints) -> Cut | str | None:
        """The next cut up to which both programs are equal, or None if they are to the end, or where they part."""
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
                if not found.cut_at_exponentials() and not found.permit():
                    return self._parting(found)

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
                side.seen[digest] = place, keys
                there = [other.seen.get(digest) for other in self.sides]
                if there[0] is None or there[1] is None:
                    continue
                cut = matched(there[0][1], there[1][1])
                if found.certain and self._equal(found, cut):
                    self.sides[0].begin, self.sides[1].begin = there[0][0], there[1][0]
                    return cut
        return None

    def _outputs(self, found: Fingerprints) -> str | None:
        """None if the outputs are equal, else where the programs part."""
        outputs = [p.outputs for p in self.programs]
        with jax.enable_x64(True):
            values = [[found.arithmetics[s].lift(found._read(s, v)[1]) for v in outputs[s]] for s in range(2)]
        if not all(equal(x, y).all() for x, y in zip(*values, strict=True)):
            return self._parting(found)
        if not found.certain:
            raise UnsupportedError("something is decided by what may be undefined, and no cut can be made before that")
        return None if self._equal(found, None) else self._parting(found)

    def _parting(self, found: Fingerprints) -> str:
        """Where the programs part, behind how many pieces that are equal."""
        pieces = sum(piece.count for piece in self.pieces.values())
        where = found.parting()
        return f"behind {pieces} equal pieces the functions seem to part{f', at {where}' if where else ''}"

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
        pair = PieceOfBoth(self.programs, known, target, self.domains)
        key = tuple(map(self.forms.outputs, pair.programs))
        if key[0] == key[1]:
            return True
        self.keys.append(key)
        if key in self.pieces:
            self.pieces[key] = dataclasses.replace(self.pieces[key], count=self.pieces[key].count + 1)
            return True
        found = self.known[key] if key in self.known else self._tested(pair)
        if found is None:
            return False
        self.pieces[key] = dataclasses.replace(found, count=1)
        pieces = sum(piece.count for piece in self.pieces.values())
        self.effort.progress(
            f"{pieces} pieces are equal, {len(self.pieces)} of them different; the last: {pair.lines[0]}"
        )
        return True

    def _tested(self, pair: PieceOfBoth) -> Piece | None:
        """A pair that prime fields find equal for all inputs, or None."""
        start = time.monotonic()
        self.tests += 1
        if self.tests > MOST_TESTS:
            raise UnsupportedError(f"more than {MOST_TESTS} pieces were tried")
        effort, error = self.effort, self.effort.error / (16 * MOST_TESTS)
        seed = (effort.seed + 1) * 2**32 + self.tests  # random numbers of its own for every test
        fields = PrimeFields(*pair.programs, seed, effort.laws, effort.deadline, meant=self.meant, domains=pair.domains)
        try:
            found = fields.compare(math.log2(error))
        except UnsupportedError:
            return None
        if not found.equal or found.almost or not found.within(error):
            return None
        reads = bool(fields.constants)
        return Piece(pair.programs, found, pair.lines, pair.sizes, time.monotonic() - start, reads)


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
        self.domains = Domains((REALS, *(domains[i] for i in inputs)))
        self.sizes = (len(cones[0]), len(cones[1]))
        self.lines = tuple(_lines([p.equations[i] for i in c]) for p, c in zip(programs, cones, strict=True))


def _lines(equations: Sequence[JaxprEqn]) -> str:
    lines = list(dict.fromkeys(filter(None, map(source_line, equations))))
    return "" if not lines else lines[0] if len(lines) == 1 else f"{lines[0]} … {lines[-1]}"


def _together(cuts: Sequence[Cut], side: int) -> Arrays:
    """The arrays of all cuts; the letters of each behind those of the ones before."""
    found: dict[Var, np.ndarray] = {}
    before = 0
    for cut in cuts:
        found |= {v: places + before for v, places in cut.sides[side].items()}
        before += cut.letters
    return found


def _used(program: FlatProgram, cone: Sequence[int], outputs: Sequence[Any]) -> set[Var]:
    return {v for place in cone for v in variables(program.equations[place].invars)} | set(variables(outputs))


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
    vector = Var(jax.core.ShapedArray((letters,), np.dtype(np.float32)))
    given = [program.inputs[i] for i in inputs]
    values: dict[Var, Any] = dict(zip(given, given, strict=True))
    with jax.enable_x64(True):
        for v, places in arrays.items():
            values[v] = _of_vector(flat, vector, places, dtype_of(v))
        read = lambda atom: atom if isinstance(atom, Literal) else values[atom] if atom in values else constant(atom)

        def constant(v: Var) -> Var:
            values[v] = flat.constant(v, program.constants[v])
            return values[v]

        for place in cone:
            equation = program.equations[place]
            results = flat.appended(equation, [read(a) for a in equation.invars])
            values.update(zip(equation.outvars, results, strict=True))
        results = [read(a) for a in outputs]
        if orders is not None:
            shapes = [jax.ShapeDtypeStruct(shape_of(v), dtype_of(v)) for v in outputs]
            results = flat.inlined(jax.make_jaxpr(lambda *arrays: _entries(arrays, orders))(*shapes), results)
    debug = jax.make_jaxpr(lambda: ())().jaxpr.debug_info
    jaxpr = Jaxpr(list(flat.constants), [vector, *given], results, flat.equations, debug_info=debug)
    return ClosedJaxpr(jaxpr, list(flat.constants.values()))


def _of_vector(flat: Flattening, vector: Var, places: np.ndarray, dtype: Any) -> Any:
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


def _taken(vector: jax.Array, places: np.ndarray) -> jax.Array:
    return vector.at[places].get(mode="promise_in_bounds")


def _entries(arrays: Sequence[jax.Array], orders: Sequence[np.ndarray]) -> list[jax.Array]:
    """The entries of all arrays end to end, in each of these orders."""
    vector = jnp.concatenate([a.ravel().astype(np.float32) for a in arrays])
    same = lambda order: np.array_equal(order, np.arange(len(vector)))
    return [vector if same(order) else _taken(vector, order) for order in orders]


def _candidates(program: FlatProgram) -> Iterator[tuple[int, tuple[Var, ...]]]:
    """The places behind which few arrays are needed later, and these; what is an input in another form is none."""
    live: dict[Var, None] = {}
    for place, equation in enumerate(program.equations):
        for v in variables(equation.invars):
            if program.last_use[v] == place:
                live.pop(v, None)
        made = [v for v in equation.outvars if program.last_use.get(v, -1) > place and v not in program.free]
        live.update(dict.fromkeys(made))
        if made and len(live) <= MOST_LIVE and all(map(is_number, live)) and place + 1 < len(program.equations):
            yield place + 1, tuple(live)
