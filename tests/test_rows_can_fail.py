"""Rows that once could not fail: what each of them rests on, changed, is no longer proved."""

import ast
from typing import Any
from unittest import mock

import pytest
import sympy
from claim_mutants import FOLDER, load, loaded_instead, rows, without_confirmation
from claim_statements import decided, document

import uat_jax as uj
from uat_jax.decide import programs
from uat_jax.decide.counts import counted
from uat_jax.decide.inequalities import proved_inequality
from uat_jax.decide.normal_forms import decide
from uat_jax.decide.ranks import bounded
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Evidence, Method, Verdict, combine
from uat_jax.errors import InputError, UatJaxError
from uat_jax.ledger.claim import Kind
from uat_jax.ledger.complexity import evaluation, generic_layer, paths
from uat_jax.ledger.foundations import approximation, elementary, transformer_density, uat_sums
from uat_jax.ledger.layers import padding, update_lists
from uat_jax.ledger.ledger import find, script_of
from uat_jax.ledger.lora import padding as lora_padding
from uat_jax.ledger.lora.tuned import READINGS, square_tuned, tuned_rules
from uat_jax.ledger.matrix_vector import diamond
from uat_jax.symbolic import language as m
from uat_jax.symbolic import updates as u
from uat_jax.symbolic.layers import KINDS
from uat_jax.symbolic.recurrence import ClosedForm, recurrence
from uat_jax.symbolic.step import Step

T, F = Verdict.PROVED, Verdict.REFUTED
N = paths.N


@pytest.mark.parametrize("step", [paths.rearranged(), paths.rearranged_causal()], ids=lambda step: step.name)
def test_the_bound_of_a_rank_comes_from_the_structure(step):
    bound = paths.BOUNDS[step.name]
    assert combine(bounded(step, claimed=bound, what="rank")) == T
    for claimed in (bound - 1, bound - 5, bound.subs(N, N - 1)):
        assert combine(bounded(step, claimed=claimed, what="rank")) == Verdict.UNKNOWN


def test_a_rank_and_its_bound_are_one_number():
    """What is reached is what the row before claims: the numbers of the title are computed."""
    reached = {name: [paths.least_bound(name, depth) for depth in range(1, 5)] for name in paths.BOUNDS}
    assert reached == {"any pattern": [3, 9, 13, 13], "causal": [3, 7, 7, 7]}


def test_the_softmax_of_permuted_tokens_is_in_the_proof():
    lines = "\n".join(document()["uat.permutation-equivariance"])
    assert "numerator of softmax" in lines and "denominator of softmax" in lines
    for step in transformer_density.neighbours_exchanged():
        assert step.holds()
        assert not Step("one token less", step.left, m.Addition(*step.right.operands[:-1])).holds()


def test_every_shape_of_a_derivative_is_needed():
    """Without one of the mean values that a shape gives, a slope may lie below both its neighbours."""
    before, slope, after, start, end = sympy.symbols("d_2 d_3 d_4 g_3 g_4", real=True)
    for facts in ([before <= start], [start <= slope], [slope >= end], [before <= start, after <= end]):
        assert proved_inequality(slope >= sympy.Min(before, after), facts, what="a slope").verdict == F
    assert len(list(transformer_density.middle_slope())) == 3


BOUNDS = {
    "uat.density.no-quantifier": (approximation.monotone_term, sympy.Rational(1, 2)),
    "uat.borel-uniform": (lambda error: [approximation.step_bound(error)], sympy.Rational(1, 2)),
    "uat.affine-term.bounded": (lambda error: [uat_sums.bounded_sum(error)], sympy.Integer(1)),
    "uat.any-function.permutations": (transformer_density.equal_outputs_bound, sympy.Rational(1, 2)),
    "uat.any-function.one-unit": (transformer_density.one_unit_bound, sympy.Integer(1)),
    "two targets": (lambda error: [elementary.near_two(0, 6, error, what="far apart")], sympy.Integer(3)),
}


@pytest.mark.parametrize("name", BOUNDS)
def test_the_number_of_a_counterexample_comes_from_its_bound(name):
    """The largest error that is proved to be made is the number, and a larger one is not proved."""
    bound, least = BOUNDS[name]
    assert elementary.least_error(bound)[0] == least
    assert not all(found.verdict is T for found in bound(least + sympy.Rational(1, 4)))


PROMISES = {
    "the step": approximation.STEP,
    "two tokens": transformer_density.PERMUTED,
    "one hidden unit": transformer_density.ONE_UNIT,
}


@pytest.mark.parametrize("name", PROMISES)
def test_the_least_error_is_promised_and_no_other(name):
    """Less is refuted; more is another statement, of which it is said that it is more than is needed."""
    promise = PROMISES[name]
    least, _ = elementary.least_error(promise.bound)
    said = {n: list(promise(least * sympy.Rational(n, 4), Settings(dtypes=()))) for n in (3, 4, 5)}
    assert [combine(found) for found in said.values()] == [F, T, Verdict.UNKNOWN]
    assert [found.finding for found in said[5] if "more than is needed" in found.finding]


def test_activations_that_grow_do_so_at_that_rate():
    """σ(t) ≥ t/2 is proved for relu, gelu and silu; σ(t) ≥ 3 t/4 is not."""
    half, more = (list(uat_sums.unbounded(sympy.Rational(n, 4))) for n in (2, 3))
    assert {found.verdict for found in half} == {T} and len(half) == 3
    assert [found.verdict is T for found in more] == [found.subject == "relu" for found in more]


def test_a_bound_that_never_holds_gives_no_number():
    with pytest.raises(InputError, match="holds for none"):
        elementary.least_error(lambda error: [elementary.near_two(0, 0, error, what="one target")])


def test_counts_come_from_a_generic_layer():
    """A product more in every layer changes the derived number, and so does one typed number the claim."""
    L, of = evaluation.L, generic_layer.LAYERS
    layer = of.apply(generic_layer.i + 1, of.x(generic_layer.i))
    assert generic_layer.products_in(layer) == 3 and generic_layer.activations_in(layer) == 1
    assert generic_layer.products_in(m.Identity(layer.shape[0]) @ layer) == 4
    extra = sympy.prod(L - n for n in range(1, 7))
    found = counted(
        3 * L + extra,
        evaluation.network_products(),
        what="L layers",
        measured=evaluation.with_vectors("network"),
        shapes=evaluation.UP_TO_SIX,
    )
    assert combine(found) != T


def test_a_factor_of_the_diamond_product_is_any_number():
    W, x = m.Letter("W", 2, 3), m.Letter("x", 2, 1)
    c: Any = sympy.Symbol("c", real=True)
    for wrong in (c**2 - 6, c + 1, -c):
        assert decide(Step("a factor", diamond.diamond(c * W, x), wrong * diamond.diamond(W, x))) is not None


def test_labels_and_years_are_of_a_kind_of_their_own():
    rows = [claim for claim in uj.claims() if claim.id.startswith(("references.", "names.", "abstract."))]
    assert rows and all(claim.kind is Kind.BOOKKEEPING for claim in (*rows, find("uat.citation-year")))


@pytest.mark.parametrize("change", [lambda A: 2 * A, lambda A: -A])
def test_a_layer_that_adds_something_is_no_padding(change):
    """With A = 2 I, or −I, neither the network nor what is printed stays what it is."""
    rules = tuple(a.at(update_lists.j, padding.i) for a in update_lists.PRINTED)
    step = padding.of_a_box("residual", rules, u.k)
    assert step.holds()
    where = {
        l: change(e) if isinstance(e, m.Product) and e.operands[0] == m.Identity(u.D) else e
        for l, e in step.where.items()
    }
    assert where != step.where and not Step("a layer", step.left, step.right, where).holds()


EXACT_TO_SOME_DEPTH = [claim.id for claim in uj.claims() if claim.exact_to is not None]
UNDECIDED = Evidence(Method.COUNTEREXAMPLE, "not looked for", Verdict.UNKNOWN)


@pytest.mark.parametrize("name", EXACT_TO_SOME_DEPTH)
def test_a_wrong_reading_is_wrong_at_every_larger_depth(name):
    """Every row that names a depth up to which it is exact is shown to fail at all larger ones, not at five alone."""
    with without_confirmation(), mock.patch.object(programs, "refute", lambda *pair: UNDECIDED):
        found = [e for e in find(name).decide(Settings(dtypes=())) if e.subject == padding.SUBJECT]
    assert found and {e.verdict for e in found} <= {T, Verdict.CERTIFIED} and found[0].verdict is T


def _tuned(kind: str, special: lora_padding.Special) -> list[Step]:
    layers, reading = square_tuned(kind), READINGS["transported"]
    return [padding.stays(kind, layers, special), lora_padding.of_eq_18(kind, reading, special)]


@pytest.mark.parametrize("kind", KINDS)
def test_a_tuned_layer_that_adds_something_is_no_padding(kind):
    """ΔC, C and c must each vanish, or cancel, and A be I: in the network, and in what is printed for it."""
    layers = square_tuned(kind)
    empty, cancelled = lora_padding.untuned(layers), lora_padding.cancelled(layers)
    assert all(step.holds() for step in _tuned(kind, empty))
    for letter in empty:
        fewer = {other: value for other, value in empty.items() if other != letter}
        assert not all(step.holds() for step in _tuned(kind, fewer)), letter
    assert padding.stays(kind, layers, cancelled).holds()
    mistaken = tuned_rules(ClosedForm(square_tuned(kind, shift=1)))
    for letter in cancelled:
        fewer = {other: value for other, value in cancelled.items() if other != letter}
        network, form = padding.stays(kind, layers, fewer), padding.of_the_closed_form(kind, mistaken, fewer)
        assert not (network.holds() and form.holds()), letter


OURS = """
    residual-makes-biases-dynamic perceptron.not-duat pruning.eq-15.since convolution.stack-fragmented
    uat.affine-term.bounded dependence.one-token lora.layer-by-layer.biases lora.layer-by-layer.coefficients duat.eq-4
""".split()


@pytest.mark.parametrize("name", OURS)
def test_readings_that_no_author_states_are_marked(name):
    assert find(name).ours and find(name).expects is F


ONCE_WITHOUT_A_ROW = {
    "lemma-1.diagonal": F, "lemma-1.diagonal-more-terms": T, "eq-30.left": T, "attention.row-sums": T,
    "convolution.residual-network": T, "uat.perceptron": T, "figure-2.densest": F, "figure-2.squared-error": T,
    "figure-2.absolute-error": T, "updates.only-products": T, "convolution.features.seen": T, "names.primes": F,
    "names.ring": F, "names.w-j-t": F, "names.layer-as-power": F, "attention.v1-concat": F,
}  # fmt: skip


@pytest.mark.parametrize("name", ONCE_WITHOUT_A_ROW)
def test_statements_that_once_had_no_row_have_one(name):
    assert find(name).expects is ONCE_WITHOUT_A_ROW[name]


def test_each_closed_form_names_its_own_script():
    scripts = {kind: script_of(find(f"{kind}.closed-form")) for kind in KINDS}
    assert scripts == {"residual": "residual_network_is_duat.py", "transformer": "transformer_is_duat.py"}


@pytest.mark.parametrize("kind", KINDS)
def test_only_the_biases_inside_change_by_more_than_products(kind):
    closed = ClosedForm(u.square_layers(kind))
    rule = recurrence(closed, 3)
    assert rule.b2_u is not None
    bias = rule.b2_constant + rule.b2_u @ m.Addition(*(closed.W3(k, 2) @ closed.activation(k) for k in (1, 2)))
    assert update_lists.only_products("b", bias).verdict is F
    found = update_lists.collected(kind)
    assert {update_lists.only_products(name, of).verdict for name, of in found.items()} == {T} and len(found) == 5
    softmaxed = m.RowSoftmax(found["W_{i+1,1}"])
    assert update_lists.only_products("W", softmaxed).verdict is F


# --- changes of the source that once went unnoticed -------------------------------------------------------------------

FAILS, SAYS_ELSE = "the row fails", "the row decides something else than docs/statements.md says"

CHANGES = {
    "another bound of a rank": (
        "complexity/paths.py", "N * (N - 1) + 1", "N * (N - 1) - 4", "complexity.paths.rank", FAILS,
    ),
    "fewer entries that determine a pattern": (
        "complexity/paths.py", '"G", N, N - 1, (p,)', '"G", N, N - 2, (p,)', "complexity.paths.rank", FAILS,
    ),
    "no lemma on permuted scores": (
        "foundations/transformer_density.py", "(*equivariance(), *neighbours_exchanged())", "equivariance()",
        "uat.permutation-equivariance", SAYS_ELSE,
    ),
    "a token seen twice": (
        "foundations/transformer_density.py", "total(of, P, b, a, R)", "total(of, P, b, b, R)",
        "uat.permutation-equivariance", FAILS,
    ),
    "one case of two": (
        "foundations/transformer_density.py", "in shapes.items():", "in [*shapes.items()][:1]:",
        "uat.any-function.one-unit.corrected", SAYS_ELSE,
    ),
    "one place of three": (
        "foundations/transformer_density.py", "in highest_point.items():", "in [*highest_point.items()][:1]:",
        "uat.any-function.one-unit", SAYS_ELSE,
    ),
    "another function": (
        "foundations/approximation.py", "zip(values, (0, 1, 0), strict=True)", "zip(values, (0, 2, 0), strict=True)",
        "uat.density.no-quantifier", SAYS_ELSE,
    ),
    "another number in an example": (
        "foundations/uat_sums.py", 'exhibit_numbers(least, 0, at={"x"', 'exhibit_numbers(least, 2, at={"x"',
        "uat.affine-term.bounded", SAYS_ELSE,
    ),
    "one product more in every layer": (
        "complexity/evaluation.py", "products_in(LAYERS.apply(INDEX + 1, LAYERS.x(INDEX)))",
        "products_in(LAYERS.apply(INDEX + 1, LAYERS.A(INDEX) @ LAYERS.x(INDEX)))", "complexity.network.products", FAILS,
    ),
    "another column of Eq. 15": (
        "matrix_vector/linear_layer.py", "return w[row, token] * identity_entry(place, shift)",
        "return w[row, token] * identity_entry(place, shift + 1)", "linear.eq-15", FAILS,
    ),
    "another factor": (
        "matrix_vector/diamond.py", "c * diamond(W, x)", "(c**2 - 6) * diamond(W, x)", "diamond.bilinear", FAILS,
    ),
    "one entry more": (
        "attention/density.py", "h * a(1) * b(1)", "h * a(1) * b(1) + 1", "density.criterion", FAILS,
    ),
    "taller blocks": (
        "attention/heads.py", "m.Selection(HEAD, COUNT * rows, rows)", "m.Selection(HEAD, COUNT * rows + 7, rows)",
        "heads.stacked.blocks", SAYS_ELSE,
    ),
    "another multiple of what is left over": (
        "matrix_vector/method.py", "m.Product(r, x.T, x) - m.Identity(1)", "m.Product(r, x.T, x) - 2 * m.Identity(1)",
        "matrix-vector.nonlinear", FAILS,
    ),
    "another limit": (
        "foundations/uat_sums.py", "far_left).expand(), 1)", "far_left).expand(), 2)",
        "uat.sigmoidal.differences", FAILS,
    ),
    "another sum": (
        "layers/fixed_sums.py", "all(found(x) == hat(x)", "all(found(x) == hat(x) + 1",
        "lemma-2.some-fixed-sum.relu-one-input", FAILS,
    ),
    "another year": (
        "foundations/approximation.py", "FIRST_VOLUME = 1988", "FIRST_VOLUME = 1990", "uat.citation-year", FAILS,
    ),
    "an equation that does not exist": (
        "bookkeeping.py", 'Reference("3.3", "Equation 10", "3.2"))', 'Reference("3.3", "Equation 999", "3.2"))',
        "references.equations-6-and-10", FAILS,
    ),
    "an equation that is added to the table": (
        "bookkeeping.py", '"C": range(35, 36),', '"C": (35, 999),', "abstract.structure", FAILS,
    ),
    "the slip mended and two signs turned": (
        "layers/induction_steps.py", "(A @ q + c)) + A @ U + of.C(layer) @ sigma",
        "(A @ q - c)) - A @ U + of.C(j) @ sigma", "eq-32.printed", FAILS,
    ),
    "another mixed difference of slice heads": (
        "attention/slices.py", "f(x(1) + e(1), x(2)) + f(x(1), x(2) + e(2))",
        "f(x(1) + e(1), x(2)) - f(x(1), x(2) + e(2))", "attention.slices-suffice", FAILS,
    ),
    "another mixed difference of a whole head": (
        "attention/slices.py", "- f(x + first) - f(x + second)", "- f(x + first) + f(x + second)",
        "attention.slices-suffice", SAYS_ELSE,
    ),
}  # fmt: skip
"""A change → the file below `uat_jax/ledger`, the text before and after, a row, and how the change is noticed."""


@pytest.mark.parametrize("change", CHANGES)
def test_a_change_that_once_went_unnoticed_is_noticed(change):
    file, before, after, name, expected = CHANGES[change]
    text = (FOLDER / file).read_text(encoding="utf-8")
    assert before in text
    with without_confirmation():
        loaded = load(ast.parse(text.replace(before, after, 1)), file)
        with loaded_instead(loaded):
            try:
                noticed = SAYS_ELSE if decided(rows(loaded.values())[name]) != document()[name] else ""
            except UatJaxError:
                noticed = FAILS
    assert noticed == expected
