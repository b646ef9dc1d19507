"""A padded text is the text alone: terms, streams, contributions, means; and masks that are none get one line.

Both sides evaluate one formula, over other shapes: they may differ by what rounding in float64 allows either
(derived_tolerance.py).
"""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from derived_tolerance import tolerance
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator

import uat_jax as uj
import uat_jax.decomposition as dc
from uat_jax.decomposition import decomposition, measurements
from uat_jax.errors import InputError
from uat_jax.networks import model as model_module
from uat_jax.networks import padding
from uat_jax.networks.minilm import sentence_embedding

FULL = ("GPT-2", "BERT", "Llama", "Mistral", "Qwen2", "two groups", "gated post-norm", "experts")
SHORT, LONG = [2, 0], [1, 2, 0, 1]


@pytest.fixture
def random(request):
    return generator(request.node.name)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def drawn_model(random, name):
    return jax.tree.map(lambda a: a.astype(jnp.float64), FAMILIES[name].draw(random))


PADDED = {
    "behind": ([2, 0, 1, 1], [1, 1, 0, 0]),
    "in front": ([1, 1, 2, 0], [0, 0, 1, 1]),
    "gaps": ([1, 2, 1, 0], [0, 1, 0, 1]),
    "no token at all": ([2, -100, 0, 7], [1, 0, 1, 0]),
}
"""Tokens and mask: the text that is left is always SHORT."""


def compiled(function, *arguments):
    """Computed as one program, under what is patched at present."""
    return jax.jit(lambda *given: function(*given))(*arguments)


def text_alone(model, text):
    """The terms and the features of a text, and what rounding allows of each."""
    tokens, splits = jnp.asarray(text), (dc.terms, type(model).hidden)
    return [(np.asarray(compiled(f, model, tokens)), tolerance(f, model, tokens)) for f in splits]


def differs(of_text, found):
    """Whether what is found for a text is not its terms and features, within what rounding allows."""
    pairs = zip(of_text, (found.terms, found.hidden), strict=True)
    return any(not np.all(np.abs(np.asarray(other) - wanted) <= allowed) for (wanted, allowed), other in pairs)


@pytest.mark.parametrize("name", one_in(2, FULL))
def test_a_padded_row_is_the_row_alone(random, name):
    model = drawn_model(random, name)
    short = text_alone(model, SHORT)
    for tokens, mask in PADDED.values():
        found, kept = uj.decompose(model, np.array(tokens), mask), np.array(mask, bool)
        assert not differs(short, dc.Decomposition(found.terms[:, kept], found.hidden[kept]))
        assert not np.any(found.terms[:, ~kept]) and not np.any(found.hidden[~kept])


@pytest.mark.parametrize("name", ["BERT", "Qwen2"])
def test_forms_of_a_text_that_is_filled_up(random, name):
    """Terms, two streams and the closed form with a length are those of the text alone."""
    model, filled = drawn_model(random, name), jnp.array([*SHORT, 1, 1])
    for split in (dc.terms, dc.two_streams, dc.closed_form):
        found = compiled(lambda *given, split=split: split(*given, length=jnp.array(2)), model, filled)
        allowed = tolerance(split, model, jnp.array(SHORT))
        assert np.all(np.abs(found[:, :2] - compiled(split, model, jnp.array(SHORT))) <= allowed)


def test_lengths_are_means_over_the_text(random):
    model = drawn_model(random, "BERT")
    found, alone = uj.decompose(model, np.array([1, 2, 1, 0]), [0, 1, 0, 1]), uj.decompose(model, np.array(SHORT))
    usual, over_all = measurements.lengths(alone.terms), measurements.lengths(found.terms)
    # sums of squares, each within a few roundings of itself: 2⁻⁴⁰ is 2¹² of them
    assert np.all(np.abs(measurements.lengths(found.terms, found.mask) - usual) <= 2.0**-40 * usual)
    assert np.all(np.abs(over_all - usual) > 0.1 * usual)


@pytest.mark.parametrize("name", one_in(3, FULL))
def test_a_ragged_batch_is_its_texts(random, name):
    model = drawn_model(random, name)
    found = uj.decompose(model, [SHORT, LONG])
    assert found.terms.shape[:3] == (2, len(model.blocks) + 2, 4) and found.residual_ulp.shape == (2,)
    assert found.mask is not None and found.mask.tolist() == [[True, True, False, False], [True] * 4]
    assert not differs(text_alone(model, SHORT), found[0]) and not differs(text_alone(model, LONG), found[1])
    assert found[0].mask is None and len(found[-1].hidden) == 4
    given = {"input_ids": np.array([[*SHORT, 9, 9], LONG]), "attention_mask": found.mask.astype(int)}
    again = uj.decompose(model, given)
    assert np.array_equal(again.terms, found.terms)


@pytest.mark.parametrize("name", ["BERT", "experts"])
def test_a_mask_inside_jit_is_the_same(random, name):
    model, (tokens, mask) = drawn_model(random, name), PADDED["gaps"]
    found = jax.jit(lambda t, of: uj.decompose(model, t, of))(jnp.array(tokens), jnp.array(mask))
    assert not differs(text_alone(model, SHORT), dc.Decomposition(found.terms[:, 1::2], found.hidden[1::2]))


def test_stacked_blocks_too(random):
    model, (tokens, mask) = drawn_model(random, "BERT"), PADDED["in front"]
    found = uj.decompose(model.stacked(), np.array(tokens), mask)
    assert not differs(text_alone(model, SHORT), dc.Decomposition(found.terms[:, 2:], found.hidden[2:]))


@pytest.mark.parametrize("name", one_in(3, ["BERT", "gated post-norm", "GPT-2"]))
def test_contributions_and_means_are_those_of_the_text(random, name):
    model = drawn_model(random, name)
    vector = jnp.arange(1.0, model.embedding.tokens.shape[1] + 1)
    outputs = {dc.Direction: dc.Direction(vector), dc.Coordinate: dc.Coordinate(-1, 0)}
    for tokens, mask in PADDED.values():
        kept = np.array(mask, bool)
        for output in outputs.values():
            alone = dc.attribute(model, jnp.array(SHORT), output)
            found = dc.attribute(model, jnp.array(tokens), output, mask)
            assert np.array_equal(found.contributions[:, kept], alone.contributions)
            assert found.output == alone.output and not np.any(found.contributions[:, ~kept])
        if model.unembedding is None:
            allowed = tolerance(sentence_embedding, model, jnp.array(SHORT))
            with_mask = sentence_embedding(model, jnp.array(tokens), mask)
            assert np.all(np.abs(with_mask - sentence_embedding(model, jnp.array(SHORT))) <= allowed)


# --- wrong ones -----------------------------------------------------------------------------------------------------


def mask_ignored(patch):
    patch.setattr(model_module, "padding_mask", lambda queries, keys, length: jnp.ones((queries, keys), bool))


def one_token_too_many(patch):
    right = model_module.padding_mask
    patch.setattr(model_module, "padding_mask", lambda n, k, length: right(n, k, length + 1))


def not_moved_in_front(patch):
    """Positions are then those of the padded row."""
    still = lambda tokens, mask: padding.Compact(
        jnp.where(mask, tokens, 0), jnp.sum(mask), jnp.arange(len(tokens)), jnp.asarray(mask, bool)
    )
    patch.setattr(decomposition, "compact", still)


def order_reversed(patch):
    right = decomposition.compact
    wrong = lambda tokens, mask: right(tokens, mask)._replace(places=right(tokens[::-1], mask[::-1]).places)
    patch.setattr(decomposition, "compact", wrong)


MUTANTS = {mask_ignored: "behind", one_token_too_many: "behind", not_moved_in_front: "gaps", order_reversed: "gaps"}


@pytest.mark.parametrize("wrong", one_in(4, MUTANTS), ids=lambda wrong: wrong.__name__)
def test_wrong_masks_are_told_apart(random, monkeypatch, wrong):
    model, (tokens, mask) = drawn_model(random, "BERT"), PADDED[MUTANTS[wrong]]
    wrong(monkeypatch)
    jax.clear_caches()
    found, kept = uj.decompose(model, np.array(tokens), mask), np.array(mask, bool)
    monkeypatch.undo()
    jax.clear_caches()
    assert differs(text_alone(model, SHORT), dc.Decomposition(found.terms[:, kept], found.hidden[kept]))


# --- bad input ------------------------------------------------------------------------------------------------------

BAD_MASKS = {
    "another shape": ([[1, 2]], [1, 1], r"a mask of shape \(2,\), wanted \(1, 2\), that of the tokens"),
    "another length": ([1, 2], [1], r"a mask of shape \(1,\), wanted \(2,\)"),
    "all zero": ([1, 2], [0, 0], "a mask that is 0 everywhere, wanted 1 where there is text"),
    "a zero row": ([[1, 2], [1, 2]], [[1, 1], [0, 0]], "0 everywhere in text 1, wanted 1 where"),
    "other entries": ([1, 2], [2, 1], "a mask of int64 with other entries than 0 and 1"),
    "floats": ([1, 2], [0.5, 1.0], "a mask of float64 with other entries"),
    "minus infinity": ([1, 2], [0.0, -np.inf], "a mask of float64 with other entries"),
    "text": ([1, 2], ["1", "1"], "a mask of <U1 with other entries"),
    "an empty row": ([[1, 2], []], None, "no tokens as text 1 of a ragged batch, wanted whole numbers"),
    "a number and a row": ([0, [1, 2]], None, r"int64 of shape \(\) as text 0 of a ragged batch"),
    "floats in a row": ([[0.5], [1, 2]], None, r"float64 of shape \(1,\) as text 0"),
    "a mask beside rows": ([[1], [1, 2]], [[1, 0], [1, 1]], "a mask beside rows of different lengths, wanted none"),
    "a word outside": ([[1], [1, 3]], None, "token 3 at position 1, wanted 0 to 2, the vocabulary"),
    "too many": ([[1], [1] * 5], None, "5 tokens, wanted 1 to 4, the positions of the model"),
    "no tokens in a mapping": ({"ids": [1]}, None, "a mapping of ids, wanted input_ids in it"),
    "a pair": ({"input_ids": [[1, 2]], "token_type_ids": [[0, 1]]}, None, "token_type_ids other than 0, wanted 0"),
    "two masks": ({"input_ids": [1], "attention_mask": [1]}, [1], "a mask beside the attention_mask"),
    "an axis too many": ([[[1, 2]]], [[[1, 1]]], r"tokens as int64 of shape \(1, 1, 2\), wanted whole numbers"),
}


@pytest.mark.parametrize("case", BAD_MASKS)
def test_bad_masks_get_one_line(random, case):
    tokens, mask, message = BAD_MASKS[case]
    with pytest.raises(InputError, match=message) as error:
        uj.decompose(drawn_model(random, "BERT"), tokens, mask)
    assert "\n" not in str(error.value)


def test_texts_that_are_not_there_get_one_line(random):
    model = drawn_model(random, "BERT")
    with pytest.raises(InputError, match="text 2 of a batch of 2 texts, wanted one that is there"):
        uj.decompose(model, [SHORT, LONG])[2]
    with pytest.raises(InputError, match="text 0 of no batch"):
        uj.decompose(model, np.array(SHORT))[0]


# --- buckets and batches ----------------------------------------------------------------------------------------------


def test_buckets_are_few_and_hardly_longer():
    found = [padding.bucket(n, 2000) for n in range(1, 2001)]
    assert all(n <= b <= max(1.25 * n, 8) for n, b in enumerate(found, 1)) and found == sorted(found)
    assert len(set(found)) <= 4 * 8 + 3 and padding.bucket(5, 6) == 6 and padding.bucket(2000, 2000) == 2000


@pytest.mark.parametrize("name", one_in(2, ["GPT-2", "BERT"]))
def test_a_second_length_of_a_bucket_compiles_nothing(random, name):
    """Terms and contributions of every kind; counted is how often σ is traced."""
    traced, model = [], drawn_model(random, name)
    of = model.architecture
    counting = lambda x: (traced.append(x), of.activation(x))[1]
    model = dataclasses.replace(model, architecture=dataclasses.replace(of, activation=counting, positions=4))
    output = dc.Coordinate(0, 1)

    def all_of(text):
        tokens = jnp.asarray(text)
        uj.decompose(model, tokens)
        for by in ("layer", "head", "neuron", "token"):
            assert dc.attribute(model, tokens, output, by=by).residual_ulp < 100
        dc.attribute_by_depth(model, tokens, output)

    all_of(LONG)
    before = len(traced)
    all_of(SHORT)
    all_of(LONG[:3])
    assert len(traced) == before > 0


@pytest.mark.parametrize("by", one_in(2, ["layer", "head", "neuron", "token"]))
def test_contributions_of_a_batch_are_those_of_its_texts(random, by):
    """Filled up, ragged, as a tokenizer gives them, or of one length; what is padding contributes 0."""
    model, output = drawn_model(random, "two groups"), dc.Coordinate(-1, 1)
    alone = [dc.attribute(model, jnp.asarray(text), output, by=by) for text in (SHORT, LONG)]
    rows, mask = [[1, *SHORT, 1], LONG], [[0, 1, 1, 0], [1] * 4]
    ragged = dc.attribute(model, [SHORT, LONG], output, by=by)
    masked = dc.attribute(model, rows, output, mask, by=by)
    given = dc.attribute(model, {"input_ids": rows, "attention_mask": mask}, output, by=by)
    for found, kept in ((ragged, slice(0, 2)), (masked, slice(1, 3)), (given, slice(1, 3))):
        assert np.array_equal(found.contributions[0][:, kept], alone[0].contributions)
        assert np.array_equal(found.contributions[1], alone[1].contributions)
        assert not np.delete(np.asarray(found.contributions[0]), np.arange(4)[kept], axis=1).any()
        assert np.array_equal(found.output, [each.output for each in alone]) and np.all(found.residual_ulp < 100)
    other = dc.attribute(model, jnp.array([0, 0, 1, 2]), output, by=by).contributions
    equal = dc.attribute(model, jnp.asarray([LONG, [0, 0, 1, 2]]), output, by=by)
    assert np.array_equal(equal.contributions[0], alone[1].contributions)
    assert np.array_equal(equal.contributions[1], other) and not np.array_equal(other, alone[1].contributions)
    for bad, message in (
        (([SHORT, LONG], [[1, 1], [1, 1]]), "a mask beside rows of different lengths"),
        (([SHORT, []], None), "got no tokens as text 1 of a ragged batch"),
        ((np.zeros((0, 3), int), None), "got a batch without texts"),
    ):
        with pytest.raises(InputError, match=message):
            dc.attribute(model, bad[0], output, bad[1], by=by)
