"""The benchmarks run, print every row, and give no time for a wrong answer."""

import importlib.util
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

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


certify_module = _fixture("certify")


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
