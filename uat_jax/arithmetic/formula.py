"""Formulas: what an entry of an array is computed from, entry by entry, as scalar operations.

Arrays at which such computations end are the variables of the formula.  The pairs of numbers that a formula compares,
and what its decisions make of the sign of their difference, are read off it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.expressions import Expressions
from uat_jax.arithmetic.tracing import dtype_of

DECIDED: Mapping[str, Callable[[int], Any]] = {
    "eq": lambda sign: sign == 0,
    "ge": lambda sign: sign >= 0,
    "gt": lambda sign: sign > 0,
    "le": lambda sign: sign <= 0,
    "lt": lambda sign: sign < 0,
    "ne": lambda sign: sign != 0,
    "sign": lambda sign: sign,
}
"""What each decision makes of the sign of a difference."""

ENTRYWISE = frozenset(DECIDED) | frozenset(
    "abs acos acosh add add_any and asin asinh atan atan2 atanh cbrt ceil clamp convert_element_type cos cosh div erf "
    "erf_inv erfc exp exp2 expm1 floor integer_pow lgamma log log1p logistic max min mul neg not or pow rem round "
    "rsqrt select_n sin sinh sqrt square sub tan tanh xor".split()
)
"""Primitives that work entry by entry."""

LARGEST = 200
"""Expressions of more operations than this are not looked at."""


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
    """Scalar expressions: nodes in order, each after its operands, and which of them are the results.

    places: of the arrays that the free variables stand for, in the table that the formula was read from.
    """

    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    places: Mapping[int, int] = field(default_factory=dict, compare=False)

    @property
    def variables(self) -> list[int]:
        """The free variables among the nodes."""
        return [i for i, node in enumerate(self.nodes) if node.key[0] == "variable"]

    @property
    def signature(self) -> Any:
        """Equal for expressions that are the same but for the names of their variables; None if it has no such key."""
        key = (self.results, *((node.key, node.operands, str(node.dtype)) for node in self.nodes))
        try:
            hash(key)
        except TypeError:
            return None
        return key


def formula(expressions: Expressions, *places: int) -> Formula | None:
    """What entries of arrays are computed from, entry by entry; None if that is too long or cannot be followed.

    A place may be an array of which another place is computed, but not the only one.
    """
    builder = _Builder(expressions)
    for place in places:
        if expressions[place].equation is not None:
            builder.visit(place, expressions[place].equation)
    results = tuple(builder.seen.get(place) for place in places)
    sources = {node: place for place, node in builder.seen.items() if node is not None}
    found = Formula(tuple(builder.nodes), tuple(r for r in results if r is not None), sources)
    return None if None in results else found


class _Builder:
    """Nodes of the operations behind a place, each once; `visit` gives None for what cannot be followed.

    begun: how many places were visited, counted before their operands, so that no chain of them is followed too far.
    """

    def __init__(self, expressions: Expressions):
        self.expressions = expressions
        self.nodes: list[Node] = []
        self.seen: dict[int, int | None] = {}
        self.begun = 0

    def visit(self, place: int, used_by: JaxprEqn | None, operand: int = 0) -> int | None:
        if place not in self.seen:
            self.begun += 1
            self.seen[place] = self._visited(place, used_by, operand)
        return self.seen[place]

    def _visited(self, place: int, used_by: JaxprEqn | None, operand: int) -> int | None:
        if self.begun > LARGEST or used_by is None or place in self.expressions.doubtful:
            return None
        expression = self.expressions[place]
        equation = expression.equation
        if equation is not None and equation.primitive.name == "broadcast_in_dim" and len(expression.operands) == 1:
            inner = self.expressions[expression.operands[0]]
            if inner.shape == ():
                return self.visit(expression.operands[0], equation)
        if equation is not None and equation.primitive.name in ENTRYWISE:
            visited = [self.visit(p, equation, i) for i, p in enumerate(expression.operands)]
            operands = tuple(node for node in visited if node is not None)
            if len(operands) < len(visited):
                return None
            parameters = tuple(sorted(equation.params.items(), key=lambda item: item[0]))
            key = ("apply", equation.primitive, parameters)
            return self._add(Node(key, equation, operands, dtype_of(equation.outvars[0])))
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


@dataclass(frozen=True)
class Compared:
    """A pair of nodes that is compared, or a node that is compared with 0.

    sides: one or two nodes.  decisions: the nodes that compare them, with 1 or, the other way round, -1.
    """

    sides: tuple[int, ...]
    decisions: tuple[tuple[int, int], ...]

    def decided(self, found: Formula, sign: int) -> list[tuple[int, Any]]:
        """What each decision is if the first side less the second has this sign."""
        return [(i, DECIDED[name_of(found.nodes[i])](sign * way)) for i, way in self.decisions]


def compared(found: Formula) -> list[Compared]:
    """The pairs of different numbers that an expression compares; how a number compares with itself is no question."""
    pairs: dict[tuple[int, ...], list[tuple[int, int]]] = {}
    for i, node in enumerate(found.nodes):
        if node.key[0] == "apply" and name_of(node) in DECIDED:
            sides, way = _ordered(found, node.operands)
            if len(set(sides)) == len(sides):
                pairs.setdefault(sides, []).append((i, way))
    return [Compared(sides, tuple(decisions)) for sides, decisions in pairs.items()]


def _ordered(found: Formula, operands: tuple[int, ...]) -> tuple[tuple[int, ...], int]:
    """The sides of a decision without a zero, the smaller node first, and 1 or -1 if they were exchanged."""
    is_zero = [found.nodes[o].key[0] == "literal" and found.nodes[o].literal == 0 for o in operands]
    if len(operands) == 2 and is_zero[1] and not is_zero[0]:
        return operands[:1], 1
    if len(operands) == 2 and is_zero[0] and not is_zero[1]:
        return operands[1:], -1
    return (operands, 1) if len(operands) == 1 or operands[0] < operands[1] else (operands[::-1], -1)


def name_of(node: Node) -> str:
    """The name of the primitive that a node applies."""
    assert node.equation is not None
    return node.equation.primitive.name


Values = dict[int, Any]
"""Traced scalars of some nodes."""


def evaluated(found: Formula, node: int, values: Values) -> Any:
    """The value of a node, computed from those of the variables in `values`, which receives all that is computed."""
    if node not in values:
        here = found.nodes[node]
        if here.key[0] == "literal":
            values[node] = jnp.asarray(here.literal, here.dtype)
        else:
            assert here.equation is not None
            operands = [evaluated(found, operand, values) for operand in here.operands]
            values[node] = here.equation.primitive.bind(*operands, **here.equation.params)
    return values[node]
