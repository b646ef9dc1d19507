"""Contributions to one output by layer, head, neuron and token against the plain forward pass.

By head and by neuron the way back leads through the residual connections alone, and the products of the heads' values
with W_O or of the neurons with W_2 are done once more; by layer and by token it leads through the frozen attentions.
"""

from __future__ import annotations

import functools
from collections.abc import Callable

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.bench.case import Case, Experiment, Program, WrongAnswerError
from uat_jax.bench.cases.two_streams import GPT2, MINILM, SHORT
from uat_jax.bench.models import check_heads, draw
from uat_jax.bench.splits import SPREAD
from uat_jax.decomposition.attribution import Coordinate, contributions
from uat_jax.decomposition.sources import By
from uat_jax.errors import InputError
from uat_jax.networks.model import Model
from uat_jax.typing import PyTree

LIMITS: dict[str, float] = {"by head": 2.5, "by neuron": 2.5}
WAYS: dict[str, By] = {f"by {by}": by for by in ("layer", "head", "neuron", "token")}
OUTPUT = Coordinate(-1, 0)
VOCABULARY = 64


def build(family: str, depth: int, batch: int, dtype: str, *, tokens: int, **sizes: int) -> Experiment:
    """The plain pass (the baseline) and the contributions by each kind of source, for a batch of texts."""
    if family not in ("gpt2", "bert"):
        raise InputError(f"got the family {family!r}, wanted one of gpt2, bert")
    check_heads(sizes["features"], sizes["heads"])
    drawn = functools.partial(draw, family=family, depth=depth, tokens=tokens, vocabulary=VOCABULARY, **sizes)
    model = jax.jit(functools.partial(drawn, dtype=jnp.dtype(dtype)))(jax.random.key(0))
    texts = jax.random.randint(jax.random.key(1), (batch, tokens), 0, VOCABULARY, jnp.int32)
    plain = lambda model, text: OUTPUT(model, model.features(model.hidden(text)))[None, None]
    ways: dict[str, Callable[[Model, jax.Array], jax.Array]] = {"plain": plain}
    ways |= {name: functools.partial(_contributions, by=by) for name, by in WAYS.items()}
    exact = {name: _exactly(way, model, texts) for name, way in ways.items()}
    rounded, right = _run(plain, model, texts), exact["plain"]
    unit = float(np.max(np.abs(rounded - right))) + float(jnp.finfo(dtype).eps) * float(np.max(np.abs(right)))
    size = max(float(np.max(np.abs(parts).sum(axis=(1, 2)))) for parts in exact.values())
    tolerance = SPREAD * unit * max(size / float(np.min(np.abs(right))), 1.0)

    def check(name: str, answer: jax.Array) -> None:
        off = np.abs(np.asarray(answer, np.float64).sum(axis=2) - exact[name].sum(axis=2))
        if not max(float(off.max()), float(off.sum(axis=1).max())) <= tolerance * off.shape[1]:
            raise WrongAnswerError(
                f"{name}: contributions are {off.max():.3g} off, where rounding explains {tolerance:.3g}"
            )

    programs = {name: Program(jax.vmap(way, in_axes=(None, 0)), (model, texts)) for name, way in ways.items()}
    return Experiment(programs, check, wrong=lambda answer: answer + jnp.max(jnp.abs(answer)) + 1, limits=LIMITS)


def _contributions(model: Model, text: jax.Array, *, by: By) -> jax.Array:
    return contributions(model, text, OUTPUT, by=by)


def _run(way: Callable[..., jax.Array], model: PyTree, texts: jax.Array) -> np.ndarray:
    return np.asarray(jax.jit(jax.vmap(way, in_axes=(None, 0)))(model, texts), np.float64)


def _exactly(way: Callable[..., jax.Array], model: Model, texts: jax.Array) -> np.ndarray:
    """The contributions by these weights in float64, (B, S, N), with which those in float32 are compared."""
    with jax.enable_x64(True):
        wide = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), model)
        return _run(way, wide, texts)


CASES = (
    Case(
        name="attribution",
        question="What do contributions by layer, head, neuron and token cost over a Transformer's forward pass?",
        build=build,
        quick=({**SHORT, "depth": 1, "features": 4, "heads": 2, "hidden": 4, "tokens": 3},),
        standard=(MINILM, SHORT),
        full=(MINILM, GPT2, *({**MINILM, "depth": depth} for depth in (3, 12)), {**SHORT, "dtype": "float64"}),
        axes=("depth",),
        rounds=7,
    ),
)
