"""Depth separates (a): a network of width 1 and L layers is no fixed relu sum of fewer than 2^L − 1 terms.

The layer x ↦ 2 x − 4 relu(x − ½) is Eq. 20 with A = 2, B = 1, C = −4, b = −½, c = 0; on [0, 1] it is the tent.

    x_L = 2^L x − k for even k, and k + 1 − 2^L x for odd k, wherever k ≤ 2^L x ≤ k + 1

So x_L breaks at every k / 2^L, 0 < k < 2^L.  A term α relu(w x + θ) breaks at −θ / w alone.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from fractions import Fraction
from typing import Any

import sympy
from sympy import Eq, Rational

from uat_jax.decide.counts import Said, counted
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import of_recurrence
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import Kind
from uat_jax.symbolic import language as m
from uat_jax.symbolic.derivation import closed_form
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers

L = m.dimension("L")
Shape = Mapping[sympy.Symbol, int]
Parameters = tuple[Any, Any, Any]

TENT: Parameters = (2, -4, -Rational(1, 2))
"""A, C and b of every layer; B is 1 and c is 0."""


def layer(x: Any, relu: Callable[[Any], Any], parameters: Parameters = TENT) -> Fraction | int:
    """A x + C relu(x + b), all numbers of width 1."""
    A, C, b = parameters
    return A * x + C * relu(x + b)


def _relu(number: sympy.Expr) -> sympy.Expr:
    return sympy.Max(number, 0)


# --- the pieces ---------------------------------------------------------------------------------------------------------

y, k = sympy.symbols("y k", real=True)
"""y = 2^L x, and the number of a piece."""


def piece(y: sympy.Expr, k: sympy.Expr, parity: str) -> sympy.Expr:
    """x_L on its piece k, where k ≤ y ≤ k + 1: it rises from 0 to 1 on even pieces and falls on odd ones."""
    return y - k if parity == "even" else k + 1 - y


def next_pieces(parameters: Parameters = TENT) -> Iterator[Evidence]:
    """One layer more cuts piece k into the pieces 2 k, which is even, and 2 k + 1, which is odd; 2^(L+1) x = 2 y."""
    for parity in ("even", "odd"):
        value = layer(piece(y, k, parity), _relu, parameters)
        for child, number in (("even", 2 * k), ("odd", 2 * k + 1)):
            inside = [number <= 2 * y, 2 * y <= number + 1]
            claim = Eq(value, piece(2 * y, number, child))
            what = f"the {child} half of an {parity} piece" if parity == "even" else f"the {child} half of an odd piece"
            yield proved_inequality(claim, inside, what=what)


def first_piece() -> Evidence:
    """No layer: x_0 = x on the one piece 0 ≤ x ≤ 1."""
    return proved_inequality(*_on_piece_0(), what="L = 0: one piece")


def _on_piece_0() -> tuple[Any, list[Any]]:
    """y − k is y for k = 0."""
    return Eq(piece(y, k, "even"), y), [Eq(k, 0)]


def _pieces(settings: Settings) -> Iterator[Evidence]:
    yield first_piece()
    yield from next_pieces()


# --- the breaks ---------------------------------------------------------------------------------------------------------


def bends(bend: int = -2) -> Iterator[Evidence]:
    """Around the point y = k, x_L(k − h) − 2 x_L(k) + x_L(k + h) is −2 h or 2 h for 0 ≤ h ≤ 1, and not 0.

    ``bend`` is that of a point behind an even piece, over h: −2.
    """
    h = sympy.Symbol("h", nonnegative=True)
    before, here, after = sympy.symbols("x_L(k−h) x_L(k) x_L(k+h)", real=True)
    for left, right, sign in (("even", "odd", 1), ("odd", "even", -1)):
        on_them = [
            Eq(before, piece(k - h, k - 1, left)),
            Eq(here, piece(k, k, right)),
            Eq(after, piece(k + h, k, right)),
        ]
        claim = Eq(before - 2 * here + after, sign * bend * h)
        yield proved_inequality(claim, [h <= 1, *on_them], what=f"between an {left} and an {right} piece")


def number_of_breaks() -> sympy.Expr:
    """n_0 = 0, and n_{L+1} = 2 n_L + 1: the breaks of both halves, which are x_L on [0, 1], and the one at ½."""
    f, n = sympy.Function("f"), sympy.Symbol("n", integer=True)
    solution: Any = sympy.rsolve(f(n + 1) - 2 * f(n) - 1, f(n), {f(0): 0})
    return solution.subs(n, L)


def _recursive(after: Callable[[Any], Any]) -> Said:
    """How a number is told to a checker that is 0 for no layer, and ``after(n)`` where it was n, for one layer more."""
    layers = sympy.Symbol("L", integer=True, nonnegative=True)
    before = sympy.Symbol("n", integer=True, nonnegative=True)
    closed = lambda claimed: sympy.sympify(claimed).xreplace({L: layers})
    return lambda claimed, at: of_recurrence(
        layers, before, first=0, value=0, after=after(before), closed=closed(claimed)
    )


def breaks(shape: Shape) -> int:
    """At how many points of a grid four times as fine as the pieces the network itself bends."""
    depth = shape[L]
    steps = 2 ** (depth + 2)
    exact = (2, -4, Fraction(-1, 2))
    values = [Fraction(n, steps) for n in range(steps + 1)]
    for _ in range(depth):
        values = [layer(x, lambda number: max(number, 0), exact) for x in values]
    return sum(values[n - 1] - 2 * values[n] + values[n + 1] != 0 for n in range(1, steps))


def count(claimed: sympy.Expr) -> Iterator[Evidence]:
    """``claimed`` against the recurrence, and against the breaks of networks of 1 to 6 layers."""
    shapes = [{L: depth} for depth in range(1, 7)]
    said = _recursive(after=lambda n: 2 * n + 1)
    yield from counted(claimed, number_of_breaks(), what="breaks of x_L", measured=breaks, shapes=shapes, said=said)


def _breaks(settings: Settings) -> Iterator[Evidence]:
    yield from bends()
    yield from count(2**L - 1)


# --- fixed sums ---------------------------------------------------------------------------------------------------------


def straight_term(reach: Any = 1) -> Iterator[Evidence]:
    """relu(u − d) − 2 relu(u) + relu(u + d) = 0 unless |u| < |d|: a term does not bend within h of y if it breaks
    at no point there.  u is w y + θ, and d is w h; ``reach`` before |d| is 1.
    """
    u, d = sympy.symbols("u d", real=True)
    bend = _relu(u - d) - 2 * _relu(u) + _relu(u + d)
    yield proved_inequality(Eq(bend, 0), [abs(u) >= reach * abs(d)], what="a term that breaks elsewhere")
    S, term = sympy.symbols("S α·0", real=True)
    yield proved_inequality(Eq(S + term, 0), [Eq(S, 0), Eq(term, 0)], what="one term more")
    slope, constant, before, here, after = sympy.symbols("w c f(u−d) f(u) f(u+d)", real=True)
    line = lambda at: slope * at + constant
    on_it = [Eq(before, line(u - d)), Eq(here, line(u)), Eq(after, line(u + d))]
    yield proved_inequality(Eq(before - 2 * here + after, 0), on_it, what="the affine part")


def far_apart(distance: Any = 1) -> Evidence:
    """No number is within ½ of two whole numbers: they are at least ``distance`` = 1 apart."""
    z, first, second = sympy.symbols("z k m", real=True)
    near = [abs(z - first) < Rational(1, 2), second >= first + distance]
    return proved_inequality(abs(z - second) >= Rational(1, 2), near, what="each term bends x_L near one point only")


def pigeons() -> Evidence:
    """If every one of K points needs a term of its own, there are at least K terms: one point more, one term more."""
    terms, own, points = sympy.symbols("N n K", nonnegative=True)
    claim = terms + own >= points + 1
    return proved_inequality(claim, [terms >= points, own >= 1], what="one point more, one term more")


def _fixed_sum(settings: Settings) -> Iterator[Evidence]:
    yield from bends()
    yield from straight_term()
    yield far_apart()
    yield pigeons()
    yield from count(2**L - 1)


def hinges(bend: int = 2) -> Iterator[Evidence]:
    """x_L = y + Σ_{0<k<2^L} (−1)^k · 2 relu(y − k): from piece k to piece k + 1 the term of k + 1 is added.

    ``bend`` is that 2.
    """
    yield proved_inequality(*_on_piece_0(), what="piece 0: y")
    for parity, other, sign in (("even", "odd", -1), ("odd", "even", 1)):
        added = piece(y, k, parity) + sign * bend * _relu(y - (k + 1))
        what = f"from an {parity} piece to an {other} one"
        yield proved_inequality(Eq(added, piece(y, k + 1, other)), [y >= k + 1], what=what)
    value, later = sympy.symbols("x_L m", real=True)
    claim = Eq(value + bend * _relu(y - later), value)
    yield proved_inequality(claim, [y <= k + 1, later >= k + 1], what="later terms are 0 there")


def _reached(settings: Settings) -> Iterator[Evidence]:
    yield from hinges()
    yield from count(2**L - 1)


# --- the dynamic sum ----------------------------------------------------------------------------------------------------


def terms(shape: Shape) -> int:
    """How many σ the closed form of a residual network of L layers has."""
    return sum(line.has(m.Activation) for line in closed_form(Layers("residual"), shape[L]).values())


def number_of_terms() -> sympy.Expr:
    """n_0 = 0, and one layer more is one term more (Theorem 1)."""
    f, n = sympy.Function("f"), sympy.Symbol("n", integer=True)
    solution: Any = sympy.rsolve(f(n + 1) - f(n) - 1, f(n), {f(0): 0})
    return solution.subs(n, L)


def _dynamic(settings: Settings) -> Iterator[Evidence]:
    steps = closed_form_induction(Layers("residual"))
    yield prove(steps, method=Method.INDUCTION, what="the closed form of L layers, for every L (Theorem 1)")
    shapes = [{L: depth} for depth in range(1, 5)]
    said = _recursive(after=lambda n: n + 1)
    what = "terms of the closed form"
    yield from counted(L, number_of_terms(), what=what, measured=terms, shapes=shapes, said=said)


# --- rows ---------------------------------------------------------------------------------------------------------------

_TENT = "width 1, relu, and in every layer A = 2, B = 1, C = −4, b = −½, c = 0"
_SUM = "G(x) = w x + c + Σ_{j≤N} α_j relu(w_j x + θ_j), with any real parameters that do not depend on x"

CLAIMS = (
    row(
        "separation.pieces", "a", "the tent network is 2^L straight pieces, up and down",
        r"x_L=2^Lx-k\ (k\text{ even}),\quad x_L=k+1-2^Lx\ (k\text{ odd})\quad\text{for }k\le2^Lx\le k+1", _pieces,
        reading="for every L and 0 ≤ x ≤ 1", hypotheses=(_TENT,),
    ),
    row(
        "separation.breaks", "a", "the tent network of L layers has 2^L − 1 breaks", "2^L-1", _breaks, kind=Kind.COUNT,
        reading="the points inside [0, 1] at which the slope of x_L changes: all k / 2^L", hypotheses=(_TENT,),
    ),
    row(
        "separation.fixed-sum", "a", "a fixed relu sum equal to it has at least 2^L − 1 terms",
        r"G=x_L\text{ on }[0,1]\ \Rightarrow\ N\ge2^L-1", _fixed_sum, kind=Kind.INEQUALITY,
        reading=f"{_SUM}; around each k / 2^L, within 2^(−L−1), a term must break, and no term breaks near two of them",
        hypotheses=(_TENT, "G(x) = x_L for all 0 ≤ x ≤ 1"),
    ),
    row(
        "separation.reached", "a", "2^L − 1 terms are enough",
        r"x_L=2^Lx+\sum_{k=1}^{2^L-1}(-1)^k\,2^{L+1}\,\mathrm{relu}(x-k/2^L)", _reached,
        reading="for every L and 0 ≤ x ≤ 1; 2^(L+1) relu(x − k/2^L) is 2 relu(y − k) with y = 2^L x", hypotheses=(_TENT,),
    ),
    row(
        "separation.dynamic", "a", "the dynamic closed form of L layers has L terms", "L", _dynamic, kind=Kind.COUNT,
        reading="Eq. 11 with the parameters of Theorem 1, whose biases depend on x", hypotheses=("σ is applied to every element",),
    ),
)  # fmt: skip
