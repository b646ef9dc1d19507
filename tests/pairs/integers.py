"""Pairs of functions of integers and booleans, each with mistakes: bits, counters, tokens, masks, quantised numbers."""

import jax
import jax.numpy as jnp
from jax import lax

import uat_jax as uj

from .pair import Pair, f32


def of(dtype, *shape):
    """The spec of integers or booleans."""
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


def upto(last, *shape, dtype=jnp.int32):
    """Integers from 0 to `last`."""
    return uj.integers(of(dtype, *shape), 0, last)


I, U, B = of("int32"), of("uint32"), of("uint8")
P = of(bool)
u32 = jnp.uint32


def halved(x, y):
    return (x & y) + ((x ^ y) >> 1)


def rotated(x, k):
    return (x << u32(k)) | (x >> u32(32 - k))


def counted_bits(x):
    x = x - ((x >> 1) & u32(0x55555555))
    x = (x & u32(0x33333333)) + ((x >> 2) & u32(0x33333333))
    x = (x + (x >> 4)) & u32(0x0F0F0F0F)
    return (x * u32(0x01010101)) >> 24


def reversed_byte(x):
    x = ((x & 0x0F) << 4) | (x >> 4)
    x = ((x & 0x33) << 2) | ((x >> 2) & 0x33)
    return ((x & 0x55) << 1) | ((x >> 1) & 0x55)


def packed(a):
    w = a.astype(u32)
    return w[0] | w[1] << 8 | w[2] << 16 | w[3] << 24


def unpacked(w):
    return jnp.stack([(w >> (8 * k)).astype(jnp.uint8) for k in range(4)])


def hashed(h, x):
    return (h ^ x) * u32(16777619)


def mixed(h):
    h = h ^ (h >> 16)
    return h * u32(0x85EBCA6B)


def rows(name, left, right, specs, **wrong):
    """A pair; each keyword is a mistake."""
    return Pair(name, left, right, specs, wrong)


BITS = [
    rows("sum by parts", lambda x, y: x + y, lambda x, y: (x ^ y) + 2 * (x & y), (I, I), w=lambda x, y: x ^ y),
    rows("sum by or", lambda x, y: x + y, lambda x, y: (x | y) + (x & y), (I, I), w=lambda x, y: (x | y) - (x & y)),
    rows("difference by parts", lambda x, y: x - y, lambda x, y: (x ^ y) - 2 * (~x & y), (I, I),
         w=lambda x, y: (x ^ y) - 2 * (x & y)),
    rows("negation", lambda x: -x, lambda x: ~x + 1, (I,), w=lambda x: ~x),
    rows("complement", lambda x: ~x, lambda x: -x - 1, (I,), w=lambda x: -x),
    rows("xor of or and and", lambda x, y: x ^ y, lambda x, y: (x | y) - (x & y), (U, U), w=lambda x, y: x | y),
    rows("lowest bit", lambda x: x & -x, lambda x: x & (~x + 1), (I,), w=lambda x: x & (x - 1)),
    rows("lowest bit cleared", lambda x: x & (x - 1), lambda x: x - (x & -x), (I,), w=lambda x: x & (x + 1)),
    rows("power of two", lambda x: (x & (x - 1)) == 0, lambda x: lax.population_count(x) <= 1, (U,),
         zero=lambda x: lax.population_count(x) == 1),
    rows("average without overflow", halved, lambda x, y: (x | y) - ((x ^ y) >> 1) - ((x ^ y) & 1), (U, U),
         overflow=lambda x, y: (x + y) >> 1),
    rows("absolute value", jnp.abs, lambda x: (x ^ (x >> 31)) - (x >> 31), (I,), w=lambda x: x ^ (x >> 31)),
    rows("sign", jnp.sign, lambda x: (x >> 31) | lax.shift_right_logical(-x, jnp.int32(31)), (I,), w=lambda x: x >> 31),
    rows("largest by where", jnp.maximum, lambda x, y: jnp.where(x < y, y, x), (I, I),
         overflow=lambda x, y: jnp.where(x - y < 0, y, x)),
    rows("extremes add up", lambda x, y: jnp.maximum(x, y) + jnp.minimum(x, y), lambda x, y: x + y, (I, I),
         w=lambda x, y: 2 * jnp.maximum(x, y)),
    rows("unsigned order by signs", lambda x, y: x < y,
         lambda x, y: (x ^ u32(1 << 31)).astype(jnp.int32) < (y ^ u32(1 << 31)).astype(jnp.int32), (U, U),
         signed=lambda x, y: x.astype(jnp.int32) < y.astype(jnp.int32)),
    rows("different by sign", lambda x, y: x != y, lambda x, y: ((x - y) | (y - x)) < 0, (I, I),
         w=lambda x, y: (x - y) < 0),
    rows("square of a sum", lambda x, y: (x + y) * (x + y), lambda x, y: x * x + 2 * x * y + y * y, (I, I),
         w=lambda x, y: x * x + x * y + y * y),
    rows("product by a shift", lambda x: x * 10, lambda x: (x << 3) + (x << 1), (I,), w=lambda x: (x << 3) + x),
    rows("division by a shift", lambda x: x // 4, lambda x: x >> 2, (I,), toward_zero=lambda x: lax.div(x, jnp.int32(4))),
    rows("remainder by a mask", lambda x: x % 8, lambda x: x & 7, (I,), sign=lambda x: lax.rem(x, jnp.int32(8))),
    rows("unsigned halves", lambda x: x // 2, lambda x: x >> 1, (U,), w=lambda x: (x + 1) >> 1),
    rows("polynomial that vanishes", lambda x: (x * (x + 1)) & 1, lambda x: x & 0, (I,), w=lambda x: (x * x + 1) & 1),
    rows("bits of a byte", lax.population_count, lambda x: sum(((x >> k) & 1) for k in range(8)), (B,),
         one_short=lambda x: sum(((x >> k) & 1) for k in range(7))),
    rows("bits of a word", counted_bits, lax.population_count, (U,), w=lambda x: counted_bits(x) & 31),
    rows("reversed byte", reversed_byte, lambda x: sum((((x >> k) & 1) << (7 - k)) for k in range(8)), (B,),
         w=lambda x: (x << 4) | (x >> 4)),
    rows("rotated twice", lambda x: rotated(rotated(x, 5), 9), lambda x: rotated(x, 14), (U,), w=lambda x: rotated(x, 13)),
    rows("leading zeros", lax.clz, lambda x: 8 - lax.population_count(x | x >> 1 | x >> 2 | x >> 3 | x >> 4 | x >> 5
         | x >> 6 | x >> 7), (B,), w=lambda x: 7 - lax.population_count(x)),
    rows("packed and unpacked", lambda a: unpacked(packed(a)), lambda a: a, (of("uint8", 4),), order=lambda a: a[::-1]),
    rows("sum of packed", lambda a: jnp.sum(unpacked(packed(a)), dtype=u32), lambda a: jnp.sum(a, dtype=u32),
         (of("uint8", 4),), narrow=lambda a: jnp.sum(a, dtype=jnp.uint8).astype(u32)),
    rows("hash in two steps", lambda h, x: hashed(hashed(h, x), x), lambda h, x: ((h ^ x) * u32(16777619) ^ x) * u32(16777619),
         (U, U), w=lambda h, x: hashed(hashed(h, x), x) ^ x),
    rows("mixed", mixed, lambda h: (h ^ h // u32(65536)) * u32(0x85EBCA6B), (U,), w=lambda h: (h ^ h // u32(65535)) * u32(0x85EBCA6B)),
    rows("rolling counter", lambda x: (x + 1).astype(jnp.uint8), lambda x: jnp.where(x == 255, 0, x + 1).astype(jnp.uint8), (B,),
         saturates=lambda x: jnp.where(x == 255, 255, x + 1).astype(jnp.uint8)),
    rows("widened and cut", lambda x: x.astype(jnp.int32).astype(jnp.int8), lambda x: x, (of("int8"),), w=lambda x: jnp.abs(x)),
    rows("sign extension", lambda x: x.astype(jnp.int8).astype(jnp.int32), lambda x: (x << 24) >> 24, (I,),
         logical=lambda x: lax.shift_right_logical(x << 24, jnp.int32(24))),
    rows("clamp", lambda x: jnp.clip(x, -5, 5), lambda x: jnp.minimum(jnp.maximum(x, -5), 5), (I,), w=lambda x: jnp.clip(x, -5, 4)),
    rows("64 bits", lambda x: x * 3, lambda x: x + (x << 1), (of("int64"),), w=lambda x: x + (x << 2)),
]  # fmt: skip

LOGIC = [
    rows("De Morgan", lambda a, b: ~(a & b), lambda a, b: ~a | ~b, (of(bool, 2), of(bool, 2)), w=lambda a, b: ~a & ~b),
    rows("absorption", lambda a, b: a | (a & b), lambda a, b: a, (P, P), w=lambda a, b: b),
    rows("xor", lambda a, b: a ^ b, lambda a, b: (a | b) & ~(a & b), (P, P), w=lambda a, b: a | b),
    rows("where of truths", jnp.where, lambda p, a, b: (p & a) | (~p & b), (P, P, P), w=lambda p, a, b: (p & a) | b),
    rows("any is not all not", jnp.any, lambda a: ~jnp.all(~a), (of(bool, 5),), w=jnp.all),
    rows("implication", lambda a, b: a <= b, lambda a, b: ~a | b, (P, P), w=lambda a, b: a | ~b),
    rows("counts", lambda a: jnp.sum(a, dtype=jnp.int32), lambda a: 6 - jnp.sum(~a, dtype=jnp.int32), (of(bool, 6),),
         w=lambda a: 5 - jnp.sum(~a, dtype=jnp.int32)),
    rows("order is total", lambda i, j: i < j, lambda i, j: ~(j <= i), (I, I), w=lambda i, j: ~(j < i)),
    rows("segments", lambda s: s[:, None] == s[None, :], lambda s: (s[:, None] - s[None, :]) == 0, (upto(3, 4),),
         w=lambda s: s[:, None] <= s[None, :]),
    rows("causal by offsets", lambda o: (jnp.arange(3)[:, None] + o) >= jnp.arange(3), lambda o: jnp.arange(3)[None] - jnp.arange(3)[:, None] <= o,
         (upto(9),), w=lambda o: jnp.arange(3)[None] - jnp.arange(3)[:, None] < o),
    rows("length mask", lambda n: jnp.arange(5) < n, lambda n: ~(jnp.arange(5) >= n), (I,), one_long=lambda n: jnp.arange(5) <= n),
]  # fmt: skip

TABLE = f32(5, 3)


def with_mask(x, keep):
    """A mean of the entries that are kept."""
    return jnp.sum(jnp.where(keep, x, 0)) / jnp.sum(keep)


BESIDE_FLOATS = [
    rows("embedding by a row with a single 1", lambda t, i: t[i], lambda t, i: jax.nn.one_hot(i, 5) @ t, (TABLE, upto(4, 2)),
         moved=lambda t, i: t[jnp.minimum(i, 3)], next=lambda t, i: t[(i + 1) % 5]),
    rows("embedding by take", lambda t, i: jnp.take(t, i, axis=0), lambda t, i: t[i], (TABLE, of("int32", 2)),
         last=lambda t, i: t[jnp.minimum(i, 3)]),
    rows("embedding by where", lambda t, i: t[i], lambda t, i: jnp.sum(jnp.where((i[:, None] == jnp.arange(5))[..., None], t, 0), axis=1),
         (TABLE, upto(4, 2)), w=lambda t, i: jnp.sum(jnp.where((i[:, None] <= jnp.arange(5))[..., None], t, 0), axis=1)),
    rows("label of a row", lambda x, i: jnp.take_along_axis(x, i[:, None], axis=1)[:, 0], lambda x, i: jnp.sum(x * jax.nn.one_hot(i, 3), axis=1),
         (f32(2, 3), upto(2, 2)), w=lambda x, i: x[:, 0]),
    rows("masked sum", lambda x, n: jnp.sum(jnp.where(jnp.arange(4) < n, x, 0)), lambda x, n: jnp.sum(x * (jnp.arange(4) < n)), (f32(4), upto(4)),
         one_long=lambda x, n: jnp.sum(x * (jnp.arange(4) <= n))),
    rows("masked mean", lambda x, n: with_mask(x, jnp.arange(4) < n), lambda x, n: jnp.sum(x * (jnp.arange(4) < n)) / n.astype(jnp.float32),
         (f32(4), uj.integers(I, 1, 4)), w=lambda x, n: jnp.sum(x * (jnp.arange(4) < n)) / 4),
    rows("masked softmax", lambda x, n: jax.nn.softmax(jnp.where(jnp.arange(4) < n, x, -jnp.inf)),
         lambda x, n: jnp.exp(x) * (jnp.arange(4) < n) / jnp.sum(jnp.exp(x) * (jnp.arange(4) < n)), (f32(4), uj.integers(I, 1, 4)),
         one_long=lambda x, n: jnp.exp(x) * (jnp.arange(4) <= n) / jnp.sum(jnp.exp(x) * (jnp.arange(4) <= n))),
    rows("a slice", lambda x, i: lax.dynamic_slice(x, (i,), (2,)), lambda x, i: jnp.stack([x[i], x[i + 1]]), (f32(4), upto(2)),
         w=lambda x, i: jnp.stack([x[i], x[i]])),
    rows("rolled", lambda x, k: jnp.roll(x, k), lambda x, k: x[(jnp.arange(4) - k) % 4], (f32(4), upto(5)), w=lambda x, k: x[(jnp.arange(4) + k) % 4]),
    rows("a power in a loop", lambda x, n: lax.fori_loop(0, n, lambda k, c: c * x, x), lambda x, n: x ** (n + 1), (f32(), upto(4)),
         w=lambda x, n: x**n),
    rows("a truth decides", lambda p, x: lax.cond(p, jnp.sin, jnp.cos, x), lambda p, x: jnp.where(p, jnp.sin(x), jnp.cos(x)), (P, f32()),
         w=lambda p, x: jnp.where(p, jnp.cos(x), jnp.sin(x))),
    rows("scaled integers", lambda q: jnp.sum(q.astype(jnp.float32) * 0.5), lambda q: jnp.sum(q.astype(jnp.int32)).astype(jnp.float32) / 2,
         (uj.integers(of("int8", 2), -20, 20),), w=lambda q: jnp.sum(q.astype(jnp.float32)) * 0.25),
    rows("zero point", lambda q, x: (q.astype(jnp.float32) - 3) @ x, lambda q, x: q.astype(jnp.float32) @ x - 3 * jnp.sum(x),
         (uj.integers(of("int8", 2), -8, 8), f32(2)), forgotten=lambda q, x: q.astype(jnp.float32) @ x),
    rows("segment sums", lambda x, s: jax.ops.segment_sum(x, s, 3), lambda x, s: jax.nn.one_hot(s, 3).T @ x, (f32(3), upto(2, 3)),
         w=lambda x, s: jax.nn.one_hot(2 - s, 3).T @ x),
]  # fmt: skip

FROM_FLOATS = [
    rows("place of the largest", jnp.argmax, lambda x: jnp.argmin(-x), (f32(3),), last=lambda x: 2 - jnp.argmax(x[::-1])),
    rows("count of positives", lambda x: jnp.sum(x > 0), lambda x: 3 - jnp.sum(x <= 0), (f32(3),), w=lambda x: jnp.sum(x >= 0)),
    rows("order", lambda x: x[0] < x[1], lambda x: ~(x[1] <= x[0]), (f32(2),), w=lambda x: x[0] <= x[1]),
    rows("mixed tree", lambda x: (x + x, x[0] > 0), lambda x: (2 * x, 0 < x[0]), (f32(2),), w=lambda x: (2 * x, 0 <= x[0])),
]  # fmt: skip

NUMBERS = [
    rows("matrices", lambda a, b: a @ b, lambda a, b: jnp.stack([a[0, 0] * b[0] + a[0, 1] * b[1]])[None, 0],
         (of("int8", 1, 2), of("int8", 2, 1)), wide=lambda a, b: (a.astype(jnp.int32) @ b.astype(jnp.int32) // 2 * 2).astype(jnp.int8)),
    rows("wide products", lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.int32), lambda a, b: jnp.sum(a.astype(jnp.int32) * b),
         (of("int8", 3), of("int8", 3)), wraps=lambda a, b: jnp.dot(a, b).astype(jnp.int32)),
    rows("prefix sums", jnp.cumsum, lambda x: jnp.tril(jnp.ones((3, 3), jnp.int32)) @ x, (of("int32", 3),), w=lambda x: x[::-1].cumsum()),
    rows("sorted extremes", lambda x: jnp.sort(x)[0], jnp.min, (of("int32", 3),), w=jnp.max),
    rows("zero point of bytes", lambda q: jnp.sum(q.astype(jnp.int32) - 128), lambda q: jnp.sum(q, dtype=jnp.int32) - 512, (of("uint8", 4),),
         narrow=lambda q: jnp.sum(q - jnp.uint8(128), dtype=jnp.int32)),
]  # fmt: skip


def crc(x, start=0):
    """Four steps of a cyclic checksum of 8 bits."""
    c = x ^ jnp.uint8(start)
    for _ in range(4):
        c = jnp.where(c & 128, (c << 1) ^ 7, c << 1).astype(jnp.uint8)
    return c


def xorshift(h):
    """A step of a generator of Marsaglia."""
    h = h ^ (h << 13)
    h = h ^ (h >> 17)
    return h ^ (h << 5)


def interleaved(x):
    """The four lower bits of a byte, each beside a zero."""
    x = (x | (x << 2)) & 0x33
    return (x | (x << 1)) & 0x55


S8, S16, W = of("int8"), of("int16"), of("uint16")

TRICKS = [
    rows("next multiple of 8", lambda x: (x + 7) & 0xF8, lambda x: (x + 7) // 8 * 8, (B,), w=lambda x: (x + 8) & 0xF8, down=lambda x: x & 0xF8),
    rows("parity of a byte", lambda x: lax.population_count(x) & 1, lambda x: (lambda y: (y ^ (y >> 1)) & 1)((lambda y: y ^ (y >> 2))(x ^ (x >> 4))), (B,),
         w=lambda x: (x ^ (x >> 4)) & 1),
    rows("is between", lambda x, y: (y <= x) & (x < y + 4), lambda x, y: (x - y) < u32(4), (U, uj.integers(of("uint32"), 0, 2**31)), w=lambda x, y: (x - y) <= u32(4)),
    rows("signs differ", lambda x, y: (x < 0) != (y < 0), lambda x, y: (x ^ y) < 0, (I, I), w=lambda x, y: (x & y) < 0, product=lambda x, y: x * y < 0),
    rows("overflow of a sum", lambda x, y: (((x + y) ^ x) & ((x + y) ^ y)) < 0, lambda x, y: jnp.where(y >= 0, x + y < x, x + y >= x), (I, I), w=lambda x, y: x + y < x),
    rows("carry of a sum", lambda x, y: x + y < x, lambda x, y: x > ~y, (U, U), w=lambda x, y: x >= ~y),
    rows("saturated sum", lambda x, y: jnp.where(x + y < x, u32(2**32 - 1), x + y), lambda x, y: x + jnp.minimum(y, ~x), (U, U), w=lambda x, y: x + jnp.minimum(y, x)),
    rows("saturated difference", lambda x, y: jnp.where(x < y, 0, x - y), lambda x, y: jnp.maximum(x, y) - y, (U, U), w=lambda x, y: jnp.maximum(x, y) - x),
    rows("difference of both orders", lambda x, y: jnp.maximum(x, y) - jnp.minimum(x, y), lambda x, y: jnp.where(x < y, y - x, x - y), (U, U), w=lambda x, y: jnp.where(x < y, x - y, y - x)),
    rows("highest bit alone", lambda x: jnp.where(x == 0, 0, jnp.uint8(128) >> lax.clz(x)), lambda x: (lambda y: y - (y >> 1))(x | x >> 1 | x >> 2 | x >> 3 | x >> 4 | x >> 5 | x >> 6 | x >> 7), (B,),
         lowest=lambda x: x & -x),
    rows("trailing zeros", lambda x: lax.population_count((x & -x) - 1), lambda x: jnp.where(x == 0, 8, 7 - lax.clz(x & -x)), (B,), zero=lambda x: 7 - lax.clz(x & -x)),
    rows("bits swapped in pairs", lambda x: ((x & 0x55) << 1) | ((x >> 1) & 0x55), lambda x: sum(((x >> (k ^ 1)) & 1) << k for k in range(8)), (B,), w=lambda x: ((x & 0x55) << 1) | ((x >> 1) & 0x33)),
    rows("interleaved bits", lambda x: interleaved(x & 15), lambda x: sum(((x >> k) & 1) << (2 * k) for k in range(4)), (B,), w=lambda x: interleaved(x & 15) << 1),
    rows("Gray code and back", lambda x: (lambda g: (lambda h: h ^ (h >> 4))((lambda h: h ^ (h >> 2))(g ^ (g >> 1))))(x ^ (x >> 1)), lambda x: x, (B,),
         short=lambda x: (lambda g: (lambda h: h ^ (h >> 2))(g ^ (g >> 1)))(x ^ (x >> 1))),
    rows("checksum by halves", lambda x: crc(crc(x)), 
         lambda x: lax.fori_loop(0, 8, lambda k, c: jnp.where(c >= 128, (c << 1) ^ 7, c << 1).astype(jnp.uint8), x), (B,), start=lambda x: crc(crc(x, 1)), seven=lambda x: crc(x)),
    rows("xorshift loses nothing", lambda h, k: (xorshift(h) == xorshift(k)), lambda h, k: h == k, (U, U), w=lambda h, k: (xorshift(h) == xorshift(k)) & (h != 0)),
    rows("rolling hash", lambda a: ((a[0] * 31 + a[1]) * 31 + a[2]) * 31 + a[3], lambda a: jnp.sum(a * jnp.array([31**3, 31**2, 31, 1], u32), dtype=u32), (of("uint32", 4),),
         order=lambda a: ((a[3] * 31 + a[2]) * 31 + a[1]) * 31 + a[0]),
    rows("counter modulo 10", lambda x: (x + 1) % 10, lambda x: jnp.where(x == 9, 0, x + 1), (upto(9),), w=lambda x: jnp.where(x == 10, 0, x + 1), eleven=lambda x: (x + 1) % 11),
    rows("ring of 16", lambda i, n: (i + n) % 16, lambda i, n: (i + n) & 15, (W, W), wide=lambda i, n: (i.astype(jnp.int32) % 16 + n % 16).astype(jnp.uint16)),
    rows("int8 products with zero points", lambda a, b: jnp.dot(a.astype(jnp.int32) - 3, b.astype(jnp.int32) + 5),
         lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.int32) + 5 * jnp.sum(a, dtype=jnp.int32) - 3 * jnp.sum(b, dtype=jnp.int32) - 45, (of("int8", 3), of("int8", 3)),
         count=lambda a, b: jnp.dot(a, b, preferred_element_type=jnp.int32) + 5 * jnp.sum(a, dtype=jnp.int32) - 3 * jnp.sum(b, dtype=jnp.int32) - 15,
         narrow=lambda a, b: jnp.dot((a - 3).astype(jnp.int32), (b + 5).astype(jnp.int32))),
    rows("nibbles packed", lambda a: jnp.stack([(a[0] | a[1] << 4) & 15, (a[0] | a[1] << 4) >> 4]), lambda a: a, (uj.integers(of("uint8", 2), 0, 15),), sign=lambda a: a.at[1].set(a[1] & 7)),
    rows("masks packed", lambda m: jnp.sum(m.astype(jnp.uint8) << jnp.arange(8, dtype=jnp.uint8), dtype=jnp.uint8) == 255, jnp.all, (of(bool, 8),), any=jnp.any),
    rows("a byte of a word", lambda w: (w >> 8).astype(jnp.uint8), lambda w: ((w & 0xFF00) // 256).astype(jnp.uint8), (U,), signed=lambda w: (w // 255).astype(jnp.uint8)),
    rows("halves with a rounding", lambda x: (x >> 1) + (x & 1), lambda x: (x.astype(jnp.int32) + 1 >> 1).astype(jnp.int8), (S8,), w=lambda x: (x + 1) >> 1),
    rows("scaled by 3/4", lambda x: (x.astype(jnp.int32) * 3 >> 2).astype(jnp.int16), lambda x: (x - ((x.astype(jnp.int32) + 3) >> 2)).astype(jnp.int16), (S16,), w=lambda x: x - (x >> 2)),
    rows("choice by a mask", lambda p, x, y: jnp.where(p, x, y), lambda p, x, y: y ^ ((x ^ y) & -p.astype(jnp.int32)), (P, I, I), w=lambda p, x, y: y ^ ((x ^ y) & p.astype(jnp.int32))),
    rows("truths as numbers", lambda a, b: (a & ~b).astype(jnp.int32), lambda a, b: a.astype(jnp.int32) * (1 - b), (P, P), w=lambda a, b: a.astype(jnp.int32) - b),
    rows("majority", lambda a, b, c: (a & b) | (c & (a | b)), lambda a, b, c: a.astype(jnp.int32) + b + c >= 2, (P, P, P), w=lambda a, b, c: (a ^ b) | c),
]  # fmt: skip

PAIRS = [*BITS, *LOGIC, *BESIDE_FLOATS, *FROM_FLOATS, *NUMBERS, *TRICKS]
"""All of them."""
