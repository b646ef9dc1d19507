"""What having the form of a sum does not give a Transformer: density (A9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import permutations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Rational

from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.confirmation import proved
from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.figures import Permutations
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.foundations.elementary import equations, near_two, resting_on
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.networks import TransformerLayer, transformer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import TOKENS as ALL_TOKENS
from uat_jax.symbolic.heads import Heads, scaled_softmax
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.step import Step

# --- without positions, attention cannot tell tokens apart -----------------------------------------------------


def equivariance() -> tuple[Step, ...]:
    """T(ΠX) = Π T(X) up to terms with ΠᵀΠ − I, 1 − Π1 and 1 − Πᵀ1, which vanish for a permutation matrix Π.

    The normal form knows nothing of permutations: the remainders are written out, and the equations hold for every Π.
    softmax(ΠSΠᵀ) = Π softmax(S) Πᵀ and σ(ΠZ) = Π σ(Z) lie between them: exp and σ move with the entries, and the sums of
    the rows by which softmax divides, E 1 with E = exp(S), are those of ΠEΠᵀ in the order Π.
    """
    of = Attention(m.dimension("h"))
    i, size, features = sympy.Symbol("i", integer=True, positive=True), of.tokens, of.features(0)
    X, P, H = m.Letter("X", size, features), m.Letter("Π", size, size), m.Letter("H", size, size, (i,))
    Y, S = m.Letter("Y", size, of.features(1)), m.Letter("S", size, of.hidden_features(1))
    V1, v1_, V2, v2_ = of.feed_forward(1)
    eye, one, value = m.Identity(size), m.Ones(size, 1), of.value_output(1, i)
    scores = lambda x: (x @ of.select(1, i) @ of.weight("Q", 1, i)) @ (x @ of.select(1, i) @ of.weight("K", 1, i)).T
    moved, kept, E = one - P @ one, P.T @ P - eye, m.Letter("E", size, size)
    return (
        Step("scores of ΠX", scores(P @ X), P @ scores(X) @ P.T),
        Step("sums of rows", m.Product(P, E, P.T, one), P @ (E @ one) - m.Product(P, E, one - P.T @ one)),
        Step(
            "head i of ΠX",
            (P @ H @ P.T) @ (P @ X) @ value,
            P @ (H @ X @ value) + P @ H @ kept @ X @ value,
        ),
        Step("hidden layer of ΠY", P @ Y @ V1 + one @ v1_.T, P @ (Y @ V1 + one @ v1_.T) + moved @ v1_.T),
        Step(
            "block of ΠY",
            P @ Y + (P @ S) @ V2 + one @ v2_.T,
            P @ (Y + S @ V2 + one @ v2_.T) + moved @ v2_.T,
        ),
    )


Orders = Callable[[Iterable[int]], Iterable[tuple[int, ...]]]


def permutation_facts(orders: Orders = permutations, largest: int = 4) -> Evidence:
    """For every permutation matrix Π of up to 4 tokens: ΠᵀΠ = I, Π1 = 1, softmax(ΠSΠᵀ) = Π softmax(S) Πᵀ.

    The entries of exp(S) are symbols; ``orders`` gives the rows of I that make up Π.
    """
    what, cases = "ΠᵀΠ = I, Π1 = 1, softmax(ΠSΠᵀ) = Π softmax(S) Πᵀ", []
    for size in range(1, largest + 1):
        scores = sympy.Matrix(size, size, lambda row, column: sympy.Symbol(f"e_{row}_{column}"))
        cases += [(order, _permutes(sympy.eye(size)[list(order), :], scores)) for order in orders(range(size))]
    wrong = next((order for order, holds in cases if not holds), None)
    if wrong is not None:
        return Evidence(Method.ENTRY_BY_ENTRY, f"{what}: not for {wrong}", Verdict.UNKNOWN)
    finding = f"{what}, for all {len(cases)} permutations of up to {largest} tokens"
    order = Assumption(AssumptionKind.ORDER_OF_SUMS, {"tokens": largest})
    return Evidence(Method.ENTRY_BY_ENTRY, finding, Verdict.CERTIFIED, Permutations(len(cases)), (order,))


def _permutes(P: Any, scores: Any) -> bool:
    one = sympy.ones(P.rows, 1)
    commutes = _row_softmax(P * scores * P.T) == P * _row_softmax(scores) * P.T
    return P.T * P == sympy.eye(P.rows) and P * one == one and commutes


def _row_softmax(exponentials: Any) -> Any:
    """Rows divided by their sums."""
    sums = [sympy.Add(*exponentials.row(row)) for row in range(exponentials.rows)]
    return sympy.Matrix(*exponentials.shape, lambda row, column: exponentials[row, column] / sums[row])


TOKENS, WIDTHS = 3, ((2, 1, 1),) * 3 + ((2, 1, 2), (2, 2), (2,), (2, 2), (2,))
"""Three tokens, two heads on two features, two hidden features."""


GENERATORS = ((1, 0, 2), (1, 2, 0))
"""A swap and a rotation: every permutation of three tokens is made of them."""


def network_equivariance(after: tuple[tuple[int, ...], ...] = GENERATORS) -> Evidence:
    """The plain network on reordered tokens against its reordered outputs; ``after`` are the orders of the outputs."""
    network = lambda weights, x: transformer([TransformerLayer(*weights)], x, jax.nn.gelu)
    before = lambda weights, x: jnp.stack([network(weights, x[np.array(order)]) for order in GENERATORS])
    reordered = lambda weights, x: network(weights, x)[np.array(after)]
    what = f"the plain network, its {TOKENS} tokens swapped and rotated"
    return confirm_functions(before, reordered, [WIDTHS, (TOKENS, 2)], what=what)


def _equivariant(settings: Settings) -> Iterator[Evidence]:
    yield from proved(equivariance(), method=Method.NORMAL_FORM, what="T(ΠX) = Π T(X) for every N, M and h")
    yield permutation_facts()
    yield network_equivariance()


def equal_tokens(rows: Callable[..., m.Expression] = m.Ones) -> Iterator[Evidence]:
    """Where all tokens are equal, all outputs of attention are: MHA(1 r) = 1 (Σ_i r E_i W_Vi W_Oi), as H_i 1 = 1.

    ``rows(N, 1) r`` is the input; the feed-forward part then sees N times the same token.
    """
    of = Heads()
    X, r = rows(ALL_TOKENS, 1), m.Letter("r", 1, of.features)
    project = lambda x, name, i: x @ of.select(i) @ of.weight(name, i)
    pattern = lambda i: scaled_softmax(project(X @ r, "Q", i), project(X @ r, "K", i), of.features)
    out = lambda i: of.select(i).T @ of.output
    left = of.total(lambda i: pattern(i) @ project(X @ r, "V", i) @ out(i))
    step = Step("equal tokens", left, X @ of.total(lambda i: project(r, "V", i) @ out(i)))
    yield from proved([step], method=Method.NORMAL_FORM, what="equal tokens have equal outputs")


def _permutations(settings: Settings) -> Iterator[Evidence]:
    """At x = (1, 1) both outputs are one number c, layer by layer; f asks for 2 and 1."""
    bound = near_two(2, 1, Rational(1, 2), what="one number misses 2 or 1 by at least 1/2")
    at, names = {"x": [1, 1], "f": "(2x_1, x_2)", "ε": "1/4"}, ("least error", "promised: below")
    example = exhibit_numbers(Rational(1, 2), Rational(1, 4), at=at, what="two tokens of one feature", names=names)
    equal = next(equal_tokens())
    yield resting_on([equal, bound], example)


# --- a fixed size is not dense -------------------------------------------------------------------------------

POINTS = tuple(Rational(2 * k - 1, 10) for k in range(1, 6))
"""Where sin 5πx is 1, −1, 1, −1, 1."""


def alternation(claimed: Any) -> Iterator[Evidence]:
    """G = a x + c + w σ(v x + b) misses sin 5πx by at least 1, if σ' rises up to some point and falls from there on.

    G' then also does (or −G' does), so that its mean slopes d_1, …, d_4 between the five points satisfy d_3 ≥ d_2 or
    d_3 ≥ d_4 (or, for −G', d_2 ≤ d_1 or d_2 ≤ d_3).  Each of the four cases contradicts an error below 1.
    """
    error, *G = sympy.symbols("e G1:6", real=True)
    near = [abs(value - (-1) ** k) <= error for k, value in enumerate(G)]
    d = [b - a for a, b in zip(G, G[1:], strict=False)]
    cases = {"d_3 ≥ d_2": d[2] >= d[1], "d_3 ≥ d_4": d[2] >= d[3], "d_2 ≤ d_1": d[1] <= d[0], "d_2 ≤ d_3": d[1] <= d[2]}
    for name, shape in cases.items():
        what = f"{name}: the error is at least {claimed}"
        yield proved_inequality(error >= claimed, [*near, shape], what=what, subject=name)


def unimodal(points: tuple[Any, ...] = POINTS) -> Evidence:
    """sin 5πx alternates at the points; the logistic σ' rises up to 0 and falls from there on: σ'' = σ'(1 − 2σ)."""
    t = sympy.Symbol("t", real=True)
    sigma = 1 / (1 + sympy.exp(-t))
    facts = {f"sin 5πx = {(-1) ** k} at {x}": (sympy.sin(5 * sympy.pi * x), (-1) ** k) for k, x in enumerate(points)}
    facts["σ'' = σ'(1 − 2σ)"] = (sigma.diff(t, 2), sigma.diff(t) * (1 - 2 * sigma))
    facts["σ(0) = 1/2"] = (sigma.subs(t, 0), Rational(1, 2))
    return equations(facts, what="alternation", subject="the points and σ")


def _one_unit_bound(settings: Settings) -> Iterator[Evidence]:
    yield unimodal()
    yield from alternation(1)


def _one_unit(settings: Settings) -> Iterator[Evidence]:
    at, names = {"f": "sin 5πx", "ε": "1/2"}, ("least sup error", "promised: below")
    example = exhibit_numbers(1, Rational(1, 2), at=at, what="one token, one feature, one hidden unit", names=names)
    yield resting_on([unimodal(), *alternation(1)], example)


# --- the rows -------------------------------------------------------------------------------------------------------

_ANY_FUNCTION = r"\text{enabling them to approximate any Borel measurable function}"

CLAIMS = (
    Claim(
        id="uat.any-function.permutations",
        title="Transformers approximate any function: f(x) = (2x_1, x_2, …, x_N)",
        ledger="A9",
        kind=Kind.EXISTENCE,
        sources=(v1("4.1"), v2("4.1")),
        printed=_ANY_FUNCTION,
        reading="uniformly, by any depth and width without positional encodings: where all tokens are equal all outputs "
        "are, and f asks for 2 and 1",
        hypotheses=("the feed-forward part acts on each token, as in Transformers", "nothing depends on the positions"),
        expects=Verdict.REFUTED,
        correction="uat.permutation-equivariance",
        decide=_permutations,
    ),
    Claim(
        id="uat.permutation-equivariance",
        title="a Transformer without positions commutes with permutations of its tokens",
        ledger="A9",
        kind=Kind.IDENTITY,
        sources=(v1("4.1"), v2("4.1")),
        printed=r"T(\Pi\mathbf{x})=\Pi\,T(\mathbf{x})",
        reading="not printed: each head, the sum over the heads, the feed-forward part and so every block and every depth",
        hypotheses=("Π is a permutation matrix", "the feed-forward part acts on each token", ELEMENTWISE),
        expects=Verdict.PROVED,
        decide=_equivariant,
    ),
    Claim(
        id="uat.any-function.one-unit",
        title="having the form of Eq. 11 makes a network approximate any function",
        ledger="A9",
        kind=Kind.EXISTENCE,
        sources=(v1("4.1"), v2("4.1")),
        printed=_ANY_FUNCTION,
        reading="a Transformer of a given size, here one token, feature, layer and hidden unit: a x + c + w σ(v x + b)",
        hypotheses=("σ is logistic (or any σ whose derivative rises to one point and falls from there on)",),
        expects=Verdict.REFUTED,
        correction="uat.any-function.one-unit.corrected",
        decide=_one_unit,
    ),
    Claim(
        id="uat.any-function.one-unit.corrected",
        title="one hidden unit misses sin 5πx by at least 1, as much as 0 does",
        ledger="A9",
        kind=Kind.INEQUALITY,
        sources=(v1("4.1"), v2("4.1")),
        printed=r"\sup_{0\le x\le1}|ax+c+w\,\sigma(vx+b)-\sin5\pi x|\ge1\quad\text{for all }a,b,c,v,w",
        reading="density needs a size that grows with 1/ε; with depth and positions it holds (Yun et al.)",
        hypotheses=("σ is logistic (or any σ whose derivative rises to one point and falls from there on)",),
        expects=Verdict.PROVED,
        decide=_one_unit_bound,
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="uat.transformers-dense",
        ledger="A9",
        status=Status.CITED,
        sources=(duat("1"),),
        says="Transformers of unbounded depth approximate every continuous permutation-equivariant function on a compact "
        "set, and with positional encodings every continuous one.",
        note="Yun, Bhojanapalli, Rawat, Reddi and Kumar 2019: the density that the form of Eq. 11 does not give.",
    ),
    Record(
        id="uat.more-powerful",
        ledger="A9",
        status=Status.NO_CONTENT,
        sources=(duat("4.1"),),
        says="Transformers have more powerful approximation ability than UAT.",
        note="DUAT's softer wording of “any Borel measurable function”; no order of abilities is defined.",
    ),
)  # fmt: skip
