"""Labels, numbers and names of the papers: verdicts, and wrong references, numbers and names that must fail."""

from dataclasses import replace

import pytest

from uat_jax.decide.decision import decide
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict, combine
from uat_jax.ledger import bookkeeping, names
from uat_jax.ledger.bookkeeping import Reference, numbered, placed, resolve

T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from the ledger of claims (G5, G8, G13, G14, G16, G22, M), independently of the package.
LEDGER = {
    "references.appendices": F, "references.appendices-corrected": T,
    "references.figure-9": F, "references.figure-4": T, "references.equations": T,
    "references.equations-shown": F, "references.equations-6-and-10": T,
    "abstract.structure": T,
    "names.eq-11": F, "names.eq-33": T, "names.primes": F, "names.primes-corrected": T,
    "names.ring": F, "names.ring-corrected": T, "names.w-j-t": F, "names.w-j-t-corrected": T,
    "names.layer-as-power": F, "names.layer-as-power-corrected": T,
    "names.substitution": F, "names.substitution-corrected": T,
    "names.induction": F, "names.induction-corrected": T,
    "names.eq-6-v2": F, "names.eq-6-v2-corrected": T,
    "names.eq-34": F, "names.eq-34-corrected": T,
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


@pytest.mark.parametrize("given", [*bookkeeping.TO_APPENDICES, bookkeeping.FIGURE_4, *bookkeeping.EQUATIONS_6_AND_28])
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
    assert combine(resolve([*bookkeeping.TO_APPENDICES, bookkeeping.FIGURE_9])) == F


@pytest.mark.parametrize("name, number", [("sections", 23), ("equations", 35), ("figures", 15)])
def test_numbers(name, number):
    assert combine(numbered({name: number})) == T
    assert [combine(numbered({name: wrong})) for wrong in (number - 1, number + 1, 0)] == [F] * 3


def test_equations_are_numbered_without_gaps_and_in_order():
    assert list(bookkeeping.EQUATIONS) == list(range(1, 36))
    assert set(bookkeeping.EQUATIONS.values()) <= {*bookkeeping.SECTIONS, *bookkeeping.APPENDICES}


@pytest.mark.parametrize("given", bookkeeping.EQUATIONS_6_AND_10)
def test_an_equation_stands_in_one_section(given: Reference):
    assert combine(placed([given])) == T
    wrong = replace(given, topic="B.3"), replace(given, label="Equation 28"), replace(given, label="Equation 36")
    assert [combine(placed([reference])) for reference in wrong] == [F] * 3


# --- names -----------------------------------------------------------------------------------------------------------

PROVED = {name: ROWS[name] for name in LEDGER if name.startswith("names.") and LEDGER[name] == T}
USED = {
    "names.eq-33": (names.families(names.EQUATION_33), names.DEFINED),
    "names.substitution-corrected": (
        names.names(PROVED["names.substitution-corrected"].printed),
        names.names(names.FORM + names.LAYER),
    ),
    "names.induction-corrected": (("W_{1,1}", "b_{1,3}"), names.names(names.EQUATION_24)),
    "names.eq-6-v2-corrected": (names.names(PROVED["names.eq-6-v2-corrected"].printed), names.INTRODUCED_V2),
    "names.eq-34-corrected": (("b_{j,2}",), names.names(names.assigned(names.EQUATION_34))),
}


MARKS = ("names.primes-corrected", "names.ring-corrected", "names.w-j-t-corrected", "names.layer-as-power-corrected")
"""Rows about how one letter is written: their twins are the refuted rows beside them."""


def test_names_are_read_off_the_formula():
    formula = r"\mathbf{b}'_{i+1,3}=\mathbf{W}_{i+1,1}\mathbf{b}_{i,1}+\mathbf{W}_{i+1,1}\mathbf{x}_0"
    assert names.names(formula) == ("b_{i+1,3}", "W_{i+1,1}", "b_{i,1}")
    assert names.families(formula) == ("b_{·,3}", "W_{·,1}", "b_{·,1}")
    assert names.names(names.assigned(formula)) == ("b_{i+1,3}",)
    assert set(names.DEFINED) == {"W_{·,1}", "W_{·,2}", "W_{·,3}", "b_{·,2}", "b_{·,3}"}


def test_every_proved_row_about_names_has_its_twins():
    assert {*USED, *MARKS} == set(PROVED)


@pytest.mark.parametrize(
    ("latex", "marks"),
    [
        (r"\mathbf{x}_0+\mathbf{x}'_0", ("x", "x'")),
        (r"\mathring{\mathbf{x}}'+\dot{\mathbf{x}}", ("x\u030a'", "x\u0307")),
    ],
)
def test_marks_are_read_off_the_formula(latex, marks):
    assert names.marked(latex, "x") == marks


@pytest.mark.parametrize("name", USED)
def test_another_name_is_noticed(name):
    """The row says what this look-up says; with each name in turn replaced, or what is known left out, it fails."""
    used, known = USED[name]
    assert names.all_known(used, known).verdict == T
    for k, old in enumerate(used):
        for wrong in (old.replace("b_", "c_").replace("W_", "V_"), old.replace("}", "1}"), old.replace("{", "{0")):
            assert names.all_known([*used[:k], wrong, *used[k + 1 :]], known).verdict == F
        assert old in names.all_known(used, [n for n in known if n != old]).finding
    assert names.all_known(used, ()).verdict == F


def test_a_formula_without_names_proves_nothing():
    assert names.all_known(names.names(r"\text{nothing}"), names.DEFINED).verdict == Verdict.UNKNOWN


@pytest.mark.parametrize(
    "name",
    [n for n, v in LEDGER.items() if n.startswith("names.") and v == F and ROWS[n].correction not in MARKS],
)
def test_corrections_differ_from_what_is_printed_in_one_name(name):
    wrong, right = (set(names.names(row.printed)) for row in (ROWS[name], ROWS[ROWS[name].correction]))
    assert len(wrong - right) == len(right - wrong) == 1
