"""Refuted, and equal almost everywhere: one sentence says where, and only if the equality is shown."""

import json
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from prover_mutants import killing

import uat_jax as uj
from uat_jax.decide import equivalence
from uat_jax.decide.description import describe
from uat_jax.decide.verdict import Evidence, Method, Verdict

S = jax.ShapeDtypeStruct((), jnp.float32)
V = jax.ShapeDtypeStruct((3,), jnp.float32)
ONE, ZERO = np.float32(1), np.float32(0)
indicator = lambda condition: jnp.where(condition, ONE, ZERO)
SENTENCE = "test_except_where.py::test_the_sentence_says_where"
ACCEPT = "; pass almost_everywhere=True to accept that"


def root_of_sum(x, y):
    """A tie of two inputs that are added up."""
    return indicator(x + y > 0)


# name: (left, right, inputs, the sentence)
SAID: dict[str, tuple[Any, Any, tuple[Any, ...], str]] = {
    "at 0": (
        lambda x: indicator(x > 0),
        lambda x: indicator(x >= 0),
        (S,),
        "equal except where x = 0 (left 0, right 1)",
    ),
    "derivative of relu": (
        jax.grad(jax.nn.relu),
        lambda x: indicator(x >= 0),
        (S,),
        "equal except where x = 0 (left 0, right 1)",
    ),
    "sign": (
        jnp.sign,
        lambda u: jnp.where(u >= 0, ONE, -ONE),
        (S,),
        "equal except where x = 0 (left 0, right 1)",
    ),
    "at one half": (
        lambda x: indicator(2 * x > 1),
        lambda x: indicator(2 * x >= 1),
        (S,),
        "equal except where x = 0.5 (left 0, right 1)",
    ),
    "below 0": (
        lambda x: indicator(x > -3),
        lambda x: indicator(x >= -3),
        (S,),
        "equal except where x = -3 (left 0, right 1)",
    ),
    "of two inputs": (
        lambda x, y: indicator(x > y),
        lambda x, y: indicator(x >= y),
        (S, S),
        "equal except where compared numbers are equal, such as where x = y (left 0, right 1)",
    ),
    "one of two inputs": (
        lambda x, y: y * indicator(x > 0) + indicator(x > 0),
        lambda x, y: y * indicator(x >= 0) + indicator(x >= 0),
        (S, S),
        "equal except where compared numbers are equal, such as where x = 0 (left 0, right 1)",
    ),
    "elsewhere for another input": (
        lambda x, y: jnp.where(y > 5, indicator(x > 1), indicator(x > 0)),
        lambda x, y: jnp.where(y > 5, indicator(x >= 1), indicator(x >= 0)),
        (S, S),
        "equal except where compared numbers are equal, such as where x = 0 (left 0, right 1)",
    ),
    "of each input alone": (
        lambda x, y: indicator(x > 0) + indicator(y > 3),
        lambda x, y: indicator(x >= 0) + indicator(y >= 3),
        (S, S),
        "equal except where compared numbers are equal, such as where x = 0 (left 0, right 1)",
    ),
    "of a product": (
        lambda x, y: indicator(x * (y - 3) > 0),
        lambda x, y: indicator(x * (y - 3) >= 0),
        (S, S),
        "equal except where compared numbers are equal, such as where x = 0 (left 0, right 1)",
    ),
    "on two lines": (
        lambda x, y: indicator(x > y) + indicator(x > -y - 9),
        lambda x, y: indicator(x >= y) + indicator(x >= -y - 9),
        (S, S),
        "equal except where compared numbers are equal, such as where x = y (left 1, right 2)",
    ),
    "an entry": (
        lambda x: indicator(x > 0),
        lambda x: indicator(x >= 0),
        (V,),
        "equal except where compared numbers are equal, such as where x[0] = 0 (left 0, right 1 in entry [0])",
    ),
    "two entries": (
        lambda x: indicator(x[2] > x[0]),
        lambda x: indicator(x[2] >= x[0]),
        (V,),
        "equal except where compared numbers are equal, such as where x[0] = x[2] (left 0, right 1)",
    ),
    "another output": (
        lambda x: (x, indicator(x > 0)),
        lambda x: (x, indicator(x >= 0)),
        (S,),
        "equal except where x = 0 (left 0, right 1 of output 1)",
    ),
    "in a tree": (
        lambda p: indicator(p["a"] > p["b"]),
        lambda p: indicator(p["a"] >= p["b"]),
        ({"a": S, "b": S},),
        "equal except where compared numbers are equal, such as where p['a'] = p['b'] (left 0, right 1)",
    ),
    "at an end of the domain": (
        lambda x: indicator(x > 0),
        jnp.ones_like,
        (uj.nonnegative(S),),
        "equal except where x = 0 (left 0, right 1)",
    ),
    "two places": (
        lambda x: indicator(x > 0) + indicator(x > 1),
        lambda x: indicator(x >= 0) + indicator(x >= 1),
        (S,),
        "equal except where compared numbers are equal, such as at x = 0 (left 0, right 1)",
    ),
    "two roots": (
        lambda x: indicator(x * x > 1),
        lambda x: indicator(x * x >= 1),
        (S,),
        "equal except where compared numbers are equal, such as at x = 1 (left 0, right 1)",
    ),
    "a sum": (
        root_of_sum,
        lambda x, y: indicator(x + y >= 0),
        (S, S),
        "equal except where compared numbers are equal, such as at x = 0, y = 0 (left 0, right 1)",
    ),
    "a long input": (
        lambda x: indicator(x[0] > 0) + jnp.sum(x),
        lambda x: indicator(x[0] >= 0) + jnp.sum(x),
        (jax.ShapeDtypeStruct((40,), jnp.float32),),
        "equal except where compared numbers are equal, such as at x = 0 in all 40 entries (left 0, right 1)",
    ),
}

NOT_SAID = {
    "everywhere": (lambda x: x, lambda x: x + 1, S),
    "on an interval": (lambda x: indicator(jnp.floor(x) > 5), lambda x: indicator(jnp.floor(x) >= 5), S),
    "on a half-line as well": (
        lambda x: indicator(x > 0),
        lambda x: indicator(x >= 0) + indicator(x > 9),
        S,
    ),
    "at jumps of unknown functions": (jnp.ceil, lambda x: jnp.floor(x) + 1, S),
    "by a number that is always zero": (
        lambda x: indicator(jnp.sin(x) ** 2 + jnp.cos(x) ** 2 - 1 > 0) + x,
        lambda x: indicator(jnp.sin(x) ** 2 + jnp.cos(x) ** 2 - 1 >= 0) + x,
        S,
    ),
}


@pytest.mark.parametrize("name", one_in(5, SAID, kept=killing(SENTENCE, SAID)))
def test_the_sentence_says_where(name):
    left, right, specs, sentence = SAID[name]
    certificate = uj.certify(left, right, *specs)
    (evidence,) = certificate.evidence
    assert certificate.verdict is Verdict.REFUTED and evidence.method is Method.COUNTEREXAMPLE
    assert evidence.finding == sentence + ACCEPT and sentence in describe(certificate)
    assert evidence.figures["almost_everywhere"]["log2_error"] <= -128
    assert uj.certify(left, right, *specs, almost_everywhere=True).verdict is Verdict.CERTIFIED
    assert uj.recheck(certificate).verdict is Verdict.REFUTED
    json.loads(certificate.to_json())


@pytest.mark.parametrize("name", NOT_SAID)
def test_the_sentence_is_not_said_of_what_differs_on_more(name):
    left, right, spec = NOT_SAID[name]
    certificate = uj.certify(left, right, spec)
    assert not certificate.passes and "equal except where x" not in describe(certificate)
    assert not any("almost_everywhere" in e.figures for e in certificate.evidence if e.verdict is Verdict.REFUTED)
    if name != "at jumps of unknown functions":
        assert not uj.certify(left, right, spec, almost_everywhere=True).passes


def test_without_the_full_proof_the_sentence_is_not_said(monkeypatch):
    """The first look at few copies is no proof: here what follows it fails."""
    compared = equivalence.field_evidence

    def only_everywhere(left, right, seen, effort, domains):
        if effort.almost_everywhere:
            return Evidence(Method.PRIME_FIELDS, "too large a degree", Verdict.UNKNOWN)
        return compared(left, right, seen, effort, domains)

    monkeypatch.setattr(equivalence, "field_evidence", only_everywhere)
    left, right, specs, _ = SAID["at 0"]
    (evidence,) = uj.certify(left, right, *specs).evidence
    assert evidence.finding == "0.0 against 1.0 at output 0[]" and evidence.verdict is Verdict.REFUTED


def test_a_switched_question_is_not_told_to_switch():
    left, right = (lambda x: indicator(x > 0)), (lambda x: indicator(x > 1))
    assert "pass almost_everywhere" not in describe(uj.certify(left, right, S, almost_everywhere=True))
