"""Gemma 3 (2025), its text model: Gemma 2 with norms of queries and keys in place of caps, and angles by layer."""

from dataclasses import replace

from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, TIED, Sizes
from uat_jax.networks.families.gemma2 import GEMMA2, SANDWICH, cap
from uat_jax.networks.families.rotary import alike, kinds_of_layers, rope
from uat_jax.networks.rope_scaling import Rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """A window and its angles in five of six layers, no window and other angles in the sixth."""
    L, width = sizes["L"], config.integer("sliding_window", 4096)
    every = config.look("_sliding_window_pattern") or config.look("sliding_window_pattern") or 6
    default = ["sliding_attention" if (j + 1) % every else "full_attention" for j in range(L)]
    kinds = kinds_of_layers(config, L, default)
    angles = {kind: _angles(config, sizes["d"], kind) for kind in set(kinds)}
    return {
        "rope": alike([angles[kind] for kind in kinds]),
        "window": alike([width if kind == "sliding_attention" else None for kind in kinds]),
        "scale": config.number("query_pre_attn_scalar", 256.0) ** -0.5,
        "cap": cap(config, "attn_logit_softcapping", None),
        "logit_cap": cap(config, "final_logit_softcapping", None),
    }


def _angles(config: Config, width: int, kind: str) -> Rope | float:
    """RoPE of one kind of layer; older configs say that of windows in ``rope_local_base_freq``, without scaling."""
    local = config.number("rope_local_base_freq", 10000.0)
    if config.given("rope_parameters") or kind == "full_attention":
        return rope(config, width, base=1e6 if kind == "full_attention" else local, kind=kind)
    return local


GEMMA3 = replace(
    GEMMA2,
    model_type="gemma3_text",
    architectures={"Gemma3TextModel": FEATURES, "Gemma3ForCausalLM": TIED},
    block={**SANDWICH, "query_norm": "self_attn.q_norm", "key_norm": "self_attn.k_norm"},
    options=options,
)
