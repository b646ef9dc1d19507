"""A size that does not fit is refused before it is built, one that fits is not, and nonsense is refused in one line."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest

from uat_jax.bench import foresight
from uat_jax.bench.case import Case, Experiment, Program
from uat_jax.bench.cases import processes
from uat_jax.bench.cases.transformer_compile_time import FORMS
from uat_jax.bench.foresight import check_memory, climb, ladder, out_of_memory
from uat_jax.bench.registry import every_case, with_entries
from uat_jax.cli import main
from uat_jax.errors import InputError, MemoryLimitError

# --- the climb -----------------------------------------------------------------------------------------------------


def _climbed(needed, lengths, free):
    """What the climb answers, and the lengths that it asked for."""
    asked = []

    def build(own):
        asked.append(own)
        return needed(**own)

    return climb(build, lengths, free), asked


@pytest.mark.parametrize(
    ("lengths", "rungs"),
    [
        ({"n": 100}, [(12,), (25,), (50,), (100,)]),
        ({"m": 64, "n": 64}, [(8, 8), (16, 16), (32, 32), (64, 64)]),
        ({"m": 128, "n": 33}, [(8, 8), (16, 8), (32, 8), (64, 16), (128, 33)]),
        ({"n": 8}, [(8,)]),
    ],
)
def test_lengths_are_doubled_together_and_shorter_ones_later(lengths, rungs):
    assert [tuple(rung.values()) for rung in ladder(lengths)] == rungs


POLYNOMIALS = {
    "linear": (lambda n: 100 * n, {"n": 4096}),
    "square": (lambda n: n * n, {"n": 4096}),
    "both": (lambda n: 3 * n * n + 5000 * n + 70000, {"n": 3000}),
    "two": (lambda a, b: 3 * a**2 * b**2 + 5000 * a**2 * b + 70000 * a * b + 11, {"a": 512, "b": 512}),
    "one of two later": (lambda a, b: 3 * a**2 * b**2 + 5 * a**2 * b + 7 * a * b + 11, {"a": 2048, "b": 256}),
    "three": (lambda a, b, c: a * b * c + b * c**2 + a**2, {"a": 512, "b": 256, "c": 64}),
}


@pytest.mark.parametrize("free", [2.0**k for k in range(10, 44, 3)])
@pytest.mark.parametrize("name", POLYNOMIALS)
def test_whoever_is_refused_does_not_fit(name, free):
    """Of polynomials without negative coefficients; what is advised is not refused, and is the longest of these."""
    needed, lengths = POLYNOMIALS[name]
    refusal, asked = _climbed(needed, lengths, free)
    if refusal is None:
        # what comes last was predicted by the factor before, which may be less than the last one: at most 4 a length
        assert needed(**lengths) <= free * 4 ** len(lengths)
        return
    assert refusal.needed > free and refusal.needed <= needed(**lengths) * (1 + 1e-12)  # powers in float64
    assert lengths not in asked
    if refusal.fits is None:
        assert needed(**asked[0]) > free
    else:
        above = next(rung for rung in ladder(lengths) if max(rung.values()) > max(refusal.fits.values()))
        assert needed(**refusal.fits) <= free or refusal.fits not in asked
        assert needed(**above) > free or above == lengths


def test_a_size_far_away_is_refused_from_small_ones():
    needed = lambda a, b: a * b
    refusal, asked = _climbed(needed, {"a": 1 << 20, "b": 1 << 20}, needed(1024, 1024))
    assert refusal is not None and refusal.fits == {"a": 1024, "b": 1024}
    assert [own["a"] for own in asked] == [8, 16]


def test_constants_do_not_hide_a_square():
    """Where a megabyte of something else comes first, the climb goes on until the square shows."""
    needed = lambda n: n * n + (1 << 20)
    refusal, asked = _climbed(needed, {"n": 1 << 20}, 1 << 30)
    assert refusal is not None and needed(asked[-1]["n"]) <= 1 << 30


@pytest.mark.parametrize("accepted", [lambda n: n % 64 == 0, lambda n: n < 64, lambda n: n in (8, 32)])
def test_refused_rungs_are_left_out(accepted):
    needed = lambda n: n * n if accepted(n) else None
    assert _climbed(needed, {"n": 1024}, 256**2)[0] == (1024**2, {"n": 256})


def test_nothing_is_said_where_every_rung_is_refused():
    refusal, asked = _climbed(lambda n: None, {"n": 1 << 40}, 1)
    assert refusal is None and len(asked) == 37


def test_nothing_fits_where_the_smallest_does_not():
    assert _climbed(lambda n: n, {"n": 1 << 40}, 1) == ((8, None), [{"n": 8}])


# --- the cases -----------------------------------------------------------------------------------------------------

MEGABYTE = 1 << 20


@pytest.fixture
def a_megabyte(monkeypatch):
    """What is free."""
    monkeypatch.setattr(foresight, "free_bytes", lambda device: MEGABYTE)


@pytest.fixture
def built(monkeypatch):
    """The sizes that are built to foresee others."""
    sizes, needed = [], foresight._needed
    monkeypatch.setattr(foresight, "_needed", lambda case, size: sizes.append(size) or needed(case, size))
    return sizes


TOO_LARGE = {
    "residual-forms": ({"hidden": 1 << 20}, "by the same count hidden 4096 would fit"),
    "layer-time": ({"width": 1 << 20, "hidden": 1 << 20}, "by the same count width 64, hidden 64 would fit"),
    "kronecker": ({"tokens": 1024, "features": 1024}, "would fit"),
    "transformer-compile-time": ({"features": 1 << 20}, "would fit"),
    "two-streams": ({"features": 1 << 20}, "would fit"),
}
SLOW = ("transformer-compile-time", "two-streams")
"""Their references are computed operation by operation."""


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.campaign) if name in SLOW else name for name in TOO_LARGE]
)
def test_command_refuses_what_does_not_fit_before_it_is_built(name, a_megabyte, built, capsys):
    entries, fits = TOO_LARGE[name]
    settings = [word for key, value in entries.items() for word in ("--set", f"{key}={value}")]
    assert main(["bench", name, "--quick", *settings]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    said = ", ".join(f"{key} {value}" for key, value in entries.items())
    assert f"{name} at {said} needs" in line and "cpu has 1 MiB free" in line and line.endswith(fits)
    assert built and all(size[key] <= 128 for size in built for key in entries)


def test_a_size_that_fits_is_not_refused(built):
    (case,) = [with_entries(every_case()["kronecker"], ["tokens=64", "features=36"])]
    check_memory(case, case.quick[0], ["tokens", "features"])
    assert [size["tokens"] for size in built] == [8, 16, 32]


@pytest.mark.parametrize(("name", "entry"), [("ledger", {"jobs": 1 << 20}), ("derivation", {"depth": 1 << 20})])
def test_cases_of_the_host_are_not_built_to_foresee_them(name, entry):
    case = replace(every_case()[name], build=lambda **_: pytest.fail("built"))
    check_memory(case, {**case.quick[0], **entry}, list(entry))


def test_what_is_taken_for_a_case_of_the_host_has_no_compiled_program(monkeypatch):
    monkeypatch.setattr(processes, "decide", lambda *_: "a certificate")
    cases = [case for case in every_case().values() if not case.compiled]
    assert {case.name for case in cases} >= {"cold-start", "derivation", "ledger", "ledger-chapters", "processes"}
    for case in cases:
        assert not any(program.compiled for program in case.build(**case.quick[0]).programs.values())


def test_programs_of_the_host_are_not_run(built):
    def build(n):
        x = jnp.zeros(n)
        host = Program(lambda: pytest.fail("run"), (), compiled=False)
        return Experiment({"compiled": Program(jnp.sin, (x,)), "host": host}, lambda *_: None, lambda answer: answer)

    check_memory(Case("sines", "What?", build, (), (), ()), {"n": 1000}, ["n"])
    assert len(built) == 6


# --- what does not fit together -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("certification features=6", "got features 6 with 4 heads, wanted a multiple of 4: choose features 8"),
        ("kronecker heads=16", "got features 8 with 16 heads, wanted a multiple of 16: choose features 16"),
        *(
            (f"{name} features=4 heads=3", "got features 4 with 3 heads, wanted a multiple of 3: choose features 6")
            for name in ("two-streams", "decomposition", "transformer-forms", "transformer-compile-time")
        ),
        ("two-streams heads=64", "got features 4 with 64 heads"),
        ("certification features=1000001", "got features 1000001 with 4 heads"),
        ("two-streams family=gpt9", "got the family 'gpt9', wanted one of gpt2, bert, papers"),
        ("two-streams family=llama features=1048576", "got the family 'llama', wanted one of gpt2, bert, papers"),
        ("transformer-compile-time form=three", "wanted form to be one of plain, two streams, all terms"),
        ("derivation kind=perceptron", "wanted kind to be one of residual, transformer"),
        ("two-streams depth=-1", "wanted depth to be at least 1"),
    ],
)
def test_command_refuses_what_does_not_fit_together_in_one_line(command, message, monkeypatch, capsys):
    if "1000001" in command:  # the rungs are fine, and take long
        monkeypatch.setattr(foresight, "_needed", lambda case, size: 0)
    name, *entries = command.split()
    assert main(["bench", name, "--quick", *(word for entry in entries for word in ("--set", entry))]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize(("name", "words"), [("form", FORMS), ("kind", ("residual", "transformer"))])
def test_every_word_that_a_case_knows_is_taken(name, words):
    case = every_case()["transformer-compile-time" if name == "form" else "derivation"]
    for word in words:
        assert with_entries(case, [f"{name}={word}"]).quick[0][name] == word


# --- no memory left -------------------------------------------------------------------------------------------------

NONE_LEFT = {
    "the device": jax.errors.JaxRuntimeError("RESOURCE_EXHAUSTED: Out of memory allocating 5 bytes.\nmore"),
    "the process": MemoryError("Unable to allocate 7 PiB"),
    "silent": MemoryError(),
}


@pytest.mark.parametrize("name", NONE_LEFT)
def test_no_memory_left_is_one_line(name, monkeypatch, capsys):
    def build(n):
        raise NONE_LEFT[name]

    cases = {"full": Case("full", "What?", build, ({"n": 4},), (), ())}
    monkeypatch.setattr("uat_jax.bench.registry.every_case", lambda: cases)
    assert main(["bench", "full", "--quick"]) == 1
    printed, errors = capsys.readouterr()
    assert "full, n 4: not run: it needs more memory than there is (" in " ".join(printed.split()) and not errors
    assert "more\n" not in printed.replace("more memory", "")
    assert main(["bench", "full", "--quick", "--set", "n=1000"]) == 2  # in the climb
    (line,) = capsys.readouterr().err.splitlines()
    assert "full at n 15 needs more memory than there is" in line


@pytest.mark.parametrize("error", [jax.errors.JaxRuntimeError("INTERNAL: broken"), InputError("another")])
def test_other_errors_stay_what_they_are(error):
    with pytest.raises(type(error), match=str(error)) as caught, out_of_memory("it"):
        raise error
    assert not isinstance(caught.value, MemoryLimitError)
