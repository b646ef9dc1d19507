"""Integers and booleans as variables: pairs and their mistakes, attacks that are never certified, bad input."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from excerpt import one_in
from jax import lax
from pairs.integers import PAIRS, of, upto
from pairs.pair import f32

import uat_jax as uj
from uat_jax.decide import solver as module
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import DomainError, InputError, MismatchError, UnsupportedError

pytestmark = pytest.mark.usefixtures("standard_promotion")

PASSING = (Verdict.PROVED, Verdict.CERTIFIED)
WRONG = [(f"{pair.name}: {name}", pair.left, wrong, pair.specs) for pair in PAIRS for name, wrong in pair.wrong.items()]
ANYTHING: Any = lambda value: value
"""A value of no declared type, for calls that have to refuse it."""
I, U, B = of("int32"), of("uint32"), of("int8")


@pytest.mark.parametrize("pair", one_in(9, PAIRS), ids=lambda pair: pair.name)
def test_two_writings_are_equal(pair, tmp_path):
    found = uj.certify(pair.left, pair.right, *pair.specs, budget=60.0)
    assert found.verdict in PASSING, found
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is found.verdict


@pytest.mark.parametrize(("name", "left", "right", "specs"), one_in(9, WRONG))
def test_a_mistake_is_refuted_by_an_input_that_shows_it(name, left, right, specs, tmp_path):
    found = uj.certify(left, right, *specs, budget=60.0)
    assert found.verdict is Verdict.REFUTED, found
    example = found.counterexample
    assert example is not None
    with jax.enable_x64(any(str(x.dtype) in ("int64", "uint64") for x in example.arrays)):
        sides = [jax.tree.leaves(f(*map(jnp.asarray, example.arrays))) for f in (left, right)]
    entry = example.output, tuple(example.entry)
    assert sides[0][entry[0]][entry[1]] != sides[1][entry[0]][entry[1]]
    assert uj.recheck(uj.load(found.save(tmp_path / "c.json"))).verdict is Verdict.REFUTED


NEVER = {
    "an overflow": (lambda x: x + 1 > x, lambda x: x == x, I),
    "an overflow of a product": (lambda x: (x * 2) // 2, lambda x: x, I),
    "an overflow in a cast": (lambda x: (x * x).astype(jnp.int32), lambda x: x.astype(jnp.int32) ** 2, B),
    "the least integer": (lambda x: jnp.abs(x) >= 0, lambda x: x == x, I),
    "the least integer by -1": (lambda x: lax.div(x, jnp.int32(-1)) + x == 0, lambda x: x != -(2**31), I),
    "division by zero": (lambda x, y: lax.div(x, y) * y + lax.rem(x, y), lambda x, y: x + y * 0 + (y == 0), I, I),
    "a quotient by itself": (lambda x: lax.div(x, x), lambda x: x * 0 + 1, I),
    "a shift by the width": (lambda x, k: (x << k) >> k, lambda x, k: x, U, U),
    "a shift by 32": (lambda x: x << jnp.uint32(32), lambda x: x, U),
    "a shift by a negative number": (lambda x, k: x << k, lambda x, k: x << (k & 31), I, I),
    "arithmetic and logical": (lambda x: x >> 1, lambda x: lax.shift_right_logical(x, jnp.int32(1)), I),
    "a cast that wraps": (lambda x: x.astype(jnp.int8).astype(jnp.int32), lambda x: x, I),
    "a cast to truth": (lambda x: x.astype(bool), lambda x: (x & 255) != 0, I),
    "unsigned and signed order": (lambda x: x < 0, lambda x: x.astype(jnp.uint32) < 0, I),
    "a difference without sign": (lambda x, y: x - y > 0, lambda x, y: x > y, U, U),
    "toward zero": (lambda x: lax.div(x, jnp.int32(2)), lambda x: x >> 1, I),
    "the trap of a polynomial": (lambda x: (x * (x - 1)) << 30, lambda x: x * 0, I),
    "a place that is not there": (lambda x, i: jnp.take(x, i, mode="fill"), lambda x, i: x[i], of("int32", 3), I),
    "one place in 2³²": (lambda x: x == 123456789, lambda x: x != x, I),
    "one bit of a large number": (lambda x: x, lambda x: x + (x == 2**62), of("int64")),
    "a large integer in a float": (lambda x: x.astype(jnp.float32), lambda x: (x + 1).astype(jnp.float32), upto(9)),
    "a place of a table": (lambda t, i: t[i], lambda t, i: t[jnp.minimum(i, 3)], f32(5), I),
    "an order open": (lambda x: x.at[jnp.zeros(2, int)].set(x[1:]), lambda x: x.at[0].set(x[2]), of("int32", 3)),
}


@pytest.mark.parametrize("name", one_in(3, NEVER))
def test_what_differs_is_never_certified(name):
    left, right, *specs = NEVER[name]
    assert uj.certify(left, right, *specs, budget=20.0).verdict not in PASSING


def test_a_cast_of_any_integer_to_a_float_is_exact():
    same = lambda x: x.astype(jnp.float32) + 1
    assert uj.certify(same, lambda x: (x + 1).astype(jnp.float32), uj.integers(I, 2**24, 2**24 + 9)).passes


NIBBLES = uj.integers(jax.ShapeDtypeStruct((2,), jnp.int8), -8, 7)
OF_FOUR_BITS = {
    "scaled": (
        lambda a, s: (a.astype(jnp.int4).astype(jnp.float32) - 1) * s[None],
        lambda a, s: a.astype(jnp.float32) * s[None] - s[None],
        lambda a, s: a.astype(jnp.uint4).astype(jnp.float32) * s[None] - s[None],
    ),
    "wrapped": (
        lambda a, s: (a.astype(jnp.int4) + a.astype(jnp.int4)).astype(jnp.int8),
        lambda a, s: ((a + a) << 4) >> 4,
        lambda a, s: a + a,
    ),
}


@pytest.mark.parametrize("name", OF_FOUR_BITS)
def test_integers_of_four_bits_inside_of_programs(name):
    left, right, wrong = OF_FOUR_BITS[name]
    assert uj.certify(left, right, NIBBLES, f32()).verdict in PASSING
    assert uj.certify(left, wrong, NIBBLES, f32()).verdict is Verdict.REFUTED


def test_places_that_no_user_gave_are_those_of_the_table():
    found = uj.certify(lambda t, i: t[i], lambda t, i: jax.nn.one_hot(i, 5) @ t, f32(5, 2), of("int32", 2))
    assert found.passes
    wanted = "i is any integer from 0 to 4, the places of the array that it chooses from"
    assert wanted in map(str, found.assumptions)
    assert found.claim["inputs"][1] == "int32[2] in [0, 4]"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        (lambda t, i: jnp.where(i == -100, 0, t[i]), lambda t, i: t[i]),
        (lambda t, i: jnp.where(i != -1, t[i], 0), lambda t, i: t[i]),
        (lambda t, i: jnp.where(i == 7, 0, t[i]), lambda t, i: t[i]),
        (lambda t, i: jnp.where((jnp.array([-1, -2]) == i).any(), 0, t[i]), lambda t, i: t[i]),
        (lambda t, i: jnp.where(i.astype(jnp.int8) == 0, 0, t[i]), lambda t, i: jnp.where(i == 0, 0, t[i])),
        (lambda t, i: jnp.where(i + 1 == 0, 0, t[i]), lambda t, i: t[i]),
        (lambda t, i: t[jnp.clip(i, 0, 4)], lambda t, i: t[i]),
        (lambda t, i: t[jnp.maximum(i, 0)], lambda t, i: t[i]),
        (lambda t, i: (t[i], jax.nn.one_hot(i, 9)), lambda t, i: (t[i], jnp.pad(jax.nn.one_hot(i, 5), (0, 4)))),
        (lambda t, i: jnp.where(i == 1, 0, t), lambda t, i: jnp.where((i == 1) | (i == -3), 0, t)),
    ],
)
def test_an_index_that_may_lie_beside_the_table_is_not_taken_for_one_of_its_places(left, right):
    found = uj.certify(left, right, f32(5), I)
    assert found.verdict not in PASSING, found


def test_a_place_that_an_index_is_compared_with_is_one_of_the_table():
    hidden = lambda t, i: jnp.where(i == 0, 0, t[i])
    found = uj.certify(hidden, lambda t, i: t[i] * (1 - jax.nn.one_hot(i, 5)[0]), f32(5), I)
    assert found.passes and found.claim["inputs"][1] == "int32[] in [0, 4]"


def _by_two_shifts(number, dtype):
    """A whole number, unless 2³⁰ times as much does not fit into the dtype."""
    return (number.astype(dtype) * 2**30 >> 30).astype(jnp.int32)


IN_64_BITS = {
    "whole": (lambda d: lambda i: _by_two_shifts(i, d), I),
    "in a range": (lambda d: lambda i: _by_two_shifts(i, d), uj.integers(I, 0, 9)),
    "real numbers too": (lambda d: lambda i, x: _by_two_shifts(i, d) * x, uj.integers(I, 0, 9), f32()),
    "in a branch": (
        lambda d: lambda i, x: x * lax.cond(i > 3, lambda: _by_two_shifts(i, d), lambda: i),
        uj.integers(I, 0, 9),
        f32(),
    ),
    "constants": (lambda d: lambda x: _by_two_shifts(jnp.arange(4), d) * x, f32(4)),
}


@pytest.mark.parametrize("name", IN_64_BITS)
def test_a_function_of_narrow_inputs_computes_in_64_bits_where_the_caller_does(name):
    of_dtype, *specs = IN_64_BITS[name]
    with jax.enable_x64(True):
        found = uj.certify(of_dtype(jnp.int32), of_dtype(jnp.int64), *specs)
        assert found.verdict is Verdict.REFUTED, found
        assert uj.certify(of_dtype(jnp.int64), of_dtype(jnp.int64), *specs).passes


def test_a_power_of_a_negative_integer_is_a_quotient():
    powers, i = (lambda i, x: x**i), uj.integers(I, -3, 3)
    assert uj.certify(powers, lambda i, x: jnp.where(i < 0, 1 / x**-i, x**i), i, f32()).passes
    assert uj.certify(powers, lambda i, x: x ** jnp.abs(i), i, f32()).verdict is Verdict.REFUTED


_ZEROS = jnp.zeros(5)
NEAR_ZERO = {
    "one place further": (lambda x, i: _ZEROS.at[i].add(x), lambda x, i: _ZEROS.at[i + 1].add(x)),
    "the larger one": (lambda x, i: _ZEROS.at[i].add(x), lambda x, i: _ZEROS.at[i].max(x)),
    "from the end, or left out": (lambda x, i: _ZEROS.at[i].add(x), lambda x, i: jax.ops.segment_sum(x, i, 5)),
    "no order where places are equal": (lambda x, i: _ZEROS.at[i].set(x), lambda x, i: _ZEROS.at[i].set(2 * x)),
}


@pytest.mark.parametrize("name", NEAR_ZERO)
def test_integers_near_0_are_tried_where_any_may_be_a_place(name):
    left, right = NEAR_ZERO[name]
    found = uj.certify(left, right, f32(2), of("int32", 2))
    assert found.verdict is Verdict.REFUTED, found
    assert found.counterexample is not None


def test_too_many_choices_are_no_proof():
    left, right = (lambda t, i: t[i * i[::-1] % 9] * 2), (lambda t, i: 2 * t[lax.rem(i * i[::-1], 9)])
    found = uj.certify(left, right, f32(9), upto(8, 6))
    assert found.verdict is Verdict.AGREES and "nothing is shown of the others" in found.evidence[0].finding


def test_a_quotient_of_constants_by_zero_is_what_a_device_computes():
    quotient = lambda x: lax.div(jnp.uint8(1), x & 0)
    assert uj.certify(quotient, lambda x: x | 255, of("uint8")).passes
    assert (
        uj.certify(lambda x: lax.div(jnp.int8(-128), jnp.int8(-1) | x), lambda x: x * 0, of("int8")).verdict
        is Verdict.REFUTED
    )


ENDLESS = {
    "for some inputs": (lambda x: lax.while_loop(lambda c: c > 0, lambda c: c, x), lambda x: jnp.minimum(x, 0)),
    "in a scan": (
        lambda x: lax.scan(lambda c, _: (lax.while_loop(lambda c: c > 0, lambda c: c, c), None), x, None, length=2)[0],
        lambda x: jnp.minimum(x, 0),
    ),
    "in a branch": (
        lambda x: lax.cond(x > 3, lambda c: lax.while_loop(lambda c: c > 0, lambda c: c, c), lambda c: c, x),
        lambda x: x,
    ),
}


@pytest.mark.parametrize("name", ENDLESS)
def test_a_loop_that_does_not_end_is_given_up(name):
    left, right = ENDLESS[name]
    found = uj.certify(left, right, of("int8"))
    assert found.verdict is Verdict.UNKNOWN and "takes more than 100,000 rounds" in found.evidence[0].finding
    assert uj.certify(left, lambda x: right(x) + 1, of("int8")).verdict is Verdict.REFUTED


def test_a_counterexample_is_written_in_integers():
    found = uj.certify(lambda x, y: (x + y) // 2, lambda x, y: (x >> 1) + (y >> 1) + (x & y & 1), I, I)
    assert found.counterexample is not None
    assert found.counterexample.values == {"x": 1, "y": 2**31 - 1}
    program = found.counterexample.program
    assert "jnp.array(2147483647, jnp.int32)" in program
    left = "left = lambda x, y: (x + y) // 2\nright = lambda x, y: (x >> 1) + (y >> 1) + (x & y & 1)\n"
    lines = [line for line in program.splitlines() if not line.startswith(("left =", "right =", "jax.config"))]
    exec(compile("import jax, jax.numpy as jnp\n" + left + "\n".join(lines), "reproducer", "exec"), {})


def test_a_wrong_value_of_a_counterexample_is_refused(tmp_path):
    found = uj.certify(lambda x: x + 1 > x, lambda x: x == x, I)
    path = found.save(tmp_path / "c.json")
    body = json.loads(path.read_text())
    body["evidence"][0]["example"]["inputs"][0]["values"] = 5
    path.write_text(json.dumps(body))
    with pytest.raises(MismatchError, match="values at the counterexample"):
        uj.recheck(uj.load(path))


def test_without_the_solver_the_answer_says_what_to_install(monkeypatch):
    def missing():
        raise UnsupportedError("integers of many values are decided by z3, which is not installed: pip install …")

    monkeypatch.setattr(module, "solver", missing)
    found = uj.certify(lambda x: x * 3, lambda x: x + x + x, I)
    assert found.verdict is Verdict.UNKNOWN and "which is not installed" in found.evidence[0].finding


UNUSABLE = {
    "empty range": (lambda: uj.integers(I, 3, 2), "no integer satisfies 3 <= x <= 2"),
    "outside the dtype": (lambda: uj.integers(B, 0, 128), "int8 holds -128 to 127: choose ends within"),
    "no whole number": (lambda: uj.integers(I, 0, ANYTHING(1.5)), "got 1.5 for an end of a range of integers"),
    "truth for an end": (lambda: uj.integers(I, False, 3), "got False for an end"),
    "floats": (lambda: uj.integers(f32(2), 0, 3), "write uj.interval(spec, low, high) for real numbers"),
    "a tree": (lambda: uj.integers({"a": I}, 0, 3), "got a dict for an input with a domain"),
    "two kinds": (lambda: uj.interval(uj.integers(I, 0, 3), 0, 1), "give it one kind of domain"),
    "two ranges": (lambda: uj.integers(uj.integers(I, 0, 3), 5, 9), "drop one of the two"),
    "four bits": (
        lambda: uj.certify(jnp.abs, jnp.abs, of("int4")),
        "input [0] has dtype int4 and no values; use uj.integers of a spec of int8 from -8 to 7, and cast it to int4",
    ),
    "almost everywhere": (
        lambda: uj.certify(jnp.abs, jnp.abs, I, almost_everywhere=True),
        "it has no effect on integers",
    ),
    "signed with unsigned": (
        lambda: uj.certify(lambda x: x, lambda x: x.astype(jnp.uint32), I),
        "the first function returns int32[], the second uint32[]",
    ),
}


@pytest.mark.parametrize("name", UNUSABLE)
def test_bad_input_gets_one_line(name):
    call, message = UNUSABLE[name]
    with pytest.raises((DomainError, InputError)) as error:
        call()
    assert message in str(error.value) and "\n" not in str(error.value)


def test_an_intersection_of_ranges():
    assert str(uj.integers(uj.integers(I, 0, 9), 5, 20).domain.text) == " in [5, 9]"
