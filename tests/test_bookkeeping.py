"""Labels, numbers and names of the papers: verdicts, and wrong references, numbers and names that must fail."""

from dataclasses import replace

import pytest

from uat_jax.certify.decision import decide
from uat_jax.certify.settings import Settings
from uat_jax.certify.verdict import Verdict, combine
from uat_jax.claims import bookkeeping
from uat_jax.claims.bookkeeping import Reference, all_defined, numbered, resolve

T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from the ledger of claims (G8, G13, G14, G22, M), independently of the package.
LEDGER = {
    "references.appendices": F, "references.appendices-corrected": T,
    "references.figure-9": F, "references.figure-4": T, "references.equations": T,
    "abstract.structure": T,
    "names.eq-11": F, "names.eq-33": T, "names.substitution": F, "names.substitution-corrected": T,
}  # fmt: skip
ROWS = {claim.id: claim for claim in bookkeeping.CLAIMS}


def test_the_rows_are_these():
    assert list(ROWS) == list(LEDGER)


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    certificate = decide(ROWS[name], Settings(dtypes=()))
    assert certificate.verdict == LEDGER[name] == ROWS[name].expects
    assert (certificate.counterexample is not None) == (LEDGER[name] == F)


@pytest.mark.parametrize("name", [name for name, claim in ROWS.items() if claim.correction])
def test_corrections_are_proved(name):
    assert LEDGER[ROWS[name].correction] == T


@pytest.mark.parametrize(
    "given", [*bookkeeping.APPENDICES_CORRECTED, bookkeeping.FIGURE_4, *bookkeeping.EQUATIONS_6_AND_28]
)
def test_a_right_reference_is_wrong_with_another_label_or_topic(given: Reference):
    wrong = (
        replace(given, label="Appendix E"),
        replace(given, label="Section 5"),
        replace(given, topic="recipes"),
        replace(given, label=given.label.lower()),
    )
    assert combine(resolve([given])) == T
    assert [combine(resolve([reference])) for reference in wrong] == [F] * 4


def test_one_wrong_reference_among_right_ones_is_found():
    assert combine(resolve([*bookkeeping.APPENDICES_CORRECTED, bookkeeping.FIGURE_9])) == F


@pytest.mark.parametrize("name, number", [("sections", 23), ("equations", 35), ("figures", 15)])
def test_numbers(name, number):
    assert combine(numbered({name: number})) == T
    assert [combine(numbered({name: wrong})) for wrong in (number - 1, number + 1, 0)] == [F] * 3


def test_equations_are_numbered_without_gaps_and_in_order():
    assert list(bookkeeping.EQUATIONS) == list(range(1, 36))
    assert set(bookkeeping.EQUATIONS.values()) <= {*bookkeeping.SECTIONS, *bookkeeping.APPENDICES}


def test_names():
    assert all_defined(bookkeeping.EQUATION_33).verdict == T
    for k in range(len(bookkeeping.EQUATION_33)):
        used: list[str] = [*bookkeeping.EQUATION_33]
        used[k] = "b_{·,1}"
        assert all_defined(used).verdict == F
        assert "b_{·,1}" in all_defined(used).finding
