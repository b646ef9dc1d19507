"""Numbers of a draw that are the same function, which the cases of their decisions show.

Which pairs are looked at is guessed from values in float64, on which nothing rests.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Hashable, Mapping

import jax.numpy as jnp
import numpy as np

from uat_jax.errors import UatJaxError
from uat_jax.interpret.integer_ranges import is_integer
from uat_jax.interpret.tracing import dtype_of, is_number
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.cases import Cases
from uat_jax.numbers.prime_fields.cell import NONNEGATIVE, POSITIVE, Range
from uat_jax.numbers.prime_fields.entries import formula_of_entry
from uat_jax.numbers.prime_fields.expressions import Expressions
from uat_jax.numbers.prime_fields.formula import ENTRYWISE, MOST_MOVED, Equals, Formula, formula, repeats_one
from uat_jax.numbers.prime_fields.formula_in_cell import DECIDES, decides, is_defined
from uat_jax.numbers.prime_fields.guards import ALL_SIGNS
from uat_jax.numbers.prime_fields.inner_variables import with_inner_variable
from uat_jax.numbers.prime_fields.number import Number
from uat_jax.numbers.prime_fields.residues import Draw
from uat_jax.typing import Atom

POINTS = 24
"""At so many points are expressions looked at in float64."""

MOST_KEPT = 1 << 18
"""Numbers of so many entries are kept, all together."""

MOST_ENTRIES = 96
"""If more entries of two arrays differ formally they are not followed one by one."""

SCALES = np.tile([1.0, 1.0, 3.0, 20.0], POINTS // 4)
"""Of the random values at each point: decisions at large numbers are seen as well."""


class Alike:
    """The numbers that both programs computed at one draw; each is taken for the first that is the same function.

    meant: whether constants are what they stand for.  ranges: of inputs, by their places.  draw: counts the arrays
    whose residues are looked up among those of others; None looks up nothing.  by_entries: whether entries of outputs
    are followed one by one.
    """

    def __init__(
        self,
        expressions: Expressions,
        cases: Cases,
        ranges: Mapping[int, Range],
        *,
        meant: bool,
        draw: Draw | None = None,
        by_entries: bool = False,
    ):
        self.expressions, self.cases, self.meant, self.draw = expressions, cases, meant, draw
        self.by_entries = by_entries
        self.ranges = dict(ranges)
        self.doubles = Doubles()
        self._values: dict[int, np.ndarray | None] = {}
        self._deciding: set[int] = set()
        self._real: set[int] = set()
        self._certain: set[int] = set()
        self._formal: dict[Hashable, int] = {}
        self.known_as: dict[int, int] = {}
        self._known: dict[Hashable, list[tuple[int, Number]]] = defaultdict(list)
        self._places: set[int] = set()
        self._kept = 0

    def first(self, number: Number, *, certain: bool) -> Number:
        """The number itself, or one met before that is shown to be the same function.

        Of a whole number and a real one only the values are the same: a quotient of the former is rounded, and so it
        keeps its own expression.
        Numbers that are infinite or NaN on purpose are themselves, and so is what is computed from them: cases are
        those of real numbers.  certain: whether the number is defined for all inputs.
        """
        place = number.expression
        if not self.see(number, certain=certain) or place is None:
            return number
        values = self.values(place) if certain else None
        if values is None or place in self._places:
            return number
        bucket = self._known[number.shape, _digits(values)]
        for other, known in bucket:
            if self._are_same(other, place):
                same_kind = self._kind_of(other) == self._kind_of(place)
                return known if same_kind else known.but(expression=place, facts=number.facts)
        self._kept += math.prod(number.shape)
        if self._kept > MOST_KEPT:
            return number
        bucket.append((place, number))
        self._places.add(place)
        return number

    def see(self, number: Number, *, certain: bool) -> bool:
        """Keep what is known of an expression; whether anything is that holds for all inputs."""
        place, facts = number.expression, number.facts
        if place is None or number.special is not None or number.infinite is not None:
            return False
        new = place not in self._real
        self._real.add(place)
        if facts is None or facts.guarded:
            return False
        if certain:
            self._certain.add(place)
        if new:
            self._know(place, number)
        if place not in self.ranges and (number.nonnegative or facts.positive.all()):
            self.ranges[place] = POSITIVE if facts.positive.all() else NONNEGATIVE
        return True

    def _know(self, place: int, number: Number) -> None:
        """Keep that a number is equal to another one wherever both are defined, if its formal value is.

        Arrays are looked up among each other, so that each pair of them is a test: both that are found equal and both
        that are not (docs/soundness.md §6.6 (a)).
        """
        if self.draw is None or self.expressions[place].equation is None or math.prod(number.shape) > MOST_MOVED:
            return
        self.draw.compared(1)
        self.draw.tested(number.residues)
        levels = number.residues.levels
        first = self._formal.setdefault((number.shape, *(level.tobytes() for level in levels)), place)
        if first != place:
            self.known_as[place] = first

    def same_where_defined(
        self, left: Number, right: Number, equal: np.ndarray, *, both: bool = False, almost: bool = False
    ) -> bool:
        """Whether two numbers are equal wherever both are defined, which cases show.

        The arrays at which their formula ends may be undefined; where they and others with the same formal value are
        defined, both have one value.  An infinity, or NaN, that is chosen on purpose is a value like others, and what
        is undefined is equal to anything.  equal: which entries have the same formal value; the others are followed one
        by one if all together cannot be.  both: whether a number that is undefined is equal only to another one that
        is: so it is if one of them divides by what may be zero for inputs of positive measure.  almost: whether inputs
        of measure zero do not count.
        """
        if any(x.expression is None or x.special is not None for x in (left, right)):
            return False
        assert left.expression is not None
        assert right.expression is not None
        places, equals = (left.expression, right.expression), Equals(self.known_as, self._certain)
        whole = formula(self.expressions, *places, anywhere=equals)
        if whole is not None and decides(whole) and self._same(whole, partial=True, both=both, almost=almost):
            return True
        entries = np.flatnonzero(~equal)
        if not self.by_entries or not 0 < len(entries) <= MOST_ENTRIES:
            return False
        formulas = (formula_of_entry(self.expressions, places, int(k), equals) for k in entries)
        return all(self._same_entry(pair, both, almost) for pair in formulas)

    def _same_entry(self, pair: Formula | None, both: bool, almost: bool) -> bool:
        """Whether both results of a formula are equal wherever both are defined."""
        if pair is None:
            return False
        return self._same(pair, partial=bool(pair.twins) or not is_defined(pair), both=both, almost=almost, single=True)

    def _same(self, pair: Formula, *, partial: bool, both: bool, almost: bool, single: bool = False) -> bool:
        """Whether both results of a formula are equal wherever both are defined; single: it is one of one entry."""
        if almost and not self._ranges_over_a_box(pair, single):
            return False
        if any(pair.places.get(v) not in self._real | {None} for v in pair.variables):
            return False
        options = {"meant": self.meant, "partial": partial, "both": both, "almost": almost}
        inner = None if almost else with_inner_variable(pair, self._certain & self._real)
        if inner is not None and self.cases.same(inner, self._ranges(inner), **options):
            return True
        return self.cases.same(pair, self._ranges(pair), **options)

    def _ranges_over_a_box(self, pair: Formula, single: bool) -> bool:
        """Whether the variables of a formula are different entries of inputs, at each entry that it is about.

        x and xᵀ are different variables, and on the diagonal the same entry; where a formula is one of a single entry,
        different variables are different entries.
        """
        places = [pair.places.get(v) for v in pair.variables]
        apart = single or len(set(places)) == len(places)
        return apart and all(place in self.expressions.inputs for place in places)

    def _ranges(self, pair: Formula) -> dict[int, Range]:
        """What is known of the variables of a formula."""
        known = {v: self.ranges[place] for v, place in pair.places.items() if place in self.ranges}
        return {v: known[v] for v in pair.variables if v in known} | dict.fromkeys(pair.squares, NONNEGATIVE)

    def signs(self, place: int) -> frozenset[int]:
        """The signs that the difference of what is compared at a place can have, which cases show.

        What is compared is defined for all inputs.  Where its decision is one thing at one point of those looked at and
        another thing at another one, all are possible.
        """
        values = self.values(place)
        if values is None or not np.all(values == values.ravel()[0]):
            return ALL_SIGNS
        compared = formula(self.expressions, place)
        if compared is None or any(compared.places[v] not in self._real for v in compared.variables):
            return ALL_SIGNS
        return self.cases.signs(compared, self._ranges(compared), meant=self.meant)

    def _are_same(self, first: int, second: int) -> bool:
        """Whether two expressions, of which one decides by signs, are one function."""
        left, right = self.values(first), self.values(second)
        if left is None or right is None or self._deciding.isdisjoint((first, second)):
            return False
        if not np.allclose(left, right, rtol=1e-7, atol=1e-9, equal_nan=True):
            return False
        pair = formula(self.expressions, first, second)
        if pair is None or not decides(pair) or any(pair.places[v] not in self._real for v in pair.variables):
            return False
        if len({pair.nodes[result].dtype == np.bool_ for result in pair.results}) > 1:
            return False  # what follows takes either a number or a decision
        inner = with_inner_variable(pair, self._certain & self._real)
        if inner is not None and self.cases.same(inner, self._ranges(inner), meant=self.meant):
            return True
        return self.cases.same(pair, self._ranges(pair), meant=self.meant)

    def _kind_of(self, place: int) -> str:
        """Whether what stands at a place is real, whole or a decision."""
        equation = self.expressions[place].equation
        if equation is None:
            return "real"
        dtype = dtype_of(equation.outvars[self.expressions[place].result])
        return "real" if jnp.issubdtype(dtype, jnp.floating) else np.dtype(dtype).kind

    def values(self, place: int) -> np.ndarray | None:
        """An expression at random values of the arrays that it is computed from, entry by entry.

        Of shape (points, 1, …, 1); None if it cannot be evaluated.
        """
        for unseen in self._unseen(place):
            self._see(unseen)
        return self._values[place]

    def _unseen(self, place: int) -> list[int]:
        """The places that an expression is computed from and that were not looked at, operands first; itself too."""
        found, waiting = set(), [place]
        while waiting:
            here = waiting.pop()
            if here not in found and here not in self._values:
                found.add(here)
                waiting += self._operands(here)
        return sorted(found)  # operands have their places before what is computed from them

    def _operands(self, place: int) -> tuple[int, ...]:
        """What an expression is computed from, entry by entry."""
        expression = self.expressions[place]
        name = "" if expression.equation is None else expression.equation.primitive.name
        return expression.operands if name in ENTRYWISE or repeats_one(self.expressions, place) else ()

    def _see(self, place: int) -> None:
        """Keep the values of an expression, and whether it is made, entry by entry, of what decides by signs."""
        try:
            self._values[place] = self._evaluated(place)
        except (UatJaxError, TypeError, ValueError):
            self._values[place] = None
        equation = self.expressions[place].equation
        if equation is not None and equation.primitive.name in DECIDES:
            self._deciding.add(place)
        elif not self._deciding.isdisjoint(self._operands(place)):
            self._deciding.add(place)

    def _evaluated(self, place: int) -> np.ndarray | None:
        expression = self.expressions[place]
        equation, rank = expression.equation, len(expression.shape)
        constant = expression.constant
        if constant is not None and constant.size and np.all(constant == constant.flat[0]):
            return np.full((1,) * (rank + 1), constant.flat[0])
        if repeats_one(self.expressions, place):
            inner = self.values(expression.operands[0])
            return None if inner is None else inner.reshape(len(inner), *(1,) * rank)
        if equation is None or equation.primitive.name not in ENTRYWISE:
            values = SCALES * np.random.default_rng(place).standard_normal(POINTS)
            values = self.ranges[place].folded(values) if place in self.ranges else values
            return values.reshape(POINTS, *(1,) * rank)
        known = [self.values(operand) for operand in expression.operands]
        operands = [x for x in known if x is not None]
        if len(operands) < len(known):
            return None
        if equation.primitive.name == "convert_element_type" and any(
            map(is_integer, (*equation.invars, *equation.outvars))
        ):
            return np.trunc(np.asarray(operands[0], np.float64))  # as long as it fits
        if not all(map(_is_real_or_boolean, equation.invars)):
            return None
        found = self.doubles.evaluate(equation, operands)[0]
        return np.broadcast_to(found, np.broadcast_shapes(np.shape(found), (1,) * (rank + 1)))


def _is_real_or_boolean(atom: Atom) -> bool:
    return is_number(atom) or dtype_of(atom) == np.bool_


def _digits(values: np.ndarray) -> float:
    """A few digits of the first value, equal for values that differ by rounding alone, as a rule."""
    first = float(values.ravel()[0])
    return float(f"{first:.5g}") if np.isfinite(first) else 0.0
