"""SmolLM3 (2025): Llama without RoPE in every fourth layer."""

from dataclasses import replace

from uat_jax.errors import InputError
from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, LABELS, TIED, Size, Sizes
from uat_jax.networks.families.llama import LLAMA
from uat_jax.networks.families.rotary import alike, rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """RoPE in the layers whose entry of ``no_rope_layers`` is 1."""
    every = config.integer("no_rope_layer_interval", 4)
    said = config.look("no_rope_layers")
    turns = [(j + 1) % every != 0 for j in range(sizes["L"])] if said is None else said
    if not isinstance(turns, list) or len(turns) != sizes["L"] or not set(turns) <= {0, 1}:
        raise InputError(f"got no_rope_layers = {said!r:.60}, wanted {sizes['L']} of 0 and 1, one for each layer")
    angles = rope(config, sizes["d"], base=2e6)
    return {"rope": alike([angles if each else None for each in turns])}


SMOLLM3 = replace(
    LLAMA,
    model_type="smollm3",
    architectures={"SmolLM3Model": FEATURES, "SmolLM3ForCausalLM": TIED, "SmolLM3ForSequenceClassification": LABELS},
    sizes={**GROUPED_SIZES, "g": Size("num_key_value_heads", 4)},
    options=options,
    only={"mlp_bias": False, "use_sliding_window": False},
    ignored=frozenset({"sliding_window", "layer_types", "max_window_layers"}),
)
