"""Theorem 3: attention as a matrix acting on vec(x), what its pattern depends on, and whether it is linear (E2–E5, E13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide import dependence, ranks
from uat_jax.decide.confirmation import confirm, confirm_steps, proved
from uat_jax.decide.counts import Shape, as_counted, counted
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.floats import compare_on
from uat_jax.decide.floats_evidence import float_evidence
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.attention.slices import attention_shapes
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, apply, letter, one_case, one_word, shape
from uat_jax.ledger.layers.kernels import DRAWN, HEADS, TOKENS, cast, letters, random_trials
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.lowering import Lowered
from uat_jax.networks import TransformerLayer, attention
from uat_jax.symbolic import heads as one
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import Heads, scaled_softmax
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

vec = m.Vectorised
N, d, h, i = one.TOKENS, one.WIDTH, one.COUNT, one.HEAD
FROZEN = ("H_i is the pattern at the input at hand", "row-major vec")

# --- Theorem 3 -----------------------------------------------------------------------------------------------------


def _token_matrix(of: Attention) -> m.Letter:
    return m.Letter("X", of.tokens, of.features(0))


def _mha(settings: Settings) -> Iterator[Evidence]:
    """vec(MHA(X)) = W_HVO(X) vec(X), for any number of heads h, tokens N and features M."""
    of = Attention(m.dimension("h"))
    X = _token_matrix(of)
    left, right = m.Vectorised(of.attend(1, X)), of.matrix(1, X) @ m.Vectorised(X)
    yield prove([Step("Theorem 3", left, right, {})], method=Method.NORMAL_FORM, what="for every N, M and h")
    of = Attention(HEADS)
    X, x, y = _token_matrix(of), of.layers.x(0), of.layers.x(1)
    sides = (m.Vectorised(of.attend(1, X)), of.matrix(1, X) @ x)
    programs = [Program({X: m.Matricised(x, *X.shape), y: side}, y) for side in sides]
    yield confirm(*programs, what=f"h = {HEADS}")
    for dtype in settings.dtypes:
        yield _mha_in_floats(dtype, settings)


def _mha_in_floats(dtype: str, settings: Settings) -> Evidence:
    """Attention of the first layer of the random Transformers against its matrix."""
    of = Attention(HEADS)
    X, x, y = _token_matrix(of), of.layers.x(0), of.layers.x(1)
    program = Program({X: m.Matricised(x, *X.shape), y: of.matrix(1, X) @ x}, y)
    lowered = Lowered(program, x, jax.nn.relu, settings.precision, {of.tokens: TOKENS})

    def plain(arguments):
        layer, x = arguments
        return attention(layer, x, precision=settings.precision).reshape(-1)

    def matrix(arguments):
        layer, x = arguments
        return lowered(letters("transformer", [layer]), x.reshape(-1))

    layers, inputs = random_trials("transformer", settings.depth, settings.trials, settings.seed)
    found = compare_on(
        plain,
        matrix,
        cast((layers[0], inputs), dtype),
        dtype=dtype,
        seed=settings.seed,
        precision=settings.precision,
        device=settings.device,
        keep=settings.keep,
    )
    return float_evidence(found, what="attention against its matrix", drawn=DRAWN)


def _every_number_of_heads(equation: Callable[[Heads], Step]) -> Callable[[Settings], Iterator[Evidence]]:
    """An equation proved for every number of heads; for two heads it is confirmed in prime fields."""
    steps = [equation(Heads()), equation(Heads(2))]
    return lambda settings: proved(steps, method=Method.NORMAL_FORM, what="for every N, d and h")


def _transposed(of: Heads) -> Step:
    """(W'_HVO)ᵀ x' with W'_HVO = Σ_i H_iᵀ ⊗ (E_i W_Vi E_iᵀ W_O)."""
    primed = of.total(lambda i: m.Kronecker(of.pattern(i).T, of.placed_value(i) @ of.output))
    return Step("Eq. 9", vec(of.attended()), primed.T @ vec(of.x))


def _size(settings: Settings) -> Iterator[Evidence]:
    """W_HVO is NM × NM; counted as the entries of the result and of the input that Jacobians see."""
    rows, columns = Heads().matrix().shape
    size = N * h * d
    for axis, found in (("rows", rows), ("columns", columns)):
        measured = lambda shape, axis=axis: _jacobian_size(shape)[axis == "columns"]
        shapes = [{N: 1, d: 1, h: 1}, {N: 3, d: 1, h: 2}, {N: 2, d: 2, h: 2}]
        said = as_counted(Tally(axis, Heads().matrix()))
        for evidence in counted(size, found, what=axis, measured=measured, shapes=shapes, said=said):
            yield replace(evidence, subject=axis)


def _jacobian_size(shape: Shape) -> tuple[int, int]:
    """Lengths of vec(MHA(x)) and vec(x) for the plain network of that shape."""
    tokens, width, count = (shape[s] for s in (N, d, h))
    layer = TransformerLayer(*(jax.ShapeDtypeStruct(s, jnp.float32) for s in attention_shapes(width, count)))  # type: ignore[arg-type]
    result = jax.eval_shape(attention, layer, jax.ShapeDtypeStruct((tokens, count * width), jnp.float32))
    return int(np.prod(result.shape)), tokens * count * width


_SIZE = N * h * d
_TURNED = apply("transpose", letter("W", _SIZE, _SIZE))


def _eq_8_left() -> OneEdit:
    """H̊ for the column H̊'."""
    ring, column = letter("H̊", N, h * d), apply("product", _TURNED, letter("x", _SIZE, 1))
    formulas = (apply("difference", left, column) for left in (ring, apply("vec", ring)))
    return shape(formulas, ("N", "d", "h"), what="H̊ = (W'_HVO)ᵀ x'")


def _eq_8_slice() -> OneEdit:
    """x_i for the whole x."""
    formulas = (apply("product", _TURNED, apply("vec", letter(*x))) for x in (("x_i", N, d), ("x", N, h * d)))
    return shape(formulas, ("N", "d", "h"), what="(W'_HVO)ᵀ (x_i)'")


# --- what the pattern depends on -----------------------------------------------------------------------------------


def _pattern(x: jax.Array, query: jax.Array, key: jax.Array) -> jax.Array:
    """H of one head of one feature, M = 1."""
    scores = jnp.matmul(x * query, (x * key).T, precision="highest")
    return jax.nn.softmax(scores, axis=-1)


def _depends_on(name: str) -> Evidence:
    """H_i takes two values as one of x_i, W_Qi, W_Ki changes and the others stay: two tokens, one feature."""
    numbers = {"x_i": np.array([[1.0], [0.0]]), "W_Qi": np.ones((1, 1)), "W_Ki": np.ones((1, 1))}
    changing = numbers.pop(name)

    def pattern(value: jax.Array) -> jax.Array:
        others = {other: jnp.asarray(number, value.dtype) for other, number in numbers.items()}
        arguments = {**others, name: value}
        return _pattern(arguments["x_i"], arguments["W_Qi"], arguments["W_Ki"])

    at = {other: number.tolist() for other, number in numbers.items()}
    pair = changing, 0 * changing
    return dependence.dynamic(pattern, pair, what=f"H_i as {name} changes", subject=name, at=at)


def _from_slice_and_weights(settings: Settings) -> Iterator[Evidence]:
    """H_i depends on each of x_i, W_Qi and W_Ki, and on no other slice and no other weight."""
    yield from map(_depends_on, ("x_i", "W_Qi", "W_Ki"))
    of = Heads()
    own = m.Letter("x", N, d, (i,))
    others = (m.Letter("x", N, d, (i + 1,)), of.weight("Q", i + 1), of.weight("K", i + 1), of.weight("V", i))
    pattern = scaled_softmax(own @ of.weight("Q", i), own @ of.weight("K", i), of.features)
    what = "H_i for any other slices and weights"
    yield from dependence.static(pattern, others, what=what, subject="nothing else")
    yield other_slice_hidden()


def other_slice_hidden(number: int = 1) -> Evidence:
    """softmax(x E_1 W_Q1 (x E_1 W_K1)ᵀ/√M) cut out of the whole x = Σ_k x_k E_kᵀ, for two values of x_2; h = 2.

    ``number`` is the slice that is cut out.
    """
    of = Heads(2)
    piece = lambda k: m.Letter("x", N, d, (k,))
    own = m.Addition(*(piece(k) @ of.select(k).T for k in (1, 2))) @ of.select(number)
    pattern = scaled_softmax(own @ of.weight("Q", 1), own @ of.weight("K", 1), of.features)
    found = confirm_steps([dependence.twice(pattern, piece(2))], what="H_1 of the whole x at any two second slices")
    assert found is not None  # two slices can be written out and lowered
    return replace(found, subject="nothing else")


# --- linear, or not ------------------------------------------------------------------------------------------------


def _linear_when_frozen(of: Heads) -> Step:
    """Σ_i H_i (x + 2 z) … = Σ_i H_i x … + 2 Σ_i H_i z …."""
    z = m.Letter("z", *of.x.shape)
    at = lambda point: of.total(lambda i: of.pattern(i) @ point @ of.placed_value(i) @ of.output)
    return Step("frozen patterns", vec(at(of.x + 2 * z)), vec(at(of.x)) + 2 * vec(at(z)))


_frozen = _every_number_of_heads(_linear_when_frozen)
"""With fixed patterns attention is linear, and so its own derivative."""


def _own_pattern(x: jax.Array) -> jax.Array:
    """H(x) of one head of one feature, all weights 1."""
    one = jnp.ones((), x.dtype)
    return _pattern(x[:, None], one, one)


def _smallest(x: jax.Array) -> jax.Array:
    """MHA(x) = H(x) x of that head."""
    return jnp.matmul(_own_pattern(x), x, precision="highest")


def _linear_as_a_map(settings: Settings) -> Iterator[Evidence]:
    twice, double = (lambda x: _smallest(x + x)), (lambda x: _smallest(x) + _smallest(x))
    what = "N = 2, one feature, all weights 1"
    yield exhibit(twice, double, {"x": [1, 0]}, what=what, names=("MHA(2x)", "2 MHA(x)"))


def _jacobian(settings: Settings) -> Iterator[Evidence]:
    jacobian = lambda x: jax.jacfwd(_smallest)(x)
    what = "N = 2, one feature, all weights 1"
    yield exhibit(jacobian, _own_pattern, {"x": [1, 0]}, what=what, names=("the Jacobian", "W_HVO(x)"))


def _per_head(of: Heads) -> Step:
    """Σ_i [H_i ⊗ (W_Vi W_Oi)ᵀ] vec(x_i), W_Oi = E_iᵀ W_O."""
    own = lambda i: of.weight("V", i) @ of.select(i).T @ of.output
    right = of.total(lambda i: m.Kronecker(of.pattern(i), own(i).T) @ vec(of.slice(i)))
    return Step("sum over heads", vec(of.attended()), right)


# --- Eq. 35 --------------------------------------------------------------------------------------------------------


def _eq_35(settings: Settings) -> Iterator[Evidence]:
    """x_i W_Qi (x_i W_Ki)ᵀ = x_i W_QKi x_iᵀ inside the softmax, W_QKi = W_Qi W_Kiᵀ."""
    x, QK = m.Letter("x", N, d, (i,)), m.Letter("W", d, d, (sympy.Symbol("QK"), i))
    Q, K = Heads().weight("Q", i), Heads().weight("K", i)
    scale = 1 / sympy.sqrt(m.dimension("M"))
    soft = lambda scores: m.RowSoftmax(m.Scaled(scale, scores))
    lines = (x @ Q) @ (x @ K).T, x @ Q @ K.T @ x.T, x @ QK @ x.T
    steps = [Step(f"line {n}", soft(lines[0]), soft(line), {QK: Q @ K.T}) for n, line in enumerate(lines[1:], 2)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="all three lines are one pattern, for all shapes")


def _row_sums(settings: Settings) -> Iterator[Evidence]:
    """softmax(S) 1 = 1 for any scores S, and so H_i 1 = 1."""
    S, one_ = m.Letter("S", N, N), m.Ones(N, 1)
    of = Heads()
    pattern = scaled_softmax(of.slice(i) @ of.weight("Q", i), of.slice(i) @ of.weight("K", i), of.features)
    steps = [Step("softmax(S) 1", m.RowSoftmax(S) @ one_, one_), Step("H_i 1", pattern @ one_, one_)]
    yield from proved(
        steps, method=Method.NORMAL_FORM, what="the rows of a softmax add up to 1, for every N and any scores"
    )


def _rank_of_qk(settings: Settings) -> Iterator[Evidence]:
    Q, K = (Heads().wide_weight(name, i) for name in "QK")
    QK = m.Letter("W", h * d, h * d, (sympy.Symbol("QK"), i))
    step = Step("W_QKi = W_Qi W_Kiᵀ", QK, Q @ K.T, {QK: Q @ K.T})
    yield from ranks.bounded(step, claimed=d, what="W_QKi, M × M", subject="bound")

    def draw(random: np.random.Generator) -> tuple[np.ndarray, m.Expression, ranks.Letters]:
        letters = {m.Letter(name, 6, 2): ranks.drawn(random, 6, 2) for name in "QK"}
        (Q, of_Q), (K, of_K) = letters.items()
        return of_Q @ of_K.T, Q @ K.T, letters

    yield ranks.attained(2, draw, what="W_QKi with M = 6, d = 2", subject="attained")


CLAIMS = (
    Claim(
        id="attention.matrix",
        title="multi-head attention is a matrix acting on vec(x)",
        ledger="Theorem 3, E1, E2",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 7, 8, 9, 10), v2("3.4", 7, 8, 9, 10), v1("3.4", 6, 7, 8)),
        printed=r"\mathring{\mathbf{H}}'=(\mathbf{W}'_{HVO})^T\mathbf{x}'",
        reading="row-major vec; the transpose of W'_HVO is W_HVO(x) = Σ_i H_i(x) ⊗ (E_i W_Vi W_Oi)ᵀ, which depends on x",
        hypotheses=(
            "heads act on slices of the features, of which there are M/h each",
            "the scores are divided by √M",
            "Concat(Ĥ_1, …, Ĥ_h) W_O is Σ_i Ĥ_i W_Oi with W_Oi the i-th block of rows (block multiplication)",
        ),
        expects=Verdict.PROVED,
        decide=_mha,
    ),
    Claim(
        id="attention.matrix.transposed",
        title="the same with the printed transpose, and Concat(…) W_O as one product",
        ledger="E2",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 9), v2("3.4", 9), v1("3.4", 8)),
        printed=r"\mathring{\mathbf{H}}'=(\mathbf{W}'_{HVO})^T\mathbf{x}'",
        reading="W'_HVO = Σ_i H_iᵀ ⊗ (E_i W_Vi E_iᵀ W_O), the product that the papers call too complex",
        hypotheses=FROZEN,
        expects=Verdict.PROVED,
        decide=_every_number_of_heads(_transposed),
    ),
    Claim(
        id="attention.size",
        title="W'_HVO has NM rows and NM columns",
        ledger="E2",
        kind=Kind.COUNT,
        sources=(duat("3.2", 9), v2("3.4", 9), v1("3.4", 8)),
        printed=r"\mathbf{W}'_{HVO}\in\mathbb{R}^{(NM,NM)}",
        hypotheses=("M features before and after attention",),
        expects=Verdict.PROVED,
        decide=_size,
    ),
    Claim(
        id="attention.eq-8.v1-left",
        title="v1 prints H̊ where the column H̊' is meant",
        ledger="E2",
        kind=Kind.SHAPE,
        sources=(v1("3.4", 8),),
        printed=r"\mathring{\mathbf{H}}=(\mathbf{W}'_{HVO})^T(\mathbf{x}_i)'",
        reading="H̊ is the N × M matrix of Eq. 6; the line below Eq. 8 makes it a column of NM elements, which is "
        "attention.matrix.transposed",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.matrix.transposed",
        decide=_eq_8_left(),
    ),
    Claim(
        id="attention.eq-8.v1-right",
        title="v1 prints x_i where the whole x is meant",
        ledger="E2",
        kind=Kind.SHAPE,
        sources=(v1("3.4", 8),),
        printed=r"\mathring{\mathbf{H}}=(\mathbf{W}'_{HVO})^T(\mathbf{x}_i)'",
        reading="x_i is slice i of the features, as in Eq. 7; the line below Eq. 8 makes it the whole input of layer i",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.matrix.transposed",
        decide=_eq_8_slice(),
    ),
    Claim(
        id="attention.per-head",
        title="attention is a sum of one matrix per head, acting on vec(x_i)",
        ledger="E5",
        kind=Kind.IDENTITY,
        sources=(v1("3.4"),),
        printed=r"\text{utilizing }\mathbf{H}'_i,\mathbf{W}'_{Vi}\text{ and }\mathbf{W}'_{Oi}\text{ to generate the "
        r"corresponding parameters }\mathbf{W}'_{HVOi}\text{ for }\mathbf{x}'_i",
        reading="H̊' = Σ_i W_HVOi x'_i with W_HVOi = H_i ⊗ (W_Vi W_Oi)ᵀ",
        hypotheses=FROZEN,
        expects=Verdict.PROVED,
        decide=_every_number_of_heads(_per_head),
    ),
    Claim(
        id="attention.pattern-from-weights",
        title="v1: H_i is derived from W_Qi and W_Ki",
        ledger="E3",
        kind=Kind.DEPENDENCE,
        sources=(v1("3.4"),),
        printed=r"\mathbf{H}_i\text{ is derived based on the parameters }\mathbf{W}_{Qi}\text{ and }\mathbf{W}_{Ki}",
        reading="from these alone, so that it does not change with the input",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.pattern-from-input",
        decide=one_word(lambda: [replace(_depends_on("x_i"), subject="")], "from the weights alone", "from x_i as well"),
    ),
    Claim(
        id="attention.pattern-from-input",
        title="H_i is derived from x_i, W_Qi and W_Ki",
        ledger="E3",
        kind=Kind.DEPENDENCE,
        sources=(duat("3.2"), v2("3.4")),
        printed=r"\mathbf{H}_i\text{ is derived based on the parameters }\mathbf{x}_i,\mathbf{W}_{Qi}\text{ and }\mathbf{W}_{Ki}",
        reading="it changes with each of the three, and with nothing else",
        hypotheses=(),
        expects=Verdict.PROVED,
        decide=_from_slice_and_weights,
    ),
    Claim(
        id="attention.linear.frozen",
        title="attention is linear as long as the H_i are held fixed",
        ledger="E4, E3",
        kind=Kind.IDENTITY,
        sources=(v1("3.4"),),
        printed=r"\text{MHA can be regarded as a specialized form of linear transformation}",
        reading="H_i is regarded as a matrix of parameters, taken at the input at hand",
        hypotheses=FROZEN,
        expects=Verdict.PROVED,
        decide=_frozen,
    ),
    Claim(
        id="attention.linear.map",
        title="attention is a linear map of its input",
        ledger="E4",
        kind=Kind.IDENTITY,
        sources=(v1("3.4"),),
        printed=r"\text{MHA can be regarded as a specialized form of linear transformation}",
        reading="H_i is what it is, a function of the input; so that MHA(2x) = 2 MHA(x)",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.linear.frozen",
        decide=one_case({"H_i(x)": _linear_as_a_map, "H_i held fixed": _frozen}),
    ),
    Claim(
        id="attention.linear.derivative",
        ours=True,
        title="W_HVO(x) is the derivative of attention at x",
        ledger="E4",
        kind=Kind.IDENTITY,
        sources=(v1("3.4"),),
        printed=r"\text{MHA can be regarded as a specialized form of linear transformation}",
        reading="not claimed, but another sense of the sentence: the linear map that is nearest to attention around x",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.linear.frozen",
        decide=one_case({"H_i(x)": _jacobian, "H_i held fixed": _frozen}),
    ),
    Claim(
        id="attention.eq-35",
        title="queries and keys enter through the product W_QKi = W_Qi W_Kiᵀ",
        ledger="E13",
        kind=Kind.IDENTITY,
        sources=(duat("C", 35), v2("B"), v1("B.2")),
        printed=r"\operatorname{softmax}\left(\frac{\mathbf{x}_i\mathbf{W}_{Qi}(\mathbf{x}_i\mathbf{W}_{Ki})^T}{\sqrt{M}}\right)\cdots=\operatorname{softmax}\left(\frac{\mathbf{x}_i\mathbf{W}_{QKi}\mathbf{x}_i^T}{\sqrt{M}}\right)",
        hypotheses=(),
        expects=Verdict.PROVED,
        decide=_eq_35,
    ),
    Claim(
        id="attention.row-sums",
        title="the rows of every H_i add up to 1",
        ledger="E5",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 8), v2("3.4", 8), v1("3.4", 7)),
        printed=r"\mathbf{H}_i\mathbf{1}=\mathbf{1}",
        reading="not printed: what a softmax of rows is; with it biases and equal tokens pass through attention",
        hypotheses=(),
        expects=Verdict.PROVED,
        decide=_row_sums,
    ),
    Claim(
        id="attention.eq-35.rank",
        title="W_QKi has a rank of at most d, and reaches it",
        ledger="E13",
        kind=Kind.RANK,
        sources=(duat("C", 35),),
        printed=r"\operatorname{rank}\mathbf{W}_{QKi}\le d",
        reading="a head that sees all M features, so that W_QKi is M × M; not printed",
        hypotheses=(),
        expects=Verdict.PROVED,
        decide=_rank_of_qk,
    ),
)  # fmt: skip
