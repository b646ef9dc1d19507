"""One-dimensional convolution as a matrix, along either axis, and how far it sees: E15.

S_k is the shift matrix, 1 where the column is k places behind the row: (X S_kᵀ)_{n,m} = X_{n,m+k}.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from fractions import Fraction
from functools import cache
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import as_counted, counted
from uat_jax.decide.functions import confirm_functions, evaluated
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally, of_count
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import Source, duat, v1, v2
from uat_jax.networks.convolution import convolve_features, convolve_tokens
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import closed_form_induction
from uat_jax.symbolic.layers import Layers
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.support import density, shift

N, M, r, L = map(m.dimension, "NMrL")
k = sympy.Symbol("k", integer=True, positive=True)


def over_taps(term: Callable[..., m.Expression]) -> m.Expression:
    """Σ_{k=−r}^{r} term(k)."""
    return m.Addition(term(sympy.Integer(0)), m.RangeSum(term(k), k, 1, r), m.RangeSum(term(-k), k, 1, r))


def _written(term: Callable[..., m.Expression]) -> m.Expression:
    """Σ_{k=−1}^{1} term(k), written out."""
    return m.Addition(*map(term, (-1, 0, 1)))


def _shift(size: sympy.Symbol, k: sympy.Expr) -> m.Letter:
    """S_k, size × size."""
    return m.Letter("S", size, size, (k,))


def along_features(over: Callable[..., m.Expression]) -> tuple[m.Expression, m.Expression]:
    """vec(Σ_k K_k X S_kᵀ) and Σ_k K_k ⊗ S_k with K_k ∈ R^{N×N}."""
    X, K = m.Letter("X", N, M), lambda k: m.Letter("K", N, N, (k,))
    return m.Vectorised(over(lambda k: K(k) @ X @ _shift(M, k).T)), over(lambda k: m.Kronecker(K(k), _shift(M, k)))


def along_tokens(over: Callable[..., m.Expression]) -> tuple[m.Expression, m.Expression]:
    """vec(Σ_k S_k X W_k) and Σ_k S_k ⊗ W_kᵀ with W_k ∈ R^{M×M}."""
    X, W = m.Letter("X", N, M), lambda k: m.Letter("W", M, M, (k,))
    return m.Vectorised(over(lambda k: _shift(N, k) @ X @ W(k))), over(lambda k: m.Kronecker(_shift(N, k), W(k).T))


Sides = Callable[[Callable[..., m.Expression]], tuple[m.Expression, m.Expression]]


def equation(name: str, sides: Sides, over: Callable[..., m.Expression]) -> Step:
    """The slid kernel is the matrix acting on vec(X)."""
    slid, matrix = sides(over)
    return Step(name, slid, matrix @ m.Vectorised(m.Letter("X", N, M)))


# --- the matrices as arrays, against the convolution of the library ------------------------------------------------


def features_matrix(kernel: Any, features: int) -> Any:
    """Σ_k K_k ⊗ S_k of a kernel (N', N, 2r + 1)."""
    reach = kernel.shape[2] // 2
    shifts = (np.eye(features, k=t - reach, dtype=kernel.dtype) for t in range(2 * reach + 1))
    return sum(_kron(kernel[:, :, t], shift) for t, shift in enumerate(shifts))


def tokens_matrix(kernel: Any, tokens: int) -> Any:
    """Σ_k S_k ⊗ W_kᵀ of a kernel (2r + 1, M, M')."""
    reach = kernel.shape[0] // 2
    shifts = (np.eye(tokens, k=t - reach, dtype=kernel.dtype) for t in range(2 * reach + 1))
    return sum(_kron(shift, kernel[t].T) for t, shift in enumerate(shifts))


def _kron(left: Any, right: Any) -> Any:
    """The Kronecker product of arrays of NumPy or JAX."""
    blocks = left[:, None, :, None] * right[None, :, None, :]
    return blocks.reshape(left.shape[0] * right.shape[0], left.shape[1] * right.shape[1])


def _applied(matrix: jax.Array, x: jax.Array) -> jax.Array:
    return jnp.matmul(matrix, x.reshape(-1), precision="highest")


def _features(settings: Settings) -> Iterator[Evidence]:
    steps = [equation("over features", along_features, over) for over in (over_taps, _written)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for every N, M and r")
    plain = lambda kernel, x: convolve_features(kernel, x).reshape(-1)
    matrix = lambda kernel, x: _applied(features_matrix(kernel, x.shape[1]), x)
    yield confirm_functions(plain, matrix, ((3, 2, 5), (2, 4)), what="jax.lax.conv_general_dilated, r = 2")


def _tokens(settings: Settings) -> Iterator[Evidence]:
    steps = [equation("over tokens", along_tokens, over) for over in (over_taps, _written)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for every N, M and r")
    plain = lambda kernel, x: convolve_tokens(kernel, x).reshape(-1)
    matrix = lambda kernel, x: _applied(tokens_matrix(kernel, x.shape[0]), x)
    yield confirm_functions(plain, matrix, ((5, 2, 3), (4, 2)), what="jax.lax.conv_general_dilated, r = 2")


# --- how dense, and how far ----------------------------------------------------------------------------------------


def _density(length: sympy.Symbol, sides: Sides, arrays: Callable[[int, int, int], np.ndarray]):
    """The density of the matrix: Σ_{|k| ≤ r} (length − |k|) / length² = ((2r + 1) length − r(r + 1)) / length²."""

    def decide(settings: Settings) -> Iterator[Evidence]:
        claimed, given = ((2 * r + 1) * length - r * (r + 1)) / length**2, [r <= length]
        found = density(sides(over_taps)[1], {"S": shift}, given)
        measured = lambda shape: _share(arrays(shape[N], shape[M], shape[r]))
        sizes = [(2, 2, 1), (3, 4, 2), (4, 3, 1), (5, 5, 3)]  # enough to tell r/n, 1/n, r²/n² and r/n² apart
        shapes = [dict(zip((N, M, r), size, strict=True)) for size in sizes]
        what = "density of the convolution"
        matrix = sides(over_taps)[1]
        number = lambda share: sympy.cancel(share * matrix.shape[0] * matrix.shape[1])
        nonzeros = Tally("nonzeros", matrix, {"S": "diagonal"})
        said = lambda share, at: of_count(number(share), nonzeros, given=given, at=at)
        yield from counted(claimed, found, what=what, measured=measured, shapes=shapes, given=given, said=said)

    return decide


def _share(matrix: np.ndarray) -> Fraction:
    return Fraction(int(np.count_nonzero(matrix)), matrix.size)


@cache
def tokens_seen(reach: int, layers: int, tokens: int) -> int:
    """How many tokens reach the middle one through a stack of convolutions with positive weights and relu."""

    def output(x: jax.Array) -> jax.Array:
        for _ in range(layers):
            x = jax.nn.relu(convolve_tokens(jnp.ones((2 * reach + 1, 1, 1), x.dtype), x))
        return x[tokens // 2]

    return int(np.count_nonzero(evaluated(jax.jacfwd(output), np.ones((tokens, 1)))))


def reaches_add(sum_of: Any = None) -> Iterator[Evidence]:
    """From −a … a and then from −r … r places one comes to −(a + r) … a + r: no further, and to every one of them.

    The place p is i + j with j = min(max(p, −r), r), a whole number as p and r are, and i = p − j.
    """
    a, b, i, j, p = sympy.symbols("a r i j p", real=True)
    total = a + b if sum_of is None else sum_of(a, b)
    inside = [abs(i) <= a, abs(j) <= b]
    yield proved_inequality(abs(i + j) <= total, inside, what=f"|i + j| ≤ {total}", subject="no further")
    first, last = [a >= 0, b >= 0, abs(p) <= total], sympy.Min(sympy.Max(p, -b), b)
    yield proved_inequality(abs(p - last) <= a, first, what=f"every |p| ≤ {total} is such a sum", subject="every place")


def _reach(layers: sympy.Expr, shapes: list[tuple[int, int, int]]) -> Callable[[Any, Settings], Iterator[Evidence]]:
    """The number of tokens that one output sees: the reaches of layers add up, R_0 = 0 and R_l = R_{l−1} + r."""

    def decide(claimed: sympy.Expr, settings: Settings) -> Iterator[Evidence]:
        reach: Any = sympy.summation(r, (k, 1, layers))
        found = 1 + 2 * reach
        given = [{r: reach, L: count, N: tokens} for reach, count, tokens in shapes]
        measured = lambda shape: tokens_seen(shape[r], shape[L], shape[N])
        further = Tally("terms", along_tokens(over_taps)[1]) - 1
        over_layers: Any = sympy.Sum(further, (k, 1, layers))
        said = as_counted(1 + over_layers)
        count = list(counted(claimed, found, what="tokens seen", measured=measured, shapes=given, said=said))
        yield from count
        if any(evidence.verdict is Verdict.PROVED for evidence in count):
            yield from reaches_add()

    return decide


STACKS = [(1, 1, 5), (1, 2, 7), (2, 2, 11)]
"""Reaches, numbers of layers, and enough tokens."""


def _residual_network(settings: Settings) -> Iterator[Evidence]:
    """X + Σ_k S_k σ(Σ_l S_l X W_l + b) V_k + c is a layer of Eq. 20 with W_{i,1} = I; and so L of them are one sum."""
    X, b, c = m.Letter("X", N, M), m.Letter("b", N, m.dimension("G")), m.Letter("c", N, M)
    G, vec = m.dimension("G"), m.Vectorised
    inner, outer = (lambda k: m.Letter("W", M, G, (k,))), (lambda k: m.Letter("V", G, M, (k,)))
    slid = lambda x, kernel: over_taps(lambda k: _shift(N, k) @ x @ kernel(k))
    matrix = lambda kernel: over_taps(lambda k: m.Kronecker(_shift(N, k), kernel(k).T))
    block = m.Addition(X, slid(m.Activation(slid(X, inner) + b), outer), c)
    layer = m.Addition(vec(X), vec(c), matrix(outer) @ m.Activation(matrix(inner) @ vec(X) + vec(b)))
    steps = [Step("one block", vec(block), layer), *closed_form_induction(Layers("residual"))]
    yield from proved(
        steps, method=Method.INDUCTION, what="the closed form of L such blocks, for all shapes and every L"
    )


def features_seen(claimed: Any, settings: Settings) -> Iterator[Evidence]:
    """How many entries of x one output of a convolution along the features depends on, away from the ends."""

    def measured(shape: Any) -> int:
        matrix = features_matrix(np.ones((shape[N], shape[N], 2 * shape[r] + 1)), shape[M])
        return int(np.count_nonzero(matrix[shape[M] // 2]))

    found = sympy.summation(N, (k, -r, r))
    sizes = [(1, 1, 5), (2, 1, 5), (3, 2, 5), (2, 3, 9)]  # enough features on both sides
    shapes = [dict(zip((N, r, M), size, strict=True)) for size in sizes]
    said = as_counted(N * Tally("terms", along_features(over_taps)[1]))
    yield from counted(claimed, found, what="entries of x seen", measured=measured, shapes=shapes, said=said)


APPENDIX: tuple[Source, ...] = (duat("C"), v2("D"))
FRAGMENTED = r"\text{1D convolution}\dots\text{leading to a more fragmented learning approach}"

CLAIMS = (
    Claim(
        id="convolution.features",
        title="a convolution along the features is the matrix Σ_k K_k ⊗ S_k",
        ledger="E15",
        kind=Kind.IDENTITY,
        sources=APPENDIX,
        printed=r"\mathbf{W}'=\sum_{k=-r}^{r}\mathbf{K}_k\otimes\mathbf{S}_k",
        reading="not printed: what the appendix draws in its Fig. 5, the kernel along the encoding and all tokens channels",
        hypotheses=("S_k is the shift by k places; zeros outside the matrix",),
        expects=Verdict.PROVED,
        decide=_features,
    ),
    Claim(
        id="convolution.tokens",
        title="a convolution along the tokens is the matrix Σ_k S_k ⊗ W_kᵀ",
        ledger="E15",
        kind=Kind.IDENTITY,
        sources=APPENDIX,
        printed=r"\mathbf{W}'=\sum_{k=-r}^{r}\mathbf{S}_k\otimes\mathbf{W}_k^T",
        reading="not printed: as texts are convolved, the kernel along the tokens and features channels",
        hypotheses=("S_k is the shift by k places; zeros outside the matrix",),
        expects=Verdict.PROVED,
        decide=_tokens,
    ),
    Claim(
        id="convolution.features.seen",
        title="a convolution along the features sees all tokens and 2r + 1 features of each",
        ledger="E15",
        kind=Kind.COUNT,
        sources=APPENDIX,
        printed=r"N(2r+1)",
        reading="not printed: what the appendix draws in its Fig. 5; it is the features that are cut into pieces, not the tokens",
        hypotheses=("enough features on both sides", "the kernel has no zero"),
        expects=Verdict.PROVED,
        decide=lambda settings: features_seen(N * (2 * r + 1), settings),
    ),
    Claim(
        id="convolution.residual-network",
        title="residual networks of convolutions are sums with nested biases",
        ledger="E15",
        kind=Kind.ALL_DEPTHS,
        sources=(duat("1"), duat("B.1"), duat("B.2")),
        printed=r"\text{expressing residual-based CNNs and Transformer-based ViTs in the UAT format}",
        reading="a block of two convolutions along the tokens with σ between them, beside a shortcut: Eq. 20 with W_{i,1} = I",
        hypotheses=("σ is applied to every element", "as many features after the block as before"),
        expects=Verdict.PROVED,
        decide=_residual_network,
    ),
    Claim(
        id="convolution.features.density",
        title="a convolution along the features has density Σ_k (M − |k|)/M²",
        ledger="E15",
        kind=Kind.COUNT,
        sources=APPENDIX,
        printed=r"\sum_{k=-r}^{r}\frac{M-|k|}{M^2}",
        reading="not printed: it follows from convolution.features",
        hypotheses=("r ≤ M", "the kernel has no zero"),
        expects=Verdict.PROVED,
        decide=_density(M, along_features, lambda n, m, r: features_matrix(np.ones((n, n, 2 * r + 1)), m)),
    ),
    Claim(
        id="convolution.tokens.density",
        title="a convolution along the tokens has density Σ_k (N − |k|)/N²",
        ledger="E15",
        kind=Kind.COUNT,
        sources=APPENDIX,
        printed=r"\sum_{k=-r}^{r}\frac{N-|k|}{N^2}",
        reading="not printed: it follows from convolution.tokens",
        hypotheses=("r ≤ N", "the kernel has no zero"),
        expects=Verdict.PROVED,
        decide=_density(N, along_tokens, lambda n, m, r: tokens_matrix(np.ones((2 * r + 1, m, m)), n)),
    ),
    Claim(
        id="convolution.one-layer",
        title="one convolution along the tokens sees 2r + 1 of them",
        ledger="E15",
        kind=Kind.COUNT,
        sources=(duat("4.1"), v2("4.1"), *APPENDIX),
        printed=FRAGMENTED,
        reading="one layer: fragmented, as claimed",
        hypotheses=("enough tokens on both sides",),
        expects=Verdict.PROVED,
        decide=lambda settings: _reach(sympy.Integer(1), [(1, 1, 5), (2, 1, 7)])(2 * r + 1, settings),
    ),
    Claim(
        id="convolution.stack-fragmented",
        title="a stack of convolutions along the tokens sees 2r + 1 of them",
        ledger="E15",
        kind=Kind.COUNT,
        sources=(duat("4.1"), v2("4.1"), *APPENDIX),
        printed=FRAGMENTED,
        reading="any number of layers",
        hypotheses=("enough tokens on both sides",),
        expects=Verdict.REFUTED,
        correction="convolution.stack",
        ours=True,
        decide=OneEdit(2 * r + 1, 2 * r * L + 1, _reach(L, STACKS)),
    ),
    Claim(
        id="convolution.stack",
        title="a stack of L convolutions along the tokens sees 2rL + 1 of them",
        ledger="E15",
        kind=Kind.COUNT,
        sources=(duat("4.1"), v2("4.1"), *APPENDIX),
        printed=r"2rL+1",
        reading="not printed: from L = (N − 1)/r layers on every output sees every token",
        hypotheses=("enough tokens on both sides",),
        expects=Verdict.PROVED,
        decide=lambda settings: _reach(L, STACKS)(2 * r * L + 1, settings),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="convolution.uat",
        ledger="E15",
        status=Status.NO_CONTENT,
        sources=(v1("3.5"),),
        says="convolutional networks also realise the UAT",
        note="as a form only: their matrices are those of convolution.*, and the form alone approximates nothing (A9)",
    ),
    Record(
        id="convolution.characters",
        ledger="E15",
        status=Status.NO_CONTENT,
        sources=(duat("C"), v2("D")),
        says="the input of the example consists of 10 characters",
        note="the figure shows 10 words, each encoded by one vector",
    ),
)
