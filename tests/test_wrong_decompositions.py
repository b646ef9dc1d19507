"""What certifies a decomposition certifies right ones only: wrong ones are refuted, also those that still add up."""

import dataclasses

import jax
import jax.numpy as jnp
import pytest
from excerpt import one_in
from random_adapters import with_adapters
from random_models import FAMILIES
from random_parameters import generator

from uat_jax import certification
from uat_jax.certification import certify_decomposition, question
from uat_jax.decide.prime_fields import PrimeFields
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition import closed_forms, frozen, streams
from uat_jax.decomposition.operators import Mixing, Scaling
from uat_jax.networks.adapted import without_adapter
from uat_jax.numbers.prime_fields.field_functions import LAWS


@pytest.fixture
def random(request):
    return generator(request.node.name)


def attention_of_the_layer_before(patch):
    right, seen = streams.frozen_attention, []

    def wrong(layer, x, options):
        seen.append(right(layer, x, options))
        return Mixing(seen[-2 if len(seen) % 2 == 0 else -1].patterns, seen[-1].value, seen[-1].output)

    patch.setattr(streams, "frozen_attention", wrong)


def no_norm(patch):
    patch.setattr(streams, "normed", lambda norm, parts, epsilon, sorting: parts)


def norm_not_centred(patch):
    right = streams.frozen_norm
    patch.setattr(streams, "frozen_norm", lambda *given: Scaling(right(*given).scale, right(*given).gamma, False))


def own_term_past_the_last_norm(patch):
    right = streams.normed
    skip = lambda norm, parts, *rest: [*right(norm, parts, *rest)[:-1], parts[-1]]
    patch.setattr(streams, "normed", skip)


def bias_in_the_input_path(patch):
    patch.setattr(streams.Separate, "shift", lambda self, parts, bias: [parts[0] + bias, *parts[1:]])


def term_in_the_stream_of_another_layer(patch):
    """The sum of the terms stays what it is."""
    right = certification.terms
    patch.setattr(certification, "terms", lambda *given: jnp.concatenate([(t := right(*given))[:2], t[:1:-1]]))


def term_through_the_operators_of_other_layers(patch):
    right = streams.carry
    patch.setattr(streams, "carry", lambda step, state, blocks: right(step, state, _attentions_exchanged(blocks)))


def _attentions_exchanged(blocks):
    """What carries a term on, the attention, from the other layer; the activations from their own."""
    return tuple(block._replace(attention=other.attention) for block, other in zip(blocks, blocks[::-1], strict=True))


def attention_of_the_input_path(patch):
    patch.setattr(streams.Separate, "state", lambda self, parts: parts[0])


def no_bias_of_the_attention(patch):
    patch.setattr(streams, "attention_shift", lambda layer, precision: jnp.zeros((1, 1), layer.output.dtype))


def heads_of_another_group(patch):
    patch.setattr(streams, "frozen_attention", lambda *given: _reversed(frozen.frozen_attention(*given)))


def _reversed(mixing: Mixing) -> Mixing:
    return Mixing(mixing.patterns[::-1], mixing.value, mixing.output)


def later_operators_in_the_other_order(patch):
    right = closed_forms.operators
    exchanged = lambda layers: tuple(
        dataclasses.replace(layer, A=other.A) for layer, other in zip(layers, layers[::-1], strict=True)
    )
    patch.setattr(closed_forms, "operators", lambda *given, **options: exchanged(right(*given, **options)))


def weights_that_reach_the_patterns(patch):
    """Contributions whose coefficients are not frozen: derivatives of the network itself."""
    patch.setattr(streams.Weighted, "state", lambda self, parts: parts[0])


def scores_not_scaled(patch):
    scale = lambda options: options._replace(scoring=options.scoring._replace(scale=1.0))
    right = frozen.frozen_attention
    patch.setattr(streams, "frozen_attention", lambda layer, x, options: right(layer, x, scale(options)))


def deviation_of_two_features(patch):
    """Half the sum of the squares, whatever the number of features."""

    def wrong(norm, x, epsilon):
        right = frozen.frozen_norm(norm, x, epsilon)
        deviation = x - jnp.mean(x, axis=-1, keepdims=True)
        square = jnp.sum(deviation * deviation, axis=-1) / 2
        return dataclasses.replace(right, scale=jax.lax.rsqrt(square + jnp.asarray(epsilon, x.dtype)))

    patch.setattr(streams, "frozen_norm", wrong)


def activations_with_the_input(patch):
    """The sum of the two streams stays what it is."""
    right = certification.two_streams
    both = lambda parts: jnp.stack([parts[0] + parts[1], parts[1] - parts[1]])
    patch.setattr(certification, "two_streams", lambda *given: both(right(*given)))


def contributions_of_the_next_term(patch):
    """Their sum stays what it is."""
    right = certification.contributions
    patch.setattr(certification, "contributions", lambda *given: jnp.roll(right(*given), 1, axis=0))


WRONG = {
    attention_of_the_layer_before: ("GPT-2", "BERT", "Llama"),
    no_norm: ("GPT-2", "BERT", "Llama"),
    term_through_the_operators_of_other_layers: ("GPT-2", "BERT", "Llama"),
    later_operators_in_the_other_order: ("BERT",),
    norm_not_centred: ("BERT",),
    own_term_past_the_last_norm: ("BERT",),
    bias_in_the_input_path: ("GPT-2",),
    term_in_the_stream_of_another_layer: ("Llama",),
    attention_of_the_input_path: ("Llama",),
    no_bias_of_the_attention: ("Qwen2",),
    heads_of_another_group: ("two groups",),
    weights_that_reach_the_patterns: ("GPT-2",),
    scores_not_scaled: ("GPT-2",),
    deviation_of_two_features: ("BERT",),
    activations_with_the_input: ("GPT-2",),
    contributions_of_the_next_term: ("GPT-2",),
}
TWINS = [(wrong, name) for wrong, families in WRONG.items() for name in families]


@pytest.mark.parametrize(("wrong", "name"), one_in(12, TWINS), ids=lambda part: getattr(part, "__name__", part))
def test_wrong_decompositions_are_told_apart(random, monkeypatch, wrong, name):
    """By one draw of the prime fields, the first that `certify_decomposition` makes."""
    model = FAMILIES[name].draw(random)
    wrong(monkeypatch)
    assert not _agree(model)


@pytest.mark.parametrize("name", one_in(5, sorted({name for _, name in TWINS})))
def test_right_decompositions_are_not(random, name):
    assert _agree(FAMILIES[name].draw(random))


def test_layers_one_above_the_other_are_decided_as_such(random, monkeypatch):
    """Terms of a loop in each other's places are told apart."""
    stacked = FAMILIES["GPT-2"].draw(random).stacked()
    assert _agree(stacked)
    right = streams.InPlaces.join
    monkeypatch.setattr(streams.InPlaces, "join", lambda self, parts, term, layer: right(self, parts, term, 3 - layer))
    assert not _agree(stacked)


def test_adapters_of_every_layer_are_decided(random, monkeypatch):
    """That of the layer with fewer of them too: its feed-forward network is where the adapter is lost."""
    model = FAMILIES["GPT-2"].draw(random)
    (first, last), plain = with_adapters(random, model).blocks, model.blocks[0]
    blocks = first._replace(feed_forward=plain.feed_forward), last._replace(attention=plain.attention)
    right = frozen.frozen_feed_forward
    lost = lambda layer, x, options: right(without_adapter(layer), x, options)
    monkeypatch.setattr(streams, "frozen_feed_forward", lost)
    assert not _agree(dataclasses.replace(model, blocks=blocks))


def _agree(model) -> bool:
    """Read as norms after the sum ask for: a root that is squared meets one that is not."""
    pair = question(model).at({})
    laws = LAWS - {"square of a root"}
    return PrimeFields(pair.left, pair.right, 0, laws, None).compare(-8.0, thoroughly=False).equal


@pytest.mark.parametrize(
    ("wrong", "name"),
    one_in(
        3,
        [
            (attention_of_the_layer_before, "BERT"),
            (term_through_the_operators_of_other_layers, "GPT-2"),
            (no_norm, "Llama"),
        ],
    ),
    ids=lambda part: getattr(part, "__name__", part),
)
def test_wrong_decompositions_are_refuted(random, monkeypatch, wrong, name):
    """With an input on which they differ."""
    model = FAMILIES[name].draw(random)
    wrong(monkeypatch)
    found = certify_decomposition(model)
    assert found.certificate.verdict is Verdict.REFUTED and not found.passes
    assert found.certificate.counterexample is not None
