"""The derived bound on rounding: it holds on the device, is not far from what is seen, and is refused, never 0."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb

import uat_jax as uj
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.rounding_bound import rounding_of
from uat_jax.errors import InputError, NotEquivalentError, UnsupportedError
from uat_jax.interpret.primitives import TABLE
from uat_jax.interpret.tracing import trace
from uat_jax.numbers.balls.balls import Balls, enclose
from uat_jax.numbers.floats import doubles
from uat_jax.numbers.floats.first_order import rounding_bound, spacing
from uat_jax.numbers.floats.local_error import ROUNDOFFS, largest, rounds
from uat_jax.numbers.floats.matmul_precision import DotPrecisions

V = jax.ShapeDtypeStruct((3,), jnp.float32)
DTYPES = ["float16", "bfloat16", "float32", "float64"]
PROGRAMS = {
    "polynomial": lambda x: x * x * x - x * x + x,
    "softmax": jax.nn.softmax,
    "variance": jnp.var,
    "two moments": lambda x: (x * x).mean() - x.mean() ** 2,
    "norm": lambda x: x / jnp.sqrt((x * x).sum()),
    "gelu": jax.nn.gelu,
    "tanh": lambda x: jnp.tanh(x) * jnp.exp(-x * x),
    "dot": lambda x: jnp.dot(x, x, precision="highest") * x,
    "two outputs": lambda x: (jnp.exp(x), x.sum()),
}


def dots():
    return DotPrecisions(jax.devices()[0], "highest")


def bound_of(program, x, **settings):
    return rounding_bound(program, [x], dot_precision=dots(), probability=1e-9, **settings)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bound_holds_on_the_device(name, dtype):
    """At 32 inputs no output is further from its exact value, from ball arithmetic, than the bound to first order.

    The terms of second order are u times those of first order, times a constant of the program: below a tenth in
    float16 and bfloat16 (u = 2⁻¹¹, 2⁻⁸) for programs of a dozen operations, which is the margin.
    """
    random = np.random.default_rng(3)
    inputs = [random.standard_normal(3).astype(jnp.dtype(dtype)) for _ in range(32)]
    program = trace(PROGRAMS[name], inputs[0])
    device = OnDevice(program, program)
    for x in inputs:
        values, bounds = bound_of(program, x)
        exact = [y for output in enclose(program, [Balls().number(x)]) for y in output.ravel()]
        errors = np.array([float(abs(arb(v) - y).upper()) for v, y in zip(device.run([x])[0], exact, strict=True)])
        assert np.all(errors <= 1.1 * bounds) and np.all(np.isfinite(values))


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_bound_is_not_much_more_than_what_is_seen(name):
    """It would be worthless if it were: the worst of 64 seen errors is at least a hundredth of the bound."""
    random = np.random.default_rng(4)
    inputs = [random.standard_normal(3).astype(np.float32) for _ in range(64)]
    program = trace(PROGRAMS[name], inputs[0])
    device = OnDevice(program, program)
    ratios = []
    for x in inputs:
        values, bounds = bound_of(program, x)
        ratios.append(np.max(np.abs(device.run([x])[0] - values) / np.maximum(bounds, 1e-30)))
    assert max(ratios) > 0.01


def test_a_rounding_that_is_added_is_seen():
    """A cast to bfloat16 moves the bound from nothing to 2⁻⁹ of the value; exact programs have none at all."""
    x = np.array([1.0, -2.0, 3.0], np.float32)
    plain, cast = (trace(f, x) for f in (lambda x: -x, lambda x: -x.astype(jnp.bfloat16).astype(jnp.float32)))
    assert np.array_equal(bound_of(plain, x)[1], np.zeros(3))
    assert np.allclose(bound_of(cast, x)[1], 2.0**-8 * np.abs(x), rtol=1e-6, atol=0)


def test_one_by_one_and_sampled_agree(monkeypatch):
    """The sampled bound is the likely one times the confidence factor of 64 samples: within a factor of 4 above it."""
    x = np.random.default_rng(5).standard_normal(64).astype(np.float32)
    program = trace(lambda x: jnp.cumsum(x * x) / jnp.sqrt((x * x).sum()), x)
    _, single = bound_of(program, x)
    monkeypatch.setattr("uat_jax.numbers.floats.first_order.MOST", 0)
    _, sampled = bound_of(program, x)
    assert np.all(sampled >= single / 2) and np.median(sampled / single) < 4


def test_groups_of_roundings_change_nothing(monkeypatch):
    x = np.random.default_rng(6).standard_normal(3).astype(np.float32)
    program = trace(jax.nn.softmax, x)
    _, whole = bound_of(program, x)
    monkeypatch.setattr("uat_jax.numbers.floats.first_order.GROUP", 2)
    assert np.allclose(bound_of(program, x)[1], whole, rtol=1e-9, atol=0)


@pytest.mark.parametrize("terms", [2, 10, 1000])
def test_the_largest_error_of_a_sum(terms):
    """(n - 1) u Σ|t| bounds the sum from the left, the worst order; the amplitude is that of a random one."""
    x = np.full(terms, 1 + 2.0**-10, np.float16)
    program = trace(lambda x: jax.lax.reduce(x, np.float16(0), jax.lax.add, (0,)), x)
    (equation,) = program.jaxpr.eqns
    wide = x.astype(np.float64)
    (bound,) = np.asarray(largest(equation, [wide[None]], wide.sum(keepdims=True), dots()))
    total = np.float16(0)
    for term in x:
        total = np.float16(total + term)
    assert equation.primitive.name == "reduce_sum" and equation.outvars[0].aval.dtype == np.float16
    assert abs(float(total) - wide.sum()) <= bound <= 2 * terms**2 * 2.0**-11


def test_every_primitive_of_float64_arithmetic_rounds_or_is_exact():
    """None is taken for exact because nobody wrote a row."""
    sums = {"dot_general", "reduce_sum"}
    kinds = ("exact", "rounds", "none")
    named = {kind: {name for name, row in TABLE.items() if row.rounding == kind} for kind in kinds}
    assert set(doubles.Doubles.rules) <= named["exact"] | named["rounds"] | named["none"]
    assert named["rounds"] == {*ROUNDOFFS, *sums, "convert_element_type", "integer_pow"}


def test_a_primitive_without_a_bound_is_refused():
    x = np.ones(3, np.float32)
    equation = trace(jax.lax.digamma, x).jaxpr.eqns[0]
    with pytest.raises(UnsupportedError, match="the rounding of 'digamma' is not known"):
        rounds(equation)


# --- beside a certificate -------------------------------------------------------------------------------------------


def test_what_cannot_be_derived_is_none_with_the_reason():
    """Never 0: the left side has a primitive that no table knows, the right side has not."""
    function = lambda x: jax.lax.digamma(x)
    program, plain = trace(function, np.ones(3, np.float32)), trace(lambda x: x, np.ones(3, np.float32))
    found = rounding_of(OnDevice(program, plain))
    assert found.left is None and found.right is not None and found.right.ulps == 0
    assert found.reason.startswith("not derived: ") and "'digamma'" in found.reason and "'digamma'" in found.text


@pytest.mark.parametrize("left, right", [(jax.nn.softmax, lambda x: jnp.exp(x) / jnp.exp(x).sum()),
                                         (lambda x: (x[0] + x[1]) + x[2], lambda x: x[0] + (x[1] + x[2])),
                                         (lambda x: x[0] * (x[1] + x[2]), lambda x: x[0] * x[1] + x[0] * x[2]),
                                         (jnp.var, PROGRAMS["two moments"])])  # fmt: skip
def test_both_bounds_together_explain_what_is_seen(left, right):
    found = uj.certify(left, right, V).rounding
    assert found is not None and found.seen is not None and found.left is not None and found.right is not None
    assert found.seen.ulps <= found.left.ulps + found.right.ulps and found.run == 64 and found.derived == 8
    f, g = (np.asarray(jax.jit(side)(*found.inputs), np.float64) for side in (left, right))
    assert np.max(np.abs(f - g)) / spacing(np.max(np.abs(f)), jnp.float32) == found.seen.ulps


def test_inputs_outside_the_domain_are_not_taken():
    found = uj.certify(lambda x: jnp.log(x) + jnp.log(x), lambda x: np.float32(2) * jnp.log(x), V).rounding
    assert found is not None and found.left is not None
    assert found.scale == "absolute values of standard normal" and found.left.ulps > 0


ROUNDINGS = {
    "enough ULP": (64, None),
    "too few ULP": (0.01, "the right side may be off by"),
    "enough": (uj.Tolerance(relative=1e-4), None),
    "too little": (uj.Tolerance(relative=1e-9), "of the largest entry, more than 1e-09"),
    "enough in all": (uj.Tolerance(absolute=1e-4), None),
    "too little in all": (uj.Tolerance(absolute=1e-9), "both were seen apart by"),
}


@pytest.mark.parametrize("name", ROUNDINGS)
def test_rounding_is_part_of_a_test(name):
    rounding, complaint = ROUNDINGS[name]
    pair = jax.nn.softmax, lambda x: jnp.exp(x) / jnp.exp(x).sum()
    if complaint is None:
        uj.assert_equivalent(*pair, V, rounding=rounding, hazards="ignore")
        return
    with pytest.raises(NotEquivalentError, match=complaint):
        uj.assert_equivalent(*pair, V, rounding=rounding, hazards="ignore")


def test_a_round_trip_exceeds_a_few_ulp():
    pair = lambda x: x.astype(jnp.bfloat16).astype(jnp.float32), lambda x: x
    with pytest.raises(NotEquivalentError, match="the left side may be off by .* ULP, more than 4"):
        uj.assert_equivalent(*pair, V, rounding=4, hazards="ignore")


def test_two_tolerances_at_once_are_refused():
    with pytest.raises(InputError, match="got 2 tolerances"):
        uj.Tolerance(ulps=1, absolute=1e-3)
