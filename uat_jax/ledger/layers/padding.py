"""From one depth to all larger ones: a layer with A = I, C = 0 and c = 0 adds nothing, nor to what is printed.

A reading that is wrong at some depth is then wrong at every larger one: put such layers behind the network on which it
is wrong, or in front of it.  Both sides of that counterexample stay what they are, however many layers they are.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.induction import INDEX, step_definitions
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.recurrence import ClosedForm, Recurrence, recurrence
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.updates import W1, W2, W3, Assignment, b2, b3, simultaneous

i, j = INDEX, INDEX + 1
SUBJECT = "every larger L"

Special = dict[m.Letter, m.Expression]


def empty_layer(layers: Layers) -> Special:
    """Layer i + 1 with A = I, C = 0 and c = 0; B and b are whatever they are."""
    A, C, c = layers.A(j), layers.C(j), layers.c(j)
    return {A: m.Identity(A.shape[0]), C: m.Zero(*C.shape), c: m.Zero(*c.shape)}


def stays(name: str, layers: Layers, special: Special) -> Step:
    """The equation x_{i+1} = x_i, where `special` says what the parameters of layer i + 1 are."""
    return Step(name, layers.apply(j, layers.x(i)), layers.x(i), special)


def of_the_network(kind: str) -> Step:
    """The equation x_{i+1} = x_i for a layer i + 1 that adds nothing."""
    layers = u.square_layers(kind)
    return stays(f"{kind} network", layers, empty_layer(layers))


def of_the_closed_form(kind: str, rule: Recurrence | None = None, special: Special | None = None) -> Step:
    """P_{i+1} x_0 + q_{i+1} + Σ_{k≤i+1} Ŵ_{k,3} s_k is that of i layers, whatever the s_k are, k ≤ i.

    So it is for every reading of the biases inside the s_k: Ŵ_{k,3} of i + 1 layers is that of i layers.

    Args:
        kind: "residual" or "transformer".
        rule: another recurrence than that of Theorem 1.
        special: another layer i + 1 that adds nothing.
    """
    layers = u.square_layers(kind)
    closed, special = ClosedForm(layers), special or empty_layer(layers)
    rules = step_definitions(closed, layers, rule or recurrence(closed, j))

    def definitions(letter: m.Letter, ranges: Mapping[sympy.Expr, sympy.Expr]) -> m.Expression | None:
        found = special.get(letter) or rules(letter, ranges)
        return None if found is None else found.xreplace(special)  # type: ignore[return-value]

    return Step(f"closed form, {kind} network", closed.x(j), closed.x(i), definitions)


def of_a_box(kind: str, rules: tuple[Assignment, ...], k: sympy.Symbol) -> Step:
    """One box more: what Eq. 33 gives after it is what it gave before, U being its terms but the last.

    A rule with the index k is meant for every k ≤ i, for U too.
    """
    layers = u.square_layers(kind)
    closed, (_, B, _, b, _) = ClosedForm(layers), layers.parameters(j)
    before, last, s = m.Letter("U", u.D, 1), m.Letter("w", u.D, u.F), closed.s(i)
    store: Special = {W1(i): closed.W1(i), b3(i): closed.b3(i), W3(i): last, before: before}
    store |= {W1(j): m.Identity(u.D), W2(j): B, W3(j): m.Zero(u.D, u.F), b2(j): b, b3(j): m.Zero(u.D, 1)}
    # Rules for every k change the last term and all others alike.
    carried = [rule for rule in rules if k in rule.target.free_symbols]
    own = [rule for rule in rules if rule not in carried] + [rule.at(k, i) for rule in carried]
    moved = [
        Assignment(before, m.replace_letters(rule.value, lambda x, _: before if x == W3(k) else None))
        for rule in carried
    ]
    terms = W1(j) @ u.X0, b3(j), before, W3(i) @ s, W3(j) @ m.Activation(W2(j) @ u.X0 + b2(j))
    program = u.run(store, [simultaneous([*own, *moved])], layers.x(j), m.Addition(*terms))
    after = m.Addition(closed.W1(i) @ u.X0, closed.b3(i), before, last @ s)
    return Step(f"one box more, {kind} network", program[program.result], after, dict(program.lines))


def in_front(rules: tuple[Assignment, ...], bias: Assignment, k: sympy.Symbol) -> tuple[Step, ...]:
    """Layers 1 … i that are empty, in front of a network: the rules at j = i leave layer i + 1 what it is.

    They do so whatever layer i + 1 holds, and so in every order and as often as they are carried out.  The rules further
    on see of the empty layers nothing but the terms W_{k,3} σ(…) of the biases, which are 0, as are those of Eq. 33.
    """
    empty = {W1(i): m.Identity(u.D), b3(i): m.Zero(u.D, 1), W3(i): m.Zero(u.D, u.F), W3(k): m.Zero(u.D, u.F)}
    read = lambda rule: m.replace_letters(rule.value, lambda letter, _: empty.get(letter))
    stays = lambda rule: empty.get(rule.target, rule.target)
    return tuple(Step(f"{rule.target} stays", read(rule), stays(rule)) for rule in (*rules, bias))


def larger_depths(*steps: Step, layer: str = "A = I, C = 0, c = 0") -> Iterator[Evidence]:
    """That the steps hold, which takes a counterexample to every larger depth; ``layer`` says what adds nothing."""
    what = f"the same counterexample with layers that add nothing, {layer}: for every larger L"
    yield from (replace(found, subject=SUBJECT) for found in proved(steps, method=Method.INDUCTION, what=what))


def of_the_biases() -> Iterator[Evidence]:
    """For readings of the nested bias."""
    yield from larger_depths(*map(of_the_network, KINDS), *map(of_the_closed_form, KINDS))


def of_boxes(rules: tuple[Assignment, ...], k: sympy.Symbol, *kinds: str) -> Iterator[Evidence]:
    """For readings that carry out a list of rules box by box: layers behind the network."""
    yield from larger_depths(*map(of_the_network, kinds), *(of_a_box(kind, rules, k) for kind in kinds))


def of_orders(rules: tuple[Assignment, ...], bias: Assignment, k: sympy.Symbol) -> Iterator[Evidence]:
    """For readings that carry out a list of rules in any other order: layers in front of the network."""
    yield from larger_depths(*map(of_the_network, KINDS), *in_front(rules, bias, k))
