"""Two sums, in parts that have no variable set in common:  Σ f(xᵢ) against Σ g(xᵢ)  →  f(x₀) against g(x₀), …

Cases of one part after the other are a sum of cases, and those of all together are a product.
docs/soundness.md §8.2 has what this rests on.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.extend.core import JaxprEqn, Primitive

from uat_jax.errors import UnsupportedError
from uat_jax.interpret.recognition import meaning
from uat_jax.numbers.prime_fields.formula import Formula, Node, name_of, variables_below

MOST_COUNTED = 100
"""A sum of more booleans might wrap in the smallest dtype of integers."""

MOST_FACTOR = 1 << 24
"""Terms with larger whole factors are not put together again."""


@dataclass(frozen=True)
class Separated:
    """Parts of both results of a formula, each a formula of two results, and what the left constants are above the
    right ones: the results are equal if each part has a constant difference and all of these differences cancel."""

    parts: tuple[Formula, ...]
    constant: Fraction


def separated(pair: Formula) -> Separated | None:
    """Both results of a formula as sums of parts with different variables; None if there are fewer than two of them."""
    if pair.twins or len(pair.results) != 2 or any(_is_infinite(node) for node in pair.nodes):
        return None
    sums = [_Terms(pair), _Terms(pair)]
    for found, result in zip(sums, pair.results, strict=True):
        if not jnp.issubdtype(pair.nodes[result].dtype, jnp.floating):
            return None
        found.add(result, Fraction(1))
    below = variables_below(pair)
    groups: dict[frozenset[int], list[dict[Term, Fraction]]] = defaultdict(lambda: [{}, {}])
    for side, found in enumerate(sums):
        for term, factor in found.factors.items():
            if factor:
                groups[below[term[0]]][side][term] = factor
    if len(groups) < 2:
        return None
    try:
        parts = tuple(_part(pair, *sides) for sides in groups.values())
    except UnsupportedError:
        return None
    return Separated(parts, sums[0].constant - sums[1].constant)


Term = tuple[int, int | None]
"""A node, and the node of a cast by which it counts as a number."""


@dataclass
class _Terms:
    """A sum as its terms with their factors, and a constant; all factors are read as they are written."""

    pair: Formula
    factors: dict[Term, Fraction] = field(default_factory=lambda: defaultdict(Fraction))
    constant: Fraction = Fraction(0)

    def add(self, number: int, factor: Fraction) -> None:
        """Add a multiple of a node."""
        node = self.pair.nodes[number]
        name = name_of(node) if node.key[0] == "apply" else ""
        value = _exact(node)
        if value is not None:
            self.constant += factor * value
        elif name in ("add", "add_any", "sub"):
            self.add(node.operands[0], factor)
            self.add(node.operands[1], -factor if name == "sub" else factor)
        elif name == "neg":
            self.add(node.operands[0], -factor)
        elif name in ("div", "mul") and (scale := _exact(self.pair.nodes[node.operands[1]])):
            self.add(node.operands[0], factor / scale if name == "div" else factor * scale)
        elif name == "mul" and (scale := _exact(self.pair.nodes[node.operands[0]])):
            self.add(node.operands[1], factor * scale)
        elif name == "convert_element_type" and (counted := self._counted(node.operands[0])):
            for each in counted:
                self.factors[each, number] += factor
        else:
            self.factors[number, None] += factor

    def _counted(self, number: int) -> list[int]:
        """The nodes that are 1 or 0 of which an integer is the sum, which is too small to wrap; [] if it is none."""
        found, waiting = [], [number]
        while waiting and len(found) <= MOST_COUNTED:
            here = waiting.pop()
            node = self.pair.nodes[here]
            name = name_of(node) if node.key[0] == "apply" and jnp.issubdtype(node.dtype, jnp.integer) else ""
            if name == "add":
                waiting += node.operands
            elif name == "convert_element_type" and self.pair.nodes[node.operands[0]].dtype == np.bool_:
                found.append(here)
            else:
                return []
        return found if not waiting else []


def _exact(node: Node) -> Fraction | None:
    """The number that a literal is in every reading."""
    if node.key[0] != "literal" or not jnp.issubdtype(node.dtype, jnp.floating):
        return None
    value = float(node.literal)
    return Fraction(value) if np.isfinite(value) and meaning(value, node.dtype).as_written else None


def _is_infinite(node: Node) -> bool:
    """Whether a literal is an infinity or NaN."""
    return node.key[0] == "literal" and not np.all(np.isfinite(np.asarray(node.literal, np.float64)))


def _part(pair: Formula, left: Mapping[Term, Fraction], right: Mapping[Term, Fraction]) -> Formula:
    """The formula of two sums of some terms."""
    nodes = _Nodes(pair)
    results = tuple(nodes.total(side, pair.nodes[pair.results[0]].dtype) for side in (left, right))
    places = {new: pair.places[old] for old, new in nodes.new.items() if old in pair.places}
    squares = frozenset(new for old, new in nodes.new.items() if old in pair.squares)
    return Formula(tuple(nodes.nodes), results, places, {}, squares)


class _Nodes:
    """The nodes of a part: those of the formula that it needs, and the sums of its terms."""

    def __init__(self, pair: Formula):
        self.pair = pair
        self.nodes: list[Node] = []
        self.new: dict[int, int] = {}
        self.like: JaxprEqn | None = next((node.equation for node in pair.nodes if node.equation is not None), None)

    def of(self, old: int) -> int:
        """The new number of a node of the formula."""
        if old not in self.new:
            node = self.pair.nodes[old]
            operands = tuple(map(self.of, node.operands))
            key = ("variable", len(self.nodes)) if node.key[0] == "variable" else node.key
            self.new[old] = self._added(Node(key, node.equation, operands, node.dtype, node.literal))
        return self.new[old]

    def total(self, terms: Mapping[Term, Fraction], dtype: np.dtype) -> int:
        """The node of Σ factor·term."""
        total = None
        for (number, cast), factor in terms.items():
            term = self.of(number)
            if cast is not None:
                kind = self.pair.nodes[cast]
                term = self._added(Node(kind.key, kind.equation, (term,), kind.dtype))
            for primitive, scale in ((lax.mul_p, factor.numerator), (lax.div_p, factor.denominator)):
                if scale != 1:
                    term = self._applied(primitive, term, self._literal(scale, dtype), dtype)
            total = term if total is None else self._applied(lax.add_p, total, term, dtype)
        return self._literal(0, dtype) if total is None else total

    def _literal(self, value: int, dtype: np.dtype) -> int:
        held = np.asarray(value, dtype)[()]
        if abs(value) > MOST_FACTOR or int(held) != value or not meaning(float(held), held.dtype).as_written:
            raise UnsupportedError("a factor that the dtype does not hold, or that would be read as another number")
        return self._added(Node(("literal", str(dtype), held.tobytes()), None, (), dtype, held))

    def _applied(self, primitive: Primitive, x: int, y: int, dtype: np.dtype) -> int:
        if self.like is None:
            raise UnsupportedError("a sum of variables, without an equation")
        equation = self.like.replace(primitive=primitive, params={})
        return self._added(Node(("apply", primitive, ()), equation, (x, y), dtype))

    def _added(self, node: Node) -> int:
        self.nodes.append(node)
        return len(self.nodes) - 1
