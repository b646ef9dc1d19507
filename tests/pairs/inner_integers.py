"""Integers that networks choose by, sorts of many integers, functions of entries: pairs, mistakes, attacks."""

import jax
import jax.numpy as jnp
from jax import export, lax

import uat_jax as uj

from .integers import of
from .pair import Pair, f32

N, D = export.symbolic_shape("n,d")
ANY_TEXT, TABLE = jax.ShapeDtypeStruct((N,), jnp.int32), jax.ShapeDtypeStruct((16, D), jnp.float32)
IDS, WORDS = uj.integers(of("int32", 12), 0, 50256), f32(100, 4)
SHORT = uj.integers(of("int32", 12), 0, 99)


def rows_of_ones(i, table):
    """Rows by a product with ones and zeros."""
    return jax.nn.one_hot(i, table.shape[0]) @ table


def last(x, axis=-1):
    """The last place of a largest entry."""
    return x.shape[axis] - 1 - jnp.argmax(jnp.flip(x, axis), axis)


# Networks


def nearest(x, codes):
    """The nearest code of each row."""
    return codes[jnp.argmin(jnp.sum((x[:, None] - codes) ** 2, -1), -1)]


def nearest_by_products(x, codes, largest=jnp.argmin):
    """The same by a product of matrices."""
    d = jnp.sum(x**2, -1)[:, None] - 2 * x @ codes.T + jnp.sum(codes**2, -1)
    return rows_of_ones(largest(d, -1), codes)


def expert(x, router, weights):
    """A mixture of experts: each row goes to the one with the largest score."""
    return jnp.einsum("bd,bde->be", x, weights[jnp.argmax(x @ router, -1)])


def expert_by_all(x, router, weights, largest=jnp.argmax, softmax=jax.nn.softmax):
    """The same with the results of all experts."""
    chosen = jax.nn.one_hot(largest(softmax(x @ router), -1), router.shape[1])
    return jnp.einsum("bn,bne->be", chosen, jnp.einsum("bd,nde->bne", x, weights))


def decoded(table, a, w, t, steps=3):
    """Greedy decoding: the row of the word with the largest logit is the next input."""
    x = table[t]
    for _ in range(steps):
        x = table[jnp.argmax((jnp.tanh(x @ a) + x) @ w)]
    return (jnp.tanh(x @ a) + x) @ w


def decoded_by_softmax(table, a, w, t, steps=3, largest=jnp.argmax, block=True):
    """The same by logarithms of probabilities, and rows by products."""
    x = rows_of_ones(t, table)
    for _ in range(steps):
        y = jnp.tanh(x @ a) + x if block else x
        x = rows_of_ones(largest(jax.nn.log_softmax(w.T @ y)), table)
    return w.T @ (jnp.tanh(x @ a) + x)


def hard_attention(q, k, v):
    """The value of the key with the largest score."""
    return v[jnp.argmax(q @ k.T, -1)]


def hard_attention_scaled(q, k, v, largest=jnp.argmax):
    """The same by scaled scores."""
    return jnp.take_along_axis(v, largest(q @ k.T / jnp.sqrt(4.0), -1)[:, None], axis=0)


def positions(x, table, mask=lambda x: x > 0, first=1):
    """Rows of positions that are counted where a number is positive."""
    return table[jnp.maximum(jnp.cumsum(mask(x).astype(jnp.int32)) - first, 0)]


def positions_by_matrix(x, table):
    """The same by a triangular matrix."""
    p = jnp.tril(jnp.ones((x.shape[0], x.shape[0]), jnp.int32)) @ jnp.where(x > 0, 1, 0) - 1
    return rows_of_ones(jnp.where(p < 0, 0, p), table)


NETWORKS = [
    Pair(
        "nearest codes, 64 of them",
        nearest,
        nearest_by_products,
        (f32(16, 8), f32(64, 8)),
        {"the farthest": lambda x, c: nearest_by_products(x, c, jnp.argmax)},
    ),
    Pair(
        "one of three experts",
        expert,
        expert_by_all,
        (f32(5, 4), f32(4, 3), f32(3, 4, 4)),
        {
            "softmax over rows": lambda x, r, w: expert_by_all(x, r, w, softmax=lambda s: jax.nn.softmax(s, 0)),
            "the last of equals": lambda x, r, w: expert_by_all(x, r, w, last, softmax=lambda s: 2 * s),
        },
    ),
    Pair(
        "greedy decoding, three steps",
        decoded,
        decoded_by_softmax,
        (f32(7, 4), f32(4, 4), f32(4, 7), uj.integers(of("int32"), 0, 6)),
        {"without its block": lambda *p: decoded_by_softmax(*p, block=False)},
    ),
    Pair(
        "hard attention",
        hard_attention,
        hard_attention_scaled,
        (f32(5, 4), f32(6, 4), f32(6, 3)),
        {"the last of equals": lambda q, k, v: hard_attention_scaled(q, k, v, last)},
    ),
    Pair(
        "positions that are counted",
        positions,
        positions_by_matrix,
        (f32(6), f32(6, 4)),
        {
            "zeros count": lambda x, t: positions(x, t, lambda x: x >= 0),
            "from one": lambda x, t: positions(x, t, first=0),
        },
    ),
    Pair(
        "the two best of five",
        lambda x, t: t[lax.top_k(x, 2)[1]],
        lambda x, t: jnp.take(t, jnp.argsort(x, -1, descending=True)[:, :2], axis=0),
        (f32(3, 5), f32(5, 3)),
        {"the last of equals first": lambda x, t: jnp.take(t, jnp.argsort(x, -1)[:, ::-1][:, :2], axis=0)},
    ),
]

SORTS = [
    Pair(
        "sort of reversed ids",
        jnp.sort,
        lambda x: jnp.sort(x[::-1]),
        (of("int32", 12),),
        {"the other way": lambda x: jnp.sort(x)[::-1]},
    ),
    Pair(
        "sort of opposite ids",
        jnp.sort,
        lambda x: -jnp.sort(-x)[::-1],
        (IDS,),
        {"not turned round": lambda x: -jnp.sort(-x)},
    ),
    Pair(
        "least of sorted ids",
        lambda x: jnp.sort(x)[0],
        jnp.min,
        (IDS,),
        {"the second": lambda x: jnp.sort(x)[1]},
    ),
    Pair("sum of sorted ids", lambda x: jnp.sort(x).sum(), jnp.sum, (IDS,), {"one twice": lambda x: x.sum() + x[0]}),
    Pair(
        "ids in their order",
        lambda x: x[jnp.argsort(x)],
        jnp.sort,
        (IDS,),
        {"from above": lambda x: jnp.sort(x)[::-1]},
    ),
    Pair(
        "largest ids and their places",
        lambda x: lax.top_k(x, 3),
        lambda x: [-jnp.sort(-x)[:3], jnp.argsort(-x)[:3]],
        (IDS,),
        {"the last of equals": lambda x: [jnp.sort(x)[::-1][:3], jnp.argsort(x)[::-1][:3]]},
    ),
    Pair(
        "rows of sorted ids",
        lambda x, t: t[jnp.sort(x)],
        lambda x, t: rows_of_ones(jnp.sort(x[::-1]), t),
        (SHORT, WORDS),
        {"the other way": lambda x, t: t[jnp.sort(x)[::-1]]},
    ),
    Pair(
        "how many ids are different",
        lambda x: 1 + jnp.sum(jnp.diff(jnp.sort(x)) != 0),
        lambda x: 1 + jnp.sum(jnp.diff(jnp.sort(x)[::-1]) != 0),
        (IDS,),
        {"neighbours before they are sorted": lambda x: 1 + jnp.sum(jnp.diff(x) != 0)},
    ),
]

ENTRIES = [
    Pair(
        "x % 16 at all sizes",
        lambda x, t: t[x % 16],
        lambda x, t: t[x & 15],
        (ANY_TEXT, TABLE),
        {"x % 8": lambda x, t: t[x % 8], "one further": lambda x, t: t[(x + 1) % 16]},
    ),
    Pair(
        "x % 16 by ones at all sizes",
        lambda x, t: t[x % 16],
        lambda x, t: rows_of_ones(x - 16 * (x // 16), t),
        (ANY_TEXT, TABLE),
        {"turned round": lambda x, t: t[x[::-1] % 16]},
    ),
    Pair(
        "hashes at all sizes",
        lambda x, t: t[(7 * x + 3) & 15].mean(0),
        lambda x, t: t[((x & 15) * 7 + 3) % 16].sum(0) / x.shape[0],
        (ANY_TEXT, TABLE),
        {"another number": lambda x, t: t[(7 * x + 2) & 15].mean(0)},
    ),
    Pair(
        "clipped ids at all sizes",
        lambda x, t: t[jnp.clip(x, 0, 15)],
        lambda x, t: rows_of_ones(jnp.maximum(jnp.minimum(x, 15), 0), t),
        (ANY_TEXT, TABLE),
        {"one less": lambda x, t: t[jnp.clip(x, 0, 14)]},
    ),
    Pair(
        "bits of any id",
        lambda x, t: t[(x >> 4) & 15],
        lambda x, t: jnp.take(t, (x // 16) % 16, axis=0),
        (of("int32", 5), f32(16, 3)),
        {"bits without a sign": lambda x, t: t[lax.shift_right_logical(x, 28)]},
    ),
]

PAIRS = [*NETWORKS, *SORTS, *ENTRIES]

X, T, MANY = f32(4), f32(4, 3), of("int32", 9)
BELOW = uj.integers(MANY, 0, 200)

NEVER = {
    "first and last of equals": (lambda x, t: t[jnp.argmax(x)], lambda x, t: t[last(x)], X, T),
    "first and last of two": (lambda x, t: t[jnp.argmax(x)], lambda x, t: t[last(x)], f32(2), f32(2, 3)),
    "ties that relu makes": (lambda x, t: t[jnp.argmax(x)], lambda x, t: t[jnp.argmax(jax.nn.relu(x))], X, T),
    "ties far away": (lambda x, t: t[jnp.argmax(x)], lambda x, t: t[jnp.argmax(jnp.minimum(x, 100.0))], X, T),
    "NaN of 0/0": (lambda x, t: t[jnp.argmax(x * (x[0] / x[0]))], lambda x, t: t[jnp.argmax(x)], X, T),
    "a factor that may be 0": (lambda x, t: t[jnp.argmax(x * x[0] ** 2)], lambda x, t: t[jnp.argmax(x)], X, T),
    "the order of reciprocals": (lambda x, t: t[jnp.argmax(1 / x)], lambda x, t: t[jnp.argmin(x)], X, T),
    "logarithms": (lambda x, t: t[jnp.argmax(jnp.log(x))], lambda x, t: t[jnp.argmax(x)], X, T),
    "places from above": (lambda x, t: t[jnp.argsort(x)], lambda x, t: t[jnp.argsort(-x)[::-1]], X, T),
    "what a place has to do with its number": (
        lambda x, t: x[jnp.argmax(x)] + t[jnp.argmax(x)],
        lambda x, t: x[0] + t[jnp.argmax(x)],
        X,
        T,
    ),
    "beside the table": (
        lambda x, t: jnp.take(t, jnp.argmax(x), axis=0, mode="clip"),
        lambda x, t: jnp.take(t, jnp.argmax(x), axis=0, mode="fill", fill_value=0),
        f32(5),
        T,
    ),
    "a negative place": (lambda x, t: t[jnp.argmax(x) - 1], lambda x, t: t[jnp.maximum(jnp.argmax(x) - 1, 0)], X, T),
    "counts of zeros": (lambda x, t: t[jnp.sum(x > 0)], lambda x, t: t[jnp.sum(x >= 0)], X, f32(5, 3)),
    "floor and round": (
        lambda x, t: t[jnp.clip(jnp.floor(x).astype(jnp.int32), 0, 3)],
        lambda x, t: t[jnp.clip(jnp.round(x).astype(jnp.int32), 0, 3)],
        X,
        T,
    ),
    "the second choice at a tie": (
        lambda x, t: t[jnp.argmax(t @ t[jnp.argmax(x)])],
        lambda x, t: t[last(t @ t[jnp.argmax(x)])],
        X,
        T,
    ),
    "the opposite of the least integer": (lambda x: jnp.sort(-x), lambda x: -jnp.sort(x)[::-1], MANY),
    "one more than the largest integer": (lambda x: jnp.sort(x + 1), lambda x: jnp.sort(x) + 1, MANY),
    "twice an int8": (
        lambda x: jnp.sort(2 * x),
        lambda x: 2 * jnp.sort(x),
        uj.integers(of("int8", 9), -100, 100),
    ),
    "a cast that wraps": (
        lambda x: jnp.sort(x.astype(jnp.int8)),
        lambda x: jnp.sort(x).astype(jnp.int8),
        BELOW,
    ),
    "a sum that wraps": (
        lambda x: jnp.sum(jnp.sort(x), dtype=jnp.int8).astype(jnp.float32),
        lambda x: jnp.sum(x.astype(jnp.float32)),
        uj.integers(of("int8", 9), 0, 100),
    ),
    "places of equal integers": (jnp.argsort, lambda x: 8 - jnp.argsort(x[::-1]), BELOW),
    "quotients of sorted integers": (lambda x: jnp.sum(jnp.sort(x) // 2), lambda x: jnp.sum(x) // 2, BELOW),
    "sorted ids beside the table": (
        lambda x, t: jnp.take(t, jnp.sort(x), axis=0, mode="clip"),
        lambda x, t: jnp.take(t, jnp.sort(x), axis=0, mode="fill", fill_value=0.0),
        uj.integers(MANY, 0, 100),
        f32(100, 3),
    ),
    "sorted ids that are negative": (
        lambda x, t: t[jnp.sort(x)],
        lambda x, t: t[jnp.maximum(jnp.sort(x), 0)],
        uj.integers(MANY, -1, 99),
        f32(100, 3),
    ),
    "what an integer gather puts beside": (
        lambda x: jnp.take(jnp.sort(x), jnp.array([0, 20]), mode="fill"),
        lambda x: jnp.take(jnp.sort(x), jnp.array([0, 8]), mode="fill"),
        BELOW,
    ),
    "one id of all": (
        lambda x, t: t[jnp.where(x == 123456789, 0, x & 15)],
        lambda x, t: t[x & 15],
        ANY_TEXT,
        TABLE,
    ),
    "the place behind the table": (
        lambda x, t: jnp.take(t, jnp.minimum(x & 31, 16), axis=0, mode="clip"),
        lambda x, t: jnp.take(t, jnp.minimum(x & 31, 16), axis=0, mode="fill", fill_value=0.0),
        ANY_TEXT,
        TABLE,
    ),
    "a mask and a row": (
        lambda x, t: jnp.where((x % 2 == 0)[:, None], t[x % 16], 0),
        lambda x, t: jnp.where((x % 4 == 0)[:, None], t[x % 16], 0),
        ANY_TEXT,
        TABLE,
    ),
}
"""Pairs that differ at a few inputs, or where something wraps, is equal, is undefined, or lies beside a table."""
