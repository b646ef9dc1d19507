"""The benchmarks run, print every row, and give no time for a wrong answer."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from types import ModuleType

import pytest

import uat_jax as uj

FOLDER = Path(__file__).parents[1] / "benchmarks"


def _load(name: str) -> ModuleType:
    """A fresh module of the benchmark."""
    spec = importlib.util.spec_from_file_location(name, FOLDER / f"{name}.py")
    assert spec is not None and spec.loader is not None
    module = sys.modules[name] = importlib.util.module_from_spec(spec)  # its dataclasses look it up there
    spec.loader.exec_module(module)
    return module


def _fixture(name: str):
    def module(monkeypatch: pytest.MonkeyPatch) -> Iterator[ModuleType]:
        monkeypatch.syspath_prepend(FOLDER)  # as for a script, which finds its neighbours
        yield _load(name)
        del sys.modules[name]

    return pytest.fixture(name=name)(module)


derive_module, cold_start_module = _fixture("derive"), _fixture("cold_start")
certify_module, field_matmul_module = _fixture("certify"), _fixture("field_matmul")
ledger_module, decompose_module = _fixture("ledger"), _fixture("decompose")


@pytest.fixture(params=["residual", "transformer"])
def kind(request) -> str:
    return request.param


def test_derive_prints_a_table_and_one_line_of_json(derive, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["derive.py", "--quick", "--json"])
    derive.main()
    *table, line = capsys.readouterr().out.splitlines()
    rows = json.loads(line)["rows"]
    assert [(row["kind"], row["depth"]) for row in rows] == [(k, d) for k in derive.KINDS for d in derive.QUICK_DEPTHS]
    assert all(row[name]["median"] > 0 for row in rows for name in ("derive", "holds", *derive.BASELINES))
    assert [text.partition(":")[0] for text in table if text.endswith("quartiles")] == list(derive.KINDS)


def test_derive_refuses_a_wrong_closed_form(derive, kind, monkeypatch):
    derive.check(uj.derive(kind, depth=5))
    with pytest.raises(derive.WrongAnswerError, match="was not accepted"):
        derive.check(derive.without_bias(uj.derive(kind, depth=5)))
    monkeypatch.setattr(derive, "without_bias", lambda right: right)
    with pytest.raises(derive.WrongAnswerError, match="a wrong closed form was accepted"):
        derive.check(uj.derive(kind, depth=5))


def test_derive_prints_no_time_for_a_wrong_answer(derive, monkeypatch, capsys):
    right = uj.derive
    monkeypatch.setattr(derive.uj, "derive", lambda kind, depth: derive.without_bias(right(kind, depth=depth)))
    with pytest.raises(derive.WrongAnswerError):
        derive.main(["--quick"])
    assert "quartiles" not in capsys.readouterr().out


def test_baseline_decides_as_the_package_does(derive, kind):
    for sigma in derive.BASELINES.values():
        assert derive.by_expand(kind, 4, sigma())
        assert not any(derive.by_expand(kind, 4, sigma(), forget=j) for j in range(1, 5))


def test_wrong_baseline_is_refused(derive, monkeypatch):
    monkeypatch.setattr(derive, "by_expand", lambda *_, forget=0: True)  # accepts everything
    with pytest.raises(derive.WrongAnswerError, match="SymPy's expand gives the wrong answer"):
        derive.time_baseline("residual", 2, derive.NamedSigmas, 2)


def test_slow_baseline_is_stopped(derive, monkeypatch):
    monkeypatch.setattr(derive, "BASELINE_LIMIT", 0.05)
    rows = derive.measure("residual", (2, 40), 2)
    assert "SymPy expand" in rows[0] and "SymPy expand" not in rows[1]


def test_growth_is_the_exponent_of_a_power(derive):
    seconds = lambda depth: derive.Timing(3e-5 * depth**2.5, 0.0)
    rows = [{"depth": depth, "total": seconds(depth)} for depth in derive.DEPTHS]
    assert derive.exponent(rows) == pytest.approx(2.5, abs=1e-9)  # three logarithms, each rounded: far below 1e-9
    rows[-1]["total"] = replace(rows[-1]["total"], median=1.0)
    assert derive.exponent(rows) != pytest.approx(2.5, abs=1e-9)


def test_cold_start_prints_a_table_and_one_line_of_json(cold_start, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["cold_start.py", "--quick", "--json"])
    cold_start.main()
    *table, line = capsys.readouterr().out.splitlines()
    assert list(json.loads(line)["seconds"]) == list(cold_start.PROGRAMS)
    assert all(any(text.startswith(name) for text in table) for name in cold_start.PROGRAMS)


@pytest.mark.parametrize("program", ["print('REFUTED')", "print('PROVED', 1)", "", "raise SystemExit(3)", "1/0"])
def test_cold_start_refuses_a_wrong_answer(cold_start, program):
    assert cold_start.seconds("print('PROVED')", "PROVED") > 0
    with pytest.raises(cold_start.WrongAnswerError, match="wanted 'PROVED'"):
        cold_start.seconds(program, "PROVED")


def test_certify_measures_after_checking(certify):
    without, complete = certify.measure(certify.Size(1, 8, 3), runs=1)
    assert "certify" not in without and without["draw"] > 0 and without["forward"] > 0
    assert complete["certify"] > 0 and complete["log2_error"] <= certify.ERROR and complete["peak"] > 1


@pytest.mark.parametrize("twin", ["swapped", "shifted"])
def test_certify_gives_no_time_if_a_wrong_twin_is_accepted(certify, twin, monkeypatch):
    monkeypatch.setattr(certify, "TWINS", {twin: certify.by_head})
    with pytest.raises(certify.WrongAnswerError, match=f"1x8x3: the wrong twin '{twin}' was accepted"):
        next(certify.measure(certify.Size(1, 8, 3), runs=1))


@pytest.mark.parametrize("twin", ["swapped", "shifted"])
def test_certify_gives_no_time_for_writings_that_differ(certify, twin, monkeypatch):
    monkeypatch.setattr(certify, "fused", certify.TWINS[twin])
    with pytest.raises(certify.WrongAnswerError, match="1x8x3: the two writings were found to be different"):
        next(certify.measure(certify.Size(1, 8, 3), runs=1))


def test_certify_prints_a_table_and_one_line_of_json(certify, monkeypatch, capsys):
    row = {"size": "2x8x3", "trace": 0.1, "forward": 0.01, "draw": 0.5, "peak": 300.0}
    certified = {**row, "certify": 2.0, "log2_error": -140.0, "condition": ""}
    rows = iter([{**row, "stopped": "time"}, certified])
    monkeypatch.setattr(certify, "in_own_process", lambda size, limit: next(rows))
    certify.main(["--only", "1x8x3", "2x8x3", "--json"])
    *_, stopped, theorem, line = capsys.readouterr().out.splitlines()
    assert stopped.endswith("stopped: time") and "0.50 (50)" in stopped and "—" in stopped
    assert theorem.endswith("theorem") and "2.00 (200)" in theorem
    assert [r["size"] for r in json.loads(line)["rows"]] == ["2x8x3", "2x8x3"]


@pytest.mark.parametrize(
    ("program", "row"),
    [
        ("print('{\"draw\": 1}', flush=True); import time; time.sleep(60)", {"draw": 1, "stopped": "time"}),
        ("print('{\"draw\": 1}'); raise MemoryError", {"draw": 1, "stopped": "memory"}),
        ("print('{\"draw\": 1}'); print('{\"draw\": 2}')", {"draw": 2}),
    ],
)
def test_certify_keeps_the_last_row_of_a_process_that_is_stopped(certify, program, row, monkeypatch, tmp_path):
    (tmp_path / "program.py").write_text(program)
    monkeypatch.setattr(certify, "__file__", str(tmp_path / "program.py"))
    found = certify.in_own_process(certify.Size(1, 8, 3), limit=1.0 if "sleep" in program else 60.0)
    assert row.items() <= found.items()


def test_certify_does_not_take_a_failure_for_a_limit(certify, monkeypatch, tmp_path):
    (tmp_path / "program.py").write_text("print('{}'); raise ValueError('the pair was refused')")
    monkeypatch.setattr(certify, "__file__", str(tmp_path / "program.py"))
    with pytest.raises(certify.WrongAnswerError, match="the pair was refused"):
        certify.in_own_process(certify.Size(1, 8, 3), limit=60.0)


def test_field_matmul_prints_a_table_and_one_line_of_json(field_matmul, capsys):
    field_matmul.main(["--quick", "--json"])
    *_, line = capsys.readouterr().out.splitlines()
    rows = json.loads(line)["rows"]
    assert [row["n"] for row in rows] == list(field_matmul.QUICK_SIZES)
    assert all(len(values) == field_matmul.QUICK_RUNS for row in rows for values in row["seconds"].values())


def test_field_matmul_gives_no_time_for_a_wrong_product(field_matmul, monkeypatch):
    monkeypatch.setattr(field_matmul.PrimeField, "matmul", lambda self, a, b: self.multiply(a, b))
    with pytest.raises(field_matmul.WrongAnswerError, match="n = 4: the product is not FLINT's"):
        field_matmul.measure(4, 1)


def test_ledger_prints_runs_and_the_slowest_claims(ledger, monkeypatch, capsys):
    monkeypatch.setattr(ledger, "QUICK", ("lemma-1",))
    ledger.main(["--quick", "--json"])
    *table, line = capsys.readouterr().out.splitlines()
    runs = json.loads(line)["runs"]
    assert set(runs) == {"1 jobs, cold", "1 jobs, warm"}
    assert all(run["seconds"] > 0 for run in runs.values())
    assert any("lemma-1" in text for text in table)


def test_ledger_gives_no_time_to_a_run_that_fails(ledger, tmp_path):
    with pytest.raises(ledger.WrongAnswerError, match="unknown claim"):
        ledger.prove(["no-such-claim"], 1, str(tmp_path))


def test_decompose_checks_before_it_measures(decompose, capsys):
    decompose.main(["--quick", "--json"])
    *table, line = capsys.readouterr().out.splitlines()
    assert json.loads(line)["benchmark"] == "decompose"
    assert sum("two streams" in text for text in table) == 2 and any("W_HVO" in text for text in table)


def test_decompose_gives_no_time_to_a_wrong_sum(decompose, monkeypatch):
    right = decompose.SPLITS["all terms"]
    monkeypatch.setitem(decompose.SPLITS, "all terms", lambda model, tokens: 2 * right(model, tokens))
    with pytest.raises(decompose.WrongAnswerError):
        decompose.main(["--quick"])
