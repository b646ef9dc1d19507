"""The equations the papers' induction consists of: Eq. 26–32 (G8, G11, G12, G13)."""

from __future__ import annotations

from collections.abc import Iterator

from uat_jax.decide.confirmation import proved
from uat_jax.decide.programs import settle
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import SQUARE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, equation
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import Attention, Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.updates import W1, W2, W3, Assignment, b2, b3
from uat_jax.typing import PyTree

i, j = INDEX, INDEX + 1


def _form(of: Layers) -> m.Expression:
    """x_i = (W_{i,1} x_0 + b_{i,3}) + UAT_i^R."""
    closed = ClosedForm(of)
    return (closed.W1(i) @ of.x(0) + closed.b3(i)) + closed.u(i)


def _equation_26(settings: Settings) -> Iterator[Evidence]:
    """W_{i+1,1} x_i + b_{i+1,3}, line by line as printed."""
    of = Layers("residual")
    closed = ClosedForm(of)
    A, _, _, _, c = of.parameters(j)
    P, q, U, x = closed.W1(i), closed.b3(i), closed.u(i), of.x(0)
    lines = [
        A @ ((P @ x + q) + U) + c,
        m.Addition(A @ (P @ x + q), A @ U, c),
        ((A @ P) @ x + (A @ q + c)) + A @ U,
    ]
    yield from _lines_equal(A @ of.x(i) + c, lines, {of.x(i): _form(of)})


def _equation_27(settings: Settings) -> Iterator[Evidence]:
    """W_{i+1,3} σ(W_{i+1,2} x_i + b_{i+1,2}), line by line as printed."""
    of = Layers("residual")
    closed = ClosedForm(of)
    _, B, C, b, _ = of.parameters(j)
    P, q, U, x = closed.W1(i), closed.b3(i), closed.u(i), of.x(0)
    lines = [
        C @ m.Activation(B @ ((P @ x + q) + U) + b),
        C @ m.Activation(m.Addition(B @ (P @ x + q), B @ U, b)),
        C @ m.Activation(m.Addition((B @ P) @ x, B @ q + b, B @ U)),
    ]
    yield from _lines_equal(C @ m.Activation(B @ of.x(i) + b), lines, {of.x(i): _form(of)})


def _lines_equal(
    left: m.Expression, lines: list[m.Expression], where: dict[m.Letter, m.Expression]
) -> Iterator[Evidence]:
    steps = [Step(f"line {n}", line, left, where) for n, line in enumerate(lines, 2)]
    return proved(steps, method=Method.NORMAL_FORM, what="every printed line equals the first, for every i")


def _equations_28_29(index) -> Program:
    """Eq. 28 and 29 in Eq. 30: y = W_{index,1} x_i, then y + W_{index,3} σ(W_{index,2} y + b_{index,2}) + b_{index,3}."""
    of = u.square_layers("transformer")
    A, B, C, b, c = of.parameters(index)
    y = A @ of.x(i)
    return Program({of.x(j): y + (C @ m.Activation(B @ y + b) + c)}, of.x(j))


def _index_of_28(layer: PyTree, settings: Settings) -> Iterator[Evidence]:
    """Layer i+1 with the parameters of that layer."""
    of = u.square_layers("transformer")
    network = Program({of.x(j): of.apply(j, of.x(i))}, of.x(j))
    yield from settle(network, _equations_28_29(layer), what="Eq. 28 and 29 as layer i+1, for every i")


def _corrected_28_29(settings: Settings) -> Iterator[Evidence]:
    """MHA and FFN of layer i+1 on token matrices, for any number of heads."""
    of = Attention(m.dimension("h"))
    X, Y = (m.Letter(name, of.tokens, of.features(n)) for name, n in (("X", i), ("Y", j)))
    V1, v1, V2, v2 = of.feed_forward(j)
    layers, one, parameters = of.layers, m.Ones(of.tokens, 1), of.matrix_vector_parameters(j, X)
    ffn = m.Vectorised(m.Activation(Y @ V1 + one @ v1.T) @ V2 + one @ v2.T)
    mapped = layers.C(j) @ m.Activation(layers.B(j) @ m.Vectorised(Y) + layers.b(j)) + layers.c(j)
    steps = [
        Step("Eq. 28", m.Vectorised(of.attend(j, X)), layers.A(j) @ m.Vectorised(X), parameters),
        Step("Eq. 29", ffn, mapped, parameters),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for every i, N, M, width and number of heads")


def _matches_20(settings: Settings) -> Iterator[Evidence]:
    """Layer i+1 of a Transformer is Eq. 20's layer with W_{i+1,2}W_{i+1,1} for W_{i+1,2}."""
    transformer, residual = Layers("transformer"), Layers("residual")
    product = {residual.B(j): transformer.B(j) @ transformer.A(j)}
    step = Step("Eq. 31 is Eq. 20", transformer.apply(j, transformer.x(i)), residual.apply(j, residual.x(i)), product)
    yield from proved([step], method=Method.NORMAL_FORM, what="for every i and all shapes")


def _equation_30(settings: Settings) -> Iterator[Evidence]:
    """W_{i+1,1} x_i + W_{i+1,3} σ[W_{i+1,2}(W_{i+1,1} x_i) + b_{i+1,2}] + b_{i+1,3}, both lines."""
    of = Layers("transformer")
    A, B, C, b, c = of.parameters(j)
    x = of.x(i)
    first = A @ x + C @ m.Activation(B @ (A @ x) + b) + c
    second = A @ x + C @ m.Activation((B @ A) @ x + b) + c
    block = of.apply(j, x)
    both = [Step("first line", first, block, {}), Step("second line", second, block, {})]
    yield from proved(
        both, method=Method.NORMAL_FORM, what="both lines are attention followed by the feed-forward part"
    )


def _equation_30_left(settings: Settings) -> Iterator[Evidence]:
    """Attention and then the papers' own feed-forward part, W_2 σ(W_1 Y + b_1) + b_2, which acts on tokens (Eq. 6)."""
    of = Attention(m.dimension("h"))
    X, M, G = m.Letter("X", of.tokens, of.features(i)), of.features(j), m.dimension("G")
    first, second = m.Letter("W", G, of.tokens, (1,)), m.Letter("W", of.tokens, G, (2,))
    before, after = m.Letter("b", G, M, (1,)), m.Letter("b", of.tokens, M, (2,))
    Y, eye, vec = of.attend(j, X), m.Identity(M), m.Vectorised
    block = m.Addition(Y, second @ m.Activation(first @ Y + before), after)
    A, B, C = of.matrix(j, X), m.Kronecker(first, eye), m.Kronecker(second, eye)
    layer = m.Addition(A @ vec(X), C @ m.Activation(B @ (A @ vec(X)) + vec(before)), vec(after))
    what = "Eq. 30 with W_{i+1,2} = W_1 ⊗ I and W_{i+1,3} = W_2 ⊗ I, for every i, N, M, width and number of heads"
    yield from proved([Step("Eq. 30 from Eq. 6", vec(block), layer)], method=Method.NORMAL_FORM, what=what)


def _equation_31(index) -> Program:
    """Eq. 31 with W_{index,3} in front of σ, W_{i+1,2} already multiplied by W_{i+1,1}."""
    of = u.square_layers("transformer")
    A, B, _, b, c = of.parameters(j)
    value = (A @ of.x(i) + c) + of.C(index) @ m.Activation((B @ A) @ of.x(i) + b)
    return Program({of.x(j): value}, of.x(j))


def _decide_31(layer: PyTree, settings: Settings) -> Iterator[Evidence]:
    of = u.square_layers("transformer")
    network = Program({of.x(j): of.apply(j, of.x(i))}, of.x(j))
    yield from settle(network, _equation_31(layer), what="Eq. 31 against Eq. 30, for every i")


# --- Eq. 32 --------------------------------------------------------------------------------------------------------

UAT = m.Letter("U", u.D, 1, (i,))  # UAT_i^R
LETS = (
    Assignment(W1(j), W1(j) @ W1(i)),
    Assignment(b3(j), W1(j) @ b3(i) + b3(j)),
    Assignment(UAT, W1(j) @ UAT),
    Assignment(W2(j), W2(j) @ W1(i)),
    Assignment(b2(j), (W2(j) @ b3(i) + b2(j)) + W2(j) @ UAT),
)
_LETS_LATEX = (
    r"\mathbf{W}'_{i+1,1}=\mathbf{W}'_{i+1,1}\mathbf{W}_{i,1},\ \mathbf{b}'_{i+1,3}=(\mathbf{W}'_{i+1,1}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,3}),\ "
    r"UAT^R_i=\mathbf{W}'_{i+1,1}UAT^R_i,\ \mathbf{W}'_{i+1,2}=\mathbf{W}'_{i+1,2}\mathbf{W}_{i,1},\ "
    r"\mathbf{b}'_{i+1,2}=(\mathbf{W}'_{i+1,2}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,2})+\mathbf{W}'_{i+1,2}UAT^R_i"
)


def _equation_32(settings: Settings) -> Iterator[Evidence]:
    """The substitution: x_i = (W_{i,1} x_0 + b_{i,3}) + UAT_i^R put into Eq. 31."""
    of = Layers("transformer")
    closed = ClosedForm(of)
    A, B, C, b, c = of.parameters(j)
    P, q, U, x = closed.W1(i), closed.b3(i), closed.u(i), of.x(0)
    W = B @ A
    middle = (A @ ((P @ x + q) + U) + c) + C @ m.Activation(W @ ((P @ x + q) + U) + b)
    last = (A @ P @ x + (A @ q + c)) + A @ U + C @ m.Activation(W @ P @ x + (W @ q + b) + W @ U)
    block = of.apply(j, (P @ x + q) + U)
    lines = [Step("second line", middle, block, {}), Step("third line", last, block, {})]
    yield from proved(lines, method=Method.NORMAL_FORM, what="every line equals x_{i+1}, for every i and all shapes")


def _equation_32_as_printed() -> OneEdit:
    """The last line with W_{i,3} before σ."""
    of = u.square_layers("transformer")
    closed = ClosedForm(of)
    A, B, _, b, c = of.parameters(j)
    P, q, U, x = closed.W1(i), closed.b3(i), closed.u(i), of.x(0)
    W = B @ A
    sigma = m.Activation(W @ P @ x + (W @ q + b) + W @ U)
    line = lambda layer: (A @ P @ x + (A @ q + c)) + A @ U + of.C(layer) @ sigma
    step = Step("x_{i+1}", of.apply(j, (P @ x + q) + U), line(i))
    return equation(step, line(j), what="Eq. 32 with W_{i,3}, for every i")


def _lets_32(order: str, settings: Settings) -> Iterator[Evidence]:
    """Eq. 32's assignments, then x_{i+1} = (W_{i+1,1} x_0 + b_{i+1,3}) + UAT_i^R + W_{i+1,3} σ(W_{i+1,2} x_0 + b_{i+1,2})."""
    of = u.square_layers("transformer")
    closed = ClosedForm(of)
    A, B, C, b, c = of.parameters(j)
    store: dict[m.Letter, m.Expression] = {
        W1(i): closed.W1(i), b3(i): closed.b3(i), UAT: closed.u(i),
        W1(j): A, W2(j): B @ A, W3(j): C, b2(j): b, b3(j): c,
    }  # fmt: skip
    value = (W1(j) @ u.X0 + b3(j)) + UAT + W3(j) @ m.Activation(W2(j) @ u.X0 + b2(j))
    printed = u.run(store, [u.ORDERS[order](LETS)], of.x(j), value)
    x = m.Addition(closed.affine(i), closed.u(i))
    pair = Program({of.x(j): of.apply(j, x)}, of.x(j)), printed
    yield from settle(*pair, what="Eq. 32 with its assignments, for every i")


_SLIPS = "W_{i+1,3} for the printed W_{i,3}, b_{i,3} for b_{i,1}"
_31 = (
    r"\mathbf{x}'_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}'_i+\mathbf{b}'_{i+1,3})"
    r"+\mathbf{W}'_{i,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}'_i+\mathbf{b}'_{i+1,2})"
)

_28_29 = (
    r"MHA(\mathbf{x}_i)\mapsto\mathbf{W}'_{i,1}\mathbf{x}'_i,\quad "
    r"FFN(\mathbf{x}_i)\mapsto\mathbf{W}'_{i,3}\sigma(\mathbf{W}'_{i,2}\mathbf{x}'_i+\mathbf{b}'_{i,2})+\mathbf{b}'_{i,3}"
)

CLAIMS = (
    Claim(
        id="eq-26",
        title="the affine part of layer i+1",
        ledger="G8",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 26), v2("C.1", 7)),
        printed=r"\mathbf{W}'_{i+1,1}\mathbf{x}'_i+\mathbf{b}'_{i+1,3}\cdots=\{[\mathbf{W}'_{i+1,1}\mathbf{W}'_{i,1}\mathbf{x}'_0+(\mathbf{W}'_{i+1,1}\mathbf{b}'_{i,1}+\mathbf{b}'_{i+1,3})]+\mathbf{W}'_{i+1,1}UAT_i^R\}",
        reading="b_{i,1} is a slip for b_{i,3}",
        expects=Verdict.PROVED,
        decide=_equation_26,
    ),
    Claim(
        id="eq-27",
        title="the σ-term of layer i+1",
        ledger="G8",
        kind=Kind.IDENTITY,
        sources=(duat("B.2", 27), v2("C.1", 8)),
        printed=r"\mathbf{W}'_{i+1,3}\sigma(\mathbf{W}'_{i+1,2}\mathbf{x}'_i+\mathbf{b}'_{i+1,2})=\cdots=\mathbf{W}'_{i+1,3}\sigma\{\mathbf{W}'_{i+1,2}\mathbf{W}'_{i,1}\mathbf{x}'_0+(\mathbf{W}'_{i+1,2}\mathbf{b}'_{i,1}+\mathbf{b}'_{i+1,2})+\mathbf{W}'_{i+1,2}UAT_i^R\}",
        reading="b_{i,1} is a slip for b_{i,3}",
        expects=Verdict.PROVED,
        decide=_equation_27,
    ),
    Claim(
        id="eq-28-29.printed",
        title="attention and feed-forward part of layer i+1, with index i",
        ledger="G11",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 28, 29),),
        printed=_28_29,
        reading="the operations that Eq. 30 applies to x_i, with the parameters of layer i",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="eq-28-29.corrected",
        decide=OneEdit(i, j, _index_of_28),
    ),
    Claim(
        id="eq-28-29.corrected",
        title="attention and feed-forward part of layer i+1, with index i+1",
        ledger="G11",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 28, 29),),
        printed=_28_29.replace("{i,", "{i+1,"),
        reading="W_{i+1,1} = W_HVO(x_i); the feed-forward part acts on features",
        expects=Verdict.PROVED,
        decide=_corrected_28_29,
    ),
    Claim(
        id="eq-31.matches-eq-20",
        otherwise=("v2",),
        title="a Transformer layer has the form of the general residual term",
        ledger="G12",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 31), duat("B.2", 20), v2("C.2")),
        printed=r"\text{Clearly, Eq. 31 matches the mathematical form presented in Section B.2}",
        reading="W_{i+1,3} for the printed W_{i,3}; W_{i+1,2} stands for W_{i+1,2}W_{i+1,1}",
        expects=Verdict.PROVED,
        decide=_matches_20,
    ),
    Claim(
        id="eq-30",
        title="the general term of a Transformer",
        ledger="G12",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 30), v2("C.2", 9)),
        printed=r"\mathbf{x}'_{i+1}=\mathbf{W}'_{i+1,1}\mathbf{x}'_i+\mathbf{W}'_{i+1,3}\sigma[\mathbf{W}'_{i+1,2}(\mathbf{W}'_{i+1,1}\mathbf{x}'_i)+\mathbf{b}'_{i+1,2}]+\mathbf{b}'_{i+1,3}",
        expects=Verdict.PROVED,
        decide=_equation_30,
    ),
    Claim(
        id="eq-30.left",
        title="the general term of a Transformer with the feed-forward part of Eq. 6",
        ledger="G12",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 30), duat("3.1", 6), v2("C.2", 9)),
        printed=r"\mathbf{x}'_{i+1}=\mathbf{W}'_{i+1,1}\mathbf{x}'_i+\mathbf{W}'_{i+1,3}\sigma[\mathbf{W}'_{i+1,2}(\mathbf{W}'_{i+1,1}\mathbf{x}'_i)+\mathbf{b}'_{i+1,2}]+\mathbf{b}'_{i+1,3}",
        reading="the feed-forward part as printed, acting on tokens: W_2 σ(W_1 x + b_1) + b_2 with b_1, b_2 of the shapes of Eq. 6",
        expects=Verdict.PROVED,
        decide=_equation_30_left,
    ),
    Claim(
        id="eq-31.printed",
        title="Eq. 31 with W_{i,3} as printed",
        ledger="G12",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 31), v2("C.2")),
        printed=_31,
        reading="W_{i+1,2} already stands for W_{i+1,2}W_{i+1,1}",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="eq-31.corrected",
        decide=OneEdit(i, j, _decide_31),
    ),
    Claim(
        id="eq-31.corrected",
        title="Eq. 31 with W_{i+1,3}",
        ledger="G12",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 31),),
        printed=_31.replace(r"\mathbf{W}'_{i,3}", r"\mathbf{W}'_{i+1,3}"),
        reading="W_{i+1,2} already stands for W_{i+1,2}W_{i+1,1}",
        hypotheses=SQUARE,
        expects=Verdict.PROVED,
        decide=lambda settings: _decide_31(j, settings),
    ),
    Claim(
        id="eq-32",
        title="the substitution of the closed form of i layers",
        ledger="G13",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 32), v2("C.2", 11)),
        printed=r"\mathbf{x}'_{i+1}=\cdots=[\mathbf{W}'_{i+1,1}\mathbf{W}_{i,1}\mathbf{x}_0+(\mathbf{W}'_{i+1,1}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,3})]+\mathbf{W}'_{i+1,1}UAT_i^R+\cdots",
        reading=_SLIPS,
        expects=Verdict.PROVED,
        decide=_equation_32,
    ),
    Claim(
        id="eq-32.printed",
        title="Eq. 32 with W_{i,3} as printed",
        ledger="G12, G13",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 32), v2("C.2", 11)),
        printed=r"\mathbf{x}'_{i+1}=\cdots+\mathbf{W}'_{i,3}\sigma\{\mathbf{W}'_{i+1,2}\mathbf{W}_{i,1}\mathbf{x}_0+(\mathbf{W}'_{i+1,2}\mathbf{b}_{i,1}+\mathbf{b}'_{i+1,2})+\mathbf{W}'_{i+1,2}UAT_i^R\}",
        reading="the factor before σ as printed; b_{i,3} for b_{i,1}; W_{i+1,2} already stands for W_{i+1,2}W_{i+1,1}",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="eq-32",
        decide=_equation_32_as_printed(),
    ),
    Claim(
        id="eq-32.simultaneous",
        title="the five assignments after Eq. 32, made at once",
        ledger="G13",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 32),),
        printed=_LETS_LATEX,
        reading=f"every right-hand side is the old value; {_SLIPS}",
        hypotheses=SQUARE,
        expects=Verdict.PROVED,
        decide=lambda settings: _lets_32("at once", settings),
    ),
    Claim(
        id="eq-32.sequential",
        title="the five assignments after Eq. 32, in printed order",
        ledger="G13",
        kind=Kind.IDENTITY,
        sources=(duat("B.3", 32),),
        printed=_LETS_LATEX,
        reading=f"each assignment overwrites; {_SLIPS}",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="eq-32.simultaneous",
        decide=OneEdit("one after the other", "at once", _lets_32),
    ),
)  # fmt: skip
