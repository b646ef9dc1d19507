"""The list of parameter updates that the papers print after Eq. 11 and Eq. 33, under seven orders of execution (G15).

The caption of Fig. 2 describes such an order: readings (a), (c), (c′) and (f) (G19).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace

import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.programs import Pair, by_depth, confirm_at, settle, settle_by_depth
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally, of_count
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import DEPTHS, ELEMENTWISE, SQUARE, Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.layers import padding
from uat_jax.ledger.layers.nested_bias import PRINTED as BIAS_LATEX
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import plain_network
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.updates import W1, W2, W3, Assignment, Block, b2, b3, k, sequential, simultaneous

j = sympy.Symbol("j", integer=True, positive=True)

# DUAT, after Eq. 11 and again after Eq. 33, "for each j = 1, 2, …, i":
PRINTED = (
    Assignment(W1(j + 1), W1(j + 1) @ W1(j)),
    Assignment(b3(j + 1), W1(j + 1) @ b3(j) + b3(j + 1)),
    Assignment(W2(j + 1), W2(j + 1) @ W1(j)),
    Assignment(W3(j), W1(j + 1) @ W3(j)),
)
# Eq. 12/34, "for j = 2, …, i+1":
BIAS = Assignment(b2(j), (W2(j) @ b3(j - 1) + b2(j)) + W2(j) @ u.nested_sum(1, j - 1))
# The correction: every W_{k,3} with k ≤ j is multiplied, not only W_{j,3}.
CORRECTED = (*PRINTED[:3], Assignment(W3(k), W1(j + 1) @ W3(k)))


def written(rules: tuple[Assignment, ...]) -> str:
    """Assignments as LaTeX, for the lists that correct the printed one."""
    return r",\ ".join(rf"{m.latex(rule.target)}\leftarrow {m.latex(rule.value)}" for rule in rules)


PRINTED_LATEX = (
    r"\mathbf{W}'_{j+1,1}=\mathbf{W}'_{j+1,1}\mathbf{W}_{j,1},\ "
    r"\mathbf{b}'_{j+1,3}=\mathbf{W}'_{j+1,1}\mathbf{b}_{j,3}+\mathbf{b}'_{j+1,3},\ "
    r"\mathbf{W}'_{j+1,2}=\mathbf{W}'_{j+1,2}\mathbf{W}_{j,1},\ "
    r"\mathbf{W}'_{j,3}=\mathbf{W}'_{j+1,1}\mathbf{W}'_{j,3}\quad(j=1,\ldots,i),\quad "
    + BIAS_LATEX
    + r"\quad(j=2,\ldots,i+1)"
)


Rules = tuple[Assignment, ...]


def _at(rules: Rules, number: sympy.Expr | int) -> list[Assignment]:
    return [rule.at(j, number) for rule in rules]


def _box(rules: Rules, number: int) -> tuple[Assignment, ...]:
    """The rules for one j; a rule whose target has the index k is meant for every k ≤ j."""
    return u.for_every_k(_at(rules, number), number)


def _whole_list(rules: Rules, last: int) -> list[Assignment]:
    """The rules for j = 1 … last − 1, then Eq. 12/34 for j = 2 … last."""
    biases = [BIAS.at(j, number) for number in range(2, last + 1)]
    return [a for number in range(1, last) for a in _box(rules, number)] + biases


def _is_W3(letter: m.Letter) -> bool:
    return letter.name == "W" and letter.subscripts[1] == 3


def one_shot(depth: int, rules: Rules = PRINTED) -> list[Block]:
    """(a) Every symbol on the right is the original one."""
    return [simultaneous(_whole_list(rules, depth))]


def one_sweep(depth: int, rules: Rules = PRINTED) -> list[Block]:
    """(b) The assignments are executed in the printed order."""
    return [sequential(_whole_list(rules, depth))]


def boxes(depth: int, rules: Rules = PRINTED) -> list[Block]:
    """(c) Fig. 2: one box per layer from top to bottom; in a box the right-hand sides are the values on entering."""
    return [simultaneous((*_box(rules, n), BIAS.at(j, n + 1))) for n in range(1, depth)]


def boxes_with_new_W3(depth: int, rules: Rules = PRINTED) -> list[Block]:
    """(c′) As (c), but b_{j+1,2} uses the W_{k,3} already updated in the same box."""
    return [Block((*_box(rules, n), BIAS.at(j, n + 1)), _is_W3) for n in range(1, depth)]


def redone(depth: int, rules: Rules = PRINTED) -> list[Block]:
    """(d) For each new layer all rules are applied again."""
    passes = range(2, depth + 1)
    return [simultaneous(_whole_list(rules, last)) for last in passes]


def corrected_boxes(depth: int) -> list[Block]:
    """(f) As (c), but box j+1 multiplies every W_{k,3}, k ≤ j, by the W_{j+1,1} on entering."""
    return boxes(depth, CORRECTED)


def in_place(depth: int) -> list[Block]:
    """Theorem 2: five assignments per layer, each seeing the ones before it."""
    return [sequential(u.for_every_k(u.in_place_rules(n), n)) for n in range(1, depth)]


Order = Callable[[int], list[Block]]


def _executed(kind: str, order: Order) -> Pair:
    return lambda depth: (plain_network(u.square_layers(kind), depth), u.execute(kind, depth, order(depth)))


def _final(kind: str, rules: Rules = PRINTED) -> Pair:
    """(e) Every symbol on the right is the final value, except the assigned one, which is the original."""
    return lambda depth: (
        plain_network(u.square_layers(kind), depth),
        u.final_values(kind, depth, _whole_list(rules, depth)),
    )


ORDERS: dict[str, Callable[[str, Rules], Pair]] = {
    order: lambda kind, rules, of=of: _executed(kind, lambda depth: of(depth, rules))
    for order, of in {
        "one-shot": one_shot,
        "one-sweep": one_sweep,
        "boxes": boxes,
        "boxes-new-w3": boxes_with_new_W3,
        "redone": redone,
    }.items()
} | {"final-values": _final}
"""An order of execution → what some rules, carried out in it, make of a kind of network."""


def _identity_skip(kind: str) -> Callable[[int], dict[m.Letter, m.Expression]]:
    layers = u.square_layers(kind)
    return lambda depth: {layers.A(n): m.Identity(u.D) for n in range(1, depth + 1)}


MEANT = {W3(j): PRINTED, W3(k): CORRECTED}
"""What the last rule multiplies → the rules: W_{j,3} is printed, and W_{k,3}, for every k ≤ j, is right."""
IN_FIGURE = "boxes"
"""The order of Fig. 2: the one in which the corrected rules are exact."""
TITLES = {
    "one-shot": "(a) all right-hand sides old",
    "one-sweep": "(b) executed in printed order",
    "boxes": "(c) boxes of Fig. 2",
    "boxes-new-w3": "(c′) boxes with the new W_{k,3}",
    "redone": "(d) redone for each layer",
    "final-values": "(e) all right-hand sides final",
}
"""An order → what it is."""


def _exact(order: str, last: m.Letter, *, what: str = "") -> Iterator[Evidence]:
    """At which depths one of both is exact in an order, for both kinds of network, and where it fails a counterexample.

    With A_j = I (a pure ResNet) some orders are exact for longer; that is recorded as a figure.
    """
    for kind in KINDS:
        pair = ORDERS[order](kind, MEANT[last])
        yield from settle_by_depth(pair, DEPTHS, what=f"{kind} network{what}", also=_identity_skip(kind))


def in_order(title: str, settings: Settings) -> Iterator[Evidence]:
    """Whether the list is exact in an order: as printed, or with W_{k,3} for every k ≤ j where W_{j,3} is printed."""
    order = {its: order for order, its in TITLES.items()}[title]
    if order == IN_FIGURE:
        yield from in_boxes(W3(k), settings)
        return
    for last in MEANT:
        yield from _exact(order, last, what=f", {last}")
    yield from padding.of_orders(tuple(_at((*PRINTED, *CORRECTED[3:]), INDEX)), BIAS.at(j, INDEX + 1), k)


def in_boxes(last: m.Letter, settings: Settings) -> Iterator[Evidence]:
    """Whether the boxes of Fig. 2 are exact if ``last`` is what the last rule multiplies by W_{j+1,1}."""
    if last == W3(k):
        yield from for_all_depths(corrected_boxes, BOX, in_place=False)(settings)
        return
    yield from _exact(IN_FIGURE, last)
    yield from padding.of_boxes(tuple(_at(MEANT[last], INDEX)), k, *KINDS)


BOX = (*(rule.at(j, INDEX) for rule in CORRECTED), BIAS.at(j, INDEX + 1))
"""The corrected box of j = i."""


def for_all_depths(
    order: Order, rules: tuple[Assignment, ...], *, in_place: bool, kinds: Iterable[str] = KINDS
) -> Callable[[Settings], Iterator[Evidence]]:
    """Prove a list exact for every L by induction over the boxes, and execute it at L = 1…5."""

    def decide(settings: Settings) -> Iterator[Evidence]:
        for kind in kinds:
            boxes = u.update_induction(kind, rules, in_place=in_place)
            steps = (*boxes, *closed_form_induction(u.square_layers(kind)))
            proof = prove(steps, method=Method.INDUCTION, what=f"{kind} network: exact for every L")
            pair, what = _executed(kind, order), f"{kind} network, executed"
            executed, confirmed = by_depth(pair, DEPTHS, what=what), confirm_at(pair, DEPTHS[-1], what)
            yield from (replace(found, subject=kind) for found in (proof, executed, confirmed))

    return decide


FACTOR = Assignment(W2(j), W2(j) @ W1(j))
"""What Eq. 30 puts in, for every j."""
FIRST_FACTOR = FACTOR.at(j, 1)
"""The rule for i = 0."""


def _first_factor(kind: str) -> Callable[[Assignment, Settings], Iterator[Evidence]]:
    """One rule for W_{1,2}, everything else unchanged."""

    def decide(rule: Assignment, settings: Settings) -> Iterator[Evidence]:
        x = u.square_layers(kind).x(1)
        printed = u.run(u.originals(kind, 1, raw=True), [simultaneous([rule])], x, u.closed_form_33(1))
        yield from settle(plain_network(u.square_layers(kind), 1), printed, what=f"{kind} network of one layer")

    return decide


EVERY = "every j"


def _raw_weights(last: int, settings: Settings) -> Iterator[Evidence]:
    """The corrected boxes on a Transformer's own W_{j,2}, with Eq. 30's factor put in for j = 1, …, ``last`` alone."""

    def pair(depth: int) -> tuple[Program, Program]:
        factors = simultaneous([FACTOR.at(j, n) for n in range(1, depth + 1) if last == EVERY or n <= last])
        store, x = u.originals("transformer", depth, raw=True), u.square_layers("transformer").x(depth)
        program = u.run(store, [factors, *corrected_boxes(depth)], x, u.closed_form_33(depth))
        return plain_network(u.square_layers("transformer"), depth), program

    yield from settle_by_depth(pair, DEPTHS, what="transformer network, raw W_{j,2}")
    if last != EVERY:
        yield from padding.of_boxes(tuple(_at(CORRECTED, INDEX)), k, "transformer")
        return
    own = FACTOR.at(j, INDEX)
    layers = u.square_layers("transformer")
    A, B = layers.A(INDEX), layers.B(INDEX)
    held = Step("Eq. 30 at every j", own.value, B @ A, {W1(INDEX): A, W2(INDEX): B})
    yield from proved([held], method=Method.NORMAL_FORM, what="what the corrected list starts from")
    yield from for_all_depths(corrected_boxes, BOX, in_place=False, kinds=("transformer",))(settings)


# --- what the updates are made of ------------------------------------------------------------------------------------

_LINEAR = (m.Letter, m.Product, m.Addition)


def only_products(parameter: str, expression: m.Expression) -> Evidence:
    """Whether what a layer makes of a parameter consists of products and sums of parameters and nothing else."""
    nodes = [node for node in sympy.preorder_traversal(expression) if isinstance(node, m.Expression)]
    other = next((node for node in nodes if not isinstance(node, _LINEAR)), None)
    if other is not None:
        finding = f"{parameter} = {expression} is made of {other} as well"
        return Evidence(Method.NORMAL_FORM, finding, Verdict.REFUTED, subject=parameter)
    finding = f"{parameter} = {expression}: products and sums alone"
    said = of_count(0, Tally("sigmas", expression))
    return Evidence(Method.NORMAL_FORM, finding, Verdict.PROVED, subject=parameter, statements=said)


def collected(kind: str) -> dict[str, m.Expression]:
    """What layer i+1 makes of every parameter but the biases inside σ, for every i."""
    closed = ClosedForm(u.square_layers(kind))
    rule = recurrence(closed, INDEX + 1)
    assert rule.carry is not None
    carried = rule.carry @ closed.W3(k, INDEX)
    return {"W_{i+1,1}": rule.W1, "W_{i+1,2}": rule.W2, "W_{k,3}": carried, "W_{i+1,3}": rule.W3, "b_{i+1,3}": rule.b3}


def _made_of_products(settings: Settings) -> Iterator[Evidence]:
    """The recurrences are those of Theorem 1, and none of them but that of b_{j,2} has anything but products and sums."""
    for kind in KINDS:
        steps = closed_form_induction(Layers(kind))
        proof = prove(steps, method=Method.INDUCTION, what=f"{kind} network: these are the parameters, for every L")
        yield replace(proof, subject=f"{kind} network")
        for name, expression in collected(kind).items():
            found = only_products(name, expression)
            yield replace(found, subject=f"{kind} network, {name}")


_SOURCES = (duat("3.3", 11), duat("B.3", 33))
_WITH_BIAS = (duat("3.3", 11, 12), duat("B.3", 33, 34))
"""The places of the list and of the bias that ends it."""
FIGURE = duat("App. Fig. 2")
IN_BOXES = ("one-shot", "boxes", "boxes-new-w3")
"""The readings that the figure's caption admits: it has boxes, and "original values" on the right."""
_EITHER = "The order is wrong by itself: with W_{j,3} as printed, and with W_{k,3} for every k ≤ j in its place"
_PRESUPPOSED = (*SQUARE, "for a Transformer, Eq. 30's W_{k,2} ← W_{k,2}W_{k,1} has been applied for every k")


def _list_claim(order: str, how: str | None, exact_to: int) -> Claim:
    """The printed list in one order: the boxes are wrong in the index alone, any other order with either index."""
    boxes = order == IN_FIGURE
    return Claim(
        id=f"updates.{order}",
        title=f"update list, {TITLES[order]}",
        ledger="G15, G19" if order in IN_BOXES else "G15",
        kind=Kind.ALL_DEPTHS,
        sources=(*_WITH_BIAS, FIGURE) if order in IN_BOXES else _WITH_BIAS,
        printed=PRINTED_LATEX,
        reading=f"{how}" if boxes else f"{how} {_EITHER}",
        hypotheses=_PRESUPPOSED,
        expects=Verdict.REFUTED,
        exact_to=exact_to,
        correction="updates.corrected-boxes",
        decide=OneEdit(W3(j), W3(k), in_boxes) if boxes else OneEdit(TITLES[order], TITLES[IN_FIGURE], in_order),
    )


CLAIMS = (
    Claim(
        id="updates.in-place",
        title="in-place update order of Theorem 2",
        ledger="Theorem 2",
        kind=Kind.ALL_DEPTHS,
        sources=_WITH_BIAS,
        printed=written(u.in_place_rules(j)),
        reading="for j = 1…L−1: b_{j+1,2}, then W_{j+1,2}, then every W_{k,3}, then b_{j+1,3}, then W_{j+1,1}",
        hypotheses=_PRESUPPOSED,
        expects=Verdict.PROVED,
        decide=for_all_depths(in_place, u.in_place_rules(INDEX), in_place=True),
    ),
    _list_claim("one-shot", one_shot.__doc__, 2),
    _list_claim("one-sweep", one_sweep.__doc__, 1),
    _list_claim("boxes", boxes.__doc__, 2),
    _list_claim("boxes-new-w3", boxes_with_new_W3.__doc__, 1),
    _list_claim("redone", redone.__doc__, 2),
    _list_claim("final-values", _final.__doc__, 1),
    Claim(
        id="updates.corrected-boxes",
        title="update list, (f) corrected: every W_{k,3} is multiplied",
        ledger="G15, G19",
        kind=Kind.ALL_DEPTHS,
        sources=(*_WITH_BIAS, FIGURE),
        printed=written((*CORRECTED, BIAS.at(j, j + 1))),
        reading=corrected_boxes.__doc__ or "",
        hypotheses=_PRESUPPOSED,
        expects=Verdict.PROVED,
        decide=for_all_depths(corrected_boxes, BOX, in_place=False),
    ),
    Claim(
        id="updates.first-factor-transformer",
        title="W_{1,2} = W_{1,2}W_{1,1} in a Transformer",
        ledger="G15",
        kind=Kind.IDENTITY,
        sources=(duat("3.3", 11), duat("B.3", 33)),
        printed=r"\mathbf{W}'_{1,2}=\mathbf{W}'_{1,2},\,\mathbf{W}'_{1,1}",
        reading="the product W_{1,2}W_{1,1}, as in Fig. 2, for the comma between the factors",
        hypotheses=SQUARE,
        expects=Verdict.PROVED,
        decide=lambda settings: _first_factor("transformer")(FIRST_FACTOR, settings),
    ),
    Claim(
        id="updates.first-factor-residual",
        ours=True,
        title="W_{1,2} = W_{1,2}W_{1,1} in a residual network",
        ledger="G15",
        kind=Kind.IDENTITY,
        sources=(duat("3.3", 11), duat("B.3", 33)),
        printed=r"\mathbf{W}'_{1,2}=\mathbf{W}'_{1,2},\,\mathbf{W}'_{1,1}",
        reading="the Transformer's rule for i = 0 applied to a residual network, of which App. B.2 prints no rule for i = 0",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="residual.closed-form",
        decide=OneEdit(FIRST_FACTOR, Assignment(W2(1), W2(1)), _first_factor("residual")),
    ),
    Claim(
        id="updates.raw-weights",
        title="W_{j+1,2} = W_{j+1,2}W_{j,1} on a Transformer's own weights",
        ledger="G15",
        kind=Kind.ALL_DEPTHS,
        sources=_SOURCES,
        printed=r"\mathbf{W}'_{j+1,2}=\mathbf{W}'_{j+1,2}\mathbf{W}_{j,1}",
        reading="Eq. 30 is not applied first, but for the factor of W_{1,2} that is printed for i = 0; the other rules are "
        "the corrected ones",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        exact_to=1,
        correction="updates.corrected-boxes",
        decide=OneEdit(1, EVERY, _raw_weights),
    ),
    Claim(
        id="updates.only-products",
        title="all parameters but the biases inside σ change by products and sums alone",
        ledger="G15",
        kind=Kind.ALL_DEPTHS,
        sources=(v2("C.2", 10),),
        printed=r"\text{these changes involve only matrix multiplications or additions}",
        reading="the “other parameters” are those whose updates v2 does not write down: W_{j,1}, W_{j,2}, W_{j,3} and b_{j,3}; "
        "b_{j,2}, which it does write down, changes by σ as well",
        hypotheses=(ELEMENTWISE, "the matrix of attention is taken as it is: it contains a softmax"),
        expects=Verdict.PROVED,
        decide=_made_of_products,
    ),
)  # fmt: skip
