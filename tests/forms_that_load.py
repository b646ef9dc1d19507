"""The forms of checkpoint that people run, which of them load, and how near they are to the reference library.

    python tests/forms_that_load.py [FOLDER]

A form is an architecture as a config names it, with the options that change what is computed.  Each that loads is a
small model of that class with random weights, made by ``make_model_fixtures.py`` from `transformers`, in float64, here
or in another folder; the error is the largest difference of any output.  The weights of the checkpoints themselves are
not read here.
"""

import sys
import warnings
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

import jax
import jax.numpy as jnp
import numpy as np

from uat_jax.errors import UnsupportedError
from uat_jax.networks.checkpoint import Checkpoint
from uat_jax.networks.families import build_model, load_model

FIXTURES = Path(__file__).parent / "model_fixtures"


class Form(NamedTuple):
    """An architecture, the checkpoints it is known from, and its fixture; without one it does not load."""

    architecture: str
    known_from: str
    fixture: str | None = None
    model_type: str | None = None
    """Of a form that does not load."""


FORMS = (
    Form("GPT2LMHeadModel", "gpt2, distilgpt2", "gpt2"),
    Form("GPT2ForSequenceClassification", "DialogRPT", "gpt2_classes"),
    Form("BertModel", "all-MiniLM, bge", "bert"),
    Form("BertForMaskedLM", "bert-base-uncased", "bert_masked"),
    Form("BertForSequenceClassification", "bert-base-multilingual-uncased-sentiment", "bert_classes"),
    Form("RobertaModel", "all-distilroberta", "roberta"),
    Form("RobertaForMaskedLM", "roberta-base", "roberta_masked"),
    Form("RobertaForSequenceClassification", "twitter-roberta-base-sentiment", "roberta_classes"),
    Form("XLMRobertaModel", "multilingual-e5, bge-m3", "xlm_roberta"),
    Form("XLMRobertaForMaskedLM", "xlm-roberta-base", "xlm_roberta_masked"),
    Form("XLMRobertaForSequenceClassification", "bge-reranker", "xlm_roberta_classes"),
    Form("DistilBertModel", "msmarco-distilbert", "distilbert"),
    Form("DistilBertForMaskedLM", "distilbert-base-uncased", "distilbert_masked"),
    Form("DistilBertForSequenceClassification", "distilbert sst-2", "distilbert_classes"),
    Form("MPNetModel", "all-mpnet", "mpnet"),
    Form("MPNetForMaskedLM", "mpnet-base", "mpnet_masked"),
    Form("MPNetForSequenceClassification", "mpnet classifiers", "mpnet_classes"),
    Form("ElectraModel", "electra-base-discriminator, without head", "electra"),
    Form("ElectraForMaskedLM", "electra-base-generator", "electra_masked"),
    Form("ElectraForSequenceClassification", "electra classifiers", "electra_classes"),
    Form("AlbertModel", "paraphrase-albert", "albert"),
    Form("AlbertForMaskedLM", "albert-base-v2", "albert_masked"),
    Form("AlbertForSequenceClassification", "albert classifiers", "albert_classes"),
    Form("LlamaForCausalLM", "Llama 1 and 2, TinyLlama, SmolLM 1 and 2", "llama"),
    Form("LlamaForCausalLM", "rope_type llama3: Llama 3.1 to 3.3", "llama_llama3"),
    Form("LlamaForCausalLM", "rope_type linear", "llama_linear"),
    Form("LlamaForCausalLM", "rope_type dynamic", "llama_dynamic"),
    Form("LlamaForCausalLM", "rope_type yarn", "llama_yarn"),
    Form("LlamaForCausalLM", "rope_type longrope", "llama_longrope"),
    Form("MistralForCausalLM", "Mistral 7B", "mistral"),
    Form("Qwen2ForCausalLM", "Qwen 2 and 2.5", "qwen2"),
    Form("Qwen3ForCausalLM", "Qwen 3", "qwen3"),
    Form("Qwen3MoeForCausalLM", "Qwen3 30B A3B", "qwen3_moe"),
    Form("GemmaForCausalLM", "Gemma 1", "gemma"),
    Form("Gemma2ForCausalLM", "Gemma 2", "gemma2"),
    Form("Gemma3ForCausalLM", "Gemma 3 1B", "gemma3"),
    Form("Phi3ForCausalLM", "Phi-3 mini", "phi3"),
    Form("PhiForCausalLM", "Phi-1, Phi-2", "phi"),
    Form("SmolLM3ForCausalLM", "SmolLM3", "smollm3"),
    Form("OlmoForCausalLM", "OLMo 1", "olmo"),
    Form("Olmo2ForCausalLM", "OLMo 2", "olmo2"),
    Form("GraniteForCausalLM", "Granite 3", "granite"),
    Form("Starcoder2ForCausalLM", "StarCoder 2", "starcoder2"),
    Form("StableLmForCausalLM", "StableLM 2", "stablelm"),
    Form("GPTNeoXForCausalLM", "Pythia", "gpt_neox"),
    Form("GPTJForCausalLM", "GPT-J", "gptj"),
    Form("FalconForCausalLM", "Falcon 7B", "falcon"),
    Form("MixtralForCausalLM", "Mixtral 8x7B", "mixtral"),
    Form("OPTForCausalLM", "OPT", "opt"),
    Form("BloomForCausalLM", "BLOOM", "bloom"),
    Form("MambaForCausalLM", "Mamba", "mamba"),
    Form("ViTForImageClassification", "vit-base-patch16", "vit_classes"),
    Form("CLIPTextModel", "text encoder of Stable Diffusion", "clip_text"),
    Form("T5EncoderModel", "sentence-t5", "t5_encoder"),
    Form("WhisperForConditionalGeneration", "Whisper", None, "whisper"),
    Form("DebertaV2Model", "DeBERTa-v3", None, "deberta-v2"),
    Form("DeepseekV3ForCausalLM", "DeepSeek-V3", None, "deepseek_v3"),
    Form("GptOssForCausalLM", "gpt-oss", None, "gpt_oss"),
)


def errors_of(fixture: str, folder: Path = FIXTURES) -> dict[str, float]:
    """The largest error at each number of tokens, or of images; of a model that the folder's config describes."""
    with jax.enable_x64(True):
        model, wanted = load_model(folder / fixture, "float64"), np.load(folder / fixture / "expected.npz")
        run = jax.jit(lambda model, tokens: model(tokens))
        off = lambda tokens, output: float(np.abs(np.asarray(run(model, jnp.asarray(tokens))) - output).max())
        if "images" in wanted.files:
            rows = [model.check_tokens(image) for image in wanted["images"]]
            return {"images": max(map(off, rows, wanted["output"]))}
        if "tokens" in wanted.files:
            return {str(wanted["tokens"].shape[1]): max(map(off, wanted["tokens"], wanted["output"]))}
        lengths = sorted(int(name.removeprefix("tokens_")) for name in wanted.files if name.startswith("tokens_"))
        return {str(n): off(wanted[f"tokens_{n}"], wanted[f"output_{n}"]) for n in lengths}


def refusal_of(form: Form) -> str:
    """The line with which a form is refused."""
    config: Mapping[str, object] = {"architectures": [form.architecture], "model_type": form.model_type}
    try:
        build_model(Checkpoint(dict(config), {}))
    except UnsupportedError as error:
        return str(error)
    return ""


def main(folder: Path = FIXTURES) -> None:
    """One line for each form, and how many load."""
    loaded = 0
    for form in FORMS:
        name = f"{form.architecture:38} {form.known_from:46}"
        if form.fixture is None:
            print(name, "refused:", refusal_of(form).partition(";")[0])
            continue
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            print(
                name, ", ".join(f"{length}: {error:.1e}" for length, error in errors_of(form.fixture, folder).items())
            )
        loaded += 1
    print(f"{loaded} of {len(FORMS)} load")


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:2]))
