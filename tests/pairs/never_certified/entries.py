"""Attacks on what is shown entry by entry: short reductions at ties, places of extremes, refused values, ends of loops."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, ind, real

FOUR = f32(4)
KNOTS = np.array([0, 1], np.float32)
KEPT, NONE, TRIANGLE = np.array([True, False, True]), np.zeros(3, bool), np.tri(3, dtype=bool)
WEIGHTS = np.array([1, 0, 2], np.float32)


def one_hot_max(x):
    return (jax.nn.one_hot(jnp.argmax(x), x.shape[0]) * x).sum()


def last_argmax(x):
    """The place of the last of the largest entries."""
    return x.shape[0] - 1 - jnp.argmax(x[::-1])


def halved(rounds, strict=True):
    """x halved while it is above 1, or at least 1, at most so many times."""
    more = (lambda x: x > 1) if strict else (lambda x: x >= 1)
    step = lambda s: (s[0] + 1, s[1] / 2)
    return lambda x: lax.while_loop(lambda s: (s[0] < rounds) & more(s[1]), step, (0, x))[1]


def selected(rounds):
    def halve(x):
        for _ in range(rounds):
            x = jnp.where(x > 1, x / 2, x)
        return x

    return halve


def caught(x):
    """1/(1/0) is 0: what is infinite becomes a number again."""
    return 1 / (1 / jnp.maximum(x, 0))


FAR, TWO = 30, f32(2)


def far(x):
    """A logarithm that is NaN only where nobody looks by chance."""
    return jnp.log(x + FAR)


NAN_IN_ORDER = (
    Different("argmax of NaN, and NaN above a number", lambda x: real(jnp.argmax(far(x))), lambda x: ind(far(x[1]) > far(x[0])), (TWO,), ((0, -31),)),
    Different("argmin of NaN, and NaN below a number", lambda x: real(jnp.argmin(far(x))), lambda x: ind(far(x[1]) < far(x[0])), (TWO,), ((0, -31),)),
    Different("argmax of roots", lambda x: real(jnp.argmax(jnp.sqrt(x + FAR))), lambda x: ind(jnp.sqrt(x[1] + FAR) > jnp.sqrt(x[0] + FAR)), (TWO,), ((0, -31),)),
    Different("a row against its parts", lambda x: real(jnp.argmax(far(x))), lambda x: ind(far(x)[1] > far(x)[0]), (TWO,), ((0, -31),)),
    Different("top_k of NaN", lambda x: real(lax.top_k(jnp.abs(far(x)), 1)[1][0]), lambda x: ind(jnp.abs(far(x[1])) > jnp.abs(far(x[0]))), (TWO,), ((0, -31),)),
    Different("argsort of NaN", lambda x: real(jnp.argsort(far(x))[0]), lambda x: ind(far(x[1]) < far(x[0])), (TWO,), ((-31, 0),)),
    Different("the smallest of NaN and a number, sorted", lambda x: ind(jnp.isnan(jnp.sort(far(x))[0])), lambda x: ind(jnp.isnan(jnp.minimum(far(x[0]), far(x[1])))), (TWO,), ((0, -31),)),
    Different("the smallest above 0, sorted", lambda x: ind(jnp.sort(far(x))[0] > 0), lambda x: ind(jnp.min(far(x)) > 0), (TWO,), ((0, -31),)),
    Different("places of the smallest by argmin and by argsort", lambda x: real(jnp.argmin(far(x))), lambda x: real(jnp.argsort(far(x))[0]), (TWO,), ((0, -31),)),
    Different("the first of argsort, and a one-hot of argmin", lambda x: jnp.where(jnp.argsort(far(x))[0] == 0, x[0], x[1]), lambda x: jnp.where(jnp.argmin(far(x)) == 0, x[0], x[1]), (TWO,), ((0, -31),)),
)  # fmt: skip

DIFFERENT = (
    *NAN_IN_ORDER,
    Different("first and last of equals", lambda x: real(jnp.argmax(x)), lambda x: real(last_argmax(x)), (V,), ((1, 1, 0),), null_set=True),
    Different("a one-hot of the largest against all that are", one_hot_max, lambda x: jnp.where(x == x.max(), x, 0).sum(), (V,), ((1, 1, 0),), null_set=True),
    Different("a one-hot of the smallest", one_hot_max, lambda x: (jax.nn.one_hot(jnp.argmin(x), 3) * x).sum(), (V,), ((1, 2, 3),)),
    Different("the place of the smallest, turned", lambda x: real(jnp.argmin(x)), lambda x: 2 - real(jnp.argmax(x)), (V,), ((1, 2, 2),)),
    Different("counts at a threshold", lambda x: ind(x > 1).sum(), lambda x: ind(x >= 1).sum(), (V,), ((1, 2, 0),), null_set=True),
    Different("any and all", lambda x: ind(jnp.any(x > 0)), lambda x: ind(jnp.all(x > 0)), (V,), ((1, -1, 1),)),
    Different("no entry above 0", lambda x: ind(jnp.any(x > 0)), lambda x: 1 - ind(jnp.all(x < 0)), (V,), ((0, -1, -1),), null_set=True),
    Different("a maximum of exponentials of −x", lambda x: jnp.max(jnp.exp(-x)), lambda x: jnp.exp(-jnp.max(x)), (V,), ((1, 2, 3),)),
    Different("a maximum of squares", lambda x: jnp.max(x * x), lambda x: jnp.max(x) ** 2, (V,), ((-3, 1, 2),)),
    Different("cumulative maxima from the other end", lax.cummax, lambda x: lax.cummax(x, reverse=True), (V,), ((1, 2, 3),)),
    Different("the second and the third", lambda x: jnp.sort(x)[1], lambda x: jnp.sort(x)[2], (FOUR,), ((1, 2, 3, 4),)),
    Different("a product of few terms at a threshold", lambda x: ind(x @ x > 1), lambda x: ind(x @ x >= 1), (V,), ((1, 0, 0),), null_set=True),
    Different("the root of what may be negative", lambda x: jnp.where(x > 0, jnp.sqrt(jnp.abs(x)), 1), lambda x: jnp.where(x >= 0, jnp.sqrt(jnp.abs(x)), 1), (S,), (0,), null_set=True),
    Different("what is NaN is smaller than nothing", lambda x: ind(jnp.sqrt(x) >= 0), lambda x: 1 - ind(jnp.sqrt(x) < 0), (S,), (-1,)),
    Different("whether a logarithm is finite", lambda x: ind(jnp.isfinite(jnp.log(x))), lambda x: ind(x >= 0), (S,), (0,), null_set=True),
    Different("whether a quotient is finite", lambda x: ind(jnp.isfinite(1 / jnp.maximum(x, 0))), lambda x: 1 + 0 * x, (S,), (-1,)),
    Different("an infinity that becomes 0", lambda x: jnp.where(x < 0, caught(x), 1), lambda x: jnp.where(x < 0, x, 1), (S,), (-1,)),
    Different("whole powers at 0", lambda x: jnp.where(x == 0, jnp.power(x, 0), 0), lambda x: 0 * x, (S,), (0,), null_set=True),
    Different("a loop with a round more", halved(3), halved(2), (S,), (5,)),
    Different("a loop that goes on at a tie", halved(2), halved(2, strict=False), (S,), (1,), null_set=True),
    Different("a loop against all its rounds", halved(2), lambda x: x / 4, (S,), (0.5,)),
    Different("a loop against the end of its first round", halved(2), lambda x: jnp.where(x > 1, x / 2, x), (S,), (5,)),
    Different("a loop that goes on where NaN is compared", lambda x: lax.while_loop(lambda s: (s[0] < 1) & ~(jnp.sqrt(s[1]) >= 0), lambda s: (s[0] + 1, s[1] + 1), (0, x))[1], lambda x: x + 0, (S,), (-1,)),
    Different("interpolation with exchanged values", lambda x: jnp.interp(x, KNOTS, KNOTS), lambda x: jnp.clip(1 - x, 0, 1), (S,), (0,)),
    Different("a mask with an entry more", lambda x: jax.nn.logsumexp(x, where=KEPT), lambda x: jax.nn.logsumexp(x), (V,), ((1, 2, 3),)),
    Different("the entries of another mask", lambda x: jnp.log(jnp.where(KEPT, jnp.exp(x), 0).sum()), lambda x: jax.nn.logsumexp(x[:2]), (V,), ((1, 2, 3),)),
    Different("a mask with weights", lambda x: jnp.log((jnp.exp(x) * WEIGHTS).sum()), lambda x: jnp.log(jnp.exp(x[0]) + jnp.exp(x[2])), (V,), ((1, 2, 3),)),
    Different("rows without an entry", lambda x: ind(jnp.isfinite(jnp.max(jnp.where(NONE, x, -jnp.inf)))) + 0 * x[0], lambda x: 1 + 0 * x[0], (V,), ((1, 2, 3),)),
    Different("infinities of the other sign", lambda x: ind(jnp.isfinite(jnp.min(jnp.where(KEPT, x, -jnp.inf)))) + 0 * x[0], lambda x: 1 + 0 * x[0], (V,), ((1, 2, 3),)),
    Different("a lower end", lambda x: jnp.max(jnp.where(KEPT, x, -jnp.inf)), lambda x: jnp.max(jnp.where(KEPT, x, -1)), (V,), ((-3, 2, -4),)),
    Different("sums of exponentials from the other end", lambda x: lax.cumlogsumexp(x), lambda x: lax.cumlogsumexp(x, reverse=True), (V,), ((1, 2, 3),)),
)  # fmt: skip

EQUAL = (
    Equal("the largest by its one-hot", one_hot_max, jnp.max, (FOUR,)),
    Equal("the smallest by its one-hot", lambda x: (jax.nn.one_hot(jnp.argmin(x), 3) * x).sum(), jnp.min, (V,)),
    Equal("the last of the largest by comparisons", lambda x: real(last_argmax(x)), lambda x: jnp.where(x[1] >= x[0], 1.0, 0.0), (f32(2),)),
    Equal("a maximum of exponentials", lambda x: jnp.max(jnp.exp(x)), lambda x: jnp.exp(jnp.max(x)), (V,)),
    Equal("a count by signs", lambda x: ind(x > 0).sum(), lambda x: ((jnp.sign(x) + 1) * jnp.abs(jnp.sign(x)) / 2).sum(), (V,)),
    Equal("the middle of three by extremes", lambda x: jnp.sort(x)[1], lambda x: jnp.maximum(jnp.minimum(x[0], x[1]), jnp.minimum(jnp.maximum(x[0], x[1]), x[2])), (V,)),
    Equal("a bounded loop as selections", halved(3), selected(3), (S,)),
    Equal("interpolation as a clip", lambda x: jnp.interp(x, KNOTS, KNOTS), lambda x: jnp.clip(x, 0, 1), (S,)),
    Equal("a logarithm of what a mask keeps", lambda x: jax.nn.logsumexp(x, where=KEPT), lambda x: jnp.log(jnp.exp(x[0]) + jnp.exp(x[2])), (V,)),
    Equal("logarithms of rows of a triangle", lambda a: jax.nn.logsumexp(jnp.where(TRIANGLE, a, -jnp.inf), 1), lambda a: jnp.stack([jax.nn.logsumexp(a[i, : i + 1]) for i in range(3)]), (f32(3, 3),)),
    Equal("argmax of NaN, twice", lambda x: 2 * real(jnp.argmax(far(x))), lambda x: real(jnp.argmax(far(x)) + jnp.argmax(far(x))), (TWO,)),
    Equal("argsort of NaN, the first of two and the second", lambda x: real(jnp.argsort(far(x))[0]), lambda x: 1 - real(jnp.argsort(far(x))[1]), (TWO,)),
    Equal("argmax of two defined logarithms", lambda x: real(jnp.argmax(jnp.log(jnp.exp(x) + 1))), lambda x: ind(jnp.log(jnp.exp(x[1]) + 1) > jnp.log(jnp.exp(x[0]) + 1)), (TWO,)),
    Equal("the smallest of two defined logarithms, sorted", lambda x: ind(jnp.sort(jnp.log(jnp.exp(x) + 1))[0] > 2), lambda x: ind(jnp.minimum(*jnp.log(jnp.exp(x) + 1)) > 2), (TWO,)),
    Equal("sums of exponentials up to each entry", lax.cumlogsumexp, lambda x: jnp.log(jnp.cumsum(jnp.exp(x))), (V,)),
)  # fmt: skip
