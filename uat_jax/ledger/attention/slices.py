"""What attention is in the papers, and in Vaswani et al.: slices against all features, √M against √d (E1)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import jax
import jax.numpy as jnp
import numpy as np
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.counts import as_counted, counted
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import Tally
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import Claim, Kind
from uat_jax.ledger.edit import OneEdit, apply, letter, one_case, shape
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.networks import TransformerLayer, attention
from uat_jax.networks.heads import masked_attention
from uat_jax.symbolic import language as m
from uat_jax.symbolic.heads import COUNT, HEAD, TOKENS, WIDTH, Heads, scaled_softmax
from uat_jax.symbolic.step import Step

N, d, h, i = TOKENS, WIDTH, COUNT, HEAD


def attention_shapes(width: int, count: int) -> TransformerLayer:
    """The shapes of a layer of the papers with the smallest feed-forward part, M features before and after."""
    blocks, M = (count, width, width), count * width
    return TransformerLayer(blocks, blocks, blocks, (count, width, M), (M, 1), (1,), (1, M), (M,))  # type: ignore[arg-type]


# --- slips of v1 ------------------------------------------------------------------------------------------------


def _last_head() -> OneEdit:
    """Ĥ, all heads side by side, for Ĥ_h."""
    head = apply("product", letter("H_h", N, N), letter("V_h", N, d))
    formulas = (apply("difference", head, letter(*right)) for right in (("Ĥ", N, h * d), ("Ĥ_h", N, d)))
    return shape(formulas, ("N", "d", "h"), what="H_h V_h = Ĥ")


def _concat_of_hats() -> OneEdit:
    """Ĥ_1 V_1, the result of a head times its values, for H_1 V_1."""
    formulas = (apply("product", letter(*first), letter("V_1", N, d)) for first in (("Ĥ_1", N, d), ("H_1", N, N)))
    return shape(formulas, ("N", "d"), what="Concat(Ĥ_1 V_1, …)")


def _hat_for_pattern() -> OneEdit:
    """The result of a head, Ĥ_i, for its pattern H_i."""
    value = apply("product", letter("x_i", N, d), letter("W_Vi", d, d))
    formulas = (apply("product", letter(*first), value) for first in (("Ĥ_i", N, d), ("H_i", N, N)))
    return shape(formulas, ("N", "d"), what="Ĥ_i [x_i W_Vi]")


# --- slices and full width -----------------------------------------------------------------------------------------


def _slices_as_full_width(settings: Settings) -> Iterator[Evidence]:
    """A head with the M × d weights E_i W_Qi, E_i W_Ki, E_i W_Vi is the slice head; and so are two plain networks."""
    steps = [_one_head_as_full_width(*which) for which in ((Heads(), i), (Heads(2), 2))]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for every N, d, h and i")
    plain, wide = lambda layer, x: attention(layer, x), lambda layer, x: masked_attention(layer, x)
    yield confirm_functions(plain, wide, (attention_shapes(2, 2), (3, 4)), what="the networks, N = 3, M = 4, h = 2")


def _one_head_as_full_width(of: Heads, i: sympy.Expr | int) -> Step:
    Q, K, V = (of.x @ of.wide_weight(name, i) for name in "QKV")
    q, k, v = (of.slice(i) @ of.weight(name, i) for name in "QKV")
    where = {of.wide_weight(name, i): of.select(i) @ of.weight(name, i) for name in "QKV"}
    return Step("one head", scaled_softmax(Q, K, of.features) @ V, scaled_softmax(q, k, of.features) @ v, where)


def _separable(settings: Settings) -> Iterator[Evidence]:
    """f(x_1 + e_1, x_2 + e_2) − f(x_1 + e_1, x_2) − f(x_1, x_2 + e_2) + f(x_1, x_2) = 0."""
    of = Heads(2)
    x, e = (lambda k: m.Letter("x", N, d, (k,))), (lambda k: m.Letter("e", N, d, (k,)))

    def head(k: int, z: m.Expression) -> m.Expression:
        query, key, value = (z @ of.weight(name, k) for name in "QKV")
        return scaled_softmax(query, key, of.features) @ value @ of.select(k).T @ of.output

    f = lambda first, second: head(1, first) + head(2, second)
    both, neither = f(x(1) + e(1), x(2) + e(2)), f(x(1), x(2))
    mixed = f(x(1) + e(1), x(2)) + f(x(1), x(2) + e(2))
    yield from proved(
        [Step("mixed difference", both + neither, mixed)], method=Method.NORMAL_FORM, what="for every N and d"
    )


def _full_width_is_more(settings: Settings) -> Iterator[Evidence]:
    """One full-width head on two features: its mixed difference in the two slices, zero for slice heads, is not."""

    def mixed_difference(x: jax.Array, first: jax.Array, second: jax.Array) -> jax.Array:
        f = _summing_head
        return f(x + first + second) - f(x + first) - f(x + second) + f(x)

    zero = lambda x, first, second: jnp.zeros((2, 1), x.dtype)
    inputs = {"x": [[1, 0], [0, 1]], "first": [[1, 0], [0, 0]], "second": [[0, 1], [0, 0]]}
    names = ("full width", "slices")
    yield exhibit(mixed_difference, zero, inputs, what="mixed difference in slices 1 and 2", names=names)


def _summing_head(x: jax.Array) -> jax.Array:
    """softmax(q qᵀ) q with q the sum of both features."""
    q = jnp.sum(x, axis=1, keepdims=True)
    return jnp.matmul(jax.nn.softmax(jnp.matmul(q, q.T, precision="highest")), q, precision="highest")


def _parameters(settings: Settings) -> Iterator[Evidence]:
    """Entries of W_Q, W_K and W_V: h heads of three d × d matrices, and of three M × d matrices."""
    M = h * d
    shapes = [{d: 1, h: 1}, {d: 1, h: 2}, {d: 2, h: 3}]
    sizes = {"slices": (3 * M**2 / h, d), "full width": (3 * M**2, M)}
    for subject, (claimed, rows) in sizes.items():
        found = sympy.summation(3 * rows * d, (i, 1, h))
        arrays = lambda shape, rows=rows: 3 * np.zeros((shape[h], int(rows.xreplace(dict(shape))), shape[d])).size
        weights = [m.RangeSum(m.Letter("W", rows, d, (which, i)), i, 1, h) for which in sympy.symbols("Q K V")]
        said = as_counted(Tally("stored", m.Addition(*weights)))
        for evidence in counted(claimed, found, what=subject, measured=arrays, shapes=shapes, said=said):
            yield replace(evidence, subject=subject)


# --- the scale of the scores ---------------------------------------------------------------------------------------


def _same_class(settings: Settings) -> Iterator[Evidence]:
    """softmax(x (√h W_Q)(x W_K)ᵀ / √M) = softmax(x W_Q (x W_K)ᵀ / √d), M = hd."""
    x, Q, K = m.Letter("x", N, d), Heads().weight("Q", i), Heads().weight("K", i)
    scaled = m.Letter("U", d, d)
    for heads in (h, 4):
        left, right = scaled_softmax(x @ scaled, x @ K, heads * d), scaled_softmax(x @ Q, x @ K, d)
        step = Step(f"h = {heads}", left, right, {scaled: m.Scaled(sympy.sqrt(heads), Q)})
        number = "for every number of heads" if heads == h else f"for {heads} heads"
        found = proved([step], method=Method.NORMAL_FORM, what=f"one pattern, {number}")
        yield from (replace(evidence, subject=number) for evidence in found)


def _same_weights(settings: Settings) -> Iterator[Evidence]:
    """Two heads of one feature, two tokens, all weights 1."""

    def pattern(x: jax.Array, scale: int) -> jax.Array:
        root = jnp.sqrt(jnp.asarray(scale, x.dtype))
        return jax.nn.softmax(jnp.matmul(x, x.T, precision="highest") / root)

    names = ("over √d", "over √M")
    yield exhibit(
        lambda x: pattern(x, 1), lambda x: pattern(x, 2), {"x": [[1], [0]]}, what="H_1, d = 1, M = 2", names=names
    )


def _one_head_of_all(settings: Settings) -> Iterator[Evidence]:
    """With h = 1 there is one width, M = d."""
    of = Heads(1)
    pattern = lambda size: scaled_softmax(of.x @ of.weight("Q", 1), of.x @ of.weight("K", 1), size)
    yield from proved(
        [Step("h = 1", pattern(d), pattern(of.features))],
        method=Method.NORMAL_FORM,
        what="one pattern, for every N and d",
    )


CLAIMS = (
    Claim(
        id="attention.v1-last-head",
        title="v1's list of heads ends with H_h V_h = Ĥ",
        ledger="E1",
        kind=Kind.SHAPE,
        sources=(v1("3.4"),),
        printed=r"\mathbf{H}_1\mathbf{V}_1=\hat{\mathbf{H}}_1,\dots,\mathbf{H}_h\mathbf{V}_h=\hat{\mathbf{H}}",
        reading="Ĥ is Concat(Ĥ_1, …, Ĥ_h); v2 has Ĥ_h here, but the captions of v1's and v2's Fig. 5 and DUAT's Fig. 6 still "
        "say Concat(Ĥ_1 … Ĥ)",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="heads.stacked",
        decide=_last_head(),
    ),
    Claim(
        id="attention.v1-hat",
        title="v1's Ĥ_i [x_i W_Vi] where H_i [x_i W_Vi] is meant",
        ledger="E1",
        kind=Kind.SHAPE,
        sources=(v1("B.2"),),
        printed=r"\hat{\mathbf{H}}_i[\mathbf{x}_i\mathbf{W}_{Vi}]",
        reading="Ĥ_i is the N × d result of head i",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="head.matrix",
        decide=_hat_for_pattern(),
    ),
    Claim(
        id="attention.v1-concat",
        title="v1's Concat(Ĥ_1 V_1, …, Ĥ_h V_h) where H_i V_i is meant",
        ledger="E1",
        kind=Kind.SHAPE,
        sources=(v1("B.2"),),
        printed=r"\operatorname{Concat}\left(\hat{\mathbf{H}}_1\mathbf{V}_1,\ldots,\hat{\mathbf{H}}_h\mathbf{V}_h\right)",
        reading="Ĥ_i is the N × d result of head i; DUAT has H_i V_i here",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="heads.stacked",
        decide=_concat_of_hats(),
    ),
    Claim(
        id="attention.slices-embed",
        title="slice heads are full-width heads with zeros outside the slice",
        ledger="E1",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 7, 8), v2("3.4", 7, 8), v1("3.4", 6, 7)),
        printed=r"\mathbf{x}_i\mathbf{W}_{Qi}=\mathbf{x}(\mathbf{E}_i\mathbf{W}_{Qi})",
        reading="a full-width head has weights of size M × d, as in Vaswani et al.",
        hypotheses=("E_i selects slice i",),
        expects=Verdict.PROVED,
        decide=_slices_as_full_width,
    ),
    Claim(
        id="attention.slices-separate",
        title="slice heads see their slices apart: mixed differences vanish",
        ledger="E1",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 7, 8), v2("3.4", 7, 8), v1("3.4", 6, 7)),
        printed=r"f(x_1+e_1,x_2+e_2)+f(x_1,x_2)=f(x_1+e_1,x_2)+f(x_1,x_2+e_2)",
        reading="not printed: f is attention with two heads, as a function of both slices",
        hypotheses=("heads act on slices of the features",),
        expects=Verdict.PROVED,
        decide=_separable,
    ),
    Claim(
        id="attention.slices-suffice",
        ours=True,
        title="slice heads can express every attention of Vaswani et al.",
        ledger="E1",
        kind=Kind.EXISTENCE,
        sources=(duat("3.2", 7, 8), v2("3.4", 7, 8), v1("3.4", 6, 7)),
        printed=r"\text{MultiHead}(\mathbf{Q},\mathbf{K},\mathbf{V})=\text{Concat}(\hat{\mathbf{H}}_1,\dots,\hat{\mathbf{H}}_h)\mathbf{W}_O",
        reading="not claimed, but called MultiHead as there: the mixed difference that vanishes for two slice heads "
        "would vanish for a head that sees both slices",
        hypotheses=(),
        expects=Verdict.REFUTED,
        correction="attention.slices-separate",
        decide=one_case({"a head that sees both slices": _full_width_is_more, "slice heads": _separable}),
    ),
    Claim(
        id="attention.slices-parameters",
        title="W_Q, W_K, W_V have 3M²/h entries in slices and 3M² at full width",
        ledger="E1",
        kind=Kind.COUNT,
        sources=(duat("3.2", 8), v2("3.4", 8), v1("3.4", 7)),
        printed=r"\frac{3M^2}{h}\quad\text{and}\quad 3M^2",
        reading="not printed: it follows from the shapes",
        hypotheses=("M = hd",),
        expects=Verdict.PROVED,
        decide=_parameters,
    ),
    Claim(
        id="attention.scale-class",
        title="dividing by √M instead of √d gives the same class of functions",
        ledger="E1",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 8), v2("3.4", 8), v1("3.4", 7)),
        printed=r"\operatorname{softmax}\left(\frac{\mathbf{Q}_i\mathbf{K}_i^T}{\sqrt{M}}\right)",
        reading="with √h W_Qi over √M it is what W_Qi gives over √d",
        hypotheses=("M = hd",),
        expects=Verdict.PROVED,
        decide=_same_class,
    ),
    Claim(
        id="attention.scale-weights",
        ours=True,
        title="dividing by √M instead of √d changes nothing",
        ledger="E1",
        kind=Kind.IDENTITY,
        sources=(duat("3.2", 8), v2("3.4", 8), v1("3.4", 7)),
        printed=r"\operatorname{softmax}\left(\frac{\mathbf{Q}_i\mathbf{K}_i^T}{\sqrt{M}}\right)",
        reading="not claimed, but printed for √d: with the same weights, more than one head",
        hypotheses=("h > 1",),
        expects=Verdict.REFUTED,
        correction="attention.scale-class",
        decide=one_case({"h > 1": _same_weights, "h = 1": _one_head_of_all}),
    ),
)  # fmt: skip

RECORDS = (
    Record(
        id="attention.definition",
        ledger="E1",
        status=Status.DEFINITION,
        sources=(duat("3.2", 7, 8), v2("3.4", 7, 8), v1("3.4", 6, 7)),
        says="multi-head attention, each head on one slice of the features, scores divided by √M",
        note="Vaswani et al. give every head all features and divide by √d; see attention.slices-* and attention.scale-*",
    ),
)
