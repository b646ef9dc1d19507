"""Integers are whole numbers where nothing can wrap, and refused where something can; booleans are logic."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.typing import DTypeLike

from uat_jax import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.integer_ranges import Range, limits, of_array, ranges
from uat_jax.interpret.interpreter import interpret
from uat_jax.interpret.tracing import dtype_of, is_number, trace
from uat_jax.numbers.balls.balls import Balls
from uat_jax.numbers.floats.doubles import Doubles

S = jax.ShapeDtypeStruct((), np.float32)
V = jax.ShapeDtypeStruct((4,), np.float32)
D = jax.ShapeDtypeStruct((), np.float64)
M = jax.ShapeDtypeStruct((2, 4), np.float32)


def real(x):
    """A float32."""
    return x.astype(np.float32)


def whole(x, dtype: DTypeLike = np.int32):
    """An integer of the dtype."""
    return lax.convert_element_type(x, dtype)


def digit(x, largest=9, dtype: DTypeLike = np.int32):
    """An integer between -largest and largest."""
    return whole(jnp.clip(x, np.float32(-largest), np.float32(largest)), dtype)


def byte(x, largest):
    """A byte of at most so much."""
    return whole(jnp.clip(x, np.float32(0), np.float32(largest)), np.uint8)


def squared(x):
    """x² as a product of integers."""
    return real(x * x)


def bits(x):
    """Which entries are positive, as integers."""
    return whole(x > 0, np.int8)


WRAPS = [
    ("a square", lambda x: squared(whole(x)), lambda x: real(whole(x)) ** 2, S),
    ("a square of a power", lambda x: real(whole(x) ** 2), lambda x: real(whole(x)) ** 2, S),
    ("a square of a primitive", lambda x: real(lax.square(whole(x))), lambda x: real(whole(x)) ** 2, S),
    ("one more", lambda x: real(whole(x) + 1), lambda x: real(whole(x)) + 1, S),
    ("one less", lambda x: real(whole(x) - 1), lambda x: real(whole(x)) - 1, S),
    ("negation", lambda x: real(-whole(x)), lambda x: -real(whole(x)), S),
    ("magnitude", lambda x: real(jnp.abs(whole(x))), lambda x: jnp.abs(real(whole(x))), S),
    ("a square just too large", lambda x: squared(digit(x, 46341)), lambda x: real(digit(x, 46341)) ** 2, S),
    ("a square of a short integer", lambda x: squared(digit(x, 12, np.int8)), lambda x: real(digit(x, 12)) ** 2, S),
    ("twice a factor", lambda x: real(whole(x) * 65536 * 65536), lambda x: 0 * x, S),
    ("a byte plus 100", lambda x: real(byte(x, 200) + np.uint8(100)), lambda x: real(byte(x, 200)) + 100, S),
    ("a byte plus 56", lambda x: real(byte(x, 200) + np.uint8(56)), lambda x: real(byte(x, 200)) + 56, S),
    ("a byte minus one", lambda x: real(byte(x, 200) - np.uint8(1)), lambda x: real(byte(x, 200)) - 1, S),
    ("minus a byte", lambda x: real(-byte(x, 200)), lambda x: -real(byte(x, 200)), S),
    ("twice a byte", lambda x: real(byte(x, 128) * np.uint8(2)), lambda x: real(byte(x, 128)) * 2, S),
    ("twice a byte, shorter", lambda x: real(bits(x) * np.int8(127) * np.int8(2)), lambda x: real(x > 0) * 254, S),
    ("100 as a short integer", lambda x: real(bits(x) * np.int8(100) + np.int8(100)), lambda x: real(x > 0) * 100, S),
    ("a sum of bytes", lambda x: real(lax.reduce_sum(byte(x, 64), (0,))), lambda x: jnp.sum(real(byte(x, 64))), V),
    ("a sum of large ones", lambda x: real(jnp.sum(whole(x))), lambda x: jnp.sum(real(whole(x))), V),
    ("a prefix sum", lambda x: real(lax.cumsum(byte(x, 64))), lambda x: jnp.cumsum(real(byte(x, 64))), V),
    ("a prefix product", lambda x: real(lax.cumprod(byte(x, 4))), lambda x: jnp.cumprod(real(byte(x, 4))), V),
    ("a product", lambda x: real(lax.reduce_prod(byte(x, 4), (0,))), lambda x: jnp.prod(real(byte(x, 4))), V),
    (
        "a dot product of bytes",
        lambda x: real(jnp.dot(byte(x, 8), byte(x, 8))),
        lambda x: jnp.dot(real(byte(x, 8)), real(byte(x, 8)), precision="highest"),
        V,
    ),
    (
        "a convolution of bytes",
        lambda x: real(lax.conv(byte(x, 8)[None, None], byte(x, 8)[None, None], (1,), "VALID")),
        lambda x: lax.conv(real(byte(x, 8))[None, None], real(byte(x, 8))[None, None], (1,), "VALID"),
        V,
    ),
    (
        "a pooled sum of bytes",
        lambda x: real(lax.reduce_window(byte(x, 128), np.uint8(0), lax.add, (2,), (1,), "VALID")),
        lambda x: lax.reduce_window(real(byte(x, 128)), np.float32(0), lax.add, (2,), (1,), "VALID"),
        V,
    ),
    (
        "a scattered sum of bytes",
        lambda x: real(byte(x, 128).at[np.array([0, 0], np.int32)].add(byte(x[:2], 64))),
        lambda x: real(byte(x, 128)).at[np.array([0, 0], np.int32)].add(real(byte(x[:2], 64))),
        V,
    ),
    ("a place of large ones", lambda x: real(jnp.argmax(x) * 2**30), lambda x: real(jnp.argmax(x)) * 2.0**30, V),
    ("a sign", lambda x: real(jnp.sign(whole(x)) * 2**30 * 2), lambda x: jnp.sign(real(whole(x))) * 2.0**31, S),
    (
        "a sum in a loop",
        lambda x: real(lax.fori_loop(0, 4, lambda i, n: n * 200, digit(x, 9))),
        lambda x: real(digit(x, 9)) * 200.0**4,
        S,
    ),
    (
        "a choice",
        lambda x: real(jnp.where(x > 0, whole(x), 0) * 2),
        lambda x: jnp.where(x > 0, real(whole(x)), np.float32(0)) * 2,
        S,
    ),
]
"""(name, a function that wraps at some input, the function of floats that it would be, *specs)."""

FITS = [
    ("a square", lambda x: squared(digit(x)), lambda x: real(digit(x)) ** 2, S),
    ("a square of a power", lambda x: real(digit(x) ** 2), lambda x: real(digit(x)) ** 2, S),
    ("the largest square", lambda x: squared(digit(x, 46340)), lambda x: real(digit(x, 46340)) ** 2, S),
    ("a square of a short integer", lambda x: squared(digit(x, 11, np.int8)), lambda x: real(digit(x, 11)) ** 2, S),
    ("one more", lambda x: real(digit(x) + 1), lambda x: real(digit(x)) + 1, S),
    ("negation", lambda x: real(-digit(x)), lambda x: -real(digit(x)), S),
    ("magnitude", lambda x: real(jnp.abs(digit(x))), lambda x: jnp.abs(real(digit(x))), S),
    ("a byte plus 55", lambda x: real(byte(x, 200) + np.uint8(55)), lambda x: real(byte(x, 200)) + 55, S),
    ("twice a byte", lambda x: real(byte(x, 127) * np.uint8(2)), lambda x: real(byte(x, 127)) * 2, S),
    ("100 as a short integer", lambda x: real(bits(x) * np.int8(100)), lambda x: real(x > 0) * 100, S),
    ("a byte from 200", lambda x: real(np.uint8(200) - byte(x, 200)), lambda x: 200 - real(byte(x, 200)), S),
    ("a sum of bytes", lambda x: real(lax.reduce_sum(byte(x, 63), (0,))), lambda x: jnp.sum(real(byte(x, 63))), V),
    ("a prefix sum", lambda x: real(lax.cumsum(byte(x, 63))), lambda x: jnp.cumsum(real(byte(x, 63))), V),
    ("a prefix product", lambda x: real(lax.cumprod(byte(x, 3))), lambda x: jnp.cumprod(real(byte(x, 3))), V),
    ("a product", lambda x: real(lax.reduce_prod(byte(x, 3), (0,))), lambda x: jnp.prod(real(byte(x, 3))), V),
    (
        "a dot product of bytes",
        lambda x: real(jnp.dot(byte(x, 7), byte(x, 7))),
        lambda x: jnp.dot(real(byte(x, 7)), real(byte(x, 7)), precision="highest"),
        V,
    ),
    (
        "a wide dot product of bytes",
        lambda x: real(jnp.dot(byte(x, 255), byte(x, 255), preferred_element_type=np.int32)),
        lambda x: jnp.dot(real(byte(x, 255)), real(byte(x, 255)), precision="highest"),
        V,
    ),
    (
        "a convolution of bytes",
        lambda x: real(lax.conv(byte(x, 7)[None, None], byte(x, 7)[None, None], (1,), "VALID")),
        lambda x: lax.conv(real(byte(x, 7))[None, None], real(byte(x, 7))[None, None], (1,), "VALID"),
        V,
    ),
    (
        "a scattered sum of bytes",
        lambda x: real(byte(x, 127).at[np.array([0, 0], np.int32)].add(byte(x[:2], 64))),
        lambda x: real(byte(x, 127)).at[np.array([0, 0], np.int32)].add(real(byte(x[:2], 64))),
        V,
    ),
    ("a place", lambda x: real(jnp.argmax(x) * 2**29), lambda x: real(jnp.argmax(x)) * 2.0**29, V),
    ("a number of truths", lambda x: real(jnp.sum(x > 0)), lambda x: jnp.sum(real(x > 0)), V),
    ("an average of truths", lambda x: jnp.mean(x > 0, dtype=np.float32), lambda x: jnp.mean(real(x > 0)), V),
    ("a number of equal places", lambda x: real(jnp.sum(jnp.argmax(x, 1))), lambda x: real(jnp.argmax(x, 1)).sum(), M),
    (
        "a loop",
        lambda x: real(lax.fori_loop(0, 4, lambda i, n: n * 100, digit(x, 9))),
        lambda x: real(digit(x, 9)) * 100.0**4,
        S,
    ),
    (
        "a narrow cast that fits",
        lambda x: real(whole(digit(x, 100), np.int8)),
        lambda x: real(digit(x, 100)),
        S,
    ),
    ("a shift is itself", lambda x: real(lax.shift_left(whole(x), 1)), lambda x: real(lax.shift_left(whole(x), 1)), S),
    (
        "a cast that wraps is itself",
        lambda x: real(whole(whole(x), np.int8)),
        lambda x: real(whole(whole(x), np.int8)),
        S,
    ),
    ("truncation is odd", lambda x: real(digit(x, 9)), lambda x: -real(-digit(x, 9)), S),
    (
        "truncation of an odd function",
        lambda x: real(whole(3 * jnp.sin(x))),
        lambda x: -real(whole(-3 * jnp.sin(x))),
        S,
    ),
    (
        "a tanh as a byte",
        lambda x: real(whole(jnp.tanh(x) * 127, np.int8)),
        lambda x: real(whole(jnp.tanh(x) * 127)),
        S,
    ),
]
"""(name, left, right, *specs): equal at every input."""

DIFFERENT = [
    ("a short cast is not odd", lambda x: real(whole(x, np.int8)), lambda x: -real(whole(-x, np.int8)), S),
    ("a wide cast is not odd", lambda x: real(whole(x)), lambda x: -real(whole(-x)), S),
    (
        "a cast just too wide to be odd",
        lambda x: -real(whole(-digit(x, 128), np.int8)),
        lambda x: real(digit(x, 128)),
        S,
    ),
    ("casts of two widths", lambda x: real(whole(x, np.int8)), lambda x: real(whole(x, np.int16)), S),
    ("casts with and without a sign", lambda x: real(whole(x, np.int8)), lambda x: real(whole(x, np.uint8)), S),
    ("a cast that wraps", lambda x: real(whole(whole(x), np.int8)), lambda x: real(whole(x, np.int8)), S),
    ("a cast is not the number", lambda x: real(whole(x)), lambda x: jnp.trunc(x), S),
    ("quotients of integers", lambda x: real(lax.div(digit(x), np.int32(2))), lambda x: real(digit(x)) / 2, S),
    ("remainders by zero", lambda x: real(lax.rem(digit(x), digit(x))), lambda x: 0 * x, S),
    ("shifts by too much", lambda x: real(lax.shift_left(digit(x), digit(x))), lambda x: 0 * x, S),
    (
        "bits of two widths",
        lambda x: real(lax.clz(byte(x, 9))),
        lambda x: real(lax.clz(whole(byte(x, 9), np.int32))),
        S,
    ),
    ("bits are not the number", lambda x: real(lax.population_count(byte(x, 9))), lambda x: real(byte(x, 9)), S),
    ("shifts of two kinds", lambda x: real(whole(x) >> 1), lambda x: real(lax.shift_right_logical(whole(x), 1)), S),
]
"""(name, left, right, *specs): different at some input."""


def reason(certificate):
    """What stood in the way."""
    return " ".join(evidence.finding for evidence in certificate.evidence)


@pytest.mark.parametrize("row", WRAPS, ids=lambda row: row[0])
def test_what_may_wrap_is_refused(row):
    """Neither certified nor a contradiction between two methods, in whatever number system."""
    _, left, right, *specs = row
    certificate = certify(left, right, *specs)
    assert certificate.verdict is Verdict.UNKNOWN
    assert "may wrap around: its integers lie in" in reason(certificate)
    closed = trace(left, *specs)
    for arithmetic in (Doubles(), Balls()):
        arguments = [arithmetic.number(np.zeros(spec.shape)) for spec in specs]
        with pytest.raises(UnsupportedError, match=r"at test_integers.py:\d+ may wrap around"):
            interpret(closed, arithmetic, arguments)


@pytest.mark.parametrize("row", FITS, ids=lambda row: row[0])
def test_what_fits_is_certified(row):
    _, left, right, *specs = row
    assert certify(left, right, *specs).passes


@pytest.mark.parametrize("row", DIFFERENT, ids=lambda row: row[0])
def test_other_functions_of_integers_are_never_certified(row):
    _, left, right, *specs = row
    assert not certify(left, right, *specs).passes


# --- bounds that floats do not hold -----------------------------------------------------------------------------------

small = lambda x: jnp.clip(x, np.float32(0), np.float32(1e-20))
fourth = lambda x: small(x) * small(x) * (small(x) * small(x))
twentieth = lambda x: fourth(x) * fourth(x) * (fourth(x) * fourth(x)) * fourth(x)
one, seven = np.float32(1), np.float32(7)
choose = lambda condition, x: jnp.where(condition, x, seven)
BEYOND_FLOATS = [
    ("a difference", lambda x: choose(one - small(x) >= one, x), lambda x: choose(one + small(x) >= one, x)),
    ("a sum", lambda x: choose(one + small(x) <= one, x), lambda x: choose(one - small(x) <= one, x)),
    ("a product", lambda x: choose((one - small(x)) * (one - small(x)) >= one, x),
     lambda x: choose((one + small(x)) * (one + small(x)) >= one, x)),
    ("a sum of squares", lambda x: choose(one + small(x) @ small(x) <= one, x),
     lambda x: choose(one + small(x) @ small(x) >= one, x)),
    ("a product below all floats", lambda x: choose(twentieth(x) <= 0, x),
     lambda x: choose(twentieth(x) >= 0, x)),
]  # fmt: skip
"""(name, a decision that is taken otherwise where a number is below the rounding of float64, one that never is)."""


@pytest.mark.parametrize("row", BEYOND_FLOATS, ids=lambda row: row[0])
def test_bounds_are_those_of_real_numbers(row):
    _, different, equal = row
    assert not certify(different, lambda x: one * x, V).passes
    assert certify(equal, lambda x: one * x, V).passes


# --- constants --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("constant", [2**53 + 1, 2**62 + 1, -(2**61) - 1, 2**60 + 2**5 + 1])
def test_constants_of_64_bits_are_exact(constant):
    """The whole number between a constant and the float next to it is seen."""
    rounded = int(float(constant))
    bit = lambda x: whole(x > 0, np.int64)
    gap = lambda x: (bit(x) * np.int64(constant) - bit(x) * np.int64(rounded)).astype(np.float64)
    with jax.enable_x64(True):
        assert certify(gap, lambda x: (x > 0).astype(np.float64) * (constant - rounded), D).verdict is Verdict.CERTIFIED
        assert not certify(gap, lambda x: 0 * x, D).passes


@pytest.mark.parametrize("dtype", [np.int8, np.int16, np.int32, np.int64, np.uint8, np.uint16, np.uint32, np.uint64])
def test_extremes_of_every_integer_dtype_are_exact_numbers(dtype):
    extremes = np.array([np.iinfo(dtype).min, np.iinfo(dtype).max], dtype)
    assert [int(ball.unique_fmpz()) for ball in Balls().number(extremes)] == extremes.tolist()
    assert of_array(extremes) == limits(np.dtype(dtype)) == Range(*extremes.tolist())


# --- booleans ---------------------------------------------------------------------------------------------------------

above = lambda x: x > 4
both = lambda a, b: above(a) & above(b)
MASK = np.array([True, False, True, True])
LOGIC = [
    ("dot", lambda a, b: jnp.dot(above(a), above(b)), lambda a, b: jnp.any(both(a, b)), V, V),
    ("dot with a constant", lambda a, b: above(a) @ MASK, lambda a, b: jnp.any(above(a)[np.flatnonzero(MASK)]), V, V),
    ("matmul", lambda a, b: above(a) @ above(b).T, lambda a, b: (above(a)[:, None] & above(b)[None]).any(-1), M, M),
    ("tensordot", lambda a, b: jnp.tensordot(above(a), above(b), 2), lambda a, b: jnp.any(both(a, b)), M, M),
    ("einsum", lambda a, b: jnp.einsum("ij,ij->i", above(a), above(b)), lambda a, b: jnp.any(both(a, b), axis=1), M, M),
    (
        "convolution",
        lambda a, b: lax.conv(above(a)[None, None], above(b)[None, None], (1,), "VALID"),
        lambda a, b: jnp.any(both(a, b))[None, None, None],
        V,
        V,
    ),
    ("sum of booleans", lambda a, b: above(a) + above(b), lambda a, b: above(a) | above(b), V, V),
    ("product of booleans", lambda a, b: above(a) * above(b), both, V, V),
    ("least of booleans", lambda a, b: jnp.minimum(above(a), above(b)), both, V, V),
    ("largest of booleans", lambda a, b: jnp.maximum(above(a), above(b)), lambda a, b: above(a) | above(b), V, V),
    ("all as a minimum", lambda a, b: lax.reduce_min(above(a), (0,)), lambda a, b: jnp.all(above(a)), V, V),
]  # fmt: skip
"""(name, left, right, *specs): equal functions with boolean results."""


@pytest.mark.parametrize("row", LOGIC, ids=lambda row: row[0])
def test_booleans_are_logic(row):
    """The same as the logical expression, and not its opposite."""
    _, left, right, *specs = row
    certificate = certify(lambda a, b: real(left(a, b)), lambda a, b: real(right(a, b)), *specs)
    assert certificate.passes
    assert not certify(lambda a, b: real(left(a, b)), lambda a, b: real(~right(a, b)), *specs).passes


COUNTED = [
    ("dot", lambda a, b: jnp.dot(above(a), above(b), preferred_element_type=np.int32)),
    ("dot in floats", lambda a, b: jnp.dot(above(a), above(b), preferred_element_type=np.float32)),
    ("sum", lambda a, b: jnp.sum(both(a, b))),
    ("sum of integers", lambda a, b: jnp.sum(whole(both(a, b)))),
    ("prefix sum", lambda a, b: jnp.cumsum(both(a, b))[-1]),
    ("dot of integers", lambda a, b: jnp.dot(whole(above(a)), whole(above(b)))),
]
"""(name, a number of truths)."""


@pytest.mark.parametrize("row", COUNTED, ids=lambda row: row[0])
def test_truths_are_counted_where_jax_counts_them(row):
    _, count = row
    left = lambda a, b: real(count(a, b))
    right = lambda a, b: jnp.sum(real(above(a)) * real(above(b)))
    assert certify(left, right, V, V).passes
    assert not certify(left, lambda a, b: real(jnp.dot(above(a), above(b))), V, V).passes


# --- ranges hold what JAX computes ------------------------------------------------------------------------------------

SPECIAL = np.array(
    [0, -0.0, 0.5, -0.99, 1, -1, 2.5, -2.5, 7, -8, 11, 12, 64, 126.9, 127, 128, -128, -129, 200, 255, 256, -300,
     46340.5, 65535, 65536, 2**31, -(2**31), 2**31 - 128, 2.0**32, 2.0**63, -(2.0**63), 2.0**64, 3e9, -3e9, 1e30, -1e30,
     np.inf, -np.inf, np.nan],
    np.float32,
)  # fmt: skip
DTYPES = [np.int8, np.int16, np.int32, np.uint8, np.uint16, np.uint32]
UNARY = [
    lax.neg,
    lax.abs,
    lax.sign,
    lax.square,
    lax.bitwise_not,
    lax.population_count,
    lax.clz,
    lax.cumsum,
    lax.cumprod,
]
BINARY = [lax.add, lax.sub, lax.mul, lax.max, lax.min, lax.div, lax.rem, lax.bitwise_and, lax.bitwise_or,
          lax.bitwise_xor, lax.shift_left, lax.shift_right_logical, lax.shift_right_arithmetic]  # fmt: skip
BOUNDS = [1, 3, 7, 11, 100, 127, 181, 255, 30000]
WHOLE = {
    "neg": lambda x: -x,
    "abs": abs,
    "square": lambda x: x * x,
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "max": np.maximum,
    "min": np.minimum,
    "cumsum": np.cumsum,
    "cumprod": np.cumprod,
    "reduce_sum": np.sum,
    "dot_general": np.dot,
}
"""What the prime fields take these operations for."""


def program(random):
    """A random function of a vector through integers of one dtype."""
    dtype = DTYPES[random.integers(len(DTYPES))]
    low, high = sorted(random.choice([-1, 0, 1], 2)) * random.choice(BOUNDS, 2)
    clipped, kinds = random.random() < 0.8, random.integers(0, 5, 4)
    unary = [UNARY[i] for i in random.integers(0, len(UNARY), 4)]
    binary = [BINARY[i] for i in random.integers(0, len(BINARY), 4)]
    signed = np.issubdtype(dtype, np.signedinteger)

    def function(x):
        value = whole(jnp.clip(x, np.float32(min(low, high)), np.float32(max(low, high))) if clipped else x, dtype)
        values = [value, whole(x > 0, dtype)]
        for kind, first, second in zip(kinds, unary, binary, strict=True):
            operand = values[-1]
            match kind:
                case 0 if signed or first is not lax.abs:
                    values.append(first(operand))
                case 1 | 2:
                    values.append(second(operand, values[0]))
                case 3:
                    values.append(jnp.where(operand > values[0], operand, values[1]))
                case _:
                    values.append(jnp.broadcast_to(jnp.dot(operand, values[1]), operand.shape))
        return values[-1]

    return function


def steps(closed, x):
    """(equation, its operands, its results) on the device, and the ranges of the results, until one is refused."""
    values = {closed.jaxpr.invars[0]: x}
    bounds = {closed.jaxpr.invars[0]: Range(-np.inf, np.inf)}
    for equation in inlined(closed):
        read = lambda a: np.asarray(a.val, dtype_of(a)) if hasattr(a, "val") else values[a]
        operands = [read(a) for a in equation.invars]
        given = [of_array(read(a)) if hasattr(a, "val") else bounds[a] for a in equation.invars]
        try:
            found = ranges(equation, given)
        except UnsupportedError:
            return
        results = equation.primitive.bind(*operands, **equation.params)
        results = results if equation.primitive.multiple_results else [results]
        for variable, result, bound in zip(equation.outvars, results, found, strict=True):
            values[variable], bounds[variable] = np.asarray(result), bound
        yield equation, operands, [np.asarray(result) for result in results], found


def inlined(closed):
    """The equations of a program without calls; `substituted` variables make one scope of them."""
    (equations, _) = _inlined(closed.jaxpr, {})
    return equations


def _inlined(jaxpr, renamed):
    equations = []
    for equation in jaxpr.eqns:
        atoms = [a if hasattr(a, "val") else renamed.get(a, a) for a in equation.invars]
        if equation.primitive.name in ("jit", "pjit"):
            inner = equation.params["jaxpr"].jaxpr
            called, results = _inlined(inner, dict(zip(inner.invars, atoms, strict=True)))
            equations += called
            renamed.update(zip(equation.outvars, results, strict=True))
        else:
            equations.append(equation.replace(invars=atoms))
    return equations, [a if hasattr(a, "val") else renamed.get(a, a) for a in jaxpr.outvars]


@pytest.mark.parametrize("seed", one_in(6, range(20)))
def test_ranges_hold_on_the_device(seed):
    """At special inputs every result lies in its range, and operations on whole numbers are what JAX computes."""
    random = np.random.default_rng(seed)
    counts = {"whole": 0, "steps": 0}
    for _ in range(12):
        closed = trace(program(random), np.zeros(4, np.float32))
        for _ in range(3):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", RuntimeWarning)  # NumPy's own casts of NaN and infinity
                for equation, operands, results, found in steps(closed, random.choice(SPECIAL, 4)):
                    _check(equation, operands, results, found, counts)
    assert counts["whole"] > 20 and counts["steps"] > 100, counts


def _check(equation, operands, results, found, counts):
    for variable, result, bound in zip(equation.outvars, results, found, strict=True):
        counts["steps"] += 1
        if is_number(variable):
            known = result[~np.isnan(result)].astype(float)
            assert known.size == 0 or bound.low <= known.min() <= known.max() <= bound.high, equation
            continue
        assert bound.low <= int(result.min()) <= int(result.max()) <= bound.high, (equation, operands, result, bound)
        name = equation.primitive.name
        if name in WHOLE and not any(is_number(a) for a in equation.invars) and result.dtype != np.bool_:
            counts["whole"] += 1
            expected = WHOLE[name](*(x.astype(object) for x in operands))
            assert np.all(np.asarray(expected) == result.astype(object)), (equation, operands)


def test_a_range_that_is_too_narrow_is_seen():
    """The check above fails where a bound is wrong by one."""
    closed = trace(lambda x: whole(x, np.int8), np.zeros(4, np.float32))
    ((equation, operands, results, _),) = steps(closed, np.full(4, 200, np.float32))
    with pytest.raises(AssertionError):
        _check(equation, operands, results, [Range(-128, 126)], {"whole": 0, "steps": 0})
