"""The demonstration of DUAT's Fig. 2 fits what the theorems say it fits, is seeded, and takes no nonsense."""

import numpy as np
import pytest
from demonstrations import fails, load

DEMONSTRATION = load("fits_between_two_functions")


@pytest.fixture(scope="module")
def fitted():
    return DEMONSTRATION.fits(0)


def test_each_fit_is_nearest_to_what_the_theorem_says(fitted):
    """No fit is nearer to what another one should come near to."""
    for fit in fitted:
        distances = {other.near: fit.distance(other.wanted) for other in fitted}
        assert min(distances, key=distances.__getitem__) == fit.near, (fit.name, distances)


def test_a_fit_is_what_it_minimises():
    """A small change of any coefficient makes the error of each kind larger."""
    random = np.random.default_rng(5)
    columns, y = random.normal(size=(40, 3)), random.normal(size=40)
    errors = {
        DEMONSTRATION.least_squares: lambda e: np.sum(e**2),
        DEMONSTRATION.least_absolute: lambda e: np.sum(np.abs(e)),
    }
    for fit, error in errors.items():
        best = fit(columns, y)
        for change in 0.05 * np.concatenate([np.eye(3), -np.eye(3)]):
            assert error(columns @ (best + change) - y) > error(columns @ best - y)


def test_data_are_those_of_the_seed():
    first, again, other = (DEMONSTRATION.drawn(seed) for seed in (0, 0, 1))
    assert all(map(np.array_equal, first, again)) and not np.array_equal(first.x, other.x)
    assert np.count_nonzero(first.t == 0) == 3 * np.count_nonzero(first.t == 1)


def test_the_table_and_the_figure(fitted, tmp_path):
    pytest.importorskip("matplotlib", reason="the figure is drawn by matplotlib: pip install 'uat_jax[plot]'")
    assert "from majority" in DEMONSTRATION.table(fitted)
    assert "A demonstration, not a proof" in DEMONSTRATION.reading(fitted)
    DEMONSTRATION.draw(fitted, 0, tmp_path / "figure.svg")
    assert (tmp_path / "figure.svg").read_bytes().startswith(b"<?xml")


ERRORS = {
    ("--seed", "-1"): "argument --seed: ",
    ("--seed", "many"): "got many, wanted a whole number, 0 or more",
    ("--out", "figure.txt"): "got figure.txt, wanted a name that ends in .pdf, .png, .svg",
    ("--out", "nowhere/figure.png"): "make nowhere first",
    ("more",): "unrecognized arguments: more",
}


@pytest.mark.parametrize("arguments", ERRORS, ids=" ".join)
def test_nonsense_gets_one_line(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(DEMONSTRATION, list(arguments), ERRORS[arguments], capsys)


def test_what_to_install_and_files_that_cannot_be_written(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(DEMONSTRATION, "fits", lambda seed: [])
    monkeypatch.setattr(DEMONSTRATION, "find_spec", lambda name: None)
    fails(DEMONSTRATION, ["--out", str(tmp_path / "f.png")], "pip install 'uat_jax[plot]'", capsys)
    monkeypatch.setattr(DEMONSTRATION, "find_spec", lambda name: name)
    monkeypatch.setattr(DEMONSTRATION, "draw", lambda fitted, seed, file: file.write_bytes(b""))
    (tmp_path / "folder.png").mkdir()
    fails(DEMONSTRATION, ["--out", str(tmp_path / "folder.png")], "name another file", capsys)
