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


@pytest.fixture
def derive() -> Iterator[ModuleType]:
    yield _load("derive")
    del sys.modules["derive"]


@pytest.fixture
def cold_start() -> Iterator[ModuleType]:
    yield _load("cold_start")
    del sys.modules["cold_start"]


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
