"""What a config says of RoPE and of windows: base, scaling, how much of a head is turned, which layers have what."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from uat_jax.errors import InputError, UnsupportedError
from uat_jax.networks.families.config import Config
from uat_jax.networks.rope_scaling import Dynamic, Linear, Llama3, LongRope, Rope, Yarn

KNOWN: Mapping[str, frozenset[str]] = {
    "default": frozenset(),
    "linear": frozenset({"factor"}),
    "dynamic": frozenset({"factor", "original_max_position_embeddings"}),
    "llama3": frozenset({"factor", "low_freq_factor", "high_freq_factor", "original_max_position_embeddings"}),
    "yarn": frozenset(
        {"factor", "beta_fast", "beta_slow", "original_max_position_embeddings"}
        | {"attention_factor", "truncate", "mscale", "mscale_all_dim"}
    ),
    "longrope": frozenset(
        {"short_factor", "long_factor", "factor", "attention_factor", "original_max_position_embeddings"}
    ),
}
"""Type of scaling → its entries; beside them the type, the base and the share of features that is turned."""
COMMON = frozenset({"rope_type", "type", "rope_theta", "partial_rotary_factor"})


def rope(
    config: Config, width: int, *, base: float = 10000.0, share: float | None = None, kind: str | None = None
) -> Rope | float:
    """RoPE for heads of a `width`; `kind` is the type of the layer where the config says it by types.

    `base`, and the `share` of a head that is turned, hold where the config does not say otherwise; a family without a
    share turns whole heads.
    """
    entries = parameters(config, kind)
    base = entries.number("rope_theta", base)
    if share is None:
        entries.only("partial_rotary_factor", 1.0)
    turned = width if share is None else int(width * entries.number("partial_rotary_factor", share))
    if turned % 2 or not 0 < turned <= width:
        raise InputError(
            f"got heads of width {width}, {turned} turned, wanted an even one: RoPE turns pairs of features"
        )
    scaling = _scaling(entries, base, turned)
    if turned < width and getattr(scaling, "amplitude", 1.0) != 1.0:
        raise UnsupportedError("got RoPE that multiplies the part of each head that it turns, supported is the whole")
    if scaling is None and turned == width:
        return base
    return Rope(base, None if turned == width else turned, scaling)


def parameters(config: Config, kind: str | None = None) -> Config:
    """The entries on RoPE, which newer configs keep in ``rope_parameters`` and older ones in two places."""
    found: dict[str, Any] = {}
    for name in ("rope_theta", "partial_rotary_factor", "max_position_embeddings", "original_max_position_embeddings"):
        found[name] = config.look(name)
    for name in ("rope_scaling", "rope_parameters"):
        said = config.look(name)
        if said is None:
            continue
        if not isinstance(said, Mapping):
            raise InputError(f"got {name} = {said!r:.60}, wanted an object or null; see config.json")
        said = _of_kind(name, said, kind)
        _check_names(name, said)
        found |= {key: value for key, value in said.items() if value is not None}
    return Config(found)


def _of_kind(name: str, said: Mapping[str, Any], kind: str | None) -> Mapping[str, Any]:
    by_kind = bool(said) and all(isinstance(value, Mapping) for value in said.values())
    if not by_kind:
        return said
    if kind is None or kind not in said:
        raise UnsupportedError(f"got {name} with {', '.join(said)[:60]}, supported is one for all layers")
    return said[kind]


def _check_names(name: str, said: Mapping[str, Any]) -> None:
    kind = said.get("rope_type", said.get("type", "default"))
    if kind not in KNOWN:
        raise UnsupportedError(f"got {name} of type {kind!r:.60}, supported are {', '.join(KNOWN)}")
    others = [key for key, value in said.items() if key not in KNOWN[kind] | COMMON and value is not None]
    if others:
        raise UnsupportedError(f"got {name} of type {kind!r} with {', '.join(others)[:60]}, which is not known for it")


def _scaling(entries: Config, base: float, width: int) -> Any:
    kind = entries.look("rope_type") or entries.look("type") or "default"
    if kind == "default":
        return None
    if kind == "longrope":
        return _long_rope(entries, width)
    factor, whole = entries.number("factor"), entries.look("max_position_embeddings")
    if kind == "linear":
        return Linear(factor)
    if kind == "dynamic":
        if width < 4:
            raise InputError(f"got {width} features to turn, wanted at least 4: the base is raised to r/(r − 2)")
        return Dynamic(factor, entries.integer("max_position_embeddings"))
    before = entries.integer("original_max_position_embeddings", whole if isinstance(whole, int) else None)
    if kind == "llama3":
        low, high = entries.number("low_freq_factor"), entries.number("high_freq_factor")
        if not low < high:
            raise InputError(f"got low_freq_factor = {low} and high_freq_factor = {high}, wanted the first smaller")
        return Llama3(factor, low, high, before)
    fast, slow = entries.number("beta_fast", 32.0), entries.number("beta_slow", 1.0)
    return Yarn(factor, fast, slow, before, _amplitude(entries, factor), entries.flag("truncate", True))


def _long_rope(entries: Config, width: int) -> LongRope:
    """Two lists of r/2 factors; the amplitude as the config says, else √(1 + log s / log N₀), 1 for s ≤ 1."""
    short, long = (_factors(entries, f"{name}_factor", width) for name in ("short", "long"))
    before, whole = entries.integer("original_max_position_embeddings"), entries.look("max_position_embeddings")
    stretched = whole / before if isinstance(whole, int) else None
    factor = entries.number("factor", stretched)
    amplitude = 1.0 if factor <= 1 else math.sqrt(1 + math.log(factor) / math.log(before))
    return LongRope(short, long, before, entries.number("attention_factor", amplitude))


def _factors(entries: Config, name: str, width: int) -> tuple[float, ...]:
    said, pairs = entries.look(name), width // 2
    if not isinstance(said, list) or len(said) != pairs or not all(type(s) in (int, float) and s > 0 for s in said):
        raise InputError(f"got {name} = {said!r:.60}, wanted {pairs} positive numbers, one for each pair of features")
    return tuple(map(float, said))


def _amplitude(entries: Config, factor: float) -> float:
    """As the config says; else 0.1 m log s + 1, or a ratio of two such numbers."""
    if entries.given("attention_factor"):
        return entries.number("attention_factor")
    of = lambda m: 1.0 if factor <= 1 else 0.1 * m * math.log(factor) + 1.0
    if entries.given("mscale") and entries.given("mscale_all_dim"):
        return of(entries.number("mscale")) / of(entries.number("mscale_all_dim"))
    return of(1.0)


def longest(config: Config, positions: int) -> int:
    """The most tokens: as the config says, or what the RoPE of any layer was stretched to if that is more."""
    said = config.look("rope_parameters")
    by_kind = isinstance(said, Mapping) and bool(said) and all(isinstance(value, Mapping) for value in said.values())
    return max(_stretched(parameters(config, kind), positions) for kind in (said if by_kind and said else (None,)))


def _stretched(entries: Config, positions: int) -> int:
    if (entries.look("rope_type") or entries.look("type") or "default") in ("default", "longrope"):
        return positions
    before = entries.integer("original_max_position_embeddings", positions)
    return max(positions, int(before * entries.number("factor")))


def kinds_of_layers(config: Config, layers: int, default: Sequence[str]) -> tuple[str, ...]:
    """``layer_types``, which of the layers have a window; `default` where the config does not say."""
    said = config.look("layer_types")
    kinds = tuple(default) if said is None else tuple(said) if isinstance(said, list) else ()
    if len(kinds) != layers or not set(kinds) <= {"full_attention", "sliding_attention"}:
        got = ", ".join(map(str, kinds))[:60] or repr(said)[:60]
        raise UnsupportedError(f"got layer_types = {got}, supported are {layers} of full_attention, sliding_attention")
    return kinds


def alike(entries: Sequence[Any]) -> Any:
    """One entry for all layers if they are equal, or a tuple."""
    return entries[0] if len(set(entries)) == 1 else tuple(entries)
