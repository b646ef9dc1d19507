"""The page about a certificate: what it says, that it needs nothing else, and that no certificate can break it."""

import dataclasses
import re
from html.parser import HTMLParser

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import uat_jax as uj
from uat_jax import cli
from uat_jax.decide.equivalence import Pair
from uat_jax.decide.rounding_by_scale import SCALES, AtScale, rounding_by_scale
from uat_jax.report.certificate_page import MEANINGS, certificate_page
from uat_jax.report.rounding_plot import rounding_plot

pytestmark = pytest.mark.usefixtures("standard_promotion")

X = jax.ShapeDtypeStruct((3,), jnp.float32)
SIZED = jax.ShapeDtypeStruct(jax.export.symbolic_shape("n"), jnp.float32)


def naive(x):
    return jnp.exp(x) / jnp.exp(x).sum()


def doubled(x):
    return 2 * jax.nn.softmax(x)


def welford(carry, x):
    return carry + x, None


def total(initial, x):
    return initial + x.sum()


CASES = {
    "proved": lambda: uj.certify(jnp.sum, lambda x: x.sum(), SIZED),
    "certified": lambda: uj.certify(jax.nn.softmax, naive, X),
    "refuted": lambda: uj.certify(jax.nn.softmax, doubled, X),
    "at a tie": lambda: uj.certify(jnp.sign, jnp.ones_like, uj.nonnegative(X)),
    "unknown": lambda: uj.certify(jax.nn.softmax, naive, X, budget=1e-9),
    "a claim": lambda: uj.prove("updates.boxes"),
    "a proof": lambda: uj.prove("updates.in-place"),
    "a scan": lambda: uj.prove_scan(welford, total, jnp.float32(0), jax.ShapeDtypeStruct((4,), jnp.float32)),
    "no floats": lambda: uj.certify(jnp.abs, lambda x: jnp.where(x < 0, -x, x), jax.ShapeDtypeStruct((), jnp.int8)),
}
VOID = frozenset("br col hr img input link meta".split())


class Outline(HTMLParser):
    """The elements of a page: that they are closed in order, and what has an id, a heading or a link."""

    def __init__(self, text):
        super().__init__()
        self.open, self.ids, self.levels, self.links, self.cells = [], [], [], [], []
        self.feed(text)
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attrs):
        given = dict(attrs)
        self.ids += [given["id"]] if "id" in given else []
        self.links += [given["href"]] if "href" in given else []
        self.levels += [int(tag[1])] if re.fullmatch("h[1-6]", tag) else []
        assert "src" not in given and not any(name.startswith("on") for name in given), given
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        assert self.open.pop() == tag, tag


def checked(text):
    """The outline of a whole page that a reader of any kind can use."""
    found = Outline(text)
    assert len(set(found.ids)) == len(found.ids) and "main" in found.ids
    assert {link[1:] for link in found.links if link.startswith("#")} <= set(found.ids)
    assert found.levels[0] == 1 and all(b <= a + 1 for a, b in zip(found.levels, found.levels[1:], strict=False))
    assert "://" not in text and '<html lang="en">' in text and "default-src 'none'" in text
    return found


@pytest.mark.parametrize("name", CASES)
def test_a_page_says_the_verdict_and_stands_alone(name):
    certificate = CASES[name]()
    text = certificate.html()
    checked(text)
    assert f">{certificate.verdict}</span>" in text
    if "left" in certificate.claim:
        assert MEANINGS[certificate.verdict].split(".")[0] in text
    for assumption in certificate.assumptions:
        assert assumption.text.replace("'", "&#x27;").replace("<", "&lt;").replace(">", "&gt;") in text
    assert ('<h2 id="counterexample">' in text) == (certificate.counterexample is not None)
    assert ("<svg viewBox" in text) == (certificate.rounding is not None and certificate.rounding.run > 0)
    part = Outline(certificate._repr_html_())
    assert not part.ids or part.ids == ["program"]


def test_a_saved_certificate_has_the_same_page(tmp_path):
    certificate = CASES["refuted"]()
    assert uj.load(certificate.save(tmp_path / "c.json")).html() == certificate.html()


def test_the_mark_and_the_values_of_a_refutation():
    text = CASES["refuted"]().html()
    assert text.count("parts here") == 1 and "mul" in text  # the left side returns what the right one doubles
    assert "<h3>A program that shows it</h3>" in text and "entries differ" in text


def test_hazards_and_the_scales_at_which_a_side_fails():
    certificate = CASES["certified"]()
    text = certificate.html()
    assert certificate.hazards and all(h.kind in text for h in certificate.hazards)
    found = rounding_by_scale(certificate)
    assert [at.scale for at in found] == list(SCALES)
    assert found[-1].failed == (0, found[-1].run) and found[0].failed == (0, 0)  # exp(10⁴·z) overflows on one side only
    for at in found:
        if at.seen is not None and at.left is not None and at.right is not None and not any(at.failed):
            assert at.seen <= at.left + at.right  # both bounds are of the exact value


LONG = {
    "a loop of hours": lambda x: jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, length=2**40)[0],
    "a loop that may end early": lambda x: jax.lax.while_loop(
        lambda c: c[0] < 5, lambda c: (c[0] + 1, 2 * c[1]), (0, x)
    )[1],
}


@pytest.mark.parametrize("name", LONG)
def test_what_may_take_hours_is_not_run(name):
    certificate = uj.certify(jax.nn.softmax, naive, X)
    program = jax.make_jaxpr(LONG[name])(jnp.ones(3))
    pair = Pair({}, program, program)
    claim = {**certificate.claim, "programs": [dict(pair.as_data())]}
    assert rounding_by_scale(dataclasses.replace(certificate, claim=claim)) == ()


HOSTILE = "\"><script>alert(1)</script><img src=x onerror=alert(1)>'&{}"


def hostile(value):
    """The value with every text in it replaced."""
    if isinstance(value, str):
        return HOSTILE
    if isinstance(value, dict):
        return {key: hostile(x) for key, x in value.items()}
    return [hostile(x) for x in value] if isinstance(value, list | tuple) else value


@pytest.mark.parametrize("name", ["certified", "refuted", "a claim"])
def test_no_text_of_a_certificate_is_markup(name):
    certificate = CASES[name]()
    kept = {"programs": certificate.claim.get("programs"), "id": certificate.claim["id"]}
    claim = {**{key: hostile(value) for key, value in certificate.claim.items()}, **kept}
    evidence = tuple(dataclasses.replace(e, finding=HOSTILE, subject=HOSTILE) for e in certificate.evidence)
    if certificate.counterexample:
        example = dataclasses.replace(
            certificate.counterexample, program=HOSTILE, names=(HOSTILE, HOSTILE), exact=(HOSTILE, HOSTILE)
        )
        evidence = tuple(dataclasses.replace(e, example=example if e.example else None) for e in evidence)
    settings = {**certificate.settings, "weights": HOSTILE}
    bad = dataclasses.replace(certificate, claim=claim, evidence=evidence, settings=settings)
    text = certificate_page(bad, links=[(HOSTILE, HOSTILE)])
    found = Outline(text)
    assert "alert(1)</script>" not in text and "<img" not in text and len(found.links) > 1
    Outline(bad._repr_html_())


PLOTS = {
    "one scale": [AtScale(1.0, 2.0, 3.0, 4.0, (0, 0), 4)],
    "nothing seen": [AtScale(1.0, None, None, None, (4, 4), 4), AtScale(10.0, None, None, None, (0, 4), 4)],
    "equal bits": [AtScale(s, 0.0, 0.0, None, (0, 0), 4) for s in SCALES],
    "far apart": [AtScale(s, s * 1e30, 1e-30, None, (1, 0), 4) for s in SCALES],
}


@pytest.mark.parametrize("name", PLOTS)
def test_a_plot_of_anything_lies_inside_its_frame(name):
    text = rounding_plot(PLOTS[name])
    Outline(text)
    for numbers in re.findall(r'd="M([^"]*)"', text):
        points = np.array([list(map(float, point.split())) for point in numbers.split(" L")])
        if "key" not in numbers:
            assert np.isfinite(points).all() and (points >= 0).all() and (points <= [520, 330]).all()
    assert text.count("<tr>") == 1 + len(PLOTS[name])


def test_the_command_writes_it(tmp_path, monkeypatch, capsys):
    monkeypatch.syspath_prepend(tmp_path)
    (tmp_path / "mine.py").write_text("import jax\nf = jax.nn.softmax\ng = lambda x: 2 * jax.nn.softmax(x)\n")
    path = tmp_path / "page.html"
    assert cli.main(["certify", "mine:f", "mine:g", "--arg", "f32[3]", "--html", str(path)]) == 1
    assert "REFUTED" in path.read_text(encoding="utf-8") and "REFUTED" in capsys.readouterr().out
    assert cli.main(["certify", "mine:f", "mine:g", "--arg", "f32[3]", "--html", str(tmp_path)]) == 2
    assert "it is a folder; choose a file name" in capsys.readouterr().err
