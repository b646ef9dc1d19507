"""Counterexamples known beforehand, misfitting shapes, denials and NumPy programs, with twins that must not pass."""

import subprocess
import sys
from fractions import Fraction
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy

from uat_jax.decide import program_witness
from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.exhibits import exhibit, exhibit_numbers
from uat_jax.decide.functions import confirm_functions
from uat_jax.decide.numpy_program import numpy_program
from uat_jax.decide.opposite import opposite
from uat_jax.decide.programs import settle_equation
from uat_jax.decide.shapes import refute_shape
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import InputError, ShapeError, UatJaxError
from uat_jax.symbolic import language as m
from uat_jax.symbolic.program import Program
from uat_jax.symbolic.step import Step

T, F, U, C = Verdict.PROVED, Verdict.REFUTED, Verdict.UNKNOWN, Verdict.CERTIFIED
N, M, h = map(m.dimension, "NMh")

# --- two functions ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("left", "right", "inputs", "verdict"),
    [
        (lambda x: x * x, lambda x: 2 * x, {"x": 1}, F),
        (lambda x: x * x, lambda x: 2 * x, {"x": 2}, U),
        (lambda x: x * x, lambda x: 2 * x, {"x": [0, 2]}, U),
        (lambda x: x * x, lambda x: 2 * x, {"x": [0, 2, 3]}, F),
        (lambda x, y: x @ y, lambda x, y: y @ x, {"x": [[0, 1], [0, 0]], "y": [[0, 0], [1, 0]]}, F),
        (lambda x: jnp.tanh(x), lambda x: 2 * jax.nn.sigmoid(2 * x) - 1, {"x": Fraction(1, 2)}, U),
        (lambda x: (x + 2.0**60) - 2.0**60, lambda x: x, {"x": 1}, U),  # float64 says 0
        (lambda x: x * 0.1 * 10.0, lambda x: x, {"x": 1}, U),  # 0.1 is not 1/10
        (lambda x: x / 3.0, lambda x: x * (1 / 3), {"x": 3}, U),
        (lambda x: jnp.log(x), lambda x: 0.0 * x, {"x": 0}, U),  # −∞ is no value
    ],
)
def test_exhibit(left, right, inputs, verdict):
    found = exhibit(left, right, inputs, what="f = g")
    assert found.verdict == verdict, found.finding
    assert (found.example is not None) == (verdict == F)


@pytest.mark.parametrize("value", [Fraction(1, 3), 2**60 + 1, 10**400, float("nan"), float("inf"), [[1], [1, 2]], "a"])
def test_exhibit_wants_numbers_that_float64_holds(value):
    with pytest.raises(InputError, match="which float64 does not hold exactly"):
        exhibit(lambda x: x, lambda x: x, {"x": value}, what="x = x")


def test_exhibit_wants_inputs_and_one_shape():
    with pytest.raises(InputError, match="exhibit_numbers"):  # without an input a constant is a float32
        exhibit(lambda: jnp.asarray(16777217.0), lambda: jnp.asarray(16777216.0) + 1, {}, what="2^24 + 1")
    with pytest.raises(ShapeError, match="wanted one shape"):
        exhibit(lambda x: x, lambda x: x[None], {"x": [1, 2]}, what="spread")


# --- two numbers -----------------------------------------------------------------------------------------------------

sevenths = [sympy.cos(k * sympy.pi / 7) for k in (1, 2, 3)]


@pytest.mark.parametrize(
    ("left", "right", "verdict"),
    [
        (1, Fraction(1, 2), F),
        (Fraction(2, 4), sympy.Rational(1, 2), U),
        (np.int64(3), 3, U),
        (sympy.sqrt(2) + sympy.sqrt(3), sympy.sqrt(5 + 2 * sympy.sqrt(6)), U),
        (sympy.sqrt(2) + sympy.sqrt(3), sympy.sqrt(5 + 3 * sympy.sqrt(6)), F),
        (sevenths[0] - sevenths[1] + sevenths[2], Fraction(1, 2), U),
        (sevenths[0] - sevenths[1] - sevenths[2], Fraction(1, 2), F),
        (16 * sympy.atan(sympy.Rational(1, 5)) - 4 * sympy.atan(sympy.Rational(1, 239)), sympy.pi, U),
        (sympy.Rational(1, 3) + sympy.Rational(1, 10**40), Fraction(1, 3), F),
    ],
)
def test_exhibit_numbers(left, right, verdict):
    assert exhibit_numbers(left, right, at={}, what="a = b").verdict == verdict
    assert exhibit_numbers(right, left, at={}, what="b = a").verdict == verdict


@pytest.mark.parametrize("value", [0.1 + 0.2, sympy.Symbol("a"), sympy.zoo, sympy.nan, sympy.oo])
def test_numbers_are_exact_and_finite(value):
    with pytest.raises(InputError, match="wanted an exact finite number"):
        exhibit_numbers(value, Fraction(3, 10), at={}, what="a = b")


# --- shapes ----------------------------------------------------------------------------------------------------------


def test_the_smallest_sizes_that_do_not_fit():
    A, B = (lambda n, k: m.Letter("A", n, k)), (lambda n, k: m.Letter("B", n, k))
    found = refute_shape(lambda n, k: A(n, k) @ B(n, k), ("n", "k"), what="A B")
    assert found.example is not None
    assert found.verdict == F and found.example.sizes == {"n": 1, "k": 2}
    assert found.figures["fits"] == "3 of 9 sizes up to 3"
    assert "cannot multiply A (1 × 2) by B (1 × 2)" in found.finding
    assert refute_shape(lambda n, k: A(n, k) @ B(n, k).T, ("n", "k"), what="A Bᵀ").verdict == U
    assert refute_shape(lambda d, h: A(d * h, 1) + B(h * d, 1), ("d", "h"), what="d h").verdict == U


def test_dimensions_that_only_look_different_refute_nothing():
    column = lambda name, size: m.Letter(name, size, 1)
    build = lambda n: column("A", (n**2 - 1) / (n - 1)) + column("B", n + 1)  # no formula at n = 1
    found = refute_shape(build, ("n",), what="n + 1")
    assert found.verdict == U and "no sizes up to 3 show it" in found.finding


# --- denials ---------------------------------------------------------------------------------------------------------


EXAMPLE = Counterexample((), 0, 1, ("0", "1"))


def _evidence(*verdicts):
    return [
        Evidence(Method.COUNTEREXAMPLE, "f", verdict, subject=subject, example=EXAMPLE) for subject, verdict in verdicts
    ]


@pytest.mark.parametrize(
    ("given", "denial"),
    [
        ([("a", T), ("b", T)], F),
        ([("a", T), ("b", F)], T),
        ([("a", F), ("b", F)], T),
        ([("a", F), ("b", U)], U),
        ([("a", F), ("a", U)], T),
        ([("a", T), ("a", U)], U),
        ([("a", T), ("b", C)], U),
        ([("a", C)], U),
        ([("a", T), ("a", C)], F),
        ([("a", T), ("b", Verdict.AGREES)], U),
        ([], U),
    ],
)
def test_opposite_of_several_subjects(given, denial):
    assert combine(opposite(_evidence(*given))) == denial


def test_only_what_decides_is_kept_and_a_counterexample_is_a_witness():
    (found,) = opposite(_evidence(("a", F), ("b", T), ("b", C)))
    assert (found.subject, found.verdict) == ("a", T) and found.example == EXAMPLE
    with pytest.raises(UatJaxError, match="contradict each other"):
        list(opposite(_evidence(("a", F), ("a", C))))


# --- sizes that are chosen -------------------------------------------------------------------------------------------


def test_equal_at_the_sizes_of_the_confirmation_is_not_equal():
    """M X = 2 X at M = 2, where prime fields look: neither certified nor a contradiction to the counterexample."""
    X = m.Letter("X", M, M)
    found = tuple(settle_equation(Step("coincidence", m.Scaled(M, X), m.Scaled(2, X))))
    assert combine(found) == F and C not in {e.verdict for e in found}
    assert "equal at M = 2" in found[1].finding


def test_no_counterexample_at_sizes_that_there_are_not():
    """1 E_2 = 1 needs two slices, and M/h features are a whole number of them."""
    d = M / h
    x, v = m.Letter("x", d, 1), m.Letter("v", d, 1)
    true = Step("slice", m.Ones(1, M) @ m.Selection(2, M, d) @ x, m.Ones(1, d) @ x)
    assert combine(settle_equation(true)) == U
    assert combine(settle_equation(Step("scalar", v.T @ x, x.T @ v))) == U
    false = Step("slice", m.Selection(1, M, d) @ x, m.Selection(2, M, d) @ x)
    (example,) = (e.example for e in settle_equation(false) if e.verdict == F)
    assert example is not None
    assert example.sizes == {"M": 2, "h": 2}


@pytest.mark.parametrize(
    ("step", "error", "message"),
    [
        (Step("constants", m.Identity(N), m.Zero(N, N)), InputError, "neither side has a letter"),
        (Step("shapes", m.Letter("W", N, 1), m.Letter("W", N, M)), ShapeError, "wanted one shape"),
        (Step("spread", m.Letter("W", N, 1), m.Letter("W", N, 1) @ m.Ones(1, N)), ShapeError, "wanted one shape"),
        (
            Step("where", m.Letter("W", N, M), m.Letter("Q", N, M), {m.Letter("Q", N, M): m.Letter("W", M, N)}),
            ShapeError,
            "its definition W have the shapes N × M and M × N",
        ),
    ],
)
def test_equations_that_are_none(step, error, message):
    with pytest.raises(error, match=message):
        list(settle_equation(step))


# --- functions in prime fields ---------------------------------------------------------------------------------------


def test_functions_are_compared_with_all_that_is_assumed():
    third = confirm_functions(lambda x: x / 3.0, lambda x: x * jnp.float32(1 / 3), [(3,)], what="a third")
    assert third.verdict == C and third.assumptions
    assert confirm_functions(lambda x: x + x, lambda x: 3 * x, [(3,)], what="wrong").verdict == U
    constant = lambda x: jnp.ones(3, x.dtype)
    assert confirm_functions(constant, constant, [(3,)], what="vacuous").verdict == U
    nowhere = lambda x: jnp.log(-x * x)
    assert confirm_functions(nowhere, nowhere, [(3,)], what="never defined").verdict == U
    wide: list[Any] = [lambda x: x[None], lambda x: x[:, None], lambda x: (x, x)]
    for wider in wide:
        with pytest.raises(ShapeError, match="wanted the same"):
            confirm_functions(lambda x: x, wider, [(3,)], what="shapes")


# --- NumPy programs, run ---------------------------------------------------------------------------------------------

A = m.Letter("A", 2, 2)
VALUE = np.array([[1, 2], [3, 4]])
k = sympy.Symbol("k", integer=True, positive=True)
relu = lambda z: np.maximum(z, 0)


def _program(side, name):
    return Program({m.Letter(name, *side.shape): side}, m.Letter(name, *side.shape))


def _run(source):
    """Exit status, and the numbers that were printed."""
    done = subprocess.run([sys.executable, "-c", source], capture_output=True, text=True, check=False)
    printed = [[float(v) for v in part.split("]")[0].split(",") if v.strip()] for part in done.stdout.split("[")[1:]]
    return done.returncode, printed


PRODUCTS = {
    "sum": (A - A @ A, VALUE - VALUE @ VALUE),
    "transposed sum": ((A - A @ A).T @ A, (VALUE - VALUE @ VALUE).T @ VALUE),
    "fraction": (m.Scaled(-sympy.Rational(1, 4), A.T) @ A, -VALUE.T @ VALUE / 4),
    "root and pi": (m.Scaled(sympy.pi / sympy.sqrt(N), A), VALUE * np.pi / np.sqrt(2)),
    "sizes": (m.Scaled(N, A), 2 * VALUE),
    "range": (m.RangeSum(m.Scaled(k, A), k, 1, 3).T, 6 * VALUE.T),
    "empty range": (m.RangeSum(A, k, 1, 0) - A, -VALUE),
    "Kronecker": (m.Kronecker(A, A - m.Identity(2)).T, np.kron(VALUE, VALUE - np.eye(2)).T),
    "diagonal": (m.Diagonal(A @ m.Ones(2, 1)), np.diag([3, 7])),
    "entry by entry": (m.Hadamard(A + A, A @ A).T, (2 * VALUE * (VALUE @ VALUE)).T),
    "second slice": (m.Selection(2, 4, 2) @ A, np.vstack([np.zeros((2, 2)), VALUE])),
    "vec and back": (m.Matricised(m.Vectorised(A.T), 1, 4), VALUE.T.reshape(1, 4)),
    "relu": (m.Activation(A - A @ A), relu(VALUE - VALUE @ VALUE)),
    "softmax": (m.RowSoftmax(m.Zero(2, 2)) @ A, np.full((2, 2), 0.5) @ VALUE),
}


@pytest.mark.parametrize("name", PRODUCTS)
def test_the_program_prints_the_value(name):
    expression, value = PRODUCTS[name]
    other = expression + m.Ones(*expression.shape)
    source = numpy_program(_program(expression, "l"), _program(other, "r"), {"A": VALUE.tolist()}, {N: 2}, ("a", "b"))
    status, (left, right) = _run(source)
    assert status == 0
    # At most ten roundings of values below 20: 10 · 20 · 2^-53 < 1e-13.
    np.testing.assert_allclose(left, np.ravel(value), rtol=0, atol=1e-13)
    np.testing.assert_allclose(right, np.ravel(value) + 1, rtol=0, atol=1e-13)
    same = numpy_program(
        _program(expression, "l"), _program(expression, "r"), {"A": VALUE.tolist()}, {N: 2}, ("a", "b")
    )
    assert _run(same)[0] == 1, "equal values refute nothing"


NAMES = ["left", "right", "np", "relu", "softmax", "print", "SystemExit", "lambda", "1x", "W′", "Ŵ", "σ", "x y"]


def test_no_name_of_a_letter_breaks_the_program():
    letters = [m.Letter(name, 2, 2) for name in NAMES]
    inputs = {str(letter): VALUE.tolist() for letter in letters}
    left, right = _program(m.Activation(m.Addition(*letters)), "l"), _program(m.Addition(*letters[1:]), "r")
    assert _run(numpy_program(left, right, inputs, {}, ("a", "b"))) == (
        0,
        [list(np.ravel(VALUE) * float(len(NAMES))), list(np.ravel(VALUE) * float(len(NAMES) - 1))],
    )


def test_an_input_of_one_side_may_be_computed_by_the_other():
    y, result = m.Letter("y", 2, 2), m.Letter("r", 2, 2)
    network, printed = Program({y: A @ A, result: y + A}, result), Program({result: y + A}, result)
    example = program_witness.refute(network, printed).example
    flat = lambda side: list(np.ravel(np.array(side, float)))
    assert example is not None
    assert _run(example.program) == (0, [flat(example.left), flat(example.right)])
