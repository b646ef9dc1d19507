"""Lipschitz constants that bounds over layers need (f): of σ, of softmax, and of attention on a ball.

The constant of a smooth function is the largest size of its derivative, by the mean value theorem; here the derivative
is computed and bounded.  That of relu is found without.
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
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.inequalities import measured, proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.beyond.row import row
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.foundations.elementary import equations
from uat_jax.ledger.source import duat, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.norms import norm, same_norm, submultiplicative, triangle
from uat_jax.symbolic.step import Step

HALF = Rational(1, 2)

# --- σ ------------------------------------------------------------------------------------------------------------------

_t = sympy.Symbol("t", real=True)
SMOOTH = {
    "tanh": ((sympy.exp(_t) - sympy.exp(-_t)) / (sympy.exp(_t) + sympy.exp(-_t)), (-1, 1), 1, lambda s: s**2),
    "logistic": (1 / (1 + sympy.exp(-_t)), (0, 1), Rational(1, 4), lambda s: (s - HALF) ** 2),
}
"""σ → its formula, what it lies between, λ, and the square that λ − σ′ is as a function of σ."""


def smooth(name: str, constant: Any = None) -> Iterator[Evidence]:
    """0 ≤ σ′ ≤ λ: σ′ = (σ − least)(greatest − σ), and λ − σ′ is a square; ``constant`` is tried as λ if given."""
    sigma, (least, greatest), listed, square = SMOOTH[name]
    s, claimed = sympy.Symbol("s", real=True), listed if constant is None else constant
    derivative = lambda value: (value - least) * (greatest - value)
    pairs = {
        "σ′ = (σ − least)(greatest − σ)": (sympy.diff(sigma, _t), derivative(sigma)),
        "λ − σ′ is a square": (claimed - derivative(s), square(s)),
    }
    yield equations(pairs, what=f"{name}: λ = {claimed}")
    above, below = sympy.symbols("σ−least greatest−σ", real=True)
    yield proved_inequality(above * below >= 0, [above >= 0, below >= 0], what=f"{name}: σ′ ≥ 0")


def relu(constant: Any = 1) -> Evidence:
    """|relu(s) − relu(t)| ≤ λ |s − t| for every λ ≥ ``constant``."""
    s, t, factor = sympy.symbols("s t λ", real=True)
    claimed = abs(sympy.Max(s, 0) - sympy.Max(t, 0)) <= factor * abs(s - t)
    return proved_inequality(claimed, [factor >= constant], what=f"relu: λ = {constant}")


def _activations(settings: Settings) -> Iterator[Evidence]:
    yield relu()
    for name in SMOOTH:
        yield from smooth(name)


# --- softmax ------------------------------------------------------------------------------------------------------------


def softmax_derivative() -> Evidence:
    """The derivative of e_i / S along d is p_i (d_i − μ) with p_i = e_i / S, μ = Σ_k p_k d_k: e_i′ = d_i e_i, S′ = μ S."""
    e, S = sympy.symbols("e_i S", positive=True)
    d, mean = sympy.symbols("d_i μ", real=True)
    quotient = (d * e * S - e * (mean * S)) / S**2
    return equations({"(e_i / S)′ = p_i (d_i − μ)": (quotient, e / S * (d - mean))}, what="the derivative of softmax")


def positive_part(share: sympy.Expr = HALF) -> Iterator[Evidence]:
    """T = Σ over d_i > μ of p_i (d_i − μ) is at most δ/2 if |d_i| ≤ δ: so Σ_i |p_i (d_i − μ)| = 2 T ≤ δ.

    a is the sum of the p_i with d_i > μ, q that of the others; T is also the sum of p_i (μ − d_i) over the others.
    """
    T, P, p, a, q, delta = sympy.symbols("T P p_i a q δ", nonnegative=True)
    d, mean = sympy.symbols("d_i μ", real=True)
    hypotheses = [T <= P * (delta - mean), d <= delta]
    claim = T + p * (d - mean) <= (P + p) * (delta - mean)
    yield proved_inequality(claim, hypotheses, what="one more term above μ: T ≤ a (δ − μ)")
    hypotheses = [T <= P * (delta + mean), -d <= delta]
    claim = T + p * (mean - d) <= (P + p) * (delta + mean)
    yield proved_inequality(claim, hypotheses, what="one more term below μ: T ≤ q (δ + μ)")
    quarter = {"1/4 − a (1 − a) is a square": (Rational(1, 4) - a * (1 - a), (a - HALF) ** 2)}
    yield equations(quarter, what="a q ≤ 1/4")
    gap = sympy.Symbol("δ∓μ", nonnegative=True)
    yield proved_inequality(q * T <= a * q * gap, [T <= a * gap], what="both times the other share: q T ≤ a q (δ − μ)")
    first, second, below, above, product = sympy.symbols("q·T a·T δ−μ δ+μ a·q", nonnegative=True)
    rests = [first <= product * below, second <= product * above, Eq(T, first + second), product <= Rational(1, 4)]
    yield proved_inequality(T <= share * (below + above) / 2, rests, what=f"q T + a T ≤ a q · 2 δ: T ≤ {share} δ")


def _softmax(settings: Settings) -> Iterator[Evidence]:
    yield softmax_derivative()
    yield from positive_part()
    along = lambda z, d: jax.jvp(jax.nn.softmax, (z,), (d,))[1]
    printed = lambda z, d: jax.nn.softmax(z) * (d - jnp.sum(jax.nn.softmax(z) * d))
    yield confirm_functions(along, printed, [(3,), (3,)], what="jax.jvp of softmax, three scores")


# --- attention on a ball ------------------------------------------------------------------------------------------------


def score_difference(factor: int = 2) -> tuple[tuple[Step, ...], Any, tuple[Any, ...]]:
    """|ũᵀ W ṽ − uᵀ W v| ≤ 2 R ω e for tokens of norms at most R that move by at most e; ω = ‖W‖."""
    M = m.dimension("M")
    W, u, v = m.Letter("W", M, M), m.Letter("u", M, 1), m.Letter("v", M, 1)
    du, dv = m.Letter("du", M, 1), m.Letter("dv", M, 1)
    first, second = du.T @ (W @ (v + dv)), u.T @ (W @ dv)
    total = m.Addition(first, second)
    step = Step("what a score moves by", (u + du).T @ W @ (v + dv) - u.T @ W @ v, total)
    R, e = sympy.symbols("R e", nonnegative=True)
    laws = (
        same_norm(step),
        triangle(total),
        submultiplicative(du.T, W @ (v + dv)),
        submultiplicative(W, v + dv),
        submultiplicative(u.T, W @ dv),
        submultiplicative(W, dv),
        *(Eq(norm(column.T), norm(column)) for column in (u, du)),
        *(norm(size) <= R for size in (u, v + dv)),
        *(norm(size) <= e for size in (du, dv)),
    )
    return (step,), norm(step.left) <= factor * R * norm(W) * e, laws


def token_difference() -> Iterator[Evidence]:
    """‖Σ_m (H̃_nm x̃_m − H_nm x_m)‖ ≤ e + R δ: rows of H̃ add up to 1, those of H̃ − H in absolute values to at most δ.

    Term by term: H̃ x̃ − H x = H̃ (x̃ − x) + (H̃ − H) x, the first at most h e and the second at most |H̃ − H| R.
    """
    N, size, weight, h, moved, R, e, delta = sympy.symbols("N_m ‖term‖ S h |h̃-h| R e δ", nonnegative=True)
    total = sympy.Symbol("D_m", nonnegative=True)
    hypotheses = [N <= weight * e + total * R, size <= h * e + moved * R]
    what = "one more token: the norm of the sum is at most S e + D R"
    yield proved_inequality(N + size <= (weight + h) * e + (total + moved) * R, hypotheses, what=what)
    hypotheses = [N <= weight * e + total * R, Eq(weight, 1), total <= delta]
    yield proved_inequality(N <= e + delta * R, hypotheses, what="all tokens: S = 1 and D ≤ δ")


def total_constant(factor: int = 2) -> Evidence:
    """ℓ = ‖V‖ (1 + 2 s ω R²): the scores, times s, move by δ ≤ 2 (s ω R) e, and V is applied to every token."""
    N, value, R, e, delta, score, after = sympy.symbols("N ‖V‖ R e δ s·ω·R E", nonnegative=True)
    hypotheses = [delta <= 2 * score * e, N <= e + delta * R, after <= value * N]
    claim = after <= value * e + factor * value * score * R * e
    return proved_inequality(claim, hypotheses, what="attention: ℓ = ‖V‖ (1 + 2 s ω R²)")


def _attention(settings: Settings) -> Iterator[Evidence]:
    steps, claimed, laws = score_difference()
    yield from proved(steps, method=Method.NORMAL_FORM, what="a score")
    yield proved_inequality(claimed, laws, what="how far a score moves")
    yield from token_difference()
    yield total_constant()
    yield measured_attention()


TOKENS, FEATURES, SEED = 4, 3, 53


def numbers(seed: int = SEED) -> dict[str, np.ndarray]:
    """Tokens x and y nearby, W = W_Q W_Kᵀ and V = W_V W_O, with entries that float64 holds exactly."""
    random = np.random.default_rng(seed)
    draw = lambda *shape: random.integers(-8, 9, shape) / 16
    x = draw(TOKENS, FEATURES)
    return {"x": x, "y": x + draw(TOKENS, FEATURES) / 8, "W": draw(FEATURES, FEATURES), "V": draw(FEATURES, FEATURES)}


def _longest(rows: jax.Array) -> jax.Array:
    """The largest Euclidean norm of a row."""
    return jnp.sqrt(jnp.max(jnp.sum(rows * rows, axis=1)))


def _times(left: jax.Array, right: jax.Array) -> jax.Array:
    return jnp.matmul(left, right, precision="highest")


def actual_change(x: jax.Array, y: jax.Array, W: jax.Array, V: jax.Array) -> jax.Array:
    """How far attention's outputs at x and at y are apart, at the token where that is most; the scale s is 1/2."""
    attend = lambda z: _times(_times(jax.nn.softmax(_times(_times(z, W), z.T) / 2), z), V)
    return _longest(attend(x) - attend(y))


def claimed_change(x: jax.Array, y: jax.Array, W: jax.Array, V: jax.Array) -> jax.Array:
    """‖V‖ (1 + 2 s ω R²) e with s = 1/2 and Frobenius norms, which are not below Euclidean operator norms."""
    whole = lambda matrix: jnp.sqrt(jnp.sum(matrix * matrix))
    R = jnp.maximum(_longest(x), _longest(y))
    return whole(V) * (1 + whole(W) * R * R) * _longest(x - y)


def measured_attention(seed: int = SEED) -> Evidence:
    """One head on random tokens."""
    what = f"one head, {TOKENS} tokens of {FEATURES} features, seed {seed}"
    return measured(actual_change, claimed_change, numbers(seed), what=what)


# --- rows ---------------------------------------------------------------------------------------------------------------

_SOURCES = (duat("4.3", 16), duat("3.2", 8), v2("4.4", 17))
_MEAN_VALUE = (
    "the mean value theorem: a function whose derivative is at most λ moves by at most λ times what its input moves"
)
_EUCLIDEAN = "norms of tokens are Euclidean, and those of matrices their operator norms, so that ‖uᵀ‖ = ‖u‖"

CLAIMS = (
    row(
        "changes.activations", "f", "Lipschitz constants: relu 1, tanh 1, logistic 1/4",
        r"|\sigma(s)-\sigma(t)|\le\lambda|s-t|", _activations, kind=Kind.INEQUALITY, sources=_SOURCES,
        reading="for all real s and t", hypotheses=(_MEAN_VALUE, "−1 < tanh < 1 and 0 < logistic < 1"),
    ),
    row(
        "changes.softmax", "f", "softmax moves in the 1-norm at most as far as its scores in the ∞-norm",
        r"\|\mathrm{softmax}(\tilde z)-\mathrm{softmax}(z)\|_1\le\|\tilde z-z\|_\infty", _softmax, kind=Kind.INEQUALITY,
        sources=_SOURCES, reading="for any number of scores",
        hypotheses=(_MEAN_VALUE, "p_i = softmax(z)_i are positive and add up to 1, so Σ_i p_i (d_i − μ) = 0", "squares are not negative"),
    ),
    row(
        "changes.attention", "f", "a Lipschitz constant of attention on a ball",
        r"\ell=\|V\|\,(1+2s\,\|W\|R^2)", _attention, kind=Kind.INEQUALITY, sources=_SOURCES,
        reading="one head, token n ↦ Σ_m softmax(s x_n W xᵀ)_m x_m V with W = W_Q W_Kᵀ and V = W_V W_O, in the norm "
        "max_n ‖x_n‖, where all tokens have norms at most R; several heads add up, a skip adds 1",
        hypotheses=(_EUCLIDEAN, "changes.softmax, for the row of H of each token", "rows of H add up to 1 and are not negative"),
    ),
)  # fmt: skip
