"""Where u is 0, 1/(0 - u) and -1/u are infinities of two signs, and tanh makes the numbers 1 and -1 of them.

If u is 0 on a half-line, such programs differ for inputs of positive measure.  Every way to compare them is attacked
with these, beside twins with a divisor that is positive, or zero on a null set, which have to be proved.
"""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax import lax

import uat_jax as uj
from uat_jax.decide.all_sizes import sized_programs, symbolic_programs
from uat_jax.decide.array_by_array import ArrayByArray
from uat_jax.decide.domain import EVERYWHERE
from uat_jax.decide.effort import Effort
from uat_jax.decide.loops.strict import all_strict
from uat_jax.decide.loops_evidence import of_loops
from uat_jax.decide.specification import specified, traced
from uat_jax.errors import UnsupportedError
from uat_jax.numbers.indexed import Open, proved

F = np.float32
ROW = jax.ShapeDtypeStruct((2,), F)


def relu(x):
    return jnp.maximum(x, F(0))


def root(x):
    """|x|, of operations that leave nothing out."""
    return jnp.sqrt(x * x)


def smooth(x):
    return jnp.sin(x + jnp.cos(x))


CATCHING = {
    "tanh": jnp.tanh,
    "atan": jnp.arctan,
    "erf": lax.erf,
    "a quotient": lambda x: x / (1 + jnp.abs(x)) + jnp.tanh(x),
    "least and greatest": lambda x: jnp.clip(x, -1, 1),
}
"""Odd functions that make numbers of infinities."""


def quotients(u, function=jnp.tanh, after=lambda y: y):
    """f(1/(0 - u)) and -f(1/u)."""
    return lambda x: after(function(1 / (0 - u(x)))), lambda x: after(-function(1 / u(x)))


# At all sizes.

HALF_LINES = {
    "relu": lambda x: relu(50 - x),
    "relu of a smooth function": lambda x: relu(smooth(x)),
    "a magnitude": lambda x: jnp.abs(x) - x,
    "a mask": lambda x: jnp.where(x > 0, x, 0) * smooth(x),
    "rounding": jnp.floor,
    "a sum of them": lambda x: relu(jnp.tanh(x.sum())) * jnp.ones_like(x),
    "a power of it": lambda x: relu(x) ** 3,
    "what a loop carries": lambda x: lax.scan(lambda c, y: (relu(jnp.tanh(c) + y), None), jnp.float32(1), x)[0] + 0 * x,
    "a place and a size": lambda x: x * jnp.maximum(x.shape[0] - 3, 0),
    "a root of it": lambda x: relu(x) ** F(0.5),
    "a column": lambda x: relu(x)[:1] * jnp.ones_like(x),
}
THIN = {
    "an input": lambda x: x,
    "a polynomial": lambda x: x * x - 3,
    "positive": lambda x: jnp.exp(smooth(x)),
    "positive behind a cut": lambda x: 1 + relu(smooth(x)),
}


def at_all_sizes(left, right):
    """Whether both have one normal form; without a look at float64."""
    spec = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), F)
    specification = specified((spec,), None, False)
    programs = sized_programs(symbolic_programs(left, right, specification), specification)
    try:
        proved(programs.left, programs.right, programs.inputs)
    except Open:
        return False
    return True


@pytest.mark.parametrize("name", HALF_LINES)
def test_no_number_is_made_of_an_infinity_at_all_sizes(name):
    assert not at_all_sizes(*quotients(HALF_LINES[name]))


@pytest.mark.parametrize("name", CATCHING)
def test_no_function_makes_a_number_of_an_infinity_at_all_sizes(name):
    assert not at_all_sizes(*quotients(HALF_LINES["relu"], CATCHING[name], smooth))


@pytest.mark.parametrize("name", THIN)
def test_quotients_by_what_is_zero_on_a_null_set_are_proved_at_all_sizes(name):
    assert at_all_sizes(*quotients(THIN[name], after=smooth))


OPEN = {
    "the next step of a scan": lambda sign: (
        lambda x: lax.scan(
            lambda c, y: (1 / (0 - relu(y)) if sign > 0 else -1 / relu(y), jnp.tanh(c)), jnp.float32(0), x
        )[1]
    ),
    "behind a scan": lambda sign: (
        lambda x: jnp.tanh(
            lax.scan(lambda c, y: (c + (1 / (0 - relu(y)) if sign > 0 else -1 / relu(y)), None), jnp.float32(0), x)[0]
        )
    ),
    "behind rows of a scan": lambda sign: (
        lambda x: lax.scan(
            lambda c, y: (jnp.tanh(y) + c, None), jnp.float32(0), 1 / (0 - relu(x)) if sign > 0 else -1 / relu(x)
        )[0]
    ),
    "behind a cut": lambda sign: lambda x: jnp.tanh(smooth(x) / (0 - relu(x)) if sign > 0 else -smooth(x) / relu(x)),
    "an inverse power": lambda sign: lambda x: jnp.tanh((0 - relu(x)) ** -1 if sign > 0 else -(relu(x) ** -1)),
    "the greatest": lambda sign: lambda x: jnp.clip(1 / (0 - relu(x)) if sign > 0 else -1 / relu(x), -1, 1).max(),
    "a second quotient": lambda sign: lambda x: 1 / (2 + jnp.tanh(1 / (0 - relu(x)) if sign > 0 else -1 / relu(x))),
}
"""Where a number may be made of an infinity, with the infinity of either sign."""


@pytest.mark.parametrize("name", OPEN)
def test_open_numbers_stay_open_at_all_sizes(name):
    assert not at_all_sizes(OPEN[name](1), OPEN[name](-1))


def test_infinities_that_stay_are_proved_at_all_sizes():
    u = HALF_LINES["relu"]
    assert at_all_sizes(lambda x: (x / (0 - u(x))).sum(), lambda x: -(x / u(x)).sum())


# Array by array.

LETTERS = {
    "relu": lambda x: relu(smooth(x)),
    "a magnitude": lambda x: root(smooth(x)) - smooth(x),
    "two letters": lambda x: relu(smooth(x)) * relu(jnp.sin(x)),
    "a mask": lambda x: jnp.where(smooth(x) > 0, smooth(x), 0),
}


def by_arrays(left, right):
    programs = [traced(function, (ROW,))[0] for function in (left, right)]
    try:
        return ArrayByArray(programs[0], programs[1], Effort(), None, EVERYWHERE).compared().equal
    except UnsupportedError:
        return False


@pytest.mark.parametrize("name", LETTERS)
@pytest.mark.parametrize("after", [lambda y: y, smooth], ids=["last", "earlier"])
def test_no_number_is_made_of_an_infinity_array_by_array(name, after):
    assert not by_arrays(*quotients(LETTERS[name], after=after))


@pytest.mark.parametrize("name", ["positive", "positive behind a cut"])
def test_quotients_by_what_is_positive_are_equal_array_by_array(name):
    u = THIN[name]
    assert by_arrays(lambda x: smooth(jnp.tanh(-1 / u(x))), lambda x: smooth(-jnp.tanh(1 / u(x))))


# In loops.

LONG = jax.ShapeDtypeStruct((20,), F)


def delayed(u, step, count=5):
    """A loop that makes a step of a number that was computed `count` steps before."""

    def loop(x, y):
        def body(carry, row):
            *late, total = carry
            return (*late[1:], u(row), step(total, late[0])), None

        return lax.scan(body, (*(y[i] for i in range(count)), F(0)), x)[0][-1]

    return loop


def by_induction(u, function=jnp.tanh):
    left = delayed(u, lambda total, late: total + function(1 / (0 - late)))
    right = delayed(u, lambda total, late: total - function(1 / late))
    programs = [traced(loop, (LONG, jax.ShapeDtypeStruct((5,), F)))[0] for loop in (left, right)]
    return of_loops(programs[0], programs[1], Effort(), EVERYWHERE).evidence is not None


@pytest.mark.parametrize("shift", [0, 50])
def test_no_number_is_made_of_an_infinity_in_a_loop(shift):
    assert not by_induction(lambda x: root(x - shift) - (x - shift))


def test_quotients_by_what_is_positive_are_equal_in_loops():
    assert by_induction(jnp.exp, lambda x: x)


@pytest.mark.parametrize(("function", "passes"), [(jnp.tanh, False), (lambda y: y, True)], ids=["caught", "stays"])
def test_no_number_is_made_of_an_infinity_in_a_closed_form(function, passes):
    def step(sign):
        def body(carry, x):
            *late, total = carry
            quotient = 1 / (0 - late[0]) if sign > 0 else -1 / late[0]
            return (*late[1:], root(x - 50) - (x - 50), total + function(quotient)), None

        return body

    initial = (jax.ShapeDtypeStruct((), F),) * 4
    closed = lambda carry, x: lax.scan(step(-1), carry, x)[0]
    assert uj.prove_scan(step(1), closed, initial, jax.ShapeDtypeStruct((4,), F)).passes is passes


STRICT = {
    "sums and quotients": (lambda x: (x / (x + 1)).sum() * x, True),
    "a root of a quotient": (lambda x: jnp.sqrt(x / (x + 1)), True),
    "tanh of a quotient": (lambda x: jnp.tanh(1 / x), False),
    "a quotient of a quotient": (lambda x: 1 / (1 / x), False),
    "tanh of a quotient by a number": (lambda x: jnp.tanh(x / 3), True),
    "tanh behind a sum": (lambda x: jnp.tanh((1 / x).sum() * x), False),
    "an inverse power": (lambda x: jnp.exp(x**-2), False),
    "an inverse root": (lambda x: lax.erf(lax.rsqrt(x)), False),
    "tanh in the next step": (lambda x: lax.scan(lambda c, y: (1 / y, jnp.tanh(c)), F(1), x)[1], False),
    "tanh behind a loop": (lambda x: jnp.tanh(lax.scan(lambda c, y: (c / y, None), F(1), x)[0]), False),
    "tanh before the quotient": (lambda x: 1 / jnp.tanh(x), True),
}
"""(a program, whether what is undefined in it stays so)."""


@pytest.mark.parametrize("name", STRICT)
def test_what_makes_a_number_of_an_infinity_is_not_strict(name):
    function, strict = STRICT[name]
    assert all_strict(jax.make_jaxpr(function)(LONG)) is strict


@pytest.mark.parametrize("x", [-1.0, 60.0])
def test_such_programs_differ(x):
    """So the rows above are false: both values are numbers, for all inputs of a half-line."""
    u = HALF_LINES["relu"] if x > 0 else relu
    left, right = (function(jnp.full(3, x, F)) for function in quotients(u))
    assert (left == 1).all() and (right == -1).all()
