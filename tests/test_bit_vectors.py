"""Every rule over bit vectors gives what the device gives: at all values of small widths, at special ones of others."""

import itertools
import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import z3
from excerpt import one_in
from jax import lax
from jax.extend.core import jaxpr_as_fun

from uat_jax.decide.integers import all_of, held, numbers
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.interpreter import programs_within
from uat_jax.numbers.integers.bit_vectors import RULES, interpreted, letters, literal, signed

ALL = 600
"""Programs of at most so many inputs are compared at all of them; others at so many as a tenth that are drawn."""


def of(dtype, *shape):
    """The spec of an input."""
    return jax.ShapeDtypeStruct(shape, jnp.dtype(dtype))


def points(specs, seed=0):
    """All inputs, if they are few; else some special ones and some others, each as a flat list of integers."""
    ranges = [all_of(s.dtype) for s in specs for _ in range(math.prod(s.shape))]
    if math.prod(float(r.count) for r in ranges) <= ALL:
        return list(itertools.product(*(range(r.low, r.high + 1) for r in ranges)))
    random = np.random.default_rng(seed)
    drawn = [all_of(s.dtype).draw(random, ALL // 10, s.shape, s.dtype) for s in specs]
    flat = lambda k: [x for array in drawn for x in np.ravel(np.asarray(numbers(array[k]), object))]
    return [tuple(flat(k)) for k in range(ALL // 10)]


def compared(function, *specs):
    """The formulas of a function have the device's values; the primitives it is made of."""
    program = jax.make_jaxpr(function)(*specs)
    inputs = [letters(f"x{i}", s.shape, s.dtype) for i, s in enumerate(specs)]
    formulas = interpreted(program, inputs)
    device = jax.jit(jaxpr_as_fun(program))
    for point in points(specs):
        rest, arrays, given = iter(point), [], []
        for spec, letter in zip(specs, inputs, strict=True):
            entries = [next(rest) for _ in range(letter.size)]
            arrays.append(held(np.asarray(entries, object).reshape(spec.shape), spec.dtype))
            given += [(x, literal(n, spec.dtype)) for x, n in zip(letter.ravel(), entries, strict=True)]
        for formula, wanted in zip(formulas, map(np.asarray, device(*arrays)), strict=True):
            for place in np.ndindex(wanted.shape):
                found = z3.simplify(z3.substitute(formula[place], *given))
                value = z3.is_true(found) if z3.is_bool(found) else number(found, wanted.dtype)
                assert value == numbers(wanted[place]), f"{value} for {wanted[place]} at {point}, entry {place}"
    return {e.primitive.name for p in programs_within(program) for e in p.eqns}


def number(found, dtype):
    """A bit vector as a whole number."""
    return found.as_signed_long() if signed(dtype) else found.as_long()


SMALL = ("int4", "uint4")
BINARY = """add sub mul div rem bitwise_and bitwise_or bitwise_xor shift_left shift_right_arithmetic
shift_right_logical max min eq ne lt le gt ge""".split()
UNARY = "neg abs sign bitwise_not population_count clz square".split()
LOGICAL = "bitwise_and bitwise_or bitwise_xor eq ne lt le gt ge max min".split()
DTYPES = ("bool", "int4", "uint4", "int8", "uint8", "int16", "uint16", "int32", "uint32")
i8, u8, i4 = "int8", "uint8", "int4"


@pytest.mark.parametrize("name", one_in(4, BINARY))
def test_functions_of_two_integers(name):
    for dtype in (*SMALL, "int8", "int32", "uint32"):
        compared(getattr(lax, name), of(dtype), of(dtype))


@pytest.mark.parametrize("name", one_in(3, UNARY))
def test_functions_of_one_integer(name):
    for dtype in ("int8", "uint8", "int32"):  # of int4 devices disagree
        if name != "abs" or signed(dtype):
            compared(getattr(lax, name), of(dtype))


@pytest.mark.parametrize("name", one_in(3, LOGICAL))
def test_functions_of_two_truth_values(name):
    compared(getattr(lax, name), of(bool), of(bool))


@pytest.mark.parametrize("dtype", one_in(4, DTYPES))
def test_casts(dtype):
    for to in DTYPES:
        compared(lambda x, to=to: lax.convert_element_type(x, jnp.dtype(to)), of(dtype))


def switched(i, a, b):
    return lax.switch(i, [lambda a, b: a, lambda a, b: b, lambda a, b: a * b], a, b)


def rows(mode):
    return lambda x, i: jnp.take(x, i, axis=1, mode=mode)


PROGRAMS = {
    "sum": (lambda x: jnp.sum(x, dtype=i8), of(i8, 3)),
    "product": (lambda x: jnp.prod(x, axis=1, dtype=i8), of(i8, 2, 3)),
    "prefixes": (lambda x: jnp.cumsum(x, axis=1, dtype=i8), of(i8, 2, 3)),
    "reversed prefixes": (lambda x: lax.cumprod(x, reverse=True), of(i8, 3)),
    "largest so far": (lambda x: (lax.cummax(x), lax.cummin(x, reverse=True)), of(i8, 3)),
    "extremes": (lambda x: (jnp.max(x, axis=0), jnp.min(x)), of(u8, 2, 3)),
    "any and all": (lambda x: (jnp.any(x), jnp.all(x, axis=0)), of(bool, 3, 2)),
    "parity": (lambda x: lax.reduce(x, np.int8(0), lax.bitwise_xor, (0,)), of(i8, 3)),
    "matrices": (lambda x, y: x @ y, of(i8, 2, 3), of(i8, 3, 2)),
    "batches of matrices": (lambda x, y: jnp.einsum("bij,bkj->bik", x, y), of(i8, 2, 1, 3), of(i8, 2, 2, 3)),
    "wide product": (lambda x, y: jnp.dot(x, y, preferred_element_type=jnp.int32), of(i8, 2, 3), of(i8, 3)),
    "wide product without signs": (lambda x, y: jnp.dot(x, y, preferred_element_type=jnp.uint32), of(u8, 3), of(u8, 3)),
    "argmax": (jnp.argmax, of(i8, 3)),
    "argmin": (lambda x: jnp.argmin(x, axis=1), of(u8, 2, 3)),
    "sort": (jnp.sort, of(i8, 4)),
    "a place": (lambda x, i: x[i], of(i8, 4), of(i8)),
    "places": (lambda x, i: x[i], of(i8, 4), of(i4, 2)),
    "filled places": (rows("fill"), of(i8, 2, 3), of(i4, 2)),
    "places without signs": (rows("fill"), of(u8, 2, 3), of("uint4", 2)),
    "clipped places": (rows("clip"), of(i8, 2, 3), of(u8, 2)),
    "along an axis": (lambda x, i: jnp.take_along_axis(x, i, axis=1), of(i8, 2, 3), of(i4, 2, 1)),
    "two places": (lambda x, i: x[i[0], i[1:]], of(i8, 2, 3), of(i4, 3)),
    "a slice": (lambda x, i: lax.dynamic_slice(x, (i, i), (1, 2)), of(i8, 2, 3), of(i4)),
    "an update": (lambda x, i: lax.dynamic_update_slice(x, x[:1], (i,)), of(i8, 3), of(i4)),
    "clip": (jnp.clip, of(i4), of(i4), of(i4)),
    "where": (jnp.where, of(bool), of(i8), of(i8)),
    "choice of three": (lambda i, a, b: lax.select_n(i, a, b, a + b), of("int32"), of(i8), of(i8)),
    "a branch": (switched, of("int32"), of(i8), of(i8)),
    "a truth decides": (lambda p, a: lax.cond(p, lambda a: a + 1, lambda a: a * a, a), of(bool), of(i8)),
    "a counted loop": (lambda x: lax.fori_loop(0, 3, lambda k, c: c * x + k.astype(i8), x), of(i8)),
    "a scan": (lambda x: lax.scan(lambda c, y: (c * y, c + y), x[0], x), of(i8, 4)),
    "a scan backwards": (lambda x: lax.scan(lambda c, y: (c - y, c), x[0], x, reverse=True), of(i8, 3)),
    "a power": (lambda x: (x**3, x**0), of(i8)),
    "moved": (lambda x: jnp.concatenate([x, x[::-1]]).reshape(2, -1).T, of(i8, 3)),
    "padded": (lambda x: lax.pad(x, x[0], [(1, -1, 1)]), of(i8, 3)),
    "rolled": (lambda x: jnp.stack(jnp.split(jnp.tile(jnp.roll(x, 1), 2), 3)), of(i8, 3)),
    "bits": (lambda x: lax.bitcast_convert_type(x, jnp.uint8), of(i8)),
    "floor division": (lambda x, y: (x // y, x % y), of(i8), of(i8)),
    "quotient and remainder": (jnp.divmod, of(u8), of(u8)),
    "one hot": (lambda i: jax.nn.one_hot(i, 3, dtype=i8), of(i4, 2)),
    "places in order": (jnp.argsort, of(i8, 4)),
    "places in order without signs": (lambda x: jnp.argsort(x, axis=0), of(u8, 3, 2)),
    "sorted beside": (lambda x, y: lax.sort((x, y, x + y), num_keys=2), of(i4, 3), of(i4, 3)),
    "in descending order": (lambda x: jnp.sort(x, descending=True), of(u8, 3)),
    "the largest two": (lambda x: lax.top_k(x, 2), of(i8, 4)),
    "the largest without signs": (lambda x: lax.top_k(x, 2), of(u8, 2, 3)),
    "one entry replaced": (lambda x, i: x.at[i].set(5), of(i8, 3), of(i4)),
    "one entry replaced inside": (lambda x, i: x.at[i].set(5, mode="clip"), of(i8, 3), of(i4)),
    "a row replaced": (lambda x, i: x.at[i].set(x[0]), of(i8, 3, 2), of(i4)),
    "a window added": (
        lambda x, i: lax.scatter_add(x, i[None], x[:2] + 1, lax.ScatterDimensionNumbers((0,), (), (0,))),
        of(i8, 4),
        of(i4),
    ),
    "a window added inside": (
        lambda x, i: lax.scatter_add(x, i[None], x[:2], lax.ScatterDimensionNumbers((0,), (), (0,)), mode="clip"),
        of(i8, 4),
        of(i8),
    ),
    "counts": (lambda i: jnp.zeros(3, i8).at[i].add(1), of(i4, 2)),
    "counts that are dropped": (lambda i: jnp.bincount(i.astype(jnp.int32), length=3), of(u8, 2)),
    "entries of two places": (lambda i: jnp.zeros((2, 3), i8).at[i[0], i[1]].add(i.astype(i8)[0]), of(i4, 2)),
    "in batches": (lambda x, i: jax.vmap(lambda x, i: x.at[i].add(7))(x, i), of(i8, 2, 3), of(i4, 2)),
    "products at places": (lambda x, i: x.at[i].multiply(x[:2]), of(i8, 3), of(i4, 2)),
    "extremes at places": (lambda x, i: (x.at[i].max(x[:2]), x.at[i].min(x[1:])), of(i8, 3), of(i4, 2)),
    "places without signs that are written": (lambda x, i: x.at[i].add(1), of(i8, 3), of("uint4", 2)),
    "a mask from a length": (lambda x, n: jnp.where(jnp.arange(3, dtype=i4) < n, x, 0), of(i8, 3), of(i4)),
}


@pytest.mark.parametrize("name", one_in(5, PROGRAMS))
def test_programs(name):
    compared(*PROGRAMS[name])


def test_no_rule_is_without_a_comparison():
    made = {name.removeprefix("bitwise_") for name in (*BINARY, *UNARY, *LOGICAL)} | {"convert_element_type"}
    for function, *specs in PROGRAMS.values():
        made |= {e.primitive.name for p in programs_within(jax.make_jaxpr(function)(*specs)) for e in p.eqns}
    unlike = {"add_any", "expand_dims", "reduce_xor", "stack", "tile", "unstack", "split", "squeeze"}
    assert made >= RULES - unlike, RULES - unlike - made


def test_a_rule_that_is_wrong_is_seen():
    with pytest.raises(AssertionError, match="entry"):
        wrong = lambda x: jax.jit(lambda x: x + 1)(x)
        program = jax.make_jaxpr(wrong)(of(i4))
        formulas = interpreted(program, [letters("x", (), jnp.int4)])
        for n in range(-8, 8):
            found = z3.simplify(z3.substitute(formulas[0][()], (letters("x", (), jnp.int4)[()], literal(n, jnp.int4))))
            assert number(found, jnp.int4) == n + 1, f"at {n}, entry ()"  # 7 + 1 wraps


REFUSED = {
    "a loop that varies": (
        lambda x: lax.fori_loop(0, x, lambda k, c: c + 1, 0),
        "where an input says",
        of("int32"),
    ),
    "a scatter of its own": (
        lambda x, i: lax.scatter_apply(
            x, i[None], lambda a: a * a, lax.ScatterDimensionNumbers((), (0,), (0,)), update_shape=()
        ),
        "'scatter'",
        of(i8, 3),
        of("int32"),
    ),
    "a promised place": (
        lambda x, i: x.at[i].add(1, mode="promise_in_bounds"),
        "is promised places inside",
        of(i8, 3),
        of("int32"),
    ),
    "bits of another width": (lambda x: lax.bitcast_convert_type(x, jnp.uint16), "to another width", of(i8, 2)),
    "too many places": (lambda x, i: x[i], "too many", of(i8, 100_000), of("int32")),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_has_no_rule_is_refused_in_one_line(name):
    function, message, *specs = REFUSED[name]
    program = jax.make_jaxpr(function)(*specs)
    with pytest.raises(UnsupportedError, match=message):
        interpreted(program, [letters(f"x{i}", s.shape, s.dtype) for i, s in enumerate(specs)])
