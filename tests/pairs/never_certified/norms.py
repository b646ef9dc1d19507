"""What is scaled by a norm, chosen by an integer or compared with a maximum of its own, and what looks like it.

Each law from several sides: at ties and at 0, with the other sign, along another axis, of other entries, for integers
outside of a row, and where one side is undefined.
"""

import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, ind, real

M = f32(2, 3)
BINS = np.array([0, 1], np.float32)


def norm(x):
    return jnp.sqrt((x * x).sum())


def unit(x):
    """x of length 1; undefined at 0."""
    return x / norm(x)


def safe(x, least=0.0):
    """The norm, or `least` if that is larger, of what is no number only where it is not used."""
    short = norm(x) <= least
    return jnp.where(short, least, norm(jnp.where(short, 1.0, x)))


def relu(x):
    return jnp.maximum(x, 0)


def stairs(x):
    """0, 1 or 2: how many of 0 and 1 lie below x."""
    return (x > 0).astype(jnp.int32) + (x > 1).astype(jnp.int32)


def trust(p, u, norm):
    """A step of the length of p, or u itself where either is 0."""
    return u * jnp.where((norm(p) == 0) | (norm(u) == 0), 1.0, norm(p) / norm(u))


DIFFERENT = (
    # conditions on single numbers, through sums
    Different(
        "a sum under a condition on its entries",
        lambda x: jnp.where(x > 0, relu(x).sum(), 0.0),
        lambda x: jnp.where(x > 0, x.sum(), 0.0),
        (V,),
        ([1, -1, 0.5],),
    ),
    Different(
        "a sum under a condition on one entry",
        lambda x: jnp.where(x[0] > 0, relu(x).sum(), 0.0),
        lambda x: jnp.where(x[0] > 0, x.sum(), 0.0),
        (V,),
        ([1, -1, 0.5],),
    ),
    Different(
        "a norm that is guarded at another length",
        lambda x: jnp.where(norm(x) <= 1, 0.0, norm(jnp.where(norm(x) <= 2, 1.0, x))),
        lambda x: jnp.where(norm(x) <= 1, 0.0, norm(x)),
        (V,),
        ([1.5, 0, 0],),
    ),
    Different(
        "a norm that is guarded the other way",
        lambda x: jnp.where(norm(x) <= 1, norm(jnp.where(norm(x) <= 1, 2.0, x)), 0.0),
        lambda x: jnp.where(norm(x) <= 1, norm(x), 0.0),
        (V,),
        ([0.5, 0, 0],),
    ),
    Different(
        "a norm that is guarded on its border",
        lambda x: jnp.where(norm(x) < 1, 0.0, norm(jnp.where(norm(x) <= 1, 2.0, x))),
        lambda x: jnp.where(norm(x) < 1, 0.0, norm(x)),
        (V,),
        ([1, 0, 0],),
        null_set=True,
    ),
    Different(
        "a row under a condition on another one",
        lambda x: jnp.where(norm(x[0]) <= 1, 0.0, safe(x[1], 1.0)),
        lambda x: jnp.where(norm(x[0]) <= 1, 0.0, norm(x[1])),
        (M,),
        ([[2, 0, 0], [0.5, 0, 0]],),
    ),
    Different(
        "a trust ratio at 0",
        lambda p, u: trust(p, u, safe),
        lambda p, u: u * norm(p) / safe(u, 1e-6),
        (V, V),
        ([0, 0, 0], [1, 0, 0]),
        null_set=True,
    ),
    # a maximum and its members
    Different(
        "one of three is the largest",
        lambda x, y, z: ind(x == jnp.maximum(jnp.maximum(x, y), z)),
        lambda x, y, z: ind(x >= y),
        (S, S, S),
        (1, 0, 2),
    ),
    Different(
        "the larger at a tie",
        lambda x, y: ind(x == jnp.maximum(x, y)),
        lambda x, y: ind(x > y),
        (S, S),
        (1, 1),
        null_set=True,
    ),
    Different(
        "below the larger at a tie",
        lambda x, y: ind(x < jnp.maximum(x, y)),
        lambda x, y: ind(x <= y),
        (S, S),
        (1, 1),
        null_set=True,
    ),
    Different(
        "the smaller is no larger one",
        lambda x, y: ind(x == jnp.minimum(x, y)),
        lambda x, y: ind(x >= y),
        (S, S),
        (0, 1),
    ),
    Different("the other member", lambda x, y: ind(y == jnp.maximum(x, y)), lambda x, y: ind(x >= y), (S, S), (0, 1)),
    Different(
        "gradients of a maximum and of branches",
        jnp.maximum,
        lambda x, y: jnp.where(x >= y, x, y),
        (S, S),
        (1, 1),
        null_set=True,
        wrt="grad",
    ),
    Different(
        "gradients of relu and of half of x + |x|",
        lambda x: jnp.where(x > 0, x, 0.0),
        lambda x: (x + jnp.abs(x)) / 2,
        (S,),
        (0,),
        null_set=True,
        wrt="grad",
    ),
    # zeros of multiples
    Different("a zero of 2x - 2 and of x", lambda x: ind(2 * x == 2), lambda x: ind(x == 2), (S,), (1,), null_set=True),
    Different(
        "a zero of a product", lambda x, y: ind(x * y == 0), lambda x, y: ind(x == 0), (S, S), (1, 0), null_set=True
    ),
    # roots and inverses that are compared
    Different(
        "a root beside a negative number",
        lambda x, y: jnp.maximum(jnp.sqrt(x * x + 1), y),
        lambda x, y: jnp.sqrt(jnp.maximum(x * x + 1, y * y)),
        (S, S),
        (0, -3),
    ),
    Different(
        "an inverse of a negative number",
        lambda x: jnp.maximum(1 / x, 2.0),
        lambda x: 1 / jnp.minimum(x, 0.5),
        (S,),
        (-1,),
    ),
    Different(
        "a root that is cut off elsewhere",
        lambda x: x * jnp.minimum(lax.rsqrt((x * x).sum()), 10.0),
        lambda x: x / jnp.sqrt(jnp.maximum((x * x).sum(), 0.02)),
        (V,),
        ([0.1, 0, 0],),
    ),
    Different(
        "a root that is cut off from above",
        lambda x: x / jnp.minimum(norm(x), 2.0),
        lambda x: x / jnp.sqrt(jnp.maximum((x * x).sum(), 4.0)),
        (V,),
        ([1, 0, 0],),
    ),
    Different(
        "a root that is compared with 0",
        lambda x: ind(jnp.sqrt(x * x) > 0),
        lambda x: 1 + 0 * x,
        (S,),
        (0,),
        null_set=True,
    ),
    Different(
        "a decimal that is cut off beside another one",
        lambda x: jnp.maximum(jnp.sqrt(x * x), 0.1),
        lambda x: jnp.sqrt(jnp.maximum(x * x, 0.02)),
        (S,),
        (0,),
    ),
    # what may be undefined
    Different(
        "a quotient that is left out where its value is not",
        lambda x: jnp.where(x == 0, 5.0, x * (x / x) + 1),
        lambda x: x + 1,
        (S,),
        (0,),
        null_set=True,
    ),
    Different(
        "a product of units that is left out at 0",
        lambda x: jnp.where(norm(x) == 0, 5.0, x @ unit(x)),
        norm,
        (V,),
        ([0, 0, 0],),
        null_set=True,
    ),
    Different(
        "a case beside what may be undefined",
        lambda x, y: jnp.where(x @ y == 0, 1.0, x @ y) / norm(x),
        lambda x, y: unit(x) @ y,
        (V, V),
        ([1, 0, 0], [0, 1, 0]),
        null_set=True,
    ),
    # factors that all terms share
    Different(
        "a factor of each row",
        lambda x, c: relu((c[:, None] * x).sum(0)),
        lambda x, c: relu(c[0] * x.sum(0)),
        (M, f32(2)),
        ([[1, 1, 1], [1, 1, 1]], [1, 2]),
    ),
    Different(
        "a sum of products is no sum of squares",
        lambda x, y: jnp.abs((x * y).sum()),
        lambda x, y: (x * y).sum(),
        (V, V),
        ([1, 0, 0], [-1, 0, 0]),
    ),
    Different(
        "a factor of a sum of squares",
        lambda x, c: jnp.abs((c * x * x).sum()),
        lambda x, c: c * (x * x).sum(),
        (V, S),
        ([1, 0, 0], -1),
    ),
    Different(
        "a divisor of each column",
        lambda x, c: relu((x / (1 + c * c)[None]).sum(1)),
        lambda x, c: relu(x.sum(1)) / (1 + c[0] ** 2),
        (M, V),
        ([[1, 1, 1], [1, 1, 1]], [0, 1, 2]),
    ),
    # the largest magnitude
    Different(
        "the largest magnitude and the smallest",
        lambda x: jnp.abs(x).max(),
        lambda x: jnp.maximum(x.max(), x.min()),
        (V,),
        ([-1, 0, 0],),
    ),
    Different("the largest magnitude and the largest", lambda x: jnp.abs(x).max(), jnp.max, (V,), ([-1, 0, 0],)),
    Different(
        "the smallest magnitude",
        lambda x: jnp.abs(x).min(),
        lambda x: jnp.minimum(x.max(), -x.min()),
        (V,),
        ([2, 2, 2],),
    ),
    Different(
        "the largest magnitude along the other axis",
        lambda x: jnp.abs(x).max(0),
        lambda x: jnp.maximum(x.max(1), (-x).max(1)),
        (f32(2, 2),),
        ([[1, 2], [3, 4]],),
    ),
    Different(
        "the largest of negative multiples", lambda x: (-2 * x).max(), lambda x: -2 * x.max(), (V,), ([1, 0, 0],)
    ),
    Different(
        "a magnitude beside a number",
        lambda x, y: jnp.maximum(jnp.abs(x), y),
        lambda x, y: jnp.maximum(jnp.maximum(x, y), -y),
        (S, S),
        (0, -1),
    ),
    # integers that cells decide
    Different(
        "bins that are closed on the other side",
        lambda x: real(jnp.searchsorted(BINS, x)),
        lambda x: ind(x >= 0) + ind(x >= 1),
        (S,),
        (1,),
        null_set=True,
    ),
    Different(
        "an entry beside the one that is chosen",
        lambda x, y: y[stairs(x)],
        lambda x, y: jnp.where(x > 0, y[1], y[0]),
        (S, V),
        (2, [0, 1, 2]),
    ),
    Different(
        "an entry behind the end",
        lambda x, y: jnp.take(y, 2 * stairs(x), mode="clip"),
        lambda x, y: jnp.where(x > 1, y[1], jnp.where(x > 0, y[2], y[0])),
        (S, V),
        (2, [0, 1, 2]),
    ),
    Different(
        "branches in another order",
        lambda x: lax.switch(stairs(x), [lambda: -x, lambda: x, lambda: x * x]),
        lambda x: jnp.where(x > 1, x, jnp.where(x > 0, x * x, -x)),
        (S,),
        (2,),
    ),
    Different("half of an integer", lambda x: real(stairs(x) // 2), lambda x: ind(x > 0), (S,), (0.5,)),
    Different(
        "an integer below 0 that wraps",
        lambda x: real((x > 0).astype(jnp.uint8) - jnp.uint8(1)),
        lambda x: jnp.where(x > 0, 0.0, -1.0),
        (S,),
        (-1,),
    ),
)

EQUAL = (
    Equal("a safe norm", safe, norm, (V,)),
    Equal("a safe norm from a length on", lambda x: safe(x, 0.5), lambda x: jnp.maximum(norm(x), 0.5), (V,)),
    Equal("a trust ratio", lambda p, u: trust(p, u, safe), lambda p, u: trust(p, u, norm), (V, V)),
    Equal(
        "a trust ratio of multiples",
        lambda p, u: trust(p, 2 * u, safe),
        lambda p, u: u * jnp.where((norm(p) == 0) | (norm(u) == 0), 2.0, norm(p) / norm(u)),
        (V, V),
    ),
    Equal("the larger one", lambda x, y: ind(x == jnp.maximum(x, y)), lambda x, y: ind(x >= y), (S, S)),
    Equal("below the larger one", lambda x, y: ind(jnp.maximum(x, y) > x), lambda x, y: ind(x < y), (S, S)),
    Equal("not the smaller one", lambda x, y: ind(x != jnp.minimum(x, y)), lambda x, y: ind(x > y), (S, S)),
    Equal("gradients of relu", lambda x: jnp.where(x > 0, x, 0.0), relu, (S,), almost_everywhere=True, wrt="grad"),
    Equal(
        "gradients of a maximum",
        jnp.maximum,
        lambda x, y: (x + y + jnp.abs(x - y)) / 2,
        (S, S),
        almost_everywhere=True,
        wrt="grad",
    ),
    Equal("zeros of multiples", lambda x: ind(norm(2 * x) == 0), lambda x: ind(norm(x) == 0), (V,)),
    Equal(
        "a unit that is cut off",
        lambda x: x * jnp.minimum(lax.rsqrt((x * x).sum()), 10.0),
        lambda x: x / jnp.maximum(norm(x), 0.1),
        (V,),
    ),
    Equal(
        "a root that is cut off",
        lambda x: jnp.maximum(jnp.sqrt(x * x + 1), 3.0),
        lambda x: jnp.sqrt(jnp.maximum(x * x + 1, 9.0)),
        (S,),
    ),
    Equal(
        "an inverse of a positive number",
        lambda x: jnp.maximum(1 / (1 + x * x), 0.25),
        lambda x: 1 / jnp.minimum(1 + x * x, 4.0),
        (S,),
    ),
    Equal("what is left out at 0", lambda x: jnp.where(norm(x) == 0, 0.0, x @ unit(x)), norm, (V,)),
    Equal("what is undefined at 0", lambda x: jnp.where(norm(x) == 0, 5.0, x @ unit(x)), lambda x: x @ unit(x), (V,)),
    Equal(
        "a sum of squares with a factor",
        lambda x, c: jnp.abs((c * x * x).sum()),
        lambda x, c: jnp.abs(c) * (x * x).sum(),
        (V, S),
    ),
    Equal("the largest magnitude", lambda x: jnp.abs(x).max(), lambda x: jnp.maximum(x.max(), -x.min()), (V,)),
    Equal("the largest of multiples", lambda x: (2 * x).max(), lambda x: 2 * x.max(), (V,)),
    Equal(
        "an entry that is chosen",
        lambda x, y: y[stairs(x)],
        lambda x, y: jnp.where(x > 1, y[2], jnp.where(x > 0, y[1], y[0])),
        (S, V),
    ),
    Equal(
        "branches",
        lambda x: lax.switch(stairs(x), [lambda: -x, lambda: x, lambda: x * x]),
        lambda x: jnp.where(x > 1, x * x, jnp.abs(x)),
        (S,),
    ),
    Equal("bins", lambda x: real(jnp.searchsorted(BINS, x)), lambda x: ind(x > 0) + ind(x > 1), (S,)),
    Equal("an integer without a remainder", lambda x: real(stairs(x) // 2), lambda x: ind(x > 1), (S,)),
)
