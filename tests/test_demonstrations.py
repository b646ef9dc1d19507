"""The demonstration runs in a few steps, measures what it says it measures, and takes no nonsense."""

import sys

import jax
import numpy as np
import pytest
from demonstrations import fails, load

DEMONSTRATION = load("one_fixed_network_fits_two_functions")
SINE, PARABOLA = DEMONSTRATION.TARGETS.values()


def fit_of(first, second):
    """A fit whose output is first(x) at prompt 0 and second(x) at prompt 1."""
    return DEMONSTRATION.Fit("given", (0.0, 1.0), 0, lambda x, t: first(x) if t == 0.0 else second(x))


# functions → (errors, gap); the largest |sin πx − x² + 1| on the grid is close to 1.7923
MEASURED = {
    "the targets": ((SINE, PARABOLA), (0, 0), 1.7923),
    "the targets exchanged": ((PARABOLA, SINE), (1.7923, 1.7923), 1.7923),
    "one function for both": ((SINE, SINE), (0, 1.7923), 0),
    "the mean for both": ((lambda x: (SINE(x) + PARABOLA(x)) / 2,) * 2, (0.89615, 0.89615), 0),
    "off by 1/8": ((lambda x: SINE(x) + 0.125, PARABOLA), (0.125, 0), 1.9173),
}


@pytest.mark.parametrize("case", MEASURED)
def test_errors_and_gap(case):
    functions, errors, gap = MEASURED[case]
    fit = fit_of(*functions)
    found = [*fit.errors(), fit.gap()]
    # the wanted figures are rounded to four decimals, and x² is taken in float32, whose unit roundoff is below 1e-7
    assert np.allclose(found, [*errors, gap], rtol=0, atol=0.5e-4 + 1e-6), found


@pytest.mark.campaign
def test_a_few_steps_tell_the_prompts_apart():
    """Whatever has one output for both prompts errs by half the distance of the targets or more; these err by less."""
    pytest.importorskip("optax", reason="the demonstration trains by optax: pip install 'uat_jax[demo]'")
    near = DEMONSTRATION.PROMPTS[1]
    with jax.numpy_dtype_promotion("standard"):  # optax raises Python floats to integer powers
        trained = [DEMONSTRATION.train(name, *two, near, 150) for name, two in DEMONSTRATION.NETWORKS.items()]
        errors = [max(fit.errors()) for fit in trained]
        printed = DEMONSTRATION.table(trained) + DEMONSTRATION.reading(trained)
    assert max(errors) < DEMONSTRATION.wanted_gap() / 2
    for fit, error in zip(trained, errors, strict=True):
        assert f"the {fit.name} errs by {error:.4f} at most" in printed and f"{fit.gap():8.4f}" in printed
    assert "A demonstration, not a proof" in printed


def test_the_figure_is_drawn(tmp_path):
    pytest.importorskip("matplotlib", reason="the figure is drawn by matplotlib: pip install 'uat_jax[plot]'")
    pair = [fit_of(SINE, PARABOLA)] * 2
    fitted = [fit._replace(prompts=prompts) for prompts in DEMONSTRATION.PROMPTS for fit in pair]
    fitted = [fit._replace(run=lambda x, t: SINE(x) * np.ones_like(t)) for fit in fitted]
    for suffix, start in ((".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF")):
        DEMONSTRATION.draw(fitted, tmp_path / f"figure{suffix}")
        assert (tmp_path / f"figure{suffix}").read_bytes().startswith(start)


ERRORS = {
    ("--steps", "0"): "argument --steps: got 0, wanted a whole number, 1 or more; --help",
    ("--steps", "many"): "argument --steps: got many, wanted a whole number",
    ("--out", "figure.txt"): "argument --out: got figure.txt, wanted a name that ends in .pdf, .png, .svg",
    ("--out", "nowhere/figure.png"): "wanted a folder that exists; make nowhere first",
    ("more",): "unrecognized arguments: more; --help",
}


@pytest.mark.parametrize("arguments", ERRORS, ids=" ".join)
def test_nonsense_gets_one_line(arguments, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    fails(DEMONSTRATION, list(arguments), ERRORS[arguments], capsys)


def test_what_to_install(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(DEMONSTRATION, "find_spec", lambda name: None)
    fails(DEMONSTRATION, [], "pip install 'uat_jax[demo]'", capsys)
    monkeypatch.setattr(DEMONSTRATION, "find_spec", lambda name: None if name == "matplotlib" else sys)
    fitted = [fit_of(SINE, PARABOLA)._replace(prompts=prompts, run=lambda x, t: 0 * x) for prompts in ((0.499, 0.501),)]
    monkeypatch.setattr(DEMONSTRATION, "fits", lambda steps: fitted)
    assert "(the targets)" in fails(
        DEMONSTRATION, ["--out", str(tmp_path / "f.png")], "pip install 'uat_jax[plot]'", capsys
    )
    assert not list(tmp_path.iterdir())


def test_a_file_that_cannot_be_written(capsys, tmp_path, monkeypatch):
    monkeypatch.setattr(DEMONSTRATION, "find_spec", lambda name: sys)
    monkeypatch.setattr(DEMONSTRATION, "fits", lambda steps: [])
    monkeypatch.setattr(DEMONSTRATION, "draw", lambda fitted, file: file.write_bytes(b""))
    (tmp_path / "folder.png").mkdir()
    fails(DEMONSTRATION, ["--out", str(tmp_path / "folder.png")], "Is a directory; name another file", capsys)
