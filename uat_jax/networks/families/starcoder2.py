"""StarCoder2 (Lozhkov et al. 2024): LayerNorm, RoPE, grouped queries, a window, plain feed-forward, biases."""

from dataclasses import replace

from uat_jax.networks.families.description import FEATURES, GROUPED_SIZES, TIED, Size
from uat_jax.networks.families.llama import BLOCK, LLAMA
from uat_jax.networks.families.rotary import rope

STARCODER2 = replace(
    LLAMA,
    model_type="starcoder2",
    architectures={"Starcoder2Model": FEATURES, "Starcoder2ForCausalLM": TIED},
    block={
        **{role: name for role, name in BLOCK.items() if not name.startswith("mlp.")},
        "hidden": "mlp.c_fc",
        "project": "mlp.c_proj",
    },
    sizes={**GROUPED_SIZES, "g": Size("num_key_value_heads", 2)},
    norm="layer",
    activation=("hidden_act", "gelu_pytorch_tanh"),
    epsilon=("norm_epsilon", 1e-5),
    biases={role: ("use_bias", True) for role in ("query", "key", "value", "output", "hidden", "project")},
    options=lambda config, sizes: {
        "rope": rope(config, sizes["d"]),
        "window": config.integer("sliding_window") if config.given("sliding_window") else None,
    },
    only={"norm_type": "layer_norm", "mlp_type": "default"},
)
