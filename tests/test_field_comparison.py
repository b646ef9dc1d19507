"""A comparison in prime fields states its chance of error, and passes for none that is larger than asked."""

import math

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.identity import identity
from uat_jax.decide.prime_fields import MEETING_ERROR, MOST_READINGS, FieldComparison, PrimeFields

X = jax.ShapeDtypeStruct((3,), jnp.float32)


def program(function):
    return jax.make_jaxpr(function)(X)


def of_rounds(found):
    """The chance that all rounds agree by accident, for every reading of laws and constants, counted or not."""
    return sum(r.bound.log2 for r in found.rounds) + math.log2(2 * found.readings)


@pytest.mark.parametrize("equal, log2_error, within", [(True, -128, True), (True, -127.5, False), (False, -500, False)])
def test_only_what_is_equal_with_a_small_chance_of_error_is_within_it(equal, log2_error, within):
    assert FieldComparison(equal, (), log2_error=log2_error).within(2.0**-128) is within


@pytest.mark.parametrize(
    "left, right, readings",
    [
        (lambda x: (x + 1) ** 2, lambda x: x * x + 2 * x + 1, 1),
        (jnp.tanh, lambda x: jnp.tanh(x) * 1, 2),
        (lambda x: np.float32(0.1) * x * 3, lambda x: np.float32(0.3) * x, 2),
    ],
    ids=["polynomial", "laws", "constants"],
)
def test_every_reading_counts(left, right, readings):
    found = PrimeFields(program(left), program(right)).compare()
    assert found.equal and found.readings == readings
    assert found.log2_error == pytest.approx(of_rounds(found))  # two sums of the same few floats


def all_kinds(x):
    """Of every kind of primitives that have readings of their own, with a constant that stands for another number."""
    return jnp.where(x > 0, jnp.tanh(jax.lax.rsqrt(x * x + 1)), jnp.log(jnp.abs(x) + 1)) * np.float32(0.1)


def test_a_certificate_may_have_as_many_readings_as_are_tried(tmp_path):
    """Whoever rechecks it refuses more than these."""
    fields = PrimeFields(program(all_kinds), program(all_kinds))
    assert len(fields._readings(thoroughly=True)) == MOST_READINGS
    certificate = uj.certify(all_kinds, lambda x: all_kinds(x) * 2 / 2, X)
    assert certificate.evidence[0].figures["readings"] > MOST_READINGS / 2
    assert uj.recheck(uj.load(certificate.save(tmp_path / "c.json"))).verdict is uj.Verdict.CERTIFIED


def test_every_comparison_of_cases_counts():
    step = lambda compare: lambda x: jnp.where(compare(x, 0), x, 0)
    fields = PrimeFields(program(step(jnp.greater)), program(step(jnp.greater_equal)))
    found = fields.compare(MEETING_ERROR - 60)
    assert found.equal and fields.meeting.answers
    assert found.log2_error >= MEETING_ERROR > of_rounds(found)


def test_functions_of_nothing_are_not_compared():
    constant = program(lambda x: jnp.ones(3))
    found = identity(constant, constant, vacuous=False)
    assert not found.varies and not found.equal
    assert identity(constant, constant).equal
