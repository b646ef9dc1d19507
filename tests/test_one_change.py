"""The one change of an operation after which both programs agree, with its line; and no verdict rests on it."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from test_alignment import HOSTILE, _changed, _paths
from test_parting import WRONG, M, V, X, norm, planted

import uat_jax as uj
from uat_jax.decide import one_change as module
from uat_jax.decide.description import describe
from uat_jax.decide.one_change import one_change

pytestmark = pytest.mark.usefixtures("standard_promotion")

F = np.float32
W = jax.ShapeDtypeStruct((2, 4), jnp.float32)


def strassen(a, b):
    """Products of halves, whose names say nothing of what the other side computes."""
    first = (a[0] + a[1]) * (b[0] + b[1])
    second = a[0] * b[0]
    third = a[1] * b[1]
    return first - second - third


def of_sign(a, b):
    first = (a[0] - a[1]) * (b[0] + b[1])  # planted
    second = a[0] * b[0]
    third = a[1] * b[1]
    return first - second - third


def of_function(a, b):
    return jnp.log(jnp.sinh(a[0]) + 2) * b[0]  # planted


def of_number(a, b):
    scale = b[0] / F(4)  # planted
    return a[0] * scale


def of_mean(a, b):
    total = a.mean(-1)  # planted
    return b[:, 0] * total


def of_order(a, b):
    gap = jnp.exp(b) - jnp.exp(a)  # planted
    return gap * gap * gap


def twice(x):
    return jnp.exp(x) * F(3)  # planted


def of_a_line_that_runs_twice(a, b):
    return twice(a[0]) / (1 + twice(b[0]))


def left_out(a, b):
    total = jnp.tanh(a)  # planted
    return total * b


TABLE = {
    "another operation": (lambda a, b: a[0] * b[1] + a[1] * b[0], of_sign, "'sub'", "is 'add'"),
    "another function": (lambda a, b: jnp.log(jnp.cosh(a[0]) + 2) * b[0], of_function, "'sinh'", "is 'cosh'"),
    "another number": (lambda a, b: a[0] * b[0] / F(8), of_number, "'div'", "has 8 for 4"),
    "a mean for a sum": (lambda a, b: b[:, 0] * a.sum(-1), of_mean, "'div'", "is left out"),
    "another order": (lambda a, b: (jnp.exp(a) - jnp.exp(b)) ** 3, of_order, "'sub'", "has its operands exchanged"),
    "one too many": (lambda a, b: b * a, left_out, "'tanh'", "is left out"),
    "a line that runs twice": (
        lambda a, b: 2 * jnp.exp(a[0]) / (1 + 2 * jnp.exp(b[0])),
        of_a_line_that_runs_twice,
        "'mul'",
        "has 2 for 3",
    ),
}
"""The right function, the wrong one, its operation with the mistake, and what mends it."""


@pytest.mark.parametrize("name", TABLE)
def test_the_mistake_is_named_with_its_line(name):
    left, wrong, operation, change = TABLE[name]
    certificate = uj.certify(left, wrong, W, W)
    assert certificate.verdict is uj.Verdict.REFUTED
    where = twice if name == "a line that runs twice" else wrong
    line = f"right {operation} at test_one_change.py:{planted(where)} {change}"
    assert f"they agree if {line}" in one_change(certificate)
    assert f"  they agree if {line}" in describe(certificate)


@pytest.mark.parametrize("name", TABLE)
def test_a_mistake_on_the_left_is_named_too(name):
    right, wrong, operation, change = TABLE[name]
    where = twice if name == "a line that runs twice" else wrong
    line = f"left {operation} at test_one_change.py:{planted(where)} {change}"
    assert line in one_change(uj.certify(wrong, right, W, W))


@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_the_planted_line_of_a_block(wrong):
    """One entry of an array that is multiplied is no operation of the table: the parting alone names that line."""
    with jax.default_matmul_precision("highest"):
        found = one_change(uj.certify(norm, wrong, X, V, V, M))
    assert bool(found) is (wrong.__name__ != "wrong_weight")
    assert not found or f"test_parting.py:{planted(wrong)} " in found.partition(", or if")[0]


def test_two_mistakes_are_not_mended_by_one_change():
    def wrong(a, b):
        return jnp.sin(a[0] * b[0]) + jnp.cosh(a[1] - b[1])

    left = lambda a, b: jnp.cos(a[0] + b[0]) + jnp.sinh(a[1] * b[1])
    assert one_change(uj.certify(left, wrong, W, W)) == ""


def test_functions_that_are_equal_need_no_change():
    left, *_ = TABLE["another number"]
    assert one_change(uj.certify(left, lambda a, b: b[0] / F(8) * a[0], W, W)) == ""


def test_a_file_says_the_same(tmp_path):
    left, wrong, *_ = TABLE["another operation"]
    certificate = uj.certify(left, wrong, W, W)
    assert one_change(uj.load(certificate.save(tmp_path / "c.json"))) == one_change(certificate) != ""


def test_what_takes_long_is_left(monkeypatch):
    left, wrong, *_ = TABLE["another operation"]
    certificate = uj.certify(left, wrong, W, W)
    monkeypatch.setattr(module, "EFFORT", 3)
    assert one_change(certificate) == ""
    monkeypatch.setattr(module, "EFFORT", 60_000)
    monkeypatch.setattr(module, "SECONDS", -1.0)
    assert one_change(certificate) == ""


REFUTED = uj.certify(lambda x: jnp.exp(x) / 2, lambda x: jnp.exp(x) * 2, jax.ShapeDtypeStruct((2,), jnp.float32))
PROGRAMS = json.loads(REFUTED.to_json())["claim"]["programs"]
PLACES = [path for path in _paths(PROGRAMS) if path]


@pytest.mark.parametrize("number", one_in(10, range(len(PLACES))))
def test_a_damaged_certificate_is_no_error(number):
    for value in HOSTILE:
        claim = {**REFUTED.claim, "programs": _changed(PROGRAMS, PLACES[number], value)}
        assert isinstance(one_change(dataclasses.replace(REFUTED, claim=claim, floats=None)), str)


def test_every_group_of_primitives_takes_the_same_operands():
    """No primitive stands in two groups, and each has a rule in float64."""
    from uat_jax.numbers.floats.doubles import Doubles

    primitives = [p for group in module.ALIKE for p in group]
    assert len(primitives) == len(set(primitives)) and all(p.name in Doubles.rules for p in primitives)
