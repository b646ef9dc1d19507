"""Integers that programs compute of real numbers and choose by, such as the place of a largest logit, as inputs.

    f(x) = F(i(x), x)        g(x) = G(j(x), x)        i = j,  F(n, x) = G(n, x) for all n        ⇒        f = g

Which integers of both programs may be equal is guessed from their values in float64.  That they are is a question of
its own about two programs, as is F = G.  docs/soundness.md §20 proves Theorem I.
"""

from __future__ import annotations

import dataclasses
import functools
import operator
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.core import ShapedArray
from jax.extend.core import ClosedJaxpr, JaxprEqn, Literal, Var
from jax.lax import GatherScatterMode

from uat_jax.decide.batches import PASSING, in_batches
from uat_jax.decide.domain import Domains, Interval
from uat_jax.decide.effort import Effort
from uat_jax.decide.integers import Integers
from uat_jax.decide.sampling import random_inputs
from uat_jax.decide.verdict import Evidence
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.flat_program import MOVES, FlatProgram, Flattening, flattened_together, program_of, variables
from uat_jax.interpret.integer_ranges import Range, is_integer, limits, of_array, ranges
from uat_jax.interpret.interpreter import interpret_all, programs_within
from uat_jax.interpret.scattering import SCATTERS
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.footprint import of_doubles

if TYPE_CHECKING:
    from uat_jax.decide.equivalence import Pair
    from uat_jax.decide.whole_inputs import Decide

COPIES = 24
"""Integers are taken for equal that are so at so many random inputs."""

CHOOSING = frozenset(["gather", "dynamic_slice", "dynamic_update_slice", *SCATTERS])
"""Primitives that choose places by integers, also where the result is one."""

Programs = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both sides."""

Target = tuple[Any, tuple[tuple[int, ...], Any]]
"""What a program returns, and the shape and dtype in which it does."""

Key = tuple[tuple[Any, ...], bytes]
"""The shape of an array without axes of length 1, whether it has the dtype that int64 does not hold, and its values."""


@dataclass(frozen=True)
class Letter:
    """Arrays of integers, of both sides, that may be equal, as one input.

    members: those of each side.  first: the one whose shape and dtype the input has.
    """

    members: tuple[tuple[Var, ...], tuple[Var, ...]]

    @property
    def first(self) -> Var:
        """The array that stands for all."""
        return self.members[0][0]

    def opposite(self, s: int) -> list[Var]:
        """What one side returns so that all members of both are seen to be equal."""
        left, right = self.members
        return [*left, *left[:1] * (len(right) - 1)] if s == 0 else [*right[:1] * len(left), *right[1:]]

    @property
    def form(self) -> tuple[tuple[int, ...], Any]:
        """The shape and dtype in which the members are compared: floats, to which casts are exact and one to one."""
        return tuple(n for n in shape_of(self.first) if n != 1), np.dtype(np.float32)

    @property
    def is_shared(self) -> bool:
        """Whether both sides compute it in the same way."""
        return {*self.members[0]} == {*self.members[1]} == {self.first}


@dataclass(frozen=True)
class InnerIntegers:
    """Two programs of real numbers with arrays of integers in between.

    letters: these, in ranks: those of a rank are computed of real inputs and of letters of the ranks before.
    """

    programs: tuple[FlatProgram, FlatProgram]
    domains: Domains
    letters: tuple[tuple[Letter, ...], ...]

    @property
    def lines(self) -> str:
        """Where the integers are computed on the left."""
        left = self.programs[0]
        made = [left.equations[left.producer[letter.first]] for rank in self.letters for letter in rank]
        return ", ".join(dict.fromkeys(f"'{e.primitive.name}'{source_line(e)}" for e in made))

    def steps(self) -> Iterator[tuple[Programs, Domains]]:
        """The pairs of programs that have to be equal: the letters of each rank, and the outputs at last."""
        known: list[Letter] = []
        for rank in self.letters:
            asked = [letter for letter in rank if not letter.is_shared]
            if asked:
                yield self._pair(known, [[(v, x.form) for x in asked for v in x.opposite(s)] for s in (0, 1)])
            known += rank
        yield self._pair(known, [[(v, (shape_of(v), dtype_of(v))) for v in p.outputs] for p in self.programs])

    def _pair(self, known: Sequence[Letter], targets: Sequence[list[Target]]) -> tuple[Programs, Domains]:
        """Both programs of their inputs and of letters; domains of these."""
        inputs = [Var(ShapedArray(shape_of(letter.first), dtype_of(letter.first))) for letter in known]
        left, right = (self._program(s, known, inputs, targets[s]) for s in (0, 1))
        own = [self.domains[i] for i in range(len(self.programs[0].inputs))]
        return (left, right), Domains((*own, *map(self._range, known)))

    def _program(self, s: int, known: Sequence[Letter], inputs: Sequence[Var], targets: list[Target]) -> ClosedJaxpr:
        """One side as a program of its inputs and of letters."""
        flat, program = Flattening(), self.programs[s]
        values: dict[Var, Any] = dict(zip(program.inputs, program.inputs, strict=True))
        with jax.enable_x64(True):  # the types are the equations' own
            for letter, given in zip(known, inputs, strict=True):
                for v in letter.members[s]:
                    values[v] = flat.inlined(_in_form(given, shape_of(v), dtype_of(v)), [given])[0]
            cut = values.keys() - set(program.inputs)
            for v, array in program.constants.items():
                values[v] = flat.constant(v, array)
            read = lambda atom: atom if isinstance(atom, Literal) else values[atom]
            for place in program.cone(variables(v for v, _ in targets), cut):
                equation = program.equations[place]
                results = flat.appended(equation, list(map(read, equation.invars)))
                values.update((v, x) for v, x in zip(equation.outvars, results, strict=True) if v not in cut)
            outputs = [flat.inlined(_in_form(v, *form), [read(v)])[0] for v, form in targets]
            return program_of(flat.constants, [*program.inputs, *inputs], outputs, flat.equations)

    @cached_property
    def _ranges(self) -> tuple[dict[Var, Range], dict[Var, Range]]:
        """The numbers that each array can be."""
        left, right = (_ranges_of(program, self.domains) for program in self.programs)
        return left, right

    def _range(self, letter: Letter) -> Integers:
        """The numbers that a letter can be, if its members are equal."""
        found = [self._ranges[s][v] for s in (0, 1) for v in letter.members[s]]
        low, high = max(int(r.low) for r in found), min(int(r.high) for r in found)
        if low > high:
            raise UnsupportedError("integers of both sides have no value in common")
        return Integers(low, high)


def inner_integers(
    left: ClosedJaxpr, right: ClosedJaxpr, domains: Domains, seed: int, deadline: Deadline
) -> InnerIntegers | None:
    """The integers in between of two programs of real numbers; None if both have none that may be equal.

    Raises:
        BudgetError: the deadline is over.
        UnsupportedError, MemoryLimitError: the programs cannot be followed.
    """
    if not (makes_integers(left) and makes_integers(right)):
        return None
    flat = flattened_together([left, right], deadline)
    sides = [_Side(program) for program in flat]
    if not all(side.uses for side in sides) or any(side.promises for side in sides):
        return None
    keys = _keys(sides, domains, seed, deadline)
    matched = set(keys[0].values()) & set(keys[1].values())
    while True:
        ends = [side.ends({v for v, key in k.items() if key in matched}) for side, k in zip(sides, keys, strict=True)]
        known = [{k[v] for v in end} for end, k in zip(ends, keys, strict=True)]
        alone = known[0] ^ known[1]
        if not alone:
            break
        place = lambda key: max(
            s.program.producer[v] for s, k in zip(sides, keys, strict=True) for v in k if k[v] == key
        )
        matched.discard(max(alone, key=place))
    by_key: dict[Key, Letter] = {}
    for key in known[0]:
        first, second = (tuple(v for v in end if k[v] == key) for end, k in zip(ends, keys, strict=True))
        by_key[key] = Letter((first, second))
    return InnerIntegers((flat[0], flat[1]), domains, _ranked(flat, list(by_key.values()))) if by_key else None


def makes_integers(program: ClosedJaxpr, *, of_numbers: bool = False) -> bool:
    """Whether integers are made of real numbers or truth values, or `of_numbers` alone, at the outermost or within."""
    given = is_number if of_numbers else lambda v: not is_integer(v)
    equations = (e for p in programs_within(program) for e in p.eqns)
    return any(any(map(is_integer, e.outvars)) and any(map(given, e.invars)) for e in equations)


class _Side:
    """A program, its integers that depend on inputs, and which of them something else than integers is made of.

    promises: whether a scatter is promised that such integers lie in its operand; where they do not, nothing is known.
    """

    def __init__(self, program: FlatProgram) -> None:
        self.program = program
        depends: set[Any] = set(program.inputs)
        inside = _inside(program)
        self.integers: list[Var] = []
        self.uses: dict[Var, None] = {}
        self.promises = False
        for equation in program.equations:
            if depends.isdisjoint(variables(equation.invars)):
                continue
            self.promises |= _is_promised(equation) and not depends.isdisjoint(variables(equation.invars[1:2]))
            depends.update(equation.outvars)
            self.integers += [v for v in equation.outvars if is_integer(v)]
            if equation.primitive.name not in MOVES - CHOOSING or not inside.isdisjoint(equation.outvars):
                self.uses.update(dict.fromkeys(v for v in _used(equation) if v in depends))

    def ends(self, matched: set[Var]) -> list[Var]:
        """The last arrays of some that what is used is computed of by integers alone."""
        found: dict[Var, None] = {}
        waiting, seen = list(self.uses), set[Var]()
        while waiting:
            v = waiting.pop()
            if v in seen or v not in self.program.producer:
                continue
            seen.add(v)
            if v in matched:
                found[v] = None
            else:
                equation = self.program.equations[self.program.producer[v]]
                waiting += [x for x in variables(equation.invars) if is_integer(x)]
        return list(found)


def _is_promised(equation: JaxprEqn) -> bool:
    """Whether an equation is a scatter whose places are promised to lie in the operand."""
    promised = GatherScatterMode.PROMISE_IN_BOUNDS
    return equation.primitive.name in SCATTERS and equation.params.get("mode") == promised


def _inside(program: FlatProgram) -> set[Var]:
    """The arrays of which more is made than the outputs with their entries in other places, and cast."""
    found: set[Var] = set()
    for equation in reversed(program.equations):
        if equation.primitive.name not in MOVES - CHOOSING or not found.isdisjoint(equation.outvars):
            found.update(variables(equation.invars))
    return found


def _used(equation: JaxprEqn) -> Iterator[Var]:
    """The integers of an equation that it makes something else of, or chooses by."""
    chooses = equation.primitive.name in CHOOSING
    if chooses or not all(map(is_integer, equation.outvars)):
        for v in variables(equation.invars[1:] if chooses else equation.invars):
            if is_integer(v):
                yield v


def _keys(sides: Sequence[_Side], domains: Domains, seed: int, deadline: Deadline) -> list[dict[Var, Key]]:
    """The values of all integers of both sides at random inputs."""
    programs = []
    for side in sides:
        p = side.program
        cone = p.cone(side.integers, ())
        programs.append(program_of(p.constants, p.inputs, side.integers, [p.equations[place] for place in cone]))
    copies = COPIES
    while copies > 1 and of_doubles(programs, copies, deadline.memory) > deadline.memory / 4:
        copies //= 2
    deadline.hold(of_doubles(programs, copies, deadline.memory), "a look at integers in between")
    doubles = Doubles()
    doubles.deadline = deadline
    points = random_inputs(programs[0], copies, np.random.default_rng((seed, 19)), domains)
    outputs = interpret_all(programs, doubles, points)
    return [
        {v: _key(v, x, copies) for v, x in zip(side.integers, found, strict=True)}
        for side, found in zip(sides, outputs, strict=True)
    ]


def _key(v: Var, values: Any, copies: int) -> Key:
    shape = ("uint64" * (dtype_of(v) == np.uint64), *(n for n in shape_of(v) if n != 1))
    whole = np.broadcast_to(np.asarray(values), (copies, *shape_of(v))).astype(np.int64)
    return shape, whole.tobytes()


def _ranked(programs: Sequence[FlatProgram], letters: Sequence[Letter]) -> tuple[tuple[Letter, ...], ...]:
    """The letters in ranks: each behind all those of which it is computed on either side.

    Raises:
        UnsupportedError: two letters are computed of each other, one on each side.
    """
    behind = [0] * len(letters)
    for s, program in enumerate(programs):
        own = {v: 1 << n for n, letter in enumerate(letters) for v in letter.members[s]}
        of: dict[Var, int] = {}
        for equation in program.equations:
            before = functools.reduce(operator.or_, (of.get(v, 0) for v in variables(equation.invars)), 0)
            of.update((v, before | own.get(v, 0)) for v in equation.outvars)
        for n, letter in enumerate(letters):
            behind[n] |= functools.reduce(operator.or_, (of[v] for v in letter.members[s])) & ~(1 << n)
    ranks: list[tuple[Letter, ...]] = []
    done, left = 0, set(range(len(letters)))
    while left:
        rank = [n for n in sorted(left) if not behind[n] & ~done]
        if not rank:
            raise UnsupportedError("integers of both sides are computed of one another")
        ranks.append(tuple(letters[n] for n in rank))
        left -= set(rank)
        done |= sum(1 << n for n in rank)
    return tuple(ranks)


def _in_form(given: Any, shape: tuple[int, ...], dtype: Any) -> ClosedJaxpr:
    """From an array to the same one in another shape and of another dtype."""
    of = jax.ShapeDtypeStruct(shape_of(given), dtype_of(given))
    return jax.make_jaxpr(lambda a: a if a.shape == shape and a.dtype == dtype else a.reshape(shape).astype(dtype))(of)


def _ranges_of(program: FlatProgram, domains: Domains) -> dict[Var, Range]:
    """The numbers that the arrays of a program can be."""
    found: dict[Any, Range] = {v: of_array(array) for v, array in program.constants.items()}
    for i, v in enumerate(program.inputs):
        of = domains[i]
        found[v] = of.range if isinstance(of, Interval) else limits(dtype_of(v))
    read = lambda atom: of_array(np.asarray(atom.val, dtype_of(atom))) if isinstance(atom, Literal) else found[atom]
    for equation in program.equations:
        try:
            made = ranges(equation, list(map(read, equation.invars)))
        except UnsupportedError:
            made = [limits(dtype_of(v)) for v in equation.outvars]
        found.update(zip(equation.outvars, made, strict=True))
    return found


def by_inner_integers(pair: Pair, effort: Effort, decide: Decide) -> Evidence | None:
    """That two programs of real numbers are equal, once integers in between are inputs; None if it is not shown.

    Raises:
        BudgetError: the time is up.
        MemoryLimitError: it takes more memory than is allowed.
    """
    try:
        found = inner_integers(pair.left, pair.right, pair.domains, effort.seed, effort.deadline)
        if found is None:
            return None
        steps = list(found.steps())
    except UnsupportedError:
        return None

    def each(step: tuple[Programs, Domains], share: Effort) -> Evidence:
        (left, right), domains = step
        between = dataclasses.replace(pair, left=left, right=right, domains=domains, names=())
        return decide(between, share, lambda found: "", proof_alone=True)

    everywhere = dataclasses.replace(effort, almost_everywhere=False)
    shown = in_batches(steps, everywhere, each, "integers in between, then the rest")
    if shown.verdict not in PASSING:
        return None
    text = f"the integers of {found.lines} are equal, and are inputs of what follows: {shown.finding}"
    return dataclasses.replace(shown, finding=text)
