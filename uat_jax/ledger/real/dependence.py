"""Which parameters of real blocks depend on the input: a softmax keeps biases static, norms and gates do not (K2–K13)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.decide import dependence
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method
from uat_jax.ledger.claim import ELEMENTWISE, Claim, Decide, Kind
from uat_jax.ledger.real import networks as real
from uat_jax.ledger.real.blocks import SOFTMAX, Case, row
from uat_jax.ledger.real.transformers import GATED, MIXTURE, POST_NORM, PRE_NORM
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import VALUE_WIDTH, WIDTH, MultiHead, plain_scores
from uat_jax.symbolic.blocks.feed_forward import EXPERTS
from uat_jax.symbolic.blocks.norms import LayerNorm
from uat_jax.symbolic.blocks.sizes import FEATURES, HIDDEN, TOKENS, column_for_each_token, for_each_token
from uat_jax.symbolic.program import letters_of
from uat_jax.symbolic.step import Step

SIZES: dict[Any, int] = {TOKENS: 1, FEATURES: 3, WIDTH: 1, VALUE_WIDTH: 1, HIDDEN: 1, EXPERTS: 2}
INPUTS = ([[0, 0, 1]], [[1, 0, 0]])
"""Two inputs of one token with three features: with two, LayerNorm leaves little more than a sign."""


def _attention_bias(settings: Settings) -> Iterator[Evidence]:
    """Σ_i H_i(X) 1 b_Viᵀ W_Oi + 1 b_Oᵀ, whatever the scores and however many heads."""
    of, X = MultiHead(), m.Letter("X", TOKENS, FEATURES)
    values = lambda i: m.Product(of.pattern(i, X), m.Ones(TOKENS, 1), of.bias("V", i).T, of.weight("O", i))
    bias = m.Vectorised(of.over_heads(values) + for_each_token(of.bias("O")))
    yield from dependence.static(bias, X, what="a, for all shapes and any scores")


def _with_sink(settings: Settings) -> Iterator[Evidence]:
    """One more score of 0 that takes part in the sum of a row and in nothing else: the row sums to less than 1."""

    def bias(x: jax.Array) -> jax.Array:  # of one token, one feature
        power = jnp.exp(x * x)
        return power / (1 + power)

    yield dependence.dynamic(bias, ([[0]], [[1]]), what="a = H(x) 1 with one token, b_V = W_O = 1")


def _pre_norm_bias(settings: Settings) -> Iterator[Evidence]:
    """c = 1 ⊗ (Σ_i (W_Vi W_Oi)ᵀ β_1 + Σ_i W_Oiᵀ b_Vi + b_O + b_2)."""
    block = PRE_NORM.general
    of, norm, feed_forward = block.parts.attention, block.parts.norm_1, block.parts.feed_forward
    assert isinstance(norm, LayerNorm)
    from_norm = of.over_heads(lambda i: of.value_output(i).T @ norm.bias)
    from_values = of.over_heads(lambda i: of.weight("O", i).T @ of.bias("V", i))
    whole = m.Addition(from_norm, from_values, of.bias("O"), feed_forward.biases[1])
    step = Step("b_{i,3}", block.c, column_for_each_token(whole), block.lines)
    yield prove([step], method=Method.DEPENDENCE, what="b_{i,3} written without the input, for all shapes, any scores")
    yield from dependence.static(step.right, block.parts.X, what="what it is equal to")


def _dynamic(case: Case, *parameters: str) -> Decide:
    def decide(settings: Settings) -> Iterator[Evidence]:
        for parameter in parameters:
            function = value(case, parameter)
            yield dependence.dynamic(
                function, INPUTS, what=f"{parameter}, weights 1, 0, 0, −1, 1, …", subject=parameter
            )

    return decide


def value(case: Case, parameter: str) -> Callable[[jax.Array], jax.Array]:
    """A parameter of the block as a function of X (1 × 3): one head, all weights 1, 0, 0, −1, 1 row by row."""
    block = case.build(case.parts(1, groups=1, scoring=plain_scores))
    X = block.parts.X
    whole = dependence.unfolded(getattr(block, parameter), block.lines)
    evaluate = real.function_of(whole, X, SIZES)
    weights = {letter: _weights(letter) for letter in letters_of(whole) if letter != X}
    return lambda x: evaluate({letter: jnp.asarray(w, x.dtype) for letter, w in weights.items()}, x)


def _weights(letter: m.Letter) -> np.ndarray:
    rows, columns = (int(m.replaced(size, SIZES)) for size in letter.shape)
    return np.resize([1, 0, 0, -1, 1], (rows, columns))


def _row(number: str, name: str, title: str, printed: str, decide: Decide, *hypotheses: str) -> Claim:
    return row(number, name, title, printed, decide, kind=Kind.DEPENDENCE, hypotheses=hypotheses)


CLAIMS = (
    _row(
        "K2",
        "attention-biases.static",
        "the biases of attention do not depend on the input",
        r"\mathbf{a}(\mathbf{x})=\mathbf{a}(\tilde{\mathbf{x}})",
        _attention_bias,
        SOFTMAX,
    ),
    _row(
        "K2",
        "attention-biases.sink",
        "with an attention sink the biases of attention depend on the input",
        r"\mathbf{a}(\mathbf{x})\ne\mathbf{a}(\tilde{\mathbf{x}})\text{ if the rows of }\mathbf{H}_i\text{ do not sum to 1}",
        _with_sink,
        "a row of H_i is a softmax over its scores and one more score, which is left out",
    ),
    _row(
        "K5",
        "pre-norm.static-bias",
        "in a pre-norm block b_{i,3} does not depend on the input",
        r"\mathbf{M}(\mathbf{x})(\mathbf{1}\otimes\beta_1)+\mathbf{a}+\mathbf{1}\otimes\mathbf{b}_2\text{ is static}",
        _pre_norm_bias,
        SOFTMAX,
    ),
    _row(
        "K5",
        "pre-norm.inner-bias",
        "in a pre-norm block b_{i,2} depends on the input",
        r"T_1\mathbf{N}_2(\mathbf{y})\mathbf{a}+T_1(\mathbf{1}\otimes\beta_2)+\mathbf{1}\otimes\mathbf{b}_1\text{ is dynamic}",
        _dynamic(PRE_NORM, "b"),
    ),
    _row(
        "K6",
        "post-norm.output",
        "in a post-norm block W_{i,3} and b_{i,3} depend on the input, also for i = L",
        r"\mathbf{W}_{i,3}=\mathbf{N}_2(\mathbf{r})T_2,\ \mathbf{b}_{i,3}\text{ are dynamic}",
        _dynamic(POST_NORM, "C", "c"),
    ),
    _row(
        "K8",
        "gated.output",
        "with a gated feed-forward part W_{i,3} depends on the input, also for i = L",
        r"\mathbf{W}_{i,3}=T(\mathbf{W}_D)\operatorname{diag}(T(\mathbf{U})\mathbf{w}')\text{ is dynamic}",
        _dynamic(GATED, "C"),
        ELEMENTWISE,
    ),
    _row(
        "K13",
        "mixture.output",
        "in a mixture of experts W_{i,3} and b_{i,3} depend on the input",
        r"\mathbf{W}_{i,3}=[\operatorname{diag}(\mathbf{g}_e)\otimes\mathbf{W}_{2e}^T]_e,\ "
        r"\mathbf{b}_{i,3}=\mathbf{a}+\textstyle\sum_e\mathbf{g}_e\otimes\mathbf{b}_{2e}\text{ are dynamic}",
        _dynamic(MIXTURE, "C", "c"),
    ),
)
