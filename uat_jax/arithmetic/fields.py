"""Prime fields: a jaxpr evaluated at a random point of a tower of prime fields.

Float constants are exact rational numbers, casts between floating types are the identity, and unknown functions are
random functions with the symmetries of the real ones.  Booleans and integers that depend on the inputs are numbers
too.  Two programs that agree here are the same function, up to a probability that the draw can state.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
from flint import arb
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic import chosen_infinities
from uat_jax.arithmetic.balls import UndecidedError, balls_evaluated, balls_of_forms, exact_balls
from uat_jax.arithmetic.closed_form import ClosedForm
from uat_jax.arithmetic.closed_form import rational as rational_form
from uat_jax.arithmetic.concrete import is_wide
from uat_jax.arithmetic.constant_parts import with_parts
from uat_jax.arithmetic.constants import CLOSED, ClosedForms, Enclosure, entrywise, joined
from uat_jax.arithmetic.deadline import Deadline
from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.fact_rules import DECISIONS, PASSES_HOLLOW, facts_of
from uat_jax.arithmetic.facts import Defined, Facts, Nature, of_constant
from uat_jax.arithmetic.field_functions import FieldFunctions
from uat_jax.arithmetic.field_rules import RULES
from uat_jax.arithmetic.guards import ALL_SIGNS, UnderCondition, Values, below, condition
from uat_jax.arithmetic.interpreter import Arithmetic, Value, interpret, positions
from uat_jax.arithmetic.meeting import Meeting
from uat_jax.arithmetic.number import FINITE, INFINITY, MINUS_INFINITY, UNDEFINED, Infinite, Number, rational
from uat_jax.arithmetic.recognition import LOWEST, MOST_READ, ConstantReading, Meanings, Reading, meanings
from uat_jax.arithmetic.recognition import balls as balls_of
from uat_jax.arithmetic.refused import HollowError, Refused
from uat_jax.arithmetic.residues import Residues, vanishes
from uat_jax.arithmetic.tracing import is_number, shape_of, source_line
from uat_jax.arithmetic.uninterpreted import apply_uninterpreted
from uat_jax.errors import InputError, UnsupportedError

JUMPS = frozenset(["ceil", "floor", "round", "sign"])
"""Primitives whose values are whole numbers: of constants they are decided, as comparisons are."""

ANYTHING = arb("nan")
"""The ball that holds everything: nothing is decided by it."""

MOST_NAMED = 3
"""Of the constants that a decision hangs on, at most so many are named."""

SUPPLIERS = {"select_n": slice(1, None), "pad": slice(0, 2), "dynamic_update_slice": slice(0, 2)}
"""Which operands of a structural primitive supply entries: by default all of `concatenate`, else the first."""


MEETING = frozenset(["select_n", "mul", "add", "sub"])
"""Primitives behind which the cases of a decision may have become one function again."""


@dataclass(frozen=True)
class Step:
    """One evaluated equation, and a digest of its value."""

    equation: JaxprEqn
    value: int

    def __str__(self) -> str:
        return f"'{self.equation.primitive.name}'{source_line(self.equation)}"


class Fields(Arithmetic):
    """Numbers are `Number`s of a draw; `functions` says under which laws.

    trail: the equations evaluated so far.
    """

    name = "prime-field arithmetic"
    rules = RULES
    takes_unknown = True

    def __init__(self, functions: FieldFunctions, meet: Meeting, deadline: Deadline | None = None):
        self.functions = functions
        self.meet = meet
        self.deadline = deadline
        self.draw = functions.draw
        self.expressions = functions.expressions
        self.doubles = Doubles()
        self.trail: list[Step] = []
        self.values: dict[int, Value] = {}
        self.lawful: set[JaxprEqn] = set()
        self._places: tuple[int, ...] = ()

    def number(self, array: Any) -> Number:
        """The numbers that floats are, exactly; ±∞ and NaN are codes.  Integers of 64 bits stay exact."""
        array = np.asarray(array)
        if is_wide(array):
            return self._wide(array)
        values = np.asarray(array).astype(np.float64)
        return self._floats(values).but(closed=self._written_forms(values))

    def _floats(self, values: np.ndarray) -> Number:
        special = np.where(np.isposinf(values), INFINITY, np.where(np.isnan(values), UNDEFINED, FINITE))
        special = np.where(np.isneginf(values), MINUS_INFINITY, special).astype(np.int8)
        finite = np.where(np.isfinite(values), values, 0.0)
        return Number(
            self.draw.floats(finite),
            special if special.any() else None,
            values,
            bool(np.all(finite >= 0) and not special.any()),
            enclosure=Enclosure(lambda: exact_balls(values)),
            facts=of_constant(np.where(special == FINITE, values, np.nan)),
            expression=self.expressions.constant(values),
        )

    def _wide(self, array: np.ndarray) -> Number:
        """Integers that float64 would round: 2³² times the upper half of their bits, and the lower half."""
        upper, lower = (self.draw.floats(part.astype(np.float64)) for part in np.divmod(array, array.dtype.type(2**32)))
        return Number(
            self.draw.add(self.draw.scale(upper, Fraction(2**32)), lower), nonnegative=bool(np.all(array >= 0))
        )

    def _written_forms(self, values: np.ndarray) -> ClosedForms | None:
        """The closed forms of a small array of finite numbers."""
        if not 0 < values.size <= MOST_READ or not np.isfinite(values).all():
            return None
        distinct, codes = np.unique(values, return_inverse=True)
        return ClosedForms(codes.reshape(values.shape), tuple(map(rational_form, map(Fraction, distinct.tolist()))))

    def constant(self, array: Any, dtype: np.dtype) -> Number:
        """A constant, entry by entry: the numbers that are written, or under the law those that they stand for."""
        values = np.asarray(array).astype(np.float64)
        found = meanings(values, dtype)
        enclosure = Enclosure(lambda: _rounded(values, dtype), constants=found.inexact if found else ())
        if found is None:
            return self._named_constant(self._floats(values), values, dtype).but(enclosure=enclosure)
        meant = "constants as meant" in self.functions.laws and bool(found.readings)
        if not meant and np.isfinite(values).all():
            forms = ClosedForms(found.codes, tuple(form for form in found.written if form is not None))
            return self._named_constant(self._floats(values), values, dtype).but(closed=forms, enclosure=enclosure)
        forms = tuple(m.form for m in found.distinct) if meant else found.written
        finite = tuple(form for form in forms if form is not None)
        if len(finite) == len(forms):
            number = self._of_forms(ClosedForms(found.codes, finite))
        else:
            number = self._with_infinities(values, found, forms)
        return self._named_constant(number, values, dtype).but(enclosure=enclosure)

    def _named_constant(self, number: Number, values: np.ndarray, dtype: np.dtype) -> Number:
        """A constant with its facts and its place among the expressions."""
        finite = np.ones(number.shape, bool) if number.special is None else number.special == FINITE
        facts = of_constant(np.where(finite, values, np.nan))
        return number.but(facts=facts, expression=self.expressions.constant(values, str(dtype)))

    def _with_infinities(self, values: np.ndarray, found: Meanings, forms: Sequence[ClosedForm | None]) -> Number:
        """Entries without a form are -∞, ∞ or NaN; the residue of a mask remains, so that masks are told apart."""
        written = self._floats(values)
        without = np.array([form is None for form in forms])[found.codes]
        special = np.zeros(values.shape, np.int8) if written.special is None else written.special
        special = np.where(without & np.isfinite(values), MINUS_INFINITY, special).astype(np.int8)
        kept = tuple(rational_form(0) if form is None else form for form in forms)
        residues = self.draw.where(without, written.residues, self._of_forms(ClosedForms(found.codes, kept)).residues)
        return Number(residues, special, np.where(special == MINUS_INFINITY, -np.inf, values))

    def _of_forms(self, forms: ClosedForms) -> Number:
        """Numbers in closed form."""
        rationals = [form.rational for form in forms.distinct if form.rational is not None]
        if forms.uniform is not None:
            number = self.functions.spread(self.functions.closed(forms.uniform), forms.codes.shape)
        elif len(rationals) == len(forms.distinct):
            number = Number(self.draw.fractions(rationals).moved(lambda a: a[:, forms.codes]))
        else:
            number = self._gathered([self.functions.closed(form) for form in forms.distinct], forms.codes)
        return number.but(
            known=forms.approximations,
            nonnegative=all(form.positive or form.rational == 0 for form in forms.distinct),
            closed=forms,
            enclosure=Enclosure(lambda: balls_of_forms(forms)),
        )

    def involves(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Whether any operand is a number of the fields, whatever the type of its variable."""
        return any(isinstance(operand, Number | Refused) for operand in operands)

    def stack(self, values: Sequence[Value]) -> Number:
        """Along a new leading axis."""
        numbers = [self.lift(value) for value in values]
        places = np.arange(sum(int(np.prod(n.shape)) for n in numbers)).reshape(len(numbers), *numbers[0].shape)
        stacked = self._gathered(numbers, places)
        stacked = stacked.but(
            expression=self.expressions.part("stack", 0, list(map(self._place, numbers)), places.shape)
        )
        if all(n.almost is None for n in numbers):
            return stacked
        others = [n.almost or n for n in numbers]
        return self._open(stacked, self._gathered(others, places).but(lawful=_all_lawful(others)))

    def entry(self, value: Value, index: int) -> Value:
        """value[index] along the leading axis."""
        if isinstance(value, Refused):
            raise value.error
        if not isinstance(value, Number):
            return value[index]
        place = self.expressions.part("entry", index, [self._place(value)], value.shape[1:])
        take = lambda number: number.moved(lambda a: a[:, index]).but(expression=place)
        entry = take(value)
        return entry if value.almost is None else self._open(entry, take(value.almost).but(lawful=value.almost.lawful))

    def _place(self, value: Value) -> int:
        """Where the expression of a value stands in the table."""
        if isinstance(value, Refused):
            return value.expression
        if isinstance(value, Number):
            return self.expressions.unnamed(value.shape) if value.expression is None else value.expression
        return self.expressions.constant(value)

    def lift(self, value: Value) -> Number:
        """A concrete array as numbers."""
        if isinstance(value, Refused):
            raise value.error
        return value if isinstance(value, Number) else self.number(value)

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation; the cases of a selection are taken for what they are under its condition."""
        for operand in operands:
            self._remember(operand)
        if equation.primitive.name == "select_n" and "guards" in self.functions.laws:
            operands = self._guarded(equation, operands)
        results = list(map(self._unconditional, self._evaluated(equation, operands)))
        for result in results:
            self._remember(result)
        self.trail += [self._step(equation, result) for result in results if isinstance(result, Number)]
        return results

    def _remember(self, value: Value) -> None:
        """Keep the value of an expression, for selections further on."""
        if isinstance(value, Number | Refused) and value.expression is not None:
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
        return _with_signs(found, under.signs(place))

    def _reapplied(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results for operands under a condition; none of what they decide is taken for right almost everywhere.

        Whether compared numbers differ almost everywhere is looked up for the program's own operands only.
        """
        new = equation not in self.lawful
        results = self._evaluated(equation, operands)
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
        places = tuple(map(self._place, operands))
        shapes = map(shape_of, equation.outvars)
        return [Refused(error, self.expressions.applied(equation, places, i, s), s) for i, s in enumerate(shapes)]

    def _evaluated(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results of one equation, with what is known about them, and what they are almost everywhere."""
        refused = next((o for o in operands if isinstance(o, Refused)), None)
        if refused is not None:
            return self._refused(equation, operands, refused.error)
        try:
            results = self._followed(equation, operands)
        except HollowError as error:
            return self._refused(equation, operands, error)
        others = [o.almost or o if isinstance(o, Number) else o for o in operands]
        if any(isinstance(o, Number) and o.almost is not None for o in operands):
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
        self._places = tuple(map(self._place, operands)) if self.involves(equation, operands) else ()
        known = self._known(equation, operands)
        numbers = [is_number(variable) for variable in equation.outvars]
        if known is not None and (not any(numbers) or equation.primitive.name in JUMPS):
            decided = self._decided(equation, operands)
            return [self._whole(equation, x) if number else x for x, number in zip(decided, numbers, strict=True)]
        if known is not None and equation.primitive.name == "rem":
            self._decided(equation, operands)  # its quotient is cut off
        self._refuse_hollow(equation, operands)
        forms = None if known is None else self._forms(equation, operands)
        results = self._by_rule(equation, operands) if forms is None else [self._of_forms(forms)]
        if not self.involves(equation, operands):
            return results
        results = [
            self._described(equation, i, r, facts) if isinstance(r, Number) and facts else r
            for i, (r, facts) in enumerate(zip(results, facts_of(self.draw, equation, operands, results), strict=True))
        ]
        if known is None:
            return [self._with_parts(equation, operands, result) for result in results]
        decided = results if all(numbers) else self._decided(equation, operands)
        enclosures = self._enclosures(equation, operands)
        return [
            r.but(known=k[0], enclosure=e) if number and isinstance(r, Number) else d
            for r, d, k, e, number in zip(results, decided, known, enclosures, numbers, strict=True)
        ]

    def _by_rule(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        if any(map(chosen_infinities.is_chosen, operands)):
            return chosen_infinities.followed(self, equation, operands)
        return super().evaluate(equation, operands)

    def _described(self, equation: JaxprEqn, index: int, result: Number, facts: Facts) -> Number:
        almost = None if result.almost is None else result.almost.but(facts=facts)
        place = self.expressions.applied(equation, self._places, index, result.shape)
        return result.but(facts=facts, expression=place, almost=almost)

    def _almost(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value] | None:
        """The results for operands as they are almost everywhere, or None where that cannot be followed."""
        try:
            return self._followed(equation, operands)
        except UnsupportedError:
            return None

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
        passes = name in PASSES_HOLLOW and not (name == "select_n" and isinstance(operands[0], Number))
        if not any(hollow) or passes or name in DECISIONS or name == "div" and not hollow[1]:
            return
        raise HollowError(
            f"'{name}'{source_line(equation)} is applied to a quotient whose divisor may be zero for inputs of "
            "positive measure; add a positive number to the divisor"
        )

    def certain(self, *numbers: Number) -> bool:
        """Whether numbers are defined for all inputs, so that nothing is decided by NaN."""
        known = [n.facts for n in numbers]
        return all(f is not None and f.defined is Defined.ALWAYS and not f.hollow for f in known)

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
        if not certain:
            self.expressions.doubtful.add(self._own_place(equation))
        return found.but(almost=self.lift(almost()).but(lawful=lawful))

    def unknown(self, name: str, equation: JaxprEqn, shape: tuple[int, ...]) -> Number:
        """An unknown function of the inputs at every place of an array, the same for the same expression.

        The primitive, its parameters and its operands make the expression: an argmax along another axis is another one.
        """
        places = self.draw.floats(np.arange(int(np.prod(shape)), dtype=float)).reshaped(shape)
        return Number(self.draw.opaque(f"{name} of {self._own_place(equation)}", places))

    def _own_place(self, equation: JaxprEqn) -> int:
        """Where the first result of the equation that is being followed stands in the table of expressions."""
        return self.expressions.applied(equation, self._places, 0, shape_of(equation.outvars[0]))

    def unknown_choice(self, equation: JaxprEqn, shape: tuple[int, ...]) -> Number:
        """The same with values 0 and 1."""
        return self.functions.choice(self.unknown("choice", equation, shape).residues)

    def uninterpreted(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """A primitive without a rule as an unknown function of its operands and parameters."""
        for operand in operands:
            if isinstance(operand, Refused):
                raise operand.error
        results = apply_uninterpreted(self, equation, operands)
        self.trail += [self._step(equation, result) for result in results]
        return list(results)

    def _whole(self, equation: JaxprEqn, balls: np.ndarray) -> Number:
        """Whole numbers that balls are for certain."""
        values = np.asarray(np.frompyfunc(float, 1, 1)(balls), np.float64)
        if not all(x.is_exact() and (x.is_nan() or x == v) for x, v in zip(balls.ravel(), values.ravel(), strict=True)):
            raise UnsupportedError(
                f"'{equation.primitive.name}'{source_line(equation)} gives a constant beyond float64"
            )
        return self.number(values)

    def _with_parts(self, equation: JaxprEqn, operands: Sequence[Value], result: Value) -> Value:
        """The result with its constant factor and summand."""
        if not isinstance(result, Number) or not is_number(equation.outvars[0]):
            return result
        return with_parts(self.functions, equation.primitive.name, [self.lift(o) for o in operands], result)

    def _forms(self, equation: JaxprEqn, operands: Sequence[Value]) -> ClosedForms | None:
        """The result of an equation of numbers in closed form, if it has one."""
        function = CLOSED.get(equation.primitive.name)
        if function is None or not is_number(equation.outvars[0]):
            return None
        numbers = [self.lift(operand) for operand in operands]
        forms = [number.closed for number in numbers if number.special is None and number.closed is not None]
        if len(forms) < len(numbers):
            return None
        return entrywise(functools.partial(function, equation.params), *forms)

    def _step(self, equation: JaxprEqn, result: Number) -> Step:
        # Sorted, so that a rearrangement of the same entries is not taken for something new.
        value = hash(np.sort(result.residues.levels[0][0], axis=None).tobytes())
        return Step(equation, value)

    def _known(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[np.ndarray] | None:
        """Float64 results of an equation whose numbers are all known."""
        if not self.involves(equation, operands):
            return None
        values = []
        for operand, atom in zip(operands, equation.invars, strict=True):
            if not isinstance(operand, Number):
                values.append(operand)
            elif operand.known is None or not is_number(atom):
                return None
            else:
                values.append(operand.known[None])
        return self.doubles.evaluate(equation, values) if self.doubles.supports(equation, values) else None

    def _decided(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[np.ndarray]:
        """Concrete results, such as a comparison of constants, if they are the same for all readings of constants."""
        enclosures = [self._enclosure(operand) for operand in operands]
        try:
            return balls_evaluated(equation, [_balls(e, o) for e, o in zip(enclosures, operands, strict=True)])
        except InputError as error:
            raise UnsupportedError(f"'{equation.primitive.name}'{source_line(equation)}: {error}") from error
        except UndecidedError:
            constants = frozenset().union(*(e.constants for e in enclosures if e is not None))
            raise UnsupportedError(
                f"'{equation.primitive.name}'{source_line(equation)} decides by constants that are too close to tell "
                f"apart{_named(constants)}; use whole numbers there"
            ) from None

    def _enclosures(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Enclosure]:
        """Of the results of an equation of constants."""
        parts = [self._enclosure(operand) for operand in operands]
        values = functools.cache(
            lambda: balls_evaluated(equation, [_balls(e, o) for e, o in zip(parts, operands, strict=True)])
        )
        of = [part for part in parts if part is not None]
        return [Enclosure(lambda i=i: values()[i], of) for i in range(len(equation.outvars))]

    def _enclosure(self, operand: Value) -> Enclosure | None:
        """Of a constant; None of concrete integers and booleans."""
        if not isinstance(operand, Number):
            return None
        value = rational(self.draw, operand) if operand.enclosure is None else None
        if value is not None:
            return Enclosure(lambda: balls_of_forms(ClosedForms(np.zeros(operand.shape, int), (rational_form(value),))))
        if operand.enclosure is None:
            raise UnsupportedError("a constant is known in float64 only; nothing is decided by it")
        return operand.enclosure

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """Entries in new places; a symbolic predicate blends its cases."""
        name = equation.primitive.name
        if name == "select_n" and isinstance(operands[0], Number):
            return [self._blended(equation, *operands)]
        supplies = SUPPLIERS.get(name, slice(None) if name in ("concatenate", "stack") else slice(1))
        supplied = [False] * len(operands)
        supplied[supplies] = [True] * len(supplied[supplies])
        if any(isinstance(o, Number) and not s for o, s in zip(operands, supplied, strict=True)):
            raise UnsupportedError(f"'{name}'{source_line(equation)} takes an index that depends on the input")
        numbers = [self.lift(operand) for operand, supply in zip(operands, supplied, strict=True) if supply]
        return [self._gathered(numbers, source) for source in positions(equation, operands, supplied)]

    def _gathered(self, numbers: Sequence[Number], source: np.ndarray) -> Number:
        """Entries `source` of the numbers, flattened and laid end to end."""
        if len(numbers) == 1:
            return numbers[0].moved(lambda a: a.reshape(len(a), -1)[:, source])
        sizes = np.cumsum([0, *(int(np.prod(n.shape)) for n in numbers)])
        for number, start, stop in zip(numbers, sizes, sizes[1:], strict=False):
            if source.size and start <= source.min() and source.max() < stop:  # nothing is taken from the others
                return self._gathered([number], source - start)
        take = lambda a: a[:, source]
        scale = numbers[0].scale if all(n.scale == numbers[0].scale for n in numbers) else Fraction(1)
        special = _joined([n.special for n in numbers], numbers, np.int8)
        known = None if any(n.known is None for n in numbers) else _joined([n.known for n in numbers], numbers, float)
        return Number(
            self.draw.concatenate([n.residues for n in numbers]).moved(take),
            None if special is None or not special[source].any() else special[source],
            None if known is None else known[source],
            all(n.nonnegative for n in numbers),
            scale,
            largest_of=self._gathered_members(numbers, source),
            infinite=self._gathered_infinities(numbers, source),
            facts=_joined_facts(numbers, source),
            closed=_joined_forms(numbers, source),
            enclosure=_joined_enclosures(numbers, source),
        )

    def _gathered_infinities(self, numbers: Sequence[Number], source: np.ndarray) -> Infinite | None:
        """Where entries gathered from several arrays are infinite for some inputs."""
        codes = {n.infinite.code for n in numbers if n.infinite is not None}
        if not codes:
            return None
        if len(codes) > 1 or any(n.special is not None for n in numbers):
            raise UnsupportedError(
                "numbers that are infinite in several ways, depending on the input, are put together"
            )
        nowhere = lambda n: self.functions.constant(0, n.shape)
        return Infinite(
            self._gathered([nowhere(n) if n.infinite is None else n.infinite.where for n in numbers], source),
            codes.pop(),
        )

    def _gathered_members(self, numbers: Sequence[Number], source: np.ndarray) -> tuple[Residues, np.ndarray] | None:
        """Maxima next to each other: the k-th members of all of them, where they have so many."""
        if all(n.largest_of is None for n in numbers):
            return None
        sets = [self.functions.members(n) for n in numbers]
        count = max(members.shape[0] for members, _ in sets)
        rows, present = [], []
        for k in range(count):
            row = [_member(members, min(k, members.shape[0] - 1)) for members, _ in sets]
            rows.append(self.draw.concatenate(row).moved(lambda a: a[:, source]))
            there = [_presence(*members, k).ravel() for members in sets]
            present.append(np.concatenate(there)[source])
        return self.draw.stack(rows), np.stack(present)

    def _blended(self, equation: JaxprEqn, predicate: Number, *cases: Value) -> Number:
        """p·x₁ + (1 - p)·x₀ = x₀ + p·(x₁ - x₀)."""
        if len(cases) != 2:
            raise UnsupportedError(f"'select_n'{source_line(equation)} has {len(cases)} cases and depends on the input")
        (otherwise, p), (then, q) = (chosen_infinities.separated(self, self.lift(case)) for case in cases)
        f = self.functions
        predicate = f.spread(predicate, then.shape)
        complement = f.subtract(f.constant(1, then.shape), predicate)
        blended = f.add(f.multiply(predicate, then), f.multiply(complement, otherwise))
        blended = blended.but(nonnegative=then.nonnegative and otherwise.nonnegative)
        return chosen_infinities.joined(self, blended, (predicate, q), (complement, p))


def _rounded(values: np.ndarray, dtype: np.dtype) -> np.ndarray:
    """Constants as balls of their rounding; a mask, which is a number or -∞, may be anything."""
    rounded = balls_of(values, dtype, Reading.ROUNDED)
    rounded[np.isfinite(values) & (values <= LOWEST)] = ANYTHING
    return rounded


def _balls(enclosure: Enclosure | None, operand: Value) -> Value:
    """What ball arithmetic takes for an operand."""
    return operand if enclosure is None else enclosure.balls()


def _with_signs(value: Value, signs: frozenset[int]) -> Value:
    """A value of which the signs are known where a condition holds."""
    if not isinstance(value, Number) or value.facts is None or signs == ALL_SIGNS:
        return value
    signed = lambda x: x.but(
        nonnegative=x.nonnegative or -1 not in signs, facts=None if x.facts is None else x.facts.signed(signs)
    )
    return signed(value).but(almost=None if value.almost is None else signed(value.almost))


def _named(constants: Iterable[ConstantReading]) -> str:
    """': ' and a few of the constants, or ''."""
    texts = [constant.text for constant in sorted(constants)]
    more = f" and {len(texts) - MOST_NAMED} more" if len(texts) > MOST_NAMED else ""
    return f": {', '.join(texts[:MOST_NAMED])}{more}" if texts else ""


def _joined_forms(numbers: Sequence[Number], source: np.ndarray) -> ClosedForms | None:
    forms = [number.closed for number in numbers if number.closed is not None]
    return joined(forms).moved(lambda codes: codes[:, source]) if len(forms) == len(numbers) else None


def _joined_enclosures(numbers: Sequence[Number], source: np.ndarray) -> Enclosure | None:
    parts = [number.enclosure for number in numbers if number.enclosure is not None]
    if len(parts) < len(numbers):
        return None
    return Enclosure(lambda: np.concatenate([part.balls().ravel() for part in parts])[source], parts)


def _member(members: Residues, k: int) -> Residues:
    return Residues(tuple(a[:, k] for a in members.levels), members.degree.mixed())


def _presence(members: Residues, present: np.ndarray | None, k: int) -> np.ndarray:
    if k >= members.shape[0]:
        return np.zeros(members.shape[1:], bool)
    return np.ones(members.shape[1:], bool) if present is None else np.broadcast_to(present[k], members.shape[1:])


def _joined_facts(numbers: Sequence[Number], source: np.ndarray) -> Facts | None:
    """What is known of entries gathered from several arrays."""
    known = [n.facts for n in numbers if n.facts is not None]
    if len(known) < len(numbers):
        return None
    join = lambda arrays: np.concatenate([a.ravel() for a in arrays])[source]
    return Facts(
        max(f.nature for f in known),
        max(f.defined for f in known),
        any(f.hollow for f in known),
        join(f.positive for f in known),
        join(f.thin for f in known),
        any(f.guarded for f in known),
    )


def _all_lawful(operands: Sequence[Value]) -> bool:
    return all(o.lawful for o in operands if isinstance(o, Number))


def _joined(parts: Sequence[np.ndarray | None], numbers: Sequence[Number], dtype: Any) -> np.ndarray | None:
    if all(part is None for part in parts):
        return None
    return np.concatenate(
        [np.zeros(n.shape, dtype).ravel() if p is None else p.ravel() for p, n in zip(parts, numbers, strict=True)]
    )


def evaluate(closed_jaxpr: ClosedJaxpr, fields: Fields, arguments: Sequence[Number]) -> list[Number]:
    """The outputs of a jaxpr at a random point."""
    return [fields.lift(output) for output in interpret(closed_jaxpr, fields, arguments)]


def equal(x: Number, y: Number) -> np.ndarray:
    """Where two outputs agree in every copy of the top level, both finite or infinite; undefined ones never do."""
    codes = [np.zeros(x.shape, np.int8) if n.special is None else n.special for n in (x, y)]
    agree = np.all(x.residues.levels[0] == y.residues.levels[0], axis=0)
    return agree & (codes[0] == codes[1]) & (codes[0] != UNDEFINED) & _infinite_together(x.infinite, y.infinite)


def _infinite_together(x: Infinite | None, y: Infinite | None) -> Any:
    """Whether, and where, two numbers are infinite for the same inputs, in the same way."""
    if x is None or y is None:
        return x is None and y is None
    return x.code == y.code and np.all(x.where.residues.levels[0] == y.where.residues.levels[0], axis=0)
