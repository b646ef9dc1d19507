"""Models of Hugging Face folders.

gpt2.py         GPT-2
bert.py         BERT, MiniLM and other encoders of its form
llama.py        Llama, Mistral, Qwen2
adapter.py      a LoRA adapter of PEFT, put beside the weights (adapter_config.py: what its config says)
heads.py        attention with heads of their own
config.py       the entries of config.json, checked
tensors.py      names, shapes and dtype of the weights, checked
unembedding.py  a matrix of its own, or the embedding's
"""

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import jax

from uat_jax.errors import InputError, ShapeError, UnsupportedError
from uat_jax.networks.checkpoint import Checkpoint, FolderPath, read_checkpoint
from uat_jax.networks.families.adapter import Adapter
from uat_jax.networks.families.adapter import read_adapter as read_adapter
from uat_jax.networks.families.bert import bert
from uat_jax.networks.families.gpt2 import gpt2
from uat_jax.networks.families.llama import llama
from uat_jax.networks.model import Model


class Family(NamedTuple):
    """How the checkpoints of one architecture become models."""

    model_type: str
    """What their config calls it."""
    build: Callable[..., Model]
    """`gpt2`, `bert` or `llama`."""
    head: bool
    """Whether they give logits."""


ARCHITECTURES: Mapping[str, Family] = {
    "BertModel": Family("bert", bert, False),
    "GPT2LMHeadModel": Family("gpt2", gpt2, True),
    "GPT2Model": Family("gpt2", gpt2, False),
    "LlamaForCausalLM": Family("llama", llama, True),
    "LlamaModel": Family("llama", llama, False),
    "MistralForCausalLM": Family("mistral", llama, True),
    "MistralModel": Family("mistral", llama, False),
    "Qwen2ForCausalLM": Family("qwen2", llama, True),
    "Qwen2Model": Family("qwen2", llama, False),
}
"""The architectures that can be loaded, by the name that ``architectures`` has in a config."""


def load_model(folder: FolderPath, dtype: jax.typing.DTypeLike | None = None, adapter: Adapter | None = None) -> Model:
    """The model in a Hugging Face folder, its arrays in `dtype` or, left out, in their own.

    Weights in bfloat16 become float32, with a warning, unless `dtype` is given.  With an `adapter`, as `read_adapter`
    reads it, the weights of its layers are `Adapted` matrices W + s L R; `uat_jax.networks.adapted.merged` gives the
    model with the products in place of them.

    Raises, one line with the path: `InputError` for a folder or file that cannot be read, entries of the config or
    tensors missing, superfluous or unusable, an adapter of layers that the model does not have, and float64 while x64
    is off; `ShapeError` for a tensor of another shape than the config says or an adapter that does not fit;
    `UnsupportedError` for an architecture that is not one of `ARCHITECTURES`, or that the networks here do not have.
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
    family = _family(checkpoint.config)
    model = family.build(checkpoint, head=family.head, dtype=dtype, adapter=adapter)
    return jax.device_put(model, may_alias=False)


def _family(config: Mapping[str, Any]) -> Family:
    supported = f"supported are {', '.join(ARCHITECTURES)}"
    names = config.get("architectures")
    if not isinstance(names, list) or len(names) != 1 or not isinstance(names[0], str):
        raise InputError(f"got architectures = {names!r:.60}, wanted one name in config.json; {supported}")
    if names[0] not in ARCHITECTURES:
        raise UnsupportedError(f"got the architecture {names[0]!r:.60}; {supported}")
    family = ARCHITECTURES[names[0]]
    if config.get("model_type") != family.model_type:
        got = f"model_type = {config.get('model_type')!r:.60}"
        raise InputError(f"got {got} for {names[0]}, wanted {family.model_type!r}; see config.json")
    return family
