"""Σ_k A_i ⋯ A_{k+1} c_k, what k steps of x ↦ A x + c make of x_0 = 0, as a sum that one step more carries on."""

from __future__ import annotations

from collections.abc import Mapping

import sympy

from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, LAYER
from uat_jax.symbolic.step import Induction, Step


def carried_sum(size: sympy.Expr | int, matrix: str, constant: str, *, new: m.Expression | None = None) -> Step:
    """A_{i+1} S_i + c_{i+1} = S_{i+1} with S_i = Σ_{k≤i} P_k^{(i)} c_k, where P_k^{(i+1)} = A_{i+1} P_k^{(i)}, P_i^{(i)} = I.

    Args:
        size: the length of a column c_k; 1 for numbers.
        matrix: the name of A.
        constant: the name of c.
        new: what P_{i+1}^{(i+1)} is instead of I.

    Returns:
        The equation, for every i at once; the sum for i = 0 is empty.
    """
    i, k = INDEX, sympy.Symbol("k", integer=True, positive=True)
    P = lambda index, version: m.Letter("P", size, size, (index,), (version,))
    c, A = lambda index: m.Letter(constant, size, 1, (index,)), m.Letter(matrix, size, size, (i + 1,))
    S = lambda version: m.RangeSum(P(k, version) @ c(k), k, 1, version)

    def products(letter: m.Letter, ranges: Mapping[sympy.Expr, sympy.Expr]) -> m.Expression | None:
        if letter == P(i + 1, i + 1):
            return new or m.Identity(size)
        index = letter.subscripts[0]
        return A @ P(index, i) if ranges.get(index) == i and letter == P(index, i + 1) else None

    y, A_j = m.Letter("y", size, 1), m.Letter(matrix, size, size, (LAYER,))
    start, layer = m.Zero(size, 1), m.Addition(A_j @ y, c(LAYER))
    of = Induction(i, LAYER, y, start, layer, S(i), {P(1, 1): m.Identity(size)}, products) if new is None else None
    return Step("one step more: one term more", m.Addition(A @ S(i), c(i + 1)), S(i + 1), products, of)
