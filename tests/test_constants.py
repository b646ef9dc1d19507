"""One reading of constants for all methods: recognition, true pairs, wrong twins, decisions that it could flip."""

import math
from collections.abc import Callable
from fractions import Fraction
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from flint import arb
from jax.scipy.special import gammaln

from uat_jax import certify
from uat_jax.decide.assumption import Assumption, AssumptionKind
from uat_jax.decide.refutation import refutation
from uat_jax.decide.verdict import Verdict
from uat_jax.interpret import closed_form
from uat_jax.interpret.closed_form import PI, ClosedForm, LogSum, Product, precision, rational
from uat_jax.interpret.recognition import LOWEST, ConstantReading, Reading, meaning, meanings

f32, f64 = np.float32, np.float64
DTYPES = [np.dtype(d) for d in (np.float64, np.float32, np.float16, jnp.bfloat16)]
NEVER = (Verdict.PROVED, Verdict.CERTIFIED)


def spec(*shape: int, dtype: Any = np.float32) -> jax.ShapeDtypeStruct:
    return jax.ShapeDtypeStruct(shape, dtype)


S, V, M, D = spec(), spec(3), spec(4, 3), spec(3, dtype=np.float64)


def pick(x: jax.Array) -> jax.Array:
    """What prime fields refuse: a place that depends on the input, and may be NaN before it is cast."""
    return jnp.take(x, (x[0] / x[0]).astype(jnp.int32), mode="clip")


def rounded(number: float, dtype: np.dtype) -> float | None:
    """The float next to a number that is no mask, or None beyond the largest one."""
    largest = float(jnp.finfo(dtype).max)
    return float(np.asarray(number).astype(dtype)) if LOWEST < number and abs(number) <= largest else None


# --- recognition ------------------------------------------------------------------------------------------------------

MEANT = [
    (0.1, np.float32, rational(Fraction(1, 10))),
    (0.999, np.float32, rational(Fraction(999, 1000))),
    (0.044715, np.float32, rational(Fraction(44715, 10**6))),
    (1e-12, np.float64, rational(Fraction(1, 10**12))),
    (1 / 3, np.float32, rational(Fraction(1, 3))),
    (1 / 3, jnp.bfloat16, rational(Fraction(1, 3))),
    (1 / 49, np.float64, rational(Fraction(1, 49))),
    (1 / 784, np.float32, rational(Fraction(1, 784))),
    (2**-0.5, np.float32, Product(Fraction(1, 2), ((2, Fraction(1, 2)),))),
    (1 / math.sqrt(8.0), np.float64, Product(Fraction(1, 4), ((2, Fraction(1, 2)),))),
    (80**-0.25, np.float32, Product(Fraction(1, 10), ((5, Fraction(3, 4)),))),
    (math.pi, np.float32, Product(Fraction(1), ((PI, Fraction(1)),))),
    (math.pi / 180, np.float64, Product(Fraction(1, 180), ((PI, Fraction(1)),))),
    (math.sqrt(2 / math.pi), np.float32, Product(Fraction(1), ((2, Fraction(1, 2)), (PI, Fraction(-1, 2))))),
    (math.e, np.float64, Product(Fraction(1), (("e", Fraction(1)),))),
    (math.log(2), np.float32, LogSum(Fraction(0), ((2, Fraction(1)),))),
    (-math.log(10), np.float64, LogSum(Fraction(0), ((2, Fraction(-1)), (5, Fraction(-1))))),
    (0.5 * math.log(2 * math.pi), np.float32, LogSum(Fraction(0), ((2, Fraction(1, 2)), (PI, Fraction(1, 2))))),
    (10000 ** (-3 / 32), np.float32, closed_form.power(rational(10000), Fraction(-3, 32))),
]
"""(value, dtype, the number that the float next to the value stands for)."""


@pytest.mark.parametrize(("value", "dtype", "form"), MEANT, ids=str)
def test_what_constants_stand_for(value, dtype, form):
    found = meaning(float(np.asarray(value).astype(dtype)), np.dtype(dtype))
    assert found.form == form
    assert found.reading is not None and found.reading.text.startswith("the constant ")


@pytest.mark.parametrize("value", [0.0, 1.0, -3.0, 0.5, 1e6, 0.75, 2.0**-20, 123.0])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_short_numbers_are_themselves(value, dtype):
    """Those that few bits write, in every type that holds them."""
    value = rounded(value, dtype) or 0.0
    found = meaning(value, dtype)
    if found.as_written:
        assert found.form == rational(Fraction(value)) and found.reading is None
    else:  # bfloat16 rounds 123 and 1e6
        assert dtype == jnp.bfloat16


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_every_meaning_rounds_back(dtype):
    """To the float itself; an irrational number or fraction to a neighbour at most in float64."""
    random = np.random.default_rng(0)
    plain = random.standard_normal(200) * 10.0 ** random.integers(-6, 6, 200)
    numbers = [*plain, *(float(f"{x:.3g}") for x in plain), *(n / d for n in range(1, 8) for d in range(1, 40))]
    numbers += [math.sqrt(n) for n in range(1, 99)] + [math.log(n) for n in range(2, 50)] + [v for v, _, _ in MEANT]
    for number in numbers:
        value = rounded(number, dtype)
        if not value:
            continue
        found = meaning(value, dtype)
        bits = jnp.finfo(dtype).nmant + 1
        unit = math.ldexp(1.0, max(math.frexp(value)[1], int(jnp.finfo(dtype).minexp) + 1) - int(bits))
        slack = unit if bits == 53 and not found.as_written else unit / 2
        with precision(256):
            assert found.form is not None
            assert abs(found.form.ball() - arb(value)) <= slack, (number, str(found.form))
            assert found.ball(Reading.ROUNDED).contains(arb(value))
            assert found.ball(Reading.ROUNDED).overlaps(found.ball(Reading.MEANT))
        assert math.isclose(found.form.approximation, value, rel_tol=2.0 ** (2 - bits), abs_tol=unit)


def test_the_reading_is_that_of_the_mirror_image():
    for value in (0.1, 1 / 3, 0.7071067811865475, math.log(3), 0.123456789):
        plus, minus = (meaning(float(f32(sign * value)), np.dtype(f32)) for sign in (1, -1))
        assert plus.form is not None
        assert closed_form.negated(plus.form) == minus.form and plus.radius == minus.radius


@pytest.mark.parametrize("decimal", ["0.9", "0.99", "0.999", "0.7", "0.3"])
@pytest.mark.parametrize("dtype", DTYPES[:2], ids=str)
def test_one_minus_a_decimal(decimal, dtype):
    """What is left of its digits is rounded far more coarsely than such a number is."""
    value = float(dtype.type(1) - dtype.type(decimal))
    found = meaning(value, dtype)
    assert found.form is not None and found.form == rational(1 - Fraction(decimal))
    with precision(256):
        assert found.ball(Reading.ROUNDED).contains(found.form.ball())


def test_masks_and_what_is_not_finite():
    for value in (-1e30, float(np.finfo(f32).min)):
        mask = meaning(value, np.dtype(f32))
        assert mask.form is None and mask.ball(Reading.MEANT) == arb.neg_inf()
        assert mask.reading is not None and mask.reading.text.endswith("is -infinity")
    assert meaning(math.inf, np.dtype(f32)).ball(Reading.ROUNDED) == arb.pos_inf()
    assert meaning(math.nan, np.dtype(f32)).ball(Reading.MEANT).is_nan()
    for value in (1e30, -1e3, -1e9, -9e29):
        assert meaning(value, np.dtype(f32)).form is not None


def test_arrays_are_read_entry_by_entry():
    found = meanings(np.array([[1, 1 / 3], [0.1, -np.inf]], f32), np.dtype(f32))
    assert found is not None
    texts = [[str(found.distinct[code].form) for code in row] for row in found.codes]
    assert texts == [["1", "1/3"], ["1/10", "None"]]
    assert meanings(np.zeros((0, 3), f32), np.dtype(f32)) is None
    assert meanings(np.random.default_rng(0).random(5000), np.dtype(f64)) is None


def test_sixteen_bits_are_never_roots_or_logarithms():
    """Nearly every one of them is next to some root."""
    for dtype in DTYPES[2:]:
        for number in np.random.default_rng(1).random(200):
            found = meaning(float(np.asarray(number).astype(dtype)), dtype)
            assert found.form is not None and found.form.rational is not None


# --- closed forms -----------------------------------------------------------------------------------------------------

half = Fraction(1, 2)
pi, root_two = Product(Fraction(1), ((PI, Fraction(1)),)), Product(Fraction(1), ((2, half),))


def known(form: ClosedForm | None) -> ClosedForm:
    """A closed form that exists."""
    assert form is not None
    return form


def log(x: ClosedForm) -> ClosedForm:
    """The logarithm of a number that has one in closed form."""
    return known(closed_form.logarithm(x))


FORMS = [rational(0), rational(1), rational(Fraction(-3, 7)), rational(12), pi, root_two]
FORMS += [log(rational(10)), log(pi), known(closed_form.exponential(rational(half)))]
FORMS += [known(closed_form.power(rational(6), -half)), known(closed_form.multiplied(pi, log(rational(3))))]
FORMS += [known(closed_form.divided(rational(1), log(rational(Fraction(2, 3)))))]

OPERATIONS: dict[str, tuple[Callable, Callable]] = {
    "times": (closed_form.multiplied, lambda x, y: x * y),
    "plus": (closed_form.added, lambda x, y: x + y),
    "over": (closed_form.divided, lambda x, y: x / y),
    "log": (lambda x, y: closed_form.logarithm(x), lambda x, y: x.log()),
    "exp": (lambda x, y: closed_form.exponential(x), lambda x, y: x.exp()),
    "root": (lambda x, y: closed_form.power(x, half), lambda x, y: x.sqrt()),
    "-2/3": (lambda x, y: closed_form.power(x, Fraction(-2, 3)), lambda x, y: x ** (arb(-2) / 3)),
    "minus": (lambda x, y: closed_form.negated(x), lambda x, y: -x),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_closed_forms_are_the_values_of_balls(name):
    """Wherever an operation has a closed form, it is the operation's value to 200 bits; and some have one."""
    closed, on_balls = OPERATIONS[name]
    found = 0
    for x in FORMS:
        for y in FORMS:
            result = closed(x, y)
            if result is None:
                continue
            found += 1
            with precision(256):
                assert abs(result.ball() - on_balls(x.ball(), y.ball())) <= arb(2) ** -200 * (1 + abs(result.ball()))
            assert math.isclose(result.approximation, float(result.ball().mid()), rel_tol=1e-12, abs_tol=1e-14)
            assert not result.positive or result.ball() > 0
    assert found >= len(FORMS)


def test_closed_forms_say_none_where_nothing_is_defined():
    zero, minus = rational(0), rational(-2)
    assert closed_form.divided(pi, zero) is None
    assert closed_form.logarithm(zero) is None and closed_form.logarithm(minus) is None
    assert closed_form.power(minus, half) is None and closed_form.power(zero, Fraction(-1)) is None
    assert closed_form.exponential(rational(10**6)) is None
    assert closed_form.added(pi, root_two) is None


# --- pairs ------------------------------------------------------------------------------------------------------------


class Row(NamedTuple):
    """Two functions that are equal as meant, and a twin that is another function however constants are read."""

    name: str
    left: Callable
    right: Callable
    twin: Callable
    specs: tuple


INVERSE = (1 / 10000 ** (np.arange(0, 8, 2) / 8)).astype(f32)[None]
ROPE = spec(4, 4)
places = lambda: jnp.arange(4, dtype=f32)[:, None]
even = lambda: jnp.arange(0, 8, 2, dtype=f32)[None]
normal = lambda x, m, s: -f32(0.5) * ((x - m) / s) ** 2 - jnp.log(s) - f32(0.5) * jnp.log(f32(2 * np.pi))
softmax_of = lambda x, fill: jax.nn.softmax(jnp.where(np.array([True, False, True]), x, fill))

TRUE = [
    Row("log 2", lambda x: x + jnp.log(f32(2)), lambda x: x + f32(np.log(2)), lambda x: x + f32(0.6931), (S,)),
    Row(
        "cumulative mean",
        lambda x: jnp.cumsum(x) * np.array([1, 1 / 2, 1 / 3], f32),
        lambda x: jnp.cumsum(x) / np.array([1, 2, 3], f32),
        lambda x: jnp.cumsum(x) * np.array([1, 1 / 2, 0.3333], f32),
        (V,),
    ),
    Row("I/3", lambda x: x @ (np.eye(3, dtype=f32) / 3), lambda x: x / 3, lambda x: x / f32(3.0001), (M,)),
    Row("0.001", lambda x: x * f32(0.001), lambda x: x / 1000, lambda x: x / 1001, (V,)),
    Row("0.999", lambda x: x * f32(0.999), lambda x: x - x / 1000, lambda x: x - x / 1001, (V,)),
    Row("0.01", lambda x: x * f32(0.01), lambda x: x / 100, lambda x: x * f32(0.0100001), (V,)),
    Row("0.02", lambda x: x * f32(0.02), lambda x: x / 50, lambda x: x / 51, (V,)),
    Row(
        "root of 2/π",
        lambda x: x * jnp.sqrt(2 / f32(jnp.pi)),
        lambda x: x * f32(0.7978845608),
        lambda x: x * f32(0.79788),
        (V,),
    ),
    Row("r²", lambda x: x * f32(0.5**0.5) * f32(0.5**0.5), lambda x: x / 2, lambda x: x * f32(0.7071) ** 2, (V,)),
    Row(
        "Normal, summed in another order",
        normal,
        lambda x, m, s: -((x - m) ** 2) / (2 * s**2) - (f32(0.9189385332046727) + jnp.log(s)),
        lambda x, m, s: -((x - m) ** 2) / (2 * s**2) - (f32(0.9189) + jnp.log(s)),
        (S, S, S),
    ),
    Row(
        "Normal, as numpyro writes it",
        normal,
        lambda x, m, s: -(((x - m) / s) ** 2) / 2 - jnp.log(jnp.sqrt(f32(2 * np.pi)) * s),
        lambda x, m, s: -(((x - m) / s) ** 2) / 2 - jnp.log(jnp.sqrt(f32(np.pi)) * s),
        (S, S, S),
    ),
    Row(
        "StudentT",
        lambda x, n: gammaln((n + 1) / 2) - gammaln(n / 2) - jnp.log(n * f32(np.pi)) / 2 - jnp.log1p(x * x / n),
        lambda x, n: gammaln((n + 1) / 2) - gammaln(n / 2) - (jnp.log(n) / 2 + f32(0.57236494)) - jnp.log1p(x * x / n),
        lambda x, n: gammaln((n + 1) / 2) - gammaln(n / 2) - (jnp.log(n) / 2 + f32(0.5724)) - jnp.log1p(x * x / n),
        (S, S),
    ),
    Row(
        "HalfNormal",
        lambda x, s: -f32(0.5) * (x / s) ** 2 - jnp.log(s) - f32(0.5) * jnp.log(f32(np.pi / 2)),
        lambda x, s: f32(0.5 * np.log(2 / np.pi)) - jnp.log(s) - f32(0.5) * (x / s) ** 2,
        lambda x, s: f32(0.5 * np.log(2 / np.pi) + 1e-4) - jnp.log(s) - f32(0.5) * (x / s) ** 2,
        (S, S),
    ),
    Row(
        "LogNormal",
        lambda y, s: -(y**2) / (2 * s**2) - jnp.log(s * jnp.sqrt(f32(2 * np.pi))) - y,
        lambda y, s: -y - jnp.log(s) - f32(0.5 * np.log(2 * np.pi)) - f32(0.5) * (y / s) ** 2,
        lambda y, s: -y - jnp.log(s) - f32(np.log(2 * np.pi)) - f32(0.5) * (y / s) ** 2,
        (S, S),
    ),
    Row(
        "Laplace",
        lambda x, s: -jnp.abs(x) / s - jnp.log(2 * s),
        lambda x, s: -jnp.abs(x) / s - jnp.log(s) - f32(np.log(2)),
        lambda x, s: -jnp.abs(x) / s - jnp.log(s) - f32(0.6932),
        (S, S),
    ),
    Row(
        "entropy",
        lambda s: f32(0.5) * jnp.log(f32(2 * np.pi * np.e)) + jnp.log(s),
        lambda s: jnp.log(s) + f32(0.5 + 0.5 * np.log(2 * np.pi)),
        lambda s: jnp.log(s) + f32(1.4189),
        (S,),
    ),
    Row(
        "distribution function",
        lambda x, s: f32(0.5) * (1 + jax.lax.erf(x / (s * jnp.sqrt(f32(2))))),
        lambda x, s: f32(0.5) * (1 + jax.lax.erf(x * f32(0.70710678) / s)),
        lambda x, s: f32(0.5) * (1 + jax.lax.erf(x * f32(0.7071) / s)),
        (S, S),
    ),
    Row(
        "rotary frequencies",
        lambda x: x * jnp.cos(places() * INVERSE),
        lambda x: x * jnp.cos(places() / (f32(10000) ** (even() / 8))),
        lambda x: x * jnp.cos(places() / (f32(10000) ** (even() / 9))),
        (ROPE,),
    ),
    Row(
        "rotary frequencies by exp",
        lambda x: x * jnp.cos(places() * INVERSE),
        lambda x: x * jnp.cos(places() * jnp.exp(even() * f32(-np.log(10000) / 8))),
        lambda x: x * jnp.cos(places() * jnp.exp(even() * f32(-np.log(10001) / 8))),
        (ROPE,),
    ),
    Row(
        "fourth roots",
        lambda q, k: (q * f32(80**-0.25)) * (k * f32(80**-0.25)),
        lambda q, k: q * k / f32(80**0.5),
        lambda q, k: q * k / f32(81**0.5),
        (V, V),
    ),
    Row("exp2", jnp.exp2, lambda x: jnp.exp(x * f32(np.log(2))), lambda x: jnp.exp(x * f32(0.69315)), (V,)),
    Row("log2 e", lambda x: jnp.exp2(x * f32(1 / np.log(2))), jnp.exp, lambda x: jnp.exp2(x * f32(1.4427)), (V,)),
    Row("e", lambda x: jnp.exp(x + 1), lambda x: f32(np.e) * jnp.exp(x), lambda x: f32(2.7183) * jnp.exp(x), (V,)),
    Row("2 exp x", lambda x: jnp.exp(x + f32(np.log(2))), lambda x: 2 * jnp.exp(x), lambda x: 3 * jnp.exp(x), (V,)),
    Row("log 3x", lambda x: jnp.log(3 * x), lambda x: jnp.log(x) + f32(np.log(3)), lambda x: jnp.log(x) + 1, (S,)),
    Row(
        "degrees", lambda x: jnp.sin(x * f32(np.pi) / 180), lambda x: jnp.sin(jnp.deg2rad(x)), jnp.sin, (V,)
    ),
    Row(
        "1 - 0.999",
        lambda m, g: jnp.float32(0.999) * m + (1 - jnp.float32(0.999)) * g,
        lambda m, g: f32(0.999) * m + f32(0.001) * g,
        lambda m, g: f32(0.999) * m + f32(0.0011) * g,
        (V, V),
    ),
    Row(
        "1 - 0.9 in NumPy",
        lambda m, g: f32(0.9) * m + (f32(1) - f32(0.9)) * g,
        lambda m, g: m + f32(0.1) * (g - m),
        lambda m, g: m + f32(0.1001) * (g - m),
        (V, V),
    ),
    Row("1 - 0.9 in float64", lambda x: x * (1 - 0.9), lambda x: x / 10, lambda x: x * (1 - 0.90001), (D,)),
    Row(
        "-1e30 as a mask",
        lambda x: softmax_of(x, f32(-1e30)),
        lambda x: softmax_of(x, -jnp.inf),
        lambda x: softmax_of(x, f32(-1)),
        (V,),
    ),
    Row("bfloat16", lambda x: x * jnp.bfloat16(0.1), lambda x: x / jnp.bfloat16(10), lambda x: x / jnp.bfloat16(11),
        (spec(3, dtype=jnp.bfloat16),)),
    Row("float64", lambda x: x * (1 / 3), lambda x: x / 3, lambda x: x * float(f32(1 / 3)), (D,)),
    Row("float64 exp2", jnp.exp2, lambda x: jnp.exp(x * np.log(2)), lambda x: jnp.exp(x * float(f32(np.log(2)))), (D,)),
    Row("float64 root", lambda x: x * (1 / np.sqrt(8.0)), lambda x: x / jnp.sqrt(f64(8)), lambda x: x * 0.35355, (D,)),
]  # fmt: skip

every = pytest.mark.parametrize("row", TRUE, ids=lambda row: row.name)


@every
def test_equal_as_meant_is_certified_and_says_how_constants_are_read(row):
    certificate = certify(row.left, row.right, *row.specs)
    assert certificate.verdict is Verdict.CERTIFIED, certificate.evidence
    constants = certificate.evidence[0].figures["constants"]
    assert constants
    for constant in constants:
        assert Assumption(AssumptionKind.CONSTANT, constant) in certificate.assumptions
        assert constant["dtype"] in ConstantReading(**constant).text


@every
def test_twins_are_refuted(row):
    """Or at least not certified, where ball arithmetic has no way either."""
    certificate = certify(row.left, row.twin, *row.specs)
    assert certificate.verdict not in NEVER
    assert certificate.verdict is Verdict.REFUTED or row.name in ("StudentT",), certificate.evidence


@every
def test_beside_a_part_that_prime_fields_refuse_nothing_is_refuted(row):
    if row.specs[0].shape != (3,) or row.specs[0].dtype != np.float32:
        return
    beside = lambda function: lambda x, *others: function(x, *others) + pick(x)
    certificate = certify(beside(row.left), beside(row.right), *row.specs)
    assert certificate.verdict in (Verdict.AGREES, Verdict.CERTIFIED), certificate.evidence


root = lambda n: jnp.sqrt(jnp.float32(n))

WRITTEN = [
    ("the same constant", lambda x: x * f32(0.1), lambda x: f32(0.1) * x, V),
    ("a table", lambda x: x @ np.full((3, 2), 0.3, f32), lambda x: (np.full((2, 3), 0.3, f32) @ x.T).T, M),
    ("dyadic", lambda x: x * f32(0.375), lambda x: 3 * x / 8, V),
    ("roots that are computed", lambda x: x * jnp.sqrt(f32(8)), lambda x: 2 * x * jnp.sqrt(f32(2)), V),
    ("products of roots", lambda x: x * jnp.sqrt(jnp.float32(6)), lambda x: x * root(2) * root(3), V),
    ("with others", lambda x: x * jnp.sqrt(jnp.float32(22)), lambda x: x * root(2) * root(11), V),
    ("logarithms that are computed", lambda x: x * jnp.log(f32(8)), lambda x: 3 * x * jnp.log(f32(2)), V),
    ("masks", lambda x: softmax_of(x, f32(-1e30)), lambda x: softmax_of(1 * x, f32(-1e30)), V),
]


@pytest.mark.parametrize("row", WRITTEN, ids=lambda row: row[0])
def test_equal_as_written_assumes_nothing_about_constants(row):
    certificate = certify(*row[1:])
    assert certificate.verdict is Verdict.CERTIFIED, certificate.evidence
    assert certificate.evidence[0].figures["constants"] == []
    assert not any(a.kind is AssumptionKind.CONSTANT for a in certificate.assumptions)


APART = [
    ("four digits", lambda x: x * f32(0.7071), lambda x: x * f32(0.7072), V),
    ("four units", lambda x: x * f32(0.5**0.5), lambda x: x * f32(0.5**0.5 + 4 * 2.0**-24), V),
    ("a coefficient", lambda x: f32(1.5) * x, lambda x: f32(1.501) * x, V),
    ("roots", lambda x: x * jnp.sqrt(jnp.float32(6)), lambda x: x * jnp.sqrt(jnp.float32(2)) * f32(1.7321), V),
    ("signs", lambda x: x * jnp.sqrt(jnp.float32(6)), lambda x: -x * root(2) * root(3), V),
    ("beside a table", lambda x: x * f32(0.1) + f32(0.2), lambda x: x * f32(0.1) + f32(0.2000001), V),
    ("one entry", lambda x: x * np.array([0.1, 0.2, 0.3], f32), lambda x: x * np.array([0.1, 0.2, 0.30001], f32), V),
    ("float64, float32 accuracy", lambda x: x * math.pi, lambda x: x * float(f32(math.pi)), D),
    ("beside what fields refuse", lambda x: x * f32(0.7071) + pick(x), lambda x: x * f32(0.7072) + pick(x), V),
]


@pytest.mark.parametrize("row", APART, ids=lambda row: row[0])
def test_constants_that_differ_by_more_than_rounding_are_refuted(row):
    certificate = certify(*row[1:])
    assert certificate.verdict is Verdict.REFUTED, certificate.evidence


ROUNDED = [
    ("one unit", lambda x: x * f32(0.12345679), lambda x: x * np.nextafter(f32(0.12345679), f32(1)), V),
    ("a root of 16 bits", lambda x: x * jnp.bfloat16(80**-0.5), lambda x: x / jnp.bfloat16(80**0.5),
     spec(3, dtype=jnp.bfloat16)),
    ("a table of cosines", lambda x: x * np.cos(np.arange(3) / 7).astype(f32),
     lambda x: x * jnp.cos(jnp.arange(3, dtype=f32) / 7), V),
    ("a power", lambda x: x * f32(1.1**20), lambda x: x * jnp.float32(1.1) ** 20, V),
]  # fmt: skip


@pytest.mark.parametrize("row", ROUNDED, ids=lambda row: row[0])
def test_what_rounding_of_a_constant_explains_is_not_refuted_and_is_said(row):
    certificate = certify(*row[1:])
    assert certificate.verdict is Verdict.UNKNOWN, certificate.evidence
    assert "one that rounding of constants explains: " in certificate.evidence[0].finding


# --- decisions --------------------------------------------------------------------------------------------------------

seven, tenth = lambda: jnp.float32(0.7) * 10, lambda: jnp.float32(0.1)
FLIPS = [
    ("cast", lambda x: x * seven().astype(int).astype(f32), (lambda x: 6 * x, lambda x: 7 * x)),
    ("1/49", lambda x: x * (49 * jnp.float32(1 / 49)).astype(int).astype(f32), (lambda x: 0 * x, lambda x: x)),
    ("floor", lambda x: x * jnp.floor(seven()), (lambda x: 6 * x, lambda x: 7 * x, lambda x: x * jnp.floor(f32(7)))),
    ("ceil", lambda x: x * jnp.ceil(tenth() * 10), (lambda x: x, lambda x: 2 * x)),
    ("round", lambda x: x * jnp.round(tenth() * 25), (lambda x: 2 * x, lambda x: 3 * x)),
    ("sign", lambda x: x * jnp.sign(tenth() * 10 - 1), (lambda x: 0 * x, lambda x: x, lambda x: -x)),
    ("rem", lambda x: x * jax.lax.rem(seven(), f32(1)), (lambda x: 0 * x, lambda x: x)),
    ("comparison", lambda x: jnp.where(3 * tenth() > f32(0.3), x, 2 * x), (lambda x: x, lambda x: 2 * x)),
    ("equality", lambda x: jnp.where(3 * tenth() == f32(0.3), x, 2 * x), (lambda x: x, lambda x: 2 * x)),
    ("cond", lambda x: jax.lax.cond(3 * tenth() >= f32(0.3), lambda: x, lambda: 2 * x), (lambda x: x, lambda x: 2 * x)),
    (
        "argmax",
        lambda x: x[jnp.argmax(jnp.array([0.3, 0, 0], f32) + tenth() * jnp.array([0, 3, 1], f32))] + 0 * x,
        (lambda x: x[0] + 0 * x, lambda x: x[1] + 0 * x),
    ),
    ("order", lambda x: x[jnp.argsort(tenth() * jnp.array([3, 1, 2], f32) - np.array([0.3, 0, 0.1], f32))],
     (lambda x: x[np.array([0, 1, 2])], lambda x: x[np.array([0, 2, 1])])),
    ("index", lambda x: x[(jnp.linspace(0, 1, 4)[:3] * 3).astype(int)], (lambda x: 1 * x,)),
]  # fmt: skip
"""(name, a program that decides by a constant next to a jump, what it would be one way and the other)."""

DECIDED = [
    ("cast", lambda x: x * (jnp.float32(0.75) * 10).astype(int).astype(f32), lambda x: 7 * x, lambda x: 8 * x),
    ("1/49", lambda x: x * (50 * jnp.float32(1 / 49)).astype(int).astype(f32), lambda x: 1 * x, lambda x: 0 * x),
    ("floor", lambda x: x * jnp.floor(tenth() * 75), lambda x: 7 * x, lambda x: 8 * x),
    ("ceil", lambda x: x * jnp.ceil(tenth() * 11), lambda x: 2 * x, lambda x: x + 0 * x),
    ("round", lambda x: x * jnp.round(tenth() * 26), lambda x: 3 * x, lambda x: 2 * x),
    ("sign", lambda x: x * jnp.sign(tenth() * 9 - 1), lambda x: -x, lambda x: x + 0 * x),
    ("rem", lambda x: x * jax.lax.rem(f32(7.5) + 0 * jnp.float32(1), f32(1)), lambda x: x / 2, lambda x: x / 3),
    ("comparison", lambda x: jnp.where(3 * tenth() > f32(0.2), x, 2 * x), lambda x: 1 * x, lambda x: 2 * x),
    ("NaN", lambda x: jnp.where(jnp.isnan(jnp.float32(jnp.inf) - jnp.inf), x, 2 * x), lambda x: 1 * x, lambda x: 2 * x),
    ("positions", lambda x: jnp.where(jnp.arange(3, dtype=f32) < f32(1.5), x, 0),
     lambda x: x * np.array([1, 1, 0], f32),
     lambda x: x * np.array([1, 0, 0], f32)),
    ("order", lambda x: x[jnp.argsort(tenth() * jnp.array([3, 1, 2], f32))], lambda x: x[np.array([1, 2, 0])],
     lambda x: x[np.array([1, 0, 2])]),
]  # fmt: skip
"""(name, a program that decides by constants that are far from a jump, what it is, what it is not)."""


@pytest.mark.parametrize("row", FLIPS, ids=lambda row: row[0])
def test_what_a_reading_could_flip_is_decided_neither_way(row):
    for other in row[2]:
        certificate = certify(row[1], other, V)
        assert certificate.verdict is Verdict.UNKNOWN, certificate.evidence


@pytest.mark.parametrize("row", DECIDED, ids=lambda row: row[0])
def test_what_no_reading_flips_is_decided(row):
    name, left, right, wrong = row
    assert certify(left, right, V).verdict is Verdict.CERTIFIED
    assert certify(left, wrong, V).verdict is Verdict.REFUTED


TENTHS, HUNDREDTHS = ((f32(1 - d), f32(1) - f32(d)) for d in (0.9, 0.99))
where, least = jnp.where, jnp.minimum
shifted = lambda x: jnp.log(2 * (1 + x * x))
equal = lambda x: jnp.log(1 + x * x) + f32(np.log(2))
ONE_NUMBER = [
    ("above", TENTHS, lambda x, c, d: where(x >= d, where(x > c, shifted(x), 7), x),
     lambda x, c, d: where(x >= d, equal(x), x)),
    ("below", TENTHS, lambda x, c, d: where(x <= c, where(x < d, shifted(x), 7), x),
     lambda x, c, d: where(x <= c, equal(x), x)),
    ("equal", TENTHS, lambda x, c, d: where(x == d, where(x == c, 7, shifted(x)), x),
     lambda x, c, d: where(x == d, equal(x), x)),
    ("at most", HUNDREDTHS, lambda x, d, c: where(least(x, c) < d, shifted(x), 7), lambda x, d, c: equal(x)),
    ("at least", HUNDREDTHS, lambda x, d, c: where(least(x, c) >= d, 7, shifted(x)), lambda x, d, c: equal(x)),
    ("an array", HUNDREDTHS, lambda x, d, c: where(least(x, np.array([0, c, 0], f32)) < d, shifted(x), 7),
     lambda x, d, c: equal(x)),
]  # fmt: skip
"""(name, two floats that are read as one number, what they decide, what that is if the one is above the other)."""


@pytest.mark.parametrize("row", ONE_NUMBER, ids=lambda row: row[0])
def test_floats_that_are_read_as_one_number_are_not_told_apart(row):
    """As written the one is above the other; as meant, which the logarithms need, they are equal."""
    name, constants, left, right = row
    pair = lambda c, d: certify(lambda x: left(x, c, d), lambda x: right(x, c, d), V)
    assert pair(*constants).verdict not in NEVER
    decimal, complement = constants
    assert pair(decimal * f32(2 if complement < decimal else 0.5), complement).verdict is Verdict.CERTIFIED


def test_positions_of_quantiles():
    quantile = lambda x: jnp.quantile(x, 0.7, method="lower")
    certificate = certify(quantile, lambda x: jnp.sort(x)[6], spec(11))
    assert certificate.verdict is Verdict.UNKNOWN
    assert "0.7 (float32)" in certificate.evidence[0].finding
    half = lambda x: jnp.quantile(x, 0.5, method="lower")
    assert certify(half, lambda x: jnp.sort(x)[5], spec(11)).verdict is Verdict.CERTIFIED


@pytest.mark.parametrize("fill", [-1e9, -1e4])
def test_fills_that_are_no_masks_are_not_refuted_by_what_no_float_holds(fill):
    """exp(-1e9) and 0 differ, but a counterexample has to be seen in floats."""
    certificate = certify(lambda x: softmax_of(x, f32(fill)), lambda x: softmax_of(x, -jnp.inf), V)
    assert certificate.verdict not in NEVER
    if certificate.counterexample is not None:
        assert certificate.counterexample.left != certificate.counterexample.right


@pytest.mark.parametrize("decision", [lambda m: jnp.isinf(m), lambda m: m * 10 < f32(-1e30), lambda m: m < m / 2])
def test_whether_a_mask_is_a_number_decides_nothing(decision):
    left = lambda x: jnp.where(decision(jnp.float32(-1e30)), x, 2 * x)
    for right in (lambda x: 1 * x, lambda x: 2 * x):
        assert certify(left, right, V).verdict not in NEVER


def test_a_search_that_finds_nothing_refutes_nothing():
    assert refutation(lambda: None, certify(jnp.sin, jnp.sin, S).evidence[0], lambda found: "") is None
