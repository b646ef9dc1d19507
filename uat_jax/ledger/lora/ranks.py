"""LoRA on attention: what of its change is of low rank, and what is not (H2)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide.ranks import Letters, attained, bounded, drawn, enclosed, exceeded
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.source import duat, v2
from uat_jax.networks import TransformerLayer, attention_weights
from uat_jax.networks.lora import Adapter, merge
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

N, M, h, d, r, r_Q, r_K, r_V, r_O = map(m.dimension, ("N", "M", "h", "d", "r", "r_Q", "r_K", "r_V", "r_O"))
i = sympy.Symbol("i", integer=True, positive=True)
SEED = 1

Decide = Callable[[int, Settings], Iterator[Evidence]]

# --- ranks -----------------------------------------------------------------------------------------------------------


def _value_output_rank(settings: Settings) -> Iterator[Evidence]:
    """rank ΔA ≤ Σ_i rank(H_i)(r_V + r_O) with H_i = L_i R_i through rank(H_i) columns; with V alone h N r_V."""
    rho = m.indexed_dimension("ρ", i)
    left, right = m.Letter("L", N, rho, (i,)), m.Letter("R", rho, N, (i,))
    pattern, change, split = m.Letter("H", N, N, (i,)), *_value_output_change()
    over_heads = lambda H, V: m.RangeSum(m.Kronecker(H, V.T), i, 1, h)
    step = Step("both", over_heads(left @ right, change), over_heads(left @ right, split))
    claimed = sympy.Sum(sympy.expand(rho * (r_V + r_O)), (i, 1, h))
    yield from bounded(step, claimed=claimed, what="ΔA, V and O", subject="V and O")
    U, V, O = m.Letter("U", M, r_V, (i,)), m.Letter("V", r_V, d, (i,)), m.Letter("O", d, M, (i,))
    alone = over_heads(pattern, U @ V @ O)
    yield from bounded(Step("V alone", alone, alone), claimed=h * N * r_V, what="ΔA, V alone", subject="V")
    yield attained(8, _value_matrix, what="ΔA, V alone, h = 2, N = 4, M = 8, r_V = 1", subject="V")


def _value_output_change() -> tuple[m.Expression, m.Expression]:
    """ΔV W_O + W_V ΔO + ΔV ΔO, and the same as two products through r_V and r_O columns."""
    V, O = m.Letter("V", M, d, (i,)), m.Letter("O", d, M, (i,))
    thin = lambda name, rows, rank, columns: (
        m.Letter(f"{name}'", rows, rank, (i,)),
        m.Letter(f"{name}''", rank, columns, (i,)),
    )
    (V1, V2), (O1, O2) = thin("V", M, r_V, d), thin("O", d, r_O, M)
    change = V1 @ V2 @ O + V @ O1 @ O2 + V1 @ V2 @ O1 @ O2
    return change, V1 @ (V2 @ O) + (V + V1 @ V2) @ O1 @ O2


def _value_matrix(random: np.random.Generator) -> tuple[np.ndarray, m.Expression, Letters]:
    """Σ_i H_i ⊗ (U_i V_i)ᵀ with whole numbers."""
    H, U, V = ([m.Letter(n, *s, (i,)) for i in (1, 2)] for n, s in (("H", (4, 4)), ("U", (8, 1)), ("V", (1, 8))))
    letters = {letter: drawn(random, *map(int, letter.shape)) for letter in (*H, *U, *V)}
    of = zip(H, U, V, strict=True)
    terms = [(np.kron(letters[p], (letters[u] @ letters[v]).T), m.Kronecker(p, (u @ v).T)) for p, u, v in of]
    return sum(matrix for matrix, _ in terms), m.Addition(*(e for _, e in terms)), letters  # type: ignore[return-value]


def _query_key_rank(settings: Settings) -> Iterator[Evidence]:
    """(W_Q + ΔQ)(W_K + ΔK)ᵀ − W_Q W_Kᵀ = ΔQ (W_K + ΔK)ᵀ + W_Q ΔKᵀ has rank at most r_Q + r_K."""
    Q, K = m.Letter("W", d, d, (sympy.Symbol("Q"),)), m.Letter("W", d, d, (sympy.Symbol("K"),))
    Q1, Q2, K1, K2 = (
        m.Letter(n, *s) for n, s in (("U", (d, r_Q)), ("V", (r_Q, d)), ("U'", (d, r_K)), ("V'", (r_K, d)))
    )
    change = (Q + Q1 @ Q2) @ (K + K1 @ K2).T - Q @ K.T
    step = Step("through r_Q + r_K columns", change, Q1 @ (Q2 @ (K + K1 @ K2).T) + (Q @ K2.T) @ K1.T)
    yield from bounded(step, claimed=r_Q + r_K, what="ΔW_QK")
    yield attained(3, _query_key_matrix, what="ΔW_QK with d = 5, r_Q = 1, r_K = 2")


def _query_key_matrix(random: np.random.Generator) -> tuple[np.ndarray, m.Expression, Letters]:
    """(Q + U V)(K + U' V')ᵀ − Q Kᵀ with whole numbers."""
    sizes = {"Q": (5, 5), "K": (5, 5), "U": (5, 1), "V": (1, 5), "U'": (5, 2), "V'": (2, 5)}
    letters = {m.Letter(name, *size): drawn(random, *size) for name, size in sizes.items()}
    change = lambda Q, K, U, V, U1, V1: (Q + U @ V) @ (K + U1 @ V1).T - Q @ K.T
    return change(*letters.values()), change(*letters), letters


def attention_matrix(layer: TransformerLayer, x: jax.Array) -> jax.Array:
    """W_HVO(x) = Σ_i H_i(x) ⊗ (E_i W_Vi W_Oi)ᵀ, (N M_1, N M_0)."""
    heads, width, _ = layer.value.shape
    slices = np.eye(heads * width, dtype=x.dtype).reshape(heads, width, heads * width)
    product = jnp.matmul(layer.value, layer.output, precision="highest")
    mixed = jnp.einsum("hdm,hdk->hkm", slices, product, precision="highest")
    patterns = attention_weights(layer, x)
    return sum(jnp.kron(patterns[i], mixed[i]) for i in range(heads))  # type: ignore[return-value]


def _query_delta(of: Callable[..., jax.Array]) -> Callable[..., jax.Array]:
    """How ``of(layer, x)`` changes when W_Q gets an adapter; without feed-forward part."""

    def change(x: jax.Array, query: jax.Array, key: jax.Array, output: jax.Array, left: jax.Array, right: jax.Array):
        heads, width, _ = query.shape
        value = jnp.asarray([np.eye(width, dtype=x.dtype)] * heads)
        columns = output.shape[-1]
        zero: Callable[..., Any] = lambda *shape: np.zeros(shape, x.dtype)
        none = zero(columns, 1), zero(1), zero(1, columns), zero(columns)
        layer = TransformerLayer(query, key, value, output, *none)
        return of(merge(layer, {"query": Adapter(left, right)}), x) - of(layer, x)

    return change


PATTERN = _query_delta(lambda layer, x: jnp.squeeze(attention_weights(layer, x), axis=0))
MATRIX = _query_delta(attention_matrix)
_ONE = [[[1]]]
THREE_TOKENS = {"x": [[0], [1], [2]], "query": [[[0]]], "key": _ONE, "output": _ONE, "left": _ONE, "right": _ONE}
"""One feature, W_Q = 0 and ΔQ = 1: the scores go from 0 to x_n x_m."""
THREE_FEATURES = {
    "x": [[1, 0, 0], [0, 0, 0]],
    "query": np.zeros((1, 3, 3), int).tolist(),
    "key": [np.eye(3, dtype=int).tolist()],
    "output": [np.eye(3, dtype=int).tolist()],
    "left": [[[1], [0], [0]]],
    "right": [[[1, 0, 0]]],
}
"""Two tokens, W_Q = 0, ΔQ a single 1, and every other weight the identity."""


def six_tokens() -> dict[str, np.ndarray]:
    """N = 6, M = 8, two heads of whole numbers, and ΔQ of rank 1 in each."""
    random = np.random.default_rng(SEED)
    sizes = {
        "x": (6, 8),
        "query": (2, 4, 4),
        "key": (2, 4, 4),
        "output": (2, 4, 8),
        "left": (2, 4, 1),
        "right": (2, 1, 4),
    }
    return {name: random.integers(-2, 3, size) for name, size in sizes.items()}


def _stochastic() -> tuple[Callable[[m.Expression], m.Expression], m.Letter, m.Letter, m.Letter]:
    """(the first N−1 columns → the matrix whose rows add up to 1, S, two such sets of columns)."""
    S, e, one = m.Letter("S", N - 1, N), m.Letter("e", N, 1), m.Ones(N, 1)
    G, tuned = (m.Letter(name, N, N - 1, (i,)) for name in ("G", "G̃"))
    return lambda free: free @ S + one @ e.T, S, G, tuned


def matrix_rank_step() -> Step:
    """ΔA = Σ_i (H̃_i − H_i) ⊗ V_iᵀ goes through (N−1)M columns.

    A matrix whose rows add up to 1 is G S + 1 eᵀ, with G its first N−1 columns, S = (I, −1) and e the last unit column.
    """
    rows, S, G, tuned = _stochastic()
    V = m.Letter("V", M, M, (i,))
    left = m.RangeSum(m.Kronecker(rows(tuned) - rows(G), V.T), i, 1, h)
    right = m.RangeSum(m.Kronecker(tuned - G, V.T), i, 1, h) @ m.Kronecker(S, m.Identity(M))
    return Step("ΔA through (N−1)M columns", left, right)


def _matrix_rank(settings: Settings) -> Iterator[Evidence]:
    """(N−1)M is a bound, and a ΔQ of rank 1 reaches it."""
    yield from bounded(matrix_rank_step(), claimed=sympy.expand((N - 1) * M), what="ΔA")
    yield enclosed(40, MATRIX, six_tokens(), what="ΔA with N = 6, M = 8, h = 2 and ΔQ of rank 1")


def pattern_rank_step() -> Step:
    """ΔH = (G̃ − G) S goes through N − 1 columns, as in `matrix_rank_step`."""
    rows, S, G, tuned = _stochastic()
    return Step("ΔH through N − 1 columns", rows(tuned) - rows(G), (tuned - G) @ S)


def _low_rank(function: Any, inputs: Any, step: Step, size: Any, sizes: Any, what: str) -> Decide:
    """Whether a rank is at most that many: it is exceeded, or it is the bound ``size`` that the structure gives.

    A larger number is a weaker bound, which the structure does not give: UNKNOWN.
    """

    def decide(claimed: int, settings: Settings) -> Iterator[Evidence]:
        least = size.xreplace(sizes)
        if claimed < least:
            yield exceeded(claimed, function, inputs, what=what)
        else:
            yield from bounded(step, claimed=sympy.expand(size) if claimed == least else claimed, what=what)

    return decide


_pattern_rank = _low_rank(
    PATTERN, THREE_TOKENS, pattern_rank_step(), N - 1, {N: 3}, "ΔH with N = 3, M = 1, r_Q = 1, r_K = 0"
)
_whole_rank = _low_rank(
    MATRIX, THREE_FEATURES, matrix_rank_step(), (N - 1) * M, {N: 2, M: 3}, "ΔA with N = 2, M = 3, r_Q = 1, r_K = 0"
)


# --- the rows --------------------------------------------------------------------------------------------------------

_SOURCES = (duat("4.4", 17, 18), v2("4.4", 16, 17))
_NOT_PRINTED = "not printed: the papers write LoRA on the feed-forward part only"
_LOW = "ΔQ and ΔK of rank r_Q and r_K, per head"


def _row(name: str, title: str, printed: str, decide: Any, **others: Any) -> Claim:
    """A proved row about a rank, unless ``others`` say else."""
    defaults = {
        "ledger": "H2",
        "kind": Kind.RANK,
        "sources": _SOURCES,
        "reading": _NOT_PRINTED,
        "hypotheses": ("heads act on slices of the features",),
        "expects": Verdict.PROVED,
        "ours": True,
    }
    return Claim(id=f"lora.{name}", title=title, printed=printed, decide=decide, **{**defaults, **others})


CLAIMS = (
    _row(
        "value-output.rank",
        "adapters on V and O change attention's matrix by one of low rank",
        r"\operatorname{rank}\Delta A\le\sum_i\operatorname{rank}(H_i)(r_V+r_O)",
        _value_output_rank,
        reading=f"{_NOT_PRINTED}; with V alone at most h·N·r_V",
        hypotheses=("ΔV_i and ΔO_i of rank r_V and r_O", "H_i = L_i R_i through as many columns as its rank"),
    ),
    _row(
        "query-key.rank",
        "adapters on Q and K change W_Q W_Kᵀ by one of low rank",
        r"\operatorname{rank}((W_Q+\Delta Q)(W_K+\Delta K)^T-W_QW_K^T)\le r_Q+r_K",
        _query_key_rank,
        hypotheses=(_LOW,),
    ),
    _row(
        "query-key.pattern-rank",
        "adapters on Q and K change the attention pattern by one of low rank",
        r"\operatorname{rank}\Delta H_i\le r_Q+r_K",
        OneEdit(1, 2, _pattern_rank),
        reading="what holds for W_Q W_Kᵀ taken to hold behind the softmax",
        hypotheses=(_LOW,),
        expects=Verdict.REFUTED,
        correction="lora.query-key.matrix-rank",
    ),
    _row(
        "query-key.low-matrix-rank",
        "adapters on Q and K change attention's matrix by one of rank N(r_Q + r_K)",
        r"\operatorname{rank}\Delta A\le N(r_Q+r_K)",
        OneEdit(2, 3, _whole_rank),
        reading="what holds for the feed-forward part (rank N·r) taken to hold for Q and K, one head",
        hypotheses=(_LOW,),
        expects=Verdict.REFUTED,
        correction="lora.query-key.matrix-rank",
    ),
    _row(
        "query-key.matrix-rank",
        "adapters on Q and K change attention's matrix by rank up to (N−1)M, reached",
        r"\operatorname{rank}\Delta A\le(N-1)M",
        _matrix_rank,
        hypotheses=("the rows of H_i and of H̃_i add up to 1", "M features before and after attention"),
    ),
)
