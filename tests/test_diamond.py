"""The diamond product: every row of the ledger gets its verdict, and nothing wrong is proved beside it."""

from itertools import product

import pytest
import sympy

from uat_jax.decide.counterexample import Counterexample
from uat_jax.decide.decision import decide
from uat_jax.decide.opposite import opposite
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.ledger.matrix_vector import diamond, diamond_properties
from uat_jax.ledger.matrix_vector.diamond import Association, chain
from uat_jax.symbolic import language as m
from uat_jax.symbolic.step import Step

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from the ledger of claims (section C), independently of the package.
LEDGER = {
    "diamond.first-row": ("C1", F), "diamond.transpose": ("C1, C3", T),
    "diamond.result-shape": ("C2", F), "diamond.result-shape.corrected": ("C2", T),
    "diamond.commutes.definition": ("C4", T), "diamond.commutes.matrices": ("C4", F),
    "diamond.commutes.transposed": ("C4", T),
    "diamond.not-associative": ("C5", T),
    "diamond.not-distributive": ("C6", F), "diamond.bilinear": ("C6", T),
    "diamond.property-1.left": ("C7, C9", T), "diamond.property-1.right": ("C7, C9", F),
    "diamond.derivation-1.bracketed": ("C9", T),
    "diamond.derivation-1.line-7.left": ("C9", F), "diamond.derivation-1.line-7.right": ("C9", F),
    "diamond.property-2.left": ("C8, C9", T), "diamond.property-2.right": ("C8, C9", F),
    "diamond.derivation-2.bracketed": ("C9", T),
    "diamond.derivation-2.line-6.left": ("C9", F), "diamond.derivation-2.line-6.right": ("C9", F),
    "diamond.w12": ("C10", F), "diamond.w12.corrected": ("C9, C10", T),
}  # fmt: skip
CLAIMS = {claim.id: claim for claim in (*diamond.CLAIMS, *diamond_properties.CLAIMS)}


def test_the_chapter_has_exactly_these_rows():
    assert list(CLAIMS) == list(LEDGER)
    assert [record.ledger for record in diamond.RECORDS] == ["C1"]


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    claim, (ledger, verdict) = CLAIMS[name], LEDGER[name]
    certificate = decide(claim, SYMBOLIC)
    assert certificate.verdict == verdict and certificate.passes
    assert claim.ledger == ledger
    assert claim.printed.count("{") == claim.printed.count("}")
    assert len(claim.title) < 80


@pytest.mark.parametrize("name", [name for name, (_, verdict) in LEDGER.items() if verdict == F])
def test_corrections_are_proved(name):
    assert LEDGER[CLAIMS[name].correction][1] == T


# The value of every chain of v1 and v2, typed in as products of plain matrices: (property, line, association).
VALUES = {
    (1, "start", "left"): "W1' W2' x", (1, "start", "right"): "W1' W2' x",
    (1, "deleted", "left"): "W1' W2 x", (1, "deleted", "right"): "W2' W1' x",
    (1, "last", "left"): "W1' W2' x", (1, "last", "right"): "W2 W1' x",
    (2, "start", "left"): "W2' W1' x", (2, "start", "right"): "W2' W1' x",
    (2, "deleted", "left"): "W2' W1 x", (2, "deleted", "right"): "W1' W2' x",
    (2, "last", "left"): "W2' W1' x", (2, "last", "right"): "W1 W2' x",
}  # fmt: skip


@pytest.mark.parametrize(("number", "line", "association"), VALUES)
def test_value_of_every_chain(number, line, association):
    """The table of C9; each chain has the value typed in and none of the other seven orders and transposes."""
    of = (diamond_properties.PROPERTY_1, diamond_properties.PROPERTY_2)[number - 1]
    operands = diamond_properties.SQUARE
    printed = getattr(of, line)
    chained = line in ("deleted", "last")
    value = chain(Association(association), *printed.operands(operands)) if chained else printed.build(operands)
    letters = {"W1": operands.W1, "W2": operands.W2, "W1'": operands.W1.T, "W2'": operands.W2.T, "x": operands.x}
    orders = [(a, b) for a, b in product(("W1", "W1'"), ("W2", "W2'"))]
    written = [f"{a} {b} x" for pair in orders for a, b in (pair, pair[::-1])]
    equal = [w for w in written if Step("", value, m.Product(*(letters[n] for n in w.split()))).holds()]
    assert equal == [VALUES[number, line, association]]


@pytest.mark.parametrize("association", Association)
def test_a_chain_of_four(association):
    A, B, C, x = (m.Letter(name, *(m.dimension("n"),) * 2) for name in "ABCX")  # type: ignore[arg-type]
    expected = {"left": ((A.T @ B).T @ C).T @ x, "right": A.T @ (B.T @ (C.T @ x))}
    found = chain(association, A, B, C, x)
    assert Step("", found, expected[association]).holds()
    assert not Step("", found, expected["right" if association == "left" else "left"]).holds()


# --- wrong variants must not be proved -------------------------------------------------------------------------------


@pytest.mark.parametrize("claimed", [("m", "1"), ("n", "n"), ("1", "n"), ("m", "n")])
def test_wrong_shapes_are_not_proved(claimed):
    assert diamond.shaped(claimed).verdict == Verdict.UNKNOWN


@pytest.mark.parametrize(
    "term",
    [
        lambda w, x, k, i: x[k] * w[i, k],
        lambda w, x, k, i: x[i] * w[k, i],
        lambda w, x, k, i: x[k] + w[k, i],
        lambda w, x, k, i: -x[k] * w[k, i],
        lambda w, x, k, i: x[k] * w[k, 1],
    ],
)
def test_wrong_sums_are_not_proved(term):
    assert diamond.same_elements(term).verdict == Verdict.UNKNOWN


@pytest.mark.parametrize(
    "value",
    [
        lambda W, x: W * sympy.ones(W.cols, 1),
        lambda W, x: -W.T * x,
        lambda W, x: (W.T * x).T,
        lambda W, x: sympy.Matrix([*(W.T * x)[1:], (W.T * x)[0]]),
        lambda W, x: W.T * sympy.Matrix([x[0]] * W.rows),
    ],
)
def test_wrong_entries_are_not_proved(value):
    assert diamond.entry_by_entry(value).verdict == Verdict.UNKNOWN


def test_the_printed_first_row_is_not_what_the_words_say():
    """v1's first row with W = (1, 10, 100)ᵀ and x = (1, 1, 1): 201 for 111."""

    def printed(W, x):
        value = W.T * x
        if W.rows == 3:
            value[0] = W[0, 0] * x[0] + W[2, 0] * x[1] + W[2, 0] * x[2]
        return value

    assert diamond.entry_by_entry(printed).verdict == Verdict.UNKNOWN
    W, x = sympy.Matrix([1, 10, 100]), sympy.Matrix([1, 1, 1])
    assert (printed(W, x)[0], (W.T * x)[0]) == (201, 111)


def test_refutations_of_chains_are_smallest():
    """At size 1 everything commutes, so two is the smallest size, and prime fields find the sides equal at one."""
    for name, (_, verdict) in LEDGER.items():
        if verdict == F and ("derivation" in name or "property" in name):
            certificate = decide(CLAIMS[name], SYMBOLIC)
            assert certificate.counterexample is not None
            assert certificate.counterexample.sizes == {"n": 2}
            smaller = next(e.figures["smaller_shapes"] for e in certificate.evidence if "smaller_shapes" in e.figures)
            assert smaller == {"tried": 1, "equal": 1}


# --- the opposite of a statement -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ((T,), F),
        ((T, Verdict.CERTIFIED), F),
        ((Verdict.UNKNOWN, F), T),
        ((Verdict.UNKNOWN,), Verdict.UNKNOWN),
        ((Verdict.CERTIFIED,), Verdict.UNKNOWN),
        ((Verdict.AGREES,), Verdict.UNKNOWN),
        ((T, Verdict.UNKNOWN), Verdict.UNKNOWN),
        ((), Verdict.UNKNOWN),
    ],
)
def test_opposite(found, verdict):
    evidence = [Evidence(Method.SHAPES, "found", one) for one in found]
    assert combine(opposite(evidence)) == verdict


def test_a_counterexample_becomes_a_witness():
    example = Counterexample((), 0, 1, ("0", "1"))
    (found,) = opposite([Evidence(Method.COUNTEREXAMPLE, "found", F, example=example)])
    assert found.verdict == T and found.example == example


def test_associativity_of_the_plain_product_is_not_denied():
    """The counterexample search must find none where there is none."""
    from uat_jax.decide.programs import settle_equation

    A, B, C = (m.Letter(name, *(m.dimension("n"),) * 2) for name in "ABC")  # type: ignore[arg-type]
    step = Step("plain", (A @ B) @ C, A @ (B @ C))
    assert combine(opposite(settle_equation(step))) == F
