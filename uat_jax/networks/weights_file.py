"""Networks and inputs in files: one ``.npz`` format for both kinds of network.

A weights file holds

- ``kind``        a string, ``residual`` or ``transformer``;
- ``activation``  a string, one of `uat_jax.networks.ACTIVATIONS`;
- ``layers.1.A``, ``layers.1.B``, ``layers.1.C``, ``layers.1.b``, ``layers.1.c``, then ``layers.2.A``, … for
  a residual network (shapes in `ResidualLayer`);
- ``layers.1.query``, ``key``, ``value``, ``output``, ``hidden``, ``hidden_bias``, ``project``,
  ``project_bias``, then ``layers.2.query``, … for a Transformer (shapes in `TransformerLayer`).

Layers are counted from 1; all arrays are of one dtype: float16, float32 or float64 (NumPy's format has no
bfloat16); nothing else is in the file. An input file holds one array ``x_0`` of that dtype, (batch, D_0) or
(batch, N, M_0). ``numpy.savez`` writes both. Files are never unpickled.
"""

import os
import zipfile
from collections.abc import Iterable, Mapping
from pathlib import Path
from uuid import uuid4

import numpy as np

from uat_jax.errors import InputError, ShapeError
from uat_jax.networks.network import Network, check_numbers, kind_named
from uat_jax.networks.shapes import bind_shape
from uat_jax.typing import PyTree

FILE_DTYPES = ("float16", "float32", "float64")

FilePath = str | os.PathLike[str]


def load_network(path: FilePath) -> Network:
    """The network in the weights file `path`, with NumPy arrays in the file's own dtype.

    Raises `InputError` or `ShapeError`, one line with the path and the name of the array, for every file that
    is not of the format above: missing, no ``.npz``, pickled, an array missing, superfluous, misshapen,
    empty, not finite, not floating or of another dtype than the rest, layers not numbered 1, 2, ….
    """
    arrays = _read_arrays(path)
    try:
        return _network_from(arrays)
    except (InputError, ShapeError) as error:
        raise type(error)(f"{path}: {error}") from None


def save_network(path: FilePath, network: Network) -> None:
    """Write `network` to `path`, whole or not at all: a temporary file beside it, then one renaming.

    The same network gives the same bytes. Raises `InputError` for bfloat16, which ``.npz`` cannot hold, and
    for a path that cannot be written.
    """
    if network.dtype.name not in FILE_DTYPES:
        raise InputError(f"got a network of {network.dtype}, wanted {', '.join(FILE_DTYPES)}; cast it first")
    arrays = {name: np.asarray(array) for name, array in network.arrays().items()}
    save_arrays(path, {"kind": np.array(network.kind), "activation": np.array(network.activation)} | arrays)


def load_inputs(path: FilePath, network: Network) -> np.ndarray:
    """The batch ``x_0`` of inputs for `network` in the file `path`: (batch, D_0) or (batch, N, M_0).

    Raises `InputError` or `ShapeError`, one line with the path, for a file without ``x_0`` or with other
    arrays, and for a batch that is empty, misshapen, not finite or not of the network's dtype.
    """
    arrays = _read_arrays(path)
    try:
        _check_names(arrays, ["x_0"])
        axes = ("batch", *kind_named(network.kind).input_axes)
        bind_shape("x_0", arrays["x_0"].shape, axes, network.sizes)
        check_file_dtype("x_0", arrays["x_0"])
        check_numbers("x_0", arrays["x_0"], network.dtype)
    except (InputError, ShapeError) as error:
        raise type(error)(f"{path}: {error}") from None
    return arrays["x_0"]


def save_arrays(path: FilePath, arrays: Mapping[str, np.ndarray]) -> None:
    """Write `arrays` as ``.npz`` to exactly `path`, whole or not at all; `InputError` if it cannot be."""
    path = Path(path)
    temporary = path.with_name(f".{path.name}.{uuid4().hex}")
    try:
        with open(temporary, "xb") as file:
            np.savez(file, **arrays)  # pyright: ignore[reportArgumentType]
        os.replace(temporary, path)
    except OSError as error:
        reason = error.strerror or type(error).__name__
        raise InputError(f"{path}: cannot be written ({reason}); choose another path") from None
    finally:
        temporary.unlink(missing_ok=True)


def _network_from(arrays: Mapping[str, np.ndarray]) -> Network:
    kind = _string(arrays, "kind")
    activation = _string(arrays, "activation")
    layer, count = kind_named(kind).layer, _layer_count(arrays)
    wanted = {number: [f"layers.{number}.{field}" for field in layer._fields] for number in range(1, count + 1)}
    names = ["kind", "activation", *(name for row in wanted.values() for name in row)]
    _check_names(arrays, names)
    layers: PyTree = tuple(layer._make(arrays[name] for name in row) for row in wanted.values())
    for name in names[2:]:
        check_file_dtype(name, arrays[name])
    return Network(kind, activation, layers)  # pyright: ignore[reportArgumentType]


def check_file_dtype(name: str, array: np.ndarray) -> None:
    """Raise `InputError` unless the dtype of `array` is one of `FILE_DTYPES`."""
    if array.dtype.name not in FILE_DTYPES:
        raise InputError(f"got dtype {array.dtype} for {name}, wanted {', '.join(FILE_DTYPES)}; cast that array")


def _string(arrays: Mapping[str, np.ndarray], name: str) -> str:
    _check_present(arrays, name)
    array = arrays[name]
    if array.shape != () or array.dtype.kind != "U":
        raise InputError(f"got {name} of dtype {array.dtype} and shape {array.shape}, wanted one string")
    return str(array)


def _layer_count(arrays: Iterable[str]) -> int:
    """L, if the numbers n of the names ``layers.n.field`` are 1, …, L and L ≥ 1."""
    numbers = {name.split(".")[1] for name in arrays if name.startswith("layers.")}
    wanted = {str(number) for number in range(1, len(numbers) + 1)}
    if not numbers or numbers != wanted:
        got = ", ".join(sorted(numbers, key=lambda n: (len(n), n))) or "none"
        raise InputError(f"got layers numbered {got}, wanted 1, 2, 3, … without a gap; rename the arrays")
    return len(numbers)


def _check_names(arrays: Mapping[str, np.ndarray], wanted: Iterable[str]) -> None:
    wanted = list(wanted)
    for name in wanted:
        _check_present(arrays, name)
    superfluous = sorted(set(arrays) - set(wanted))
    if superfluous:
        raise InputError(f"got the superfluous array {superfluous[0]!r}, wanted no other names; remove it")


def _check_present(arrays: Mapping[str, np.ndarray], name: str) -> None:
    if name not in arrays:
        raise InputError(f"got no array {name!r}, wanted one; add it to the file")


def _read_arrays(path: FilePath) -> dict[str, np.ndarray]:
    """Every array of the ``.npz`` file `path` in native byte order; `InputError` if it is no such file."""
    try:
        with zipfile.ZipFile(path) as archive:
            names = archive.namelist()
            arrays = {name.removesuffix(".npy"): _read_member(archive, name) for name in names}
    except FileNotFoundError:
        raise InputError(f"{path}: got no such file, wanted an .npz file; check the path") from None
    except Exception as error:  # whatever zipfile and NumPy trip over in a foreign or damaged file
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InputError(f"{path}: got no .npz of plain arrays ({reason}); write it with numpy.savez") from None
    if len(arrays) != len(names):
        raise InputError(f"{path}: got two arrays of one name, wanted each name once; write it with numpy.savez")
    return arrays


def _read_member(archive: zipfile.ZipFile, name: str) -> np.ndarray:
    with archive.open(name) as file:
        array = np.lib.format.read_array(file, allow_pickle=False)
    return np.asarray(array, dtype=array.dtype.newbyteorder("="), order="C")
