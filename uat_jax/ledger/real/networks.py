"""The closed form of real blocks against plain JAX networks: what confirms chapter K.

The parameters of Theorem 1 are lowered, with the real functions in place of the opaque ones (reciprocal deviations of
the norms, masks, rotations, gates), composed over several blocks, and compared in prime fields with the network as
anyone would write it.  Both are functions of all weights and of the input.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import jax
import jax.numpy as jnp
import sympy

from uat_jax.decide.effort import LAWS, Effort
from uat_jax.decide.identity import identical
from uat_jax.decide.verdict import Evidence
from uat_jax.lowering import Lowered
from uat_jax.networks.adapted import dense
from uat_jax.networks.block import Block as NetworkBlock
from uat_jax.networks.feed_forward_part import AnyFeedForward, GatedFeedForward, MixtureOfExperts
from uat_jax.networks.feed_forward_part import FeedForward as PlainArrays
from uat_jax.networks.multihead import MultiHead as HeadArrays
from uat_jax.networks.norms import EPSILON
from uat_jax.networks.norms import LayerNorm as LayerNormArrays
from uat_jax.symbolic import language as m
from uat_jax.symbolic.blocks.attention import VALUE_WIDTH, WIDTH, Head, MultiHead
from uat_jax.symbolic.blocks.block import Block, closed_form
from uat_jax.symbolic.blocks.feed_forward import EXPERTS, FeedForward, Gated, Mixture
from uat_jax.symbolic.blocks.norms import LayerNorm, NoNorm, RMSNorm
from uat_jax.symbolic.blocks.sizes import FEATURES, HIDDEN, TOKENS
from uat_jax.symbolic.program import Program

Arrays = dict[m.Letter, Any]
Function = Callable[[jax.Array], jax.Array]

WIDE = 2
"""M, d and e of the networks that are compared: an even number of features, that rotary positions can turn."""
SIZES: dict[Any, int] = {FEATURES: WIDE, WIDTH: WIDE, VALUE_WIDTH: WIDE, HIDDEN: 1, EXPERTS: 2}
"""Their sizes, but for the number of tokens."""


# --- what the opaque functions are ---------------------------------------------------------------------------------


def reciprocal_root_mean_square(x: jax.Array) -> jax.Array:
    """r_n = (mean_m x_{nm}² + ε)^{-1/2}, a column."""
    return jax.lax.rsqrt(jnp.mean(x * x, axis=1, keepdims=True) + jnp.asarray(EPSILON, x.dtype))


def reciprocal_deviation(x: jax.Array) -> jax.Array:
    """s_n = (var_m x_{nm} + ε)^{-1/2}, a column."""
    return reciprocal_root_mean_square(x - jnp.mean(x, axis=1, keepdims=True))


FUNCTIONS: dict[str, Function] = {
    "r": reciprocal_root_mean_square,
    "s": reciprocal_deviation,
    "f": lambda logits: jax.nn.softmax(logits, axis=-1),
}
"""The functions of the norms and of the gates, by the names of their letters."""


# --- a network's arrays by the letters of its block ------------------------------------------------------------------


def arrays_of(block: Block, layer: NetworkBlock) -> Arrays:
    """Letter → array, for all weights of a block."""
    parts = block.parts
    assert layer.attention is not None
    found = attention_arrays(parts.attention, layer.attention) | feed_forward_arrays(
        parts.feed_forward, layer.feed_forward
    )
    return found | norm_arrays(parts.norm_1, layer.norm_1) | norm_arrays(parts.norm_2, layer.norm_2)


def attention_arrays(of: MultiHead, layer: HeadArrays) -> Arrays:
    """W_Q, W_K, W_V, W_O and their biases; heads of one group stand next to each other."""
    found: Arrays = {}
    for number, head in enumerate(_heads(of)):
        group = number // of.per_group
        owner = {"Q": number, "K": group, "V": group, "O": number}
        weights = {"Q": layer.query, "K": layer.key, "V": layer.value, "O": layer.output}
        biases = {"Q": layer.query_bias, "K": layer.key_bias, "V": layer.value_bias} if of.biases else {}
        found |= {of.weight(name, head): dense(W)[owner[name]] for name, W in weights.items()}
        found |= {of.bias(name, head): array[owner[name]] for name, array in biases.items() if array is not None}
    return found | ({of.bias("O"): layer.output_bias} if of.biases else {})


def _heads(of: MultiHead) -> list[Head]:
    groups = range(1, int(of.groups) + 1)
    return [(g,) if of.per_group == 1 else (g, k) for g in groups for k in range(1, int(of.per_group) + 1)]


def feed_forward_arrays(of: FeedForward, layer: AnyFeedForward) -> Arrays:
    """The weights of a plain or gated feed-forward part, or those of all experts beside each other."""
    if isinstance(of, Gated):
        assert isinstance(layer, GatedFeedForward)
        return dict(zip(of.letters, (layer.up, layer.gate, layer.down), strict=True))
    if isinstance(of, Mixture):
        assert isinstance(layer, MixtureOfExperts)
        features = layer.hidden.shape[1]
        beside = jnp.transpose(layer.hidden, (1, 0, 2)).reshape(features, -1)
        below, bias = layer.project.reshape(-1, features), layer.hidden_bias.reshape(-1)
        plain = dict(zip((*of.weights, of.biases[0]), (beside, below, bias), strict=True))
        return plain | {of.expert_biases: layer.project_bias, of.router: layer.router}
    assert isinstance(layer, PlainArrays)
    letters = (*of.weights, *of.biases)
    return dict(zip(letters, (layer.hidden, layer.project, layer.hidden_bias, layer.project_bias), strict=True))


def norm_arrays(of: NoNorm, norm: Any) -> Arrays:
    """γ and β."""
    if not isinstance(of, RMSNorm):
        return {}
    if not isinstance(of, LayerNorm):
        return {of.gain: norm.gamma}
    assert isinstance(norm, LayerNormArrays)
    return {of.gain: norm.gamma, of.bias: norm.beta}


# --- the comparison ------------------------------------------------------------------------------------------------


def same(
    left: Callable[..., Any], right: Callable[..., Any], inputs: Any, *, what: str, thoroughly: bool = False
) -> Evidence:
    """CERTIFIED if prime fields find two functions of ``inputs`` (a tuple of pytrees of arrays) equal, else UNKNOWN.

    Roots are unknown functions here: that the square of a root is its argument is not needed.  Sines and cosines are
    taken as exponentials only if ``thoroughly``.
    """
    specs = jax.tree.map(lambda a: jax.ShapeDtypeStruct(a.shape, jnp.float32), inputs)
    traced = jax.make_jaxpr(left)(*specs), jax.make_jaxpr(right)(*specs)
    return identical(*traced, Effort(laws=LAWS - {"square of a root"}), what=what, thoroughly=thoroughly)


def closed_form_of(
    blocks: Sequence[Block], tokens: int, functions: Mapping[str, Function] | None = None
) -> Callable[..., jax.Array]:
    """The closed form of blocks as a function (the network's blocks, x_0 (N × M), arrays of other letters) → x_L (N × M).

    ``functions`` are those that `FUNCTIONS` lacks.
    """
    known, sizes = {**FUNCTIONS, **(functions or {})}, {TOKENS: tokens, **SIZES}
    argument = blocks[0].layers.x(0)
    lowered = Lowered(closed_form(blocks), argument, jax.lax.lgamma, dimensions=sizes, functions=known)

    def evaluate(layers: Sequence[NetworkBlock], x: jax.Array, others: Mapping[m.Letter, Any]) -> jax.Array:
        arrays = dict(others)
        for block, layer in zip(blocks, layers, strict=True):
            arrays |= arrays_of(block, layer)
        return lowered({str(letter): array for letter, array in arrays.items()}, x.reshape(-1)).reshape(x.shape)

    return evaluate


def function_of(
    expression: m.Expression,
    argument: m.Letter,
    sizes: Mapping[sympy.Expr, int],
    functions: Mapping[str, Function] | None = None,
) -> Callable[[Arrays, jax.Array], jax.Array]:
    """An expression as a function (arrays of its other letters, the argument) → its value."""
    result = m.Letter("value", *expression.shape)
    known = {**FUNCTIONS, **(functions or {})}
    program = Program({result: expression}, result)
    lowered = Lowered(program, argument, jax.lax.lgamma, dimensions=sizes, functions=known)
    return lambda arrays, x: lowered({str(letter): array for letter, array in arrays.items()}, x)
