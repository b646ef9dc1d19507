"""Parts of a Transformer's output are timed only if each is right; layers that are stacked compute what others do."""

import dataclasses

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator
from theorem_1 import TOKENS

import uat_jax.decomposition as dc
from uat_jax.bench.case import WrongAnswerError
from uat_jax.bench.cases import decomposition, kronecker, transformer_compile_time, transformer_forms, two_streams
from uat_jax.bench.transformers import PAPERS, SIGMA, network
from uat_jax.decide.equivalence import certify
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition.papers import transformer_streams
from uat_jax.errors import InputError, ShapeError
from uat_jax.networks import initialise_transformer, transformer
from uat_jax.networks.stack import Stack, stack

SIZE = {"depth": 2, "tokens": 3, "features": 4, "heads": 2, "hidden": 5, "batch": 2, "dtype": "float32"}


@pytest.fixture
def random(request):
    return generator(request.node.name)


# --- the cases ------------------------------------------------------------------------------------------------------

WRONG = {
    "streams exchanged": lambda parts: parts[:, ::-1],
    "a bias in the other stream": lambda parts: parts + jnp.array([1.0, -1.0])[None, :, None, None] / 4,
    "texts exchanged": lambda parts: parts[::-1],
    "one token late": lambda parts: jnp.roll(parts, 1, axis=2),
    "no activations": lambda parts: parts.at[:, 1].set(0),
    "not a number": lambda parts: parts * jnp.nan,
}


@pytest.fixture(
    scope="module", params=[pytest.param(family, marks=pytest.mark.campaign) for family in ("bert", PAPERS)]
)
def two(request):
    """An experiment of two streams and the answers of its programs."""
    experiment = two_streams.build(request.param, **SIZE)
    return experiment, {name: jax.jit(p.function)(*p.arguments) for name, p in experiment.programs.items()}


def test_right_answers_are_accepted_and_lost_biases_are_not(two):
    experiment, answers = two
    for name, answer in answers.items():
        experiment.check(name, answer)
        with pytest.raises(WrongAnswerError, match=f"{name}: the parts are .* off"):
            experiment.check(name, experiment.wrong(answer))


@pytest.mark.parametrize("wrong", WRONG)
def test_wrong_streams_have_no_time(two, wrong):
    experiment, answers = two
    with pytest.raises(WrongAnswerError, match="two streams: the parts are"):
        experiment.check("two streams", WRONG[wrong](answers["two streams"]))


@pytest.mark.campaign
def test_a_term_in_the_place_of_another_has_no_time():
    """The sum of the terms stays what it is."""
    experiment = decomposition.build("gpt2", **SIZE)
    answer = jax.jit(experiment.programs["all terms"].function)(*experiment.programs["all terms"].arguments)
    experiment.check("all terms", answer)
    for exchanged in ([0, 1, 3, 2], [1, 0, 2, 3]):
        with pytest.raises(WrongAnswerError):
            experiment.check("all terms", answer[:, jnp.array(exchanged)])


@pytest.mark.parametrize("wrong", one_in(2, ["transposed patterns", "heads exchanged", "half of the tolerance more"]))
def test_wrong_attention_has_no_time(wrong):
    experiment = kronecker.build(3, 8, 2, "float32")
    mixing, x = experiment.programs["factors"].arguments
    experiment.check("factors", mixing(x))
    twin = {
        "transposed patterns": dataclasses.replace(mixing, patterns=mixing.patterns.mT),
        "heads exchanged": dataclasses.replace(mixing, output=mixing.output[::-1]),
    }.get(wrong, mixing)
    answer = np.asarray(twin(x), np.float64) + (wrong.startswith("half") and 1.5 * kronecker.tolerance(mixing, x))
    with pytest.raises(WrongAnswerError, match="where rounding explains"):
        experiment.check("factors", answer)


@pytest.mark.campaign
def test_the_forms_of_one_transformer_agree():
    experiment = transformer_forms.build(2, 2, 4, 2, 5, "float32")
    for name, program in experiment.programs.items():
        answer = program.function(*program.arguments)
        experiment.check(name, answer)
        with pytest.raises(WrongAnswerError):
            experiment.check(name, experiment.wrong(answer))


@pytest.mark.campaign
def test_layers_of_all_depths_are_the_last_ones_of_the_deepest():
    sizes = {"features": 4, "heads": 2, "hidden": 5, "tokens": 3}
    experiment = transformer_compile_time.build("two streams", PAPERS, 2, 4, 3, "float32", **sizes)
    assert list(experiment.programs) == [
        "loop, 2 layers",
        "loop, 4 layers",
        "written out, 2 layers",
        "written out, 3 layers",
    ]
    answers = {name: p.function(*p.arguments) for name, p in experiment.programs.items()}
    for name, answer in answers.items():
        experiment.check(name, answer)
        with pytest.raises(WrongAnswerError):
            experiment.check(name, experiment.wrong(answer))
    with pytest.raises(WrongAnswerError):
        experiment.check("loop, 4 layers", answers["loop, 2 layers"])


# --- the papers' Transformer in two streams -------------------------------------------------------------------------


def test_two_streams_of_the_papers_are_certified():
    """Against values and outputs multiplied out; with the patterns of one stream alone they are refuted."""
    of = network(PAPERS, separate=False, **{**SIZE, "batch": 1, "tokens": 2, "hidden": 3})
    streams = lambda layers, x: transformer_streams(layers, x, SIGMA)
    assert certify(streams, of.reference, of.weights, of.inputs[0]).verdict is Verdict.CERTIFIED
    late = lambda layers, x: transformer_streams(layers[::-1], x, SIGMA)
    assert certify(late, of.reference, of.weights, of.inputs[0]).verdict is Verdict.REFUTED


# --- stacks ---------------------------------------------------------------------------------------------------------

SPLITS = {
    "hidden": lambda model: model.hidden(TOKENS),
    "two streams": lambda model: dc.two_streams(model, TOKENS),
    "all terms": lambda model: dc.terms(model, TOKENS),
}


def everything(model):
    """What goes through the layers in a loop."""
    return [split(model) for split in SPLITS.values()]


def test_a_stack_is_certified_to_compute_what_a_tuple_does(random):
    model = FAMILIES["gated post-norm"].draw(random)
    assert certify(everything, lambda m: everything(m.stacked()), model).verdict is Verdict.CERTIFIED


def test_a_stack_in_the_other_order_is_refuted(random):
    exchanged = lambda m: SPLITS["all terms"](dataclasses.replace(m, blocks=m.blocks[::-1]).stacked())
    model = FAMILIES["GPT-2"].draw(random)
    assert certify(SPLITS["all terms"], exchanged, model).verdict is Verdict.REFUTED


@pytest.mark.parametrize("split", SPLITS)
def test_the_program_of_a_stack_does_not_grow_with_depth(random, split):
    """One loop, whatever it counts to; blocks of a tuple are written out."""
    shallow, deep = (FAMILIES["Llama"].draw(random, depth=depth) for depth in (3, 7))
    size = lambda model: len(str(jax.make_jaxpr(SPLITS[split])(model)).splitlines())
    assert size(shallow.stacked()) == size(deep.stacked())
    assert size(shallow) < size(deep)


def test_the_papers_network_in_a_stack():
    of = network(PAPERS, separate=False, **SIZE)
    tuple_, stacked = (jax.make_jaxpr(transformer, static_argnums=2)(w, of.inputs[0], SIGMA) for w in _both(of.weights))
    assert [e.primitive.name for e in tuple_.eqns].count("scan") == 0
    assert [e.primitive.name for e in stacked.eqns].count("scan") == 1
    with pytest.raises(ShapeError, match="wanted.*M_0"):
        transformer(stack(of.weights), jnp.ones((3, 5)), SIGMA)


def test_a_stack_of_one_layer_keeps_its_width():
    layers = initialise_transformer(jax.random.key(0), features=[4, 8], heads=2, hidden=[3])
    with pytest.raises(
        ShapeError, match="got 2 heads of width 2 in layers.2.query, wanted heads times width = M_1 = 8"
    ):
        transformer(stack(layers), jnp.ones((3, 4)), SIGMA)


def _both(layers):
    return layers, stack(layers)


def test_a_stack_is_read_like_a_tuple():
    layers = tuple({"W": jnp.full((2, 3), number), "b": (jnp.ones(2) * number,)} for number in range(4))
    stacked = stack(layers)
    assert isinstance(stacked, Stack) and len(stacked) == 4
    for index in (0, 3, -1, -4, slice(1, 3), slice(None, None, -1), slice(4, 9)):
        assert jax.tree.all(jax.tree.map(np.array_equal, stacked[index], layers[index]))
    assert jax.tree.all(jax.tree.map(np.array_equal, tuple(stacked), layers))
    for index in (4, -5):
        with pytest.raises(IndexError, match="a stack of 4 layers"):
            stacked[index]


@pytest.mark.parametrize(
    ("layers", "error", "message"),
    [
        ((), InputError, "got no layers"),
        (((jnp.ones(2),), (jnp.ones(3),)), ShapeError, "a layer 2 of other shapes"),
        (((jnp.ones(2),), (jnp.ones(2, jnp.bfloat16),)), ShapeError, "a layer 2 of other shapes"),
        (((jnp.ones(2),), (jnp.ones(2),), (None,)), InputError, "a layer 3 of other parts"),
    ],
)
def test_layers_that_differ_are_not_stacked(layers, error, message):
    with pytest.raises(error, match=message) as refused:
        stack(layers)
    assert "\n" not in str(refused.value)
