"""The rows on attention and its heads (E1–E9, E13): verdicts, corrections, and networks that they speak of."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in

import uat_jax as uj
from uat_jax.decide.decision import decide
from uat_jax.decide.functions import confirm_functions, evaluated
from uat_jax.decide.settings import Settings
from uat_jax.decide.verdict import Verdict
from uat_jax.ledger.attention import heads, slices
from uat_jax.ledger.attention import matrix as attention
from uat_jax.networks import attention as attend
from uat_jax.networks import initialise_transformer
from uat_jax.networks.heads import full_width, masked_attention
from uat_jax.networks.masks import causal_mask

SYMBOLIC = Settings(dtypes=())
T, F = Verdict.PROVED, Verdict.REFUTED
ROWS = (*attention.CLAIMS, *slices.CLAIMS, *heads.CLAIMS)
BY_ID = {claim.id: claim for claim in ROWS}

# Typed in from the ledger of claims, independently of the package.
LEDGER = {
    "attention.matrix": T, "attention.matrix.transposed": T, "attention.size": T,
    "attention.eq-8.v1-left": F, "attention.eq-8.v1-right": F, "attention.per-head": T,
    "attention.pattern-from-weights": F, "attention.pattern-from-input": T,
    "attention.linear.frozen": T, "attention.linear.map": F, "attention.linear.derivative": F,
    "attention.eq-35": T, "attention.eq-35.rank": T, "attention.row-sums": T,
    "attention.v1-last-head": F, "attention.v1-hat": F, "attention.v1-concat": F,
    "attention.slices-embed": T, "attention.slices-separate": T, "attention.slices-suffice": F,
    "attention.slices-parameters": T, "attention.scale-class": T, "attention.scale-weights": F,
    "head.matrix": T, "head.duat-1-d-3": T, "head.duat-1-d-4": T, "head.transpose-rule": F,
    "head.v2-1-d-3": T, "head.v2-1-d-4.left": T, "head.v2-1-d-4.right": F,
    "head.v1-juxtaposed": F, "head.v1-result": F, "head.row-or-column": F,
    "heads.stacked": T, "heads.stacked.blocks": T, "heads.caption.without-diamond": F,
    "heads.order.diamond": T, "heads.order.transposed": F, "heads.order.corrected": T, "heads.order.untransposed": T,
    "heads.caption.output": F, "heads.caption.whole": F, "heads.caption.corrected": T,
}  # fmt: skip


def test_exactly_these_rows():
    assert sorted(BY_ID) == sorted(LEDGER) and len(ROWS) == len(BY_ID)


@pytest.mark.parametrize("name", one_in(2, LEDGER))
def test_verdict(name):
    certificate = decide(BY_ID[name], SYMBOLIC)
    assert certificate.verdict == LEDGER[name]
    assert certificate.passes
    if LEDGER[name] == F:
        assert certificate.counterexample is not None


@pytest.mark.parametrize("name", [name for name, verdict in LEDGER.items() if verdict == F])
def test_corrections_are_proved(name):
    assert LEDGER[BY_ID[name].correction] == T


@pytest.mark.parametrize("claim", ROWS, ids=lambda claim: claim.id)
def test_rows_are_readable(claim):
    assert len(claim.title) < 80 and claim.printed.count("{") == claim.printed.count("}")


# --- the networks --------------------------------------------------------------------------------------------------


def _layer(seed: int, features: int, heads: int):
    key = jax.random.key(seed)
    return initialise_transformer(key, features=[features, 6], heads=heads, hidden=[1])[0]


@pytest.mark.parametrize(("features", "heads"), [(4, 1), (6, 3)])
def test_slice_heads_are_full_width_heads(features, heads):
    layer = jax.tree.map(np.asarray, _layer(7, features, heads))
    x = np.random.default_rng(8).normal(size=(3, features))
    assert full_width(layer).query.shape == (heads, features, features // heads)
    in_float64 = lambda network: evaluated(lambda x: network(jax.tree.map(lambda w: w.astype(x.dtype), layer), x), x)
    # Both sum the same products, the second with zeros added: a few hundred roundings of values below 10.
    np.testing.assert_allclose(in_float64(masked_attention), in_float64(attend), rtol=0, atol=1024 * 10 * 2.0**-53)


def test_a_causal_mask_hides_later_tokens_bit_by_bit():
    layer, x = _layer(3, 4, 2), np.asarray(jax.random.normal(jax.random.key(4), (4, 4)))
    changed = np.concatenate([x[:3], [[9.0, 9.0, 9.0, 9.0]]]).astype(x.dtype)
    run = jax.jit(lambda x: masked_attention(layer, x, causal_mask(4)))
    first, second = np.asarray(run(x)), np.asarray(run(changed))
    assert np.array_equal(first[:3], second[:3])
    assert not np.array_equal(first[3], second[3])


MISTAKES = {
    "scale √d": lambda layer, x: attend(layer, x * jnp.asarray(2.0**0.25, x.dtype)) / jnp.asarray(2.0**0.25, x.dtype),
    "heads swapped": lambda layer, x: attend(layer._replace(query=layer.query[::-1]), x),
    "values transposed": lambda layer, x: attend(layer._replace(value=layer.value.transpose(0, 2, 1)), x),
    "a mask": lambda layer, x: masked_attention(layer, x, causal_mask(3)),
}


@pytest.mark.parametrize("name", MISTAKES)
def test_wrong_networks_are_not_confirmed(name):
    shapes = (slices.attention_shapes(2, 2), (3, 4))
    found = confirm_functions(attend, MISTAKES[name], shapes, what=name)
    assert found.verdict is Verdict.UNKNOWN


def test_shapes_are_checked():
    with pytest.raises(uj.UatJaxError, match="mask"):
        masked_attention(_layer(1, 4, 2), jnp.zeros((3, 4)), causal_mask(2))
