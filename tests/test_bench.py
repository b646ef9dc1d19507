"""The harness gives no time for a wrong answer, and what it reports is what it measured."""

import contextlib
import io
import json
import math
import os
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import jax.numpy as jnp
import numpy as np
import pytest
from rich.console import Console

import uat_jax as uj
from uat_jax.bench import additions
from uat_jax.bench import measure as harness
from uat_jax.bench.case import Case, Experiment, Program, UnavailableError, WrongAnswerError
from uat_jax.bench.cases import cold_start, derivation, ledger
from uat_jax.bench.compiled import AheadOfTime
from uat_jax.bench.environment import environment
from uat_jax.bench.growth import growths
from uat_jax.bench.interpreters import run
from uat_jax.bench.measure import measure
from uat_jax.bench.rates import COPIES, PRODUCTS, yardsticks
from uat_jax.bench.record import as_line, read
from uat_jax.bench.registry import chosen, every_case
from uat_jax.bench.resident import resident_peak
from uat_jax.cli import main
from uat_jax.errors import InputError
from uat_jax.report.benchmark import COLUMNS, show_case

TWINS = {"doubled": lambda x: 2 * x, "NaN": lambda x: x * jnp.nan}


def _squares(n: int, *, wrong=lambda x: x + 1, programs=None, **aims) -> Experiment:
    """x² for x = 0 … n - 1, in two ways."""
    x = jnp.arange(n, dtype="float32")
    truth = np.arange(n, dtype=np.float32) ** 2

    def check(name, answer):
        if not np.array_equal(answer, truth):
            raise WrongAnswerError(f"{name}: not the squares")

    ways = {"product": lambda x: x * x, "power": lambda x: x**2, **(programs or {})}
    made = {name: Program(way, (x,), operations=n) for name, way in ways.items()}
    return Experiment(made, check, wrong=wrong, **aims)


def _case(build, *sizes) -> Case:
    return Case("squares", "What does a square cost?", build, sizes, sizes, sizes, axes=("n",))


def _rows(build, **size):
    return measure(_case(build, size), size, rounds=2, quick=True)


def test_rows_hold_what_was_measured():
    first, second = _rows(_squares, n=8)
    assert (first.program, second.program, second.baseline) == ("product", "power", "product")
    assert first.ratio == 1 and first.low <= first.seconds <= first.high
    assert all(row.seconds > 0 and (row.trace or 0) > 0 and (row.compile or 0) > 0 for row in (first, second))
    assert first.memory == 2 * 8 * 4  # argument and output
    assert (first.share_of_products or 0) > 0 and (first.share_of_copies or 0) > 0


@pytest.mark.parametrize("twin", TWINS)
def test_a_wrong_program_has_no_time(twin, monkeypatch):
    monkeypatch.setattr(harness, "_rounds", lambda *_: pytest.fail("timed"))
    with pytest.raises(WrongAnswerError, match=f"{twin}: not the squares"):
        _rows(lambda n: _squares(n, programs={twin: TWINS[twin]}), n=8)


def test_a_check_that_accepts_everything_has_no_time():
    with pytest.raises(WrongAnswerError, match="the check of 'product' accepts a wrong answer"):
        _rows(lambda n: _squares(n, wrong=lambda x: x), n=8)


@pytest.mark.parametrize(
    ("aims", "met"),
    [
        ({"limits": {"power": math.inf}}, True),
        ({"limits": {"power": 0.0}}, False),
        ({"compile_limits": {"power": math.inf}}, True),
        ({"compile_limits": {"power": 0.0}}, False),
        ({"least_shares": {"power": 0.0}}, True),
        ({"least_shares": {"power": math.inf}}, False),
        ({"limits": {"power": math.inf}, "least_shares": {"power": math.inf}}, False),
        ({}, None),
    ],
)
def test_aims(aims, met):
    first, second = _rows(lambda n: _squares(n, **aims), n=8)
    assert first.met is None and second.met is met


def test_compiled_once_and_not_traced_again():
    traced = []

    def way(x):
        traced.append(x)
        return x * x

    _rows(lambda n: _squares(n, programs={"counted": way}), n=8)
    assert len(traced) == 1


@pytest.mark.parametrize(("rounds", "calls"), [(1, 1), (2, 3), (5, 6)])
def test_programs_of_the_host_are_called_as_they_are(rounds, calls):
    """Once to be checked and once a round; that once is enough for a single round."""
    called = []

    def build() -> Experiment:
        def check(name, answer):
            if answer != 42:
                raise WrongAnswerError(name)

        return Experiment({"host": Program(lambda: called.append(1) or 42, (), compiled=False)}, check, lambda x: x + 1)

    (row,) = measure(_case(build, {}), {}, rounds=rounds, quick=True)
    assert row.trace is None and row.compile is None and row.share_of_products is None and row.seconds > 0
    assert len(called) == calls and row.rounds == rounds


def test_every_round_has_an_order_of_its_own():
    """A program that always follows the same neighbour would find the caches as that one leaves them."""
    called = []
    programs = {
        name: Program(lambda name=name: called.append(name) or 42, (), compiled=False) for name in ("a", "b", "c")
    }
    build = lambda: Experiment(programs, lambda name, answer: _wanted(answer), wrong=lambda x: x + 1)
    measure(_case(build, {}), {}, rounds=12, quick=True)
    orders = [tuple(called[i : i + 3]) for i in range(3, len(called), 3)]
    assert len(orders) == 12 and all(sorted(order) == ["a", "b", "c"] for order in orders) and len(set(orders)) > 3


def _wanted(answer: int) -> None:
    if answer != 42:
        raise WrongAnswerError("not 42")


def test_a_table_leaves_out_what_does_not_fit():
    """From the end; programs, times and ratios always stand there, and all of the seven where there is room."""
    rows, counts = _rows(_squares, n=8), []
    for width in (64, 80, 100, 120, 140, 300):
        text = io.StringIO()
        show_case(Console(file=text, width=width), _case(_squares, {"n": 8}), rows, [])
        heads = " ".join(text.getvalue().splitlines()[:6])
        found = [head for head in COLUMNS if all(word in heads for word in head.split()) and head[:9] != "processor"]
        assert found[:3] == ["program", "time", "ratio"]
        assert max(map(len, text.getvalue().splitlines())) <= width
        counts.append(len(found))
    assert counts == sorted(counts) and counts[0] < counts[-1] == 7


@pytest.mark.parametrize("dtype", ["float32", "float64", "bfloat16"])
def test_yardsticks_count_what_they_do(dtype):
    with harness.jax.enable_x64(dtype == "float64"):
        found = yardsticks("cpu", dtype, quick=True)
        n, x = found[PRODUCTS].arguments[0].shape[0], found[COPIES].arguments[0]
        moved = harness.jax.jit(found[COPIES].function).lower(x).compile().memory_analysis()
        assert found[PRODUCTS].operations == 2 * n**3 and moved is not None
        assert moved.argument_size_in_bytes + moved.output_size_in_bytes == 2 * x.nbytes
        assert all(a.dtype == jnp.dtype(dtype) for program in found.values() for a in program.arguments)


def test_lines_without_processor_time_are_read(tmp_path):
    """Those of earlier versions have none."""
    rows = _rows(_squares, n=8)
    lines = [json.loads(as_line(row, {})) for row in rows]
    for line in lines:
        del line["processor"], line["processor_ratio"]
    (tmp_path / "old.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")
    found, _ = read(tmp_path / "old.jsonl")
    assert found == [replace(row, processor=None, processor_ratio=None) for row in rows]


@pytest.mark.parametrize("exponent", [0.5, 1, 2.5])
def test_growth_is_the_exponent_of_a_power(exponent):
    (row, *_) = _rows(_squares, n=8)
    rows = [replace(row, size={"n": n, "m": 1}, seconds=3e-5 * n**exponent) for n in (2, 4, 8, 16)]
    (found,) = growths(rows, ("n",))
    assert found.exponent == pytest.approx(exponent, abs=1e-9)  # three logarithms, each rounded: far below 1e-9
    assert found.at == (2, 4, 8, 16) and found.fixed == {"m": 1}
    assert not list(growths(rows[:2], ("n",))) and not list(growths(rows, ("m",)))


def test_entries_that_are_multiples_of_the_axis_grow_with_it():
    """Two families for hidden = 4 width at two depths; none where hidden is a multiple in some rows only."""
    (row, *_) = _rows(_squares, n=8)
    at = lambda depth, width, hidden: replace(
        row, size={"depth": depth, "width": width, "hidden": hidden}, seconds=1e-6 * width**2
    )
    rows = [at(depth, width, 4 * width) for depth in (1, 2) for width in (2, 4, 8)]
    assert [(found.fixed, round(found.exponent, 9)) for found in growths(rows, ("depth", "width"))] == [
        ({"depth": depth, "hidden": "4 width"}, 2.0) for depth in (1, 2)
    ]
    assert not list(growths([*rows, at(1, 16, 63)], ("width",)))


def test_every_axis_of_a_case_is_fitted():
    (row, *_) = _rows(_squares, n=8)
    for case in every_case().values():
        rows = [replace(row, size=dict(size)) for size in case.full]
        assert {growth.axis for growth in growths(rows, case.axes)} == set(case.axes), case.name


def test_memory_of_this_process_and_its_children():
    """Half of 64 MiB must be seen at least, in this process and in one that it starts."""
    with resident_peak() as peak:
        array = np.ones(1 << 23)
    assert (peak() or 0) > array.nbytes / 2
    with resident_peak() as peak:
        subprocess.run([sys.executable, "-c", "x = bytearray(1 << 26); import time; time.sleep(0.2)"], check=True)
    assert (peak() or 0) > 1 << 25


def test_the_environment_is_recorded():
    found = environment("quick")
    assert found["platform"] == "cpu" and found["jax"] == harness.jax.__version__ and found["effort"] == "quick"
    assert json.loads(json.dumps(found)) == found


# --- the cases ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", every_case())
def test_every_case_is_complete(name):
    (case,) = chosen([name])
    assert case.name == name == name.lower() and case.question.endswith("?") and case.rounds >= 1
    for sizes in (case.quick, case.standard, case.full):
        assert sizes and all(set(size) == set(sizes[0]) for size in sizes)
        assert all(axis in sizes[0] for axis in case.axes)


RARELY = {
    "attribution",
    "cold-start",
    "derivation",
    "ledger",
    "processes",
    "transformer-compile-time",
    "two-streams",
    "calls",
    "certification",
    "decomposition",
    "transformer-forms",
}
"""They start up to six interpreters, or compile or derive for long; what they check is tested elsewhere too."""


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=[pytest.mark.campaign] if name in RARELY else []) for name in every_case()],
)
def test_every_case_runs(name):
    (case,) = chosen([name])
    for size in case.quick:
        try:
            rows = measure(case, size, rounds=1, quick=True)
        except UnavailableError as reason:
            pytest.skip(str(reason))
        assert rows and all(row.seconds > 0 and math.isfinite(row.ratio) for row in rows)


@pytest.mark.parametrize("kind", ["residual", "transformer"])
def test_a_wrong_closed_form_is_refused(kind, monkeypatch):
    assert derivation.derive(kind, depth=5).holds() and not derivation.without_bias(uj.derive(kind, depth=5)).holds()
    for sigma in derivation.SIGMAS.values():
        assert derivation.by_expand(kind, 4, sigma())
        assert not any(derivation.by_expand(kind, 4, sigma(), forget=j) for j in range(1, 5))
    monkeypatch.setattr(derivation, "without_bias", lambda right: right)
    with pytest.raises(WrongAnswerError, match="without one bias was accepted"):
        derivation.build(kind, 3)


@pytest.mark.parametrize("program", ["print('REFUTED')", "print('PROVED', 1)", "", "raise SystemExit(3)", "1/0"])
def test_cold_start_refuses_a_wrong_answer(program, monkeypatch):
    monkeypatch.setitem(cold_start.PROGRAMS, "wrong", (program, "PROVED"))
    with pytest.raises(WrongAnswerError, match="wanted 'PROVED'"):
        cold_start.check("wrong", cold_start.printed(program))


def test_cold_start_accepts_the_right_answer():
    cold_start.check("Python alone", cold_start.printed(cold_start.PROGRAMS["Python alone"][0]))


def test_the_loop_of_additions_finds_its_sum(monkeypatch):
    assert additions.additions()
    monkeypatch.setattr(additions, "LOOP", additions.LOOP.replace("+= i", "+= 1"))
    assert not additions.additions()
    with pytest.raises(WrongAnswerError, match="wanted 'passes', got: another sum"):
        ledger._check(additions.NAME, ledger._loop())


def test_ledger_gives_no_time_to_a_run_that_fails(tmp_path):
    found = ledger._prove(["no-such-claim"], 1, str(tmp_path))
    with pytest.raises(WrongAnswerError, match="unknown claim"):
        ledger._check("cold", found)


def test_a_cold_run_finds_no_kernels_and_leaves_some(monkeypatch, tmp_path):
    """Whatever folder this process keeps its kernels in: `uat-jax bench` itself has told JAX of one."""
    seen, kernels = [], tmp_path / "kernels"
    kernels.mkdir()
    monkeypatch.setenv("JAX_COMPILATION_CACHE_DIR", str(tmp_path / "of the user"))
    program = "import jax; from uat_jax.compilation_cache import enable; enable(); print(jax.jit(lambda x: x + 1)(1))"

    def prove(*_, kernels):
        before = len(list(Path(kernels).glob("*")))
        found = run("-c", program, kernels=kernels)
        seen.append((before, len(list(Path(kernels).glob("*")))))
        return found

    monkeypatch.setattr(ledger, "run", prove)
    (kernels / "of another run").touch()
    for way in (ledger._cold, ledger._prove):
        assert way((), 1, str(kernels)) == ledger.PASSES
    (nothing, kept), warm = seen
    assert nothing == 0 < kept and warm == (kept, kept) and not (tmp_path / "of the user").exists()


# --- the command -------------------------------------------------------------------------------------------------


@pytest.fixture
def squares(monkeypatch):
    """One quick case under the name "squares"."""
    cases = {"squares": _case(_squares, {"n": 4}, {"n": 8}, {"n": 16})}
    monkeypatch.setattr("uat_jax.bench.registry.every_case", lambda: cases)
    monkeypatch.setattr("uat_jax.cli.bench.every_case", lambda: cases)
    return cases


def test_command_prints_a_table_and_writes_lines_and_pictures(squares, tmp_path, capsys):
    assert main(["bench", "--quick", "--out", str(tmp_path), "--json", str(tmp_path / "own.jsonl")]) == 0
    printed = capsys.readouterr().out
    assert "What does a square cost?" in printed and "power" in printed and "time ~ n^" in printed
    lines = [json.loads(line) for line in (tmp_path / "benchmarks.jsonl").read_text().splitlines()]
    assert [(line["size"]["n"], line["program"]) for line in lines] == [
        (n, program) for n in (4, 8, 16) for program in ("product", "power")
    ]
    assert lines[0]["environment"]["effort"] == "quick" and "met" in lines[0]
    assert (tmp_path / "own.jsonl").read_text() == (tmp_path / "benchmarks.jsonl").read_text()
    assert {path.name for path in tmp_path.glob("*.svg")} == {"squares-n.svg", "roofline.svg"}


def test_what_is_interrupted_keeps_the_sizes_before(squares, tmp_path):
    def build(n):
        if n == 8:
            raise KeyboardInterrupt
        return _squares(n)

    squares["squares"] = _case(build, {"n": 4}, {"n": 8})
    with contextlib.suppress(KeyboardInterrupt):
        main(["bench", "--quick", "--json", str(tmp_path / "lines")])
    rows, _ = read(tmp_path / "lines")
    assert [(row.size, row.program) for row in rows] == [({"n": 4}, "product"), ({"n": 4}, "power")]


def test_no_roofline_without_a_compiled_program(squares, tmp_path):
    host = {"host": Program(lambda: 42, (), compiled=False)}
    squares["squares"] = _case(
        lambda n: Experiment(host, lambda name, answer: _wanted(answer), lambda x: x + 1), {"n": 4}
    )
    assert main(["bench", "--quick", "--out", str(tmp_path)]) == 0
    assert [path.name for path in tmp_path.iterdir()] == ["benchmarks.jsonl"]


def test_command_lists_the_cases(squares, capsys):
    assert main(["bench", "--list"]) == 0
    assert capsys.readouterr().out.split(maxsplit=1) == ["squares", "What does a square cost?\n"]


def test_command_gives_no_time_for_a_wrong_answer(squares, capsys):
    squares["squares"] = _case(lambda n: _squares(n, programs={"wrong": TWINS["doubled"]}), {"n": 4})
    assert main(["bench", "--quick"]) == 1
    printed = capsys.readouterr().out
    assert "no time for a wrong answer" in printed and "ratio" not in printed


def test_command_sets_an_entry_of_all_sizes(squares, capsys):
    assert main(["bench", "--quick", "--set", "n=6"]) == 0
    assert "n 6" in (printed := capsys.readouterr().out) and "n 4" not in printed


@pytest.mark.parametrize(
    ("row", "status"),
    [
        ({"seconds": 1.0, "arguments": 8, "outputs": 8, "temporaries": 0}, 0),
        ({"reason": "not exact there", "refused": True}, 0),
        ({"reason": "the compiler says: no"}, 1),
    ],
)
def test_command_compiles_ahead_of_time(row, status, monkeypatch, tmp_path, capsys):
    found = AheadOfTime("residual", {"depth": 2}, "v5e:1x1", **row)
    monkeypatch.setattr("uat_jax.cli.bench.compile_for", lambda topology, names, progress: [found])
    assert main(["bench", "residual", "--aot", "v5e:1x1", "--json", str(tmp_path / "lines.jsonl")]) == status
    assert row.get("reason", "residual") in capsys.readouterr().out
    assert AheadOfTime(**json.loads((tmp_path / "lines.jsonl").read_text())) == found


def test_command_says_why_a_case_is_not_run(squares, capsys):
    def build(n):
        raise UnavailableError("no such chip; buy one")

    squares["squares"] = _case(build, {"n": 4})
    assert main(["bench", "--quick"]) == 0 and main(["bench", "squares", "--quick"]) == 1
    assert "squares, n 4: not run: no such chip; buy one" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["squared"], "no benchmark case 'squared'; choose among squares"),
        (["--device", "abacus"], "got device 'abacus'; choose one of"),
        (["--device", "tpu"], "got device 'tpu', which JAX does not find here"),
        (["--json", os.sep], "it is a folder; choose a file name"),
        (["--quick", "--full"], "not allowed with argument"),
        (["--aot", "v9:2x2"], "v9"),
        (["--aot", "v5e:2x2", "--quick"], "--aot goes with names of kernels and --json only"),
        (["--set", "m=3"], "what can be set in squares is n=4"),
        (["--set", "n=many"], "wanted a value like n=4"),
        (["--set", "n=0"], "wanted n to be at least 1"),
        (["--set", "n=1000000000000000"], "squares at n 1000000000000000 needs 7 PiB of memory at least"),
    ],
)
def test_command_refuses_bad_input_in_one_line(squares, arguments, message, capsys):
    try:
        status = main(["bench", *arguments])
    except SystemExit as left:
        status = left.code
    assert status == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert message in line


@pytest.mark.parametrize("dtype", ["float99", "int32", ""])
def test_command_refuses_what_is_no_dtype(dtype, capsys):
    assert main(["bench", "residual-forms", "--quick", "--set", f"dtype={dtype}"]) == 2
    (line,) = capsys.readouterr().err.splitlines()
    assert line.endswith(f"got --set dtype={dtype}, wanted dtype to be one of float64, float32, bfloat16, float16")


def test_unknown_case_is_named():
    with pytest.raises(InputError, match="'nonsense'"):
        chosen(["nonsense"])


def test_tables_are_those_of_the_lines(squares, tmp_path, capsys, monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    write_tables = __import__("write_tables")
    monkeypatch.setattr(write_tables, "every_case", lambda: squares)
    assert main(["bench", "--quick", "--json", str(tmp_path / "abacus" / "benchmarks.jsonl")]) == 0
    words = lambda text: {" ".join(line.split()) for line in text.splitlines()}
    printed, found = words(capsys.readouterr().out), words(write_tables.tables(tmp_path))
    assert "## abacus" in found and printed <= found
    assert any("power" in line for line in printed) and any("time ~ n^" in line for line in printed)


@pytest.mark.parametrize("text", ["", "{}", "nonsense", "[]"])
def test_a_damaged_file_of_lines_is_refused(text, tmp_path):
    (tmp_path / "lines.jsonl").write_text(text)
    with pytest.raises(InputError, match="cannot read"):
        read(tmp_path / "lines.jsonl")


def test_the_tables_are_those_of_the_results(monkeypatch):
    monkeypatch.syspath_prepend(Path(__file__).parents[1] / "benchmarks")
    write_tables = __import__("write_tables")
    monkeypatch.setattr(write_tables, "every_case", every_case)  # it may have been imported beside other cases
    assert write_tables.TABLES.read_text(encoding="utf-8") == write_tables.tables(write_tables.FOLDER / "results")
