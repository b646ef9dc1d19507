"""The parts of real Transformers token by token and head by head, in exact arithmetic.

A reference takes the very numbers the network gets, as NumPy arrays whose entries are balls of 256 bits
(python-flint's `arb`), and knows nothing of JAX.  The network's jaxpr is evaluated in balls too, so comparing the two
needs no tolerance: they overlap in every entry, or they are different functions.
"""

from collections.abc import Callable, Mapping
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from flint import arb, ctx

from uat_jax.networks.block import parallel_block, post_norm_block, pre_norm_block, residual_block
from uat_jax.networks.feed_forward_part import FeedForward, GatedFeedForward
from uat_jax.networks.multihead import Scoring
from uat_jax.networks.norms import EPSILON, RMSNorm
from uat_jax.numbers.balls.balls import exact


def equal(network: Callable, reference: Callable, *arguments: Any) -> bool:
    """Whether network(*arguments) and reference(*arguments), both exact, are the same array."""
    with ctx.workprec(256):
        wanted = np.array(reference(*balls(arguments)), dtype=object)
    found = exact(network, arguments)
    assert found.shape == wanted.shape
    return all(a.is_finite() and a.overlaps(b) for a, b in zip(found.ravel(), wanted.ravel(), strict=True))


def balls(tree: Any) -> Any:
    """Every float of a pytree as an exact number; integers and booleans as they are."""
    return jax.tree.map(_balls_of_array, tree)


def _balls_of_array(array: Any) -> Any:
    array = np.asarray(array)
    if not jnp.issubdtype(array.dtype, jnp.floating):
        return array
    return np.vectorize(arb, otypes=[object])(array.astype(np.float64))[()]


def elementwise(function: Callable, array: np.ndarray) -> np.ndarray:
    """The function of every entry."""
    return np.vectorize(function, otypes=[object])(array)


def silu(x: arb) -> arb:
    """x / (1 + exp(−x))."""
    return x / (1 + (-x).exp())


def softmax(scores: Mapping[int, arb]) -> dict[int, arb]:
    """exp(s_m) / Σ exp(s_m), by number."""
    total = sum(score.exp() for score in scores.values())
    return {m: score.exp() / total for m, score in scores.items()}


def norm(parameters: Any, x: np.ndarray) -> np.ndarray:
    """LayerNorm or RMSNorm with the ε that float32 has."""
    return np.stack([_norm_of_token(parameters, token, arb(float(np.float32(EPSILON)))) for token in x])


def _norm_of_token(parameters: Any, token: np.ndarray, epsilon: arb) -> Any:
    gamma: Any = parameters.gamma
    if isinstance(parameters, RMSNorm):
        return gamma * token / (sum(t**2 for t in token) / len(token) + epsilon).sqrt()
    mean = sum(token) / len(token)
    variance = sum((t - mean) ** 2 for t in token) / len(token)
    return gamma * (token - mean) / (variance + epsilon).sqrt() + parameters.beta


def rotation(angles: Any) -> np.ndarray:
    """R_n of RoPE as a matrix: blocks (cos, −sin; sin, cos) on the diagonal."""
    matrix = np.full((2 * len(angles), 2 * len(angles)), arb(0), dtype=object)
    for k, angle in enumerate(angles):
        cos, sin = angle.cos(), angle.sin()
        matrix[2 * k : 2 * k + 2, 2 * k : 2 * k + 2] = [[cos, -sin], [sin, cos]]
    return matrix


def attention_weights(layer: Any, x: np.ndarray, z: np.ndarray, scoring: Scoring, i: int, n: int) -> dict[int, arb]:
    """The weights of the keys that query n of head i sees, by number."""
    g = group_of(layer, i)
    q = plus(x[n] @ layer.query[i], layer.query_bias, i)
    keys = [plus(token @ layer.key[g], layer.key_bias, g) for token in z]
    if scoring.angles is not None:
        q, keys = rotation(scoring.angles[n]) @ q, [rotation(scoring.angles[m]) @ k for m, k in enumerate(keys)]
    scale = 1 / arb(len(q)).sqrt() if scoring.scale is None else scoring.scale
    bias = np.full(len(z), arb(0)) if scoring.bias is None else scoring.bias[i, n]
    seen = [m for m in range(len(z)) if scoring.mask is None or scoring.mask[n, m]]
    return softmax({m: np.dot(q, keys[m]) * scale + bias[m] for m in seen})


def group_of(layer: Any, i: int) -> int:
    """The group of head i: the first h/g heads belong to group 0, and so on."""
    return i // (len(layer.query) // len(layer.key))


def plus(vector: np.ndarray, bias: Any, i: int | slice) -> np.ndarray:
    """vector + bias[i], or the vector where there is no bias."""
    return vector if bias is None else vector + bias[i]


def attention(layer: Any, x: np.ndarray, z: np.ndarray, scoring: Scoring) -> np.ndarray:
    """Σ_i Σ_m H_i[n, m] (z_m W_V + b_V) W_Oi + b_O."""
    outputs = []
    for n in range(len(x)):
        total = plus(np.full(layer.output.shape[2], arb(0)), layer.output_bias, slice(None))
        for i in range(len(layer.query)):
            g = group_of(layer, i)
            for m, weight in attention_weights(layer, x, z, scoring, i, n).items():
                total = total + weight * (plus(z[m] @ layer.value[g], layer.value_bias, g) @ layer.output[i])
        outputs.append(total)
    return np.stack(outputs)


def feed_forward(layer: Any, x: np.ndarray, top: int | None = None) -> np.ndarray:
    """Plain or of experts with tanh, gated with SiLU."""
    if isinstance(layer, FeedForward):
        return elementwise(arb.tanh, x @ layer.hidden + layer.hidden_bias) @ layer.project + layer.project_bias
    if isinstance(layer, GatedFeedForward):
        return (elementwise(silu, x @ layer.gate) * (x @ layer.up)) @ layer.down
    return np.stack([_mixture_of_token(layer, token, top) for token in x])


def gates(layer: Any, token: np.ndarray, top: int | None) -> dict[int, arb]:
    """The gates of the `top` experts with the largest logits, by number."""
    logits = token @ layer.router
    kept = sorted(range(len(logits)), key=lambda e: -float(logits[e].mid()))[:top]
    return softmax({e: logits[e] for e in kept})


def _mixture_of_token(layer: Any, token: np.ndarray, top: int | None) -> Any:
    experts = [FeedForward(*(array[e] for array in layer[1:])) for e in range(len(layer.hidden))]
    return sum(gate * feed_forward(experts[e], token) for e, gate in gates(layer, token, top).items())


def block(kind: Callable, parameters: Any, x: np.ndarray, scoring: Scoring, top: int | None = None) -> np.ndarray:
    """The block that has the name of the network function `kind`."""
    mha = lambda x: attention(parameters.attention, x, x, scoring)
    ffn = lambda x: feed_forward(parameters.feed_forward, x, top)
    norm_1, norm_2 = (lambda x, norm_j=norm_j: norm(norm_j, x) for norm_j in (parameters.norm_1, parameters.norm_2))
    if kind is residual_block:
        y = x + mha(x)
        return y + ffn(y)
    if kind is pre_norm_block:
        y = x + mha(norm_1(x))
        return y + ffn(norm_2(y))
    if kind is post_norm_block:
        y = norm_1(x + mha(x))
        return norm_2(y + ffn(y))
    assert kind is parallel_block
    return x + mha(norm_1(x)) + ffn(norm_2(x))


def decoder(parameters: Any, tokens: np.ndarray, scoring: Scoring) -> np.ndarray:
    """Embedding, pre-norm blocks, final norm, unembedding."""
    embedding, blocks, unembedding = parameters
    x = np.stack([embedding.tokens[t] + embedding.positions[n] for n, t in enumerate(tokens)])
    for parameters in blocks:
        x = block(pre_norm_block, parameters, x, scoring)
    return norm(unembedding.norm, x) @ unembedding.matrix
