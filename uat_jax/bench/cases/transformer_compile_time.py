"""Forms of a Transformer as a loop over stacked layers, and written out: how compiling and running grow with depth."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from uat_jax.bench.case import Case, Experiment, Size
from uat_jax.bench.cases.compile_time import COMPILE_LIMIT, RUN_SLACK
from uat_jax.bench.cases.two_streams import in_two, stacked
from uat_jax.bench.splits import Network, Way, split_experiment
from uat_jax.bench.transformers import PAPERS, network
from uat_jax.decomposition import terms

FORMS = ("plain", "two streams", "all terms")


def build(form: str, family: str, shallow: int, deep: int, written: int, dtype: str, **sizes: int) -> Experiment:
    """A loop over few layers (the baseline) and over many; and written out, at two depths.

    The layers of each are the last ones of the deepest, so that all have one last bias.
    """
    separate = form == "all terms"
    whole = network(family, separate=separate, batch=1, dtype=dtype, depth=max(shallow, deep, written), **sizes)
    split = {"plain": whole.plain, "two streams": in_two(family), "all terms": terms}[form]
    kinds = {"loop": (stacked, (shallow, deep)), "written out": (lambda weights: weights, (shallow, written))}
    found = {}
    for depth in dict.fromkeys((shallow, deep, written)):
        of = last_layers(whole, depth)
        own = {kind: prepare for kind, (prepare, depths) in kinds.items() if depth in depths}
        ways = {f"{kind}, {depth} layers": Way(split, prepare(of.weights)) for kind, prepare in own.items()}
        found |= dict.fromkeys(ways, split_experiment(of, ways))
    order = [f"{kind}, {depth} layers" for kind, (_, depths) in kinds.items() for depth in depths]
    last = f"loop, {deep} layers"
    return Experiment(
        {name: found[name].programs[name] for name in order},
        lambda name, answer: found[name].check(name, answer),
        wrong=found[last].wrong,
        limits={} if separate else {last: RUN_SLACK * deep / shallow},  # terms are the more, the deeper
        compile_limits={last: COMPILE_LIMIT},
    )


def last_layers(of: Network, depth: int) -> Network:
    """The network of the last so many layers."""
    if isinstance(of.weights, tuple):
        return of._replace(weights=of.weights[-depth:])
    return of._replace(weights=replace(of.weights, blocks=of.weights.blocks[-depth:]))


def _size(form: str, family: str, shallow: int, deep: int, written: int, features: int, tokens: int) -> Size:
    """h = 2, F = 4 M."""
    depths: Mapping[str, Any] = {"form": form, "family": family, "shallow": shallow, "deep": deep, "written": written}
    widths = {"features": features, "heads": 2, "hidden": 4 * features, "tokens": tokens}
    return {**depths, **widths, "dtype": "float32"}


CASES = (
    Case(
        name="transformer-compile-time",
        question="Do forms of a deep Transformer compile, and their layers run, as fast as of a shallow one?",
        build=build,
        quick=(_size("two streams", PAPERS, 2, 4, 3, 4, 3),),
        standard=(_size("two streams", "gpt2", 6, 96, 12, 64, 32),),
        full=(
            *(_size(form, "gpt2", 6, 96, 12, 64, 32) for form in FORMS[:2]),
            *(_size(form, PAPERS, 6, 96, 12, 64, 32) for form in FORMS[:2]),
            _size("two streams", "bert", 6, 96, 12, 128, 64),
            _size("all terms", "gpt2", 6, 24, 12, 64, 32),
        ),
        rounds=7,
        words={"form": FORMS},
    ),
)
