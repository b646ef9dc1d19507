"""Guards: what a case of a selection is under the condition that selects it.

In where(u > 0, a, b) the first case counts only for inputs with u > 0, and the second only for the others.  So each
decision in a that compares the same numbers may be made as the condition says: max(u, 0) is u there, and a divisor u is
not zero.  docs/soundness.md §10.7 has the proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.interpret.operation import operation_of
from uat_jax.interpret.recognition import meaning
from uat_jax.interpret.structure import STRUCTURAL
from uat_jax.interpret.tracing import dtype_of, is_number, shape_of
from uat_jax.numbers.prime_fields.expressions import Expression, Expressions
from uat_jax.numbers.prime_fields.formula import DECIDED, ENTRYWISE, repeats_one

if TYPE_CHECKING:
    from uat_jax.numbers.prime_fields.fields import Value

LONGEST = 200
"""So many operations of an expression are looked at; the rest is taken as it is for all inputs."""

MIXING = frozenset("cumsum dot_general reduce_max reduce_min reduce_sum".split())
"""Primitives that make each entry of many others: a condition on single numbers holds for all of these."""

ALL_SIGNS = frozenset((-1, 0, 1))
RELATIONS: Mapping[str, frozenset[int]] = {
    name: frozenset(sign for sign in ALL_SIGNS if decide(sign)) for name, decide in DECIDED.items() if name != "sign"
}
"""The signs of x - y for which a comparison of x and y is true."""

CHOSEN: Mapping[str, Callable[[int], int]] = {
    "max": lambda sign: 0 if sign >= 0 else 1,
    "min": lambda sign: 0 if sign <= 0 else 1,
}
"""Which operand a maximum or minimum is, of the sign of x - y; where both are equal they are the same number."""


@dataclass(frozen=True, order=True)
class Uniform:
    """A constant array whose entries are one number: integers of 64 bits are more than float64 holds.

    radius: how far from the value the number may be that a float stands for (docs/soundness.md §8.1).
    """

    value: int | float
    radius: float = 0.0


ZERO = Uniform(0)


Side = int | Uniform
"""What is compared: the number at a place of the table of expressions, or a constant."""

Chain = tuple[Any, ...]
"""Keys of the rearrangements, outermost first, below which something stands."""


@dataclass(frozen=True)
class Compared:
    """Two numbers that are compared below a chain of rearrangements; below () if both are single numbers."""

    chain: Chain
    sides: tuple[Side, Side]


Condition = Mapping[Compared, frozenset[int]]
"""The signs that the differences of compared numbers can have where a condition holds."""


def condition(expressions: Expressions, place: int, outcome: bool, chain: Chain = ()) -> Condition:
    """What is known of differences where the boolean at a place, below a chain of rearrangements, has this outcome."""
    known: Condition = {}
    for pair, signs in _conjuncts(expressions, place, outcome, chain):
        known = joined(known, {pair: signs})
    return known


def joined(one: Condition, other: Condition) -> Condition:
    """Both conditions; one that no input satisfies is left out, for nothing has to be known there."""
    both = {pair: one.get(pair, ALL_SIGNS) & other.get(pair, ALL_SIGNS) for pair in {**one, **other}}
    return {pair: signs for pair, signs in both.items() if signs}


def _conjuncts(
    expressions: Expressions, place: int, outcome: bool, chain: Chain
) -> Iterator[tuple[Compared, frozenset[int]]]:
    """Pairs and the signs of their differences, all of which follow from an outcome of the boolean at a place."""
    expression = expressions[place]
    if expression.equation is None or len(chain) > LONGEST:
        return
    name, operands = expression.equation.primitive.name, expression.operands
    if name == "not":
        yield from _conjuncts(expressions, operands[0], not outcome, chain)
    elif name == ("and" if outcome else "or"):
        for operand in operands:
            inner = below(chain, expressions[operand].shape, expression.shape)
            yield from _conjuncts(expressions, operand, outcome, inner)
    elif name in RELATIONS and (outcome or place not in expressions.doubtful):  # a comparison with NaN is false
        sides, way = ordered(expressions, operands)
        signs = RELATIONS[name] if outcome else ALL_SIGNS - RELATIONS[name]
        yield Compared(_as_far_as(expressions, chain, sides), sides), frozenset(way * sign for sign in signs)
    elif is_rearrangement(expression):
        yield from _conjuncts(expressions, operands[0], outcome, (*chain, rearrangement(expression)))


def ordered(expressions: Expressions, operands: Sequence[int]) -> tuple[tuple[Side, Side], int]:
    """Both sides of a comparison in an order of their own, constants last, and 1, or -1 if that exchanges them."""
    x, y = (side_of(expressions, place) for place in operands)
    key = lambda side: (1, side.value) if isinstance(side, Uniform) else (0, side)
    return ((x, y), 1) if key(x) <= key(y) else ((y, x), -1)


def _as_far_as(expressions: Expressions, chain: Chain, sides: Sequence[Side]) -> Chain:
    """The chain below which numbers are compared: () for single numbers, which are the same ones below any."""
    single = (isinstance(side, Uniform) or math.prod(expressions[side].shape) == 1 for side in sides)
    return () if all(single) else chain


def repeated(expressions: Expressions, place: int) -> int:
    """The place of the single number that an array consists of, where rearrangements of it make the array."""
    while repeats_one(expressions, place):
        place = expressions[place].operands[0]
    return place


def side_of(expressions: Expressions, place: int) -> Side:
    """What stands at a place as a side of a comparison: a constant, or the place of a number."""
    place = repeated(expressions, place)
    array, dtype = expressions[place].constant, expressions[place].dtype
    if array is None or not array.size or array.dtype.kind not in "fiu" or not np.all(array == array.flat[0]):
        return place
    value = array.flat[0].item()
    if not math.isfinite(value):
        return place
    return Uniform(value, meaning(value, np.dtype(dtype)).reach) if dtype else Uniform(value)


def is_rearrangement(expression: Expression) -> bool:
    """Whether an array holds the entries of one other array in new places."""
    equation = expression.equation
    return equation is not None and equation.primitive.name in STRUCTURAL and len(expression.operands) == 1


def rearrangement(expression: Expression) -> Any:
    """A key that is the same for the same rearrangement of arrays of one shape."""
    equation = expression.equation
    assert equation is not None
    shape = shape_of(equation.invars[0])
    if equation.primitive.name == "broadcast_in_dim":
        return ("repeated", shape, tuple(equation.params["broadcast_dimensions"]), expression.shape)
    return operation_of(equation).of_any_type, shape, expression.result


def below(chain: Chain, inner: tuple[int, ...], outer: tuple[int, ...]) -> Chain:
    """The chain of an operand whose entries an operation repeats, along axes of length 1, to have the other shape."""
    if inner == outer or len(inner) not in (0, len(outer)):
        return chain
    return (*chain, ("repeated", inner, tuple(range(len(inner))), outer))


def decided(expressions: Expressions, given: Condition, chain: Chain, expression: Expression) -> bool | None:
    """What a comparison says under a condition, None if that is not known."""
    name, signs = _signs(expressions, given, chain, expression)
    outcomes = {sign in RELATIONS[name] for sign in signs} if name in RELATIONS else ()
    return outcomes.pop() if len(outcomes) == 1 else None


def chosen(expressions: Expressions, given: Condition, chain: Chain, expression: Expression) -> int | None:
    """Which operand a maximum or minimum is under a condition, None if that is not known."""
    name, signs = _signs(expressions, given, chain, expression)
    # Where both operands are equal either is right, so that sign says nothing.
    which = {CHOSEN[name](sign) for sign in (signs - {0} or signs)} if name in CHOSEN else ()
    return which.pop() if len(which) == 1 else None


def _signs(
    expressions: Expressions, given: Condition, chain: Chain, expression: Expression
) -> tuple[str, frozenset[int]]:
    """The primitive of an operation on two numbers, and the signs that the first less the second can have, if known."""
    assert expression.equation is not None
    name = expression.equation.primitive.name
    if name not in RELATIONS and name not in CHOSEN:
        return name, frozenset()
    sides, way = ordered(expressions, expression.operands)
    chain = _as_far_as(expressions, chain, sides)
    signs = given.get(Compared(chain, sides), ALL_SIGNS)
    if isinstance(sides[0], int) and isinstance(sides[1], Uniform):
        signs &= signs_of(given, chain, sides[0], sides[1])
    return name, frozenset(way * sign for sign in signs)


def signs_of(given: Condition, chain: Chain, place: int, zero: Uniform = ZERO) -> frozenset[int]:
    """The signs that the number at a place, less `zero`, can have, from what it is compared with."""
    known = ALL_SIGNS
    for pair, signs in given.items():
        side, bound = pair.sides
        if pair.chain == chain and side == place and isinstance(bound, Uniform):
            known &= _beside(_signs_between(bound, zero), signs)
    return known or ALL_SIGNS


def _signs_between(x: Uniform, y: Uniform) -> frozenset[int]:
    """The signs that x - y can have, whichever numbers the floats stand for: 0.1 and 1 - 0.9 may be one number."""
    distance = x.value - y.value
    if x != y and abs(distance) <= x.radius + y.radius:
        return ALL_SIGNS
    return frozenset([(distance > 0) - (distance < 0)])


def _beside(bounds: frozenset[int], signs: frozenset[int]) -> frozenset[int]:
    """The signs that a number can have if its difference from a bound has one of these, and the bound one of those."""
    return frozenset(sign for sign in ALL_SIGNS if any(_possible(sign, b, s) for b in bounds for s in signs))


def _possible(sign: int, bound: int, beside: int) -> bool:
    """Whether a number of this sign can be above (1), at (0) or below (-1) a bound of a sign."""
    if beside == 0:
        return sign == bound
    return sign == beside or beside * bound < 0


Applied = Callable[[JaxprEqn, Sequence[Any]], list[Any]]
"""(equation, operands) → results, in an arithmetic."""

Signed = Callable[[Any, frozenset[int]], Any]
"""(value, the signs that it can have) → the value with what that says about it."""


@dataclass(frozen=True)
class Values:
    """An arithmetic's values of expressions: `known` for all inputs; `apply` and `sign` make others."""

    expressions: Expressions
    known: Mapping[int, Any]
    apply: Applied
    sign: Signed

    def __getitem__(self, place: int) -> Value:
        return self.known.get(place, self.expressions[place].constant)


class UnderCondition:
    """The values of expressions for inputs at which a condition holds, which may tell more than those for all inputs.

    signs_too: whether the signs that numbers have are used, and not only decisions.
    """

    def __init__(self, values: Values, given: Condition, *, signs_too: bool):
        self.values = values
        self.expressions = values.expressions
        self.given = given
        self.signs_too = signs_too
        self.found: dict[tuple[int, Chain], Any] = {}
        self.begun = 0

    def value(self, place: int, chain: Chain = ()) -> Value:
        """The value at a place below a chain of rearrangements."""
        if (place, chain) not in self.found:
            self.begun += 1  # counted before its operands, so that no chain of them is followed too far
            value = self._value(place, chain) if self.begun <= LONGEST else self.values[place]
            self.found[place, chain] = self._signed(value, place, chain) if self.signs_too else value
        return self.found[place, chain]

    def _signed(self, value: Value, place: int, chain: Chain) -> Value:
        return self.values.sign(value, self.signs(place, chain))

    def signs(self, place: int, chain: Chain = ()) -> frozenset[int]:
        """The signs that the number at a place can have; a cast to floats keeps those of an integer."""
        number = repeated(self.expressions, place)
        signs = signs_of(self.given, _as_far_as(self.expressions, chain, [number]), number)
        expression = self.expressions[place]
        equation = expression.equation
        if equation is None or equation.primitive.name != "convert_element_type" or not is_number(equation.outvars[0]):
            return signs
        return signs & self.signs(expression.operands[0], chain)

    def _value(self, place: int, chain: Chain) -> Value:
        expression = self.expressions[place]
        equation = expression.equation
        if equation is None:
            return self.values[place]
        outcome = decided(self.expressions, self.given, chain, expression)
        if outcome is not None:
            return np.full(expression.shape, outcome)
        which = chosen(self.expressions, self.given, chain, expression)
        if which is None and equation.primitive.name == "abs" and self.signs(expression.operands[0], chain) <= {0, 1}:
            which = 0
        if which is not None and self.expressions[expression.operands[which]].shape == expression.shape:
            return self.value(expression.operands[which], chain)
        return self._applied(expression, place, self._operands(expression, chain))

    def _applied(self, expression: Expression, place: int, operands: Sequence[Any]) -> Value:
        """The result for other operands; of a selection that is decided, the case."""
        equation = expression.equation
        assert equation is not None
        if equation.primitive.name == "select_n" and isinstance(operands[0], np.ndarray):
            truths = np.unique(operands[0])
            if len(truths) == 1:
                return operands[1 + int(truths[0])]
        before = [self.values[operand] for operand in expression.operands]
        if any(x is None for x in operands) or all(x is y for x, y in zip(operands, before, strict=True)):
            return self.values[place]
        return self.values.apply(equation, operands)[expression.result]

    def _operands(self, expression: Expression, chain: Chain) -> list[Value]:
        """The operands under the condition, as far as an operation is one of entries of numbers and booleans."""
        equation, operands = expression.equation, expression.operands
        assert equation is not None
        if any(getattr(dtype_of(atom), "kind", "") in "iu" for atom in (*equation.invars, *equation.outvars)):
            return [self.values[operand] for operand in operands]
        if equation.primitive.name == "select_n" and len(operands) == 3:
            return [self.value(operands[0], chain), *self._cases(expression, chain)]
        if is_rearrangement(expression):
            return [self.value(operands[0], (*chain, rearrangement(expression)))]
        if equation.primitive.name in ENTRYWISE and equation.primitive.name != "select_n":
            inner = lambda place: below(chain, self.expressions[place].shape, expression.shape)
            return [self.value(operand, inner(operand)) for operand in operands]
        if equation.primitive.name in MIXING:
            return [self.value(operand, (("all of", operand),)) for operand in operands]
        return [self.values[operand] for operand in operands]

    def _cases(self, expression: Expression, chain: Chain) -> list[Value]:
        """Both cases of a selection, each under its own condition as well."""
        predicate, *cases = expression.operands
        inner = below(chain, self.expressions[predicate].shape, expression.shape)
        found = []
        for outcome, case in zip((False, True), cases, strict=True):
            both = joined(self.given, condition(self.expressions, predicate, outcome, inner))
            found.append(UnderCondition(self.values, both, signs_too=self.signs_too).value(case, chain))
        return found
