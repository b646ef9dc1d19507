"""All L + 2 terms of a real model's output against its plain forward pass.

In layer j there are j + 1 terms to send through the frozen attention, besides the one stream of the plain pass.
"""

from __future__ import annotations

from uat_jax.bench.case import Case, Experiment
from uat_jax.bench.cases.two_streams import GPT2, MINILM, SHORT, stacked
from uat_jax.bench.splits import Way, split_experiment
from uat_jax.bench.transformers import count, network
from uat_jax.decomposition import terms


def build(family: str, depth: int, batch: int, dtype: str, **sizes: int) -> Experiment:
    """The plain pass (the baseline), and all terms, written out and as one loop over stacked layers."""
    of = network(family, separate=True, batch=batch, dtype=dtype, depth=depth, **sizes)
    layer, stream = count(family, **sizes)
    more = batch * sum(range(1, depth + 1)) * stream
    limit = 1.5 + depth / 16
    ways = {
        "plain": Way(of.plain, of.weights, batch * depth * layer),
        "all terms": Way(terms, of.weights, batch * depth * layer + more, limit),
        "all terms, a loop": Way(terms, stacked(of.weights), batch * depth * layer + more, limit),
    }
    return split_experiment(of, ways)


CASES = (
    Case(
        name="decomposition",
        question="What do all L + 2 terms of a Transformer's output cost over its forward pass?",
        build=build,
        quick=({**SHORT, "depth": 1, "features": 4, "heads": 2, "hidden": 4, "tokens": 3},),
        standard=(MINILM, SHORT),
        full=(
            MINILM,
            GPT2,
            *({**MINILM, "depth": depth} for depth in (3, 12, 24)),
            *({**MINILM, "tokens": tokens} for tokens in (32, 64, 256, 512)),
            *({**SHORT, "dtype": dtype} for dtype in ("float64", "bfloat16")),
        ),
        axes=("depth", "tokens"),
        rounds=7,
    ),
)
