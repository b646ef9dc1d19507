"""Models of Hugging Face folders.

description.py  what a family is, as data; each of the files that follow holds one, or a few that are nearly the same:
                albert bert bloom clip distilbert electra falcon gemma gemma2 gemma3 gpt2 gpt_neox gptj granite llama
                mamba mistral mixtral mpnet olmo olmo2 opt phi phi3 qwen2 qwen3 qwen3_moe roberta smollm3 stablelm
                starcoder2 t5 vit
build.py        a model of a checkpoint, by its description
rotary.py       RoPE and windows, as configs say them
adapter.py      a LoRA adapter of PEFT, put beside the weights (adapter_config.py: what its config says)
heads.py        attention with heads of their own
config.py       the entries of config.json, checked
tensors.py      names, shapes and dtype of the weights, checked
"""

from collections.abc import Mapping

import jax

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.networks.checkpoint import Checkpoint, FolderPath, read_checkpoint
from uat_jax.networks.families.adapter import Adapter
from uat_jax.networks.families.adapter import read_adapter as read_adapter
from uat_jax.networks.families.albert import ALBERT
from uat_jax.networks.families.bert import BERT
from uat_jax.networks.families.bloom import BLOOM
from uat_jax.networks.families.build import model_of
from uat_jax.networks.families.clip import CLIP_TEXT
from uat_jax.networks.families.description import Family
from uat_jax.networks.families.distilbert import DISTILBERT
from uat_jax.networks.families.electra import ELECTRA
from uat_jax.networks.families.falcon import FALCON
from uat_jax.networks.families.gemma import GEMMA
from uat_jax.networks.families.gemma2 import GEMMA2
from uat_jax.networks.families.gemma3 import GEMMA3
from uat_jax.networks.families.gpt2 import GPT2
from uat_jax.networks.families.gpt_neox import GPT_NEOX
from uat_jax.networks.families.gptj import GPTJ
from uat_jax.networks.families.granite import GRANITE
from uat_jax.networks.families.llama import LLAMA
from uat_jax.networks.families.mamba import MAMBA
from uat_jax.networks.families.mistral import MISTRAL
from uat_jax.networks.families.mixtral import MIXTRAL
from uat_jax.networks.families.mpnet import MPNET
from uat_jax.networks.families.olmo import OLMO
from uat_jax.networks.families.olmo2 import OLMO2
from uat_jax.networks.families.opt import OPT
from uat_jax.networks.families.phi import PHI
from uat_jax.networks.families.phi3 import PHI3
from uat_jax.networks.families.qwen2 import QWEN2
from uat_jax.networks.families.qwen3 import QWEN3
from uat_jax.networks.families.qwen3_moe import QWEN3_MOE
from uat_jax.networks.families.roberta import CAMEMBERT, ROBERTA, XLM_ROBERTA
from uat_jax.networks.families.smollm3 import SMOLLM3
from uat_jax.networks.families.stablelm import STABLELM
from uat_jax.networks.families.starcoder2 import STARCODER2
from uat_jax.networks.families.t5 import T5
from uat_jax.networks.families.vit import VIT
from uat_jax.networks.model import Model
from uat_jax.typing import JsonObject

ENCODERS = (BERT, ROBERTA, XLM_ROBERTA, CAMEMBERT, DISTILBERT, MPNET, ELECTRA, ALBERT, T5, VIT)
LIKE_GPT = (GPT2, OPT, BLOOM, GPT_NEOX, GPTJ, PHI, FALCON, CLIP_TEXT, MAMBA)
LIKE_LLAMA = (LLAMA, MISTRAL, QWEN2, QWEN3, OLMO, OLMO2, GEMMA, GEMMA2, GEMMA3)
LIKE_LLAMA += (PHI3, SMOLLM3, GRANITE, STARCODER2, STABLELM, MIXTRAL, QWEN3_MOE)

FAMILIES: Mapping[str, Family] = {
    of.model_type: of for of in sorted((*ENCODERS, *LIKE_GPT, *LIKE_LLAMA), key=lambda of: of.model_type)
}
"""The families that can be loaded, by what a config calls them."""
ARCHITECTURES: Mapping[str, Family] = {name: of for of in FAMILIES.values() for name in of.architectures}
"""The architectures that can be loaded, by the name that ``architectures`` has in a config."""

MISSING: Mapping[str, str] = {
    "bart": "cross-attention",
    "cohere": "LayerNorm without β",
    "deberta": "attention to relative positions by content",
    "deberta-v2": "attention to relative positions by content",
    "deepseek_v2": "latent attention",
    "deepseek_v3": "latent attention and experts that are shared",
    "gpt_oss": "sinks of attention",
    "mamba2": "state spaces whose decay is one for a head",
    "marian": "cross-attention",
    "modernbert": "feed-forward parts with gate and up in one matrix beside windows that look both ways",
    "pegasus": "cross-attention",
    "rwkv": "a recurrence over tokens",
    "whisper": "sound in place of tokens, and cross-attention",
    "xlnet": "recurrence over segments",
}
"""What models of other types have that no description can say."""
INSTEAD = "decompose_function takes it as a JAX function: docs/decomposition.md"
THREE_LINES = "from uat_jax.decomposition import decompose_function; f = lambda x: …; decompose_function(f, x)"
"""What decomposes a network that is written down in JAX, f being what follows its embedding x (N, M)."""


def load_model(folder: FolderPath, dtype: jax.typing.DTypeLike | None = None, adapter: Adapter | None = None) -> Model:
    """The model in a Hugging Face folder, its arrays in `dtype` or, left out, in their own.

    Twelve layers or more of one shape are one `Stack`, a loop that compiles in less time (`Model.compiled_soon`); it is
    read like a tuple of layers.  Weights in bfloat16 become float32, with a warning, unless `dtype` is given.  With an
    `adapter`, as `read_adapter` reads it, the weights of its layers are `Adapted` matrices W + s L R;
    `uat_jax.networks.adapted.merged` gives the model with the products in place of them.  Entries of the config that
    nothing is known of are listed in a warning.

    Returns:
        A `Model`, a function of token numbers that `decompose` takes apart.

    Raises:
        InputError: a folder or file that cannot be read, entries of the config or tensors missing, superfluous or
            unusable, an adapter of layers that the model does not have, and float64 while x64 is off.
        ShapeError: a tensor of another shape than the config says, or an adapter that does not fit.
        UnsupportedError: an architecture that is not one of `ARCHITECTURES`, or that the networks here do not have.
            All of them are one line with the path.

    Example:
        >>> model = uj.load_model("gpt2")
    """
    checkpoint = read_checkpoint(folder)
    try:
        return build_model(checkpoint, dtype, adapter)
    except (InputError, ShapeError, UnsupportedError) as error:
        raise type(error)(f"{folder}: {error}") from None


def build_model(
    checkpoint: Checkpoint, dtype: jax.typing.DTypeLike | None = None, adapter: Adapter | None = None
) -> Model:
    """The model of what a folder holds; raises what `load_model` raises, without the path."""
    family, architecture = _family(checkpoint.config)
    try:
        model = model_of(family, architecture, checkpoint, dtype, adapter)
    except UnsupportedError as error:
        raise UnsupportedError(f"{error}; {INSTEAD}") from None
    return jax.device_put(model.compiled_soon(), may_alias=False)


def _family(config: JsonObject) -> tuple[Family, str]:
    names, kind = config.get("architectures"), config.get("model_type")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        wanted = f"wanted one name in config.json, such as {', '.join(['BertModel', 'GPT2LMHeadModel'])}"
        raise InputError(f"got architectures = {names!r:.60}, {wanted}")
    if names[0] not in ARCHITECTURES:
        raise UnsupportedError(f"got the architecture {names[0]!r:.60}{_what_is_missing(kind)}; in JAX: {THREE_LINES}")
    family = ARCHITECTURES[names[0]]
    if kind != family.model_type:
        raise InputError(f"got model_type = {kind!r:.60} for {names[0]}, wanted {family.model_type!r}; see config.json")
    return family, names[0]


def _what_is_missing(kind: object) -> str:
    """What is known of a type of model, or which of its architectures there are."""
    if isinstance(kind, str) and kind in MISSING:
        return f", which has {MISSING[kind]}"
    if isinstance(kind, str) and kind in FAMILIES:
        return f"; of {kind} there are {', '.join(FAMILIES[kind].architectures)}"
    return f", of a family that is not among {len(FAMILIES)} (docs/decomposition.md)"
