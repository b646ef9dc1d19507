"""Qwen2 (Yang et al. 2024): Llama with biases of queries, keys and values, and windows that its config switches on."""

from dataclasses import replace

from uat_jax.errors import InputError
from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, LABELS, LANGUAGE, Sizes
from uat_jax.networks.families.llama import LLAMA
from uat_jax.networks.families.rotary import alike, kinds_of_layers, rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """RoPE, and a window in the layers that have one."""
    return {"rope": rope(config, sizes["d"]), "window": windows(config, sizes["L"])}


def windows(config: Config, layers: int) -> int | None | tuple[int | None, ...]:
    """None unless ``use_sliding_window``; then one from layer ``max_window_layers`` on, or as ``layer_types`` says."""
    if not config.flag("use_sliding_window", False):
        return None
    first = config.look("max_window_layers")
    first = 28 if first is None else first
    if type(first) is not int:
        raise InputError(f"got max_window_layers = {first!r:.60}, wanted a whole number; see config.json")
    default = ["sliding_attention" if j >= first else "full_attention" for j in range(layers)]
    kinds = kinds_of_layers(config, layers, default)
    if set(kinds) == {"full_attention"}:
        return None
    width = config.integer("sliding_window", 4096)
    return alike([width if kind == "sliding_attention" else None for kind in kinds])


QWEN2 = replace(
    LLAMA,
    model_type="qwen2",
    architectures={"Qwen2Model": FEATURES, "Qwen2ForCausalLM": LANGUAGE, "Qwen2ForSequenceClassification": LABELS},
    biases={"query": True, "key": True, "value": True},
    options=options,
    only={"mlp_bias": False, "use_mrope": False},
    ignored=frozenset({"layer_types", "max_window_layers", "sliding_window"}),
)
