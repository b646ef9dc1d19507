"""Norms of matrix expressions as real symbols, and the laws that bound them, as relations for `inequality.deduce`.

‖·‖ is a norm of columns that depends on the absolute values of the entries and grows with them (the 1-, 2- and
∞-norms do); matrices have its operator norm.
"""

from __future__ import annotations

from typing import Any

import sympy

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step


def norm(expression: m.Expression) -> Any:
    """‖X‖, a real symbol that is not negative; one symbol for expressions that are written alike."""
    return sympy.Symbol(f"‖{expression}‖", nonnegative=True)


def triangle(total: m.Expression) -> Any:
    """‖X + Y + …‖ ≤ ‖X‖ + ‖Y‖ + …  Raises `InputError` for what is no sum."""
    if not isinstance(total, m.Addition):
        raise InputError(f"got {total}; the triangle inequality is about a sum")
    return norm(total) <= sum(map(norm, total.operands))


def submultiplicative(left: m.Expression, right: m.Expression) -> Any:
    """‖X Y‖ ≤ ‖X‖ ‖Y‖."""
    return norm(left @ right) <= norm(left) * norm(right)


def lipschitz(constant: Any, first: m.Expression, second: m.Expression) -> Any:
    """‖σ(X) − σ(Y)‖ ≤ λ ‖X − Y‖, for a σ with |σ(s) − σ(t)| ≤ λ |s − t|, element by element."""
    return norm(m.Activation(first) - m.Activation(second)) <= constant * norm(first - second)


def same_norm(step: Step) -> Any:
    """‖left‖ = ‖right‖ for an equation, which has to be proved as well."""
    return sympy.Eq(norm(step.left), norm(step.right))
