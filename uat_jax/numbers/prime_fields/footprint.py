"""How much memory an evaluation of a program takes, predicted from the program before anything is computed.

    peak = max over equations of ( Σ live values + results + temporaries )

A value lives from the equation that makes it to the last one that reads it (`uat_jax.interpret.lifetimes`).  In prime
fields an entry has as many residues as there are copies at the levels above the exponentials that it comes from; other
number systems have one number of a fixed size for every copy.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from jax.extend.core import ClosedJaxpr, Jaxpr, JaxprEqn, Literal, Var

from uat_jax.interpret.interpreter import called, inner_programs
from uat_jax.interpret.lifetimes import last_uses
from uat_jax.interpret.operation import LARGE
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import shape_of
from uat_jax.numbers.prime_fields.exponential_depth import ALWAYS, WRITTEN
from uat_jax.numbers.prime_fields.points import KEPT, MOVED
from uat_jax.typing import Atom

TEMPORARIES = 2
"""An operation has two arrays of the size of its result for a while, at one level."""

ROOTS = frozenset(["rsqrt", "sqrt"])
"""Values that come with a letter: its value, its inverse, its square, and the coefficients of the number in it."""

WITH_LETTERS = STRUCTURAL | frozenset("add div mul neg sub".split())
"""Operations whose results keep the letter of an operand."""

LETTERS = 6.0
"""A number with a letter takes so many arrays."""

COMPANIONS: Mapping[str, float] = {
    **dict.fromkeys("div erf integer_pow logistic max min square tanh".split(), 2.0),
    **dict.fromkeys("abs eq ge gt le lt ne select_n sign".split(), 3.0),
}
"""Values come with others, as a decision with what it is where no numbers are equal: so many times their own size."""

EXPONENTS = 3
"""The arguments of exponentials are kept to the end, and then put side by side and sorted."""

PRODUCT = 1 << 26
"""What the limbs of one piece of a large product of matrices take, and what compiling it does."""

ABOUT = 1 << 24
"""Facts, positions, tables and what compiling takes: so much whatever the program is."""

MARGIN = 1.4
"""Predictions are a third below what is measured, on average, without it: allocators keep what is freed for a while."""

CONSTANT = 72.0
"""Bytes of an entry of a constant, beside its residues."""

EVALUATED = 3 << 10
"""Bytes of what is known about an array, whatever its size: of small ones it is kept to the end."""

CRUDE = 2 * LETTERS
"""If so many arrays for every value fit, no look at the lives of values is needed."""

BALL = 160.0
"""Bytes of a ball, in an array of Python objects."""


@dataclass(frozen=True)
class Cost:
    """What an entry takes.

    levels: bytes at every level, the top one first; one level for number systems without.  drawn: whether inputs are
    drawn when they are used; else all of them are there from the start, and as many bytes again were needed to make
    them.  kept: whether every value is kept to the end.
    """

    levels: tuple[float, ...]
    drawn: bool = False
    kept: bool = False

    def of(self, depth: int) -> float:
        """Bytes of an entry that comes from so many exponentials."""
        return sum(self.levels[: max(1, len(self.levels) - depth)])

    @property
    def widest(self) -> float:
        """Bytes of an entry at one level."""
        return max(self.levels)


@dataclass(frozen=True)
class _Value:
    """A variable: its entries, the exponentials below it, whether it depends on inputs, and what comes with it.

    point: whether it is an input, or a rearranged one, that is drawn when it is used.
    """

    entries: int
    depth: int = 0
    varies: bool = False
    point: bool = False
    companions: float = 1.0


class Footprint:
    """The memory that the evaluation of programs takes.

    stored: bytes of the arguments of exponentials.  left: bytes of other values that stay to the end, as small ones
    do.  rounds: how often the equations at hand are evaluated.
    """

    def __init__(self, cost: Cost):
        self.cost = cost
        self.stored = self.left = 0.0
        self.rounds = 1

    def peak(self, programs: Sequence[ClosedJaxpr]) -> float:
        """The most bytes at any time while programs of the same inputs are evaluated one after the other."""
        inputs = [_Value(_entries(v), varies=True, point=self.cost.drawn) for v in programs[0].jaxpr.invars]
        size = self.cost.of(0) * sum(x.entries for x in inputs)
        now = min(KEPT, size) if self.cost.drawn else 2 * size
        most = now
        for program in programs:
            peak, outputs = self._walked(program.jaxpr, inputs)
            most = max(most, now + peak)
            now += sum(map(self._bytes, outputs))
        return MARGIN * (ABOUT + most + self.left + EXPONENTS * self.stored)

    def _bytes(self, value: _Value) -> float:
        """A constant has one copy, and is known in closed form, in float64 and in balls as well."""
        if not value.varies:
            return value.entries * (CONSTANT + 8.0 * len(self.cost.levels))
        return 0.0 if value.point else value.companions * self.cost.of(value.depth) * value.entries

    def _walked(self, jaxpr: Jaxpr, arguments: Sequence[_Value]) -> tuple[float, list[_Value]]:
        """The most bytes above those of the arguments, and the outputs."""
        own = {v: _Value(_entries(v)) for v in jaxpr.constvars}
        values = {**own, **dict(zip(jaxpr.invars, arguments, strict=True))}
        read = lambda atom: _Value(_entries(atom)) if isinstance(atom, Literal) else values[atom]
        now = peak = sum(map(self._bytes, own.values()))
        for equation, unread in zip(jaxpr.eqns, last_uses(jaxpr), strict=True):
            inside, results = self._equation(equation, list(map(read, equation.invars)))
            now += sum(map(self._bytes, results))
            peak = max(peak, now + inside)
            own.update(zip(equation.outvars, results, strict=True))
            values.update(own)
            last = [own.pop(variable) for variable in unread if variable in own]
            now -= sum(map(self._bytes, last))
            self.left += self.rounds * sum(self._bytes(x) for x in last if self.cost.kept or x.entries < LARGE)
        return peak, list(map(read, jaxpr.outvars))

    def _equation(self, equation: JaxprEqn, operands: list[_Value]) -> tuple[float, list[_Value]]:
        """The bytes that are needed while it is evaluated, beside its results, and these."""
        name, function = equation.primitive.name, called(equation)
        if function is not None:
            return self._walked(function.jaxpr if isinstance(function, ClosedJaxpr) else function, operands)
        if name in ("scan", "while", "cond"):
            return self._control(equation, operands)
        results = [self._result(equation, v, operands) for v in equation.outvars]
        if name in ALWAYS | WRITTEN:
            lower = [self.cost.of(x.depth) - self.cost.levels[0] for x in operands if x.varies]
            self.stored += self.rounds * sum(lower) * operands[0].entries
        return self._temporaries(name, operands, results), results

    def _result(self, equation: JaxprEqn, variable: Var, operands: Sequence[_Value]) -> _Value:
        name, entries = equation.primitive.name, _entries(variable)
        depth = max((x.depth for x in operands if x.varies), default=0) + (name in ALWAYS | WRITTEN)
        varies = any(x.varies for x in operands)
        moved = name in STRUCTURAL and len(operands) == 1 and operands[0].point
        point = moved and self.cost.of(0) * entries > MOVED
        return _Value(entries, depth, varies, point, _companions(name, operands) if self.cost.drawn else 1.0)

    def _temporaries(self, name: str, operands: Sequence[_Value], results: Sequence[_Value]) -> float:
        """Points that are drawn, factors in another order, positions, and arrays at one level."""
        drawn = sum(self.cost.widest * x.entries for x in operands if x.point)
        made = sum(self.cost.widest * x.entries for x in results if x.varies)
        if name == "dot_general":
            return 2 * drawn + sum(map(self._bytes, operands)) + (PRODUCT if drawn + made > MOVED else 0)
        return drawn + TEMPORARIES * made + (8.0 * sum(x.entries for x in results) if name in STRUCTURAL else 0)

    def _control(self, equation: JaxprEqn, operands: list[_Value]) -> tuple[float, list[_Value]]:
        """A loop, as if every round were the first, which has the fewest exponentials behind it; or branches."""
        parameters, name = equation.params, equation.primitive.name
        if name == "cond":
            walks = [self._walked(branch.jaxpr, operands[1:]) for branch in parameters["branches"]]
            return max(peak for peak, _ in walks), walks[0][1]
        if name == "while":
            tests, bodies = parameters["cond_nconsts"], parameters["body_nconsts"]
            test, body, carry = operands[:tests], operands[tests : tests + bodies], operands[tests + bodies :]
            asked, _ = self._walked(parameters["cond_jaxpr"].jaxpr, [*test, *carry])
            peak, results = self._walked(parameters["body_jaxpr"].jaxpr, [*body, *carry])
            return max(asked, peak), results
        body = getattr(parameters["jaxpr"], "jaxpr", parameters["jaxpr"])
        entered = [replace(x, entries=_entries(v)) for x, v in zip(operands, body.invars, strict=True)]
        outside, self.rounds = self.rounds, self.rounds * parameters["length"]
        peak, results = self._walked(body, entered)
        self.rounds = outside
        stacked = [replace(x, entries=_entries(v)) for x, v in zip(results, equation.outvars, strict=True)]
        return peak + sum(map(self._bytes, stacked)), stacked


def entries_computed(program: ClosedJaxpr | Jaxpr) -> int:
    """How many entries an evaluation computes; of a loop that may end early, those of one round."""
    return _counted(program)[0]


def _counted(program: ClosedJaxpr | Jaxpr) -> tuple[int, int]:
    """How many entries, and how many arrays, an evaluation computes."""
    return _computed(program.jaxpr if isinstance(program, ClosedJaxpr) else program)


@functools.lru_cache(maxsize=256)
def _computed(jaxpr: Jaxpr) -> tuple[int, int]:
    entries = arrays = 0
    for equation in jaxpr.eqns:
        rounds = equation.params["length"] if equation.primitive.name == "scan" else 1
        inner = list(map(_counted, inner_programs(equation)))
        entries += sum(map(_entries, equation.outvars)) + rounds * sum(inside for inside, _ in inner)
        arrays += len(equation.outvars) + rounds * sum(inside for _, inside in inner)
    return entries, arrays


def needed(programs: Sequence[ClosedJaxpr], cost: Cost, enough: float = 0.0) -> float:
    """The bytes that the evaluation of programs of the same inputs takes; a crude bound where that is ``enough``."""
    computed, arrays = (sum(counts) for counts in zip(*map(_counted, programs), strict=True))
    entries = computed + sum(_entries(v) for v in programs[0].jaxpr.invars)
    crude = CRUDE * cost.of(0) * entries + EVALUATED * arrays + PRODUCT + ABOUT
    return crude if crude <= enough else Footprint(cost).peak(programs) + EVALUATED * arrays


def of_arrays(programs: Sequence[ClosedJaxpr]) -> float:
    """The bytes that are kept about the arrays of programs in any walk over them, whatever the sizes."""
    return EVALUATED * sum(_counted(program)[1] for program in programs)


def of_doubles(programs: Sequence[ClosedJaxpr], copies: int, enough: float = 0.0) -> float:
    """The bytes that programs take in float64, at so many inputs at once."""
    return needed(programs, Cost((8.0 * copies,)), enough)


def of_balls(programs: Sequence[ClosedJaxpr], enough: float = 0.0) -> float:
    """The bytes that programs take in ball arithmetic, at one input."""
    return needed(programs, Cost((BALL,)), enough)


def of_residues(programs: Sequence[ClosedJaxpr], copies: Sequence[int], *, kept: bool, enough: float = 0.0) -> float:
    """The bytes that a draw with so many copies at every level takes; `kept`: whether all values are, to the end."""
    return needed(programs, Cost(tuple(8.0 * count for count in copies), drawn=True, kept=kept), enough)


def _companions(name: str, operands: Sequence[_Value]) -> float:
    """How many arrays as large as its residues a result takes, what else is known of the result included."""
    if name in ROOTS or name in WITH_LETTERS and any(x.companions == LETTERS for x in operands):
        return LETTERS
    return COMPANIONS.get(name, 1.0)


def _entries(atom: Atom) -> int:
    return math.prod(shape_of(atom))
