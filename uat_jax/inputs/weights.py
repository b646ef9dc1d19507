"""Where the weights of one program are among those of another: written as text, checked, and proposed."""

from __future__ import annotations

import difflib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
from jax.tree_util import DictKey, FlattenedIndexKey, GetAttrKey, SequenceKey, tree_flatten_with_path

from uat_jax.errors import InputError
from uat_jax.inputs.program import Program
from uat_jax.typing import Array, PyTree

STEP = re.compile(r"\.T|\.transpose\([\d, ]*\)|\.reshape\([-\d, ]*\)|\[[-\d:, ]*\]")
"""What may follow a path, any number of times."""

WANTED = "write a path such as params/q/kernel, then .T, .transpose(3,2,0,1), .reshape(4,-1) or [0:4]"

Where = Any  # Any: what a file of JSON or a caller has there is checked when it is read
"""A place: a text, a list of them that are joined along the first axis, or {"of": [...], "axis": 1}."""


@dataclass(frozen=True)
class Place:
    """A path in a tree of weights, and what is done to the array there.

    Example:
        >>> Place.parse("params/q/kernel.T")(tree)    # tree["params"]["q"]["kernel"].T
    """

    path: str
    steps: tuple[str, ...]

    @classmethod
    def parse(cls, text: str) -> Place:
        """The place that a text describes.

        Raises:
            InputError: it is empty, or not of this form.
        """
        steps: list[str] = []
        while match := re.search(f"(?:{STEP.pattern})$", text):
            steps.insert(0, match[0])
            text = text[: match.start()]
        if not text or re.search(r"[()\[\]]", text):
            raise InputError(f"got {text + ''.join(steps)!r} for a place of a weight; {WANTED}")
        return cls(text, tuple(steps))

    def __call__(self, leaves: Mapping[str, PyTree]) -> PyTree:
        """The array there.

        Raises:
            InputError: there is none; names the nearest paths.
        """
        if self.path not in leaves:
            raise InputError(f"there is no weight at {self.path!r}{nearest(self.path, leaves)}")
        array = leaves[self.path]
        for step in self.steps:
            try:
                array = _applied(step, array)
            except (TypeError, ValueError, IndexError) as error:
                shape = list(array.shape)
                raise InputError(f"{step} does not fit {self.path!r} of shape {shape}: {error}") from error
        return array


def _applied(step: str, array: Array) -> Any:
    """A step after a path, applied to an array."""
    if step == ".T":
        return array.T
    numbers = [int(n) for n in re.findall(r"-?\d+", step)]
    if step.startswith(".transpose"):
        return array.transpose(numbers)
    if step.startswith(".reshape"):
        return array.reshape(numbers)
    return array[tuple(_index(part.strip()) for part in step[1:-1].split(","))]


def _index(text: str) -> int | slice:
    parts = [int(part) if part.strip() else None for part in text.split(":")]
    return slice(*parts) if len(parts) > 1 else int(text)


def nearest(name: str, among: Mapping[str, Any] | Sequence[str]) -> str:
    """'; did you mean …?', or what there is."""
    close = difflib.get_close_matches(name, list(among), n=3, cutoff=0.5)
    return f"; did you mean {' or '.join(close)}?" if close else f"; there are {', '.join(list(among)[:8])}"


def leaves_of(tree: PyTree) -> dict[str, Any]:
    """Path → leaf, the keys of a path joined by "/"."""
    return {"/".join(map(_key, path)): leaf for path, leaf in tree_flatten_with_path(tree)[0]}


def _key(key: Any) -> str:
    if isinstance(key, DictKey | FlattenedIndexKey):
        return str(key.key)
    return str(key.idx) if isinstance(key, SequenceKey) else key.name if isinstance(key, GetAttrKey) else str(key)


def found(where: Where, leaves: Mapping[str, PyTree]) -> Any:
    """The array at a place, or the arrays at several, joined.

    Raises:
        InputError: what `Place` raises; arrays that cannot be joined.
    """
    if isinstance(where, str):
        return Place.parse(where)(leaves)
    axis, of = (where.get("axis", 0), where.get("of")) if isinstance(where, Mapping) else (0, where)
    if not isinstance(of, list | tuple) or not of:
        raise InputError(
            f'got {where!r} for a place of a weight; {WANTED}, a list of them, or {{"of": […], "axis": 1}}'
        )
    parts = [found(part, leaves) for part in of]
    try:
        return jnp.concatenate(parts, axis)
    except (TypeError, ValueError) as error:
        shapes = ", ".join(str(list(part.shape)) for part in parts)
        raise InputError(f"arrays of shapes {shapes} cannot be joined along axis {axis}") from error


def renamed(program: Program, weights: Mapping[str, Where], tree: PyTree) -> Program:
    """A program whose first argument is another tree of weights.

    Args:
        program: one whose first argument is a dictionary of weights, as `read_torch` returns it.
        weights: name → where it is in the tree.
        tree: the specs of the tree.

    Raises:
        InputError: a name that the program has not, or one that is left out; a path that the tree has not; another
            shape.  Names the nearest candidate.
    """
    if tree is None:
        raise InputError("got weights and no specs; pass the specs of the function whose weights they name")
    for name in weights:
        if name not in program.weights:
            raise InputError(f"{program.__module__} has no weight {name!r}{nearest(name, program.weights)}")
    if missing := [name for name in program.weights if name not in weights]:
        raise InputError(f"weights do not say where {missing[0]!r} is{_more(missing)}; match_weights proposes places")
    collect = lambda tree: {name: found(where, leaves_of(tree)) for name, where in weights.items()}
    for name, got in jax.eval_shape(collect, _floats(tree)).items():
        _check_shape(program, name, weights[name], got, tree)

    def function(tree: PyTree, *inputs: PyTree) -> PyTree:
        return program.function(collect(tree), *inputs)

    return Program(
        function,
        (tree, *program.specs[1:]),
        name=program.__module__,
        readings=program.readings,
        weights=program.weights,
    )


def _more(names: Sequence[str]) -> str:
    return f" and {len(names) - 1} more" if len(names) > 1 else ""


def _floats(tree: PyTree) -> Any:
    """The specs of a tree, without what else they say."""
    return jax.tree.map(lambda leaf: jax.ShapeDtypeStruct(leaf.shape, leaf.dtype), tree)


def _check_shape(program: Program, name: str, where: Where, got: Any, tree: PyTree) -> None:
    wanted = program.weights[name]
    if got.shape == wanted.shape:
        return
    fitting = [p for p, leaf in leaves_of(tree).items() if sorted(leaf.shape) == sorted(wanted.shape)]
    turned = (
        "; write .T after it" if got.shape[::-1] == wanted.shape else f"; of that size are {', '.join(fitting[:4])}"
    )
    raise InputError(
        f"the weight {name!r} has shape {list(wanted.shape)}, and {where!r} has {list(got.shape)}"
        f"{turned if fitting or got.shape[::-1] == wanted.shape else ''}"
    )
