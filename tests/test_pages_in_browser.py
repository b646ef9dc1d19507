"""Our web pages in a real browser: clicked through, by keyboard too, in dark and light, from 400 to 1600 pixels."""

import jax
import jax.numpy as jnp
import pytest
from browser import browser, tab
from test_certificate_page import naive

import uat_jax as uj
from uat_jax.report.certificate_page import certificate_page
from uat_jax.report.comparisons import page

pytestmark = [
    pytest.mark.campaign,
    pytest.mark.skipif(browser() is None, reason="no Chromium is installed; Debian's package is called chromium"),
]

X = jax.ShapeDtypeStruct((4, 4), jnp.float32)


def layers(x, approximate):
    for number in range(3):
        x = jax.nn.softmax(x @ x.T) @ x
        x = x + jax.nn.gelu(x, approximate=approximate and number == 2)
    return x


PAIRS = {
    "equal": (jax.nn.softmax, naive, jax.ShapeDtypeStruct((4,), jnp.float32)),
    "layers": (lambda x: layers(x, False), lambda x: layers(x, True), X),
}


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """A folder with a page for each pair, and one of all of them."""
    folder, rows = tmp_path_factory.mktemp("pages"), []
    for name, (left, right, *specs) in PAIRS.items():
        certificate = uj.certify(left, right, *specs)
        certificate.save(folder / f"{name}.json")
        (folder / f"{name}.html").write_text(certificate_page(certificate, [("all comparisons", "index.html")]))
        row = {"test": f"test_{name}", "verdict": str(certificate.verdict), "functions": f"{name} and {name}"}
        row |= {"finding": certificate.evidence[0].finding, "hazards": str(len(certificate.hazards))}
        rows.append({**row, "file": f"{name}.json", "page": f"{name}.html"})
    (folder / "index.html").write_text(page(rows))
    return folder


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    with tab(tmp_path_factory.mktemp("profile")) as opened:
        yield opened


LUMINANCE = """
const channel = c => (c /= 255) <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
const light = ([r, g, b]) => 0.2126 * channel(r) + 0.7152 * channel(g) + 0.0722 * channel(b);
const parse = text => text.match(/[\\d.]+/g).map(Number);
const ground = e => {
  const above = e.parentElement ? ground(e.parentElement) : [255, 255, 255, 0];
  const [r, g, b, a = 1] = parse(getComputedStyle(e).backgroundColor);
  const base = above[3] === 0 ? [255, 255, 255] : above;
  return [r, g, b].map((c, i) => a * c + (1 - a) * base[i]);
};
const ratio = e => {
  const [a, b] = [light(parse(getComputedStyle(e).color)), light(ground(e))].sort((x, y) => y - x);
  return (a + 0.05) / (b + 0.05);
};
"""
"""The contrast of an element's text against what lies behind it, by WCAG 2."""

FAINT = f"""(() => {{ {LUMINANCE}
return [...document.querySelectorAll("body *")].filter(e => [...e.childNodes].some(n => n.nodeType === 3 &&
  n.textContent.trim()) && !["STYLE", "SCRIPT", "text", "title", "desc"].includes(e.tagName) && e.offsetParent !== null)
  .filter(e => ratio(e) < 4.5).map(e => `${{e.tagName}} ${{e.className}} ${{e.textContent.slice(0, 40)}} ${{ratio(e)}}`)
}})()"""


@pytest.mark.parametrize("dark", [False, True], ids=["light", "dark"])
@pytest.mark.parametrize("width", [400, 800, 1010, 1200, 1600])
@pytest.mark.parametrize("name", [*PAIRS, "index"])
def test_a_page_fits_its_window_and_can_be_read(name, width, dark, pages, chromium, tmp_path):
    chromium.open(pages / f"{name}.html", width, dark=dark)
    assert chromium.run("document.documentElement.scrollWidth") <= width
    assert chromium.run(FAINT) == []  # a contrast of 4.5, which WCAG asks for
    chromium.picture(tmp_path / "page.png")
    assert (tmp_path / "page.png").stat().st_size > 5_000


def test_nothing_is_asked_of_a_network(pages, chromium):
    for name in (*PAIRS, "index"):
        chromium.open(pages / f"{name}.html")
        assert chromium.run("performance.getEntriesByType('resource').length") == 0


def test_filters_of_the_table(pages, chromium):
    chromium.open(pages / "index.html")
    rows = "[...document.querySelectorAll('tbody tr')].filter(r => r.offsetParent !== null).map(r => r.dataset.verdict)"
    assert chromium.run(rows) == ["CERTIFIED", "REFUTED"]
    chromium.click("form button", 2)
    assert chromium.run(rows) == ["REFUTED"]
    assert chromium.run("document.querySelectorAll('form button')[2].getAttribute('aria-pressed')") == "true"
    chromium.click("form button", 0)
    chromium.click("#text")
    chromium.type("layers")
    assert chromium.run(rows) == ["REFUTED"]
    assert chromium.run("document.getElementById('shown').textContent") == "1 of 2 are shown"
    chromium.run("document.getElementById('text').select()")
    chromium.press("Backspace", 8)
    chromium.click("#hazards")
    assert chromium.run(rows) == ["CERTIFIED"]


def test_filters_by_keyboard_and_a_link_to_a_page(pages, chromium):
    chromium.open(pages / "index.html")
    chromium.press("Tab", 9)
    assert chromium.run("document.activeElement.textContent") == "Skip to the content"
    for _ in range(2):
        chromium.press("Tab", 9)
    assert chromium.run("document.activeElement.textContent") == "CERTIFIED 1"
    assert chromium.run("getComputedStyle(document.activeElement).outlineStyle") == "solid"
    chromium.press("Enter", 13, "\r")
    assert chromium.run("document.activeElement.getAttribute('aria-pressed')") == "true"
    chromium.click("tbody a")
    chromium.run("new Promise(r => setTimeout(r, 500))")
    assert chromium.run("location.pathname").endswith("equal.html")
    assert chromium.run("document.querySelector('h1').textContent").startswith("CERTIFIED")


def test_equal_operations_are_opened_and_the_parting_is_seen(pages, chromium):
    chromium.open(pages / "layers.html")
    opened = "[...document.querySelectorAll('details.folded')].map(d => d.open)"
    count = len(chromium.run(opened))
    assert count and not any(chromium.run(opened))
    chromium.click("[data-open]")
    assert all(chromium.run(opened))
    chromium.run("document.querySelector('details.folded summary').focus()")
    chromium.press("Enter", 13, "\r")
    assert chromium.run(opened)[0] is False
    marks = "[...document.querySelectorAll('.here')].map(m => m.closest('.operation').textContent)"
    assert len(chromium.run(marks)) == 2 and all("test_pages_in_browser.py:" in text for text in chromium.run(marks))
    chromium.click("header nav a", 4)
    assert chromium.run("location.hash") == "#programs"


def test_the_picture_has_a_name_and_a_table(pages, chromium):
    chromium.open(pages / "equal.html", 400)
    assert chromium.run("document.querySelector('svg[role=img] title').textContent").startswith("Rounding")
    chromium.click("figure summary")
    assert chromium.run("document.querySelectorAll('figure tbody tr').length") == 9
    assert chromium.run("document.documentElement.scrollWidth") <= 400
