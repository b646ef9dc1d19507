"""Theorem 1 told to a reader of the papers: symbols, layer by layer, the recurrence, the induction, the nested bias.

Every formula on the page is an expression that was derived: the lines of `derive`, what `recurrence` collects from a
layer, and the steps of `closed_form_induction`.  Beside a line of a layer stands the same line in the papers' symbols,
which have one letter for a parameter before and after it is updated.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

from uat_jax.errors import InputError
from uat_jax.ledger.layers.legend import (
    HEAD,
    HEADS,
    J,
    K,
    L,
    chosen,
    in_the_papers_symbols,
    legend,
    of_attention,
    of_the_closed_form,
    table,
)
from uat_jax.ledger.page import Cell, Display, Formula, Page, Paragraph, Part, Section, Table, Tree, formula
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import Derivation, derive
from uat_jax.symbolic.induction import INDEX, closed_form_induction, dynamic_parameters, dynamic_steps
from uat_jax.symbolic.layers import KINDS, Attention, Layers
from uat_jax.symbolic.program import letters_of
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

ON_SCREEN = 500
"""Lines that a screen can be asked to hold: about ten windows to scroll back through."""

IN_A_FILE = 200
"""The layers that are written out at most: their terms are as many as half the square of that number."""

WRITTEN_OUT = 6
"""Up to this depth a parameter is also written as a product of the layers' own."""

DRAWN = 5
"""Up to this depth the tree of the nested bias has every branch: it has 2^(L-1) biases.  Beyond, the last of each sum."""


def _lines(depth: int) -> int:
    """How many lines of 160 columns the page takes up to some 60 layers, about: layer j has j terms, long lines are two."""
    return 84 + 14 * depth + 4 * depth**2 // 3


def check_depth(kind: str, depth: int, *, on_screen: bool) -> None:
    """Raises `InputError` if so many layers cannot be printed, saying how to get them, or if there is no such kind."""
    if kind not in KINDS:
        raise InputError(f"unknown kind of network {kind!r}; wanted one of {', '.join(KINDS)}")
    if depth > IN_A_FILE:
        raise InputError(
            f"{depth} layers are too many to write out one by one, {IN_A_FILE} are the most; "
            "the recurrence that a smaller depth prints is that of every layer"
        )
    if on_screen and _lines(depth) > ON_SCREEN:
        most = max(d for d in range(1, depth) if _lines(d) <= ON_SCREEN)
        raise InputError(
            f"{depth} layers take more than {ON_SCREEN} lines of 160 columns, more than a screen can hold; ask for at "
            f"most {most}, or write a file: uat-jax derive {kind} --depth {depth} --out FILE"
        )


@cache
def exposition(kind: str, depth: int) -> Page:
    """The closed form of ``depth`` layers, and why it holds for every number of them.

    kind: "residual" (DUAT Eq. 20) or "transformer" (Eq. 30).  Raises `InputError` on anything else.
    """
    derivation = derive(kind, depth=depth)
    what = f"{_NUMBER.get(depth, str(depth))} {_ADJECTIVE[kind]} layer{'s' * (depth > 1)}"
    return Page(
        f"Theorem 1: {what} as one sum of UAT form",
        "Here a hat marks what is computed from the layers' own parameters, which are never overwritten; the papers "
        "write one letter for both. Of every line marked ✓ both sides were shown to have one normal form.",
        (
            Section("What is derived", tuple(_claimed(derivation))),
            Section("Symbols", (table(of_the_closed_form(kind)),)),
            Section("Layer by layer", tuple(_layer_by_layer(derivation))),
            Section("The general recurrence", tuple(_general())),
            Section("Why it holds for every number of layers", tuple(induction(kind))),
            Section("The nested bias", tuple(_nested(derivation))),
        ),
    )


def kind_of_page(claim: str) -> str:
    """The kind of network whose page tells the claim with that id, empty for a claim without a page."""
    kind, _, rest = claim.partition(".")
    return kind if kind in KINDS and rest == "closed-form" else ""


def legend_alone(kind: str, names: Sequence[str]) -> Page:
    """What these symbols mean, or all there are.  Raises `InputError` for an unknown one."""
    symbols = chosen(kind, names) if names else legend(kind)
    title = f"Symbols of the closed form of {_ADJECTIVE[kind]} layers"
    return Page(title, "", (Section("Symbols", (table(symbols),)),))


_NUMBER = {1: "one", 2: "two", 3: "three", 4: "four", 5: "five", 6: "six"}
_ADJECTIVE = {"residual": "residual", "transformer": "Transformer"}
_EQUATION = {"residual": "Eq. 20", "transformer": "Eq. 30"}


def claimed(kind: str) -> tuple[Formula, Formula]:
    """A layer, and the closed form of L of them, for symbols j and L."""
    layers = Layers(kind)
    closed = ClosedForm(layers)
    total = m.RangeSum(closed.W3(K, L) @ closed.activation(K), K, 1, L)
    layer = formula(layers.x(J), layers.apply(J, layers.x(J - 1)))
    return layer, formula(layers.x(L), m.Addition(closed.affine(L), total))


def _claimed(derivation: Derivation) -> Iterator[Part]:
    layer, closed = claimed(derivation.kind)
    yield Display(layer, f"one layer ({_EQUATION[derivation.kind]})")
    yield Display(closed, "L layers (Eq. 11/33, corrected)")


# --- layer by layer ---------------------------------------------------------------------------------------------------


_OVERWRITES = "in the papers' symbols; ← overwrites, all lines of a layer at once"


def _layer_by_layer(derivation: Derivation) -> Iterator[Part]:
    steps = derivation.steps
    for j in range(1, derivation.depth + 1):
        rows = tuple(_row(derivation, name) for name in _names(derivation.closed, j))
        yield Table((f"layer {j}", _OVERWRITES), rows)
        of_layer = [
            s for s in steps if s.name.endswith((f"in layer {j} (Eq. 27)", f"collect x_{j} (Eq. 26 and Lemma 1)"))
        ]
        yield from (Display(formula(s.left, s.right), s.name, s.holds()) for s in of_layer)
    x = derivation.layers.x(derivation.depth)
    yield Display(
        formula(x, derivation.parameters.lines[x]),
        f"altogether: x_{derivation.depth} of the network and of the closed form have one normal form",
        derivation.holds(),
    )


def _names(closed: ClosedForm, j: int) -> list[m.Letter]:
    """The hatted parameters of layer j, and s_j."""
    terms = [closed.W3(k, j) for k in range(1, j + 1)]
    return [closed.W1(j), closed.W2(j), *terms, closed.b2(j), closed.b3(j), closed.s(j)]  # type: ignore[list-item]


def _row(derivation: Derivation, name: m.Letter) -> tuple[Cell, Cell]:
    line = derivation.parameters.lines[name]
    product = written_out(derivation, line)
    ours = formula(name, line) if product == line else formula(name, line, product)
    return ours, in_the_papers_symbols(name, line, derivation.kind)


def written_out(derivation: Derivation, line: m.Expression) -> m.Expression:
    """The line in the layers' own parameters, A_3 A_2 C_1 for A_3 Ŵ_{1,3}^(2), if these are few and it has no σ."""
    lines, product = derivation.parameters.lines, line
    if derivation.closed.s(1) in letters_of(line) or isinstance(line, m.Activation) or derivation.depth > WRITTEN_OUT:
        return line
    while any(letter in lines for letter in letters_of(product)):
        product = m.replace_letters(product, lambda letter, _: lines.get(letter))
    return product


# --- the recurrence, and the induction --------------------------------------------------------------------------------


def _general() -> Iterator[Part]:
    yield Paragraph(
        "From i layers to i+1, for both networks; it starts with Ŵ_{0,1} = I, b̂_{0,3} = 0 and no term. A Transformer "
        "has B_{i+1} A_{i+1} where a residual network has B_{i+1}: its σ acts behind attention."
    )
    yield recurrence_table()
    yield Paragraph(
        "In a Transformer these matrices are those of attention and of the feed-forward part on vec(X_i), row after row "
        "(Theorem 3 and Eq. 6). A_{i+1} depends on the input through X_i, and with it every parameter that contains it."
    )
    for equation in block():
        yield Display(equation)
    yield table(of_attention())


def recurrence_table() -> Table:
    """The recurrences of both networks beside each other."""
    residual, transformer = (list(_recurrence_rows(kind)) for kind in KINDS)
    rows = tuple((what, left, right) for (what, left), (_, right) in zip(residual, transformer, strict=True))
    return Table(("", "residual network (Eq. 20)", "Transformer (Eq. 30)"), rows)


def _recurrence_rows(kind: str) -> Iterator[tuple[str, Formula]]:
    """What a layer does to each parameter, collected from layer i+1 applied to the closed form of i layers."""
    closed, i = ClosedForm(Layers(kind)), INDEX
    rule = recurrence(closed, i + 1)
    assert rule.b2_u is not None and rule.carry is not None
    yield "skip path", formula(closed.W1(i + 1), rule.W1)
    yield "constant", formula(closed.b3(i + 1), rule.b3)
    yield "terms k ≤ i", formula(closed.W3(K, i + 1), rule.carry @ closed.W3(K, i))
    yield "new term", formula(closed.W3(i + 1, i + 1), rule.W3)
    yield "inside σ", formula(closed.W2(i + 1), rule.W2)
    yield "nested bias", formula(closed.b2(i + 1), m.Addition(rule.b2_constant, rule.b2_u @ closed.sum(i)))
    yield "activations", formula(closed.s(i + 1), closed.activation(i + 1))


def block() -> tuple[Formula, ...]:
    """A_{i+1}, B_{i+1}, C_{i+1}, b_{i+1}, c_{i+1} of a Transformer's block: attention in Kronecker form."""
    of, j = Attention(HEADS), INDEX + 1
    X = m.Letter("X", of.tokens, of.features(INDEX), (INDEX,))
    lines = of.matrix_vector_parameters(j, X)
    return tuple(formula(letter, over_heads(line)) for letter, line in lines.items())


def over_heads(line: m.Expression) -> m.Expression:
    """The sum over heads with an index that counts nothing else."""
    if not isinstance(line, m.RangeSum):
        return line
    return m.RangeSum(line.at(HEAD), HEAD, *line.bounds)


_SAID = {
    "base case: one layer": "One layer is such a sum, with the parameters of layer 1 above.",
    "Eq. 26: the affine part": "The matrix of layer i+1 acts on the affine part and on the sum (Eq. 26).",
    "Eq. 27: the argument of σ": "The argument of σ is again affine in x_0, the sum being part of its bias (Eq. 27).",
    "Lemma 1: a matrix passes into the sum": "A matrix passes into the sum, onto every term of it (Lemma 1).",
    "step: from i to i+1 layers": "So that layer i+1 makes the closed form of i+1 layers from that of i layers.",
}
"""What the steps of the induction say, in the words of a page."""


def induction(kind: str) -> Iterator[Part]:
    """The base case, what is supposed of i layers, and the step to i+1, each letter defined where it first stands."""
    closed, i = ClosedForm(Layers(kind)), INDEX
    base, *steps = closed_form_induction(Layers(kind))
    yield _step(base)
    yield Paragraph("Suppose that i layers are one sum. Write u_i for it (the papers' UAT_i^R) and s_k for term k:")
    yield Display(formula(closed.layers.x(i), m.Addition(closed.affine(i), closed.u(i))))
    yield Display(formula(closed.u(i), closed.sum(i)))
    yield Display(formula(closed.s(K), closed.activation(K)))
    yield from map(_step, steps)
    yield from _dynamic(kind)


def _dynamic(kind: str) -> Iterator[Part]:
    """What is printed of the induction with parameters that depend on the input: its letters, its base and its step."""
    yield Paragraph(
        "Nothing in this needs fixed parameters. Let A_j, B_j, C_j, b_j and c_j be any functions of x_{j-1}, as attention, "
        "norms and gates make them, and let the letters of layer i+1 stand for their values at x_i, those of layer 1 for "
        "their values at x_0:"
    )
    yield from (Display(formula(letter, value)) for letter, value in dynamic_parameters(kind).items())
    base, step = dynamic_steps(kind)
    yield _said(base, "One layer is such a sum, the parameters being their values at x_0.")
    yield _said(step, "Layer i+1 makes the closed form of i+1 layers from x_i, the closed form of i layers.")


def _step(step: Step) -> Display:
    return _said(step, _SAID[step.name])


def _said(step: Step, what: str) -> Display:
    return Display(formula(step.left, step.right), f"{step.name}. {what}", step.holds())


# --- the nested bias --------------------------------------------------------------------------------------------------


def _nested(derivation: Derivation) -> Iterator[Part]:
    closed, depth = derivation.closed, derivation.depth
    yield Paragraph(
        f"The bias inside the last σ, b̂_{{{depth},2}}, is a constant and a UAT sum of {depth - 1} "
        f"term{'s' * (depth != 2)}; the bias inside each is a smaller sum, down to b̂_{{1,2}} = b_1."
    )
    yield nested_tree(closed, depth)


def nested_tree(closed: ClosedForm, depth: int) -> Tree:
    """b̂_{depth,2} as a tree of sums: below a bias the terms of its sum, below a term the bias inside its σ."""
    return _bias(closed, depth, depth <= DRAWN)


def _bias(closed: ClosedForm, j: int, everything: bool) -> Tree:
    rule = recurrence(closed, j)
    if rule.b2_u is None:
        return Tree(formula(closed.b2(j), rule.b2_constant))
    line = formula(closed.b2(j), m.Addition(rule.b2_constant, rule.b2_u @ closed.sum(j - 1)))
    terms = (_term(closed, k, everything, drawn=everything or k == j - 1) for k in range(1, j))
    return Tree(line, tuple(terms))


def _term(closed: ClosedForm, k: int, everything: bool, *, drawn: bool) -> Tree:
    """s_k, and below it the bias inside its σ where that is drawn: where not all are, under the last term only."""
    line = formula(closed.s(k), closed.activation(k))
    return Tree(line, (_bias(closed, k, everything),)) if drawn else Tree(line)
