"""What one layer more costs, read off the expressions of a generic layer i + 1: so for every number of layers.

    s_{i+1} = σ(Ŵ_{i+1,2} x_0 + b + B_{i+1} Σ_{k≤i} Ŵ_{k,3}^{(i)} s_k)

A product of n matrices and a column is evaluated from the right and takes n products with a vector.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sympy

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.typing import PyTree

LAYERS = Layers("residual")
CLOSED = ClosedForm(LAYERS)
i = INDEX
J = sympy.Symbol("j", integer=True, positive=True)

OfLetter = Callable[[m.Letter], Any]
"""What a letter costs wherever it stands."""


def free(letter: m.Letter) -> int:
    """A letter that has been computed costs nothing."""
    return 0


def products_in(column: m.Expression, of_letter: OfLetter = free) -> sympy.Expr | int:
    """Products of a matrix with a vector in a column; 0 where the column is 0."""
    match column:
        case m.Letter():
            return of_letter(column)
        case m.Product():
            *matrices, last = column.operands
            return 0 if isinstance(last, m.Zero) else len(matrices) + products_in(last, of_letter)
        case m.RangeSum():
            return _over_the_sum(column, products_in(column.body, of_letter))
    return sum(products_in(operand, of_letter) for operand in column.operands)


def activations_in(column: m.Expression, of_letter: OfLetter = free) -> Any:
    """Evaluations of σ in a column."""
    match column:
        case m.Letter():
            return of_letter(column)
        case m.RangeSum():
            return _over_the_sum(column, activations_in(column.body, of_letter))
    inside: Any = sum(activations_in(operand, of_letter) for operand in column.operands)
    return inside + int(isinstance(column, m.Activation))


def _over_the_sum(column: m.RangeSum, of_term: sympy.Expr | int) -> sympy.Expr:
    """Σ_k (number + c(k)) = number of terms · number + Σ_k c(k)."""
    own: Any = sympy.sympify(of_term).replace(_COST, lambda _: sympy.Integer(0))
    limits = (column.index, *column.bounds)
    counted: Any = sympy.summation(own, limits)
    return counted + (sympy.Sum(of_term - own, limits) if of_term != own else 0)


def products_of_matrices() -> sympy.Expr:
    """How many products of matrices the hatted parameters of layer i + 1 take: A P, B P, and A Ŵ_{k,3} for every k ≤ i."""
    rule, k = recurrence(CLOSED, i + 1), sympy.Symbol("k", integer=True, positive=True)
    assert rule.carry is not None
    every_k: Any = sympy.Sum(_factors(rule.carry @ CLOSED.W3(k, i)), (k, 1, i)).doit()
    return _factors(rule.W1) + _factors(rule.W2) + every_k


def _factors(matrix: m.Expression) -> int:
    """Products in a product of matrices."""
    return len(matrix.operands) - 1


def activation() -> m.Expression:
    """s_{i+1}, its constant bias computed beforehand."""
    rule = recurrence(CLOSED, i + 1)
    assert rule.b2_u is not None
    bias = m.Letter("β", LAYERS.hidden_widths(i + 1), 1, (i + 1,))
    return m.Activation(m.Addition(CLOSED.W2(i + 1) @ LAYERS.x(0), bias, rule.b2_u @ CLOSED.sum(i)))


def first_activation() -> m.Expression:
    """s_1."""
    return CLOSED.activation(1)


def output(layers: PyTree) -> m.Expression:
    """x_L = Ŵ_{L,1} x_0 + b̂_{L,3} + Σ_k Ŵ_{k,3} s_k."""
    return CLOSED.x(layers)


def added_up(count: Callable[..., Any], layers: PyTree, *, shared: bool) -> sympy.Expr:
    """How often ``count`` finds something in x_L; with ``shared`` every s_k is computed once, else wherever it stands."""
    first = count(first_activation())
    if shared:
        total = count(output(layers)) + first + sympy.summation(count(activation()).subs(i, J - 1), (J, 2, layers))
        return sympy.simplify(total)
    return sympy.simplify(_costs_put_in(count(output(layers), _cost_of_s), _recursive(count, first), first))


def added_up_to(count: Callable[..., Any], *, shared: bool) -> sympy.Expr:
    """What ``count`` finds in s_1, …, s_i together."""
    first = count(first_activation())
    of_one = count(activation()).subs(i, J - 1) if shared else _recursive(count, first)
    return sympy.simplify(first + sympy.summation(of_one, (J, 2, i)))


_COST = sympy.Function("c")
"""c(k), the cost of s_k where it is computed again wherever it stands."""


def _cost_of_s(letter: m.Letter) -> Any:
    return _COST(letter.subscripts[0]) if letter.name == CLOSED.s(1).name else 0


def _costs_put_in(total: sympy.Expr, cost: Any, first: Any) -> Any:
    """Σ_{k≤n} c(k) with c(1) given, and c(j) for j ≥ 2."""
    put_in = lambda _, limits: first + sympy.summation(cost, (J, 2, limits[2]))
    return total.replace(sympy.Sum, put_in)


def _recursive(count: Callable[..., Any], first: int) -> sympy.Expr:
    """c(j) for j ≥ 2, from c(i+1) = a(i) + Σ_{k≤i} c(k): that is c(i+2) − c(i+1) = a(i+1) − a(i) + c(i+1), and c(2).

    Raises `InputError` if s_{i+1} needs anything but every s_k, k ≤ i, once.
    """
    found, n = count(activation(), _cost_of_s), sympy.Symbol("n", integer=True)
    alone = found.replace(sympy.Sum, lambda *_: sympy.Integer(0))
    k = sympy.Symbol("k", integer=True, positive=True)
    if found != alone + sympy.Sum(_COST(k), (k, 1, i)):
        raise InputError(f"got the cost {found} of s_{{i+1}}; wanted c(k) for every k up to i, once")
    more = sympy.expand(alone.subs(i, i + 1) - alone)
    solution: Any = sympy.rsolve(_COST(n + 1) - 2 * _COST(n) - more, _COST(n), {_COST(2): alone.subs(i, 1) + first})
    return solution.subs(n, J)
