"""What having the form of a sum does not give a Transformer: density (A9)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import permutations
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Rational

from uat_jax.decide.confirmation import proved
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.foundations.elementary import Promise, equations, near_both, near_two
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.networks import TransformerLayer, transformer
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import HEAD, WIDTH, Heads, scaled_softmax
from uat_jax.symbolic.heads import TOKENS as ALL_TOKENS
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.step import Step

# --- without positions, attention cannot tell tokens apart -----------------------------------------------------


def equivariance() -> tuple[Step, ...]:
    """T(ΠX) = Π T(X) up to terms with ΠᵀΠ − I, 1 − Π1 and 1 − Πᵀ1, which vanish for a permutation matrix Π.

    The normal form knows nothing of permutations: the remainders are written out, and the equations hold for every Π.
    What lies between them, softmax(ΠSΠᵀ) = Π softmax(S) Πᵀ, is `neighbours_exchanged`; σ acts on every entry.
    """
    of = Attention(m.dimension("h"))
    i, size, features = sympy.Symbol("i", integer=True, positive=True), of.tokens, of.features(0)
    X, P, H = m.Letter("X", size, features), m.Letter("Π", size, size), m.Letter("H", size, size, (i,))
    Y, S = m.Letter("Y", size, of.features(1)), m.Letter("S", size, of.hidden_features(1))
    V1, v1_, V2, v2_ = of.feed_forward(1)
    eye, one, value = m.Identity(size), m.Ones(size, 1), of.value_output(1, i)
    scores = lambda x: (x @ of.select(1, i) @ of.weight("Q", 1, i)) @ (x @ of.select(1, i) @ of.weight("K", 1, i)).T
    moved, kept = one - P @ one, P.T @ P - eye
    return (
        Step("scores of ΠX", scores(P @ X), P @ scores(X) @ P.T),
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


def neighbours_exchanged() -> tuple[Step, ...]:
    """What a token q sees of the tokens P, a, b, R, in this order and with a and b exchanged, for any number of tokens.

    Ĥ_i at q is a quotient of two sums over all tokens, Σ exp(q kᵀ) v and Σ exp(q kᵀ); σ stands for exp of the scores
    over √M.  Neither changes with a and b, and so no quotient does: the outputs change places with their tokens.  Every
    permutation is made of exchanges of neighbours.
    """
    before, after, (own, a, b) = m.dimension("n"), m.dimension("k"), (_token(name, 1) for name in "qab")
    P, R = _token("P", before), _token("R", after)
    exponential = lambda part: m.Activation(_project(own, "Q") @ _project(part, "K").T)
    value = lambda part: exponential(part) @ _project(part, "V")
    weight = lambda part: exponential(part) @ m.Ones(part.shape[0], 1)
    total = lambda of, *order: m.Addition(*map(of, order))
    sums = {"numerator of softmax": value, "denominator of softmax": weight}
    return tuple(Step(name, total(of, P, a, b, R), total(of, P, b, a, R)) for name, of in sums.items())


def _token(name: str, rows: sympy.Expr | int) -> m.Letter:
    """Slice i of some tokens, rows × d."""
    return m.Letter(name, rows, WIDTH, (HEAD,))


def _project(tokens: m.Expression, name: str) -> m.Expression:
    return tokens @ Heads().weight(name, HEAD)


TOKENS, WIDTHS = 3, ((2, 1, 1),) * 3 + ((2, 1, 2), (2, 2), (2,), (2, 2), (2,))
"""Three tokens, two heads on two features, two hidden features."""


ORDERS = tuple(permutations(range(TOKENS)))


def network_equivariance(after: tuple[tuple[int, ...], ...] = ORDERS) -> Evidence:
    """The plain network on reordered tokens against its reordered outputs; ``after`` are the orders of the outputs."""
    network = lambda weights, x: transformer([TransformerLayer(*weights)], x, jax.nn.gelu)
    before = lambda weights, x: jnp.stack([network(weights, x[np.array(order)]) for order in ORDERS])
    reordered = lambda weights, x: network(weights, x)[np.array(after)]
    what = f"the plain network, its {TOKENS} tokens in every order"
    return confirm_functions(before, reordered, [WIDTHS, (TOKENS, 2)], what=what)


def _equivariant(settings: Settings) -> Iterator[Evidence]:
    steps = (*equivariance(), *neighbours_exchanged())
    yield from proved(steps, method=Method.NORMAL_FORM, what="T(ΠX) = Π T(X) for every N, M and h")
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


def equal_outputs_bound(error: sympy.Expr) -> Iterator[Evidence]:
    """At x = (1, 1) both outputs are one number, layer by layer; f asks for 2 and 1."""
    yield next(equal_tokens())
    yield near_two(2, 1, error, what=f"one number misses 2 or 1 by at least {error}")


def _between(error: sympy.Expr) -> Evidence:
    """The number 3/2 for both outputs."""
    return near_both(Rational(3, 2), 2, 1, error)


PERMUTED = Promise(equal_outputs_bound, _between, "two tokens of one feature", {"x": [1, 1], "f": "(2x_1, x_2)"})
"""At x = (1, 1) some Transformer without positions is within ε of f."""

# --- a fixed size is not dense -------------------------------------------------------------------------------

POINTS = tuple(Rational(2 * k - 1, 10) for k in range(1, 6))
"""Where sin 5πx is 1, −1, 1, −1, 1."""


def middle_slope() -> Iterator[Evidence]:
    """Where a derivative rises up to a point and falls from there on, a mean slope is not below both its neighbours'.

    d_2, d_3, d_4 are mean slopes of three neighbouring pieces, g_3 and g_4 the derivative at the ends of the middle one.
    """
    before, slope, after, start, end = sympy.symbols("d_2 d_3 d_4 g_3 g_4", real=True)
    highest_point = {
        "behind the middle piece": [before <= start, start <= slope],
        "in the middle piece": [before <= start, after <= end, slope >= sympy.Min(start, end)],
        "before the middle piece": [slope >= end, end >= after],
    }
    for where, mean_values in highest_point.items():
        what = f"d_3 ≥ min(d_2, d_4) where the derivative is highest {where}"
        yield proved_inequality(slope >= sympy.Min(before, after), mean_values, what=what, subject=where)


def alternation(claimed: object) -> Iterator[Evidence]:
    """G = a x + c + w σ(v x + b) misses sin 5πx by at least 1, if σ' rises up to some point and falls from there on.

    G' then also does, so that its mean slopes d_1, …, d_4 between the five points satisfy d_3 ≥ min(d_2, d_4); or −G'
    does, and d_2 ≤ max(d_1, d_3) (`middle_slope`).  Both contradict an error below 1.
    """
    error, *G = sympy.symbols("e G1:6", real=True)
    near = [abs(value - (-1) ** k) <= error for k, value in enumerate(G)]
    d = [b - a for a, b in zip(G, G[1:], strict=False)]
    shapes = {
        "G' rises, then falls": d[2] >= sympy.Min(d[1], d[3]),
        "G' falls, then rises": d[1] <= sympy.Max(d[0], d[2]),
    }
    for name, shape in shapes.items():
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


def one_unit_bound(error: Any) -> Iterator[Evidence]:
    """One hidden unit misses sin 5πx by at least that much."""
    yield unimodal()
    yield from middle_slope()
    yield from alternation(error)


def _zero(error: sympy.Expr) -> Evidence:
    """G = 0, with w = 0, is as far from the sine as that is from 0."""
    s = sympy.Symbol("sin 5πx", real=True)
    return proved_inequality(abs(0 - s) <= error, [s <= 1, s >= -1], what=f"G = 0 is within {error} of the sine")


ONE_UNIT = Promise(one_unit_bound, _zero, "one token, one feature, one hidden unit", {"f": "sin 5πx"})
"""Some network of that size is within ε of the sine."""

# --- the rows -------------------------------------------------------------------------------------------------------

_ANY_FUNCTION = r"\text{enabling them to approximate any Borel measurable function}"

CLAIMS = (
    Claim(
        id="uat.any-function.permutations",
        otherwise=("v1",),
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
        decide=OneEdit(Rational(1, 4), Rational(1, 2), PERMUTED),
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
        otherwise=("v1",),
        title="having the form of Eq. 11 makes a network approximate any function",
        ledger="A9",
        kind=Kind.EXISTENCE,
        sources=(v1("4.1"), v2("4.1")),
        printed=_ANY_FUNCTION,
        reading="a Transformer of a given size, here one token, feature, layer and hidden unit: a x + c + w σ(v x + b)",
        hypotheses=("σ is logistic (or any σ whose derivative rises to one point and falls from there on)",),
        expects=Verdict.REFUTED,
        correction="uat.any-function.one-unit.corrected",
        decide=OneEdit(Rational(1, 2), Rational(1), ONE_UNIT),
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
        decide=lambda settings: one_unit_bound(1),
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
