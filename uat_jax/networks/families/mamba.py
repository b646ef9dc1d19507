"""Mamba (Gu & Dao 2023): selective state spaces behind RMSNorms, no attention, no positions."""

import math

from uat_jax.networks.families.description import FEATURES, TIED, Family, Size

MAMBA = Family(
    "mamba",
    {"MambaModel": FEATURES, "MambaForCausalLM": TIED},
    prefix="backbone.",
    layer="layers.{}.",
    block={
        "norm_2": "norm",
        "into_gate": "mixer.in_proj",
        "convolution": "mixer.conv1d",
        "steering": "mixer.x_proj",
        "step": "mixer.dt_proj",
        "decay": "mixer.A_log",
        "skip": "mixer.D",
        "out": "mixer.out_proj",
    },
    whole={"embedding": "embeddings", "final_norm": "norm_f"},
    sizes={
        "V": Size("vocab_size"),
        "M": Size("hidden_size"),
        "L": Size("num_hidden_layers"),
        "F": Size("intermediate_size", lambda of: 2 * of["M"]),
        "S": Size("state_size", 16),
        "K": Size("conv_kernel", 4),
        "R": Size("time_step_rank", lambda of: math.ceil(of["M"] / 16)),
        "h": Size("", 1),
    },
    kind="lone",
    epsilon=("layer_norm_epsilon", 1e-5),
    biases={"step": True},
    only={"use_bias": False, "use_conv_bias": True},
    ignored=frozenset(
        "expand d_inner d_model n_layer ssm_cfg rms_norm fused_add_norm residual_in_fp32 rescale_prenorm_residual "
        "time_step_scale time_step_min time_step_max time_step_init_scheme time_step_floor use_mambapy "
        "use_associative_scan pad_vocab_size_multiple layer_types".split()
    ),
)
