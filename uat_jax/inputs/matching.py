"""Which weight of one program is which of another: proposed from names and shapes, and confirmed by values."""

from __future__ import annotations

import difflib
import itertools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import jax
import numpy as np

from uat_jax.errors import InputError
from uat_jax.inputs.program import Program
from uat_jax.inputs.weights import Where, found, leaves_of
from uat_jax.typing import PyTree

SYNONYMS = {
    **dict.fromkeys("kernel w scale embedding gamma g weights".split(), "weight"),
    **dict.fromkeys("b beta".split(), "bias"),
    **dict.fromkeys("query wq".split(), "q"),
    **dict.fromkeys("key wk".split(), "k"),
    **dict.fromkeys("value wv".split(), "v"),
    **dict.fromkeys("output wo o dense".split(), "out"),
    **dict.fromkeys("norm layernorm layer_norm rmsnorm ln_1".split(), "ln"),
    **dict.fromkeys("layers blocks h block layer".split(), "layer"),
}
"""Words of names → one of those that mean the same."""

WRAPPERS = frozenset("params variables model module transformer batch_stats proj self".split())
"""Words that say nothing."""

FUSED = (("q", "k", "v"), ("gate", "up"), ("k", "v"))
"""Weights that are often one array, in their order."""

LEAST = 0.25
"""Names that are less alike than this are not proposed for each other, unless values say so."""


@dataclass(frozen=True)
class Matching:
    """A proposal of where each weight is.

    Attributes:
        weights: name → place, to be passed to `certify` as `weights`.
        left_over: names for which no place was found.
        unused: paths that no name was found for.
        guessed: names whose shape fits in several ways, such as square matrices, where no values decide.
        confirmed: whether the values at every place are those of the name.
    """

    weights: dict[str, Where]
    left_over: tuple[str, ...]
    unused: tuple[str, ...]
    guessed: tuple[str, ...]
    confirmed: bool

    def __str__(self) -> str:
        width = max(map(len, self.weights), default=0)
        lines = [
            f"{name:{width}}  {where}{'  (a guess)' * (name in self.guessed)}" for name, where in self.weights.items()
        ]
        lines += [f"left over: {name}" for name in self.left_over]
        lines += [f"unused: {path}" for path in self.unused]
        return "\n".join([*lines, "confirmed by values" if self.confirmed else "not confirmed by values"])


def match_weights(left: PyTree, right: PyTree) -> Matching:
    """Propose where the weights of a program are in a tree of another one's.

    Args:
        left: what `read_torch` returned, a `torch.nn.Module`, or a dictionary of arrays or specs by name.
        right: a pytree of arrays or `jax.ShapeDtypeStruct`s.  Where both sides have values, as of one checkpoint, they
            decide: only places are proposed whose values are equal.

    Returns:
        A `Matching`, whose `weights` can be corrected and passed to `certify`.

    Example:
        >>> uj.match_weights(torch.nn.Linear(3, 2), {"params": {"kernel": kernel, "bias": bias}}).weights
        {'weight': 'params/kernel.T', 'bias': 'params/bias'}

    Raises:
        InputError: one side has no weights.
    """
    names, leaves = _weights(left), leaves_of(right)
    if not names or not leaves:
        raise InputError("got no weights on one side; pass a program with weights, and a tree of arrays or specs")
    taken: dict[str, set[Any]] = {}
    weights: dict[str, Where] = {}
    candidates = sorted(_candidates(names, leaves), key=lambda c: -c.score)
    for candidate in candidates:
        if candidate.name not in weights and candidate.free(taken):
            weights[candidate.name] = candidate.where
            for path in candidate.paths:
                taken.setdefault(path, set()).add(candidate.part)
    ways = {name: [c for c in candidates if c.name == name and c.where != weights[name]] for name in weights}
    alike = lambda a, b: _paths(a) == _paths(b)
    confirmed = not (set(names) - set(weights)) and all(map(_has_values, (*names.values(), *leaves.values())))
    guessed = (
        [n for n, others in ways.items() if any(alike(c.where, weights[n]) for c in others)] if not confirmed else []
    )
    return Matching(
        {name: weights[name] for name in names if name in weights},
        tuple(name for name in names if name not in weights),
        tuple(path for path in leaves if path not in taken),
        tuple(guessed),
        confirmed,
    )


def _weights(left: PyTree) -> dict[str, Any]:
    if isinstance(left, Program):
        return dict(left.weights)
    if isinstance(left, Mapping):
        return dict(left)
    if callable(getattr(left, "named_parameters", None)):
        every = {**dict(left.named_parameters()), **dict(left.named_buffers())}
        kept = {n: of.detach().cpu().float().numpy() for n, of in every.items() if of.is_floating_point()}
        return {name: array for name, array in kept.items() if name in left.state_dict()}
    raise InputError(f"got a {type(left).__name__} for weights; pass a program, a torch.nn.Module or a dictionary")


def _has_values(leaf: PyTree) -> bool:
    return not isinstance(leaf, jax.ShapeDtypeStruct) and hasattr(leaf, "__array__")


@dataclass(frozen=True)
class _Candidate:
    """A place with the shape of a weight, and how much speaks for it; `part` of the arrays at `paths`, () for all."""

    name: str
    where: Where
    paths: tuple[str, ...]
    part: tuple[Any, ...]
    score: float

    def free(self, taken: Mapping[str, set[Any]]) -> bool:
        """Whether no other weight has taken the place yet, or a part of it."""
        held = [taken.get(path, set()) for path in self.paths]
        return all(not of or (self.part and () not in of and self.part not in of) for of in held)


def _paths(where: Where) -> list[str]:
    return [re.sub(r"(\.T|\.transpose\(.*\)|\.reshape\(.*?\)|\[[^\]]*\])+$", "", str(where))]


def _candidates(names: Mapping[str, object], leaves: Mapping[str, PyTree]) -> Iterator[_Candidate]:
    """All places with the right shape, and with the right values where they are known."""
    for name, leaf in names.items():
        for where, paths, part, bonus in itertools.chain(_single(name, leaf, leaves), _joined(name, leaf, leaves)):
            known = _has_values(leaf) and all(_has_values(leaves[path]) for path in paths)
            alike = max(likeness(name, path) for path in paths)
            if known and not np.array_equal(np.asarray(found(where, leaves)), np.asarray(leaf)):
                continue
            if known or alike >= LEAST:
                yield _Candidate(name, where, paths, part, alike + bonus)


def _single(
    name: str, leaf: PyTree, leaves: Mapping[str, PyTree]
) -> Iterator[tuple[Where, tuple[str, ...], tuple, float]]:
    """Places in one array: all of it, one layer of it, or one of several weights that it joins."""
    wanted = tuple(leaf.shape)
    for path, other in leaves.items():
        shape = tuple(other.shape)
        for way, bonus in _ways(shape, wanted, path):
            yield f"{path}{way}", (path,), (), bonus
        for number in _numbers(name):
            if len(shape) == len(wanted) + 1 and number < shape[0] and not _numbers(path):
                for way, bonus in _ways(shape[1:], wanted, path):
                    yield f"{path}[{number}]{way}", (path,), ("layer", number), bonus - 0.05
        yield from _parts(name, wanted, path, shape)


def _parts(
    name: str, wanted: tuple[int, ...], path: str, shape: tuple[int, ...]
) -> Iterator[tuple[Where, tuple[str, ...], tuple, float]]:
    """One of several weights that an array joins along an axis."""
    for axis, size in enumerate(shape):
        for among in FUSED:
            place = next((among.index(word) for word in _words(name) if word in among), None)
            if place is None or size % len(among):
                continue
            length = size // len(among)
            cut = ":, " * axis + f"{place * length}:{(place + 1) * length}"
            left = tuple(length if i == axis else n for i, n in enumerate(shape))
            for way, bonus in _ways(left, wanted, path):
                yield f"{path}[{cut}]{way}", (path,), ("part", place, len(among)), bonus - 0.1


def _joined(
    name: str, leaf: PyTree, leaves: Mapping[str, PyTree]
) -> Iterator[tuple[Where, tuple[str, ...], tuple, float]]:
    """Several arrays that a weight joins along its first axis."""
    wanted = tuple(leaf.shape)
    for among in FUSED:
        if not wanted or wanted[0] % len(among):
            continue
        part = (wanted[0] // len(among), *wanted[1:])
        for path in leaves:
            words = _words(path)
            if among[0] not in words:
                continue
            paths = tuple(filter(None, (_sibling(path, among[0], word, leaves) for word in among)))
            if len(set(paths)) < len(among):
                continue
            for way, bonus in _ways(tuple(leaves[path].shape), part, path):
                if all(tuple(leaves[p].shape) == tuple(leaves[path].shape) for p in paths):
                    yield [f"{p}{way}" for p in paths], paths, (), bonus + 0.2


def _sibling(path: str, word: str, other: str, leaves: Mapping[str, PyTree]) -> str | None:
    """The path that says another word in the same place."""
    wanted = [other if w == word else w for w in _words(path, every=True)]
    return next((p for p in leaves if _words(p, every=True) == wanted), None)


def _ways(shape: tuple[int, ...], wanted: tuple[int, ...], path: str) -> Iterator[tuple[str, float]]:
    """How an array becomes one of another shape, with how usual that is."""
    is_kernel = re.split(r"[/.]", path)[-1] in ("kernel", "w")
    if shape == wanted:
        yield "", 0.0 if is_kernel and len(shape) > 1 else 0.1
    if len(shape) == 2 and shape[::-1] == wanted:
        yield ".T", 0.1 if is_kernel else 0.0
    if len(shape) > 2 and len(shape) == len(wanted):
        for axes in itertools.permutations(range(len(shape))):
            if list(axes) != sorted(axes) and tuple(shape[a] for a in axes) == wanted:
                usual = axes in ((3, 2, 0, 1), (2, 1, 0))
                yield f".transpose({','.join(map(str, axes))})", 0.1 if usual else -0.1
    if len(shape) != len(wanted) and np.prod(shape, dtype=int) == np.prod(wanted, dtype=int):
        text = lambda sizes: ",".join(map(str, sizes))
        if len(wanted) == 2:
            yield f".reshape({text(wanted[::-1])}).T", 0.05 if is_kernel else -0.05
        yield f".reshape({text(wanted)})", -0.05 if is_kernel else 0.05


def _words(name: str, every: bool = False) -> list[str]:
    """The words of a name, each by one of its synonyms."""
    split: list[str] = re.findall(r"[a-z]+|\d+", re.sub(r"([a-z])([A-Z])", r"\1_\2", name).lower())
    words = [SYNONYMS.get(word, word) for word in split]
    return words if every else [word for word in words if word not in WRAPPERS]


def _numbers(name: str) -> list[int]:
    return [int(word) for word in _words(name, every=True) if word.isdigit()]


def likeness(left: str, right: str) -> float:
    """How alike two names are, from 0 to 1: words, their order, and letters."""
    a, b = _words(left), _words(right)
    words = difflib.SequenceMatcher(None, a, b, autojunk=False).ratio()
    letters = difflib.SequenceMatcher(None, "".join(a), "".join(b), autojunk=False).ratio()
    last = 0.2 if a and b and a[-1] == b[-1] else 0.0
    same: Sequence[int] = _numbers(left)
    wrong = bool(same) and bool(_numbers(right)) and same != _numbers(right)
    return (words + letters) / 2 + last - 0.5 * wrong
