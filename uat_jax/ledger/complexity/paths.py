"""Attention matrices multiplied over layers: paths through the heads, and the Kronecker rank of the product (L5)."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product
from typing import Any

import numpy as np
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import counted
from uat_jax.decide.ranks import Letters, attained, bounded, drawn
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Statements, Tally, of_recurrence
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.source import duat
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

N, M, h, L = map(m.dimension, "NMhL")

# --- the product over layers -----------------------------------------------------------------------------------------


def path_steps() -> list[Step]:
    """Π_j (I + Σ_i H_i ⊗ V_iᵀ) as a sum over paths: one layer more makes n paths n + h n; and two examples in full."""
    n, p, i = m.dimension("n"), *(sympy.Symbol(name, integer=True, positive=True) for name in "pi")
    G, U = m.Letter("G", N, N, (p,)), m.Letter("U", M, M, (p,))
    H, V = m.Letter("H", N, N, (i,)), m.Letter("V", M, M, (i,))
    paths = m.RangeSum(m.Kronecker(G, U.T), p, 1, n)
    layer = m.Identity(N * M) + m.RangeSum(m.Kronecker(H, V.T), i, 1, h)
    longer = m.RangeSum(m.RangeSum(m.Kronecker(H @ G, (U @ V).T), p, 1, n), i, 1, h)
    return [Step("one layer more: n paths become n + h n", layer @ paths, paths + longer)] + [
        _written_paths(heads, depth) for heads, depth in ((1, 3), (2, 2))
    ]


def _written_paths(heads: int, depth: int) -> Step:
    """Σ over all (i_1, …, i_L) in {0, …, h}^L of H_{i_L}…H_{i_1} ⊗ (V_{i_1}…V_{i_L})ᵀ; i_j = 0 leaves layer j out."""
    H = lambda j, i: m.Letter("H", N, N, (j, i))
    V = lambda j, i: m.Letter("V", M, M, (j, i))
    heads_of = lambda j: (m.Kronecker(H(j, i), V(j, i).T) for i in range(1, heads + 1))
    layers = range(1, depth + 1)

    def path(choice: tuple[int, ...]) -> m.Expression:
        taken = [(j, i) for j, i in zip(layers, choice, strict=True) if i]
        if not taken:
            return m.Identity(N * M)
        left, right = [H(*head) for head in reversed(taken)], [V(*head) for head in taken]
        return m.Kronecker(m.Product(*left), m.Product(*right).T)

    network = m.Product(*(m.Addition(m.Identity(N * M), *heads_of(j)) for j in reversed(layers)))
    paths = m.Addition(*map(path, product(range(heads + 1), repeat=depth)))
    return Step(f"h = {heads}, L = {depth}", network, paths)


def _paths(settings: Settings) -> Iterator[Evidence]:
    """The paths multiply by h + 1 in every layer, so that there are (h+1)^L."""
    yield from proved(path_steps(), method=Method.INDUCTION, what="for every h, N, M and L")
    f, n = sympy.Function("f"), sympy.Symbol("n", integer=True)
    number: Any = sympy.rsolve(f(n + 1) - (f(n) + h * f(n)), f(n), {f(0): 1})
    measured = lambda shape: len(_written_paths(shape[h], shape[L]).right.operands)
    shapes = [{h: 1, L: 1}, {h: 1, L: 2}, {h: 2, L: 1}, {h: 2, L: 2}, {h: 1, L: 3}]
    layers, before = sympy.Symbol("L", integer=True, nonnegative=True), m.dimension("n")

    def said(closed: sympy.Expr, at: Any) -> Statements:
        """One path through no layer, and through one layer more as many as the first of `path_steps` has terms."""
        after = Tally("terms", path_steps()[0].right)
        return of_recurrence(layers, before, first=0, value=1, after=after, closed=closed.xreplace({L: layers}))

    yield from counted((h + 1) ** L, number.subs(n, L), what="paths", measured=measured, shapes=shapes, said=said)


def row_sums(settings: Settings) -> Iterator[Evidence]:
    """G G' 1 − 1 = G (G' 1 − 1) + (G 1 − 1): rows that add up to 1 in G and G' do in G G'."""
    G, other, one = m.Letter("G", N, N), m.Letter("G'", N, N), m.Ones(N, 1)
    step = Step("row sums", G @ other @ one - one, G @ (other @ one - one) + (G @ one - one))
    yield from proved([step], method=Method.NORMAL_FORM, what="products of row-stochastic matrices are row-stochastic")


def rearranged() -> Step:
    """Σ_p vec(G_p) u_pᵀ, the rearrangement of Σ_p G_p ⊗ U_pᵀ, through the entries that determine the G_p, and one column.

    A matrix whose rows add up to 1 is G S + 1 eᵀ, with G its first N − 1 columns, S = (I, −1) and e the last unit column:
    vec(G S + 1 eᵀ) = (I ⊗ Sᵀ) vec(G) + vec(1 eᵀ).
    """
    n, p = m.dimension("n"), sympy.Symbol("p", integer=True, positive=True)
    free, u = m.Letter("G", N, N - 1, (p,)), m.Letter("u", M * M, 1, (p,))
    S, last = m.Letter("S", N - 1, N), m.Ones(N, 1) @ m.Letter("e", N, 1).T
    over = lambda term: m.RangeSum(term, p, 1, n)
    through = m.Kronecker(m.Identity(N), S.T) @ over(m.Vectorised(free) @ u.T)
    return Step("any pattern", over(m.Vectorised(free @ S + last) @ u.T), through + m.Vectorised(last) @ over(u.T))


def rearranged_causal() -> Step:
    """Σ_p vec(G_p) u_pᵀ for causal G_p as one term for each row: row k + 1 has k entries g_{p,k}, and 1 minus their sum.

    vec(G_p) = Σ_k (e_{k+1} ⊗ S_kᵀ) g_{p,k} + o, with k × N matrices S_k; the first row has no free entry.
    """
    n, p, k = m.dimension("n"), *(sympy.Symbol(name, integer=True, positive=True) for name in "pk")
    free, u = m.Letter("g", k, 1, (p, k)), m.Letter("u", M * M, 1, (p,))
    row = m.Kronecker(m.Letter("e", N, 1, (k,)), m.Letter("S", k, N, (k,)).T)
    o, over, rows = m.Letter("o", N * N, 1), (lambda t: m.RangeSum(t, p, 1, n)), (lambda t: m.RangeSum(t, k, 1, N - 1))
    return Step("causal", over((rows(row @ free) + o) @ u.T), rows(row @ over(free @ u.T)) + o @ over(u.T))


def _all_paths() -> Step:
    """Σ over (h+1)^L paths, each of rank 1."""
    p = sympy.Symbol("p", integer=True, positive=True)
    g, u = m.Letter("g", N * N, 1, (p,)), m.Letter("u", M * M, 1, (p,))
    paths = m.RangeSum(g @ u.T, p, 1, (h + 1) ** L)
    return Step("paths", paths, paths)


BOUNDS = {"any pattern": N * (N - 1) + 1, "causal": N * (N - 1) / 2 + 1}
"""The dimensions of the G_p, and one more: as claimed."""
MORE_BOUNDS = (M**2, (h + 1) ** L)
"""The other two bounds, of any pattern."""


def _rank_bounds(settings: Settings) -> Iterator[Evidence]:
    """The Kronecker rank is at most the number of paths, the dimension of the G_p, and M²."""
    size, paths = MORE_BOUNDS
    for step in (rearranged(), rearranged_causal()):
        what = f"rearranged P_L, {step.name}"
        yield from bounded(step, claimed=BOUNDS[step.name], what=what, subject=step.name)
        yield from bounded(step, claimed=size, what=what, subject=f"{step.name}, M²")
    yield from bounded(_all_paths(), claimed=paths, what="rearranged P_L", subject="paths")
    yield from row_sums(settings)


TOKENS, FEATURES, HEADS, DEEPEST = 4, 4, 2, 4
"""N, M, h, and the largest L at which the bounds are reached."""


def least_bound(pattern: str, depth: int) -> int:
    """min((h+1)^L, the bound of the pattern, M²) at N = M = 4 and h = 2."""
    sizes = {N: TOKENS, M: FEATURES, h: HEADS, L: depth}
    bounds: tuple[Any, ...] = (BOUNDS[pattern], *MORE_BOUNDS)
    return min(int(bound.xreplace(sizes)) for bound in bounds)


def _ranks_attained(settings: Settings) -> Iterator[Evidence]:
    """The bounds of the row before are reached: its claimed numbers are ranks of matrices."""
    for subject in BOUNDS:
        for depth in range(1, DEEPEST + 1):
            build = lambda random, s=subject, depth=depth: kronecker_matrix(random, depth, causal=s == "causal")
            what = f"{subject}, L = {depth}"
            yield attained(least_bound(subject, depth), build, what=what, subject=what)


def kronecker_matrix(
    random: np.random.Generator, depth: int, *, causal: bool
) -> tuple[np.ndarray, m.Expression, Letters]:
    """The rearrangement of Π_j (q I + Σ_i Z_i ⊗ V_iᵀ): with the row-stochastic H_i = Z_i / q, P_L times q^L.

    Beside the array the sum over all paths that it is, and its letters.
    """
    total, letters = np.eye(TOKENS * FEATURES, dtype=object), {}
    for j in range(1, depth + 1):
        layer = SUM * np.eye(TOKENS * FEATURES, dtype=object)
        for i in range(1, HEADS + 1):
            V = drawn(random, FEATURES, FEATURES).astype(object)
            Z = _rows(random, causal).astype(object)
            layer = layer + np.kron(Z, V.T)
            letters |= {_head("Z", j, i): Z, _head("V", j, i): V}
        total = layer.dot(total)
    blocks = total.reshape(TOKENS, FEATURES, TOKENS, FEATURES)
    array = blocks.transpose(0, 2, 1, 3).reshape(TOKENS**2, FEATURES**2)
    choices = product(range(HEADS + 1), repeat=depth)
    return array, m.Addition(*(_rearranged_path(choice) for choice in choices)), letters


def _head(name: str, j: int, i: int) -> m.Letter:
    return m.Letter(name, TOKENS, TOKENS, (j, i))


def _rearranged_path(choice: tuple[int, ...]) -> m.Expression:
    """q^s vec(Z_{i_L}…Z_{i_1}) vec((V_{i_1}…V_{i_L})ᵀ)ᵀ, where s layers are left out."""
    taken = [(j, i) for j, i in enumerate(choice, 1) if i]
    left = m.Product(m.Identity(TOKENS), *(_head("Z", *place) for place in reversed(taken)))
    right = m.Product(m.Identity(FEATURES), *(_head("V", *place) for place in taken))
    return SUM ** (len(choice) - len(taken)) * (m.Vectorised(left) @ m.Vectorised(right.T).T)


SUM = 64


def _rows(random: np.random.Generator, causal: bool) -> np.ndarray:
    """Positive whole numbers, zero above the diagonal if causal, every row adding up to `SUM`."""
    rows = [random.integers(1, 16, TOKENS) * (np.arange(TOKENS) <= (n if causal else TOKENS)) for n in range(TOKENS)]
    matrix = np.array(rows)
    matrix[:, 0] += SUM - matrix.sum(axis=1)
    return matrix


# --- the rows --------------------------------------------------------------------------------------------------------

_SOURCES = (duat("3.2", 9, 10), duat("3.3", 11))


def _row(name: str, title: str, printed: str, decide: Any, **others: Any) -> Claim:
    defaults = {"kind": Kind.RANK, "sources": _SOURCES, "expects": Verdict.PROVED}
    named = {"id": f"complexity.{name}", "ledger": "L5", "title": title, "printed": printed, "decide": decide}
    return Claim(**{**defaults, **others, **named})


CLAIMS = (
    _row(
        "paths.identity",
        "the product over layers is a sum over (h+1)^L paths through the heads",
        r"\prod_j(I+\sum_iH_{j,i}\otimes V_{j,i}^T)=\sum_{i_1,\ldots,i_L=0}^{h}H_{i_L}\cdots H_{i_1}\otimes(V_{i_1}\cdots V_{i_L})^T",
        _paths,
        kind=Kind.ALL_DEPTHS,
        reading="not printed: attention with a residual, H_0 = I and V_0 = I; without it there are h^L paths",
        hypotheses=("V_i is the product W_Vi W_Oi, M × M",),
    ),
    _row(
        "paths.rank",
        "the Kronecker rank is at most min((h+1)^L, N² − N + 1, M²)",
        r"\min((h+1)^L,N^2-N+1,M^2),\ \text{causal: }\min((h+1)^L,\tfrac{1}{2}N(N-1)+1,M^2)",
        _rank_bounds,
        reading="not printed: the rank of the rearrangement Σ_p vec(G_p) vec(U_p)ᵀ of Σ_p G_p ⊗ U_pᵀ",
        hypotheses=("the rows of every H_i add up to 1, and so those of I and of products",),
    ),
    _row(
        "paths.rank-reached",
        "N = M = 4 and h = 2: 3, 9, 13, 13, and 3, 7, 7, 7 with a causal mask",
        r"3,9,13,13\quad\text{causal: }3,7,7,7",
        _ranks_attained,
        reading="not printed: for L = 1, 2, 3, 4, with rational row-stochastic H_i",
        hypotheses=("N = 4, M = 4, h = 2",),
    ),
)
