"""Steps against a threshold that they reach on a set of positive measure, far from where samples fall."""

from collections.abc import Callable, Iterator
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, W, f32, f64, ind, real

AWAY = lax.RoundingMethod.AWAY_FROM_ZERO


def cast(dtype: Any) -> Callable[[jax.Array], jax.Array]:
    """x ↦ x as an integer of this dtype and back."""
    return lambda x: real(x.astype(dtype))


SCALAR = (
    # (name, step, the value it takes around the witness, witness)
    ("floor", jnp.floor, 5.0, 5.5),
    ("floor below zero", jnp.floor, -7.0, -6.5),
    ("floor of 2x", lambda x: jnp.floor(2 * x), 11.0, 5.75),
    ("floor moved off the grid", lambda x: jnp.floor(x) + 0.5, 6.5, 6.25),
    ("floor of x - 1/4", lambda x: jnp.floor(x - 0.25) / 4, 1.25, 5.5),
    ("floor of a square", lambda x: jnp.floor(x * x), 30.0, 5.5),
    ("floor of an exponential", lambda x: jnp.floor(jnp.exp(x)), 403.0, 6.0),
    ("floor of a floor", lambda x: jnp.floor(jnp.floor(x) / 2), 3.0, 7.5),
    ("ceil", jnp.ceil, 6.0, 5.5),
    ("ceil of a half", lambda x: jnp.ceil(x / 2), -4.0, -8.75),
    ("round of 10x", lambda x: jnp.round(10 * x), 75.0, 7.5),
    ("round of a half", lambda x: jnp.round(x / 2), 4.0, 8.25),
    ("round away from zero", lambda x: lax.round(x, AWAY), 6.0, 5.75),
    ("round of a ceil", lambda x: jnp.round(jnp.ceil(x) / 3), 2.0, 5.5),
    ("nearest even number", lambda x: 2 * jnp.round(x / 2), 8.0, 8.25),
    ("rint", jnp.rint, -6.0, -6.25),
    ("trunc", jnp.trunc, 6.0, 6.5),
    ("trunc below zero", jnp.trunc, -6.0, -6.5),
    ("trunc around zero", lambda x: jnp.trunc(x / 8), 0.0, 5.5),
    ("cast to int32", cast(jnp.int32), 7.0, 7.25),
    ("cast to int32 around zero", lambda x: cast(jnp.int32)(x / 16), 0.0, -9.5),
    ("cast to int8", cast(jnp.int8), 100.0, 100.5),
    ("cast to int16", cast(jnp.int16), -300.0, -300.5),
    ("cast to uint8", cast(jnp.uint8), 200.0, 200.5),
    ("cast to bool", lambda x: real(x.astype(jnp.int32).astype(jnp.bool_)), 1.0, 7.5),
    ("floor quotient", lambda x: x // 2, 3.0, 6.5),
    ("floor quotient by a half", lambda x: x // 0.5, 11.0, 5.75),
    ("mod of a floor", lambda x: jnp.mod(jnp.floor(x), 4), 3.0, -4.5),
    ("rem of a floor", lambda x: lax.rem(jnp.floor(x), 4 + 0 * x), 2.0, 6.5),
    ("fmod of a trunc", lambda x: jnp.fmod(jnp.trunc(x), 5.0), 3.0, 8.5),
    ("sign of a floor", lambda x: jnp.sign(jnp.floor(x) - 5), 0.0, 5.5),
    ("square of a sign", lambda x: jnp.sign(x - 8) ** 2, 1.0, 9.5),
    ("shift of a cast", lambda x: real(x.astype(jnp.int32) >> 1), 3.0, 6.5),
    ("bits of a cast", lambda x: real(lax.population_count(x.astype(jnp.int32))), 3.0, 7.5),
    ("and of bits", lambda x: real(x.astype(jnp.int32) & 5), 5.0, 7.5),
    ("clipped cast", lambda x: real(jnp.clip(x.astype(jnp.int32), 0, 9)), 9.0, 20.5),
    ("digitize", lambda x: real(jnp.digitize(x, np.array([1, 4, 9], np.float32))), 2.0, 6.5),
    ("searchsorted", lambda x: real(jnp.searchsorted(np.array([-1, 5, 9], np.float32), x)), 3.0, 9.5),
    ("step of a step", lambda x: jnp.floor(ind(x > 7) * 3 + 0.5), 3.0, 7.5),
    ("product of indicators", lambda x: ind(x > 6) * ind(x < 9), 1.0, 7.5),
    ("sum of a heaviside and a step", lambda x: jnp.heaviside(x - 6, 0.5) + ind(x > 8), 1.0, 7.5),
    ("derivative of a kink", jax.grad(lambda x: jnp.maximum(2 * x, 7.0)), 0.0, 2.5),
    ("derivative of a clip", jax.grad(lambda x: jnp.clip(x, -9.0, 9.0)), 0.0, 9.5),
    ("floor in a scan", lambda x: lax.scan(lambda c, _: (jnp.floor(c) + 1, None), x, None, length=2)[0], 9.0, 7.5),
    ("floor under cond", lambda x: lax.cond(True, jnp.floor, jnp.ceil, x), 7.0, 7.5),
    ("floor under checkpoint", jax.checkpoint(jnp.floor), 7.0, 7.5),
    ("argmax of two", lambda x: real(jnp.argmax(jnp.stack([x, 7 + 0 * x]))), 0.0, 7.5),
    ("count of two", lambda x: (jnp.stack([x, -x]) > 6).sum(dtype=jnp.float32), 1.0, 7.5),
    ("relu", lambda x: jnp.maximum(x - 4, 0), 0.0, -5.5),
    ("relu6", jax.nn.relu6, 6.0, 7.5),
    ("clip", lambda x: jnp.clip(x, -5, 5), -5.0, -6.5),
    ("hard tanh", jax.nn.hard_tanh, 1.0, 1.5),
    ("hard sigmoid", jax.nn.hard_sigmoid, 0.0, -6.5),
    ("kink of a difference", lambda x: jnp.abs(x - 5) + jnp.abs(x - 9), 4.0, 6.5),
    ("minimum with a constant", lambda x: jnp.minimum(x, 7.0), 7.0, 8.5),
    ("where with a constant", lambda x: jnp.where(x > 7, 3.0, x), 3.0, 8.5),
)

LARGE = np.zeros(8, np.float32) - np.arange(8, dtype=np.float32)[::-1]
"""Largest and positive-free at the end: (−7, …, −1, 0)."""

ARRAYS = (
    # (name, step, its value, spec, witness)
    ("sum of floors", lambda x: jnp.floor(x).sum(), 15.0, V, (5.5, 4.25, 6.75)),
    ("largest floor", lambda x: jnp.floor(x).max(), 6.0, V, (5.5, 4.25, 6.75)),
    ("floor of the largest", lambda x: jnp.floor(x.max()), 6.0, V, (5.5, 4.25, 6.75)),
    ("product of floors", lambda x: jnp.prod(jnp.floor(x)), 60.0, V, (5.5, 3.25, 4.75)),
    ("last of cumulated rounds", lambda x: jnp.cumsum(jnp.round(x))[-1], 17.0, V, (5.75, 4.25, 6.75)),
    ("dot with casts", lambda x: jnp.dot(real(x.astype(jnp.int32)), np.array([1, 2, 3], np.float32)), 31.0, V, (5.5, 4.5, 6.5)),
    ("count of positives", lambda x: (x > 0).sum(dtype=jnp.float32), 8.0, W, (1.5,) * 8),
    ("count in a matrix", lambda x: (x > 0).sum(dtype=jnp.float32), 9.0, f32(3, 3), ((1.5,) * 3,) * 3),
    ("mean of an indicator", lambda x: jnp.mean(ind(x > 0)), 1.0, W, (1.5,) * 8),
    ("smallest indicator", lambda x: ind(x > 0).min(), 1.0, W, (1.5,) * 8),
    ("all", lambda x: real(jnp.all(x > 0)), 1.0, W, (1.5,) * 8),
    ("any", lambda x: real(jnp.any(x > 0)), 0.0, W, (-1.5,) * 8),
    ("argmax", lambda x: real(jnp.argmax(x)), 7.0, W, LARGE),
    ("argmin", lambda x: real(jnp.argmin(x)), 7.0, W, -LARGE),
    ("argsort", lambda x: real(jnp.argsort(x)[0]), 2.0, V, (3.5, 2.5, 1.5)),
    ("rank of an entry", lambda x: (x < x[0]).sum(dtype=jnp.float32), 7.0, W, -LARGE),
    ("place in the top", lambda x: real(lax.top_k(x, 2)[1][1]), 2.0, V, (5.5, 1.5, 4.5)),
    ("an entry and the largest", lambda x: x.max() - x[5], 0.0, W, (1, 2, 3, 4, 5, 9.5, 7, 8)),
    ("an entry of many and the largest", lambda x: x[37] - x.max(), 0.0, f32(64), np.arange(64) * (np.arange(64) == 37)),
    ("an entry and the smallest", lambda x: x.min() - x[2], 0.0, V, (5.5, 4.5, 1.5)),
    ("an entry and the median", lambda x: jnp.median(x) - x[1], 0.0, V, (5.5, 4.5, 1.5)),
    ("an entry and a quantile", lambda x: jnp.quantile(x, 0.5, method="lower") - x[1], 0.0, V, (5.5, 4.5, 1.5)),
    ("an entry of the sorted", lambda x: jnp.sort(x)[2] - x[0], 0.0, V, (5.5, 4.5, 1.5)),
    ("an entry of the top", lambda x: lax.top_k(x, 2)[0][1] - x[1], 0.0, V, (5.5, 4.5, 1.5)),
    ("a running maximum", lambda x: lax.cummax(x)[2] - x[0], 0.0, V, (5.5, 4.5, 1.5)),
    ("a pooled maximum", lambda x: lax.reduce_window(x, -jnp.inf, lax.max, (3,), (1,), "VALID")[0] - x[2], 0.0, V, (1.5, 4.5, 5.5)),
    ("a segment maximum", lambda x: jax.ops.segment_max(x, np.array([0, 0, 1]), 2)[0] - x[1], 0.0, V, (1.5, 4.5, 5.5)),
    ("maximum of two", lambda x: jnp.maximum(x[0], x[1]) - x[0], 0.0, V, (5.5, 4.5, 1.5)),
    ("relu of a sum", lambda x: jax.nn.relu(x.sum() - 5), 0.0, V, (-1.5, 2.5, 0.5)),
    ("relus summed", lambda x: jax.nn.relu(x - 5).sum(), 0.0, W, (1.5,) * 8),
    ("norm of relus", lambda x: jnp.sum(jax.nn.relu(x) ** 2), 0.0, W, (-1.5,) * 8),
    ("product of two relus", lambda x: jax.nn.relu(x[0]) * jax.nn.relu(-x[0] + 0 * x[1]), 0.0, V, (1.5, 2.5, 0.5)),
    ("one of the floors behind a reshape", lambda x: jnp.floor(x.reshape(2, 4))[1, 3], 7.0, W, (0.5,) * 7 + (7.5,)),
    ("one of the floors behind a concatenation", lambda x: jnp.concatenate([x, jnp.floor(x)])[5], 6.0, V, (5.5, 4.25, 6.75)),
    ("floor under vmap", lambda x: jax.vmap(jnp.floor)(x)[0], 5.0, V, (5.5, 4.25, 6.75)),
    ("floor under jit", lambda x: jax.jit(jnp.floor)(x)[0], 5.0, V, (5.5, 4.25, 6.75)),
    ("floor in a carry", lambda x: lax.scan(lambda c, v: (c + jnp.floor(v), None), x[0] * 0, x)[0], 15.0, V, (5.5, 4.25, 6.75)),
    ("floor in a loop", lambda x: lax.fori_loop(0, 3, lambda i, c: c + jnp.floor(x[i]), x[0] * 0), 15.0, V, (5.5, 4.25, 6.75)),
    ("one-hot at the largest", lambda x: jax.nn.one_hot(jnp.argmax(x), 8, dtype=jnp.float32)[6], 0.0, W, LARGE),
    ("sign of a median", lambda x: jnp.sign(jnp.median(x) - 8), 1.0, V, (9.5, 10.5, 8.5)),
    ("sum of signs", lambda x: jnp.sign(x).sum(), 8.0, W, (1.5,) * 8),
)  # fmt: skip


def decided(name: str, step: Callable, value: float, spec: Any, witness: Any, turn: int) -> Iterator[Different]:
    """Two rows for a step that equals `value` around the witness: which comparisons takes turns."""
    first = lambda x: x if x.ndim == 0 else x.reshape(-1)[0]
    greater = "> against >=", lambda x: ind(step(x) > value), lambda x: ind(step(x) >= value)
    less = "< against <=", lambda x: ind(step(x) < value), lambda x: ind(step(x) <= value)
    equal = "== against never", lambda x: ind(step(x) == value), lambda x: 0.0 * first(x)
    unequal = "!= against always", lambda x: ind(step(x) != value), lambda x: 1 + 0.0 * first(x)
    branches = (
        "> against >= in a where",
        lambda x: jnp.where(step(x) > value, jnp.sin(first(x)) + 3, first(x) - 30),
        lambda x: jnp.where(step(x) >= value, jnp.sin(first(x)) + 3, first(x) - 30),
    )
    gated = (
        "not(<=) against not(<)",
        lambda x: first(x) + ind(~(step(x) <= value)),
        lambda x: first(x) + ind(~(step(x) < value)),
    )
    every = (greater, less, equal, unequal, branches, gated)
    for how, left, right in (every[turn % 6], every[(turn + 1 + turn // 6 % 5) % 6]):
        yield Different(f"{name}: {how}", left, right, (spec,), (witness,))


def rows() -> Iterator[Different]:
    """The two tables of steps, two rows for each step."""
    every = [(name, step, value, S, witness) for name, step, value, witness in SCALAR] + list(ARRAYS)
    for turn, row in enumerate(every):
        yield from decided(*row, turn=turn)


DIFFERENT = (
    *rows(),
    Different("a jump scaled by x", lambda x: ind(jnp.floor(x) > 5) * x, lambda x: ind(jnp.floor(x) >= 5) * x, (S,), (5.5,)),
    Different("a jump in float64", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(jnp.floor(x) >= 5), (f64(),), (5.5,)),
    Different("a jump in float16", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(jnp.floor(x) >= 5), (_f16 := jax.ShapeDtypeStruct((), jnp.float16),), (5.5,)),
    Different("a jump that samples miss far out", lambda x: ind(jnp.floor(x) > 1000), lambda x: ind(jnp.floor(x) >= 1000), (S,), (1000.5,)),
    Different("a function float64 cannot follow", lambda y, x: jax.scipy.special.digamma(y) + ind(jnp.minimum(x, 0) > 0), lambda y, x: jax.scipy.special.digamma(y) + ind(jnp.minimum(x, 0) >= 0), (S, S), (1.5, 2.5)),
    Different("a function float64 cannot follow, floor", lambda y, x: jax.scipy.special.digamma(y) + ind(jnp.floor(x) > 5), lambda y, x: jax.scipy.special.digamma(y) + ind(jnp.floor(x) >= 5), (S, S), (1.5, 5.5)),
    Different("a function float64 cannot follow, gamma", lambda y, x: jax.lax.lgamma(y) * ind(jnp.round(x) > 5), lambda y, x: jax.lax.lgamma(y) * ind(jnp.round(x) >= 5), (S, S), (3.5, 5.25)),
    Different("a function float64 cannot follow, Bessel", lambda y, x: jax.scipy.special.i0e(y) * ind(jax.nn.relu(x) > 0), lambda y, x: jax.scipy.special.i0e(y) * ind(jax.nn.relu(x) >= 0), (S, S), (1.5, -5.5)),
    Different("two thresholds", lambda x: ind(jnp.floor(x) >= 5), lambda x: ind(jnp.floor(x) >= 6), (S,), (5.5,)),
    Different("thresholds off the grid", lambda x: ind(jnp.floor(x) > 5.5), lambda x: ind(jnp.floor(x) > 4.5), (S,), (5.5,)),
    Different("floor against round", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(jnp.round(x) > 5), (S,), (5.75,)),
    Different("floor against cast", lambda x: ind(jnp.floor(x) > -9), lambda x: ind(cast(jnp.int32)(x) > -9), (S,), (-8.5,)),
    Different("floor against trunc far below", jnp.floor, lambda x: jnp.where(x < -30, jnp.trunc(x), jnp.floor(x)), (S,), (-30.5,)),
    Different("a square of a sign against 1", lambda x: jnp.sign(jnp.floor(x) - 5) ** 2, lambda x: 1 + 0 * x, (S,), (5.5,)),
    Different("an absolute sign against 1", lambda x: jnp.abs(jnp.sign(jax.nn.relu(x + 9))), lambda x: 1 + 0 * x, (S,), (-9.5,)),
    Different("a quotient of a step by itself", lambda x: jnp.where(jnp.floor(x) == 7, 0.0, 1.0), lambda x: 1 + 0 * x, (S,), (7.5,)),
)  # fmt: skip

EQUAL = (
    Equal("floor > 5 and floor >= 6", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(jnp.floor(x) >= 6), (S,)),
    Equal("floor > 5 and 6 <= floor", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(5 < jnp.floor(x)), (S,)),
    Equal("floor off the grid", lambda x: ind(jnp.floor(x) > 5.5), lambda x: ind(jnp.floor(x) >= 5.5), (S,)),
    Equal("floor >= 5 and not <", lambda x: ind(jnp.floor(x) >= 5), lambda x: 1 - ind(jnp.floor(x) < 5), (S,)),
    Equal("round in two orders", lambda x, y: ind(jnp.round(x) + jnp.round(y) > 5), lambda x, y: ind(jnp.round(y) + jnp.round(x) > 5), (S, S)),
    Equal("count of positives", lambda x: ind((x > 0).sum(dtype=jnp.float32) > 6), lambda x: ind(ind(x > 0).sum() > 6), (W,)),
    Equal("count of reversed", lambda x: ind(ind(x > 0).sum() > 6), lambda x: ind(ind(x[::-1] > 0).sum() > 6), (W,)),
    Equal("sum of floors, one scanned", lambda x: jnp.floor(x).sum(), lambda x: lax.scan(lambda c, v: (c + jnp.floor(v), None), x[0] * 0, x)[0], (V,)),
    Equal("floor of max", lambda x: jnp.floor(x.max()), lambda x: jnp.floor(jnp.maximum(x[0], jnp.maximum(x[1], x[2]))), (V,)),
    Equal("gate of a cast", lambda x: ind(cast(jnp.int32)(x) > 7) * x, lambda x: x * ind(cast(jnp.int32)(x) > 7), (S,)),
    Equal("floor in a where", lambda x: jnp.where(jnp.floor(x) > 5, x + 1, x), lambda x: x + ind(jnp.floor(x) > 5), (S,)),
    Equal("argmax doubled", lambda x: 2 * real(jnp.argmax(x)), lambda x: real(jnp.argmax(x)) + real(jnp.argmax(x)), (W,)),
    Equal("relu > 0 and x > 0", lambda x: ind(jax.nn.relu(x) > 0), lambda x: ind(x > 0), (S,)),
    Equal("relu >= 0", lambda x: ind(jax.nn.relu(x) >= 0), lambda x: 1 + 0 * x, (S,)),
    Equal("vmap of floor", lambda x: jax.vmap(lambda v: ind(jnp.floor(v) > 5))(x), lambda x: ind(jnp.floor(x) > 5), (V,)),
    Equal("largest twice", lambda x: ind(x[0] >= x.max()), lambda x: ind(x[0] >= jnp.max(x[::-1])), (W,)),
)  # fmt: skip
