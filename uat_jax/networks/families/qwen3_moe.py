"""Qwen3 with a mixture of gated experts in every layer."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, LANGUAGE, TRANSFORMER_SIZES, Size
from uat_jax.networks.families.llama import BLOCK
from uat_jax.networks.families.qwen2 import options
from uat_jax.networks.families.qwen3 import QWEN3

QWEN3_MOE = replace(
    QWEN3,
    model_type="qwen3_moe",
    architectures={"Qwen3MoeModel": FEATURES, "Qwen3MoeForCausalLM": LANGUAGE},
    block={
        **{role: name for role, name in BLOCK.items() if not name.startswith("mlp.")},
        "query_norm": "self_attn.q_norm",
        "key_norm": "self_attn.k_norm",
        "router": "mlp.gate",
        "gate": "mlp.experts.{e}.gate_proj",
        "up": "mlp.experts.{e}.up_proj",
        "down": "mlp.experts.{e}.down_proj",
    },
    sizes={
        **TRANSFORMER_SIZES,
        "g": Size("num_key_value_heads", 4),
        "d": Size("head_dim", lambda of: max(of["M"] // of["h"], 1)),
        "F": Size("moe_intermediate_size", 768),
        "E": Size("num_experts", also="num_local_experts"),
    },
    options=lambda config, sizes: {
        **options(config, sizes),
        "top": config.integer("num_experts_per_tok", 8, most=sizes["E"]),
        "whole": config.flag("norm_topk_prob", False),
    },
    only={"decoder_sparse_step": 1, "mlp_only_layers": []},
    ignored=QWEN3.ignored | {"intermediate_size"},
)
