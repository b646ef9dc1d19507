"""Loops to a symbolic size: what is read at the counter is a row, and carries are named by what makes them."""

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.extend.core import jaxpr_as_fun

import uat_jax as uj
from uat_jax.decide.loops.counted import with_scans

N, M = jax.export.symbolic_shape("n, m")
HALF, ONE, ZERO, TWO = (np.float32(x) for x in (0.5, 1, 0, 2))
START = np.int32(0)


def f32(*shape):
    return jax.ShapeDtypeStruct(shape, jnp.float32)


VECTOR, MATRIX = (f32(N),), (f32(N, M),)


def looped(step, start=lambda x: ZERO, first=0, last=lambda n: n):
    """fori_loop of c = step(c, x[i], i)."""
    return lambda x: lax.fori_loop(first, last(x.shape[0]), lambda i, c: step(c, x[i], i), start(x))


def while_counted(step, goes_on=lambda i, n: i < n, add=1):
    """The same by while_loop."""

    def function(x):
        body = lambda s: (s[0] + add, step(s[1], x[s[0]], s[0]))
        return lax.while_loop(lambda s: goes_on(s[0], x.shape[0]), body, (np.int32(0), ZERO))[1]

    return function


def scanned(step, start=lambda x: ZERO, **options):
    return lambda x: lax.scan(lambda c, row: (step(c, row, None), None), start(x), x, **options)[0]


def half(c, row, i):
    return c * HALF + row


def half_again(c, row, i):
    return row + c / TWO


def from_the_end(x):
    return lax.fori_loop(0, x.shape[0], lambda i, c: half(c, x[x.shape[0] - 1 - i], i), ZERO)


def squashed(c, row, i):
    return jnp.tanh(c) + row


def rows_of_zeros(x):
    return jnp.zeros(x.shape[1:], jnp.float32)


def weighted(c, row, i):
    return c + row * i.astype(jnp.float32)


def weights(x):
    return (x * jnp.arange(x.shape[0]).astype(jnp.float32)).sum()


def two_carries(first, second):
    """a, b = first(a, b, row), second(a, b, row); the last a."""

    def function(x):
        step = lambda i, s: (first(*s, x[i]), second(*s, x[i]))
        return lax.fori_loop(0, x.shape[0], step, (ZERO, ONE))[0]

    return function


def nested(x):
    """Σ_t of a loop over row t."""
    inner = lambda row: lax.scan(lambda c, r: (jnp.tanh(c) + r, None), ZERO, row)[0]
    return lax.scan(lambda c, t: (c + inner(t), None), ZERO, x)[0]


def guarded_ratio(x):
    """0/0 in the carry, caught by a comparison: all of it is undefined for the device."""
    step = lambda c, row: (c / c, None)
    last = lax.scan(step, ZERO, x)[0]
    return jnp.where(last > 0, x.sum(), x.sum() * TWO)


# name: (left, right, inputs)
EQUAL = {
    "two writings": (looped(half), looped(half_again), VECTOR),
    "a while": (looped(half), while_counted(half_again), VECTOR),
    "a while up to n - 1": (looped(half), while_counted(half, lambda i, n: i <= n - 1), VECTOR),
    "a while the other way around": (
        looped(half),
        while_counted(half, lambda i, n: lax.gt(jnp.asarray(n, i.dtype), i)),
        VECTOR,
    ),
    "a scan": (looped(half), scanned(half_again), VECTOR),
    "a while and a scan": (while_counted(half), scanned(half_again), VECTOR),
    "from the end": (from_the_end, scanned(half, reverse=True), VECTOR),
    "from the second": (
        looped(half, lambda x: x[0], first=1),
        lambda x: scanned(half_again, lambda _: x[0])(x[1:]),
        VECTOR,
    ),
    "without the last": (
        looped(half, lambda x: x[0], last=lambda n: n - 1),
        lambda x: scanned(half_again, lambda _: x[0])(x[:-1]),
        VECTOR,
    ),
    "a sum": (looped(lambda c, row, i: c + row), jnp.sum, VECTOR),
    "a weighted sum": (looped(weighted), weights, VECTOR),
    "a sum of rows": (looped(lambda c, row, i: c + row, rows_of_zeros), lambda x: x.sum(0), MATRIX),
    "rows of a symbolic length": (looped(squashed, rows_of_zeros), scanned(squashed, rows_of_zeros), MATRIX),
    "an array of a symbolic length": (
        lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: jnp.tanh(c + HALF), x),
        lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: jnp.tanh(HALF + c), x),
        VECTOR,
    ),
    "two carries": (
        two_carries(lambda a, b, r: a + b * r, lambda a, b, r: jnp.tanh(b)),
        two_carries(lambda a, b, r: r * b + a, lambda a, b, r: jnp.tanh(b)),
        VECTOR,
    ),
}

# name: (left, right, inputs): at some size they differ
DIFFERENT = {
    "another step": (looped(half), looped(lambda c, row, i: c * HALF - row), VECTOR),
    "one step less": (looped(half), while_counted(half, lambda i, n: i < n - 1), VECTOR),
    "one step more": (looped(half), while_counted(half, lambda i, n: i <= n), VECTOR),
    "every second": (looped(half), while_counted(half, add=2), VECTOR),
    "the other direction": (looped(half), from_the_end, VECTOR),
    "the next row": (
        looped(half),
        lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: half(c, x[i + 1], i), ZERO),
        VECTOR,
    ),
    "the row before": (
        looped(half),
        lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: half(c, x[i - 1], i), ZERO),
        VECTOR,
    ),
    "weights from 1": (
        looped(lambda c, row, i: c + row * (i + 1).astype(jnp.float32)),
        weights,
        VECTOR,
    ),
    "from the second": (looped(half, first=1), scanned(half), VECTOR),
    "another first carry": (looped(half, lambda x: ONE), looped(half), VECTOR),
    "rows of a symbolic length": (
        looped(squashed, rows_of_zeros),
        scanned(lambda c, row, i: jnp.tanh(c) - row, rows_of_zeros),
        MATRIX,
    ),
    "one step less of an array": (
        lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: jnp.tanh(c + HALF), x),
        lambda x: lax.fori_loop(0, x.shape[0] - 1, lambda i, c: jnp.tanh(c + HALF), x),
        VECTOR,
    ),
    "another second carry": (
        two_carries(lambda a, b, r: a + b * r, lambda a, b, r: jnp.tanh(b)),
        two_carries(lambda a, b, r: a + b * r, lambda a, b, r: jnp.tanh(b + r)),
        VECTOR,
    ),
    "the first row again and again": (
        nested,
        lambda x: scanned(squashed)(x[0]) * jnp.asarray(x.shape[0]).astype(jnp.float32),
        MATRIX,
    ),
    "a carry of the outer loop": (
        lambda x: scanned(lambda c, row, i: c + scanned(squashed, lambda _: c)(row))(x),
        lambda x: scanned(lambda c, row, i: c + scanned(squashed)(row))(x),
        MATRIX,
    ),
    "undefined carries that decide": (guarded_ratio, lambda x: x.sum(), VECTOR),
    "a counter that decides": (
        looped(lambda c, row, i: jnp.where(i < 3, half(c, row, i), c)),
        looped(half),
        VECTOR,
    ),
}


def where(says, first: Any = START):
    """c = half(c, row) at the steps whose counter says so, by a scan that counts."""

    def function(x):
        step = lambda s, row: ((s[0] + 1, jnp.where(says(s[0]), half(s[1], row, None), s[1])), None)
        return lax.scan(step, (first, ZERO), x)[0][1]

    return function


def up_to(last, first: Any = START):
    """c = half(c, x[i − first]) from a first number to a last one, which is computed from the size."""

    def function(x):
        goes_on = lambda s: s[0] < last(jnp.asarray(x.shape[0]))
        return lax.while_loop(goes_on, lambda s: (s[0] + 1, half(s[1], x[s[0] - first], None)), (first, ZERO))[1]

    return function


FAR = np.int32(2**31 - 5)
LOW = np.int32(3 - 2**31)

# Counters that wrap, and such as do not.  name: (another function than looped(half), the same function)
WRAPPING = {
    "a far counter": (where(lambda i: i > 0, FAR), where(lambda i: i >= 0)),
    "a sum": (where(lambda i: i + FAR > 0), where(lambda i: i + i - i >= 0)),
    "a product": (where(lambda i: (i + 1) * np.int32(2**29) > 0), where(lambda i: i + 1 > 0)),
    "what falls": (where(lambda i: LOW - i < 0), where(lambda i: -1 - i < 0)),
    "a cast to 8 bits": (where(lambda i: i.astype(jnp.int8) >= 0), where(lambda i: i.astype(jnp.int32) >= 0)),
    "a cast to 16 bits": (where(lambda i: i.astype(jnp.int16) + np.int16(2**15 - 5) > 0), where(lambda i: i - 5 < i)),
    "a cast to uint8": (
        where(lambda i: i.astype(jnp.uint8).astype(jnp.int32) >= i),
        where(lambda i: i >= i),
    ),
    "a counter of 8 bits": (where(lambda i: i > 0, np.int8(123)), where(lambda i: i >= -1, np.int32(-1))),
    "a far end": (up_to(lambda n: n + FAR, FAR), up_to(lambda n: n + 0)),
}


def two_loops(first=lambda i: 0, last=lambda i, n: n, row=lambda x, i, j: x[j]):
    """c = tanh(c) + row(x, i, j) for all i, and for all j from a first to a last."""

    def function(x):
        n = x.shape[0]
        inner = lambda i, c: lax.fori_loop(first(i), last(i, n), lambda j, d: jnp.tanh(d) + row(x, i, j), c)
        return lax.fori_loop(0, n, inner, ZERO)

    return function


# Loops in loops that use the outer counter, and such as do not.  name: (not two_loops(), the same function)
NESTED = {
    "what is read": (two_loops(row=lambda x, i, j: x[i]), two_loops(row=lambda x, i, j: x[j + j - j])),
    "where it begins": (two_loops(first=lambda i: i), two_loops(first=lambda i: i - i)),
    "where it ends": (two_loops(last=lambda i, n: i), two_loops(last=lambda i, n: i - i + n)),
    "a sum of counters": (
        two_loops(row=lambda x, i, j: x[x.shape[0] - 1 - i]),
        two_loops(row=lambda x, i, j: x[x.shape[0] - 1 - (x.shape[0] - 1 - j)]),
    ),
    "a weight": (
        two_loops(row=lambda x, i, j: x[j] * (ONE + (i - j).astype(jnp.float32))),
        two_loops(row=lambda x, i, j: x[(j + 1) - 1]),
    ),
    "a comparison": (
        two_loops(row=lambda x, i, j: jnp.where(i <= j, x[j], -x[j])),
        two_loops(row=lambda x, i, j: x[jnp.where(j <= j, j, 0)]),
    ),
}

# Arrays of one entry that are counters or sizes.  name: function
OF_ONE_ENTRY = {
    "a row at an array": lambda x: lax.fori_loop(0, x.shape[0], lambda i, c: c + x[i[None]], ZERO.reshape(1)),
    "a row at a matrix": lambda x: lax.fori_loop(
        0, x.shape[0], lambda i, c: c + x[i[None, None]], np.zeros((1, 1), np.float32)
    ),
    "a selection": looped(lambda c, row, i: c + jnp.where(np.array([True]), i[None], 7)[0].astype(jnp.float32) * row),
    "a float": looped(lambda c, row, i: c + (i[None] - 1).astype(jnp.float32)[0] * row),
    "a comparison": looped(lambda c, row, i: c + jnp.where(i[None, None] >= 0, row, ZERO)[0, 0]),
    "a size": lambda x: looped(half)(x) + jnp.asarray(x.shape[0])[None].astype(jnp.float32)[0],
    "a table of sizes": lambda x: (
        looped(half)(x) * jnp.stack([jnp.asarray(x.shape[0]), START]).sum().astype(jnp.float32)
    ),
}


@pytest.mark.parametrize("name", EQUAL)
def test_equal_at_all_sizes(name):
    found = uj.certify(*EQUAL[name][:2], *EQUAL[name][2], budget=60.0)
    assert found.passes and found.evidence[0].subject == "all sizes"


@pytest.mark.parametrize("name", one_in(4, DIFFERENT))
def test_different_at_some_size(name):
    assert not uj.certify(*DIFFERENT[name][:2], *DIFFERENT[name][2], budget=10.0).passes


@pytest.mark.campaign
@pytest.mark.parametrize("name", DIFFERENT)
def test_every_wrong_twin(name):
    test_different_at_some_size(name)


def test_a_loop_that_counts_is_a_scan_over_rows():
    """No whole number is left in it, and what cannot be written so stays as it is."""
    written = str(with_scans(jax.make_jaxpr(looped(half))(*VECTOR)))
    assert "scan" in written and "while" not in written and "i32" not in written
    for name in ("one step more", "every second", "the next row", "a counter that decides"):
        function = DIFFERENT[name][0 if name == "a counter that decides" else 1]
        assert "while" in str(with_scans(jax.make_jaxpr(function)(*VECTOR))), name


COUNTERS = {f"{name} wraps": (*row, looped(half)) for name, row in WRAPPING.items()}
COUNTERS |= {f"{name} is of the outer loop": (*row, two_loops()) for name, row in NESTED.items()}


@pytest.mark.parametrize("name", one_in(3, COUNTERS))
def test_counters_that_are_places(name):
    _, same, plain = COUNTERS[name]
    found = uj.certify(same, plain, *VECTOR, budget=60.0)
    assert found.passes and found.evidence[0].subject == "all sizes"


@pytest.mark.parametrize("name", one_in(5, COUNTERS))
def test_counters_that_are_none(name):
    other, _, plain = COUNTERS[name]
    assert not uj.certify(other, plain, *VECTOR, budget=10.0).passes


FUNCTIONS = {f"{name} {number}": f for name, row in COUNTERS.items() for number, f in enumerate(row[:2])} | OF_ONE_ENTRY


@pytest.mark.parametrize("name", one_in(4, FUNCTIONS))
def test_a_loop_written_as_a_scan_has_the_same_values(name):
    """At sizes that are numbers; and what is written with a symbolic size has the same types."""
    function = FUNCTIONS[name]
    for size in (1, 9):
        x = jnp.linspace(0.5, 1.5, size, dtype=jnp.float32)
        program = with_scans(jax.make_jaxpr(function)(x))
        with jax.enable_x64(True):
            np.testing.assert_array_equal(jaxpr_as_fun(program)(x)[0], function(x))
    before = jax.make_jaxpr(function)(*VECTOR)
    assert with_scans(before).out_avals == before.out_avals
