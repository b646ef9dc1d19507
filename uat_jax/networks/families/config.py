"""The entries of a ``config.json``, each checked as it is read."""

import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.networks.activations import ACTIVATIONS, Activation
from uat_jax.networks.checkpoint import CONFIG
from uat_jax.networks.padding import Padding
from uat_jax.typing import Array, JsonObject

ACTIVATION_NAMES: Mapping[str, str] = {
    "gelu": "gelu-erf",
    "gelu_new": "gelu",
    "gelu_pytorch_tanh": "gelu",
    "quick_gelu": "quick-gelu",
    "relu": "relu",
    "silu": "silu",
    "swish": "silu",
}
"""Name of σ in a config → its name here; a config's ``gelu`` is the exact one."""


@dataclass(frozen=True)
class Config:
    """A config and what can be asked of it; an entry that is left out has the default of its family, if it has one.

    Every method raises `InputError` for an entry that is missing or of the wrong kind.
    """

    entries: JsonObject
    file: str = CONFIG
    asked: set[str] = field(default_factory=set, compare=False, repr=False)
    """The names that were looked at."""

    def integer(self, name: str, default: int | None = None, *, most: int | None = None) -> int:
        """A whole number, at least 1 and at most `most`."""
        value = self._entry(name, default)
        if type(value) is not int or value < 1 or (most is not None and value > most):
            bound = "" if most is None else f" and at most {most}"
            raise InputError(f"got {name} = {value!r:.60}, wanted a whole number, at least 1{bound}; see {self.file}")
        return value

    def number(self, name: str, default: float | None = None) -> float:
        """A positive number."""
        value = self._entry(name, default)
        if type(value) not in (int, float) or not 0 < value <= sys.float_info.max:
            raise InputError(f"got {name} = {value!r:.60}, wanted a positive number; see {self.file}")
        return float(value)

    def flag(self, name: str, default: bool) -> bool:
        """True or false."""
        value = self._entry(name, default)
        if type(value) is not bool:
            raise InputError(f"got {name} = {value!r:.60}, wanted true or false; see {self.file}")
        return value

    def activation(self, name: str, default: str) -> Activation:
        """The function σ.  Raises `UnsupportedError` for one that is not in `ACTIVATION_NAMES`."""
        value = self._entry(name, default)
        if not isinstance(value, str) or value not in ACTIVATION_NAMES:
            raise UnsupportedError(f"got {name} = {value!r:.60}, supported are {', '.join(ACTIVATION_NAMES)}")
        return ACTIVATIONS[ACTIVATION_NAMES[value]]

    def only(self, name: str, supported: object) -> None:
        """Raise `UnsupportedError` if the entry is there, not null, and not what is supported."""
        value = self.look(name)
        if value is not None and value != supported:
            raise UnsupportedError(f"got {name} = {value!r:.60}, supported is only {supported!r}")

    def given(self, name: str) -> bool:
        """Whether the entry is there and not null."""
        return self.look(name) is not None

    def look(self, name: str) -> Any:
        """The entry as it is, or None."""
        self.asked.add(name)
        return self.entries.get(name)

    def padding(self) -> Padding:
        """The tokens that are no words: that of padding unless it ends texts too, and those that end texts.

        Entries of another kind are left out: they are the tokenizer's business.
        """
        ends = self.look("eos_token_id")
        ends = tuple(end for end in (ends if isinstance(ends, list) else [ends]) if type(end) is int)
        token = self.look("pad_token_id")
        return Padding(token if type(token) is int and token not in ends else None, ends)

    def _entry(self, name: str, default: Any) -> Array:
        value = self.look(name)
        if value is None and default is None:
            raise InputError(f"got no {name}, wanted it in {self.file}; add it")
        return default if value is None else value
