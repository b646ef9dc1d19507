"""Float64 arithmetic that watches for ties: compared quantities that are equal at a random point.

Almost everywhere x > 0 and x ≥ 0 are the same, unless x vanishes on a set of positive measure, as relu(y) does.  Such a
set can be far from all points that are tried, as that of relu(y + 30) is; so the branches of a piecewise function can
be taken at random, whichever is right.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from jax.extend.core import JaxprEqn

from uat_jax.arithmetic.doubles import Doubles
from uat_jax.arithmetic.interpreter import Value
from uat_jax.arithmetic.tracing import is_number, source_line

COMPARISONS = frozenset(["gt", "ge", "lt", "le", "sign"])

LOOKS = COMPARISONS | {"eq", "ne", "is_finite"}
"""Primitives that make something finite of NaN."""

MOST_BRANCHES = 8
"""Of the entries among which a maximum is found, so many are taken for it."""

ROUNDING = 1e-12
"""Numbers closer than this part of their largest distance in any copy are equal but for rounding."""

CONSTANTS = (-1.0, 0.0, 1.0)
"""Values of functions that are constant between jumps."""


def _entries(equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    """Some entries over the axes of a reduction, the first and the last among them."""
    axes = [axis + 1 for axis in equation.params["axes"]]
    rows = np.moveaxis(x, axes, range(len(axes)))
    rows = rows.reshape(-1, *rows.shape[len(axes) :])
    return [rows[i] for i in np.unique(np.linspace(0, len(rows) - 1, MOST_BRANCHES).astype(int))] if len(rows) else []


def _jumps(equation: JaxprEqn, x: np.ndarray) -> list[np.ndarray]:
    return [np.full(np.shape(x), value) for value in CONSTANTS]


BRANCHES: dict[str, Callable[..., Sequence[np.ndarray]]] = {
    "abs": lambda equation, x: [x, -x],
    "ceil": _jumps,
    "clamp": lambda equation, *operands: operands,
    "convert_element_type": lambda equation, x: [] if is_number(equation.invars[0]) else _jumps(equation, x),
    "floor": _jumps,
    "max": lambda equation, *operands: operands,
    "min": lambda equation, *operands: operands,
    "reduce_max": _entries,
    "reduce_min": _entries,
    "round": _jumps,
    "select_n": lambda equation, which, *cases: cases,
    "sign": _jumps,
}
"""The values among which a piecewise primitive chooses."""


class Ties(Doubles):
    """Doubles that collect, in `found`, the lines where compared numbers that vary were equal in some copy.

    Equal but for rounding, that is: not by more than `ROUNDING`.

    branches: where to take random branches from, or None for the right ones.  watched: whether anything was compared.
    undefined: the lines where something is decided by numbers that are NaN, or infinite, at some points only.
    """

    def __init__(self, branches: np.random.Generator | None = None) -> None:
        self.branches = branches
        self.found: set[str] = set()
        self.undefined: set[str] = set()
        self.watched = False

    def evaluate(self, equation: JaxprEqn, operands: Sequence[Value]) -> list[Value]:
        """The results in float64; a comparison is looked at on the way."""
        name = equation.primitive.name
        if name in COMPARISONS and self.involves(equation, operands) and all(map(is_number, equation.invars)):
            self._look_at(equation, operands)
        numbers = [x for x, atom in zip(operands, equation.invars, strict=True) if is_number(atom)]
        if name in LOOKS and any(map(_sometimes_finite, numbers)):
            self.undefined.add(f"'{name}'{source_line(equation)}")
        results = super().evaluate(equation, operands)
        return results if self.branches is None else self._branched(equation, operands, results, self.branches)

    def _branched(
        self, equation: JaxprEqn, operands: Sequence[Value], results: list[Value], random: np.random.Generator
    ) -> list[Value]:
        """The results with random branches; a sorted array is turned."""
        name = equation.primitive.name
        if name == "sort":
            turned = lambda x: [np.roll(x, shift, equation.params["dimension"] + 1) for shift in range(MOST_BRANCHES)]
            pairs = zip(results, equation.outvars, strict=True)
            return [_branch(x, turned(x), random) if is_number(v) else x for x, v in pairs]
        if name not in BRANCHES or not is_number(equation.outvars[0]) or len(results[0]) == 1:
            return results
        return [_branch(results[0], BRANCHES[name](equation, *operands), random)]

    def _look_at(self, equation: JaxprEqn, operands: Sequence[Value]) -> None:
        values = [np.asarray(operand) for operand in operands]
        if all(len(value) == 1 for value in values):
            return  # a comparison of constants
        self.watched = True
        rank = max(value.ndim for value in values)
        full = [v.reshape(len(v), *(1,) * (rank - v.ndim), *v.shape[1:]) for v in values]
        with np.errstate(all="ignore"):
            difference = np.abs(full[0] - full[1] if len(full) == 2 else full[0])
        usual = np.max(difference, axis=0, where=np.isfinite(difference), initial=0)
        if np.any(difference <= ROUNDING * usual):
            self.found.add(f"'{equation.primitive.name}'{source_line(equation)}")


def _branch(right: np.ndarray, cases: Sequence[np.ndarray], random: np.random.Generator) -> np.ndarray:
    """One of the cases, or the right one, in every copy; in some copies another one for every entry.

    The first quarter of the copies takes the case of the same number in all primitives.
    """
    rank = right.ndim
    full = [x.reshape(len(x), *(1,) * (rank - x.ndim), *x.shape[1:]) for x in (right, *cases)]
    column = (len(right), *(1,) * (rank - 1))
    alike = random.integers(0, len(full), column)
    mixed = random.random(column) < 0.25
    faithful = np.arange(len(right) // 4)
    alike[faithful], mixed[faithful] = (faithful % len(full)).reshape(-1, *column[1:]), False
    each = np.where(mixed, random.integers(0, len(full), right.shape), alike)
    return np.choose(each, [np.broadcast_to(x, right.shape) for x in full])


def _sometimes_finite(x: np.ndarray) -> bool:
    """Whether an entry is finite in some copies and not in others."""
    finite = np.isfinite(x)
    return bool(np.any(finite.any(axis=0) & ~finite.all(axis=0)))
