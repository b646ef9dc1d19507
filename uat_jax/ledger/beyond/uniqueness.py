"""Over all σ the coefficients of a sum of σ-letters are unique (c), up to what every sum of numbers admits.

Let E(σ, x) = w·x + c + Σ_k a_k s_k with s_k = σ(v_k), where each argument v_k is affine in x and in the s_i, i < k, and
no two of them are one affine function.  If E(σ, x) = 0 for all σ and all x, then w, c and every a_k are 0.  So two closed
forms that agree for all σ have the same letters with the same coefficients.

1. There is a point (x, t) at which no two v_k agree: the differences are affine functions that are not zero everywhere.
2. σ may take the value t_k at v_k for all k at once, and then s_k = t_k: bumps around the v_k do it.
3. E is then w·x + c + Σ_k a_k t_k.  Moving one t_j a little shows that a_j = 0; then w·x + c = 0 near x, so everywhere.
"""

from __future__ import annotations

from collections.abc import Iterator

import sympy
from sympy import Eq

from uat_jax.decide.confirmation import proved
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import Kind
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.step import Step

# --- 1: a point where the arguments differ -------------------------------------------------------------------------------


def one_difference_more(reach: int = 1) -> Iterator[Evidence]:
    """If none of some affine functions vanishes at a point, one more can be avoided too, by a step ε d from there.

    The new function f is 0 at the point, else there is nothing to do; as it is not zero everywhere, its slope s along some
    d is not.  The others, g, move by ε r; ε is so small that |ε r| < |g| for each of them.  ``reach`` before |g| is 1.
    """
    f, g, moved, slope = sympy.symbols("f g ε·r s", real=True)
    epsilon = sympy.Symbol("ε", positive=True)
    stays = [abs(g) > 0, abs(moved) < reach * abs(g)]
    yield proved_inequality(abs(g + moved) > 0, stays, what="the others do not vanish after the step")
    for sign, name in ((1, "positive"), (-1, "negative")):
        claim = sign * (f + epsilon * slope) > 0
        what = f"the new one does not vanish after the step, its slope being {name}"
        yield proved_inequality(claim, [Eq(f, 0), sign * slope > 0], what=what)
    constant = Eq(f + epsilon * slope, 0)
    yield proved_inequality(constant, [Eq(f, 0), Eq(slope, 0)], what="without a slope it would be zero everywhere")


# --- 2: σ with given values ----------------------------------------------------------------------------------------------


def bump(distance: sympy.Symbol, width: int = 1) -> sympy.Expr:
    """max(0, 1 − |distance|): 1 at distance 0 and 0 from distance ``width`` = 1 on; distances are in units of the gap."""
    return sympy.Max(0, width - abs(distance))


def separated(width: int = 1) -> Iterator[Evidence]:
    """A bump around v_k is 1 there and 0 at the other v_m, which are at least a gap away.

    It is continuous and vanishes far out, so that σ plus bumps is continuous and sigmoidal where σ is.
    """
    d = sympy.Symbol("d", real=True)
    yield proved_inequality(Eq(bump(d, width), 1), [Eq(d, 0)], what="a bump at its own argument")
    yield proved_inequality(Eq(bump(d, width), 0), [abs(d) >= 1], what="a bump at another argument, and far out")


def interpolated() -> Iterator[Evidence]:
    """Σ_m t_m β_m(v_k) = t_k, term by term: the own term is t_k · 1, the others are t_m · 0."""
    S, t, other = sympy.symbols("S t_k t_m·0", real=True)
    yield proved_inequality(Eq(S + other, S), [Eq(other, 0)], what="one more term of another letter")
    yield proved_inequality(Eq(S + t, t), [Eq(S, 0)], what="the own term")


def nested_letters() -> Step:
    """s_k = t_k for k ≤ i implies that the argument of letter i + 1 is v_{i+1}: it contains s_1, …, s_i only."""
    n, i, k = m.dimension("n"), INDEX, sympy.Symbol("k", integer=True, positive=True)
    x, w, theta = m.Letter("x", n, 1), m.Letter("w", 1, n, (i + 1,)), m.Letter("θ", 1, 1, (i + 1,))
    u, s, t = (lambda index, name=name: m.Letter(name, 1, 1, (index,)) for name in "ust")
    argument = lambda of: m.Addition(w @ x, theta, m.RangeSum(u(k) @ of(k), k, 1, i))
    given = lambda letter, ranges: (
        t(letter.subscripts[0]) if letter.name == "s" and ranges.get(letter.subscripts[0]) == i else None
    )
    return Step("the argument of letter i + 1", argument(s), argument(t), given)


# --- 3: the coefficients -------------------------------------------------------------------------------------------------


def no_coefficient() -> Iterator[Evidence]:
    """E = 0 at t and at t + h e_j with h > 0 gives a_j h = 0, so that a_j = 0."""
    E, a = sympy.symbols("E a_j", real=True)
    h = sympy.Symbol("h", positive=True)
    for claim in (a <= 0, a >= 0):
        yield proved_inequality(claim, [Eq(E, 0), Eq(E + a * h, 0)], what="E = 0 at two points, h apart")


def no_affine_part() -> Iterator[Evidence]:
    """w·x + c = 0 at x and at x + h e_i gives w_i h = 0; then c = 0."""
    value, w = sympy.symbols("w·x+c w_i", real=True)
    h = sympy.Symbol("h", positive=True)
    for claim in (w <= 0, w >= 0):
        yield proved_inequality(claim, [Eq(value, 0), Eq(value + w * h, 0)], what="w·x + c = 0 at two points, h apart")
    c, rest = sympy.symbols("c w·x", real=True)
    yield proved_inequality(Eq(c, 0), [Eq(rest + c, 0), Eq(rest, 0)], what="then c is all that is left")


def _coefficients(settings: Settings) -> Iterator[Evidence]:
    yield from one_difference_more()
    yield from separated()
    yield from interpolated()
    yield prove([nested_letters()], method=Method.INDUCTION, what="s_k = t_k for every k, one letter after another")
    yield from no_coefficient()
    yield from no_affine_part()


# --- what is left open ---------------------------------------------------------------------------------------------------


def gauge() -> list[Step]:
    """Changes of the parameters that change no sum: the order, equal letters, letters that do not count, and a permutation.

    The last is the matrix form: hidden units in another order, for two units.
    """
    n, D = m.dimension("n"), m.dimension("D")
    x = m.Letter("x", n, 1)
    letters = [m.Activation(m.Letter("w", 1, n, (k,)) @ x + m.Letter("θ", 1, 1, (k,))) for k in (1, 2)]
    first, second, other = (m.Letter("a", D, 1, (k,)) for k in (1, 2, 3))
    s, r = letters
    return [
        Step("the order of the terms", first @ s + second @ r, second @ r + first @ s),
        Step("one letter in two terms", first @ s + other @ s, (first + other) @ s),
        Step("a letter that does not count", first @ s + m.Zero(D, 1) @ r, first @ s),
    ]


def _gauge(settings: Settings) -> Iterator[Evidence]:
    yield from proved(gauge(), method=Method.NORMAL_FORM, what="for every shape and every σ")


def one_activation(factor: int = 1) -> Iterator[Evidence]:
    """For relu alone there are more: relu(x) − relu(−x) = x, and relu(a x) = a relu(x) for a > 0; ``factor`` before x is 1."""
    x, a, y = sympy.Symbol("x", real=True), sympy.Symbol("a", positive=True), sympy.Symbol("y", real=True)
    relu = lambda number: sympy.Max(number, 0)
    yield proved_inequality(Eq(relu(x) - relu(-x), factor * x), [], what="relu(x) − relu(−x) = x")
    size = sympy.Symbol("|x|", nonnegative=True)
    for sign, value in (("", size), ("−", -size)):
        what = f"relu(a x) = a relu(x) for x = {sign}|x|"
        yield proved_inequality(Eq(relu(y), a * relu(value)), [Eq(y, a * value)], what=what)


def _one_activation(settings: Settings) -> Iterator[Evidence]:
    yield from one_activation()


# --- rows ----------------------------------------------------------------------------------------------------------------

_LETTERS = "s_k = σ(v_k), v_k affine in x and in s_1, …, s_(k−1), and no two v_k the same affine function"
_SUM = r"\mathbf{w}\cdot x+c+\sum_{k=1}^{N}a_ks_k"

CLAIMS = (
    row(
        "uniqueness.coefficients", "c", "over all σ the coefficients of distinct σ-letters are unique",
        rf"{_SUM}=0\text{{ for all }}\sigma,x\ \Rightarrow\ \mathbf{{w}}=0,\ c=0,\ a_1=\cdots=a_N=0", _coefficients,
        kind=Kind.CRITERION,
        reading=f"{_LETTERS}; for any N, also for nested letters, and for continuous sigmoidal σ; the difference of two closed "
        "forms is such a sum over the letters of both",
        hypotheses=(_LETTERS, "an entry of W̃_k s_k is a sum of numbers times letters, one letter per hidden unit"),
    ),
    row(
        "uniqueness.gauge", "c", "what is open: order, equal letters, and letters that do not count",
        r"a_1s+a_2r=a_2r+a_1s,\quad a_1s+a_3s=(a_1+a_3)s,\quad a_1s+0\,r=a_1s", _gauge, kind=Kind.IDENTITY,
        reading="changes of the parameters that change the function for no σ; by uniqueness.coefficients there are no others",
        hypotheses=("σ is applied to every element",),
    ),
    row(
        "uniqueness.one-activation", "c", "for relu alone the coefficients are not unique",
        r"\mathrm{relu}(x)-\mathrm{relu}(-x)=x,\quad\mathrm{relu}(ax)=a\,\mathrm{relu}(x)\ (a>0)", _one_activation,
        kind=Kind.IDENTITY, reading="why the statement is about all σ: letters that differ are dependent for one σ", hypotheses=("σ is relu",),
    ),
)  # fmt: skip
