"""Snapshots: what a function computes, as a file that a later version of the function is compared with.

    {"schema": "uat_jax/snapshot", "version": 1, "arguments": tree, "inputs": [type, ...], "outputs": tree,
     "jaxprs": [jaxpr, ...]}

A tree is the place of a leaf, null, {"list": [tree, ...]}, {"tuple": [tree, ...]} or {"dict": {name: tree, ...}}; of
other containers the leaves are kept, {"leaves": [place, ...], "of": text}, and what was returned comes back as a tuple.
A type is [dtype, shape], and of an integer array whose values count a digest of them as well.  The jaxprs are written
as `uat_jax.interpret.jaxpr_file` says.  No versions, times, paths or lines stand in a snapshot: it changes where the
program does.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import jax
import numpy as np
from jax.core import ShapedArray, Tracer
from jax.extend.core import ClosedJaxpr, jaxpr_as_fun

from uat_jax.errors import InputError
from uat_jax.inputs.program import Program
from uat_jax.interpret.concrete import is_keys
from uat_jax.interpret.inlining import inlined
from uat_jax.interpret.jaxpr_file import decode, encode
from uat_jax.interpret.jaxpr_values import decode_type, encode_type
from uat_jax.strict_json import is_deeper, parsed
from uat_jax.typing import PyTree

SCHEMA, VERSION = "uat_jax/snapshot", 1

FILE_BYTES = 2**25
"""How long a snapshot may be."""

DEPTH = 64
"""How deep lists and objects may lie in each other in a snapshot."""

FIELDS = frozenset(["schema", "version", "arguments", "inputs", "outputs", "jaxprs"])


def snapshot(program: ClosedJaxpr, arguments: PyTree, outputs: PyTree, variable: Sequence[bool]) -> str:
    """The text of a snapshot.

    Args:
        program: of the leaves of the arguments that are variables, in order.
        arguments: a pytree of arrays or of `jax.ShapeDtypeStruct`.
        outputs: a pytree of `jax.ShapeDtypeStruct`, the leaves being the program's outputs.
        variable: of every leaf of the arguments whether it is an input of the program; others have fixed values.

    Raises:
        InputError: a dimension is symbolic.
        UnsupportedError: the program cannot be written.
    """
    leaves = jax.tree.leaves(arguments)
    if any(jax.export.is_symbolic_dim(size) for leaf in leaves for size in np.shape(leaf)):
        raise InputError("got a symbolic dimension for a snapshot; pass specs whose sizes are numbers")
    data = {
        "schema": SCHEMA,
        "version": VERSION,
        "arguments": _tree(arguments),
        "inputs": [_type(leaf, varies) for leaf, varies in zip(leaves, variable, strict=True)],
        "outputs": _tree(outputs),
        "jaxprs": encode(program)["jaxprs"],
    }
    return json.dumps(data, indent=1) + "\n"


def read_snapshot(path: str | Path) -> Program:
    """The program in a snapshot, which the fixture `unchanged` has written.

    Args:
        path: of the file, such as snapshots/test_model.test_forward.snapshot.json.

    Returns:
        A function of the arguments that the snapshot was taken with, which refuses others.

    Raises:
        InputError: there is no such file, it is damaged, or of a later version.

    Example:
        >>> before = uj.read_snapshot("snapshots/test_model.test_forward.snapshot.json")
        >>> uj.assert_equivalent(before, forward, *specs)
    """
    path = Path(path)
    data = _read(path)
    inputs, expected = data["inputs"], data["arguments"]
    lines = [[""] * len(jaxpr["equations"]) for jaxpr in data["jaxprs"]]
    program = decode({"jaxprs": data["jaxprs"], "lines": lines})
    if len(program.in_avals) != sum(len(kind) == 2 for kind in inputs):
        raise _damaged(path, "its program has other inputs")
    if len(program.out_avals) != len(list(_places(data["outputs"]))):
        raise _damaged(path, "its program has other outputs")

    fixed, run = [len(kind) == 3 for kind in inputs], jaxpr_as_fun(inlined(program))

    def function(*arguments: PyTree) -> PyTree:
        leaves = jax.tree.leaves(arguments)
        given = [_type(leaf, not kept) for leaf, kept in zip(leaves, fixed, strict=False)]
        if len(leaves) != len(inputs) or _tree(arguments) != expected or given != inputs:
            raise InputError(
                f"{path.name} was taken with {_text(inputs)}, and the arguments are {_text(list(map(_type, leaves)))}, "
                "or have other values, or lie in other containers; take it again, or pass what it was taken with"
            )
        return _built(data["outputs"], run(*(x for x, kept in zip(leaves, fixed, strict=True) if not kept)))

    return Program(function, _specs(data), name=str(path), source=f"uj.read_snapshot({str(path)!r})")


def _specs(data: Any) -> tuple[PyTree, ...]:
    """The arguments, if the file says all of them: none has fixed values, and their containers are kept."""
    if any(len(kind) == 3 for kind in data["inputs"]):
        return ()
    types = map(decode_type, data["inputs"])
    specs = _built(data["arguments"], [jax.ShapeDtypeStruct(of.shape, of.dtype) for of in types])
    return specs if _tree(specs) == data["arguments"] else ()


def _type(leaf: PyTree, varies: bool = True) -> list[Any]:
    """The dtype and the shape, and of fixed values a digest; a variable has none."""
    kind = encode_type(ShapedArray(np.shape(leaf), leaf.dtype))
    if varies or isinstance(leaf, Tracer):
        return kind
    with jax.ensure_compile_time_eval():
        values = jax.random.key_data(leaf) if is_keys(leaf) else leaf
    return [*kind, hashlib.sha256(np.ascontiguousarray(values).tobytes()).hexdigest()[:16]]


def _text(kinds: Sequence[Sequence[Any]]) -> str:
    return ", ".join(f"{dtype}{shape}" for dtype, shape, *_ in kinds) or "nothing"


def _tree(tree: PyTree) -> Any:
    """The containers of a pytree as data, with the places of its leaves."""
    leaves, structure = jax.tree.flatten(tree)
    return _described(jax.tree.unflatten(structure, range(len(leaves))), str(structure))


def _described(tree: PyTree, text: str) -> Any:
    if tree is None or type(tree) is int:
        return tree
    if type(tree) in (list, tuple):
        return {type(tree).__name__: [_described(part, text) for part in tree]}
    if type(tree) is dict and all(type(name) is str for name in tree):
        return {"dict": {name: _described(tree[name], text) for name in sorted(tree)}}
    return {"leaves": jax.tree.leaves(tree), "of": text}


def _built(tree: PyTree, leaves: Sequence[PyTree]) -> Any:
    """The containers with leaves in their places; of containers that are not kept a tuple of the leaves."""
    if tree is None:
        return None
    if isinstance(tree, int):
        return leaves[tree]
    if "dict" in tree:
        return {name: _built(part, leaves) for name, part in tree["dict"].items()}
    if "list" in tree:
        return [_built(part, leaves) for part in tree["list"]]
    if "tuple" in tree:
        return tuple(_built(part, leaves) for part in tree["tuple"])
    return tuple(leaves[place] for place in tree["leaves"])


def _places(tree: PyTree) -> Iterator[int]:
    """The places of the leaves of a tree, in order.  Raises `ValueError` if it is none."""
    if type(tree) is int:
        yield tree
    elif isinstance(tree, dict) and set(tree) == {"dict"} and isinstance(tree["dict"], dict):
        yield from (place for part in tree["dict"].values() for place in _places(part))
    elif isinstance(tree, dict) and set(tree) in ({"list"}, {"tuple"}) and isinstance([*tree.values()][0], list):
        yield from (place for part in [*tree.values()][0] for place in _places(part))
    elif isinstance(tree, dict) and set(tree) == {"leaves", "of"} and isinstance(tree["leaves"], list):
        yield from (place for part in tree["leaves"] for place in _places(part))
    elif tree is not None:
        raise ValueError("no tree")


def _read(path: Path) -> Any:
    """The data of a snapshot.  Raises what `read_snapshot` raises; the jaxprs are checked where they are decoded."""
    try:
        with path.open("rb") as file:
            content = file.read(FILE_BYTES + 1)
        if len(content) > FILE_BYTES:
            raise _damaged(path, f"it has more than {FILE_BYTES} bytes")
        data = parsed(content)
        if is_deeper(data, DEPTH):
            raise _damaged(path, "it is nested too deeply")
        if not isinstance(data, dict) or data.get("schema") != SCHEMA:
            raise _damaged(path, f"its schema is not {SCHEMA}")
        if type(data.get("version")) is int and data["version"] > VERSION:
            version = data["version"]
            raise InputError(f"{path} is of version {version}, and this uat_jax reads {VERSION}; install a newer one")
        if set(data) != FIELDS or data["version"] != VERSION:
            raise _damaged(path, f"it has not the fields {', '.join(sorted(FIELDS))}")
        for name, count in (("arguments", len(data["inputs"])), ("outputs", None)):
            places = list(_places(data[name]))
            if places != list(range(len(places))) or count not in (None, len(places)):
                raise ValueError(name)
        for dtype, shape, *digest in data["inputs"]:
            if not all(type(size) is int for size in shape) or len(digest) > 1:
                raise ValueError("type")
            _check_type(dtype, shape)
        for jaxpr in data["jaxprs"]:
            len(jaxpr["equations"])
    except InputError:
        raise
    except OSError as error:
        raise InputError(
            f"cannot read the snapshot {path}: {error.strerror}; take it with pytest --uat-update"
        ) from None
    except (ValueError, TypeError, KeyError, RecursionError) as error:
        raise _damaged(path, str(error).splitlines()[0][:80] if str(error) else type(error).__name__) from None
    return data


def _check_type(dtype: Any, shape: Any) -> None:
    """Raises `ValueError` if a type is none that this package writes."""
    try:
        decode_type([dtype, shape])
    except InputError:
        raise ValueError(f"{dtype!r} is no dtype") from None


def _damaged(path: Path, reason: str) -> InputError:
    return InputError(f"{path} is no snapshot: {reason}; take it again with pytest --uat-update")
