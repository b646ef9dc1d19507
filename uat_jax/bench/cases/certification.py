"""A whole GPT-2 in two writings, its weights as inputs: one random point of prime fields, and a certificate.

A *draw* evaluates both writings in four copies of every prime field and compares every output; *certify* is as many
draws and copies as a chance of error of 2⁻¹²⁸ asks for. Two wrong twins must be told apart before anything is timed.
"""

from __future__ import annotations

import functools

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.bench import gpt2, two_writings
from uat_jax.bench.case import Case, Experiment, Size
from uat_jax.bench.splits import SPREAD


def build(depth: int, features: int, tokens: int) -> Experiment:
    """One float32 forward pass of both writings (the baseline), one draw, and a certificate.

    The reference is the second writing in float64; either may be as far off as the first one, not compiled, in
    float32, times `SPREAD`.
    """
    text, weights = gpt2.text(tokens), gpt2.draw(depth, features, tokens)
    on_text = lambda writing: functools.wraps(writing)(lambda weights: writing(weights, text))
    left, right = on_text(gpt2.fused), on_text(gpt2.by_head)
    with jax.enable_x64(True):
        exact = np.asarray(jax.jit(right)(jax.tree.map(lambda a: jnp.asarray(a, np.float64), weights)))
    rounding = float(np.abs(np.asarray(left(weights), np.float64) - exact).max())
    return two_writings.experiment(
        left,
        right,
        (weights,),
        name="float32",
        exact=exact,
        allowed=SPREAD * rounding,
        bias=np.asarray(gpt2.last_bias(weights), np.float64),
        twins=[on_text(twin) for twin in gpt2.TWINS],
    )


def _size(depth: int, features: int, tokens: int) -> Size:
    return {"depth": depth, "features": features, "tokens": tokens}


CASES = (
    Case(
        name="certification",
        question="What does it cost to certify that two writings of a GPT-2 are one function, for all weights?",
        build=build,
        quick=(_size(1, 8, 3),),
        standard=(_size(1, 64, 8), _size(2, 64, 8)),
        full=(
            *(_size(depth, 64, 8) for depth in (1, 2, 6, 12)),
            *(_size(2, features, 8) for features in (128, 256)),
            *(_size(2, 64, tokens) for tokens in (16, 32)),
        ),
        axes=("depth", "features", "tokens"),
        rounds=3,
    ),
)
