"""Prime fields: a jaxpr evaluated at a random point of a tower of prime fields.

Float constants are exact rational numbers, casts between floating types are the identity, and unknown functions are
random functions with the symmetries of the real ones.  Booleans and integers that depend on the inputs are numbers
too.  Two programs that agree here are the same function, up to a probability that the draw can state.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn, Var
from jax.typing import ArrayLike

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.interpret.closed_form import rational as rational_form
from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.deadline import Deadline
from uat_jax.interpret.integer_ranges import Range, limits, ranges
from uat_jax.interpret.interpreter import Arithmetic, interpret, positions
from uat_jax.interpret.operation import LARGE, operation_of
from uat_jax.interpret.outside_function import OUTSIDE, named
from uat_jax.interpret.recognition import MOST_READ
from uat_jax.interpret.scattering import SCATTERS
from uat_jax.interpret.structure import in_copies
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of, source_line
from uat_jax.numbers.balls.decisions import UndecidedError
from uat_jax.numbers.prime_fields import chosen_infinities, exchanges, inner_products, places, spectral_functions
from uat_jax.numbers.prime_fields.alike import Alike
from uat_jax.numbers.prime_fields.constant_parts import with_parts
from uat_jax.numbers.prime_fields.data_scatters import scattered
from uat_jax.numbers.prime_fields.entries_first import BY_ENTRIES, entries_first, parts_by_constants
from uat_jax.numbers.prime_fields.exchanges import Exchanged
from uat_jax.numbers.prime_fields.extremes import OF_MEMBERS, REVERSED, of_members
from uat_jax.numbers.prime_fields.fact_rules import DECISIONS, PASSES_HOLLOW, facts_of
from uat_jax.numbers.prime_fields.facts import Defined, Facts, Nature, of_balls
from uat_jax.numbers.prime_fields.field_constants import FieldConstants
from uat_jax.numbers.prime_fields.field_functions import FieldFunctions
from uat_jax.numbers.prime_fields.field_rules import RULES
from uat_jax.numbers.prime_fields.formula import ENTRYWISE
from uat_jax.numbers.prime_fields.gathering import gathered
from uat_jax.numbers.prime_fields.guards import ALL_SIGNS, UnderCondition, Values, below, condition
from uat_jax.numbers.prime_fields.increasing import OF_ORDER, increasing_last
from uat_jax.numbers.prime_fields.inverses import is_even, with_inverses
from uat_jax.numbers.prime_fields.known_equations import KnownEquations
from uat_jax.numbers.prime_fields.meeting import Meeting
from uat_jax.numbers.prime_fields.met_logarithms import asks_again
from uat_jax.numbers.prime_fields.number import UNDEFINED, Infinite, Number
from uat_jax.numbers.prime_fields.points import Points
from uat_jax.numbers.prime_fields.power_rules import with_powers, with_sign
from uat_jax.numbers.prime_fields.prefixes import written_out
from uat_jax.numbers.prime_fields.random_keys import constant_keys
from uat_jax.numbers.prime_fields.refused import HollowError, Refused
from uat_jax.numbers.prime_fields.residues import same, vanishes
from uat_jax.numbers.prime_fields.uninterpreted import apply_uninterpreted
from uat_jax.typing import Array

JUMPS = frozenset(["ceil", "floor", "round", "sign"])
"""Primitives whose values are whole numbers: of constants they are decided, as comparisons are."""

SUPPLIERS = {"select_n": slice(1, None), "pad": slice(0, 2), "dynamic_update_slice": slice(0, 2)}
"""Which operands of a structural primitive supply entries: by default all of `concatenate`, else the first."""


BOUNDED = frozenset(["add", "cos", "log", "log1p", "rem", "sin", "sub", "tan"])
"""Primitives that look at the ranges of their operands if inputs have bounds: for signs, and for what is undone."""


PART_BY_PART = frozenset(["digamma", "exp", "lgamma", "log", "log1p"])
"""Functions of entries that say more of numbers than of the array that they are put together in."""

OF_SUMS = frozenset(["digamma", "lgamma", "log", "log1p"])
"""Those of them that say more of a sum with one constant than of one with several."""

MEETING = frozenset(["select_n", "mul", "add", "sub"])
"""Primitives behind which the cases of a decision may have become one function again."""


_ADDED, _TIMES = ((0, 0), (1, 0)), ((0, 1), (1, 1))

NEUTRAL = {"add": _ADDED, "add_any": _ADDED, "sub": _ADDED[:1], "mul": _TIMES, "div": _TIMES[:1]}
"""(which operand, number) for each primitive: it is that operand if the other one is the number."""


OF_FIELDS = (Number, Refused, Exchanged)
"""Kinds of values that prime fields compute with; all others are concrete arrays."""


@dataclass(frozen=True)
class Step:
    """One evaluated equation, a digest of its value, and the place of its expression."""

    equation: JaxprEqn
    value: int
    place: int | None

    def __str__(self) -> str:
        return named(self.equation)


Value = Number | Refused | Exchanged | np.ndarray
"""A value of the prime fields: a number, what stands for one, or a plain integer or boolean array."""


class Fields(Arithmetic[Value]):
    """Numbers are `Number`s of a draw; `functions` says under which laws.

    alike: the numbers of the draw by the functions that they are, if cases are compared.  positive: inputs that are
    exponentials of real numbers, to be known again.
    trail: the equations evaluated so far.  selects: whether numbers may decide a selection; else no values are kept for
    its cases.  values: those of expressions.  guarded: whether a case of a selection was something else under its
    condition.  refused: why an output is not followed.  looking: whether what JAX makes of the factors of `lu` is
    followed for its expressions alone.
    """

    name = "prime-field arithmetic"
    rules = RULES
    takes_unknown = True
    follows_both = True
    asks_for_ranges = frozenset("abs convert_element_type max min".split())

    def __init__(
        self,
        functions: FieldFunctions,
        meet: Meeting,
        deadline: Deadline | None = None,
        *,
        selects: bool = True,
        alike: Alike | None = None,
    ):
        self.functions = functions
        self.alike = alike
        self.selects = selects and "guards" in functions.laws
        self.meet = meet
        self.deadline = deadline
        self.positive: Sequence[Number] = ()
        self.draw = functions.draw
        self.expressions = functions.expressions
        self.constants = FieldConstants(functions)
        self.known = KnownEquations(functions.draw, self.lift)
        self.trail: list[Step] = []
        self.values: dict[int, Value] = {}
        self.guarded = False
        self.looking = False
        self.refused: HollowError | None = None
        self.extremes: dict[int, JaxprEqn] = {}
        self.stands_for: dict[JaxprEqn, JaxprEqn] = {}
        self.lawful: set[JaxprEqn] = set()
        self._places: tuple[int, ...] = ()

    def number(self, array: ArrayLike) -> Number:
        """The numbers that floats are, exactly; ±∞ and NaN are codes.  Integers of 64 bits stay exact."""
        return self.constants.number(array)

    def constant(self, array: Array, dtype: np.dtype) -> Number:
        """A constant, entry by entry: the numbers that are written, or under the law those that they stand for."""
        return self.constants.constant(array, dtype)

    def involves(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Whether any operand is a number of the fields, whatever its type, or JAX cannot evaluate the equation."""
        return any([isinstance(operand, OF_FIELDS) for operand in operands]) or equation.primitive is OUTSIDE

    def stack(self, values: Sequence[Value]) -> Number:
        """Along a new leading axis."""
        numbers = [self.lift(value) for value in values]
        places = np.arange(sum(int(np.prod(n.shape)) for n in numbers)).reshape(len(numbers), *numbers[0].shape)
        stacked = gathered(self.functions, numbers, places)
        stacked = stacked.but(
            expression=self.expressions.part("stack", 0, list(map(self.place, numbers)), places.shape)
        )
        if all(n.almost is None for n in numbers):
            return stacked
        others = [n.almost or n for n in numbers]
        return self._open(stacked, gathered(self.functions, others, places).but(lawful=_all_lawful(others)))

    def entry(self, value: Value, index: int) -> Value:
        """value[index] along the leading axis."""
        if isinstance(value, Refused):
            raise value.error
        if isinstance(value, Exchanged):
            return self.lift(value)
        if not isinstance(value, Number):
            return value[index]
        place = self.expressions.part("entry", index, [self.place(value)], value.shape[1:])
        take = lambda number: number.moved(lambda a: a[:, index]).but(expression=place)
        entry = take(value)
        return entry if value.almost is None else self._open(entry, take(value.almost).but(lawful=value.almost.lawful))

    def place(self, value: Value) -> int:
        """Where the expression of a value stands in the table."""
        if isinstance(value, Refused | Exchanged):
            return value.expression
        if isinstance(value, Number):
            return self.expressions.unnamed(value.shape) if value.expression is None else value.expression
        return self.expressions.constant(value)

    def lift(self, value: Value) -> Number:
        """A concrete array as numbers."""
        if isinstance(value, Refused):
            raise value.error
        if isinstance(value, Exchanged) and value.wherever_defined is not None:
            return self.lift(value.wherever_defined)
        if isinstance(value, Exchanged):
            made = self.expressions[value.expression].equation
            what = "a value" if made is None else named(made)
            raise UnsupportedError(
                f"{what} depends on which rows an elimination ('lu') exchanges, and these ways are not the same formal "
                "value; compare what does not depend on them, such as a solution, or a determinant of fewer rows"
            )
        if isinstance(value, Number):
            return value
        return constant_keys(self, value) if is_keys(value) else self.number(value)

    def output(self, value: Value) -> Number:
        """An output; one that was refused is a number that is equal to no other, if cases can tell more of it."""
        if not isinstance(value, Refused) or self.alike is None or not self.alike.by_entries:
            return self.lift(value)
        self.refused = self.refused or value.error
        return Number(self.draw.variable(value.shape), expression=value.expression)

    def inner(self, program: ClosedJaxpr, operands: Sequence[Value], ranges: Sequence[Range] = ()) -> list[Value]:
        """The outputs of a program that a rule is written as; ranges: of its operands, if they are known."""
        kept = self.operand_ranges, self.input_ranges, self._places
        self.input_ranges = ranges
        try:
            return interpret(program, self, operands)
        finally:
            self.operand_ranges, self.input_ranges, self._places = kept

    def inner_numbers(self, program: ClosedJaxpr, operands: Sequence[Value]) -> list[Number]:
        """The outputs of a program that a rule is written as, all of them numbers."""
        return list(map(self.lift, self.inner(program, operands)))

    def definition(self, equation: JaxprEqn, operands: Sequence[Value]) -> ClosedJaxpr | None:
        """Cumulative sums of exponentials with a sum for each entry, unless some are infinite."""
        x = operands[0] if operands else None
        if not isinstance(x, Number) or x.special is not None or not self.functions.logarithms:
            return None
        return written_out(equation) if equation.primitive.name == "cumlogsumexp" or x.terms is not None else None

    def supports(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Also scatters whose indices are numbers, steps that solve by factors, and products of eigenvalues."""
        name = equation.primitive.name
        known = name in SCATTERS and isinstance(operands[1], Number) or exchanges.is_step(equation, operands)
        known = known or any([isinstance(x, Exchanged) for x in operands]) and exchanges.is_placed(equation, operands)
        known = known or spectral_functions.is_of_eigenvalues(self, equation, operands)
        return known or super().supports(equation, operands)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation; the cases of a selection are taken for what they are under its condition."""
        return self._noted(equation, operands, self._shared)

    def _of_one_way(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation for one way to exchange rows; the table may hold what all ways have in common."""
        return self._noted(equation, operands, self._for_all_inputs)

    def _noted(
        self,
        equation: JaxprEqn,
        operands: Sequence[Value],
        evaluated: Callable[[JaxprEqn, Sequence[Value]], list[Value]],
    ) -> list[Value]:
        """The results, remembered for selections further on, and in the trail."""
        if self.selects:
            for operand in operands:
                self._remember(operand)
            equation, operands = self._of_members(equation, operands)
        results = evaluated(equation, operands)
        for value in (*operands, *results):
            self._keep_small(value)
        if self.selects:
            self._keep_extreme(equation, operands, results)
            for result in results:
                self._remember(result)
        self.trail += [self._step(equation, x) for x in results if isinstance(x, Number) and self._computed(x)]
        return results

    def _keep_small(self, value: Value) -> None:
        """Keep an array of few entries, of which some may be taken, unless it is known under a condition only."""
        small = self.functions.small
        if not isinstance(value, Number) or value.expression is None or value.expression in small:
            return
        if math.prod(value.shape) < LARGE and not _holds_here_only(value):
            small[value.expression] = value

    def _keep_extreme(self, equation: JaxprEqn, operands: Sequence[Value], results: Sequence[Value]) -> None:
        """Keep what made a maximum or minimum of two numbers, unless the result is known as another expression."""
        if equation.primitive.name not in OF_MEMBERS:
            return
        for place in (x.expression for x in results if isinstance(x, Number) and x.expression is not None):
            made = self.expressions[place]
            if made.equation is not None and made.equation.primitive is equation.primitive:
                if sorted(made.operands) == sorted(map(self.place, operands)):
                    self.extremes[place] = equation

    def _of_members(self, equation: JaxprEqn, operands: Sequence[Value]) -> tuple[JaxprEqn, Sequence[Value]]:
        """An equation and its operands; if it compares a maximum or minimum with a member, the comparison of both."""
        if "member of an extreme" not in self.functions.laws or equation.primitive.name not in REVERSED:
            return equation, operands
        found = of_members(self.expressions, self.extremes, equation, list(map(self.place, operands)))
        if found is None:
            return equation, operands
        comparison, made, places = found
        found = [self.values.get(place, self.expressions[place].constant) for place in places]
        members = [x for x in found if x is not None]
        if len(members) < len(found):
            return equation, operands
        self.stands_for[comparison] = made
        self.operand_ranges = [limits(dtype_of(atom)) for atom in comparison.invars]
        return comparison, members

    def _shared(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results, which the other program may have computed already at this draw; large arrays are not kept."""
        operation = operation_of(equation)
        if not operation.comparable or operation.is_large:
            return self._for_all_inputs(equation, operands)
        key = operation, tuple(map(self.place, operands))
        if key not in self.expressions.results:
            found = self._for_all_inputs(equation, operands)
            self.expressions.results[key] = found, equation in self.lawful
        results, lawful = self.expressions.results[key]
        if lawful:
            self.lawful.add(equation)
        return list(results)

    def _for_all_inputs(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        taken = operands
        if self.selects and equation.primitive.name == "select_n":
            taken = self._guarded(equation, operands)
        self._meet(operands)
        laws = self.functions.laws
        by_entries = equation.primitive.name in BY_ENTRIES and "entries first" in laws
        found = entries_first(self, equation, taken) if by_entries else None
        by_order = equation.primitive.name in OF_ORDER and "increasing functions" in laws
        after = increasing_last(self, equation, taken) if by_order else None
        if found is None and "cosines of angles" in laws:
            found = inner_products.within_one(self, equation, taken)
        if found is None:
            found = spectral_functions.reduced(self, equation, taken)
        evaluated = [found] if found is not None else after or self._evaluated(equation, taken)
        results = [self._as_one(self._again(self._unconditional(x))) for x in evaluated]
        self._meet(results)
        self._meet_squared(equation, taken)
        inner_products.meet(self, equation, taken, results)
        if self.alike is None:
            return results
        if equation.primitive.name not in ENTRYWISE:
            for x in (*operands, *results):
                if isinstance(x, Number):
                    self.alike.see(x, certain=self.certain(x))
            return results
        return [self._first(x) for x in (*operands, *results)][len(operands) :]

    def _meet(self, values: Sequence[Value]) -> None:
        """Keep the squares of positive numbers, for roots further on."""
        if self.functions.squares is None:
            return
        for value in values:
            if isinstance(value, Number):
                self.functions.squares.meet(value)

    def _meet_squared(self, equation: JaxprEqn, operands: Sequence[Value]) -> None:
        """Keep a number that is squared, or multiplied by a multiple of itself, for roots further on."""
        name = equation.primitive.name
        if self.functions.squares is None or name not in ("integer_pow", "mul", "square"):
            return
        x, y = operands[0], operands[-1]
        if not isinstance(x, Number) or not isinstance(y, Number) or equation.params.get("y", 2) != 2:
            return
        multiple = lambda: y.residues if x.scale is y.scale else self.draw.scale(y.residues, x.scale / y.scale)
        if x is y or x.shape == y.shape and same(x.residues, multiple()):
            self.functions.squares.meet_squared(y)

    def _again(self, value: Value) -> Value:
        """A number that is defined for all inputs, or a positive input that has the same formal value."""
        if not self.positive or not isinstance(value, Number) or value.almost is not None or not self.certain(value):
            return value
        if value.special is not None or value.infinite is not None:
            return value
        return next((x for x in self.positive if same(x.residues, value.residues)), value)

    def _as_one(self, value: Value) -> Value:
        """A number that is defined for all inputs and formally 1, as a constant, of which more is decided."""
        if self.alike is None or not isinstance(value, Number) or value.known is not None or not self.certain(value):
            return value
        if value.special is not None or value.infinite is not None or value.almost is not None:
            return value
        self.draw.compared(1)
        if not same(value.residues, self.draw.fraction(1, value.shape)):
            return value
        return self.number(np.ones(value.shape)).but(expression=value.expression)

    def _first(self, value: Value) -> Value:
        """A number that is defined for all inputs, or another one met before that is the same function by cases."""
        if self.alike is None or not isinstance(value, Number):
            return value
        return self.alike.first(value, certain=self.certain(value))

    def _remember(self, value: Value) -> None:
        """Keep the value of an expression, for selections further on."""
        if isinstance(value, (Number, Refused)) and value.expression is not None:
            self.values[value.expression] = value

    def _unconditional(self, value: Value) -> Value:
        """A result that holds for all inputs, made of cases that hold where they are selected."""
        if not isinstance(value, Number) or value.facts is None or not value.facts.guarded:
            return value
        solid = lambda x: x if x.facts is None else x.but(facts=replace(x.facts, guarded=False))
        return solid(value).but(almost=None if value.almost is None else solid(value.almost))

    def _guarded(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The predicate of a selection and both cases, each as it is under the condition that it is selected."""
        predicate, *cases = operands
        if not isinstance(predicate, Number) or predicate.expression is None or len(cases) != 2:
            return list(operands)
        return [predicate, *(self._under(predicate, o, case) for o, case in zip((False, True), cases, strict=True))]

    def _under(self, predicate: Number, outcome: bool, case: Value) -> Value:
        """A case where the predicate has this outcome; the signs of numbers are looked at if decisions do not help."""
        assert predicate.expression is not None
        place = case.expression if isinstance(case, Number | Refused) else None
        if place is None:
            return case
        given = condition(self.expressions, predicate.expression, outcome, below((), predicate.shape, case.shape))
        if not given:
            return case
        values = Values(self.expressions, self.values, self._reapplied, _with_signs)
        under = UnderCondition(values, given, signs_too=False)
        found = under.value(place)
        if isinstance(found, Refused) or isinstance(found, Number) and found.facts is not None and found.facts.hollow:
            found = UnderCondition(values, given, signs_too=True).value(place)
        if found is None:
            return case
        found = _with_signs(found, under.signs(place))
        self.guarded |= found is not case
        doubtful = self.expressions.doubtful
        if isinstance(found, Number) and found.expression in doubtful and place not in doubtful:
            return found.but(expression=place)  # what is selected is the same, and is written without what was refused
        return found

    def _reapplied(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results for operands under a condition; none of what they decide is taken for right almost everywhere.

        Nothing is known of their ranges: those at hand are of the equation that the program is at.  Whether compared
        numbers differ almost everywhere is looked up for the program's own operands only.
        """
        new = equation not in self.lawful
        ranges, self.operand_ranges = self.operand_ranges, [limits(dtype_of(atom)) for atom in equation.invars]
        try:
            results = self._evaluated(equation, operands)
        finally:
            self.operand_ranges = ranges
        for result in results:
            if isinstance(result, Refused) or isinstance(result, Number) and result.facts and not result.facts.guarded:
                self._remember(result)
            if self.alike is not None and isinstance(result, Number):
                self.alike.see(result, certain=self.certain(result))
        if equation not in self.lawful:
            return results
        if new:
            self.lawful.discard(equation)
        return [
            r.but(almost=r.almost.but(lawful=False)) if isinstance(r, Number) and r.almost is not None else r
            for r in results
        ]

    def _refused(self, equation: JaxprEqn, operands: Sequence[Value], error: HollowError) -> list[Value]:
        """The results of an equation that cannot be followed."""
        places = tuple(map(self.place, operands))
        shapes = list(map(shape_of, equation.outvars))
        found = [self.expressions.applied(equation, places, i, s) for i, s in enumerate(shapes)]
        self.expressions.doubtful.update(found)
        return [Refused(error, place, shape) for place, shape in zip(found, shapes, strict=True)]

    def _evaluated(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation, with what is known about them, and what they are almost everywhere."""
        if any([isinstance(operand, Exchanged) for operand in operands]):
            return exchanges.followed(self, equation, operands, functools.partial(self._of_one_way, equation))
        refused = next((o for o in operands if isinstance(o, Refused)), None)
        if refused is not None:
            return self._refused(equation, operands, refused.error)
        try:
            results = self._followed(equation, operands)
        except HollowError as error:
            return self._refused(equation, operands, error)
        if any([isinstance(o, Number) and o.almost is not None for o in operands]):
            others = [o.almost or o if isinstance(o, Number) else o for o in operands]
            results = self._paired(results, self._almost(equation, others), _all_lawful(others))
        return [
            self._settled(equation, self._open(r, r.almost)) if isinstance(r, Number) and r.almost is not None else r
            for r in results
        ]

    def _open(self, result: Number, almost: Number) -> Number:
        """A result whose decisions between equal numbers matter; `almost`: what it is without them."""
        if result.expression is not None:
            self.expressions.open.add(result.expression)
        return result.but(almost=almost.but(expression=result.expression, almost=None))

    def _followed(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results with their facts and expressions; constants are also followed in float64, and in balls."""
        if (same := self._unchanged(equation, operands)) is not None:
            return [same]
        if (choice := chosen_infinities.told_apart(self, equation, operands)) is not None:
            return [choice]
        if (found := self._part_by_part(equation, operands)) is not None:
            return [found]
        self._places = tuple(map(self.place, operands)) if self.involves(equation, operands) else ()
        known = self.known.approximate(equation, operands)
        numbers = [is_number(variable) for variable in equation.outvars]
        if known is not None and (not any(numbers) or equation.primitive.name in JUMPS):
            decided = self.known.decided(equation, operands)
            return [self.known.whole(equation, x) if number else x for x, number in zip(decided, numbers, strict=True)]
        if known is not None and equation.primitive.name == "rem":
            self.known.decided(equation, operands)  # its quotient is cut off
        self._refuse_hollow(equation, operands)
        forms = None if known is None else self.known.forms(equation, operands)
        made = self._by_rule(equation, operands) if forms is None else [self.constants.of_forms(forms)]
        results: list[Value] = [*made]
        if not self.involves(equation, operands):
            return results
        results = [
            self._described(equation, operands, i, r, facts) if isinstance(r, Number) and facts else r
            for i, (r, facts) in enumerate(zip(results, facts_of(self.draw, equation, operands, results), strict=True))
        ]
        if known is None:
            return [self._with_parts(equation, operands, self._no_constant(result)) for result in results]
        decided = results if all(numbers) else self.known.decided(equation, operands)
        enclosures = self.known.enclosures(equation, operands)
        constants = [
            self._enclosed(r.but(known=k[0], enclosure=e)) if number and isinstance(r, Number) else d
            for r, d, k, e, number in zip(results, decided, known, enclosures, numbers, strict=True)
        ]
        return (
            constants
            if forms is not None
            else [self._with_parts_of_constants(equation, operands, c) for c in constants]
        )

    def _with_parts_of_constants(self, equation: JaxprEqn, operands: Sequence[Value], constant: Value) -> Value:
        """A constant without a closed form, such as log(erf 2), with its factors and logarithms."""
        if not isinstance(constant, Number) or constant.special is not None or not self.certain(constant):
            return constant
        kept = {"known": constant.known, "enclosure": constant.enclosure, "nonnegative": constant.nonnegative}
        return self.lift(self._with_parts(equation, operands, constant)).but(**kept)

    def _no_constant(self, result: Value) -> Value:
        """A result of numbers that are no constants, which is none itself where it may be undefined: 0·(x/x) at 0."""
        if not isinstance(result, Number) or self.certain(result):
            return result
        almost = None if result.almost is None else result.almost.but(known=None, closed=None, enclosure=None)
        return result.but(known=None, closed=None, enclosure=None, almost=almost)

    def _unchanged(self, equation: JaxprEqn, operands: Sequence[Value]) -> Number | None:
        """The number x of x + 0, x - 0, 1·x, x/1, a copy, a sum over no axes, or None: what is known stays."""
        name = equation.primitive.name
        if name == "copy" or name == "reduce_sum" and not equation.params["axes"]:
            return operands[0] if isinstance(operands[0], Number) else None
        for place, neutral in NEUTRAL.get(name, ()):
            x, other = operands[place], operands[1 - place]
            if not isinstance(x, Number) or not isinstance(other, Number) or x.shape != shape_of(equation.outvars[0]):
                continue
            if other.closed is not None and other.special is None and other.closed.uniform == rational_form(neutral):
                return x
        return None

    def _part_by_part(self, equation: JaxprEqn, operands: Sequence[Value]) -> Number | None:
        """A function of entries that are taken from several numbers: the function of each of them, put together."""
        x = operands[0] if equation.primitive.name in PART_BY_PART else None
        if not isinstance(x, Number) or x.special is not None or x.infinite is not None:
            return None
        if x.known is not None or _holds_here_only(x):
            return None
        by_constants = x.parts is None and equation.primitive.name in OF_SUMS and "entries first" in self.functions.laws
        parts = parts_by_constants(self, x, dtype_of(equation.invars[0])) if by_constants else x.parts
        if parts is None:
            return None
        results = [self.lift(self._followed(equation, [part])[0]) for part in parts.numbers]
        self._places = (self.place(x),)
        place = self.own_place(equation)
        return gathered(self.functions, results, parts.source).but(expression=place)

    def _enclosed(self, constant: Number) -> Number:
        """A constant with the facts that its balls show, which hold whichever way constants are read."""
        if constant.facts is None or constant.enclosure is None or constant.special is not None:
            return constant
        small = constant.known is not None and 0 < constant.known.size <= MOST_READ
        if not small or constant.facts.positive.all() and constant.facts.is_number:
            return constant
        try:
            facts = of_balls(np.broadcast_to(constant.enclosure.balls(), constant.shape))
        except (UndecidedError, UnsupportedError, InputError):
            return constant
        if facts is None:
            return constant
        return constant.but(facts=facts, nonnegative=constant.nonnegative or bool(facts.positive.all()))

    def _by_rule(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        if any([chosen_infinities.is_chosen(x) for x in operands]):
            return chosen_infinities.followed(self, equation, operands)
        if is_even(equation) and isinstance(operands[0], Number) and operands[0].signless is not None:
            return self._of_signless(equation, operands[0].signless)
        return super().evaluate(equation, operands)

    def _of_signless(self, equation: JaxprEqn, y: Number) -> list[Value]:
        """The result of an even function of y or -y; the ranges at hand are of the operand, and not of y."""
        ranges, self.operand_ranges = self.operand_ranges, [limits(dtype_of(equation.invars[0]))]
        try:
            return super().evaluate(equation, [y])
        finally:
            self.operand_ranges = ranges

    def _above_minus_one(self, equation: JaxprEqn, operands: Sequence[Value], facts: Facts) -> Facts:
        """The facts of log(1 + x), with where x is defined if its range shows that it is above -1."""
        x = operands[0]
        if equation.primitive.name != "log1p" or not isinstance(x, Number) or not self.certain(x) or facts.guarded:
            return facts
        if facts.defined is Defined.ALWAYS or not self.operand_ranges or self.operand_ranges[0].low <= -1:
            return facts
        assert x.facts is not None
        nature = x.facts.nature if x.facts.nature is Nature.ENTIRE else Nature.PIECEWISE
        return replace(facts, nature=nature, defined=Defined.ALWAYS)

    def _in_range(self, equation: JaxprEqn, result: Number, facts: Facts) -> Facts:
        """The facts, with the sign of a sum, a difference or a logarithm that the ranges of the operands show."""
        given = len(self.operand_ranges) == len(equation.invars)
        if equation.primitive.name not in ("add", "log", "log1p", "sub") or not given or facts.guarded:
            return facts
        if result.special is not None or result.infinite is not None or facts.positive.all() or facts.negative.all():
            return facts
        if facts.defined is Defined.PARTLY:  # 2 + sin(asin y) is positive where it is defined, and followed as 2 + y
            return facts
        (found,) = ranges(equation, self.operand_ranges)
        return facts.positive_too() if found.low > 0 else facts.negative_too() if found.high < 0 else facts

    def _described(
        self, equation: JaxprEqn, operands: Sequence[Value], index: int, result: Number, facts: Facts
    ) -> Number:
        facts = self._in_range(equation, result, self._above_minus_one(equation, operands, facts))
        almost = None if result.almost is None else result.almost.but(facts=facts)
        place = self.expressions.applied(equation, self._places, index, result.shape)
        nonnegative = result.nonnegative or not facts.signless and bool(facts.positive.all())
        return result.but(facts=facts, expression=place, almost=almost, nonnegative=nonnegative)

    def _almost(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value] | None:
        """The results for operands as they are almost everywhere, or None where that cannot be followed.

        What is not negative almost everywhere is no root for all inputs, so roots that were met are kept apart.
        """
        kept, self.functions.roots = self.functions.roots, self.functions.almost_roots
        squares = self.functions.squares
        try:
            with nullcontext() if squares is None else squares.almost():
                return self._followed(equation, operands)
        except UnsupportedError:
            return None
        finally:
            self.functions.roots = kept

    def _paired(self, results: list[Value], others: list[Value] | None, lawful: bool) -> list[Value]:
        """Results together with what they are almost everywhere."""
        if others is None:
            return [r.but(almost=None) if isinstance(r, Number) else r for r in results]
        pairs = []
        for result, other in zip(results, others, strict=True):
            if not isinstance(result, Number):
                pairs.append(result)
                continue
            other = self.lift(other)
            other = other if other.almost is None else other.almost
            pairs.append(result.but(almost=other.but(lawful=lawful and other.lawful)))
        return pairs

    def _settled(self, equation: JaxprEqn, result: Number) -> Number:
        """The result, without its decisions between equal numbers where the cases meet there."""
        assert result.almost is not None
        if equation.primitive.name not in MEETING or result.expression is None:
            return result
        if "cases that meet" not in self.functions.laws:
            return result
        if not self.meet(self.expressions, result.expression, meant="constants as meant" in self.functions.laws):
            return result
        self.expressions.open.discard(result.expression)
        return result.almost.but(lawful=True)

    def _refuse_hollow(self, equation: JaxprEqn, operands: Sequence[Value]) -> None:
        """Refuse to follow a quotient by what may be zero through anything that can make a number of an infinity."""
        hollow = [isinstance(o, Number) and o.facts is not None and o.facts.hollow for o in operands]
        name = equation.primitive.name
        whole = name == "integer_pow" and equation.params["y"] > 0
        passes = whole or name in PASSES_HOLLOW and not (name == "select_n" and isinstance(operands[0], Number))
        if not any(hollow) or passes or name in DECISIONS or name == "div" and not hollow[1]:
            return
        raise HollowError(
            f"'{name}'{source_line(equation)} is applied to a quotient whose divisor may be zero for inputs of "
            "positive measure; add a positive number to the divisor"
        )

    def certain(self, *numbers: Number) -> bool:
        """Whether numbers are defined for all inputs, so that nothing is decided by NaN."""
        known = [n.facts for n in numbers]
        return all([f is not None and f.defined is Defined.ALWAYS and not f.hollow for f in known])

    def signs(self, equation: JaxprEqn, *operands: Number) -> frozenset[int]:
        """The signs that the difference of two numbers, or one number, can have, of which a decision is made."""
        unknown = any(x.special is not None or x.infinite is not None or _holds_here_only(x) for x in operands)
        if self.alike is None or unknown or not self.certain(*operands):
            return ALL_SIGNS
        return self.alike.signs(self.own_place(equation))

    def decision(
        self,
        equation: JaxprEqn,
        operands: Sequence[Number],
        difference: Number | None,
        surely: Callable[[], Any],
        almost: Callable[[], Any],
        *,
        strict: bool = False,
    ) -> Any:
        """What an equation decides about its operands.

        Args:
            equation: a comparison, a sign, or a look at NaN.
            operands: what it looks at.
            difference: what is zero where it decides between equal numbers; None if it compares nothing.
            surely: makes the result that is right for all inputs, if the operands are defined for all.
            almost: makes the result that is right where the difference is not zero and the operands are defined.
            strict: whether the result is NaN where an operand is.

        Returns:
            `surely()`, or an unknown function of the inputs if the operands may be NaN, with `almost()` beside it.
        """
        certain = strict or self.certain(*operands)
        if not certain:
            self.expressions.doubtful.add(self.own_place(equation))
        found = surely() if certain else self.unknown_choice(equation, operands[0].shape)
        known = [o.facts for o in operands]
        if not isinstance(found, Number) or not self.functions.laws & {"almost everywhere", "cases that meet"}:
            return found
        if any(f is None or f.defined is Defined.PARTLY or f.hollow for f in known):
            return found
        if difference is not None and vanishes(difference.residues).any():
            return found
        lawful = all(f is not None and f.nature is not Nature.PIECEWISE for f in known) or difference is None
        if not certain and not lawful:
            return found
        if difference is not None and lawful:
            self.lawful.add(equation)
        return found.but(almost=self.lift(almost()).but(lawful=lawful))

    def unknown(self, name: str, equation: JaxprEqn, shape: tuple[int, ...]) -> Number:
        """An unknown function of the inputs at every place of an array, the same for the same expression.

        The primitive, its parameters and its operands make the expression: an argmax along another axis is another one.
        """
        places = self.draw.floats(np.arange(int(np.prod(shape)), dtype=float)).reshaped(shape)
        return Number(self.draw.opaque(f"{name} of {self.own_place(equation)}", places))

    def own_place(self, equation: JaxprEqn) -> int:
        """Where the first result of the equation that is being followed stands in the table of expressions."""
        return self.expressions.applied(equation, self._places, 0, shape_of(equation.outvars[0]))

    def unknown_choice(self, equation: JaxprEqn, shape: tuple[int, ...]) -> Number:
        """An unknown function of the inputs with values 0 and 1 at every place of an array."""
        return self.functions.choice(self.unknown("choice", equation, shape).residues)

    def unknown_cast(self, equation: JaxprEqn, shape: tuple[int, ...]) -> Number:
        """What an integer dtype makes of numbers that may be NaN: of such a number too it makes some integer."""
        self.expressions.doubtful.add(self.own_place(equation))
        return self.unknown("cast", equation, shape)

    def uninterpreted(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """A primitive without a rule as an unknown function of its operands and parameters."""
        for operand in operands:
            if isinstance(operand, Refused):
                raise operand.error
        results = apply_uninterpreted(self, equation, operands)
        self.trail += [self._step(equation, result) for result in results]
        return list(results)

    def _with_parts(self, equation: JaxprEqn, operands: Sequence[Value], result: Value) -> Value:
        """The result with its constant factor and summand, and its factors."""
        if not isinstance(result, Number) or not is_number(equation.outvars[0]):
            return result
        numbers, met = [self.lift(operand) for operand in operands], self.functions.logarithms_met
        if met is not None and asks_again(equation.primitive.name, numbers):
            numbers = [met.again(x, functools.partial(gathered, self.functions)) for x in numbers]
        result = with_parts(self.functions, equation.primitive.name, numbers, result)
        powered = with_powers(self.functions, equation, numbers, result)
        if powered is not result:
            nonnegative = powered.nonnegative or result.nonnegative
            known = powered.but(facts=result.facts, expression=result.expression, nonnegative=nonnegative)
            result = with_sign(self.functions, known)
        found = with_inverses(self.functions, equation, numbers, result, ranges=self.operand_ranges)
        found = found if found is result else found.but(facts=result.facts, expression=result.expression)
        if met is not None:
            met.keep(found)
        return found

    def _step(self, equation: JaxprEqn, result: Number) -> Step:
        # A sum over entries, so that a rearrangement of the same ones is not taken for something new.
        residues = result.residues.levels[0][0].ravel()
        return Step(equation, int(np.dot(residues, residues)), result.expression)

    def _computed(self, result: Number) -> bool:
        """Whether a result is more than a random point that is drawn when it is used."""
        return not isinstance(result.residues.levels, Points)

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Entries in new places; a symbolic predicate blends its cases."""
        name = equation.primitive.name
        if name in SCATTERS:
            return [scattered(self, equation, operands)]
        if name == "select_n" and isinstance(operands[0], Number):
            return [self._blended(equation, operands[0], *operands[1:])]
        first = operands[0]
        move = in_copies(equation) if isinstance(first, Number) else None
        if isinstance(first, Number) and move is not None:
            return [first.moved(move)]
        supplies = SUPPLIERS.get(name, slice(None) if name in ("concatenate", "stack") else slice(1))
        supplied = [False] * len(operands)
        supplied[supplies] = [True] * len(supplied[supplies])
        if any(isinstance(o, Number) and not s for o, s in zip(operands, supplied, strict=True)):
            if name in ("dynamic_slice", "dynamic_update_slice", "gather"):
                return [places.taken(self, equation, operands)]
            raise UnsupportedError(f"'{name}'{source_line(equation)} takes an index that depends on the input")
        numbers = [self.lift(operand) for operand, supply in zip(operands, supplied, strict=True) if supply]
        return [gathered(self.functions, numbers, source) for source in positions(equation, operands, supplied)]

    def _blended(self, equation: JaxprEqn, predicate: Number, *cases: Value) -> Number:
        """p·x₁ + (1 - p)·x₀ = x₀ + p·(x₁ - x₀)."""
        if len(cases) != 2:
            raise UnsupportedError(f"'select_n'{source_line(equation)} has {len(cases)} cases and depends on the input")
        (otherwise, p), (then, q) = (chosen_infinities.separated(self, self.lift(case)) for case in cases)
        f = self.functions
        predicate = f.spread(predicate, then.shape)
        complement = f.subtract(f.constant(1, then.shape), predicate)
        if predicate.expression is not None and (p is not None or q is not None):
            known = None if predicate.facts is None else predicate.facts.unsigned()  # it is 0 where p is 1
            complement = complement.but(facts=known, expression=self._complement_of(equation, predicate))
        blended = f.add(f.multiply(predicate, then), f.multiply(complement, otherwise))
        blended = blended.but(nonnegative=then.nonnegative and otherwise.nonnegative)
        return chosen_infinities.joined(self, blended, (predicate, q), (complement, p))

    def _complement_of(self, equation: JaxprEqn, predicate: Number) -> int:
        """Where "not p" stands in the table of expressions for the predicate p of a selection."""
        given = [variable for variable in equation.invars[:1] if isinstance(variable, Var)]
        opposite = equation.replace(primitive=lax.not_p, params={}, invars=list(given), outvars=given)
        assert predicate.expression is not None
        return self.expressions.applied(opposite, (predicate.expression,), 0, predicate.shape)


def _holds_here_only(number: Number) -> bool:
    """Whether what is known of a number holds under the condition of a selection only."""
    return number.facts is None or number.facts.guarded


def _with_signs(value: Value, signs: frozenset[int]) -> Value:
    """A value of which the signs are known where a condition holds."""
    if not isinstance(value, Number) or value.facts is None or signs == ALL_SIGNS:
        return value
    signs = signs - {-1} if value.nonnegative else signs
    signed = lambda x: x.but(
        nonnegative=x.nonnegative or -1 not in signs, facts=None if x.facts is None else x.facts.signed(signs)
    )
    return signed(value).but(almost=None if value.almost is None else signed(value.almost))


def _all_lawful(operands: Sequence[Value]) -> bool:
    return all(o.lawful for o in operands if isinstance(o, Number))


def evaluate(closed_jaxpr: ClosedJaxpr, fields: Fields, arguments: Sequence[Number]) -> list[Number]:
    """The outputs of a jaxpr at a random point."""
    return [fields.output(output) for output in interpret(closed_jaxpr, fields, arguments)]


def equal(x: Number, y: Number) -> np.ndarray:
    """Where two outputs agree in every copy of the top level, both finite or infinite; undefined ones never do."""
    codes = [np.zeros(x.shape, np.int8) if n.special is None else n.special for n in (x, y)]
    agree = np.all(x.residues.levels[0] == y.residues.levels[0], axis=0)
    return agree & (codes[0] == codes[1]) & (codes[0] != UNDEFINED) & _infinite_together(x.infinite, y.infinite)


def _infinite_together(x: Infinite | None, y: Infinite | None) -> bool:
    """Whether, and where, two numbers are infinite for the same inputs, in the same way."""
    if x is None or y is None:
        return x is None and y is None
    return x.code == y.code and np.all(x.where.residues.levels[0] == y.where.residues.levels[0], axis=0)
