"""What a user calls, as it is called, against the forward pass of the whole model: time, memory, compiling.

`decompose` and `attribute` check their arguments, fill the text up to a bucket of lengths and run the forward pass
beside what they find, all of which is in these times.  The forward pass is the model's output, logits included,
compiled once by `jax.jit`.  Each call is made of blocks in a tuple and of blocks in a loop (`Model.stacked`).
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.bench.case import Case, Experiment, Program, Size, WrongAnswerError
from uat_jax.bench.models import check_heads, draw
from uat_jax.bench.splits import SPREAD
from uat_jax.decomposition import attribute, decompose, terms, two_streams
from uat_jax.decomposition.attribution import Coordinate
from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.typing import PyTree

OUTPUT = Coordinate(-1, 0)
SHORTER = 1
"""By how many tokens the second text is shorter; both fall into one bucket of lengths."""

Call = Callable[[Model, jax.Array], Any]
"""(model, token numbers) → what has parts that add up."""


def aims(depth: int) -> dict[str, float]:
    """The largest times of calls over the forward pass; `decompose` runs the forward pass beside all terms."""
    all_terms = 1.5 + depth / 16
    return {"two streams": 1.25, "all terms": all_terms, "decompose": 1 + all_terms, "by head": 2.5}


CALLS: dict[str, Call] = {
    "two streams": two_streams,
    "all terms": terms,
    "decompose": lambda model, tokens: decompose(model, tokens).terms,
    "by head": lambda model, tokens: attribute(model, tokens, OUTPUT, by="head").contributions,
}


def build(family: str, depth: int, dtype: str, *, tokens: int, **sizes: int) -> Experiment:
    """The forward pass (the baseline) and every call, both kinds of blocks, and calls of a text of a second length."""
    if family not in ("gpt2", "bert"):
        raise InputError(f"got the family {family!r}, wanted one of gpt2, bert")
    check_heads(sizes["features"], sizes["heads"])
    drawn = functools.partial(draw, family=family, depth=depth, tokens=tokens, **sizes)
    model = jax.jit(functools.partial(drawn, dtype=jnp.dtype(dtype)))(jax.random.key(0))
    text = jax.random.randint(jax.random.key(1), (tokens,), 0, sizes["vocabulary"], jnp.int32)
    looped, shorter, forward = model.stacked(), text[: max(tokens - SHORTER, 1)], jax.jit(lambda m, t: m(t))
    run = lambda call, *given: Program(lambda: jax.block_until_ready(call(*given)), (), compiled=False, compiles=True)
    programs = {"forward pass": run(forward, model, text), "forward pass, a loop": run(forward, looped, text)}
    for name, call in CALLS.items():
        programs |= {name: run(call, model, text), f"{name}, a loop": run(call, looped, text)}
    again = {f"{name}, {len(shorter)} tokens": run(call, model, shorter) for name, call in CALLS.items()}
    aimed = {name + how: aim for name, aim in aims(depth).items() for how in ("", ", a loop")}
    check, wrong = _checks(model, text, len(shorter))
    return Experiment(programs | again, check, wrong, limits=aimed, compile_limits=dict.fromkeys(again, 0.0))


def _checks(model: Model, text: jax.Array, shorter: int) -> tuple[Callable[[str, Any], None], Callable[[Any], Any]]:
    """Whether what a call gives adds up to what the forward pass in float64 gives; and how a wrong answer is made.

    It may be `SPREAD` times as far off as the forward pass in the dtype of the model, relatively, times the size of all
    parts over that of their sum.
    """
    exact = {n: _exactly(model, text[:n]) for n in {len(text), shorter}}
    rounded = {name: np.asarray(a, np.float64) for name, a in _ends(model, text).items()}
    roundoff, ends = float(jnp.finfo(model.embedding.tokens.dtype).eps), exact[len(text)]
    unit = {name: max(_largest(a - ends[name]) / _largest(ends[name]), roundoff) for name, a in rounded.items()}

    def check(name: str, answer: PyTree) -> None:
        found, end = np.asarray(answer, np.float64), _end(name)
        wanted = exact[shorter if name.endswith(" tokens") else len(text)][end]
        parts = {"output": found[None], "feature": found.reshape(-1), "x_L": found}[end]
        off, size = _largest(parts.sum(axis=0) - wanted), sum(map(_largest, parts))
        allowed = SPREAD * unit[end] * max(size, _largest(wanted))
        if not off <= allowed:
            raise WrongAnswerError(f"{name}: the sum is {off:.3g} off, where rounding explains {allowed:.3g}")

    return check, lambda answer: answer + jnp.max(jnp.abs(answer))


def _end(name: str) -> str:
    """What the parts that a call gives add up to."""
    return "output" if name.startswith("forward pass") else "feature" if name.startswith("by head") else "x_L"


@jax.jit
def _ends(model: Model, text: jax.Array) -> dict[str, jax.Array]:
    x = model.hidden(text)
    return {"x_L": x, "feature": OUTPUT(model, model.features(x)), "output": model.output(x)}


def _exactly(model: Model, text: jax.Array) -> dict[str, np.ndarray]:
    """The ends by these weights in float64."""
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), model)
        return {name: np.asarray(a) for name, a in _ends(wide, text).items()}


def _largest(x: np.ndarray) -> float:
    return float(np.max(np.abs(x)))


def _size(family: str, depth: int, features: int, heads: int, tokens: int, vocabulary: int) -> Size:
    """F = 4 M."""
    shape = {"depth": depth, "features": features, "heads": heads, "hidden": 4 * features}
    return {"family": family, **shape, "tokens": tokens, "vocabulary": vocabulary, "dtype": "float32"}


MINILM, GPT2 = _size("bert", 6, 384, 12, 128, 30522), _size("gpt2", 12, 768, 12, 1024, 50257)
"""all-MiniLM-L6-v2 and GPT-2 small, with random weights."""

CASES = (
    Case(
        name="calls",
        question="What do calls of the library cost, as users make them, over the model's forward pass?",
        build=build,
        quick=(_size("gpt2", 2, 4, 2, 12, 16),),
        standard=(MINILM,),
        full=(MINILM, GPT2),
        rounds=7,
        compiled=False,
    ),
)
