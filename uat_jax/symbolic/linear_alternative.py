"""Motzkin's alternative for finitely many linear inequalities: a point where all hold, or a sum that shows none exists.

The inequalities are p_i ≥ 0, some of them strict, each p_i a combination of the same monomials, one of which is 1.
Neither answer needs to be trusted: a point can be put in, and multipliers can be multiplied out.
"""

from __future__ import annotations

from collections.abc import Sequence
from fractions import Fraction

Row = list[Fraction]


def alternative(rows: Sequence[Row], strict: Sequence[bool]) -> tuple[Row | None, Row]:
    """``rows[r][i]`` is the coefficient of the r-th monomial in p_i; ``strict[i]`` whether p_i > 0 is meant.

    Returns (λ, …) with λ ≥ 0, Σ_i λ_i p_i = 0 and Σ_{strict i} λ_i = 1, or (None, y) with a value y_r for every
    monomial such that Σ_r y_r rows[r][i] ≥ 0, and > 0 where strict.

    Both are what the first phase of the simplex method ends with, exact numbers and Bland's rule provided: it
    minimises the sum of one auxiliary variable per equation.
    """
    zero = 0 * rows[0][0]
    equations = [*rows, [zero + bool(s) for s in strict]]
    size, unknowns = len(equations), len(strict)
    eye = [[zero + (r == k) for k in range(size)] for r in range(size)]
    table = [[*row, *eye[r], zero + (r == size - 1)] for r, row in enumerate(equations)]
    basis = list(range(unknowns, unknowns + size))
    cost = [-sum(column, zero) for column in zip(*table, strict=True)]
    cost[unknowns:-1] = [zero] * size
    while any(reduced < 0 for reduced in cost[:unknowns]):
        entering = next(i for i, reduced in enumerate(cost) if reduced < 0)
        leaving = min(
            (r for r in range(size) if table[r][entering] > 0),
            key=lambda r: (table[r][-1] / table[r][entering], basis[r]),
        )
        _pivot(table, cost, leaving, entering)
        basis[leaving] = entering
    if cost[-1] == 0:
        values = {variable: table[r][-1] for r, variable in enumerate(basis)}
        return [values.get(i, zero) for i in range(unknowns)], []
    return None, [reduced - 1 for reduced in cost[unknowns : unknowns + size - 1]]


def _pivot(table: list[Row], cost: Row, leaving: int, entering: int) -> None:
    """Gauss–Jordan: the entering column becomes a unit vector with its 1 in the leaving row."""
    pivot = table[leaving]
    pivot[:] = [entry / pivot[entering] for entry in list(pivot)]
    for row in (*table, cost):
        factor = row[entering]
        if row is not pivot and factor:
            row[:] = [a - factor * b if b else a for a, b in zip(row, pivot, strict=True)]
