"""Networks with adapters in every layer, and what Eq. 18 makes of them under its readings (H2).

A reading adds deltas to the hatted parameters of the network that was not tuned: ΔB_j times something to Ŵ_{j,2}, and
(what later layers multiply it by) ΔC_j to Ŵ_{j,3}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import sympy

from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, Recurrence


def delta(letter: m.Letter) -> m.Letter:
    """ΔW for a weight W: a letter of its shape."""
    return m.Letter(f"Δ{letter.name}", *letter.shape, letter.subscripts)


@dataclass(frozen=True)
class TunedLayers(Layers):
    """Layers with B_j + ΔB_{j+shift} and C_j + ΔC_{j+shift} in place of B_j and C_j.

    ``shift`` is by how many layers the deltas are mistaken: 0 in a tuned network.
    """

    shift: int = 0

    def parameters(self, j: sympy.Expr | int) -> tuple[m.Expression, ...]:  # type: ignore[override]
        """A_j, B_j + ΔB_{j+shift}, C_j + ΔC_{j+shift}, b_j, c_j."""
        A, B, C, b, c = super().parameters(j)
        at = j + self.shift
        return A, B + delta(self.B(at)), C + delta(self.C(at)), b, c


def square_tuned(kind: str, shift: int = 0) -> TunedLayers:
    """Tuned layers of which all widths D_j are equal, and all hidden widths F_j."""
    return TunedLayers(kind, widths=lambda j: u.D, hidden_widths=lambda j: u.F, shift=shift)


def tuned_rules(closed: ClosedForm) -> Recurrence:
    """The hatted parameters of layer i+1 of tuned layers, from those of i layers."""
    A, B, C, b, c = closed.layers.parameters(INDEX + 1)
    inner = B if closed.layers.kind == "residual" else B @ A
    return Recurrence(
        W1=A @ closed.W1(INDEX),
        b3=A @ closed.b3(INDEX) + c,
        W2=inner @ closed.W1(INDEX),
        b2_constant=inner @ closed.b3(INDEX) + b,
        b2_u=inner,
        carry=A,
        W3=C,
    )


def recomputed(kind: str, tuned: Iterable[int], depth: int, shift: int = 0) -> Program:
    """Theorem 1's program with W + ΔW put in for the weights W of those layers (counted from 0).

    ``shift``: by how many layers the deltas are mistaken.
    """
    layers = u.square_layers(kind)
    deltas = {of(j + 1): delta(of(j + 1 + shift)) for j in tuned for of in (layers.B, layers.C)}
    put_in = lambda letter, _: letter + deltas[letter] if letter in deltas else None
    program = closed_form(layers, depth)
    return Program({x: m.replace_letters(e, put_in) for x, e in program.items()}, program.result)


# --- Eq. 18 ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Reading:
    """What is added to the hatted parameters of the network that was not tuned.

    Attributes:
        inner: (layers, j) → what is added to Ŵ_{j,2}.
        carry: (layers, j) → what layer j multiplies the deltas of earlier layers by that are added to Ŵ_{k,3}, k < j.
    """

    inner: Callable[[Layers, int], m.Expression]
    carry: Callable[[Layers, Any], m.Expression]

    def outer(self, layers: Layers, j: int, depth: int) -> m.Expression:
        """What is added to Ŵ_{j,3} in the network of ``depth`` layers."""
        later = (self.carry(layers, k) for k in range(depth, j, -1))
        return m.Product(*later, delta(layers.C(j)))

    def program(self, kind: str, depth: int) -> Program:
        """Eq. 18 on the hatted parameters of the network that was not tuned, b̂_{j,2} among them."""
        layers = u.square_layers(kind)
        closed, x = ClosedForm(layers), layers.x(depth)
        argument = lambda j: (closed.W2(j) + self.inner(layers, j)) @ layers.x(0) + closed.b2(j)
        term = lambda j: (closed.W3(j, depth) + self.outer(layers, j, depth)) @ m.Activation(argument(j))
        value = m.Addition(closed.affine(depth), *map(term, range(1, depth + 1)))
        return Program({**closed_form(layers, depth).lines, x: value}, x)


def _transported(layers: Layers, j: int) -> m.Expression:
    """ΔB_j times what B_j is multiplied by: A_{j−1}…A_1, in a Transformer A_j…A_1."""
    last = j - 1 if layers.kind == "residual" else j
    return m.Product(delta(layers.B(j)), *(layers.A(k) for k in range(last, 0, -1)))


READINGS = {
    "final-values": Reading(lambda of, j: delta(of.B(j)), lambda of, j: m.Identity(u.D)),
    "transported": Reading(_transported, lambda of, j: of.A(j)),
}
"""The deltas as they are, and multiplied like the weights that they belong to."""
