"""Wrong decompositions are refuted by certification, also those that still add up."""

import jax
import jax.numpy as jnp
import pytest
from jax.extend.core import jaxpr_as_fun
from random_models import FAMILIES
from random_parameters import generator
from theorem_1 import TOKENS, by_theorem_1

import uat_jax.decomposition as dc
from uat_jax.certify.equivalence import certify
from uat_jax.certify.verdict import Verdict
from uat_jax.decomposition import decomposition, frozen, streams
from uat_jax.decomposition.operators import Mixing, Scaling


@pytest.fixture
def random(request):
    return generator(request.node.name)


def verdict(left, right, *arguments) -> Verdict:
    return certify(left, right, *arguments).verdict


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
    right = streams.streams_of
    swapped = lambda *given, **options: [*(found := right(*given, **options))[:2], *found[:1:-1]]
    patch.setattr(decomposition, "streams_of", swapped)


def attention_of_the_input_path(patch):
    patch.setattr(streams.Separate, "state", lambda self, parts: parts[0])


def no_bias_of_the_attention(patch):
    patch.setattr(streams, "attention_shift", lambda layer, precision: jnp.zeros((1, 1), layer.output.dtype))


def heads_of_another_group(patch):
    patch.setattr(streams, "frozen_attention", lambda *given: _reversed(frozen.frozen_attention(*given)))


def _reversed(mixing: Mixing) -> Mixing:
    return Mixing(mixing.patterns[::-1], mixing.value, mixing.output)


WRONG = {
    attention_of_the_layer_before: ("GPT-2", "BERT"),
    no_norm: ("GPT-2", "Llama"),
    norm_not_centred: ("BERT",),
    own_term_past_the_last_norm: ("BERT",),
    bias_in_the_input_path: ("GPT-2", "BERT"),
    term_in_the_stream_of_another_layer: ("GPT-2", "Llama"),
    attention_of_the_input_path: ("BERT", "Llama"),
    no_bias_of_the_attention: ("GPT-2", "Qwen2"),
    heads_of_another_group: ("two groups",),
}
TWINS = [(wrong, name) for wrong, families in WRONG.items() for name in families]


@pytest.mark.parametrize(("wrong", "name"), TWINS, ids=lambda part: getattr(part, "__name__", part))
def test_wrong_terms_are_refuted(random, monkeypatch, wrong, name):
    model = FAMILIES[name].draw(random)
    right = jax.make_jaxpr(lambda m: dc.terms(m, TOKENS))(model)
    wrong(monkeypatch)
    as_traced = lambda m: jaxpr_as_fun(right)(*jax.tree.leaves(m))[0]
    assert verdict(lambda m: dc.terms(m, TOKENS), as_traced, model) is Verdict.REFUTED


@pytest.mark.parametrize("name", ["BERT", "Llama"])
def test_a_term_through_the_operators_of_other_layers_is_refuted(random, name):
    model, right = FAMILIES[name].draw(random), lambda m: dc.terms(m, TOKENS)
    wrong = lambda m: by_theorem_1(m, order=lambda layers: layers[::-1])
    assert verdict(wrong, right, model) is Verdict.REFUTED
