"""The parts of real Transformers one by one: biases in attention, norms, masks, gates, rotary positions (K2–K9).

Which of their parameters depend on the input is in real_dependence.py.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.confirmation import agreeing, proved
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.statements import of_numbers
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.ledger.claim import ELEMENTWISE, Kind
from uat_jax.ledger.edit import one_case
from uat_jax.ledger.real import networks as real
from uat_jax.ledger.real.blocks import row
from uat_jax.networks import norms as networks
from uat_jax.networks.multihead import MultiHead as HeadArrays
from uat_jax.networks.multihead import Scoring, multihead_weights
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import Head, MultiHead
from uat_jax.symbolic.blocks.feed_forward import Gated
from uat_jax.symbolic.blocks.norms import LayerNorm, RMSNorm, centring
from uat_jax.symbolic.blocks.sizes import FEATURES, TOKENS, on_features, plus
from uat_jax.symbolic.step import Step

X = m.Letter("X", TOKENS, FEATURES, (0,))
ALL = "for all shapes"

# --- attention -----------------------------------------------------------------------------------------------------


def _biases(settings: Settings) -> Iterator[Evidence]:
    """vec(MHA(X)) = M(X) vec(X) + a with a = 1 ⊗ (Σ_i W_Oiᵀ b_Vi + b_O), for any scores and any number of heads."""
    of = MultiHead()
    step = Step("biases of attention", m.Vectorised(of.apply(X)), of.matrix(X) @ m.Vectorised(X) + of.shift)
    yield prove([step], method=Method.NORMAL_FORM, what=f"{ALL} and any scores")
    of = MultiHead(groups=2, scoring=_given_scores)
    written = Step("two heads", m.Vectorised(of.apply(X)), of.matrix(X) @ m.Vectorised(X) + of.shift)
    yield from proved([written], method=Method.NORMAL_FORM, what="two heads at the scores of one input")


def _given_scores(of: MultiHead, head: Head, X: m.Expression) -> m.Expression:
    return m.Letter("S", TOKENS, TOKENS, head)


def pattern_with(biases: tuple[str, ...], X: m.Expression) -> m.Expression:
    """H(X) = softmax(q kᵀ/√d) with those of the biases b_Q and b_K."""
    of = MultiHead(biases=False)
    one = m.Ones(TOKENS, 1)
    q, k = (
        part + one @ of.bias(name, (1,)).T if name in biases else part
        for name, part in (("Q", of.queries((1,), X)), ("K", of.keys((1,), X)))
    )
    return m.RowSoftmax(m.Scaled(1 / sympy.sqrt(m.dimension("d")), q @ k.T))


def _key_bias(settings: Settings) -> Iterator[Evidence]:
    """q_n · b_K is the same for every key: the softmax of the row loses it."""
    step = Step("b_K cancels", pattern_with(("Q", "K"), X), pattern_with(("Q",), X))
    yield from proved([step], method=Method.NORMAL_FORM, what=ALL)


def _rotary_pattern(x: jax.Array, key_bias: jax.Array | None) -> jax.Array:
    """H of one head with W_Q = W_K = I, token n turned by the angle n."""
    eye = jnp.eye(2, dtype=x.dtype)[None]
    layer = HeadArrays(eye, eye, eye, eye, key_bias=None if key_bias is None else key_bias[None])
    angles = jnp.arange(x.shape[0], dtype=x.dtype)[:, None]
    return multihead_weights(layer, x, scoring=Scoring(angles=angles))[0]


def _rotary_key_bias(settings: Settings) -> Iterator[Evidence]:
    """With rotary positions q_nᵀ R_{k−n} b_K depends on the key's position k."""
    yield exhibit(
        lambda x, b: _rotary_pattern(x, b),
        lambda x, b: _rotary_pattern(x, None),
        {"x": [[1, 0], [0, 0]], "b": [1, 0]},
        what="the attention pattern of two tokens",
        names=("with b_K", "without"),
    )


def _relative(settings: Settings) -> Iterator[Evidence]:
    """R_nᵀ R_k = R_{k−n} for rotations R_n by n ϑ: scores depend on the difference of positions."""
    yield rotations_compose(lambda n, k: k - n)

    def turn(angle: jax.Array, u: jax.Array) -> jax.Array:
        first, second = u
        cos, sin = jnp.cos(angle), jnp.sin(angle)
        return jnp.stack([first * cos - second * sin, first * sin + second * cos])

    left = lambda n, k, t, q, u: jnp.sum(turn(n * t, q) * turn(k * t, u))
    right = lambda n, k, t, q, u: jnp.sum(q * turn((k - n) * t, u))
    number, pair = jnp.zeros(()), jnp.zeros(2)
    yield real.same(left, right, (number, number, number, pair, pair), what="scores of a pair", thoroughly=True)


def rotations_compose(difference: Callable[[Any, Any], Any]) -> Evidence:
    """PROVED if R_nᵀ R_k is the rotation by ``difference(n, k)`` ϑ, by the addition theorems of cos and sin."""
    n, k, t = sympy.symbols("n k ϑ", real=True)
    turn = lambda a: sympy.Matrix([[sympy.cos(a), -sympy.sin(a)], [sympy.sin(a), sympy.cos(a)]])
    both: Any = turn(n * t).T * turn(k * t)
    one: Any = turn(sympy.expand(difference(n, k) * t))
    zero = all(sympy.expand(sympy.expand_trig(entry)) == 0 for entry in both - one)
    verdict = Verdict.PROVED if zero else Verdict.UNKNOWN
    finding = f"R_nᵀ R_k {'=' if zero else '≠'} R_m with m = {difference(n, k)}, for all real n, k and ϑ"
    said = of_numbers(zip(both, one, strict=True)) if zero else ()
    return Evidence(Method.ADDITION_THEOREMS, finding, verdict, statements=said)


def _triangular(settings: Settings) -> Iterator[Evidence]:
    """Causal H_i make M(x), A = I + M(x) and the products P_L of such A block lower triangular.

    Let E select the first n tokens, and L(Z) = Z − EEᵀ Z (I − EEᵀ) be Z without its upper right block.
    T is block lower triangular at n if Eᵀ T = S Eᵀ for some S: the first n tokens of T x depend on those of x alone.
    Shown for L(H) ⊗ V, I + L(T_1), L(T_1) + L(T_2) and L(T_1) L(T_2), with S; so for P_L = A_L … A_1 by induction.
    """
    N, M, n = TOKENS, FEATURES, m.dimension("n")
    E = m.Selection(1, N, n)
    wide = m.Kronecker(E, m.Identity(M))
    H, V = m.Letter("H", N, N, (1,)), m.Letter("V", M, M, (1,))
    T1, T2 = (m.Letter("T", N * M, N * M, (k,)) for k in (1, 2))
    first = lambda T: m.Product(wide.T, T, wide)
    lower = lambda T: _cut(T, wide)
    steps = [
        Step("H ⊗ V", wide.T @ m.Kronecker(_cut(H, E), V), m.Kronecker(m.Product(E.T, H, E), V) @ wide.T),
        Step("I + T", wide.T @ (m.Identity(N * M) + lower(T1)), wide.T + first(T1) @ wide.T),
        Step("a sum", wide.T @ (lower(T1) + lower(T2)), (first(T1) + first(T2)) @ wide.T),
        Step("a product", wide.T @ lower(T1) @ lower(T2), m.Product(first(T1), first(T2), wide.T)),
    ]
    yield from proved(steps, method=Method.INDUCTION, what="block lower triangular at every token n, for every L")


def _cut(Z: m.Letter, E: m.Expression) -> m.Expression:
    """Z − E Eᵀ Z (I − E Eᵀ): any matrix without its upper right block."""
    first = E @ E.T
    return Z - first @ Z @ (m.Identity(Z.shape[1]) - first)


# --- norms ---------------------------------------------------------------------------------------------------------


def _norm(norm: RMSNorm, network: Any) -> Callable[[Settings], Iterator[Evidence]]:
    def decide(settings: Settings) -> Iterator[Evidence]:
        """vec(norm(X)) = N(X) vec(X) + 1 ⊗ β, and the network is that norm."""
        matrix = plus(norm.matrix(X) @ m.Vectorised(X), norm.shift)
        tokens, features = norm.scale(X), norm.on_features.T
        apart = m.Kronecker(tokens, m.Identity(FEATURES)) @ m.Kronecker(m.Identity(TOKENS), features)
        steps = [
            Step("norm", m.Vectorised(norm.apply(X)), matrix),
            Step("a number for each token, a matrix for its features", norm.matrix(X), apart),
        ]
        proof = prove(steps, method=Method.NORMAL_FORM, what=ALL)
        yield proof
        evaluate = real.function_of(matrix, X, {TOKENS: 2, **real.SIZES})
        arrays = network(*(jnp.zeros(real.WIDE) for _ in network._fields))
        found = real.same(
            lambda layer, x: evaluate(real.norm_arrays(norm, layer), x),
            lambda layer, x: networks.normalise(layer, x).reshape(-1),
            (arrays, jnp.zeros((2, real.WIDE))),
            what=f"2 tokens, {real.WIDE} features, against plain JAX",
        )
        yield agreeing(proof, found)

    return decide


def _rank_one(settings: Settings) -> Iterator[Evidence]:
    """diag(γ) (I − 11ᵀ/M) = diag(γ) − γ 1ᵀ/M."""
    gain = LayerNorm((1,)).gain
    left = m.Diagonal(gain) @ centring()
    right = m.Diagonal(gain) - m.Scaled(1 / FEATURES, gain @ m.Ones(1, FEATURES))
    yield from proved([Step("one token", left, right)], method=Method.NORMAL_FORM, what=ALL)


def _linear_norm(settings: Settings) -> Iterator[Evidence]:
    """LN(2x) is not 2 LN(x)."""

    def norm(x: jax.Array) -> jax.Array:
        one = jnp.ones(x.shape[1], x.dtype)
        return networks.layer_norm(networks.LayerNorm(one, jnp.zeros_like(one)), x)

    inputs = {"x": [[0, 1]]}
    names = ("LN(2x)", "2 LN(x)")
    yield exhibit(lambda x: norm(2 * x), lambda x: 2 * norm(x), inputs, what="γ = 1, β = 0", names=names)


def _frozen_norm(settings: Settings) -> Iterator[Evidence]:
    """N(X) vec(Z) with the matrix N(X) of a fixed input X is linear in Z."""
    norm, Z = LayerNorm((1,)), m.Letter("Z", *X.shape)
    matrix = norm.matrix(X)
    step = Step("twice the input", matrix @ m.Vectorised(m.Scaled(2, Z)), m.Scaled(2, matrix @ m.Vectorised(Z)))
    yield from proved([step], method=Method.NORMAL_FORM, what=ALL)


# --- gates ---------------------------------------------------------------------------------------------------------


def _gate_as_matrix(settings: Settings) -> Iterator[Evidence]:
    """vec((σ(X G) ⊙ (X U)) W_D) = T(W_D) diag(σ(T(G) x)) T(U) x: no σ-term, a dynamic addition to W_{i,1}."""
    U, G, D = Gated((1,)).letters
    x = m.Vectorised(X)
    left = m.Vectorised(m.Hadamard(m.Activation(X @ G), X @ U) @ D)
    right = m.Product(on_features(D), m.Diagonal(m.Activation(on_features(G) @ x)), on_features(U), x)
    yield from proved([Step("a gate is a matrix", left, right)], method=Method.NORMAL_FORM, what=ALL)


CLAIMS = (
    row(
        "K2",
        "attention-biases",
        "the biases of attention are one static column a",
        r"\operatorname{vec}(\mathrm{MHA}(\mathbf{X}))=\mathbf{M}(\mathbf{x})\mathbf{x}+\mathbf{a},\ "
        r"\mathbf{a}=\mathbf{1}_N\otimes(\textstyle\sum_i\mathbf{W}_{Oi}^T\mathbf{b}_{Vi}+\mathbf{b}_O)",
        _biases,
        reading="a softmax gives H_i 1 = 1; b_Q and b_K are inside H_i",
    ),
    row(
        "K2",
        "key-bias",
        "the bias of the keys cancels in the softmax",
        r"\operatorname{softmax}((\mathbf{q}+\mathbf{b}_Q)(\mathbf{k}+\mathbf{b}_K)^T/\sqrt{d})"
        r"=\operatorname{softmax}((\mathbf{q}+\mathbf{b}_Q)\mathbf{k}^T/\sqrt{d})",
        _key_bias,
        reading="scores q kᵀ/√d, without rotary positions",
    ),
    row(
        "K2",
        "key-bias.rope",
        "with rotary positions, too, the bias of the keys cancels",
        r"\operatorname{softmax}(\mathbf{q}_n^T\mathbf{R}_{k-n}(\mathbf{k}_k+\mathbf{b}_K))"
        r"=\operatorname{softmax}(\mathbf{q}_n^T\mathbf{R}_{k-n}\mathbf{k}_k)",
        one_case({"with rotary positions": _rotary_key_bias, "without": _key_bias}),
        expects=Verdict.REFUTED,
        correction="real.key-bias",
        reading="q and k are turned by their positions after the bias is added, as libraries do",
    ),
    row(
        "K3",
        "layer-norm",
        "LayerNorm is a matrix that depends on its input, and a bias",
        r"\mathrm{LN}(\mathbf{x})=(\mathbf{D}_s(\mathbf{x})\otimes\operatorname{diag}(\gamma)"
        r"(\mathbf{I}-\mathbf{1}\mathbf{1}^T/M))\mathbf{x}+\mathbf{1}_N\otimes\beta",
        _norm(LayerNorm((1,)), networks.LayerNorm),
        hypotheses=("ε > 0",),
    ),
    row(
        "K3",
        "layer-norm.rank-one",
        "for one token LayerNorm is a number times diagonal plus rank one",
        r"\operatorname{diag}(\gamma)(\mathbf{I}-\mathbf{1}\mathbf{1}^T/M)=\operatorname{diag}(\gamma)-\gamma\mathbf{1}^T/M",
        _rank_one,
        hypotheses=("ε > 0",),
    ),
    row(
        "K3",
        "layer-norm.linear",
        "LayerNorm without its bias is linear",
        r"\mathrm{LN}(2\mathbf{x})=2\,\mathrm{LN}(\mathbf{x})",
        one_case({"the norm of its input": _linear_norm, "the norm at a fixed input": _frozen_norm}),
        expects=Verdict.REFUTED,
        correction="real.layer-norm",
        hypotheses=("β = 0",),
    ),
    row(
        "K4",
        "rms-norm",
        "RMSNorm is a matrix that depends on its input",
        r"\mathrm{RMS}(\mathbf{x})=(\mathbf{D}_r(\mathbf{x})\otimes\operatorname{diag}(\gamma))\mathbf{x}",
        _norm(RMSNorm((1,)), networks.RMSNorm),
        hypotheses=("ε > 0",),
    ),
    row(
        "K7",
        "masks.triangular",
        "causal attention makes M, A and P_L block lower triangular",
        r"\mathbf{H}_i\text{ lower triangular}\Rightarrow\mathbf{M}(\mathbf{x}),\ \mathbf{I}+\mathbf{M}(\mathbf{x}),\ "
        r"\mathbf{P}_L=\mathbf{A}_L\cdots\mathbf{A}_1\text{ block lower triangular}",
        _triangular,
        kind=Kind.ALL_DEPTHS,
        hypotheses=("H_i is lower triangular",),
    ),
    row(
        "K8",
        "gated.matrix",
        "a gated part is a dynamic matrix without a σ-term",
        r"\operatorname{vec}((\sigma(\mathbf{X}\mathbf{G})\odot\mathbf{X}\mathbf{U})\mathbf{W}_D)"
        r"=T(\mathbf{W}_D)\operatorname{diag}(\sigma(T(\mathbf{G})\mathbf{x}))T(\mathbf{U})\mathbf{x}",
        _gate_as_matrix,
        hypotheses=(ELEMENTWISE,),
        reading="the same part as in K8's layer, read as an addition to W_{i,1} instead of as a σ-term",
    ),
    row(
        "K9",
        "rope.relative",
        "rotary scores depend on the difference of positions alone",
        r"(\mathbf{R}_n\mathbf{q})^T\mathbf{R}_k\mathbf{k}=\mathbf{q}^T\mathbf{R}_{k-n}\mathbf{k}",
        _relative,
        hypotheses=("R_n turns each pair of features by n times its frequency",),
    ),
)
