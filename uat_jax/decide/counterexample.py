"""An input at which two sides differ: what refutes a statement, and proves its denial."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import jax.numpy as jnp
import numpy as np

from uat_jax.decide.integers import WHOLE, held


@dataclass(frozen=True)
class Input:
    """A named input: a number, nested lists of numbers, or a text; of a function also the dtype of the array."""

    name: str
    values: Any
    dtype: str = ""

    @property
    def array(self) -> np.ndarray:
        """The numbers in their dtype; float64 holds all floats exactly."""
        if self.dtype in WHOLE:
            return held(self.values, self.dtype)
        return np.asarray(self.values, np.float64).astype(jnp.dtype(self.dtype or "float64"))

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps."""
        return dict(vars(self))


def named(inputs: Mapping[str, Any]) -> tuple[Input, ...]:
    """Inputs that have names and no dtypes: exact numbers, or a text."""
    return tuple(Input(name, values) for name, values in inputs.items())


@dataclass(frozen=True)
class Counterexample:
    """Inputs at which the two sides of a statement have different values.

    inputs: in order.  left, right: both values as they are shown: float64, a whole number, or a text.  exact: both
    as balls or exact numbers, on which the verdict rests.  names: of the two sides.  sizes: of the symbolic dimensions.
    output: which output array of two functions differs, and entry its index in there.  minimal: no single entry of the
    inputs can be replaced by a simpler number so that the difference still shows.  seed: of the search that found it.
    program: a script that shows the difference, where there is one.  differing: how many entries of all outputs differ
    in float64, and of how many, where that was counted.
    """

    inputs: tuple[Input, ...]
    left: Any
    right: Any
    exact: tuple[str, str]
    names: tuple[str, str] = ("left", "right")
    sizes: Mapping[str, int] = field(default_factory=dict)
    output: int = 0
    entry: tuple[int, ...] = ()
    minimal: bool = False
    seed: int | None = None
    program: str = ""
    differing: tuple[int, int] | None = None

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """The inputs as arrays of their dtypes."""
        return tuple(of.array for of in self.inputs)

    @property
    def values(self) -> dict[str, Any]:
        """Name → the value of that input."""
        return {of.name: of.values for of in self.inputs}

    def as_data(self) -> dict[str, Any]:
        """What a certificate keeps; `differing` is left out where nothing was counted."""
        kept = {name: value for name, value in vars(self).items() if name != "differing" or value is not None}
        return {**kept, "inputs": [of.as_data() for of in self.inputs]}


def from_data(data: Any) -> Counterexample:
    """The counterexample that `as_data` wrote.  Raises TypeError, KeyError or ValueError if it is none of ours."""
    left, right = data["names"]
    exact, other = data["exact"]
    typed = {"names": (left, right), "exact": (exact, other), "entry": tuple(data["entry"])}
    if data.get("differing") is not None:
        differing, of = map(int, data["differing"])
        typed["differing"] = (differing, of)
    return Counterexample(**{**data, **typed, "inputs": tuple(Input(**of) for of in data["inputs"])})
