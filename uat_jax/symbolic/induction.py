"""Theorem 1 for every depth: a base case and one generic step, each a chain of equations between normal forms.

The recurrences are collected from layer i+1 with u_i opaque (`recurrence`); the step then shows that with

    Ŵ_{k,3}^{(i+1)} = (what multiplies u_i) Ŵ_{k,3}^{(i)}  for k ≤ i     and     Ŵ_{i+1,3}^{(i+1)} as collected

the sum form of u_i goes over into that of u_{i+1}.  Since i is a symbol, the step holds for every i ≥ 1 at once;
layer 1 is the base case.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import sympy

from uat_jax.errors import InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.normal_form import Definitions
from uat_jax.symbolic.program import letters_of
from uat_jax.symbolic.recurrence import ClosedForm, Recurrence, recurrence
from uat_jax.symbolic.step import Induction, Step

INDEX = sympy.Symbol("i", integer=True, positive=True)
LAYER = sympy.Symbol("j", integer=True, positive=True)
"""The number of a layer, in what it makes of its input."""


def closed_form_induction(layers: Layers, rules: Recurrence | None = None) -> tuple[Step, ...]:
    """Theorem 1 for all L: the base case (one layer) and the step from i to i+1 layers.

    ``layers.dynamic`` proves it for parameters that are arbitrary functions of the layer's input.
    ``rules`` replaces the collected recurrences by others (a test's wrong ones, or what a paper prints).
    """
    static = ClosedForm(replace(layers, dynamic=False))
    collected = rules or recurrence(static, INDEX + 1)
    _check_free_of_the_input(static, collected)
    return (_base(static, layers), *_step(static, layers, collected))


def inductive(of: Induction) -> tuple[Step, Step]:
    """Base and step of an induction over layers, as equations."""
    base = Step("one layer", *of.sides(1), of.first)
    return base, Step("from i to i+1 layers", *of.sides(of.index + 1), of.next, of)


def by_layers(
    fixed: Mapping[m.Letter, m.Expression],
    rule: Callable[[m.ScalarLike], Mapping[m.Letter, m.Expression]] | None = None,
) -> Definitions:
    """What the letters of layer i+1 stand for: ``fixed`` ones, and for k = 1 … i those that ``rule(k)`` gives."""

    def definitions(letter: m.Letter, ranges: m.Ranges) -> m.Expression | None:
        k = letter.subscripts[0] if letter.subscripts else None
        if letter in fixed or rule is None or k is None or ranges.get(k) != INDEX:
            return fixed.get(letter)
        return rule(k).get(letter)

    return definitions


def _check_free_of_the_input(closed: ClosedForm, rule: Recurrence) -> None:
    """The parameters may not contain x_0 or the σ-terms themselves: that is what makes the sum a UAT form."""
    forbidden = {of(INDEX).name for of in (closed.layers.x, closed.u, closed.s)}
    for name, part in vars(rule).items():
        used = [letter for letter in letters_of(part) if letter.name in forbidden] if part is not None else []
        if used:
            raise InputError(f"the rule {name} = {part} contains {used[0]}; parameters may not")


def _base(closed: ClosedForm, layers: Layers) -> Step:
    first = recurrence(closed, 1)
    definitions: dict[m.Letter, m.Expression] = {
        closed.W1(1): first.W1,  # type: ignore[dict-item]
        closed.b3(1): first.b3,  # type: ignore[dict-item]
        closed.W3(1, 1): first.W3,
        closed.W2(1): first.W2,
        closed.b2(1): first.b2_constant,
        closed.s(1): closed.activation(1),
    } | _dynamic(layers, 1, layers.x(0))
    return Step("base case: one layer", layers.apply(1, layers.x(0)), closed.x(1), definitions)


def _dynamic(layers: Layers, j: m.ScalarLike, x: m.Expression) -> dict[m.Letter, m.Expression]:
    """A_j, B_j, … as functions of the layer's input, if the parameters are dynamic."""
    return {p: m.Dependent(p, x) for p in layers.parameters(j)} if layers.dynamic else {}


def _step(closed: ClosedForm, layers: Layers, rule: Recurrence) -> list[Step]:
    i, j, u = INDEX, INDEX + 1, closed.u(INDEX)
    assert rule.carry is not None and rule.b2_u is not None
    x = m.Addition(closed.affine(i), u)
    own = _dynamic(layers, j, x)
    A, B, C, b, c = (m.Dependent(p, x) if layers.dynamic else p for p in layers.parameters(j))
    inner = x if layers.kind == "residual" else A @ x
    argument = rule.W2 @ layers.x(0) + m.Addition(rule.b2_constant, rule.b2_u @ u)
    k = sympy.Symbol("k", integer=True, positive=True)
    carried = m.RangeSum(m.Product(rule.carry, closed.W3(k, i), closed.s(k)), k, 1, i)
    return [
        Step(
            "Eq. 26: the affine part",
            A @ x + c,
            m.Addition(rule.W1 @ layers.x(0), rule.b3, rule.carry @ u),
            own,
        ),
        Step("Eq. 27: the argument of σ", C @ m.Activation(B @ inner + b), C @ m.Activation(argument), own),
        Step("Lemma 1: a matrix passes into the sum", rule.carry @ closed.sum(i), carried, own),
        Step(
            "step: from i to i+1 layers",
            layers.apply(j, closed.x(i)),
            closed.x(j),
            step_definitions(closed, layers, rule),
            _induction(closed, layers, rule),
        ),
    ]


def _induction(closed: ClosedForm, layers: Layers, rule: Recurrence) -> Induction:
    """Theorem 1: what base and step prove together."""
    j, x = LAYER, m.Letter("y", layers.widths(LAYER - 1), 1)
    first, later = _base(closed, layers).where, step_definitions(closed, layers, rule)
    assert isinstance(first, Mapping)
    return Induction(INDEX, j, x, layers.x(0), layers.apply(j, x), closed.x(INDEX), first, later)


def dynamic_steps(kind: str) -> tuple[Step, Step]:
    """The base case and the step for parameters that are any functions of their layer's input, x_i being a letter.

    The letters A_{i+1}, B_{i+1}, … stand for their values at x_i, and x_i for the closed form of i layers.
    """
    layers, closed = Layers(kind, dynamic=True), ClosedForm(Layers(kind))
    i, j = INDEX, INDEX + 1
    rules = step_definitions(closed, layers, recurrence(closed, j))
    own = {**dynamic_parameters(kind), layers.x(i): closed.x(i)}

    def definitions(letter: m.Letter, ranges: m.Ranges) -> m.Expression | None:
        return own.get(letter) or rules(letter, ranges)

    step = Step("step: from i to i+1 layers", layers.apply(j, layers.x(i)), closed.x(j), definitions)
    return _base(closed, layers), step


def dynamic_parameters(kind: str) -> dict[m.Letter, m.Expression]:
    """A_{i+1} ↦ A_{i+1}(x_i), and so for B, C, b and c: what the letters of layer i+1 stand for."""
    layers = Layers(kind, dynamic=True)
    return _dynamic(layers, INDEX + 1, layers.x(INDEX))


def step_definitions(closed: ClosedForm, layers: Layers, rule: Recurrence) -> Definitions:
    """What the hatted letters of i+1 layers stand for, in letters of i layers."""
    i, j = INDEX, INDEX + 1
    assert rule.b2_u is not None
    fixed: dict[m.Letter, m.Expression] = {
        closed.W1(j): rule.W1,  # type: ignore[dict-item]
        closed.b3(j): rule.b3,  # type: ignore[dict-item]
        closed.W3(j, j): rule.W3,
        closed.W2(j): rule.W2,
        closed.b2(j): m.Addition(rule.b2_constant, rule.b2_u @ closed.sum(i)),
        closed.s(j): closed.activation(j),
    } | _dynamic(layers, j, closed.x(i))

    def definitions(letter: m.Letter, ranges: m.Ranges) -> m.Expression | None:
        if letter in fixed:
            return fixed[letter]
        k = letter.subscripts[0] if letter.subscripts else None
        if k is not None and ranges.get(k) == i and rule.carry is not None and letter == closed.W3(k, j):
            return rule.carry @ closed.W3(k, i)  # k runs up to i only
        return None

    return definitions
