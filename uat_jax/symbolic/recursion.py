"""The closed form as a loop over the layers: one program, for a symbolic j, and what it hands on to the next layer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache

import sympy

from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.updates import square_layers

J = sympy.Symbol("j", integer=True, positive=True)


@dataclass(frozen=True)
class Recursion:
    """x_L by repeating ``step`` for j = 1, …, L.

    ``layers`` have one width D and one hidden width F; ``step`` are the lines of layer j, over its own parameters,
    x_0 and what the layer before hands on; ``handed`` names that before and after layer j (Ŵ_{j-1,1} → Ŵ_{j,1}),
    ``start`` what layer 1 is handed (I, 0 and 0); ``alone`` says which parameter of its own an affine part is
    where there is no layer before (Ŵ_{1,1} is A_1); ``result`` is x_j in what layer j hands on.
    """

    layers: Layers
    step: Program
    handed: Mapping[m.Letter, m.Letter]
    start: Mapping[m.Letter, m.Expression]
    alone: Mapping[m.Letter, m.Letter]
    result: m.Expression

    @property
    def argument(self) -> m.Letter:
        """x_0."""
        return self.layers.x(0)


@cache
def closed_form_recursion(kind: str) -> Recursion:
    """Theorem 1 with u_j = Σ_{k≤j} Ŵ_{k,3}^{(j)} s_k handed on, so that no Ŵ_{k,3} is ever needed:

        Ŵ_{j,1}, b̂_{j,3}, Ŵ_{j,2} and b̂_{j,2}   as `recurrence` collects them from layer j, whose input is
                                                Ŵ_{j-1,1} x_0 + b̂_{j-1,3} + u_{j-1}
        s_j = σ(Ŵ_{j,2} x_0 + b̂_{j,2})
        u_j = (what multiplies u_{j-1}) u_{j-1} + (what multiplies σ) s_j               (Lemma 1)
        x_L = Ŵ_{L,1} x_0 + b̂_{L,3} + u_L

    kind: "residual" (Eq. 20) or "transformer" (Eq. 30).  Raises `InputError` for another.
    """
    layers = square_layers(kind)
    closed = ClosedForm(layers)
    first, rule = recurrence(closed, 1), recurrence(closed, J)
    assert rule.b2_u is not None and rule.carry is not None
    before = _affine_parts(closed, J - 1)
    after = _affine_parts(closed, J)
    lines: dict[m.Letter, m.Expression] = {
        after[0]: rule.W1,
        after[1]: rule.b3,
        closed.W2(J): rule.W2,
        closed.b2(J): m.Addition(rule.b2_constant, rule.b2_u @ closed.u(J - 1)),
        closed.s(J): closed.activation(J),
        closed.u(J): m.Addition(rule.carry @ closed.u(J - 1), rule.W3 @ closed.s(J)),
    }
    own = dict(zip(layers.parameters(1), layers.parameters(J), strict=True))
    return Recursion(
        layers,
        Program(lines, closed.u(J)),
        handed={before[0]: after[0], before[1]: after[1], closed.u(J - 1): closed.u(J)},
        start={before[0]: closed.W1(0), before[1]: closed.b3(0), closed.u(J - 1): closed.sum(0)},
        alone={after[0]: own[first.W1], after[1]: own[first.b3]},  # type: ignore[index]
        result=m.Addition(closed.affine(J), closed.u(J)),
    )


def _affine_parts(closed: ClosedForm, j: m.ScalarLike) -> tuple[m.Letter, m.Letter]:
    """Ŵ_{j,1} and b̂_{j,3} of a symbol j, for which they are letters."""
    W1, b3 = closed.W1(j), closed.b3(j)
    assert isinstance(W1, m.Letter) and isinstance(b3, m.Letter)
    return W1, b3
