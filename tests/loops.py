"""Pairs of functions with long loops: the same function, or not; both by construction."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

F = np.float32
ZERO, ONE, HALF, TWO = F(0), F(1), F(0.5), F(2)
MANY, FEW = 1000, 24
"""Steps of the pairs that are equal; and of those that are not, for which an input is searched."""

Pair = tuple[Callable[..., Any], Callable[..., Any], tuple[jax.ShapeDtypeStruct, ...]]


def f32(*shape: Any) -> jax.ShapeDtypeStruct:
    """The spec of a float32 array."""
    return jax.ShapeDtypeStruct(shape, jnp.float32)


def last(step: Callable, start: Any, xs: Any, **options: Any) -> Any:
    """The carry after a scan whose step gives the carry alone."""
    return lax.scan(lambda carry, x: (step(carry, x), None), start, xs, **options)[0]


def rows(step: Callable, start: Any, xs: Any, **options: Any) -> Any:
    """All carries of a scan whose step gives the carry alone."""
    return lax.scan(lambda carry, x: (step(carry, x),) * 2, start, xs, **options)[1]


def softmax_step(carry: Any, x: Any) -> Any:
    """One step of the running softmax of scores and values: the maximum, the sum, the weighted sum."""
    top, total, mean = carry
    score, value = x
    new = jnp.maximum(top, score)
    keep, add = jnp.exp(top - new), jnp.exp(score - new)
    return new, total * keep + add, mean * keep + add * value


def softmax_step_by_where(carry: Any, x: Any) -> Any:
    """The same, other words, in another order."""
    mean, top, total = carry
    score, value = x
    new = jnp.where(score > top, score, top)
    keep, add = jnp.exp(top - new), jnp.exp(score - new)
    return keep * mean + value * add, new, add + total * keep


def running_softmax(score: Any, value: Any) -> Any:
    """Softmax-weighted mean by one pass."""
    _, total, mean = last(softmax_step, (F(-np.inf), ZERO, jnp.zeros(3, F)), (score, value))
    return mean / total


def running_softmax_again(score: Any, value: Any) -> Any:
    """The same with a carry in another order."""
    mean, _, total = last(softmax_step_by_where, (jnp.zeros(3, F), F(-np.inf), ZERO), (score, value))
    return mean * (ONE / total)


def welford(x: Any) -> Any:
    """Mean and sum of squared deviations."""

    def step(i: Any, carry: Any) -> Any:
        mean, squares = carry
        new = mean + (x[i] - mean) / (i + 1)
        return new, squares + (x[i] - mean) * (x[i] - new)

    return lax.fori_loop(0, len(x), step, (ZERO, ZERO))


def welford_scanned(x: Any) -> Any:
    """The same by a scan that counts in floats, the squares first."""

    def step(carry: Any, a: Any) -> Any:
        squares, count, mean = carry
        far = a - mean
        return squares + far * (a - (mean + far / (count + 1))), count + 1, mean + far / (count + 1)

    squares, _, mean = last(step, (ZERO, ZERO, ZERO), x)
    return mean, squares


def rnn(W: Any, U: Any, h: Any, x: Any) -> Any:
    """tanh(W x + U h), all states."""
    return rows(lambda h, a: jnp.tanh(W @ a + U @ h), h, x)


def rnn_projected(W: Any, U: Any, h: Any, x: Any) -> Any:
    """The products with x before the loop."""
    return rows(lambda h, a: jnp.tanh(a + U @ h), h, x @ W.T)


def gru(W: Any, U: Any, h: Any, x: Any) -> Any:
    """Gates from one product."""

    def step(h: Any, a: Any) -> Any:
        z, n = jnp.split(W @ a + U @ h, 2)
        z = jax.nn.sigmoid(z)
        return (1 - z) * h + z * jnp.tanh(n)

    return last(step, h, x)


def gru_split(W: Any, U: Any, h: Any, x: Any) -> Any:
    """Gates from two products."""

    def step(h: Any, a: Any) -> Any:
        z, n = jax.nn.sigmoid(W[:3] @ a + U[:3] @ h), jnp.tanh(W[3:] @ a + U[3:] @ h)
        return h + z * (n - h)

    return last(step, h, x)


def layers(W: Any, x: Any) -> Any:
    """A stack of residual layers by a scan over their weights."""
    return last(lambda h, w: h + jnp.tanh(w @ h), x, W)


def layers_by_index(W: Any, x: Any) -> Any:
    """The same, taken by their number."""
    return lax.fori_loop(0, len(W), lambda i, h: jnp.tanh(jnp.einsum("ij,j->i", W[i], h)) + h, x)


def advantages(rewards: Any, values: Any, gamma: Any) -> Any:
    """Generalised advantages, from the last step."""
    after = jnp.concatenate([values[1:], jnp.zeros(1, F)])
    return rows(lambda a, d: d + gamma * a, ZERO, rewards + gamma * after - values, reverse=True)


def advantages_turned(rewards: Any, values: Any, gamma: Any) -> Any:
    """The same on turned arrays."""
    after = jnp.concatenate([values[1:], jnp.zeros(1, F)])
    return jnp.flip(rows(lambda a, d: gamma * a + d, ZERO, jnp.flip(rewards - values + gamma * after)))


def attention_state(q: Any, k: Any, v: Any) -> Any:
    """Linear attention: the state is the sum of outer products."""
    step = lambda state, x: (state + jnp.outer(x[1], x[2]), x[0] @ (state + jnp.outer(x[1], x[2])))
    return lax.scan(step, jnp.zeros((2, 3), F), (q, k, v))[1]


def attention_state_turned(q: Any, k: Any, v: Any) -> Any:
    """The transposed state."""

    def step(state: Any, x: Any) -> Any:
        state = state + x[2][:, None] * x[1][None]
        return state, state @ x[0]

    return lax.scan(step, jnp.zeros((3, 2), F), (q, k, v))[1]


def newton(x: Any) -> Any:
    """A loop that ends by floats."""
    return lax.while_loop(lambda c: c * c > x + 1, lambda c: c * HALF + ONE, x + TWO)


def newton_again(x: Any) -> Any:
    """The same with the sides of the test exchanged."""
    return lax.while_loop(lambda c: ONE + x < c * c, lambda c: ONE + c / 2, TWO + x)


def counted(x: Any) -> Any:
    """How many steps a loop makes that floats end."""
    return lax.while_loop(lambda c: c < x, lambda c: c + 1, ZERO)


def counted_again(x: Any) -> Any:
    """The same with the sides exchanged."""
    return lax.while_loop(lambda c: x > c, lambda c: 1 + c, ZERO)


def counted_beside(x: Any) -> Any:
    """The number of steps of another loop that floats end."""
    return lax.while_loop(lambda c: c[0] > x, lambda c: (c[0] * HALF, c[1] + 1), (x * x + ONE, ZERO))[1]


def weighted(count: Any, factor: int, steps: int) -> Callable[..., Any]:
    """A sum that is weighted by a counter of some type, times a factor."""

    def run(x: Any) -> Any:
        step = lambda i, c: (c[0] + (c[1] * factor).astype(F) * x, c[1] + count(1))
        return lax.fori_loop(0, steps, step, (ZERO, count(0)))[0]

    return run


def flagged(x: Any) -> Any:
    """All rows but the first, by a flag."""
    step = lambda c, a: (c[0] + jnp.where(c[1], a, ZERO), jnp.array(True))
    return last(step, (ZERO, jnp.array(False)), x)[0]


X, XS = f32(MANY), f32(MANY, 3)
RNN = (f32(4, 3), f32(4, 4), f32(4), XS)
GRU = (f32(6, 3), f32(6, 3), f32(3), XS)

EQUAL: dict[str, Pair] = {
    "sum, terms exchanged": (lambda x: rows(jnp.add, ZERO, x), lambda x: rows(lambda c, a: a + c, ZERO, x), (X,)),
    "fori against scan": (
        lambda x: lax.fori_loop(0, MANY, lambda i, c: c * HALF + x[i], ZERO),
        lambda x: last(lambda c, a: a + c / 2, ZERO, x),
        (X,),
    ),
    "opposite carries": (
        lambda x: last(lambda c, a: jnp.tanh(c + a), ZERO, x),
        lambda x: -last(lambda c, a: jnp.tanh(c - a), ZERO, x),
        (X,),
    ),
    "while against fori": (
        lambda x: lax.while_loop(lambda s: s[0] < MANY, lambda s: (s[0] + 1, s[1] * HALF + x), (0, ONE))[1],
        lambda x: lax.fori_loop(0, MANY, lambda i, s: x + s / 2, ONE),
        (f32(),),
    ),
    "while that counts down": (
        lambda x: lax.while_loop(lambda s: s[0] > 0, lambda s: (s[0] - 2, s[1] * HALF + x), (2 * MANY, ONE))[1],
        lambda x: lax.fori_loop(5, MANY + 5, lambda i, s: x + s / 2, ONE),
        (f32(),),
    ),
    "while that ends by floats": (newton, newton_again, (f32(),)),
    "while that counts": (counted, counted_again, (f32(),)),
    "while that counts, scaled": (
        lambda x: 2 * counted(x),
        lambda x: lax.while_loop(lambda c: 2 * x > c, lambda c: 2 + c, ZERO),
        (f32(),),
    ),
    "while that counts beside": (
        counted_beside,
        lambda x: -lax.while_loop(lambda c: x < c[1], lambda c: (c[0] - 1, c[1] / 2), (ZERO, ONE + x * x))[0],
        (f32(),),
    ),
    "counter of 8 bits": (
        weighted(np.int8, 1, MANY),
        lambda x: x * lax.fori_loop(0, MANY, lambda i, c: c + i.astype(jnp.int8).astype(F) + 0 * x, ZERO),
        (f32(),),
    ),
    "a flag after the first step": (flagged, lambda x: last(lambda c, a: a + c, ZERO, x[1:]), (X,)),
    "rows from the end": (
        lambda x: lax.fori_loop(0, MANY, lambda i, c: c * HALF + x[-1 - i], ZERO),
        lambda x: last(lambda c, a: a + c / 2, ZERO, x[::-1]),
        (X,),
    ),
    "a row past the end is the last": (
        lambda x: lax.fori_loop(0, MANY + 1, lambda i, c: c + x[i], ZERO),
        lambda x: last(jnp.add, ZERO, x) + x[-1],
        (X,),
    ),
    "carries exchanged": (
        lambda x: last(lambda c, a: (c[1] * HALF, c[0] + a), (ZERO, ONE), x),
        lambda x: last(lambda c, a: (c[1] + a, c[0] / 2), (ONE, ZERO), x)[::-1],
        (X,),
    ),
    "carry scaled": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: last(lambda c, a: c * HALF + 4 * a, ZERO, x) / 4,
        (X,),
    ),
    "scale of an input": (
        lambda x, s: last(lambda c, a: c + a * s, ZERO, x),
        lambda x, s: s * last(jnp.add, ZERO, x),
        (X, f32()),
    ),
    "offset of an input": (
        lambda x, s: last(jnp.add, s, x),
        lambda x, s: s + last(jnp.add, ZERO, x),
        (X, f32()),
    ),
    "carry split": (
        lambda x: last(lambda c, a: c * HALF + a, jnp.zeros(4, F), x),
        lambda x: jnp.concatenate(
            last(lambda c, a: (a[:2] + c[0] / 2, a[2:] + c[1] / 2), (jnp.zeros(2, F), jnp.zeros(2, F)), x)
        ),
        (f32(MANY, 4),),
    ),
    "carry transposed": (attention_state, attention_state_turned, (f32(MANY, 2), f32(MANY, 2), XS)),
    "carry that nothing reads": (
        lambda x: last(lambda c, a: (c[0] + a, c[1] * a), (ZERO, ONE), x)[0],
        lambda x: last(jnp.add, ZERO, x),
        (X,),
    ),
    "carry twice": (
        lambda x: last(lambda c, a: (c[0] + a, c[1] + a), (ZERO, ZERO), x)[1],
        lambda x: last(jnp.add, ZERO, x),
        (X,),
    ),
    "mean against sum": (
        lambda x: lax.fori_loop(0, MANY, lambda i, m: m + (x[i] - m) / (i + 1), ZERO),
        lambda x: last(jnp.add, ZERO, x) / MANY,
        (X,),
    ),
    "Welford": (welford, welford_scanned, (X,)),
    "running softmax": (running_softmax, running_softmax_again, (X, XS)),
    "RNN, projected before": (rnn, rnn_projected, RNN),
    "GRU, split gates": (gru, gru_split, GRU),
    "layers by index": (layers, layers_by_index, (f32(100, 3, 3), f32(3))),
    "advantages, turned": (advantages, advantages_turned, (X, X, f32())),
    "reverse scan, turned rows": (
        lambda x: rows(lambda c, a: c * HALF + a, ZERO, x, reverse=True),
        lambda x: rows(lambda c, a: a + c / 2, ZERO, x[::-1])[::-1],
        (X,),
    ),
    "first step outside": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: last(lambda c, a: a + c / 2, x[0], x[1:]),
        (X,),
    ),
    "last step outside": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: last(lambda c, a: a + c / 2, ZERO, x[:-1]) / 2 + x[-1],
        (X,),
    ),
    "first step by where": (
        lambda x: lax.fori_loop(0, MANY, lambda i, c: jnp.where(i == 0, x[0], c * HALF + x[i]), ONE),
        lambda x: last(lambda c, a: a + c / 2, x[0], x[1:]),
        (X,),
    ),
    "two steps as one": (
        lambda x: last(lambda c, a: (c * HALF + a[0]) * HALF + a[1], ZERO, x.reshape(-1, 2)),
        lambda x: last(lambda c, a: a + c / 2, ZERO, x),
        (f32(100),),
    ),
    "even and odd steps": (
        lambda x: lax.fori_loop(0, MANY, lambda i, c: jnp.where(i % 2 == 0, c + x[i], c - x[i]), ZERO),
        lambda x: lax.fori_loop(0, MANY, lambda i, c: c + lax.select(i % 2 == 1, -x[i], x[i]), ZERO),
        (X,),
    ),
    "two loops, one after the other": (
        lambda x: rows(lambda c, a: c * HALF + a, last(jnp.add, ZERO, x), x),
        lambda x: rows(lambda c, a: a + c / 2, last(lambda c, a: a + c, ZERO, x), x),
        (X,),
    ),
    "rows of the first in the second": (
        lambda x: last(lambda c, a: c + a * a, ZERO, rows(lambda c, a: c * HALF + a, ZERO, x)),
        lambda x: last(lambda c, a: jnp.square(a) + c, ZERO, rows(lambda c, a: a + c / 2, ZERO, x)),
        (X,),
    ),
}
"""Pairs that are one function; each has a wrong twin in `DIFFERENT`, or more."""

x_, xs_ = f32(FEW), f32(FEW, 3)


def _reset(x: Any) -> Any:
    return lax.fori_loop(0, FEW, lambda i, c: jnp.where(i == 12, x[i], c + x[i]), ZERO)


DIFFERENT: dict[str, Pair] = {
    "one step less": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + x[i], ZERO),
        lambda x: lax.fori_loop(0, FEW - 1, lambda i, c: c + x[i], ZERO),
        (x_,),
    ),
    "one step more": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + x, ZERO),
        lambda x: lax.fori_loop(0, FEW + 1, lambda i, c: c + x, ZERO),
        (f32(),),
    ),
    "from the second step": (
        lambda x: last(jnp.add, ZERO, x),
        lambda x: last(jnp.add, ZERO, x[1:]),
        (x_,),
    ),
    "carry not reset": (_reset, lambda x: last(jnp.add, ZERO, x), (x_,)),
    "reset a step later": (
        _reset,
        lambda x: lax.fori_loop(0, FEW, lambda i, c: jnp.where(i == 13, x[i], c + x[i]), ZERO),
        (x_,),
    ),
    "rows turned": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x[::-1]),
        (x_,),
    ),
    "rows by one further": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: last(lambda c, a: c * HALF + a, ZERO, jnp.roll(x, 1)),
        (x_,),
    ),
    "reverse scan": (
        lambda x: rows(jnp.add, ZERO, x),
        lambda x: rows(jnp.add, ZERO, x, reverse=True),
        (x_,),
    ),
    "reverse scan, turned rows": (
        lambda x: rows(jnp.add, ZERO, x),
        lambda x: rows(jnp.add, ZERO, x[::-1], reverse=True),
        (x_,),
    ),
    "last step different": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c * jnp.where(i == FEW - 1, ONE, HALF) + x[i], ZERO),
        (x_,),
    ),
    "one step in the middle": (
        lambda x: last(jnp.add, ZERO, x),
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + jnp.where(i == 17, ZERO, x[i]), ZERO),
        (x_,),
    ),
    "late, by a threshold": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + x[i], ZERO),
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + x[jnp.minimum(i, FEW - 2)], ZERO),
        (x_,),
    ),
    "carries exchanged": (
        lambda x: last(lambda c, a: (c[1] * HALF, c[0] + a), (ZERO, ONE), x),
        lambda x: last(lambda c, a: (c[1] + a, c[0] * HALF), (ONE, ZERO), x),
        (x_,),
    ),
    "results exchanged": (
        lambda x: last(lambda c, a: (c[0] + a, c[1] - a), (ZERO, ZERO), x)[0],
        lambda x: last(lambda c, a: (c[0] + a, c[1] - a), (ZERO, ZERO), x)[1],
        (x_,),
    ),
    "initial value": (
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x),
        lambda x: last(lambda c, a: c * HALF + a, ONE, x),
        (x_,),
    ),
    "initial value of an input": (
        lambda x, s: last(lambda c, a: c * HALF + a, s, x),
        lambda x, s: last(lambda c, a: c * HALF + a, 2 * s, x),
        (x_, f32()),
    ),
    "dead step": (
        lambda x: last(jnp.add, ZERO, x),
        lambda x: last(lambda c, a: jnp.where(a > 3, c, c + a), ZERO, x),
        (x_,),
    ),
    "a tie": (
        lambda x: last(lambda c, a: c + jnp.where(a > 0, ONE, ZERO), ZERO, x),
        lambda x: last(lambda c, a: c + jnp.where(a >= 0, ONE, ZERO), ZERO, x),
        (x_,),
    ),
    "a carry at its start": (
        lambda x: last(lambda c, a: c + jnp.where(c > 100, ONE, a), ZERO, x),
        lambda x: last(lambda c, a: c + a, ZERO, x),
        (x_,),
    ),
    "divided by the carry": (
        lambda x: last(lambda c, a: jnp.where(c > 0, c / c, ZERO) + a, ZERO, x),
        lambda x: last(lambda c, a: ONE + a, ZERO, x),
        (x_,),
    ),
    "undefined, and caught": (
        lambda x: jnp.where(last(lambda c, a: c + a * a / a, ZERO, x) > 0, ONE, ZERO),
        lambda x: jnp.where(last(lambda c, a: c + a, ZERO, x) >= 0, ONE, ZERO),
        (x_,),
    ),
    "row before the step": (
        lambda x: rows(jnp.add, ZERO, x),
        lambda x: lax.scan(lambda c, a: (c + a, c), ZERO, x)[1],
        (x_,),
    ),
    "mean by a step too far": (
        lambda x: lax.fori_loop(0, FEW, lambda i, m: m + (x[i] - m) / (i + 2), ZERO),
        lambda x: last(jnp.add, ZERO, x) / FEW,
        (x_,),
    ),
    "running softmax without the new maximum": (
        running_softmax,
        lambda s, v: last(
            lambda c, a: (c[0], c[1] + jnp.exp(a[0]), c[2] + jnp.exp(a[0]) * a[1] * HALF),
            (ZERO, ZERO, jnp.zeros(3, F)),
            (s, v),
        )[2],
        (x_, xs_),
    ),
    "RNN with the other weights": (
        rnn,
        lambda W, U, h, x: rnn_projected(W, U.T, h, x),
        (f32(4, 3), f32(4, 4), f32(4), xs_),
    ),
    "layers but one": (
        layers,
        lambda W, x: layers(W[:-1], x),
        (f32(FEW, 3, 3), f32(3)),
    ),
    "layers in another order": (
        layers,
        lambda W, x: layers(W[::-1], x),
        (f32(FEW, 3, 3), f32(3)),
    ),
    "while with <=": (
        lambda x: lax.while_loop(lambda s: s[0] < FEW, lambda s: (s[0] + 1, s[1] + x), (0, ZERO))[1],
        lambda x: lax.while_loop(lambda s: s[0] <= FEW, lambda s: (s[0] + 1, s[1] + x), (0, ZERO))[1],
        (f32(),),
    ),
    "while that ends by other floats": (
        newton,
        lambda x: lax.while_loop(lambda c: c * c >= x + 1, lambda c: c * HALF + ONE, x + TWO),
        (f32(),),
    ),
    "while that counts twice": (counted, lambda x: 2 * counted(x), (f32(),)),
    "while that counts one more": (counted, lambda x: counted_again(x) + 1, (f32(),)),
    "while that counts from one": (
        counted,
        lambda x: lax.while_loop(lambda c: c < x, lambda c: c + 1, ONE),
        (f32(),),
    ),
    "while that counts to no purpose": (counted, lambda x: 0 * counted(x), (f32(),)),
    "while that counts beside, squared": (counted_beside, lambda x: counted_beside(x) ** 2, (f32(),)),
    "counter of 8 bits": (weighted(np.int8, 1, 300), weighted(np.int32, 1, 300), (f32(),)),
    "counter without sign": (weighted(np.uint8, 1, 300), weighted(np.int8, 1, 300), (f32(),)),
    "multiple of a counter that wraps": (
        weighted(np.int32, 200_000_000, FEW),
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + i.astype(F) * F(2e8) * x, ZERO),
        (f32(),),
    ),
    "a flag after the first step": (flagged, lambda x: last(jnp.add, ZERO, x), (x_,)),
    "rows from the end, by one further": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c * HALF + x[-i], ZERO),
        lambda x: last(lambda c, a: c * HALF + a, ZERO, x[::-1]),
        (x_,),
    ),
    "related at the start only": (
        lambda x: last(lambda c, a: (c[0] * a, c[1] * a * a), (ONE, ONE), x)[0],
        lambda x: last(lambda c, a: (c[0] * a, c[1] * a * a), (ONE, ONE), x)[1],
        (x_,),
    ),
    "related in the first steps only": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + jnp.where(i.astype(F) < 22.5, ONE, TWO) * x[i], ZERO),
        lambda x: last(jnp.add, ZERO, x),
        (x_,),
    ),
    "a table with another last entry": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: c + jnp.asarray([1.0] * (FEW - 1) + [2.0], F)[i] * x[i], ZERO),
        lambda x: last(jnp.add, ZERO, x),
        (x_,),
    ),
    "undefined, and decided": (
        lambda x: last(lambda c, a: jnp.where(a / a > 0, c + a, c + a + 1), ZERO, x),
        lambda x: last(jnp.add, ZERO, x),
        (x_,),
    ),
    "two steps as one, exchanged": (
        lambda x: last(lambda c, a: (c * HALF + a[1]) * HALF + a[0], ZERO, x.reshape(-1, 2)),
        lambda x: last(lambda c, a: a + c / 2, ZERO, x),
        (f32(32),),
    ),
    "even and odd steps exchanged": (
        lambda x: lax.fori_loop(0, FEW, lambda i, c: jnp.where(i % 2 == 0, c + x[i], c - x[i]), ZERO),
        lambda x: lax.fori_loop(0, FEW, lambda i, c: jnp.where(i % 2 == 1, c + x[i], c - x[i]), ZERO),
        (x_,),
    ),
    "second loop starts anew": (
        lambda x: last(jnp.add, last(jnp.add, ZERO, x), x),
        lambda x: last(jnp.add, last(jnp.add, ZERO, x) * 0, x),
        (x_,),
    ),
    "outside the loops": (
        lambda x: last(jnp.add, ZERO, x) + x[3],
        lambda x: last(jnp.add, ZERO, x) + x[4],
        (x_,),
    ),
    "opposite carries": (
        lambda x: last(lambda c, a: jnp.tanh(c + a), ZERO, x),
        lambda x: last(lambda c, a: jnp.tanh(c - a), ZERO, x),
        (x_,),
    ),
    "unrelated carries": (
        lambda x: last(lambda c, a: jnp.tanh(c + a), ONE, x),
        lambda x: last(lambda c, a: jnp.sin(c + a), ONE, x),
        (x_,),
    ),
}
"""Pairs that are two functions."""
