"""LoRA adapters in PEFT's format: models with them against what `peft` computes, and one line for each that is bad.

The adapters, and the outputs in float64, come from make_model_fixtures.py; the tolerance is that of test_families.py.
"""

import json
import shutil
import sys
import warnings
from pathlib import Path

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest
from test_families import expected, tolerance

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.networks.adapted import Adapted, merged
from uat_jax.networks.checkpoint import Checkpoint, read_checkpoint
from uat_jax.networks.families import build_model, load_model, read_adapter
from uat_jax.networks.families.adapter import ADAPTER_WEIGHTS, Adapter
from uat_jax.networks.families.adapter_config import ADAPTER_CONFIG, lora_config

safetensors_numpy = pytest.importorskip(
    "safetensors.numpy", reason="reading weights needs safetensors (extra [models])"
)

FIXTURES = Path(__file__).parent / "model_fixtures"
ADAPTERS = FIXTURES / "adapters"
FAMILIES = ("gpt2", "bert", "llama")


@pytest.fixture(autouse=True)
def float64():
    with jax.enable_x64(True):
        yield


def tokens_of(family):
    return jnp.asarray(expected(family)["tokens"][0])


RUN = jax.jit(lambda model, tokens: model(tokens))


@pytest.fixture(scope="module")
def tolerances():
    """Family → what the output with the adapter may differ by, for the first row of tokens."""
    with jax.enable_x64(True):
        loaded = {family: with_adapter(family) for family in FAMILIES}
        return {family: tolerance(lambda m, t: m(t), loaded[family], tokens_of(family)) for family in FAMILIES}


def with_adapter(family):
    return load_model(FIXTURES / family, "float64", read_adapter(ADAPTERS / family))


def is_rejected(family, model, tolerances):
    wanted = np.load(ADAPTERS / family / "expected.npz")["output"][0]
    return not np.all(np.abs(np.asarray(RUN(model, tokens_of(family))) - wanted) <= tolerances[family])


# --- the models are those of peft -----------------------------------------------------------------------------------


@pytest.mark.parametrize("family", FAMILIES)
def test_the_output_is_that_of_peft(family, tolerances):
    assert tolerances[family].max() < 1e-11 and not is_rejected(family, with_adapter(family), tolerances)


def test_the_merged_output_is_that_of_peft(tolerances):
    """It rounds otherwise, and is as near to the exact value as `tolerance` says."""
    assert not is_rejected("gpt2", merged(with_adapter("gpt2")), tolerances)


def edited(adapter, *, layers=None, **config):
    """An adapter with other layers, or other entries in its config."""
    entries = json.loads((Path(adapter.folder) / ADAPTER_CONFIG).read_text()) | config
    return Adapter(adapter.folder, lora_config(entries), dict(adapter.layers) if layers is None else layers)


def exchanged(adapter, one, other):
    """The factors of two layers in each other's place."""
    swap = {one: other, other: one}
    by = lambda name: next((name.replace(a, b) for a, b in swap.items() if a in name), name)
    return edited(adapter, layers={name: adapter.layers[by(name)] for name in adapter.layers})


def scaled(adapter, factor, part=""):
    new = {n: u._replace(scale=u.scale * factor) if part in n else u for n, u in adapter.layers.items()}
    return edited(adapter, layers=new)


WRONG = {
    "none": ("gpt2", lambda adapter: scaled(adapter, 0.0)),
    "another scale": ("gpt2", lambda adapter: scaled(adapter, 1 + 1e-9)),
    "α / r for α / √r": ("llama", lambda adapter: scaled(adapter, 3**-0.5)),
    "α without its pattern": ("gpt2", lambda adapter: scaled(adapter, 3 / 5, "h.1.attn.c_proj")),
    "another layer": ("llama", lambda adapter: exchanged(adapter, "layers.0", "layers.1")),
    "another module": ("llama", lambda adapter: exchanged(adapter, "gate_proj", "up_proj")),
    "another module of BERT": ("bert", lambda adapter: exchanged(adapter, "self.query", "self.key")),
}


@pytest.mark.parametrize("wrong", WRONG)
def test_a_wrong_adapter_is_rejected(wrong, tolerances):
    family, change = WRONG[wrong]
    model = load_model(FIXTURES / family, "float64", change(read_adapter(ADAPTERS / family)))
    assert is_rejected(family, model, tolerances)


def test_a_forgotten_fan_in_fan_out_is_rejected(tolerances):
    """The factors of attn.c_proj, which is a square, as those of a `Linear`."""
    adapter, model = read_adapter(ADAPTERS / "gpt2"), with_adapter("gpt2")

    def transposed(number, block):
        update, right = adapter.layers[f"transformer.h.{number}.attn.c_proj"], block.attention.output
        left = jnp.asarray(update.B, jnp.float64).reshape(right.left.shape)
        output = Adapted(right.matrix, left, jnp.asarray(update.A, jnp.float64), right.scale)
        return block._replace(attention=block.attention._replace(output=output))

    blocks = tuple(transposed(number, block) for number, block in enumerate(model.blocks))
    assert is_rejected("gpt2", type(model)(**{**vars(model), "blocks": blocks}), tolerances)


@pytest.mark.parametrize("family, prefix", [("gpt2", "transformer."), ("llama", "model.")])
def test_prefixes_make_no_difference(family, prefix, tolerances):
    """Of the model's tensors, and of the adapter's layers."""
    checkpoint, adapter = read_checkpoint(FIXTURES / family), read_adapter(ADAPTERS / family)
    bare = {name.removeprefix(prefix): array for name, array in checkpoint.tensors.items()}
    of_bare = edited(adapter, layers={name.removeprefix(prefix): u for name, u in adapter.layers.items()})
    for tensors, given in ((bare, adapter), (checkpoint.tensors, of_bare)):
        assert not is_rejected(
            family, build_model(Checkpoint(checkpoint.config, tensors), "float64", given), tolerances
        )


def test_an_adapter_of_the_pooler_makes_no_difference(tmp_path, tolerances):
    """It comes after the features of the tokens."""
    pooler = {"lora_A": np.ones((2, 16), np.float32), "lora_B": np.ones((16, 2), np.float32)}
    more = {f"base_model.model.pooler.dense.{factor}.weight": array for factor, array in pooler.items()}
    folder = written(tmp_path, "bert", lambda tensors: tensors | more, exclude_modules=None)
    model = load_model(FIXTURES / "bert", "float64", read_adapter(folder))
    assert not is_rejected("bert", model, tolerances)


def test_factors_have_the_dtype_of_the_model(tmp_path):
    folder = written(tmp_path, "gpt2", lambda t: {n: a.astype(ml_dtypes.bfloat16) for n, a in t.items()})
    for dtype in (None, "bfloat16", "float16", "float64"):
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model = load_model(FIXTURES / "gpt2", dtype, read_adapter(folder))
        assert {array.dtype.name for array in jax.tree.leaves(model)} == {dtype or "float32"}


def test_layers_decide_about_fan_in_fan_out(tmp_path, tolerances):
    """As in peft, which corrects the entry and warns."""
    adapter = read_adapter(written(tmp_path, "gpt2", dict, fan_in_fan_out=False))
    with pytest.warns(UserWarning, match="got fan_in_fan_out = False .* computed with True") as caught:
        model = load_model(FIXTURES / "gpt2", "float64", adapter)
    assert [warning.filename for warning in caught] == [__file__]
    assert not is_rejected("gpt2", model, tolerances)


def test_an_adapter_says_what_it_is():
    assert str(read_adapter(ADAPTERS / "gpt2")) == "8 layers (c_attn, c_fc, c_proj), rank 2, 3, scale 1, 1.5, 2.5"


# --- which layers ---------------------------------------------------------------------------------------------------

NAMES = ("transformer.h.0.attn.c_attn", "transformer.h.11.mlp.c_proj", "model.layers.1.mlp.up_proj", "c_attn")
TARGETS = {
    "ends of names": ({"target_modules": ["c_attn", "mlp.up_proj"]}, (0, 2, 3)),
    "no parts of words": ({"target_modules": ["attn", "proj"]}, ()),
    "an expression of whole names": ({"target_modules": r".*\.(c_attn|up_proj)"}, (0, 2)),
    "an expression of a part": ({"target_modules": "c_attn"}, (3,)),
    "all": ({"target_modules": "all-linear"}, (0, 1, 2, 3)),
    "all but": ({"target_modules": "All-Linear", "exclude_modules": ["up_proj"]}, (0, 1, 3)),
    "all but an expression": ({"target_modules": "all-linear", "exclude_modules": ".*attn"}, (1, 2)),
    "one block": ({"target_modules": ["c_attn", "c_proj", "up_proj"], "layers_to_transform": 1}, (2, 3)),
    "blocks": ({"target_modules": ["c_attn", "c_proj"], "layers_to_transform": [0, 11]}, (0, 1, 3)),
    "blocks by name": (
        {"target_modules": ["c_proj", "up_proj"], "layers_to_transform": [1, 11], "layers_pattern": "layers"},
        (2,),
    ),
}


@pytest.mark.parametrize("case", TARGETS)
def test_targets(case):
    entries, places = TARGETS[case]
    targets = lora_config({"r": 1, "lora_alpha": 1, **entries}).targets
    assert tuple(place for place, name in enumerate(NAMES) if name in targets) == places


def test_ranks_and_scales():
    patterns = {"rank_pattern": {"c_proj": 4, r"h\.0\..*": 9}, "alpha_pattern": {"mlp.c_proj": 8.0}}
    entries = {"r": 16, "lora_alpha": 32, "target_modules": "all-linear", **patterns}
    config, root = lora_config(entries), lora_config(entries | {"use_rslora": True})
    assert [config.rank(name) for name in NAMES] == [9, 4, 16, 16]
    assert [config.scale(name) for name in NAMES] == [32 / 9, 2.0, 2.0, 2.0]
    assert [root.scale(name) for name in NAMES] == [32 / 3, 4.0, 8.0, 8.0]


# --- what cannot be used --------------------------------------------------------------------------------------------

A = "base_model.model.transformer.h.0.attn.c_attn.lora_A.weight"
B = A.replace("lora_A", "lora_B")
LAYER_7 = {A.replace("h.0", "h.7"): np.ones((2, 16), np.float32), B.replace("h.0", "h.7"): np.ones((48, 2), np.float32)}
HEAD = {
    n.replace("transformer.h.0.attn.c_attn", "lm_head"): array
    for n, array in ((A, np.ones((2, 16))), (B, np.ones((61, 2))))
}


def without(*names):
    return lambda tensors: {name: array for name, array in tensors.items() if name not in names}


def more(tensors):
    return lambda old: old | tensors


BAD_FOLDERS = {
    "DoRA": ({"use_dora": True}, dict, UnsupportedError, "use_dora = True, supported is none"),
    "biases": ({"bias": "lora_only"}, dict, UnsupportedError, "bias = 'lora_only', supported is only 'none'"),
    "biases of B": ({"lora_bias": True}, dict, UnsupportedError, "lora_bias = True"),
    "whole modules": ({"modules_to_save": ["lm_head"]}, dict, UnsupportedError, r"modules_to_save = \['lm_head'\]"),
    "another method": ({"peft_type": "IA3"}, dict, UnsupportedError, "peft_type = 'IA3', supported is only 'LORA'"),
    "PiSSA": ({"init_lora_weights": "pissa"}, dict, UnsupportedError, "'pissa', which changes the model's own"),
    "tokens": ({"trainable_token_indices": [1]}, dict, UnsupportedError, "trainable_token_indices"),
    "a new entry": ({"use_newest": True}, dict, UnsupportedError, "use_newest = True, supported is none"),
    "no rank": ({"r": None}, dict, InputError, "got no r, wanted it in adapter_config.json"),
    "rank 0": ({"r": 0}, dict, InputError, "r = 0, wanted a whole number, at least 1; see adapter_config.json"),
    "another rank": ({"r": 3}, dict, ShapeError, r"lora_A \(2, 16\) .* wanted the rank r = 3 of adapter_config"),
    "ranks as text": ({"rank_pattern": "2"}, dict, InputError, "rank_pattern = '2', wanted an object"),
    "a rank as text": ({"rank_pattern": {"c_fc": "2"}}, dict, InputError, "c_fc = '2', wanted a whole number"),
    "a pattern": ({"alpha_pattern": {"(": 2}}, dict, InputError, r"alpha_pattern with '\(', no regular expression"),
    "flags": ({"rank_pattern": {"(?i)c_fc": 2}}, dict, InputError, r"rank_pattern with '\(\?i\)c_fc', no regular expr"),
    "a name in use": (
        {"layers_pattern": "(?P<number>h)", "layers_to_transform": [0]},
        dict,
        InputError,
        "layers_pattern with .* no regular expression .redefinition of group name",
    ),
    "α of 400 digits": ({"lora_alpha": 10**400}, dict, InputError, "lora_alpha = 1000*, wanted a positive number"),
    "α": ({"lora_alpha": "16"}, dict, InputError, "lora_alpha = '16', wanted a positive number"),
    "flag": ({"use_rslora": "yes"}, dict, InputError, "use_rslora = 'yes', wanted true or false"),
    "no targets": ({"target_modules": None}, dict, InputError, "target_modules = None, wanted names of layers"),
    "targets": ({"target_modules": [1]}, dict, InputError, r"target_modules = \[1\], wanted a list of names"),
    "expression": ({"target_modules": "*"}, dict, InputError, "target_modules with '\\*', no regular expression"),
    "blocks": ({"layers_to_transform": ["0"]}, dict, InputError, "layers_to_transform = .* wanted whole numbers"),
    "no tensors": ({}, lambda tensors: {}, InputError, "got no tensors, wanted lora_A and lora_B"),
    "one factor": ({}, without(B), InputError, f"no tensor '{B}', wanted it"),
    "superfluous": (
        {},
        more({"base_model.model.score.weight": np.ones(3)}),
        InputError,
        "superfluous tensor 'base_model",
    ),
    "embedding": (
        {},
        more({"base_model.model.transformer.wte.lora_embedding_A": np.ones((2, 61))}),
        UnsupportedError,
        "wte.lora_embedding_A', an adapter of an embedding, supported are linear layers",
    ),
    "whole numbers": (
        {},
        more({A: np.ones((2, 16), np.int8)}),
        InputError,
        "dtype int8 for lora_A of .*, wanted floats",
    ),
    "three axes": ({}, more({A: np.ones((2, 16, 1))}), ShapeError, r"lora_A \(2, 16, 1\)"),
}
BAD_FITS = {
    "no such layer": (
        {},
        more(LAYER_7),
        InputError,
        "an adapter of 'h.7.attn.c_attn', wanted linear layers of the model",
    ),
    "head": ({}, more(HEAD), UnsupportedError, "an adapter of 'lm_head', supported are linear layers of the blocks"),
    "a layer lost": ({}, without(A, B), InputError, "no adapter of 'h.0.attn.c_attn', wanted it: target_modules"),
    "a layer not named": (
        {"target_modules": ["c_proj", "c_fc"]},
        dict,
        InputError,
        "an adapter of 'h.0.attn.c_attn', 'h.1.attn.c_attn', wanted none: target_modules does not name it",
    ),
    "no such target": (
        {"target_modules": ["c_attn", "c_proj", "c_fc", "q_proj"]},
        dict,
        InputError,
        "target_modules with 'q_proj', wanted layers of the model, such as 'h.0.attn.c_attn'",
    ),
    "shape": (
        {},
        more({A: np.ones((2, 15))}),
        ShapeError,
        r"lora_A \(2, 15\) and lora_B \(48, 2\) for h.0.attn.c_attn, wanted \(r, 16\) and \(48, r\)",
    ),
    "scale": ({"lora_alpha": 1e300}, dict, InputError, "a number in the scale of h.0.attn.c_attn that is not finite"),
    "NaN": ({}, more({A: np.full((2, 16), np.nan)}), InputError, "a number in lora_A of h.0.attn.c_attn that is not"),
}


def written(folder, family, edit, **config):
    """The adapter of a family with other entries and other tensors."""
    folder = folder / "adapter"
    shutil.copytree(ADAPTERS / family, folder)
    entries = json.loads((folder / ADAPTER_CONFIG).read_text()) | config
    (folder / ADAPTER_CONFIG).write_text(json.dumps(entries))
    safetensors_numpy.save_file(edit(safetensors_numpy.load_file(folder / ADAPTER_WEIGHTS)), folder / ADAPTER_WEIGHTS)
    return folder


@pytest.mark.parametrize("case", [*BAD_FOLDERS, *BAD_FITS])
def test_a_bad_adapter_gets_one_line(tmp_path, case):
    config, edit, error, message = {**BAD_FOLDERS, **BAD_FITS}[case]
    folder = written(tmp_path, "gpt2", edit, **config)
    with pytest.raises(error, match=message) as caught:
        load_model(FIXTURES / "gpt2", None, read_adapter(folder))
    assert str(folder) in str(caught.value) and "\n" not in str(caught.value) and len(str(caught.value)) < 500
    assert str(caught.value).startswith(f"{folder}: ") == (case in BAD_FOLDERS)


def test_an_adapter_of_another_model_gets_one_line():
    message = (
        "llama: adapter .*gpt2: got an adapter of 'transformer.h.0.attn.c_attn', .* and more, wanted linear layers"
    )
    with pytest.raises(InputError, match=message):
        load_model(FIXTURES / "llama", None, read_adapter(ADAPTERS / "gpt2"))


BAD_FILES = {
    "no config": (ADAPTER_CONFIG, None, "no such file"),
    "no weights": (ADAPTER_WEIGHTS, None, "no such file"),
    "truncated": (ADAPTER_WEIGHTS, lambda content: content[: len(content) // 2], "no readable safetensors"),
    "empty config": (ADAPTER_CONFIG, lambda content: b"", "no readable JSON"),
    "a list": (ADAPTER_CONFIG, lambda content: b"[]", "a JSON list, wanted an object"),
}


@pytest.mark.parametrize("case", BAD_FILES)
def test_a_bad_file_gets_one_line(tmp_path, case):
    file, change, message = BAD_FILES[case]
    path = written(tmp_path, "gpt2", dict) / file
    content = path.read_bytes()
    path.unlink()
    if change is not None:
        path.write_bytes(change(content))
    with pytest.raises(InputError, match=message) as caught:
        read_adapter(path.parent)
    assert str(caught.value).startswith(f"{path}: ") and "\n" not in str(caught.value)


def test_no_folder(tmp_path, monkeypatch):
    with pytest.raises(InputError, match="none: got no such folder, wanted one with adapter_config.json and adapter_m"):
        read_adapter(tmp_path / "none")
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(InputError, match=r"needs safetensors; pip install 'uat_jax\[models\]'"):
        read_adapter(ADAPTERS / "gpt2")
