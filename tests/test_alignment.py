"""Both programs side by side: equal values in one row, and the mark where they part at the planted line."""

import dataclasses
import json

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from test_parting import WRONG, M, V, X, again, norm, planted, wrong_scale

import uat_jax as uj
from uat_jax.decide import alignment
from uat_jax.decide.alignment import Alike, aligned

pytestmark = pytest.mark.usefixtures("standard_promotion")

W = jax.ShapeDtypeStruct((3, 4), jnp.float32)
BESIDE = (Alike.EQUAL, Alike.REARRANGED)


def of(left, right, *specs, **settings):
    with jax.default_matmul_precision("highest"):
        certificate = uj.certify(left, right, *specs, **settings)
    return certificate, aligned(certificate)


def loop(x):
    return jax.lax.scan(lambda total, row: (total + jnp.exp(row), None), jnp.zeros(4), x)[0]


def table(t, i):
    return t[i]


def one_hot(t, i):
    return jax.nn.one_hot(i, 5) @ t


EQUAL = {
    "two ways to norm": (norm, again, (X, V, V, M), {}),
    "a loop and a sum": (loop, lambda x: jnp.exp(x).sum(0), (W,), {}),
    "one program": (jnp.tanh, lambda x: jnp.tanh(x), (V,), {}),
    "constants that mean numbers": (lambda x: x * (1 / np.float32(10)), lambda x: x / 10, (V,), {}),
    "a domain": (lambda x: jnp.log(x[0] * x[1]), lambda x: jnp.log(x[0]) + jnp.log(x[1]), (uj.positive(V),), {}),
    "listed sizes": (
        lambda x: x.sum(0),
        lambda x: jnp.ones(x.shape[0]) @ x,
        (jax.ShapeDtypeStruct((*jax.export.symbolic_shape("n"), 3), jnp.float32),),
        {"sizes": [{"n": 2}, {"n": 3}]},
    ),
}
"""Functions that are equal: the last operations of both stand in one row."""


@pytest.mark.parametrize("name", EQUAL)
def test_outputs_of_equal_functions_stand_beside_each_other(name):
    left, right, specs, settings = EQUAL[name]
    certificate, found = of(left, right, *specs, **settings)
    assert certificate.passes and found.rows and not found.reason, found.reason
    assert found.parted == (None, None)
    last = found.rows[-1]
    assert all(o is not None and o.alike in BESIDE for o in last), last


def test_every_operation_stands_once_and_in_order():
    _, found = of(norm, again, X, V, V, M)
    for side in range(2):
        numbers = [o.number for row in found.rows if (o := row[side])]
        assert numbers == list(range(1, len(numbers) + 1))
    for left, right in found.rows:
        if left and right and left.alike in BESIDE:
            assert left.alike is right.alike and (left.other, right.other) == (right.number, left.number)


@pytest.mark.parametrize("wrong", WRONG, ids=lambda f: f.__name__)
def test_the_mark_stands_at_the_planted_line(wrong):
    certificate, found = of(norm, wrong, X, V, V, M)
    assert certificate.verdict is uj.Verdict.REFUTED
    left, right = found.parted
    assert right and right.value and right.line == f"test_parting.py:{planted(wrong)}"
    assert (left is None) is (wrong is wrong_scale)  # there the right side goes on from what the left one returns


def test_a_constant_that_is_rounded_in_another_way_is_no_parting():
    """The mark stands where the certificate says that the programs part."""
    scaled = lambda x: jax.nn.softmax(x / jnp.sqrt(8.0)) + np.float32(1e-5)
    certificate, found = of(scaled, lambda x: jax.nn.softmax(x * 8**-0.5) + np.float32(1e-6), X)
    left, right = found.parted
    assert left and right and (left.text.split()[0], right.text.split()[0]) == ("add", "add")
    parting = certificate.evidence[0].figures["parting"]
    assert parting == f"left 'add' at {left.line}; right 'add' at {right.line}"


def test_values_are_those_at_the_counterexample():
    certificate, found = of(jnp.sin, lambda x: jnp.sin(x) * np.float32(1.5), jax.ShapeDtypeStruct((), jnp.float32))
    example, (_, times) = certificate.counterexample, found.parted
    assert example and times
    x = example.inputs[0].values
    assert float(times.value) == pytest.approx(1.5 * np.sin(x), rel=1e-5)  # six digits are shown


def test_entries_in_other_places_are_told_from_equal_arrays():
    _, found = of(lambda x: jnp.exp(x).T, lambda x: jnp.exp(x.T), jax.ShapeDtypeStruct((3, 2), jnp.float32))
    alike = [[o and o.alike for o in row] for row in found.rows]
    assert alike == [[Alike.ELSEWHERE, Alike.OWN], [Alike.EQUAL, Alike.EQUAL]]
    _, found = of(lambda x: jnp.exp(x).T.sum(), lambda x: jnp.exp(x.T).sum(), jax.ShapeDtypeStruct((3, 2), jnp.float32))
    assert Alike.REARRANGED not in {o.alike for row in found.rows for o in row if o}
    _, found = of(lambda x: jnp.exp(x).sum(), lambda x: jnp.exp(x.T).sum(), jax.ShapeDtypeStruct((3, 2), jnp.float32))
    assert Alike.REARRANGED in {o.alike for row in found.rows for o in row if o}


def test_a_wrong_order_of_entries_parts_as_well():
    certificate, found = of(lambda x: jnp.exp(x)[::-1], lambda x: jnp.roll(jnp.exp(x), 1), V)
    assert certificate.verdict is uj.Verdict.REFUTED
    left, right = found.parted
    assert left and right and "exp" not in left.text + right.text


def test_integers_that_choose_are_followed_at_some_choice():
    tokens = uj.integers(jax.ShapeDtypeStruct((2,), jnp.int32), 0, 4)
    certificate, found = of(table, one_hot, jax.ShapeDtypeStruct((5, 3), jnp.float32), tokens)
    assert certificate.passes and found.rows, found.reason


def test_a_file_gives_the_same_rows(tmp_path):
    certificate, found = of(norm, WRONG[0], X, V, V, M)
    assert aligned(uj.load(certificate.save(tmp_path / "c.json"))) == found


def test_what_cannot_be_shown_says_why(monkeypatch):
    certificate, _ = of(jnp.sin, jnp.cos, V)
    monkeypatch.setattr(alignment, "MOST_OPERATIONS", 49)
    several = lambda x: jax.lax.fori_loop(0, 50, lambda i, y: jnp.sin(y), x)
    long, found = of(several, several, V)
    assert not found.rows and "operations" in found.reason, found
    assert "no programs" in aligned(uj.prove("updates.boxes")).reason
    missing = dataclasses.replace(
        certificate, claim={**certificate.claim, "programs": [{"sizes": {}, "missing": "why"}]}
    )
    assert aligned(missing).reason == "why"


def test_where_values_do_not_fit_what_is_written_alike_is_alike(monkeypatch):
    monkeypatch.setattr(alignment, "MEMORY", "1 MiB")
    big = jax.ShapeDtypeStruct((256, 256), jnp.float32)
    certificate = uj.certify(lambda x: jnp.tanh(x @ x) + 1, lambda x: 1 + jnp.tanh(x @ x), big)
    found = aligned(certificate)
    assert "the values of both programs needs about" in found.reason
    assert [left.alike for left, _ in found.rows if left][0] is Alike.EQUAL


def test_what_was_compared_when_the_time_is_up_is_kept(monkeypatch):
    certificate, whole = of(norm, again, X, V, V, M)
    monkeypatch.setattr(alignment, "EQUATIONS", 50)
    found = aligned(certificate)
    assert "as far as the time allowed" in found.reason and len(found.rows) >= len(whole.rows)
    known = {o.alike for row in found.rows for o in row if o}
    assert Alike.UNKNOWN in known and Alike.EQUAL in known


def _paths(data, path=()):
    """The places of all values in JSON."""
    yield path
    items = data.items() if isinstance(data, dict) else enumerate(data) if isinstance(data, list) else ()
    for name, value in items:
        yield from _paths(value, (*path, name))


def _changed(data, path, value):
    data = json.loads(json.dumps(data))
    inner = data
    for name in path[:-1]:
        inner = inner[name]
    inner[path[-1]] = value
    return data


HOSTILE = (None, -1, "x", [], {}, 10**30)
CERTIFICATE = uj.certify(
    lambda x: jnp.exp(x) / jnp.exp(x).sum(), jax.nn.softmax, jax.ShapeDtypeStruct((2,), jnp.float32)
)
CLAIM = json.loads(CERTIFICATE.to_json())["claim"]
PLACES = [path for path in _paths(CLAIM["programs"]) if path]


@pytest.mark.parametrize("number", one_in(40, range(len(PLACES))))
def test_a_damaged_certificate_is_shown_or_says_why(number):
    """Never an error: whatever stands in a program of a file."""
    for value in HOSTILE:
        claim = {**CLAIM, "programs": _changed(CLAIM["programs"], PLACES[number], value)}
        found = aligned(dataclasses.replace(CERTIFICATE, claim=claim, floats=None))
        assert found.rows or found.reason
