"""Where two programs part: the line of a mistake, although both compute the same in different ways before and after."""

import inspect
import re

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax.decide.description import describe

pytestmark = pytest.mark.usefixtures("standard_promotion")

F = np.float32
X, V = jax.ShapeDtypeStruct((3, 4), jnp.float32), jax.ShapeDtypeStruct((4,), jnp.float32)
M = jax.ShapeDtypeStruct((4, 4), jnp.float32)


def norm(x, gain, shift, w):
    """A norm and a layer behind it, centred before it is squared."""
    centred = x - x.mean(-1, keepdims=True)
    y = gain * centred / jnp.sqrt((centred**2).mean(-1, keepdims=True) + F(1e-5)) + shift
    return jax.nn.softmax(y @ w, -1)


def moments(x):
    """Rows of mean 0 and variance 1, by moments."""
    mean = x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True) - mean * mean
    return (x - mean) * jax.lax.rsqrt(variance + F(1e-5))


def softmax(x):
    """With exponentials written out."""
    e = jnp.exp(x)
    return e / e.sum(-1, keepdims=True)


def again(x, gain, shift, w):
    """The same by moments, and with exponentials written out."""
    return softmax((moments(x) * gain + shift) @ w)


def wrong_epsilon(x, gain, shift, w):
    mean = x.mean(-1, keepdims=True)
    variance = (x * x).mean(-1, keepdims=True) - mean * mean
    y = (x - mean) * jax.lax.rsqrt(variance + F(1e-3))  # planted
    return softmax((y * gain + shift) @ w)


def wrong_shift(x, gain, shift, w):
    z = moments(x) * gain
    z = z - shift  # planted
    return softmax(z @ w)


def wrong_weight(x, gain, shift, w):
    w = w.at[1, 2].mul(F(1.0001))  # planted
    return softmax((moments(x) * gain + shift) @ w)


def wrong_scale(x, gain, shift, w):
    p = softmax((moments(x) * gain + shift) @ w)
    return p * F(1.0001)  # planted


WRONG = (wrong_epsilon, wrong_shift, wrong_weight, wrong_scale)


def planted(function):
    """The line of the mistake."""
    lines, first = inspect.getsourcelines(function)
    return first + next(i for i, line in enumerate(lines) if "# planted" in line)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_the_line_of_a_mistake_is_named(wrong):
    with jax.default_matmul_precision("highest"):
        certificate = uj.certify(norm, wrong, X, V, V, M)
    assert certificate.verdict is uj.Verdict.REFUTED
    assert f" at test_parting.py:{planted(wrong)}" in certificate.evidence[0].figures["parting"].partition("; right")[2]
    text, found = describe(certificate), certificate.counterexample
    assert found and found.differing
    assert "  they part: left '" in text and f"; {found.differing[0]} of 12 entries differ" in text


def test_two_writings_of_one_function_do_not_part():
    with jax.default_matmul_precision("highest"):
        certificate = uj.certify(norm, again, X, V, V, M)
    assert certificate.verdict is uj.Verdict.CERTIFIED and "they part" not in describe(certificate)


def test_how_far_apart_both_values_are():
    """Of four entries the second differs: 0 against 1 where x is 0."""
    step = np.array([0, 1, 0, 0], np.float32)
    text = describe(uj.certify(lambda x: 2 * x, lambda x: 2 * x + step, V))
    assert "  apart: 1, which is 1 of the larger; 1 of 4 entries differ" in text


LATER = {
    "subtracted again": (lambda x, b: x + b, lambda x, b: (x + b) - b),
    "doubled": (lambda x, b: x + b, lambda x, b: 2 * (x + b)),
    "exchanged": (lambda x, b: (x + b, x * b), lambda x, b: (x * b, x + b)),
}
"""Functions of which one computes nothing that the other one does not."""


@pytest.mark.parametrize("name", LATER)
def test_the_results_are_where_programs_part_that_compute_the_same_values(name):
    text = describe(uj.certify(*LATER[name], V, V))
    assert text.startswith("REFUTED") and re.search(
        r"they part: left '\w+' at test_parting\.py:\d+; right '\w+' at test_parting\.py:\d+\n", text
    )
