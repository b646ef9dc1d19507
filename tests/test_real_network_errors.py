"""Arrays that do not fit and settings that cannot be used get one line: what was got, what was wanted, what to do."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_parameters import drawn

from uat_jax.errors import InputError, ShapeError
from uat_jax.networks import block as blocks
from uat_jax.networks import decoder as decoders
from uat_jax.networks.feed_forward_part import (
    gated_feed_forward,
    initialise_feed_forward,
    initialise_gated,
    initialise_mixture,
    mixture_of_experts,
    plain_feed_forward,
)
from uat_jax.networks.masks import causal_mask, sliding_window_mask
from uat_jax.networks.multihead import Scoring, initialise_multihead, multihead
from uat_jax.networks.norms import LayerNorm, initialise_layer_norm, initialise_rms_norm, layer_norm, rms_norm
from uat_jax.networks.positions import alibi, rope, rope_angles

KEY = jax.random.key(0)
RANDOM = np.random.default_rng(0)
ATTENTION = drawn(RANDOM, initialise_multihead, features=4, heads=2)
MIXTURE = drawn(RANDOM, initialise_mixture, 3, 2, 4)
GPT = drawn(RANDOM, blocks.initialise_gpt_block, features=4, heads=2, hidden=3)
GATED = drawn(RANDOM, initialise_gated, 3, 2)
OPTIONS = blocks.BlockOptions(jnp.tanh)
DECODER = drawn(RANDOM, decoders.initialise_decoder, vocabulary=5, positions=3, features=2, blocks=1, heads=1, hidden=2)
x34, x33 = jnp.ones((3, 4)), jnp.ones((3, 3))

SHAPE_ERRORS = {
    "x of a norm": (
        lambda: layer_norm(drawn(RANDOM, initialise_layer_norm, 3), x34),
        r"\(3, 4\) for x, wanted \(N, M = 3\)",
    ),
    "beta": (lambda: layer_norm(LayerNorm(jnp.ones(3), jnp.ones(4)), x33), r"\(4,\) for LayerNorm.beta, .*M = 3"),
    "a batch": (
        lambda: rms_norm(drawn(RANDOM, initialise_rms_norm, 3), x33[None]),
        r"\(1, 3, 3\) for x, wanted \(N, M = 3\)",
    ),
    "x of attention": (lambda: multihead(ATTENTION, x33), r"\(3, 3\) for x, wanted \(N, M = 4\)"),
    "context": (lambda: multihead(ATTENTION, x34, context=x33), r"\(3, 3\) for context, wanted \(K, C = 4\)"),
    "no context": (
        lambda: multihead(drawn(RANDOM, initialise_multihead, features=4, heads=2, context=3), x34),
        r"for x as its own context, wanted \(K, C = 3\)",
    ),
    "mask": (
        lambda: multihead(ATTENTION, x34, scoring=Scoring(causal_mask(2))),
        r"\(2, 2\) for Scoring.mask, wanted \(N = 3, K = 3\)",
    ),
    "one bias for all heads": (
        lambda: multihead(ATTENTION, x34, scoring=Scoring(bias=jnp.ones((1, 3, 3)))),
        r"\(1, 3, 3\) for Scoring.bias, wanted \(h = 2, N = 3, K = 3\)",
    ),
    "angles": (
        lambda: multihead(ATTENTION, x34, scoring=Scoring(angles=rope_angles(2, 2))),
        r"\(2, 1\) for angles, wanted \(N = 3, d/2 = 1\)",
    ),
    "odd width": (lambda: rope(jnp.ones((1, 3, 3)), jnp.ones((3, 1))), "wanted the first to divide the second"),
    "query": (
        lambda: multihead(ATTENTION._replace(query=jnp.ones((3, 4, 2)), query_bias=None), x34),
        r"\(2, 2, 4\) for MultiHead.output, wanted \(h = 3",
    ),
    "groups that do not divide": (
        lambda: multihead(drawn(RANDOM, initialise_multihead, features=3, heads=3)._replace(**_two_groups()), x33),
        "groups and heads = 2 and 3, wanted the first to divide",
    ),
    "slopes": (lambda: alibi(x33, 3), r"\(3, 3\) for slopes, wanted \(h\)"),
    "hidden": (
        lambda: plain_feed_forward(drawn(RANDOM, initialise_feed_forward, 3, 2), x34, jnp.tanh),
        r"for x, wanted \(N, M = 3\)",
    ),
    "down": (
        lambda: gated_feed_forward(GATED._replace(down=x33), x33, jnp.tanh),
        r"\(3, 3\) for GatedFeedForward.down, wanted \(F = 2, M = 3\)",
    ),
    "experts": (
        lambda: mixture_of_experts(MIXTURE._replace(router=x33), x33, jnp.tanh),
        r"for MixtureOfExperts.hidden, wanted \(E = 3",
    ),
    "too many tokens": (
        lambda: decoders.embed(DECODER.embedding, jnp.zeros(4, int)),
        "got 4 tokens, wanted at most 3, the number of positions",
    ),
    "tokens": (lambda: decoders.embed(DECODER.embedding, jnp.zeros((1, 2), int)), r"for tokens, wanted \(N, V = 5\)"),
    "unembedding": (lambda: decoders.unembed(DECODER.unembedding, x33), r"for x, wanted \(N, M = 2\)"),
}
INPUT_ERRORS = {
    "heads": (lambda: initialise_multihead(KEY, features=3, heads=2), "wanted heads to divide features; or give width"),
    "groups": (lambda: initialise_multihead(KEY, features=4, heads=4, groups=3), "wanted groups to divide heads"),
    "size": (lambda: initialise_layer_norm(KEY, 0), r"features = \[0\], wanted at least 1 integers, each 1 or more"),
    "dtype": (lambda: initialise_rms_norm(KEY, 2, "int32"), "got dtype int32, wanted one of float64"),
    "odd": (lambda: rope_angles(2, 3), "got width = 3, wanted an even one"),
    "window": (lambda: sliding_window_mask(3, 0), r"tokens, window = \[3, 0\]"),
    "no top": (lambda: mixture_of_experts(MIXTURE, x33, jnp.tanh, top=0), "got top = 0, wanted one of 1, …, 4"),
    "top": (lambda: mixture_of_experts(MIXTURE, x33, jnp.tanh, top=5), "got top = 5, wanted one of 1, …, 4"),
    "no norm_1": (lambda: blocks.parallel_block(GPT._replace(norm_1=None), x34, OPTIONS), "got a block without norm_1"),
    "no norm_2": (lambda: blocks.pre_norm_block(GPT._replace(norm_2=None), x34, OPTIONS), "got a block without norm_2"),
}


def _two_groups():
    return {"key": jnp.ones((2, 3, 1)), "value": jnp.ones((2, 3, 1)), "key_bias": None, "value_bias": None}


@pytest.mark.parametrize("case", SHAPE_ERRORS)
def test_shapes_that_do_not_fit(case):
    run, message = SHAPE_ERRORS[case]
    with pytest.raises(ShapeError, match=message) as caught:
        run()
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", INPUT_ERRORS)
def test_unusable_input(case):
    run, message = INPUT_ERRORS[case]
    with pytest.raises(InputError, match=message) as caught:
        run()
    assert "\n" not in str(caught.value)
