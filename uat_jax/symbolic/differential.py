"""The differential of an expression: what it moves by, to first order, when letters in it move.

    d(X + Y) = dX + dY     d(X Y) = dX Y + X dY     d(Xᵀ) = (dX)ᵀ     dσ(z) = diag(σ′(z)) dz for columns z

These are the rules of sums and products and the chain rule for a σ that acts element by element; σ′ is another such
function, as unknown as σ is.
"""

from __future__ import annotations

from collections.abc import Mapping

from uat_jax.errors import UnsupportedError
from uat_jax.symbolic import language as m

Moved = Mapping[m.Letter, m.Expression]
"""Letter → what it moves by, of its shape; letters that are not there stay where they are."""


def slope(argument: m.Expression) -> m.Expression:
    """σ′(z), the derivative of σ at every element of a column z: an unknown function of z, of its shape."""
    return m.Dependent(m.Letter("σ′", *argument.shape), argument)


def differential(expression: m.Expression, moved: Moved) -> m.Expression:
    """What the expression moves by, to first order, when the letters move.

    Raises `UnsupportedError` for a head without a rule, such as softmax, and for σ of a matrix.
    """
    inner = lambda part: differential(part, moved)
    match expression:
        case m.Letter():
            return moved.get(expression, m.Zero(*expression.shape))
        case m.Identity() | m.Zero() | m.Ones() | m.Selection():
            return m.Zero(*expression.shape)
        case m.Addition():
            return m.Addition(*map(inner, expression.operands))
        case m.Scaled():
            return m.Scaled(expression.coefficient, inner(expression.arg))
        case m.Transposed():
            return inner(expression.arg).T
        case m.Product():
            parts = expression.operands
            return m.Addition(*(m.Product(*parts[:i], inner(part), *parts[i + 1 :]) for i, part in enumerate(parts)))
        case m.Activation() if expression.shape[1] == 1:
            return m.Diagonal(slope(expression.arg)) @ inner(expression.arg)
    raise UnsupportedError(f"there is no rule for the differential of {expression}")
