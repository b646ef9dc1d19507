"""Formulas: what an entry of an array is computed from, entry by entry, as scalar operations.

Arrays at which such computations end are the variables of the formula.  The pairs of numbers that a formula compares,
and what its decisions make of the sign of their difference, are read off it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Container, Hashable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn, Primitive
from jax.lax import GatherScatterMode

from uat_jax.interpret.interpreter import IDENTITY
from uat_jax.interpret.structure import positions
from uat_jax.interpret.tracing import dtype_of
from uat_jax.numbers.prime_fields.common_factors import Factor, factors_of_sums
from uat_jax.numbers.prime_fields.expressions import Expression, Expressions
from uat_jax.typing import Array

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
    "abs acos acosh add add_any and asin asinh atan atan2 atanh bessel_i0e bessel_i1e cbrt ceil clamp "
    "convert_element_type cos cosh digamma div erf erf_inv erfc exp exp2 expm1 floor integer_pow lgamma log log1p "
    "logistic max min mul neg not or pow rem round rsqrt select_n sin sinh sqrt square sub tan tanh xor".split()
)
"""Primitives that work entry by entry."""

REARRANGING = frozenset("broadcast_in_dim expand_dims reshape rev slice squeeze transpose".split())
"""Primitives that move the entries of one array, and that a formula may be followed through."""

KEEPING_ORDER = frozenset("broadcast_in_dim expand_dims reshape squeeze".split())
"""Those of them that leave the order of the entries as it is, if they repeat none."""

LONGEST_ROW = 16
"""An entry that an integer chooses of a longer row is not followed."""

MOST_MOVED = 1 << 12
"""Entries of arrays with more of them are not followed through rearrangements."""

LARGEST = 200
"""Expressions of more operations than this are not looked at."""


@dataclass(frozen=True)
class Node:
    """An operation on scalars.

    key: what it is: ("variable", number), ("literal", dtype, bytes) or ("apply", primitive, parameters).  Instead of
    parameters a decision that is part of another primitive has the name of that, which treats NaN otherwise (`within`).
    """

    key: Any
    equation: JaxprEqn | None
    operands: tuple[int, ...]
    dtype: np.dtype
    literal: Any = None


@dataclass(frozen=True)
class Formula:
    """Scalar expressions: nodes in order, each after its operands, and which of them are the results.

    places: of the arrays that the free variables stand for, in the table that the formula was read from; sums that do
    not stand there have none, and are defined for all inputs.  squares: those that are sums of squares.  twins: of each
    variable that may be undefined the nodes that have its value wherever both are defined.
    """

    nodes: tuple[Node, ...]
    results: tuple[int, ...]
    places: Mapping[int, int] = field(default_factory=dict, compare=False)
    twins: Mapping[int, tuple[int, ...]] = field(default_factory=dict, compare=False)
    squares: frozenset[int] = frozenset()

    @property
    def variables(self) -> list[int]:
        """The free variables among the nodes."""
        return [i for i, node in enumerate(self.nodes) if node.key[0] == "variable"]

    @property
    def signature(self) -> Any:
        """Equal for expressions that are the same but for the names of their variables; None if it has no such key."""
        nodes = ((node.key, node.operands, str(node.dtype)) for node in self.nodes)
        key = (self.results, tuple(self.twins.items()), *nodes)
        try:
            hash(key)
        except TypeError:
            return None
        return key


@dataclass(frozen=True)
class Equals:
    """Which arrays are equal.

    known_as: by their places, the place of the first array with the same formal value; both are equal wherever both are
    defined.  certain: those that are defined for all inputs.
    """

    known_as: Mapping[int, int]
    certain: Container[int]


def formula(expressions: Expressions, *places: int, anywhere: Equals | None = None) -> Formula | None:
    """What entries of arrays are computed from, entry by entry; None if that is too long or cannot be followed.

    A place may be an array of which another place is computed, but not the only one.  anywhere: if decisions about
    numbers that may be undefined, and rearrangements of one array, are to be followed as well, and free variables may
    depend on decisions between equal numbers: which arrays are equal.
    """
    size = math.prod(expressions[places[0]].shape)
    if anywhere is not None and size > MOST_MOVED:
        return None
    shape = expressions[places[0]].shape
    return formula_of(_Builder(expressions) if anywhere is None else AnyEntries(expressions, shape, anywhere), places)


def formula_of(builder: _Builder, places: Sequence[int]) -> Formula | None:
    """The formula of what stands at some places, as a builder follows it."""
    expressions = builder.expressions
    for place in places:
        if expressions[place].equation is not None:
            builder.visit(place, expressions[place].equation)
    results = tuple(builder.found(place) for place in places)
    found = Formula(
        tuple(builder.nodes),
        tuple(r for r in results if r is not None),
        builder.places,
        builder.twins(),
        frozenset(builder.squares),
    )
    return None if None in results else found


def repeats_one(expressions: Expressions, place: int) -> bool:
    """Whether an array consists of one number, the entry of the array that it is a rearrangement of."""
    equation, operands = expressions[place].equation, expressions[place].operands
    if equation is None or len(operands) != 1 or equation.primitive.name not in REARRANGING:
        return False
    return math.prod(expressions[operands[0]].shape) == 1


def keeps_order(expressions: Expressions, place: int) -> bool:
    """Whether an array is another one with axes of length 1 more or less: its entries stand in the same order."""
    equation, operands = expressions[place].equation, expressions[place].operands
    if equation is None or len(operands) != 1 or equation.primitive.name not in KEEPING_ORDER:
        return False
    return math.prod(expressions[operands[0]].shape) == math.prod(expressions[place].shape)


class _Builder:
    """Nodes of the operations behind a place, each once; `visit` gives None for what cannot be followed.

    begun: how many places were visited, counted before their operands, so that no chain of them is followed too far.
    stretched: from outside to inside, the shapes of operands whose entries an operation repeats along axes of length 1,
    and its own: entry (i, j) of x[:, None] < x[None] compares xᵢ with xⱼ, which are two variables.
    """

    def __init__(self, expressions: Expressions):
        self.expressions = expressions
        self.nodes: list[Node] = []
        self.unique: dict[Hashable, int] = {}
        self.seen: dict[tuple[int, bytes], int | None] = {}
        self.places: dict[int, int] = {}
        self.first_seen: dict[int, Any] = {}
        self.squares: set[int] = set()
        self.begun = 0
        self.stretched: tuple[Any, ...] = ()

    def twins(self) -> dict[int, tuple[int, ...]]:
        """Of each variable that may be undefined the nodes that have its value wherever both are defined."""
        return {}

    def found(self, place: int) -> int | None:
        return self.seen.get(self._key(place))

    def visit(self, place: int, used_by: JaxprEqn | None, operand: int = 0) -> int | None:
        key = self._key(place)
        if key not in self.seen:
            self.begun += 1
            node = self.seen[key] = self._visited(place, used_by, operand)
            if node is not None:
                self.places.setdefault(node, place)  # where it stands first: what moves it is visited after it
                self.first_seen.setdefault(node, key)
        return self.seen[key]

    def _key(self, place: int) -> Any:
        """What is looked at: the array at a place, whose entries stand where they do in the results."""
        return place, self.stretched if math.prod(self.expressions[place].shape) != 1 else ()

    def _visit_operands(self, expression: Expression, equation: JaxprEqn) -> list[int | None]:
        """The nodes of what an operation is applied to, entry by entry."""
        kept, nodes = self.stretched, []
        for i, place in enumerate(expression.operands):
            shape = self.expressions[place].shape
            single = math.prod(shape) == 1  # one number, wherever it stands
            self.stretched = () if single else kept if shape == expression.shape else (*kept, (shape, expression.shape))
            nodes.append(self.visit(place, equation, i))
        self.stretched = kept
        return nodes

    def _is_closed(self, place: int) -> bool:
        """Whether a decision may be about what is undefined, and is not followed."""
        return place in self.expressions.doubtful

    def _is_free(self, place: int) -> bool:
        """Whether an array may be taken for a free variable."""
        return place not in self.expressions.open

    def _visited(self, place: int, used_by: JaxprEqn | None, operand: int) -> int | None:
        if self.begun > LARGEST or used_by is None or self._is_closed(place):
            return None
        expression = self.expressions[place]
        equation = expression.equation
        if equation is not None and (repeats_one(self.expressions, place) or keeps_order(self.expressions, place)):
            return self.visit(expression.operands[0], equation)
        if equation is not None and equation.primitive.name in ("dynamic_slice", "gather"):
            chosen = self._chosen(equation, expression)
            if chosen is not None:
                return chosen
        if equation is not None and equation.primitive.name == "select_n":
            known = self.expressions[expression.operands[0]].constant
            if known is not None and known.size and np.all(known == known.flat[0]):
                case = 1 + int(known.flat[0])
                return self.visit(expression.operands[case], equation, case)
        if equation is not None and equation.primitive.name in ENTRYWISE:
            visited = self._visit_operands(expression, equation)
            operands = tuple(node for node in visited if node is not None)
            if len(operands) < len(visited):
                return None
            parameters = tuple(sorted(equation.params.items(), key=lambda item: item[0]))
            key = ("apply", equation.primitive, parameters)
            return self._add(Node(key, equation, operands, dtype_of(equation.outvars[0])))
        dtype = dtype_of(used_by.invars[operand] if len(used_by.invars) > operand else used_by.outvars[0])
        constant = expression.constant
        if constant is not None and constant.size and np.all(constant == constant.flat[0]):
            return self._literal(constant.flat[0], dtype)
        if not self._is_free(place) or not jnp.issubdtype(dtype, jnp.floating):
            return None
        return self._add(Node(("variable", len(self.nodes)), None, (), dtype))

    def _literal(self, value: Any, dtype: Any) -> int:
        return self._add(Node(("literal", str(dtype), value.tobytes()), None, (), dtype, value))

    def _chosen(self, equation: JaxprEqn, expression: Expression) -> int | None:
        """a[i] for an entry of a short row that the same entry of an array of integers chooses, as a selection."""
        row, index, *others = expression.operands
        shape, slices = self.expressions[row].shape, equation.primitive.name == "dynamic_slice"
        entries = math.prod(expression.shape) == math.prod(self.expressions[index].shape)
        along = slices or equation.params["dimension_numbers"].start_index_map == (0,)
        single = tuple(equation.params["slice_sizes"]) == (1,) and entries and along and not others
        if len(shape) != 1 or not 0 < shape[0] <= LONGEST_ROW or not single:
            return None
        place = self._beside(index, equation, 1)
        members = [self._member(row, k, equation) for k in range(shape[0])]
        if place is not None and (slices or equation.params["mode"] == GatherScatterMode.CLIP):
            integers = self.nodes[place].dtype
            ends = [self._literal(np.asarray(end, integers), integers) for end in (0, shape[0] - 1)]
            clamp = equation.replace(primitive=lax.clamp_p, params={})
            place = self._add(Node(("apply", lax.clamp_p, ()), clamp, (ends[0], place, ends[1]), integers))
        return self._applied(lax.select_n_p, equation, [place, *members])

    def _beside(self, place: int, used_by: JaxprEqn, operand: int) -> int | None:
        """The node of an array whose entries stand in the same order, whatever its shape is."""
        return self.visit(place, used_by, operand)

    def _member(self, row: int, k: int, used_by: JaxprEqn) -> int | None:
        """The node of the k-th entry of a row."""
        constant = self.expressions[row].constant
        return None if constant is None else self._literal(constant[k], dtype_of(used_by.outvars[0]))

    def _applied(
        self, primitive: Primitive, like: JaxprEqn, operands: Sequence[int | None], part_of: str = ""
    ) -> int | None:
        """A node that applies a primitive without parameters to numbers of the dtype of an equation."""
        nodes = tuple(node for node in operands if node is not None)
        complete = len(nodes) == len(operands)
        return self.typed(primitive, like, nodes, dtype_of(like.outvars[0]), part_of) if complete else None

    def typed(
        self, primitive: Primitive, like: JaxprEqn, operands: tuple[int, ...], dtype: Any, part_of: str = ""
    ) -> int:
        """A node that applies a primitive without parameters and has a dtype of its own.

        part_of: the name of the primitive of which it is a part, if that decides about NaN otherwise than this one.
        """
        equation = like.replace(primitive=primitive, params={})
        key = ("apply", primitive, (part_of,) if part_of else ())
        return self._add(Node(key, equation, operands, np.dtype(dtype)))

    def _add(self, node: Node) -> int:
        """The place of a node among the nodes; of an operation that is there already, that one's."""
        try:
            key = (node.key, node.operands, str(node.dtype))
            first = self.unique.setdefault(key, len(self.nodes))
        except TypeError:  # a parameter that cannot be looked up
            first = len(self.nodes)
        if first == len(self.nodes):
            self.nodes.append(node)
        return first


class AnyEntries(_Builder):
    """Nodes also behind rearrangements of one array, and behind decisions about what may be undefined.

    source: of the entries that are looked at, which entries of an array of this shape they are.  The entries of one
    array from different places are different variables; those of equal arrays that are defined for all inputs are one.
    """

    def __init__(self, expressions: Expressions, shape: tuple[int, ...], equals: Equals):
        super().__init__(expressions)
        self.shape = shape
        self.source = np.arange(math.prod(shape))
        self.equals = equals
        self.variables: dict[Hashable, int] = {}
        self.sums: dict[Hashable, int | None] = {}

    def _key(self, place: int) -> Any:
        return place, self.source.tobytes()

    def _is_closed(self, place: int) -> bool:
        return False

    def _is_free(self, place: int) -> bool:
        return True

    def visit(self, place: int, used_by: JaxprEqn | None, operand: int = 0) -> int | None:
        """The node of the entries of an array that are looked at, which repeat its axes of length 1."""
        kept, shape = (self.shape, self.source), self.expressions[place].shape
        if shape != self.shape:  # an operand that is repeated along axes of length 1
            if len(shape) not in (0, len(self.shape)) or any(
                n not in (1, m) for n, m in zip(shape, self.shape, strict=False)
            ):
                return None
            places = np.arange(math.prod(shape)).reshape(shape)
            self.shape, self.source = shape, np.broadcast_to(places, self.shape).ravel()[self.source]
        try:
            return super().visit(place, used_by, operand)
        finally:
            self.shape, self.source = kept

    def _visited(self, place: int, used_by: JaxprEqn | None, operand: int) -> int | None:
        expression = self.expressions[place]
        equation = expression.equation
        if equation is not None and equation.primitive.name in IDENTITY:
            return self.visit(expression.operands[expression.result], equation, expression.result)
        if equation is not None and self._is_squeezed(expression):
            self.shape = self.expressions[expression.operands[0]].shape
            return self.visit(expression.operands[0], equation)
        if equation is not None and equation.primitive.name == "dot_general" and not _contracts(equation):
            return self._outer_product(equation, expression.operands)
        if equation is not None and equation.primitive.name in ("dot_general", "reduce_sum"):
            return self._sum(place, equation, lambda: super(AnyEntries, self)._visited(place, used_by, operand))
        if equation is None or equation.primitive.name not in REARRANGING or len(expression.operands) != 1:
            return self._one_variable(place, super()._visited(place, used_by, operand))
        self.source = positions(equation, [None])[expression.result].ravel()[self.source].astype(int)
        self.shape = self.expressions[expression.operands[0]].shape
        return self.visit(expression.operands[0], equation)

    def _is_squeezed(self, expression: Expression) -> bool:
        """Whether an array is what is left of axes of length 1, of which sums and maxima are their only entries."""
        assert expression.equation is not None
        if expression.equation.primitive.name not in ("reduce_max", "reduce_min", "reduce_sum"):
            return False
        return math.prod(self.expressions[expression.operands[0]].shape) == math.prod(expression.shape)

    def _outer_product(self, equation: JaxprEqn, operands: Sequence[int]) -> int | None:
        """x[i]·y[j] for the entry at [i, j] of a product of arrays over no axis."""
        shapes, size = [self.expressions[p].shape for p in operands], math.prod(self.expressions[operands[1]].shape)
        found: list[int | None] = []
        for place, shape, source in zip(operands, shapes, divmod(self.source, size), strict=True):
            self.shape, kept, self.source = shape, self.source, source
            found.append(self.visit(place, equation, len(found)))
            self.source = kept
        return self._applied(lax.mul_p, equation, found)

    def _beside(self, place: int, used_by: JaxprEqn, operand: int) -> int | None:
        self.shape = self.expressions[place].shape
        return self.visit(place, used_by, operand)

    def _member(self, row: int, k: int, used_by: JaxprEqn) -> int | None:
        if self.expressions[row].constant is not None:
            return super()._member(row, k, used_by)
        return self._entries(Factor(row, np.full((len(self.source), 1), k)), used_by)

    def _sum(self, place: int, equation: JaxprEqn, alone: Callable[[], int | None]) -> int | None:
        """c·Σ xₖyₖ for Σ c·xₖyₖ, the second sum being a variable; without such a c the sum itself is one."""
        real = jnp.issubdtype(dtype_of(equation.outvars[0]), jnp.floating)
        factors = (factors_of_sums(self.expressions, place, self.source, REARRANGING) or []) if real else []
        inside = [f for f in factors if not f.is_common]
        if not inside or any(f.place not in self.equals.certain for f in inside):
            return self._one_variable(place, alone())
        key = (
            str(dtype_of(equation.outvars[0])),
            *sorted((self._known_as(f.place), f.source.tobytes()) for f in inside),
        )
        if len(inside) == len(factors):
            if key not in self.sums:
                self.sums[key] = self._one_variable(place, alone())
            return self.sums[key]
        if key not in self.sums:
            variable = self._add(Node(("variable", len(self.nodes)), None, (), dtype_of(equation.outvars[0])))
            self.sums[key] = variable
            if all(key.count(each) % 2 == 0 for each in key[1:]):
                self.squares.add(variable)
        found = self.sums[key]
        for factor in factors:
            if factor.is_common:
                primitive = lax.div_p if factor.inverse else lax.mul_p
                found = self._applied(primitive, equation, [found, self._entries(factor, equation)])
                if found is None:
                    return None
        return found

    def _entries(self, factor: Factor, equation: JaxprEqn) -> int | None:
        """A factor that all terms of a sum have."""
        kept = self.shape, self.source
        self.shape, self.source = self.expressions[factor.place].shape, factor.source[:, 0]
        try:
            return self.visit(factor.place, equation)
        finally:
            self.shape, self.source = kept

    def _one_variable(self, place: int, node: int | None) -> int | None:
        """The node, or if it is a new variable for entries that have one already, that one.

        The first array of the same formal value may be one that is undefined somewhere, and is then a variable alone.
        """
        if node is None or self.nodes[node].key[0] != "variable" or node in self.places:
            return node
        certain = place in self.equals.certain
        key = certain, self._known_as(place) if certain else place, self.source.tobytes(), self.nodes[node].dtype
        first = self.variables.setdefault(key, node)
        if first != node:
            self.nodes.pop()
        return first

    def _known_as(self, place: int) -> int:
        return self.equals.known_as.get(place, place)

    def twins(self) -> dict[int, tuple[int, ...]]:
        """Of each variable that may be undefined the nodes that have its value wherever both are defined."""
        alike: dict[Any, list[int]] = {}
        for (place, source), node in self.seen.items():
            if node is not None:
                alike.setdefault((self._known_as(place), source), []).append(node)
        found = {}
        for node, (place, source) in self.first_seen.items():
            if self.nodes[node].key[0] == "variable" and place not in self.equals.certain:
                found[node] = tuple(other for other in alike[self._known_as(place), source] if other != node)
        return found


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


def _contracts(equation: JaxprEqn) -> bool:
    """Whether a product of arrays is one along any axis."""
    return any(axes for pair in equation.params["dimension_numbers"] for axes in pair)


def variables_below(formula: Formula) -> list[frozenset[int]]:
    """The variables of which each node is made."""
    below: list[frozenset[int]] = []
    for number, node in enumerate(formula.nodes):
        own = frozenset([number]) if node.key[0] == "variable" else frozenset()
        below.append(own.union(*(below[operand] for operand in node.operands)))
    return below


def within(node: Node) -> str:
    """The primitive of which a decision is a part, such as "sort", if it decides about NaN as that does; else ''."""
    parameters = node.key[2]
    return parameters[0] if len(parameters) == 1 and isinstance(parameters[0], str) else ""


def name_of(node: Node) -> str:
    """The name of the primitive that a node applies."""
    assert node.equation is not None
    return node.equation.primitive.name


Values = dict[int, Any]
"""Traced scalars of some nodes."""


def evaluated(found: Formula, node: int, values: Values) -> Array:
    """The value of a node, computed from those of the variables in `values`, which receives all that is computed."""
    if node not in values:
        here = found.nodes[node]
        if here.key[0] == "literal":
            values[node] = np.asarray(here.literal, here.dtype)
        else:
            assert here.equation is not None
            operands = [evaluated(found, operand, values) for operand in here.operands]
            values[node] = here.equation.primitive.bind(*operands, **here.equation.params)
    return values[node]
