"""Norms of matrix expressions as real symbols, and the laws that bound them, as relations for `inequality.deduce`.

‖·‖ is a norm of columns that depends on the absolute values of the entries and grows with them (the 1-, 2- and
∞-norms do); matrices have its operator norm, that of columns being their own.
"""

from __future__ import annotations

from functools import cache

import sympy

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.relations import Relation
from uat_jax.symbolic.step import Step


@cache
def norm(expression: m.Expression) -> sympy.Symbol:
    """‖X‖, a real symbol that is not negative; one symbol for each expression, however two of them are written."""
    return sympy.Dummy(f"‖{expression}‖", nonnegative=True)


def triangle(total: m.Expression) -> Relation:
    """‖X + Y + …‖ ≤ ‖X‖ + ‖Y‖ + …  Raises `InputError` for what is no sum."""
    if not isinstance(total, m.Addition):
        raise InputError(f"got {total}; the triangle inequality is about a sum")
    return norm(total) <= sum(map(norm, total.operands))


def submultiplicative(left: m.Expression, right: m.Expression) -> Relation:
    """‖X Y‖ ≤ ‖X‖ ‖Y‖."""
    return norm(left @ right) <= norm(left) * norm(right)


def lipschitz(constant: m.Scalar, first: m.Expression, second: m.Expression) -> Relation:
    """‖σ(x) − σ(y)‖ ≤ λ ‖x − y‖ for columns x, y and a σ with |σ(s) − σ(t)| ≤ λ |s − t|, element by element.

    Raises `InputError` for matrices, whose operator norm does not grow with the entries, and for a negative λ.
    """
    if first.shape[1] != 1 or not sympy.sympify(constant).is_nonnegative:
        raise InputError(f"got {first} and λ = {constant}; wanted columns, and a λ that is not negative")
    return norm(m.Activation(first) - m.Activation(second)) <= constant * norm(first - second)


def same_norm(step: Step) -> Relation:
    """‖left‖ = ‖right‖ for an equation.  Raises `InputError` if it does not hold in normal form."""
    if not step.holds():
        raise InputError(f"got {step}, which is not proved; wanted an equation that is")
    return sympy.Eq(norm(step.left), norm(step.right))  # type: ignore[return-value]
