"""LoRA: an adapter beside one matrix, Eq. 17, and adapters in every layer (H1, H3)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np

from uat_jax.decide.confirmation import proved
from uat_jax.decide.programs import settle
from uat_jax.decide.ranks import Letters, attained, bounded, drawn
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, SQUARE, Claim, Kind
from uat_jax.ledger.edit import OneEdit, equation
from uat_jax.ledger.lora.tuned import TunedLayers, delta, recomputed
from uat_jax.ledger.record import Record, Status
from uat_jax.ledger.source import duat, v1, v2
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.induction import INDEX
from uat_jax.symbolic.layers import KINDS, Layers
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.recurrence import ClosedForm
from uat_jax.symbolic.step import Step

N, M, G, r = map(m.dimension, "NMGr")
FACTORS = "ΔW = U V with r columns in U, as in Hu et al.; the papers do not say what ΔW is made of"

# --- Eq. 17: one matrix ----------------------------------------------------------------------------------------------


def _merged(settings: Settings) -> Iterator[Evidence]:
    """W_0 x + ΔW x = (W_0 + ΔW) x, and with ΔW = U V two thin products beside W_0 do: W_0 x + U (V x)."""
    W, x, U, V = m.Letter("W", G, M, (0,)), m.Letter("x", M, 1), m.Letter("U", G, r), m.Letter("V", r, M)
    change = delta(m.Letter("W", G, M))
    steps = [
        Step("Eq. 17, merged", W @ x + change @ x, (W + change) @ x),
        Step("as two thin products", W @ x + U @ (V @ x), (W + change) @ x, {change: U @ V}),
    ]
    yield from proved(steps, method=Method.NORMAL_FORM, what="applied beside W_0 or merged into it, for all shapes")


def _on_tokens(settings: Settings) -> Iterator[Evidence]:
    """vec(X W_0 + X ΔW) = (I_N ⊗ W_0ᵀ + I_N ⊗ ΔWᵀ) vec(X)."""
    X, W, change = m.Letter("X", N, M), m.Letter("W", M, G, (0,)), delta(m.Letter("W", M, G))
    on = lambda matrix: m.Kronecker(m.Identity(N), matrix.T)
    step = Step("Eq. 17 on tokens", m.Vectorised(X @ W + X @ change), (on(W) + on(change)) @ m.Vectorised(X))
    yield from proved([step], method=Method.NORMAL_FORM, what="for every number of tokens and every shape")


def _rank(settings: Settings) -> Iterator[Evidence]:
    """I_N ⊗ ΔWᵀ = (I_N ⊗ Vᵀ)(I_N ⊗ Uᵀ) has rank at most N r, and N r is reached."""
    U, V = m.Letter("U", M, r), m.Letter("V", r, G)
    on = lambda matrix: m.Kronecker(m.Identity(N), matrix.T)
    yield from bounded(Step("through N r columns", on(U @ V), on(V) @ on(U)), claimed=N * r, what="I_N ⊗ ΔWᵀ")

    def draw(random: np.random.Generator) -> tuple[np.ndarray, m.Expression, Letters]:
        left, right = drawn(random, 5, 2), drawn(random, 2, 4)
        letters = {m.Letter("U", 5, 2): left, m.Letter("V", 2, 4): right}
        change: m.Expression = m.Product(*letters)
        return np.kron(np.eye(3, dtype=int), (left @ right).T), m.Kronecker(m.Identity(3), change.T), letters

    yield attained(6, draw, what="I_N ⊗ ΔWᵀ with N = 3, M = 5, G = 4, r = 2")


# --- layer by layer --------------------------------------------------------------------------------------------------


def _own_weights(settings: Settings) -> Iterator[Evidence]:
    """Layer j with its adapters beside its weights is layer j with B_j + U_2 V_2 and C_j + U_3 V_3, for every j."""
    for kind in KINDS:
        layers, tuned, j = Layers(kind), TunedLayers(kind), INDEX
        A, B, C, b, c = layers.parameters(j)
        x = layers.x(j - 1)
        factors = {delta(W): _factors(W) for W in (B, C)}
        beside = lambda W, z, f=factors: W @ z + f[delta(W)][0] @ (f[delta(W)][1] @ z)
        inner = x if kind == "residual" else A @ x
        layer = m.Addition(A @ x, c, beside(C, m.Activation(beside(B, inner) + b)))
        where = {change: U @ V for change, (U, V) in factors.items()}
        step = Step("a layer with adapters", layer, tuned.apply(j, x), where)
        found = proved([step], method=Method.NORMAL_FORM, what=f"{kind} network: for every layer, shape and σ")
        yield from (replace(evidence, subject=kind) for evidence in found)


def _factors(weight: m.Letter) -> tuple[m.Letter, m.Letter]:
    """U and V with ΔW = U V."""
    rows, columns = weight.shape
    own = weight.name, *weight.subscripts
    return m.Letter("U", rows, r, map(str, own)), m.Letter("V", r, columns, map(str, own))


def _later_bias(tuned: tuple[int, ...], settings: Settings) -> Iterator[Evidence]:
    """Evidence on whether b̂_{2,2} with layer 1 tuned is b̂_{2,2} with the layers of `tuned` tuned; as printed, none."""
    yield from settle(_second_bias((0,)), _second_bias(tuned), what="b̂_{2,2} of a residual network")


def _second_bias(tuned: tuple[int, ...]) -> Program:
    """The program that ends with b̂_{2,2}, in a network of which the layers of `tuned` (counted from 0) are tuned."""
    bias, lines = ClosedForm(u.square_layers("residual")).b2(2), recomputed("residual", tuned, 2).lines
    return Program({letter: lines[letter] for letter in [*lines][: [*lines].index(bias) + 1]}, bias)


def _later_coefficient() -> OneEdit:
    """The coefficient of s_1 in two layers, A_2 (C_1 + ΔC_1), against A_2 C_1 + ΔC_1."""
    layers = u.square_layers("residual")
    A, C, x = layers.A(2), layers.C(1), m.Letter("x", u.F, 1)
    with_change = lambda change: (A @ C + change) @ x
    step = Step("the coefficient of s_1", A @ (C + delta(C)) @ x, with_change(delta(C)))
    return equation(step, with_change(A @ delta(C)))


# --- the rows --------------------------------------------------------------------------------------------------------

_LORA = (duat("4.4", 17), v2("4.4", 16))
_LAYER_BY_LAYER = (duat("4.4"), v2("4.4"), v1("4.4"))
_17 = r"\mathbf{h}=\mathbf{W}_0\mathbf{x}+\Delta\mathbf{W}\mathbf{x}"
_LAYERS = r"\text{LoRA essentially fine-tunes the DUAT parameters layer by layer}"


CLAIMS = (
    Claim(
        id="lora.merged",
        title="an adapter beside a weight is the same as one merged into it",
        ledger="H1",
        kind=Kind.IDENTITY,
        sources=_LORA,
        printed=_17,
        expects=Verdict.PROVED,
        decide=_merged,
    ),
    Claim(
        id="lora.matrix-vector",
        title="on tokens, Eq. 17 adds I_N ⊗ ΔWᵀ to the matrix",
        ledger="H1",
        kind=Kind.IDENTITY,
        sources=_LORA,
        printed=_17,
        reading="acting on features, as Transformers do: h = x W_0 + x ΔW, row-major vec",
        expects=Verdict.PROVED,
        decide=_on_tokens,
    ),
    Claim(
        id="lora.rank",
        title="the matrix of an adapter of rank r has rank at most N·r, which is reached",
        ledger="H1",
        kind=Kind.RANK,
        sources=_LORA,
        printed=r"\operatorname{rank}(\mathbf{I}_N\otimes\Delta\mathbf{W}^T)\le N r",
        reading="not printed: what a ΔW of low rank becomes in matrix–vector form; reached at N = 3, M = 5, G = 4, r = 2",
        hypotheses=(FACTORS,),
        expects=Verdict.PROVED,
        decide=_rank,
    ),
    Claim(
        id="lora.layer-by-layer.own-weights",
        otherwise=("v1", "v2"),
        title="the adapters of layer j change the weights of layer j alone",
        ledger="H3",
        kind=Kind.IDENTITY,
        sources=_LAYER_BY_LAYER,
        printed=_LAYERS,
        reading="the parameters are the layers' own",
        hypotheses=(ELEMENTWISE, FACTORS),
        expects=Verdict.PROVED,
        decide=_own_weights,
    ),
    Claim(
        id="lora.layer-by-layer.biases",
        otherwise=("v1", "v2"),
        title="the adapters of layer j leave the later biases b'_{k,2} alone",
        ledger="H3",
        kind=Kind.DEPENDENCE,
        sources=_LAYER_BY_LAYER,
        printed=_LAYERS,
        reading="the parameters are those of the closed form, and only those of term j change with layer j",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="lora.original",
        ours=True,
        decide=OneEdit((), (0,), _later_bias),
    ),
    Claim(
        id="lora.layer-by-layer.coefficients",
        otherwise=("v1", "v2"),
        title="the delta of W'_{j,3} is ΔW_{j,3}",
        ledger="H3",
        kind=Kind.DEPENDENCE,
        sources=_LAYER_BY_LAYER,
        printed=_LAYERS,
        reading="the parameters are those of the closed form, and term j changes by ΔW of layer j itself",
        hypotheses=SQUARE,
        expects=Verdict.REFUTED,
        correction="lora.coefficient-delta",
        ours=True,
        decide=_later_coefficient(),
    ),
)

RECORDS = (
    Record(
        id="lora.definition",
        ledger="H1",
        status=Status.DEFINITION,
        sources=_LORA,
        says="LoRA adds ΔW x to the output W_0 x of a linear layer",
        note="that ΔW = U V has a low rank r, which is the point of LoRA, is not said in the papers",
    ),
    Record(
        id="lora.amended-weights",
        ledger="H3",
        status=Status.NO_CONTENT,
        sources=(v1("4.4"), v1("Fig. 7")),
        says="LoRA is a layer-wise fine-tuning with amended weights W'_amend",
        note="a drawing; no formula says which weights are amended, or how",
    ),
)
