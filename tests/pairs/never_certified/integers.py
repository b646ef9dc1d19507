"""Integers that leave the range of their dtype, on the way in or on the way."""

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax

from .row import Different, Equal, S, V, f32, f64, ind, real


def i8(x):
    return x.astype(jnp.int8)


def i16(x):
    return x.astype(jnp.int16)


def i32(x):
    return x.astype(jnp.int32)


def u8(x):
    return x.astype(jnp.uint8)


def u16(x):
    return x.astype(jnp.uint16)


def u32(x):
    return x.astype(jnp.uint32)


def widths(name, left, right, specs, witness):
    """A row whose integers have the width of the default dtype, so that float64 would make another function of it."""
    return Different(name, left, right, specs, witness, widths=True)


INDEX = np.arange(3, dtype=np.int32)

WRAPPED = (
    Different("square of int32", lambda x: real(i32(x) * i32(x)), lambda x: real(i32(x)) ** 2, (S,), (50000.5,)),
    Different("power of int32", lambda x: real(i32(x) ** 3), lambda x: real(i32(x)) ** 3, (S,), (2000.5,)),
    Different("sum of int32", lambda x: real(i32(x) + i32(x)), lambda x: 2 * real(i32(x)), (S,), (2000000000.0,)),
    Different("difference of int32", lambda x: real(-i32(x) - i32(x)), lambda x: -2 * real(i32(x)), (S,), (2000000000.0,)),
    Different("factor of int32", lambda x: real(i32(x) * 65536 * 65536), lambda x: real(i32(x)) * 65536 * 65536, (S,), (3.5,)),
    Different("factor of int32 against zero", lambda x: real(i32(x) * 65536 * 32768), lambda x: 0 * x, (S,), (3.5,)),
    Different("product of two", lambda x, y: real(i32(x) * i32(y)), lambda x, y: real(i32(x)) * real(i32(y)), (S, S), (50000.5, 70000.5)),
    Different("a sum over an array", lambda x: real(i32(x).sum(dtype=jnp.int32)), lambda x: real(i32(x)).sum(), (V,), ((2e9, 1e9, 1e9),)),
    Different("a dot of integers", lambda x: real(jnp.dot(i32(x), i32(x))), lambda x: jnp.dot(real(i32(x)), real(i32(x))), (V,), ((50000.5, 1.5, 2.5),)),
    Different("a product over an array", lambda x: real(jnp.prod(i32(x), dtype=jnp.int32)), lambda x: jnp.prod(real(i32(x))), (V,), ((5000.5, 5000.5, 5000.5),)),
    Different("a loop that doubles", lambda x: real(lax.fori_loop(0, 20, lambda _, c: c + c, i32(x))), lambda x: real(i32(x)) * 2.0**20, (S,), (5000.5,)),
    Different("a scan that multiplies", lambda x: real(lax.scan(lambda c, v: (c * v, None), i32(x[0]), i32(x[1:]))[0]), lambda x: jnp.prod(real(i32(x))), (V,), ((5000.5, 5000.5, 5000.5),)),
    Different("int8 times 100", lambda x: real(i8(x) * jnp.int8(100)), lambda x: 100 * real(i8(x)), (S,), (3.5,)),
    Different("int8 plus 100", lambda x: real(i8(x) + jnp.int8(100)), lambda x: 100 + real(i8(x)), (S,), (90.5,)),
    Different("int8 minus", lambda x: real(-i8(x) - jnp.int8(100)), lambda x: -100 - real(i8(x)), (S,), (90.5,)),
    Different("minus of the least int8", lambda x: real(-i8(x)), lambda x: -real(i8(x)), (S,), (-200.5,)),
    Different("abs of the least int8", lambda x: real(jnp.abs(i8(x))), lambda x: jnp.abs(real(i8(x))), (S,), (-200.5,)),
    Different("int16 square", lambda x: real(i16(x) * i16(x)), lambda x: real(i16(x)) ** 2, (S,), (300.5,)),
    Different("int16 cumulated", lambda x: real(jnp.cumsum(i16(x), dtype=jnp.int16)), lambda x: jnp.cumsum(real(i16(x))), (V,), ((20000.5, 20000.5, 1.5),)),
    Different("uint8 clipped plus 100", lambda x: real(jnp.clip(u8(x), 0, 200) + jnp.uint8(100)), lambda x: real(jnp.clip(u8(x), 0, 200)) + 100, (S,), (190.5,)),
    Different("uint8 minus", lambda x: real(u8(x) - jnp.uint8(100)), lambda x: real(u8(x)) - 100, (S,), (50.5,)),
    Different("uint8 difference of two", lambda x, y: real(u8(x) - u8(y)), lambda x, y: real(u8(x)) - real(u8(y)), (S, S), (50.5, 60.5)),
    Different("uint8 negated", lambda x: real(-u8(x)), lambda x: -real(u8(x)), (S,), (3.5,)),
    Different("uint16 product", lambda x: real(u16(x) * u16(x)), lambda x: real(u16(x)) ** 2, (S,), (300.5,)),
    Different("uint32 minus one", lambda x: real(u32(x) - jnp.uint32(1)), lambda x: real(u32(x)) - 1, (S,), (0.25,)),
    Different("uint32 difference compared", lambda x: ind(u32(x) - jnp.uint32(5) >= 0), lambda x: ind(real(u32(x)) - 5 >= 0), (S,), (3.5,)),
    Different("comparison of a wrapped sum", lambda x: ind(i8(x) + jnp.int8(1) > i8(x)), lambda x: 1 + 0 * x, (S,), (127.5,)),
    Different("comparison of a wrapped product", lambda x: ind(i32(x) * i32(x) >= 0), lambda x: 1 + 0 * x, (S,), (50000.5,)),
    Different("mean of two", lambda x, y: real((i8(x) + i8(y)) // jnp.int8(2)), lambda x, y: jnp.floor((real(i8(x)) + real(i8(y))) / 2), (S, S), (120.5, 110.5)),
    Different("an index that wraps", lambda x: real(x[0].astype(jnp.int8) * jnp.int8(2) + INDEX.astype(np.int8)), lambda x: 2 * real(i8(x[0])) + INDEX.astype(np.float32), (V,), ((100.5, 0, 0),)),
    Different("shifted left", lambda x: real(i8(x) << 4), lambda x: real(i8(x)) * 16, (S,), (9.5,)),
    Different("shifted right, logically", lambda x: real(lax.shift_right_logical(i8(x), jnp.int8(1))), lambda x: jnp.floor(real(i8(x)) / 2), (S,), (-9.5,)),
    widths("counted in int8", lambda x: real((x > 0).sum(dtype=jnp.int8)), lambda x: ind(x > 0).sum(), (f32(130),), (np.ones(130),)),
)  # fmt: skip

CASTS = (
    Different("int8 of a negative number", lambda x: real(i8(x)), lambda x: -real(i8(-x)), (S,), (200.5,)),
    Different("int8 against int32", lambda x: real(i8(x)), lambda x: real(i32(x)), (S,), (200.5,)),
    Different("uint8 against int32", lambda x: real(u8(x)), lambda x: real(i32(x)), (S,), (-20.5,)),
    Different("uint8 against int8", lambda x: real(u8(x)), lambda x: real(i8(x)), (S,), (200.5,)),
    Different("uint8 through int32", lambda x: real(i32(x).astype(jnp.uint8)), lambda x: real(u8(x)), (S,), (300.5,)),
    Different("int8 through int32", lambda x: real(i32(x).astype(jnp.int8)), lambda x: real(i8(x)), (S,), (200.5,)),
    Different("int16 through int32", lambda x: real(i32(x).astype(jnp.int16)), lambda x: real(i16(x)), (S,), (40000.5,)),
    Different("uint8 through int8", lambda x: real(i8(x).astype(jnp.uint8)), lambda x: real(i8(x)), (S,), (-3.5,)),
    Different("uint32 of a negative int32", lambda x: real(i32(x).astype(jnp.uint32)), lambda x: real(i32(x)), (S,), (-3.5,)),
    Different("int32 of a large uint32", lambda x: real(u32(x).astype(jnp.int32)), lambda x: real(u32(x)), (S,), (3e9,)),
    Different("int32 saturates", lambda x: real(i32(x)), jnp.trunc, (S,), (3e9,)),
    Different("int32 saturates below", lambda x: real(i32(x)), jnp.trunc, (S,), (-3e9,)),
    Different("uint8 saturates", lambda x: real(u8(x)), lambda x: jnp.maximum(jnp.trunc(x), 0), (S,), (300.5,)),
    Different("cast and floor below zero", lambda x: real(i32(x)), jnp.floor, (S,), (-30.5,)),
    Different("cast and round", lambda x: real(i32(x)), jnp.round, (S,), (30.75,)),
    Different("cast to bool and to int", lambda x: real(x.astype(jnp.bool_)), lambda x: real(i32(x)), (S,), (30.5,)),
    Different("cast to bool and an indicator", lambda x: real(x.astype(jnp.bool_)), lambda x: ind(x > 0), (S,), (-30.5,)),
    Different("cast of a sum", lambda x, y: real(i32(x + y)), lambda x, y: real(i32(x)) + real(i32(y)), (S, S), (0.75, 0.75)),
    Different("cast of twice", lambda x: real(i32(2 * x)), lambda x: 2 * real(i32(x)), (S,), (30.75,)),
    Different("cast of x + 1", lambda x: real(i32(x + 1)), lambda x: real(i32(x)) + 1, (S,), (-0.5,)),
    Different("integer quotient toward zero", lambda x: real(lax.div(i32(x), jnp.int32(2))), lambda x: real(i32(x) // 2), (S,), (-7.5,)),
    Different("integer remainder", lambda x: real(lax.rem(i32(x), jnp.int32(4))), lambda x: real(i32(x) % 4), (S,), (-7.5,)),
    Different("integer quotient and quotient", lambda x: real(i32(x) // 2), lambda x: real(i32(x)) / 2, (S,), (7.5,)),
    Different("quotient times divisor", lambda x: real((i32(x) // 3) * 3), lambda x: real(i32(x)), (S,), (7.5,)),
    Different("xor and addition", lambda x: real(i32(x) ^ 1), lambda x: real(i32(x) + 1), (S,), (7.5,)),
    Different("or and addition", lambda x: real(i32(x) | 4), lambda x: real(i32(x) + 4), (S,), (7.5,)),
    Different("not and minus", lambda x: real(~i32(x)), lambda x: real(-i32(x)), (S,), (7.5,)),
    Different("leading zeros", lambda x: real(lax.clz(i32(x))), lambda x: real(lax.clz(i32(x) + 1)), (S,), (7.5,)),
    widths("bits reread", lambda x: lax.bitcast_convert_type(lax.bitcast_convert_type(x, jnp.int32) & 0x7F800000, jnp.float32), jnp.abs, (S,), (1.75,)),
)  # fmt: skip

BIG = 2**53 + 1


def wide(x):
    return x.astype(jnp.int64)


CONSTANTS = (
    Different("2^53 + 1 in int64", lambda x: (wide(x) * BIG - wide(x) * 2**53).astype(jnp.float64), lambda x: 0 * x, (f64(),), (3.5,)),
    Different("2^53 + 1 compared", lambda x: jnp.where(wide(x) * 0 + BIG == 2**53, 1.0, 0.0), lambda x: 1 + 0 * x, (f64(),), (3.5,)),
    Different("2^62 + 1 modulo 2", lambda x: ((wide(x) * 0 + 2**62 + 1) % 2).astype(jnp.float64) + x, lambda x: x, (f64(),), (3.5,)),
    Different("-2^53 - 1 plus 2^53", lambda x: (wide(x) * 0 - BIG + 2**53).astype(jnp.float64) + x, lambda x: x, (f64(),), (3.5,)),
    Different("2^63 - 1 wraps", lambda x: (wide(x) + (2**63 - 1)).astype(jnp.float64), lambda x: wide(x).astype(jnp.float64) + 2.0**63, (f64(),), (3.5,)),
    Different("an int64 square", lambda x: (wide(x) * wide(x)).astype(jnp.float64), lambda x: wide(x).astype(jnp.float64) ** 2, (f64(),), (4e9,)),
    Different("int32 of an int64", lambda x: wide(x).astype(jnp.int32).astype(jnp.float64), lambda x: wide(x).astype(jnp.float64), (f64(),), (4e9,)),
)  # fmt: skip


def rounded(x, largest=100):
    """A whole number from 0 to the largest, as a float."""
    return jnp.round(jnp.clip(x, 0, largest))


def first_as(other):
    """A pair of what a whole float is, and another number that is made of it: the same values have been met before."""
    return lambda x: jnp.stack([rounded(x), other(x)])


ALIKE = (
    Different("a quotient of integers and one of floats", lambda x: jnp.stack([rounded(x) / 2, real(lax.div(i32(rounded(x)), jnp.int32(2)))]), lambda x: jnp.stack([rounded(x) / 2] * 2), (S,), (3,)),
    Different("a quotient by a larger integer", lambda x: jnp.stack([rounded(x) / (rounded(x) + 1), real(lax.div(i32(rounded(x)), i32(rounded(x)) + 1))]), lambda x: jnp.stack([rounded(x) / (rounded(x) + 1)] * 2), (S,), (3,)),
    Different("a float that a byte does not hold", first_as(lambda x: real(u8(rounded(x, 300)))), lambda x: jnp.stack([rounded(x), rounded(x, 300)]), (S,), (280,)),
    Different("a whole part of a half", lambda x: real(i32(rounded(x) / 2)), lambda x: rounded(x) / 2, (S,), (3,)),
    Different("a whole part and a float rounded down", lambda x: real(i8(jnp.clip(x, -9, 9))), lambda x: jnp.floor(jnp.clip(x, -9, 9)), (S,), (-2.5,)),
    Different("a byte turned round, beside its float", first_as(lambda x: real(~i8(rounded(x)))), lambda x: jnp.stack([rounded(x), -rounded(x)]), (S,), (3,)),
    Different("a byte shifted, beside its float", first_as(lambda x: real(lax.shift_left(i8(rounded(x)), jnp.int8(1)))), lambda x: jnp.stack([rounded(x), 2 * rounded(x)]), (S,), (90,)),
)  # fmt: skip
"""Whole numbers and floats of equal values."""

DIFFERENT = (*WRAPPED, *CASTS, *CONSTANTS, *ALIKE)


def small(x):
    """A cast that cannot leave -50 … 50."""
    return jnp.clip(x, -50, 50).astype(jnp.int32)


EQUAL = (
    Equal("a byte and its float", first_as(lambda x: real(i8(rounded(x)))), lambda x: jnp.stack([rounded(x)] * 2), (S,)),
    Equal("a byte that is 1 or 0", lambda x: real(i8(i8(rounded(x)) > 50)), lambda x: ind(rounded(x) > 50), (S,)),
    Equal("a whole part is rounded down", lambda x: real(i8(jnp.clip(x, 0, 9))), lambda x: jnp.floor(jnp.clip(x, 0, 9)), (S,)),
    Equal("square of a small integer", lambda x: real(small(x) * small(x)), lambda x: real(small(x)) ** 2, (S,)),
    Equal("sum of small integers", lambda x: real(small(x).sum(dtype=jnp.int32)), lambda x: real(small(x)).sum(), (V,)),
    Equal("a dot of small integers", lambda x: real(jnp.dot(small(x), small(x))), lambda x: jnp.sum(real(small(x)) ** 2), (V,)),
    Equal("integers commute", lambda x, y: real(i32(x) * i32(y)), lambda x, y: real(i32(y) * i32(x)), (S, S)),
    Equal("twice is a sum, wrapped alike", lambda x: real(i32(x) + i32(x)), lambda x: real(2 * i32(x)), (S,)),
    Equal("distributed, wrapped alike", lambda x, y: real(i32(x) * (i32(y) + 1)), lambda x, y: real(i32(x) * i32(y) + i32(x)), (S, S)),
    Equal("int8 distributed, wrapped alike", lambda x: real(i8(x) * jnp.int8(3)), lambda x: real(i8(x) + i8(x) + i8(x)), (S,)),
    Equal("counts of booleans", lambda x: real((x > 0).sum(dtype=jnp.int32)), lambda x: ind(x > 0).sum(), (V,)),
    Equal("cast toward zero is odd", lambda x: real(i32(jnp.clip(-x, -9, 9))), lambda x: -real(i32(jnp.clip(x, -9, 9))), (S,)),
    Equal("cast and trunc", lambda x: real(i32(jnp.clip(x, -9, 9))), lambda x: jnp.trunc(jnp.clip(x, -9, 9)), (S,)),
    Equal("not is -x - 1", lambda x: real(~i32(x)), lambda x: real(-1 - i32(x)), (S,)),
    Equal("one-hot of a clipped cast", lambda x: jax.nn.one_hot(small(x), 3), lambda x: ind(small(x) == INDEX), (S,)),
    Equal("indices are whole numbers", lambda x: x * INDEX.astype(np.float32), lambda x: x * jnp.arange(3).astype(jnp.float32), (V,)),
)  # fmt: skip
