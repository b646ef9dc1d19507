"""One Transformer of the papers in three forms: as printed (Eq. 30), as the closed form of Theorem 1, in two streams.

The patterns of attention depend on the input, so that the closed form is merged anew for every input: its matrices of
(N M)² entries are made, multiplied with each other, and used once.
"""

from __future__ import annotations

from uat_jax.bench.case import Case, Experiment
from uat_jax.bench.splits import Way, split_experiment
from uat_jax.bench.transformers import PAPERS, SIGMA, count, network
from uat_jax.decomposition.papers import transformer_streams
from uat_jax.ledger.layers.kernels import Kernels
from uat_jax.typing import JsonObject


def build(depth: int, tokens: int, features: int, heads: int, hidden: int, dtype: str) -> Experiment:
    """The forward pass (the baseline), the closed form, and two streams."""
    widths = {"tokens": tokens, "features": features, "heads": heads, "hidden": hidden}
    of = network(PAPERS, separate=False, batch=1, dtype=dtype, depth=depth, **widths)
    forms = Kernels("transformer", depth, "gelu", heads=heads, tokens=tokens)
    closed = lambda layers, x: forms.closed((layers, x)).reshape(1, tokens, features)
    layer, stream = (depth * operations for operations in count(PAPERS, **widths))
    ways = {
        "plain": Way(of.plain, of.weights, layer),
        "closed form": Way(closed, of.weights, None),
        "two streams": Way(lambda layers, x: transformer_streams(layers, x, SIGMA), of.weights, layer + stream),
    }
    return split_experiment(of, ways)


def _size(depth: int, tokens: int = 4, features: int = 16) -> JsonObject:
    return {
        "depth": depth,
        "tokens": tokens,
        "features": features,
        "heads": 2,
        "hidden": 2 * features,
        "dtype": "float32",
    }


CASES = (
    Case(
        name="transformer-forms",
        question="What does the closed form of a Transformer cost, merged for every input?",
        build=build,
        quick=(_size(1, 2, 4),),
        standard=(_size(1), _size(2), _size(4)),
        full=(
            *(_size(depth) for depth in (1, 2, 3, 4, 6)),
            *(_size(2, tokens=tokens) for tokens in (2, 8, 16)),
            *(_size(2, features=features) for features in (8, 32, 64)),
        ),
        axes=("depth", "tokens", "features"),
    ),
)
