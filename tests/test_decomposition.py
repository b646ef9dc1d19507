"""The terms of a decomposition are those of Theorem 1, add up to the forward pass, and no wrong ones pass for them.

Equality is decided by `certify`, which has no tolerance; in floats the tolerance is the derived one of `compare_on`.
"""

import dataclasses
import functools

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator, normal
from theorem_1 import TOKENS, by_theorem_1

import uat_jax.decomposition as dc
from uat_jax.decide.equivalence import certify
from uat_jax.decide.floats import compare_on
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition.operators import Diagonal, Identity, Mixing, OnFeatures, Scaling
from uat_jax.errors import InputError
from uat_jax.networks.padding import Padding


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


@pytest.mark.parametrize("name", one_in(5, ["GPT-2", "BERT", "Qwen2", "two groups", "gated post-norm"]))
def test_terms_are_those_of_theorem_1_and_add_up_to_the_forward_pass(random, name):
    """So do the two streams, which are sums of terms, and the layers as frozen operators, applied in factors."""

    def found(model):
        terms, two = dc.terms(model, TOKENS), dc.two_streams(model, TOKENS)
        by_layers = functools.reduce(lambda x, layer: layer(x), dc.operators(model, TOKENS), model.embed(TOKENS))
        return terms, two, terms.sum(0), two.sum(0), by_layers

    def wanted(model):
        terms = by_theorem_1(model)
        two = jnp.stack([terms[0] + terms[1], terms[2:].sum(0)])
        return terms, two, *(model.hidden(TOKENS),) * 3

    assert verdict(found, wanted, FAMILIES[name].draw(random)) is Verdict.CERTIFIED


# --- batches, dtypes, floats --------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["GPT-2"])
def test_a_batch_is_one_text_after_the_other(random, name):
    batch = jnp.array([[2, 0], [1, 1]])
    rows = lambda m: jnp.stack([dc.terms(m, batch[0]), dc.terms(m, batch[1])])
    mapped = lambda m: jax.jit(jax.vmap(dc.terms, in_axes=(None, 0)))(m, batch)
    assert verdict(mapped, rows, FAMILIES[name].draw(random)) is Verdict.CERTIFIED


def in_dtype(tree, dtype):
    """NumPy arrays, so that nothing is compiled for the cast."""
    return jax.tree.map(lambda a: np.asarray(a).astype(dtype) if a.dtype == jnp.float32 else a, tree)


@pytest.mark.parametrize("dtype", ["float64", "float32", "bfloat16", "float16"])
@pytest.mark.parametrize("name", ["BERT", "Llama", "experts"])
def test_terms_have_the_dtype_of_the_model(random, name, dtype):
    with jax.enable_x64(dtype == "float64"):
        model = in_dtype(FAMILIES[name].draw(random), dtype)
        for split, parts in ((dc.terms, 4), (dc.two_streams, 2)):
            shape = jax.eval_shape(split, model, TOKENS)
            assert (shape.shape, shape.dtype) == ((parts, 2, FAMILIES[name].features), dtype)


@pytest.mark.parametrize(("name", "dtype"), [("GPT-2", "float32"), ("BERT", "bfloat16")])
def test_the_sum_stays_within_the_tolerance_of_its_dtype(random, name, dtype):
    """The derived tolerance of `compare_on`; in float32 a sum that has lost the bias path does not."""
    trials = jax.tree.map(lambda leaf: leaf[None], in_dtype(FAMILIES[name].draw(random, depth=1), dtype))
    parts = lambda m: dc.terms(m, TOKENS)
    without = lambda m: parts(m)[0] + parts(m)[2]
    compared = compare_on(lambda m: parts(m).sum(0), without, trials, dtype=dtype, samples=32, reference=_hidden)
    assert compared.f.exceedances == 0 and (compared.g.exceedances > 0 or dtype == "bfloat16")


def _hidden(model):
    return model.hidden(TOKENS)


def test_a_decomposition_and_its_figures(random):
    model = FAMILIES["GPT-2"].draw(random, depth=1)
    found = dc.decompose(model, TOKENS)
    assert found.names == ("input", "bias", "layer 1")
    assert np.array_equal(found.hidden, jax.jit(type(model).hidden)(model, TOKENS))
    shifted = dc.Decomposition(found.terms.at[0].set(0), found.hidden)
    assert found.residual_ulp < 1000 < shifted.residual_ulp  # a lost term is no rounding
    batch = dc.decompose(model, jnp.stack([TOKENS, TOKENS[::-1]]))
    assert batch.terms.shape == (2, 3, 2, 2) and batch.residual_ulp.shape == (2,) and batch.total.shape == (2, 2, 2)


@pytest.mark.parametrize(("largest", "ulps"), [(1.0, 4.0), (1.5, 4.0), (2.0, 2.0)])
def test_the_residual_is_counted_in_ulp_of_the_largest_entry(largest, ulps):
    """Four times 2⁻²³, the ULP of float32 numbers from 1 to 2."""
    hidden = jnp.array([[0.25, -largest]])
    terms = jnp.stack([hidden, jnp.array([[2.0**-21, 0.0]])])
    assert dc.Decomposition(terms, hidden).residual_ulp == ulps


def test_matrices_of_operators_are_what_they_do(random):
    """Every kind of operator, its matrix against its factors, alone and on a batch."""
    batch = normal(random, 3, 2, 4)
    patterns, value, output = normal(random, 4, 2, 2), normal(random, 2, 4, 3), normal(random, 4, 3, 4)
    made = [
        Identity(batch[0]),
        Mixing(patterns, value, output),
        Scaling(normal(random, 2), normal(random, 4), True),
        Scaling(normal(random, 2), normal(random, 4), False),
        OnFeatures(normal(random, 4, 3), 2),
        Diagonal(normal(random, 2, 4)),
    ]
    made += [made[4] @ made[1], made[1] + made[2]]
    written = lambda made, batch: [
        jnp.matmul(batch.reshape(3, -1), f.materialise().T, precision="highest") for f in made
    ]
    applied = lambda made, batch: [f(batch).reshape(3, -1) for f in made]
    assert verdict(applied, written, made, batch) is Verdict.CERTIFIED


# --- bad input ----------------------------------------------------------------------------------------------

BAD_TOKENS = {
    "wanted 0 to 2, the vocabulary": [0, 3],
    "wanted whole numbers": [0.5],
    "wanted at most 4|wanted 1 to 4": [0] * 5,
    "got 0 tokens": np.zeros(0, np.int32),
}


@pytest.mark.parametrize("message", BAD_TOKENS)
def test_bad_tokens_are_refused_in_one_line(random, message):
    model = FAMILIES["BERT"].draw(random)
    for asked in (dc.decompose, lambda m, t: dc.attribute(m, t, dc.Coordinate(0, 0))):
        with pytest.raises(InputError, match=message) as refused:
            asked(model, BAD_TOKENS[message])
        assert "\n" not in str(refused.value)


PADDED = {
    "padding at the end": (Padding(0), [1, 2, 0]),
    "padding in front": (Padding(0), [0, 1, 2]),
    "padding in a batch": (Padding(0), [[1, 2, 2], [1, 2, 0]]),
    "an end twice": (Padding(None, (0,)), [1, 0, 0]),
    "an end in front twice": (Padding(None, (2, 0)), [0, 0, 1]),
    "an end of some rows": (Padding(None, (0,)), [[1, 2, 1], [1, 2, 0]]),
    "an end in front of some rows": (Padding(None, (0,)), [[0, 2, 1], [1, 2, 1]]),
}


@pytest.mark.parametrize("name", PADDED)
def test_padding_is_refused_in_one_line(random, name):
    padding, tokens = PADDED[name]
    model = FAMILIES["BERT"].draw(random)
    told = dataclasses.replace(model, architecture=dataclasses.replace(model.architecture, padding=padding))
    for given in (tokens, np.array(tokens), jnp.array(tokens)):
        with pytest.raises(
            InputError, match="filled up with 0, which is padding; give a mask, 1 where there is text"
        ) as error:
            dc.decompose(told, given)
        assert "\n" not in str(error.value)
    dc.decompose(model, np.array(tokens))  # where 0 is a word
    for allowed in ([1, 2, 1], [[1, 2, 1], [1, 1, 1]]):
        dc.decompose(told, np.array(allowed))


def test_an_end_of_every_row_is_a_word(random):
    model = FAMILIES["GPT-2"].draw(random)
    padding = Padding(None, (0,))
    told = dataclasses.replace(model, architecture=dataclasses.replace(model.architecture, padding=padding))
    for tokens in ([1, 2, 0], [0, 1, 2], [[1, 2, 0], [2, 1, 0]]):
        dc.decompose(told, np.array(tokens))


def test_a_block_without_its_norm_is_refused(random):
    model = FAMILIES["GPT-2"].draw(random)
    broken = dataclasses.replace(model, blocks=(model.blocks[0]._replace(norm_1=None), *model.blocks[1:]))
    with pytest.raises(InputError, match="got a block without a norm"):
        dc.terms(broken, TOKENS)
