"""Blocks and decoders are the functions that exact references say they are, and no others; their dtypes and draws."""

from functools import partial

import exact_references as exactly
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_parameters import drawn, generator, normal

from uat_jax.decide.floats import compare_on
from uat_jax.networks import block as blocks
from uat_jax.networks import decoder as decoders
from uat_jax.networks.feed_forward_part import initialise_gated, initialise_mixture
from uat_jax.networks.masks import causal_mask
from uat_jax.networks.multihead import PLAIN, Scoring, initialise_multihead
from uat_jax.networks.norms import initialise_layer_norm, initialise_rms_norm
from uat_jax.networks.positions import rope_angles

DTYPES = ("float64", "float32", "bfloat16", "float16")


@pytest.fixture
def random(request):
    return generator(request.node.name)


def gpt_block(random):
    return drawn(random, blocks.initialise_gpt_block, features=4, heads=2, hidden=3), jnp.tanh


def llama_block(random):
    return drawn(random, blocks.initialise_llama_block, features=4, heads=2, groups=1, hidden=3), jax.nn.silu


def expert_block(random):
    gpt, activation = gpt_block(random)
    return gpt._replace(feed_forward=drawn(random, initialise_mixture, 4, 2, 3)), activation


BLOCKS = {"GPT": gpt_block, "Llama": llama_block, "experts": expert_block}
KINDS = {
    kind.__name__: kind
    for kind in (blocks.residual_block, blocks.pre_norm_block, blocks.post_norm_block, blocks.parallel_block)
}


def block_case(random, name):
    parameters, activation = BLOCKS[name](random)
    scoring = Scoring(causal_mask(2), angles=rope_angles(2, 2))
    return parameters, blocks.BlockOptions(activation, scoring, top=2)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_are_their_reference_and_no_other(random, name, kind):
    parameters, options = block_case(random, name)
    x = normal(random, 2, 4)
    for other in KINDS:
        run = lambda p, x, other=other: KINDS[other](p, x, options)
        reference = lambda p, x: exactly.block(KINDS[kind], p, x, exactly.balls(options.scoring), top=2)
        assert exactly.equal(run, reference, parameters, x) == (kind == other), other


def decoder_case(random):
    sizes = {"vocabulary": 5, "positions": 3, "features": 2, "blocks": 2, "heads": 1, "hidden": 2}
    return drawn(random, decoders.initialise_decoder, **sizes), jnp.array([4, 0])


CAUSAL = blocks.BlockOptions(jnp.tanh, Scoring(causal_mask(2)))


def _cut(parameters, **changes):
    """Some arrays of the embedding or the unembedding changed."""
    embedding = parameters.embedding._replace(**{k: v for k, v in changes.items() if k in ("tokens", "positions")})
    unembedding = parameters.unembedding._replace(**{k: v for k, v in changes.items() if k in ("norm", "matrix")})
    return parameters._replace(embedding=embedding, unembedding=unembedding)


WRONG_DECODERS = {
    "no mask": lambda p, t: decoders.decoder(p, t, CAUSAL._replace(scoring=PLAIN)),
    "no positions": lambda p, t: decoders.decoder(_cut(p, positions=None), t, CAUSAL),
    "positions from the end": lambda p, t: decoders.decoder(_cut(p, positions=p.embedding.positions[::-1]), t, CAUSAL),
    "blocks in reverse": lambda p, t: decoders.decoder(p._replace(blocks=p.blocks[::-1]), t, CAUSAL),
    "one block": lambda p, t: decoders.decoder(p._replace(blocks=p.blocks[:1]), t, CAUSAL),
    "post-norm": lambda p, t: decoders.decoder(p, t, CAUSAL, block=blocks.post_norm_block),
    "norm of a block at the end": lambda p, t: decoders.decoder(_cut(p, norm=p.blocks[0].norm_1), t, CAUSAL),
    "weights tied": lambda p, t: decoders.decoder(_cut(p, matrix=p.embedding.tokens.T), t, CAUSAL),
}


def test_decoder(random):
    parameters, tokens = decoder_case(random)
    run = lambda p: decoders.decoder(p, tokens, CAUSAL)
    reference = lambda p: exactly.decoder(p, np.asarray(tokens), exactly.balls(CAUSAL.scoring))
    assert exactly.equal(run, reference, parameters)


@pytest.mark.parametrize("wrong", WRONG_DECODERS)
def test_wrong_decoders_differ(random, wrong):
    parameters, tokens = decoder_case(random)
    run = lambda p: WRONG_DECODERS[wrong](p, tokens)
    reference = lambda p: exactly.decoder(p, np.asarray(tokens), exactly.balls(CAUSAL.scoring))
    assert not exactly.equal(run, reference, parameters)


def test_embedding_of_token_numbers_is_that_of_one_hot_rows(random):
    parameters, _ = decoder_case(random)
    tokens = jnp.array([3, 3, 1])
    rows = jax.nn.one_hot(tokens, 5) @ parameters.embedding.tokens
    assert jnp.array_equal(decoders.embed(parameters.embedding, tokens), rows + parameters.embedding.positions)


def test_a_token_outside_the_vocabulary_is_no_number(random):
    parameters, _ = decoder_case(random)
    x = decoders.embed(parameters.embedding, jnp.array([0, 5]))
    assert np.isfinite(x[0]).all() and np.isnan(x[1]).all()


# --- dtypes, batches, draws ------------------------------------------------------------------------------


def in_dtype(tree, dtype):
    """NumPy arrays, so that nothing is compiled for the cast."""
    return jax.tree.map(lambda a: np.asarray(a).astype(dtype) if getattr(a, "dtype", None) == jnp.float32 else a, tree)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", BLOCKS)
def test_blocks_keep_their_dtype(random, name, kind, dtype):
    parameters, options = block_case(random, name)
    with jax.enable_x64(dtype == "float64"):
        scoring = in_dtype(options.scoring, dtype)
        arguments = in_dtype((parameters, normal(random, 2, 4)), dtype)
        run = lambda p, x: KINDS[kind](p, x, options._replace(scoring=scoring))
        assert jax.eval_shape(run, *arguments).dtype == dtype


@pytest.mark.parametrize("dtype", ["float32", "bfloat16"])
def test_a_block_stays_within_the_tolerance_of_its_dtype(random, dtype):
    """The derived tolerance of `compare_on`; the twin has W_O with the wrong sign."""
    parameters, options = block_case(random, "Llama")
    scoring = in_dtype(options.scoring, dtype)
    leaves, structure = jax.tree.flatten(in_dtype((parameters, normal(random, 2, 4)), dtype))

    def run(leaves):
        parameters, x = structure.unflatten(leaves)
        return blocks.pre_norm_block(parameters, x, options._replace(scoring=scoring))

    wrong = lambda leaves: run([*leaves[:3], -leaves[3], *leaves[4:]])
    compared = compare_on(run, wrong, [leaf[None] for leaf in leaves], dtype=dtype, samples=32)
    assert compared.f.exceedances == 0 and not compared.agrees


@pytest.mark.parametrize("name", BLOCKS)
def test_vmap_takes_a_batch(random, name):
    parameters, options = block_case(random, name)
    run = lambda p, batch: jax.vmap(lambda x: blocks.pre_norm_block(p, x, options))(batch)
    scoring = exactly.balls(options.scoring)
    reference = lambda p, batch: [exactly.block(blocks.pre_norm_block, p, x, scoring, top=2) for x in batch]
    assert exactly.equal(run, reference, parameters, normal(random, 3, 2, 4))


INITIALISERS = {
    "layer norm": partial(initialise_layer_norm, features=3),
    "RMS norm": partial(initialise_rms_norm, features=3),
    "attention": partial(initialise_multihead, features=4, heads=2, groups=1),
    "gated": partial(initialise_gated, features=3, hidden=2),
    "mixture": partial(initialise_mixture, features=3, hidden=2, experts=2),
    "Llama": partial(blocks.initialise_llama_block, features=4, heads=2, groups=1, hidden=3),
    "decoder": partial(decoders.initialise_decoder, vocabulary=3, positions=2, features=2, blocks=2, heads=1, hidden=2),
}


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", INITIALISERS)
def test_the_draw_has_the_dtype_that_is_asked_for(name, dtype):
    with jax.enable_x64(dtype == "float64"):
        shapes = jax.eval_shape(partial(INITIALISERS[name], dtype=dtype), jax.random.key(0))
    assert {leaf.dtype.name for leaf in jax.tree.leaves(shapes)} == {dtype}


@pytest.mark.parametrize("name", one_in(6, INITIALISERS))
def test_every_drawn_entry_is_its_own(random, name):
    """No array at 0 or 1, no number drawn twice; another key gives another draw, the same key the same."""
    seeds = [int(seed) for seed in random.integers(2**31, size=2)]
    print(f"keys {seeds}")
    first, again, other = (jax.tree.leaves(INITIALISERS[name](jax.random.key(seeds[i]))) for i in (0, 0, 1))
    assert all(np.array_equal(a, b) for a, b in zip(first, again, strict=True))
    assert not any(np.array_equal(a, b) for a, b in zip(first, other, strict=True))
    entries = np.concatenate([np.ravel(array) for array in first])
    assert not np.isin(entries, (0, 1)).any() and len(set(entries.tolist())) == len(entries)
