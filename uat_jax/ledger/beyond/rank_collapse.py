"""Attention without skips makes all tokens alike (g): Dobrushin's coefficient says how fast.

    τ(H) = max_{n,m} ½ Σ_k |H_nk − H_mk|        for H whose rows are not negative and add up to 1
    osc(x) = max_{n,m} ‖x_n − x_m‖_∞            how far tokens are apart

    osc(H x) ≤ τ(H) osc(x),   τ(H G) ≤ τ(H) τ(G),   osc(x_L) ≤ Π_j τ(H_j) ‖V_jᵀ‖ · osc(x_0)

A difference of two rows is p − q with p, q ≥ 0 and Σ p = Σ q = T ≤ τ.  Sums are followed term by term, so that what is
shown for one more token holds for every number of tokens.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy
from sympy import Eq, Rational

from uat_jax.decide.confirmation import proved
from uat_jax.decide.inequalities import measured, proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.source import duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

HALF = Rational(1, 2)

# --- one matrix ---------------------------------------------------------------------------------------------------------


def parts() -> Evidence:
    """d = p − q and |d| = p + q for p = max(d, 0), q = max(−d, 0): if Σ d = 0, then Σ p = Σ q = ½ Σ |d|."""
    d, D, N, P, Q = sympy.symbols("d_k D N P Q", real=True)
    p = sympy.Max(d, 0)
    known = [Eq(D, P - Q), Eq(N, P + Q)]
    claim = Eq((D + d) + (N + abs(d)), 2 * (P + p))
    return proved_inequality(claim, known, what="one more token: Σ d + Σ |d| = 2 Σ p")


def between() -> Evidence:
    """Σ_k (p_k − q_k) x_k ≤ P w with P = Σ p, for numbers 0 ≤ x_k ≤ w."""
    P, p, q, x, w = sympy.symbols("P p_k q_k x_k w", nonnegative=True)
    S = sympy.Symbol("S", real=True)
    claim = S + (p - q) * x <= (P + p) * w
    return proved_inequality(claim, [S <= P * w, x <= w], what="one more token: Σ (p − q) x ≤ P w")


def shifted() -> Step:
    """(e H − f H)(x + 1 ℓ) = (e H − f H) x + (e 1 − f 1) ℓ: subtracting the lowest number from all changes nothing.

    e and f pick two rows, so that e 1 = f 1 = 1.
    """
    N = m.dimension("N")
    H, one, ell, x = m.RowSoftmax(m.Letter("S", N, N)), m.Ones(N, 1), m.Letter("ℓ", 1, 1), m.Letter("x", N, 1)
    e, f = m.Letter("e", 1, N), m.Letter("f", 1, N)
    difference = e @ H - f @ H
    return Step("all numbers shifted by ℓ", difference @ (x + one @ ell), difference @ x + (e @ one - f @ one) @ ell)


def apart() -> Evidence:
    """osc(H x) ≤ τ(H) osc(x): w is highest − lowest, for every feature and every two tokens."""
    S, T, tau, w, osc = sympy.symbols("S T τ w osc", nonnegative=True)
    hypotheses = [S <= T * w, T <= tau, w <= osc]
    return proved_inequality(S <= tau * osc, hypotheses, what="S ≤ T w ≤ τ osc")


def _contraction(settings: Settings) -> Iterator[Evidence]:
    yield from proved([shifted()], method=Method.NORMAL_FORM, what="two rows of softmax, picked by e and f")
    yield parts()
    yield between()
    yield apart()
    yield reached()


def reached() -> Evidence:
    """Two tokens, 0 and 1: the rows of H x differ by τ(H), so that the bound is reached.

    With rows (a, 1 − a) and (b, 1 − b), τ is |a − b|.
    """
    a, b, first, second, tau = sympy.symbols("a b y_1 y_2 τ", real=True)
    H = sympy.Matrix([[a, 1 - a], [b, 1 - b]])
    rows = H * sympy.Matrix([0, 1])
    known = [Eq(first, rows[0]), Eq(second, rows[1]), Eq(2 * tau, sum(map(abs, H.row(0) - H.row(1))))]
    return proved_inequality(Eq(abs(first - second), tau), known, what="reached by two tokens, 0 and 1")


# --- products -----------------------------------------------------------------------------------------------------------


def signs() -> Iterator[Evidence]:
    """Σ_j |d_j| is Σ_j s_j d_j for the signs s of d, and Σ_j s_j g_j ≤ Σ_j |g_j| for any signs s, term by term."""
    S, N, g = sympy.symbols("S N g_j", real=True)
    yield proved_inequality(
        Eq(N + abs(g), S + sympy.Max(g, -g)), [Eq(N, S)], what="one more column: |g| = s g for a sign s"
    )
    for sign in (1, -1):
        what = f"one more column: s g ≤ |g| for s = {sign}"
        yield proved_inequality(S + sign * g <= N + abs(g), [S <= N], what=what)


def product() -> Evidence:
    """τ(H G) = ½ Σ_j |Σ_k d_k G_kj| = ½ Σ_k d_k (G s)_k ≤ ½ T · 2 τ(G) ≤ τ(H) τ(G).

    w is how far apart the numbers (G s)_k are: a sum of s_j times a difference of two rows of G, so at most 2 τ(G).
    """
    tau_product, S, T, w, tau_H, tau_G = sympy.symbols("τ(HG) S T w τ(H) τ(G)", nonnegative=True)
    hypotheses = [Eq(2 * tau_product, S), S <= T * w, T <= tau_H, w <= 2 * tau_G]
    return proved_inequality(tau_product <= tau_H * tau_G, hypotheses, what="τ(H G) ≤ τ(H) τ(G)")


def exchanged() -> Step:
    """(d G) s = d (G s): the 1-norm of d G is d applied to G s."""
    N = m.dimension("N")
    d, G, s = m.Letter("d", 1, N), m.Letter("G", N, N), m.Letter("s", N, 1)
    moved, signed = m.Letter("c", 1, N), m.Letter("t", N, 1)
    return Step("the order of the products", moved @ s, d @ signed, {moved: d @ G, signed: G @ s})


def _submultiplicative(settings: Settings) -> Iterator[Evidence]:
    yield from proved([exchanged()], method=Method.NORMAL_FORM, what="the sums")
    yield from signs()
    yield between()
    yield product()


# --- softmax ------------------------------------------------------------------------------------------------------------


def smallest_entries(share: Any = HALF) -> Iterator[Evidence]:
    """½ Σ_k |a_k − b_k| ≤ 1 − N ε for rows that add up to 1 and have no entry below ε; ``share`` is that half.

    S is half the sum so far, P and Q are the sums of a and b, and E is ε times the number of terms.
    """
    S, P, Q, E, a, b, epsilon = sympy.symbols("S P Q E a_k b_k ε", real=True)
    known = [S <= (P + Q) / 2 - E, a >= epsilon, b >= epsilon]
    claim = S + share * abs(a - b) <= (P + a + Q + b) / 2 - (E + epsilon)
    yield proved_inequality(claim, known, what="one more token: ½ |a − b| ≤ (a + b)/2 − ε")
    hypotheses = [S <= (P + Q) / 2 - E, Eq(P, 1), Eq(Q, 1)]
    yield proved_inequality(S <= 1 - E, hypotheses, what="all tokens: P = Q = 1")


def softmax_entries() -> Iterator[Evidence]:
    """e_k / Σ_j e_j ≥ t / N, where t = exp(−r) and the scores of a row differ by at most r, so that t e_j ≤ e_k.

    S is the sum so far, of which F is e_k times the number of terms; at the end F is N e_k, and p = e_k / S.
    """
    total, part, e, other, t = sympy.symbols("t·S F e_k t·e_j t", nonnegative=True)
    claim = total + other <= part + e
    yield proved_inequality(claim, [total <= part, other <= e], what="one more score: t S ≤ F")
    S, p = sympy.symbols("S N·p", positive=True)
    hypotheses = [t * S <= part, Eq(part, p * S)]
    yield proved_inequality(t <= p, hypotheses, what="all scores: t S ≤ N p S, so that t ≤ N p")


def _of_softmax(settings: Settings) -> Iterator[Evidence]:
    yield from smallest_entries()
    yield from softmax_entries()


# --- networks -----------------------------------------------------------------------------------------------------------


def mixed() -> Iterator[Evidence]:
    """‖(x_n − x_m) V‖_∞ ≤ ‖Vᵀ‖ ‖x_n − x_m‖_∞, feature by feature: |Σ_i d_i V_ij| ≤ Σ_i |V_ij| · max_i |d_i|."""
    S, d, v = sympy.symbols("S d_i V_ij", real=True)
    total, largest = sympy.symbols("Σ|V_ij| max|d_i|", nonnegative=True)
    term, weight = sympy.symbols("|d_i·V_ij| |V_ij|", nonnegative=True)
    known = [abs(S) <= total * largest, abs(d) <= term, term <= weight * largest]
    claim = abs(S + d) <= (total + weight) * largest
    yield proved_inequality(claim, known, what="one more feature: |S + d_i V_ij| ≤ (Σ |V_ij| + |V_ij|) max |d_i|")


def over_the_layers() -> Iterator[Evidence]:
    """osc(x_L) ≤ r_1 ⋯ r_L osc(x_0) with r_j = τ(H_j) ‖V_jᵀ‖: no layer, and one layer more."""
    now, before, inside, tau, value, P, start, last = sympy.symbols(
        "o_j o_{j-1} o τ_j ‖V_j‖ P_{j-1} o_0 P_0", nonnegative=True
    )
    yield proved_inequality(start <= last * start, [Eq(last, 1)], what="no layer: the empty product is 1")
    hypotheses = [inside <= tau * before, now <= value * inside, before <= P * start]
    yield proved_inequality(now <= tau * value * P * start, hypotheses, what="one layer more: P_j = τ_j ‖V_j‖ P_{j−1}")


def _collapse(settings: Settings) -> Iterator[Evidence]:
    yield from mixed()
    yield from over_the_layers()
    yield measured_network()


TOKENS, FEATURES, DEPTH, SEED = 4, 3, 4, 59


def numbers(seed: int = SEED) -> dict[str, np.ndarray]:
    """x_0, and W_j and V_j of DEPTH heads, with entries that float64 holds exactly."""
    random = np.random.default_rng(seed)
    draw = lambda *shape: random.integers(-8, 9, shape) / 8
    return {"x": draw(TOKENS, FEATURES), "W": draw(DEPTH, FEATURES, FEATURES), "V": draw(DEPTH, FEATURES, FEATURES) / 2}


def _patterns(x: jax.Array, W: jax.Array, V: jax.Array) -> tuple[list[jax.Array], jax.Array]:
    """H_1, …, H_L and x_L with x_j = H_j x_{j−1} V_j, H_j = softmax(x_{j−1} W_j x_{j−1}ᵀ)."""
    times = lambda left, right: jnp.matmul(left, right, precision="highest")
    found = []
    for j in range(DEPTH):
        found.append(jax.nn.softmax(times(times(x, W[j]), x.T), axis=-1))
        x = times(times(found[-1], x), V[j])
    return found, x


def spread(x: jax.Array) -> jax.Array:
    """osc(x), for tokens as rows."""
    return jnp.max(jnp.abs(x[:, None] - x[None]))


def dobrushin(H: jax.Array) -> jax.Array:
    """τ(H), half the largest 1-norm of a difference of two rows."""
    return jnp.max(jnp.sum(jnp.abs(H[:, None] - H[None]), axis=2)) / 2


def actual_spread(x: jax.Array, W: jax.Array, V: jax.Array) -> jax.Array:
    """osc(x_L)."""
    return spread(_patterns(x, W, V)[1])


def claimed_spread(x: jax.Array, W: jax.Array, V: jax.Array) -> jax.Array:
    """Π_j τ(H_j) ‖V_jᵀ‖ · osc(x_0)."""
    bound = spread(x)
    for H, value in zip(_patterns(x, W, V)[0], V, strict=True):
        bound = bound * dobrushin(H) * jnp.max(jnp.sum(jnp.abs(value), axis=0))
    return bound


def measured_network(seed: int = SEED) -> Evidence:
    """A random network of attention alone, in ball arithmetic."""
    what = f"{DEPTH} layers of attention without skips, {TOKENS} tokens, seed {seed}"
    return measured(actual_spread, claimed_spread, numbers(seed), what=what)


# --- rows ---------------------------------------------------------------------------------------------------------------

_SOURCES = (duat("3.2", 8), duat("B.3", 28), duat("4.1"))
STOCHASTIC = "the entries of H and G are not negative, and their rows add up to 1"

CLAIMS = (
    row(
        "rank-collapse.contraction", "g", "attention brings tokens nearer, by Dobrushin's coefficient",
        r"\mathrm{osc}(Hx)\le\tau(H)\,\mathrm{osc}(x),\quad\tau(H)=\max_{n,m}\tfrac12\sum_k|H_{nk}-H_{mk}|", _contraction,
        kind=Kind.INEQUALITY, sources=_SOURCES, hypotheses=(STOCHASTIC,),
        reading="osc(x) = max_{n,m} ‖x_n − x_m‖_∞, for every number of tokens; one feature and two tokens n, m at a time, "
        "p and q being the positive and the negative part of row n − row m",
    ),
    row(
        "rank-collapse.products", "g", "the coefficient of a product is at most the product of the coefficients",
        r"\tau(HG)\le\tau(H)\,\tau(G)", _submultiplicative, kind=Kind.INEQUALITY, sources=_SOURCES, hypotheses=(STOCHASTIC,),
        reading="for every number of tokens; d is the difference of two rows of H, and s the signs of d G",
    ),
    row(
        "rank-collapse.softmax", "g", "softmax of scores that differ by at most r has τ ≤ 1 − exp(−r)",
        r"\tau(H)\le1-N\min_{n,k}H_{nk}\le1-e^{-r}", _of_softmax, kind=Kind.INEQUALITY, sources=_SOURCES,
        hypotheses=("two scores of one row differ by at most r, so that exp(score_j) ≤ exp(r) exp(score_k)",),
        reading="H is the softmax of N scores per row; so tokens merge unless scores grow without bound",
    ),
    row(
        "rank-collapse.depth", "g", "tokens of attention without skips merge, for every depth",
        r"\mathrm{osc}(x_L)\le\prod_{j=1}^{L}\tau(H_j)\|V_j^T\|_\infty\cdot\mathrm{osc}(x_0)", _collapse, sources=_SOURCES,
        hypotheses=(STOCHASTIC, "x_j = H_j x_{j−1} V_j: one head, no skip, no feed-forward part; H_j may depend on x_{j−1}"),
        reading="V_j is W_V W_O; with a skip, I + H_j V_j, there is no such bound",
    ),
)  # fmt: skip
