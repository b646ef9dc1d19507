"""How dense the matrices are, and how many numbers they are made of: D3, E8, E10–E12.

An entry of W_HVO = Σ_i H_i ⊗ (E_i W_Vi W_Oi)ᵀ belongs to one head and is the product of one entry of H_i and one of
W_Vi W_Oi, since the heads fill disjoint columns.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, cast

import numpy as np
import sympy

from uat_jax.decide import ranks
from uat_jax.decide.confirmation import confirm_steps, proved
from uat_jax.decide.counts import Shape, as_counted, counted, nonzeros_of, share_of
from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally, density_of
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Decide, Kind
from uat_jax.ledger.edit import OneEdit, one_case
from uat_jax.ledger.source import Source, duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import COUNT, HEAD, TOKENS, WIDTH, Heads
from uat_jax.symbolic.step import Step
from uat_jax.symbolic.support import Support, density, lower_triangular, nonzeros

N, d, h = TOKENS, WIDTH, COUNT
M = m.dimension("M")
CAUSAL = {"H": lower_triangular}
GENERIC = "weights for which no sum of products happens to cancel: almost all of them"
UNMASKED = "every token sees every token: no entry of softmax is zero"
MASKED = "a causal mask: H_i is zero above its diagonal and nowhere else"

# --- arrays to count on: weights and patterns are 1, so that sums of products do not cancel --------------------------------------------------------------------------------------------

SHAPES = [{N: n, d: width, h: count} for n, width, count in ((1, 1, 1), (1, 1, 2), (2, 1, 1), (3, 2, 2), (4, 1, 3))]


def _patterns(shape: Shape, causal: bool) -> np.ndarray:
    """Where H_1, …, H_h are not zero, (h, N, N): 1 at every token that a token sees."""
    everywhere = np.ones((shape[h], shape[N], shape[N]))
    return np.tril(everywhere) if causal else everywhere


def _matrix(patterns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Σ_i H_i ⊗ Y_iᵀ with Y_i (M × M') in place: the heads' patterns (h, N, N), their weights (h, M, M')."""
    return np.sum([np.kron(H, Y.T) for H, Y in zip(patterns, weights, strict=True)], axis=0)


def _placed(blocks: np.ndarray) -> np.ndarray:
    """E_i Y_i: each block in the rows of its own slice, (h, d, M') → (h, hd, M')."""
    count, width, columns = blocks.shape
    rows = np.zeros((count, count, width, columns))
    rows[np.arange(count), np.arange(count)] = blocks
    return rows.reshape(count, count * width, columns)


def _whole(shape: Shape, causal: bool = False) -> np.ndarray:
    """W_HVO of heads of a shape, with patterns and weights that are all 1, or 1 where a causal mask allows."""
    features = shape[h] * shape[d]
    blocks = np.ones((shape[h], shape[d], shape[d])) @ np.ones((features, features)).reshape(shape[h], shape[d], -1)
    return _matrix(_patterns(shape, causal), _placed(blocks))


def _values(shape: Shape, causal: bool = False) -> np.ndarray:
    """W_HV of that shape: Y_i = E_i W_Vi E_iᵀ."""
    count, width = shape[h], shape[d]
    blocks = np.zeros((count, width, count, width))
    blocks[np.arange(count), :, np.arange(count)] = np.ones((count, width, width))
    return _matrix(_patterns(shape, causal), _placed(blocks.reshape(count, width, count * width)))


def _wide(shape: Shape) -> np.ndarray:
    """W_HVO of heads that see all features: Y_i = W_Vi W_Oi is M × M, and no entry of it is zero."""
    features = shape[h] * shape[d]
    return _matrix(_patterns(shape, False), np.ones((shape[h], features, features)))


# --- densities -----------------------------------------------------------------------------------------------------


def _density(
    expression: m.Expression,
    build: Callable[[Shape], np.ndarray],
    *,
    what: str,
    causal: bool = False,
    shapes: list[dict[sympy.Symbol, int]] = SHAPES,
) -> Callable[[Any, Settings], Iterator[Evidence]]:
    """(claimed density, settings) → that density against the one counted in the expression, and in arrays."""

    def decide(claimed: Any, settings: Settings) -> Iterator[Evidence]:
        found = density(expression, CAUSAL if causal else None)
        measured = lambda shape: share_of(expression, build(shape), shape)
        said = as_counted(density_of(expression, {"H": "triangular"} if causal else None))
        yield from counted(claimed, found, what=what, measured=measured, shapes=shapes, said=said)

    return decide


OF_VALUES = _density(Heads().values_matrix(), _values, what="W_HV")
OF_DECODER = _density(Heads().matrix(), lambda shape: _whole(shape, True), what="W_HVO, causal", causal=True)

LINEAR = m.Kronecker(m.Letter("W", N, N), m.Identity(M))
LINEAR_SHAPES = [{N: n, M: features} for n, features in ((1, 1), (1, 2), (2, 1), (2, 2), (3, 4))]


def _linear(shape: Shape) -> np.ndarray:
    return np.kron(np.ones((shape[N], shape[N])), np.eye(shape[M]))


def _is(claimed: sympy.Expr | int, decide: Callable[[Any, Settings], Iterator[Evidence]]) -> Decide:
    """How to decide the claim that the density is the number `claimed`."""
    return lambda settings: decide(claimed, settings)


def _linear_zeros(claimed: Any, settings: Settings) -> Iterator[Evidence]:
    found, measured = 1 - density(LINEAR), lambda shape: 1 - share_of(LINEAR, _linear(shape), shape)
    what = "share of zeros in W ⊗ I_M"
    said = as_counted(1 - density_of(LINEAR))
    yield from counted(claimed, found, what=what, measured=measured, shapes=LINEAR_SHAPES, said=said)


ONE_HEAD = m.Kronecker(Heads().pattern(HEAD), Heads().weight("V", HEAD).T)


def _one_head(shape: Shape) -> np.ndarray:
    return np.kron(_patterns(shape, False)[0], np.ones((shape[d], shape[d])))


FULL_WIDTH = Heads().total(
    lambda i: m.Kronecker(Heads().pattern(i), (m.Letter("U", h * d, d, (i,)) @ m.Letter("O", d, h * d, (i,))).T)
)

# --- the criterion -------------------------------------------------------------------------------------------------


def _criterion(settings: Settings) -> Iterator[Evidence]:
    """The entry at (n, m), (n', m') is H_i[n, n'] · (W_Vi W_Oi)[m', m]; so a_i b_i entries of head i are not zero."""
    yield from (replace(evidence, subject="entries") for evidence in _columns())
    for of in (Heads(), Heads(2)):
        yield from (replace(evidence, subject=f"number of entries, h = {of.heads}") for evidence in _number(of))
    yield from (replace(evidence, subject="dense") for evidence in only_if_all())


def _columns() -> Iterator[Evidence]:
    """(H ⊗ Yᵀ)(p ⊗ q) = H p ⊗ Yᵀ q: each entry of a column is a product of one entry of H p and one of Yᵀ q."""
    p, q = m.Letter("p", N, 1), m.Letter("q", d, 1)
    H, Y = Heads().pattern(HEAD), m.Letter("Y", d, h * d, (HEAD,))
    left, right = m.Kronecker(H, Y.T) @ m.Kronecker(p, q), m.Kronecker(H @ p, Y.T @ q)
    what = "columns are Kronecker products of columns"
    yield from proved([Step("one column", left, right)], method=Method.NORMAL_FORM, what=what)


def _number(of: Heads) -> Iterator[Evidence]:
    """With a_i non-zero entries in H_i and b_i in Y_i = W_Vi W_Oi, W_HVO has Σ_i a_i b_i (a and b alike for all h)."""
    subscript = lambda i: f"_{i}" if isinstance(of.heads, int) else ""
    a, b = (lambda i, name=name: m.dimension(f"{name}{subscript(i)}") for name in "ab")
    block = lambda i: of.select(i) @ m.Letter("Y", d, of.features, (i,))
    expression = of.total(lambda i: m.Kronecker(of.pattern(i), block(i).T))
    counts = {"H": lambda letter: Support(a(*letter.subscripts)), "Y": lambda letter: Support(b(*letter.subscripts))}
    claimed = sum(a(i) * b(i) for i in (1, 2)) if of.heads == 2 else h * a(1) * b(1)

    def measured(shape: Shape) -> int:
        features = shape[h] * shape[d]
        fill = lambda number, sizes: np.stack([_filled(shape[number(i + 1)], sizes) for i in range(shape[h])])
        matrix = _matrix(fill(a, (shape[N],) * 2), _placed(fill(b, (shape[d], features))))
        return nonzeros_of(expression, matrix, shape)

    sizes = [{N: 2, d: 1, h: 2}, {N: 2, d: 2, h: 2}, {N: 3, d: 2, h: 2}]
    numbers = [(3, 1, 2, 2), (4, 8, 4, 8), (5, 2, 9, 1)]
    shapes = [
        {**size, **dict(zip((a(1), b(1), a(2), b(2)), n, strict=True))} for size, n in zip(sizes, numbers, strict=True)
    ]
    yield from counted(
        claimed,
        nonzeros(expression, counts),
        what=f"non-zero entries of {expression}",
        measured=measured,
        shapes=shapes,
    )


def _filled(count: int, sizes: tuple[int, int]) -> np.ndarray:
    """A matrix whose first ``count`` entries are 1, the rest 0."""
    return (np.arange(sizes[0] * sizes[1]) < count).astype(float).reshape(sizes)


def only_if_all() -> Iterator[Evidence]:
    """Σ_i a_i b_i is the number of all entries only if every a_i and b_i is: a of A, b of B, for any head and the others.

    a_i ≤ A = N² and b_i ≤ B = dM are the non-zero entries of H_i and Y_i, r ≤ R those of the other heads; W_HVO has
    A B + R entries.
    """
    a, b, A, B, R = sympy.symbols("a b A B R", positive=True)
    r = sympy.Symbol("r", nonnegative=True)
    all_of_W = [r <= R, a * b + r >= A * B + R]
    yield proved_inequality(a * b >= A * B, all_of_W, what="the head has all of its entries")
    all_of_head = [a <= A, b <= B, a * b >= A * B]
    yield proved_inequality(a >= A, all_of_head, what="so H_i has no zero")
    yield proved_inequality(b >= B, all_of_head, what="nor has Y_i")


def _nonzero_suffices(settings: Settings) -> Iterator[Evidence]:
    """Weights without zeros whose product has some: one head on two features, and two heads on six."""
    what = "non-zero entries of W_HVO, with weights without zeros"
    V, O = np.ones((2, 2)), np.array([[1.0, 1.0], [-1.0, 1.0]])
    at = {"N": 1, "W_V": V.astype(int).tolist(), "W_O": O.astype(int).tolist()}
    small = _matrix(_patterns({h: 1, N: 1}, False), (V @ O)[None])
    yield exhibit_numbers(np.count_nonzero(small), small.size, at=at, what=what)
    O = np.ones((6, 6))
    O[:3, 0] = 1, 1, -2
    large = _matrix(_patterns({h: 2, N: 1}, False), _placed(np.ones((2, 3, 3)) @ O.reshape(2, 3, 6)))
    at = {"N": 1, "h": 2, "W_V": 1, "first column of W_O1": [1, 1, -2], "rest of W_O": 1}
    yield exhibit_numbers(np.count_nonzero(large), large.size, at=at, what=what)


# --- correlation ---------------------------------------------------------------------------------------------------


def rearranged(matrix: np.ndarray, tokens: int) -> np.ndarray:
    """Van Loan's rearrangement: entry (n, m), (n', m') of an NM' × NM matrix at (n, n'), (m, m'), N² × M'M."""
    rows, columns = (size // tokens for size in matrix.shape)
    return matrix.reshape(tokens, rows, tokens, columns).transpose(0, 2, 1, 3).reshape(tokens**2, rows * columns)


def _correlated(settings: Settings) -> Iterator[Evidence]:
    """H ⊗ Y is rearranged into vec(H) vec(Y)ᵀ, of rank 1; so a sum over h heads has a rank of at most h."""
    yield replace(rearranged_entries(), subject="rearrangement")
    yield replace(rearrangement_of_one_head(rearranged), subject="rearrangement")
    confirmed = confirm_steps([rearranged_sum()], what="both sides between columns, two heads")
    assert confirmed is not None  # two heads can be written out and lowered
    yield replace(confirmed, subject="rearrangement")
    columns = lambda i: (
        m.Kronecker(Heads().output.T, m.Identity(Heads().features)) @ m.Vectorised(Heads().placed_value(i).T)
    )
    factored = Heads().total(lambda i: m.Product(m.Vectorised(Heads().pattern(i)), columns(i).T))
    step = Step("Σ_i vec(H_i) vec(Y_iᵀ)ᵀ with vec(Y_iᵀ) = (W_Oᵀ ⊗ I) vec((E_i W_Vi E_iᵀ)ᵀ)", _outer(Heads()), factored)
    yield from ranks.bounded(step, claimed=h, what="W_HVO rearranged, N² × M²", subject="bound")
    yield ranks.attained(2, random_rearranged, what="N = 3, M = 4, h = 2", subject="attained")


def _outer(of: Heads) -> m.Expression:
    """Σ_i vec(H_i) vec(Y_iᵀ)ᵀ with Y_i = E_i W_Vi E_iᵀ W_O, N² × M²."""
    column = lambda i: m.Vectorised((of.placed_value(i) @ of.output).T)
    return of.total(lambda i: m.Vectorised(of.pattern(i)) @ column(i).T)


Place = tuple[Any, Any]


def rearranged_entries(move: Callable[[Place, Place], tuple[Place, Place]] | None = None) -> Evidence:
    """Entry (n, m), (n', m') of H ⊗ Yᵀ is the entry (n, n'), (m, m') of vec(H) vec(Yᵀ)ᵀ, for all shapes.

    ``move`` says where an entry of W_HVO goes, in index notation.
    """
    move = move or (lambda row, column: ((row[0], column[0]), (row[1], column[1])))
    H, turned = (cast(Any, sympy.IndexedBase(name)) for name in ("H", "Yᵀ"))
    n, k, i, j = sympy.symbols("n n' m m'", integer=True, positive=True)
    row, column = move((n, i), (k, j))
    same = H[n, k] * turned[i, j] == H[row] * turned[column]
    finding = "entry (n, m), (n', m') of H ⊗ Yᵀ is H[n, n'] Yᵀ[m, m'], entry (n, n'), (m, m') of vec(H) vec(Yᵀ)ᵀ"
    return Evidence(Method.INDEX_NOTATION, finding, Verdict.PROVED if same else Verdict.UNKNOWN)


def rearranged_sum() -> Step:
    """(a ⊗ c)ᵀ W_HVO (b ⊗ e) = (a ⊗ b)ᵀ [Σ_i vec(H_i) vec(Y_iᵀ)ᵀ] (c ⊗ e) for all columns; for two heads."""
    of = Heads(2)
    (a, b), (c, e) = ([m.Letter(name, size, 1) for name in names] for names, size in (("ab", N), ("ce", of.features)))
    left = m.Product(m.Kronecker(a, c).T, of.matrix(), m.Kronecker(b, e))
    return Step("rearranged", left, m.Product(m.Kronecker(a, b).T, _outer(of), m.Kronecker(c, e)))


def random_rearranged(random: np.random.Generator) -> tuple[np.ndarray, m.Expression, ranks.Letters]:
    """W_HVO of two heads on three tokens and four features, whole numbers, rearranged: 9 × 16."""
    patterns, blocks = ranks.drawn(random, 2, 3, 3), ranks.drawn(random, 2, 2, 4)
    H, Y = ([m.Letter(name, *size, (i,)) for i in (1, 2)] for name, size in (("H", (3, 3)), ("Y", (2, 4))))
    placed = [m.Vectorised((m.Selection(i, 4, 2) @ Y[i - 1]).T) for i in (1, 2)]
    expression = m.Addition(*(m.Vectorised(pattern) @ column.T for pattern, column in zip(H, placed, strict=True)))
    letters = {**dict(zip(H, patterns, strict=True)), **dict(zip(Y, blocks, strict=True))}
    return rearranged(_matrix(patterns, _placed(blocks)), 3).astype(int), expression, letters


def rearrangement_of_one_head(rearrange: Callable[[np.ndarray, int], np.ndarray]) -> Evidence:
    """The rearrangement of H ⊗ Yᵀ is vec(H) vec(Yᵀ)ᵀ, entry by entry, with SymPy's own matrices of free symbols."""
    H, Y = (sympy.Matrix(2, size, sympy.symbols(f"{name}:{2 * size}")) for name, size in (("a", 2), ("b", 3)))
    matrix = np.array(sympy.Matrix(sympy.kronecker_product(H, Y.T)).tolist(), dtype=object)
    outer = np.outer(np.array(H.tolist(), dtype=object).ravel(), np.array(Y.T.tolist(), dtype=object).ravel())
    verdict = Verdict.PROVED if np.array_equal(rearrange(matrix, 2), outer) else Verdict.UNKNOWN
    return Evidence(Method.ENTRIES, "H ⊗ Yᵀ is rearranged into vec(H) vec(Yᵀ)ᵀ (H 2 × 2, Y 2 × 3)", verdict)


def _numbers(settings: Settings) -> Iterator[Evidence]:
    """Entries of the H_i, W_Vi and W_O."""
    size = lambda letter: letter.shape[0] * letter.shape[1]
    of = Heads()
    found = h * size(of.pattern(HEAD)) + h * size(of.weight("V", HEAD)) + size(of.output)
    made_of = of.total(lambda i: m.Kronecker(of.pattern(i), of.weight("V", i)))
    said = as_counted(Tally("stored", made_of) + Tally("entries", of.output))

    def measured(shape: Shape) -> int:
        features = shape[h] * shape[d]
        return _patterns(shape, False).size + np.ones((shape[h], shape[d], shape[d])).size + features**2

    claimed = h * N**2 + (h * d) ** 2 / h + (h * d) ** 2
    yield from counted(claimed, found, what="numbers that make W_HVO", measured=measured, shapes=SHAPES, said=said)


DENSE: tuple[Source, ...] = (v1("4.2"), v2("4.2"), duat("4.2"))
DENSE_LATEX = r"\mathbf{W}'_{HVO}\text{ represents a dense matrix (almost devoid of zero elements}\dots)"

CLAIMS = (
    Claim(
        id="density.linear",
        title="the sparsity of the Linear matrix is 1/M, as the share of non-zeros",
        ledger="D3",
        kind=Kind.COUNT,
        sources=(v1("B.1", 15),),
        printed=r"\text{the sparsity of the parameter matrix}\dots\text{is }1/M",
        reading="sparsity is the share of entries that are not zero",
        hypotheses=("W has no zero",),
        expects=Verdict.PROVED,
        decide=_is(1 / M, _density(LINEAR, _linear, what="share of non-zeros in W ⊗ I_M", shapes=LINEAR_SHAPES)),
    ),
    Claim(
        id="density.linear-zeros",
        title="the sparsity of the Linear matrix is 1/M, as the share of zeros",
        ledger="D3",
        kind=Kind.COUNT,
        sources=(v1("B.1", 15),),
        printed=r"\text{the sparsity of the parameter matrix}\dots\text{is }1/M",
        reading="sparsity is the share of zeros: it is 1 − 1/M",
        hypotheses=("W has no zero",),
        expects=Verdict.REFUTED,
        correction="density.linear",
        decide=OneEdit(1 / M, 1 - 1 / M, _linear_zeros),
    ),
    Claim(
        id="density.one-head",
        title="the matrix of one head is dense",
        ledger="E8",
        kind=Kind.COUNT,
        sources=(duat("A"), v2("B"), v1("B.2")),
        printed=r"\mathbf{W}'_{HVi}\text{ is a dense matrix}",
        hypotheses=(UNMASKED, "W_Vi has no zero"),
        expects=Verdict.PROVED,
        decide=_is(1, _density(ONE_HEAD, _one_head, what="H_i ⊗ W_Viᵀ")),
    ),
    Claim(
        id="density.stacked-dense",
        ours=True,
        title="the matrix of all heads before W_O is dense",
        ledger="E8",
        kind=Kind.COUNT,
        sources=(duat("A"), v2("B"), v1("B.2")),
        printed=r"\mathbf{W}'_{HV}\text{ is a dense matrix}",
        reading="not printed: what is printed of W'_HVi, the matrix of one head, said of all heads together",
        hypotheses=(UNMASKED, "W_Vi has no zero"),
        expects=Verdict.REFUTED,
        correction="density.stacked",
        decide=OneEdit(sympy.Integer(1), 1 / h, OF_VALUES),
    ),
    Claim(
        id="density.stacked",
        title="the matrix of all heads before W_O has density 1/h",
        ledger="E8",
        kind=Kind.COUNT,
        sources=(duat("A"), v2("B"), v1("B.2")),
        printed=r"\text{density of }\mathbf{W}'_{HV}=1/h",
        reading="not printed: each head fills the columns of its own slice only",
        hypotheses=(UNMASKED, "W_Vi has no zero"),
        expects=Verdict.PROVED,
        decide=_is(1 / h, OF_VALUES),
    ),
    Claim(
        id="density.criterion",
        title="W_HVO is dense if and only if no H_i and no W_Vi W_Oi has a zero",
        ledger="E10",
        kind=Kind.CRITERION,
        sources=(v2("3.4"), duat("3.2")),
        printed=r"(\mathbf{W}_{HVO})_{(n,m),(n',m')}=(\mathbf{H}_i)_{nn'}(\mathbf{W}_{Vi}\mathbf{W}_{Oi})_{m'm}",
        reading="the corrected condition: h a b = N²M² with a ≤ N², b ≤ M²/h exactly if a = N² and b = M²/h",
        hypotheses=("m' in slice i",),
        expects=Verdict.PROVED,
        decide=_criterion,
    ),
    Claim(
        id="density.nonzero-suffices",
        title="W_HVO is dense as long as the weights are non-zero",
        ledger="E10",
        kind=Kind.CRITERION,
        sources=(v2("3.4"), duat("3.2")),
        printed=r"\text{as long as the variables in }\mathbf{W}_{HV}\text{ and }\mathbf{W}'_O\text{ are non-zero, the result is essentially a dense matrix}",
        reading="no entry of H_i, W_Vi, W_O is zero",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="density.criterion",
        decide=one_case({"no zero in H_i, W_Vi, W_O": _nonzero_suffices, "no zero in H_i, W_Vi W_Oi": _criterion}),
    ),
    Claim(
        id="density.encoder",
        title="W_HVO is dense for almost all weights",
        ledger="E10, E11",
        kind=Kind.COUNT,
        sources=DENSE,
        printed=DENSE_LATEX,
        reading="without a mask; an entry that is not zero for some weights is zero only where a polynomial vanishes",
        hypotheses=(UNMASKED, GENERIC),
        expects=Verdict.PROVED,
        decide=_is(1, _density(Heads().matrix(), _whole, what="W_HVO")),
    ),
    Claim(
        id="density.full-width",
        title="W_HVO of heads that see all features is dense for almost all weights",
        ledger="E10",
        kind=Kind.COUNT,
        sources=DENSE,
        printed=DENSE_LATEX,
        reading="heads as in Vaswani et al., without a mask",
        hypotheses=(UNMASKED, GENERIC),
        expects=Verdict.PROVED,
        decide=_is(1, _density(FULL_WIDTH, _wide, what="W_HVO")),
    ),
    Claim(
        id="density.decoder-dense",
        title="W_HVO of a decoder is dense",
        ledger="E11",
        kind=Kind.COUNT,
        sources=DENSE,
        printed=DENSE_LATEX,
        reading="with the causal mask of the language models that the papers are about",
        hypotheses=(MASKED, GENERIC),
        expects=Verdict.REFUTED,
        correction="density.decoder",
        decide=OneEdit(sympy.Integer(1), (N + 1) / (2 * N), OF_DECODER),
    ),
    Claim(
        id="density.decoder",
        title="W_HVO of a decoder has density (N + 1)/(2N)",
        ledger="E11",
        kind=Kind.COUNT,
        sources=DENSE,
        printed=r"\text{density of }\mathbf{W}'_{HVO}=\frac{N+1}{2N}",
        reading="for every N, M and h: at most 5/8 from four tokens on, and towards 1/2",
        hypotheses=(MASKED, GENERIC),
        expects=Verdict.PROVED,
        decide=_is((N + 1) / (2 * N), OF_DECODER),
    ),
    Claim(
        id="density.correlated",
        title="the entries of W_HVO are correlated: rearranged, its rank is at most h",
        ledger="E12",
        kind=Kind.RANK,
        sources=(v1("4.2"), v2("4.2"), duat("4.2")),
        printed=r"\mathbf{W}'_{HVO}\dots\text{whose internal elements are highly correlated}",
        reading="exactly: entry (n, m), (n', m') moved to (n, n'), (m, m') gives an N² × M² matrix of rank ≤ h",
        hypotheses=("h ≤ N² for the rank to be reached",),
        expects=Verdict.PROVED,
        decide=_correlated,
    ),
    Claim(
        id="density.numbers",
        title="the N²M² entries of W_HVO are made of hN² + M²/h + M² numbers",
        ledger="E12",
        kind=Kind.COUNT,
        sources=(v1("4.2"), v2("4.2"), duat("4.2")),
        printed=r"hN^2+\frac{M^2}{h}+M^2",
        reading="the entries of H_i, W_Vi and W_O for slice heads; heads that see all features have M² for M²/h",
        hypotheses=("M = hd",),
        expects=Verdict.PROVED,
        decide=_numbers,
    ),
)  # fmt: skip
