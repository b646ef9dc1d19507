"""Decisions between equal numbers that make no difference, because the cases meet there.

where(x > 0, x, 0) and where(x ≥ 0, x, 0) decide differently at x = 0, and both are 0 there.  An expression is followed
back through the operations that work entry by entry, to arrays that are taken for free variables.  For each pair of
numbers x, y that it compares, one of the variables is solved for so that x = y; if the expression, a function of the
other variables, has the value there that it has with the decisions of x > y, and that with those of x < y, the
decisions between x and y make no difference.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Callable, Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr

from uat_jax.interpret.canonical_form import depending
from uat_jax.numbers.prime_fields.expressions import Expressions
from uat_jax.numbers.prime_fields.formula import Compared, Formula, Values, compared, evaluated, formula, name_of
from uat_jax.typing import Array, PyTree

CONSTANT_SLOPE = frozenset("add add_any convert_element_type div mul neg sub".split())
"""Operations on literals that make exact rational numbers of them."""

TOGETHER = 3
"""So many pairs of numbers may be equal at once for a reason that the formal difference of each shows."""

Equal = Callable[[ClosedJaxpr, ClosedJaxpr, bool], bool]
"""Whether two programs of scalars are shown to be the same function, constants being what is written or is meant."""


class Meeting:
    """Decides for expressions of any draw whether their decisions between equal numbers make a difference.

    Answers are kept, so that the layers of a network, and the draws of a comparison, are looked at once.
    """

    def __init__(self, equal: Equal):
        self.equal = equal
        self.answers: dict[Hashable, bool] = {}

    def __call__(self, expressions: Expressions, place: int, *, meant: bool) -> bool:
        """Whether an expression is the same function however its decisions between equal numbers are made.

        `meant`: whether constants are what they stand for, or what is written.
        """
        found = formula(expressions, place)
        signature = None if found is None else found.signature
        if found is None or signature is None:
            return False
        key = signature, meant
        if key not in self.answers:
            self.answers[key] = self._meets(found, meant)
        return self.answers[key]

    def at_ties(self, expressions: Expressions, left: int, right: int, *, meant: bool) -> bool:
        """Whether two expressions agree wherever one of them compares equal numbers."""
        found = formula(expressions, left, right)
        signature = None if found is None else found.signature
        if found is None or signature is None or not 2 == len(found.results):
            return False
        key = signature, meant
        if key not in self.answers:
            pairs = compared(found)
            self.answers[key] = all(self._agree_at(found, pair, pairs, meant) for pair in pairs)
        return self.answers[key]

    def _agree_at(self, found: Formula, pair: Compared, pairs: Sequence[Compared], meant: bool) -> bool:
        """Whether both results are the same wherever a pair of numbers is equal."""
        return any(
            all(self._agree_on(found, pair, pairs, surface, meant) for surface in surfaces)
            for surfaces in solutions(found, pair)
        )

    def _agree_on(
        self, found: Formula, pair: Compared, pairs: Sequence[Compared], surface: Surface, meant: bool
    ) -> bool:
        together = [pair, *(o for o in pairs if o is not pair and self._equal_on(found, o, surface, meant))]
        fixed = {i: value for p in together for i, value in p.decided(found, 0)}
        left, right = (on_surface(found, surface, fixed, result) for result in found.results)
        return left is not None and right is not None and self.equal(left, right, meant)

    def _meets(self, found: Formula, meant: bool) -> bool:
        pairs = compared(found)
        return bool(pairs) and all(self._makes_no_difference(found, pair, pairs, meant) for pair in pairs)

    def _makes_no_difference(self, found: Formula, pair: Compared, pairs: Sequence[Compared], meant: bool) -> bool:
        same = lambda surface: self._same_on(found, pair, pairs, surface, meant)
        return any(all(map(same, surfaces)) for surfaces in solutions(found, pair))

    def _same_on(
        self, found: Formula, pair: Compared, pairs: Sequence[Compared], surface: Surface, meant: bool
    ) -> bool:
        """Whether the expression is the same for all signs of the differences that are zero on the surface."""
        others = [other for other in pairs if other is not pair and self._equal_on(found, other, surface, meant)]
        if 1 + len(others) > TOGETHER:
            return False
        together = (pair, *others)
        if sum(self._varies_on(found, other, surface) for other in pairs if other not in together) > 1:
            return False
        real, *chosen = (
            on_surface(
                found, surface, {i: v for p, s in zip(together, signs, strict=True) for i, v in p.decided(found, s)}
            )
            for signs in itertools.product((0, -1, 1), repeat=len(together))
        )
        return real is not None and all(c is not None and self.equal(real, c, meant) for c in chosen)

    def _varies_on(self, found: Formula, pair: Compared, surface: Surface) -> bool:
        """Whether what a pair compares depends on the variables of a surface: it may be equal on a part of it."""
        sides = [on_surface(found, surface, {}, result) for result in pair.sides]
        return any(side is None or any(depending(side, range(len(side.jaxpr.invars)))) for side in sides)

    def _equal_on(self, found: Formula, pair: Compared, surface: Surface, meant: bool) -> bool:
        """Whether another pair of numbers is equal everywhere on a surface."""
        sides = [on_surface(found, surface, {}, result) for result in pair.sides]
        if len(sides) == 1:
            sides.append(on_surface(found, surface, {}, zero=True))
        left, right = sides
        return left is None or right is None or self.equal(left, right, meant)


@dataclass(frozen=True)
class Surface:
    """A part of where two numbers are equal: `variable` is what `solve` makes of the values of the other variables."""

    variable: int
    solve: Callable[[Values], Any]


def on_surface(
    found: Formula, surface: Surface, fixed: Mapping[int, bool], result: int | None = None, *, zero: bool = False
) -> ClosedJaxpr | None:
    """The expression on a surface as a program of the other variables.

    fixed: values of decisions; the others are made as they are.  result: another node in place of the whole.  zero: the
    constant 0 of the same variables.
    """
    free = [v for v in found.variables if v != surface.variable]
    node = found.results[0] if result is None else result

    def program(*arguments: PyTree) -> Array:
        given = dict(zip(free, arguments, strict=True))
        point = {**given, surface.variable: surface.solve(dict(given))}
        decided = {i: np.asarray(value, found.nodes[i].dtype) for i, value in fixed.items()}
        return jnp.zeros((), point[surface.variable].dtype) if zero else evaluated(found, node, {**point, **decided})

    try:
        with jax.enable_x64(True):
            return jax.make_jaxpr(program)(*(jax.ShapeDtypeStruct((), found.nodes[v].dtype) for v in free))
    except TypeError:  # parameters that only fit arrays
        return None


def solutions(found: Formula, pair: Compared) -> Iterator[list[Surface]]:
    """All points at which a pair of numbers is equal, as surfaces; in several ways, of which each has all points."""
    if not jnp.issubdtype(found.nodes[pair.sides[0]].dtype, jnp.floating):
        return
    if not any(found.nodes[side].key[0] == "literal" for side in pair.sides):
        yield [_one_for_the_other(found, pair.sides)]

    def difference(values: Values) -> Array:
        sides = [evaluated(found, side, values) for side in pair.sides]
        return sides[0] if len(sides) == 1 else lax.sub(*sides)

    solved = _solved(found, pair.sides, difference)
    if solved is not None:
        yield solved


def _one_for_the_other(found: Formula, sides: tuple[int, ...]) -> Surface:
    """One side, taken for a variable, has the value of the other, or 0."""
    replaced, *rest = sides if len(sides) == 1 or not _contains(found, sides[1], sides[0]) else sides[::-1]
    value = lambda values: evaluated(found, rest[0], values) if rest else _constant(found, replaced, 0)
    return Surface(replaced, value)


def _solved(found: Formula, sides: Sequence[int], difference: Callable[[Values], Any]) -> list[Surface] | None:
    """Where a difference of nodes is zero: in a variable, or in a magnitude, in which it is of degree one."""
    affine = lambda node: all(_is_affine(found, side, node) for side in sides)
    appears = lambda node: any(_contains(found, side, node) for side in sides)
    for variable in found.variables:
        if affine(variable) and appears(variable):
            return [Surface(variable, functools.partial(_root, found, difference, variable))]
    for inner in _magnitudes(found):
        if affine(inner) and appears(inner):
            parts = [_solved_in(found, inner, sign, difference, sides) for sign in (1, -1)]
            return [part for part in parts if part is not None] if None not in parts else None
    return None


def _solved_in(
    found: Formula, inner: int, sign: int, difference: Callable[[Values], Any], sides: Sequence[int]
) -> Surface | None:
    """Where |u| is the zero of the difference and u has this sign, in a variable that stands only in u."""
    (argument,) = found.nodes[inner].operands

    def excess(values: Values) -> Any:
        """u less the value that it should have."""
        magnitude = _root(found, difference, inner, dict(values))
        return lax.sub(evaluated(found, argument, values), lax.mul(_constant(found, inner, sign), magnitude))

    for variable in found.variables:
        elsewhere = any(_contains(found, side, variable, without=inner) for side in sides)
        if not elsewhere and _is_affine(found, argument, variable) and _contains(found, argument, variable):
            return Surface(variable, functools.partial(_root, found, excess, variable))
    return None


def _magnitudes(found: Formula) -> list[int]:
    return [i for i, node in enumerate(found.nodes) if node.key[0] == "apply" and name_of(node) == "abs"]


def _root(found: Formula, difference: Callable[[Values], Any], node: int, values: Values) -> jax.Array:
    """The zero of a difference of degree one in a node: -d(0)/(d(1) - d(0))."""
    at = lambda value: difference({**values, node: _constant(found, node, value)})
    return lax.div(lax.neg(at(0)), lax.sub(at(1), at(0)))


def _constant(found: Formula, node: int, value: float) -> np.ndarray:
    return np.asarray(value, found.nodes[node].dtype)


def _contains(found: Formula, node: int, variable: int, without: int | None = None) -> bool:
    if node == variable:
        return True
    return node != without and any(_contains(found, o, variable, without) for o in found.nodes[node].operands)


def _is_literal(found: Formula, node: int) -> bool:
    """Whether a node is an exact rational number: literals under sums, products and quotients."""
    here = found.nodes[node]
    if here.key[0] == "literal":
        return True
    return (
        here.key[0] == "apply" and name_of(here) in CONSTANT_SLOPE and all(_is_literal(found, o) for o in here.operands)
    )


def _is_affine(found: Formula, node: int, variable: int) -> bool:
    """Whether a node is of degree at most one in a variable, with a rational constant as slope."""
    here = found.nodes[node]
    if node == variable or not _contains(found, node, variable):
        return True
    affine = lambda operand: _is_affine(found, operand, variable)
    match name_of(here):
        case "add" | "sub" | "add_any" | "neg":
            return all(map(affine, here.operands))
        case "convert_element_type":
            return all(map(affine, here.operands)) and jnp.issubdtype(here.dtype, jnp.floating)
        case "mul":
            x, y = here.operands
            return affine(x) and _is_literal(found, y) or affine(y) and _is_literal(found, x)
        case "div":
            x, y = here.operands
            return affine(x) and _is_literal(found, y)
    return False
