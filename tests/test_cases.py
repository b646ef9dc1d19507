"""Decisions compared case by case: in one reading of the constants, and only where no case is left out."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax.arithmetic.inequalities import Inequality, Polynomial, possible
from uat_jax.decide.prime_fields import PrimeFields

B = jnp.bfloat16
X = jax.ShapeDtypeStruct((), B)


def narrow(value):
    """A constant of 16 bits, which stands for a decimal."""
    return np.asarray(value, B)


def wide(value):
    """The same bits as a constant of 32 bits, which stand for themselves."""
    return np.asarray(np.asarray(value, B), np.float32)


def thirds(x):
    """Equal to `three_tenths` as meant only."""
    return np.float32(0.1) * x + np.float32(0.2) * x


def three_tenths(x):
    return np.float32(0.3) * x


def real(x):
    return x.astype(jnp.float32)


# name → a function of x, of x in the type of its constant, of this constant, and of what is computed beside it
READ = {
    "a step": lambda x, z, c, beside: jnp.where(z > c, beside(x), 0),
    "a maximum": lambda x, z, c, beside: real(jnp.maximum(z, c)) + beside(x),
    "a minimum": lambda x, z, c, beside: beside(real(jnp.minimum(z, c))),
    "a magnitude": lambda x, z, c, beside: real(jnp.abs(z - c)) + beside(x),
    "a clip": lambda x, z, c, beside: real(jnp.clip(z, 0, c)) + beside(x),
}


def equal(left, right, **settings):
    with jax.numpy_dtype_promotion("standard"):
        first, second = (jax.make_jaxpr(function)(X) for function in (left, right))
    return PrimeFields(first, second, **settings).compare().equal


@pytest.mark.parametrize("value", [0.1, 1 / 3])
@pytest.mark.parametrize("name", READ)
def test_a_case_reads_constants_as_the_rest_of_the_formula_does(name, value):
    """A constant of 16 bits near 1/10 is no constant of 32 bits with the same bits, if constants are what is meant."""
    form = READ[name]
    as_decimal = lambda beside: lambda x: form(real(x), x, narrow(value), beside)
    as_written = lambda x: form(real(x), real(x), wide(value), three_tenths)
    assert equal(as_decimal(thirds), as_decimal(three_tenths), meant=True)
    assert not equal(as_decimal(thirds), as_written)


x, y, one = Polynomial.atom(0), Polynomial.atom(1), Polynomial.constant(1)

# (what is assumed, whether real numbers satisfy it); p > 0 if strict, else p >= 0
ASSUMED = [
    ([(x - one, True), (-x, True)], False),
    ([(x - one, True), (one + one - x, True)], True),
    ([(x, False), (-x, False)], True),
    ([(x, False), (-x, True)], False),
    ([(x - y, True), (y - x, False)], False),
    ([(x, True), (y, True), (-(x * y), True)], False),
    ([(x, True), (-y, True), (-(x * y), True)], True),
    ([(-(x * x), True)], False),
    ([(-(x * x), False)], True),
    ([(x - x * x - Polynomial.constant(Fraction(3, 8)), False)], False),
    ([(x - x * x - Polynomial.constant(Fraction(1, 8)), False)], True),
]


@pytest.mark.parametrize(("assumed", "wanted"), ASSUMED)
def test_what_no_real_numbers_satisfy_is_impossible(assumed, wanted):
    assert possible([Inequality(p, strict) for p, strict in assumed], (), ()) is wanted


def test_a_positive_atom_is_positive():
    assert not possible([Inequality(-x, False)], (0,), ())
    assert possible([Inequality(-x, False)], (), (0,))
    assert not possible([Inequality(-x, True)], (), (0,))
