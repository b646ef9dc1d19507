"""Float64 arithmetic that watches for ties: compared quantities that are equal at a random point.

Almost everywhere x > 0 and x ≥ 0 are the same, unless x vanishes on a set of positive measure, as relu(y) does.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import Value
from uat_jax.arithmetic.tracing import is_number, source_line

COMPARISONS = frozenset(["gt", "ge", "lt", "le", "sign"])


class Ties(Doubles):
    """Doubles that collect, in `found`, the lines where compared numbers that vary were equal in some copy."""

    def __init__(self) -> None:
        self.found: set[str] = set()

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results in float64; a comparison is looked at on the way."""
        name = equation.primitive.name
        if name in COMPARISONS and self.involves(equation, operands) and all(map(is_number, equation.invars)):
            self._look_at(equation, operands)
        return super().evaluate(equation, operands)

    def _look_at(self, equation: JaxprEqn, operands: Sequence[Value]) -> None:
        values = [np.asarray(operand) for operand in operands]
        if all(len(value) == 1 for value in values):
            return  # a comparison of constants
        rank = max(value.ndim for value in values)
        full = [v.reshape(len(v), *(1,) * (rank - v.ndim), *v.shape[1:]) for v in values]
        with np.errstate(all="ignore"):
            difference = full[0] - full[1] if len(full) == 2 else full[0]
        if np.any(difference == 0):
            self.found.add(f"'{equation.primitive.name}'{source_line(equation)}")
