"""Both programs at one random point behind a cut, to see which of their values agree.

What agrees here is a guess at what may be proved: nothing rests on it.  Exponentials are taken once: where the argument
of one is no affine function of the letters, both programs are cut at it, and the exponential is one of new letters.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import jax
import numpy as np
from jax.extend.core import JaxprEqn, Literal, Var

from uat_jax.decide.cut import START, Cut, matched
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.errors import UatJaxError, UnsupportedError
from uat_jax.interpret.flat_program import MOVES, FlatProgram, variables
from uat_jax.interpret.interpreter import Numbered, Walk
from uat_jax.interpret.tracing import is_number, shape_of, source_line
from uat_jax.numbers.prime_fields.exponential_depth import UNDEFINED_STAYS
from uat_jax.numbers.prime_fields.fact_rules import DECISIONS
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature
from uat_jax.numbers.prime_fields.fields import Fields, Value
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.refused import Refused
from uat_jax.numbers.prime_fields.residues import Draw, Residues
from uat_jax.typing import Atom

MANY = 0.25
"""An array is shared if so large a part of its entries is."""

LARGE = 1 << 22
"""Programs with more entries in their inputs are evaluated in one copy only."""

AFFINE = MOVES | {"add", "sub", "neg", "max", "min", "reduce_max", "reduce_min", "reduce_sum", "add_any"}
"""Primitives through which arguments of exponentials are followed back, so that maxima stay related to entries."""

Keys = Mapping[Var, np.ndarray]
"""Fingerprints of the entries of arrays, uint64."""


@dataclass(frozen=True)
class Known:
    """What is known of an array that letters stand for: its facts, and whether none of its entries is negative."""

    facts: Facts
    nonnegative: bool

    @property
    def key(self) -> Hashable:
        """All that is known, in a form that can be compared."""
        return self.facts.key, self.nonnegative

    def implies(self, other: Known) -> bool:
        """Whether all that is known of the other array, which has this shape, is known of this one too."""
        return self.facts.implies(other.facts) and self.nonnegative >= other.nonnegative


Replaced = tuple[Mapping[Var, Known], Mapping[Var, Known]]
"""What is known of the arrays of both programs that letters stand for."""

NOTHING: Replaced = ({}, {})
"""Where no letters are."""


class DeepExponentialError(UatJaxError):
    """The argument of an exponential is not affine in the letters, or is itself made of exponentials."""


class ShallowDraw(Draw):
    """A draw in which the arguments of exponentials are affine in the letters, unless others are `permitted`.

    replaced: whether the next exponential is not used, because a law writes it without logarithms in its argument.
    """

    permitted = replaced = False

    def exponential(self, a: Residues, kind: str = "exp") -> Residues:
        """exp(a), or exp(ia).  Raises `DeepExponentialError`."""
        replaced, self.replaced = self.replaced, False
        if not replaced and (len(a.levels) == 1 or a.degree.affine is None and not self.permitted):
            raise DeepExponentialError("an exponential of what is not affine in the letters")
        return super().exponential(a, kind)


class FingerprintFields(Fields):
    """Prime fields that keep nothing but the values that are asked for."""

    draw: ShallowDraw

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation."""
        self.draw.replaced = equation.primitive.name == "exp" and self._is_replaced(operands[0])
        if self.alike is not None:
            return self._for_all_inputs(equation, operands)
        return list(map(self._unconditional, self._evaluated(equation, operands)))

    def _is_replaced(self, x: Value) -> bool:
        """Whether exp(x) is written as a product of what logarithms in x are of."""
        lawful = "exponential of a logarithm" in self.functions.laws
        return lawful and isinstance(x, Number) and x.logarithms is not None


class Doubting(Walk):
    """A walk that notes when something is decided by what may be undefined.

    doubted: whether that was so since it was last set to False.  uncertain: the numbers of results that come of it.
    """

    arithmetic: FingerprintFields

    def __init__(self, arithmetic: FingerprintFields):
        super().__init__(arithmetic)
        self.doubted = False
        self.uncertain: set[int] = set()

    def equation(self, equation: JaxprEqn, operands: Sequence[Numbered]) -> list[Numbered]:
        """The results of one equation, which may stand in the definition of another."""
        before, self.doubted = self.doubted, False
        results = super().equation(equation, operands)
        doubtful = self.arithmetic.expressions.doubtful
        decided = (value.expression in doubtful for _, value in results if isinstance(value, Number | Refused))
        numbers = [number for number, _ in results]
        if self.doubted or any(decided):
            self.uncertain.update(numbers)
        self.doubted = before or not self.uncertain.isdisjoint(numbers)
        return results


class Fingerprints:
    """The values of both programs behind a cut.

    cuts: the cut that they start from, and those that were made at arguments of exponentials since then.
    """

    def __init__(
        self,
        programs: tuple[FlatProgram, FlatProgram],
        fields: PrimeFields,
        laws: frozenset[str],
        seed: Sequence[int | str],
        cut: Cut = START,
        replaced: Replaced = NOTHING,
    ):
        self.programs = programs
        self.fields = fields
        copies = 1 if sum(int(np.prod(shape_of(v))) for v in programs[0].inputs) > LARGE else 2
        self.functions = fields.functions((copies, copies), seed, laws, ShallowDraw)
        assert isinstance(self.functions.draw, ShallowDraw)
        self.draw = self.functions.draw
        self.arithmetic = FingerprintFields(
            self.functions,
            fields.meeting,
            fields.deadline,
            alike=fields.alike(self.functions) if "cases" in laws else None,
        )
        self.walk = Doubting(self.arithmetic)  # of both programs, so that what they share is evaluated once
        self.values: tuple[dict[Var, Numbered], dict[Var, Numbered]] = ({}, {})
        self.waiting: tuple[list[int], list[int]] = ([], [])
        self.order: tuple[list[int], list[int]] = ([], [])
        self._inputs: dict[int, Numbered] = {}
        self._constants: dict[int, Numbered] = {}
        self.cuts: list[Cut] = []
        self._doubts: tuple[list[int], list[int]] = ([], [])
        self._keys: tuple[dict[Var, tuple[Value, np.ndarray | None]], ...] = ({}, {})  # with the value they are of
        self._take(cut, replaced)

    # Evaluation

    def advance(self, side: int, places: Iterable[int]) -> int:
        """Evaluate equations; those that wait for the argument of an exponential are put aside.

        What only puts inputs into other places is left until it is needed.  Returns how many were evaluated.
        """
        free = self.programs[side].free
        with jax.enable_x64(True):
            return sum(
                self._evaluate(side, place)
                for place in places
                if not free.issuperset(self.programs[side].equations[place].outvars)
            )

    def _evaluate(self, side: int, place: int) -> bool:
        equation, values = self.programs[side].equations[place], self.values[side]
        if all(v in values for v in equation.outvars):
            return True
        try:
            operands = [self._read(side, atom) for atom in equation.invars]
            self.walk.doubted = _decides(equation) and any(map(_may_be_undefined, equation.invars, operands))
            results = self.walk.equation(equation, operands)
        except (_Waiting, DeepExponentialError):
            self.waiting[side].append(place)
            return False
        if self.walk.doubted:
            self._doubts[side].append(place)
        values.update(zip(equation.outvars, results, strict=True))
        self.order[side].append(place)
        return True

    def _read(self, side: int, atom: Atom) -> Numbered:
        """The value of an atom; what is computed of inputs alone is computed when it is needed."""
        values, program = self.values[side], self.programs[side]
        if isinstance(atom, Literal):
            return self.walk.literal(atom)
        if atom not in values:
            if atom in program.constants:
                values[atom] = self._constant(atom, program.constants[atom])
            elif atom in program.producer:
                self._compute(side, atom)
            else:
                values[atom] = self._input(program.inputs.index(atom), atom)
        return values[atom]

    def _compute(self, side: int, variable: Var) -> None:
        """The value of a variable that is computed before the cut, of its arrays and of inputs."""
        program, values = self.programs[side], self.values[side]
        if program.producer[variable] in self.waiting[side]:
            raise _Waiting("it waits for an argument of exp")
        for place in program.cone([variable], values):
            if not all(v in values for v in program.equations[place].outvars):
                self._evaluate(side, place)
        if variable not in values:
            raise _Waiting("it waits for an argument of exp")

    def _constant(self, variable: Var, array: Any) -> Numbered:
        """The value of a captured array, which the program keeps."""
        if id(array) not in self._constants:
            self._constants[id(array)] = self.walk.constant(variable, array)
        return self._constants[id(array)]

    def _input(self, index: int, variable: Var) -> Numbered:
        """The value of an input."""
        if index not in self._inputs:
            value = self.fields.input(self.functions, index, shape_of(variable))
            self._inputs[index] = self.walk.argument(variable, value)
        return self._inputs[index]

    # Cuts

    def _take(self, cut: Cut, replaced: Replaced) -> None:
        """Arrays of both programs become letters; what is known of the values that they replace remains known."""
        self.cuts.append(cut)
        letters = Number(self.draw.variable((cut.letters,)))
        taken: dict[Any, Numbered] = {}
        for side, arrays in enumerate(cut.sides):
            for variable, places in arrays.items():
                known = replaced[side][variable]
                same = places.shape, places.tobytes(), known.key
                if same not in taken:
                    number = gathered(self.functions, [letters], places)
                    place = self.functions.expressions.unnamed(places.shape)
                    letter = number.but(expression=place, facts=known.facts, nonnegative=known.nonnegative)
                    taken[same] = self.walk.argument(variable, letter)
                self.values[side][variable] = taken[same]

    def cut_at_exponentials(self) -> tuple[int | None, int | None] | None:
        """Cut both programs at the arguments of the exponentials that wait; None if that cannot be done.

        Returns for both programs the first place from which equations are to be evaluated anew, if there is one.
        """
        keys = [self.keys(side, self._computed(side)) for side in range(2)]
        shared = [_shared(keys[side], keys[1 - side]) for side in range(2)]
        chosen = [self._nearest(side, shared[side]) for side in range(2)]
        if not (chosen[0] or chosen[1]):
            return None
        for side in (0, 1, 0, 1):
            _complete(chosen[side], chosen[1 - side], shared[side])
        cut = matched(*chosen)
        replaced = self.known(cut)
        self._forget(cut)
        self._take(cut, replaced)
        first, second = (min(waiting, default=None) for waiting in self.waiting)
        for waiting in self.waiting:
            waiting.clear()
        return first, second

    def permit(self) -> bool:
        """Take exponentials that wait of what is not affine in the letters; False if none of them can be taken."""
        self.draw.permitted = True
        before = [sorted(waiting) for waiting in self.waiting]
        for side in range(2):
            self.waiting[side].clear()
            self.advance(side, before[side])
        self.draw.permitted = False
        return [sorted(waiting) for waiting in self.waiting] != before

    def _computed(self, side: int) -> list[Var]:
        """What was computed behind the cut."""
        equations = self.programs[side].equations
        return [v for place in self.order[side] for v in equations[place].outvars if v in self.values[side]]

    def _nearest(self, side: int, shared: Keys) -> dict[Var, np.ndarray]:
        """The last arrays, shared by both programs, that arguments of waiting exponentials are computed from."""
        program, values = self.programs[side], self.values[side]
        chosen: dict[Var, np.ndarray] = {}
        seen: set[Var] = set()
        first = [
            place
            for place in self.waiting[side]
            if all(v in values for v in variables(program.equations[place].invars))
        ]
        looking = [v for place in first for v in variables(program.equations[place].invars)]
        while looking:
            variable = looking.pop()
            if variable in seen or self._affine(side, variable):
                continue
            seen.add(variable)
            if variable in shared and not self._follows(side, variable):
                chosen[variable] = shared[variable]
            elif variable in program.producer:
                looking += variables(program.equations[program.producer[variable]].invars)
        return dict(sorted(chosen.items(), key=lambda item: program.producer[item[0]]))

    def _follows(self, side: int, variable: Var) -> bool:
        """Whether a value is affine in its operands, and these tell how it is related to others."""
        return self.programs[side].equations[self.programs[side].producer[variable]].primitive.name in AFFINE

    def _affine(self, side: int, variable: Var) -> bool:
        """Whether a value is affine in the letters, or no number at all."""
        value = self.values[side].get(variable, (0, None))[1]
        return not isinstance(value, Number) or value.residues.degree.affine is not None

    def _forget(self, cut: Cut) -> None:
        """Values that depend on arrays that become letters are computed anew."""
        for side, arrays in enumerate(cut.sides):
            program, changed, kept = self.programs[side], set(arrays), []
            for place in self.order[side]:
                equation = program.equations[place]
                if changed.isdisjoint(variables(equation.invars)) or not set(equation.outvars).isdisjoint(arrays):
                    kept.append(place)
                    continue
                changed.update(equation.outvars)
                for v in equation.outvars:
                    self.values[side].pop(v, None)
                self.waiting[side].append(place)
            self.order[side][:] = kept

    # Fingerprints

    def keys(self, side: int, wanted: Sequence[Var]) -> dict[Var, np.ndarray]:
        """The fingerprints of those arrays that can be cut."""
        found = ((v, self._key(side, v)) for v in wanted if is_number(v) and v in self.values[side])
        return {v: key for v, key in found if key is not None}

    def _key(self, side: int, variable: Var) -> np.ndarray | None:
        """The fingerprints of an array that was computed, None if it cannot be cut; they are asked for many times."""
        value, kept = self.values[side][variable][1], self._keys[side].get(variable)
        if kept is None or kept[0] is not value:
            kept = self._keys[side][variable] = value, _key_of(value) if _may_be_cut(value) else None
        return kept[1]

    def known(self, cut: Cut) -> Replaced:
        """What is known of the arrays of a cut: where they are defined, and their signs."""
        left, right = ({v: _of_letters(self.values[side][v][1]) for v in cut.sides[side]} for side in range(2))
        return left, right

    def parting(self) -> str:
        """Where each program first computes values that the other one never has, and does not come back from.

        Both may compute the same in two ways, such as a variance: what leads to values that both have is passed over.
        """
        keys = [self.keys(side, self._computed(side)) for side in range(2)]
        texts = []
        for side, name in enumerate(("left", "right")):
            program, cut = self.programs[side], self.cuts[0].sides[side]
            shared = _shared(keys[side], keys[1 - side], 1.0)
            alone = [program.producer[v] for v in keys[side] if v not in shared]
            back = set(program.cone(shared, cut))
            place = min((place for place in alone if place not in back), default=min(alone, default=None))
            if place is not None:
                equation = program.equations[place]
                texts.append(f"{name} '{equation.primitive.name}'{source_line(equation)}")
        return "; ".join(texts)

    def certain(self, ends: Sequence[int]) -> bool:
        """Whether nothing in front of these places of both programs was decided by what may be undefined.

        Nor in front of the arrays of the cuts at exponentials, which are shown to be equal on the way to these places.
        """
        return all(self._first_doubt(side) >= max(end, self._last_cut(side)) for side, end in enumerate(ends))

    def _first_doubt(self, side: int) -> float:
        return min(self._doubts[side], default=math.inf)

    def _last_cut(self, side: int) -> int:
        """The place behind the last array of the cuts at exponentials."""
        producer = self.programs[side].producer
        return max((producer[v] + 1 for cut in self.cuts[1:] for v in cut.sides[side]), default=0)


class _Waiting(UnsupportedError):
    """An operand waits for an exponential."""


def _decides(equation: JaxprEqn) -> bool:
    """Whether an equation can make something defined of an undefined number, apart from leaving it out."""
    name = equation.primitive.name
    return name in DECISIONS or name not in UNDEFINED_STAYS or not all(map(is_number, equation.outvars))


def _may_be_undefined(atom: Atom, operand: Numbered) -> bool:
    """Whether a number is not known to be defined for all inputs; what is decided by such a one is noted elsewhere."""
    number = operand[1]
    sure = not isinstance(number, Number) or number.facts is not None and number.facts.defined is Defined.ALWAYS
    return is_number(atom) and not sure


def is_sure(value: Value) -> bool:
    """Whether all entries of a value are known to be numbers for all inputs."""
    if not isinstance(value, Number) or value.special is not None or value.infinite is not None:
        return False
    known = value.facts
    return known is not None and known.defined is Defined.ALWAYS and not (known.hollow or known.guarded)


def _of_letters(value: Number) -> Known:
    """What is known of letters that stand for a value: what is known of the value.

    A letter is not zero as a formal value, but what it stands for, such as relu(x), may be zero for inputs of positive
    measure.  A quotient by it is infinite there, and no function may be applied that makes numbers of infinities.
    """
    if value.facts is not None:
        return Known(replace(value.facts, guarded=False), value.nonnegative)
    nothing = np.zeros(value.shape, bool)
    return Known(Facts(Nature.PIECEWISE, Defined.PARTLY, True, nothing, nothing, nothing), value.nonnegative)


def _ravelled(keys: Iterable[np.ndarray]) -> np.ndarray:
    return np.concatenate([np.zeros(0, np.uint64), *(k.ravel() for k in keys)])


def _shared(keys: Keys, other: Keys, part: float = MANY) -> dict[Var, np.ndarray]:
    """The arrays of which so large a part occurs on the other side, which may leave out entries that a mask hides."""
    known = np.sort(_ravelled(other.values()))
    flat = _ravelled(keys.values())
    places = np.minimum(np.searchsorted(known, flat), max(0, len(known) - 1))
    there = known[places] == flat if len(known) else np.zeros(len(flat), bool)
    starts = np.cumsum([0, *(k.size for k in keys.values())])[:-1]
    counts = np.add.reduceat(there.astype(int), starts) if len(starts) else []
    return {v: k for (v, k), count in zip(keys.items(), counts, strict=True) if count >= part * k.size}


def _complete(chosen: dict[Var, np.ndarray], other: Keys, shared: Keys) -> None:
    """Add shared arrays until every entry of the other side occurs, the smallest first."""
    if not other:
        return
    missing = np.setdiff1d(_ravelled(other.values()), _ravelled(chosen.values()))
    for variable, k in sorted(shared.items(), key=lambda item: item[1].size):
        if not missing.size:
            return
        if variable not in chosen and np.isin(k, missing).any():
            chosen[variable] = k
            missing = np.setdiff1d(missing, k)


def _may_be_cut(value: Value) -> bool:
    """Whether a value is an array of numbers, finite for sure, none of which is a constant and none decided at ties."""
    if not isinstance(value, Number) or value.special is not None or value.infinite is not None:
        return False
    if value.almost is not None or not value.shape and value.known is not None or 0 in value.shape:
        return False
    if value.known is not None or value.residues.degree.total == 0:
        return False
    top = value.residues.levels[0]
    constant = (top == top[:1]).all(axis=0) if len(top) > 1 else top <= 1  # of one copy, 0 and 1 are what masks leave
    return not constant.any()


def _key_of(value: Number) -> np.ndarray:
    """One 64-bit word for every entry."""
    word = np.zeros((1, *value.shape), np.uint64)
    for copy in value.residues.levels[0].astype(np.uint64):
        word = np.multiply(word ^ copy, np.uint64(0x9E3779B97F4A7C15))
        word ^= word >> np.uint64(31)
    return word[0]
