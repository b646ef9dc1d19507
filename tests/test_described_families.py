"""Every family by its description against what `transformers` computed in float64: 1, 7 and 16 tokens, and padding.

Both sides evaluate one formula from the same weights; they may differ by what derived_tolerance.py derives. Twins with
another option, a lost tensor or a part that is wrong must differ.
"""

import dataclasses
import functools
import json
import warnings
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from derived_tolerance import tolerance
from excerpt import one_in
from forms_that_load import FORMS, errors_of, refusal_of

import uat_jax as uj
import uat_jax.decomposition as dc
from uat_jax.certification import certify_decomposition
from uat_jax.decide.verdict import Verdict
from uat_jax.decomposition import frozen, streams
from uat_jax.decomposition.operators import Identity
from uat_jax.errors import InputError, UnsupportedError
from uat_jax.networks import model as model_module
from uat_jax.networks import rope_scaling
from uat_jax.networks.checkpoint import Checkpoint, read_checkpoint
from uat_jax.networks.families import ARCHITECTURES, FAMILIES, build_model, load_model
from uat_jax.networks.families import __main__ as table
from uat_jax.networks.families.description import WITHOUT_EFFECT
from uat_jax.networks.norms import LayerNorm, RMSNorm
from uat_jax.networks.stack import Stack

pytest.importorskip("safetensors", reason="reading weights needs safetensors (extra [models])")

FIXTURES = Path(__file__).parent / "model_fixtures"
DESCRIBED = tuple(
    sorted(path.parent.name for path in FIXTURES.glob("*/expected.npz") if "tokens_7" in np.load(path).files)
)
VISION = ("vit", "vit_classes")
LENGTHS = (1, 7, 16)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def loaded(name, config=None, edit=None):
    """The model of a fixture, with other entries in its config, or tensors edited by name."""
    checkpoint = read_checkpoint(FIXTURES / name)
    tensors = checkpoint.tensors if edit is None else {n: edit(n, array) for n, array in checkpoint.tensors.items()}
    return build_model(Checkpoint({**checkpoint.config, **(config or {})}, tensors), "float64")


def expected(name):
    return np.load(FIXTURES / name / "expected.npz")


RUN, TERMS, CLOSED_FORM = jax.jit(lambda model, tokens: model(tokens)), jax.jit(dc.terms), jax.jit(dc.closed_form)


def computed(function, *arguments):
    """Compiled once, under what is patched at present; what the function captures stays the object that it is."""
    return np.asarray(jax.jit(lambda *given: function(*given))(*arguments))


def error(name, model, length):
    wanted = expected(name)
    found = np.asarray(RUN(model, jnp.asarray(wanted[f"tokens_{length}"])))
    assert found.shape == wanted[f"output_{length}"].shape
    return np.abs(found - wanted[f"output_{length}"])


def batch_error(name, model, *, masked=True):
    """What is left between the real tokens of a padded batch and what the reference found for it."""
    wanted, call = expected(name), jax.jit(lambda model, tokens, mask: _masked(model, tokens, mask))
    rows = [(jnp.asarray(t), jnp.asarray(of)) for t, of in zip(wanted["batch"], wanted["mask"], strict=True)]
    found = [np.asarray(call(model, t, of if masked else jnp.ones_like(of))) for t, of in rows]
    if found[0].ndim < 2:
        return np.abs(np.stack(found) - wanted["output_batch"])
    kept = [x[np.asarray(of)] for x, (_, of) in zip(found, rows, strict=True)]
    return np.abs(np.concatenate(kept) - wanted["output_batch"])


def _masked(model, tokens, mask):
    return model(jnp.where(mask, tokens, 0), jnp.sum(mask))


def allowed(name, model, length):
    return tolerance(lambda m, t: m(t), model, jnp.asarray(expected(name)[f"tokens_{length}"]))


@functools.cache
def largest_allowed(name):
    """The largest tolerance of any entry of 16 tokens: what a twin must exceed, it and a hundred times it."""
    return allowed(name, loaded(name), 16).max()


# --- they are the families of transformers --------------------------------------------------------------------------


@pytest.mark.parametrize("name", one_in(12, DESCRIBED))
def test_the_output_is_that_of_transformers(name):
    model = loaded(name)
    for length in LENGTHS:
        wrong, may = error(name, model, length), allowed(name, model, length)
        print(f"{name}, {length} tokens: {wrong.max():.2g}, {(wrong / may).max():.2g} of what is allowed")
        assert may.max() < 1e-10 and np.all(wrong <= may)


@pytest.mark.parametrize("name", one_in(8, DESCRIBED))
def test_padding_is_not_seen(name):
    """The batch has texts of 7 and 3 tokens: rounding is bounded by that of the 16 tokens in as many operations."""
    model = loaded(name)
    assert batch_error(name, model).max() <= largest_allowed(name)


@pytest.mark.parametrize("name", one_in(60, DESCRIBED))
def test_terms_add_up_with_and_without_padding(name):
    model, wanted = loaded(name), expected(name)
    texts = [wanted["tokens_7"], wanted["tokens_1"], wanted["tokens_16"]]
    batch = uj.decompose(model, texts)
    for row, text in enumerate(texts):
        tokens = jnp.asarray(text)
        alone, may = uj.decompose(model, tokens), tolerance(dc.terms, model, tokens)
        assert np.all(np.abs(batch[row].terms - alone.terms) <= may)
        assert np.all(np.abs(alone.total - alone.hidden) <= may.sum(axis=0))
        assert not np.all(np.abs(alone.total - alone.terms[-1] - alone.hidden) <= may.sum(axis=0))
    stacked = uj.decompose(model.stacked(), jnp.asarray(texts[0]))
    assert np.all(np.abs(stacked.terms - batch[0].terms) <= tolerance(dc.terms, model, jnp.asarray(texts[0])))


@pytest.mark.parametrize("name", one_in(16, DESCRIBED))
def test_terms_are_those_of_theorem_1(name):
    model, tokens = loaded(name), jnp.asarray(expected(name)["tokens_7"])
    may = tolerance(dc.terms, model, tokens) + tolerance(dc.closed_form, model, tokens)
    assert np.all(np.abs(CLOSED_FORM(model, tokens) - TERMS(model, tokens)) <= may)


OTHERS = ("gpt2", "bert", "llama", "mistral", "qwen2")
"""Fixtures of two texts of twelve tokens, compared with the reference in test_families.py."""
KINDS: Any = ("layer", "head", "neuron", "token")


def text_of(name):
    """Seven tokens of the fixture."""
    wanted = expected(name)
    return np.asarray(wanted["tokens"][0, :7] if "tokens" in wanted.files else wanted["tokens_7"])


def output_of(model):
    return dc.Coordinate(-1, 1) if model.unembedding is None else dc.Logit(-1, 1)


@pytest.mark.parametrize("name", one_in(400, OTHERS + DESCRIBED))
def test_every_kind_of_result_adds_up_and_sees_no_padding(name):
    """A call fills seven tokens up to eight; without filling up, the same numbers: streams, contributions, words.

    Each is a sum of products along fewer than 1,000 operations, each of which may lose 2⁻⁵² of the sum of all parts.
    With a mask, the rows of a batch are the texts alone, to the bit.
    """
    model, tokens = loaded(name), jnp.asarray(text_of(name))
    output, first, of = output_of(model), dc.Coordinate(0, 1), model.architecture
    same = lambda a, b, size: np.all(np.abs(np.asarray(a) - np.asarray(b)) <= 1000 * 2.0**-52 * size)
    two = dc.two_streams(model, tokens)
    assert same(two, computed(dc.two_streams, model, tokens), np.abs(two).sum(axis=0).max())
    assert same(two.sum(axis=0), computed(model.hidden, tokens), np.abs(two).sum(axis=0).max())
    batch, mask = np.stack([np.append(tokens, 0), np.append(0, tokens)]), [[1] * 7 + [0], [0] + [1] * 7]
    for by in KINDS:
        found = dc.attribute(model, tokens, output, by=by)
        alone = computed(lambda m, t, by=by: dc.contributions(m, t, output, by=by), model, tokens)
        size = np.abs(alone).sum()
        assert same(found.contributions, alone, size) and same(found.total, found.output, size), by
        masked = dc.attribute(model, batch, output, mask, by=by).contributions
        assert np.array_equal(masked[0, :, :7], found.contributions) and not masked[0, :, 7].any(), by
        assert np.array_equal(masked[1, :, 1:], found.contributions) and not masked[1, :, 0].any(), by
        if not of.causal:  # a causal text does not see what comes behind it
            filled = jnp.append(tokens, 0)
            seen, right = (
                computed(lambda m, t, by=by: dc.contributions(m, t, first, by=by), model, t) for t in (filled, tokens)
            )
            assert not same(seen[:, :7], right, np.abs(right).sum()), by
    depths = dc.attribute_by_depth(model, tokens, output)
    assert same(depths.total, depths.output, np.abs(depths.contributions).sum(axis=(1, 2)).max())
    if model.unembedding is not None:
        words = lambda **at: dc.logit_lens(model, tokens, top=3, **at).logits
        alone = computed(lambda m, t: dc.logit_lens(m, t, top=3).logits, model, tokens)
        size = np.abs(alone).max() * model.width
        assert same(words(), alone, size) and alone.shape[1] == (7 if of.reads == "each" else 1)
        assert same(words(at=-1), alone[:, -1:], size)


@pytest.mark.campaign
@pytest.mark.parametrize("name", DESCRIBED + VISION)
def test_architectures_are_certified(name):
    found = certify_decomposition(load_model(FIXTURES / name))
    print(f"{name}: {found.certificate.verdict}, {found.all_depths.verdict}")
    assert found.certificate.verdict is Verdict.CERTIFIED and found.passes


@pytest.mark.parametrize("name", one_in(2, VISION))
def test_images_too(name):
    """Their output, the terms of a batch, and a twin whose patches are read column by column."""
    model, wanted = loaded(name), expected(name)
    batch = uj.decompose(model, wanted["images"])
    for row, image in enumerate(wanted["images"]):
        pixels = model.check_tokens(image)
        may = tolerance(lambda m, x: m(x), model, pixels)
        assert may.max() < 1e-11 and np.all(np.abs(RUN(model, pixels) - wanted["output"][row]) <= may)
        assert np.abs(RUN(model, model.check_tokens(image.swapaxes(1, 2))) - wanted["output"][row]).max() > 1e-3
        assert np.all(
            np.abs(batch[row].total - computed(model.hidden, pixels)) <= tolerance(dc.terms, model, pixels).sum(axis=0)
        )
    for bad in (np.zeros((3, 6, 5)), np.zeros((3, 6, 6), int), np.arange(3)):
        with pytest.raises(InputError, match=r"wanted an image: floats \(3, 6, 6\)"):
            uj.decompose(model, bad)
    with pytest.raises(InputError, match="got a mask or a mapping for a model of images"):
        uj.decompose(model, wanted["images"], np.ones((2, 10)))


# --- wrong ones are not ---------------------------------------------------------------------------------------------


def is_rejected(name, model, lengths=(16,)):
    """Whether the output differs by more than a hundred times what is allowed."""
    return any(error(name, model, length).max() > 100 * largest_allowed(name) for length in lengths)


def other_epsilon(model):
    return dataclasses.replace(
        model, architecture=dataclasses.replace(model.architecture, epsilon=1.01 * model.epsilon + 1e-8)
    )


def other_norm(model):
    """LayerNorm in place of RMSNorm, or the other way round, in the first block."""
    change = lambda norm: RMSNorm(norm.gamma) if isinstance(norm, LayerNorm) else LayerNorm(norm.gamma, 0 * norm.gamma)
    first = model.blocks[0]
    field = next(name for name in ("norm_1", "after_1", "norm_2") if getattr(first, name) is not None)
    block = first._replace(**{field: change(getattr(first, field))})
    return dataclasses.replace(model, blocks=(block, *model.blocks[1:]))


def heads_exchanged(model):
    """The values of a head go out through the matrix of another one."""
    first = model.blocks[0]
    attention = first.attention._replace(output=first.attention.output[::-1])
    return dataclasses.replace(model, blocks=(first._replace(attention=attention), *model.blocks[1:]))


def blocks_exchanged(model):
    return dataclasses.replace(model, blocks=tuple(model.blocks[::-1]))


def kind_exchanged(model):
    other = {"pre-norm": "post-norm", "post-norm": "pre-norm", "parallel": "pre-norm"}[model.architecture.kind]
    blocks = tuple(
        block._replace(norm_1=block.norm_1 or block.after_1, norm_2=block.norm_2 or block.after_2 or block.norm_1)
        for block in model.blocks
    )
    architecture = dataclasses.replace(model.architecture, kind=other)
    return dataclasses.replace(model, blocks=blocks, architecture=architecture)


def all_seen(model):
    """A causal model that sees everything, or one that sees everything and becomes causal."""
    architecture = dataclasses.replace(model.architecture, causal=not model.architecture.causal)
    return dataclasses.replace(model, architecture=architecture)


def gates_exchanged(model):
    """The gate of a state space is what goes into it, and the other way round."""
    first = model.blocks[0]
    part = first.feed_forward._replace(gate=first.feed_forward.into, into=first.feed_forward.gate)
    return dataclasses.replace(model, blocks=(first._replace(feed_forward=part), *model.blocks[1:]))


def kernel_backwards(model):
    first = model.blocks[0]
    part = first.feed_forward._replace(kernel=first.feed_forward.kernel[::-1])
    return dataclasses.replace(model, blocks=(first._replace(feed_forward=part), *model.blocks[1:]))


LONE_TWINS = (other_epsilon, other_norm, blocks_exchanged, gates_exchanged, kernel_backwards)
MODEL_TWINS = (other_epsilon, other_norm, heads_exchanged, blocks_exchanged, kind_exchanged, all_seen)


@pytest.mark.parametrize("name", one_in(10, DESCRIBED))
def test_wrong_parts_are_rejected(name):
    for change in LONE_TWINS if loaded(name).architecture.kind == "lone" else MODEL_TWINS:
        if change is blocks_exchanged and name.startswith("albert"):
            continue  # it has one block for all layers
        if change is all_seen and name.startswith("gpt2_classes"):
            continue  # the last token sees everything either way, but not so the others: see other families
        assert is_rejected(name, change(loaded(name))), change.__name__


@pytest.mark.parametrize("name", one_in(10, DESCRIBED))
def test_no_tensor_can_be_lost(name):
    unused = {tensor for tensor in read_checkpoint(FIXTURES / name).tensors if _is_unused(name, tensor)}
    for tensor in sorted(read_checkpoint(FIXTURES / name).tensors.keys() - unused):
        lost = loaded(name, edit=lambda other, array, tensor=tensor: 0 * array if other == tensor else array)
        assert is_rejected(name, lost) != _cancels(loaded(name), tensor), tensor


def _is_unused(name, tensor):
    """Poolers of models that give the features of each token."""
    return "pooler" in tensor and not name.endswith("classes")


def _cancels(model, tensor):
    """Without RoPE b_K adds one number to all scores of a query."""
    key = (".key.bias", ".k_lin.bias", ".attn.k.bias", ".k_proj.bias")
    return model.architecture.rope is None and tensor.endswith(key)


def is_causal(name):
    return FAMILIES[read_checkpoint(FIXTURES / name).config["model_type"]].causal


@pytest.mark.parametrize("name", one_in(6, [name for name in DESCRIBED if not is_causal(name)]))
def test_a_mask_that_is_ignored_is_rejected(name):
    assert batch_error(name, loaded(name), masked=False).max() > 1e-3


CONFIG_TWINS = {
    "llama_linear": {"rope_parameters": {"rope_theta": 100.0, "rope_type": "linear", "factor": 2.1}},
    "llama_dynamic": {"rope_parameters": {"rope_theta": 100.0, "rope_type": "dynamic", "factor": 2.2}},
    "llama_yarn": {"rope_parameters": {"rope_theta": 100.0, "rope_type": "linear", "factor": 2.0}},
    "llama_llama3": {"rope_parameters": {"rope_theta": 100.0, "rope_type": "linear", "factor": 4.0}},
    "granite: scores": {"attention_multiplier": 0.376},
    "granite: embedding": {"embedding_multiplier": 3.01},
    "granite: residual": {"residual_multiplier": 0.76},
    "granite: logits": {"logits_scaling": 4.01},
    "gemma2: scores": {"attn_logit_softcapping": 3.1},
    "gemma2: logits": {"final_logit_softcapping": 2.1},
    "gemma2: no cap": {"attn_logit_softcapping": None},
    "gemma2: windows": {"layer_types": ["full_attention", "sliding_attention"]},
    "gemma2: scale": {"query_pre_attn_scalar": 10},
    "gemma3: windows": {"sliding_window": 4},
    "smollm3": {"no_rope_layers": [0, 1]},
    "stablelm": {"rope_parameters": {"rope_theta": 100.0, "rope_type": "default", "partial_rotary_factor": 1.0}},
    "gpt_neox: one after the other": {"use_parallel_residual": False},
    "gptj": {"rotary_dim": 2},
    "mixtral": {"num_experts_per_tok": 1},
    "qwen3_moe": {"norm_topk_prob": True},
    "phi3": {"sliding_window": None},
    "starcoder2": {"norm_epsilon": 1.1e-4},
    "t5_encoder: distances": {"relative_attention_max_distance": 40},
    "t5_gated": {"feed_forward_proj": "gated-silu"},
    "clip_text": {"hidden_act": "gelu"},
    "mamba": {"hidden_act": "gelu"},
    "llama_longrope": {
        "rope_parameters": {
            "rope_theta": 100.0,
            "rope_type": "longrope",
            "factor": 2.0,
            "short_factor": [1.0, 1.5, 2.0, 2.5],
            "long_factor": [1.25, 2.0, 3.0, 4.9],
            "original_max_position_embeddings": 8,
        }
    },
    "bert_masked": {"hidden_act": "gelu_new"},
    "qwen3: heads": {"num_attention_heads": 2, "num_key_value_heads": 1, "head_dim": 12},
}


@pytest.mark.parametrize("case", one_in(5, sorted(CONFIG_TWINS)))
def test_another_config_is_rejected(case):
    name, change = case.partition(":")[0], CONFIG_TWINS[case]
    if case == "qwen3: heads":  # the norms are of the width of a head
        edit = lambda n, array: np.tile(array, 2) if n.endswith(("q_norm.weight", "k_norm.weight")) else array
        assert is_rejected(name, loaded(name, change, edit))
    else:
        assert is_rejected(name, loaded(name, change))


def off_by_one(patch):
    """The frequencies of RoPE one further: base^(−2(k+1)/r)."""
    patch.setattr(
        rope_scaling, "plain_frequencies", lambda base, width: base ** (-(np.arange(0, width, 2) + 2) / width)
    )


def alibi_of_other_heads(patch):
    right = model_module.alibi_slopes
    patch.setattr(model_module, "alibi_slopes", lambda heads, dtype: right(heads, dtype)[::-1])


def distances_backwards(patch):
    right = model_module.distance_buckets
    patch.setattr(model_module, "distance_buckets", lambda *given: right(*given).T)


PATCHES = {off_by_one: ("phi", "gemma3"), alibi_of_other_heads: ("bloom",)}
PATCHES |= {distances_backwards: ("t5_encoder", "mpnet")}


@pytest.mark.parametrize("wrong", PATCHES, ids=lambda wrong: wrong.__name__)
def test_wrong_positions_are_rejected(monkeypatch, wrong):
    for name in PATCHES[wrong]:
        model, bound = loaded(name), 100 * largest_allowed(name)
        with monkeypatch.context() as patch:
            wrong(patch)
            found = computed(model, jnp.asarray(expected(name)["tokens_16"]))
        assert np.abs(found - expected(name)["output_16"]).max() > bound, name


def norm_behind_lost(patch):
    """What attention adds is not normed."""
    right = streams.normed
    patch.setattr(
        streams, "normed", lambda norm, parts, *rest: parts if _is_behind(norm) else right(norm, parts, *rest)
    )


BEHIND = []


def _is_behind(norm):
    return any(norm is other for other in BEHIND)


def term_past_the_norm_behind(patch):
    right = streams.frozen_norm
    patch.setattr(
        streams,
        "frozen_norm",
        lambda norm, *rest: Identity(rest[0]) if any(norm is of for of in BEHIND) else right(norm, *rest),
    )


def one_after_the_other(patch):
    """The feed-forward part sees what the attention beside it has added."""
    patch.setattr(streams, "KINDS", {**streams.KINDS, "parallel": streams.pre_norm})


def routing_of_other_tokens(patch):
    right = frozen.expert_gates
    patch.setattr(frozen, "expert_gates", lambda layer, x, **options: right(layer, x[::-1], **options))


def steered_by_other_tokens(patch):
    right = frozen.selected
    patch.setattr(frozen, "selected", lambda layer, s, **options: right(layer, s[::-1], **options))


def routing_to_other_experts(patch):
    right = frozen.expert_gates
    patch.setattr(frozen, "expert_gates", lambda *given, **options: right(*given, **options)[:, ::-1])


def windows_of_other_layers(patch):
    right = streams.carry
    turned = lambda step: lambda state, block, layer: step(state, block, 3 - layer)
    patch.setattr(streams, "carry", lambda step, state, blocks: right(turned(step), state, blocks))


def affine_lost(patch):
    patch.setattr(streams, "_embedded", lambda model, tokens, sorting: sorting.start(model.embed(tokens)))


WRONG_TERMS = {
    norm_behind_lost: ("gemma2", "olmo2"),
    term_past_the_norm_behind: ("gemma2", "olmo2"),
    one_after_the_other: ("falcon_new", "gpt_neox"),
    routing_of_other_tokens: ("mixtral",),
    routing_to_other_experts: ("qwen3_moe",),
    windows_of_other_layers: ("gemma3", "smollm3"),
    affine_lost: ("albert",),
    steered_by_other_tokens: ("mamba",),
}


@pytest.mark.parametrize("wrong", one_in(2, list(WRONG_TERMS)), ids=lambda wrong: wrong.__name__)
def test_wrong_terms_are_told_from_those_of_theorem_1(monkeypatch, wrong):
    for name in WRONG_TERMS[wrong]:
        model, tokens = loaded(name), jnp.asarray(expected(name)["tokens_7"])
        form, may = CLOSED_FORM(model, tokens), tolerance(dc.terms, model, tokens)
        BEHIND[:] = [norm for block in model.blocks for norm in (block.after_1, block.after_2) if norm is not None]
        with monkeypatch.context() as patch:
            wrong(patch)
            found = computed(lambda t, model=model: dc.terms(model, t), tokens)
        assert np.any(np.abs(found - form) > 100 * may), name


# --- options --------------------------------------------------------------------------------------------------------


def test_every_option_of_the_reference_is_known():
    """Read, refused if it is another one, or said to be without effect: no name of the reference is left over."""
    known = json.loads((FIXTURES / "options.json").read_text())
    assert known.keys() | {"camembert"} == FAMILIES.keys()  # which is RoBERTa under another name
    for folder in [*DESCRIBED, *VISION, "gpt2", "bert", "llama", "mistral", "qwen2"]:
        checkpoint = read_checkpoint(FIXTURES / folder)
        of, kind = FAMILIES[checkpoint.config["model_type"]], checkpoint.config["model_type"]
        missing = set(known[kind]) - checkpoint.config.keys() - WITHOUT_EFFECT - of.ignored - of.only.keys()
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # a name that is not known is a warning
            build_model(checkpoint)
        assert missing <= {size.name for size in of.sizes.values()} | {of.activation[0]} | _READ_ELSEWHERE, folder


_READ_ELSEWHERE = {"head_dim", "rope_parameters", "attention_bias", "sliding_window", "layer_types"}


def test_options_that_are_not_known_are_listed():
    with pytest.warns(UserWarning, match="ignored in config.json, not known for opt: a_new_one, another") as caught:
        loaded("opt", {"another": 1, "a_new_one": "x", "absent": None})
    assert len(caught) == 1


OLDER = {
    "bloom": {"hidden_size": None, "n_embed": 24, "n_head": None, "num_attention_heads": 6},
    "gpt_neox": {"rope_parameters": None, "rotary_pct": 0.5, "rotary_emb_base": 100.0},
    "phi": {"rope_parameters": None, "partial_rotary_factor": 0.5, "rope_theta": 100.0},
    "llama_llama3": {
        "rope_parameters": None,
        "rope_theta": 100.0,
        "rope_scaling": {
            "rope_type": "llama3",
            "factor": 4.0,
            "low_freq_factor": 1.0,
            "high_freq_factor": 4.0,
            "original_max_position_embeddings": 64,
        },
    },
    "llama_linear": {"rope_parameters": None, "rope_theta": 100.0, "rope_scaling": {"type": "linear", "factor": 2.0}},
    "gemma2": {"layer_types": None, "rope_parameters": None, "rope_theta": 100.0},
    "gemma3": {
        "rope_parameters": None,
        "rope_theta": 100.0,
        "rope_scaling": {"rope_type": "linear", "factor": 2.0},
        "rope_local_base_freq": 10.0,
    },
    "smollm3": {"no_rope_layers": None, "no_rope_layer_interval": 2},
    "qwen3_moe": {"num_local_experts": None, "num_experts": 3},
}
"""Family → what an older config says of the same model in other words."""


@pytest.mark.parametrize("name", OLDER)
def test_older_configs_say_the_same(name):
    usual, older = loaded(name), loaded(name, OLDER[name])
    assert older.architecture == usual.architecture
    assert all(map(np.array_equal, jax.tree.leaves(older), jax.tree.leaves(usual)))


REFUSED = {
    "olmo": ({"clip_qkv": 8.0}, "clip_qkv = 8.0, supported is only None"),
    "opt": ({"do_layer_norm_before": False}, "do_layer_norm_before = False, supported is only True"),
    "bloom": ({"apply_residual_connection_post_layernorm": True}, "supported is only False"),
    "falcon": ({"alibi": True}, "alibi = True, supported is only False"),
    "stablelm": ({"qk_layernorm": True}, "qk_layernorm = True, supported is only False"),
    "qwen3_moe": ({"mlp_only_layers": [1]}, r"mlp_only_layers = \[1\], supported is only \[\]"),
    "gemma": ({"use_bidirectional_attention": True}, "use_bidirectional_attention = True"),
    "phi": ({"quantization_config": {"bits": 4}}, r"quantization_config = \{'bits': 4\}, supported is only None"),
    "t5_encoder": ({"feed_forward_proj": "gated-tanh"}, "feed_forward_proj = 'gated-tanh', supported are relu"),
    "llama_yarn": ({"rope_parameters": {"rope_type": "proportional"}}, "rope_parameters of type 'proportional'"),
    "llama_linear": (
        {"rope_parameters": {"rope_type": "linear", "factor": 2.0, "beta_fast": 3.0}},
        "of type 'linear' with beta_fast, which is not known for it",
    ),
    "gemma3": ({"layer_types": ["full_attention", "chunked_attention"]}, "layer_types = full_attention, chunked"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_options_that_change_the_function_are_refused_by_name(name):
    change, message = REFUSED[name]
    with pytest.raises(UnsupportedError, match=message) as refused:
        loaded(name, change)
    assert "\n" not in str(refused.value) and "; decompose_function takes it as a JAX function" in str(refused.value)


BAD = {
    "llama_longrope": (
        {"rope_parameters": {"rope_type": "longrope"}},
        "short_factor = None, wanted 4 positive",
    ),
    "smollm3": ({"no_rope_layers": [1]}, r"no_rope_layers = \[1\], wanted 2 of 0 and 1"),
    "roberta": ({"pad_token_id": None}, "pad_token_id = None, wanted a number below that of the positions"),
    "gptj": ({"rotary_dim": 3}, "heads of width 8, 3 turned, wanted an even one"),
    "mixtral": ({"num_experts_per_tok": 4}, "num_experts_per_tok = 4, wanted a whole number, at least 1 and at most 3"),
    "llama_linear": ({"rope_parameters": {"rope_type": "linear"}}, "got no factor, wanted it"),
}


@pytest.mark.parametrize("name", BAD)
def test_bad_options_get_one_line(name):
    change, message = BAD[name]
    with pytest.raises(InputError, match=message) as refused:
        loaded(name, change)
    assert "\n" not in str(refused.value)


def test_what_cannot_be_loaded_says_what_is_missing_and_what_to_do():
    config = read_checkpoint(FIXTURES / "opt").config
    for kind, name, message in (
        ("mamba2", "Mamba2Model", "'Mamba2Model', which has state spaces whose decay is one for a head; in JAX: from"),
        ("bert", "BertForNextSentencePrediction", "; of bert there are BertModel, BertForMaskedLM, BertForSequence"),
        ("new", "NewModel", "of a family that is not among"),
    ):
        with pytest.raises(UnsupportedError, match=message) as refused:
            build_model(Checkpoint({**config, "model_type": kind, "architectures": [name]}, {}))
        assert "decompose_function(f, x)" in str(refused.value) and len(str(refused.value)) < 400


@pytest.mark.parametrize("name", one_in(2, ["gpt2", "gemma3"]))
def test_deep_models_are_read_as_a_loop(monkeypatch, name):
    """With the same contributions, and only where the layers are alike."""
    apart = loaded(name)
    monkeypatch.setattr(model_module, "DEEP", len(apart.blocks))
    deep, tokens, output = loaded(name), text_of(name), output_of(apart)
    assert isinstance(deep.blocks, Stack) and isinstance(apart.blocks, tuple)
    found, wanted = (dc.attribute(model, tokens, output, by="head") for model in (deep, apart))
    size = np.abs(wanted.contributions).sum()
    assert np.all(np.abs(found.contributions - wanted.contributions) <= 1000 * 2.0**-52 * size)
    assert found.names == wanted.names
    first, *others = apart.blocks
    other = dataclasses.replace(apart, blocks=(first._replace(norm_1=None), *others))
    assert other.compiled_soon() is other


def test_what_to_do_instead_works():
    """The three lines of the message, with a network that no description covers."""
    from uat_jax.decomposition import decompose_function

    mixing = jnp.array([[0.5, 0.5], [0.25, 0.75]])
    f = lambda x: jnp.matmul(mixing, jnp.tanh(x), precision="highest") + x
    x = jnp.array([[1.0, 2.0], [3.0, 4.0]])
    found = decompose_function(f, x)
    assert np.allclose(found.total, f(x), rtol=0, atol=8 * np.finfo(float).eps * 8)


def test_the_document_lists_the_families():
    text = (Path(__file__).parents[1] / "docs" / "decomposition.md").read_text(encoding="utf-8")
    assert table.BEGIN + table.rows() + table.END in text, "python -m uat_jax.networks.families writes it"


def test_each_architecture_has_one_family():
    assert len(ARCHITECTURES) == sum(len(of.architectures) for of in FAMILIES.values()) >= 60
    assert len(FAMILIES) >= 30


# --- the forms that people run --------------------------------------------------------------------------------------


def test_most_forms_load():
    """Each is the fixture's own architecture; those that are refused say what is missing."""
    loading = [form for form in FORMS if form.fixture is not None]
    assert len(FORMS) == 58 and len(loading) >= 45 and len({form.fixture for form in loading}) == len(loading)
    for form in FORMS:
        if form.fixture is not None:
            assert read_checkpoint(FIXTURES / form.fixture).config["architectures"] == [form.architecture]
        else:
            assert ", which has " in refusal_of(form)


@pytest.mark.campaign
@pytest.mark.parametrize("fixture", [form.fixture for form in FORMS if form.fixture is not None])
def test_forms_that_load_match(fixture):
    found = errors_of(fixture)
    print(f"{fixture}: {found}")
    assert max(found.values()) < 1e-12
