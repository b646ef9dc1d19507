"""The part in which two large programs differ, with what both compute in the same way before it and behind it.

Both are written as one list of equations, in which what is computed in the same way has one variable.  The part begins
where one array is all that is needed of what both have computed, and ends with a pair of arrays of which both compute
their outputs in the same way.  Its programs are those of a letter for the former.  Theorem D of docs/soundness.md: if
they are equal and always defined, and what comes before them is always defined, both programs are the same function.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, Literal, Var

from uat_jax.decide.domain import REALS, Domains
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.flat_program import Atom, FlatProgram, flattened_together, program_of, variables
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of

LONGEST = 500
"""What is the same on both sides is looked at in parts of at most so many equations."""

FEWEST = 12
"""Each of these has at least so many."""

MOST_KINDS = 32
"""So many different parts of what is the same on both sides are looked at."""

Programs = tuple[ClosedJaxpr, ClosedJaxpr]
"""Both sides."""


@dataclass(frozen=True)
class Part:
    """Programs of a letter and of inputs, both the same where a part is not compared; `domains` of these."""

    programs: Programs
    domains: Domains


@dataclass(frozen=True)
class Difference:
    """Where two programs differ.

    part: what is to be compared.  equations: how many equations of both sides are the same.
    """

    part: Part
    equations: int


Sure = Callable[[Part], bool]
"""Whether what a part computes is a number for all inputs."""


def difference(
    left: ClosedJaxpr, right: ClosedJaxpr, domains: Domains, deadline: Deadline, sure: Sure
) -> Difference | None:
    """The part in which two programs of the same inputs and outputs differ, if it is less than half of them.

    None as well if they do not differ, or if what is the same is not seen to be a number for all inputs.

    Raises:
        BudgetError: the deadline is over.
        UnsupportedError: a branch or a loop whose length is not known, or too many equations.
    """
    if [v.aval.dtype for v in left.jaxpr.invars] != [v.aval.dtype for v in right.jaxpr.invars]:
        return None
    first, second = flattened_together([left, right], deadline)
    both = _Both(first, second, domains)
    ends = both.ends()
    if ends is None:
        return None
    start = both.start(ends)
    cones = both.cones(start, ends)
    among, all_of_them = sum(map(len, cones)), sum(len(p.equations) for p in both.programs)
    if among > all_of_them / 2 or not both.surely_the_same(start, ends, sure):
        return None
    return Difference(both.part(cones, start, ends), all_of_them - among)


Ends = tuple[Var, Var]
"""One array of each side."""


class _Both:
    """Two programs in which equal values are one variable."""

    def __init__(self, left: FlatProgram, right: FlatProgram, domains: Domains):
        self.programs = left, right
        self.domains = domains
        self.inputs = {v: i for i, v in enumerate(left.inputs)}
        self.shared = left.producer.keys() & right.producer.keys()
        self.bottlenecks = list(_bottlenecks(left))

    def ends(self) -> Ends | None:
        """The earliest arrays of which both compute their outputs in the same way; None if the programs are the same.

        Pairs of arrays that are to be equal are followed back, the last one first: if only one is left, all that comes
        behind it is the same on both sides.
        """
        left, right = self.programs
        waiting: list[tuple[int, int, Ends]] = []
        seen: set[Ends] = set()

        def equated(pair: tuple[Atom, Atom]) -> bool:
            """Whether a pair of arrays is the same, or is to be looked at; False if it can never be."""
            a, b = pair
            if a is b or isinstance(a, Literal) and isinstance(b, Literal) and _same_literals(a, b):
                return True
            if isinstance(a, Literal) or isinstance(b, Literal):
                return False
            if a not in left.producer or b not in right.producer or _type(a) != _type(b):
                return False
            if (a, b) not in seen:
                seen.add((a, b))
                heapq.heappush(waiting, (-left.producer[a], len(seen), (a, b)))
            return True

        found = None
        if not all(map(equated, zip(left.outputs, right.outputs, strict=True))):
            return None
        while waiting:
            pair = waiting[0][2]
            if len(waiting) == 1 and is_number(pair[0]) and 0 not in shape_of(pair[0]):
                found = pair
            heapq.heappop(waiting)
            operands = _operands(*pair, left, right)
            if operands is None or not all(map(equated, operands)):
                break
        return found

    def start(self, ends: Ends) -> Var | None:
        """The last array that is all that both need of what they share before they differ; None for the inputs."""
        left = self.programs[0]
        first = next((i for i, e in enumerate(left.equations) if self.shared.isdisjoint(e.outvars)), 0)
        for place, array in reversed(self.bottlenecks):
            if place <= first and array in self.shared:
                before = {v for e in left.equations[:place] for v in e.outvars} - left.free
                cones = self.cones(array, ends)
                made = {v for p, c in zip(self.programs, cones, strict=True) for i in c for v in p.equations[i].outvars}
                return array if made.isdisjoint(before) else None
        return None

    def cones(self, start: Var | None, ends: Ends) -> tuple[list[int], list[int]]:
        """The places of the equations of both sides between a letter and these arrays."""
        known = set() if start is None else {start}
        left, right = (p.cone(variables([end]), known) for p, end in zip(self.programs, ends, strict=True))
        return left, right

    def part(self, cones: Sequence[Sequence[int]], start: Var | None, ends: Ends) -> Part:
        """What is between a letter and these arrays."""
        letters = [] if start is None else [start]
        read = [_read(p, c) | {end} for p, c, end in zip(self.programs, cones, ends, strict=True)]
        used = [i for i, v in enumerate(self.programs[0].inputs) if any(v in r for r in read)]
        left, right = (
            _program(p, cone, letters, [p.inputs[i] for i in used], [end])
            for p, cone, end in zip(self.programs, cones, ends, strict=True)
        )
        return Part((left, right), Domains((*(REALS for _ in letters), *(self.domains[i] for i in used))))

    def surely_the_same(self, start: Var | None, ends: Ends, sure: Sure) -> bool:
        """Whether what the left side computes before the letter and behind the end is a number for all inputs.

        It is looked at in steps between bottlenecks, those that are alike once.
        """
        left, (end, _) = self.programs[0], ends
        known: dict[Any, bool] = {}
        before = () if start is None else [v for _, v in self.bottlenecks if left.producer[v] <= left.producer[start]]
        behind = [v for _, v in self.bottlenecks if left.producer[v] > left.producer[end]]
        outputs = [v for v in variables(left.outputs) if v is not end]

        def shown(letters: list[Var], targets: list[Var], cone: list[int]) -> bool:
            key = self._kind(cone, letters, targets)
            if key not in known and len(known) < MOST_KINDS:
                known[key] = sure(self._alone(cone, letters, targets))
            return known.get(key, False)

        def followed(letters: list[Var], stops: Sequence[Var], last: list[Var]) -> bool:
            """Whether the last arrays are numbers for all letters."""
            for stop in stops:
                cone = left.cone([stop], set(letters))
                if len(cone) > LONGEST:
                    return False
                if len(cone) >= FEWEST and stop not in last and shown(letters, [stop], cone):
                    letters = [stop]
            cone = left.cone(last, set(letters))
            return not last or len(cone) <= LONGEST and shown(letters, last, cone)

        return followed([], before, [] if start is None else [start]) and followed([end], behind, outputs)

    def _alone(self, cone: Sequence[int], letters: Sequence[Var], targets: Sequence[Var]) -> Part:
        """Some equations of the left side, beside themselves."""
        left, read = self.programs[0], _read(self.programs[0], cone)
        used = [i for i, v in enumerate(left.inputs) if v in read]
        program = _program(left, cone, letters, [left.inputs[i] for i in used], targets)
        return Part((program, program), Domains((*(REALS for _ in letters), *(self.domains[i] for i in used))))

    def _kind(self, cone: Sequence[int], letters: Sequence[Var], targets: Sequence[Var]) -> Any:
        """Equal for equations that do the same to other letters and to other inputs from the same domains."""
        left = self.programs[0]
        numbers: dict[Any, Any] = {v: ("letter", i) for i, v in enumerate(letters)}

        def name(atom: Atom) -> Any:
            if isinstance(atom, Literal):
                return _literal(atom)
            if atom in left.constants:
                return atom
            if atom not in numbers:
                place = self.inputs.get(atom)
                numbers[atom] = len(numbers), None if place is None else (self.domains[place], _type(atom))
            return numbers[atom]

        found = []
        for place in cone:
            equation = left.equations[place]
            operation = left.operations[equation.outvars[0]]
            if not operation.comparable:
                return object()
            found.append((operation, *map(name, equation.invars)))
            found.append(tuple(map(name, equation.outvars)))
        return tuple(map(_type, letters)), tuple(found), tuple(map(name, targets))


def _bottlenecks(program: FlatProgram) -> Iterator[tuple[int, Var]]:
    """The places behind which a single array is needed later that is no input in another form, and that array."""
    for place, live in program.live_behind():
        if len(live) == 1 and is_number(live[0]) and 0 not in shape_of(live[0]):
            yield place, live[0]


def _operands(a: Var, b: Var, left: FlatProgram, right: FlatProgram) -> list[tuple[Atom, Atom]] | None:
    """The pairs of operands of the equations that compute two values, if these do the same to them."""
    first, second = left.equations[left.producer[a]], right.equations[right.producer[b]]
    one, other = left.operations[first.outvars[0]], right.operations[second.outvars[0]]
    if one is not other or not one.comparable or len(first.invars) != len(second.invars):
        return None
    operands = list(zip(first.invars, second.invars, strict=True))
    return operands if first.outvars.index(a) == second.outvars.index(b) else None


def _program(
    program: FlatProgram, cone: Sequence[int], letters: Sequence[Var], inputs: Sequence[Var], outputs: Sequence[Atom]
) -> ClosedJaxpr:
    """The equations of a cone as a program of letters and inputs."""
    read = _read(program, cone) | set(variables(outputs))
    constants = {v: array for v, array in program.constants.items() if v in read}
    return program_of(constants, [*letters, *inputs], outputs, [program.equations[place] for place in cone])


def _read(program: FlatProgram, cone: Sequence[int]) -> set[Any]:
    return {v for place in cone for v in variables(program.equations[place].invars)}


def _type(atom: Atom) -> tuple[Any, ...]:
    return shape_of(atom), dtype_of(atom)


def _literal(literal: Literal) -> tuple[Any, bytes]:
    array = np.asarray(literal.val, dtype_of(literal))
    return array.dtype, array.tobytes()


def _same_literals(a: Literal, b: Literal) -> bool:
    return _type(a) == _type(b) and _literal(a) == _literal(b)
