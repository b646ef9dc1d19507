"""LoRA: the verdicts of its rows, adapters beside and inside the weights, and wrong variants that must not pass."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import sympy
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide.decision import decide
from uat_jax.decide.exhibits import exhibit
from uat_jax.decide.normal_forms import prove
from uat_jax.decide.ranks import enclosed, exceeded
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Method, Verdict
from uat_jax.errors import InputError, ShapeError
from uat_jax.ledger.lora import adapters as lora
from uat_jax.ledger.lora import attention as lora_attention
from uat_jax.ledger.lora import closed_form as lora_closed_form
from uat_jax.ledger.lora import ranks as lora_ranks
from uat_jax.ledger.lora import tuned
from uat_jax.networks import initialise_residual, initialise_transformer, residual_network, transformer
from uat_jax.networks.lora import Adapter, lora_residual_network, lora_transformer, merge
from uat_jax.symbolic.induction import INDEX, closed_form_induction
from uat_jax.symbolic.recurrence import ClosedForm

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED
CLAIMS = {c.id: c for rows in (lora, lora_closed_form, lora_attention, lora_ranks) for c in rows.CLAIMS}

# Typed in from the ledger of claims (section H), independently of the package: verdict, and how far it is exact.
LEDGER = {
    "lora.merged": (T, None), "lora.matrix-vector": (T, None), "lora.rank": (T, None),
    "lora.layer-by-layer.own-weights": (T, None), "lora.layer-by-layer.biases": (F, None),
    "lora.layer-by-layer.coefficients": (F, None),
    "lora.stray-plus": (F, None), "lora.delta-index": (F, 0), "lora.bias-index": (F, None),
    "lora.final-values-residual": (F, 1), "lora.final-values-transformer": (F, 0), "lora.transported": (F, 1),
    "lora.original": (T, None), "lora.coefficient-delta": (T, None),
    "lora.attention.matrix": (T, None), "lora.attention.product": (T, None), "lora.value-output.matrix": (T, None),
    "lora.later-attention": (F, None),
    "lora.value-output.rank": (T, None), "lora.query-key.rank": (T, None), "lora.query-key.pattern-rank": (F, None),
    "lora.query-key.low-matrix-rank": (F, None), "lora.query-key.matrix-rank": (T, None),
}  # fmt: skip


def test_the_chapter_has_exactly_these_rows():
    assert list(CLAIMS) == list(LEDGER)
    assert {claim.ledger for claim in CLAIMS.values()} == {"H1", "H2", "H3"}


@pytest.mark.parametrize("name", one_in(2, LEDGER))
def test_verdict(name):
    verdict, exact_to = LEDGER[name]
    certificate = decide(CLAIMS[name], SYMBOLIC)
    assert certificate.verdict == verdict and certificate.passes
    for evidence in certificate.evidence:
        depths = evidence.figures.get("exact_depths")
        assert depths is None or depths == list(range(1, (5 if verdict is T else exact_to) + 1))
    assert (certificate.counterexample is not None) == (verdict is F)


@pytest.mark.parametrize("name", [name for name, (verdict, _) in LEDGER.items() if verdict is F])
def test_refuted_rows_name_a_proved_correction(name):
    assert LEDGER[CLAIMS[name].correction][0] is T


@pytest.mark.parametrize("claim", CLAIMS.values(), ids=lambda claim: claim.id)
def test_rows_are_readable(claim):
    assert len(claim.title) < 80 and claim.sources
    assert claim.printed.count("{") == claim.printed.count("}")


def test_a_wrong_depth_does_not_pass():
    wrong = dataclasses.replace(CLAIMS["lora.transported"], exact_to=2)
    assert not decide(wrong, SYMBOLIC).passes


# --- the closed form -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", ["residual", "transformer"])
@pytest.mark.parametrize("field", ["W1", "b3", "W2", "b2_constant", "b2_u", "carry", "W3"])
def test_a_wrong_rule_for_the_tuned_parameters_is_not_proved(kind, field):
    layers = tuned.TunedLayers(kind)
    rules = tuned.tuned_rules(ClosedForm(layers))
    assert prove(closed_form_induction(layers, rules), method=Method.INDUCTION, what="right").verdict is T
    wrong = dataclasses.replace(rules, **{field: 2 * getattr(rules, field)})
    assert prove(closed_form_induction(layers, wrong), method=Method.INDUCTION, what="twice").verdict is Verdict.UNKNOWN


@pytest.mark.parametrize("kind", ["residual", "transformer"])
def test_rules_that_forget_the_deltas_are_not_proved(kind):
    layers = tuned.TunedLayers(kind)
    rules = tuned.tuned_rules(ClosedForm(layers))
    j = INDEX + 1
    plain = super(tuned.TunedLayers, layers)
    for field, value in {
        "W3": plain.C(j),
        "b2_u": plain.B(j) if kind == "residual" else plain.B(j) @ plain.A(j),
    }.items():
        wrong = dataclasses.replace(rules, **{field: value})
        found = prove(closed_form_induction(layers, wrong), method=Method.INDUCTION, what="forgotten")
        assert found.verdict is Verdict.UNKNOWN


# --- ranks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("size", [1, 2, 3, 4])
def test_rows_that_add_up_to_one_are_determined_by_all_columns_but_the_last(size):
    G = sympy.Matrix(size, size - 1, lambda n, k: sympy.Symbol(f"g{n}{k}"))
    S = sympy.eye(size - 1).row_join(-sympy.ones(size - 1, 1))
    last = sympy.Matrix(1, size, lambda _, k: int(k == size - 1))
    matrix = G * S + sympy.ones(size, 1) * last
    assert matrix[:, : size - 1] == G
    assert (matrix * sympy.ones(size, 1)).expand() == sympy.ones(size, 1)


@pytest.mark.parametrize("claimed", [41, 44, 48])
def test_no_larger_rank_of_the_changed_matrix_is_proved(claimed):
    found = enclosed(claimed, lora_ranks.MATRIX, lora_ranks.six_tokens(), what="ΔA")
    assert found.verdict is Verdict.UNKNOWN


def test_the_rank_counterexamples_exceed_by_one_only():
    inputs = lora_ranks.THREE_TOKENS, lora_ranks.THREE_FEATURES
    for function, point, rank in zip((lora_ranks.PATTERN, lora_ranks.MATRIX), inputs, (2, 3), strict=True):
        assert exceeded(rank - 1, function, point, what="ΔH, ΔA").verdict is F
        assert exceeded(rank, function, point, what="ΔH, ΔA").verdict is Verdict.UNKNOWN


def test_later_attention_moves_only_with_the_delta():
    same = lambda x, delta: lora_attention.second_pattern(x, delta, tuned=True)
    plain = lambda x, delta: lora_attention.second_pattern(x, delta, tuned=False)
    assert exhibit(same, plain, {"x": [[1], [0]], "delta": [[1]]}, what="ΔW_2 = 1").verdict is F
    assert exhibit(same, plain, {"x": [[1], [0]], "delta": [[0]]}, what="ΔW_2 = 0").verdict is Verdict.UNKNOWN


# --- networks --------------------------------------------------------------------------------------------------------

RANK = 1


def _adapters(layer, seed):
    """One for each matrix, of whole numbers."""
    random = np.random.default_rng(seed)
    draw = lambda *shape: jnp.asarray(random.integers(-2, 3, shape), jnp.float32)
    matrices = {name: array.shape for name, array in layer._asdict().items() if array.ndim > 1}
    return {
        name: Adapter(draw(*batch, rows, RANK), draw(*batch, RANK, columns))
        for name, (*batch, rows, columns) in matrices.items()
    }


def _residual(seed):
    whole = lambda array: jnp.round(3 * array)
    drawn = jax.jit(lambda key: jax.tree.map(whole, initialise_residual(key, [3, 2, 4], [5, 3])))
    layers = drawn(jax.random.key(seed))
    return layers, [_adapters(layer, seed + n) for n, layer in enumerate(layers)]


def test_residual_adapters_beside_and_merged_are_equal_in_every_bit():
    layers, adapters = _residual(seed=3)
    x = jnp.asarray([1.0, -2.0, 3.0])
    beside = lora_residual_network(layers, adapters, x, jax.nn.relu)
    merged = residual_network(list(map(merge, layers, adapters)), x, jax.nn.relu)
    assert jnp.max(jnp.abs(beside)) < 2**24  # whole numbers below this are exact in float32
    assert np.array_equal(beside, merged)
    assert not np.array_equal(beside, residual_network(layers, x, jax.nn.relu))


@pytest.mark.parametrize("names", [("query",), ("key", "value"), ("output", "hidden", "project")])
def test_transformer_adapters_beside_and_merged_are_certified_equal(names):
    (layer,) = initialise_transformer(jax.random.key(5), features=[4, 4], heads=2, hidden=[3])
    adapters = {name: adapter for name, adapter in _adapters(layer, 5).items() if name in names}
    x = jnp.ones((2, 4))
    beside = lambda layer, adapters, x: lora_transformer([layer], [adapters], x, jax.nn.relu)
    merged = lambda layer, adapters, x: transformer([merge(layer, adapters)], x, jax.nn.relu)
    uj.assert_equivalent(beside, merged, layer, adapters, x)


def test_an_adapter_of_another_sign_is_not_certified():
    (layer,) = initialise_transformer(jax.random.key(5), features=[2, 2], heads=1, hidden=[2])
    adapters = {"query": _adapters(layer, 5)["query"]}
    beside = lambda layer, adapters, x: lora_transformer([layer], [adapters], x, jax.nn.relu)
    minus = lambda layer, adapters, x: transformer([merge(layer, jax.tree.map(jnp.negative, adapters))], x, jax.nn.relu)
    # both factors negated: the same ΔW; one factor negated: another
    half = lambda layer, adapters, x: transformer(
        [merge(layer, {"query": Adapter(-adapters["query"].left, adapters["query"].right)})], x, jax.nn.relu
    )
    assert uj.certify(beside, minus, layer, adapters, jnp.ones((2, 2))).verdict is Verdict.CERTIFIED
    assert uj.certify(beside, half, layer, adapters, jnp.ones((2, 2))).verdict is F


@pytest.mark.parametrize("name", ["b", "D"])
def test_only_matrices_have_adapters(name):
    layers, _ = _residual(seed=1)
    with pytest.raises(InputError, match=f"adapter of '{name}', wanted one of A, B, C"):
        merge(layers[0], {name: Adapter(jnp.ones((2, 1)), jnp.ones((1, 3)))})


@pytest.mark.parametrize("left", [(3, 1), (2, 2), (2,)])
def test_an_adapter_must_fit(left):
    layers, _ = _residual(seed=1)
    with pytest.raises(ShapeError, match="got an adapter of A of shapes"):
        merge(layers[0], {"A": Adapter(jnp.ones(left), jnp.ones((1, 3)))})
