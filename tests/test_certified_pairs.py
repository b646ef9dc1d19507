"""Both tables: every true pair is certified, every mistake refuted by an input that shows it."""

import statistics
import time
from dataclasses import replace
from typing import Any

import jax
import numpy as np
import pytest
from excerpt import one_in
from flint import arb
from pairs import PAIRS
from pairs.floats import Evaluated, evaluated
from pairs.pair import Pair
from rich.console import Console
from rich.table import Table

from uat_jax.decide.certificate import Certificate
from uat_jax.decide.equivalence import certify
from uat_jax.decide.specification import programs_within, traced
from uat_jax.decide.verdict import Verdict

LOG2_ERROR = -128

AGREEING = {
    "relu-homogeneity: positive scale of a unit": "a positive factor that is no constant is not taken out of relu",
    "max-associativity: running maximum": "the steps of a running maximum are not known as sets of what was seen",
}
"""True pairs that no rule of the prime fields covers, and why: they agree to thirty digits, and pass nothing."""

IDENTICAL = ("vmap-as-einsum",)
"""True pairs whose two writings are one jaxpr: they are proved."""

FIRST = 1
"""So many mistakes of a pair are refuted in the ordinary suite."""


def some(pair: Pair, part: slice) -> Pair:
    """The pair with a part of its mistakes."""
    return replace(pair, wrong=dict(list(pair.wrong.items())[part]))


def witness(certificate: Certificate, pair: Pair) -> Any:
    """The arguments at which a counterexample says that the functions differ."""
    assert certificate.counterexample
    return jax.tree.unflatten(jax.tree.structure(pair.specs), certificate.counterexample.arrays)


def shown(certificate: Certificate, pair: Pair, every: Evaluated, name: str) -> None:
    """Both functions have the values the counterexample says, up to rounding, and these are different numbers."""
    found = certificate.counterexample
    assert found
    outputs = every(witness(certificate, pair))
    sides = [outputs[0], outputs[2 + list(pair.wrong).index(name)]]
    scale = max(np.abs(side[found.output]).max() for side in sides)
    tolerance = (every.tolerance + every.constants) * scale
    values = [side[found.output][tuple(found.entry)] for side in sides]
    for value, claimed in zip(values, (found.left, found.right), strict=True):
        assert abs(value - claimed) <= tolerance, name
    exact = [arb(text) for text in found.exact]
    assert not exact[0].overlaps(exact[1]), name
    # Above what rounding can do floats must differ as well; below, the exact values are all there is.
    if abs(exact[0] - exact[1]) > 4 * tolerance:
        assert abs(values[0] - values[1]) > 2 * tolerance, name


@pytest.mark.parametrize("pair", one_in(8, PAIRS), ids=lambda pair: pair.name)
def test_every_true_pair_is_certified_by_a_theorem(pair):
    certificate = certify(pair.left, pair.right, *pair.specs)
    exceptions = dict.fromkeys(AGREEING, Verdict.AGREES) | dict.fromkeys(IDENTICAL, Verdict.PROVED)
    expected = exceptions.get(pair.name, Verdict.CERTIFIED)
    assert certificate.verdict is expected, certificate.evidence
    assert certificate.passes == (expected is not Verdict.AGREES)
    if certificate.verdict is Verdict.CERTIFIED:
        figures = certificate.evidence[0].figures
        assert figures["log2_error"] <= LOG2_ERROR and figures["theorem"]
        assert certificate.counterexample is None


def refuted(pair: Pair) -> None:
    """Every mistake of the pair is refuted by an input that shows it."""
    every = evaluated(pair)
    for name, mistaken in pair.wrong.items():
        certificate = certify(pair.left, mistaken, *pair.specs)
        assert not certificate.passes, name
        assert certificate.verdict is Verdict.REFUTED, (name, certificate.evidence)
        shown(certificate, pair, every, name)


@pytest.mark.parametrize("pair", one_in(24, PAIRS), ids=lambda pair: pair.name)
def test_the_first_mistakes_are_refuted(pair):
    refuted(some(pair, slice(FIRST)))


@pytest.mark.campaign
@pytest.mark.parametrize("pair", [p for p in PAIRS if len(p.wrong) > FIRST], ids=lambda pair: pair.name)
def test_the_other_mistakes_are_refuted(pair):
    refuted(some(pair, slice(FIRST, None)))


def test_a_counterexample_that_shows_nothing_is_noticed():
    """The input of one mistake does not refute the true pair; a value that the functions do not have is seen."""
    pair = some(PAIRS[0], slice(1))
    ((name, mistaken),) = pair.wrong.items()
    certificate = certify(pair.left, mistaken, *pair.specs)
    shown(certificate, pair, evaluated(pair), name)
    assert certificate.counterexample
    blind = replace(pair, wrong={name: pair.right})
    with pytest.raises(AssertionError):
        shown(certificate, blind, evaluated(blind), name)
    overlapping = replace(certificate.counterexample, exact=("[1 +/- 0.1]", "[1 +/- 0.1]"))
    evidence = (replace(certificate.evidence[0], example=overlapping),)
    with pytest.raises(AssertionError):
        shown(replace(certificate, evidence=evidence), pair, evaluated(pair), name)


def test_the_ordinary_suite_refutes_enough():
    assert sum(min(FIRST, len(pair.wrong)) for pair in PAIRS) >= 130


def test_exceptions_are_pairs_of_the_table():
    assert {*AGREEING, *IDENTICAL} <= {pair.name for pair in PAIRS}


def primitives(pair: Pair, function: Any) -> int:
    """How many equations a function has, those of nested programs included."""
    program, _ = traced(function, pair.specs)
    return sum(len(inner.eqns) for inner in programs_within(program))


@pytest.mark.campaign
def test_the_tables_of_verdicts_and_seconds():
    """Prints both tables' verdicts and seconds, and the slowest questions with their number of primitives."""
    questions = [(pair, "", pair.right) for pair in PAIRS]
    questions += [(pair, name, mistaken) for pair in PAIRS for name, mistaken in pair.wrong.items()]
    rows = []
    for pair, name, function in questions:
        start = time.perf_counter()
        verdict = certify(pair.left, function, *pair.specs).verdict
        rows.append((time.perf_counter() - start, pair, name, function, verdict))
    table = Table("table", *Verdict, "median s", "maximum s")
    for title, part in (("true", [r for r in rows if not r[2]]), ("wrong", [r for r in rows if r[2]])):
        seconds, verdicts = [r[0] for r in part], [r[4] for r in part]
        counts = [str(verdicts.count(verdict)) for verdict in Verdict]
        table.add_row(title, *counts, f"{statistics.median(seconds):.3f}", f"{max(seconds):.2f}")
    slowest = Table("pair", "mistake", "verdict", "seconds", "primitives")
    for seconds, pair, name, function, verdict in sorted(rows, key=lambda row: -row[0])[:12]:
        count = primitives(pair, pair.left) + primitives(pair, function)
        slowest.add_row(pair.name, name, verdict, f"{seconds:.2f}", str(count))
    Console(width=120).print(table, slowest)
    assert len(rows) == len(PAIRS) + sum(len(pair.wrong) for pair in PAIRS)
