"""``uat-jax decompose``: the terms of a real network at texts or tokens, on the terminal, as JSON and pictures."""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import os
import re
import tempfile
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from uat_jax.certification import Certification, certify_decomposition
from uat_jax.decide.certificate import check_writable, environment
from uat_jax.decide.settings import DTYPES
from uat_jax.decomposition.adaptation import adaptation
from uat_jax.decomposition.attribution import (
    Attribution,
    Direction,
    Logit,
    Output,
    Similarity,
    contributions,
    similarity,
    similarity_by_token,
)
from uat_jax.decomposition.decomposition import Decomposition, check_padding, decompose
from uat_jax.decomposition.measurements import PARAMETERS, Depths, by_depth, changes, lengths
from uat_jax.devices import DEVICES, numerics, on_device
from uat_jax.errors import FloatRangeError, InputError
from uat_jax.networks import minilm
from uat_jax.networks.families import load_model, read_adapter
from uat_jax.networks.families.adapter import Adapter
from uat_jax.networks.model import Model
from uat_jax.networks.tokenizer import TOKENIZER, tokenize, words
from uat_jax.report import pictures
from uat_jax.report.decomposition import (
    adaptation_figures,
    certification_figures,
    figures,
    layer_figures,
    show_adaptation,
    show_certification,
    show_layers,
    show_similarity,
    show_terms,
    similarity_figures,
)

MODELS = {"minilm": minilm.folder}
"""Name → the folder of a packaged model."""
RESULT, CERTIFICATE = "decomposition.json", "certificate.json"


def add_decompose(commands: Any, console: Callable[[], Console]) -> None:
    """The subcommand and its options; `console` makes the one that the tables are printed on."""
    parser = commands.add_parser("decompose", help="write a real network's output as the papers' sum, term by term")
    parser.add_argument("folder", nargs="?", metavar="MODEL_DIR", help="a Hugging Face folder")
    parser.add_argument("--model", help=f"instead of a folder: {', '.join(MODELS)}")
    parser.add_argument("--adapter", metavar="DIR", help="a folder with a LoRA adapter of PEFT for that model")
    parser.add_argument("--text", action="append", default=[], metavar="TEXT", help="repeatable")
    parser.add_argument("--tokens", action="append", default=[], metavar="1,2,3", help="repeatable: token numbers")
    parser.add_argument("--layers", action="store_true", help="the terms and rounding errors after every layer too")
    parser.add_argument("--dtype", help=f"one of {', '.join(DTYPES)}; default: that of the weights")
    parser.add_argument("--out", metavar="DIR", help=f"write {RESULT}, {CERTIFICATE} and pictures into this folder")
    parser.add_argument("--device", help=f"one of {', '.join(DEVICES)} (default: JAX's own choice)")
    parser.set_defaults(run=lambda options: _run(options, console()))


@dataclass(frozen=True)
class Input:
    """One text or list of token numbers."""

    label: str
    tokens: jax.Array
    words: Sequence[str]
    """What each token is called."""


@dataclass(frozen=True)
class Result:
    """What is found for an input."""

    input: Input
    decomposition: Decomposition
    output: str
    """What the contributions add up to, in words."""
    attribution: Attribution
    depths: Depths | None
    changes: np.ndarray | None
    """How much each of the five parameters of every layer changes, (L, 5)."""
    adaptation: tuple[Decomposition, Attribution] | None
    """What the adapter changes, if there is one."""


def _run(options: argparse.Namespace, console: Console) -> int:
    """Exit code 0, or 1 if the decomposition is not certified."""
    folder = _folder(options)
    adapter = None if options.adapter is None else read_adapter(options.adapter)
    if options.out:
        pictures.check_pictures()
        check_writable(Path(options.out) / RESULT)
    wide = options.dtype == "float64" or jax.config.read("jax_enable_x64")
    with on_device(options.device), jax.enable_x64(wide):
        with Console(stderr=True).status("reading the model") as status:
            model = _load(folder, options.dtype, adapter)
            inputs = _inputs(model, folder, options)
            results = [_result(model, given, options, status.update) for given in inputs]
            pairs = _similarities(model, results, status.update)
            certification = certify_decomposition(model, progress=lambda now: status.update(f"certifying: {now}"))
        if adapter is not None:
            console.print(f"Adapter {adapter.folder}: {adapter}.\n", markup=False, highlight=False)
        _show(console, results, pairs, layers=options.layers)
        show_certification(console, certification)
        if options.out:
            name = options.model or str(options.folder)
            head = {"model": name, "adapter": _adapter(adapter), "dtype": str(model.embedding.tokens.dtype)}
            head |= {"environment": {**environment(), **numerics()}}
            head |= {"certification": certification_figures(certification)}
            _write(Path(options.out), head, results, pairs, certification)
    return 0 if certification.passes else 1


# --- what is given --------------------------------------------------------------------------------------------------


def _folder(options: argparse.Namespace) -> Path:
    """The folder of the model.

    Raises:
        InputError: no model is named, or two, or an unknown one; or an option says nothing about it.
    """
    if (options.folder is None) == (options.model is None):
        got = "no model" if options.folder is None else "MODEL_DIR and --model"
        raise InputError(f"got {got}, wanted one: MODEL_DIR, a Hugging Face folder, or --model {' or '.join(MODELS)}")
    if options.dtype is not None and options.dtype not in DTYPES:
        raise InputError(f"unknown dtype {options.dtype!r}; wanted one of {', '.join(DTYPES)}")
    if not options.text and not options.tokens:
        raise InputError('got no input, wanted --text "…" or --tokens 1,2,3; give at least one')
    if options.model is None:
        return Path(options.folder)
    if options.model not in MODELS:
        raise InputError(f"unknown model {options.model!r}; wanted {', '.join(MODELS)}, or a folder as MODEL_DIR")
    return MODELS[options.model]()


def _load(folder: Path, dtype: str | None, adapter: Adapter | None) -> Model:
    """The model; what it warns of, such as another dtype than that of its file, is one line on stderr."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = load_model(folder, None if dtype is None else jnp.dtype(dtype), adapter)
    for warning in caught:
        Console(stderr=True, soft_wrap=True).print(f"uat-jax: {warning.message}", markup=False, highlight=False)
    return model


def _inputs(model: Model, folder: Path, options: argparse.Namespace) -> list[Input]:
    """Texts first.  Raises `InputError` for tokens the model does not take, naming the input, or no tokenizer."""
    if options.text and not (folder / TOKENIZER).is_file():
        raise InputError(f"{folder}: got no {TOKENIZER}, which --text needs; use --tokens 1,2,3")
    for text in options.text:
        if any("\ud800" <= letter <= "\udfff" for letter in text):
            raise InputError(f"got --text {_short(text)!a}, which is not UTF-8; check the terminal's encoding")
    given = list(zip(options.text, tokenize(folder, options.text), strict=True)) if options.text else []
    named = words(folder) if options.text else str
    inputs = [_input(model, text, numbers, named) for text, numbers in given]
    return inputs + [_input(model, text, _numbers(text), str) for text in options.tokens]


def _input(model: Model, label: str, numbers: Any, named: Callable[[int], str]) -> Input:
    try:
        tokens = model.check_tokens(numbers)
        check_padding(model, tokens)
    except InputError as error:
        raise InputError(f"{_short(label)!r}: {error}") from None
    return Input(label, tokens, [named(int(token)) for token in tokens])


def _numbers(text: str) -> list[int]:
    """Token numbers in ASCII digits, none longer than those of a vocabulary can be."""
    numbers = [number.strip() for number in text.split(",")]
    if not all(re.fullmatch(r"-?[0-9]{1,18}", number) for number in numbers):
        raise InputError(f"got --tokens {_short(text)!r}, wanted whole numbers and commas, such as 1,2,3")
    return [int(number) for number in numbers]


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


# --- what is found --------------------------------------------------------------------------------------------------


def _result(model: Model, given: Input, options: argparse.Namespace, progress: Callable[[str], None]) -> Result:
    """Layers and changes only if they are asked for."""
    progress(f"{_short(given.label)!r}: terms")
    decomposition = decompose(model, given.tokens)
    scores = jax.jit(lambda model, tokens: model.scores(model.hidden(tokens)))(model, given.tokens)
    if not all(bool(jnp.all(jnp.isfinite(x))) for x in (decomposition.terms, decomposition.hidden, scores)):
        raise FloatRangeError(
            f"{_short(given.label)!r}: got NaN or infinity; take a wider --dtype, or check the weights"
        )
    progress(f"{_short(given.label)!r}: contributions")
    name, output, value = _output(model, scores)
    split = jax.jit(functools.partial(contributions, output=output))
    attribution = Attribution(split(model, given.tokens), value)
    progress(f"{_short(given.label)!r}: layers")
    depths = by_depth(model, given.tokens) if options.layers or options.out else None
    changed = changes(model, given.tokens, _others(model, given.tokens)) if options.out else None
    adapted = None if options.adapter is None else adaptation(model, given.tokens, output)
    return Result(given, decomposition, name, attribution, depths, changed, adapted)


def _output(model: Model, scores: jax.Array) -> tuple[str, Output, jax.Array]:
    """The largest logit at the last token; without logits the length of the mean m of the features, ⟨m, m / |m|⟩.

    A bias of the logits decides which is the largest, but is in none of the terms.
    """
    if model.unembedding is not None:
        word = int(jnp.argmax(scores[-1] if model.logit_bias is None else scores[-1] + model.logit_bias))
        of = "token" if model.architecture.reads == "each" else "label"
        less = "" if model.logit_bias is None else " without its bias"
        return f"logit of {of} {word} at the last place{less}", Logit(-1, word), scores[-1, word]
    mean = jnp.mean(scores, axis=0)
    length = jnp.sqrt(jnp.sum(mean * mean))
    return "length of the mean feature", Direction(mean / length), length


def _others(model: Model, tokens: jax.Array) -> jax.Array:
    """An input of the same length: the next word of the vocabulary at every place."""
    return (tokens + 1) % model.embedding.tokens.shape[0]


Pairs = dict[tuple[int, int], tuple[Similarity, tuple[Attribution, Attribution]]]
"""Of two inputs, by their numbers: the similarity by pairs of terms, and by the terms and tokens of each."""


def _similarities(model: Model, results: Sequence[Result], progress: Callable[[str], None]) -> Pairs:
    """Of any two inputs of an encoder, by their numbers 1, 2, …; none for a model with logits."""
    if model.unembedding is not None:
        return {}
    numbered, found = enumerate((result.input.tokens for result in results), 1), {}
    for (i, first), (j, second) in itertools.combinations(numbered, 2):
        progress(f"similarity of {i} and {j}")
        found[i, j] = jax.jit(similarity)(model, first, second), jax.jit(similarity_by_token)(model, first, second)
    return found


# --- what is shown and written --------------------------------------------------------------------------------------


def _show(console: Console, results: Sequence[Result], pairs: Pairs, *, layers: bool) -> None:
    for number, result in enumerate(results, 1):
        title = f"{number}  {result.input.label!r}, {len(result.input.tokens)} tokens"
        show_terms(console, title, result.decomposition, result.output, result.attribution)
        if result.adaptation is not None:
            change, to_output = result.adaptation
            show_adaptation(console, change, result.output, to_output)
        if layers and result.depths is not None:
            show_layers(console, result.depths)
    for (i, j), (found, _) in pairs.items():
        show_similarity(console, f"Similarity of {i} (downwards) and {j} (across)", found)


def _adapter(adapter: Adapter | None) -> dict[str, Any] | None:
    """Folder, and rank and scale of each layer."""
    if adapter is None:
        return None
    layers = {name: {"rank": update.rank, "scale": update.scale} for name, update in adapter.layers.items()}
    return {"folder": adapter.folder, "layers": layers}


def _write(
    folder: Path, head: dict[str, Any], results: Sequence[Result], pairs: Pairs, certification: Certification
) -> None:
    """All files are finished in a folder of their own before the first one appears in `folder`."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryDirectory(dir=folder, prefix=".") as place:
            _write_json(Path(place) / RESULT, head, results, pairs)
            certification.certificate.save(Path(place) / CERTIFICATE)
            _draw(Path(place), results, pairs)
            for file in sorted(Path(place).iterdir()):
                os.replace(file, folder / file.name)
    except OSError as error:
        raise InputError(f"cannot write {folder}: {error.strerror}; choose a folder that can be written") from None


def _write_json(path: Path, head: dict[str, Any], results: Sequence[Result], pairs: Pairs) -> None:
    inputs = [
        {
            "input": result.input.label,
            "tokens": np.asarray(result.input.tokens).tolist(),
            "words": list(result.input.words),
            "output_is": result.output,
            **figures(result.decomposition, result.attribution),
            "layers": None if result.depths is None else layer_figures(result.depths),
            "changes": None
            if result.changes is None
            else dict(zip(PARAMETERS, result.changes.T.tolist(), strict=True)),
            "adaptation": None if result.adaptation is None else adaptation_figures(*result.adaptation),
        }
        for result in results
    ]
    similarities = [{"first": i, "second": j, **similarity_figures(*found)} for (i, j), found in pairs.items()]
    everything = {**head, "inputs": inputs, "similarities": similarities}
    path.write_text(json.dumps(everything, indent=2, ensure_ascii=False, allow_nan=False) + "\n", encoding="utf-8")


def _draw(place: Path, results: Sequence[Result], pairs: Pairs) -> None:
    """Three or four pictures for each input, three for each pair."""
    for number, result in enumerate(results, 1):
        names, label = result.decomposition.names, result.input.label
        file = lambda name, number=number: place / f"{number}-{name}.png"
        pictures.picture_of_terms(file("terms"), label, names, lengths(result.decomposition.terms).tolist())
        to_output = np.asarray(result.attribution.contributions, np.float64)
        title = f"{result.output}: {label}"
        pictures.picture_of_tokens(file("tokens"), title, names, result.input.words, to_output)
        if result.changes is not None:
            title = f"from the input to another one: {label}"
            pictures.picture_of_parameters(file("parameters"), title, PARAMETERS, result.changes)
        if result.depths is not None and result.depths.errors is not None:
            pictures.picture_of_errors(file("errors"), f"against float64: {label}", result.depths.errors)
    for (i, j), (found, by_token) in pairs.items():
        names = results[0].decomposition.names
        file, title = place / f"similarity-{i}-{j}.png", f"similarity of {i} and {j}: {float(found.output):.4f}"
        pictures.picture_of_similarity(file, title, names, np.asarray(found.contributions, np.float64))
        for number, text in zip((i, j), by_token, strict=True):
            file, title = place / f"similarity-{i}-{j}-{number}.png", f"{number} in the similarity of {i} and {j}"
            to_cosine = np.asarray(text.contributions, np.float64)
            pictures.picture_of_tokens(file, title, names, results[number - 1].input.words, to_cosine)
