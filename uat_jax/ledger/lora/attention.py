"""LoRA on attention: what its matrix, and the product of all of them, change by (H2)."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.confirmation import proved
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.opposite import opposite
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import DEPTHS, Claim, Kind
from uat_jax.ledger.edit import one_word
from uat_jax.ledger.lora.tuned import delta
from uat_jax.ledger.source import duat, v2
from uat_jax.networks import TransformerLayer, attention_weights, transformer
from uat_jax.networks.lora import Adapter, merge
from uat_jax.symbolic import language as m
from uat_jax.symbolic.induction import INDEX, LAYER, by_layers, inductive
from uat_jax.symbolic.layers import Attention, Layers
from uat_jax.symbolic.step import Induction, Step

h = m.dimension("h")
i = sympy.Symbol("i", integer=True, positive=True)

# --- the product of all attention matrices ---------------------------------------------------------------------------


TELESCOPED = "Σ_k (A_L + ΔA_L)…(A_{k+1} + ΔA_{k+1}) ΔA_k A_{k−1}…A_1"


def _telescope(settings: Settings) -> Iterator[Evidence]:
    yield from proved(telescope(), method=Method.INDUCTION, what="for every L and all shapes")


def telescope() -> list[Step]:
    """ΔP_L = Σ_k (A_L + ΔA_L)…(A_{k+1} + ΔA_{k+1}) ΔA_k A_{k−1}…A_1, by induction; and written out for L = 1…5.

    T_k^{(j)} is term k for j layers: T_k^{(j+1)} = (A_{j+1} + ΔA_{j+1}) T_k^{(j)} and T_{j+1}^{(j+1)} = ΔA_{j+1} P_j.
    """
    layers, j, k = Layers("transformer"), INDEX + 1, sympy.Symbol("k", integer=True, positive=True)
    D = layers.widths
    P, A, change = m.Letter("P", D(INDEX), D(0), (INDEX,)), layers.A(j), delta(layers.A(j))
    term = lambda k, version: m.Letter("T", D(version), D(0), (k,), (version,))

    def unfold(letter: m.Letter, ranges: Mapping[Any, Any]) -> m.Expression | None:
        if letter == term(j, j):
            return change @ P
        k = letter.subscripts[0] if letter.subscripts else None
        return (A + change) @ term(k, INDEX) if ranges.get(k) == INDEX and letter == term(k, j) else None

    terms = lambda last: m.RangeSum(term(k, last), k, 1, last)
    first, own, y = layers.A(1), layers.A(LAYER), m.Letter("y", D(LAYER - 1), D(0))
    product = lambda j: m.Letter("P", D(j), D(0), (j,))
    start = {product(1): first, term(1, 1): delta(first)}
    later = by_layers(
        {product(j): A @ P, term(j, j): change @ P}, lambda k: {term(k, j): (A + change) @ term(k, INDEX)}
    )
    return [
        Step("one layer", (first + delta(first)) - first, delta(first)),
        Step("one layer more", (A + change) @ (P + terms(INDEX)), A @ P + terms(j), unfold),
        *inductive(
            Induction(INDEX, LAYER, y, m.Identity(D(0)), (own + delta(own)) @ y, P + terms(INDEX), start, later)
        ),
        *(Step(f"L = {depth}", _changed(layers, depth), _terms(layers, depth)) for depth in DEPTHS),
    ]


def _changed(layers: Layers, depth: int) -> m.Expression:
    """Π(A_j + ΔA_j) − Π A_j."""
    A = [layers.A(j) for j in range(depth, 0, -1)]
    return m.Product(*(a + delta(a) for a in A)) - m.Product(*A)


def _terms(layers: Layers, depth: int) -> m.Expression:
    """Σ_k (A_L + ΔA_L)…(A_{k+1} + ΔA_{k+1}) ΔA_k A_{k−1}…A_1."""
    A = {j: layers.A(j) for j in range(1, depth + 1)}
    term = lambda k: [
        *(A[j] + delta(A[j]) for j in range(depth, k, -1)),
        delta(A[k]),
        *(A[j] for j in range(k - 1, 0, -1)),
    ]
    return m.Addition(*(m.Product(*term(k)) for k in A))


# --- the matrix of one layer -----------------------------------------------------------------------------------------


def _tuned(expression: m.Expression, names: Collection[str]) -> m.Expression:
    """The expression with W + ΔW put in for the weights of these names (Q, K, V, O) of every head."""
    tune = lambda letter, _: (
        letter + delta(letter) if letter.name == "W" and str(letter.subscripts[0]) in names else None
    )
    return m.replace_letters(expression, tune)


def _matrix_delta(of: Attention, names: Collection[str]) -> Step:
    """vec(MHA with tuned weights) − vec(MHA) = ΔA vec(X), ΔA = Σ_i [H̃_i ⊗ (E_iW̃_ViW̃_Oi)ᵀ − H_i ⊗ (E_iW_ViW_Oi)ᵀ]."""
    X = m.Letter("X", of.tokens, of.features(0))
    attend, matrix = of.attend(1, X), of.matrix(1, X)
    change = m.Vectorised(_tuned(attend, names)) - m.Vectorised(attend)
    heads = "every h" if not isinstance(of.heads, int) else f"h = {of.heads}"
    return Step(f"{', '.join(names)}, {heads}", change, (_tuned(matrix, names) - matrix) @ m.Vectorised(X))


def _all_weights(settings: Settings) -> Iterator[Evidence]:
    steps = [_matrix_delta(Attention(heads), "QKVO") for heads in (h, 2)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for every N, M and h")


def _value_output_delta(of: Attention) -> Step:
    """With Q and K left alone, ΔA = Σ_i H_i ⊗ (E_i(ΔV_i W_Oi + W_Vi ΔO_i + ΔV_i ΔO_i))ᵀ."""
    X = m.Letter("X", of.tokens, of.features(0))

    def head(i: sympy.Expr | int) -> m.Expression:
        E, V, O = of.select(1, i), of.weight("V", 1, i), of.weight("O", 1, i)
        change = delta(V) @ O + V @ delta(O) + delta(V) @ delta(O)
        return m.Kronecker(of.pattern(1, i, X), (E @ change).T)

    total = (
        m.Addition(*map(head, range(1, of.heads + 1)))
        if isinstance(of.heads, int)
        else m.RangeSum(head(i), i, 1, of.heads)
    )
    return Step(f"V, O, {of.heads} heads", _tuned(of.matrix(1, X), "VO") - of.matrix(1, X), total)


def _value_output(settings: Settings) -> Iterator[Evidence]:
    steps = [_value_output_delta(Attention(heads)) for heads in (h, 2)]
    yield from proved(steps, method=Method.NORMAL_FORM, what="for every N, M and h")


# --- later layers ----------------------------------------------------------------------------------------------------


def second_pattern(x: jax.Array, delta: jax.Array, tuned: bool) -> jax.Array:
    """H(x_1) in the second of two layers of one feature and one head, all weights 1 but W_2 = 0, tuned or not."""
    one = lambda *shape: jnp.ones(shape, x.dtype)
    zero = lambda *shape: jnp.zeros(shape, x.dtype)
    heads = (one(1, 1, 1), one(1, 1, 1), one(1, 1, 1), one(1, 1, 1))
    layer = TransformerLayer(*heads, one(1, 1), zero(1), zero(1, 1), zero(1))
    first = merge(layer, {"project": Adapter(delta, one(1, 1))}) if tuned else layer
    return attention_weights(layer, transformer([first], x, jax.nn.relu))[0]


def _later_attention() -> Iterator[Evidence]:
    tuned, old = (lambda x, delta, t=t: second_pattern(x, delta, t) for t in (True, False))
    inputs = {"x": [[1], [0]], "delta": [[1]]}
    found = [exhibit(tuned, old, inputs, what="H of layer 2 with ΔW_2 in layer 1", names=("tuned", "not tuned"))]
    yield from opposite(found)


# --- the rows --------------------------------------------------------------------------------------------------------

_SOURCES = (duat("4.4", 17, 18), v2("4.4", 16, 17))
_NOT_PRINTED = "not printed: the papers write LoRA on the feed-forward part only"
_MATRIX = r"\Delta A=\sum_i\tilde{H}_i\otimes(E_i\tilde{W}_{Vi}\tilde{W}_{Oi})^T-H_i\otimes(E_iW_{Vi}W_{Oi})^T"


def _row(name: str, title: str, printed: str, decide: Any, **others: Any) -> Claim:
    """A proved row, unless ``others`` say else."""
    defaults = {
        "ledger": "H2",
        "kind": Kind.IDENTITY,
        "sources": _SOURCES,
        "reading": _NOT_PRINTED,
        "hypotheses": ("heads act on slices of the features",),
        "expects": Verdict.PROVED,
    }
    return Claim(id=f"lora.{name}", title=title, printed=printed, decide=decide, **{**defaults, **others})


CLAIMS = (
    _row(
        "attention.matrix",
        "what adapters on Q, K, V and O change attention's matrix by",
        _MATRIX,
        _all_weights,
    ),
    _row(
        "attention.product",
        "what adapters change the product of all attention matrices by",
        r"\Delta P_L=\sum_{k=1}^{L}(A_L+\Delta A_L)\cdots(A_{k+1}+\Delta A_{k+1})\Delta A_kA_{k-1}\cdots A_1",
        _telescope,
        kind=Kind.ALL_DEPTHS,
        hypotheses=("for the input at hand: A_j + ΔA_j is the matrix of the tuned network along its own trajectory",),
    ),
    _row(
        "value-output.matrix",
        "with adapters on V and O the patterns stay, and the products change",
        r"\Delta A=\sum_iH_i\otimes(E_i(\Delta V_iW_{Oi}+W_{Vi}\Delta O_i+\Delta V_i\Delta O_i))^T",
        _value_output,
        hypotheses=("heads act on slices of the features", "at one layer's input: tuned earlier layers move the H_i"),
    ),
    _row(
        "later-attention",
        "adapters in a layer leave the attention matrices of later layers alone",
        r"\mathbf{x}_{i+1}=(\mathbf{W}'_{i+1,1}\mathbf{x}_0+\mathbf{b}_{i+1,1})+\ldots",
        one_word(_later_attention, "as it was", "changed"),
        kind=Kind.DEPENDENCE,
        reading="in Eq. 18 W'_{i+1,1} is that of the network that was not tuned; in a Transformer it depends on x_1, x_2, …",
        hypotheses=("the papers' Transformer",),
        expects=Verdict.REFUTED,
        correction="lora.original",
    ),
)
