"""Hugging Face folders: what is in them is read as it is; what cannot be read is one line."""

import json
import shutil
import struct
import sys
from pathlib import Path

import jax
import ml_dtypes
import numpy as np
import pytest
from random_parameters import generator

from uat_jax.errors import InputError
from uat_jax.networks.checkpoint import CONFIG, INDEX, WEIGHTS, read_checkpoint
from uat_jax.networks.families import load_model

safetensors_numpy = pytest.importorskip(
    "safetensors.numpy", reason="reading weights needs safetensors (extra [models])"
)

FIXTURE = Path(__file__).parent / "model_fixtures" / "gpt2"
TENSORS = {"a": np.arange(6, dtype=np.float32).reshape(2, 3), "b": np.array([1, 2], np.int64)}


@pytest.fixture
def folder(tmp_path):
    """A folder with a config and TENSORS."""
    (tmp_path / CONFIG).write_text('{"model_type": "none"}')
    safetensors_numpy.save_file(TENSORS, tmp_path / WEIGHTS)
    return tmp_path


def refused(folder, message, path=None, load=read_checkpoint):
    with pytest.raises(InputError, match=message) as caught:
        load(folder)
    assert str(caught.value).startswith(f"{path or folder}: ")
    assert "\n" not in str(caught.value) and len(str(caught.value)) < 400
    return caught.value


def assert_same(found, wanted):
    assert found.keys() == wanted.keys()
    assert all(found[name].dtype == wanted[name].dtype for name in wanted)
    assert all(np.array_equal(found[name], wanted[name]) for name in wanted)


# --- what is read ------------------------------------------------------------------------------------------------


def test_every_dtype_is_read_as_it_is(folder):
    random = generator("dtypes")
    dtypes = ("float64", "float32", "float16", ml_dtypes.bfloat16, "int64", "int32", "uint8", "bool")
    tensors = {f"t.{np.dtype(dtype)}": random.integers(0, 2, (3, 2)).astype(dtype) for dtype in dtypes}
    safetensors_numpy.save_file(tensors, folder / WEIGHTS)
    found = read_checkpoint(folder)
    assert_same(found.tensors, tensors)
    assert found.config == {"model_type": "none"}


def test_shards_are_one_checkpoint(folder):
    write_shards(folder, {"one.safetensors": ["a"], "two.safetensors": ["b"]})
    assert_same(read_checkpoint(folder).tensors, TENSORS)


def test_a_model_in_shards_is_the_model(tmp_path):
    whole = load_model(FIXTURE)
    shutil.copytree(FIXTURE, tmp_path / "shards")
    tensors = safetensors_numpy.load_file(FIXTURE / WEIGHTS)
    names = sorted(tensors)
    write_shards(tmp_path / "shards", {"1.safetensors": names[::2], "2.safetensors": names[1::2]}, tensors)
    assert all(map(np.array_equal, jax.tree.leaves(load_model(tmp_path / "shards")), jax.tree.leaves(whole)))


def write_shards(folder, names, tensors=TENSORS, **changes):
    """Files with the tensors named, and their index."""
    (folder / WEIGHTS).unlink(missing_ok=True)
    for file, row in names.items():
        safetensors_numpy.save_file({name: tensors[name] for name in row}, folder / file)
    place = {name: file for file, row in names.items() for name in row}
    (folder / INDEX).write_text(json.dumps({"metadata": {}, "weight_map": place | changes}))


# --- folders without something -------------------------------------------------------------------------------------


def test_no_folder(tmp_path):
    refused(tmp_path / "none", "no such folder, wanted one with config.json")
    (tmp_path / "file").write_text("")
    refused(tmp_path / "file", "no such folder")


def test_no_config(folder):
    (folder / CONFIG).unlink()
    refused(folder, "no such file", folder / CONFIG)


def test_no_weights(folder):
    (folder / WEIGHTS).unlink()
    (folder / "pytorch_model.bin").write_bytes(b"pickled")
    refused(folder, "no model.safetensors and no model.safetensors.index.json, wanted one; save the model as")


def test_no_library(folder, monkeypatch):
    monkeypatch.setitem(sys.modules, "safetensors", None)
    with pytest.raises(InputError, match=r"needs safetensors; pip install 'uat_jax\[models\]'"):
        read_checkpoint(folder)


BAD_JSON = {
    "empty": ("", "no readable JSON"),
    "text": ("model", "no readable JSON"),
    "cut": ('{"a": 1', "no readable JSON"),
    "not UTF-8": (b'{"a": "\xff"}', "no readable JSON"),
    "a list": ("[]", "a JSON list, wanted an object"),
    "deep": ("[" * 200_000, "no readable JSON"),
    "a name twice": ('{"n": 1, "n": 2}', "the name 'n' twice"),
    "a giant number": ('{"n": ' + "9" * 5000 + "}", "no readable JSON"),
}


@pytest.mark.parametrize("case", BAD_JSON)
@pytest.mark.parametrize("file", [CONFIG, INDEX])
def test_a_bad_json_file_gets_one_line(folder, file, case):
    text, message = BAD_JSON[case]
    (folder / WEIGHTS).unlink()
    (folder / file).write_bytes(text if isinstance(text, bytes) else text.encode())
    refused(folder, message, folder / file)


BAD_INDEX = {
    "no weight_map": ({}, "no object weight_map"),
    "a list": ({"weight_map": ["one"]}, "no object weight_map"),
    "a number": ({"weight_map": {"a": 1}}, "no object weight_map"),
    "above": ({"weight_map": {"a": "../model.safetensors"}}, "the file '../model.safetensors', wanted a name in"),
    "absolute": ({"weight_map": {"a": "/etc/passwd"}}, "the file '/etc/passwd', wanted a name in"),
    "nothing": ({"weight_map": {"a": ""}}, "the file '', wanted a name in"),
    "this folder": ({"weight_map": {"a": "."}}, r"the file '\.', wanted a name in"),
}


@pytest.mark.parametrize("case", BAD_INDEX)
def test_a_bad_index_gets_one_line(folder, case):
    value, message = BAD_INDEX[case]
    (folder / WEIGHTS).rename(folder / "one.safetensors")
    (folder / INDEX).write_text(json.dumps(value))
    refused(folder, message, folder / INDEX)


def test_an_index_and_its_files_that_contradict_each_other_get_one_line(folder):
    names = {"one.safetensors": ["a"], "two.safetensors": ["b"]}
    write_shards(folder, names, c="two.safetensors")
    refused(folder, "tensor 'c' only in the index or only in two.safetensors", folder / INDEX)
    write_shards(folder, names, b="one.safetensors")
    refused(folder, "tensor 'b' only in the index or only in one.safetensors", folder / INDEX)
    write_shards(folder, names, b="three.safetensors")
    refused(folder, "no such file", folder / "three.safetensors")


# --- hostile safetensors -------------------------------------------------------------------------------------------


def entry(dtype="F32", shape=(2,), offsets=(0, 8)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


def file_of(header, data=bytes(8), length=None):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text) if length is None else length) + text + data


A = json.dumps(entry()).encode()
HOSTILE = {
    "empty": (b"", "header too small"),
    "seven bytes": (bytes(7), "header too small"),
    "a pickle": (b"\x80\x04K\x01." * 9, "header too large"),
    "header longer than the file": (file_of({"a": entry()}, length=10**6), "invalid header length"),
    "header of 2^63 bytes": (file_of({"a": entry()}, length=2**63), "header too large"),
    "header of 200 MB": (file_of({"a": entry()}, length=200_000_000), "header too large"),
    "header no JSON": (file_of(b"hello"), "invalid JSON"),
    "header a list": (file_of(b"[]"), "invalid JSON"),
    "header not UTF-8": (file_of(b'{"\xff": 1}'), "invalid UTF-8"),
    "header deep": (file_of(b'{"a":' + b"[" * 10_000), "recursion limit"),
    "cut": (file_of({"a": entry()}, bytes(7)), "not fully covered"),
    "too long": (file_of({"a": entry()}, bytes(9)), "not fully covered"),
    "overlap": (file_of({"a": entry(), "b": entry(offsets=(4, 12))}, bytes(12)), "invalid offset"),
    "the same bytes": (file_of({"a": entry(), "b": entry()}), "invalid offset"),
    "a gap": (file_of({"a": entry(), "b": entry(offsets=(12, 20))}, bytes(20)), "invalid offset"),
    "out of range": (file_of({"a": entry(offsets=(8, 16))}), "invalid offset"),
    "backwards": (file_of({"a": entry(offsets=(8, 0))}), "invalid"),
    "size and shape": (file_of({"a": entry(shape=(3,))}), "invalid shape"),
    "negative": (file_of({"a": entry(shape=(-2,))}), "invalid value"),
    "overflow": (file_of({"a": entry(shape=(2**62, 8))}), "overflow"),
    "unknown dtype": (file_of({"a": entry("F33")}), "unknown variant `F33`"),
    "dtype with a line break": (file_of({"a": entry("F3\n3")}), "unknown variant `F3 3`"),
    "float8": (file_of({"a": entry("F8_E4M3", (8,))}), "dtype F8_E4M3 of 'a', which is not one of BF16, BOOL"),
    "float4": (file_of({"a": entry("F4", (16,))}), "dtype F4 of 'a'"),
    "a name twice": (file_of(b'{"a": ' + A + b', "a": ' + A + b"}"), "the name 'a' twice"),
    "a field twice": (file_of(b'{"a": ' + A[:-1] + b', "dtype": "F32"}}'), "duplicate field"),
}


@pytest.mark.parametrize("case", HOSTILE)
def test_a_hostile_file_gets_one_line(folder, case):
    content, message = HOSTILE[case]
    (folder / WEIGHTS).write_bytes(content)
    refused(folder, message, folder / WEIGHTS)


def test_the_files_that_the_hostile_ones_are_made_of_are_read(folder):
    (folder / WEIGHTS).write_bytes(file_of({"a": entry(), "b": entry(offsets=(8, 16))}, bytes(16)))
    assert_same(read_checkpoint(folder).tensors, {name: np.zeros(2, np.float32) for name in "ab"})


def test_a_folder_for_a_file_gets_one_line(folder):
    (folder / WEIGHTS).unlink()
    (folder / WEIGHTS).mkdir()
    refused(folder, "no such file", folder / WEIGHTS)


def test_damaged_headers_get_one_line_or_are_read(folder):
    """Bytes of the header overwritten at random, and files cut at random: nothing else is ever raised."""
    random, good = generator("damaged"), (folder / WEIGHTS).read_bytes()
    header, caught = 8 + struct.unpack("<Q", good[:8])[0], 0
    for _ in range(300):
        damaged = bytearray(good[: random.integers(1, len(good))] if random.random() < 0.2 else good)
        damaged[random.integers(min(header, len(damaged)))] ^= int(random.integers(1, 256))
        (folder / WEIGHTS).write_bytes(bytes(damaged))
        try:
            read_checkpoint(folder)
        except InputError as error:
            caught += 1
            assert str(error).startswith(f"{folder / WEIGHTS}: ") and "\n" not in str(error)
    assert caught > 150
