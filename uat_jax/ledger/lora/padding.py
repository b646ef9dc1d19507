"""From one depth to all larger ones, for networks with adapters: a layer that adds nothing, tuned and as printed.

A reading of Eq. 18 that is wrong at some depth is then wrong at every larger one: such layers are put behind the network
on which it is wrong, and both sides of that counterexample stay what they are.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy

from uat_jax.ledger.layers.padding import Special, empty_layer, i, j, of_the_closed_form, stays
from uat_jax.ledger.lora.tuned import Reading, delta, square_tuned, tuned_rules
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.induction import step_definitions
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step


def untuned(layers: Layers) -> Special:
    """Layer i + 1 with A = I, C = 0, c = 0 and ΔC = 0; B, ΔB and b are whatever they are."""
    C = layers.C(j)
    return {**empty_layer(layers), delta(C): m.Zero(*C.shape)}


def cancelled(layers: Layers) -> Special:
    """Layer i + 1 with A = I, C = −ΔC and c = 0, and ΔC_{i+2} = ΔC_{i+1}: neither ΔC_{i+1} nor ΔC_{i+2} brings C back."""
    change = delta(layers.C(j))
    return {**empty_layer(layers), layers.C(j): -change, delta(layers.C(j + 1)): change}


def empty_mistaken(kind: str) -> tuple[Step, Step]:
    """The deltas of layer j + 1 in layer j: both sides stay what they are.

    ΔC_{L+1}, which only the printed form of L layers contains, is then that of a layer of the longer network.
    """
    layers, printed = square_tuned(kind), square_tuned(kind, shift=1)
    special = cancelled(layers)
    of_the_form = of_the_closed_form(kind, tuned_rules(ClosedForm(printed)), special)
    return stays(f"tuned {kind} network", layers, special), of_the_form


def empty_tuned(kind: str, reading: Reading) -> tuple[Step, Step]:
    """Deltas added to hatted parameters: both sides stay what they are."""
    layers = square_tuned(kind)
    special = untuned(layers)
    return stays(f"tuned {kind} network", layers, special), of_eq_18(kind, reading, special)


def of_eq_18(kind: str, reading: Reading, special: Special) -> Step:
    """P_{i+1} x_0 + q_{i+1} + Σ_{k≤i+1} (Ŵ_{k,3} + T_k) t_k is that of i layers.

    T_k is what is added to Ŵ_{k,3}: T_k^{(i+1)} = (carry of layer i + 1) T_k^{(i)}, and T_{i+1}^{(i+1)} = ΔC_{i+1}.
    t_k = σ((Ŵ_{k,2} + …) x_0 + b̂_{k,2}) belongs to layers 1 … k alone.
    """
    layers = u.square_layers(kind)
    closed, k = ClosedForm(layers), sympy.Symbol("k", integer=True, positive=True)
    rules = step_definitions(closed, layers, recurrence(closed, j))
    added = lambda k, version: m.Letter("T", u.D, u.F, (k,), (version,))
    t = lambda k: m.Letter("t", u.F, 1, (k,))

    def form(depth: sympy.Expr) -> m.Expression:
        terms = m.RangeSum((closed.W3(k, depth) + added(k, depth)) @ t(k), k, 1, depth)
        return m.Addition(closed.affine(depth), terms)

    def definitions(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Expression | None:
        number = letter.subscripts[0] if letter.subscripts else None
        if letter == added(j, j):
            return special[delta(layers.C(j))]
        if ranges.get(number) == i and letter == added(number, j):
            return reading.carry(layers, j).xreplace(special) @ added(number, i)  # type: ignore[arg-type]
        found = special.get(letter) or rules(letter, ranges)
        return None if found is None else found.xreplace(special)  # type: ignore[return-value]

    return Step(f"Eq. 18, {kind} network", form(j), form(i), definitions)
