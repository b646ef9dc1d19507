"""Networks in files: what is saved is loaded, a bad file is one line, the shipped networks read digits."""

import dataclasses
import sys
import zipfile
import zlib
from importlib.resources import files
from io import BytesIO

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_parameters import drawn, normal

from uat_jax.errors import InputError, ShapeError, UatJaxError
from uat_jax.networks import (
    Network,
    digits,
    initialise_residual,
    initialise_transformer,
    load_inputs,
    load_network,
    residual_network,
    save_network,
    train_digits,
    transformer,
)

DTYPES = ("float64", "float32", "float16")
KINDS = ("residual", "transformer")


@pytest.fixture(autouse=True)
def strict():
    with jax.numpy_dtype_promotion("strict"), jax.numpy_rank_promotion("raise"), jax.enable_x64(False):
        yield


@pytest.fixture
def seed(request):
    number = zlib.crc32(request.node.name.encode())
    print(f"seed {number}")
    return number


def small_network(kind, dtype="float32", seed=0) -> Network:
    random = np.random.default_rng(seed)
    if kind == "residual":
        return Network("residual", "silu", drawn(random, initialise_residual, (3, 4, 2), (5, 6), dtype))
    layers = drawn(random, initialise_transformer, features=(4, 6, 2), heads=2, hidden=(3, 5), dtype=dtype)
    return Network("transformer", "gelu", layers)


def arrays_of(kind) -> dict[str, np.ndarray]:
    """What the weights file of `small_network(kind)` holds, written down a second time."""
    network = small_network(kind)
    arrays = {"kind": np.array(kind), "activation": np.array(network.activation)}
    for number, layer in enumerate(network.layers, start=1):
        arrays |= {f"layers.{number}.{field}": np.asarray(getattr(layer, field)) for field in layer._fields}
    return arrays


# --- round trips -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("kind", KINDS)
def test_what_is_saved_is_what_is_loaded(tmp_path, seed, kind, dtype):
    with jax.enable_x64(dtype == "float64"):
        network = small_network(kind, dtype, seed)
        save_network(tmp_path / "saved", network)
    # float64 weights are read as they are, x64 or not
    loaded = load_network(tmp_path / "saved")
    assert (loaded.kind, loaded.activation, loaded.dtype) == (kind, network.activation, dtype)
    assert loaded.sizes == network.sizes
    assert all(map(np.array_equal, jax.tree.leaves(loaded.layers), jax.tree.leaves(network.layers)))
    assert [path.name for path in tmp_path.iterdir()] == ["saved"]
    save_network(tmp_path / "again", loaded)
    assert (tmp_path / "again").read_bytes() == (tmp_path / "saved").read_bytes()


@pytest.mark.parametrize("kind", KINDS)
def test_files_written_by_numpy_alone_load(tmp_path, kind):
    swapped = {
        name: array if array.dtype.kind == "U" else array.astype(array.dtype.newbyteorder(">"))
        for name, array in arrays_of(kind).items()
    }
    for write, arrays in [(np.savez, arrays_of(kind)), (np.savez_compressed, swapped)]:
        write(tmp_path / "file.npz", **arrays)  # pyright: ignore[reportArgumentType]
        loaded = load_network(tmp_path / "file.npz")
        leaves = jax.tree.leaves(loaded.layers)
        assert all(map(np.array_equal, leaves, jax.tree.leaves(small_network(kind).layers)))
        assert all(leaf.dtype.isnative for leaf in leaves)


@pytest.mark.parametrize("dtype", one_in(3, DTYPES))
@pytest.mark.parametrize("kind", KINDS)
def test_apply_is_the_function_of_the_kind(tmp_path, seed, kind, dtype):
    with jax.enable_x64(dtype == "float64"):
        network = small_network(kind, dtype, seed)
        save_network(tmp_path / "file.npz", network)
        x = normal(np.random.default_rng(seed), *((3,) if kind == "residual" else (5, 4)), dtype=dtype)
        output = load_network(tmp_path / "file.npz").apply(x)
        if kind == "residual":
            wanted = residual_network(network.layers, x, jax.nn.silu)  # pyright: ignore[reportArgumentType]
        else:
            wanted = transformer(network.layers, x, jax.nn.gelu)  # pyright: ignore[reportArgumentType]
        assert output.dtype == dtype
        assert jnp.array_equal(output, wanted)
        assert not jnp.array_equal(output, dataclasses.replace(network, activation="relu").apply(x))


@pytest.mark.parametrize("kind", KINDS)
def test_inputs_load(tmp_path, seed, kind):
    shape = (7, 3) if kind == "residual" else (7, 5, 4)
    batch = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    np.savez(tmp_path / "inputs.npz", x_0=batch)
    loaded = load_inputs(tmp_path / "inputs.npz", small_network(kind))
    assert np.array_equal(loaded, batch) and loaded.dtype == batch.dtype


# --- bad files -------------------------------------------------------------------------------------------


def edited(name, edit):
    return lambda arrays: arrays | {name: edit(arrays[name])}


def without(name):
    return lambda arrays: {key: array for key, array in arrays.items() if key != name}


def with_entry(value):
    def edit(array):
        array = array.copy()
        array[(-1,) * array.ndim] = value
        return array

    return edit


def renumbered(old, new):
    return lambda arrays: {key.replace(f"layers.{old}.", f"layers.{new}."): a for key, a in arrays.items()}


BAD_NETWORKS = {
    "no kind": ("residual", without("kind"), InputError, "no array 'kind'"),
    "no activation": ("residual", without("activation"), InputError, "no array 'activation'"),
    "unknown kind": (
        "residual",
        edited("kind", lambda _: np.array("cnn")),
        InputError,
        "kind 'cnn', wanted one of residual, transformer",
    ),
    "unknown activation": (
        "residual",
        edited("activation", lambda _: np.array("sigmoid")),
        InputError,
        "activation 'sigmoid', wanted one of tanh, relu, gelu, silu, logistic",
    ),
    "kind a number": ("residual", edited("kind", lambda _: np.array(3.0)), InputError, "one string"),
    "kinds in a list": ("residual", edited("kind", lambda kind: kind[None]), InputError, "one string"),
    "other kind": (
        "residual",
        edited("kind", lambda _: np.array("transformer")),
        InputError,
        r"no array 'layers\.1\.query'",
    ),
    "array missing": ("residual", without("layers.2.C"), InputError, r"no array 'layers\.2\.C'"),
    "token array missing": ("transformer", without("layers.1.key"), InputError, r"no array 'layers\.1\.key'"),
    "superfluous array": (
        "residual",
        lambda arrays: arrays | {"layers.2.query": np.ones(3)},
        InputError,
        r"superfluous array 'layers\.2\.query'",
    ),
    "other array": ("transformer", lambda arrays: arrays | {"x_0": np.ones(3)}, InputError, "array 'x_0'"),
    "object array": (
        "residual",
        edited("layers.1.b", lambda array: array.astype(object)),
        InputError,
        "Object arrays cannot be loaded when allow_pickle=False",
    ),
    "wrong shape": (
        "residual",
        edited("layers.2.B", lambda array: array[:, :3]),
        ShapeError,
        r"shape \(6, 3\) for layers\.2\.B, wanted \(F_2, D_1 = 4\)",
    ),
    "wrong rank": (
        "residual",
        edited("layers.1.c", lambda array: array[:, None]),
        ShapeError,
        r"shape \(4, 1\) for layers\.1\.c, wanted \(D_1 = 4\)",
    ),
    "other head width": (
        "transformer",
        edited("layers.1.value", lambda array: array[:, :1]),
        ShapeError,
        r"shape \(2, 1, 2\) for layers\.1\.value, wanted \(h_1 = 2, d_1 = 2, d_1 = 2\)",
    ),
    "empty": (
        "residual",
        edited("layers.1.A", lambda array: array[:, :0]),
        ShapeError,
        r"\(4, 0\) for layers",
    ),
    "NaN": ("residual", edited("layers.2.C", with_entry(np.nan)), InputError, r"nan at layers\.2\.C\[1, 5\]"),
    "infinity": (
        "transformer",
        edited("layers.1.output", with_entry(-np.inf)),
        InputError,
        r"-inf at layers\.1\.output\[1, 1, 5\]",
    ),
    "integers": (
        "residual",
        edited("layers.1.A", lambda array: array.astype(int)),
        InputError,
        r"int64 for layers\.1\.A, wanted float16, float32, float64",
    ),
    "complex": (
        "residual",
        edited("layers.1.A", lambda array: array.astype(complex)),
        InputError,
        r"complex128 for layers\.1\.A",
    ),
    "bfloat16": (
        "residual",
        edited("layers.1.A", lambda array: array.astype(jnp.bfloat16)),
        InputError,
        r"\|V2 for layers\.1\.A",
    ),
    "mixed dtypes": (
        "transformer",
        edited("layers.2.hidden", lambda array: array.astype(np.float64)),
        InputError,
        r"float64 for layers\.2\.hidden, wanted float32",
    ),
    "counted from 0": (
        "residual",
        lambda arrays: renumbered(2, 1)(renumbered(1, 0)(arrays)),
        InputError,
        "layers numbered 0, 1, wanted 1, 2, 3",
    ),
    "a gap": ("residual", renumbered(2, 3), InputError, "layers numbered 1, 3,"),
    "two digits": ("residual", renumbered(1, "01"), InputError, "layers numbered 2, 01,"),
    "no number": ("residual", renumbered(1, "first"), InputError, "layers numbered 2, first,"),
    "no layers": (
        "residual",
        lambda arrays: {name: arrays[name] for name in ("kind", "activation")},
        InputError,
        "layers numbered none",
    ),
}


def assert_one_line(call, kind, message, path):
    with pytest.raises(kind, match=message) as caught:
        call()
    assert str(caught.value).startswith(f"{path}: ")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("case", BAD_NETWORKS)
def test_a_bad_network_file_gets_one_line(tmp_path, case):
    kind, edit, error, message = BAD_NETWORKS[case]
    path = tmp_path / "file.npz"
    np.savez(path, **arrays_of(kind))  # pyright: ignore[reportArgumentType]
    load_network(path)
    np.savez(path, **edit(arrays_of(kind)))  # pyright: ignore[reportArgumentType]
    assert_one_line(lambda: load_network(path), error, message, path)


NO_NPZ = {
    "missing": (lambda path: None, "no such file"),
    "a folder": (lambda path: path.mkdir(), "no .npz of plain arrays"),
    "empty": (lambda path: path.write_bytes(b""), "no .npz of plain arrays"),
    "text": (lambda path: path.write_text("kind: residual"), "no .npz of plain arrays"),
    "a single array": (lambda path: path.write_bytes(npy_bytes(np.ones(3))), "no .npz of plain arrays"),
    "a pickle": (lambda path: path.write_bytes(b"\x80\x04K\x01."), "no .npz of plain arrays"),
    "a zip of text": (lambda path: zip_of(path, {"kind.npy": b"residual"}), "magic string"),
    "one name twice": (
        lambda path: zip_of(path, dict.fromkeys(["kind", "kind.npy"], npy_bytes(np.array("residual")))),
        "two arrays of one name",
    ),
    "a giant": (lambda path: zip_of(path, {"kind.npy": GIANT}), "no .npz of plain arrays"),
}


def npy_bytes(array) -> bytes:
    file = BytesIO()
    np.save(file, array)
    return file.getvalue()


def zip_of(path, members):
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in members.items():
            archive.writestr(name, content)


GIANT = npy_bytes(np.ones(3)).replace(b"(3,), }" + b" " * 11, b"(300000000000,), }")
assert len(GIANT) == len(npy_bytes(np.ones(3))) and b"(300000000000,)" in GIANT


@pytest.mark.parametrize("case", NO_NPZ)
@pytest.mark.parametrize("load", [load_network, lambda p: load_inputs(p, small_network("residual"))])
def test_no_npz_gets_one_line(tmp_path, case, load):
    make, message = NO_NPZ[case]
    path = tmp_path / "file.npz"
    make(path)
    assert_one_line(lambda: load(path), InputError, message, path)


def test_damaged_files_get_one_line_or_load_unchanged(tmp_path, seed):
    """Bytes overwritten at random: the checksums of the format see it, or it lay outside the arrays."""
    path, random = tmp_path / "file.npz", np.random.default_rng(seed)
    save_network(path, small_network("residual"))
    good, refused = path.read_bytes(), 0
    for _ in range(200):
        damaged = bytearray(good[: random.integers(1, len(good))] if random.random() < 0.2 else good)
        damaged[random.integers(len(damaged))] ^= int(random.integers(1, 256))
        path.write_bytes(bytes(damaged))
        try:
            leaves = jax.tree.leaves(load_network(path).layers)
            assert all(map(np.array_equal, leaves, jax.tree.leaves(small_network("residual").layers)))
        except UatJaxError as error:
            refused += 1
            assert str(error).startswith(f"{path}: ") and "\n" not in str(error)
    assert refused > 100


def ones(*shape, dtype="float32"):
    return {"x_0": np.ones(shape, dtype)}


BAD_INPUTS = {
    "no x_0": ("residual", {"x": np.ones((2, 3), np.float32)}, InputError, "no array 'x_0'"),
    "more arrays": ("residual", ones(2, 3) | {"y": np.ones(3)}, InputError, "superfluous array 'y'"),
    "no batch axis": ("residual", ones(3), ShapeError, r"\(3,\) for x_0, wanted \(batch, D_0 = 3\)"),
    "no token axis": (
        "transformer",
        ones(2, 4),
        ShapeError,
        r"\(2, 4\) for x_0, wanted \(batch, N, M_0 = 4\)",
    ),
    "other width": ("residual", ones(2, 4), ShapeError, r"\(2, 4\) for x_0, wanted \(batch, D_0 = 3\)"),
    "empty batch": ("residual", ones(0, 3), ShapeError, r"\(0, 3\) for x_0, wanted no empty axis"),
    "no tokens": ("transformer", ones(2, 0, 4), ShapeError, r"\(2, 0, 4\) for x_0, wanted no empty axis"),
    "other dtype": ("residual", ones(2, 3, dtype="float64"), InputError, "float64 for x_0, wanted float32"),
    "integers": ("residual", ones(2, 3, dtype="int32"), InputError, "int32 for x_0, wanted float16"),
    "object array": ("residual", ones(2, 3, dtype="object"), InputError, "allow_pickle=False"),
    "NaN": ("residual", {"x_0": np.full((2, 3), np.nan, np.float32)}, InputError, r"nan at x_0\[0, 0\]"),
}


@pytest.mark.parametrize("case", BAD_INPUTS)
def test_a_bad_input_file_gets_one_line(tmp_path, case):
    kind, arrays, error, message = BAD_INPUTS[case]
    path = tmp_path / "inputs.npz"
    np.savez(path, **arrays)
    assert_one_line(lambda: load_inputs(path, small_network(kind)), error, message, path)


def test_saving_leaves_nothing_half_written(tmp_path, monkeypatch):
    path = tmp_path / "file.npz"
    save_network(path, small_network("residual"))
    before = path.read_bytes()

    def fail(file, **arrays):
        file.write(b"half")
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", fail)
    call = lambda: save_network(path, small_network("transformer"))
    assert_one_line(call, InputError, r"cannot be written \(No space left on device\)", path)
    assert path.read_bytes() == before
    assert [file.name for file in tmp_path.iterdir()] == ["file.npz"]


def test_saving_where_it_cannot_be_gets_one_line(tmp_path):
    path = tmp_path / "nowhere" / "file.npz"
    call = lambda: save_network(path, small_network("residual"))
    assert_one_line(call, InputError, "cannot be written", path)
    half = small_network("residual", "bfloat16")
    with pytest.raises(InputError, match="got a network of bfloat16, wanted float16"):
        save_network(tmp_path / "file.npz", half)
    assert not list(tmp_path.iterdir())


# --- networks that are no networks -----------------------------------------------------------------------

RESIDUAL = small_network("residual")
TOKEN = small_network("transformer")


def changed(**arrays):
    return lambda: dataclasses.replace(RESIDUAL, layers=(RESIDUAL.layers[0]._replace(**arrays),))


BAD_CALLS = {
    "layers of the other kind": (
        lambda: dataclasses.replace(RESIDUAL, layers=TOKEN.layers),
        InputError,
        "got a TransformerLayer as layer 1, wanted a ResidualLayer",
    ),
    "no layers": (lambda: dataclasses.replace(RESIDUAL, layers=()), ShapeError, "0 layers"),
    "kind": (lambda: dataclasses.replace(RESIDUAL, kind="cnn"), InputError, "kind 'cnn'"),
    "a list for an array": (changed(b=[1.0] * 5), InputError, r"a list for layers\.1\.b, wanted an array"),
    "shapes": (changed(b=np.ones(4, np.float32)), ShapeError, r"\(4,\) for layers\.1\.b, wanted \(F_1 = 5\)"),
    "integers": (changed(b=np.ones(5, np.int32)), InputError, r"int32 for layers\.1\.b"),
    "NaN on the device": (changed(b=jnp.full(5, jnp.nan)), InputError, r"nan at layers\.1\.b\[0\]"),
    "x of other dtype": (lambda: RESIDUAL.apply(jnp.ones(3, "float16")), InputError, "x of dtype float16"),
    "x of other shape": (lambda: RESIDUAL.apply(jnp.ones(4)), ShapeError, r"\(4,\) for x"),
    "float64 without x64": (
        lambda: dataclasses.replace(
            RESIDUAL, layers=jax.tree.map(lambda array: np.asarray(array, np.float64), RESIDUAL.layers)
        ).apply(np.ones(3)),  # pyright: ignore[reportArgumentType]
        InputError,
        "x64 is off",
    ),
    "images": (
        lambda: digits.inputs("residual", np.ones((8, 8), np.float32)),
        ShapeError,
        r"\(batch, 8, 8\)",
    ),
    "grey levels": (lambda: digits.inputs("residual", np.ones((1, 8, 8), int)), InputError, "int64"),
    "outputs": (lambda: digits.predictions("transformer", jnp.ones((5, 16))), ShapeError, "3 axes"),
    "narrow outputs": (lambda: digits.predictions("residual", jnp.ones((5, 9))), ShapeError, "10 features"),
    "trained": (lambda: digits.trained("cnn"), InputError, "kind 'cnn'"),  # pyright: ignore
}


@pytest.mark.parametrize("case", BAD_CALLS)
def test_unusable_input_gets_one_line(case):
    call, kind, message = BAD_CALLS[case]
    with pytest.raises(kind, match=message) as caught:
        call()
    assert "\n" not in str(caught.value)


# --- the trained networks --------------------------------------------------------------------------------


def correct(network, images, labels) -> int:
    outputs = jax.jit(jax.vmap(network.apply))(digits.inputs(network.kind, images))
    return int(np.sum(np.asarray(digits.predictions(network.kind, outputs)) == labels))


@pytest.mark.parametrize("kind", KINDS)
def test_trained_networks_read_digits(kind):
    """A count out of 360; turned images, and a network without its first C, do far worse."""
    network, (images, labels) = digits.trained(kind), digits.held_out()
    assert correct(network, images, labels) >= 0.95 * len(labels)
    assert correct(network, images[:, ::-1], labels) < 0.7 * len(labels)
    first, *rest = network.layers
    lost = {"residual": "C", "transformer": "project"}[kind]
    lesser = first._replace(**{lost: np.zeros_like(getattr(first, lost))})
    assert correct(dataclasses.replace(network, layers=(lesser, *rest)), images, labels) < 0.9 * len(labels)


@pytest.mark.parametrize("kind", one_in(2, KINDS))
def test_predictions_are_read_off_in_a_loop(kind):
    network, (images, _) = digits.trained(kind), digits.held_out()
    outputs = jax.jit(jax.vmap(network.apply))(digits.inputs(kind, images[:20]))
    for output, digit in zip(np.asarray(outputs), digits.predictions(kind, outputs), strict=True):
        features = output if kind == "residual" else np.mean(output, axis=0)
        assert digit == max(range(10), key=lambda k: features[k])


def test_inputs_of_the_networks_are_pixels_and_positions():
    images, labels = digits.held_out()
    flat, tokens = digits.inputs("residual", images), digits.inputs("transformer", images)
    assert images.shape == (360, 8, 8) and labels.shape == (360,)
    assert images.dtype == flat.dtype == tokens.dtype == np.float32
    assert images.min() == 0 and images.max() == 1 and set(labels.tolist()) == set(range(10))
    for n in (0, 7, 359):
        for row in range(8):
            assert np.array_equal(flat[n, 8 * row : 8 * row + 8], images[n, row])
            assert np.array_equal(tokens[n, row, :8], images[n, row])
            assert [float(entry) for entry in tokens[n, row, 8:]] == [float(row == k) for k in range(8)]


def test_trained_networks_are_of_the_stated_form():
    residual, token = digits.trained("residual"), digits.trained("transformer")
    assert residual.dtype == token.dtype == np.float32
    widths = [residual.sizes[f"D_{j}"] for j in range(4)]
    assert len(set(widths)) == 4 and widths[0] == 64 and widths[-1] == 10
    assert token.activation == "gelu" and token.sizes["M_0"] == 16
    for network in (residual, token):
        assert len(network.layers) == 3
        assert len({network.sizes[f"F_{j}"] for j in (1, 2, 3)}) == 3
    assert all(token.sizes[f"h_{j}"] == 2 for j in (1, 2, 3))


def test_data_files_are_small():
    sizes = [len(file.read_bytes()) for file in (files("uat_jax.networks") / "data").iterdir()]
    assert len(sizes) == 3 and max(sizes) <= 200_000


def test_split_is_seeded_and_leaves_no_image_out():
    trained_on, held_out = train_digits.split()
    assert (len(trained_on), len(held_out)) == (1437, 360)
    assert sorted([*trained_on.tolist(), *held_out.tolist()]) == list(range(1797))
    assert np.array_equal(train_digits.split()[1], held_out)
    assert not np.array_equal(train_digits.split(seed=1)[1], held_out)


def test_held_out_images_are_those_of_the_split():
    pytest.importorskip("sklearn", reason="scikit-learn, the source of the images, is not installed")
    images, labels = train_digits.load_images()
    (trained_on, held_out), (shipped, shipped_labels) = train_digits.split(), digits.held_out()
    assert np.array_equal(digits.scaled(images[held_out]), shipped)
    assert np.array_equal(labels[held_out], shipped_labels)
    assert not np.array_equal(digits.scaled(images[trained_on][:360]), shipped)


@pytest.mark.campaign
def test_training_learns(monkeypatch):
    """Twelve epochs on the held-out images: most are then read, as they were not before."""
    pytest.importorskip("optax", reason="optax is not installed")
    monkeypatch.setattr(train_digits, "EPOCHS", {"residual": 12})
    images, labels = digits.held_out()
    with jax.numpy_dtype_promotion("standard"), jax.numpy_rank_promotion("allow"):  # optax, not ours
        network = train_digits.train("residual", images, labels)
    before = Network("residual", train_digits.ACTIVATION, train_digits.initial_layers("residual"))
    assert train_digits.correct(network, images, labels) == correct(network, images, labels)
    assert correct(network, images, labels) > 180 > correct(before, images, labels)


@pytest.mark.parametrize("module", ["optax", "sklearn.datasets"])
def test_training_without_its_packages_gets_one_line(monkeypatch, capsys, tmp_path, module):
    if module == "optax":
        monkeypatch.setattr(train_digits, "load_images", lambda: (np.zeros((1797, 8, 8)), np.zeros(1797)))
    monkeypatch.setitem(sys.modules, module, None)
    assert train_digits.main(["--out", str(tmp_path)]) == 2
    assert capsys.readouterr().err == (f"got no {module}, wanted it for training; run pip install 'uat_jax[train]'\n")
    assert not list(tmp_path.iterdir())


def test_training_into_no_folder_gets_one_line(capsys, tmp_path):
    assert train_digits.main(["--out", str(tmp_path / "nowhere")]) == 2
    assert capsys.readouterr().err == f"got --out {tmp_path / 'nowhere'}, wanted a folder; make it first\n"
