"""Every claim of the ledger gets the verdict of its row, at the depths of its row, for the stated reason."""

import dataclasses

import pytest

import uat_jax as uj
from uat_jax.certify.counterexample import find
from uat_jax.certify.decision import decide
from uat_jax.certify.normal_forms import prove
from uat_jax.certify.programs import difference, settle
from uat_jax.certify.settings import Settings
from uat_jax.certify.verdict import Evidence, Verdict, combine
from uat_jax.claims.ledger import find as claim_named
from uat_jax.errors import DisagreementError, InputError
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.derivation import closed_form, plain_network
from uat_jax.symbolic.program import Program

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from the ledger of claims (sections 0, E, G), independently of the package: id → verdict, and the largest
# L ≤ 5 at which a refuted list is still exact (None where the row is not about depths).
LEDGER = {
    "residual.closed-form": (T, None), "transformer.closed-form": (T, None),
    "attention.matrix": (T, None), "feed-forward.matrix": (T, None),
    "lemma-1": (T, None), "lemma-2.fixed-bias": (F, None), "lemma-2.dynamic-bias": (T, None),
    "eq-22": (T, None), "eq-23.simultaneous": (T, None), "eq-23.sequential": (F, None), "eq-23.v2-index": (F, None),
    "eq-26": (T, None), "eq-27": (T, None), "eq-30": (T, None),
    "eq-31.printed": (F, None), "eq-31.corrected": (T, None),
    "eq-32": (T, None), "eq-32.simultaneous": (T, None), "eq-32.sequential": (F, None),
    "updates.in-place": (T, None),
    "updates.one-shot": (F, 2), "updates.one-sweep": (F, 1), "updates.boxes": (F, 2), "updates.boxes-new-w3": (F, 1),
    "updates.redone": (F, 2), "updates.final-values": (F, 1), "updates.corrected-boxes": (T, None),
    "updates.first-factor-transformer": (T, None), "updates.first-factor-residual": (F, None),
    "updates.raw-weights": (F, 1),
    "nested-bias.original-original-own": (F, 2), "nested-bias.original-original-previous": (F, 2),
    "nested-bias.original-original-final": (F, 1), "nested-bias.original-updated-own": (F, 2),
    "nested-bias.original-updated-previous": (T, None), "nested-bias.original-updated-final": (F, 1),
    "nested-bias.updated-original-own": (F, 1), "nested-bias.updated-original-previous": (F, 1),
    "nested-bias.updated-original-final": (F, 1), "nested-bias.updated-updated-own": (F, 1),
    "nested-bias.updated-updated-previous": (F, 1), "nested-bias.updated-updated-final": (F, 1),
}  # fmt: skip


def test_the_ledger_has_exactly_these_rows():
    assert [claim.id for claim in uj.claims()] == list(LEDGER)


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    verdict, exact_to = LEDGER[name]
    certificate = decide(claim_named(name), SYMBOLIC)
    assert certificate.verdict == verdict
    assert certificate.passes
    for evidence in certificate.evidence:
        depths = evidence.figures.get("exact_depths")
        if depths is not None:
            assert depths == list(range(1, (exact_to or 5) + 1))
            assert evidence.figures["first_failure"] == (exact_to + 1 if exact_to else None)


@pytest.mark.parametrize("name", [name for name, (verdict, _) in LEDGER.items() if verdict == F])
def test_refutations_are_small_whole_and_confirmed(name):
    certificate = decide(claim_named(name), SYMBOLIC)
    example = certificate.counterexample
    assert example is not None
    assert set(example["dimensions"].values()) == {1}, "a smaller shape is possible"
    assert all(isinstance(value, int) and abs(value) <= 2 for value in example["inputs"].values())
    assert example["left"] != example["right"]
    assert example["exact"][0] != example["exact"][1]
    assert any(evidence.figures.get("wrong_word") for evidence in certificate.evidence)


@pytest.mark.parametrize("name", [c.id for c in uj.claims() if c.correction])
def test_corrections_are_proved(name):
    assert decide(claim_named(claim_named(name).correction), SYMBOLIC).verdict == T


@pytest.mark.parametrize("claim", uj.claims(), ids=lambda claim: claim.id)
def test_rows_say_what_they_are_about(claim):
    assert claim.title and claim.ledger and claim.sources and claim.printed and claim.hypotheses
    assert claim.printed.count("{") == claim.printed.count("}")


def test_a_row_that_expects_the_wrong_verdict_does_not_pass():
    wrong = dataclasses.replace(claim_named("lemma-1"), expects=Verdict.REFUTED)
    assert not decide(wrong, SYMBOLIC).passes


def test_a_row_that_expects_the_wrong_depth_does_not_pass():
    wrong = dataclasses.replace(claim_named("updates.boxes"), exact_to=3)
    certificate = decide(wrong, SYMBOLIC)
    assert certificate.verdict == Verdict.REFUTED and not certificate.passes


# --- combining -----------------------------------------------------------------------------------------------------


def _evidence(*verdicts):
    return [Evidence("test", "found", verdict) for verdict in verdicts]


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
    refuted = Evidence("counterexample", "found", Verdict.REFUTED, subject="residual")
    unknown = Evidence("normal form", "differs", Verdict.UNKNOWN, subject="transformer")
    proved = dataclasses.replace(unknown, verdict=Verdict.PROVED)
    assert combine([refuted, unknown]) == Verdict.UNKNOWN
    assert combine([refuted, proved]) == Verdict.REFUTED
    assert combine([proved, dataclasses.replace(proved, subject="residual")]) == Verdict.PROVED


def test_an_empty_proof_proves_nothing():
    assert prove([], method="normal form", what="nothing").verdict == Verdict.UNKNOWN


def test_contradicting_methods_stop_the_run():
    with pytest.raises(DisagreementError, match="contradict"):
        combine(_evidence(Verdict.PROVED, Verdict.REFUTED))


# --- programs ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["residual", "transformer"])
def test_equal_programs_have_no_counterexample(kind):
    layers = u.square_layers(kind)
    pair = plain_network(layers, 2), closed_form(layers, 2)
    assert difference(*pair) is None
    assert find(*pair, layers.x(0)) is None
    assert combine(settle(*pair, layers.x(0), what="closed form")) == Verdict.PROVED


def test_a_transposed_matrix_needs_shapes_of_two():
    """A and Aᵀ are the same at size 1: the search must go on to size 2."""
    layers = u.square_layers("residual")
    x, A, y = layers.x(0), layers.A(1), m.Letter("y", u.D, 1)
    found = find(Program({y: A @ x}, y), Program({y: A.T @ x}, y), x)
    assert found is not None and found.dimensions == {"D": 2}
    assert sum(abs(v) for row in found.inputs["A_1"] for v in row) == 1


def test_unequal_programs_without_a_counterexample_are_unknown():
    """relu(x) − relu(−x) = x for every x, but not for every σ: different words, no witness with relu."""
    layers = u.square_layers("residual")
    x, y = layers.x(0), m.Letter("y", u.D, 1)
    pair = Program({y: m.Activation(x) - m.Activation(-x)}, y), Program({y: m.Scaled(1, x)}, y)
    assert combine(settle(*pair, x, what="relu")) == Verdict.UNKNOWN


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
