"""Pruning: every row gets its verdict, its twins do not, and the pruned networks are what they say."""

import runpy
from fractions import Fraction
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from sympy import Abs

from uat_jax.decide.decision import decide
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.programs import difference
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict
from uat_jax.errors import InputError, ShapeError
from uat_jax.ledger.pruning import layer_removal
from uat_jax.ledger.pruning import sums as pruning
from uat_jax.ledger.pruning.sums import CLOSE, S_1, S_2, delta, epsilon, f
from uat_jax.networks import ResidualLayer, residual_network
from uat_jax.networks.pruning import SumTerms, kept_terms, pruned_residual_network, uat_sum, without_layers
from uat_jax.symbolic.layers import KINDS

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED
COUNTEREXAMPLES = Path(__file__).parents[1] / "proofs" / "counterexamples"

# Typed in from the ledger of claims, section I, independently of the package.
LEDGER = {
    "two-sums": T,
    "premise.v1": F, "premise.duat": T,
    "eq-15": T, "eq-15.unconditional": T, "eq-15.since": F,
    "eq-16": T, "eq-16.unconditional": T, "eq-16.uniform": T,
    "prefix-sums": F,
    "remove-layer": F, "remove-layer.identity": T, "remove-layer.bound": T,
    "remove-layer.frozen-attention": F, "remove-layer.lipschitz": T,
    "small-inside": F, "small-outside": T,
    "summand": F, "summand.everywhere": T,
}  # fmt: skip
BY_ID = {claim.id.removeprefix("pruning."): claim for claim in pruning.CLAIMS}


def test_the_chapter_has_exactly_these_rows():
    assert list(BY_ID) == list(LEDGER)
    rows = " ".join([*(c.ledger for c in pruning.CLAIMS), *(r.ledger for r in pruning.RECORDS)])
    assert {f"I{n}" for n in range(1, 7)} <= set(rows.replace(",", "").split())


@pytest.mark.parametrize("name", LEDGER)
def test_verdict(name):
    certificate = decide(BY_ID[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name] and certificate.passes
    assert (certificate.counterexample is not None) == (LEDGER[name] == F)


@pytest.mark.parametrize("name", LEDGER)
def test_rows_are_readable(name):
    claim = BY_ID[name]
    assert claim.sources and claim.hypotheses and claim.reading
    assert 0 < len(claim.title) < 80
    assert claim.printed.count("{") == claim.printed.count("}")


@pytest.mark.parametrize("name", [name for name, verdict in LEDGER.items() if verdict == F])
def test_refuted_rows_name_a_proved_correction(name):
    assert LEDGER[BY_ID[name].correction.removeprefix("pruning.")] == T


# --- twins -----------------------------------------------------------------------------------------------------------

SMALL = Abs(S_2) <= delta
TWINS = {
    "Eq. 15, ε/2": (Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon / 2, [CLOSE]),
    "Eq. 15, plus for minus": (Abs(Abs(S_1 - f) + Abs(S_2)) < epsilon, [CLOSE]),
    "Eq. 15, other sign of f": (Abs(Abs(S_1 + f) - Abs(S_2)) < epsilon, [CLOSE]),
    "Eq. 15 from S_1 − S_2": (Abs(Abs(S_1 - f) - Abs(S_2)) < epsilon / 2, [Abs(S_1 - S_2 - f) < epsilon]),
    "Eq. 15 with S_1 for S_2": (Abs(Abs(S_1 - f) - Abs(S_1)) < epsilon, [CLOSE, SMALL]),
    "Eq. 16, minus for plus": (Abs(S_1 - f) < epsilon - Abs(S_2), [CLOSE]),
    "Eq. 16, no absolute value": (Abs(S_1 - f) < epsilon + S_2, [CLOSE]),
    "Eq. 16 with S_1 for S_2": (Abs(S_1 - f) < epsilon + Abs(S_1), [CLOSE]),
    "Eq. 16 from ≤": (Abs(S_1 - f) < epsilon + Abs(S_2), [Abs(S_1 + S_2 - f) <= epsilon]),
    "error bound without ε": (Abs(S_1 - f) < delta, [CLOSE, SMALL]),
    "error bound without δ": (Abs(S_1 - f) < epsilon, [CLOSE, SMALL]),
    "error bound, f for S_1 − f": (Abs(f) < epsilon + delta, [CLOSE, SMALL]),
}


@pytest.mark.parametrize("name", TWINS)
def test_twins_of_the_sums_are_refuted(name):
    claim, hypotheses = TWINS[name]
    assert proved_inequality(claim, hypotheses, what=name).verdict == F


def _without(law, laws):
    return [other for other in laws if other is not law]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [layer_removal.removed_layer, layer_removal.later_layer])
def test_the_bound_needs_each_of_its_laws_and_factors(part, kind):
    _, claimed, laws = part(kind)
    assert proved_inequality(claimed, laws, what="whole").verdict == T
    for law in laws:
        assert proved_inequality(claimed, _without(law, laws), what=f"without {law}").verdict != T
    for factor in claimed.rhs.free_symbols:
        for changed in (0, factor / 2, factor**2):
            wrong = claimed.lhs <= claimed.rhs.subs(factor, changed)
            assert proved_inequality(wrong, laws, what=f"{factor} → {changed}").verdict != T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("part", [layer_removal.removed_layer, layer_removal.later_layer])
def test_equations_behind_the_bound_have_false_twins(part, kind):
    from uat_jax.symbolic import language as m
    from uat_jax.symbolic.step import Step

    steps, _, _ = part(kind)
    for step in steps:
        assert step.holds()
        for wrong in (m.Scaled(2, step.right), -step.right, step.right + step.left):
            assert not Step("twin", step.left, wrong, step.where).holds()


def test_the_induction_over_layers_has_false_twins():
    e_k, before, e_j, r, P = sympy.symbols("e_k e_before e_j r P", nonnegative=True)
    laws = [e_j <= r * before, before <= P * e_k]
    assert proved_inequality(e_j <= r * P * e_k, laws, what="step").verdict == T
    for wrong in (e_j <= P * e_k, e_j <= r * e_k, e_j <= r * P, e_j <= r * P * e_k / 2):
        assert proved_inequality(wrong, laws, what="twin").verdict != T


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("k", [1, 2, 3])
def test_a_summand_has_to_be_deleted_everywhere(kind, k):
    """Of three layers: everywhere is the pruned network; in x_L only is not, unless no later bias contains it."""
    assert difference(*layer_removal.without_summand(kind, 3, k, everywhere=True)) is None
    assert (difference(*layer_removal.without_summand(kind, 3, k, everywhere=False)) is None) == (k == 3)
    network, _ = layer_removal.without_summand(kind, 3, k, everywhere=True)
    for other in {1, 2, 3} - {k}:
        assert difference(network, layer_removal.without_summand(kind, 3, other, everywhere=True)[1]) is not None


# --- the bound on networks of fractions ------------------------------------------------------------------------------


def _relu_layer(layer, x):
    A, B, C, b, c = layer
    return A @ x + c + C @ np.maximum(B @ x + b, 0)


def _infinity(array) -> Fraction:
    return max(np.abs(array).reshape(len(array), -1).sum(axis=1))


@pytest.mark.parametrize("seed", range(12))
def test_the_bound_holds_exactly_on_networks_of_fractions(seed):
    """Written out in Fractions, relu, ∞-norm, layers of different widths after the removed one."""
    random = np.random.default_rng(seed)
    draw = np.vectorize(lambda n: Fraction(int(n), 4), otypes=[object])
    widths = [3, 3, int(random.integers(1, 5)), 2]
    shapes = lambda rows, columns: ((rows, columns), (4, columns), (rows, 4), (4,), (rows,))
    layers = [[draw(random.integers(-4, 5, s)) for s in shapes(r, q)] for q, r in zip(widths, widths[1:], strict=False)]
    x = pruned = draw(random.integers(-4, 5, 3))
    A, B, C, b, c = layers[0]
    s = np.maximum(B @ x + b, 0)
    eye = np.vectorize(Fraction, otypes=[object])(np.eye(3, dtype=int))
    bound = _infinity(A - eye) * _infinity(x) + _infinity(c) + _infinity(C @ s)
    x = _relu_layer(layers[0], x)
    for A, B, C, b, c in layers[1:]:
        x, pruned = (_relu_layer((A, B, C, b, c), v) for v in (x, pruned))
        bound *= _infinity(A) + _infinity(C) * _infinity(B)
    assert _infinity(x - pruned) <= bound, f"seed {seed}"


def test_both_sides_of_the_bound_are_in_the_figures():
    figures = [e.figures for e in decide(BY_ID["remove-layer.bound"], SYMBOLIC).evidence if e.method == "balls"]
    (only,) = figures
    assert 0 < float(only["actual"]) <= float(only["bound"])


# --- networks --------------------------------------------------------------------------------------------------------


def _layers(seed: int, widths: list[int]) -> list[ResidualLayer]:
    random = np.random.default_rng(seed)
    draw = lambda *shape: jnp.asarray(random.integers(-2, 3, shape), jnp.float32)
    layer = lambda q, r: ResidualLayer(draw(r, q), draw(3, q), draw(r, 3), draw(3), draw(r))
    return [layer(q, r) for q, r in zip(widths, widths[1:], strict=False)]


def test_removed_layers_are_skipped():
    layers, x, relu = _layers(1, [2, 2, 3, 3, 1]), jnp.array([1.0, -2.0]), jax.nn.relu
    got = pruned_residual_network(layers, (1, 3), x, relu)
    assert np.array_equal(got, residual_network([layers[1], layers[3]], x, relu))  # small whole numbers: exact
    assert not np.array_equal(got, residual_network(layers, x, relu))
    assert np.array_equal(pruned_residual_network(layers[:1], (1,), x, relu), x)
    assert without_layers(layers, ()) == tuple(layers)


def test_the_sum_over_both_index_sets_is_the_sum():
    random = np.random.default_rng(3)
    draw = lambda *shape: jnp.asarray(random.integers(-2, 3, shape), jnp.float32)
    terms, x = SumTerms(draw(5, 2), draw(5), draw(5)), draw(2)
    whole = uat_sum(terms, x, jax.nn.relu)
    parts = [uat_sum(kept_terms(terms, kept), x, jax.nn.relu) for kept in ((2, 5), (1, 3, 4))]
    assert float(whole) == float(parts[0]) + float(parts[1]) != float(parts[0])  # small whole numbers: exact
    assert float(uat_sum(kept_terms(terms, ()), x, jax.nn.relu)) == 0


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda: without_layers(_layers(1, [2, 2]), (2,)), InputError, r"got layers \[2\]; wanted different numbers"),
        (lambda: without_layers(_layers(1, [2, 2]), (0,)), InputError, "from 1 to 1"),
        (lambda: without_layers(_layers(1, [2, 3]), (1,)), ShapeError, "layer 1 turns 2 numbers into 3"),
        (lambda: kept_terms(SumTerms(*map(jnp.zeros, ((2, 1), 2, 2))), (1, 1)), InputError, "got terms"),
    ],
)
def test_bad_removals(call, error, message):
    with pytest.raises(error, match=message):
        call()


# --- scripts ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["premise.v1", "prefix-sums", "remove-layer.frozen-attention", "small-inside"])
def test_counterexample_scripts_run(name, capsys):
    script = COUNTEREXAMPLES / f"pruning_{name.replace('.', '_').replace('-', '_')}.py"
    assert f"pruning.{name}" in script.read_text(encoding="utf-8")
    runpy.run_path(str(script), run_name="__main__")
    assert capsys.readouterr().out
