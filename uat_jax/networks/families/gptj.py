"""GPT-J (Wang & Komatsuzaki 2021): attention and feed-forward side by side behind one norm; RoPE of neighbours."""

from uat_jax.networks.families.config import Config
from uat_jax.networks.families.description import FEATURES, End, Family, Sizes
from uat_jax.networks.families.gpt2 import GPT_SIZES
from uat_jax.networks.families.rotary import rope
from uat_jax.typing import JsonObject


def options(config: Config, sizes: Sizes) -> JsonObject:
    """RoPE of the first ``rotary_dim`` features of each head; null is all of them."""
    turned = config.integer("rotary_dim", sizes["d"], most=sizes["d"])
    return {"rope": rope(config, sizes["d"], share=turned / sizes["d"])}


GPTJ = Family(
    "gptj",
    {"GPTJModel": FEATURES, "GPTJForCausalLM": End("lm_head", bias=True, tied=False)},
    prefix="transformer.",
    layer="h.{}.",
    block={
        "norm_1": "ln_1",
        "query": "attn.q_proj",
        "key": "attn.k_proj",
        "value": "attn.v_proj",
        "output": "attn.out_proj",
        "hidden": "mlp.fc_in",
        "project": "mlp.fc_out",
    },
    whole={"embedding": "wte", "final_norm": "ln_f"},
    sizes=GPT_SIZES,
    kind="parallel",
    norm="layer",
    activation=("activation_function", "gelu_new"),
    epsilon=("layer_norm_epsilon", 1e-5),
    biases={"hidden": True, "project": True},
    pairs=True,
    options=options,
    only={"scale_attn_weights": True},
    ignored=frozenset({"rotary"}),
    buffers=r"h\.\d+\.attn\.(bias|masked_bias|embed_positions)",
)
