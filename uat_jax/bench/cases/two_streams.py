"""The state of a Transformer in two streams, input with biases and activations, against its plain forward pass (L3).

Both streams go through the same frozen attention and norms: one application of the values and outputs more per layer.
"""

from __future__ import annotations

from typing import Any

from uat_jax.bench.case import Case, Experiment, Size
from uat_jax.bench.splits import Split, Way, split_experiment
from uat_jax.bench.transformers import PAPERS, SIGMA, count, network
from uat_jax.decomposition import two_streams
from uat_jax.decomposition.papers import transformer_streams
from uat_jax.networks.model import Model
from uat_jax.networks.stack import stack
from uat_jax.typing import PyTree

LIMIT = 1.25


def in_two(family: str) -> Split:
    """The two streams of a network of a family."""
    if family == PAPERS:
        return lambda layers, x: transformer_streams(layers, x, SIGMA)
    return two_streams


def stacked(weights: PyTree) -> Any:
    """The network with its layers one above the other."""
    return weights.stacked() if isinstance(weights, Model) else stack(weights)


def build(family: str, depth: int, batch: int, dtype: str, **sizes: int) -> Experiment:
    """The plain pass (the baseline), two streams written out, and both as one loop over stacked layers."""
    of = network(family, separate=False, batch=batch, dtype=dtype, depth=depth, **sizes)
    each, more = count(family, **sizes)
    layer, stream = batch * depth * each, batch * (depth - 1) * more  # there is no u in the first layer
    above = stacked(of.weights)
    ways = {
        "plain": Way(of.plain, of.weights, layer),
        "two streams": Way(in_two(family), of.weights, layer + stream, LIMIT),
        "plain, a loop": Way(of.plain, above, layer),
        "two streams, a loop": Way(in_two(family), above, layer + stream, LIMIT),
    }
    return split_experiment(of, ways)


def _size(
    family: str, depth: int, features: int, heads: int, tokens: int, batch: int = 1, dtype: str = "float32"
) -> Size:
    """F = 4 M."""
    return {
        "family": family,
        "depth": depth,
        "features": features,
        "heads": heads,
        "hidden": 4 * features,
        "tokens": tokens,
        "batch": batch,
        "dtype": dtype,
    }


MINILM, GPT2 = _size("bert", 6, 384, 12, 128), _size("gpt2", 12, 768, 12, 1024)
"""The shapes of all-MiniLM-L6-v2 and of GPT-2 small."""
SHORT = _size("gpt2", 4, 256, 8, 128)
OF_PAPERS = _size(PAPERS, 6, 384, 12, 128)

CASES = (
    Case(
        name="two-streams",
        question="What do two streams cost over the forward pass of a Transformer?",
        build=build,
        quick=(_size("gpt2", 1, 4, 2, 3),),
        standard=(MINILM, SHORT, OF_PAPERS),
        full=(
            MINILM,
            GPT2,
            OF_PAPERS,
            *({**SHORT, "depth": depth} for depth in (1, 2, 4, 8, 16)),
            *({**SHORT, "tokens": tokens} for tokens in (32, 64, 256, 512)),
            *({**SHORT, "features": M, "hidden": 4 * M} for M in (64, 128, 512)),
            *({**SHORT, "heads": heads} for heads in (1, 2, 32)),
            *({**SHORT, "batch": batch} for batch in (2, 4, 8)),
            *({**SHORT, "dtype": dtype} for dtype in ("float64", "bfloat16")),
            *({**OF_PAPERS, "depth": depth} for depth in (3, 12, 24)),
            *({**OF_PAPERS, "tokens": tokens} for tokens in (32, 512)),
        ),
        axes=("depth", "tokens", "heads", "batch"),
    ),
)
