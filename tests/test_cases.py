"""Decisions compared case by case: in one reading of the constants, and only where no case is left out."""

from fractions import Fraction

import jax
import jax.numpy as jnp
import numpy as np
import pytest

from uat_jax.decide.domain import Domains, Interval
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.numbers.floats.doubles import Doubles
from uat_jax.numbers.prime_fields.alike import Alike
from uat_jax.numbers.prime_fields.cases import Cases
from uat_jax.numbers.prime_fields.common_factors import terms_of_product, terms_of_sum
from uat_jax.numbers.prime_fields.expressions import Expressions
from uat_jax.numbers.prime_fields.field_functions import LAWS
from uat_jax.numbers.prime_fields.formula import formula
from uat_jax.numbers.prime_fields.inequalities import Inequality, Polynomial, possible

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


def clip_of_squares(last):
    """A polynomial of degree 2^12 in numbers from 0 to 1, which no list of its terms holds."""

    def of(x, y):
        for _ in range(12):
            x = (x * x + y) / 2
        return last(x * 4 - 2)

    return of


@pytest.mark.parametrize(("end", "wanted"), [(1.0, True), (1.5, False)])
def test_a_long_polynomial_is_a_number_of_its_own(end, wanted):
    clip = clip_of_squares(lambda z: jnp.clip(z, -1, 1))
    sums = clip_of_squares(lambda z: jax.nn.relu(z + 1) - jax.nn.relu(z - end) - 1)
    scalar = jax.ShapeDtypeStruct((), jnp.float32)
    first, second = (jax.make_jaxpr(function)(scalar, scalar) for function in (clip, sums))
    unit = Domains((Interval(0.0, 1.0), Interval(0.0, 1.0)))
    assert PrimeFields(first, second, domains=unit).compare().equal is wanted


@pytest.mark.parametrize("dtype", [np.float16, np.float32])
def test_a_surface_beyond_the_numbers_of_its_type_is_not_followed(dtype):
    """y·2^-k is written with a whole number 2^k that the type does not hold."""
    least = np.asarray(jnp.finfo(dtype).smallest_subnormal)
    spec = jax.ShapeDtypeStruct((), dtype)
    pick = lambda factor: lambda x, y: jnp.where(x == y * least, factor * x + y, y)
    first, same, other = (jax.make_jaxpr(pick(np.asarray(factor, dtype)))(spec, spec) for factor in (2, 2, 3))
    assert PrimeFields(first, same).compare().equal
    assert not PrimeFields(first, other).compare().equal


@pytest.mark.parametrize(("length", "followed"), [(20, True), (2000, False)])
def test_long_chains_are_left_alone(length, followed):
    (sine,) = jax.make_jaxpr(jnp.sin)(np.float32(1)).eqns
    expressions = Expressions()
    place = expressions.input(0, ())
    for _ in range(length):
        place = expressions.applied(sine, [place], 0, ())
    assert (formula(expressions, place) is not None) is followed
    assert Alike(expressions, Cases(lambda *_: False), {}, meant=False).values(place) is not None


def test_booleans_of_one_copy_meet_those_of_many():
    """A comparison of constants is alike in all copies."""
    (equation,) = jax.make_jaxpr(jnp.logical_xor)(np.True_, np.True_).eqns
    (found,) = Doubles().evaluate(equation, [np.array([True]), np.array([True, False, True])])
    assert found.tolist() == [False, True, False]


def norm(x):
    return jnp.sqrt((x * x).sum())


V = jax.ShapeDtypeStruct((3,), jnp.float32)
f32 = np.float32

# (left, right, whether they are equal wherever both are defined, and shown to be)
PARTIAL = {
    "clipped by its norm": (
        lambda x: jnp.where(norm(x) < f32(2), x, x / norm(x) * f32(2)),
        lambda x: x * jnp.minimum(f32(1), f32(2) / norm(x)),
        True,
    ),
    "shrunk by its norm": (
        lambda x: jnp.where(norm(x) > f32(1), x * (f32(1) - f32(1) / norm(x)), f32(0) * x),
        lambda x: x * jnp.maximum(f32(1) - f32(1) / norm(x), f32(0)),
        True,
    ),
    "the root of a maximum": (
        lambda x: x / jnp.sqrt(jnp.maximum((x * x).sum(), f32(1))),
        lambda x: x / jnp.maximum(norm(x), f32(1)),
        True,
    ),
    "another limit": (
        lambda x: jnp.where(norm(x) < f32(2), x, x / norm(x) * f32(2)),
        lambda x: x * jnp.minimum(f32(1), f32(1) / norm(x)),
        False,
    ),
    "another value where the divisor is 0": (
        lambda x: jnp.minimum(f32(1), f32(1) / jnp.abs(x)),
        lambda x: jnp.where(x == 0, f32(7), jnp.minimum(f32(1), f32(1) / jnp.abs(x))),
        False,
    ),
    "the inverse of what is infinite": (
        lambda x: jnp.where(x == 0, f32(7), f32(1) / (f32(1) / x)),
        lambda x: f32(1) / (f32(1) / x),
        False,
    ),
    "the exponential of what is infinite": (
        lambda x: jnp.where(x == 0, f32(7), jnp.exp(-f32(1) / jnp.abs(x))),
        lambda x: jnp.exp(-f32(1) / jnp.abs(x)),
        False,
    ),
    "another root where the argument is negative": (
        lambda x: jnp.where(x > 0, jnp.sqrt(x), x),
        lambda x: jnp.where(x > 0, jnp.sqrt(x), -x),
        False,
    ),
    "a comparison with what is infinite": (
        lambda x: jnp.where(f32(1) / jnp.abs(x) > f32(1), f32(1), f32(0)),
        lambda x: jnp.where((jnp.abs(x) < f32(1)) & (x != 0), f32(1), f32(0)),
        False,
    ),
}


@pytest.mark.parametrize("name", PARTIAL)
def test_cells_are_parted_where_something_is_undefined(name):
    left, right, same = PARTIAL[name]
    left, right = (jax.make_jaxpr(function)(V) for function in (left, right))
    found = PrimeFields(left, right).compare()
    assert (found.equal and not found.almost) == same
    if same:
        assert not PrimeFields(left, right, laws=LAWS - {"cases"}).compare().equal


@pytest.mark.parametrize("shapes", [((3, 0), (0,)), ((0, 3), (3,)), ((2, 3), (3, 0)), ((2, 3), (3, 4))], ids=str)
def test_entries_of_products_and_sums_have_as_many_terms_as_are_added(shapes):
    """Also where none are, or where there is no entry."""
    left, right = map(np.ones, shapes)
    (product,) = jax.make_jaxpr(jax.lax.dot)(left, right).eqns
    (total,) = jax.make_jaxpr(lambda x: jax.lax.reduce_sum(x, axes=(1,)))(left).eqns
    entries = (left @ right).size
    assert [grid.shape for grid in terms_of_product(product, *shapes)] == [(entries, shapes[0][1])] * 2
    assert [grid.shape for grid in terms_of_sum(total, shapes[0])] == [left.shape]
