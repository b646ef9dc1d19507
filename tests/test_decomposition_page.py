"""The page of a decomposition: what is given is in its tables, and a browser shows it as it is."""

import html
import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any

import jax.numpy as jnp
import numpy as np
import pytest
from excerpt import one_in
from random_models import FAMILIES
from random_parameters import generator

import uat_jax as uj
from uat_jax.errors import InputError
from uat_jax.report.decomposition_page import NEGATIVE, POSITIVE, Map, Sheet, document, fragment

EXPLAIN: Any = uj.explain
WORDS = ("[CLS]", "Ġa<b", "&amp;", '"q"')
N, LAYERS = 4, 3


def sheet(random, *, tokens=N, dtype=np.float32):
    draw = lambda *shape: random.standard_normal(shape).astype(dtype).astype(np.float64)
    by_term, depths, biases = draw(LAYERS + 2, tokens), draw(LAYERS + 1, tokens), draw(LAYERS + 1)
    heads = draw(LAYERS, 4)
    heads[1, 2] = np.nan
    return Sheet(
        title="a <title> & more",
        words=(WORDS * tokens)[:tokens],
        target="logit of </script>",
        output=float(by_term.sum()),
        digits=9,
        terms=("input", "bias", *(f"layer {j}" for j in range(1, LAYERS + 1))),
        lengths=np.abs(draw(LAYERS + 2)),
        shares=draw(LAYERS + 2),
        by_term=by_term,
        heads=Map("layer", [f"layer {j}" for j in (1, 2, 3)], ["head 1", "head 2", "head 3", "feed-forward"], heads),
        beside=[("input", 0.5), ("bias", -0.25)],
        depths=depths,
        biases=biases,
        lens=[("embedded tokens", [("</td>", 1.5), ("b", 0.5)])],
    )


@pytest.fixture
def random(request):
    return generator(request.node.name)


def tables(text):
    """Class → rows of (text, exact number or None) of every cell, of each table in order."""
    found = {}
    for kind, inside in re.findall(r'<table class="([^"]*)">(.*?)</table>', text, re.S):
        rows = [
            [
                (html.unescape(re.sub(r"<[^>]*>", "", cell)), exact(attributes))
                for attributes, cell in re.findall(r"<t[hd]([^>]*)>(.*?)</t[hd]>", row, re.S)
            ]
            for row in re.findall(r"<tr>(.*?)</tr>", inside, re.S)
        ]
        found.setdefault(kind.split()[-1], []).append(rows)
    return found


def exact(attributes):
    found = re.search(r'data-x="([^"]*)"', attributes)
    return None if found is None else float(found[1])


def numbers(rows):
    return np.array([[np.nan if x is None else x for _, x in row[1:]] for row in rows])


def check(text, given):
    """Every number in the tables is the one that was given, to the last digit; sums are those of rows and columns."""
    found = tables(text)
    (bars,), (heads,), (by_term,), (tokens,) = (found[kind] for kind in ("bars", "heads", "by-term", "tokens"))
    assert [row[0][0] for row in bars[1:-2]] == list(given.terms)
    same = lambda a, b: np.allclose(a, b, rtol=0.5e-8, atol=0, equal_nan=True)  # nine digits are written
    assert same([row[2][1] for row in bars[1:-2]], given.by_term.sum(axis=1))
    assert same(numbers(heads[1:])[:-1, :-1], given.heads.numbers)
    assert same(numbers(heads[1:])[:-1, -1], np.nansum(given.heads.numbers, axis=1))
    assert same(numbers(heads[1:])[-1, :-1], np.nansum(given.heads.numbers, axis=0))
    assert same(numbers(by_term[1:])[:-1, :-1], given.by_term.T)
    assert [row[0][0] for row in by_term[1:-1]] == [f"{i} {word}" for i, word in enumerate(given.words)]
    assert same(numbers(tokens[1:])[:-2], given.depths.T) and same(numbers(tokens[1:])[-2], given.biases)
    assert same(numbers(tokens[1:])[-1], given.depths.sum(1) + given.biases)


def test_numbers_are_those_that_were_given(random):
    given = sheet(random)
    text = document("a page", [given])
    check(text, given)
    assert "a &lt;title&gt; &amp; more" in text and "<title>a page" in text and text.count("</script>") == 2
    assert "http:" not in text and "https:" not in text and "src=" not in text and "url(" not in text
    with pytest.raises(AssertionError):
        check(text.replace(f'data-x="{given.by_term[0, 0]:+.9g}"', 'data-x="+1"', 1), given)


def test_zero_is_white_and_the_ends_are_blue_and_vermilion(random):
    given = sheet(random)
    cells = np.array([[0.0, 1.0, -1.0, 0.5]] * 3)
    heads = Map("layer", given.heads.rows, given.heads.columns, cells)
    text = "".join(document("", [given.__class__(**{**given.__dict__, "heads": heads})]).split("\n"))
    inside = re.search(r'<table class="map heads">.*?</table>', text, re.S)
    assert inside is not None
    colours = re.findall(r"background:rgb\((\d+),(\d+),(\d+)\)", inside[0])
    assert [tuple(map(int, c)) for c in colours[:3]] == [(255, 255, 255), POSITIVE, NEGATIVE]


def test_an_explanation_is_shown_in_a_notebook_and_saved(random, tmp_path):
    """The same numbers in both; a target, words and places that there are not are refused."""
    model, tokens = FAMILIES["two groups"].draw(random), jnp.array([2, 0, 1])
    found = uj.explain(model, tokens, "feature: 1 at 0", words=("a", "b", "c"), title="abc")
    check(found._repr_html_(), found.sheet())
    assert found._repr_html_() == fragment([found.sheet()])
    check(found.save(tmp_path / "page.html").read_text(), found.sheet())
    hidden = model.hidden(tokens)
    assert abs(found.sheet().output - float(hidden[0, 1])) < 1e-5 * float(jnp.abs(hidden).max())
    for given, message in (
        ({"words": ("a",)}, "got 1 words for 3 tokens"),
        ({"target": "feature: 2"}, "got feature 2, wanted −2 to 1"),
        ({"target": "logit: a"}, "without logits"),
        ({"target": "sum"}, "got the target 'sum', wanted"),
    ):
        with pytest.raises(InputError, match=message):
            EXPLAIN(model, tokens, **given)
    with pytest.raises(InputError, match=f"cannot write {tmp_path}/none/page.html: "):
        found.save(tmp_path / "none" / "page.html")
    with pytest.raises(InputError, match="wanted a name that ends in"):
        found.save(tmp_path / "page.txt")


FIXTURES = Path(__file__).parent / "model_fixtures"
FOLDERS = sorted(path.parent.name for path in FIXTURES.glob("*/expected.npz"))


@pytest.mark.parametrize("name", one_in(400, FOLDERS, kept=("mamba", "vit_classes")))
def test_the_page_of_a_family_says_what_is_in_it(name):
    """No heads where there are none, patches of images, labels where logits are of labels; the model's own output."""
    pytest.importorskip("safetensors", reason="reading weights needs safetensors (extra [models])")
    model, wanted = uj.load_model(FIXTURES / name), np.load(FIXTURES / name / "expected.npz")
    image = model.architecture.image is not None
    given = next(wanted[of] for of in ("images", "tokens", "tokens_7") if of in wanted.files)
    given = given[0].astype(np.float32) if image else given.reshape(-1)[:7]
    found = uj.explain(model, given, word=lambda number: f"w{number}")
    text = found._repr_html_()
    check(text, found.sheet())
    shown = html.unescape(re.sub(r"<style>.*?</style>|<script.*?</script>|<[^>]*>", " ", text, flags=re.S))
    attends, labels = model.blocks[0].heads > 0, model.architecture.reads != "each"
    assert ("head" in shown) == attends and ("ttention" in shown) == attends
    assert ("patch" in shown) == image and (re.search(r"\bw[0-9]", shown) is None) == image
    if model.unembedding is None:
        assert found.lens is None
        return
    assert ("labels of every depth" in shown) == labels and ("words of every depth" in shown) != labels
    output = np.asarray(model(model.check_tokens(given)), np.float64)
    logits = output if labels else output[-1]
    assert found.lens is not None and int(found.lens.words[-1, -1, 0]) == int(np.argmax(logits))
    assert f"logit of {'label' if labels else 'token'} {int(np.argmax(logits))}" in shown
    bias = 0.0 if model.logit_bias is None else float(model.logit_bias[int(np.argmax(logits))])
    if model.architecture.logit_cap is None:
        assert abs(found.sheet().output + bias - logits.max()) < 1e-4 * np.abs(logits).max()


@pytest.mark.campaign
def test_examples_of_the_document(tmp_path, monkeypatch):
    """Those of heads and of the page, for the small GPT-2 of the tests."""
    pytest.importorskip("safetensors", reason="reading weights needs safetensors (extra [models])")
    monkeypatch.chdir(tmp_path)
    root = Path(__file__).parent
    text = (root.parent / "docs" / "decomposition.md").read_text()
    blocks = re.findall(r"```python\n(.*?)```", text[text.index("## Heads") : text.index("## Example")], re.S)
    assert len(blocks) == 2
    tokens, corrupted = jnp.array([3, 1, 4, 1]), jnp.array([3, 1, 5, 9])
    model = uj.load_model(root / "model_fixtures" / "gpt2")
    names = {"uj": uj, "model": model, "tokens": tokens, "corrupted": corrupted, "paris": 7, "london": 8}
    for block in blocks:
        exec(block.replace("#464", "#46").replace("#3290", "#32"), names)
    assert "logit of #46 - #32" in (tmp_path / "page.html").read_text()


CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)


@pytest.mark.campaign
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium here to open the page in")
@pytest.mark.parametrize("tokens", [N, 300])
@pytest.mark.parametrize(("width", "scheme"), [(1280, "light"), (400, "dark")])
def test_a_browser_shows_the_numbers(random, tmp_path, tokens, width, scheme):
    """Headless Chromium, no network: the numbers of the tables, the words at the depth asked for, and no overflow."""
    given = sheet(random, tokens=tokens)
    page = tmp_path / "page.html"
    probe = "<script>document.body.dataset.wide = document.documentElement.scrollWidth;</script></body>"
    page.write_text(document("a page", [given]).replace("</body>", probe))
    check(browser(page, width, scheme), given)
    for depth in (0, LAYERS):
        text = browser(f"{page.as_uri()}#depth-1={depth}", width, scheme)
        found = re.findall(r'<span class="token"[^>]*data-x="([^"]*)"', text)
        assert np.allclose(np.array(found, np.float64), given.depths[depth], rtol=0.5e-8, atol=0)
        shown = re.search(r"<output[^>]*>([^<]*)</output>", text)
        assert shown is not None and shown[1] == ("embedded tokens", f"state behind layer {LAYERS}")[depth > 0]
        words = re.findall(r'<span class="token"[^>]*>([^<]*)</span>', text)
        assert [html.unescape(w) for w in words] == [w.replace("Ġ", " ") for w in given.words]
        wide = re.search(r'data-wide="(\d+)"', text)
        assert wide is not None and int(wide[1]) <= max(width, 500)  # headless windows are at least 500 wide


def browser(page, width, scheme):
    """The document after its scripts have run."""
    address = page.as_uri() if isinstance(page, Path) else page
    dark = ["--blink-settings=preferredColorScheme=0"] if scheme == "dark" else []
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--window-size={width},900", *dark, "--dump-dom"]
    run = subprocess.run(
        [str(CHROMIUM), *options, address], capture_output=True, text=True, timeout=120, env=os.environ
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(re.findall(r'<script type="application/json">(.*?)</script>', run.stdout, re.S)[0])["names"]
    return run.stdout
