"""Theorem 3 and Eq. 6: attention and the feed-forward part as matrices acting on vec(x) (E1, E2, D5)."""

from __future__ import annotations

from collections.abc import Iterator

import jax

from uat_jax.certify.confirmation import confirm, proved
from uat_jax.certify.floats import compare_on
from uat_jax.certify.floats_evidence import float_evidence
from uat_jax.certify.normal_forms import prove
from uat_jax.certify.settings import Settings
from uat_jax.certify.verdict import Evidence, Verdict
from uat_jax.claims.claim import Claim, Kind
from uat_jax.claims.kernels import DRAWN, HEADS, TOKENS, cast, letters, random_trials
from uat_jax.claims.source import duat, v1, v2
from uat_jax.lowering import Lowered
from uat_jax.networks import attention
from uat_jax.symbolic import language as m
from uat_jax.symbolic.layers import Attention
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step


def _token_matrix(of: Attention) -> m.Letter:
    return m.Letter("X", of.tokens, of.features(0))


def _mha(settings: Settings) -> Iterator[Evidence]:
    """vec(MHA(X)) = W_HVO(X) vec(X), for any number of heads h, tokens N and features M."""
    of = Attention(m.dimension("h"))
    X = _token_matrix(of)
    left, right = m.Vectorised(of.attend(1, X)), of.matrix(1, X) @ m.Vectorised(X)
    yield prove([Step("Theorem 3", left, right, {})], method="normal form", what="for every N, M and h")
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
    )
    return float_evidence(found, what="attention against its matrix", drawn=DRAWN)


def _feed_forward(settings: Settings) -> Iterator[Evidence]:
    """vec(σ(Y V_1 + 1 v_1ᵀ) V_2 + 1 v_2ᵀ) = C σ(B vec(Y) + b) + c."""
    of = Attention(m.dimension("h"))
    V1, v1, V2, v2 = of.feed_forward(1)
    Y, one = m.Letter("Y", of.tokens, of.features(1)), m.Ones(of.tokens, 1)
    layers, parameters = of.layers, of.matrix_vector_parameters(1, _token_matrix(of))
    left = m.Vectorised(m.Activation(Y @ V1 + one @ v1.T) @ V2 + one @ v2.T)
    right = layers.C(1) @ m.Activation(layers.B(1) @ m.Vectorised(Y) + layers.b(1)) + layers.c(1)
    yield from proved([Step("Eq. 6", left, right, parameters)], method="normal form", what="for every N, M and width")


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
        id="feed-forward.matrix",
        title="the feed-forward part in matrix–vector form",
        ledger="D5, B1",
        kind=Kind.IDENTITY,
        sources=(duat("3.1", 6), v2("3.3", 6)),
        printed=r"\mathbf{W}_2\sigma(\mathbf{W}_1\mathbf{x}+\mathbf{b}_1)+\mathbf{b}_2\mapsto\mathbf{W}_2'\sigma(\mathbf{W}_1'\mathbf{x}'+\mathbf{b}_1')+\mathbf{b}_2'",
        reading="acting on features, as Transformers do: W' = I_N ⊗ Wᵀ, b' = 1_N ⊗ b",
        expects=Verdict.PROVED,
        decide=_feed_forward,
    ),
)  # fmt: skip
