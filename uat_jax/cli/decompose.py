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
from argparse import ArgumentParser
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, get_args

import jax
import jax.numpy as jnp
import numpy as np
from rich.console import Console

from uat_jax.certification import Certification, certify_decomposition
from uat_jax.cli.options import console, working
from uat_jax.decide.certificate import check_writable, environment
from uat_jax.decide.settings import DTYPES
from uat_jax.decomposition.adaptation import adaptation
from uat_jax.decomposition.attribution import (
    Attribution,
    Output,
    Similarity,
    attribute,
    similarity,
    similarity_by_token,
)
from uat_jax.decomposition.decomposition import Decomposition, check_padding, decompose
from uat_jax.decomposition.measurements import PARAMETERS, Depths, by_depth, changes, lengths
from uat_jax.decomposition.sources import By
from uat_jax.decomposition.targets import FORMS, Target, read_target, similarity_to, usual_target
from uat_jax.devices import DEVICES, numerics, on_device
from uat_jax.errors import FloatRangeError, InputError
from uat_jax.explanation import PAGE, PICTURES, Explanation, explain, write_page
from uat_jax.networks import minilm
from uat_jax.networks.families import load_model, read_adapter
from uat_jax.networks.families.adapter import Adapter
from uat_jax.networks.model import Model
from uat_jax.networks.tokenizer import TOKENIZER, tokenize, words
from uat_jax.networks.tokenizer import numbers as token_numbers
from uat_jax.report import pictures
from uat_jax.report.decomposition import (
    CERTIFIED,
    adaptation_figures,
    certification_figures,
    figures,
    finer_figures,
    layer_figures,
    show_adaptation,
    show_certification,
    show_finer,
    show_layers,
    show_similarity,
    show_terms,
    similarity_figures,
)

MODELS = {"minilm": minilm.folder}
"""Name → the folder of a packaged model."""
RESULT, CERTIFICATE, PAGE_OF_FOLDER = "decomposition.json", "certificate.json", "page.html"


def add_decompose(parser: ArgumentParser) -> None:
    """The options of ``uat-jax decompose``."""
    parser.add_argument("folder", nargs="?", metavar="MODEL_DIR", help="a Hugging Face folder")
    parser.add_argument("--model", help=f"instead of a folder: {', '.join(MODELS)}")
    parser.add_argument("--adapter", metavar="DIR", help="a folder with a LoRA adapter of PEFT for that model")
    parser.add_argument("--text", action="append", default=[], metavar="TEXT", help="repeatable")
    parser.add_argument("--tokens", action="append", default=[], metavar="1,2,3", help="repeatable: token numbers")
    parser.add_argument("--target", metavar="WHAT", help=f"what is shared out: {FORMS}")
    parser.add_argument("--by", choices=get_args(By), default="layer", help="how finely it is shared out")
    parser.add_argument("--layers", action="store_true", help="the terms and rounding errors after every layer too")
    parser.add_argument("--dtype", help=f"one of {', '.join(DTYPES)}; default: that of the weights")
    out = f"a page (NAME.html), a picture of --by ({', '.join(PICTURES)}), or a folder: both, {RESULT}, {CERTIFICATE}"
    parser.add_argument("--out", metavar="PATH", help=out)
    parser.add_argument("--device", help=f"one of {', '.join(DEVICES)} (default: JAX's own choice)")
    parser.set_defaults(run=lambda options: _run(options, console()))


@dataclass(frozen=True)
class Input:
    """One text or list of token numbers."""

    label: str
    tokens: jax.Array
    words: Sequence[str]
    """What each token is called."""
    named: Callable[[int], str] = str
    """Token number → word, or the number itself without a tokenizer."""


@dataclass(frozen=True)
class Result:
    """What is found for an input."""

    input: Input
    decomposition: Decomposition
    output: str
    """What the contributions add up to, in words."""
    attribution: Attribution
    finer: Attribution | None
    """By heads, neurons or tokens, if that is asked for."""
    explanation: Explanation | None
    """What a page or a picture shows, if one is."""
    depths: Depths | None
    changes: np.ndarray | None
    """How much each of the five parameters of every layer changes, (L, 5)."""
    adaptation: tuple[Decomposition, Attribution] | None
    """What the adapter changes, if there is one."""


def _run(options: argparse.Namespace, console: Console) -> int:
    """Exit code 0, or 1 if the decomposition is not certified."""
    folder = _folder(options)
    adapter = None if options.adapter is None else read_adapter(options.adapter)
    _check_out(options)
    wide = options.dtype == "float64" or jax.config.read("jax_enable_x64")
    with on_device(options.device), jax.enable_x64(wide):
        with working("reading the model") as status:
            model = _load(folder, options.dtype, adapter)
            inputs = _inputs(model, folder, options)
            targets = _targets(model, inputs, options, folder)
            results = [_result(model, *pair, options, status.update) for pair in zip(inputs, targets, strict=True)]
            pairs = _similarities(model, results, status.update)
            certification = certify_decomposition(model, progress=lambda now: status.update(f"certifying: {now}"))
        if adapter is not None:
            console.print(f"Adapter {adapter.folder}: {adapter}.\n", markup=False, highlight=False)
        _show(console, results, pairs, layers=options.layers)
        show_certification(console, certification)
        if options.out and Path(options.out).suffix in (PAGE, *PICTURES):
            _write_one(options, results, certification)
        elif options.out:
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
    return Input(label, tokens, [named(int(token)) for token in tokens], named)


def _numbers(text: str) -> list[int]:
    """Token numbers in ASCII digits, none longer than those of a vocabulary can be."""
    numbers = [number.strip() for number in text.split(",")]
    long = next((number for number in numbers if re.fullmatch(r"-?[0-9]{19,}", number)), None)
    if long is not None:
        raise InputError(f"got the token {_short(long)}, which no vocabulary has; wanted numbers of the model's own")
    if not all(re.fullmatch(r"-?[0-9]{1,18}", number) for number in numbers):
        raise InputError(f"got --tokens {_short(text)!r}, wanted whole numbers and commas, such as 1,2,3")
    return [int(number) for number in numbers]


def _short(text: str) -> str:
    return text if len(text) <= 40 else f"{text[:39]}…"


# --- what is found --------------------------------------------------------------------------------------------------


def _targets(model: Model, inputs: Sequence[Input], options: argparse.Namespace, folder: Path) -> list[Target]:
    """What is shared out of each input.

    Raises:
        InputError: a target that there is not, naming the input; a similarity of fewer or more than two inputs.
        FloatRangeError: a forward pass that overflows.
    """
    run = jax.jit(lambda model, tokens: model.scores(model.hidden(tokens)))
    scores = [run(model, given.tokens) for given in inputs]
    for given, found in zip(inputs, scores, strict=True):
        _check_finite(given, found)
    if options.target == "similarity":
        if len(inputs) != 2:
            raise InputError(f'got the target "similarity" and {len(inputs)} of the two inputs that it is of')
        return [similarity_to(model, *pair) for pair in (scores, scores[::-1])]
    numbers = token_numbers(folder) if (folder / TOKENIZER).is_file() else None
    found = []
    for given, of in zip(inputs, scores, strict=True):
        try:
            asked = options.target
            usual = asked is None
            found.append(usual_target(model, of, given.named) if usual else read_target(asked, model, of, numbers))
        except InputError as error:
            raise InputError(f"{_short(given.label)!r}: {error}") from None
    return found


def _check_finite(given: Input, *arrays: jax.Array) -> None:
    if not all(bool(jnp.all(jnp.isfinite(x))) for x in arrays):
        raise FloatRangeError(
            f"{_short(given.label)!r}: got NaN or infinity; take a wider --dtype, or check the weights"
        )


def _result(
    model: Model, given: Input, target: Target, options: argparse.Namespace, progress: Callable[[str], None]
) -> Result:
    """Layers, changes and what a page shows only if they are asked for."""
    say, folder = lambda now: progress(f"{_short(given.label)!r}: {now}"), options.out and not _is_file(options)
    say("terms")
    decomposition = decompose(model, given.tokens)
    _check_finite(given, decomposition.terms, decomposition.hidden)
    explanation = None
    if options.out:
        explanation = explain(
            model, given.tokens, target, words=given.words, title=given.label, word=given.named, progress=say
        )
    say("contributions")
    by = functools.partial(attribute_compiled, model, given.tokens, target.output)
    attribution = by("layer") if explanation is None else explanation.layers
    finer = None
    if options.by != "layer":
        finer = explanation.heads if explanation is not None and options.by == "head" else by(options.by)
    say("layers")
    depths = by_depth(model, given.tokens) if options.layers or folder else None
    changed = changes(model, given.tokens, _others(model, given.tokens)) if folder else None
    adapted = None if options.adapter is None else adaptation(model, given.tokens, target.output)
    return Result(given, decomposition, target.name, attribution, finer, explanation, depths, changed, adapted)


def attribute_compiled(model: Model, tokens: jax.Array, output: Output, by: By) -> Attribution:
    """`attribute` as one compiled program."""
    if model.architecture.image is None:
        return attribute(model, tokens, output, by=by)
    return jax.jit(lambda model, tokens: attribute(model, tokens, output, by=by))(model, tokens)


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
        if result.finer is not None:
            show_finer(console, result.output, result.finer, result.input.words)
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


def _is_file(options: argparse.Namespace) -> bool:
    """Whether --out is a page or a picture, and not a folder."""
    return Path(options.out).suffix in (PAGE, *PICTURES)


def _check_out(options: argparse.Namespace) -> None:
    """Find out before the work whether --out can be written.  Raises `InputError` if not, naming it as it was given."""
    if not options.out:
        return
    path = Path(options.out)
    if not _is_file(options) or path.suffix in PICTURES:
        pictures.check_pictures()
    if path.suffix in PICTURES and len(options.text) + len(options.tokens) != 1:
        raise InputError(f"got --out {options.out} for several inputs, wanted one; a page (NAME.html) shows them all")
    if path.suffix in PICTURES and options.by == "neuron":
        raise InputError(f"got --out {options.out} with --by neuron, of which there is no picture; take a folder")
    if _is_file(options):
        check_writable(path)
        return
    try:
        check_writable(path / RESULT)
    except InputError as error:
        raise InputError(str(error).replace(str(path / RESULT), str(options.out), 1)) from None


def _page(
    model: str, results: Sequence[Result], certification: Certification
) -> tuple[str, list[Explanation], list[str]]:
    """Title, inputs and notes of a page."""
    found = [result.explanation for result in results if result.explanation is not None]
    verdict = certification.certificate.verdict
    return f"{model}, term by term", found, [f"{verdict}: {CERTIFIED}."]


def _write_one(options: argparse.Namespace, results: Sequence[Result], certification: Certification) -> None:
    """The page of all inputs, or the picture of one."""
    path = Path(options.out)
    if path.suffix == PAGE:
        write_page(path, *_page(options.model or str(options.folder), results, certification))
        return
    (result,) = results
    assert result.explanation is not None
    result.explanation.picture(path, options.by)


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
            write_page(Path(place) / PAGE_OF_FOLDER, *_page(head["model"], results, certification))
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
            "finer": None if result.finer is None else finer_figures(result.finer),
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
