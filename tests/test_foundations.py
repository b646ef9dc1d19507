"""Chapter A and F1 of the ledger: verdicts, wrong variants that must not be proved, and the counterexample scripts."""

import runpy
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import sympy
from flint import arb
from sympy import Rational

from uat_jax.decide.confirmation import proved
from uat_jax.decide.decision import decide
from uat_jax.decide.exhibits import exhibit_numbers
from uat_jax.decide.inequalities import enclosed
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.ledger.foundations import approximation as foundations
from uat_jax.ledger.foundations import (
    duat_definition,
    elementary,
    expressive_power,
    transformer_density,
    uat_sums,
    vector_output,
)
from uat_jax.symbolic import language as m

SYMBOLIC = Settings(dtypes=())
CLAIMS = {claim.id: claim for claim in (*foundations.CLAIMS, *duat_definition.CLAIMS)}
RECORDS = (*foundations.RECORDS, *duat_definition.RECORDS)
T, F = Verdict.PROVED, Verdict.REFUTED

# Typed in from the ledger of claims, independently of the package.
LEDGER = {
    "uat.density.no-quantifier": F, "uat.density.for-all": T,
    "uat.citation-year": F, "uat.citation-year.corrected": T,
    "uat.borel-uniform": F, "uat.borel-uniform.in-measure": T, "uat.borel-uniform.corrected": T,
    "uat.closed-interval": T,
    "uat.sigmoidal": F, "uat.sigmoidal.differences": T,
    "uat.perceptron": T, "uat.affine-term.density": T, "uat.affine-term.absorbed": T, "uat.affine-term.bounded": F,
    "uat.vector-output.diagonal": T, "uat.vector-output.matrix": T,
    "uat.one-function": F, "uat.one-function.selected": T,
    "uat.similar-inputs": F, "uat.similar-inputs.corrected": T,
    "uat.any-function.permutations": F, "uat.permutation-equivariance": T,
    "uat.any-function.one-unit": F, "uat.any-function.one-unit.corrected": T,
    "duat.vacuous.bias": T, "duat.vacuous.matrix": T, "duat.gauge": T, "duat.eq-4": F, "duat.eq-4.corrected": T,
}  # fmt: skip
ROWS = {f"A{number}" for number in range(1, 12)} | {"F1"}


def test_exactly_these_rows():
    assert set(CLAIMS) == set(LEDGER)
    assert {row.ledger for row in (*CLAIMS.values(), *RECORDS)} == ROWS
    ids = [row.id for row in (*CLAIMS.values(), *RECORDS)]
    assert len(set(ids)) == len(ids)


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    certificate = decide(CLAIMS[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name], [e.finding for e in certificate.evidence]
    assert certificate.passes


@pytest.mark.parametrize("name", [name for name, verdict in LEDGER.items() if verdict == F])
def test_refuted_rows_have_an_example_and_a_proved_correction(name):
    example = decide(CLAIMS[name], SYMBOLIC).counterexample
    assert example is not None and example.left != example.right
    assert decide(CLAIMS[CLAIMS[name].correction], SYMBOLIC).verdict == T


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=CLAIMS)
def test_rows_say_what_they_are_about(claim):
    assert claim.title and len(claim.title) < 80 and claim.sources and claim.printed and claim.hypotheses
    assert claim.printed.count("{") == claim.printed.count("}")
    assert (claim.expects == F) == bool(claim.correction)


# --- wrong variants -------------------------------------------------------------------------------------------------


def _evidence(found: Evidence | Iterable[Evidence]) -> list[Evidence]:
    return [found] if isinstance(found, Evidence) else list(found)


def _other_tokens():
    """What a token sees of a and b against what it sees of a twice."""
    a, b = (transformer_density._token(name, 1) for name in "ab")
    twice = lambda letter, _: a if letter == b else None
    steps = transformer_density.neighbours_exchanged()
    return [replace(step, right=m.replace_letters(step.right, twice)) for step in steps]


k = vector_output.k
ORDERS = transformer_density.ORDERS
shifted = lambda by: tuple(x + by for x in transformer_density.POINTS)

# id → what the row proves, with something wrong in it.
WRONG = {
    "uat.density.for-all": lambda: [foundations.monotone_term(Rational(n, 16)) for n in (9, 12, 16)],
    "uat.citation-year.corrected": lambda: [foundations.year_of_the_theorem(year) for year in (1988, 1990, 2007)],
    "uat.borel-uniform.corrected": lambda: [foundations.step_bound(Rational(n, 16)) for n in (9, 12, 16)],
    "uat.borel-uniform.in-measure": lambda: [foundations.step_in_measure(Rational(n, 4)) for n in (1, 3, 5)],
    "uat.vector-output.diagonal": lambda: [vector_output.diagonal_entry(i) for i in (k + 1, 2 * k, 1)],
    "uat.vector-output.matrix": lambda: [
        vector_output.matrix_entry(row, column)
        for row, column in (
            (lambda r, c: c, lambda r, c: r),
            (lambda r, c: r, lambda r, c: r),
            (lambda r, c: r, lambda r, c: c + 1),
        )
    ],
    "uat.sigmoidal.differences": lambda: [
        uat_sums.differences(uat_sums.SIGMA(uat_sums.t) - uat_sums.SIGMA(uat_sums.t - shift)) for shift in (2, 0, -1)
    ],
    "uat.affine-term.absorbed": lambda: [uat_sums.odd_part(slope) for slope in (2, -1, Rational(1, 2))],
    "uat.one-function.selected": lambda: [
        *(expressive_power.switch(lambda M, d=d: M + d) for d in (1, Rational(1, 8))),
        expressive_power.largest_argument(lambda w, theta: w + theta),
        expressive_power.largest_argument(lambda w, theta: expressive_power.RELU(w) + theta - 1),
    ],
    "uat.similar-inputs.corrected": lambda: [
        expressive_power.steep_term(gap) for gap in (Rational(4, 5), 1, Rational(77, 100))
    ],
    "uat.permutation-equivariance": lambda: [
        [e for step in _other_tokens() for e in proved([step], method=Method.NORMAL_FORM, what="other tokens")],
        transformer_density.network_equivariance(ORDERS[::-1]),
        transformer_density.network_equivariance((*ORDERS[:4], ORDERS[5], ORDERS[4])),
    ],
    "uat.any-function.one-unit.corrected": lambda: [
        *(transformer_density.alternation(Rational(n, 8)) for n in (9, 12, 16)),
        transformer_density.unimodal(shifted(Rational(1, 10))),
    ],
    "duat.vacuous.bias": lambda: [
        *(
            duat_definition.one_logistic_term(bias)
            for bias in (sympy.log, lambda f: sympy.log((1 - f) / f), lambda f: sympy.log(f / (1 + f)))
        ),
        *(duat_definition.two_relu_terms(sign) for sign in (1, 0, -2)),
    ],
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_variants_are_not_proved(name):
    variants = [_evidence(found) for found in WRONG[name]()]
    assert len(variants) >= 3
    verdicts = [combine(variant) for variant in variants]
    assert Verdict.PROVED not in verdicts and Verdict.CERTIFIED not in verdicts, verdicts


@pytest.mark.parametrize(
    "rows",
    [
        lambda N, one: m.Letter("c", N, one),
        lambda N, one: m.Selection(1, N, one),
        lambda N, one: m.Ones(N, one) + m.Letter("c", N, one),
    ],
)
def test_unequal_tokens_do_not_count_as_equal(rows):
    """A column in place of 1 makes the tokens different."""
    assert next(transformer_density.equal_tokens(rows)).verdict == Verdict.UNKNOWN


def test_a_counterexample_needs_its_bound():
    """Without "every G misses the step by 1/2" there is no counterexample."""
    example = exhibit_numbers(Rational(1, 2), Rational(1, 4), at={}, what="the step")
    for claimed, verdict in ((Rational(1, 2), F), (Rational(3, 4), Verdict.UNKNOWN)):
        bound = elementary.near_two(0, 1, claimed, what="a bound")
        assert elementary.resting_on([bound], example).verdict == verdict


@pytest.mark.parametrize("second", [lambda x: x, lambda x: 2 - x, lambda x: 1 - 2 * x])
def test_the_two_functions_are_the_stated_ones(second):
    found = list(expressive_power.on_both_sides(lambda x: x, second))
    assert [evidence.verdict for evidence in found] == [T, F]


def test_equations_without_content_prove_nothing():
    assert elementary.equations({}, what="nothing").verdict == Verdict.UNKNOWN


# --- the bounds are sharp -------------------------------------------------------------------------------------------


def test_five_alternations_are_needed():
    """One unit does come nearer than 1 to sin 4πx, which alternates at four points only: −2x + 2σ(…) − … does."""
    logistic = lambda u: 1 / (1 + (-u).exp())
    G = lambda x: arb(1) / 2 - 2 * x + logistic(200 * (x - arb(1) / 2))
    error = lambda x: G(x) - (4 * arb.pi() * x).sin()
    assert enclosed(error, [(0, 1)], above=-Rational(9, 10), below=Rational(9, 10), what="error").verdict == T


@pytest.mark.parametrize("terms", [1, 2, 3])
def test_one_fixed_sum_selects(terms):
    """G(x, e_k) = G_k(x) for K = 3 random ramp sums, exactly; entries are eighths, so that float64 does not round."""
    random = np.random.default_rng(seed := 11)
    print(f"seed {seed}")
    alpha, theta = (random.integers(-16, 17, (3, terms)) / 8 for _ in range(2))
    weights = random.integers(-16, 17, (3, terms, 2)) / 8
    M = (np.maximum(weights, 0).sum(axis=-1) + theta).max()
    ramp = lambda u: np.clip(u, 0, 1)
    for x in random.integers(0, 9, (20, 2)) / 8:
        arguments = weights @ x + theta
        single = (alpha * ramp(arguments)).sum(axis=1)
        selected = [(alpha * ramp(arguments - M * (1 - t[:, None]))).sum() for t in np.eye(3)]
        assert np.array_equal(selected, single)


# --- scripts --------------------------------------------------------------------------------------------------------

SCRIPTS = Path(__file__).parents[1] / "proofs" / "counterexamples"


@pytest.mark.parametrize("name", [name for name, verdict in LEDGER.items() if verdict == F])
def test_counterexample_script(name, capsys):
    path = SCRIPTS / f"{name.replace('.', '_').replace('-', '_')}.py"
    runpy.run_path(str(path))
    assert capsys.readouterr().out.strip()
    assert f"(row {name})" in path.read_text()
