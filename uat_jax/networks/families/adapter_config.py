"""What the ``adapter_config.json`` of a LoRA adapter says: the rank and the scale of each layer, and which layers.

The rules are PEFT's own (`LoraConfig`, `check_target_module_exists`, `get_pattern_key`).
"""

import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.networks.families.config import Config
from uat_jax.typing import JsonObject

ADAPTER_CONFIG = "adapter_config.json"
ALL_LINEAR = "all-linear"
INITIALISATIONS = (True, False, "gaussian", "eva", "orthogonal")
"""How the factors may have been drawn: the others change the weights of the model as well (PiSSA, OLoRA, LoftQ, …)."""

READ = {"peft_type", "r", "lora_alpha", "use_rslora", "rank_pattern", "alpha_pattern", "bias", "init_lora_weights"}
READ |= {"target_modules", "exclude_modules", "layers_to_transform", "layers_pattern", "fan_in_fan_out"}
WITHOUT_EFFECT = {"auto_mapping", "base_model_name_or_path", "revision", "task_type", "inference_mode", "peft_version"}
WITHOUT_EFFECT |= {"lora_dropout", "loftq_config", "eva_config", "megatron_core", "qalora_group_size", "runtime_config"}
"""Entries that say how the adapter was trained.  Any other one must say nothing."""

NUMBER = r"\.(?P<number>\d+)\."
"""Where the name of a layer has the number of its block."""

Names = str | tuple[str, ...]
"""A regular expression of whole names, or names and ends of names."""


@dataclass(frozen=True)
class Targets:
    """Which layers an adapter belongs to; `name in targets` asks of one."""

    modules: Names
    excluded: Names
    numbers: tuple[int, ...]
    """The numbers of the blocks that are adapted; if there are none, all blocks are."""
    numbered: tuple[str, ...]
    """What may stand before the number of a block; none is anything."""

    def __contains__(self, name: str) -> bool:
        if self.excluded and is_named(name, self.excluded):
            return False
        if isinstance(self.modules, str):
            return self.modules == ALL_LINEAR or is_named(name, self.modules)
        return name in self.modules or (is_named(name, self.modules) and self._has_number(name))

    def _has_number(self, name: str) -> bool:
        if not self.numbers:
            return True
        before = [_number_behind(word) for word in self.numbered] or [rf".*?\.[^.]*{NUMBER}"]
        first = next(filter(None, (re.match(pattern, name) for pattern in before)), None)
        return first is not None and int(first["number"]) in self.numbers


def _number_behind(word: str) -> str:
    return rf"(?:^|.*?\.){word}{NUMBER}"


def is_named(name: str, names: Names) -> bool:
    """Whether the expression matches the whole name, or the name is one of them or ends with one behind a point."""
    if isinstance(names, str):
        return re.fullmatch(names, name) is not None
    return any(name == end or name.endswith(f".{end}") for end in names)


@dataclass(frozen=True)
class LoraConfig:
    """r, α and the layers of an adapter."""

    r: int
    alpha: float
    rank_stabilised: bool
    """Whether s = α / √r (Kalajdzievski 2023) and not α / r."""
    ranks: Mapping[str, int]
    """Pattern → the rank of the layers it matches."""
    alphas: Mapping[str, float]
    """Pattern → the α of the layers it matches."""
    targets: Targets
    fan_in_fan_out: bool

    def rank(self, name: str) -> int:
        """The rank of a layer."""
        return _of(name, self.ranks, self.r)

    def scale(self, name: str) -> float:
        """The scale s of a layer."""
        alpha, r = _of(name, self.alphas, self.alpha), self.rank(name)
        return alpha / (math.sqrt(r) if self.rank_stabilised else r)


def _of(name: str, patterns: Mapping[str, Any], default: Any) -> Any:
    """The entry of the first pattern that matches the name from a point to its end."""
    return next((value for pattern, value in patterns.items() if re.match(_end_of_name(pattern), name)), default)


def _end_of_name(pattern: str) -> str:
    return rf"(.*\.)?({pattern})$"


def lora_config(entries: JsonObject) -> LoraConfig:
    """The config of a plain LoRA adapter.

    Raises `InputError` for entries that are missing or of the wrong kind and `UnsupportedError` for all that is more
    than W + s B A: DoRA, biases, modules that are trained whole, initialisations that change W, other methods.
    """
    config = Config(entries, ADAPTER_CONFIG)
    config.only("peft_type", "LORA")
    config.only("bias", "none")
    if config.entries.get("init_lora_weights", True) not in INITIALISATIONS:
        raise UnsupportedError(
            f"got init_lora_weights = {entries['init_lora_weights']!r:.60}, which changes the model's own weights, "
            f"supported are {', '.join(map(str, INITIALISATIONS))}"
        )
    for name in entries.keys() - READ - WITHOUT_EFFECT:
        if entries[name]:
            raise UnsupportedError(f"got {name} = {entries[name]!r:.60}, supported is none")
    return LoraConfig(
        config.integer("r"),
        config.number("lora_alpha"),
        config.flag("use_rslora", False),
        _patterns(config, "rank_pattern", Config.integer),
        _patterns(config, "alpha_pattern", Config.number),
        _targets(config),
        config.flag("fan_in_fan_out", False),
    )


def _targets(config: Config) -> Targets:
    modules, numbers = config.entries.get("target_modules"), config.entries.get("layers_to_transform")
    if not modules:
        raise InputError(f"got target_modules = {modules!r}, wanted names of layers; see {ADAPTER_CONFIG}")
    named = config.entries.get("layers_pattern") or []
    numbers = [] if numbers is None else numbers if isinstance(numbers, list) else [numbers]
    if not all(type(number) is int for number in numbers):
        raise InputError(f"got layers_to_transform = {numbers!r:.60}, wanted whole numbers; see {ADAPTER_CONFIG}")
    excluded, words = config.entries.get("exclude_modules") or [], [named] if isinstance(named, str) else named
    numbered = _names("layers_pattern", words)
    for word in numbered:
        _checked_expression("layers_pattern", word, _number_behind)
    return Targets(
        _names("target_modules", modules), _names("exclude_modules", excluded), tuple(numbers), tuple(numbered)
    )


def _names(entry: str, value: Any) -> Names:
    """A list as a tuple, or an expression that can be used."""
    if isinstance(value, str):
        return ALL_LINEAR if value.lower() == ALL_LINEAR else _checked_expression(entry, value)
    if not isinstance(value, list) or not all(isinstance(name, str) for name in value):
        raise InputError(f"got {entry} = {value!r:.60}, wanted a list of names or one text; see {ADAPTER_CONFIG}")
    return tuple(value)


def _patterns(config: Config, entry: str, kind: Callable[[Config, str], Any]) -> JsonObject:
    """Pattern → number, each number read as `kind` reads an entry."""
    found = config.entries.get(entry) or {}
    if not isinstance(found, dict):
        raise InputError(f"got {entry} = {found!r:.60}, wanted an object; see {ADAPTER_CONFIG}")
    numbers = Config(found, f"{entry} in {ADAPTER_CONFIG}")
    return {_checked_expression(entry, pattern, _end_of_name): kind(numbers, pattern) for pattern in found}


def _checked_expression(entry: str, pattern: str, within: Callable[[str], str] = str) -> str:
    """The pattern, if it can be used alone and `within` the expression that it becomes a part of."""
    try:
        re.compile(pattern)
        re.compile(within(pattern))
    except (re.error, RecursionError, OverflowError) as error:
        raise InputError(f"got {entry} with {pattern!r:.60}, no regular expression ({error}); correct it") from None
    return pattern
