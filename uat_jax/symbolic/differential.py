"""The differential of an expression: what it moves by, to first order, when letters in it move.

    d(X + Y) = dX + dY     d(X Y) = dX Y + X dY     d(Xᵀ) = (dX)ᵀ     dσ(z) = diag(σ′(z)) dz for columns z

These are the rules of sums and products and the chain rule for a σ that acts element by element; σ′ is another such
function, as unknown as σ is.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

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
            return _sum(expression, map(inner, expression.operands))
        case m.Scaled():
            return m.Scaled(expression.coefficient, inner(expression.arg))
        case m.Transposed():
            return inner(expression.arg).T
        case m.Product():
            return _sum(expression, (_moving_one(expression, i, inner(e)) for i, e in enumerate(expression.operands)))
        case m.Activation() if expression.shape[1] == 1:
            return m.Diagonal(slope(expression.arg)) @ inner(expression.arg)
    raise UnsupportedError(f"there is no rule for the differential of {expression}")


def _moving_one(product: m.Expression, place: int, change: m.Expression) -> m.Expression:
    """The product with the factor at a place replaced by its change."""
    if isinstance(change, m.Zero):
        return m.Zero(*product.shape)
    return m.Product(*product.operands[:place], change, *product.operands[place + 1 :])


def _sum(of: m.Expression, terms: Iterable[m.Expression]) -> m.Expression:
    """The terms that are not zero, added up."""
    left = [term for term in terms if not isinstance(term, m.Zero)]
    return m.Addition(*left) if left else m.Zero(*of.shape)
