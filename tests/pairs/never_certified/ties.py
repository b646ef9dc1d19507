"""Functions that differ only where something is equal: equal except at a tie, a jump or a kink."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64, ind, real

AWAY = lax.RoundingMethod.AWAY_FROM_ZERO
GRID = np.array([-1, 0, 2], np.float32)


def away(x):
    """The nearest integer, halves away from zero."""
    return lax.round(x, AWAY)


def shared_largest(x):
    """The derivative of the largest entry as a one-hot of the first one."""
    return jax.nn.one_hot(jnp.argmax(x), x.shape[0], dtype=jnp.float32)


def tie(name, left, right, specs, witness, **settings):
    """A row that differs on a null set only."""
    return Different(name, left, right, specs, witness, null_set=True, **settings)


VALUES = (
    tie("heaviside at 0", lambda x: jnp.heaviside(x, 0.5), lambda x: jnp.heaviside(x, 0.0), (S,), (0,)),
    tie("heaviside moved", lambda x: jnp.heaviside(x - 3, 0.5), lambda x: jnp.heaviside(x - 3, 1.0), (S,), (3,)),
    tie("heaviside against an indicator", lambda x: jnp.heaviside(x, 0.5), lambda x: ind(x > 0), (S,), (0,)),
    tie("sign against two branches", jnp.sign, lambda x: jnp.where(x >= 0, 1.0, -1.0), (S,), (0,)),
    tie("sign against x / |x| with 1 at 0", jnp.sign, lambda x: jnp.where(x == 0, 1.0, x / jnp.where(x == 0, 1.0, jnp.abs(x))), (S,), (0,)),
    tie("square of a sign", lambda x: jnp.sign(x) ** 2, lambda x: 1 + 0 * x, (S,), (0,)),
    tie("> against >=", lambda x, y: ind(x > y), lambda x, y: ind(x >= y), (S, S), (2, 2)),
    tie("< against <=", lambda x, y: ind(x < y), lambda x, y: ind(x <= y), (S, S), (-1, -1)),
    tie("> against >= of an array", lambda x: ind(x > 0).sum(), lambda x: ind(x >= 0).sum(), (V,), ((1, 0, -1),)),
    tie("> against >= in float64", lambda x, y: ind(x > y), lambda x, y: ind(x >= y), (f64(), f64()), (2, 2)),
    tie("> against >= under vmap", lambda x: jax.vmap(lambda v: ind(v > 1))(x), lambda x: ind(x >= 1), (V,), ((1, 2, 3),)),
    tie("> against >= under jit", lambda x: jax.jit(lambda v: ind(v > 1))(x), lambda x: ind(x >= 1), (V,), ((1, 2, 3),)),
    tie("> against >= in a scan", lambda x: lax.scan(lambda c, v: (c + ind(v > 1), None), x[0] * 0, x)[0], lambda x: ind(x >= 1).sum(), (V,), ((1, 2, 3),)),
    tie("> against >= of products", lambda x, y: ind(x * y > 6), lambda x, y: ind(y * x >= 6), (S, S), (2, 3)),
    tie("> against >= of sums", lambda x: ind(x.sum() > x[0]), lambda x: ind(x.sum() >= x[0]), (V,), ((5, 2, -2),)),
    tie("> against >= in the choice of a branch", lambda x: jnp.where(x > 1, x + 4, x), lambda x: jnp.where(x >= 1, x + 4, x), (S,), (1,)),
    tie("> against >= beyond a root", lambda x: ind(jnp.exp(x) > 1), lambda x: ind(jnp.exp(x) >= 1), (S,), (0,)),
    tie("== against never", lambda x: ind(x == 4), lambda x: 0 * x, (S,), (4,)),
    tie("== of two inputs against never", lambda x, y: jnp.where(x == y, 7.0, x), lambda x, y: x + 0 * y, (S, S), (3, 3)),
    tie("!= against always", lambda x, y: ind(x != y), lambda x, y: 1 + 0 * x * y, (S, S), (3, 3)),
    tie("!= 0 against always", lambda x: ind(x != 0).sum(), lambda x: 3 + 0 * x[0], (V,), ((1, 0, 2),)),
    tie("another value at a point", lambda x: jnp.where(x == 0, 1.0, x), lambda x: x, (S,), (0,)),
    tie("another value on a curve", lambda x, y: jnp.where(x * x == y, 1.0, x), lambda x, y: x + 0 * y, (S, S), (3, 9)),
    tie("sinc with another value at 0", lambda x: jnp.where(x == 0, 0.0, jnp.sin(x) / jnp.where(x == 0, 1.0, x)), lambda x: jnp.where(x == 0, 1.0, jnp.sin(x) / jnp.where(x == 0, 1.0, x)), (S,), (0,)),
    tie("an interval open and closed", lambda x: ind((x >= 0) & (x <= 1)), lambda x: ind((x >= 0) & (x < 1)), (S,), (1,)),
    tie("an interval closed and open at the left", lambda x: ind(x > 2) * ind(x < 3), lambda x: ind(x >= 2) * ind(x < 3), (S,), (2,)),
    tie("a ball closed and open", lambda x: ind(x @ x <= 9), lambda x: ind(x @ x < 9), (V,), ((2, 2, 1),)),
    tie("a product of signs", lambda x, y: jnp.sign(x) * jnp.sign(y), lambda x, y: jnp.where(x * y >= 0, 1.0, -1.0), (S, S), (0, 3)),
    tie("a derivative as a value: relu", jax.grad(jax.nn.relu), lambda x: ind(x >= 0), (S,), (0,)),
    tie("a derivative as a value: abs", jax.grad(jnp.abs), jnp.sign, (S,), (0,)),
    tie("a derivative as a value: max", jax.grad(jnp.max), shared_largest, (V,), ((4, 4, 1),)),
    tie("a derivative as a value: clip", jax.grad(lambda x: jnp.clip(x, 0, 1)), lambda x: ind((x >= 0) & (x < 1)), (S,), (1,)),
    tie("a derivative as a value: leaky relu", jax.grad(lambda x: jax.nn.leaky_relu(x, 0.25)), lambda x: jnp.where(x > 0, 1.0, 0.25), (S,), (0,)),
)  # fmt: skip

STEPS = (
    tie("floor and ceil", jnp.floor, lambda x: jnp.ceil(x) - 1, (S,), (3,)),
    tie("floor and ceil of a half", lambda x: jnp.floor(x / 2), lambda x: jnp.ceil(x / 2) - 1, (S,), (6,)),
    tie("floor of -x", lambda x: jnp.floor(-x), lambda x: -jnp.floor(x) - 1, (S,), (-2,)),
    tie("round and floor of x + 1/2", jnp.round, lambda x: jnp.floor(x + 0.5), (S,), (2.5,)),
    tie("round and ceil of x - 1/2", jnp.round, lambda x: jnp.ceil(x - 0.5), (S,), (3.5,)),
    tie("round to even and away", jnp.round, away, (S,), (2.5,)),
    tie("round to even and away, times two", lambda x: jnp.round(2 * x), lambda x: away(2 * x), (S,), (1.25,)),
    tie("round of x + 1", lambda x: jnp.round(x + 1), lambda x: jnp.round(x) + 1, (S,), (0.5,)),
    tie("trunc of a negative number", lambda x: jnp.where(x < 0, jnp.trunc(x), 0.0), lambda x: jnp.where(x < 0, jnp.floor(x) + 1, 0.0), (S,), (-3,)),
    tie("cast and ceil", lambda x: real(x.astype(jnp.int32)) * ind(x > 0), lambda x: (jnp.ceil(x) - 1) * ind(x > 0), (S,), (4,)),
    tie("floor > 5 and x > 6", lambda x: ind(jnp.floor(x) > 5), lambda x: ind(x > 6), (S,), (6,)),
    tie("round > 5 and x >= 5.5", lambda x: ind(jnp.round(x) >= 5), lambda x: ind(x >= 4.5), (S,), (4.5,)),
    tie("ceil > 5 and x >= 5", lambda x: ind(jnp.ceil(x) > 5), lambda x: ind(x >= 5), (S,), (5,)),
    tie("mod at a multiple", lambda x: jnp.mod(x, 3), lambda x: x - 3 * (jnp.ceil(x / 3) - 1), (S,), (6,)),
    tie("searchsorted left and right", lambda x: real(jnp.searchsorted(GRID, x)), lambda x: real(jnp.searchsorted(GRID, x, side="right")), (S,), (2,)),
    tie("digitize left and right", lambda x: real(jnp.digitize(x, GRID)), lambda x: real(jnp.digitize(x, GRID, right=True)), (S,), (-1,)),
    tie("digitize and a count", lambda x: real(jnp.digitize(x, GRID)), lambda x: ind(x > GRID).sum(), (S,), (0,)),
)  # fmt: skip

ORDERS = (
    tie("first and last of the largest", lambda x: real(jnp.argmax(x)), lambda x: 2 - real(jnp.argmax(x[::-1])), (V,), ((4, 1, 4),)),
    tie("first and last of the smallest", lambda x: real(jnp.argmin(x)), lambda x: 2 - real(jnp.argmin(x[::-1])), (V,), ((1, 4, 1),)),
    tie("argsort of the reversed", lambda x: real(jnp.argsort(x)), lambda x: 2 - real(jnp.argsort(x[::-1])), (V,), ((1, 4, 1),)),
    tie("stable descending argsort", lambda x: real(jnp.argsort(-x)), lambda x: real(jnp.argsort(x)[::-1]), (V,), ((4, 1, 4),)),
    tie("places of the top", lambda x: real(lax.top_k(x, 1)[1][0]), lambda x: real(jnp.argsort(x)[-1]), (V,), ((4, 1, 4),)),
    tie("ranks by > and >=", lambda x: ind(x[:, None] > x[None, :]).sum(1), lambda x: ind(x[:, None] >= x[None, :]).sum(1) - 1, (V,), ((1, 2, 2),)),
    tie("ranks by argsort and by counting", lambda x: real(jnp.argsort(jnp.argsort(x))), lambda x: ind(x[:, None] > x[None, :]).sum(1), (V,), ((1, 2, 2),)),
    tie("one-hot and equality with the largest", shared_largest, lambda x: ind(x == x.max()), (V,), ((4, 1, 4),)),
    tie("an entry is the largest", lambda x: ind(x[0] > x[1]), lambda x: ind(x[0] >= jnp.maximum(x[0], x[1])), (f32(2),), ((2, 2),)),
    tie("how many are the largest", lambda x: ind(x == x.max()).sum(), lambda x: 1 + 0 * x[0], (V,), ((2, 2, 1),)),
    tie("how many are different", lambda x: 1 + ind(jnp.diff(jnp.sort(x)) > 0).sum(), lambda x: 3 + 0 * x[0], (V,), ((2, 2, 1),)),
    tie("a payload sorted by keys", lambda x, y: lax.sort((x, y), num_keys=1)[1], lambda x, y: lax.sort((x, y), num_keys=2)[1], (V, V), ((1, 1, 2), (5, 4, 3))),
    tie("an entry above all others", lambda x: ind((x[0] > x[1]) & (x[0] > x[2])), lambda x: ind(jnp.argmax(x) == 0), (V,), ((3, 3, 1),)),
    tie("top two masks", lambda x: ind(x >= lax.top_k(x, 2)[0][1]).sum(), lambda x: 2 + 0 * x[0], (V,), ((3, 1, 1),)),
)  # fmt: skip


def kink(name, left, right, specs, witness):
    """Two functions with the same values and, at a tie, different derivatives."""
    return tie(f"gradient of {name}", left, right, specs, witness, wrt="grad")


GRADIENTS = (
    kink("abs and two branches", jnp.abs, lambda x: jnp.where(x > 0, x, -x), (V,), ((0, 1, -1),)),
    kink("abs and max(x, -x)", jnp.abs, lambda x: jnp.maximum(x, -x), (S,), (0,)),
    kink("abs and x sign x", jnp.abs, lambda x: x * jnp.sign(x), (S,), (0,)),
    kink("relu and maximum", jax.nn.relu, lambda x: jnp.maximum(x, 0.0), (V,), ((0, 1, -1),)),
    kink("relu and where with >=", jax.nn.relu, lambda x: jnp.where(x >= 0, x, 0.0), (V,), ((0, 1, -1),)),
    kink("relu and minimum", jax.nn.relu, lambda x: -jnp.minimum(-x, 0.0), (S,), (0,)),
    kink("relu and half of x + |x|", jax.nn.relu, lambda x: (x + jnp.abs(x)) / 2, (S,), (0,)),
    kink("relu of an affine function", lambda w, x: jax.nn.relu(w * x - 6), lambda w, x: jnp.maximum(w * x - 6, 0.0), (S, S), (2, 3)),
    kink("relu under scan", lambda x: lax.scan(lambda c, v: (c + jax.nn.relu(v), None), x[0] * 0, x)[0], lambda x: jnp.maximum(x, 0.0).sum(), (V,), ((0, 1, 2),)),
    kink("leaky relu and where", lambda x: jax.nn.leaky_relu(x, 0.25), lambda x: jnp.where(x > 0, x, 0.25 * x), (S,), (0,)),
    kink("relu6 and clip", jax.nn.relu6, lambda x: jnp.where(x > 6, 6.0, jnp.where(x >= 0, x, 0.0)), (S,), (6,)),
    kink("clip and nested where", lambda x: jnp.clip(x, 0, 1), lambda x: jnp.where(x > 1, 1.0, jnp.where(x > 0, x, 0.0)), (S,), (0,)),
    kink("clip at its upper edge", lambda x: jnp.clip(x, -2, 2), lambda x: jnp.where(x >= 2, 2.0, jnp.where(x <= -2, -2.0, x)), (S,), (2,)),
    kink("the largest of a tie", jnp.max, lambda x: x[jnp.argmax(x)], (V,), ((4, 4, 1),)),
    kink("maximum and where", lambda x, y: jnp.maximum(x, y), lambda x, y: jnp.where(x > y, x, y), (S, S), (2, 2)),
    kink("minimum and where", lambda x, y: jnp.minimum(x, y), lambda x, y: jnp.where(x <= y, x, y), (S, S), (2, 2)),
    kink("the last of the sorted and the largest", lambda x: jnp.sort(x)[-1], jnp.max, (V,), ((4, 1, 4),)),
    kink("median and the middle of the sorted", lambda x: jnp.maximum(x[0], x[1]), lambda x: jnp.sort(x)[1], (f32(2),), ((4, 4),)),
    kink("hinge", lambda x: jnp.maximum(1 - x, 0.0), lambda x: jax.nn.relu(1 - x), (S,), (1,)),
    kink("a norm that is 0 at 0", lambda x: jnp.abs(x) + x, lambda x: 2 * jax.nn.relu(x), (S,), (0,)),
    kink("pooled maximum", lambda x: jnp.maximum(jnp.maximum(x[0], x[1]), x[2]), jnp.max, (V,), ((4, 4, 4),)),
    kink("running maximum", lambda x: lax.scan(lambda c, v: (jnp.maximum(c, v), None), x[0], x[1:])[0], jnp.max, (V,), ((4, 4, 4),)),
)  # fmt: skip


def some_two(a, b, c):
    """Whether at least two of three conditions hold."""
    return (a & b) | (a & c) | (b & c)


TOGETHER = (
    Different("two of three, then all", lambda x, y: ind(some_two(x == 0, y == 0, x + y == 0)) + x, lambda x, y: x + 0 * y, (S, S), (0, 0), null_set=True),
    Different("two of three, another way", lambda x, y: ind(some_two(x == 0, y == 0, x - y == 0)) + x, lambda x, y: x + 0 * y, (S, S), (0, 0), null_set=True),
    Different("two of three, as sums", lambda x, y: (ind(x == 0) + ind(y == 0)) * ind(x + y == 0) + x, lambda x, y: x + 0 * y, (S, S), (0, 0), null_set=True),
    Different("a number and itself, open", lambda x, y: ind((y <= y) & (-1 < x)), lambda x, y: ind((y <= y) & (-1 <= x)), (S, S), (-1, 0), null_set=True),
    Different("a constant chosen at a tie, rounded", lambda x, y: jnp.floor(jnp.where(y < x, 1.5, y)), lambda x, y: jnp.floor(jnp.where(y <= x, 1.5, y)), (S, S), (0, 0), null_set=True),
    Different("steps of a scan that adds 1", lambda x: lax.scan(lambda c, t: (jnp.where(c > t, c, t + 1), c), 0 * x[0], x)[0], lambda x: lax.scan(lambda c, t: (jnp.where(c >= t, c, t + 1), c), 0 * x[0], x)[0], (V,), ([0, 1, 2],), null_set=True),
)  # fmt: skip

DIFFERENT = (*VALUES, *STEPS, *ORDERS, *GRADIENTS, *TOGETHER)

EQUAL = (
    Equal("a number and itself", lambda x, y: ind((y <= y) & (-1 < x)), lambda x, y: ind(-1 < x) * ind(y >= y), (S, S)),
    Equal("a number and itself in a maximum", lambda x, y: jnp.where((y <= y) & (-1 < x), x, -1), lambda x, y: jnp.where((y >= y) & (-1 <= x), x, -1), (S, S)),
    Equal("a constant chosen at a tie", lambda x, y: jnp.where(y < x, x, y), lambda x, y: jnp.where(y <= x, x, y), (S, S)),
    Equal("> is < turned", lambda x, y: ind(x > y), lambda x, y: ind(y < x), (S, S)),
    Equal(">= is not <", lambda x, y: ind(x >= y), lambda x, y: 1 - ind(x < y), (S, S)),
    Equal("heaviside as branches", lambda x: jnp.heaviside(x, 0.5), lambda x: jnp.where(x > 0, 1.0, jnp.where(x < 0, 0.0, 0.5)), (S,)),
    Equal("sign as a difference", jnp.sign, lambda x: ind(x > 0) - ind(x < 0), (S,)),
    Equal("sign of -x", lambda x: jnp.sign(-x), lambda x: -jnp.sign(x), (S,)),
    Equal("ceil and floor", jnp.ceil, lambda x: -jnp.floor(-x), (S,)),
    Equal("round is odd", lambda x: jnp.round(-x), lambda x: -jnp.round(x), (S,)),
    Equal("halves away, odd", lambda x: away(-x), lambda x: -away(x), (S,)),
    Equal("relu as a product", jax.nn.relu, lambda x: x * ind(x > 0), (V,)),
    Equal("relu as a product with >=", jax.nn.relu, lambda x: x * ind(x >= 0), (V,)),
    Equal("relu and half of x + |x|", jax.nn.relu, lambda x: (x + jnp.abs(x)) / 2, (V,)),
    Equal("abs as max", jnp.abs, lambda x: jnp.maximum(x, -x), (S,)),
    Equal("abs by branches", jnp.abs, lambda x: jnp.where(x >= 0, x, -x), (S,)),
    Equal("clip by branches", lambda x: jnp.clip(x, 0, 1), lambda x: jnp.where(x > 1, 1.0, jnp.where(x > 0, x, 0.0)), (S,)),
    Equal("gradient of relu as a value", jax.grad(jax.nn.relu), lambda x: ind(x > 0), (S,)),
    Equal("gradient of abs as a value", jax.grad(jnp.abs), lambda x: jnp.where(x >= 0, 1.0, -1.0), (S,)),
    Equal("gradients of relu, twice written", jax.nn.relu, jax.jit(lambda x: jax.nn.relu(x) * 1), (V,), wrt="grad"),
    Equal("gradients of where", lambda x: jnp.where(x > 0, x, 0.0), lambda x: x * ind(x > 0), (V,), wrt="grad"),
    Equal("gradients of clip", lambda x: jnp.clip(x, 0, 1), lambda x: jnp.minimum(jnp.maximum(x, 0), 1), (S,), wrt="grad"),
    Equal("gradients of abs", jnp.abs, lambda x: jnp.where(x >= 0, x, -x), (V,), wrt="grad"),
    Equal("gradients of a square", lambda x: jnp.abs(x) ** 2, lambda x: x * x, (S,), wrt="grad"),
    Equal("ranks by counting", lambda x: ind(x[:, None] > x[None, :]).sum(1), lambda x: ind(x[None, :] < x[:, None]).sum(1), (V,)),
    Equal("equality is symmetric", lambda x, y: ind(x == y), lambda x, y: ind(y == x), (S, S)),
    Equal("equality as two comparisons", lambda x, y: ind(x == y), lambda x, y: ind(x >= y) * ind(x <= y), (S, S)),
    *(
        Equal(f"with the switch: {row.name}", row.left, row.right, row.specs, almost_everywhere=True, wrt=row.wrt)
        for row in (*VALUES, *STEPS[:4], *GRADIENTS)
    ),
)  # fmt: skip
