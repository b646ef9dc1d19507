"""How deeply exponentials are nested in a jaxpr, and which primitives it uses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.interpreter import Arithmetic, Value, interpret

ALWAYS = frozenset(["exp", "exp2", "expm1", "cumlogsumexp"])
"""Primitives that take an exponential."""

WRITTEN = frozenset(["tanh", "logistic", "cos", "sin"])
"""Primitives that take one when they are written with exponentials."""


@dataclass(frozen=True)
class Depth:
    """The largest number of exponentials on a path to a value, without and with the `WRITTEN` ones."""

    plain: int = 0
    written: int = 0


class ExponentialDepth(Arithmetic):
    """Numbers are depths; `primitives` collects the names of what was applied to them."""

    name = "counting of exponentials"
    rules = {}

    def __init__(self) -> None:
        self.primitives: set[str] = set()

    def number(self, array: Any) -> Depth:
        """A constant."""
        return Depth()

    def involves(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Whether any operand is a depth."""
        return any(isinstance(operand, Depth) for operand in operands)

    def supports(self, equation: JaxprEqn, operands: Sequence[Value]) -> bool:
        """Every primitive has a depth."""
        return True

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The depth of every result: that of the deepest operand, one more for an exponential."""
        name = equation.primitive.name
        self.primitives.add(name)
        depths = [operand for operand in operands if isinstance(operand, Depth)]
        plain, written = max(d.plain for d in depths), max(d.written for d in depths)
        deeper = Depth(plain + (name in ALWAYS), written + (name in ALWAYS | WRITTEN))
        return [deeper] * len(equation.outvars)

    def stack(self, values: Sequence[Value]) -> Depth:
        """The deepest."""
        depths = [value for value in values if isinstance(value, Depth)]
        return Depth(max(d.plain for d in depths), max(d.written for d in depths))

    def entry(self, value: Value, index: int) -> Value:
        """Every entry is as deep as the array."""
        return value if isinstance(value, Depth) else value[index]


def exponential_depth(closed_jaxpr: ClosedJaxpr) -> tuple[Depth, frozenset[str]]:
    """The depth of the deepest intermediate value, and the primitives applied to numbers."""
    counting = _Deepest()
    interpret(closed_jaxpr, counting, [Depth()] * len(closed_jaxpr.jaxpr.invars))
    return counting.deepest, frozenset(counting.primitives)


class _Deepest(ExponentialDepth):
    def __init__(self) -> None:
        super().__init__()
        self.deepest = Depth()

    def rearrange(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        results = super().rearrange(equation, operands)
        d = results[0]
        self.deepest = Depth(max(d.plain, self.deepest.plain), max(d.written, self.deepest.written))
        return results
