"""A size that does not fit is refused before it is built, one that fits is not, and nonsense is refused in one line."""

from dataclasses import replace

import jax
import jax.numpy as jnp
import pytest

from uat_jax.bench import foresight
from uat_jax.bench.case import Case, Experiment, Program
from uat_jax.bench.cases import cold_start, derivation, ledger
from uat_jax.bench.cases.transformer_compile_time import FORMS
from uat_jax.bench.foresight import OF_THE_HOST, check_memory, climb, ladder, out_of_memory
from uat_jax.bench.registry import every_case, with_entries
from uat_jax.certify import memory
from uat_jax.cli import main
from uat_jax.errors import InputError, MemoryLimitError

# --- the climb -----------------------------------------------------------------------------------------------------


def _climbed(needed, lengths, free, **size):
    """What the climb answers, and the lengths that it asked for."""
    asked = []

    def build(own):
        asked.append(own)
        return needed(**own)

    return climb(build, ladder(lengths, size), free), asked


@pytest.mark.parametrize(
    ("lengths", "size", "rungs"),
    [
        ({"n": 100}, {}, [(12,), (24,), (48,), (100,)]),
        ({"m": 64, "n": 64}, {}, [(8, 8), (16, 16), (32, 32), (64, 64)]),
        ({"m": 128, "n": 33}, {}, [(8, 8), (16, 8), (32, 8), (64, 16), (128, 33)]),
        ({"features": 120}, {"heads": 12}, [(12,), (24,), (48,), (120,)]),
        ({"features": 100}, {}, [(12,), (24,), (48,), (100,)]),  # by four heads
        ({"heads": 64, "features": 64}, {"heads": 64}, [(8, 64), (16, 64), (32, 64), (64, 64)]),
    ],
)
def test_lengths_are_doubled_together_and_shorter_ones_later(lengths, size, rungs):
    assert [tuple(rung.lengths.values()) for rung in ladder(lengths, size)] == rungs


@pytest.mark.parametrize(
    ("needed", "n", "free", "longest"),
    [
        (lambda n: n * n, 1024, 1024**2, None),
        (lambda n: n * n, 1024, 512**2, 512),  # exact for polynomials of degree two
        (lambda n: 3 * n * n + 5 * n + 7, 1000, 3 * 480**2 + 5 * 480 + 7, 480),
        (lambda n: 100 * n, 256, 100 * 64, 64),
    ],
)
def test_the_climb_stops_before_what_does_not_fit(needed, n, free, longest):
    found, asked = _climbed(needed, {"n": n}, free)
    # fractions are exact, and so are whole numbers below 2⁵³
    assert found == (None if longest is None else ({"n": longest}, needed(n)))
    assert all(own["n"] <= (longest or n // 2) for own in asked)


QUARTIC = lambda a, b: 3 * a**2 * b**2 + 5 * a**2 * b + 7 * a * b + 11
EXACT = {
    "together": (QUARTIC, {"a": 512, "b": 512}, {"a": 256, "b": 256}),
    "one of them later": (QUARTIC, {"a": 2048, "b": 256}, {"a": 1024, "b": 128}),
    "on a slope": (QUARTIC, {"a": 12 * 64, "b": 10 * 64}, {"a": 12 * 32, "b": 10 * 32}),
    "three": (lambda a, b, c: a * b * c + b * c**2 + a**2, dict.fromkeys("abc", 512), dict.fromkeys("abc", 256)),
}


@pytest.mark.parametrize("name", EXACT)
def test_polynomials_in_several_lengths_are_extrapolated_exactly(name):
    needed, lengths, half = EXACT[name]
    most = needed(**lengths)
    assert _climbed(needed, lengths, most)[0] is None
    assert _climbed(needed, lengths, most - 1)[0] == (half, most)


def test_a_size_far_away_is_refused_from_small_ones():
    found, asked = _climbed(QUARTIC, {"a": 1 << 20, "b": 1 << 20}, QUARTIC(1024, 1024))
    assert found is not None
    fits, predicted = found
    assert fits == {"a": 1024, "b": 1024} and QUARTIC(1024, 1024) < predicted <= QUARTIC(1 << 20, 1 << 20)
    assert max(own["a"] for own in asked) <= 128  # the fifth


@pytest.mark.parametrize(("share", "refused"), [(0.5, True), (2, False)])
@pytest.mark.parametrize("error", [2000, -2000])
def test_what_a_compiler_adds_here_and_there_is_not_blown_up(error, share, refused):
    """As residual-forms does in its width and hidden width; by degree four alone it would be 400 GB, or less than 0."""
    needed = lambda a, b: 68 * a * b + error * (a.bit_length() % 2)
    lengths = {"a": 4096, "b": 4096}
    found, _ = _climbed(needed, lengths, share * needed(**lengths))
    assert (found is not None) is refused


@pytest.mark.parametrize(("accepted", "longest"), [(lambda n: n % 64 == 0, 256), (lambda n: n < 128, 256)])
def test_refused_rungs_are_left_out(accepted, longest):
    needed = lambda n: n * n if accepted(n) else None
    found, _ = _climbed(needed, {"n": 1024}, 256**2)
    assert found == ({"n": longest}, 1024**2)


def test_nothing_is_said_where_every_rung_is_refused():
    assert _climbed(lambda n: None, {"n": 1 << 40}, 1)[0] is None


def test_nothing_fits_where_the_smallest_does_not():
    found, asked = _climbed(lambda n: n, {"n": 1 << 40}, 1)
    assert found == ({}, 8) and asked == [{"n": 8}]


# --- the cases -----------------------------------------------------------------------------------------------------

MEGABYTE = 1 << 20


@pytest.fixture
def a_megabyte(monkeypatch):
    """What is free."""
    for module in (foresight, memory):
        monkeypatch.setattr(module, "free_bytes", lambda device: MEGABYTE)


@pytest.fixture
def built(monkeypatch):
    """The sizes that are built to foresee others."""
    sizes, needed = [], foresight._needed
    monkeypatch.setattr(foresight, "_needed", lambda case, size: sizes.append(size) or needed(case, size))
    return sizes


TOO_LARGE = {
    "residual-forms": ({"hidden": 1 << 20}, "hidden 256 would fit"),
    "layer-time": ({"width": 1 << 20, "hidden": 1 << 20}, "width 64, hidden 64 would fit"),
    "kronecker": ({"tokens": 1024, "features": 1024}, "tokens 16, features 16 would fit"),
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
    assert f"{name} at {said} needs" in line and "cpu has 1.0 MiB free" in line and line.endswith(fits)
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
    monkeypatch.setattr(ledger, "_prove", lambda *_: ledger.PASSES)
    cases = {case.name: case for module in (cold_start, derivation, ledger) for case in module.CASES}
    assert set(cases) == OF_THE_HOST
    for case in cases.values():
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
        ("transformer-compile-time form=three", "wanted form to be one of two streams, plain, all terms"),
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
