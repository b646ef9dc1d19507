"""How deeply exponentials are nested in a jaxpr, and which primitives it uses."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.closed_form import ClosedForm, E, Product
from uat_jax.arithmetic.interpreter import Arithmetic, Value, interpret
from uat_jax.arithmetic.recognition import ConstantReading, meanings

ALWAYS = frozenset(["exp", "exp2", "expm1", "cumlogsumexp"])
"""Primitives that take an exponential."""

WRITTEN = frozenset(["tanh", "logistic", "cos", "sin"])
"""Primitives that take one when they are written with exponentials."""


@dataclass(frozen=True)
class Depth:
    """The largest number of exponentials on a path to a value, without and with the `WRITTEN` ones.

    varies: whether the value depends on an input.
    """

    plain: int = 0
    written: int = 0
    varies: bool = False

    def __or__(self, other: Depth) -> Depth:
        """The larger of each."""
        return Depth(max(self.plain, other.plain), max(self.written, other.written), self.varies or other.varies)


class ExponentialDepth(Arithmetic):
    """Numbers are depths.

    primitives: the names of what was applied to numbers.  deepest: of all values.  readings: constants that stand for
    other numbers than are written.
    """

    name = "counting of exponentials"
    rules = {}

    def __init__(self) -> None:
        self.primitives: set[str] = set()
        self.deepest = Depth()
        self.readings: set[ConstantReading] = set()

    def constant(self, array: Any, dtype: np.dtype) -> Depth:
        """A constant, whose readings are noted; one that stands for a power of e is an exponential."""
        found = meanings(np.asarray(array), dtype)
        self.readings |= found.readings if found is not None else set()
        if found is None or not any(_has_exponential(m.form) for m in found.distinct):
            return Depth()
        self.deepest = self.deepest | Depth(1, 1)
        return Depth(1, 1)

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
        deepest = functools.reduce(Depth.__or__, (o for o in operands if isinstance(o, Depth)))
        plain, written = deepest.plain + (name in ALWAYS), deepest.written + (name in ALWAYS | WRITTEN)
        result = Depth(plain, written, deepest.varies)
        self.deepest = self.deepest | result
        return [result] * len(equation.outvars)

    def stack(self, values: Sequence[Value]) -> Depth:
        """The deepest."""
        return functools.reduce(Depth.__or__, (value for value in values if isinstance(value, Depth)))

    def entry(self, value: Value, index: int) -> Value:
        """Every entry is as deep as the array."""
        return value if isinstance(value, Depth) else value[index]


def _has_exponential(form: ClosedForm | None) -> bool:
    """Whether a number is a multiple of a power of e."""
    return isinstance(form, Product) and any(base == E for base, _ in form.powers)


@dataclass(frozen=True)
class Profile:
    """The deepest value of a jaxpr, the primitives applied to numbers, and whether an output depends on an input.

    readings: its constants that stand for other numbers than are written.
    """

    deepest: Depth
    primitives: frozenset[str]
    varies: bool
    readings: frozenset[ConstantReading]


def profile(closed_jaxpr: ClosedJaxpr, deadline: float | None = None) -> Profile:
    """What the prime fields need to know beforehand."""
    counting = ExponentialDepth()
    counting.deadline = deadline
    inputs = [Depth(varies=True)] * len(closed_jaxpr.jaxpr.invars)
    outputs = interpret(closed_jaxpr, counting, inputs)
    varies = any(isinstance(output, Depth) and output.varies for output in outputs)
    return Profile(counting.deepest, frozenset(counting.primitives), varies, frozenset(counting.readings))
