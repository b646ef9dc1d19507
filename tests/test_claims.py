"""Every claim of the ledger gets the verdict of its row, at the depths of its row, for the stated reason."""

import dataclasses
import re
from functools import cache

import jax
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide.decision import decide
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.program_witness import find
from uat_jax.decide.programs import difference, settle
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import DisagreementError, InputError
from uat_jax.ledger.ledger import CHAPTERS, records, script_of, select
from uat_jax.ledger.ledger import find as claim_named
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form, plain_network
from uat_jax.symbolic.program import Program

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from section G of the ledger of claims, independently of the package: the largest L ≤ 5 at which a refuted
# reading is still exact.  The other chapters have their tables in test_foundations, test_diamond, … .
EXACT_TO = {
    "updates.one-shot": 2, "updates.one-sweep": 1, "updates.boxes": 2, "updates.boxes-new-w3": 1,
    "updates.redone": 2, "updates.final-values": 1, "updates.raw-weights": 1,
    "nested-bias.original-original-own": 2, "nested-bias.original-original-previous": 2,
    "nested-bias.original-updated-own": 2, "nested-bias.original-updated-final": 1,
    "nested-bias.updated-updated-previous": 1, "nested-bias.updated-updated-final": 1,
}  # fmt: skip
ROWS = {"A": 11, "B": 4, "C": 10, "D": 6, "E": 15, "F": 3, "G": 22, "H": 3, "I": 6, "K": 18, "L": 6}
"""The sections of the ledger of claims with checkable content, and how many rows each has."""

OF_LAYERS = [
    claim
    for chapter in CHAPTERS
    if chapter.title.startswith(("Theorem", "Lemmas", "The induction", "The nested bias"))
    for claim in chapter.claims
]
REFUTED = [claim.id for claim in uj.claims() if claim.expects == F]
BY_THE_OPPOSITE = {
    "diamond.not-distributive",
    "serial.needs-w21",
    "dependence.v2.first-layers",
    "dependence.one-token",
}
"""Refuted by a proof of the opposite: there is no example to show."""


@cache
def decided(name: str):
    """The certificate of a claim, from symbolic evidence."""
    return decide(claim_named(name), SYMBOLIC)


def test_every_row_of_the_ledger_of_claims_is_there():
    named = " ".join(row.ledger for row in (*uj.claims(), *records()))
    missing = ["J", *(f"{section}{n}" for section, last in ROWS.items() for n in range(1, last + 1))]
    missing = [row for row in missing if not re.search(rf"\b{row}\b", named)]
    assert not missing


def test_no_two_rows_have_one_name():
    names = [row.id for row in (*uj.claims(), *records())]
    assert len(set(names)) == len(names)


@pytest.mark.parametrize("claim", one_in(3, OF_LAYERS), ids=lambda claim: claim.id)
def test_verdict(claim):
    """The other chapters are decided by tests of their own."""
    certificate = decided(claim.id)
    assert certificate.verdict == claim.expects
    assert certificate.passes


@pytest.mark.parametrize("name", [claim.id for claim in uj.claims() if claim.id in EXACT_TO])
def test_the_depths_at_which_a_reading_is_exact(name):
    exact_to = EXACT_TO[name]
    found = [e.figures for e in decided(name).evidence if "exact_depths" in e.figures]
    assert found
    for figures in found:
        assert figures["exact_depths"] == list(range(1, exact_to + 1))
        assert figures["first_failure"] == exact_to + 1


def test_all_readings_with_depths_are_there():
    assert set(EXACT_TO) <= {claim.id for claim in uj.claims()}
    assert {claim.id: claim.exact_to for claim in uj.claims() if claim.id in EXACT_TO} == EXACT_TO


@pytest.mark.parametrize("name", one_in(3, REFUTED))
def test_refutations_show_an_example(name):
    example = decided(name).counterexample
    if name in BY_THE_OPPOSITE:
        assert example is None
        return
    assert example is not None
    assert example.left != example.right
    assert example.exact[0] != example.exact[1]


def searched(name: str):
    """The counterexamples that were found by search."""
    return [e for e in decided(name).evidence if "smaller_shapes" in e.figures]


@pytest.mark.parametrize("name", one_in(3, REFUTED))
def test_searched_examples_are_whole_small_and_of_the_smallest_shape(name):
    for found in searched(name):
        smaller, example = found.figures["smaller_shapes"], found.example
        assert example is not None
        assert smaller["equal"] == smaller["tried"], "the sides differ at a smaller shape"
        numbers = np.concatenate([np.ravel(value) for value in example.values.values()])
        assert np.all(np.abs(numbers) <= 2) and np.all(numbers == np.round(numbers))


def test_many_examples_were_searched():
    """A canary: the check above is not empty."""
    assert sum(1 for name in REFUTED[::4] if searched(name)) > 10


@pytest.mark.parametrize("name", REFUTED)
def test_corrections_are_proved(name):
    """A correction is a row of the ledger, whose verdict the tests of its chapter find."""
    assert claim_named(claim_named(name).correction).expects == T


@pytest.mark.parametrize("claim", uj.claims(), ids=lambda claim: claim.id)
def test_rows_say_what_they_are_about(claim):
    assert claim.title and claim.ledger and claim.sources and claim.printed
    assert len(claim.title) <= 80
    assert claim.printed.count("{") == claim.printed.count("}")
    assert script_of(claim).endswith(".py")


@pytest.mark.parametrize("record", records(), ids=lambda record: record.id)
def test_listed_rows_say_why_there_is_nothing_to_decide(record):
    assert record.ledger and record.sources and record.says and record.note


def test_a_row_that_expects_the_wrong_verdict_does_not_pass():
    wrong = dataclasses.replace(claim_named("lemma-1"), expects=Verdict.REFUTED)
    assert not decide(wrong, SYMBOLIC).passes


def test_a_row_that_expects_the_wrong_depth_does_not_pass():
    wrong = dataclasses.replace(claim_named("updates.boxes"), exact_to=3)
    certificate = decide(wrong, SYMBOLIC)
    assert certificate.verdict == Verdict.REFUTED and not certificate.passes


# --- combining -----------------------------------------------------------------------------------------------------


def _evidence(*verdicts):
    return [Evidence(Method.SHAPES, "found", verdict) for verdict in verdicts]


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((), Verdict.UNKNOWN),
        ((Verdict.AGREES,), Verdict.AGREES),
        ((Verdict.PROVED, Verdict.AGREES), Verdict.PROVED),
        ((Verdict.PROVED, Verdict.UNKNOWN), Verdict.UNKNOWN),
        ((Verdict.UNKNOWN, Verdict.REFUTED), Verdict.REFUTED),
        ((Verdict.AGREES, Verdict.REFUTED), Verdict.REFUTED),
    ],
)
def test_combined_verdict(found, verdict):
    assert combine(_evidence(*found)) == verdict


def test_every_statement_of_a_claim_counts():
    refuted = Evidence(Method.COUNTEREXAMPLE, "found", Verdict.REFUTED, subject="residual")
    unknown = Evidence(Method.NORMAL_FORM, "differs", Verdict.UNKNOWN, subject="transformer")
    proved = dataclasses.replace(unknown, verdict=Verdict.PROVED)
    assert combine([refuted, unknown]) == Verdict.UNKNOWN
    assert combine([refuted, proved]) == Verdict.REFUTED
    assert combine([proved, dataclasses.replace(proved, subject="residual")]) == Verdict.PROVED


def test_an_empty_proof_proves_nothing():
    assert prove([], method=Method.NORMAL_FORM, what="nothing").verdict == Verdict.UNKNOWN


def test_contradicting_methods_stop_the_run():
    with pytest.raises(DisagreementError, match="contradict"):
        combine(_evidence(Verdict.PROVED, Verdict.REFUTED))


# --- programs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["residual", "transformer"])
def test_equal_programs_have_no_counterexample(kind):
    layers = u.square_layers(kind)
    pair = plain_network(layers, 2), closed_form(layers, 2)
    assert difference(*pair) is None
    assert find(*pair) is None
    assert combine(settle(*pair, what="closed form")) == Verdict.PROVED


def test_a_transposed_matrix_needs_shapes_of_two():
    """A and Aᵀ are the same at size 1: the search must go on to size 2."""
    layers = u.square_layers("residual")
    x, A, y = layers.x(0), layers.A(1), m.Letter("y", u.D, 1)
    found = find(Program({y: A @ x}, y), Program({y: A.T @ x}, y))
    assert found is not None and found.sizes == {"D": 2}
    assert sum(abs(v) for row in found.values["A_1"] for v in row) == 1


def test_unequal_programs_without_a_counterexample_are_unknown():
    """relu(x) − relu(−x) = x for every x, but not for every σ: different words, no witness with relu."""
    layers = u.square_layers("residual")
    x, y = layers.x(0), m.Letter("y", u.D, 1)
    pair = Program({y: m.Activation(x) - m.Activation(-x)}, y), Program({y: m.Scaled(1, x)}, y)
    assert combine(settle(*pair, what="relu")) == Verdict.UNKNOWN


# --- looking up ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("asked", "ids"),
    [
        ({"paper": "DUAT", "equation": "23"}, {"eq-23.simultaneous", "eq-23.sequential"}),
        ({"kind": "rank", "verdict": "REFUTED"}, {"lora.query-key.pattern-rank", "lora.query-key.low-matrix-rank"}),
    ],
)
def test_claims_are_selected_by_place_kind_and_verdict(asked, ids):
    assert ids <= {claim.id for claim in select(**asked)} != {claim.id for claim in uj.claims()}


def test_the_filters_meet_in_one_source():
    """v1 with an equation number of DUAT's is not enough: the paper and the number must be of one place."""
    both = select(paper="DUAT", equation="6")
    assert all(any(s.paper == "DUAT" and "6" in s.equations for s in claim.sources) for claim in both)
    assert select() == uj.claims()


@pytest.mark.parametrize("asked", [{"paper": "v3"}, {"kind": "idea"}, {"verdict": "TRUE"}])
def test_an_unknown_filter_names_those_that_exist(asked):
    with pytest.raises(InputError, match="wanted one of"):
        select(**asked)


def test_a_claim_is_decided_on_the_device_asked_for():
    """What is no comparison of floats too."""
    seen, claim = [], claim_named("lemma-1")

    def spied(settings):
        seen.append(jax.config.values["jax_default_device"])
        yield from claim.decide(settings)

    for device in (None, "cpu"):
        assert decide(dataclasses.replace(claim, decide=spied), Settings(device=device)).passes
    assert seen == [None, jax.devices("cpu")[0]]


# --- bad input -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("claim", "settings", "message"),
    [
        ("residual.closed-from", {}, "did you mean 'residual.closed-form'"),
        ("lemma-1", {"depth": 0}, "depth 0 is not possible"),
        ("lemma-1", {"depth": -3}, "depth -3 is not possible"),
        ("lemma-1", {"depth": 2.0}, "depth 2.0 is not possible"),
        ("lemma-1", {"dtypes": ("float8",)}, "unknown dtype 'float8'"),
        ("lemma-1", {"device": "abacus"}, "unknown device 'abacus'"),
        ("lemma-1", {"device": "tpu"}, "device 'tpu', which JAX does not find here"),
        ("lemma-1", {"keep": ""}, "no name for the folder"),
        ("lemma-1", {"trials": 0}, "0 trials"),
        ("lemma-1", {"trials": 1.5}, "1.5 trials"),
        ("lemma-1", {"seed": -1}, "seed -1 is not possible"),
        ("lemma-1", {"seed": 10**22}, "seed 10000000000000000000000 is not possible"),
        ("lemma-1", {"seed": "x"}, "seed 'x' is not possible"),
        ("lemma-1", {"dtypes": "float32"}, "dtypes 'float32' is not possible"),
        ("lemma-1", {"precision": "low"}, "unknown matmul precision 'low'"),
        ("lemma-1", {"inputs": "x.npz"}, "inputs were given without weights"),
        ("lemma-1", {"colour": "red"}, "unknown setting 'colour'"),
    ],
)
def test_bad_input_is_one_clear_line(claim, settings, message):
    with pytest.raises(InputError, match=message) as caught:
        uj.prove(claim, **settings)
    assert "\n" not in str(caught.value)
