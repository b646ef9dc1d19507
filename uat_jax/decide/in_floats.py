"""What floats do to two equal functions, beside the verdict: rounding and hazards, computed when they are asked for.

A small pair is certified in a few milliseconds, less than it takes to compile its programs.  So nothing is compiled for
those who only want the verdict; whoever reads, prints or saves a certificate gets all of it.
"""

from __future__ import annotations

import dataclasses
import inspect
import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any, Protocol

import jax.numpy as jnp
import numpy as np
from jax.extend.core import ClosedJaxpr
from jax.tree_util import keystr, tree_flatten_with_path

from uat_jax.decide.allowance import Allowance
from uat_jax.decide.beside import search_beside
from uat_jax.decide.domain import Domains
from uat_jax.decide.hazards import KINDS, SIDES, Hazard, HazardSearch, search_hazards
from uat_jax.decide.on_device import OnDevice
from uat_jax.decide.rounding_bound import Deviation, Rounding, rounding_of
from uat_jax.decide.specification import Specification, is_variable, sizes_text
from uat_jax.errors import UnsupportedError
from uat_jax.interpret.jaxpr_file import digest, encode
from uat_jax.interpret.outside_function import outside_functions
from uat_jax.interpret.tracing import is_complex
from uat_jax.typing import PyTree

COMPLEX = "the functions compute with complex numbers, whose operations each device rounds in its own way"
"""Why nothing is said of the floats of programs of parts, which are not the ones that are run."""

WHOLE_INPUTS = "integers are exact, and floats beside variable integers are not looked at"
"""Why nothing is said of the floats of programs with integer variables."""

SIZES = 2
"""Of symbolic dimensions, so many assignments are looked at: the smallest, and a larger one."""


class Programs(Protocol):
    """Both programs at one assignment of sizes."""

    @property
    def sizes(self) -> Mapping[str, int]:
        """The sizes of the symbolic dimensions, by name."""
        ...

    @property
    def left(self) -> ClosedJaxpr:
        """The first program."""
        ...

    @property
    def right(self) -> ClosedJaxpr:
        """The second."""
        ...

    @property
    def domains(self) -> Domains:
        """What their inputs range over."""
        ...

    @property
    def complex_numbers(self) -> bool:
        """Whether they are made of the parts of complex numbers."""
        ...


class InFloats:
    """Rounding and hazards of two functions, each computed when it is first read."""

    def __init__(self, rounding: Callable[[], Rounding], search: Callable[[], HazardSearch]):
        self._rounding, self._search = rounding, search

    @cached_property
    def rounding(self) -> Rounding:
        """How far each side may be from the exact value, and how far they were seen apart."""
        return self._rounding()

    @cached_property
    def search(self) -> HazardSearch:
        """The search for hazards."""
        return self._search()

    def __reduce__(self) -> Any:
        """A copy for another process holds the answers, not the programs."""
        return known, (self.rounding, self.search)

    def lines(self, *, hazards: bool = True) -> list[tuple[str, str]]:
        """What a person is told, a word and a line each: the rounding, every hazard, why the search ended early.

        Without `hazards` none are searched.
        """
        if not hazards:
            return [("rounding", self.rounding.text)]
        found = [("hazard", f"{_at(h.sizes)}{h.text} ({h.kind})") for h in self.search.found]
        ended = [("hazards", f"the search ended early: {self.search.reason}")] if self.search.reason else []
        return [("rounding", self.rounding.text), *found, *ended]

    def as_data(self) -> dict[str, Any]:
        """The fields ``rounding`` and ``hazards`` of a certificate's file."""
        rounding, search = (dataclasses.asdict(x) for x in (self.rounding, self.search))
        for part in (rounding, *search["found"]):
            part["inputs"] = [_array_as_data(x) for x in part["inputs"]]
        return {"rounding": rounding, "hazards": search}


def _at(sizes: Mapping[str, int]) -> str:
    return f"at {sizes_text(sizes)}: " if sizes else ""


def known(rounding: Rounding, search: HazardSearch) -> InFloats:
    """What floats do to the programs, from answers that have been computed already."""
    return InFloats(lambda: rounding, lambda: search)


def in_floats(
    pairs: Sequence[Programs],
    names: Sequence[str] | None = None,
    memory: float = math.inf,
    seconds: float = math.inf,
) -> InFloats:
    """What floats do to the programs: the rounding at the largest of the first sizes, the hazards at all of them.

    `names` are those of the programs' inputs, for texts; `memory`: the bytes that may be held.  `seconds`: what all of
    it may take, beside the few seconds that each part has in any case; what is compiled cannot be interrupted.
    """
    outside = [name for pair in pairs for side in (pair.left, pair.right) for name in outside_functions(side)]
    whole = any(pair.domains.whole for pair in pairs)
    if any(pair.complex_numbers for pair in pairs) or outside or whole:
        why = WHOLE_INPUTS if whole else COMPLEX
        why = f"the functions call {outside[0]}, which is outside of JAX" if outside else why
        nothing = Rounding(None, None, f"not derived: {why}", None, (), "", 0, 0, "")
        if not whole or outside or any(pair.complex_numbers for pair in pairs):
            return known(nothing, HazardSearch(reason=why))
        first = pairs[0]
        beside = lambda: search_beside(
            (first.left, first.right), first.domains, names or numbered(len(first.left.in_avals)), first.sizes, why
        )
        return InFloats(lambda: nothing, beside)
    allowance = Allowance(seconds)
    chosen = list(pairs)[:SIZES]
    devices = [OnDevice(pair.left, pair.right, pair.domains, memory, allowance) for pair in chosen]
    names = names or numbered(len(devices[0].inputs))

    def search() -> HazardSearch:
        different = [(d, pair) for d, pair in zip(devices, chosen, strict=True) if not _identical(pair)]
        with allowance.spent():
            found = [search_hazards(device, names, pair.sizes) for device, pair in different]
        first = {(h.kind, h.side): h for one in reversed(found) for h in one.found}  # the smallest sizes go first
        ordered = sorted(first.values(), key=lambda h: (list(KINDS).index(h.kind), h.side))
        reasons = dict.fromkeys(one.reason for one in found if one.reason)
        return HazardSearch(tuple(ordered), sum(one.tried for one in found), "; ".join(reasons))

    def rounding() -> Rounding:
        with allowance.spent():
            return rounding_of(devices[-1])

    return InFloats(rounding, search)


def _identical(pair: Programs) -> bool:
    """Whether both sides are the same program, so that a device computes the same bits."""
    try:
        return digest(encode(pair.left)) == digest(encode(pair.right))
    except UnsupportedError:
        return False


def numbered(count: int) -> list[str]:
    """The names of inputs that have none."""
    return ["x"] if count == 1 else [f"input {i}" for i in range(count)]


def input_names(function: Callable, specification: Specification) -> list[str]:
    """The names of the variables: parameters of the function with the path inside them, such as x or weights['b']."""
    leaves, _ = tree_flatten_with_path(specification.arguments)
    floats = [(path, part) for path, leaf in leaves if is_variable(leaf) for part in _part_names(leaf)]
    try:
        parameters = inspect.signature(function).parameters.values()
    except (TypeError, ValueError):
        return numbered(len(floats))
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    if len(named) + 1 == len(specification.arguments):
        named.append("cotangents")  # of a comparison of derivatives
    if len(named) < len(specification.arguments):
        return numbered(len(floats))
    return [f"{named[path[0].idx]}{keystr(path[1:])}{part}" for path, part in floats]


def _part_names(leaf: PyTree) -> tuple[str, ...]:
    """What the parts of a leaf are called behind its name: a real one is its only part."""
    return (".real", ".imag") if is_complex(leaf.dtype) else ("",)


def _array_as_data(array: np.ndarray) -> dict[str, Any]:
    values = np.asarray(array, np.float64).tolist()
    return {"dtype": str(array.dtype), "shape": list(array.shape), "values": values}


def from_data(rounding: Any, hazards: Any) -> InFloats | None:
    """The answers in a certificate's file, or None if it has none.

    Raises:
        TypeError, KeyError, ValueError: they are not what `InFloats.as_data` writes.
    """
    if rounding is None and hazards is None:
        return None
    if not (isinstance(rounding, Mapping) and isinstance(hazards, Mapping)):
        raise TypeError("rounding and hazards are not mappings")
    deviation = lambda data: None if data is None else Deviation(**{k: float(v) for k, v in data.items()})
    parts = {name: deviation(rounding[name]) for name in ("left", "right", "seen")}
    found = tuple(_hazard(data) for data in hazards["found"])
    return known(
        Rounding(**{**rounding, **parts, "inputs": _arrays(rounding["inputs"])}),
        HazardSearch(**{**hazards, "found": found}),
    )


def _hazard(data: Mapping[str, Any]) -> Hazard:
    if data["kind"] not in KINDS or data["side"] not in SIDES:
        raise ValueError(f"hazard of kind {data['kind']!r} on side {data['side']!r}")
    numbers = {side: float(data[side]) for side in SIDES}
    return Hazard(**{**data, **numbers, "inputs": _arrays(data["inputs"])})


def _arrays(data: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray, ...]:
    return tuple(np.asarray(x["values"], np.float64).reshape(x["shape"]).astype(jnp.dtype(x["dtype"])) for x in data)
