"""Programs compared array by array, where too much is needed later for them to be cut: gradients of deep models.

Arrays of both sides that have the same entries at a random input in float64 are taken for equal: a guess on which
nothing rests.  In the order in which they are computed, each of them is compared with its like, as a function of arrays
that were shown to be equal before; these are letters.  So the pieces form a graph and not a row, and Theorem P holds
for it (docs/soundness.md §15): every array that becomes a letter is seen to be a number for all inputs.
"""

from __future__ import annotations

import contextlib
import dataclasses
import functools
import itertools
import math
from collections import defaultdict
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, Var

from uat_jax.decide.cut import Cut, matched
from uat_jax.decide.domain import EVERYWHERE, Domains
from uat_jax.decide.effort import Effort
from uat_jax.decide.fingerprints import DeepExponentialError, Fingerprints, Known, is_sure
from uat_jax.decide.pieces import Compared, Piece, PieceOfBoth, Side, Sweep, WidePiece
from uat_jax.decide.prime_fields import BY_CASES
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.flat_program import MOVES, FlatProgram, program_of, variables
from uat_jax.interpret.interpreter import interpret_all
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.fields import equal
from uat_jax.numbers.prime_fields.refused import Refused
from uat_jax.numbers.prime_fields.residues import ZeroDivisorError

MOST_ENTRIES = 1 << 22
"""Programs that compute more entries than these are not compared so."""

HALF = 0.5
"""A program of which so large a part lies between two places where it can be cut is compared array by array first."""

GENERATIONS = 3
"""So often a pair that is not equal is looked at as a function of arrays that are farther away."""

SHORT, LONGEST = 8, 120
"""Of a pair of arrays at most so many equations of a side are compared; few are compared without a look before."""

MOST_BY_CASES = 64
"""Of so many equations of a side it is looked under the laws of cases whether it pays to compare them."""

CLOSE, TINY = 1e-9, 1e-13
"""Float64 values that differ by less are the same number, up to rounding: relative to them, and beside 1."""

ENTRIES = np.uint64((1 << 32) - 1)
"""The second half of a letter: the number of an entry."""

ZERO = 1e-10
"""Arrays without a larger entry are zero up to rounding, and alike by chance."""


@dataclass(frozen=True)
class Alike:
    """Two arrays that seem to have the same entries: an array of each side, and which number every entry is, uint32."""

    arrays: tuple[Var, Var]
    numbers: tuple[np.ndarray, np.ndarray]

    @property
    def cut(self) -> Cut:
        """The cut at both."""
        left, right = ({v: numbers} for v, numbers in zip(self.arrays, self.numbers, strict=True))
        return matched(left, right)


def compared_in_every_way(
    left: ClosedJaxpr,
    right: ClosedJaxpr,
    effort: Effort,
    *,
    domains: Domains = EVERYWHERE,
    thoroughly: bool = True,
    arrays_first: bool = False,
) -> Iterator[Compared | UnsupportedError]:
    """The results of comparing two programs in pieces one behind the other and, if `thoroughly`, array by array.

    Each way is taken when its result is asked for, and none after one that finds both equal.  Where none does, it is
    said why the pieces one behind the other are not equal, or cannot be followed.  With `arrays_first` the second way
    comes first where a program can hardly be cut.
    """
    try:
        sweep = Sweep(left, right, effort, None, domains, thoroughly=thoroughly)
    except UnsupportedError as error:
        yield error
        return
    ways: list[Callable[[], Sweep]] = [lambda: sweep]
    if thoroughly:
        ways.append(functools.partial(ArrayByArray, left, right, effort, None, domains))
    if arrays_first and max(map(_longest_part, sweep.sides)) > HALF:
        ways.reverse()
    before: Sweep | None = None
    failure: Compared | UnsupportedError | None = None
    for begun in ways:
        way = begun()
        if before is not None:  # one count of tests, and what was proved is known
            way.tests, way.forms, way.known = before.tests, before.forms, before.known
        try:
            found = way.compared()
            if found.equal:
                yield found
                return
        except UnsupportedError as error:
            found = error
        before, failure = way, found if way is sweep else failure
        if failure is not None:
            yield failure


def _longest_part(side: Side) -> float:
    """The part of a program that lies between two places at which it can be cut, where that is longest."""
    places = [0, *(place for place, _ in side.candidates), side.end]
    return max(b - a for a, b in itertools.pairwise(places)) / max(1, side.end)


class ArrayByArray(Sweep):
    """Both programs, one pair of arrays after the other.

    values: what is known of arrays, as functions of those that are letters.  shown: for each side the arrays that were
    shown to be equal to one of the other, and which letter every entry is.  facts: what is known of these.  unequal:
    the forms of pairs that were not shown to be equal.
    """

    values: Fingerprints
    shown: tuple[dict[Var, np.ndarray], dict[Var, np.ndarray]]
    facts: tuple[dict[Var, Known], dict[Var, Known]]

    def __init__(self, left: ClosedJaxpr, right: ClosedJaxpr, effort: Effort, meant: bool | None, domains: Domains):
        super().__init__(left, right, effort, meant, domains)
        self.unequal: set[Any] = set()
        self.groups = 0

    def compared(self) -> Compared:
        """The result under the first reading of constants that finds equality."""
        readings = list(dict.fromkeys(meant for _, meant in self.ways))
        for meant in readings[:-1]:
            with contextlib.suppress(UnsupportedError):
                found = self._read_so(meant)
                if found.equal:
                    return found
        return self._read_so(readings[-1])

    def _read_so(self, meant: bool) -> Compared:
        self._begun(frozenset(), meant)
        more = dict.fromkeys(laws for laws, _ in self.ways if laws)
        form = self._exponential_form
        self._guessed = [self.fields.laws_of_fingerprints(laws, exponential_form=form) for laws in more] or [self.laws]
        self.values = Fingerprints(self.programs, self.fields, self.laws, ("arrays", self.effort.seed))
        self.values.draw.permitted = True
        self.shown, self.facts = ({}, {}), ({}, {})
        for pair in _pairs(self.programs, self.domains, self.effort.seed):
            self.effort.deadline.check()
            if self._is_equal(pair):
                self._noted(pair)
        equal = self._is_equal(None) and self._are_followed()
        parting = "" if equal else "not all outputs are shown to be equal array by array"
        return dataclasses.replace(self._done(parting), by_arrays=True)

    def _are_followed(self) -> bool:
        """Whether the outputs can be followed from letters with what is known of these.

        In a piece a letter is zero on a null set only, and relu(x), for which it may stand, is zero on a half-line: a
        quotient by it goes through nothing that makes a number of an infinity, as it may do in a piece.
        """
        try:
            with jax.enable_x64(True):
                outputs = [self.values._read(s, v)[1] for s in range(2) for v in self.programs[s].outputs]
        except (UnsupportedError, DeepExponentialError, ZeroDivisorError):
            return False
        return not any(isinstance(value, Refused) for value in outputs)

    def _noted(self, pair: Alike) -> None:
        """Two equal arrays become letters, if both are seen to be numbers for all inputs."""
        found, doubts = self.values, list(map(len, self.values._doubts))
        try:
            with jax.enable_x64(True):
                values = [found._read(s, v)[1] for s, v in enumerate(pair.arrays)]
        except (UnsupportedError, DeepExponentialError, ZeroDivisorError):
            return
        if all(map(is_sure, values)) and list(map(len, found._doubts)) == doubts:
            known = found.known(pair.cut)
            found._take(pair.cut, known)
            group = self._group(pair)
            for s, v in enumerate(pair.arrays):
                self.shown[s][v], self.facts[s][v] = (group << np.uint64(32)) + pair.numbers[s], known[s][v]

    def _group(self, pair: Alike) -> np.uint64:
        """The first half of the letters of a pair: one for all arrays that a chain of equal pairs joins, and no others.

        That entries of other arrays seem to be the same numbers is a guess: y and y + 2⁻⁵⁰ are the same in float64.
        """
        before = {_group_of(self.shown[s][v]) for s, v in enumerate(pair.arrays) if v in self.shown[s]}
        if not before:
            self.groups += 1
            return np.uint64(self.groups)
        group = min(before)
        for side in self.shown:
            for v, letters in side.items():
                if _group_of(letters) in before:
                    side[v] = (group << np.uint64(32)) + (letters & ENTRIES)
        return group

    def _is_equal(self, pair: Alike | None) -> bool:
        """Whether a pair, or the outputs, are equal as functions of letters; of the nearest ones, or of others."""
        targets = [[pair.arrays[s]] if pair else list(variables(self.programs[s].outputs)) for s in range(2)]
        allowed = [set(self.shown[s]) - set(targets[s] if pair else ()) for s in range(2)]
        for _ in range(GENERATIONS):
            front = [_front(self.programs[s], targets[s], allowed[s]) for s in range(2)]
            if pair and max(map(len, map(self._cone, range(2), targets, front))) > LONGEST:
                return False
            for letters in (front, self._independent(front)):
                if self._proved([self._cut_at(letters)], pair and pair.cut):
                    return True
            if not any(front):
                return False
            allowed = [a - f for a, f in zip(allowed, front, strict=True)]
        return False

    def _tested(self, pair: PieceOfBoth) -> Piece | WidePiece | None:
        """A pair that is equal for all inputs, or None; at first at one random point, under few laws."""
        left, right = map(self.forms.outputs, pair.programs)
        key = left, right, pair.domains, self.meant
        few = max(pair.sizes) <= MOST_BY_CASES
        hopeless = lambda: not any(self._agrees(pair, laws) for laws in self._guessed if few or not BY_CASES & laws)
        if key in self.unequal or max(pair.sizes) > SHORT and hopeless():
            return None
        found = super()._tested(pair)
        if found is None:
            self.unequal.add(key)
        return found

    def _agrees(self, pair: PieceOfBoth, laws: frozenset[str]) -> bool:
        """Whether both sides have the same values at a random point; that is no proof, and saves tests that fail."""
        (cut,) = pair.known
        known = [{v: self.facts[s][v] for v in cut.sides[s]} for s in range(2)]
        self.regions += 1
        seed = ("pieces", self.effort.seed, self.regions)
        found = Fingerprints(self.programs, self.fields, laws, seed, cut, (known[0], known[1]))
        found.draw.permitted = True
        target = pair.target
        outputs: list[list[Any]] = [list(target.sides[s] if target else self.programs[s].outputs) for s in range(2)]
        try:
            with jax.enable_x64(True):
                read = [[found._read(s, v) for v in outputs[s]] for s in range(2)]
        except (UnsupportedError, DeepExponentialError, ZeroDivisorError):
            return False
        if target is None:
            return all(equal(*map(found.arithmetic.lift, (x, y))).all() for (_, x), (_, y) in zip(*read, strict=True))
        keys = [found.keys(s, outputs[s]) for s in range(2)]
        if not all(keys):
            return False
        entries = [np.concatenate([k.ravel() for k in side.values()]) for side in keys]
        orders = zip(*target.compared, strict=True)
        return all(np.array_equal(entries[0][a], entries[1][b]) for a, b in orders)

    def _cone(self, s: int, targets: Sequence[Var], front: Collection[Var]) -> list[int]:
        return self.programs[s].cone(targets, front)

    def _cut_at(self, front: Sequence[Collection[Var]]) -> Cut:
        """The letters of some arrays of each side, in the order in which these are computed."""
        sides = []
        for s, program in enumerate(self.programs):
            ordered = sorted(front[s], key=program.producer.__getitem__)
            sides.append({v: self.shown[s][v] for v in ordered})
        return matched(*sides)

    def _independent(self, front: Sequence[Collection[Var]]) -> list[set[Var]]:
        """The arrays from which, on both sides, all others of them are computed."""
        kept = [set(f) for f in front]
        of = {v: _group_of(self.shown[s][v]) for s in range(2) for v in front[s]}
        for group in sorted(set(of.values()), reverse=True):
            others = [{v for v in kept[s] if of[v] != group} for s in range(2)]
            if all(others[s] or len(others[s]) == len(kept[s]) for s in range(2)) and all(
                self._computed(s, others[s], v) for s in range(2) for v in kept[s] - others[s]
            ):
                kept = others
        return kept

    def _computed(self, s: int, known: Collection[Var], v: Var) -> bool:
        """Whether an array is computed from others behind the first of them."""
        program = self.programs[s]
        first = min(map(program.producer.__getitem__, known))
        return program.computed_from(known, v, first, ())


def _group_of(letters: np.ndarray) -> np.uint64:
    """The first half of the letters of an array."""
    return letters.ravel()[0] >> np.uint64(32)


def _front(program: FlatProgram, targets: Sequence[Var], letters: Collection[Var]) -> set[Var]:
    """The letters that targets are computed from, through equations that compute no letter."""
    found, seen, waiting = set[Var](), set[Var](), list(targets)
    while waiting:
        v = waiting.pop()
        if v in seen:
            continue
        seen.add(v)
        if v in letters:
            found.add(v)
        elif v in program.producer:
            waiting += variables(program.equations[program.producer[v]].invars)
    return found


# Which arrays seem to be alike


def _pairs(programs: tuple[FlatProgram, FlatProgram], domains: Domains, seed: int) -> Iterator[Alike]:
    """Arrays of both sides with the same set of entries, in the order in which they are computed.

    The first of each side are one pair; others are paired with the first one of the other side.
    """
    numbers = _numbers(programs, domains, seed)
    groups: dict[bytes, tuple[list[Var], list[Var]]] = defaultdict(lambda: ([], []))
    for s in range(2):
        for v, entries in numbers[s].items():
            groups[np.unique(entries).tobytes()][s].append(v)
    height = [_heights(p) for p in programs]
    found = []
    for left, right in groups.values():
        lefts, rights = _not_moved(programs[0], left), _not_moved(programs[1], right)
        if lefts and rights:
            found += [(lefts[0], v) for v in rights] + [(v, rights[0]) for v in lefts[1:]]
    found.sort(key=lambda pair: height[0][pair[0]] + height[1][pair[1]])
    for pair in found:
        left, right = (numbers[s][v] for s, v in enumerate(pair))
        yield Alike(pair, (left, right))


def _not_moved(program: FlatProgram, alike: Sequence[Var]) -> list[Var]:
    """The arrays that are no rearrangement of another one of them."""

    def moved(v: Var) -> bool:
        equation = program.equations[program.producer[v]]
        return equation.primitive.name in MOVES and set(variables(equation.invars)) <= set(alike)

    return [v for v in alike if not moved(v)]


def _heights(program: FlatProgram) -> Mapping[Var, int]:
    """How many equations stand on the longest way from the inputs to a variable."""
    found: dict[Var, int] = {}
    for equation in program.equations:
        height = 1 + max((found.get(v, 0) for v in variables(equation.invars)), default=0)
        found.update(dict.fromkeys(equation.outvars, height))
    return found


def _numbers(
    programs: tuple[FlatProgram, FlatProgram], domains: Domains, seed: int
) -> tuple[dict[Var, np.ndarray], dict[Var, np.ndarray]]:
    """Of both programs, at one random input, every entry of every array as the number of its value, uint64.

    Raises:
        UnsupportedError: float64 cannot evaluate them, or they compute too many entries.
    """
    wanted = [[v for e in p.equations for v in e.outvars if is_number(v) and v not in p.free] for p in programs]
    if sum(math.prod(shape_of(v)) for p in programs for e in p.equations for v in e.outvars) > MOST_ENTRIES:
        raise UnsupportedError(f"the programs compute more than {MOST_ENTRIES} entries")
    inputs = programs[0].inputs
    random = np.random.default_rng((seed, 83))
    normal = [random.standard_normal((1, *shape_of(v))) for v in inputs]
    points = domains.folded(normal, [dtype_of(v) for v in inputs])
    whole = [program_of(p.constants, p.inputs, v, p.equations) for p, v in zip(programs, wanted, strict=True)]
    with np.errstate(all="ignore"):
        values = [[np.asarray(x, float) for x in side] for side in interpret_all(whole, Doubles(), points)]
    kept = [
        {v: np.broadcast_to(x, (1, *shape_of(v)))[0] for v, x in zip(wanted[s], values[s], strict=True)}
        for s in range(2)
    ]
    shown = lambda x: x.size > 0 and np.isfinite(x).all() and np.abs(x).max() > ZERO
    kept = [{v: x for v, x in side.items() if shown(x)} for side in kept]
    together = np.concatenate([np.zeros(0), *(x.ravel() for side in kept for x in side.values())])
    order = np.argsort(together)
    steps = np.diff(together[order], prepend=together[order][:1])
    numbers = np.zeros(together.size, np.uint64)
    numbers[order] = np.cumsum(steps > CLOSE * np.abs(together[order]) + TINY).astype(np.uint64)
    parts = iter(np.split(numbers, np.cumsum([x.size for side in kept for x in side.values()])[:-1]))
    left, right = ({v: next(parts).reshape(x.shape) for v, x in side.items()} for side in kept)
    return left, right
