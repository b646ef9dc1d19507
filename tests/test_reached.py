"""What the inputs of a domain reach: branches that are left out, and decisions that ranges, cases and facts make."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from jax import lax
from jax.extend.core import jaxpr_as_fun

from uat_jax.decide.domain import EVERYWHERE, Domains, Interval
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.reached import without_unreached
from uat_jax.interpret.integer_ranges import Range, ranges, signs_between
from uat_jax.numbers.prime_fields.field_functions import LAWS

X = jax.ShapeDtypeStruct((4,), jnp.float32)
INNER = Domains((Interval(0.125, 0.875),))
POSITIVE = Domains((Interval(0.0, np.inf, open=True),))
HALF = Domains((Interval(0.0, np.inf),))
MASK = np.array([True, False, True, True])


def choice(condition):
    """A function that is sin x where a condition holds, and log (1 + x²) elsewhere."""
    return lambda x: jnp.where(condition(x), jnp.sin(x), jnp.log(1 + x * x))


# name → a condition on x, the domain of x, and whether it holds there: True or False for all, None for some
DECIDED = {
    "equal to an end": (lambda x: x == 0.125, INNER, None),
    "above the lower end": (lambda x: x > 0.125, INNER, None),
    "at least the lower end": (lambda x: x >= 0.125, INNER, True),
    "below the upper end": (lambda x: x < 0.875, INNER, None),
    "outside": (lambda x: (x == 0) | (x == 1), INNER, False),
    "not outside": (lambda x: ~((x <= 0) | (x >= 1)), INNER, True),
    "above an open end": (lambda x: x > 0, POSITIVE, True),
    "above a closed end": (lambda x: x > 0, HALF, None),
    "an inverse": (lambda x: 1 / x > 0, POSITIVE, True),
    "an inverse of what may be 0": (lambda x: 1 / x >= 0, HALF, None),
    "a logarithm": (lambda x: jnp.log(x) < 0, INNER, True),
    "a logarithm of what may be negative": (lambda x: jnp.log(x) <= 10, Domains((Interval(-1.0, 2.0),)), None),
    "a root of what may be negative": (lambda x: jnp.sqrt(x) >= 0, EVERYWHERE, None),
    "a power": (lambda x: x**0.25 < 0.97, INNER, True),
    "finite": (jnp.isfinite, EVERYWHERE, True),
    "finite, of a quotient": (lambda x: jnp.isfinite(1 / x), EVERYWHERE, None),
    "not NaN": (lambda x: x != x, EVERYWHERE, False),
    "not NaN, of a quotient": (lambda x: x / x != x / x, EVERYWHERE, None),
    "below infinity": (lambda x: jnp.exp(x) < jnp.inf, EVERYWHERE, True),
    "NaN above": (lambda x: x > jnp.nan, EVERYWHERE, None),
    "a mask": (lambda x: MASK & (x > 0), POSITIVE, None),
    "a mask alone": (lambda x: MASK | (x < 0), POSITIVE, None),
    "all of them": (lambda x: (x > 0).all(), POSITIVE, True),
    "a constant between two floats": (lambda x: x * 0 + 0.1 > np.float32(0.1), INNER, None),
    "a sum of a bound and a number": (lambda x: jnp.float16(0.125) + x.astype(jnp.float16) >= 0.25, INNER, True),
}


@pytest.mark.parametrize("name", DECIDED)
def test_a_branch_is_left_out_where_no_input_takes_it(name):
    condition, domains, holds = DECIDED[name]
    reached = without_unreached(jax.make_jaxpr(choice(condition))(X), domains)
    names = {e.primitive.name for e in reached.jaxpr.eqns} | set(str(reached).replace("[", " ").split())
    assert ("sin" in names, "log" in names) == {True: (True, False), False: (False, True), None: (True, True)}[holds]


@pytest.mark.parametrize("name", DECIDED)
def test_what_is_left_has_the_same_values_in_the_domain(name):
    condition, domains, _ = DECIDED[name]
    program = jax.make_jaxpr(choice(condition))(X)
    left, right = (jax.jit(jaxpr_as_fun(p)) for p in (program, without_unreached(program, domains)))
    low, high = (max(domains[0].low, -4.0), min(domains[0].high, 4.0))
    tiny = np.finfo(np.float32).tiny if domains[0].open else low  # smaller ones count as 0 on some devices
    for x in (np.full(4, tiny), np.full(4, high), np.linspace(tiny, high, 4), np.full(4, (low + high) / 2)):
        x = np.asarray(x, np.float32)
        np.testing.assert_allclose(left(x)[0], right(x)[0], rtol=2.0**-20, atol=1e-40)  # a few roundings


def test_a_constant_that_is_a_random_key_is_no_number():
    key = jax.random.key(7)
    program = jax.make_jaxpr(lambda x: jnp.where(jax.random.bernoulli(key, 0.5, x.shape), x, 0))(X)
    assert str(without_unreached(program, INNER)) == str(program)


def test_what_no_output_needs_is_left_out_and_what_is_constant_stays():
    def unneeded(x):
        _ = jnp.linalg.eigvalsh(jnp.outer(x, x))
        return 2 * x

    assert [e.primitive.name for e in without_unreached(jax.make_jaxpr(unneeded)(X), EVERYWHERE).jaxpr.eqns] == ["mul"]
    constant = jax.make_jaxpr(lambda x: jnp.where(x > 0, 1.0, 2.0))(X)
    assert without_unreached(constant, POSITIVE) is constant


# (range of x, range of y, the signs that x − y can have)
SIGNS = [
    ((0, 1), (2, 3), {-1}),
    ((0, 2), (2, 3), {-1, 0}),
    ((2, 3), (0, 2), {0, 1}),
    ((3, 4), (0, 2), {1}),
    ((0, 0), (0, 0), {0}),
    ((0, 2), (1, 3), {-1, 0, 1}),
    ((-np.inf, np.inf), (0, 0), {-1, 0, 1}),
]


@pytest.mark.parametrize(("x", "y", "wanted"), SIGNS)
def test_ranges_say_which_signs_a_difference_has(x, y, wanted):
    assert signs_between(Range(*x), Range(*y)) == wanted
    assert signs_between(Range(*y), Range(*x)) == {-sign for sign in wanted}


@pytest.mark.parametrize("name", ["asinh", "atan", "erf", "exp", "expm1", "log", "log1p", "logistic", "sqrt", "tanh"])
def test_values_of_increasing_functions_lie_in_their_ranges(name):
    function = {"asinh": np.arcsinh, "atan": np.arctan, "erf": lambda x: np.asarray(jax.scipy.special.erf(x))}
    function |= {"logistic": lambda x: 1 / (1 + np.exp(-x))}
    of = function.get(name) or getattr(np, name)
    (equation,) = jax.make_jaxpr(getattr(lax, name))(jnp.float32(0)).eqns
    for low, high in ((-0.5, 0.25), (0.0, 2.0), (0.125, 0.125), (-2.0, np.inf), (-np.inf, 1.0), (800.0, 900.0)):
        (found,) = ranges(equation, [Range(low, high)])
        with np.errstate(all="ignore"):
            values = of(np.clip(np.linspace(max(low, -50.0), min(high, 900.0), 9), low, high))
        values = values[np.isfinite(values)].astype(np.float64)
        assert np.all((found.low <= values + 2.0**-20 * abs(values)) & (values - 2.0**-20 * abs(values) <= found.high))
        if name != "erf" and low == 0.125:
            assert found.high - found.low < 1e-14  # one number, and a float on each side


def equal(left, right, domains, laws=LAWS):
    specs = [X] * max(1, len(domains.of))
    first, second = (jax.make_jaxpr(function)(*specs) for function in (left, right))
    return PrimeFields(first, second, domains=domains, laws=laws).compare().equal


INSIDE = Domains((Interval(0.125, 0.875), Interval(), Interval(0.0, np.inf, open=True)))
PAIR = Domains((Interval(0.0, np.inf, open=True), Interval(0.0, np.inf, open=True)))
SHARES = Domains((Interval(0.125, 0.875), Interval(0.25, 3.5)))
REALS = Domains((Interval(), Interval()))


def support(condition):
    return lambda *x: jnp.where(condition(*x), jnp.exp(x[-1]), -jnp.inf)


always = lambda *x: jnp.exp(x[-1]) + 0 * sum(x)

# name → the law that is needed, a function, what it is equal to, a twin that it is not equal to, and the domains
LAW = {
    "a comparison by cases": (
        "cases",
        support(lambda u, a, w: (a + u * w >= a) & (a + u * w <= a + w)),
        always,
        support(lambda u, a, w: (a + u * w >= a) & (a + 2 * u * w <= a + w)),
        INSIDE,
    ),
    "a comparison of a logarithm of a quotient": (
        "cases",
        support(lambda m, y: jnp.log((m + y) / m) > 0),
        always,
        support(lambda m, y: jnp.log((m + y) / m) > 0.25),
        PAIR,
    ),
    "a sum that is 1": (
        "cases",
        support(lambda x, a: (x + (1 - x) < 1.000001) & (x + (1 - x) > 0.999999)),
        always,
        support(lambda x, a: x + (1 - x) < 1.0),
        SHARES,
    ),
    "the sign of a quotient": (
        "cases",
        lambda x, y: 0.5 - 0.5 * jnp.sign((x - 1) / y) * jnp.expm1(-jnp.abs((x - 1) / y)),
        lambda x, y: jnp.where(x < 1, jnp.exp((x - 1) / y) / 2, 1 - jnp.exp(-(x - 1) / y) / 2),
        lambda x, y: jnp.where(x < 1, jnp.exp((x - 1) / y) / 2, 1 + jnp.exp(-(x - 1) / y) / 2),
        PAIR,
    ),
    "an infinity that is written, and log 0": (
        "cases",
        lambda x, y: jnp.log(jnp.where(x < y, 0.0, 1 / (1 + jnp.exp(y)))),
        lambda x, y: jnp.where(x < y, -jnp.inf, -jnp.log(1 + jnp.exp(y))),
        lambda x, y: jnp.where(x < y, jnp.inf, -jnp.log(1 + jnp.exp(y))),
        REALS,
    ),
    "a logarithm that is met again": (
        "inverse functions",
        lambda u, r: -jnp.expm1(-r * (-jnp.log1p(-u) / r)),
        lambda u, r: u + 0 * r,
        lambda u, r: -jnp.expm1(-2 * r * (-jnp.log1p(-u) / r)),
        SHARES,
    ),
    "entries of several numbers": (
        "",
        lambda x, y: jnp.log(jnp.stack([x, 1 - x], 1)).sum(1),
        lambda x, y: jnp.log(x) + jnp.log1p(-x),
        lambda x, y: jnp.log(x) + jnp.log1p(x),
        SHARES,
    ),
    "the magnitude of a sum of one sign": (
        "logarithm of a product",
        lambda x, y: jnp.log(jnp.abs(-1.0 * x / (1 / x))),
        lambda x, y: 2 * jnp.log(x),
        lambda x, y: 3 * jnp.log(x),
        PAIR,
    ),
    "a difference of exponentials": (
        "logarithm of exponentials",
        lambda x, y: x + jnp.log(-jnp.expm1(-x)),
        lambda x, y: jnp.log(jnp.exp(x) - 1),
        lambda x, y: -x + jnp.log(jnp.exp(x) - 1),
        PAIR,
    ),
    "a sum with an irrational factor": (
        "logarithm of exponentials",
        lambda x, y: jnp.log(jnp.exp(x - jnp.log(y * np.float32(np.sqrt(2 * np.pi)))).sum()),
        lambda x, y: jnp.log((jnp.exp(x) * jnp.exp(-jnp.log(y) - np.float32(np.log(2 * np.pi) / 2))).sum()),
        lambda x, y: jnp.log((jnp.exp(x) * jnp.exp(-jnp.log(y) - np.float32(np.log(2 * np.pi)))).sum()),
        PAIR,
    ),
    "a sum with a rational factor": (
        "logarithm of exponentials",
        lambda x, y: jnp.log(jnp.exp(x - jnp.log(y * np.float32(2))).sum()),
        lambda x, y: jnp.log((jnp.exp(x) * jnp.exp(-jnp.log(y)) / 2).sum()),
        lambda x, y: jnp.log((jnp.exp(x) * jnp.exp(-jnp.log(y)) / 3).sum()),
        PAIR,
    ),
}


@pytest.mark.parametrize("name", LAW)
def test_the_prime_fields_alone_see_that_they_are_equal(name):
    _, left, right, _, domains = LAW[name]
    assert equal(left, right, domains)


def is_needed(name):
    """That the law is needed, and that the twin is another function."""
    law, left, right, twin, domains = LAW[name]
    assert not law or not equal(left, right, domains, LAWS - {law})
    assert not equal(left, twin, domains)


@pytest.mark.parametrize("name", one_in(5, list(LAW)[5:]))
def test_the_law_is_needed_and_a_twin_is_another_function(name):
    is_needed(name)


@pytest.mark.campaign
@pytest.mark.parametrize("name", LAW)
def test_every_law_is_needed_and_every_twin_is_another_function(name):
    is_needed(name)


@pytest.mark.parametrize(
    ("name", "holds"), [("below", lambda x: x < 1), ("above", lambda x: x > 0.0625)], ids=["below", "above"]
)
def test_ranges_decide_in_the_prime_fields_too(name, holds):
    assert equal(lambda x: jnp.where(holds(x), jnp.sin(x), 2.0), jnp.sin, INNER)
    assert not equal(lambda x: jnp.where(holds(x), jnp.sin(x), 2.0), jnp.sin, EVERYWHERE)


root = lambda v: lambda a, b: jnp.tanh(1 / (jnp.sqrt(v(a, b)) + 0.5))

# name → a number below a root, the same in another way, and one that is another number or partly undefined
SQUARES = {
    "a multiple times the number": (lambda a, b: (0.25 * a) * a, lambda a, b: (a * a) / 4, lambda a, b: (0.25 * a) * b),
    "the number times a multiple": (lambda a, b: a * (3 * a), lambda a, b: 3 * (a * a), lambda a, b: a * (-3 * a)),
    "nothing of a number": (
        lambda a, b: 0 * a + 3 * b**2,
        lambda a, b: 3 * b**2,
        lambda a, b: 0 * jnp.sqrt(a) + 3 * b**2,
    ),
    "two multiples": (lambda a, b: (2 * a) * (3 * a), lambda a, b: 6 * a**2, lambda a, b: (2 * a) * (3 * b)),
}


@pytest.mark.parametrize("name", SQUARES)
def test_multiples_of_squares_are_not_negative(name):
    left, right, other = SQUARES[name]
    assert equal(root(left), root(right), REALS)
    try:
        assert not equal(root(other), root(right), REALS)
    except Exception as refused:  # it may be undefined, so it is not followed
        assert "may be zero" in str(refused)
