"""Multi-head attention with every size, mask and position is the function that exact references and flax say it is.

Equality with a reference has no tolerance (see exact_references.py); flax is compared as a function, by `certify`.
"""

import exact_references as exactly
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_parameters import drawn, generator, normal

from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.networks.masks import causal_mask, padding_mask, sliding_window_mask
from uat_jax.networks.multihead import PLAIN, Scoring, initialise_multihead, multihead, multihead_weights
from uat_jax.networks.positions import alibi, alibi_slopes, rope, rope_angles


@pytest.fixture
def random(request):
    return generator(request.node.name)


# --- attention -------------------------------------------------------------------------------------------

SIZES = {
    "one of everything": {"features": 1, "heads": 1},
    "slices": {"features": 4, "heads": 2},
    "full width": {"features": 3, "heads": 2, "width": 4},
    "no biases": {"features": 4, "heads": 2, "biases": False},
    "grouped": {"features": 4, "heads": 4, "groups": 2, "width": 2},
    "multi-query": {"features": 2, "heads": 3, "groups": 1, "width": 4},
}
SCORINGS = {
    "plain": lambda layer, tokens: PLAIN,
    "causal": lambda layer, tokens: Scoring(mask=causal_mask(tokens)),
    "window": lambda layer, tokens: Scoring(mask=sliding_window_mask(tokens, 2)),
    "padding": lambda layer, tokens: Scoring(mask=padding_mask(tokens, tokens, 2)),
    "ALiBi": lambda layer, tokens: Scoring(causal_mask(tokens), alibi(alibi_slopes(len(layer.query)), tokens)),
    "RoPE": lambda layer, tokens: Scoring(causal_mask(tokens), angles=rope_angles(tokens, layer.query.shape[2])),
    "scaled": lambda layer, tokens: Scoring(scale=0.375),
}


def attention_agrees(layer, x, scoring, network=multihead, context=None):
    z = x if context is None else context
    run = lambda layer, x, z: network(layer, x, scoring=scoring, context=None if context is None else z)
    reference = lambda layer, x, z: exactly.attention(layer, x, z, exactly.balls(scoring))
    return exactly.equal(run, reference, layer, x, z)


@pytest.mark.parametrize("tokens", [1, 3])
@pytest.mark.parametrize("name", SIZES)
def test_attention_of_every_size(random, name, tokens):
    layer = drawn(random, initialise_multihead, **SIZES[name])
    assert attention_agrees(layer, normal(random, tokens, SIZES[name]["features"]), PLAIN)


@pytest.mark.parametrize("scoring", SCORINGS)
@pytest.mark.parametrize("name", ["full width", "grouped"])
def test_attention_with_every_scoring(random, name, scoring):
    layer = drawn(random, initialise_multihead, **SIZES[name])
    assert attention_agrees(layer, normal(random, 3, SIZES[name]["features"]), SCORINGS[scoring](layer, 3))


@pytest.mark.parametrize("mask", [None, padding_mask(2, 4, 3)], ids=["all keys", "padding"])
@pytest.mark.parametrize("context", [2, 3])
def test_cross_attention(random, context, mask):
    layer = drawn(random, initialise_multihead, features=2, heads=2, width=3, groups=1, context=context)
    x, z = normal(random, 2, 2), normal(random, 4, context)
    assert attention_agrees(layer, x, Scoring(mask), context=z)
    assert not attention_agrees(layer, x, Scoring(mask), context=z, network=_other_context)


def _other_context(layer, x, *, scoring, context):
    return multihead(layer, x, scoring=scoring, context=context[::-1] * 2)


@pytest.mark.parametrize("seen", SCORINGS)
@pytest.mark.parametrize("said", SCORINGS)
def test_no_scoring_passes_for_another(random, seen, said):
    layer, x = drawn(random, initialise_multihead, **SIZES["grouped"]), normal(random, 4, 4)
    other = lambda layer, x, **_: multihead(layer, x, scoring=SCORINGS[seen](layer, 4))
    assert attention_agrees(layer, x, SCORINGS[said](layer, 4), network=other) == (seen == said)


def _replaced(**changes):
    """The attention with some of its arrays changed by functions."""

    def network(layer, x, **options):
        changed = {name: change(getattr(layer, name)) for name, change in changes.items()}
        return multihead(layer._replace(**changed), x, **options)

    return network


WRONG_ATTENTION = {
    "no query": _replaced(query=jnp.zeros_like),
    "no query bias": _replaced(query_bias=jnp.zeros_like),
    "no value bias": _replaced(value_bias=jnp.zeros_like),
    "no output bias": _replaced(output_bias=jnp.zeros_like),
    "no key": _replaced(key=jnp.zeros_like),
    "output heads in reverse": _replaced(output=lambda a: a[::-1]),
    "groups in turn": _replaced(query=lambda a: a[jnp.array([0, 2, 1, 3])]),
    "groups in reverse": _replaced(key=lambda a: a[::-1], value=lambda a: a[::-1]),
    "values of the other group": _replaced(value=lambda a: a[::-1]),
    "one group for all": _replaced(key=lambda a: a[:1].repeat(2, 0), value=lambda a: a[:1].repeat(2, 0)),
    "output transposed": _replaced(output=lambda a: jnp.swapaxes(jnp.reshape(a, (4, 4, 2)), 1, 2)),
    "residual": lambda layer, x, **options: x + multihead(layer, x, **options),
    "scaled by the features": lambda layer, x, **_: multihead(layer, x, scoring=Scoring(scale=0.5)),
    "softmax over the queries": lambda layer, x, **_: _softmax_over_queries(layer, x),
}


def _softmax_over_queries(layer, x):
    """MHA with the axis of the softmax mistaken; the layer has 4 heads in 2 groups."""
    q = jnp.einsum("nm,hmd->hnd", x, layer.query) + layer.query_bias[:, None]
    k, v = (
        (jnp.einsum("nm,gmd->gnd", x, matrix) + bias[:, None]).repeat(2, 0)
        for matrix, bias in ((layer.key, layer.key_bias), (layer.value, layer.value_bias))
    )
    weights = jax.nn.softmax(jnp.einsum("hnd,hkd->hnk", q, k) / np.sqrt(2).astype(x.dtype), axis=1)
    return jnp.einsum("hnk,hkd,hdm->nm", weights, v, layer.output) + layer.output_bias[None]


@pytest.mark.parametrize("wrong", WRONG_ATTENTION)
def test_wrong_attention_differs(random, wrong):
    layer, x = drawn(random, initialise_multihead, **SIZES["grouped"]), normal(random, 3, 4)
    assert not attention_agrees(layer, x, PLAIN, network=WRONG_ATTENTION[wrong])


def test_a_key_bias_counts_only_with_rope(random):
    """q·b_K is the same for every key and leaves the softmax alone, unless the keys are turned."""
    layer, x = drawn(random, initialise_multihead, **SIZES["full width"]), normal(random, 3, 3)
    no_key_bias = _replaced(key_bias=jnp.zeros_like)
    assert attention_agrees(layer, x, PLAIN, network=no_key_bias)
    assert not attention_agrees(layer, x, SCORINGS["RoPE"](layer, 3), network=no_key_bias)


# --- masks and positions ---------------------------------------------------------------------------------


@pytest.mark.parametrize("tokens", [1, 2, 5])
def test_masks_entry_by_entry(tokens):
    pairs = [(n, m) for n in range(tokens) for m in range(tokens)]
    entries = lambda mask: [bool(mask[n, m]) for n, m in pairs]
    assert entries(causal_mask(tokens)) == [m <= n for n, m in pairs]
    for window in (1, 2, 7):
        assert entries(sliding_window_mask(tokens, window)) == [n - window < m <= n for n, m in pairs]
    for length in (1, 2, 7):
        assert entries(jax.jit(padding_mask, static_argnums=(0, 1))(tokens, tokens, length)) == [
            m < length for n, m in pairs
        ]


def test_hidden_keys_have_no_weight(random):
    layer, x = drawn(random, initialise_multihead, features=4, heads=2), normal(random, 5, 4)
    mask = causal_mask(5) & sliding_window_mask(5, 3) & padding_mask(5, 5, 4)
    weights = np.asarray(multihead_weights(layer, x, scoring=Scoring(mask)))
    assert (weights[:, ~np.asarray(mask)] == 0).all() and (weights[:, np.asarray(mask)] > 0).all()


@pytest.mark.parametrize("shift", [1, 7])
def test_rope_scores_depend_on_the_distance_alone(random, shift):
    """(R_n q)·(R_m k) with all positions shifted; exact, on angles that are whole multiples of one."""
    q, k = normal(random, 1, 3, 4), normal(random, 1, 3, 4)
    angles = lambda first: jnp.outer(jnp.arange(first, first + 3, dtype="float32"), jnp.array([1.0, 0.25]))
    scores = lambda first: lambda q, k: rope(q, angles(first))[0] @ rope(k, angles(first))[0].T
    unturned = lambda q, k: rope(q, angles(shift))[0] @ rope(k, angles(0))[0].T
    turned = lambda q, k: np.array(
        [
            [exactly.rotation(n) @ a @ (exactly.rotation(m) @ b) for m, b in zip(at, k[0], strict=True)]
            for n, a in zip(at, q[0], strict=True)
        ]
    )
    at = exactly.balls(angles(0))
    assert exactly.equal(scores(0), turned, q, k) and exactly.equal(scores(shift), turned, q, k)
    assert not exactly.equal(unturned, turned, q, k)


@pytest.mark.parametrize(("tokens", "width", "first"), [(1, 2, 0), (4, 6, 3)])
def test_rope_angles(tokens, width, first):
    """Rounded once from NumPy's float64, whose power errs by less than one unit in the last place."""
    angles = np.asarray(rope_angles(tokens, width, base=100.0, first=first)).astype(np.float64)
    wanted = [[(first + n) * 100.0 ** (-2 * k / width) for k in range(width // 2)] for n in range(tokens)]
    assert angles.shape == (tokens, width // 2)
    assert np.all(np.abs(angles - wanted) <= np.finfo(np.float32).eps * np.abs(wanted))


def test_alibi():
    slopes = alibi_slopes(4)
    assert slopes.tolist() == [2.0**-2, 2.0**-4, 2.0**-6, 2.0**-8]
    bias = alibi(slopes, 3)
    assert bias.shape == (4, 3, 3)
    assert bias[1].tolist() == [[-abs(n - m) / 16 for m in range(3)] for n in range(3)]


# --- flax ---


def flax_attention(mask):
    """MultiHeadDotProductAttention: kernels (M, h, d), biases (h, d), output (h, d, M)."""

    def network(p, x):
        from flax import linen

        projection = lambda kernel, bias: {"kernel": jnp.swapaxes(kernel, 0, 1), "bias": bias}
        parameters = {
            "query": projection(p.query, p.query_bias),
            "key": projection(p.key, p.key_bias),
            "value": projection(p.value, p.value_bias),
            "out": {"kernel": p.output, "bias": p.output_bias},
        }
        module = linen.MultiHeadDotProductAttention(num_heads=len(p.query), qkv_features=p.query[:, 0].size)
        return module.apply({"params": parameters}, x, mask=None if mask is None else mask[None])

    return network


@pytest.mark.parametrize("mask", [None, causal_mask(3)], ids=["all keys", "causal"])
def test_flax_has_the_same_attention(random, mask):
    pytest.importorskip("flax.linen", reason="flax is a test extra")
    specs = (drawn(random, initialise_multihead, features=4, heads=2), normal(random, 3, 4))
    network = lambda p, x: multihead(p, x, scoring=Scoring(mask))
    other = lambda p, x: multihead(p, x, scoring=Scoring(sliding_window_mask(3, 2)))
    assert certify(network, flax_attention(mask), *specs).verdict is Verdict.CERTIFIED
    assert certify(other, flax_attention(mask), *specs).verdict is Verdict.REFUTED
