"""Decisions between equal numbers that make no difference, because the cases meet there.

where(x > 0, x, 0) and where(x ≥ 0, x, 0) decide differently at x = 0, and both are 0 there.  An expression is followed
back through the operations that work entry by entry, to arrays that are taken for free variables.  For each decision
in it, such as x > y, one of the variables is solved for so that x = y; if the expression, a function of the other
variables, is then the same whichever way the decision is made, the decision makes no difference.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.expressions import Expressions
from uat_jax.arithmetic.tracing import dtype_of

OUTCOMES: Mapping[str, tuple[Any, ...]] = {
    **dict.fromkeys(("eq", "ge", "gt", "le", "lt", "ne"), (False, True)),
    "sign": (-1, 0, 1),
}
"""Decisions, and the values they can have between equal numbers."""

ENTRYWISE = frozenset(OUTCOMES) | frozenset(
    "abs acos acosh add and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type cos cosh div erf "
    "erf_inv erfc exp exp2 expm1 floor integer_pow lgamma log log1p logistic max min mul neg not or pow rem round rsqrt "
    "select_n sin sinh sqrt square sub tan tanh xor".split()
)
"""Primitives that work entry by entry."""

CONSTANT_SLOPE = frozenset("add add_any convert_element_type div mul neg sub".split())
"""Operations on literals that make exact rational numbers of them."""

LARGEST = 200
"""Expressions of more operations than this are not looked at."""

Equal = Callable[[ClosedJaxpr, ClosedJaxpr, bool], bool]
"""Whether two programs of scalars are shown to be the same function, constants being what is written or what is meant."""


@dataclass(frozen=True)
class Node:
    """An operation on scalars.

    key: what it is: ("variable", number), ("literal", dtype, bytes) or ("apply", primitive, parameters).
    """

    key: Any
    equation: JaxprEqn | None
    operands: tuple[int, ...]
    dtype: np.dtype
    literal: Any = None


@dataclass(frozen=True)
class Formula:
    """A scalar expression: nodes in order, each after its operands, the last one being the result."""

    nodes: tuple[Node, ...]

    @property
    def variables(self) -> list[int]:
        """The free variables among the nodes."""
        return [i for i, node in enumerate(self.nodes) if node.key[0] == "variable"]

    @property
    def signature(self) -> Any:
        """Equal for expressions that are the same but for the names of their variables; None if it has no such key."""
        key = tuple((node.key, node.operands, str(node.dtype)) for node in self.nodes)
        try:
            hash(key)
        except TypeError:
            return None
        return key


def formula(expressions: Expressions, place: int) -> Formula | None:
    """What an entry of an array is computed from, entry by entry; None if that is too long or cannot be followed."""
    builder = _Builder(expressions)
    return Formula(tuple(builder.nodes)) if builder.visit(place, expressions[place].equation) is not None else None


class _Builder:
    """Nodes of the operations behind a place, each once; `visit` gives None for what cannot be followed."""

    def __init__(self, expressions: Expressions):
        self.expressions = expressions
        self.nodes: list[Node] = []
        self.seen: dict[int, int | None] = {}

    def visit(self, place: int, used_by: JaxprEqn | None, operand: int = 0) -> int | None:
        if place not in self.seen:
            self.seen[place] = self._visited(place, used_by, operand)
        return self.seen[place]

    def _visited(self, place: int, used_by: JaxprEqn | None, operand: int) -> int | None:
        if len(self.nodes) > LARGEST or used_by is None:
            return None
        expression = self.expressions[place]
        equation = expression.equation
        if equation is not None and equation.primitive.name == "broadcast_in_dim" and len(expression.operands) == 1:
            inner = self.expressions[expression.operands[0]]
            if inner.shape == ():
                return self.visit(expression.operands[0], equation)
        if equation is not None and equation.primitive.name in ENTRYWISE:
            operands = [self.visit(p, equation, i) for i, p in enumerate(expression.operands)]
            if any(o is None for o in operands):
                return None
            parameters = tuple(sorted(equation.params.items(), key=lambda item: item[0]))
            key = ("apply", equation.primitive, parameters)
            return self._add(Node(key, equation, tuple(operands), dtype_of(equation.outvars[0])))
        dtype = dtype_of(used_by.invars[operand] if len(used_by.invars) > operand else used_by.outvars[0])
        constant = expression.constant
        if constant is not None and constant.size and np.all(constant == constant.flat[0]):
            value = constant.flat[0]
            return self._add(Node(("literal", str(dtype), value.tobytes()), None, (), dtype, value))
        if place in self.expressions.open or not jnp.issubdtype(dtype, jnp.floating):
            return None
        return self._add(Node(("variable", len(self.nodes)), None, (), dtype))

    def _add(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1


class Meeting:
    """Decides for expressions of any draw whether their decisions between equal numbers make a difference.

    Answers are kept, so that the layers of a network, and the draws of a comparison, are looked at once.
    """

    def __init__(self, equal: Equal):
        self.equal = equal
        self.answers: dict[Any, bool] = {}

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

    def _meets(self, found: Formula, meant: bool) -> bool:
        decisions = [i for i, node in enumerate(found.nodes) if node.key[0] == "apply" and _name(node) in OUTCOMES]
        return bool(decisions) and all(self._makes_no_difference(found, i, meant) for i in decisions)

    def _makes_no_difference(self, found: Formula, decision: int, meant: bool) -> bool:
        surfaces = solutions(found, decision)
        return surfaces is not None and all(self._same_on(found, decision, surface, meant) for surface in surfaces)

    def _same_on(self, found: Formula, decision: int, surface: Surface, meant: bool) -> bool:
        outcomes = OUTCOMES[_name(found.nodes[decision])]
        first, *others = (on_surface(found, decision, surface, outcome) for outcome in outcomes)
        return first is not None and all(other is not None and self.equal(first, other, meant) for other in others)


def _name(node: Node) -> str:
    assert node.equation is not None
    return node.equation.primitive.name


Values = dict[int, Any]
"""Traced scalars of some nodes."""


@dataclass(frozen=True)
class Surface:
    """A part of where two numbers are equal: `variable` is what `solve` makes of the values of the other variables."""

    variable: int
    solve: Callable[[Values], Any]


def evaluated(found: Formula, node: int, values: Values) -> Any:
    """A node's value where those of variables (and of any other nodes) are given."""
    if node not in values:
        here = found.nodes[node]
        if here.key[0] == "literal":
            values[node] = jnp.asarray(here.literal, here.dtype)
        else:
            assert here.equation is not None
            operands = [evaluated(found, operand, values) for operand in here.operands]
            values[node] = here.equation.primitive.bind(*operands, **here.equation.params)
    return values[node]


def on_surface(found: Formula, decision: int, surface: Surface, outcome: Any) -> ClosedJaxpr | None:
    """The expression as a program of the other variables, on a surface, with one outcome of the decision there."""
    free = [v for v in found.variables if v != surface.variable]

    def program(*arguments: Any) -> Any:
        given = dict(zip(free, arguments, strict=True))
        point = {**given, surface.variable: surface.solve(dict(given))}
        fixed = jnp.asarray(outcome, found.nodes[decision].dtype)
        return evaluated(found, len(found.nodes) - 1, {**point, decision: fixed})

    try:
        with jax.enable_x64(True):
            return jax.make_jaxpr(program)(*(jax.ShapeDtypeStruct((), found.nodes[v].dtype) for v in free))
    except TypeError:  # parameters that only fit arrays
        return None


def solutions(found: Formula, decision: int) -> list[Surface] | None:
    """All points at which a decision is between equal numbers, as surfaces; None if it cannot be solved for."""
    operands = found.nodes[decision].operands
    dtype = found.nodes[operands[0]].dtype
    if not jnp.issubdtype(dtype, jnp.floating):
        return None

    def difference(values: Values) -> Any:
        sides = [evaluated(found, operand, values) for operand in operands]
        return sides[0] if len(sides) == 1 else lax.sub(*sides)

    return _solved(found, operands, difference)


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
    return [i for i, node in enumerate(found.nodes) if node.key[0] == "apply" and _name(node) == "abs"]


def _root(found: Formula, difference: Callable[[Values], Any], node: int, values: Values) -> Any:
    """The zero of a difference of degree one in a node: -d(0)/(d(1) - d(0))."""
    at = lambda value: difference({**values, node: _constant(found, node, value)})
    return lax.div(lax.neg(at(0)), lax.sub(at(1), at(0)))


def _constant(found: Formula, node: int, value: float) -> Any:
    return jnp.asarray(value, found.nodes[node].dtype)


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
        here.key[0] == "apply" and _name(here) in CONSTANT_SLOPE and all(_is_literal(found, o) for o in here.operands)
    )


def _is_affine(found: Formula, node: int, variable: int) -> bool:
    """Whether a node is of degree at most one in a variable, with a rational constant as slope."""
    here = found.nodes[node]
    if node == variable or not _contains(found, node, variable):
        return True
    affine = lambda operand: _is_affine(found, operand, variable)
    match _name(here):
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
