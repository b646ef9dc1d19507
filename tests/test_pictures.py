"""Pictures are files of the promised kind that say what they were given, in colours that stay readable in grey."""

import builtins
import re
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from uat_jax.errors import InputError
from uat_jax.report import pictures

NAMES = ("input", "bias", "layer 1", "layer 2")
WORDS = ("[CLS]", "$x_1", "<&>", "100%")
NUMBERS = np.array([[0.5, -0.25, 0.125, 1.0]] * 4) * np.arange(1, 5)[:, None]


def _terms(path):
    return pictures.picture_of_terms(path, "a $title", NAMES, [3.25, 1.5, 0.75, 0.5])


def _tokens(path):
    return pictures.picture_of_tokens(path, "a $title", NAMES, WORDS, NUMBERS)


def _text(path):
    return pictures.picture_of_text(
        path, "a $title", ("Ġknown", "▁as", "x"), NUMBERS[:2, :3], ("embedded", "behind layer 1")
    )


def _similarity(path):
    return pictures.picture_of_similarity(path, "a $title", NAMES, NUMBERS)


def _parameters(path):
    return pictures.picture_of_parameters(path, "a $title", ("A", "B"), np.array([[0.75, 0.0], [3e-8, 0.5]]))


def _errors(path):
    return pictures.picture_of_errors(path, "a $title", {"direct": [1.0, 2.0], "all terms": [1.5, 3.0]})


SAYS = {
    _terms: {*NAMES, "3.25", "1.5", "0.75"},
    _tokens: {*NAMES, *WORDS, "0.5", "-0.25", "4"},
    _text: {
        "known",
        "as",
        "embedded, ±0.5",
        "behind layer 1, ±1",
        "contribution over the largest of its depth",
        "-0.5",
        "0.75",
    },
    _similarity: {*NAMES, "first text", "second text", "0.5"},
    _parameters: {"A", "B", "layer 1", "layer 2", "0.75", "0", "3e-08"},
    _errors: {"direct", "all terms", "largest error in ULP"},
}


@pytest.fixture
def matplotlib():
    return pytest.importorskip("matplotlib", reason="pictures need matplotlib (extra [plot])")


def _texts(path):
    """Every text of an SVG file; a formula, in several parts, joined."""
    found = ElementTree.parse(path).iter("{http://www.w3.org/2000/svg}text")
    return {"".join(text.itertext()).strip().replace("−", "-") for text in found}


@pytest.mark.parametrize("draw", SAYS)
def test_svg_says_what_it_was_given(draw, tmp_path, matplotlib):
    assert _texts(draw(tmp_path / "a.svg")) >= SAYS[draw] | {"a $title"}


@pytest.mark.parametrize("draw", SAYS)
def test_png_is_one_and_the_same_each_time(draw, tmp_path, matplotlib):
    first, second = (draw(tmp_path / name).read_bytes() for name in ("a.png", "b.png"))
    assert first.startswith(b"\x89PNG") and first == second


def test_svg_is_the_same_each_time(tmp_path, matplotlib):
    assert _tokens(tmp_path / "a.svg").read_bytes() == _tokens(tmp_path / "b.svg").read_bytes()


def test_a_word_without_a_glyph_is_no_warning(tmp_path, matplotlib):
    pictures.picture_of_tokens(tmp_path / "a.png", "音楽", NAMES[:1], ("音楽", "\t"), np.ones((1, 2)))


def test_maps_grow_lighter(matplotlib):
    """Grey print keeps the order of the values: luminance (Rec. 709) of the map rises from end to end."""
    colours = matplotlib.colormaps[pictures.MAP](np.linspace(0, 1, 64))[:, :3]
    luminance = colours @ np.array([0.2126, 0.7152, 0.0722])
    assert np.all(np.diff(luminance) > 0)
    rainbow = matplotlib.colormaps["jet"](np.linspace(0, 1, 64))[:, :3] @ np.array([0.2126, 0.7152, 0.0722])
    assert not np.all(np.diff(rainbow) > 0)


def test_lines_differ_in_more_than_colour(tmp_path, matplotlib):
    """Three lines, three dash patterns (a solid one has none)."""
    path = pictures.picture_of_errors(tmp_path / "a.svg", "", {form: [1.0, 2.0] for form in ("a", "b", "c")})
    colours = "|".join(colour.lower() for colour in pictures.OKABE_ITO[:3])
    lines = re.findall(rf'<path d="M[^"]*" clip-path[^>]*style="([^"]*stroke: (?:{colours})[^"]*)"', path.read_text())
    assert len(lines) == 3
    assert len({re.sub(r"stroke: #\w+", "", line) for line in lines}) == 3


def test_each_depth_of_a_text_has_a_scale_of_its_own(tmp_path, matplotlib):
    """A thousandth of a number has its colour one depth before."""
    row = np.array([1.0, -0.5, 0.25])
    for factor, rows in ((1e-3, 1), (1.0, 2)):
        path = pictures.picture_of_text(
            tmp_path / f"{rows}.png", "", ("a", "b", "c"), np.stack([row * factor, row]), "de"
        )
        pixels = np.round(matplotlib.image.imread(path)[..., :3] * 255)
        blue = (np.abs(pixels.astype(int) - (127, 184, 217)) <= 3).all(axis=2)  # half of the way to blue
        assert blue.any(axis=1).sum() > pixels.shape[0] / 3, "of both rows of cells"


def test_a_long_text_is_folded(tmp_path, matplotlib):
    words = [f"word{i}" for i in range(60)]
    path = pictures.picture_of_text(tmp_path / "a.svg", "", words, np.ones((1, 60)), ("a",))
    assert _texts(path) >= {*words, "sum"}


def test_a_tall_picture_has_fewer_points_of_an_inch(tmp_path, matplotlib):
    figure, _ = pictures.new_figure(1, 2000, "")
    path = pictures.save(figure, tmp_path / "a.png")
    assert matplotlib.image.imread(path).shape[0] <= pictures.MOST_POINTS


def test_many_cells_have_no_numbers(tmp_path, matplotlib):
    wide = np.ones((2, pictures.MOST_NUMBERS))
    path = pictures.picture_of_tokens(tmp_path / "a.svg", "", NAMES[:2], ["w"] * wide.shape[1], wide)
    assert "1" not in _texts(path)


WRONG = {
    "suffix": ("a.jpg", "wanted a name that ends in .png, .svg or .pdf"),
    "no suffix": ("a", "wanted a name that ends in .png, .svg or .pdf"),
    "no folder": ("none/a.png", "cannot write .*choose a folder"),
}


@pytest.mark.parametrize("name", WRONG)
def test_wrong_paths(name, tmp_path, matplotlib):
    path, message = WRONG[name]
    with pytest.raises(InputError, match=message) as error:
        _terms(tmp_path / path)
    assert "\n" not in str(error.value) and not list(tmp_path.iterdir())


def test_without_matplotlib(tmp_path, monkeypatch):
    real = builtins.__import__

    def without(name, *rest):
        if name.partition(".")[0] == "matplotlib":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", without)
    with pytest.raises(InputError, match=r"^pictures need matplotlib; pip install 'uat_jax\[plot\]'$"):
        _terms(tmp_path / "a.png")
