"""Elimination with exchanges of rows in prime fields: every way to exchange them is followed.

Which rows a device exchanges depends on magnitudes, which residues do not have.  So a factorisation is one value for
each way, and so is what is computed from it, until all ways give the same: x = U⁻¹ L⁻¹ P b is A⁻¹ b whatever P is.
In a way that would divide by 0 for all inputs the factors are undefined, and so is what is computed from them; the
exchanges and the order of rows are not: a device takes that way, without dividing, where a column is 0.
"""

from __future__ import annotations

import functools
import itertools
import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import jax
import numpy as np
from jax.extend.core import ClosedJaxpr, JaxprEqn

from uat_jax.arithmetic.concrete import is_array
from uat_jax.arithmetic.facts import Facts
from uat_jax.arithmetic.linear_algebra import eliminated
from uat_jax.arithmetic.number import Number
from uat_jax.arithmetic.residues import same
from uat_jax.arithmetic.tracing import dtype_of, shape_of, source_line
from uat_jax.errors import UnsupportedError

if TYPE_CHECKING:
    from uat_jax.arithmetic.fields import Fields

MOST_WAYS = 36
"""Of several factorisations together, no more ways to exchange rows are followed: 4 rows have 24."""

Way = Mapping[int, int]
"""For each factorisation, by the place of its expression, the number of a way to exchange its rows."""


@dataclass(frozen=True, eq=False)
class Exchanged:
    """A value that depends on how rows are exchanged.

    counts: for each factorisation that it depends on how many ways there are.  cases: the value for each combination of
    them, in the order of `counts`, or None where it is undefined.  expression: its place in the draw's table.
    """

    counts: Mapping[int, int]
    cases: Mapping[tuple[int, ...], Any]
    expression: int
    shape: tuple[int, ...]

    def on(self, way: Way) -> Any:
        """The value if rows are exchanged so; None if it is undefined then."""
        return self.cases[tuple(way[place] for place in self.counts)]

    @property
    def wherever_defined(self) -> Any | None:
        """The value where it is defined, if that is the same in all ways; else None."""
        first, *others = defined = [case for case in self.cases.values() if case is not None]
        return first if len(defined) < len(self.cases) and all(case is first for case in others) else None


def factorised(fields: Fields, equation: JaxprEqn, x: Number) -> list[Any]:
    """The rule of `lu`: the factors, the exchanges and the order of rows, for each way to exchange them.

    Of a constant matrix the exchanges are decided.

    Raises:
        UnsupportedError: there are too many ways, or in each of them a pivot is 0 for all inputs.
    """
    *batch, m, n = x.shape
    if not math.prod(x.shape):
        rows = np.broadcast_to(np.arange(m, dtype=np.int32), (*batch, m))
        return [x, np.zeros((*batch, min(m, n)), np.int32), rows]
    if x.known is not None:
        _, exchanges, _ = fields.known.decided(equation, [x])
        ways = [exchanges]
    else:
        ways = list(_ways(equation, math.prod(batch), m, min(m, n)))
    found = [_along(fields, equation, x, way.reshape(*batch, min(m, n))) for way in ways]
    if all(factors is None for factors, *_ in found):
        raise UnsupportedError(f"'lu'{source_line(equation)} has a pivot that is 0 for all inputs")
    if len(found) == 1:
        return found[0]
    places = [
        fields.expressions.applied(equation, [fields.place(x)], i, shape_of(v)) for i, v in enumerate(equation.outvars)
    ]
    return [
        Exchanged({places[0]: len(found)}, {(k,): each[i] for k, each in enumerate(found)}, place, shape_of(variable))
        for i, (place, variable) in enumerate(zip(places, equation.outvars, strict=True))
    ]


def order(fields: Fields, equation: JaxprEqn, exchanges: Any) -> Any:
    """The rule of `lu_pivots_to_permutation` for integers that no factorisation gives.  Raises `UnsupportedError`."""
    raise UnsupportedError(
        f"'lu_pivots_to_permutation'{source_line(equation)} takes integers that depend on the input; take those of 'lu'"
    )


def _ways(equation: JaxprEqn, matrices: int, rows: int, steps: int) -> Iterator[np.ndarray]:
    """All ways to exchange, at each step k of each matrix, row k with one at or below it: arrays (matrices, steps)."""
    count = math.prod(rows - k for k in range(steps)) ** matrices
    if count > MOST_WAYS:
        raise UnsupportedError(
            f"'lu'{source_line(equation)} has {count} ways to exchange rows, and at most {MOST_WAYS} are followed; "
            "use smaller matrices"
        )
    one = list(itertools.product(*(range(k, rows) for k in range(steps))))
    return (np.array(way, np.int32).reshape(matrices, steps) for way in itertools.product(one, repeat=matrices))


def _along(fields: Fields, equation: JaxprEqn, x: Number, exchanges: np.ndarray) -> list[Any]:
    """The results if rows are exchanged so; no factors, None, if a pivot that is divided by is 0 for all inputs."""
    order = np.broadcast_to(np.arange(x.shape[-2], dtype=np.int32), (*x.shape[:-2], x.shape[-2])).copy()
    for index in np.ndindex(*x.shape[:-2]):
        for k, chosen in enumerate(exchanges[index]):
            order[(*index, [k, chosen])] = order[(*index, [chosen, k])]
    notes = set(fields.draw.notes)
    program = _elimination(x.shape, dtype_of(equation.invars[0]), order.tobytes())
    factors = fields.lift(*fields.inner(program, [x]))
    if factors.special is not None:
        fields.draw.notes = notes
        return [None, exchanges, order]
    return [factors, exchanges, order]


@functools.lru_cache(maxsize=256)
def _elimination(shape: tuple[int, ...], dtype: np.dtype, order: bytes) -> ClosedJaxpr:
    """The program that eliminates without exchanges after the rows are put into an order."""
    rows = np.frombuffer(order, np.int32).reshape(-1, shape[-2])
    matrices = np.arange(len(rows))[:, None]

    def program(a: jax.Array) -> jax.Array:
        return eliminated(a.reshape(-1, *shape[-2:])[matrices, rows]).reshape(shape)

    with jax.enable_x64(True):
        return jax.make_jaxpr(program)(jax.ShapeDtypeStruct(shape, dtype))


def followed(
    fields: Fields, equation: JaxprEqn, operands: Sequence[Any], evaluate: Callable[[Sequence[Any]], list[Any]]
) -> list[Any]:
    """The results of an equation, each of them one value where all ways to exchange rows give the same."""
    counts: dict[int, int] = {}
    for operand in operands:
        counts.update(operand.counts if isinstance(operand, Exchanged) else {})
    if math.prod(counts.values()) > MOST_WAYS:
        raise UnsupportedError(
            f"'{equation.primitive.name}'{source_line(equation)} depends on the exchanges of rows of several matrices"
        )
    at = lambda way: [operand.on(way) if isinstance(operand, Exchanged) else operand for operand in operands]
    keys = list(itertools.product(*map(range, counts.values())))
    given = {key: at(dict(zip(counts, key, strict=True))) for key in keys}
    if equation.primitive.name == "select_n" and isinstance(operands[0], Exchanged):
        _refuse_choice(equation, list(given.values()))
    found: dict[tuple[int, ...], list[Any]] = {}
    for values in given.values():
        if tuple(map(id, values)) not in found:
            undefined = any(value is None for value in values)
            found[tuple(map(id, values))] = [None] * len(equation.outvars) if undefined else evaluate(values)
    rows = {key: found[tuple(map(id, values))] for key, values in given.items()}
    places = list(map(fields.place, operands))
    results = []
    for i, variable in enumerate(equation.outvars):
        cases, shape = {key: row[i] for key, row in rows.items()}, shape_of(variable)
        place = fields.expressions.applied(equation, places, i, shape)
        defined = [case for case in cases.values() if case is not None]
        fields.draw.compared(math.prod(shape) * len(defined))
        one = _one(defined, place) if defined else None
        if one is not None:
            cases = {key: None if case is None else one for key, case in cases.items()}
        everywhere = one is not None and len(defined) == len(cases)
        results.append(one if everywhere else Exchanged(counts, cases, place, shape))
    return results


def _refuse_choice(equation: JaxprEqn, given: Sequence[Sequence[Any]]) -> None:
    """Return if no way of exchanging rows, which may choose what is defined, is one where something else is not."""
    if any(values[0] is not None and any(value is None for value in values) for values in given):
        raise UnsupportedError(
            f"'select_n'{source_line(equation)} chooses by exchanges of rows from what they leave undefined"
        )


def _one(cases: Sequence[Any], place: int) -> Any | None:
    """What all cases are, or None: the same array, or the same function where all are defined."""
    first, *others = cases
    if all(map(is_array, cases)):
        return first if all(np.array_equal(first, other) for other in others) else None
    if not all(isinstance(case, Number) and case.special is None and case.infinite is None for case in cases):
        return None
    if any(case.almost is not None or case.facts is None or not same(first.residues, case.residues) for case in cases):
        return None
    return first.but(
        facts=_common(case.facts for case in cases),
        nonnegative=all(case.nonnegative for case in cases),
        expression=place,
    )


def _common(known: Any) -> Facts:
    """What is known of every case."""
    facts = list(known)
    return Facts(
        max(f.nature for f in facts),
        max(f.defined for f in facts),
        any(f.hollow for f in facts),
        np.logical_and.reduce([f.positive for f in facts]),
        np.logical_and.reduce([f.negative for f in facts]),
        np.logical_and.reduce([f.thin for f in facts]),
        any(f.guarded for f in facts),
    )
